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

/* In the first eight octets as a number: the group bit of the source. */
#define SOURCE_IS_GROUP 0x100
/* A frame that is read without asking after its length. */
#define PLAIN_MIN_LEN (ETH_HDR_LEN + 6)
/* The group bit of the destination too. */
#define GROUP_BITS (UINT64_C(1) << 56 | SOURCE_IS_GROUP)
/* What 802.1Q lets no VLAN have. */
#define VLAN_VID_RESERVED 4095

/* Eight octets from `ofs` on as a number, first octet highest; those that lie
 * behind the end of the frame are zero. */
static inline uint64_t
load_be64(const struct pkt *p, uint32_t ofs)
{
    uint64_t v = 0;

    if (dp_likely(p->len >= ofs + 8))
        memcpy(&v, p->data + ofs, 8);
    else if (p->len > ofs)
        memcpy(&v, p->data + ofs, p->len - ofs);
    return be64toh(v);
}

static inline uint16_t
load_be16(const uint8_t *from)
{
    uint16_t v;

    memcpy(&v, from, 2);
    return be16toh(v);
}

static inline bool
is_tag(uint16_t type)
{
    return type == ETH_T_VLAN || type == ETH_T_SVLAN;
}

/* Consumes p if it is MAC control. */
static __attribute__((noinline)) bool
take_macctl(struct dp *dp, struct dp_port *in, struct pkt *p)
{
    struct macctl m;

    if (macctl_decode(p->data, p->len, &m) == MACCTL_NONE)
        return false;
    dp_pause_rx(dp, in, &m);
    pkt_free(p);
    return true;
}

/* The priority of a frame on a port that trusts DSCP; `prio`, by its PCP or
 * the port's default, when it is no IP. */
static __attribute__((noinline)) uint8_t
dscp_prio(const struct dp_port *in, const struct pkt *p, uint8_t prio)
{
    uint8_t ds;

    return eth_find_ds(p->data, p->len, &ds) ? in->conf->dscp_to_prio[ds >> 2]
                                             : prio;
}

/* Finds priority, VLAN and group.  Returns the reason to drop the frame, or
 * DP_N_DROPS to keep it. */
static inline enum dp_drop
classify(const struct dp *dp, const struct dp_port *in, struct pkt *p,
         struct dp_tag tag)
{
    uint64_t w = load_be64(p, 0), dst = w >> 16;
    int vid = tag.tci & VLAN_VID_MASK;
    uint8_t prio = in->untagged.prio;

    if (dp_unlikely(dst >> 4 == UINT64_C(0x0180c200000)) &&
        (!dp->plan->forward_reserved || (dst & 0xf) == 1))
        return DP_DROP_RESERVED;
    if (dp_unlikely(w & SOURCE_IS_GROUP))
        return DP_DROP_SOURCE;
    if (dp_unlikely(vid == VLAN_VID_RESERVED))
        return DP_DROP_VLAN;
    if (!in->all_vlans)
        vid = dp_ingress_vlan(in->conf, (uint16_t) vid);
    if (dp_unlikely(vid < 0))
        return DP_DROP_VLAN;
    if (tag.tpid)
        prio = in->pcp_to_class[tag.tci >> VLAN_PCP_SHIFT].prio;
    if (dp_unlikely(in->trust_dscp))
        prio = dscp_prio(in, p, prio);
    p->vid = (uint16_t) vid;
    p->prio = prio;
    p->pg = in->prio_to_pg[prio];
    return DP_N_DROPS;
}

/* Reads the outer tag.  False when p was MAC control and is consumed, or when
 * it is too short for what it says it is: *reason then says which. */
static inline bool
read_tag(struct dp *dp, struct dp_port *in, struct pkt *p, struct dp_tag *tag,
         enum dp_drop *reason)
{
    uint64_t w = load_be64(p, 12);
    uint16_t type = (uint16_t) (w >> 48);

    *tag = (struct dp_tag){0};
    *reason = DP_DROP_RUNT;
    if (is_tag(type)) {
        /* A tag that is cut: the next bridge would read a VLAN from the
         * padding that we did not see. */
        if (dp_unlikely(p->len < ETH_HDR_LEN + ETH_VLAN_LEN))
            return false;
        tag->tpid = type;
        tag->tci = (uint16_t) (w >> 32);
        type = (uint16_t) (w >> 16);
        if (dp_likely(!is_tag(type) && type != ETH_T_MACCTL))
            return true;
    } else if (dp_likely(type != ETH_T_MACCTL)) {
        return p->len >= ETH_HDR_LEN;
    }
    *reason = DP_N_DROPS;
    return !take_macctl(dp, in, p);
}

/* What later stages need of a frame that is kept, and for its group. */
static inline void
keep(const struct dp_port *in, struct dp_batch *b, struct pkt *p)
{
    uint32_t len = p->len;

    p->in_port = in->slot;
    p->charge_bytes = len;
    p->wire_bytes = len < PKT_MIN_LEN ? PKT_MIN_LEN : len;
    b->pg[p->pg] += DP_PG_FRAME + len;
}

/* The class of a frame whose IP header, if it is one, begins at l3.  False:
 * look closer. */
static inline bool
classify_dscp(const struct dp_port *in, const struct pkt *p, uint32_t type,
              uint32_t l3, struct dp_class *class)
{
    const uint8_t *ip = p->data + l3;
    uint32_t ds;

    if (dp_likely(type == ETH_T_IP4)) {
        if (dp_unlikely(p->len < l3 + 20 || ip[0] != 0x45))
            return false;
        ds = ip[1];
    } else if (type == ETH_T_IP6) {
        ds = load_be16(ip);
        if (dp_unlikely(p->len < l3 + ETH_IP6_HDR_LEN || ds >> 12 != 6))
            return false;
        ds = ds >> 4 & 0xff;
    } else {
        return true; /* by the tag, or the port */
    }
    class->prio = in->conf->dscp_to_prio[ds >> 2];
    class->pg = in->prio_to_pg[class->prio];
    return true;
}

/* The case without trouble, made for nearly every frame: unicast, no second
 * tag, no MAC control, on a port of all VLANs, of `least` octets or more.
 * False: look closer. */
static inline __attribute__((always_inline)) bool
classify_plain(const struct dp_port *in, struct pkt *p, uint32_t least,
               bool by_dscp, struct dp_tag *tag)
{
    const uint8_t *frame = p->data;
    struct dp_class class = in->untagged;
    uint32_t type, tci = 0;
    uint64_t macs;

    if (dp_unlikely(p->len < least))
        return false;
    memcpy(&macs, frame, 8);
    if (dp_unlikely(macs & htobe64(GROUP_BITS)))
        return false;
    type = load_be16(frame + 12);
    tag->tpid = (uint16_t) (type == ETH_T_VLAN ? ETH_T_VLAN : 0);
    if (type == ETH_T_VLAN) {
        tci = load_be16(frame + 14);
        type = load_be16(frame + 16);
        class = in->pcp_to_class[tci >> VLAN_PCP_SHIFT];
    }
    tag->tci = (uint16_t) tci;
    tci &= VLAN_VID_MASK;
    /* From 0x8100 to 0x88a8 there are types that are none of ours, too. */
    if (dp_unlikely(type >= ETH_T_VLAN)) {
        if (type != ETH_T_IP6)
            return false;
    }
    if (dp_unlikely(tci == VLAN_VID_RESERVED))
        return false;
    if (by_dscp &&
        !classify_dscp(in, p, type,
                       tag->tpid ? ETH_HDR_LEN + ETH_VLAN_LEN : ETH_HDR_LEN,
                       &class))
        return false;
    p->vid = (uint16_t) tci;
    p->prio = class.prio;
    p->pg = class.pg;
    return true;
}

/* Takes frames from the i-th on, as the kept-th and so on of the batch, till
 * one has to be looked at more closely; returns how many. */
static inline __attribute__((always_inline)) uint32_t
take(const struct dp_port *in, struct dp_batch *b, uint32_t i, uint32_t kept,
     bool by_dscp)
{
    uint32_t least = in->all_vlans ? PLAIN_MIN_LEN : UINT32_MAX;
    struct pkt **from = b->pkt + i, **end = b->pkt + b->n, **at = from;
    struct pkt **to = b->pkt + kept;
    struct dp_tag *tag = b->tag + kept;

    for (; at < end; at++, tag++) {
        struct pkt *p = *at;

        if (dp_unlikely(!classify_plain(in, p, least, by_dscp, tag)))
            break;
        *to++ = p;
        keep(in, b, p);
    }
    return (uint32_t) (at - from);
}

static __attribute__((noinline)) uint32_t
take_plain(const struct dp_port *in, struct dp_batch *b, uint32_t i,
           uint32_t kept)
{
    return take(in, b, i, kept, false);
}

static __attribute__((noinline)) uint32_t
take_by_dscp(const struct dp_port *in, struct dp_batch *b, uint32_t i,
             uint32_t kept)
{
    return take(in, b, i, kept, true);
}

void
dp_parse(struct dp *dp, struct dp_port *in, struct dp_batch *b)
{
    uint32_t n_data = 0, n_kept = 0;
    uint64_t bytes = 0;

    memset(b->pg, 0, sizeof(b->pg));
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t n = in->trust_dscp ? take_by_dscp(in, b, i, n_kept)
                                    : take_plain(in, b, i, n_kept);
        enum dp_drop reason = DP_N_DROPS;
        struct dp_tag tag;
        struct pkt *p;

        n_kept += n;
        i += n;
        if (dp_likely(i == b->n))
            break;
        p = b->pkt[i];
        if (dp_likely(read_tag(dp, in, p, &tag, &reason)))
            reason = classify(dp, in, p, tag);
        else if (reason == DP_N_DROPS)
            continue; /* consumed */
        if (dp_likely(reason == DP_N_DROPS) ||
            dp_of_keeps(dp, in, p, tag, reason)) {
            b->tag[n_kept] = tag;
            b->pkt[n_kept++] = p;
            keep(in, b, p);
            continue;
        }
        n_data++;
        bytes += p->len;
        dp_drop(dp, in, reason, p);
    }
    b->n = n_kept;
    for (int g = 0; g < N_PG; g++)
        bytes += (uint32_t) b->pg[g];
    counter_add(&in->n.rx_frames, n_data + n_kept);
    counter_add(&in->n.rx_bytes, bytes);
}
