/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/qos/wred: who is marked or dropped, and how often; pfc-semantics
 * section 11.
 */
#include "qos/wred.h"

#include <criterion/criterion.h>
#include <math.h>

static struct wred_conf
profile(uint8_t percent, bool ecn)
{
    return (struct wred_conf){20000, 100000, percent, ecn};
}

/* How many of n frames get that verdict. */
static unsigned
count(const struct wred_conf *c, uint64_t queued, uint8_t ecn,
      enum wred_verdict want, unsigned n)
{
    struct rng rng = {.state = queued + ecn};
    unsigned hits = 0;

    for (unsigned i = 0; i < n; i++)
        hits += wred_decide(c, queued, false, ecn, &rng) == want;
    return hits;
}

Test(wred, s11_nothing_happens_at_or_below_min)
{
    struct wred_conf c = profile(100, true);

    cr_assert_eq(count(&c, 0, ECN_ECT0, WRED_PASS, 1000), 1000);
    cr_assert_eq(count(&c, 20000, ECN_ECT0, WRED_PASS, 1000), 1000);
    cr_assert_eq(count(&c, 20000, ECN_NOT_ECT, WRED_PASS, 1000), 1000);
}

Test(wred, s11_every_frame_above_max)
{
    struct wred_conf c = profile(1, true);

    cr_assert_eq(count(&c, 100001, ECN_ECT0, WRED_MARK, 1000), 1000);
    cr_assert_eq(count(&c, 100001, ECN_ECT1, WRED_MARK, 1000), 1000);
    cr_assert_eq(count(&c, 100001, ECN_NOT_ECT, WRED_DROP, 1000), 1000);
    cr_assert_eq(count(&c, UINT64_MAX, ECN_ECT0, WRED_MARK, 1000), 1000);
}

Test(wred, s11_linear_between_up_to_the_probability_at_max)
{
    static const uint8_t percents[] = {0, 1, 5, 50, 100};

    for (int i = 0; i < 5; i++)
        for (uint64_t at = 20000; at <= 100000; at += 10000) {
            struct wred_conf c = profile(percents[i], true);
            unsigned n = 200000;
            double want = percents[i] / 100.0 * (double) (at - 20000) / 80000;
            double got = (double) count(&c, at, ECN_ECT0, WRED_MARK, n) / n;

            cr_assert_leq(fabs(got - want),
                          4 * sqrt(want * (1 - want) / n) + 1e-9,
                          "%d %% at %lu: %f of %f", percents[i],
                          (unsigned long) at, got, want);
        }
}

Test(wred, s11_a_step_where_min_is_max)
{
    struct wred_conf c = {50000, 50000, 10, true};

    cr_assert_eq(count(&c, 50000, ECN_ECT0, WRED_PASS, 100), 100);
    cr_assert_eq(count(&c, 50001, ECN_ECT0, WRED_MARK, 100), 100);
}

Test(wred, s11_ce_stays_ce)
{
    struct wred_conf c = profile(100, true);

    cr_assert_eq(count(&c, 200000, ECN_CE, WRED_PASS, 100), 100);
}

Test(wred, s11_without_ecn_everything_is_dropped_alike)
{
    struct wred_conf c = profile(100, false);

    for (uint8_t ecn = 0; ecn < 4; ecn++)
        cr_assert_eq(count(&c, 200000, ecn, WRED_DROP, 100), 100);
}

Test(wred, not_ect_on_a_lossless_queue_is_never_dropped_by_wred)
{
    struct rng rng = {.state = 1};

    for (uint64_t at = 0; at < 300000; at += 100) {
        struct wred_conf with = profile(100, true), none = profile(100, false);

        cr_assert_eq(wred_decide(&with, at, true, ECN_NOT_ECT, &rng),
                     WRED_PASS);
        for (uint8_t ecn = 0; ecn < 4; ecn++)
            cr_assert_eq(wred_decide(&none, at, true, ecn, &rng), WRED_PASS);
    }
    cr_assert_eq(rng.state, 1, "nor is a number drawn for it");
}

Test(wred, s11_a_lossless_queue_marks)
{
    struct wred_conf c = profile(100, true);
    struct rng rng = {.state = 1};

    cr_assert_eq(wred_decide(&c, 100001, true, ECN_ECT0, &rng), WRED_MARK);
    cr_assert_eq(wred_decide(&c, 100001, true, ECN_CE, &rng), WRED_PASS);
}

Test(wred, s11_off)
{
    struct wred_conf c = {.percent = 100, .ecn = true};

    for (uint8_t ecn = 0; ecn < 4; ecn++)
        cr_assert_eq(count(&c, 1u << 30, ecn, WRED_PASS, 10), 10);
}

Test(wred, s11_large_thresholds_do_not_overflow)
{
    struct wred_conf c = {0, UINT64_C(1) << 32, 100, true};

    cr_assert_eq(count(&c, (UINT64_C(1) << 32) + 1, ECN_ECT0, WRED_MARK, 100),
                 100);
    cr_assert_gt(count(&c, UINT64_C(1) << 31, ECN_ECT0, WRED_MARK, 1000), 400);
    cr_assert_lt(count(&c, UINT64_C(1) << 31, ECN_ECT0, WRED_MARK, 1000), 600);
}
