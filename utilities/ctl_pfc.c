/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl pfc and pause: flow control by priority (802.1Qbb) and by link
 * (802.3x).
 */
#include "ctl.h"
#include "ctl_history.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct ctl_key keys[] = {
    {.name = "prio",
     .kind = CTL_ENABLE,
     .path = "enable",
     .bare = true,
     .doc = "which priorities are lossless, like 3:on 4:off all:off"},
    {.name = "prio-pfc",
     .kind = CTL_ENABLE,
     .path = "enable",
     .doc = "the same, as dcb calls it"},
    {.name = "only",
     .kind = CTL_PRIOS,
     .path = "priorities",
     .doc = "exactly these are lossless"},
    {.name = "asymmetric",
     .kind = CTL_SWITCH,
     .path = "asymmetric",
     .doc = "honour PFC on all eight, send for the lossless ones"},
    {.name = "quanta",
     .kind = CTL_QTY,
     .path = "quanta",
     .min = 1,
     .max = 65535,
     .doc = "time in the PFC frames that are sent"},
    {.name = NULL}};

static const struct ctl_key pause_keys[] = {{.name = "rx",
                                             .kind = CTL_SWITCH,
                                             .path = "rx",
                                             .doc = "honour PAUSE frames"},
                                            {.name = "tx",
                                             .kind = CTL_SWITCH,
                                             .path = "tx",
                                             .doc = "send PAUSE frames"},
                                            {.name = NULL}};

/* "3:77824 4:77824 (auto)": headroom of the lossless groups. */
static void
put_headroom(struct ctl_table *t, struct json_object *groups)
{
    char text[256] = "-", number[32];
    size_t n = 0;

    for (size_t i = 0; i < ctl_len(groups) && n < sizeof(text); i++) {
        struct json_object *g = ctl_at(groups, i);

        n +=
            (size_t) snprintf(text + n, sizeof(text) - n, "%s%" PRId64 ":%s%s",
                              i ? " " : "", ctl_int(g, "group"),
                              rpc_format_quantity(ctl_int(g, "headroom_bytes"),
                                                  RPC_U_BYTES, number,
                                                  sizeof(number)),
                              ctl_bool(g, "headroom_auto") ? "(auto)" : "");
    }
    ctl_table_text(t, text);
}

static void
put_xoff(struct ctl_table *t, struct json_object *groups)
{
    struct json_object *on = json_object_new_array();
    char text[32];

    for (size_t i = 0; i < ctl_len(groups); i++)
        if (ctl_bool(ctl_at(groups, i), "xoff"))
            json_object_array_add(on,
                                  json_object_get(
                                      ctl_get(ctl_at(groups, i), "group")));
    ctl_table_text(t, ctl_join(on, text, sizeof(text)));
    json_object_put(on);
}

static void
show_pfc(struct ctl *ctl, struct json_object *result)
{
    struct ctl_table *t =
        ctl_table_create(ctl, "Port|Lossless|Asymmetric|>Quanta|Headroom|"
                              "XOFF|Paused|Pausing");
    char text[32];

    for (size_t i = 0; i < ctl_len(result); i++) {
        struct json_object *p = ctl_at(result, i);

        ctl_table_text(t, ctl_text(p, "port"));
        ctl_table_text(t,
                       ctl_join(ctl_get(p, "priorities"), text, sizeof(text)));
        ctl_table_text(t, ctl_bool(p, "asymmetric") ? "on" : "off");
        ctl_table_printf(t, "%" PRId64, ctl_int(p, "quanta"));
        put_headroom(t, ctl_get(p, "groups"));
        put_xoff(t, ctl_get(p, "groups"));
        ctl_table_text(t, ctl_join(ctl_get(p, "paused"), text, sizeof(text)));
        ctl_table_text(t, ctl_join(ctl_get(p, "pausing"), text, sizeof(text)));
    }
    ctl_table_print(t, "no ports");
}

static void
show_pause(struct ctl *ctl, struct json_object *result)
{
    struct ctl_table *t = ctl_table_create(ctl, "Port|Rx|Tx");

    for (size_t i = 0; i < ctl_len(result); i++) {
        struct json_object *p = ctl_at(result, i), *pause;

        pause = ctl_get(p, "pause");
        ctl_table_text(t, ctl_text(p, "port"));
        ctl_table_text(t, ctl_bool(pause, "rx") ? "on" : "off");
        ctl_table_text(t, ctl_bool(pause, "tx") ? "on" : "off");
    }
    ctl_table_print(t, "no ports");
}

/* Eight numbers of `name` per port, for one direction. */
static void
print_by_priority(struct ctl *ctl, struct json_object *result,
                  const char *direction, const char *title, const char *name,
                  enum rpc_unit unit)
{
    char titles[160];
    struct ctl_table *t;

    snprintf(titles, sizeof(titles),
             "%s|>PFC0|>PFC1|>PFC2|>PFC3|>PFC4|>PFC5|>PFC6|>PFC7", title);
    t = ctl_table_create(ctl, titles);
    for (size_t i = 0; i < ctl_len(result); i++) {
        struct json_object *p = ctl_at(result, i);

        ctl_table_text(t, ctl_text(p, "port"));
        for (size_t prio = 0; prio < 8; prio++)
            ctl_table_qty(t, ctl_int_at(ctl_get(p, direction), name, prio),
                          unit);
    }
    ctl_table_print(t, "no ports");
}

static const char *
text_at(struct json_object *o, const char *name, size_t i)
{
    struct json_object *v = ctl_at(ctl_get(o, name), i);

    return v ? json_object_get_string(v) : "-";
}

/* What there was of pauses: a row per priority that had one. */
static void
print_pauses(struct ctl *ctl, struct json_object *result)
{
    static const char *const directions[] = {"rx", "tx"};
    struct ctl_table *t = ctl_table_create(
        ctl, "Port|Pauses|>Prio|>Number|>Total|>Longest|Longest ended|>Last|"
             "Last ended");
    bool any = false;

    for (size_t i = 0; i < ctl_len(result); i++)
        for (size_t d = 0; d < 2; d++)
            for (size_t prio = 0; prio < 8; prio++) {
                struct json_object *p = ctl_at(result, i);
                struct json_object *c = ctl_get(p, directions[d]);

                if (!ctl_int_at(c, "pauses", prio))
                    continue;
                any = true;
                ctl_table_text(t, ctl_text(p, "port"));
                ctl_table_text(t, d ? "of the peer" : "of ours");
                ctl_table_printf(t, "%zu", prio);
                ctl_table_qty(t, ctl_int_at(c, "pauses", prio), RPC_U_NONE);
                ctl_table_span(t, ctl_int_at(c, "paused_ns", prio));
                ctl_table_span(t, ctl_int_at(c, "longest_ns", prio));
                ctl_table_text(t, text_at(c, "longest_at", prio));
                ctl_table_span(t, ctl_int_at(c, "last_ns", prio));
                ctl_table_text(t, text_at(c, "last_at", prio));
            }
    if (any)
        putchar('\n');
    ctl_table_print(t, NULL);
}

/* The whole as one flat table, a row per port, direction and priority. */
static void
print_counters_tsv(struct ctl *ctl, struct json_object *result)
{
    static const char *const directions[] = {"rx", "tx"};
    struct ctl_table *t = ctl_table_create(
        ctl, "port|direction|priority|pfc|xoff|pauses|paused_ns|longest_ns|"
             "longest_at|last_ns|last_at|late_frames|late_bytes");

    for (size_t i = 0; i < ctl_len(result); i++)
        for (size_t d = 0; d < 2; d++)
            for (size_t prio = 0; prio < 8; prio++) {
                struct json_object *p = ctl_at(result, i);
                struct json_object *c = ctl_get(p, directions[d]);

                ctl_table_text(t, ctl_text(p, "port"));
                ctl_table_text(t, directions[d]);
                ctl_table_printf(t, "%zu", prio);
                ctl_table_qty(t, ctl_int_at(c, "pfc", prio), RPC_U_NONE);
                ctl_table_qty(t, ctl_int_at(c, "xoff", prio), RPC_U_NONE);
                ctl_table_qty(t, ctl_int_at(c, "pauses", prio), RPC_U_NONE);
                ctl_table_span(t, ctl_int_at(c, "paused_ns", prio));
                ctl_table_span(t, ctl_int_at(c, "longest_ns", prio));
                ctl_table_text(t, text_at(c, "longest_at", prio));
                ctl_table_span(t, ctl_int_at(c, "last_ns", prio));
                ctl_table_text(t, text_at(c, "last_at", prio));
                ctl_table_qty(t, ctl_int_at(c, "late_frames", prio),
                              RPC_U_NONE);
                ctl_table_qty(t, ctl_int_at(c, "late_bytes", prio),
                              RPC_U_NONE);
            }
    ctl_table_print(t, NULL);
}

static void
show_counters(struct ctl *ctl, struct json_object *result)
{
    struct ctl_table *t;

    if (ctl->format == CTL_TSV) {
        print_counters_tsv(ctl, result);
        return;
    }
    print_by_priority(ctl, result, "rx", "Port Rx", "pfc", RPC_U_NONE);
    putchar('\n');
    print_by_priority(ctl, result, "tx", "Port Tx", "pfc", RPC_U_NONE);
    puts("\nTime for which the peer paused us:");
    print_by_priority(ctl, result, "rx", "Port Rx", "paused_ns", RPC_U_NS);
    puts("\nTime for which we paused the peer:");
    print_by_priority(ctl, result, "tx", "Port Tx", "paused_ns", RPC_U_NS);
    putchar('\n');
    t = ctl_table_create(ctl, "Port|>PAUSE rx|>PAUSE tx|>Not enabled|"
                              ">Malformed|>Unsupported");
    for (size_t i = 0; i < ctl_len(result); i++) {
        struct json_object *p = ctl_at(result, i), *rx = ctl_get(p, "rx");

        ctl_table_text(t, ctl_text(p, "port"));
        ctl_table_qty(t, ctl_int(rx, "pause"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(ctl_get(p, "tx"), "pause"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(rx, "not_enabled"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(rx, "malformed"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(rx, "unsupported"), RPC_U_NONE);
    }
    ctl_table_print(t, NULL);
    print_pauses(ctl, result);
}

/* Something has to be set. */
static enum ctl_status
run_set(struct ctl *ctl, struct json_object *params)
{
    if (json_object_object_length(params) < 2)
        return ctl_usage_error(ctl, "%s set: nothing to set", ctl->noun->name);
    return ctl_run_method(ctl, params);
}

static const struct ctl_key counters_keys[] = {CTL_KEY_CLEAR, {.name = NULL}};

static const struct ctl_verb verbs[] = {
    {.name = "show",
     .args = {{"PORT", "port", true}},
     .doc = "Lossless priorities, headroom and who is paused now.",
     .method = "pfc.show",
     .show = show_pfc},
    {.name = "counters",
     .args = {{"PORT", "port", true}},
     .keys = counters_keys,
     .options = CTL_O_RAW,
     .clear_method = "pfc.counters_clear",
     .doc = "PFC frames and pause times by priority; --raw as if they had "
            "never been cleared.",
     .method = "pfc.counters",
     .show = show_counters},
    {.name = "history",
     .args = {{"PORT", "port", true}},
     .keys = ctl_history_keys,
     .doc = "XOFF, XON, pauses and storms: when, why, for how long.",
     .method = "pfc.history",
     .show = ctl_show_history},
    {.name = "graph",
     .keys = ctl_graph_keys,
     .doc = "Who waits for whom now, and whether in a circle.",
     .run = ctl_run_graph},
    {.name = "set",
     .args = {{"PORT", "port", false}},
     .keys = keys,
     .doc = "Makes priorities lossless, or lossy again.",
     .method = "pfc.set",
     .run = run_set},
    {.name = NULL}};

static const struct ctl_verb pause_verbs[] = {
    {.name = "show",
     .args = {{"PORT", "port", true}},
     .doc = "Which ports honour and send PAUSE.",
     .method = "pfc.show",
     .show = show_pause},
    {.name = "set",
     .args = {{"PORT", "port", false}},
     .keys = pause_keys,
     .doc = "802.3x PAUSE; excludes PFC on the port.",
     .method = "pause.set",
     .run = run_set},
    {.name = NULL}};

const struct ctl_noun ctl_pfc = {.name = "pfc",
                                 .doc =
                                     "Priority-based flow control (802.1Qbb).",
                                 .verbs = verbs};
const struct ctl_noun ctl_pause = {.name = "pause",
                                   .doc = "Link-level PAUSE (802.3x).",
                                   .verbs = pause_verbs};
