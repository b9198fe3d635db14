/* SPDX-License-Identifier: Apache-2.0
 *
 * What becomes of frames in the flow tables: copies, outputs, drops.
 *
 * Outputs of a frame in the same state share its buffer.  The last one takes
 * the frame itself: an output waits until it is known whether there is
 * another.  A frame that is changed after an output, or in a bucket of a group
 * that others follow, is copied first: the copy has a buffer of its own and is
 * charged to the same ingress group, so that XOFF comes when it is due.
 *
 * A frame ends once: what it ends as more often are copies.  Hence `copies` of
 * the ingress port grows by the number of ends less one.
 */
#include "dp/of_priv.h"

#include <string.h>

#define WAIT_NORMAL   0x10000u /* in state.wait: to NORMAL */
#define WAIT_PRIO(w)  ((uint8_t) ((w) >> 8 & 7))
#define WAIT_QUEUE(w) ((w) &7)
/* Frames of packet-outs that a queue takes: no ingress group bounds them. */
#define OUT_FRAMES 1024

static struct of_run *
of_this(struct flow_run *r)
{
    return (struct of_run *) (void *) r;
}

bool
of_may_send(const struct dp_port *port)
{
    return !port->no_send;
}

static bool
is_lossless(const struct of_run *run, const struct pkt *p)
{
    return run->in && run->in->group[p->pg].conf.lossless;
}

/* --- where and how it leaves -----------------------------------------------
 */

/* The priority of the frame as it is now, by the maps of the port that it came
 * in on, or else of the one that it leaves by. */
static uint8_t
prio_now(struct of_run *run, const struct dp_port *out)
{
    const struct dp_port *port = run->from ? run->from : out;
    struct flow_frame *f = &run->r.s.frame;
    uint8_t prio = port->untagged.prio;

    flow_frame_read(f);
    if (f->key.vlan_vid)
        prio = port->pcp_to_class[f->key.vlan_pcp].prio;
    if (port->trust_dscp &&
        (f->view.l3_is == FLOW_L3_IP4 || f->view.l3_is == FLOW_L3_IP6))
        prio = port->conf->dscp_to_prio[f->key.ip_dscp];
    return prio;
}

void
of_choose(struct of_run *run, const struct dp_port *out, uint8_t *q,
          uint8_t *prio)
{
    const struct flow_state *s = &run->r.s;
    const struct dp_port *in = run->in;

    *prio = s->pkt->prio;
    if (!in || s->new_pcp || (s->new_dscp && in->trust_dscp))
        *prio = prio_now(run, out);
    *q = out->prio_to_queue[*prio];
    if (s->queue >= N_QUEUE)
        return;
    *q = (uint8_t) s->queue;
    /* Its class is that of the queue: so is its priority, if there is one. */
    for (uint8_t p = 0; p < N_PRIO && out->prio_to_queue[*prio] != *q; p++)
        if (out->prio_to_queue[p] == *q)
            *prio = p;
}

/* --- copies -----------------------------------------------------------------
 */

/* What the actions left is what the descriptor says. */
static void
sync(struct flow_state *s)
{
    s->pkt->data = s->frame.data;
    s->pkt->len = s->frame.len;
    s->pkt->tx_skip = 0;
    s->pkt->tx_tag = false;
    s->pkt->tx_l3 = 0;
    dp_measure(s->pkt);
}

static void
lost(struct of_run *run, const struct pkt *p, enum dp_drop reason)
{
    struct dp_port *in = run->in;

    if (run->trace)
        return;
    if (!in) {
        counter_add(&run->dp->of->n.n_out_dropped, 1);
        return;
    }
    run->n_ends++;
    counter_add(&in->n.drops[reason], 1);
    counter_add(&in->n.drop_bytes[reason], p->len);
    if (in->group[p->pg].conf.lossless)
        dp_violation(run->dp, in, p->prio, reason);
}

/* One more reference to the octets, for `out` (null: NORMAL). */
static struct pkt *
clone(struct of_run *run, struct dp_port *out)
{
    struct flow_state *s = &run->r.s;
    struct dp *dp = run->dp;
    struct pkt *copy = NULL;

    if (s->owned)
        sync(s);
    if (is_lossless(run, s->pkt) ||
        pkt_pool_n_free_clones(dp->pool) >= 2 * dp->low_clones)
        copy = pkt_clone(s->pkt);
    s->exclusive = false;
    if (copy)
        return copy;
    if (!out) {
        lost(run, s->pkt, DP_DROP_NO_CLONE);
        return NULL;
    }
    run->n_ends++;
    dp_drop_copy(out, s->pkt);
    if (is_lossless(run, s->pkt))
        dp_violation(dp, out, s->pkt->prio, DP_DROP_NO_CLONE);
    return NULL;
}

/* Charges a copy to the group of its frame: a lossless one always, as its
 * peer has sent no more than it may. */
static bool
charge(struct of_run *run, struct pkt *copy, const struct pkt *p)
{
    struct dp_port *in = run->in;
    struct buf_group *g = &in->group[p->pg];
    struct buf_pool *pool = dp_group_pool(run->dp, g);
    uint32_t free_buffers = dp_room(run->dp);

    if (g->conf.lossless)
        buf_charge_copy(pool, g, copy->len, free_buffers);
    else if (buf_admit(pool, g, copy->len, free_buffers) != BUF_OK)
        return false;
    copy->in_port = in->slot;
    copy->charge_bytes = copy->len;
    dp_charged_more(run->dp, g->conf.pool);
    dp_note_group(run->dp, in, p->pg);
    return true;
}

/* A frame that has grown may be longer than what a buffer has behind its
 * headroom. */
static void
make_fit(struct pkt *copy, uint32_t len)
{
    uint32_t room = copy->pool->stride - PKT_HEADROOM;

    copy->len = len;
    if (len <= room)
        return;
    assert(len - room <= PKT_HEADROOM);
    copy->data -= len - room;
}

/* A buffer for a copy; null: none is to be had. */
static struct pkt *
take_buffer(struct of_run *run, const struct flow_state *s)
{
    struct dp *dp = run->dp;
    uint32_t n_free = pkt_pool_n_free(dp->pool);
    struct pkt *copy;

    if (!run->trace && !is_lossless(run, s->pkt) &&
        n_free <= 2 * dp->plan->low_buffers)
        return NULL;
    copy = pkt_alloc(dp->pool);
    if (!copy)
        return NULL;
    make_fit(copy, s->frame.len);
    memcpy(copy->data, s->frame.data, s->frame.len);
    copy->pg = s->pkt->pg;
    copy->prio = s->pkt->prio;
    copy->vid = s->pkt->vid;
    if (run->in && !run->trace && !charge(run, copy, s->pkt)) {
        pkt_free(copy);
        return NULL;
    }
    return copy;
}

static void send_waiting(struct of_run *, struct pkt *p);
static void finish(struct flow_run *);

static bool
own(struct flow_run *r)
{
    struct of_run *run = of_this(r);
    struct flow_state *s = &r->s;
    struct pkt *copy, *was = s->pkt;

    pkt_close(was);
    if (s->owned && !s->wait_port && was->n_refs == 1) {
        was->has_offload = false; /* no piece of anything any more */
        s->exclusive = true;
        return true;
    }
    if (s->owned)
        sync(s);
    copy = take_buffer(run, s);
    if (!copy) {
        s->dead = true;
        lost(run, was, DP_DROP_NO_BUFFER);
        return false;
    }
    if (!run->trace)
        of_note_copies(run->dp, ++run->n_copies);
    if (s->owned && s->wait_port)
        send_waiting(run, was);
    else if (s->owned)
        dp_release(run->dp, was, dp_room(run->dp));
    s->pkt = copy;
    s->wait_port = NULL;
    s->owned = true;
    s->exclusive = true;
    s->frame.data = copy->data;
    of_frame_room(&s->frame, copy);
    return true;
}

/* --- sending ----------------------------------------------------------------
 */

/* A descriptor that is no one's but ours goes to a queue. */
static void
send(struct of_run *run, struct dp_port *out, uint32_t wait, struct pkt *p)
{
    uint8_t q = WAIT_QUEUE(wait);

    p->prio = WAIT_PRIO(wait);
    if (wait & WAIT_NORMAL) {
        of_normal(run, p);
        return;
    }
    run->n_ends++;
    if (dp_unlikely(!run->in) && out->queue[q].frames >= OUT_FRAMES) {
        dp_drop_queue(run->dp, out, q, DP_DROP_QUEUE_LIMIT, p);
        return;
    }
    dp_enqueue_to(run->dp, out, q, p);
}

/* The output that waits takes p, which is the frame itself. */
static void
send_waiting(struct of_run *run, struct pkt *p)
{
    struct flow_state *s = &run->r.s;
    struct dp_port *out = s->wait_port;

    s->wait_port = NULL;
    send(run, out, s->wait, p);
}

/* An output that may not be the last. */
static void
put(struct of_run *run, struct dp_port *out, uint32_t wait)
{
    struct flow_state *s = &run->r.s;
    struct dp_port *before = s->wait_port;
    struct pkt *copy;

    if (s->owned && !before) {
        s->wait_port = out;
        s->wait = wait;
        s->exclusive = false;
        return;
    }
    if (!s->owned) {
        before = out;
    } else { /* what waited gets a copy, and this waits */
        uint32_t w = s->wait;

        s->wait_port = out;
        s->wait = wait;
        wait = w;
    }
    copy = clone(run, wait & WAIT_NORMAL ? NULL : before);
    if (copy)
        send(run, before, wait, copy);
}

static void
put_port(struct of_run *run, struct dp_port *out)
{
    uint8_t q, prio;

    of_choose(run, out, &q, &prio);
    if (dp_unlikely(run->trace != NULL)) {
        of_trace_out(run, out, q, prio);
        return;
    }
    put(run, out, q | (uint32_t) prio << 8);
}

uint32_t
of_flood_list(const struct of_run *run, bool all, uint16_t slots[DP_MAX_PORTS])
{
    const struct dp *dp = run->dp;
    uint32_t n = 0;

    for (int i = dp_set_next(&dp->up, 0); i >= 0;
         i = dp_set_next(&dp->up, i + 1)) {
        const struct dp_port *out = dp->port[i];

        if (out == run->from || !out->conf->of_port || !of_may_send(out) ||
            (!all && out->of_config & OFPPC_NO_FLOOD))
            continue;
        slots[n++] = (uint16_t) i;
    }
    return n;
}

static void
put_flood(struct of_run *run, bool all)
{
    uint16_t slots[DP_MAX_PORTS];
    uint32_t n = of_flood_list(run, all, slots);

    if (!n)
        run->why = DP_DROP_NO_PORT;
    for (uint32_t i = 0; i < n; i++)
        put_port(run, run->dp->port[slots[i]]);
}

static void
put_normal(struct of_run *run)
{
    const struct dp_port *like = run->from;
    uint8_t q, prio = run->r.s.pkt->prio;

    if (run->trace) {
        of_trace_normal(run);
        return;
    }
    for (int i = dp_set_next(&run->dp->up, 0); !like && i >= 0; i = -1)
        like = run->dp->port[i];
    if (like)
        of_choose(run, like, &q, &prio);
    put(run, (void *) run->dp, WAIT_NORMAL | (uint32_t) prio << 8);
}

static void
put_controller(struct of_run *run, uint16_t max_len)
{
    struct flow_info info;
    uint8_t reason = OFPR_ACTION;

    if (run->r.flow) {
        flow_info(run->r.flow, &info);
        if (info.is_miss && !run->r.depth)
            reason = OFPR_NO_MATCH;
    }
    if (run->from && run->from->of_config & OFPPC_NO_PACKET_IN) {
        run->why = DP_DROP_PORT_CONFIG;
        return;
    }
    if (run->trace) {
        struct dp_step *step = of_step(run, DP_STEP_CTRL);

        step->reason = reason;
        step->max_len = max_len;
        run->n_ends++;
        return;
    }
    if (!of_packet_in(run, reason, max_len))
        run->why = DP_DROP_CONTROLLER;
}

/* Only of packet-outs: as if it had come in on the port. */
static void
put_table(struct of_run *run)
{
    struct flow_state *s = &run->r.s, saved = *s;

    s->owned = false;
    s->exclusive = false;
    s->wait_port = NULL;
    s->queue = FLOW_NO_QUEUE;
    if (flow_run(&run->r, NULL))
        put_normal(run);
    finish(&run->r);
    *s = saved;
    s->exclusive = false;
    run->r.flow = NULL;
}

/* To one port.  Its own only if it is asked for by IN_PORT. */
static void
put_one(struct of_run *run, struct dp_port *out, bool own_too)
{
    if (!out || (out == run->from && !own_too)) {
        run->why = DP_DROP_NO_PORT;
        return;
    }
    if (dp_unlikely(!of_may_send(out))) {
        run->why = DP_DROP_PORT_CONFIG;
        return;
    }
    put_port(run, out);
}

static void
output(struct flow_run *r, uint32_t port, uint16_t max_len)
{
    struct of_run *run = of_this(r);

    switch (port) {
    case OFPP_IN_PORT:
        put_one(run, run->from, true);
        break;
    case OFPP_TABLE:
        if (!run->in && !run->r.flow)
            put_table(run);
        break;
    case OFPP_NORMAL:
        put_normal(run);
        break;
    case OFPP_FLOOD:
        put_flood(run, false);
        break;
    case OFPP_ALL:
        put_flood(run, true);
        break;
    case OFPP_CONTROLLER:
        put_controller(run, max_len);
        break;
    default:
        put_one(run, of_port(run->dp, port), false);
        break;
    }
}

/* --- ends -------------------------------------------------------------------
 */

static void
finish(struct flow_run *r)
{
    struct of_run *run = of_this(r);
    struct flow_state *s = &r->s;

    if (!s->owned)
        return;
    sync(s);
    if (s->wait_port)
        send_waiting(run, s->pkt);
    else
        dp_release(run->dp, s->pkt, dp_room(run->dp));
}

static void
stop(struct flow_run *r, enum flow_stop why)
{
    struct of_run *run = of_this(r);
    struct dp_of *of = run->dp->of;
    static const enum dp_drop reasons[] = {
        [FLOW_STOP_MISS] = DP_DROP_NO_FLOW,
        [FLOW_STOP_METER] = DP_DROP_METER,
        [FLOW_STOP_TTL] = DP_DROP_TTL,
        [FLOW_STOP_ROOM] = DP_DROP_OVERSIZE,
        [FLOW_STOP_LIMIT] = DP_DROP_FLOW,
    };

    run->why = reasons[why];
    if (run->trace) {
        of_step(run, DP_STEP_DROP)->drop = run->why;
        return;
    }
    if (why == FLOW_STOP_MISS)
        counter_add(&of->n.n_table_miss, 1);
    if (run->from && run->from->of_config & OFPPC_NO_PACKET_IN)
        return;
    if (why == FLOW_STOP_TTL && of->options.invalid_ttl)
        of_packet_in(run, OFPR_INVALID_TTL, OFPCML_NO_BUFFER);
    if (why == FLOW_STOP_MISS && of->options.misses) {
        run->r.flow = NULL; /* that of the table before */
        of_packet_in(run, OFPR_NO_MATCH, OFPCML_NO_BUFFER);
    }
}

static bool
is_live(const struct flow_run *r, uint32_t number)
{
    const struct of_run *run = (const struct of_run *) (const void *) r;
    const struct dp_port *port = of_port(run->dp, number);

    return port && port->netdev && !port->down && !port->of_link_down &&
           !(port->of_config & OFPPC_PORT_DOWN);
}

const struct flow_hooks of_hooks = {
    .own = own,
    .output = output,
    .finish = finish,
    .stop = stop,
    .is_live = is_live,
};

void
of_begin(struct of_run *run, struct dp *dp, struct pkt *p)
{
    struct flow_state *s = &run->r.s;

    run->dp = dp;
    run->n_ends = 0;
    run->n_copies = 0;
    run->why = DP_DROP_FLOW;
    run->r.tables = dp->of->tables;
    run->r.now_ns = dp->now_ns;
    run->r.flow = NULL;
    run->r.depth = 0;
    run->r.work = 0;
    run->r.looks = 0;
    s->pkt = p;
    s->owned = true;
    s->exclusive = p->n_refs == 1 && !p->has_offload;
    s->new_pcp = false;
    s->new_dscp = false;
    s->dead = false;
    s->queue = FLOW_NO_QUEUE;
    s->metadata = 0;
    s->tunnel_id = 0;
    s->wait_port = NULL;
}

void
of_end(struct of_run *run)
{
    struct flow_state *s = &run->r.s;
    struct dp *dp = run->dp;

    sync(s);
    if (s->wait_port) {
        send_waiting(run, s->pkt);
    } else if (run->n_ends || !run->in) {
        dp_release(dp, s->pkt, dp_room(dp));
    } else {
        run->n_ends++;
        dp_drop(dp, run->in, run->why, s->pkt);
    }
    if (run->in)
        counter_add(&run->in->n.copies, run->n_ends - 1);
    else
        dp->retired.copies += run->n_ends;
}
