/* SPDX-License-Identifier: Apache-2.0
 *
 * Multipart requests of OpenFlow 1.3 (7.3.5).  See decode.h.
 */
#include "ofp/decode.h"

#define MPF_MORE 1u

static bool
decode_flows(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    struct ofp_flow_request *r = &m->flows;

    r->table = cursor_u8(c);
    cursor_take(c, 3);
    r->out_port = cursor_be32(c);
    r->out_group = cursor_be32(c);
    cursor_be32(c);
    r->cookie = cursor_be64(c);
    r->cookie_mask = cursor_be64(c);
    if (!ofp_match_decode(c, &r->match, e))
        return false;
    return c->left == 0 || decode_bad_len(e, ofp_kind_name(m->kind), c->left);
}

static bool
decode_which(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    (void) e;
    m->which.port = cursor_be32(c);
    m->which.queue = m->kind == OFPK_MP_QUEUE ? cursor_be32(c) : OFPQ_ALL;
    return true;
}

static bool
decode_id(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    (void) e;
    m->id = cursor_be32(c);
    return true;
}

static const struct decode_form forms[] = {
    {0, OFPK_MP_DESC, 0, true, NULL},
    {1, OFPK_MP_FLOW, 40, false, decode_flows},
    {2, OFPK_MP_AGGREGATE, 40, false, decode_flows},
    {3, OFPK_MP_TABLE, 0, true, NULL},
    {4, OFPK_MP_PORT_STATS, 8, true, decode_which},
    {5, OFPK_MP_QUEUE, 8, true, decode_which},
    {6, OFPK_MP_GROUP, 8, true, decode_id},
    {7, OFPK_MP_GROUP_DESC, 0, true, NULL},
    {8, OFPK_MP_GROUP_FEATURES, 0, true, NULL},
    {9, OFPK_MP_METER, 8, true, decode_id},
    {10, OFPK_MP_METER_CONFIG, 8, true, decode_id},
    {11, OFPK_MP_METER_FEATURES, 0, true, NULL},
    {12, OFPK_MP_TABLE_FEATURES, 0, false, decode_table_features},
    {13, OFPK_MP_PORT_DESC, 0, true, NULL},
};

static bool
decode_body(uint16_t type, struct cursor *c, struct ofp_msg *m,
            struct ofp_error *e)
{
    const struct decode_form *f =
        decode_find(forms, sizeof(forms) / sizeof(forms[0]), type);

    if (type == 0xffff)
        return ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_EXPERIMENTER,
                        "multipart requests of experimenters are not "
                        "supported");
    if (!f)
        return ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_MULTIPART,
                        "no multipart request has type %u", type);
    return decode_run(f, c, m, e);
}

bool
decode_multipart(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    uint16_t type = cursor_be16(c);

    m->more = cursor_be16(c) & MPF_MORE;
    cursor_be32(c);
    return decode_body(type, c, m, e);
}

bool
ofp_multipart_decode(uint16_t type, const uint8_t *body, size_t n,
                     struct ofp_msg *out, struct ofp_error *e)
{
    struct ofp_msg m = {.version = OFP_V13, .xid = 0};
    struct cursor c = cursor_init(body, n);

    if (!decode_body(type, &c, &m, e)) {
        ofp_arena_free(&m.arena);
        return false;
    }
    *out = m;
    return true;
}
