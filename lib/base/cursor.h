/* SPDX-License-Identifier: Apache-2.0
 *
 * Checked byte cursors: the only way that code reads or writes wire bytes.
 * A read or write past the end touches nothing, yields zero and sets `bad`,
 * so that a parser checks once, at its end.  Network byte order.
 */
#ifndef BASE_CURSOR_H
#define BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
    const uint8_t *p; /* next octet */
    size_t left;      /* octets that remain */
    bool bad;         /* a read went past the end */
};

static inline struct cursor
cursor_init(const void *data, size_t n)
{
    return (struct cursor){.p = (const uint8_t *) data, .left = n};
}

/* Borrows n octets and steps over them; null (and bad) if there are fewer. */
static inline const uint8_t *
cursor_take(struct cursor *c, size_t n)
{
    const uint8_t *p = c->p;

    if (c->left < n) {
        c->bad = true;
        c->left = 0;
        return NULL;
    }
    c->p += n;
    c->left -= n;
    return p;
}

static inline uint8_t
cursor_u8(struct cursor *c)
{
    const uint8_t *p = cursor_take(c, 1);

    return p ? p[0] : 0;
}

static inline uint16_t
cursor_be16(struct cursor *c)
{
    const uint8_t *p = cursor_take(c, 2);

    return p ? (uint16_t) ((p[0] << 8) | p[1]) : 0;
}

static inline uint32_t
cursor_be32(struct cursor *c)
{
    uint32_t hi = cursor_be16(c);

    return (hi << 16) | cursor_be16(c);
}

static inline uint64_t
cursor_be64(struct cursor *c)
{
    uint64_t hi = cursor_be32(c);

    return (hi << 32) | cursor_be32(c);
}

struct wcursor {
    uint8_t *p;  /* next octet */
    size_t left; /* room that remains */
    bool bad;    /* a write did not fit and was left out */
};

static inline struct wcursor
wcursor_init(void *data, size_t n)
{
    return (struct wcursor){.p = (uint8_t *) data, .left = n};
}

static inline void
wcursor_bytes(struct wcursor *c, const void *from, size_t n)
{
    if (c->left < n) {
        c->bad = true;
        c->left = 0;
        return;
    }
    if (n)
        memcpy(c->p, from, n);
    c->p += n;
    c->left -= n;
}

static inline void
wcursor_zero(struct wcursor *c, size_t n)
{
    if (c->left < n) {
        c->bad = true;
        c->left = 0;
        return;
    }
    memset(c->p, 0, n);
    c->p += n;
    c->left -= n;
}

static inline void
wcursor_u8(struct wcursor *c, uint8_t v)
{
    wcursor_bytes(c, &v, 1);
}

static inline void
wcursor_be16(struct wcursor *c, uint16_t v)
{
    uint8_t b[2] = {(uint8_t) (v >> 8), (uint8_t) v};

    wcursor_bytes(c, b, 2);
}

static inline void
wcursor_be32(struct wcursor *c, uint32_t v)
{
    uint8_t b[4] = {(uint8_t) (v >> 24), (uint8_t) (v >> 16),
                    (uint8_t) (v >> 8), (uint8_t) v};

    wcursor_bytes(c, b, 4);
}

static inline void
wcursor_be64(struct wcursor *c, uint64_t v)
{
    wcursor_be32(c, (uint32_t) (v >> 32));
    wcursor_be32(c, (uint32_t) v);
}

#endif
