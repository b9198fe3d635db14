/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames that controllers were sent a part of, and may name by number: a ring,
 * in which the oldest gives way.  See ofconn.h.
 */
#include "ofconn/int.h"

#include <stdlib.h>
#include <string.h>

/* Numbers go on and on, but never reach the one that means none. */
#define ID_MASK 0x7fffffffu

uint32_t
ofconn_buffer_put(struct ofconn_switch *s, const void *frame, size_t n)
{
    struct buffer *b = &s->buffer[s->n_buffered % OFCONN_N_BUFFERS];
    void *copy = malloc(n ? n : 1);

    if (!copy)
        return UINT32_MAX;
    memcpy(copy, frame, n);
    free(b->frame);
    *b = (struct buffer){s->n_buffered & ID_MASK, copy, n};
    s->n_buffered++;
    return b->id;
}

bool
ofconn_buffer_get(struct ofconn_switch *s, uint32_t id, const void **frame,
                  size_t *n, struct ofp_error *e)
{
    struct buffer *b = &s->buffer[id % OFCONN_N_BUFFERS];
    uint32_t age = (s->n_buffered - id) & ID_MASK; /* 1: the newest */

    if (id > ID_MASK || !age || age > s->n_buffered)
        return ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BUFFER_UNKNOWN,
                        "buffer 0x%x was never given out", id);
    if (!b->frame || b->id != id)
        return ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BUFFER_EMPTY,
                        "buffer 0x%x is empty: it was used, or gave way to "
                        "others",
                        id);
    *frame = b->frame;
    *n = b->n;
    return true;
}

void
ofconn_buffer_free(struct ofconn_switch *s, uint32_t id)
{
    struct buffer *b = &s->buffer[id % OFCONN_N_BUFFERS];

    if (b->id != id)
        return;
    free(b->frame);
    b->frame = NULL;
}

void
ofconn_buffers_end(struct ofconn_switch *s)
{
    for (int i = 0; i < OFCONN_N_BUFFERS; i++)
        free(s->buffer[i].frame);
}
