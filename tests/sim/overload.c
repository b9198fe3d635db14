/* SPDX-License-Identifier: Apache-2.0
 *
 * A switch that cannot keep up with its links: its turns take so long that the
 * batch that it reads in each is a fraction of what comes meanwhile.  No queue
 * and no group fills, only receive rings do, and these have to pause their
 * peers before they are full.  Senders in pairs with receivers, each as fast
 * as its line; beside the lossless flow of some a lossy one that no pause
 * stops, which is what fills the ring to the brim.
 */
#include "sim/random.h"
#include "sim/scenarios.h"
#include "sim/sim.h"

#define MBPS      UINT64_C(1000000)
#define MAX_PAIRS 3
#define PRIO      3 /* the lossless one */
#define MIN_LEN   60
#define MAX_FRAME 1522 /* as the stations' shapers know it */

struct overload {
    uint16_t n_pairs;         /* senders, and receivers */
    bool beside;              /* there are lossy flows too */
    uint64_t rate_bps;        /* of all links */
    uint64_t delay_ns;        /* of all cables */
    uint32_t max_len;         /* of frames */
    struct sim_switch *sw;    /* the slow one */
    uint32_t slot[MAX_PAIRS]; /* of the senders */
};

/* What may arrive between a look at the ring that finds it not too full and
 * the last frame that its peer sends: a turn and a stall till it is looked at
 * again, a turn till the PFC frame is out, the way there and back.  Beside
 * that what a sender may send at once after it was silent: a batch of frames
 * of full size, in small ones. */
static uint32_t
frames_meanwhile(const struct sim *sim, const struct overload *o)
{
    uint64_t ns = 2 * sim->sw_turn_ns + sim->stall_ns + 2 * o->delay_ns +
                  2 * sim->turn_ns;

    return (uint32_t) (o->rate_bps * ns / NS_PER_S / (MIN_LEN * 8)) +
           PKT_BATCH * MAX_FRAME / MIN_LEN + 2 * PKT_BATCH;
}

static void
add_flow(struct sim *sim, const struct overload *o, uint16_t pair,
         uint8_t prio, uint32_t count)
{
    struct sim_flow *f =
        sim_add_flow(sim, pair, (uint16_t) (o->n_pairs + pair));

    f->prio = prio;
    f->rate_bps = o->rate_bps;
    f->min_len = MIN_LEN;
    f->max_len = o->max_len;
    f->start_ns = sim->now_ns + NS_PER_MS;
    f->count = count;
}

static void
build(struct sim *sim, struct overload *o)
{
    static const uint64_t rates[] = {500 * MBPS, 1000 * MBPS, 2500 * MBPS};
    uint32_t least, i;

    o->n_pairs = (uint16_t) rng_range(&sim->rng, 1, MAX_PAIRS);
    o->beside = sim_chance(sim, 50);
    o->rate_bps = sim_pick(sim, rates, 3);
    o->delay_ns = rng_range(&sim->rng, 0, 20) * NS_PER_US;
    o->max_len = (uint32_t) rng_range(&sim->rng, MIN_LEN, 200);
    sim->lossless = 1u << PRIO;
    sim->limit_ns = 60 * NS_PER_S;
    sim->turn_ns = rng_range(&sim->rng, 1, 10) * NS_PER_US;
    sim->sw_turn_ns = rng_range(&sim->rng, 150, 300) * NS_PER_US;
    sim->stall_ns = rng_range(&sim->rng, 0, 500) * NS_PER_US;
    sim->stall_one_in = sim_chance(sim, 70) ? 20 : 0;
    least =
        frames_meanwhile(sim, o) * NETDEV_RING_HIGH / (NETDEV_RING_HIGH - 1) +
        NETDEV_RING_HIGH;
    sim->ring_slots = least * (uint32_t) rng_range(&sim->rng, 100, 150) / 100;
    o->sw = sim_add_switch(sim, "slow");
    for (i = 0; i < 2u * o->n_pairs; i++) {
        uint32_t slot = sim_link_station(sim, o->sw, sim_add_station(sim),
                                         o->rate_bps, o->delay_ns);

        if (i < o->n_pairs)
            o->slot[i] = slot;
    }
    for (i = 0; i < o->n_pairs; i++) {
        add_flow(sim, o, (uint16_t) i, PRIO, 3 * sim->ring_slots);
        if (o->beside)
            add_flow(sim, o, (uint16_t) i, 0, 4 * sim->ring_slots);
    }
    /* Receivers say their names, so that nobody has to flood. */
    for (i = 0; i < o->n_pairs; i++) {
        struct sim_flow *f =
            sim_add_flow(sim, (uint16_t) (o->n_pairs + i), SIM_BROADCAST);

        f->rate_bps = MBPS;
        f->count = 1;
    }
}

static void
check(struct sim *sim, const struct overload *o)
{
    uint64_t n_lost = 0, n_pauses = 0;

    for (uint16_t i = 0; i < o->n_pairs; i++) {
        const struct netdev *dev = o->sw->port[o->slot[i]].dev;

        if (!counter_get(&dev->stats.n_ring_pauses))
            sim_fault(sim, SIM_EXPECT, "the ring of %s paused nobody",
                      dev->name);
    }
    sim_switch_rings(o->sw, &n_lost, &n_pauses);
    if (o->beside != (n_lost > 0))
        sim_fault(sim, SIM_EXPECT,
                  "%llu frames found a ring full, with%s "
                  "lossy ones",
                  (unsigned long long) n_lost, o->beside ? "" : "out");
    if (sim->n_pauses)
        sim_fault(sim, SIM_EXPECT, "a group was in XOFF: that is no overload");
}

void
sim_overload(struct sim *sim)
{
    struct overload o = {0};

    build(sim, &o);
    if (!sim_start(sim))
        return;
    sim_run(sim);
    sim_check_end(sim);
    check(sim, &o);
}
