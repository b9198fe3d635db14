/* SPDX-License-Identifier: Apache-2.0
 *
 * The books of an OpenFlow switch: which flows, groups, meters and ports
 * there are, as the standard tells it.  Every modification is judged here and
 * becomes operations for the datapath (flow/tables.h), which only executes.
 *
 * A value: no socket, thread or clock; time comes as an argument (datapath
 * time, ns).  Control thread.  The caller, after one or many modifications:
 *
 *     while ((b = ofproto_take(o)))
 *         post ofproto_batch_change(b) to the datapath, in this order;
 *     ... and once the datapath carried b out: ofproto_done(o, b)
 *
 * A barrier is answered when all that was taken before it is done.  Memory
 * running out in the control plane aborts.
 */
#ifndef OFPROTO_OFPROTO_H
#define OFPROTO_OFPROTO_H

#include "flow/tables.h"
#include "ofp/action.h"
#include "ofp/error.h"
#include "ofp/match.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ofproto;
/* Messages as values: ofp/msg.h. */
struct ofp_flow_mod;
struct ofp_group_mod;
struct ofp_meter_mod;
struct ofp_port_mod;
struct ofp_table_mod;
struct ofp_flow_removed;
struct ofp_port;
struct ofp_table_features;

#define OFPROTO_MAX_FLOWS  1000000u /* of all tables, unless said otherwise */
#define OFPROTO_MAX_GROUPS 65536u
#define OFPROTO_MAX_METERS 65536u
#define OFPROTO_N_QUEUES   8u

/* --- life ---------------------------------------------------------------- */

/* What others are told.  Called from within the functions below; they may not
 * change the books. */
struct ofproto_notices {
    /* An entry that asked for it is gone, and these are its last numbers. */
    void (*flow_removed)(void *arg, const struct ofp_flow_removed *);
    /* reason: OFPPR_ADD 0, OFPPR_DELETE 1, OFPPR_MODIFY 2. */
    void (*port_status)(void *arg, unsigned reason, const struct ofp_port *);
    /* The configuration (OFPPC_*) of a port was modified: the datapath must
     * follow before the next barrier is answered. */
    void (*port_config)(void *arg, uint32_t port, uint32_t config);
};

struct ofproto_conf {
    struct flow_tables *tables;     /* of the datapath; borrowed */
    uint32_t max_flows;             /* 0: OFPROTO_MAX_FLOWS */
    uint64_t seed;                  /* of the hashes */
    struct ofproto_notices notices; /* each may be null */
    void *arg;                      /* of the notices */
};

struct ofproto *ofproto_create(const struct ofproto_conf *);
/* The tables are still there, if they were not unbound; but nobody uses them
 * any more, and all that was taken is done. */
void ofproto_destroy(struct ofproto *);
/* The datapath ends (the same holds): nothing of ours is in its tables after
 * that.  The books stay as they are. */
void ofproto_unbind(struct ofproto *);
/* Another datapath has taken its place: everything there is becomes operations
 * for its tables, which are empty.  Counters go on. */
void ofproto_rebind(struct ofproto *, struct flow_tables *);

/* --- modifications ------------------------------------------------------- */

enum ofproto_mod_type {
    OFPROTO_FLOW_MOD,
    OFPROTO_GROUP_MOD,
    OFPROTO_METER_MOD,
    OFPROTO_PORT_MOD,
    OFPROTO_TABLE_MOD,
};

struct ofproto_mod {
    enum ofproto_mod_type type; /* says which of these is meant: */
    union {
        const struct ofp_flow_mod *flow;
        const struct ofp_group_mod *group;
        const struct ofp_meter_mod *meter;
        const struct ofp_port_mod *port;
        const struct ofp_table_mod *table;
    };
    bool persist; /* FLOW ADD, GROUP and METER: in the database too */
};

/* Judges n modifications in order, as one: all of them are in the books, or
 * none is.  With `atomic` no frame sees a part of them.  False: *failed is the
 * first that is not possible, and *e is why. */
bool ofproto_apply(struct ofproto *, const struct ofproto_mod mods[], size_t n,
                   bool atomic, uint64_t now_ns, size_t *failed,
                   struct ofp_error *e);

/* Removes all flows of all tables, groups and meters; no flow-removed is told.
 * With `normal` table 0 then has its one entry: priority 0, NORMAL. */
void ofproto_flush(struct ofproto *, bool normal, uint64_t now_ns);
/* What the tables do not say (flow/tables.h: FLOW_DEFAULT_*): fail mode
 * standalone without a controller is FLOW_DEFAULT_ALWAYS. */
void ofproto_set_default(struct ofproto *, unsigned what);

/* How many entries there may be from now on; those beyond it stay. */
void ofproto_set_max_flows(struct ofproto *, uint32_t);

/* Removes what has timed out.  Returns the next moment at which something may
 * (CLOCK_NEVER: nothing). */
uint64_t ofproto_expire(struct ofproto *, uint64_t now_ns);
/* Whether any entry has a timeout. */
bool ofproto_has_timeouts(const struct ofproto *);

/* Are a packet-out's ingress port and actions possible? */
bool ofproto_check_packet_out(const struct ofproto *, uint32_t in_port,
                              const struct ofp_actions *, struct ofp_error *);

/* Grows with every change of what has `persist`. */
uint64_t ofproto_persist_generation(const struct ofproto *);

/* --- to the datapath ----------------------------------------------------- */

struct ofproto_batch;
/* The oldest operations that were not taken yet; null: there are none. */
struct ofproto_batch *ofproto_take(struct ofproto *);
struct flow_change *ofproto_batch_change(struct ofproto_batch *);
bool ofproto_batch_atomic(const struct ofproto_batch *);
/* It was carried out, and those before it were: frees what was taken out and
 * tells of the flows that are gone.  Frees the batch. */
void ofproto_done(struct ofproto *, struct ofproto_batch *);

/* --- ports --------------------------------------------------------------- */

/* Adds a port or says what it is like now; tells port-status when something
 * changed.  By number (ports from 1, or OFPP_LOCAL). */
void ofproto_set_port(struct ofproto *, const struct ofp_port *);
void ofproto_del_port(struct ofproto *, uint32_t number);
const struct ofp_port *ofproto_port(const struct ofproto *, uint32_t number);
/* The port with the next number above; null: none.  Start with 0. */
const struct ofp_port *ofproto_port_after(const struct ofproto *,
                                          uint32_t number);

/* --- reading ------------------------------------------------------------- */

/* A walk, in the order of addition, that may pause while the books change:
 * what is added later is not visited, what goes before it is reached neither.
 * Begun ones must be ended (also after the last). */
struct ofproto_walk {
    struct ofproto_walk *prev, *next; /* others of these books */
    struct ofproto_node *at;          /* next to visit */
    uint64_t until;                   /* younger ones are not visited */
    uint8_t table, last_table;        /* flows: where it is, and ends */
};

enum ofproto_step {
    OFPROTO_ITEM,  /* there is one */
    OFPROTO_AGAIN, /* not yet: much was looked at, others may want the CPU */
    OFPROTO_END,
};

struct ofproto_filter {
    uint8_t table;                 /* OFPTT_ALL: every one */
    bool strict;                   /* priority and match are exactly these */
    uint16_t priority;             /* when strict */
    uint32_t out_port;             /* OFPP_ANY: any */
    uint32_t out_group;            /* OFPG_ANY: any */
    uint64_t cookie, cookie_mask;  /* of which these bits are so */
    const struct ofp_match *match; /* what is said must hold; null: all */
    bool persist_only;             /* those in the database */
};

struct ofproto_flow_info {
    uint8_t table;                       /* number */
    uint16_t priority;                   /* of the entry */
    uint16_t flags;                      /* OFPFF_* as sent */
    uint16_t idle_s, hard_s;             /* timeouts; 0: none */
    bool persist;                        /* in the database */
    uint64_t seq;                        /* grows in the order of addition */
    uint64_t cookie;                     /* as sent */
    uint64_t created_ns, duration_ns;    /* when; how long it is there */
    uint64_t used_ns;                    /* last frame; 0: never */
    uint64_t n_packets, n_bytes;         /* UINT64_MAX: not counted */
    struct ofp_match match;              /* in full */
    const struct ofp_instructions *inst; /* borrowed till the next change */
};

/* BAD_TABLE_ID when there is no such table. */
bool ofproto_walk_flows(struct ofproto *, struct ofproto_walk *, uint8_t table,
                        struct ofp_error *);
enum ofproto_step ofproto_next_flow(struct ofproto *, struct ofproto_walk *,
                                    const struct ofproto_filter *,
                                    uint64_t now_ns,
                                    struct ofproto_flow_info *);
void ofproto_walk_end(struct ofproto *, struct ofproto_walk *);
/* Of the table where the walk begins: passes over those up to `seq`. */
void ofproto_walk_after(struct ofproto *, struct ofproto_walk *, uint64_t seq);
/* Describes the entry whose `owner` the datapath named.  Good as long as
 * ofproto_done() was not called since. */
void ofproto_flow_of(const void *owner, uint64_t now_ns,
                     struct ofproto_flow_info *);

struct ofproto_group_info {
    const struct ofp_group *group;     /* borrowed till the next change */
    const struct flow_group *counters; /* of its buckets */
    bool persist;                      /* in the database */
    uint32_t ref_count;                /* flows and groups that name it */
    uint64_t duration_ns;              /* how long it is there */
    uint64_t n_packets, n_bytes;       /* what came in */
};
/* One of them; false: there is none. */
bool ofproto_group(struct ofproto *, uint32_t id, uint64_t now_ns,
                   struct ofproto_group_info *);
/* That with the next id above (start with -1); false: none. */
bool ofproto_group_after(struct ofproto *, int64_t id, uint64_t now_ns,
                         struct ofproto_group_info *);

struct ofproto_meter_info {
    const struct ofp_meter *meter;     /* borrowed till the next change */
    const struct flow_meter *counters; /* of its bands */
    bool persist;                      /* in the database */
    uint32_t flow_count;               /* flows that name it */
    uint64_t duration_ns;              /* how long it is there */
    uint64_t n_packets, n_bytes;       /* what came in */
};
bool ofproto_meter(struct ofproto *, uint32_t id, uint64_t now_ns,
                   struct ofproto_meter_info *);
bool ofproto_meter_after(struct ofproto *, int64_t id, uint64_t now_ns,
                         struct ofproto_meter_info *);

struct ofproto_table_info {
    uint32_t n_active;             /* entries */
    uint32_t max_entries;          /* that it may have */
    uint32_t config;               /* of table-mod */
    uint64_t n_lookups, n_matched; /* frames looked up, and those that hit */
};
/* table < OFP_N_TABLES. */
void ofproto_table(const struct ofproto *, uint8_t table,
                   struct ofproto_table_info *);

/* All that it can do; table < OFP_N_TABLES. */
void ofproto_table_features(const struct ofproto *, uint8_t table,
                            struct ofp_table_features *);
/* A controller wants n tables to be so.  Their names may be any, max_entries
 * at most what all tables may have together; the rest must be as it is, or all
 * of it left out. False: nothing has changed. */
bool ofproto_set_table_features(struct ofproto *,
                                const struct ofp_table_features *, size_t n,
                                struct ofp_error *);

uint32_t ofproto_n_flows(const struct ofproto *);

#endif
