/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/dp, NORMAL forwarding: learning, flooding, moving, and the drops on the
 * way, each with its own reason.
 */
#include "tests/unit/dp_rig.h"

static struct rig rig;

static void
init3(void)
{
    rig_init(&rig, 3);
}

static void
uninit(void)
{
    rig_uninit(&rig);
}

TestSuite(dp_forward, .init = init3, .fini = uninit);

static uint32_t
only_seq(uint32_t port)
{
    uint8_t frame[2048];
    uint32_t len = rig_take(&rig, port, frame);

    return len ? rig_seq(frame, len) : 0;
}

static uint64_t
drops(uint32_t port, enum dp_drop reason)
{
    return rig_n(&rig, port)->drops[reason];
}

Test(dp_forward, floods_what_it_does_not_know_and_learns)
{
    rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 100, 1);
    rig_settle(&rig);
    cr_assert_eq(only_seq(1), 1);
    cr_assert_eq(only_seq(2), 1);
    cr_assert_eq(only_seq(0), 0, "it came back");
    cr_assert_eq(rig_n(&rig, 0)->copies, 1);

    rig_send(&rig, 1, HOST(0), HOST(1), NO_TAG, 100, 2);
    rig_settle(&rig);
    cr_assert_eq(only_seq(0), 2);
    cr_assert_eq(only_seq(2), 0, "the answer was flooded");
    rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 100, 3);
    rig_settle(&rig);
    cr_assert_eq(only_seq(1), 3);
    cr_assert_eq(only_seq(2), 0);
}

Test(dp_forward, leaves_the_frame_as_it_was)
{
    uint8_t sent[1514], got[2048];

    rig_learn(&rig, NO_TAG);
    for (uint32_t len = 60; len <= sizeof(sent); len += 727) {
        rig_frame(sent, HOST(1), HOST(0), 0x6005, len, len);
        rig_send(&rig, 0, HOST(1), HOST(0), 0x6005, len, len);
        rig_settle(&rig);
        cr_assert_eq(rig_take(&rig, 1, got), len);
        cr_assert_arr_eq(got, sent, len);
    }
}

Test(dp_forward, follows_a_host_that_moves)
{
    rig_learn(&rig, NO_TAG);
    rig_send(&rig, 2, BROADCAST, HOST(1), NO_TAG, 64, 1);
    rig_settle(&rig);
    rig_drain(&rig, 0);
    rig_drain(&rig, 1);
    rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 64, 2);
    rig_settle(&rig);
    cr_assert_eq(only_seq(2), 2);
    cr_assert_eq(only_seq(1), 0);
}

Test(dp_forward, forgets_a_host_that_is_silent)
{
    rig_learn(&rig, NO_TAG);
    rig.now_ns += 301 * NS_PER_S;
    rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 64, 1);
    rig_settle(&rig);
    cr_assert_eq(only_seq(1), 1);
    cr_assert_eq(only_seq(2), 1);
}

Test(dp_forward, keeps_order)
{
    uint8_t frame[2048];
    uint32_t len;

    rig_learn(&rig, NO_TAG);
    for (uint32_t i = 1; i <= 200; i++)
        rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 60 + i, i);
    cr_assert_geq(rig_settle(&rig), 6, "more than a batch in a turn");
    for (uint32_t i = 1; i <= 200; i++) {
        len = rig_take(&rig, 1, frame);
        cr_assert_eq(len, 60 + i);
        cr_assert_eq(rig_seq(frame, len), i);
    }
}

Test(dp_forward, does_not_send_a_frame_back)
{
    rig_learn(&rig, NO_TAG);
    rig_send(&rig, 0, HOST(0), HOST(9), NO_TAG, 64, 1);
    rig_settle(&rig);
    cr_assert_eq(drops(0, DP_DROP_NO_PORT), 1);
    for (uint32_t i = 0; i < 3; i++)
        cr_assert_eq(rig_drain(&rig, i), 0);
}

Test(dp_forward, drops_reserved_addresses)
{
    rig_send(&rig, 0, UINT64_C(0x0180c200000e), HOST(0), NO_TAG, 64, 1);
    rig_send(&rig, 0, UINT64_C(0x0180c2000000), HOST(0), NO_TAG, 64, 1);
    rig_send(&rig, 0, UINT64_C(0x0180c2000001), HOST(0), NO_TAG, 64, 1);
    rig_send(&rig, 0, UINT64_C(0x0180c2000010), HOST(0), NO_TAG, 64, 7);
    rig_settle(&rig);
    cr_assert_eq(drops(0, DP_DROP_RESERVED), 3);
    cr_assert_eq(only_seq(1), 7, "one after the range is an ordinary group");
}

/* A group is no sender.  Zero is none either, but is let through: it is what
 * some hosts' probes have. */
Test(dp_forward, drops_a_group_as_the_source_but_not_zero)
{
    rig_learn(&rig, NO_TAG);
    rig_send(&rig, 0, HOST(1), BROADCAST, NO_TAG, 100, 1);
    rig_send(&rig, 0, HOST(1), UINT64_C(0x01005e000001), 3 << 13, 100, 2);
    rig_settle(&rig);
    cr_assert_eq(rig_drain(&rig, 1), 0);
    cr_assert_eq(drops(0, DP_DROP_SOURCE), 2);
    rig_send(&rig, 0, HOST(1), 0, NO_TAG, 100, 3);
    rig_send(&rig, 0, HOST(1), UINT64_C(0xfeff00000000), NO_TAG, 100, 4);
    rig_settle(&rig);
    cr_assert_eq(rig_drain(&rig, 1), 2);
    cr_assert_eq(drops(0, DP_DROP_SOURCE), 2);
}

Test(dp_forward, forwards_reserved_addresses_on_demand_but_one)
{
    rig.base.forward_reserved = true;
    rig_apply(&rig);
    for (uint64_t i = 0; i < 16; i++)
        rig_send(&rig, 0, UINT64_C(0x0180c2000000) + i, HOST(0), NO_TAG, 64,
                 1);
    rig_settle(&rig);
    cr_assert_eq(rig_drain(&rig, 1), 15);
    cr_assert_eq(drops(0, DP_DROP_RESERVED), 1);
}

Test(dp_forward, takes_a_cut_tag_for_a_runt)
{
    uint8_t frame[17];

    rig_frame((uint8_t[64]){0}, BROADCAST, HOST(0), NO_TAG, 64, 1);
    memset(frame, 0xff, 6);
    memset(frame + 6, 2, 6);
    frame[12] = 0x81;
    memset(frame + 13, 0, 4);
    cr_assert(netdev_mem_inject(rig.nd[0], frame, 17));
    rig_settle(&rig);
    cr_assert_eq(drops(0, DP_DROP_RUNT), 1);
    cr_assert_eq(rig_n(&rig, 0)->rx_frames, 1);
    cr_assert_eq(rig_drain(&rig, 1), 0);
}

Test(dp_forward, drops_what_is_too_long_for_the_port)
{
    rig.conf[1].max_frame_bytes = 1514;
    rig_apply(&rig);
    rig_send(&rig, 0, BROADCAST, HOST(0), NO_TAG, 1514, 1);
    rig_send(&rig, 0, BROADCAST, HOST(0), NO_TAG, 1515, 2);
    rig_settle(&rig);
    cr_assert_eq(rig_drain(&rig, 1), 1);
    cr_assert_eq(rig_drain(&rig, 2), 2);
    cr_assert_eq(drops(1, DP_DROP_OVERSIZE), 1);
    cr_assert_eq(rig_n(&rig, 1)->q_drops[0], 1);
}

Test(dp_forward, bounds_a_lossy_queue)
{
    rig.conf[1].queue[0].limit_bytes = 1000;
    rig.conf[1].rate_bps = 1000; /* as good as never */
    rig_apply(&rig);
    rig_learn(&rig, NO_TAG);
    for (uint32_t i = 0; i < 32; i++)
        rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 100, i);
    rig_turn(&rig);
    /* 1000 octets fit; what may leave at once is taken only afterwards. */
    cr_assert_eq(drops(1, DP_DROP_QUEUE_LIMIT), 22);
    cr_assert_eq(rig_n(&rig, 1)->q_drops[0], 22);
    cr_assert_eq(rig_n(&rig, 1)->q_peak[0], 1000);
}

Test(dp_forward, counts_frames_by_group_queue_and_port)
{
    rig_learn(&rig, NO_TAG);
    for (uint32_t i = 0; i < 5; i++)
        rig_send(&rig, 0, HOST(1), HOST(0), 0x6000, 100, i);
    rig_settle(&rig);
    cr_assert_eq(rig_n(&rig, 0)->rx_frames, 6);
    cr_assert_eq(rig_n(&rig, 0)->rx_bytes, 564);
    cr_assert_eq(rig_n(&rig, 0)->pg_rx_frames[3], 5);
    cr_assert_eq(rig_n(&rig, 0)->pg_rx_bytes[3], 500);
    cr_assert_eq(rig_n(&rig, 1)->q_tx_frames[3], 5);
    cr_assert_eq(rig_n(&rig, 1)->q_tx_bytes[3], 500);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[3], 0);
    cr_assert_eq(rig_n(&rig, 1)->tx_frames, 7);
}

Test(dp_forward, gives_every_buffer_back)
{
    struct pkt_pool *pool = dp_pool(rig.dp);

    for (uint32_t i = 0; i < 300; i++)
        rig_send(&rig, i % 3, i % 2 ? BROADCAST : HOST(i % 5), HOST(i % 3),
                 (int) (i % 8) << 13, 64 + i, i);
    rig_settle(&rig);
    cr_assert_eq(pkt_pool_n_free(pool), pkt_pool_n_buffers(pool));
    cr_assert_eq(pkt_pool_n_free_clones(pool), pkt_pool_n_clones(pool));
    cr_assert_eq(dp_buf_pool(rig.dp)->shared_used, 0);
}

Test(dp_forward, leaves_an_absent_port_out)
{
    rig_learn(&rig, NO_TAG);
    rig.absent[1] = true;
    rig_apply(&rig);
    rig_send(&rig, 0, BROADCAST, HOST(0), NO_TAG, 64, 1);
    rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 64, 2);
    rig_settle(&rig);
    cr_assert_eq(only_seq(2), 1);
    cr_assert_eq(only_seq(2), 2, "its host is not known there any more");
    cr_assert_eq(drops(1, DP_DROP_PORT_DOWN), 0);
    cr_assert_eq(rig_drain(&rig, 1), 0);
}

Test(dp_forward, drops_at_an_absent_port_that_is_asked_for)
{
    static const uint8_t mac[6] = {2, 0, 0, 0, 7, 7};

    rig.absent[1] = true;
    rig_apply(&rig);
    cr_assert(mactab_add_static(dp_mactab(rig.dp), 0, mac, 1));
    rig_send(&rig, 0, UINT64_C(0x020000000707), HOST(0), NO_TAG, 64, 1);
    rig_settle(&rig);
    cr_assert_eq(drops(1, DP_DROP_PORT_DOWN), 1);
    cr_assert_eq(rig_drain(&rig, 2), 0);
}

Test(dp_forward, says_once_that_a_port_is_down_and_tries_again)
{
    rig_learn(&rig, NO_TAG);
    netdev_mem_set_down(rig.nd[1], true);
    for (uint32_t i = 0; i < 100; i++) {
        rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 64, i);
        rig_settle(&rig);
    }
    cr_assert_eq(drops(1, DP_DROP_PORT_DOWN), 100);
    cr_assert_eq(rig_n_events(&rig, DP_EV_PORT_DOWN, 1), 1);
    cr_assert_eq(rig.next_ns, CLOCK_NEVER, "a dead port keeps us awake");
    cr_assert_eq(dp_blocked_ports(rig.dp, &(uint16_t){0}, 1), 0);

    netdev_mem_set_down(rig.nd[1], false);
    rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 64, 5);
    rig_settle(&rig);
    cr_assert_eq(only_seq(1), 5);
    netdev_mem_set_down(rig.nd[1], true);
    rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 64, 6);
    rig_settle(&rig);
    cr_assert_eq(rig_n_events(&rig, DP_EV_PORT_DOWN, 1), 2);
}

Test(dp_forward, is_quiet_when_idle)
{
    rig_learn(&rig, NO_TAG);
    rig_settle(&rig);
    cr_assert_eq(rig.next_ns, CLOCK_NEVER);
}

Test(dp_forward, charges_a_flood_once_till_its_last_copy)
{
    const struct buf_group *g = dp_port_group(rig.state[0], 3);

    for (uint32_t i = 1; i < 3; i++)
        rig.conf[i].pfc.honoured = 1 << 3;
    rig_apply(&rig);
    rig_pfc(&rig, 1, 1 << 3, 100);
    rig_pfc(&rig, 2, 1 << 3, 200);
    rig_send(&rig, 0, BROADCAST, HOST(0), 0x6000, 500, 1);
    rig_settle(&rig);
    cr_assert_eq(buf_group_held(g), 500);
    cr_assert_eq(g->n_held, 1);
    rig_run(&rig, 100 * 512);
    cr_assert_eq(rig_drain(&rig, 1), 1);
    cr_assert_eq(buf_group_held(g), 500, "given back with a copy to come");
    rig_run(&rig, 100 * 512);
    cr_assert_eq(rig_drain(&rig, 2), 1);
    cr_assert_eq(buf_group_held(g), 0);
}

Test(dp_clones, drops_the_copy_that_finds_no_descriptor)
{
    rig_init_pool(&rig, 4, 64, 3);
    for (uint32_t i = 0; i < 2; i++)
        rig_send(&rig, 0, BROADCAST, HOST(0), NO_TAG, 64, i);
    rig_turn(&rig); /* 4 copies wanted, 3 there */
    cr_assert_eq(rig_drain(&rig, 1) + rig_drain(&rig, 2) + rig_drain(&rig, 3),
                 5);
    cr_assert_eq(rig_n(&rig, 0)->copies, 4);
    cr_assert_eq(drops(1, DP_DROP_NO_CLONE) + drops(2, DP_DROP_NO_CLONE), 1);
    cr_assert_eq(rig.n_events, 0, "a lossy frame is no violation");
    rig_uninit(&rig);
}

Test(dp_clones, calls_a_lossless_copy_that_is_lost_a_violation)
{
    rig_init_pool(&rig, 3, 64, 0);
    rig_lossless(&rig, 0, 1 << 3, 100000, 100000);
    rig_apply(&rig);
    rig_send(&rig, 0, BROADCAST, HOST(0), 0x6000, 64, 1);
    rig_settle(&rig);
    cr_assert_eq(drops(1, DP_DROP_NO_CLONE), 1);
    cr_assert_eq(rig_n(&rig, 1)->violations[3], 1);
    cr_assert_eq(rig.n_events, 1);
    cr_assert_eq(rig.events[0].type, DP_EV_VIOLATION);
    cr_assert_eq(rig.events[0].port, 1);
    cr_assert_eq(rig.events[0].index, 3);
    cr_assert_eq(rig.events[0].reason, DP_DROP_NO_CLONE);
    cr_assert_eq(rig_drain(&rig, 2), 1);
    rig_uninit(&rig);
}

/* Four ports: a flood takes two descriptors.  With 64 of them, a quarter is
 * kept for what comes after XOFF, and another from lossy floods. */
Test(dp_clones, s5_lossless_floods_pause_before_descriptors_run_out)
{
    const struct buf_group *g;
    uint32_t n = 0;

    rig_init_pool(&rig, 4, 256, 64);
    rig_lossless(&rig, 0, 1 << 3, 1 << 20, 100000);
    for (uint32_t i = 1; i < 4; i++)
        rig.conf[i].pfc.honoured = 0xff;
    rig.base.low_buffers = 8;
    rig_apply(&rig);
    g = dp_port_group(rig.state[0], 3);
    for (uint32_t i = 1; i < 4; i++)
        rig_pfc(&rig, i, 0xff, 65535);
    for (uint32_t i = 0; i < 100; i++) {
        rig_send(&rig, 0, BROADCAST, HOST(0), NO_TAG, 64, i);
        rig_turn(&rig);
    }
    cr_assert_geq(pkt_pool_n_free_clones(dp_pool(rig.dp)), 31);
    cr_assert_not(g->xoff, "lossy floods pause no one");
    while (!g->xoff) {
        cr_assert_lt(n, 32);
        rig_send(&rig, 0, BROADCAST, HOST(0), 0x6000, 64, n++);
        rig_turn(&rig);
    }
    for (uint32_t i = 0; i < 6; i++) { /* what was under way */
        rig_send(&rig, 0, BROADCAST, HOST(0), 0x6000, 64, n++);
        rig_turn(&rig);
    }
    cr_assert_eq(rig_n_events(&rig, DP_EV_VIOLATION, 0) +
                     rig_n_events(&rig, DP_EV_VIOLATION, 1) +
                     rig_n_events(&rig, DP_EV_VIOLATION, 2) +
                     rig_n_events(&rig, DP_EV_VIOLATION, 3),
                 0);
    for (uint32_t i = 1; i < 4; i++) {
        cr_assert_eq(rig_n(&rig, i)->q_frames[3], n);
        rig_pfc(&rig, i, 0xff, 0);
    }
    rig_settle(&rig);
    cr_assert_not(g->xoff);
    rig_uninit(&rig);
}

Test(dp_names, every_drop_has_its_own_name)
{
    for (int i = 0; i < DP_N_DROPS; i++) {
        cr_assert_not_null(dp_drop_name((enum dp_drop) i));
        for (int k = 0; k < i; k++)
            cr_assert_str_neq(dp_drop_name((enum dp_drop) i),
                              dp_drop_name((enum dp_drop) k));
    }
}
