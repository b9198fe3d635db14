/* SPDX-License-Identifier: Apache-2.0
 *
 * The match of OpenFlow 1.0 (5.2.3 of its specification), in terms of that of
 * 1.3.  Fields of layers that the match does not name are ignored, as 1.0 has
 * it: there are no prerequisites to break.
 */
#include "ofp/codec.h"
#include "ofp/v10.h"

#include <string.h>

#define W_IN_PORT      (1u << 0)
#define W_DL_VLAN      (1u << 1)
#define W_DL_SRC       (1u << 2)
#define W_DL_DST       (1u << 3)
#define W_DL_TYPE      (1u << 4)
#define W_NW_PROTO     (1u << 5)
#define W_TP_SRC       (1u << 6)
#define W_TP_DST       (1u << 7)
#define W_NW_SRC_SHIFT 8
#define W_NW_DST_SHIFT 14
#define W_DL_VLAN_PCP  (1u << 20)
#define W_NW_TOS       (1u << 21)
#define W_ALL          ((1u << 22) - 1)
#define VLAN_NONE      0xffffu

struct match10 {
    uint32_t wild;       /* W_* */
    uint16_t in_port;    /* as on the wire */
    const uint8_t *mac;  /* source, destination */
    uint16_t dl_vlan;    /* VID or VLAN_NONE */
    uint8_t pcp;         /* priority of the tag */
    uint16_t dl_type;    /* EtherType */
    uint8_t tos;         /* DSCP << 2 */
    uint8_t proto;       /* IP protocol or ARP operation */
    const uint8_t *addr; /* network source, destination */
    const uint8_t *port; /* source, destination */
};

static void
set16(struct ofp_match *m, enum ofp_field f, uint16_t v)
{
    const uint8_t b[2] = {(uint8_t) (v >> 8), (uint8_t) v};

    ofp_match_set(m, f, b, NULL);
}

static void
set_vlan(struct ofp_match *m, const struct match10 *w)
{
    static const uint8_t any[2] = {0x10, 0};

    if (w->wild & W_DL_VLAN) {
        if (w->wild & W_DL_VLAN_PCP)
            return;
        ofp_match_set(m, OFP_VLAN_VID, any, any);
    } else if (w->dl_vlan == VLAN_NONE) {
        set16(m, OFP_VLAN_VID, 0);
        return;
    } else {
        set16(m, OFP_VLAN_VID,
              (uint16_t) (OFP_VID_PRESENT | (w->dl_vlan & 0xfff)));
    }
    if (!(w->wild & W_DL_VLAN_PCP)) {
        uint8_t pcp = w->pcp & 7;

        ofp_match_set(m, OFP_VLAN_PCP, &pcp, NULL);
    }
}

static void
set_addr(struct ofp_match *m, enum ofp_field f, const uint8_t *addr,
         unsigned n_wild)
{
    uint32_t mask;
    uint8_t b[4];

    if ((n_wild & 0x3f) >= 32)
        return;
    mask = 0xffffffffu << (n_wild & 0x3f);
    for (int i = 0; i < 4; i++)
        b[i] = (uint8_t) (mask >> (24 - 8 * i));
    ofp_match_set(m, f, addr, b);
}

static void
set_ports(struct ofp_match *m, const struct match10 *w)
{
    enum ofp_field f = w->proto == 6    ? OFP_TCP_SRC
                       : w->proto == 17 ? OFP_UDP_SRC
                                        : OFP_SCTP_SRC;

    if (w->proto == 1) { /* an octet each, the lower of the two */
        if (!(w->wild & W_TP_SRC))
            ofp_match_set(m, OFP_ICMPV4_TYPE, w->port + 1, NULL);
        if (!(w->wild & W_TP_DST))
            ofp_match_set(m, OFP_ICMPV4_CODE, w->port + 3, NULL);
        return;
    }
    if (w->proto != 6 && w->proto != 17 && w->proto != 132)
        return;
    if (!(w->wild & W_TP_SRC))
        ofp_match_set(m, f, w->port, NULL);
    if (!(w->wild & W_TP_DST))
        ofp_match_set(m, (enum ofp_field)(f + 1), w->port + 2, NULL);
}

static void
set_network(struct ofp_match *m, const struct match10 *w)
{
    bool is_arp = w->dl_type == 0x0806;
    uint8_t dscp = w->tos >> 2;

    if (w->dl_type != 0x0800 && !is_arp)
        return;
    set_addr(m, is_arp ? OFP_ARP_SPA : OFP_IPV4_SRC, w->addr,
             w->wild >> W_NW_SRC_SHIFT);
    set_addr(m, is_arp ? OFP_ARP_TPA : OFP_IPV4_DST, w->addr + 4,
             w->wild >> W_NW_DST_SHIFT);
    if (!is_arp && !(w->wild & W_NW_TOS))
        ofp_match_set(m, OFP_IP_DSCP, &dscp, NULL);
    if (w->wild & W_NW_PROTO)
        return;
    if (is_arp) {
        set16(m, OFP_ARP_OP, w->proto);
        return;
    }
    ofp_match_set(m, OFP_IP_PROTO, &w->proto, NULL);
    set_ports(m, w);
}

bool
ofp10_match_decode(struct cursor *c, struct ofp_match *out,
                   struct ofp_error *e)
{
    struct match10 w = {0};
    struct ofp_match m = {0};
    uint8_t port[4] = {0};

    w.wild = cursor_be32(c);
    w.in_port = cursor_be16(c);
    w.mac = cursor_take(c, 12);
    w.dl_vlan = cursor_be16(c);
    w.pcp = cursor_u8(c);
    cursor_u8(c);
    w.dl_type = cursor_be16(c);
    w.tos = cursor_u8(c);
    w.proto = cursor_u8(c);
    cursor_be16(c);
    w.addr = cursor_take(c, 8);
    w.port = cursor_take(c, 4);
    if (c->bad)
        return ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_LEN,
                        "a match of 1.0 has 40 octets");
    if (!(w.wild & W_IN_PORT)) {
        uint32_t p = v10_port_in(w.in_port);

        for (int i = 0; i < 4; i++)
            port[i] = (uint8_t) (p >> (24 - 8 * i));
        ofp_match_set(&m, OFP_IN_PORT, port, NULL);
    }
    if (!(w.wild & W_DL_SRC))
        ofp_match_set(&m, OFP_ETH_SRC, w.mac, NULL);
    if (!(w.wild & W_DL_DST))
        ofp_match_set(&m, OFP_ETH_DST, w.mac + 6, NULL);
    set_vlan(&m, &w);
    if (!(w.wild & W_DL_TYPE)) {
        set16(&m, OFP_ETH_TYPE, w.dl_type);
        set_network(&m, &w);
    }
    *out = m;
    return true;
}

/* How many low bits of a mask are open; 32 when it is none of 1.0's masks,
 * which are prefixes. */
static unsigned
n_open(uint32_t mask)
{
    unsigned n = mask ? (unsigned) __builtin_ctz(mask) : 32;

    return n < 32 && mask == 0xffffffffu << n ? n : 32;
}

static uint32_t
wild_layer2(const struct ofp_match *m, uint32_t wild)
{
    static const uint8_t all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

    if (ofp_match_has(m, OFP_IN_PORT))
        wild &= ~W_IN_PORT;
    if (memcmp(m->mask.eth_src, all, 6) == 0)
        wild &= ~W_DL_SRC;
    if (memcmp(m->mask.eth_dst, all, 6) == 0)
        wild &= ~W_DL_DST;
    if (ofp_match_has(m, OFP_VLAN_VID) && (m->mask.vlan_vid & 0xfff) == 0xfff)
        wild &= ~W_DL_VLAN;
    if (ofp_match_has(m, OFP_VLAN_PCP))
        wild &= ~W_DL_VLAN_PCP;
    if (ofp_match_has(m, OFP_ETH_TYPE))
        wild &= ~W_DL_TYPE;
    return wild;
}

static uint32_t
wild_of(const struct ofp_match *m)
{
    uint32_t wild = wild_layer2(m, W_ALL);
    uint32_t shape = (63u << W_NW_SRC_SHIFT) | (63u << W_NW_DST_SHIFT);
    bool is_ip = m->value.eth_type == 0x0800;

    if (!is_ip && m->value.eth_type != 0x0806)
        return wild;
    wild = (wild & ~shape) | n_open(m->mask.ipv4_src) << W_NW_SRC_SHIFT |
           n_open(m->mask.ipv4_dst) << W_NW_DST_SHIFT;
    if (!is_ip)
        return ofp_match_has(m, OFP_ARP_OP) ? wild & ~W_NW_PROTO : wild;
    if (ofp_match_has(m, OFP_IP_DSCP))
        wild &= ~W_NW_TOS;
    if (!ofp_match_has(m, OFP_IP_PROTO))
        return wild;
    wild &= ~W_NW_PROTO;
    if (m->mask.tp_src == 0xffff || ofp_match_has(m, OFP_ICMPV4_TYPE))
        wild &= ~W_TP_SRC;
    if (m->mask.tp_dst == 0xffff || ofp_match_has(m, OFP_ICMPV4_CODE))
        wild &= ~W_TP_DST;
    return wild;
}

void
ofp10_match_encode(struct ofp_buf *b, const struct ofp_match *m)
{
    const struct ofp_key *v = &m->value;
    uint32_t wild = wild_of(m);
    bool is_arp = v->eth_type == 0x0806, is_ip = v->eth_type == 0x0800;
    bool no_tag = !(wild & W_DL_VLAN) && v->vlan_vid == 0 &&
                  m->mask.vlan_vid & OFP_VID_PRESENT;

    ofp_buf_be32(b, wild);
    ofp_buf_be16(b, wild & W_IN_PORT ? 0 : v10_port_out(v->in_port));
    ofp_buf_bytes(b, v->eth_src, 6);
    ofp_buf_bytes(b, v->eth_dst, 6);
    ofp_buf_be16(b, no_tag ? VLAN_NONE : v->vlan_vid & 0xfff);
    ofp_buf_u8(b, v->vlan_pcp);
    ofp_buf_u8(b, 0);
    ofp_buf_be16(b, v->eth_type);
    ofp_buf_u8(b, is_ip ? (uint8_t) (v->ip_dscp << 2) : 0);
    ofp_buf_u8(b, is_ip ? v->ip_proto : is_arp ? (uint8_t) v->tp_src : 0);
    ofp_buf_be16(b, 0);
    ofp_buf_be32(b, is_ip || is_arp ? v->ipv4_src : 0);
    ofp_buf_be32(b, is_ip || is_arp ? v->ipv4_dst : 0);
    ofp_buf_be16(b, wild & W_TP_SRC ? 0 : v->tp_src);
    ofp_buf_be16(b, wild & W_TP_DST ? 0 : v->tp_dst);
}
