/* SPDX-License-Identifier: Apache-2.0
 *
 * The history of flow control: see history.h.
 */
#include "history.h"

#include "bridge.h"
#include "events.h"
#include "json.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct history {
    uint64_t n_added;                         /* ever */
    struct history_record ring[HISTORY_SIZE]; /* by number modulo size */
};

struct history *
history_create(void)
{
    return calloc(1, sizeof(struct history));
}

void
history_destroy(struct history *h)
{
    free(h);
}

void
history_inherit(struct bridge *to, struct bridge *from)
{
    struct history *h = to->history;

    events_take_last(from);
    to->history = from->history;
    from->history = h;
    to->events_lost_before =
        from->events_lost_before + dp_events_lost(from->dp);
}

void
history_add(struct history *h, const struct history_record *r)
{
    h->ring[h->n_added++ % HISTORY_SIZE] = *r;
}

uint32_t
history_count(const struct history *h)
{
    return h->n_added < HISTORY_SIZE ? (uint32_t) h->n_added : HISTORY_SIZE;
}

uint64_t
history_overwritten(const struct history *h)
{
    return h->n_added - history_count(h);
}

const struct history_record *
history_get(const struct history *h, uint32_t i)
{
    assert(i < history_count(h));
    return &h->ring[(history_overwritten(h) + i) % HISTORY_SIZE];
}

/* --- records ------------------------------------------------------------- */

void
history_record(const struct bridge *b, const struct dp_event *ev,
               struct history_record *r)
{
    const struct port *p = b->ports[ev->port];
    const struct dp_plan_port *pp = b->plan->ports[ev->port];
    struct dp_storm storm;

    memset(r, 0, sizeof(*r));
    r->ev = *ev;
    snprintf(r->port, sizeof(r->port), "%s", p->name);
    if (ev->cause.bytes && b->ports[ev->cause.port])
        snprintf(r->cause_port, sizeof(r->cause_port), "%s",
                 b->ports[ev->cause.port]->name);
    if (!pp)
        return;
    r->priorities = pp->pg_prios[ev->index];
    r->queue = pp->prio_to_queue[ev->index];
    r->action = (uint8_t) pp->dog.action;
    if (ev->type == DP_EV_RESTORED) {
        dp_storm_get(p->state, ev->index, &storm);
        r->lost = storm.last;
    }
}

static void
add_group(const struct history_record *r, struct json_object *o)
{
    struct json_object *queue = NULL;

    json_add_uint(o, "group", r->ev.index);
    json_object_object_add(o, "priorities", json_bits(r->priorities));
    json_add_uint(o, "held_bytes", r->ev.held_bytes);
    json_add_uint(o, "limit_bytes", r->ev.limit_bytes);
    if (r->cause_port[0]) {
        queue = json_object_new_object();
        json_add_text(queue, "port", r->cause_port);
        json_add_uint(queue, "queue", r->ev.cause.queue);
        json_add_uint(queue, "bytes", r->ev.cause.bytes);
    }
    json_object_object_add(o, "cause", queue);
}

static void
add_restored(const struct history_record *r, struct json_object *o)
{
    json_add_uint(o, "tx_ok", r->lost.tx_ok);
    json_add_uint(o, "tx_drop", r->lost.tx_drop);
    json_add_uint(o, "rx_ok", r->lost.rx_ok);
    json_add_uint(o, "rx_drop", r->lost.rx_drop);
}

struct json_object *
history_json(const struct bridge *b, const struct history_record *r)
{
    struct json_object *o =
        events_object(events_kind(r->ev.type), r->ev.now_ns, b->name, r->port);

    switch (r->ev.type) {
    case DP_EV_XOFF:
        add_group(r, o);
        break;
    case DP_EV_XON:
    case DP_EV_STUCK:
        add_group(r, o);
        json_add_uint(o, "lasted_ns", r->ev.lasted_ns);
        break;
    case DP_EV_RX_PAUSE:
        json_add_uint(o, "priority", r->ev.index);
        json_add_uint(o, "queue", r->queue);
        break;
    case DP_EV_RX_RESUME:
    case DP_EV_STORM:
    case DP_EV_RESTORED:
        json_add_uint(o, "priority", r->ev.index);
        json_add_uint(o, "queue", r->queue);
        json_add_uint(o, "lasted_ns", r->ev.lasted_ns);
        if (r->ev.type == DP_EV_STORM)
            json_add_text(o, "action",
                          conf_watchdog_action_name(
                              (enum watchdog_action) r->action));
        if (r->ev.type == DP_EV_RESTORED)
            add_restored(r, o);
        break;
    case DP_EV_VIOLATION:
    case DP_EV_PORT_DOWN:
        break;
    }
    return o;
}
