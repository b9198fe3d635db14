/* SPDX-License-Identifier: Apache-2.0
 *
 * Flow tables in the datapath: what comes out where, in which queue, and what
 * the books say.  Every turn of the rig audits the bridge.
 */
#include "pkt/offload.h"
#include "tests/unit/flow_rig.h"

static struct rig rig;

static void
init(void)
{
    rig_init(&rig, 4);
    fr_number(&rig);
}

static void
uninit(void)
{
    rig_uninit(&rig);
}

TestSuite(dp_flow, .init = init, .fini = uninit);

static void
in(uint32_t port, int tci, uint32_t seq)
{
    rig_send(&rig, port, HOST(1), HOST(0), tci, 100, seq);
    rig_settle(&rig);
}

/* How many frames left each port since the last time. */
static void
check_out(uint32_t n0, uint32_t n1, uint32_t n2, uint32_t n3)
{
    uint32_t want[] = {n0, n1, n2, n3};

    for (uint32_t i = 0; i < 4; i++) {
        uint32_t n = rig_drain(&rig, i);

        cr_assert_eq(n, want[i], "port %u: %u, not %u", i, n, want[i]);
    }
}

static uint64_t
drops(enum dp_drop reason)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < 4; i++)
        n += rig_n(&rig, i)->drops[reason];
    return n;
}

/* --- where frames go
 * --------------------------------------------------------- */

Test(dp_flow, a_bridge_without_entries_switches)
{
    rig_learn(&rig, NO_TAG);
    in(0, NO_TAG, 1);
    check_out(0, 1, 0, 0);
}

Test(dp_flow, output_goes_to_the_port)
{
    struct flow *f = fr_apply(&rig, ACTIONS(a_output(OF_PORT(2))));

    in(0, NO_TAG, 1);
    check_out(0, 0, 1, 0);
    cr_assert_eq(flow_counters(f)->n_packets, 1);
    cr_assert_eq(flow_counters(f)->n_bytes, 100);
    cr_assert_eq(flow_counters(f)->used_ns, rig.now_ns);
    in(2, NO_TAG, 2); /* back where it came from */
    check_out(0, 0, 0, 0);
    cr_assert_eq(drops(DP_DROP_NO_PORT), 1);
}

Test(dp_flow, in_port_all_and_flood)
{
    struct flow *f = fr_apply(&rig, ACTIONS(a_output(OFPP_IN_PORT)));

    in(0, NO_TAG, 1);
    check_out(1, 0, 0, 0);
    fr_del(&rig, f);
    dp_of_set_port(rig.dp, 2, OFPPC_NO_FLOOD, true);
    f = fr_apply(&rig, ACTIONS(a_output(OFPP_FLOOD)));
    in(0, NO_TAG, 1);
    check_out(0, 1, 0, 1);
    fr_del(&rig, f);
    fr_apply(&rig, ACTIONS(a_output(OFPP_ALL)));
    in(0, NO_TAG, 1);
    check_out(0, 1, 1, 1);
}

Test(dp_flow, several_outputs_are_copies)
{
    fr_apply(&rig, ACTIONS(a_output(OF_PORT(1)), a_output(OF_PORT(3)),
                           a_output(OF_PORT(1))));
    in(0, NO_TAG, 1);
    check_out(0, 2, 0, 1);
    cr_assert_eq(rig_n(&rig, 0)->copies, 2);
}

Test(dp_flow, normal_beside_others)
{
    rig_learn(&rig, NO_TAG);
    fr_apply(&rig, ACTIONS(a_output(OFPP_NORMAL), a_output(OF_PORT(3))));
    in(0, NO_TAG, 1);
    check_out(0, 1, 0, 1);
    rig_send(&rig, 0, BROADCAST, HOST(0), NO_TAG, 100, 2);
    rig_settle(&rig);
    check_out(0, 1, 1, 2);
}

Test(dp_flow, one_entry_of_normal_is_counted_and_learns)
{
    struct flow *f = fr_apply(&rig, ACTIONS(a_output(OFPP_NORMAL)));

    rig_learn(&rig, NO_TAG);
    in(0, NO_TAG, 1);
    check_out(0, 1, 0, 0);
    cr_assert_eq(flow_counters(f)->n_packets, 5);
    cr_assert_eq(flow_counters(f)->n_bytes, 4 * 64 + 100);
    cr_assert_eq(flow_table_counters(dp_flow_tables(rig.dp), 0)->n_matched, 5);
}

Test(dp_flow, an_entry_without_actions_drops)
{
    fr_apply(&rig, (struct ofp_actions){0, NULL});
    in(0, NO_TAG, 1);
    check_out(0, 0, 0, 0);
    cr_assert_eq(drops(DP_DROP_FLOW), 1);
}

Test(dp_flow, what_no_entry_matches_is_dropped_unless_there_is_none)
{
    struct ofp_instructions inst = {
        .has_apply = true,
        .apply = ACTIONS(a_output(OF_PORT(2))),
    };
    struct flow_op op = {.type = FLOW_OP_DEFAULT, .id = FLOW_DEFAULT_ALWAYS};
    struct ofp_match m = {0};

    rig_learn(&rig, NO_TAG);
    m_set(&m, OFP_IN_PORT, OF_PORT(3));
    fr_add(&rig, 0, 10, &m, &inst);
    in(0, NO_TAG, 1);
    check_out(0, 0, 0, 0);
    cr_assert_eq(drops(DP_DROP_NO_FLOW), 1);
    cr_assert_eq(dp_of_counters(rig.dp)->n_table_miss, 1);
    fr_ops(&rig, &op, 1, false); /* standalone, without a controller */
    in(0, NO_TAG, 1);
    check_out(0, 1, 0, 0);
    op.id = FLOW_DEFAULT_NONE;
    fr_ops(&rig, &op, 1, false);
    in(0, NO_TAG, 1);
    check_out(0, 0, 0, 0);
}

Test(dp_flow, goto_metadata_and_action_set)
{
    struct ofp_instructions first = {
        .has_goto = true,
        .table = 7,
        .has_metadata = true,
        .metadata = 0xf0,
        .metadata_mask = 0xff,
        .has_write = true,
        .write = ACTIONS(a_output(OF_PORT(1))),
    };
    struct ofp_instructions second = {
        .has_write = true,
        .write =
            ACTIONS(a_output(OF_PORT(2)), a_set(OFP_ETH_DST, 0x020202020202)),
    };
    uint8_t frame[2048];
    struct ofp_match m = {0};

    m_set(&m, OFP_METADATA, 0xf0);
    fr_add(&rig, 0, 1, NULL, &first);
    fr_add(&rig, 7, 1, &m, &second);
    for (int i = 0; i < 3; i++) {
        in(0, NO_TAG, 1);
        cr_assert_eq(rig_take(&rig, 2, frame), 100);
        cr_assert_arr_eq(frame, "\2\2\2\2\2\2", 6);
        check_out(0, 0, 0, 0);
    }
}

Test(dp_flow, a_frame_changed_after_an_output_is_copied)
{
    uint8_t frame[2048];

    fr_apply(&rig,
             ACTIONS(a_output(OF_PORT(1)), a_set(OFP_ETH_DST, 0x020202020202),
                     a_output(OF_PORT(2)), a_push(OFP_ACT_PUSH_VLAN, 0x8100),
                     a_set(OFP_VLAN_VID, 0x1064), a_output(OF_PORT(3))));
    in(0, NO_TAG, 77);
    cr_assert_eq(rig_take(&rig, 1, frame), 100);
    cr_assert_eq(frame[5], (uint8_t) HOST(1));
    cr_assert_eq(rig_take(&rig, 2, frame), 100);
    cr_assert_eq(frame[5], 2);
    cr_assert_eq(rig_take(&rig, 3, frame), 104);
    cr_assert_arr_eq(frame + 12, "\x81\0\0\x64", 4);
    cr_assert_eq(rig_seq(frame, 104), 77);
}

/* The longest frame, and headers that fill the room before it.  No port sends
 * that, but a controller gets it. */
Test(dp_flow, a_copy_of_a_frame_that_has_grown_fits)
{
    enum { N = PKT_HEADROOM / 18 };
    static uint8_t frame[2048];
    struct ofp_action a[N + 3];
    struct dp_packet_in pin;

    for (int i = 0; i < N; i++)
        a[i] = a_push(OFP_ACT_PUSH_PBB, 0x88e7);
    a[N] = a_output(OF_PORT(1));
    a[N + 1] = a_set(OFP_PBB_ISID, 7);
    a[N + 2] = a_controller(OFPCML_NO_BUFFER);
    fr_apply(&rig, (struct ofp_actions){N + 3, a});
    rig_frame(frame, HOST(1), HOST(0), NO_TAG, sizeof(frame), 9);
    rig_inject(&rig, 0, frame, sizeof(frame));
    rig_settle(&rig);
    cr_assert(dp_packet_in_get(rig.dp, &pin));
    cr_assert_eq(pin.len, sizeof(frame) + N * 18);
    cr_assert_arr_eq(pin.data, frame, 12);
    cr_assert_eq(pin.data[17], 7);
    cr_assert_arr_eq(pin.data + N * 18, frame, sizeof(frame));
    cr_assert_eq(drops(DP_DROP_OVERSIZE), 1);
}

/* A controller may be early. */
Test(dp_flow, packet_outs_wait_for_the_first_plan)
{
    struct dp_conf conf = {
        .n_buffers = 64,
        .n_clones = 64,
        .frame_bytes = 2048,
        .mac_entries = MACTAB_MIN_ENTRIES,
        .n_events = 8,
    };
    struct ofp_actions list = ACTIONS(a_output(OFPP_NORMAL));
    struct dp *dp = dp_create(&conf);
    uint8_t frame[100] = {2};

    cr_assert_not_null(dp);
    cr_assert(dp_packet_out_post(dp, OFPP_CONTROLLER, &list, frame, 100));
    dp_run(dp, NS_PER_S);
    cr_assert_eq(dp_of_counters(dp)->n_out, 0);
    dp_destroy(dp);
}

/* --- groups
 * ------------------------------------------------------------------ */

Test(dp_flow, group_all_gives_each_bucket_its_own_frame)
{
    struct ofp_bucket buckets[] = {
        {.watch_port = OFPP_ANY,
         .watch_group = OFPG_ANY,
         .actions = ACTIONS(a_set(OFP_ETH_DST, 0x020202020202),
                            a_output(OF_PORT(1)))},
        {.watch_port = OFPP_ANY,
         .watch_group = OFPG_ANY,
         .actions = ACTIONS(a_output(OF_PORT(2)))},
    };
    struct ofp_group g = {5, OFPGT_ALL, 2, buckets};
    uint8_t frame[2048];

    fr_group(&rig, &g);
    fr_apply(&rig, ACTIONS(a_group(5), a_output(OF_PORT(3))));
    in(0, NO_TAG, 1);
    cr_assert_eq(rig_take(&rig, 1, frame), 100);
    cr_assert_eq(frame[5], 2);
    cr_assert_eq(rig_take(&rig, 2, frame), 100);
    cr_assert_eq(frame[5], (uint8_t) HOST(1));
    cr_assert_eq(rig_take(&rig, 3, frame), 100);
    cr_assert_eq(frame[5], (uint8_t) HOST(1));
}

Test(dp_flow, group_select_keeps_flows_together_and_weights)
{
    struct ofp_bucket buckets[] = {
        {.weight = 1,
         .watch_port = OFPP_ANY,
         .watch_group = OFPG_ANY,
         .actions = ACTIONS(a_output(OF_PORT(1)))},
        {.weight = 3,
         .watch_port = OFPP_ANY,
         .watch_group = OFPG_ANY,
         .actions = ACTIONS(a_output(OF_PORT(2)))},
    };
    struct ofp_group g = {5, OFPGT_SELECT, 2, buckets};
    uint32_t n1, n2;

    fr_group(&rig, &g);
    fr_write(&rig, ACTIONS(a_group(5)));
    for (uint32_t i = 0; i < 4000; i++)
        rig_send(&rig, 0, HOST(1), 0x021234000000 + i, NO_TAG, 100, i);
    rig_settle(&rig);
    n1 = rig_drain(&rig, 1);
    n2 = rig_drain(&rig, 2);
    cr_assert_eq(n1 + n2, 4000);
    cr_assert(n1 > 850 && n1 < 1150, "%u", n1);
    cr_assert_eq(rig_n(&rig, 0)->copies, 0);
    for (uint32_t i = 0; i < 100; i++)
        rig_send(&rig, 0, HOST(1), 0x021234000000, NO_TAG, 100, i);
    rig_settle(&rig);
    n1 = rig_drain(&rig, 1);
    cr_assert(n1 == 0 || n1 == 100);
    cr_assert_eq(rig_drain(&rig, 2), 100 - n1);
}

Test(dp_flow, group_fast_failover_takes_the_first_that_lives)
{
    struct ofp_bucket buckets[] = {
        {.watch_port = OF_PORT(1),
         .watch_group = OFPG_ANY,
         .actions = ACTIONS(a_output(OF_PORT(1)))},
        {.watch_port = OF_PORT(2),
         .watch_group = OFPG_ANY,
         .actions = ACTIONS(a_output(OF_PORT(2)))},
    };
    struct ofp_group g = {5, OFPGT_FF, 2, buckets};

    fr_group(&rig, &g);
    fr_apply(&rig, ACTIONS(a_group(5)));
    in(0, NO_TAG, 1);
    check_out(0, 1, 0, 0);
    dp_of_set_port(rig.dp, 1, 0, false);
    in(0, NO_TAG, 1);
    check_out(0, 0, 1, 0);
    dp_of_set_port(rig.dp, 2, OFPPC_PORT_DOWN, true);
    in(0, NO_TAG, 1);
    check_out(0, 0, 0, 0);
    cr_assert_eq(drops(DP_DROP_FLOW), 1);
}

#define WATCH(port, group, w) \
    .watch_port = (port), .watch_group = (group), .weight = (w)

/* Groups 6 and 7 watch each other, each bucket of them the whole other one:
 * 100 to the 16th, which no thread that forwards has the time for. */
static void
watch_each_other(void)
{
    struct ofp_bucket many[100];

    for (uint32_t id = 6; id <= 7; id++) {
        struct ofp_group g = {id, OFPGT_FF, 100, many};

        for (uint32_t i = 0; i < 100; i++)
            many[i] = (struct ofp_bucket){WATCH(OFPP_ANY, 13 - id, 0)};
        fr_group(&rig, &g);
    }
}

static void
check_never_alive(enum ofp_group_type type)
{
    struct ofp_bucket buckets[] = {
        {WATCH(OFPP_ANY, 6, 1000), .actions = ACTIONS(a_output(OF_PORT(1)))},
        {WATCH(OF_PORT(2), OFPG_ANY, 1),
         .actions = ACTIONS(a_output(OF_PORT(2)))},
    };
    struct ofp_group g = {5, type, 2, buckets};

    watch_each_other();
    fr_group(&rig, &g);
    fr_apply(&rig, ACTIONS(a_group(5)));
    in(0, NO_TAG, 1);
    check_out(0, 0, 1, 0);
}

Test(dp_flow, group_fast_failover_looks_so_far_only, .timeout = 60)
{
    check_never_alive(OFPGT_FF);
}

Test(dp_flow, group_select_looks_so_far_only, .timeout = 60)
{
    check_never_alive(OFPGT_SELECT);
}

Test(dp_flow, group_fast_failover_watches_groups)
{
    struct ofp_bucket below[] = {
        {WATCH(OF_PORT(1), OFPG_ANY, 0)},
        {WATCH(OF_PORT(3), OFPG_ANY, 0)},
    };
    struct ofp_bucket buckets[] = {
        {WATCH(OFPP_ANY, 6, 0), .actions = ACTIONS(a_output(OF_PORT(1)))},
        {WATCH(OF_PORT(2), OFPG_ANY, 0),
         .actions = ACTIONS(a_output(OF_PORT(2)))},
    };
    struct ofp_group g[] = {{6, OFPGT_FF, 2, below},
                            {5, OFPGT_FF, 2, buckets}};

    fr_group(&rig, &g[0]);
    fr_group(&rig, &g[1]);
    fr_apply(&rig, ACTIONS(a_group(5)));
    dp_of_set_port(rig.dp, 1, 0, false);
    in(0, NO_TAG, 1);
    check_out(0, 1, 0, 0);
    dp_of_set_port(rig.dp, 1, OFPPC_PORT_DOWN, true);
    dp_of_set_port(rig.dp, 3, OFPPC_PORT_DOWN, true);
    in(0, NO_TAG, 1);
    check_out(0, 0, 1, 0);
}

/* --- meters
 * ------------------------------------------------------------------ */

Test(dp_flow, a_meter_drops_above_its_rate)
{
    struct ofp_meter m = {
        .id = 9,
        .flags = OFPMF_PKTPS | OFPMF_BURST,
        .n_bands = 1,
        .band = {{OFPMBT_DROP, 1000, 10, 0}},
    };
    struct ofp_instructions inst = {
        .has_meter = true,
        .meter = 9,
        .has_apply = true,
        .apply = ACTIONS(a_output(OF_PORT(1))),
    };
    uint32_t n;

    fr_meter(&rig, &m);
    fr_add(&rig, 0, 1, NULL, &inst);
    for (uint32_t i = 0; i < 4000; i++) { /* 4000 a second */
        rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 100, i);
        rig_run(&rig, 250 * NS_PER_US);
    }
    n = rig_drain(&rig, 1);
    cr_assert(n >= 1000 && n <= 1011, "%u", n);
    cr_assert_eq(drops(DP_DROP_METER), 4000 - n);
}

/* --- controllers
 * -------------------------------------------------------------- */

Test(dp_flow, packet_ins_are_whole_and_padded)
{
    struct ofp_instructions miss = {
        .has_apply = true,
        .apply = ACTIONS(a_controller(128)),
    };
    struct dp_packet_in pin;
    uint8_t frame[64];
    struct ofp_match m = {0};

    fr_add(&rig, 0, 0, NULL, &miss);
    m_set(&m, OFP_IN_PORT, OF_PORT(2));
    fr_add(&rig, 0, 7, &m, &miss);
    rig_frame(frame, HOST(1), HOST(0), 5 << 13 | 9, 30, 3);
    rig_inject(&rig, 0, frame, 30);
    rig_settle(&rig);
    cr_assert(dp_of_news(rig.dp));
    cr_assert(dp_packet_in_get(rig.dp, &pin));
    cr_assert_eq(pin.reason, OFPR_NO_MATCH);
    cr_assert_eq(pin.in_port, OF_PORT(0));
    cr_assert_eq(pin.len, 60);
    cr_assert_eq(pin.max_len, 128);
    cr_assert_eq(pin.cookie, 0xc00c1e0000);
    cr_assert_arr_eq(pin.data, frame, 30);
    for (int i = 30; i < 60; i++)
        cr_assert_eq(pin.data[i], 0);
    cr_assert_not(dp_packet_in_get(rig.dp, &pin));
    in(2, NO_TAG, 1);
    cr_assert(dp_packet_in_get(rig.dp, &pin));
    cr_assert_eq(pin.reason, OFPR_ACTION);
    cr_assert_eq(pin.len, 100);
    cr_assert_eq(rig_n(&rig, 2)->to_controller, 1);
    dp_of_set_port(rig.dp, 2, OFPPC_NO_PACKET_IN, true);
    in(2, NO_TAG, 1);
    cr_assert_not(dp_packet_in_get(rig.dp, &pin));
    cr_assert_eq(drops(DP_DROP_PORT_CONFIG), 1);
}

Test(dp_flow, the_ring_of_packet_ins_is_bounded)
{
    struct dp_packet_in pin;
    uint32_t n = 0;

    fr_apply(&rig, ACTIONS(a_controller(OFPCML_NO_BUFFER)));
    for (int i = 0; i < 200; i++) {
        for (uint32_t j = 0; j < 32; j++)
            rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 1500, j);
        rig_settle(&rig);
    }
    cr_assert_gt(dp_packet_ins_lost(rig.dp), 0);
    cr_assert_eq(dp_packet_ins_lost(rig.dp), drops(DP_DROP_CONTROLLER));
    while (dp_packet_in_get(rig.dp, &pin)) {
        cr_assert_eq(pin.len, 1500);
        cr_assert_eq(rig_seq(pin.data, 1500), n++ % 32);
    }
    cr_assert_eq(n, dp_packet_ins(rig.dp));
    cr_assert_gt(n, 2000);
    in(0, NO_TAG, 1); /* there is room again */
    cr_assert(dp_packet_in_get(rig.dp, &pin));
}

static void
packet_out(uint32_t in_port, struct ofp_actions list)
{
    uint8_t frame[100];

    rig_frame(frame, HOST(1), HOST(0), NO_TAG, sizeof(frame), 5);
    cr_assert(
        dp_packet_out_post(rig.dp, in_port, &list, frame, sizeof(frame)));
    rig_settle(&rig);
}

Test(dp_flow, packet_outs)
{
    fr_apply(&rig, ACTIONS(a_output(OF_PORT(3))));
    packet_out(OFPP_CONTROLLER, ACTIONS(a_output(OF_PORT(2))));
    check_out(0, 0, 1, 0);
    packet_out(OF_PORT(1), ACTIONS(a_output(OFPP_FLOOD)));
    check_out(1, 0, 1, 1);
    packet_out(OF_PORT(1), ACTIONS(a_output(OFPP_IN_PORT)));
    check_out(0, 1, 0, 0);
    packet_out(OF_PORT(1),
               ACTIONS(a_output(OFPP_TABLE), a_output(OF_PORT(0))));
    check_out(1, 0, 0, 1);
    rig_learn(&rig, NO_TAG);
    packet_out(OFPP_CONTROLLER, ACTIONS(a_output(OFPP_NORMAL)));
    check_out(1, 1, 1, 1); /* nothing was learned: flows did not ask for it */
    packet_out(OFPP_CONTROLLER, ACTIONS(a_controller(0)));
    packet_out(OFPP_CONTROLLER, (struct ofp_actions){0, NULL});
    cr_assert_eq(dp_of_counters(rig.dp)->n_out, 7);
    cr_assert_eq(dp_of_counters(rig.dp)->n_out_dropped, 0);
}

/* --- barriers
 * ----------------------------------------------------------------- */

/* Each change is seen by the very next frame, though the path of the flow is
 * remembered. */
Test(dp_flow, the_next_frame_sees_a_change)
{
    struct flow *f = NULL;

    for (uint32_t i = 0; i < 300; i++) {
        uint32_t to = 1 + i % 3;

        if (f)
            fr_del(&rig, f);
        f = fr_apply(&rig, ACTIONS(a_output(OF_PORT(to))));
        for (int k = 0; k < 3; k++)
            in(0, NO_TAG, i);
        check_out(0, to == 1 ? 3 : 0, to == 2 ? 3 : 0, to == 3 ? 3 : 0);
    }
}

/* A bundle that takes many turns: no frame sees a part of it. */
Test(dp_flow, a_long_bundle_is_seen_at_one_moment)
{
    enum { N = 1000 };
    static struct flow_op ops[N + 2];
    struct ofp_instructions to2 = {
        .has_apply = true,
        .apply = ACTIONS(a_output(OF_PORT(2))),
    };
    struct flow *was = fr_apply(&rig, ACTIONS(a_output(OF_PORT(1))));
    struct flow_change *c;
    uint64_t ticket;
    uint32_t n1 = 0, n2 = 0;

    ops[0] = (struct flow_op){.type = FLOW_OP_DEL, .flow = was};
    for (uint32_t i = 1; i <= N + 1; i++) {
        struct ofp_match m = {0};
        struct flow_spec spec = {.match = &m, .priority = 1};

        if (i <= N) /* of no frame */
            m_set(&m, OFP_ETH_SRC, 0x02aa00000000 + i);
        ops[i] = (struct flow_op){
            .type = FLOW_OP_ADD,
            .flow = flow_create(&spec, flow_code_create(&to2), NULL),
        };
    }
    c = flow_change_create(dp_flow_tables(rig.dp), ops, N + 2);
    ticket = dp_change_post(rig.dp, c, true);
    while (dp_changes_done(rig.dp) < ticket) {
        uint32_t m1, m2;

        rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 100, 0);
        rig_turn(&rig);
        rig_turn(&rig);
        m1 = rig_drain(&rig, 1);
        m2 = rig_drain(&rig, 2);
        cr_assert_eq(m1 + m2, 1);
        cr_assert(n2 == 0 || m1 == 0, "back to what was");
        n1 += m1;
        n2 += m2;
    }
    cr_assert(n1 > 2 && n2 > 2, "%u turns before it, %u after", n1, n2);
    flow_destroy(was);
    flow_change_destroy(c);
}

/* --- queues and lossless classes
 * ------------------------------------------------ */

Test(dp_flow, set_queue_and_pcp_choose_the_queue)
{
    struct flow *f;

    f = fr_apply(&rig, ACTIONS(a_queue(5), a_output(OF_PORT(1))));
    in(0, 2 << 13, 1);
    cr_assert_eq(rig_n(&rig, 1)->q_tx_frames[5], 1);
    fr_del(&rig, f);
    f = fr_apply(&rig, ACTIONS(a_set(OFP_VLAN_PCP, 4), a_output(OF_PORT(1))));
    in(0, 2 << 13, 1);
    cr_assert_eq(rig_n(&rig, 1)->q_tx_frames[4], 1);
    cr_assert_eq(rig_n(&rig, 0)->pg_rx_frames[2], 2); /* charged as it came */
    fr_del(&rig, f);
    fr_apply(&rig, ACTIONS(a_output(OF_PORT(1))));
    in(0, 2 << 13, 1);
    cr_assert_eq(rig_n(&rig, 1)->q_tx_frames[2], 1);
}

/* Copies of a lossless frame are charged to its group: XOFF comes, and XON
 * when they are gone.  Nothing is lost. */
Test(dp_flow, copies_pause_the_peer_of_their_frame)
{
    struct macctl m;
    uint8_t frame[2048];

    rig_lossless(&rig, 0, 1 << 3, 2000, 4000);
    rig.conf[1].pfc.honoured = 1 << 3;
    rig.conf[2].pfc.honoured = 1 << 3;
    rig_apply(&rig);
    fr_apply(&rig,
             ACTIONS(a_output(OF_PORT(1)), a_set(OFP_ETH_DST, 0x020202020202),
                     a_output(OF_PORT(2))));
    rig_pfc(&rig, 1, 1 << 3, 65535);
    rig_pfc(&rig, 2, 1 << 3, 65535);
    rig_settle(&rig);
    for (uint32_t i = 0; i < 9; i++)
        in(0, 3 << 13, i);
    cr_assert_eq(rig_take(&rig, 0, frame), 0); /* 1800 octets are held */
    in(0, 3 << 13, 9);
    rig_take_pfc(&rig, 0, &m);
    cr_assert_eq(m.time[3], 65535);
    for (uint32_t i = 10; i < 40; i++) /* what was under way */
        in(0, 3 << 13, i);
    cr_assert_eq(rig_n(&rig, 0)->violations[3], 0);
    cr_assert_eq(rig_n_events(&rig, DP_EV_VIOLATION, 0), 0);
    rig_pfc(&rig, 1, 1 << 3, 0);
    rig_pfc(&rig, 2, 1 << 3, 0);
    rig_settle(&rig);
    for (uint32_t i = 0; i < 40; i++) {
        cr_assert_eq(rig_take(&rig, 1, frame), 100);
        cr_assert_eq(rig_seq(frame, 100), i);
        cr_assert_eq(rig_take(&rig, 2, frame), 100);
        cr_assert_eq(rig_seq(frame, 100), i);
    }
    do /* the last one that port 0 sent */
        cr_assert_eq(rig_take(&rig, 0, frame), MACCTL_LEN);
    while (netdev_mem_n_queued(rig.nd[0]) > 0);
    cr_assert_eq(dp_port_group(rig.state[0], 3)->n_held, 0);
    cr_assert_not(dp_port_group(rig.state[0], 3)->xoff);
}

/* --- trace
 * -------------------------------------------------------------------- */

Test(dp_flow, a_trace_tells_and_does_nothing)
{
    static struct dp_trace t;
    struct ofp_instructions inst = {
        .has_apply = true,
        .apply = ACTIONS(a_output(OF_PORT(1)), a_set(OFP_VLAN_PCP, 6),
                         a_output(OF_PORT(2))),
    };
    struct flow *f = fr_add(&rig, 0, 33, NULL, &inst);
    uint8_t frame[100];

    rig_frame(frame, HOST(1), HOST(0), 3 << 13 | 5, sizeof(frame), 1);
    cr_assert(dp_trace(rig.dp, OF_PORT(0), frame, sizeof(frame), &t));
    cr_assert_eq(t.n, 8);
    cr_assert_eq(t.step[0].type, DP_STEP_INGRESS);
    cr_assert_eq(t.step[0].prio, 3);
    cr_assert_eq(t.step[1].type, DP_STEP_MATCH);
    cr_assert_eq(t.step[1].priority, 33);
    cr_assert_eq(t.step[4].type, DP_STEP_OUT);
    cr_assert_eq(t.step[4].queue, 3);
    cr_assert_eq(t.step[4].of_port, OF_PORT(1));
    cr_assert_eq(t.step[7].type, DP_STEP_OUT);
    cr_assert_eq(t.step[7].queue, 6);
    cr_assert_eq(t.step[7].key.vlan_pcp, 6);
    rig_settle(&rig);
    check_out(0, 0, 0, 0);
    cr_assert_eq(flow_counters(f)->n_packets, 0);
    cr_assert_not(dp_trace(rig.dp, 99, frame, sizeof(frame), &t));
}

/* --- ports
 * ---------------------------------------------------------------------- */

Test(dp_flow, closed_ports)
{
    rig_learn(&rig, NO_TAG);
    dp_of_set_port(rig.dp, 1, OFPPC_NO_FWD, true);
    in(0, NO_TAG, 1); /* NORMAL heeds it too */
    check_out(0, 0, 0, 0);
    fr_apply(&rig, ACTIONS(a_output(OF_PORT(1)), a_output(OF_PORT(2))));
    in(0, NO_TAG, 1);
    check_out(0, 0, 1, 0);
    dp_of_set_port(rig.dp, 0, OFPPC_NO_RECV, true);
    in(0, NO_TAG, 1);
    check_out(0, 0, 0, 0);
    cr_assert_eq(drops(DP_DROP_PORT_CONFIG), 2);
}

/* What NORMAL would not take, flows may have: LLDP for a controller. */
Test(dp_flow, reserved_addresses_are_for_flows)
{
    struct dp_packet_in pin;

    fr_apply(&rig,
             ACTIONS(a_controller(OFPCML_NO_BUFFER), a_output(OFPP_NORMAL)));
    rig_send(&rig, 0, 0x0180c200000e, HOST(0), NO_TAG, 100, 1);
    rig_settle(&rig);
    cr_assert(dp_packet_in_get(rig.dp, &pin));
    check_out(0, 0, 0, 0);
    cr_assert_eq(drops(DP_DROP_RESERVED), 1);
    rig_send(&rig, 0, 0x0180c2000001, HOST(0), NO_TAG, 100, 1);
    rig_settle(&rig);
    cr_assert_not(dp_packet_in_get(rig.dp, &pin));
    cr_assert_eq(drops(DP_DROP_RESERVED), 2);
}

/* --- frames that a host left unfinished
 * ------------------------------------------- */

static struct netdev_class open_class;

/* As a host's interface: the checksum behind IP is still to be computed. */
static uint32_t
rx_open(struct netdev *nd, struct pkt *pkts[], uint32_t max)
{
    uint32_t n;

    nd->cls = &netdev_mem; /* it looks whose it is */
    n = netdev_mem.rx(nd, pkts, max);
    nd->cls = &open_class;
    for (uint32_t i = 0; i < n; i++)
        pkt_leave_open(pkts[i], 34, 6);
    return n;
}

static void
check_udp(uint32_t port, uint8_t last)
{
    uint8_t frame[2048];
    uint32_t sum, len = rig_take(&rig, port, frame);

    cr_assert_eq(len, 14 + 20 + 30);
    cr_assert_eq(frame[33], last);
    sum = eth_csum_add(0, frame + 26, 8);
    sum = eth_csum_add(sum, (uint8_t[]){0, 17, 0, 30}, 4);
    cr_assert_eq(eth_csum_fold(eth_csum_add(sum, frame + 34, 30)), 0);
}

Test(dp_flow, open_checksums_are_closed_before_a_change)
{
    uint8_t frame[128];
    uint32_t sum, len = rig_ip_frame(frame, 0, 1, 4, NULL, 0, 0, 30, 7);

    frame[39] = 30; /* length of UDP */
    frame[29] = 9;  /* an address, so that there is something to sum */
    sum = eth_csum_add(0, frame + 26, 8);
    sum = eth_csum_add(sum, (uint8_t[]){0, 17, 0, 30}, 4);
    sum = (uint16_t) ~eth_csum_fold(sum); /* of the pseudo header alone */
    frame[40] = (uint8_t) (sum >> 8);
    frame[41] = (uint8_t) sum;
    fr_apply(&rig,
             ACTIONS(a_output(OF_PORT(1)), a_set(OFP_IPV4_DST, 0x01020304),
                     a_output(OF_PORT(2)), a_set(OFP_IPV4_DST, 0x01020305),
                     a_output(OF_PORT(3))));
    rig_inject(&rig, 0, frame, len);
    open_class = netdev_mem;
    open_class.rx = rx_open;
    open_class.rx_deadline = NULL;
    rig.nd[0]->cls = &open_class;
    dp_run(rig.dp, rig.now_ns);
    rig.nd[0]->cls = &netdev_mem;
    rig_settle(&rig);
    check_udp(1, frame[33]);
    check_udp(2, 4);
    check_udp(3, 5);
}
