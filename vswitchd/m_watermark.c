/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods on high-water marks of groups, queues and pools: two sets, of which
 * one is cleared without the other (counts.h).  Control thread.
 */
#include "methods.h"

#include "json.h"

#include <string.h>

static enum marks_set
set_of(struct json_object *params)
{
    return json_get_bool(params, "persistent", false) ? MARKS_PERSISTENT
                                                      : MARKS_USER;
}

static struct json_object *
port_object(const struct port_view *v, enum marks_set set)
{
    struct json_object *o = json_object_new_object();
    struct dp_port_peaks p;

    marks_get(v->port, set, &p);
    json_add_text(o, "port", v->port->name);
    json_add_text(o, "bridge", v->bridge->name);
    json_object_object_add(o, "groups", json_counters(p.pg_bytes, N_PG));
    json_object_object_add(o, "headroom", json_counters(p.pg_headroom, N_PG));
    json_object_object_add(o, "queues", json_counters(p.q_bytes, N_QUEUE));
    return o;
}

static void
add_user(const struct port_view *v, struct json_object *to)
{
    json_object_array_add(to, port_object(v, MARKS_USER));
}

static void
add_persistent(const struct port_view *v, struct json_object *to)
{
    json_object_array_add(to, port_object(v, MARKS_PERSISTENT));
}

static struct json_object *
bridge_object(const struct bridge *b, const struct conf_bridge *cb,
              enum marks_set set)
{
    struct json_object *o = json_object_new_object();
    struct json_object *pools = json_object_new_array();
    struct pool_marks m;

    marks_get_pools(b, set, &m);
    json_add_text(o, "bridge", b->name);
    json_add_uint(o, "shared_bytes", m.shared_bytes[0]);
    json_add_uint(o, "headroom_bytes", m.headroom_bytes);
    for (uint32_t i = 0; i < cb->n_pools; i++) {
        struct json_object *p = json_object_new_object();

        json_add_text(p, "pool", cb->pool[i].name);
        json_add_uint(p, "bytes", m.shared_bytes[cb->pool[i].slot]);
        json_object_array_add(pools, p);
    }
    json_object_object_add(o, "pools", pools);
    return o;
}

static int
watermark(void *ctx, struct rpc_client *client, struct json_object *params,
          struct json_object **result, struct err *err)
{
    const char *name = json_get_text(params, "port", NULL);
    enum marks_set set = set_of(params);
    struct daemon *d = ctx;
    struct json_object *o, *ports, *bridges;
    int error =
        methods_each_port(d, params,
                          set == MARKS_USER ? add_user : add_persistent,
                          &ports, err);

    (void) client;
    if (error)
        return error;
    bridges = json_object_new_array();
    for (uint32_t i = 0; i < d->conf->n_bridges; i++) {
        const struct conf_bridge *cb = d->conf->bridges[i];

        if (!name || conf_bridge_find_port(cb, name))
            json_object_array_add(
                bridges,
                bridge_object(daemon_find_bridge(d, cb->name), cb, set));
    }
    o = json_object_new_object();
    json_add_text(o, "set", set == MARKS_USER ? "user" : "persistent");
    json_object_object_add(o, "ports", ports);
    json_object_object_add(o, "bridges", bridges);
    *result = o;
    return 0;
}

static int
watermark_clear(void *ctx, struct rpc_client *client,
                struct json_object *params, struct json_object **result,
                struct err *err)
{
    const char *name = json_get_text(params, "port", NULL);
    enum marks_set set = set_of(params);
    struct daemon *d = ctx;
    struct port_view v;
    int error = name ? methods_find_port(d, name, &v, err) : 0;

    (void) client;
    if (error)
        return error;
    if (name)
        marks_clear(v.bridge, v.port, set);
    for (uint32_t i = 0; !name && i < d->n_bridges; i++) {
        struct bridge *b = d->bridges[i];

        marks_clear_pools(b, set);
        for (int s = 0; s < DP_MAX_PORTS; s++)
            if (b->ports[s])
                marks_clear(b, b->ports[s], set);
    }
    *result = json_object_new_object();
    return 0;
}

static const struct rpc_param show_params[] = {
    PARAM_NAME("port", false, "Only this port, and the memory of its bridge."),
    PARAM_BOOL("persistent", "The persistent set instead of the user's."),
    PARAM_END,
};

static const struct rpc_param clear_params[] = {
    PARAM_NAME("port", false,
               "Only this port; without it also the memory of the bridges."),
    PARAM_BOOL("persistent", "The persistent set instead of the user's."),
    PARAM_END,
};

const struct rpc_method methods_watermark[] = {
    {
        .name = "buffer.watermark",
        .doc = "Shows the most octets that groups, their headrooms, queues "
               "and pools ever held since the set was cleared.  There are two "
               "sets, user and persistent; clearing one leaves the other.",
        .params = show_params,
        .result = "set (user or persistent); ports: array of port, bridge, "
                  "groups, headroom, queues (arrays of eight, octets); "
                  "bridges: array of bridge, shared_bytes (of what is in no "
                  "pool), headroom_bytes (of all groups together), pools "
                  "(array of pool, bytes).",
        .example = "{\"port\": \"eth1\", \"persistent\": true}",
        .handler = watermark,
    },
    {
        .name = "buffer.watermark_clear",
        .doc = "Begins a set of watermarks anew, from what is held now.",
        .params = clear_params,
        .result = "An empty object.",
        .example = "{\"port\": \"eth1\"}",
        .handler = watermark_clear,
    },
    {.name = NULL},
};
