/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/qos/shaper: rates of pfc-semantics section 7, exact over time.
 */
#include "qos/shaper.h"

#include "base/clock.h"
#include "base/rng.h"

#include <criterion/criterion.h>
#include <math.h>

static const uint64_t rates[] = {1000,        64000,       10000000,
                                 100000000,   123456789,   1000000000,
                                 10000000000, 40000000000, 100000000000,
                                 400000000000};
#define N_RATES (sizeof(rates) / sizeof(rates[0]))

/* Sends frames of `len` as early as allowed; returns when the n-th left. */
static uint64_t
send_n(struct shaper *s, uint64_t now, uint32_t len, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        if (!shaper_ready(s, now)) {
            now = shaper_deadline(s);
            cr_assert(shaper_ready(s, now));
        }
        shaper_charge(s, len);
    }
    return now;
}

Test(shaper, s7_rate_is_exact_over_time)
{
    for (size_t i = 0; i < N_RATES; i++) {
        struct shaper s;
        uint64_t from, to;
        double got;

        shaper_init(&s, rates[i], 0, 1514, 12345);
        from = send_n(&s, 12345, 1514, 100); /* spends the burst */
        to = send_n(&s, from, 1514, 100000);
        got = 100000.0 * 1514 * 8 * 1e9 / (double) (to - from);
        cr_assert(fabs(got / (double) rates[i] - 1) < 0.001,
                  "%.0f b/s instead of %lu", got, (unsigned long) rates[i]);
    }
}

Test(shaper, s7_rate_holds_whenever_it_is_looked_at)
{
    struct rng r = {.state = 12};
    struct shaper s;
    uint64_t now = 0, octets = 0, limit;

    shaper_init(&s, 100000000, 3028, 1514, 0);
    for (int i = 0; i < 1000000; i++) {
        now += rng_below(&r, 150000);
        while (shaper_ready(&s, now)) {
            uint32_t len = (uint32_t) rng_range(&r, 60, 1514);

            shaper_charge(&s, len);
            octets += len;
        }
        /* Never ahead by more than the burst and a frame. */
        limit = now / 80 + 3028 + 1514;
        cr_assert_leq(octets, limit);
    }
    cr_assert_gt((double) octets, (double) now / 80 * 0.999);
}

Test(shaper, s7_deadline_is_exact)
{
    for (size_t i = 0; i < N_RATES; i++) {
        struct rng r = {.state = 13};
        struct shaper s;
        uint64_t now = 1;

        shaper_init(&s, rates[i], 0, 9000, now);
        for (int k = 0; k < 20000; k++) {
            uint64_t due;

            while (shaper_ready(&s, now))
                shaper_charge(&s, (uint32_t) rng_range(&r, 60, 9000));
            due = shaper_deadline(&s);
            cr_assert_gt(due, now);
            cr_assert_not(shaper_ready(&s, due - 1));
            cr_assert_eq(shaper_deadline(&s), due);
            cr_assert(shaper_ready(&s, due));
            now = due + rng_below(&r, 3) * rng_below(&r, 10000);
        }
    }
}

Test(shaper, s7_default_burst_is_one_batch_at_most)
{
    static const struct {
        uint64_t rate, burst;
    } cases[] = {{1000000, 2 * 1514},
                 {10000000, 5000},
                 {50000000, 25000},
                 {100000000, 32 * 1514},
                 {100000000000, 32 * 1514}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct shaper s;

        shaper_init(&s, cases[i].rate, 0, 1514, 0);
        cr_assert_eq(s.burst_bytes, cases[i].burst);
    }
}

Test(shaper, idle_for_days_saves_up_one_burst)
{
    for (size_t i = 0; i < N_RATES; i++) {
        struct shaper s;
        uint64_t octets = 0, now = 400 * 24 * 3600 * NS_PER_S;

        shaper_init(&s, rates[i], 0, 1514, 0);
        send_n(&s, 0, 1514, 40);
        while (shaper_ready(&s, now)) {
            shaper_charge(&s, 100);
            octets += 100;
        }
        cr_assert_geq(octets, s.burst_bytes);
        cr_assert_lt(octets, s.burst_bytes + 100);
    }
}

Test(shaper, no_rate_is_no_limit)
{
    struct shaper s;

    shaper_init(&s, 0, 0, 1514, 5);
    for (int i = 0; i < 1000000; i++) {
        cr_assert(shaper_ready(&s, 5));
        shaper_charge(&s, 9000);
    }
    cr_assert_leq(shaper_deadline(&s), 5);
    /* And none of it is remembered once there is one. */
    shaper_set_rate(&s, 1000000, 0, 1514, 6);
    cr_assert(shaper_ready(&s, 6));
}

Test(shaper, refund_takes_a_charge_back)
{
    struct rng r = {.state = 14};
    struct shaper s;
    uint64_t now = 0, from = 0, octets = 0;

    shaper_init(&s, 100000000, 0, 1514, 0);
    for (int i = 0; i < 200000; i++) {
        if (i == 1000) {
            from = now;
            octets = 0;
        }
        if (!shaper_ready(&s, now))
            now = shaper_deadline(&s);
        cr_assert(shaper_ready(&s, now));
        shaper_charge(&s, 1514);
        if (rng_below(&r, 2))
            shaper_refund(&s, 1514);
        else
            octets += 1514;
    }
    cr_assert(fabs((double) octets * 80 / (double) (now - from) - 1) < 0.001);
}

Test(shaper, refund_is_no_way_past_the_burst)
{
    struct shaper s;

    shaper_init(&s, 1000000, 3000, 1514, 0);
    shaper_charge(&s, 1514);
    cr_assert(shaper_ready(&s, NS_PER_S));
    shaper_refund(&s, 1514);
    cr_assert_eq(s.credit, 3000 * SHAPER_OCTET);
}

Test(shaper, change_of_rate_neither_gives_nor_takes)
{
    struct shaper s;
    uint64_t now, due;

    shaper_init(&s, 10000000, 0, 1514, 0);
    now = send_n(&s, 0, 1514, 100);
    cr_assert_not(shaper_ready(&s, now));
    due = shaper_deadline(&s) - now;
    shaper_set_rate(&s, 1000000, 0, 1514, now);
    cr_assert_not(shaper_ready(&s, now));
    /* The same debt takes ten times as long. */
    cr_assert_leq(shaper_deadline(&s) - now, due * 10);
    cr_assert_geq(shaper_deadline(&s) - now, (due - 1) * 10);
    shaper_set_rate(&s, 0, 0, 1514, now);
    cr_assert(shaper_ready(&s, now));
}
