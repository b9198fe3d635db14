/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/ofproto: groups, meters, ports and tables.
 */
#include "dp/of.h"
#include "ofproto_rig.h"

#include <criterion/criterion.h>
#include <string.h>

static struct rig r;

static void
setup(void)
{
    rig_init(&r);
}

static void
teardown(void)
{
    rig_uninit(&r);
}

TestSuite(ofproto_more, .init = setup, .fini = teardown);

#define assert_refused(ok, what)                                             \
    do {                                                                     \
        char got_[64];                                                       \
        cr_assert_not(ok);                                                   \
        cr_assert_str_eq(ofp_error_name(r.err.type, r.err.code, got_), what, \
                         "%s: %s", got_, r.err.msg);                         \
    } while (0)

#define PORTS(...) \
    (uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4

/* A group of one bucket with those actions. */
static bool
put_group(enum ofp_group_command command, uint32_t id, enum ofp_group_type t,
          struct ofp_bucket b, uint32_t n)
{
    struct ofp_bucket buckets[3] = {b, b, b};
    struct ofp_group_mod m = {command, {id, t, n, buckets}};

    return rig_group_mod(&r, &m);
}

static struct ofp_bucket
bucket(struct ofp_action *a)
{
    return (struct ofp_bucket){.watch_port = OFPP_ANY,
                               .watch_group = OFPG_ANY,
                               .actions = {a ? 1 : 0, a}};
}

static struct ofp_action
to_group(uint32_t id)
{
    return (struct ofp_action){.type = OFP_ACT_GROUP, .group = id};
}

static bool
chain(enum ofp_group_command command, uint32_t id, uint32_t to)
{
    struct ofp_action a = to_group(to);

    return put_group(command, id, OFPGT_ALL, bucket(&a), 1);
}

Test(ofproto_more, groups_exist_or_not)
{
    struct ofproto_group_info g;

    cr_assert(rig_group(&r, OFPGC_ADD, 0, OFPGT_ALL, PORTS(1, 2)));
    assert_refused(rig_group(&r, OFPGC_ADD, 0, OFPGT_ALL, PORTS(1)),
                   "GROUP_MOD_FAILED/GROUP_EXISTS");
    assert_refused(rig_group(&r, OFPGC_MODIFY, 1, OFPGT_ALL, PORTS(1)),
                   "GROUP_MOD_FAILED/UNKNOWN_GROUP");
    assert_refused(rig_group(&r, OFPGC_ADD, OFPG_ALL, OFPGT_ALL, PORTS(1)),
                   "GROUP_MOD_FAILED/INVALID_GROUP");
    cr_assert(rig_group(&r, OFPGC_ADD_OR_MODIFY, 1, OFPGT_SELECT, PORTS(1)));
    cr_assert(rig_group(&r, OFPGC_ADD_OR_MODIFY, 1, OFPGT_FF, PORTS(1, 2)));
    rig_run(&r);
    cr_assert_eq(fake_n_groups(r.tables), 2);
    cr_assert(ofproto_group(r.o, 1, r.now_ns + NS, &g));
    cr_assert_eq(g.group->type, OFPGT_FF);
    cr_assert_eq(g.group->n_buckets, 2);
    cr_assert_eq(g.duration_ns, NS);
    cr_assert(ofproto_group_after(r.o, -1, r.now_ns, &g));
    cr_assert_eq(g.group->id, 0);
    cr_assert(ofproto_group_after(r.o, 0, r.now_ns, &g));
    cr_assert_eq(g.group->id, 1);
    cr_assert_not(ofproto_group_after(r.o, 1, r.now_ns, &g));
    cr_assert(rig_group(&r, OFPGC_DELETE, 5, OFPGT_ALL, NULL, 0));
    cr_assert(rig_group(&r, OFPGC_DELETE, OFPG_ALL, OFPGT_ALL, NULL, 0));
    rig_run(&r);
    cr_assert_eq(fake_n_groups(r.tables), 0);
}

Test(ofproto_more, what_groups_may_be)
{
    struct ofp_action bad_port = {.type = OFP_ACT_OUTPUT,
                                  .output = {.port = 99}};
    struct ofp_bucket b = bucket(NULL);

    assert_refused(put_group(OFPGC_ADD, 1, OFPGT_INDIRECT, b, 2),
                   "GROUP_MOD_FAILED/INVALID_GROUP");
    assert_refused(put_group(OFPGC_ADD, 1, OFPGT_INDIRECT, b, 0),
                   "GROUP_MOD_FAILED/INVALID_GROUP");
    assert_refused(put_group(OFPGC_ADD, 1, (enum ofp_group_type) 4, b, 1),
                   "GROUP_MOD_FAILED/BAD_TYPE");
    b.weight = 1;
    assert_refused(put_group(OFPGC_ADD, 1, OFPGT_ALL, b, 1),
                   "GROUP_MOD_FAILED/INVALID_GROUP");
    b.weight = 0;
    assert_refused(put_group(OFPGC_ADD, 1, OFPGT_FF, b, 1),
                   "GROUP_MOD_FAILED/INVALID_GROUP");
    b.watch_port = 9;
    assert_refused(put_group(OFPGC_ADD, 1, OFPGT_FF, b, 1),
                   "GROUP_MOD_FAILED/BAD_WATCH");
    b.watch_port = 1;
    assert_refused(put_group(OFPGC_ADD, 1, OFPGT_ALL, b, 1),
                   "GROUP_MOD_FAILED/WATCH_UNSUPPORTED");
    b.watch_group = 7;
    assert_refused(put_group(OFPGC_ADD, 1, OFPGT_FF, b, 1),
                   "GROUP_MOD_FAILED/BAD_WATCH");
    b.watch_group = 1;
    assert_refused(put_group(OFPGC_ADD, 1, OFPGT_FF, b, 1),
                   "GROUP_MOD_FAILED/LOOP");
    assert_refused(put_group(OFPGC_ADD, 1, OFPGT_ALL, bucket(&bad_port), 1),
                   "BAD_ACTION/BAD_OUT_PORT");
    cr_assert(put_group(OFPGC_ADD, 1, OFPGT_ALL, bucket(NULL), 0));
    rig_run(&r);
}

Test(ofproto_more, chains_and_loops_of_groups)
{
    struct ofproto_group_info g;

    assert_refused(chain(OFPGC_ADD, 1, 2), "BAD_ACTION/BAD_OUT_GROUP");
    assert_refused(chain(OFPGC_ADD, 1, 1), "GROUP_MOD_FAILED/LOOP");
    cr_assert(rig_group(&r, OFPGC_ADD, 1, OFPGT_ALL, PORTS(1)));
    for (uint32_t id = 2; id <= 17; id++)
        cr_assert(chain(OFPGC_ADD, id, id - 1), "%u: %s", id, r.err.msg);
    assert_refused(chain(OFPGC_ADD, 18, 17),
                   "GROUP_MOD_FAILED/CHAINING_UNSUPPORTED");
    assert_refused(chain(OFPGC_MODIFY, 1, 17), "GROUP_MOD_FAILED/LOOP");
    cr_assert(rig_group(&r, OFPGC_ADD, 20, OFPGT_ALL, PORTS(1)));
    /* It is at the end of the longest chain. */
    assert_refused(chain(OFPGC_MODIFY, 1, 20),
                   "GROUP_MOD_FAILED/CHAINING_UNSUPPORTED");
    cr_assert(chain(OFPGC_MODIFY, 17, 20));
    cr_assert(chain(OFPGC_MODIFY, 1, 20));
    cr_assert(ofproto_group(r.o, 20, r.now_ns, &g));
    cr_assert_eq(g.ref_count, 2);
    assert_refused(rig_group(&r, OFPGC_DELETE, 20, OFPGT_ALL, NULL, 0),
                   "GROUP_MOD_FAILED/CHAINED_GROUP");
    cr_assert(rig_group(&r, OFPGC_DELETE, 17, OFPGT_ALL, NULL, 0));
    cr_assert(ofproto_group(r.o, 20, r.now_ns, &g));
    cr_assert_eq(g.ref_count, 1);
    rig_run(&r);
}

static bool
watch(enum ofp_group_command command, uint32_t id, enum ofp_group_type type,
      uint32_t watched)
{
    struct ofp_bucket b = bucket(NULL);

    b.weight = type == OFPGT_SELECT;
    b.watch_group = watched;
    return put_group(command, id, type, b, 3);
}

/* Groups that watch one another would never be known to be alive. */
Test(ofproto_more, chains_and_loops_of_watched_groups)
{
    assert_refused(watch(OFPGC_ADD, 1, OFPGT_SELECT, 1),
                   "GROUP_MOD_FAILED/LOOP");
    cr_assert(rig_group(&r, OFPGC_ADD, 1, OFPGT_ALL, PORTS(1)));
    for (uint32_t id = 2; id <= 17; id++)
        cr_assert(watch(OFPGC_ADD, id, id % 2 ? OFPGT_FF : OFPGT_SELECT,
                        id - 1),
                  "%u: %s", id, r.err.msg);
    assert_refused(watch(OFPGC_ADD, 18, OFPGT_FF, 17),
                   "GROUP_MOD_FAILED/CHAINING_UNSUPPORTED");
    assert_refused(watch(OFPGC_MODIFY, 1, OFPGT_FF, 17),
                   "GROUP_MOD_FAILED/LOOP");
    cr_assert(rig_group(&r, OFPGC_ADD, 20, OFPGT_ALL, PORTS(1)));
    /* It is at the end of the longest chain. */
    assert_refused(watch(OFPGC_MODIFY, 1, OFPGT_FF, 20),
                   "GROUP_MOD_FAILED/CHAINING_UNSUPPORTED");
    cr_assert(watch(OFPGC_MODIFY, 17, OFPGT_FF, 20));
    cr_assert(watch(OFPGC_MODIFY, 1, OFPGT_FF, 20));
    /* Who forwards to a group may be watched by it. */
    cr_assert(chain(OFPGC_ADD, 30, 17));
    cr_assert(watch(OFPGC_MODIFY, 17, OFPGT_FF, 30));
    rig_run(&r);
}

Test(ofproto_more, wide_chains_take_no_time)
{
    struct ofp_action a[3];
    struct ofp_bucket b[3];
    struct ofp_group_mod m = {OFPGC_ADD, {1, OFPGT_ALL, 3, b}};

    cr_assert(rig_group(&r, OFPGC_ADD, 0, OFPGT_ALL, PORTS(1)));
    /* 3^16 ways to go down. */
    for (uint32_t id = 1; id <= 16; id++) {
        m.group.id = id;
        for (int i = 0; i < 3; i++) {
            a[i] = to_group(id - 1);
            b[i] = bucket(&a[i]);
        }
        cr_assert(rig_group_mod(&r, &m), "%s", r.err.msg);
    }
    m.command = OFPGC_MODIFY;
    cr_assert(rig_group_mod(&r, &m));
    rig_run(&r);
}

Test(ofproto_more, a_deleted_group_takes_its_flows_with_it)
{
    struct ofp_flow_mod m = rig_flow(OFPFC_ADD);

    cr_assert(rig_group(&r, OFPGC_ADD, 1, OFPGT_ALL, PORTS(1)));
    cr_assert(rig_group(&r, OFPGC_ADD, 2, OFPGT_ALL, PORTS(1)));
    m.flags = OFPFF_SEND_FLOW_REM;
    for (uint16_t i = 0; i < 6; i++) {
        m.priority = i;
        rig_group_action(&r, &m, 1 + i % 2);
        cr_assert(rig_flow_mod(&r, &m));
    }
    cr_assert(rig_group(&r, OFPGC_DELETE, 1, OFPGT_ALL, NULL, 0));
    rig_run(&r);
    cr_assert_eq(ofproto_n_flows(r.o), 3);
    cr_assert_eq(r.n_removed, 3);
    cr_assert_eq(r.removed.reason, OFPRR_GROUP_DELETE);
    cr_assert_eq(fake_n_flows(r.tables), 3);
    cr_assert_eq(fake_n_groups(r.tables), 1);
}

Test(ofproto_more, a_group_in_a_bundle_that_fails)
{
    struct ofp_flow_mod m = rig_flow(OFPFC_ADD), bad = rig_flow(OFPFC_ADD);
    struct ofp_group_mod del = {OFPGC_DELETE, {.id = OFPG_ALL}};
    struct ofp_meter_mod meter = {
        OFPMC_ADD, {.id = 3, .n_bands = 1, .band = {{OFPMBT_DROP, 9, 0, 0}}}};
    struct ofproto_mod mods[] = {
        {.type = OFPROTO_METER_MOD, .meter = &meter},
        {.type = OFPROTO_GROUP_MOD, .group = &del},
        {.type = OFPROTO_FLOW_MOD, .flow = &bad},
    };
    struct ofproto_group_info g;
    struct ofproto_meter_info info;

    cr_assert(rig_group(&r, OFPGC_ADD, 1, OFPGT_ALL, PORTS(1)));
    cr_assert(chain(OFPGC_ADD, 2, 1));
    rig_group_action(&r, &m, 2);
    cr_assert(rig_flow_mod(&r, &m));
    bad.table = 255;
    cr_assert_not(
        ofproto_apply(r.o, mods, 3, true, r.now_ns, &r.failed, &r.err));
    cr_assert_eq(ofproto_n_flows(r.o), 1);
    cr_assert(ofproto_group(r.o, 2, r.now_ns, &g));
    cr_assert_eq(g.ref_count, 1);
    cr_assert(ofproto_group(r.o, 1, r.now_ns, &g));
    cr_assert_eq(g.ref_count, 1);
    cr_assert_not(ofproto_meter(r.o, 3, r.now_ns, &info));
    rig_run(&r);
    cr_assert_eq(fake_n_groups(r.tables), 2);
}

static struct ofp_meter_mod
meter(enum ofp_meter_command command, uint32_t id)
{
    return (struct ofp_meter_mod){
        command,
        {.id = id,
         .flags = OFPMF_KBPS,
         .n_bands = 1,
         .band = {{.type = OFPMBT_DROP, .rate = 1000, .burst = 100}}}};
}

Test(ofproto_more, meters)
{
    struct ofp_meter_mod m = meter(OFPMC_ADD, 1);
    struct ofp_flow_mod f = rig_flow(OFPFC_ADD);
    struct ofproto_meter_info info;

    cr_assert(rig_meter_mod(&r, &m));
    assert_refused(rig_meter_mod(&r, &m), "METER_MOD_FAILED/METER_EXISTS");
    m.meter.id = 2;
    m.command = OFPMC_MODIFY;
    assert_refused(rig_meter_mod(&r, &m), "METER_MOD_FAILED/UNKNOWN_METER");
    m = meter(OFPMC_ADD, 0);
    assert_refused(rig_meter_mod(&r, &m), "METER_MOD_FAILED/INVALID_METER");
    m.meter.id = OFPM_SLOWPATH;
    assert_refused(rig_meter_mod(&r, &m), "METER_MOD_FAILED/INVALID_METER");
    m.meter.id = OFPM_CONTROLLER;
    cr_assert(rig_meter_mod(&r, &m));
    m = meter(OFPMC_ADD, 2);
    m.meter.flags = 0x10;
    assert_refused(rig_meter_mod(&r, &m), "METER_MOD_FAILED/BAD_FLAGS");
    m.meter.flags = OFPMF_KBPS | OFPMF_PKTPS;
    assert_refused(rig_meter_mod(&r, &m), "METER_MOD_FAILED/BAD_FLAGS");
    m.meter.flags = OFPMF_PKTPS | OFPMF_BURST;
    m.meter.band[0].burst = 0;
    assert_refused(rig_meter_mod(&r, &m), "METER_MOD_FAILED/BAD_BURST");
    m.meter.band[0].rate = 0;
    assert_refused(rig_meter_mod(&r, &m), "METER_MOD_FAILED/BAD_RATE");
    m.meter.band[0].type = (enum ofp_band_type) 3;
    assert_refused(rig_meter_mod(&r, &m), "METER_MOD_FAILED/BAD_BAND");
    m.meter.n_bands = 17;
    assert_refused(rig_meter_mod(&r, &m), "METER_MOD_FAILED/OUT_OF_BANDS");
    f.inst.has_meter = true;
    f.inst.meter = 1;
    f.flags = OFPFF_SEND_FLOW_REM;
    cr_assert(rig_flow_mod(&r, &f));
    cr_assert(ofproto_meter(r.o, 1, r.now_ns, &info));
    cr_assert_eq(info.flow_count, 1);
    m = meter(OFPMC_MODIFY, 1);
    m.meter.band[0].rate = 5;
    cr_assert(rig_meter_mod(&r, &m));
    cr_assert(ofproto_meter_after(r.o, 0, r.now_ns + NS, &info));
    cr_assert_eq(info.meter->band[0].rate, 5);
    cr_assert_eq(info.flow_count, 1);
    cr_assert_eq(info.duration_ns, NS);
    m = meter(OFPMC_DELETE, OFPM_ALL);
    cr_assert(rig_meter_mod(&r, &m));
    rig_run(&r);
    cr_assert_eq(r.n_removed, 1);
    cr_assert_eq(r.removed.reason, OFPRR_METER_DELETE);
    cr_assert_eq(fake_n_meters(r.tables), 0);
    cr_assert(rig_meter_mod(&r, &m));
}

Test(ofproto_more, ports_come_change_and_go)
{
    struct ofp_port p = *ofproto_port(r.o, 2);

    cr_assert_eq(r.n_port_status, 4);
    cr_assert_eq(r.port_reason, OFPPR_ADD);
    ofproto_set_port(r.o, &p);
    cr_assert_eq(r.n_port_status, 4);
    p.state = OFPPS_LINK_DOWN;
    ofproto_set_port(r.o, &p);
    cr_assert_eq(r.n_port_status, 5);
    cr_assert_eq(r.port_reason, OFPPR_MODIFY);
    cr_assert_eq(r.port.state, OFPPS_LINK_DOWN);
    strcpy(p.name, "other");
    ofproto_set_port(r.o, &p);
    cr_assert_eq(r.n_port_status, 7);
    cr_assert_eq(r.port_reason, OFPPR_ADD);
    p = (struct ofp_port){.number = OFPP_LOCAL, .name = "br0"};
    ofproto_set_port(r.o, &p);
    cr_assert_eq(ofproto_port_after(r.o, 0)->number, 1);
    cr_assert_eq(ofproto_port_after(r.o, 4)->number, OFPP_LOCAL);
    cr_assert_null(ofproto_port_after(r.o, OFPP_LOCAL));
    ofproto_del_port(r.o, 1);
    cr_assert_eq(r.port_reason, OFPPR_DELETE);
    cr_assert_eq(r.port.number, 1);
    ofproto_del_port(r.o, 1);
    cr_assert_eq(r.n_port_status, 9);
}

static bool
port_mod(const struct ofp_port_mod *m)
{
    struct ofproto_mod mod = {.type = OFPROTO_PORT_MOD, .port = m};

    return ofproto_apply(r.o, &mod, 1, false, r.now_ns, &r.failed, &r.err);
}

Test(ofproto_more, port_mod)
{
    struct ofp_port_mod m = {.port = 2, .hw_addr = {2, 0, 0, 0, 0, 2}};
    struct ofp_port p;

    m.config = UINT32_MAX;
    m.mask = OFPPC_NO_FWD | OFPPC_NO_RECV;
    cr_assert(port_mod(&m), "%s", r.err.msg);
    cr_assert_eq(r.config_port, 2);
    cr_assert_eq(r.config, OFPPC_NO_FWD | OFPPC_NO_RECV);
    cr_assert_eq(r.port_reason, OFPPR_MODIFY);
    cr_assert_eq(r.port.config, OFPPC_NO_FWD | OFPPC_NO_RECV);
    m.config = 0;
    m.mask = OFPPC_NO_RECV;
    cr_assert(port_mod(&m));
    cr_assert_eq(ofproto_port(r.o, 2)->config, OFPPC_NO_FWD);
    /* What the interface is like has no say in it. */
    p = *ofproto_port(r.o, 2);
    p.state = OFPPS_LINK_DOWN;
    p.config = 0;
    ofproto_set_port(r.o, &p);
    cr_assert_eq(ofproto_port(r.o, 2)->config, OFPPC_NO_FWD);
    m.mask = 1u << 1;
    assert_refused(port_mod(&m), "PORT_MOD_FAILED/BAD_CONFIG");
    m.hw_addr[5] = 3;
    assert_refused(port_mod(&m), "PORT_MOD_FAILED/BAD_HW_ADDR");
    m.port = 9;
    assert_refused(port_mod(&m), "PORT_MOD_FAILED/BAD_PORT");
    m = (struct ofp_port_mod){.port = 2, .hw_addr = {2, 0, 0, 0, 0, 2}};
    m.advertise = OFPPF_10MB_HD;
    assert_refused(port_mod(&m), "PORT_MOD_FAILED/BAD_ADVERTISE");
}

Test(ofproto_more, packet_outs)
{
    struct ofp_action a = {.type = OFP_ACT_OUTPUT,
                           .output = {.port = OFPP_TABLE}};
    struct ofp_actions l = {1, &a};

    cr_assert(ofproto_check_packet_out(r.o, OFPP_CONTROLLER, &l, &r.err));
    cr_assert(ofproto_check_packet_out(r.o, 1, &l, &r.err));
    assert_refused(ofproto_check_packet_out(r.o, 9, &l, &r.err),
                   "BAD_REQUEST/BAD_PORT");
    a.output.port = 9;
    assert_refused(ofproto_check_packet_out(r.o, 1, &l, &r.err),
                   "BAD_ACTION/BAD_OUT_PORT");
    a = to_group(1);
    assert_refused(ofproto_check_packet_out(r.o, 1, &l, &r.err),
                   "BAD_ACTION/BAD_OUT_GROUP");
}

static bool
table_mod(uint8_t table, uint32_t config)
{
    struct ofp_table_mod m = {table, config};
    struct ofproto_mod mod = {.type = OFPROTO_TABLE_MOD, .table = &m};

    return ofproto_apply(r.o, &mod, 1, false, r.now_ns, &r.failed, &r.err);
}

Test(ofproto_more, tables)
{
    struct ofp_flow_mod m = rig_flow(OFPFC_ADD);
    struct ofproto_table_info info;

    m.table = 253;
    cr_assert(rig_flow_mod(&r, &m));
    ofproto_table(r.o, 253, &info);
    cr_assert_eq(info.n_active, 1);
    cr_assert_eq(info.max_entries, OFPROTO_MAX_FLOWS);
    cr_assert(table_mod(253, 3));
    ofproto_table(r.o, 253, &info);
    cr_assert_eq(info.config, 3);
    cr_assert(table_mod(OFPTT_ALL, 0));
    ofproto_table(r.o, 253, &info);
    cr_assert_eq(info.config, 0);
    assert_refused(table_mod(254, 0), "TABLE_MOD_FAILED/BAD_TABLE");
    assert_refused(table_mod(0, 4), "TABLE_MOD_FAILED/BAD_CONFIG");
    rig_run(&r);
}

Test(ofproto_more, table_features)
{
    struct ofp_table_features f[2];
    struct ofp_flow_mod m = rig_flow(OFPFC_ADD);

    ofproto_table_features(r.o, 0, &f[0]);
    ofproto_table_features(r.o, 253, &f[1]);
    cr_assert_str_eq(f[0].name, "table0");
    cr_assert(f[0].entry.instructions & OFP_INST_GOTO);
    cr_assert_not(f[1].entry.instructions & OFP_INST_GOTO);
    cr_assert_eq(f[0].entry.next[0], 0xfe);
    cr_assert_eq(f[0].entry.next[31], 0x3f);
    cr_assert(f[0].mask >> OFP_ETH_DST & 1);
    cr_assert_not(f[0].mask >> OFP_IN_PORT & 1);
    cr_assert_not(f[0].entry.apply_set_fields >> OFP_IN_PORT & 1);
    /* What it says of itself can be asked for. */
    strcpy(f[0].name, "acl");
    f[0].max_entries = 1;
    cr_assert(ofproto_set_table_features(r.o, f, 2, &r.err), "%s", r.err.msg);
    ofproto_table_features(r.o, 0, &f[1]);
    cr_assert_str_eq(f[1].name, "acl");
    cr_assert(rig_flow_mod(&r, &m));
    m.priority = 1;
    assert_refused(rig_flow_mod(&r, &m), "FLOW_MOD_FAILED/TABLE_FULL");
    f[1].match = 1;
    strcpy(f[0].name, "no");
    assert_refused(ofproto_set_table_features(r.o, f, 2, &r.err),
                   "TABLE_FEATURES_FAILED/EPERM");
    f[1].table = 254;
    assert_refused(ofproto_set_table_features(r.o, f, 2, &r.err),
                   "TABLE_FEATURES_FAILED/BAD_TABLE");
    ofproto_table_features(r.o, 0, &f[1]);
    cr_assert_str_eq(f[1].name, "acl");
    f[1].metadata_write = 1;
    assert_refused(ofproto_set_table_features(r.o, &f[1], 1, &r.err),
                   "TABLE_FEATURES_FAILED/BAD_METADATA");
    rig_run(&r);
}

Test(ofproto_more, what_is_kept_is_marked)
{
    struct ofp_flow_mod m = rig_flow(OFPFC_ADD);
    struct ofproto_mod mod = {.type = OFPROTO_FLOW_MOD,
                              .flow = &m,
                              .persist = true};
    struct ofproto_filter f = rig_all();
    uint64_t before = ofproto_persist_generation(r.o);

    f.persist_only = true;
    cr_assert(ofproto_apply(r.o, &mod, 1, false, r.now_ns, NULL, &r.err));
    cr_assert_neq(ofproto_persist_generation(r.o), before);
    before = ofproto_persist_generation(r.o);
    cr_assert_eq(rig_count(&r, &f, NULL), 1);
    m.priority = 1;
    cr_assert(rig_flow_mod(&r, &m));
    cr_assert_eq(ofproto_persist_generation(r.o), before);
    m.priority = 100;
    cr_assert(rig_flow_mod(&r, &m)); /* a controller replaces it */
    cr_assert_neq(ofproto_persist_generation(r.o), before);
    cr_assert_eq(rig_count(&r, &f, NULL), 0);
    rig_run(&r);
}
