/* SPDX-License-Identifier: Apache-2.0
 *
 * Taking over a plan between two turns, under traffic.  What is queued stays
 * queued and what is charged stays charged where it is; new limits hold for
 * the next frame.  A port that goes lets its peer go first: the plan is
 * acknowledged, and its interface may be closed, only after its XON went out
 * or a few milliseconds of trying did not get it out.
 */
#include "dp/dp_priv.h"

/* Walks through the MAC table in one turn. */
#define FORGET_MAX 2

static void
acknowledge(struct dp *dp)
{
    __atomic_store_n(&dp->generation, dp->plan->generation, __ATOMIC_RELEASE);
}

/* --- a port goes ------------------------------------------------------- */

/* Takes the charge off frames that came in on the port and are queued
 * elsewhere: its groups end with it, and its slot may be another's soon.  It
 * walks the queues only while there is something to find. */
static void
disown(struct dp *dp, struct dp_port *port)
{
    uint64_t left = 0;

    for (int g = 0; g < N_PG; g++)
        left += counter_get(&port->group[g].n_held);
    for (int i = dp_set_next(&dp->busy, 0); i >= 0 && left;
         i = dp_set_next(&dp->busy, i + 1)) {
        for (int q = 0; q < N_QUEUE && left; q++) {
            struct pkt *p = dp->port[i]->queue[q].head;

            for (; p && left; p = p->next) {
                struct pkt *o = p->owner;
                struct buf_group *g = &port->group[o->pg];

                if (o->in_port != port->slot)
                    continue;
                buf_release(dp_group_pool(dp, g), g, o->charge_bytes,
                            dp_room(dp));
                dp_note_group(dp, port, o->pg);
                o->in_port = PKT_NO_PORT;
                o->charge_bytes = 0;
                left--;
            }
        }
    }
    assert(left == 0);
}

static void
retire(struct dp *dp, const struct dp_port *port)
{
    dp->retired.rx += port->n.rx_frames;
    dp->retired.copies += port->n.copies;
    dp->retired.tx += port->n.tx_frames;
    dp->retired.to_controller += port->n.to_controller;
    for (int i = 0; i < DP_N_DROPS; i++)
        dp->retired.drops[i] += port->n.drops[i];
}

static void
take_out(struct dp *dp, struct dp_port *port)
{
    enum netdev_tx why;

    dp_wire_finish(dp, port);
    dp_port_flush(dp, port, DP_DROP_PORT_REMOVED);
    port->delay_ns = 0;
    port->is_wired = false;
    disown(dp, port);
    dp_set_add(&dp->forget, port->slot);
    retire(dp, port);
    dp->port[port->slot] = NULL;
    dp->carries_all[port->slot + 1] = NULL;
    dp_set_del(&dp->up, port->slot);
    dp_set_del(&dp->paused, port->slot);
    dp_set_del(&dp->xoff, port->slot);
    dp_set_del(&dp->due, port->slot);
    dp_set_del(&dp->asserted, port->slot);
    dp_set_del(&dp->watched, port->slot);
    dp_set_del(&dp->wired, port->slot);
    dp_set_del(&dp->untold, port->slot);
    pfc_force(&port->pfc, 0);
    port->conf = NULL;
    if (port->netdev && !dp_pause_try(port, 0, dp->now_ns, &why)) {
        port->leave_ns = dp->now_ns + DP_LEAVE_MAX_NS;
        dp->leaving[dp->n_leaving++] = port;
    }
}

void
dp_leave(struct dp *dp)
{
    uint32_t n = 0;

    if (dp_likely(!dp->n_leaving))
        return;
    for (uint32_t i = 0; i < dp->n_leaving; i++) {
        struct dp_port *port = dp->leaving[i];
        enum netdev_tx why;

        if (!dp_pause_try(port, 0, dp->now_ns, &why) &&
            dp->now_ns < port->leave_ns)
            dp->leaving[n++] = port;
    }
    dp->n_leaving = n;
    if (!n)
        acknowledge(dp);
}

/* --- a port comes, or changes ------------------------------------------ */

/* The interface behind the port is another one now, or none. */
static void
change_netdev(struct dp *dp, struct dp_port *port, struct netdev *netdev)
{
    struct pfc_conf deaf = port->pfc.conf;
    uint8_t was = port->pfc.paused;
    enum netdev_tx why;

    /* The peer of the old one is let go, if it can still be told; what is in
     * XOFF is told anew to the peer of the new one, at once. */
    if (port->netdev) {
        dp_wire_finish(dp, port);
        dp_wire_drop(dp, port, DP_DROP_PORT_DOWN);
        port->is_wired = false;
        dp_pause_try(port, 0, dp->now_ns, &why);
    }
    port->pfc.resend = port->pfc.asserted || port->pfc.pause_asserted;
    /* Pauses that the old peer asked for end with it. */
    deaf.honoured = 0;
    deaf.pause_rx = false;
    pfc_set(&port->pfc, &deaf, dp->now_ns);
    dp_pause_changed(dp, port, was);

    port->netdev = netdev;
    port->ctl_wait = false;
    port->down = false;
    port->n_again = 0;
    dp_set_del(&dp->blocked, port->slot);
    dp_set_put(&dp->up, port->slot, netdev != NULL);
    if (!netdev) {
        dp_port_flush(dp, port, DP_DROP_PORT_DOWN);
        dp_set_add(&dp->forget, port->slot);
    }
}

static bool
vlan_differs(const struct dp_plan_port *a, const struct dp_plan_port *b)
{
    return a->vlan_mode != b->vlan_mode || a->tag != b->tag ||
           a->all_trunks != b->all_trunks ||
           memcmp(a->trunks, b->trunks, sizeof(a->trunks)) != 0;
}

static void
set_shaper(struct shaper *s, uint64_t rate_bps, const struct dp_plan_port *pp,
           bool is_new, bool new_max, uint64_t now_ns)
{
    if (is_new)
        shaper_init(s, rate_bps, 0, pp->max_frame_bytes, now_ns);
    else if (new_max || s->rate_bps != rate_bps)
        shaper_set_rate(s, rate_bps, 0, pp->max_frame_bytes, now_ns);
}

/* Rates and transmission selection.  `old` is null for a new port. */
static void
set_egress(struct dp *dp, struct dp_port *port, const struct dp_plan_port *old)
{
    const struct dp_plan_port *pp = port->conf;
    bool new_max = old && old->max_frame_bytes != pp->max_frame_bytes;

    if (!old)
        sched_init(&port->sched, &pp->sched);
    else
        sched_set(&port->sched, &pp->sched);
    set_shaper(&port->shaper, pp->rate_bps, pp, !old, new_max, dp->now_ns);
    port->shaped_q = 0;
    for (int q = 0; q < N_QUEUE; q++) {
        uint64_t rate_bps = pp->queue[q].max_rate_bps;

        set_shaper(&port->q_shaper[q], rate_bps, pp, !old, new_max,
                   dp->now_ns);
        port->queue[q].limit = dp_queue_limit(&pp->queue[q], 0);
        if (rate_bps)
            port->shaped_q |= (uint8_t) (1u << q);
    }
}

static struct dp_class
class_of(const struct dp_plan_port *pp, uint8_t prio)
{
    return (struct dp_class){.pg = pp->prio_to_pg[prio], .prio = prio};
}

/* Makes what every frame needs of the plan ready for use. */
static void
set_fast_path(struct dp_port *port)
{
    const struct dp_plan_port *pp = port->conf;

    memcpy(port->prio_to_queue, pp->prio_to_queue, N_PRIO);
    memcpy(port->prio_to_pg, pp->prio_to_pg, N_PRIO);
    port->all_vlans = pp->vlan_mode == DP_VLAN_TRUNK && pp->all_trunks;
    port->may_tag = pp->rewrite_pcp;
    if (pp->vlan_mode == DP_VLAN_ACCESS ||
        pp->vlan_mode == DP_VLAN_NATIVE_UNTAGGED ||
        pp->prio_tags != DP_PRIO_TAGS_KEEP)
        port->may_tag = 0xff;
    port->may_act = port->may_tag | pp->rewrite_dscp;
    port->trust_dscp = pp->trust == DP_TRUST_DSCP;
    port->untagged = class_of(pp, pp->default_prio);
    for (int i = 0; i < 8; i++)
        port->pcp_to_class[i] = pp->trust == DP_TRUST_PORT
                                    ? port->untagged
                                    : class_of(pp, pp->pcp_to_prio[i]);
}

/* Which queues a pause may stop, and where one may come while they are sent
 * on. */
static void
set_stop(struct dp_port *port)
{
    const struct pfc_conf *pfc = &port->pfc.conf;
    bool looks = port->netdev && port->netdev->tx_look;

    port->n_cut = 0;
    port->stop_q = 0;
    for (int p = 0; p < N_PRIO; p++)
        if (pfc->pause_rx || (pfc->honoured >> p & 1))
            port->stop_q |= (uint8_t) (1u << port->prio_to_queue[p]);
    port->look_q = looks ? port->stop_q : 0;
}

/* What a group holds of a pool goes with it to another. */
static void
set_group(struct dp *dp, struct dp_port *port, int pg)
{
    const struct buf_group_conf *conf = &port->conf->pg[pg];
    struct buf_group *g = &port->group[pg];

    if (conf->pool != g->conf.pool)
        buf_group_move(dp_group_pool(dp, g), &dp->buf[conf->pool], g);
    buf_group_set(&dp->buf[conf->pool], g, conf);
    dp_note_group(dp, port, pg);
}

static void
configure(struct dp *dp, struct dp_port *port, struct dp_plan_port *pp)
{
    const struct dp_plan_port *old = port->conf;
    uint8_t was;

    port->conf = pp;
    set_fast_path(port);
    dp->carries_all[port->slot + 1] = port->all_vlans ? port : NULL;
    if (old && vlan_differs(old, pp))
        dp_set_add(&dp->forget, port->slot);
    if (!old)
        pfc_init(&port->pfc, &pp->pfc);
    if (pp->netdev != port->netdev)
        change_netdev(dp, port, pp->netdev);
    dp_port_set_longest(port);
    memcpy(port->mac, pp->mac, sizeof(port->mac));
    was = port->pfc.paused;
    pfc_set(&port->pfc, &pp->pfc, dp->now_ns);
    dp_pause_changed(dp, port, was); /* priority to queue may differ too */
    set_stop(port);
    for (int g = 0; g < N_PG; g++) {
        set_group(dp, port, g);
    }
    set_egress(dp, port, old);
    dp_wire_configure(dp, port, pp);
    dp_watch_configure(dp, port, !old);
    dp_set_add(&dp->due, port->slot); /* what is enabled may differ */
}

static void
put_in(struct dp *dp, struct dp_port *port, uint16_t slot,
       struct dp_plan_port *pp)
{
    assert(!port->attached); /* a state serves one life of a port */
    port->attached = true;
    port->slot = slot;
    dp->port[slot] = port;
    configure(dp, port, pp);
}

/* Who lived behind ports that went, or that carry other VLANs now, is unknown
 * again.  A walk through the table takes up to a millisecond, and two are the
 * stall that headroom is made for at the least: when more ports change at
 * once, one walk forgets everyone. */
static void
forget_hosts(struct dp *dp)
{
    int n = 0;

    for (int i = 0; i < DP_MAX_PORTS / 64; i++)
        n += __builtin_popcountll(dp->forget.w[i]);
    if (n > FORGET_MAX)
        mactab_flush(dp->mactab, -1, -1);
    for (int i = dp_set_next(&dp->forget, 0); i >= 0 && n <= FORGET_MAX;
         i = dp_set_next(&dp->forget, i + 1))
        mactab_flush(dp->mactab, i, -1);
    dp->forget = (struct dp_set){0};
}

/* --- the whole --------------------------------------------------------- */

/* For each frame that low_buffers keeps a buffer for there are to be enough
 * descriptors to flood it to all ports; no more than a quarter of them. */
static uint32_t
low_clones(const struct dp *dp)
{
    uint64_t all = pkt_pool_n_clones(dp->pool), n_up = 0, wanted;

    for (int i = dp_set_next(&dp->up, 0); i >= 0;
         i = dp_set_next(&dp->up, i + 1))
        n_up++;
    if (n_up <= 2) /* the frame itself goes to the only other port */
        return 0;
    wanted = dp->plan->low_buffers * (n_up - 2);
    return (uint32_t) (wanted < all / 4 ? wanted : all / 4);
}

/* Which pools the limits of queues depend on.  They are 0 till the pools are
 * looked at. */
static void
note_dynamic(struct dp *dp)
{
    dp->dynamic_pools = 0;
    memset(dp->sure_bytes, 0, sizeof(dp->sure_bytes));
    for (int i = 0; i < DP_MAX_PORTS; i++) {
        const struct dp_plan_port *pp = dp->plan->ports[i];

        for (int q = 0; pp && q < N_QUEUE; q++)
            if (!pp->queue[q].lossless && pp->queue[q].alpha != BUF_ALPHA_NONE)
                dp->dynamic_pools |= (uint8_t) (1u << pp->queue[q].pool);
    }
}

/* Which priorities a pause may stop, wherever they leave. */
static void
note_stops(struct dp *dp)
{
    dp->stop_prios = 0;
    for (int i = 0; i < DP_MAX_PORTS; i++) {
        const struct dp_port *port = dp->port[i];

        for (int p = 0; port && p < N_PRIO; p++)
            if (port->stop_q >> port->prio_to_queue[p] & 1)
                dp->stop_prios |= (uint8_t) (1u << p);
    }
}

void
dp_adopt(struct dp *dp)
{
    struct dp_plan *plan;

    /* One change at a time: what the last one took out must be gone. */
    if (dp_likely(!__atomic_load_n(&dp->pending, __ATOMIC_RELAXED)) ||
        dp->n_leaving)
        return;
    plan = __atomic_exchange_n(&dp->pending, NULL, __ATOMIC_ACQUIRE);
    for (int i = 0; i < DP_MAX_PORTS; i++) {
        const struct dp_plan_port *pp = plan->ports[i];

        if (dp->port[i] && (!pp || pp->state != dp->port[i]))
            take_out(dp, dp->port[i]);
    }
    dp->plan = plan;
    for (int i = 0; i < DP_MAX_POOLS; i++) {
        dp->buf[i].shared_bytes = i ? plan->pool_bytes[i] : plan->shared_bytes;
        dp->buf[i].low_buffers = plan->low_buffers;
    }
    dp->hdrm.bytes = plan->hdrm_pool_bytes;
    mactab_set_ageing(dp->mactab, plan->mac_ageing_ns);
    for (int i = 0; i < DP_MAX_PORTS; i++) {
        struct dp_plan_port *pp = plan->ports[i];

        if (!pp)
            continue;
        if (dp->port[i])
            configure(dp, dp->port[i], pp);
        else
            put_in(dp, pp->state, (uint16_t) i, pp);
    }
    forget_hosts(dp);
    dp_of_adopt(dp);
    note_dynamic(dp);
    note_stops(dp);
    dp->low_clones = low_clones(dp);
    if (!dp->n_leaving)
        acknowledge(dp);
}
