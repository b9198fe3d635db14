/* SPDX-License-Identifier: Apache-2.0
 *
 * A frame that a match lets through: see flow_frame.h.
 */
#include "flow_frame.h"

#include "base/cursor.h"
#include "wire/eth.h"

#include <string.h>

#define TTL 64

enum { ICMP = 1, TCP = 6, UDP = 17, ICMP6 = 58, SCTP = 132 };

static size_t
used(const struct wcursor *w, const uint8_t *out)
{
    return (size_t) (w->p - out);
}

static void
put_tcp_udp_sctp(struct wcursor *w, const struct ofp_key *k)
{
    wcursor_be16(w, k->tp_src);
    wcursor_be16(w, k->tp_dst);
    if (k->ip_proto == UDP) {
        wcursor_be16(w, 8);
        wcursor_be16(w, 0); /* no checksum */
    } else if (k->ip_proto == SCTP) {
        wcursor_zero(w, 8);
    } else {
        wcursor_zero(w, 8);
        wcursor_be16(w, 0x5010); /* no options, ACK */
        wcursor_zero(w, 6);
    }
}

/* An ICMPv6 message: neighbour discovery with its target and link address. */
static void
put_icmp6(struct wcursor *w, const struct ofp_key *k)
{
    bool is_nd = k->tp_src == 135 || k->tp_src == 136;

    wcursor_u8(w, (uint8_t) k->tp_src);
    wcursor_u8(w, (uint8_t) k->tp_dst);
    wcursor_zero(w, 6);
    if (!is_nd)
        return;
    wcursor_bytes(w, k->nd_target, 16);
    wcursor_u8(w, k->tp_src == 135 ? 1 : 2);
    wcursor_u8(w, 1); /* 8 octets */
    wcursor_bytes(w, k->tp_src == 135 ? k->ha_src : k->ha_dst, 6);
}

static void
put_l4(struct wcursor *w, const struct ofp_key *k)
{
    switch (k->ip_proto) {
    case TCP:
    case UDP:
    case SCTP:
        put_tcp_udp_sctp(w, k);
        break;
    case ICMP:
        wcursor_u8(w, (uint8_t) k->tp_src);
        wcursor_u8(w, (uint8_t) k->tp_dst);
        wcursor_zero(w, 6);
        break;
    case ICMP6:
        put_icmp6(w, k);
        break;
    default:
        wcursor_zero(w, 8);
        break;
    }
}

static void
put_ip4(struct wcursor *w, const struct ofp_key *k)
{
    uint8_t *head = w->p;
    uint16_t sum;

    wcursor_u8(w, 0x45);
    wcursor_u8(w, (uint8_t) (k->ip_dscp << 2 | k->ip_ecn));
    wcursor_zero(w, 6); /* the length comes when it is known */
    wcursor_u8(w, TTL);
    wcursor_u8(w, k->ip_proto);
    wcursor_be16(w, 0);
    wcursor_be32(w, k->ipv4_src);
    wcursor_be32(w, k->ipv4_dst);
    put_l4(w, k);
    head[3] = (uint8_t) (w->p - head);
    sum = eth_csum_fold(eth_csum_add(0, head, 20));
    head[10] = (uint8_t) (sum >> 8);
    head[11] = (uint8_t) sum;
}

static void
put_ip6(struct wcursor *w, const struct ofp_key *k)
{
    uint8_t *head = w->p;

    wcursor_be32(w, 0x60000000u |
                        (uint32_t) (k->ip_dscp << 2 | k->ip_ecn) << 20 |
                        k->ipv6_flabel);
    wcursor_be16(w, 0);
    wcursor_u8(w, k->ip_proto ? k->ip_proto : 59); /* nothing follows */
    wcursor_u8(w, TTL);
    wcursor_bytes(w, k->ipv6_src, 16);
    wcursor_bytes(w, k->ipv6_dst, 16);
    if (k->ip_proto)
        put_l4(w, k);
    head[5] = (uint8_t) (w->p - head - 40);
}

static void
put_arp(struct wcursor *w, const struct ofp_key *k)
{
    wcursor_be32(w, 0x00010800);
    wcursor_be16(w, 0x0604);
    wcursor_be16(w, k->tp_src ? k->tp_src : 1);
    wcursor_bytes(w, k->ha_src, 6);
    wcursor_be32(w, k->ipv4_src);
    wcursor_bytes(w, k->ha_dst, 6);
    wcursor_be32(w, k->ipv4_dst);
}

/* A label, at the bottom unless the match wants another below. */
static void
put_mpls(struct wcursor *w, const struct ofp_match *m)
{
    const struct ofp_key *k = &m->value;
    bool bottom = !ofp_match_has(m, OFP_MPLS_BOS) || k->mpls_bos;
    uint32_t entry = k->mpls_label << 12 | (uint32_t) k->mpls_tc << 9 | TTL;

    wcursor_be32(w, entry | (bottom ? 0x100 : 0));
    if (!bottom)
        wcursor_be32(w, 0x100 | TTL);
    wcursor_zero(w, 20);
}

static void
put_payload(struct wcursor *w, const struct ofp_match *m)
{
    const struct ofp_key *k = &m->value;

    switch (k->eth_type) {
    case ETH_T_IP4:
        put_ip4(w, k);
        break;
    case ETH_T_IP6:
        put_ip6(w, k);
        break;
    case 0x0806:
    case 0x8035:
        put_arp(w, k);
        break;
    case 0x8847:
    case 0x8848:
        put_mpls(w, m);
        break;
    case 0x88e7:
        wcursor_be32(w, k->pbb_isid & 0xffffff);
        wcursor_zero(w, 14); /* the customer's addresses and type */
        break;
    default:
        break;
    }
}

size_t
flow_frame_make(const struct ofp_match *m, uint8_t out[FLOW_FRAME_MAX])
{
    struct wcursor w = wcursor_init(out, FLOW_FRAME_MAX);
    const struct ofp_key *k = &m->value;
    uint16_t type = k->eth_type ? k->eth_type : 0xffff;

    memset(out, 0, FLOW_FRAME_MAX);
    wcursor_bytes(&w, k->eth_dst, 6);
    wcursor_bytes(&w, k->eth_src, 6);
    if (k->vlan_vid & OFP_VID_PRESENT) {
        wcursor_be16(&w, ETH_T_VLAN);
        wcursor_be16(&w, (uint16_t) ((k->vlan_vid & 0xfff) |
                                     k->vlan_pcp << VLAN_PCP_SHIFT));
    }
    /* 0x05ff: the field is a length. */
    wcursor_be16(&w, type == 0x05ff ? 46 : type);
    put_payload(&w, m);
    return used(&w, out) < 60 ? 60 : used(&w, out);
}
