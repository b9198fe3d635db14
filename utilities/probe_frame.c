/* SPDX-License-Identifier: Apache-2.0
 *
 * The frames of a probe: see probe_frame.h.
 */
#include "probe_frame.h"

#include "base/cursor.h"
#include "base/rng.h"
#include "pkt/pkt.h"
#include "wire/eth.h"

#include <assert.h>
#include <string.h>

#define PROBE_MAGIC   0x534c5052 /* "SLPR" */
#define PROBE_VERSION 1
#define CHECKED_LEN   32 /* octets of the header before its check */
#define IP4_HDR_LEN   20
#define UDP_HDR_LEN   8
#define IP_PROTO_UDP  17
/* 198.18.0.0/15 is set aside for benchmarks (RFC 2544). */
#define PROBE_IP_SRC 0xc6120001
#define PROBE_IP_DST 0xc6120002

static uint32_t
outer_len(const struct probe_flow_conf *f)
{
    return ETH_HDR_LEN + (f->vid != PROBE_VLAN_NONE ? ETH_VLAN_LEN : 0u) +
           (f->udp ? IP4_HDR_LEN + UDP_HDR_LEN : 0u);
}

uint32_t
probe_frame_min(const struct probe_flow_conf *f)
{
    uint32_t n = outer_len(f) + PROBE_HDR_LEN;

    return n < PKT_MIN_LEN ? PKT_MIN_LEN : n;
}

/* Every bit of the header takes part; what comes out seeds the filler. */
static uint64_t
header_check(const uint8_t *hdr)
{
    struct rng r = {0};
    struct cursor c = cursor_init(hdr, CHECKED_LEN);

    while (c.left > 0) {
        r.state ^= cursor_be64(&c);
        r.state = rng_u64(&r);
    }
    return r.state;
}

static void
fill(uint8_t *p, size_t n, uint64_t seed)
{
    struct rng r = {seed};

    for (; n >= 8; n -= 8, p += 8) {
        uint64_t v = rng_u64(&r);

        memcpy(p, &v, 8);
    }
    if (n > 0) {
        uint64_t v = rng_u64(&r);

        memcpy(p, &v, n);
    }
}

static bool
is_filled(const uint8_t *p, size_t n, uint64_t seed)
{
    struct rng r = {seed};
    uint64_t diff = 0;

    for (; n >= 8; n -= 8, p += 8) {
        uint64_t v;

        memcpy(&v, p, 8);
        diff |= v ^ rng_u64(&r);
    }
    if (n > 0) {
        uint64_t want = rng_u64(&r);

        diff |= (uint64_t) (memcmp(p, &want, n) != 0);
    }
    return diff == 0;
}

static void
build_udp(struct wcursor *c, const struct probe_flow_conf *f, uint32_t n_inner)
{
    uint8_t *ip = c->p;
    uint16_t csum;

    wcursor_u8(c, 0x45);
    wcursor_u8(c, (uint8_t) (f->prio << 5)); /* DSCP: class selector */
    wcursor_be16(c, (uint16_t) (IP4_HDR_LEN + UDP_HDR_LEN + n_inner));
    wcursor_be32(c, 0x4000); /* no identification; do not fragment */
    wcursor_u8(c, 64);
    wcursor_u8(c, IP_PROTO_UDP);
    wcursor_be16(c, 0);
    wcursor_be32(c, PROBE_IP_SRC);
    wcursor_be32(c, PROBE_IP_DST);
    csum = eth_csum_fold(eth_csum_add(0, ip, IP4_HDR_LEN));
    ip[10] = (uint8_t) (csum >> 8);
    ip[11] = (uint8_t) csum;
    wcursor_be16(c, PROBE_UDP_PORT);
    wcursor_be16(c, PROBE_UDP_PORT);
    wcursor_be16(c, (uint16_t) (UDP_HDR_LEN + n_inner));
    wcursor_be16(c, 0); /* no checksum: the filler is checked anyway */
}

void
probe_frame_build(uint8_t *out, uint32_t n, const uint8_t src[6],
                  const struct probe_flow_conf *f, const struct probe_hdr *hdr)
{
    struct wcursor c = wcursor_init(out, n);
    uint32_t n_inner = n - outer_len(f);
    uint8_t *head;
    uint64_t check;

    assert(n >= probe_frame_min(f) && n <= PROBE_MAX_FRAME);
    wcursor_bytes(&c, f->dst, 6);
    wcursor_bytes(&c, src, 6);
    if (f->vid != PROBE_VLAN_NONE) {
        wcursor_be16(&c, ETH_T_VLAN);
        wcursor_be16(&c, (uint16_t) (f->prio << VLAN_PCP_SHIFT | f->vid));
    }
    wcursor_be16(&c, f->udp ? ETH_T_IP4 : PROBE_ETHERTYPE);
    if (f->udp)
        build_udp(&c, f, n_inner);
    head = c.p;
    wcursor_be32(&c, PROBE_MAGIC);
    wcursor_u8(&c, PROBE_VERSION);
    wcursor_u8(&c, hdr->last ? PROBE_FLAG_LAST : 0);
    wcursor_u8(&c, hdr->prio);
    wcursor_u8(&c, 0);
    wcursor_be32(&c, hdr->flow);
    wcursor_be16(&c, (uint16_t) n_inner);
    wcursor_be16(&c, 0);
    wcursor_be64(&c, hdr->seq);
    wcursor_be64(&c, hdr->sent_ns);
    check = header_check(head);
    wcursor_be64(&c, check);
    assert(!c.bad);
    fill(c.p, c.left, check);
}

/* Where the probe header begins, or 0. */
static size_t
find_header(const uint8_t *frame, size_t n, const struct eth_info *info)
{
    struct cursor c;
    uint16_t port;

    if (info->ethertype == PROBE_ETHERTYPE)
        return info->l3_ofs;
    if (!info->is_ip || info->ip_proto != IP_PROTO_UDP || info->l4_ofs == 0)
        return 0;
    c = cursor_init(frame + info->l4_ofs, n - info->l4_ofs);
    cursor_be16(&c);
    port = cursor_be16(&c);
    return !c.bad && port == PROBE_UDP_PORT ? info->l4_ofs + UDP_HDR_LEN : 0;
}

enum probe_kind
probe_frame_parse(const uint8_t *frame, size_t n, struct probe_seen *seen)
{
    struct eth_info info;
    struct cursor c;
    size_t ofs, len;
    uint64_t check;
    uint8_t flags;

    if (!eth_parse(frame, n, &info))
        return PROBE_OTHER;
    ofs = find_header(frame, n, &info);
    if (ofs == 0 || ofs > n)
        return PROBE_OTHER;
    memset(seen, 0, sizeof(*seen));
    memcpy(seen->src, frame + 6, 6);
    seen->tagged = info.n_tags > 0;
    seen->pcp = (uint8_t) (info.tci >> VLAN_PCP_SHIFT);
    seen->vid = info.tci & VLAN_VID_MASK;
    c = cursor_init(frame + ofs, n - ofs);
    if (cursor_be32(&c) != PROBE_MAGIC || cursor_u8(&c) != PROBE_VERSION)
        return PROBE_GARBLED;
    flags = cursor_u8(&c);
    seen->hdr.last = (flags & PROBE_FLAG_LAST) != 0;
    seen->hdr.prio = cursor_u8(&c) & 7;
    cursor_u8(&c);
    seen->hdr.flow = cursor_be32(&c);
    len = cursor_be16(&c);
    cursor_be16(&c);
    seen->hdr.seq = cursor_be64(&c);
    seen->hdr.sent_ns = cursor_be64(&c);
    check = cursor_be64(&c);
    if (c.bad || check != header_check(frame + ofs) || len < PROBE_HDR_LEN)
        return PROBE_GARBLED;
    /* A tag that a switch took away leaves a short frame, which is padded. */
    if (n < ofs + len || (n > ofs + len && n > PKT_MIN_LEN))
        return PROBE_DAMAGED;
    return is_filled(c.p, len - PROBE_HDR_LEN, check) ? PROBE_GOOD
                                                      : PROBE_DAMAGED;
}
