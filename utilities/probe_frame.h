/* SPDX-License-Identifier: Apache-2.0
 *
 * The frames that probes send each other: an Ethernet header, a VLAN tag if
 * wanted, EtherType 0x88b5 (802's local experimental one) or UDP over IPv4,
 * the probe header, and filler.  The filler follows from the header, and the
 * header carries a check of itself, so that a receiver sees every changed
 * octet.  Pure codec, any thread.
 *
 * The probe header, in network byte order:
 *
 *     4  magic "SLPR"
 *     1  version, 1
 *     1  flags: bit 0, the last frame of its flow
 *     1  priority that the sender meant
 *     1  zero
 *     4  flow
 *     2  octets from the magic to the end of the filler
 *     2  zero
 *     8  sequence number
 *     8  time of sending, CLOCK_MONOTONIC, ns
 *     8  check of all of the above
 */
#ifndef UTILITIES_PROBE_FRAME_H
#define UTILITIES_PROBE_FRAME_H

#include "probe_conf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROBE_ETHERTYPE 0x88b5
#define PROBE_UDP_PORT  0x88b5
#define PROBE_HDR_LEN   40
#define PROBE_FLAG_LAST 1u

/* What the sender says in a frame. */
struct probe_hdr {
    uint32_t flow;    /* its id */
    uint64_t seq;     /* 0 on */
    uint64_t sent_ns; /* CLOCK_MONOTONIC of the sender */
    uint8_t prio;     /* 0..7 */
    bool last;        /* the flow ends with it */
};

/* Shortest frame of such a flow, octets without FCS, tag included. */
uint32_t probe_frame_min(const struct probe_flow_conf *);

/* Writes a frame of n octets, probe_frame_min() <= n <= PROBE_MAX_FRAME. */
void probe_frame_build(uint8_t *out, uint32_t n, const uint8_t src[6],
                       const struct probe_flow_conf *,
                       const struct probe_hdr *);

enum probe_kind {
    PROBE_OTHER,   /* not a probe's frame */
    PROBE_GOOD,    /* every octet is as it was sent */
    PROBE_DAMAGED, /* header right, filler changed or cut: flow is known */
    PROBE_GARBLED, /* a probe's frame whose header cannot be believed */
};

struct probe_seen {
    struct probe_hdr hdr; /* GOOD, DAMAGED */
    uint8_t src[6];       /* source MAC */
    bool tagged;          /* it came with a VLAN tag */
    uint8_t pcp;          /* of that tag; 0 without */
    uint16_t vid;         /* of that tag; 0 without */
};

/* Reads a frame as it came in; fills *seen unless PROBE_OTHER. */
enum probe_kind probe_frame_parse(const uint8_t *frame, size_t n,
                                  struct probe_seen *seen);

#endif
