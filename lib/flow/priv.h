/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of lib/flow that make, change, search and run flow tables
 * share with each other and with no one else.  See tables.h for who may do
 * what on which thread: "control" prepares, "dp" carries out and looks up.
 */
#ifndef FLOW_PRIV_H
#define FLOW_PRIV_H

#include "flow/act.h"
#include "flow/tables.h"
#include "ofp/match.h"

#include <stdbool.h>
#include <stdint.h>

#define FLOW_PATH_MAX    5     /* entries that a cached path remembers */
#define FLOW_CACHE_SLOTS 16384 /* paths that are remembered */
#define FLOW_PROBE_WORDS 11    /* of a mask that is searched fast */
#define FLOW_ID_SLOTS    4096  /* chains of groups, and of meters */
#define FLOW_MASK_SLOTS  4096  /* chains of sub-tables by mask (control) */

/* --- entries ------------------------------------------------------------- */

/* Which words of a key are looked at, and which bits of them. */
struct flow_mask {
    uint8_t n;                    /* words */
    uint8_t at[OFP_KEY_WORDS];    /* which ones, ascending */
    uint64_t bits[OFP_KEY_WORDS]; /* of each of them */
};

/* An entry is not seen while tables.hide has one of its bits. */
#define FLOW_HIDE_NEW 1u /* it comes with the change that is under way */
#define FLOW_HIDE_OLD 2u /* it goes with it */

struct flow {
    struct flow *next;      /* in its bucket: priorities descend */
    struct flow_counters n; /* what it did */
    struct flow_code *code; /* its instructions */
    struct flow_sub *sub;   /* control: where it is; null: nowhere yet */
    struct flow_mask *mask; /* control: until it has a sub-table */
    void *owner;            /* the caller's */
    uint64_t cookie;        /* of packet-ins */
    uint32_t hash;          /* of value, once it has a sub-table */
    uint16_t priority;      /* higher goes first */
    uint8_t table;          /* of which it is */
    uint8_t flags;          /* OFPFF_NO_*_COUNTS */
    uint8_t hide;           /* FLOW_HIDE_*, while a change is under way */
    uint64_t value[];       /* the words of its mask */
};

/* Instructions, ready to run: one piece of memory. */
struct flow_code {
    bool has_goto;          /* to `table` */
    bool clear;             /* the action set first */
    bool has_meter;         /* `meter` */
    bool changes;           /* the frame may be another one after it */
    bool is_normal;         /* does nothing but send to NORMAL */
    uint8_t table;          /* next one */
    uint16_t n_apply;       /* actions at once, the first of a[] */
    uint16_t n_write;       /* actions into the set, behind them */
    uint32_t meter;         /* number */
    uint64_t metadata;      /* bits to be written ... */
    uint64_t metadata_mask; /* ... and which ones */
    struct ofp_action a[];  /* see above */
};

/* --- sub-tables -----------------------------------------------------------
 */

/* Most searches of a sub-table find nothing, and end at the marks: two octets
 * for a chain, that stay in the cache where chains do not. */
struct flow_buckets {
    struct flow_buckets *next; /* of those that can be freed */
    uint64_t mask;             /* how many, less one */
    uint16_t *mark;            /* by chain: bit flow_mark() of every entry;
                                  behind b[] */
    struct flow *b[];          /* chains */
};

/* Bit of an entry in the mark of its chain: by bits of the hash that no array
 * of chains uses. */
static inline uint16_t
flow_mark(uint32_t hash)
{
    return (uint16_t) (1u << (hash >> 28));
}

/* Entries of one table that look at the same bits. */
struct flow_sub {
    struct flow_mask mask;     /* those bits */
    struct flow_buckets *hash; /* the entries */
    struct flow_buckets *old;  /* those not moved to `hash` yet; or null */
    uint64_t n_moved;          /* chains of `old` that were */
    uint32_t priority;         /* highest of an entry: where it stands */
    uint8_t table;             /* of which it is */
    bool is_gone;              /* no search asks it any more */
    /* Control: */
    uint32_t n_planned;          /* entries, when all changes are done */
    uint64_t n_buckets;          /* the same */
    struct flow_sub *next;       /* with the same hash of the mask; or of
                                    those that can be freed */
    struct flow_count *count;    /* entries by priority, which ascend */
    uint32_t n_count, max_count; /* used of them, and room */
};

struct flow_count {
    uint16_t priority; /* there are ... */
    uint32_t n;        /* ... so many entries of it */
};

/* What a search needs of a sub-table, two cache lines of it, side by side with
 * those of the others. */
struct flow_probe {
    uint32_t priority;               /* highest of an entry */
    uint32_t chains;                 /* how many there are, less one */
    const uint16_t *mark;            /* their marks; null: look at sub */
    struct flow_sub *sub;            /* the whole */
    uint8_t n;                       /* words of its mask; FLOW_PROBE_WORDS at
                                        most, or mark is null */
    uint8_t at[FLOW_PROBE_WORDS];    /* which ones */
    uint64_t bits[FLOW_PROBE_WORDS]; /* of each of them */
} __attribute__((aligned(128)));

struct flow_table {
    struct flow_probe *probe;     /* sub-tables, priorities descend */
    uint32_t n_subs;              /* how many */
    uint32_t max_subs;            /* room */
    struct flow_table_counters n; /* what happened */
};

/* --- the whole ------------------------------------------------------------
 */

enum flow_path_end {
    FLOW_PATH_DONE, /* the last entry goes no further */
    FLOW_PATH_MISS, /* no entry of `table` matches */
    FLOW_PATH_MORE, /* goes on in `table`, with a look at the frame as it is
                       then */
};

/* What entries a frame meets from a table on. */
struct flow_path {
    uint64_t generation;              /* of the tables; others are void */
    uint64_t hash;                    /* of what is in word[] */
    uint8_t from;                     /* table it begins in */
    uint8_t n;                        /* entries */
    uint8_t end;                      /* enum flow_path_end */
    uint8_t table;                    /* see there */
    struct flow *flow[FLOW_PATH_MAX]; /* them */
    uint64_t word[OFP_KEY_WORDS];     /* what any mask looks at */
} __attribute__((aligned(64)));

struct flow_tables {
    uint64_t secret[4];                  /* of the hashes */
    uint64_t word_secret[OFP_KEY_WORDS]; /* the same, by word of a key */
    uint64_t generation;                 /* grows with every change */
    uint8_t hide;             /* which entries are hidden: FLOW_HIDE_* */
    uint64_t n_flows;         /* entries in all tables */
    uint32_t def;             /* FLOW_OP_DEFAULT */
    bool is_normal;           /* every frame goes to NORMAL, by ... */
    struct flow *normal;      /* ... this entry, if not null */
    uint32_t skip;            /* see flow_path_get */
    struct flow_mask seen;    /* bits that any sub-table looks at */
    struct flow_path *cache;  /* FLOW_CACHE_SLOTS paths */
    struct flow_path scratch; /* the one that was not remembered */
    struct flow_table table[OFP_N_TABLES];
    struct flow_group *group[FLOW_ID_SLOTS]; /* chains */
    struct flow_meter *meter[FLOW_ID_SLOTS]; /* chains */
    /* Control: */
    struct flow_sub *subs[FLOW_MASK_SLOTS]; /* by the hash of the mask */
    uint32_t max_subs[OFP_N_TABLES]; /* room that was made, by table ... */
    uint32_t n_subs[OFP_N_TABLES];   /* ... and how many there will be */
    uint32_t bit[OFP_KEY_WORDS][64]; /* sub-tables that look at the bit */
};

static inline uint64_t
flow_fold(uint64_t a, uint64_t b)
{
    unsigned __int128 m = (unsigned __int128) a * b;

    return (uint64_t) m ^ (uint64_t) (m >> 64);
}

/* dp: where a group or meter of the number is, or belongs. */
static inline struct flow_group **
flow_group_at(struct flow_tables *t, uint32_t id)
{
    struct flow_group **at = &t->group[id % FLOW_ID_SLOTS];

    while (*at && (*at)->id != id)
        at = &(*at)->next;
    return at;
}

static inline struct flow_meter **
flow_meter_at(struct flow_tables *t, uint32_t id)
{
    struct flow_meter **at = &t->meter[id % FLOW_ID_SLOTS];

    while (*at && (*at)->id != id)
        at = &(*at)->next;
    return at;
}

/* The hash of a masked value is made of the sum of these, by word. */
static inline uint64_t
flow_word_hash(const struct flow_tables *t, uint8_t at, uint64_t word)
{
    return flow_fold(word ^ t->word_secret[at], t->secret[1]);
}

static inline uint32_t
flow_sum_hash(uint64_t sum)
{
    sum *= UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t) (sum >> 32);
}

uint32_t flow_value_hash(const struct flow_tables *, const struct flow_mask *,
                         const uint64_t *value);
/* dp: the chain of a hash is in ... */
static inline struct flow_buckets *
flow_buckets_of(const struct flow_sub *sub, uint32_t hash)
{
    if (__builtin_expect(sub->old != NULL, 0) &&
        (hash & sub->old->mask) >= sub->n_moved)
        return sub->old;
    return sub->hash;
}
/* dp: the entry of the table that matches the key with the highest priority;
 * null: none. */
struct flow *flow_lookup(const struct flow_tables *, uint8_t table,
                         const struct ofp_key *);
/* dp: begins a look for the key's path: *word is filled with what is looked
 * at, the cache is brought near. */
uint64_t flow_path_hash(const struct flow_tables *, uint8_t from,
                        const struct ofp_key *, uint64_t *word);
/* dp: the path, remembered or found.  Good until the next call. */
const struct flow_path *flow_path_get(struct flow_tables *, uint8_t from,
                                      const struct ofp_key *, uint64_t hash,
                                      const uint64_t *word);

#endif
