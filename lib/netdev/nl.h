/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of lib/netdev that speak netlink share.  Any thread.
 */
#ifndef NETDEV_NL_H
#define NETDEV_NL_H

/* One of libnl's error codes, of either sign, as an errno value. */
int nl_errno(int nlerr);

#endif
