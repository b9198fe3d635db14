/* SPDX-License-Identifier: Apache-2.0
 *
 * What random fabrics share: rates, stalls, buffers, scheduling, flows, all
 * drawn from the seed within what the headroom rule covers.
 */
#include "sim/random.h"

#include "pkt/pkt.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define MBPS         UINT64_C(1000000)
#define MAX_RESERVED 4096u /* bytes of a group */
#define FRAME        1522u /* longest frame */

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

/* A random order of 0..n-1. */
static void
shuffle(struct sim *sim, uint8_t *of, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        of[i] = (uint8_t) i;
    for (unsigned i = n; i > 1; i--) {
        uint64_t k = rng_below(&sim->rng, i);
        uint8_t was = of[i - 1];

        of[i - 1] = of[k];
        of[k] = was;
    }
}

/* What frames say of their priority: the PCP, in any order, or one of 64
 * DSCPs, of which each priority has some. */
static void
random_codes(struct sim *sim, struct sim_world *w)
{
    uint8_t order[64];

    w->ip = sim_chance(sim, 30);
    if (!w->ip && sim_chance(sim, 30))
        shuffle(sim, w->pcp, N_PRIO);
    shuffle(sim, order, 64);
    for (unsigned i = 0; i < 64; i++)
        w->dscp_to_prio[order[i]] =
            i < 16 ? (uint8_t) (i % N_PRIO)
                   : (uint8_t) rng_below(&sim->rng, N_PRIO);
    for (unsigned p = 0; p < N_PRIO; p++) {
        w->dscp[0][p] = order[p];
        w->dscp[1][p] = sim_chance(sim, 50) ? order[p] : order[p + N_PRIO];
    }
}

/* Copies take memory beside what the headroom rule counts: none where there is
 * hardly more than that. */
static void
random_tables(const struct sim *sim, struct sim_world *w)
{
    struct rng rng = {.state = sim->seed ^ UINT64_C(0x0f10f1e5)};

    w->tables = rng_below(&rng, 100) < 40;
    w->remarks = w->tables && !w->ip && rng_below(&rng, 100) < 60;
    w->copies = w->tables && !w->scarce && rng_below(&rng, 100) < 60;
}

const struct sim_world *
sim_random_world(struct sim *sim)
{
    struct sim_world *w = &sim->world;
    static const uint64_t rates[] = {10 * MBPS,  25 * MBPS,  50 * MBPS,
                                     100 * MBPS, 200 * MBPS, 400 * MBPS};
    static const uint64_t stalls[] = {0, 500 * NS_PER_US, 2 * NS_PER_MS,
                                      4 * NS_PER_MS};
    static const uint64_t delays[] = {0, NS_PER_US, 10 * NS_PER_US,
                                      100 * NS_PER_US};

    sim->lossless = random_lossless(sim);
    sim->use_pause = sim_chance(sim, 8);
    if (sim->use_pause)
        sim->lossless = 0xff;
    else if (sim->lossless)
        sim->asymmetric = sim_chance(sim, 10);
    w->rate_bps = sim_pick(sim, rates, 6);
    w->delay_ns = sim_pick(sim, delays, 4);
    sim->turn_ns = rng_range(&sim->rng, 1, 20) * NS_PER_US;
    sim->stall_ns = sim_pick(sim, stalls, 4);
    sim->stall_one_in = (uint32_t) rng_range(&sim->rng, 10, 400);
    sim->line = sim_chance(sim, 50);
    sim->emulated = !sim->line && sim_chance(sim, 60);
    /* A quarter of the providers take a few frames at a time only. */
    if (sim_chance(sim, 25))
        sim->tx_limit = (uint32_t) rng_range(&sim->rng, 4, PKT_BATCH - 1);
    if (sim_chance(sim, 25))
        sim->replan_one_in = (uint32_t) rng_range(&sim->rng, 20, 400);
    w->dynamic = sim_chance(sim, 15);
    w->scarce = sim_chance(sim, 15);
    w->small_frames = w->scarce || sim_chance(sim, 30);
    w->vid =
        sim_chance(sim, 50) ? 0 : (uint16_t) rng_range(&sim->rng, 1, 4094);
    w->mixed_rates = sim_chance(sim, 40);
    w->drop_unknown = sim_chance(sim, 30);
    random_codes(sim, w);
    random_tables(sim, w);
    return w;
}

uint64_t
sim_random_rate(struct sim *sim, const struct sim_world *w)
{
    static const uint64_t percent[] = {50, 100, 100, 200, 400};

    if (!w->mixed_rates)
        return w->rate_bps;
    return w->rate_bps * sim_pick(sim, percent, 5) / 100;
}

uint64_t
sim_random_delay(struct sim *sim, const struct sim_world *w)
{
    return rng_range(&sim->rng, w->delay_ns / 2, w->delay_ns);
}

static int8_t
random_alpha(struct sim *sim)
{
    if (sim_chance(sim, 40))
        return BUF_ALPHA_NONE;
    return (int8_t) ((int) rng_below(&sim->rng, 8) - 5);
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
        queue->alpha = sim->world.dynamic ? random_alpha(sim) : BUF_ALPHA_NONE;
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

/* A watchdog and a guard that only report must not change anything; one that
 * acts is for fabrics with peers that pause for ever. */
static void
random_watch(struct sim *sim, struct conf_port *cp)
{
    struct conf_watchdog *wd = &cp->watchdog;
    uint32_t least;

    wd->enabled = sim->watchdogs || sim_chance(sim, 50);
    wd->action =
        sim->watchdogs
            ? (enum watchdog_action) rng_below(&sim->rng, WATCHDOG_ALERT)
            : WATCHDOG_ALERT;
    wd->detection_ms = (uint32_t) rng_range(&sim->rng, 100, 400);
    wd->restoration_ms = (uint32_t) rng_range(&sim->rng, 100, 400);
    least = wd->detection_ms < wd->restoration_ms ? wd->detection_ms
                                                  : wd->restoration_ms;
    wd->poll_ms = (uint32_t) rng_range(&sim->rng, 100, least);
    cp->guard.time_ms =
        sim_chance(sim, 50) ? (uint32_t) rng_range(&sim->rng, 100, 400) : 0;
}

/* Early drops of lossy frames; those of lossless queues must not show it. */
static void
random_wred(struct sim *sim, struct conf_port *cp)
{
    for (int q = 0; q < N_QUEUE; q++) {
        struct conf_queue *queue = &cp->queue[q];

        queue->wred_max_bytes =
            sim_chance(sim, 30) ? rng_range(&sim->rng, 1522, 65536) : 0;
        queue->wred_min_bytes = rng_range(&sim->rng, 0, queue->wred_max_bytes);
        queue->wred_percent = (uint8_t) rng_range(&sim->rng, 0, 100);
        queue->ecn = queue->wred_max_bytes && sim_chance(sim, 50);
    }
}

/* XOFF and XON anywhere; a limit of its own or a share of what is free. */
static void
random_thresholds(struct sim *sim, const struct sim_world *w,
                  struct conf_group *grp, bool small)
{
    grp->xoff_bytes = rng_range(&sim->rng, 1522, small ? 6000 : 65536);
    grp->xon_bytes = rng_range(&sim->rng, 0, grp->xoff_bytes);
    grp->xon_offset_bytes =
        sim_chance(sim, 30) ? rng_range(&sim->rng, 0, grp->xoff_bytes) : 0;
    grp->reserved_bytes =
        sim_chance(sim, 30) ? rng_range(&sim->rng, 0, MAX_RESERVED) : 0;
    grp->alpha = w->dynamic ? random_alpha(sim) : BUF_ALPHA_NONE;
}

/* A change of them reaches all of their users. */
static void
random_profiles(struct sim *sim, const struct sim_world *w,
                struct conf_bridge *b)
{
    for (uint32_t i = 0; i < b->n_profiles; i++) {
        struct conf_profile *prof = &b->profile[i];
        uint64_t k = rng_below(&sim->rng, b->n_pools + 1);

        random_thresholds(sim, w, &prof->t, sim_chance(sim, 50));
        memset(prof->pool, 0, sizeof(prof->pool));
        if (k == b->n_pools)
            continue;
        strcpy(prof->pool, b->pool[k].name);
        prof->t.alpha = b->pool[k].dynamic ? -(int8_t) rng_below(&sim->rng, 5)
                                           : BUF_ALPHA_NONE;
    }
}

/* Some memory for pools; some thresholds with names. */
static uint64_t
random_pools(struct sim *sim, const struct sim_world *w, struct conf_bridge *b)
{
    uint64_t n_pools = sim_chance(sim, 40) ? rng_range(&sim->rng, 1, 3) : 0;
    uint64_t n_profiles = sim_chance(sim, 40) ? rng_range(&sim->rng, 1, 3) : 0;
    uint64_t bytes = 0;
    char name[8];

    while (n_pools-- > 0) {
        struct conf_pool *pool = NULL;

        snprintf(name, sizeof(name), "pool%d", (int) n_pools);
        conf_add_pool(b, name, &pool, NULL);
        pool->size_bytes = rng_range(&sim->rng, 1522, 100000);
        pool->dynamic = sim_chance(sim, 50);
        bytes += pool->size_bytes;
    }
    while (n_profiles-- > 0) {
        struct conf_profile *prof;

        snprintf(name, sizeof(name), "prof%d", (int) n_profiles);
        conf_add_profile(b, name, &prof, NULL);
    }
    random_profiles(sim, w, b);
    return bytes;
}

/* Own thresholds, or those of a profile. */
static void
random_group(struct sim *sim, const struct sim_world *w,
             const struct conf_bridge *b, struct conf_group *grp, bool small)
{
    uint64_t headroom = grp->headroom_bytes;

    *grp = (struct conf_group){.xoff_bytes = CONF_DEFAULT_XOFF,
                               .xon_bytes = CONF_DEFAULT_XON,
                               .alpha = BUF_ALPHA_NONE,
                               .headroom_bytes = headroom};
    /* Headroom that the scenario gives is the group's own. */
    if (b->n_profiles && sim->headroom_pct == 100 &&
        headroom == CONF_HEADROOM_AUTO && sim_chance(sim, 50))
        strcpy(grp->profile,
               b->profile[rng_below(&sim->rng, b->n_profiles)].name);
    else
        random_thresholds(sim, w, grp, small);
}

static void
random_port(struct sim *sim, const struct sim_world *w,
            const struct conf_bridge *b, struct conf_port *cp)
{
    bool small = !w->scarce && sim_chance(sim, 50);

    random_queues(sim, cp);
    random_wred(sim, cp);
    random_watch(sim, cp);
    cp->pfc_quanta = random_quanta(sim, cp);
    for (int g = 0; g < N_PG; g++)
        random_group(sim, w, b, &cp->group[g], small);
}

/* New thresholds, weights and pause times under traffic. */
void
sim_random_replan(struct sim *sim, struct sim_switch *sw)
{
    random_profiles(sim, &sim->world, sw->bridge);
    for (uint32_t i = 0; i < sw->n_ports; i++)
        random_port(sim, &sim->world, sw->bridge, sw->cp[i]);
    sim_replan(sim, sw);
}

/* All ports of a switch agree on their maps.  Lossless priorities may share a
 * group with each other, but not with lossy ones: those would not stop. */
static void
random_maps(struct sim *sim, const struct sim_world *w, struct conf_map *map)
{
    uint64_t turn = rng_below(&sim->rng, N_PRIO);
    bool one_group = sim_chance(sim, 30), turned = sim_chance(sim, 30);
    bool any = sim_chance(sim, 10);

    for (unsigned p = 0; p < N_PRIO; p++) {
        if (one_group)
            map->prio_to_pg[p] = sim->lossless & 1u << p ? 3 : 0;
        if (turned)
            map->prio_to_queue[p] = (uint8_t) ((p + turn) % N_QUEUE);
        if (any)
            map->prio_to_queue[p] = (uint8_t) rng_below(&sim->rng, N_QUEUE);
    }
    for (unsigned p = 0; p < N_PRIO; p++) {
        map->pcp_to_prio[w->pcp[p]] = (uint8_t) p;
        /* Tags that switches put in are to say what those of senders do. */
        if (w->pcp[p] != p)
            map->prio_to_pcp[p] = w->pcp[p];
        if (w->ip && w->dscp[1][p] != w->dscp[0][p])
            map->prio_to_dscp[p] = w->dscp[1][p];
    }
    memcpy(map->dscp_to_prio, w->dscp_to_prio, sizeof(map->dscp_to_prio));
    if (w->ip)
        map->trust = DP_TRUST_DSCP;
}

/* Untagged stations are on access ports, or on ports without VLANs: their
 * priority is that of the port. */
static void
random_access(struct sim *sim, const struct sim_world *w,
              struct sim_switch *sw)
{
    for (uint32_t i = 0; i < sw->n_ports; i++) {
        struct sim_node *node = sw->port[i].peer->node;
        struct conf_port *cp = sw->cp[i];
        struct sim_station *st;

        if (node->kind != SIM_STATION || !sim_chance(sim, 20))
            continue;
        st = sim->st[node->index];
        st->untagged = true;
        st->prio = (uint8_t) rng_below(&sim->rng, N_PRIO);
        /* Where nothing tags it, it has to be the one that all give. */
        if (!w->vid)
            st->prio = 0;
        cp->map.given |= CONF_MAP_DEFAULT;
        cp->map.default_prio = st->prio;
        if (w->vid) {
            cp->vlan_mode = DP_VLAN_ACCESS;
            cp->tag = w->vid;
        }
    }
}

void
sim_random_switch(struct sim *sim, const struct sim_world *w,
                  struct sim_switch *sw)
{
    struct conf_live live = {.mtu = 1500};
    uint64_t need = random_pools(sim, w, sw->bridge), spare;

    random_maps(sim, w, &sw->bridge->map);
    sw->bridge->drop_unknown = w->drop_unknown;
    random_access(sim, w, sw);
    for (uint32_t i = 0; i < sw->n_ports; i++) {
        random_port(sim, w, sw->bridge, sw->cp[i]);
        for (int g = 0; g < N_PG; g++) {
            need += MAX_RESERVED + 1522;
            if (conf_lossless_groups(sw->bridge, sw->cp[i]) & 1u << g)
                need += conf_port_headroom(sw->bridge, sw->cp[i], g, &live,
                                           sim_stall(sim));
        }
    }
    /* Beside what is asked for: little or much to share.  A buffer of a full
     * frame takes more than its octets, and small frames fill them first. */
    spare = w->scarce ? rng_range(&sim->rng, 0, 32 << 10)
                      : rng_range(&sim->rng, 64 << 10, 1 << 20);
    sw->bridge->memory_bytes =
        (need + spare) * (pkt_stride(FRAME) + sizeof(struct pkt)) / FRAME +
        128 * 1024;
    if (sw->bridge->memory_bytes < CONF_MIN_MEMORY)
        sw->bridge->memory_bytes = CONF_MIN_MEMORY;
}

static void
random_lengths(struct sim *sim, const struct sim_world *w, struct sim_flow *f)
{
    switch (w->scarce ? 0 : rng_below(&sim->rng, 4)) {
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
    if (sim->st[src]->untagged)
        f->prio = sim->st[src]->prio;
    f->vid = w->vid;
    f->ecn = (uint8_t) rng_below(&sim->rng, 4);
    random_lengths(sim, w, f);
    f->rate_bps = rate_bps * rng_range(&sim->rng, 20, 150) / 100;
    f->count = w->scarce ? count * 2 : count;
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
