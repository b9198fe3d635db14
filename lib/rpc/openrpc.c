/* SPDX-License-Identifier: Apache-2.0
 *
 * The OpenRPC 1.2.6 document, from the same tables that validate parameters:
 * what is not in the document is not accepted, and the other way round.  Used
 * by rpc.discover, `sluiced --dump-openrpc` and through it by
 * docs/gen-rpc-docs.py; control thread.
 */
#include "rpc/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const unit_names[] = {
    [RPC_U_NONE] = NULL, [RPC_U_BYTES] = "bytes", [RPC_U_BPS] = "bit/s",
    [RPC_U_NS] = "ns",   [RPC_U_S] = "s",         [RPC_U_MS] = "ms",
};

static void
add_text(struct json_object *o, const char *name, const char *text)
{
    json_object_object_add(o, name, json_object_new_string(text));
}

static void
add_int(struct json_object *o, const char *name, int64_t n)
{
    json_object_object_add(o, name, json_object_new_int64(n));
}

static struct json_object *
typed(const char *type)
{
    struct json_object *o = json_object_new_object();

    add_text(o, "type", type);
    return o;
}

static struct json_object *
words(const char *const *w)
{
    struct json_object *a = json_object_new_array();

    for (; *w; w++)
        json_object_array_add(a, json_object_new_string(*w));
    return a;
}

/* A number; as text too where it has a unit, or words that stand for one. */
static struct json_object *
int_schema(const struct rpc_param *p)
{
    struct json_object *number = typed("integer"), *one_of, *o, *text;

    add_int(number, "minimum", p->min);
    add_int(number, "maximum", p->max);
    if (p->unit == RPC_U_NONE && !p->choices)
        return number;
    one_of = json_object_new_array();
    json_object_array_add(one_of, number);
    if (p->unit != RPC_U_NONE) {
        text = typed("string");
        add_text(text, "pattern", "^-?[0-9]+(\\.[0-9]+)?[A-Za-z]*$");
        json_object_array_add(one_of, text);
    }
    if (p->choices) {
        text = json_object_new_object();
        json_object_object_add(text, "enum", words(p->choices));
        json_object_array_add(one_of, text);
    }
    o = json_object_new_object();
    json_object_object_add(o, p->choices ? "anyOf" : "oneOf", one_of);
    if (p->unit != RPC_U_NONE)
        add_text(o, "x-unit", unit_names[p->unit]);
    return o;
}

static struct json_object *
schema(const struct rpc_param *p)
{
    struct json_object *o;

    switch (p->type) {
    case RPC_T_BOOL:
        return typed("boolean");
    case RPC_T_INT:
        return int_schema(p);
    case RPC_T_STRING:
        o = typed("string");
        if (p->choices) {
            json_object_object_add(o, "enum", words(p->choices));
        } else if (p->max) {
            add_int(o, "minLength", p->min);
            add_int(o, "maxLength", p->max);
        }
        return o;
    case RPC_T_ARRAY:
        o = typed("array");
        add_int(o, "minItems", p->min);
        add_int(o, "maxItems", p->max);
        if (p->items)
            json_object_object_add(o, "items", schema(p->items));
        return o;
    case RPC_T_OBJECT:
        return typed("object");
    case RPC_T_ANY:
    default:
        return json_object_new_object();
    }
}

/* Those that are required, or those that are not: OpenRPC wants the former
 * first. */
static void
add_params(struct json_object *to, const struct rpc_param *p, bool required)
{
    for (; p && p->name; p++) {
        struct json_object *o;

        if (p->required != required)
            continue;
        o = json_object_new_object();
        add_text(o, "name", p->name);
        if (p->doc)
            add_text(o, "description", p->doc);
        json_object_object_add(o, "required",
                               json_object_new_boolean(required));
        json_object_object_add(o, "schema", schema(p));
        json_object_array_add(to, o);
    }
}

/* An example pairing: the parameters of the example, by name. */
static struct json_object *
examples(const struct rpc_method *m)
{
    struct json_object *all = json_object_new_array(), *params, *pair, *list;

    params = m->example ? json_tokener_parse(m->example) : NULL;
    if (!json_object_is_type(params, json_type_object)) {
        json_object_put(params);
        return all;
    }
    pair = json_object_new_object();
    list = json_object_new_array();
    json_object_object_foreach (params, name, v) {
        struct json_object *o = json_object_new_object();

        add_text(o, "name", name);
        json_object_object_add(o, "value", json_object_get(v));
        json_object_array_add(list, o);
    }
    add_text(pair, "name", "example");
    json_object_object_add(pair, "params", list);
    json_object_array_add(all, pair);
    json_object_put(params);
    return all;
}

/* References to the errors that any method may give; those that only
 * changes meet are left out where nothing is changed. */
static struct json_object *
errors(const struct rpc_method *m)
{
    struct json_object *all = json_object_new_array();
    char ref[64];

    for (const struct rpc_code_name *c = rpc_code_names; c->code; c++) {
        struct json_object *o;

        if (c->code == RPC_PARSE_ERROR || c->code == RPC_INVALID_REQUEST ||
            c->code == RPC_METHOD_NOT_FOUND)
            continue;
        if (!m->changes && (c->code == RPC_EXISTS || c->code == RPC_NO_ROOM))
            continue;
        o = json_object_new_object();
        snprintf(ref, sizeof(ref), "#/components/errors/%s", c->name);
        add_text(o, "$ref", ref);
        json_object_array_add(all, o);
    }
    return all;
}

static struct json_object *
method(const struct rpc_method *m)
{
    struct json_object *o = json_object_new_object();
    struct json_object *params = json_object_new_array();
    struct json_object *result = json_object_new_object();

    add_text(o, "name", m->name);
    add_text(o, "description", m->doc ? m->doc : "");
    add_text(o, "paramStructure", "either");
    add_params(params, m->params, true);
    add_params(params, m->params, false);
    json_object_object_add(o, "params", params);
    add_text(result, "name", "result");
    add_text(result, "description", m->result ? m->result : "");
    json_object_object_add(result, "schema", json_object_new_object());
    json_object_object_add(o, "result", result);
    json_object_object_add(o, "errors", errors(m));
    json_object_object_add(o, "examples", examples(m));
    json_object_object_add(o, "x-changes-configuration",
                           json_object_new_boolean(m->changes));
    return o;
}

/* The errors, for references, and their data. */
static struct json_object *
components(void)
{
    static const char *const members[] = {"path", "value", "allowed"};
    struct json_object *c = json_object_new_object();
    struct json_object *all = json_object_new_object();
    struct json_object *data = typed("object"), *schemas, *props;

    for (const struct rpc_code_name *n = rpc_code_names; n->code; n++) {
        struct json_object *o = json_object_new_object();

        json_object_object_add(o, "code", json_object_new_int(n->code));
        add_text(o, "message", n->message);
        json_object_object_add(all, n->name, o);
    }
    json_object_object_add(c, "errors", all);
    props = json_object_new_object();
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        json_object_object_add(props, members[i], typed("string"));
    json_object_object_add(data, "properties", props);
    schemas = json_object_new_object();
    json_object_object_add(schemas, "ErrorData", data);
    json_object_object_add(c, "schemas", schemas);
    return c;
}

static struct json_object *
limits(void)
{
    struct json_object *o = json_object_new_object();

    add_int(o, "request_octets", RPC_MAX_REQUEST);
    add_int(o, "nesting_depth", RPC_MAX_DEPTH);
    add_int(o, "containers", RPC_MAX_CONTAINERS);
    add_int(o, "values", RPC_MAX_VALUES);
    add_int(o, "long_request_octets", RPC_LONG_REQUEST);
    add_int(o, "long_containers", RPC_LONG_CONTAINERS);
    add_int(o, "long_values", RPC_LONG_VALUES);
    add_int(o, "batch_requests", RPC_MAX_BATCH);
    add_int(o, "answer_octets", RPC_MAX_ANSWER);
    add_int(o, "waiting_octets", RPC_MAX_WAITING);
    return o;
}

struct json_object *
rpc_registry_openrpc(const struct rpc_registry *r, const char *title,
                     const char *version)
{
    struct json_object *o = json_object_new_object();
    struct json_object *info = json_object_new_object();
    struct json_object *methods = json_object_new_array();
    size_t n = rpc_registry_list(r, NULL, 0);
    const struct rpc_method **all = calloc(n, sizeof(*all));

    if (!all)
        abort();
    rpc_registry_list(r, all, n);
    for (size_t i = 0; i < n; i++)
        json_object_array_add(methods, method(all[i]));
    free(all);
    add_text(o, "openrpc", "1.2.6");
    add_text(info, "title", title);
    add_text(info, "version", version);
    json_object_object_add(o, "info", info);
    json_object_object_add(o, "methods", methods);
    json_object_object_add(o, "components", components());
    json_object_object_add(o, "x-limits", limits());
    return o;
}
