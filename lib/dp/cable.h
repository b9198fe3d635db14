/* SPDX-License-Identifier: Apache-2.0
 *
 * A cable that is emulated: a delay line between the scheduler of a port and
 * its provider.  What a port sends, MAC control too, stays on it for the
 * one-way delay, in order.  A frame on it is copied: it has left the switch's
 * buffers and its ingress group is free of it, as on a real wire; the memory
 * is the cable's own, and bounded.  It counts as held, not as sent, till the
 * provider took it.  A pause that comes in stops queues, not what is under
 * way.
 *
 * Made by the control thread, used by the dp thread.
 */
#ifndef DP_CABLE_H
#define DP_CABLE_H

#include "pkt/pkt.h"

#include <stdbool.h>
#include <stdint.h>

/* Room that data leaves for MAC control. */
#define DP_CABLE_CTL_BYTES 4096u
#define DP_CABLE_OVERHEAD  56u /* octets beside each frame, at most */

/* One frame on the cable; its octets follow. */
struct dp_cable_frame {
    uint64_t due_ns; /* when it comes out */
    uint32_t room;   /* octets of the ring that it takes, this included */
    uint32_t len;    /* octets of the frame; 0: nothing up to the ring's end */
    uint8_t queue;   /* where it came from ... */
    bool is_ctl;     /* ... unless it is MAC control */
};

struct dp_cable {
    uint64_t size;             /* octets of the ring, a power of two */
    uint64_t head;             /* of the first frame; not reduced */
    uint64_t tail;             /* behind the last one; not reduced */
    uint64_t last_due_ns;      /* of the last one */
    uint32_t n_data;           /* data frames on it */
    uint64_t data_bytes;       /* and their octets */
    struct pkt pkt[PKT_BATCH]; /* descriptors of those that come out */
    uint8_t ring[];            /* struct dp_cable_frame and octets, in turn */
};

/* With room for so many octets, or more.  Null: no memory. */
struct dp_cable *dp_cable_create(uint64_t bytes);
void dp_cable_destroy(struct dp_cable *);

static inline bool
dp_cable_is_empty(const struct dp_cable *c)
{
    return !c || c->head == c->tail;
}

/* The first frame; there is one. */
const struct dp_cable_frame *dp_cable_first(const struct dp_cable *);
/* The one behind `at` (a position from head on), and its position; null: it
 * was the last.  To begin with, *at is head. */
const struct dp_cable_frame *dp_cable_next(const struct dp_cable *,
                                           uint64_t *at);
/* Puts frames on as they are to be sent; never out before the last one.
 * Returns how many there was room for. */
uint32_t dp_cable_put(struct dp_cable *, struct pkt *const pkts[], uint32_t n,
                      uint64_t due_ns, const uint8_t prio_to_queue[8],
                      bool is_ctl);
/* The frames that are due, a batch at most, in pkts; they stay on. */
uint32_t dp_cable_due(struct dp_cable *, uint64_t now_ns,
                      struct pkt *pkts[PKT_BATCH]);
/* Takes the first one off.  It can be read until the next one is put on. */
const struct dp_cable_frame *dp_cable_pop(struct dp_cable *);
/* The same with n of them, which there are: how many are data, and their
 * octets on the wire. */
void dp_cable_take(struct dp_cable *, uint32_t n, uint32_t *n_data,
                   uint64_t *wire_bytes);
/* All that is on `from` goes on to `to`, which is empty and not smaller. */
void dp_cable_move(struct dp_cable *from, struct dp_cable *to);

#endif
