/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage act: what the egress port does to the frame's VLAN tag.  The frame's
 * buffer may be shared with other copies, so nothing is edited: the tag is a
 * note in the descriptor that the provider carries out when it sends.
 *
 *   egress           frame's VLAN     leaves
 *   access           its tag          untagged
 *   native-untagged  its tag          untagged
 *   other            0                as it came in, priority tag and all
 *   other            not 0            with a tag of that VLAN; one that has
 *                                     to be put in has the PCP that the frame
 *                                     came with, or else its priority
 */
#include "dp/dp_priv.h"

void
dp_act(const struct dp_port *out, struct pkt *p, struct dp_tag tag)
{
    const struct dp_plan_port *pp = out->conf;
    bool untag =
        pp->vlan_mode == DP_VLAN_ACCESS ||
        (pp->vlan_mode == DP_VLAN_NATIVE_UNTAGGED && p->vid == pp->tag);

    p->tx_skip = 0;
    p->tx_tag = false;
    if (untag) {
        p->tx_skip = tag.tpid ? ETH_VLAN_LEN : 0;
        return;
    }
    if ((tag.tci & VLAN_VID_MASK) == p->vid)
        return;
    p->tx_tag = true;
    if (tag.tpid) {
        p->tx_skip = ETH_VLAN_LEN;
        p->tx_tpid = tag.tpid;
        p->tx_tci = (uint16_t) ((tag.tci & ~VLAN_VID_MASK) | p->vid);
    } else {
        p->tx_tpid = ETH_T_VLAN;
        p->tx_tci = (uint16_t) (p->prio << VLAN_PCP_SHIFT | p->vid);
    }
}
