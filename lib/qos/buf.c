/* SPDX-License-Identifier: Apache-2.0
 *
 * Ingress buffer accounting: see buf.h.  Here is what is not done for every
 * frame: charges across two parts, headroom, refusals, and the change of
 * XOFF/XON state.
 */
#include "qos/buf.h"

static uint64_t
min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t
reserved_room(const struct buf_group *g)
{
    return g->conf.reserved_bytes > g->reserved_used
               ? g->conf.reserved_bytes - g->reserved_used
               : 0;
}

/* Usage at or below which the peer may go on. */
static uint64_t
xon_threshold(const struct buf_group *g, uint64_t limit)
{
    uint64_t offset = g->conf.xon_offset_bytes;
    uint64_t below = offset > 0 && limit > offset ? limit - offset : 0;

    return below > g->conf.xon_bytes ? below : g->conf.xon_bytes;
}

/* A group that holds nothing needs no one to stop, whatever its limit is;
 * and since nothing of it is left to be released, nothing would end its XOFF.
 */
static bool
group_state(const struct buf_pool *pool, const struct buf_group *g,
            uint32_t free_buffers)
{
    uint64_t limit = buf_group_limit(pool, g);

    if (!g->conf.lossless || g->n_held == 0)
        return false;
    if (g->headroom_used > 0 || free_buffers <= pool->low_buffers)
        return true;
    if (g->shared_used >= limit && reserved_room(g) == 0)
        return true;
    return g->xoff && g->shared_used > xon_threshold(g, limit);
}

bool
buf_group_update(const struct buf_pool *pool, struct buf_group *g,
                 uint32_t free_buffers)
{
    counter_set_flag(&g->xoff, group_state(pool, g, free_buffers));
    return g->xoff;
}

void
buf_group_set(struct buf_pool *pool, struct buf_group *g,
              const struct buf_group_conf *conf)
{
    g->conf = *conf;
    buf_group_update(pool, g, UINT32_MAX);
}

void
buf_group_move(struct buf_pool *from, struct buf_pool *to, struct buf_group *g)
{
    assert(from->shared_used >= g->shared_used);
    counter_set(&from->shared_used, from->shared_used - g->shared_used);
    counter_add(&to->shared_used, g->shared_used);
    if (to->shared_used > to->shared_peak)
        counter_set(&to->shared_peak, to->shared_used);
}

static bool
headroom_fits(const struct buf_pool *pool, const struct buf_group *g,
              uint64_t bytes)
{
    if (g->headroom_used + bytes > g->conf.headroom_bytes)
        return false;
    return !pool->hdrm || pool->hdrm->bytes == 0 ||
           pool->hdrm->used + bytes <= pool->hdrm->bytes;
}

static void
charge_shared(struct buf_pool *pool, struct buf_group *g, uint64_t bytes)
{
    counter_add(&g->shared_used, bytes);
    counter_add(&pool->shared_used, bytes);
    if (pool->shared_used > pool->shared_peak)
        counter_set(&pool->shared_peak, pool->shared_used);
}

static void
charge_headroom(struct buf_pool *pool, struct buf_group *g, uint64_t bytes)
{
    counter_add(&g->headroom_used, bytes);
    if (pool->hdrm) {
        counter_add(&pool->hdrm->used, bytes);
        if (pool->hdrm->used > pool->hdrm->peak)
            counter_set(&pool->hdrm->peak, pool->hdrm->used);
    }
    if (g->headroom_used > g->headroom_peak)
        counter_set(&g->headroom_peak, g->headroom_used);
}

enum buf_verdict
buf_admit_slow(struct buf_pool *pool, struct buf_group *g, uint32_t bytes,
               uint32_t free_buffers)
{
    uint64_t reserved = min_u64(bytes, reserved_room(g));
    uint64_t rest = bytes - reserved;
    bool open = g->shared_used < buf_group_limit(pool, g) &&
                pool->shared_used < pool->shared_bytes;

    if (!g->conf.lossless) {
        if (free_buffers <= pool->low_buffers || (rest > 0 && !open))
            return BUF_INGRESS_LIMIT;
    } else if (rest > 0 && !open && !headroom_fits(pool, g, rest)) {
        return BUF_HEADROOM_EXCEEDED;
    }
    counter_add(&g->reserved_used, reserved);
    if (rest > 0 && open)
        charge_shared(pool, g, rest);
    else if (rest > 0)
        charge_headroom(pool, g, rest);
    buf_count_admitted(g, 1);
    if (!g->xoff) /* an admission can only begin it */
        buf_group_update(pool, g, free_buffers);
    return BUF_OK;
}

void
buf_charge_copy(struct buf_pool *pool, struct buf_group *g, uint32_t bytes,
                uint32_t free_buffers)
{
    uint64_t reserved = min_u64(bytes, reserved_room(g));

    counter_add(&g->reserved_used, reserved);
    charge_shared(pool, g, bytes - reserved);
    buf_count_admitted(g, 1);
    if (!g->xoff)
        buf_group_update(pool, g, free_buffers);
}

void
buf_release_slow(struct buf_pool *pool, struct buf_group *g, uint32_t bytes,
                 uint32_t free_buffers)
{
    uint64_t headroom = min_u64(bytes, g->headroom_used);
    uint64_t shared = min_u64(bytes - headroom, g->shared_used);
    uint64_t reserved = bytes - headroom - shared;

    assert(g->n_held > 0);
    assert(g->reserved_used >= reserved);
    assert(pool->shared_used >= shared);
    counter_add(&g->n_held, (uint64_t) -1);
    counter_set(&g->headroom_used, g->headroom_used - headroom);
    if (headroom > 0 && pool->hdrm) {
        assert(pool->hdrm->used >= headroom);
        counter_set(&pool->hdrm->used, pool->hdrm->used - headroom);
    }
    counter_set(&g->shared_used, g->shared_used - shared);
    counter_set(&pool->shared_used, pool->shared_used - shared);
    counter_set(&g->reserved_used, g->reserved_used - reserved);
    if (g->xoff) /* a release can only end it */
        buf_group_update(pool, g, free_buffers);
}
