/* SPDX-License-Identifier: Apache-2.0
 *
 * Weighted random early detection with explicit congestion notification, by
 * queue: pfc-semantics section 11, RFC 3168.  Decides about one frame that is
 * about to be queued, by the octets that are queued before it: by the length
 * of this moment, not by an average, as data-centre transports (DCTCP, DCQCN)
 * want it.  Pure: the random numbers come from the caller.  Datapath thread.
 */
#ifndef QOS_WRED_H
#define QOS_WRED_H

#include "base/rng.h"

#include <stdbool.h>
#include <stdint.h>

/* The two bits of an IP header (RFC 3168). */
#define ECN_NOT_ECT 0
#define ECN_ECT1    1
#define ECN_ECT0    2
#define ECN_CE      3
#define ECN_MASK    3

struct wred_conf {
    uint64_t min_bytes; /* nothing happens at or below */
    uint64_t max_bytes; /* every frame above; >= min_bytes; 0: no WRED */
    uint8_t percent;    /* probability at max_bytes, 0..100; linear between */
    bool ecn;           /* mark what can be marked, instead of dropping it */
};

enum wred_verdict { WRED_PASS, WRED_MARK, WRED_DROP };

/* What happens to a frame with those ECN bits (ECN_NOT_ECT when it is no IP)
 * that finds `queued` octets.  A lossless queue drops nothing; CE passes,
 * unless ECN is off. */
enum wred_verdict wred_decide(const struct wred_conf *, uint64_t queued,
                              bool lossless, uint8_t ecn, struct rng *);

#endif
