/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods on egress queues.  Control thread.
 */
#include "methods.h"

#include "json.h"

static int
queue_set(void *ctx, struct rpc_client *client, struct json_object *params,
          struct json_object **result, struct err *err)
{
    struct json_object *edit = json_object_new_object();
    int error;

    (void) client;
    json_object_object_add(edit, "queues",
                           json_object_get(json_get(params, "queues")));
    error =
        methods_edit_port(ctx, json_get_text(params, "port", ""), edit, err);
    json_object_put(edit);
    if (!error)
        *result = json_object_new_object();
    return error;
}

/* The limit that holds now; of a lossless queue the one that is configured. */
static uint64_t
queue_limit(const struct port_view *v, int q)
{
    const struct dp_plan_queue *pq = &v->pp->queue[q];

    if (pq->alpha == BUF_ALPHA_NONE)
        return pq->limit_bytes;
    return buf_dynamic_limit(pq->alpha,
                             buf_pool_free(
                                 dp_buf_pool_at(v->bridge->dp, pq->pool)));
}

static struct json_object *
queue_object(const struct port_view *v, const struct dp_port_counters *n,
             uint64_t peak_bytes, int q)
{
    const struct conf_queue *cq = &v->cp->queue[q];
    uint8_t paused = counter_get_bits(&dp_port_pfc(v->port->state)->paused);
    struct json_object *o = json_object_new_object();
    unsigned prios = 0;

    for (int p = 0; p < N_PRIO; p++)
        if (v->pp->prio_to_queue[p] == q)
            prios |= 1u << p;
    json_add_text(o, "port", v->port->name);
    json_add_uint(o, "queue", (uint64_t) q);
    json_object_object_add(o, "priorities", json_bits((uint8_t) prios));
    json_add_text(o, "mode", cq->ets ? "ets" : "strict");
    json_add_uint(o, "weight", cq->weight);
    json_add_uint(o, "max_rate_bps", cq->max_rate_bps);
    json_add_text(o, "profile", cq->profile[0] ? cq->profile : "none");
    json_add_uint(o, "limit_bytes", queue_limit(v, q));
    json_add_alpha(o, v->pp->queue[q].alpha);
    json_add_uint(o, "wred_min_bytes", cq->wred_min_bytes);
    json_add_uint(o, "wred_max_bytes", cq->wred_max_bytes);
    json_add_uint(o, "wred_percent", cq->wred_percent);
    json_add_bool(o, "ecn", cq->ecn);
    json_add_bool(o, "lossless", v->pp->queue[q].lossless);
    json_add_bool(o, "paused", (prios & paused) != 0);
    json_add_uint(o, "frames", n->q_frames[q]);
    json_add_uint(o, "bytes", n->q_bytes[q]);
    json_add_uint(o, "peak_bytes", peak_bytes);
    json_add_uint(o, "tx_frames", n->q_tx_frames[q]);
    json_add_uint(o, "tx_bytes", n->q_tx_bytes[q]);
    json_add_uint(o, "drops", n->q_drops[q]);
    json_add_uint(o, "drop_bytes", n->q_drop_bytes[q]);
    json_object_object_add(o, "drops_by_reason",
                           json_drops(n->queue_drops[q], false));
    json_add_uint(o, "wred_drops", n->queue_drops[q][DP_DROP_WRED]);
    json_add_uint(o, "ecn_marked", n->q_ecn_marked[q]);
    return o;
}

static void
add_queues(const struct port_view *v, struct json_object *to)
{
    struct dp_port_peaks peaks;
    struct counts c;

    counts_get(v->port, v->raw, &c);
    marks_get(v->port, MARKS_USER, &peaks);
    for (int q = 0; q < N_QUEUE; q++)
        json_object_array_add(to, queue_object(v, &c.n, peaks.q_bytes[q], q));
}

static int
queue_show(void *ctx, struct rpc_client *client, struct json_object *params,
           struct json_object **result, struct err *err)
{
    (void) client;
    return methods_each_port(ctx, params, add_queues, result, err);
}

static const struct rpc_param set_params[] = {
    PARAM_NAME("port", true, "The port."),
    {.name = "queues",
     .type = RPC_T_OBJECT,
     .required = true,
     .doc = "By number (\"0\" to \"7\"): mode (strict or ets), weight (per "
            "cent), max_rate_bps (0: not limited), limit_bytes (a lossy queue "
            "drops above), alpha (limit of 2^alpha times what is free of the "
            "pool in its place, -7 to 3, or \"none\"), profile (whose limit "
            "holds in place of both, or \"none\"), wred_min_bytes, "
            "wred_max_bytes (0: no early "
            "detection), wred_percent (probability at the maximum), ecn "
            "(whether to mark what can be marked).  All in one call, since "
            "the weights of the ETS "
            "queues sum to 100."},
    PARAM_END,
};

static const struct rpc_param show_params[] = {
    PARAM_NAME("port", false, "Only this port."),
    PARAM_RAW,
    PARAM_END,
};

const struct rpc_method methods_queue[] = {
    {
        .name = "queue.set",
        .doc = "Changes egress queues: transmission selection, maximum rate, "
               "limit.  What is not given stays as it is.",
        .params = set_params,
        .result = "An empty object.",
        .example = "{\"port\": \"eth1\", \"queues\": {\"0\": {\"mode\": "
                   "\"ets\", \"weight\": 30}, \"3\": {\"mode\": \"ets\", "
                   "\"weight\": 70}}}",
        .changes = true,
        .handler = queue_set,
    },
    {
        .name = "queue.show",
        .doc = "Shows the egress queues.",
        .params = show_params,
        .result =
            "An array of objects: port, queue, priorities, mode, weight, "
            "max_rate_bps, profile, limit_bytes (that holds now), alpha, "
            "wred_min_bytes, wred_max_bytes, "
            "wred_percent, ecn, lossless, paused, frames and bytes (queued "
            "now), peak_bytes (user watermark), tx_frames, tx_bytes, drops "
            "(all), drop_bytes, drops_by_reason (of the reasons that there "
            "were), wred_drops (those by early detection), ecn_marked.",
        .example = "{\"port\": \"eth1\"}",
        .handler = queue_show,
    },
    {.name = NULL},
};
