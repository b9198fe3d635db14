/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl apply and export: the configuration as a whole.
 */
#include "ctl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The call around the configuration takes some octets of its own. */
#define MAX_FILE (RPC_MAX_REQUEST - 256)

/* Reads the file ("-": standard input); null when it was complained about. */
static char *
read_file(const char *name, size_t *n)
{
    FILE *f = strcmp(name, "-") ? fopen(name, "re") : stdin;
    char *text = malloc(MAX_FILE + 1);
    bool failed;

    if (!text)
        abort();
    if (!f) {
        ctl_complain("apply: cannot open %s: %s", name, strerror(errno));
        free(text);
        return NULL;
    }
    *n = fread(text, 1, MAX_FILE + 1, f);
    failed = ferror(f);
    if (failed)
        ctl_complain("apply: cannot read %s: %s", name, strerror(errno));
    else if (*n > MAX_FILE)
        ctl_complain("apply: %s is too long; allowed: at most %d octets", name,
                     MAX_FILE);
    if (f != stdin)
        fclose(f);
    if (failed || *n > MAX_FILE) {
        free(text);
        return NULL;
    }
    return text;
}

/* Offset of the octet at which text stops being JSON.  Octet by octet: the
 * error of a longer piece says only that it is somewhere in it. */
static size_t
find_error(const char *text, size_t n)
{
    struct rpc_stream *s = rpc_stream_create();
    size_t at = 0;

    while (at < n) {
        struct json_object *o = NULL;
        enum rpc_code code;
        size_t used;

        if (rpc_stream_feed(s, text + at, 1, &used, &o, &code) ==
            RPC_FEED_ERROR)
            break;
        json_object_put(o);
        at += used;
    }
    rpc_stream_destroy(s);
    return at;
}

/* Where in the text an offset is. */
static void
locate(const char *text, size_t offset, size_t *line, size_t *column)
{
    *line = 1;
    *column = 1;
    for (size_t i = 0; i < offset; i++) {
        ++*column;
        if (text[i] == '\n') {
            ++*line;
            *column = 1;
        }
    }
}

/* One JSON text and nothing else; null when it was complained about. */
static struct json_object *
parse(const char *name, const char *text, size_t n)
{
    struct rpc_stream *s = rpc_stream_create();
    struct json_object *o = NULL;
    size_t used = 0, line, column;
    enum rpc_code code;
    enum rpc_feed fed = rpc_stream_feed(s, text, n, &used, &o, &code);

    if (fed == RPC_FEED_TEXT && used + strspn(text + used, " \t\r\n") == n &&
        json_object_is_type(o, json_type_object)) {
        rpc_stream_destroy(s);
        return o;
    }
    if (fed != RPC_FEED_TEXT)
        used = fed == RPC_FEED_MORE ? n : find_error(text, n);
    locate(text, used, &line, &column);
    ctl_complain("apply: %s, line %zu, column %zu: %s", name, line, column,
                 fed == RPC_FEED_ERROR  ? rpc_stream_reason(s)
                 : fed == RPC_FEED_MORE ? "the file ends too early"
                 : o == NULL || !json_object_is_type(o, json_type_object)
                     ? "no JSON object"
                     : "something behind the configuration");
    json_object_put(o);
    rpc_stream_destroy(s);
    return NULL;
}

static const char *
short_text(struct json_object *v)
{
    return v ? json_object_to_json_string_ext(
                   v, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)
             : "-";
}

static void
show_applied(struct ctl *ctl, struct json_object *result)
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
    const char *name = ctl->words[0];
    struct json_object *conf;
    size_t n = 0;
    char *text = read_file(name, &n);

    if (!text)
        return CTL_USAGE;
    text[n] = '\0';
    conf = parse(name, text, n);
    free(text);
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
     .show = show_applied,
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
