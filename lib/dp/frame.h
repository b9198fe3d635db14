/* SPDX-License-Identifier: Apache-2.0
 *
 * What the stages do for every frame, and do in place: part of dp_priv.h,
 * which includes it.  dp thread.
 */
#ifndef DP_FRAME_H
#define DP_FRAME_H

static inline void
dp_wake_at(struct dp *dp, uint64_t when_ns)
{
    if (when_ns < dp->wake_ns)
        dp->wake_ns = when_ns;
}

/* Follows a group's XOFF state: called where that may have changed. */
static inline void
dp_note_group(struct dp *dp, struct dp_port *port, int pg)
{
    if (dp_unlikely(port->group[pg].xoff != (port->xoff >> pg & 1)))
        dp_group_changed(dp, port, pg);
}

/* p, of the batch, will not be charged: it is as good as gone. */
static inline void
dp_forgo(struct dp_batch *b, struct pkt *p)
{
    b->pg[p->pg] -= DP_PG_FRAME + p->charge_bytes;
    p->charge_bytes = 0;
    p->in_port = PKT_NO_PORT;
}

/* The pool that a group shares. */
static inline struct buf_pool *
dp_group_pool(struct dp *dp, const struct buf_group *g)
{
    return &dp->buf[g->conf.pool];
}

/* Takes the charge of a frame, an owner, off its group.  n_free: buffers that
 * are free without it. */
static inline void
dp_uncharge(struct dp *dp, const struct pkt *o, uint32_t n_free)
{
    struct dp_port *in = dp->port[o->in_port];
    struct buf_group *g = &in->group[o->pg];

    /* The buffer is about to be free, and counts as such. */
    buf_release(dp_group_pool(dp, g), g, o->charge_bytes, n_free + 1);
    if (dp_unlikely(in->xoff)) /* a release never makes XOFF */
        dp_note_group(dp, in, o->pg);
}

/* Gives a frame, or a copy of one, back; with the last the charge goes. */
static inline void
dp_release(struct dp *dp, struct pkt *p, uint32_t n_free)
{
    const struct pkt *o = p->owner;

    if (pkt_is_last(p) && o->in_port != PKT_NO_PORT)
        dp_uncharge(dp, o, n_free);
    pkt_free(p);
}

/* Frames in the queues of a port and on its cable. */
static inline uint64_t
dp_port_held(const struct dp_port *port)
{
    uint64_t n = port->cable ? port->cable->n_data : 0;

    for (int q = 0; q < N_QUEUE; q++)
        n += port->queue[q].frames;
    return n;
}

/* Free buffers, for buf.h: none while descriptors of flood copies are low. */
static inline uint32_t
dp_room(const struct dp *dp)
{
    bool low = pkt_pool_n_free_clones(dp->pool) < dp->low_clones;

    return dp_unlikely(low) ? 0 : pkt_pool_n_free(dp->pool);
}

/* Octets that p occupies on the wire of its egress port, padding included.
 * Queues, schedulers and shapers all count in these. */
static inline uint32_t
dp_wire_len(const struct pkt *p)
{
    return p->wire_bytes;
}

/* To be called by whoever changes p's length, or what is noted of its tag. */
static inline void
dp_measure(struct pkt *p)
{
    uint32_t len = pkt_tx_len(p);

    p->wire_bytes = len < PKT_MIN_LEN ? PKT_MIN_LEN : len;
}

/* Whether the port carries the VLAN: as in Open vSwitch, where a native VLAN
 * is always carried. */
static inline bool
dp_carries(const struct dp_plan_port *pp, uint16_t vid)
{
    if (pp->vlan_mode == DP_VLAN_ACCESS)
        return vid == pp->tag;
    if (pp->all_trunks || (pp->trunks[vid >> 6] >> (vid & 63) & 1))
        return true;
    return pp->vlan_mode != DP_VLAN_TRUNK && vid == pp->tag;
}

/* The VLAN that a frame with tag VID `vid` (0: none) travels in; -1: it may
 * not enter here. */
static inline int
dp_ingress_vlan(const struct dp_plan_port *pp, uint16_t vid)
{
    if (pp->vlan_mode == DP_VLAN_ACCESS)
        return vid ? -1 : pp->tag;
    if (!vid && pp->vlan_mode != DP_VLAN_TRUNK)
        return pp->tag;
    return dp_carries(pp, vid) ? vid : -1;
}

/* Stage flow, see of_run.c: one branch a batch while all goes to NORMAL. */
static inline void
dp_flow(struct dp *dp, struct dp_port *in, struct dp_batch *b)
{
    if (dp_unlikely(!dp->is_normal))
        dp_of_run(dp, in, b);
    else if (dp->counts_normal)
        dp_of_count(dp, b);
}

#endif
