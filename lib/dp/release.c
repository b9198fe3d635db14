/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage release: frames that were sent give their ingress charge and their
 * buffer back.  Frames of one group that left together do so together.
 */
#include "dp/dp_priv.h"

/* Frames from pkts[0] on, which has a buffer of its own, that came in by the
 * same group as it and have one too.  Their buffers are given back; *bytes is
 * what the group was charged for them. */
static inline uint32_t
free_run(struct pkt_pool *pool, struct pkt *const pkts[], uint32_t n,
         uint64_t *bytes)
{
    struct pkt **top = pool->free + pool->n_free;
    struct pkt *p = pkts[0];
    uint16_t in_port = p->in_port;
    uint8_t pg = p->pg;
    uint64_t sum = 0;
    uint32_t i = 0;

    assert(p->pool == pool);
    do {
        sum += p->charge_bytes;
        p->n_refs = 0;
        top[i++] = p;
        if (i == n)
            break;
        p = pkts[i];
    } while (pkt_is_sole(p) && p->in_port == in_port && p->pg == pg);
    counter_add(&pool->n_free, i);
    *bytes = sum;
    return i;
}

void
dp_release_sent(struct dp *dp, struct pkt *const pkts[], uint32_t n)
{
    /* Less than there will be: what that holds back, dp_pause_update finds. */
    uint32_t n_free = dp_room(dp);

    for (uint32_t i = 0, run = 1; i < n; i += run) {
        struct pkt *p = pkts[i];
        struct buf_group *g;
        uint64_t bytes;

        if (dp_unlikely(!pkt_is_sole(p) || p->in_port == PKT_NO_PORT)) {
            run = 1;
            dp_release(dp, p, n_free);
            continue;
        }
        run = free_run(dp->pool, pkts + i, n - i, &bytes);
        g = &dp->port[p->in_port]->group[p->pg];
        if (dp_likely(buf_release_all(dp_group_pool(dp, g), g, bytes, run)))
            continue;
        for (uint32_t k = 0; k < run; k++)
            dp_uncharge(dp, pkts[i + k], n_free);
    }
}
