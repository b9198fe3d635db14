/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames to and from controllers, through rings of records: see of.h for the
 * threads.
 */
#include "dp/of_priv.h"

#include <string.h>

/* A record of the ring of packet-ins: this, then the frame. */
struct in_record {
    struct dp_packet_in in; /* but for data */
};

/* A record of the ring of packet-outs: this, the actions, the frame. */
struct out_record {
    uint32_t in_port;   /* see dp_packet_out_post */
    uint32_t n_actions; /* how many */
    uint32_t len;       /* of the frame */
    uint32_t zero;      /* to eight octets */
};

/* --- to controllers
 * ---------------------------------------------------------- */

/* How long a frame is on the wire. */
static uint32_t
padded(uint32_t len)
{
    return len < PKT_MIN_LEN ? PKT_MIN_LEN : len;
}

bool
of_packet_in(struct of_run *run, uint8_t reason, uint16_t max_len)
{
    const struct flow_state *s = &run->r.s;
    struct dp_of *of = run->dp->of;
    uint32_t len = s->frame.len, n = padded(len);
    struct in_record rec = {0};
    uint8_t *to;

    pkt_close(s->pkt);
    if (!flow_may_packet_in(of->tables, len, run->dp->now_ns))
        return false;
    to = of_ring_room(of->ins, sizeof(rec) + n);
    if (!to) {
        counter_add(&of->n_ins_lost, 1);
        return false;
    }
    rec.in = (struct dp_packet_in){
        .reason = reason,
        .max_len = max_len,
        .slot = run->from ? run->from->slot : PKT_NO_PORT,
        .in_port = run->r.in_port,
        .cookie = UINT64_MAX,
        .metadata = s->metadata,
        .tunnel_id = s->tunnel_id,
        .now_ns = run->dp->now_ns,
        .len = n,
    };
    if (run->r.flow) {
        struct flow_info info;

        flow_info(run->r.flow, &info);
        rec.in.table = info.table;
        rec.in.priority = info.priority;
        rec.in.cookie = info.cookie;
    }
    memcpy(to, &rec, sizeof(rec));
    memcpy(to + sizeof(rec), s->frame.data, len);
    memset(to + sizeof(rec) + len, 0, n - len);
    of_ring_put(of->ins);
    of->news = true;
    counter_add(&of->n_ins, 1);
    if (run->in) {
        run->n_ends++;
        counter_add(&run->in->n.to_controller, 1);
    }
    return true;
}

bool
dp_packet_in_get(struct dp *dp, struct dp_packet_in *out)
{
    struct dp_of *of = dp->of;
    struct in_record rec;
    const uint8_t *from;
    uint32_t n;

    if (of->ins_peeked)
        of_ring_drop(of->ins);
    from = of_ring_peek(of->ins, &n);
    of->ins_peeked = from != NULL;
    if (!from)
        return false;
    memcpy(&rec, from, sizeof(rec));
    *out = rec.in;
    out->data = from + sizeof(rec);
    return true;
}

uint64_t
dp_packet_ins(const struct dp *dp)
{
    return counter_get(&dp->of->n_ins);
}

uint64_t
dp_packet_ins_lost(const struct dp *dp)
{
    return counter_get(&dp->of->n_ins_lost);
}

/* --- from controllers
 * -------------------------------------------------------- */

bool
dp_packet_out_post(struct dp *dp, uint32_t in_port,
                   const struct ofp_actions *actions, const uint8_t *frame,
                   uint32_t len)
{
    uint32_t n = actions->n * (uint32_t) sizeof(actions->a[0]);
    struct out_record rec = {in_port, actions->n, len, 0};
    uint8_t *to;

    if (len > UINT16_MAX || actions->n > OFP_MAX_ACTIONS)
        len = rec.len = rec.n_actions = n = 0; /* counted as a drop */
    to = of_ring_room(dp->of->outs, (uint32_t) sizeof(rec) + n + len);
    if (!to)
        return false;
    memcpy(to, &rec, sizeof(rec));
    if (n)
        memcpy(to + sizeof(rec), actions->a, n);
    if (len)
        memcpy(to + sizeof(rec) + n, frame, len);
    of_ring_put(dp->of->outs);
    return true;
}

static void
packet_out(struct dp *dp, const struct out_record *rec, const uint8_t *more)
{
    const struct ofp_action *a = (const void *) more; /* ring: aligned */
    struct of_run run = {.from = of_port(dp, rec->in_port)};
    uint32_t n_free = pkt_pool_n_free(dp->pool);
    struct flow_frame *f = &run.r.s.frame;
    struct pkt *p = NULL;

    counter_add(&dp->of->n.n_out, 1);
    dp->of->news = true; /* a barrier may wait for it */
    /* They are charged to no group, and leave most buffers to those who are.
     */
    if (rec->len >= ETH_HDR_LEN &&
        rec->len <= pkt_pool_frame_bytes(dp->pool) &&
        n_free > pkt_pool_n_buffers(dp->pool) / 4)
        p = pkt_alloc(dp->pool);
    if (!p) {
        counter_add(&dp->of->n.n_out_dropped, 1);
        return;
    }
    memcpy(p->data, more + rec->n_actions * sizeof(*a), rec->len);
    p->len = rec->len;
    of_begin(&run, dp, p);
    run.r.hooks = &of_hooks;
    run.r.in_port = rec->in_port;
    f->data = p->data;
    f->len = p->len;
    of_frame_room(f, p);
    f->key_stale = true;
    f->view_stale = true;
    flow_run_actions(&run.r, a, rec->n_actions);
    of_end(&run);
}

void
of_packet_outs(struct dp *dp)
{
    struct of_ring *outs = dp->of->outs;
    struct out_record rec;
    const uint8_t *from = NULL;
    uint32_t n;

    for (int i = 0; i < DP_OF_OUTS && (from = of_ring_peek(outs, &n)); i++) {
        memcpy(&rec, from, sizeof(rec));
        packet_out(dp, &rec, from + sizeof(rec));
        of_ring_drop(outs);
    }
    if (from)
        dp->more = true;
}
