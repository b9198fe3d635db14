/* SPDX-License-Identifier: Apache-2.0
 *
 * Fields, keys and matches: see match.h.
 */
#include "ofp/match.h"

#include <stddef.h>
#include <string.h>

#define KEY(member)                          \
    .ofs = offsetof(struct ofp_key, member), \
    .key_bytes = sizeof(((struct ofp_key *) 0)->member)
#define NUM(field, text, member, bytes, bits, mask, set) \
    [field] = {.name = text,                             \
               KEY(member),                              \
               .n_bytes = bytes,                         \
               .n_bits = bits,                           \
               .maskable = mask,                         \
               .settable = set}
#define ADDR(field, text, member, bytes, mask) \
    [field] = {.name = text,                   \
               KEY(member),                    \
               .n_bytes = bytes,               \
               .n_bits = bytes * 8,            \
               .is_octets = true,              \
               .maskable = mask,               \
               .settable = true}

/* Bits and masks: table 12 of the specification. */
const struct ofp_field_info ofp_fields[OFP_N_FIELDS] = {
    NUM(OFP_IN_PORT, "in_port", in_port, 4, 32, false, false),
    NUM(OFP_IN_PHY_PORT, "in_phy_port", in_phy_port, 4, 32, false, false),
    NUM(OFP_METADATA, "metadata", metadata, 8, 64, true, false),
    ADDR(OFP_ETH_DST, "eth_dst", eth_dst, 6, true),
    ADDR(OFP_ETH_SRC, "eth_src", eth_src, 6, true),
    NUM(OFP_ETH_TYPE, "eth_type", eth_type, 2, 16, false, true),
    NUM(OFP_VLAN_VID, "vlan_vid", vlan_vid, 2, 13, true, true),
    NUM(OFP_VLAN_PCP, "vlan_pcp", vlan_pcp, 1, 3, false, true),
    NUM(OFP_IP_DSCP, "ip_dscp", ip_dscp, 1, 6, false, true),
    NUM(OFP_IP_ECN, "ip_ecn", ip_ecn, 1, 2, false, true),
    NUM(OFP_IP_PROTO, "ip_proto", ip_proto, 1, 8, false, true),
    NUM(OFP_IPV4_SRC, "ipv4_src", ipv4_src, 4, 32, true, true),
    NUM(OFP_IPV4_DST, "ipv4_dst", ipv4_dst, 4, 32, true, true),
    NUM(OFP_TCP_SRC, "tcp_src", tp_src, 2, 16, true, true),
    NUM(OFP_TCP_DST, "tcp_dst", tp_dst, 2, 16, true, true),
    NUM(OFP_UDP_SRC, "udp_src", tp_src, 2, 16, true, true),
    NUM(OFP_UDP_DST, "udp_dst", tp_dst, 2, 16, true, true),
    NUM(OFP_SCTP_SRC, "sctp_src", tp_src, 2, 16, true, true),
    NUM(OFP_SCTP_DST, "sctp_dst", tp_dst, 2, 16, true, true),
    NUM(OFP_ICMPV4_TYPE, "icmpv4_type", tp_src, 1, 8, false, true),
    NUM(OFP_ICMPV4_CODE, "icmpv4_code", tp_dst, 1, 8, false, true),
    NUM(OFP_ARP_OP, "arp_op", tp_src, 2, 16, false, true),
    NUM(OFP_ARP_SPA, "arp_spa", ipv4_src, 4, 32, true, true),
    NUM(OFP_ARP_TPA, "arp_tpa", ipv4_dst, 4, 32, true, true),
    ADDR(OFP_ARP_SHA, "arp_sha", ha_src, 6, true),
    ADDR(OFP_ARP_THA, "arp_tha", ha_dst, 6, true),
    ADDR(OFP_IPV6_SRC, "ipv6_src", ipv6_src, 16, true),
    ADDR(OFP_IPV6_DST, "ipv6_dst", ipv6_dst, 16, true),
    NUM(OFP_IPV6_FLABEL, "ipv6_flabel", ipv6_flabel, 4, 20, true, true),
    NUM(OFP_ICMPV6_TYPE, "icmpv6_type", tp_src, 1, 8, false, true),
    NUM(OFP_ICMPV6_CODE, "icmpv6_code", tp_dst, 1, 8, false, true),
    ADDR(OFP_IPV6_ND_TARGET, "ipv6_nd_target", nd_target, 16, false),
    ADDR(OFP_IPV6_ND_SLL, "ipv6_nd_sll", ha_src, 6, false),
    ADDR(OFP_IPV6_ND_TLL, "ipv6_nd_tll", ha_dst, 6, false),
    NUM(OFP_MPLS_LABEL, "mpls_label", mpls_label, 4, 20, false, true),
    NUM(OFP_MPLS_TC, "mpls_tc", mpls_tc, 1, 3, false, true),
    NUM(OFP_MPLS_BOS, "mpls_bos", mpls_bos, 1, 1, false, true),
    NUM(OFP_PBB_ISID, "pbb_isid", pbb_isid, 3, 24, true, true),
    NUM(OFP_TUNNEL_ID, "tunnel_id", tunnel_id, 8, 64, true, true),
    NUM(OFP_IPV6_EXTHDR, "ipv6_exthdr", ipv6_exthdr, 2, 9, true, false),
};

/* A number in a key, of 1, 2, 4 or 8 octets. */
static uint64_t
key_number(const struct ofp_key *k, const struct ofp_field_info *i)
{
    const char *p = (const char *) k + i->ofs;
    uint64_t v64;
    uint32_t v32;
    uint16_t v16;
    uint8_t v8;

    switch (i->key_bytes) {
    case 1:
        memcpy(&v8, p, 1);
        return v8;
    case 2:
        memcpy(&v16, p, 2);
        return v16;
    case 4:
        memcpy(&v32, p, 4);
        return v32;
    default:
        memcpy(&v64, p, 8);
        return v64;
    }
}

void
ofp_key_get(const struct ofp_key *k, enum ofp_field f, uint8_t *value)
{
    const struct ofp_field_info *i = &ofp_fields[f];
    uint64_t v;

    if (i->is_octets) {
        memcpy(value, (const char *) k + i->ofs, i->n_bytes);
        return;
    }
    v = key_number(k, i);
    for (int at = i->n_bytes - 1; at >= 0; at--, v >>= 8)
        value[at] = (uint8_t) v;
}

void
ofp_key_put(struct ofp_key *k, enum ofp_field f, const uint8_t *value)
{
    const struct ofp_field_info *i = &ofp_fields[f];
    char *p = (char *) k + i->ofs;
    uint64_t v = 0;
    uint32_t v32;
    uint16_t v16;
    uint8_t v8;

    if (i->is_octets) {
        memcpy(p, value, i->n_bytes);
        return;
    }
    for (int at = 0; at < i->n_bytes; at++)
        v = v << 8 | value[at];
    v32 = (uint32_t) v;
    v16 = (uint16_t) v;
    v8 = (uint8_t) v;
    switch (i->key_bytes) {
    case 1:
        memcpy(p, &v8, 1);
        break;
    case 2:
        memcpy(p, &v16, 2);
        break;
    case 4:
        memcpy(p, &v32, 4);
        break;
    default:
        memcpy(p, &v, 8);
        break;
    }
}

void
ofp_field_ones(enum ofp_field f, uint8_t *mask)
{
    const struct ofp_field_info *i = &ofp_fields[f];
    int spare = i->n_bytes * 8 - i->n_bits;

    for (int at = 0; at < i->n_bytes; at++, spare -= 8)
        mask[at] = spare >= 8  ? 0
                   : spare > 0 ? (uint8_t) (0xff >> spare)
                               : 0xff;
}

void
ofp_match_set(struct ofp_match *m, enum ofp_field f, const uint8_t *value,
              const uint8_t *mask)
{
    uint8_t ones[16], v[16];

    if (!mask) {
        ofp_field_ones(f, ones);
        mask = ones;
    }
    for (int at = 0; at < ofp_fields[f].n_bytes; at++)
        v[at] = value[at] & mask[at];
    m->present |= UINT64_C(1) << f;
    ofp_key_put(&m->value, f, v);
    ofp_key_put(&m->mask, f, mask);
}

static bool
eth_is(const struct ofp_match *m, uint16_t a, uint16_t b)
{
    return ofp_match_has(m, OFP_ETH_TYPE) &&
           (m->value.eth_type == a || m->value.eth_type == b);
}

static bool
proto_is(const struct ofp_match *m, uint8_t proto)
{
    return eth_is(m, 0x0800, 0x86dd) && ofp_match_has(m, OFP_IP_PROTO) &&
           m->value.ip_proto == proto;
}

static bool
nd_is(const struct ofp_match *m, uint16_t a, uint16_t b)
{
    return eth_is(m, 0x86dd, 0x86dd) && proto_is(m, 58) &&
           ofp_match_has(m, OFP_ICMPV6_TYPE) &&
           (m->value.tp_src == a || m->value.tp_src == b);
}

/* A tag that is there: all but "no tag". */
static bool
is_tagged(const struct ofp_match *m)
{
    return ofp_match_has(m, OFP_VLAN_VID) &&
           (m->value.vlan_vid != 0 || !(m->mask.vlan_vid & OFP_VID_PRESENT));
}

bool
ofp_match_allows(const struct ofp_match *m, enum ofp_field f)
{
    switch (f) {
    case OFP_IN_PHY_PORT:
        return ofp_match_has(m, OFP_IN_PORT);
    case OFP_VLAN_PCP:
        return is_tagged(m);
    case OFP_IP_DSCP:
    case OFP_IP_ECN:
    case OFP_IP_PROTO:
        return eth_is(m, 0x0800, 0x86dd);
    case OFP_IPV4_SRC:
    case OFP_IPV4_DST:
        return eth_is(m, 0x0800, 0x0800);
    case OFP_TCP_SRC:
    case OFP_TCP_DST:
        return proto_is(m, 6);
    case OFP_UDP_SRC:
    case OFP_UDP_DST:
        return proto_is(m, 17);
    case OFP_SCTP_SRC:
    case OFP_SCTP_DST:
        return proto_is(m, 132);
    case OFP_ICMPV4_TYPE:
    case OFP_ICMPV4_CODE:
        return eth_is(m, 0x0800, 0x0800) && proto_is(m, 1);
    case OFP_ARP_OP:
    case OFP_ARP_SPA:
    case OFP_ARP_TPA:
    case OFP_ARP_SHA:
    case OFP_ARP_THA:
        return eth_is(m, 0x0806, 0x8035);
    case OFP_IPV6_SRC:
    case OFP_IPV6_DST:
    case OFP_IPV6_FLABEL:
    case OFP_IPV6_EXTHDR:
        return eth_is(m, 0x86dd, 0x86dd);
    case OFP_ICMPV6_TYPE:
    case OFP_ICMPV6_CODE:
        return eth_is(m, 0x86dd, 0x86dd) && proto_is(m, 58);
    case OFP_IPV6_ND_TARGET:
        return nd_is(m, 135, 136);
    case OFP_IPV6_ND_SLL:
        return nd_is(m, 135, 135);
    case OFP_IPV6_ND_TLL:
        return nd_is(m, 136, 136);
    case OFP_MPLS_LABEL:
    case OFP_MPLS_TC:
    case OFP_MPLS_BOS:
        return eth_is(m, 0x8847, 0x8848);
    case OFP_PBB_ISID:
        return eth_is(m, 0x88e7, 0x88e7);
    default:
        return true;
    }
}
