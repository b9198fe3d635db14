/* SPDX-License-Identifier: Apache-2.0
 *
 * Buckets of groups and bands of meters of OpenFlow 1.3 on the wire (7.3.4.2,
 * 7.3.4.4).  See codec.h.
 */
#include "ofp/codec.h"

#define BUCKET_LEN 16 /* without its actions */
#define BAND_LEN   16

static bool
bad_bucket(struct ofp_error *e, const char *why)
{
    return ofp_fail(e, OFPET_GROUP_MOD_FAILED, OFPGMFC_BAD_BUCKET,
                    "a bucket %s", why);
}

static bool
count_buckets(const uint8_t *p, size_t n, uint32_t *n_buckets,
              struct ofp_error *e)
{
    struct cursor c = cursor_init(p, n);

    *n_buckets = 0;
    while (c.left > 0) {
        uint16_t len = cursor_be16(&c);

        if (c.bad || len < BUCKET_LEN || len % 8 || len - 2u > c.left)
            return bad_bucket(e, "is shorter than 16 octets, no multiple of "
                                 "8, or ends beyond its list");
        cursor_take(&c, len - 2u);
        if (++*n_buckets > OFP_MAX_BUCKETS)
            return ofp_fail(e, OFPET_GROUP_MOD_FAILED, OFPGMFC_OUT_OF_BUCKETS,
                            "more than %u buckets in a group",
                            OFP_MAX_BUCKETS);
    }
    return true;
}

bool
ofp_buckets_decode(const uint8_t *p, size_t n, struct ofp_arena *arena,
                   struct ofp_group *g, struct ofp_error *e)
{
    struct cursor c = cursor_init(p, n);
    struct ofp_bucket *list = NULL;
    uint32_t n_buckets;

    if (!count_buckets(p, n, &n_buckets, e))
        return false;
    if (n_buckets)
        list = ofp_arena_get(arena, n_buckets * sizeof(*list));
    if (n_buckets && !list)
        return ofp_fail(e, OFPET_GROUP_MOD_FAILED, OFPGMFC_OUT_OF_BUCKETS,
                        "the buckets of the message need too much memory");
    for (uint32_t i = 0; i < n_buckets; i++) {
        size_t len = cursor_be16(&c);
        const uint8_t *actions;

        list[i].weight = cursor_be16(&c);
        list[i].watch_port = cursor_be32(&c);
        list[i].watch_group = cursor_be32(&c);
        cursor_be32(&c);
        actions = cursor_take(&c, len - BUCKET_LEN);
        if (!ofp_actions_decode(actions, len - BUCKET_LEN, OFP_V13, arena,
                                &list[i].actions, e))
            return false;
    }
    g->n_buckets = n_buckets;
    g->bucket = list;
    return true;
}

void
ofp_buckets_encode(struct ofp_buf *b, const struct ofp_group *g)
{
    for (uint32_t i = 0; i < g->n_buckets; i++) {
        const struct ofp_bucket *k = &g->bucket[i];
        size_t at = b->n;

        ofp_buf_be16(b, 0);
        ofp_buf_be16(b, k->weight);
        ofp_buf_be32(b, k->watch_port);
        ofp_buf_be32(b, k->watch_group);
        ofp_buf_be32(b, 0);
        ofp_actions_encode(b, OFP_V13, &k->actions);
        ofp_buf_set16(b, at, (uint16_t) (b->n - at));
    }
}

bool
ofp_bands_decode(const uint8_t *p, size_t n, struct ofp_meter *m,
                 struct ofp_error *e)
{
    struct cursor c = cursor_init(p, n);

    m->n_bands = 0;
    while (c.left > 0) {
        uint16_t type = cursor_be16(&c), len = cursor_be16(&c);
        struct ofp_band *b;

        if (c.bad || len < 4 || len - 4u > c.left)
            return ofp_fail(e, OFPET_METER_MOD_FAILED, OFPMMFC_BAD_BAND,
                            "a meter band of %u octets", len);
        if (type != OFPMBT_DROP && type != OFPMBT_DSCP_REMARK)
            return ofp_fail(e, OFPET_METER_MOD_FAILED, OFPMMFC_BAD_BAND,
                            "meter band of type %u: 1 (drop) and 2 (DSCP "
                            "remark) are allowed",
                            type);
        if (len != BAND_LEN)
            return ofp_fail(e, OFPET_METER_MOD_FAILED, OFPMMFC_BAD_BAND,
                            "a meter band of %u octets, it has %u", len,
                            BAND_LEN);
        if (m->n_bands == OFP_MAX_BANDS)
            return ofp_fail(e, OFPET_METER_MOD_FAILED, OFPMMFC_OUT_OF_BANDS,
                            "more than %u bands in a meter", OFP_MAX_BANDS);
        b = &m->band[m->n_bands++];
        *b = (struct ofp_band){.type = (enum ofp_band_type) type};
        b->rate = cursor_be32(&c);
        b->burst = cursor_be32(&c);
        if (type == OFPMBT_DSCP_REMARK)
            b->prec_level = cursor_u8(&c);
        cursor_take(&c, type == OFPMBT_DSCP_REMARK ? 3 : 4);
    }
    return true;
}

void
ofp_bands_encode(struct ofp_buf *b, const struct ofp_meter *m)
{
    for (uint32_t i = 0; i < m->n_bands; i++) {
        ofp_buf_be16(b, (uint16_t) m->band[i].type);
        ofp_buf_be16(b, BAND_LEN);
        ofp_buf_be32(b, m->band[i].rate);
        ofp_buf_be32(b, m->band[i].burst);
        ofp_buf_u8(b, m->band[i].type == OFPMBT_DSCP_REMARK
                          ? m->band[i].prec_level
                          : 0);
        ofp_buf_zero(b, 3);
    }
}
