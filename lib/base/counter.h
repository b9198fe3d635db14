/* SPDX-License-Identifier: Apache-2.0
 *
 * Counters with one writer (the datapath thread) that any thread may read.
 * A plain add on the writer's side, a relaxed load on the reader's: no lock,
 * no locked instruction, never a torn value.
 */
#ifndef BASE_COUNTER_H
#define BASE_COUNTER_H

#include <stdint.h>

typedef uint64_t counter_t;

/* Writer only. */
static inline void
counter_add(counter_t *c, uint64_t n)
{
    __atomic_store_n(c, *c + n, __ATOMIC_RELAXED);
}

/* Writer only: for levels and high-water marks. */
static inline void
counter_set(counter_t *c, uint64_t v)
{
    __atomic_store_n(c, v, __ATOMIC_RELAXED);
}

/* Any thread. */
static inline uint64_t
counter_get(const counter_t *c)
{
    return __atomic_load_n(c, __ATOMIC_RELAXED);
}

#endif
