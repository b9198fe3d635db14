/* SPDX-License-Identifier: Apache-2.0
 *
 * The run-time state of a port: making it (control thread), what its provider
 * says about sending, and the drops that are counted on it (dp thread).
 */
#include "dp/dp_priv.h"

#include <stdlib.h>

static const char *const drop_names[DP_N_DROPS] = {
    [DP_DROP_RUNT] = "runt",
    [DP_DROP_RESERVED] = "reserved",
    [DP_DROP_SOURCE] = "source",
    [DP_DROP_VLAN] = "vlan",
    [DP_DROP_INGRESS_LIMIT] = "ingress-limit",
    [DP_DROP_HEADROOM_EXCEEDED] = "headroom-exceeded",
    [DP_DROP_NO_PORT] = "no-port",
    [DP_DROP_WATCHDOG_RX] = "watchdog-rx",
    [DP_DROP_UNKNOWN_UNICAST] = "unknown-unicast",
    [DP_DROP_NO_FLOW] = "no-flow",
    [DP_DROP_FLOW] = "flow",
    [DP_DROP_METER] = "meter",
    [DP_DROP_TTL] = "ttl",
    [DP_DROP_NO_BUFFER] = "no-buffer",
    [DP_DROP_CONTROLLER] = "controller",
    [DP_DROP_PORT_CONFIG] = "port-config",
    [DP_DROP_NO_CLONE] = "no-clone",
    [DP_DROP_QUEUE_LIMIT] = "queue-limit",
    [DP_DROP_WATCHDOG_TX] = "watchdog-tx",
    [DP_DROP_WRED] = "wred",
    [DP_DROP_OVERSIZE] = "oversize",
    [DP_DROP_PORT_DOWN] = "port-down",
    [DP_DROP_PORT_REMOVED] = "port-removed",
};

const char *
dp_drop_name(enum dp_drop reason)
{
    assert((unsigned) reason < DP_N_DROPS);
    return drop_names[reason];
}

struct dp_port *
dp_port_create(void)
{
    struct dp_port *port =
        aligned_alloc(64, (sizeof(struct dp_port) + 63) & ~(size_t) 63);

    if (!port)
        return NULL;
    memset(port, 0, sizeof(*port));
    /* MAC control frames are sent from here, so that one never fails for
     * want of a buffer.  Providers only read it. */
    port->ctl.data = port->ctl_frame;
    port->ctl.owner = &port->ctl;
    port->ctl.len = MACCTL_LEN;
    port->ctl.n_refs = 1;
    port->ctl.in_port = PKT_NO_PORT;
    return port;
}

void
dp_port_destroy(struct dp_port *port)
{
    if (port)
        dp_cable_destroy(port->cable);
    free(port);
}

uint64_t
dp_port_cable_bytes(const struct dp_port *port)
{
    return port->cable ? port->cable->size : 0;
}

const struct dp_port_counters *
dp_port_counters(const struct dp_port *port)
{
    return &port->n;
}

const struct pfc *
dp_port_pfc(const struct dp_port *port)
{
    return &port->pfc;
}

const struct buf_group *
dp_port_group(const struct dp_port *port, int pg)
{
    assert(pg >= 0 && pg < N_PG);
    return &port->group[pg];
}

void
dp_port_sent(struct dp *dp, struct dp_port *port)
{
    if (dp_unlikely(port->n_again || port->down)) {
        port->n_again = 0;
        port->down = false;
        dp_set_del(&dp->blocked, port->slot);
    }
}

void
dp_port_refused(struct dp *dp, struct dp_port *port, enum netdev_tx why)
{
    uint64_t wait_ns = DP_RETRY_MAX_NS;

    if (why == NETDEV_TX_DOWN) {
        /* Its descriptor would poll as an error for ever: only the timer
         * tries again, or a frame that is put in the queue. */
        dp_port_flush(dp, port, DP_DROP_PORT_DOWN);
        if (!port->down)
            dp_event(dp, port, DP_EV_PORT_DOWN, 0);
        port->down = true;
    } else {
        dp_set_add(&dp->blocked, port->slot);
        if (DP_RETRY_MIN_NS << port->n_again < DP_RETRY_MAX_NS)
            wait_ns = DP_RETRY_MIN_NS << port->n_again;
    }
    if (port->n_again < 32)
        port->n_again++;
    port->retry_ns = dp->now_ns + wait_ns;
}

void
dp_port_set_longest(struct dp_port *port)
{
    bool plain = port->netdev && !port->wd_tx && !port->no_send;

    port->max_frame_bytes = plain ? port->conf->max_frame_bytes : 0;
}

void
dp_port_show(struct dp_port *port)
{
    if (dp_unlikely(port->cable != NULL)) {
        counter_set(&port->n.cable_frames, port->cable->n_data);
        counter_set(&port->n.cable_bytes, port->cable->data_bytes);
    }
    for (int q = 0; q < N_QUEUE; q++) {
        struct dp_queue *queue = &port->queue[q];

        dp_queue_note_peak(queue);
        counter_set(&port->n.q_frames[q], queue->frames);
        counter_set(&port->n.q_bytes[q], queue->bytes);
        counter_set(&port->n.q_peak[q], queue->peak);
    }
    counter_set(&port->n.held, dp_port_held(port));
}

void
dp_port_flush(struct dp *dp, struct dp_port *port, enum dp_drop reason)
{
    for (int q = 0; q < N_QUEUE; q++) {
        struct dp_queue *queue = &port->queue[q];

        dp_queue_note_peak(queue);
        while (queue->head) {
            struct pkt *p = queue->head;

            queue->head = p->next;
            dp_drop_queue(dp, port, q, reason, p);
        }
        queue->frames = 0;
        queue->bytes = 0;
        sched_idle(&port->sched, q);
    }
    port->ready = 0;
    dp_wire_drop(dp, port, reason);
    dp_set_del(&dp->busy, port->slot);
    dp_set_del(&dp->blocked, port->slot);
    dp_port_show(port);
}

/* Takes the frames of those priorities out of a queue. */
static void
thin_out(struct dp *dp, struct dp_port *port, int q, uint8_t prios,
         enum dp_drop reason)
{
    struct dp_queue *queue = &port->queue[q];
    struct pkt *p = queue->head, *next;

    dp_queue_note_peak(queue);
    queue->head = NULL;
    for (; p; p = next) {
        next = p->next;
        if (prios >> p->prio & 1) {
            queue->frames--;
            queue->bytes -= dp_wire_len(p);
            counter_add(&port->watch.tx_drop[p->prio], 1);
            dp_drop_queue(dp, port, q, reason, p);
            continue;
        }
        p->next = NULL;
        if (queue->head)
            queue->tail->next = p;
        else
            queue->head = p;
        queue->tail = p;
    }
    if (queue->head) {
        queue->head_len = dp_wire_len(queue->head);
        return;
    }
    port->ready &= (uint8_t) ~(1u << q);
    sched_idle(&port->sched, q);
}

void
dp_port_flush_prios(struct dp *dp, struct dp_port *port, uint8_t prios,
                    enum dp_drop reason)
{
    for (unsigned m = port->ready; m; m &= m - 1)
        thin_out(dp, port, __builtin_ctz(m), prios, reason);
    if (!port->ready) {
        dp_set_del(&dp->busy, port->slot);
        dp_set_del(&dp->blocked, port->slot);
    }
    dp_port_show(port);
}

static void
drop(struct dp *dp, struct dp_port *port, enum dp_drop reason, uint32_t bytes,
     struct pkt *p)
{
    counter_add(&port->n.drops[reason], 1);
    counter_add(&port->n.drop_bytes[reason], bytes);
    dp_release(dp, p, dp_room(dp));
}

void
dp_drop(struct dp *dp, struct dp_port *port, enum dp_drop reason,
        struct pkt *p)
{
    drop(dp, port, reason, p->len, p);
}

/* What every drop at a queue counts there. */
static void
count_queue_drop(struct dp_port *port, int q, enum dp_drop reason,
                 uint32_t bytes)
{
    counter_add(&port->n.q_drops[q], 1);
    counter_add(&port->n.q_drop_bytes[q], bytes);
    counter_add(&port->n.queue_drops[q][reason], 1);
}

void
dp_drop_queue(struct dp *dp, struct dp_port *port, int q, enum dp_drop reason,
              struct pkt *p)
{
    uint32_t bytes = dp_wire_len(p);

    count_queue_drop(port, q, reason, bytes);
    drop(dp, port, reason, bytes, p);
}

void
dp_drop_copy(struct dp_port *port, const struct pkt *p)
{
    uint32_t bytes = dp_wire_len(p);

    count_queue_drop(port, port->prio_to_queue[p->prio], DP_DROP_NO_CLONE,
                     bytes);
    counter_add(&port->n.drops[DP_DROP_NO_CLONE], 1);
    counter_add(&port->n.drop_bytes[DP_DROP_NO_CLONE], bytes);
}

void
dp_drop_bytes(struct dp_port *port, int q, enum dp_drop reason, uint32_t bytes)
{
    count_queue_drop(port, q, reason, bytes);
    counter_add(&port->n.drops[reason], 1);
    counter_add(&port->n.drop_bytes[reason], bytes);
}

void
dp_violation(struct dp *dp, struct dp_port *port, uint8_t prio,
             enum dp_drop reason)
{
    struct dp_event ev = {
        .type = DP_EV_VIOLATION,
        .now_ns = dp->now_ns,
        .port = port->slot,
        .index = prio,
        .reason = reason,
    };

    counter_add(&port->n.violations[prio], 1);
    ring_put(dp->events, &ev);
}
