/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage lookup, NORMAL forwarding: learn where the source lives, and
 * find where the destination lives.  A group, or one that is not known, goes
 * to every port of the VLAN.  (Flow tables will decide before this.)
 */
#include "dp/dp_priv.h"

static inline struct dp_port *
where(struct dp *dp, const struct pkt *p)
{
    struct dp_port *out;
    int slot;

    if (eth_is_group(p->data))
        return NULL;
    slot = mactab_lookup(dp->mactab, p->vid, p->data, dp->now_ns);
    if (slot == MACTAB_NO_PORT)
        return NULL;
    out = dp->port[slot];
    /* An address that was configured where there is no port, or where its
     * VLAN is not carried, is as good as unknown. */
    if (dp_unlikely(!out) ||
        (!out->all_vlans && !dp_carries(out->conf, p->vid)))
        return NULL;
    __builtin_prefetch(&out->queue[out->prio_to_queue[p->prio]], 1);
    return out;
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
        const struct pkt *p = b->pkt[i];

        mactab_learn(dp->mactab, p->vid, p->data + 6, in->slot, dp->now_ns);
        b->to[i] = where(dp, p);
    }
}
