/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl controller: who controls a bridge over OpenFlow.
 */
#include "ctl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROBE_KEYS                                                         \
    {.name = "probe",                                                      \
     .kind = CTL_QTY,                                                      \
     .path = "probe_ms",                                                   \
     .max = 3600000,                                                       \
     .word = "off=0",                                                      \
     .doc = "milliseconds of silence before it is asked whether it lives " \
            "[5000]"},                                                     \
    {                                                                      \
        .name = "max-backoff", .kind = CTL_QTY, .path = "max_backoff_ms",  \
        .min = 1000, .max = 3600000,                                       \
        .doc = "longest pause between two attempts, milliseconds [8000]"   \
    }

static const struct ctl_key set_keys[] = {PROBE_KEYS, {.name = NULL}};

/* TARGET[,TARGET...] becomes an array. */
static enum ctl_status
call_with_targets(struct ctl *ctl, struct json_object *params)
{
    struct json_object *text = ctl_get(params, "targets");
    struct json_object *all;
    char *copy, *rest, *item;

    if (!text)
        return ctl_run_method(ctl, params);
    all = json_object_new_array();
    copy = rest = strdup(json_object_get_string(text));
    if (!copy)
        abort();
    while ((item = strsep(&rest, ",")))
        json_object_array_add(all, json_object_new_string(item));
    free(copy);
    json_object_object_add(params, "targets", all);
    return ctl_run_method(ctl, params);
}

static void
show(struct ctl *ctl, struct json_object *result)
{
    struct ctl_table *t = ctl_table_create(
        ctl, "Bridge|Target|State|>Seconds|Peer|Version|Role|Last error");

    for (size_t i = 0; i < ctl_len(result); i++) {
        struct json_object *c = ctl_at(result, i);
        struct json_object *peers = ctl_get(c, "connections");
        size_t k = 0, n = ctl_len(peers);

        do {
            struct json_object *p = k < n ? ctl_at(peers, k) : NULL;

            ctl_table_text(t, ctl_text(c, "bridge"));
            ctl_table_text(t, ctl_text(c, "target"));
            ctl_table_text(t, ctl_text(c, "state"));
            ctl_table_printf(t, "%" PRId64, ctl_int(p ? p : c, "seconds"));
            ctl_table_text(t, p ? ctl_text(p, "peer") : "-");
            ctl_table_text(t, p ? ctl_text(p, "version") : "-");
            ctl_table_text(t, p ? ctl_text(p, "role") : "-");
            ctl_table_text(t, ctl_text(c, "last_error"));
        } while (++k < n);
    }
    ctl_table_print(t, "no controllers, and no management socket");
}

static const struct ctl_verb verbs[] = {
    {.name = "show",
     .args = {{"BRIDGE", "bridge", true}},
     .doc = "Controllers and OpenFlow connections.",
     .method = "controller.show",
     .show = show},
    {.name = "set",
     .args = {{"BRIDGE", "bridge", false}, {"TARGET,...", "targets", false}},
     .keys = set_keys,
     .doc = "Makes these the controllers, and no others: tcp:IP[:PORT], "
            "ssl:IP[:PORT], unix:PATH, ptcp:[PORT][:IP], pssl:[PORT][:IP], "
            "punix:PATH.",
     .method = "controller.set",
     .run = call_with_targets},
    {.name = "add",
     .args = {{"BRIDGE", "bridge", false}, {"TARGET,...", "targets", false}},
     .keys = set_keys,
     .doc = "The same beside those that there are.",
     .method = "controller.add",
     .run = call_with_targets},
    {.name = "del",
     .args = {{"BRIDGE", "bridge", false}, {"TARGET,...", "targets", true}},
     .doc = "Removes controllers; all, when none is named.",
     .method = "controller.del",
     .run = call_with_targets},
    {.name = NULL}};

const struct ctl_noun ctl_controller = {
    .name = "controller",
    .doc = "OpenFlow controllers of a bridge.",
    .verbs = verbs};
