/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl pfc history: what flow control did, why, and for how long.
 */
#include "ctl_history.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct ctl_key ctl_history_keys[] = {
    {.name = "limit",
     .kind = CTL_QTY,
     .path = "limit",
     .min = 1,
     .max = 4096,
     .doc = "how many events at most, the newest ones [100]"},
    {.name = NULL}};

/* "eth2 queue 3 (96K)": what holds most of a group. */
static void
put_cause(struct ctl_table *t, struct json_object *e)
{
    struct json_object *cause = ctl_get(e, "cause");
    char size[32];

    if (!cause) {
        ctl_table_text(t, "-");
        return;
    }
    ctl_table_printf(t, "%s queue %" PRId64 " (%s)", ctl_text(cause, "port"),
                     ctl_int(cause, "queue"),
                     rpc_format_quantity(ctl_int(cause, "bytes"), RPC_U_BYTES,
                                         size, sizeof(size)));
}

static void
put_number(struct ctl_table *t, struct json_object *e, const char *member,
           enum rpc_unit unit)
{
    if (ctl_get(e, member) && unit == RPC_U_NS)
        ctl_table_span(t, ctl_int(e, member));
    else if (ctl_get(e, member))
        ctl_table_qty(t, ctl_int(e, member), unit);
    else
        ctl_table_text(t, "-");
}

static void
show_events(struct ctl *ctl, struct json_object *events)
{
    struct ctl_table *t = ctl_table_create(
        ctl, "Time|Bridge|Port|Event|>Group|>Prio|>Held|>Limit|>Lasted|Most "
             "of it in");

    for (size_t i = 0; i < ctl_len(events); i++) {
        struct json_object *e = ctl_at(events, i);

        ctl_table_text(t, ctl_text(e, "time"));
        ctl_table_text(t, ctl_text(e, "bridge"));
        ctl_table_text(t, ctl_text(e, "port"));
        ctl_table_text(t, ctl_text(e, "type"));
        put_number(t, e, "group", RPC_U_NONE);
        put_number(t, e, "priority", RPC_U_NONE);
        put_number(t, e, "held_bytes", RPC_U_BYTES);
        put_number(t, e, "limit_bytes", RPC_U_BYTES);
        put_number(t, e, "lasted_ns", RPC_U_NS);
        put_cause(t, e);
    }
    ctl_table_print(t, "nothing has happened");
}

static void
show_lengths(struct ctl *ctl, struct json_object *pauses, const char *side,
             const char *title, const char *none)
{
    struct ctl_table *t;
    char titles[120];

    snprintf(titles, sizeof(titles),
             "%s|>Prio|>Pauses|>Total|>Longest|Ended|>Last|Ended|>Now", title);
    t = ctl_table_create(ctl, titles);
    for (size_t i = 0; i < ctl_len(pauses); i++) {
        struct json_object *p = ctl_at(pauses, i), *l = ctl_get(p, side);
        const char *at;

        ctl_table_text(t, ctl_text(p, "port"));
        ctl_table_printf(t, "%" PRId64, ctl_int(p, "priority"));
        ctl_table_qty(t, ctl_int(l, "pauses"), RPC_U_NONE);
        ctl_table_span(t, ctl_int(l, "paused_ns"));
        ctl_table_span(t, ctl_int(l, "longest_ns"));
        at = ctl_text(l, "longest_at");
        ctl_table_text(t, *at ? at : "-");
        ctl_table_span(t, ctl_int(l, "last_ns"));
        at = ctl_text(l, "last_at");
        ctl_table_text(t, *at ? at : "-");
        ctl_table_span(t, ctl_int(l, "present_ns"));
    }
    ctl_table_print(t, none);
}

void
ctl_show_history(struct ctl *ctl, struct json_object *result)
{
    struct json_object *bridges = ctl_get(result, "bridges");

    show_events(ctl, ctl_get(result, "events"));
    if (ctl->format == CTL_TSV)
        return;
    putchar('\n');
    show_lengths(ctl, ctl_get(result, "pauses"), "rx", "Paused by peer",
                 "no peer has paused us");
    putchar('\n');
    show_lengths(ctl, ctl_get(result, "pauses"), "tx", "Pausing peer",
                 "we have paused no peer");
    for (size_t i = 0; i < ctl_len(bridges); i++) {
        struct json_object *b = ctl_at(bridges, i);

        if (ctl_int(b, "overwritten") || ctl_int(b, "lost"))
            printf("\nbridge %s: %" PRId64 " older events were overwritten, "
                   "%" PRId64 " came too fast to be kept\n",
                   ctl_text(b, "bridge"), ctl_int(b, "overwritten"),
                   ctl_int(b, "lost"));
    }
}
