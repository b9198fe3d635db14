/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage release: frames that were sent give their ingress charge and their
 * buffer back.  Frames of one group that left together do so together.
 */
#include "base/opaque.h"
#include "dp/dp_priv.h"

#include <stddef.h>
#include <string.h>

#define WHOSE offsetof(struct pkt, n_refs)

_Static_assert(offsetof(struct pkt, in_port) == WHOSE + 4 &&
                   offsetof(struct pkt, pg) == WHOSE + 6,
               "eight octets say whose a frame is");

/* How many use a frame's buffer, and which group was charged for it.  Frames
 * of which this is the same are given back together. */
static inline uint64_t
whose(const struct pkt *p)
{
    uint64_t v;

    memcpy(&v, (const uint8_t *) p + WHOSE, sizeof(v));
    return v;
}

/* Writes down that the free buffers reach to `top`, and that a pool got so
 * many octets back. */
static inline void
write_down(struct dp *dp, struct pkt **top, unsigned pool, uint64_t shared)
{
    counter_set(&dp->pool->n_free, (uint64_t) (top - dp->pool->free));
    buf_pool_release(&dp->buf[pool], shared);
}

/* Frames that came in by the same group, and that are to be looked at one by
 * one; is_freed: but not for their buffers.  Returns the top. */
static __attribute__((noinline)) struct pkt **
release_closely(struct dp *dp, struct pkt *const pkts[], uint32_t n,
                bool is_freed, uint32_t n_free)
{
    for (uint32_t i = 0; i < n; i++) {
        if (is_freed)
            dp_uncharge(dp, pkts[i], n_free);
        else
            dp_release(dp, pkts[i], n_free);
    }
    return dp->pool->free + dp->pool->n_free;
}

/* What all frames change, the free buffers and the pool, is written down at
 * the end, so that none waits for the one before it. */
void
dp_release_sent(struct dp *dp, struct pkt *const pkts[], uint32_t n)
{
    /* Less than there will be: what that holds back, dp_pause_update finds. */
    uint32_t n_free = dp_room(dp);
    struct pkt *const *at = pkts, *const *end = pkts + n;
    const struct pkt_pool *buffers = dp->pool;
    struct pkt **top = buffers->free + buffers->n_free;
    uint64_t shared = 0;
    unsigned pool = 0;

    while (at < end) {
        struct pkt *const *first = at;
        struct pkt *p = *at;
        uint64_t bytes = 0, w = whose(p);
        struct buf_group *g;

        if (dp_unlikely(!pkt_is_sole(p) || p->in_port == PKT_NO_PORT)) {
            write_down(dp, top, pool, shared);
            shared = 0;
            top = release_closely(dp, at++, 1, false, n_free);
            continue;
        }
        assert(p->pool == buffers);
        g = &dp->port[p->in_port]->group[p->pg];
        OPAQUE(g);
        do {
            bytes += p->charge_bytes;
            p->n_refs = 0;
            *top++ = p;
            if (++at == end)
                break;
            p = *at;
        } while (whose(p) == w);
        if (dp_unlikely(g->conf.pool != pool)) {
            buf_pool_release(&dp->buf[pool], shared);
            shared = 0;
            pool = g->conf.pool;
        }
        if (dp_likely(
                buf_group_release(g, bytes, (uint32_t) (at - first), &shared)))
            continue;
        write_down(dp, top, pool, shared);
        shared = 0;
        top =
            release_closely(dp, first, (uint32_t) (at - first), true, n_free);
    }
    write_down(dp, top, pool, shared);
}
