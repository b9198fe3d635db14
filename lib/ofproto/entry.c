/* SPDX-License-Identifier: Apache-2.0
 *
 * Entries of flow tables, and how they are found: see books.h.
 */
#include "ofproto/books.h"
#include "ofproto/judge.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define MIN_BUCKETS 64u

/* --- lists --------------------------------------------------------------- */

void
link_init(struct link *head)
{
    head->prev = head->next = head;
}

void
link_append(struct link *head, struct link *l)
{
    l->prev = head->prev;
    l->next = head;
    head->prev->next = l;
    head->prev = l;
}

void
link_remove(struct link *l)
{
    l->prev->next = l->next;
    l->next->prev = l->prev;
    link_init(l);
}

/* --- patterns and shapes ------------------------------------------------- */

void
pattern_init(struct pattern *p, const struct ofp_match *m)
{
    memcpy(p->mask, &m->mask, sizeof(p->mask));
    memcpy(p->value, &m->value, sizeof(p->value));
    for (size_t w = 0; w < OFP_KEY_WORDS; w++)
        p->value[w] &= p->mask[w];
    p->present = m->present;
}

static uint64_t
mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static uint32_t
mask_hash(const struct ofproto *o, const struct pattern *p)
{
    uint64_t h = mix(o->conf.seed, p->present);

    for (size_t w = 0; w < OFP_KEY_WORDS; w++)
        if (p->mask[w])
            h = mix(h + w, p->mask[w]);
    return (uint32_t) (h >> 32);
}

static struct shape **
shape_place(struct table *t, uint32_t hash)
{
    return &t->by_mask[hash % (sizeof(t->by_mask) / sizeof(t->by_mask[0]))];
}

static struct shape *
shape_find(const struct table *t, uint32_t hash, const struct pattern *p)
{
    struct shape *s = *shape_place((struct table *) t, hash);

    while (s && (s->hash != hash || s->present != p->present ||
                 memcmp(s->mask, p->mask, sizeof(s->mask)) != 0))
        s = s->next;
    return s;
}

static struct shape *
shape_get(struct ofproto *o, struct table *t, const struct pattern *p)
{
    uint32_t hash = mask_hash(o, p);
    struct shape *s = shape_find(t, hash, p);

    if (!s) {
        s = books_alloc(1, sizeof(*s));
        s->hash = hash;
        s->present = p->present;
        memcpy(s->mask, p->mask, sizeof(s->mask));
        for (uint8_t w = 0; w < OFP_KEY_WORDS; w++)
            if (s->mask[w])
                s->word[s->n_words++] = w;
        link_init(&s->entries);
        link_append(&t->shapes, &s->in_table);
        s->next = *shape_place(t, hash);
        *shape_place(t, hash) = s;
    }
    s->refs++;
    return s;
}

static void
shape_put(struct table *t, struct shape *s)
{
    struct shape **at = shape_place(t, s->hash);

    if (--s->refs)
        return;
    assert(link_is_empty(&s->entries));
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    link_remove(&s->in_table);
    free(s);
}

bool
shape_covers(const struct shape *s, const struct pattern *p)
{
    for (size_t w = 0; w < OFP_KEY_WORDS; w++)
        if (p->mask[w] & ~s->mask[w])
            return false;
    return true;
}

bool
entry_is_within(const struct entry *e, const struct pattern *p)
{
    const struct shape *s = e->shape;

    for (uint32_t i = 0; i < s->n_words; i++) {
        uint8_t w = s->word[i];

        if ((e->value[i] ^ p->value[w]) & p->mask[w])
            return false;
    }
    return shape_covers(s, p);
}

/* --- one entry ----------------------------------------------------------- */

static uint32_t
value_hash(const struct ofproto *o, const struct shape *s, uint16_t priority,
           const uint64_t *value)
{
    uint64_t h = mix(o->conf.seed + s->hash, priority);

    for (uint32_t i = 0; i < s->n_words; i++)
        h = mix(h, value[i]);
    return (uint32_t) (h >> 32);
}

struct entry *
entry_create(struct ofproto *o, uint8_t t, uint16_t priority,
             const struct pattern *p)
{
    struct shape *s = shape_get(o, &o->table[t], p);
    struct entry *e =
        books_alloc(1, sizeof(*e) + s->n_words * sizeof(e->value[0]));

    e->shape = s;
    e->table = t;
    e->priority = priority;
    for (uint32_t i = 0; i < s->n_words; i++)
        e->value[i] = p->value[s->word[i]];
    e->hash = value_hash(o, s, priority, e->value);
    link_init(&e->in_wheel);
    return e;
}

void
entry_make_flow(struct entry *e, const struct ofp_match *m)
{
    struct flow_spec spec = {
        .table = e->table,
        .priority = e->priority,
        .flags = e->flags,
        .cookie = e->cookie,
        .match = m,
    };
    struct flow_code *code = flow_code_create(&e->inst->in);

    e->flow = code ? flow_create(&spec, code, e) : NULL;
    if (!e->flow)
        abort();
}

void
entry_destroy(struct ofproto *o, struct entry *e)
{
    if (e->inst)
        inst_put(o, e->inst);
    if (e->flow)
        flow_destroy(e->flow);
    shape_put(&o->table[e->table], e->shape);
    free(e);
}

struct entry *
entry_find(const struct ofproto *o, uint8_t t, uint16_t priority,
           const struct pattern *p)
{
    const struct table *table = &o->table[t];
    const struct shape *s = shape_find(table, mask_hash(o, p), p);
    uint64_t value[OFP_KEY_WORDS];
    struct entry *e;
    uint32_t hash;

    if (!s || !table->n_buckets)
        return NULL;
    for (uint32_t i = 0; i < s->n_words; i++)
        value[i] = p->value[s->word[i]];
    hash = value_hash(o, s, priority, value);
    e = table->bucket[hash & (table->n_buckets - 1)];
    while (e && (e->hash != hash || e->shape != s || e->priority != priority ||
                 memcmp(e->value, value, s->n_words * sizeof(value[0])) != 0))
        e = e->next;
    return e;
}

/* A bit that both look at and see different keeps two matches apart. */
static bool
is_apart(const struct entry *e, const struct pattern *p)
{
    const struct shape *s = e->shape;

    for (uint32_t i = 0; i < s->n_words; i++) {
        uint8_t w = s->word[i];

        if ((e->value[i] ^ p->value[w]) & s->mask[w] & p->mask[w])
            return true;
    }
    return false;
}

struct entry *
entry_overlap(const struct ofproto *o, uint8_t t, uint16_t priority,
              const struct pattern *p)
{
    const struct table *table = &o->table[t];
    struct entry *same = entry_find(o, t, priority, p);

    if (same)
        return same;
    for (struct link *l = table->shapes.next; l != &table->shapes;
         l = l->next) {
        struct shape *s = LINK_OF(l, shape, in_table);

        /* Of its own shape only the same one overlaps. */
        if (!memcmp(s->mask, p->mask, sizeof(s->mask)) &&
            s->present == p->present)
            continue;
        for (struct link *k = s->entries.next; k != &s->entries; k = k->next) {
            struct entry *e = LINK_OF(k, entry, in_shape);

            if (e->priority == priority && !is_apart(e, p))
                return e;
        }
    }
    return NULL;
}

void
entry_match(const struct entry *e, struct ofp_match *m)
{
    uint64_t value[OFP_KEY_WORDS] = {0};

    for (uint32_t i = 0; i < e->shape->n_words; i++)
        value[e->shape->word[i]] = e->value[i];
    m->present = e->shape->present;
    memcpy(&m->value, value, sizeof(m->value));
    memcpy(&m->mask, e->shape->mask, sizeof(m->mask));
}

void
entry_counts(const struct entry *e, uint64_t out[2])
{
    const struct flow_counters *c = e->flow ? flow_counters(e->flow) : NULL;

    out[0] = e->base[0] + (c ? counter_get(&c->n_packets) : 0);
    out[1] = e->base[1] + (c ? counter_get(&c->n_bytes) : 0);
    if (e->flags & OFPFF_NO_PKT_COUNTS)
        out[0] = UINT64_MAX;
    if (e->flags & OFPFF_NO_BYT_COUNTS)
        out[1] = UINT64_MAX;
}

uint64_t
entry_used_ns(const struct entry *e)
{
    uint64_t used =
        e->flow ? counter_get(&flow_counters(e->flow)->used_ns) : 0;

    return used > e->used_ns ? used : e->used_ns;
}

/* --- tables -------------------------------------------------------------- */

static void
rehash(struct table *t, uint32_t n)
{
    struct entry **bucket = books_alloc(n, sizeof(struct entry *));

    for (uint32_t i = 0; i < t->n_buckets; i++)
        for (struct entry *e = t->bucket[i], *next; e; e = next) {
            next = e->next;
            e->next = bucket[e->hash & (n - 1)];
            bucket[e->hash & (n - 1)] = e;
        }
    free(t->bucket);
    t->bucket = bucket;
    t->n_buckets = n;
}

/* Who names groups or a meter is counted there. */
static void
count_users(struct ofproto *o, const struct inst *in, int by)
{
    for (uint32_t i = 0; i < in->n_groups; i++)
        group_count(o, in->group[i], by);
    if (in->in.has_meter)
        meter_count(o, in->in.meter, by);
}

/* A node that was taken out knows its former neighbours: as deletions are
 * undone last first, it finds them as they were. */
static void
link_node(struct ofproto *o, struct link *head, struct ofproto_node *n)
{
    if (n->seq) {
        n->link.prev->next = &n->link;
        n->link.next->prev = &n->link;
    } else {
        n->seq = ++o->seq;
        link_append(head, &n->link);
    }
}

static void
unlink_node(struct ofproto_node *n)
{
    n->link.prev->next = n->link.next;
    n->link.next->prev = n->link.prev;
}

void
entry_set_inst(struct ofproto *o, struct entry *e, struct inst *in)
{
    count_users(o, e->inst, -1);
    link_remove(&e->in_inst);
    e->inst = in;
    link_append(&in->entries, &e->in_inst);
    count_users(o, in, 1);
}

void
entry_link(struct ofproto *o, struct entry *e)
{
    struct table *t = &o->table[e->table];

    if (t->n_entries >= t->n_buckets)
        rehash(t, t->n_buckets ? t->n_buckets * 2 : MIN_BUCKETS);
    e->next = t->bucket[e->hash & (t->n_buckets - 1)];
    t->bucket[e->hash & (t->n_buckets - 1)] = e;
    link_node(o, &t->entries, &e->node);
    link_append(&e->shape->entries, &e->in_shape);
    e->shape->n_entries++;
    link_append(&e->inst->entries, &e->in_inst);
    count_users(o, e->inst, 1);
    if (e->idle_s || e->hard_s)
        wheel_add(o, e);
    if (e->persist)
        o->persist_generation++;
    t->n_entries++;
    o->n_flows++;
}

void
entry_unlink(struct ofproto *o, struct entry *e)
{
    struct table *t = &o->table[e->table];
    struct entry **at = &t->bucket[e->hash & (t->n_buckets - 1)];

    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    walks_skip(o, &e->node);
    unlink_node(&e->node);
    link_remove(&e->in_shape);
    e->shape->n_entries--;
    link_remove(&e->in_inst);
    count_users(o, e->inst, -1);
    if (!link_is_empty(&e->in_wheel)) {
        link_remove(&e->in_wheel);
        o->n_timed--;
    }
    if (e->persist)
        o->persist_generation++;
    t->n_entries--;
    o->n_flows--;
    if (t->n_buckets > MIN_BUCKETS && t->n_entries < t->n_buckets / 8)
        rehash(t, t->n_buckets / 2);
}
