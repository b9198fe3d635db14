/* SPDX-License-Identifier: Apache-2.0
 *
 * Counters of ports: what was received, sent, and lost, the kernel's own
 * losses included.  Control thread.
 */
#include "methods.h"

#include "json.h"

static struct json_object *
drops_of(const struct port_view *v, const struct netdev_stats *nd)
{
    const struct dp_port_counters *n = dp_port_counters(v->port->state);
    struct json_object *o = json_object_new_object();

    for (int i = 0; i < DP_N_DROPS; i++)
        json_add_uint(o, dp_drop_name((enum dp_drop) i),
                      counter_get(&n->drops[i]));
    json_add_uint(o, "kernel-ring", nd->rx_ring_drops);
    json_add_uint(o, "kernel-backlog", nd->rx_backlog_drops);
    json_add_uint(o, "kernel-tx", nd->tx_queue_drops);
    json_add_uint(o, "rx-oversize", nd->rx_oversize);
    json_add_uint(o, "rx-bad", nd->rx_bad);
    json_add_uint(o, "tx-error", nd->tx_errors);
    return o;
}

static struct json_object *
netdev_of(const struct netdev_stats *s)
{
    struct json_object *o = json_object_new_object();

    json_add_uint(o, "rx_ring_drops", s->rx_ring_drops);
    json_add_uint(o, "rx_backlog_drops", s->rx_backlog_drops);
    json_add_uint(o, "rx_oversize", s->rx_oversize);
    json_add_uint(o, "rx_bad", s->rx_bad);
    json_add_uint(o, "rx_gso", s->rx_gso);
    json_add_uint(o, "rx_no_buffer", s->rx_no_buffer);
    json_add_uint(o, "tx_again", s->tx_again);
    json_add_uint(o, "tx_errors", s->tx_errors);
    json_add_uint(o, "tx_queue_drops", s->tx_queue_drops);
    json_add_uint(o, "n_ring_slots", s->n_ring_slots);
    json_add_uint(o, "ring_peak", s->ring_peak);
    return o;
}

static struct json_object *
groups_of(const struct dp_port_counters *n)
{
    struct json_object *a = json_object_new_array();

    for (int g = 0; g < N_PG; g++) {
        struct json_object *o = json_object_new_object();

        json_add_uint(o, "rx_frames", counter_get(&n->pg_rx_frames[g]));
        json_add_uint(o, "rx_bytes", counter_get(&n->pg_rx_bytes[g]));
        json_add_uint(o, "drops", counter_get(&n->pg_drops[g]));
        json_object_array_add(a, o);
    }
    return a;
}

static struct json_object *
queues_of(const struct dp_port_counters *n)
{
    struct json_object *a = json_object_new_array();

    for (int q = 0; q < N_QUEUE; q++) {
        struct json_object *o = json_object_new_object();

        json_add_uint(o, "tx_frames", counter_get(&n->q_tx_frames[q]));
        json_add_uint(o, "tx_bytes", counter_get(&n->q_tx_bytes[q]));
        json_add_uint(o, "drops", counter_get(&n->q_drops[q]));
        json_object_array_add(a, o);
    }
    return a;
}

static void
add_stats(const struct port_view *v, struct json_object *to)
{
    const struct dp_port_counters *n = dp_port_counters(v->port->state);
    struct json_object *o = json_object_new_object();
    struct netdev_stats nd;

    if (v->port->netdev && v->port->netdev->cls->poll_kernel)
        v->port->netdev->cls->poll_kernel(v->port->netdev);
    port_stats(v->port, &nd);
    json_add_text(o, "port", v->port->name);
    json_add_text(o, "bridge", v->bridge->name);
    json_add_text(o, "state", port_state_name(v->port->link));
    json_add_uint(o, "rx_frames", counter_get(&n->rx_frames));
    json_add_uint(o, "rx_bytes", counter_get(&n->rx_bytes));
    json_add_uint(o, "tx_frames", counter_get(&n->tx_frames));
    json_add_uint(o, "tx_bytes", counter_get(&n->tx_bytes));
    json_object_object_add(o, "drops", drops_of(v, &nd));
    json_object_object_add(o, "violations",
                           json_counters(n->violations, N_PRIO));
    json_add_uint(o, "violations_unknown", v->port->kernel_violations);
    json_add_uint(o, "copies", counter_get(&n->copies));
    json_add_uint(o, "held", counter_get(&n->held));
    json_object_object_add(o, "groups", groups_of(n));
    json_object_object_add(o, "queues", queues_of(n));
    json_object_object_add(o, "netdev", netdev_of(&nd));
    json_object_array_add(to, o);
}

static int
stats_show(void *ctx, struct rpc_client *client, struct json_object *params,
           struct json_object **result, struct err *err)
{
    (void) client;
    return methods_each_port(ctx, params, add_stats, result, err);
}

static const struct rpc_param show_params[] = {
    PARAM_NAME("port", false, "Only this port."),
    PARAM_END,
};

const struct rpc_method methods_stats[] = {
    {
        .name = "stats.show",
        .doc =
            "Counts frames and bytes of the ports, and every frame that was "
            "lost, by reason; what the kernel lost before we saw it "
            "(kernel-ring: our receive ring was full; kernel-backlog: its "
            "own queue) or after we gave it away (kernel-tx) too.",
        .params = show_params,
        .result = "An array of objects: port, bridge, state, rx_frames, "
                  "rx_bytes, tx_frames, tx_bytes (data, without MAC control), "
                  "drops (by reason), violations (lossless frames lost, by "
                  "priority), violations_unknown (frames that the kernel lost "
                  "while a class was lossless), copies, held, groups and "
                  "queues (arrays of eight), netdev (counters of the "
                  "interface).",
        .example = "{\"port\": \"eth1\"}",
        .handler = stats_show,
    },
    {.name = NULL},
};
