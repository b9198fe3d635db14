/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of a bridge as a whole: making and freeing them.  Control thread.
 */
#include "base/rng.h"
#include "flow/priv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CACHE_BYTES (FLOW_CACHE_SLOTS * sizeof(struct flow_path))

struct flow_tables *
flow_tables_create(uint64_t seed)
{
    struct flow_tables *t =
        aligned_alloc(64, (sizeof(*t) + 63) & ~(size_t) 63);
    struct rng rng = {.state = seed};
    void *cache;

    if (!t)
        return NULL;
    memset(t, 0, sizeof(*t));
    for (int i = 0; i < 4; i++)
        t->secret[i] = rng_u64(&rng) | 1;
    for (size_t i = 0; i < OFP_KEY_WORDS; i++)
        t->word_secret[i] = rng_u64(&rng);
    /* Taken from the system as it is used: a bridge without flows uses none.
     * Its zeros are of no generation. */
    cache = mmap(NULL, CACHE_BYTES, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (cache == MAP_FAILED) {
        free(t);
        return NULL;
    }
    t->cache = cache;
    t->generation = 1;
    t->def = FLOW_DEFAULT_EMPTY;
    t->is_normal = true;
    return t;
}

static void
free_chains(struct flow_buckets *b)
{
    for (uint64_t i = 0; b && i <= b->mask; i++) {
        while (b->b[i]) {
            struct flow *f = b->b[i];

            b->b[i] = f->next;
            flow_destroy(f);
        }
    }
    free(b);
}

static void
free_table(struct flow_table *ft)
{
    for (uint32_t i = 0; i < ft->n_subs; i++) {
        struct flow_sub *s = ft->probe[i].sub;

        free_chains(s->hash);
        /* Those of its chains that were moved are in the other. */
        for (uint64_t j = 0; s->old && j < s->n_moved; j++)
            s->old->b[j] = NULL;
        free_chains(s->old);
        free(s->count);
        free(s);
    }
    free(ft->probe);
}

void
flow_tables_destroy(struct flow_tables *t)
{
    if (!t)
        return;
    for (int i = 0; i < OFP_N_TABLES; i++)
        free_table(&t->table[i]);
    for (int i = 0; i < FLOW_ID_SLOTS; i++) {
        while (t->group[i]) {
            struct flow_group *g = t->group[i];

            t->group[i] = g->next;
            flow_group_destroy(g);
        }
        while (t->meter[i]) {
            struct flow_meter *m = t->meter[i];

            t->meter[i] = m->next;
            flow_meter_destroy(m);
        }
    }
    munmap(t->cache, CACHE_BYTES);
    free(t);
}

const struct flow_table_counters *
flow_table_counters(const struct flow_tables *t, uint8_t table)
{
    assert(table < OFP_N_TABLES);
    return &t->table[table].n;
}
