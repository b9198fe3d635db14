/* SPDX-License-Identifier: Apache-2.0
 *
 * The headroom rule: pfc-semantics section 6.  How many bytes may still
 * arrive after an XOFF was decided.  Every term on its own, so that `doctor`
 * can show it.  Pure, any thread.
 */
#ifndef QOS_HEADROOM_H
#define QOS_HEADROOM_H

#include <stdint.h>

#define HEADROOM_MIN_STALL_NS UINT64_C(2000000)

struct headroom_in {
    uint64_t rate_bps;       /* of the link; > 0 */
    uint64_t cable_delay_ns; /* one way */
    uint32_t mtu_rx_bytes;   /* largest frame the peer may be sending */
    uint32_t mtu_tx_bytes;   /* largest frame we may be sending */
    uint32_t cell_bytes;     /* buffer cell; 1: none */
    uint64_t stall_ns;       /* longest gap between turns that was measured */
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
    uint64_t batch_bytes; /* one peer batch, 32 x MTU */
    uint64_t sw_bytes;    /* their sum with the cable */
    uint64_t total_bytes; /* the larger of both: what is needed */
};

void headroom_compute(const struct headroom_in *, struct headroom *);

/* Quanta within which a peer of that rate must react. */
uint32_t headroom_reaction_quanta(uint64_t rate_bps);

#endif
