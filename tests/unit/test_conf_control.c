/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of lib/conf/control.c: targets of controllers, and what the members
 * that go with them may be.
 */
#include "conf/conf.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* "type passive ip port path", or why not. */
static void
expect(const char *text, const char *want)
{
    static const char *const types[] = {"tcp", "ssl", "unix"};
    struct conf_target t;
    const char *why;
    char got[256];

    if (conf_target_parse(text, &t, &why))
        snprintf(got, sizeof(got), "%s %s%s %u %s", types[t.type],
                 t.passive ? "passive " : "", t.ip, t.port, t.path);
    else
        snprintf(got, sizeof(got), "%s", why);
    cr_assert_str_eq(got, want, "%s: %s", text, got);
}

Test(conf_control, targets)
{
    expect("tcp:192.0.2.1", "tcp 192.0.2.1 6653 ");
    expect("tcp:192.0.2.1:6633", "tcp 192.0.2.1 6633 ");
    expect("ssl:[2001:db8::1]:1", "ssl 2001:db8::1 1 ");
    expect("ssl:[2001:db8::1]", "ssl 2001:db8::1 6653 ");
    expect("unix:/run/x", "unix  0 /run/x");
    expect("ptcp:", "tcp passive  6653 ");
    expect("ptcp:6633", "tcp passive  6633 ");
    expect("ptcp:6633:127.0.0.1", "tcp passive 127.0.0.1 6633 ");
    expect("pssl::[::1]", "ssl passive ::1 6653 ");
    expect("punix:/a", "unix passive  0 /a");
}

Test(conf_control, no_targets)
{
    const char *type = "is of no known type";
    const char *ip = "has no IP address (IPv6 ones stand in brackets)";
    const char *port = "has a port that is not 1 to 65535";
    char text[300];

    expect("", type);
    expect("tcp", type);
    expect("udp:192.0.2.1", type);
    expect("tcpx:192.0.2.1", type);
    expect("tcp:", ip);
    expect("tcp:example.org", ip);
    expect("tcp:192.0.2.1.2", ip);
    expect("tcp:2001:db8::1", ip);
    expect("tcp:[2001:db8::1", ip);
    expect("tcp:[192.0.2.1]", ip);
    expect("tcp:192.0.2.1:", port);
    expect("tcp:192.0.2.1:0", port);
    expect("tcp:192.0.2.1:65536", port);
    expect("tcp:192.0.2.1:1 ", "has a character that is not printable ASCII");
    expect("tcp:192.0.2.1:+1", port);
    expect("ptcp:99999999999", port);
    expect("ptcp:1:", ip);
    expect("unix:run/x", "has a path that is not absolute");
    expect("unix:", "has a path that is not absolute");
    memset(text, 'a', sizeof(text));
    memcpy(text, "unix:/", 6);
    text[5 + 107] = '\0';
    expect(text,
           "unix  0 /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
           "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    text[5 + 107] = 'a';
    text[5 + 108] = '\0';
    expect(text, "has a path of more than 107 octets");
    text[5 + 108] = 'a';
    text[200] = '\0';
    expect(text, "is too long");
}

/* Reads a configuration of one bridge with these members. */
static int
read_members(const char *members, struct conf **c, struct err *err)
{
    char text[4096];
    struct json_object *o;
    int rc;

    snprintf(text, sizeof(text), "{\"bridges\": {\"br0\": {%s}}}", members);
    o = json_tokener_parse(text);
    cr_assert_not_null(o, "%s", text);
    err_clear(err);
    rc = conf_from_json(o, NULL, c, err);
    json_object_put(o);
    return rc;
}

static void
refused(const char *members, const char *path, const char *msg)
{
    struct conf *c = NULL;
    struct err err;

    cr_assert(read_members(members, &c, &err), "%s", members);
    cr_assert_null(c);
    cr_assert_str_eq(err.path, path);
    cr_assert(strstr(err.msg, msg), "%s", err.msg);
    cr_assert_str_not_empty(err.allowed);
}

Test(conf_control, refused)
{
    char many[4096] = "\"controllers\": {";

    refused("\"controllers\": {\"tcp:x\": {}}",
            "/bridges/br0/controllers/tcp:x",
            "bridge br0: the target of a controller \"tcp:x\" has no IP");
    refused("\"controllers\": {\"unix:/a/b\": {\"probe_ms\": 1}}",
            "/bridges/br0/controllers/unix:~1a~1b/probe_ms",
            "probe_ms 1 is out of range: allowed 0, or 100 to 3600000");
    refused("\"controllers\": {\"ptcp:\": {\"backoff\": 1}}",
            "/bridges/br0/controllers/ptcp:/backoff", "unknown member");
    refused("\"controllers\": []", "/bridges/br0/controllers",
            "is not an object");
    refused("\"fail_mode\": \"open\"", "/bridges/br0/fail_mode",
            "allowed standalone, secure");
    refused("\"datapath_id\": \"0\"", "/bridges/br0/datapath_id",
            "is no datapath id");
    refused("\"datapath_id\": \"12345678123456781\"",
            "/bridges/br0/datapath_id", "16 hexadecimal digits");
    refused("\"datapath_id\": 1", "/bridges/br0/datapath_id",
            "is not a string");
    refused("\"ssl\": {\"private_key\": \"key.pem\"}",
            "/bridges/br0/ssl/private_key", "is not an absolute path");
    refused("\"ssl\": {\"private_key\": \"/key.pem\"}",
            "/bridges/br0/ssl/certificate", "has no file");
    refused("\"controllers\": {\"ssl:192.0.2.1\": {}}",
            "/bridges/br0/ssl/private_key", "a target needs it");
    for (int i = 0; i < 17; i++)
        snprintf(many + strlen(many), 64, "%s\"tcp:192.0.2.%d\": {}",
                 i ? ", " : "", i);
    strcat(many, "}");
    refused(many, "/bridges/br0/controllers/tcp:192.0.2.16",
            "at most 16 controllers");
}

Test(conf_control, there_and_back)
{
    struct conf *c, *again;
    struct err err;
    struct json_object *o, *b;

    cr_assert_eq(read_members("\"fail_mode\": \"secure\","
                              "\"datapath_id\": \"Ab1\","
                              "\"management\": false,"
                              "\"controllers\": {\"tcp:192.0.2.1\": {},"
                              "\"ssl:[::1]\": {\"probe_ms\": 0}},"
                              "\"ssl\": {\"private_key\": \"/k\","
                              "\"certificate\": \"/c\","
                              "\"ca_certificate\": \"/a\"}",
                              &c, &err),
                 0, "%s", err.msg);
    o = conf_to_json(c);
    cr_assert_eq(conf_from_json(o, NULL, &again, &err), 0, "%s", err.msg);
    cr_assert(conf_equal(c, again));
    cr_assert_eq(c->bridges[0]->of.datapath_id, 0xab1);
    cr_assert_eq(c->bridges[0]->of.n_controllers, 2);
    cr_assert_str_eq(c->bridges[0]->of.controller[0].target, "ssl:[::1]");
    json_object_put(o);
    /* Null removes one. */
    b = json_tokener_parse("{\"controllers\": {\"ssl:[::1]\": null}}");
    cr_assert_eq(conf_bridge_edit(again->bridges[0], b, "", &err), 0);
    json_object_put(b);
    cr_assert_eq(again->bridges[0]->of.n_controllers, 1);
    cr_assert(!conf_equal(c, again));
    conf_destroy(c);
    conf_destroy(again);
}
