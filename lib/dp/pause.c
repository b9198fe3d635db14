/* SPDX-License-Identifier: Apache-2.0
 *
 * Pausing and being paused.  lib/qos/pfc keeps the state and the times of a
 * port, lib/qos/buf the state of its groups; here the two meet the frames:
 * MAC control that came in stops queues, groups in XOFF make MAC control
 * frames, and these leave ahead of every queue.
 */
#include "dp/dp_priv.h"

/* --- being paused ------------------------------------------------------ */

void
dp_pause_changed(struct dp *dp, struct dp_port *port, uint8_t was)
{
    uint8_t is = port->pfc.paused;

    port->paused_q = port->watch.hold_q;
    for (unsigned m = is; m; m &= m - 1) {
        int p = __builtin_ctz(m);
        uint8_t *stops = &port->stops[p];

        /* Frames stay in their queue when the map changes, and so does the
         * pause that holds them. */
        if (!(was >> p & 1))
            *stops = 0;
        *stops |= (uint8_t) (1u << port->prio_to_queue[p]);
        port->paused_q |= *stops;
    }
    for (unsigned m = (unsigned) (was ^ is); m; m &= m - 1) {
        uint8_t p = (uint8_t) __builtin_ctz(m);

        dp_event(dp, port, is >> p & 1 ? DP_EV_RX_PAUSE : DP_EV_RX_RESUME, p);
    }
    dp_set_put(&dp->paused, port->slot, is != 0);
    if (is | port->watch.hold_q)
        dp_watch_soon(dp, port);
}

void
dp_pause_rx(struct dp *dp, struct dp_port *port, const struct macctl *m)
{
    uint8_t was = port->pfc.paused;

    pfc_rx(&port->pfc, m, dp->now_ns);
    dp_watch_rx(dp, port, m);
    dp_pause_changed(dp, port, was);
}

void
dp_pause_expire(struct dp *dp)
{
    for (int i = dp_set_next(&dp->paused, 0); i >= 0;
         i = dp_set_next(&dp->paused, i + 1)) {
        struct dp_port *port = dp->port[i];
        uint8_t was = port->pfc.paused;

        if (pfc_rx_expire(&port->pfc, dp->now_ns) != was)
            dp_pause_changed(dp, port, was);
    }
}

/* --- pausing the peer -------------------------------------------------- */

static void
tell_xoff(struct dp *dp, struct dp_port *port, int pg)
{
    dp_event(dp, port, DP_EV_XOFF, (uint8_t) pg);
    port->watch.untold &= (uint8_t) ~(1u << pg);
}

void
dp_pause_tell(struct dp *dp)
{
    for (int i = dp_set_next(&dp->untold, 0); i >= 0;
         i = dp_set_next(&dp->untold, i + 1)) {
        struct dp_port *port = dp->port[i];

        for (unsigned m = port->watch.untold; m; m &= m - 1)
            tell_xoff(dp, port, __builtin_ctz(m));
        dp_set_del(&dp->untold, port->slot);
    }
    dp->is_untold = false;
}

void
dp_group_changed(struct dp *dp, struct dp_port *port, int pg)
{
    struct dp_watch *w = &port->watch;
    bool xoff = port->group[pg].xoff;

    port->xoff ^= (uint8_t) (1u << pg);
    for (unsigned m = port->conf ? port->conf->pg_prios[pg] : 0; m; m &= m - 1)
        port->late_run[__builtin_ctz(m)] = 0;
    if (xoff) {
        w->xoff_ns[pg] = dp->now_ns;
        w->trip[pg] = (struct dp_trip){
            dp->now_ns,
            buf_group_held(&port->group[pg]),
            buf_group_limit(dp_group_pool(dp, &port->group[pg]),
                            &port->group[pg]),
        };
        w->untold |= (uint8_t) (1u << pg);
        dp_set_add(&dp->untold, port->slot);
        dp->is_untold = true;
        if (w->guard.conf.time_ns)
            dp_watch_soon(dp, port);
    } else {
        if (w->untold >> pg & 1)
            tell_xoff(dp, port, pg);
        dp_event(dp, port, DP_EV_XON, (uint8_t) pg);
        guard_xon(&w->guard, pg);
    }
    dp_set_put(&dp->xoff, port->slot, port->xoff != 0);
    dp_set_add(&dp->due, port->slot);
}

/* The priorities whose group is in XOFF, and not for so long that the guard
 * lets the peer go. */
static uint8_t
xoff_prios(const struct dp_port *port)
{
    const struct guard *guard = &port->watch.guard;
    unsigned groups = port->xoff & ~(guard->conf.release ? guard->stuck : 0u);
    uint8_t prios = 0;

    if (dp_unlikely(port->is_behind))
        groups |= (1u << N_PG) - 1;
    for (unsigned m = groups; m; m &= m - 1)
        prios |= port->conf->pg_prios[__builtin_ctz(m)];
    return prios;
}

void
dp_pause_ring(struct dp *dp, struct dp_port *port)
{
    struct netdev *nd = port->netdev;
    bool was = port->is_behind;

    port->is_behind = nd->rx_level > (was ? nd->rx_high / 2 : nd->rx_high);
    if (port->is_behind == was)
        return;
    if (port->is_behind && (port->pfc.conf.enabled || port->pfc.conf.pause_tx))
        counter_add(&nd->stats.n_ring_pauses, 1);
    dp_set_add(&dp->due, port->slot);
}

bool
dp_pause_try(struct dp_port *port, uint8_t xoff, uint64_t now_ns,
             enum netdev_tx *why)
{
    struct pkt *p = &port->ctl;

    /* Two frames are due when PFC takes the place of PAUSE. */
    while (pfc_tx_poll(&port->pfc, xoff, now_ns, port->mac, port->ctl_frame)) {
        uint32_t n_sent = 0;

        if (dp_unlikely(port->is_wired)) {
            *why = NETDEV_TX_AGAIN;
            n_sent = dp_wire_send(port, &p, 1, now_ns, true);
        } else {
            *why = port->netdev->cls->tx(port->netdev, &p, 1, &n_sent);
        }
        if (!n_sent)
            return false;
        pfc_tx_done(&port->pfc, xoff, now_ns);
    }
    return true;
}

static bool
send_due(struct dp *dp, struct dp_port *port, uint8_t xoff)
{
    enum netdev_tx why = NETDEV_TX_OK;
    uint64_t n_frames = port->pfc.n.tx_frames + port->pfc.n.tx_pause;
    bool done = dp_pause_try(port, xoff, dp->now_ns, &why);

    if (!done) {
        port->ctl_wait = true;
        dp_port_refused(dp, port, why);
    } else if (port->pfc.n.tx_frames + port->pfc.n.tx_pause != n_frames) {
        port->ctl_wait = false;
        dp_port_sent(dp, port);
    } else if (port->ctl_wait) { /* what waited is not due any more */
        port->ctl_wait = false;
        dp_set_del(&dp->blocked, port->slot);
    }
    dp_set_put(&dp->asserted, port->slot,
               port->pfc.asserted || port->pfc.pause_asserted);
    return done;
}

bool
dp_pause_release(struct dp *dp, struct dp_port *port)
{
    pfc_force(&port->pfc, 0);
    return !port->netdev ||
           (dp_wire_finish(dp, port) && send_due(dp, port, 0));
}

void
dp_pause_tx(struct dp *dp)
{
    struct dp_set look;

    for (int i = 0; i < DP_MAX_PORTS / 64; i++)
        look.w[i] = dp->due.w[i] | dp->asserted.w[i];
    for (int i = dp_set_next(&look, 0); i >= 0;
         i = dp_set_next(&look, i + 1)) {
        struct dp_port *port = dp->port[i];

        /* Without an interface there is no peer to tell: the state is told
         * to the one that comes (dp_adopt). */
        if (!port->netdev || send_due(dp, port, xoff_prios(port)))
            dp_set_del(&dp->due, port->slot);
    }
}

void
dp_pause_update(struct dp *dp)
{
    uint32_t free_buffers = dp_room(dp);

    for (int i = dp_set_next(&dp->xoff, 0); i >= 0;
         i = dp_set_next(&dp->xoff, i + 1)) {
        struct dp_port *port = dp->port[i];

        for (unsigned m = port->xoff; m; m &= m - 1) {
            int pg = __builtin_ctz(m);

            struct buf_group *g = &port->group[pg];

            buf_group_update(dp_group_pool(dp, g), g, free_buffers);
            dp_note_group(dp, port, pg);
        }
    }
}

void
dp_pause_deadline(struct dp *dp)
{
    for (int i = dp_set_next(&dp->paused, 0); i >= 0;
         i = dp_set_next(&dp->paused, i + 1))
        dp_wake_at(dp, pfc_rx_deadline(&dp->port[i]->pfc));
    for (int i = dp_set_next(&dp->asserted, 0); i >= 0;
         i = dp_set_next(&dp->asserted, i + 1)) {
        const struct dp_port *port = dp->port[i];

        if (port->netdev && !port->ctl_wait)
            dp_wake_at(dp, pfc_tx_deadline(&port->pfc));
    }
    for (int i = dp_set_next(&dp->due, 0); i >= 0;
         i = dp_set_next(&dp->due, i + 1)) {
        const struct dp_port *port = dp->port[i];

        if (port->ctl_wait)
            dp_wake_at(dp, port->retry_ns);
        else
            dp->more = true;
    }
}
