/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage enqueue: each frame is put at the end of the queue that its priority
 * maps to, on the port where it belongs or, copied, on every port of its VLAN.
 * A lossless queue takes everything: the ingress side bounds it.  A lossy one
 * has a limit, and either may have a WRED profile.
 */
#include "dp/dp_priv.h"
#include "dp/of.h"

/* Puts p at the end of a queue of out. */
static inline void
append(struct dp *dp, struct dp_port *out, int q, struct pkt *p, uint32_t len)
{
    struct dp_queue *queue = &out->queue[q];

    p->next = NULL;
    if (queue->head) {
        queue->tail->next = p;
    } else {
        queue->head = p;
        queue->head_len = len;
        if (!out->ready)
            dp_set_add(&dp->busy, out->slot);
        out->ready |= (uint8_t) (1u << q);
    }
    queue->tail = p;
    queue->frames++;
    queue->bytes += len;
}

void
dp_enqueue_to(struct dp *dp, struct dp_port *out, int q, struct pkt *p)
{
    struct dp_queue *queue = &out->queue[q];
    uint32_t len = dp_wire_len(p);

    if ((queue->bytes + len > queue->limit || len > out->max_frame_bytes) &&
        !dp_may_enqueue(dp, out, q, p))
        return;
    append(dp, out, q, p, len);
}

/* A frame that leaves otherwise than it came, or for which there may be no
 * room, or that is a copy. */
void
dp_enqueue_one(struct dp *dp, struct dp_port *out, struct pkt *p,
               struct dp_tag tag)
{
    if ((out->may_tag >> p->prio & 1) || (tag.tci & VLAN_VID_MASK) != p->vid)
        dp_act(out, p, tag);
    else if (out->may_act >> p->prio & 1)
        dp_rewrite_dscp(out->conf, p);
    dp_enqueue_to(dp, out, out->prio_to_queue[p->prio], p);
}

/* A copy of p for one more port. */
static __attribute__((noinline)) void
enqueue_copy(struct dp *dp, struct dp_port *out, struct pkt *p,
             struct dp_tag tag)
{
    const struct dp_port *in = dp->port[p->in_port];
    bool lossless = in->group[p->pg].conf.lossless;
    struct pkt *copy = NULL;

    /* A storm of lossy floods must not take what lossless ones need. */
    if (dp_likely(lossless ||
                  pkt_pool_n_free_clones(dp->pool) >= 2 * dp->low_clones))
        copy = pkt_clone(p);
    if (dp_likely(copy != NULL)) {
        dp_enqueue_one(dp, out, copy, tag);
        return;
    }
    dp_drop_copy(out, p);
    if (lossless)
        dp_violation(dp, out, p->prio, DP_DROP_NO_CLONE);
}

/* To every port of the VLAN but the one it came from.  The frame itself goes
 * to the last of them, so that its buffer is there to be copied till then.
 * Ports without an interface are left out: nothing is lost there. */
static __attribute__((noinline)) void
flood(struct dp *dp, struct dp_port *in, struct pkt *p, struct dp_tag tag)
{
    struct dp_port *last = NULL;
    uint32_t n_copies = 0;

    /* Flooded, it could come back and be paused by itself. */
    if (dp->plan->drop_unknown && in->group[p->pg].conf.lossless &&
        !eth_is_group(p->data)) {
        dp_drop(dp, in, DP_DROP_UNKNOWN_UNICAST, p);
        return;
    }
    for (int i = dp_set_next(&dp->up, 0); i >= 0;
         i = dp_set_next(&dp->up, i + 1)) {
        struct dp_port *out = dp->port[i];

        if (out == in || !dp_carries(out->conf, p->vid) ||
            dp_unlikely(out->no_send || out->of_config & OFPPC_NO_FLOOD))
            continue;
        if (last) {
            enqueue_copy(dp, last, p, tag);
            n_copies++;
        }
        last = out;
    }
    if (!last) {
        dp_drop(dp, in, DP_DROP_NO_PORT, p);
        return;
    }
    counter_add(&in->n.copies, n_copies);
    dp_enqueue_one(dp, last, p, tag);
}

/* A frame that is flooded, leaves otherwise than it came, or may not go where
 * it would. */
static __attribute__((noinline)) void
enqueue_closely(struct dp *dp, struct dp_port *in, struct dp_batch *b,
                uint32_t i, uint8_t act)
{
    struct dp_port *out = b->to[i];
    struct pkt *p = b->pkt[i];

    if (dp_unlikely(!out)) {
        flood(dp, in, p, b->tag[i]);
    } else if (dp_unlikely(out == in)) {
        dp_drop(dp, in, DP_DROP_NO_PORT, p);
    } else if ((out->may_tag | act) >> p->prio & 1) {
        dp_enqueue_one(dp, out, p, b->tag[i]);
    } else {
        if (out->may_act >> p->prio & 1)
            dp_rewrite_dscp(out->conf, p);
        dp_enqueue_to(dp, out, out->prio_to_queue[p->prio], p);
    }
}

/* Most frames go to one port, leave as they came, and say so since they were
 * received. */
void
dp_enqueue(struct dp *dp, struct dp_port *in, struct dp_batch *b)
{
    /* Where a port gives VLANs to frames, any may leave with another tag. */
    uint8_t act = in->all_vlans ? 0 : 0xff;
    uint32_t n = b->n;

    for (uint32_t i = 0; i < n; i++) {
        struct dp_port *out = b->to[i];
        struct pkt *p = b->pkt[i];
        struct dp_queue *queue;
        uint32_t len = dp_wire_len(p);
        int q;

        if (dp_unlikely(!out) || dp_unlikely(out == in) ||
            dp_unlikely((out->may_act | act) >> p->prio & 1)) {
            if (!out || out == in || (out->may_tag | act) >> p->prio & 1) {
                enqueue_closely(dp, in, b, i, act);
                continue;
            }
            dp_rewrite_dscp(out->conf, p);
        }
        q = out->prio_to_queue[p->prio];
        queue = &out->queue[q];
        if (dp_unlikely(queue->bytes + len > queue->limit) ||
            dp_unlikely(len > out->max_frame_bytes))
            enqueue_closely(dp, in, b, i, act);
        else
            append(dp, out, q, p, len);
    }
}
