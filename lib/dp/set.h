/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of port slots: which ports have something to be looked at, so that a
 * turn need not ask all of them.  dp thread.
 */
#ifndef DP_SET_H
#define DP_SET_H

#include "dp/plan.h"

#include <stdbool.h>
#include <stdint.h>

struct dp_set {
    uint64_t w[DP_MAX_PORTS / 64]; /* bit per slot */
};

static inline void
dp_set_add(struct dp_set *s, uint16_t slot)
{
    s->w[slot >> 6] |= UINT64_C(1) << (slot & 63);
}

static inline void
dp_set_del(struct dp_set *s, uint16_t slot)
{
    s->w[slot >> 6] &= ~(UINT64_C(1) << (slot & 63));
}

static inline void
dp_set_put(struct dp_set *s, uint16_t slot, bool in)
{
    if (in)
        dp_set_add(s, slot);
    else
        dp_set_del(s, slot);
}

static inline bool
dp_set_has(const struct dp_set *s, uint16_t slot)
{
    return s->w[slot >> 6] >> (slot & 63) & 1;
}

/* The first member at or after `from`, or -1.  A loop over a set may add and
 * take out members as it goes. */
static inline int
dp_set_next(const struct dp_set *s, int from)
{
    for (int i = from >> 6; i < DP_MAX_PORTS / 64; i++) {
        uint64_t w = s->w[i];

        if (i == from >> 6)
            w &= ~UINT64_C(0) << (from & 63);
        if (w)
            return i * 64 + __builtin_ctzll(w);
    }
    return -1;
}

#endif
