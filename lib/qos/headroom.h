/* SPDX-License-Identifier: Apache-2.0
 *
 * The headroom rule: pfc-semantics section 6.  How many bytes may still
 * arrive after an XOFF was decided.  Every term on its own, so that `doctor`
 * can show it.  Pure, any thread.
 */
#ifndef QOS_HEADROOM_H
#define QOS_HEADROOM_H

#include <stdbool.h>
#include <stdint.h>

#define HEADROOM_MIN_STALL_NS UINT64_C(2000000)

struct headroom_in {
    uint64_t rate_bps;       /* of the link; > 0 */
    uint64_t cable_delay_ns; /* one way */
    uint32_t mtu_rx_bytes;   /* largest frame the peer may be sending */
    uint32_t mtu_tx_bytes;   /* largest frame we may be sending */
    uint32_t cell_bytes;     /* buffer cell; 1: none */
    uint64_t stall_ns;       /* longest gap between turns that was measured */
    bool emulated;           /* the cable is: our PFC frame comes off it in a
                                later turn, and so by a stall later */
};

struct headroom {
    /* Hardware terms: */
    uint64_t cable_bytes;    /* 2 x delay x rate */
    uint64_t reaction_bytes; /* peer's reaction limit, by rate, in bytes */
    uint64_t macphy_bytes;   /* MAC and PHY delay */
    uint64_t rx_mtu_bytes;   /* frame that the peer just began */
    uint64_t tx_mtu_bytes;   /* frame that delays our PFC frame */
    uint64_t hw_bytes;       /* their sum, in whole cells */
    /* Software terms: */
    uint64_t stall_bytes; /* rate x stall: what the ring collected */
    uint64_t late_bytes;  /* the same while the PFC frame was on a cable that
                             is emulated */
    uint64_t batch_bytes; /* one peer batch, 32 x MTU */
    uint64_t sw_bytes;    /* their sum with the cable */
    uint64_t total_bytes; /* the larger of both: what is needed */
};

void headroom_compute(const struct headroom_in *, struct headroom *);

/* Quanta within which a peer of that rate must react. */
uint32_t headroom_reaction_quanta(uint64_t rate_bps);

/* --- a switch in hardware --------------------------------------------- *
 *
 * What operators of real switches calculate with (SONiC's rule for shared
 * memory switches): memory comes in cells, and small packets waste them.
 *
 *   cable       = 2 x length x rate / 1.98e8 / 8
 *   propagation = port MTU + cable + MAC/PHY + reaction quanta x 64
 *   weight      = ceil(cell / 64) if cell > 128, else 2 cell / (1 + cell),
 *                 for the share of small packets, and 1 for the others
 *   xoff        = lossless MTU + propagation x weight, in whole KiB
 *   size        = xoff + pipeline
 */
#define HEADROOM_LIGHT_M_S      UINT64_C(198000000)
#define HEADROOM_PIPELINE_BYTES 18432u /* 18 KiB */
#define HEADROOM_MACPHY_BYTES   820u   /* 0.8 KiB */

struct headroom_hw_in {
    uint64_t rate_bps;           /* of the link; > 0 */
    uint64_t cable_mm;           /* length ... */
    uint64_t cable_delay_ns;     /* ... and delay of the cable, which add up */
    uint32_t port_mtu_bytes;     /* largest frame that we may be sending */
    uint32_t lossless_mtu_bytes; /* largest frame of a lossless class */
    uint32_t cell_bytes;         /* of the memory; > 0 */
    uint32_t reaction_quanta;    /* of the peer */
    uint32_t macphy_bytes;       /* delay of MAC and PHY */
    uint32_t pipeline_bytes;     /* delay of the pipeline */
    uint32_t small_percent;      /* packets that are small, 0..100 */
    bool whole_weight;           /* the weight is rounded up to a whole one */
};

struct headroom_hw {
    uint64_t cable_bytes;       /* there and back */
    uint64_t reaction_bytes;    /* of the peer */
    uint64_t propagation_bytes; /* sum with MTU and MAC/PHY */
    uint64_t weight_millionths; /* octets of memory for one of them */
    uint64_t weighted_bytes;    /* the product */
    uint64_t xoff_bytes;        /* with the lossless MTU, in whole KiB */
    uint64_t size_bytes;        /* with the pipeline */
};

void headroom_hw_compute(const struct headroom_hw_in *, struct headroom_hw *);
/* One-way delay of a cable, rounded up. */
uint64_t headroom_cable_ns(uint64_t length_mm);

#endif
