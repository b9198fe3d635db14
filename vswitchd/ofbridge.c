/* SPDX-License-Identifier: Apache-2.0
 *
 * Books and datapath of a bridge, kept together: see ofbridge.h.  Ports are in
 * ofports.c.
 */
#include "ofbridge.h"

#include "base/clock.h"
#include "bridge.h"
#include "daemon.h"
#include "dp/of.h"
#include "flow_persist.h"
#include "ofports.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Batches that may wait for the datapath before nothing more is taken on. */
#define MAX_WAITING 256u
/* How often timeouts are looked at, while there are any. */
#define EXPIRE_MS 100u

struct posted {
    struct posted *next;         /* younger */
    struct ofproto_batch *batch; /* what */
    uint64_t number;             /* of the datapath; 0: its ring was full */
};

struct ofbridge {
    struct ofbridge *next;        /* of the daemon */
    struct daemon *daemon;        /* whose it is */
    char name[CONF_NAME_MAX + 1]; /* of the bridge */
    struct bridge *bridge;        /* that runs; null: none at the moment */
    struct ofproto *books;        /* of its flows */
    struct ofbridge_hooks hooks;  /* who speaks OpenFlow */
    struct posted *first, *last;  /* not done */
    struct posted *unposted;      /* first of them that has no number */
    bool held;                    /* changes are gathered, not taken */
    uint32_t n_waiting;           /* of them */
    uint64_t ticket;              /* batches ever */
    uint64_t done;                /* of them, in order */
    struct reactor_watch *timer;  /* while entries have timeouts */
    uint64_t due_ns;              /* when the next may be over */
};

/* --- found ----------------------------------------------------------------
 */

struct ofbridge *
ofbridge_find(const struct daemon *d, const char *name)
{
    struct ofbridge *of = d->ofbridges;

    while (of && strcmp(of->name, name) != 0)
        of = of->next;
    return of;
}

void
ofbridge_set_hooks(struct ofbridge *of, const struct ofbridge_hooks *hooks)
{
    of->hooks = *hooks;
}

struct ofproto *
ofbridge_books(struct ofbridge *of)
{
    return of->books;
}

struct bridge *
ofbridge_bridge(struct ofbridge *of)
{
    return of->bridge;
}

/* --- what the books tell ---------------------------------------------------
 */

static void
on_removed(void *arg, const struct ofp_flow_removed *f)
{
    struct ofbridge *of = arg;

    if (of->hooks.flow_removed)
        of->hooks.flow_removed(of->hooks.arg, f);
}

static void
on_port_status(void *arg, unsigned reason, const struct ofp_port *p)
{
    struct ofbridge *of = arg;

    if (of->hooks.port_status)
        of->hooks.port_status(of->hooks.arg, reason, p);
}

static void
on_port_config(void *arg, uint32_t port, uint32_t config)
{
    struct ofbridge *of = arg;

    (void) port;
    (void) config;
    if (of->bridge)
        ofports_configure(of->bridge, of->books);
}

/* --- to the datapath and back ----------------------------------------------
 */

static void
post_waiting(struct ofbridge *of)
{
    struct posted *p = of->unposted;
    bool any = false;

    for (; p && of->bridge; p = p->next) {
        p->number =
            dp_change_post(of->bridge->dp, ofproto_batch_change(p->batch),
                           ofproto_batch_atomic(p->batch));
        if (!p->number)
            break; /* its ring is full: when one is done */
        any = true;
    }
    of->unposted = p;
    if (any)
        dp_thread_kick(of->bridge->thread);
}

static void watch_timeouts(struct ofbridge *of);

/* Takes from the books what is new. */
static void
post_now(struct ofbridge *of)
{
    struct ofproto_batch *b;

    while (of->bridge && (b = ofproto_take(of->books))) {
        struct posted *p = calloc(1, sizeof(*p));

        if (!p)
            abort();
        p->batch = b;
        if (of->last)
            of->last->next = p;
        else
            of->first = p;
        of->last = p;
        if (!of->unposted)
            of->unposted = p;
        of->n_waiting++;
        of->ticket++;
    }
    post_waiting(of);
}

static void
post(struct ofbridge *of)
{
    if (!of->held)
        post_now(of);
}

void
ofbridge_hold(struct ofbridge *of, bool held)
{
    of->held = held;
    post(of);
}

static void
finish_first(struct ofbridge *of)
{
    struct posted *p = of->first;

    of->first = p->next;
    if (!of->first)
        of->last = NULL;
    if (of->unposted == p)
        of->unposted = p->next;
    of->n_waiting--;
    of->done++;
    ofproto_done(of->books, p->batch);
    free(p);
}

void
ofbridge_progress(struct bridge *b)
{
    struct ofbridge *of = ofbridge_find(b->daemon, b->name);
    uint64_t done;

    if (!of || of->bridge != b)
        return;
    done = dp_changes_done(b->dp);
    while (of->first && of->first->number && of->first->number <= done)
        finish_first(of);
    post_waiting(of);
    if (of->hooks.progress)
        of->hooks.progress(of->hooks.arg);
}

bool
ofbridge_has_room(const struct ofbridge *of)
{
    return of->n_waiting < MAX_WAITING;
}

uint64_t
ofbridge_ticket(struct ofbridge *of)
{
    post_now(of);
    return of->ticket;
}

bool
ofbridge_is_done(const struct ofbridge *of, uint64_t ticket)
{
    return of->done >= ticket;
}

/* --- changes ---------------------------------------------------------------
 */

static void
on_timer(void *arg)
{
    struct ofbridge *of = arg;
    uint64_t now_ns = clock_ns();

    if (now_ns < of->due_ns)
        return;
    of->due_ns = ofproto_expire(of->books, now_ns);
    post(of);
    watch_timeouts(of);
}

/* Looks at timeouts only while there are any: an idle switch sleeps. */
static void
watch_timeouts(struct ofbridge *of)
{
    bool any = ofproto_has_timeouts(of->books);

    if (!any) {
        reactor_unwatch(of->timer);
        of->timer = NULL;
        return;
    }
    if (!of->timer) {
        of->due_ns = 0;
        of->timer =
            reactor_watch_timer(of->daemon->reactor, EXPIRE_MS, on_timer, of);
        if (!of->timer)
            abort();
    }
}

bool
ofbridge_apply(struct ofbridge *of, const struct ofproto_mod mods[], size_t n,
               bool atomic, size_t *failed, struct ofp_error *e)
{
    if (!ofproto_apply(of->books, mods, n, atomic, clock_ns(), failed, e))
        return false;
    post(of);
    watch_timeouts(of);
    return true;
}

void
ofbridge_flush(struct ofbridge *of, bool normal)
{
    ofproto_flush(of->books, normal, clock_ns());
    post(of);
    flow_persist_restore(of->daemon, of->name);
}

void
ofbridge_set_default(struct ofbridge *of, unsigned what)
{
    ofproto_set_default(of->books, what);
    post(of);
}

/* --- bridges come and go ---------------------------------------------------
 */

static struct ofbridge *
create(struct bridge *b)
{
    struct ofbridge *of = calloc(1, sizeof(*of));
    struct ofproto_conf conf = {
        .tables = dp_flow_tables(b->dp),
        .notices = {on_removed, on_port_status, on_port_config},
        .arg = of,
    };

    if (!of)
        abort();
    if (getrandom(&conf.seed, sizeof(conf.seed), 0) < 0)
        conf.seed = clock_ns();
    of->daemon = b->daemon;
    snprintf(of->name, sizeof(of->name), "%s", b->name);
    of->books = ofproto_create(&conf);
    of->next = b->daemon->ofbridges;
    b->daemon->ofbridges = of;
    /* As in Open vSwitch: one entry that says what happens, and that whoever
     * wants something else may delete. */
    ofproto_flush(of->books, true, clock_ns());
    ofproto_set_default(of->books, FLOW_DEFAULT_NONE);
    return of;
}

void
ofbridge_attach(struct bridge *b)
{
    struct ofbridge *of = ofbridge_find(b->daemon, b->name);

    if (!of)
        of = create(b);
    else
        ofproto_rebind(of->books, dp_flow_tables(b->dp));
    assert(!of->bridge);
    of->bridge = b;
    post(of);
    ofbridge_update_ports(b);
    if (of->hooks.datapath)
        of->hooks.datapath(of->hooks.arg, b->dp);
}

void
ofbridge_detach(struct bridge *b)
{
    struct ofbridge *of = ofbridge_find(b->daemon, b->name);

    if (!of || of->bridge != b)
        return;
    if (of->hooks.datapath)
        of->hooks.datapath(of->hooks.arg, NULL);
    /* Nobody runs it any more, so that what is left to be done is done
     * here. */
    of->bridge = NULL;
    while (of->first) {
        flow_change_run(dp_flow_tables(b->dp),
                        ofproto_batch_change(of->first->batch), 0);
        finish_first(of);
    }
    ofproto_unbind(of->books);
}

void
ofbridge_forget(struct daemon *d, const char *name)
{
    struct ofbridge **at = &d->ofbridges, *of;

    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    of = *at;
    if (!of)
        return;
    assert(!of->bridge && !of->first);
    *at = of->next;
    reactor_unwatch(of->timer);
    ofproto_destroy(of->books);
    free(of);
}

void
ofbridge_update_ports(struct bridge *b)
{
    const struct conf_bridge *cb = conf_find_bridge(b->daemon->conf, b->name);
    struct ofbridge *of = ofbridge_find(b->daemon, b->name);

    if (!of || of->bridge != b)
        return;
    if (cb)
        ofproto_set_max_flows(of->books, cb->of.max_flows);
    ofports_tell(b, of->books);
    ofports_configure(b, of->books);
}

/* --- numbers ---------------------------------------------------------------
 */

bool
ofbridge_port_stats(struct ofbridge *of, uint32_t port,
                    struct ofp_port_stats *out)
{
    struct port *p = of->bridge ? ofports_find(of->bridge, port) : NULL;

    if (p)
        ofports_stats(p, out);
    return p != NULL;
}

bool
ofbridge_queue_stats(struct ofbridge *of, uint32_t port, uint32_t queue,
                     struct ofp_queue_stats *out)
{
    struct port *p = of->bridge ? ofports_find(of->bridge, port) : NULL;

    if (!p || queue >= OFPROTO_N_QUEUES)
        return false;
    ofports_queue_stats(p, queue, out);
    return true;
}

bool
ofbridge_queue(struct ofbridge *of, uint32_t port, uint32_t queue,
               struct ofp_queue *out)
{
    struct port *p = of->bridge ? ofports_find(of->bridge, port) : NULL;

    if (!p || queue >= OFPROTO_N_QUEUES)
        return false;
    ofports_queue(of->bridge, p, queue, out);
    return true;
}
