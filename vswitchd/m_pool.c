/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods on buffer pools and buffer profiles of bridges.  Control thread.
 */
#include "methods.h"

#include "json.h"
#include "txn.h"

#include <string.h>

/* Edits one element of a section of a bridge with what params hold beside the
 * names. */
static int
set_named(struct daemon *d, struct json_object *params, const char *section,
          struct err *err)
{
    static const char *const not_members[] = {"bridge", "name", NULL};
    struct json_object *edit = json_object_new_object();
    struct json_object *named = json_object_new_object();
    int error;

    json_object_object_add(named, json_get_text(params, "name", ""),
                           json_without(params, not_members));
    json_object_object_add(edit, section, named);
    error =
        methods_edit_bridge(d, json_get_text(params, "bridge", ""), edit, err);
    json_object_put(edit);
    return error;
}

static int
del_named(struct daemon *d, struct json_object *params,
          int (*del)(struct conf_bridge *, const char *, struct err *),
          struct err *err)
{
    struct conf *to = txn_begin(d);
    struct conf_bridge *cb;
    int error =
        conf_need_bridge(to, json_get_text(params, "bridge", ""), &cb, err);

    if (!error)
        error = del(cb, json_get_text(params, "name", ""), err);
    return txn_end(d, to, error, err);
}

/* Calls fn for params.bridge, or for every bridge. */
static int
each_bridge(struct daemon *d, struct json_object *params,
            void (*fn)(struct daemon *, const struct conf_bridge *,
                       struct json_object *),
            struct json_object **result, struct err *err)
{
    const char *name = json_get_text(params, "bridge", NULL);
    struct json_object *a;
    struct conf_bridge *cb;
    int error = name ? conf_need_bridge(d->conf, name, &cb, err) : 0;

    if (error)
        return error;
    a = json_object_new_array();
    for (uint32_t i = 0; i < d->conf->n_bridges; i++)
        if (!name || d->conf->bridges[i] == cb)
            fn(d, d->conf->bridges[i], a);
    *result = a;
    return 0;
}

/* --- pools ----------------------------------------------------------------
 */

static struct json_object *
pool_object(struct daemon *d, const struct conf_bridge *cb, const char *name,
            const char *mode, uint8_t slot)
{
    const struct bridge *b = daemon_find_bridge(d, cb->name);
    const struct buf_pool *pool = dp_buf_pool_at(b->dp, slot);
    struct json_object *o = json_object_new_object();
    struct json_object *users = json_object_new_array();

    json_add_text(o, "bridge", cb->name);
    json_add_text(o, "name", name);
    json_add_text(o, "mode", mode);
    json_add_uint(o, "size_bytes",
                  slot ? b->plan->pool_bytes[slot] : b->plan->shared_bytes);
    json_add_uint(o, "used_bytes", counter_get(&pool->shared_used));
    json_add_uint(o, "peak_bytes", counter_get(&pool->shared_peak));
    for (uint32_t i = 0; slot && i < cb->n_profiles; i++) {
        const struct conf_pool *of = conf_find_pool(cb, cb->profile[i].pool);

        if (of && of->slot == slot)
            json_object_array_add(users,
                                  json_object_new_string(cb->profile[i].name));
    }
    json_object_object_add(o, "profiles", users);
    return o;
}

static void
add_pools(struct daemon *d, const struct conf_bridge *cb,
          struct json_object *to)
{
    json_object_array_add(to, pool_object(d, cb, "none", "any", 0));
    for (uint32_t i = 0; i < cb->n_pools; i++)
        json_object_array_add(to, pool_object(d, cb, cb->pool[i].name,
                                              cb->pool[i].dynamic ? "dynamic"
                                                                  : "static",
                                              cb->pool[i].slot));
}

static int
pool_set(void *ctx, struct rpc_client *client, struct json_object *params,
         struct json_object **result, struct err *err)
{
    int error = set_named(ctx, params, "pools", err);

    (void) client;
    if (!error)
        *result = json_object_new_object();
    return error;
}

static int
pool_del(void *ctx, struct rpc_client *client, struct json_object *params,
         struct json_object **result, struct err *err)
{
    int error = del_named(ctx, params, conf_del_pool, err);

    (void) client;
    if (!error)
        *result = json_object_new_object();
    return error;
}

static int
pool_show(void *ctx, struct rpc_client *client, struct json_object *params,
          struct json_object **result, struct err *err)
{
    (void) client;
    return each_bridge(ctx, params, add_pools, result, err);
}

/* --- profiles -------------------------------------------------------------
 */

static struct json_object *
users_of(const struct conf_bridge *cb, const char *profile)
{
    struct json_object *a = json_object_new_array();

    for (uint32_t i = 0; i < cb->n_ports; i++) {
        const struct conf_port *p = cb->ports[i];

        for (int k = 0; k < N_PG + N_QUEUE; k++) {
            bool is_group = k < N_PG;
            const char *has =
                is_group ? p->group[k].profile : p->queue[k - N_PG].profile;
            struct json_object *o;

            if (strcmp(has, profile))
                continue;
            o = json_object_new_object();
            json_add_text(o, "port", p->name);
            json_add_uint(o, is_group ? "group" : "queue",
                          (uint64_t) (is_group ? k : k - N_PG));
            json_object_array_add(a, o);
        }
    }
    return a;
}

static void
add_profiles(struct daemon *d, const struct conf_bridge *cb,
             struct json_object *to)
{
    (void) d;
    for (uint32_t i = 0; i < cb->n_profiles; i++) {
        const struct conf_profile *p = &cb->profile[i];
        struct json_object *o = json_object_new_object();

        json_add_text(o, "bridge", cb->name);
        json_add_text(o, "name", p->name);
        json_add_text(o, "pool", p->pool[0] ? p->pool : "none");
        json_add_uint(o, "reserved_bytes", p->t.reserved_bytes);
        json_add_uint(o, "xoff_bytes", p->t.xoff_bytes);
        json_add_alpha(o, p->t.alpha);
        json_add_uint(o, "xon_bytes", p->t.xon_bytes);
        json_add_uint(o, "xon_offset_bytes", p->t.xon_offset_bytes);
        if (p->t.headroom_bytes == CONF_HEADROOM_AUTO)
            json_add_text(o, "headroom", "auto");
        else
            json_add_uint(o, "headroom", p->t.headroom_bytes);
        json_object_object_add(o, "users", users_of(cb, p->name));
        json_object_array_add(to, o);
    }
}

static int
profile_set(void *ctx, struct rpc_client *client, struct json_object *params,
            struct json_object **result, struct err *err)
{
    int error = set_named(ctx, params, "profiles", err);

    (void) client;
    if (!error)
        *result = json_object_new_object();
    return error;
}

static int
profile_del(void *ctx, struct rpc_client *client, struct json_object *params,
            struct json_object **result, struct err *err)
{
    int error = del_named(ctx, params, conf_del_profile, err);

    (void) client;
    if (!error)
        *result = json_object_new_object();
    return error;
}

static int
profile_show(void *ctx, struct rpc_client *client, struct json_object *params,
             struct json_object **result, struct err *err)
{
    (void) client;
    return each_bridge(ctx, params, add_profiles, result, err);
}

/* --- tables ---------------------------------------------------------------
 */

static const char *const modes[] = {"static", "dynamic", NULL};
static const char *const automatic[] = {"auto", NULL};

static const struct rpc_param pool_params[] = {
    PARAM_NAME("bridge", true, "The bridge."),
    PARAM_LABEL("name", true, "The pool; a new name makes a new pool."),
    PARAM_INT("size_bytes", 0, (int64_t) CONF_MAX_MEMORY, RPC_U_BYTES,
              "Its part of the bridge's memory [1M]."),
    {.name = "mode",
     .type = RPC_T_STRING,
     .choices = modes,
     .doc = "static (default): profiles that share it have xoff_bytes; "
            "dynamic: they have an alpha."},
    PARAM_END,
};

static const struct rpc_param profile_params[] = {
    PARAM_NAME("bridge", true, "The bridge."),
    PARAM_LABEL("name", true, "The profile; a new name makes a new one."),
    PARAM_LABEL("pool", false,
                "The pool that its users share; \"none\" (default): what the "
                "other pools leave."),
    PARAM_INT("reserved_bytes", 0, (int64_t) CONF_MAX_MEMORY, RPC_U_BYTES,
              "Each group's own part of the memory; queues have none."),
    PARAM_INT("xoff_bytes", 0, (int64_t) CONF_MAX_MEMORY, RPC_U_BYTES,
              "Limit of a group's usage of the pool, or of a queue."),
    PARAM_ALPHA("Dynamic limit in its place: 2^alpha times what is free of "
                "the pool."),
    PARAM_INT("xon_bytes", 0, (int64_t) CONF_MAX_MEMORY, RPC_U_BYTES,
              "At or below so much, with the headroom empty, the peer may go "
              "on."),
    PARAM_INT("xon_offset_bytes", 0, (int64_t) CONF_MAX_MEMORY, RPC_U_BYTES,
              "The peer may also go on at the limit less this, if that is "
              "more than xon_bytes; 0: not used."),
    {.name = "headroom",
     .type = RPC_T_INT,
     .max = (int64_t) CONF_MAX_MEMORY,
     .unit = RPC_U_BYTES,
     .choices = automatic,
     .doc = "What a lossless group may still receive after XOFF; \"auto\" "
            "(default): computed for each port."},
    PARAM_END,
};

static const struct rpc_param name_params[] = {
    PARAM_NAME("bridge", true, "The bridge."),
    PARAM_LABEL("name", true, "The one to remove."),
    PARAM_END,
};

static const struct rpc_param show_params[] = {
    PARAM_NAME("bridge", false, "Only those of this bridge."),
    PARAM_END,
};

const struct rpc_method methods_pool[] = {
    {
        .name = "pool.set",
        .doc =
            "Makes a buffer pool of a bridge, or changes it.  Under traffic "
            "nothing is lost by it: new sizes apply to the next frame.  "
            "What no pool takes of the memory is shared by all others.",
        .params = pool_params,
        .result = "An empty object.",
        .example = "{\"bridge\": \"br0\", \"name\": \"roce\", \"size_bytes\": "
                   "\"8M\", \"mode\": \"dynamic\"}",
        .changes = true,
        .handler = pool_set,
    },
    {
        .name = "pool.del",
        .doc = "Removes a buffer pool that no profile names.",
        .params = name_params,
        .result = "An empty object.",
        .example = "{\"bridge\": \"br0\", \"name\": \"roce\"}",
        .changes = true,
        .handler = pool_del,
    },
    {
        .name = "pool.show",
        .doc = "Shows the buffer pools; \"none\" is what the others leave.",
        .params = show_params,
        .result = "An array of bridge, name, mode, size_bytes, used_bytes, "
                  "peak_bytes, profiles (names).",
        .example = "{}",
        .handler = pool_show,
    },
    {
        .name = "profile.set",
        .doc = "Makes a buffer profile of a bridge, or changes it: for all of "
               "its users at once, and under traffic without loss.",
        .params = profile_params,
        .result = "An empty object.",
        .example =
            "{\"bridge\": \"br0\", \"name\": \"lossless\", \"pool\": "
            "\"roce\", \"alpha\": 0, \"xon_bytes\": 0, \"xon_offset_bytes\": "
            "\"8K\"}",
        .changes = true,
        .handler = profile_set,
    },
    {
        .name = "profile.del",
        .doc = "Removes a buffer profile that no group or queue uses.",
        .params = name_params,
        .result = "An empty object.",
        .example = "{\"bridge\": \"br0\", \"name\": \"lossless\"}",
        .changes = true,
        .handler = profile_del,
    },
    {
        .name = "profile.show",
        .doc = "Shows the buffer profiles and who uses them.",
        .params = show_params,
        .result =
            "An array of bridge, name, pool, reserved_bytes, xoff_bytes, "
            "alpha, xon_bytes, xon_offset_bytes, headroom (bytes or "
            "\"auto\"), users (objects of port and group or queue).",
        .example = "{}",
        .handler = profile_show,
    },
    {.name = NULL},
};
