/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl map: from PCP and DSCP to priority, from priority to queue and
 * group, and to the PCP and DSCP that frames leave with.
 */
#include "ctl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const trusts[] = {"pcp", "dscp", "port", NULL};
static const char *const tag_modes[] = {"keep", "never", "if-nonzero",
                                        "always", NULL};

static const struct ctl_key keys[] = {
    {.name = "bridge",
     .kind = CTL_TEXT,
     .path = "bridge",
     .doc = "the defaults of a bridge instead of a port's map"},
    {.name = "trust",
     .kind = CTL_WORD,
     .path = "trust",
     .choices = trusts,
     .doc = "where the priority comes from"},
    {.name = "default-priority",
     .kind = CTL_QTY,
     .path = "default_priority",
     .max = 7,
     .doc = "of frames that carry none, or of all with trust port"},
    {.name = "pcp",
     .kind = CTL_MAP,
     .path = "pcp_to_priority",
     .max = 7,
     .doc = "PCP:PRIORITY, like 5:3, or all:3"},
    {.name = "dscp",
     .kind = CTL_MAP,
     .path = "dscp_to_priority",
     .max = 7,
     .last = 63,
     .doc = "DSCP:PRIORITY, like 26:3 or 0-7:1"},
    {.name = "queue",
     .kind = CTL_MAP,
     .path = "priority_to_queue",
     .max = 7,
     .doc = "PRIORITY:QUEUE"},
    {.name = "pg",
     .kind = CTL_MAP,
     .path = "priority_to_group",
     .max = 7,
     .doc = "PRIORITY:GROUP"},
    {.name = "group",
     .kind = CTL_MAP,
     .path = "priority_to_group",
     .max = 7,
     .doc = "the same"},
    {.name = "rewrite-pcp",
     .kind = CTL_MAP,
     .path = "priority_to_pcp",
     .max = 7,
     .word = "keep",
     .doc = "PRIORITY:PCP of tags that leave the port"},
    {.name = "rewrite-dscp",
     .kind = CTL_MAP,
     .path = "priority_to_dscp",
     .max = 63,
     .word = "keep",
     .doc = "PRIORITY:DSCP of IP packets that leave the port"},
    {.name = "priority-tags",
     .kind = CTL_WORD,
     .path = "priority_tags",
     .choices = tag_modes,
     .doc = "which frames without a VLAN leave with a tag"},
    {.name = NULL}};

static const struct ctl_key show_keys[] = {{.name = "bridge",
                                            .kind = CTL_TEXT,
                                            .path = "bridge",
                                            .doc = "the defaults of a bridge"},
                                           {.name = NULL}};

static const struct {
    const char *member; /* of the result */
    const char *name;   /* as shown */
    bool rewrites;      /* -1 in it: as it came */
} maps[] = {
    {"pcp_to_priority", "pcp>priority", false},
    {"priority_to_queue", "priority>queue", false},
    {"priority_to_group", "priority>pg", false},
    {"priority_to_pcp", "priority>pcp", true},
    {"priority_to_dscp", "priority>dscp", true},
};

static void
begin_row(struct ctl_table *t, struct json_object *o)
{
    ctl_table_text(t, ctl_text(o, ctl_get(o, "port") ? "port" : "bridge"));
    ctl_table_text(t, ctl_text(o, "trust"));
    ctl_table_qty(t, ctl_int(o, "default_priority"), RPC_U_NONE);
    ctl_table_text(t, ctl_text(o, "priority_tags"));
}

/* Whether a map rewrites anything. */
static bool
is_off(struct json_object *map)
{
    for (size_t i = 0; i < ctl_len(map); i++)
        if (json_object_get_int(ctl_at(map, i)) != -1)
            return false;
    return true;
}

/* DSCP is shown where it counts, eight values to a row. */
static void
add_dscp(struct ctl_table *t, struct json_object *o)
{
    for (size_t i = 0; i < 64; i += 8) {
        begin_row(t, o);
        ctl_table_printf(t, "dscp>priority %zu-%zu", i, i + 7);
        for (size_t j = i; j < i + 8; j++)
            ctl_table_qty(t, ctl_int_at(o, "dscp_to_priority", j), RPC_U_NONE);
    }
}

static void
add_map(struct ctl_table *t, struct json_object *o)
{
    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
        if (maps[i].rewrites && is_off(ctl_get(o, maps[i].member)))
            continue;
        begin_row(t, o);
        ctl_table_text(t, maps[i].name);
        for (size_t j = 0; j < 8; j++) {
            int64_t v = ctl_int_at(o, maps[i].member, j);

            if (maps[i].rewrites && v == -1)
                ctl_table_text(t, "keep");
            else
                ctl_table_qty(t, v, RPC_U_NONE);
        }
        if (!i && !strcmp(ctl_text(o, "trust"), "dscp"))
            add_dscp(t, o);
    }
}

static void
show_maps(struct ctl *ctl, struct json_object *result)
{
    struct ctl_table *t =
        ctl_table_create(ctl, "Of|Trust|>Default|Priority tags|Map|>0|>1|>2|"
                              ">3|>4|>5|>6|>7");

    if (json_object_is_type(result, json_type_array))
        for (size_t i = 0; i < ctl_len(result); i++)
            add_map(t, ctl_at(result, i));
    else
        add_map(t, result);
    ctl_table_print(t, "no ports");
}

/* Without a name the maps of all ports, one after another. */
static enum ctl_status
run_show(struct ctl *ctl, struct json_object *params)
{
    struct json_object *ports = NULL, *all, *one;
    enum ctl_status status;

    if (ctl_get(params, "port") || ctl_get(params, "bridge"))
        return ctl_run_method(ctl, params);
    status = ctl_call(ctl, "port.list", NULL, &ports);
    if (status)
        return status;
    all = json_object_new_array();
    for (size_t i = 0; !status && i < ctl_len(ports); i++) {
        struct json_object *p = json_object_new_object();

        json_object_object_add(p, "port",
                               json_object_get(
                                   ctl_get(ctl_at(ports, i), "name")));
        status = ctl_call(ctl, "map.show", p, &one);
        if (!status)
            json_object_array_add(all, one);
    }
    json_object_put(ports);
    if (status)
        json_object_put(all);
    else
        ctl_show(ctl, all);
    return status;
}

static enum ctl_status
run_set(struct ctl *ctl, struct json_object *params)
{
    if (!ctl_get(params, "port") == !ctl_get(params, "bridge"))
        return ctl_usage_error(ctl, "map set: either PORT or bridge BRIDGE");
    if (json_object_object_length(params) < 2)
        return ctl_usage_error(ctl, "map set: nothing to set");
    return ctl_run_method(ctl, params);
}

static const struct ctl_verb verbs[] = {
    {.name = "show",
     .args = {{"PORT", "port", true}},
     .keys = show_keys,
     .doc = "The maps of all ports, of one, or the defaults of a bridge.",
     .method = "map.show",
     .show = show_maps,
     .run = run_show},
    {.name = "set",
     .args = {{"PORT", "port", true}},
     .keys = keys,
     .doc = "Changes a port's map, or the defaults of a bridge.",
     .method = "map.set",
     .run = run_set},
    {.name = NULL}};

const struct ctl_noun ctl_map = {.name = "map",
                                 .doc =
                                     "Maps of PCP, DSCP, priority, queue and "
                                     "group.",
                                 .verbs = verbs};
