/* SPDX-License-Identifier: Apache-2.0
 *
 * A bridge that runs: see bridge.h.
 */
#include "bridge.h"

#include "base/clock.h"
#include "daemon.h"
#include "events.h"
#include "history.h"
#include "ofbridge.h"
#include "ofp/action.h"
#include "pkt/share.h"
#include "qos/headroom.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define SETTLE_NS    NS_PER_S
#define POLL_STEP_NS 20000

const char *
port_state_name(enum port_state state)
{
    static const char *const names[] = {"absent", "down", "up"};

    return names[state];
}

/* --- ports -------------------------------------------------------------- */

struct port *
port_create(const struct conf_port *c)
{
    struct port *p = calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    snprintf(p->name, sizeof(p->name), "%s", c->name);
    p->slot = c->slot;
    p->ofport = c->ofport;
    p->is_local = c->ofport == OFPP_LOCAL;
    p->created_ns = clock_ns();
    p->cls = c->cls;
    p->ring_conf = c->ring_bytes;
    p->state = dp_port_create();
    if (!p->state) {
        free(p);
        return NULL;
    }
    return p;
}

void
port_destroy(struct port *p)
{
    if (!p)
        return;
    if (p->heir) {
        counts_inherit(p->heir, p);
        p->heir->origin = NULL;
    }
    if (p->origin)
        p->origin->heir = NULL;
    netdev_close(p->netdev);
    dp_port_destroy(p->state);
    free(p);
}

void
port_set_heir(struct port *from, struct port *to)
{
    from->heir = to;
    to->origin = from;
}

void
port_take_netdev(struct port *p, struct netdev *nd)
{
    p->netdev = nd;
    port_kernel_drops(nd, p->kernel_seen);
    p->live.speed_bps = nd->speed_bps;
    p->live.mtu = nd->mtu;
    memcpy(p->live.mac, nd->mac, sizeof(p->live.mac));
    p->n_attached++;
    p->refusal[0] = '\0';
    if (nd->fallback[0])
        log_info("port %s: afpacket, since AF_XDP is not possible: %s",
                 p->name, nd->fallback);
    else if (nd->mode)
        log_info("port %s: AF_XDP, %s", p->name, nd->mode);
}

void
port_refuse(struct port *p, const char *bridge, const char *why)
{
    bool is_new = strncmp(p->refusal, why, sizeof(p->refusal) - 1) != 0;

    log_msg(is_new ? LOG_LVL_WARN : LOG_LVL_DEBUG,
            "bridge %s: port %s is absent: %s", bridge, p->name, why);
    snprintf(p->refusal, sizeof(p->refusal), "%s", why);
}

void
port_add_stats(struct netdev_stats *sum, const struct netdev_stats *s)
{
    uint64_t peak = counter_get(&s->ring_peak);

    sum->rx_ring_drops += counter_get(&s->rx_ring_drops);
    sum->rx_backlog_drops += counter_get(&s->rx_backlog_drops);
    sum->rx_oversize += counter_get(&s->rx_oversize);
    sum->rx_bad += counter_get(&s->rx_bad);
    sum->rx_gso += counter_get(&s->rx_gso);
    sum->rx_no_buffer += counter_get(&s->rx_no_buffer);
    sum->tx_again += counter_get(&s->tx_again);
    sum->tx_errors += counter_get(&s->tx_errors);
    sum->tx_queue_drops += counter_get(&s->tx_queue_drops);
    sum->n_ring_pauses += counter_get(&s->n_ring_pauses);
    sum->n_holds += counter_get(&s->n_holds);
    sum->hold_failed += counter_get(&s->hold_failed);
    sum->hold_worst_ns = counter_get(&s->hold_worst_ns);
    sum->hold_lost = counter_get(&s->hold_lost);
    sum->n_ring_slots = counter_get(&s->n_ring_slots);
    if (peak > sum->ring_peak)
        sum->ring_peak = peak;
}

void
port_stats(const struct port *p, struct netdev_stats *out)
{
    *out = p->past;
    out->n_ring_slots = 0;
    if (p->netdev)
        port_add_stats(out, &p->netdev->stats);
}

void
port_kernel_drops(const struct netdev *nd, uint64_t out[PORT_N_KERNEL])
{
    out[PORT_KERNEL_RING] = counter_get(&nd->stats.rx_ring_drops);
    out[PORT_KERNEL_BACKLOG] = counter_get(&nd->stats.rx_backlog_drops);
    out[PORT_KERNEL_TX] = counter_get(&nd->stats.tx_queue_drops);
}

bool
port_is_used(const struct port *p)
{
    return !p->is_local || p->link == PORT_UP;
}

struct port *
bridge_local(const struct bridge *b)
{
    for (int i = 0; i < DP_MAX_PORTS; i++)
        if (b->ports[i] && b->ports[i]->is_local)
            return b->ports[i];
    return NULL;
}

bool
port_is_lossless(const struct bridge *b, const struct port *p, bool egress)
{
    struct conf_bridge *cb = conf_find_bridge(b->daemon->conf, b->name);
    struct conf_port *cp = cb ? conf_bridge_find_port(cb, p->name) : NULL;

    if (!cp)
        return false;
    return egress ? conf_lossless_queues(cb, cp)
                  : conf_lossless_groups(cb, cp);
}

/* --- bridges ------------------------------------------------------------ */

static void
on_thread_event(void *arg)
{
    struct bridge *b = arg;

    dp_thread_clear(b->thread);
    events_take(b);
    ofbridge_progress(b);
}

/* For tests of what follows from a stall, on a machine of any speed: that is
 * what is measured.  0: what is. */
static uint64_t
told_stall_ns(void)
{
    const char *text = getenv("SLUICE_TEST_STALL_US");
    long us = text ? strtol(text, NULL, 10) : 0;

    return us > 0 && us <= 10000000 ? (uint64_t) us * NS_PER_US : 0;
}

uint64_t
bridge_stall_ns(const struct bridge *b)
{
    return b->told_stall_ns ? b->told_stall_ns
                            : counter_get(&dp_stall(b->dp)->p9999_ns);
}

int
bridge_create(struct daemon *d, const struct conf_bridge *c,
              struct bridge **out, struct err *err)
{
    struct bridge *b = calloc(1, sizeof(*b));
    int error;

    if (!b)
        return err_sys(err, ENOMEM, "bridge %s", c->name);
    b->daemon = d;
    snprintf(b->name, sizeof(b->name), "%s", c->name);
    conf_build_dp(c, &b->sizes);
    if (getrandom(&b->sizes.seed, sizeof(b->sizes.seed), 0) < 0)
        b->sizes.seed = clock_ns();
    b->stall_ns = HEADROOM_MIN_STALL_NS;
    b->told_stall_ns = told_stall_ns();
    b->dp = dp_create(&b->sizes);
    b->history = history_create();
    if (!b->dp || !b->history) {
        dp_destroy(b->dp);
        history_destroy(b->history);
        free(b);
        return err_set(err, ENOMEM, NULL, NULL, NULL,
                       "bridge %s: no memory for its buffers (memory_bytes is "
                       "%llu)",
                       c->name, (unsigned long long) c->memory_bytes);
    }
    error = dp_thread_start(b->dp, c->name, d->sched, &b->thread, err);
    if (!error) {
        b->watch = reactor_watch_fd(d->reactor, dp_thread_event_fd(b->thread),
                                    on_thread_event, b);
        if (!b->watch)
            error = err_sys(err, ENOMEM, "bridge %s", c->name);
    }
    if (error) {
        bridge_destroy(b);
        return error;
    }
    *out = b;
    return 0;
}

void
bridge_stop_begin(struct bridge *b)
{
    if (b->thread)
        dp_thread_stop(b->thread);
}

static void
free_retired(struct bridge *b, struct retired *r)
{
    struct netdev_stats stats;

    if (r->port && !r->port->heir) {
        port_stats(r->port, &stats);
        port_add_stats(&b->past, &stats);
    }
    dp_plan_destroy(r->plan);
    netdev_close(r->netdev);
    port_destroy(r->port);
    free(r);
}

void
bridge_destroy(struct bridge *b)
{
    if (!b)
        return;
    reactor_unwatch(b->watch);
    if (b->thread) {
        dp_thread_stop(b->thread);
        dp_thread_join(b->thread);
    }
    if (b->heir)
        history_inherit(b->heir, b);
    ofbridge_detach(b);
    /* Netdevs give back to the pool what they hold of it; of its last plan the
     * datapath frees no more than the plan. */
    for (struct retired *r = b->retired, *next; r; r = next) {
        next = r->next;
        free_retired(b, r);
    }
    for (int i = 0; i < DP_MAX_PORTS; i++)
        port_destroy(b->ports[i]);
    dp_destroy(b->dp);
    history_destroy(b->history);
    free(b);
}

/* --- publishing --------------------------------------------------------- */

bool
bridge_is_settled(const struct bridge *b)
{
    return dp_generation(b->dp) >= b->generation &&
           dp_thread_poll_generation(b->thread) >= b->poll_generation;
}

/* Descriptors of the ports in a plan. */
static struct dp_poll *
make_poll(struct bridge *b, const struct dp_plan *plan)
{
    struct dp_poll *p = calloc(1, sizeof(*p));

    if (!p)
        abort(); /* the control plane has no memory at all */
    p->generation = ++b->poll_generation;
    for (uint16_t slot = 0; slot < plan->n_slots; slot++) {
        struct netdev *nd =
            plan->ports[slot] ? plan->ports[slot]->netdev : NULL;
        int fd = nd ? nd->cls->fd(nd) : -1;

        if (fd < 0)
            continue;
        p->port[p->n].fd = fd;
        p->port[p->n].tx_fd = nd->cls->tx_fd ? nd->cls->tx_fd(nd) : fd;
        p->port[p->n++].slot = slot;
    }
    return p;
}

void
bridge_publish(struct bridge *b, struct dp_plan *plan)
{
    struct dp_plan *old = b->plan;

    b->plan = plan;
    b->generation = plan->generation;
    dp_publish(b->dp, plan);
    dp_thread_set_poll(b->thread, make_poll(b, plan));
    if (old)
        bridge_retire(b, old, NULL, NULL);
}

void
bridge_poll_again(struct bridge *b)
{
    dp_thread_set_poll(b->thread, make_poll(b, b->plan));
}

void
bridge_retire(struct bridge *b, struct dp_plan *plan, struct netdev *netdev,
              struct port *port)
{
    struct retired *r = malloc(sizeof(*r));

    if (!r)
        abort();
    *r = (struct retired){b->retired, b->generation, plan, netdev, port};
    b->retired = r;
}

/* Buffers that closed netdevs still held. */
static void
collect(struct dp *dp, void *arg)
{
    (void) arg;
    pkt_collect(dp_pool(dp));
}

void
bridge_reap(struct bridge *b)
{
    struct retired **at = &b->retired;
    bool any = false;

    /* A descriptor that is still waited for must not be closed. */
    if (dp_thread_poll_generation(b->thread) < b->poll_generation)
        return;
    while (*at) {
        struct retired *r = *at;

        if (r->generation > dp_generation(b->dp)) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        any |= r->netdev || r->port;
        free_retired(b, r);
    }
    if (any)
        bridge_call(b, collect, NULL);
}

bool
bridge_settle(struct bridge *b)
{
    uint64_t end = clock_ns() + SETTLE_NS;

    while (!bridge_is_settled(b)) {
        if (clock_ns() > end) {
            log_warn("bridge %s: its thread did not take over a change within "
                     "a second",
                     b->name);
            return false;
        }
        nanosleep(&(struct timespec){0, POLL_STEP_NS}, NULL);
    }
    bridge_reap(b);
    return true;
}

/* --- calls -------------------------------------------------------------- */

void
bridge_call(struct bridge *b, void (*fn)(struct dp *, void *), void *arg)
{
    struct dp_call call = {.fn = fn, .arg = arg};

    /* Calls are made one at a time, so that the mailbox has room; and the
     * thread never blocks, so that this wait ends. */
    while (!dp_post(b->dp, &call))
        nanosleep(&(struct timespec){0, POLL_STEP_NS}, NULL);
    dp_thread_kick(b->thread);
    while (!__atomic_load_n(&call.done, __ATOMIC_ACQUIRE))
        nanosleep(&(struct timespec){0, POLL_STEP_NS}, NULL);
}

/* An afpacket port that receives nothing more, but still sends. */
static uint32_t
rx_nothing(struct netdev *nd, struct pkt *pkts[], uint32_t max)
{
    (void) nd;
    (void) pkts;
    (void) max;
    return 0;
}

struct discard {
    struct netdev *old;         /* its predecessor; or null */
    struct netdev *fresh;       /* what collected frames */
    struct netdev_class *quiet; /* class of old from now on */
};

/* Frames are in both rings until here.  From here on only those count that
 * come to the fresh one: the datapath takes it over in a later turn, and reads
 * the old one before. */
static void
discard(struct dp *dp, void *arg)
{
    const struct discard *x = arg;
    struct pkt *pkts[PKT_BATCH];
    uint32_t n, rounds = 0;

    (void) dp;
    if (x->old)
        x->old->cls = x->quiet;
    do {
        n = x->fresh->cls->rx(x->fresh, pkts, PKT_BATCH);
        for (uint32_t i = 0; i < n; i++)
            pkt_free(pkts[i]);
    } while (n == PKT_BATCH && ++rounds < 4096);
}

void
bridge_discard(struct bridge *b, struct netdev *old, struct netdev *fresh)
{
    static struct netdev_class quiet; /* rings are of one class only */
    struct discard x = {old, fresh, &quiet};

    if (!quiet.rx) {
        quiet = netdev_afpacket;
        quiet.rx = rx_nothing;
    }
    assert(!old || old->cls == &netdev_afpacket);
    bridge_call(b, discard, &x);
}
