/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage tx: of every port that has frames, the scheduler picks at most one
 * batch from the queues that are neither paused nor out of rate, and the
 * provider takes what it can.  What it does not take goes back to the head of
 * its queue, in order, and so do the credits that it was charged.
 */
#include "dp/dp_priv.h"

/* A batch on its way out. */
struct tx_batch {
    struct pkt *pkt[PKT_BATCH]; /* in the order of sending */
    uint32_t len[PKT_BATCH];    /* wire length of each */
    uint8_t queue[PKT_BATCH];   /* where each came from */
};

static inline struct pkt *
take_head(struct dp_port *port, int q)
{
    struct dp_queue *queue = &port->queue[q];
    struct pkt *p = queue->head;

    queue->head = p->next;
    if (p->next)
        port->head_len[q] = dp_wire_len(p->next);
    else
        port->ready &= (uint8_t) ~(1u << q);
    return p;
}

static void
put_back(struct dp_port *port, int q, struct pkt *p, uint32_t len)
{
    struct dp_queue *queue = &port->queue[q];

    p->next = queue->head;
    if (!queue->head)
        queue->tail = p;
    queue->head = p;
    port->head_len[q] = len;
    port->ready |= (uint8_t) (1u << q);
    sched_refund(&port->sched, q, len);
    if (port->shaper.rate_bps)
        shaper_refund(&port->shaper, len);
    if (port->shaped_q >> q & 1)
        shaper_refund(&port->queue[q].shaper, len);
}

/* Queues with a maximum rate that have no credit at this moment. */
static uint8_t
rate_closed(struct dp_port *port, uint64_t now_ns)
{
    uint8_t closed = 0;

    for (unsigned m = port->shaped_q & port->ready; m; m &= m - 1) {
        int q = __builtin_ctz(m);

        if (!shaper_ready(&port->queue[q].shaper, now_ns))
            closed |= (uint8_t) (1u << q);
    }
    return closed;
}

/* Picks the batch.  Returns how many frames. */
static uint32_t
fill(struct dp_port *port, uint64_t now_ns, struct tx_batch *b)
{
    bool shaped = port->shaper.rate_bps != 0;
    uint8_t closed = port->paused_q;
    uint32_t n = 0;

    if (dp_unlikely(port->shaped_q))
        closed |= rate_closed(port, now_ns);
    while (n < PKT_BATCH) {
        uint8_t ready = port->ready & (uint8_t) ~closed;
        uint32_t len;
        int q;

        if (!ready || (shaped && !shaper_ready(&port->shaper, now_ns)))
            break;
        q = sched_pick(&port->sched, ready, port->head_len);
        len = port->head_len[q];
        b->pkt[n] = take_head(port, q);
        b->len[n] = len;
        b->queue[n++] = (uint8_t) q;
        sched_charge(&port->sched, q, len);
        if (shaped)
            shaper_charge(&port->shaper, len);
        if (dp_unlikely(port->shaped_q >> q & 1)) {
            shaper_charge(&port->queue[q].shaper, len);
            if (!shaper_ready(&port->queue[q].shaper, now_ns))
                closed |= (uint8_t) (1u << q);
        }
    }
    return n;
}

/* Accounts for the frames that were taken, and gives them back. */
static void
settle(struct dp *dp, struct dp_port *port, const struct tx_batch *b,
       uint32_t n)
{
    struct dp_port_counters *c = &port->n;
    uint64_t bytes = 0;
    unsigned touched = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t len = b->len[i];
        int q = b->queue[i];

        bytes += len;
        touched |= 1u << q;
        counter_add(&c->q_tx_frames[q], 1);
        counter_add(&c->q_tx_bytes[q], len);
        counter_set(&c->q_frames[q], c->q_frames[q] - 1);
        counter_set(&c->q_bytes[q], c->q_bytes[q] - len);
        dp_release(dp, b->pkt[i]);
    }
    counter_add(&c->tx_frames, n);
    counter_add(&c->tx_bytes, bytes);
    counter_set(&c->held, c->held - n);
    for (touched &= ~(unsigned) port->ready; touched; touched &= touched - 1)
        sched_idle(&port->sched, __builtin_ctz(touched));
}

/* What is still queued: when can the first of it leave? */
static void
deadline(struct dp *dp, struct dp_port *port)
{
    uint8_t ready = port->ready & (uint8_t) ~port->paused_q;
    uint64_t when_ns = CLOCK_NEVER;

    if (!ready) /* paused: the end of the pause is waited for as such */
        return;
    if (ready & ~port->shaped_q) {
        when_ns = 0;
    } else {
        for (unsigned m = ready; m; m &= m - 1) {
            uint64_t t =
                shaper_deadline(&port->queue[__builtin_ctz(m)].shaper);

            if (t < when_ns)
                when_ns = t;
        }
    }
    if (port->shaper.rate_bps) {
        uint64_t t = shaper_deadline(&port->shaper);

        if (t > when_ns)
            when_ns = t;
    }
    if (when_ns <= dp->now_ns)
        dp->more = true;
    else
        dp_wake_at(dp, when_ns);
}

static void
tx_port(struct dp *dp, struct dp_port *port)
{
    enum netdev_tx result;
    struct tx_batch b;
    uint32_t n, n_sent = 0;

    if (port->ctl_wait) /* no data before a MAC control frame */
        return;
    n = fill(port, dp->now_ns, &b);
    if (n) {
        result = port->netdev->cls->tx(port->netdev, b.pkt, n, &n_sent);
        assert(n_sent <= n);
        for (uint32_t i = n; i-- > n_sent;)
            put_back(port, b.queue[i], b.pkt[i], b.len[i]);
        if (n_sent) {
            settle(dp, port, &b, n_sent);
            dp_port_sent(dp, port);
        }
        if (dp_unlikely(result != NETDEV_TX_OK || !n_sent)) {
            dp_port_refused(dp, port, result);
            if (port->ready)
                dp_wake_at(dp, port->retry_ns);
            return;
        }
    } else {
        /* Not the kernel but a pause or a rate holds it: polling for
         * POLLOUT would turn in circles. */
        dp_set_del(&dp->blocked, port->slot);
    }
    if (port->ready)
        deadline(dp, port);
    else
        dp_set_del(&dp->busy, port->slot);
}

void
dp_tx(struct dp *dp)
{
    for (int i = dp_set_next(&dp->busy, 0); i >= 0;
         i = dp_set_next(&dp->busy, i + 1))
        tx_port(dp, dp->port[i]);
}
