/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage lookup, NORMAL forwarding: learn where the source lives, and
 * find where the destination lives.  A group, or one that is not known, goes
 * to every port of the VLAN.  (Flow tables will decide before this.)
 */
#include "dp/dp_priv.h"

/* The port in a slot that the MAC table named for p, but which does not carry
 * every VLAN, or is not there; null: flood. */
static __attribute__((noinline)) struct dp_port *
where(struct dp *dp, const struct pkt *p, int slot)
{
    struct dp_port *out;

    if (slot == MACTAB_NO_PORT)
        return NULL;
    out = dp->port[slot];
    /* An address that was configured where there is no port, or where its
     * VLAN is not carried, is as good as unknown. */
    if (dp_unlikely(!out) ||
        (!out->all_vlans && !dp_carries(out->conf, p->vid)))
        return NULL;
    return out;
}

void
dp_lookup(struct dp *dp, struct dp_port *in, struct dp_batch *b)
{
    struct dp_port *const *at = dp->carries_all + 1; /* by slot */
    int slot[PKT_BATCH];

    mactab_switch(dp->mactab, b->pkt, b->n, in->slot, dp->now_ns, slot);
    for (uint32_t i = 0, n = b->n; i < n; i++) {
        struct dp_port *out = at[slot[i]];

        b->to[i] = dp_likely(out) ? out : where(dp, b->pkt[i], slot[i]);
    }
}
