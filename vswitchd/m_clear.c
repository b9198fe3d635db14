/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods that clear counters: they note a baseline, which the daemon keeps
 * for everybody (counts.h).  Control thread.
 */
#include "methods.h"

#include "json.h"

static int
clear(struct daemon *d, struct json_object *params, unsigned sections,
      struct json_object **result, struct err *err)
{
    const char *name = json_get_text(params, "port", NULL);
    struct port_view v;
    int error = name ? methods_find_port(d, name, &v, err) : 0;

    if (error)
        return error;
    for (uint32_t i = 0; i < d->n_bridges; i++)
        for (int s = 0; s < DP_MAX_PORTS; s++) {
            struct port *p = d->bridges[i]->ports[s];

            if (p && (!name || p == v.port))
                counts_clear(d->bridges[i], p, sections);
        }
    *result = json_object_new_object();
    return 0;
}

static int
stats_clear(void *ctx, struct rpc_client *client, struct json_object *params,
            struct json_object **result, struct err *err)
{
    (void) client;
    return clear(ctx, params, COUNTS_PORT | COUNTS_GROUP | COUNTS_QUEUE,
                 result, err);
}

static int
queue_clear(void *ctx, struct rpc_client *client, struct json_object *params,
            struct json_object **result, struct err *err)
{
    (void) client;
    return clear(ctx, params, COUNTS_QUEUE, result, err);
}

static int
buffer_clear(void *ctx, struct rpc_client *client, struct json_object *params,
             struct json_object **result, struct err *err)
{
    (void) client;
    return clear(ctx, params, COUNTS_GROUP, result, err);
}

static int
pfc_clear(void *ctx, struct rpc_client *client, struct json_object *params,
          struct json_object **result, struct err *err)
{
    (void) client;
    return clear(ctx, params, COUNTS_PFC, result, err);
}

static const struct rpc_param params[] = {
    PARAM_NAME("port", false, "Only this port."),
    PARAM_END,
};

const struct rpc_method methods_clear[] = {
    {
        .name = "stats.clear",
        .doc = "Begins what stats.show counts anew, groups and queues too.  "
               "For every client; with \"raw\" they are still shown as they "
               "were, and never go back.",
        .params = params,
        .result = "An empty object.",
        .example = "{\"port\": \"eth1\"}",
        .handler = stats_clear,
    },
    {
        .name = "queue.clear",
        .doc = "Begins the counters of queues anew, for every client.",
        .params = params,
        .result = "An empty object.",
        .example = "{\"port\": \"eth1\"}",
        .handler = queue_clear,
    },
    {
        .name = "buffer.clear",
        .doc = "Begins the counters of priority groups anew, for every "
               "client; watermarks have a method of their own.",
        .params = params,
        .result = "An empty object.",
        .example = "{\"port\": \"eth1\"}",
        .handler = buffer_clear,
    },
    {
        .name = "pfc.counters_clear",
        .doc = "Begins what pfc.counters counts anew, longest and latest "
               "pauses too, for every client.  A pause that lasts goes on, "
               "and counts from now on.",
        .params = params,
        .result = "An empty object.",
        .example = "{\"port\": \"eth1\"}",
        .handler = pfc_clear,
    },
    {.name = NULL},
};
