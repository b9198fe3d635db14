/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/qos/sched: strict priority and shares, pfc-semantics section 7.
 */
#include "qos/sched.h"

#include "base/rng.h"

#include <criterion/criterion.h>
#include <math.h>

static const uint32_t heads[N_QUEUE] = {1500, 1500, 1500, 1500,
                                        1500, 1500, 1500, 1500};

static struct sched
make_sched(uint8_t strict, const uint8_t weight[N_QUEUE])
{
    struct sched_conf conf = {.strict = strict};
    struct sched s;

    for (int q = 0; q < N_QUEUE; q++)
        conf.weight[q] = weight[q];
    sched_init(&s, &conf);
    return s;
}

/* A saturated port: sends `octets`, adds up what each queue got. */
static void
saturate(struct sched *s, uint8_t ready, const uint32_t len[N_QUEUE],
         uint64_t octets, uint64_t sent[N_QUEUE])
{
    for (uint64_t total = 0; total < octets;) {
        int q = sched_pick(s, ready, len);

        cr_assert(q >= 0 && ready & (1u << q));
        sched_charge(s, q, len[q]);
        sent[q] += len[q];
        total += len[q];
    }
}

static void
expect_shares(const uint64_t sent[N_QUEUE], uint8_t ready,
              const uint8_t weight[N_QUEUE], double tolerance)
{
    double total = 0, weights = 0;

    for (int q = 0; q < N_QUEUE; q++) {
        total += (double) sent[q];
        weights += ready & (1u << q) ? weight[q] : 0;
    }
    for (int q = 0; q < N_QUEUE; q++) {
        double want = ready & (1u << q) ? weight[q] / weights : 0;
        double got = (double) sent[q] / total;

        cr_assert(fabs(got - want) <= want * tolerance,
                  "queue %d: %.5f of %.5f", q, got, want);
    }
}

Test(sched, s7_nothing_ready)
{
    const uint8_t w[N_QUEUE] = {50, 50};
    struct sched s = make_sched(0xfc, w);

    cr_assert_eq(sched_pick(&s, 0, heads), -1);
}

Test(sched, s7_strict_first_higher_number_first)
{
    const uint8_t w[N_QUEUE] = {50, 50};
    struct sched s = make_sched(0xf0, w);

    for (unsigned ready = 1; ready < 256; ready++) {
        int q = sched_pick(&s, (uint8_t) ready, heads);

        if (ready & 0xf0)
            cr_assert_eq(q, 31 - __builtin_clz(ready));
        else
            cr_assert(q >= 0 && q < 4 && ready & (1u << q));
    }
}

Test(sched, s7_shares_by_weight_at_equal_lengths)
{
    const uint8_t w[N_QUEUE] = {14, 14, 14, 15, 15, 14, 14, 0};
    struct sched s = make_sched(0x80, w);
    uint64_t sent[N_QUEUE] = {0};

    saturate(&s, 0x7f, heads, 12500000, sent);
    expect_shares(sent, 0x7f, w, 0.01);
}

Test(sched, s7_shares_hold_for_small_weights_and_any_length)
{
    const uint8_t w[N_QUEUE] = {1, 2, 3, 4, 5, 10, 25, 50};
    struct rng r = {.state = 7};

    for (int run = 0; run < 30; run++) {
        struct sched s = make_sched(0, w);
        uint64_t sent[N_QUEUE] = {0};
        uint32_t len[N_QUEUE];

        for (int q = 0; q < N_QUEUE; q++)
            len[q] = rng_below(&r, 2) ? (uint32_t) rng_range(&r, 60, 200)
                                      : (uint32_t) rng_range(&r, 1000, 9000);
        saturate(&s, 0xff, len, 125000000, sent);
        expect_shares(sent, 0xff, w, 0.01);
    }
}

Test(sched, s7_shares_hold_for_changing_lengths)
{
    const uint8_t w[N_QUEUE] = {7, 93};
    struct sched s = make_sched(0xfc, w);
    struct rng r = {.state = 8};
    uint64_t sent[N_QUEUE] = {0};
    uint32_t len[N_QUEUE] = {60, 60};

    for (int i = 0; i < 300000; i++) {
        int q = sched_pick(&s, 0x03, len);

        sched_charge(&s, q, len[q]);
        sent[q] += len[q];
        len[q] = (uint32_t) rng_range(&r, 60, 1518);
    }
    expect_shares(sent, 0x03, w, 0.002);
}

Test(sched, s7_unused_share_is_lent_in_proportion)
{
    const uint8_t w[N_QUEUE] = {10, 20, 30, 40};
    struct sched s = make_sched(0xf0, w);
    uint64_t sent[N_QUEUE] = {0};

    saturate(&s, 0x07, heads, 12500000, sent);
    expect_shares(sent, 0x07, w, 0.001);
}

Test(sched, s7_weight_0_gets_only_what_is_left)
{
    const uint8_t w[N_QUEUE] = {0, 0, 60, 40};
    struct sched s = make_sched(0xf0, w);
    uint64_t sent[N_QUEUE] = {0};
    const uint8_t equal[N_QUEUE] = {1, 1};

    saturate(&s, 0x0f, heads, 12500000, sent);
    expect_shares(sent, 0x0c, w, 0.001);
    sent[2] = sent[3] = 0;
    saturate(&s, 0x03, heads, 12500000, sent);
    expect_shares(sent, 0x03, equal, 0.001);
}

/* One that saturates loses nothing to one that comes and goes, and that one
 * gets neither more than its share nor less. */
Test(sched, s7_paused_queue_keeps_what_is_its_due)
{
    const uint8_t w[N_QUEUE] = {50, 50};
    struct sched s = make_sched(0xfc, w);
    struct rng r = {.state = 9};
    uint64_t sent[N_QUEUE] = {0}, both[N_QUEUE] = {0};
    uint32_t len[N_QUEUE] = {1518, 64};
    uint8_t ready = 0x03;

    for (int i = 0; i < 1000000; i++) {
        int q;

        /* Most unkind: paused often, for about a frame each time. */
        ready = rng_below(&r, 3) ? 0x03 : 0x02;
        q = sched_pick(&s, ready, len);
        sched_charge(&s, q, len[q]);
        sent[q] += len[q];
        if (ready == 0x03)
            both[q] += len[q];
    }
    expect_shares(both, 0x03, w, 0.01);
    cr_assert_gt(sent[1], both[1]);
}

/* After a long pause it goes on where it was: no burst of saved credit. */
Test(sched, s7_pause_saves_up_no_credit)
{
    const uint8_t w[N_QUEUE] = {50, 50};
    struct sched s = make_sched(0xfc, w);
    uint64_t sent[N_QUEUE] = {0};

    saturate(&s, 0x03, heads, 15000, sent);
    saturate(&s, 0x02, heads, 100000000, sent);
    sent[0] = sent[1] = 0;
    saturate(&s, 0x03, heads, 15000, sent);
    cr_assert_leq(sent[0], 9000);
    cr_assert_geq(sent[0], 6000);
}

/* The debt of a queue's last frame does not wait for it: meanwhile others
 * were served. */
Test(sched, s7_sparse_queue_of_small_weight_is_served_at_once)
{
    const uint8_t w[N_QUEUE] = {1, 99};
    struct sched s = make_sched(0xfc, w);
    uint64_t sent[N_QUEUE] = {0};

    for (int i = 0; i < 50; i++) {
        int n = 0;

        saturate(&s, 0x02, heads, 99 * 1500, sent);
        while (sched_pick(&s, 0x03, heads) == 1) {
            sched_charge(&s, 1, 1500);
            n++;
        }
        cr_assert_leq(n, 1, "waited for %d frames", n);
        sched_charge(&s, 0, 1500);
        sched_idle(&s, 0);
    }
}

Test(sched, s7_empty_queue_saves_up_no_credit)
{
    const uint8_t w[N_QUEUE] = {50, 50};
    struct sched s = make_sched(0xfc, w);
    uint64_t sent[N_QUEUE] = {0};

    sched_idle(&s, 0);
    saturate(&s, 0x02, heads, 100000000, sent);
    sent[0] = sent[1] = 0;
    saturate(&s, 0x03, heads, 15000, sent);
    cr_assert_leq(sent[0], 9000);
}

Test(sched, s7_refund_takes_a_charge_back)
{
    const uint8_t w[N_QUEUE] = {30, 70};
    struct sched s = make_sched(0xfc, w);
    struct rng r = {.state = 10};
    uint64_t sent[N_QUEUE] = {0};
    int refused[32], n_refused = 0;

    for (int i = 0; i < 500000; i++) {
        int q = sched_pick(&s, 0x03, heads);

        sched_charge(&s, q, 1500);
        if (rng_below(&r, 3) == 0 && n_refused < 32)
            refused[n_refused++] = q;
        else
            sent[q] += 1500;
        if (rng_below(&r, 10) == 0)
            while (n_refused > 0)
                sched_refund(&s, refused[--n_refused], 1500);
    }
    expect_shares(sent, 0x03, w, 0.002);
}

Test(sched, s7_refund_of_the_frame_that_emptied_the_queue)
{
    const uint8_t w[N_QUEUE] = {10, 90};
    struct sched s = make_sched(0xfc, w);
    uint64_t sent[N_QUEUE] = {0};

    for (int i = 0; i < 1000; i++) {
        if (sched_pick(&s, 0x03, heads) == 0) {
            sched_charge(&s, 0, 1500);
            sched_idle(&s, 0);
            sched_refund(&s, 0, 1500);
            sched_charge(&s, 0, 1500);
            sent[0] += 1500;
        } else {
            sched_charge(&s, 1, 1500);
            sent[1] += 1500;
        }
    }
    expect_shares(sent, 0x03, w, 0.01);
}

/* The frame that emptied the queue was not taken after all, and others were
 * served meanwhile: it is the first to go. */
Test(sched, s7_refund_makes_an_empty_queue_a_creditor)
{
    const uint8_t w[N_QUEUE] = {50, 50};
    struct sched s = make_sched(0xfc, w);
    uint64_t sent[N_QUEUE] = {0};
    int n = 0;

    cr_assert_eq(sched_pick(&s, 0x01, heads), 0);
    sched_charge(&s, 0, 9000);
    sched_idle(&s, 0);
    saturate(&s, 0x02, heads, 90000, sent);
    sched_refund(&s, 0, 9000);
    while (sched_pick(&s, 0x03, heads) == 0) {
        sched_charge(&s, 0, 1500);
        n++;
    }
    cr_assert(n >= 6 && n <= 8, "%d frames", n);
}

Test(sched, s7_asking_again_gives_the_same_answer)
{
    const uint8_t w[N_QUEUE] = {1, 2, 3, 4, 20, 30, 40, 0};
    struct sched s = make_sched(0, w);
    struct rng r = {.state = 11};

    for (int i = 0; i < 100000; i++) {
        uint8_t ready = (uint8_t) rng_range(&r, 1, 255);
        int q = sched_pick(&s, ready, heads);

        cr_assert_eq(sched_pick(&s, ready, heads), q);
        sched_charge(&s, q, (uint32_t) rng_range(&r, 60, 9000));
        if (rng_below(&r, 5) == 0)
            sched_idle(&s, q);
    }
}

Test(sched, s7_new_weights_hold_from_then_on)
{
    const uint8_t w[N_QUEUE] = {90, 10}, w2[N_QUEUE] = {20, 80};
    struct sched s = make_sched(0xfc, w), other = make_sched(0xfc, w2);
    uint64_t sent[N_QUEUE] = {0};

    saturate(&s, 0x03, heads, 12500000, sent);
    sched_set(&s, &s.conf); /* the same: debts stay */
    saturate(&s, 0x03, heads, 12500000, sent);
    expect_shares(sent, 0x03, w, 0.001);
    sched_set(&s, &other.conf);
    sent[0] = sent[1] = 0;
    saturate(&s, 0x03, heads, 12500000, sent);
    expect_shares(sent, 0x03, w2, 0.001);
}
