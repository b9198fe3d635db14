/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading the headers of a frame: see key.h.  Every header is first checked to
 * be whole, then read at constant offsets.
 */
#include "flow/key.h"

#include "wire/eth.h"

#include <string.h>

#define LLC_LEN     8  /* of an LLC header with SNAP */
#define ARP_LEN     28 /* Ethernet and IPv4 */
#define IP4_LEN     20
#define IP6_LEN     40
#define MPLS_LEN    4
#define IP4_MF      0x2000
#define IP4_OFFSET  0x1fff
#define IP6_MAX_EXT 16 /* extension headers that are followed */

#define IP6_HOP    0
#define IP6_ROUTER 43
#define IP6_FRAG   44
#define IP6_ESP    50
#define IP6_AUTH   51
#define IP6_NONEXT 59
#define IP6_DEST   60

#define ND_SOLICIT   135
#define ND_ADVERTISE 136
#define ND_LEN       24 /* ICMPv6 header and target */
#define ND_SLL       1
#define ND_TLL       2

/* What is being read. */
struct reader {
    const uint8_t *p;    /* the frame */
    uint32_t n;          /* its octets */
    struct ofp_key *k;   /* to be filled */
    struct flow_view *v; /* to be filled */
};

static inline uint16_t
be16(const uint8_t *p)
{
    return (uint16_t) (p[0] << 8 | p[1]);
}

static inline uint32_t
be32(const uint8_t *p)
{
    return (uint32_t) be16(p) << 16 | be16(p + 2);
}

static inline bool
has(const struct reader *r, uint32_t ofs, uint32_t len)
{
    return ofs + len <= r->n;
}

/* --- above IP ----------------------------------------------------------- */

/* A neighbour discovery message: its target, and the address in the option
 * that belongs to its kind. */
static void
read_nd(struct reader *r, uint32_t l4, uint32_t end)
{
    bool solicits = r->p[l4] == ND_SOLICIT;
    uint8_t wanted = solicits ? ND_SLL : ND_TLL;
    uint32_t at = l4 + ND_LEN;

    if (at > end)
        return;
    memcpy(r->k->nd_target, r->p + l4 + 8, 16);
    while (at + 8 <= end && r->p[at + 1]) {
        if (r->p[at] == wanted) {
            memcpy(solicits ? r->k->ha_src : r->k->ha_dst, r->p + at + 2, 6);
            r->v->nd_option = (uint16_t) (at + 2);
            return;
        }
        at += r->p[at + 1] * 8u;
    }
}

/* The header behind IP, that begins at l4 and is not beyond end. */
static void
read_l4(struct reader *r, uint8_t proto, uint32_t l4, uint32_t end)
{
    const uint8_t *p = r->p + l4;
    uint32_t need;

    switch (proto) {
    case IP_P_TCP:
        need = 20;
        break;
    case IP_P_UDP:
        need = 8;
        break;
    case IP_P_SCTP:
        need = 12;
        break;
    case IP_P_ICMP:
    case IP_P_ICMP6:
        if ((proto == IP_P_ICMP6) != (r->v->l3_is == FLOW_L3_IP6))
            return;
        need = 4;
        break;
    default:
        return;
    }
    if (l4 + need > end)
        return;
    r->v->l4 = (uint16_t) l4;
    r->v->l4_proto = proto;
    if (proto != IP_P_ICMP && proto != IP_P_ICMP6) {
        r->k->tp_src = be16(p);
        r->k->tp_dst = be16(p + 2);
        return;
    }
    r->k->tp_src = p[0];
    r->k->tp_dst = p[1];
    if (proto == IP_P_ICMP6 && p[1] == 0 &&
        (p[0] == ND_SOLICIT || p[0] == ND_ADVERTISE))
        read_nd(r, l4, end);
}

/* --- IP ------------------------------------------------------------------ */

/* Where a datagram ends that claims len octets from l3 on: padding behind it
 * is none of it.  A length of less than a header, as segmentation offload
 * leaves it, says nothing. */
static uint32_t
datagram_end(const struct reader *r, uint32_t len, uint32_t min)
{
    uint32_t l3 = r->v->l3;

    return len < min || l3 + len > r->n ? r->n : l3 + len;
}

static void
read_ip4(struct reader *r)
{
    uint32_t l3 = r->v->l3, header, end;
    const uint8_t *p = r->p + l3;
    uint16_t frag;

    if (!has(r, l3, IP4_LEN))
        return;
    header = (p[0] & 15u) * 4;
    if (p[0] >> 4 != 4 || header < IP4_LEN || !has(r, l3, header))
        return;
    r->v->l3_is = FLOW_L3_IP4;
    end = datagram_end(r, be16(p + 2), header);
    frag = be16(p + 6);
    r->v->end = (uint16_t) end;
    r->v->is_fragment = (frag & (IP4_MF | IP4_OFFSET)) != 0;
    r->v->proto = (uint16_t) (l3 + 9);
    r->k->ip_dscp = p[1] >> 2;
    r->k->ip_ecn = p[1] & 3;
    r->k->ip_proto = p[9];
    r->k->ipv4_src = be32(p + 12);
    r->k->ipv4_dst = be32(p + 16);
    if (!(frag & IP4_OFFSET))
        read_l4(r, p[9], l3 + header, end);
}

/* The place of an extension header in the order that RFC 2460 recommends; a
 * destination header has two. */
static int
ext_rank(uint8_t type, int last)
{
    switch (type) {
    case IP6_HOP:
        return 0;
    case IP6_ROUTER:
        return 2;
    case IP6_FRAG:
        return 3;
    case IP6_AUTH:
        return 4;
    case IP6_ESP:
        return 5;
    default: /* IP6_DEST */
        return last < 1 ? 1 : 6;
    }
}

static uint16_t
ext_flag(uint8_t type)
{
    switch (type) {
    case IP6_HOP:
        return OFPIEH_HOP;
    case IP6_ROUTER:
        return OFPIEH_ROUTER;
    case IP6_FRAG:
        return OFPIEH_FRAG;
    case IP6_ESP:
        return OFPIEH_ESP;
    case IP6_AUTH:
        return OFPIEH_AUTH;
    case IP6_DEST:
        return OFPIEH_DEST;
    case IP6_NONEXT:
        return OFPIEH_NONEXT;
    default:
        return 0;
    }
}

/* A walk along the extension headers. */
struct ext_walk {
    uint16_t flags;   /* OFPIEH_* so far */
    int last;         /* rank of the last one; -1: none */
    int n_dest;       /* destination headers */
    bool later_piece; /* behind a fragment header with an offset */
};

/* Notes a header of the kind. */
static void
note_ext(struct ext_walk *w, uint8_t type)
{
    uint16_t flag = ext_flag(type);
    int rank = ext_rank(type, w->last);
    bool again = w->flags & flag;

    if (type == IP6_DEST)
        again = ++w->n_dest > 2;
    if (again)
        w->flags |= OFPIEH_UNREP;
    if (rank < w->last)
        w->flags |= OFPIEH_UNSEQ;
    w->flags |= flag;
    w->last = rank;
}

/* Follows the headers from *at on; *proto: octet that says what is there.
 * False when one of them is cut, or nothing behind it can be read. */
static bool
walk_ext(struct reader *r, uint32_t *at, uint32_t *proto, uint32_t end,
         struct ext_walk *w)
{
    for (int i = 0; i < IP6_MAX_EXT; i++) {
        uint8_t type = r->p[*proto];
        const uint8_t *p = r->p + *at;
        uint32_t len;

        if (type == IP6_NONEXT)
            w->flags |= OFPIEH_NONEXT;
        if (type == IP6_NONEXT || !ext_flag(type))
            return type != IP6_NONEXT;
        note_ext(w, type);
        if (type == IP6_ESP || *at + 8 > end)
            return false;
        len = type == IP6_AUTH ? (p[1] + 2u) * 4 : (p[1] + 1u) * 8;
        if (type == IP6_FRAG) {
            len = 8;
            r->v->is_fragment = true;
            w->later_piece = (be16(p + 2) & 0xfff8) != 0;
        }
        if (*at + len > end)
            return false;
        *proto = *at;
        *at += len;
        if (w->later_piece)
            return false;
    }
    return false;
}

static void
read_ip6(struct reader *r)
{
    uint32_t l3 = r->v->l3, at = l3 + IP6_LEN, proto = l3 + 6, end, first;
    struct ext_walk w = {.last = -1};
    const uint8_t *p = r->p + l3;
    bool whole;

    if (!has(r, l3, IP6_LEN) || p[0] >> 4 != 6)
        return;
    first = be32(p);
    r->v->l3_is = FLOW_L3_IP6;
    end = datagram_end(r, IP6_LEN + be16(p + 4), IP6_LEN + 1);
    if (be16(p + 4) == 0 && p[6] == IP6_NONEXT)
        end = at;
    r->v->end = (uint16_t) end;
    r->k->ip_dscp = (first >> 22) & 63;
    r->k->ip_ecn = (first >> 20) & 3;
    r->k->ipv6_flabel = first & 0xfffff;
    memcpy(r->k->ipv6_src, p + 8, 16);
    memcpy(r->k->ipv6_dst, p + 24, 16);
    whole = walk_ext(r, &at, &proto, end, &w);
    r->v->proto = (uint16_t) proto;
    r->k->ip_proto = r->p[proto];
    r->k->ipv6_exthdr = w.flags;
    if (whole)
        read_l4(r, r->p[proto], at, end);
}

/* --- below IP ------------------------------------------------------------ */

static void
read_arp(struct reader *r)
{
    static const uint8_t ether_ip4[6] = {0, 1, 8, 0, 6, 4};
    const uint8_t *p = r->p + r->v->l3;

    if (!has(r, r->v->l3, ARP_LEN) || memcmp(p, ether_ip4, 6) != 0)
        return;
    r->v->l3_is = FLOW_L3_ARP;
    r->k->tp_src = be16(p + 6);
    memcpy(r->k->ha_src, p + 8, 6);
    r->k->ipv4_src = be32(p + 14);
    memcpy(r->k->ha_dst, p + 18, 6);
    r->k->ipv4_dst = be32(p + 24);
}

static void
read_mpls(struct reader *r)
{
    uint32_t entry;

    if (!has(r, r->v->l3, MPLS_LEN))
        return;
    entry = be32(r->p + r->v->l3);
    r->v->l3_is = FLOW_L3_MPLS;
    r->k->mpls_label = entry >> 12;
    r->k->mpls_tc = entry >> 9 & 7;
    r->k->mpls_bos = entry >> 8 & 1;
}

static void
read_pbb(struct reader *r)
{
    if (!has(r, r->v->l3, FLOW_PBB_LEN - 2))
        return;
    r->v->l3_is = FLOW_L3_PBB;
    r->k->pbb_isid = be32(r->p + r->v->l3) & 0xffffff;
}

/* Steps over the VLAN tags; the outer one is in the key. */
static uint16_t
read_tags(struct reader *r)
{
    uint32_t at = 12;
    uint16_t type = be16(r->p + at);

    while ((type == ETH_T_VLAN || type == ETH_T_SVLAN) &&
           has(r, at, ETH_VLAN_LEN + 2) && r->v->n_tags < UINT8_MAX) {
        if (r->v->n_tags++ == 0) {
            uint16_t tci = be16(r->p + at + 2);

            r->k->vlan_vid = (tci & VLAN_VID_MASK) | OFP_VID_PRESENT;
            r->k->vlan_pcp = (uint8_t) (tci >> VLAN_PCP_SHIFT);
        }
        at += ETH_VLAN_LEN;
        type = be16(r->p + at);
    }
    r->v->type = (uint16_t) at;
    r->v->l3 = (uint16_t) (at + 2);
    return type;
}

/* The type of a frame whose field is a length: that of SNAP, if it is. */
static uint16_t
read_llc(struct reader *r)
{
    static const uint8_t snap[6] = {0xaa, 0xaa, 3, 0, 0, 0};
    uint32_t at = r->v->l3;
    uint16_t type;

    if (!has(r, at, LLC_LEN) || memcmp(r->p + at, snap, 6) != 0)
        return FLOW_T_LENGTH;
    type = be16(r->p + at + 6);
    if (type <= FLOW_T_LENGTH)
        return FLOW_T_LENGTH;
    r->v->type = (uint16_t) (at + 6);
    r->v->l3 = (uint16_t) (at + LLC_LEN);
    return type;
}

void
flow_key_extract(const uint8_t *frame, uint32_t n, uint32_t in_port,
                 struct ofp_key *k, struct flow_view *v)
{
    struct reader r = {frame, n, k, v};
    uint16_t type;

    memset(k, 0, sizeof(*k));
    memset(v, 0, sizeof(*v));
    k->in_port = in_port;
    k->in_phy_port = in_port;
    memcpy(k->eth_dst, frame, 6);
    memcpy(k->eth_src, frame + 6, 6);
    type = read_tags(&r);
    if (type <= FLOW_T_LENGTH)
        type = read_llc(&r);
    k->eth_type = type;
    switch (type) {
    case ETH_T_IP4:
        read_ip4(&r);
        break;
    case ETH_T_IP6:
        read_ip6(&r);
        break;
    case FLOW_T_ARP:
        read_arp(&r);
        break;
    case FLOW_T_MPLS:
    case FLOW_T_MPLS_M:
        read_mpls(&r);
        break;
    case FLOW_T_PBB:
        read_pbb(&r);
        break;
    default:
        break;
    }
}
