/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/netdev/csum: checksums that a host left to hardware are completed, and
 * all others stay, right or wrong.
 */
#include "netdev/csum.h"

#include "tests/unit/netns.h"
#include "wire/eth.h"

#include <criterion/criterion.h>
#include <string.h>

#define TCP 6
#define UDP 17

struct made {
    uint8_t f[1600]; /* the frame */
    size_t n;        /* its octets */
    size_t csum_at;  /* where the checksum is */
    size_t l4;       /* where its header begins */
    uint32_t sum;    /* of the pseudo header */
};

static void
put16(uint8_t *p, unsigned v)
{
    p[0] = (uint8_t) (v >> 8);
    p[1] = (uint8_t) v;
}

/* A segment of so much payload behind n_tags tags; the checksum is that of the
 * pseudo header.  seed: other payloads. */
static struct made
make(uint8_t proto, bool v6, int n_tags, size_t payload, unsigned seed)
{
    struct made m = {.n = 12};
    size_t hdr = proto == TCP ? 20 : 8, len = hdr + payload, l3;

    memcpy(m.f, "\x02\0\0\0\0\x02\x02\0\0\0\0\x01", 12);
    for (int i = 0; i < n_tags; i++, m.n += 4)
        memcpy(m.f + m.n, "\x81\0\x60\x05", 4);
    put16(m.f + m.n, v6 ? ETH_T_IP6 : ETH_T_IP4);
    l3 = m.n + 2;
    if (v6) {
        m.f[l3] = 0x60;
        put16(m.f + l3 + 4, (unsigned) len);
        m.f[l3 + 6] = proto;
        m.f[l3 + 7] = 64;
        m.f[l3 + 8] = m.f[l3 + 24] = 0xfd;
        m.f[l3 + 39] = 2;
        m.l4 = l3 + 40;
        m.sum = eth_csum_add((uint32_t) len + proto, m.f + l3 + 8, 32);
    } else {
        m.f[l3] = 0x45;
        put16(m.f + l3 + 2, (unsigned) (20 + len));
        m.f[l3 + 8] = 64;
        m.f[l3 + 9] = proto;
        memcpy(m.f + l3 + 12, "\x0a\0\0\x01\x0a\0\0\x02", 8);
        put16(m.f + l3 + 10, eth_csum_fold(eth_csum_add(0, m.f + l3, 20)));
        m.l4 = l3 + 20;
        m.sum = eth_csum_add((uint32_t) len + proto, m.f + l3 + 12, 8);
    }
    m.n = m.l4 + len;
    m.csum_at = m.l4 + (proto == TCP ? 16 : 6);
    if (proto == TCP)
        m.f[m.l4 + 12] = 5 << 4;
    else
        put16(m.f + m.l4 + 4, (unsigned) len);
    for (size_t i = 0; i < payload; i++)
        m.f[m.l4 + hdr + i] = (uint8_t) ((i + seed) * 2654435761u >> 9);
    put16(m.f + m.csum_at, (uint16_t) ~eth_csum_fold(m.sum));
    return m;
}

Test(csum, partial_ones_are_completed)
{
    for (int v6 = 0; v6 < 2; v6++)
        for (int tags = 0; tags < 3; tags++)
            for (size_t payload = 0; payload < 1400; payload += 199) {
                struct made t = make(TCP, v6, tags, payload, 1);
                struct made u = make(UDP, v6, tags, payload, 1);

                csum_complete(t.f, t.n);
                cr_assert_null(netns_csum_wrong(t.f, t.n));
                csum_complete(u.f, u.n + 5); /* behind it: padding */
                cr_assert_null(netns_csum_wrong(u.f, u.n));
            }
}

Test(csum, complete_ones_stay_right_or_wrong)
{
    for (unsigned seed = 0; seed < 300; seed++) {
        struct made m = make(TCP, seed & 1, 0, 100 + seed, seed), was;

        csum_complete(m.f, m.n);
        was = m;
        csum_complete(m.f, m.n);
        cr_assert_arr_eq(m.f, was.f, m.n);
        m.f[m.n - 1] ^= 1; /* damaged on the way */
        was = m;
        csum_complete(m.f, m.n);
        cr_assert_arr_eq(m.f, was.f, m.n);
    }
}

/* One payload in 65,536 has a checksum that looks like a partial one. */
Test(csum, a_complete_one_that_looks_partial_stays)
{
    struct made m = make(UDP, false, 0, 100, 3), was;
    uint32_t sum;

    /* Two octets of payload that make it so. */
    put16(m.f + m.n - 2, 0);
    sum = eth_csum_add(m.sum, m.f + m.l4, m.n - m.l4);
    put16(m.f + m.n - 2, eth_csum_fold(sum));
    was = m;
    cr_assert_null(netns_csum_wrong(m.f, m.n));
    csum_complete(m.f, m.n);
    cr_assert_arr_eq(m.f, was.f, m.n);
}

Test(csum, what_has_none_stays)
{
    struct made m = make(UDP, false, 0, 100, 1), was;

    put16(m.f + m.csum_at, 0); /* none is sent */
    was = m;
    csum_complete(m.f, m.n);
    cr_assert_arr_eq(m.f, was.f, m.n);
    m = make(UDP, false, 0, 100, 1);
    put16(m.f + 20, 0x2000); /* a fragment */
    was = m;
    csum_complete(m.f, m.n);
    cr_assert_arr_eq(m.f, was.f, m.n);
    m = make(TCP, false, 0, 100, 1);
    was = m;
    csum_complete(m.f, m.n - 1); /* cut short */
    cr_assert_arr_eq(m.f, was.f, m.n);
}

Test(csum, that_of_a_segment_in_a_tunnel_is_completed)
{
    struct made in = make(TCP, false, 0, 700, 1);
    struct made out = make(UDP, false, 0, 8 + in.n, 1);
    size_t at = out.l4 + 16;

    put16(out.f + out.l4 + 2, 4789);
    memcpy(out.f + at, in.f, in.n);
    put16(out.f + out.csum_at, 0);
    csum_complete(out.f, out.n);
    cr_assert_eq(out.f[out.csum_at] | out.f[out.csum_at + 1], 0);
    cr_assert_null(netns_csum_wrong(out.f + at, in.n));
}
