/* SPDX-License-Identifier: Apache-2.0
 *
 * The demo on the virtual clock: two clients, three switches, one storage end
 * behind a port of half the rate, with PFC on priority 3 and without.
 *
 *     client1 -- sw1 --\
 *                       sw3 -- port 7 -- storage
 *     client2 -- sw2 --/
 */
#include "sim/scenarios.h"
#include "sim/sim.h"

#include <stdio.h>

#define MBPS         UINT64_C(1000000)
#define LINK_BPS     (200 * MBPS)
#define STORAGE_BPS  (100 * MBPS)
#define STORAGE_PRIO 3
#define LOAD_NS      (1500 * NS_PER_MS)
#define DELAY_NS     (5 * NS_PER_US)
/* When the shares of port 7 are measured: the queues are full then. */
#define FROM_NS (600 * NS_PER_MS)
#define TO_NS   (1500 * NS_PER_MS)

struct demo {
    uint64_t slow;            /* all rates are divided, all times multiplied */
    struct sim_switch *sw[3]; /* sw1, sw2, sw3 */
    uint32_t to_sw3[2];       /* slots of sw1 and sw2 */
    uint32_t from_sw[2];      /* slots of sw3 */
    uint32_t to_client[2];    /* slots of sw1 and sw2 */
    uint32_t port7;           /* slot of sw3 */
};

static void
add_client_flows(struct sim *sim, const struct demo *d, uint16_t client,
                 uint16_t storage)
{
    static const struct {
        uint8_t prio;      /* of the class */
        uint64_t rate_bps; /* offered */
    } classes[] = {{STORAGE_PRIO, 60 * MBPS}, {0, 80 * MBPS}};

    for (int i = 0; i < 2; i++) {
        struct sim_flow *f = sim_add_flow(sim, client, storage);

        f->prio = classes[i].prio;
        f->rate_bps = classes[i].rate_bps / d->slow;
        f->start_ns = sim->now_ns + client * 10 * NS_PER_US;
        f->count = (uint32_t) (LOAD_NS / 1000 * classes[i].rate_bps / MBPS /
                               (f->max_len * 8));
    }
}

/* Half of a port for the storage class, half for the rest. */
static void
share_ports(struct sim_switch *sw)
{
    for (uint32_t i = 0; i < sw->n_ports; i++) {
        for (int q = 0; q < N_QUEUE; q++) {
            struct conf_queue *queue = &sw->cp[i]->queue[q];

            queue->ets = q == 0 || q == STORAGE_PRIO;
            queue->weight = queue->ets ? 50 : 0;
        }
    }
}

static void
build(struct sim *sim, struct demo *d)
{
    static const char *const names[] = {"sw1", "sw2", "sw3"};
    uint16_t storage = 2;

    sim->stall_ns = 2 * NS_PER_MS;
    sim->stall_one_in = 500;
    sim->limit_ns = 20 * NS_PER_S * d->slow;
    for (int i = 0; i < 3; i++)
        d->sw[i] = sim_add_switch(sim, names[i]);
    for (int i = 0; i < 3; i++)
        sim_add_station(sim);
    for (int i = 0; i < 2; i++) {
        d->to_client[i] = sim_link_station(sim, d->sw[i], sim->st[i],
                                           LINK_BPS / d->slow, DELAY_NS);
        sim_link_switches(sim, d->sw[i], d->sw[2], LINK_BPS / d->slow,
                          DELAY_NS, &d->to_sw3[i], &d->from_sw[i]);
    }
    d->port7 = sim_link_station(sim, d->sw[2], sim->st[storage],
                                STORAGE_BPS / d->slow, DELAY_NS);
    for (int i = 0; i < 3; i++)
        share_ports(d->sw[i]);
    for (uint16_t i = 0; i < 2; i++)
        add_client_flows(sim, d, i, storage);
    /* The storage end says its name once, so that nobody has to flood. */
    sim_add_flow(sim, storage, SIM_BROADCAST)->count = 1;
    sim->flow[sim->n_flows - 1].rate_bps = MBPS;
    if (sim->lossless) {
        sim->st[storage]->pause_at_ns = 200 * NS_PER_MS * d->slow;
        sim->st[storage]->pause_ns = 20 * NS_PER_MS * d->slow;
        sim->st[storage]->pause_prios = 1u << STORAGE_PRIO;
    }
}

/* Octets of queue q that left port 7. */
static uint64_t
left_port7(const struct demo *d, int q)
{
    const struct dp_port_counters *c =
        dp_port_counters(d->sw[2]->state[d->port7]);

    return counter_get(&c->q_tx_bytes[q]);
}

static uint64_t
pfc_sent(const struct sim_switch *sw, uint32_t slot, int prio)
{
    return counter_get(&dp_port_pfc(sw->state[slot])->n.tx_pfc[prio]);
}

/* Runs the load, and measures both classes at port 7 meanwhile. */
static void
run(struct sim *sim, const struct demo *d, uint64_t bytes[2])
{
    sim_run_until(sim, FROM_NS * d->slow);
    bytes[0] = left_port7(d, 0);
    bytes[1] = left_port7(d, STORAGE_PRIO);
    sim_run_until(sim, TO_NS * d->slow);
    bytes[0] = left_port7(d, 0) - bytes[0];
    bytes[1] = left_port7(d, STORAGE_PRIO) - bytes[1];
    sim_run(sim);
    sim_check_end(sim);
}

static uint64_t
missing(const struct sim *sim, uint8_t prio)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < sim->n_flows; i++) {
        if (sim->flow[i].prio == prio && sim->flow[i].dst != SIM_BROADCAST)
            n += sim->flow[i].count - sim->flow[i].n_rx;
    }
    return n;
}

/* Congestion of port 7 goes sw3, then sw1 and sw2, then the clients, and
 * lets go again in that order. */
static void
check_spread(struct sim *sim, const struct demo *d)
{
    const struct sim_switch *sw3 = d->sw[2];

    for (int i = 0; i < 2; i++) {
        const struct sim_switch *sw = d->sw[i];
        uint64_t near_xoff = sw3->first_xoff_ns[d->from_sw[i]];
        uint64_t near_xon = sw3->first_xon_ns[d->from_sw[i]];
        uint64_t edge_xoff = sw->first_xoff_ns[d->to_client[i]];
        uint64_t edge_xon = sw->first_xon_ns[d->to_client[i]];

        if (!pfc_sent(sw3, d->from_sw[i], STORAGE_PRIO) ||
            !pfc_sent(sw, d->to_client[i], STORAGE_PRIO))
            sim_fault(sim, SIM_EXPECT, "the congestion did not reach client%d",
                      i + 1);
        if (near_xoff >= edge_xoff || near_xon >= edge_xon ||
            near_xoff >= near_xon || edge_xoff >= edge_xon)
            sim_fault(sim, SIM_EXPECT, "%s paused before sw3, or let go first",
                      sw->name);
        if (counter_get(&sim->st[i]->pfc.n.rx_pauses[STORAGE_PRIO]) == 0)
            sim_fault(sim, SIM_EXPECT, "client%d was never paused", i + 1);
        for (int p = 0; p < N_PRIO; p++) {
            if (p != STORAGE_PRIO && pfc_sent(sw3, d->from_sw[i], p))
                sim_fault(sim, SIM_EXPECT, "priority %d was paused", p);
        }
    }
    if (counter_get(
            &dp_port_pfc(sw3->state[d->port7])->n.rx_pauses[STORAGE_PRIO]) !=
        1)
        sim_fault(sim, SIM_EXPECT, "the storage end paused port 7 %llu times",
                  (unsigned long long) counter_get(
                      &dp_port_pfc(sw3->state[d->port7])
                           ->n.rx_pauses[STORAGE_PRIO]));
}

static void
demo(struct sim *sim, uint64_t slow)
{
    struct demo d = {.slow = slow};
    uint64_t bytes[2], share;

    sim->lossless = 1u << STORAGE_PRIO;
    build(sim, &d);
    if (!sim_start(sim))
        return;
    run(sim, &d, bytes);
    check_spread(sim, &d);
    if (missing(sim, STORAGE_PRIO) || !missing(sim, 0))
        sim_fault(sim, SIM_EXPECT,
                  "priority 3 lost %llu frames (0), priority 0 %llu (some)",
                  (unsigned long long) missing(sim, STORAGE_PRIO),
                  (unsigned long long) missing(sim, 0));
    share = bytes[1] * 1000 / (bytes[0] + bytes[1]);
    if (share < 495 || share > 505)
        sim_fault(sim, SIM_EXPECT, "priority 3 had %llu per mille of port 7",
                  (unsigned long long) share);
    share = (bytes[0] + bytes[1]) * 8 * 1000 /
            (STORAGE_BPS * (TO_NS - FROM_NS) / NS_PER_S);
    if (share < 990 || share > 1010)
        sim_fault(sim, SIM_EXPECT, "port 7 ran at %llu per mille of its rate",
                  (unsigned long long) share);
}

void
sim_demo(struct sim *sim)
{
    demo(sim, 1);
}

/* The same so slowly that the load alone takes the best part of an hour. */
void
sim_demo_hour(struct sim *sim)
{
    demo(sim, 2000);
    if (sim->now_ns < 3600 * NS_PER_S)
        sim_fault(sim, SIM_EXPECT, "that was less than an hour");
}

void
sim_demo_no_pfc(struct sim *sim)
{
    struct demo d = {.slow = 1};
    uint64_t bytes[2];

    sim->lossless = 0;
    build(sim, &d);
    if (!sim_start(sim))
        return;
    run(sim, &d, bytes);
    if (!missing(sim, STORAGE_PRIO))
        sim_fault(sim, SIM_EXPECT, "priority 3 lost nothing without PFC");
    for (uint32_t i = 0; i < sim->n_sw; i++) {
        for (uint32_t k = 0; k < sim->sw[i]->n_ports; k++) {
            const struct pfc *pfc = dp_port_pfc(sim->sw[i]->state[k]);

            if (counter_get(&pfc->n.tx_frames))
                sim_fault(sim, SIM_EXPECT, "%s sent PFC frames",
                          sim->sw[i]->name);
        }
    }
}
