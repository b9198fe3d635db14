/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/conf in JSON: what is read and refused, edits, slots, and that an
 * export is read back as what it was, whatever the configuration.
 */
#include "conf_random.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct err err;

static struct json_object *
parse(const char *text)
{
    enum json_tokener_error rc;
    struct json_object *v = json_tokener_parse_verbose(text, &rc);

    cr_assert_eq(rc, json_tokener_success, "%s: %s", text,
                 json_tokener_error_desc(rc));
    return v;
}

/* The configuration that a text says; null when it is refused. */
static struct conf *
read_conf(const char *text, const struct conf *old)
{
    struct json_object *v = parse(text);
    struct conf *c = NULL;
    int rc;

    err_clear(&err);
    rc = conf_from_json(v, old, &c, &err);
    cr_assert_eq(rc, err.code);
    cr_assert_eq(rc == 0, c != NULL);
    json_object_put(v);
    return c;
}

static void
assert_refused(const char *text, int code, const char *path, const char *value,
               const char *msg)
{
    struct conf *c = read_conf(text, NULL);

    cr_assert_null(c, "%s", text);
    cr_assert_eq(err.code, code, "%s", err.msg);
    cr_assert_str_eq(err.path, path);
    cr_assert_str_eq(err.value, value);
    cr_assert_str_eq(err.msg, msg);
}

#define PORT(members)                                                       \
    "{\"bridges\":{\"br0\":{\"ports\":{\"eth1\":{\"type\":\"tap\"," members \
    "}}}}}"
#define AT "/bridges/br0/ports/eth1"

static struct conf_port *
read_port(const char *text)
{
    struct conf *c = read_conf(text, NULL);
    static struct conf_port port;

    cr_assert(c, "%s", err.msg);
    port = *conf_find_port(c, "eth1", NULL);
    conf_destroy(c);
    return &port;
}

/* --- what is read ----------------------------------------------------- */

Test(conf_json, little_is_enough)
{
    struct conf *c = read_conf("{}", NULL);

    cr_assert(c);
    cr_assert_eq(c->n_bridges, 0);
    conf_destroy(c);
    c = read_conf("{\"bridges\":{\"br0\":{}}}", NULL);
    cr_assert_eq(c->bridges[0]->memory_bytes, CONF_DEFAULT_MEMORY);
    conf_destroy(c);
    c = read_conf("{\"bridges\":null}", NULL);
    cr_assert(c);
    conf_destroy(c);
}

Test(conf_json, every_member_is_read)
{
    struct conf *c = read_conf(
        "{\"bridges\":{\"br0\":{\"memory_bytes\":33554432,"
        "\"max_frame_bytes\":9022,\"mac_ageing_s\":0,"
        "\"forward_reserved\":true,\"map\":{\"trust\":\"port\","
        "\"default_priority\":1,\"pcp_to_priority\":[7,6,5,4,3,2,1,0],"
        "\"priority_to_dscp\":[-1,8,16,26,34,46,48,63],"
        "\"priority_tags\":\"if-nonzero\"},"
        "\"ports\":{\"eth1\":{\"type\":\"tap\","
        "\"mac\":\"02:00:00:00:aB:01\",\"rate_bps\":200000000,"
        "\"cable_delay_ns\":500,\"ring_bytes\":1048576,"
        "\"vlan\":{\"mode\":\"native-tagged\",\"tag\":5,"
        "\"trunks\":[30,10,20]},\"pfc\":{\"priorities\":[4,3],"
        "\"asymmetric\":true,\"quanta\":100},"
        "\"map\":{\"priority_to_queue\":[0,0,0,3,4,0,0,0]},"
        "\"groups\":{\"3\":{\"reserved_bytes\":1,\"xoff_bytes\":65536,"
        "\"xon_bytes\":2,\"xon_offset_bytes\":3,\"headroom\":4}},"
        "\"queues\":{\"7\":{\"mode\":\"ets\",\"weight\":100,"
        "\"max_rate_bps\":5000,\"limit_bytes\":9022,"
        "\"wred_min_bytes\":7,\"wred_max_bytes\":8,\"wred_percent\":9,"
        "\"ecn\":true}}}}}}}",
        NULL);
    struct conf_bridge *b;
    struct conf_port *p;

    cr_assert(c, "%s", err.msg);
    b = c->bridges[0];
    p = b->ports[0];
    cr_assert_eq(b->memory_bytes, 33554432);
    cr_assert_eq(b->max_frame_bytes, 9022);
    cr_assert_eq(b->mac_ageing_s, 0);
    cr_assert(b->forward_reserved);
    cr_assert_eq(b->map.trust, DP_TRUST_PORT);
    cr_assert_eq(b->map.default_prio, 1);
    cr_assert_eq(b->map.pcp_to_prio[0], 7);
    cr_assert_eq(b->map.prio_to_pg[6], 6);
    cr_assert_eq(b->map.given, CONF_MAP_ALL);
    cr_assert_arr_eq(b->map.prio_to_dscp, "\xff\x08\x10\x1a\x22\x2e\x30\x3f",
                     8);
    cr_assert_eq(b->map.prio_to_pcp[7], CONF_KEEP);
    cr_assert_eq(b->map.prio_tags, DP_PRIO_TAGS_NONZERO);
    cr_assert_eq(b->map.dscp_to_prio[46], 5);
    cr_assert(p->have_mac);
    cr_assert_arr_eq(p->mac, "\x02\x00\x00\x00\xab\x01", 6);
    cr_assert_eq(p->rate_bps, 200000000);
    cr_assert_eq(p->cable_delay_ns, 500);
    cr_assert_eq(p->ring_bytes, 1048576);
    cr_assert_eq(p->vlan_mode, DP_VLAN_NATIVE_TAGGED);
    cr_assert_eq(p->tag, 5);
    cr_assert_eq(p->n_trunks, 3);
    cr_assert_eq(p->trunks[0], 10);
    cr_assert_eq(p->trunks[2], 30);
    cr_assert_eq(p->pfc_prios, 0x18);
    cr_assert(p->pfc_asymmetric);
    cr_assert_eq(p->pfc_quanta, 100);
    cr_assert_eq(p->map.given, CONF_MAP_QUEUE);
    cr_assert_eq(p->map.prio_to_queue[4], 4);
    cr_assert_eq(p->group[3].reserved_bytes, 1);
    cr_assert_eq(p->group[3].xoff_bytes, 65536);
    cr_assert_eq(p->group[3].xon_bytes, 2);
    cr_assert_eq(p->group[3].xon_offset_bytes, 3);
    cr_assert_eq(p->group[3].headroom_bytes, 4);
    cr_assert(p->queue[7].ets);
    cr_assert_eq(p->queue[7].max_rate_bps, 5000);
    cr_assert_eq(p->queue[7].limit_bytes, 9022);
    cr_assert_eq(p->queue[7].wred_min_bytes, 7);
    cr_assert_eq(p->queue[7].wred_max_bytes, 8);
    cr_assert_eq(p->queue[7].wred_percent, 9);
    cr_assert(p->queue[7].ecn);
    conf_destroy(c);
}

Test(conf_json, pause_and_auto)
{
    struct conf_port *p =
        read_port(PORT("\"pause\":{\"rx\":true,\"tx\":true},"
                       "\"groups\":{\"0\":{\"headroom\":\"auto\"}}"));

    cr_assert(p->pause_rx && p->pause_tx);
    cr_assert_eq(p->group[0].headroom_bytes, CONF_HEADROOM_AUTO);
}

Test(conf_json, vlan_shorthand_of_open_vswitch)
{
    struct conf_port *p = read_port(PORT("\"vlan\":{\"tag\":10}"));

    cr_assert_eq(p->vlan_mode, DP_VLAN_ACCESS);
    cr_assert_eq(p->tag, 10);
    p = read_port(PORT("\"vlan\":{\"trunks\":[0,4094]}"));
    cr_assert_eq(p->vlan_mode, DP_VLAN_TRUNK);
    cr_assert_eq(p->n_trunks, 2);
}

/* --- what is refused -------------------------------------------------- */

Test(conf_json, wrong_types)
{
    assert_refused("[]", EINVAL, "", "[]",
                   "configuration: [] is not an object: allowed is an "
                   "object");
    assert_refused("null", EINVAL, "", "null",
                   "configuration: null is not an object: allowed is an "
                   "object");
    assert_refused("{\"bridges\":[1]}", EINVAL, "/bridges", "[1]",
                   "bridges: [1] is not an object: allowed is an object");
    assert_refused("{\"bridges\":{\"br0\":null}}", EINVAL, "/bridges/br0",
                   "null",
                   "bridge br0: null is not an object: allowed is an object");
    assert_refused("{\"bridges\":{\"br0\":{\"ports\":\"x\"}}}", EINVAL,
                   "/bridges/br0/ports", "x",
                   "bridge br0: ports: \"x\" is not an object: allowed is an "
                   "object");
    assert_refused("{\"bridges\":{\"br0\":{\"ports\":{\"eth1\":7}}}}", EINVAL,
                   AT, "7",
                   "port eth1: 7 is not an object: allowed is an object");
    assert_refused(PORT("\"pfc\":[3]"), EINVAL, AT "/pfc", "[3]",
                   "port eth1: pfc: [3] is not an object: allowed is an "
                   "object");
    assert_refused(PORT("\"queues\":[]"), EINVAL, AT "/queues", "[]",
                   "port eth1: queues: [] is not an object: allowed is an "
                   "object");
    assert_refused(PORT("\"groups\":{\"3\":true}"), EINVAL, AT "/groups/3",
                   "true",
                   "port eth1: group 3: true is not an object: allowed is an "
                   "object");
    assert_refused(PORT("\"pause\":{\"rx\":1}"), EINVAL, AT "/pause/rx", "1",
                   "port eth1: pause: rx 1 is not a boolean: allowed true, "
                   "false");
    assert_refused(PORT("\"vlan\":{\"mode\":3}"), EINVAL, AT "/vlan/mode", "3",
                   "port eth1: vlan: mode 3 is not a string: allowed trunk, "
                   "access, native-tagged, native-untagged");
}

Test(conf_json, numbers_that_are_none)
{
    static const char *const bad[] = {"1.0", "1e9",       "\"1000\"", "true",
                                      "[]",  "{\"a\":1}", "-0.5"};
    char text[256], msg[256];
    size_t i;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        snprintf(text, sizeof(text), PORT("\"rate_bps\":%s"), bad[i]);
        snprintf(msg, sizeof(msg),
                 "port eth1: rate_bps %s is not an integer: allowed 0, or "
                 "1000 to 400000000000",
                 bad[i]);
        assert_refused(text, EINVAL, AT "/rate_bps",
                       bad[i][0] == '"' ? "1000" : bad[i], msg);
    }
}

Test(conf_json, numbers_out_of_range)
{
    static const char *const bad[][2] = {
        {"-1", "-1"},
        {"999", "999"},
        {"400000000001", "400000000001"},
        {"4294968296", NULL}, /* 2^32 + 1000 is in the range of 64 bits */
        {"-9223372036854775809", "-9223372036854775808"},
        {"18446744073709551615", "18446744073709551615"},
        {"99999999999999999999999", "18446744073709551615"}};
    char text[256], msg[256];
    size_t i;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        snprintf(text, sizeof(text), PORT("\"rate_bps\":%s"), bad[i][0]);
        snprintf(msg, sizeof(msg),
                 "port eth1: rate_bps %s is out of range: allowed 0, or 1000 "
                 "to 400000000000",
                 bad[i][1]);
        if (bad[i][1])
            assert_refused(text, EINVAL, AT "/rate_bps", bad[i][1], msg);
        else
            cr_assert_eq(read_port(text)->rate_bps, 4294968296);
    }
    /* What would wrap into the range of a narrow member. */
    assert_refused(PORT("\"pfc\":{\"quanta\":65537}"), EINVAL,
                   AT "/pfc/quanta", "65537",
                   "port eth1: pfc: quanta 65537 is out of range: allowed 1 "
                   "to 65535");
    assert_refused(PORT("\"ring_bytes\":4294967296"), EINVAL, AT "/ring_bytes",
                   "4294967296",
                   "port eth1: ring_bytes 4294967296 is out of range: allowed "
                   "0, or 65536 to 268435456");
    assert_refused(PORT("\"queues\":{\"0\":{\"mode\":\"ets\","
                        "\"weight\":356}}"),
                   EINVAL, AT "/queues/0/weight", "356",
                   "port eth1: queue 0: weight 356 is out of range: allowed 0 "
                   "to 100");
}

Test(conf_json, headroom_is_auto_or_a_number)
{
    assert_refused(PORT("\"groups\":{\"3\":{\"headroom\":\"much\"}}"), EINVAL,
                   AT "/groups/3/headroom", "much",
                   "port eth1: group 3: headroom \"much\" is neither an "
                   "integer nor \"auto\": allowed \"auto\", or 0 to "
                   "4294967296");
    /* The value that stands for auto inside. */
    assert_refused(
        PORT("\"groups\":{\"3\":{\"headroom\":18446744073709551615}}"), EINVAL,
        AT "/groups/3/headroom", "18446744073709551615",
        "port eth1: group 3: headroom 18446744073709551615 is out of range: "
        "allowed \"auto\", or 0 to 4294967296");
}

Test(conf_json, unknown_members)
{
    assert_refused("{\"bridge\":{}}", EINVAL, "/bridge", "bridge",
                   "configuration: unknown member \"bridge\", did you mean "
                   "\"bridges\"?: allowed are bridges");
    assert_refused("{\"bridges\":{\"br0\":{\"memory\":1}}}", EINVAL,
                   "/bridges/br0/memory", "memory",
                   "bridge br0: unknown member \"memory\": allowed are "
                   "memory_bytes, max_frame_bytes, mac_ageing_s, "
                   "forward_reserved, drop_lossless_unknown, local, "
                   "watchdog_override, cell_bytes, headroom_pool_bytes, "
                   "headroom_ratio, fail_mode, datapath_id, management, "
                   "max_flows, map, "
                   "pools, profiles, controllers, ssl, ports");
    assert_refused(PORT("\"rate_bp\":1"), EINVAL, AT "/rate_bp", "rate_bp",
                   "port eth1: unknown member \"rate_bp\", did you mean "
                   "\"rate_bps\"?: allowed are type, ofport, mac, rate_bps, "
                   "cable_delay_ns, cable_emulated, cell_bytes, ring_bytes, "
                   "backpressure, vlan, pfc, pause, watchdog, guard, map, "
                   "groups, queues");
    assert_refused(PORT("\"pfc\":{\"prioritys\":[3]}"), EINVAL,
                   AT "/pfc/prioritys", "prioritys",
                   "port eth1: pfc: unknown member \"prioritys\", did you "
                   "mean \"priorities\"?: allowed are priorities, "
                   "asymmetric, quanta");
    assert_refused(PORT("\"groups\":{\"8\":{}}"), EINVAL, AT "/groups/8", "8",
                   "port eth1: group \"8\" does not exist: allowed 0 to 7");
    assert_refused(PORT("\"queues\":{\"00\":{}}"), EINVAL, AT "/queues/00",
                   "00",
                   "port eth1: queue \"00\" does not exist: allowed 0 to 7");
}

Test(conf_json, words_and_arrays)
{
    assert_refused(PORT("\"vlan\":{\"mode\":\"acess\"}"), EINVAL,
                   AT "/vlan/mode", "acess",
                   "port eth1: vlan: mode \"acess\" is unknown, did you mean "
                   "\"access\"?: allowed trunk, access, native-tagged, "
                   "native-untagged");
    assert_refused(PORT("\"pfc\":{\"priorities\":[3,8]}"), EINVAL,
                   AT "/pfc/priorities", "[3,8]",
                   "port eth1: pfc: priorities [3,8] has an element out of "
                   "range: allowed an array of different priorities, 0 to 7");
    assert_refused(PORT("\"pfc\":{\"priorities\":[3,3]}"), EINVAL,
                   AT "/pfc/priorities", "[3,3]",
                   "port eth1: pfc: priorities [3,3] names a priority twice: "
                   "allowed an array of different priorities, 0 to 7");
    assert_refused(PORT("\"map\":{\"pcp_to_priority\":[0,1,2]}"), EINVAL,
                   AT "/map/pcp_to_priority", "[0,1,2]",
                   "port eth1: map: pcp_to_priority [0,1,2] does not have "
                   "eight elements: allowed an array of eight numbers, 0 to "
                   "7");
    assert_refused(PORT("\"map\":{\"priority_to_queue\":"
                        "[0,1,2,8,4,5,6,7]}"),
                   EINVAL, AT "/map/priority_to_queue", "8",
                   "port eth1: map: priority_to_queue 8 at place 3 is out of "
                   "range: allowed an array of eight numbers, 0 to 7");
    assert_refused(PORT("\"map\":{\"dscp_to_priority\":[0]}"), EINVAL,
                   AT "/map/dscp_to_priority", "[0]",
                   "port eth1: map: dscp_to_priority [0] does not have 64 "
                   "elements: allowed an array of 64 numbers, 0 to 7");
    assert_refused(PORT("\"map\":{\"priority_to_dscp\":"
                        "[0,1,2,-2,4,5,6,7]}"),
                   EINVAL, AT "/map/priority_to_dscp", "-2",
                   "port eth1: map: priority_to_dscp -2 at place 3 is out of "
                   "range: allowed an array of eight numbers, -1 or 0 to 63");
    assert_refused(PORT("\"map\":{\"pcp_to_priority\":"
                        "[-1,1,2,3,4,5,6,7]}"),
                   EINVAL, AT "/map/pcp_to_priority", "-1",
                   "port eth1: map: pcp_to_priority -1 at place 0 is out of "
                   "range: allowed an array of eight numbers, 0 to 7");
    assert_refused(PORT("\"vlan\":{\"trunks\":[4095]}"), EINVAL,
                   AT "/vlan/trunks", "[4095]",
                   "port eth1: vlan: trunks [4095] has an element out of "
                   "range: allowed an array of different VLAN ids, 0 to "
                   "4094");
    assert_refused(PORT("\"vlan\":{\"trunks\":[1,2,1]}"), EINVAL,
                   AT "/vlan/trunks", "[1,2,1]",
                   "port eth1: vlan: trunks [1,2,1] names a VLAN twice: "
                   "allowed an array of different VLAN ids, 0 to 4094");
    assert_refused(PORT("\"vlan\":{\"trunks\":[1,null]}"), EINVAL,
                   AT "/vlan/trunks", "[1,null]",
                   "port eth1: vlan: trunks [1,null] has an element out of "
                   "range: allowed an array of different VLAN ids, 0 to "
                   "4094");
}

Test(conf_json, addresses)
{
    static const char *const bad[] = {"",
                                      "02:00:00:00:00",
                                      "02:00:00:00:00:0g",
                                      "02-00-00-00-00-01",
                                      "02:00:00:00:00:01:",
                                      "0x:00:00:00:00:01",
                                      " 2:00:00:00:00:01",
                                      "02:00:00:00:00:+1"};
    char text[256];
    size_t i;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        snprintf(text, sizeof(text), PORT("\"mac\":\"%s\""), bad[i]);
        cr_assert_null(read_conf(text, NULL), "%s", bad[i]);
        cr_assert_str_eq(err.path, AT "/mac");
        cr_assert(strstr(err.msg, "is not an Ethernet address"), "%s",
                  err.msg);
    }
}

Test(conf_json, a_type_is_needed)
{
    assert_refused(
        "{\"bridges\":{\"br0\":{\"ports\":{\"eth1\":{}}}}}", EINVAL,
        AT "/type", "",
        "port eth1: type is missing: allowed afpacket, afxdp, auto, tap, mem");
    assert_refused(
        "{\"bridges\":{\"br0\":{\"ports\":{\"eth1\":{\"type\":null}}}}}",
        EINVAL, AT "/type", "null",
        "port eth1: type null is not a string: allowed afpacket, afxdp, auto, "
        "tap, mem");
    assert_refused(
        "{\"bridges\":{\"br0\":{\"ports\":{\"eth1\":{\"type\":\"eth\"}}}}}",
        EINVAL, AT "/type", "eth",
        "port eth1: type \"eth\" is unknown: allowed are afpacket, "
        "afxdp, auto, tap and "
        "mem");
}

Test(conf_json, text_from_outside_is_made_plain)
{
    char text[4096], name[2048];

    memset(name, 'x', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    snprintf(text, sizeof(text), PORT("\"%s\":1"), name);
    cr_assert_null(read_conf(text, NULL));
    cr_assert(strstr(err.msg, "xxx...\": allowed are type"), "%s", err.msg);
    cr_assert_null(read_conf(PORT("\"\xc3\xa9\xff\\u0007\":1"), NULL));
    cr_assert_str_eq(err.path, AT "/\xc3\xa9??");
    cr_assert_null(read_conf(
        "{\"bridges\":{\"br0\":{\"ports\":{\"\xc3\xa9\":{\"type\":\"tap\"}}}}"
        "}",
        NULL));
    cr_assert_str_eq(err.value, "\xc3\xa9");
}

Test(conf_json, a_refusal_of_the_whole_comes_out_too)
{
    assert_refused(PORT("\"groups\":{\"3\":{\"xoff_bytes\":65536,"
                        "\"xon_bytes\":70000}}"),
                   EINVAL, AT "/groups/3/xon_bytes", "70000",
                   "port eth1: group 3: xon_bytes 70000 exceeds xoff_bytes "
                   "65536: allowed 0 to 65536");
}

/* --- edits ------------------------------------------------------------ */

static struct conf *
one_port(struct conf_port **p)
{
    struct conf *c =
        read_conf(PORT("\"rate_bps\":1000000,\"vlan\":{\"tag\":10},\"map\":{"
                       "\"default_priority\":3}"),
                  NULL);

    cr_assert(c, "%s", err.msg);
    *p = c->bridges[0]->ports[0];
    return c;
}

static int
edit(struct conf_port *p, const char *text)
{
    struct json_object *v = parse(text);
    int rc = conf_port_edit(p, v, "/params", &err);

    json_object_put(v);
    return rc;
}

Test(conf_json, an_edit_changes_what_it_names)
{
    struct conf_port *p;
    struct conf *c = one_port(&p);

    cr_assert_eq(edit(p, "{\"pfc\":{\"priorities\":[3]}}"), 0);
    cr_assert_eq(p->pfc_prios, 8);
    cr_assert_eq(p->rate_bps, 1000000);
    cr_assert_eq(edit(p, "{\"pfc\":{\"quanta\":7}}"), 0);
    cr_assert_eq(p->pfc_prios, 8);
    cr_assert_eq(edit(p, "{\"type\":\"tap\"}"), 0);
    conf_destroy(c);
}

Test(conf_json, null_gives_the_default)
{
    struct conf_port *p;
    struct conf *c = one_port(&p);

    cr_assert_eq(edit(p, "{\"mac\":\"02:00:00:00:00:01\",\"groups\":{\"3\":"
                         "{\"xon_bytes\":5}}}"),
                 0);
    cr_assert(p->have_mac);
    cr_assert_eq(edit(p, "{\"rate_bps\":null,\"vlan\":null,\"mac\":null,"
                         "\"map\":{\"default_priority\":null},"
                         "\"groups\":{\"3\":{\"xon_bytes\":null}}}"),
                 0);
    cr_assert_eq(p->rate_bps, 0);
    cr_assert_eq(p->vlan_mode, DP_VLAN_TRUNK);
    cr_assert_eq(p->tag, 0);
    cr_assert_not(p->have_mac);
    cr_assert_eq(p->map.given, 0);
    cr_assert_eq(p->group[3].xon_bytes, CONF_DEFAULT_XON);
    cr_assert_eq(edit(p, "{\"groups\":{\"3\":{\"xon_bytes\":5}}}"), 0);
    cr_assert_eq(edit(p, "{\"groups\":{\"3\":null}}"), 0);
    cr_assert_eq(p->group[3].xon_bytes, CONF_DEFAULT_XON);
    conf_destroy(c);
}

Test(conf_json, an_edit_is_refused_where_it_was_given)
{
    struct conf_port *p;
    struct conf *c = one_port(&p);

    cr_assert_eq(edit(p, "{\"rate_bps\":1}"), EINVAL);
    cr_assert_str_eq(err.path, "/params/rate_bps");
    cr_assert_eq(edit(p, "{\"type\":\"mem\"}"), EINVAL);
    cr_assert_str_eq(err.msg, "port eth1: type \"mem\" cannot change: delete "
                              "the port and add it again: allowed tap");
    conf_destroy(c);
}

Test(conf_json, a_mode_puts_away_what_it_has_no_use_for)
{
    struct conf_port *p;
    struct conf *c = one_port(&p);

    cr_assert_eq(edit(p, "{\"vlan\":{\"mode\":\"trunk\"}}"), 0);
    cr_assert_eq(p->tag, 0);
    cr_assert_eq(edit(p, "{\"vlan\":{\"trunks\":[1,2]}}"), 0);
    cr_assert_eq(edit(p, "{\"vlan\":{\"mode\":\"access\",\"tag\":3}}"), 0);
    cr_assert_eq(p->n_trunks, 0);
    cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);
    cr_assert_eq(edit(p, "{\"vlan\":{\"mode\":\"trunk\",\"tag\":3}}"), 0);
    cr_assert_eq(conf_validate(c, &err), EINVAL, "contradiction as given");
    cr_assert_eq(edit(p, "{\"vlan\":null,\"queues\":{\"0\":{\"mode\":\"ets\","
                         "\"weight\":100}}}"),
                 0);
    cr_assert_eq(edit(p, "{\"queues\":{\"0\":{\"mode\":\"strict\"}}}"), 0);
    cr_assert_eq(p->queue[0].weight, 0);
    cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);
    conf_destroy(c);
}

Test(conf_json, a_bridge_is_edited_without_its_ports)
{
    struct conf_port *p;
    struct conf *c = one_port(&p);
    struct conf_bridge *b = c->bridges[0];
    struct json_object *v = parse("{\"mac_ageing_s\":10,\"map\":{\"trust\":"
                                  "\"port\"}}");

    cr_assert_eq(conf_bridge_edit(b, v, "/params", &err), 0);
    json_object_put(v);
    cr_assert_eq(b->mac_ageing_s, 10);
    cr_assert_eq(b->map.trust, DP_TRUST_PORT);
    v = parse("{\"map\":null}");
    cr_assert_eq(conf_bridge_edit(b, v, "/params", &err), 0);
    json_object_put(v);
    cr_assert_eq(b->map.trust, DP_TRUST_PCP);
    cr_assert_eq(b->map.given, CONF_MAP_ALL);
    v = parse("{\"ports\":{}}");
    cr_assert_eq(conf_bridge_edit(b, v, "/params", &err), EINVAL);
    json_object_put(v);
    cr_assert_str_eq(err.path, "/params/ports");
    conf_destroy(c);
}

/* --- slots ------------------------------------------------------------ */

#define PORTS(members) "{\"bridges\":{\"br0\":{\"ports\":{" members "}}}}"

static uint16_t
slot_of(const struct conf *c, const char *name)
{
    return conf_find_port(c, name, NULL)->slot;
}

Test(conf_json, ports_that_stay_keep_their_slots)
{
    struct conf *old = read_conf(PORTS("\"b\":{\"type\":\"mem\"},"
                                       "\"c\":{\"type\":\"mem\"},"
                                       "\"d\":{\"type\":\"mem\"}"),
                                 NULL);
    struct conf *c = read_conf(PORTS("\"a\":{\"type\":\"mem\"},"
                                     "\"d\":{\"type\":\"mem\"},"
                                     "\"c\":{\"type\":\"tap\"}"),
                               old);

    cr_assert(old && c);
    cr_assert_eq(slot_of(old, "b"), 0);
    cr_assert_eq(slot_of(c, "d"), slot_of(old, "d"));
    /* New ones, one of another type under an old name, take slots that no
     * port had, neither the bridge's own. */
    cr_assert_eq(old->bridges[0]->local_slot, 3);
    cr_assert_eq(c->bridges[0]->local_slot, 3);
    cr_assert_eq(slot_of(c, "a"), 4);
    cr_assert_eq(slot_of(c, "c"), 5);
    cr_assert_eq(conf_validate(c, &err), 0);
    conf_destroy(c);
    conf_destroy(old);
}

Test(conf_json, slots_that_were_in_use_when_there_is_no_other)
{
    struct conf *old = conf_create(), *c = conf_create(), *again;
    struct json_object *v;
    struct conf_bridge *b, *b2;
    struct conf_port *p;
    char name[24];
    int i;

    cr_assert_eq(conf_add_bridge(old, "br0", &b, NULL), 0);
    cr_assert_eq(conf_add_bridge(c, "br0", &b2, NULL), 0);
    for (i = 0; i < DP_MAX_PORTS; i++) {
        snprintf(name, sizeof(name), "o%d", i);
        cr_assert_eq(conf_add_port(old, b, name, "mem", &p, NULL), 0);
        snprintf(name, sizeof(name), "%c%d", i % 2 ? 'o' : 'n', i);
        cr_assert_eq(conf_add_port(c, b2, name, "mem", &p, NULL), 0);
    }
    v = conf_to_json(c);
    cr_assert_eq(conf_from_json(v, old, &again, &err), 0, "%s", err.msg);
    cr_assert_eq(conf_validate(again, &err), 0, "%s", err.msg);
    cr_assert_eq(slot_of(again, "o255"), slot_of(old, "o255"));
    json_object_put(v);
    conf_destroy(again);
    conf_destroy(c);
    conf_destroy(old);
}

/* --- round trips ------------------------------------------------------ */

static struct conf *
through_json(const struct conf *c, int flags)
{
    struct json_object *v = conf_to_json(c), *parsed;
    struct conf *again;

    parsed = parse(json_object_to_json_string_ext(v, flags));
    cr_assert_eq(conf_from_json(parsed, c, &again, &err), 0, "%s", err.msg);
    json_object_put(parsed);
    json_object_put(v);
    return again;
}

/* SLUICE_SEED runs one seed. */
Test(conf_json, an_export_is_read_back_as_it_was)
{
    const char *only = getenv("SLUICE_SEED");
    uint64_t first = only ? strtoull(only, NULL, 0) : 1;
    uint64_t last = only ? first : 300, seed;

    for (seed = first; seed <= last; seed++) {
        struct rng r = {seed};
        struct conf *c = conf_random(&r), *again, *changed;
        struct json_object *diff;
        uint32_t i, j;

        again = through_json(c, JSON_C_TO_STRING_PRETTY);
        cr_assert(conf_equal(c, again), "SLUICE_SEED=%lu", seed);
        diff = conf_diff(c, again);
        cr_assert_eq(json_object_array_length(diff), 0, "SLUICE_SEED=%lu",
                     seed);
        json_object_put(diff);
        for (i = 0; i < c->n_bridges; i++)
            for (j = 0; j < c->bridges[i]->n_ports; j++)
                cr_assert_eq(c->bridges[i]->ports[j]->slot,
                             again->bridges[i]->ports[j]->slot,
                             "SLUICE_SEED=%lu", seed);
        changed = conf_copy(c);
        conf_random_change(changed, &r);
        diff = conf_diff(c, changed);
        cr_assert_eq(json_object_array_length(diff) == 0,
                     conf_equal(c, changed), "SLUICE_SEED=%lu", seed);
        json_object_put(diff);
        conf_destroy(changed);
        conf_destroy(again);
        conf_destroy(c);
    }
}

Test(conf_json, an_export_is_small_where_nothing_is_special)
{
    struct conf *c = read_conf(PORTS("\"a\":{\"type\":\"mem\"}"), NULL);
    struct json_object *v = conf_port_to_json(c->bridges[0]->ports[0]);

    cr_assert_str_eq(
        json_object_to_json_string_ext(v, JSON_C_TO_STRING_PLAIN),
        "{\"type\":\"mem\",\"ofport\":1,\"rate_bps\":0,\"cable_delay_ns\":0,"
        "\"cable_emulated\":true,\"cell_bytes\":0,\"ring_bytes\":0,"
        "\"backpressure\":false,\"vlan\":{\"mode\":\"trunk\",\"tag\":0,"
        "\"trunks\":[]},\"pfc\":{\"priorities\":[],\"asymmetric\":false,"
        "\"quanta\":65535},\"pause\":{\"rx\":false,\"tx\":false},"
        "\"watchdog\":{\"enabled\":false,\"action\":\"drop\","
        "\"detection_ms\":200,\"restoration_ms\":200,\"poll_ms\":200},"
        "\"guard\":{\"time_ms\":0,\"action\":\"alert\"}}");
    json_object_put(v);
    conf_destroy(c);
}
