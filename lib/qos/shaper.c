/* SPDX-License-Identifier: Apache-2.0
 *
 * The token bucket: see shaper.h.
 */
#include "qos/shaper.h"

#include <assert.h>

#define BURST_MS         4
#define BURST_MIN_FRAMES 2
#define BURST_MAX_FRAMES 32

static int64_t
full(const struct shaper *s)
{
    return (int64_t) s->burst_bytes * SHAPER_OCTET;
}

static uint64_t
choose_burst(uint64_t rate_bps, uint32_t max_frame_bytes)
{
    uint64_t burst = rate_bps / 8 * BURST_MS / 1000;
    uint64_t least = (uint64_t) BURST_MIN_FRAMES * max_frame_bytes;
    uint64_t most = (uint64_t) BURST_MAX_FRAMES * max_frame_bytes;

    return burst < least ? least : burst > most ? most : burst;
}

static void
set_limits(struct shaper *s, uint64_t rate_bps, uint64_t burst_bytes,
           uint32_t max_frame_bytes)
{
    if (burst_bytes == 0)
        burst_bytes = choose_burst(rate_bps, max_frame_bytes);
    assert(rate_bps <= SHAPER_MAX_RATE);
    assert(burst_bytes > 0 && burst_bytes <= SHAPER_MAX_BURST);
    s->rate_bps = rate_bps;
    s->burst_bytes = burst_bytes;
}

void
shaper_init(struct shaper *s, uint64_t rate_bps, uint64_t burst_bytes,
            uint32_t max_frame_bytes, uint64_t now_ns)
{
    set_limits(s, rate_bps, burst_bytes, max_frame_bytes);
    s->credit = full(s);
    s->last_ns = now_ns;
}

void
shaper_set_rate(struct shaper *s, uint64_t rate_bps, uint64_t burst_bytes,
                uint32_t max_frame_bytes, uint64_t now_ns)
{
    if (s->rate_bps == 0) {
        shaper_init(s, rate_bps, burst_bytes, max_frame_bytes, now_ns);
        return;
    }
    shaper_advance(s, now_ns);
    set_limits(s, rate_bps, burst_bytes, max_frame_bytes);
    if (s->credit > full(s))
        s->credit = full(s);
}

void
shaper_advance(struct shaper *s, uint64_t now_ns)
{
    unsigned __int128 earned;

    if (now_ns <= s->last_ns)
        return;
    /* Days at 400 Gb/s do not fit into 64 bits. */
    earned = (unsigned __int128) (now_ns - s->last_ns) * s->rate_bps;
    s->last_ns = now_ns;
    if (earned >= (uint64_t) (full(s) - s->credit))
        s->credit = full(s);
    else
        s->credit += (int64_t) earned;
}

void
shaper_refund(struct shaper *s, uint32_t bytes)
{
    if (s->rate_bps == 0)
        return;
    s->credit += (int64_t) bytes * SHAPER_OCTET;
    if (s->credit > full(s))
        s->credit = full(s);
}

uint64_t
shaper_deadline(const struct shaper *s)
{
    if (s->rate_bps == 0 || s->credit > 0)
        return s->last_ns;
    return s->last_ns + (uint64_t) -s->credit / s->rate_bps + 1;
}
