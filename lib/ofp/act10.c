/* SPDX-License-Identifier: Apache-2.0
 *
 * Actions of OpenFlow 1.0 on the wire (5.2.4 of its specification), in terms
 * of those of 1.3.  1.0 sets ports of TCP or UDP, whichever the frame has:
 * here that is two set-fields, of which one applies.
 */
#include "ofp/act.h"
#include "ofp/codec.h"
#include "ofp/nx.h"
#include "ofp/v10.h"

#include <string.h>

enum {
    A10_OUTPUT = 0,
    A10_SET_VLAN_VID = 1,
    A10_SET_VLAN_PCP = 2,
    A10_STRIP_VLAN = 3,
    A10_SET_DL_SRC = 4,
    A10_SET_DL_DST = 5,
    A10_SET_NW_SRC = 6,
    A10_SET_NW_DST = 7,
    A10_SET_NW_TOS = 8,
    A10_SET_TP_SRC = 9,
    A10_SET_TP_DST = 10,
    A10_ENQUEUE = 11,
    A10_VENDOR = 0xffff,
};

/* Octets of each. */
static const uint8_t lens[] = {8, 8, 8, 8, 16, 16, 8, 8, 8, 8, 8, 16};

static void
add_set(struct ofp_actions *l, enum ofp_field f, const uint8_t *value)
{
    struct ofp_action *a = &l->a[l->n++];

    a->type = OFP_ACT_SET_FIELD;
    a->set.field = f;
    memcpy(a->set.value, value, ofp_fields[f].n_bytes);
    ofp_field_ones(f, a->set.mask);
}

static bool
decode_port(struct cursor *c, struct ofp_action *a, struct ofp_error *e)
{
    uint16_t port = cursor_be16(c);

    a->output.port = v10_port_in(port);
    if (a->type == OFP_ACT_OUTPUT) {
        a->output.max_len = cursor_be16(c);
    } else {
        cursor_take(c, 6);
        a->output.queue = cursor_be32(c);
    }
    return act_out_port_valid(a->output.port) ||
           ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_OUT_PORT,
                    "output to port 0x%x, which is none", port);
}

static bool
bad_argument(struct ofp_error *e, const char *what, unsigned v)
{
    return ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_ARGUMENT, "%s %u", what,
                    v);
}

/* VLAN and TOS. */
static bool
decode_small(unsigned type, struct cursor *c, struct ofp_actions *l,
             struct ofp_error *e)
{
    struct ofp_action *a = &l->a[l->n];
    uint8_t dscp;

    if (type == A10_SET_VLAN_VID) {
        a->type = OFP_ACT_SET_VLAN_VID;
        a->vid = cursor_be16(c);
        l->n++;
        return a->vid <= 0xfff || bad_argument(e, "VLAN", a->vid);
    }
    dscp = cursor_u8(c);
    if (type == A10_SET_VLAN_PCP) {
        a->type = OFP_ACT_SET_VLAN_PCP;
        a->pcp = dscp;
        l->n++;
        return a->pcp <= 7 || bad_argument(e, "VLAN priority", a->pcp);
    }
    if (dscp & 3)
        return bad_argument(e, "TOS with ECN bits:", dscp);
    dscp >>= 2;
    add_set(l, OFP_IP_DSCP, &dscp);
    return true;
}

static bool
decode_one(unsigned type, struct cursor *c, struct ofp_actions *l,
           struct ofp_error *e)
{
    struct ofp_action *a = &l->a[l->n];

    switch (type) {
    case A10_OUTPUT:
    case A10_ENQUEUE:
        a->type = type == A10_OUTPUT ? OFP_ACT_OUTPUT : OFP_ACT_ENQUEUE;
        l->n++;
        return decode_port(c, a, e);
    case A10_SET_VLAN_VID:
    case A10_SET_VLAN_PCP:
    case A10_SET_NW_TOS:
        return decode_small(type, c, l, e);
    case A10_STRIP_VLAN:
        a->type = OFP_ACT_POP_VLAN;
        l->n++;
        return true;
    case A10_SET_DL_SRC:
    case A10_SET_DL_DST:
        add_set(l, type == A10_SET_DL_SRC ? OFP_ETH_SRC : OFP_ETH_DST, c->p);
        return true;
    case A10_SET_NW_SRC:
    case A10_SET_NW_DST:
        add_set(l, type == A10_SET_NW_SRC ? OFP_IPV4_SRC : OFP_IPV4_DST, c->p);
        return true;
    default:
        add_set(l, type == A10_SET_TP_SRC ? OFP_TCP_SRC : OFP_TCP_DST, c->p);
        add_set(l, type == A10_SET_TP_SRC ? OFP_UDP_SRC : OFP_UDP_DST, c->p);
        return true;
    }
}

bool
act10_decode(const uint8_t *p, size_t n, size_t n_actions,
             struct ofp_arena *arena, struct ofp_actions *out,
             struct ofp_error *e)
{
    struct cursor c = cursor_init(p, n);
    struct ofp_actions l = {0};

    if (n_actions)
        l.a = ofp_arena_get(arena, 2 * n_actions * sizeof(*l.a));
    if (n_actions && !l.a)
        return ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_TOO_MANY,
                        "the actions of the message need too much memory");
    while (c.left > 0) {
        uint16_t type = cursor_be16(&c), len = cursor_be16(&c);
        struct cursor body = cursor_init(cursor_take(&c, len - 4u), len - 4u);

        if (type == A10_VENDOR) {
            if (!nx_decode(&body, &l, e))
                return false;
            continue;
        }
        if (type > A10_ENQUEUE)
            return ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_TYPE,
                            "no action has number %u", type);
        if (len != lens[type])
            return ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_LEN,
                            "action %u of %u octets, it has %u", type, len,
                            lens[type]);
        if (!decode_one(type, &body, &l, e))
            return false;
    }
    *out = l;
    return true;
}

static void
put_head(struct ofp_buf *b, unsigned type)
{
    ofp_buf_be16(b, (uint16_t) type);
    ofp_buf_be16(b, lens[type]);
}

/* A value of at most 4 octets. */
static void
put_value(struct ofp_buf *b, unsigned type, const uint8_t *v, size_t n)
{
    put_head(b, type);
    ofp_buf_bytes(b, v, n);
    ofp_buf_zero(b, lens[type] - 4u - n);
}

/* UDP's half of a pair that act10_decode() made. */
static bool
is_second_half(const struct ofp_action *a, const struct ofp_action *before)
{
    return before && before->type == OFP_ACT_SET_FIELD &&
           ((a->set.field == OFP_UDP_SRC &&
             before->set.field == OFP_TCP_SRC) ||
            (a->set.field == OFP_UDP_DST &&
             before->set.field == OFP_TCP_DST)) &&
           memcmp(a->set.value, before->set.value, 2) == 0;
}

static void
encode_set_field(struct ofp_buf *b, const struct ofp_action *a,
                 const struct ofp_action *before)
{
    const uint8_t *v = a->set.value;
    const uint8_t vid[2] = {v[0] & 0x0f, v[1]}, tos = (uint8_t) (v[0] << 2);

    if (a->set.has_mask || is_second_half(a, before))
        return;
    switch (a->set.field) {
    case OFP_ETH_SRC:
    case OFP_ETH_DST:
        put_value(b,
                  a->set.field == OFP_ETH_SRC ? A10_SET_DL_SRC
                                              : A10_SET_DL_DST,
                  v, 6);
        break;
    case OFP_VLAN_VID:
        put_value(b, A10_SET_VLAN_VID, vid, 2);
        break;
    case OFP_VLAN_PCP:
        put_value(b, A10_SET_VLAN_PCP, v, 1);
        break;
    case OFP_IP_DSCP:
        put_value(b, A10_SET_NW_TOS, &tos, 1);
        break;
    case OFP_IPV4_SRC:
    case OFP_IPV4_DST:
        put_value(b,
                  a->set.field == OFP_IPV4_SRC ? A10_SET_NW_SRC
                                               : A10_SET_NW_DST,
                  v, 4);
        break;
    case OFP_TCP_SRC:
    case OFP_UDP_SRC:
    case OFP_SCTP_SRC:
        put_value(b, A10_SET_TP_SRC, v, 2);
        break;
    case OFP_TCP_DST:
    case OFP_UDP_DST:
    case OFP_SCTP_DST:
        put_value(b, A10_SET_TP_DST, v, 2);
        break;
    default:
        break; /* 1.0 has no word for it */
    }
}

void
act10_encode(struct ofp_buf *b, const struct ofp_actions *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        const struct ofp_action *a = &l->a[i];
        const uint8_t vid[2] = {(uint8_t) (a->vid >> 8), (uint8_t) a->vid};

        switch (a->type) {
        case OFP_ACT_OUTPUT:
            put_head(b, A10_OUTPUT);
            ofp_buf_be16(b, v10_port_out(a->output.port));
            ofp_buf_be16(b, a->output.max_len);
            break;
        case OFP_ACT_ENQUEUE:
            put_head(b, A10_ENQUEUE);
            ofp_buf_be16(b, v10_port_out(a->output.port));
            ofp_buf_zero(b, 6);
            ofp_buf_be32(b, a->output.queue);
            break;
        case OFP_ACT_SET_VLAN_VID:
            put_value(b, A10_SET_VLAN_VID, vid, 2);
            break;
        case OFP_ACT_SET_VLAN_PCP:
            put_value(b, A10_SET_VLAN_PCP, &a->pcp, 1);
            break;
        case OFP_ACT_POP_VLAN:
            put_value(b, A10_STRIP_VLAN, NULL, 0);
            break;
        case OFP_ACT_SET_FIELD:
            if (!nx_encode(b, a))
                encode_set_field(b, a, i ? &l->a[i - 1] : NULL);
            break;
        default:
            nx_encode(b, a); /* or 1.0 has no word for it */
            break;
        }
    }
}
