/* SPDX-License-Identifier: Apache-2.0
 *
 * The headroom rule: see headroom.h.
 */
#include "qos/headroom.h"

#include "wire/macctl.h"

#include <assert.h>

#define NS_IN_S       UINT64_C(1000000000)
#define QUANTUM_BYTES (MACCTL_QUANTUM_BITS / 8)
#define PEER_BATCH    32 /* frames a peer may send before it looks */
#define MACPHY_BYTES  HEADROOM_MACPHY_BYTES
#define KIB           UINT64_C(1024)
#define SMALL_BYTES   64u /* shortest packet, with its FCS */
#define REACTION_TOP  (sizeof(reaction) / sizeof(reaction[0]) - 1)
#define MBPS          UINT64_C(1000000)
#define GBPS          UINT64_C(1000000000)

/* IEEE 802.3 31B.3.7: quanta within which a station must have stopped. */
static const struct {
    uint64_t rate_bps; /* up to this rate */
    uint32_t quanta;   /* so many */
} reaction[] = {
    {100 * MBPS, 1},   {GBPS, 2},         {10 * GBPS, 67},
    {25 * GBPS, 80},   {40 * GBPS, 118},  {50 * GBPS, 147},
    {100 * GBPS, 394}, {200 * GBPS, 453}, {400 * GBPS, 905},
};

/* Octets that a rate carries in a time, rounded up. */
static uint64_t
bytes_in(uint64_t rate_bps, uint64_t ns)
{
    unsigned __int128 bit_ns = (unsigned __int128) rate_bps * ns;

    return (uint64_t) ((bit_ns + 8 * NS_IN_S - 1) / (8 * NS_IN_S));
}

uint32_t
headroom_reaction_quanta(uint64_t rate_bps)
{
    uint64_t top = reaction[REACTION_TOP].rate_bps;

    for (unsigned i = 0; i <= REACTION_TOP; i++)
        if (rate_bps <= reaction[i].rate_bps)
            return reaction[i].quanta;
    /* Beyond the table the same time is allowed. */
    return (uint32_t) ((unsigned __int128) reaction[REACTION_TOP].quanta *
                           rate_bps / top +
                       1);
}

void
headroom_compute(const struct headroom_in *in, struct headroom *h)
{
    uint32_t cell = in->cell_bytes > 0 ? in->cell_bytes : 1;
    uint64_t stall_ns = in->stall_ns > HEADROOM_MIN_STALL_NS
                            ? in->stall_ns
                            : HEADROOM_MIN_STALL_NS;

    assert(in->rate_bps > 0);
    h->cable_bytes = bytes_in(in->rate_bps, 2 * in->cable_delay_ns);
    h->reaction_bytes =
        (uint64_t) headroom_reaction_quanta(in->rate_bps) * QUANTUM_BYTES;
    h->macphy_bytes = MACPHY_BYTES;
    h->rx_mtu_bytes = in->mtu_rx_bytes;
    h->tx_mtu_bytes = in->mtu_tx_bytes;
    h->hw_bytes = h->cable_bytes + h->reaction_bytes + h->macphy_bytes +
                  h->rx_mtu_bytes + h->tx_mtu_bytes;
    h->hw_bytes = (h->hw_bytes + cell - 1) / cell * cell;

    h->stall_bytes = bytes_in(in->rate_bps, stall_ns);
    h->batch_bytes = (uint64_t) PEER_BATCH * in->mtu_rx_bytes;
    h->late_bytes =
        in->emulated && in->cable_delay_ns > 0 ? h->stall_bytes : 0;
    h->sw_bytes =
        h->stall_bytes + h->late_bytes + h->batch_bytes + h->cable_bytes;
    h->total_bytes = h->hw_bytes > h->sw_bytes ? h->hw_bytes : h->sw_bytes;
}

/* Octets of memory that an octet of small packets takes, as a fraction: a
 * packet of one octet more than a cell takes two cells; in cells of more than
 * two packets, each packet takes one. */
static void
small_weight(uint32_t cell, bool whole, uint64_t *num, uint64_t *den)
{
    *num = cell > 2 * SMALL_BYTES ? (cell + SMALL_BYTES - 1) / SMALL_BYTES
                                  : 2 * (uint64_t) cell;
    *den = cell > 2 * SMALL_BYTES ? 1 : 1 + (uint64_t) cell;
    if (whole) {
        *num = (*num + *den - 1) / *den;
        *den = 1;
    }
}

static uint64_t
divide_up(unsigned __int128 a, uint64_t b)
{
    return (uint64_t) ((a + b - 1) / b);
}

void
headroom_hw_compute(const struct headroom_hw_in *in, struct headroom_hw *h)
{
    uint64_t num, den;

    assert(in->rate_bps > 0 && in->cell_bytes > 0 && in->small_percent <= 100);
    h->cable_bytes =
        divide_up((unsigned __int128) (2 * in->cable_mm) * in->rate_bps,
                  HEADROOM_LIGHT_M_S * 1000 * 8) +
        bytes_in(in->rate_bps, 2 * in->cable_delay_ns);
    h->reaction_bytes = (uint64_t) in->reaction_quanta * QUANTUM_BYTES;
    h->propagation_bytes = in->port_mtu_bytes + h->cable_bytes +
                           in->macphy_bytes + h->reaction_bytes;
    small_weight(in->cell_bytes, in->whole_weight, &num, &den);
    num = (100 - in->small_percent) * den + in->small_percent * num;
    den *= 100;
    h->weight_millionths = divide_up((unsigned __int128) num * 1000000, den);
    h->weighted_bytes =
        divide_up((unsigned __int128) h->propagation_bytes * num, den);
    h->xoff_bytes =
        divide_up(in->lossless_mtu_bytes + h->weighted_bytes, KIB) * KIB;
    h->size_bytes = h->xoff_bytes + in->pipeline_bytes;
}

uint64_t
headroom_cable_ns(uint64_t length_mm)
{
    return divide_up((unsigned __int128) length_mm * (NS_IN_S / 1000),
                     HEADROOM_LIGHT_M_S);
}
