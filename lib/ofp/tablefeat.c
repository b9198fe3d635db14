/* SPDX-License-Identifier: Apache-2.0
 *
 * Table features of OpenFlow 1.3 on the wire (7.3.5.5), both ways: an entry
 * per table, in it properties that are lists of numbers.
 */
#include "ofp/act.h"
#include "ofp/decode.h"
#include "ofp/oxm.h"
#include "ofp/reply.h"

#include <string.h>

#define ENTRY_LEN 64 /* without its properties */

enum {
    P_INSTRUCTIONS = 0,
    P_NEXT_TABLES = 2,
    P_WRITE_ACTIONS = 4,
    P_APPLY_ACTIONS = 6,
    P_MATCH = 8,
    P_WILDCARDS = 10,
    P_WRITE_SETFIELD = 12,
    P_APPLY_SETFIELD = 14,
    P_MISS = 1, /* added: the same of the table-miss entry */
};

static bool
bad(struct ofp_error *e, uint16_t code, const char *what, unsigned v)
{
    return ofp_fail(e, OFPET_TABLE_FEATURES_FAILED, code, "%s %u", what, v);
}

static bool
decode_instructions(struct cursor *c, struct ofp_table_caps *caps,
                    struct ofp_error *e)
{
    while (c->left > 0) {
        uint16_t type = cursor_be16(c), len = cursor_be16(c);

        if (c->bad || len < 4 || len - 4u > c->left)
            return bad(e, OFPTFFC_BAD_LEN, "an instruction of length", len);
        cursor_take(c, len - 4u);
        if (type < 1 || type > 6)
            return bad(e, OFPTFFC_BAD_ARGUMENT, "no instruction has number",
                       type);
        caps->instructions |= 1u << type;
    }
    return true;
}

static bool
decode_actions(struct cursor *c, uint32_t *actions, struct ofp_error *e)
{
    while (c->left > 0) {
        uint16_t type = cursor_be16(c), len = cursor_be16(c);
        enum ofp_action_type t;

        if (c->bad || len < 4 || len - 4u > c->left)
            return bad(e, OFPTFFC_BAD_LEN, "an action of length", len);
        cursor_take(c, len - 4u);
        if (!act_type_of(type, &t))
            return bad(e, OFPTFFC_BAD_ARGUMENT, "no action has number", type);
        *actions |= 1u << t;
    }
    return true;
}

/* OXM headers; those with a mask in *masks too. */
static bool
decode_fields(struct cursor *c, uint64_t *fields, uint64_t *masks,
              struct ofp_error *e)
{
    while (c->left > 0) {
        uint32_t head = cursor_be32(c);
        unsigned f = head >> 9 & 0x7f;

        if (c->bad)
            return bad(e, OFPTFFC_BAD_LEN, "a list of fields that ends in",
                       head >> 24);
        if (head >> 16 != OFPXMC_OPENFLOW_BASIC || f >= OFP_N_FIELDS)
            return bad(e, OFPTFFC_BAD_ARGUMENT, "no field has OXM header",
                       head);
        *fields |= UINT64_C(1) << f;
        if (masks && head & 0x100)
            *masks |= UINT64_C(1) << f;
    }
    return true;
}

static bool
decode_property(unsigned type, struct cursor *c, struct ofp_table_features *t,
                struct ofp_error *e)
{
    struct ofp_table_caps *caps = type & P_MISS ? &t->miss : &t->entry;

    switch (type & ~(unsigned) P_MISS) {
    case P_INSTRUCTIONS:
        return decode_instructions(c, caps, e);
    case P_NEXT_TABLES:
        for (; c->left > 0; cursor_u8(c))
            caps->next[*c->p / 8] |= (uint8_t) (1u << *c->p % 8);
        return true;
    case P_WRITE_ACTIONS:
        return decode_actions(c, &caps->write_actions, e);
    case P_APPLY_ACTIONS:
        return decode_actions(c, &caps->apply_actions, e);
    case P_MATCH:
        return decode_fields(c, &t->match, &t->mask, e);
    case P_WILDCARDS:
        return decode_fields(c, &t->wildcards, NULL, e);
    case P_WRITE_SETFIELD:
        return decode_fields(c, &caps->write_set_fields, NULL, e);
    default:
        return decode_fields(c, &caps->apply_set_fields, NULL, e);
    }
}

/* What is not said of the table-miss entry is as it is of entries. */
static void
inherit(struct ofp_table_features *t, unsigned seen)
{
    struct ofp_table_caps *m = &t->miss, *n = &t->entry;

    if (!(seen >> (P_INSTRUCTIONS + P_MISS) & 1))
        m->instructions = n->instructions;
    if (!(seen >> (P_NEXT_TABLES + P_MISS) & 1))
        memcpy(m->next, n->next, sizeof(m->next));
    if (!(seen >> (P_WRITE_ACTIONS + P_MISS) & 1))
        m->write_actions = n->write_actions;
    if (!(seen >> (P_APPLY_ACTIONS + P_MISS) & 1))
        m->apply_actions = n->apply_actions;
    if (!(seen >> (P_WRITE_SETFIELD + P_MISS) & 1))
        m->write_set_fields = n->write_set_fields;
    if (!(seen >> (P_APPLY_SETFIELD + P_MISS) & 1))
        m->apply_set_fields = n->apply_set_fields;
}

static bool
decode_properties(struct cursor *c, struct ofp_table_features *t,
                  struct ofp_error *e)
{
    unsigned seen = 0;

    while (c->left > 0) {
        uint16_t type = cursor_be16(c), len = cursor_be16(c);
        const uint8_t *body;
        struct cursor in;

        if (c->bad || len < 4)
            return bad(e, OFPTFFC_BAD_LEN, "a property of length", len);
        body = cursor_take(c, len - 4u);
        cursor_take(c, (8 - len % 8u) % 8u);
        if (c->bad)
            return bad(e, OFPTFFC_BAD_LEN, "a property of length", len);
        if (type > 15 || type == P_MATCH + 1 || type == P_WILDCARDS + 1)
            return bad(e, OFPTFFC_BAD_TYPE, "no property has number", type);
        if (seen >> type & 1)
            return bad(e, OFPTFFC_BAD_ARGUMENT, "given twice: property", type);
        seen |= 1u << type;
        in = cursor_init(body, len - 4u);
        if (!decode_property(type, &in, t, e))
            return false;
    }
    inherit(t, seen);
    return true;
}

/* An entry, whose length is right. */
static bool
decode_entry(struct cursor *c, struct ofp_table_features *t,
             struct ofp_error *e)
{
    const uint8_t *name;

    t->table = cursor_u8(c);
    cursor_take(c, 5);
    name = cursor_take(c, 32);
    memcpy(t->name, name, strnlen((const char *) name, 32));
    t->metadata_match = cursor_be64(c);
    t->metadata_write = cursor_be64(c);
    t->config = cursor_be32(c);
    t->max_entries = cursor_be32(c);
    return decode_properties(c, t, e);
}

bool
decode_table_features(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    struct cursor count = *c;
    uint32_t n = 0;

    while (count.left > 0) {
        uint16_t len = cursor_be16(&count);

        if (count.bad || len < ENTRY_LEN || len % 8 || len - 2u > count.left)
            return bad(e, OFPTFFC_BAD_LEN, "features of a table of length",
                       len);
        cursor_take(&count, len - 2u);
        n++;
    }
    if (n > OFP_N_TABLES)
        return bad(e, OFPTFFC_BAD_TABLE, "too many tables:", n);
    if (n == 0)
        return true;
    m->features.t = ofp_arena_get(&m->arena, n * sizeof(*m->features.t));
    if (!m->features.t)
        return ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_MULTIPART_BUFFER_OVERFLOW,
                        "no memory");
    for (; m->features.n < n; m->features.n++) {
        uint16_t len = cursor_be16(c);
        struct cursor in = cursor_init(cursor_take(c, len - 2u), len - 2u);

        if (!decode_entry(&in, &m->features.t[m->features.n], e))
            return false;
    }
    return true;
}

/* --- encoding ------------------------------------------------------------ */

static size_t
open_property(struct ofp_buf *b, unsigned type)
{
    size_t at = b->n;

    ofp_buf_be16(b, (uint16_t) type);
    ofp_buf_be16(b, 0);
    return at;
}

static void
close_property(struct ofp_buf *b, size_t at)
{
    ofp_buf_set16(b, at + 2, (uint16_t) (b->n - at));
    ofp_buf_pad8(b, at);
}

static void
put_instructions(struct ofp_buf *b, unsigned type, uint32_t set)
{
    size_t at = open_property(b, type);

    for (unsigned i = 1; i <= 6; i++)
        if (set >> i & 1) {
            ofp_buf_be16(b, (uint16_t) i);
            ofp_buf_be16(b, 4);
        }
    close_property(b, at);
}

/* In the order of their numbers on the wire. */
static void
put_actions(struct ofp_buf *b, unsigned type, uint32_t set)
{
    size_t at = open_property(b, type);

    for (uint16_t wire = 0; wire < 32; wire++) {
        enum ofp_action_type t;

        if (act_type_of(wire, &t) && set >> t & 1) {
            ofp_buf_be16(b, wire);
            ofp_buf_be16(b, 4);
        }
    }
    close_property(b, at);
}

static void
put_fields(struct ofp_buf *b, unsigned type, uint64_t set, uint64_t masks)
{
    size_t at = open_property(b, type);

    for (unsigned f = 0; f < OFP_N_FIELDS; f++) {
        unsigned has_mask = masks >> f & 1;

        if (set >> f & 1)
            ofp_buf_be32(b, OFPXMC_OPENFLOW_BASIC << 16 | f << 9 |
                                has_mask << 8 |
                                (uint32_t) ofp_fields[f].n_bytes << has_mask);
    }
    close_property(b, at);
}

static void
put_next(struct ofp_buf *b, unsigned type, const uint8_t *set)
{
    size_t at = open_property(b, type);

    for (unsigned t = 0; t < 256; t++)
        if (set[t / 8] >> t % 8 & 1)
            ofp_buf_u8(b, (uint8_t) t);
    close_property(b, at);
}

/* The property of entries, and that of the table-miss entry where it is
 * another. */
static void
put_caps(struct ofp_buf *b, const struct ofp_table_features *t)
{
    const struct ofp_table_caps *n = &t->entry, *m = &t->miss;

    put_instructions(b, P_INSTRUCTIONS, n->instructions);
    if (m->instructions != n->instructions)
        put_instructions(b, P_INSTRUCTIONS + P_MISS, m->instructions);
    put_next(b, P_NEXT_TABLES, n->next);
    if (memcmp(m->next, n->next, sizeof(n->next)))
        put_next(b, P_NEXT_TABLES + P_MISS, m->next);
    put_actions(b, P_WRITE_ACTIONS, n->write_actions);
    if (m->write_actions != n->write_actions)
        put_actions(b, P_WRITE_ACTIONS + P_MISS, m->write_actions);
    put_actions(b, P_APPLY_ACTIONS, n->apply_actions);
    if (m->apply_actions != n->apply_actions)
        put_actions(b, P_APPLY_ACTIONS + P_MISS, m->apply_actions);
    put_fields(b, P_MATCH, t->match, t->mask);
    put_fields(b, P_WILDCARDS, t->wildcards, 0);
    put_fields(b, P_WRITE_SETFIELD, n->write_set_fields, 0);
    if (m->write_set_fields != n->write_set_fields)
        put_fields(b, P_WRITE_SETFIELD + P_MISS, m->write_set_fields, 0);
    put_fields(b, P_APPLY_SETFIELD, n->apply_set_fields, 0);
    if (m->apply_set_fields != n->apply_set_fields)
        put_fields(b, P_APPLY_SETFIELD + P_MISS, m->apply_set_fields, 0);
}

void
ofp_put_table_features(struct ofp_buf *b, const struct ofp_table_features *t)
{
    size_t at = b->n;

    ofp_buf_be16(b, 0);
    ofp_buf_u8(b, t->table);
    ofp_buf_zero(b, 5);
    ofp_buf_text(b, t->name, 32);
    ofp_buf_be64(b, t->metadata_match);
    ofp_buf_be64(b, t->metadata_write);
    ofp_buf_be32(b, t->config);
    ofp_buf_be32(b, t->max_entries);
    put_caps(b, t);
    ofp_buf_set16(b, at, (uint16_t) (b->n - at));
}
