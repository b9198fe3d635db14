/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods on OpenFlow controllers of bridges.  Control thread.
 */
#include "methods.h"

#include "json.h"
#include "of.h"
#include "txn.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* {"controllers": {...}} of the targets; those that are there and not named
 * are removed, unless `add`. */
static struct json_object *
make_edit(const struct conf_bridge *cb, struct json_object *params, bool add)
{
    static const char *const others[] = {"bridge", "targets", NULL};
    struct json_object *edit = json_object_new_object();
    struct json_object *all = json_object_new_object();
    struct json_object *targets = json_get(params, "targets");

    for (uint32_t i = 0; !add && i < cb->of.n_controllers; i++)
        json_object_object_add(all, cb->of.controller[i].target, NULL);
    for (size_t i = 0; i < json_object_array_length(targets); i++)
        json_object_object_add(all,
                               json_object_get_string(
                                   json_object_array_get_idx(targets, i)),
                               json_without(params, others));
    json_object_object_add(edit, "controllers", all);
    return edit;
}

static int
answer(struct daemon *d, const char *bridge, struct json_object **result,
       struct err *err)
{
    struct conf_bridge *cb;
    int error = conf_need_bridge(d->conf, bridge, &cb, err);

    if (!error)
        *result = ofd_status(d, cb);
    return error;
}

static int
change(struct daemon *d, struct json_object *params, bool add,
       struct json_object **result, struct err *err)
{
    const char *name = json_get_text(params, "bridge", "");
    struct conf *to = txn_begin(d);
    struct conf_bridge *cb;
    char path[48];
    int error = conf_need_bridge(to, name, &cb, err);

    if (!error) {
        struct json_object *edit = make_edit(cb, params, add);

        snprintf(path, sizeof(path), "/bridges/%s", name);
        error = conf_bridge_edit(cb, edit, path, err);
        json_object_put(edit);
    }
    error = txn_end(d, to, error, err);
    return error ? error : answer(d, name, result, err);
}

static int
controller_set(void *ctx, struct rpc_client *client,
               struct json_object *params, struct json_object **result,
               struct err *err)
{
    (void) client;
    return change(ctx, params, false, result, err);
}

static int
controller_add(void *ctx, struct rpc_client *client,
               struct json_object *params, struct json_object **result,
               struct err *err)
{
    (void) client;
    return change(ctx, params, true, result, err);
}

static int
refuse_target(const struct conf_bridge *cb, const char *target,
              struct err *err)
{
    char list[192] = "none is configured";
    size_t n = 0;

    for (uint32_t i = 0; i < cb->of.n_controllers && n < sizeof(list); i++)
        n += (size_t) snprintf(list + n, sizeof(list) - n, "%s%s",
                               i ? ", " : "", cb->of.controller[i].target);
    return err_set(err, ENOENT, "/targets", target, list,
                   "bridge %s has no controller %.64s: allowed are %s",
                   cb->name, target, list);
}

static bool
is_there(const struct conf_bridge *cb, const char *target)
{
    for (uint32_t i = 0; i < cb->of.n_controllers; i++)
        if (!strcmp(cb->of.controller[i].target, target))
            return true;
    return false;
}

/* Those named; all when none is. */
static int
del_targets(struct conf_bridge *cb, struct json_object *targets,
            struct err *err)
{
    struct json_object *edit = json_object_new_object();
    struct json_object *all = json_object_new_object();
    size_t n = targets ? json_object_array_length(targets) : 0;
    int error = 0;

    for (uint32_t i = 0; !targets && i < cb->of.n_controllers; i++)
        json_object_object_add(all, cb->of.controller[i].target, NULL);
    for (size_t i = 0; i < n && !error; i++) {
        const char *target =
            json_object_get_string(json_object_array_get_idx(targets, i));

        if (is_there(cb, target))
            json_object_object_add(all, target, NULL);
        else
            error = refuse_target(cb, target, err);
    }
    json_object_object_add(edit, "controllers", all);
    if (!error)
        error = conf_bridge_edit(cb, edit, "", err);
    json_object_put(edit);
    return error;
}

static int
controller_del(void *ctx, struct rpc_client *client,
               struct json_object *params, struct json_object **result,
               struct err *err)
{
    const char *name = json_get_text(params, "bridge", "");
    struct conf *to = txn_begin(ctx);
    struct conf_bridge *cb;
    int error = conf_need_bridge(to, name, &cb, err);

    (void) client;
    if (!error)
        error = del_targets(cb, json_get(params, "targets"), err);
    error = txn_end(ctx, to, error, err);
    return error ? error : answer(ctx, name, result, err);
}

static int
controller_show(void *ctx, struct rpc_client *client,
                struct json_object *params, struct json_object **result,
                struct err *err)
{
    struct daemon *d = ctx;
    const char *name = json_get_text(params, "bridge", "");
    struct json_object *all;

    (void) client;
    if (name[0])
        return answer(d, name, result, err);
    all = json_object_new_array();
    for (uint32_t i = 0; i < d->conf->n_bridges; i++) {
        struct json_object *some = ofd_status(d, d->conf->bridges[i]);

        for (size_t k = 0; k < json_object_array_length(some); k++)
            json_object_array_add(all,
                                  json_object_get(
                                      json_object_array_get_idx(some, k)));
        json_object_put(some);
    }
    *result = all;
    return 0;
}

static const struct rpc_param target_item = {.type = RPC_T_STRING,
                                             .min = 1,
                                             .max = CONF_TARGET_MAX};

#define TARGETS(required_, doc_)                                        \
    {                                                                   \
        .name = "targets", .type = RPC_T_ARRAY, .items = &target_item,  \
        .required = (required_), .min = 1, .max = CONF_MAX_CONTROLLERS, \
        .doc = (doc_),                                                  \
    }

static const struct rpc_param set_params[] = {
    PARAM_NAME("bridge", true, "The bridge."),
    TARGETS(true, "Where to connect to, or to listen on: " CONF_TARGET_ALLOWED
                  "; port 6653 when none is given."),
    PARAM_INT("probe_ms", 0, 3600000, RPC_U_NONE,
              "Milliseconds of silence before a controller is asked whether "
              "it lives, and again before it is given up; 0: never [5000]."),
    PARAM_INT("max_backoff_ms", 1000, 3600000, RPC_U_NONE,
              "Longest pause between two attempts to connect, in "
              "milliseconds; the first is a second, each is twice the one "
              "before [8000]."),
    PARAM_END,
};

static const struct rpc_param del_params[] = {
    PARAM_NAME("bridge", true, "The bridge."),
    TARGETS(false, "Those to remove; not given: all."),
    PARAM_END,
};

static const struct rpc_param show_params[] = {
    PARAM_NAME("bridge", false, "Only those of this bridge."),
    PARAM_END,
};

#define RESULT_CONTROLLERS                                                  \
    "An array of bridge, target, is_management (the bridge's own socket), " \
    "state (backoff, connecting, connected, listening), is_connected, "     \
    "seconds (in that state), last_error, attempts, probe_ms, "             \
    "max_backoff_ms, connections (objects of peer, version, role, "         \
    "seconds, messages_in, messages_out, errors_sent, errors_received, "    \
    "bundles, packet_ins, port_status, flow_removed, and each of these "    \
    "three with _dropped: not sent, because it does not read)."

const struct rpc_method methods_controller[] = {
    {
        .name = "controller.set",
        .doc = "Makes these the controllers of a bridge, and no others.  The "
               "first controller to connect to (and taking away the last) "
               "flushes the flow tables.",
        .params = set_params,
        .result = RESULT_CONTROLLERS,
        .example = "{\"bridge\": \"br0\", \"targets\": "
                   "[\"tcp:192.0.2.1:6653\"]}",
        .changes = true,
        .handler = controller_set,
    },
    {
        .name = "controller.add",
        .doc = "The same beside those that there are; one that is there gets "
               "what is given.",
        .params = set_params,
        .result = RESULT_CONTROLLERS,
        .example = "{\"bridge\": \"br0\", \"targets\": [\"ptcp:6633\"], "
                   "\"probe_ms\": 1000}",
        .changes = true,
        .handler = controller_add,
    },
    {
        .name = "controller.del",
        .doc = "Removes controllers of a bridge.",
        .params = del_params,
        .result = RESULT_CONTROLLERS,
        .example = "{\"bridge\": \"br0\"}",
        .changes = true,
        .handler = controller_del,
    },
    {
        .name = "controller.show",
        .doc = "Shows controllers and OpenFlow connections.",
        .params = show_params,
        .result = RESULT_CONTROLLERS,
        .example = "{}",
        .handler = controller_show,
    },
    {.name = NULL},
};
