/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON-RPC 2.0: from a request, notification or batch to its answer, through
 * the tables of methods.  Called by the daemon's transport with whole texts;
 * control thread.
 */
#include "config.h"
#include "base/utf8.h"
#include "rpc/internal.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table {
    const struct rpc_method *methods; /* borrowed; name null ends it */
    void *ctx;                        /* of its handlers */
};

struct rpc_registry {
    struct table *tables; /* in the order of being added */
    size_t n_tables;
    char *openrpc; /* answer of rpc.discover as text; null: not made yet */
};

const struct rpc_code_name rpc_code_names[] = {
    {RPC_PARSE_ERROR, "ParseError", "Parse error"},
    {RPC_INVALID_REQUEST, "InvalidRequest", "Invalid Request"},
    {RPC_METHOD_NOT_FOUND, "MethodNotFound", "Method not found"},
    {RPC_INVALID_PARAMS, "InvalidParams", "Invalid params"},
    {RPC_INTERNAL_ERROR, "InternalError", "Internal error"},
    {RPC_REFUSED, "Refused", "A value that cannot be"},
    {RPC_NOT_FOUND, "NotFound", "No such port, bridge or entry"},
    {RPC_EXISTS, "Exists", "It exists already"},
    {RPC_BUSY, "Busy", "Busy: try again later"},
    {RPC_NO_ROOM, "NoRoom", "No memory, buffer or disk space for it"},
    {RPC_SYSTEM, "System", "The operating system refused"},
    {0, NULL, NULL},
};

static int discover(void *ctx, struct rpc_client *, struct json_object *,
                    struct json_object **result, struct err *);

static const struct rpc_method builtin[] = {
    {.name = "rpc.discover",
     .doc = "Describes every method of this daemon as an OpenRPC document, "
            "made from the tables that validate the parameters.",
     .result = "the OpenRPC document, an object",
     .example = "{}",
     .handler = discover},
    {.name = NULL},
};

static void *
need(void *p)
{
    if (!p)
        abort();
    return p;
}

/* --- the registry ------------------------------------------------------ */

struct rpc_registry *
rpc_registry_create(void)
{
    struct rpc_registry *r = need(calloc(1, sizeof(*r)));

    rpc_registry_add(r, builtin, r);
    return r;
}

void
rpc_registry_destroy(struct rpc_registry *r)
{
    if (!r)
        return;
    free(r->tables);
    free(r->openrpc);
    free(r);
}

/* Positional parameters go by the order of the table, and OpenRPC shows the
 * required ones first: they have to be. */
static void
assert_order(const struct rpc_method *m)
{
    bool optional = false;

    for (const struct rpc_param *p = m->params; p && p->name; p++) {
        assert(!optional || !p->required);
        optional = !p->required;
    }
}

void
rpc_registry_add(struct rpc_registry *r, const struct rpc_method *methods,
                 void *ctx)
{
    for (const struct rpc_method *m = methods; m->name; m++)
        assert_order(m);
    free(r->openrpc);
    r->openrpc = NULL;
    r->tables =
        need(realloc(r->tables, (r->n_tables + 1) * sizeof(*r->tables)));
    r->tables[r->n_tables++] = (struct table){methods, ctx};
}

static const struct rpc_method *
find(const struct rpc_registry *r, const char *name, void **ctx)
{
    for (size_t i = 0; i < r->n_tables; i++)
        for (const struct rpc_method *m = r->tables[i].methods; m->name; m++)
            if (!strcmp(m->name, name)) {
                *ctx = r->tables[i].ctx;
                return m;
            }
    return NULL;
}

const struct rpc_method *
rpc_registry_find(const struct rpc_registry *r, const char *name)
{
    void *ctx;

    return find(r, name, &ctx);
}

static int
by_name(const void *a, const void *b)
{
    const struct rpc_method *const *x = a, *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

size_t
rpc_registry_list(const struct rpc_registry *r, const struct rpc_method **out,
                  size_t max)
{
    const struct rpc_method **all = NULL;
    size_t n = 0;

    for (size_t i = 0; i < r->n_tables; i++)
        for (const struct rpc_method *m = r->tables[i].methods; m->name; m++) {
            all = need(realloc(all, (n + 1) * sizeof(*all)));
            all[n++] = m;
        }
    qsort(all, n, sizeof(*all), by_name);
    for (size_t i = 0; i < n && i < max; i++)
        out[i] = all[i];
    free(all);
    return n;
}

/* Writes an object that stands for a text. */
static int
write_openrpc(struct json_object *o, struct printbuf *to, int level, int flags)
{
    const char *text = json_object_get_userdata(o);

    (void) level;
    (void) flags;
    return printbuf_memappend(to, text, (int) strlen(text));
}

/* The document takes thousands of objects to make, and does not change. */
static int
discover(void *ctx, struct rpc_client *client, struct json_object *params,
         struct json_object **result, struct err *err)
{
    struct rpc_registry *r = ctx;
    struct json_object *doc;

    (void) client;
    (void) params;
    (void) err;
    if (!r->openrpc) {
        doc = rpc_registry_openrpc(r, RPC_TITLE, PACKAGE_VERSION);
        r->openrpc = need(strdup(need(
            (void *) json_object_to_json_string_ext(doc, RPC_TEXT_FLAGS))));
        json_object_put(doc);
    }
    *result = json_object_new_object();
    json_object_set_serializer(*result, write_openrpc, r->openrpc, NULL);
    return 0;
}

/* --- answers ----------------------------------------------------------- */

enum rpc_code
rpc_code_of(const struct err *err)
{
    switch (err->code) {
    case EINVAL:
    case ERANGE:
        return RPC_REFUSED;
    case ENOENT:
        return RPC_NOT_FOUND;
    case EEXIST:
        return RPC_EXISTS;
    case EBUSY:
    case EAGAIN:
        return RPC_BUSY;
    case ENOSPC:
    case ENOMEM:
        return RPC_NO_ROOM;
    default:
        return RPC_SYSTEM;
    }
}

struct json_object *
rpc_string(const char *text)
{
    struct json_object *o;
    char *whole = need(strdup(text));
    size_t n = 0, len;

    /* Texts in struct err are cut to fit, maybe within a character. */
    for (; *text; text += len ? len : 1) {
        len = utf8_len(text);
        memcpy(whole + n, text, len);
        n += len;
    }
    o = json_object_new_string_len(whole, (int) n);
    free(whole);
    return o;
}

static struct json_object *
new_answer(void)
{
    struct json_object *o = json_object_new_object();

    json_object_object_add(o, "jsonrpc", json_object_new_string("2.0"));
    return o;
}

/* An answer with an error.  id is taken over; err may be null: no data. */
static struct json_object *
error_answer(enum rpc_code code, const char *message, const struct err *err,
             struct json_object *id)
{
    struct json_object *o = new_answer(), *e = json_object_new_object();

    json_object_object_add(e, "code", json_object_new_int(code));
    json_object_object_add(e, "message", rpc_string(message));
    if (err) {
        struct json_object *data = json_object_new_object();

        json_object_object_add(data, "path", rpc_string(err->path));
        json_object_object_add(data, "value", rpc_string(err->value));
        json_object_object_add(data, "allowed", rpc_string(err->allowed));
        json_object_object_add(e, "data", data);
    }
    json_object_object_add(o, "error", e);
    json_object_object_add(o, "id", id);
    return o;
}

/* The text of an answer, which is put. */
static char *
to_text(struct json_object *o)
{
    size_t n;
    const char *text = need(
        (void *) json_object_to_json_string_length(o, RPC_TEXT_FLAGS, &n));
    char *out = need(malloc(n + 2));

    memcpy(out, text, n);
    memcpy(out + n, "\n", 2);
    json_object_put(o);
    return out;
}

char *
rpc_error_text(enum rpc_code code, const char *message)
{
    return to_text(error_answer(code, message, NULL, NULL));
}

char *
rpc_notification(const char *method, struct json_object *params)
{
    struct json_object *o = new_answer();

    json_object_object_add(o, "method", json_object_new_string(method));
    json_object_object_add(o, "params", json_object_get(params));
    return to_text(o);
}

/* --- one request -------------------------------------------------------- */

/* A request taken apart; its values are borrowed. */
struct call {
    const char *method;         /* what is called */
    struct json_object *params; /* object, array or null */
    struct json_object *id;     /* string, number or null */
    bool wants_answer;          /* it has an id */
};

static bool
is_id(struct json_object *v)
{
    return !v || json_object_is_type(v, json_type_string) ||
           json_object_is_type(v, json_type_int) ||
           json_object_is_type(v, json_type_double);
}

/* Null when the request is one, else what is wrong with it. */
static const char *
take_apart(struct json_object *request, struct call *call)
{
    struct json_object *version, *method, *id;

    memset(call, 0, sizeof(*call));
    if (!json_object_is_type(request, json_type_object))
        return "a request is an object";
    if (json_object_object_get_ex(request, "id", &id)) {
        if (!is_id(id))
            return "id is a string, a number or null";
        call->id = id;
        call->wants_answer = true;
    }
    if (!json_object_object_get_ex(request, "jsonrpc", &version) ||
        !json_object_is_type(version, json_type_string) ||
        json_object_get_string_len(version) != 3 ||
        strcmp(json_object_get_string(version), "2.0"))
        return "jsonrpc is \"2.0\"";
    if (!json_object_object_get_ex(request, "method", &method) ||
        !json_object_is_type(method, json_type_string))
        return "method is a string";
    call->method = json_object_get_string(method);
    if (strlen(call->method) != (size_t) json_object_get_string_len(method))
        return "method is a string without \\u0000";
    if (json_object_object_get_ex(request, "params", &call->params) &&
        !json_object_is_type(call->params, json_type_object) &&
        !json_object_is_type(call->params, json_type_array))
        return "params is an object or an array";
    return NULL;
}

/* No such method: names one that was meant, and the way to all of them. */
static void
set_not_found(const struct rpc_registry *r, const char *name, struct err *err)
{
    const struct rpc_method *methods[256];
    const char *names[257], *guess;
    size_t n = rpc_registry_list(r, methods, 256), m = 0;

    for (; m < n && m < 256; m++)
        names[m] = methods[m]->name;
    names[m] = NULL;
    guess = rpc_suggest(name, names);
    err_set(err, ENOENT, "/method", name, "what rpc.discover lists",
            "Method not found: there is no method '%.80s'%s%s%s", name,
            guess ? "; did you mean '" : "", guess ? guess : "",
            guess ? "'?" : "");
}

/* A handler that refused something knows its place in the configuration, if it
 * has one; else what it refused is one of the parameters: the one that has
 * this value. */
static void
locate(struct json_object *params, struct err *err)
{
    if (err->path[0] || !err->value[0])
        return;
    json_object_object_foreach (params, name, v) {
        if (json_object_is_type(v, json_type_string) &&
            !strncmp(json_object_get_string(v), err->value,
                     sizeof(err->value) - 1)) {
            snprintf(err->path, sizeof(err->path), "/params/%s", name);
            return;
        }
    }
}

/* Calls the method.  The answer, or null for a notification. */
static struct json_object *
run(struct rpc_registry *r, struct rpc_client *client, const struct call *call)
{
    struct json_object *params, *result = NULL, *o;
    struct json_object *id = json_object_get(call->id);
    const struct rpc_method *m;
    struct err err;
    void *ctx = NULL;

    err_clear(&err);
    m = find(r, call->method, &ctx);
    if (!m || !m->handler) {
        set_not_found(r, call->method, &err);
        return error_answer(RPC_METHOD_NOT_FOUND, err.msg, &err, id);
    }
    if (rpc_params_check(m, call->params, &params, &err))
        return error_answer(RPC_INVALID_PARAMS, err.msg, &err, id);
    if (m->handler(ctx, client, params, &result, &err)) {
        locate(params, &err);
        json_object_put(params);
        json_object_put(result);
        if (!err.code)
            return error_answer(RPC_INTERNAL_ERROR, "Internal error", NULL,
                                id);
        return error_answer(rpc_code_of(&err), err.msg, &err, id);
    }
    json_object_put(params);
    o = new_answer();
    json_object_object_add(o, "result", result);
    json_object_object_add(o, "id", id);
    return o;
}

/* Executes one request.  The answer, or null when none is due. */
static struct json_object *
execute_one(struct rpc_registry *r, struct rpc_client *client,
            struct json_object *request)
{
    struct json_object *answer;
    struct call call;
    const char *wrong = take_apart(request, &call);
    char message[96];

    if (wrong) {
        snprintf(message, sizeof(message), "Invalid Request: %s", wrong);
        return error_answer(RPC_INVALID_REQUEST, message, NULL,
                            json_object_get(call.id));
    }
    answer = run(r, client, &call);
    if (call.wants_answer)
        return answer;
    json_object_put(answer);
    return NULL;
}

/* --- texts, a request at a time ------------------------------------------ */

struct rpc_run {
    struct rpc_registry *registry; /* whose methods are called */
    struct json_object *text;      /* what is executed */
    bool is_batch;                 /* it is one that can be */
    bool answered;                 /* an answer of the batch went out */
    size_t next;                   /* request to be executed next */
    size_t n;                      /* of them */
    char *wrong;                   /* the whole of it is no batch: answer */
};

static char *
bad_batch(size_t n)
{
    char message[96];

    if (!n)
        return rpc_error_text(RPC_INVALID_REQUEST,
                              "Invalid Request: the batch is empty");
    snprintf(message, sizeof(message),
             "Invalid Request: a batch of %zu; allowed: at most %d", n,
             RPC_MAX_BATCH);
    return rpc_error_text(RPC_INVALID_REQUEST, message);
}

struct rpc_run *
rpc_run_begin(struct rpc_registry *r, struct json_object *text)
{
    struct rpc_run *run = need(calloc(1, sizeof(*run)));

    run->registry = r;
    run->text = text;
    run->n = 1;
    if (json_object_is_type(text, json_type_array)) {
        run->n = json_object_array_length(text);
        run->is_batch = run->n && run->n <= RPC_MAX_BATCH;
        if (!run->is_batch)
            run->wrong = bad_batch(run->n);
    }
    return run;
}

/* In place of an answer of so many octets, which is put. */
static struct json_object *
too_long(struct json_object *answer, size_t n)
{
    struct json_object *id = json_object_object_get(answer, "id");
    struct json_object *error;
    char message[160];

    snprintf(message, sizeof(message),
             "the request was executed, but its answer takes %zu octets; "
             "allowed: at most %d: ask for one bridge or port at a time",
             n, RPC_MAX_ANSWER);
    error = error_answer(RPC_NO_ROOM, message, NULL, json_object_get(id));
    json_object_put(answer);
    return error;
}

/* An answer as text between `before` and `after`; it is put. */
static char *
piece(const char *before, struct json_object *answer, const char *after)
{
    size_t n = strlen(before), m = strlen(after), len;
    const char *text =
        json_object_to_json_string_length(answer, RPC_TEXT_FLAGS, &len);
    char *out;

    if (text && len > RPC_MAX_ANSWER) {
        answer = too_long(answer, len);
        text = json_object_to_json_string_length(answer, RPC_TEXT_FLAGS, &len);
    }
    need((void *) text);
    out = need(malloc(n + len + m + 1));
    memcpy(out, before, n);
    memcpy(out + n, text, len);
    memcpy(out + n + len, after, m + 1);
    json_object_put(answer);
    return out;
}

/* The next request of it, and its answer if one is due. */
static struct json_object *
execute_next(struct rpc_run *run, struct rpc_client *client)
{
    struct json_object *request =
        run->is_batch ? json_object_array_get_idx(run->text, run->next)
                      : run->text;
    struct json_object *answer = execute_one(run->registry, client, request);

    /* What was executed is not kept until the last of a batch is. */
    if (run->is_batch)
        json_object_array_put_idx(run->text, run->next, NULL);
    return answer;
}

bool
rpc_run_step(struct rpc_run *run, struct rpc_client *client, char **out)
{
    struct json_object *answer;
    bool last;

    *out = run->wrong;
    if (run->wrong) {
        run->wrong = NULL;
        return false;
    }
    answer = execute_next(run, client);
    last = ++run->next == run->n;
    if (!run->is_batch)
        *out = answer ? piece("", answer, "\n") : NULL;
    else if (answer)
        *out = piece(run->answered ? "," : "[", answer, last ? "]\n" : "");
    else if (last && run->answered)
        *out = need(strdup("]\n"));
    run->answered |= answer != NULL;
    return !last;
}

void
rpc_run_end(struct rpc_run *run)
{
    if (!run)
        return;
    json_object_put(run->text);
    free(run->wrong);
    free(run);
}

char *
rpc_execute(struct rpc_registry *r, struct rpc_client *client,
            struct json_object *request)
{
    struct rpc_run *run = rpc_run_begin(r, json_object_get(request));
    char *all = NULL, *part;
    size_t n = 0, m;
    bool more;

    do {
        more = rpc_run_step(run, client, &part);
        if (!part)
            continue;
        m = strlen(part);
        all = need(realloc(all, n + m + 1));
        memcpy(all + n, part, m + 1);
        n += m;
        free(part);
    } while (more);
    rpc_run_end(run);
    return all;
}
