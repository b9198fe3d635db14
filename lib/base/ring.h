/* SPDX-License-Identifier: Apache-2.0
 *
 * A bounded single-producer single-consumer ring of fixed-size elements: the
 * way messages and events cross between the control thread and a datapath.
 * Neither side blocks or allocates; a full ring refuses and counts.
 */
#ifndef BASE_RING_H
#define BASE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring;

/* n_slots is rounded up to a power of two.  Null when memory is short. */
struct ring *ring_create(size_t n_slots, size_t slot_bytes);
void ring_destroy(struct ring *);

/* Producer: copies one element in; false (and counted) when full. */
bool ring_put(struct ring *, const void *slot);

/* Consumer: copies the oldest element out; false when empty. */
bool ring_get(struct ring *, void *slot);

/* Either side: whether there is nothing to get at this moment. */
bool ring_empty(const struct ring *);

/* Any thread: elements refused because the ring was full. */
uint64_t ring_n_full(const struct ring *);

#endif
