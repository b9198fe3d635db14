/* SPDX-License-Identifier: Apache-2.0
 *
 * Subscribing to events.  Control thread.
 */
#include "methods.h"

#include "events.h"
#include "json.h"
#include "rpc_server.h"

#include <string.h>

static int
subscribe(void *ctx, struct rpc_client *client, struct json_object *params,
          struct json_object **result, struct err *err)
{
    const char *port = json_get_text(params, "port", "");
    struct json_object *types = json_get(params, "types");
    struct json_object *a;
    struct port_view v;
    unsigned kinds = types ? 0 : EVENT_ALL;
    int error = port[0] ? methods_find_port(ctx, port, &v, err) : 0;

    if (error)
        return error;
    for (size_t i = 0; types && i < json_object_array_length(types); i++)
        for (int k = 0; event_names[k]; k++)
            if (!strcmp(event_names[k],
                        json_object_get_string(
                            json_object_array_get_idx(types, i))))
                kinds |= 1u << k;
    rpc_client_subscribe(client, kinds, port);
    a = json_object_new_array();
    for (int k = 0; event_names[k]; k++)
        if (kinds >> k & 1)
            json_object_array_add(a, json_object_new_string(event_names[k]));
    *result = json_object_new_object();
    json_object_object_add(*result, "subscribed", a);
    return 0;
}

static int
unsubscribe(void *ctx, struct rpc_client *client, struct json_object *params,
            struct json_object **result, struct err *err)
{
    (void) ctx;
    (void) params;
    (void) err;
    rpc_client_subscribe(client, 0, "");
    *result = json_object_new_object();
    return 0;
}

static const struct rpc_param type_item = {.type = RPC_T_STRING,
                                           .choices = event_names};

static const struct rpc_param subscribe_params[] = {
    {.name = "types",
     .type = RPC_T_ARRAY,
     .min = 1,
     .max = 16,
     .items = &type_item,
     .doc = "Kinds of events; all when not given."},
    PARAM_NAME("port", false,
               "Only events of this port (and changes of the "
               "configuration)."),
    PARAM_END,
};

const struct rpc_method methods_events[] = {
    {
        .name = "events.subscribe",
        .doc =
            "Has notifications sent on this connection from now on: "
            "{\"method\": \"event\", \"params\": {...}}.  Replaces what was "
            "subscribed before.  Each has type, time (RFC 3339, UTC), "
            "bridge and port, and: xoff and xon (a group of ours pauses its "
            "peer, or lets go) group, priorities, held_bytes, limit_bytes, "
            "cause (the egress queue that holds most of it: port, queue, "
            "bytes; or null), xon also lasted_ns; pause and resume (the peer "
            "pauses us) priority, queue, resume also lasted_ns; storm and "
            "restored (the watchdog) priority, queue, lasted_ns, storm also "
            "action, restored also tx_ok, tx_drop, rx_ok, rx_drop; stuck (the "
            "guard) as xon; violation (a "
            "lossless frame was lost) priority (null when the kernel lost "
            "it), reason, frames; link state; config changed.  Of xoff, "
            "xon, pause and resume at most 100 per port and second are "
            "sent; how many were held back is in suppressed of the next.",
        .params = subscribe_params,
        .result = "An object: subscribed (array of kinds).",
        .example = "{\"types\": [\"xoff\", \"xon\", \"violation\"]}",
        .handler = subscribe,
    },
    {
        .name = "events.unsubscribe",
        .doc = "Ends the notifications on this connection.",
        .result = "An empty object.",
        .example = "{}",
        .handler = unsubscribe,
    },
    {.name = NULL},
};
