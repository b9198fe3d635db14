/* SPDX-License-Identifier: Apache-2.0
 *
 * Matches of OpenFlow 1.3 on the wire: OXM fields (7.2.3).  See codec.h.
 */
#include "ofp/codec.h"
#include "ofp/oxm.h"

#include <string.h>

#define OFPMT_OXM 1

bool
ofp_value_valid(enum ofp_field f, const uint8_t *value)
{
    uint8_t ones[16];

    ofp_field_ones(f, ones);
    for (int i = 0; i < ofp_fields[f].n_bytes; i++)
        if (value[i] & ~ones[i])
            return false;
    return true;
}

enum oxm_status
oxm_take(struct cursor *c, struct oxm *o)
{
    uint32_t head = cursor_be32(c);
    unsigned f = head >> 9 & 0x7f, len = head & 0xff;
    const struct ofp_field_info *i;
    const uint8_t *value;

    o->head = head;
    o->has_mask = head >> 8 & 1;
    value = cursor_take(c, len);
    if (c->bad)
        return OXM_BAD_LEN;
    if (head >> 16 != OFPXMC_OPENFLOW_BASIC || f >= OFP_N_FIELDS)
        return OXM_BAD_FIELD;
    o->field = f;
    i = &ofp_fields[f];
    if (len != (unsigned) i->n_bytes << o->has_mask)
        return OXM_BAD_LEN;
    memcpy(o->value, value, i->n_bytes);
    if (!ofp_value_valid(f, o->value))
        return OXM_BAD_VALUE;
    if (o->has_mask)
        memcpy(o->mask, value + i->n_bytes, i->n_bytes);
    else
        ofp_field_ones(f, o->mask);
    return OXM_OK;
}

/* No tag is 0, a tag has its bit: a VID without it fits no frame. */
static bool
vid_is_absurd(const struct oxm *o)
{
    return o->field == OFP_VLAN_VID && o->mask[0] & 0x10 &&
           !(o->value[0] & 0x10) && ((o->value[0] & 0x0f) || o->value[1]);
}

/* Value and mask of a field of a match. */
static bool
check_mask(struct oxm *o, bool *is_any, struct ofp_error *e)
{
    const struct ofp_field_info *i = &ofp_fields[o->field];
    uint8_t ones[16];
    bool is_exact = true;

    *is_any = true;
    ofp_field_ones(o->field, ones);
    for (int at = 0; at < i->n_bytes; at++) {
        if (o->value[at] & ~o->mask[at])
            return ofp_fail(e, OFPET_BAD_MATCH, OFPBMC_BAD_WILDCARDS,
                            "%s: the value has bits outside its mask",
                            i->name);
        o->mask[at] &= ones[at]; /* bits that do not exist are not matched */
        is_exact = is_exact && o->mask[at] == ones[at];
        *is_any = *is_any && o->mask[at] == 0;
    }
    if (!is_exact && !*is_any && !i->maskable)
        return ofp_fail(e, OFPET_BAD_MATCH, OFPBMC_BAD_MASK,
                        "%s cannot have a mask", i->name);
    if (vid_is_absurd(o))
        return ofp_fail(e, OFPET_BAD_MATCH, OFPBMC_BAD_VALUE,
                        "vlan_vid: a VID needs the bit 0x1000");
    return true;
}

static bool
fail_status(enum oxm_status s, const struct oxm *o, struct ofp_error *e)
{
    if (s == OXM_BAD_FIELD)
        return ofp_fail(e, OFPET_BAD_MATCH, OFPBMC_BAD_FIELD,
                        "no such match field: OXM header 0x%08x", o->head);
    if (s == OXM_BAD_VALUE)
        return ofp_fail(e, OFPET_BAD_MATCH, OFPBMC_BAD_VALUE,
                        "%s has %u bits, the value has more",
                        ofp_fields[o->field].name,
                        ofp_fields[o->field].n_bits);
    return ofp_fail(e, OFPET_BAD_MATCH, OFPBMC_BAD_LEN,
                    "OXM header 0x%08x: the length is wrong", o->head);
}

bool
ofp_oxm_decode(const uint8_t *oxm, size_t n, struct ofp_match *out,
               struct ofp_error *e)
{
    struct cursor c = cursor_init(oxm, n);
    struct ofp_match m = {0}, all = {0};

    while (c.left > 0) {
        struct oxm o;
        enum oxm_status s = oxm_take(&c, &o);
        bool is_any;

        if (s != OXM_OK)
            return fail_status(s, &o, e);
        if (!check_mask(&o, &is_any, e))
            return false;
        if (ofp_match_has(&all, o.field))
            return ofp_fail(e, OFPET_BAD_MATCH, OFPBMC_DUP_FIELD,
                            "%s is given twice", ofp_fields[o.field].name);
        ofp_match_set(&all, o.field, o.value, o.mask);
        if (!is_any)
            ofp_match_set(&m, o.field, o.value, o.mask);
    }
    for (int f = 0; f < OFP_N_FIELDS; f++)
        if (ofp_match_has(&all, f) && !ofp_match_allows(&all, f))
            return ofp_fail(e, OFPET_BAD_MATCH, OFPBMC_BAD_PREREQ,
                            "%s: a field that it depends on is missing or "
                            "has another value",
                            ofp_fields[f].name);
    *out = m;
    return true;
}

void
oxm_encode(struct ofp_buf *b, enum ofp_field f, const uint8_t *value,
           const uint8_t *mask)
{
    const struct ofp_field_info *i = &ofp_fields[f];
    unsigned len = i->n_bytes;

    ofp_buf_be32(b, (uint32_t) OFPXMC_OPENFLOW_BASIC << 16 |
                        (uint32_t) f << 9 | (mask ? 0x100 : 0) |
                        (mask ? 2 * len : len));
    ofp_buf_bytes(b, value, len);
    if (mask)
        ofp_buf_bytes(b, mask, len);
}

void
ofp_oxm_encode(struct ofp_buf *b, const struct ofp_match *m)
{
    for (uint64_t left = m->present; left; left &= left - 1) {
        enum ofp_field f = (enum ofp_field) __builtin_ctzll(left);
        uint8_t value[16], mask[16], ones[16];

        ofp_key_get(&m->value, f, value);
        ofp_key_get(&m->mask, f, mask);
        ofp_field_ones(f, ones);
        oxm_encode(b, f, value,
                   memcmp(mask, ones, ofp_fields[f].n_bytes) ? mask : NULL);
    }
}

bool
ofp_match_decode(struct cursor *c, struct ofp_match *m, struct ofp_error *e)
{
    uint16_t type = cursor_be16(c), len = cursor_be16(c);
    const uint8_t *oxm;

    if (!c->bad && type != OFPMT_OXM)
        return ofp_fail(e, OFPET_BAD_MATCH, OFPBMC_BAD_TYPE,
                        "a match of type %u, only 1 (OXM) is allowed", type);
    if (c->bad || len < 4)
        return ofp_fail(e, OFPET_BAD_MATCH, OFPBMC_BAD_LEN,
                        "a match of %u octets", len);
    oxm = cursor_take(c, len - 4u);
    cursor_take(c, (8 - len % 8u) % 8u);
    if (c->bad)
        return ofp_fail(e, OFPET_BAD_MATCH, OFPBMC_BAD_LEN,
                        "a match of %u octets ends beyond its message", len);
    return ofp_oxm_decode(oxm, len - 4u, m, e);
}

void
ofp_match_encode(struct ofp_buf *b, const struct ofp_match *m)
{
    size_t start = b->n;

    ofp_buf_be16(b, OFPMT_OXM);
    ofp_buf_be16(b, 0);
    ofp_oxm_encode(b, m);
    ofp_buf_set16(b, start + 2, (uint16_t) (b->n - start));
    ofp_buf_pad8(b, start);
}
