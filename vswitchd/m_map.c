/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods on maps: from what a frame carries to its priority, and from there
 * to queue and group.  Control thread.
 */
#include "methods.h"

#include "json.h"
#include "txn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const trusts[] = {"pcp", "port", NULL};

/* Whose map it is: of a port, or the defaults of a bridge. */
struct map_place {
    struct conf_bridge *cb; /* the bridge */
    struct conf_port *cp;   /* null: the bridge's own */
    char path[80];          /* JSON pointer */
};

static int
find_place(struct conf *conf, struct json_object *params, struct map_place *at,
           struct err *err)
{
    const char *port = json_get_text(params, "port", NULL);
    const char *bridge = json_get_text(params, "bridge", NULL);
    int error;

    at->cp = NULL;
    if (!port == !bridge)
        return err_set(err, EINVAL, "/params", NULL, "port or bridge",
                       "either port or bridge has to be given");
    if (bridge) {
        error = conf_need_bridge(conf, bridge, &at->cb, err);
        if (!error)
            snprintf(at->path, sizeof(at->path), "/bridges/%s", bridge);
        return error;
    }
    error = conf_need_port(conf, port, &at->cb, &at->cp, err);
    if (!error)
        snprintf(at->path, sizeof(at->path), "/bridges/%s/ports/%s",
                 at->cb->name, port);
    return error;
}

static void
map_of(const struct map_place *at, struct conf_map *map)
{
    if (at->cp)
        conf_map_effective(at->cb, at->cp, map);
    else
        *map = at->cb->map;
}

static struct json_object *
array8(const uint8_t v[8])
{
    struct json_object *a = json_object_new_array();

    for (int i = 0; i < 8; i++)
        json_object_array_add(a, json_object_new_int(v[i]));
    return a;
}

/* {"3": 4} changes one place of the map, [...] all. */
static int
merge(struct json_object *edit, const char *key, const uint8_t now[8],
      struct err *err)
{
    struct json_object *given = json_get(edit, key), *a;
    char path[64];

    if (!given || !json_object_is_type(given, json_type_object))
        return 0; /* an array: lib/conf looks at it */
    a = array8(now);
    json_object_object_foreach (given, from, to) {
        bool ok = strlen(from) == 1 && from[0] >= '0' && from[0] <= '7' &&
                  json_object_is_type(to, json_type_int);

        if (!ok) {
            snprintf(path, sizeof(path), "/params/%s/%.16s", key, from);
            json_object_put(a);
            return err_set(err, EINVAL, path, json_object_to_json_string(to),
                           "0 to 7 for 0 to 7",
                           "map.set: %s: %.16s to %.16s is not a change of "
                           "the map: 0 to 7 may go to 0 to 7",
                           key, from, json_object_to_json_string(to));
        }
        json_object_array_put_idx(a, (size_t) (from[0] - '0'),
                                  json_object_get(to));
    }
    json_object_object_add(edit, key, a);
    return 0;
}

static int
edit_map(const struct map_place *at, struct json_object *params,
         struct err *err)
{
    static const char *const not_members[] = {"port", "bridge", NULL};
    struct json_object *edit = json_object_new_object();
    struct json_object *map = json_without(params, not_members);
    struct conf_map now;
    int error;

    map_of(at, &now);
    json_object_object_add(edit, "map", map);
    error = merge(map, "pcp_to_priority", now.pcp_to_prio, err);
    if (!error)
        error = merge(map, "priority_to_queue", now.prio_to_queue, err);
    if (!error)
        error = merge(map, "priority_to_group", now.prio_to_pg, err);
    if (!error)
        error = at->cp ? conf_port_edit(at->cp, edit, at->path, err)
                       : conf_bridge_edit(at->cb, edit, at->path, err);
    json_object_put(edit);
    return error;
}

static int
map_set(void *ctx, struct rpc_client *client, struct json_object *params,
        struct json_object **result, struct err *err)
{
    struct conf *to = txn_begin(ctx);
    struct map_place at;
    int error = find_place(to, params, &at, err);

    (void) client;
    if (!error)
        error = edit_map(&at, params, err);
    if (error) {
        conf_destroy(to);
        return error;
    }
    error = txn_commit(ctx, to, err);
    if (!error)
        *result = json_object_new_object();
    return error;
}

static int
map_show(void *ctx, struct rpc_client *client, struct json_object *params,
         struct json_object **result, struct err *err)
{
    struct daemon *d = ctx;
    struct map_place at;
    struct conf_map map;
    struct json_object *o;
    int error = find_place(d->conf, params, &at, err);

    (void) client;
    if (error)
        return error;
    map_of(&at, &map);
    o = json_object_new_object();
    json_add_text(o, at.cp ? "port" : "bridge",
                  at.cp ? at.cp->name : at.cb->name);
    json_add_text(o, "trust", trusts[map.trust]);
    json_add_uint(o, "default_priority", map.default_prio);
    json_object_object_add(o, "pcp_to_priority", array8(map.pcp_to_prio));
    json_object_object_add(o, "priority_to_queue", array8(map.prio_to_queue));
    json_object_object_add(o, "priority_to_group", array8(map.prio_to_pg));
    *result = o;
    return 0;
}

#define DOC_MAP \
    "  An array of eight, or an object that changes some: {\"3\": 4}."

static const struct rpc_param set_params[] = {
    PARAM_NAME("port", false, "The port whose map it is; or else bridge."),
    PARAM_NAME("bridge", false, "The bridge: the defaults of its ports."),
    {.name = "trust",
     .type = RPC_T_STRING,
     .choices = trusts,
     .doc = "Where the priority comes from: the tag's PCP, or the port "
            "alone."},
    PARAM_INT("default_priority", 0, 7, RPC_U_NONE,
              "Priority of frames that carry none."),
    {.name = "pcp_to_priority",
     .type = RPC_T_ANY,
     .doc = "Priority by PCP." DOC_MAP},
    {.name = "priority_to_queue",
     .type = RPC_T_ANY,
     .doc = "Egress queue by priority." DOC_MAP},
    {.name = "priority_to_group",
     .type = RPC_T_ANY,
     .doc = "Ingress priority group by priority." DOC_MAP},
    PARAM_END,
};

static const struct rpc_param show_params[] = {
    PARAM_NAME("port", false, "The port; or else bridge."),
    PARAM_NAME("bridge", false, "The bridge."),
    PARAM_END,
};

const struct rpc_method methods_map[] = {
    {
        .name = "map.set",
        .doc = "Changes the maps of a port, or the defaults of a bridge.",
        .params = set_params,
        .result = "An empty object.",
        .example = "{\"port\": \"eth1\", \"pcp_to_priority\": {\"4\": 3}}",
        .changes = true,
        .handler = map_set,
    },
    {
        .name = "map.show",
        .doc = "Shows the maps that are in force.",
        .params = show_params,
        .result = "An object: port or bridge, trust, default_priority, "
                  "pcp_to_priority, priority_to_queue, priority_to_group "
                  "(arrays of eight).",
        .example = "{\"port\": \"eth1\"}",
        .handler = map_show,
    },
    {.name = NULL},
};
