/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage enqueue: the frame is put at the end of the queue that its priority
 * maps to.  A lossless queue takes everything: the ingress side bounds it.  A
 * lossy one has a limit.
 */
#include "dp/dp_priv.h"

static inline void
append(struct dp *dp, struct dp_port *out, int q, struct pkt *p, uint32_t len)
{
    struct dp_queue *queue = &out->queue[q];

    p->next = NULL;
    if (queue->head) {
        queue->tail->next = p;
    } else {
        queue->head = p;
        out->head_len[q] = len;
        if (!out->ready)
            dp_set_add(&dp->busy, out->slot);
        out->ready |= (uint8_t) (1u << q);
    }
    queue->tail = p;
}

void
dp_enqueue(struct dp *dp, struct dp_port *out, struct pkt *p)
{
    const struct dp_plan_port *pp = out->conf;
    int q = pp->prio_to_queue[p->prio];
    uint64_t bytes = out->n.q_bytes[q];
    uint32_t len = dp_wire_len(p);
    enum dp_drop reason;

    bytes += len;
    if (dp_unlikely(len > pp->max_frame_bytes)) {
        reason = DP_DROP_OVERSIZE;
    } else if (dp_unlikely(!out->netdev)) {
        reason = DP_DROP_PORT_DOWN;
    } else if (dp_unlikely(!pp->queue[q].lossless &&
                           bytes > pp->queue[q].limit_bytes)) {
        reason = DP_DROP_QUEUE_LIMIT;
    } else {
        append(dp, out, q, p, len);
        counter_add(&out->n.held, 1);
        counter_add(&out->n.q_frames[q], 1);
        counter_set(&out->n.q_bytes[q], bytes);
        if (dp_unlikely(bytes > out->n.q_peak[q]))
            counter_set(&out->n.q_peak[q], bytes);
        return;
    }
    dp_drop_queue(dp, out, q, reason, p);
}
