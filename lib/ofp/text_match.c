/* SPDX-License-Identifier: Apache-2.0
 *
 * Matches in the text syntax: see text.h and text_lex.h.
 */
#include "ofp/text_lex.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Words that say a protocol, and so EtherType and protocol number. */
static const struct {
    const char *name;  /* as it is written */
    uint16_t eth_type; /* 0: nothing is said */
    uint8_t ip_proto;  /* 0: nothing is said */
} protocols[] = {
    {"eth", 0, 0},          {"ip", 0x0800, 0},    {"ipv4", 0x0800, 0},
    {"icmp", 0x0800, 1},    {"tcp", 0x0800, 6},   {"udp", 0x0800, 17},
    {"sctp", 0x0800, 132},  {"ipv6", 0x86dd, 0},  {"ip6", 0x86dd, 0},
    {"icmp6", 0x86dd, 58},  {"tcp6", 0x86dd, 6},  {"udp6", 0x86dd, 17},
    {"sctp6", 0x86dd, 132}, {"arp", 0x0806, 0},   {"rarp", 0x8035, 0},
    {"mpls", 0x8847, 0},    {"mplsm", 0x8848, 0}, {"pbb", 0x88e7, 0},
};

/* ovs-ofctl's other words for fields. */
static const struct {
    const char *name;     /* as it is written */
    enum ofp_field field; /* what it is */
} aliases[] = {
    {"dl_src", OFP_ETH_SRC},
    {"dl_dst", OFP_ETH_DST},
    {"dl_type", OFP_ETH_TYPE},
    {"dl_vlan_pcp", OFP_VLAN_PCP},
    {"nw_ecn", OFP_IP_ECN},
    {"ipv6_label", OFP_IPV6_FLABEL},
    {"nd_target", OFP_IPV6_ND_TARGET},
    {"nd_sll", OFP_IPV6_ND_SLL},
    {"nd_tll", OFP_IPV6_ND_TLL},
    {"tun_id", OFP_TUNNEL_ID},
    {"in_port_oxm", OFP_IN_PORT},
};

static const char *const foreign[] = {
    "reg",         "xreg",        "xxreg",           "ct_",
    "tun_",        "pkt_mark",    "conj_id",         "recirc_id",
    "dp_hash",     "tcp_flags",   "nw_ttl",          "nw_frag",
    "ip_frag",     "mpls_ttl",    "actset_output",   "nsh_",
    "packet_type", "nd_reserved", "nd_options_type", "skb_priority",
    "NXM_",        "OXM_",
};

const char *
text_foreign_field(const char *name)
{
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
        if (strncmp(name, foreign[i], strlen(foreign[i])) == 0)
            return "an extension of Open vSwitch that Sluice does not have";
    return NULL;
}

/* One of two by the EtherType of m. */
static enum ofp_field
by_arp(const struct ofp_match *m, enum ofp_field ip, enum ofp_field arp)
{
    bool is_arp = ofp_match_has(m, OFP_ETH_TYPE) &&
                  (m->value.eth_type == 0x0806 || m->value.eth_type == 0x8035);

    return is_arp ? arp : ip;
}

/* The source (or with `dst` the destination) port of the protocol of m. */
static enum ofp_field
by_proto(const struct ofp_match *m, int dst)
{
    switch (ofp_match_has(m, OFP_IP_PROTO) ? m->value.ip_proto : 0) {
    case 17:
        return (enum ofp_field)(OFP_UDP_SRC + dst);
    case 132:
        return (enum ofp_field)(OFP_SCTP_SRC + dst);
    case 1:
        return (enum ofp_field)(OFP_ICMPV4_TYPE + dst);
    case 58:
        return (enum ofp_field)(OFP_ICMPV6_TYPE + dst);
    default:
        return (enum ofp_field)(OFP_TCP_SRC + dst);
    }
}

static enum ofp_field
by_icmp(const struct ofp_match *m, int code)
{
    bool is_6 = ofp_match_has(m, OFP_ETH_TYPE) && m->value.eth_type == 0x86dd;

    return (enum ofp_field)((is_6 ? OFP_ICMPV6_TYPE : OFP_ICMPV4_TYPE) + code);
}

/* Words whose meaning depends on the protocol. */
static bool
depending_name(const char *s, const struct ofp_match *m, enum ofp_field *f)
{
    if (strcmp(s, "nw_src") == 0 || strcmp(s, "ip_src") == 0)
        *f = by_arp(m, OFP_IPV4_SRC, OFP_ARP_SPA);
    else if (strcmp(s, "nw_dst") == 0 || strcmp(s, "ip_dst") == 0)
        *f = by_arp(m, OFP_IPV4_DST, OFP_ARP_TPA);
    else if (strcmp(s, "nw_proto") == 0)
        *f = by_arp(m, OFP_IP_PROTO, OFP_ARP_OP);
    else if (strcmp(s, "tp_src") == 0)
        *f = by_proto(m, 0);
    else if (strcmp(s, "tp_dst") == 0)
        *f = by_proto(m, 1);
    else if (strcmp(s, "icmp_type") == 0)
        *f = by_icmp(m, 0);
    else if (strcmp(s, "icmp_code") == 0)
        *f = by_icmp(m, 1);
    else
        return false;
    return true;
}

bool
text_field_name(const char *s, const struct ofp_match *m, enum ofp_field *f)
{
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        if (strcmp(s, aliases[i].name) == 0) {
            *f = aliases[i].field;
            return true;
        }
    for (int i = 0; i < OFP_N_FIELDS; i++)
        if (strcmp(s, ofp_fields[i].name) == 0) {
            *f = (enum ofp_field) i;
            return true;
        }
    return depending_name(s, m, f);
}

static int
set_field(const struct text *t, struct text_match *tm, const char *key,
          enum ofp_field f, const uint8_t *v, const uint8_t *mask)
{
    bool any = true;

    for (int i = 0; i < ofp_fields[f].n_bytes; i++)
        any = any && mask[i] == 0;
    if (any)
        return 0;
    if (ofp_match_has(&tm->m, f)) {
        uint8_t v0[16], m0[16];
        size_t n = ofp_fields[f].n_bytes;

        ofp_key_get(&tm->m.value, f, v0);
        ofp_key_get(&tm->m.mask, f, m0);
        if (memcmp(v0, v, n) || memcmp(m0, mask, n))
            return text_fail(t, key, "one value", "%s is given twice", key);
        return 0;
    }
    ofp_match_set(&tm->m, f, v, mask);
    return 0;
}

static int
set16(const struct text *t, struct text_match *tm, const char *key,
      enum ofp_field f, unsigned v, unsigned mask)
{
    const uint8_t b[2] = {(uint8_t) (v >> 8), (uint8_t) v};
    const uint8_t m[2] = {(uint8_t) (mask >> 8), (uint8_t) mask};

    return set_field(t, tm, key, f, b, m);
}

static int
set8(const struct text *t, struct text_match *tm, const char *key,
     enum ofp_field f, unsigned v, unsigned mask)
{
    const uint8_t b = (uint8_t) v, m = (uint8_t) mask;

    return set_field(t, tm, key, f, &b, &m);
}

/* dl_vlan: a VID, or 0xffff for no tag. */
static int
match_dl_vlan(const struct text *t, struct text_match *tm, const char *value)
{
    uint64_t v;

    if (strcmp(value, "*") == 0)
        return 0;
    if (!text_u64(value, &v) || (v > 0xfff && v != 0xffff))
        return text_fail(t, value, "0 to 4095, or 0xffff (no tag)",
                         "dl_vlan: \"%s\" is not 0 to 4095, nor 0xffff (no "
                         "tag)",
                         value);
    return set16(t, tm, "dl_vlan", OFP_VLAN_VID,
                 v == 0xffff ? 0 : OFP_VID_PRESENT | (unsigned) v, 0x1fff);
}

/* vlan_tci: priority, presence and VID of the tag, with a mask. */
static int
match_vlan_tci(const struct text *t, struct text_match *tm, char *value)
{
    char *slash = strchr(value, '/');
    uint64_t v, mask = 0xffff;
    int rc;

    if (slash)
        *slash++ = '\0';
    rc = text_number(t, "vlan_tci", value, 0xffff, &v);
    if (!rc && slash)
        rc = text_number(t, "vlan_tci", slash, 0xffff, &mask);
    if (rc)
        return rc;
    v &= mask;
    if (mask & OFP_VID_PRESENT && !(v & OFP_VID_PRESENT)) {
        if (v)
            return text_fail(t, value, "a value with 0x1000, or 0",
                             "vlan_tci: a tag needs the bit 0x1000");
        return set16(t, tm, "vlan_tci", OFP_VLAN_VID, 0, 0x1fff);
    }
    if ((mask & 0xe000) && (mask & 0xe000) != 0xe000)
        return text_fail(t, slash, "all bits of the priority or none",
                         "vlan_tci: the mask cuts the priority (0xe000)");
    rc = set16(t, tm, "vlan_tci", OFP_VLAN_VID, v & 0x1fff, mask & 0x1fff);
    if (rc || !(mask & 0xe000))
        return rc;
    return set8(t, tm, "vlan_tci", OFP_VLAN_PCP, (unsigned) v >> 13, 7);
}

/* The TOS octet without ECN. */
static int
match_nw_tos(const struct text *t, struct text_match *tm, const char *value)
{
    uint64_t v;
    int rc = text_number(t, "nw_tos", value, 255, &v);

    if (rc)
        return rc;
    if (v & 3)
        return text_fail(t, value, "a multiple of 4",
                         "nw_tos: \"%s\" has bits of ECN, see nw_ecn", value);
    return set8(t, tm, "nw_tos", OFP_IP_DSCP, (unsigned) v >> 2, 0x3f);
}

static int
match_field(const struct text *t, struct text_match *tm,
            const struct text_pair *p, enum ofp_field f)
{
    uint8_t v[16], mask[16];
    bool has_mask;
    int rc = text_field(t, p->key, f, p->value, v, mask, &has_mask);

    if (rc)
        return rc;
    if (f == OFP_VLAN_VID && mask[0] & 0x10 && !(v[0] & 0x10) &&
        ((v[0] & 0x0f) || v[1]))
        return text_fail(t, p->value, "a value with 0x1000, or 0",
                         "vlan_vid: a VID needs the bit 0x1000 (or say "
                         "dl_vlan=%s)",
                         p->value);
    if (f == OFP_VLAN_VID && mask[0] & 0x10 && !(v[0] & 0x10)) {
        mask[0] = 0x1f; /* no tag, whatever else is said of it */
        mask[1] = 0xff;
    }
    return set_field(t, tm, p->key, f, v, mask);
}

/* A pair that depends on nothing, or all of whose dependences are known. */
static int
match_now(const struct text *t, struct text_match *tm,
          const struct text_pair *p)
{
    enum ofp_field f;

    if (strcmp(p->key, "dl_vlan") == 0)
        return match_dl_vlan(t, tm, p->value);
    if (strcmp(p->key, "vlan_tci") == 0)
        return match_vlan_tci(t, tm, p->value);
    if (strcmp(p->key, "nw_tos") == 0)
        return match_nw_tos(t, tm, p->value);
    text_field_name(p->key, &tm->m, &f);
    return match_field(t, tm, p, f);
}

static int
match_protocol(const struct text *t, struct text_match *tm,
               const struct text_pair *p, size_t i)
{
    int rc = 0;

    if (p->delimiter)
        return text_fail(t, p->key, "the word alone", "%s has no value",
                         p->key);
    if (protocols[i].eth_type)
        rc = set16(t, tm, p->key, OFP_ETH_TYPE, protocols[i].eth_type, 0xffff);
    if (!rc && protocols[i].ip_proto)
        rc = set8(t, tm, p->key, OFP_IP_PROTO, protocols[i].ip_proto, 0xff);
    return rc;
}

int
text_match_pair(const struct text *t, struct text_match *tm,
                const struct text_pair *p, bool *is_match)
{
    enum ofp_field f;

    *is_match = true;
    for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++)
        if (strcmp(p->key, protocols[i].name) == 0)
            return match_protocol(t, tm, p, i);
    if (strcmp(p->key, "dl_vlan") && strcmp(p->key, "vlan_tci") &&
        strcmp(p->key, "nw_tos") && !text_field_name(p->key, &tm->m, &f)) {
        *is_match = false;
        return 0;
    }
    if (!*p->value)
        return text_fail(t, p->key, "a value", "%s needs a value", p->key);
    if (strcmp(p->key, "dl_type") == 0 || strcmp(p->key, "eth_type") == 0 ||
        strcmp(p->key, "ip_proto") == 0)
        return match_now(t, tm, p);
    if (tm->n_later == sizeof(tm->later) / sizeof(tm->later[0]))
        return text_fail(t, p->key, NULL, "more than 64 fields in a match");
    tm->later[tm->n_later++] = *p;
    return 0;
}

/* The fields that a field depends on, for people. */
static const char *
needed_by(enum ofp_field f)
{
    if (f == OFP_VLAN_PCP)
        return "a tag: dl_vlan or vlan_vid";
    if (f == OFP_IN_PHY_PORT)
        return "in_port";
    if (f == OFP_IP_DSCP || f == OFP_IP_ECN || f == OFP_IP_PROTO)
        return "ip or ipv6";
    if (f == OFP_IPV4_SRC || f == OFP_IPV4_DST)
        return "ip (or arp)";
    if (f >= OFP_TCP_SRC && f <= OFP_TCP_DST)
        return "tcp (or udp, sctp) or tcp6";
    if (f >= OFP_UDP_SRC && f <= OFP_UDP_DST)
        return "udp or udp6";
    if (f >= OFP_SCTP_SRC && f <= OFP_SCTP_DST)
        return "sctp or sctp6";
    if (f >= OFP_ICMPV4_TYPE && f <= OFP_ICMPV4_CODE)
        return "icmp";
    if (f >= OFP_ARP_OP && f <= OFP_ARP_THA)
        return "arp";
    if (f >= OFP_MPLS_LABEL && f <= OFP_MPLS_BOS)
        return "mpls";
    if (f == OFP_PBB_ISID)
        return "dl_type=0x88e7";
    if (f == OFP_ICMPV6_TYPE || f == OFP_ICMPV6_CODE)
        return "icmp6";
    if (f >= OFP_IPV6_ND_TARGET && f <= OFP_IPV6_ND_TLL)
        return "icmp6,icmp_type=135 or 136";
    return "ipv6";
}

int
text_match_end(const struct text *t, struct text_match *tm)
{
    static const uint8_t tagged[2] = {0x10, 0};

    /* The protocol first: others are named after it. */
    for (int proto = 1; proto >= 0; proto--)
        for (unsigned i = 0; i < tm->n_later; i++) {
            bool is_proto = strcmp(tm->later[i].key, "nw_proto") == 0;
            int rc = is_proto == proto ? match_now(t, tm, &tm->later[i]) : 0;

            if (rc)
                return rc;
        }
    if (ofp_match_has(&tm->m, OFP_VLAN_PCP) &&
        !ofp_match_has(&tm->m, OFP_VLAN_VID))
        ofp_match_set(&tm->m, OFP_VLAN_VID, tagged, tagged);
    for (int f = 0; f < OFP_N_FIELDS; f++)
        if (ofp_match_has(&tm->m, f) && !ofp_match_allows(&tm->m, f))
            return text_fail(t, ofp_fields[f].name, needed_by(f),
                             "%s can only be matched beside %s",
                             ofp_fields[f].name, needed_by(f));
    return 0;
}

int
ofp_text_match(const char *text, const struct ofp_names *names,
               struct ofp_match *out, struct err *err)
{
    struct ofp_arena arena = {0};
    struct text t = {.names = names, .arena = &arena, .err = err};
    struct text_match tm = {0};
    struct text_pair p;
    char *s = text_copy(&t, text);
    bool is_match;
    int rc = s ? 0 : EINVAL;

    while (!rc && text_next(&s, &p)) {
        rc = text_match_pair(&t, &tm, &p, &is_match);
        if (!rc && !is_match)
            rc =
                text_fail(&t, p.key, "a match field, see ovs-fields(7)",
                          "\"%s\" is %s", p.key,
                          text_foreign_field(p.key) ? text_foreign_field(p.key)
                                                    : "no match field");
    }
    if (!rc)
        rc = text_match_end(&t, &tm);
    if (!rc)
        *out = tm.m;
    ofp_arena_free(&arena);
    return rc;
}
