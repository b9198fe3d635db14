/* SPDX-License-Identifier: Apache-2.0
 *
 * Ethernet, VLAN (802.1Q, 802.1ad) and IP headers as the datapath and the
 * providers need them.  Pure, any thread.
 */
#ifndef WIRE_ETH_H
#define WIRE_ETH_H

#include "base/csum.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETH_HDR_LEN     14
#define ETH_VLAN_LEN    4
#define ETH_IP6_HDR_LEN 40
#define ETH_T_VLAN      0x8100 /* 802.1Q C-tag */
#define ETH_T_SVLAN     0x88a8 /* 802.1ad S-tag */
#define ETH_T_IP4       0x0800
#define ETH_T_IP6       0x86dd
#define ETH_T_MACCTL    0x8808
#define ETH_T_LLDP      0x88cc
#define VLAN_VID_MASK   0x0fff
#define VLAN_DEI        0x1000
#define VLAN_PCP_SHIFT  13

struct eth_info {
    uint16_t tpid;      /* outer tag's TPID; 0: untagged */
    uint16_t tci;       /* outer tag's TCI; 0 when untagged */
    uint16_t ethertype; /* after all VLAN tags (two at most are skipped) */
    uint16_t l3_ofs;    /* where the payload of that EtherType begins */
    uint8_t n_tags;     /* VLAN tags skipped: 0, 1 or 2 */
    uint8_t dscp;       /* of IPv4 or IPv6; 0 otherwise */
    bool is_ip;         /* dscp and ip_proto mean something */
    uint8_t ip_proto;   /* IPv4 protocol, or IPv6 upper-layer after ext hdrs */
    uint16_t l4_ofs;    /* where L4 begins; 0: fragment, not IP, or short */
};

/* Reads the headers of a frame of n octets; false when it is shorter than an
 * Ethernet header (or its tags are cut).  A cut IP header gives is_ip false.
 */
bool eth_parse(const uint8_t *frame, size_t n, struct eth_info *);

/* Only the outer tag: the datapath's fast path.  n >= 14.  0x8100 and 0x88a8
 * count as tags.  Returns the TPID or 0, and *tci (0 when untagged). */
static inline uint16_t
eth_outer_tag(const uint8_t *frame, size_t n, uint16_t *tci)
{
    uint16_t t = (uint16_t) ((frame[12] << 8) | frame[13]);

    *tci = 0;
    if ((t != ETH_T_VLAN && t != ETH_T_SVLAN) || n < 18)
        return 0;
    *tci = (uint16_t) ((frame[14] << 8) | frame[15]);
    return t;
}

static inline unsigned
eth_be16(const uint8_t *p)
{
    return (unsigned) (p[0] << 8 | p[1]);
}

/* Where the IP header behind at most two tags begins, *ds being the octet of
 * it that has DSCP and ECN (TOS, traffic class); 0: there is no whole IP
 * header.  The same frames as is_ip of eth_parse(), without looking further:
 * for every frame of a port that trusts DSCP. */
static inline uint32_t
eth_find_ds(const uint8_t *frame, size_t n, uint8_t *ds)
{
    uint32_t l3 = ETH_HDR_LEN;
    unsigned type, first;

    if (n < ETH_HDR_LEN + 20)
        return 0; /* not even the shortest IP header */
    type = eth_be16(frame + 12);
    for (int i = 0; i < 2 && (type == ETH_T_VLAN || type == ETH_T_SVLAN);
         i++, l3 += ETH_VLAN_LEN)
        type = eth_be16(frame + l3 + 2);
    if (type == ETH_T_IP4) {
        size_t len;

        first = eth_be16(frame + l3);
        len = (size_t) (first >> 8 & 15) * 4;
        if (first >> 12 != 4 || len < 20 || n < l3 + len)
            return 0;
        *ds = (uint8_t) first;
        return l3;
    }
    if (type != ETH_T_IP6 || n < l3 + ETH_IP6_HDR_LEN)
        return 0;
    first = eth_be16(frame + l3);
    *ds = (uint8_t) (first >> 4);
    return first >> 12 == 6 ? l3 : 0;
}

/* MAC as a 48-bit number, first octet highest, and back. */
static inline uint64_t
eth_mac_u64(const uint8_t *m)
{
    return ((uint64_t) m[0] << 40) | ((uint64_t) m[1] << 32) |
           ((uint64_t) m[2] << 24) | ((uint64_t) m[3] << 16) |
           ((uint64_t) m[4] << 8) | m[5];
}

static inline bool
eth_is_group(const uint8_t *mac)
{
    return mac[0] & 1;
}

/* 01-80-C2-00-00-00 to -0F, never forwarded by a bridge (802.1Q 8.6.3). */
static inline bool
eth_is_reserved(const uint8_t *mac)
{
    return eth_mac_u64(mac) >> 4 == UINT64_C(0x0180c200000);
}

/* "aa:bb:cc:dd:ee:ff" to six octets; false when it is not that. */
bool eth_mac_parse(const char *text, uint8_t mac[6]);
/* Writes 18 octets with the final NUL; returns out. */
char *eth_mac_format(const uint8_t mac[6], char out[18]);

/* The Internet checksum: csum_add(), csum_fold(). */
static inline uint32_t
eth_csum_add(uint32_t sum, const void *data, size_t n)
{
    return csum_add(sum, data, n);
}

static inline uint16_t
eth_csum_fold(uint32_t sum)
{
    return csum_fold(sum);
}

#endif
