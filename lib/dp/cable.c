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

#define HEAD  ((uint32_t) sizeof(struct dp_cable_frame))
#define ALIGN 8u

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

const struct dp_cable_frame *
dp_cable_next(const struct dp_cable *c, uint64_t *at)
{
    struct dp_cable_frame *f;

    while (*at != c->tail) {
        uint64_t left = c->size - (*at & (c->size - 1));

        if (left < HEAD) { /* not even the head of one fitted */
            *at += left;
            continue;
        }
        f = frame_at(c, *at);
        *at += f->room;
        if (f->len)
            return f;
    }
    return NULL;
}

const struct dp_cable_frame *
dp_cable_first(const struct dp_cable *c)
{
    uint64_t at = c->head;

    return dp_cable_next(c, &at);
}

/* Makes `room` octets in one piece at the tail; false: there are not. */
static bool
make_room(struct dp_cable *c, uint32_t room, uint64_t reserve)
{
    uint64_t left = c->size - (c->tail & (c->size - 1));
    uint64_t skip = left < room ? left : 0;

    if (c->tail - c->head + skip + room + reserve > c->size)
        return false;
    if (skip >= HEAD) {
        struct dp_cable_frame *f = frame_at(c, c->tail);

        f->len = 0;
        f->room = (uint32_t) skip;
    }
    c->tail += skip;
    return true;
}

static struct dp_cable_frame *
append(struct dp_cable *c, uint64_t due_ns, uint32_t len, bool is_ctl)
{
    uint32_t room = (HEAD + len + ALIGN - 1) / ALIGN * ALIGN;
    struct dp_cable_frame *f;

    if (!make_room(c, room, is_ctl ? 0 : DP_CABLE_CTL_BYTES))
        return NULL;
    f = frame_at(c, c->tail);
    c->tail += room;
    if (due_ns < c->last_due_ns)
        due_ns = c->last_due_ns;
    c->last_due_ns = due_ns;
    *f = (struct dp_cable_frame){.due_ns = due_ns,
                                 .room = room,
                                 .len = len,
                                 .is_ctl = is_ctl};
    if (!is_ctl) {
        c->n_data++;
        c->data_bytes += len;
    }
    return f;
}

bool
dp_cable_put(struct dp_cable *c, const struct pkt *p, uint64_t due_ns,
             uint8_t queue, bool is_ctl)
{
    struct dp_cable_frame *f;

    if (c->head == c->tail)
        c->last_due_ns = 0;
    f = append(c, due_ns, pkt_tx_len(p), is_ctl);
    if (!f)
        return false;
    f->queue = queue;
    pkt_copy_out(p, (uint8_t *) (f + 1));
    return true;
}

uint32_t
dp_cable_due(struct dp_cable *c, uint64_t now_ns, struct pkt *pkts[PKT_BATCH])
{
    const struct dp_cable_frame *f;
    uint64_t at = c->head;
    uint32_t n = 0;

    while (n < PKT_BATCH && (f = dp_cable_next(c, &at))) {
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
    const struct dp_cable_frame *f = dp_cable_next(c, &c->head);

    assert(f);
    if (!f->is_ctl) {
        c->n_data--;
        c->data_bytes -= f->len;
    }
    return f;
}

void
dp_cable_move(struct dp_cable *from, struct dp_cable *to)
{
    const struct dp_cable_frame *f;
    uint64_t at = from->head;

    assert(to->head == to->tail && to->size >= from->size);
    to->last_due_ns = 0;
    while ((f = dp_cable_next(from, &at))) {
        struct dp_cable_frame *g = append(to, f->due_ns, f->len, true);

        assert(g);
        g->queue = f->queue;
        g->is_ctl = f->is_ctl;
        memcpy(g + 1, f + 1, f->len);
    }
    to->n_data = from->n_data;
    to->data_bytes = from->data_bytes;
    from->head = from->tail;
    from->n_data = 0;
    from->data_bytes = 0;
}
