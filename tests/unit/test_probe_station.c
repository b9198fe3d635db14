/* SPDX-License-Identifier: Apache-2.0
 *
 * utilities/probe_station with what it ties together (sender, slow consumer,
 * pause state), between ports in memory and on a virtual clock: rates, pauses
 * honoured and sent, refused frames, misbehaviour, ends.
 */
#include "utilities/probe_station.h"

#include "base/clock.h"

#include <criterion/criterion.h>
#include <string.h>

#define RATE UINT64_C(100000000)
#define T0   NS_PER_S

/* One station on one end of a wire. */
struct end {
    struct probe_conf conf;
    struct probe_station st;
    struct pkt_pool *pool;
    struct netdev *dev;
};

static struct end a, b;
static uint64_t now;

static void
make_end(struct end *e, const char *name)
{
    struct netdev_args args = {.name = name};

    memset(e, 0, sizeof(*e));
    probe_conf_init(&e->conf);
    e->conf.iface = name;
    e->conf.rate_bps = RATE;
    e->conf.pfc_prios = 1u << 3;
    e->conf.duration_ns = 100 * NS_PER_MS;
    e->pool = pkt_pool_create(128, 0, PROBE_MAX_FRAME + 8);
    args.pool = e->pool;
    cr_assert_eq(netdev_open(&netdev_mem, &args, &e->dev, NULL), 0);
}

static void
setup(void)
{
    now = T0;
    make_end(&a, "a");
    make_end(&b, "b");
    netdev_mem_connect(a.dev, b.dev, 0, 0);
}

static void
teardown(void)
{
    struct end *ends[] = {&a, &b};

    for (int i = 0; i < 2; i++) {
        probe_station_uninit(&ends[i]->st);
        netdev_close(ends[i]->dev);
        cr_assert_eq(pkt_pool_n_free(ends[i]->pool), 128, "a buffer is lost");
        pkt_pool_destroy(ends[i]->pool);
    }
}

TestSuite(probe_station, .init = setup, .fini = teardown);

static struct probe_flow_conf *
add_flow(struct end *e, uint8_t prio, uint64_t rate_bps, uint64_t count)
{
    struct probe_flow_conf *f = &e->conf.flows[e->conf.n_flows++];

    *f = (struct probe_flow_conf){
        .id = e->conf.n_flows,
        .prio = prio,
        .dst = {2, 0, 0, 0, 0, 0xb},
        .rate_bps = rate_bps,
        .count = count,
        .n_sizes = 1,
        .sizes = {{1000, 1}},
    };
    e->conf.send = true;
    return f;
}

static void
start(struct end *e)
{
    cr_assert_eq(probe_station_init(&e->st, &e->conf, e->dev, e->pool, -1,
                                    now),
                 0);
    probe_station_start(&e->st, now);
}

static uint64_t
turn(struct end *e)
{
    netdev_mem_set_now(a.dev, now);
    netdev_mem_set_now(b.dev, now);
    while (probe_station_rx(&e->st, now) == PKT_BATCH)
        ;
    return probe_station_tx(&e->st, now);
}

/* Runs both until `until`, or until both have ended. */
static void
run(uint64_t until)
{
    while (now < until) {
        uint64_t next_a = turn(&a), next_b = turn(&b);
        uint64_t next = next_a < next_b ? next_a : next_b;

        if (probe_station_ended(&a.st, now) && probe_station_ended(&b.st, now))
            break;
        /* What b sent may concern a at once; a full kernel says when it has
         * room again by its descriptor. */
        if (netdev_mem_n_queued(a.dev) || a.st.blocked || next <= now)
            next = now + 1000;
        now = next < until ? next : until;
    }
}

static const struct probe_rx_flow *
got(uint32_t i)
{
    cr_assert_lt(i, b.st.stats.n_flows);
    return b.st.stats.flows[i];
}

Test(probe_station, counted_flows_arrive_whole)
{
    add_flow(&a, 3, 50000000, 500);
    add_flow(&a, 0, 0, 700);
    b.conf.receive = true;
    b.conf.expect = 2;
    start(&a);
    start(&b);
    run(T0 + 5 * NS_PER_S);
    cr_assert(probe_station_ended(&a.st, now));
    cr_assert(probe_station_ended(&b.st, now));
    cr_assert_lt(now, T0 + 200 * NS_PER_MS);
    cr_assert_eq(b.st.stats.n_complete, 2);
    cr_assert_eq(b.st.stats.by_pcp[3], 500);
    cr_assert_eq(b.st.stats.by_pcp[0], 700);
    cr_assert(probe_stats_clean(&b.st.stats));
}

Test(probe_station, rates_hold)
{
    add_flow(&a, 3, 30000000, 0);
    add_flow(&a, 0, 20000000, 0);
    b.conf.receive = true;
    a.conf.duration_ns = b.conf.duration_ns = NS_PER_S;
    start(&a);
    start(&b);
    run(T0 + 3 * NS_PER_S);
    /* 30 Mb/s are 3750 frames a second of 1000 octets; and a burst. */
    cr_assert_geq(got(0)->received, 3750);
    cr_assert_leq(got(0)->received, 3750 + 33);
    cr_assert_geq(got(1)->received, 2500);
    cr_assert_leq(got(1)->received, 2500 + 33);
    cr_assert(got(0)->complete && got(1)->complete);
}

Test(probe_station, the_links_rate_caps_all_flows)
{
    add_flow(&a, 1, 0, 0);
    add_flow(&a, 2, 0, 0);
    b.conf.receive = true;
    start(&a);
    start(&b);
    run(T0 + 3 * NS_PER_S);
    /* 100 Mb/s for 100 ms: 1250 frames, and the burst; half each. */
    cr_assert_leq(b.st.stats.by_pcp[1] + b.st.stats.by_pcp[2], 1250 + 60);
    cr_assert_geq(b.st.stats.by_pcp[1] + b.st.stats.by_pcp[2], 1250);
    cr_assert_leq(b.st.stats.by_pcp[1], b.st.stats.by_pcp[2] + 2);
    cr_assert_leq(b.st.stats.by_pcp[2], b.st.stats.by_pcp[1] + 2);
}

static void
inject_pfc(struct end *to, uint8_t enable, uint16_t quanta)
{
    static const uint8_t src[6] = {2, 0, 0, 0, 0, 9};
    uint16_t time[N_PRIO];
    uint8_t frame[MACCTL_LEN];

    for (int p = 0; p < N_PRIO; p++)
        time[p] = quanta;
    macctl_encode_pfc(frame, src, enable, time);
    cr_assert(netdev_mem_inject(to->dev, frame, sizeof(frame)));
}

Test(probe_station, a_pause_stops_its_priority_and_no_other)
{
    add_flow(&a, 3, 0, 0);
    add_flow(&a, 4, 0, 0);
    a.conf.rate_bps = RATE;
    b.conf.receive = true;
    start(&a);
    start(&b);
    run(T0 + 10 * NS_PER_MS);
    inject_pfc(&a, 1u << 3 | 1u << 4, 1000);
    for (uint64_t before3 = a.st.sender.by_prio[3],
                  before4 = a.st.sender.by_prio[4];
         ;) {
        /* 1000 quanta at 100 Mb/s are 5.12 ms. */
        run(T0 + 15 * NS_PER_MS);
        cr_assert_eq(a.st.sender.by_prio[3], before3);
        cr_assert_gt(a.st.sender.by_prio[4], before4 + 20);
        run(T0 + 16 * NS_PER_MS);
        cr_assert_gt(a.st.sender.by_prio[3], before3);
        break;
    }
    cr_assert_eq(a.st.pfc.n.rx_pauses[3], 1);
    cr_assert_eq(a.st.pfc.n.rx_paused_ns[3], 5120000);
    cr_assert_eq(a.st.pfc.n.rx_not_enabled, 1);
}

Test(probe_station, an_xon_lets_go_at_once)
{
    add_flow(&a, 3, 0, 0);
    b.conf.receive = true;
    start(&a);
    start(&b);
    inject_pfc(&a, 1u << 3, 65535);
    run(T0 + 10 * NS_PER_MS);
    cr_assert_eq(a.st.sender.by_prio[3], 0);
    inject_pfc(&a, 1u << 3, 0);
    run(T0 + 12 * NS_PER_MS);
    cr_assert_gt(a.st.sender.by_prio[3], 10);
}

Test(probe_station, misbehaving_it_ignores_pauses)
{
    add_flow(&a, 3, 0, 0);
    a.conf.ignore_pfc = true;
    b.conf.receive = true;
    start(&a);
    start(&b);
    inject_pfc(&a, 1u << 3, 65535);
    run(T0 + 10 * NS_PER_MS);
    cr_assert_gt(a.st.sender.by_prio[3], 100);
    cr_assert_eq(a.st.pfc.n.rx_pfc[3], 1);
}

Test(probe_station, a_flow_that_stays_paused_is_cut)
{
    add_flow(&a, 3, 0, 0);
    a.conf.drain_ns = 50 * NS_PER_MS;
    start(&a);
    start(&b);
    for (int i = 0; i < 100; i++) {
        inject_pfc(&a, 1u << 3, 65535);
        run(T0 + (uint64_t) (i + 1) * 2 * NS_PER_MS);
    }
    cr_assert_eq(a.st.sender.flows[0].state, PROBE_FLOW_CUT);
    cr_assert_eq(a.st.sender.flows[0].sent, 0);
    cr_assert(probe_station_ended(&a.st, now));
}

/* A peer that consumes a fifth of what comes, from a buffer with room for
 * what arrives after XOFF. */
Test(probe_station, a_slow_receiver_loses_nothing_with_pfc)
{
    add_flow(&a, 3, 50000000, 2000);
    b.conf.receive = true;
    b.conf.duration_ns = NS_PER_S * 3;
    b.conf.expect = 1;
    b.conf.slow[3] = (struct probe_slow){.used = true,
                                         .prio = 3,
                                         .rate_bps = 10000000,
                                         .buffer_bytes = 128 << 10,
                                         .xoff_bytes = 64 << 10,
                                         .xon_bytes = 32 << 10};
    a.conf.duration_ns = 3 * NS_PER_S;
    start(&a);
    start(&b);
    run(T0 + 6 * NS_PER_S);
    cr_assert(probe_station_ended(&b.st, now));
    cr_assert_eq(got(0)->received, 2000);
    cr_assert_eq(b.st.slow[3].consumed, 2000);
    cr_assert_eq(b.st.slow[3].dropped, 0);
    cr_assert_gt(b.st.pfc.n.tx_pauses[3], 5);
    cr_assert_eq(b.st.pfc.asserted, 0);
    cr_assert_eq(a.st.pfc.paused, 0);
    cr_assert_leq(b.st.after_xoff_max[3], PKT_BATCH);
    /* 2 MB at 10 Mb/s: it took as long as the consumer needed. */
    cr_assert_gt(now, T0 + 1500 * NS_PER_MS);
}

Test(probe_station, a_slow_receiver_without_pfc_drops_and_says_so)
{
    add_flow(&a, 4, 50000000, 500);
    b.conf.receive = true;
    b.conf.slow[4] = (struct probe_slow){.used = true,
                                         .prio = 4,
                                         .rate_bps = 1000000,
                                         .buffer_bytes = 64 << 10,
                                         .xoff_bytes = 32 << 10,
                                         .xon_bytes = 16 << 10};
    start(&a);
    start(&b);
    run(T0 + 5 * NS_PER_S);
    cr_assert_eq(got(0)->received, 500);
    cr_assert_gt(b.st.slow[4].dropped, 300);
    cr_assert_eq(b.st.slow[4].dropped + b.st.slow[4].consumed + b.st.slow[4].n,
                 500);
    cr_assert_eq(b.st.pfc.n.tx_frames, 0);
}

Test(probe_station, a_pause_as_told_is_refreshed_and_ended)
{
    add_flow(&a, 3, 50000000, 0);
    b.conf.receive = true;
    b.conf.quanta = 1000; /* 5.12 ms */
    b.conf.pauses[0] = (struct probe_pause){.prio = 3,
                                            .at_ns = 20 * NS_PER_MS,
                                            .for_ns = 40 * NS_PER_MS};
    b.conf.n_pauses = 1;
    start(&a);
    start(&b);
    run(T0 + 5 * NS_PER_S);
    cr_assert_eq(a.st.pfc.n.rx_pauses[3], 1);
    cr_assert_geq(a.st.pfc.n.rx_xoff[3], 8);
    cr_assert_geq(a.st.pfc.n.rx_paused_ns[3], 39 * NS_PER_MS);
    cr_assert_leq(a.st.pfc.n.rx_paused_ns[3], 41 * NS_PER_MS);
    cr_assert_geq(got(0)->longest_gap_ns, 39 * NS_PER_MS);
    cr_assert_leq(b.st.after_xoff_max[3], PKT_BATCH);
    cr_assert_eq(probe_rx_flow_lost(got(0)), 0);
    cr_assert_eq(b.st.pfc.asserted, 0);
}

Test(probe_station, a_storm_never_lets_go)
{
    add_flow(&a, 3, 50000000, 0);
    a.conf.drain_ns = 0;
    b.conf.storms[0] = (struct probe_storm){.prio = 3,
                                            .for_ns = 90 * NS_PER_MS,
                                            .every_ns = NS_PER_MS};
    b.conf.n_storms = 1;
    start(&a);
    start(&b);
    run(T0 + 5 * NS_PER_S);
    cr_assert_eq(b.st.storm_frames, 90);
    cr_assert_eq(a.st.pfc.n.rx_xoff[3], 90);
    cr_assert_eq(a.st.pfc.n.rx_pfc[3], 90, "an XON came");
    cr_assert_leq(a.st.sender.by_prio[3], 40, "only the first burst");
}

/* It was put aside while the last frame of a storm was due: that is not made
 * up for, and the run ends all the same. */
Test(probe_station, a_storm_whose_end_was_slept_through_is_over)
{
    b.conf.receive = true;
    b.conf.duration_ns = 60 * NS_PER_S;
    b.conf.idle_ns = 10 * NS_PER_MS;
    b.conf.storms[0] = (struct probe_storm){.prio = 3,
                                            .for_ns = 90 * NS_PER_MS,
                                            .every_ns = 20 * NS_PER_MS};
    b.conf.n_storms = 1;
    add_flow(&a, 0, 50000000, 100);
    start(&a);
    start(&b);
    run(T0 + 70 * NS_PER_MS);
    cr_assert_eq(b.st.storm_frames, 4);
    cr_assert_not(probe_station_ended(&b.st, now));
    now = T0 + 100 * NS_PER_MS;
    cr_assert_geq(turn(&b), now, "it spins");
    cr_assert_eq(b.st.storm_frames, 4);
    cr_assert(probe_station_ended(&b.st, now));
}

Test(probe_station, malformed_frames_are_counted_and_stop_no_one)
{
    add_flow(&a, 3, 50000000, 0);
    a.conf.asymmetric = true;
    b.conf.receive = true;
    b.conf.malformed = 2 * PROBE_N_MALFORMED;
    start(&a);
    start(&b);
    run(T0 + 5 * NS_PER_S);
    for (int i = 0; i < PROBE_N_MALFORMED; i++)
        cr_assert_eq(b.st.malformed[i], 2);
    cr_assert_eq(a.st.pfc.n.rx_malformed + a.st.pfc.n.rx_unsupported +
                     a.st.pfc.n.rx_pfc[3] + a.st.pfc.n.rx_pause,
                 10);
    cr_assert_eq(a.st.pfc.n.rx_unsupported, 2);
    cr_assert_geq(a.st.pfc.n.rx_malformed, 4);
    cr_assert_eq(a.st.stats.other, 0);
}

/* What the kernel does not take is made again, with the same numbers. */
Test(probe_station, refused_frames_are_neither_lost_nor_reordered)
{
    struct probe_flow_conf *f = add_flow(&a, 3, 0, 900);

    f->skip_every = 50;
    f->dup_every = 30;
    f->swap_every = 70;
    add_flow(&a, 2, 0, 900);
    a.conf.duration_ns = b.conf.duration_ns = 2 * NS_PER_S;
    a.conf.rate_bps = 0;
    b.conf.receive = true;
    netdev_mem_set_tx_limit(a.dev, 3);
    start(&a);
    start(&b);
    run(T0 + 5 * NS_PER_S);
    cr_assert_gt(a.st.sender.refused, 100);
    cr_assert_eq(got(1)->received, 900);
    cr_assert_eq(got(1)->reordered + got(1)->duplicated, 0);
    cr_assert_eq(got(0)->received, 900 - a.st.sender.flows[0].skipped);
    cr_assert_eq(got(0)->duplicated, a.st.sender.flows[0].repeated);
}

Test(probe_station, faults_on_purpose_are_seen_exactly)
{
    struct probe_flow_conf *f = add_flow(&a, 3, 0, 1000);

    f->skip_every = 100;
    add_flow(&a, 3, 0, 1000)->dup_every = 100;
    add_flow(&a, 3, 0, 1000)->swap_every = 100;
    add_flow(&a, 3, 0, 1000)->corrupt_every = 100;
    a.conf.duration_ns = b.conf.duration_ns = 2 * NS_PER_S;
    a.conf.rate_bps = 0;
    b.conf.receive = true;
    start(&a);
    start(&b);
    run(T0 + 5 * NS_PER_S);
    /* The last number is never skipped, swapped or repeated. */
    cr_assert_eq(probe_rx_flow_lost(got(0)), 9);
    cr_assert_eq(got(0)->received, 991);
    cr_assert_eq(got(1)->duplicated, 9);
    cr_assert_eq(got(2)->reordered, 9);
    cr_assert_eq(got(3)->damaged, 10);
    for (uint32_t i = 0; i < 4; i++) {
        cr_assert(got(i)->complete);
        cr_assert_eq(got(i)->next, 1000);
    }
}

Test(probe_station, a_size_mix_is_drawn_by_weight)
{
    struct probe_flow_conf *f = add_flow(&a, 3, 0, 1200);
    uint64_t mean;

    f->n_sizes = 3;
    f->sizes[0] = (struct probe_size){64, 7};
    f->sizes[1] = (struct probe_size){576, 4};
    f->sizes[2] = (struct probe_size){1514, 1};
    b.conf.receive = true;
    start(&a);
    start(&b);
    run(T0 + 5 * NS_PER_S);
    cr_assert_eq(got(0)->received, 1200);
    mean = got(0)->bytes / 1200;
    /* (7 x 64 + 4 x 576 + 1514) / 12 = 355.5 */
    cr_assert_geq(mean, 320);
    cr_assert_leq(mean, 390);
}

Test(probe_station, an_interface_that_is_down_is_waited_for)
{
    uint64_t turns = 0;

    add_flow(&a, 3, 0, 100);
    a.conf.duration_ns = b.conf.duration_ns = 2 * NS_PER_S;
    a.conf.rate_bps = 0;
    start(&a);
    start(&b);
    netdev_mem_set_down(a.dev, true);
    for (; now < T0 + NS_PER_S; turns++) {
        uint64_t next = turn(&a);

        if (probe_station_ended(&a.st, now))
            break;
        cr_assert_gt(next, now, "it spins");
        now = next;
    }
    cr_assert_leq(turns, 150);
    netdev_mem_set_down(a.dev, false);
    run(T0 + 3 * NS_PER_S);
    cr_assert_eq(a.st.sender.by_prio[3], 100);
}

Test(probe_station, told_to_stop_it_ends_its_flows)
{
    add_flow(&a, 3, 10000000, 0);
    add_flow(&a, 4, 10000000, 0)->start_ns = 90 * NS_PER_MS;
    b.conf.receive = true;
    start(&a);
    start(&b);
    run(T0 + 20 * NS_PER_MS);
    probe_station_stop(&a.st, now);
    run(T0 + 30 * NS_PER_MS);
    cr_assert(probe_station_ended(&a.st, now));
    cr_assert(got(0)->complete);
    cr_assert_eq(b.st.stats.n_flows, 1);
}

Test(probe_station, told_that_time_is_over_a_paused_flow_still_ends_whole)
{
    add_flow(&a, 3, 10000000, 0);
    add_flow(&a, 4, 10000000, 0)->start_ns = 90 * NS_PER_MS;
    a.conf.duration_ns = b.conf.duration_ns = NS_PER_S;
    b.conf.receive = true;
    start(&a);
    start(&b);
    run(T0 + 20 * NS_PER_MS);
    inject_pfc(&a, 1u << 3, 65535);
    run(T0 + 30 * NS_PER_MS);
    probe_station_finish(&a.st, now);
    run(T0 + 40 * NS_PER_MS);
    cr_assert_not(probe_station_ended(&a.st, now));
    inject_pfc(&a, 1u << 3, 0);
    run(T0 + 50 * NS_PER_MS);
    cr_assert(probe_station_ended(&a.st, now));
    cr_assert(got(0)->complete);
    cr_assert_eq(b.st.stats.n_flows, 1);
}

Test(probe_station, what_it_paused_is_released_at_the_end)
{
    b.conf.receive = true;
    b.conf.pauses[0] = (struct probe_pause){.prio = 3, .for_ns = NS_PER_S};
    b.conf.n_pauses = 1;
    start(&a);
    start(&b);
    run(T0 + 5 * NS_PER_MS);
    cr_assert_eq(a.st.pfc.paused, 8);
    probe_station_stop(&b.st, now);
    cr_assert(probe_station_release(&b.st, now));
    turn(&a);
    cr_assert_eq(a.st.pfc.paused, 0);
}

Test(probe_station, before_the_start_pauses_are_obeyed_but_nothing_is_sent)
{
    add_flow(&a, 3, 0, 100);
    cr_assert_eq(probe_station_init(&a.st, &a.conf, a.dev, a.pool, -1, now),
                 0);
    inject_pfc(&a, 1u << 3, 65535);
    turn(&a);
    cr_assert_eq(a.st.pfc.paused, 8);
    cr_assert_eq(netdev_mem_n_queued(b.dev), 0);
    cr_assert_not(probe_station_ended(&a.st, now));
}

Test(probe_station, after_the_end_it_waits_without_spinning)
{
    b.conf.receive = true;
    start(&a);
    start(&b);
    now = T0 + 10 * NS_PER_S;
    cr_assert(probe_station_ended(&b.st, now));
    cr_assert_eq(turn(&b), CLOCK_NEVER);
    /* And still honours what comes. */
    inject_pfc(&b, 1u << 3, 1000);
    cr_assert_eq(turn(&b), now + 5120000);
    cr_assert_eq(b.st.pfc.paused, 8);
}
