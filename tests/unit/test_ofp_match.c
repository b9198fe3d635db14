/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/ofp: fields, keys and matches, of 1.3 and of 1.0.
 */
#include "ofp/codec.h"

#include "base/rng.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Decodes from memory of exactly n octets, so that a sanitizer sees a read
 * past the end. */
static bool
decode(const uint8_t *p, size_t n, struct ofp_match *m, struct ofp_error *e)
{
    uint8_t *exact = malloc(n ? n : 1);
    struct cursor c;
    bool ok;

    memcpy(exact, p, n);
    c = cursor_init(exact, n);
    ok = ofp_match_decode(&c, m, e);
    free(exact);
    return ok;
}

static void
expect_oxm_error(const char *what, const uint8_t *oxm, size_t n, uint16_t code)
{
    struct ofp_match m = {.present = 0x5a}, before = m;
    struct ofp_error e;

    cr_assert_not(ofp_oxm_decode(oxm, n, &m, &e), "%s is accepted", what);
    cr_expect_eq(e.type, OFPET_BAD_MATCH, "%s: type %u", what, e.type);
    cr_expect_eq(e.code, code, "%s: code %u, expected %u (%s)", what, e.code,
                 code, e.msg);
    cr_expect_eq(memcmp(&m, &before, sizeof(m)), 0, "%s: changed", what);
}
#define EXPECT(what, code, ...)                         \
    do {                                                \
        const uint8_t oxm[] = {__VA_ARGS__};            \
        expect_oxm_error(what, oxm, sizeof(oxm), code); \
    } while (0)

#define IS_IP4 0x80, 0, 0x0a, 2, 0x08, 0
#define IS_IP6 0x80, 0, 0x0a, 2, 0x86, 0xdd
#define IS_TCP 0x80, 0, 0x14, 1, 6

Test(ofp_match, refuses_what_the_standard_refuses)
{
    EXPECT("a cut header", OFPBMC_BAD_LEN, 0x80, 0, 0);
    EXPECT("a value beyond the end", OFPBMC_BAD_LEN, 0x80, 0, 0, 4, 1, 2, 3);
    EXPECT("in_port of 5 octets", OFPBMC_BAD_LEN, 0x80, 0, 0, 5, 0, 0, 0, 0,
           1);
    EXPECT("half a mask", OFPBMC_BAD_LEN, 0x80, 0, 0x07, 9, 0, 0, 0, 0, 0, 0,
           1, 1, 1);
    EXPECT("another class", OFPBMC_BAD_FIELD, 0x00, 1, 0, 4, 0, 0, 0, 1);
    EXPECT("field 40", OFPBMC_BAD_FIELD, 0x80, 0, 40 << 1, 1, 0);
    EXPECT("field 127", OFPBMC_BAD_FIELD, 0x80, 0, 127 << 1, 1, 0);
    EXPECT("in_port twice", OFPBMC_DUP_FIELD, 0x80, 0, 0, 4, 0, 0, 0, 1, 0x80,
           0, 0, 4, 0, 0, 0, 1);
    EXPECT("a mask of eth_type", OFPBMC_BAD_MASK, 0x80, 0, 0x0b, 4, 8, 0, 0xff,
           0);
    EXPECT("bits outside the mask", OFPBMC_BAD_WILDCARDS, 0x80, 0, 0x05, 16, 0,
           0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1);
    EXPECT("vlan_vid of 14 bits", OFPBMC_BAD_VALUE, 0x80, 0, 0x0c, 2, 0x20, 1);
    EXPECT("a VID without its bit", OFPBMC_BAD_VALUE, 0x80, 0, 0x0c, 2, 0, 1);
    EXPECT("a PCP of 8", OFPBMC_BAD_VALUE, 0x80, 0, 0x0c, 2, 0x10, 1, 0x80, 0,
           0x0e, 1, 8);
    EXPECT("a PCP without a tag", OFPBMC_BAD_PREREQ, 0x80, 0, 0x0e, 1, 3);
    EXPECT("a PCP of no tag", OFPBMC_BAD_PREREQ, 0x80, 0, 0x0c, 2, 0, 0, 0x80,
           0, 0x0e, 1, 3);
    EXPECT("ip_proto of no IP", OFPBMC_BAD_PREREQ, IS_TCP);
    EXPECT("ipv4_src of IPv6", OFPBMC_BAD_PREREQ, IS_IP6, 0x80, 0, 0x16, 4, 1,
           2, 3, 4);
    EXPECT("udp_dst of TCP", OFPBMC_BAD_PREREQ, IS_IP4, IS_TCP, 0x80, 0, 0x20,
           2, 0, 53);
    EXPECT("tcp_dst without ip_proto", OFPBMC_BAD_PREREQ, IS_IP4, 0x80, 0,
           0x1c, 2, 0, 53);
    EXPECT("mpls_label of IP", OFPBMC_BAD_PREREQ, IS_IP4, 0x80, 0, 0x44, 4, 0,
           0, 0, 1);
    EXPECT("in_phy_port alone", OFPBMC_BAD_PREREQ, 0x80, 0, 0x02, 4, 0, 0, 0,
           1);
}

Test(ofp_match, head_and_padding_are_checked)
{
    const uint8_t standard[] = {0, 0, 0, 4, 0, 0, 0, 0};
    const uint8_t tiny[] = {0, 1, 0, 3, 0, 0, 0, 0};
    const uint8_t beyond[] = {0, 1, 0, 12, 0x80, 0, 0, 4, 0, 0, 0};
    const uint8_t cut_pad[] = {0, 1, 0, 12, 0x80, 0, 0, 4, 0, 0, 0, 1, 0};
    const uint8_t good[] = {0, 1, 0, 12, 0x80, 0, 0, 4,
                            0, 0, 0, 1,  0,    0, 0, 0};
    struct ofp_match m;
    struct ofp_error e;

    cr_assert_not(decode(standard, sizeof(standard), &m, &e));
    cr_assert_eq(e.code, OFPBMC_BAD_TYPE);
    cr_assert_not(decode(tiny, sizeof(tiny), &m, &e));
    cr_assert_eq(e.code, OFPBMC_BAD_LEN);
    cr_assert_not(decode(beyond, sizeof(beyond), &m, &e));
    cr_assert_eq(e.code, OFPBMC_BAD_LEN);
    cr_assert_not(decode(cut_pad, sizeof(cut_pad), &m, &e));
    cr_assert_eq(e.code, OFPBMC_BAD_LEN);
    cr_assert(decode(good, sizeof(good), &m, &e));
    cr_assert_eq(m.present, 1);
    cr_assert_eq(m.value.in_port, 1);
}

Test(ofp_match, full_and_empty_masks_leave_no_trace)
{
    const uint8_t oxm[] = {0x80, 0,    0x07, 12,   0xff, 0xff, 0xff, 0xff,
                           0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                           0x80, 0,    0x09, 12,   0,    0,    0,    0,
                           0,    0,    0,    0,    0,    0,    0,    0};
    const uint8_t want[] = {0x80, 0,    0x06, 6,    0xff,
                            0xff, 0xff, 0xff, 0xff, 0xff};
    struct ofp_buf b = {0};
    struct ofp_match m;

    cr_assert(ofp_oxm_decode(oxm, sizeof(oxm), &m, NULL));
    ofp_oxm_encode(&b, &m);
    cr_assert_eq(b.n, sizeof(want));
    cr_assert_eq(memcmp(b.data, want, b.n), 0);
    ofp_buf_free(&b);
}

/* Something that the field may be, and its prerequisites before it. */
static void
add_field(struct ofp_match *m, enum ofp_field f, struct rng *r)
{
    const struct ofp_field_info *i = &ofp_fields[f];
    uint8_t value[16], mask[16], ones[16];

    ofp_field_ones(f, ones);
    for (int at = 0; at < i->n_bytes; at++) {
        value[at] = (uint8_t) rng_u64(r) & ones[at];
        mask[at] = i->maskable ? (uint8_t) rng_u64(r) & ones[at] : ones[at];
    }
    mask[i->n_bytes - 1] |= 1; /* not empty */
    if (f == OFP_VLAN_VID) {
        value[0] |= 0x10;
        mask[0] |= 0x10;
    }
    ofp_match_set(m, f, value, mask);
}

static void
set_number(struct ofp_match *m, enum ofp_field f, uint64_t v)
{
    uint8_t value[16] = {0};

    for (int at = ofp_fields[f].n_bytes - 1; at >= 0; at--, v >>= 8)
        value[at] = (uint8_t) v;
    ofp_match_set(m, f, value, NULL);
}

static void
random_match(struct ofp_match *m, struct rng *r)
{
    static const uint16_t types[] = {0x0800, 0x86dd, 0x0806,
                                     0x8847, 0x88e7, 0x1234};
    static const uint8_t protos[] = {1, 6, 17, 58, 132, 47};

    memset(m, 0, sizeof(*m));
    if (rng_below(r, 2))
        set_number(m, OFP_ETH_TYPE, types[rng_below(r, 6)]);
    if (ofp_match_allows(m, OFP_IP_PROTO) && rng_below(r, 2))
        set_number(m, OFP_IP_PROTO, protos[rng_below(r, 6)]);
    if (ofp_match_allows(m, OFP_ICMPV6_TYPE) && rng_below(r, 2))
        set_number(m, OFP_ICMPV6_TYPE, 135 + rng_below(r, 2));
    for (int f = 0; f < OFP_N_FIELDS; f++)
        if (!ofp_match_has(m, f) && f != OFP_ETH_TYPE && f != OFP_IP_PROTO &&
            f != OFP_ICMPV6_TYPE && ofp_match_allows(m, f) && rng_below(r, 2))
            add_field(m, f, r);
}

Test(ofp_match, round_trip_in_ascending_order)
{
    struct rng r = {.state = 7};
    uint64_t seen = 0;

    for (int i = 0; i < 3000; i++) {
        struct ofp_match m, again;
        struct ofp_buf b = {0};
        struct ofp_error e;
        int last = -1;

        random_match(&m, &r);
        seen |= m.present;
        ofp_match_encode(&b, &m);
        cr_assert_eq(b.n % 8, 0);
        cr_assert(decode(b.data, b.n, &again, &e), "%s", e.msg);
        cr_assert_eq(memcmp(&m, &again, sizeof(m)), 0);
        for (size_t at = 4; at + 4 <= (size_t) (b.data[2] << 8 | b.data[3]);
             at += 4u + b.data[at + 3]) {
            cr_assert_gt(b.data[at + 2] >> 1, last);
            last = b.data[at + 2] >> 1;
        }
        for (size_t n = 0; n < b.n && i < 100; n++)
            cr_assert_not(decode(b.data, n, &again, &e));
        ofp_buf_free(&b);
    }
    cr_assert_eq(seen, (UINT64_C(1) << OFP_N_FIELDS) - 1);
}

Test(ofp_match, keys_hold_what_was_put)
{
    struct rng r = {.state = 3};

    for (int f = 0; f < OFP_N_FIELDS; f++) {
        struct ofp_match m = {0};
        uint8_t v[16] = {0}, w[16] = {0};
        struct ofp_key k = {0};

        add_field(&m, f, &r);
        ofp_key_get(&m.value, f, v);
        ofp_key_put(&k, f, v);
        ofp_key_get(&k, f, w);
        cr_assert_eq(memcmp(v, w, 16), 0, "%s", ofp_fields[f].name);
        cr_assert_eq(memcmp(&k, &m.value, sizeof(k)), 0);
        cr_assert(ofp_fields[f].name && ofp_fields[f].n_bits);
    }
}

/* --- 1.0 ----------------------------------------------------------------- */

static bool
decode10(const uint8_t *p, size_t n, struct ofp_match *m)
{
    uint8_t *exact = malloc(n ? n : 1);
    struct cursor c;
    bool ok;

    memcpy(exact, p, n);
    c = cursor_init(exact, n);
    ok = ofp10_match_decode(&c, m, NULL);
    free(exact);
    return ok;
}

/* in_port 3, a tag of VLAN 10 and PCP 5, TCP from 10.0.0.0/8 to port 80; TOS,
 * both MAC addresses, the destination and the source port are open. */
static const uint8_t golden10[40] = {0x00, 0x28, 0x18, 0x4c, 0x00, 0x03, 0,
                                     0,    0,    0,    0,    0,    0,    0,
                                     0,    0,    0,    0,    0x00, 0x0a, 5,
                                     0,    8,    0,    0,    6,    0,    0,
                                     10,   0,    0,    0,    0,    0,    0,
                                     0,    0,    0,    0,    80};

Test(ofp10_match, means_the_same_as_one_of_13)
{
    struct ofp_match m;
    struct ofp_buf b = {0};

    cr_assert(decode10(golden10, 40, &m));
    cr_assert_eq(m.value.in_port, 3);
    cr_assert_eq(m.value.vlan_vid, 0x100a);
    cr_assert_eq(m.value.vlan_pcp, 5);
    cr_assert_eq(m.value.ipv4_src, 0x0a000000);
    cr_assert_eq(m.mask.ipv4_src, 0xff000000);
    cr_assert_eq(m.mask.ipv4_dst, 0);
    cr_assert(ofp_match_has(&m, OFP_TCP_DST));
    cr_assert_not(ofp_match_has(&m, OFP_TCP_SRC));
    cr_assert_eq(m.value.tp_dst, 80);
    ofp10_match_encode(&b, &m);
    cr_assert_eq(b.n, 40);
    cr_assert(decode10(b.data, 40, &m));
    cr_assert_eq(m.value.tp_dst, 80);
    ofp_buf_free(&b);
    for (size_t n = 0; n < 40; n++)
        cr_assert_not(decode10(golden10, n, &m));
}

Test(ofp10_match, any_octets_settle_after_one_round)
{
    struct rng r = {.state = 11};

    for (int i = 0; i < 20000; i++) {
        struct ofp_match m, again;
        struct ofp_buf b = {0};
        uint8_t wire[40];

        for (int at = 0; at < 40; at++)
            wire[at] = (uint8_t) rng_u64(&r);
        if (rng_below(&r, 2)) { /* IP or ARP */
            wire[22] = 8;
            wire[23] = rng_below(&r, 2) ? 6 : 0;
            wire[25] = (uint8_t[]){1, 6, 17, 132}[rng_below(&r, 4)];
        }
        cr_assert(decode10(wire, 40, &m));
        for (int f = 0; f < OFP_N_FIELDS; f++)
            if (ofp_match_has(&m, f))
                cr_assert(ofp_match_allows(&m, f), "%s", ofp_fields[f].name);
        ofp10_match_encode(&b, &m);
        cr_assert(decode10(b.data, b.n, &again));
        cr_assert_eq(memcmp(&m, &again, sizeof(m)), 0);
        ofp_buf_free(&b);
    }
}
