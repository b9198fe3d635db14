/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of lib/flow that make, change, search and run flow tables
 * share with each other and with no one else.  See tables.h for who may do
 * what on which thread: "control" prepares, "dp" carries out and looks up.
 */
#ifndef FLOW_PRIV_H
#define FLOW_PRIV_H

#include "flow/tables.h"
#include "ofp/match.h"

#include <stdbool.h>
#include <stdint.h>

#define FLOW_PATH_MAX    5     /* entries that a cached path remembers */
#define FLOW_CACHE_SLOTS 16384 /* paths that are remembered */
#define FLOW_ID_SLOTS    4096  /* chains of groups, and of meters */
#define FLOW_MASK_SLOTS  4096  /* chains of sub-tables by mask (control) */

/* --- entries ------------------------------------------------------------- */

/* Which words of a key are looked at, and which bits of them. */
struct flow_mask {
    uint8_t n;                    /* words */
    uint8_t at[OFP_KEY_WORDS];    /* which ones, ascending */
    uint64_t bits[OFP_KEY_WORDS]; /* of each of them */
};

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

struct flow_buckets {
    struct flow_buckets *next; /* of those that can be freed */
    uint64_t mask;             /* how many, less one */
    struct flow *b[];          /* chains */
};

/* Entries of one table that look at the same bits. */
struct flow_sub {
    struct flow_mask mask;     /* those bits */
    struct flow_buckets *hash; /* the entries */
    struct flow_buckets *old;  /* those not moved to `hash` yet; or null */
    uint64_t n_moved;          /* chains of `old` that were */
    uint32_t priority;         /* highest of an entry: where it stands */
    uint8_t table;             /* of which it is */
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

struct flow_table {
    struct flow_sub **sub;        /* sub-tables, priorities descend */
    uint32_t n_subs;              /* how many */
    uint32_t max_subs;            /* room */
    struct flow_table_counters n; /* what happened */
};

/* --- groups and meters ----------------------------------------------------
 */

struct flow_bucket {
    struct flow_group_counters n; /* what it did */
    uint32_t first;               /* of the group's actions */
    uint16_t n_actions;           /* how many, in the order of a set */
    uint16_t weight;              /* SELECT */
    uint32_t watch_port;          /* OFPP_ANY: none */
    uint32_t watch_group;         /* OFPG_ANY: none */
};

struct flow_group {
    struct flow_group *next;      /* in its chain */
    struct flow_group_counters n; /* what it did */
    uint32_t id;                  /* number */
    enum ofp_group_type type;     /* what buckets are for */
    uint32_t n_buckets;           /* how many */
    uint64_t weight;              /* of all buckets */
    struct flow_bucket *bucket;   /* them */
    struct ofp_action *a;         /* of all buckets */
};

struct flow_band {
    struct flow_group_counters n; /* what was above the rate */
    struct ofp_band conf;         /* as asked for */
    int64_t level;                /* credit, in rate_bps x ns units: below */
    int64_t burst;                /* most of it */
};

struct flow_meter {
    struct flow_meter *next;      /* in its chain */
    struct flow_group_counters n; /* what came in */
    uint32_t id;                  /* number */
    uint16_t flags;               /* OFPMF_* */
    uint32_t n_bands;             /* how many */
    uint64_t then_ns;             /* when credit was given; 0: never */
    uint8_t order[OFP_MAX_BANDS]; /* bands, rates descend */
    struct flow_band band[];      /* in the order given */
};

enum flow_verdict { FLOW_METER_PASS, FLOW_METER_DROP, FLOW_METER_REMARK };

/* dp: what the meter says of a frame of so many octets; *levels: by how much
 * the drop precedence goes up.  Without `take` nothing is consumed or counted.
 */
enum flow_verdict flow_meter_run(struct flow_meter *, uint32_t bytes,
                                 uint64_t now_ns, bool take, uint8_t *levels);

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
    uint64_t secret[4];       /* of the hashes */
    uint64_t generation;      /* grows with every change */
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

/* Hash of the words of a value that was masked. */
uint32_t flow_value_hash(const struct flow_tables *, const uint64_t *value,
                         uint32_t n);
/* dp: the chain of a hash. */
struct flow **flow_chain(struct flow_sub *, uint32_t hash);
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

/* --- action sets -----------------------------------------------------------
 */

struct flow_set {
    uint32_t types;  /* bit: there is an action of the type */
    uint64_t fields; /* bit: there is a set-field of the field */
    const struct ofp_action *of_type[OFP_N_ACTS];    /* but SET_FIELD */
    const struct ofp_action *of_field[OFP_N_FIELDS]; /* SET_FIELD */
};

static inline void
flow_set_clear(struct flow_set *s)
{
    s->types = 0;
    s->fields = 0;
}

/* Adds actions, each in place of one of its kind. */
void flow_set_write(struct flow_set *, const struct ofp_action *, uint32_t n);
/* Lists the set in the order of carrying out; at most FLOW_SET_MAX. */
#define FLOW_SET_MAX (OFP_N_ACTS + OFP_N_FIELDS)
uint32_t flow_set_list(const struct flow_set *,
                       const struct ofp_action *list[FLOW_SET_MAX]);

#endif
