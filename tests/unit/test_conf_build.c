/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/conf: what a datapath is told: rates, lossless groups and queues, maps,
 * headroom, and how the memory of a bridge is split.
 */
#include "conf/conf.h"
#include "qos/headroom.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct conf *c;
static struct conf_bridge *br;
static struct conf_port *eth1;
static struct err err;

static void
set_up(void)
{
    c = conf_create();
    err_clear(&err);
    cr_assert_eq(conf_add_bridge(c, "br0", &br, &err), 0);
    cr_assert_eq(conf_add_port(c, br, "eth1", "tap", &eth1, &err), 0);
}

static void
tear_down(void)
{
    conf_destroy(c);
}

TestSuite(conf_build, .init = set_up, .fini = tear_down);

static void
add_port(const char *name)
{
    struct conf_port *p;

    cr_assert_eq(conf_add_port(c, br, name, "mem", &p, &err), 0, "%s",
                 err.msg);
}

static const struct conf_live live = {.speed_bps = UINT64_C(1000000000),
                                      .mtu = 1500,
                                      .mac = {2, 0, 0, 0, 0, 7}};

static struct dp_plan_port *
build(const struct conf_port *p)
{
    static struct dp_plan_port plan;

    memset(&plan, 0xa5, sizeof(plan));
    plan.is_new = true;
    conf_build_port(br, p, &live, 0, &plan);
    cr_assert(plan.is_new);
    return &plan;
}

Test(conf_build, the_rate_that_quanta_go_by)
{
    struct conf_live unknown = {.mtu = 1500};

    cr_assert_eq(conf_port_rate(eth1, &live), 1000000000);
    cr_assert_eq(conf_port_rate(eth1, &unknown), UINT64_C(10000000000));
    cr_assert_eq(conf_port_rate(eth1, NULL), UINT64_C(10000000000));
    cr_assert_eq(build(eth1)->rate_bps, 0);
    cr_assert_eq(build(eth1)->pfc.rate_bps, 1000000000);
    eth1->rate_bps = 200000000;
    cr_assert_eq(build(eth1)->rate_bps, 200000000);
    cr_assert_eq(build(eth1)->pfc.rate_bps, 200000000);
    cr_assert_eq(build(eth1)->pfc.peer_bps, 1000000000);
}

Test(conf_build, a_port_honours_what_it_sends_or_all)
{
    eth1->pfc_prios = 0x08;
    cr_assert_eq(build(eth1)->pfc.honoured, 0x08);
    eth1->pfc_asymmetric = true;
    cr_assert_eq(build(eth1)->pfc.enabled, 0x08);
    cr_assert_eq(build(eth1)->pfc.honoured, 0xff);
}

Test(conf_build, groups_are_lossless_by_the_ports_own_pfc)
{
    struct dp_plan_port *plan;

    eth1->pfc_prios = 0x18;
    eth1->map.given = CONF_MAP_GROUP;
    memcpy(eth1->map.prio_to_pg, "\0\0\0\3\3\5\0\0", 8);
    cr_assert_eq(conf_lossless_groups(br, eth1), 0x08);
    plan = build(eth1);
    cr_assert(plan->pg[3].lossless);
    cr_assert_not(plan->pg[0].lossless);
    cr_assert_eq(plan->pg_prios[3], 0x18);
    cr_assert_eq(plan->pg_prios[0], 0xc7);
    cr_assert_eq(plan->pg_prios[4], 0);
    cr_assert_gt(plan->pg[3].headroom_bytes, 0);
    cr_assert_eq(plan->pg[0].headroom_bytes, 0);
    eth1->pfc_prios = 0;
    eth1->pause_tx = true;
    cr_assert_eq(conf_lossless_groups(br, eth1), 0x29);
}

/* A frame that came in under the promise keeps it on a port without PFC. */
Test(conf_build, queues_are_lossless_by_any_ports_pfc)
{
    struct conf_port *out;

    add_port("out");
    out = conf_find_port(c, "out", NULL);
    cr_assert_eq(conf_lossless_queues(br, out), 0);
    eth1->pfc_prios = 1u << 3;
    cr_assert_eq(conf_lossless_queues(br, out), 1u << 3);
    cr_assert_eq(conf_lossless_groups(br, out), 0);
    out->map.given = CONF_MAP_QUEUE;
    memcpy(out->map.prio_to_queue, "\0\1\2\6\4\5\6\7", 8);
    cr_assert_eq(conf_lossless_queues(br, out), 1u << 6);
    cr_assert(build(out)->queue[6].lossless);
    cr_assert_not(build(out)->queue[3].lossless);
    eth1->pfc_prios = 0;
    eth1->pause_tx = true;
    cr_assert_eq(conf_lossless_queues(br, out), 0xf7);
}

Test(conf_build, a_port_takes_from_the_bridge_what_it_does_not_give)
{
    struct dp_plan_port *plan;

    br->map.trust = DP_TRUST_PORT;
    br->map.default_prio = 5;
    memset(br->map.prio_to_queue, 1, 8);
    eth1->map.given = CONF_MAP_DEFAULT;
    eth1->map.default_prio = 2;
    plan = build(eth1);
    cr_assert_eq(plan->trust, DP_TRUST_PORT);
    cr_assert_eq(plan->default_prio, 2);
    cr_assert_eq(plan->prio_to_queue[7], 1);
    cr_assert_eq(plan->pcp_to_prio[7], 7);
}

Test(conf_build, scheduling_limits_and_vlans_are_passed_on)
{
    struct dp_plan_port *plan;

    eth1->queue[0] = (struct conf_queue){.ets = true,
                                         .weight = 100,
                                         .max_rate_bps = 5000000,
                                         .limit_bytes = 40000,
                                         .alpha = BUF_ALPHA_NONE};
    eth1->vlan_mode = DP_VLAN_NATIVE_UNTAGGED;
    eth1->tag = 7;
    eth1->n_trunks = 2;
    eth1->trunks[0] = 63;
    eth1->trunks[1] = 4094;
    plan = build(eth1);
    cr_assert_eq(plan->sched.strict, 0xfe);
    cr_assert_eq(plan->sched.weight[0], 100);
    cr_assert_eq(plan->queue[0].max_rate_bps, 5000000);
    cr_assert_eq(plan->queue[0].limit_bytes, 40000);
    cr_assert_eq(plan->vlan_mode, DP_VLAN_NATIVE_UNTAGGED);
    cr_assert_eq(plan->tag, 7);
    cr_assert_not(plan->all_trunks);
    cr_assert_eq(plan->trunks[0], UINT64_C(1) << 63);
    cr_assert_eq(plan->trunks[63], UINT64_C(1) << 62);
    cr_assert_eq(plan->trunks[1], 0);
    cr_assert_arr_eq(plan->mac, live.mac, 6);
    eth1->n_trunks = 0;
    cr_assert(build(eth1)->all_trunks);
}

Test(conf_build, s4_maps_of_dscp_and_rewrites_are_passed_on)
{
    struct dp_plan_port *plan = build(eth1);

    for (int d = 0; d < 64; d++)
        cr_assert_eq(plan->dscp_to_prio[d], d >> 3);
    cr_assert_eq(plan->rewrite_pcp, 0);
    cr_assert_eq(plan->rewrite_dscp, 0);
    cr_assert_eq(plan->prio_tags, DP_PRIO_TAGS_KEEP);
    br->map.trust = DP_TRUST_DSCP;
    br->map.dscp_to_prio[26] = 4;
    br->map.prio_to_pcp[5] = 2;
    br->map.prio_to_dscp[3] = 26;
    br->map.prio_tags = DP_PRIO_TAGS_ALWAYS;
    plan = build(eth1);
    cr_assert_eq(plan->trust, DP_TRUST_DSCP);
    cr_assert_eq(plan->dscp_to_prio[26], 4);
    cr_assert_eq(plan->rewrite_pcp, 1u << 5);
    cr_assert_eq(plan->prio_to_pcp[5], 2);
    cr_assert_eq(plan->rewrite_dscp, 1u << 3);
    cr_assert_eq(plan->prio_to_dscp[3], 26);
    cr_assert_eq(plan->prio_tags, DP_PRIO_TAGS_ALWAYS);
    /* The port's own, one member or another. */
    eth1->map.given = CONF_MAP_TO_DSCP | CONF_MAP_DSCP | CONF_MAP_PRIO_TAGS;
    plan = build(eth1);
    cr_assert_eq(plan->dscp_to_prio[26], 3);
    cr_assert_eq(plan->rewrite_dscp, 0);
    cr_assert_eq(plan->rewrite_pcp, 1u << 5);
    cr_assert_eq(plan->prio_tags, DP_PRIO_TAGS_KEEP);
}

Test(conf_build, s11_wred_is_passed_on)
{
    struct dp_plan_port *plan = build(eth1);

    cr_assert_eq(plan->queue[3].wred.max_bytes, 0);
    eth1->queue[3].wred_min_bytes = 1000;
    eth1->queue[3].wred_max_bytes = 2000;
    eth1->queue[3].wred_percent = 5;
    eth1->queue[3].ecn = true;
    plan = build(eth1);
    cr_assert_eq(plan->queue[3].wred.min_bytes, 1000);
    cr_assert_eq(plan->queue[3].wred.max_bytes, 2000);
    cr_assert_eq(plan->queue[3].wred.percent, 5);
    cr_assert(plan->queue[3].wred.ecn);
}

Test(conf_build, the_longest_frame_is_the_interfaces_or_the_bridges)
{
    br->max_frame_bytes = 9000;
    cr_assert_eq(build(eth1)->max_frame_bytes, 1518);
    br->max_frame_bytes = 1514;
    cr_assert_eq(build(eth1)->max_frame_bytes, 1514);
}

Test(conf_build, xon_offset_0_leaves_xon_to_rule)
{
    struct buf_pool pool = {.shared_bytes = 1 << 20};
    struct buf_group g;

    memset(&g, 0, sizeof(g));
    eth1->pfc_prios = 8;
    g.conf = build(eth1)->pg[3];
    cr_assert_eq(buf_admit(&pool, &g, 129572, UINT32_MAX), BUF_OK);
    cr_assert_eq(buf_admit(&pool, &g, 1500, UINT32_MAX), BUF_OK);
    cr_assert(g.xoff);
    buf_release(&pool, &g, 1500, UINT32_MAX);
    cr_assert(g.xoff, "XON must wait for xon_bytes");
    eth1->group[3].xon_offset_bytes = 1000;
    cr_assert_eq(build(eth1)->pg[3].xon_offset_bytes, 1000);
}

Test(conf_build, headroom_follows_rate_delay_and_stall)
{
    uint64_t base, longer;

    base = conf_port_headroom(br, eth1, 3, &live, 0);
    /* 2 ms of 1 Gb/s and a batch of 32 frames, at least. */
    cr_assert_geq(base, 250000 + 32 * 1518);
    longer = conf_port_headroom(br, eth1, 3, &live, 4000000);
    cr_assert_geq(longer, base + 250000);
    eth1->cable_delay_ns = 1000000;
    cr_assert_geq(conf_port_headroom(br, eth1, 3, &live, 0), base + 250000);
    eth1->group[3].headroom_bytes = 12345;
    cr_assert_eq(conf_port_headroom(br, eth1, 3, &live, 0), 12345);
}

Test(conf_build, the_largest_headroom_does_not_wrap)
{
    eth1->rate_bps = CONF_MAX_RATE;
    eth1->cable_delay_ns = CONF_MAX_CABLE_NS;
    cr_assert_geq(conf_port_headroom(br, eth1, 3, &live, 0),
                  UINT64_C(100000000000));
}

static struct dp_plan *
plan_of(uint64_t stall_ns)
{
    struct dp_plan *plan = calloc(1, sizeof(*plan));
    uint32_t i;

    for (i = 0; i < br->n_ports; i++) {
        uint16_t slot = br->ports[i]->slot;

        plan->ports[slot] = calloc(1, sizeof(*plan->ports[slot]));
        conf_build_port(br, br->ports[i], &live, stall_ns, plan->ports[slot]);
        if (slot >= plan->n_slots)
            plan->n_slots = (uint16_t) (slot + 1);
    }
    return plan;
}

static void
free_plan(struct dp_plan *plan)
{
    int i;

    for (i = 0; i < plan->n_slots; i++)
        free(plan->ports[i]);
    free(plan);
}

Test(conf_build, shared_is_what_reserves_and_headrooms_leave)
{
    struct dp_plan *plan;
    uint64_t headroom;

    eth1->pfc_prios = 0x18;
    eth1->group[0].reserved_bytes = 10000;
    br->forward_reserved = true;
    plan = plan_of(0);
    headroom = plan->ports[0]->pg[3].headroom_bytes;
    cr_assert_eq(conf_build_bridge(br, plan, &err), 0, "%s", err.msg);
    cr_assert_eq(plan->shared_bytes,
                 CONF_DEFAULT_MEMORY - 10000 - 2 * headroom);
    cr_assert_eq(plan->mac_ageing_ns, UINT64_C(300000000000));
    cr_assert(plan->forward_reserved);
    free_plan(plan);
}

Test(conf_build, computed_headroom_that_does_not_fit_is_refused)
{
    struct dp_plan *plan;

    br->memory_bytes = 1 << 20;
    eth1->pfc_prios = 0x08;
    cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);
    plan = plan_of(20000000); /* 20 ms of 1 Gb/s */
    cr_assert_eq(conf_build_bridge(br, plan, &err), ENOSPC);
    cr_assert_str_eq(err.path, "/bridges/br0/memory_bytes");
    cr_assert(strstr(err.msg, "of headroom"), "%s", err.msg);
    free_plan(plan);
    plan = plan_of(0);
    cr_assert_eq(conf_build_bridge(br, plan, &err), 0, "%s", err.msg);
    free_plan(plan);
}

Test(conf_build, headroom_finds_buffers)
{
    struct dp_plan *plan;
    struct dp_conf dp;
    uint64_t headroom;

    conf_build_dp(br, &dp);
    plan = plan_of(0); /* nothing lossless: a batch or two for reception */
    cr_assert_eq(conf_build_bridge(br, plan, &err), 0);
    cr_assert_eq(plan->low_buffers, 2 * PKT_BATCH);
    free_plan(plan);
    eth1->pfc_prios = 0x08;
    plan = plan_of(0);
    headroom = plan->ports[0]->pg[3].headroom_bytes;
    cr_assert_eq(conf_build_bridge(br, plan, &err), 0);
    cr_assert_eq(plan->low_buffers, 2 * PKT_BATCH + headroom / 256);
    free_plan(plan);
    /* When there is much of it: half of the buffers, or what frames of full
     * size need. */
    plan = plan_of(200000000);
    headroom = plan->ports[0]->pg[3].headroom_bytes;
    cr_assert_eq(conf_build_bridge(br, plan, &err), 0, "%s", err.msg);
    cr_assert_geq(plan->low_buffers, dp.n_buffers / 2);
    cr_assert_geq((plan->low_buffers - 2 * PKT_BATCH) * UINT64_C(1522),
                  headroom);
    cr_assert_lt(plan->low_buffers, dp.n_buffers);
    free_plan(plan);
}

Test(conf_build, buffers_and_their_descriptors_fit_the_memory)
{
    static const uint64_t memory[] = {1048576, 67108864, UINT64_C(4294967296)};
    static const uint32_t frame[] = {1514, 1522, 9238};
    struct dp_conf dp;
    int i, j;

    for (i = 0; i < 3; i++)
        for (j = 0; j < 3; j++) {
            uint64_t each = pkt_stride(frame[j]) + sizeof(struct pkt);

            br->memory_bytes = memory[i];
            br->max_frame_bytes = frame[j];
            conf_build_dp(br, &dp);
            cr_assert_leq(dp.n_buffers * each, memory[i]);
            cr_assert_gt((dp.n_buffers + 1) * each, memory[i]);
            cr_assert_gt(dp.n_buffers, 3 * PKT_BATCH);
            cr_assert_eq(dp.frame_bytes, frame[j]);
            cr_assert_leq(dp.n_clones * sizeof(struct pkt), 4 << 20);
            cr_assert_geq(dp.n_clones,
                          dp.n_buffers < 32768 ? dp.n_buffers * 2 : 65536);
            cr_assert_geq(dp.mac_entries, 65536);
        }
}
