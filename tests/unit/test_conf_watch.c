/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/conf: watchdog, guard and what goes with them (pfc-semantics section 9):
 * ranges, defaults, and what the datapath is told.
 */
#include "base/clock.h"
#include "conf/conf.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct err err;

/* A bridge whose port eth1 has these members; eth2 is lossless on 3. */
static struct conf *
read_port(const char *members, const char *bridge)
{
    struct json_object *v;
    struct conf *c = NULL;
    char text[1024];

    snprintf(
        text, sizeof(text),
        "{\"bridges\":{\"br0\":{%s\"ports\":{\"eth1\":{\"type\":\"mem\""
        "%s},\"eth2\":{\"type\":\"mem\",\"pfc\":{\"priorities\":[3]}}}}}}",
        bridge, members);
    v = json_tokener_parse(text);
    cr_assert_not_null(v, "%s", text);
    err_clear(&err);
    conf_from_json(v, NULL, &c, &err);
    json_object_put(v);
    return c;
}

static void
build(const struct conf *c, struct dp_plan_port *pp)
{
    memset(pp, 0, sizeof(*pp));
    conf_build_port(c->bridges[0], c->bridges[0]->ports[0], NULL, 0, pp);
}

static void
assert_refused(const char *member, const char *value, const char *words)
{
    char text[128], path[96];

    snprintf(text, sizeof(text), ",\"watchdog\":{\"%s\":%s}", member, value);
    cr_assert_null(read_port(text, ""), "%s", text);
    cr_assert_eq(err.code, EINVAL);
    snprintf(path, sizeof(path), "/bridges/br0/ports/eth1/watchdog/%s",
             member);
    cr_assert_str_eq(err.path, path);
    cr_assert(strstr(err.msg, words), "%s", err.msg);
}

Test(conf_watch, section_9_defaults_are_200_ms_drop_and_off)
{
    struct conf *c = read_port("", "");
    const struct conf_watchdog *w = &c->bridges[0]->ports[0]->watchdog;
    struct dp_plan_port pp;

    cr_assert_not(w->enabled);
    cr_assert_eq(w->action, WATCHDOG_DROP);
    cr_assert_eq(w->detection_ms, 200);
    cr_assert_eq(w->restoration_ms, 200);
    cr_assert_eq(w->poll_ms, 200);
    build(c, &pp);
    cr_assert_eq(pp.dog.prios, 0);
    cr_assert_eq(pp.guard.time_ns, 0);
    conf_destroy(c);
}

Test(conf_watch, section_9_ranges)
{
    assert_refused("detection_ms", "99", "allowed 100 to 5000");
    assert_refused("detection_ms", "5001", "allowed 100 to 5000");
    assert_refused("restoration_ms", "99", "allowed 100 to 60000");
    assert_refused("restoration_ms", "60001", "allowed 100 to 60000");
    assert_refused("poll_ms", "99", "allowed 100 to 1000");
    assert_refused("poll_ms", "1001", "allowed 100 to 1000");
    assert_refused("action", "\"sing\"", "allowed drop, forward, alert");
    cr_assert_null(read_port(",\"guard\":{\"time_ms\":50}", ""));
    cr_assert(strstr(err.msg, "allowed 0, or 100 to 60000"), "%s", err.msg);
}

Test(conf_watch, section_9_poll_above_detection_is_refused)
{
    assert_refused("poll_ms", "201",
                   "poll_ms 201 exceeds detection_ms 200: allowed 100 to 200");
    cr_assert_null(read_port(",\"watchdog\":{\"detection_ms\":1000,"
                             "\"restoration_ms\":300,\"poll_ms\":400}",
                             ""));
    cr_assert(strstr(err.msg, "poll_ms 400 exceeds restoration_ms 300"), "%s",
              err.msg);
}

Test(conf_watch, section_9_watched_is_what_is_lossless_and_honoured)
{
    struct dp_plan_port pp;
    struct conf *c =
        read_port(",\"pfc\":{\"priorities\":[4]},\"watchdog\":"
                  "{\"enabled\":true,\"action\":\"forward\",\"detection_ms\":"
                  "400,\"restoration_ms\":300,\"poll_ms\":100},"
                  "\"guard\":{\"time_ms\":700,\"action\":\"release\"}",
                  "");

    cr_assert(c, "%s", err.msg);
    build(c, &pp);
    cr_assert_eq(pp.dog.prios, 1 << 4, "3 is not honoured here");
    cr_assert_eq(pp.dog.action, WATCHDOG_FORWARD);
    cr_assert_eq(pp.dog.detection_ns, 400 * NS_PER_MS);
    cr_assert_eq(pp.dog.restoration_ns, 300 * NS_PER_MS);
    cr_assert_eq(pp.dog.poll_ns, 100 * NS_PER_MS);
    cr_assert_eq(pp.guard.time_ns, 700 * NS_PER_MS);
    cr_assert(pp.guard.release);
    conf_destroy(c);

    c = read_port(",\"pfc\":{\"priorities\":[4],\"asymmetric\":true},"
                  "\"watchdog\":{\"enabled\":true}",
                  "");
    build(c, &pp);
    cr_assert_eq(pp.dog.prios, 1 << 4 | 1 << 3, "queue 3 is lossless too");
    conf_destroy(c);
}

Test(conf_watch, section_9_the_override_is_the_action_of_every_port)
{
    struct dp_plan_port pp;
    struct dp_plan plan = {.n_slots = 0};
    struct conf *c = read_port(",\"pfc\":{\"priorities\":[4]},\"watchdog\":"
                               "{\"enabled\":true,\"action\":\"alert\"}",
                               "\"watchdog_override\":\"drop\","
                               "\"drop_lossless_unknown\":true,");

    cr_assert(c, "%s", err.msg);
    build(c, &pp);
    cr_assert_eq(pp.dog.action, WATCHDOG_DROP);
    cr_assert_eq(conf_build_bridge(c->bridges[0], &plan, &err), 0);
    cr_assert(plan.drop_unknown);
    c->bridges[0]->watchdog_override = CONF_OVERRIDE_FORWARD;
    build(c, &pp);
    cr_assert_eq(pp.dog.action, WATCHDOG_FORWARD);
    c->bridges[0]->watchdog_override = CONF_OVERRIDE_OFF;
    build(c, &pp);
    cr_assert_eq(pp.dog.action, WATCHDOG_ALERT);
    conf_destroy(c);
}
