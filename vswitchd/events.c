/* SPDX-License-Identifier: Apache-2.0
 *
 * Events: see events.h.
 */
#include "events.h"

#include "base/clock.h"
#include "base/log.h"
#include "daemon.h"
#include "history.h"
#include "json.h"
#include "rpc_server.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Events taken from a datapath in one go; the rest is taken in the next turn
 * of the loop. */
#define MAX_TAKEN 1024
#define LOG_PER_S 5
/* Violations of a port that are nearer to each other share an event. */
#define VIOLATION_NS (100 * NS_PER_MS)

const char *const event_names[] = {"xoff",      "xon",   "pause",  "resume",
                                   "violation", "link",  "config", "storm",
                                   "restored",  "stuck", NULL};

static const char *
kind_name(enum event_kind kind)
{
    return event_names[__builtin_ctz(kind)];
}

enum event_kind
events_kind(enum dp_event_type type)
{
    static const enum event_kind kinds[] = {
        [DP_EV_XOFF] = EVENT_XOFF,           [DP_EV_XON] = EVENT_XON,
        [DP_EV_VIOLATION] = EVENT_VIOLATION, [DP_EV_RX_PAUSE] = EVENT_PAUSE,
        [DP_EV_RX_RESUME] = EVENT_RESUME,    [DP_EV_PORT_DOWN] = EVENT_LINK,
        [DP_EV_STORM] = EVENT_STORM,         [DP_EV_RESTORED] = EVENT_RESTORED,
        [DP_EV_STUCK] = EVENT_STUCK,
    };

    return kinds[type];
}

struct json_object *
events_object(enum event_kind kind, uint64_t when_ns, const char *bridge,
              const char *port)
{
    struct json_object *o = json_object_new_object();

    json_add_text(o, "type", kind_name(kind));
    json_object_object_add(o, "time", json_moment(when_ns));
    if (bridge)
        json_add_text(o, "bridge", bridge);
    if (port)
        json_add_text(o, "port", port);
    return o;
}

static struct json_object *
new_event(enum event_kind kind, uint64_t when_ns, const struct bridge *b,
          const struct port *p)
{
    return events_object(kind, when_ns, b ? b->name : NULL,
                         p ? p->name : NULL);
}

/* Sends the event, and puts it. */
static void
publish(struct daemon *d, enum event_kind kind, const char *port,
        struct json_object *o)
{
    char *text = rpc_notification("event", o);

    rpc_server_notify(d->server, kind, port, text);
    free(text);
    json_object_put(o);
}

static bool
is_wanted(const struct daemon *d, enum event_kind kind)
{
    return d->server && rpc_server_wants(d->server, kind);
}

/* Whether one more event of a pause may be shown in this second. */
static bool
within_rate(struct port *p, uint64_t now_ns)
{
    uint64_t second = now_ns / NS_PER_S;

    if (second != p->xoff_second) {
        p->xoff_second = second;
        p->n_xoff = 0;
    }
    if (p->n_xoff >= EVENTS_PER_SECOND) {
        p->xoff_held++;
        return false;
    }
    p->n_xoff++;
    return true;
}

/* Pauses in both directions: all of them are kept, not all are streamed. */
static void
on_pause(struct bridge *b, struct port *p, const struct history_record *r)
{
    enum event_kind kind = events_kind(r->ev.type);
    struct json_object *o;

    if (!is_wanted(b->daemon, kind) || !within_rate(p, r->ev.now_ns))
        return;
    o = history_json(b, r);
    if (p->xoff_held)
        json_add_uint(o, "suppressed", p->xoff_held);
    p->xoff_held = 0;
    publish(b->daemon, kind, p->name, o);
}

static void
log_trouble(struct bridge *b, const struct history_record *r)
{
    unsigned ms = (unsigned) (r->ev.lasted_ns / NS_PER_MS);

    if (r->ev.type == DP_EV_STORM)
        log_warn("bridge %s: port %s: PFC storm: the peer has paused priority "
                 "%u for %u ms: action %s",
                 b->name, r->port, r->ev.index, ms,
                 conf_watchdog_action_name((enum watchdog_action) r->action));
    else if (r->ev.type == DP_EV_RESTORED)
        log_info("bridge %s: port %s: the PFC storm on priority %u is over "
                 "after %u ms: %" PRIu64 " frames to it and %" PRIu64
                 " from it were discarded",
                 b->name, r->port, r->ev.index, ms, r->lost.tx_drop,
                 r->lost.rx_drop);
    else
        log_warn("bridge %s: port %s: group %u has paused the peer for %u ms "
                 "without an XON; most of what it holds is for port %s "
                 "queue %u",
                 b->name, r->port, r->ev.index, ms,
                 r->cause_port[0] ? r->cause_port : "(none)",
                 r->ev.cause.queue);
}

/* Storms and endless pauses: rare, and told in any case. */
static void
on_trouble(struct bridge *b, const struct history_record *r)
{
    enum event_kind kind = events_kind(r->ev.type);

    if (log_limit_ok(&b->storm_limit, LOG_PER_S, r->ev.now_ns))
        log_trouble(b, r);
    if (is_wanted(b->daemon, kind))
        publish(b->daemon, kind, r->port, history_json(b, r));
}

void
events_violations(struct bridge *b, struct port *p)
{
    struct json_object *o;

    if (!p->n_violations)
        return;
    if (is_wanted(b->daemon, EVENT_VIOLATION)) {
        o = new_event(EVENT_VIOLATION, p->violation_ns, b, p);
        json_add_uint(o, "priority", p->violation_prio);
        json_add_text(o, "reason", dp_drop_name(p->violation_reason));
        json_add_uint(o, "frames", p->n_violations);
        publish(b->daemon, EVENT_VIOLATION, p->name, o);
    }
    p->n_violations = 0;
}

/* A lossless frame is lost: told in any case, if not one by one.  Those of one
 * priority that come faster than VIOLATION_NS share an event, which the next
 * one, or the daemon's tick, sends. */
static void
on_violation(struct bridge *b, struct port *p, const struct dp_event *ev)
{
    if (log_limit_ok(&b->violation_limit, LOG_PER_S, ev->now_ns))
        log_warn("bridge %s: port %s: a frame of lossless priority %u was "
                 "lost (%s): %ssee doctor",
                 b->name, p->name, ev->index, dp_drop_name(ev->reason),
                 ev->reason == DP_DROP_HEADROOM_EXCEEDED
                     ? "its headroom was too small, "
                     : "");
    if (p->violation_prio != ev->index || p->violation_reason != ev->reason)
        events_violations(b, p);
    p->violation_prio = ev->index;
    p->violation_reason = ev->reason;
    p->n_violations++;
    if (ev->now_ns - p->violation_ns >= VIOLATION_NS) {
        p->violation_ns = ev->now_ns;
        events_violations(b, p);
    }
}

static void
on_event(struct bridge *b, const struct dp_event *ev)
{
    struct port *p = b->ports[ev->port];
    struct history_record r;

    if (!p) /* it was removed meanwhile */
        return;
    if (ev->type == DP_EV_VIOLATION) {
        on_violation(b, p, ev);
        return;
    }
    if (ev->type == DP_EV_PORT_DOWN) /* netlink says so, and when it is up */
        return;
    history_record(b, ev, &r);
    history_add(b->history, &r);
    if (ev->type == DP_EV_STORM || ev->type == DP_EV_RESTORED ||
        ev->type == DP_EV_STUCK)
        on_trouble(b, &r);
    else
        on_pause(b, p, &r);
}

void
events_take(struct bridge *b)
{
    uint64_t lost = dp_events_lost(b->dp);
    struct dp_event ev;
    int n = 0;

    while (n < MAX_TAKEN && dp_event_get(b->dp, &ev)) {
        on_event(b, &ev);
        n++;
    }
    if (n == MAX_TAKEN)
        dp_thread_call_again(b->thread);
    if (lost != b->events_lost_seen) {
        log_warn("bridge %s: %" PRIu64 " events came faster than they could "
                 "be told",
                 b->name, lost - b->events_lost_seen);
        b->events_lost_seen = lost;
    }
}

void
events_take_last(struct bridge *b)
{
    struct dp_event ev;

    while (dp_event_get(b->dp, &ev))
        on_event(b, &ev);
}

void
events_link(struct bridge *b, const struct port *p)
{
    struct json_object *o;

    if (!is_wanted(b->daemon, EVENT_LINK))
        return;
    o = new_event(EVENT_LINK, clock_ns(), b, p);
    json_add_text(o, "state", port_state_name(p->link));
    publish(b->daemon, EVENT_LINK, p->name, o);
}

void
events_config(struct daemon *d, const struct conf *from, const struct conf *to)
{
    struct json_object *o;

    if (!is_wanted(d, EVENT_CONFIG))
        return;
    o = new_event(EVENT_CONFIG, clock_ns(), NULL, NULL);
    json_add_changes(o, conf_diff(from, to));
    publish(d, EVENT_CONFIG, NULL, o);
}

void
events_kernel_drops(struct bridge *b, struct port *p, const char *reason,
                    uint64_t n)
{
    uint64_t now = clock_ns();
    struct json_object *o;

    if (log_limit_ok(&b->violation_limit, LOG_PER_S, now))
        log_warn("bridge %s: port %s: the kernel lost %" PRIu64
                 " frames (%s), of lossless classes perhaps: see doctor",
                 b->name, p->name, n, reason);
    if (!is_wanted(b->daemon, EVENT_VIOLATION))
        return;
    o = new_event(EVENT_VIOLATION, now, b, p);
    json_object_object_add(o, "priority", NULL);
    json_add_text(o, "reason", reason);
    json_add_uint(o, "frames", n);
    publish(b->daemon, EVENT_VIOLATION, p->name, o);
}
