/* SPDX-License-Identifier: Apache-2.0
 *
 * The watchdog, the guard and drills, where they meet the frames: see watch.h
 * and lib/qos/watchdog.h.  What is looked at has its time (dp->watch_ns), so
 * that a turn asks a single question.
 *
 * Storms are kept by priority.  While one is dropped, frames of other
 * priorities that share its queue or group go with it, except those of a
 * lossless priority that is not stormed: only the stormed one is touched.
 */
#include "dp/dp_priv.h"

/* Attempts of a reader to meet no change: longer than any takes, unless its
 * thread is sent to sleep in the midst of it. */
#define MAX_READS 10000

/* --- storms ------------------------------------------------------------ */

static void
tell_storm(struct dp *dp, struct dp_port *port, enum dp_event_type type,
           uint8_t prios)
{
    for (unsigned m = prios; m; m &= m - 1)
        dp_event(dp, port, type, (uint8_t) __builtin_ctz(m));
}

/* Priorities that go where a stormed one goes. */
static uint8_t
shared_with(const uint8_t map[N_PRIO], uint8_t stormed, uint8_t spared)
{
    uint8_t targets = 0, prios = 0;

    for (int p = 0; p < N_PRIO; p++)
        if (stormed >> p & 1)
            targets |= (uint8_t) (1u << map[p]);
    for (int p = 0; p < N_PRIO; p++)
        if (targets >> map[p] & 1)
            prios |= (uint8_t) (1u << p);
    return prios & (uint8_t) ~spared;
}

/* Makes what the frames meet fit the storms that there are.  What is dropped
 * goes before the queue may send again. */
static void
apply(struct dp *dp, struct dp_port *port)
{
    const struct watchdog *dog = &port->watch.dog;
    enum watchdog_action action = dog->conf.action;
    uint8_t drop = action == WATCHDOG_DROP ? dog->stormed : 0;
    uint8_t ignore = action == WATCHDOG_ALERT ? 0 : dog->stormed;
    uint8_t spared = dog->conf.prios & (uint8_t) ~drop;
    uint8_t was = port->pfc.paused;

    port->wd_tx = shared_with(port->prio_to_queue, drop, spared);
    port->wd_rx = shared_with(port->prio_to_pg, drop, spared);
    dp_port_set_longest(port);
    if (port->wd_tx)
        dp_port_flush_prios(dp, port, port->wd_tx, DP_DROP_WATCHDOG_TX);
    if (ignore != port->pfc.ignored) {
        pfc_ignore(&port->pfc, ignore, dp->now_ns);
        dp_pause_changed(dp, port, was);
    }
}

/* What readers must see as a whole begins and ends to change. */
static void
begin_change(struct dp_watch *w)
{
    counter_add(&w->changes, 1);
    __atomic_thread_fence(__ATOMIC_RELEASE); /* pairs with dp_storm_get */
}

static void
end_change(struct dp_watch *w)
{
    __atomic_thread_fence(__ATOMIC_RELEASE); /* pairs with dp_storm_get */
    counter_add(&w->changes, 1);
}

/* The counters of a priority's queue and group, less what they were. */
static void
count_since(const struct dp_port *port, int p, struct dp_storm_count *to)
{
    const struct dp_watch *w = &port->watch;
    const struct dp_storm_count *base = &w->base[p];
    uint8_t q = counter_get_bits(&w->base_q[p]);
    uint8_t pg = counter_get_bits(&w->base_pg[p]);

    to->tx_ok =
        counter_get(&port->n.q_tx_frames[q]) - counter_get(&base->tx_ok);
    to->tx_drop = counter_get(&w->tx_drop[p]) - counter_get(&base->tx_drop);
    to->rx_ok =
        counter_get(&port->n.pg_rx_frames[pg]) - counter_get(&base->rx_ok);
    to->rx_drop = counter_get(&w->rx_drop[p]) - counter_get(&base->rx_drop);
}

/* Counts from here on, in the queue and group that p maps to now. */
static void
rebase(struct dp_port *port, int p)
{
    struct dp_watch *w = &port->watch;
    struct dp_storm_count *base = &w->base[p];
    uint8_t q = port->prio_to_queue[p], pg = port->prio_to_pg[p];

    counter_set_bits(&w->base_q[p], q);
    counter_set_bits(&w->base_pg[p], pg);
    counter_set(&base->tx_ok, port->n.q_tx_frames[q]);
    counter_set(&base->tx_drop, w->tx_drop[p]);
    counter_set(&base->rx_ok, port->n.pg_rx_frames[pg]);
    counter_set(&base->rx_drop, w->rx_drop[p]);
}

static void
begin(struct dp_port *port, int p)
{
    struct dp_storm_count *last = &port->watch.last[p];

    counter_set(&last->tx_ok, 0);
    counter_set(&last->tx_drop, 0);
    counter_set(&last->rx_ok, 0);
    counter_set(&last->rx_drop, 0);
    rebase(port, p);
}

/* Up to here: the storm is over, or p maps elsewhere. */
static void
settle(struct dp_port *port, int p)
{
    struct dp_watch *w = &port->watch;
    struct dp_storm_count since;

    count_since(port, p, &since);
    counter_add(&w->done[p].tx_ok, since.tx_ok);
    counter_add(&w->done[p].rx_ok, since.rx_ok);
    counter_add(&w->last[p].tx_ok, since.tx_ok);
    counter_add(&w->last[p].tx_drop, since.tx_drop);
    counter_add(&w->last[p].rx_ok, since.rx_ok);
    counter_add(&w->last[p].rx_drop, since.rx_drop);
    rebase(port, p);
}

static void
count_storms(struct dp_port *port, uint8_t began, uint8_t ended)
{
    const struct dp_watch *w = &port->watch;

    for (int p = 0; p < N_PRIO; p++) {
        bool moved = w->base_q[p] != port->prio_to_queue[p] ||
                     w->base_pg[p] != port->prio_to_pg[p];

        if (began >> p & 1)
            begin(port, p);
        else if ((ended >> p & 1) || ((w->dog.stormed >> p & 1) && moved))
            settle(port, p);
    }
}

static void
changed(struct dp *dp, struct dp_port *port, uint8_t began, uint8_t ended)
{
    apply(dp, port);
    tell_storm(dp, port, DP_EV_RESTORED, ended);
    tell_storm(dp, port, DP_EV_STORM, began);
}

static void
poll_dog(struct dp *dp, struct dp_port *port)
{
    const struct watchdog_view v = {port->pfc.paused, port->pfc.since_ns};
    struct dp_watch *w = &port->watch;
    struct watchdog_news news;

    begin_change(w);
    news = watchdog_poll(&w->dog, &v, dp->now_ns);
    count_storms(port, news.began, news.ended);
    end_change(w);
    if (news.began | news.ended)
        changed(dp, port, news.began, news.ended);
}

void
dp_watch_rx(struct dp *dp, struct dp_port *port, const struct macctl *m)
{
    uint8_t prios = 0;

    if (!port->watch.dog.conf.prios || m->kind != MACCTL_PFC)
        return;
    for (int p = 0; p < N_PRIO; p++)
        if ((m->enable >> p & 1) && m->time[p])
            prios |= (uint8_t) (1u << p);
    watchdog_xoff(&port->watch.dog, prios, dp->now_ns);
}

/* --- what frames meet --------------------------------------------------- */

void
dp_watch_filter(struct dp *dp, struct dp_port *in, struct dp_batch *b)
{
    uint32_t n_kept = 0;

    for (uint32_t i = 0; i < b->n; i++) {
        struct pkt *p = b->pkt[i];

        if (in->wd_rx >> p->prio & 1) {
            counter_add(&in->watch.rx_drop[p->prio], 1);
            dp_forgo(b, p);
            dp_drop(dp, in, DP_DROP_WATCHDOG_RX, p);
            continue;
        }
        b->tag[n_kept] = b->tag[i];
        b->pkt[n_kept++] = p;
    }
    b->n = n_kept;
}

/* --- drills ------------------------------------------------------------- */

static void
end_drills(struct dp *dp, struct dp_port *port, bool all)
{
    struct dp_watch *w = &port->watch;
    uint8_t storm = port->pfc.forced, hold = w->hold_q;

    for (int i = 0; i < 8; i++) {
        if (all || dp->now_ns >= w->storm_until_ns[i])
            storm &= (uint8_t) ~(1u << i);
        if (all || dp->now_ns >= w->hold_until_ns[i])
            hold &= (uint8_t) ~(1u << i);
    }
    if (storm != port->pfc.forced) {
        pfc_force(&port->pfc, storm);
        dp_set_add(&dp->due, port->slot);
    }
    if (hold != w->hold_q) {
        w->hold_q = hold;
        dp_pause_changed(dp, port, port->pfc.paused);
    }
}

/* --- when --------------------------------------------------------------- */

/* When the port is to be looked at next. */
static uint64_t
next_look(const struct dp_port *port)
{
    const struct dp_watch *w = &port->watch;
    uint64_t guard = w->guard.conf.time_ns
                         ? guard_deadline(&w->guard, port->xoff, w->xoff_ns)
                         : CLOCK_NEVER;
    uint64_t next = w->poll_ns < guard ? w->poll_ns : guard;

    for (int i = 0; i < 8; i++) {
        if ((port->pfc.forced >> i & 1) && w->storm_until_ns[i] < next)
            next = w->storm_until_ns[i];
        if ((w->hold_q >> i & 1) && w->hold_until_ns[i] < next)
            next = w->hold_until_ns[i];
    }
    return next;
}

void
dp_watch_soon(struct dp *dp, struct dp_port *port)
{
    struct dp_watch *w = &port->watch;
    uint64_t next;

    if (w->poll_ns == CLOCK_NEVER || w->poll_ns <= dp->now_ns)
        w->poll_ns = watchdog_deadline(&w->dog, port->pfc.paused, dp->now_ns);
    next = next_look(port);
    dp_set_put(&dp->watched, port->slot, next != CLOCK_NEVER);
    if (next < dp->watch_ns)
        dp->watch_ns = next;
}

static void
look(struct dp *dp, struct dp_port *port)
{
    struct dp_watch *w = &port->watch;
    uint8_t stuck;

    if (dp->now_ns >= w->poll_ns)
        poll_dog(dp, port);
    stuck = guard_poll(&w->guard, port->xoff, w->xoff_ns, dp->now_ns);
    for (unsigned m = stuck; m; m &= m - 1)
        dp_event(dp, port, DP_EV_STUCK, (uint8_t) __builtin_ctz(m));
    if (stuck && w->guard.conf.release)
        dp_set_add(&dp->due, port->slot);
    end_drills(dp, port, false);
    dp_watch_soon(dp, port);
}

void
dp_watch_run(struct dp *dp)
{
    dp->watch_ns = CLOCK_NEVER;
    for (int i = dp_set_next(&dp->watched, 0); i >= 0;
         i = dp_set_next(&dp->watched, i + 1))
        look(dp, dp->port[i]);
}

/* --- configuration ------------------------------------------------------ */

void
dp_watch_configure(struct dp *dp, struct dp_port *port, bool is_new)
{
    const struct dp_plan_port *pp = port->conf;
    struct dp_watch *w = &port->watch;
    uint8_t ended;

    if (is_new) {
        watchdog_init(&w->dog);
        w->poll_ns = CLOCK_NEVER;
    }
    /* A plan that says nothing (a test's) has no poll time. */
    if (pp->dog.prios || w->dog.conf.prios) {
        struct watchdog_conf conf = pp->dog;

        if (!conf.poll_ns)
            conf.poll_ns = w->dog.conf.poll_ns;
        begin_change(w);
        ended = watchdog_set(&w->dog, &conf, dp->now_ns);
        count_storms(port, 0, ended);
        end_change(w);
        changed(dp, port, 0, ended);
    }
    guard_set(&w->guard, &pp->guard);
    w->poll_ns = CLOCK_NEVER; /* the grid may be another */
    dp_watch_soon(dp, port);
}

/* --- drills, from outside ----------------------------------------------- */

bool
dp_drill_storm(struct dp *dp, uint16_t slot, uint8_t prios, uint64_t ns)
{
    struct dp_port *port = slot < DP_MAX_PORTS ? dp->port[slot] : NULL;

    if (!port)
        return false;
    for (unsigned m = prios; m; m &= m - 1)
        port->watch.storm_until_ns[__builtin_ctz(m)] = dp->now_ns + ns;
    pfc_force(&port->pfc, port->pfc.forced | prios);
    dp_set_add(&dp->due, slot);
    dp_watch_soon(dp, port);
    return true;
}

bool
dp_drill_hold(struct dp *dp, uint16_t slot, uint8_t queues, uint64_t ns)
{
    struct dp_port *port = slot < DP_MAX_PORTS ? dp->port[slot] : NULL;

    if (!port)
        return false;
    for (unsigned m = queues; m; m &= m - 1)
        port->watch.hold_until_ns[__builtin_ctz(m)] = dp->now_ns + ns;
    port->watch.hold_q |= queues;
    dp_pause_changed(dp, port, port->pfc.paused);
    return true;
}

bool
dp_drill_stop(struct dp *dp, uint16_t slot)
{
    struct dp_port *port = slot < DP_MAX_PORTS ? dp->port[slot] : NULL;

    if (!port)
        return false;
    end_drills(dp, port, true);
    dp_watch_soon(dp, port);
    return true;
}

bool
dp_drill_get(struct dp *dp, uint16_t slot, struct dp_drills *out)
{
    const struct dp_port *port = slot < DP_MAX_PORTS ? dp->port[slot] : NULL;

    memset(out, 0, sizeof(*out));
    if (!port)
        return false;
    out->storm_prios = port->pfc.forced;
    out->hold_queues = port->watch.hold_q;
    for (int i = 0; i < 8; i++) {
        uint64_t storm = port->watch.storm_until_ns[i];
        uint64_t hold = port->watch.hold_until_ns[i];

        if (storm > dp->now_ns)
            out->storm_left_ns[i] = storm - dp->now_ns;
        if (hold > dp->now_ns)
            out->hold_left_ns[i] = hold - dp->now_ns;
    }
    return true;
}

/* --- what is shown ------------------------------------------------------- */

const struct dp_watch *
dp_port_watch(const struct dp_port *port)
{
    return &port->watch;
}

/* Another thread's counters. */
static void
get_count(const struct dp_storm_count *from, struct dp_storm_count *to)
{
    to->tx_ok = counter_get(&from->tx_ok);
    to->tx_drop = counter_get(&from->tx_drop);
    to->rx_ok = counter_get(&from->rx_ok);
    to->rx_drop = counter_get(&from->rx_drop);
}

static void
read_storm(const struct dp_port *port, int p, struct dp_storm *out)
{
    const struct dp_watch *w = &port->watch;
    struct dp_storm_count since;

    *out = (struct dp_storm){
        .is_watched = w->dog.conf.prios >> p & 1,
        .is_stormed =
            __atomic_load_n(&w->dog.stormed, __ATOMIC_RELAXED) >> p & 1,
        .queue = port->prio_to_queue[p],
        .n_detected = counter_get(&w->dog.n_detected[p]),
        .n_restored = counter_get(&w->dog.n_restored[p]),
        .began_ns = counter_get(&w->dog.began_ns[p]),
    };
    get_count(&w->last[p], &out->last);
    out->total.tx_ok = counter_get(&w->done[p].tx_ok);
    out->total.rx_ok = counter_get(&w->done[p].rx_ok);
    out->total.tx_drop = counter_get(&w->tx_drop[p]);
    out->total.rx_drop = counter_get(&w->rx_drop[p]);
    if (!out->is_stormed)
        return;
    count_since(port, p, &since);
    out->total.tx_ok += since.tx_ok;
    out->total.rx_ok += since.rx_ok;
    out->last.tx_ok += since.tx_ok;
    out->last.tx_drop += since.tx_drop;
    out->last.rx_ok += since.rx_ok;
    out->last.rx_drop += since.rx_drop;
}

/* A storm that ends in between would be counted twice, or not at all. */
void
dp_storm_get(const struct dp_port *port, int p, struct dp_storm *out)
{
    const counter_t *changes = &port->watch.changes;

    for (int i = 0; i < MAX_READS; i++) {
        uint64_t before = __atomic_load_n(changes, __ATOMIC_ACQUIRE);

        read_storm(port, p, out);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (!(before & 1) && counter_get(changes) == before)
            return;
    }
}
