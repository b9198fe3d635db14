/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl apply and export: the configuration as a whole.
 */
#include "ctl.h"

#include <stdio.h>
#include <string.h>

static const char *
short_text(struct json_object *v)
{
    return v ? json_object_to_json_string_ext(
                   v, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)
             : "-";
}

void
ctl_show_changes(struct ctl *ctl, struct json_object *result)
{
    struct json_object *changed = ctl_get(result, "changed");
    struct ctl_table *t = ctl_table_create(ctl, "Change|Path|Old|New");

    for (size_t i = 0; i < ctl_len(changed); i++) {
        struct json_object *c = ctl_at(changed, i);

        ctl_table_text(t, ctl_text(c, "op"));
        ctl_table_text(t, ctl_text(c, "path"));
        ctl_table_text(t, short_text(ctl_get(c, "old")));
        ctl_table_text(t, short_text(ctl_get(c, "new")));
    }
    ctl_table_print(t, "nothing to change");
    if (ctl->format == CTL_TABLE && ctl_len(changed))
        printf("%zu %s%s\n", ctl_len(changed),
               ctl_len(changed) == 1 ? "change" : "changes",
               ctl_bool(result, "applied") ? ", applied" : ", not applied");
}

static enum ctl_status
run_apply(struct ctl *ctl, struct json_object *params)
{
    struct json_object *conf = ctl_read_json("apply", ctl->words[0]);

    if (!conf)
        return CTL_USAGE;
    json_object_object_add(params, "config", conf);
    if (ctl->dry_run)
        json_object_object_add(params, "dry_run",
                               json_object_new_boolean(true));
    return ctl_run_method(ctl, params);
}

/* The configuration is JSON whatever the format: apply reads it. */
static void
show_export(struct ctl *ctl, struct json_object *result)
{
    (void) ctl;
    ctl_print_json(result, false);
}

static const struct ctl_verb apply_verbs[] = {
    {.name = "run",
     .args = {{"FILE", NULL, false}},
     .options = CTL_O_DRY_RUN,
     .doc = "Makes the configuration what FILE (-: standard input) says; "
            "all or nothing.",
     .method = "config.apply",
     .show = ctl_show_changes,
     .run = run_apply},
    {.name = NULL}};

static const struct ctl_verb export_verbs[] = {
    {.name = "show",
     .doc = "Writes the whole configuration, for apply.",
     .method = "config.export",
     .show = show_export},
    {.name = NULL}};

const struct ctl_noun ctl_apply = {
    .name = "apply",
    .doc = "Sets the whole configuration from a file.",
    .verbs = apply_verbs,
    .is_command = true};
const struct ctl_noun ctl_export = {.name = "export",
                                    .doc = "Writes the whole configuration.",
                                    .verbs = export_verbs,
                                    .is_command = true};
