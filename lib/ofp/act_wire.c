/* SPDX-License-Identifier: Apache-2.0
 *
 * Actions of OpenFlow 1.3 on the wire (7.2.5), and as they are kept at home.
 * See codec.h; those of 1.0 are in act10.c.
 */
#include "ofp/act.h"
#include "ofp/codec.h"
#include "ofp/nx.h"
#include "ofp/oxm.h"

#include <string.h>

/* Numbers on the wire.  The three HOME_ ones are no numbers of 1.3. */
enum {
    AT_OUTPUT = 0,
    AT_HOME_VLAN_VID = 1,
    AT_HOME_VLAN_PCP = 2,
    AT_HOME_ENQUEUE = 3,
    AT_COPY_TTL_OUT = 11,
    AT_COPY_TTL_IN = 12,
    AT_SET_MPLS_TTL = 15,
    AT_DEC_MPLS_TTL = 16,
    AT_PUSH_VLAN = 17,
    AT_POP_VLAN = 18,
    AT_PUSH_MPLS = 19,
    AT_POP_MPLS = 20,
    AT_SET_QUEUE = 21,
    AT_GROUP = 22,
    AT_SET_NW_TTL = 23,
    AT_DEC_NW_TTL = 24,
    AT_SET_FIELD = 25,
    AT_PUSH_PBB = 26,
    AT_POP_PBB = 27,
    AT_EXPERIMENTER = 0xffff,
};

/* By enum ofp_action_type; len 0: as long as it says. */
static const struct {
    uint16_t wire; /* number there */
    uint8_t len;   /* octets, head included */
} forms[OFP_N_ACTS] = {
    [OFP_ACT_COPY_TTL_IN] = {AT_COPY_TTL_IN, 8},
    [OFP_ACT_POP_VLAN] = {AT_POP_VLAN, 8},
    [OFP_ACT_POP_MPLS] = {AT_POP_MPLS, 8},
    [OFP_ACT_POP_PBB] = {AT_POP_PBB, 8},
    [OFP_ACT_PUSH_MPLS] = {AT_PUSH_MPLS, 8},
    [OFP_ACT_PUSH_PBB] = {AT_PUSH_PBB, 8},
    [OFP_ACT_PUSH_VLAN] = {AT_PUSH_VLAN, 8},
    [OFP_ACT_COPY_TTL_OUT] = {AT_COPY_TTL_OUT, 8},
    [OFP_ACT_DEC_NW_TTL] = {AT_DEC_NW_TTL, 8},
    [OFP_ACT_DEC_MPLS_TTL] = {AT_DEC_MPLS_TTL, 8},
    [OFP_ACT_SET_NW_TTL] = {AT_SET_NW_TTL, 8},
    [OFP_ACT_SET_MPLS_TTL] = {AT_SET_MPLS_TTL, 8},
    [OFP_ACT_SET_FIELD] = {AT_SET_FIELD, 0},
    [OFP_ACT_SET_QUEUE] = {AT_SET_QUEUE, 8},
    [OFP_ACT_GROUP] = {AT_GROUP, 8},
    [OFP_ACT_OUTPUT] = {AT_OUTPUT, 16},
    [OFP_ACT_SET_VLAN_VID] = {AT_HOME_VLAN_VID, 8},
    [OFP_ACT_SET_VLAN_PCP] = {AT_HOME_VLAN_PCP, 8},
    [OFP_ACT_ENQUEUE] = {AT_HOME_ENQUEUE, 16},
};

bool
act_out_port_valid(uint32_t port)
{
    return port != 0 && port != OFPP_ANY &&
           (port < OFPP_MAX || port >= OFPP_IN_PORT);
}

static bool
find_form(uint16_t wire, uint8_t version, enum ofp_action_type *type)
{
    int n = version == OFP_VHOME ? OFP_N_ACTS : OFP_ACT_SET_VLAN_VID;

    for (int t = 0; t < n; t++)
        if (forms[t].wire == wire) {
            *type = (enum ofp_action_type) t;
            return true;
        }
    return false;
}

bool
act_type_of(uint16_t wire, enum ofp_action_type *type)
{
    return find_form(wire, OFP_V13, type);
}

uint16_t
act_wire_of(enum ofp_action_type type)
{
    return forms[type].wire;
}

static bool
decode_set_field(struct cursor *c, uint8_t version, struct ofp_action *a,
                 struct ofp_error *e)
{
    size_t room = c->left;
    struct oxm o;
    enum oxm_status s = oxm_take(c, &o);
    const struct ofp_field_info *i;

    if (s == OXM_BAD_FIELD)
        return ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_SET_TYPE,
                        "set-field: no such field: OXM header 0x%08x", o.head);
    if (s == OXM_BAD_LEN || c->left > 7 || (room + 4) % 8 != 0)
        return ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_SET_LEN,
                        "set-field: OXM header 0x%08x: the length is wrong",
                        o.head);
    i = &ofp_fields[o.field];
    if (!i->settable)
        return ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_SET_TYPE,
                        "set-field: %s cannot be set", i->name);
    if (s == OXM_BAD_VALUE)
        return ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_SET_ARGUMENT,
                        "set-field: %s has %u bits, the value has more",
                        i->name, i->n_bits);
    if (o.has_mask && version != OFP_VHOME)
        return ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_SET_TYPE,
                        "set-field: no mask is allowed");
    if (o.field == OFP_VLAN_VID && !o.has_mask && !(o.value[0] & 0x10))
        return ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_SET_ARGUMENT,
                        "set-field: vlan_vid needs the bit 0x1000");
    a->set.field = o.field;
    a->set.has_mask = o.has_mask;
    memcpy(a->set.value, o.value, i->n_bytes);
    memcpy(a->set.mask, o.mask, i->n_bytes);
    return true;
}

/* The EtherType that a push or pop names. */
static bool
check_ethertype(const struct ofp_action *a, struct ofp_error *e)
{
    uint16_t t = a->ethertype;
    bool ok = a->type == OFP_ACT_PUSH_VLAN ? t == 0x8100 || t == 0x88a8
              : a->type == OFP_ACT_PUSH_MPLS
                  ? t == 0x8847 || t == 0x8848
                  : a->type != OFP_ACT_PUSH_PBB || t == 0x88e7;

    return ok || ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_ARGUMENT,
                          "no header to push has EtherType 0x%04x", t);
}

static bool
decode_output(struct cursor *c, struct ofp_action *a, struct ofp_error *e)
{
    a->output.port = cursor_be32(c);
    if (a->type == OFP_ACT_OUTPUT)
        a->output.max_len = cursor_be16(c);
    else
        a->output.queue = cursor_be32(c);
    return act_out_port_valid(a->output.port) ||
           ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_OUT_PORT,
                    "output to port 0x%x, which is none", a->output.port);
}

/* The body of an action whose length is right. */
static bool
decode_body(struct cursor *c, uint8_t version, struct ofp_action *a,
            struct ofp_error *e)
{
    switch (a->type) {
    case OFP_ACT_OUTPUT:
    case OFP_ACT_ENQUEUE:
        return decode_output(c, a, e);
    case OFP_ACT_SET_FIELD:
        return decode_set_field(c, version, a, e);
    case OFP_ACT_PUSH_VLAN:
    case OFP_ACT_PUSH_MPLS:
    case OFP_ACT_PUSH_PBB:
    case OFP_ACT_POP_MPLS:
        a->ethertype = cursor_be16(c);
        return check_ethertype(a, e);
    case OFP_ACT_SET_QUEUE:
        a->queue = cursor_be32(c);
        return true;
    case OFP_ACT_GROUP:
        a->group = cursor_be32(c);
        return a->group <= OFPG_MAX ||
               ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_OUT_GROUP,
                        "group 0x%x, 0x%x at most is allowed", a->group,
                        OFPG_MAX);
    case OFP_ACT_SET_NW_TTL:
    case OFP_ACT_SET_MPLS_TTL:
        a->ttl = cursor_u8(c);
        return true;
    case OFP_ACT_SET_VLAN_VID:
        a->vid = cursor_be16(c) & 0xfff;
        return true;
    case OFP_ACT_SET_VLAN_PCP:
        a->pcp = cursor_u8(c) & 7;
        return true;
    default:
        return true;
    }
}

static bool
decode_one(uint16_t type, struct cursor *c, uint8_t version,
           struct ofp_action *a, struct ofp_error *e)
{
    size_t n = c->left;

    if (!find_form(type, version, &a->type))
        return ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_TYPE,
                        "no action has number %u", type);
    if (forms[a->type].len && forms[a->type].len != n + 4)
        return ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_LEN,
                        "action %u of %zu octets, it has %u", type, n + 4,
                        forms[a->type].len);
    return decode_body(c, version, a, e);
}

bool
act_count(const uint8_t *p, size_t n, size_t *n_actions, struct ofp_error *e)
{
    struct cursor c = cursor_init(p, n);

    *n_actions = 0;
    while (c.left > 0) {
        uint16_t len;

        cursor_be16(&c);
        len = cursor_be16(&c);
        if (!c.bad && len >= 8 && len % 8 == 0)
            cursor_take(&c, len - 4u);
        else
            c.bad = true;
        if (c.bad)
            return ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_LEN,
                            "an action is shorter than 8 octets, no multiple "
                            "of 8, or ends beyond its list");
        if (++*n_actions > OFP_MAX_ACTIONS)
            return ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_TOO_MANY,
                            "more than %u actions in a list", OFP_MAX_ACTIONS);
    }
    return true;
}

bool
ofp_actions_decode(const uint8_t *p, size_t n, uint8_t version,
                   struct ofp_arena *arena, struct ofp_actions *out,
                   struct ofp_error *e)
{
    struct cursor c = cursor_init(p, n);
    struct ofp_actions list = {0};
    size_t n_actions;

    if (!act_count(p, n, &n_actions, e))
        return false;
    if (version == OFP_V10)
        return act10_decode(p, n, n_actions, arena, out, e);
    if (n_actions)
        list.a = ofp_arena_get(arena, n_actions * sizeof(*list.a));
    if (n_actions && !list.a)
        return ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_TOO_MANY,
                        "the actions of the message need too much memory");
    while (c.left > 0) {
        uint16_t type = cursor_be16(&c), len = cursor_be16(&c);
        struct cursor body = cursor_init(cursor_take(&c, len - 4u), len - 4u);

        if (type == AT_EXPERIMENTER) {
            if (!nx_decode(&body, &list, e))
                return false;
            continue;
        }
        if (!decode_one(type, &body, version, &list.a[list.n++], e))
            return false;
    }
    *out = list;
    return true;
}

static void
encode_set_field(struct ofp_buf *b, enum ofp_field f, const uint8_t *value,
                 const uint8_t *mask)
{
    size_t at = b->n;

    ofp_buf_be16(b, AT_SET_FIELD);
    ofp_buf_be16(b, 0);
    oxm_encode(b, f, value, mask);
    ofp_buf_pad8(b, at);
    ofp_buf_set16(b, at + 2, (uint16_t) (b->n - at));
}

static void
encode_head(struct ofp_buf *b, const struct ofp_action *a)
{
    ofp_buf_be16(b, forms[a->type].wire);
    ofp_buf_be16(b, forms[a->type].len);
}

/* What only 1.0 has, in the words of 1.3. */
static bool
encode_foreign(struct ofp_buf *b, const struct ofp_action *a)
{
    struct ofp_action other = {.type = OFP_ACT_SET_QUEUE};
    uint8_t vid[2] = {(uint8_t) (0x10 | a->vid >> 8), (uint8_t) a->vid};

    switch (a->type) {
    case OFP_ACT_SET_VLAN_VID:
        encode_set_field(b, OFP_VLAN_VID, vid, NULL);
        return true;
    case OFP_ACT_SET_VLAN_PCP:
        encode_set_field(b, OFP_VLAN_PCP, &a->pcp, NULL);
        return true;
    case OFP_ACT_ENQUEUE:
        other.queue = a->output.queue;
        act_encode(b, OFP_V13, &other);
        other = *a;
        other.type = OFP_ACT_OUTPUT;
        act_encode(b, OFP_V13, &other);
        nx_encode_pop_queue(b); /* so that later outputs are not meant */
        return true;
    default:
        return false;
    }
}

/* What follows the head of an action of a fixed length. */
static void
encode_body(struct ofp_buf *b, const struct ofp_action *a)
{
    switch (a->type) {
    case OFP_ACT_OUTPUT:
        ofp_buf_be32(b, a->output.port);
        ofp_buf_be16(b, a->output.max_len);
        break;
    case OFP_ACT_ENQUEUE:
        ofp_buf_be32(b, a->output.port);
        ofp_buf_be32(b, a->output.queue);
        break;
    case OFP_ACT_PUSH_VLAN:
    case OFP_ACT_PUSH_MPLS:
    case OFP_ACT_PUSH_PBB:
    case OFP_ACT_POP_MPLS:
        ofp_buf_be16(b, a->ethertype);
        break;
    case OFP_ACT_SET_QUEUE:
        ofp_buf_be32(b, a->queue);
        break;
    case OFP_ACT_GROUP:
        ofp_buf_be32(b, a->group);
        break;
    case OFP_ACT_SET_NW_TTL:
    case OFP_ACT_SET_MPLS_TTL:
        ofp_buf_u8(b, a->ttl);
        break;
    case OFP_ACT_SET_VLAN_VID:
        ofp_buf_be16(b, a->vid);
        break;
    case OFP_ACT_SET_VLAN_PCP:
        ofp_buf_u8(b, a->pcp);
        break;
    default:
        break;
    }
}

void
act_encode(struct ofp_buf *b, uint8_t version, const struct ofp_action *a)
{
    size_t at = b->n;

    if (a->type == OFP_ACT_SET_FIELD) {
        encode_set_field(b, a->set.field, a->set.value,
                         a->set.has_mask ? a->set.mask : NULL);
        return;
    }
    if (version != OFP_VHOME && encode_foreign(b, a))
        return;
    encode_head(b, a);
    encode_body(b, a);
    if (!b->bad)
        ofp_buf_zero(b, forms[a->type].len - (b->n - at));
}

void
ofp_actions_encode(struct ofp_buf *b, uint8_t version,
                   const struct ofp_actions *list)
{
    if (version == OFP_V10) {
        act10_encode(b, list);
        return;
    }
    for (uint32_t i = 0; i < list->n; i++)
        act_encode(b, version, &list->a[i]);
}
