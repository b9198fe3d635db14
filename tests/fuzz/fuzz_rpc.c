/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: octets of a stranger through the JSON-RPC framing and
 * dispatch.  Where reads cut the stream changes nothing; every answer is JSON
 * that our own framing takes, and says 2.0; what was parsed is written and
 * parsed back the same; quantities survive the way to text and back.
 */
#include "rpc/rpc.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define MAX_INPUT 65536

static void
require(bool holds)
{
    if (!holds)
        abort();
}

static int
echo(void *ctx, struct rpc_client *client, struct json_object *params,
     struct json_object **result, struct err *err)
{
    (void) ctx;
    (void) client;
    (void) err;
    *result = json_object_get(params);
    return 0;
}

static const char *const words[] = {"access", "trunk", NULL};
static const char *const automatic[] = {"auto", NULL};
static const struct rpc_param prio = {.type = RPC_T_INT, .max = 7};
static const struct rpc_param params[] = {
    {.name = "port",
     .type = RPC_T_STRING,
     .required = true,
     .min = 1,
     .max = 15},
    {.name = "enable", .type = RPC_T_ARRAY, .max = 8, .items = &prio},
    {.name = "rate", .type = RPC_T_INT, .max = 1000000000, .unit = RPC_U_BPS},
    {.name = "headroom",
     .type = RPC_T_INT,
     .min = -5,
     .max = 1 << 20,
     .unit = RPC_U_BYTES,
     .choices = automatic},
    {.name = "mode", .type = RPC_T_STRING, .choices = words},
    {.name = "on", .type = RPC_T_BOOL},
    {.name = "map", .type = RPC_T_OBJECT},
    {.name = "any", .type = RPC_T_ANY},
    {.name = NULL}};
static const struct rpc_method methods[] = {{.name = "pfc.set",
                                             .params = params,
                                             .handler = echo},
                                            {.name = "echo", .handler = echo},
                                            {.name = NULL}};

/* What became of a stream, as text. */
struct log {
    char *text; /* "{...}\n[...]\n-32700" */
    size_t n;   /* octets in it */
};

static void
log_add(struct log *l, const char *s)
{
    size_t m = strlen(s);

    l->text = realloc(l->text, l->n + m + 2);
    require(l->text);
    memcpy(l->text + l->n, s, m);
    l->n += m;
    l->text[l->n++] = '\n';
    l->text[l->n] = '\0';
}

/* Parses text that we wrote: one JSON text and nothing else. */
static struct json_object *
parse_own(const char *text)
{
    static const struct rpc_limits limits = {.octets = 1 << 26, .depth = 64};
    struct rpc_stream *s = rpc_stream_create_limited(&limits);
    struct json_object *o = NULL;
    enum rpc_code code;
    size_t used, n = strlen(text);

    require(rpc_stream_feed(s, text, n, &used, &o, &code) == RPC_FEED_TEXT);
    require(used == n || (used + 1 == n && text[used] == '\n'));
    rpc_stream_destroy(s);
    return o;
}

static const char *
write_text(struct json_object *o)
{
    return json_object_to_json_string_ext(o,
                                          JSON_C_TO_STRING_PLAIN |
                                              JSON_C_TO_STRING_NOSLASHESCAPE);
}

static void
check_round_trip(struct json_object *o)
{
    struct json_object *back;
    char *text;

    if (!json_object_is_type(o, json_type_object) &&
        !json_object_is_type(o, json_type_array))
        return;
    text = strdup(write_text(o));
    require(text);
    back = parse_own(text);
    require(!strcmp(write_text(back), text));
    json_object_put(back);
    free(text);
}

static void
check_answer(const char *text)
{
    struct json_object *o = parse_own(text), *one = o, *version;

    if (json_object_is_type(o, json_type_array)) {
        require(json_object_array_length(o) > 0);
        one = json_object_array_get_idx(o, 0);
    }
    require(json_object_object_get_ex(one, "jsonrpc", &version));
    require(!strcmp(json_object_get_string(version), "2.0"));
    require(json_object_object_get_ex(one, "id", NULL));
    require(json_object_object_get_ex(one, "result", NULL) !=
            json_object_object_get_ex(one, "error", NULL));
    json_object_put(o);
}

/* Feeds the octets in pieces of at most `piece`. */
static void
run(const char *data, size_t n, size_t piece, struct rpc_registry *r,
    struct log *l)
{
    struct rpc_stream *s = rpc_stream_create();
    size_t at = 0, stuck = 0;

    while (at < n) {
        size_t m = n - at < piece ? n - at : piece, used;
        struct json_object *o = NULL;
        enum rpc_code code;
        enum rpc_feed fed = rpc_stream_feed(s, data + at, m, &used, &o, &code);

        require(used <= m);
        stuck = used ? 0 : stuck + 1;
        require(stuck < 2);
        at += used;
        if (fed == RPC_FEED_ERROR) {
            log_add(l, code == RPC_PARSE_ERROR ? "parse" : "invalid");
            break;
        }
        if (fed == RPC_FEED_REFUSED) {
            require(code == RPC_INVALID_REQUEST);
            log_add(l, "refused");
            continue;
        }
        if (fed == RPC_FEED_MORE) {
            require(used == m);
            continue;
        }
        log_add(l, write_text(o));
        check_round_trip(o);
        if (r) {
            char *answer = rpc_execute(r, NULL, o);

            if (answer)
                check_answer(answer);
            free(answer);
        }
        json_object_put(o);
    }
    rpc_stream_destroy(s);
}

static void
check_quantity(const char *data, size_t n)
{
    char text[32], back[32];
    int64_t v, w;

    if (n >= sizeof(text))
        return;
    memcpy(text, data, n);
    text[n] = '\0';
    for (int unit = RPC_U_NONE; unit <= RPC_U_S; unit++) {
        struct err err;

        if (rpc_parse_quantity(text, (enum rpc_unit) unit, &v, &err))
            continue;
        rpc_format_quantity(v, (enum rpc_unit) unit, back, sizeof(back));
        require(!rpc_parse_quantity(back, (enum rpc_unit) unit, &w, NULL));
        require(v == w);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const size_t pieces[] = {1, 3, 64};
    struct log whole = {.text = NULL};
    struct rpc_registry *r;

    if (n > MAX_INPUT)
        return 0;
    r = rpc_registry_create();
    rpc_registry_add(r, methods, NULL);
    run((const char *) data, n, n ? n : 1, r, &whole);
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        struct log cut = {.text = NULL};

        run((const char *) data, n, pieces[i], NULL, &cut);
        require(cut.n == whole.n);
        require(!cut.n || !memcmp(cut.text, whole.text, cut.n));
        free(cut.text);
    }
    check_quantity((const char *) data, n);
    free(whole.text);
    rpc_registry_destroy(r);
    return 0;
}
