/* SPDX-License-Identifier: Apache-2.0
 *
 * The configuration as a whole.  Control thread.
 */
#include "methods.h"

#include "json.h"
#include "txn.h"

#define MAX_PORTS (CONF_MAX_BRIDGES * DP_MAX_PORTS)

/* A bridge with those of its ports that are among n from the first on; the
 * place of its own first one is `place`. */
static struct json_object *
export_bridge(const struct conf_bridge *b, int64_t first, int64_t n,
              int64_t place)
{
    int64_t skip = first > place ? first - place : 0, left = b->n_ports;
    struct conf_bridge part = *b;

    if (skip > left)
        skip = left;
    left -= skip;
    if (left > first + n - place - skip)
        left = first + n > place + skip ? first + n - place - skip : 0;
    part.n_ports = (uint32_t) left;
    part.ports = b->ports + skip;
    return conf_bridge_to_json(&part);
}

static int
config_export(void *ctx, struct rpc_client *client, struct json_object *params,
              struct json_object **result, struct err *err)
{
    int64_t first = json_get_int(params, "first_port", 0);
    int64_t n = json_get_int(params, "max_ports", MAX_PORTS), place = 0;
    const struct daemon *d = ctx;
    struct json_object *bridges = json_object_new_object();

    (void) client;
    (void) err;
    for (uint32_t i = 0; i < d->conf->n_bridges; i++) {
        const struct conf_bridge *b = d->conf->bridges[i];

        json_object_object_add(bridges, b->name,
                               export_bridge(b, first, n, place));
        place += b->n_ports;
    }
    *result = json_object_new_object();
    json_object_object_add(*result, "bridges", bridges);
    return 0;
}

static int
config_apply(void *ctx, struct rpc_client *client, struct json_object *params,
             struct json_object **result, struct err *err)
{
    bool dry_run = json_get_bool(params, "dry_run", false);
    struct daemon *d = ctx;
    struct conf *to;
    int error = conf_from_json(json_get(params, "config"), d->conf, &to, err);

    (void) client;
    if (error)
        return error;
    return methods_apply(d, to, dry_run, result, err);
}

static const struct rpc_param apply_params[] = {
    {.name = "config",
     .type = RPC_T_OBJECT,
     .required = true,
     .doc = "The whole desired state, as config.export answers it; members "
            "that are absent have their defaults."},
    PARAM_BOOL("dry_run", "Whether to say only what would change."),
    PARAM_END,
};

static const struct rpc_param export_params[] = {
    PARAM_INT("first_port", 0, MAX_PORTS, RPC_U_NONE,
              "Leaves out so many ports, counted in the order of bridges and "
              "ports.  0 by default."),
    PARAM_INT("max_ports", 0, MAX_PORTS, RPC_U_NONE,
              "Leaves out all ports after so many more.  All by default."),
    PARAM_END,
};

const struct rpc_method methods_config[] = {
    {
        .name = "config.export",
        .doc = "Writes the whole configuration.  When that is more than an "
               "answer holds, it goes in pieces, some ports at a time, each "
               "with all bridges: what daemon.status calls config_generation "
               "is the same before and after if nothing changed in between.",
        .params = export_params,
        .result = "An object: bridges, by name; in each its ports, by name.",
        .example = "{}",
        .handler = config_export,
    },
    {
        .name = "config.apply",
        .doc = "Makes the configuration what is given: works out the "
               "difference, and applies all of it or, if anything is wrong, "
               "nothing.  An interface that does not exist is an error, "
               "unless its port was configured before.",
        .params = apply_params,
        .result = "An object: changed (array of path, op: add, remove or "
                  "replace, old, new), n_more (when there are more of them "
                  "than an answer holds: how many are left out), applied.",
        .example =
            "{\"config\": {\"bridges\": {\"br0\": {\"ports\": {\"tap0\": "
            "{\"type\": \"tap\"}}}}}, \"dry_run\": true}",
        .changes = true,
        .handler = config_apply,
    },
    {.name = NULL},
};
