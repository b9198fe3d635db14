/* SPDX-License-Identifier: Apache-2.0
 *
 * The configuration as a whole.  Control thread.
 */
#include "methods.h"

#include "json.h"
#include "txn.h"

static int
config_export(void *ctx, struct rpc_client *client, struct json_object *params,
              struct json_object **result, struct err *err)
{
    struct daemon *d = ctx;

    (void) client;
    (void) params;
    (void) err;
    *result = conf_to_json(d->conf);
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

const struct rpc_method methods_config[] = {
    {
        .name = "config.export",
        .doc = "Writes the whole configuration.",
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
                  "replace, old, new), applied.",
        .example =
            "{\"config\": {\"bridges\": {\"br0\": {\"ports\": {\"tap0\": "
            "{\"type\": \"tap\"}}}}}, \"dry_run\": true}",
        .changes = true,
        .handler = config_apply,
    },
    {.name = NULL},
};
