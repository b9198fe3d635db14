/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of lib/rpc dispatch.c and openrpc.c: the examples of the JSON-RPC 2.0
 * specification, batches and their bounds, errors of handlers, discovery.
 */
#include "rpc/rpc.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n_updates;

static int
sum(void *ctx, struct rpc_client *client, struct json_object *params,
    struct json_object **result, struct err *err)
{
    static const char *const names[] = {"a", "b", "c"};
    int64_t total = 0;

    (void) ctx;
    (void) client;
    (void) err;
    for (int i = 0; i < 3; i++)
        total +=
            json_object_get_int64(json_object_object_get(params, names[i]));
    *result = json_object_new_int64(total);
    return 0;
}

static int
subtract(void *ctx, struct rpc_client *client, struct json_object *params,
         struct json_object **result, struct err *err)
{
    (void) ctx;
    (void) client;
    (void) err;
    *result = json_object_new_int64(
        json_object_get_int64(json_object_object_get(params, "minuend")) -
        json_object_get_int64(json_object_object_get(params, "subtrahend")));
    return 0;
}

static int
update(void *ctx, struct rpc_client *client, struct json_object *params,
       struct json_object **result, struct err *err)
{
    (void) ctx;
    (void) client;
    (void) err;
    (void) params;
    n_updates++;
    *result = NULL;
    return 0;
}

static int
get_data(void *ctx, struct rpc_client *client, struct json_object *params,
         struct json_object **result, struct err *err)
{
    (void) ctx;
    (void) client;
    (void) err;
    (void) params;
    *result = json_object_new_array();
    json_object_array_add(*result, json_object_new_string("hello"));
    json_object_array_add(*result, json_object_new_int(5));
    return 0;
}

/* Fails with the errno asked for; 0: fails without saying why. */
static int
fail(void *ctx, struct rpc_client *client, struct json_object *params,
     struct json_object **result, struct err *err)
{
    int code = json_object_get_int(json_object_object_get(params, "code"));

    (void) ctx;
    (void) client;
    (void) result;
    if (!code)
        return EIO;
    return err_set(err, code, "/bridges/br0", "value", "allowed",
                   "refused with %d", code);
}

/* A message that err_set() cuts within a character. */
static int
fail_cut(void *ctx, struct rpc_client *client, struct json_object *params,
         struct json_object **result, struct err *err)
{
    char text[2000] = "";

    (void) ctx;
    (void) client;
    (void) params;
    (void) result;
    for (int i = 0; i < 600; i++)
        strcat(text, "\xe2\x82\xac");
    return err_set(err, EINVAL, text, text, text, "x%s", text);
}

static int
large(void *ctx, struct rpc_client *client, struct json_object *params,
      struct json_object **result, struct err *err)
{
    size_t n = 1024 * 1024;
    char *text = malloc(n);

    (void) ctx;
    (void) client;
    (void) params;
    (void) err;
    memset(text, 'x', n);
    n_updates++;
    *result = json_object_new_string_len(text, (int) n);
    free(text);
    return 0;
}

static int
huge(void *ctx, struct rpc_client *client, struct json_object *params,
     struct json_object **result, struct err *err)
{
    *result = json_object_new_array();
    for (int i = 0; i < 3; i++) {
        struct json_object *one;

        large(ctx, client, params, &one, err);
        json_object_array_add(*result, one);
    }
    return 0;
}

static const struct rpc_param sum_params[] = {
    {.name = "a", .type = RPC_T_INT, .max = 1000},
    {.name = "b", .type = RPC_T_INT, .max = 1000},
    {.name = "c", .type = RPC_T_INT, .max = 1000},
    {.name = NULL}};
static const struct rpc_param subtract_params[] = {
    {.name = "minuend",
     .type = RPC_T_INT,
     .required = true,
     .max = 1000,
     .doc = "What is subtracted from."},
    {.name = "subtrahend", .type = RPC_T_INT, .required = true, .max = 1000},
    {.name = NULL}};
static const struct rpc_param update_params[] = {
    {.name = "v1", .type = RPC_T_ANY}, {.name = "v2", .type = RPC_T_ANY},
    {.name = "v3", .type = RPC_T_ANY}, {.name = "v4", .type = RPC_T_ANY},
    {.name = "v5", .type = RPC_T_ANY}, {.name = NULL}};
static const struct rpc_param fail_params[] = {
    {.name = "code", .type = RPC_T_INT, .required = true, .max = 1000},
    {.name = NULL}};

static const struct rpc_method methods[] = {
    {.name = "sum", .params = sum_params, .handler = sum},
    {.name = "subtract",
     .params = subtract_params,
     .handler = subtract,
     .doc = "Subtracts.",
     .result = "the difference",
     .example = "{\"minuend\": 42, \"subtrahend\": 23}"},
    {.name = "update",
     .params = update_params,
     .handler = update,
     .changes = true},
    {.name = "notify_hello", .params = update_params, .handler = update},
    {.name = "get_data", .handler = get_data},
    {.name = NULL}};
static const struct rpc_method more[] = {
    {.name = "fail", .params = fail_params, .handler = fail},
    {.name = "fail_cut", .handler = fail_cut},
    {.name = "large", .handler = large},
    {.name = "huge", .handler = huge},
    {.name = NULL}};

static struct rpc_registry *registry;

static void
setup(void)
{
    registry = rpc_registry_create();
    rpc_registry_add(registry, methods, NULL);
    rpc_registry_add(registry, more, NULL);
    n_updates = 0;
}

static void
teardown(void)
{
    rpc_registry_destroy(registry);
}

TestSuite(rpc_dispatch, .init = setup, .fini = teardown);

/* Feeds text as the daemon does; the answers one after another. */
static char *
talk(const char *text)
{
    struct rpc_stream *s = rpc_stream_create();
    size_t n = strlen(text), at = 0, used;
    char *out = strdup("");

    while (at < n) {
        struct json_object *o;
        enum rpc_code code;
        enum rpc_feed fed =
            rpc_stream_feed(s, text + at, n - at, &used, &o, &code);
        char *answer = NULL;

        at += used;
        if (fed == RPC_FEED_MORE)
            continue;
        if (fed == RPC_FEED_ERROR)
            answer = rpc_error_text(code, "Parse error");
        else {
            answer = rpc_execute(registry, NULL, o);
            json_object_put(o);
        }
        if (answer) {
            out = realloc(out, strlen(out) + strlen(answer) + 1);
            strcat(out, answer);
        }
        free(answer);
        if (fed == RPC_FEED_ERROR)
            break;
    }
    rpc_stream_destroy(s);
    return out;
}

/* The answer to text, without messages' details: compared as JSON. */
static void
expect(const char *text, const char *want)
{
    char *got = talk(text);

    if (!*want) {
        cr_assert_str_empty(got, "%s -> %s", text, got);
    } else {
        struct json_object *g = json_tokener_parse(got);
        struct json_object *w = json_tokener_parse(want);

        cr_assert(w, "the test's own JSON: %s", want);
        cr_assert(json_object_equal(g, w), "%s -> %s, not %s", text, got,
                  want);
        cr_assert_eq(got[strlen(got) - 1], '\n');
        json_object_put(g);
        json_object_put(w);
    }
    free(got);
}

/* The error in the answer to text (put it); its id is checked. */
static struct json_object *
refused(const char *text, int code, const char *id)
{
    char *got = talk(text);
    struct json_object *o = json_tokener_parse(got), *e, *i;

    cr_assert(json_object_is_type(o, json_type_object), "%s -> %s", text, got);
    cr_assert(json_object_object_get_ex(o, "error", &e), "%s", got);
    cr_assert(json_object_object_get_ex(o, "id", &i), "%s", got);
    cr_assert_str_eq(json_object_to_json_string(i), id);
    cr_assert_str_eq(json_object_get_string(
                         json_object_object_get(o, "jsonrpc")),
                     "2.0");
    cr_assert_eq(json_object_get_int(json_object_object_get(e, "code")), code,
                 "%s -> %s", text, got);
    json_object_get(e);
    json_object_put(o);
    free(got);
    return e;
}

/* --- the examples of the specification, in its order -------------------- */

Test(rpc_dispatch, spec_positional)
{
    expect("{\"jsonrpc\": \"2.0\", \"method\": \"subtract\", "
           "\"params\": [42, 23], \"id\": 1}",
           "{\"jsonrpc\": \"2.0\", \"result\": 19, \"id\": 1}");
    expect("{\"jsonrpc\": \"2.0\", \"method\": \"subtract\", "
           "\"params\": [23, 42], \"id\": 2}",
           "{\"jsonrpc\": \"2.0\", \"result\": -19, \"id\": 2}");
}

Test(rpc_dispatch, spec_named)
{
    expect("{\"jsonrpc\": \"2.0\", \"method\": \"subtract\", \"params\": "
           "{\"subtrahend\": 23, \"minuend\": 42}, \"id\": 3}",
           "{\"jsonrpc\": \"2.0\", \"result\": 19, \"id\": 3}");
    expect("{\"jsonrpc\": \"2.0\", \"method\": \"subtract\", \"params\": "
           "{\"minuend\": 42, \"subtrahend\": 23}, \"id\": 4}",
           "{\"jsonrpc\": \"2.0\", \"result\": 19, \"id\": 4}");
}

Test(rpc_dispatch, spec_notification)
{
    expect("{\"jsonrpc\": \"2.0\", \"method\": \"update\", "
           "\"params\": [1,2,3,4,5]}",
           "");
    cr_assert_eq(n_updates, 1);
    expect("{\"jsonrpc\": \"2.0\", \"method\": \"foobar\"}", "");
}

Test(rpc_dispatch, spec_no_such_method)
{
    json_object_put(refused("{\"jsonrpc\": \"2.0\", \"method\": \"foobar\", "
                            "\"id\": \"1\"}",
                            -32601, "\"1\""));
}

Test(rpc_dispatch, spec_invalid_json)
{
    json_object_put(refused("{\"jsonrpc\": \"2.0\", \"method\": \"foobar, "
                            "\"params\": \"bar\", \"baz]",
                            -32700, "null"));
}

Test(rpc_dispatch, spec_invalid_request)
{
    json_object_put(refused("{\"jsonrpc\": \"2.0\", \"method\": 1, "
                            "\"params\": \"bar\"}",
                            -32600, "null"));
}

Test(rpc_dispatch, spec_batch_invalid_json)
{
    json_object_put(refused("[ {\"jsonrpc\": \"2.0\", \"method\": \"sum\", "
                            "\"params\": [1,2,4], \"id\": \"1\"}, "
                            "{\"jsonrpc\": \"2.0\", \"method\" ]",
                            -32700, "null"));
}

Test(rpc_dispatch, spec_empty_batch)
{
    json_object_put(refused("[]", -32600, "null"));
}

/* Answers of a batch: the codes (0: a result) in their order. */
static void
batch_codes(const char *text, const int *codes, size_t n)
{
    char *got = talk(text);
    struct json_object *a = json_tokener_parse(got);

    cr_assert(json_object_is_type(a, json_type_array), "%s", got);
    cr_assert_eq(json_object_array_length(a), n, "%s", got);
    for (size_t i = 0; i < n; i++) {
        struct json_object *o = json_object_array_get_idx(a, i), *e;
        int code = 0;

        if (json_object_object_get_ex(o, "error", &e))
            code = json_object_get_int(json_object_object_get(e, "code"));
        else
            cr_assert(json_object_object_get_ex(o, "result", NULL));
        cr_assert_eq(code, codes[i], "%zu: %s", i, got);
    }
    json_object_put(a);
    free(got);
}

Test(rpc_dispatch, spec_invalid_batches)
{
    int one[] = {-32600}, three[] = {-32600, -32600, -32600};

    batch_codes("[1]", one, 1);
    batch_codes("[1,2,3]", three, 3);
}

Test(rpc_dispatch, spec_batch)
{
    int codes[] = {0, 0, -32600, -32601, 0};

    batch_codes("[{\"jsonrpc\": \"2.0\", \"method\": \"sum\", "
                "\"params\": [1,2,4], \"id\": \"1\"},"
                "{\"jsonrpc\": \"2.0\", \"method\": \"notify_hello\", "
                "\"params\": [7]},"
                "{\"jsonrpc\": \"2.0\", \"method\": \"subtract\", "
                "\"params\": [42,23], \"id\": \"2\"},"
                "{\"foo\": \"boo\"},"
                "{\"jsonrpc\": \"2.0\", \"method\": \"foo.get\", "
                "\"params\": {\"name\": \"myself\"}, \"id\": \"5\"},"
                "{\"jsonrpc\": \"2.0\", \"method\": \"get_data\", "
                "\"id\": \"9\"}]",
                codes, 5);
    cr_assert_eq(n_updates, 1);
}

Test(rpc_dispatch, spec_batch_of_notifications)
{
    expect("[{\"jsonrpc\": \"2.0\", \"method\": \"notify_hello\", "
           "\"params\": [7]},"
           "{\"jsonrpc\": \"2.0\", \"method\": \"update\", "
           "\"params\": [1,2,4]}]",
           "");
    cr_assert_eq(n_updates, 2);
}

/* --- requests beyond the examples ---------------------------------------- */

Test(rpc_dispatch, ids)
{
    expect("{\"jsonrpc\":\"2.0\",\"method\":\"update\",\"id\":null}",
           "{\"jsonrpc\":\"2.0\",\"result\":null,\"id\":null}");
    expect("{\"jsonrpc\":\"2.0\",\"method\":\"update\",\"id\":1.5}",
           "{\"jsonrpc\":\"2.0\",\"result\":null,\"id\":1.5}");
    expect("{\"jsonrpc\":\"2.0\",\"method\":\"update\",\"id\":\"\"}",
           "{\"jsonrpc\":\"2.0\",\"result\":null,\"id\":\"\"}");
    json_object_put(
        refused("{\"jsonrpc\":\"2.0\",\"method\":\"update\",\"id\":[1]}",
                RPC_INVALID_REQUEST, "null"));
    json_object_put(
        refused("{\"jsonrpc\":\"2.0\",\"method\":\"update\",\"id\":true}",
                RPC_INVALID_REQUEST, "null"));
    cr_assert_eq(n_updates, 3);
}

Test(rpc_dispatch, invalid_requests)
{
    static const char *const texts[] = {
        "{\"method\":\"update\",\"id\":7}",
        "{\"jsonrpc\":\"1.0\",\"method\":\"update\",\"id\":7}",
        "{\"jsonrpc\":2.0,\"method\":\"update\",\"id\":7}",
        "{\"jsonrpc\":\"2.0\",\"id\":7}",
        "{\"jsonrpc\":\"2.0\",\"method\":null,\"id\":7}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"update\",\"params\":1,\"id\":7}",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        json_object_put(refused(texts[i], RPC_INVALID_REQUEST, "7"));
    }
    json_object_put(refused("1 ", RPC_INVALID_REQUEST, "null"));
    json_object_put(refused("null ", RPC_INVALID_REQUEST, "null"));
    json_object_put(refused("\"x\"", RPC_INVALID_REQUEST, "null"));
    cr_assert_eq(n_updates, 0);
}

Test(rpc_dispatch, texts_one_after_another)
{
    char *got = talk("{\"jsonrpc\":\"2.0\",\"method\":\"sum\",\"id\":1}"
                     "{\"jsonrpc\":\"2.0\",\"method\":\"sum\",\"id\":2}\n\n"
                     " [{\"jsonrpc\":\"2.0\",\"method\":\"sum\",\"id\":3}]");

    cr_assert_str_eq(got, "{\"jsonrpc\":\"2.0\",\"result\":0,\"id\":1}\n"
                          "{\"jsonrpc\":\"2.0\",\"result\":0,\"id\":2}\n"
                          "[{\"jsonrpc\":\"2.0\",\"result\":0,\"id\":3}]\n");
    free(got);
}

Test(rpc_dispatch, unknown_method_suggests)
{
    struct json_object *e =
        refused("{\"jsonrpc\":\"2.0\",\"method\":\"substract\",\"id\":1}",
                RPC_METHOD_NOT_FOUND, "1");
    const char *s =
        json_object_get_string(json_object_object_get(e, "message"));

    cr_assert(strstr(s, "'substract'") && strstr(s, "'subtract'"), "%s", s);
    json_object_put(e);
}

Test(rpc_dispatch, batch_too_large)
{
    size_t n = RPC_MAX_BATCH + 1;
    char *text = malloc(2 * n + 2), *p = text;

    *p++ = '[';
    for (size_t i = 0; i < n; i++) {
        *p++ = '1';
        *p++ = i + 1 < n ? ',' : ']';
    }
    *p = '\0';
    json_object_put(refused(text, RPC_INVALID_REQUEST, "null"));
    free(text);
}

/* A hundred answers of a megabyte each: they come one by one, and nobody has
 * to have room for all. */
Test(rpc_dispatch, batch_goes_in_steps)
{
    static const char one[] =
        "{\"jsonrpc\":\"2.0\",\"method\":\"large\",\"id\":1},";
    size_t n = 100;
    char *text = malloc(n * sizeof(one) + 3), *part;
    struct rpc_run *run;
    bool goes_on = true;

    strcpy(text, "[");
    for (size_t i = 0; i < n; i++)
        strcat(text, one);
    text[strlen(text) - 1] = ']';
    run = rpc_run_begin(registry, json_tokener_parse(text));
    for (size_t i = 0; i < n; i++) {
        cr_assert(goes_on);
        cr_assert_eq(n_updates, (int) i);
        goes_on = rpc_run_step(run, NULL, &part);
        cr_assert_eq(part[0], i ? ',' : '[');
        cr_assert_lt(strlen(part), 2 * 1024 * 1024);
        cr_assert_eq(!goes_on, !strcmp(part + strlen(part) - 2, "]\n"));
        free(part);
    }
    cr_assert_not(goes_on);
    rpc_run_end(run);
    /* One that is not executed to its end. */
    run = rpc_run_begin(registry, json_tokener_parse(text));
    rpc_run_step(run, NULL, &part);
    free(part);
    rpc_run_end(run);
    free(text);
}

Test(rpc_dispatch, an_answer_is_bounded)
{
    struct json_object *e =
        refused("{\"jsonrpc\":\"2.0\",\"method\":\"huge\",\"id\":\"x\"}",
                RPC_NO_ROOM, "\"x\"");

    cr_assert(strstr(json_object_to_json_string(e), "at most 3145728"));
    json_object_put(e);
}

/* --- errors of handlers ---------------------------------------------------
 */

Test(rpc_dispatch, error_codes)
{
    static const int codes[][2] = {
        {EINVAL, RPC_REFUSED}, {ERANGE, RPC_REFUSED}, {ENOENT, RPC_NOT_FOUND},
        {EEXIST, RPC_EXISTS},  {EBUSY, RPC_BUSY},     {EAGAIN, RPC_BUSY},
        {ENOSPC, RPC_NO_ROOM}, {ENOMEM, RPC_NO_ROOM}, {EIO, RPC_SYSTEM},
        {EPERM, RPC_SYSTEM},
    };

    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        char text[128];
        struct json_object *e, *d;

        snprintf(text, sizeof(text),
                 "{\"jsonrpc\":\"2.0\",\"method\":\"fail\","
                 "\"params\":[%d],\"id\":1}",
                 codes[i][0]);
        e = refused(text, codes[i][1], "1");
        d = json_object_object_get(e, "data");
        cr_assert_str_eq(json_object_to_json_string_ext(
                             d, JSON_C_TO_STRING_PLAIN |
                                    JSON_C_TO_STRING_NOSLASHESCAPE),
                         "{\"path\":\"/bridges/br0\",\"value\":\"value\","
                         "\"allowed\":\"allowed\"}");
        json_object_put(e);
    }
    json_object_put(refused("{\"jsonrpc\":\"2.0\",\"method\":\"fail\","
                            "\"params\":[0],\"id\":1}",
                            RPC_INTERNAL_ERROR, "1"));
}

/* What was cut to fit stays UTF-8: another stream takes it. */
Test(rpc_dispatch, cut_texts_stay_utf8)
{
    char *got = talk("{\"jsonrpc\":\"2.0\",\"method\":\"fail_cut\","
                     "\"id\":1}");
    struct rpc_stream *s = rpc_stream_create();
    struct json_object *o;
    enum rpc_code code;
    size_t used;

    cr_assert_gt(strlen(got), 700);
    cr_assert_eq(rpc_stream_feed(s, got, strlen(got), &used, &o, &code),
                 RPC_FEED_TEXT, "%s: %s", rpc_stream_reason(s), got);
    json_object_put(o);
    rpc_stream_destroy(s);
    free(got);
}

/* --- discovery ------------------------------------------------------------
 */

static struct json_object *
find_method(struct json_object *doc, const char *name)
{
    struct json_object *all = json_object_object_get(doc, "methods");

    for (size_t i = 0; i < json_object_array_length(all); i++) {
        struct json_object *m = json_object_array_get_idx(all, i);

        if (!strcmp(json_object_get_string(json_object_object_get(m, "name")),
                    name))
            return m;
    }
    return NULL;
}

Test(rpc_dispatch, discover)
{
    char *got = talk("{\"jsonrpc\":\"2.0\",\"method\":\"rpc.discover\","
                     "\"id\":1}");
    struct json_object *o = json_tokener_parse(got), *doc, *m, *p;

    doc = json_object_object_get(o, "result");
    cr_assert_str_eq(json_object_get_string(
                         json_object_object_get(doc, "openrpc")),
                     "1.2.6");
    cr_assert_eq(json_object_array_length(
                     json_object_object_get(doc, "methods")),
                 10);
    cr_assert(find_method(doc, "rpc.discover"));
    m = find_method(doc, "subtract");
    cr_assert(m);
    p = json_object_array_get_idx(json_object_object_get(m, "params"), 0);
    cr_assert_str_eq(
        json_object_to_json_string_ext(p, JSON_C_TO_STRING_PLAIN),
        "{\"name\":\"minuend\",\"description\":\"What is subtracted from.\","
        "\"required\":true,\"schema\":{\"type\":\"integer\",\"minimum\":0,"
        "\"maximum\":1000}}");
    p = json_object_object_get(m, "examples");
    cr_assert_str_eq(
        json_object_to_json_string_ext(p, JSON_C_TO_STRING_PLAIN),
        "[{\"name\":\"example\",\"params\":[{\"name\":\"minuend\","
        "\"value\":42},{\"name\":\"subtrahend\",\"value\":23}]}]");
    json_object_put(o);
    free(got);
}

Test(rpc_dispatch, registry_lists_in_order)
{
    const struct rpc_method *m[4];

    cr_assert_eq(rpc_registry_list(registry, m, 4), 10);
    cr_assert_str_eq(m[0]->name, "fail");
    cr_assert_str_eq(m[1]->name, "fail_cut");
    cr_assert_str_eq(m[2]->name, "get_data");
    cr_assert_eq(rpc_registry_find(registry, "fail"), m[0]);
    cr_assert_null(rpc_registry_find(registry, "none"));
}

Test(rpc_dispatch, notification)
{
    struct json_object *params = json_tokener_parse("{\"type\":\"xoff\"}");
    char *text = rpc_notification("event", params);

    cr_assert_str_eq(text, "{\"jsonrpc\":\"2.0\",\"method\":\"event\","
                           "\"params\":{\"type\":\"xoff\"}}\n");
    free(text);
    json_object_put(params);
}
