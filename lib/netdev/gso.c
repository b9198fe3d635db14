/* SPDX-License-Identifier: Apache-2.0
 *
 * Segmentation and checksum completion: see gso.h.  What each segment gets is
 * what the kernel's own software segmentation would give it (sequence number,
 * IP identification, CWR on the first, FIN and PSH on the last), so that a
 * receiver cannot tell the two apart.
 */
#include "netdev/gso.h"

#include "base/cursor.h"
#include "wire/eth.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define IP_PROTO_IPIP 4
#define IP_PROTO_TCP  6
#define IP_PROTO_UDP  17
#define IP_PROTO_IPV6 41
#define IP_PROTO_GRE  47
#define IP_PROTO_SCTP 132

#define IP4_HDR_LEN   20
#define IP4_LEN_OFS   2
#define IP4_ID_OFS    4
#define IP4_PROTO_OFS 9
#define IP4_CSUM_OFS  10
#define IP4_SRC_OFS   12
#define IP6_LEN_OFS   4
#define IP6_NEXT_OFS  6
#define IP6_SRC_OFS   8
#define IP6_HDR_LEN   40

#define UDP_HDR_LEN  8
#define UDP_LEN_OFS  4
#define UDP_CSUM_OFS 6

#define TCP_MIN_HDR   20
#define TCP_SEQ_OFS   4
#define TCP_DOFF_OFS  12
#define TCP_FLAGS_OFS 13
#define TCP_CSUM_OFS  16
#define TCP_FIN       0x01
#define TCP_PSH       0x08
#define TCP_CWR       0x80

#define SCTP_CSUM_OFS 8
#define GRE_CSUM_SEQ  0x90 /* flags whose fields differ per packet: C, S */

static uint16_t
get16(const uint8_t *p)
{
    struct cursor c = cursor_init(p, 2);

    return cursor_be16(&c);
}

static void
put16(uint8_t *p, uint32_t v)
{
    struct wcursor c = wcursor_init(p, 2);

    wcursor_be16(&c, (uint16_t) v);
}

static uint32_t
get32(const uint8_t *p)
{
    struct cursor c = cursor_init(p, 4);

    return cursor_be32(&c);
}

static void
put32(uint8_t *p, uint32_t v)
{
    struct wcursor c = wcursor_init(p, 4);

    wcursor_be32(&c, v);
}

/* Zero means "no checksum" to UDP, and its one's complement twin is as good
 * for everyone else. */
static uint16_t
fold_nonzero(uint32_t sum)
{
    uint16_t csum = eth_csum_fold(sum);

    return csum ? csum : 0xffff;
}

/* CRC32c (RFC 9260 appendix A), a nibble at a time. */
static uint32_t
crc32c(const uint8_t *p, size_t n)
{
    static const uint32_t table[16] = {0x00000000, 0x105ec76f, 0x20bd8ede,
                                       0x30e349b1, 0x417b1dbc, 0x5125dad3,
                                       0x61c69362, 0x7198540d, 0x82f63b78,
                                       0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
                                       0xc38d26c4, 0xd3d3e1ab, 0xe330a81a,
                                       0xf36e6f75};
    uint32_t crc = ~0u;

    while (n-- > 0) {
        crc ^= *p++;
        crc = (crc >> 4) ^ table[crc & 15];
        crc = (crc >> 4) ^ table[crc & 15];
    }
    return ~crc;
}

/* The checksum of SCTP is another one, although the kernel asks for it in the
 * same words. */
static bool
is_sctp(const uint8_t *frame, size_t n, size_t start, size_t ofs)
{
    struct eth_info info;

    return ofs == SCTP_CSUM_OFS && eth_parse(frame, n, &info) &&
           info.ip_proto == IP_PROTO_SCTP && info.l4_ofs == start;
}

static bool
lies_within(size_t n, size_t start, size_t ofs)
{
    return start >= ETH_HDR_LEN && start <= n && n - start >= 2 &&
           ofs <= n - start - 2;
}

bool
gso_leave_open(struct pkt *p, size_t start, size_t ofs)
{
    if (!lies_within(p->len, start, ofs) || start > UINT16_MAX)
        return false;
    if (is_sctp(p->data, p->len, start, ofs))
        return gso_complete(p->data, p->len, start, ofs);
    pkt_leave_open(p, (uint16_t) start, (uint16_t) ofs);
    return true;
}

bool
gso_complete(uint8_t *frame, size_t n, size_t start, size_t ofs)
{
    if (!lies_within(n, start, ofs))
        return false;
    if (is_sctp(frame, n, start, ofs) && n - start >= SCTP_CSUM_OFS + 4) {
        uint32_t crc;

        put32(frame + start + ofs, 0);
        crc = crc32c(frame + start, n - start);
        put32(frame + start + ofs, __builtin_bswap32(crc));
        return true;
    }
    put16(frame + start + ofs,
          fold_nonzero(eth_csum_add(0, frame + start, n - start)));
    return true;
}

static bool
is_ip6(const uint8_t *l3)
{
    return l3[0] >> 4 == 6;
}

/* For a frame in a tunnel whose outer headers end at outer_end: the inner IP
 * header right before the L4 header, which is all that we are told.  False:
 * there is none. */
static bool
find_inner_l3(struct gso *g, uint8_t proto, size_t outer_end)
{
    const uint8_t *l4 = g->frame + g->l4_ofs;

    if (g->l4_ofs >= outer_end + IP4_HDR_LEN && l4[-IP4_HDR_LEN] == 0x45 &&
        l4[-IP4_HDR_LEN + IP4_PROTO_OFS] == proto) {
        g->l3_ofs = (uint16_t) (g->l4_ofs - IP4_HDR_LEN);
        return true;
    }
    if (g->l4_ofs >= outer_end + IP6_HDR_LEN && is_ip6(l4 - IP6_HDR_LEN) &&
        l4[-IP6_HDR_LEN + IP6_NEXT_OFS] == proto) {
        g->l3_ofs = (uint16_t) (g->l4_ofs - IP6_HDR_LEN);
        return true;
    }
    return false;
}

/* Sets the offsets of all headers.  `start` is where the kernel says that L4
 * begins, 0 when it does not say. */
static bool
find_headers(struct gso *g, uint16_t start)
{
    uint8_t proto = g->is_tcp ? IP_PROTO_TCP : IP_PROTO_UDP;
    struct eth_info info;

    if (!eth_parse(g->frame, g->len, &info) || !info.is_ip || !info.l4_ofs)
        return false;
    g->l4_ofs = start ? start : info.l4_ofs;
    g->l3_ofs = info.l3_ofs;
    if (g->l4_ofs == info.l4_ofs)
        return info.ip_proto == proto;
    if (g->l4_ofs < info.l4_ofs || g->l4_ofs >= g->len)
        return false;
    g->out_l3_ofs = info.l3_ofs;
    if (info.ip_proto == IP_PROTO_UDP)
        g->out_udp_ofs = info.l4_ofs;
    else if (info.ip_proto == IP_PROTO_GRE) {
        if (g->frame[info.l4_ofs] & GRE_CSUM_SEQ)
            return false;
    } else if (info.ip_proto != IP_PROTO_IPIP &&
               info.ip_proto != IP_PROTO_IPV6)
        return false;
    return find_inner_l3(g, proto,
                         info.l4_ofs +
                             (g->out_udp_ofs ? (size_t) UDP_HDR_LEN : 0));
}

/* The IP version and protocol that a GSO type stands for. */
static bool
type_matches(const struct gso *g, uint8_t type)
{
    bool v6 = is_ip6(g->frame + g->l3_ofs);

    switch (type) {
    case VIRTIO_NET_HDR_GSO_TCPV4:
        return !v6;
    case VIRTIO_NET_HDR_GSO_TCPV6:
        return v6;
    default:
        return true;
    }
}

int
gso_begin(struct gso *out, const uint8_t *frame, size_t n,
          const struct virtio_net_hdr *h, const uint8_t *tag, size_t room)
{
    uint8_t type = h->gso_type & (uint8_t) ~VIRTIO_NET_HDR_GSO_ECN;
    bool has_start = h->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM;
    struct gso g = {.frame = frame, .len = (uint32_t) n, .size = h->gso_size};
    size_t l4_len;

    g.is_tcp =
        type == VIRTIO_NET_HDR_GSO_TCPV4 || type == VIRTIO_NET_HDR_GSO_TCPV6;
    g.type = h->gso_type;
    g.is_ecn = h->gso_type & VIRTIO_NET_HDR_GSO_ECN;
    if (n > GSO_MAX_FRAME || h->gso_size < GSO_MIN_SIZE ||
        (!g.is_tcp && type != VIRTIO_NET_HDR_GSO_UDP_L4) ||
        !find_headers(&g, has_start ? h->csum_start : 0) ||
        !type_matches(&g, type))
        return EINVAL;
    if (g.l4_ofs + (size_t) (g.is_tcp ? TCP_MIN_HDR : UDP_HDR_LEN) > n)
        return EINVAL;
    l4_len = UDP_HDR_LEN;
    if (g.is_tcp) {
        l4_len = (size_t) (frame[g.l4_ofs + TCP_DOFF_OFS] >> 4) * 4;
        g.seq = get32(frame + g.l4_ofs + TCP_SEQ_OFS);
    }
    /* At least one octet of payload, or there is nothing to cut. */
    if ((g.is_tcp && l4_len < TCP_MIN_HDR) || g.l4_ofs + l4_len >= n ||
        g.l4_ofs + l4_len > UINT16_MAX)
        return EINVAL;
    g.hdr_len = (uint16_t) (g.l4_ofs + l4_len);
    g.pos = g.hdr_len;
    if (tag) {
        memcpy(g.tag, tag, sizeof(g.tag));
        g.tag_len = sizeof(g.tag);
    }
    if (g.tag_len + g.hdr_len +
            (n - g.hdr_len < g.size ? n - g.hdr_len : g.size) >
        room)
        return EMSGSIZE;
    *out = g;
    return 0;
}

/* Sum of the pseudo header of an L4 packet of len octets. */
static uint32_t
pseudo_sum(const uint8_t *l3, uint8_t proto, uint32_t len)
{
    uint32_t sum = is_ip6(l3) ? eth_csum_add(0, l3 + IP6_SRC_OFS, 32)
                              : eth_csum_add(0, l3 + IP4_SRC_OFS, 8);

    return sum + proto + (len & UINT16_MAX) + (len >> 16);
}

/* Length, identification and checksum of the IP header at l3 for a packet of
 * len octets in all. */
static void
fix_ip(uint8_t *l3, uint32_t len, uint16_t n_done)
{
    size_t hdr_len = (size_t) (l3[0] & 15) * 4;

    if (is_ip6(l3)) {
        put16(l3 + IP6_LEN_OFS, len - IP6_HDR_LEN);
        return;
    }
    put16(l3 + IP4_LEN_OFS, len);
    put16(l3 + IP4_ID_OFS, get16(l3 + IP4_ID_OFS) + (uint32_t) n_done);
    put16(l3 + IP4_CSUM_OFS, 0);
    put16(l3 + IP4_CSUM_OFS, eth_csum_fold(eth_csum_add(0, l3, hdr_len)));
}

static void
fix_tcp(const struct gso *g, uint8_t *l4, uint32_t n_payload)
{
    uint8_t flags = l4[TCP_FLAGS_OFS];

    put32(l4 + TCP_SEQ_OFS, g->seq + (g->pos - g->hdr_len));
    if (g->pos + n_payload < g->len)
        flags &= (uint8_t) ~(TCP_FIN | TCP_PSH);
    if (g->n_done && g->is_ecn)
        flags &= (uint8_t) ~TCP_CWR;
    l4[TCP_FLAGS_OFS] = flags;
}

/* The L4 checksum over everything from l4 on. */
static void
fix_l4_csum(const uint8_t *l3, uint8_t *l4, uint32_t len, bool is_tcp)
{
    uint8_t *field = l4 + (is_tcp ? TCP_CSUM_OFS : UDP_CSUM_OFS);
    uint32_t sum = pseudo_sum(l3, is_tcp ? IP_PROTO_TCP : IP_PROTO_UDP, len);

    put16(field, 0);
    put16(field, fold_nonzero(eth_csum_add(sum, l4, len)));
}

/* What the checksum field of TCP holds while it is open: the sum of the pseudo
 * header of a packet of len octets, without IP, not complemented. */
static uint16_t
gso_open_csum(const uint8_t *l3, uint32_t len)
{
    return (uint16_t) ~eth_csum_fold(pseudo_sum(l3, IP_PROTO_TCP, len));
}

uint32_t
gso_next(struct gso *g, uint8_t *out)
{
    uint32_t left = g->len - g->pos;
    uint32_t n = left < g->size ? left : g->size;
    uint32_t end = g->hdr_len + n; /* of the segment, without the tag */
    uint8_t *h = out + g->tag_len; /* offsets beyond the MACs count here */

    if (gso_is_done(g))
        return 0;
    memcpy(out, g->frame, 12);
    memcpy(out + 12, g->tag, g->tag_len);
    memcpy(h + 12, g->frame + 12, g->hdr_len - 12u);
    if (!g->in_place)
        memcpy(h + g->hdr_len, g->frame + g->pos, n);
    if (g->is_tcp)
        fix_tcp(g, h + g->l4_ofs, n);
    else
        put16(h + g->l4_ofs + UDP_LEN_OFS, UDP_HDR_LEN + n);
    fix_ip(h + g->l3_ofs, end - g->l3_ofs, g->n_done);
    if (g->stays_open)
        put16(h + g->l4_ofs + TCP_CSUM_OFS,
              gso_open_csum(h + g->l3_ofs, end - g->l4_ofs));
    else
        fix_l4_csum(h + g->l3_ofs, h + g->l4_ofs, end - g->l4_ofs, g->is_tcp);
    if (g->out_l3_ofs) {
        fix_ip(h + g->out_l3_ofs, end - g->out_l3_ofs, g->n_done);
        if (g->out_udp_ofs) {
            uint8_t *udp = h + g->out_udp_ofs;

            put16(udp + UDP_LEN_OFS, end - g->out_udp_ofs);
            if (get16(udp + UDP_CSUM_OFS) != 0)
                fix_l4_csum(h + g->out_l3_ofs, udp, end - g->out_udp_ofs,
                            false);
        }
    }
    g->pos += n;
    g->n_done++;
    return g->tag_len + end;
}

void
gso_next_pkt(struct gso *g, struct pkt *p, uint64_t number, const void *whose)
{
    uint16_t tag_len = g->tag_len;
    struct pkt_offload *o;

    g->stays_open = gso_may_stay_open(g);
    p->len = gso_next(g, p->data);
    if (!g->stays_open)
        return;
    o = pkt_leave_open(p, (uint16_t) (g->l4_ofs + tag_len), TCP_CSUM_OFS);
    o->super = number;
    o->whose = whose;
    o->number = g->n_done - 1u;
    o->is_last = gso_is_done(g);
    o->gso_type = g->type;
    o->size = g->size;
    o->hdr_len = (uint16_t) (g->hdr_len + tag_len);
    o->l3_ofs = (uint16_t) (g->l3_ofs + tag_len);
}

/* --- and back ----------------------------------------------------------- */

void
gso_merge_headers(uint8_t *headers, const struct pkt_offload *o, int shift,
                  uint32_t len, uint8_t last_flags)
{
    uint8_t *l3 = headers + o->l3_ofs + shift;
    uint8_t *l4 = headers + o->l4_ofs + shift;
    uint32_t l3_len = len - (uint32_t) (l3 - headers);
    uint32_t l4_len = len - (uint32_t) (l4 - headers);

    fix_ip(l3, l3_len, 0);
    l4[TCP_FLAGS_OFS] |= last_flags & (TCP_FIN | TCP_PSH);
    put16(l4 + TCP_CSUM_OFS, gso_open_csum(l3, l4_len));
}

uint8_t
gso_tcp_flags(const struct pkt *p)
{
    return p->data[pkt_offload(p)->l4_ofs + TCP_FLAGS_OFS];
}
