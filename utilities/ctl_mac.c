/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl mac: learned addresses.
 */
#include "ctl.h"

#include <inttypes.h>
#include <stdio.h>

static const struct ctl_key show_keys[] = {
    {.name = "limit",
     .kind = CTL_QTY,
     .path = "limit",
     .min = 1,
     .max = 10000,
     .doc = "at most so many entries [1000]"},
    {.name = NULL}};

static const struct ctl_key flush_keys[] = {{.name = "port",
                                             .kind = CTL_TEXT,
                                             .path = "port",
                                             .doc = "only those on a port"},
                                            {.name = "vid",
                                             .kind = CTL_QTY,
                                             .path = "vid",
                                             .max = 4094,
                                             .doc = "only those of a VLAN"},
                                            {.name = NULL}};

/* Without a bridge the only one is meant. */
static enum ctl_status
need_bridge(struct ctl *ctl, struct json_object *params)
{
    struct json_object *list = NULL;
    enum ctl_status status;

    if (ctl_get(params, "bridge"))
        return CTL_OK;
    status = ctl_call(ctl, "bridge.list", NULL, &list);
    if (status)
        return status;
    if (ctl_len(list) == 1)
        json_object_object_add(params, "bridge",
                               json_object_get(
                                   ctl_get(ctl_at(list, 0), "name")));
    else
        status = ctl_usage_error(ctl,
                                 "mac %s: BRIDGE is missing, and there are "
                                 "%zu bridges",
                                 ctl->verb->name, ctl_len(list));
    json_object_put(list);
    return status;
}

static enum ctl_status
run(struct ctl *ctl, struct json_object *params)
{
    enum ctl_status status = need_bridge(ctl, params);

    return status ? status : ctl_run_method(ctl, params);
}

static void
show_macs(struct ctl *ctl, struct json_object *result)
{
    struct json_object *all = ctl_get(result, "entries");
    struct ctl_table *t = ctl_table_create(ctl, ">VLAN|MAC|Port|>Age|Static");

    for (size_t i = 0; i < ctl_len(all); i++) {
        struct json_object *e = ctl_at(all, i);

        ctl_table_qty(t, ctl_int(e, "vid"), RPC_U_NONE);
        ctl_table_text(t, ctl_text(e, "mac"));
        ctl_table_text(t, ctl_text(e, "port"));
        ctl_table_qty(t, ctl_int(e, "age_s"), RPC_U_S);
        ctl_table_text(t, ctl_bool(e, "static") ? "yes" : "no");
    }
    ctl_table_print(t, "no addresses learned");
    if (ctl->format == CTL_TABLE &&
        ctl_int(result, "total") > (int64_t) ctl_len(all))
        printf("... of %" PRId64 " in all (see \"limit\")\n",
               ctl_int(result, "total"));
}

static void
show_flushed(struct ctl *ctl, struct json_object *result)
{
    if (ctl->format == CTL_TABLE)
        printf("%" PRId64 " removed\n", ctl_int(result, "removed"));
    else
        printf("removed\n%" PRId64 "\n", ctl_int(result, "removed"));
}

static const struct ctl_verb verbs[] = {{.name = "show",
                                         .args = {{"BRIDGE", "bridge", true}},
                                         .keys = show_keys,
                                         .doc =
                                             "Learned addresses of a bridge.",
                                         .method = "mac.list",
                                         .show = show_macs,
                                         .run = run},
                                        {.name = "flush",
                                         .args = {{"BRIDGE", "bridge", true}},
                                         .keys = flush_keys,
                                         .doc = "Forgets learned addresses.",
                                         .method = "mac.flush",
                                         .show = show_flushed,
                                         .run = run},
                                        {.name = NULL}};

const struct ctl_noun ctl_mac = {.name = "mac",
                                 .doc = "Learned MAC addresses.",
                                 .verbs = verbs};
