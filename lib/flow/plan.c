/* SPDX-License-Identifier: Apache-2.0
 *
 * Planning changes of the tables: control thread.  What sub-tables and what
 * room the entries need is worked out and allocated in advance, in the order
 * in which the datapath will carry it out (change.c).
 */
#include "flow/change.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BUCKETS 4

/* --- sub-tables and their entries, as they will be -------------------------
 */

static struct flow_sub **
sub_chain(struct flow_tables *t, const struct flow_mask *m, uint8_t table)
{
    uint64_t h = t->secret[0] ^ table;

    for (uint32_t i = 0; i < m->n; i++)
        h = flow_fold(h ^ m->bits[i] ^ m->at[i], t->secret[1]);
    return &t->subs[h % FLOW_MASK_SLOTS];
}

static bool
same_mask(const struct flow_mask *a, const struct flow_mask *b)
{
    return a->n == b->n && memcmp(a->at, b->at, a->n) == 0 &&
           memcmp(a->bits, b->bits, a->n * sizeof(a->bits[0])) == 0;
}

static struct flow_sub *
find_sub(struct flow_tables *t, const struct flow_mask *m, uint8_t table)
{
    struct flow_sub *s = *sub_chain(t, m, table);

    while (s && (s->table != table || !same_mask(&s->mask, m)))
        s = s->next;
    return s;
}

/* Puts the sub-table into the books of the control thread, or takes it out. */
static void
book_sub(struct flow_tables *t, struct flow_sub *s, bool in)
{
    struct flow_sub **at = sub_chain(t, &s->mask, s->table);
    const struct flow_mask *m = &s->mask;

    if (in) {
        s->next = *at;
        *at = s;
    } else {
        while (*at != s)
            at = &(*at)->next;
        *at = s->next;
    }
    for (uint32_t i = 0; i < m->n; i++)
        for (uint64_t b = m->bits[i]; b; b &= b - 1)
            t->bit[m->at[i]][__builtin_ctzll(b)] += in ? 1 : UINT32_MAX;
    t->n_subs[s->table] += in ? 1 : UINT32_MAX;
}

static struct flow_mask *
seen_bits(const struct flow_tables *t)
{
    struct flow_mask *m = calloc(1, sizeof(*m));

    for (uint8_t w = 0; m && w < OFP_KEY_WORDS; w++) {
        uint64_t bits = 0;

        for (int i = 0; i < 64; i++)
            bits |= (uint64_t) (t->bit[w][i] > 0) << i;
        if (!bits)
            continue;
        m->at[m->n] = w;
        m->bits[m->n++] = bits;
    }
    return m;
}

static struct flow_buckets *
make_buckets(uint64_t n)
{
    struct flow_buckets *b =
        calloc(1, sizeof(*b) + n * (sizeof(b->b[0]) + sizeof(b->mark[0])));

    if (!b)
        return NULL;
    b->mask = n - 1;
    b->mark = (uint16_t *) (void *) (b->b + n);
    return b;
}

static void
free_sub(struct flow_sub *s)
{
    if (!s)
        return;
    free(s->hash);
    free(s->old);
    free(s->count);
    free(s);
}

static struct flow_sub *
make_sub(const struct flow_mask *m, uint8_t table)
{
    struct flow_sub *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->mask = *m;
    s->table = table;
    s->n_buckets = FIRST_BUCKETS;
    s->hash = make_buckets(FIRST_BUCKETS);
    if (!s->hash) {
        free(s);
        return NULL;
    }
    return s;
}

/* Where the priority is, or belongs. */
static uint32_t
count_at(const struct flow_sub *s, uint16_t priority)
{
    uint32_t lo = 0, hi = s->n_count;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (s->count[mid].priority < priority)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static bool
count_up(struct flow_sub *s, uint16_t priority)
{
    uint32_t at = count_at(s, priority);

    if (at == s->n_count || s->count[at].priority != priority) {
        if (s->n_count == s->max_count) {
            uint32_t max = s->max_count ? 2 * s->max_count : 2;
            void *p = realloc(s->count, max * sizeof(*s->count));

            if (!p)
                return false;
            s->count = p;
            s->max_count = max;
        }
        memmove(&s->count[at + 1], &s->count[at],
                (s->n_count - at) * sizeof(*s->count));
        s->count[at] = (struct flow_count){priority, 0};
        s->n_count++;
    }
    s->count[at].n++;
    s->n_planned++;
    return true;
}

static void
count_down(struct flow_sub *s, uint16_t priority)
{
    uint32_t at = count_at(s, priority);

    assert(at < s->n_count && s->count[at].priority == priority);
    s->n_planned--;
    if (--s->count[at].n)
        return;
    s->n_count--;
    memmove(&s->count[at], &s->count[at + 1],
            (s->n_count - at) * sizeof(*s->count));
}

static uint32_t
highest(const struct flow_sub *s)
{
    return s->n_count ? s->count[s->n_count - 1].priority : 0;
}

/* --- planning -------------------------------------------------------------
 */

/* Room for one more sub-table in the table's array, where those that the same
 * change takes out may still be. */
static bool
plan_subs(struct flow_change *c, struct flow_plan *p, uint8_t table)
{
    struct flow_tables *t = c->t;
    uint32_t need = t->n_subs[table] + c->n_dels + 1;
    uint32_t max = t->max_subs[table] ? t->max_subs[table] : 4;

    if (need <= t->max_subs[table])
        return true;
    while (max < need)
        max *= 2;
    p->probes = aligned_alloc(128, max * sizeof(*p->probes));
    if (!p->probes)
        return false;
    p->max_subs = max;
    p->had_subs = t->max_subs[table];
    t->max_subs[table] = max;
    return true;
}

static bool
plan_new_sub(struct flow_change *c, struct flow_plan *p, const struct flow *f)
{
    struct flow_tables *t = c->t;

    if (!plan_subs(c, p, f->table))
        return false;
    p->add = make_sub(f->mask, f->table);
    if (!p->add)
        return false;
    book_sub(t, p->add, true);
    p->seen = seen_bits(t);
    return p->seen != NULL;
}

static bool
plan_add(struct flow_change *c, struct flow_plan *p, struct flow *f)
{
    struct flow_tables *t = c->t;
    struct flow_sub *s = find_sub(t, f->mask, f->table);

    assert(!f->sub);
    if (!s) {
        if (!plan_new_sub(c, p, f))
            return false;
        s = p->add;
    }
    if (s->n_planned + 1 > s->n_buckets) {
        p->grow = make_buckets(2 * s->n_buckets);
        if (!p->grow)
            return false;
    }
    if (!count_up(s, f->priority))
        return false;
    if (p->grow)
        s->n_buckets *= 2;
    f->sub = s;
    f->hash = flow_value_hash(t, &s->mask, f->value);
    p->priority = highest(s);
    return true;
}

static bool
plan_del(struct flow_change *c, struct flow_plan *p, struct flow *f)
{
    struct flow_tables *t = c->t;
    struct flow_sub *s = f->sub;

    assert(s);
    if (s->n_planned > 1) {
        count_down(s, f->priority);
        p->priority = highest(s);
        return true;
    }
    book_sub(t, s, false);
    p->seen = seen_bits(t);
    if (!p->seen) {
        book_sub(t, s, true);
        return false;
    }
    count_down(s, f->priority);
    p->del = s;
    c->n_dels++;
    return true;
}

static void
plan_replace(struct flow *f, const struct flow *old)
{
    assert(old->sub && !f->sub && f->priority == old->priority);
    f->sub = old->sub;
    f->hash = old->hash;
}

static bool
plan(struct flow_change *c, struct flow_plan *p)
{
    struct flow_op *op = p->op;

    switch (op->type) {
    case FLOW_OP_ADD:
        if (!op->old)
            return plan_add(c, p, op->flow);
        plan_replace(op->flow, op->old);
        return true;
    case FLOW_OP_DEL:
        return plan_del(c, p, op->flow);
    default:
        return true;
    }
}

/* Takes back what was planned, or the part of it that was before it failed.
 */
static void
unplan(struct flow_tables *t, struct flow_plan *p)
{
    struct flow *f = p->op->flow;

    if (p->op->type == FLOW_OP_ADD && f->sub) {
        if (!p->op->old) {
            count_down(f->sub, f->priority);
            if (p->grow)
                f->sub->n_buckets /= 2;
        }
        f->sub = NULL;
    } else if (p->op->type == FLOW_OP_DEL) {
        if (p->del)
            book_sub(t, p->del, true);
        if (p->is_planned)
            count_up(f->sub, f->priority); /* there is room */
    }
    if (p->add) {
        book_sub(t, p->add, false);
        free_sub(p->add);
    }
    if (p->probes)
        t->max_subs[f->table] = p->had_subs;
    free(p->probes);
    free(p->grow);
    free(p->seen);
}

/* It will be carried out: masks are the sub-tables' from here on, and what the
 * priorities of those are in the end is known. */
static void
finish_plan(struct flow_change *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct flow_op *op = c->plan[i].op;

        if (op->type != FLOW_OP_ADD && op->type != FLOW_OP_DEL) {
            c->has_others = true;
            continue;
        }
        c->plan[i].last_priority = highest(op->flow->sub);
        if (op->type == FLOW_OP_DEL || !op->old)
            c->n_more += op->type == FLOW_OP_ADD ? 1 : -1;
        free(op->flow->mask);
        op->flow->mask = NULL;
    }
}

struct flow_change *
flow_change_create(struct flow_tables *t, struct flow_op *ops, size_t n)
{
    struct flow_change *c = calloc(1, sizeof(*c) + n * sizeof(c->plan[0]));

    if (!c)
        return NULL;
    c->t = t;
    for (c->n = 0; c->n < n; c->n++) {
        c->plan[c->n].op = &ops[c->n];
        c->plan[c->n].is_planned = plan(c, &c->plan[c->n]);
        if (c->plan[c->n].is_planned)
            continue;
        for (size_t i = c->n + 1; i-- > 0;)
            unplan(t, &c->plan[i]);
        free(c);
        return NULL;
    }
    finish_plan(c);
    return c;
}

void
flow_change_destroy(struct flow_change *c)
{
    if (!c)
        return;
    assert(c->next == c->n);
    while (c->garbage) {
        struct flow_buckets *b = c->garbage;

        c->garbage = b->next;
        free(b);
    }
    for (size_t i = 0; i < c->n; i++) {
        free_sub(c->plan[i].del);
        free(c->plan[i].probes);
        free(c->plan[i].seen);
    }
    free(c);
}
