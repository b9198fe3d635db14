/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of one decoded message: see arena.h.
 */
#include "ofp/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 4096

struct ofp_chunk {
    struct ofp_chunk *next;                    /* an older one */
    size_t used;                               /* octets of data[] */
    size_t room;                               /* all of data[] */
    alignas(max_align_t) unsigned char data[]; /* the pieces */
};

void *
ofp_arena_get(struct ofp_arena *a, size_t n)
{
    struct ofp_chunk *c = a->chunk;
    void *p;

    if (n > OFP_ARENA_MAX)
        return NULL;
    n = (n + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    if (a->n_bytes + n > OFP_ARENA_MAX)
        return NULL;
    if (!c || c->room - c->used < n) {
        size_t room = n > CHUNK ? n : CHUNK;

        c = malloc(sizeof(*c) + room);
        if (!c)
            return NULL;
        c->next = a->chunk;
        c->used = 0;
        c->room = room;
        a->chunk = c;
    }
    p = c->data + c->used;
    c->used += n;
    a->n_bytes += n;
    memset(p, 0, n);
    return p;
}

void
ofp_arena_free(struct ofp_arena *a)
{
    struct ofp_chunk *c = a->chunk, *next;

    for (; c; c = next) {
        next = c->next;
        free(c);
    }
    a->chunk = NULL;
    a->n_bytes = 0;
}
