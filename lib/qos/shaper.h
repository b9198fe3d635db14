/* SPDX-License-Identifier: Apache-2.0
 *
 * A token bucket that spends a rate: of a port, or of a queue.  Counts frame
 * octets without FCS.  Exact over time (credit is kept in bit-nanoseconds),
 * bursts of one peer batch at most.  Pure.  Datapath thread.
 */
#ifndef QOS_SHAPER_H
#define QOS_SHAPER_H

#include <stdbool.h>
#include <stdint.h>

/* What an octet costs: 8 bits, each of which a rate of 1 bit/s earns in 10^9
 * ns. */
#define SHAPER_OCTET INT64_C(8000000000)
/* Bounds that keep every product within 64 bits. */
#define SHAPER_MAX_BURST UINT64_C(1000000000)
#define SHAPER_MAX_RATE  UINT64_C(1000000000000)

struct shaper {
    uint64_t rate_bps;    /* 0: not shaped */
    uint64_t burst_bytes; /* most credit that is kept */
    int64_t credit;       /* bit x ns x rate; may go negative by one frame */
    uint64_t last_ns;     /* when credit was brought up to date */
};

/* burst_bytes 0: chosen from the rate and max_frame_bytes: what 4 ms carry,
 * but 2 frames at least and 32, one batch, at most. */
void shaper_init(struct shaper *, uint64_t rate_bps, uint64_t burst_bytes,
                 uint32_t max_frame_bytes, uint64_t now_ns);
/* Keeps the credit, as far as the new burst allows; begins full when there
 * was no rate before. */
void shaper_set_rate(struct shaper *, uint64_t rate_bps, uint64_t burst_bytes,
                     uint32_t max_frame_bytes, uint64_t now_ns);

/* Use shaper_ready(). */
void shaper_advance(struct shaper *, uint64_t now_ns);

/* Whether a frame may leave at now_ns (credit is positive). */
static inline bool
shaper_ready(struct shaper *s, uint64_t now_ns)
{
    if (s->rate_bps == 0)
        return true;
    if (now_ns > s->last_ns)
        shaper_advance(s, now_ns);
    return s->credit > 0;
}

static inline void
shaper_charge(struct shaper *s, uint32_t bytes)
{
    if (s->rate_bps > 0)
        s->credit -= (int64_t) bytes * SHAPER_OCTET;
}

/* Takes a charge back. */
void shaper_refund(struct shaper *, uint32_t bytes);
/* When shaper_ready() turns true; now or earlier when it is. */
uint64_t shaper_deadline(const struct shaper *);

#endif
