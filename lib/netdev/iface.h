/* SPDX-License-Identifier: Apache-2.0
 *
 * What providers on an existing interface of the kernel (afpacket, afxdp) have
 * in common: taking it over, and telling what the kernel lost of its frames
 * from what it counted.  Control thread.
 */
#ifndef NETDEV_IFACE_H
#define NETDEV_IFACE_H

#include "base/counter.h"
#include "base/err.h"
#include "netdev/link.h"
#include "netdev/netdev.h"

#include <stdint.h>

/* The interface's own counts of drops, and where they stood. */
struct iface_drops {
    uint64_t base_rx; /* rx_dropped at open */
    uint64_t base_tx; /* tx_dropped at open */
    uint64_t seen_rx; /* rx_dropped at the last look */
    uint64_t seen_ns; /* when that was */
};

/* Finds the interface of the device's name, brings it up, and fills in what
 * the device and *info say of it. */
int iface_take(struct netdev *, struct iface_drops *, struct link_info *info,
               struct err *);
/* Frames are received from now on: what was dropped before, while the ring was
 * made, is nothing that the port lost, as it was on its way to nobody. */
void iface_begin(const struct netdev *, struct iface_drops *);
/* Raises a counter to what the kernel counted since we opened, less what is no
 * loss.  The kernel's may start again; ours never falls. */
void iface_raise(counter_t *, uint64_t now, uint64_t base);
/* Counts in the device's statistics what the interface says that it dropped.
 * rx_known: of what it received, what is no loss or counted elsewhere, once
 * all that was under way has been looked at; n_refused: sends that it refused
 * and that were repeated. */
void iface_count(struct netdev *, struct iface_drops *,
                 const struct link_info *, uint64_t rx_known,
                 uint64_t n_refused);

#endif
