/* SPDX-License-Identifier: Apache-2.0
 *
 * What the doctor says of the peer of a port.  Only what is known or proven: a
 * veth whose other end is a port of ours, the line rate of a NIC, octets that
 * came faster than the line can carry them, or in spite of a pause.  Control
 * thread.
 */
#include "doctor.h"

#include "netdev/link.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The port of ours at the other end of a veth pair. */
static bool
find_peer(const struct port_view *v, struct port_view *peer)
{
    const struct daemon *d = v->daemon;
    struct link_info info;

    if (!v->port->netdev || !v->port->netdev->ifindex ||
        link_get_index(v->port->netdev->ifindex, &info, NULL) || !info.peer)
        return false;
    for (uint32_t i = 0; i < d->n_bridges; i++)
        for (int s = 0; s < DP_MAX_PORTS; s++) {
            const struct port *p = d->bridges[i]->ports[s];

            if (p && p->netdev && p->netdev->ifindex == info.peer)
                return !methods_find_port(v->daemon, p->name, peer, NULL);
        }
    return false;
}

/* How many octets the headroom is short when the peer sends at that rate. */
static uint64_t
short_at(const struct diagnosis *x, uint64_t rate_bps)
{
    struct conf_port faster = *x->v->cp;
    struct headroom need;

    faster.rate_bps = rate_bps;
    conf_port_headroom_terms(x->v->cb, &faster, &x->v->port->live, x->stall_ns,
                             &need);
    return need.total_bytes > x->headroom_bytes
               ? need.total_bytes - x->headroom_bytes
               : 0;
}

static const char *
rate_text(uint64_t bps, char *out, size_t size)
{
    return rpc_format_quantity((int64_t) bps, RPC_U_BPS, out, size);
}

/* A peer that sends faster than is counted on, by what it is or by what it
 * did. */
static void
too_fast(struct diagnosis *x, uint64_t bps, const char *command,
         const char *who)
{
    uint64_t rate = conf_port_rate(x->v->cp, &x->v->port->live);
    uint64_t missing = short_at(x, bps);
    char fast[32], slow[32];

    doctor_find(x, missing ? NO : UNSURE, "peer-rate", missing, command,
                "%s %s, and the headroom goes by %s", who,
                rate_text(bps, fast, sizeof(fast)),
                rate_text(rate, slow, sizeof(slow)));
}

static void
look_at_known_rate(struct diagnosis *x, const struct port_view *peer)
{
    uint64_t rate = conf_port_rate(x->v->cp, &x->v->port->live);
    uint64_t bps = conf_port_rate(peer->cp, &peer->port->live);
    char command[128], who[64];

    if (bps <= rate)
        return;
    snprintf(command, sizeof(command), "sluicectl port set %s rate %" PRIu64,
             peer->cp->name, rate);
    snprintf(who, sizeof(who), "port %s, at the other end, sends at",
             peer->cp->name);
    too_fast(x, bps, command, who);
}

static void
look_at_line_rate(struct diagnosis *x)
{
    const struct port *p = x->v->port;
    uint64_t rate = conf_port_rate(x->v->cp, &p->live);
    struct link_info info;
    char command[128];

    if (!p->netdev || !p->netdev->ifindex || p->live.speed_bps <= rate ||
        link_get_index(p->netdev->ifindex, &info, NULL) || info.kind[0])
        return; /* virtual interfaces lie about their speed */
    snprintf(command, sizeof(command), "sluicectl port set %s rate auto",
             x->v->cp->name);
    too_fast(x, p->live.speed_bps, command, "the line carries");
}

static void
look_at_arrivals(struct diagnosis *x)
{
    uint64_t rate = conf_port_rate(x->v->cp, &x->v->port->live);
    uint64_t bps = x->v->port->arrival_bps;
    char command[128];

    if (bps <= rate)
        return;
    /* What was measured is a mean: rounded up to a tenth of the rate. */
    bps += rate / 10 - bps % (rate / 10);
    snprintf(command, sizeof(command), "sluicectl port set %s rate %" PRIu64,
             x->v->cp->name, bps);
    too_fast(x, bps, command, "frames came faster than the line: at up to");
}

/* A port of ours that is not configured to obey. */
static void
look_at_known_pfc(struct diagnosis *x, const struct port_view *peer)
{
    const struct conf_port *cp = peer->cp;
    char command[128];

    if (x->v->cp->pause_tx) {
        if (cp->pause_rx)
            return;
        snprintf(command, sizeof(command),
                 cp->pfc_prios ? "sluicectl pfc set %s prio all:off"
                               : "sluicectl pause set %s rx on",
                 cp->name);
        doctor_find(x, NO, "peer-pfc", 0, command,
                    "port %s, at the other end, does not honour PAUSE",
                    cp->name);
        return;
    }
    if (peer->pp->pfc.honoured >> x->prio & 1)
        return;
    if (cp->pause_rx || cp->pause_tx)
        snprintf(command, sizeof(command),
                 "sluicectl pause set %s rx off tx off", cp->name);
    else
        snprintf(command, sizeof(command), "sluicectl pfc set %s prio %d:on",
                 cp->name, x->prio);
    doctor_find(x, NO, "peer-pfc", 0, command,
                "port %s, at the other end, does not honour PFC on priority "
                "%d",
                cp->name, x->prio);
}

/* What came in one pause of the peer that was in force without a gap.  The
 * headroom rule, with the longest stall that there ever was, says how much can
 * have been under way; more than that the peer has sent against its orders. */
static void
look_at_late(struct diagnosis *x)
{
    const struct port_view *v = x->v;
    uint64_t stall_ns = v->bridge->stall_longest_ns, late;
    struct dp_port_peaks peaks;
    struct headroom allowed;
    char command[128];

    if (stall_ns < x->stall_ns)
        stall_ns = x->stall_ns;
    conf_port_headroom_terms(v->cb, v->cp, &v->port->live, stall_ns, &allowed);
    marks_get(v->port, MARKS_USER, &peaks);
    late = peaks.late_bytes[x->prio];
    if (late <= allowed.total_bytes)
        return;
    snprintf(command, sizeof(command), "sluicectl buffer watermark %s clear",
             v->cp->name);
    doctor_find(x, NO, "peer-pfc", late - allowed.total_bytes, command,
                "%" PRIu64 " octets of priority %d came in one pause of the "
                "peer, where %" PRIu64 " can have been under way: it does not "
                "obey; when it does, clear the watermarks",
                late, x->prio, allowed.total_bytes);
}

/* What swallows PFC frames between us and whoever is meant to obey them. */
static void
look_at_path(struct diagnosis *x)
{
    static const char *const deaf[] = {"macvlan", "macvtap", "ipvlan",
                                       "ipvtap"};
    const struct netdev *nd = x->v->port->netdev;
    struct link_info info, other, master;

    if (!nd || !nd->ifindex || link_get_index(nd->ifindex, &info, NULL))
        return;
    for (size_t i = 0; i < sizeof(deaf) / sizeof(deaf[0]); i++)
        if (!strcmp(info.kind, deaf[i]))
            doctor_find(x, NO, "path", 0, NULL,
                        "%s is a %s interface, to which PFC frames are never "
                        "delivered: use a veth pair",
                        info.name, info.kind);
    if (!strcmp(info.kind, "bridge"))
        doctor_find(x, NO, "path", 0, NULL,
                    "%s is a Linux bridge, which drops PFC frames: use a "
                    "veth pair",
                    info.name);
    if (info.peer && !link_get_index(info.peer, &other, NULL) &&
        other.master && !link_get_index(other.master, &master, NULL) &&
        (!strcmp(master.kind, "bridge") ||
         !strcmp(master.kind, "openvswitch")))
        doctor_find(x, NO, "path", 0, NULL,
                    "the other end of %s is a port of %s, a bridge that drops "
                    "PFC frames",
                    info.name, master.name);
}

void
doctor_peer(struct diagnosis *x)
{
    struct port_view peer;

    look_at_path(x);
    if (find_peer(x->v, &peer)) {
        look_at_known_rate(x, &peer);
        look_at_known_pfc(x, &peer);
    } else {
        look_at_line_rate(x);
    }
    look_at_arrivals(x);
    look_at_late(x);
}
