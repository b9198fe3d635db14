/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/dp, the promise: a lossless frame is not lost while the headroom is what
 * the rule asks for, and when it is less by a byte, the loss is a violation
 * that says so.  And what small frames and an empty pool do to it.
 */
#include "tests/unit/dp_rig.h"

#define P(n)  (1u << (n))
#define LIMIT 10000
#define LATE  7000 /* octets that arrive after XOFF */

static struct rig rig;

static void
uninit(void)
{
    rig_uninit(&rig);
}

TestSuite(dp_buffer, .fini = uninit);

static void
offer(uint32_t from, int prio, uint32_t n, uint32_t len)
{
    for (uint32_t i = 0; i < n; i++)
        rig_send(&rig, from, HOST(1), HOST(from), prio << 13, len, i);
}

/* Fills group 3 of port 0 to its limit while port 1 is paused, then lets LATE
 * octets more arrive. */
static void
overrun(uint64_t headroom)
{
    struct macctl m;

    rig_init(&rig, 2);
    rig_lossless(&rig, 0, P(3), LIMIT, headroom);
    rig.conf[1].pfc.honoured = P(3);
    rig_apply(&rig);
    rig_learn(&rig, NO_TAG);
    rig_pfc(&rig, 1, P(3), 65535);
    offer(0, 3, 10, LIMIT / 10);
    rig_turn(&rig);
    rig_take_pfc(&rig, 0, &m);
    offer(0, 3, 7, LATE / 7);
    rig_settle(&rig);
}

Test(dp_buffer, headroom_that_is_right_loses_nothing)
{
    overrun(LATE);
    cr_assert_eq(rig_n(&rig, 0)->drops[DP_DROP_HEADROOM_EXCEEDED], 0);
    cr_assert_eq(rig_n(&rig, 0)->violations[3], 0);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[3], 17);
    cr_assert_eq(dp_port_group(rig.state[0], 3)->headroom_used, LATE);
}

Test(dp_buffer, headroom_one_byte_short_is_a_violation)
{
    uint32_t n = 0;

    overrun(LATE - 1);
    cr_assert_eq(rig_n(&rig, 0)->drops[DP_DROP_HEADROOM_EXCEEDED], 1);
    cr_assert_eq(rig_n(&rig, 0)->pg_drops[3], 1);
    cr_assert_eq(rig_n(&rig, 0)->violations[3], 1);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[3], 16);
    for (uint32_t i = 0; i < rig.n_events; i++) {
        const struct dp_event *ev = &rig.events[i];

        if (ev->type != DP_EV_VIOLATION)
            continue;
        n++;
        cr_assert_eq(ev->port, 0);
        cr_assert_eq(ev->index, 3);
        cr_assert_eq(ev->reason, DP_DROP_HEADROOM_EXCEEDED);
    }
    cr_assert_eq(n, 1);
}

Test(dp_buffer, a_lossless_queue_has_no_limit)
{
    rig_init(&rig, 2);
    rig_lossless(&rig, 0, P(3), 1 << 20, 100000);
    rig.conf[1].pfc.honoured = P(3);
    rig.conf[1].queue[3].limit_bytes = 100;
    rig_apply(&rig);
    rig_learn(&rig, NO_TAG);
    rig_pfc(&rig, 1, P(3), 65535);
    offer(0, 3, 100, 1000);
    rig_settle(&rig);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[3], 100);
    cr_assert_eq(rig_n(&rig, 1)->drops[DP_DROP_QUEUE_LIMIT], 0);
}

Test(dp_buffer, few_buffers_pause_the_lossless_and_refuse_the_lossy)
{
    struct macctl m;

    rig_init_pool(&rig, 2, 128, 16);
    rig.base.low_buffers = 64;
    rig_lossless(&rig, 0, P(3), 1 << 20, 1 << 20);
    rig.conf[1].pfc.honoured = P(3) | P(0);
    rig_apply(&rig);
    rig_learn(&rig, NO_TAG);
    rig_pfc(&rig, 1, P(3) | P(0), 1000);
    offer(0, 3, 70, 64);
    rig_settle(&rig);
    rig_take_pfc(&rig, 0, &m);
    cr_assert_eq(m.enable, P(3), "bytes are plenty, buffers are not");
    offer(0, 0, 10, 64);
    offer(0, 3, 20, 64);
    rig_settle(&rig);
    cr_assert_eq(rig_n(&rig, 0)->drops[DP_DROP_INGRESS_LIMIT], 10);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[3], 90);
    rig_run(&rig, 1000 * 512);
    cr_assert_eq(rig_n(&rig, 1)->q_tx_frames[3], 90);
    rig_take_pfc(&rig, 0, &m);
    cr_assert_eq(m.time[3], 0);
}

Test(dp_buffer, frames_wait_in_the_ring_while_the_pool_is_empty)
{
    rig_init_pool(&rig, 2, 40, 16);
    rig_lossless(&rig, 0, P(3), 1 << 20, 1 << 20);
    rig.conf[1].pfc.honoured = P(3);
    rig_apply(&rig);
    rig_learn(&rig, NO_TAG);
    rig_pfc(&rig, 1, P(3), 1000);
    offer(0, 3, 100, 64);
    rig_settle(&rig); /* fails if that turns in circles */
    cr_assert_eq(rig_n(&rig, 1)->q_frames[3], 40);
    cr_assert_eq(netdev_mem_n_queued(rig.nd[0]), 60);
    rig_run(&rig, 1000 * 512);
    cr_assert_eq(rig_n(&rig, 1)->q_tx_frames[3], 100);
    for (int r = 0; r < DP_N_DROPS; r++)
        cr_assert_eq(rig_n(&rig, 0)->drops[r] + rig_n(&rig, 1)->drops[r], 0);
}

Test(dp_buffer, xon_comes_when_another_group_frees_the_shared_memory)
{
    struct macctl m;

    /* Port 2 fills the memory that both share; port 0 is in XOFF for it, and
     * its own frame does not move. */
    rig_init(&rig, 4);
    rig.base.shared_bytes = 8000;
    rig_lossless(&rig, 0, P(3), 1 << 20, 100000);
    rig_lossless(&rig, 2, P(4), 1 << 20, 100000);
    rig.conf[1].pfc.honoured = P(3) | P(4);
    rig.conf[0].pg[3].xon_bytes = 4000;
    rig_apply(&rig);
    rig_learn(&rig, NO_TAG);
    rig_pfc(&rig, 1, P(3) | P(4), 65535);
    offer(0, 3, 2, 1000);
    rig_settle(&rig);
    offer(2, 4, 6, 1000);
    rig_settle(&rig);
    offer(0, 3, 1, 1000);
    rig_settle(&rig);
    rig_take_pfc(&rig, 0, &m);
    cr_assert_eq(m.time[3], 65535);
    cr_assert_eq(dp_port_group(rig.state[0], 3)->headroom_used, 1000);
    rig_pfc(&rig, 1, P(4), 0);
    rig_settle(&rig);
    cr_assert_eq(rig_n(&rig, 1)->q_tx_frames[4], 6);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[3], 3);
    /* What is charged stays where it is charged: in headroom. */
    cr_assert_eq(dp_port_group(rig.state[0], 3)->headroom_used, 1000);
    rig_pfc(&rig, 1, P(3), 0);
    rig_settle(&rig);
    rig_take_pfc(&rig, 0, &m);
    cr_assert_eq(m.time[3], 0);
    cr_assert_eq(dp_buf_pool(rig.dp)->shared_used, 0);
}

Test(dp_buffer, random_traffic_loses_nothing_lossless_and_ends_empty)
{
    struct macctl m;
    uint32_t seed = 1;
    uint8_t frame[2048];
    uint64_t violations = 0;

    rig_init(&rig, 3);
    for (uint32_t i = 0; i < 3; i++) {
        rig_lossless(&rig, i, P(3) | P(4), 20000, 200000);
        rig.conf[i].pg[0].limit_bytes = 30000;
        rig.conf[i].queue[0].limit_bytes = 20000;
    }
    rig_apply(&rig);
    rig_learn(&rig, NO_TAG);
    for (uint32_t step = 0; step < 2000; step++) {
        seed = seed * 1103515245 + 12345;
        for (uint32_t k = 0; k < (seed >> 16) % 6; k++) {
            uint32_t from = (seed >> (8 + k)) % 3;

            rig_send(&rig, from,
                     (seed >> 4) % 7 ? HOST((from + 1) % 3) : BROADCAST,
                     HOST(from), (int) ((seed >> (k + 3)) % 5) << 13,
                     64 + (seed >> 7) % 1400, step);
        }
        if (step % 50 == 0)
            rig_pfc(&rig, (seed >> 20) % 3, P(3) | P(4),
                    (uint16_t) (seed >> 8));
        rig_run(&rig, 20 * NS_PER_US);
        for (uint32_t i = 0; i < 3; i++)
            rig_drain(&rig, i);
    }
    rig_run(&rig, 100 * NS_PER_MS);
    for (uint32_t i = 0; i < 3; i++) {
        for (int p = 0; p < N_PRIO; p++)
            violations += rig_n(&rig, i)->violations[p];
        cr_assert_eq(rig_n(&rig, i)->held, 0);
        cr_assert_eq(dp_port_pfc(rig.state[i])->asserted, 0);
        cr_assert_eq(dp_port_pfc(rig.state[i])->paused, 0);
        while (rig_take(&rig, i, frame) == MACCTL_LEN)
            macctl_decode(frame, MACCTL_LEN, &m);
    }
    cr_assert_eq(violations, 0);
    cr_assert_gt(rig_n_events(&rig, DP_EV_XOFF, 0), 0, "nothing was tested");
    cr_assert_eq(rig_n_events(&rig, DP_EV_XOFF, 0),
                 rig_n_events(&rig, DP_EV_XON, 0));
    cr_assert_eq(pkt_pool_n_free(dp_pool(rig.dp)), 8192);
    cr_assert_eq(dp_buf_pool(rig.dp)->shared_used, 0);
}
