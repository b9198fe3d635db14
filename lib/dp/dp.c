/* SPDX-License-Identifier: Apache-2.0
 *
 * The datapath as a whole: making one, the crossings between the control
 * thread and it (plans, calls, events), and the turn.
 *
 * A turn reads every port before it sends on any, so that a PFC frame that
 * lies in a receive ring stops its queue before the queue's next batch (and
 * what is left of one that it finds under way: tx.c):
 *
 *   adopt a plan, run calls, change flow tables, send packet-outs
 *   rx: every port; frames end in queues, or in a drop counter
 *   MAC control frames that are due, ahead of every queue
 *   tx: at most one batch per port
 *   work out when to run again
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "dp/dp_priv.h"

#include <stdlib.h>
#include <string.h>

/* How often the rings are looked at while no buffer is free. */
#define DP_STARVED_NS (UINT64_C(50) * NS_PER_US)

struct dp *
dp_create(const struct dp_conf *conf)
{
    struct dp *dp = aligned_alloc(64, (sizeof(*dp) + 63) & ~(size_t) 63);

    if (!dp)
        return NULL;
    memset(dp, 0, sizeof(*dp));
    for (int i = 0; i < DP_MAX_POOLS; i++)
        dp->buf[i].hdrm = &dp->hdrm;
    dp->promise_ns = CLOCK_NEVER;
    dp->watch_ns = CLOCK_NEVER;
    dp->pool =
        pkt_pool_create(conf->n_buffers, conf->n_clones, conf->frame_bytes);
    dp->rng.state = conf->seed;
    dp->mactab = mactab_create(conf->mac_entries, DP_MAX_PORTS, conf->seed);
    dp->of = dp_of_create(conf->seed);
    dp->is_normal = true;
    dp->calls = ring_create(DP_N_CALLS, sizeof(struct dp_call *));
    dp->events = ring_create(conf->n_events, sizeof(struct dp_event));
    if (!dp->pool || !dp->mactab || !dp->of || !dp->calls || !dp->events) {
        dp_destroy(dp);
        return NULL;
    }
    return dp;
}

void
dp_destroy(struct dp *dp)
{
    struct dp_plan *last;

    if (!dp)
        return;
    /* Frames that are held go with the pool.  Port states may be gone
     * already, and are not looked at.  Of the plans, the last one that was
     * published is ours, adopted or not; older ones are the caller's. */
    last = __atomic_load_n(&dp->pending, __ATOMIC_ACQUIRE);
    dp_plan_destroy(last ? last : (struct dp_plan *) dp->plan);
    ring_destroy(dp->events);
    ring_destroy(dp->calls);
    dp_of_destroy(dp->of);
    mactab_destroy(dp->mactab);
    pkt_pool_destroy(dp->pool);
    free(dp);
}

struct pkt_pool *
dp_pool(struct dp *dp)
{
    return dp->pool;
}

const struct buf_pool *
dp_buf_pool(const struct dp *dp)
{
    return &dp->buf[0];
}

const struct buf_pool *
dp_buf_pool_at(const struct dp *dp, unsigned i)
{
    assert(i < DP_MAX_POOLS);
    return &dp->buf[i];
}

const struct buf_hdrm *
dp_buf_hdrm(const struct dp *dp)
{
    return &dp->hdrm;
}

struct mactab *
dp_mactab(struct dp *dp)
{
    return dp->mactab;
}

void
dp_publish(struct dp *dp, struct dp_plan *plan)
{
    __atomic_store_n(&dp->pending, plan, __ATOMIC_RELEASE);
}

uint64_t
dp_generation(const struct dp *dp)
{
    return __atomic_load_n(&dp->generation, __ATOMIC_ACQUIRE);
}

bool
dp_post(struct dp *dp, struct dp_call *call)
{
    return ring_put(dp->calls, &call);
}

static void
run_calls(struct dp *dp)
{
    struct dp_call *call;

    for (int i = 0; i < DP_N_CALLS && ring_get(dp->calls, &call); i++) {
        call->fn(dp, call->arg);
        __atomic_store_n(&call->done, 1, __ATOMIC_RELEASE);
    }
    if (!ring_empty(dp->calls))
        dp->more = true;
}

void
dp_event(struct dp *dp, const struct dp_port *port, enum dp_event_type type,
         uint8_t index)
{
    struct dp_event ev = {
        .type = type,
        .now_ns = dp->now_ns,
        .port = port->slot,
        .index = index,
    };
    const struct buf_group *g = &port->group[index];

    switch (type) {
    case DP_EV_XOFF: /* as it was when it tripped */
        ev.now_ns = port->watch.trip[index].now_ns;
        ev.held_bytes = port->watch.trip[index].held_bytes;
        ev.limit_bytes = port->watch.trip[index].limit_bytes;
        dp_find_cause(dp, port->slot, index, &ev.cause);
        break;
    case DP_EV_XON:
    case DP_EV_STUCK:
        ev.held_bytes = buf_group_held(g);
        ev.limit_bytes = buf_group_limit(dp_group_pool(dp, g), g);
        ev.lasted_ns = dp->now_ns - port->watch.xoff_ns[index];
        dp_find_cause(dp, port->slot, index, &ev.cause);
        break;
    case DP_EV_RX_RESUME:
        ev.lasted_ns = counter_get(&port->pfc.n.rx_last_ns[index]);
        break;
    case DP_EV_STORM:
        ev.lasted_ns = dp->now_ns - port->pfc.since_ns[index];
        break;
    case DP_EV_RESTORED:
        ev.lasted_ns = dp->now_ns - port->watch.dog.began_ns[index];
        break;
    case DP_EV_RX_PAUSE:
    case DP_EV_VIOLATION:
    case DP_EV_PORT_DOWN:
        break;
    }
    ring_put(dp->events, &ev);
}

bool
dp_event_get(struct dp *dp, struct dp_event *ev)
{
    return ring_get(dp->events, ev);
}

bool
dp_event_pending(const struct dp *dp)
{
    return !ring_empty(dp->events);
}

uint64_t
dp_events_lost(const struct dp *dp)
{
    return ring_n_full(dp->events);
}

bool
dp_release_pauses(struct dp *dp, uint64_t now_ns)
{
    bool all = dp->n_leaving == 0;

    dp->now_ns = now_ns;
    for (int i = dp_set_next(&dp->asserted, 0); i >= 0;
         i = dp_set_next(&dp->asserted, i + 1))
        all &= dp_pause_release(dp, dp->port[i]);
    return all;
}

uint32_t
dp_blocked_ports(const struct dp *dp, uint16_t slots[], uint32_t max)
{
    uint32_t n = 0;

    for (int i = dp_set_next(&dp->blocked, 0); i >= 0 && n < max;
         i = dp_set_next(&dp->blocked, i + 1))
        slots[n++] = (uint16_t) i;
    return n;
}

/* When the next turn is wanted. */
static uint64_t
next_turn(struct dp *dp)
{
    /* While no buffer is free only MAC control can be read, whatever lies in
     * the rings.  Sending helps, and has its own reasons to wake; but what
     * lets it go on may be the frame that lies in a ring. */
    bool can_rx = pkt_pool_n_free(dp->pool) > 0;

    dp_pause_deadline(dp);
    dp_wake_at(dp, dp->watch_ns);
    if (dp->more || (dp->rx_more && can_rx))
        return dp->now_ns;
    for (int i = dp_set_next(&dp->up, 0); i >= 0 && can_rx;
         i = dp_set_next(&dp->up, i + 1)) {
        const struct netdev *nd = dp->port[i]->netdev;

        if (nd->cls->rx_deadline)
            dp_wake_at(dp, nd->cls->rx_deadline(nd));
    }
    if (!can_rx)
        dp_wake_at(dp, dp->now_ns + DP_STARVED_NS);
    if (dp->n_leaving)
        dp_wake_at(dp, dp->now_ns + DP_LEAVE_RETRY_NS);
    return dp->wake_ns < dp->now_ns ? dp->now_ns : dp->wake_ns;
}

uint32_t
dp_n_read(const struct dp *dp)
{
    return dp->n_read;
}

uint64_t
dp_run(struct dp *dp, uint64_t now_ns)
{
    assert(now_ns >= dp->now_ns);
    dp_stall_note(dp, now_ns);
    dp->now_ns = now_ns;
    dp->more = false;
    dp->rx_more = false;
    dp->n_read = 0;
    dp->wake_ns = CLOCK_NEVER;

    dp_leave(dp);
    dp_adopt(dp);
    run_calls(dp);
    dp_of_turn(dp);
    if (dp_unlikely(dp->dynamic_pools))
        dp_follow_pools(dp);
    dp_rx(dp);
    dp_pause_expire(dp);
    if (dp_unlikely(now_ns >= dp->watch_ns))
        dp_watch_run(dp);
    dp_pause_tx(dp);
    dp_tx(dp);
    dp_wire_run(dp);
    dp_pause_update(dp);
    mactab_sweep(dp->mactab, now_ns);
#ifdef SLUICE_SANITIZERS
    assert(dp_conserves(dp, &(struct dp_audit){0}));
#endif
    dp->promise_ns = next_turn(dp);
    return dp->promise_ns;
}
