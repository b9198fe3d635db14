/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of keys, by kind: how each is written, and what becomes of it in the
 * params of a call.  For ctl_words.c.  Whatever cannot be is refused here,
 * with the word and what is allowed.
 */
#include "ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VID   4094
#define N_QUEUES  8
#define VALUE_MAX 4096 /* octets of one value */

/* --- small values ---------------------------------------------------------
 */

static int
parse_small(const char *text, const char *what, int max, int *out,
            struct err *err)
{
    char allowed[32];
    int64_t v;

    if (!rpc_parse_quantity(text, RPC_U_NONE, &v, NULL) && v >= 0 &&
        v <= max) {
        *out = (int) v;
        return 0;
    }
    snprintf(allowed, sizeof(allowed), "0 to %d", max);
    return err_set(err, EINVAL, NULL, text, allowed,
                   "'%.60s' is no %s; allowed: %s", text, what, allowed);
}

/* The object at `path` ("vlan/tag") below o, but for its last member, which is
 * *last. */
static struct json_object *
descend(struct json_object *o, const char *path, const char **last)
{
    const char *slash;

    while ((slash = strchr(path, '/'))) {
        struct json_object *inner;
        char name[32];

        snprintf(name, sizeof(name), "%.*s", (int) (slash - path), path);
        if (!json_object_object_get_ex(o, name, &inner)) {
            inner = json_object_new_object();
            json_object_object_add(o, name, inner);
        }
        o = inner;
        path = slash + 1;
    }
    *last = path;
    return o;
}

static void
put_value(struct json_object *params, const char *path, struct json_object *v)
{
    const char *last;
    struct json_object *o = descend(params, path, &last);

    json_object_object_add(o, last, v);
}

/* The container at path, made when it is not there. */
static struct json_object *
container(struct json_object *params, const char *path, bool array)
{
    const char *last;
    struct json_object *o = descend(params, path, &last), *v;

    if (!json_object_object_get_ex(o, last, &v)) {
        v = array ? json_object_new_array() : json_object_new_object();
        json_object_object_add(o, last, v);
    }
    return v;
}

void
ctl_join_words(const char *const *words, char *out, size_t size)
{
    size_t n = 0;

    out[0] = '\0';
    for (size_t i = 0; words[i] && n < size; i++)
        n += (size_t) snprintf(out + n, size - n, "%s%s", i ? ", " : "",
                               words[i]);
}

/* text is none of words. */
static int
refuse_word(const char *key, const char *text, const char *const *words,
            struct err *err)
{
    const char *guess = rpc_suggest(text, words);
    char allowed[sizeof(err->allowed)];

    ctl_join_words(words, allowed, sizeof(allowed));
    return err_set(err, EINVAL, NULL, text, allowed,
                   "'%.60s' is no %s%s%s%s%s", text, key,
                   guess ? "; did you mean '" : "", guess ? guess : "",
                   guess ? "'? Allowed: " : "; allowed: ", allowed);
}

static bool
is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (!strcmp(text, *words))
            return true;
    return false;
}

/* --- values by kind -------------------------------------------------------
 */

static int
read_qty(const struct ctl_key *key, const char *text, int64_t *out,
         struct err *err)
{
    char low[32], high[32], allowed[80];
    struct err why;

    err_clear(&why);
    if (rpc_parse_quantity(text, key->unit, out, &why))
        return err_set(err, EINVAL, NULL, text, why.allowed, "%s: %s",
                       key->name, why.msg);
    if (*out >= key->min && *out <= key->max)
        return 0;
    snprintf(allowed, sizeof(allowed), "%s to %s",
             rpc_format_quantity(key->min, key->unit, low, sizeof(low)),
             rpc_format_quantity(key->max, key->unit, high, sizeof(high)));
    return err_set(err, EINVAL, NULL, text, allowed,
                   "%s: %s is out of range; allowed: %s", key->name, text,
                   allowed);
}

static int
take_qty(const struct ctl_key *key, const char *text,
         struct json_object *params, struct err *err)
{
    int64_t v = 0;
    int error;

    if (key->word) {
        size_t n = strcspn(key->word, "=");

        if (strlen(text) == n && !strncmp(text, key->word, n)) {
            put_value(params, key->path,
                      key->word[n] ? json_object_new_int64(0)
                                   : json_object_new_string(text));
            return 0;
        }
    }
    error = read_qty(key, text, &v, err);
    if (!error)
        put_value(params, key->path, json_object_new_int64(v));
    else if (key->word && err)
        snprintf(err->msg + strlen(err->msg),
                 sizeof(err->msg) - strlen(err->msg), ", or %.*s",
                 (int) strcspn(key->word, "="), key->word);
    return error;
}

static const char *const switch_words[] = {"on", "off", NULL};

static int
take_switch(const struct ctl_key *key, const char *text,
            struct json_object *params, struct err *err)
{
    if (!is_one_of(text, switch_words))
        return err_set(err, EINVAL, NULL, text, "on, off",
                       "%s: '%.60s' is neither on nor off", key->name, text);
    put_value(params, key->path, json_object_new_boolean(!strcmp(text, "on")));
    return 0;
}

static int
take_prios(const struct ctl_key *key, char *text, struct json_object *params,
           struct err *err)
{
    struct json_object *array = json_object_new_array();
    const char *what = strcmp(key->name, "queue") ? "priority" : "queue";
    bool all = !strcmp(text, "all");
    char *item;
    int p;

    put_value(params, key->path, array);
    for (p = 0; all && p < 8; p++)
        json_object_array_add(array, json_object_new_int(p));
    if (all || !strcmp(text, "none"))
        return 0;
    while ((item = strsep(&text, ","))) {
        int error = parse_small(item, what, 7, &p, err);

        if (error)
            return error;
        json_object_array_add(array, json_object_new_int(p));
    }
    return 0;
}

static int
take_vids(const struct ctl_key *key, char *text, struct json_object *params,
          struct err *err)
{
    struct json_object *array = json_object_new_array();
    char *item;

    put_value(params, key->path, array);
    if (!strcmp(text, "all"))
        return 0;
    while ((item = strsep(&text, ","))) {
        char *dash = strchr(item, '-');
        int from, to, error;

        if (dash)
            *dash++ = '\0';
        error = parse_small(item, "VLAN", MAX_VID, &from, err);
        to = from;
        if (!error && dash)
            error = parse_small(dash, "VLAN", MAX_VID, &to, err);
        if (error)
            return error;
        if (to < from)
            return err_set(err, EINVAL, NULL, item, "FIRST-LAST",
                           "%s: VLANs %d-%d go backwards; allowed: "
                           "FIRST-LAST, like 2-5",
                           key->name, from, to);
        for (; from <= to; from++)
            json_object_array_add(array, json_object_new_int(from));
    }
    return 0;
}

static int
take_list(const struct ctl_key *key, char *text, struct json_object *params,
          struct err *err)
{
    struct json_object *array = container(params, key->path, true);
    char *item;

    while ((item = strsep(&text, ","))) {
        if (!is_one_of(item, key->choices))
            return refuse_word(key->name, item, key->choices, err);
        json_object_array_add(array, json_object_new_string(item));
    }
    return 0;
}

/* --- lists of INDEX:VALUE ---------------------------------------------------
 */

/* 3:on all:off: the last word on a priority counts.  Kept as enable and
 * disable, which the method takes. */
static void
switch_priority(struct json_object *params, int p, bool on)
{
    static const char *const lists[] = {"disable", "enable"};

    for (int i = 0; i < 2; i++) {
        struct json_object *old, *kept = json_object_new_array();

        if (json_object_object_get_ex(params, lists[i], &old))
            for (size_t j = 0; j < json_object_array_length(old); j++) {
                struct json_object *v = json_object_array_get_idx(old, j);

                if (json_object_get_int(v) != p)
                    json_object_array_add(kept, json_object_get(v));
            }
        if (i == on)
            json_object_array_add(kept, json_object_new_int(p));
        if (json_object_array_length(kept))
            json_object_object_add(params, lists[i], kept);
        else {
            json_object_put(kept);
            json_object_object_del(params, lists[i]);
        }
    }
}

static struct json_object *
queue_of(struct json_object *params, int q)
{
    char path[32];

    snprintf(path, sizeof(path), "queues/%d", q);
    return container(params, path, false);
}

static int
take_queue_mode(int q, const char *value, struct json_object *params,
                struct err *err)
{
    struct json_object *o = queue_of(params, q);
    size_t n = strlen(value);
    char number[8];
    int weight;

    if (!strcmp(value, "strict")) {
        json_object_object_add(o, "mode", json_object_new_string("strict"));
        return 0;
    }
    if (n > 1 && n < sizeof(number) && value[n - 1] == '%') {
        snprintf(number, sizeof(number), "%.*s", (int) n - 1, value);
        if (!parse_small(number, "weight", 100, &weight, NULL)) {
            json_object_object_add(o, "mode", json_object_new_string("ets"));
            json_object_object_add(o, "weight", json_object_new_int(weight));
            return 0;
        }
    }
    return err_set(err, EINVAL, NULL, value, "0% to 100%, or strict",
                   "queue %d: '%.60s' is no share; allowed: 0%% to 100%%, or "
                   "strict",
                   q, value);
}

/* -7 to 3 or none; null: neither. */
static struct json_object *
parse_alpha(const char *name, const char *text, struct err *err)
{
    int v = 0;

    if (!strcmp(text, "none"))
        return json_object_new_string(text);
    if (text[0] == '-' && !parse_small(text + 1, name, 7, &v, NULL))
        return json_object_new_int(-v);
    if (!parse_small(text, name, 3, &v, NULL))
        return json_object_new_int(v);
    err_set(err, EINVAL, NULL, text, "-7 to 3, or none",
            "%s: '%.60s' is no exponent; allowed: -7 to 3, or none", name,
            text);
    return NULL;
}

/* "300m", "1.5m": millimetres. */
static bool
parse_length(const char *text, int64_t *mm)
{
    size_t n = strlen(text);
    char number[24];
    int64_t ns;

    if (n < 2 || n >= sizeof(number) - 1 || text[n - 1] != 'm')
        return false;
    /* As many thousandths as a microsecond has nanoseconds. */
    snprintf(number, sizeof(number), "%.*sus", (int) n - 1, text);
    if (rpc_parse_quantity(number, RPC_U_NS, &ns, NULL) || ns < 0)
        return false;
    *mm = ns;
    return true;
}

static int
take_cable(const struct ctl_key *key, const char *text,
           struct json_object *params, struct err *err)
{
    int64_t mm, ns;

    if (parse_length(text, &mm)) {
        /* 1.98e8 m/s; a part of a nanosecond counts as one. */
        ns = mm > key->max / 5 ? key->max + 1 : (mm * 1000 + 197999) / 198000;
        if (key->word && ns <= key->max) {
            put_value(params, key->word, json_object_new_int64(mm));
            return 0;
        }
    } else if (rpc_parse_quantity(text, RPC_U_NS, &ns, NULL)) {
        ns = -1;
    }
    if (ns < 0 || ns > key->max)
        return err_set(err, EINVAL, NULL, text,
                       "0m to 198000000m, or 0ns to "
                       "1s",
                       "%s: '%.60s' is no cable; allowed: a length, 0m to "
                       "198000000m, or a delay, 0ns to 1s",
                       key->name, text);
    put_value(params, key->path, json_object_new_int64(ns));
    return 0;
}

static int
take_alpha(const struct ctl_key *key, const char *text,
           struct json_object *params, struct err *err)
{
    struct json_object *v = parse_alpha(key->name, text, err);

    if (!v)
        return EINVAL;
    put_value(params, key->path, v);
    return 0;
}

/* What a map gives. */
static const char *
value_name(const struct ctl_key *key)
{
    static const struct {
        const char *key, *value;
    } names[] = {{"queue", "queue"},
                 {"pg", "priority group"},
                 {"group", "priority group"},
                 {"rewrite-pcp", "PCP"},
                 {"rewrite-dscp", "DSCP"}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(key->name, names[i].key))
            return names[i].value;
    return "priority";
}

static int
take_map(const struct ctl_key *key, int i, const char *value,
         struct json_object *params, struct err *err)
{
    char index[12];
    int v = -1;

    if (!key->word || strcmp(value, key->word)) {
        int error =
            parse_small(value, value_name(key), (int) key->max, &v, err);

        if (error && key->word && err)
            snprintf(err->msg + strlen(err->msg),
                     sizeof(err->msg) - strlen(err->msg), ", or %s",
                     key->word);
        if (error)
            return error;
    }
    snprintf(index, sizeof(index), "%d", i);
    json_object_object_add(container(params, key->path, false), index,
                           json_object_new_int(v));
    return 0;
}

/* One index of a list with its value. */
static int
take_one(const struct ctl_key *key, int i, const char *value,
         struct json_object *params, struct err *err)
{
    const char *last = strrchr(key->path, '/');
    struct json_object *alpha;
    int64_t qty;
    int error;

    switch (key->kind) {
    case CTL_ENABLE:
        if (!is_one_of(value, switch_words))
            return err_set(err, EINVAL, NULL, value, "on, off",
                           "%s %d: '%.60s' is neither on nor off", key->name,
                           i, value);
        switch_priority(params, i, !strcmp(value, "on"));
        return 0;
    case CTL_QUEUE_MODE:
        return take_queue_mode(i, value, params, err);
    case CTL_QUEUE_QTY:
        error = read_qty(key, value, &qty, err);
        if (!error)
            json_object_object_add(queue_of(params, i), last + 1,
                                   json_object_new_int64(qty));
        return error;
    case CTL_QUEUE_SWITCH:
        if (!is_one_of(value, switch_words))
            return err_set(err, EINVAL, NULL, value, "on, off",
                           "%s of queue %d: '%.60s' is neither on nor off",
                           key->name, i, value);
        json_object_object_add(queue_of(params, i), last + 1,
                               json_object_new_boolean(!strcmp(value, "on")));
        return 0;
    case CTL_QUEUE_TEXT:
        json_object_object_add(queue_of(params, i), last + 1,
                               json_object_new_string(value));
        return 0;
    case CTL_QUEUE_ALPHA:
        alpha = parse_alpha(key->name, value, err);
        if (!alpha)
            return EINVAL;
        json_object_object_add(queue_of(params, i), last + 1, alpha);
        return 0;
    case CTL_MAP:
    default:
        return take_map(key, i, value, params, err);
    }
}

static bool
is_of_queues(const struct ctl_key *key)
{
    return key->kind == CTL_QUEUE_MODE || key->kind == CTL_QUEUE_QTY ||
           key->kind == CTL_QUEUE_TEXT || key->kind == CTL_QUEUE_ALPHA ||
           key->kind == CTL_QUEUE_SWITCH;
}

static const char *
index_name(const struct ctl_key *key)
{
    if (key->kind == CTL_MAP && !strcmp(key->name, "pcp"))
        return "PCP";
    if (key->kind == CTL_MAP && !strcmp(key->name, "dscp"))
        return "DSCP";
    return key->kind == CTL_MAP || key->kind == CTL_ENABLE ? "priority"
                                                           : "queue";
}

/* "3", "0-7" or "all". */
static int
take_indices(const struct ctl_key *key, char *text, int *first, int *last,
             struct err *err)
{
    int max = key->kind == CTL_MAP && key->last ? key->last : N_QUEUES - 1;
    char *dash = key->kind == CTL_MAP ? strchr(text, '-') : NULL;
    int error;

    *first = 0;
    *last = max;
    if (!strcmp(text, "all"))
        return 0;
    if (dash)
        *dash++ = '\0';
    error = parse_small(text, index_name(key), max, first, err);
    if (error)
        return error;
    *last = *first;
    if (dash)
        error = parse_small(dash, index_name(key), max, last, err);
    if (!error && *last < *first)
        return err_set(err, EINVAL, NULL, text, "FIRST-LAST",
                       "%s: %d-%d goes backwards; allowed: FIRST-LAST, like "
                       "2-5",
                       key->name, *first, *last);
    return error;
}

/* "5:3,6:4" or one of them, or "all:0". */
static int
take_pairs(const struct ctl_key *key, char *text, struct json_object *params,
           struct err *err)
{
    char *item;

    while ((item = strsep(&text, ","))) {
        char *colon = strchr(item, ':');
        int first, last, error;

        if (!colon)
            return err_set(err, EINVAL, NULL, item, "NUMBER:VALUE",
                           "%s: '%.60s' is not of the form %s:VALUE",
                           key->name, item, index_name(key));
        *colon++ = '\0';
        error = take_indices(key, item, &first, &last, err);
        for (int i = first; !error && i <= last; i++)
            error = take_one(key, i, colon, params, err);
        if (error)
            return error;
    }
    return 0;
}

bool
ctl_takes_pairs(const struct ctl_key *key)
{
    return key->kind == CTL_MAP || key->kind == CTL_ENABLE ||
           is_of_queues(key);
}

void
ctl_take_flag(const struct ctl_key *key, struct json_object *params)
{
    put_value(params, key->path, json_object_new_boolean(true));
}

int
ctl_take_value(const struct ctl_key *key, const char *value,
               struct json_object *params, struct err *err)
{
    char text[VALUE_MAX];

    if (strlen(value) >= sizeof(text))
        return err_set(err, EINVAL, NULL, NULL, NULL,
                       "%s: a value of %zu octets; allowed: at most %zu",
                       key->name, strlen(value), sizeof(text) - 1);
    snprintf(text, sizeof(text), "%s", value);
    switch (key->kind) {
    case CTL_QTY:
        return take_qty(key, text, params, err);
    case CTL_WORD:
        if (!is_one_of(text, key->choices))
            return refuse_word(key->name, text, key->choices, err);
        put_value(params, key->path, json_object_new_string(text));
        return 0;
    case CTL_TEXT:
        put_value(params, key->path, json_object_new_string(text));
        return 0;
    case CTL_SWITCH:
        return take_switch(key, text, params, err);
    case CTL_PRIOS:
        return take_prios(key, text, params, err);
    case CTL_VIDS:
        return take_vids(key, text, params, err);
    case CTL_LIST:
        return take_list(key, text, params, err);
    case CTL_NOISE:
    case CTL_FLAG:
        return err_set(err, EINVAL, NULL, value, NULL,
                       "%s takes no value of its own", key->name);
    case CTL_ALPHA:
        return take_alpha(key, text, params, err);
    case CTL_CABLE:
        return take_cable(key, text, params, err);
    case CTL_MAP:
    case CTL_ENABLE:
    case CTL_QUEUE_MODE:
    case CTL_QUEUE_QTY:
    case CTL_QUEUE_SWITCH:
    case CTL_QUEUE_TEXT:
    case CTL_QUEUE_ALPHA:
    default:
        return take_pairs(key, text, params, err);
    }
}
