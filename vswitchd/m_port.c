/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods on ports.  Control thread.
 */
#include "methods.h"

#include "json.h"
#include "qos/headroom.h"
#include "txn.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const types[] = {"afpacket", "afxdp", "auto",
                                    "tap",      "mem",   NULL};

#define PORT_MEMBERS                                                         \
    PARAM_INT("rate_bps", 0, (int64_t) CONF_MAX_RATE, RPC_U_BPS,             \
              "Line rate: egress is shaped to it, and pause times and "      \
              "headroom follow from it; 0: the interface's own speed, not "  \
              "shaped."),                                                    \
        PARAM_INT("cable_delay_ns", 0, CONF_MAX_CABLE_NS, RPC_U_NS,          \
                  "One-way delay of the cable; headroom follows."),          \
        PARAM_INT("cable_m", 0, 200000, RPC_U_NONE,                          \
                  "Its length in metres, in place of its delay: 1.98e8 "     \
                  "m/s."),                                                   \
        PARAM_BOOL("cable_emulated",                                         \
                   "Whether frames that leave are delayed by the cable "     \
                   "(default); false: there is a real one of that delay."),  \
        PARAM_INT("cell_bytes", 0, CONF_MAX_CELL, RPC_U_BYTES,               \
                  "Computed headrooms are whole cells of that size; 0: as "  \
                  "the bridge says."),                                       \
        PARAM_INT("ring_bytes", 0, CONF_MAX_RING, RPC_U_BYTES,               \
                  "Size of the receive ring; 0: automatic.  A change opens " \
                  "the ring anew: frames that lie in it are lost."),         \
        PARAM_INT("ofport", 0, CONF_MAX_OFPORT, RPC_U_NONE,                  \
                  "Number in OpenFlow, that no other port of the bridge "    \
                  "has; 0 (default): the lowest that is free, which then "   \
                  "stays."),                                                 \
        PARAM_BOOL("backpressure",                                           \
                   "Of a tap port with a rate: while a class is paused, "    \
                   "who sends of it to the tap waits."),                     \
        {.name = "mac",                                                      \
         .type = RPC_T_STRING,                                               \
         .min = 17,                                                          \
         .max = 17,                                                          \
         .doc = "Address of a tap port, as 02:00:00:00:00:01."},             \
        PARAM_OBJECT("vlan",                                                 \
                     "VLANs as in Open vSwitch: mode (trunk, access, "       \
                     "native-tagged, native-untagged), tag (0 to 4094), "    \
                     "trunks (array; empty: all)."),                         \
        PARAM_OBJECT("pfc", "PFC: priorities (array of 0 to 7), asymmetric " \
                            "(honour all eight), quanta (1 to 65535)."),     \
        PARAM_OBJECT("pause", "802.3x PAUSE: rx, tx; not together with "     \
                              "PFC."),                                       \
        PARAM_OBJECT("map", "Maps that differ from the bridge's: see "       \
                            "map.set."),                                     \
        PARAM_OBJECT("groups", "Ingress priority groups by number: see "     \
                               "buffer.set."),                               \
        PARAM_OBJECT("queues", "Egress queues by number: see queue.set.")

static const struct rpc_param add_params[] = {
    PARAM_NAME("bridge", true, "The bridge that it is added to."),
    PARAM_NAME("name", true, "The interface; unique in the daemon."),
    {.name = "type",
     .type = RPC_T_STRING,
     .choices = types,
     .doc = "afpacket (default): an interface that exists; afxdp: the same "
            "through AF_XDP, without copies; auto: afxdp where the driver "
            "has native XDP and it works, else afpacket; tap: one that the "
            "daemon makes, and that lives as long as it; mem: in memory, for "
            "tests."},
    PORT_MEMBERS,
    PARAM_END,
};

static const struct rpc_param set_params[] = {
    PARAM_NAME("name", true, "The port."),
    PORT_MEMBERS,
    PARAM_END,
};

static const struct rpc_param name_params[] = {
    PARAM_NAME("name", true, "The port."),
    PARAM_END,
};

static const struct rpc_param list_params[] = {
    PARAM_NAME("bridge", false, "Only the ports of this bridge."),
    PARAM_END,
};

void
methods_add_mac(struct json_object *o, const uint8_t mac[6])
{
    char text[18];

    snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0],
             mac[1], mac[2], mac[3], mac[4], mac[5]);
    json_add_text(o, "mac", text);
}

/* What a port of type auto became, and how AF_XDP works there, or why neither
 * is to be had. */
static void
add_provider(struct json_object *o, const struct port *p)
{
    const struct netdev *nd = p->netdev;

    if (!nd && p->refusal[0])
        json_add_text(o, "refusal", p->refusal);
    if (!nd)
        return;
    json_add_text(o, "provider", nd->cls->type);
    if (nd->mode)
        json_add_text(o, "xdp_mode", nd->mode);
    if (nd->fallback[0])
        json_add_text(o, "fallback", nd->fallback);
}

struct json_object *
methods_port_object(const struct port_view *v, bool full)
{
    struct json_object *config = conf_port_to_json(v->cp);
    struct json_object *o = json_object_new_object();

    json_add_text(o, "name", v->port->name);
    json_add_text(o, "bridge", v->bridge->name);
    json_add_text(o, "type", v->port->cls->type);
    add_provider(o, v->port);
    json_add_uint(o, "slot", v->port->slot);
    json_add_uint(o, "ofport", v->port->ofport);
    json_add_text(o, "state", port_state_name(v->port->link));
    methods_add_mac(o, v->port->live.mac);
    json_add_uint(o, "mtu", v->port->live.mtu);
    json_add_uint(o, "rate_bps", conf_port_rate(v->cp, &v->port->live));
    json_add_uint(o, "configured_rate_bps", v->cp->rate_bps);
    json_add_uint(o, "cable_delay_ns", v->cp->cable_delay_ns);
    json_add_bool(o, "cable_emulated", v->cp->cable_emulated);
    json_add_bool(o, "backpressure", v->cp->backpressure);
    json_object_object_add(o, "vlan",
                           json_object_get(json_get(config, "vlan")));
    json_object_object_add(o, "pfc", json_object_get(json_get(config, "pfc")));
    json_add_uint(o, "attached", v->port->n_attached);
    if (full)
        json_object_object_add(o, "config", config);
    else
        json_object_put(config);
    return o;
}

static int
answer(struct daemon *d, const char *name, struct json_object **result,
       struct err *err)
{
    struct port_view v;
    int error = methods_find_port(d, name, &v, err);

    if (!error)
        *result = methods_port_object(&v, true);
    return error;
}

/* What params hold beside the names in `without`, in the form of lib/conf. */
static int
read_members(struct json_object *params, const char *const without[],
             struct json_object **members, struct err *err)
{
    int64_t cable_m = json_get_int(params, "cable_m", -1);

    if (cable_m >= 0 && json_get(params, "cable_delay_ns"))
        return err_set(err, EINVAL, "/params/cable_m", NULL, "one of them",
                       "cable_m and cable_delay_ns say the same: allowed is "
                       "one of them");
    *members = json_without(params, without);
    if (cable_m >= 0) {
        json_object_object_del(*members, "cable_m");
        json_add_uint(*members, "cable_delay_ns",
                      headroom_cable_ns((uint64_t) cable_m * 1000));
    }
    return 0;
}

static int
port_add(void *ctx, struct rpc_client *client, struct json_object *params,
         struct json_object **result, struct err *err)
{
    static const char *const not_members[] = {"bridge", "name", "type", NULL};
    const char *name = json_get_text(params, "name", "");
    struct json_object *members;
    struct conf *to = txn_begin(ctx);
    struct conf_bridge *cb;
    struct conf_port *cp;
    char path[80];
    int error =
        conf_need_bridge(to, json_get_text(params, "bridge", ""), &cb, err);

    (void) client;
    if (!error)
        error =
            conf_add_port(to, cb, name,
                          json_get_text(params, "type", types[0]), &cp, err);
    if (!error) {
        snprintf(path, sizeof(path), "/bridges/%s/ports/%s", cb->name, name);
        error = read_members(params, not_members, &members, err);
    }
    if (!error) {
        error = conf_port_edit(cp, members, path, err);
        json_object_put(members);
    }
    error = txn_end(ctx, to, error, err);
    return error ? error : answer(ctx, name, result, err);
}

static int
port_del(void *ctx, struct rpc_client *client, struct json_object *params,
         struct json_object **result, struct err *err)
{
    struct conf *to = txn_begin(ctx);
    int error = conf_del_port(to, json_get_text(params, "name", ""), err);

    (void) client;
    error = txn_end(ctx, to, error, err);
    if (!error)
        *result = json_object_new_object();
    return error;
}

static int
port_set(void *ctx, struct rpc_client *client, struct json_object *params,
         struct json_object **result, struct err *err)
{
    static const char *const not_members[] = {"name", NULL};
    const char *name = json_get_text(params, "name", "");
    struct json_object *members;
    int error = read_members(params, not_members, &members, err);

    (void) client;
    if (error)
        return error;
    error = methods_edit_port(ctx, name, members, err);
    json_object_put(members);
    return error ? error : answer(ctx, name, result, err);
}

static void
add_row(const struct port_view *v, struct json_object *to)
{
    json_object_array_add(to, methods_port_object(v, false));
}

static int
port_list(void *ctx, struct rpc_client *client, struct json_object *params,
          struct json_object **result, struct err *err)
{
    const char *name = json_get_text(params, "bridge", NULL);
    struct daemon *d = ctx;
    struct json_object *a;
    struct conf_bridge *cb;
    struct port_view v;
    int error;

    (void) client;
    if (!name)
        return methods_each_port(d, params, add_row, result, err);
    error = conf_need_bridge(d->conf, name, &cb, err);
    if (error)
        return error;
    a = json_object_new_array();
    for (uint32_t i = 0; i < cb->n_ports; i++)
        if (!methods_find_port(d, cb->ports[i]->name, &v, err))
            add_row(&v, a);
    *result = a;
    return 0;
}

static int
port_show(void *ctx, struct rpc_client *client, struct json_object *params,
          struct json_object **result, struct err *err)
{
    (void) client;
    return answer(ctx, json_get_text(params, "name", ""), result, err);
}

#define RESULT_PORT                                                           \
    "name, bridge, type, provider (what it is now: of an auto port afxdp or " \
    "afpacket), xdp_mode (of afxdp: native, native-zerocopy or generic), "    \
    "fallback (of auto: why it is not afxdp), slot, ofport (number in "       \
    "OpenFlow), state (up, "                                                  \
    "down: no carrier or set down, "                                          \
    "absent: there is no such interface now, or it cannot be opened), "       \
    "refusal (of an absent port: why that is), mac, mtu, rate_bps (that is "  \
    "in force), configured_rate_bps, cable_delay_ns, cable_emulated, "        \
    "backpressure, vlan, pfc, attached (times that the interface was "        \
    "opened)"

const struct rpc_method methods_port[] = {
    {
        .name = "port.add",
        .doc = "Adds a port to a bridge.  One that is on an interface (type "
               "afpacket, afxdp or auto) needs one that exists; should it go "
               "later, the port waits for it, and goes on when one of its "
               "name comes back.",
        .params = add_params,
        .result =
            "A port: " RESULT_PORT ", config (all of its configuration).",
        .example = "{\"bridge\": \"br0\", \"name\": \"eth1\", \"rate_bps\": "
                   "\"200M\", \"pfc\": {\"priorities\": [3]}}",
        .changes = true,
        .handler = port_add,
    },
    {
        .name = "port.del",
        .doc = "Takes a port out of its bridge.  Pauses that it holds on its "
               "peer are released; frames that are queued for it are lost.",
        .params = name_params,
        .result = "An empty object.",
        .example = "{\"name\": \"eth1\"}",
        .changes = true,
        .handler = port_del,
    },
    {
        .name = "port.set",
        .doc = "Changes a port; what is not given stays as it is.  Thresholds "
               "change under traffic without loss.",
        .params = set_params,
        .result =
            "A port: " RESULT_PORT ", config (all of its configuration).",
        .example = "{\"name\": \"eth1\", \"vlan\": {\"mode\": \"access\", "
                   "\"tag\": 10}}",
        .changes = true,
        .handler = port_set,
    },
    {
        .name = "port.list",
        .doc = "Lists ports, by bridge and name.",
        .params = list_params,
        .result = "An array of ports: " RESULT_PORT ".",
        .example = "{}",
        .handler = port_list,
    },
    {
        .name = "port.show",
        .doc = "Shows one port.",
        .params = name_params,
        .result =
            "A port: " RESULT_PORT ", config (all of its configuration).",
        .example = "{\"name\": \"eth1\"}",
        .handler = port_show,
    },
    {.name = NULL},
};
