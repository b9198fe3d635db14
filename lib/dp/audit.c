/* SPDX-License-Identifier: Apache-2.0
 *
 * The audit: do the books agree with the frames that are there?  dp thread,
 * between turns or through dp_post; it walks every queue.
 */
#include "dp/dp_priv.h"

/* Set in a frame's charge while the walk has counted it. */
#define SEEN (UINT32_C(1) << 31)

bool
dp_conserves(const struct dp *dp, struct dp_audit *out)
{
    struct dp_audit a = {
        .rx = dp->retired.rx,
        .copies = dp->retired.copies,
        .tx = dp->retired.tx,
        .to_controller = dp->retired.to_controller,
    };

    memcpy(a.drops_by, dp->retired.drops, sizeof(a.drops_by));
    for (int i = 0; i < DP_MAX_PORTS; i++) {
        const struct dp_port *port = dp->port[i];

        if (!port)
            continue;
        a.rx += port->n.rx_frames;
        a.copies += port->n.copies;
        a.tx += port->n.tx_frames;
        a.to_controller += port->n.to_controller;
        a.held += dp_port_held(port);
        a.on_cable += port->cable ? port->cable->n_data : 0;
        for (int r = 0; r < DP_N_DROPS; r++)
            a.drops_by[r] += port->n.drops[r];
    }
    for (int r = 0; r < DP_N_DROPS; r++)
        a.drops += a.drops_by[r];
    *out = a;
    return a.rx + a.copies == a.tx + a.held + a.drops + a.to_controller;
}

/* What the frames that are held say that each group must have been charged. */
struct held {
    uint64_t bytes[DP_MAX_PORTS][N_PG];
    uint64_t frames[DP_MAX_PORTS][N_PG];
};

/* Adds the frames of a queue up; false when the list and its counters, or
 * what is kept of its head, disagree. */
static bool
walk_queue(const struct dp_port *port, int q, struct held *held)
{
    const struct dp_queue *queue = &port->queue[q];
    uint64_t frames = 0, bytes = 0;
    const struct pkt *last = NULL;

    for (const struct pkt *p = queue->head; p; p = p->next) {
        struct pkt *o = p->owner;

        frames++;
        bytes += dp_wire_len(p);
        last = p;
        if (o->in_port == PKT_NO_PORT || o->charge_bytes & SEEN)
            continue;
        held->bytes[o->in_port][o->pg] += o->charge_bytes;
        held->frames[o->in_port][o->pg]++;
        o->charge_bytes |= SEEN;
    }
    if (frames != queue->frames || bytes != queue->bytes ||
        frames != port->n.q_frames[q] || bytes != port->n.q_bytes[q])
        return false;
    if (!queue->head)
        return !(port->ready >> q & 1);
    return (port->ready >> q & 1) && queue->tail == last &&
           queue->head_len == dp_wire_len(queue->head);
}

/* Data frames on the cable, counted anew; UINT32_MAX when its counters are
 * wrong. */
static uint32_t
on_cable(const struct dp_port *port)
{
    const struct dp_cable *c = port->cable;
    const struct dp_cable_frame *f;
    uint64_t at = c ? c->head : 0, bytes = 0;
    uint32_t n = 0;

    while (c && (f = dp_cable_next(c, &at))) {
        n += !f->is_ctl;
        bytes += f->is_ctl ? 0 : f->len;
    }
    if (c && (n != c->n_data || bytes != c->data_bytes ||
              n != port->n.cable_frames))
        return UINT32_MAX;
    return n;
}

static bool
walk_port(const struct dp *dp, const struct dp_port *port, struct held *held)
{
    uint64_t frames = 0;
    bool ok = true;

    for (int q = 0; q < N_QUEUE; q++) {
        ok &= walk_queue(port, q, held);
        frames += port->queue[q].frames;
    }
    frames += on_cable(port);
    return ok && frames == port->n.held &&
           dp_set_has(&dp->busy, port->slot) == (port->ready != 0);
}

static void
clear_marks(const struct dp_port *port)
{
    for (int q = 0; q < N_QUEUE; q++) {
        for (struct pkt *p = port->queue[q].head; p; p = p->next)
            p->owner->charge_bytes &= ~SEEN;
    }
}

/* What all groups together say that each pool, and the headroom, hold. */
struct pools {
    uint64_t shared[DP_MAX_POOLS];
    uint64_t headroom;
};

static bool
check_pools(const struct dp *dp, const struct pools *sum)
{
    bool ok = sum->headroom == counter_get(&dp->hdrm.used);

    for (int i = 0; i < DP_MAX_POOLS; i++)
        ok &= sum->shared[i] == counter_get(&dp->buf[i].shared_used);
    return ok;
}

/* Compares the groups of a port with what is held for them. */
static bool
check_groups(const struct dp_port *port, const struct held *held,
             struct dp_audit *out, struct pools *sum)
{
    bool ok = true;

    for (int g = 0; g < N_PG; g++) {
        const struct buf_group *group = &port->group[g];

        out->charged_bytes += buf_group_held(group);
        out->held_bytes += held->bytes[port->slot][g];
        sum->shared[group->conf.pool] += group->shared_used;
        sum->headroom += group->headroom_used;
        ok &= buf_group_held(group) == held->bytes[port->slot][g] &&
              group->n_held == held->frames[port->slot][g] &&
              group->xoff == (port->xoff >> g & 1);
    }
    return ok;
}

bool
dp_audit(struct dp *dp, struct dp_audit *out)
{
    struct held held; /* large: only what is used is cleared */
    struct pools sum = {.headroom = 0};
    bool ok = dp_conserves(dp, out);

    for (int i = 0; i < DP_MAX_PORTS; i++) {
        if (!dp->port[i])
            continue;
        memset(held.bytes[i], 0, sizeof(held.bytes[i]));
        memset(held.frames[i], 0, sizeof(held.frames[i]));
    }
    for (int i = 0; i < DP_MAX_PORTS; i++) {
        if (dp->port[i])
            ok &= walk_port(dp, dp->port[i], &held);
    }
    for (int i = 0; i < DP_MAX_PORTS; i++) {
        if (!dp->port[i])
            continue;
        clear_marks(dp->port[i]);
        ok &= check_groups(dp->port[i], &held, out, &sum);
    }
    out->ok = ok && check_pools(dp, &sum);
    return out->ok;
}
