/* SPDX-License-Identifier: Apache-2.0
 *
 * From a frame to what OpenFlow 1.3 matches on, and where in the frame it
 * lies, for those who change it.  Pure; any frame, however short or broken,
 * is read within its bounds.  Datapath thread, tests.
 */
#ifndef FLOW_KEY_H
#define FLOW_KEY_H

#include "ofp/match.h"

#include <stdbool.h>
#include <stdint.h>

#define FLOW_T_ARP    0x0806
#define FLOW_T_MPLS   0x8847
#define FLOW_T_MPLS_M 0x8848 /* multicast */
#define FLOW_T_PBB    0x88e7 /* I-TAG */
#define FLOW_T_LENGTH 0x05ff /* eth_type of a frame with a length in it */

#define FLOW_PBB_LEN                                       \
    18 /* I-TAG: TPID, TCI, customer addresses; see edit.c \
        */

#define IP_P_ICMP  1
#define IP_P_TCP   6
#define IP_P_UDP   17
#define IP_P_ICMP6 58
#define IP_P_SCTP  132

/* Of ipv6_exthdr (1.3, A.2.3.8). */
#define OFPIEH_NONEXT 0x001
#define OFPIEH_ESP    0x002
#define OFPIEH_AUTH   0x004
#define OFPIEH_DEST   0x008
#define OFPIEH_FRAG   0x010
#define OFPIEH_ROUTER 0x020
#define OFPIEH_HOP    0x040
#define OFPIEH_UNREP  0x080
#define OFPIEH_UNSEQ  0x100

enum flow_l3 {
    FLOW_L3_NONE, /* nothing that OpenFlow looks into, or cut */
    FLOW_L3_ARP,  /* of Ethernet and IPv4 */
    FLOW_L3_IP4,
    FLOW_L3_IP6,
    FLOW_L3_MPLS,
    FLOW_L3_PBB,
};

/* Offsets are from the first octet of the frame. */
struct flow_view {
    uint16_t type;      /* of the EtherType behind the VLAN tags */
    uint16_t l3;        /* of what the EtherType says */
    uint16_t l4;        /* of a whole TCP, UDP, SCTP or ICMP header; else 0 */
    uint16_t end;       /* of the IP datagram, without padding */
    uint16_t proto;     /* of the octet that is ip_proto; 0: none */
    uint16_t nd_option; /* of the address in SLL or TLL; 0: none */
    uint8_t n_tags;     /* VLAN tags */
    uint8_t l4_proto;   /* IP_P_*, when l4 is not 0 */
    bool is_fragment;   /* of IP; the first one may have l4 */
    enum flow_l3 l3_is; /* what is whole at l3 */
};

/* Reads a frame of n octets (14 at least, 65535 at most).  metadata and
 * tunnel_id become 0, in_port and in_phy_port what is given. */
void flow_key_extract(const uint8_t *frame, uint32_t n, uint32_t in_port,
                      struct ofp_key *, struct flow_view *);

#endif
