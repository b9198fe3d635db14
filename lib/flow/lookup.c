/* SPDX-License-Identifier: Apache-2.0
 *
 * Finding the entries of a frame.  Datapath thread.
 *
 * A table is searched sub-table by sub-table, those with the highest priority
 * first, until none that is left can have a better entry than the one found.
 *
 * In front of that is a cache: which entries a frame met, from one table on,
 * under the values of all bits that any sub-table looks at; what no sub-table
 * looks at makes no difference.  A path ends where an entry may have changed
 * the frame, as what it is then need not follow from what was looked at: there
 * the next one begins, with a new look.  Every change of the tables voids all
 * paths, by their generation.
 */
#include "flow/priv.h"

#include <string.h>

/* A path takes the place of another one that is good only once in so many
 * times, lest a flood of flows of one frame each empty the cache. */
#define FLOW_CACHE_RELUCTANCE 4
/* Sub-tables that are looked at together. */
#define AT_ONCE 16

uint32_t
flow_value_hash(const struct flow_tables *t, const struct flow_mask *m,
                const uint64_t *value)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < m->n; i++)
        sum += flow_word_hash(t, m->at[i], value[i]);
    return flow_sum_hash(sum);
}

/* The words of the key that the mask looks at, and the rest as zero. */
static inline void
mask_key(const struct flow_mask *m, const uint64_t *key, uint64_t *word)
{
    for (uint32_t i = 0; i < m->n; i++)
        word[i] = key[m->at[i]] & m->bits[i];
}

static inline bool
equal(const uint64_t *a, const uint64_t *b, uint32_t n)
{
    uint64_t diff = 0;

    for (uint32_t i = 0; i < n; i++)
        diff |= a[i] ^ b[i];
    return diff == 0;
}

/* A sub-table that may have an entry for the key. */
struct candidate {
    const struct flow_probe *probe; /* it */
    struct flow *const *chain;      /* where the entry would be */
    uint32_t hash;                  /* of the key, masked */
};

/* Which of n sub-tables may have an entry.  Their chains, and then the entries
 * at the heads of these, are brought near all at once: each of them is likely
 * to be far. */
static uint32_t
find_candidates(const struct flow_tables *t, const struct flow_probe *p,
                uint32_t n, const uint64_t *key, struct candidate *c)
{
    uint32_t n_found = 0;

    for (uint32_t i = 0; i < n; i++, p++) {
        const struct flow_buckets *b;
        uint64_t sum = 0;
        uint32_t hash;

        if (__builtin_expect(p->mark != NULL, 1)) {
            for (uint32_t k = 0; k < p->n; k++)
                sum += flow_word_hash(t, p->at[k], key[p->at[k]] & p->bits[k]);
            hash = flow_sum_hash(sum); /* as flow_value_hash() */
            if (!(p->mark[hash & p->chains] & flow_mark(hash)))
                continue;
        } else {
            uint64_t word[OFP_KEY_WORDS];

            mask_key(&p->sub->mask, key, word);
            hash = flow_value_hash(t, &p->sub->mask, word);
        }
        b = flow_buckets_of(p->sub, hash);
        c[n_found] = (struct candidate){p, &b->b[hash & b->mask], hash};
        __builtin_prefetch(c[n_found++].chain);
    }
    for (uint32_t i = 0; i < n_found; i++)
        __builtin_prefetch(*c[i].chain);
    return n_found;
}

/* The best entry of a candidate: the first that is equal in its chain. */
static struct flow *
find_equal(const struct candidate *c, const uint64_t *key, uint8_t hide)
{
    const struct flow_mask *m = &c->probe->sub->mask;
    struct flow *f = *c->chain;
    uint64_t word[OFP_KEY_WORDS];

    while (f && f->hash != c->hash)
        f = f->next;
    if (!f)
        return NULL;
    mask_key(m, key, word);
    while (f && (f->hash != c->hash || f->hide & hide ||
                 !equal(f->value, word, m->n)))
        f = f->next;
    return f;
}

struct flow *
flow_lookup(const struct flow_tables *t, uint8_t table,
            const struct ofp_key *key)
{
    const struct flow_table *ft = &t->table[table];
    uint64_t words[OFP_KEY_WORDS];
    struct flow *best = NULL;
    uint32_t n = ft->n_subs;

    memcpy(words, key, sizeof(words));
    for (uint32_t i = 0; i < n; i += AT_ONCE) {
        struct candidate c[AT_ONCE];
        uint32_t left = n - i < AT_ONCE ? n - i : AT_ONCE, n_found;

        if (best && ft->probe[i].priority <= best->priority)
            break;
        n_found = find_candidates(t, &ft->probe[i], left, words, c);
        for (uint32_t k = 0; k < n_found; k++) {
            struct flow *f;

            if (best && c[k].probe->priority <= best->priority)
                break;
            f = find_equal(&c[k], words, t->hide);
            if (f && (!best || f->priority > best->priority))
                best = f;
        }
    }
    return best;
}

/* --- the cache ------------------------------------------------------------
 */

uint64_t
flow_path_hash(const struct flow_tables *t, uint8_t from,
               const struct ofp_key *key, uint64_t *word)
{
    const struct flow_mask *m = &t->seen;
    uint64_t words[OFP_KEY_WORDS], h = from;

    memcpy(words, key, sizeof(words));
    for (uint32_t i = 0; i < m->n; i++) {
        word[i] = words[m->at[i]] & m->bits[i];
        h += flow_word_hash(t, m->at[i], word[i]);
    }
    h = flow_fold(h ^ t->secret[2], t->secret[3]);
    __builtin_prefetch(&t->cache[h & (FLOW_CACHE_SLOTS - 1)]);
    return h;
}

/* Searches the tables, and fills the path. */
static void
find_path(struct flow_tables *t, uint8_t from, const struct ofp_key *key,
          struct flow_path *p)
{
    struct ofp_key k = *key;

    p->from = from;
    p->table = from;
    p->n = 0;
    while (p->n < FLOW_PATH_MAX) {
        struct flow *f = flow_lookup(t, p->table, &k);
        const struct flow_code *c;

        if (!f) {
            p->end = FLOW_PATH_MISS;
            return;
        }
        c = f->code;
        p->flow[p->n++] = f;
        if (!c->has_goto) {
            p->end = FLOW_PATH_DONE;
            return;
        }
        p->table = c->table;
        k.metadata = (k.metadata & ~c->metadata_mask) | c->metadata;
        if (c->changes)
            break;
    }
    p->end = FLOW_PATH_MORE;
}

static bool
is_path(const struct flow_tables *t, const struct flow_path *p, uint8_t from,
        uint64_t hash, const uint64_t *word)
{
    return p->generation == t->generation && p->hash == hash &&
           p->from == from && equal(p->word, word, t->seen.n);
}

/* Where a new path is put: in the place of one that is void, or of a good one
 * now and then. */
static struct flow_path *
room(struct flow_tables *t, struct flow_path *a, struct flow_path *b)
{
    if (a->generation != t->generation)
        return a;
    if (b->generation != t->generation)
        return b;
    if (++t->skip % FLOW_CACHE_RELUCTANCE)
        return &t->scratch;
    return t->skip & FLOW_CACHE_RELUCTANCE ? a : b;
}

const struct flow_path *
flow_path_get(struct flow_tables *t, uint8_t from, const struct ofp_key *key,
              uint64_t hash, const uint64_t *word)
{
    uint64_t at = hash & (FLOW_CACHE_SLOTS - 1);
    struct flow_path *a = &t->cache[at], *b = &t->cache[at ^ 1], *p;

    if (__builtin_expect(is_path(t, a, from, hash, word), 1))
        return a;
    if (is_path(t, b, from, hash, word))
        return b;
    p = room(t, a, b);
    find_path(t, from, key, p);
    p->generation = t->generation;
    p->hash = hash;
    memcpy(p->word, word, t->seen.n * sizeof(word[0]));
    return p;
}
