/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/conf: the model, its validation (each thing that can be wrong, with the
 * path and the sentence) and the difference.  The JSON form has
 * test_conf_json.c, the build of a plan test_conf_build.c.
 */
#include "conf/blame.h"
#include "conf/conf.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
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

TestSuite(conf, .init = set_up, .fini = tear_down);

static void
add_port(const char *name)
{
    struct conf_port *p;

    cr_assert_eq(conf_add_port(c, br, name, "mem", &p, &err), 0, "%s",
                 err.msg);
}

/* --- the model -------------------------------------------------------- */

Test(conf, defaults_are_valid)
{
    cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);
    cr_assert_eq(br->memory_bytes, CONF_DEFAULT_MEMORY);
    cr_assert_eq(br->max_frame_bytes, 1522);
    cr_assert_eq(br->mac_ageing_s, 300);
    cr_assert_eq(eth1->group[3].xoff_bytes, CONF_DEFAULT_XOFF);
    cr_assert_eq(eth1->group[3].headroom_bytes, CONF_HEADROOM_AUTO);
    cr_assert_eq(eth1->pfc_quanta, 65535);
    cr_assert_not(eth1->queue[5].ets);
    cr_assert_eq(eth1->map.given, 0);
    cr_assert_eq(br->map.prio_to_queue[6], 6);
}

Test(conf, an_empty_configuration_is_valid)
{
    struct conf *empty = conf_create();

    cr_assert_eq(conf_validate(empty, &err), 0);
    conf_destroy(empty);
    conf_destroy(NULL);
}

Test(conf, ports_are_sorted_and_slots_are_the_lowest_free)
{
    add_port("zz");
    add_port("aa");
    cr_assert_str_eq(br->ports[0]->name, "aa");
    cr_assert_str_eq(br->ports[1]->name, "eth1");
    cr_assert_str_eq(br->ports[2]->name, "zz");
    cr_assert_eq(conf_find_port(c, "aa", NULL)->slot, 2);
    cr_assert_eq(conf_del_port(c, "zz", &err), 0);
    add_port("bb");
    cr_assert_eq(conf_find_port(c, "bb", NULL)->slot, 1);
}

Test(conf, a_copy_is_equal_and_its_own)
{
    struct conf *copy = conf_copy(c);

    cr_assert(conf_equal(c, copy));
    conf_find_port(copy, "eth1", NULL)->rate_bps = 1000000;
    cr_assert_not(conf_equal(c, copy));
    cr_assert_eq(eth1->rate_bps, 0);
    conf_destroy(copy);
}

Test(conf, every_member_counts_in_a_comparison)
{
    struct conf_port other = *eth1;

    cr_assert(conf_port_equal(eth1, &other));
    other.queue[7].limit_bytes++;
    cr_assert_not(conf_port_equal(eth1, &other));
    other = *eth1;
    other.n_trunks = 1;
    cr_assert_not(conf_port_equal(eth1, &other));
    other = *eth1;
    other.map.given = CONF_MAP_DEFAULT;
    cr_assert_not(conf_port_equal(eth1, &other));
    other = *eth1;
    other.map.default_prio = 5; /* not given: the bridge's holds anyhow */
    other.slot = 9;
    cr_assert(conf_port_equal(eth1, &other));
}

Test(conf, names_are_unique_in_the_daemon)
{
    struct conf_bridge *b;
    struct conf_port *p;

    cr_assert_eq(conf_add_bridge(c, "br0", &b, &err), EEXIST);
    cr_assert_str_eq(err.msg, "bridge br0 exists already");
    cr_assert_eq(conf_add_bridge(c, "br1", &b, &err), 0);
    cr_assert_eq(conf_add_port(c, b, "eth1", "mem", &p, &err), EEXIST);
    cr_assert_str_eq(err.msg, "port eth1 exists already, in bridge br0");
}

Test(conf, names_are_those_of_interfaces)
{
    static const char *const bad[] = {
        "",     ".",    "..",    "sixteen-letters-", "a/b", "a b", "a:b",
        "a%d1", "-eth", "tab\t", "\xc3\xa9",         "nl\n"};
    struct conf_port *p;
    size_t i;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        cr_assert_eq(conf_add_port(c, br, bad[i], "mem", &p, &err), EINVAL,
                     "%s", bad[i]);
    cr_assert_eq(conf_add_port(c, br, "fifteen-letters", "mem", &p, &err), 0);
    cr_assert_eq(conf_add_port(c, br, "eth0.100@~\"", "mem", &p, &err), 0);
}

Test(conf, an_unknown_type_is_named)
{
    struct conf_port *p;

    cr_assert_eq(conf_add_port(c, br, "eth2", "tpa", &p, &err), EINVAL);
    cr_assert_str_eq(err.path, "/bridges/br0/ports/eth2/type");
    cr_assert_str_eq(err.value, "tpa");
    cr_assert_str_eq(
        err.msg, "port eth2: type \"tpa\" is unknown, did you mean "
                 "\"tap\"?: allowed are afpacket, afxdp, auto, tap and mem");
}

Test(conf, numbers_of_bridges_and_ports_are_bounded)
{
    struct conf_bridge *b;
    struct conf_port *p;
    char name[24];
    int i;

    for (i = 1; i < CONF_MAX_BRIDGES; i++) {
        snprintf(name, sizeof(name), "b%d", i);
        cr_assert_eq(conf_add_bridge(c, name, &b, &err), 0);
    }
    cr_assert_eq(conf_add_bridge(c, "more", &b, &err), ENOSPC);
    for (i = 1; i < DP_MAX_PORTS; i++) {
        snprintf(name, sizeof(name), "p%d", i);
        add_port(name);
    }
    cr_assert_eq(conf_add_port(c, br, "more", "mem", &p, &err), ENOSPC);
    cr_assert_str_eq(err.msg, "port more is one too many for bridge br0: "
                              "allowed are 256 ports");
    cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);
}

Test(conf, what_does_not_exist_is_named_with_what_does)
{
    struct conf_bridge *b;
    struct conf_port *p;

    add_port("eth2");
    cr_assert_eq(conf_need_port(c, "eht1", &b, &p, &err), ENOENT);
    cr_assert_str_eq(err.value, "eht1");
    cr_assert_str_eq(err.allowed, "eth1, eth2");
    cr_assert_str_eq(err.msg, "there is no port \"eht1\", did you mean "
                              "\"eth1\"?: there are eth1, eth2");
    cr_assert_eq(conf_del_bridge(c, "nowhere", &err), ENOENT);
    cr_assert_str_eq(err.msg, "there is no bridge \"nowhere\": there are br0");
    cr_assert_eq(conf_need_port(c, "eth2", &b, &p, &err), 0);
    cr_assert_eq(b, br);
    cr_assert_eq(conf_del_bridge(c, "br0", &err), 0);
    cr_assert_eq(conf_need_port(c, "eth1", NULL, &p, &err), ENOENT);
    cr_assert_str_eq(err.msg, "there is no port \"eth1\": there is none");
}

Test(conf, a_long_list_of_names_is_cut)
{
    struct conf_port *p;
    char name[24];
    int i;

    for (i = 0; i < 200; i++) {
        snprintf(name, sizeof(name), "interface%d", i);
        add_port(name);
    }
    cr_assert_eq(conf_need_port(c, "x", NULL, &p, &err), ENOENT);
    cr_assert(strstr(err.msg, " more"), "%s", err.msg);
    cr_assert(strstr(err.msg, "eth1, interface0"), "%s", err.msg);
}

/* --- what validation refuses ------------------------------------------ */

static void
assert_refused(int code, const char *path, const char *value,
               const char *allowed, const char *msg)
{
    err_clear(&err);
    cr_assert_eq(conf_validate(c, &err), code, "%d %s", err.code, err.msg);
    cr_assert_eq(err.code, code);
    cr_assert_str_eq(err.path, path);
    cr_assert_str_eq(err.value, value);
    cr_assert_str_eq(err.allowed, allowed);
    cr_assert_str_eq(err.msg, msg);
    cr_assert_eq(conf_validate(c, NULL), code);
}

#define P "/bridges/br0/ports/eth1"

Test(conf, xon_above_xoff)
{
    eth1->group[3].xon_bytes = 70000;
    eth1->group[3].xoff_bytes = 65536;
    assert_refused(EINVAL, P "/groups/3/xon_bytes", "70000", "0 to 65536",
                   "port eth1: group 3: xon_bytes 70000 exceeds xoff_bytes "
                   "65536: allowed 0 to 65536");
}

Test(conf, xon_offset_above_xoff)
{
    eth1->group[0].xon_offset_bytes = 200000;
    assert_refused(EINVAL, P "/groups/0/xon_offset_bytes", "200000",
                   "0 to 131072",
                   "port eth1: group 0: xon_offset_bytes 200000 exceeds "
                   "xoff_bytes 131072: allowed 0 to 131072");
}

Test(conf, a_group_must_hold_a_frame)
{
    eth1->group[3] = (struct conf_group){.reserved_bytes = 100,
                                         .xoff_bytes = 1000,
                                         .alpha = BUF_ALPHA_NONE};
    assert_refused(EINVAL, P "/groups/3/xoff_bytes", "1000",
                   "1422 to 4294967296",
                   "port eth1: group 3: xoff_bytes 1000 and reserved_bytes "
                   "100 together do not hold one frame of max_frame_bytes "
                   "1522: allowed 1422 to 4294967296");
    eth1->group[3].xoff_bytes = 1422;
    cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);
}

Test(conf, a_queue_must_hold_a_frame)
{
    br->max_frame_bytes = 9000;
    eth1->queue[2].limit_bytes = 8999;
    assert_refused(EINVAL, P "/queues/2/limit_bytes", "8999",
                   "9000 to 4294967296",
                   "port eth1: queue 2: limit_bytes 8999 does not hold one "
                   "frame of the bridge's max_frame_bytes: allowed 9000 to "
                   "4294967296");
}

Test(conf, weights_that_do_not_sum_to_100)
{
    eth1->queue[0] = (struct conf_queue){.ets = true,
                                         .weight = 30,
                                         .limit_bytes = 131072,
                                         .alpha = BUF_ALPHA_NONE};
    eth1->queue[1] = (struct conf_queue){.ets = true,
                                         .weight = 60,
                                         .limit_bytes = 131072,
                                         .alpha = BUF_ALPHA_NONE};
    assert_refused(EINVAL, P "/queues", "90", "100",
                   "port eth1: the weights of its ets queues (0: 30, 1: 60) "
                   "sum to 90: allowed is a sum of 100");
    eth1->queue[1].weight = 69;
    assert_refused(EINVAL, P "/queues", "99", "100",
                   "port eth1: the weights of its ets queues (0: 30, 1: 69) "
                   "sum to 99: allowed is a sum of 100");
    eth1->queue[1].weight = 70;
    cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);
}

Test(conf, s11_wred_thresholds_in_the_wrong_order)
{
    eth1->queue[3].wred_min_bytes = 2001;
    eth1->queue[3].wred_max_bytes = 2000;
    assert_refused(EINVAL, P "/queues/3/wred_min_bytes", "2001", "0 to 2000",
                   "port eth1: queue 3: wred_min_bytes 2001 exceeds "
                   "wred_max_bytes 2000: allowed 0 to 2000");
    eth1->queue[3].wred_min_bytes = 2000;
    cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);
    eth1->queue[3].wred_percent = 101;
    assert_refused(EINVAL, P "/queues/3/wred_percent", "101", "0 to 100",
                   "port eth1: queue 3: wred_percent 101 is out of range: "
                   "allowed 0 to 100");
}

Test(conf, s11_ecn_needs_thresholds)
{
    eth1->queue[3].ecn = true;
    assert_refused(EINVAL, P "/queues/3/ecn", "true",
                   "false, or a wred_max_bytes",
                   "port eth1: queue 3: ecn true has no thresholds to mark "
                   "by: allowed false, or a wred_max_bytes");
    eth1->queue[3].wred_max_bytes = 2000;
    cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);
}

Test(conf, s4_codes_that_no_map_has)
{
    br->map.dscp_to_prio[63] = 8;
    assert_refused(EINVAL, "/bridges/br0/map/dscp_to_priority", "8",
                   "an array of 64 numbers, 0 to 7",
                   "bridge br0: map: dscp_to_priority 8 is out of range: "
                   "allowed an array of 64 numbers, 0 to 7");
    br->map.dscp_to_prio[63] = 7;
    br->map.prio_to_dscp[7] = 64;
    assert_refused(EINVAL, "/bridges/br0/map/priority_to_dscp", "64",
                   "an array of eight numbers, -1 or 0 to 63",
                   "bridge br0: map: priority_to_dscp 64 is out of range: "
                   "allowed an array of eight numbers, -1 or 0 to 63");
    br->map.prio_to_dscp[7] = 63;
    br->map.prio_to_pcp[0] = 8;
    cr_assert_eq(conf_validate(c, &err), EINVAL);
    br->map.prio_to_pcp[0] = CONF_KEEP;
    cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);
}

Test(conf, weights_where_they_do_not_belong)
{
    eth1->queue[4].weight = 10;
    assert_refused(EINVAL, P "/queues/4/weight", "10", "0, or mode ets",
                   "port eth1: queue 4: weight 10 is given for a strict "
                   "queue: allowed 0, or mode ets");
    eth1->queue[4].ets = true;
    eth1->queue[4].weight = 0;
    assert_refused(EINVAL, P "/queues/4/weight", "0", "1 to 100",
                   "port eth1: queue 4: weight 0 is no share for an ets "
                   "queue: allowed 1 to 100");
    eth1->queue[4].weight = 101;
    assert_refused(EINVAL, P "/queues/4/weight", "101", "0 to 100",
                   "port eth1: queue 4: weight 101 is out of range: allowed "
                   "0 to 100");
}

Test(conf, pfc_and_pause_exclude_each_other)
{
    eth1->pfc_prios = 0x18;
    eth1->pause_tx = true;
    assert_refused(EINVAL, P "/pause/tx", "true",
                   "false, or no pfc priorities",
                   "port eth1: pause: tx true excludes PFC, which is on "
                   "(priority mask 0x18): allowed false, or no pfc "
                   "priorities");
    eth1->pfc_prios = 0;
    eth1->pfc_asymmetric = true;
    eth1->pause_rx = true;
    assert_refused(EINVAL, P "/pause/rx", "true",
                   "false, or pfc asymmetric false",
                   "port eth1: pause: rx true excludes PFC, which pfc "
                   "asymmetric honours: allowed false, or pfc asymmetric "
                   "false");
    eth1->pfc_asymmetric = false;
    cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);
}

Test(conf, vlan_members_that_the_mode_has_no_use_for)
{
    eth1->tag = 10;
    assert_refused(EINVAL, P "/vlan/tag", "10",
                   "0, or another mode (access, native-tagged, "
                   "native-untagged)",
                   "port eth1: vlan: tag 10 has no meaning in mode trunk: "
                   "allowed 0, or another mode (access, native-tagged, "
                   "native-untagged)");
    eth1->vlan_mode = DP_VLAN_ACCESS;
    eth1->trunks[eth1->n_trunks++] = 20;
    assert_refused(EINVAL, P "/vlan/trunks", "20",
                   "no trunks, or another mode (trunk, native-tagged, "
                   "native-untagged)",
                   "port eth1: vlan: trunks 20 has no meaning in mode "
                   "access: allowed no trunks, or another mode (trunk, "
                   "native-tagged, native-untagged)");
    eth1->vlan_mode = DP_VLAN_NATIVE_TAGGED;
    cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);
}

Test(conf, vlan_ids_out_of_range_or_order)
{
    eth1->vlan_mode = DP_VLAN_ACCESS;
    eth1->tag = 4095;
    assert_refused(EINVAL, P "/vlan/tag", "4095", "0 to 4094",
                   "port eth1: vlan: tag 4095 is out of range: allowed 0 to "
                   "4094");
    eth1->vlan_mode = DP_VLAN_TRUNK;
    eth1->tag = 0;
    eth1->n_trunks = 2;
    eth1->trunks[0] = 20;
    eth1->trunks[1] = 10;
    cr_assert_eq(conf_validate(c, &err), EINVAL);
    cr_assert_str_eq(err.path, P "/vlan/trunks");
    cr_assert_str_eq(err.value, "10");
    eth1->trunks[1] = 4095;
    cr_assert_eq(conf_validate(c, &err), EINVAL);
    cr_assert_str_eq(err.value, "4095");
}

Test(conf, an_address_that_no_port_can_have)
{
    eth1->have_mac = true;
    memcpy(eth1->mac, "\x03\x00\x00\x00\x00\x01", 6);
    assert_refused(EINVAL, P "/mac", "03:00:00:00:00:01",
                   "a unicast address as six pairs of hexadecimal digits "
                   "with colons between",
                   "port eth1: mac 03:00:00:00:00:01 is a group address: "
                   "allowed a unicast address as six pairs of hexadecimal "
                   "digits with colons between");
    memset(eth1->mac, 0, 6);
    cr_assert_eq(conf_validate(c, &err), EINVAL);
    cr_assert(strstr(err.msg, "is all zero"));
    eth1->mac[0] = 2;
    cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);
    eth1->cls = netdev_class_find("afpacket");
    assert_refused(EINVAL, P "/mac", "02:00:00:00:00:00",
                   "for a port of type tap only",
                   "port eth1: mac 02:00:00:00:00:00 is given for a port "
                   "that is not a tap: allowed for a port of type tap only");
}

Test(conf, a_port_in_two_bridges)
{
    struct conf_bridge *b;

    cr_assert_eq(conf_add_bridge(c, "br1", &b, &err), 0);
    b->ports[b->n_ports] = calloc(1, sizeof(*b->ports[0]));
    *b->ports[b->n_ports++] = *eth1;
    assert_refused(EEXIST, "/bridges/br1/ports/eth1", "eth1",
                   "a name not in use",
                   "port eth1 is in bridge br0 and in bridge br1: allowed is "
                   "one of them");
}

Test(conf, a_slot_twice)
{
    add_port("eth2");
    conf_find_port(c, "eth2", NULL)->slot = eth1->slot;
    cr_assert_eq(conf_validate(c, &err), EINVAL);
    cr_assert_str_eq(err.msg, "port eth2: slot 0 is out of range or taken: "
                              "allowed is a free one from 0 to 255");
}

Test(conf, more_reserved_than_there_is)
{
    br->memory_bytes = 1048576;
    eth1->group[3].reserved_bytes = 600000;
    eth1->group[4].reserved_bytes = 448576;
    assert_refused(ENOSPC, "/bridges/br0/memory_bytes", "1048576",
                   "1060752 to 4294967296",
                   "bridge br0: memory_bytes 1048576 does not hold 1048576 "
                   "reserved, 0 of headroom and one frame for each of 8 "
                   "groups, 1060752 bytes in all: allowed 1060752 to "
                   "4294967296");
    br->memory_bytes = 1060752; /* what it says is allowed is */
    cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);
    br->memory_bytes--;
    cr_assert_eq(conf_validate(c, &err), ENOSPC);
}

/* Section 5: the field that was changed, and the numbers. */
Test(conf, what_was_raised_is_blamed_for_the_memory)
{
    struct conf *to = conf_copy(c);
    struct conf_bridge *b;
    struct conf_port *p = conf_find_port(to, "eth1", &b);

    p->group[3].reserved_bytes = CONF_MAX_MEMORY;
    cr_assert_eq(conf_validate(to, &err), ENOSPC);
    conf_blame_memory(c, to, &err);
    cr_assert_eq(err.code, ENOSPC);
    cr_assert_str_eq(err.path,
                     "/bridges/br0/ports/eth1/groups/3/reserved_bytes");
    cr_assert_str_eq(err.value, "4294967296");
    cr_assert(strstr(err.msg, "more than memory_bytes "), "%s", err.msg);
    /* What is allowed is, to the byte. */
    p->group[3].reserved_bytes =
        strtoull(err.allowed + strlen("0 to "), NULL, 10);
    cr_assert_gt(p->group[3].reserved_bytes, 0, "%s", err.allowed);
    cr_assert_eq(conf_validate(to, &err), 0, "%s", err.msg);
    p->group[3].reserved_bytes++;
    cr_assert_eq(conf_validate(to, &err), ENOSPC);
    /* Less memory is to blame itself. */
    p->group[3].reserved_bytes--;
    b->memory_bytes--;
    cr_assert_eq(conf_validate(to, &err), ENOSPC);
    conf_blame_memory(c, to, &err);
    cr_assert_str_eq(err.path, "/bridges/br0/memory_bytes");
    conf_destroy(to);
}

Test(conf, configured_headroom_counts_where_it_is_lossless)
{
    eth1->group[3].headroom_bytes = CONF_MAX_MEMORY;
    cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);
    eth1->pfc_prios = 1u << 3;
    cr_assert_eq(conf_validate(c, &err), ENOSPC);
    cr_assert_str_eq(err.path, "/bridges/br0/memory_bytes");
    cr_assert_str_eq(err.allowed,
                     "at most 4294967296, with less reserved and headroom");
    eth1->group[3].headroom_bytes = 1000000;
    cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);
}

Test(conf, sums_do_not_wrap)
{
    uint32_t i;
    int pg;

    for (i = 2; i < 200; i++) {
        char name[24];

        snprintf(name, sizeof(name), "p%u", i);
        add_port(name);
    }
    for (i = 0; i < br->n_ports; i++)
        for (pg = 0; pg < N_PG; pg++)
            br->ports[i]->group[pg].reserved_bytes = CONF_MAX_MEMORY;
    cr_assert_eq(conf_validate(c, &err), ENOSPC);
}

/* Every number of every range, at its ends and beyond. */
Test(conf, ranges)
{
#define RANGE(member, lo, hi, what)                                  \
    do {                                                             \
        __typeof__(member) was_ = member;                            \
        member = (__typeof__(member)) (lo);                          \
        cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);      \
        member = (__typeof__(member)) (hi);                          \
        cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);      \
        member = (__typeof__(member)) ((hi) + 1);                    \
        cr_assert_eq(conf_validate(c, &err), EINVAL, what);          \
        cr_assert(strstr(err.msg, "is out of range: allowed"), "%s", \
                  err.msg);                                          \
        cr_assert(strstr(err.path, what), "%s", err.path);           \
        member = (__typeof__(member)) ((lo) -1);                     \
        cr_assert_eq(conf_validate(c, &err), EINVAL, what);          \
        cr_assert(strstr(err.path, what), "%s", err.path);           \
        member = was_;                                               \
    } while (0)
    eth1->vlan_mode = DP_VLAN_ACCESS;
    RANGE(br->memory_bytes, 1048576, UINT64_C(4294967296), "/memory_bytes");
    RANGE(br->max_frame_bytes, 1514, 9238, "/max_frame_bytes");
    RANGE(br->map.default_prio, 0, 7, "/map/default_priority");
    RANGE(br->map.pcp_to_prio[4], 0, 7, "/map/pcp_to_priority");
    RANGE(br->map.prio_to_queue[7], 0, 7, "/map/priority_to_queue");
    RANGE(br->map.prio_to_pg[0], 0, 7, "/map/priority_to_group");
    RANGE(br->mac_ageing_s, 0, 1000000, "/mac_ageing_s");
    RANGE(eth1->rate_bps, 1000, UINT64_C(400000000000), "/rate_bps");
    RANGE(eth1->cable_delay_ns, 0, 1000000000, "/cable_delay_ns");
    RANGE(eth1->ring_bytes, 65536, 268435456, "/ring_bytes");
    RANGE(eth1->tag, 0, 4094, "/vlan/tag");
    RANGE(eth1->queue[3].max_rate_bps, 1000, UINT64_C(400000000000),
          "/queues/3/max_rate_bps");
    RANGE(eth1->queue[3].limit_bytes, 1522, UINT64_C(4294967296),
          "/queues/3/limit_bytes");
    RANGE(eth1->map.default_prio, 0, 7, "/eth1/map/default_priority");
    eth1->pfc_quanta = 0; /* above the range there is nothing to write */
    assert_refused(EINVAL, P "/pfc/quanta", "0", "1 to 65535",
                   "port eth1: pfc: quanta 0 is out of range: allowed 1 to "
                   "65535");
#undef RANGE
}

/* --- the difference --------------------------------------------------- */

static void
assert_diff(const struct conf *to, const char *json)
{
    struct json_object *diff = conf_diff(c, to);

    cr_assert_str_eq(json_object_to_json_string_ext(
                         diff, JSON_C_TO_STRING_PLAIN |
                                   JSON_C_TO_STRING_NOSLASHESCAPE),
                     json);
    json_object_put(diff);
}

Test(conf, no_difference)
{
    struct conf *to = conf_copy(c);

    assert_diff(to, "[]");
    conf_destroy(to);
}

Test(conf, difference_leaf_by_leaf)
{
    struct conf *to = conf_copy(c);
    struct conf_port *p = conf_find_port(to, "eth1", NULL);

    to->bridges[0]->mac_ageing_s = 60;
    p->rate_bps = 200000000;
    p->pfc_prios = 8;
    p->group[3].xoff_bytes = 65536;
    p->map.given = CONF_MAP_DEFAULT;
    p->map.default_prio = 2;
    assert_diff(to,
                "[{\"path\":\"/bridges/br0/mac_ageing_s\",\"op\":\"replace\","
                "\"old\":300,\"new\":60},"
                "{\"path\":\"" P "/rate_bps\",\"op\":\"replace\",\"old\":0,"
                "\"new\":200000000},"
                "{\"path\":\"" P
                "/pfc/priorities\",\"op\":\"replace\",\"old\":[],"
                "\"new\":[3]},"
                "{\"path\":\"" P "/groups/3/xoff_bytes\",\"op\":\"replace\","
                "\"old\":131072,\"new\":65536},"
                "{\"path\":\"" P "/map/default_priority\",\"op\":\"add\","
                "\"new\":2}]");
    conf_destroy(to);
}

Test(conf, difference_of_what_came_and_went)
{
    struct conf *to = conf_copy(c);
    struct json_object *diff, *first, *second, *v;
    struct conf_bridge *b;
    struct conf_port *p;

    cr_assert_eq(conf_del_port(to, "eth1", &err), 0);
    cr_assert_eq(conf_add_bridge(to, "1", &b, &err), 0);
    cr_assert_eq(conf_add_port(to, b, "e~1", "mem", &p, &err), 0);
    diff = conf_diff(c, to);
    cr_assert_eq(json_object_array_length(diff), 2);
    first = json_object_array_get_idx(diff, 0);
    second = json_object_array_get_idx(diff, 1);
    json_object_object_get_ex(first, "path", &v);
    cr_assert_str_eq(json_object_get_string(v), "/bridges/1");
    json_object_object_get_ex(first, "op", &v);
    cr_assert_str_eq(json_object_get_string(v), "add");
    json_object_object_get_ex(second, "path", &v);
    cr_assert_str_eq(json_object_get_string(v), P);
    json_object_object_get_ex(second, "op", &v);
    cr_assert_str_eq(json_object_get_string(v), "remove");
    cr_assert(json_object_object_get_ex(second, "old", &v));
    cr_assert_not(json_object_object_get_ex(second, "new", NULL));
    json_object_put(diff);
    conf_destroy(to);
}

Test(conf, pointers_are_escaped)
{
    struct conf *to = conf_copy(c);
    struct conf_port *p;

    cr_assert_eq(conf_add_port(c, br, "e~1", "mem", &p, &err), 0);
    cr_assert_eq(conf_add_port(to, to->bridges[0], "e~1", "mem", &p, &err), 0);
    p->rate_bps = 1000;
    assert_diff(to, "[{\"path\":\"/bridges/br0/ports/e~01/rate_bps\","
                    "\"op\":\"replace\",\"old\":0,\"new\":1000}]");
    conf_destroy(to);
}
