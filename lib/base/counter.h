/* SPDX-License-Identifier: Apache-2.0
 *
 * Counters with one writer (the datapath thread) that any thread may read.
 * A plain add on the writer's side, a relaxed load on the reader's: no lock,
 * no locked instruction, never a torn value.
 */
#ifndef BASE_COUNTER_H
#define BASE_COUNTER_H

#include <stdbool.h>
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

/* The same for states of one octet: a mask of priorities, a bool. */
static inline void
counter_set_bits(uint8_t *bits, uint8_t v)
{
    __atomic_store_n(bits, v, __ATOMIC_RELAXED);
}

static inline uint8_t
counter_get_bits(const uint8_t *bits)
{
    return __atomic_load_n(bits, __ATOMIC_RELAXED);
}

static inline void
counter_set_flag(bool *flag, bool v)
{
    __atomic_store_n(flag, v, __ATOMIC_RELAXED);
}

static inline bool
counter_get_flag(const bool *flag)
{
    return __atomic_load_n(flag, __ATOMIC_RELAXED);
}

#endif
