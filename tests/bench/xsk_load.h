/* SPDX-License-Identifier: Apache-2.0
 *
 * A load of ordinary frames: what an AF_XDP socket sends by copy is made into
 * the same buffers as what a packet socket sends, for two thirds of the price,
 * so that on AF_PACKET too it is the switch that is the limit.
 */
#ifndef BENCH_XSK_LOAD_H
#define BENCH_XSK_LOAD_H

#include <stdint.h>
#include <xdp/xsk.h>

#define XSK_LOAD_BURST 32   /* frames of one call, at most */
#define XSK_LOAD_MAX   4096 /* octets of one, and from one to the next */

struct xsk_load {
    uint8_t *frames;           /* where the frames of a burst are written */
    struct xsk_umem *umem;     /* the same, as the kernel knows it */
    struct xsk_socket *sock;   /* the socket */
    struct xsk_ring_prod fill; /* not used */
    struct xsk_ring_prod tx;   /* frames to send */
    struct xsk_ring_cons done; /* frames that are gone */
};

/* On an interface in the namespace of the thread; 0 or an errno. */
int xsk_load_open(struct xsk_load *, const char *iface);
/* Sends the first n frames; returns when the device has taken them: 0 or an
 * errno. */
int xsk_load_send(struct xsk_load *, const uint32_t lens[], uint32_t n);

#endif
