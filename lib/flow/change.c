/* SPDX-License-Identifier: Apache-2.0
 *
 * Carrying changes of the tables out: datapath thread.  All that they need was
 * made by the control thread (plan.c); here only pointers are moved.
 *
 * The chains of a sub-table are moved to a larger array of them little by
 * little, a few with every entry that is added, so that no turn is long.
 *
 * A long change that is to be seen at one moment is carried out in stages,
 * each piece by piece: entries are put in, hidden; at the moment, what is
 * hidden changes from those that come to those that go; these are taken out;
 * then sub-tables, which stood where the highest of both had them, go where
 * they belong.
 */
#include "flow/change.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define MOVE_CHAINS 4  /* of the old array, for every entry that is added */
#define CHAIN_COST  16 /* links of a chain that cost as much as a change */

/* Puts f into its chain, behind those whose priority is not lower; returns how
 * many those are. */
static uint32_t
link_in(struct flow_buckets *b, struct flow *f)
{
    struct flow **at = &b->b[f->hash & b->mask];
    uint32_t n = 0;

    b->mark[f->hash & b->mask] |= flow_mark(f->hash);
    for (; *at && (*at)->priority >= f->priority; at = &(*at)->next)
        n++;
    f->next = *at;
    *at = f;
    return n;
}

/* What a search needs of the sub-table has changed. */
static void
refresh(struct flow_table *ft, const struct flow_sub *s)
{
    struct flow_probe *p = ft->probe;
    bool is_fast = !s->old && s->mask.n <= FLOW_PROBE_WORDS;

    while (p->sub != s)
        p++;
    p->chains = (uint32_t) s->hash->mask;
    p->mark = is_fast ? s->hash->mark : NULL;
}

/* Moves so many chains to the larger array. */
static void
move_chains(struct flow_change *c, struct flow_sub *s, uint64_t n)
{
    struct flow_buckets *old = s->old;

    for (; n > 0 && s->n_moved <= old->mask; n--, s->n_moved++) {
        struct flow *f = old->b[s->n_moved], *next;

        for (; f; f = next) {
            next = f->next;
            link_in(s->hash, f);
        }
    }
    if (s->n_moved <= old->mask)
        return;
    old->next = c->garbage;
    c->garbage = old;
    s->old = NULL;
    refresh(&c->t->table[s->table], s);
}

static void
grow(struct flow_change *c, struct flow_sub *s, struct flow_buckets *to)
{
    if (s->old) /* not the rule: it was to be done by now */
        move_chains(c, s, UINT64_MAX);
    s->old = s->hash;
    s->n_moved = 0;
    s->hash = to;
    refresh(&c->t->table[s->table], s);
}

/* The sub-table stands where its priority says. */
static void
place(struct flow_table *ft, struct flow_sub *s, uint32_t priority)
{
    struct flow_probe p;
    uint32_t i = 0;

    while (ft->probe[i].sub != s)
        i++;
    p = ft->probe[i];
    p.priority = priority;
    s->priority = priority;
    for (; i > 0 && ft->probe[i - 1].priority < priority; i--)
        ft->probe[i] = ft->probe[i - 1];
    for (; i + 1 < ft->n_subs && ft->probe[i + 1].priority > priority; i++)
        ft->probe[i] = ft->probe[i + 1];
    ft->probe[i] = p;
}

/* It begins, as the last one. */
static void
put_in(struct flow_table *ft, struct flow_sub *s)
{
    struct flow_probe *p = &ft->probe[ft->n_subs++];

    *p = (struct flow_probe){.sub = s, .n = s->mask.n};
    if (s->mask.n <= FLOW_PROBE_WORDS) {
        memcpy(p->at, s->mask.at, s->mask.n);
        memcpy(p->bits, s->mask.bits, s->mask.n * sizeof(p->bits[0]));
    }
    refresh(ft, s);
}

static void
take_out(struct flow_table *ft, const struct flow_sub *s)
{
    uint32_t i = 0;

    while (ft->probe[i].sub != s)
        i++;
    ft->n_subs--;
    memmove(&ft->probe[i], &ft->probe[i + 1],
            (ft->n_subs - i) * sizeof(ft->probe[0]));
}

static void
give_room(struct flow_table *ft, struct flow_plan *p)
{
    struct flow_probe *old = ft->probe;

    if (ft->n_subs)
        memcpy(p->probes, old, ft->n_subs * sizeof(old[0]));
    ft->probe = p->probes;
    ft->max_subs = p->max_subs;
    p->probes = old;
}

/* Where in its chain f is; *n: links on the way. */
static struct flow **
find_link(struct flow *f, uint32_t *n)
{
    struct flow_buckets *b = flow_buckets_of(f->sub, f->hash);
    struct flow **at = &b->b[f->hash & b->mask];

    for (*n = 0; *at != f; at = &(*at)->next)
        ++*n;
    return at;
}

/* What the entry needs is there from now on; returns links that were followed.
 */
static uint32_t
enter(struct flow_change *c, struct flow_plan *p)
{
    struct flow_tables *t = c->t;
    struct flow *f = p->op->flow;
    struct flow_table *ft = &t->table[f->table];
    struct flow_sub *s = f->sub;
    uint32_t n;

    if (p->probes)
        give_room(ft, p);
    if (p->add)
        put_in(ft, s);
    if (p->grow)
        grow(c, s, p->grow);
    if (s->old)
        move_chains(c, s, MOVE_CHAINS);
    n = link_in(flow_buckets_of(s, f->hash), f);
    counter_add(&ft->n.n_active, 1);
    return n;
}

static uint32_t
run_add(struct flow_change *c, struct flow_plan *p)
{
    struct flow_tables *t = c->t;
    struct flow *f = p->op->flow, *old = p->op->old;
    struct flow_sub *s = f->sub;
    uint32_t n;

    if (old) {
        struct flow **at = find_link(old, &n);

        f->next = old->next;
        *at = f;
        if (p->op->keep_counts)
            f->n = old->n;
        return n;
    }
    n = enter(c, p);
    if (p->add)
        t->seen = *p->seen;
    if (p->add || s->priority != p->priority)
        place(&t->table[f->table], s, p->priority);
    t->n_flows++;
    return n;
}

/* The mark of the chain that f was in. */
static void
mark_anew(const struct flow *f)
{
    struct flow_buckets *b = flow_buckets_of(f->sub, f->hash);
    uint16_t mark = 0;

    for (const struct flow *g = b->b[f->hash & b->mask]; g; g = g->next)
        mark |= flow_mark(g->hash);
    b->mark[f->hash & b->mask] = mark;
}

/* Takes an entry out of its chain; returns links that were followed. */
static uint32_t
unlink_flow(struct flow *f)
{
    uint32_t n;
    struct flow **at = find_link(f, &n);

    *at = f->next;
    mark_anew(f);
    return n;
}

static uint32_t
run_del(struct flow_tables *t, struct flow_plan *p)
{
    struct flow *f = p->op->flow;
    struct flow_table *ft = &t->table[f->table];
    uint32_t n = unlink_flow(f);

    if (p->del) {
        take_out(ft, p->del);
        t->seen = *p->seen;
    } else if (f->sub->priority != p->priority) {
        place(ft, f->sub, p->priority);
    }
    t->n_flows--;
    counter_add(&ft->n.n_active, (uint64_t) -1);
    return n;
}

static void
run_code(struct flow_op *op)
{
    struct flow_code *old = op->flow->code;

    op->flow->code = op->code;
    op->code = old;
    if (!op->reset_counts)
        return;
    counter_set(&op->flow->n.n_packets, 0);
    counter_set(&op->flow->n.n_bytes, 0);
}

/* Puts a group, or null, where that of the number is; which is left. */
static void
run_group(struct flow_tables *t, struct flow_op *op, struct flow_group *g)
{
    struct flow_group **at = flow_group_at(t, op->id), *old = *at;

    if (g)
        g->next = old ? old->next : NULL;
    if (g)
        *at = g;
    else if (old)
        *at = old->next;
    op->group = old;
}

static void
run_meter(struct flow_tables *t, struct flow_op *op, struct flow_meter *m)
{
    struct flow_meter **at = flow_meter_at(t, op->id), *old = *at;

    if (m)
        m->next = old ? old->next : NULL;
    if (m)
        *at = m;
    else if (old)
        *at = old->next;
    op->meter = old;
}

/* Returns how many links of chains were followed. */
static uint32_t
run(struct flow_change *c, struct flow_plan *p)
{
    struct flow_op *op = p->op;

    switch (op->type) {
    case FLOW_OP_ADD:
        return run_add(c, p);
    case FLOW_OP_DEL:
        return run_del(c->t, p);
    case FLOW_OP_CODE:
        run_code(op);
        break;
    case FLOW_OP_GROUP:
        run_group(c->t, op, op->group);
        break;
    case FLOW_OP_GROUP_DEL:
        run_group(c->t, op, NULL);
        break;
    case FLOW_OP_METER:
        run_meter(c->t, op, op->meter);
        break;
    case FLOW_OP_METER_DEL:
        run_meter(c->t, op, NULL);
        break;
    case FLOW_OP_DEFAULT:
        c->t->def = op->id;
        break;
    }
    return 0;
}

/* Whether all frames go to NORMAL, so that no one need look at them. */
static void
note_normal(struct flow_tables *t)
{
    struct flow *f = NULL;

    t->normal = NULL;
    t->is_normal = t->def == FLOW_DEFAULT_ALWAYS;
    if (t->n_flows == 0)
        t->is_normal |= t->def == FLOW_DEFAULT_EMPTY;
    if (t->is_normal || t->n_flows != 1 || t->table[0].n_subs != 1)
        return;
    if (t->table[0].probe[0].n == 0)
        f = flow_lookup(t, 0, &(struct ofp_key){.in_port = 0});
    if (!f || !f->code->is_normal)
        return;
    t->normal = f;
    t->is_normal = true;
}

/* --- at one moment ---------------------------------------------------------
 */

/* Looks at the bits of both. */
static void
see_more(struct flow_mask *seen, const struct flow_mask *more)
{
    uint64_t bits[OFP_KEY_WORDS] = {0};

    for (uint32_t i = 0; i < seen->n; i++)
        bits[seen->at[i]] |= seen->bits[i];
    for (uint32_t i = 0; i < more->n; i++)
        bits[more->at[i]] |= more->bits[i];
    seen->n = 0;
    for (uint8_t w = 0; w < OFP_KEY_WORDS; w++) {
        if (!bits[w])
            continue;
        seen->at[seen->n] = w;
        seen->bits[seen->n++] = bits[w];
    }
}

/* Entries come without being seen, and go by being noted. */
static uint32_t
run_hidden(struct flow_change *c, struct flow_plan *p)
{
    struct flow_op *op = p->op;
    struct flow_sub *s;
    uint32_t n;

    if (op->type == FLOW_OP_DEL)
        op->flow->hide |= FLOW_HIDE_OLD;
    if (op->type != FLOW_OP_ADD)
        return 0;
    s = op->flow->sub;
    op->flow->hide |= FLOW_HIDE_NEW;
    if (op->old)
        op->old->hide |= FLOW_HIDE_OLD;
    n = enter(c, p);
    if (p->add)
        see_more(&c->t->seen, p->seen);
    /* Never lower: what goes is still looked for. */
    if (p->add || s->priority < p->priority)
        place(&c->t->table[s->table], s, p->priority);
    return n;
}

/* The moment: whatever else there is to be done is short. */
static void
commit(struct flow_change *c)
{
    for (size_t i = 0; i < c->n && c->has_others; i++)
        if (c->plan[i].op->type != FLOW_OP_ADD &&
            c->plan[i].op->type != FLOW_OP_DEL)
            run(c, &c->plan[i]);
    c->t->n_flows += (uint64_t) c->n_more;
    c->t->hide = FLOW_HIDE_OLD;
}

/* Entries that went are taken out. */
static uint32_t
run_cleanup(struct flow_change *c, struct flow_plan *p)
{
    struct flow_op *op = p->op;
    struct flow *gone = op->type == FLOW_OP_ADD ? op->old : op->flow;
    uint32_t n;

    if (op->type != FLOW_OP_ADD && op->type != FLOW_OP_DEL)
        return 0;
    if (op->type == FLOW_OP_ADD)
        op->flow->hide &= (uint8_t) ~FLOW_HIDE_NEW;
    if (!gone)
        return 0;
    n = unlink_flow(gone);
    counter_add(&c->t->table[gone->table].n.n_active, (uint64_t) -1);
    if (op->type == FLOW_OP_ADD && op->keep_counts) {
        counter_add(&op->flow->n.n_packets, gone->n.n_packets);
        counter_add(&op->flow->n.n_bytes, gone->n.n_bytes);
        if (!op->flow->n.used_ns)
            counter_set(&op->flow->n.used_ns, gone->n.used_ns);
    }
    if (p->del) {
        take_out(&c->t->table[gone->table], p->del);
        p->del->is_gone = true;
    }
    return n;
}

static uint32_t
run_placing(struct flow_change *c, struct flow_plan *p)
{
    const struct flow_op *op = p->op;
    struct flow_sub *s;

    if (op->type != FLOW_OP_ADD && op->type != FLOW_OP_DEL)
        return 0;
    s = op->flow->sub;
    if (!s->is_gone && s->priority != p->last_priority)
        place(&c->t->table[s->table], s, p->last_priority);
    if (p->seen)
        c->t->seen = *p->seen; /* the last one is the one that stays */
    return 0;
}

/* All operations are through a stage. */
static void
next_stage(struct flow_change *c)
{
    c->stage++;
    c->next = c->stage > FLOW_PLACING ? c->n : 0;
    if (c->stage == FLOW_CLEANUP)
        commit(c);
    if (c->stage > FLOW_PLACING)
        c->t->hide = 0;
}

void
flow_change_hide(struct flow_change *c)
{
    assert(c->next == 0 && c->stage == FLOW_SEEN);
    if (!c->n)
        return;
    c->stage = FLOW_HIDDEN;
    c->t->hide = FLOW_HIDE_NEW;
}

size_t
flow_change_size(const struct flow_change *c)
{
    return c->n;
}

/* One operation, as the stage has it. */
static uint32_t
step(struct flow_change *c)
{
    struct flow_plan *p = &c->plan[c->next++];

    switch (c->stage) {
    case FLOW_HIDDEN:
        return run_hidden(c, p);
    case FLOW_CLEANUP:
        return run_cleanup(c, p);
    case FLOW_PLACING:
        return run_placing(c, p);
    case FLOW_SEEN:
        break;
    }
    return run(c, p);
}

bool
flow_change_run(struct flow_tables *t, struct flow_change *c, size_t max)
{
    bool hidden = c->stage != FLOW_SEEN;
    size_t cost = 0;

    assert(c->t == t);
    while (c->next < c->n && (!max || cost < max)) {
        cost += 1 + step(c) / CHAIN_COST;
        if (hidden && c->next == c->n && c->stage <= FLOW_PLACING)
            next_stage(c);
    }
    t->generation++;
    note_normal(t);
    return c->next == c->n;
}
