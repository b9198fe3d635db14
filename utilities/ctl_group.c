/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl group, meter and table: the rest of OpenFlow's tables, in the
 * syntax of ovs-ofctl.
 */
#include "ctl.h"
#include "ctl_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct ctl_key file_keys[] = {
    {.name = "file",
     .kind = CTL_TEXT,
     .path = "file",
     .doc = "a file of them, a line each (\"-\": standard input)"},
    {.name = NULL}};

static const struct ctl_key group_mod_keys[] = {
    {.name = "file",
     .kind = CTL_TEXT,
     .path = "file",
     .doc = "a file of them, a line each (\"-\": standard input)"},
    {.name = "may-create",
     .kind = CTL_FLAG,
     .path = "may_create",
     .doc = "add those that are not there"},
    {.name = NULL}};

static const struct ctl_key table_keys[] = {{.name = "all",
                                             .kind = CTL_FLAG,
                                             .path = "all",
                                             .doc =
                                                 "tables without flows too"},
                                            {.name = NULL}};

static enum ctl_status
run_change(struct ctl *ctl, struct json_object *params)
{
    bool is_group = !strcmp(ctl->noun->name, "group");
    struct ctl_lines what = {.method = ctl->verb->method,
                             .member = is_group ? "groups" : "meters",
                             .line = ctl->words[1]};
    struct json_object *result = NULL, *file = NULL;
    enum ctl_status status;

    if (json_object_object_get_ex(params, "file", &file))
        what.file = json_object_get_string(file);
    if (!what.line == !what.file)
        return ctl_usage_error(ctl, "%s %s: either a %s or a file",
                               ctl->noun->name, ctl->verb->name,
                               ctl->noun->name);
    json_object_get(file);
    json_object_object_del(params, "file");
    status = ctl_send_lines(ctl, &what, params, &result);
    json_object_put(file);
    if (!status)
        ctl_show(ctl, result);
    return status;
}

/* A group or meter, and what it did. */
static void
show_item(struct json_object *o, const char *text, const char *parts,
          const char *part)
{
    struct json_object *a = ctl_get(o, parts);
    int64_t ms = ctl_int(o, "duration_ms");

    printf(" ");
    ctl_put_clean(ctl_text(o, text), stdout);
    printf("\n   duration=%" PRId64 ".%03ds, ref_count=%" PRId64
           ", packet_count=%" PRId64 ", byte_count=%" PRId64,
           ms / 1000, (int) (ms % 1000), ctl_int(o, "references"),
           ctl_int(o, "packets"), ctl_int(o, "bytes"));
    for (size_t i = 0; i < ctl_len(a); i++)
        printf("%s%s%zu: packet_count=%" PRId64 ", byte_count=%" PRId64,
               i ? ", " : "; ", part, i, ctl_int(ctl_at(a, i), "packets"),
               ctl_int(ctl_at(a, i), "bytes"));
    printf("\n");
}

static enum ctl_status
run_dump(struct ctl *ctl, struct json_object *params)
{
    bool is_group = !strcmp(ctl->noun->name, "group");
    const char *member = is_group ? "groups" : "meters";
    struct json_object *all = json_object_new_array(), *page = NULL;
    int64_t id;
    enum ctl_status status;

    status = ctl_connect(ctl);
    if (!status && ctl->words[1] &&
        rpc_parse_quantity(ctl->words[1], RPC_U_NONE, &id, NULL))
        status = ctl_usage_error(ctl, "%s dump: '%s' is no number",
                                 ctl->noun->name, ctl->words[1]);
    if (!status && ctl->words[1])
        json_object_object_add(params, "id", json_object_new_int64(id));
    while (!status) {
        struct json_object *a;

        status =
            ctl_call(ctl, ctl->verb->method, json_object_get(params), &page);
        if (status)
            break;
        a = ctl_get(page, member);
        for (size_t i = 0; i < ctl_len(a); i++)
            if (ctl->format == CTL_JSON)
                json_object_array_add(all, json_object_get(ctl_at(a, i)));
            else
                show_item(ctl_at(a, i), is_group ? "group" : "meter",
                          is_group ? "buckets" : "bands",
                          is_group ? "bucket" : "band");
        if (!ctl_get(page, "next"))
            break;
        json_object_object_add(params, "after",
                               json_object_get(ctl_get(page, "next")));
        json_object_put(page);
        page = NULL;
    }
    if (!status && ctl->format == CTL_JSON)
        ctl_print_json(all, false);
    json_object_put(page);
    json_object_put(all);
    return status;
}

static void
show_tables(struct ctl *ctl, struct json_object *result)
{
    struct ctl_table *t =
        ctl_table_create(ctl, ">Table|>Flows|>Max flows|>Lookups|>Matched");

    for (size_t i = 0; i < ctl_len(result); i++) {
        struct json_object *o = ctl_at(result, i);

        ctl_table_qty(t, ctl_int(o, "table"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(o, "flows"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(o, "max_flows"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(o, "lookups"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(o, "matched"), RPC_U_NONE);
    }
    ctl_table_print(t, "no tables");
}

static const struct ctl_verb group_verbs[] = {
    {.name = "dump",
     .args = {{"BRIDGE", "bridge", false}, {"ID", NULL, true}},
     .doc = "Groups and their counters.",
     .method = "group.dump",
     .run = run_dump},
    {.name = "add",
     .args = {{"BRIDGE", "bridge", false}, {"GROUP", NULL, true}},
     .keys = file_keys,
     .options = CTL_O_PERSIST,
     .doc = "Adds a group, or those of a file.",
     .method = "group.add",
     .run = run_change},
    {.name = "mod",
     .args = {{"BRIDGE", "bridge", false}, {"GROUP", NULL, true}},
     .keys = group_mod_keys,
     .options = CTL_O_PERSIST,
     .doc = "Gives groups other buckets.",
     .method = "group.mod",
     .run = run_change},
    {.name = "del",
     .args = {{"BRIDGE", "bridge", false}, {"GROUP", NULL, true}},
     .keys = file_keys,
     .doc = "Deletes a group (group_id=N), or all of them (all).",
     .method = "group.del",
     .run = run_change},
    {.name = NULL}};

static const struct ctl_verb meter_verbs[] = {
    {.name = "dump",
     .args = {{"BRIDGE", "bridge", false}, {"ID", NULL, true}},
     .doc = "Meters and their counters.",
     .method = "meter.dump",
     .run = run_dump},
    {.name = "add",
     .args = {{"BRIDGE", "bridge", false}, {"METER", NULL, true}},
     .keys = file_keys,
     .options = CTL_O_PERSIST,
     .doc = "Adds a meter, or those of a file.",
     .method = "meter.add",
     .run = run_change},
    {.name = "mod",
     .args = {{"BRIDGE", "bridge", false}, {"METER", NULL, true}},
     .keys = file_keys,
     .options = CTL_O_PERSIST,
     .doc = "Gives meters other bands.",
     .method = "meter.mod",
     .run = run_change},
    {.name = "del",
     .args = {{"BRIDGE", "bridge", false}, {"METER", NULL, true}},
     .keys = file_keys,
     .doc = "Deletes a meter (meter=N), or all of them (all).",
     .method = "meter.del",
     .run = run_change},
    {.name = NULL}};

static const struct ctl_verb table_verbs[] = {
    {.name = "dump",
     .args = {{"BRIDGE", "bridge", false}},
     .keys = table_keys,
     .doc = "Flow tables: how full, and what they were asked.",
     .method = "table.dump",
     .show = show_tables},
    {.name = NULL}};

const struct ctl_noun ctl_group = {.name = "group",
                                   .doc = "Groups (OpenFlow).",
                                   .verbs = group_verbs};
const struct ctl_noun ctl_meter = {.name = "meter",
                                   .doc = "Meters (OpenFlow).",
                                   .verbs = meter_verbs};
const struct ctl_noun ctl_table_noun = {.name = "table",
                                        .doc = "Flow tables (OpenFlow).",
                                        .verbs = table_verbs};
