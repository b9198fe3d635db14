/* SPDX-License-Identifier: Apache-2.0
 *
 * Undoing the kernel's segmentation and checksum offloads.  A frame that was
 * to be finished by hardware arrives with a virtio_net_hdr that says what is
 * missing: its checksum, or that it is a super-frame of up to 64 KiB that was
 * to be cut into frames of the MTU.  Here it is finished.
 *
 * Pure: bytes and a header in, frames out; nothing is trusted.  Called by the
 * providers' rx, on the datapath thread.
 */
#ifndef NETDEV_GSO_H
#define NETDEV_GSO_H

#include "pkt/offload.h"

#include <linux/virtio_net.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5 /* headers before Linux 6.2 lack it */
#endif

/* Longest super-frame: an IP packet of 64 KiB, Ethernet, two tags, rounded.
 * (BIG TCP beyond that is off unless an administrator asks for it.) */
#define GSO_MAX_FRAME 65600
/* Smallest payload of a segment that is accepted: bounds what one
 * super-frame can turn into (8200 frames). */
#define GSO_MIN_SIZE 8

/* Whether the header asks for anything at all. */
static inline bool
gso_is_plain(const struct virtio_net_hdr *h)
{
    return !(h->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) &&
           h->gso_type == VIRTIO_NET_HDR_GSO_NONE;
}

/* Completes the partial checksum of a frame of n octets in place: the
 * one's complement sum from octet `start` to the end goes to start + ofs,
 * which holds the sum of the pseudo header.  (SCTP: CRC32c.)  False when
 * these lie outside of the frame; it is untouched then. */
bool gso_complete(uint8_t *frame, size_t n, size_t start, size_t ofs);

/* The same for a frame that was just received to p: left open where it can be
 * (pkt/offload.h). */
bool gso_leave_open(struct pkt *p, size_t start, size_t ofs);

/* A super-frame that is being cut up.  All offsets count in `frame`, which is
 * borrowed until the last segment is out. */
struct gso {
    const uint8_t *frame; /* the super-frame */
    uint32_t len;         /* its octets */
    uint32_t pos;         /* payload octets before it have been sent */
    uint32_t seq;         /* TCP: sequence number of the payload's start */
    uint16_t size;        /* payload octets of all segments but the last */
    uint16_t hdr_len;     /* octets before the payload, repeated each time */
    uint16_t l3_ofs;      /* IP header next to the payload */
    uint16_t l4_ofs;      /* its TCP or UDP header */
    uint16_t out_l3_ofs;  /* tunnel: outer IP header; 0: no tunnel */
    uint16_t out_udp_ofs; /* tunnel over UDP: outer UDP header; 0: none */
    uint16_t n_done;      /* segments made */
    uint8_t type;         /* of the super-frame: virtio_net_hdr */
    bool stays_open;      /* the L4 checksum is left to others */
    bool in_place;        /* the payload is where the segments are */
    bool is_tcp;          /* TCP, otherwise UDP */
    bool is_ecn;          /* CWR belongs to the first segment alone */
    uint8_t tag[4];       /* VLAN tag to put in after the MACs */
    uint8_t tag_len;      /* 4, or 0: none */
};

/* Starts on a super-frame: TCP or UDP (USO) over IPv4 or IPv6, also behind two
 * VLAN tags, also in one tunnel (VXLAN and other UDP ones, GRE, IP in IP).
 * tag: 4 octets (TPID, TCI) for every segment, or null.  Every segment will be
 * at most `room` octets long.  0; EMSGSIZE: segments would be longer; EINVAL:
 * the header does not describe the frame. */
int gso_begin(struct gso *, const uint8_t *frame, size_t n,
              const struct virtio_net_hdr *, const uint8_t *tag, size_t room);

/* Whether gso_next() would yield nothing more. */
static inline bool
gso_is_done(const struct gso *g)
{
    return g->pos >= g->len;
}

/* Segments that are left. */
static inline uint32_t
gso_n_left(const struct gso *g)
{
    return gso_is_done(g) ? 0 : (g->len - g->pos + g->size - 1) / g->size;
}

/* Writes the next segment to out (`room` octets); returns its length, 0 when
 * all are out. */
uint32_t gso_next(struct gso *, uint8_t *out);

/* Whether segments may be left open (pkt/offload.h): of TCP, in no tunnel. */
static inline bool
gso_may_stay_open(const struct gso *g)
{
    return g->is_tcp && !g->out_l3_ofs &&
           g->hdr_len + g->tag_len <= PKT_MAX_PIECE_HDR;
}

/* Segments that are left, if they may leave together again (regroup.h). */
static inline uint32_t
gso_n_joinable(const struct gso *g)
{
    return gso_may_stay_open(g) ? gso_n_left(g) : 0;
}

/* The next segment to p, a fresh buffer, with its checksum open where that may
 * be: a piece of super-frame `number` (> 0) of `whose`.  One is left. */
void gso_next_pkt(struct gso *, struct pkt *p, uint64_t number,
                  const void *whose);

/* Makes headers, those of a first piece, those of a super-frame of len octets:
 * o is the piece's note, from which everything behind the MACs lies `shift`
 * octets off; last_flags are the TCP flags of the last piece. */
void gso_merge_headers(uint8_t *headers, const struct pkt_offload *o,
                       int shift, uint32_t len, uint8_t last_flags);
/* The TCP flags of a piece. */
uint8_t gso_tcp_flags(const struct pkt *p);

#endif
