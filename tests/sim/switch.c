/* SPDX-License-Identifier: Apache-2.0
 *
 * A switch of the simulator: a datapath, its turns, and what must hold after
 * every one of them and at the end.
 */
#include "sim/openflow.h"
#include "sim/sim.h"

#include <stdio.h>

static void
on_event(struct sim_switch *sw, const struct dp_event *ev)
{
    static const char *const names[] = {
        [DP_EV_XOFF] = "xoff",           [DP_EV_XON] = "xon",
        [DP_EV_VIOLATION] = "violation", [DP_EV_RX_PAUSE] = "rx-pause",
        [DP_EV_RX_RESUME] = "rx-resume", [DP_EV_PORT_DOWN] = "port-down",
        [DP_EV_STORM] = "storm",         [DP_EV_RESTORED] = "restored",
        [DP_EV_STUCK] = "stuck",
    };
    struct sim *sim = sw->node.sim;
    uint16_t port = ev->port;

    if (sim->verbose > 1)
        printf("# %12.9f %s port %u %s %u held %llu limit %llu\n",
               (double) ev->now_ns / 1e9, sw->name, port, names[ev->type],
               ev->index, (unsigned long long) ev->held_bytes,
               (unsigned long long) ev->limit_bytes);
    switch (ev->type) {
    case DP_EV_XOFF:
        sim->n_pauses++;
        sw->n_xoff[port][ev->index]++;
        if (sw->first_xoff_ns[port] == CLOCK_NEVER)
            sw->first_xoff_ns[port] = ev->now_ns;
        break;
    case DP_EV_XON:
        sw->n_xon[port][ev->index]++;
        sw->last_xon_ns[port] = ev->now_ns;
        if (sw->first_xon_ns[port] == CLOCK_NEVER)
            sw->first_xon_ns[port] = ev->now_ns;
        break;
    case DP_EV_VIOLATION:
        sw->n_violations++;
        if (!(sim->lossless & 1u << ev->index))
            sim_fault(sim, SIM_UNREPORTED,
                      "%s port %u reports a violation of lossy priority %u",
                      sw->name, port, ev->index);
        sim_fault(sim, SIM_VIOLATION, "%s port %u lost priority %u: %s",
                  sw->name, port, ev->index, dp_drop_name(ev->reason));
        break;
    case DP_EV_RX_PAUSE:
        sw->n_rx_pause++;
        break;
    case DP_EV_RX_RESUME:
        sw->n_rx_resume++;
        break;
    case DP_EV_STORM:
    case DP_EV_RESTORED:
    case DP_EV_STUCK:
        break;
    case DP_EV_PORT_DOWN:
        sim_fault(sim, SIM_EXPECT, "%s port %u went down", sw->name, port);
        break;
    }
}

uint64_t
sim_switch_drops_of(const struct sim_switch *sw, enum dp_drop reason)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < sw->n_ports; i++)
        n += counter_get(&dp_port_counters(sw->state[i])->drops[reason]);
    return n;
}

uint64_t
sim_switch_drops(const struct sim_switch *sw)
{
    uint64_t n = 0;

    for (int r = 0; r < DP_N_DROPS; r++)
        n += sim_switch_drops_of(sw, (enum dp_drop) r);
    return n;
}

uint64_t
sim_switch_violations(const struct sim_switch *sw)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < sw->n_ports; i++) {
        const struct dp_port_counters *c = dp_port_counters(sw->state[i]);

        for (int p = 0; p < N_PRIO; p++)
            n += counter_get(&c->violations[p]);
    }
    return n;
}

void
sim_switch_rings(const struct sim_switch *sw, uint64_t *n_lost,
                 uint64_t *n_pauses)
{
    for (uint32_t i = 0; i < sw->n_ports; i++) {
        const struct netdev_stats *s = &sw->port[i].dev->stats;

        *n_lost += counter_get(&s->rx_ring_drops);
        *n_pauses += counter_get(&s->n_ring_pauses);
    }
}

uint64_t
sim_switch_discards(const struct sim_switch *sw)
{
    uint8_t lossless = sw->node.sim->lossless;
    uint64_t n = sim_switch_drops_of(sw, DP_DROP_UNKNOWN_UNICAST);

    for (uint32_t i = 0; i < sw->n_ports; i++) {
        for (int p = 0; p < N_PRIO; p++) {
            struct dp_storm s;

            dp_storm_get(sw->state[i], p, &s);
            if (lossless & 1u << p)
                n += s.total.tx_drop + s.total.rx_drop;
        }
    }
    return n;
}

/* What holds after every turn. */
static void
check_turn(struct sim_switch *sw)
{
    struct sim *sim = sw->node.sim;
    uint64_t n_exceeded = 0;
    struct dp_audit a;

    if (!dp_audit(sw->dp, &a))
        sim_fault(sim, SIM_AUDIT,
                  "%s: rx %llu + copies %llu, tx %llu + held %llu + drops "
                  "%llu; charged %llu, held %llu bytes",
                  sw->name, (unsigned long long) a.rx,
                  (unsigned long long) a.copies, (unsigned long long) a.tx,
                  (unsigned long long) a.held, (unsigned long long) a.drops,
                  (unsigned long long) a.charged_bytes,
                  (unsigned long long) a.held_bytes);
    if (a.rx + a.copies != a.tx + a.held + a.drops + a.to_controller ||
        a.charged_bytes != a.held_bytes)
        sim_fault(sim, SIM_AUDIT,
                  "%s: the audit is content, its numbers "
                  "are not",
                  sw->name);
    for (uint32_t i = 0; i < sw->n_ports; i++) {
        const struct dp_port_counters *c = dp_port_counters(sw->state[i]);

        n_exceeded += counter_get(&c->drops[DP_DROP_HEADROOM_EXCEEDED]);
    }
    /* A loss is told in the turn in which it happens. */
    if (sw->n_violations < n_exceeded ||
        sw->n_violations != sim_switch_violations(sw))
        sim_fault(sim, SIM_UNREPORTED,
                  "%s: %llu frames exceeded the headroom, %llu violations "
                  "counted, %llu told",
                  sw->name, (unsigned long long) n_exceeded,
                  (unsigned long long) sim_switch_violations(sw),
                  (unsigned long long) sw->n_violations);
}

/* Sabotage: the books are made wrong, once. */
static void
cook_books(struct sim_switch *sw)
{
    const struct dp_port_counters *c = dp_port_counters(sw->state[0]);

    counter_add((counter_t *) (uintptr_t) &c->q_frames[7], 1);
    sw->node.sim->cook_at_step = 0;
}

uint64_t
sim_switch_run(struct sim_switch *sw, uint64_t now_ns)
{
    struct sim *sim = sw->node.sim;
    struct dp_event ev;
    uint16_t blocked;
    uint64_t next_ns;

    for (uint32_t i = 0; i < sw->n_ports; i++)
        netdev_mem_set_now(sw->port[i].dev, now_ns);
    sim_tables_run(sw);
    next_ns = dp_run(sw->dp, now_ns);
    if (sw->old_plan && dp_generation(sw->dp) >= sw->plan->generation) {
        dp_plan_destroy(sw->old_plan);
        sw->old_plan = NULL;
    }
    while (dp_event_get(sw->dp, &ev))
        on_event(sw, &ev);
    if (sim->cook_at_step && sim->n_steps >= sim->cook_at_step)
        cook_books(sw);
    check_turn(sw);
    if (dp_blocked_ports(sw->dp, &blocked, 1))
        return now_ns; /* as if its descriptor polled writable */
    return next_ns;
}

/* --- the end --------------------------------------------------------------
 */

static void
check_port_empty(struct sim_switch *sw, uint32_t slot)
{
    const struct dp_port *port = sw->state[slot];
    const struct dp_port_counters *c = dp_port_counters(port);
    struct sim *sim = sw->node.sim;

    if (counter_get(&c->held) || netdev_mem_n_queued(sw->port[slot].dev))
        sim_fault(sim, SIM_NOT_EMPTY,
                  "%s port %u: %llu frames queued, %u in "
                  "its ring",
                  sw->name, slot, (unsigned long long) counter_get(&c->held),
                  netdev_mem_n_queued(sw->port[slot].dev));
    for (int q = 0; q < N_QUEUE; q++) {
        if (counter_get(&c->q_frames[q]) || counter_get(&c->q_bytes[q]))
            sim_fault(sim, SIM_NOT_EMPTY, "%s port %u: queue %d not empty",
                      sw->name, slot, q);
    }
}

static void
check_port_groups(struct sim_switch *sw, uint32_t slot)
{
    struct sim *sim = sw->node.sim;

    for (int g = 0; g < N_PG; g++) {
        const struct buf_group *grp = dp_port_group(sw->state[slot], g);
        uint64_t room = grp->conf.headroom_bytes;

        if (buf_group_held(grp) || counter_get(&grp->n_held))
            sim_fault(sim, SIM_NOT_EMPTY, "%s port %u: group %d holds %llu",
                      sw->name, slot, g,
                      (unsigned long long) buf_group_held(grp));
        if (sw->n_xoff[slot][g] != sw->n_xon[slot][g] || grp->xoff)
            sim_fault(sim, SIM_PAUSED,
                      "%s port %u: group %d had %llu XOFF and %llu XON",
                      sw->name, slot, g,
                      (unsigned long long) sw->n_xoff[slot][g],
                      (unsigned long long) sw->n_xon[slot][g]);
        if (room) {
            uint64_t pct = counter_get(&grp->headroom_peak) * 100 / room;

            if (pct > sim->headroom_use)
                sim->headroom_use = (uint32_t) pct;
        }
    }
}

void
sim_switch_check_end(struct sim_switch *sw)
{
    struct sim *sim = sw->node.sim;
    struct pkt_pool *pool = dp_pool(sw->dp);

    for (uint32_t i = 0; i < sw->n_ports; i++) {
        const struct pfc *pfc = dp_port_pfc(sw->state[i]);

        check_port_empty(sw, i);
        check_port_groups(sw, i);
        if (pfc->paused || pfc->asserted || pfc->pause_asserted)
            sim_fault(sim, SIM_PAUSED, "%s port %u: paused %02x, pausing %02x",
                      sw->name, i, pfc->paused, pfc->asserted);
    }
    if (sw->n_rx_pause != sw->n_rx_resume)
        sim_fault(sim, SIM_PAUSED, "%s: %llu pauses came, %llu ended",
                  sw->name, (unsigned long long) sw->n_rx_pause,
                  (unsigned long long) sw->n_rx_resume);
    if (pkt_pool_n_free(pool) != pkt_pool_n_buffers(pool) ||
        pkt_pool_n_free_clones(pool) != pkt_pool_n_clones(pool))
        sim_fault(sim, SIM_NOT_EMPTY, "%s: buffers are missing", sw->name);
    if (counter_get(&dp_buf_pool(sw->dp)->shared_used))
        sim_fault(sim, SIM_NOT_EMPTY, "%s: shared memory in use", sw->name);
    if (dp_events_lost(sw->dp))
        sim_fault(sim, SIM_EXPECT, "%s: events did not fit", sw->name);
}
