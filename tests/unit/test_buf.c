/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/qos/buf: charges, limits and XOFF/XON of pfc-semantics section 5.
 */
#include "qos/buf.h"

#include "base/rng.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define MANY UINT32_MAX /* free buffers, when they do not matter */

static struct buf_hdrm hdrm; /* of the pool of a test */

static struct buf_pool
make_pool(uint64_t shared_bytes)
{
    return (struct buf_pool){.shared_bytes = shared_bytes, .hdrm = &hdrm};
}

static struct buf_group
make_group(bool lossless, uint64_t reserved, uint64_t limit, uint64_t xon,
           uint64_t headroom)
{
    return (struct buf_group){.conf = {.reserved_bytes = reserved,
                                       .limit_bytes = limit,
                                       .alpha = BUF_ALPHA_NONE,
                                       .xon_bytes = xon,
                                       .headroom_bytes = headroom,
                                       .lossless = lossless}};
}

static void
expect_used(const struct buf_group *g, uint64_t reserved, uint64_t shared,
            uint64_t headroom)
{
    cr_assert_eq(g->reserved_used, reserved, "reserved %lu",
                 (unsigned long) g->reserved_used);
    cr_assert_eq(g->shared_used, shared, "shared %lu",
                 (unsigned long) g->shared_used);
    cr_assert_eq(g->headroom_used, headroom, "headroom %lu",
                 (unsigned long) g->headroom_used);
    cr_assert_eq(buf_group_held(g), reserved + shared + headroom);
}

Test(buf, s5_charges_reserved_then_shared_then_headroom)
{
    struct buf_pool pool = make_pool(10000);
    struct buf_group g = make_group(true, 1500, 2000, 0, 3000);

    cr_assert_eq(buf_admit(&pool, &g, 1000, MANY), BUF_OK);
    expect_used(&g, 1000, 0, 0);
    cr_assert_eq(buf_admit(&pool, &g, 1000, MANY), BUF_OK);
    expect_used(&g, 1500, 500, 0);
    cr_assert_eq(buf_admit(&pool, &g, 1000, MANY), BUF_OK);
    expect_used(&g, 1500, 1500, 0);
    cr_assert_not(g.xoff);
    /* Still below the limit: the frame that passes it is let in. */
    cr_assert_eq(buf_admit(&pool, &g, 1000, MANY), BUF_OK);
    expect_used(&g, 1500, 2500, 0);
    cr_assert(g.xoff);
    for (uint64_t i = 1; i <= 3; i++) {
        cr_assert_eq(buf_admit(&pool, &g, 1000, MANY), BUF_OK);
        expect_used(&g, 1500, 2500, i * 1000);
    }
    cr_assert_eq(pool.shared_used, 2500);
    cr_assert_eq(pool.hdrm->used, 3000);
    cr_assert_eq(g.n_held, 7);
    cr_assert_eq(g.peak, 7000);
    cr_assert_eq(g.headroom_peak, 3000);
}

Test(buf, s5_release_goes_backwards)
{
    struct buf_pool pool = make_pool(10000);
    struct buf_group g = make_group(true, 1000, 2000, 0, 1500);

    for (int i = 0; i < 4; i++)
        cr_assert_eq(buf_admit(&pool, &g, 1000, MANY), BUF_OK);
    expect_used(&g, 1000, 2000, 1000);
    buf_release(&pool, &g, 1000, MANY);
    expect_used(&g, 1000, 2000, 0);
    buf_release(&pool, &g, 1000, MANY);
    expect_used(&g, 1000, 1000, 0);
    buf_release(&pool, &g, 1000, MANY);
    expect_used(&g, 1000, 0, 0);
    buf_release(&pool, &g, 1000, MANY);
    expect_used(&g, 0, 0, 0);
    cr_assert_eq(pool.shared_used, 0);
    cr_assert_eq(pool.shared_peak, 2000);
    cr_assert_eq(pool.hdrm->used, 0);
}

Test(buf, s5_headroom_full_is_a_violation_and_charges_nothing)
{
    struct buf_pool pool = make_pool(10000);
    struct buf_group g = make_group(true, 100, 1000, 0, 1500);

    cr_assert_eq(buf_admit(&pool, &g, 1100, MANY), BUF_OK);
    cr_assert_eq(buf_admit(&pool, &g, 1000, MANY), BUF_OK);
    cr_assert_eq(buf_admit(&pool, &g, 501, MANY), BUF_HEADROOM_EXCEEDED);
    expect_used(&g, 100, 1000, 1000);
    cr_assert_eq(g.n_held, 2);
    cr_assert_eq(buf_admit(&pool, &g, 500, MANY), BUF_OK);
}

Test(buf, s5_lossy_group_at_its_limit_drops)
{
    struct buf_pool pool = make_pool(10000);
    struct buf_group g = make_group(false, 100, 1000, 0, 5000);

    cr_assert_eq(buf_admit(&pool, &g, 1099, MANY), BUF_OK);
    cr_assert_eq(buf_admit(&pool, &g, 64, MANY), BUF_OK);
    expect_used(&g, 100, 1063, 0);
    cr_assert_eq(buf_admit(&pool, &g, 64, MANY), BUF_INGRESS_LIMIT);
    expect_used(&g, 100, 1063, 0);
    cr_assert_eq(g.n_held, 2);
    cr_assert_not(g.xoff);
    buf_release(&pool, &g, 64, MANY);
    cr_assert_eq(buf_admit(&pool, &g, 64, MANY), BUF_OK);
}

Test(buf, s5_full_pool_sends_lossless_to_headroom_and_drops_lossy)
{
    struct buf_pool pool = make_pool(2000);
    struct buf_group hog = make_group(false, 0, 5000, 0, 0);
    struct buf_group lossy = make_group(false, 100, 5000, 0, 0);
    struct buf_group lossless = make_group(true, 100, 5000, 0, 1000);

    cr_assert_eq(buf_admit(&pool, &hog, 2000, MANY), BUF_OK);
    cr_assert_eq(buf_admit(&pool, &lossy, 100, MANY), BUF_OK);
    cr_assert_eq(buf_admit(&pool, &lossy, 100, MANY), BUF_INGRESS_LIMIT);
    cr_assert_eq(buf_admit(&pool, &lossless, 100, MANY), BUF_OK);
    cr_assert_not(lossless.xoff);
    cr_assert_eq(buf_admit(&pool, &lossless, 100, MANY), BUF_OK);
    expect_used(&lossless, 100, 0, 100);
    cr_assert(lossless.xoff);
    buf_release(&pool, &lossless, 100, MANY);
    cr_assert_not(lossless.xoff);
}

Test(buf, s5_xon_at_the_threshold_not_before)
{
    struct buf_pool pool = make_pool(100000);
    struct buf_group g = make_group(true, 0, 10000, 4000, 5000);

    for (int i = 0; i < 11; i++)
        cr_assert_eq(buf_admit(&pool, &g, 1000, MANY), BUF_OK);
    cr_assert(g.xoff);
    for (uint64_t held = 10000; held > 4000; held -= 1000) {
        buf_release(&pool, &g, 1000, MANY);
        cr_assert_eq(buf_group_held(&g), held);
        cr_assert(g.xoff, "XON at %lu", (unsigned long) held);
    }
    buf_release(&pool, &g, 1000, MANY);
    cr_assert_not(g.xoff);
    /* And no new XOFF before the limit. */
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(buf_admit(&pool, &g, 1000, MANY), BUF_OK);
        cr_assert_not(g.xoff);
    }
    buf_admit(&pool, &g, 1000, MANY);
    cr_assert(g.xoff);
}

Test(buf, s5_xon_offset_counts_when_it_is_more)
{
    struct buf_pool pool = make_pool(100000);
    struct buf_group g = make_group(true, 0, 10000, 4000, 5000);

    g.conf.xon_offset_bytes = 2000;
    for (int i = 0; i < 10; i++)
        buf_admit(&pool, &g, 1000, MANY);
    cr_assert(g.xoff);
    buf_release(&pool, &g, 1000, MANY);
    cr_assert(g.xoff);
    buf_release(&pool, &g, 1000, MANY);
    cr_assert_eq(g.shared_used, 8000);
    cr_assert_not(g.xoff);
}

Test(buf, s5_dynamic_limit_follows_the_free_shared_pool)
{
    struct buf_pool pool = make_pool(128000);
    struct buf_group g = make_group(true, 0, 0, 0, 1000);

    for (int alpha = -7; alpha <= 3; alpha++) {
        g.conf.alpha = (int8_t) alpha;
        cr_assert_eq(buf_group_limit(&pool, &g),
                     alpha < 0 ? 128000u >> -alpha : 128000u << alpha);
    }
    pool.shared_used = 130000; /* the pool was made smaller */
    cr_assert_eq(buf_group_limit(&pool, &g), 0);
}

/* With alpha 1/2 a single group gets a third of the pool and stops there. */
Test(buf, s5_dynamic_group_settles_at_its_share)
{
    struct buf_pool pool = make_pool(90000);
    struct buf_group g = make_group(true, 0, 0, 0, 10000);

    g.conf.alpha = -1;
    g.conf.xon_offset_bytes = 1000;
    while (!g.xoff)
        cr_assert_eq(buf_admit(&pool, &g, 100, MANY), BUF_OK);
    cr_assert_eq(g.shared_used, 30000);
    cr_assert_eq(g.headroom_used, 0);
    /* Another one takes from the pool: the limit falls, XOFF stays. */
    pool.shared_used += 30000;
    cr_assert(buf_group_update(&pool, &g, MANY));
    cr_assert_eq(buf_group_limit(&pool, &g), 15000);
    /* It gives back: XON without a release of ours. */
    pool.shared_used -= 30000;
    cr_assert(buf_group_update(&pool, &g, MANY));
    for (int i = 0; i < 10; i++)
        buf_release(&pool, &g, 100, MANY);
    cr_assert_not(g.xoff);
}

Test(buf, s5_shared_headroom_pool)
{
    struct buf_pool pool = make_pool(1000);
    struct buf_group a = make_group(true, 0, 100, 0, 1000), b = a;

    pool.hdrm->bytes = 1500;
    cr_assert_eq(buf_admit(&pool, &a, 100, MANY), BUF_OK);
    cr_assert_eq(buf_admit(&pool, &b, 100, MANY), BUF_OK);
    cr_assert_eq(buf_admit(&pool, &a, 1000, MANY), BUF_OK);
    cr_assert_eq(buf_admit(&pool, &a, 1, MANY), BUF_HEADROOM_EXCEEDED);
    cr_assert_eq(buf_admit(&pool, &b, 501, MANY), BUF_HEADROOM_EXCEEDED);
    cr_assert_eq(buf_admit(&pool, &b, 500, MANY), BUF_OK);
    cr_assert_eq(pool.hdrm->used, 1500);
    buf_release(&pool, &a, 1000, MANY);
    cr_assert_eq(pool.hdrm->used, 500);
}

Test(buf, s5_group_takes_its_charge_to_another_pool)
{
    struct buf_pool from = make_pool(10000), to = make_pool(1000);
    struct buf_group g = make_group(true, 500, 9000, 0, 0), other = g;

    cr_assert_eq(buf_admit(&from, &other, 600, MANY), BUF_OK);
    for (int i = 0; i < 4; i++)
        cr_assert_eq(buf_admit(&from, &g, 600, MANY), BUF_OK);
    cr_assert_eq(from.shared_used, 100 + 1900);
    buf_group_move(&from, &to, &g);
    cr_assert_eq(from.shared_used, 100);
    cr_assert_eq(to.shared_used, 1900);
    cr_assert_eq(to.shared_peak, 1900);
    cr_assert_eq(g.reserved_used, 500);
    for (int i = 0; i < 4; i++)
        buf_release(&to, &g, 600, MANY);
    cr_assert_eq(to.shared_used, 0);
    cr_assert_eq(buf_group_held(&g), 0);
}

Test(buf, s5_few_buffers_stop_lossy_and_pause_lossless)
{
    struct buf_pool pool = make_pool(100000);
    struct buf_group lossy = make_group(false, 1000, 50000, 0, 0);
    struct buf_group lossless = make_group(true, 1000, 50000, 20000, 9000);

    pool.low_buffers = 64;
    cr_assert_eq(buf_admit(&pool, &lossy, 60, 65), BUF_OK);
    cr_assert_eq(buf_admit(&pool, &lossless, 60, 65), BUF_OK);
    cr_assert_not(lossless.xoff);
    cr_assert_eq(buf_admit(&pool, &lossy, 60, 64), BUF_INGRESS_LIMIT);
    cr_assert_eq(buf_admit(&pool, &lossless, 60, 64), BUF_OK);
    cr_assert(lossless.xoff);
    cr_assert(buf_group_update(&pool, &lossless, 64));
    cr_assert_not(buf_group_update(&pool, &lossless, 65));
}

/* Nothing is held, so no release would ever end an XOFF. */
Test(buf, s5_empty_group_is_never_in_xoff)
{
    struct buf_pool pool = make_pool(0);
    struct buf_group g = make_group(true, 0, 0, 0, 2000);

    cr_assert_not(buf_group_update(&pool, &g, 0));
    cr_assert_eq(buf_admit(&pool, &g, 1000, MANY), BUF_OK);
    cr_assert(g.xoff);
    buf_release(&pool, &g, 1000, 0);
    cr_assert_not(g.xoff);
}

Test(buf, s5_change_under_traffic_moves_no_charge)
{
    struct buf_pool pool = make_pool(100000);
    struct buf_group g = make_group(true, 1000, 10000, 2000, 4000);
    struct buf_group_conf less = g.conf, lossy;

    for (int i = 0; i < 6; i++)
        buf_admit(&pool, &g, 1000, MANY);
    expect_used(&g, 1000, 5000, 0);
    less.limit_bytes = 3000;
    less.reserved_bytes = 500;
    buf_group_set(&pool, &g, &less);
    expect_used(&g, 1000, 5000, 0);
    cr_assert(g.xoff); /* the new limit has been reached */
    cr_assert_eq(buf_admit(&pool, &g, 1000, MANY), BUF_OK);
    expect_used(&g, 1000, 5000, 1000);

    lossy = less;
    lossy.lossless = false;
    lossy.headroom_bytes = 0;
    buf_group_set(&pool, &g, &lossy);
    cr_assert_not(g.xoff);
    expect_used(&g, 1000, 5000, 1000);
    cr_assert_eq(buf_admit(&pool, &g, 1000, MANY), BUF_INGRESS_LIMIT);
    for (int i = 0; i < 7; i++)
        buf_release(&pool, &g, 1000, MANY);
    expect_used(&g, 0, 0, 0);
    cr_assert_eq(pool.shared_used + pool.hdrm->used, 0);
}

/* --- against a model that is written as section 5 reads ---------------- */

struct model {
    uint64_t reserved, shared, headroom; /* bytes charged */
    uint64_t n;                          /* frames */
    bool xoff;                           /* state */
};

static uint64_t
model_limit(const struct buf_pool *pool, const struct buf_group_conf *c,
            uint64_t pool_used)
{
    double free = pool->shared_bytes > pool_used
                      ? (double) (pool->shared_bytes - pool_used)
                      : 0;
    int alpha = c->alpha;

    if (alpha == BUF_ALPHA_NONE)
        return c->limit_bytes;
    for (; alpha > 0; alpha--)
        free *= 2;
    for (; alpha < 0; alpha++)
        free /= 2;
    return (uint64_t) free;
}

static void
model_state(struct model *m, const struct buf_group_conf *c, uint64_t limit,
            bool few)
{
    uint64_t xon = c->xon_bytes;

    if (c->xon_offset_bytes > 0 && limit > c->xon_offset_bytes &&
        limit - c->xon_offset_bytes > xon)
        xon = limit - c->xon_offset_bytes;
    if (!c->lossless || m->n == 0)
        m->xoff = false;
    else if (m->headroom > 0 || few ||
             (m->shared >= limit && m->reserved >= c->reserved_bytes))
        m->xoff = true;
    else if (m->shared <= xon)
        m->xoff = false;
}

static enum buf_verdict
model_admit(struct model *m, const struct buf_pool *pool, uint64_t *pool_used,
            uint64_t *hdrm_used, const struct buf_group_conf *c,
            uint64_t bytes, bool few)
{
    uint64_t room =
        c->reserved_bytes > m->reserved ? c->reserved_bytes - m->reserved : 0;
    uint64_t first = bytes < room ? bytes : room, rest = bytes - first;
    uint64_t limit = model_limit(pool, c, *pool_used);
    bool shared_ok = m->shared < limit && *pool_used < pool->shared_bytes;
    bool hdrm_ok =
        c->lossless && m->headroom + rest <= c->headroom_bytes &&
        (!pool->hdrm->bytes || *hdrm_used + rest <= pool->hdrm->bytes);

    if (!c->lossless && few)
        return BUF_INGRESS_LIMIT;
    if (rest > 0 && !shared_ok && !hdrm_ok)
        return c->lossless ? BUF_HEADROOM_EXCEEDED : BUF_INGRESS_LIMIT;
    m->reserved += first;
    if (rest > 0 && shared_ok) {
        m->shared += rest;
        *pool_used += rest;
    } else if (rest > 0) {
        m->headroom += rest;
        *hdrm_used += rest;
    }
    m->n++;
    if (!m->xoff) /* an admission can begin it, and never ends it */
        model_state(m, c, model_limit(pool, c, *pool_used), few);
    return BUF_OK;
}

static uint64_t
take(uint64_t *from, uint64_t bytes)
{
    uint64_t n = *from < bytes ? *from : bytes;

    *from -= n;
    return n;
}

#define N_GROUPS 3
#define N_FRAMES 400

struct world {
    struct rng rng;                   /* of the run */
    struct buf_pool pool;             /* what is tested */
    struct buf_group g[N_GROUPS];     /* what is tested */
    struct model m[N_GROUPS];         /* what it should do */
    uint64_t pool_used, hdrm_used;    /* of the model */
    uint32_t len[N_GROUPS][N_FRAMES]; /* frames held */
};

static struct buf_group_conf
random_conf(struct rng *r)
{
    return (struct buf_group_conf){
        .reserved_bytes = rng_below(r, 3) * rng_below(r, 3000),
        .limit_bytes = rng_below(r, 20000),
        .alpha = rng_below(r, 2) ? BUF_ALPHA_NONE
                                 : (int8_t) ((int) rng_below(r, 11) - 7),
        .xon_bytes = rng_below(r, 10000),
        .xon_offset_bytes = rng_below(r, 2) * rng_below(r, 5000),
        .headroom_bytes = rng_below(r, 10000),
        .lossless = rng_below(r, 3) > 0};
}

static void
compare(const struct world *w, int i, uint64_t seed)
{
    const struct buf_group *g = &w->g[i];
    const struct model *m = &w->m[i];

    cr_assert(g->reserved_used == m->reserved && g->shared_used == m->shared &&
                  g->headroom_used == m->headroom && g->n_held == m->n &&
                  g->xoff == m->xoff && w->pool.shared_used == w->pool_used &&
                  w->pool.hdrm->used == w->hdrm_used,
              "seed %lu: group %d differs from the model",
              (unsigned long) seed, i);
}

static void
step(struct world *w, uint64_t seed)
{
    int i = (int) rng_below(&w->rng, N_GROUPS);
    struct buf_group *g = &w->g[i];
    struct model *m = &w->m[i];
    bool few = rng_below(&w->rng, 20) == 0;
    uint32_t free_buffers = few ? 5 : 6;
    uint32_t len = (uint32_t) rng_range(&w->rng, 60, 1518);
    uint64_t what = rng_below(&w->rng, 200);

    if (what == 0) {
        struct buf_group_conf conf = random_conf(&w->rng);

        buf_group_set(&w->pool, g, &conf);
        model_state(m, &g->conf, model_limit(&w->pool, &conf, w->pool_used),
                    false);
    } else if (what == 1) {
        buf_group_update(&w->pool, g, free_buffers);
        model_state(m, &g->conf, model_limit(&w->pool, &g->conf, w->pool_used),
                    few);
    } else if (what < 110 && m->n < N_FRAMES) {
        w->len[i][m->n] = len;
        cr_assert_eq(model_admit(m, &w->pool, &w->pool_used, &w->hdrm_used,
                                 &g->conf, len, few),
                     buf_admit(&w->pool, g, len, free_buffers));
    } else if (m->n > 0) {
        uint64_t rest = len = w->len[i][--m->n], n;

        rest -= n = take(&m->headroom, rest);
        w->hdrm_used -= n;
        rest -= n = take(&m->shared, rest);
        w->pool_used -= n;
        take(&m->reserved, rest);
        if (m->xoff) /* a release can end it, and never begins it */
            model_state(m, &g->conf,
                        model_limit(&w->pool, &g->conf, w->pool_used), few);
        buf_release(&w->pool, g, len, free_buffers);
    }
    compare(w, i, seed);
}

Test(buf, s5_agrees_with_a_naive_model)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct world w = {.rng = {.state = seed}};

        w.pool = make_pool(rng_below(&w.rng, 40000));
        w.pool.low_buffers = 5;
        w.pool.hdrm->bytes = rng_below(&w.rng, 2) * 12000;
        for (int i = 0; i < N_GROUPS; i++)
            w.g[i].conf = random_conf(&w.rng);
        for (int k = 0; k < 2000; k++)
            step(&w, seed);
        for (int i = 0; i < N_GROUPS; i++) {
            while (w.m[i].n > 0)
                buf_release(&w.pool, &w.g[i], w.len[i][--w.m[i].n], 6);
            expect_used(&w.g[i], 0, 0, 0);
            cr_assert_not(w.g[i].xoff);
        }
        cr_assert_eq(w.pool.shared_used + w.pool.hdrm->used, 0);
    }
}

/* One group of one pool, and what came in by it. */
struct books {
    struct buf_pool pool; /* it is alone there */
    struct buf_hdrm hdrm; /* of the pool */
    struct buf_group g;   /* the group */
    uint32_t held[4096];  /* frames that were let in, a ring */
    uint32_t first, n;    /* of it */
};

static struct books *
make_books(struct rng *r)
{
    struct books *b = calloc(1, sizeof(*b));

    b->pool.shared_bytes = rng_u64(r) % 60000;
    b->pool.low_buffers = 10;
    b->pool.hdrm = &b->hdrm;
    b->g = make_group(rng_u64(r) & 1, rng_u64(r) % 4000, rng_u64(r) % 40000,
                      rng_u64(r) % 10000, rng_u64(r) % 30000);
    if (rng_u64(r) & 1)
        b->g.conf.alpha = (int8_t) (rng_u64(r) % 4 - 2);
    return b;
}

static void
admit_one(struct books *b, uint32_t bytes, uint32_t n_free)
{
    if (b->n < 4096 &&
        buf_admit_slow(&b->pool, &b->g, bytes, n_free) == BUF_OK)
        b->held[(b->first + b->n++) % 4096] = bytes;
}

/* The frames of a batch one by one, or at once where that is possible. */
static bool
admit_batch(struct books *b, const uint32_t len[], uint32_t n, bool at_once,
            uint32_t n_free)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += len[i];
    at_once = at_once && b->n + n <= 4096 &&
              buf_admit_all(&b->pool, &b->g, sum, n, n_free);
    for (uint32_t i = 0; i < n; i++) {
        if (at_once)
            b->held[(b->first + b->n++) % 4096] = len[i];
        else
            admit_one(b, len[i], n_free);
    }
    return at_once;
}

static bool
release_batch(struct books *b, uint32_t n, bool at_once, uint32_t n_free)
{
    uint64_t sum = 0;

    n = n < b->n ? n : b->n;
    for (uint32_t i = 0; i < n; i++)
        sum += b->held[(b->first + i) % 4096];
    at_once = at_once && n && buf_release_all(&b->pool, &b->g, sum, n);
    for (uint32_t i = 0; i < n && !at_once; i++)
        buf_release_slow(&b->pool, &b->g, b->held[(b->first + i) % 4096],
                         n_free);
    b->first = (b->first + n) % 4096;
    b->n -= n;
    return at_once;
}

/* A batch that is charged, or given back, at once leaves everything as its
 * frames would have done one by one. */
Test(buf, what_is_done_at_once_is_what_is_done_one_by_one)
{
    struct rng r = {.state = 7};
    uint32_t n_at_once = 0, n_each = 0;

    for (int run = 0; run < 300; run++) {
        struct books *a = make_books(&r), *b = malloc(sizeof(*b));

        memcpy(b, a, sizeof(*a));
        b->pool.hdrm = &b->hdrm;
        for (int step = 0; step < 200; step++) {
            uint32_t n_free = rng_u64(&r) % 16 ? 1000 : 10, len[32];
            uint32_t n = 1 + (uint32_t) (rng_u64(&r) % 32);
            bool at_once;

            for (uint32_t i = 0; i < n; i++)
                len[i] = 60 + (uint32_t) (rng_u64(&r) % 1460) / n;
            if (rng_u64(&r) & 1) {
                at_once = admit_batch(b, len, n, true, n_free);
                admit_batch(a, len, n, false, n_free);
            } else {
                at_once = release_batch(b, n, true, n_free);
                release_batch(a, n, false, n_free);
            }
            n_at_once += at_once;
            n_each += !at_once;
            b->pool.hdrm = &a->hdrm;
            cr_assert_eq(memcmp(&a->pool, &b->pool, sizeof(a->pool)), 0);
            b->pool.hdrm = &b->hdrm;
            cr_assert_eq(memcmp(&a->g, &b->g, sizeof(a->g)), 0);
            cr_assert_eq(memcmp(&a->hdrm, &b->hdrm, sizeof(a->hdrm)), 0);
            cr_assert_eq(a->n, b->n);
        }
        free(a);
        free(b);
    }
    cr_assert_gt(n_at_once, 5000, "%u", n_at_once);
    cr_assert_gt(n_each, 5000, "%u", n_each);
}
