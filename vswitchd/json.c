/* SPDX-License-Identifier: Apache-2.0
 *
 * Short words for making JSON: see json.h.
 */
#include "json.h"

#include "base/clock.h"
#include "dp/dp.h"
#include "rpc/rpc.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Octets of changes: beside them there is more in an answer (the notes of an
 * import), and a client has other events waiting. */
#define MAX_CHANGES ((size_t) RPC_MAX_ANSWER / 2)

/* Reading two clocks one after the other: how near is near enough, how often
 * to try, and what it differs by when one of them was set. */
#define WALL_EXACT_NS UINT64_C(1000)
#define WALL_TRIES    8
#define WALL_SET_NS   NS_PER_MS

void
json_add_text(struct json_object *o, const char *key, const char *value)
{
    json_object_object_add(o, key, json_object_new_string(value));
}

void
json_add_uint(struct json_object *o, const char *key, uint64_t value)
{
    json_object_object_add(o, key, json_object_new_uint64(value));
}

void
json_add_bool(struct json_object *o, const char *key, bool value)
{
    json_object_object_add(o, key, json_object_new_boolean(value));
}

void
json_add_alpha(struct json_object *o, int8_t alpha)
{
    json_object_object_add(o, "alpha",
                           alpha == BUF_ALPHA_NONE
                               ? json_object_new_string("none")
                               : json_object_new_int(alpha));
}

void
json_add_changes(struct json_object *o, struct json_object *changed)
{
    size_t n = json_object_array_length(changed), i, octets = 0, len;

    for (i = 0; i < n; i++) {
        json_object_to_json_string_length(json_object_array_get_idx(changed,
                                                                    i),
                                          JSON_C_TO_STRING_PLAIN, &len);
        octets += len + 1;
        if (octets > MAX_CHANGES)
            break;
    }
    json_object_object_add(o, "changed", changed);
    if (i == n)
        return;
    json_object_array_del_idx(changed, i, n - i);
    json_add_uint(o, "n_more", n - i);
}

struct json_object *
json_bits(uint8_t bits)
{
    struct json_object *a = json_object_new_array();

    for (int i = 0; i < 8; i++)
        if (bits >> i & 1)
            json_object_array_add(a, json_object_new_int(i));
    return a;
}

struct json_object *
json_counters(const counter_t *c, size_t n)
{
    struct json_object *a = json_object_new_array();

    for (size_t i = 0; i < n; i++)
        json_object_array_add(a, json_object_new_uint64(counter_get(&c[i])));
    return a;
}

/* How far the time of day is ahead of our clock.  The two cannot be read at
 * once, and a moment is to have the same time whenever it is shown: what was
 * found stays, until the time of day has been set. */
static uint64_t
wall_ahead_ns(void)
{
    static uint64_t ahead_ns;
    uint64_t best_ns = UINT64_MAX, least = 0, most = 0;

    for (int i = 0; i < WALL_TRIES && best_ns > WALL_EXACT_NS; i++) {
        uint64_t before = clock_ns(), wall = clock_wall_ns();
        uint64_t after = clock_ns();

        if (after - before >= best_ns)
            continue;
        best_ns = after - before;
        least = wall - after;
        most = wall - before;
    }
    if (ahead_ns + WALL_SET_NS < least || ahead_ns > most + WALL_SET_NS)
        ahead_ns = least + (most - least) / 2;
    return ahead_ns;
}

struct json_object *
json_moment(uint64_t when_ns)
{
    uint64_t wall = wall_ahead_ns() + when_ns;
    time_t s = (time_t) (wall / NS_PER_S);
    struct tm tm;
    char text[64];
    size_t n;

    if (!when_ns)
        return NULL;
    gmtime_r(&s, &tm);
    n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text + n, sizeof(text) - n, ".%06uZ",
             (unsigned) (wall % NS_PER_S / NS_PER_US));
    return json_object_new_string(text);
}

struct json_object *
json_moments(const uint64_t *when_ns, size_t n)
{
    struct json_object *a = json_object_new_array();

    for (size_t i = 0; i < n; i++)
        json_object_array_add(a, json_moment(when_ns[i]));
    return a;
}

struct json_object *
json_drops(const uint64_t *frames, bool all)
{
    struct json_object *o = json_object_new_object();

    for (int i = 0; i < DP_N_DROPS; i++)
        if (all || frames[i])
            json_add_uint(o, dp_drop_name((enum dp_drop) i), frames[i]);
    return o;
}

struct json_object *
json_get(struct json_object *o, const char *key)
{
    struct json_object *v = NULL;

    json_object_object_get_ex(o, key, &v);
    return v;
}

const char *
json_get_text(struct json_object *o, const char *key, const char *otherwise)
{
    struct json_object *v = json_get(o, key);

    return v ? json_object_get_string(v) : otherwise;
}

int64_t
json_get_int(struct json_object *o, const char *key, int64_t otherwise)
{
    struct json_object *v = json_get(o, key);

    return v ? json_object_get_int64(v) : otherwise;
}

bool
json_get_bool(struct json_object *o, const char *key, bool otherwise)
{
    struct json_object *v = json_get(o, key);

    return v ? json_object_get_boolean(v) : otherwise;
}

static bool
is_among(const char *const keys[], const char *key)
{
    for (; *keys; keys++)
        if (!strcmp(*keys, key))
            return true;
    return false;
}

struct json_object *
json_without(struct json_object *from, const char *const keys[])
{
    struct json_object *to = json_object_new_object();

    json_object_object_foreach (from, key, value) {
        if (!is_among(keys, key))
            json_object_object_add(to, key, json_object_get(value));
    }
    return to;
}
