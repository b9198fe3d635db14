/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/wire/eth: tags, IP headers, addresses as text, checksums.
 */
#include "wire/eth.h"

#include "base/cursor.h"
#include "base/rng.h"

#include <criterion/criterion.h>

/* Parses from memory of exactly n octets, so that a sanitizer sees a read
 * past the end. */
static bool
parse(const uint8_t *frame, size_t n, struct eth_info *info)
{
    uint8_t *exact = malloc(n ? n : 1);
    bool ok;

    memcpy(exact, frame, n);
    ok = eth_parse(exact, n, info);
    free(exact);
    return ok;
}

/* Addresses, tags and EtherType; returns the length. */
static size_t
put_l2(uint8_t *out, int n_tags, const uint16_t tpid[], const uint16_t tci[],
       uint16_t ethertype)
{
    struct wcursor c = wcursor_init(out, 64);

    wcursor_zero(&c, 12);
    for (int i = 0; i < n_tags; i++) {
        wcursor_be16(&c, tpid[i]);
        wcursor_be16(&c, tci[i]);
    }
    wcursor_be16(&c, ethertype);
    return 64 - c.left;
}

static size_t
put_ip4(uint8_t *out, size_t at, uint8_t ihl, uint8_t tos, uint16_t frag,
        uint8_t proto)
{
    struct wcursor c = wcursor_init(out + at, 128);

    wcursor_u8(&c, (uint8_t) (0x40 | ihl));
    wcursor_u8(&c, tos);
    wcursor_be32(&c, 0);
    wcursor_be16(&c, frag);
    wcursor_u8(&c, 64);
    wcursor_u8(&c, proto);
    wcursor_zero(&c, (size_t) ihl * 4 - 10);
    return at + (size_t) ihl * 4;
}

static size_t
put_ip6(uint8_t *out, size_t at, uint8_t tclass, uint8_t next)
{
    struct wcursor c = wcursor_init(out + at, 40);

    wcursor_be32(&c, UINT32_C(6) << 28 | (uint32_t) tclass << 20 | 0xabcde);
    wcursor_be16(&c, 0);
    wcursor_u8(&c, next);
    wcursor_zero(&c, 33);
    return at + 40;
}

Test(eth, tags_up_to_two)
{
    const uint16_t tpid[] = {ETH_T_SVLAN, ETH_T_VLAN, ETH_T_VLAN};
    const uint16_t tci[] = {0x6123, 0xa456, 0x0001};

    for (int n_tags = 0; n_tags <= 3; n_tags++) {
        uint8_t f[128] = {0};
        struct eth_info i;
        size_t n = put_l2(f, n_tags, tpid, tci, 0x9999);

        cr_assert(parse(f, n, &i));
        cr_assert_eq(i.n_tags, n_tags < 2 ? n_tags : 2);
        cr_assert_eq(i.tpid, n_tags ? ETH_T_SVLAN : 0);
        cr_assert_eq(i.tci, n_tags ? 0x6123 : 0);
        cr_assert_eq(i.ethertype, n_tags == 3 ? ETH_T_VLAN : 0x9999);
        cr_assert_eq(i.l3_ofs, 14 + 4 * i.n_tags);
        cr_assert_not(i.is_ip);
        for (size_t cut = 0; cut < n; cut++)
            cr_assert_eq(parse(f, cut, &i), n_tags == 3 && cut >= 22);
    }
}

Test(eth, outer_tag_agrees_with_parse)
{
    static const uint16_t types[] = {ETH_T_VLAN, ETH_T_SVLAN, ETH_T_IP4,
                                     ETH_T_MACCTL};
    struct rng rng = {.state = 3};

    for (int i = 0; i < 50000; i++) {
        uint8_t f[64];
        size_t n = (size_t) rng_range(&rng, 14, sizeof(f));
        uint16_t type = types[rng_below(&rng, 4)];
        struct eth_info info;
        uint16_t tci;

        for (size_t k = 0; k < sizeof(f); k++)
            f[k] = (uint8_t) rng_u64(&rng);
        f[12] = (uint8_t) (type >> 8);
        f[13] = (uint8_t) type;
        if (!parse(f, n, &info))
            continue;
        cr_assert_eq(eth_outer_tag(f, n, &tci), info.tpid);
        cr_assert_eq(tci, info.tci);
    }
}

Test(eth, s4_dscp_of_ipv4)
{
    for (unsigned dscp = 0; dscp < 64; dscp++) {
        uint8_t f[128] = {0};
        struct eth_info i;
        size_t n = put_ip4(f, put_l2(f, 0, NULL, NULL, ETH_T_IP4), 5,
                           (uint8_t) (dscp << 2 | 1), 0x4000, 17);

        cr_assert(parse(f, n + 8, &i));
        cr_assert(i.is_ip);
        cr_assert_eq(i.dscp, dscp);
        cr_assert_eq(i.ip_proto, 17);
        cr_assert_eq(i.l4_ofs, 34);
    }
}

Test(eth, s4_dscp_of_ipv6)
{
    const uint16_t tpid[] = {ETH_T_VLAN}, tci[] = {0xe064};

    for (unsigned dscp = 0; dscp < 64; dscp++) {
        uint8_t f[128] = {0};
        struct eth_info i;
        size_t n = put_ip6(f, put_l2(f, 1, tpid, tci, ETH_T_IP6),
                           (uint8_t) (dscp << 2 | 2), 6);

        cr_assert(parse(f, n + 20, &i));
        cr_assert(i.is_ip);
        cr_assert_eq(i.dscp, dscp);
        cr_assert_eq(i.ip_proto, 6);
        cr_assert_eq(i.l4_ofs, 58);
    }
}

Test(eth, ipv4_cut_options_and_fragments)
{
    uint8_t f[128] = {0};
    struct eth_info i;
    size_t end =
        put_ip4(f, put_l2(f, 0, NULL, NULL, ETH_T_IP4), 8, 0xb8, 0, 6);

    for (size_t n = 14; n < end; n++) {
        cr_assert(parse(f, n, &i));
        cr_assert_not(i.is_ip);
        cr_assert_eq(i.dscp, 0);
        cr_assert_eq(i.ip_proto, 0);
    }
    cr_assert(parse(f, end, &i) && i.is_ip);
    cr_assert_eq(i.l4_ofs, 0); /* nothing there */
    cr_assert(parse(f, end + 1, &i) && i.is_ip);
    cr_assert_eq(i.l4_ofs, 14 + 32);

    for (unsigned frag = 0x0001; frag <= 0x2000; frag *= 2) {
        put_ip4(f, 14, 5, 0xb8, (uint16_t) frag, 6);
        cr_assert(parse(f, 64, &i) && i.is_ip);
        cr_assert_eq(i.l4_ofs, 0);
        cr_assert_eq(i.dscp, 46);
    }
    put_ip4(f, 14, 5, 0xb8, 0, 6);
    f[14] = 0x44; /* header of 16 octets: none */
    cr_assert(parse(f, 64, &i) && !i.is_ip);
    f[14] = 0x65; /* version 6 under the EtherType of 4 */
    cr_assert(parse(f, 64, &i) && !i.is_ip);
}

Test(eth, ipv6_extension_headers)
{
    uint8_t f[512] = {0};
    struct eth_info i;
    size_t at = put_ip6(f, put_l2(f, 0, NULL, NULL, ETH_T_IP6), 0, 0);

    for (size_t n = 14; n < at; n++)
        cr_assert(parse(f, n, &i) && !i.is_ip);
    f[at] = 43, f[at + 1] = 1;       /* hop by hop, 16 octets */
    f[at + 16] = 51, f[at + 17] = 0; /* routing, 8 octets */
    f[at + 24] = 60, f[at + 25] = 4; /* authentication, 24 octets */
    f[at + 48] = 17, f[at + 49] = 0; /* destination options, 8 */
    for (size_t n = at; n < at + 57; n++) {
        cr_assert(parse(f, n, &i) && i.is_ip);
        cr_assert_eq(i.l4_ofs, 0, "%zu", n);
    }
    cr_assert(parse(f, at + 57, &i));
    cr_assert_eq(i.ip_proto, 17);
    cr_assert_eq(i.l4_ofs, at + 56);

    f[at] = 44; /* a fragment header instead of routing */
    f[at + 16] = 58;
    cr_assert(parse(f, at + 64, &i) && i.is_ip);
    cr_assert_eq(i.ip_proto, 58);
    cr_assert_eq(i.l4_ofs, 0);
}

/* A chain of headers that goes on and on is given up, not followed. */
Test(eth, ipv6_endless_extension_headers)
{
    uint8_t f[512] = {0};
    struct eth_info i;

    put_ip6(f, put_l2(f, 0, NULL, NULL, ETH_T_IP6), 0, 0);
    cr_assert(parse(f, sizeof(f), &i) && i.is_ip);
    cr_assert_eq(i.l4_ofs, 0);
}

Test(eth, addresses)
{
    const uint8_t mac[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e};
    uint8_t got[6];
    char text[18];

    cr_assert_str_eq(eth_mac_format(mac, text), "01:80:c2:00:00:0e");
    cr_assert(eth_mac_parse(text, got));
    cr_assert_arr_eq(got, mac, 6);
    cr_assert(eth_mac_parse("AA:bb:Cc:0D:1e:F0", got));
    cr_assert_eq(eth_mac_u64(got), UINT64_C(0xaabbcc0d1ef0));
}

Test(eth, refuses_what_is_no_address)
{
    static const char *const bad[] = {
        "",
        "aa",
        "aa:bb:cc:dd:ee",
        "aa:bb:cc:dd:ee:",
        "aa:bb:cc:dd:ee:f",
        "aa:bb:cc:dd:ee:ff:",
        "aa:bb:cc:dd:ee:ff0",
        "aa-bb-cc-dd-ee-ff",
        "aa:bb:cc:dd:ee:fg",
        " aa:bb:cc:dd:ee:ff",
        "a:bb:cc:dd:ee:ff:0",
        "aabbccddeeff",
    };
    uint8_t got[6] = {9, 9, 9, 9, 9, 9};
    const uint8_t untouched[6] = {9, 9, 9, 9, 9, 9};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        cr_assert_not(eth_mac_parse(bad[i], got), "\"%s\"", bad[i]);
    cr_assert_arr_eq(got, untouched, 6);
}

Test(eth, s1_reserved_addresses)
{
    uint8_t mac[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x00};

    for (unsigned i = 0; i < 256; i++) {
        mac[5] = (uint8_t) i;
        cr_assert_eq(eth_is_reserved(mac), i < 16);
        cr_assert(eth_is_group(mac));
    }
    mac[4] = 1;
    mac[5] = 0;
    cr_assert_not(eth_is_reserved(mac));
    mac[0] = 0;
    mac[4] = 0;
    cr_assert_not(eth_is_reserved(mac));
    cr_assert_not(eth_is_group(mac));
}

static uint16_t
naive_csum(const uint8_t *p, size_t n)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        sum += i % 2 ? p[i] : (uint32_t) p[i] << 8;
        if (sum > 0xffff)
            sum -= 0xffff;
    }
    return (uint16_t) ~sum;
}

Test(eth, checksum_of_rfc_1071)
{
    const uint8_t data[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};

    cr_assert_eq(eth_csum_fold(eth_csum_add(0, data, 8)), (uint16_t) ~0xddf2);
    cr_assert_eq(eth_csum_fold(0), 0xffff);
}

Test(eth, checksum_in_pieces_at_any_alignment)
{
    struct rng rng = {.state = 4};
    static uint8_t data[70000];

    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t) rng_u64(&rng);
    memset(data + 100, 0xff, 4000);
    for (int i = 0; i < 3000; i++) {
        size_t from = (size_t) rng_below(&rng, 1000);
        size_t n = (size_t) rng_below(&rng, i % 100 ? 2000 : 66000);
        size_t cut = (size_t) rng_below(&rng, n + 1) & ~(size_t) 1;
        uint32_t sum = eth_csum_add(0, data + from, cut);

        sum = eth_csum_add(sum, data + from + cut, n - cut);
        cr_assert_eq(eth_csum_fold(sum), naive_csum(data + from, n));
    }
}

/* No carry is lost however many pieces are added. */
Test(eth, checksum_does_not_overflow)
{
    static uint8_t ones[65536];
    uint32_t sum = UINT32_MAX;

    memset(ones, 0xff, sizeof(ones));
    for (int i = 0; i < 1000; i++)
        sum = eth_csum_add(sum, ones, sizeof(ones));
    cr_assert_eq(eth_csum_fold(sum), 0);
}
