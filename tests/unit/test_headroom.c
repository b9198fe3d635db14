/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/qos/headroom: the terms of pfc-semantics section 6, worked out by hand.
 */
#include "qos/headroom.h"

#include <criterion/criterion.h>

#define MBPS UINT64_C(1000000)
#define GBPS UINT64_C(1000000000)

Test(headroom, s6_reaction_by_rate)
{
    static const struct {
        uint64_t rate;
        uint32_t quanta;
    } cases[] = {
        {10 * MBPS, 1},    {100 * MBPS, 1},   {GBPS, 2},
        {200 * MBPS, 2},   {2500 * MBPS, 67}, {5 * GBPS, 67},
        {10 * GBPS, 67},   {25 * GBPS, 80},   {40 * GBPS, 118},
        {50 * GBPS, 147},  {100 * GBPS, 394}, {200 * GBPS, 453},
        {400 * GBPS, 905}, {101 * GBPS, 453}, {26 * GBPS, 118},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        cr_assert_eq(headroom_reaction_quanta(cases[i].rate), cases[i].quanta,
                     "case %zu", i);
    cr_assert_geq(headroom_reaction_quanta(800 * GBPS), 1810);
}

Test(headroom, s6_reaction_never_falls_with_the_rate)
{
    uint32_t last = 0;

    for (uint64_t rate = MBPS; rate < 2000 * GBPS; rate += rate / 10) {
        uint32_t quanta = headroom_reaction_quanta(rate);

        cr_assert_geq(quanta, last);
        last = quanta;
    }
}

/* 10 Gb/s, 300 m of cable (1500 ns), frames of 9216: hardware's case. */
Test(headroom, s6_hardware_terms)
{
    const struct headroom_in in = {.rate_bps = 10 * GBPS,
                                   .cable_delay_ns = 1500,
                                   .mtu_rx_bytes = 9216,
                                   .mtu_tx_bytes = 1518,
                                   .cell_bytes = 144};
    struct headroom h;

    headroom_compute(&in, &h);
    cr_assert_eq(h.cable_bytes, 3750);
    cr_assert_eq(h.reaction_bytes, 67 * 64);
    cr_assert_eq(h.rx_mtu_bytes, 9216);
    cr_assert_eq(h.tx_mtu_bytes, 1518);
    cr_assert_gt(h.macphy_bytes, 0);
    cr_assert_eq(h.hw_bytes % 144, 0);
    cr_assert_geq(h.hw_bytes, 3750 + 67 * 64 + 9216 + 1518 + h.macphy_bytes);
    cr_assert_lt(h.hw_bytes,
                 3750 + 67 * 64 + 9216 + 1518 + h.macphy_bytes + 144);
}

Test(headroom, s6_software_terms)
{
    const struct headroom_in in = {.rate_bps = GBPS,
                                   .cable_delay_ns = 10000,
                                   .mtu_rx_bytes = 1518,
                                   .mtu_tx_bytes = 1518,
                                   .cell_bytes = 1,
                                   .stall_ns = 3000000};
    struct headroom h;

    headroom_compute(&in, &h);
    cr_assert_eq(h.stall_bytes, 375000);
    cr_assert_eq(h.batch_bytes, 32 * 1518);
    cr_assert_eq(h.cable_bytes, 2500);
    cr_assert_eq(h.sw_bytes, 375000 + 32 * 1518 + 2500);
    cr_assert_eq(h.total_bytes, h.sw_bytes);
}

Test(headroom, s6_stall_is_2_ms_at_least)
{
    struct headroom_in in = {.rate_bps = 100 * MBPS,
                             .mtu_rx_bytes = 1518,
                             .mtu_tx_bytes = 1518};
    struct headroom h;

    headroom_compute(&in, &h);
    cr_assert_eq(h.stall_bytes, 25000);
    in.stall_ns = 1999999;
    headroom_compute(&in, &h);
    cr_assert_eq(h.stall_bytes, 25000);
    in.stall_ns = 2000001;
    headroom_compute(&in, &h);
    cr_assert_eq(h.stall_bytes, 25001); /* rounded up */
}

Test(headroom, s6_the_larger_of_both)
{
    struct headroom_in in = {.rate_bps = 100 * MBPS,
                             .mtu_rx_bytes = 60,
                             .mtu_tx_bytes = 65535};
    struct headroom h;

    headroom_compute(&in, &h);
    cr_assert_gt(h.hw_bytes, h.sw_bytes);
    cr_assert_eq(h.total_bytes, h.hw_bytes);
}

/* A long cable at a high rate is more than 32 bits of bytes. */
Test(headroom, s6_large_numbers)
{
    const struct headroom_in in = {.rate_bps = 400 * GBPS,
                                   .cable_delay_ns = GBPS,
                                   .mtu_rx_bytes = 9216,
                                   .mtu_tx_bytes = 9216,
                                   .cell_bytes = 256,
                                   .stall_ns = 10 * GBPS};
    struct headroom h;

    headroom_compute(&in, &h);
    cr_assert_eq(h.cable_bytes, 100 * GBPS);
    cr_assert_eq(h.stall_bytes, 500 * GBPS);
}
