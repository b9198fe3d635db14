/* SPDX-License-Identifier: Apache-2.0
 *
 * Single-producer single-consumer ring: see ring.h.
 */
#include "base/ring.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct ring {
    size_t mask;           /* number of slots - 1 */
    size_t slot_bytes;     /* size of an element */
    _Atomic size_t head;   /* next to write; release pairs with ring_get */
    _Atomic size_t tail;   /* next to read; release pairs with ring_put */
    _Atomic uint64_t full; /* refused puts; written by the producer alone */
    uint8_t slots[];       /* the elements */
};

struct ring *
ring_create(size_t n_slots, size_t slot_bytes)
{
    size_t n = 1;
    struct ring *r;

    while (n < n_slots)
        n *= 2;
    r = calloc(1, sizeof(*r) + n * slot_bytes);
    if (!r)
        return NULL;
    r->mask = n - 1;
    r->slot_bytes = slot_bytes;
    return r;
}

void
ring_destroy(struct ring *r)
{
    free(r);
}

bool
ring_put(struct ring *r, const void *slot)
{
    size_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    size_t tail = atomic_load_explicit(&r->tail, memory_order_acquire);

    if (head - tail > r->mask) {
        atomic_fetch_add_explicit(&r->full, 1, memory_order_relaxed);
        return false;
    }
    memcpy(r->slots + (head & r->mask) * r->slot_bytes, slot, r->slot_bytes);
    atomic_store_explicit(&r->head, head + 1, memory_order_release);
    return true;
}

bool
ring_get(struct ring *r, void *slot)
{
    size_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    size_t head = atomic_load_explicit(&r->head, memory_order_acquire);

    if (head == tail)
        return false;
    memcpy(slot, r->slots + (tail & r->mask) * r->slot_bytes, r->slot_bytes);
    atomic_store_explicit(&r->tail, tail + 1, memory_order_release);
    return true;
}

bool
ring_empty(const struct ring *r)
{
    return atomic_load_explicit(&r->head, memory_order_acquire) ==
           atomic_load_explicit(&r->tail, memory_order_acquire);
}

uint64_t
ring_n_full(const struct ring *r)
{
    return atomic_load_explicit(&r->full, memory_order_relaxed);
}
