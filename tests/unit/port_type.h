/* SPDX-License-Identifier: Apache-2.0
 *
 * The type of port that a test of ports on real interfaces is built for: each
 * of these tests is built once for every type (-DPORT_TYPE=afxdp).
 */
#ifndef TESTS_UNIT_PORT_TYPE_H
#define TESTS_UNIT_PORT_TYPE_H

#include "netdev/netdev.h"
#include "pkt/share.h"

#define PORT_TYPE_AFXDP 1
#ifndef PORT_TYPE
#define PORT_TYPE 0
#endif
#define PORT_IS_AFXDP (PORT_TYPE == PORT_TYPE_AFXDP)

#if PORT_IS_AFXDP
#define PORT_CLASS netdev_afxdp
#else
#define PORT_CLASS netdev_afpacket
#endif

#endif
