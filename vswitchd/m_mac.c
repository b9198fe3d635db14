/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods on the table of learned addresses.  It belongs to the datapath's
 * thread, which is asked for a bounded part of it at a time.  Control thread.
 */
#include "methods.h"

#include "base/clock.h"
#include "json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAX_LISTED 10000
#define PER_CALL   256

struct dump {
    struct mactab_entry entries[PER_CALL]; /* what was found */
    uint32_t cursor;                       /* where to go on */
    uint32_t n;                            /* how many */
    uint64_t total;                        /* entries of the table */
};

static void
dump_some(struct dp *dp, void *arg)
{
    struct dump *x = arg;
    const struct mactab *t = dp_mactab(dp);

    x->n = mactab_dump(t, &x->cursor, x->entries, PER_CALL, clock_ns());
    x->total = counter_get(&mactab_counters(t)->n_entries);
}

static struct json_object *
entry_object(const struct bridge *b, const struct mactab_entry *e)
{
    struct json_object *o = json_object_new_object();
    const struct port *p = e->port < DP_MAX_PORTS ? b->ports[e->port] : NULL;
    char mac[18];

    snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", e->mac[0],
             e->mac[1], e->mac[2], e->mac[3], e->mac[4], e->mac[5]);
    json_add_uint(o, "vid", e->vid);
    json_add_text(o, "mac", mac);
    json_add_text(o, "port", p ? p->name : "");
    json_add_uint(o, "age_s", e->age_ns / NS_PER_S);
    json_add_bool(o, "static", e->is_static);
    return o;
}

static int
mac_list(void *ctx, struct rpc_client *client, struct json_object *params,
         struct json_object **result, struct err *err)
{
    struct daemon *d = ctx;
    int64_t left = json_get_int(params, "limit", 1000);
    struct conf_bridge *cb;
    struct json_object *o, *a;
    struct bridge *b;
    struct dump x = {.cursor = 0};
    int error = conf_need_bridge(d->conf, json_get_text(params, "bridge", ""),
                                 &cb, err);

    (void) client;
    if (error)
        return error;
    b = daemon_find_bridge(d, cb->name);
    a = json_object_new_array();
    do {
        bridge_call(b, dump_some, &x);
        for (uint32_t i = 0; i < x.n && left > 0; i++, left--)
            json_object_array_add(a, entry_object(b, &x.entries[i]));
    } while (x.n && left > 0);
    o = json_object_new_object();
    json_object_object_add(o, "entries", a);
    json_add_uint(o, "total", x.total);
    *result = o;
    return 0;
}

struct flush {
    int port;          /* slot, or -1 */
    int vid;           /* VLAN, or -1 */
    uint64_t n_before; /* entries */
    uint64_t n_after;
};

static void
flush(struct dp *dp, void *arg)
{
    struct mactab *t = dp_mactab(dp);
    struct flush *x = arg;

    x->n_before = counter_get(&mactab_counters(t)->n_entries);
    mactab_flush(t, x->port, x->vid);
    x->n_after = counter_get(&mactab_counters(t)->n_entries);
}

static int
mac_flush(void *ctx, struct rpc_client *client, struct json_object *params,
          struct json_object **result, struct err *err)
{
    struct daemon *d = ctx;
    const char *port = json_get_text(params, "port", NULL);
    struct flush x = {-1, (int) json_get_int(params, "vid", -1), 0, 0};
    struct conf_bridge *cb;
    struct port_view v;
    int error = conf_need_bridge(d->conf, json_get_text(params, "bridge", ""),
                                 &cb, err);

    (void) client;
    if (!error && port) {
        error = methods_find_port(d, port, &v, err);
        if (!error && v.cb != cb)
            error = err_set(err, ENOENT, "/params/port", port,
                            "a port of the bridge",
                            "port %s is in bridge %s, not in %s", port,
                            v.cb->name, cb->name);
        if (!error)
            x.port = v.port->slot;
    }
    if (error)
        return error;
    bridge_call(daemon_find_bridge(d, cb->name), flush, &x);
    *result = json_object_new_object();
    json_add_uint(*result, "removed", x.n_before - x.n_after);
    return 0;
}

static const struct rpc_param list_params[] = {
    PARAM_NAME("bridge", true, "The bridge."),
    PARAM_INT("limit", 1, MAX_LISTED, RPC_U_NONE,
              "Most entries to answer; 1000 when not given."),
    PARAM_END,
};

static const struct rpc_param flush_params[] = {
    PARAM_NAME("bridge", true, "The bridge."),
    PARAM_NAME("port", false, "Only addresses of this port."),
    PARAM_INT("vid", 0, CONF_MAX_VID, RPC_U_NONE,
              "Only addresses in this VLAN."),
    PARAM_END,
};

const struct rpc_method methods_mac[] = {
    {
        .name = "mac.list",
        .doc = "Lists learned addresses, in no order.",
        .params = list_params,
        .result = "An object: entries (array of vid, mac, port, age_s, "
                  "static), total (how many there are).",
        .example = "{\"bridge\": \"br0\"}",
        .handler = mac_list,
    },
    {
        .name = "mac.flush",
        .doc = "Forgets learned addresses: all of a bridge, of a port, of a "
               "VLAN, or of a port in a VLAN.",
        .params = flush_params,
        .result = "An object: removed (how many).",
        .example = "{\"bridge\": \"br0\", \"port\": \"eth1\"}",
        .handler = mac_flush,
    },
    {.name = NULL},
};
