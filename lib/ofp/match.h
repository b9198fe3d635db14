/* SPDX-License-Identifier: Apache-2.0
 *
 * What OpenFlow matches on: the fields of OpenFlow 1.3 (7.2.3.7), the headers
 * of a frame as one flat value (struct ofp_key), and a match as two of them,
 * value and mask.  The codec fills matches from the wire and from text, the
 * datapath fills keys from frames, and the two are compared word by word.
 * Pure data, any thread.
 */
#ifndef OFP_MATCH_H
#define OFP_MATCH_H

#include <stdbool.h>
#include <stdint.h>

/* Numbered as their OXM field (class OFPXMC_OPENFLOW_BASIC). */
enum ofp_field {
    OFP_IN_PORT = 0,
    OFP_IN_PHY_PORT = 1,
    OFP_METADATA = 2,
    OFP_ETH_DST = 3,
    OFP_ETH_SRC = 4,
    OFP_ETH_TYPE = 5,
    OFP_VLAN_VID = 6,
    OFP_VLAN_PCP = 7,
    OFP_IP_DSCP = 8,
    OFP_IP_ECN = 9,
    OFP_IP_PROTO = 10,
    OFP_IPV4_SRC = 11,
    OFP_IPV4_DST = 12,
    OFP_TCP_SRC = 13,
    OFP_TCP_DST = 14,
    OFP_UDP_SRC = 15,
    OFP_UDP_DST = 16,
    OFP_SCTP_SRC = 17,
    OFP_SCTP_DST = 18,
    OFP_ICMPV4_TYPE = 19,
    OFP_ICMPV4_CODE = 20,
    OFP_ARP_OP = 21,
    OFP_ARP_SPA = 22,
    OFP_ARP_TPA = 23,
    OFP_ARP_SHA = 24,
    OFP_ARP_THA = 25,
    OFP_IPV6_SRC = 26,
    OFP_IPV6_DST = 27,
    OFP_IPV6_FLABEL = 28,
    OFP_ICMPV6_TYPE = 29,
    OFP_ICMPV6_CODE = 30,
    OFP_IPV6_ND_TARGET = 31,
    OFP_IPV6_ND_SLL = 32,
    OFP_IPV6_ND_TLL = 33,
    OFP_MPLS_LABEL = 34,
    OFP_MPLS_TC = 35,
    OFP_MPLS_BOS = 36,
    OFP_PBB_ISID = 37,
    OFP_TUNNEL_ID = 38,
    OFP_IPV6_EXTHDR = 39,
    OFP_N_FIELDS,
};

/* Of vlan_vid: there is a tag.  0 is "no tag", this alone "any tag" when it
 * is the mask too. */
#define OFP_VID_PRESENT 0x1000

/* Headers as numbers of the host's byte order, addresses as octets in the
 * order of the wire.  What a frame does not have is zero.  Fields that no
 * frame has at once share a place: which one it is follows from eth_type and
 * ip_proto, that are in the key beside it (and in every match that has the
 * field: prerequisites).  No padding; whole 64-bit words, so that a key is
 * masked, hashed and compared as an array of them. */
struct ofp_key {
    uint64_t metadata;    /* between tables */
    uint64_t tunnel_id;   /* always 0: there are no logical ports */
    uint32_t in_port;     /* OpenFlow number of the ingress port */
    uint32_t in_phy_port; /* the same, as there are no logical ports */
    uint8_t eth_dst[6];   /* destination */
    uint8_t eth_src[6];   /* source */
    uint16_t eth_type;    /* of the payload behind all VLAN tags, or 0x05ff for
                             a frame whose field is a length; 0x88e7 of PBB */
    uint16_t vlan_vid;    /* outer tag: VID | OFP_VID_PRESENT; 0: none */
    uint8_t vlan_pcp;     /* of that tag */
    uint8_t ip_dscp;      /* 6 bits */
    uint8_t ip_ecn;       /* 2 bits */
    uint8_t ip_proto;     /* IPv4 protocol; IPv6: upper layer, after extension
                             headers; ARP: 0 */
    uint32_t ipv6_flabel; /* 20 bits */
    uint32_t mpls_label;  /* outer entry: 20 bits */
    uint8_t mpls_tc;      /* 3 bits */
    uint8_t mpls_bos;     /* 1 bit */
    uint16_t ipv6_exthdr; /* enum ofp_ipv6exthdr_flags, 9 bits */
    uint32_t pbb_isid;    /* 24 bits */
    uint16_t tp_src;      /* TCP, UDP, SCTP source port; ICMP type; ARP op */
    uint16_t tp_dst;      /* the destination port; ICMP code */
    uint32_t ipv4_src;    /* ARP: SPA */
    uint32_t ipv4_dst;    /* ARP: TPA */
    uint8_t ipv6_src[16]; /* source */
    uint8_t ipv6_dst[16]; /* destination */
    uint8_t nd_target[16]; /* neighbour discovery */
    uint8_t ha_src[6];     /* ND SLL; ARP SHA */
    uint8_t ha_dst[6];     /* ND TLL; ARP THA */
    uint32_t zero;         /* to whole words */
};

#define OFP_KEY_WORDS (sizeof(struct ofp_key) / 8)
_Static_assert(sizeof(struct ofp_key) % 8 == 0, "whole words");

/* value has no bit that mask has not.  Matches nothing in particular (all
 * frames) when it is all zero. */
struct ofp_match {
    uint64_t present;     /* bit f: field f (enum ofp_field) is given */
    struct ofp_key value; /* what its bits must be */
    struct ofp_key mask;  /* the bits that are looked at */
};

/* What is known of a field. */
struct ofp_field_info {
    const char *name;  /* as in the specification: "eth_dst" */
    uint16_t ofs;      /* in struct ofp_key */
    uint8_t key_bytes; /* octets there */
    uint8_t n_bytes;   /* octets of an OXM value */
    uint8_t n_bits;    /* of them that count, from the lowest */
    bool is_octets;    /* in the key too: an address; else a number */
    bool maskable;     /* OpenFlow 1.3 lets it have a mask */
    bool settable;     /* a set-field may name it */
};

/* By enum ofp_field. */
extern const struct ofp_field_info ofp_fields[OFP_N_FIELDS];

/* Reads and writes a field of a key as an OXM value: n_bytes octets, network
 * order. */
void ofp_key_get(const struct ofp_key *, enum ofp_field, uint8_t *value);
void ofp_key_put(struct ofp_key *, enum ofp_field, const uint8_t *value);

/* The n_bits lowest bits of an OXM value's n_bytes. */
void ofp_field_ones(enum ofp_field, uint8_t *mask);

/* Adds a field to a match; mask null: exact.  No check. */
void ofp_match_set(struct ofp_match *, enum ofp_field, const uint8_t *value,
                   const uint8_t *mask);
/* Whether what the match gives allows field f beside it (table 11 of the
 * specification): prerequisites of matches and of set-field alike. */
bool ofp_match_allows(const struct ofp_match *, enum ofp_field f);

static inline bool
ofp_match_has(const struct ofp_match *m, enum ofp_field f)
{
    return m->present >> f & 1;
}

#endif
