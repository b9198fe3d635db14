/* SPDX-License-Identifier: Apache-2.0
 *
 * Setting fields of a frame: see edit.h.  Internet checksums follow by RFC
 * 1624, equation 3, and that of SCTP, being linear, by the checksum of what
 * changed.
 */
#include "flow/edit.h"

#include "wire/eth.h"

#include <assert.h>
#include <string.h>

#define IP4_CSUM 10 /* offsets in headers: IPv4 */
#define IP4_TTL  8
#define IP4_SRC  12
#define IP4_DST  16
#define IP6_TTL  7 /* IPv6 */
#define IP6_SRC  8
#define IP6_DST  24
#define IP6_EXT  40

#define IP6_ROUTER 43

static uint16_t
get16(const uint8_t *p)
{
    return (uint16_t) (p[0] << 8 | p[1]);
}

static void
put16(uint8_t *p, unsigned v)
{
    p[0] = (uint8_t) (v >> 8);
    p[1] = (uint8_t) v;
}

void
flow_frame_read(struct flow_frame *f)
{
    if (!f->key_stale && !f->view_stale)
        return;
    flow_key_extract(f->data, f->len, 0, &f->key, &f->view);
    f->key_stale = false;
    f->view_stale = false;
}

/* The view alone may be good although a field changed. */
static const struct flow_view *
view_of(struct flow_frame *f)
{
    if (f->view_stale)
        flow_frame_read(f);
    return &f->view;
}

/* --- checksums ----------------------------------------------------------- */

/* What an edit takes out of a checksum and what it puts in, as sums of words.
 */
struct change {
    uint32_t out; /* complements of the old words, added */
    uint32_t in;  /* the new words, added */
};

/* n octets at `was` become `is`; the first is the high one of a word unless
 * odd. */
static void
add_change(struct change *c, const uint8_t *was, const uint8_t *is, uint32_t n,
           bool odd)
{
    for (uint32_t i = 0; i < n; i++) {
        int shift = ((i + odd) & 1) ? 0 : 8;

        c->out += 0xffffu ^ (uint32_t) was[i] << shift;
        c->in += (uint32_t) is[i] << shift;
    }
}

static void
follow(uint8_t *csum, struct change c)
{
    uint32_t sum = (uint16_t) ~get16(csum);

    put16(csum, eth_csum_fold(sum + c.out + c.in));
}

/* Where the Internet checksum of the header behind IP lies; null: there is
 * none, or none that is used. */
static uint8_t *
l4_csum(struct flow_frame *f)
{
    const struct flow_view *v = &f->view;
    uint8_t *udp;

    if (!v->l4)
        return NULL;
    switch (v->l4_proto) {
    case IP_P_TCP:
        return f->data + v->l4 + 16;
    case IP_P_UDP:
        udp = f->data + v->l4 + 6;
        return get16(udp) ? udp : NULL;
    case IP_P_ICMP:
    case IP_P_ICMP6:
        return f->data + v->l4 + 2;
    default:
        return NULL;
    }
}

static void
follow_l4(struct flow_frame *f, struct change c)
{
    uint8_t *csum = l4_csum(f);

    if (!csum)
        return;
    follow(csum, c);
    if (f->view.l4_proto == IP_P_UDP && get16(csum) == 0)
        put16(csum, 0xffff);
}

/* The addresses are in the checksum, by the pseudo header. */
static void
follow_pseudo(struct flow_frame *f, struct change c)
{
    if (f->view.l4 && f->view.l4_proto != IP_P_ICMP)
        follow_l4(f, c);
}

static uint32_t
crc32c_octet(uint32_t crc, uint8_t octet)
{
    static const uint32_t table[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
        0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
        0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
    };

    crc ^= octet;
    crc = crc >> 4 ^ table[crc & 15];
    return crc >> 4 ^ table[crc & 15];
}

/* Two octets of an SCTP header change.  Of a fragment only a part is here,
 * and the checksum is over all of it: it cannot follow. */
static void
follow_sctp(struct flow_frame *f, uint32_t ofs, const uint8_t *is)
{
    uint8_t *csum = f->data + f->view.l4 + 8;
    uint32_t crc = 0;

    if (f->view.is_fragment)
        return;
    for (uint32_t i = ofs; i < f->view.end; i++) {
        uint8_t diff = 0;

        if (i < ofs + 2)
            diff = f->data[i] ^ is[i - ofs];
        crc = crc32c_octet(crc, diff);
    }
    for (int i = 0; i < 4; i++) /* lowest octet first */
        csum[i] ^= (uint8_t) (crc >> 8 * i);
}

/* --- writing ------------------------------------------------------------- */

/* In which checksums what is written at a place is. */
enum sums {
    SUM_NONE,
    SUM_IP4,    /* IPv4 header */
    SUM_L4,     /* TCP, UDP, ICMP */
    SUM_PSEUDO, /* the pseudo header only */
    SUM_BOTH,   /* IPv4 header and pseudo header */
    SUM_SCTP,
};

static void
put(struct flow_frame *f, uint32_t ofs, const uint8_t *is, uint32_t n,
    enum sums sums)
{
    uint8_t *was = f->data + ofs;
    struct change c = {0, 0};

    assert(ofs + n <= f->len);
    f->key_stale = true;
    if (sums != SUM_NONE)
        add_change(&c, was, is, n, ofs & 1);
    if (sums == SUM_IP4 || sums == SUM_BOTH)
        follow(f->data + f->view.l3 + IP4_CSUM, c);
    if (sums == SUM_PSEUDO || sums == SUM_BOTH)
        follow_pseudo(f, c);
    if (sums == SUM_L4)
        follow_l4(f, c);
    if (sums == SUM_SCTP)
        follow_sctp(f, ofs, is);
    memcpy(was, is, n);
}

static void
set_vlan(struct flow_frame *f, enum ofp_field field, const uint8_t *value)
{
    uint8_t tci[2];

    if (!view_of(f)->n_tags)
        return;
    memcpy(tci, f->data + 14, 2);
    if (field == OFP_VLAN_PCP)
        tci[0] = (uint8_t) ((tci[0] & 0x1f) | value[0] << 5);
    else
        put16(tci, (get16(tci) & 0xf000u) |
                       (get16(value) & (unsigned) VLAN_VID_MASK));
    put(f, 14, tci, 2, SUM_NONE);
}

/* DSCP and ECN together are one octet. */
static void
set_ds(struct flow_frame *f, enum ofp_field field, const uint8_t *value)
{
    const struct flow_view *v = view_of(f);
    uint32_t l3 = v->l3;
    uint8_t head[2], ds;

    if (v->l3_is != FLOW_L3_IP4 && v->l3_is != FLOW_L3_IP6)
        return;
    memcpy(head, f->data + l3, 2);
    ds = v->l3_is == FLOW_L3_IP4 ? head[1]
                                 : (uint8_t) (head[0] << 4 | head[1] >> 4);
    if (field == OFP_IP_DSCP)
        ds = (uint8_t) (value[0] << 2 | (ds & 3));
    else
        ds = (uint8_t) ((ds & 0xfc) | (value[0] & 3));
    if (v->l3_is == FLOW_L3_IP4) {
        head[1] = ds;
        put(f, l3, head, 2, SUM_IP4);
        return;
    }
    head[0] = (uint8_t) (0x60 | ds >> 4);
    head[1] = (uint8_t) (ds << 4 | (head[1] & 15));
    put(f, l3, head, 2, SUM_NONE);
}

/* The header behind IP stays what it is, and so does the place of its
 * checksum, that has the protocol in it by the pseudo header. */
static void
set_proto(struct flow_frame *f, const uint8_t *value)
{
    const struct flow_view *v = view_of(f);
    struct change c = {0, 0};

    if (!v->proto)
        return;
    add_change(&c, f->data + v->proto, value, 1, true);
    follow_pseudo(f, c);
    put(f, v->proto, value, 1, v->l3_is == FLOW_L3_IP4 ? SUM_IP4 : SUM_NONE);
    f->view_stale = true;
}

/* Whether a routing header says that the destination is not the last one,
 * which is the one in the pseudo header. */
static bool
is_routed(const struct flow_frame *f)
{
    const struct flow_view *v = &f->view;
    uint32_t at = v->l3 + IP6_EXT;
    uint8_t type = f->data[v->l3 + 6];

    /* All that lies before l4 was found to be whole when l4 was. */
    while (v->l4 && at + 8 <= v->l4) {
        const uint8_t *p = f->data + at;

        if (type == IP6_ROUTER)
            return p[3] > 0;
        at += type == 51 ? (p[1] + 2u) * 4 : type == 44 ? 8u : (p[1] + 1u) * 8;
        type = p[0];
    }
    return false;
}

static void
set_address(struct flow_frame *f, enum ofp_field field, const uint8_t *value)
{
    const struct flow_view *v = view_of(f);
    enum flow_l3 l3 = FLOW_L3_IP6;

    if (field == OFP_IPV4_SRC || field == OFP_IPV4_DST)
        l3 = FLOW_L3_IP4;
    if (v->l3_is != l3)
        return;
    switch (field) {
    case OFP_IPV4_SRC:
        put(f, v->l3 + IP4_SRC, value, 4, SUM_BOTH);
        break;
    case OFP_IPV4_DST:
        put(f, v->l3 + IP4_DST, value, 4, SUM_BOTH);
        break;
    case OFP_IPV6_SRC:
        put(f, v->l3 + IP6_SRC, value, 16, SUM_PSEUDO);
        break;
    default:
        put(f, v->l3 + IP6_DST, value, 16,
            is_routed(f) ? SUM_NONE : SUM_PSEUDO);
        break;
    }
}

static void
set_flabel(struct flow_frame *f, const uint8_t *value)
{
    const struct flow_view *v = view_of(f);
    uint8_t label[3];

    if (v->l3_is != FLOW_L3_IP6)
        return;
    memcpy(label, value + 1, 3);
    label[0] = (uint8_t) ((f->data[v->l3 + 1] & 0xf0) | (label[0] & 0x0f));
    put(f, v->l3 + 1, label, 3, SUM_NONE);
}

static void
set_l4(struct flow_frame *f, uint8_t proto, uint32_t ofs, const uint8_t *value,
       uint32_t n)
{
    const struct flow_view *v = view_of(f);

    if (!v->l4 || v->l4_proto != proto)
        return;
    put(f, v->l4 + ofs, value, n, proto == IP_P_SCTP ? SUM_SCTP : SUM_L4);
    if (proto == IP_P_ICMP6)
        f->view_stale = true; /* it may be of another kind */
}

static void
set_arp(struct flow_frame *f, uint32_t ofs, const uint8_t *value, uint32_t n)
{
    if (view_of(f)->l3_is == FLOW_L3_ARP)
        put(f, f->view.l3 + ofs, value, n, SUM_NONE);
}

static void
set_nd(struct flow_frame *f, enum ofp_field field, const uint8_t *value)
{
    const struct flow_view *v = view_of(f);
    uint8_t kind;

    if (!v->l4 || v->l4_proto != IP_P_ICMP6)
        return;
    kind = f->data[v->l4];
    if (field == OFP_IPV6_ND_TARGET) {
        if ((kind == 135 || kind == 136) && v->l4 + 24u <= v->end)
            put(f, v->l4 + 8u, value, 16, SUM_L4);
    } else if (v->nd_option && kind == (field == OFP_IPV6_ND_SLL ? 135 : 136))
        put(f, v->nd_option, value, 6, SUM_L4);
}

/* Label, TC and BOS share four octets with the TTL. */
static void
set_mpls(struct flow_frame *f, enum ofp_field field, const uint8_t *value)
{
    const struct flow_view *v = view_of(f);
    uint8_t e[4];

    if (v->l3_is != FLOW_L3_MPLS)
        return;
    memcpy(e, f->data + v->l3, 4);
    if (field == OFP_MPLS_LABEL) {
        e[0] = (uint8_t) (value[1] << 4 | value[2] >> 4);
        e[1] = (uint8_t) (value[2] << 4 | value[3] >> 4);
        e[2] = (uint8_t) (value[3] << 4 | (e[2] & 15));
    } else if (field == OFP_MPLS_TC) {
        e[2] = (uint8_t) ((e[2] & 0xf1) | (value[0] & 7) << 1);
    } else {
        e[2] = (uint8_t) ((e[2] & 0xfe) | (value[0] & 1));
    }
    put(f, v->l3, e, 4, SUM_NONE);
}

static void
set(struct flow_frame *f, enum ofp_field field, const uint8_t *value)
{
    switch (field) {
    case OFP_ETH_DST:
        put(f, 0, value, 6, SUM_NONE);
        break;
    case OFP_ETH_SRC:
        put(f, 6, value, 6, SUM_NONE);
        break;
    case OFP_ETH_TYPE:
        put(f, view_of(f)->type, value, 2, SUM_NONE);
        f->view_stale = true;
        break;
    case OFP_VLAN_VID:
    case OFP_VLAN_PCP:
        set_vlan(f, field, value);
        break;
    case OFP_IP_DSCP:
    case OFP_IP_ECN:
        set_ds(f, field, value);
        break;
    case OFP_IP_PROTO:
        set_proto(f, value);
        break;
    case OFP_IPV4_SRC:
    case OFP_IPV4_DST:
    case OFP_IPV6_SRC:
    case OFP_IPV6_DST:
        set_address(f, field, value);
        break;
    case OFP_TCP_SRC:
    case OFP_TCP_DST:
        set_l4(f, IP_P_TCP, field == OFP_TCP_DST ? 2 : 0, value, 2);
        break;
    case OFP_UDP_SRC:
    case OFP_UDP_DST:
        set_l4(f, IP_P_UDP, field == OFP_UDP_DST ? 2 : 0, value, 2);
        break;
    case OFP_SCTP_SRC:
    case OFP_SCTP_DST:
        set_l4(f, IP_P_SCTP, field == OFP_SCTP_DST ? 2 : 0, value, 2);
        break;
    case OFP_ICMPV4_TYPE:
    case OFP_ICMPV4_CODE:
        set_l4(f, IP_P_ICMP, field == OFP_ICMPV4_CODE, value, 1);
        break;
    case OFP_ICMPV6_TYPE:
    case OFP_ICMPV6_CODE:
        set_l4(f, IP_P_ICMP6, field == OFP_ICMPV6_CODE, value, 1);
        break;
    default: /* of an address resolution, or below IP */
        if (field >= OFP_ARP_OP && field <= OFP_ARP_THA) {
            static const uint8_t ofs[] = {6, 14, 24, 8, 18};

            set_arp(f, ofs[field - OFP_ARP_OP], value,
                    ofp_fields[field].n_bytes);
        } else if (field == OFP_IPV6_FLABEL) {
            set_flabel(f, value);
        } else if (field >= OFP_IPV6_ND_TARGET && field <= OFP_IPV6_ND_TLL) {
            set_nd(f, field, value);
        } else if (field >= OFP_MPLS_LABEL && field <= OFP_MPLS_BOS) {
            set_mpls(f, field, value);
        } else if (field == OFP_PBB_ISID && view_of(f)->l3_is == FLOW_L3_PBB) {
            put(f, f->view.l3 + 1u, value, 3, SUM_NONE);
        }
        break;
    }
}

void
flow_edit_set(struct flow_frame *f, enum ofp_field field, const uint8_t *value,
              const uint8_t *mask)
{
    uint8_t merged[16];

    if (mask) {
        uint32_t n = ofp_fields[field].n_bytes;

        flow_frame_read(f);
        ofp_key_get(&f->key, field, merged);
        for (uint32_t i = 0; i < n; i++)
            merged[i] =
                (uint8_t) ((merged[i] & ~mask[i]) | (value[i] & mask[i]));
        value = merged;
    }
    set(f, field, value);
}

/* --- time to live -------------------------------------------------------- */

/* Offset of the TTL of IP at l3 of that version; 0: none. */
static uint32_t
nw_ttl(struct flow_frame *f)
{
    const struct flow_view *v = view_of(f);

    if (v->l3_is == FLOW_L3_IP4)
        return v->l3 + IP4_TTL;
    return v->l3_is == FLOW_L3_IP6 ? v->l3 + IP6_TTL : 0;
}

static uint32_t
mpls_ttl(struct flow_frame *f)
{
    return view_of(f)->l3_is == FLOW_L3_MPLS ? f->view.l3 + 3u : 0;
}

static void
put_nw_ttl(struct flow_frame *f, uint32_t ofs, uint8_t ttl)
{
    bool stale = f->key_stale; /* no field of the key */

    put(f, ofs, &ttl, 1, f->view.l3_is == FLOW_L3_IP4 ? SUM_IP4 : SUM_NONE);
    f->key_stale = stale;
}

bool
flow_edit_dec_nw_ttl(struct flow_frame *f)
{
    uint32_t ofs = nw_ttl(f);

    if (!ofs)
        return true;
    if (f->data[ofs] <= 1)
        return false;
    put_nw_ttl(f, ofs, (uint8_t) (f->data[ofs] - 1));
    return true;
}

bool
flow_edit_dec_mpls_ttl(struct flow_frame *f)
{
    uint32_t ofs = mpls_ttl(f);

    if (!ofs)
        return true;
    if (f->data[ofs] <= 1)
        return false;
    f->data[ofs]--;
    return true;
}

void
flow_edit_set_nw_ttl(struct flow_frame *f, uint8_t ttl)
{
    uint32_t ofs = nw_ttl(f);

    if (ofs)
        put_nw_ttl(f, ofs, ttl);
}

void
flow_edit_set_mpls_ttl(struct flow_frame *f, uint8_t ttl)
{
    uint32_t ofs = mpls_ttl(f);

    if (ofs)
        f->data[ofs] = ttl;
}

/* Where the TTL behind the outer MPLS entry is; 0: there is none.  What is
 * behind the last entry is IP if its first digit says so.  *csum: of IPv4. */
static uint32_t
inner_ttl(struct flow_frame *f, uint32_t *csum)
{
    const struct flow_view *v = view_of(f);
    uint32_t at = v->l3 + 4u;

    *csum = 0;
    if (v->l3_is != FLOW_L3_MPLS)
        return 0;
    if (!(f->data[v->l3 + 2] & 1))
        return at + 4 <= f->len ? at + 3 : 0;
    if (at + 20 <= f->len && f->data[at] >> 4 == 4) {
        *csum = at + IP4_CSUM;
        return at + IP4_TTL;
    }
    return at + 40 <= f->len && f->data[at] >> 4 == 6 ? at + IP6_TTL : 0;
}

void
flow_edit_copy_ttl_in(struct flow_frame *f)
{
    uint32_t csum, inner = inner_ttl(f, &csum);
    struct change c = {0, 0};
    uint8_t ttl;

    if (!inner)
        return;
    ttl = f->data[mpls_ttl(f)];
    add_change(&c, f->data + inner, &ttl, 1, inner & 1);
    if (csum)
        follow(f->data + csum, c);
    f->data[inner] = ttl;
}

void
flow_edit_copy_ttl_out(struct flow_frame *f)
{
    uint32_t csum, inner = inner_ttl(f, &csum);

    if (inner)
        f->data[mpls_ttl(f)] = f->data[inner];
}
