/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage lookup, NORMAL forwarding: learn where the source lives, send the
 * frame to where its destination lives, or to every port of its VLAN when that
 * is a group or not known.  (Flow tables will decide before this.)
 */
#include "dp/dp_priv.h"

/* A copy of p for one more port. */
static void
flood_copy(struct dp *dp, struct dp_port *out, struct pkt *p,
           const struct dp_frame *f)
{
    struct pkt *copy = pkt_clone(p);

    if (dp_unlikely(!copy)) {
        const struct dp_port *in = dp->port[p->in_port];

        counter_add(&out->n.drops[DP_DROP_NO_CLONE], 1);
        counter_add(&out->n.q_drops[out->conf->prio_to_queue[p->prio]], 1);
        if (in->group[p->pg].conf.lossless)
            dp_violation(dp, out, p->prio, DP_DROP_NO_CLONE);
        return;
    }
    dp_act(out->conf, copy, f);
    dp_enqueue(dp, out, copy);
}

/* To every port of the VLAN but the one it came from.  The frame itself goes
 * to the last of them, so that its buffer is there to be copied till then.
 * Ports without an interface are left out: nothing is lost there. */
static void
flood(struct dp *dp, struct dp_port *in, struct pkt *p,
      const struct dp_frame *f)
{
    struct dp_port *last = NULL;
    uint32_t n_copies = 0;

    for (int i = dp_set_next(&dp->up, 0); i >= 0;
         i = dp_set_next(&dp->up, i + 1)) {
        struct dp_port *out = dp->port[i];

        if (out == in || !dp_carries(out->conf, p->vid))
            continue;
        if (last) {
            flood_copy(dp, last, p, f);
            n_copies++;
        }
        last = out;
    }
    if (!last) {
        dp_drop(dp, in, DP_DROP_NO_PORT, p);
        return;
    }
    counter_add(&in->n.copies, n_copies);
    dp_act(last->conf, p, f);
    dp_enqueue(dp, last, p);
}

static inline void
forward(struct dp *dp, struct dp_port *in, struct pkt *p,
        const struct dp_frame *f)
{
    struct dp_port *out = NULL;

    if (!(f->dst >> 40 & 1)) {
        int slot = mactab_lookup(dp->mactab, p->vid, p->data, dp->now_ns);

        if (slot != MACTAB_NO_PORT)
            out = dp->port[slot];
    }
    /* An address that was learned or configured where its VLAN is not
     * carried is as good as unknown. */
    if (dp_unlikely(!out || !dp_carries(out->conf, p->vid))) {
        flood(dp, in, p, f);
    } else if (dp_unlikely(out == in)) {
        dp_drop(dp, in, DP_DROP_NO_PORT, p);
    } else {
        dp_act(out->conf, p, f);
        dp_enqueue(dp, out, p);
    }
}

void
dp_lookup(struct dp *dp, struct dp_port *in, struct dp_batch *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        const struct pkt *p = b->pkt[i];

        mactab_prefetch(dp->mactab, p->vid, p->data);
        mactab_prefetch(dp->mactab, p->vid, p->data + 6);
    }
    for (uint32_t i = 0; i < b->n; i++) {
        struct pkt *p = b->pkt[i];

        mactab_learn(dp->mactab, p->vid, p->data + 6, in->slot, dp->now_ns);
        forward(dp, in, p, &b->frame[i]);
    }
}
