/* SPDX-License-Identifier: Apache-2.0
 *
 * A small deterministic random generator (splitmix64): the same seed gives the
 * same run everywhere.  Not for secrets.  The caller owns the state.
 */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state; /* any value is a valid seed */
};

static inline uint64_t
rng_u64(struct rng *r)
{
    uint64_t z = (r->state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Uniform in [0, n); n > 0. */
static inline uint64_t
rng_below(struct rng *r, uint64_t n)
{
    return (uint64_t) (((unsigned __int128) rng_u64(r) * n) >> 64);
}

/* Uniform in [lo, hi], both included. */
static inline uint64_t
rng_range(struct rng *r, uint64_t lo, uint64_t hi)
{
    return lo + rng_below(r, hi - lo + 1);
}

#endif
