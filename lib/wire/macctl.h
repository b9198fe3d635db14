/* SPDX-License-Identifier: Apache-2.0
 *
 * MAC control frames: IEEE 802.3 clause 31, Annex 31B (PAUSE) and Annex 31D /
 * IEEE 802.1Q clause 36 (PFC).  Pure codec, any thread.
 */
#ifndef WIRE_MACCTL_H
#define WIRE_MACCTL_H

#include "wire/eth.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MACCTL_ETHERTYPE    ETH_T_MACCTL
#define MACCTL_OP_PAUSE     0x0001
#define MACCTL_OP_PFC       0x0101
#define MACCTL_LEN          60  /* octets that we send, without FCS */
#define MACCTL_QUANTUM_BITS 512 /* bit times in one pause quantum */
#define N_PRIO              8

/* 01-80-C2-00-00-01, the group address of MAC control. */
extern const uint8_t macctl_dst[6];

enum macctl_kind {
    MACCTL_NONE,        /* not a MAC control frame: forward it */
    MACCTL_PFC,         /* a well-formed PFC frame */
    MACCTL_PAUSE,       /* a well-formed 802.3x PAUSE frame */
    MACCTL_UNSUPPORTED, /* another opcode: consume and count */
    MACCTL_MALFORMED,   /* wrong address, tagged, or short: consume, count */
};

struct macctl {
    enum macctl_kind kind; /* what it is */
    uint8_t enable;        /* PFC: bit p = e[p] */
    uint16_t time[N_PRIO]; /* PFC: quanta per priority; PAUSE: time[0] */
    uint8_t src[6];        /* source MAC, any value */
};

static inline uint16_t
macctl_type_at(const uint8_t *frame, size_t ofs)
{
    return (uint16_t) ((frame[ofs] << 8) | frame[ofs + 1]);
}

/* Whether a frame of n >= 14 octets needs macctl_decode() at all: the test
 * that a datapath makes for every frame.  Never false for MAC control; true
 * for others only when they have two tags. */
static inline bool
macctl_suspect(const uint8_t *frame, size_t n)
{
    uint16_t type = macctl_type_at(frame, 12);

    if ((type == ETH_T_VLAN || type == ETH_T_SVLAN) && n >= 18) {
        type = macctl_type_at(frame, 16);
        if (type == ETH_T_VLAN || type == ETH_T_SVLAN)
            return true;
    }
    return type == MACCTL_ETHERTYPE;
}

/* Decodes a frame (n octets without FCS).  MACCTL_NONE for one whose
 * EtherType, looked for behind up to two VLAN tags too, is not 0x8808; a frame
 * with a tag before 0x8808 is malformed.  Fills *m in every case. */
enum macctl_kind macctl_decode(const uint8_t *frame, size_t n,
                               struct macctl *m);

/* Write MACCTL_LEN octets. time[p] of priorities not in `enable` go as 0. */
void macctl_encode_pfc(uint8_t out[MACCTL_LEN], const uint8_t src[6],
                       uint8_t enable, const uint16_t time[N_PRIO]);
void macctl_encode_pause(uint8_t out[MACCTL_LEN], const uint8_t src[6],
                         uint16_t time);

/* How long `quanta` last at rate_bps, ns, rounded up; rate_bps > 0. */
uint64_t macctl_quanta_ns(uint16_t quanta, uint64_t rate_bps);

#endif
