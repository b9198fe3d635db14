/* SPDX-License-Identifier: Apache-2.0
 *
 * Actions of Open vSwitch: see nx.h.
 */
#include "ofp/nx.h"

#include <string.h>

#define NX_ID        0x2320u
#define EXPERIMENTER 0xffffu

enum {
    NX_SET_TUNNEL = 2,
    NX_SET_QUEUE = 4,
    NX_POP_QUEUE = 5,
    NX_SET_TUNNEL64 = 9,
    NX_DEC_TTL = 18,
    NX_PUSH_MPLS = 23,
    NX_POP_MPLS = 24,
    NX_SET_MPLS_TTL = 25,
    NX_DEC_MPLS_TTL = 26,
    NX_SET_MPLS_LABEL = 30,
    NX_SET_MPLS_TC = 31,
};

/* A set-field of a number. */
static bool
set_number(struct ofp_action *a, enum ofp_field f, uint64_t v)
{
    a->type = OFP_ACT_SET_FIELD;
    a->set.field = f;
    for (int at = ofp_fields[f].n_bytes - 1; at >= 0; at--, v >>= 8)
        a->set.value[at] = (uint8_t) v;
    ofp_field_ones(f, a->set.mask);
    return true;
}

static bool
decode_mpls(unsigned subtype, struct cursor *c, struct ofp_action *a,
            struct ofp_error *e)
{
    a->type = subtype == NX_PUSH_MPLS ? OFP_ACT_PUSH_MPLS : OFP_ACT_POP_MPLS;
    a->ethertype = cursor_be16(c);
    return subtype == NX_POP_MPLS || a->ethertype == 0x8847 ||
           a->ethertype == 0x8848 ||
           ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_ARGUMENT,
                    "no label to push has EtherType 0x%04x", a->ethertype);
}

static bool
decode_label(unsigned subtype, struct cursor *c, struct ofp_action *a,
             struct ofp_error *e)
{
    uint32_t v;

    if (subtype == NX_SET_MPLS_LABEL)
        cursor_be16(c);
    v = subtype == NX_SET_MPLS_LABEL ? cursor_be32(c) : cursor_u8(c);
    if (v > (subtype == NX_SET_MPLS_LABEL ? 0xfffffu : 7u))
        return ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_ARGUMENT,
                        "MPLS has no label or class %u", v);
    return set_number(a,
                      subtype == NX_SET_MPLS_LABEL ? OFP_MPLS_LABEL
                                                   : OFP_MPLS_TC,
                      v);
}

static bool
decode_one(unsigned subtype, struct cursor *c, struct ofp_action *a,
           struct ofp_error *e)
{
    switch (subtype) {
    case NX_SET_TUNNEL:
        cursor_be16(c);
        return set_number(a, OFP_TUNNEL_ID, cursor_be32(c));
    case NX_SET_TUNNEL64:
        cursor_take(c, 6);
        return set_number(a, OFP_TUNNEL_ID, cursor_be64(c));
    case NX_SET_QUEUE:
        cursor_be16(c);
        a->type = OFP_ACT_SET_QUEUE;
        a->queue = cursor_be32(c);
        return true;
    case NX_DEC_TTL:
        a->type = OFP_ACT_DEC_NW_TTL;
        return true;
    case NX_PUSH_MPLS:
    case NX_POP_MPLS:
        return decode_mpls(subtype, c, a, e);
    case NX_SET_MPLS_TTL:
        a->type = OFP_ACT_SET_MPLS_TTL;
        a->ttl = cursor_u8(c);
        return true;
    case NX_DEC_MPLS_TTL:
        a->type = OFP_ACT_DEC_MPLS_TTL;
        return true;
    case NX_SET_MPLS_LABEL:
    case NX_SET_MPLS_TC:
        return decode_label(subtype, c, a, e);
    default:
        return ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_EXP_TYPE,
                        "action %u of Open vSwitch is not supported", subtype);
    }
}

/* Octets of an action that is known; 0: of any other one. */
static size_t
length_of(unsigned subtype)
{
    switch (subtype) {
    case NX_SET_TUNNEL64:
        return 24;
    case NX_SET_TUNNEL:
    case NX_SET_QUEUE:
    case NX_POP_QUEUE:
    case NX_DEC_TTL:
    case NX_PUSH_MPLS:
    case NX_POP_MPLS:
    case NX_SET_MPLS_TTL:
    case NX_DEC_MPLS_TTL:
    case NX_SET_MPLS_LABEL:
    case NX_SET_MPLS_TC:
        return 16;
    default:
        return 0;
    }
}

bool
nx_decode(struct cursor *c, struct ofp_actions *l, struct ofp_error *e)
{
    size_t len = c->left + 4;
    uint32_t id = cursor_be32(c);
    uint16_t subtype = cursor_be16(c);

    if (c->bad || id != NX_ID)
        return ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_EXPERIMENTER,
                        "actions of experimenter 0x%08x are not supported",
                        id);
    if (length_of(subtype) && len != length_of(subtype))
        return ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_LEN,
                        "action %u of Open vSwitch of %zu octets", subtype,
                        len);
    if (subtype == NX_POP_QUEUE)
        return ofp_actions_pop_queue(l) ||
               ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_ARGUMENT,
                        "pop_queue behind an output to a reserved port is "
                        "not supported");
    l->a[l->n] = (struct ofp_action){.type = OFP_ACT_OUTPUT};
    return decode_one(subtype, c, &l->a[l->n++], e);
}

static void
put_head(struct ofp_buf *b, unsigned subtype)
{
    ofp_buf_be16(b, EXPERIMENTER);
    ofp_buf_be16(b, 16);
    ofp_buf_be32(b, NX_ID);
    ofp_buf_be16(b, (uint16_t) subtype);
}

/* With n octets of a number behind `pad` zeros. */
static bool
put(struct ofp_buf *b, unsigned subtype, unsigned pad, const uint8_t *v,
    unsigned n)
{
    put_head(b, subtype);
    ofp_buf_zero(b, pad);
    ofp_buf_bytes(b, v, n);
    ofp_buf_zero(b, 6 - pad - n);
    return true;
}

void
nx_encode_pop_queue(struct ofp_buf *b)
{
    put(b, NX_POP_QUEUE, 0, NULL, 0);
}

static bool
encode_set(struct ofp_buf *b, const struct ofp_action *a)
{
    if (a->set.has_mask)
        return false;
    if (a->set.field == OFP_MPLS_LABEL)
        return put(b, NX_SET_MPLS_LABEL, 2, a->set.value, 4);
    return a->set.field == OFP_MPLS_TC &&
           put(b, NX_SET_MPLS_TC, 0, a->set.value, 1);
}

bool
nx_encode(struct ofp_buf *b, const struct ofp_action *a)
{
    const uint8_t type[2] = {(uint8_t) (a->ethertype >> 8),
                             (uint8_t) a->ethertype};
    const uint8_t queue[4] = {(uint8_t) (a->queue >> 24),
                              (uint8_t) (a->queue >> 16),
                              (uint8_t) (a->queue >> 8), (uint8_t) a->queue};

    switch (a->type) {
    case OFP_ACT_SET_QUEUE:
        return put(b, NX_SET_QUEUE, 2, queue, 4);
    case OFP_ACT_DEC_NW_TTL:
        return put(b, NX_DEC_TTL, 0, NULL, 0);
    case OFP_ACT_PUSH_MPLS:
        return put(b, NX_PUSH_MPLS, 0, type, 2);
    case OFP_ACT_POP_MPLS:
        return put(b, NX_POP_MPLS, 0, type, 2);
    case OFP_ACT_SET_MPLS_TTL:
        return put(b, NX_SET_MPLS_TTL, 0, &a->ttl, 1);
    case OFP_ACT_DEC_MPLS_TTL:
        return put(b, NX_DEC_MPLS_TTL, 0, NULL, 0);
    case OFP_ACT_SET_FIELD:
        return encode_set(b, a);
    default:
        return false;
    }
}
