/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a run: nothing may be missing that nobody reported, nobody may
 * be paused, nothing may be left anywhere.
 */
#include "sim/sim.h"

#include <stdio.h>

/* Frames of a flow that never came, tails included. */
static uint64_t
missing_of(const struct sim_flow *f)
{
    uint64_t n = f->n_missing;

    if (f->dst != SIM_BROADCAST)
        n += f->next_seq - f->expect[f->dst];
    return n;
}

static void
check_flows(struct sim *sim)
{
    uint64_t n_lost = 0, n_said = 0;

    for (uint32_t i = 0; i < sim->n_flows; i++) {
        const struct sim_flow *f = &sim->flow[i];

        if (f->next_seq != f->count)
            sim_fault(sim, SIM_STUCK, "flow %u sent %u of %u frames", i,
                      f->next_seq, f->count);
        if (f->lossless)
            n_lost += missing_of(f);
    }
    for (uint32_t i = 0; i < sim->n_sw; i++)
        n_said += sim_switch_violations(sim->sw[i]) +
                  sim_switch_discards(sim->sw[i]);
    if (n_lost != n_said)
        sim_fault(sim, SIM_UNREPORTED,
                  "%llu lossless frames are missing, %llu were reported",
                  (unsigned long long) n_lost, (unsigned long long) n_said);
}

/* Sent, and multiplied, is received, or dropped by a switch or by its rings.
 */
static void
check_sums(struct sim *sim)
{
    uint64_t n_tx = 0, n_rx = 0, n_drops = 0, n_copies = 0, n_pauses = 0;

    for (uint32_t i = 0; i < sim->n_st; i++) {
        n_tx += sim->st[i]->n_tx;
        n_rx += sim->st[i]->n_rx;
    }
    for (uint32_t i = 0; i < sim->n_sw; i++) {
        struct dp_audit a;

        dp_audit(sim->sw[i]->dp, &a);
        n_drops += sim_switch_drops(sim->sw[i]);
        sim_switch_rings(sim->sw[i], &n_drops, &n_pauses);
        n_copies += a.copies;
    }
    if (n_tx + n_copies != n_rx + n_drops)
        sim_fault(sim, SIM_LOSS,
                  "sent %llu + copies %llu, received %llu + dropped %llu",
                  (unsigned long long) n_tx, (unsigned long long) n_copies,
                  (unsigned long long) n_rx, (unsigned long long) n_drops);
}

static void
digest_counters(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->n_sw; i++) {
        const struct sim_switch *sw = sim->sw[i];

        for (uint32_t k = 0; k < sw->n_ports; k++) {
            const struct dp_port_counters *c = dp_port_counters(sw->state[k]);
            const struct pfc *pfc = dp_port_pfc(sw->state[k]);

            sim_digest(sim, counter_get(&c->rx_bytes));
            sim_digest(sim, counter_get(&c->tx_bytes));
            for (int r = 0; r < DP_N_DROPS; r++)
                sim_digest(sim, counter_get(&c->drops[r]));
            for (int p = 0; p < N_PRIO; p++) {
                sim_digest(sim, counter_get(&pfc->n.rx_paused_ns[p]));
                sim_digest(sim, counter_get(&pfc->n.tx_paused_ns[p]));
            }
            sim_digest(sim, counter_get(&pfc->n.tx_frames));
            sim_digest(sim,
                       counter_get(&sw->port[k].dev->stats.n_ring_pauses));
        }
        sim_digest(sim, sw->node.n_turns);
    }
    sim_digest(sim, sim->now_ns);
}

void
sim_check_end(struct sim *sim)
{
    if (sim->n_faults[SIM_STUCK] || sim->n_faults[SIM_AUDIT])
        return; /* all else is a consequence */
    check_flows(sim);
    check_sums(sim);
    for (uint32_t i = 0; i < sim->n_st; i++) {
        const struct sim_station *st = sim->st[i];

        if (st->pfc.paused || st->pfc.asserted || st->pfc.pause_asserted)
            sim_fault(sim, SIM_PAUSED, "station %u: paused %02x, pausing %02x",
                      i, st->pfc.paused, st->pfc.asserted);
        if (netdev_mem_n_queued(st->port.dev))
            sim_fault(sim, SIM_NOT_EMPTY, "station %u: frames in its ring", i);
    }
    for (uint32_t i = 0; i < sim->n_sw; i++)
        sim_switch_check_end(sim->sw[i]);
    digest_counters(sim);
}

static void
print_switch(const struct sim_switch *sw)
{
    for (uint32_t k = 0; k < sw->n_ports; k++) {
        const struct dp_port_counters *c = dp_port_counters(sw->state[k]);
        const struct pfc *pfc = dp_port_pfc(sw->state[k]);
        uint64_t n_rx = 0, n_tx = 0;

        for (int p = 0; p < N_PRIO; p++) {
            n_rx += counter_get(&pfc->n.rx_pfc[p]);
            n_tx += counter_get(&pfc->n.tx_pfc[p]);
        }
        printf("#  %s: %llu Mb/s rx %llu tx %llu pfc-rx %llu pfc-tx %llu",
               sw->port[k].dev->name,
               (unsigned long long) sw->port[k].rate_bps / 1000000,
               (unsigned long long) counter_get(&c->rx_frames),
               (unsigned long long) counter_get(&c->tx_frames),
               (unsigned long long) n_rx, (unsigned long long) n_tx);
        for (int r = 0; r < DP_N_DROPS; r++) {
            if (counter_get(&c->drops[r]))
                printf(" %s %llu", dp_drop_name((enum dp_drop) r),
                       (unsigned long long) counter_get(&c->drops[r]));
        }
        printf("\n");
    }
}

void
sim_print(const struct sim *sim)
{
    uint64_t n_rx = 0, n_drops = 0;

    for (uint32_t i = 0; i < sim->n_st; i++)
        n_rx += sim->st[i]->n_rx;
    for (uint32_t i = 0; i < sim->n_sw; i++)
        n_drops += sim_switch_drops(sim->sw[i]);
    printf("# seed %llu: %u switches, %u stations, %u flows, lossless %02x; "
           "%.3f ms, %llu turns, %llu frames came, %llu dropped, %llu XOFF; "
           "after a PFC frame %u frames, headroom used to %u %%\n",
           (unsigned long long) sim->seed, sim->n_sw, sim->n_st, sim->n_flows,
           sim->lossless, (double) sim->now_ns / 1e6,
           (unsigned long long) sim->n_steps, (unsigned long long) n_rx,
           (unsigned long long) n_drops, (unsigned long long) sim->n_pauses,
           sim->most_after, sim->headroom_use);
    if (sim->verbose < 2)
        return;
    for (uint32_t i = 0; i < sim->n_flows; i++) {
        const struct sim_flow *f = &sim->flow[i];

        printf("#  flow %u: %u -> %u prio %u%s %u..%u octets %.1f Mb/s: sent "
               "%u, came %llu, missing %llu\n",
               i, f->src, f->dst, f->prio, f->lossless ? " lossless" : "",
               f->min_len, f->max_len, (double) f->rate_bps / 1e6, f->next_seq,
               (unsigned long long) f->n_rx,
               (unsigned long long) missing_of(f));
    }
    for (uint32_t i = 0; i < sim->n_sw; i++)
        print_switch(sim->sw[i]);
}
