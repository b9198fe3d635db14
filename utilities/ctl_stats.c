/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl stats: counters of ports, once or again and again.
 */
#include "base/clock.h"
#include "ctl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t
sum_of(struct json_object *array)
{
    int64_t sum = 0;

    for (size_t i = 0; i < ctl_len(array); i++)
        sum += json_object_get_int64(ctl_at(array, i));
    return sum;
}

static int64_t
sum_of_members(struct json_object *o)
{
    int64_t sum = 0;

    if (json_object_is_type(o, json_type_object)) {
        json_object_object_foreach (o, name, v) {
            (void) name;
            sum += json_object_get_int64(v);
        }
    }
    return sum;
}

static struct json_object *
find_port(struct json_object *result, const char *port)
{
    for (size_t i = 0; i < ctl_len(result); i++)
        if (!strcmp(ctl_text(ctl_at(result, i), "port"), port))
            return ctl_at(result, i);
    return NULL;
}

/* Per second, between two samples; 0 where there was no earlier one. */
static int64_t
rate_of(struct json_object *now, struct json_object *before,
        const char *member, uint64_t ns)
{
    int64_t more = ctl_int(now, member) - ctl_int(before, member);

    if (!before || !ns || more < 0)
        return 0;
    return (int64_t) ((double) more * 1e9 / (double) ns);
}

static void
add_port(struct ctl_table *t, struct json_object *p,
         struct json_object *before, bool rates, uint64_t ns)
{
    ctl_table_text(t, ctl_text(p, "port"));
    ctl_table_text(t, ctl_text(p, "bridge"));
    ctl_table_text(t, ctl_text(p, "state"));
    ctl_table_qty(t, ctl_int(p, "rx_frames"), RPC_U_NONE);
    ctl_table_qty(t, ctl_int(p, "rx_bytes"), RPC_U_NONE);
    ctl_table_qty(t, ctl_int(p, "tx_frames"), RPC_U_NONE);
    ctl_table_qty(t, ctl_int(p, "tx_bytes"), RPC_U_NONE);
    ctl_table_qty(t, ctl_int(p, "held"), RPC_U_NONE);
    ctl_table_qty(t, sum_of_members(ctl_get(p, "drops")), RPC_U_NONE);
    /* Of those that the kernel lost the priority is not known. */
    ctl_table_qty(t,
                  sum_of(ctl_get(p, "violations")) +
                      ctl_int(p, "violations_unknown"),
                  RPC_U_NONE);
    if (rates) {
        static const char *const members[] = {"rx_frames", "tx_frames"};
        static const char *const octets[] = {"rx_bytes", "tx_bytes"};

        for (int i = 0; i < 2; i++)
            ctl_table_qty(t, rate_of(p, before, members[i], ns), RPC_U_NONE);
        for (int i = 0; i < 2; i++)
            ctl_table_qty(t, rate_of(p, before, octets[i], ns) * 8,
                          RPC_U_NONE);
    }
}

#define TITLES                                                           \
    "Port|Bridge|State|>Rx frames|>Rx bytes|>Tx frames|>Tx bytes|>Held|" \
    ">Drops|>Violations"
#define RATES "|>Rx fps|>Tx fps|>Rx bps|>Tx bps"

static void
print_ports(struct ctl *ctl, struct json_object *now,
            struct json_object *before, uint64_t ns)
{
    bool rates = ctl->watch;
    struct ctl_table *t = ctl_table_create(ctl, rates ? TITLES RATES : TITLES);

    for (size_t i = 0; i < ctl_len(now); i++) {
        struct json_object *p = ctl_at(now, i);

        add_port(t, p, find_port(before, ctl_text(p, "port")), rates, ns);
    }
    ctl_table_print(t, "no ports");
}

/* Why frames were dropped, where any were. */
static void
print_drops(struct ctl *ctl, struct json_object *result)
{
    struct ctl_table *t = ctl_table_create(ctl, "Port|Reason|>Drops|>Bytes");
    bool any = false;

    for (size_t i = 0; i < ctl_len(result); i++) {
        struct json_object *p = ctl_at(result, i);
        struct json_object *drops = ctl_get(p, "drops");
        struct json_object *bytes = ctl_get(p, "drop_bytes");

        if (!json_object_is_type(drops, json_type_object))
            continue;
        json_object_object_foreach (drops, reason, v) {
            if (!json_object_get_int64(v))
                continue;
            any = true;
            ctl_table_text(t, ctl_text(p, "port"));
            ctl_table_text(t, reason);
            ctl_table_qty(t, json_object_get_int64(v), RPC_U_NONE);
            /* How long frames were that the kernel lost it does not say. */
            if (ctl_get(bytes, reason))
                ctl_table_qty(t, ctl_int(bytes, reason), RPC_U_NONE);
            else
                ctl_table_text(t, "-");
        }
    }
    if (any)
        putchar('\n');
    ctl_table_print(t, NULL);
}

/* Groups and queues of one port, side by side. */
static void
print_classes(struct ctl *ctl, struct json_object *p)
{
    struct ctl_table *t = ctl_table_create(
        ctl, ">Class|>PG rx frames|>PG rx bytes|>PG drops|>Queue tx frames|"
             ">Queue tx bytes|>Queue drops|>Violations|>PG drop bytes|"
             ">Queue drop bytes");

    for (size_t i = 0; i < 8; i++) {
        struct json_object *g = ctl_at(ctl_get(p, "groups"), i);
        struct json_object *q = ctl_at(ctl_get(p, "queues"), i);

        ctl_table_printf(t, "%zu", i);
        ctl_table_qty(t, ctl_int(g, "rx_frames"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(g, "rx_bytes"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(g, "drops"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(q, "tx_frames"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(q, "tx_bytes"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(q, "drops"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int_at(p, "violations", i), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(g, "drop_bytes"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(q, "drop_bytes"), RPC_U_NONE);
    }
    putchar('\n');
    ctl_table_print(t, NULL);
}

static void
print_sample(struct ctl *ctl, struct json_object *now,
             struct json_object *before, uint64_t ns)
{
    if (ctl->format == CTL_JSON) {
        ctl_print_json(now, ctl->watch);
        return;
    }
    print_ports(ctl, now, before, ns);
    if (ctl->format == CTL_TSV)
        return;
    if (ctl->words[0] && ctl_len(now) == 1)
        print_classes(ctl, ctl_at(now, 0));
    print_drops(ctl, now);
}

static void
sleep_until(uint64_t when)
{
    struct timespec ts = {.tv_sec = (time_t) (when / NS_PER_S),
                          .tv_nsec = (long) (when % NS_PER_S)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
        continue;
}

/* Samples follow one another in place on a terminal, else with an empty line
 * between. */
static void
begin_sample(const struct ctl *ctl, int64_t n)
{
    if (!ctl->watch || ctl->format != CTL_TABLE)
        return;
    if (isatty(STDOUT_FILENO))
        fputs("\033[H\033[J", stdout);
    else if (n)
        putchar('\n');
}

static enum ctl_status
run(struct ctl *ctl, struct json_object *params)
{
    int64_t n_samples = !ctl->watch ? 1 : ctl->count ? ctl->count : INT64_MAX;
    uint64_t interval = (uint64_t) ctl->watch_ms * NS_PER_MS, last = 0;
    uint64_t next = clock_ns();
    struct json_object *before = NULL;
    enum ctl_status status = CTL_OK;

    for (int64_t n = 0; n < n_samples; n++) {
        struct json_object *now = NULL;
        uint64_t at;

        if (n)
            sleep_until(next);
        next += interval;
        status = ctl_call(ctl, "stats.show", json_object_get(params), &now);
        if (status)
            break;
        at = clock_ns();
        begin_sample(ctl, n);
        print_sample(ctl, now, before, at - last);
        json_object_put(before);
        before = now;
        last = at;
        if (!ctl_flush()) {
            status = CTL_REFUSED;
            break;
        }
    }
    json_object_put(before);
    return status;
}

static const struct ctl_key keys[] = {CTL_KEY_CLEAR, {.name = NULL}};

static const struct ctl_verb verbs[] = {
    {.name = "show",
     .args = {{"PORT", "port", true}},
     .keys = keys,
     .options = CTL_O_WATCH | CTL_O_COUNT | CTL_O_RAW,
     .clear_method = "stats.clear",
     .doc = "Counters of all ports or of one; --watch repeats, with rates; "
            "--raw as if they had never been cleared.",
     .run = run},
    {.name = NULL}};

const struct ctl_noun ctl_stats = {.name = "stats",
                                   .doc =
                                       "Counters of ports, drops by reason.",
                                   .verbs = verbs,
                                   .is_command = true};
