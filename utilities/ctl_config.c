/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl apply and export: the configuration as a whole.
 */
#include "ctl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PIECE_PORTS  64 /* of an export; each takes 32 KB at the most */
#define MAX_PIECES   1024
#define EXPORT_TRIES 10

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
    int64_t more = ctl_int(result, "n_more");
    int64_t n = (int64_t) ctl_len(changed) + more;

    for (size_t i = 0; i < ctl_len(changed); i++) {
        struct json_object *c = ctl_at(changed, i);

        ctl_table_text(t, ctl_text(c, "op"));
        ctl_table_text(t, ctl_text(c, "path"));
        ctl_table_text(t, short_text(ctl_get(c, "old")));
        ctl_table_text(t, short_text(ctl_get(c, "new")));
    }
    ctl_table_print(t, "nothing to change");
    if (ctl->format == CTL_TABLE && more)
        printf("... and %" PRId64 " more\n", more);
    if (ctl->format == CTL_TABLE && n)
        printf("%" PRId64 " %s%s\n", n, n == 1 ? "change" : "changes",
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

/* The object that a member is; null: there is none. */
static struct json_object *
object_at(struct json_object *o, const char *name)
{
    struct json_object *v = ctl_get(o, name);

    return json_object_is_type(v, json_type_object) ? v : NULL;
}

/* Adds the bridges and ports of a piece to what there is of the whole, and
 * counts the ports.  False: it is no piece of a configuration. */
static bool
add_piece(struct json_object *whole, struct json_object *piece, int64_t *n)
{
    struct json_object *bridges = object_at(piece, "bridges"), *old;

    *n = 0;
    if (!bridges)
        return false;
    json_object_object_foreach (bridges, name, bridge) {
        struct json_object *ports = object_at(bridge, "ports");

        if (!ports)
            return false;
        *n += json_object_object_length(ports);
        old = object_at(object_at(whole, name), "ports");
        if (!old) {
            json_object_object_add(whole, name, json_object_get(bridge));
            continue;
        }
        json_object_object_foreach (ports, port, conf)
            json_object_object_add(old, port, json_object_get(conf));
    }
    return true;
}

static enum ctl_status
get_generation(struct ctl *ctl, int64_t *generation)
{
    struct json_object *o = NULL;
    enum ctl_status status = ctl_call(ctl, "daemon.status", NULL, &o);

    if (!status)
        *generation = ctl_int(o, "config_generation");
    json_object_put(o);
    return status;
}

/* The bridges, piece by piece: each is less than an answer may be. */
static enum ctl_status
get_pieces(struct ctl *ctl, struct json_object *whole)
{
    int64_t n = PIECE_PORTS;

    for (int i = 0; i < MAX_PIECES && n == PIECE_PORTS; i++) {
        struct json_object *params = json_object_new_object(), *piece = NULL;
        enum ctl_status status;
        bool ok;

        json_object_object_add(params, "first_port",
                               json_object_new_int(i * PIECE_PORTS));
        json_object_object_add(params, "max_ports",
                               json_object_new_int(PIECE_PORTS));
        status = ctl_call(ctl, "config.export", params, &piece);
        if (status)
            return status;
        ok = add_piece(whole, piece, &n);
        json_object_put(piece);
        if (!ok) {
            ctl_complain("export: what the daemon answers is no "
                         "configuration");
            return CTL_REFUSED;
        }
    }
    return CTL_OK;
}

/* Once more if the configuration changed in between: an export is that of one
 * moment. */
static enum ctl_status
run_export(struct ctl *ctl, struct json_object *params)
{
    int64_t before = 0, after = 0;

    (void) params;
    for (int i = 0; i < EXPORT_TRIES; i++) {
        struct json_object *whole = json_object_new_object();
        struct json_object *bridges = json_object_new_object();
        enum ctl_status status = get_generation(ctl, &before);

        json_object_object_add(whole, "bridges", bridges);
        if (!status)
            status = get_pieces(ctl, bridges);
        if (!status)
            status = get_generation(ctl, &after);
        if (!status && before == after) {
            ctl_show(ctl, whole);
            return CTL_OK;
        }
        json_object_put(whole);
        if (status)
            return status;
    }
    ctl_complain("export: the configuration changed all the time, %d times",
                 EXPORT_TRIES);
    return CTL_REFUSED;
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
     .show = show_export,
     .run = run_export},
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
