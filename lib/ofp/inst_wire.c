/* SPDX-License-Identifier: Apache-2.0
 *
 * Instructions of OpenFlow 1.3 on the wire (7.2.4).  See codec.h.
 */
#include "ofp/codec.h"

enum {
    IT_GOTO_TABLE = 1,
    IT_WRITE_METADATA = 2,
    IT_WRITE_ACTIONS = 3,
    IT_APPLY_ACTIONS = 4,
    IT_CLEAR_ACTIONS = 5,
    IT_METER = 6,
    IT_EXPERIMENTER = 0xffff,
};

struct inst_ctx {
    uint8_t version;         /* of the actions inside */
    struct ofp_arena *arena; /* for them */
    struct ofp_error *e;     /* of the caller */
};

static bool
bad_len(struct inst_ctx *x, unsigned type, size_t len)
{
    return ofp_fail(x->e, OFPET_BAD_INSTRUCTION, OFPBIC_BAD_LEN,
                    "instruction %u of %zu octets", type, len);
}

/* An instruction that is there already. */
static bool
twice(struct inst_ctx *x, unsigned type)
{
    return ofp_fail(x->e, OFPET_BAD_INSTRUCTION, OFPBIC_DUP_INST,
                    "instruction %u is given twice", type);
}

static bool
decode_actions(struct inst_ctx *x, struct cursor *c, unsigned type, bool *has,
               struct ofp_actions *list)
{
    if (*has)
        return twice(x, type);
    cursor_be32(c);
    if (c->bad)
        return bad_len(x, type, 4);
    *has = true;
    return ofp_actions_decode(c->p, c->left, x->version, x->arena, list, x->e);
}

static bool
decode_metadata(struct inst_ctx *x, struct cursor *c,
                struct ofp_instructions *in)
{
    if (in->has_metadata)
        return twice(x, IT_WRITE_METADATA);
    if (c->left != 20)
        return bad_len(x, IT_WRITE_METADATA, c->left + 4);
    cursor_be32(c);
    in->has_metadata = true;
    in->metadata = cursor_be64(c);
    in->metadata_mask = cursor_be64(c);
    return true;
}

/* Those of 8 octets: a table or a number, or nothing. */
static bool
decode_short(struct inst_ctx *x, unsigned type, struct cursor *c,
             struct ofp_instructions *in)
{
    bool *has = type == IT_GOTO_TABLE ? &in->has_goto
                : type == IT_METER    ? &in->has_meter
                                      : &in->clear;
    if (*has)
        return twice(x, type);
    if (c->left != 4)
        return bad_len(x, type, c->left + 4);
    *has = true;
    if (type == IT_GOTO_TABLE)
        in->table = cursor_u8(c);
    else if (type == IT_METER)
        in->meter = cursor_be32(c);
    if (in->has_goto && in->table >= OFP_N_TABLES)
        return ofp_fail(x->e, OFPET_BAD_INSTRUCTION, OFPBIC_BAD_TABLE_ID,
                        "goto-table %u, there are tables 0 to %u", in->table,
                        OFP_N_TABLES - 1);
    return true;
}

static bool
decode_one(struct inst_ctx *x, unsigned type, struct cursor *c,
           struct ofp_instructions *in)
{
    switch (type) {
    case IT_GOTO_TABLE:
    case IT_CLEAR_ACTIONS:
    case IT_METER:
        return decode_short(x, type, c, in);
    case IT_WRITE_METADATA:
        return decode_metadata(x, c, in);
    case IT_WRITE_ACTIONS:
        return decode_actions(x, c, type, &in->has_write, &in->write);
    case IT_APPLY_ACTIONS:
        return decode_actions(x, c, type, &in->has_apply, &in->apply);
    case IT_EXPERIMENTER:
        return ofp_fail(x->e, OFPET_BAD_INSTRUCTION, OFPBIC_BAD_EXPERIMENTER,
                        "instructions of experimenters are not supported");
    default:
        return ofp_fail(x->e, OFPET_BAD_INSTRUCTION, OFPBIC_UNKNOWN_INST,
                        "no instruction has number %u", type);
    }
}

bool
ofp_instructions_decode(const uint8_t *p, size_t n, uint8_t version,
                        struct ofp_arena *arena, struct ofp_instructions *out,
                        struct ofp_error *e)
{
    struct inst_ctx x = {version, arena, e};
    struct ofp_instructions in = {0};
    struct cursor c = cursor_init(p, n);

    while (c.left > 0) {
        uint16_t type = cursor_be16(&c), len = cursor_be16(&c);
        struct cursor body;

        if (c.bad || len < 4 || len - 4u > c.left)
            return bad_len(&x, type, len);
        body = cursor_init(cursor_take(&c, len - 4u), len - 4u);
        if (!decode_one(&x, type, &body, &in))
            return false;
        if (len % 8)
            return bad_len(&x, type, len);
    }
    *out = in;
    return true;
}

static void
encode_actions(struct ofp_buf *b, unsigned type, uint8_t version,
               const struct ofp_actions *list)
{
    size_t at = b->n;

    ofp_buf_be16(b, (uint16_t) type);
    ofp_buf_be16(b, 0);
    ofp_buf_be32(b, 0);
    ofp_actions_encode(b, version, list);
    ofp_buf_set16(b, at + 2, (uint16_t) (b->n - at));
}

void
ofp_instructions_encode(struct ofp_buf *b, uint8_t version,
                        const struct ofp_instructions *in)
{
    if (in->has_meter) {
        ofp_buf_be16(b, IT_METER);
        ofp_buf_be16(b, 8);
        ofp_buf_be32(b, in->meter);
    }
    if (in->has_apply)
        encode_actions(b, IT_APPLY_ACTIONS, version, &in->apply);
    if (in->clear) {
        ofp_buf_be16(b, IT_CLEAR_ACTIONS);
        ofp_buf_be16(b, 8);
        ofp_buf_be32(b, 0);
    }
    if (in->has_write)
        encode_actions(b, IT_WRITE_ACTIONS, version, &in->write);
    if (in->has_metadata) {
        ofp_buf_be16(b, IT_WRITE_METADATA);
        ofp_buf_be16(b, 24);
        ofp_buf_be32(b, 0);
        ofp_buf_be64(b, in->metadata);
        ofp_buf_be64(b, in->metadata_mask);
    }
    if (in->has_goto) {
        ofp_buf_be16(b, IT_GOTO_TABLE);
        ofp_buf_be16(b, 8);
        ofp_buf_u8(b, in->table);
        ofp_buf_zero(b, 3);
    }
}
