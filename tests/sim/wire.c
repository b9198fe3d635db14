/* SPDX-License-Identifier: Apache-2.0
 *
 * Cables.  A cable sees every frame that goes over it: it wakes the other
 * end, and it holds what leaves a port against the PFC frames that lay in
 * that port's ring when it left.  That is the reaction that pfc-semantics
 * asks for, checked from outside, for switches and stations alike.
 */
#include "sim/openflow.h"
#include "sim/sim.h"

#include "wire/eth.h"
#include "wire/macctl.h"

/* Brings what the wire knows of p's pauses up to t. */
static void
apply_pfc(struct sim_port *p, uint64_t t)
{
    while (p->in_head != p->in_tail) {
        const struct sim_pfc *f = &p->inflight[p->in_head % SIM_MAX_INFLIGHT];

        if (f->due_ns > t)
            return;
        for (int prio = 0; prio < N_PRIO; prio++) {
            if (!(f->enable & 1u << prio))
                continue;
            if (p->until_ns[prio] <= f->due_ns)
                p->n_after[prio] = 0; /* a new pause */
            p->until_ns[prio] =
                f->time[prio]
                    ? f->due_ns + macctl_quanta_ns(f->time[prio], p->rate_bps)
                    : 0;
        }
        p->in_head++;
    }
}

/* A PFC frame that `to` gets: noted until it is due. */
static void
note_pfc(struct sim *sim, struct sim_port *to, const struct macctl *m,
         uint64_t due_ns)
{
    bool all = m->kind == MACCTL_PAUSE;
    struct sim_pfc *f;

    apply_pfc(to, sim->now_ns); /* makes room */
    if (to->in_tail - to->in_head == SIM_MAX_INFLIGHT) {
        sim_fault(sim, SIM_EXPECT, "more than %d PFC frames on one cable",
                  SIM_MAX_INFLIGHT);
        return;
    }
    f = &to->inflight[to->in_tail++ % SIM_MAX_INFLIGHT];
    f->due_ns = due_ns;
    f->enable = all ? 0xff : m->enable;
    for (int p = 0; p < N_PRIO; p++)
        f->time[p] = m->time[all ? 0 : p];
}

/* A data frame of `prio` leaves p at t. */
static void
check_reaction(struct sim *sim, struct sim_port *p, uint8_t prio, uint64_t t)
{
    p->n_tx[prio]++;
    if (p->emulated) /* it left its queue before, no one here knows when */
        return;
    apply_pfc(p, t);
    if (!(p->honoured & 1u << prio) || t >= p->until_ns[prio])
        return;
    p->n_after[prio]++;
    if (p->n_after[prio] > sim->most_after)
        sim->most_after = p->n_after[prio];
    if (p->n_after[prio] > PKT_BATCH)
        sim_fault(sim, SIM_REACTION,
                  "%u frames of priority %u left %s after a PFC frame came",
                  p->n_after[prio], prio, p->dev->name);
}

/* Sabotage: is this frame one of those that get lost? */
static bool
gets_lost(struct sim *sim, uint32_t one_in)
{
    if (!one_in || rng_below(&sim->rng, one_in) > 0)
        return false;
    sim->n_lost_on_cable++;
    return true;
}

static bool
on_macctl(struct sim *sim, struct sim_port *from, const struct macctl *m,
          uint64_t due_ns)
{
    if (m->kind != (sim->use_pause ? MACCTL_PAUSE : MACCTL_PFC))
        sim_fault(sim, SIM_PAYLOAD, "%s sent the wrong MAC control",
                  from->dev->name);
    if (gets_lost(sim, sim->lose_pfc_one_in))
        return false;
    note_pfc(sim, from->peer, m, due_ns);
    return true;
}

static bool
on_data(struct sim *sim, struct sim_port *from, const uint8_t *frame,
        uint32_t len)
{
    uint32_t seq;
    const struct sim_flow *flow = sim_frame_flow(sim, frame, len, &seq);

    if (!flow) {
        sim_fault(sim, SIM_PAYLOAD, "%s sent a frame of no flow",
                  from->dev->name);
        return true;
    }
    /* It leaves when the turn ends. */
    check_reaction(sim, from, sim_prio_on_wire(sim, flow, frame, len),
                   sim->now_ns + sim_turn(from->node));
    return !flow->lossless || !gets_lost(sim, sim->lose_one_in);
}

static bool
on_frame(void *arg, const uint8_t *frame, uint32_t len, uint64_t due_ns)
{
    struct sim_port *from = arg;
    struct sim *sim = from->node->sim;
    struct macctl m;
    bool arrives;

    if (macctl_decode(frame, len, &m) != MACCTL_NONE)
        arrives = on_macctl(sim, from, &m, due_ns);
    else
        arrives = on_data(sim, from, frame, len);
    if (arrives)
        sim_poke(from->peer->node, due_ns);
    return arrives;
}

void
sim_connect(struct sim *sim, struct sim_port *a, struct sim_port *b)
{
    struct netdev_mem_watch watch = {.fn = on_frame};

    a->peer = b;
    b->peer = a;
    /* What is sent leaves when the turn ends. */
    netdev_mem_connect(a->dev, b->dev, 0, sim->ring_slots);
    netdev_mem_set_delay(a->dev,
                         sim_turn(a->node) + (a->emulated ? 0 : a->delay_ns));
    netdev_mem_set_delay(b->dev,
                         sim_turn(b->node) + (b->emulated ? 0 : a->delay_ns));
    if (sim->blind)
        a->dev->rx_high = b->dev->rx_high = UINT32_MAX;
    if (sim->line) {
        netdev_mem_set_line_rate(a->dev, a->rate_bps);
        netdev_mem_set_line_rate(b->dev, b->rate_bps);
    }
    watch.arg = a;
    netdev_mem_set_watch(a->dev, &watch);
    watch.arg = b;
    netdev_mem_set_watch(b->dev, &watch);
}
