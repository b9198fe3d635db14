/* SPDX-License-Identifier: Apache-2.0
 *
 * The doctor: is each lossless class really lossless, and if not, how many
 * bytes are missing where?  The rule is lib/qos/headroom.h with the stall that
 * the datapath measures; beside the headroom, the receive ring has to hold
 * what arrives while the thread does not run, above the level up to which it
 * may be full before that.  Control thread.
 */
#include "doctor.h"
#include "json.h"
#include "netdev/link.h"
#include "watch.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Preamble, FCS and the gap: what a frame takes on the wire beyond itself. */
#define WIRE_OVERHEAD 24u
/* A slot of the receive ring has that much beside the frame, at most; a buffer
 * of the pool, which is one of an AF_XDP port, more. */
#define SLOT_OVERHEAD   224u
#define BUFFER_OVERHEAD 384u
#define RING_BLOCK      UINT64_C(262144)
/* What stands for a frame of the queue of a TAP (netdev_tap_queue). */
#define TAP_FRAME_BYTES UINT64_C(2048)

void
doctor_find(struct diagnosis *x, enum verdict verdict, const char *term,
            uint64_t short_bytes, const char *command, const char *fmt, ...)
{
    struct json_object *o = json_object_new_object();
    char message[320];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(message, sizeof(message), fmt, ap);
    va_end(ap);
    json_add_text(o, "term", term);
    json_add_uint(o, "short_bytes", short_bytes);
    json_add_text(o, "message", message);
    if (command)
        json_add_text(o, "command", command);
    json_object_array_add(x->findings, o);
    if (verdict > x->verdict)
        x->verdict = verdict;
}

/* "4M": rounded up to what is easy to read. */
static void
round_up(uint64_t bytes, char *out, size_t size)
{
    if (bytes > 1048576)
        snprintf(out, size, "%" PRIu64 "M", (bytes + 1048575) / 1048576);
    else
        snprintf(out, size, "%" PRIu64 "K", (bytes + 1023) / 1024);
}

/* The command that makes room for `extra` octets of headroom on the port, if
 * they do not fit into what is shared; null: they do, or nothing helps. */
static const char *
memory_command(const struct diagnosis *x, uint64_t extra, char *out,
               size_t size)
{
    const struct port_view *v = x->v;
    uint64_t all = extra * v->cb->n_ports; /* the others need as much */
    uint64_t bytes = v->cb->memory_bytes + 2 * all;
    char text[32];

    if (v->bridge->plan->shared_bytes / 2 > all || bytes > CONF_MAX_MEMORY)
        return NULL;
    round_up(bytes, text, sizeof(text));
    snprintf(out, size, "sluicectl bridge set %s memory %s", v->cb->name,
             text);
    return out;
}

/* The command that sets the headroom of the group, where it is set. */
static void
headroom_command(const struct diagnosis *x, const char *value, char *out,
                 size_t size)
{
    const struct port_view *v = x->v;
    const char *profile = v->cp->group[x->group].profile;

    if (profile[0])
        snprintf(out, size, "sluicectl profile set %s %s headroom %s",
                 v->cb->name, profile, value);
    else
        snprintf(out, size, "sluicectl buffer set %s pg %d headroom %s",
                 v->cp->name, x->group, value);
}

static uint64_t
stall_bytes(const struct port_view *v, uint64_t stall_ns)
{
    uint64_t rate = conf_port_rate(v->cp, &v->port->live);

    return (uint64_t) ((unsigned __int128) rate * stall_ns / 8000000000u) + 1;
}

/* --- what is looked at ----------------------------------------------------
 */

static void
look_at_headroom(struct diagnosis *x)
{
    const struct port_view *v = x->v;
    char command[128], size[32];
    uint64_t missing;

    if (x->headroom_bytes >= x->need.total_bytes)
        return;
    missing = x->need.total_bytes - x->headroom_bytes;
    if (conf_group_in_force(v->cb, v->cp, x->group, NULL)->headroom_bytes ==
        CONF_HEADROOM_AUTO) {
        round_up(v->cb->memory_bytes + missing * v->cb->n_ports, size,
                 sizeof(size));
        snprintf(command, sizeof(command), "sluicectl bridge set %s memory %s",
                 v->cb->name, size);
    } else if (!memory_command(x, missing, command, sizeof(command))) {
        headroom_command(x, "auto", command, sizeof(command));
    }
    doctor_find(
        x, NO, "headroom", missing, command,
        "the headroom of group %d does not hold what may arrive after XOFF",
        x->group);
}

/* XOFF is repeated when half of the pause is left.  A stall that is longer
 * than that half lets the peer go on before the repeat is out: what it sends
 * until then comes on top of what the rule counts, and that again with each
 * such stall while the peer is to stand still.  So headroom makes up for one,
 * if a pause cannot be longer; for any number of them nothing does. */
static void
look_at_pause_time(struct diagnosis *x)
{
    const struct port_view *v = x->v;
    const struct pfc_conf *pfc = &v->pp->pfc;
    uint64_t half_ns = macctl_quanta_ns(pfc->quanta, pfc->rate_bps) / 2;
    uint64_t wanted = x->need.total_bytes, more;
    char command[128], size[32];

    if (x->stall_ns <= half_ns || x->verdict == NO)
        return;
    more = stall_bytes(v, x->stall_ns - half_ns);
    wanted += more;
    if (x->headroom_bytes >= wanted && pfc->quanta == PFC_QUANTA_DEFAULT)
        return;
    round_up(wanted, size, sizeof(size));
    if (pfc->quanta < PFC_QUANTA_DEFAULT)
        snprintf(command, sizeof(command), "sluicectl pfc set %s quanta %u",
                 v->cp->name, PFC_QUANTA_DEFAULT);
    else if (!memory_command(x, wanted, command, sizeof(command)))
        headroom_command(x, size, command, sizeof(command));
    if (wanted > x->headroom_bytes)
        more = wanted - x->headroom_bytes;
    doctor_find(x, UNSURE, "pause-time", more, command,
                "a pause of %u quanta may run out at the peer while the "
                "thread does not run for %" PRIu64 " us",
                pfc->quanta, x->stall_ns / 1000);
}

/* Pauses have run out, if the peer counts quanta by the speed of its
 * interface, and it seems to: more came into the headroom than the rule says.
 * As long as the peer is to stand still that adds up. */
static void
look_at_lapses(struct diagnosis *x)
{
    const struct port_view *v = x->v;
    const struct pfc_conf *pfc = &v->pp->pfc;
    uint64_t bps = pfc->peer_bps, used;
    struct dp_port_peaks peaks;
    struct counts c;
    char fast[32];

    if (bps < pfc->rate_bps)
        bps = pfc->rate_bps;
    counts_get(v->port, false, &c);
    marks_get(v->port, MARKS_USER, &peaks);
    used = peaks.pg_headroom[x->group];
    if (!c.pfc.tx_lapses[x->prio] || used <= x->need.total_bytes)
        return;
    doctor_find(x, UNSURE, "pause-time", used - x->need.total_bytes, NULL,
                "%" PRIu64 " times a pause of %u quanta had run out, by %s, "
                "when it was repeated, and %" PRIu64 " octets of headroom "
                "were used, more than the rule says: the peer is to count "
                "quanta by the port's rate; when it does, clear the counters "
                "of PFC and the watermarks",
                c.pfc.tx_lapses[x->prio], pfc->quanta,
                rpc_format_quantity((int64_t) bps, RPC_U_BPS, fast,
                                    sizeof(fast)),
                used);
}

/* Headroom that all groups share is enough for one of them; for all at once it
 * is when it is as much as they need together. */
static void
look_at_headroom_pool(struct diagnosis *x)
{
    const struct port_view *v = x->v;
    uint64_t pool = v->bridge->plan->hdrm_pool_bytes, all = 0;
    char command[128];

    if (!pool)
        return;
    for (uint32_t i = 0; i < v->cb->n_ports; i++) {
        const struct conf_port *cp = v->cb->ports[i];
        struct headroom need;

        conf_port_headroom_terms(v->cb, cp, &v->bridge->ports[cp->slot]->live,
                                 x->stall_ns, &need);
        all += need.total_bytes *
               (unsigned) __builtin_popcount(conf_lossless_groups(v->cb, cp));
    }
    if (pool >= all)
        return;
    snprintf(command, sizeof(command),
             "sluicectl bridge set %s headroom-pool none headroom-ratio none",
             v->cb->name);
    doctor_find(x, pool < x->need.total_bytes ? NO : UNSURE, "headroom-pool",
                all - pool, command,
                "the headroom that all groups share does not hold what may "
                "arrive for all of them at once");
}

static void
ring_command(const struct diagnosis *x, uint64_t n_slots, char *out,
             size_t size)
{
    uint64_t bytes = n_slots * TAP_FRAME_BYTES;
    char text[32];

    if (x->v->port->cls != &netdev_tap) {
        /* The provider makes a ring of whole blocks of whole slots. */
        bool is_afpacket = x->v->port->cls == &netdev_afpacket;

        n_slots += n_slots / 64;
        bytes = n_slots *
                (x->v->cb->max_frame_bytes +
                 (uint64_t) (is_afpacket ? SLOT_OVERHEAD : BUFFER_OVERHEAD));
        bytes = (bytes + RING_BLOCK - 1) / RING_BLOCK * RING_BLOCK;
    }
    if (bytes > CONF_MAX_RING)
        bytes = CONF_MAX_RING;
    round_up(bytes, text, sizeof(text));
    snprintf(out, size, "sluicectl port set %s ring %s", x->v->cp->name, text);
}

static void
look_at_ring(struct diagnosis *x)
{
    bool is_tap = x->v->port->cls == &netdev_tap;
    uint64_t frame = x->v->cb->max_frame_bytes;
    char command[128];

    if (!x->n_slots) {
        doctor_find(x, UNSURE, "ring", 0, NULL,
                    "how much the interface holds for us is not known");
        return;
    }
    if (x->ring_bytes >= x->ring_needed_bytes)
        return;
    ring_command(x, x->ring_needed_bytes / frame + 1, command,
                 sizeof(command));
    doctor_find(x, NO, is_tap ? "tap-queue" : "ring",
                x->ring_needed_bytes - x->ring_bytes, command,
                "the %s does not hold what arrives at line rate while the "
                "thread does not run for %" PRIu64 " us",
                is_tap ? "queue of the TAP (txqueuelen)" : "receive ring",
                x->stall_ns / 1000);
}

/* Slots and buffers hold one frame each, however short it is: shortest frame
 * that may arrive at line rate throughout. */
static uint64_t
shortest(uint64_t bytes, uint64_t n)
{
    uint64_t wire = n ? (bytes + n - 1) / n : UINT64_MAX;

    return wire > WIRE_OVERHEAD ? wire - WIRE_OVERHEAD : 0;
}

static void
look_at_small_frames(struct diagnosis *x)
{
    uint64_t frame = shortest(x->ring_needed_bytes, x->n_slots);
    char command[128];

    if (!x->n_slots || frame <= PKT_MIN_LEN || x->verdict == NO)
        return;
    ring_command(x, x->ring_needed_bytes / (PKT_MIN_LEN + WIRE_OVERHEAD) + 1,
                 command, sizeof(command));
    doctor_find(x, UNSURE, "small-frames", 0, command,
                "frames shorter than %" PRIu64 " octets, at line rate, would "
                "fill the %" PRIu64
                " slots of the receive ring during a stall",
                frame, x->n_slots);
}

/* What all lossless ports of the bridge may receive during a stall. */
static uint64_t
all_stall_bytes(const struct diagnosis *x)
{
    const struct port_view *v = x->v;
    uint64_t all = 0;

    for (uint32_t i = 0; i < v->cb->n_ports; i++) {
        struct port_view w = *v;

        w.cp = v->cb->ports[i];
        w.port = v->bridge->ports[w.cp->slot];
        if (conf_lossless_groups(v->cb, w.cp))
            all += stall_bytes(&w, x->stall_ns);
    }
    return all;
}

static void
look_at_buffers(struct diagnosis *x)
{
    const struct port_view *v = x->v;
    uint64_t all = all_stall_bytes(x), n = v->bridge->plan->low_buffers;
    uint64_t needed = all / (PKT_MIN_LEN + WIRE_OVERHEAD) + 1, bytes;
    uint64_t frame = shortest(all, n);
    char command[128], size[32];

    if (frame <= PKT_MIN_LEN || x->verdict == NO)
        return;
    /* Buffers are kept for headroom by its bytes, one for each 256, but no
     * more than half of all. */
    bytes = stall_bytes(v, x->stall_ns) / (PKT_MIN_LEN + WIRE_OVERHEAD) * 256 +
            1024;
    if (needed > v->bridge->sizes.n_buffers / 2) {
        bytes =
            v->cb->memory_bytes * 9 / 4 * needed / v->bridge->sizes.n_buffers;
        round_up(bytes, size, sizeof(size));
        snprintf(command, sizeof(command), "sluicectl bridge set %s memory %s",
                 v->cb->name, size);
    } else if (!memory_command(x, bytes, command, sizeof(command))) {
        round_up(bytes, size, sizeof(size));
        headroom_command(x, size, command, sizeof(command));
    }
    doctor_find(x, UNSURE, "buffers", 0,
                bytes > CONF_MAX_MEMORY ? NULL : command,
                "frames shorter than %" PRIu64 " octets, at line rate on all "
                "lossless ports, would take the %" PRIu64 " frame buffers "
                "that are kept for headroom",
                frame, n);
}

static void
look_at_interface(struct diagnosis *x)
{
    const struct port_view *v = x->v;
    struct link_info info;

    if (v->port->link == PORT_ABSENT) {
        doctor_find(x, UNSURE, "interface", 0, NULL,
                    "there is no interface %s at this moment", v->cp->name);
        return;
    }
    if (!v->cp->rate_bps && !v->port->live.speed_bps)
        doctor_find(
            x, UNSURE, "rate", 0, NULL,
            "the interface does not say how fast it is, and no rate is "
            "configured: 10G is assumed");
    if (v->port->netdev && v->port->netdev->ifindex && v->pp->pfc.enabled &&
        !link_get_index(v->port->netdev->ifindex, &info, NULL) &&
        !info.kind[0])
        doctor_find(
            x, UNSURE, "nic", 0, NULL,
            "%s is a physical NIC: its MAC may swallow or answer PFC frames "
            "itself; see docs/pfc.md",
            v->cp->name);
}

/* What was lost may be lost again: till somebody says that the cause is
 * mended, by clearing the counters, it is not sure. */
static void
look_at_past(struct diagnosis *x, int prio)
{
    char command[128];
    struct counts c;

    counts_get(x->v->port, false, &c);
    snprintf(command, sizeof(command), "sluicectl stats clear %s",
             x->v->cp->name);
    if (c.n.violations[prio])
        doctor_find(x, UNSURE, "violations", 0, command,
                    "%" PRIu64 " lossless frames of the priority were lost; "
                    "when the cause is mended, clear the counters",
                    c.n.violations[prio]);
    if (c.n.violations[prio] && c.n.drops[DP_DROP_NO_CLONE]) {
        snprintf(command, sizeof(command),
                 "sluicectl bridge set %s drop-lossless-unknown on",
                 x->v->cb->name);
        doctor_find(x, UNSURE, "flood", 0,
                    x->v->cb->drop_unknown ? NULL : command,
                    "%" PRIu64 " copies of flooded frames found no descriptor "
                    "free (no-clone), of lossless ones too: a flood to many "
                    "ports needs one for each of them, whatever the headroom",
                    c.n.drops[DP_DROP_NO_CLONE]);
        snprintf(command, sizeof(command), "sluicectl stats clear %s",
                 x->v->cp->name);
    }
    if (c.kernel_violations)
        doctor_find(x, UNSURE, "violations", 0, command,
                    "the kernel lost %" PRIu64 " frames of the port, of "
                    "lossless classes perhaps; when the cause is mended, "
                    "clear the counters",
                    c.kernel_violations);
}

/* A switch that does not keep up loses nothing lossless, but its peers wait
 * for it: that is to be known. */
static void
look_at_overload(struct diagnosis *x)
{
    struct counts c;

    counts_get(x->v->port, false, &c);
    x->n_ring_pauses = c.nd.n_ring_pauses;
    if (!x->n_ring_pauses)
        return;
    doctor_find(x, YES, "overload", 0, NULL,
                "%" PRIu64 " times the peer was paused since the %s was a "
                "quarter full: the thread of bridge %s did not keep up; it "
                "may need a core of its own (--cpu, --fifo)",
                x->n_ring_pauses,
                x->v->port->cls == &netdev_tap ? "queue of the TAP"
                                               : "receive ring",
                x->v->bridge->name);
}

/* --- the answer --------------------------------------------------------- */

static struct json_object *
terms_of(const struct diagnosis *x)
{
    struct json_object *o = json_object_new_object();

    json_add_uint(o, "cable_bytes", x->need.cable_bytes);
    json_add_uint(o, "reaction_bytes", x->need.reaction_bytes);
    json_add_uint(o, "macphy_bytes", x->need.macphy_bytes);
    json_add_uint(o, "rx_mtu_bytes", x->need.rx_mtu_bytes);
    json_add_uint(o, "tx_mtu_bytes", x->need.tx_mtu_bytes);
    json_add_uint(o, "hw_bytes", x->need.hw_bytes);
    json_add_uint(o, "stall_bytes", x->need.stall_bytes);
    json_add_uint(o, "late_bytes", x->need.late_bytes);
    json_add_uint(o, "batch_bytes", x->need.batch_bytes);
    json_add_uint(o, "sw_bytes", x->need.sw_bytes);
    json_add_uint(o, "total_bytes", x->need.total_bytes);
    return o;
}

static void
diagnose(struct diagnosis *x)
{
    const struct port_view *v = x->v;
    struct netdev_stats nd;

    x->stall_ns = bridge_stall_ns(v->bridge);
    if (x->stall_ns < v->bridge->stall_ns)
        x->stall_ns = v->bridge->stall_ns;
    conf_port_headroom_terms(v->cb, v->cp, &v->port->live, x->stall_ns,
                             &x->need);
    x->headroom_bytes = v->pp->pg[x->group].headroom_bytes;
    port_stats(v->port, &nd);
    x->n_slots = nd.n_ring_slots;
    x->ring_bytes = x->n_slots * v->cb->max_frame_bytes;
    x->ring_needed_bytes = netdev_ring_for(stall_bytes(v, x->stall_ns));
    look_at_headroom(x);
    look_at_headroom_pool(x);
    look_at_pause_time(x);
    look_at_lapses(x);
    if (v->port->link != PORT_ABSENT)
        look_at_ring(x);
    look_at_small_frames(x);
    look_at_buffers(x);
    look_at_interface(x);
}

static void
add_diagnosis(const struct port_view *v, int prio, struct json_object *to)
{
    static const char *const words[] = {"yes", "unsure", "no"};
    struct diagnosis x = {.v = v,
                          .prio = prio,
                          .group = v->pp->prio_to_pg[prio]};
    struct json_object *o = json_object_new_object();

    x.findings = json_object_new_array();
    diagnose(&x);
    doctor_peer(&x);
    doctor_host(&x);
    look_at_past(&x, prio);
    look_at_overload(&x);
    json_add_text(o, "port", v->port->name);
    json_add_text(o, "bridge", v->bridge->name);
    json_add_uint(o, "priority", (uint64_t) prio);
    json_add_uint(o, "group", (uint64_t) x.group);
    json_add_text(o, "lossless", words[x.verdict]);
    json_object_object_add(o, "terms", terms_of(&x));
    json_add_uint(o, "stall_ns", x.stall_ns);
    json_add_uint(o, "headroom_bytes", x.headroom_bytes);
    json_add_uint(o, "needed_bytes", x.need.total_bytes);
    json_add_uint(o, "ring_bytes", x.ring_bytes);
    json_add_uint(o, "ring_needed_bytes", x.ring_needed_bytes);
    json_add_uint(o, "ring_pauses", x.n_ring_pauses);
    json_object_object_add(o, "findings", x.findings);
    json_object_array_add(to, o);
}

static void
add_port(const struct port_view *v, struct json_object *to)
{
    uint8_t prios = v->cp->pause_tx ? 0xff : v->cp->pfc_prios;

    for (int p = 0; p < N_PRIO; p++)
        if (prios >> p & 1)
            add_diagnosis(v, p, to);
}

static int
doctor_show(void *ctx, struct rpc_client *client, struct json_object *params,
            struct json_object **result, struct err *err)
{
    struct daemon *d = ctx;

    (void) client;
    for (uint32_t i = 0; i < d->n_bridges; i++)
        watch_stall(d->bridges[i]); /* not up to a second later */
    return methods_each_port(d, params, add_port, result, err);
}

static const struct rpc_param show_params[] = {
    PARAM_NAME("port", false, "Only this port."),
    PARAM_END,
};

const struct rpc_method methods_doctor[] = {
    {
        .name = "doctor.show",
        .doc = "Says of every lossless priority of every port whether it is "
               "really lossless: every term of the headroom rule, what there "
               "is, what is missing, and the command that mends it.",
        .params = show_params,
        .result = "An array of objects: port, bridge, priority, group, "
                  "lossless (yes, no, unsure), terms (in bytes: cable_bytes, "
                  "reaction_bytes, macphy_bytes, rx_mtu_bytes, tx_mtu_bytes, "
                  "hw_bytes, stall_bytes, late_bytes, batch_bytes, sw_bytes, "
                  "total_bytes), stall_ns (that is to be survived), "
                  "headroom_bytes, needed_bytes, ring_bytes (what the receive "
                  "ring holds in frames of full size), ring_needed_bytes, "
                  "ring_pauses (times that the peer was paused since the "
                  "ring was a quarter full: the thread could not keep up), "
                  "findings (array of term, short_bytes, message and, where "
                  "one mends it, command).  Terms: headroom, headroom-pool, "
                  "pause-time, ring, tap-queue, "
                  "small-frames, buffers, rate, peer-rate, peer-pfc, "
                  "path, backpressure, sockets, interface, nic, "
                  "violations, overload (which makes no class less lossless).",
        .example = "{}",
        .handler = doctor_show,
    },
    {.name = NULL},
};
