/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/conf/sonic: SONiC's QoS tables become configuration, what does not is
 * noted, and what is not SONiC's is refused with its path.
 */
#include "conf/sonic.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct conf *c;
static struct conf_bridge *br;
static struct conf_port *eth1, *eth2;
static struct json_object *notes;
static struct err err;
static bool links;

static void
set_up(void)
{
    c = conf_create();
    err_clear(&err);
    cr_assert_eq(conf_add_bridge(c, "br0", &br, &err), 0);
    cr_assert_eq(conf_add_port(c, br, "Ethernet0", "mem", &eth1, &err), 0);
    cr_assert_eq(conf_add_port(c, br, "Ethernet4", "mem", &eth2, &err), 0);
    notes = NULL;
    links = false;
}

static void
tear_down(void)
{
    json_object_put(notes);
    conf_destroy(c);
}

TestSuite(conf_sonic, .init = set_up, .fini = tear_down);

static int
import_text(const char *text, const char *names)
{
    struct json_object *db = json_tokener_parse(text), *map = NULL;
    int rc;

    cr_assert(db, "no JSON: %s", text);
    if (names)
        map = json_tokener_parse(names);
    json_object_put(notes);
    notes = NULL;
    err_clear(&err);
    rc = conf_sonic_import(db, map, links, br, &notes, &err);
    json_object_put(db);
    json_object_put(map);
    return rc;
}

static void
import(const char *text)
{
    cr_assert_eq(import_text(text, NULL), 0, "%s", err.msg);
    cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);
}

/* Why a path was not mapped; null: it is not noted. */
static const char *
why(const char *path)
{
    for (size_t i = 0; i < json_object_array_length(notes); i++) {
        struct json_object *n = json_object_array_get_idx(notes, i), *v;

        json_object_object_get_ex(n, "path", &v);
        if (strcmp(json_object_get_string(v), path))
            continue;
        json_object_object_get_ex(n, "why", &v);
        return json_object_get_string(v);
    }
    return NULL;
}

static void
noted(const char *path, const char *words)
{
    const char *text = why(path);

    cr_assert(text, "%s is not noted in %s", path,
              json_object_to_json_string(notes));
    cr_assert(strstr(text, words), "%s: %s", path, text);
}

static void
nothing_noted(void)
{
    cr_assert_eq(json_object_array_length(notes), 0, "%s",
                 json_object_to_json_string(notes));
}

static void
refused(const char *text, const char *path, const char *words)
{
    struct conf *was = conf_copy(c);
    struct json_object *db = json_tokener_parse(text), *edit, *made;

    cr_assert(db, "no JSON: %s", text);
    err_clear(&err);
    cr_assert(conf_sonic_translate(db, NULL, true, br, &edit, &made, &err),
              "taken: %s", text);
    cr_assert_str_eq(err.path, path, "%s: %s", text, err.msg);
    cr_assert(strstr(err.msg, words), "%s", err.msg);
    cr_assert(conf_equal(c, was));
    json_object_put(db);
    conf_destroy(was);
}

/* --- maps ------------------------------------------------------------------
 */

#define EIGHT                                                             \
    "{\"0\":\"1\",\"1\":\"0\",\"2\":\"2\",\"3\":\"3\",\"4\":\"4\",\"5\":" \
    "\"5\",\"6\":\"6\",\"7\":\"7\"}"

Test(conf_sonic, s4_maps_by_plain_and_by_bracketed_names)
{
    import("{\"DOT1P_TO_TC_MAP\":{\"A\":" EIGHT "},"
           "\"TC_TO_QUEUE_MAP\":{\"B\":" EIGHT "},"
           "\"TC_TO_PRIORITY_GROUP_MAP\":{\"C\":" EIGHT "},"
           "\"PORT_QOS_MAP\":{"
           "\"Ethernet0\":{\"dot1p_to_tc_map\":\"[DOT1P_TO_TC_MAP|A]\","
           "\"tc_to_queue_map\":\"[TC_TO_QUEUE_MAP|B]\"},"
           "\"Ethernet4\":{\"tc_to_pg_map\":\"C\"}}}");
    nothing_noted();
    cr_assert_eq(eth1->map.given,
                 CONF_MAP_PCP | CONF_MAP_TRUST | CONF_MAP_QUEUE);
    cr_assert_eq(eth1->map.trust, DP_TRUST_PCP);
    cr_assert_eq(eth1->map.pcp_to_prio[0], 1);
    cr_assert_eq(eth1->map.prio_to_queue[1], 0);
    cr_assert_eq(eth2->map.given, CONF_MAP_GROUP);
    cr_assert_eq(eth2->map.prio_to_pg[0], 1);
}

Test(conf_sonic, s4_dscp_is_trusted_where_it_is_mapped)
{
    import("{\"DSCP_TO_TC_MAP\":{\"A\":{\"26\":3,\"63\":\"7\"}},"
           "\"PORT_QOS_MAP\":{\"Ethernet0,Ethernet4\":"
           "{\"dscp_to_tc_map\":\"A\",\"pfc_enable\":\"3,4\"}}}");
    cr_assert_eq(eth1->map.trust, DP_TRUST_DSCP);
    cr_assert_eq(eth1->map.dscp_to_prio[26], 3);
    cr_assert_eq(eth2->map.dscp_to_prio[63], 7);
    cr_assert_eq(eth2->map.dscp_to_prio[46], 0);
    cr_assert_eq(eth2->pfc_prios, 0x18);
    noted("/DSCP_TO_TC_MAP/A", "62 of 64");
}

Test(conf_sonic, s4_a_global_map_is_the_bridges)
{
    import("{\"DSCP_TO_TC_MAP\":{\"A\":{\"5\":\"2\"}},"
           "\"PORT_QOS_MAP\":{\"global\":{\"dscp_to_tc_map\":\"A\"}}}");
    cr_assert_eq(br->map.trust, DP_TRUST_DSCP);
    cr_assert_eq(br->map.dscp_to_prio[5], 2);
    cr_assert_eq(eth1->map.given, 0);
}

Test(conf_sonic, s4_remarking_maps_become_rewrites)
{
    import("{\"TC_TO_DSCP_MAP\":{\"A\":{\"3\":\"26\"}},"
           "\"PORT_QOS_MAP\":{\"Ethernet0\":{\"tc_to_dscp_map\":\"A\"}}}");
    nothing_noted();
    cr_assert_eq(eth1->map.prio_to_dscp[3], 26);
    cr_assert_eq(eth1->map.prio_to_dscp[4], CONF_KEEP);
}

Test(conf_sonic, s2_a_pause_of_another_queue_is_noted)
{
    import("{\"MAP_PFC_PRIORITY_TO_QUEUE\":{\"A\":{\"3\":\"3\",\"4\":\"5\"}},"
           "\"PORT_QOS_MAP\":{\"Ethernet0\":{\"pfc_to_queue_map\":\"A\"}}}");
    noted("/MAP_PFC_PRIORITY_TO_QUEUE/A/4", "which is 4 on port Ethernet0");
    cr_assert_null(why("/MAP_PFC_PRIORITY_TO_QUEUE/A/3"));
}

Test(conf_sonic, names_of_ports_are_mapped)
{
    cr_assert_eq(import_text("{\"PORT_QOS_MAP\":{\"Ethernet96\":{"
                             "\"pfc_enable\":\"3\"},\"Ethernet8\":{"
                             "\"pfc_enable\":\"3\"}}}",
                             "{\"Ethernet96\":\"Ethernet4\"}"),
                 0, "%s", err.msg);
    cr_assert_eq(eth2->pfc_prios, 8);
    cr_assert_eq(eth1->pfc_prios, 0);
    noted("/PORT_QOS_MAP/Ethernet8", "no port for Ethernet8");
    cr_assert_eq(import_text("{}", "{\"Ethernet96\":\"eth9\"}"), ENOENT);
    cr_assert(strstr(err.msg, "eth9"), "%s", err.msg);
}

/* --- queues ----------------------------------------------------------------
 */

#define SCHEDULERS                                               \
    "\"SCHEDULER\":{\"a\":{\"type\":\"DWRR\",\"weight\":\"1\"}," \
    "\"b\":{\"type\":\"DWRR\",\"weight\":\"2\"},"                \
    "\"s\":{\"type\":\"STRICT\",\"pir\":\"1250000\"}}"

Test(conf_sonic, s7_weights_become_per_cent_and_sum_to_100)
{
    import("{" SCHEDULERS ",\"QUEUE\":{\"Ethernet0|0-1\":"
           "{\"scheduler\":\"[SCHEDULER|a]\"},\"Ethernet0|2\":"
           "{\"scheduler\":\"b\"},\"Ethernet0|7\":{\"scheduler\":\"s\"}}}");
    cr_assert(eth1->queue[0].ets && eth1->queue[1].ets && eth1->queue[2].ets);
    cr_assert_eq(eth1->queue[0].weight, 25);
    cr_assert_eq(eth1->queue[1].weight, 25);
    cr_assert_eq(eth1->queue[2].weight, 50);
    cr_assert_not(eth1->queue[7].ets);
    cr_assert_eq(eth1->queue[7].max_rate_bps, 10000000);
    noted("/QUEUE/Ethernet0", "per cent: 25, 25, 50");
}

Test(conf_sonic, s7_any_weights_sum_to_100_and_none_is_0)
{
    struct rng r = {.state = 5};

    for (int run = 0; run < 2000; run++) {
        uint8_t queues = (uint8_t) rng_range(&r, 1, 255);
        char text[2048];
        size_t n = 0;
        unsigned sum = 0;

        n += (size_t) snprintf(text, sizeof(text), "{\"SCHEDULER\":{");
        for (int q = 0; q < 8; q++)
            n += (size_t) snprintf(
                text + n, sizeof(text) - n,
                "%s\"%d\":{\"type\":\"DWRR\",\"weight\":%lu}", q ? "," : "", q,
                rng_below(&r, 2) ? rng_range(&r, 1, 20)
                                 : rng_range(&r, 1, 1000000));
        n += (size_t) snprintf(text + n, sizeof(text) - n, "},\"QUEUE\":{");
        for (int q = 0, any = 0; q < 8; q++)
            if (queues >> q & 1)
                n += (size_t) snprintf(text + n, sizeof(text) - n,
                                       "%s\"Ethernet0|%d\":{\"scheduler\":"
                                       "\"%d\"}",
                                       any++ ? "," : "", q, q);
        snprintf(text + n, sizeof(text) - n, "}}");
        import(text); /* validates too */
        for (int q = 0; q < 8; q++) {
            cr_assert_eq(eth1->queue[q].ets, queues >> q & 1);
            cr_assert(!eth1->queue[q].ets || eth1->queue[q].weight, "%s",
                      text);
            sum += eth1->queue[q].ets ? eth1->queue[q].weight : 0;
        }
        cr_assert_eq(sum, 100);
    }
}

Test(conf_sonic, s7_queues_that_are_left_out_leave_the_sum_whole)
{
    eth1->queue[5].ets = true;
    eth1->queue[5].weight = 100;
    import("{" SCHEDULERS ",\"QUEUE\":{\"Ethernet0|0\":"
           "{\"scheduler\":\"a\"}}}");
    cr_assert_eq(eth1->queue[0].weight, 100);
    cr_assert_not(eth1->queue[5].ets);
    noted("/QUEUE/Ethernet0", "queue 5 of port Ethernet0 has no scheduler");
}

Test(conf_sonic, s11_green_thresholds_hold_for_all)
{
    import("{\"WRED_PROFILE\":{\"W\":{\"ecn\":\"ecn_all\","
           "\"wred_green_enable\":\"true\",\"green_min_threshold\":\"1000\","
           "\"green_max_threshold\":\"2000\",\"green_drop_probability\":"
           "\"5\",\"red_min_threshold\":\"7\"}},"
           "\"QUEUE\":{\"Ethernet0|3-4\":{\"wred_profile\":\"W\"}}}");
    for (int q = 3; q <= 4; q++) {
        cr_assert_eq(eth1->queue[q].wred_min_bytes, 1000);
        cr_assert_eq(eth1->queue[q].wred_max_bytes, 2000);
        cr_assert_eq(eth1->queue[q].wred_percent, 5);
        cr_assert(eth1->queue[q].ecn);
    }
    noted("/WRED_PROFILE/W/red_min_threshold", "no colours");
    cr_assert_null(why("/WRED_PROFILE/W/wred_green_enable"));
}

/* Once for the profile, whoever refers to it. */
Test(conf_sonic, s11_each_threshold_of_another_colour_is_listed)
{
    static const char *const members[] = {"yellow_min_threshold",
                                          "yellow_max_threshold",
                                          "yellow_drop_probability",
                                          "red_min_threshold",
                                          "red_max_threshold",
                                          "red_drop_probability"};
    char text[1024];
    int n = snprintf(text, sizeof(text),
                     "{\"QUEUE\":{\"Ethernet0,Ethernet4|3-4\":"
                     "{\"wred_profile\":\"W\"}},\"WRED_PROFILE\":{\"W\":"
                     "{\"green_max_threshold\":\"2000\"");

    for (int i = 0; i < 6; i++)
        n += snprintf(text + n, sizeof(text) - (size_t) n, ",\"%s\":\"4%d\"",
                      members[i], i);
    snprintf(text + n, sizeof(text) - (size_t) n, "}}}");
    import(text);
    cr_assert_eq(json_object_array_length(notes), 6, "%s",
                 json_object_to_json_string(notes));
    for (int i = 0; i < 6; i++) {
        char path[80], value[16];

        snprintf(path, sizeof(path), "/WRED_PROFILE/W/%s", members[i]);
        snprintf(value, sizeof(value), "4%d is not taken", i);
        noted(path, value);
    }
}

Test(conf_sonic, s11_a_profile_without_green_thresholds_does_nothing)
{
    import("{\"WRED_PROFILE\":{\"W\":{\"ecn\":\"ecn_all\","
           "\"yellow_max_threshold\":\"2000\"}},"
           "\"QUEUE\":{\"Ethernet0|3\":{\"wred_profile\":\"W\"}}}");
    cr_assert_eq(eth1->queue[3].wred_max_bytes, 0);
    cr_assert_not(eth1->queue[3].ecn);
    noted("/WRED_PROFILE/W", "no green thresholds");
    noted("/WRED_PROFILE/W/yellow_max_threshold", "2000 is not taken");
}

Test(conf_sonic, s11_neither_marks_nor_drops)
{
    import("{\"WRED_PROFILE\":{\"W\":{\"ecn\":\"ecn_none\","
           "\"wred_green_enable\":\"false\",\"green_min_threshold\":\"1000\","
           "\"green_max_threshold\":\"2000\"}},"
           "\"QUEUE\":{\"Ethernet0|3\":{\"wred_profile\":\"W\"}}}");
    cr_assert_eq(eth1->queue[3].wred_max_bytes, 0);
    cr_assert_not(eth1->queue[3].ecn);
}

/* --- buffers ---------------------------------------------------------------
 */

#define BUFFERS                                                            \
    "\"BUFFER_POOL\":{\"in\":{\"type\":\"ingress\",\"mode\":\"dynamic\","  \
    "\"size\":\"4194304\"},\"out\":{\"type\":\"egress\",\"mode\":"         \
    "\"static\",\"size\":\"9000000\"}},\"BUFFER_PROFILE\":{"               \
    "\"pg_lossless_100000_2000m_profile\":{\"pool\":\"[BUFFER_POOL|in]\"," \
    "\"xon\":\"18432\",\"xoff\":\"30720\",\"size\":\"49152\","             \
    "\"dynamic_th\":\"-1\"},\"eg\":{\"pool\":\"out\",\"size\":\"1500\","   \
    "\"static_th\":\"100000\"}}"

Test(conf_sonic, s5_pools_profiles_groups_and_queues)
{
    const struct conf_profile *p;

    eth1->pfc_prios = 0x18;
    import("{" BUFFERS ",\"BUFFER_PG\":{\"Ethernet0|3-4\":{\"profile\":"
           "\"[BUFFER_PROFILE|pg_lossless_100000_2000m_profile]\"}},"
           "\"BUFFER_QUEUE\":{\"Ethernet0,Ethernet4|0-2\":{\"profile\":"
           "\"eg\"}}}");
    cr_assert_eq(br->n_pools, 1);
    cr_assert_str_eq(br->pool[0].name, "in");
    cr_assert_eq(br->pool[0].size_bytes, 4194304);
    cr_assert(br->pool[0].dynamic);
    p = conf_find_profile(br, "pg_lossless_100000_2000m");
    cr_assert(p);
    noted("/BUFFER_PROFILE/pg_lossless_100000_2000m_profile", "is called");
    cr_assert_str_eq(p->pool, "in");
    cr_assert_eq(p->t.alpha, -1);
    cr_assert_eq(p->t.xon_bytes, 18432);
    cr_assert_eq(p->t.headroom_bytes, 30720);
    cr_assert_eq(p->t.reserved_bytes, 18432);
    cr_assert_str_eq(eth1->group[3].profile, "pg_lossless_100000_2000m");
    cr_assert_str_eq(eth1->group[4].profile, "pg_lossless_100000_2000m");
    cr_assert_str_eq(eth1->group[2].profile, "");
    cr_assert_str_eq(eth2->queue[2].profile, "eg");
    p = conf_find_profile(br, "eg");
    cr_assert_str_eq(p->pool, "");
    cr_assert_eq(p->t.xoff_bytes, 100000);
    noted("/BUFFER_POOL/out", "ingress only");
    noted("/BUFFER_PROFILE/eg/size", "nothing is reserved");
}

Test(conf_sonic, s5_what_the_dynamic_model_computes_is_noted)
{
    import("{\"BUFFER_POOL\":{\"in\":{\"type\":\"ingress\",\"mode\":"
           "\"dynamic\"}},\"BUFFER_PG\":{\"Ethernet0|3-4\":{\"profile\":"
           "\"NULL\"}}}");
    cr_assert_eq(br->n_pools, 0);
    noted("/BUFFER_POOL/in", "no size");
    noted("/BUFFER_PG/Ethernet0|3-4/profile", "is computed");
}

Test(conf_sonic, s5_a_shared_headroom_pool_and_an_alpha_that_is_too_large)
{
    import("{\"BUFFER_POOL\":{\"in\":{\"type\":\"ingress\",\"mode\":"
           "\"dynamic\",\"size\":\"4194304\",\"xoff\":\"1048576\"}},"
           "\"BUFFER_PROFILE\":{\"p\":{\"pool\":\"in\",\"size\":\"0\","
           "\"dynamic_th\":\"7\"}}}");
    cr_assert_eq(br->headroom_pool_bytes, 1048576);
    cr_assert_eq(conf_find_profile(br, "p")->t.alpha, 3);
    noted("/BUFFER_PROFILE/p/dynamic_th", "3 is taken");
}

/* --- watchdog --------------------------------------------------------------
 */

Test(conf_sonic, s9_watchdog)
{
    import("{\"PFC_WD\":{\"GLOBAL\":{\"POLL_INTERVAL\":\"100\","
           "\"BIG_RED_SWITCH\":\"enable\"},\"Ethernet0\":{\"action\":"
           "\"forward\",\"detection_time\":\"400\",\"restoration_time\":"
           "\"500\",\"pfc_stat_history\":\"enable\"}}}");
    cr_assert(eth1->watchdog.enabled);
    cr_assert_eq(eth1->watchdog.action, WATCHDOG_FORWARD);
    cr_assert_eq(eth1->watchdog.detection_ms, 400);
    cr_assert_eq(eth1->watchdog.restoration_ms, 500);
    cr_assert_eq(eth1->watchdog.poll_ms, 100);
    cr_assert_not(eth2->watchdog.enabled);
    noted("/PFC_WD/GLOBAL/BIG_RED_SWITCH", "in storms only");
    cr_assert_eq(br->watchdog_override, CONF_OVERRIDE_DROP);
    noted("/PFC_WD/Ethernet0/pfc_stat_history", "no counterpart");
    import("{\"PFC_WD\":{\"GLOBAL\":{\"BIG_RED_SWITCH\":\"disable\"}}}");
    cr_assert_eq(br->watchdog_override, CONF_OVERRIDE_OFF);
    nothing_noted();
}

/* --- links -----------------------------------------------------------------
 */

#define LINKS                                                               \
    "{\"PORT\":{\"Ethernet0\":{\"speed\":\"40000\",\"mtu\":\"9100\"},"      \
    "\"Ethernet4\":{\"mtu\":\"9100\"},\"Ethernet8\":{\"speed\":\"1000\"}}," \
    "\"CABLE_LENGTH\":{\"AZURE\":{\"Ethernet0\":\"300m\",\"Ethernet4\":"    \
    "\"0m\",\"Ethernet8\":\"5m\"}}}"

Test(conf_sonic, s6_rates_and_cables_on_demand)
{
    import(LINKS);
    cr_assert_eq(eth1->rate_bps, 0);
    noted("/PORT", "on demand");
    noted("/CABLE_LENGTH", "on demand");
    links = true;
    import(LINKS);
    cr_assert_eq(eth1->rate_bps, UINT64_C(40000000000));
    cr_assert_eq(eth1->cable_delay_ns, 1516);
    cr_assert_eq(eth2->rate_bps, 0);
    cr_assert_eq(eth2->cable_delay_ns, 0);
    noted("/PORT", "speed is taken");
    noted("/PORT/Ethernet8", "no port for Ethernet8");
    noted("/CABLE_LENGTH/AZURE/Ethernet8", "no port for Ethernet8");
}

/* --- nothing is left out silently ------------------------------------------
 */

/* Whose rows would hold is left to chance otherwise. */
Test(conf_sonic, a_port_has_one_name)
{
    const char *db = "{\"PORT_QOS_MAP\": {\"E0\": {\"pfc_enable\": \"3\"}}}";

    cr_assert_eq(import_text(db, "{\"E0\": \"Ethernet0\", "
                                 "\"E1\": \"Ethernet4\"}"),
                 0, "%s", err.msg);
    cr_assert_eq(import_text(db, "{\"E0\": \"Ethernet0\", "
                                 "\"E1\": \"Ethernet0\"}"),
                 EINVAL);
    cr_assert_str_eq(err.value, "Ethernet0");
    cr_assert(strstr(err.msg, "E0 and E1 are both to mean"), "%s", err.msg);
}

Test(conf_sonic, s5_words_of_a_pool)
{
    refused("{\"BUFFER_POOL\": {\"p\": {\"size\": \"9000\", \"type\": "
            "\"ingress\", \"mode\": \"elastic\"}}}",
            "/BUFFER_POOL/p/mode", "\"elastic\" is none: allowed static, dyn");
    refused("{\"BUFFER_POOL\": {\"p\": {\"size\": \"9000\", \"type\": "
            "\"sideways\", \"mode\": \"static\"}}}",
            "/BUFFER_POOL/p/type", "allowed ingress, egress, both");
    refused("{\"BUFFER_POOL\": {\"p\": {\"size\": \"9000\", \"type\": 1}}}",
            "/BUFFER_POOL/p/type", "1 is none");
}

Test(conf_sonic, s7_a_weight_of_0_is_noted)
{
    import("{\"SCHEDULER\": {\"s\": {\"type\": \"DWRR\", \"weight\": \"0\"}},"
           " \"QUEUE\": {\"Ethernet0|0-7\": {\"scheduler\": \"s\"}}}");
    noted("/SCHEDULER/s/weight", "1 is taken");
}

Test(conf_sonic, what_is_not_mapped_is_listed)
{
    import("{\"VLAN\":{\"Vlan10\":{}},\"DSCP_TO_TC_MAP\":{\"X\":{}},"
           "\"PORT_QOS_MAP\":{\"Ethernet0\":{\"pfc_to_pg_map\":\"A\","
           "\"pfc_enable\":\"3\",\"pfcwd_sw_enable\":\"3,4\"}},"
           "\"QUEUE\":{\"Ethernet0|6-9\":{\"colour\":\"red\"}}}");
    noted("/VLAN", "is no table that is taken over");
    noted("/DSCP_TO_TC_MAP/X", "refers to it");
    noted("/PORT_QOS_MAP/Ethernet0/pfc_to_pg_map", "no counterpart");
    noted("/PORT_QOS_MAP/Ethernet0/pfcwd_sw_enable", "every priority");
    noted("/QUEUE/Ethernet0|6-9", "8 to 9 are not");
    noted("/QUEUE/Ethernet0|6-9/colour", "no counterpart");
}

Test(conf_sonic, what_is_malformed_is_refused_with_its_path)
{
    refused("[]", "", "is no object");
    refused("{\"QUEUE\":[]}", "/QUEUE", "is no object");
    refused("{\"QUEUE\":null}", "/QUEUE", "is no object");
    refused("{\"QUEUE\":{\"Ethernet0|3\":\"x\"}}", "/QUEUE/Ethernet0|3",
            "is no object");
    refused("{\"QUEUE\":{\"Ethernet0\":{}}}", "/QUEUE/Ethernet0", "wrong key");
    refused("{\"QUEUE\":{\"Ethernet0|4-3\":{}}}", "/QUEUE/Ethernet0|4-3",
            "wrong key");
    refused("{\"QUEUE\":{\"Ethernet0|x\":{}}}", "/QUEUE/Ethernet0|x",
            "wrong key");
    refused("{\"QUEUE\":{\"Ethernet0|-1\":{}}}", "/QUEUE/Ethernet0|-1",
            "wrong key");
    refused("{\"PORT_QOS_MAP\":{\"Ethernet0|3\":{}}}",
            "/PORT_QOS_MAP/Ethernet0|3", "wrong key");
    refused("{\"QUEUE\":{\"Ethernet0|3\":{\"scheduler\":\"s\"}}}",
            "/QUEUE/Ethernet0|3/scheduler", "refers to nothing");
    refused("{\"SCHEDULER\":{\"s\":{}},\"QUEUE\":{\"Ethernet0|3\":"
            "{\"scheduler\":\"[QUEUE|s]\"}}}",
            "/QUEUE/Ethernet0|3/scheduler", "refers to nothing");
    refused("{\"SCHEDULER\":{\"s\":{\"type\":\"FIFO\"}},\"QUEUE\":"
            "{\"Ethernet0|3\":{\"scheduler\":\"s\"}}}",
            "/SCHEDULER/s/type", "STRICT, DWRR, WRR");
    refused("{\"DSCP_TO_TC_MAP\":{\"A\":{\"64\":\"1\"}},\"PORT_QOS_MAP\":"
            "{\"Ethernet0\":{\"dscp_to_tc_map\":\"A\"}}}",
            "/DSCP_TO_TC_MAP/A/64", "allowed 0 to 63");
    refused("{\"TC_TO_QUEUE_MAP\":{\"A\":{\"3\":\"8\"}},\"PORT_QOS_MAP\":"
            "{\"Ethernet0\":{\"tc_to_queue_map\":\"A\"}}}",
            "/TC_TO_QUEUE_MAP/A/3", "allowed 0 to 7");
    refused("{\"PORT_QOS_MAP\":{\"Ethernet0\":{\"pfc_enable\":\"3,8\"}}}",
            "/PORT_QOS_MAP/Ethernet0/pfc_enable", "priorities 0 to 7");
    refused("{\"PORT_QOS_MAP\":{\"Ethernet0\":{\"pfc_enable\":\"3,\"}}}",
            "/PORT_QOS_MAP/Ethernet0/pfc_enable", "priorities 0 to 7");
    refused("{\"BUFFER_POOL\":{\"p\":{\"type\":\"ingress\",\"size\":"
            "\"much\"}}}",
            "/BUFFER_POOL/p/size", "is no number");
    refused("{\"BUFFER_PROFILE\":{\"p\":{}}}", "/BUFFER_PROFILE/p/pool",
            "refers to nothing");
    refused("{\"WRED_PROFILE\":{\"W\":{\"ecn\":\"maybe\"}},\"QUEUE\":"
            "{\"Ethernet0|3\":{\"wred_profile\":\"W\"}}}",
            "/WRED_PROFILE/W/ecn", "ecn_all");
    refused("{\"PFC_WD\":{\"Ethernet0\":{\"action\":\"panic\"}}}",
            "/PFC_WD/Ethernet0/action", "drop, forward, alert");
    refused("{\"PFC_WD\":{\"GLOBAL\":{\"BIG_RED_SWITCH\":\"maybe\"}}}",
            "/PFC_WD/GLOBAL/BIG_RED_SWITCH", "enable, disable");
    refused("{\"PORT\":{\"Ethernet0\":{\"speed\":\"fast\"}}}",
            "/PORT/Ethernet0/speed", "is no number");
    refused("{\"PORT\":{\"Ethernet0\":{\"speed\":\"400001\"}}}",
            "/PORT/Ethernet0/speed", "allowed 1 to 400000");
    refused("{\"CABLE_LENGTH\":{\"A\":{\"Ethernet0\":\"-1m\"}}}",
            "/CABLE_LENGTH/A/Ethernet0", "0m to 198000m");
    refused("{\"CABLE_LENGTH\":{\"A\":{\"Ethernet0\":\"5\"}}}",
            "/CABLE_LENGTH/A/Ethernet0", "0m to 198000m");
    refused("{\"PFC_WD\":{\"Ethernet0\":{\"detection_time\":\"99\"}}}",
            "/PFC_WD/Ethernet0/detection_time", "100 to 5000");
}

/* The sample in the documentation, as a whole. */
Test(conf_sonic, the_sample_is_what_the_preset_is_and_more)
{
    const char *src = getenv("top_srcdir");
    char path[512], text[16384];
    size_t n;
    FILE *f;

    snprintf(path, sizeof(path), "%s/docs/examples/config_db.json",
             src ? src : ".");
    f = fopen(path, "r");
    cr_assert(f, "%s is not there; top_srcdir must be set", path);
    n = fread(text, 1, sizeof(text) - 1, f);
    cr_assert(n && n < sizeof(text) - 1);
    text[n] = '\0';
    fclose(f);
    import(text);
    cr_assert_eq(eth1->pfc_prios, 0x18);
    cr_assert_eq(eth2->map.dscp_to_prio[46], 5);
    cr_assert_eq(eth2->queue[3].weight, 15);
    cr_assert_eq(eth2->queue[6].weight, 14);
    cr_assert(eth2->queue[4].ecn);
    cr_assert_null(why("/QUEUE/Ethernet0"), "its weights sum to 100");
    noted("/PORT_QOS_MAP/Ethernet0,Ethernet4,Ethernet8", "Ethernet8");
    noted("/DOT1P_TO_TC_MAP/AZURE", "refers to it");
    noted("/DEVICE_METADATA", "no table");
}
