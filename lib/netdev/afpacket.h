/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the afpacket provider share: afpacket.c opens,
 * and closes, afpacket_rx.c receives, afpacket_tx.c sends.  See netdev.h for
 * threads.
 */
#ifndef NETDEV_AFPACKET_H
#define NETDEV_AFPACKET_H

#include "netdev/gso.h"
#include "netdev/iface.h"
#include "netdev/netdev.h"

/* Segments that the payload of a super-frame is received into at once: those
 * of 64 KiB, in frames of the usual MTU. */
#define AFPACKET_PIECES 48
/* Slots of the transmit ring, a power of two, and octets of each: one page
 * holds two, and a slot holds a frame of the usual MTU with two tags. */
#define AFPACKET_TX_SLOTS      256
#define AFPACKET_TX_SLOT_BYTES 2048

struct afpacket {
    struct netdev up;      /* must be first */
    struct pkt_pool *pool; /* buffers to receive into */
    uint32_t frame_bytes;  /* longest frame that a buffer holds */
    int rx_fd;             /* socket with the receive ring */
    int ring_fd;           /* socket with the transmit ring */
    int tx_fd;             /* sends what that ring does not take */
    int open_fd;           /* the same, frames that the kernel finishes */

    uint8_t *map;       /* the ring, shared with the kernel */
    size_t map_bytes;   /* its size */
    uint8_t **slots;    /* address of each slot */
    uint32_t n_slots;   /* how many */
    uint32_t read_i;    /* oldest slot that has not been given back */
    uint32_t scan_i;    /* next slot to look at for the first time */
    uint32_t n_ready;   /* slots from read_i to scan_i: filled, ours */
    uint32_t *ctl;      /* MAC control frames in them, by slot: a FIFO */
    uint32_t ctl_first; /* its oldest entry */
    uint32_t n_ctl;     /* its length; the FIFO has n_slots entries */
    uint32_t n_idle;    /* rx calls in a row that found nothing */

    uint8_t *super; /* a super-frame that is being cut up, or its headers
                       while its payload lies in pieces */
    struct pkt *pieces[AFPACKET_PIECES]; /* buffers with a payload each */
    uint32_t first_piece;                /* of those that are left */
    uint32_t n_pieces;                   /* behind the last one */
    struct gso gso;                      /* how far that has come */
    bool has_gso;                        /* there is one */
    uint64_t n_super;                    /* how many there were */
    counter_t n_lost;   /* slots whose frame was too long and not queued */
    counter_t n_tagged; /* slots whose tag the kernel had taken out */

    uint8_t *tx_map; /* the transmit ring, shared with the kernel */
    uint32_t tx_i;   /* the slot that the kernel sends next; wraps */

    bool is_bypass;           /* sends bypass the interface's queue */
    uint32_t mtu;             /* set by poll_kernel, relaxed; read by tx */
    counter_t n_refused;      /* sends refused with ENOBUFS, and retried */
    uint32_t no_carrier;      /* set by poll_kernel, relaxed; read by tx */
    uint64_t ring_drops;      /* control: drops read so far */
    struct iface_drops drops; /* control: of the interface */
};

/* Forgets the super-frame that is being cut up: its buffers go back to the
 * pool from any thread. */
void afpacket_drop_super(struct afpacket *);
/* The class's rx, and its tx. */
uint32_t afpacket_rx(struct netdev *, struct pkt *pkts[], uint32_t max);
enum netdev_tx afpacket_tx(struct netdev *, struct pkt *const pkts[],
                           uint32_t n, uint32_t *n_sent);

#endif
