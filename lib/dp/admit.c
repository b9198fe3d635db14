/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage admit: charges each frame to its ingress priority group.  That may
 * trip XOFF, and what does not fit is dropped: a lossy frame at the limit, or
 * a lossless one whose headroom is full, which is a violation.
 */
#include "dp/dp_priv.h"

static void
refuse(struct dp *dp, struct dp_port *in, struct pkt *p, enum buf_verdict v)
{
    enum dp_drop reason = v == BUF_HEADROOM_EXCEEDED
                              ? DP_DROP_HEADROOM_EXCEEDED
                              : DP_DROP_INGRESS_LIMIT;

    counter_add(&in->n.pg_drops[p->pg], 1);
    if (reason == DP_DROP_HEADROOM_EXCEEDED)
        dp_violation(dp, in, p->prio, reason);
    dp_drop(dp, in, reason, p); /* in_port is not set: nothing charged */
}

void
dp_admit(struct dp *dp, struct dp_port *in, struct dp_batch *b)
{
    /* Buffers that the batch itself took are not free any more: the same
     * number holds for all of its frames. */
    uint32_t free_buffers = pkt_pool_n_free(dp->pool);
    uint32_t n_kept = 0;

    for (uint32_t i = 0; i < b->n; i++) {
        struct pkt *p = b->pkt[i];
        struct buf_group *g = &in->group[p->pg];
        enum buf_verdict v;

        counter_add(&in->n.pg_rx_frames[p->pg], 1);
        counter_add(&in->n.pg_rx_bytes[p->pg], p->len);
        v = buf_admit(&dp->buf, g, p->len, free_buffers);
        dp_note_group(dp, in, p->pg);
        if (dp_unlikely(v != BUF_OK)) {
            refuse(dp, in, p, v);
            continue;
        }
        p->in_port = in->slot;
        p->charge_bytes = p->len;
        b->pkt[n_kept] = p;
        b->frame[n_kept++] = b->frame[i];
    }
    b->n = n_kept;
}
