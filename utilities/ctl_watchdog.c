/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl watchdog and drill: storms of PFC, found and made.
 */
#include "ctl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DRILL_MAX_MS 600000

static const char *const actions[] = {"drop", "forward", "alert", NULL};
static const char *const guard_actions[] = {"alert", "release", NULL};

static const struct ctl_key start_keys[] = {
    {.name = "action",
     .kind = CTL_WORD,
     .path = "action",
     .choices = actions,
     .doc = "in a storm [drop]"},
    {.name = "detection",
     .kind = CTL_QTY,
     .path = "detection_ms",
     .unit = RPC_U_MS,
     .min = 100,
     .max = 5000,
     .doc = "paused for so long: a storm; in ms, or with s [200]"},
    {.name = "restoration",
     .kind = CTL_QTY,
     .path = "restoration_ms",
     .unit = RPC_U_MS,
     .min = 100,
     .max = 60000,
     .doc = "no XOFF for so long: it is over [200]"},
    {.name = "poll",
     .kind = CTL_QTY,
     .path = "poll_ms",
     .unit = RPC_U_MS,
     .min = 100,
     .max = 1000,
     .doc = "how often is looked, not above the other two [200]"},
    {.name = NULL}};

static const struct ctl_key guard_keys[] = {
    {.name = "time",
     .kind = CTL_QTY,
     .path = "time_ms",
     .unit = RPC_U_MS,
     .min = 100,
     .max = 60000,
     .word = "off=0",
     .doc = "pausing the peer for longer without an XON, in ms, or with s"},
    {.name = "action",
     .kind = CTL_WORD,
     .path = "action",
     .choices = guard_actions,
     .doc = "report, or let the peer go too [alert]"},
    {.name = NULL}};

static void
put_status(struct ctl_table *t, struct json_object *q)
{
    struct json_object *total = ctl_get(q, "total"), *last;

    last = ctl_get(q, "last");
    ctl_table_text(t, ctl_text(q, "status"));
    ctl_table_printf(t, "%" PRId64 "/%" PRId64, ctl_int(q, "detected"),
                     ctl_int(q, "restored"));
    ctl_table_printf(t, "%" PRId64 "/%" PRId64, ctl_int(total, "tx_ok"),
                     ctl_int(total, "tx_drop"));
    ctl_table_printf(t, "%" PRId64 "/%" PRId64, ctl_int(total, "rx_ok"),
                     ctl_int(total, "rx_drop"));
    ctl_table_printf(t, "%" PRId64 "/%" PRId64, ctl_int(last, "tx_ok"),
                     ctl_int(last, "tx_drop"));
    ctl_table_printf(t, "%" PRId64 "/%" PRId64, ctl_int(last, "rx_ok"),
                     ctl_int(last, "rx_drop"));
}

static void
show_queues(struct ctl *ctl, struct json_object *result)
{
    struct ctl_table *t = ctl_table_create(
        ctl, "Queue|>Prio|Status|>Detect/restored|>Tx ok/drop|>Rx ok/drop|"
             ">Tx last ok/drop|>Rx last ok/drop");

    for (size_t i = 0; i < ctl_len(result); i++) {
        struct json_object *p = ctl_at(result, i);
        struct json_object *queues = ctl_get(p, "queues");

        for (size_t k = 0; k < ctl_len(queues); k++) {
            struct json_object *q = ctl_at(queues, k);

            ctl_table_printf(t, "%s:%" PRId64, ctl_text(p, "port"),
                             ctl_int(q, "queue"));
            ctl_table_printf(t, "%" PRId64, ctl_int(q, "priority"));
            put_status(t, q);
        }
    }
    ctl_table_print(t, "nothing is watched");
}

static void
show_watchdog(struct ctl *ctl, struct json_object *result)
{
    struct ctl_table *t;
    char stuck[32];

    show_queues(ctl, result);
    if (ctl->format == CTL_TSV)
        return;
    putchar('\n');
    t = ctl_table_create(ctl, "Port|Watchdog|Action|>Detection|>Restoration|"
                              ">Poll|>Guard|Guard action|Stuck groups");
    for (size_t i = 0; i < ctl_len(result); i++) {
        struct json_object *p = ctl_at(result, i), *guard;
        const char *forced = ctl_text(p, "override");

        guard = ctl_get(p, "guard");
        ctl_table_text(t, ctl_text(p, "port"));
        ctl_table_text(t, ctl_bool(p, "enabled") ? "on" : "off");
        if (*forced && strcmp(forced, "off"))
            ctl_table_printf(t, "%s (override)", forced);
        else
            ctl_table_text(t, ctl_text(p, "action"));
        ctl_table_qty(t, ctl_int(p, "detection_ms"), RPC_U_MS);
        ctl_table_qty(t, ctl_int(p, "restoration_ms"), RPC_U_MS);
        ctl_table_qty(t, ctl_int(p, "poll_ms"), RPC_U_MS);
        if (ctl_int(guard, "time_ms"))
            ctl_table_qty(t, ctl_int(guard, "time_ms"), RPC_U_MS);
        else
            ctl_table_text(t, "off");
        ctl_table_text(t, ctl_text(guard, "action"));
        ctl_table_text(t, ctl_join(ctl_get(guard, "stuck"), stuck,
                                   sizeof(stuck)));
    }
    ctl_table_print(t, "no ports");
}

static const struct ctl_verb verbs[] = {
    {.name = "show",
     .args = {{"PORT", "port", true}},
     .doc = "What is watched, and what was found.",
     .method = "watchdog.show",
     .show = show_watchdog},
    {.name = "start",
     .args = {{"PORT", "port", false}},
     .keys = start_keys,
     .doc = "Watches the lossless priorities of a port.",
     .method = "watchdog.start"},
    {.name = "stop",
     .args = {{"PORT", "port", false}},
     .doc = "Ends that, and any storm.",
     .method = "watchdog.stop"},
    {.name = "override",
     .args = {{"drop|forward|off", "action", false}},
     .doc = "What is done in every storm, whatever ports say.",
     .method = "watchdog.override"},
    {.name = "guard",
     .args = {{"PORT", "port", false}},
     .keys = guard_keys,
     .doc = "Looks for our own endless pausing of a peer.",
     .method = "watchdog.guard"},
    {.name = NULL}};

const struct ctl_noun ctl_watchdog = {
    .name = "watchdog",
    .doc = "PFC storms of peers, and of our own.",
    .verbs = verbs};

/* --- drills ---------------------------------------------------------------
 */

static const struct ctl_key storm_keys[] = {
    {.name = "prio",
     .required = true,
     .kind = CTL_PRIOS,
     .path = "priorities",
     .doc = "priorities that the peer is told to stop"},
    {.name = "for",
     .required = true,
     .kind = CTL_QTY,
     .path = "duration_ms",
     .unit = RPC_U_MS,
     .min = 1,
     .max = DRILL_MAX_MS,
     .doc = "how long, in ms, or with s or min"},
    {.name = NULL}};

static const struct ctl_key hold_keys[] = {
    {.name = "queue",
     .required = true,
     .kind = CTL_PRIOS,
     .path = "queues",
     .doc = "queues that send nothing"},
    {.name = "for",
     .required = true,
     .kind = CTL_QTY,
     .path = "duration_ms",
     .unit = RPC_U_MS,
     .min = 1,
     .max = DRILL_MAX_MS,
     .doc = "how long, in ms, or with s or min"},
    {.name = NULL}};

static void
show_drills(struct ctl *ctl, struct json_object *result)
{
    struct ctl_table *t =
        ctl_table_create(ctl, "Port|Drill|>Priority|>Queue|>Left");

    for (size_t i = 0; i < ctl_len(result); i++) {
        struct json_object *d = ctl_at(result, i);

        ctl_table_text(t, ctl_text(d, "port"));
        ctl_table_text(t, ctl_text(d, "drill"));
        for (int k = 0; k < 2; k++) {
            const char *member = k ? "queue" : "priority";

            if (ctl_get(d, member))
                ctl_table_printf(t, "%" PRId64, ctl_int(d, member));
            else
                ctl_table_text(t, "-");
        }
        ctl_table_qty(t, ctl_int(d, "left_ns") / 1000000, RPC_U_MS);
    }
    ctl_table_print(t, "no drills");
}

static const struct ctl_verb drill_verbs[] = {
    {.name = "show",
     .args = {{"PORT", "port", true}},
     .doc = "Drills that go on.",
     .method = "drill.show",
     .show = show_drills},
    {.name = "storm",
     .args = {{"PORT", "port", false}},
     .keys = storm_keys,
     .doc = "Sends a storm of PFC out of a port.",
     .method = "drill.storm"},
    {.name = "hold",
     .args = {{"PORT", "port", false}},
     .keys = hold_keys,
     .doc = "Holds queues as if they were paused.",
     .method = "drill.hold"},
    {.name = "stop",
     .args = {{"PORT", "port", true}},
     .doc = "Ends drills now.",
     .method = "drill.stop"},
    {.name = NULL}};

const struct ctl_noun ctl_drill = {
    .name = "drill",
    .doc = "Storms and stuck queues on purpose, for a time.",
    .verbs = drill_verbs};
