/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine of the simulator: virtual time, turns, stalls, faults.  There
 * are at most 64 nodes, so the earliest is found by looking at all of them;
 * of two at the same moment the one that was added first runs first.
 */
#include "sim/openflow.h"
#include "sim/random.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const fault_names[SIM_N_FAULTS] = {
    [SIM_AUDIT] = "audit",
    [SIM_VIOLATION] = "violation",
    [SIM_UNREPORTED] = "unreported",
    [SIM_REACTION] = "reaction",
    [SIM_LOSS] = "loss",
    [SIM_ORDER] = "order",
    [SIM_PAYLOAD] = "payload",
    [SIM_OVERFLOW] = "overflow",
    [SIM_PAUSED] = "paused",
    [SIM_NOT_EMPTY] = "not-empty",
    [SIM_STUCK] = "stuck",
    [SIM_EXPECT] = "expectation",
};

const char *
sim_fault_name(enum sim_fault f)
{
    return fault_names[f];
}

void
sim_fault(struct sim *sim, enum sim_fault f, const char *fmt, ...)
{
    va_list ap;
    char text[sizeof(sim->first_fault)];

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (sim_ok(sim))
        snprintf(sim->first_fault, sizeof(sim->first_fault),
                 "%s at %.9f s: %.200s", sim_fault_name(f),
                 (double) sim->now_ns / 1e9, text);
    if (sim->verbose && sim->n_faults[f] < 10)
        printf("# %12.9f FAULT %s: %s\n", (double) sim->now_ns / 1e9,
               sim_fault_name(f), text);
    sim->n_faults[f]++;
}

bool
sim_ok(const struct sim *sim)
{
    for (int f = 0; f < SIM_N_FAULTS; f++) {
        if (sim->n_faults[f])
            return false;
    }
    return true;
}

/* FNV-1a over the eight octets of v. */
void
sim_digest(struct sim *sim, uint64_t v)
{
    for (int i = 0; i < 8; i++) {
        sim->digest ^= v & 0xff;
        sim->digest *= UINT64_C(0x100000001b3);
        v >>= 8;
    }
}

struct sim *
sim_create(uint64_t seed)
{
    struct sim *sim = calloc(1, sizeof(*sim));

    assert(sim);
    sim->seed = seed;
    sim->rng.state = seed;
    sim->now_ns = NS_PER_MS;
    sim->turn_ns = 2 * NS_PER_US;
    sim->headroom_pct = 100;
    sim->tx_limit = UINT32_MAX;
    sim->digest = UINT64_C(0xcbf29ce484222325);
    for (uint8_t p = 0; p < N_PRIO; p++)
        sim->world.pcp[p] = p;
    return sim;
}

static void
switch_destroy(struct sim_switch *sw)
{
    if (sw->old_plan != sw->plan)
        dp_plan_destroy(sw->old_plan);
    if (sw->dp)
        sim_tables_end(sw);
    dp_destroy(sw->dp);
    for (uint32_t i = 0; i < sw->n_ports; i++) {
        netdev_close(sw->port[i].dev);
        dp_port_destroy(sw->state[i]);
    }
    conf_destroy(sw->conf);
    free(sw);
}

void
sim_destroy(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->n_st; i++) {
        netdev_close(sim->st[i]->port.dev);
        free(sim->st[i]);
    }
    for (uint32_t i = 0; i < sim->n_sw; i++)
        switch_destroy(sim->sw[i]);
    pkt_pool_destroy(sim->st_pool);
    free(sim);
}

void
sim_poke(struct sim_node *node, uint64_t t)
{
    if (t < node->not_before_ns)
        t = node->not_before_ns;
    if (t < node->wake_ns)
        node->wake_ns = t;
}

static struct sim_node *
earliest(const struct sim *sim)
{
    struct sim_node *first = sim->node[0];

    for (uint32_t i = 1; i < sim->n_nodes; i++) {
        if (sim->node[i]->wake_ns < first->wake_ns)
            first = sim->node[i];
    }
    return first;
}

uint64_t
sim_turn(const struct sim_node *node)
{
    const struct sim *sim = node->sim;

    return node->kind == SIM_SWITCH && sim->sw_turn_ns ? sim->sw_turn_ns
                                                       : sim->turn_ns;
}

/* How long the node is away after its turn. */
static uint64_t
pause_of_node(const struct sim_node *node)
{
    struct sim *sim = node->sim;
    uint64_t away_ns = sim_turn(node);

    if (!sim->stall_one_in || rng_below(&sim->rng, sim->stall_one_in) > 0)
        return away_ns;
    if (rng_below(&sim->rng, 2) == 0)
        return away_ns + sim->stall_ns; /* as bad as it gets */
    return away_ns + rng_range(&sim->rng, 0, sim->stall_ns);
}

static void
run_node(struct sim *sim, struct sim_node *node)
{
    uint64_t next_ns;

    node->wake_ns = CLOCK_NEVER;
    node->not_before_ns = sim->now_ns + pause_of_node(node);
    node->n_turns++;
    if (node->kind == SIM_SWITCH && sim->replan_one_in &&
        rng_below(&sim->rng, sim->replan_one_in) == 0)
        sim_random_replan(sim, sim->sw[node->index]);
    if (node->kind == SIM_SWITCH)
        next_ns = sim_switch_run(sim->sw[node->index], sim->now_ns);
    else
        next_ns = sim_station_run(sim->st[node->index], sim->now_ns);
    if (next_ns != CLOCK_NEVER)
        sim_poke(node, next_ns);
}

void
sim_run_until(struct sim *sim, uint64_t t)
{
    /* What is out of joint once stays so: no use in going on. */
    while (!sim->n_faults[SIM_AUDIT] && !sim->n_faults[SIM_STUCK]) {
        struct sim_node *node = earliest(sim);

        if (node->wake_ns == CLOCK_NEVER || node->wake_ns > t)
            break;
        assert(node->wake_ns >= sim->now_ns);
        sim->now_ns = node->wake_ns;
        if (++sim->n_steps > SIM_MAX_STEPS) {
            sim_fault(sim, SIM_STUCK, "%d turns were not enough",
                      SIM_MAX_STEPS);
            break;
        }
        run_node(sim, node);
    }
}

void
sim_run(struct sim *sim)
{
    if (sim->cut_short_ns) {
        sim_run_until(sim, sim->now_ns + sim->cut_short_ns);
        return;
    }
    sim_run_until(sim, sim->limit_ns);
    if (!sim->n_faults[SIM_AUDIT] && earliest(sim)->wake_ns != CLOCK_NEVER)
        sim_fault(sim, SIM_STUCK, "still busy at the time limit");
}
