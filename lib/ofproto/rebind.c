/* SPDX-License-Identifier: Apache-2.0
 *
 * Books that outlive their datapath: out of the tables of one, into those of
 * another.  See ofproto.h.
 */
#include "ofproto/books.h"
#include "ofproto/judge.h"

#include <stdlib.h>

/* Nobody else uses the tables now, so that what is left to be done is done
 * here. */
static void
run_here(struct ofproto *o)
{
    struct ofproto_batch *b;

    while ((b = ofproto_take(o))) {
        flow_change_run(o->conf.tables, b->change, 0);
        ofproto_done(o, b);
    }
}

static void
run_ops(struct ofproto *o, struct flow_op *op, size_t n)
{
    struct flow_change *c = flow_change_create(o->conf.tables, op, n);

    if (!c)
        abort();
    flow_change_run(o->conf.tables, c, 0);
    flow_change_destroy(c);
}

/* --- out ----------------------------------------------------------------- */

static void
unbind_flow(struct entry *e)
{
    uint64_t used = entry_used_ns(e);
    const struct flow_counters *c = flow_counters(e->flow);

    e->base[0] += counter_get(&c->n_packets);
    e->base[1] += counter_get(&c->n_bytes);
    e->used_ns = used;
    flow_destroy(e->flow);
    e->flow = NULL;
}

static void
unbind_table(struct ofproto *o, struct table *t)
{
    struct flow_op *op;
    size_t n = 0;

    if (!t->n_entries)
        return;
    op = books_alloc(t->n_entries, sizeof(*op));
    for (struct link *l = t->entries.next; l != &t->entries; l = l->next) {
        op[n].type = FLOW_OP_DEL;
        op[n++].flow = LINK_OF(l, entry, node.link)->flow;
    }
    run_ops(o, op, n);
    free(op);
    for (struct link *l = t->entries.next; l != &t->entries; l = l->next)
        unbind_flow(LINK_OF(l, entry, node.link));
}

static void
unbind_group(struct ofproto *o, struct group *g)
{
    struct flow_op op = {.type = FLOW_OP_GROUP_DEL, .id = g->g.id};
    const struct flow_group_counters *c = flow_group_counters(g->dp);

    run_ops(o, &op, 1);
    g->base[0] += counter_get(&c->n_packets);
    g->base[1] += counter_get(&c->n_bytes);
    flow_group_destroy(g->dp);
    g->dp = NULL;
}

static void
unbind_meter(struct ofproto *o, struct meter *m)
{
    struct flow_op op = {.type = FLOW_OP_METER_DEL, .id = m->m.id};
    const struct flow_group_counters *c = flow_meter_counters(m->dp);

    run_ops(o, &op, 1);
    m->base[0] += counter_get(&c->n_packets);
    m->base[1] += counter_get(&c->n_bytes);
    flow_meter_destroy(m->dp);
    m->dp = NULL;
}

void
ofproto_unbind(struct ofproto *o)
{
    if (!o->conf.tables)
        return;
    run_here(o);
    for (int t = 0; t < OFP_N_TABLES; t++)
        unbind_table(o, &o->table[t]);
    for (uint32_t i = 0; i < o->groups.n; i++)
        unbind_group(o, o->groups.item[i]);
    for (uint32_t i = 0; i < o->meters.n; i++)
        unbind_meter(o, o->meters.item[i]);
    o->conf.tables = NULL;
}

/* --- in ------------------------------------------------------------------ */

/* Recorded as if it were added now. */
static void
rebind_flow(struct ofproto *o, struct entry *e)
{
    struct rec *r = rec_add(o, REC_ADD);
    struct ofp_match m;

    entry_match(e, &m);
    entry_make_flow(e, &m);
    r->entry = e;
    r->reset = true;
}

static void
rebind_group(struct ofproto *o, struct group *g)
{
    struct rec *r = rec_add(o, REC_GROUP);

    g->dp = flow_group_create(&g->g);
    if (!g->dp)
        abort();
    r->id = g->g.id;
    r->group = g;
}

static void
rebind_meter(struct ofproto *o, struct meter *m)
{
    struct rec *r = rec_add(o, REC_METER);

    m->dp = flow_meter_create(&m->m);
    if (!m->dp)
        abort();
    r->id = m->m.id;
    r->meter = m;
}

void
ofproto_rebind(struct ofproto *o, struct flow_tables *tables)
{
    struct rec *r;

    o->conf.tables = tables;
    for (uint32_t i = 0; i < o->groups.n; i++)
        rebind_group(o, o->groups.item[i]);
    for (uint32_t i = 0; i < o->meters.n; i++)
        rebind_meter(o, o->meters.item[i]);
    for (int t = 0; t < OFP_N_TABLES; t++)
        for (struct link *l = o->table[t].entries.next;
             l != &o->table[t].entries; l = l->next)
            rebind_flow(o, LINK_OF(l, entry, node.link));
    if (o->normal != FLOW_DEFAULT_EMPTY) {
        r = rec_add(o, REC_DEFAULT);
        r->id = o->normal;
    }
    journal_commit(o, false);
}
