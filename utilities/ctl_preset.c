/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl preset and import: configuration that comes from elsewhere.
 */
#include "ctl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- preset -----------------------------------------------------------------
 */

static void
show_presets(struct ctl *ctl, struct json_object *result)
{
    struct ctl_table *t = ctl_table_create(ctl, "Preset|Description");

    for (size_t i = 0; i < ctl_len(result); i++) {
        ctl_table_text(t, ctl_text(ctl_at(result, i), "name"));
        ctl_table_text(t, ctl_text(ctl_at(result, i), "description"));
    }
    ctl_table_print(t, "no presets");
}

/* Whether a method's list has an element of that name. */
static enum ctl_status
is_listed(struct ctl *ctl, const char *method, const char *name, bool *is)
{
    struct json_object *list = NULL;
    enum ctl_status status = ctl_call(ctl, method, NULL, &list);

    *is = false;
    for (size_t i = 0; !status && i < ctl_len(list); i++)
        *is |= !strcmp(ctl_text(ctl_at(list, i), "name"), name);
    json_object_put(list);
    return status;
}

static enum ctl_status
run_preset(struct ctl *ctl, struct json_object *params)
{
    const char *target = ctl->words[1];
    enum ctl_status status;
    bool bridge, port = false;

    status = is_listed(ctl, "bridge.list", target, &bridge);
    if (!status && !bridge)
        status = is_listed(ctl, "port.list", target, &port);
    if (status)
        return status;
    if (!bridge && !port) {
        ctl_complain("there is no bridge and no port \"%.60s\"; allowed: "
                     "those that \"bridge list\" and \"port list\" show",
                     target);
        return CTL_REFUSED;
    }
    json_object_object_add(params, bridge ? "bridge" : "port",
                           json_object_new_string(target));
    if (ctl->dry_run)
        json_object_object_add(params, "dry_run",
                               json_object_new_boolean(true));
    return ctl_run_method(ctl, params);
}

static const struct ctl_verb preset_verbs[] = {
    {.name = "list",
     .doc = "The presets that there are.",
     .method = "preset.list",
     .show = show_presets},
    {.name = "apply",
     .args = {{"PRESET", "name", false}, {"BRIDGE|PORT", NULL, false}},
     .options = CTL_O_DRY_RUN,
     .doc = "Sets PFC, PAUSE, maps, groups and queues of a port, or of all "
            "ports of a bridge, anew.",
     .method = "preset.apply",
     .show = ctl_show_changes,
     .run = run_preset},
    {.name = NULL}};

const struct ctl_noun ctl_preset = {
    .name = "preset",
    .doc = "Lossless classes as others have them.",
    .verbs = preset_verbs};

/* --- import -----------------------------------------------------------------
 */

static void
show_import(struct ctl *ctl, struct json_object *result)
{
    struct json_object *notes = ctl_get(result, "not_mapped");
    struct ctl_table *t;

    ctl_show_changes(ctl, result);
    if (ctl->format == CTL_TABLE)
        putchar('\n');
    t = ctl_table_create(ctl, "Not mapped|Why");
    for (size_t i = 0; i < ctl_len(notes); i++) {
        ctl_table_text(t, ctl_text(ctl_at(notes, i), "path"));
        ctl_table_text(t, ctl_text(ctl_at(notes, i), "why"));
    }
    ctl_table_print(t, "everything was mapped");
}

/* "Ethernet0=eth1,Ethernet4=eth2"; false: it is none. */
static bool
read_names(const char *text, struct json_object *to)
{
    char *copy = strdup(text), *rest = copy, *item;
    bool ok = true;

    if (!copy)
        abort();
    while (ok && (item = strsep(&rest, ","))) {
        char *equals = strchr(item, '=');

        ok = equals && equals > item && equals[1];
        if (!ok)
            continue;
        *equals = '\0';
        ok = !json_object_object_get_ex(to, item, NULL);
        json_object_object_add(to, item, json_object_new_string(equals + 1));
    }
    free(copy);
    return ok;
}

static enum ctl_status
run_import(struct ctl *ctl, struct json_object *params)
{
    struct json_object *names = ctl_get(params, "ports"), *db, *map;

    if (names) {
        map = json_object_new_object();
        if (!read_names(json_object_get_string(names), map)) {
            json_object_put(map);
            return ctl_usage_error(
                ctl,
                "import sonic: ports: '%.60s' is no list of "
                "ports; allowed: THEIRS=OURS,THEIRS=OURS, "
                "each of THEIRS once",
                json_object_get_string(names));
        }
        json_object_object_add(params, "ports", map);
    }
    db = ctl_read_json("import", ctl->words[0]);
    if (!db)
        return CTL_USAGE;
    json_object_object_add(params, "config_db", db);
    if (ctl->dry_run)
        json_object_object_add(params, "dry_run",
                               json_object_new_boolean(true));
    return ctl_run_method(ctl, params);
}

static const struct ctl_key import_keys[] = {
    {.name = "bridge",
     .kind = CTL_TEXT,
     .path = "bridge",
     .doc = "whose ports are meant, when there is more than one"},
    {.name = "ports",
     .kind = CTL_TEXT,
     .path = "ports",
     .doc = "names of theirs and ours, like Ethernet0=eth1,Ethernet4=eth2"},
    {.name = "links",
     .kind = CTL_FLAG,
     .path = "links",
     .doc = "rates and lengths of cables too"},
    {.name = NULL}};

static const struct ctl_verb import_verbs[] = {
    {.name = "sonic",
     .args = {{"FILE", NULL, false}},
     .keys = import_keys,
     .options = CTL_O_DRY_RUN,
     .doc = "Takes over the QoS tables of a config_db.json (-: standard "
            "input), and lists what has no counterpart.",
     .method = "config.import_sonic",
     .show = show_import,
     .run = run_import},
    {.name = NULL}};

const struct ctl_noun ctl_import = {.name = "import",
                                    .doc = "Configuration of other switches.",
                                    .verbs = import_verbs};
