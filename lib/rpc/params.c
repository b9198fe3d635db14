/* SPDX-License-Identifier: Apache-2.0
 *
 * Parameters of a call against the table of its method: names, types, ranges,
 * words, units.  What a handler sees has passed here.  Called by the
 * dispatcher; control thread.
 */
#include "rpc/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Where we are in the parameters. */
struct place {
    const char *method; /* for messages */
    char path[128];     /* JSON pointer: "/params/enable/0" */
};

static const char *
value_text(struct json_object *v)
{
    return json_object_to_json_string_ext(v, RPC_TEXT_FLAGS);
}

/* As people write it, for `value`: a string without quotes. */
static const char *
plain_text(struct json_object *v)
{
    const char *s = json_object_get_string(v);

    if (!json_object_is_type(v, json_type_string) ||
        strlen(s) != (size_t) json_object_get_string_len(v))
        return value_text(v);
    return s;
}

/* Appends to a buffer as far as there is room. */
static void __attribute__((format(printf, 3, 4)))
append(char *buf, size_t size, const char *fmt, ...)
{
    size_t n = strlen(buf);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(buf + n, size - n, fmt, ap);
    va_end(ap);
}

static void
list_words(const char *const *words, char *buf, size_t size)
{
    for (bool first = true; *words; words++, first = false)
        append(buf, size, "%s%s", first ? "" : ", ", *words);
}

/* What the parameter would have accepted. */
static void
describe(const struct rpc_param *p, char *buf, size_t size)
{
    static const char *const suffixes[] = {
        [RPC_U_NONE] = "",
        [RPC_U_BYTES] = " bytes, or text with K, M or G",
        [RPC_U_BPS] = " bit/s, or text with K, M, G or T",
        [RPC_U_NS] = " ns, or text with us, ms or s",
        [RPC_U_S] = " s, or text with min, h or d",
        [RPC_U_MS] = " ms, or text with s or min",
    };

    buf[0] = '\0';
    switch (p->type) {
    case RPC_T_BOOL:
        append(buf, size, "true or false");
        break;
    case RPC_T_INT:
        append(buf, size, "%" PRId64 " to %" PRId64 "%s", p->min, p->max,
               suffixes[p->unit]);
        if (p->choices) {
            append(buf, size, ", or ");
            list_words(p->choices, buf, size);
        }
        break;
    case RPC_T_STRING:
        if (p->choices)
            list_words(p->choices, buf, size);
        else if (p->max)
            append(buf, size, "text of %" PRId64 " to %" PRId64 " octets",
                   p->min, p->max);
        else
            append(buf, size, "text");
        break;
    case RPC_T_ARRAY:
        append(buf, size, "an array of %" PRId64 " to %" PRId64 " elements",
               p->min, p->max);
        break;
    case RPC_T_OBJECT:
        append(buf, size, "an object");
        break;
    case RPC_T_ANY:
    default:
        append(buf, size, "any value");
        break;
    }
}

static int
refuse(const struct place *at, const struct rpc_param *p,
       struct json_object *v, struct err *err)
{
    const char *name = at->path + strlen("/params/");
    char allowed[sizeof(err->allowed)];

    describe(p, allowed, sizeof(allowed));
    return err_set(err, EINVAL, at->path, plain_text(v), allowed,
                   "%s: parameter %s is %.80s; allowed: %s", at->method, name,
                   value_text(v), allowed);
}

static bool
is_word(const char *const *words, const char *text)
{
    for (; *words; words++)
        if (!strcmp(*words, text))
            return true;
    return false;
}

/* A number given as 3, 3.0, "64K", or a word that stands for one.  *out is
 * the value for the handler, newly made. */
static int
check_int(const struct place *at, const struct rpc_param *p,
          struct json_object *v, struct json_object **out, struct err *err)
{
    int64_t n = 0;

    if (json_object_is_type(v, json_type_string)) {
        const char *text = json_object_get_string(v);

        if (p->choices && is_word(p->choices, text)) {
            *out = json_object_get(v);
            return 0;
        }
        if (p->unit == RPC_U_NONE ||
            strlen(text) != (size_t) json_object_get_string_len(v) ||
            rpc_parse_quantity(text, p->unit, &n, NULL))
            return refuse(at, p, v, err);
    } else if (json_object_is_type(v, json_type_double)) {
        double d = json_object_get_double(v);

        /* Beyond 2^53 a double no longer says which integer it means. */
        if (!(d >= -9007199254740992.0 && d <= 9007199254740992.0) ||
            (double) (int64_t) d != d)
            return refuse(at, p, v, err);
        n = (int64_t) d;
    } else if (json_object_is_type(v, json_type_int)) {
        n = json_object_get_int64(v);
        /* Above INT64_MAX json-c saturates. */
        if (n == INT64_MAX && json_object_get_uint64(v) > INT64_MAX)
            return refuse(at, p, v, err);
    } else {
        return refuse(at, p, v, err);
    }
    if (n < p->min || n > p->max)
        return refuse(at, p, v, err);
    *out = json_object_new_int64(n);
    return 0;
}

static int
check_string(const struct place *at, const struct rpc_param *p,
             struct json_object *v, struct err *err)
{
    const char *text, *guess;
    char allowed[sizeof(err->allowed)];
    int64_t n;

    if (!json_object_is_type(v, json_type_string))
        return refuse(at, p, v, err);
    text = json_object_get_string(v);
    n = json_object_get_string_len(v);
    if (strlen(text) != (size_t) n)
        return refuse(at, p, v, err);
    if (!p->choices)
        return n < p->min || (p->max && n > p->max) ? refuse(at, p, v, err)
                                                    : 0;
    if (is_word(p->choices, text))
        return 0;
    guess = rpc_suggest(text, p->choices);
    if (!guess)
        return refuse(at, p, v, err);
    describe(p, allowed, sizeof(allowed));
    return err_set(err, EINVAL, at->path, plain_text(v), allowed,
                   "%s: parameter %s is %.80s; did you mean \"%s\"? "
                   "Allowed: %s",
                   at->method, at->path + strlen("/params/"), value_text(v),
                   guess, allowed);
}

static int check_value(struct place *, const struct rpc_param *,
                       struct json_object *, struct json_object **,
                       struct err *);

static int
check_array(struct place *at, const struct rpc_param *p, struct json_object *v,
            struct err *err)
{
    size_t end = strlen(at->path), n;

    if (!json_object_is_type(v, json_type_array))
        return refuse(at, p, v, err);
    n = json_object_array_length(v);
    if ((int64_t) n < p->min || (int64_t) n > p->max)
        return refuse(at, p, v, err);
    for (size_t i = 0; p->items && i < n; i++) {
        struct json_object *item;
        int error;

        append(at->path, sizeof(at->path), "/%zu", i);
        error = check_value(at, p->items, json_object_array_get_idx(v, i),
                            &item, err);
        if (error)
            return error;
        at->path[end] = '\0';
        json_object_array_put_idx(v, i, item);
    }
    return 0;
}

static int
check_value(struct place *at, const struct rpc_param *p, struct json_object *v,
            struct json_object **out, struct err *err)
{
    int error = 0;

    switch (p->type) {
    case RPC_T_INT:
        return check_int(at, p, v, out, err);
    case RPC_T_STRING:
        error = check_string(at, p, v, err);
        break;
    case RPC_T_ARRAY:
        error = check_array(at, p, v, err);
        break;
    case RPC_T_BOOL:
        if (!json_object_is_type(v, json_type_boolean))
            error = refuse(at, p, v, err);
        break;
    case RPC_T_OBJECT:
        if (!json_object_is_type(v, json_type_object))
            error = refuse(at, p, v, err);
        break;
    case RPC_T_ANY:
    default:
        break;
    }
    if (!error)
        *out = json_object_get(v);
    return error;
}

static const struct rpc_param no_params[] = {{.name = NULL}};

static const struct rpc_param *
params_of(const struct rpc_method *m)
{
    return m->params ? m->params : no_params;
}

#define MAX_NAMES 64 /* parameters of a method that messages can list */

static int
refuse_name(const struct rpc_method *m, const char *name, struct err *err)
{
    const char *names[MAX_NAMES + 1], *guess;
    char allowed[sizeof(err->allowed)] = "", path[sizeof(err->path)];
    size_t n = 0;

    for (const struct rpc_param *p = params_of(m); p->name; p++)
        if (n < MAX_NAMES)
            names[n++] = p->name;
    names[n] = NULL;
    list_words(names, allowed, sizeof(allowed));
    snprintf(path, sizeof(path), "/params/%s", name);
    guess = rpc_suggest(name, names);
    return err_set(err, EINVAL, path, name, n ? allowed : "no parameters",
                   "%s has no parameter '%.60s'%s%s%s%s", m->name, name,
                   guess ? "; did you mean '" : "", guess ? guess : "",
                   guess ? "'? Allowed: " : "; allowed: ",
                   n ? allowed : "no parameters");
}

/* Checks one parameter and puts it into the object for the handler. */
static int
take(const struct rpc_method *m, const struct rpc_param *p,
     struct json_object *v, struct json_object *out, struct err *err)
{
    struct place at = {.method = m->name};
    struct json_object *value;
    int error;

    snprintf(at.path, sizeof(at.path), "/params/%s", p->name);
    error = check_value(&at, p, v, &value, err);
    if (!error)
        json_object_object_add(out, p->name, value);
    return error;
}

static int
take_named(const struct rpc_method *m, struct json_object *params,
           struct json_object *out, struct err *err)
{
    json_object_object_foreach (params, name, v) {
        const struct rpc_param *p = params_of(m);
        int error;

        while (p->name && strcmp(p->name, name))
            p++;
        if (!p->name)
            return refuse_name(m, name, err);
        error = take(m, p, v, out, err);
        if (error)
            return error;
    }
    return 0;
}

static int
take_positional(const struct rpc_method *m, struct json_object *params,
                struct json_object *out, struct err *err)
{
    const struct rpc_param *p = params_of(m);
    size_t n = json_object_array_length(params), known = 0;
    char path[sizeof(err->path)], allowed[48];

    while (p[known].name)
        known++;
    if (n > known) {
        snprintf(path, sizeof(path), "/params/%zu", known);
        snprintf(allowed, sizeof(allowed), "at most %zu", known);
        return err_set(err, EINVAL, path,
                       plain_text(json_object_array_get_idx(params, known)),
                       allowed, "%s takes %s parameters, not %zu", m->name,
                       allowed, n);
    }
    for (size_t i = 0; i < n; i++) {
        int error =
            take(m, &p[i], json_object_array_get_idx(params, i), out, err);

        if (error)
            return error;
    }
    return 0;
}

int
rpc_params_check(const struct rpc_method *m, struct json_object *params,
                 struct json_object **out, struct err *err)
{
    struct json_object *taken = json_object_new_object();
    char path[sizeof(err->path)], allowed[sizeof(err->allowed)];
    int error = 0;

    if (json_object_is_type(params, json_type_array))
        error = take_positional(m, params, taken, err);
    else if (params)
        error = take_named(m, params, taken, err);
    for (const struct rpc_param *p = params_of(m); !error && p->name; p++) {
        if (!p->required || json_object_object_get_ex(taken, p->name, NULL))
            continue;
        snprintf(path, sizeof(path), "/params/%s", p->name);
        describe(p, allowed, sizeof(allowed));
        error = err_set(err, EINVAL, path, NULL, allowed,
                        "%s: parameter '%s' is missing; allowed: %s", m->name,
                        p->name, allowed);
    }
    if (error)
        json_object_put(taken);
    else
        *out = taken;
    return error;
}
