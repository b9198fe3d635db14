/* SPDX-License-Identifier: Apache-2.0
 *
 * Histogram of times: see probe_hist.h.
 */
#include "probe_hist.h"

#define SUB (1u << PROBE_HIST_SUB_BITS)

/* Values below 2 x SUB have a bucket each; above, each doubling has SUB. */
static uint32_t
index_of(uint64_t value)
{
    uint32_t shift;

    if (value >> PROBE_HIST_MAX_BITS)
        return PROBE_HIST_BUCKETS - 1;
    if (value < 2 * SUB)
        return (uint32_t) value;
    shift = 63u - (uint32_t) __builtin_clzll(value) - PROBE_HIST_SUB_BITS;
    return shift * SUB + (uint32_t) (value >> shift);
}

/* Largest value of a bucket. */
static uint64_t
upper_of(uint32_t index)
{
    uint32_t shift;

    if (index < 2 * SUB)
        return index;
    shift = index / SUB - 1;
    return ((uint64_t) (index - shift * SUB + 1) << shift) - 1;
}

static void
bucket_add(uint32_t *bucket, uint32_t n)
{
    *bucket = *bucket > UINT32_MAX - n ? UINT32_MAX : *bucket + n;
}

void
probe_hist_add(struct probe_hist *h, uint64_t value)
{
    if (h->n == 0 || value < h->min)
        h->min = value;
    if (value > h->max)
        h->max = value;
    h->n++;
    bucket_add(&h->bucket[index_of(value)], 1);
}

void
probe_hist_merge(struct probe_hist *to, const struct probe_hist *from)
{
    if (from->n == 0)
        return;
    if (to->n == 0 || from->min < to->min)
        to->min = from->min;
    if (from->max > to->max)
        to->max = from->max;
    to->n += from->n;
    for (uint32_t i = 0; i < PROBE_HIST_BUCKETS; i++)
        bucket_add(&to->bucket[i], from->bucket[i]);
}

uint64_t
probe_hist_percentile(const struct probe_hist *h, uint32_t per_10000)
{
    unsigned __int128 scaled = (unsigned __int128) h->n * per_10000;
    uint64_t want = (uint64_t) ((scaled + 9999) / 10000);
    uint64_t seen = 0;

    if (h->n == 0)
        return 0;
    if (want == 0)
        return h->min;
    for (uint32_t i = 0; i < PROBE_HIST_BUCKETS - 1; i++) {
        seen += h->bucket[i];
        if (seen >= want)
            return upper_of(i) < h->max ? upper_of(i) : h->max;
    }
    return h->max;
}
