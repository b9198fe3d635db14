/* SPDX-License-Identifier: Apache-2.0
 *
 * Checksums that a sender left to hardware, where nobody says so.  A veth has
 * no hardware: TCP and UDP frames of the host at its other end carry the sum
 * of the pseudo header in place of their checksum, and an AF_XDP socket is not
 * told.  Such a frame is recognised, and finished, here.
 *
 * Pure.  Called by the afxdp provider's rx, on the datapath thread.
 */
#ifndef NETDEV_CSUM_H
#define NETDEV_CSUM_H

#include <stddef.h>
#include <stdint.h>

/* Completes, in place, the checksum of a TCP or UDP segment over IPv4 or IPv6
 * (behind at most two tags; in VXLAN, too) when the field holds the sum of the
 * pseudo header.  That of a complete one may happen to be the same number, in
 * one frame of 65,536; then it is right already, and stays.  So the one thing
 * that this can do wrong is to hide a frame damaged on the way whose checksum
 * is that number. */
void csum_complete(uint8_t *frame, size_t n);

#endif
