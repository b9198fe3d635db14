/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/ofproto: what each modification does to flow tables, and what is told of
 * it.  Groups, meters, ports and tables are in test_ofproto_more.c.
 */
#include "base/clock.h"
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

TestSuite(ofproto, .init = setup, .fini = teardown);

#define assert_refused(ok, what)                                             \
    do {                                                                     \
        char got_[64];                                                       \
        cr_assert_not(ok);                                                   \
        cr_assert_str_eq(ofp_error_name(r.err.type, r.err.code, got_), what, \
                         "%s: %s", got_, r.err.msg);                         \
    } while (0)

/* tcp_dst = port, of IPv4. */
static struct ofp_flow_mod
tcp_flow(enum ofp_flow_command command, uint64_t port)
{
    struct ofp_flow_mod m = rig_flow(command);

    rig_match_num(&m.match, OFP_ETH_TYPE, 0x0800, UINT64_MAX);
    rig_match_num(&m.match, OFP_IP_PROTO, 6, UINT64_MAX);
    rig_match_num(&m.match, OFP_TCP_DST, port, UINT64_MAX);
    return m;
}

Test(ofproto, an_added_flow_reads_as_it_was_sent)
{
    struct ofp_flow_mod m = tcp_flow(OFPFC_ADD, 80);
    struct ofproto_flow_info f;

    m.table = 7;
    m.cookie = 0x1234567890;
    m.idle_s = 10;
    m.hard_s = 20;
    m.flags = OFPFF_SEND_FLOW_REM | OFPFF_RESET_COUNTS;
    rig_match_num(&m.match, OFP_IPV4_DST, 0x0a000100, 0xffffff00);
    rig_output(&r, &m, 2);
    m.inst.has_goto = true;
    m.inst.table = 9;
    cr_assert(rig_flow_mod(&r, &m), "%s", r.err.msg);
    rig_run(&r);
    r.now_ns += 3 * NS / 2;
    cr_assert_eq(rig_count(&r, NULL, &f), 1);
    cr_assert_eq(f.table, 7);
    cr_assert_eq(f.priority, 100);
    cr_assert_eq(f.cookie, m.cookie);
    cr_assert_eq(f.idle_s, 10);
    cr_assert_eq(f.hard_s, 20);
    cr_assert_eq(f.flags, m.flags);
    cr_assert_eq(f.duration_ns, 3 * NS / 2);
    cr_assert_eq(f.n_packets, 0);
    cr_assert_eq(memcmp(&f.match, &m.match, sizeof(f.match)), 0);
    cr_assert(ofp_instructions_equal(f.inst, &m.inst));
    cr_assert(fake_find(r.tables, 7, 100, &m.match));
}

Test(ofproto, an_add_replaces_and_keeps_counts)
{
    struct ofp_flow_mod m = tcp_flow(OFPFC_ADD, 80);
    struct ofproto_flow_info f;

    m.flags = OFPFF_SEND_FLOW_REM;
    cr_assert(rig_flow_mod(&r, &m));
    rig_run(&r);
    fake_find(r.tables, 0, 100, &m.match)->count =
        (struct flow_counters){5, 500, r.now_ns};
    r.now_ns += NS;
    m.cookie = 9;
    cr_assert(rig_flow_mod(&r, &m));
    rig_run(&r);
    cr_assert_eq(rig_count(&r, NULL, &f), 1);
    cr_assert_eq(f.cookie, 9);
    cr_assert_eq(f.n_packets, 5);
    cr_assert_eq(f.n_bytes, 500);
    cr_assert_eq(f.duration_ns, 0); /* the entry is new */
    cr_assert_eq(r.n_removed, 0);   /* and the old one is not told of */
    m.flags = OFPFF_RESET_COUNTS;
    cr_assert(rig_flow_mod(&r, &m));
    rig_run(&r);
    rig_count(&r, NULL, &f);
    cr_assert_eq(f.n_packets, 0);
    cr_assert_eq(fake_n_flows(r.tables), 1);
}

Test(ofproto, flows_that_are_not_counted)
{
    struct ofp_flow_mod m = rig_flow(OFPFC_ADD);
    struct ofproto_flow_info f;

    m.flags = OFPFF_NO_BYT_COUNTS;
    cr_assert(rig_flow_mod(&r, &m));
    rig_run(&r);
    rig_count(&r, NULL, &f);
    cr_assert_eq(f.n_packets, 0);
    cr_assert_eq(f.n_bytes, UINT64_MAX);
}

Test(ofproto, modify_keeps_all_but_what_is_done)
{
    struct ofp_flow_mod m = tcp_flow(OFPFC_ADD, 80);
    struct ofproto_flow_info f;

    m.cookie = 1;
    m.idle_s = 60;
    cr_assert(rig_flow_mod(&r, &m));
    rig_run(&r);
    fake_find(r.tables, 0, 100, &m.match)->count.n_packets = 7;
    r.now_ns += NS;
    m.command = OFPFC_MODIFY_STRICT;
    m.cookie = 2;
    m.idle_s = 5;
    rig_output(&r, &m, 3);
    cr_assert(rig_flow_mod(&r, &m));
    rig_run(&r);
    rig_count(&r, NULL, &f);
    cr_assert_eq(f.cookie, 1);
    cr_assert_eq(f.idle_s, 60);
    cr_assert_eq(f.n_packets, 7);
    cr_assert_eq(f.duration_ns, NS);
    cr_assert(ofp_instructions_equal(f.inst, &m.inst));
    cr_assert_eq(
        fake_find(r.tables, 0, 100, &m.match)->code->in.apply.a[0].output.port,
        3);
    m.flags = OFPFF_RESET_COUNTS;
    cr_assert(rig_flow_mod(&r, &m));
    rig_run(&r);
    rig_count(&r, NULL, &f);
    cr_assert_eq(f.n_packets, 0);
}

Test(ofproto, modify_finds_by_match_priority_and_cookie)
{
    struct ofp_flow_mod m = tcp_flow(OFPFC_ADD, 80), all;
    struct ofproto_filter out3 = rig_all();

    m.cookie = 0x10;
    cr_assert(rig_flow_mod(&r, &m));
    m.priority = 50;
    m.cookie = 0x21;
    cr_assert(rig_flow_mod(&r, &m));
    all = rig_flow(OFPFC_MODIFY_STRICT);
    rig_output(&r, &all, 3);
    out3.out_port = 3;
    cr_assert(rig_flow_mod(&r, &all)); /* no entry has that match */
    cr_assert_eq(rig_count(&r, &out3, NULL), 0);
    cr_assert_eq(rig_count(&r, NULL, NULL), 2); /* 1.3 adds nothing */
    all.command = OFPFC_MODIFY;
    all.cookie = 0x20;
    all.cookie_mask = 0xf0;
    cr_assert(rig_flow_mod(&r, &all));
    cr_assert_eq(rig_count(&r, &out3, NULL), 1);
    all.cookie_mask = 0;
    cr_assert(rig_flow_mod(&r, &all));
    cr_assert_eq(rig_count(&r, &out3, NULL), 2);
    /* Of 1.0: what is not there is added, and the cookie goes with it. */
    m = tcp_flow(OFPFC_MODIFY, 443);
    m.version = OFP_V10;
    m.table = OFPTT_ALL;
    m.cookie = 0x33;
    cr_assert(rig_flow_mod(&r, &m), "%s", r.err.msg);
    cr_assert_eq(rig_count(&r, NULL, NULL), 3);
    rig_run(&r);
}

Test(ofproto, delete_filters)
{
    struct ofp_flow_mod m, d;
    struct ofproto_flow_info f;

    cr_assert(rig_group(&r, OFPGC_ADD, 1, OFPGT_ALL, (uint32_t[]){1}, 1));
    for (uint64_t port = 0; port < 8; port++) {
        m = tcp_flow(OFPFC_ADD, port);
        m.cookie = port;
        m.table = (uint8_t) (port & 1);
        m.flags = OFPFF_SEND_FLOW_REM;
        rig_output(&r, &m, 1 + (port & 2));
        if (port == 7)
            rig_group_action(&r, &m, 1);
        cr_assert(rig_flow_mod(&r, &m), "%s", r.err.msg);
    }
    d = rig_flow(OFPFC_DELETE);
    d.table = OFPTT_ALL;
    d.out_group = 1;
    cr_assert(rig_flow_mod(&r, &d));
    cr_assert_eq(ofproto_n_flows(r.o), 7);
    d.out_group = OFPG_ANY;
    d.out_port = 3; /* 2, 3, 6 */
    cr_assert(rig_flow_mod(&r, &d));
    cr_assert_eq(ofproto_n_flows(r.o), 4);
    d.out_port = OFPP_ANY;
    d.cookie = 4; /* 4, 5 */
    d.cookie_mask = 6;
    d.table = 1;
    cr_assert(rig_flow_mod(&r, &d));
    cr_assert_eq(ofproto_n_flows(r.o), 3);
    /* A wider match finds what is within it. */
    d = rig_flow(OFPFC_DELETE);
    rig_match_num(&d.match, OFP_ETH_TYPE, 0x86dd, UINT64_MAX);
    cr_assert(rig_flow_mod(&r, &d));
    cr_assert_eq(ofproto_n_flows(r.o), 3);
    d = tcp_flow(OFPFC_DELETE_STRICT, 0);
    d.priority = 99;
    cr_assert(rig_flow_mod(&r, &d));
    cr_assert_eq(ofproto_n_flows(r.o), 3);
    d.priority = 100;
    cr_assert(rig_flow_mod(&r, &d));
    cr_assert_eq(rig_count(&r, NULL, &f), 2);
    cr_assert_eq(r.n_removed, 0);
    rig_run(&r);
    cr_assert_eq(r.n_removed, 6);
    cr_assert_eq(fake_n_flows(r.tables), 2);
}

Test(ofproto, flow_removed_has_the_last_numbers)
{
    struct ofp_flow_mod m = tcp_flow(OFPFC_ADD, 80);

    m.flags = OFPFF_SEND_FLOW_REM;
    m.cookie = 77;
    m.table = 3;
    m.hard_s = 9;
    cr_assert(rig_flow_mod(&r, &m));
    rig_run(&r);
    r.now_ns += 2 * NS;
    m.command = OFPFC_DELETE;
    m.cookie = 0;
    cr_assert(rig_flow_mod(&r, &m));
    /* What matches before the datapath is told counts too. */
    fake_find(r.tables, 3, 100, &m.match)->count =
        (struct flow_counters){3, 300, r.now_ns};
    rig_run(&r);
    cr_assert_eq(r.n_removed, 1);
    cr_assert_eq(r.removed.reason, OFPRR_DELETE);
    cr_assert_eq(r.removed.cookie, 77);
    cr_assert_eq(r.removed.table, 3);
    cr_assert_eq(r.removed.priority, 100);
    cr_assert_eq(r.removed.hard_s, 9);
    cr_assert_eq(r.removed.duration_ns, 2 * NS);
    cr_assert_eq(r.removed.n_packets, 3);
    cr_assert_eq(r.removed.n_bytes, 300);
    cr_assert_eq(memcmp(&r.removed.match, &m.match, sizeof(m.match)), 0);
}

Test(ofproto, overlap)
{
    struct ofp_flow_mod m = tcp_flow(OFPFC_ADD, 80), other;

    cr_assert(rig_flow_mod(&r, &m));
    other = rig_flow(OFPFC_ADD);
    other.flags = OFPFF_CHECK_OVERLAP;
    rig_match_num(&other.match, OFP_IN_PORT, 1, UINT64_MAX);
    assert_refused(rig_flow_mod(&r, &other), "FLOW_MOD_FAILED/OVERLAP");
    other.priority = 101;
    cr_assert(rig_flow_mod(&r, &other));
    other = tcp_flow(OFPFC_ADD, 81);
    other.flags = OFPFF_CHECK_OVERLAP;
    cr_assert(rig_flow_mod(&r, &other));
    assert_refused(rig_flow_mod(&r, &other), "FLOW_MOD_FAILED/OVERLAP");
    other.flags = 0;
    cr_assert(rig_flow_mod(&r, &other));
    /* Masks that see the same bit differently do not overlap. */
    other = rig_flow(OFPFC_ADD);
    other.flags = OFPFF_CHECK_OVERLAP;
    rig_match_num(&other.match, OFP_ETH_TYPE, 0x0800, UINT64_MAX);
    rig_match_num(&other.match, OFP_IP_PROTO, 6, UINT64_MAX);
    rig_match_num(&other.match, OFP_TCP_DST, 0x1000, 0xf000);
    cr_assert(rig_flow_mod(&r, &other));
    rig_match_num(&other.match, OFP_TCP_DST, 0x0000, 0xff00);
    assert_refused(rig_flow_mod(&r, &other), "FLOW_MOD_FAILED/OVERLAP");
    rig_run(&r);
}

Test(ofproto, what_a_flow_cannot_name)
{
    struct ofp_flow_mod m = rig_flow(OFPFC_ADD);

    m.table = 254;
    assert_refused(rig_flow_mod(&r, &m), "FLOW_MOD_FAILED/BAD_TABLE_ID");
    m.table = OFPTT_ALL;
    assert_refused(rig_flow_mod(&r, &m), "FLOW_MOD_FAILED/BAD_TABLE_ID");
    m.command = OFPFC_MODIFY;
    assert_refused(rig_flow_mod(&r, &m), "FLOW_MOD_FAILED/BAD_TABLE_ID");
    m = rig_flow(OFPFC_ADD);
    m.flags = 0x20;
    assert_refused(rig_flow_mod(&r, &m), "FLOW_MOD_FAILED/BAD_FLAGS");
    m.flags = 0;
    rig_output(&r, &m, 5);
    assert_refused(rig_flow_mod(&r, &m), "BAD_ACTION/BAD_OUT_PORT");
    rig_output(&r, &m, OFPP_LOCAL);
    assert_refused(rig_flow_mod(&r, &m), "BAD_ACTION/BAD_OUT_PORT");
    rig_output(&r, &m, OFPP_ANY);
    assert_refused(rig_flow_mod(&r, &m), "BAD_ACTION/BAD_OUT_PORT");
    r.act[0] = (struct ofp_action){.type = OFP_ACT_SET_QUEUE, .queue = 8};
    assert_refused(rig_flow_mod(&r, &m), "BAD_ACTION/BAD_QUEUE");
    rig_output(&r, &m, OFPP_NORMAL);
    rig_group_action(&r, &m, 1);
    assert_refused(rig_flow_mod(&r, &m), "BAD_ACTION/BAD_OUT_GROUP");
    m = rig_flow(OFPFC_ADD);
    m.table = 4;
    m.inst.has_goto = true;
    m.inst.table = 4;
    assert_refused(rig_flow_mod(&r, &m), "BAD_INSTRUCTION/BAD_TABLE_ID");
    m.inst.table = 254;
    assert_refused(rig_flow_mod(&r, &m), "BAD_INSTRUCTION/BAD_TABLE_ID");
    m.inst.table = 253;
    m.inst.has_meter = true;
    m.inst.meter = 1;
    assert_refused(rig_flow_mod(&r, &m), "METER_MOD_FAILED/UNKNOWN_METER");
    m.inst.has_meter = false;
    cr_assert(rig_flow_mod(&r, &m));
    cr_assert_eq(ofproto_n_flows(r.o), 1);
    rig_run(&r);
}

Test(ofproto, a_full_table)
{
    struct ofproto_conf conf = {.max_flows = 3,
                                .tables = flow_tables_create(1)};
    struct ofproto *o = r.o;
    struct flow_tables *tables = r.tables;
    struct ofp_flow_mod m;

    r.tables = conf.tables;
    r.o = ofproto_create(&conf);
    for (uint64_t i = 0; i < 3; i++) {
        m = tcp_flow(OFPFC_ADD, i);
        m.table = (uint8_t) i;
        cr_assert(rig_flow_mod(&r, &m));
    }
    cr_assert(rig_flow_mod(&r, &m)); /* replaces */
    m.priority = 1;
    assert_refused(rig_flow_mod(&r, &m), "FLOW_MOD_FAILED/TABLE_FULL");
    m.priority = 100;
    m.command = OFPFC_DELETE_STRICT;
    cr_assert(rig_flow_mod(&r, &m));
    m.command = OFPFC_ADD;
    cr_assert(rig_flow_mod(&r, &m));
    ofproto_set_max_flows(r.o, 2);
    m.priority = 1;
    assert_refused(rig_flow_mod(&r, &m), "FLOW_MOD_FAILED/TABLE_FULL");
    ofproto_set_max_flows(r.o, 4);
    cr_assert(rig_flow_mod(&r, &m));
    rig_run(&r);
    ofproto_destroy(r.o);
    flow_tables_destroy(r.tables);
    r.o = o;
    r.tables = tables;
}

Test(ofproto, timeouts)
{
    struct ofp_flow_mod idle = tcp_flow(OFPFC_ADD, 1);
    struct ofp_flow_mod hard = tcp_flow(OFPFC_ADD, 2);
    struct ofp_flow_mod both = tcp_flow(OFPFC_ADD, 3);

    cr_assert_eq(ofproto_expire(r.o, r.now_ns), CLOCK_NEVER);
    idle.flags = hard.flags = both.flags = OFPFF_SEND_FLOW_REM;
    idle.idle_s = 5;
    hard.hard_s = 7;
    both.idle_s = 5;
    both.hard_s = 6;
    r.now_ns += NS / 4;
    cr_assert(rig_flow_mod(&r, &idle));
    cr_assert(rig_flow_mod(&r, &hard));
    cr_assert(rig_flow_mod(&r, &both));
    rig_run(&r);
    /* They are used now and then. */
    for (int i = 1; i <= 4; i++) {
        r.now_ns += NS;
        fake_find(r.tables, 0, 100, &idle.match)->count.used_ns = r.now_ns;
        fake_find(r.tables, 0, 100, &both.match)->count.used_ns = r.now_ns;
        cr_assert_gt(ofproto_expire(r.o, r.now_ns), r.now_ns);
    }
    r.now_ns += 2 * NS - 1;
    ofproto_expire(r.o, r.now_ns);
    rig_run(&r);
    cr_assert_eq(r.n_removed, 0);
    r.now_ns += 1;
    ofproto_expire(r.o, r.now_ns);
    rig_run(&r);
    cr_assert_eq(r.n_removed, 1);
    cr_assert_eq(r.removed.reason, OFPRR_HARD_TIMEOUT);
    cr_assert_eq(r.removed.idle_s, 5);
    cr_assert_eq(r.removed.duration_ns, 6 * NS);
    r.now_ns += NS;
    ofproto_expire(r.o, r.now_ns);
    rig_run(&r);
    cr_assert_eq(r.n_removed, 2);
    cr_assert_eq(r.removed.idle_s, 0);
    r.now_ns += 2 * NS;
    cr_assert_eq(ofproto_expire(r.o, r.now_ns), CLOCK_NEVER);
    rig_run(&r);
    cr_assert_eq(r.n_removed, 3);
    cr_assert_eq(r.removed.reason, OFPRR_IDLE_TIMEOUT);
    cr_assert_eq(r.removed.duration_ns, 9 * NS);
    cr_assert_eq(ofproto_n_flows(r.o), 0);
}

Test(ofproto, timeouts_of_hours)
{
    struct ofp_flow_mod m = rig_flow(OFPFC_ADD);
    uint64_t end = r.now_ns + 65535 * NS;

    m.hard_s = 65535;
    cr_assert(rig_flow_mod(&r, &m));
    rig_run(&r);
    for (; r.now_ns < end; r.now_ns += 1111 * NS)
        ofproto_expire(r.o, r.now_ns);
    cr_assert_eq(ofproto_n_flows(r.o), 1);
    r.now_ns = end;
    ofproto_expire(r.o, r.now_ns);
    cr_assert_eq(ofproto_n_flows(r.o), 0);
    rig_run(&r);
}

Test(ofproto, bundles_are_all_or_nothing)
{
    struct ofp_flow_mod add[3], del = rig_flow(OFPFC_DELETE), bad;
    struct ofp_flow_mod mod = rig_flow(OFPFC_MODIFY);
    struct ofproto_mod mods[6];
    struct ofproto_flow_info f;
    bool atomic = false;

    for (int i = 0; i < 3; i++) {
        add[i] = tcp_flow(OFPFC_ADD, (uint64_t) i);
        mods[i] =
            (struct ofproto_mod){.type = OFPROTO_FLOW_MOD, .flow = &add[i]};
    }
    cr_assert(ofproto_apply(r.o, mods, 3, true, r.now_ns, &r.failed, &r.err));
    cr_assert_eq(rig_run_batches(&r, &atomic), 1);
    cr_assert(atomic);
    /* Deletes all, adds one, modifies it, and then fails. */
    bad = rig_flow(OFPFC_ADD);
    bad.table = 254;
    rig_output(&r, &mod, 2);
    add[0].cookie = 5;
    mods[0] = (struct ofproto_mod){.type = OFPROTO_FLOW_MOD, .flow = &del};
    mods[1] = (struct ofproto_mod){.type = OFPROTO_FLOW_MOD, .flow = &add[0]};
    mods[2] = (struct ofproto_mod){.type = OFPROTO_FLOW_MOD, .flow = &mod};
    mods[3] = (struct ofproto_mod){.type = OFPROTO_FLOW_MOD, .flow = &add[0]};
    mods[4] = (struct ofproto_mod){.type = OFPROTO_FLOW_MOD, .flow = &bad};
    cr_assert_not(
        ofproto_apply(r.o, mods, 5, true, r.now_ns, &r.failed, &r.err));
    cr_assert_eq(r.failed, 4);
    cr_assert_eq(r.err.code, OFPFMFC_BAD_TABLE_ID);
    cr_assert_eq(rig_run_batches(&r, NULL), 0);
    cr_assert_eq(rig_count(&r, NULL, &f), 3);
    cr_assert_eq(f.cookie, 0);
    cr_assert_not(f.inst->has_apply);
    cr_assert_eq(f.match.value.tp_dst, 2); /* the order is the old one */
    cr_assert(ofproto_apply(r.o, mods, 4, true, r.now_ns, &r.failed, &r.err));
    rig_run(&r);
    cr_assert_eq(rig_count(&r, NULL, &f), 1);
    cr_assert_eq(f.cookie, 5);
    cr_assert_not(f.inst->has_apply); /* it was added again after that */
    cr_assert_eq(fake_n_flows(r.tables), 1);
}

Test(ofproto, walks_go_on_while_tables_change)
{
    struct ofp_flow_mod m;
    struct ofproto_walk w;
    struct ofproto_flow_info f;
    struct ofproto_filter all = rig_all();
    unsigned n = 0;

    for (uint64_t i = 0; i < 10; i++) {
        m = tcp_flow(OFPFC_ADD, i);
        m.table = (uint8_t) (i / 5);
        cr_assert(rig_flow_mod(&r, &m));
    }
    cr_assert(ofproto_walk_flows(r.o, &w, OFPTT_ALL, &r.err));
    while (ofproto_next_flow(r.o, &w, &all, r.now_ns, &f) == OFPROTO_ITEM) {
        cr_assert_eq(f.match.value.tp_dst, n == 1 ? 2 : n >= 2 ? n + 2 : n);
        n++;
        if (n == 1) { /* the next goes */
            m = tcp_flow(OFPFC_DELETE, 1);
            cr_assert(rig_flow_mod(&r, &m));
        }
        if (n == 2) { /* the next is replaced, and so younger */
            m = tcp_flow(OFPFC_ADD, 3);
            cr_assert(rig_flow_mod(&r, &m));
        }
        rig_run(&r);
    }
    ofproto_walk_end(r.o, &w);
    cr_assert_eq(n, 8);
    assert_refused(ofproto_walk_flows(r.o, &w, 254, &r.err),
                   "BAD_REQUEST/BAD_TABLE_ID");
}

Test(ofproto, filters_of_statistics)
{
    struct ofp_flow_mod m;
    struct ofproto_filter f = rig_all();
    struct ofp_match match = {.present = 0};

    for (uint64_t i = 0; i < 6; i++) {
        m = tcp_flow(OFPFC_ADD, i & 1);
        m.table = (uint8_t) (i / 2);
        m.priority = (uint16_t) i;
        m.cookie = i;
        rig_output(&r, &m, 1 + (uint32_t) (i & 1));
        cr_assert(rig_flow_mod(&r, &m));
    }
    f.table = 2;
    cr_assert_eq(rig_count(&r, &f, NULL), 2);
    f.table = OFPTT_ALL;
    f.cookie = 4;
    f.cookie_mask = 4;
    cr_assert_eq(rig_count(&r, &f, NULL), 2);
    f.cookie_mask = 0;
    f.out_port = 2;
    cr_assert_eq(rig_count(&r, &f, NULL), 3);
    f.out_port = OFPP_ANY;
    rig_match_num(&match, OFP_ETH_TYPE, 0x0800, UINT64_MAX);
    f.match = &match;
    cr_assert_eq(rig_count(&r, &f, NULL), 6);
    f.strict = true;
    f.priority = 3;
    cr_assert_eq(rig_count(&r, &f, NULL), 0);
    match = tcp_flow(OFPFC_ADD, 1).match;
    cr_assert_eq(rig_count(&r, &f, NULL), 1);
    rig_run(&r);
}

Test(ofproto, flush)
{
    struct ofp_flow_mod m = tcp_flow(OFPFC_ADD, 1);
    struct ofproto_flow_info f;

    m.flags = OFPFF_SEND_FLOW_REM;
    cr_assert(rig_flow_mod(&r, &m));
    cr_assert(rig_group(&r, OFPGC_ADD, 1, OFPGT_ALL, (uint32_t[]){1}, 1));
    ofproto_flush(r.o, true, r.now_ns);
    ofproto_set_default(r.o, FLOW_DEFAULT_NONE);
    rig_run(&r);
    cr_assert_eq(r.n_removed, 0);
    cr_assert_eq(rig_count(&r, NULL, &f), 1);
    cr_assert_eq(f.priority, 0);
    cr_assert_eq(f.cookie, 0);
    cr_assert_eq(f.match.present, 0);
    cr_assert_eq(f.inst->apply.a[0].output.port, OFPP_NORMAL);
    cr_assert_eq(fake_n_groups(r.tables), 0);
    cr_assert_eq(fake_default(r.tables), FLOW_DEFAULT_NONE);
}

Test(ofproto, books_outlive_their_datapath)
{
    struct ofp_flow_mod m = tcp_flow(OFPFC_ADD, 1);
    struct ofproto_flow_info f;
    struct ofproto_group_info g;

    cr_assert(rig_group(&r, OFPGC_ADD, 1, OFPGT_ALL, (uint32_t[]){1}, 1));
    rig_group_action(&r, &m, 1);
    m.idle_s = 10;
    cr_assert(rig_flow_mod(&r, &m));
    ofproto_set_default(r.o, FLOW_DEFAULT_ALWAYS);
    rig_run(&r);
    fake_find(r.tables, 0, 100, &m.match)->count =
        (struct flow_counters){5, 500, r.now_ns + 4 * NS};
    r.now_ns += 5 * NS;
    m.priority = 1;
    cr_assert(rig_flow_mod(&r, &m)); /* not carried out any more */
    ofproto_unbind(r.o);
    cr_assert_eq(fake_n_live, 0);
    flow_tables_destroy(r.tables);
    r.tables = flow_tables_create(2);
    ofproto_rebind(r.o, r.tables);
    rig_run(&r);
    cr_assert_eq(fake_n_flows(r.tables), 2);
    cr_assert_eq(fake_n_groups(r.tables), 1);
    cr_assert_eq(fake_default(r.tables), FLOW_DEFAULT_ALWAYS);
    m.priority = 100;
    fake_find(r.tables, 0, 100, &m.match)->count.n_packets = 2;
    cr_assert_eq(rig_count(&r, NULL, &f), 2);
    cr_assert(ofproto_group(r.o, 1, r.now_ns, &g));
    cr_assert_eq(g.ref_count, 2);
    r.now_ns += 8 * NS; /* 9 after it was used */
    ofproto_expire(r.o, r.now_ns);
    m.command = OFPFC_DELETE_STRICT;
    m.priority = 1;
    rig_flow_mod(&r, &m);
    cr_assert_eq(rig_count(&r, NULL, &f), 1);
    cr_assert_eq(f.n_packets, 7);
    cr_assert_eq(f.n_bytes, 500);
    rig_run(&r);
}

Test(ofproto, a_hundred_thousand_flows_come_and_go)
{
    struct ofp_flow_mod m = tcp_flow(OFPFC_ADD, 1);

    for (uint32_t i = 0; i < 100000; i++) {
        rig_match_num(&m.match, OFP_IPV4_DST, i, UINT64_MAX);
        rig_output(&r, &m, 1 + i % 4);
        cr_assert(rig_flow_mod(&r, &m));
    }
    cr_assert_eq(ofproto_n_flows(r.o), 100000);
    cr_assert_gt(rig_run_batches(&r, NULL), 10); /* bounded pieces */
    cr_assert_eq(fake_n_flows(r.tables), 100000);
    m = rig_flow(OFPFC_DELETE);
    cr_assert(rig_flow_mod(&r, &m));
    cr_assert_eq(ofproto_n_flows(r.o), 0);
}
