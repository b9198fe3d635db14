/* SPDX-License-Identifier: Apache-2.0
 *
 * A buffer that grows: see buf.h.
 */
#include "ofp/buf.h"

#include "base/cursor.h"

#include <stdlib.h>
#include <string.h>

void
ofp_buf_free(struct ofp_buf *b)
{
    free(b->data);
    *b = (struct ofp_buf){0};
}

uint8_t *
ofp_buf_add(struct ofp_buf *b, size_t n)
{
    uint8_t *p;

    if (b->bad)
        return NULL;
    if (b->room - b->n < n) {
        size_t room = b->room ? b->room * 2 : 256;

        while (room - b->n < n)
            room *= 2;
        p = realloc(b->data, room);
        if (!p) {
            b->bad = true;
            return NULL;
        }
        b->data = p;
        b->room = room;
    }
    p = b->data + b->n;
    memset(p, 0, n);
    b->n += n;
    return p;
}

void
ofp_buf_bytes(struct ofp_buf *b, const void *from, size_t n)
{
    uint8_t *p = n ? ofp_buf_add(b, n) : NULL;

    if (p)
        memcpy(p, from, n);
}

void
ofp_buf_u8(struct ofp_buf *b, uint8_t v)
{
    ofp_buf_bytes(b, &v, 1);
}

void
ofp_buf_be16(struct ofp_buf *b, uint16_t v)
{
    uint8_t *p = ofp_buf_add(b, 2);
    struct wcursor w = wcursor_init(p, p ? 2 : 0);

    wcursor_be16(&w, v);
}

void
ofp_buf_be32(struct ofp_buf *b, uint32_t v)
{
    uint8_t *p = ofp_buf_add(b, 4);
    struct wcursor w = wcursor_init(p, p ? 4 : 0);

    wcursor_be32(&w, v);
}

void
ofp_buf_be64(struct ofp_buf *b, uint64_t v)
{
    uint8_t *p = ofp_buf_add(b, 8);
    struct wcursor w = wcursor_init(p, p ? 8 : 0);

    wcursor_be64(&w, v);
}

void
ofp_buf_zero(struct ofp_buf *b, size_t n)
{
    if (n)
        ofp_buf_add(b, n);
}

void
ofp_buf_text(struct ofp_buf *b, const char *s, size_t n)
{
    uint8_t *p = ofp_buf_add(b, n);
    size_t len = strlen(s);

    if (p)
        memcpy(p, s, len < n ? len : n - 1);
}

void
ofp_buf_pad8(struct ofp_buf *b, size_t from)
{
    if (!b->bad)
        ofp_buf_zero(b, (8 - (b->n - from) % 8) % 8);
}

void
ofp_buf_set16(struct ofp_buf *b, size_t at, uint16_t v)
{
    if (b->bad)
        return;
    b->data[at] = (uint8_t) (v >> 8);
    b->data[at + 1] = (uint8_t) v;
}
