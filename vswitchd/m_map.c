/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods on maps: from what a frame carries to its priority, from there to
 * queue and group, and to what it carries when it leaves.  Control thread.
 */
#include "methods.h"

#include "json.h"
#include "txn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const trusts[] = {"pcp", "port", "dscp", NULL};
static const char *const prio_tags[] = {"keep", "never", "if-nonzero",
                                        "always", NULL};

/* The maps of codes, in the order in which they are shown. */
static const struct {
    const char *name; /* member of params and of the result */
    size_t offset;    /* in struct conf_map */
    int n;            /* codes that it maps */
    bool rewrites;    /* CONF_KEEP in it is -1 in JSON */
} maps[] = {
    {"pcp_to_priority", offsetof(struct conf_map, pcp_to_prio), 8, false},
    {"dscp_to_priority", offsetof(struct conf_map, dscp_to_prio), 64, false},
    {"priority_to_queue", offsetof(struct conf_map, prio_to_queue), 8, false},
    {"priority_to_group", offsetof(struct conf_map, prio_to_pg), 8, false},
    {"priority_to_pcp", offsetof(struct conf_map, prio_to_pcp), 8, true},
    {"priority_to_dscp", offsetof(struct conf_map, prio_to_dscp), 8, true},
};
#define N_MAPS (sizeof(maps) / sizeof(maps[0]))

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
array_of(const struct conf_map *map, size_t m)
{
    const uint8_t *v = (const uint8_t *) map + maps[m].offset;
    struct json_object *a = json_object_new_array();

    for (int i = 0; i < maps[m].n; i++) {
        bool keeps = maps[m].rewrites && v[i] == CONF_KEEP;

        json_object_array_add(a, json_object_new_int(keeps ? -1 : v[i]));
    }
    return a;
}

/* The code that a member's name says; -1: none of the map. */
static int
code_of(const char *text, int n)
{
    char *end;
    long v = strtol(text, &end, 10);

    return text[0] >= '0' && text[0] <= '9' && !*end && v < n ? (int) v : -1;
}

/* {"3": 4} changes one place of the map, [...] all. */
static int
merge(struct json_object *edit, size_t m, const struct conf_map *now,
      struct err *err)
{
    struct json_object *given = json_get(edit, maps[m].name), *a;
    char path[64], allowed[48];

    if (!given || !json_object_is_type(given, json_type_object))
        return 0; /* an array: lib/conf looks at it */
    a = array_of(now, m);
    json_object_object_foreach (given, from, to) {
        int code = code_of(from, maps[m].n);

        if (code < 0 || !json_object_is_type(to, json_type_int)) {
            snprintf(path, sizeof(path), "/params/%s/%.16s", maps[m].name,
                     from);
            snprintf(allowed, sizeof(allowed), "0 to %d, each to a number",
                     maps[m].n - 1);
            json_object_put(a);
            return err_set(err, EINVAL, path, json_object_to_json_string(to),
                           allowed,
                           "map.set: %s: %.16s to %.16s is not a change of "
                           "the map: allowed are %s",
                           maps[m].name, from, json_object_to_json_string(to),
                           allowed);
        }
        json_object_array_put_idx(a, (size_t) code, json_object_get(to));
    }
    json_object_object_add(edit, maps[m].name, a);
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
    int error = 0;

    map_of(at, &now);
    json_object_object_add(edit, "map", map);
    for (size_t m = 0; m < N_MAPS && !error; m++)
        error = merge(map, m, &now, err);
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
    error = txn_end(ctx, to, error, err);
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
    for (size_t m = 0; m < N_MAPS; m++)
        json_object_object_add(o, maps[m].name, array_of(&map, m));
    json_add_text(o, "priority_tags", prio_tags[map.prio_tags]);
    *result = o;
    return 0;
}

#define DOC_MAP(n) \
    "  An array of " n ", or an object that changes some: {\"3\": 4}."
#define DOC_REWRITE "  -1: as it came." DOC_MAP("eight")

static const struct rpc_param set_params[] = {
    PARAM_NAME("port", false, "The port whose map it is; or else bridge."),
    PARAM_NAME("bridge", false, "The bridge: the defaults of its ports."),
    {.name = "trust",
     .type = RPC_T_STRING,
     .choices = trusts,
     .doc = "Where the priority comes from: the tag's PCP; the DSCP of IP "
            "packets, and the PCP of other frames; or the port alone.  What "
            "carries none of it gets default_priority."},
    PARAM_INT("default_priority", 0, 7, RPC_U_NONE,
              "Priority of frames that carry none."),
    {.name = "pcp_to_priority",
     .type = RPC_T_ANY,
     .doc = "Priority by PCP." DOC_MAP("eight")},
    {.name = "dscp_to_priority",
     .type = RPC_T_ANY,
     .doc = "Priority by DSCP, where DSCP is trusted." DOC_MAP("64")},
    {.name = "priority_to_queue",
     .type = RPC_T_ANY,
     .doc = "Egress queue by priority." DOC_MAP("eight")},
    {.name = "priority_to_group",
     .type = RPC_T_ANY,
     .doc = "Ingress priority group by priority." DOC_MAP("eight")},
    {.name = "priority_to_pcp",
     .type = RPC_T_ANY,
     .doc = "PCP that tags leave the port with, by priority." DOC_REWRITE},
    {.name = "priority_to_dscp",
     .type = RPC_T_ANY,
     .doc = "DSCP that IP packets leave the port with, by "
            "priority." DOC_REWRITE},
    {.name = "priority_tags",
     .type = RPC_T_STRING,
     .choices = prio_tags,
     .doc = "Which frames that leave the port without a VLAN have a tag for "
            "their PCP: those that came so (keep; an access port untags "
            "them), none (never), those with a PCP (if-nonzero), all "
            "(always)."},
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
                  "pcp_to_priority, dscp_to_priority (array of 64), "
                  "priority_to_queue, priority_to_group, priority_to_pcp, "
                  "priority_to_dscp (arrays of eight; -1: as it came), "
                  "priority_tags.",
        .example = "{\"port\": \"eth1\"}",
        .handler = map_show,
    },
    {.name = NULL},
};
