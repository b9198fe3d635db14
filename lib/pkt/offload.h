/* SPDX-License-Identifier: Apache-2.0
 *
 * What is still to be done to a frame that a host left to its interface. Hosts
 * send TCP in super-frames of up to 64 KiB without a checksum.  Inside of the
 * switch there are only frames of wire size, since that is what pauses, queues
 * and buffers count; but a frame that came as a piece of a super-frame says
 * so, and its checksum is left open.  A provider whose kernel takes
 * super-frames sends pieces that leave side by side as one again, and the
 * checksum is never computed.  For everyone else pkt_gather() and what is made
 * of it close the frame first.
 *
 * The note lies in front of the frame, at the start of its buffer, which all
 * copies share.  dp thread.
 */
#ifndef PKT_OFFLOAD_H
#define PKT_OFFLOAD_H

#include "pkt/pkt.h"

/* Longest headers of a piece that is sent as part of a super-frame. */
#define PKT_MAX_PIECE_HDR 128

struct pkt_offload {
    uint64_t super;    /* which super-frame of its provider; 0: of none */
    const void *whose; /* that provider */
    uint32_t number;   /* of the piece, from 0 */
    bool is_open;      /* the checksum is to be computed */
    bool is_last;      /* no piece of full size comes after it */
    uint8_t gso_type;  /* of the super-frame: virtio_net_hdr */
    uint16_t size;     /* octets of payload of every piece but the last */
    uint16_t hdr_len;  /* octets before the payload */
    uint16_t l3_ofs;   /* where the IP header begins */
    uint16_t l4_ofs;   /* where what is to be summed up begins */
    uint16_t csum_ofs; /* where the sum goes, from there; it holds that of the
                          pseudo header */
};

_Static_assert(sizeof(struct pkt_offload) <= PKT_HEADROOM - 16,
               "the note and a tag fit in front of a frame");

/* The note of a frame; it means something while p->has_offload. */
static inline struct pkt_offload *
pkt_offload(const struct pkt *p)
{
    const struct pkt *owner = p->owner;
    const struct pkt_pool *pool = owner->pool;

    return (struct pkt_offload *) (void *) (pool->arena +
                                            (size_t) (owner - pool->descs) *
                                                pool->stride);
}

/* Whether a provider that can may send p with its checksum open. */
static inline bool
pkt_is_open(const struct pkt *p)
{
    return p->has_offload && pkt_offload(p)->is_open;
}

/* p, which was just received, gets a note with an open checksum of those
 * offsets (they are within the frame), and is no piece. */
struct pkt_offload *pkt_leave_open(struct pkt *p, uint16_t l4_ofs,
                                   uint16_t csum_ofs);

/* Whether p is a piece of a super-frame, and others come after it. */
static inline bool
pkt_is_unfinished(const struct pkt *p)
{
    const struct pkt_offload *o = pkt_offload(p);

    return p->has_offload && o->super && !o->is_last;
}

/* Whether both are pieces of the same super-frame. */
static inline bool
pkt_same_super(const struct pkt *p, const struct pkt *other)
{
    const struct pkt_offload *a = pkt_offload(p), *b = pkt_offload(other);

    return p->has_offload && other->has_offload && a->super &&
           a->super == b->super && a->whose == b->whose;
}

/* Whether `next` may follow p in a super-frame: the next piece of the same
 * one, with the same notes on how it leaves. */
bool pkt_continues(const struct pkt *p, const struct pkt *next);

#endif
