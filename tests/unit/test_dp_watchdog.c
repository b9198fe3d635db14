/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/dp: the PFC watchdog, the mirror guard, drills and the flood option
 * (pfc-semantics section 9), and what other switches got wrong about storms.
 * The names of those tests are the sentences.
 */
#include "tests/unit/dp_rig.h"

#include <pthread.h>

#define P(n) (1u << (n))
#define MS   NS_PER_MS
/* A storm repeats its XOFF so often; a pause at the rig's 1 Gb/s lasts 33 ms.
 */
#define STEP (10 * MS)

static struct rig rig;
static uint8_t frame[2048];

/* Port 0 sends to port 1, lossless on 3 and 4; port 1 is watched. */
static void
init(void)
{
    rig_init(&rig, 3);
    rig_lossless(&rig, 0, P(3) | P(4), 10000, 100000);
    rig_lossless(&rig, 1, P(3) | P(4), 10000, 100000);
    rig.conf[1].dog = (struct watchdog_conf){
        .detection_ns = 200 * MS,
        .restoration_ns = 200 * MS,
        .poll_ns = 100 * MS,
        .action = WATCHDOG_DROP,
        .prios = P(3) | P(4),
    };
    rig_apply(&rig);
    rig_learn(&rig, NO_TAG);
}

static void
uninit(void)
{
    rig_uninit(&rig);
}

TestSuite(dp_watchdog, .init = init, .fini = uninit);

static void
offer(int prio, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        rig_send(&rig, 0, HOST(1), HOST(0), prio << 13, 1000, i);
}

/* The other way: what arrives on the stormed port. */
static void
answer(int prio, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        rig_send(&rig, 1, HOST(0), HOST(1), prio << 13, 1000, i);
}

/* Takes what left the port with that PCP, MAC control aside. */
static uint32_t
left(uint32_t port, int prio)
{
    uint32_t len, n = 0;
    uint16_t tci;

    while ((len = rig_take(&rig, port, frame)))
        n += eth_outer_tag(frame, len, &tci) && tci >> 13 == prio;
    return n;
}

/* The peer of port 1 pauses these priorities for so long. */
static void
storm(uint8_t prios, uint64_t ns)
{
    for (uint64_t t = 0; t < ns; t += STEP) {
        rig_pfc(&rig, 1, prios, 65535);
        rig_run(&rig, STEP);
    }
}

static struct dp_storm
state(int prio)
{
    struct dp_storm s;

    dp_storm_get(rig.state[1], prio, &s);
    return s;
}

Test(dp_watchdog, section_9_a_storm_shorter_than_detection_is_none)
{
    offer(3, 5);
    storm(P(3), 150 * MS);
    rig_run(&rig, 100 * MS);
    cr_assert_eq(state(3).n_detected, 0);
    cr_assert_eq(left(1, 3), 5, "nothing is lost");
}

Test(dp_watchdog, section_9_a_storm_on_an_empty_queue_is_detected)
{
    storm(P(3), 300 * MS);
    cr_assert(state(3).is_stormed);
    cr_assert_eq(state(3).n_detected, 1);
    cr_assert_eq(rig_n_events(&rig, DP_EV_STORM, 1), 1);
    cr_assert_not(state(4).is_stormed);
}

Test(dp_watchdog, section_9_drop_discards_what_is_queued_and_what_comes)
{
    offer(3, 5);
    storm(P(3), 300 * MS);
    cr_assert_eq(rig_n(&rig, 1)->drops[DP_DROP_WATCHDOG_TX], 5);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[3], 0);
    offer(3, 40);
    answer(3, 7);
    rig_settle(&rig);
    cr_assert_eq(rig_n(&rig, 1)->drops[DP_DROP_WATCHDOG_TX], 45);
    cr_assert_eq(rig_n(&rig, 1)->drops[DP_DROP_WATCHDOG_RX], 7);
    cr_assert_eq(rig_n(&rig, 1)->pg_drops[3], 0, "not a limit's drop");
    cr_assert_eq(left(1, 3), 0);
    cr_assert_eq(left(0, 3), 0);
    cr_assert_eq(state(3).total.tx_drop, 45);
    cr_assert_eq(state(3).total.rx_drop, 7);
    cr_assert_eq(state(3).total.tx_ok, 0);
    cr_assert_eq(rig_n(&rig, 0)->violations[3], 0, "it was asked for");
}

Test(dp_watchdog, section_9_a_storm_on_3_leaves_4_lossless)
{
    storm(P(3), 300 * MS);
    for (int i = 0; i < 20; i++) {
        offer(4, 5);
        answer(4, 5);
        offer(3, 5);
        rig_settle(&rig);
    }
    cr_assert_eq(left(1, 4), 100);
    cr_assert_eq(left(0, 4), 100);
    cr_assert_eq(state(4).total.tx_drop, 0);
    /* Where they share a queue and a group, too. */
    rig.conf[1].prio_to_queue[4] = 3;
    rig.conf[1].prio_to_pg[4] = 3;
    rig.conf[1].pg_prios[3] = P(3) | P(4);
    rig.conf[1].pg_prios[4] = 0;
    rig_apply(&rig);
    offer(4, 5);
    answer(4, 5);
    offer(3, 5);
    rig_settle(&rig);
    cr_assert_eq(left(1, 4), 5);
    cr_assert_eq(left(0, 4), 5);
}

Test(dp_watchdog, section_9_the_drop_action_sends_no_pfc_upstream)
{
    const struct pfc *up = dp_port_pfc(rig.state[0]);
    uint64_t n;

    offer(3, 20); /* enough for XOFF */
    storm(P(3), 300 * MS);
    cr_assert_eq(up->asserted, 0, "what was paused is let go");
    n = up->n.tx_frames;
    for (int i = 0; i < 30; i++) {
        offer(3, 30);
        storm(P(3), STEP);
    }
    cr_assert_eq(up->n.tx_frames, n);
    cr_assert_eq(up->asserted, 0);
}

Test(dp_watchdog, section_9_forward_ignores_pfc_and_sends_everything)
{
    rig.conf[1].dog.action = WATCHDOG_FORWARD;
    rig_apply(&rig);
    offer(3, 5);
    storm(P(3), 300 * MS);
    cr_assert(state(3).is_stormed);
    cr_assert_eq(left(1, 3), 5);
    offer(3, 30);
    answer(3, 6);
    rig_settle(&rig);
    cr_assert_eq(left(1, 3), 30);
    cr_assert_eq(left(0, 3), 6);
    cr_assert_eq(state(3).total.tx_ok, 35);
    cr_assert_eq(state(3).total.rx_ok, 6);
    cr_assert_eq(state(3).total.tx_drop + state(3).total.rx_drop, 0);
    cr_assert_eq(dp_port_pfc(rig.state[1])->n.rx_not_enabled, 0);
}

Test(dp_watchdog, section_9_a_map_that_changes_in_a_storm_miscounts_nothing)
{
    rig.conf[1].dog.action = WATCHDOG_FORWARD;
    rig_apply(&rig);
    storm(P(3), 300 * MS);
    offer(3, 30);
    answer(3, 6);
    rig_settle(&rig);
    rig.conf[1].prio_to_queue[3] = 5;
    rig.conf[1].prio_to_pg[3] = 2;
    rig.conf[1].pg_prios[3] = 0;
    rig.conf[1].pg_prios[2] = P(2) | P(3);
    rig.conf[1].queue[5].lossless = true;
    rig_apply(&rig);
    cr_assert(state(3).is_stormed);
    cr_assert_eq(state(3).total.tx_ok, 30, "%d", (int) state(3).total.tx_ok);
    cr_assert_eq(state(3).total.rx_ok, 6, "%d", (int) state(3).total.rx_ok);
    offer(3, 5);
    answer(3, 4);
    rig_settle(&rig);
    for (int ended = 0; ended < 2; ended++) {
        cr_assert_eq(state(3).total.tx_ok, 35);
        cr_assert_eq(state(3).last.tx_ok, 35);
        cr_assert_eq(state(3).total.rx_ok, 10);
        cr_assert_eq(state(3).last.rx_ok, 10);
        rig_run(&rig, 500 * MS);
        cr_assert_not(state(3).is_stormed);
    }
}

static void *
watch_counts(void *stop)
{
    uint64_t most = 0;

    while (!__atomic_load_n((bool *) stop, __ATOMIC_RELAXED)) {
        struct dp_storm s = state(3);

        if (s.total.tx_ok < most)
            return "went back";
        most = s.total.tx_ok;
    }
    return NULL;
}

/* Another thread reads while storms come and go: what passed in one must not
 * show twice when it ends, and then no more. */
Test(dp_watchdog, section_9_counts_of_storms_never_go_back)
{
    bool stop = false;
    void *wrong;
    pthread_t id;

    rig.conf[1].dog.action = WATCHDOG_FORWARD;
    rig_apply(&rig);
    pthread_create(&id, NULL, watch_counts, &stop);
    for (int i = 0; i < 300; i++) {
        storm(P(3), 300 * MS);
        offer(3, 30);
        rig_settle(&rig);
        rig_run(&rig, 500 * MS);
        left(1, 3);
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    pthread_join(id, &wrong);
    cr_assert_null(wrong, "%s", (const char *) wrong);
    cr_assert_eq(state(3).n_restored, 300);
    cr_assert_eq(state(3).total.tx_ok, 9000);
}

Test(dp_watchdog, section_9_alert_only_reports)
{
    rig.conf[1].dog.action = WATCHDOG_ALERT;
    rig_apply(&rig);
    offer(3, 5);
    storm(P(3), 300 * MS);
    cr_assert(state(3).is_stormed);
    cr_assert_eq(rig_n_events(&rig, DP_EV_STORM, 1), 1);
    cr_assert_eq(left(1, 3), 0, "still paused");
    rig_run(&rig, 500 * MS);
    cr_assert_eq(left(1, 3), 5, "nothing is lost");
    cr_assert_not(state(3).is_stormed);
    cr_assert_eq(rig_n_events(&rig, DP_EV_RESTORED, 1), 1);
}

Test(dp_watchdog, section_9_xon_frames_do_not_keep_a_queue_stormed)
{
    storm(P(3), 300 * MS);
    cr_assert(state(3).is_stormed);
    for (int i = 0; i < 40; i++) {
        rig_pfc(&rig, 1, P(3), 0);
        rig_run(&rig, STEP);
    }
    cr_assert_not(state(3).is_stormed);
    cr_assert_eq(state(3).n_restored, 1);
}

Test(dp_watchdog, section_9_xoffs_keep_it_stormed)
{
    storm(P(3), 300 * MS);
    for (int i = 0; i < 20; i++) {
        rig_pfc(&rig, 1, P(3), 1);
        rig_run(&rig, 190 * MS);
        cr_assert(state(3).is_stormed);
    }
    cr_assert_eq(state(3).n_restored, 0);
}

Test(dp_watchdog,
     section_9_all_eight_stormed_for_30_s_count_one_detection_each)
{
    rig_lossless(&rig, 1, 0xff, 10000, 100000);
    rig.conf[1].dog.prios = 0xff;
    rig_apply(&rig);
    storm(0xff, 30 * NS_PER_S);
    for (int p = 0; p < N_PRIO; p++) {
        cr_assert_eq(state(p).n_detected, 1);
        cr_assert(state(p).is_stormed);
    }
    cr_assert_eq(rig_n_events(&rig, DP_EV_STORM, 1), 8);
}

Test(dp_watchdog,
     section_9_after_a_restore_nothing_is_lost_while_dropping_nothing_passes)
{
    uint32_t n = 0;

    storm(P(3), 300 * MS);
    for (int i = 0; i < 10; i++) {
        offer(3, 5);
        storm(P(3), STEP);
    }
    cr_assert_eq(left(1, 3), 0);
    cr_assert_eq(state(3).total.tx_drop, 50);
    rig_run(&rig, 400 * MS);
    cr_assert_not(state(3).is_stormed);
    for (int i = 0; i < 20; i++) {
        offer(3, 8);
        answer(3, 8);
        rig_settle(&rig);
        n += left(1, 3);
    }
    cr_assert_eq(n, 160);
    cr_assert_eq(left(0, 3), 160);
    cr_assert_eq(state(3).total.tx_drop, 50);
    cr_assert_eq(state(3).last.tx_drop, 50);
    /* And its PFC is obeyed again. */
    rig_pfc(&rig, 1, P(3), 65535);
    offer(3, 5);
    rig_settle(&rig);
    cr_assert_eq(left(1, 3), 0);
}

Test(dp_watchdog, section_9_stop_in_mid_storm_then_start_carries_nothing_over)
{
    uint8_t prios = rig.conf[1].dog.prios;

    storm(P(3), 300 * MS);
    cr_assert(state(3).is_stormed);
    rig.conf[1].dog.prios = 0;
    rig_apply(&rig);
    cr_assert_not(state(3).is_stormed);
    cr_assert_eq(rig_n_events(&rig, DP_EV_RESTORED, 1), 1);
    offer(3, 5);
    rig_settle(&rig);
    cr_assert_eq(left(1, 3), 5, "obeyed from the next frame on");
    storm(P(3), 300 * MS);
    cr_assert_eq(state(3).n_detected, 1, "nobody looks");
    rig.conf[1].dog.prios = prios;
    rig_apply(&rig);
    storm(P(3), 150 * MS);
    cr_assert_eq(state(3).n_detected, 1, "the time begins with the start");
    storm(P(3), 150 * MS);
    cr_assert_eq(state(3).n_detected, 2);
}

Test(dp_watchdog,
     section_9_sent_is_delivered_and_watchdog_tx_drops_and_rx_drops)
{
    uint32_t sent = 0, got = 0;
    struct dp_audit a;

    for (int i = 0; i < 120; i++) {
        offer(3, 3);
        answer(3, 2);
        sent += 5;
        if (i > 20 && i < 70)
            storm(P(3), STEP);
        else
            rig_run(&rig, STEP);
        got += left(0, 3) + left(1, 3);
    }
    rig_run(&rig, 500 * MS);
    got += left(0, 3) + left(1, 3);
    cr_assert_eq(state(3).n_detected, 1);
    cr_assert_gt(state(3).total.tx_drop, 0);
    cr_assert_gt(state(3).total.rx_drop, 0);
    cr_assert_eq(sent, got + state(3).total.tx_drop + state(3).total.rx_drop);
    cr_assert(dp_audit(rig.dp, &a));
    cr_assert_eq(a.drops, state(3).total.tx_drop + state(3).total.rx_drop);
}

Test(dp_watchdog, section_9_a_change_of_action_holds_at_once)
{
    storm(P(3), 300 * MS);
    rig.conf[1].dog.action = WATCHDOG_FORWARD;
    rig_apply(&rig);
    offer(3, 5);
    rig_settle(&rig);
    cr_assert_eq(left(1, 3), 5);
    rig.conf[1].dog.action = WATCHDOG_DROP;
    rig_apply(&rig);
    offer(3, 5);
    rig_settle(&rig);
    cr_assert_eq(left(1, 3), 0);
    cr_assert_eq(state(3).n_detected, 1);
}

Test(dp_watchdog, section_9_floods_are_dropped_for_the_stormed_port_only)
{
    storm(P(3), 300 * MS);
    rig_drain(&rig, 2);
    for (uint32_t i = 0; i < 4; i++)
        rig_send(&rig, 0, BROADCAST, HOST(0), 3 << 13, 1000, i);
    rig_settle(&rig);
    cr_assert_eq(left(1, 3), 0);
    cr_assert_eq(left(2, 3), 4);
    cr_assert_eq(state(3).total.tx_drop, 4);
}

Test(dp_watchdog, an_idle_watchdog_does_not_keep_us_awake)
{
    uint64_t n;

    rig_settle(&rig);
    n = rig.n_turns;
    rig_run(&rig, 10 * NS_PER_S);
    cr_assert_leq(rig.n_turns - n, 2);
    cr_assert_eq(rig.next_ns, CLOCK_NEVER);
}

Test(dp_watchdog, frames_too_long_are_still_told_apart_in_a_storm)
{
    storm(P(3), 300 * MS);
    rig.conf[1].max_frame_bytes = 500;
    rig_apply(&rig);
    offer(4, 2);
    offer(3, 2);
    rig_settle(&rig);
    cr_assert_eq(rig_n(&rig, 1)->drops[DP_DROP_OVERSIZE], 2);
    cr_assert_eq(rig_n(&rig, 1)->drops[DP_DROP_WATCHDOG_TX], 2);
}

/* --- the guard ------------------------------------------------------------
 */

/* Port 1 is paused and stays so; port 0 pauses its peer for it. */
static void
congest(uint64_t ns)
{
    rig.conf[1].dog.prios = 0;
    rig_apply(&rig);
    offer(3, 20);
    storm(P(3), ns);
}

Test(dp_watchdog, section_9_the_guard_reports_our_own_endless_pausing)
{
    rig.conf[0].guard.time_ns = 500 * MS;
    congest(480 * MS);
    cr_assert_eq(rig_n_events(&rig, DP_EV_STUCK, 0), 0);
    storm(P(3), 2000 * MS);
    cr_assert_eq(rig_n_events(&rig, DP_EV_STUCK, 0), 1, "once");
    cr_assert_eq(dp_port_watch(rig.state[0])->guard.stuck, P(3));
    cr_assert_eq(dp_port_pfc(rig.state[0])->asserted, P(3), "only reported");
    rig_pfc(&rig, 1, P(3), 0);
    rig_settle(&rig);
    cr_assert_eq(dp_port_watch(rig.state[0])->guard.stuck, 0);
}

Test(dp_watchdog, section_9_the_guard_ends_our_own_endless_pausing)
{
    const struct pfc *up = dp_port_pfc(rig.state[0]);
    struct macctl m;

    rig.conf[0].guard = (struct guard_conf){500 * MS, true};
    congest(490 * MS);
    cr_assert_eq(up->asserted, P(3));
    rig_drain(&rig, 0);
    storm(P(3), 20 * MS);
    cr_assert_eq(up->asserted, 0);
    rig_take_pfc(&rig, 0, &m);
    cr_assert_eq(m.enable, P(3));
    cr_assert_eq(m.time[3], 0, "an XON");
    storm(P(3), 1000 * MS);
    cr_assert_eq(up->asserted, 0, "and no other XOFF while it is stuck");
    rig_pfc(&rig, 1, P(3), 0);
    rig_settle(&rig);
    rig_pfc(&rig, 1, P(3), 65535);
    offer(3, 20);
    rig_settle(&rig);
    cr_assert_eq(up->asserted, P(3), "a new one is another matter");
}

/* --- drills ---------------------------------------------------------------
 */

Test(dp_watchdog, a_drill_injects_a_storm_for_its_time_and_ends_with_xon)
{
    struct dp_drills d;
    struct macctl m;
    uint32_t n = 0;

    cr_assert(dp_drill_storm(rig.dp, 2, P(6), 100 * MS));
    rig_settle(&rig);
    rig_take_pfc(&rig, 2, &m);
    cr_assert_eq(m.enable, P(6), "not enabled there, and sent all the same");
    cr_assert_eq(m.time[6], 65535);
    rig_run(&rig, 50 * MS);
    rig_settle(&rig);
    cr_assert(dp_drill_get(rig.dp, 2, &d));
    cr_assert_eq(d.storm_prios, P(6));
    cr_assert_eq(d.storm_left_ns[6], 50 * MS);
    rig_run(&rig, 50 * MS - 1);
    for (uint32_t len; (len = rig_take(&rig, 2, frame)); n++) {
        macctl_decode(frame, len, &m);
        cr_assert_eq(m.time[6], 65535);
    }
    cr_assert_geq(n, 3, "is repeated");
    rig_run(&rig, 1);
    rig_take_pfc(&rig, 2, &m);
    cr_assert_eq(m.time[6], 0);
    rig_run(&rig, NS_PER_S);
    cr_assert_eq(rig_drain(&rig, 2), 0);
}

Test(dp_watchdog, a_drill_is_seen_as_a_storm_by_the_other_end)
{
    struct dp_storm s;
    uint32_t len;

    rig.conf[2].dog = rig.conf[1].dog;
    rig_lossless(&rig, 2, P(3), 10000, 100000);
    rig_apply(&rig);
    /* What port 0 sends goes to port 2, as if a cable were there. */
    cr_assert(dp_drill_storm(rig.dp, 0, P(3), 400 * MS));
    for (int i = 0; i < 300; i++) {
        rig_run(&rig, 2 * MS);
        while ((len = rig_take(&rig, 0, frame)))
            netdev_mem_inject(rig.nd[2], frame, len);
    }
    dp_storm_get(rig.state[2], 3, &s);
    cr_assert_eq(s.n_detected, 1);
    rig_run(&rig, 500 * MS);
    dp_storm_get(rig.state[2], 3, &s);
    cr_assert_eq(s.n_restored, 1);
}

Test(dp_watchdog, a_drill_holds_a_queue_and_lets_it_go)
{
    cr_assert(dp_drill_hold(rig.dp, 1, P(4), 100 * MS));
    offer(4, 5);
    offer(3, 5);
    rig_run(&rig, 99 * MS);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[4], 5);
    cr_assert_eq(left(1, 3), 5);
    rig_run(&rig, 1 * MS);
    cr_assert_eq(left(1, 4), 5);
    cr_assert_eq(state(4).n_detected, 0, "no peer did it");
    cr_assert(dp_drill_hold(rig.dp, 1, P(4), 100 * MS));
    offer(4, 5);
    rig_settle(&rig);
    cr_assert(dp_drill_stop(rig.dp, 1));
    rig_settle(&rig);
    cr_assert_eq(left(1, 4), 5);
}

Test(dp_watchdog, a_drill_ends_with_its_port_and_with_the_switch)
{
    struct macctl m;

    dp_drill_storm(rig.dp, 2, P(1), 1000 * MS);
    dp_drill_storm(rig.dp, 1, P(1), 1000 * MS);
    rig_settle(&rig);
    rig_drain(&rig, 1);
    rig_drain(&rig, 2);
    rig.in[2] = false;
    rig_apply(&rig);
    rig_take_pfc(&rig, 2, &m);
    cr_assert_eq(m.enable, P(1));
    cr_assert_eq(m.time[1], 0);
    cr_assert_not(dp_drill_storm(rig.dp, 2, P(1), 1000 * MS));
    cr_assert(dp_release_pauses(rig.dp, rig.now_ns));
    rig_take_pfc(&rig, 1, &m);
    cr_assert_eq(m.time[1], 0);
}

/* --- deadlock -------------------------------------------------------------
 */

Test(dp_watchdog, lossless_unknown_unicast_is_dropped_when_asked_to)
{
    uint64_t unknown = UINT64_C(0x020000009999);

    rig.base.drop_unknown = true;
    rig_apply(&rig);
    rig_send(&rig, 0, unknown, HOST(0), 3 << 13, 64, 1);
    rig_send(&rig, 0, unknown, HOST(0), 0 << 13, 64, 2);
    rig_send(&rig, 0, BROADCAST, HOST(0), 3 << 13, 64, 3);
    rig_settle(&rig);
    cr_assert_eq(rig_n(&rig, 0)->drops[DP_DROP_UNKNOWN_UNICAST], 1);
    cr_assert_eq(left(1, 0), 1, "lossy ones are flooded, and lossless groups");
    cr_assert_eq(rig_drain(&rig, 2), 2);
    cr_assert_eq(rig_n(&rig, 0)->violations[3], 0);
}

Test(dp_watchdog, who_waits_for_whom)
{
    struct dp_wait w[4];

    rig.conf[1].dog.prios = 0;
    rig_apply(&rig);
    cr_assert_eq(dp_waits(rig.dp, w, 4), 0);
    rig_pfc(&rig, 1, P(3), 65535);
    offer(3, 11);
    for (uint32_t i = 0; i < 3; i++)
        rig_send(&rig, 2, HOST(1), HOST(2), 3 << 13, 500, i);
    rig_settle(&rig);
    cr_assert_eq(dp_waits(rig.dp, w, 4), 2);
    cr_assert_eq(w[0].in_port, 0);
    cr_assert_eq(w[0].pg, 3);
    cr_assert(w[0].xoff);
    cr_assert_eq(w[0].out_port, 1);
    cr_assert_eq(w[0].queue, 3);
    cr_assert_eq(w[0].paused_for, P(3));
    cr_assert_eq(w[0].frames, 11);
    cr_assert_eq(w[0].bytes, 11000);
    cr_assert_eq(w[1].in_port, 2);
    cr_assert_eq(w[1].frames, 3);
    cr_assert_not(w[1].xoff);
    cr_assert_eq(dp_waits(rig.dp, w, 1), 2, "says how many there are");
}

static const struct dp_event *
find_event(enum dp_event_type type, uint32_t port)
{
    for (uint32_t i = rig.n_events; i-- > 0;)
        if (rig.events[i].type == type && rig.events[i].port == port)
            return &rig.events[i];
    cr_assert_fail("no such event");
    return NULL;
}

Test(dp_watchdog, section_10_xoff_and_xon_say_why_and_how_long)
{
    const struct dp_event *ev;
    uint64_t began_ns;

    rig_pfc(&rig, 1, P(3), 65535);
    offer(3, 15);
    rig_settle(&rig);
    began_ns = rig.now_ns;
    ev = find_event(DP_EV_XOFF, 0);
    cr_assert_eq(ev->cause.port, 1);
    cr_assert_eq(ev->cause.queue, 3);
    cr_assert_eq(ev->cause.bytes, 15000, "what the batch brought is in");
    cr_assert_eq(ev->held_bytes, 10000, "as it tripped");
    rig_run(&rig, 5 * MS);
    rig_pfc(&rig, 1, P(3), 0);
    rig_settle(&rig);
    ev = find_event(DP_EV_XON, 0);
    cr_assert_eq(ev->lasted_ns, rig.now_ns - began_ns);
    ev = find_event(DP_EV_RX_RESUME, 1);
    cr_assert_eq(ev->lasted_ns, rig.now_ns - began_ns);
}
