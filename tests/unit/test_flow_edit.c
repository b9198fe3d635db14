/* SPDX-License-Identifier: Apache-2.0
 *
 * What actions do to frames: flow/edit.c and flow/push.c.  Checksums are
 * compared with ones computed anew.
 */
#include "tests/unit/frame_build.h"

#include "flow/edit.h"

#include <criterion/criterion.h>

static struct fb f;
static uint8_t buffer[4096];
static struct flow_frame e;

/* What is in f, with room on both sides. */
static void
load(void)
{
    e = (struct flow_frame){
        .data = buffer + 64,
        .len = f.n,
        .head = 64,
        .tail = sizeof(buffer) - 64 - f.n,
        .key_stale = true,
        .view_stale = true,
    };
    memcpy(e.data, f.p, f.n);
    flow_frame_read(&e);
}

static void
set(enum ofp_field field, uint64_t value)
{
    uint8_t v[16] = {0};

    for (uint32_t i = 0; i < ofp_fields[field].n_bytes; i++)
        v[ofp_fields[field].n_bytes - 1 - i] =
            i < 8 ? (uint8_t) (value >> 8 * i) : 0;
    flow_edit_set(&e, field, v, NULL);
}

static uint64_t
get(enum ofp_field field)
{
    uint8_t v[16];
    uint64_t n = 0;

    flow_frame_read(&e);
    ofp_key_get(&e.key, field, v);
    for (uint32_t i = 0; i < ofp_fields[field].n_bytes; i++)
        n = n << 8 | v[i];
    return n;
}

/* Those of IP and behind it are right. */
static void
check_sums(const char *what)
{
    const struct flow_view *v;
    struct fb like = f;

    e.view_stale = true;
    flow_frame_read(&e);
    v = &e.view;
    if (v->l3_is == FLOW_L3_IP4)
        cr_assert_eq(eth_csum_fold(eth_csum_add(0, e.data + v->l3, 20)), 0,
                     "IP: %s", what);
    if (!f.l4)
        return;
    if (f.proto == IP_P_SCTP) {
        uint8_t copy[2048];
        uint32_t n = e.len - v->l4, crc, is = 0;

        memcpy(copy, e.data + v->l4, n);
        for (int i = 3; i >= 0; i--)
            is = is << 8 | copy[8 + i];
        memset(copy + 8, 0, 4);
        crc = fb_crc32c(copy, n);
        cr_assert_eq(is, crc, "SCTP: %s", what);
        return;
    }
    like.proto = e.key.ip_proto;
    cr_assert_eq(fb_l4_sum(&like, e.data, v->l3, v->l3 + (f.l4 - f.l3), e.len),
                 0, "L4: %s", what);
}

static void
make(bool is_ip4, uint8_t proto, bool tagged)
{
    fb_eth(&f, tagged ? ETH_T_VLAN : is_ip4 ? ETH_T_IP4 : ETH_T_IP6);
    if (tagged)
        fb_vlan(&f, 3 << 13 | 100, is_ip4 ? ETH_T_IP4 : ETH_T_IP6);
    if (is_ip4)
        fb_ip4(&f, proto, 64, 0);
    else
        fb_ip6(&f, proto, 64);
    fb_l4(&f, proto);
    fb_payload(&f, 31);
    fb_finish(&f);
    load();
}

/* Sets the field: it is what it was set to, all others are what they were, and
 * the sums are right. */
static void
check_set(enum ofp_field field, uint64_t value)
{
    struct ofp_key was;
    uint8_t v[16] = {0};

    flow_frame_read(&e);
    was = e.key;
    set(field, value);
    cr_assert_eq(get(field), value, "%s", ofp_fields[field].name);
    for (uint32_t i = 0; i < ofp_fields[field].n_bytes; i++)
        v[ofp_fields[field].n_bytes - 1 - i] =
            i < 8 ? (uint8_t) (value >> 8 * i) : 0;
    ofp_key_put(&was, field, v);
    cr_assert_arr_eq(&e.key, &was, sizeof(was), "%s", ofp_fields[field].name);
    check_sums(ofp_fields[field].name);
}

Test(flow_edit, every_field_of_ip_and_above)
{
    for (int i = 0; i < 8; i++) {
        bool is_ip4 = i & 1, tagged = i & 2;
        uint8_t icmp = is_ip4 ? IP_P_ICMP : IP_P_ICMP6;

        for (int p = 0; p < 4; p++) {
            uint8_t proto =
                (uint8_t[]){IP_P_TCP, IP_P_UDP, IP_P_SCTP, icmp}[p];

            make(is_ip4, proto, tagged);
            check_set(OFP_ETH_DST, 0x0a0000000001);
            check_set(OFP_ETH_SRC, 0x0a0000000002);
            check_set(OFP_IP_DSCP, 46);
            check_set(OFP_IP_ECN, 1);
            if (tagged) {
                check_set(OFP_VLAN_VID, OFP_VID_PRESENT | 4000);
                check_set(OFP_VLAN_PCP, 7);
            }
            if (is_ip4) {
                check_set(OFP_IPV4_SRC, 0x0a0000ff);
                check_set(OFP_IPV4_DST, 0xffff0001);
            } else {
                check_set(OFP_IPV6_SRC, 0x1234567890);
                check_set(OFP_IPV6_DST, 0xfedcba0987654321);
                check_set(OFP_IPV6_FLABEL, 0xfffff);
            }
            if (proto == icmp) {
                check_set(is_ip4 ? OFP_ICMPV4_TYPE : OFP_ICMPV6_TYPE, 3);
                check_set(is_ip4 ? OFP_ICMPV4_CODE : OFP_ICMPV6_CODE, 200);
                continue;
            }
            check_set(p == 0   ? OFP_TCP_SRC
                      : p == 1 ? OFP_UDP_SRC
                               : OFP_SCTP_SRC,
                      65535);
            check_set(p == 0   ? OFP_TCP_DST
                      : p == 1 ? OFP_UDP_DST
                               : OFP_SCTP_DST,
                      0);
        }
    }
}

Test(flow_edit, the_protocol_is_in_the_sum_of_what_is_there)
{
    for (int is_ip4 = 0; is_ip4 < 2; is_ip4++) {
        make(is_ip4, IP_P_TCP, false);
        set(OFP_IP_PROTO, IP_P_UDP);
        cr_assert_eq(get(OFP_IP_PROTO), IP_P_UDP);
        check_sums("ip_proto");
        cr_assert_eq(e.data[f.l4 + 12], 0x50); /* TCP's own are untouched */
    }
}

Test(flow_edit, sums_that_are_none_stay_none)
{
    make(true, IP_P_UDP, false);
    fb_put16(e.data + f.l4 + 6, 0);
    set(OFP_IPV4_SRC, 1);
    set(OFP_UDP_SRC, 1);
    cr_assert_eq(e.data[f.l4 + 6] | e.data[f.l4 + 7], 0);
}

/* A sum that would become 0, which is none to UDP, becomes 0xffff. */
Test(flow_edit, udp_never_gets_a_zero_sum)
{
    for (uint32_t port = 0; port < 65536; port++) {
        make(true, IP_P_UDP, false);
        set(OFP_UDP_SRC, port);
        cr_assert(e.data[f.l4 + 6] | e.data[f.l4 + 7]);
    }
}

Test(flow_edit, wrong_sums_stay_wrong)
{
    make(true, IP_P_TCP, false);
    e.data[f.l4 + 16] ^= 0x55;
    e.data[f.l3 + 10] ^= 0x55;
    set(OFP_IPV4_SRC, 0x01020304);
    cr_assert_neq(eth_csum_fold(eth_csum_add(0, e.data + f.l3, 20)), 0);
    cr_assert_neq(fb_l4_sum(&f, e.data, f.l3, f.l4, e.len), 0);
}

Test(flow_edit, what_is_not_there_is_left_alone)
{
    make(true, IP_P_TCP, false);
    for (int field = 0; field < OFP_N_FIELDS; field++) {
        if (field == OFP_ETH_DST || field == OFP_ETH_SRC ||
            field == OFP_ETH_TYPE || field == OFP_IP_DSCP ||
            field == OFP_IP_ECN || field == OFP_IP_PROTO ||
            field == OFP_IPV4_SRC || field == OFP_IPV4_DST ||
            field == OFP_TCP_SRC || field == OFP_TCP_DST)
            continue;
        set((enum ofp_field) field, 1);
        cr_assert_arr_eq(e.data, f.p, f.n, "%s", ofp_fields[field].name);
    }
}

Test(flow_edit, arp_and_discovery)
{
    static const uint8_t target[16] = {0xfe, 0x80, 1, 2, 3};

    fb_eth(&f, FLOW_T_ARP);
    fb_be(&f, 0x0001080006040001, 8);
    fb_fill(&f, 1, 20);
    load();
    check_set(OFP_ARP_OP, 2);
    check_set(OFP_ARP_SPA, 0x0a000001);
    check_set(OFP_ARP_TPA, 0x0a000002);
    check_set(OFP_ARP_SHA, 0x020000000001);
    check_set(OFP_ARP_THA, 0x020000000002);
    fb_eth(&f, ETH_T_IP6);
    fb_ip6(&f, IP_P_ICMP6, 255);
    f.l4 = f.n;
    fb_be(&f, 0x8700000000000000, 8);
    fb_fill(&f, 0, 16);
    fb_be(&f, 0x0101, 2);
    fb_be(&f, 0x0a0b0c0d0e0f, 6);
    fb_finish(&f);
    load();
    check_set(OFP_IPV6_ND_SLL, 0x020000000001);
    flow_edit_set(&e, OFP_IPV6_ND_TARGET, target, NULL);
    check_sums("nd_target");
    flow_frame_read(&e);
    cr_assert_arr_eq(e.key.nd_target, target, 16);
    e.data[f.l4] = 136;
    e.data[f.l4 + 24] = 2;
    e.view_stale = true;
    set(OFP_IPV6_ND_TLL, 0x020000000009);
    cr_assert_eq(get(OFP_IPV6_ND_TLL), 0x020000000009);
}

Test(flow_edit, masks_leave_the_rest)
{
    static const uint8_t value[4] = {1, 2, 3, 4}, mask[4] = {0, 0, 255, 0};

    make(true, IP_P_TCP, false);
    flow_edit_set(&e, OFP_IPV4_SRC, value, mask);
    cr_assert_eq(get(OFP_IPV4_SRC), 0xc0a8030a);
    check_sums("mask");
}

Test(flow_edit, a_routed_destination_is_not_in_the_sum)
{
    fb_eth(&f, ETH_T_IP6);
    fb_ip6(&f, 43, 64);
    fb_be(&f, 0x06020001, 4); /* TCP, 24 octets, one segment left */
    fb_fill(&f, 0, 20);
    fb_l4(&f, IP_P_TCP);
    fb_finish(&f);
    load();
    fb_put16(f.p, f.p[f.l4 + 16] << 8 | f.p[f.l4 + 17]);
    set(OFP_IPV6_DST, 5);
    cr_assert_arr_eq(e.data + f.l4 + 16, f.p, 2);
    set(OFP_IPV6_SRC, 5);
    cr_assert_neq(memcmp(e.data + f.l4 + 16, f.p, 2), 0);
}

/* --- time to live -------------------------------------------------------- */

Test(flow_edit, ttls)
{
    for (int is_ip4 = 0; is_ip4 < 2; is_ip4++) {
        make(is_ip4, IP_P_TCP, true);
        cr_assert(flow_edit_dec_nw_ttl(&e));
        cr_assert_eq(e.data[f.l3 + (is_ip4 ? 8 : 7)], 63);
        check_sums("dec");
        flow_edit_set_nw_ttl(&e, 1);
        check_sums("set");
        cr_assert_not(flow_edit_dec_nw_ttl(&e));
        cr_assert_eq(e.data[f.l3 + (is_ip4 ? 8 : 7)], 1);
        flow_edit_set_mpls_ttl(&e, 9); /* has none */
        cr_assert(flow_edit_dec_mpls_ttl(&e));
        cr_assert_eq(e.data[f.l3 + (is_ip4 ? 8 : 7)], 1);
    }
}

Test(flow_edit, ttls_between_labels_and_ip)
{
    fb_eth(&f, FLOW_T_MPLS);
    fb_mpls(&f, 100, 3, false, 64);
    fb_mpls(&f, 200, 3, true, 32);
    fb_ip4(&f, IP_P_TCP, 16, 0);
    fb_finish(&f);
    load();
    flow_edit_copy_ttl_out(&e);
    cr_assert_eq(e.data[17], 32);
    flow_edit_set_mpls_ttl(&e, 50);
    flow_edit_copy_ttl_in(&e);
    cr_assert_eq(e.data[21], 50);
    cr_assert(flow_edit_dec_mpls_ttl(&e));
    cr_assert_eq(e.data[17], 49);
    flow_edit_pop_mpls(&e, FLOW_T_MPLS);
    flow_edit_copy_ttl_in(&e);
    cr_assert_eq(e.data[18 + 8], 50);
    cr_assert_eq(eth_csum_fold(eth_csum_add(0, e.data + 18, 20)), 0);
    flow_edit_set_mpls_ttl(&e, 1);
    cr_assert_not(flow_edit_dec_mpls_ttl(&e));
    flow_edit_copy_ttl_out(&e);
    cr_assert_eq(e.data[17], 50);
}

/* --- tags ---------------------------------------------------------------- */

static void
check_head(const char *want, uint32_t n)
{
    cr_assert_arr_eq(e.data + 12, want, n);
}

Test(flow_edit, vlan_tags)
{
    make(true, IP_P_TCP, false);
    flow_edit_pop_vlan(&e);
    cr_assert_arr_eq(e.data, f.p, f.n);
    cr_assert(flow_edit_push_vlan(&e, 0x8100));
    check_head("\x81\0\0\0\x08\0", 6);
    set(OFP_VLAN_VID, OFP_VID_PRESENT | 0x123);
    set(OFP_VLAN_PCP, 5);
    cr_assert(flow_edit_push_vlan(&e, 0x88a8)); /* copies the tag */
    check_head("\x88\xa8\xa1\x23\x81\0\xa1\x23\x08\0", 10);
    flow_edit_pop_vlan(&e);
    flow_edit_pop_vlan(&e);
    cr_assert_eq(e.len, f.n);
    cr_assert_arr_eq(e.data, f.p, f.n);
    cr_assert(flow_edit_vlan_vid(&e, 7)); /* 1.0 pushes */
    cr_assert(flow_edit_vlan_pcp(&e, 2));
    check_head("\x81\0\x40\x07\x08\0", 6);
}

Test(flow_edit, mpls_labels)
{
    make(false, IP_P_TCP, false);
    cr_assert(flow_edit_push_mpls(&e, FLOW_T_MPLS));
    check_head("\x88\x47\0\0\x01\x40\x62", 7); /* TTL 64, of IP; last */
    set(OFP_MPLS_LABEL, 0xabcde);
    set(OFP_MPLS_TC, 5);
    cr_assert_eq(get(OFP_MPLS_LABEL), 0xabcde);
    cr_assert_eq(get(OFP_MPLS_TC), 5);
    cr_assert(flow_edit_push_mpls(&e, FLOW_T_MPLS_M));
    check_head("\x88\x48\xab\xcd\xea\x40\xab\xcd\xeb\x40\x62", 11);
    set(OFP_MPLS_BOS, 1);
    cr_assert_eq(get(OFP_MPLS_BOS), 1);
    flow_edit_pop_mpls(&e, FLOW_T_MPLS);
    flow_edit_pop_mpls(&e, ETH_T_IP6);
    cr_assert_eq(e.len, f.n);
    cr_assert_arr_eq(e.data, f.p, f.n);
    fb_eth(&f, FLOW_T_ARP);
    fb_fill(&f, 0, 46);
    load();
    cr_assert(flow_edit_push_mpls(&e, FLOW_T_MPLS));
    check_head("\x88\x47\0\0\x01\0", 6);
    /* A label goes outside of tags, and its payload is then no label. */
    make(true, IP_P_TCP, true);
    cr_assert(flow_edit_push_mpls(&e, FLOW_T_MPLS));
    check_head("\x88\x47\0\0\x01\x40\x60\x64\x08\0", 10);
    flow_edit_pop_mpls(&e, ETH_T_VLAN);
    cr_assert_arr_eq(e.data, f.p, f.n);
}

Test(flow_edit, backbone_headers)
{
    make(true, IP_P_TCP, true);
    cr_assert(flow_edit_push_pbb(&e, FLOW_T_PBB));
    cr_assert_eq(e.len, f.n + 18);
    cr_assert_arr_eq(e.data, f.p, 12);
    check_head("\x88\xe7\x60\0\0\0", 6); /* the tag's priority */
    cr_assert_arr_eq(e.data + 18, f.p, f.n);
    set(OFP_PBB_ISID, 0x123456);
    cr_assert_eq(get(OFP_PBB_ISID), 0x123456);
    set(OFP_ETH_DST, 1);
    cr_assert(flow_edit_push_pbb(&e, FLOW_T_PBB));
    check_head("\x88\xe7\0\x12\x34\x56", 6);
    flow_edit_pop_pbb(&e);
    cr_assert(flow_edit_push_vlan(&e, ETH_T_SVLAN)); /* a backbone tag */
    flow_edit_pop_vlan(&e);
    flow_edit_pop_pbb(&e);
    cr_assert_eq(e.len, f.n);
    cr_assert_arr_eq(e.data, f.p, f.n);
}

Test(flow_edit, without_room_nothing_is_pushed)
{
    uint32_t n = 0;

    make(true, IP_P_TCP, false);
    e.tail = 100;
    while (flow_edit_push_vlan(&e, 0x8100))
        cr_assert_lt(++n, 100);
    cr_assert_eq(n, 41); /* 64 before it and 100 behind it */
    cr_assert_eq(e.len, f.n + 41 * 4);
    cr_assert_arr_eq(e.data, f.p, 12);
    cr_assert_arr_eq(e.data + 12 + 164, f.p + 12, f.n - 12);
}
