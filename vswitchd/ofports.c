/* SPDX-License-Identifier: Apache-2.0
 *
 * Ports as OpenFlow sees them: see ofports.h.
 */
#include "ofports.h"

#include "base/clock.h"
#include "bridge.h"
#include "counts.h"
#include "daemon.h"
#include "dp/of.h"

#include <stdio.h>
#include <string.h>

#define PER_MILLE_NONE 0xffffu /* of a queue: no rate is configured */

struct port *
ofports_find(const struct bridge *b, uint32_t number)
{
    for (int i = 0; i < DP_MAX_PORTS; i++)
        if (b->ports[i] && b->ports[i]->ofport == number)
            return b->ports[i];
    return NULL;
}

static const struct conf_port *
conf_of(const struct bridge *b, const struct port *p)
{
    const struct conf_bridge *cb = conf_find_bridge(b->daemon->conf, b->name);

    return cb ? conf_bridge_find_port(cb, p->name) : NULL;
}

/* --- what they are like ----------------------------------------------------
 */

static uint32_t
speed_bit(uint64_t bps)
{
    static const struct {
        uint64_t mbps; /* rate */
        uint32_t bit;  /* of it */
    } known[] = {
        {10, OFPPF_10MB_FD},     {100, OFPPF_100MB_FD},
        {1000, OFPPF_1GB_FD},    {10000, OFPPF_10GB_FD},
        {40000, OFPPF_40GB_FD},  {100000, OFPPF_100GB_FD},
        {1000000, OFPPF_1TB_FD},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (bps == known[i].mbps * 1000000)
            return known[i].bit;
    return OFPPF_OTHER;
}

/* The rate is what the port is shaped to, or else its interface's own; the
 * bridge's own port has none. */
static void
describe(const struct bridge *b, const struct port *p, struct ofp_port *out)
{
    const struct conf_port *cp = conf_of(b, p);
    uint64_t bps = cp ? conf_port_rate(cp, &p->live) : 0;

    memset(out, 0, sizeof(*out));
    out->number = p->ofport;
    memcpy(out->hw_addr, p->live.mac, sizeof(out->hw_addr));
    snprintf(out->name, sizeof(out->name), "%s", p->name);
    out->state = p->link == PORT_UP ? OFPPS_LIVE : OFPPS_LINK_DOWN;
    if (!bps)
        return;
    out->curr = out->advertised = out->supported = speed_bit(bps);
    out->curr_speed = out->max_speed = (uint32_t) (bps / 1000);
}

void
ofports_tell(struct bridge *b, struct ofproto *books)
{
    const struct ofp_port *known = ofproto_port_after(books, 0);
    struct ofp_port port;

    while (known) {
        uint32_t number = known->number;

        if (!ofports_find(b, number))
            ofproto_del_port(books, number);
        known = ofproto_port_after(books, number);
    }
    for (int i = 0; i < DP_MAX_PORTS; i++) {
        if (!b->ports[i] || !b->ports[i]->ofport)
            continue;
        describe(b, b->ports[i], &port);
        ofproto_set_port(books, &port);
    }
}

/* --- how they are configured -----------------------------------------------
 */

struct settings {
    uint32_t n; /* ports that are told */
    struct {
        uint16_t slot;    /* which */
        uint32_t config;  /* OFPPC_* */
        bool up;          /* its link */
    } port[DP_MAX_PORTS]; /* them */
};

static void
configure(struct dp *dp, void *arg)
{
    const struct settings *s = arg;

    for (uint32_t i = 0; i < s->n; i++)
        dp_of_set_port(dp, s->port[i].slot, s->port[i].config, s->port[i].up);
}

void
ofports_configure(struct bridge *b, const struct ofproto *books)
{
    struct settings s = {.n = 0};

    for (uint16_t i = 0; i < DP_MAX_PORTS; i++) {
        struct port *p = b->ports[i];
        const struct ofp_port *known =
            p ? ofproto_port(books, p->ofport) : NULL;
        bool up = p && p->link == PORT_UP;

        /* A port is without any configuration, and up, at first. */
        if (!known || (p->of_config == known->config && p->of_down == !up))
            continue;
        p->of_config = known->config;
        p->of_down = !up;
        s.port[s.n].slot = i;
        s.port[s.n].config = known->config;
        s.port[s.n++].up = up;
    }
    if (s.n)
        bridge_call(b, configure, &s);
}

/* --- what they counted -----------------------------------------------------
 */

static uint64_t
sum_drops(const struct counts *c, enum dp_drop from, enum dp_drop to)
{
    uint64_t n = 0;

    for (unsigned i = from; i < to; i++)
        n += c->n.drops[i];
    return n;
}

void
ofports_stats(struct port *p, struct ofp_port_stats *out)
{
    struct counts c;

    counts_get(p, true, &c);
    *out = (struct ofp_port_stats){
        .port = p->ofport,
        .rx_packets = c.n.rx_frames,
        .tx_packets = c.n.tx_frames,
        .rx_bytes = c.n.rx_bytes,
        .tx_bytes = c.n.tx_bytes,
        .rx_dropped = sum_drops(&c, DP_DROP_RUNT, DP_DROP_NO_CLONE) +
                      c.nd.rx_ring_drops + c.nd.rx_backlog_drops,
        .tx_dropped =
            sum_drops(&c, DP_DROP_NO_CLONE, DP_N_DROPS) + c.nd.tx_queue_drops,
        .rx_errors = c.nd.rx_bad + c.nd.rx_oversize,
        .tx_errors = c.nd.tx_errors,
        .rx_over_err = c.nd.rx_ring_drops,
        .duration_ns = clock_ns() - p->created_ns,
    };
}

void
ofports_queue_stats(struct port *p, uint32_t queue,
                    struct ofp_queue_stats *out)
{
    struct counts c;

    counts_get(p, true, &c);
    *out = (struct ofp_queue_stats){
        .port = p->ofport,
        .queue = queue,
        .tx_bytes = c.n.q_tx_bytes[queue],
        .tx_packets = c.n.q_tx_frames[queue],
        .tx_errors = c.n.q_drops[queue],
        .duration_ns = clock_ns() - p->created_ns,
    };
}

void
ofports_queue(const struct bridge *b, const struct port *p, uint32_t queue,
              struct ofp_queue *out)
{
    const struct conf_port *cp = conf_of(b, p);
    uint64_t rate = cp ? conf_port_rate(cp, &p->live) : 0, mille;

    *out = (struct ofp_queue){
        .port = p->ofport,
        .id = queue,
        .min_rate = PER_MILLE_NONE,
        .max_rate = PER_MILLE_NONE,
    };
    if (!cp)
        return;
    /* A weight is what the queue gets when all others want more, after the
     * strict ones. */
    if (cp->queue[queue].ets)
        out->min_rate = (uint16_t) (cp->queue[queue].weight * 10);
    if (cp->queue[queue].max_rate_bps && rate) {
        mille = cp->queue[queue].max_rate_bps * 1000 / rate;
        out->max_rate = (uint16_t) (mille < 1000 ? mille : 1000);
    }
}
