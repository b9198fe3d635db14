/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl flow: the flow tables, in the syntax of ovs-ofctl.
 */
#include "ctl.h"
#include "ctl_lines.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ctl_key file_keys[] = {
    {.name = "file",
     .kind = CTL_TEXT,
     .path = "file",
     .doc = "a file of flows, a line each (\"-\": standard input)"},
    {.name = "atomic",
     .kind = CTL_FLAG,
     .path = "atomic",
     .doc = "no frame sees a part of the changes"},
    {.name = NULL}};

static const struct ctl_key strict_keys[] = {
    {.name = "file",
     .kind = CTL_TEXT,
     .path = "file",
     .doc = "a file of flows, a line each (\"-\": standard input)"},
    {.name = "strict",
     .kind = CTL_FLAG,
     .path = "strict",
     .doc = "only the flow of exactly this match and priority"},
    {.name = "atomic",
     .kind = CTL_FLAG,
     .path = "atomic",
     .doc = "no frame sees a part of the changes"},
    {.name = NULL}};

static const struct ctl_key dump_keys[] = {{.name = "names",
                                            .kind = CTL_SWITCH,
                                            .path = "names",
                                            .doc = "ports by name [on]"},
                                           {.name = "stats",
                                            .kind = CTL_SWITCH,
                                            .path = "stats",
                                            .doc =
                                                "counters and durations [on]"},
                                           {.name = NULL}};

/* --- changes ---------------------------------------------------------------
 */

/* A line, or a file of them: `file` is no member of params.  What else may be
 * a word with a dash for standard input. */
static enum ctl_status
run_lines(struct ctl *ctl, struct json_object *params, struct ctl_lines what)
{
    struct json_object *result = NULL, *file = NULL;
    enum ctl_status status;

    what.method = ctl->verb->method;
    if (json_object_object_get_ex(params, "file", &file))
        what.file = json_object_get_string(file);
    else if (what.line && strcmp(what.line, "-") == 0)
        what.file = "-";
    if (what.file && what.line && strcmp(what.line, "-"))
        return ctl_usage_error(ctl, "%s %s: either a line or a file",
                               ctl->noun->name, ctl->verb->name);
    json_object_get(file);
    json_object_object_del(params, "file");
    status = ctl_send_lines(ctl, &what, params, &result);
    json_object_put(file);
    if (!status)
        ctl_show(ctl, result);
    return status;
}

static enum ctl_status
run_change(struct ctl *ctl, struct json_object *params)
{
    if (!ctl->words[1] && !ctl_get(params, "file"))
        return ctl_usage_error(ctl, "flow %s: a flow or a file is missing",
                               ctl->verb->name);
    return run_lines(ctl, params,
                     (struct ctl_lines){.member = "flows",
                                        .line = ctl->words[1]});
}

static enum ctl_status
run_del(struct ctl *ctl, struct json_object *params)
{
    return run_lines(ctl, params,
                     (struct ctl_lines){.member = "flows",
                                        .line = ctl->words[1]});
}

static enum ctl_status
run_file(struct ctl *ctl, struct json_object *params, const char *member)
{
    struct json_object *result = NULL;
    const struct ctl_lines what = {.method = ctl->verb->method,
                                   .member = member,
                                   .file = ctl->words[1],
                                   .as_one = true};
    enum ctl_status status = ctl_send_lines(ctl, &what, params, &result);

    if (!status)
        ctl_show(ctl, result);
    return status;
}

static enum ctl_status
run_flows_file(struct ctl *ctl, struct json_object *params)
{
    return run_file(ctl, params, "flows");
}

static enum ctl_status
run_bundle(struct ctl *ctl, struct json_object *params)
{
    return run_file(ctl, params, "lines");
}

static void
show_replaced(struct ctl *ctl, struct json_object *result)
{
    struct ctl_table *t = ctl_table_create(ctl, ">Added|>Deleted|>Same");

    ctl_table_qty(t, ctl_int(result, "added"), RPC_U_NONE);
    ctl_table_qty(t, ctl_int(result, "deleted"), RPC_U_NONE);
    ctl_table_qty(t, ctl_int(result, "same"), RPC_U_NONE);
    ctl_table_print(t, "");
}

static void
put_line(const char *text)
{
    ctl_put_clean(text, stdout);
    putchar('\n');
}

static void
show_diff(struct ctl *ctl, struct json_object *result)
{
    struct json_object *lines = ctl_get(result, "lines");

    for (size_t i = 0; i < ctl_len(lines); i++)
        put_line(json_object_get_string(ctl_at(lines, i)));
    if (ctl->format == CTL_TABLE &&
        ctl_int(result, "differences") > (int64_t) ctl_len(lines))
        ctl_complain("... of %" PRId64 " differences in all",
                     ctl_int(result, "differences"));
}

/* As diff(1): there are differences. */
static enum ctl_status
run_diff(struct ctl *ctl, struct json_object *params)
{
    const struct ctl_lines what = {.method = ctl->verb->method,
                                   .member = "flows",
                                   .file = ctl->words[1],
                                   .as_one = true};
    struct json_object *result = NULL;
    enum ctl_status status = ctl_send_lines(ctl, &what, params, &result);

    if (status)
        return status;
    if (ctl_int(result, "differences") > 0)
        status = CTL_REFUSED;
    ctl_show(ctl, result);
    return status;
}

/* --- dump ------------------------------------------------------------------
 */

/* A line as dump-flows of ovs-ofctl has it. */
static void
print_flow(struct json_object *f, bool stats)
{
    struct json_object *flags = ctl_get(f, "flags");
    int64_t ms = ctl_int(f, "duration_ms");
    const char *match = ctl_text(f, "match");

    printf(" cookie=%s, ", ctl_text(f, "cookie"));
    if (stats)
        printf("duration=%" PRId64 ".%03ds, ", ms / 1000, (int) (ms % 1000));
    printf("table=%" PRId64 ", ", ctl_int(f, "table"));
    if (stats && ctl_get(f, "packets"))
        printf("n_packets=%" PRId64 ", ", ctl_int(f, "packets"));
    if (stats && ctl_get(f, "bytes"))
        printf("n_bytes=%" PRId64 ", ", ctl_int(f, "bytes"));
    if (ctl_int(f, "idle_timeout_s"))
        printf("idle_timeout=%" PRId64 ", ", ctl_int(f, "idle_timeout_s"));
    if (ctl_int(f, "hard_timeout_s"))
        printf("hard_timeout=%" PRId64 ", ", ctl_int(f, "hard_timeout_s"));
    for (size_t i = 0; i < ctl_len(flags); i++)
        printf("%s ", json_object_get_string(ctl_at(flags, i)));
    if (ctl_int(f, "priority") != 32768)
        printf("priority=%" PRId64 "%s", ctl_int(f, "priority"),
               *match && strcmp(match, "-") ? "," : " ");
    if (*match && strcmp(match, "-")) {
        ctl_put_clean(match, stdout);
        putchar(' ');
    }
    printf("actions=");
    put_line(ctl_text(f, "actions"));
}

static void
add_row(struct ctl_table *t, struct json_object *f)
{
    ctl_table_qty(t, ctl_int(f, "table"), RPC_U_NONE);
    ctl_table_qty(t, ctl_int(f, "priority"), RPC_U_NONE);
    ctl_table_text(t, ctl_text(f, "cookie"));
    ctl_table_qty(t, ctl_int(f, "duration_ms"), RPC_U_NONE);
    ctl_table_qty(t, ctl_int(f, "packets"), RPC_U_NONE);
    ctl_table_qty(t, ctl_int(f, "bytes"), RPC_U_NONE);
    ctl_table_text(t, ctl_bool(f, "persist") ? "yes" : "no");
    ctl_table_text(t, ctl_text(f, "match"));
    ctl_table_text(t, ctl_text(f, "actions"));
}

/* A page is shown before the next is asked for. */
static void
show_page(struct ctl *ctl, struct json_object *flows, bool stats,
          struct ctl_table *tsv, struct json_object *all)
{
    for (size_t i = 0; i < ctl_len(flows); i++) {
        struct json_object *f = ctl_at(flows, i);

        if (ctl->format == CTL_JSON)
            json_object_array_add(all, json_object_get(f));
        else if (ctl->format == CTL_TSV)
            add_row(tsv, f);
        else
            print_flow(f, stats);
    }
}

static enum ctl_status
run_dump(struct ctl *ctl, struct json_object *params)
{
    struct json_object *all = json_object_new_array(), *page = NULL;
    struct ctl_table *tsv =
        ctl->format == CTL_TSV
            ? ctl_table_create(ctl, ">Table|>Priority|Cookie|>Duration ms|"
                                    ">Packets|>Bytes|Persist|Match|Actions")
            : NULL;
    bool stats = !ctl_get(params, "stats") || ctl_bool(params, "stats");
    enum ctl_status status;

    json_object_object_del(params, "stats");
    json_object_object_add(params, "limit", json_object_new_int(5000));
    do {
        json_object_put(page);
        page = NULL;
        status = ctl_call(ctl, "flow.dump", json_object_get(params), &page);
        if (status)
            break;
        show_page(ctl, ctl_get(page, "flows"), stats, tsv, all);
        json_object_object_add(params, "after",
                               json_object_get(ctl_get(page, "next")));
    } while (ctl_get(page, "next") && ctl_flush());
    if (!status && ctl->format == CTL_JSON)
        ctl_print_json(all, false);
    if (tsv)
        ctl_table_print(tsv, ""); /* what came before a refusal too */
    json_object_put(page);
    json_object_put(all);
    return status;
}

/* --- trace -----------------------------------------------------------------
 */

/* Octets in hexadecimal, as many as a frame has at least? */
static bool
is_frame(const char *s)
{
    size_t n = 0;

    for (; *s; s++) {
        if (isxdigit((unsigned char) *s))
            n++;
        else if (*s != ':' && !isspace((unsigned char) *s))
            return false;
    }
    return n >= 28;
}

static void
show_trace(struct ctl *ctl, struct json_object *result)
{
    struct json_object *steps = ctl_get(result, "steps");

    for (size_t i = 0; i < ctl_len(steps); i++) {
        struct json_object *s = ctl_at(steps, i);
        const char *what = ctl_text(s, "step");
        bool head = !strcmp(what, "ingress") || !strcmp(what, "match") ||
                    !strcmp(what, "miss") || !strcmp(what, "action-set");

        if (ctl->format == CTL_TSV)
            printf("%s\t", what);
        else
            printf("%*s", head ? 0 : (int) (4 + 4 * ctl_int(s, "depth")), "");
        put_line(ctl_text(s, "text"));
    }
    if (ctl_bool(result, "more"))
        printf("... and more steps than can be shown\n");
    if (ctl->format == CTL_TABLE) {
        printf("verdict: ");
        put_line(ctl_text(result, "verdict"));
    }
}

static enum ctl_status
run_trace(struct ctl *ctl, struct json_object *params)
{
    const char *what = ctl->words[2];

    json_object_object_add(params, is_frame(what) ? "frame" : "flow",
                           json_object_new_string(what));
    return ctl_run_method(ctl, params);
}

static const struct ctl_verb verbs[] = {
    {.name = "dump",
     .args = {{"BRIDGE", "bridge", false}, {"MATCH", "match", true}},
     .keys = dump_keys,
     .options = CTL_O_PERSIST,
     .doc = "Flows and their counters, as ovs-ofctl dump-flows shows them.",
     .method = "flow.dump",
     .run = run_dump},
    {.name = "add",
     .args = {{"BRIDGE", "bridge", false}, {"FLOW", NULL, true}},
     .keys = file_keys,
     .options = CTL_O_PERSIST,
     .doc = "Adds a flow, or those of a file.",
     .method = "flow.add",
     .run = run_change},
    {.name = "mod",
     .args = {{"BRIDGE", "bridge", false}, {"FLOW", NULL, true}},
     .keys = strict_keys,
     .doc = "Gives flows other actions.",
     .method = "flow.mod",
     .run = run_change},
    {.name = "del",
     .args = {{"BRIDGE", "bridge", false}, {"MATCH", NULL, true}},
     .keys = strict_keys,
     .doc = "Deletes flows; without a match all of them.",
     .method = "flow.del",
     .run = run_del},
    {.name = "replace",
     .args = {{"BRIDGE", "bridge", false}, {"FILE", NULL, false}},
     .options = CTL_O_PERSIST,
     .doc = "Makes the flows those of a file, at one moment.",
     .method = "flow.replace",
     .show = show_replaced,
     .run = run_flows_file},
    {.name = "diff",
     .args = {{"BRIDGE", "bridge", false}, {"FILE", NULL, false}},
     .doc = "Compares the flows with those of a file.",
     .method = "flow.diff",
     .show = show_diff,
     .run = run_diff},
    {.name = "bundle",
     .args = {{"BRIDGE", "bridge", false}, {"FILE", NULL, false}},
     .options = CTL_O_PERSIST,
     .doc = "Changes of flows, groups and meters, at one moment.",
     .method = "flow.bundle",
     .run = run_bundle},
    {.name = "trace",
     .args = {{"BRIDGE", "bridge", false},
              {"IN_PORT", "in_port", false},
              {"FRAME|FLOW", NULL, false}},
     .doc = "What would happen to a frame now.",
     .method = "flow.trace",
     .show = show_trace,
     .run = run_trace},
    {.name = NULL}};

const struct ctl_noun ctl_flow = {.name = "flow",
                                  .doc = "Flow tables (OpenFlow).",
                                  .verbs = verbs};
