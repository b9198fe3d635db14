/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods that fill in configuration from elsewhere: presets, and the QoS
 * tables of SONiC.  Control thread.
 */
#include "methods.h"

#include "conf/preset.h"
#include "conf/sonic.h"
#include "json.h"
#include "txn.h"

#include <errno.h>

/* methods_apply() of what is valid, also when nothing is committed. */
static int
finish(struct daemon *d, struct conf *to, bool dry_run,
       struct json_object **result, struct err *err)
{
    int error = conf_validate(to, err);

    if (error) {
        conf_destroy(to);
        return error;
    }
    return methods_apply(d, to, dry_run, result, err);
}

static int
preset_apply(void *ctx, struct rpc_client *client, struct json_object *params,
             struct json_object **result, struct err *err)
{
    const char *port = json_get_text(params, "port", NULL);
    const char *bridge = json_get_text(params, "bridge", NULL);
    struct conf *to = txn_begin(ctx);
    struct conf_bridge *cb = NULL;
    struct conf_port *cp = NULL;
    int error;

    (void) client;
    if (!port == !bridge)
        error = err_set(err, EINVAL, "/params", NULL, "port or bridge",
                        "either port or bridge has to be given");
    else if (bridge)
        error = conf_need_bridge(to, bridge, &cb, err);
    else
        error = conf_need_port(to, port, &cb, &cp, err);
    if (!error)
        error =
            conf_preset_apply(cb, cp, json_get_text(params, "name", ""), err);
    if (error) {
        conf_destroy(to);
        return error;
    }
    return finish(ctx, to, json_get_bool(params, "dry_run", false), result,
                  err);
}

static int
preset_list(void *ctx, struct rpc_client *client, struct json_object *params,
            struct json_object **result, struct err *err)
{
    (void) ctx;
    (void) client;
    (void) params;
    (void) err;
    *result = json_object_new_array();
    for (const struct conf_preset *p = conf_presets; p->name; p++) {
        struct json_object *o = json_object_new_object();

        json_add_text(o, "name", p->name);
        json_add_text(o, "description", p->doc);
        json_object_object_add(o, "port", json_tokener_parse(p->port));
        json_object_array_add(*result, o);
    }
    return 0;
}

/* The bridge that is meant: the one there is, if none is named. */
static int
find_bridge(struct conf *to, const char *name, struct conf_bridge **cb,
            struct err *err)
{
    if (!name && to->n_bridges == 1)
        name = to->bridges[0]->name;
    if (!name)
        return err_set(err, EINVAL, "/params/bridge", NULL, "a bridge",
                       "there are %u bridges: bridge has to be given",
                       to->n_bridges);
    return conf_need_bridge(to, name, cb, err);
}

static int
import_sonic(void *ctx, struct rpc_client *client, struct json_object *params,
             struct json_object **result, struct err *err)
{
    struct conf *to = txn_begin(ctx);
    struct json_object *notes = NULL;
    struct conf_bridge *cb;
    int error =
        find_bridge(to, json_get_text(params, "bridge", NULL), &cb, err);

    (void) client;
    if (!error)
        error = conf_sonic_import(json_get(params, "config_db"),
                                  json_get(params, "ports"),
                                  json_get_bool(params, "links", false), cb,
                                  &notes, err);
    if (error) {
        conf_destroy(to);
        return error;
    }
    error =
        finish(ctx, to, json_get_bool(params, "dry_run", false), result, err);
    if (error)
        json_object_put(notes);
    else
        json_object_object_add(*result, "not_mapped", notes);
    return error;
}

static const struct rpc_param apply_params[] = {
    {.name = "name",
     .type = RPC_T_STRING,
     .required = true,
     .doc = "The preset: see preset.list."},
    PARAM_NAME("port", false, "The port that gets it; or else bridge."),
    PARAM_NAME("bridge", false, "The bridge: its map, and all of its ports."),
    PARAM_BOOL("dry_run", "Whether to say only what would change."),
    PARAM_END,
};

static const struct rpc_param sonic_params[] = {
    {.name = "config_db",
     .type = RPC_T_OBJECT,
     .required = true,
     .doc = "The config_db.json of a SONiC switch, or its QoS tables: "
            "PORT_QOS_MAP and the maps that it refers to, BUFFER_POOL, "
            "BUFFER_PROFILE, BUFFER_PG, BUFFER_QUEUE, QUEUE, SCHEDULER, "
            "WRED_PROFILE, PFC_WD."},
    PARAM_NAME("bridge", false,
               "The bridge whose ports are meant; may be left out when there "
               "is only one."),
    PARAM_OBJECT("ports", "Ports by their names in SONiC: {\"Ethernet0\": "
                          "\"eth1\"}.  Others are those of the same name."),
    PARAM_BOOL("links", "Whether to take speed in PORT and CABLE_LENGTH as "
                        "well: ports are shaped to that, and cables "
                        "emulated."),
    PARAM_BOOL("dry_run", "Whether to say only what would change."),
    PARAM_END,
};

const struct rpc_method methods_preset[] = {
    {
        .name = "config.import_sonic",
        .doc = "Takes over the QoS tables of a SONiC switch.  What has a "
               "counterpart is set, all or nothing; what has none is listed.",
        .params = sonic_params,
        .result = "An object: changed (array of path, op: add, remove or "
                  "replace, old, new), applied, not_mapped (array of path, in "
                  "config_db, and why).",
        .example = "{\"config_db\": {\"PORT_QOS_MAP\": {\"Ethernet0\": "
                   "{\"pfc_enable\": \"3,4\"}}}, \"ports\": {\"Ethernet0\": "
                   "\"eth1\"}}",
        .changes = true,
        .handler = import_sonic,
    },
    {
        .name = "preset.apply",
        .doc = "Gives a port, or a bridge and all of its ports, a preset: "
               "PFC, PAUSE, maps, groups and queues are set anew.  It is "
               "ordinary configuration then.",
        .params = apply_params,
        .result = "An object: changed (array of path, op, old, new), applied.",
        .example = "{\"name\": \"sonic\", \"bridge\": \"br0\"}",
        .changes = true,
        .handler = preset_apply,
    },
    {
        .name = "preset.list",
        .doc = "Lists the presets.",
        .result = "An array of objects: name, description, port (what a port "
                  "gets, in the form of config.export).",
        .example = "{}",
        .handler = preset_list,
    },
    {.name = NULL},
};
