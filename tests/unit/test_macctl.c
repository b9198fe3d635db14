/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/wire/macctl: the octets of pfc-semantics section 1, both ways.
 */
#include "wire/macctl.h"

#include "base/rng.h"

#include <criterion/criterion.h>
#include <string.h>

static const uint8_t port_mac[6] = {0x02, 0x11, 0x22, 0x33, 0x44, 0x55};

/* Priority 3 for 65535 quanta, 4 for 1, 0 let go: written out by hand. */
static const uint8_t golden_pfc[MACCTL_LEN] = {0x01, 0x80, 0xc2, 0x00, 0x00,
                                               0x01, 0x02, 0x11, 0x22, 0x33,
                                               0x44, 0x55, 0x88, 0x08, 0x01,
                                               0x01, 0x00, 0x19, 0x00, 0x00,
                                               0x00, 0x00, 0x00, 0x00, 0xff,
                                               0xff, 0x00, 0x01};
static const uint8_t golden_pause[MACCTL_LEN] = {0x01, 0x80, 0xc2, 0x00, 0x00,
                                                 0x01, 0x02, 0x11, 0x22, 0x33,
                                                 0x44, 0x55, 0x88, 0x08, 0x00,
                                                 0x01, 0x12, 0x34};

/* Decodes from memory of exactly n octets, so that a sanitizer sees a read
 * past the end. */
static enum macctl_kind
decode(const uint8_t *frame, size_t n, struct macctl *m)
{
    uint8_t *exact = malloc(n ? n : 1);
    enum macctl_kind kind;

    memcpy(exact, frame, n);
    memset(m, 0xa5, sizeof(*m));
    kind = macctl_decode(exact, n, m);
    free(exact);
    cr_assert_eq(m->kind, kind);
    return kind;
}

/* Puts n_tags tags of the given TPID before the EtherType. */
static size_t
add_tags(uint8_t *out, const uint8_t *frame, size_t n, uint16_t tpid,
         int n_tags)
{
    size_t at = 12;

    memcpy(out, frame, 12);
    for (int i = 0; i < n_tags; i++) {
        const uint8_t tag[4] = {(uint8_t) (tpid >> 8), (uint8_t) tpid, 0x60,
                                0x05};

        memcpy(out + at, tag, 4);
        at += 4;
    }
    memcpy(out + at, frame + 12, n - 12);
    return at + n - 12;
}

Test(macctl, s1_encodes_golden_pfc)
{
    /* Times of priorities that are not enabled must not reach the wire. */
    const uint16_t time[N_PRIO] = {0, 777, 777, 65535, 1, 777, 777, 777};
    uint8_t out[MACCTL_LEN];

    memset(out, 0xa5, sizeof(out));
    macctl_encode_pfc(out, port_mac, 0x19, time);
    cr_assert_arr_eq(out, golden_pfc, MACCTL_LEN);
}

Test(macctl, s1_decodes_golden_pfc)
{
    const uint16_t time[N_PRIO] = {0, 0, 0, 65535, 1, 0, 0, 0};
    struct macctl m;

    cr_assert_eq(decode(golden_pfc, MACCTL_LEN, &m), MACCTL_PFC);
    cr_assert_eq(m.enable, 0x19);
    cr_assert_arr_eq(m.time, time, sizeof(time));
    cr_assert_arr_eq(m.src, port_mac, 6);
}

Test(macctl, s8_pause_both_ways)
{
    uint8_t out[MACCTL_LEN];
    struct macctl m;

    memset(out, 0xa5, sizeof(out));
    macctl_encode_pause(out, port_mac, 0x1234);
    cr_assert_arr_eq(out, golden_pause, MACCTL_LEN);
    cr_assert_eq(decode(out, MACCTL_LEN, &m), MACCTL_PAUSE);
    cr_assert_eq(m.time[0], 0x1234);
    cr_assert_eq(m.enable, 0);
}

Test(macctl, s1_round_trip_of_random_frames)
{
    struct rng rng = {.state = 1};

    for (int i = 0; i < 20000; i++) {
        uint16_t time[N_PRIO];
        uint8_t enable = (uint8_t) rng_u64(&rng);
        uint8_t out[MACCTL_LEN];
        struct macctl m;

        for (int p = 0; p < N_PRIO; p++)
            time[p] = (uint16_t) rng_u64(&rng);
        macctl_encode_pfc(out, port_mac, enable, time);
        cr_assert_eq(macctl_decode(out, MACCTL_LEN, &m), MACCTL_PFC);
        cr_assert_eq(m.enable, enable);
        for (int p = 0; p < N_PRIO; p++)
            cr_assert_eq(m.time[p], enable & (1u << p) ? time[p] : 0);
    }
}

Test(macctl, s1_truncation_at_every_length)
{
    struct macctl m;

    for (size_t n = 0; n <= MACCTL_LEN; n++) {
        enum macctl_kind pfc = decode(golden_pfc, n, &m);

        cr_assert_eq(pfc,
                     n < 14   ? MACCTL_NONE
                     : n < 34 ? MACCTL_MALFORMED
                              : MACCTL_PFC,
                     "PFC of %zu octets: %d", n, pfc);
        if (pfc != MACCTL_PFC)
            cr_assert_eq(m.enable, 0);
    }
    for (size_t n = 0; n <= MACCTL_LEN; n++) {
        enum macctl_kind pause = decode(golden_pause, n, &m);

        cr_assert_eq(pause,
                     n < 14   ? MACCTL_NONE
                     : n < 18 ? MACCTL_MALFORMED
                              : MACCTL_PAUSE,
                     "PAUSE of %zu octets: %d", n, pause);
    }
}

Test(macctl, s1_longer_frames_and_padding_do_not_matter)
{
    uint8_t frame[1514];
    struct macctl m;

    memset(frame, 0xee, sizeof(frame));
    memcpy(frame, golden_pfc, 34);
    cr_assert_eq(decode(frame, sizeof(frame), &m), MACCTL_PFC);
    cr_assert_eq(m.time[3], 65535);
}

Test(macctl, s1_high_octet_of_enable_vector_is_ignored)
{
    uint8_t frame[MACCTL_LEN];
    struct macctl m;

    memcpy(frame, golden_pfc, sizeof(frame));
    frame[16] = 0xff;
    cr_assert_eq(decode(frame, sizeof(frame), &m), MACCTL_PFC);
    cr_assert_eq(m.enable, 0x19);
}

Test(macctl, s1_time_without_its_bit_is_ignored)
{
    uint8_t frame[MACCTL_LEN];
    struct macctl m;

    memcpy(frame, golden_pfc, sizeof(frame));
    memset(frame + 18, 0xff, 16);
    frame[17] = 0x80;
    cr_assert_eq(decode(frame, sizeof(frame), &m), MACCTL_PFC);
    for (int p = 0; p < N_PRIO; p++)
        cr_assert_eq(m.time[p], p == 7 ? 65535 : 0);
}

Test(macctl, s1_any_source_an_all_zero_one_too)
{
    static const uint8_t zero[6];
    uint8_t frame[MACCTL_LEN];
    struct macctl m;

    memcpy(frame, golden_pfc, sizeof(frame));
    memset(frame + 6, 0, 6);
    cr_assert_eq(decode(frame, sizeof(frame), &m), MACCTL_PFC);
    cr_assert_arr_eq(m.src, zero, 6);
    memset(frame + 6, 0xff, 6);
    cr_assert_eq(decode(frame, sizeof(frame), &m), MACCTL_PFC);
}

Test(macctl, s1_wrong_destination_is_malformed)
{
    struct macctl m;

    for (int i = 0; i < 48; i++) {
        uint8_t frame[MACCTL_LEN];

        memcpy(frame, golden_pfc, sizeof(frame));
        frame[i / 8] ^= (uint8_t) (1u << (i % 8));
        cr_assert_eq(decode(frame, sizeof(frame), &m), MACCTL_MALFORMED);
    }
}

Test(macctl, s1_tagged_is_malformed)
{
    static const uint16_t tpids[] = {0x8100, 0x88a8};
    uint8_t frame[MACCTL_LEN + 12];
    struct macctl m;

    for (int t = 0; t < 2; t++) {
        for (int n_tags = 1; n_tags <= 2; n_tags++) {
            size_t n =
                add_tags(frame, golden_pfc, MACCTL_LEN, tpids[t], n_tags);

            cr_assert_eq(decode(frame, n, &m), MACCTL_MALFORMED);
            cr_assert(macctl_suspect(frame, n));
            /* Cut before the EtherType shows: not known to be one. */
            cr_assert_eq(decode(frame, 13 + 4 * (size_t) n_tags, &m),
                         MACCTL_NONE);
        }
    }
}

Test(macctl, s1_other_opcodes_are_unsupported)
{
    struct macctl m;

    for (unsigned op = 0; op <= 0xffff; op++) {
        uint8_t frame[MACCTL_LEN];
        enum macctl_kind want = op == MACCTL_OP_PFC     ? MACCTL_PFC
                                : op == MACCTL_OP_PAUSE ? MACCTL_PAUSE
                                                        : MACCTL_UNSUPPORTED;

        memcpy(frame, golden_pfc, sizeof(frame));
        frame[14] = (uint8_t) (op >> 8);
        frame[15] = (uint8_t) op;
        cr_assert_eq(macctl_decode(frame, sizeof(frame), &m), want);
    }
}

Test(macctl, s1_other_ethertypes_are_not_mac_control)
{
    struct macctl m;

    for (unsigned type = 0; type <= 0xffff; type++) {
        uint8_t frame[MACCTL_LEN];

        memcpy(frame, golden_pfc, sizeof(frame));
        frame[12] = (uint8_t) (type >> 8);
        frame[13] = (uint8_t) type;
        cr_assert_eq(macctl_decode(frame, sizeof(frame), &m),
                     type == MACCTL_ETHERTYPE ? MACCTL_PFC : MACCTL_NONE);
    }
}

/* The datapath's shortcut may be wrong in one direction only. */
Test(macctl, s1_suspect_is_true_for_all_mac_control)
{
    static const uint16_t types[] = {0x8808, 0x8100, 0x88a8, 0x0800};
    struct rng rng = {.state = 2};
    int n_control = 0;

    for (int i = 0; i < 50000; i++) {
        uint8_t frame[64];
        size_t n = (size_t) rng_range(&rng, 14, sizeof(frame));
        struct macctl m;

        memset(frame, 0, sizeof(frame));
        for (int at = 12; at <= 20; at += 4) {
            uint16_t type = types[rng_below(&rng, 4)];

            frame[at] = (uint8_t) (type >> 8);
            frame[at + 1] = (uint8_t) type;
        }
        if (macctl_decode(frame, n, &m) != MACCTL_NONE) {
            n_control++;
            cr_assert(macctl_suspect(frame, n));
        }
    }
    cr_assert_gt(n_control, 1000);
}

Test(macctl, s2_quanta_become_time)
{
    cr_assert_eq(macctl_quanta_ns(0, 1), 0);
    cr_assert_eq(macctl_quanta_ns(1, UINT64_C(1000000000)), 512);
    cr_assert_eq(macctl_quanta_ns(65535, UINT64_C(1000000000)), 33553920);
    cr_assert_eq(macctl_quanta_ns(65535, UINT64_C(10000000)),
                 UINT64_C(3355392000));
    cr_assert_eq(macctl_quanta_ns(1, UINT64_C(400000000000)), 2);
    cr_assert_eq(macctl_quanta_ns(65535, 1000),
                 UINT64_C(33553920000000)); /* 1 kb/s: over nine hours */
}
