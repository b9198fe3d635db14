/* SPDX-License-Identifier: Apache-2.0
 *
 * What random fabrics share: rates, stalls, buffers, scheduling, flows, all
 * drawn from the seed within what the headroom rule covers.
 */
#include "sim/random.h"

#include <stddef.h>

#define MBPS         UINT64_C(1000000)
#define MAX_RESERVED 4096u /* bytes of a group */

uint64_t
sim_pick(struct sim *sim, const uint64_t *of, size_t n)
{
    return of[rng_below(&sim->rng, n)];
}

bool
sim_chance(struct sim *sim, unsigned percent)
{
    return rng_below(&sim->rng, 100) < percent;
}

static uint8_t
random_lossless(struct sim *sim)
{
    uint8_t prios = 0;

    switch (rng_below(&sim->rng, 10)) {
    case 0:
        return 0; /* nothing to protect, all the same nothing to miscount */
    case 1:
        return 0xff;
    case 2:
        return 1u << 3; /* as FCoE */
    case 3:
        return 1u << 3 | 1u << 4; /* as SONiC */
    default:
        for (uint64_t n = rng_range(&sim->rng, 1, 4); n > 0; n--)
            prios |= (uint8_t) (1u << rng_below(&sim->rng, N_PRIO));
        return prios;
    }
}

void
sim_random_world(struct sim *sim, struct sim_world *w)
{
    static const uint64_t rates[] = {10 * MBPS,  25 * MBPS,  50 * MBPS,
                                     100 * MBPS, 200 * MBPS, 400 * MBPS};
    static const uint64_t stalls[] = {0, 500 * NS_PER_US, 2 * NS_PER_MS,
                                      4 * NS_PER_MS};
    static const uint64_t delays[] = {0, NS_PER_US, 10 * NS_PER_US,
                                      100 * NS_PER_US};

    sim->lossless = random_lossless(sim);
    w->rate_bps = sim_pick(sim, rates, 6);
    w->delay_ns = sim_pick(sim, delays, 4);
    sim->turn_ns = rng_range(&sim->rng, 1, 20) * NS_PER_US;
    sim->stall_ns = sim_pick(sim, stalls, 4);
    sim->stall_one_in = (uint32_t) rng_range(&sim->rng, 10, 400);
    sim->line = sim_chance(sim, 50);
    /* A quarter of the providers take a few frames at a time only. */
    if (sim_chance(sim, 25))
        sim->tx_limit = (uint32_t) rng_range(&sim->rng, 4, PKT_BATCH - 1);
    if (sim_chance(sim, 25))
        sim->replan_one_in = (uint32_t) rng_range(&sim->rng, 20, 400);
    w->small_frames = sim_chance(sim, 30);
    w->vid =
        sim_chance(sim, 50) ? 0 : (uint16_t) rng_range(&sim->rng, 1, 4094);
}

uint64_t
sim_random_delay(struct sim *sim, const struct sim_world *w)
{
    return rng_range(&sim->rng, w->delay_ns / 2, w->delay_ns);
}

/* Weights that sum to 100 over a random set of ETS queues; or all strict. */
static void
random_queues(struct sim *sim, struct conf_port *cp)
{
    struct conf_queue *last = NULL;
    unsigned left = 100;

    for (unsigned q = 0; q < N_QUEUE; q++) {
        struct conf_queue *queue = &cp->queue[q];

        queue->limit_bytes = rng_range(&sim->rng, 2 * 1522, 64 * 1024);
        queue->ets = sim_chance(sim, 60);
        queue->weight = 0;
        if (sim_chance(sim, 5))
            queue->max_rate_bps = cp->rate_bps / 2;
        if (!queue->ets)
            continue;
        queue->weight = (uint8_t) rng_range(&sim->rng, 1, left / 3);
        left -= queue->weight;
        last = queue;
    }
    if (last)
        last->weight = (uint8_t) (last->weight + left);
}

/* A pause must outlast the stalls of both ends, or the peer goes on while we
 * are away: that much no headroom covers. */
static uint16_t
random_quanta(struct sim *sim, const struct conf_port *cp)
{
    uint64_t least_ns = 4 * sim->stall_ns + 8 * sim->turn_ns +
                        4 * cp->cable_delay_ns + 200 * NS_PER_US;
    uint64_t least = least_ns * (cp->rate_bps / 1000) / 512 / 1000000 + 1;

    if (least >= UINT16_MAX || sim_chance(sim, 40))
        return UINT16_MAX;
    return (uint16_t) (sim_chance(sim, 50)
                           ? least
                           : rng_range(&sim->rng, least, UINT16_MAX));
}

void
sim_random_port(struct sim *sim, struct conf_port *cp)
{
    bool small = sim_chance(sim, 50);

    random_queues(sim, cp);
    cp->pfc_quanta = random_quanta(sim, cp);
    for (int g = 0; g < N_PG; g++) {
        struct conf_group *grp = &cp->group[g];

        grp->xoff_bytes = rng_range(&sim->rng, 1522, small ? 6000 : 65536);
        grp->xon_bytes = rng_range(&sim->rng, 0, grp->xoff_bytes);
        grp->xon_offset_bytes =
            sim_chance(sim, 30) ? rng_range(&sim->rng, 0, grp->xoff_bytes) : 0;
        grp->reserved_bytes =
            sim_chance(sim, 30) ? rng_range(&sim->rng, 0, MAX_RESERVED) : 0;
    }
}

/* New thresholds, weights and pause times under traffic. */
void
sim_random_replan(struct sim *sim, struct sim_switch *sw)
{
    for (uint32_t i = 0; i < sw->n_ports; i++)
        sim_random_port(sim, sw->cp[i]);
    sim_replan(sim, sw);
}

void
sim_random_switch(struct sim *sim, struct sim_switch *sw)
{
    struct conf_live live = {.mtu = 1500};
    uint64_t need = 0;

    /* All ports of a switch agree on their maps; some share a group. */
    if (sim_chance(sim, 30)) {
        uint8_t *pg = sw->bridge->map.prio_to_pg;

        for (int p = 0; p < N_PRIO; p++)
            pg[p] = sim->lossless & 1u << p ? 3 : 0;
        if (sim->lossless == 0xff || !sim->lossless)
            pg[0] = pg[7];
    }
    for (uint32_t i = 0; i < sw->n_ports; i++) {
        sim_random_port(sim, sw->cp[i]);
        for (int g = 0; g < N_PG; g++) {
            need += MAX_RESERVED + 1522;
            if (conf_lossless_groups(sw->bridge, sw->cp[i]) & 1u << g)
                need += conf_port_headroom(sw->bridge, sw->cp[i], g, &live,
                                           sim_stall(sim));
        }
    }
    /* Beside what is asked for: little or much to share.  A buffer of a full
     * frame takes more than its octets. */
    sw->bridge->memory_bytes =
        (need + rng_range(&sim->rng, 64 * 1024, 1024 * 1024)) * 5 / 4 +
        256 * 1024;
    if (sw->bridge->memory_bytes < 1 << 20)
        sw->bridge->memory_bytes = 1 << 20;
}

static void
random_lengths(struct sim *sim, const struct sim_world *w, struct sim_flow *f)
{
    switch (rng_below(&sim->rng, 4)) {
    case 0:
        f->min_len = f->max_len = w->small_frames ? 64 : 1514;
        break;
    case 1:
        f->min_len = f->max_len =
            (uint32_t) rng_range(&sim->rng, 64, w->small_frames ? 256 : 1514);
        break;
    default:
        f->min_len = 64;
        f->max_len = w->small_frames ? 300 : 1514;
    }
}

struct sim_flow *
sim_random_flow(struct sim *sim, const struct sim_world *w, uint16_t src,
                uint16_t dst, uint32_t count)
{
    struct sim_flow *f = sim_add_flow(sim, src, dst);
    uint64_t rate_bps = sim->st[src]->port.rate_bps;

    f->prio = (uint8_t) rng_below(&sim->rng, N_PRIO);
    /* Many flows belong to the classes that are under test. */
    for (int i = 0; i < 20 && !(sim->lossless & 1u << f->prio); i++) {
        if (!sim->lossless || sim_chance(sim, 20))
            break;
        f->prio = (uint8_t) rng_below(&sim->rng, N_PRIO);
    }
    f->vid = w->vid;
    if (!w->vid && f->prio == 0)
        f->untagged = sim_chance(sim, 50);
    random_lengths(sim, w, f);
    f->rate_bps = rate_bps * rng_range(&sim->rng, 20, 150) / 100;
    f->count = count;
    f->start_ns =
        sim->now_ns + rng_below(&sim->rng, 2 * NS_PER_MS + sim->stall_ns);
    return f;
}

/* At most one receiver in four is slow. */
void
sim_random_station(struct sim *sim, const struct sim_world *w,
                   struct sim_station *st)
{
    struct conf_live live = {.mtu = 1500};
    struct sim_port *above = st->port.peer;
    struct sim_switch *sw = sim->sw[above->node->index];

    (void) w;
    if (!sim->lossless || !sim_chance(sim, 25))
        return;
    st->drain_bps = st->port.rate_bps * rng_range(&sim->rng, 10, 90) / 100;
    st->xoff_bytes = rng_range(&sim->rng, 1522, 32768);
    st->xon_bytes = rng_range(&sim->rng, 0, st->xoff_bytes);
    /* Every lossless class at once, and a frame. */
    st->buffer_bytes = st->xoff_bytes + 1522 +
                       conf_port_headroom(sw->bridge, sw->cp[above - sw->port],
                                          0, &live, sim_stall(sim));
}
