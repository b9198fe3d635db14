/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/dp, sending: what a provider does not take, shares and rates at a
 * saturated port.
 */
#include "tests/unit/dp_rig.h"

static struct rig rig;

static void
init(void)
{
    rig_init(&rig, 2);
    rig_learn(&rig, NO_TAG);
}

static void
uninit(void)
{
    rig_uninit(&rig);
}

TestSuite(dp_tx, .init = init, .fini = uninit);

static void
offer(int prio, uint32_t n, uint32_t len, uint32_t seq)
{
    for (uint32_t i = 0; i < n; i++)
        rig_send(&rig, 0, HOST(1), HOST(0), prio << 13, len, seq + i);
}

Test(dp_tx, what_is_not_taken_keeps_its_place)
{
    uint32_t next[8] = {0}, len;
    uint8_t frame[2048];

    netdev_mem_set_tx_limit(rig.nd[1], 5);
    for (uint32_t i = 0; i < 100; i++)
        for (int p = 0; p < 8; p += 3)
            offer(p, 1, 100 + i, i);
    rig_run(&rig, NS_PER_S);
    while ((len = rig_take(&rig, 1, frame))) {
        uint16_t tci;

        eth_outer_tag(frame, len, &tci);
        cr_assert_eq(rig_seq(frame, len), next[tci >> 13]++);
    }
    for (int p = 0; p < 8; p += 3)
        cr_assert_eq(next[p], 100);
    cr_assert_eq(rig_n(&rig, 1)->held, 0);
}

Test(dp_tx, a_blocked_port_is_named_and_makes_no_busy_loop)
{
    uint16_t slots[2];
    uint64_t n_turns;

    netdev_mem_set_tx_limit(rig.nd[1], 0);
    offer(0, 50, 100, 0);
    rig_settle(&rig);
    cr_assert_eq(dp_blocked_ports(rig.dp, slots, 2), 1);
    cr_assert_eq(slots[0], 1);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[0], 50);
    n_turns = rig.n_turns;
    rig_run(&rig, 100 * NS_PER_MS);
    cr_assert_lt(rig.n_turns - n_turns, 25);
    netdev_mem_set_tx_limit(rig.nd[1], UINT32_MAX);
    rig_settle(&rig); /* as after POLLOUT */
    cr_assert_eq(rig_drain(&rig, 1), 50);
    cr_assert_eq(dp_blocked_ports(rig.dp, slots, 2), 0);
    cr_assert_eq(rig.next_ns, CLOCK_NEVER);
}

Test(dp_tx, a_blocked_port_that_is_paused_is_not_polled)
{
    rig.conf[1].pfc.honoured = 1;
    rig_apply(&rig);
    netdev_mem_set_tx_limit(rig.nd[1], 0);
    offer(0, 5, 100, 0);
    rig_settle(&rig);
    cr_assert_eq(dp_blocked_ports(rig.dp, &(uint16_t){0}, 1), 1);
    rig_pfc(&rig, 1, 1, 1000);
    rig_settle(&rig);
    cr_assert_eq(dp_blocked_ports(rig.dp, &(uint16_t){0}, 1), 0);
    cr_assert_eq(rig.next_ns, rig.now_ns + 1000 * 512);
}

/* Offers `prios` (a mask) at twice the port's 100 Mb/s each for a second. */
static void
saturate(uint8_t prios, uint32_t len)
{
    for (uint32_t ms = 0; ms < 1000; ms++) {
        for (int p = 0; p < 8; p++) {
            if (prios >> p & 1)
                offer(p, 25000 / len + 1, len, 0);
        }
        rig_run(&rig, NS_PER_MS);
        rig_drain(&rig, 1);
    }
}

static void
shape(uint64_t rate_bps)
{
    rig.conf[1].rate_bps = rate_bps;
    for (int q = 0; q < 8; q++)
        rig.conf[1].queue[q].limit_bytes = 60000;
    rig_apply(&rig);
}

/* got is within 1 % of want. */
static void
assert_close(double got, double want)
{
    cr_assert(got > want * 0.99 && got < want * 1.01, "%.0f, not %.0f", got,
              want);
}

Test(dp_tx, holds_the_rate_of_the_port)
{
    uint64_t before;

    shape(100000000);
    saturate(1, 1500); /* spends the first burst too */
    before = rig_n(&rig, 1)->tx_bytes;
    saturate(1, 1500);
    assert_close((double) (rig_n(&rig, 1)->tx_bytes - before), 12500000);
}

Test(dp_tx, shares_by_weight)
{
    static const uint8_t weight[8] = {15, 0, 50, 35, 0, 0, 0, 0};
    double all = 12500000;
    uint64_t before[8];

    memcpy(rig.conf[1].sched.weight, weight, 8);
    shape(100000000);
    saturate(1 | 4 | 8, 1000);
    for (int q = 0; q < 8; q++)
        before[q] = rig_n(&rig, 1)->q_tx_bytes[q];
    saturate(1 | 4 | 8, 1000);
    for (int q = 0; q < 8; q++)
        before[q] = rig_n(&rig, 1)->q_tx_bytes[q] - before[q];
    assert_close((double) before[0], all * 0.15);
    assert_close((double) before[2], all * 0.50);
    assert_close((double) before[3], all * 0.35);
}

Test(dp_tx, keeps_shares_when_the_provider_takes_little)
{
    static const uint8_t weight[8] = {25, 75, 0, 0, 0, 0, 0, 0};
    uint64_t a, b;

    memcpy(rig.conf[1].sched.weight, weight, 8);
    shape(100000000);
    netdev_mem_set_tx_limit(rig.nd[1], 1);
    saturate(1 | 2, 1000);
    a = rig_n(&rig, 1)->q_tx_bytes[0];
    b = rig_n(&rig, 1)->q_tx_bytes[1];
    assert_close((double) b, 3.0 * (double) a);
}

Test(dp_tx, strict_goes_first)
{
    rig.conf[1].sched.strict = 1 << 5;
    memcpy(rig.conf[1].sched.weight, (uint8_t[8]){100}, 8);
    shape(100000000);
    saturate(1 | 1 << 5, 1500);
    cr_assert_gt(rig_n(&rig, 1)->q_tx_bytes[5], 12000000);
    cr_assert_lt(rig_n(&rig, 1)->q_tx_bytes[0], 200000);
}

Test(dp_tx, holds_the_rate_of_a_queue_and_lends_the_rest)
{
    uint64_t q0, q1;

    memcpy(rig.conf[1].sched.weight, (uint8_t[8]){50, 50}, 8);
    rig.conf[1].queue[0].max_rate_bps = 20000000;
    shape(100000000);
    saturate(1 | 2, 1000);
    q0 = rig_n(&rig, 1)->q_tx_bytes[0];
    q1 = rig_n(&rig, 1)->q_tx_bytes[1];
    saturate(1 | 2, 1000);
    q0 = rig_n(&rig, 1)->q_tx_bytes[0] - q0;
    q1 = rig_n(&rig, 1)->q_tx_bytes[1] - q1;
    assert_close((double) q0, 2500000);
    assert_close((double) q1, 10000000);
}

Test(dp_tx, waits_for_a_queue_with_a_rate_alone)
{
    rig.conf[1].queue[0].max_rate_bps = 8000000; /* 1000 octets a ms */
    rig_apply(&rig);
    offer(0, 32, 2000, 0);
    offer(0, 32, 2000, 0);
    rig_settle(&rig);
    cr_assert_gt(rig_n(&rig, 1)->held, 0);
    cr_assert_gt(rig.next_ns, rig.now_ns);
    cr_assert_leq(rig.next_ns, rig.now_ns + 2 * NS_PER_MS);
    rig_run(&rig, 130 * NS_PER_MS);
    cr_assert_eq(rig_n(&rig, 1)->held, 0);
    cr_assert_eq(rig.next_ns, CLOCK_NEVER);
}

Test(dp_tx, a_paused_queue_leaves_its_share_to_the_others)
{
    uint64_t q1;

    memcpy(rig.conf[1].sched.weight, (uint8_t[8]){50, 50}, 8);
    rig.conf[1].pfc.honoured = 1;
    shape(100000000);
    saturate(1 | 2, 1000);
    q1 = rig_n(&rig, 1)->q_tx_bytes[1];
    for (int i = 0; i < 40; i++) {
        rig_pfc(&rig, 1, 1, 65535);
        for (int ms = 0; ms < 25; ms++) {
            offer(1, 26, 1000, 0);
            rig_run(&rig, NS_PER_MS);
            rig_drain(&rig, 1);
        }
    }
    q1 = rig_n(&rig, 1)->q_tx_bytes[1] - q1;
    assert_close((double) q1, 12500000);
}
