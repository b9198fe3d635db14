/* SPDX-License-Identifier: Apache-2.0
 *
 * A datapath for tests of lib/ofproto: what lib/flow would have, as plain
 * lists.  See ofproto_rig.h.
 */
#include "ofproto_rig.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct flow_group {
    struct flow_group *next;            /* in the fake table */
    uint32_t id;                        /* number */
    struct flow_group_counters c[1025]; /* of the group, and of buckets */
};

struct flow_meter {
    struct flow_meter *next;          /* in the fake table */
    uint32_t id;                      /* number */
    struct flow_group_counters c[17]; /* of the meter, and of bands */
};

struct flow_tables {
    struct flow *flows;               /* all of them */
    size_t n_flows;                   /* how many */
    struct flow_group *groups;        /* all of them */
    struct flow_meter *meters;        /* all of them */
    unsigned normal;                  /* FLOW_DEFAULT_* */
    size_t n_created, n_run;          /* changes, for their order */
    struct flow_table_counters count; /* of every table */
};

struct flow_change {
    struct flow_tables *t; /* whose */
    struct flow_op *op;    /* the caller's */
    size_t n, next;        /* operations, and the next */
    size_t number;         /* in order of creation */
};

long fake_n_live;

static void *
make(size_t size)
{
    void *p = calloc(1, size);

    cr_assert(p);
    fake_n_live++;
    return p;
}

static void
drop(void *p)
{
    fake_n_live -= p != NULL;
    free(p);
}

struct flow_tables *
flow_tables_create(uint64_t seed)
{
    struct flow_tables *t = calloc(1, sizeof(*t));

    (void) seed;
    t->normal = FLOW_DEFAULT_EMPTY;
    return t;
}

void
flow_tables_destroy(struct flow_tables *t)
{
    cr_assert(!t->flows && !t->groups && !t->meters);
    free(t);
}

const struct flow_table_counters *
flow_table_counters(const struct flow_tables *t, uint8_t table)
{
    (void) table;
    return &t->count;
}

struct flow_code *
flow_code_create(const struct ofp_instructions *in)
{
    struct flow_code *c = make(sizeof(*c));

    cr_assert(ofp_instructions_copy(in, &c->in));
    return c;
}

void
flow_code_destroy(struct flow_code *c)
{
    ofp_instructions_free(&c->in);
    drop(c);
}

struct flow *
flow_create(const struct flow_spec *spec, struct flow_code *code, void *owner)
{
    struct flow *f = make(sizeof(*f));

    (void) owner;
    f->spec = *spec;
    f->match = *spec->match;
    f->spec.match = &f->match;
    f->code = code;
    return f;
}

void
flow_destroy(struct flow *f)
{
    flow_code_destroy(f->code);
    drop(f);
}

const struct flow_counters *
flow_counters(const struct flow *f)
{
    return &f->count;
}

struct flow_group *
flow_group_create(const struct ofp_group *from)
{
    struct flow_group *g = make(sizeof(*g));

    g->id = from->id;
    return g;
}

void
flow_group_destroy(struct flow_group *g)
{
    drop(g);
}

const struct flow_group_counters *
flow_group_counters(const struct flow_group *g)
{
    return &g->c[0];
}

const struct flow_group_counters *
flow_bucket_counters(const struct flow_group *g, uint32_t i)
{
    return &g->c[1 + i];
}

struct flow_meter *
flow_meter_create(const struct ofp_meter *from)
{
    struct flow_meter *m = make(sizeof(*m));

    m->id = from->id;
    return m;
}

void
flow_meter_destroy(struct flow_meter *m)
{
    drop(m);
}

const struct flow_group_counters *
flow_meter_counters(const struct flow_meter *m)
{
    return &m->c[0];
}

const struct flow_group_counters *
flow_band_counters(const struct flow_meter *m, uint32_t i)
{
    return &m->c[1 + i];
}

/* --- changes --------------------------------------------------------------
 */

struct flow_change *
flow_change_create(struct flow_tables *t, struct flow_op *op, size_t n)
{
    struct flow_change *c = make(sizeof(*c));

    *c = (struct flow_change){t, op, n, 0, t->n_created++};
    return c;
}

void
flow_change_destroy(struct flow_change *c)
{
    cr_assert_eq(c->next, c->n, "destroyed before it was carried out");
    drop(c);
}

static void
take_flow(struct flow_tables *t, struct flow *f)
{
    cr_assert(f->at && *f->at == f, "no such flow in the tables");
    *f->at = f->next;
    if (f->next)
        f->next->at = f->at;
    f->at = NULL;
    t->n_flows--;
}

static void
put_flow(struct flow_tables *t, struct flow *f)
{
    f->next = t->flows;
    if (f->next)
        f->next->at = &f->next;
    f->at = &t->flows;
    t->flows = f;
    t->n_flows++;
}

static struct flow_group *
take_group(struct flow_tables *t, uint32_t id)
{
    struct flow_group **at = &t->groups, *was;

    while (*at && (*at)->id != id)
        at = &(*at)->next;
    was = *at;
    if (was)
        *at = was->next;
    return was;
}

static struct flow_meter *
take_meter(struct flow_tables *t, uint32_t id)
{
    struct flow_meter **at = &t->meters, *was;

    while (*at && (*at)->id != id)
        at = &(*at)->next;
    was = *at;
    if (was)
        *at = was->next;
    return was;
}

static void
run_flow(struct flow_tables *t, struct flow_op *op)
{
    struct flow_code *code = op->code;

    if (op->type == FLOW_OP_ADD) {
        if (op->old) {
            take_flow(t, op->old);
            if (op->keep_counts)
                op->flow->count = op->old->count;
        }
        if (t->n_flows < 1000) /* looking takes long in a list */
            cr_assert_null(fake_find(t, op->flow->spec.table,
                                     op->flow->spec.priority,
                                     &op->flow->match));
        put_flow(t, op->flow);
    } else if (op->type == FLOW_OP_DEL) {
        take_flow(t, op->flow);
    } else {
        op->code = op->flow->code;
        op->flow->code = code;
        if (op->reset_counts)
            memset(&op->flow->count, 0, sizeof(op->flow->count));
    }
}

static void
run(struct flow_tables *t, struct flow_op *op)
{
    struct flow_group *g;
    struct flow_meter *m;

    switch (op->type) {
    case FLOW_OP_ADD:
    case FLOW_OP_DEL:
    case FLOW_OP_CODE:
        run_flow(t, op);
        break;
    case FLOW_OP_GROUP:
    case FLOW_OP_GROUP_DEL:
        g = take_group(t, op->id);
        if (op->type == FLOW_OP_GROUP) {
            op->group->next = t->groups;
            t->groups = op->group;
        }
        op->group = g;
        break;
    case FLOW_OP_METER:
    case FLOW_OP_METER_DEL:
        m = take_meter(t, op->id);
        if (op->type == FLOW_OP_METER) {
            op->meter->next = t->meters;
            t->meters = op->meter;
        }
        op->meter = m;
        break;
    case FLOW_OP_DEFAULT:
        t->normal = op->id;
        break;
    }
}

bool
flow_change_run(struct flow_tables *t, struct flow_change *c, size_t max)
{
    cr_assert_eq(t, c->t);
    if (!c->next)
        cr_assert_eq(c->number, t->n_run++, "out of order");
    for (size_t n = 0; c->next < c->n && (!max || n < max); n++)
        run(t, &c->op[c->next++]);
    return c->next == c->n;
}

/* --- looking --------------------------------------------------------------
 */

struct flow *
fake_find(struct flow_tables *t, uint8_t table, uint16_t priority,
          const struct ofp_match *m)
{
    struct flow *f = t->flows;

    while (f && (f->spec.table != table || f->spec.priority != priority ||
                 memcmp(&f->match.value, &m->value, sizeof(m->value)) != 0 ||
                 memcmp(&f->match.mask, &m->mask, sizeof(m->mask)) != 0))
        f = f->next;
    return f;
}

size_t
fake_n_flows(struct flow_tables *t)
{
    return t->n_flows;
}

size_t
fake_n_groups(struct flow_tables *t)
{
    size_t n = 0;

    for (struct flow_group *g = t->groups; g; g = g->next)
        n++;
    return n;
}

size_t
fake_n_meters(struct flow_tables *t)
{
    size_t n = 0;

    for (struct flow_meter *m = t->meters; m; m = m->next)
        n++;
    return n;
}

unsigned
fake_default(struct flow_tables *t)
{
    return t->normal;
}
