/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods on bridges.  Control thread.
 */
#include "methods.h"

#include "base/clock.h"
#include "json.h"
#include "of.h"
#include "txn.h"

#include <stdio.h>

static const char *const fail_modes[] = {"standalone", "secure", NULL};

#define BRIDGE_MEMBERS                                                        \
    PARAM_INT(                                                                \
        "memory_bytes", (int64_t) CONF_MIN_MEMORY, (int64_t) CONF_MAX_MEMORY, \
        RPC_U_BYTES,                                                          \
        "Frame memory of the bridge: reserved parts, shared part and "        \
        "headrooms.  A change makes the datapath anew: frames that are "      \
        "queued are lost, counters of its ports begin at zero, other "        \
        "bridges are not touched."),                                          \
        PARAM_INT(                                                            \
            "max_frame_bytes", CONF_MIN_FRAME, CONF_MAX_FRAME, RPC_U_BYTES,   \
            "Longest frame, VLAN tags counted, without FCS.  A change "       \
            "makes the datapath anew, as with memory_bytes; the MTU of "      \
            "tap ports that exist is left to their user."),                   \
        PARAM_INT("mac_ageing_s", 0, 1000000, RPC_U_S,                        \
                  "Seconds after which a silent address is forgotten; 0: "    \
                  "never."),                                                  \
        PARAM_BOOL(                                                           \
            "forward_reserved",                                               \
            "Whether frames to 01-80-C2-00-00-00 to -0F are forwarded "       \
            "(LLDP, LACP; for labs); those to -01 never are."),               \
        PARAM_BOOL("local",                                                   \
                   "Whether it has a port of its own (default): a TAP "       \
                   "interface of its name, OpenFlow port LOCAL, that the "    \
                   "daemon makes and leaves down.  It takes part while its "  \
                   "user has it up."),                                        \
        PARAM_INT("cell_bytes", 1, CONF_MAX_CELL, RPC_U_BYTES,                \
                  "Computed headrooms are whole cells of that size, as in "   \
                  "the switch that is emulated; 1 (default): no cells."),     \
        PARAM_INT("headroom_pool_bytes", 0, (int64_t) CONF_MAX_MEMORY,        \
                  RPC_U_BYTES,                                                \
                  "Size of one pool that all groups take their headroom "     \
                  "from; 0 (default): each has its own."),                    \
        PARAM_INT("headroom_ratio", 0, CONF_MAX_RATIO, RPC_U_NONE,            \
                  "The same, by over-subscription: the sum of the "           \
                  "headrooms over this, but the largest at least; 0 "         \
                  "(default): not."),                                         \
        PARAM_OBJECT("pools", "Buffer pools by name: see pool.set; null "     \
                              "removes one."),                                \
        PARAM_OBJECT("profiles", "Buffer profiles by name: see "              \
                                 "profile.set; null removes one."),           \
        PARAM_BOOL("drop_lossless_unknown",                                   \
                   "Whether lossless frames to unknown unicast addresses "    \
                   "are dropped (reason unknown-unicast) instead of "         \
                   "flooded: a flood can make pauses wait for each other."),  \
        {.name = "fail_mode",                                                 \
         .type = RPC_T_STRING,                                                \
         .choices = fail_modes,                                               \
         .doc = "Without its controllers: standalone (default), an ordinary " \
                "bridge; secure, what the flow tables say."},                 \
        {.name = "datapath_id",                                               \
         .type = RPC_T_STRING,                                                \
         .min = 1,                                                            \
         .max = 16,                                                           \
         .doc = "Of OpenFlow, 1 to 16 hexadecimal digits; \"auto\" "          \
                "(default): made of an address."},                            \
        PARAM_BOOL("management",                                              \
                   "Whether it listens for OpenFlow on its own socket, "      \
                   "NAME.mgmt beside the control socket (default true)."),    \
        PARAM_INT("max_flows", 1, CONF_MAX_FLOWS, RPC_U_NONE,                 \
                  "How many entries its flow tables have together; beyond "   \
                  "it, an add is refused (default 1000000)."),                \
        PARAM_OBJECT("controllers",                                           \
                     "OpenFlow controllers by target: see controller.set; "   \
                     "null removes one."),                                    \
        PARAM_OBJECT("ssl",                                                   \
                     "Files for TLS: private_key, certificate, "              \
                     "ca_certificate, absolute paths of PEM files; all or "   \
                     "none."),                                                \
        PARAM_OBJECT("map",                                                   \
                     "Defaults of the maps of its ports: see map.set.")

static const struct rpc_param bridge_params[] = {
    PARAM_NAME("name", true, "The bridge."),
    BRIDGE_MEMBERS,
    PARAM_END,
};

static const struct rpc_param name_params[] = {
    PARAM_NAME("name", true, "The bridge."),
    PARAM_END,
};

/* The bridge's own port; null when it has none. */
static struct json_object *
local_object(const struct bridge *b)
{
    const struct port *p = bridge_local(b);
    struct json_object *o;

    if (!p)
        return NULL;
    o = json_object_new_object();
    json_add_text(o, "state", port_state_name(p->link));
    methods_add_mac(o, p->live.mac);
    json_add_uint(o, "mtu", p->live.mtu);
    json_add_uint(o, "ofport", p->ofport);
    return o;
}

/* What controllers see of it; management: null when it does not listen. */
static void
add_openflow(struct json_object *o, const struct daemon *d,
             const struct conf_bridge *cb)
{
    const char *path = ofd_management_path(d, cb->name);
    char id[17];

    snprintf(id, sizeof(id), "%016llx",
             (unsigned long long) ofd_datapath_id(d, cb));
    json_add_text(o, "datapath_id", id);
    json_add_text(o, "fail_mode", conf_fail_mode_name(cb->of.fail_mode));
    json_object_object_add(o, "management",
                           path ? json_object_new_string(path) : NULL);
}

struct json_object *
methods_bridge_object(struct daemon *d, const struct conf_bridge *cb)
{
    struct bridge *b = daemon_find_bridge(d, cb->name);
    const struct buf_pool *pool = dp_buf_pool(b->dp);
    const struct pkt_pool *pkts = dp_pool(b->dp);
    struct json_object *o = json_object_new_object();
    struct json_object *ports = json_object_new_array();
    struct json_object *buffer = json_object_new_object();

    for (uint32_t i = 0; i < cb->n_ports; i++)
        json_object_array_add(ports,
                              json_object_new_string(cb->ports[i]->name));
    json_add_text(o, "name", cb->name);
    json_add_uint(o, "memory_bytes", cb->memory_bytes);
    json_add_uint(o, "max_frame_bytes", cb->max_frame_bytes);
    json_add_uint(o, "mac_ageing_s", cb->mac_ageing_s);
    json_add_bool(o, "forward_reserved", cb->forward_reserved);
    json_add_uint(o, "cell_bytes", cb->cell_bytes);
    json_add_uint(o, "headroom_pool_bytes", b->plan->hdrm_pool_bytes);
    json_add_uint(o, "headroom_ratio", cb->headroom_ratio);
    json_add_bool(o, "drop_lossless_unknown", cb->drop_unknown);
    add_openflow(o, d, cb);
    json_add_uint(o, "n_ports", cb->n_ports);
    json_object_object_add(o, "ports", ports);
    json_object_object_add(o, "local", local_object(b));
    json_add_uint(o, "mac_entries",
                  counter_get(&mactab_counters(dp_mactab(b->dp))->n_entries));
    json_add_uint(buffer, "memory_bytes", cb->memory_bytes);
    json_add_uint(buffer, "shared_bytes", b->plan->shared_bytes);
    json_add_uint(buffer, "shared_used", counter_get(&pool->shared_used));
    json_add_uint(buffer, "shared_peak", counter_get(&pool->shared_peak));
    json_add_uint(buffer, "n_buffers", pkt_pool_n_buffers(pkts));
    json_add_uint(buffer, "n_free", pkt_pool_n_free(pkts));
    json_object_object_add(o, "buffer", buffer);
    json_add_uint(o, "stall_ns", bridge_stall_ns(b));
    json_add_uint(o, "stall_max_ns", counter_get(&dp_stall(b->dp)->max_ns));
    json_add_uint(o, "stall_allowed_ns", b->allowed_ns);
    json_add_uint(o, "wakeups", dp_thread_n_wakeups(b->thread));
    json_add_uint(o, "events_lost", dp_events_lost(b->dp));
    return o;
}

static int
answer(struct daemon *d, const char *name, struct json_object **result,
       struct err *err)
{
    struct conf_bridge *cb;
    int error = conf_need_bridge(d->conf, name, &cb, err);

    if (!error)
        *result = methods_bridge_object(d, cb);
    return error;
}

/* Edits a bridge of `to` with what params hold beside the name. */
static int
edit(struct conf_bridge *cb, struct json_object *params, struct err *err)
{
    static const char *const not_members[] = {"name", NULL};
    struct json_object *members = json_without(params, not_members);
    char path[48];
    int error;

    snprintf(path, sizeof(path), "/bridges/%s", cb->name);
    error = conf_bridge_edit(cb, members, path, err);
    json_object_put(members);
    return error;
}

static int
bridge_add(void *ctx, struct rpc_client *client, struct json_object *params,
           struct json_object **result, struct err *err)
{
    const char *name = json_get_text(params, "name", "");
    struct conf *to = txn_begin(ctx);
    struct conf_bridge *cb;
    int error = conf_add_bridge(to, name, &cb, err);
    const struct conf *now = ((struct daemon *) ctx)->conf;

    (void) client;
    /* An override is of all bridges, those that come later too. */
    if (!error && now->n_bridges)
        cb->watchdog_override = now->bridges[0]->watchdog_override;
    if (!error)
        error = edit(cb, params, err);
    error = txn_end(ctx, to, error, err);
    return error ? error : answer(ctx, name, result, err);
}

static int
bridge_set(void *ctx, struct rpc_client *client, struct json_object *params,
           struct json_object **result, struct err *err)
{
    const char *name = json_get_text(params, "name", "");
    struct conf *to = txn_begin(ctx);
    struct conf_bridge *cb;
    int error = conf_need_bridge(to, name, &cb, err);

    (void) client;
    if (!error)
        error = edit(cb, params, err);
    error = txn_end(ctx, to, error, err);
    return error ? error : answer(ctx, name, result, err);
}

static int
bridge_del(void *ctx, struct rpc_client *client, struct json_object *params,
           struct json_object **result, struct err *err)
{
    struct conf *to = txn_begin(ctx);
    int error = conf_del_bridge(to, json_get_text(params, "name", ""), err);

    (void) client;
    error = txn_end(ctx, to, error, err);
    if (!error)
        *result = json_object_new_object();
    return error;
}

static int
bridge_list(void *ctx, struct rpc_client *client, struct json_object *params,
            struct json_object **result, struct err *err)
{
    struct daemon *d = ctx;
    struct json_object *a = json_object_new_array();

    (void) client;
    (void) params;
    (void) err;
    for (uint32_t i = 0; i < d->conf->n_bridges; i++)
        json_object_array_add(a,
                              methods_bridge_object(d, d->conf->bridges[i]));
    *result = a;
    return 0;
}

static int
bridge_show(void *ctx, struct rpc_client *client, struct json_object *params,
            struct json_object **result, struct err *err)
{
    (void) client;
    return answer(ctx, json_get_text(params, "name", ""), result, err);
}

#define RESULT_BRIDGE                                                        \
    "A bridge: name, memory_bytes, max_frame_bytes, mac_ageing_s, "          \
    "forward_reserved, drop_lossless_unknown, cell_bytes, "                  \
    "headroom_pool_bytes (in force; 0: none), "                              \
    "headroom_ratio, datapath_id, fail_mode, management (path of its "       \
    "OpenFlow socket, or null), n_ports, ports (names), local (its own "     \
    "port: state, mac, mtu, ofport; null: it has none), mac_entries "        \
    "(learned now), "                                                        \
    "buffer (memory_bytes, shared_bytes, shared_used, shared_peak, "         \
    "n_buffers, n_free), stall_ns (99.99 percentile of what its thread was " \
    "late), stall_max_ns, stall_allowed_ns (what automatic headrooms allow " \
    "for), wakeups, events_lost."

const struct rpc_method methods_bridge[] = {
    {
        .name = "bridge.add",
        .doc = "Adds a bridge, with a datapath thread of its own.",
        .params = bridge_params,
        .result = RESULT_BRIDGE,
        .example = "{\"name\": \"br0\", \"memory_bytes\": \"32M\"}",
        .changes = true,
        .handler = bridge_add,
    },
    {
        .name = "bridge.del",
        .doc = "Removes a bridge with its ports.  Pauses that it holds on "
               "peers are released; frames that it holds are lost.",
        .params = name_params,
        .result = "An empty object.",
        .example = "{\"name\": \"br0\"}",
        .changes = true,
        .handler = bridge_del,
    },
    {
        .name = "bridge.set",
        .doc = "Changes a bridge; what is not given stays as it is.",
        .params = bridge_params,
        .result = RESULT_BRIDGE,
        .example = "{\"name\": \"br0\", \"mac_ageing_s\": 600}",
        .changes = true,
        .handler = bridge_set,
    },
    {
        .name = "bridge.list",
        .doc = "Lists the bridges, by name.",
        .result = "An array of what bridge.show answers.",
        .example = "{}",
        .handler = bridge_list,
    },
    {
        .name = "bridge.show",
        .doc = "Shows one bridge.",
        .params = name_params,
        .result = RESULT_BRIDGE,
        .example = "{\"name\": \"br0\"}",
        .handler = bridge_show,
    },
    {.name = NULL},
};
