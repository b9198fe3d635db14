/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the afxdp provider share: afxdp.c opens and closes,
 * afxdp_prog.c loads the program that runs in the driver, afxdp_rx.c receives,
 * afxdp_tx.c sends.  See netdev.h for threads.
 */
#ifndef NETDEV_AFXDP_H
#define NETDEV_AFXDP_H

#include "netdev/iface.h"
#include "netdev/netdev.h"

#include <xdp/xsk.h>

/* Descriptors of the ring to send: what the kernel may have taken over and not
 * sent yet, and so no pause can stop any more. */
#define AFXDP_TX_SLOTS 128
/* Frames that were sent and whose buffers did not come back yet. */
#define AFXDP_MAX_HELD 2048
/* Buffers for frames that must be copied to be sent: MAC control, and floods
 * that leave otherwise than they came. */
#define AFXDP_N_COPIES 64
/* Most descriptors of one frame: 9238 octets in chunks of 3840. */
#define AFXDP_MAX_PARTS 4

/* Counted by the program in the driver, in memory that is mapped here. */
struct afxdp_seen {
    uint64_t n_ctl;      /* MAC control frames that came */
    uint64_t n_oversize; /* frames longer than a buffer, dropped */
    uint64_t n_bad;      /* frames without an Ethernet header, dropped */
};

/* The program in the driver, and what it uses. */
struct afxdp_prog {
    int seen_fd;             /* map: struct afxdp_seen */
    int socks_fd;            /* map: where the frames of queue 0 go */
    int prog_fd;             /* the program */
    int link_fd;             /* attaches it for as long as it is open */
    struct afxdp_seen *seen; /* the first map, mapped */
};

struct afxdp {
    struct netdev up;        /* must be first */
    struct pkt_pool *pool;   /* whose arena is the kernel's buffers */
    uint8_t *arena;          /* the buffers */
    uint32_t frame_bytes;    /* longest frame that a buffer holds */
    uint32_t chunk_bytes;    /* what the kernel takes a buffer to hold */
    int fd;                  /* the socket */
    bool needs_tags;         /* tags come beside the frames */
    bool completes_csum;     /* the peer may leave checksums partial */
    uint32_t no_carrier;     /* set by poll_kernel, relaxed; read by tx */
    struct xsk_umem *umem;   /* the arena as this port's socket knows it */
    struct xsk_socket *sock; /* the socket as libxdp knows it */
    struct afxdp_prog prog;  /* see there */

    struct xsk_ring_cons rx;   /* frames that came */
    struct xsk_ring_prod fill; /* buffers to receive into */
    uint32_t n_slots;          /* buffers that are with the kernel, or full */
    uint32_t scan_at;          /* rx: first entry that was not looked at for
                                  MAC control */
    uint64_t n_ctl_done;       /* MAC control frames that were handed over */
    uint32_t n_ctl_lost;       /* calls without one that the program saw */
    counter_t n_bad_parts;     /* frames whose parts were not fit */
    uint64_t *done;            /* bit by slot of rx: handed over already */
    uint32_t n_pkts_parked;    /* of parked[] */
    struct pkt **parked;       /* open and close: buffers of the fill ring */
    bool is_multi;             /* frames may come in several chunks */

    struct xsk_ring_prod tx;   /* frames to be sent */
    struct xsk_ring_cons sent; /* frames that were */
    uint32_t n_held;           /* frames between the two */
    bool is_zero_copy;         /* the driver reads the buffers itself */
    counter_t n_refused;       /* frames that a device refused */
    uint64_t *held;            /* bit by buffer: it is held by this port */
    uint32_t n_copies;         /* free buffers in copies[] */
    struct pkt *copies[AFXDP_N_COPIES];     /* free ones for copies */
    struct pkt *all_copies[AFXDP_N_COPIES]; /* all of them */

    int promisc_fd;           /* packet socket that keeps the interface
                                 promiscuous */
    uint32_t offloads_off;    /* offloads that were switched off at open */
    struct iface_drops drops; /* control: of the interface */
};

/* Loads the program and has it hand what comes in on queue 0 of the interface
 * to the socket.  EOPNOTSUPP: the driver has no native mode. */
int afxdp_prog_attach(struct afxdp *, bool native, struct err *);
void afxdp_prog_detach(struct afxdp_prog *);

/* The class's operations. */
uint32_t afxdp_rx(struct netdev *, struct pkt *pkts[], uint32_t max);
enum netdev_tx afxdp_tx(struct netdev *, struct pkt *const pkts[], uint32_t n,
                        uint32_t *n_sent);
/* Takes back the buffers of frames that were sent. */
void afxdp_reclaim(struct afxdp *);
/* Tells a driver that sleeps that there are buffers to receive into. */
void afxdp_wake_rx(struct afxdp *);

#endif
