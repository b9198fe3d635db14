/* SPDX-License-Identifier: Apache-2.0
 *
 * Sending frames whose checksum is open (pkt/offload.h) to a kernel that takes
 * a virtio_net_hdr: pieces of a super-frame that leave side by side, and in
 * the same way, become one message.  Pure; called by the providers' tx, on the
 * datapath thread.
 */
#ifndef NETDEV_REGROUP_H
#define NETDEV_REGROUP_H

#include "netdev/netdev.h"
#include "pkt/offload.h"

#include <linux/virtio_net.h>
#include <sys/uio.h>

/* A message: the header that tells the kernel what is to be done, the headers,
 * and each piece's payload. */
struct regroup {
    struct virtio_net_hdr vnet;                       /* first in iov */
    struct iovec iov[3 + NETDEV_TX_MAX];              /* what is to be sent */
    int n_iov;                                        /* how many */
    uint8_t headers[PKT_MAX_PIECE_HDR + PKT_SCRATCH]; /* changed ones */
};

/* Lays out the message that begins with pkts[0], which pkt_is_open(), for an
 * interface of that MTU; n <= NETDEV_TX_MAX.  Returns how many frames are in
 * it. */
uint32_t regroup(struct regroup *, struct pkt *const pkts[], uint32_t n,
                 uint32_t mtu);

#endif
