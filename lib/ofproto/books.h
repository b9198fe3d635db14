/* SPDX-License-Identifier: Apache-2.0
 *
 * What the books consist of, and what their files share.  Private to
 * lib/ofproto; control thread.
 *
 * Flows.  An entry is found by its table, priority and match.  Entries whose
 * matches look at the same bits share a shape (the masks), and keep only the
 * words of the key that it looks at; entries that do the same share their
 * instructions.  Whatever changes goes through a record (struct rec), which
 * can be undone while a bundle is judged, becomes an operation for the
 * datapath, and at last frees what went.
 */
#ifndef OFPROTO_BOOKS_H
#define OFPROTO_BOOKS_H

#include "base/clock.h"
#include "ofp/msg.h"
#include "ofp/reply.h"
#include "ofproto/ofproto.h"

#define WHEEL_SLOTS 4096u /* seconds of a turn */
/* Groups may name groups so deep. */
#define MAX_CHAIN 16

/* --- lists --------------------------------------------------------------- */

struct link {
    struct link *prev, *next; /* of a ring; the head is one of them */
};

void link_init(struct link *head);
void link_append(struct link *head, struct link *);
void link_remove(struct link *);
static inline bool
link_is_empty(const struct link *head)
{
    return head->next == head;
}
#define LINK_OF(l, type, member) \
    ((struct type *) ((char *) (l) -offsetof(struct type, member)))

/* --- flows --------------------------------------------------------------- */

/* The bits that a match looks at. */
struct shape {
    struct shape *next;           /* in its place of the table's hash */
    uint32_t hash;                /* of present and mask */
    uint32_t refs;                /* entries, those too that are going */
    uint32_t n_words;             /* words of the key that it looks at */
    uint8_t word[OFP_KEY_WORDS];  /* which */
    uint64_t mask[OFP_KEY_WORDS]; /* the key's mask */
    uint64_t present;             /* fields that are given */
    uint32_t n_entries;           /* in the table */
    struct link entries;          /* them */
    struct link in_table;         /* among its shapes */
};

/* Instructions, for all entries that have the same. */
struct inst {
    struct inst *next;          /* in its place of the hash */
    uint32_t hash;              /* of what they say */
    uint32_t refs;              /* entries, and records that may need it */
    struct ofp_instructions in; /* as they were sent */
    uint32_t n_groups;          /* groups that they name, each once ... */
    uint32_t *group;            /* ... by number */
    struct link entries;        /* in the tables */
    struct link in_users;       /* of groups or a meter: among those */
};

/* First member of what can be walked. */
struct ofproto_node {
    struct link link; /* among all of its kind, in order of addition */
    uint64_t seq;     /* that order */
};

struct entry {
    struct ofproto_node node; /* in the table */
    struct entry *next;       /* in its place of the table's hash */
    struct link in_shape;     /* among those of the shape */
    struct link in_inst;      /* among those that do the same */
    struct link in_wheel;     /* by check_ns; not linked without timeouts */
    struct shape *shape;      /* its mask */
    struct inst *inst;        /* what it does */
    struct flow *flow;        /* in the datapath */
    uint64_t cookie;          /* as sent */
    uint64_t created_ns;      /* when */
    uint64_t check_ns;        /* when it may have timed out */
    uint64_t base[2];         /* packets and bytes that flow knows not of */
    uint64_t used_ns;         /* last frame in a former datapath */
    uint32_t hash;            /* of shape, priority and value */
    uint16_t priority;        /* higher goes first */
    uint16_t flags;           /* OFPFF_* */
    uint16_t idle_s, hard_s;  /* timeouts */
    uint8_t table;            /* number */
    bool persist;             /* in the database */
    uint64_t value[];         /* words of the key, as the shape says */
};

struct table {
    struct link entries;       /* in order of addition */
    struct entry **bucket;     /* hash; null while there is none */
    uint32_t n_buckets;        /* a power of two */
    uint32_t n_entries;        /* entries */
    uint32_t max_entries;      /* that it may have; of table-features */
    uint32_t config;           /* of table-mod */
    struct link shapes;        /* of its entries */
    struct shape *by_mask[64]; /* the same, by hash */
    char name[33];             /* of table-features; empty: "tableN" */
};

/* --- groups, meters ------------------------------------------------------ */

struct group {
    struct ofp_group g;    /* as sent */
    struct flow_group *dp; /* in the datapath */
    uint64_t created_ns;   /* when */
    uint64_t base[2];      /* packets and bytes that dp knows not of */
    uint32_t ref_count;    /* flows and groups that name it */
    bool persist;          /* in the database */
    uint64_t search;       /* for chains that saw it last */
    unsigned depth;        /* what it found: levels of groups below */
};

struct meter {
    struct ofp_meter m;    /* as sent */
    struct flow_meter *dp; /* in the datapath */
    uint64_t created_ns;   /* when */
    uint64_t base[2];      /* packets and bytes that dp knows not of */
    uint32_t flow_count;   /* flows that name it */
    bool persist;          /* in the database */
};

/* By number, ascending.  Each begins with its number: see set_find(). */
struct set {
    void **item;   /* struct group or struct meter */
    uint32_t *id;  /* their numbers */
    uint32_t n;    /* how many */
    uint32_t room; /* of item and id */
};

bool set_find(const struct set *, uint32_t id, uint32_t *at);
void *set_get(const struct set *, uint32_t id);
/* Puts, or takes out (null); returns what was there. */
void *set_put(struct set *, uint32_t id, void *item);

/* --- changes ------------------------------------------------------------- */

enum rec_type {
    REC_ADD,     /* entry; old is what it replaced, or null */
    REC_DEL,     /* entry */
    REC_CODE,    /* entry gets to; inst, cookie and base are the former */
    REC_GROUP,   /* group is in the place of old_group (either may be null) */
    REC_METER,   /* the same */
    REC_DEFAULT, /* id (FLOW_DEFAULT_*), config is the former */
    REC_PORT,    /* id (number), config is the former */
    REC_TABLE,   /* id (number), config is the former */
};

struct rec {
    enum rec_type type; /* what */
    uint8_t reason;     /* DEL: enum ofp_removed_reason */
    bool tell;          /* DEL: flow-removed is wanted */
    bool reset;         /* ADD, CODE: counters begin anew */
    uint32_t id;        /* see above */
    uint32_t config;    /* see above */
    uint64_t at_ns;     /* DEL: when */
    union {
        struct {
            struct entry *entry, *old; /* see above */
            struct inst *inst, *to;    /* CODE: the former, and the new */
            uint64_t cookie;           /* CODE: the former */
            uint64_t base[2];          /* CODE: the former */
        };
        struct {
            struct group *group, *old_group; /* see above */
        };
        struct {
            struct meter *meter, *old_meter; /* see above */
        };
    };
};

struct ofproto_batch {
    struct ofproto_batch *next; /* younger */
    bool atomic;                /* no frame sees a part of it */
    bool closed;                /* nothing is added */
    struct rec *rec;            /* what changed */
    size_t n, room;             /* of rec */
    struct flow_op *op;         /* of each; made when it is taken */
    struct flow_change *change; /* the same, prepared */
};

struct ofproto {
    struct ofproto_conf conf;           /* as created */
    struct table table[OFP_N_TABLES];   /* flows */
    uint32_t n_flows;                   /* of all tables */
    uint64_t seq;                       /* of the last node */
    struct inst **inst;                 /* hash of instructions */
    uint32_t n_inst_buckets, n_insts;   /* its size, and how many */
    struct link users;                  /* instructions with groups or a
                                           meter */
    struct set groups, meters;          /* by number */
    struct link wheel[WHEEL_SLOTS];     /* entries with timeouts */
    uint64_t wheel_s;                   /* second that was looked at last */
    uint32_t n_timed;                   /* entries in it */
    struct ofp_port *port;              /* by number, ascending */
    uint32_t n_ports;                   /* how many */
    struct ofproto_walk *walks;         /* that were begun */
    struct rec *journal;                /* of the present ofproto_apply() */
    size_t n_journal, journal_room;     /* of it */
    struct ofproto_batch *first, *last; /* not taken yet */
    uint64_t search;                    /* for chains of groups: number */
    unsigned normal;                    /* FLOW_DEFAULT_* */
    uint64_t persist_generation;        /* see ofproto.h */
};

/* Aborts when there is no memory. */
void *books_alloc(size_t n, size_t size) __attribute__((malloc));
void *books_grow(void *p, size_t *room, size_t n, size_t size);

/* --- entries (entry.c) --------------------------------------------------- */

/* How a match is looked for. */
struct pattern {
    uint64_t mask[OFP_KEY_WORDS];  /* of the key */
    uint64_t value[OFP_KEY_WORDS]; /* of the key */
    uint64_t present;              /* fields */
};

void pattern_init(struct pattern *, const struct ofp_match *);
/* An entry of table t, not in it yet. */
struct entry *entry_create(struct ofproto *, uint8_t t, uint16_t priority,
                           const struct pattern *);
/* Gives it its flow; the match is its own. */
void entry_make_flow(struct entry *, const struct ofp_match *);
void entry_destroy(struct ofproto *, struct entry *);
/* Puts it into its table and all lists, and back out. */
void entry_link(struct ofproto *, struct entry *);
void entry_unlink(struct ofproto *, struct entry *);
struct entry *entry_find(const struct ofproto *, uint8_t t, uint16_t priority,
                         const struct pattern *);
/* Some entry of that priority which a frame can match beside it. */
struct entry *entry_overlap(const struct ofproto *, uint8_t t,
                            uint16_t priority, const struct pattern *);
bool shape_covers(const struct shape *, const struct pattern *);
/* Whether all that the pattern says holds for the entry. */
bool entry_is_within(const struct entry *, const struct pattern *);
void entry_match(const struct entry *, struct ofp_match *);
void entry_set_inst(struct ofproto *, struct entry *, struct inst *);
/* Packets and bytes. */
void entry_counts(const struct entry *, uint64_t out[2]);
uint64_t entry_used_ns(const struct entry *);
/* The walks that are at it go on to the next. */
void walks_skip(struct ofproto *, struct ofproto_node *);
/* It has timeouts: puts it where it is looked at in time. */
void wheel_add(struct ofproto *, struct entry *);

/* --- instructions (inst.c) ----------------------------------------------- */

/* One more reference to those that say this; put drops one. */
struct inst *inst_get(struct ofproto *, const struct ofp_instructions *);
void inst_put(struct ofproto *, struct inst *);
bool inst_outputs_to(const struct inst *, uint32_t port);
bool inst_names_group(const struct inst *, uint32_t group);

/* --- changes (change.c) -------------------------------------------------- */

/* Adds one to the journal; its change is in the books already. */
struct rec *rec_add(struct ofproto *, enum rec_type);
void rec_undo(struct ofproto *, struct rec *);
/* What was recorded since the last commit or rollback. */
void journal_commit(struct ofproto *, bool atomic);
void journal_rollback(struct ofproto *);

#endif
