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

uint32_t
flow_value_hash(const struct flow_tables *t, const uint64_t *value, uint32_t n)
{
    uint64_t h = t->secret[0];

    for (uint32_t i = 0; i < n; i++)
        h = flow_fold(h ^ value[i], t->secret[1]);
    return (uint32_t) (h ^ h >> 32);
}

struct flow **
flow_chain(struct flow_sub *sub, uint32_t hash)
{
    if (sub->old && (hash & sub->old->mask) >= sub->n_moved)
        return &sub->old->b[hash & sub->old->mask];
    return &sub->hash->b[hash & sub->hash->mask];
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

/* The best entry of a sub-table: the first that is equal in its chain. */
static inline struct flow *
find_in(const struct flow_tables *t, struct flow_sub *sub, const uint64_t *key)
{
    uint64_t word[OFP_KEY_WORDS];
    struct flow *f;
    uint32_t hash;

    mask_key(&sub->mask, key, word);
    hash = flow_value_hash(t, word, sub->mask.n);
    for (f = *flow_chain(sub, hash); f; f = f->next)
        if (f->hash == hash && equal(f->value, word, sub->mask.n))
            return f;
    return NULL;
}

struct flow *
flow_lookup(const struct flow_tables *t, uint8_t table,
            const struct ofp_key *key)
{
    const struct flow_table *ft = &t->table[table];
    uint64_t words[OFP_KEY_WORDS];
    struct flow *best = NULL;

    memcpy(words, key, sizeof(words));
    for (uint32_t i = 0; i < ft->n_subs; i++) {
        struct flow *f;

        if (best && ft->sub[i]->priority <= best->priority)
            break;
        f = find_in(t, ft->sub[i], words);
        if (f && (!best || f->priority > best->priority))
            best = f;
    }
    return best;
}

/* --- the cache ------------------------------------------------------------
 */

uint64_t
flow_path_hash(const struct flow_tables *t, uint8_t from,
               const struct ofp_key *key, uint64_t *word)
{
    uint64_t words[OFP_KEY_WORDS], h = t->secret[2] ^ from;

    memcpy(words, key, sizeof(words));
    mask_key(&t->seen, words, word);
    for (uint32_t i = 0; i < t->seen.n; i++)
        h = flow_fold(h ^ word[i], t->secret[3]);
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
