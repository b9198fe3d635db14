/* SPDX-License-Identifier: Apache-2.0
 *
 * The delay line of a cable: see cable.h.  Frames lie in a ring of octets,
 * each in one piece; where one does not fit before the end, the rest is
 * skipped.
 */
#include "dp/cable.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ((uint32_t) sizeof(struct dp_cable_frame))
/* At the end of the ring there is always room for the head of a frame. */
#define ALIGN 32u
_Static_assert(sizeof(struct dp_cable_frame) <= ALIGN, "see above");

struct dp_cable *
dp_cable_create(uint64_t bytes)
{
    uint64_t size = 4096;
    struct dp_cable *c;

    while (size < bytes)
        size *= 2;
    c = aligned_alloc(64, sizeof(*c) + size);
    if (!c)
        return NULL;
    memset(c, 0, sizeof(*c));
    c->size = size;
    for (int i = 0; i < PKT_BATCH; i++) {
        c->pkt[i].owner = &c->pkt[i];
        c->pkt[i].n_refs = 1;
        c->pkt[i].in_port = PKT_NO_PORT;
    }
    return c;
}

void
dp_cable_destroy(struct dp_cable *c)
{
    free(c);
}

static struct dp_cable_frame *
frame_at(const struct dp_cable *c, uint64_t at)
{
    return (struct dp_cable_frame *) (uintptr_t) &c->ring[at & (c->size - 1)];
}

/* What is there for every frame is in place. */
static inline struct dp_cable_frame *
next(const struct dp_cable *c, uint64_t *at)
{
    while (*at != c->tail) {
        struct dp_cable_frame *f = frame_at(c, *at);

        *at += f->room;
        if (f->len)
            return f;
    }
    return NULL;
}

const struct dp_cable_frame *
dp_cable_next(const struct dp_cable *c, uint64_t *at)
{
    return next(c, at);
}

const struct dp_cable_frame *
dp_cable_first(const struct dp_cable *c)
{
    uint64_t at = c->head;

    return next(c, &at);
}

/* Where a frame of `room` octets goes, in one piece; *tail is behind it then.
 * Null: there is no room, but for what `reserve` keeps. */
static inline struct dp_cable_frame *
make_room(struct dp_cable *c, uint64_t *tail, uint32_t room, uint64_t reserve)
{
    uint64_t left = c->size - (*tail & (c->size - 1));
    uint64_t at = *tail;

    if (__builtin_expect(left < room, 0)) { /* the rest is skipped */
        struct dp_cable_frame *f = frame_at(c, at);

        if (at + left + room + reserve - c->head > c->size)
            return NULL;
        *f = (struct dp_cable_frame){.room = (uint32_t) left};
        at += left;
    }
    if (at + room + reserve - c->head > c->size)
        return NULL;
    *tail = at + room;
    return frame_at(c, at);
}

static inline uint32_t
room_for(uint32_t len)
{
    return (HEAD + len + ALIGN - 1) / ALIGN * ALIGN;
}

/* All at one moment, so that most of the work is done once. */
uint32_t
dp_cable_put(struct dp_cable *c, struct pkt *const pkts[], uint32_t n,
             uint64_t due_ns, const uint8_t prio_to_queue[8], bool is_ctl)
{
    uint64_t reserve = is_ctl ? 0 : DP_CABLE_CTL_BYTES;
    uint64_t tail = c->tail, bytes = 0;
    uint32_t i;

    if (c->head != tail && due_ns < c->last_due_ns)
        due_ns = c->last_due_ns;
    for (i = 0; i < n; i++) {
        const struct pkt *p = pkts[i];
        uint32_t len = pkt_tx_len(p);
        struct dp_cable_frame *f = make_room(c, &tail, room_for(len), reserve);

        if (!f)
            break;
        *f = (struct dp_cable_frame){due_ns, room_for(len), len,
                                     prio_to_queue[p->prio], is_ctl};
        pkt_close(p);
        if (p->tx_tag | p->tx_skip | p->tx_l3)
            pkt_copy_out_open(p, (uint8_t *) (f + 1));
        else
            memcpy(f + 1, p->data, len);
        bytes += len;
    }
    if (i)
        c->last_due_ns = due_ns;
    c->tail = tail;
    if (!is_ctl) {
        c->n_data += i;
        c->data_bytes += bytes;
    }
    return i;
}

uint32_t
dp_cable_due(struct dp_cable *c, uint64_t now_ns, struct pkt *pkts[PKT_BATCH])
{
    const struct dp_cable_frame *f;
    uint64_t at = c->head;
    uint32_t n = 0;

    while (n < PKT_BATCH && (f = next(c, &at))) {
        struct pkt *p = &c->pkt[n];

        if (f->due_ns > now_ns)
            break;
        p->data = (uint8_t *) (uintptr_t) (f + 1);
        p->len = f->len;
        pkts[n++] = p;
    }
    return n;
}

const struct dp_cable_frame *
dp_cable_pop(struct dp_cable *c)
{
    const struct dp_cable_frame *f = next(c, &c->head);

    assert(f);
    if (!f->is_ctl) {
        c->n_data--;
        c->data_bytes -= f->len;
    }
    return f;
}

void
dp_cable_take(struct dp_cable *c, uint32_t n, uint32_t *n_data,
              uint64_t *wire_bytes)
{
    uint64_t bytes = 0, padding = 0, at = c->head;
    uint32_t data = 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct dp_cable_frame *f = next(c, &at);

        assert(f);
        if (f->is_ctl)
            continue;
        data++;
        bytes += f->len;
        if (f->len < PKT_MIN_LEN)
            padding += PKT_MIN_LEN - f->len;
    }
    c->head = at;
    c->n_data -= data;
    c->data_bytes -= bytes;
    *n_data = data;
    *wire_bytes = bytes + padding;
}

void
dp_cable_move(struct dp_cable *from, struct dp_cable *to)
{
    const struct dp_cable_frame *f;
    uint64_t at = from->head;

    assert(to->head == to->tail && to->size >= from->size);
    while ((f = next(from, &at))) {
        struct dp_cable_frame *g = make_room(to, &to->tail, f->room, 0);

        assert(g);
        memcpy(g, f, HEAD + f->len);
    }
    to->last_due_ns = from->last_due_ns;
    to->n_data = from->n_data;
    to->data_bytes = from->data_bytes;
    from->head = from->tail;
    from->n_data = 0;
    from->data_bytes = 0;
}
