/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage tx: of every port that has frames, the scheduler picks at most one
 * batch from the queues that are neither paused nor out of rate, and the
 * provider takes what it can.  What it does not take goes back to the head of
 * its queue, in order, and so do the credits that it was charged.  Where the
 * kernel takes its time, what may be paused is sent in small parts: a pause
 * that comes meanwhile keeps the rest.
 * What it takes is given back: stage release.
 */
#include "dp/dp_priv.h"
#include "pkt/offload.h"

/* Frames of one queue that leave together, so that the scheduler is asked
 * once: no more than one frame of full size would be.  What it decides over
 * time stays the same; only small frames come in handfuls. */
#define RUN_BYTES 1536

struct tx_run {
    uint8_t queue;  /* where they come from */
    uint8_t n;      /* how many */
    uint32_t bytes; /* their wire length */
};

/* A batch on its way out. */
struct tx_batch {
    uint32_t n;                       /* frames */
    uint32_t n_runs;                  /* runs */
    struct pkt *pkt[NETDEV_TX_MAX];   /* in the order of sending */
    struct tx_run run[NETDEV_TX_MAX]; /* in the same order */
};

/* Queues with a maximum rate that have no credit at this moment. */
static uint8_t
rate_closed(struct dp_port *port, uint64_t now_ns)
{
    uint8_t closed = 0;

    for (unsigned m = port->shaped_q & port->ready; m; m &= m - 1) {
        int q = __builtin_ctz(m);

        if (!shaper_ready(&port->q_shaper[q], now_ns))
            closed |= (uint8_t) (1u << q);
    }
    return closed;
}

/* Spends the rates of port and queue; false when one of them is used up. */
static bool
spend(struct dp_port *port, int q, uint32_t len, uint64_t now_ns)
{
    shaper_charge(&port->shaper, len);
    shaper_charge(&port->q_shaper[q], len);
    return shaper_ready(&port->shaper, now_ns) &&
           shaper_ready(&port->q_shaper[q], now_ns);
}

/* Takes a run from the head of a queue that has a frame. */
static inline __attribute__((always_inline)) void
take_run(struct dp_port *port, int q, bool shaped, uint64_t now_ns,
         struct tx_batch *b)
{
    struct dp_queue *queue = &port->queue[q];
    struct tx_run *run = &b->run[b->n_runs++];
    uint32_t len = queue->head_len, bytes = 0, n = b->n;
    uint32_t most = RUN_BYTES;
    struct pkt *p = queue->head;

    dp_queue_note_peak(queue);
    do {
        if (shaped && !spend(port, q, len, now_ns))
            most = 0;
        b->pkt[n++] = p;
        bytes += len;
        p = p->next;
        if (!p) {
            port->ready &= (uint8_t) ~(1u << q);
            break;
        }
        len = dp_wire_len(p);
    } while (n < PKT_BATCH && bytes + len <= most);
    queue->head = p;
    queue->head_len = len;
    *run = (struct tx_run){(uint8_t) q, (uint8_t) (n - b->n), bytes};
    b->n = n;
    sched_charge(&port->sched, q, bytes);
}

/* A full batch that ends in the midst of a super-frame: what is left of it
 * goes along, frame by frame as in fill(), as long as it is its turn.  A
 * message costs the kernel about the same however long it is.  Not from a
 * queue that a pause may stop: of that PKT_BATCH frames are the most that
 * leave in a turn.
 */
static __attribute__((noinline)) void
finish_super(struct dp_port *port, bool shaped, uint8_t closed,
             uint64_t now_ns, struct tx_batch *b)
{
    int q = b->run[b->n_runs - 1].queue;
    const struct dp_queue *queue = &port->queue[q];

    if (port->stop_q >> q & 1)
        return;
    while (b->n < NETDEV_TX_MAX && queue->head &&
           pkt_same_super(b->pkt[b->n - 1], queue->head)) {
        if (shaped && !(shaper_ready(&port->shaper, now_ns) &&
                        shaper_ready(&port->q_shaper[q], now_ns)))
            return;
        if (sched_pick(&port->sched, port->ready & (uint8_t) ~closed, NULL) !=
            q)
            return;
        take_run(port, q, shaped, now_ns, b);
    }
}

/* Picks the batch. */
static void
fill(struct dp_port *port, uint64_t now_ns, struct tx_batch *b)
{
    bool shaped = port->shaper.rate_bps || port->shaped_q;
    uint8_t closed = port->paused_q;

    b->n = 0;
    b->n_runs = 0;
    if (dp_unlikely(port->shaped_q))
        closed |= rate_closed(port, now_ns);
    while (b->n < PKT_BATCH) {
        uint8_t ready = port->ready & (uint8_t) ~closed;
        int q;

        if (!ready || (shaped && !shaper_ready(&port->shaper, now_ns)))
            break;
        q = sched_pick(&port->sched, ready, NULL);
        take_run(port, q, shaped, now_ns, b);
        if (dp_unlikely(port->shaped_q >> q & 1) &&
            !shaper_ready(&port->q_shaper[q], now_ns))
            closed |= (uint8_t) (1u << q);
    }
    if (dp_unlikely(b->n == PKT_BATCH && b->pkt[PKT_BATCH - 1]->has_offload))
        finish_super(port, shaped, closed, now_ns, b);
}

/* Puts the frames from the n-th on back to the heads of their queues, the
 * last one first, and takes back what they were charged. */
static void
put_back(struct dp_port *port, struct tx_batch *b, uint32_t n)
{
    while (b->n > n) {
        struct tx_run *run = &b->run[b->n_runs - 1];
        struct dp_queue *queue = &port->queue[run->queue];
        struct pkt *p = b->pkt[--b->n];
        uint32_t len = dp_wire_len(p);

        p->next = queue->head;
        if (!queue->head)
            queue->tail = p;
        queue->head = p;
        queue->head_len = len;
        port->ready |= (uint8_t) (1u << run->queue);
        sched_refund(&port->sched, run->queue, len);
        shaper_refund(&port->shaper, len);
        shaper_refund(&port->q_shaper[run->queue], len);
        run->bytes -= len;
        if (--run->n == 0)
            b->n_runs--;
    }
}

/* Accounts for the frames that were taken, and gives them back. */
static void
settle(struct dp *dp, struct dp_port *port, const struct tx_batch *b)
{
    struct dp_port_counters *c = &port->n;
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < b->n_runs; i++) {
        const struct tx_run *run = &b->run[i];
        struct dp_queue *queue = &port->queue[run->queue];

        bytes += run->bytes;
        counter_add(&c->q_tx_frames[run->queue], run->n);
        counter_add(&c->q_tx_bytes[run->queue], run->bytes);
        queue->frames -= run->n;
        queue->bytes -= run->bytes;
        if (!queue->head)
            sched_idle(&port->sched, run->queue);
    }
    if (dp_likely(!port->is_wired)) { /* else once off the cable */
        counter_add(&c->tx_frames, b->n);
        counter_add(&c->tx_bytes, bytes);
    }
    dp_release_sent(dp, b->pkt, b->n);
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
            uint64_t t = shaper_deadline(&port->q_shaper[__builtin_ctz(m)]);

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

/* Whether a pause may lie unread behind data: see dp_rx(). */
static bool
must_read_on(struct dp_port *port)
{
    if (port->n_unread < DP_MAX_UNREAD)
        return true;
    port->n_unread = 0;
    return false;
}

/* Whether a look is worth while.  Not always, so that MAC control without end
 * does not keep the port silent. */
static bool
must_look(const struct dp_port *port, const struct tx_batch *b)
{
    uint8_t queues = 0;

    if (!port->look_q || port->n_cut >= DP_MAX_CUT)
        return false;
    for (uint32_t i = 0; i < b->n_runs; i++)
        queues |= (uint8_t) (1u << b->run[i].queue);
    return queues & port->look_q;
}

/* Frames from the i-th on to be sent before the next look.  The pieces of a
 * super-frame, which leave as one message, are not divided. */
static uint32_t
until_look(const struct dp_port *port, const struct tx_batch *b, uint32_t i)
{
    uint32_t end = i + port->netdev->tx_look;

    while (end < b->n && pkt_is_open(b->pkt[end - 1]) &&
           pkt_is_open(b->pkt[end]))
        end++;
    return (end < b->n ? end : b->n) - i;
}

/* Sends the batch by and by, and stops as soon as MAC control has come, which
 * the next turn begins with. */
static enum netdev_tx
send_looking(struct dp *dp, struct dp_port *port, const struct tx_batch *b,
             uint32_t *n_sent)
{
    const struct netdev_class *cls = port->netdev->cls;
    enum netdev_tx result = NETDEV_TX_OK;

    while (*n_sent < b->n && result == NETDEV_TX_OK) {
        uint32_t n = until_look(port, b, *n_sent), n_taken = 0;

        if (cls->rx(port->netdev, NULL, 0)) {
            port->n_cut++;
            dp->more = true;
            return result;
        }
        result = cls->tx(port->netdev, b->pkt + *n_sent, n, &n_taken);
        *n_sent += n_taken;
        if (n_taken < n)
            break;
    }
    port->n_cut = 0;
    return result;
}

static enum netdev_tx
hand_over(struct dp *dp, struct dp_port *port, const struct tx_batch *b,
          uint32_t *n_sent)
{
    if (dp_unlikely(must_look(port, b)))
        return send_looking(dp, port, b, n_sent);
    port->n_cut = 0;
    return port->netdev->cls->tx(port->netdev, b->pkt, b->n, n_sent);
}

static void
tx_port(struct dp *dp, struct dp_port *port)
{
    enum netdev_tx result = NETDEV_TX_OK;
    struct tx_batch b;
    uint32_t n, n_sent = 0;

    if (port->ctl_wait) /* no data before a MAC control frame */
        return;
    if (dp_unlikely(port->n_unread) && must_read_on(port))
        return;
    fill(port, dp->now_ns, &b);
    n = b.n;
    if (!n) {
        port->n_cut = 0;
        /* Not the kernel but a pause or a rate holds it: polling for
         * POLLOUT would turn in circles. */
        dp_set_del(&dp->blocked, port->slot);
        deadline(dp, port);
        return;
    }
    if (dp_unlikely(port->is_wired))
        n_sent = dp_wire_send(port, b.pkt, n, dp->now_ns, false);
    else
        result = hand_over(dp, port, &b, &n_sent);
    assert(n_sent <= n);
    if (dp_unlikely(n_sent < n))
        put_back(port, &b, n_sent);
    if (n_sent) {
        settle(dp, port, &b);
        if (dp_likely(!port->is_wired))
            dp_port_sent(dp, port);
    }
    if (!port->ready)
        dp_set_del(&dp->busy, port->slot);
    if (dp_likely(result == NETDEV_TX_OK && (n_sent || port->n_cut))) {
        if (port->ready)
            deadline(dp, port);
        return;
    }
    if (port->is_wired) /* full: there is room when a frame leaves it */
        return;
    dp_port_refused(dp, port, result);
    if (port->ready)
        dp_wake_at(dp, port->retry_ns);
}

void
dp_tx(struct dp *dp)
{
    for (int i = dp_set_next(&dp->busy, 0); i >= 0;
         i = dp_set_next(&dp->busy, i + 1)) {
        struct dp_port *port = dp->port[i];

        tx_port(dp, port);
        dp_port_show(port);
    }
}
