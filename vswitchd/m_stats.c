/* SPDX-License-Identifier: Apache-2.0
 *
 * Counters of ports: what was received, sent, and lost, the kernel's own
 * losses included.  Control thread.
 */
#include "methods.h"

#include "json.h"

void
methods_add_kernel_drops(const struct netdev_stats *nd, struct json_object *to)
{
    json_add_uint(to, "kernel-ring", nd->rx_ring_drops);
    json_add_uint(to, "kernel-backlog", nd->rx_backlog_drops);
    json_add_uint(to, "kernel-tx", nd->tx_queue_drops);
    json_add_uint(to, "rx-oversize", nd->rx_oversize);
    json_add_uint(to, "rx-bad", nd->rx_bad);
    json_add_uint(to, "tx-error", nd->tx_errors);
}

static struct json_object *
drops_of(const struct counts *c)
{
    struct json_object *o = json_drops(c->n.drops, true);

    methods_add_kernel_drops(&c->nd, o);
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
    json_add_uint(o, "n_ring_pauses", s->n_ring_pauses);
    json_add_uint(o, "n_holds", s->n_holds);
    json_add_uint(o, "hold_failed", s->hold_failed);
    json_add_uint(o, "hold_worst_ns", s->hold_worst_ns);
    return o;
}

static struct json_object *
groups_of(const struct port_view *v, const struct dp_port_counters *n)
{
    struct json_object *a = json_object_new_array();

    for (int g = 0; g < N_PG; g++) {
        const struct buf_group *bg = dp_port_group(v->port->state, g);
        struct json_object *o = json_object_new_object();

        json_add_uint(o, "rx_frames", n->pg_rx_frames[g]);
        json_add_uint(o, "rx_bytes", n->pg_rx_bytes[g]);
        json_add_uint(o, "drops", n->pg_drops[g]);
        json_add_uint(o, "drop_bytes", n->pg_drop_bytes[g]);
        json_add_uint(o, "violations", n->pg_violations[g]);
        json_add_uint(o, "held_frames", counter_get(&bg->n_held));
        json_add_uint(o, "held_bytes", buf_group_held(bg));
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

        json_add_uint(o, "tx_frames", n->q_tx_frames[q]);
        json_add_uint(o, "tx_bytes", n->q_tx_bytes[q]);
        json_add_uint(o, "drops", n->q_drops[q]);
        json_add_uint(o, "drop_bytes", n->q_drop_bytes[q]);
        json_object_object_add(o, "drops_by_reason",
                               json_drops(n->queue_drops[q], false));
        json_add_uint(o, "frames", n->q_frames[q]);
        json_add_uint(o, "bytes", n->q_bytes[q]);
        json_object_array_add(a, o);
    }
    return a;
}

static void
add_stats(const struct port_view *v, struct json_object *to)
{
    struct json_object *o = json_object_new_object();
    struct counts c;

    if (v->port->netdev && v->port->netdev->cls->poll_kernel)
        v->port->netdev->cls->poll_kernel(v->port->netdev);
    counts_get(v->port, v->raw, &c);
    json_add_text(o, "port", v->port->name);
    json_add_text(o, "bridge", v->bridge->name);
    json_add_text(o, "state", port_state_name(v->port->link));
    json_add_uint(o, "rx_frames", c.n.rx_frames);
    json_add_uint(o, "rx_bytes", c.n.rx_bytes);
    json_add_uint(o, "tx_frames", c.n.tx_frames);
    json_add_uint(o, "tx_bytes", c.n.tx_bytes);
    json_object_object_add(o, "drops", drops_of(&c));
    json_object_object_add(o, "drop_bytes", json_drops(c.n.drop_bytes, true));
    json_object_object_add(o, "violations",
                           json_counters(c.n.violations, N_PRIO));
    json_add_uint(o, "violations_unknown", c.kernel_violations);
    json_add_uint(o, "copies", c.n.copies);
    json_add_uint(o, "held", c.n.held);
    json_add_uint(o, "cable_frames", c.n.cable_frames);
    json_object_object_add(o, "groups", groups_of(v, &c.n));
    json_object_object_add(o, "queues", queues_of(&c.n));
    json_object_object_add(o, "netdev", netdev_of(&c.nd));
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
    PARAM_RAW,
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
                  "drops (frames, by reason), drop_bytes (of those that the "
                  "datapath dropped), violations (lossless frames lost, by "
                  "priority), violations_unknown (frames that the kernel lost "
                  "while a class was lossless), copies, held (queued or on "
                  "the cable), "
                  "cable_frames (of held), groups and "
                  "queues (arrays of eight), netdev (counters of the "
                  "interface).",
        .example = "{\"port\": \"eth1\"}",
        .handler = stats_show,
    },
    {.name = NULL},
};
