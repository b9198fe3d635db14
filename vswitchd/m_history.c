/* SPDX-License-Identifier: Apache-2.0
 *
 * The history of flow control: who paused whom, when, why and for how long.
 * Control thread.
 */
#include "methods.h"

#include "base/clock.h"
#include "events.h"
#include "history.h"
#include "json.h"

#include <string.h>

#define DEFAULT_LIMIT 100

/* --- what happened --------------------------------------------------------
 */

/* Where the reading of a bridge's ring stands: newest first. */
struct cursor {
    const struct bridge *bridge; /* whose */
    uint32_t left;               /* records not looked at */
};

static const struct history_record *
newest(const struct cursor *c)
{
    return c->left ? history_get(c->bridge->history, c->left - 1) : NULL;
}

/* The newest record that any bridge has left; null: none. */
static struct cursor *
pick(struct cursor c[], uint32_t n)
{
    struct cursor *best = NULL;

    for (uint32_t i = 0; i < n; i++)
        if (newest(&c[i]) &&
            (!best || newest(&c[i])->ev.now_ns > newest(best)->ev.now_ns))
            best = &c[i];
    return best;
}

/* The last `limit` events, in the order in which they happened. */
static struct json_object *
events_of(struct daemon *d, const char *port, int64_t limit)
{
    struct json_object *backwards[HISTORY_SIZE];
    struct json_object *a = json_object_new_array();
    struct cursor c[CONF_MAX_BRIDGES], *next;
    int64_t n = 0;

    for (uint32_t i = 0; i < d->n_bridges; i++)
        c[i] = (struct cursor){d->bridges[i],
                               history_count(d->bridges[i]->history)};
    while (n < limit && (next = pick(c, d->n_bridges))) {
        const struct history_record *r = newest(next);

        next->left--;
        if (!port || !strcmp(port, r->port))
            backwards[n++] = history_json(next->bridge, r);
    }
    while (n > 0)
        json_object_array_add(a, backwards[--n]);
    return a;
}

/* --- how long -------------------------------------------------------------
 */

struct lengths {
    const counter_t *pauses, *total; /* by priority */
    const counter_t *longest, *longest_at;
    const counter_t *last, *last_at;
};

static void
add_time(struct json_object *o, const char *key, uint64_t when_ns)
{
    json_object_object_add(o, key, json_moment(when_ns));
}

static struct json_object *
lengths_object(const struct lengths *l, int p, uint64_t since_ns)
{
    struct json_object *o = json_object_new_object();
    uint64_t now_ns = clock_ns();

    json_add_uint(o, "pauses", counter_get(&l->pauses[p]));
    json_add_uint(o, "paused_ns", counter_get(&l->total[p]));
    json_add_uint(o, "longest_ns", counter_get(&l->longest[p]));
    add_time(o, "longest_at", counter_get(&l->longest_at[p]));
    json_add_uint(o, "last_ns", counter_get(&l->last[p]));
    add_time(o, "last_at", counter_get(&l->last_at[p]));
    json_add_uint(o, "present_ns",
                  since_ns && now_ns > since_ns ? now_ns - since_ns : 0);
    return o;
}

static void
add_lengths(const struct port_view *v, struct json_object *to)
{
    const struct pfc *pfc = dp_port_pfc(v->port->state);
    struct counts c;
    const struct pfc_counters *n = &c.pfc;
    const struct lengths rx = {n->rx_pauses,     n->rx_paused_ns,
                               n->rx_longest_ns, n->rx_longest_at_ns,
                               n->rx_last_ns,    n->rx_last_at_ns};
    const struct lengths tx = {n->tx_pauses,     n->tx_paused_ns,
                               n->tx_longest_ns, n->tx_longest_at_ns,
                               n->tx_last_ns,    n->tx_last_at_ns};

    counts_get(v->port, true, &c);
    for (int p = 0; p < N_PRIO; p++) {
        struct json_object *o;

        if (!counter_get(&n->rx_pauses[p]) && !counter_get(&n->tx_pauses[p]))
            continue;
        o = json_object_new_object();
        json_add_text(o, "port", v->port->name);
        json_add_uint(o, "priority", (uint64_t) p);
        json_object_object_add(
            o, "rx",
            lengths_object(&rx, p,
                           counter_get_bits(&pfc->paused) >> p & 1
                               ? counter_get(&pfc->since_ns[p])
                               : 0));
        json_object_object_add(
            o, "tx",
            lengths_object(&tx, p,
                           counter_get_bits(&pfc->asserted) >> p & 1
                               ? counter_get(&pfc->asserted_ns[p])
                               : 0));
        json_object_array_add(to, o);
    }
}

/* --- both -----------------------------------------------------------------
 */

static struct json_object *
bridges_of(const struct daemon *d)
{
    struct json_object *a = json_object_new_array();

    for (uint32_t i = 0; i < d->conf->n_bridges; i++) {
        struct bridge *b = daemon_find_bridge(d, d->conf->bridges[i]->name);
        struct json_object *o = json_object_new_object();

        json_add_text(o, "bridge", b->name);
        json_add_uint(o, "size", HISTORY_SIZE);
        json_add_uint(o, "records", history_count(b->history));
        json_add_uint(o, "overwritten", history_overwritten(b->history));
        json_add_uint(o, "lost",
                      b->events_lost_before + dp_events_lost(b->dp));
        json_object_array_add(a, o);
    }
    return a;
}

static int
show(void *ctx, struct rpc_client *client, struct json_object *params,
     struct json_object **result, struct err *err)
{
    const char *port = json_get_text(params, "port", NULL);
    int64_t limit = json_get_int(params, "limit", DEFAULT_LIMIT);
    struct json_object *pauses;
    int error = methods_each_port(ctx, params, add_lengths, &pauses, err);

    (void) client;
    if (error)
        return error;
    /* What lies in the datapath's ring is history too. */
    for (uint32_t i = 0; i < ((struct daemon *) ctx)->n_bridges; i++)
        events_take(((struct daemon *) ctx)->bridges[i]);
    *result = json_object_new_object();
    json_object_object_add(*result, "bridges", bridges_of(ctx));
    json_object_object_add(*result, "events", events_of(ctx, port, limit));
    json_object_object_add(*result, "pauses", pauses);
    return 0;
}

static const struct rpc_param show_params[] = {
    PARAM_NAME("port", false, "Only this port."),
    PARAM_INT("limit", 1, HISTORY_SIZE, RPC_U_NONE,
              "How many events at most, the newest ones [100]."),
    PARAM_END,
};

const struct rpc_method methods_history[] = {
    {
        .name = "pfc.history",
        .doc =
            "Shows what flow control did, oldest first: XOFF and XON of our "
            "groups with occupancy, limit and the egress queue that held "
            "most of it (cause); pauses of ours by the peer; storms and "
            "endless pauses.  And how long pauses were.  A bridge keeps "
            "the last "
            "4096 events.",
        .params = show_params,
        .result =
            "An object: bridges (bridge, size, records, overwritten: events "
            "that were pushed out, lost: events that came too fast to be "
            "kept), events (as events.subscribe sends them: type, time, "
            "bridge, port; xoff, xon and stuck: group, priorities, "
            "held_bytes, limit_bytes, cause (port, queue, bytes) or null; "
            "pause, resume, storm, restored: priority, queue; xon, resume, "
            "storm, restored, stuck: lasted_ns), pauses (port, priority, rx "
            "and tx: pauses, paused_ns, longest_ns, longest_at, last_ns, "
            "last_at, present_ns: of one that goes on).",
        .example = "{\"port\": \"eth1\", \"limit\": 10}",
        .handler = show,
    },
    {.name = NULL},
};
