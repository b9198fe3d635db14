/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/dp, transmission selection at a saturated port on a virtual clock,
 * pfc-semantics section 7: shares and rates hold within 1 % over a second,
 * from the moment on in which every queue has frames.
 */
#include "base/rng.h"
#include "tests/unit/dp_rig.h"

static struct rig rig;
static struct rng rng;

static void
init(void)
{
    rig_init(&rig, 2);
    for (int q = 0; q < N_QUEUE; q++)
        rig.conf[1].queue[q].limit_bytes = 64000;
    memset(rig.conf[1].sched.weight, 0, N_QUEUE);
    rig_apply(&rig);
    rig_learn(&rig, 0);
    rng.state = 1;
}

static void
uninit(void)
{
    rig_uninit(&rig);
}

TestSuite(dp_sched, .init = init, .fini = uninit);

/* Time in which the queues of `prios` never run empty.  Lengths are drawn by
 * queue. */
static void
saturate(uint8_t prios, const uint32_t len[N_QUEUE][2], uint64_t ns)
{
    uint64_t end_ns = rig.now_ns + ns;

    while (rig.now_ns < end_ns) {
        for (int q = 0; q < N_QUEUE; q++)
            while ((prios >> q & 1) && rig_n(&rig, 1)->q_bytes[q] < 32000) {
                for (int i = 0; i < 8; i++)
                    rig_send(&rig, 0, HOST(1), HOST(0), q << 13,
                             (uint32_t) rng_range(&rng, len[q][0], len[q][1]),
                             0);
                rig_turn(&rig);
                rig_drain(&rig, 1);
            }
        rig_run(&rig, 200 * NS_PER_US);
        rig_drain(&rig, 1);
    }
}

/* The octets that each of them sent in a second, after the queues were filled,
 * which takes 20 ms and the bursts that rates begin with. */
static void
second(uint8_t prios, const uint32_t len[N_QUEUE][2], uint64_t sent[N_QUEUE])
{
    saturate(prios, len, 20 * NS_PER_MS);
    for (int q = 0; q < N_QUEUE; q++)
        sent[q] = rig_n(&rig, 1)->q_tx_bytes[q];
    saturate(prios, len, NS_PER_S);
    for (int q = 0; q < N_QUEUE; q++)
        sent[q] = rig_n(&rig, 1)->q_tx_bytes[q] - sent[q];
}

static const uint32_t equal[N_QUEUE][2] = {{1000, 1000}, {1000, 1000},
                                           {1000, 1000}, {1000, 1000},
                                           {1000, 1000}, {1000, 1000},
                                           {1000, 1000}, {1000, 1000}};
static const uint32_t mixed[N_QUEUE][2] = {{64, 64},     {64, 1500},
                                           {1500, 1500}, {500, 600},
                                           {100, 200},   {1400, 1500},
                                           {64, 1500},   {300, 300}};

static void
expect(const uint64_t sent[N_QUEUE], int q, double want)
{
    double got = (double) sent[q];

    cr_assert(got >= want * 0.99 && got <= want * 1.01,
              "queue %d: %.0f octets, not %.0f", q, got, want);
}

Test(dp_sched, s7_the_shares_of_the_sonic_preset_hold_within_1_per_cent)
{
    static const uint8_t weights[N_QUEUE] = {14, 14, 14, 15, 15, 14, 14, 0};

    rig.conf[1].sched.strict = 0x80;
    memcpy(rig.conf[1].sched.weight, weights, N_QUEUE);
    rig.conf[1].rate_bps = 50000000;
    rig_apply(&rig);
    for (int run = 0; run < 3; run++) {
        uint64_t sent[N_QUEUE];

        second(0x7f, run ? mixed : equal, sent);
        for (int q = 0; q < 7; q++)
            expect(sent, q, 6250000 * weights[q] / 100.0);
    }
}

Test(dp_sched, s7_unused_shares_are_lent_in_proportion)
{
    static const uint8_t weights[N_QUEUE] = {10, 20, 30, 40};
    uint64_t sent[N_QUEUE];

    rig.conf[1].sched.strict = 0xf0;
    memcpy(rig.conf[1].sched.weight, weights, N_QUEUE);
    rig.conf[1].rate_bps = 50000000;
    rig_apply(&rig);
    second(0x0b, mixed, sent);
    expect(sent, 0, 6250000 / 7.0);
    expect(sent, 1, 6250000 * 2 / 7.0);
    expect(sent, 3, 6250000 * 4 / 7.0);
    cr_assert_eq(sent[2], 0);
}

Test(dp_sched, s7_maximum_rates_of_strict_and_ets_queues_hold)
{
    uint64_t sent[N_QUEUE];

    rig.conf[1].sched.strict = 0xf0;
    memcpy(rig.conf[1].sched.weight, (uint8_t[8]){50, 25, 25}, N_QUEUE);
    rig.conf[1].rate_bps = 50000000;
    rig.conf[1].queue[7].max_rate_bps = 10000000;
    rig.conf[1].queue[4].max_rate_bps = 5000000;
    rig.conf[1].queue[0].max_rate_bps = 8000000;
    rig_apply(&rig);
    second(0x97, equal, sent);
    expect(sent, 7, 1250000);
    expect(sent, 4, 625000);
    expect(sent, 0, 1000000);
    /* The rest, 27 Mb/s, goes to the other two. */
    expect(sent, 1, 1687500);
    expect(sent, 2, 1687500);
}

Test(dp_sched, s7_strict_queues_in_the_order_of_their_numbers)
{
    uint64_t sent[N_QUEUE];

    rig.conf[1].sched.strict = 0xff;
    rig.conf[1].rate_bps = 20000000;
    rig.conf[1].queue[6].max_rate_bps = 5000000;
    rig_apply(&rig);
    second(0x70, equal, sent);
    expect(sent, 6, 625000);
    expect(sent, 5, 1875000);
    cr_assert_eq(sent[4], 0, "the lower one gets nothing");
}

Test(dp_sched, s7_a_share_of_1_per_cent_holds)
{
    static const uint8_t weights[N_QUEUE] = {1, 99};
    uint64_t sent[N_QUEUE];

    rig.conf[1].sched.strict = 0xfc;
    memcpy(rig.conf[1].sched.weight, weights, N_QUEUE);
    rig.conf[1].rate_bps = 100000000;
    rig_apply(&rig);
    second(0x03, mixed, sent);
    expect(sent, 0, 125000);
    expect(sent, 1, 12375000);
}
