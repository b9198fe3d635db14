/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames for the unit tests of flows, header by header, with checksums that
 * are computed the plain way.
 */
#ifndef TESTS_UNIT_FRAME_BUILD_H
#define TESTS_UNIT_FRAME_BUILD_H

#include "flow/key.h"
#include "wire/eth.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct fb {
    uint8_t p[2048]; /* the frame */
    uint32_t n;      /* octets so far */
    uint32_t l3, l4; /* where they begin; 0: none */
    uint8_t proto;   /* in the pseudo header */
};

static inline void
fb_be(struct fb *f, uint64_t v, int n)
{
    while (n-- > 0)
        f->p[f->n++] = (uint8_t) (v >> 8 * n);
}

static inline void
fb_fill(struct fb *f, uint8_t v, uint32_t n)
{
    memset(f->p + f->n, v, n);
    f->n += n;
}

static inline void
fb_eth(struct fb *f, uint16_t type)
{
    memset(f, 0, sizeof(*f));
    fb_be(f, 0x222222222222, 6);
    fb_be(f, 0x121111111111, 6);
    fb_be(f, type, 2);
}

static inline void
fb_vlan(struct fb *f, uint16_t tci, uint16_t type)
{
    fb_be(f, tci, 2);
    fb_be(f, type, 2);
}

static inline void
fb_mpls(struct fb *f, uint32_t label, uint8_t tc, bool bos, uint8_t ttl)
{
    fb_be(f,
          (uint64_t) label << 12 | (uint64_t) tc << 9 | (uint64_t) bos << 8 |
              ttl,
          4);
}

static inline void
fb_ip4(struct fb *f, uint8_t proto, uint8_t ttl, uint16_t frag)
{
    f->l3 = f->n;
    f->proto = proto;
    fb_be(f, 0x4520, 2); /* DSCP 8 */
    fb_be(f, 0, 2);
    fb_be(f, 0x1234, 2);
    fb_be(f, frag, 2);
    fb_be(f, ttl, 1);
    fb_be(f, proto, 1);
    fb_be(f, 0, 2);
    fb_be(f, 0xc0a80a0a, 4);
    fb_be(f, 0xc0a81414, 4);
}

static inline void
fb_ip6(struct fb *f, uint8_t next, uint8_t hops)
{
    f->l3 = f->n;
    f->proto = next;
    fb_be(f, 0x60000000 | 0x20u << 20 | 100, 4);
    fb_be(f, 0, 2);
    fb_be(f, next, 1);
    fb_be(f, hops, 1);
    fb_be(f, 0x0010000000000000, 8);
    fb_be(f, 0x10, 8);
    fb_be(f, 0x0020000000000000, 8);
    fb_be(f, 0x20, 8);
}

static inline void
fb_l4(struct fb *f, uint8_t proto)
{
    f->l4 = f->n;
    f->proto = proto;
    switch (proto) {
    case IP_P_TCP:
        fb_be(f, 0x2b6708ae00000001, 8);
        fb_be(f, 0x0000000250100040, 8);
        fb_be(f, 0, 4);
        break;
    case IP_P_UDP:
        fb_be(f, 0x2b6708ae, 4);
        fb_be(f, 8 + 31, 2);
        fb_be(f, 0, 2);
        break;
    case IP_P_SCTP:
        fb_be(f, 0x2b6708ae, 4);
        fb_be(f, 0x11223344, 4);
        fb_be(f, 0, 4);
        break;
    default: /* ICMP: an echo request */
        fb_be(f, proto == IP_P_ICMP ? 0x0800 : 0x8000, 2);
        fb_be(f, 0, 2);
        fb_be(f, 0x00010002, 4);
    }
}

static inline void
fb_payload(struct fb *f, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        fb_be(f, i + 1, 1);
}

static inline uint32_t
fb_crc32c(const uint8_t *p, uint32_t n)
{
    uint32_t crc = UINT32_MAX;

    for (uint32_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    return ~crc;
}

/* The Internet checksum of what is behind IP, its own included. */
static inline uint16_t
fb_l4_sum(const struct fb *f, const uint8_t *p, uint32_t l3, uint32_t l4,
          uint32_t end)
{
    uint8_t tail[4] = {0, f->proto, (uint8_t) ((end - l4) >> 8),
                       (uint8_t) (end - l4)};
    uint32_t sum = 0;
    bool is_ip4 = p[l3] >> 4 == 4;

    if (f->proto != IP_P_ICMP) {
        sum = eth_csum_add(0, p + l3 + (is_ip4 ? 12 : 8), is_ip4 ? 8 : 32);
        sum = eth_csum_add(sum, tail, 4);
    }
    return eth_csum_fold(eth_csum_add(sum, p + l4, end - l4));
}

static inline void
fb_put16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t) (v >> 8);
    p[1] = (uint8_t) v;
}

/* Lengths and checksums. */
static inline void
fb_finish(struct fb *f)
{
    if (f->l3 && f->p[f->l3] >> 4 == 4) {
        fb_put16(f->p + f->l3 + 2, f->n - f->l3);
        fb_put16(f->p + f->l3 + 10,
                 eth_csum_fold(eth_csum_add(0, f->p + f->l3, 20)));
    } else if (f->l3) {
        fb_put16(f->p + f->l3 + 4, f->n - f->l3 - 40);
    }
    if (!f->l4)
        return;
    if (f->proto == IP_P_SCTP) {
        uint32_t crc = fb_crc32c(f->p + f->l4, f->n - f->l4);

        for (int i = 0; i < 4; i++)
            f->p[f->l4 + 8 + (uint32_t) i] = (uint8_t) (crc >> 8 * i);
        return;
    }
    fb_put16(f->p + f->l4 +
                 (f->proto == IP_P_TCP   ? 16
                  : f->proto == IP_P_UDP ? 6
                                         : 2),
             fb_l4_sum(f, f->p, f->l3, f->l4, f->n));
}

#endif
