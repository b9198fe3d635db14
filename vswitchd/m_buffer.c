/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods on buffers: the memory of bridges, and the ingress priority groups
 * of ports.  Control thread.
 */
#include "methods.h"

#include "json.h"

#include <stdio.h>
#include <string.h>

static int
buffer_set(void *ctx, struct rpc_client *client, struct json_object *params,
           struct json_object **result, struct err *err)
{
    static const char *const not_members[] = {"port", "group", NULL};
    struct json_object *edit = json_object_new_object();
    struct json_object *groups = json_object_new_object();
    char key[2] = {(char) ('0' + json_get_int(params, "group", 0)), '\0'};
    int error;

    (void) client;
    json_object_object_add(groups, key, json_without(params, not_members));
    json_object_object_add(edit, "groups", groups);
    error =
        methods_edit_port(ctx, json_get_text(params, "port", ""), edit, err);
    json_object_put(edit);
    if (!error)
        *result = json_object_new_object();
    return error;
}

static const char *
pool_name(const struct conf_bridge *b, uint8_t slot)
{
    for (uint32_t i = 0; i < b->n_pools; i++)
        if (b->pool[i].slot == slot)
            return b->pool[i].name;
    return "none";
}

static struct json_object *
group_object(const struct port_view *v, int g)
{
    const struct buf_group *bg = dp_port_group(v->port->state, g);
    const struct buf_group_conf *c = &v->pp->pg[g];
    const struct conf_group *own = &v->cp->group[g];
    const struct conf_group *conf = conf_group_in_force(v->cb, v->cp, g, NULL);
    struct json_object *o = json_object_new_object();
    struct json_object *used = json_object_new_object();
    struct dp_port_peaks peaks;
    struct counts n;

    counts_get(v->port, v->raw, &n);
    marks_get(v->port, MARKS_USER, &peaks);

    json_add_text(o, "port", v->port->name);
    json_add_uint(o, "group", (uint64_t) g);
    json_object_object_add(o, "priorities", json_bits(v->pp->pg_prios[g]));
    json_add_bool(o, "lossless", c->lossless);
    json_add_text(o, "profile", own->profile[0] ? own->profile : "none");
    json_add_text(o, "pool", pool_name(v->cb, c->pool));
    json_add_uint(o, "reserved_bytes", c->reserved_bytes);
    json_add_uint(o, "xoff_bytes", conf->xoff_bytes);
    json_add_alpha(o, c->alpha);
    json_add_uint(o, "limit_bytes",
                  buf_group_limit(dp_buf_pool_at(v->bridge->dp, c->pool), bg));
    json_add_uint(o, "xon_bytes", c->xon_bytes);
    json_add_uint(o, "xon_offset_bytes", conf->xon_offset_bytes);
    json_add_uint(o, "headroom_bytes", c->headroom_bytes);
    json_add_bool(o, "headroom_auto",
                  conf->headroom_bytes == CONF_HEADROOM_AUTO);
    json_add_uint(used, "reserved", counter_get(&bg->reserved_used));
    json_add_uint(used, "shared", counter_get(&bg->shared_used));
    json_add_uint(used, "headroom", counter_get(&bg->headroom_used));
    json_object_object_add(o, "used", used);
    json_add_uint(o, "held_frames", counter_get(&bg->n_held));
    json_add_uint(o, "peak_bytes", peaks.pg_bytes[g]);
    json_add_uint(o, "headroom_peak_bytes", peaks.pg_headroom[g]);
    json_add_bool(o, "xoff", counter_get_flag(&bg->xoff));
    json_add_uint(o, "rx_frames", n.n.pg_rx_frames[g]);
    json_add_uint(o, "rx_bytes", n.n.pg_rx_bytes[g]);
    json_add_uint(o, "drops", n.n.pg_drops[g]);
    json_add_uint(o, "drop_bytes", n.n.pg_drop_bytes[g]);
    json_add_uint(o, "violations", n.n.pg_violations[g]);
    return o;
}

/* Groups that a priority maps to, and those that still hold something. */
static void
add_groups(const struct port_view *v, struct json_object *to)
{
    for (int g = 0; g < N_PG; g++)
        if (v->pp->pg_prios[g] ||
            buf_group_held(dp_port_group(v->port->state, g)))
            json_object_array_add(to, group_object(v, g));
}

static struct json_object *
bridge_memory(const struct bridge *b, const struct conf_bridge *cb)
{
    const struct buf_pool *pool = dp_buf_pool(b->dp);
    const struct pkt_pool *pkts = dp_pool(b->dp);
    struct json_object *o = json_object_new_object();
    struct pool_marks marks;

    marks_get_pools(b, MARKS_USER, &marks);
    json_add_text(o, "bridge", b->name);
    json_add_uint(o, "memory_bytes", cb->memory_bytes);
    json_add_uint(o, "shared_bytes", b->plan->shared_bytes);
    json_add_uint(o, "shared_used", counter_get(&pool->shared_used));
    json_add_uint(o, "shared_peak", marks.shared_bytes[0]);
    json_add_uint(o, "headroom_pool_bytes", b->plan->hdrm_pool_bytes);
    json_add_uint(o, "headroom_used", counter_get(&dp_buf_hdrm(b->dp)->used));
    json_add_uint(o, "headroom_peak", marks.headroom_bytes);
    json_add_uint(o, "n_buffers", pkt_pool_n_buffers(pkts));
    json_add_uint(o, "n_free", pkt_pool_n_free(pkts));
    json_add_uint(o, "n_clones_free", pkt_pool_n_free_clones(pkts));
    json_add_uint(o, "n_empty", pkt_pool_n_empty(pkts));
    return o;
}

static int
buffer_show(void *ctx, struct rpc_client *client, struct json_object *params,
            struct json_object **result, struct err *err)
{
    struct daemon *d = ctx;
    struct json_object *o, *groups, *bridges;
    const char *name = json_get_text(params, "port", NULL);
    int error = methods_each_port(d, params, add_groups, &groups, err);

    (void) client;
    if (error)
        return error;
    bridges = json_object_new_array();
    for (uint32_t i = 0; i < d->conf->n_bridges; i++) {
        const struct conf_bridge *cb = d->conf->bridges[i];

        if (!name || conf_bridge_find_port(cb, name))
            json_object_array_add(
                bridges, bridge_memory(daemon_find_bridge(d, cb->name), cb));
    }
    o = json_object_new_object();
    json_object_object_add(o, "bridges", bridges);
    json_object_object_add(o, "groups", groups);
    *result = o;
    return 0;
}

static const char *const automatic[] = {"auto", NULL};

static const struct rpc_param set_params[] = {
    PARAM_NAME("port", true, "The port."),
    {.name = "group",
     .type = RPC_T_INT,
     .required = true,
     .max = 7,
     .doc = "The ingress priority group."},
    {.name = "profile",
     .type = RPC_T_STRING,
     .max = CONF_LABEL_MAX,
     .doc = "Profile of the bridge (see profile.set) whose thresholds hold in "
            "place of those below; \"none\" (default): its own hold."},
    PARAM_INT("reserved_bytes", 0, (int64_t) CONF_MAX_MEMORY, RPC_U_BYTES,
              "The group's own part of the memory."),
    PARAM_INT("xoff_bytes", 0, (int64_t) CONF_MAX_MEMORY, RPC_U_BYTES,
              "Limit of its usage of the shared part.  There a lossless group "
              "pauses its peer, and a lossy one drops."),
    PARAM_ALPHA("Dynamic limit in place of xoff_bytes: 2^alpha times what is "
                "free of the pool."),
    PARAM_INT("xon_bytes", 0, (int64_t) CONF_MAX_MEMORY, RPC_U_BYTES,
              "At or below so much, with the headroom empty, the peer may go "
              "on; not above xoff_bytes."),
    PARAM_INT("xon_offset_bytes", 0, (int64_t) CONF_MAX_MEMORY, RPC_U_BYTES,
              "The peer may also go on at the limit less this, if that is "
              "more than xon_bytes; 0: not used."),
    {.name = "headroom",
     .type = RPC_T_INT,
     .max = (int64_t) CONF_MAX_MEMORY,
     .unit = RPC_U_BYTES,
     .choices = automatic,
     .doc = "What a lossless group may still receive after XOFF; \"auto\" "
            "(default): computed, and kept up to date with the measured "
            "stall."},
    PARAM_END,
};

static const struct rpc_param show_params[] = {
    PARAM_NAME("port", false, "Only this port, and the memory of its bridge."),
    PARAM_RAW,
    PARAM_END,
};

const struct rpc_method methods_buffer[] = {
    {
        .name = "buffer.set",
        .doc = "Changes the thresholds of an ingress priority group.  Under "
               "traffic nothing is lost by it: what is held stays charged "
               "where it is, and new limits apply to the next frame.",
        .params = set_params,
        .result = "An empty object.",
        .example = "{\"port\": \"eth1\", \"group\": 3, \"xoff_bytes\": "
                   "\"64K\", \"xon_bytes\": \"32K\", \"headroom\": \"auto\"}",
        .changes = true,
        .handler = buffer_set,
    },
    {
        .name = "buffer.show",
        .doc = "Shows the memory of the bridges, and the priority groups that "
               "are in use.",
        .params = show_params,
        .result = "bridges: array of bridge, memory_bytes, shared_bytes, "
                  "shared_used, shared_peak, headroom_pool_bytes (0: each "
                  "group has its own), headroom_used, headroom_peak, "
                  "n_buffers, n_free, n_clones_free, n_empty (allocations "
                  "that found none).  "
                  "groups: array of port, group, priorities, lossless, "
                  "profile, pool, reserved_bytes, xoff_bytes, alpha, "
                  "limit_bytes (that holds now), xon_bytes, xon_offset_bytes, "
                  "headroom_bytes, headroom_auto, used (reserved, shared, "
                  "headroom), held_frames, peak_bytes, headroom_peak_bytes, "
                  "xoff, rx_frames, rx_bytes, drops, drop_bytes, "
                  "violations (of the drops).  Peaks are user watermarks.",
        .example = "{\"port\": \"eth1\"}",
        .handler = buffer_show,
    },
    {.name = NULL},
};
