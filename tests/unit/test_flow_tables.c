/* SPDX-License-Identifier: Apache-2.0
 *
 * The classifier against a linear search, over random tables under change,
 * with and without the cache; and what changes promise: order, pieces, and
 * that a list which cannot be prepared changes nothing.
 */
#include "base/rng.h"
#include "flow/priv.h"
#include "flow/run.h"

#include <criterion/criterion.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FLOWS 600
#define N_TABLES  3

static struct flow_tables *tables;
static struct rng rng;

/* An entry as the test keeps it. */
struct model {
    struct flow *flow;      /* null: free */
    struct ofp_match match; /* its */
    uint16_t priority;      /* its */
    uint8_t table;          /* its */
};
static struct model model[MAX_FLOWS], before[MAX_FLOWS];
static const struct model *now = model; /* what is to be seen */

static void
init(void)
{
    tables = flow_tables_create(1);
    cr_assert_not_null(tables);
    memset(model, 0, sizeof(model));
}

static void
uninit(void)
{
    flow_tables_destroy(tables);
}

TestSuite(flow_tables, .init = init, .fini = uninit);

static void
run(struct flow_op *ops, uint32_t n, size_t piece)
{
    struct flow_change *c = flow_change_create(tables, ops, n);

    cr_assert_not_null(c);
    while (!flow_change_run(tables, c, piece))
        ;
    flow_change_destroy(c);
}

static struct flow_code *
code(int go_to)
{
    struct ofp_instructions in = {
        .has_goto = go_to >= 0,
        .table = (uint8_t) go_to,
    };

    return flow_code_create(&in);
}

static struct flow *
make(uint8_t table, uint16_t priority, const struct ofp_match *m, int go_to)
{
    struct flow_spec spec = {.table = table, .priority = priority, .match = m};

    return flow_create(&spec, code(go_to), NULL);
}

/* Few values and few bits, so that much is hit, and often by several. */
static void
random_match(struct ofp_match *m)
{
    static const enum ofp_field fields[] = {
        OFP_IN_PORT,  OFP_ETH_SRC, OFP_VLAN_VID,
        OFP_IPV4_DST, OFP_TCP_DST, OFP_METADATA,
    };

    memset(m, 0, sizeof(*m));
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        enum ofp_field f = fields[i];
        uint8_t v[16] = {0}, w[16] = {0};
        uint32_t last = ofp_fields[f].n_bytes - 1u;

        if (rng_below(&rng, 3))
            continue;
        v[last] = (uint8_t) rng_below(&rng, 4);
        w[last] = (uint8_t) (rng_below(&rng, 2) ? 3 : 1);
        ofp_match_set(m, f, v, w);
    }
}

static void
random_key(struct ofp_key *k)
{
    memset(k, 0, sizeof(*k));
    k->in_port = (uint32_t) rng_below(&rng, 4);
    k->eth_src[5] = (uint8_t) rng_below(&rng, 4);
    k->vlan_vid = (uint16_t) rng_below(&rng, 4);
    k->ipv4_dst = (uint32_t) rng_below(&rng, 4);
    k->tp_dst = (uint16_t) rng_below(&rng, 4);
    k->metadata = rng_below(&rng, 4);
}

static bool
matches(const struct ofp_match *m, const struct ofp_key *k)
{
    const uint8_t *key = (const uint8_t *) k;
    const uint8_t *mask = (const uint8_t *) &m->mask;
    const uint8_t *value = (const uint8_t *) &m->value;

    for (size_t i = 0; i < sizeof(*k); i++)
        if ((key[i] & mask[i]) != value[i])
            return false;
    return true;
}

/* The highest priority that matches; -1: none. */
static int
linear(uint8_t table, const struct ofp_key *k)
{
    int best = -1;

    for (int i = 0; i < MAX_FLOWS; i++)
        if (now[i].flow && now[i].table == table && now[i].priority > best &&
            matches(&now[i].match, k))
            best = now[i].priority;
    return best;
}

static void
check_found(const struct flow *f, uint8_t table, const struct ofp_key *k)
{
    int best = linear(table, k);
    bool known = false;

    cr_assert_eq(f ? (int) f->priority : -1, best);
    if (!f)
        return;
    for (int i = 0; i < MAX_FLOWS; i++)
        known |= now[i].flow == f && matches(&now[i].match, k);
    cr_assert(known);
}

static void
check_paths(const struct ofp_key *k)
{
    struct flow_look look;
    const struct flow_path *p;
    struct ofp_key at = *k;
    uint8_t table = 0;

    flow_look(tables, k, &look);
    p = flow_path_get(tables, 0, k, look.hash, look.word);
    for (uint32_t i = 0; i < p->n; i++) {
        cr_assert_eq(p->flow[i]->table, table);
        check_found(p->flow[i], table, &at);
        table = p->flow[i]->code->table;
    }
    if (p->end == FLOW_PATH_MISS)
        check_found(NULL, table, &at);
}

static void
check_all(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct ofp_key k;

        random_key(&k);
        for (uint8_t t = 0; t < N_TABLES; t++)
            check_found(flow_lookup(tables, t, &k), t, &k);
        check_paths(&k);
        check_paths(&k); /* by the cache */
    }
}

static int
find_same(uint8_t table, uint16_t priority, const struct ofp_match *m)
{
    for (int i = 0; i < MAX_FLOWS; i++)
        if (model[i].flow && model[i].table == table &&
            model[i].priority == priority &&
            memcmp(&model[i].match, m, sizeof(*m)) == 0)
            return i;
    return -1;
}

/* One more operation; ops[] is carried out by the caller. */
static void
random_op(struct flow_op *op, struct flow **gone)
{
    struct model *m = &model[rng_below(&rng, MAX_FLOWS)];
    struct model want = {.table = (uint8_t) rng_below(&rng, N_TABLES)};
    int same;

    memset(op, 0, sizeof(*op));
    *gone = NULL;
    if (m->flow && rng_below(&rng, 2)) {
        op->type = rng_below(&rng, 4) ? FLOW_OP_DEL : FLOW_OP_CODE;
        op->flow = m->flow;
        if (op->type == FLOW_OP_DEL) {
            *gone = m->flow;
            m->flow = NULL;
        } else {
            op->code =
                code(m->table < 2 && rng_below(&rng, 2) ? m->table + 1 : -1);
        }
        return;
    }
    random_match(&want.match);
    want.priority = (uint16_t) rng_below(&rng, 8);
    same = find_same(want.table, want.priority, &want.match);
    if (same >= 0)
        m = &model[same];
    want.flow =
        make(want.table, want.priority, &want.match,
             want.table < 2 && rng_below(&rng, 2) ? want.table + 1 : -1);
    op->type = FLOW_OP_ADD;
    op->flow = want.flow;
    if (same >= 0) {
        op->old = m->flow;
        *gone = m->flow;
    } else if (m->flow) { /* the place is taken: delete instead */
        flow_destroy(want.flow);
        op->type = FLOW_OP_DEL;
        op->flow = m->flow;
        *gone = m->flow;
        m->flow = NULL;
        return;
    }
    *m = want;
}

/* Before the moment frames see what was, then what is. */
static void
run_at_once(struct flow_op *ops, uint32_t n)
{
    struct flow_change *c = flow_change_create(tables, ops, n);

    cr_assert_not_null(c);
    cr_assert_eq(flow_change_size(c), n);
    flow_change_hide(c);
    while (!flow_change_run(tables, c, 1 + rng_below(&rng, 9))) {
        now = tables->hide == FLOW_HIDE_NEW ? before : model;
        check_all(3);
    }
    now = model;
    flow_change_destroy(c);
}

Test(flow_tables, agree_with_a_linear_search_under_change)
{
    rng.state = 4711;
    for (int round = 0; round < 400; round++) {
        struct flow_op ops[40];
        struct flow *gone[40];
        uint32_t n = 1 + (uint32_t) rng_below(&rng, 40);

        memcpy(before, model, sizeof(before));
        for (uint32_t i = 0; i < n; i++)
            random_op(&ops[i], &gone[i]);
        if (rng_below(&rng, 2))
            run_at_once(ops, n);
        else
            run(ops, n, rng_below(&rng, 4));
        for (uint32_t i = 0; i < n; i++) {
            flow_destroy(gone[i]);
            if (ops[i].type == FLOW_OP_CODE)
                flow_code_destroy(ops[i].code);
        }
        check_all(20);
    }
}

/* Entries that were added are found while their sub-table's array grows, one
 * operation at a time. */
Test(flow_tables, grow_little_by_little)
{
    struct ofp_match m = {0};
    struct ofp_key k = {0};

    for (uint32_t i = 0; i < 5000; i++) {
        struct flow_op op = {.type = FLOW_OP_ADD};
        uint8_t v[4] = {0, 0, (uint8_t) (i >> 8), (uint8_t) i};

        memset(&m, 0, sizeof(m));
        ofp_match_set(&m, OFP_IPV4_DST, v, NULL);
        op.flow = make(0, 1, &m, -1);
        run(&op, 1, 1);
        k.ipv4_dst = (uint32_t) rng_below(&rng, i + 1);
        cr_assert_not_null(flow_lookup(tables, 0, &k));
        k.ipv4_dst = i;
        cr_assert_eq(flow_lookup(tables, 0, &k), op.flow);
        k.ipv4_dst = i + 1;
        cr_assert_null(flow_lookup(tables, 0, &k));
    }
    cr_assert_eq(flow_table_counters(tables, 0)->n_active, 5000);
}

/* The same match at every priority: one chain. */
Test(flow_tables, many_priorities_of_one_match)
{
    struct ofp_match m = {0};

    for (uint32_t i = 0; i < 2000; i++) {
        struct flow_op op = {.type = FLOW_OP_ADD};

        op.flow = make(0, (uint16_t) (i * 7919 % 2000), &m, -1);
        run(&op, 1, 0);
    }
    for (int i = 1999; i >= 0; i--) {
        struct flow_op op = {.type = FLOW_OP_DEL};
        struct flow *best =
            flow_lookup(tables, 0, &(struct ofp_key){.in_port = 3});

        cr_assert_eq(best->priority, i);
        op.flow = best;
        run(&op, 1, 0);
        flow_destroy(best);
    }
    cr_assert_null(flow_lookup(tables, 0, &(struct ofp_key){.in_port = 3}));
    cr_assert(flow_all_normal(tables));
}

/* Replaced, a flow goes on from its counters if that is asked for. */
Test(flow_tables, counters_are_kept_or_begin_anew)
{
    struct ofp_match m = {0};
    struct flow *a = make(0, 1, &m, -1), *b, *c;
    struct flow_op op = {.type = FLOW_OP_ADD, .flow = a};

    run(&op, 1, 0);
    a->n.n_packets = 5;
    b = make(0, 1, &m, -1);
    op = (struct flow_op){.type = FLOW_OP_ADD,
                          .flow = b,
                          .old = a,
                          .keep_counts = true};
    run(&op, 1, 0);
    flow_destroy(a);
    cr_assert_eq(flow_counters(b)->n_packets, 5);
    c = make(0, 1, &m, -1);
    op = (struct flow_op){.type = FLOW_OP_ADD, .flow = c, .old = b};
    run(&op, 1, 0);
    flow_destroy(b);
    cr_assert_eq(flow_counters(c)->n_packets, 0);
}

static size_t
in_use(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

/* Entries of five fields in one change: what one of them costs, so that a
 * million fit. */
Test(flow_tables, entries_are_small)
{
    enum { N = 200000 };
    struct flow_op *ops = calloc(N, sizeof(*ops));
    struct ofp_action out = {
        .type = OFP_ACT_OUTPUT,
        .output = {.port = 2},
    };
    struct ofp_instructions in = {.has_apply = true, .apply = {1, &out}};
    struct flow_spec spec = {.priority = 1};
    struct ofp_key k = {0};
    size_t used, each;

    cr_assert_not_null(ops);
    used = in_use();
    for (uint32_t i = 0; i < N; i++) {
        struct ofp_match m = {0};
        uint8_t type[2] = {8, 0}, proto = 6, port[2] = {0, 80};
        uint8_t src[4] = {10, (uint8_t) (i >> 16), (uint8_t) (i >> 8),
                          (uint8_t) i};

        ofp_match_set(&m, OFP_ETH_TYPE, type, NULL);
        ofp_match_set(&m, OFP_IP_PROTO, &proto, NULL);
        ofp_match_set(&m, OFP_IPV4_SRC, src, NULL);
        ofp_match_set(&m, OFP_IPV4_DST, src, NULL);
        ofp_match_set(&m, OFP_TCP_DST, port, NULL);
        spec.match = &m;
        ops[i].type = FLOW_OP_ADD;
        ops[i].flow = flow_create(&spec, flow_code_create(&in), NULL);
    }
    run(ops, N, 512);
    each = (in_use() - used) / N;
    cr_log_info("%zu octets for an entry", each);
    cr_assert_lt(each, 400);
    k.eth_type = 0x0800;
    k.ip_proto = 6;
    k.tp_dst = 80;
    for (uint32_t i = 0; i < N; i += 77) {
        k.ipv4_src = k.ipv4_dst = 10u << 24 | i;
        cr_assert_eq(flow_lookup(tables, 0, &k), ops[i].flow);
    }
    free(ops);
}
