/* SPDX-License-Identifier: Apache-2.0
 *
 * The audit: do the books of a datapath agree with its frames?  Control
 * thread; the datapath's thread does the counting, between two turns.
 */
#include "methods.h"

#include "json.h"

#include <string.h>

static void
audit(struct dp *dp, void *arg)
{
    dp_audit(dp, arg);
}

/* What the interfaces lost, those of ports that were removed too. */
static void
sum_below(const struct bridge *b, struct netdev_stats *all)
{
    *all = b->past;
    for (int s = 0; s < DP_MAX_PORTS; s++) {
        struct port *p = b->ports[s];
        struct netdev_stats below;

        if (!p)
            continue;
        if (p->netdev && p->netdev->cls->poll_kernel)
            p->netdev->cls->poll_kernel(p->netdev);
        port_stats(p, &below);
        port_add_stats(all, &below);
    }
}

static void
add_drops(const struct bridge *b, const struct dp_audit *a,
          struct json_object *o)
{
    struct json_object *kernel = json_object_new_object();
    struct netdev_stats all;

    sum_below(b, &all);
    methods_add_kernel_drops(&all, kernel);
    json_object_object_add(o, "drops", json_drops(a->drops_by, true));
    json_object_object_add(o, "kernel_drops", kernel);
    /* What came to the interfaces, and what became of what we sent. */
    json_add_uint(o, "arrived",
                  a->rx + all.rx_ring_drops + all.rx_backlog_drops +
                      all.rx_oversize + all.rx_bad);
    json_add_uint(o, "left", a->tx - all.tx_queue_drops - all.tx_errors);
}

static struct json_object *
audit_object(struct bridge *b)
{
    struct json_object *o = json_object_new_object();
    struct dp_audit a;

    memset(&a, 0, sizeof(a));
    bridge_call(b, audit, &a);
    json_add_text(o, "bridge", b->name);
    json_add_bool(o, "ok", a.ok);
    json_add_uint(o, "rx", a.rx);
    json_add_uint(o, "copies", a.copies);
    json_add_uint(o, "to_controller", a.to_controller);
    json_add_uint(o, "tx", a.tx);
    json_add_uint(o, "held", a.held);
    json_add_uint(o, "on_cable", a.on_cable);
    json_add_uint(o, "dropped", a.drops);
    add_drops(b, &a, o);
    json_add_uint(o, "charged_bytes", a.charged_bytes);
    json_add_uint(o, "held_bytes", a.held_bytes);
    return o;
}

static int
audit_show(void *ctx, struct rpc_client *client, struct json_object *params,
           struct json_object **result, struct err *err)
{
    const char *name = json_get_text(params, "bridge", NULL);
    struct daemon *d = ctx;
    struct conf_bridge *cb;
    struct json_object *a;
    int error = name ? conf_need_bridge(d->conf, name, &cb, err) : 0;

    (void) client;
    if (error)
        return error;
    a = json_object_new_array();
    for (uint32_t i = 0; i < d->conf->n_bridges; i++)
        if (!name || !strcmp(d->conf->bridges[i]->name, name))
            json_object_array_add(a, audit_object(daemon_find_bridge(
                                         d, d->conf->bridges[i]->name)));
    *result = a;
    return 0;
}

static const struct rpc_param show_params[] = {
    PARAM_NAME("bridge", false, "Only this bridge."),
    PARAM_END,
};

const struct rpc_method methods_audit[] = {
    {
        .name = "audit.show",
        .doc = "Checks that no frame is unaccounted for: rx + copies = tx + "
               "held + dropped + to_controller over the whole bridge, that "
               "groups are charged "
               "exactly the bytes that are held, and that queues hold what "
               "they say.",
        .params = show_params,
        .result = "An array of objects: bridge, ok, rx, copies, tx, held, "
                  "on_cable (of held: on cables that are emulated), "
                  "to_controller (frames handed to controllers), "
                  "dropped (frames), drops (the same by reason), "
                  "kernel_drops (below the datapath, by reason), arrived (rx "
                  "and what was lost before it), left (tx without what was "
                  "lost after it), charged_bytes, held_bytes.  Ports that "
                  "were removed are in it, and clearing counters changes "
                  "nothing.",
        .example = "{}",
        .handler = audit_show,
    },
    {.name = NULL},
};
