/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/dp: what other switches got wrong about pauses, a sentence each; those
 * about storms are in test_dp_watchdog.c.  pfc-semantics sections 1 to 3.
 */
#include "tests/unit/dp_rig.h"

#define P(n) (1u << (n))

static struct rig rig;
static uint8_t frame[2048];

/* Port 0 sends to port 1; 3 and 4 are lossless. */
static void
init(void)
{
    rig_init(&rig, 2);
    rig_lossless(&rig, 0, P(3) | P(4), 10000, 100000);
    rig.conf[1].pfc.honoured = P(3) | P(4);
    rig_apply(&rig);
    rig_learn(&rig, NO_TAG);
}

static void
uninit(void)
{
    rig_uninit(&rig);
}

TestSuite(dp_behaviour, .init = init, .fini = uninit);

static void
offer(int prio, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        rig_send(&rig, 0, HOST(1), HOST(0), prio << 13, 1000, i);
}

static uint64_t
drops(uint32_t port)
{
    uint64_t n = 0;

    for (int r = 0; r < DP_N_DROPS; r++)
        n += rig_n(&rig, port)->drops[r];
    return n;
}

Test(dp_behaviour, section_1_pfc_frames_are_not_counted_as_data_or_drops)
{
    const struct dp_port_counters *n = rig_n(&rig, 1);
    uint64_t rx = n->rx_frames, rx_bytes = n->rx_bytes;
    uint64_t group = n->pg_rx_frames[3] + n->pg_rx_frames[0];
    uint64_t tx = rig_n(&rig, 0)->tx_frames;

    for (int i = 0; i < 100; i++) {
        rig_pfc(&rig, 1, P(3), 65535);
        rig_settle(&rig);
    }
    offer(3, 20); /* and we send some of our own */
    rig_settle(&rig);
    cr_assert_gt(dp_port_pfc(rig.state[0])->n.tx_frames, 0);
    cr_assert_eq(dp_port_pfc(rig.state[1])->n.rx_frames, 100);
    cr_assert_eq(n->rx_frames, rx);
    cr_assert_eq(n->rx_bytes, rx_bytes);
    cr_assert_eq(n->pg_rx_frames[3] + n->pg_rx_frames[0], group);
    cr_assert_eq(rig_n(&rig, 0)->tx_frames, tx);
    cr_assert_eq(drops(0) + drops(1), 0);
}

Test(dp_behaviour, section_1_an_all_zero_source_is_accepted)
{
    static const uint8_t zero[6];
    uint16_t time[N_PRIO] = {[3] = 65535};
    uint8_t pfc[MACCTL_LEN];

    macctl_encode_pfc(pfc, zero, P(3), time);
    netdev_mem_set_now(rig.nd[1], rig.now_ns);
    cr_assert(netdev_mem_inject(rig.nd[1], pfc, sizeof(pfc)));
    offer(3, 5);
    rig_settle(&rig);
    cr_assert_eq(dp_port_pfc(rig.state[1])->paused, P(3));
    cr_assert_eq(rig_n(&rig, 1)->q_frames[3], 5);
    cr_assert_eq(rig_drain(&rig, 1), 0);
}

Test(dp_behaviour,
     section_2_a_pause_on_a_lossy_priority_stops_nothing_and_still_counts)
{
    const struct pfc *pfc = dp_port_pfc(rig.state[1]);

    rig_pfc(&rig, 1, P(0) | P(7), 65535);
    offer(0, 5);
    offer(7, 5);
    offer(3, 5);
    rig_settle(&rig);
    cr_assert_eq(rig_drain(&rig, 1), 15);
    cr_assert_eq(pfc->n.rx_pfc[0], 1);
    cr_assert_eq(pfc->n.rx_pfc[7], 1);
    cr_assert_eq(pfc->n.rx_not_enabled, 1);
    cr_assert_eq(pfc->n.rx_pauses[0], 0);
}

Test(dp_behaviour, section_3_no_pfc_is_ever_sent_for_a_lossy_group)
{
    rig.conf[0].pg[0].limit_bytes = 3000;
    rig.conf[1].pfc.honoured |= P(0);
    rig_apply(&rig);
    rig_pfc(&rig, 1, P(0), 65535);
    offer(0, 50);
    rig_settle(&rig);
    cr_assert_gt(rig_n(&rig, 0)->drops[DP_DROP_INGRESS_LIMIT], 0);
    cr_assert_eq(dp_port_pfc(rig.state[0])->n.tx_frames, 0);
    cr_assert_eq(rig_drain(&rig, 0), 0);
}

Test(dp_behaviour, section_3_congestion_on_3_never_pauses_or_drops_4)
{
    uint32_t n = 0;

    rig_pfc(&rig, 1, P(3), 65535);
    offer(3, 50);
    for (int i = 0; i < 40; i++) {
        offer(4, 5);
        rig_settle(&rig);
        n += rig_drain(&rig, 1);
    }
    cr_assert_eq(n, 200);
    cr_assert_eq(dp_port_pfc(rig.state[0])->n.tx_pfc[4], 0);
    cr_assert_eq(dp_port_pfc(rig.state[0])->asserted, P(3));
    cr_assert_eq(drops(0) + drops(1), 0);
}

Test(dp_behaviour, section_3_two_congested_classes_show_both_bits)
{
    struct macctl m;

    rig_pfc(&rig, 1, P(3) | P(4), 65535);
    offer(3, 11);
    rig_settle(&rig);
    rig_take_pfc(&rig, 0, &m);
    cr_assert_eq(m.enable, P(3));
    offer(4, 11); /* later: the frame says how things are with both */
    rig_settle(&rig);
    rig_take_pfc(&rig, 0, &m);
    cr_assert_eq(m.enable, P(3) | P(4));
    cr_assert_eq(m.time[3], 65535);
    cr_assert_eq(m.time[4], 65535);
}

Test(dp_behaviour,
     section_2_a_pause_of_100_quanta_after_one_of_65535_ends_after_100)
{
    rig_pfc(&rig, 1, P(3), 65535);
    offer(3, 5);
    rig_run(&rig, NS_PER_MS);
    rig_pfc(&rig, 1, P(3), 100);
    rig_settle(&rig);
    rig_run(&rig, 100 * 512 - 1);
    cr_assert_eq(rig_drain(&rig, 1), 0);
    rig_run(&rig, 1);
    rig_settle(&rig);
    cr_assert_eq(rig_drain(&rig, 1), 5);
}

Test(dp_behaviour, section_2_time_0_resumes_at_once)
{
    rig_pfc(&rig, 1, P(3), 65535);
    offer(3, 5);
    rig_settle(&rig);
    cr_assert_eq(rig_drain(&rig, 1), 0);
    rig_pfc(&rig, 1, P(3), 0);
    rig_turn(&rig);
    cr_assert_eq(rig_drain(&rig, 1), 5);
    cr_assert_eq(rig_take(&rig, 1, frame), 0);
}
