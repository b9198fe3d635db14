/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: anything as a message of a controller.  What is taken must say
 * the same after it was written and read again: the flow of a flow-mod, the
 * buckets of a group-mod, the bands of a meter-mod.
 */
#include "ofp/reply.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void
require(bool holds)
{
    if (!holds)
        abort();
}

/* As it is kept at home. */
static void
check_instructions(const struct ofp_instructions *in)
{
    struct ofp_instructions again, copy;
    struct ofp_arena arena = {0};
    struct ofp_buf b = {0};

    ofp_instructions_encode(&b, OFP_VHOME, in);
    require(
        ofp_instructions_decode(b.data, b.n, OFP_VHOME, &arena, &again, NULL));
    require(ofp_instructions_equal(in, &again));
    require(ofp_instructions_copy(&again, &copy));
    require(ofp_instructions_equal(in, &copy));
    ofp_instructions_free(&copy);
    ofp_arena_free(&arena);
    ofp_buf_free(&b);
}

static void
check_match(const struct ofp_match *m)
{
    struct ofp_match again;
    struct ofp_buf b = {0};

    ofp_oxm_encode(&b, m);
    require(ofp_oxm_decode(b.data, b.n, &again, NULL));
    require(memcmp(m, &again, sizeof(again)) == 0);
    ofp_buf_free(&b);
}

static void
check_flow(const struct ofp_msg *m)
{
    const struct ofp_flow_mod *f = &m->flow;
    struct ofp_flow_stats s = {.match = &f->match, .inst = &f->inst};
    struct ofp_buf b = {0};

    check_match(&f->match);
    check_instructions(&f->inst);
    ofp_put_flow(&b, OFP_V10, &s);
    require(b.n <= OFP_MAX_LEN && b.data[0] * 256u + b.data[1] == b.n);
    ofp_buf_free(&b);
    ofp_put_flow(&b, OFP_V13, &s);
    require(b.n <= OFP_MAX_LEN && b.data[0] * 256u + b.data[1] == b.n);
    ofp_buf_free(&b);
}

static void
check_group(const struct ofp_group *g)
{
    struct ofp_group again = *g, copy;
    struct ofp_arena arena = {0};
    struct ofp_buf b = {0};

    ofp_buckets_encode(&b, g);
    require(ofp_buckets_decode(b.data, b.n, &arena, &again, NULL));
    require(again.n_buckets == g->n_buckets);
    for (uint32_t i = 0; i < g->n_buckets; i++)
        require(ofp_actions_equal(&g->bucket[i].actions,
                                  &again.bucket[i].actions));
    require(ofp_group_copy(&again, &copy));
    ofp_group_free(&copy);
    ofp_arena_free(&arena);
    ofp_buf_free(&b);
}

static void
check_meter(const struct ofp_meter *m)
{
    struct ofp_meter again = *m;
    struct ofp_buf b = {0};

    ofp_bands_encode(&b, m);
    require(ofp_bands_decode(b.data, b.n, &again, NULL));
    require(memcmp(m->band, again.band, m->n_bands * sizeof(m->band[0])) == 0);
    ofp_buf_free(&b);
}

static void
check_tables(const struct ofp_msg *m)
{
    for (uint32_t i = 0; i < m->features.n; i++) {
        struct ofp_buf b = {0};
        struct ofp_msg again;

        m->features.t[i].name[31] = '\0'; /* the longest that is written */
        ofp_put_table_features(&b, &m->features.t[i]);
        require(ofp_multipart_decode(12, b.data, b.n, &again, NULL));
        require(again.features.n == 1);
        require(memcmp(again.features.t, &m->features.t[i],
                       sizeof(*again.features.t)) == 0);
        ofp_msg_free(&again);
        ofp_buf_free(&b);
    }
}

static void
run(const uint8_t *data, size_t n)
{
    struct ofp_error e = {0xbeef, 0xbeef, ""};
    struct ofp_buf b = {0};
    struct ofp_msg m;

    if (!ofp_msg_decode(data, n, &m, &e)) {
        require(e.type != 0xbeef && e.msg[0]);
        ofp_send_error(&b, OFP_V13, data, n, &e);
        require(!b.bad && b.n >= 12);
        ofp_buf_free(&b);
        return;
    }
    require(m.kind < OFP_N_KINDS && ofp_kind_name(m.kind));
    if (m.kind == OFPK_FLOW_MOD)
        check_flow(&m);
    else if (m.kind == OFPK_GROUP_MOD)
        check_group(&m.group.group);
    else if (m.kind == OFPK_METER_MOD)
        check_meter(&m.meter.meter);
    else if (m.kind == OFPK_MP_FLOW || m.kind == OFPK_MP_AGGREGATE)
        check_match(&m.flows.match);
    else if (m.kind == OFPK_MP_TABLE_FEATURES)
        check_tables(&m);
    else if (m.kind == OFPK_BUNDLE_ADD)
        run(m.bundle_add.msg, m.bundle_add.n);
    ofp_msg_free(&m);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    uint8_t *copy;

    run(data, n);
    /* Again with a header that tells its length: most mutations end there. */
    if (n < OFP_HEADER_LEN || n > OFP_MAX_LEN)
        return 0;
    copy = malloc(n);
    require(copy);
    memcpy(copy, data, n);
    copy[2] = (uint8_t) (n >> 8);
    copy[3] = (uint8_t) n;
    run(copy, n);
    free(copy);
    return 0;
}
