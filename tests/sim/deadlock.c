/* SPDX-License-Identifier: Apache-2.0
 *
 * The classic cyclic buffer dependency (pfc-semantics section 9): three
 * switches in a ring, each with a station that sends to the one two hops on.
 * When the receivers pause for a moment, the ring fills; afterwards every
 * switch waits for the next, and without a watchdog for ever.
 *
 *      st0 -- sw0 ---> sw1 -- st1
 *              ^        |
 *              +- sw2 <-+         flow i: st i, sw i, sw i+1, sw i+2, st i+2
 *                  |
 *                 st2
 */
#include "sim/scenarios.h"
#include "sim/sim.h"

#include "qos/waitgraph.h"

#include <assert.h>

#define N         3
#define PRIO      3
#define RATE_BPS  UINT64_C(1000000000)
#define DELAY_NS  NS_PER_US
#define N_FRAMES  4000
#define MAX_WAITS 64
/* Sent when the storms are over: half of what the ring carries. */
#define AFTER_NS (2 * NS_PER_S)
#define N_AFTER  1000
/* The moment at which everybody pauses, and for how long. */
#define PAUSE_AT_NS (10 * NS_PER_MS)
#define PAUSE_NS    (5 * NS_PER_MS)

static void
set_port(struct conf_port *cp, bool watched)
{
    struct conf_group *g = &cp->group[PRIO];

    g->xoff_bytes = 65536;
    g->xon_bytes = 4096;
    cp->watchdog.enabled = watched;
    cp->watchdog.poll_ms = 100;
}

static void
add_flow(struct sim *sim, int i, uint64_t rate_bps, uint32_t count,
         uint64_t start_ns)
{
    struct sim_flow *f =
        sim_add_flow(sim, (uint16_t) i, (uint16_t) ((i + 2) % N));

    f->prio = PRIO;
    f->rate_bps = rate_bps;
    f->count = count;
    f->start_ns = start_ns;
}

static void
build(struct sim *sim, bool watched)
{
    static const char *const names[N] = {"sw0", "sw1", "sw2"};
    uint32_t a, b;

    sim->lossless = 1u << PRIO;
    sim->limit_ns = 30 * NS_PER_S;
    for (int i = 0; i < N; i++)
        sim_add_switch(sim, names[i]);
    for (int i = 0; i < N; i++) {
        struct sim_station *st = sim_add_station(sim);

        sim_link_station(sim, sim->sw[i], st, RATE_BPS, DELAY_NS);
        st->pause_at_ns = PAUSE_AT_NS;
        st->pause_ns = PAUSE_NS;
        st->pause_prios = 1u << PRIO;
    }
    for (int i = 0; i < N; i++)
        sim_link_switches(sim, sim->sw[i], sim->sw[(i + 1) % N], RATE_BPS,
                          DELAY_NS, &a, &b);
    for (int i = 0; i < N; i++) {
        add_flow(sim, i, RATE_BPS, N_FRAMES, sim->now_ns);
        for (uint32_t k = 0; k < sim->sw[i]->n_ports; k++)
            set_port(sim->sw[i]->cp[k], watched);
    }
}

/* The slot of the port of `sw` whose cable goes to `to`. */
static uint16_t
towards(const struct sim_switch *sw, const struct sim_node *to)
{
    for (uint16_t k = 0; k < sw->n_ports; k++)
        if (sw->port[k].peer->node == to)
            return k;
    assert(!"no cable");
    return 0;
}

/* Around the ring, one way only. */
static void
route(struct sim *sim)
{
    for (int i = 0; i < N; i++)
        for (int d = 0; d < N; d++) {
            struct sim_switch *sw = sim->sw[i];
            const struct sim_node *to =
                d == i ? &sim->st[d]->node : &sim->sw[(i + 1) % N]->node;

            mactab_add_static(dp_mactab(sw->dp), 0, sim->st[d]->mac,
                              towards(sw, to));
        }
}

static uint64_t
node_of(const struct sim_port *p, unsigned pg)
{
    const struct sim_switch *sw = p->node->sim->sw[p->node->index];

    return (uint64_t) p->node->index << 16 | (uint64_t) (p - sw->port) << 3 |
           pg;
}

/* Groups of the longest cycle of waits at this moment. */
static uint32_t
find_cycle(struct sim *sim)
{
    struct waitgraph_edge edge[N * MAX_WAITS];
    uint64_t cycle[N * MAX_WAITS];
    uint32_t n = 0;

    for (int i = 0; i < N; i++) {
        struct sim_switch *sw = sim->sw[i];
        struct dp_wait wait[MAX_WAITS];
        uint32_t n_waits = dp_waits(sw->dp, wait, MAX_WAITS);

        for (uint32_t k = 0; k < n_waits && k < MAX_WAITS; k++) {
            const struct sim_port *peer = sw->port[wait[k].out_port].peer;

            if (peer->node->kind == SIM_SWITCH &&
                (wait[k].paused_for >> PRIO & 1))
                edge[n++] =
                    (struct waitgraph_edge){node_of(&sw->port[wait[k].in_port],
                                                    wait[k].pg),
                                            node_of(peer, PRIO), false};
        }
    }
    return waitgraph_cycle(edge, n, cycle, N * MAX_WAITS);
}

static uint64_t
delivered(const struct sim *sim)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < sim->n_flows; i++)
        n += sim->flow[i].n_rx;
    return n;
}

/* It locks up, and stays so: nothing moves, and the graph says why. */
void
sim_deadlock(struct sim *sim)
{
    uint64_t n;

    build(sim, false);
    if (!sim_start(sim))
        return;
    route(sim);
    sim_run_until(sim, NS_PER_S);
    n = delivered(sim);
    if (n == 0 || n == (uint64_t) N * N_FRAMES)
        sim_fault(sim, SIM_EXPECT, "%llu frames came: it did not lock up",
                  (unsigned long long) n);
    if (find_cycle(sim) != N)
        sim_fault(sim, SIM_EXPECT, "a cycle of %u groups", find_cycle(sim));
    sim_run_until(sim, 10 * NS_PER_S);
    if (delivered(sim) != n)
        sim_fault(sim, SIM_EXPECT, "something moved in a deadlock");
    for (int i = 0; i < N; i++)
        if (sim_switch_drops(sim->sw[i]))
            sim_fault(sim, SIM_EXPECT, "%s dropped frames", sim->sw[i]->name);
}

/* What the watchdogs discarded, and detected. */
static uint64_t
discarded(const struct sim *sim, uint64_t *n_detected)
{
    uint64_t n = 0;

    for (int i = 0; i < N; i++)
        for (uint32_t k = 0; k < sim->sw[i]->n_ports; k++) {
            struct dp_storm s;

            dp_storm_get(sim->sw[i]->state[k], PRIO, &s);
            n += s.total.tx_drop + s.total.rx_drop;
            *n_detected += s.n_detected;
            if (s.is_stormed || s.n_detected != s.n_restored)
                sim_fault(sim->sw[i]->node.sim, SIM_PAUSED,
                          "%s: a storm goes on", sim->sw[i]->name);
        }
    return n;
}

/* With watchdogs it recovers: what is missing is what they discarded, and what
 * is sent afterwards comes whole. */
void
sim_deadlock_watchdog(struct sim *sim)
{
    uint64_t n_detected = 0, n_dropped, n;

    build(sim, true);
    for (int i = 0; i < N; i++)
        add_flow(sim, i, RATE_BPS / 4, N_AFTER, AFTER_NS);
    if (!sim_start(sim))
        return;
    route(sim);
    sim_run_until(sim, 100 * NS_PER_MS);
    if (find_cycle(sim) != N)
        sim_fault(sim, SIM_EXPECT, "it did not lock up at first");
    sim_run(sim);
    if (find_cycle(sim))
        sim_fault(sim, SIM_EXPECT, "a cycle is left");
    n_dropped = discarded(sim, &n_detected);
    n = delivered(sim);
    if (!n_detected || !n_dropped)
        sim_fault(sim, SIM_EXPECT, "no watchdog did anything");
    if (n + n_dropped != (uint64_t) N * (N_FRAMES + N_AFTER))
        sim_fault(sim, SIM_LOSS,
                  "%u sent, %llu delivered, %llu discarded by watchdogs",
                  N * (N_FRAMES + N_AFTER), (unsigned long long) n,
                  (unsigned long long) n_dropped);
    for (uint32_t i = N; i < sim->n_flows; i++)
        if (sim->flow[i].n_rx != N_AFTER || sim->flow[i].n_missing)
            sim_fault(sim, SIM_LOSS,
                      "flow %u, sent after the storm, lost "
                      "frames",
                      i);
    for (int i = 0; i < N; i++)
        sim_switch_check_end(sim->sw[i]);
}
