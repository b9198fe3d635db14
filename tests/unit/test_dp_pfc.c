/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/dp, pause in both directions: what a PFC frame that arrives stops, and
 * what congestion makes us send (pfc-semantics sections 1 to 3).
 */
#include "tests/unit/dp_rig.h"

#define P(n) (1u << (n))
/* 65535 quanta at the 1 Gb/s of the rig. */
#define PAUSE_NS (UINT64_C(65535) * 512)

static struct rig rig;
static uint8_t frame[2048];

static void
init(void)
{
    rig_init(&rig, 3);
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

TestSuite(dp_pfc, .init = init, .fini = uninit);

/* n frames of 1000 octets and that priority, from port 0 to port 1. */
static void
offer(int prio, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        rig_send(&rig, 0, HOST(1), HOST(0), prio << 13, 1000, i);
}

/* Takes what left port 1 with that PCP. */
static uint32_t
left(int prio)
{
    uint32_t len, n = 0;
    uint16_t tci;

    while ((len = rig_take(&rig, 1, frame))) {
        eth_outer_tag(frame, len, &tci);
        n += tci >> 13 == prio;
    }
    return n;
}

/* --- being paused ------------------------------------------------------ */

Test(dp_pfc, stops_the_priority_and_no_other)
{
    rig_pfc(&rig, 1, P(3), 1000);
    offer(3, 5);
    offer(4, 5);
    rig_settle(&rig);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[3], 5);
    cr_assert_eq(left(4), 5);
    cr_assert_eq(rig_n_events(&rig, DP_EV_RX_PAUSE, 1), 1);
    cr_assert_eq(rig.next_ns, rig.now_ns + 1000 * 512, "wakes at the end");
    rig_run(&rig, 1000 * 512 - 1);
    cr_assert_eq(left(3), 0);
    rig_run(&rig, 1);
    cr_assert_eq(left(3), 5);
    cr_assert_eq(rig_n_events(&rig, DP_EV_RX_RESUME, 1), 1);
}

Test(dp_pfc, time_zero_resumes_at_once)
{
    rig_pfc(&rig, 1, P(3) | P(4), 65535);
    offer(3, 5);
    offer(4, 5);
    rig_settle(&rig);
    rig_pfc(&rig, 1, P(3), 0);
    rig_settle(&rig);
    cr_assert_eq(left(3), 5);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[4], 5, "4 was not spoken of");
}

Test(dp_pfc, a_new_time_replaces_the_old_one)
{
    rig_pfc(&rig, 1, P(3), 65535);
    offer(3, 1);
    rig_settle(&rig);
    rig_pfc(&rig, 1, P(3), 10);
    rig_settle(&rig);
    cr_assert_eq(rig.next_ns, rig.now_ns + 10 * 512);
    rig_run(&rig, 10 * 512);
    cr_assert_eq(left(3), 1);
}

Test(dp_pfc, is_honoured_before_the_next_batch_wherever_it_lies)
{
    /* 320 frames queued behind a pause, then data and at its end a PFC frame
     * in the ring: not one more of the queue leaves. */
    rig.conf[0].pg[3].limit_bytes = 1 << 20;
    rig_apply(&rig);
    rig_pfc(&rig, 1, P(3), 65535);
    offer(3, 320);
    rig_settle(&rig);
    rig_pfc(&rig, 1, P(3), 0);
    rig_turn(&rig);
    cr_assert_eq(left(3), 32, "a turn sends one batch");
    for (uint32_t i = 0; i < 200; i++)
        rig_send(&rig, 1, HOST(0), HOST(1), NO_TAG, 64, i);
    rig_pfc(&rig, 1, P(3), 65535);
    rig_settle(&rig);
    cr_assert_eq(left(3), 0);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[3], 288);
}

/* Something happens while frames leave port 1, as where the kernel takes its
 * time. */
static struct {
    uint32_t n;    /* frames that left */
    uint32_t at;   /* when that many have; 0: each time */
    uint8_t prios; /* a pause comes for these */
} slow;

static bool
leaves(void *arg, const uint8_t *data, uint32_t len, uint64_t due_ns)
{
    (void) arg, (void) data, (void) len, (void) due_ns;
    if (++slow.n == slow.at || slow.at == 0)
        rig_pfc(&rig, 1, slow.prios, 65535);
    return true;
}

/* 64 frames of 3 are queued at port 1, and 3 is not paused any more. */
static void
make_slow(uint32_t at, uint8_t prios)
{
    static const struct netdev_mem_watch watch = {leaves, NULL};

    rig.conf[0].pg[3].limit_bytes = 1 << 20;
    rig.nd[1]->tx_look = 8;
    rig_apply(&rig);
    rig_pfc(&rig, 1, P(3), 65535);
    offer(3, 64);
    rig_settle(&rig);
    slow.at = at;
    slow.prios = prios;
    netdev_mem_set_watch(rig.nd[1], &watch);
    rig_pfc(&rig, 1, P(3), 0);
}

Test(dp_pfc, stops_the_rest_of_a_batch_that_is_under_way)
{
    make_slow(9, P(3));
    cr_assert_eq(rig_turn(&rig), rig.now_ns, "goes on to read it");
    cr_assert_eq(left(3), 16, "it came with the second part of eight");
    rig_settle(&rig);
    cr_assert_eq(left(3), 0);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[3], 48);
    /* And so does the next one, in the first batch after it. */
    slow.n = 0;
    slow.at = 1;
    rig_pfc(&rig, 1, P(3), 0);
    rig_settle(&rig);
    cr_assert_eq(left(3), 8);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[3], 40);
}

Test(dp_pfc, a_pause_of_another_priority_delays_a_batch_only)
{
    make_slow(1, P(4));
    rig_turn(&rig);
    cr_assert_eq(left(3), 8);
    rig_turn(&rig);
    cr_assert_eq(left(3), 32);
    rig_settle(&rig);
    cr_assert_eq(left(3), 24);
}

Test(dp_pfc, endless_pauses_of_another_priority_do_not_keep_a_port_silent)
{
    make_slow(0, P(4));
    for (int i = 0; i < 3; i++)
        rig_turn(&rig);
    cr_assert_eq(left(3), 8 + 8 + 32);
}

Test(dp_pfc, a_pause_that_is_not_obeyed_divides_no_batch)
{
    make_slow(1, P(4));
    rig.conf[1].pfc.honoured = P(4);
    rig_apply(&rig);
    rig_turn(&rig);
    cr_assert_eq(left(3), 64);
    cr_assert_eq(slow.n, 64);
}

/* A tap hands a PFC frame over only after the data before it. */
Test(dp_pfc, s2_without_lookahead_nothing_leaves_before_all_is_read)
{
    rig.conf[0].pg[3].limit_bytes = 1 << 20;
    rig_apply(&rig);
    rig_pfc(&rig, 1, P(3), 65535);
    offer(3, 320);
    rig_settle(&rig);
    rig.nd[1]->has_lookahead = false;
    rig_pfc(&rig, 1, P(3), 0);
    for (uint32_t i = 0; i < 200; i++)
        rig_send(&rig, 1, HOST(0), HOST(1), NO_TAG, 64, i);
    rig_pfc(&rig, 1, P(3), 65535);
    rig_settle(&rig);
    cr_assert_eq(left(3), 0, "the pause was there before it was its turn");
    cr_assert_eq(rig_n(&rig, 1)->q_frames[3], 320);
    rig_pfc(&rig, 1, P(3), 0);
    rig_settle(&rig);
    cr_assert_eq(left(3), 320);
}

Test(dp_pfc, without_lookahead_one_batch_is_read_a_turn)
{
    /* Reading on would fill the queues of others, which send a batch a turn,
     * past their limits. */
    rig.nd[1]->has_lookahead = false;
    for (uint32_t i = 0; i < 1000; i++)
        rig_send(&rig, 1, HOST(0), HOST(1), NO_TAG, 1500, i);
    for (uint32_t turn = 1; turn <= 1000 / PKT_BATCH; turn++) {
        cr_assert_eq(rig_turn(&rig), rig.now_ns);
        cr_assert_eq(netdev_mem_n_queued(rig.nd[1]), 1000 - turn * PKT_BATCH);
        cr_assert_eq(rig_n(&rig, 0)->held, 0);
    }
}

Test(dp_pfc, endless_data_does_not_keep_a_port_without_lookahead_silent)
{
    rig_pfc(&rig, 1, P(3), 65535);
    offer(3, 64);
    rig_settle(&rig);
    rig.nd[1]->has_lookahead = false;
    rig_pfc(&rig, 1, P(3), 0);
    for (uint32_t i = 0; i < 4000; i++)
        rig_send(&rig, 1, HOST(0), HOST(1), NO_TAG, 64, i);
    for (int turn = 1; turn < 32; turn++) {
        rig_turn(&rig);
        cr_assert_eq(left(3), 0, "turn %d", turn);
    }
    rig_turn(&rig);
    cr_assert_eq(left(3), PKT_BATCH);
    /* One that obeys no pause need not wait. */
    rig.conf[1].pfc.honoured = 0;
    rig_apply(&rig);
    rig_turn(&rig);
    cr_assert_eq(left(3), PKT_BATCH);
    cr_assert_gt(netdev_mem_n_queued(rig.nd[1]), 1000);
}

Test(dp_pfc, a_priority_that_is_not_honoured_is_counted)
{
    rig_pfc(&rig, 1, P(5), 65535);
    offer(5, 2);
    rig_settle(&rig);
    cr_assert_eq(left(5), 2);
    cr_assert_eq(dp_port_pfc(rig.state[1])->n.rx_not_enabled, 1);
    cr_assert_eq(rig_n_events(&rig, DP_EV_RX_PAUSE, 1), 0);
}

Test(dp_pfc, stops_the_queue_that_the_priority_maps_to)
{
    for (uint32_t i = 0; i < 3; i++)
        rig.conf[i].prio_to_queue[5] = 3;
    rig_apply(&rig);
    rig_pfc(&rig, 1, P(3), 65535);
    rig_settle(&rig);
    offer(5, 2);
    rig_settle(&rig);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[3], 2);
    /* A change of the map while the pause lasts. */
    rig.conf[1].prio_to_queue[5] = 5;
    rig_apply(&rig);
    offer(5, 2);
    rig_settle(&rig);
    cr_assert_eq(left(5), 2);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[3], 2, "what is queued stays");
}

/* --- MAC control is not data ------------------------------------------- */

static void
inject_type(uint16_t type, uint16_t opcode, uint64_t dst, bool tagged)
{
    uint8_t f[64];
    int ofs = tagged ? 16 : 12;

    rig_frame(f, dst, HOST(2), tagged ? 5 : NO_TAG, 64, 0);
    f[ofs] = (uint8_t) (type >> 8);
    f[ofs + 1] = (uint8_t) type;
    f[ofs + 2] = (uint8_t) (opcode >> 8);
    f[ofs + 3] = (uint8_t) opcode;
    cr_assert(netdev_mem_inject(rig.nd[0], f, 64));
}

Test(dp_pfc, consumes_every_mac_control_frame)
{
    const struct pfc *pfc = dp_port_pfc(rig.state[0]);
    uint64_t rx = rig_n(&rig, 0)->rx_frames;
    uint32_t n_free = pkt_pool_n_free(dp_pool(rig.dp));

    inject_type(0x8808, MACCTL_OP_PFC, UINT64_C(0x0180c2000001), false);
    inject_type(0x8808, MACCTL_OP_PAUSE, UINT64_C(0x0180c2000001), false);
    inject_type(0x8808, 0x4711, UINT64_C(0x0180c2000001), false);
    inject_type(0x8808, MACCTL_OP_PFC, HOST(1), false);
    inject_type(0x8808, MACCTL_OP_PFC, UINT64_C(0x0180c2000001), true);
    rig_settle(&rig);
    cr_assert_eq(pfc->n.rx_frames, 1);
    cr_assert_eq(pfc->n.rx_pause, 1);
    cr_assert_eq(pfc->n.rx_unsupported, 1);
    cr_assert_eq(pfc->n.rx_malformed, 2);
    cr_assert_eq(rig_n(&rig, 0)->rx_frames, rx);
    for (int r = 0; r < DP_N_DROPS; r++)
        cr_assert_eq(rig_n(&rig, 0)->drops[r], 0);
    for (uint32_t i = 0; i < 3; i++)
        cr_assert_eq(rig_drain(&rig, i), 0);
    cr_assert_eq(pkt_pool_n_free(dp_pool(rig.dp)), n_free);
    /* Their source, which lives behind port 2, was not learned. */
    rig_send(&rig, 0, HOST(2), HOST(0), NO_TAG, 64, 9);
    rig_settle(&rig);
    cr_assert_eq(rig_drain(&rig, 2), 1);
}

/* --- pausing the peer -------------------------------------------------- */

Test(dp_pfc, pauses_refreshes_and_lets_go)
{
    const struct pfc *pfc = dp_port_pfc(rig.state[0]);
    struct macctl m;
    uint64_t sent_ns;

    rig_pfc(&rig, 1, P(3), 65535);
    offer(3, 9);
    rig_settle(&rig);
    cr_assert_eq(rig_drain(&rig, 0), 0, "below the limit");
    offer(3, 1);
    rig_settle(&rig);
    rig_take_pfc(&rig, 0, &m);
    cr_assert_eq(m.enable, P(3));
    cr_assert_eq(m.time[3], 65535);
    cr_assert_eq(rig_drain(&rig, 0), 0, "more than one frame");
    cr_assert_eq(rig_n_events(&rig, DP_EV_XOFF, 0), 1);

    sent_ns = rig.now_ns;
    for (int i = 0; i < 5; i++) {
        rig_pfc(&rig, 1, P(3), 65535); /* the far pause lasts */
        rig_settle(&rig);
        cr_assert_gt(rig.next_ns, rig.now_ns);
        cr_assert_leq(rig.next_ns, sent_ns + PAUSE_NS / 2);
        cr_assert_geq(rig.next_ns, sent_ns + PFC_REFRESH_MIN_NS);
        rig.now_ns = rig.next_ns;
        rig_settle(&rig);
        rig_take_pfc(&rig, 0, &m);
        cr_assert_eq(m.enable, P(3));
        cr_assert_eq(m.time[3], 65535);
        sent_ns = rig.now_ns;
    }
    cr_assert_eq(rig_n_events(&rig, DP_EV_XOFF, 0), 1, "a refresh is none");

    rig_pfc(&rig, 1, P(3), 0);
    rig_settle(&rig);
    cr_assert_eq(left(3), 10);
    rig_take_pfc(&rig, 0, &m);
    cr_assert_eq(m.enable, P(3));
    cr_assert_eq(m.time[3], 0);
    cr_assert_eq(rig_n_events(&rig, DP_EV_XON, 0), 1);
    cr_assert_eq(rig.next_ns, CLOCK_NEVER);
    cr_assert_eq(pfc->n.tx_pauses[3], 1);
    cr_assert_eq(pfc->n.tx_frames, 7);
    cr_assert_eq(pfc->asserted, 0);
}

Test(dp_pfc, events_carry_the_numbers)
{
    rig_pfc(&rig, 1, P(3), 65535);
    offer(3, 10);
    rig_settle(&rig);
    for (uint32_t i = 0; i < rig.n_events; i++) {
        const struct dp_event *ev = &rig.events[i];

        if (ev->type != DP_EV_XOFF)
            continue;
        cr_assert_eq(ev->index, 3);
        cr_assert_eq(ev->held_bytes, 10000);
        cr_assert_eq(ev->limit_bytes, 10000);
        cr_assert_eq(ev->now_ns, rig.now_ns);
        return;
    }
    cr_assert_fail("no XOFF event");
}

Test(dp_pfc, what_changes_in_a_turn_shares_a_frame)
{
    struct macctl m;

    rig_pfc(&rig, 1, P(3) | P(4), 65535);
    offer(3, 11);
    offer(4, 11);
    rig_turn(&rig);
    rig_take_pfc(&rig, 0, &m);
    cr_assert_eq(m.enable, P(3) | P(4));
    cr_assert_eq(m.time[3], 65535);
    cr_assert_eq(m.time[4], 65535);
    cr_assert_eq(rig_drain(&rig, 0), 0);
}

Test(dp_pfc, congestion_on_3_never_pauses_4)
{
    rig_pfc(&rig, 1, P(3), 65535);
    offer(3, 50);
    rig_settle(&rig);
    for (int i = 0; i < 10; i++) { /* less at a time than its own limit */
        offer(4, 5);
        rig_settle(&rig);
    }
    cr_assert_eq(left(4), 50);
    cr_assert_eq(dp_port_pfc(rig.state[0])->n.tx_pauses[4], 0);
    cr_assert_eq(dp_port_pfc(rig.state[0])->asserted, P(3));
    cr_assert_eq(rig_n(&rig, 1)->q_frames[3], 50);
}

Test(dp_pfc, a_lossy_group_never_pauses_anyone)
{
    rig.conf[0].pg[0].limit_bytes = 5000;
    rig.conf[1].pfc.honoured |= P(0);
    rig.conf[0].pfc.enabled = 0xff; /* even where PFC is enabled */
    rig_apply(&rig);
    rig_pfc(&rig, 1, P(0), 65535);
    offer(0, 20);
    rig_settle(&rig);
    cr_assert_gt(rig_n(&rig, 0)->drops[DP_DROP_INGRESS_LIMIT], 0);
    cr_assert_eq(rig_n(&rig, 0)->drops[DP_DROP_INGRESS_LIMIT],
                 rig_n(&rig, 0)->pg_drops[0]);
    cr_assert_eq(dp_port_pfc(rig.state[0])->n.tx_frames, 0);
    cr_assert_eq(rig_n_events(&rig, DP_EV_VIOLATION, 0), 0);
}

Test(dp_pfc, goes_ahead_of_every_queue_and_is_not_held_by_pause_or_rate)
{
    struct macctl m;

    rig.conf[0].rate_bps = 8000; /* a frame of 1000 octets a second */
    rig.conf[0].pfc.honoured = 0xff;
    rig_apply(&rig);
    for (uint32_t i = 0; i < 50; i++)
        rig_send(&rig, 1, HOST(0), HOST(1), 0, 2000, i);
    rig_settle(&rig);
    rig_drain(&rig, 0);
    cr_assert_gt(rig_n(&rig, 0)->held, 0, "the port is out of credit");
    rig_pfc(&rig, 0, 0xff, 65535);
    rig_pfc(&rig, 1, P(3), 65535);
    offer(3, 10);
    rig_turn(&rig);
    rig_take_pfc(&rig, 0, &m);
    cr_assert_eq(m.enable, P(3));
    cr_assert_eq(rig_n(&rig, 0)->q_tx_frames[3], 0, "counted as data");
}

Test(dp_pfc, stays_due_while_refused_and_no_data_overtakes_it)
{
    struct macctl m;
    uint16_t slot;
    uint64_t n_turns;

    netdev_mem_set_tx_limit(rig.nd[0], 0);
    rig_pfc(&rig, 1, P(3), 65535);
    offer(3, 10);
    for (uint32_t i = 0; i < 5; i++)
        rig_send(&rig, 1, HOST(0), HOST(1), NO_TAG, 64, i);
    rig_settle(&rig);
    cr_assert_eq(dp_blocked_ports(rig.dp, &slot, 1), 1);
    cr_assert_eq(slot, 0);
    cr_assert_eq(dp_port_pfc(rig.state[0])->asserted, 0);
    cr_assert_eq(rig_n(&rig, 0)->held, 5);
    n_turns = rig.n_turns;
    rig_run(&rig, 20 * NS_PER_MS);
    cr_assert_lt(rig.n_turns - n_turns, 40, "a busy loop");
    netdev_mem_set_tx_limit(rig.nd[0], UINT32_MAX);
    rig_run(&rig, 20 * NS_PER_MS);
    rig_take_pfc(&rig, 0, &m);
    cr_assert_eq(m.time[3], 65535);
    cr_assert_geq(rig_drain(&rig, 0), 5);
    cr_assert_eq(dp_blocked_ports(rig.dp, &slot, 1), 0);
}

Test(dp_pfc, a_port_that_is_down_does_not_keep_us_awake)
{
    uint64_t n_turns;

    rig_pfc(&rig, 1, P(3), 65535);
    offer(3, 10);
    rig_turn(&rig);
    cr_assert_eq(dp_port_pfc(rig.state[0])->asserted, P(3));
    netdev_mem_set_down(rig.nd[0], true);
    n_turns = rig.n_turns;
    for (int i = 0; i < 20; i++) {
        rig_pfc(&rig, 1, P(3), 65535);
        rig_run(&rig, 20 * NS_PER_MS);
    }
    cr_assert_lt(rig.n_turns - n_turns, 120, "%lu turns in 400 ms",
                 (unsigned long) (rig.n_turns - n_turns));
    cr_assert_eq(dp_blocked_ports(rig.dp, &(uint16_t){0}, 1), 0);
}

Test(dp_pfc, taking_it_off_a_priority_lets_the_peer_go)
{
    struct macctl m;

    rig_pfc(&rig, 1, P(3), 65535);
    offer(3, 10);
    rig_turn(&rig);
    rig_take_pfc(&rig, 0, &m);
    rig.conf[0].pfc.enabled = P(4);
    rig_apply(&rig);
    rig_take_pfc(&rig, 0, &m);
    cr_assert_eq(m.enable, P(3));
    cr_assert_eq(m.time[3], 0);
    cr_assert_eq(rig_drain(&rig, 0), 0);
}

Test(dp_pfc, releases_all_at_the_end)
{
    struct macctl m;

    rig_pfc(&rig, 1, P(3) | P(4), 65535);
    offer(3, 10);
    offer(4, 10);
    rig_turn(&rig);
    rig_take_pfc(&rig, 0, &m);
    netdev_mem_set_tx_limit(rig.nd[0], 0);
    cr_assert_not(dp_release_pauses(rig.dp, rig.now_ns));
    netdev_mem_set_tx_limit(rig.nd[0], UINT32_MAX);
    cr_assert(dp_release_pauses(rig.dp, rig.now_ns));
    rig_take_pfc(&rig, 0, &m);
    cr_assert_eq(m.enable, P(3) | P(4));
    cr_assert_eq(m.time[3], 0);
    cr_assert_eq(m.time[4], 0);
    cr_assert(dp_release_pauses(rig.dp, rig.now_ns));
    cr_assert_eq(rig_drain(&rig, 0), 0, "said twice");
}

Test(dp_pfc, pause_frames_of_802_3x_in_both_directions)
{
    struct macctl m;
    uint8_t f[MACCTL_LEN];

    for (uint32_t i = 0; i < 2; i++) {
        rig.conf[i].pfc.enabled = 0;
        rig.conf[i].pfc.honoured = 0;
        rig.conf[i].pfc.pause_rx = true;
        rig.conf[i].pfc.pause_tx = true;
    }
    rig_apply(&rig);
    macctl_encode_pause(f, rig.conf[2].mac, 65535);
    cr_assert(netdev_mem_inject(rig.nd[1], f, sizeof(f)));
    offer(3, 10);
    offer(0, 3);
    rig_settle(&rig);
    cr_assert_eq(rig_n(&rig, 1)->held, 13, "PAUSE stops every queue");
    cr_assert_eq(rig_take(&rig, 0, frame), MACCTL_LEN);
    cr_assert_eq(macctl_decode(frame, MACCTL_LEN, &m), MACCTL_PAUSE);
    cr_assert_eq(m.time[0], 65535);
    macctl_encode_pause(f, rig.conf[2].mac, 0);
    cr_assert(netdev_mem_inject(rig.nd[1], f, sizeof(f)));
    rig_settle(&rig);
    cr_assert_eq(rig_n(&rig, 1)->held, 0);
    cr_assert_eq(rig_take(&rig, 0, frame), MACCTL_LEN);
    cr_assert_eq(macctl_decode(frame, MACCTL_LEN, &m), MACCTL_PAUSE);
    cr_assert_eq(m.time[0], 0);
    cr_assert_eq(rig.next_ns, CLOCK_NEVER);
}
