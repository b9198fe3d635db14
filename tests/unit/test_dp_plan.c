/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/dp, changes of plan under traffic: nothing that is queued is lost,
 * nothing that is charged is forgotten, and no peer is left paused.
 */
#include "tests/unit/dp_rig.h"

#define P(n) (1u << (n))

static struct rig rig;

static void
init(void)
{
    rig_init(&rig, 3);
    rig_lossless(&rig, 0, P(3), 10000, 100000);
    rig.conf[1].pfc.honoured = P(3);
    rig_apply(&rig);
    rig_learn(&rig, NO_TAG);
}

static void
uninit(void)
{
    rig_uninit(&rig);
}

TestSuite(dp_plan, .init = init, .fini = uninit);

/* n frames of priority 3 from port 0 that wait in a queue of port 1, which is
 * paused. */
static void
stuck_in(int queue, uint32_t n)
{
    rig_pfc(&rig, 1, P(3), 65535);
    for (uint32_t i = 0; i < n; i++)
        rig_send(&rig, 0, HOST(1), HOST(0), 3 << 13, 1000, i);
    rig_settle(&rig);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[queue], n);
}

static void
stuck(uint32_t n)
{
    stuck_in(3, n);
}

static void
resume(void)
{
    rig_pfc(&rig, 1, P(3), 0);
    rig_settle(&rig);
}

Test(dp_plan, acknowledges_the_generation)
{
    cr_assert_eq(dp_generation(rig.dp), rig.generation);
    rig_apply(&rig);
    cr_assert_eq(dp_generation(rig.dp), rig.generation);
}

Test(dp_plan, passes_over_a_plan_that_was_not_adopted)
{
    struct dp_plan *old = rig.plan, *skipped;

    skipped = calloc(1, sizeof(*skipped)); /* would take every port out */
    cr_assert_not_null(skipped);
    skipped->generation = ++rig.generation;
    dp_publish(rig.dp, skipped);
    rig.plan = old;
    rig_apply(&rig);
    dp_plan_destroy(skipped);
    rig_send(&rig, 0, BROADCAST, HOST(0), NO_TAG, 64, 1);
    rig_settle(&rig);
    cr_assert_eq(rig_drain(&rig, 1), 1);
}

Test(dp_plan, a_lower_limit_loses_nothing_and_pauses)
{
    struct macctl m;

    stuck(5);
    cr_assert_eq(rig_drain(&rig, 0), 0);
    rig.conf[0].pg[3].limit_bytes = 3000;
    rig.conf[0].pg[3].xon_bytes = 1000;
    rig_apply(&rig);
    rig_take_pfc(&rig, 0, &m);
    cr_assert_eq(m.time[3], 65535);
    cr_assert_eq(buf_group_held(dp_port_group(rig.state[0], 3)), 5000);
    resume();
    cr_assert_eq(rig_drain(&rig, 1), 5);
    rig_take_pfc(&rig, 0, &m);
    cr_assert_eq(m.time[3], 0);
}

Test(dp_plan, a_higher_limit_lets_go)
{
    struct macctl m;

    stuck(12);
    rig_take_pfc(&rig, 0, &m);
    rig.conf[0].pg[3].limit_bytes = 100000;
    rig.conf[0].pg[3].xon_bytes = 50000;
    rig_apply(&rig);
    rig_settle(&rig);
    /* Two frames are in headroom, and stay charged there till they leave. */
    cr_assert_eq(dp_port_group(rig.state[0], 3)->headroom_used, 2000);
    resume();
    rig_take_pfc(&rig, 0, &m);
    cr_assert_eq(m.time[3], 0);
    cr_assert_eq(rig_drain(&rig, 1), 12);
}

Test(dp_plan, maps_may_change_while_frames_are_held)
{
    stuck(8);
    rig.conf[0].prio_to_pg[3] = 0;
    rig.conf[0].pg_prios[3] = 0;
    rig.conf[0].pg_prios[0] = P(0) | P(3);
    rig.conf[1].prio_to_queue[3] = 6;
    rig_apply(&rig);
    cr_assert_eq(dp_port_group(rig.state[0], 3)->n_held, 8);
    rig_send(&rig, 0, HOST(1), HOST(0), 3 << 13, 1000, 8);
    rig_settle(&rig);
    cr_assert_eq(dp_port_group(rig.state[0], 0)->n_held, 1);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[6], 1);
    /* The pause holds the old queue as long as it lasts: the peer is not
     * flooded with what it asked not to get. */
    cr_assert_eq(rig_drain(&rig, 1), 0);
    resume();
    cr_assert_eq(rig_drain(&rig, 1), 9);
    stuck_in(6, 2);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[3], 0);
}

Test(dp_plan, rates_and_weights_may_change_while_frames_are_held)
{
    stuck(30);
    for (int i = 0; i < 20; i++) {
        rig.conf[1].rate_bps = i % 3 ? 1000000u * (uint32_t) i : 0;
        rig.conf[1].queue[3].max_rate_bps = i % 4 ? 2000000 : 0;
        rig.conf[1].sched.strict = i % 2 ? 0xff : 0;
        rig_apply(&rig);
        if (i == 5)
            rig_pfc(&rig, 1, P(3), 0);
        rig_run(&rig, 100 * NS_PER_US);
    }
    rig_run(&rig, NS_PER_S);
    cr_assert_eq(rig_drain(&rig, 1), 30);
}

Test(dp_plan, a_port_that_goes_lets_its_peer_go)
{
    struct macctl m;

    stuck(10);
    rig_take_pfc(&rig, 0, &m);
    rig.in[0] = false;
    rig_apply(&rig);
    rig_take_pfc(&rig, 0, &m);
    cr_assert_eq(m.enable, P(3));
    cr_assert_eq(m.time[3], 0);
    cr_assert_eq(rig_n_events(&rig, DP_EV_XON, 0), 1);
    /* What it brought in is delivered all the same, and its charge is gone. */
    cr_assert_eq(dp_buf_pool(rig.dp)->shared_used, 0);
    resume();
    cr_assert_eq(rig_drain(&rig, 1), 10);
}

Test(dp_plan, a_port_that_cannot_send_is_waited_for)
{
    struct macctl m;
    struct dp_plan *old = rig.plan;

    stuck(10);
    rig_take_pfc(&rig, 0, &m);
    netdev_mem_set_tx_limit(rig.nd[0], 0);
    rig.in[0] = false;
    rig.plan = calloc(1, sizeof(*old));
    *rig.plan = rig.base;
    rig.plan->generation = ++rig.generation;
    dp_publish(rig.dp, rig.plan); /* takes every port out */
    rig_settle(&rig);
    cr_assert_lt(dp_generation(rig.dp), rig.generation);
    cr_assert_lt(rig.next_ns, rig.now_ns + NS_PER_MS);
    rig.now_ns = rig.next_ns;
    netdev_mem_set_tx_limit(rig.nd[0], UINT32_MAX);
    rig_settle(&rig);
    cr_assert_eq(dp_generation(rig.dp), rig.generation);
    rig_take_pfc(&rig, 0, &m);
    cr_assert_eq(m.time[3], 0);
    cr_assert_eq(rig_n(&rig, 1)->drops[DP_DROP_PORT_REMOVED], 10);
    cr_assert_eq(rig.next_ns, CLOCK_NEVER);
    dp_plan_destroy(old);
}

Test(dp_plan, a_port_that_never_sends_is_given_up)
{
    struct macctl m;
    uint64_t start_ns = rig.now_ns;

    stuck(10);
    rig_take_pfc(&rig, 0, &m);
    netdev_mem_set_tx_limit(rig.nd[0], 0);
    rig.in[0] = false;
    rig_apply(&rig);
    cr_assert_geq(rig.now_ns - start_ns, 10 * NS_PER_MS);
    cr_assert_leq(rig.now_ns - start_ns, 12 * NS_PER_MS);
}

Test(dp_plan, a_port_that_goes_drops_what_it_was_to_send)
{
    struct dp_audit audit;

    stuck(10);
    rig.in[1] = false;
    rig_apply(&rig);
    cr_assert_eq(rig_n(&rig, 1)->drops[DP_DROP_PORT_REMOVED], 10);
    cr_assert_eq(rig_n(&rig, 1)->held, 0);
    cr_assert_eq(dp_port_group(rig.state[0], 3)->n_held, 0);
    cr_assert(dp_audit(rig.dp, &audit));
    cr_assert_eq(audit.rx, 13, "what the port counted is not forgotten");
    cr_assert_eq(audit.drops, 10);
    rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 64, 1);
    rig_settle(&rig);
    cr_assert_eq(rig_drain(&rig, 2), 1, "its hosts are forgotten");
}

Test(dp_plan, a_slot_may_be_another_ports_at_once)
{
    struct dp_port *gone = rig.state[0];
    uint64_t rx = rig_n(&rig, 0)->rx_frames;

    stuck(10);
    rig.state[0] = dp_port_create();
    rig_apply(&rig);
    dp_port_destroy(gone);
    cr_assert_gt(rx, 0);
    cr_assert_eq(rig_n(&rig, 0)->rx_frames, 0);
    cr_assert_eq(dp_port_group(rig.state[0], 3)->n_held, 0);
    resume();
    cr_assert_eq(rig_drain(&rig, 1), 10);
    cr_assert_eq(dp_port_group(rig.state[0], 3)->n_held, 0);
    rig_send(&rig, 0, HOST(1), HOST(0), 3 << 13, 64, 1);
    rig_settle(&rig);
    cr_assert_eq(rig_drain(&rig, 1), 1);
}

Test(dp_plan, floods_of_a_port_that_goes_are_charged_to_no_one)
{
    rig.conf[2].pfc.honoured = P(3);
    rig_apply(&rig);
    rig_pfc(&rig, 1, P(3), 65535);
    rig_pfc(&rig, 2, P(3), 65535);
    for (uint32_t i = 0; i < 5; i++)
        rig_send(&rig, 0, BROADCAST, HOST(0), 3 << 13, 1000, i);
    rig_settle(&rig);
    rig.in[0] = false;
    rig_apply(&rig);
    cr_assert_eq(dp_buf_pool(rig.dp)->shared_used, 0);
    resume();
    rig_pfc(&rig, 2, P(3), 0);
    rig_settle(&rig);
    cr_assert_eq(rig_drain(&rig, 1), 5);
    cr_assert_eq(rig_drain(&rig, 2), 5);
    cr_assert_eq(pkt_pool_n_free(dp_pool(rig.dp)), 8192);
}

Test(dp_plan, an_interface_that_comes_back_finds_its_port)
{
    struct netdev_args args = {.name = "again", .pool = dp_pool(rig.dp)};
    struct netdev *old = rig.nd[0];
    struct macctl m;
    uint64_t rx;

    stuck(10);
    rx = rig_n(&rig, 0)->rx_frames;
    rig_take_pfc(&rig, 0, &m);
    netdev_mem_set_down(old, true);
    rig.absent[0] = true;
    rig_apply(&rig);
    rig_run(&rig, NS_PER_MS);
    cr_assert_eq(rig_n(&rig, 0)->rx_frames, rx);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[3], 10, "what it brought in stays");

    cr_assert_eq(netdev_open(&netdev_mem, &args, &rig.nd[0], NULL), 0);
    rig.absent[0] = false;
    rig_apply(&rig);
    netdev_close(old);
    rig_take_pfc(&rig, 0, &m);
    cr_assert_eq(m.time[3], 65535, "the new peer is told at once");
    resume();
    rig_take_pfc(&rig, 0, &m);
    cr_assert_eq(m.time[3], 0);
    cr_assert_eq(rig_drain(&rig, 1), 10);
    rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 64, 1);
    rig_settle(&rig);
    cr_assert_eq(rig_n(&rig, 0)->rx_frames, rx + 1);
}

Test(dp_plan, an_interface_that_goes_takes_its_queue_and_its_pauses)
{
    stuck(10);
    rig.absent[1] = true;
    rig_apply(&rig);
    cr_assert_eq(rig_n(&rig, 1)->drops[DP_DROP_PORT_DOWN], 10);
    cr_assert_eq(dp_port_pfc(rig.state[1])->paused, 0);
    cr_assert_eq(rig_n_events(&rig, DP_EV_RX_RESUME, 1), 1);
    cr_assert_eq(rig_n(&rig, 1)->violations[3], 0);
    cr_assert_eq(dp_port_group(rig.state[0], 3)->n_held, 0);
}

Test(dp_plan, a_change_of_vlan_forgets_who_lived_there)
{
    rig.conf[1].vlan_mode = DP_VLAN_ACCESS;
    rig.conf[1].tag = 7;
    rig_apply(&rig);
    rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 64, 1);
    rig_settle(&rig);
    cr_assert_eq(rig_drain(&rig, 1), 0);
    cr_assert_eq(rig_drain(&rig, 2), 1);
}

static void
note(struct dp *dp, void *arg)
{
    cr_assert_eq(dp, rig.dp);
    ++*(int *) arg;
}

Test(dp_plan, runs_calls_between_turns)
{
    struct dp_call calls[65];
    int n = 0;

    for (int i = 0; i < 64; i++) {
        calls[i] = (struct dp_call){.fn = note, .arg = &n};
        cr_assert(dp_post(rig.dp, &calls[i]));
    }
    calls[64] = (struct dp_call){.fn = note, .arg = &n};
    cr_assert_not(dp_post(rig.dp, &calls[64]), "the mailbox has no bound");
    cr_assert_eq(n, 0);
    rig_turn(&rig);
    cr_assert_eq(n, 64);
    for (int i = 0; i < 64; i++)
        cr_assert_eq(calls[i].done, 1);
    cr_assert_eq(calls[64].done, 0);
}

Test(dp_plan, events_that_do_not_fit_are_counted)
{
    rig.conf[1].pfc.honoured = 0xff;
    rig_apply(&rig);
    for (uint32_t i = 0; i < 2000; i++)
        rig_pfc(&rig, 1, 1, i % 2 ? 0 : 1000);
    rig.n_events = RIG_EVENTS; /* take none */
    rig_settle(&rig);
    cr_assert(dp_event_pending(rig.dp));
    cr_assert_eq(dp_events_lost(rig.dp), 2000 - 1024);
}
