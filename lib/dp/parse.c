/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage parse: MAC control is taken out (never a data frame, whatever state
 * it is in), frames that may not enter are dropped, and the rest get a VLAN, a
 * priority and from it an ingress group.
 *
 * VLANs are those of Open vSwitch: the outer tag decides, whether its TPID is
 * 0x8100 or 0x88a8, and tags behind it are payload.  VLAN 0 in a tag is "no
 * VLAN, but take its PCP".
 */
#include "dp/dp_priv.h"

#include <endian.h>

/* The caller has checked that eight octets are there. */
static inline uint64_t
load_be64(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return be64toh(v);
}

static inline uint16_t
load_be16(const uint8_t *p)
{
    return (uint16_t) (p[0] << 8 | p[1]);
}

static inline bool
is_tag(uint16_t type)
{
    return type == ETH_T_VLAN || type == ETH_T_SVLAN;
}

/* Consumes p if it is MAC control. */
static bool
take_macctl(struct dp *dp, struct dp_port *in, struct pkt *p)
{
    struct macctl m;

    if (macctl_decode(p->data, p->len, &m) == MACCTL_NONE)
        return false;
    dp_pause_rx(dp, in, &m);
    pkt_free(p);
    return true;
}

/* The VLAN that a frame with tag VID `vid` (0: none) travels in; -1: it may
 * not enter here. */
static inline int
ingress_vlan(const struct dp_plan_port *pp, uint16_t vid)
{
    if (pp->vlan_mode == DP_VLAN_ACCESS)
        return vid ? -1 : pp->tag;
    if (!vid && pp->vlan_mode != DP_VLAN_TRUNK)
        return pp->tag;
    return dp_carries(pp, vid) ? vid : -1;
}

/* Fills in what later stages need of p.  Returns the reason to drop it, or
 * DP_N_DROPS to keep it. */
static inline enum dp_drop
classify(const struct dp *dp, const struct dp_plan_port *pp, struct pkt *p,
         struct dp_frame *f)
{
    uint8_t prio = pp->default_prio;
    uint16_t vid = 0;
    int vlan;

    if (dp_unlikely(f->dst >> 4 == UINT64_C(0x0180c200000)) &&
        (!dp->plan->forward_reserved || (f->dst & 0xf) == 1))
        return DP_DROP_RESERVED;
    if (f->tpid) {
        vid = f->tci & VLAN_VID_MASK;
        if (pp->trust == DP_TRUST_PCP)
            prio = pp->pcp_to_prio[f->tci >> VLAN_PCP_SHIFT];
    }
    vlan = ingress_vlan(pp, vid);
    if (dp_unlikely(vlan < 0))
        return DP_DROP_VLAN;
    p->vid = (uint16_t) vlan;
    p->prio = prio;
    p->pg = pp->prio_to_pg[prio];
    return DP_N_DROPS;
}

void
dp_parse(struct dp *dp, struct dp_port *in, struct dp_batch *b)
{
    const struct dp_plan_port *pp = in->conf;
    uint32_t n_data = 0, n_kept = 0;
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < b->n; i++) {
        struct pkt *p = b->pkt[i];
        struct dp_frame *f = &b->frame[n_kept];
        enum dp_drop reason = DP_DROP_RUNT;

        if (dp_likely(p->len >= ETH_HDR_LEN)) {
            uint16_t type = load_be16(p->data + 12);

            f->dst = load_be64(p->data) >> 16;
            f->tpid = 0;
            f->tci = 0;
            if (is_tag(type) && p->len >= ETH_HDR_LEN + ETH_VLAN_LEN) {
                f->tpid = type;
                f->tci = load_be16(p->data + 14);
                type = load_be16(p->data + 16);
                if (dp_unlikely(is_tag(type) || type == ETH_T_MACCTL) &&
                    take_macctl(dp, in, p))
                    continue;
                reason = classify(dp, pp, p, f);
            } else if (dp_unlikely(type == ETH_T_MACCTL)) {
                if (take_macctl(dp, in, p))
                    continue;
            } else if (!is_tag(type)) {
                reason = classify(dp, pp, p, f);
            }
            /* Else a tag that is cut: a runt.  The next bridge would read
             * a VLAN from its padding that we did not see. */
        }
        n_data++;
        bytes += p->len;
        if (dp_unlikely(reason != DP_N_DROPS)) {
            dp_drop(dp, in, reason, p);
            continue;
        }
        b->pkt[n_kept++] = p;
    }
    b->n = n_kept;
    counter_add(&in->n.rx_frames, n_data);
    counter_add(&in->n.rx_bytes, bytes);
}
