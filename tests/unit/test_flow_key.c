/* SPDX-License-Identifier: Apache-2.0
 *
 * What OpenFlow matches of a frame: flow/key.c.
 */
#include "tests/unit/frame_build.h"

#include "flow/key.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static struct fb f;
static struct ofp_key k;
static struct flow_view v;

static void
extract(void)
{
    flow_key_extract(f.p, f.n, 7, &k, &v);
}

Test(flow_key, untagged_tcp_over_ip4)
{
    fb_eth(&f, ETH_T_IP4);
    fb_ip4(&f, IP_P_TCP, 64, 0);
    fb_l4(&f, IP_P_TCP);
    fb_payload(&f, 31);
    fb_finish(&f);
    extract();
    cr_assert_eq(k.in_port, 7);
    cr_assert_eq(k.eth_type, ETH_T_IP4);
    cr_assert_eq(k.vlan_vid, 0);
    cr_assert_eq(k.ip_dscp, 8);
    cr_assert_eq(k.ip_proto, IP_P_TCP);
    cr_assert_eq(k.ipv4_src, 0xc0a80a0a);
    cr_assert_eq(k.ipv4_dst, 0xc0a81414);
    cr_assert_eq(k.tp_src, 11111);
    cr_assert_eq(k.tp_dst, 2222);
    cr_assert_eq(v.l4, 34);
    cr_assert_eq(v.end, f.n);
}

Test(flow_key, the_outer_tag_is_the_vlan_and_the_type_is_behind_all)
{
    fb_eth(&f, ETH_T_SVLAN);
    fb_vlan(&f, 5 << 13 | 100, ETH_T_VLAN);
    fb_vlan(&f, 3 << 13 | 200, ETH_T_IP6);
    fb_ip6(&f, IP_P_UDP, 9);
    fb_l4(&f, IP_P_UDP);
    fb_finish(&f);
    extract();
    cr_assert_eq(k.vlan_vid, OFP_VID_PRESENT | 100);
    cr_assert_eq(k.vlan_pcp, 5);
    cr_assert_eq(k.eth_type, ETH_T_IP6);
    cr_assert_eq(k.tp_dst, 2222);
    cr_assert_eq(k.ipv6_flabel, 100);
    cr_assert_eq(k.ip_dscp, 8);
    cr_assert_eq(v.n_tags, 2);
}

Test(flow_key, arp)
{
    fb_eth(&f, FLOW_T_ARP);
    fb_be(&f, 0x0001080006040002, 8);
    fb_be(&f, 0x0a0b0c0d0e0f, 6);
    fb_be(&f, 0x01020304, 4);
    fb_be(&f, 0x1a1b1c1d1e1f, 6);
    fb_be(&f, 0x05060708, 4);
    extract();
    cr_assert_eq(k.tp_src, 2);
    cr_assert_eq(k.ipv4_src, 0x01020304);
    cr_assert_eq(k.ipv4_dst, 0x05060708);
    cr_assert_arr_eq(k.ha_src, "\x0a\x0b\x0c\x0d\x0e\x0f", 6);
    cr_assert_arr_eq(k.ha_dst, "\x1a\x1b\x1c\x1d\x1e\x1f", 6);
    cr_assert_eq(k.ip_proto, 0);
    f.p[14 + 4] = 8; /* not of Ethernet */
    extract();
    cr_assert_eq(v.l3_is, FLOW_L3_NONE);
    cr_assert_eq(k.ipv4_src, 0);
}

Test(flow_key, behind_mpls_nothing_is_seen)
{
    fb_eth(&f, FLOW_T_MPLS);
    fb_mpls(&f, 0xabcde, 5, true, 64);
    fb_ip4(&f, IP_P_TCP, 64, 0);
    fb_l4(&f, IP_P_TCP);
    fb_finish(&f);
    extract();
    cr_assert_eq(k.mpls_label, 0xabcde);
    cr_assert_eq(k.mpls_tc, 5);
    cr_assert_eq(k.mpls_bos, 1);
    cr_assert_eq(k.ip_proto, 0);
    cr_assert_eq(k.ipv4_src, 0);
    cr_assert_eq(k.tp_src, 0);
}

Test(flow_key, pbb)
{
    fb_eth(&f, ETH_T_SVLAN);
    fb_vlan(&f, 77, FLOW_T_PBB);
    fb_be(&f, 0xe0123456, 4);
    fb_be(&f, 1, 6);
    fb_be(&f, 2, 6);
    fb_be(&f, ETH_T_IP4, 2);
    extract();
    cr_assert_eq(k.vlan_vid, OFP_VID_PRESENT | 77);
    cr_assert_eq(k.eth_type, FLOW_T_PBB);
    cr_assert_eq(k.pbb_isid, 0x123456);
    cr_assert_eq(k.eth_dst[0], 0x22);
}

Test(flow_key, a_length_is_no_type_but_snap_has_one)
{
    fb_eth(&f, 46);
    fb_be(&f, 0x424203, 3);
    fb_fill(&f, 0, 43);
    extract();
    cr_assert_eq(k.eth_type, FLOW_T_LENGTH);
    fb_eth(&f, 46);
    fb_be(&f, 0xaaaa03000000, 6);
    fb_be(&f, ETH_T_IP4, 2);
    fb_ip4(&f, IP_P_UDP, 1, 0);
    fb_l4(&f, IP_P_UDP);
    fb_finish(&f);
    extract();
    cr_assert_eq(k.eth_type, ETH_T_IP4);
    cr_assert_eq(k.tp_src, 11111);
}

Test(flow_key, only_the_first_fragment_has_ports)
{
    fb_eth(&f, ETH_T_IP4);
    fb_ip4(&f, IP_P_UDP, 64, 0x2000);
    fb_l4(&f, IP_P_UDP);
    fb_finish(&f);
    extract();
    cr_assert(v.is_fragment);
    cr_assert_eq(k.tp_src, 11111);
    fb_put16(f.p + 20, 0x0003);
    extract();
    cr_assert(v.is_fragment);
    cr_assert_eq(k.ip_proto, IP_P_UDP);
    cr_assert_eq(k.tp_src, 0);
}

Test(flow_key, padding_is_not_read)
{
    fb_eth(&f, ETH_T_IP4);
    fb_ip4(&f, IP_P_UDP, 64, 0);
    fb_finish(&f); /* a datagram without anything in it */
    fb_fill(&f, 0x55, 26);
    extract();
    cr_assert_eq(k.ip_proto, IP_P_UDP);
    cr_assert_eq(k.tp_src, 0);
    cr_assert_eq(v.l4, 0);
}

/* --- extension headers -----------------------------------------------------
 */

static void
ext(const uint8_t *types, uint8_t last)
{
    fb_eth(&f, ETH_T_IP6);
    fb_ip6(&f, types[0] != 255 ? types[0] : last, 64);
    for (int i = 0; types[i] != 255; i++) {
        uint8_t next = types[i + 1] != 255 ? types[i + 1] : last;

        fb_be(&f, next, 1);
        if (types[i] == 51) { /* authentication: counted in fours */
            fb_be(&f, 4, 1);
            fb_fill(&f, 0, 22);
        } else if (types[i] == 44) {
            fb_be(&f, 0, 1);
            fb_fill(&f, 0, 6);
        } else {
            fb_be(&f, 1, 1);
            fb_fill(&f, 0, 14);
        }
    }
    if (last == IP_P_TCP)
        fb_l4(&f, IP_P_TCP);
    fb_finish(&f);
    extract();
}

Test(flow_key, extension_headers)
{
    static const struct {
        uint8_t types[8]; /* until 255 */
        uint8_t last;     /* behind them */
        uint16_t flags;   /* to be seen */
    } cases[] = {
        {{255}, IP_P_TCP, 0},
        {{255}, 59, OFPIEH_NONEXT},
        {{255}, 50, OFPIEH_ESP},
        {{0, 51, 255}, IP_P_TCP, OFPIEH_HOP | OFPIEH_AUTH},
        {{0, 60, 43, 44, 51, 60, 255},
         IP_P_TCP,
         OFPIEH_HOP | OFPIEH_DEST | OFPIEH_ROUTER | OFPIEH_FRAG | OFPIEH_AUTH},
        {{60, 60, 255}, IP_P_TCP, OFPIEH_DEST},
        {{60, 60, 60, 255}, IP_P_TCP, OFPIEH_DEST | OFPIEH_UNREP},
        {{43, 43, 255}, IP_P_TCP, OFPIEH_ROUTER | OFPIEH_UNREP},
        {{43, 0, 255}, IP_P_TCP, OFPIEH_ROUTER | OFPIEH_HOP | OFPIEH_UNSEQ},
        {{51, 44, 255}, IP_P_TCP, OFPIEH_AUTH | OFPIEH_FRAG | OFPIEH_UNSEQ},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ext(cases[i].types, cases[i].last);
        cr_assert_eq(k.ipv6_exthdr, cases[i].flags, "case %zu: %03x", i,
                     k.ipv6_exthdr);
        cr_assert_eq(k.ip_proto, cases[i].last, "case %zu", i);
        cr_assert_eq(k.tp_dst, cases[i].last == IP_P_TCP ? 2222 : 0);
    }
}

Test(flow_key, neighbour_discovery)
{
    fb_eth(&f, ETH_T_IP6);
    fb_ip6(&f, IP_P_ICMP6, 255);
    f.l4 = f.n;
    fb_be(&f, 0x8700000000000000, 8);
    fb_be(&f, 0x1111, 8);
    fb_be(&f, 0x2222, 8);
    fb_be(&f, 0x0201, 2); /* another option first */
    fb_fill(&f, 9, 6);
    fb_be(&f, 0x0101, 2);
    fb_be(&f, 0x0a0b0c0d0e0f, 6);
    fb_finish(&f);
    extract();
    cr_assert_eq(k.tp_src, 135);
    cr_assert_eq(k.nd_target[15], 0x22);
    cr_assert_arr_eq(k.ha_src, "\x0a\x0b\x0c\x0d\x0e\x0f", 6);
    cr_assert_eq(k.ha_dst[0], 0);
    f.p[f.l4] = 136; /* now the other option counts */
    extract();
    cr_assert_eq(k.ha_dst[0], 9);
    cr_assert_eq(k.ha_src[0], 0);
    f.p[f.l4 + 25] = 0; /* an option without length: the end */
    extract();
    cr_assert_eq(v.nd_option, 0);
}

/* Cut anywhere, a frame is read within its bounds: for the sanitizer. */
Test(flow_key, cut_frames_are_read_within_their_bounds)
{
    static const uint8_t all[] = {0, 60, 43, 44, 51, 60, 255};

    ext(all, IP_P_TCP);
    for (uint32_t n = 14; n <= f.n; n++) {
        uint8_t *cut = malloc(n);

        memcpy(cut, f.p, n);
        flow_key_extract(cut, n, 1, &k, &v);
        cr_assert_leq(v.end, n);
        cr_assert(v.l4 == 0 || v.l4 + 20u <= n);
        free(cut);
    }
}
