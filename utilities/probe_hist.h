/* SPDX-License-Identifier: Apache-2.0
 *
 * A histogram of times for percentiles: buckets whose width grows with the
 * value (as in HDR histograms), so that any value up to 2^40 ns is kept to
 * within 1/64 in a fixed room.  Pure; the receiver of a probe owns some.
 */
#ifndef UTILITIES_PROBE_HIST_H
#define UTILITIES_PROBE_HIST_H

#include <stdint.h>

#define PROBE_HIST_SUB_BITS 6
#define PROBE_HIST_MAX_BITS 40
#define PROBE_HIST_BUCKETS \
    ((PROBE_HIST_MAX_BITS - PROBE_HIST_SUB_BITS + 1) << PROBE_HIST_SUB_BITS)

struct probe_hist {
    uint64_t n;                          /* values in all */
    uint64_t min, max;                   /* exact; 0 while n is 0 */
    uint32_t bucket[PROBE_HIST_BUCKETS]; /* how many; stays at its maximum */
};

void probe_hist_add(struct probe_hist *, uint64_t value);
void probe_hist_merge(struct probe_hist *to, const struct probe_hist *from);

/* The value that `per_10000` of 10000 values do not exceed (5000: median), to
 * within 1/64 and never above max; 0 when empty. */
uint64_t probe_hist_percentile(const struct probe_hist *, uint32_t per_10000);

#endif
