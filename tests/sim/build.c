/* SPDX-License-Identifier: Apache-2.0
 *
 * Building fabrics.  Switches are configured through lib/conf as the daemon's
 * are, so that what runs here is what its headroom rule asks for.
 */
#include "sim/sim.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The daemon's tables are larger; thousands of switches are made here. */
#define MAC_ENTRIES 1024

static void
node_init(struct sim *sim, struct sim_node *node, enum sim_kind kind,
          uint32_t index)
{
    node->sim = sim;
    node->kind = kind;
    node->index = (uint16_t) index;
    node->wake_ns = CLOCK_NEVER;
    sim->node[sim->n_nodes++] = node;
}

struct sim_switch *
sim_add_switch(struct sim *sim, const char *name)
{
    struct sim_switch *sw = calloc(1, sizeof(*sw));
    int rc;

    assert(sw && sim->n_sw < SIM_MAX_SWITCHES);
    node_init(sim, &sw->node, SIM_SWITCH, sim->n_sw);
    snprintf(sw->name, sizeof(sw->name), "%s", name);
    sw->conf = conf_create();
    rc = conf_add_bridge(sw->conf, name, &sw->bridge, NULL);
    assert(rc == 0);
    (void) rc;
    for (int i = 0; i < SIM_MAX_PORTS; i++)
        sw->first_xoff_ns[i] = sw->first_xon_ns[i] = CLOCK_NEVER;
    sim->sw[sim->n_sw++] = sw;
    return sw;
}

struct sim_station *
sim_add_station(struct sim *sim)
{
    struct sim_station *st = calloc(1, sizeof(*st));

    assert(st && sim->n_st < SIM_MAX_STATIONS);
    node_init(sim, &st->node, SIM_STATION, sim->n_st);
    st->mac[0] = 0x02;
    st->mac[1] = 0x51;
    st->mac[5] = (uint8_t) (sim->n_st + 1);
    st->pause_at_ns = CLOCK_NEVER;
    sim->st[sim->n_st++] = st;
    return st;
}

static uint32_t
add_port(struct sim *sim, struct sim_switch *sw, uint64_t rate_bps,
         uint64_t delay_ns)
{
    uint32_t slot = sw->n_ports;
    struct sim_port *port = &sw->port[slot];
    struct conf_port *cp = NULL;
    char name[CONF_NAME_MAX + 1];
    int rc;

    assert(slot < SIM_MAX_PORTS);
    snprintf(name, sizeof(name), "%.10sp%u", sw->name, slot);
    rc = conf_add_port(sw->conf, sw->bridge, name, "mem", &cp, NULL);
    assert(rc == 0);
    (void) rc;
    cp->rate_bps = rate_bps;
    cp->cable_delay_ns = delay_ns;
    cp->cable_emulated = port->emulated = sim->emulated;
    if (sim->line) /* the octets' own time is a delay too */
        cp->cable_delay_ns += 1522 * 8 * NS_PER_S / rate_bps;
    cp->pfc_prios = sim->use_pause ? 0 : sim->lossless;
    cp->pfc_asymmetric = sim->asymmetric;
    cp->pause_rx = cp->pause_tx = sim->use_pause;
    port->node = &sw->node;
    port->rate_bps = rate_bps;
    port->delay_ns = delay_ns;
    port->honoured = sim->asymmetric ? 0xff : sim->lossless;
    assert(cp->slot == slot);
    sw->cp[slot] = cp;
    sw->n_ports++;
    return slot;
}

/* The mem ports come later, with the pools: till then who meets whom. */
void
sim_link_switches(struct sim *sim, struct sim_switch *a, struct sim_switch *b,
                  uint64_t rate_bps, uint64_t delay_ns, uint32_t *slot_a,
                  uint32_t *slot_b)
{
    *slot_a = add_port(sim, a, rate_bps, delay_ns);
    *slot_b = add_port(sim, b, rate_bps, delay_ns);
    a->port[*slot_a].peer = &b->port[*slot_b];
    b->port[*slot_b].peer = &a->port[*slot_a];
}

uint32_t
sim_link_station(struct sim *sim, struct sim_switch *sw,
                 struct sim_station *st, uint64_t rate_bps, uint64_t delay_ns)
{
    uint32_t slot = add_port(sim, sw, rate_bps, delay_ns);

    st->port.node = &st->node;
    st->port.rate_bps = rate_bps;
    st->port.delay_ns = delay_ns;
    st->port.honoured = sim->lossless;
    st->port.peer = &sw->port[slot];
    sw->port[slot].peer = &st->port;
    return slot;
}

struct sim_flow *
sim_add_flow(struct sim *sim, uint16_t src, uint16_t dst)
{
    struct sim_station *st = sim->st[src];
    struct sim_flow *f = &sim->flow[sim->n_flows];

    assert(sim->n_flows < SIM_MAX_FLOWS);
    f->src = src;
    f->dst = dst;
    f->min_len = f->max_len = 1500;
    st->flows[st->n_flows++] = (uint16_t) sim->n_flows;
    sim->n_flows++;
    return f;
}

/* --- starting -------------------------------------------------------------
 */

static struct netdev *
open_mem(const char *name, struct pkt_pool *pool)
{
    struct netdev_args args = {.name = name, .pool = pool};
    struct netdev *dev = NULL;
    int rc = netdev_open(&netdev_mem, &args, &dev, NULL);

    assert(rc == 0);
    (void) rc;
    return dev;
}

/* The stall that headroom is computed for: the longest, and the turns that
 * it takes to say XOFF and to notice it. */
uint64_t
sim_stall(const struct sim *sim)
{
    return sim->stall_ns +
           4 * (sim->sw_turn_ns ? sim->sw_turn_ns : sim->turn_ns);
}

static void
start_port(struct sim *sim, struct sim_switch *sw, uint32_t slot)
{
    struct conf_port *cp = sw->cp[slot];
    struct conf_live live = {.mtu = 1500};

    sw->port[slot].dev = open_mem(cp->name, dp_pool(sw->dp));
    netdev_mem_set_tx_limit(sw->port[slot].dev, sim->tx_limit);
    sw->state[slot] = dp_port_create();
    assert(sw->state[slot]);
    for (int g = 0; g < N_PG && sim->headroom_pct != 100; g++) {
        uint64_t need =
            conf_port_headroom(sw->bridge, cp, g, &live, sim_stall(sim));

        cp->group[g].headroom_bytes = need * sim->headroom_pct / 100;
    }
}

static struct dp_plan_port *
plan_port(struct sim *sim, struct sim_switch *sw, uint32_t slot)
{
    const struct netdev *dev = sw->port[slot].dev;
    struct dp_plan_port *pp = calloc(1, sizeof(*pp));
    struct conf_live live = {.mtu = 1500};

    assert(pp);
    memcpy(live.mac, dev->mac, sizeof(live.mac));
    conf_build_port(sw->bridge, sw->cp[slot], &live, sim_stall(sim), pp);
    pp->netdev = sw->port[slot].dev;
    pp->state = sw->state[slot];
    pp->is_new = sw->plan == NULL;
    return pp;
}

/* Null, and a fault, when the configuration is refused. */
static struct dp_plan *
make_plan(struct sim *sim, struct sim_switch *sw)
{
    struct dp_plan *plan = calloc(1, sizeof(*plan));
    struct err err;

    assert(plan);
    plan->generation = sw->plan ? sw->plan->generation + 1 : 1;
    plan->n_slots = (uint16_t) sw->n_ports;
    for (uint32_t i = 0; i < sw->n_ports; i++)
        plan->ports[i] = plan_port(sim, sw, i);
    if (!conf_validate(sw->conf, &err) &&
        !conf_build_bridge(sw->bridge, plan, &err))
        return plan;
    sim_fault(sim, SIM_EXPECT, "%s: %s", sw->name, err.msg);
    dp_plan_destroy(plan);
    return NULL;
}

static bool
start_switch(struct sim *sim, struct sim_switch *sw)
{
    struct dp_conf dc;

    conf_build_dp(sw->bridge, &dc);
    dc.mac_entries = MAC_ENTRIES;
    sw->dp = dp_create(&dc);
    assert(sw->dp);
    for (uint32_t i = 0; i < sw->n_ports; i++)
        start_port(sim, sw, i);
    sw->plan = make_plan(sim, sw);
    if (!sw->plan)
        return false;
    dp_publish(sw->dp, sw->plan);
    sim_poke(&sw->node, sim->now_ns);
    return true;
}

void
sim_replan(struct sim *sim, struct sim_switch *sw)
{
    struct dp_plan *plan;

    if (sw->old_plan) /* one change at a time */
        return;
    plan = make_plan(sim, sw);
    if (!plan)
        return;
    sw->old_plan = sw->plan;
    sw->plan = plan;
    sim->n_plans++;
    dp_publish(sw->dp, plan);
}

static void
start_station(struct sim *sim, uint32_t i)
{
    struct sim_station *st = sim->st[i];
    struct pfc_conf conf = {
        .rate_bps = st->port.rate_bps,
        .quanta = PFC_QUANTA_DEFAULT,
        .enabled = sim->use_pause ? 0 : sim->lossless,
        .honoured = sim->lossless,
        .pause_rx = sim->use_pause,
        .pause_tx = sim->use_pause,
    };
    char name[NETDEV_NAME_MAX + 1];

    if (sim->hung) {
        st->pause_at_ns = sim->now_ns + NS_PER_MS;
        st->pause_ns =
            sim->watchdogs ? 2 * NS_PER_S : CLOCK_NEVER - st->pause_at_ns;
        st->pause_prios = sim->lossless;
    }
    snprintf(name, sizeof(name), "st%u", i);
    st->port.dev = open_mem(name, sim->st_pool);
    pfc_init(&st->pfc, &conf);
    for (uint16_t k = 0; k < st->n_flows; k++) {
        struct sim_flow *f = &sim->flow[st->flows[k]];

        f->lossless = (sim->lossless & 1u << f->prio) != 0;
        f->due_ns = f->start_ns;
    }
    sim_station_start(st);
}

/* Every cable once: from the end that comes first in memory. */
static void
connect_port(struct sim *sim, struct sim_port *p)
{
    if (!p->connected) {
        p->connected = p->peer->connected = true;
        sim_connect(sim, p, p->peer);
    }
}

bool
sim_start(struct sim *sim)
{
    sim->st_pool = pkt_pool_create(256, 0, 1522);
    assert(sim->st_pool);
    for (uint32_t i = 0; i < sim->n_sw; i++) {
        if (!start_switch(sim, sim->sw[i]))
            return false;
    }
    for (uint32_t i = 0; i < sim->n_st; i++)
        start_station(sim, i);
    for (uint32_t i = 0; i < sim->n_sw; i++) {
        for (uint32_t k = 0; k < sim->sw[i]->n_ports; k++)
            connect_port(sim, &sim->sw[i]->port[k]);
    }
    return true;
}
