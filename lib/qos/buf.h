/* SPDX-License-Identifier: Apache-2.0
 *
 * Ingress buffer accounting: pfc-semantics section 5, after the priority
 * groups of SAI and mlxsw.  A group is charged for every frame that it holds,
 * in order: its reserved bytes, the shared pool up to its limit, and, when it
 * is lossless, its headroom; release goes backwards.  From that its XOFF/XON
 * state follows.  Pure: numbers in, verdicts out.  Datapath thread; the
 * counters may be read by any.
 */
#ifndef QOS_BUF_H
#define QOS_BUF_H

#include "base/counter.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/* The headroom of a bridge.  Groups that share it draw from one pool that may
 * be smaller than the sum of what each of them may use. */
struct buf_hdrm {
    uint64_t bytes; /* size of the shared pool; 0: each group has its own */
    counter_t used; /* headroom in use, all groups together */
    counter_t peak; /* most that was ever in use */
};

/* A pool that groups share, out of the one memory of a bridge: the default one
 * is what is left of it after reserves, headrooms and the other pools. */
struct buf_pool {
    uint64_t shared_bytes; /* its size; configuration */
    counter_t shared_used; /* bytes charged to it */
    counter_t shared_peak; /* most that was ever charged */
    struct buf_hdrm *hdrm; /* the bridge's; null: none is kept */
    /* Frame buffers are a second resource beside bytes: small frames use up
     * buffers before they use up bytes. */
    uint32_t low_buffers; /* at or below so many free: see buf_admit */
} __attribute__((aligned(64)));

struct buf_group_conf {
    int8_t alpha;              /* dynamic limit 2^alpha x free shared, -7..3;
                                  BUF_ALPHA_NONE: the static one holds */
    bool lossless;             /* sends XOFF, has headroom */
    uint8_t pool;              /* which of its pools it shares: the caller's */
    uint64_t reserved_bytes;   /* the group's own */
    uint64_t limit_bytes;      /* static limit of shared usage: XOFF */
    uint64_t xon_bytes;        /* XON at or below so much ... */
    uint64_t xon_offset_bytes; /* ... or limit minus this, if that is more;
                                  0: only xon_bytes counts */
    uint64_t headroom_bytes;   /* what may still arrive after XOFF */
};
#define BUF_ALPHA_NONE INT8_MIN
#define BUF_ALPHA_MIN  (-7)
#define BUF_ALPHA_MAX  3

enum buf_verdict {
    BUF_OK,                /* charged */
    BUF_INGRESS_LIMIT,     /* lossy group at its limit: not charged */
    BUF_HEADROOM_EXCEEDED, /* lossless group, headroom full: a violation */
};

/* Of frames that leave, hardly two came in by the same group in a bridge of
 * many ports: what a release looks at is one cache line. */
struct buf_group {
    counter_t reserved_used; /* bytes charged, by where */
    counter_t shared_used;
    counter_t headroom_used;
    counter_t n_held;           /* frames charged now */
    counter_t peak;             /* most bytes ever held */
    counter_t headroom_peak;    /* most headroom ever used */
    bool xoff;                  /* state: the peer is to be paused */
    struct buf_group_conf conf; /* as configured; changed by buf_group_set */
} __attribute__((aligned(64)));

/* 2^alpha of so many free bytes. */
static inline uint64_t
buf_dynamic_limit(int alpha, uint64_t free_bytes)
{
    /* One shift each way, and no branch on the sign. */
    return free_bytes << BUF_ALPHA_MAX >> (BUF_ALPHA_MAX - alpha);
}

static inline uint64_t
buf_pool_free(const struct buf_pool *pool)
{
    uint64_t used = counter_get(&pool->shared_used);

    return pool->shared_bytes > used ? pool->shared_bytes - used : 0;
}

/* The limit of shared usage that holds at this moment. */
static inline uint64_t
buf_group_limit(const struct buf_pool *pool, const struct buf_group *g)
{
    if (g->conf.alpha == BUF_ALPHA_NONE)
        return g->conf.limit_bytes;
    return buf_dynamic_limit(g->conf.alpha, buf_pool_free(pool));
}

static inline uint64_t
buf_group_held(const struct buf_group *g)
{
    return counter_get(&g->reserved_used) + counter_get(&g->shared_used) +
           counter_get(&g->headroom_used);
}

/* The general cases of buf_admit and buf_release; call those. */
enum buf_verdict buf_admit_slow(struct buf_pool *, struct buf_group *,
                                uint32_t bytes, uint32_t free_buffers);
void buf_release_slow(struct buf_pool *, struct buf_group *, uint32_t bytes,
                      uint32_t free_buffers);

/* What every admission of n frames counts, after the charge. */
static inline void
buf_count_admitted(struct buf_group *g, uint32_t n)
{
    uint64_t held = buf_group_held(g);

    counter_add(&g->n_held, n);
    if (held > g->peak)
        counter_set(&g->peak, held);
}

/* Charges n frames of `bytes` in all to g, when for each of them there is no
 * more to be said than that it fits: not in XOFF, none of them trips it, and
 * they lie all in the reserved or all in the shared part.  Otherwise false,
 * and nothing is charged: ask for one after the other.  free_buffers: see
 * buf_admit(). */
static inline bool
buf_admit_all(struct buf_pool *pool, struct buf_group *g, uint64_t bytes,
              uint32_t n, uint32_t free_buffers)
{
    uint64_t reserved = g->reserved_used, shared = g->shared_used + bytes;
    uint64_t total, limit = g->conf.limit_bytes;

    if (__builtin_expect(free_buffers <= pool->low_buffers || g->xoff, 0))
        return false;
    if (reserved + bytes < g->conf.reserved_bytes) {
        counter_set(&g->reserved_used, reserved + bytes);
        buf_count_admitted(g, n);
        return true;
    }
    total = pool->shared_used + bytes;
    if (g->conf.alpha != BUF_ALPHA_NONE)
        /* What it will be with them; wraps only if that is refused. */
        limit = buf_dynamic_limit(g->conf.alpha, pool->shared_bytes - total);
    if (reserved < g->conf.reserved_bytes || shared >= limit ||
        total > pool->shared_bytes)
        return false;
    counter_set(&g->shared_used, shared);
    counter_set(&pool->shared_used, total);
    if (total > pool->shared_peak)
        counter_set(&pool->shared_peak, total);
    buf_count_admitted(g, n);
    return true;
}

/* Charges a frame of `bytes` to g.  A frame may lie across the reserved and
 * the shared part, and the last one that is let in may take the shared part
 * past its limit; headroom is never passed.  free_buffers is how many frame
 * buffers the pool still has: at or below pool->low_buffers a lossy frame is
 * refused and a lossless group goes to XOFF, so that headroom finds buffers
 * too. */
static inline enum buf_verdict
buf_admit(struct buf_pool *pool, struct buf_group *g, uint32_t bytes,
          uint32_t free_buffers)
{
    if (buf_admit_all(pool, g, bytes, 1, free_buffers))
        return BUF_OK;
    return buf_admit_slow(pool, g, bytes, free_buffers);
}

/* Charges a copy of a frame that g has admitted, of a lossless group: always,
 * to what is left of its reserved part, then to the shared one, past its limit
 * and past the pool's size if need be.  Headroom is for what is under way. */
void buf_charge_copy(struct buf_pool *, struct buf_group *, uint32_t bytes,
                     uint32_t free_buffers);

/* Gives the charge of n frames of `bytes` in all back, as far as it is g's:
 * *shared grows by what buf_pool_release() is to be told, before anyone looks
 * at the pool.  False, and nothing is given back: ask for one after the other.
 */
static inline bool
buf_group_release(struct buf_group *g, uint64_t bytes, uint32_t n,
                  uint64_t *shared)
{
    uint64_t used = g->shared_used, n_held = g->n_held;

    if (g->headroom_used | g->xoff)
        return false;
    if (used >= bytes) {
        counter_set(&g->shared_used, used - bytes);
        *shared += bytes;
    } else {
        if (used > 0)
            return false;
        assert(g->reserved_used >= bytes);
        counter_set(&g->reserved_used, g->reserved_used - bytes);
    }
    assert(n_held >= n);
    counter_set(&g->n_held, n_held - n);
    return true;
}

/* What groups gave back of what they share. */
static inline void
buf_pool_release(struct buf_pool *pool, uint64_t shared)
{
    assert(pool->shared_used >= shared);
    counter_set(&pool->shared_used, pool->shared_used - shared);
}

/* The same for group and pool. */
static inline bool
buf_release_all(struct buf_pool *pool, struct buf_group *g, uint64_t bytes,
                uint32_t n)
{
    uint64_t shared = 0;

    if (!buf_group_release(g, bytes, n, &shared))
        return false;
    buf_pool_release(pool, shared);
    return true;
}

/* Gives the charge of a frame back. */
static inline void
buf_release(struct buf_pool *pool, struct buf_group *g, uint32_t bytes,
            uint32_t free_buffers)
{
    if (!buf_release_all(pool, g, bytes, 1))
        buf_release_slow(pool, g, bytes, free_buffers);
}

/* Takes over a new configuration under traffic: what is charged stays charged
 * where it is; new limits apply to the next frame; re-evaluates XOFF. */
void buf_group_set(struct buf_pool *, struct buf_group *,
                   const struct buf_group_conf *);

/* The group shares another pool from now on: what it holds of the first is
 * charged to the second, which may come to hold more than its size.  Nothing
 * is lost; the limit of the second applies to the next frame. */
void buf_group_move(struct buf_pool *from, struct buf_pool *to,
                    struct buf_group *);

/* Re-evaluates xoff without a frame (limits or the shared pool changed).
 * Returns the state.  A group that holds nothing is never in XOFF. */
bool buf_group_update(const struct buf_pool *, struct buf_group *,
                      uint32_t free_buffers);

#endif
