/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of one decoded message: pieces that are freed all at once.  Bounded,
 * so that no message can make the switch take more than ARENA_MAX.  One
 * thread.
 */
#ifndef OFP_ARENA_H
#define OFP_ARENA_H

#include <stddef.h>

#define OFP_ARENA_MAX ((size_t) 8 << 20) /* octets of one message */

struct ofp_arena {
    struct ofp_chunk *chunk; /* the newest; null at first */
    size_t n_bytes;          /* handed out so far */
};

/* Zeroed, aligned for anything; null when memory or the bound is at an end. */
void *ofp_arena_get(struct ofp_arena *, size_t n);
void ofp_arena_free(struct ofp_arena *);

#endif
