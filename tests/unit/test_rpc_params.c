/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of lib/rpc/params.c: parameters against the table of their method, by
 * name and by position, and what an error says about them.
 */
#include "rpc/rpc.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
typed(void *ctx, struct rpc_client *client, struct json_object *params,
      struct json_object **result, struct err *err)
{
    (void) ctx;
    (void) client;
    (void) err;
    *result = json_object_get(params);
    return 0;
}

static const char *const modes[] = {"access", "trunk", NULL};
static const char *const automatic[] = {"auto", NULL};
static const struct rpc_param prio = {.type = RPC_T_INT, .max = 7};
static const struct rpc_param size = {.type = RPC_T_INT,
                                      .max = 1 << 30,
                                      .unit = RPC_U_BYTES};

static const struct rpc_param subtract_params[] = {
    {.name = "minuend", .type = RPC_T_INT, .required = true, .max = 1000},
    {.name = "subtrahend", .type = RPC_T_INT, .required = true, .max = 1000},
    {.name = NULL}};
static const struct rpc_param typed_params[] = {
    {.name = "flag", .type = RPC_T_BOOL},
    {.name = "prio", .type = RPC_T_INT, .max = 7},
    {.name = "rate",
     .type = RPC_T_INT,
     .max = INT64_C(400000000000),
     .unit = RPC_U_BPS},
    {.name = "delay", .type = RPC_T_INT, .max = 1000000000, .unit = RPC_U_NS},
    {.name = "headroom",
     .type = RPC_T_INT,
     .max = 1 << 30,
     .unit = RPC_U_BYTES,
     .choices = automatic},
    {.name = "port", .type = RPC_T_STRING, .min = 1, .max = 15},
    {.name = "note", .type = RPC_T_STRING},
    {.name = "mode", .type = RPC_T_STRING, .choices = modes},
    {.name = "prios", .type = RPC_T_ARRAY, .max = 8, .items = &prio},
    {.name = "sizes", .type = RPC_T_ARRAY, .min = 1, .max = 2, .items = &size},
    {.name = "map", .type = RPC_T_OBJECT},
    {.name = "any", .type = RPC_T_ANY},
    {.name = NULL}};
static const struct rpc_method methods[] = {
    {.name = "typed", .params = typed_params, .handler = typed},
    {.name = "subtract", .params = subtract_params, .handler = typed},
    {.name = "get_data", .handler = typed},
    {.name = NULL}};

static struct rpc_registry *registry;

static void
setup(void)
{
    registry = rpc_registry_create();
    rpc_registry_add(registry, methods, NULL);
}

static void
teardown(void)
{
    rpc_registry_destroy(registry);
}

TestSuite(rpc_params, .init = setup, .fini = teardown);

/* Calls a method with params; the answer. */
static struct json_object *
call(const char *method, const char *params)
{
    char text[512], *answer;
    struct json_object *o;

    snprintf(text, sizeof(text),
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\","
             "\"params\":%s}",
             method, params);
    o = json_tokener_parse(text);
    cr_assert(o, "the test's own JSON: %s", text);
    answer = rpc_execute(registry, NULL, o);
    json_object_put(o);
    o = json_tokener_parse(answer);
    free(answer);
    return o;
}

/* The error that the params of a method get (put it). */
static struct json_object *
refused(const char *method, const char *params)
{
    struct json_object *o = call(method, params), *e;

    cr_assert(json_object_object_get_ex(o, "error", &e), "%s",
              json_object_to_json_string(o));
    cr_assert_eq(json_object_get_int(json_object_object_get(e, "code")),
                 RPC_INVALID_PARAMS);
    json_object_get(e);
    json_object_put(o);
    return e;
}

/* The message has the text. */
static void
refused_with(const char *method, const char *params, const char *says)
{
    struct json_object *e = refused(method, params);
    const char *s =
        json_object_get_string(json_object_object_get(e, "message"));

    cr_assert(strstr(s, says), "%s", s);
    json_object_put(e);
}

/* params of "typed" are refused: path, value and allowed say this. */
static void
wrong(const char *params, const char *path, const char *value,
      const char *allowed, const char *in_message)
{
    struct json_object *e = refused("typed", params), *d;
    const char *s;

    d = json_object_object_get(e, "data");
    s = json_object_get_string(json_object_object_get(d, "path"));
    cr_assert_str_eq(s, path);
    s = json_object_get_string(json_object_object_get(d, "value"));
    cr_assert_str_eq(s, value);
    s = json_object_get_string(json_object_object_get(d, "allowed"));
    cr_assert_str_eq(s, allowed);
    s = json_object_get_string(json_object_object_get(e, "message"));
    cr_assert(strstr(s, in_message), "'%s' does not say '%s'", s, in_message);
    json_object_put(e);
}

/* params of "typed" arrive at the handler as `want`. */
static void
right(const char *params, const char *want)
{
    struct json_object *o = call("typed", params), *r;

    cr_assert(json_object_object_get_ex(o, "result", &r), "%s",
              json_object_to_json_string(o));
    cr_assert_str_eq(json_object_to_json_string_ext(r, JSON_C_TO_STRING_PLAIN),
                     want);
    json_object_put(o);
}

Test(rpc_params, right)
{
    right("{}", "{}");
    right("[]", "{}");
    right("[true,3]", "{\"flag\":true,\"prio\":3}");
    right("{\"prio\":3.0}", "{\"prio\":3}");
    right("{\"rate\":\"200M\",\"delay\":\"500us\"}",
          "{\"rate\":200000000,\"delay\":500000}");
    right("{\"headroom\":\"auto\"}", "{\"headroom\":\"auto\"}");
    right("{\"headroom\":\"64K\"}", "{\"headroom\":65536}");
    right("{\"headroom\":1}", "{\"headroom\":1}");
    right("{\"mode\":\"trunk\",\"port\":\"eth1\",\"note\":\"\"}",
          "{\"mode\":\"trunk\",\"port\":\"eth1\",\"note\":\"\"}");
    right("{\"prios\":[0,7],\"sizes\":[\"1K\",2]}",
          "{\"prios\":[0,7],\"sizes\":[1024,2]}");
    right("{\"map\":{\"3\":4},\"any\":null}",
          "{\"map\":{\"3\":4},\"any\":null}");
}

Test(rpc_params, wrong_type)
{
    wrong("{\"flag\":1}", "/params/flag", "1", "true or false", "flag is 1");
    wrong("{\"prio\":\"3\"}", "/params/prio", "3", "0 to 7", "prio");
    wrong("{\"prio\":2.5}", "/params/prio", "2.5", "0 to 7", "2.5");
    wrong("{\"prio\":1e300}", "/params/prio", "1e300", "0 to 7", "1e300");
    wrong("{\"prio\":null}", "/params/prio", "null", "0 to 7", "null");
    wrong("{\"port\":7}", "/params/port", "7", "text of 1 to 15 octets",
          "port is 7");
    wrong("{\"map\":[]}", "/params/map", "[]", "an object", "map");
    wrong("{\"prios\":3}", "/params/prios", "3", "an array of 0 to 8 elements",
          "prios");
}

Test(rpc_params, out_of_range)
{
    wrong("{\"prio\":8}", "/params/prio", "8", "0 to 7",
          "typed: parameter prio is 8; allowed: 0 to 7");
    wrong("{\"prio\":-1}", "/params/prio", "-1", "0 to 7", "-1");
    wrong("{\"prio\":18446744073709551615}", "/params/prio",
          "18446744073709551615", "0 to 7", "18446744073709551615");
    wrong("{\"prios\":[3,8]}", "/params/prios/1", "8", "0 to 7", "prios/1");
    wrong("{\"prios\":[0,1,2,3,4,5,6,7,0]}", "/params/prios",
          "[0,1,2,3,4,5,6,7,0]", "an array of 0 to 8 elements", "prios");
    wrong("{\"sizes\":[]}", "/params/sizes", "[]",
          "an array of 1 to 2 elements", "sizes");
    wrong("{\"port\":\"\"}", "/params/port", "", "text of 1 to 15 octets",
          "port");
    wrong("{\"port\":\"0123456789abcdef\"}", "/params/port",
          "0123456789abcdef", "text of 1 to 15 octets", "port");
    wrong("{\"delay\":\"2s\"}", "/params/delay", "2s",
          "0 to 1000000000 ns, or text with us, ms or s", "2s");
    wrong("{\"headroom\":\"automatic\"}", "/params/headroom", "automatic",
          "0 to 1073741824 bytes, or text with K, M or G, or auto",
          "automatic");
}

Test(rpc_params, nul_in_text)
{
    wrong("{\"port\":\"eth1\\u0000x\"}", "/params/port", "\"eth1\\u0000x\"",
          "text of 1 to 15 octets", "port");
    wrong("{\"delay\":\"1s\\u0000\"}", "/params/delay", "\"1s\\u0000\"",
          "0 to 1000000000 ns, or text with us, ms or s", "delay");
}

Test(rpc_params, suggest)
{
    wrong("{\"prot\":\"eth1\"}", "/params/prot", "prot",
          "flag, prio, rate, delay, headroom, port, note, mode, prios, "
          "sizes, map, any",
          "no parameter 'prot'; did you mean 'port'?");
    wrong("{\"mode\":\"trnuk\"}", "/params/mode", "trnuk", "access, trunk",
          "did you mean \"trunk\"?");
    wrong("{\"mode\":\"q\"}", "/params/mode", "q", "access, trunk",
          "access, trunk");
}

Test(rpc_params, missing_or_too_many)
{
    refused_with("subtract", "[1]", "'subtrahend' is missing");
    refused_with("subtract", "{}", "'minuend' is missing");
    refused_with("subtract", "[1,2,3]", "at most 2");
    refused_with("get_data", "[1]", "at most 0");
    refused_with("get_data", "{\"a\":1}", "no parameters");
}
