/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods on drills: a storm of PFC out of a port, or a queue that is held, on
 * purpose and for a bounded time.  They are no configuration: a restart ends
 * them, and so does the removal of the port.  Control thread.
 */
#include "methods.h"

#include "json.h"

#define MAX_MS ((int64_t) (DP_DRILL_MAX_NS / 1000000))

/* What is done on the datapath's thread. */
struct drill_call {
    uint16_t slot;        /* of the port */
    bool storm;           /* or hold */
    bool stop;            /* or neither */
    uint8_t bits;         /* priorities, or queues */
    uint64_t ns;          /* how long */
    struct dp_drills now; /* what goes on afterwards */
};

static void
call(struct dp *dp, void *arg)
{
    struct drill_call *c = arg;

    if (c->stop)
        dp_drill_stop(dp, c->slot);
    else if (c->bits && c->storm)
        dp_drill_storm(dp, c->slot, c->bits, c->ns);
    else if (c->bits)
        dp_drill_hold(dp, c->slot, c->bits, c->ns);
    dp_drill_get(dp, c->slot, &c->now);
}

static int
begin(struct daemon *d, struct json_object *params, const char *what,
      bool storm, struct json_object **result, struct err *err)
{
    struct json_object *numbers = json_get(params, what);
    struct drill_call c = {.storm = storm};
    struct port_view v;
    int error =
        methods_find_port(d, json_get_text(params, "port", ""), &v, err);

    if (error)
        return error;
    for (size_t i = 0; i < json_object_array_length(numbers); i++)
        c.bits |= (uint8_t) (1u << json_object_get_int(
                                 json_object_array_get_idx(numbers, i)));
    c.slot = v.port->slot;
    c.ns = (uint64_t) json_get_int(params, "duration_ms", 0) * 1000000;
    bridge_call(v.bridge, call, &c);
    *result = json_object_new_object();
    return 0;
}

static int
drill_storm(void *ctx, struct rpc_client *client, struct json_object *params,
            struct json_object **result, struct err *err)
{
    (void) client;
    return begin(ctx, params, "priorities", true, result, err);
}

static int
drill_hold(void *ctx, struct rpc_client *client, struct json_object *params,
           struct json_object **result, struct err *err)
{
    (void) client;
    return begin(ctx, params, "queues", false, result, err);
}

static void
stop_port(const struct port_view *v, struct json_object *to)
{
    struct drill_call c = {.slot = v->port->slot, .stop = true};

    (void) to;
    bridge_call(v->bridge, call, &c);
}

static int
drill_stop(void *ctx, struct rpc_client *client, struct json_object *params,
           struct json_object **result, struct err *err)
{
    struct json_object *none = NULL;
    int error = methods_each_port(ctx, params, stop_port, &none, err);

    (void) client;
    json_object_put(none);
    if (!error)
        *result = json_object_new_object();
    return error;
}

static void
add_drill(const struct port_view *v, const char *kind, const char *member,
          int number, uint64_t left_ns, struct json_object *to)
{
    struct json_object *o = json_object_new_object();

    json_add_text(o, "port", v->port->name);
    json_add_text(o, "bridge", v->bridge->name);
    json_add_text(o, "drill", kind);
    json_add_uint(o, member, (uint64_t) number);
    json_add_uint(o, "left_ns", left_ns);
    json_object_array_add(to, o);
}

static void
add_drills(const struct port_view *v, struct json_object *to)
{
    struct drill_call c = {.slot = v->port->slot};

    bridge_call(v->bridge, call, &c);
    for (int i = 0; i < 8; i++)
        if (c.now.storm_prios >> i & 1)
            add_drill(v, "storm", "priority", i, c.now.storm_left_ns[i], to);
    for (int i = 0; i < 8; i++)
        if (c.now.hold_queues >> i & 1)
            add_drill(v, "hold", "queue", i, c.now.hold_left_ns[i], to);
}

static int
drill_show(void *ctx, struct rpc_client *client, struct json_object *params,
           struct json_object **result, struct err *err)
{
    (void) client;
    return methods_each_port(ctx, params, add_drills, result, err);
}

#define PARAM_EIGHTS(name_, doc_)                                         \
    {                                                                     \
        .name = (name_), .type = RPC_T_ARRAY, .required = true, .min = 1, \
        .max = 8, .items = &param_eight, .doc = (doc_),                   \
    }
#define PARAM_DURATION                                                        \
    {                                                                         \
        .name = "duration_ms", .type = RPC_T_INT, .required = true, .min = 1, \
        .max = MAX_MS, .unit = RPC_U_MS, .doc = "How long.",                  \
    }

static const struct rpc_param storm_params[] = {
    PARAM_NAME("port", true, "The port that PFC is sent from."),
    PARAM_EIGHTS("priorities", "Priorities that its peer is told to stop."),
    PARAM_DURATION,
    PARAM_END,
};

static const struct rpc_param hold_params[] = {
    PARAM_NAME("port", true, "The port."),
    PARAM_EIGHTS("queues", "Its queues that send nothing."),
    PARAM_DURATION,
    PARAM_END,
};

static const struct rpc_param port_params[] = {
    PARAM_NAME("port", false, "Only this port."),
    PARAM_END,
};

const struct rpc_method methods_drill[] = {
    {
        .name = "drill.storm",
        .doc = "Sends XOFF for priorities out of a port, again and again, "
               "whether PFC is on there or not, and XON at the end: what a "
               "broken peer does.  Ends by itself, with the port, and with "
               "the daemon.",
        .params = storm_params,
        .result = "An empty object.",
        .example = "{\"port\": \"eth1\", \"priorities\": [3], "
                   "\"duration_ms\": \"2s\"}",
        .handler = drill_storm,
    },
    {
        .name = "drill.hold",
        .doc = "Holds egress queues as if the peer had paused them.  No storm "
               "to the watchdog, since no XOFF came.",
        .params = hold_params,
        .result = "An empty object.",
        .example = "{\"port\": \"eth1\", \"queues\": [3], \"duration_ms\": "
                   "500}",
        .handler = drill_hold,
    },
    {
        .name = "drill.stop",
        .doc = "Ends drills now.",
        .params = port_params,
        .result = "An empty object.",
        .example = "{}",
        .handler = drill_stop,
    },
    {
        .name = "drill.show",
        .doc = "Shows the drills that go on.",
        .params = port_params,
        .result = "An array of objects: port, bridge, drill (storm or hold), "
                  "priority (storm) or queue (hold), left_ns.",
        .example = "{}",
        .handler = drill_show,
    },
    {.name = NULL},
};
