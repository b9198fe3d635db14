/* SPDX-License-Identifier: Apache-2.0
 *
 * Changes of the tables.  The control thread plans them: what sub-tables and
 * what room the entries need is worked out and allocated in advance, in the
 * order in which the datapath will carry it out.  The datapath then only moves
 * pointers.
 *
 * The chains of a sub-table are moved to a larger array of them little by
 * little, a few with every entry that is added, so that no turn is long.
 */
#include "flow/priv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BUCKETS 4
#define MOVE_CHAINS   4  /* of the old array, for every entry that is added */
#define CHAIN_COST    16 /* links of a chain that cost as much as a change */

/* What an operation needs, and what it leaves behind. */
struct flow_plan {
    struct flow_op *op;        /* the caller's */
    struct flow_sub *add;      /* sub-table that begins with it */
    struct flow_sub *del;      /* sub-table that ends with it */
    struct flow_buckets *grow; /* larger array for the flow's sub-table */
    struct flow_probe *probes; /* larger array for the table; then the old */
    struct flow_mask *seen;    /* what all sub-tables look at, after it */
    uint32_t max_subs;         /* room in it */
    uint32_t priority;         /* of the sub-table, after it */
    bool is_planned;           /* wholly */
};

struct flow_change {
    struct flow_tables *t;        /* whose */
    size_t n, next;               /* operations, and the next of them */
    struct flow_buckets *garbage; /* arrays that were left */
    struct flow_plan plan[];      /* by operation */
};

/* --- control: sub-tables and their entries, as they will be ---------------
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

/* --- control: planning -----------------------------------------------------
 */

/* Room for one more sub-table in the table's array. */
static bool
plan_subs(struct flow_tables *t, struct flow_plan *p, uint8_t table)
{
    uint32_t max = t->max_subs[table];

    if (t->n_subs[table] < max)
        return true;
    max = max ? 2 * max : 4;
    p->probes = aligned_alloc(128, max * sizeof(*p->probes));
    if (!p->probes)
        return false;
    p->max_subs = max;
    t->max_subs[table] = max;
    return true;
}

static bool
plan_new_sub(struct flow_tables *t, struct flow_plan *p, const struct flow *f)
{
    if (!plan_subs(t, p, f->table))
        return false;
    p->add = make_sub(f->mask, f->table);
    if (!p->add)
        return false;
    book_sub(t, p->add, true);
    p->seen = seen_bits(t);
    return p->seen != NULL;
}

static bool
plan_add(struct flow_tables *t, struct flow_plan *p, struct flow *f)
{
    struct flow_sub *s = find_sub(t, f->mask, f->table);

    assert(!f->sub);
    if (!s) {
        if (!plan_new_sub(t, p, f))
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
plan_del(struct flow_tables *t, struct flow_plan *p, struct flow *f)
{
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
plan(struct flow_tables *t, struct flow_plan *p)
{
    struct flow_op *op = p->op;

    switch (op->type) {
    case FLOW_OP_ADD:
        if (!op->old)
            return plan_add(t, p, op->flow);
        plan_replace(op->flow, op->old);
        return true;
    case FLOW_OP_DEL:
        return plan_del(t, p, op->flow);
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
        t->max_subs[f->table] = p->max_subs == 4 ? 0 : p->max_subs / 2;
    free(p->probes);
    free(p->grow);
    free(p->seen);
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
        c->plan[c->n].is_planned = plan(t, &c->plan[c->n]);
        if (c->plan[c->n].is_planned)
            continue;
        for (size_t i = c->n + 1; i-- > 0;)
            unplan(t, &c->plan[i]);
        free(c);
        return NULL;
    }
    /* From here on it will be carried out: masks are the sub-tables'. */
    for (size_t i = 0; i < n; i++) {
        if (ops[i].type != FLOW_OP_ADD)
            continue;
        free(ops[i].flow->mask);
        ops[i].flow->mask = NULL;
    }
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

/* --- dp: carrying out ------------------------------------------------------
 */

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

static uint32_t
run_add(struct flow_change *c, struct flow_plan *p)
{
    struct flow_tables *t = c->t;
    struct flow *f = p->op->flow, *old = p->op->old;
    struct flow_table *ft = &t->table[f->table];
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
    if (p->probes)
        give_room(ft, p);
    if (p->add) {
        put_in(ft, s);
        t->seen = *p->seen;
    }
    if (p->grow)
        grow(c, s, p->grow);
    if (s->old)
        move_chains(c, s, MOVE_CHAINS);
    n = link_in(flow_buckets_of(s, f->hash), f);
    if (p->add || s->priority != p->priority)
        place(ft, s, p->priority);
    t->n_flows++;
    counter_add(&ft->n.n_active, 1);
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

static uint32_t
run_del(struct flow_tables *t, struct flow_plan *p)
{
    struct flow *f = p->op->flow;
    struct flow_table *ft = &t->table[f->table];
    uint32_t n;
    struct flow **at = find_link(f, &n);

    *at = f->next;
    mark_anew(f);
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

bool
flow_change_run(struct flow_tables *t, struct flow_change *c, size_t max)
{
    size_t cost = 0;

    assert(c->t == t);
    while (c->next < c->n && (!max || cost < max))
        cost += 1 + run(c, &c->plan[c->next++]) / CHAIN_COST;
    t->generation++;
    note_normal(t);
    return c->next == c->n;
}
