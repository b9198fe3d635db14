/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl events: what happens, a line each, as it happens.
 */
#include "base/clock.h"
#include "ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const types[] = {"xoff",      "xon",   "pause",  "resume",
                                    "violation", "link",  "config", "storm",
                                    "restored",  "stuck", NULL};

static const struct ctl_key keys[] = {{.name = "type",
                                       .kind = CTL_LIST,
                                       .path = "types",
                                       .choices = types,
                                       .doc = "only these"},
                                      {.name = "port",
                                       .kind = CTL_TEXT,
                                       .path = "port",
                                       .doc = "only those of a port"},
                                      {.name = NULL}};

/* "time type name=value ...": readable, and easy to cut apart. */
static void
print_event(struct ctl *ctl, struct json_object *e)
{
    const char *separator = ctl->format == CTL_TSV ? "\t" : " ";

    if (ctl->format == CTL_JSON) {
        ctl_print_json(e, true);
        return;
    }
    ctl_put_clean(ctl_text(e, "time"), stdout);
    fputs(separator, stdout);
    ctl_put_clean(ctl_text(e, "type"), stdout);
    if (json_object_is_type(e, json_type_object)) {
        json_object_object_foreach (e, name, v) {
            if (!strcmp(name, "time") || !strcmp(name, "type"))
                continue;
            printf("%s%s=", separator, name);
            ctl_put_clean(v ? json_object_get_string(v) : "null", stdout);
        }
    }
    putchar('\n');
}

/* How long to wait for the next event; -1: for ever. */
static int
wait_ms(uint64_t deadline)
{
    uint64_t now = clock_ns();

    if (deadline == CLOCK_NEVER)
        return -1;
    return now >= deadline
               ? 0
               : (int) ((deadline - now + NS_PER_MS - 1) / NS_PER_MS);
}

static enum ctl_status
follow(struct ctl *ctl)
{
    uint64_t deadline = CLOCK_NEVER;
    struct err err;

    if (ctl->timeout_ms >= 0)
        deadline = clock_ns() + (uint64_t) ctl->timeout_ms * NS_PER_MS;
    for (int64_t n = 0; !ctl->count || n < ctl->count; n++) {
        struct json_object *o = NULL;
        int error;

        err_clear(&err);
        error = rpc_next_notification(ctl->conn, wait_ms(deadline), &o, &err);
        if (error == ETIMEDOUT && !ctl->count)
            return CTL_OK;
        if (error == ETIMEDOUT) {
            ctl_complain("events: %" PRId64 " of %" PRId64
                         " came within the time",
                         n, ctl->count);
            return CTL_REFUSED;
        }
        if (error) {
            ctl_complain("%s", err.msg);
            return CTL_NO_DAEMON;
        }
        print_event(ctl, ctl_get(o, "params"));
        json_object_put(o);
        if (!ctl_flush())
            return CTL_REFUSED;
    }
    return CTL_OK;
}

static enum ctl_status
run(struct ctl *ctl, struct json_object *params)
{
    struct json_object *result = NULL;
    enum ctl_status status;

    status =
        ctl_call(ctl, "events.subscribe", json_object_get(params), &result);
    json_object_put(result);
    return status ? status : follow(ctl);
}

static const struct ctl_verb verbs[] = {
    {.name = "follow",
     .keys = keys,
     .options = CTL_O_COUNT | CTL_O_DURATION,
     .doc = "Prints events until --count or --timeout, or for ever.",
     .run = run},
    {.name = NULL}};

const struct ctl_noun ctl_events = {
    .name = "events",
    .doc = "XOFF and XON, violations, links, configuration, as they happen.",
    .verbs = verbs,
    .is_command = true};
