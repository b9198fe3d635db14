/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage act: what the egress port does to the frame's VLAN tag, and to its
 * DSCP.  The frame's buffer may be shared with other copies, so nothing is
 * edited: both are notes in the descriptor that the provider carries out when
 * it sends.
 *
 *   egress           frame's VLAN     leaves
 *   access           its tag          untagged
 *   native-untagged  its tag          untagged
 *   other            0                as it came in, priority tag and all
 *   other            not 0            with a tag of that VLAN
 *
 * A tag that is there keeps its PCP, unless the port rewrites the PCP of the
 * frame's priority; one that has to be put in has the PCP that is rewritten
 * to, or that the frame came with, or else its priority.  What leaves without
 * a VLAN leaves with a priority tag, or without, if the port says so.
 */
#include "dp/dp_priv.h"

static uint16_t
egress_pcp(const struct dp_plan_port *pp, const struct pkt *p,
           struct dp_tag tag)
{
    if (pp->rewrite_pcp >> p->prio & 1)
        return pp->prio_to_pcp[p->prio];
    return tag.tpid ? (uint16_t) (tag.tci >> VLAN_PCP_SHIFT) : p->prio;
}

/* Whether a frame that leaves without a VLAN has a tag.  `keeps`: it came
 * with one, and the port does not untag it. */
static bool
has_priority_tag(const struct dp_plan_port *pp, bool keeps, uint16_t pcp)
{
    switch (pp->prio_tags) {
    case DP_PRIO_TAGS_KEEP:
        return keeps;
    case DP_PRIO_TAGS_NEVER:
        return false;
    case DP_PRIO_TAGS_NONZERO:
        return pcp != 0;
    case DP_PRIO_TAGS_ALWAYS:
        break;
    }
    return true;
}

void
dp_act(const struct dp_port *out, struct pkt *p, struct dp_tag tag)
{
    const struct dp_plan_port *pp = out->conf;
    bool untag =
        pp->vlan_mode == DP_VLAN_ACCESS ||
        (pp->vlan_mode == DP_VLAN_NATIVE_UNTAGGED && p->vid == pp->tag);
    uint16_t vid = untag ? 0 : p->vid;
    uint16_t pcp = egress_pcp(pp, p, tag);
    uint16_t tci =
        (uint16_t) (pcp << VLAN_PCP_SHIFT | (tag.tci & VLAN_DEI) | vid);

    dp_rewrite_dscp(pp, p);
    p->tx_tag = vid || has_priority_tag(pp, tag.tpid && !untag, pcp);
    if (p->tx_tag && tag.tpid && tci == tag.tci) {
        p->tx_tag = false; /* it is there */
        p->tx_skip = 0;
    } else {
        p->tx_skip = tag.tpid ? ETH_VLAN_LEN : 0;
        p->tx_tpid = tag.tpid ? tag.tpid : ETH_T_VLAN;
        p->tx_tci = tci;
    }
    dp_measure(p);
}
