/* SPDX-License-Identifier: Apache-2.0
 *
 * utilities/probe_frame: what is built is read again, whatever the size and
 * the kind, and no changed or missing octet goes unnoticed.
 */
#include "utilities/probe_frame.h"

#include "wire/eth.h"

#include <criterion/criterion.h>
#include <string.h>

static const uint8_t src[6] = {2, 0, 0, 0, 0, 0xa};
static const struct probe_hdr hdr = {
    .flow = 0xdeadbeef,
    .seq = UINT64_C(0x123456789abcdef),
    .sent_ns = UINT64_C(0xfedcba987654321),
    .prio = 5,
    .last = true,
};

static struct probe_flow_conf
flow(uint16_t vid, bool udp)
{
    return (struct probe_flow_conf){.prio = 5,
                                    .vid = vid,
                                    .udp = udp,
                                    .dst = {2, 0, 0, 0, 0, 0xb}};
}

static void
check_seen(const struct probe_seen *s, const struct probe_flow_conf *f)
{
    cr_assert_eq(s->hdr.flow, hdr.flow);
    cr_assert_eq(s->hdr.seq, hdr.seq);
    cr_assert_eq(s->hdr.sent_ns, hdr.sent_ns);
    cr_assert_eq(s->hdr.prio, hdr.prio);
    cr_assert_eq(s->hdr.last, hdr.last);
    cr_assert_arr_eq(s->src, src, 6);
    cr_assert_eq(s->tagged, f->vid != PROBE_VLAN_NONE);
    cr_assert_eq(s->pcp, s->tagged ? 5 : 0);
    cr_assert_eq(s->vid, s->tagged ? f->vid : 0);
}

Test(probe_frame, round_trip_of_every_size_and_kind)
{
    static const uint16_t vids[] = {0, 1, 4094, PROBE_VLAN_NONE};
    static uint8_t frame[PROBE_MAX_FRAME];

    for (int i = 0; i < 8; i++) {
        struct probe_flow_conf f = flow(vids[i / 2], i % 2);

        for (uint32_t n = probe_frame_min(&f); n <= PROBE_MAX_FRAME;
             n += n < 200 ? 1 : 451) {
            struct probe_seen s;

            probe_frame_build(frame, n, src, &f, &hdr);
            cr_assert_eq(probe_frame_parse(frame, n, &s), PROBE_GOOD, "%u", n);
            check_seen(&s, &f);
        }
    }
}

Test(probe_frame, shortest_sizes)
{
    struct probe_flow_conf raw = flow(PROBE_VLAN_NONE, false);
    struct probe_flow_conf tagged_udp = flow(7, true);

    cr_assert_eq(probe_frame_min(&raw), 60);
    cr_assert_eq(probe_frame_min(&tagged_udp), 86);
}

Test(probe_frame, every_changed_octet_is_seen)
{
    struct probe_flow_conf f = flow(0, false);
    uint8_t frame[300];
    struct probe_seen s;

    probe_frame_build(frame, sizeof(frame), src, &f, &hdr);
    for (uint32_t i = 18; i < sizeof(frame); i++) {
        enum probe_kind kind;

        frame[i] ^= 0x10;
        kind = probe_frame_parse(frame, sizeof(frame), &s);
        cr_assert_eq(kind, i < 58 ? PROBE_GARBLED : PROBE_DAMAGED, "%u", i);
        frame[i] ^= 0x10;
    }
    cr_assert_eq(probe_frame_parse(frame, sizeof(frame), &s), PROBE_GOOD);
}

Test(probe_frame, every_truncation_is_seen)
{
    for (int udp = 0; udp < 2; udp++) {
        struct probe_flow_conf f = flow(3, udp);
        uint8_t frame[200];

        probe_frame_build(frame, sizeof(frame), src, &f, &hdr);
        for (uint32_t n = 0; n < sizeof(frame); n++) {
            /* Exact room, so that a read beyond it is found out. */
            uint8_t *cut = malloc(n + 1);
            struct probe_seen s;

            memcpy(cut, frame, n);
            cr_assert_neq(probe_frame_parse(cut, n, &s), PROBE_GOOD, "%u", n);
            free(cut);
        }
    }
}

Test(probe_frame, a_tag_may_be_taken_away_and_the_rest_padded)
{
    struct probe_flow_conf f = flow(9, false);
    uint8_t tagged[60], frame[60] = {0};
    struct probe_seen s;

    probe_frame_build(tagged, sizeof(tagged), src, &f, &hdr);
    memcpy(frame, tagged, 12);
    memcpy(frame + 12, tagged + 16, 44);
    cr_assert_eq(probe_frame_parse(frame, sizeof(frame), &s), PROBE_GOOD);
    cr_assert_not(s.tagged);
    cr_assert_eq(s.hdr.seq, hdr.seq);
}

Test(probe_frame, octets_that_were_added_are_seen)
{
    struct probe_flow_conf f = flow(9, false);
    uint8_t frame[101] = {0};
    struct probe_seen s;

    probe_frame_build(frame, 100, src, &f, &hdr);
    cr_assert_eq(probe_frame_parse(frame, 101, &s), PROBE_DAMAGED);
}

Test(probe_frame, a_second_tag_is_looked_through)
{
    struct probe_flow_conf f = flow(9, false);
    uint8_t inner[100], frame[104];
    struct probe_seen s;

    probe_frame_build(inner, sizeof(inner), src, &f, &hdr);
    memcpy(frame, inner, 12);
    memcpy(frame + 12, "\x88\xa8\xe0\x64", 4);
    memcpy(frame + 16, inner + 12, 88);
    cr_assert_eq(probe_frame_parse(frame, sizeof(frame), &s), PROBE_GOOD);
    cr_assert_eq(s.vid, 100);
    cr_assert_eq(s.pcp, 7);
}

Test(probe_frame, others_are_told_apart)
{
    uint8_t frame[100] = {0};
    struct probe_seen s;

    memcpy(frame + 12, "\x08\x06", 2);
    cr_assert_eq(probe_frame_parse(frame, sizeof(frame), &s), PROBE_OTHER);
    memcpy(frame + 12, "\x88\xb5", 2);
    cr_assert_eq(probe_frame_parse(frame, sizeof(frame), &s), PROBE_GARBLED);
}

Test(probe_frame, udp_has_a_right_ip_header)
{
    struct probe_flow_conf f = flow(PROBE_VLAN_NONE, true);
    uint8_t frame[200];
    struct eth_info info;

    probe_frame_build(frame, sizeof(frame), src, &f, &hdr);
    cr_assert(eth_parse(frame, sizeof(frame), &info));
    cr_assert(info.is_ip);
    cr_assert_eq(info.ip_proto, 17);
    cr_assert_eq(info.dscp, 5 << 3);
    cr_assert_eq(frame[16] << 8 | frame[17], sizeof(frame) - 14);
    cr_assert_eq(eth_csum_fold(eth_csum_add(0, frame + 14, 20)), 0);
}
