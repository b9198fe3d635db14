/* SPDX-License-Identifier: Apache-2.0
 *
 * Sixteen switches as leaves and spines.  Nothing here keeps frames out of
 * loops, so nothing may be flooded: every address is configured everywhere,
 * up to one spine per destination and leaf, and down again.  Such routes have
 * no cycle of pauses in them: every pause can lift.
 */
#include "sim/openflow.h"
#include "sim/random.h"
#include "sim/scenarios.h"

#include <assert.h>
#include <stdio.h>

#define N_SWITCHES 16
#define MAX_LEAVES 14
#define MAX_SPINES 8
#define MAX_HOSTS  2
#define MIN_FRAMES 1000
#define MAX_FRAMES 3000

struct leafspine {
    uint32_t n_spines, n_leaves, n_hosts;  /* hosts of a leaf */
    struct sim_switch *spine[MAX_SPINES];  /* the middle */
    struct sim_switch *leaf[MAX_LEAVES];   /* the edge */
    uint32_t up[MAX_LEAVES][MAX_SPINES];   /* slots of the leaves */
    uint32_t down[MAX_SPINES][MAX_LEAVES]; /* slots of the spines */
    uint32_t host[MAX_LEAVES][MAX_HOSTS];  /* slots of the leaves */
};

static void
choose_shape(struct sim *sim, struct leafspine *ls)
{
    static const uint32_t n_spines[] = {2, 4, 4, 8};

    ls->n_spines = n_spines[rng_below(&sim->rng, 4)];
    ls->n_leaves = N_SWITCHES - ls->n_spines;
    ls->n_hosts = (uint32_t) rng_range(&sim->rng, 1, MAX_HOSTS);
}

static void
build_switches(struct sim *sim, struct leafspine *ls)
{
    char name[CONF_NAME_MAX + 1];

    for (uint32_t i = 0; i < ls->n_spines; i++) {
        snprintf(name, sizeof(name), "spine%u", i & 15);
        ls->spine[i] = sim_add_switch(sim, name);
    }
    for (uint32_t i = 0; i < ls->n_leaves; i++) {
        snprintf(name, sizeof(name), "leaf%u", i & 15);
        ls->leaf[i] = sim_add_switch(sim, name);
    }
}

static void
build_links(struct sim *sim, struct leafspine *ls, const struct sim_world *w)
{
    for (uint32_t l = 0; l < ls->n_leaves; l++) {
        for (uint32_t s = 0; s < ls->n_spines; s++)
            sim_link_switches(sim, ls->leaf[l], ls->spine[s],
                              sim_random_rate(sim, w),
                              sim_random_delay(sim, w), &ls->up[l][s],
                              &ls->down[s][l]);
        for (uint32_t h = 0; h < ls->n_hosts; h++)
            ls->host[l][h] =
                sim_link_station(sim, ls->leaf[l], sim_add_station(sim),
                                 sim_random_rate(sim, w),
                                 sim_random_delay(sim, w));
    }
    for (uint32_t i = 0; i < sim->n_sw; i++)
        sim_random_switch(sim, w, sim->sw[i]);
    for (uint32_t i = 0; i < sim->n_st; i++)
        sim_random_station(sim, w, sim->st[i]);
}

static void
route(const struct sim_switch *sw, uint16_t vid, const uint8_t mac[6],
      uint32_t slot)
{
    bool ok = mactab_add_static(dp_mactab(sw->dp), vid, mac, (uint16_t) slot);

    assert(ok);
    (void) ok;
}

static void
build_routes(struct sim *sim, const struct leafspine *ls, uint16_t vid)
{
    for (uint32_t i = 0; i < sim->n_st; i++) {
        uint32_t home = i / ls->n_hosts, h = i % ls->n_hosts;
        const uint8_t *mac = sim->st[i]->mac;

        for (uint32_t s = 0; s < ls->n_spines; s++)
            route(ls->spine[s], vid, mac, ls->down[s][home]);
        for (uint32_t l = 0; l < ls->n_leaves; l++) {
            uint32_t s = (uint32_t) rng_below(&sim->rng, ls->n_spines);

            route(ls->leaf[l], vid, mac,
                  l == home ? ls->host[l][h] : ls->up[l][s]);
        }
    }
}

/* Everybody to one, everybody to the next, or anybody to anybody. */
static void
build_flows(struct sim *sim, const struct sim_world *w)
{
    uint32_t n = (uint32_t) rng_range(&sim->rng, 4, 24);
    uint32_t total = (uint32_t) rng_range(&sim->rng, MIN_FRAMES, MAX_FRAMES);
    uint64_t pattern = rng_below(&sim->rng, 4);
    uint16_t target = (uint16_t) rng_below(&sim->rng, sim->n_st);

    for (uint32_t i = 0; i < n; i++) {
        uint16_t src = (uint16_t) rng_below(&sim->rng, sim->n_st);
        uint16_t dst = (uint16_t) rng_below(&sim->rng, sim->n_st);

        if (pattern <= 1)
            dst = target;
        else if (pattern == 2)
            dst = (uint16_t) ((src + 1) % sim->n_st);
        if (dst == src)
            dst = (uint16_t) ((src + 1) % sim->n_st);
        sim_random_flow(sim, w, src, dst, total / n);
    }
}

void
sim_leafspine(struct sim *sim)
{
    const struct sim_world *w = sim_random_world(sim);
    struct leafspine ls;

    choose_shape(sim, &ls);
    build_switches(sim, &ls);
    build_links(sim, &ls, w);
    build_flows(sim, w);
    /* At the slowest all frames go over one link of 5 Mb/s, one by one. */
    sim->limit_ns =
        sim->hung && !sim->watchdogs ? 8 * NS_PER_S : 120 * NS_PER_S;
    if (!sim_start(sim))
        return;
    sim_tables_start(sim);
    build_routes(sim, &ls, w->vid);
    sim_run(sim);
    sim_check_end(sim);
}
