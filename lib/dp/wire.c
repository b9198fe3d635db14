/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage wire: ports with a cable that is emulated send on to it in place of
 * their provider, and this takes what has been on it for its delay to the
 * provider.  See cable.h.
 */
#include "dp/dp_priv.h"

/* Batches that a turn takes off a cable. */
#define MAX_BATCHES 8

/* Whether there is a cable to be sent on to: one that is still being emptied
 * keeps the order of what follows. */
static void
look_at(struct dp *dp, struct dp_port *port)
{
    port->is_wired =
        port->cable && (port->delay_ns || !dp_cable_is_empty(port->cable));
    dp_set_put(&dp->wired, port->slot, port->is_wired);
}

void
dp_wire_configure(struct dp *dp, struct dp_port *port, struct dp_plan_port *pp)
{
    struct dp_cable *old = port->cable;

    if (pp->cable && (!old || pp->cable->size > old->size)) {
        if (old)
            dp_cable_move(old, pp->cable);
        /* Read by the control thread after this plan was acknowledged. */
        port->cable = pp->cable;
        pp->cable = old; /* goes with the plan */
    }
    port->delay_ns = port->cable ? pp->cable_delay_ns : 0;
    look_at(dp, port);
}

uint32_t
dp_wire_send(struct dp_port *port, struct pkt *const pkts[], uint32_t n,
             uint64_t now_ns, bool is_ctl)
{
    return dp_cable_put(port->cable, pkts, n, now_ns + port->delay_ns,
                        port->prio_to_queue, is_ctl);
}

/* Counts what the provider took, n frames from the head on. */
static void
settle(struct dp_port *port, uint32_t n)
{
    uint64_t bytes;
    uint32_t frames;

    dp_cable_take(port->cable, n, &frames, &bytes);
    counter_add(&port->n.tx_frames, frames);
    counter_add(&port->n.tx_bytes, bytes);
}

/* A batch of what is due goes out.  True: that went well, and there may be
 * more. */
static bool
deliver(struct dp_port *port, uint64_t now_ns, enum netdev_tx *result,
        uint32_t *n_sent)
{
    struct pkt *pkts[PKT_BATCH];
    uint32_t n = dp_cable_due(port->cable, now_ns, pkts);

    *result = NETDEV_TX_OK;
    *n_sent = 0;
    if (!n)
        return false;
    *result = port->netdev->cls->tx(port->netdev, pkts, n, n_sent);
    settle(port, *n_sent);
    if (*n_sent == n)
        return n == PKT_BATCH;
    if (*result == NETDEV_TX_OK)
        *result = NETDEV_TX_AGAIN;
    return false;
}

static void
run_port(struct dp *dp, struct dp_port *port)
{
    enum netdev_tx result = NETDEV_TX_OK;
    uint32_t n_sent, left = MAX_BATCHES;
    uint64_t due_ns;
    bool more;

    do {
        more = deliver(port, dp->now_ns, &result, &n_sent);
        if (n_sent)
            dp_port_sent(dp, port);
    } while (more && --left);
    if (result != NETDEV_TX_OK)
        dp_port_refused(dp, port, result);
    if (!dp_cable_is_empty(port->cable)) {
        due_ns = dp_cable_first(port->cable)->due_ns;
        if (result != NETDEV_TX_OK)
            due_ns = port->retry_ns;
        if (due_ns <= dp->now_ns)
            dp->more = true;
        else
            dp_wake_at(dp, due_ns);
    } else {
        look_at(dp, port);
    }
    dp_port_show(port);
}

void
dp_wire_run(struct dp *dp)
{
    for (int i = dp_set_next(&dp->wired, 0); i >= 0;
         i = dp_set_next(&dp->wired, i + 1))
        if (dp->port[i]->netdev)
            run_port(dp, dp->port[i]);
}

void
dp_wire_drop(struct dp *dp, struct dp_port *port, enum dp_drop reason)
{
    while (!dp_cable_is_empty(port->cable)) {
        const struct dp_cable_frame *f = dp_cable_pop(port->cable);

        if (f->is_ctl)
            continue;
        dp_drop_bytes(port, f->queue, reason, f->len);
    }
    look_at(dp, port);
}

bool
dp_wire_finish(struct dp *dp, struct dp_port *port)
{
    enum netdev_tx result = NETDEV_TX_OK;
    uint32_t n_sent;

    if (!port->is_wired)
        return true;
    while (port->netdev && deliver(port, CLOCK_NEVER, &result, &n_sent))
        continue;
    if (!dp_cable_is_empty(port->cable))
        return false;
    port->delay_ns = 0;
    look_at(dp, port);
    return true;
}
