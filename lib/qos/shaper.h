/* SPDX-License-Identifier: Apache-2.0
 *
 * A token bucket that spends a rate: of a port, or of a queue.  Counts frame
 * octets without FCS.  Exact over time (credit is kept in bit-nanoseconds),
 * bursts of one peer batch at most.  Pure.
 */
#ifndef QOS_SHAPER_H
#define QOS_SHAPER_H

#include <stdbool.h>
#include <stdint.h>

struct shaper {
    uint64_t rate_bps;    /* 0: not shaped */
    uint64_t burst_bytes; /* most credit that is kept */
    int64_t credit;       /* bit-ns/1e9 units; may go negative by one frame */
    uint64_t last_ns;     /* when credit was brought up to date */
};

/* burst_bytes 0: chosen from the rate and max_frame_bytes. */
void shaper_init(struct shaper *, uint64_t rate_bps, uint64_t burst_bytes,
                 uint32_t max_frame_bytes, uint64_t now_ns);
void shaper_set_rate(struct shaper *, uint64_t rate_bps, uint64_t burst_bytes,
                     uint32_t max_frame_bytes, uint64_t now_ns);

/* Whether a frame may leave at now_ns (credit is positive). */
bool shaper_ready(struct shaper *, uint64_t now_ns);
void shaper_charge(struct shaper *, uint32_t bytes);
void shaper_refund(struct shaper *, uint32_t bytes);
/* When shaper_ready() turns true; now or earlier when it is. */
uint64_t shaper_deadline(const struct shaper *);

#endif
