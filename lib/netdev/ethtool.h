/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings of an interface that decide what frames look like when they come,
 * over ethtool's ioctl.  The afxdp provider needs some of them off, since
 * neither a VLAN tag that the device took out nor what frames a super-frame
 * was merged from can be seen there.  Control thread.
 */
#ifndef NETDEV_ETHTOOL_H
#define NETDEV_ETHTOOL_H

#include <stdbool.h>
#include <stdint.h>

/* Receive queues that are in use; 1 when the driver does not say.  *combined:
 * some of them are transmit queues too, and `ethtool -L` calls them so. */
uint32_t ethtool_n_rx_queues(const char *name, bool *combined);

/* Has tags stay in the frames, and with `merging` frames not be merged, as far
 * as the driver lets it.  Returns what was changed, for ethtool_restore(). */
uint32_t ethtool_disable(const char *name, bool merging);
void ethtool_restore(const char *name, uint32_t changed);

#endif
