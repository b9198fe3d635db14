/* SPDX-License-Identifier: Apache-2.0
 *
 * Random trees of switches that learn: unknown addresses and broadcasts are
 * flooded, which a tree bears.  Copies of a flood are counted by every switch
 * that makes them, and the sums must still come out.
 */
#include "sim/openflow.h"
#include "sim/random.h"
#include "sim/scenarios.h"

#include <stdio.h>

#define MAX_SWITCHES 6
#define MIN_FRAMES   300
#define MAX_FRAMES   700

static void
build_tree(struct sim *sim, const struct sim_world *w)
{
    uint32_t n = (uint32_t) rng_range(&sim->rng, 1, MAX_SWITCHES);
    char name[CONF_NAME_MAX + 1];
    uint32_t a, b;

    for (uint32_t i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "sw%u", i & 15);
        sim_add_switch(sim, name);
        if (i > 0)
            sim_link_switches(sim, sim->sw[i],
                              sim->sw[rng_below(&sim->rng, i)],
                              sim_random_rate(sim, w),
                              sim_random_delay(sim, w), &a, &b);
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint64_t k = rng_range(&sim->rng, 1, 3) + (n == 1); k > 0; k--)
            sim_link_station(sim, sim->sw[i], sim_add_station(sim),
                             sim_random_rate(sim, w),
                             sim_random_delay(sim, w));
    }
    for (uint32_t i = 0; i < n; i++)
        sim_random_switch(sim, w, sim->sw[i]);
    for (uint32_t i = 0; i < sim->n_st; i++)
        sim_random_station(sim, w, sim->st[i]);
}

static void
build_flows(struct sim *sim, const struct sim_world *w)
{
    uint32_t n = (uint32_t) rng_range(&sim->rng, 2, 10);
    uint32_t total = (uint32_t) rng_range(&sim->rng, MIN_FRAMES, MAX_FRAMES);

    for (uint32_t i = 0; i < n; i++) {
        uint16_t src = (uint16_t) rng_below(&sim->rng, sim->n_st);
        uint16_t dst = (uint16_t) rng_below(&sim->rng, sim->n_st);

        if (dst == src)
            dst = (uint16_t) ((src + 1) % sim->n_st);
        sim_random_flow(sim, w, src, dst, total / n);
    }
    /* Broadcasts are few, and may be lost: nobody counts their copies by
     * sequence number at every station. */
    if (sim->lossless != 0xff && sim_chance(sim, 60)) {
        uint16_t src = (uint16_t) rng_below(&sim->rng, sim->n_st);
        struct sim_flow *f = sim_random_flow(sim, w, src, SIM_BROADCAST, 20);

        if (!sim->st[src]->untagged)
            f->prio = (uint8_t) __builtin_ctz(~(unsigned) sim->lossless);
    }
}

void
sim_tree(struct sim *sim)
{
    const struct sim_world *w = sim_random_world(sim);

    build_tree(sim, w);
    build_flows(sim, w);
    sim->limit_ns = 120 * NS_PER_S;
    if (!sim_start(sim))
        return;
    sim_tables_start(sim);
    sim_run(sim);
    sim_check_end(sim);
}
