/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage admit: charges each frame to its ingress priority group.  That may
 * trip XOFF, and what does not fit is dropped: a lossy frame at the limit, or
 * a lossless one whose headroom is full, which is a violation.
 */
#include "dp/dp_priv.h"

static void
refuse(struct dp *dp, struct dp_port *in, struct dp_batch *b, struct pkt *p,
       enum buf_verdict v)
{
    enum dp_drop reason = v == BUF_HEADROOM_EXCEEDED
                              ? DP_DROP_HEADROOM_EXCEEDED
                              : DP_DROP_INGRESS_LIMIT;

    counter_add(&in->n.pg_drops[p->pg], 1);
    counter_add(&in->n.pg_drop_bytes[p->pg], p->len);
    if (reason == DP_DROP_HEADROOM_EXCEEDED) {
        counter_add(&in->n.pg_violations[p->pg], 1);
        dp_violation(dp, in, p->prio, reason);
    }
    dp_forgo(b, p);
    dp_drop(dp, in, reason, p);
}

/* A frame of a priority that the peer was told to pause.  Some are under way
 * when it is told; the headroom rule says how many octets that can be. */
static __attribute__((noinline)) void
note_late(const struct dp *dp, struct dp_port *in, const struct pkt *p)
{
    const struct pfc *pfc = &in->pfc;
    uint64_t told_ns = dp->now_ns - pfc->sent_ns;
    uint64_t *run = &in->late_run[p->prio];

    if (!(pfc->asserted >> p->prio & 1) && !pfc->pause_asserted)
        return;
    counter_add(&in->n.late_frames[p->prio], 1);
    counter_add(&in->n.late_bytes[p->prio], p->len);
    /* We were too late to repeat it, or it is too short to say: the peer may
     * have had every right. */
    if (told_ns > 2 * pfc->refresh_ns || pfc->refresh_ns == PFC_REFRESH_MIN_NS)
        *run = 0;
    *run += p->len;
    if (*run > in->late_peak[p->prio])
        counter_set(&in->late_peak[p->prio], *run);
}

/* Charges the frames of some groups one after the other. */
static __attribute__((noinline)) void
admit_each(struct dp *dp, struct dp_port *in, struct dp_batch *b,
           uint8_t groups, uint32_t free_buffers)
{
    uint32_t n_kept = 0;

    for (uint32_t i = 0; i < b->n; i++) {
        struct pkt *p = b->pkt[i];
        struct buf_group *g = &in->group[p->pg];
        enum buf_verdict v = BUF_OK;

        if (groups >> p->pg & 1) {
            v = buf_admit(dp_group_pool(dp, g), g, p->len, free_buffers);
            if (dp_unlikely(g->xoff)) { /* an admission never makes XON */
                dp_note_group(dp, in, p->pg);
                note_late(dp, in, p);
            }
        }
        if (dp_unlikely(v != BUF_OK)) {
            refuse(dp, in, b, p, v);
            continue;
        }
        b->pkt[n_kept] = p;
        b->tag[n_kept++] = b->tag[i];
    }
    b->n = n_kept;
}

/* The batch came at one moment: it is charged group by group, each as a whole
 * while that makes no difference. */
void
dp_admit(struct dp *dp, struct dp_port *in, struct dp_batch *b)
{
    /* Buffers that the batch itself took are not free any more: the same
     * number holds for all of its frames. */
    uint32_t free_buffers = dp_room(dp);
    uint8_t each = 0;

    for (int i = 0; i < N_PG; i++) {
        struct buf_group *g = &in->group[i];
        uint32_t n = (uint32_t) (b->pg[i] / DP_PG_FRAME);

        if (!n)
            continue;
        counter_add(&in->n.pg_rx_frames[i], n);
        counter_add(&in->n.pg_rx_bytes[i], (uint32_t) b->pg[i]);
        if (dp_unlikely(!buf_admit_all(dp_group_pool(dp, g), g,
                                       (uint32_t) b->pg[i], n, free_buffers)))
            each |= (uint8_t) (1u << i);
    }
    if (dp_unlikely(each))
        admit_each(dp, in, b, each, free_buffers);
}
