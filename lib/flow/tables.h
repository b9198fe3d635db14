/* SPDX-License-Identifier: Apache-2.0
 *
 * Flow tables, groups and meters as the datapath runs them.  The control
 * thread makes flows, groups and meters (compiling what the codec decoded,
 * and allocating all that they will ever need), keeps its own books of which
 * exist (lib/ofproto), and sends changes as lists of operations; the datapath
 * carries them out between two batches of frames, allocates nothing and
 * cannot fail.  What an operation took out is free once it is done.
 *
 * Counters of a flow, group or meter have one writer, the datapath, and are
 * read by any thread.
 */
#ifndef FLOW_TABLES_H
#define FLOW_TABLES_H

#include "base/counter.h"
#include "ofp/action.h"
#include "ofp/match.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flow_tables; /* all tables, groups and meters of a bridge */
struct flow;        /* an entry */
struct flow_code;   /* its instructions, compiled */
struct flow_group;
struct flow_meter;

#define OFPFF_SEND_FLOW_REM 1u
#define OFPFF_CHECK_OVERLAP 2u
#define OFPFF_RESET_COUNTS  4u
#define OFPFF_NO_PKT_COUNTS 8u
#define OFPFF_NO_BYT_COUNTS 16u

struct flow_counters {
    counter_t n_packets; /* frames that matched */
    counter_t n_bytes;   /* and their octets */
    counter_t used_ns;   /* datapath time of the last; 0: never */
};

/* --- control thread: making ------------------------------------------- */

/* Null: no memory.  seed: of the hashes.  Of a datapath: dp_flow_tables(). */
struct flow_tables *flow_tables_create(uint64_t seed);
void flow_tables_destroy(struct flow_tables *); /* and all that is in it */

struct flow_table_counters {
    counter_t n_lookups; /* frames that were looked up in the table */
    counter_t n_matched; /* of them: an entry matched */
    counter_t n_active;  /* entries */
};
/* Any thread. */
const struct flow_table_counters *
flow_table_counters(const struct flow_tables *, uint8_t table);

struct flow_code *flow_code_create(const struct ofp_instructions *);
void flow_code_destroy(struct flow_code *);

struct flow_spec {
    uint8_t table;                 /* 0..253 */
    uint16_t priority;             /* higher goes first */
    uint16_t flags;                /* OFPFF_NO_*_COUNTS are looked at */
    uint64_t cookie;               /* for packet-ins */
    const struct ofp_match *match; /* borrowed */
};
/* Takes the code.  `owner` is the caller's, shown in traces (packet-ins have
 * the cookie, as an owner may be gone when they are read). */
struct flow *flow_create(const struct flow_spec *, struct flow_code *,
                         void *owner);
void flow_destroy(struct flow *); /* and its code */
const struct flow_counters *flow_counters(const struct flow *);

struct flow_group *flow_group_create(const struct ofp_group *);
void flow_group_destroy(struct flow_group *);
struct flow_group_counters {
    counter_t n_packets, n_bytes; /* of the group */
};
const struct flow_group_counters *
flow_group_counters(const struct flow_group *);
/* Of a bucket, by index. */
const struct flow_group_counters *
flow_bucket_counters(const struct flow_group *, uint32_t i);

struct flow_meter *flow_meter_create(const struct ofp_meter *);
void flow_meter_destroy(struct flow_meter *);
const struct flow_group_counters *
flow_meter_counters(const struct flow_meter *); /* what came in */
const struct flow_group_counters *
flow_band_counters(const struct flow_meter *,
                   uint32_t i); /* what was above the rate */

/* --- control thread: changes ------------------------------------------ */

enum flow_op_type {
    FLOW_OP_ADD,       /* flow; `old`, if not null, is the entry of the same
                          table, match and priority that it replaces */
    FLOW_OP_DEL,       /* flow */
    FLOW_OP_CODE,      /* flow gets `code`; the old one is left in `code` */
    FLOW_OP_GROUP,     /* group; `id`; a group of that number is replaced and
                          left in `group` (else null) */
    FLOW_OP_GROUP_DEL, /* id; what was there is left in `group` */
    FLOW_OP_METER,     /* the same with meters */
    FLOW_OP_METER_DEL,
    FLOW_OP_DEFAULT, /* `id`: FLOW_DEFAULT_* */
};

/* What is done with frames beside what the tables say. */
#define FLOW_DEFAULT_NONE 0u /* nothing (fail mode secure) */
#define FLOW_DEFAULT_EMPTY                            \
    1u /* to NORMAL while no table has an entry; of a \
          new bridge */
#define FLOW_DEFAULT_ALWAYS                              \
    2u /* to NORMAL, whatever the tables say (standalone \
          without its controllers) */

struct flow_op {
    enum flow_op_type type;   /* what */
    bool keep_counts;         /* ADD with old: goes on from its counters */
    bool reset_counts;        /* CODE: begins anew */
    uint32_t id;              /* of a group or meter */
    struct flow *flow;        /* see above */
    struct flow *old;         /* see above */
    struct flow_code *code;   /* see above */
    struct flow_group *group; /* see above */
    struct flow_meter *meter; /* see above */
};

/* Control: prepares a list for the datapath: makes the rooms of the hashes
 * and the sub-tables that it will need.  False: no memory, nothing happens.
 * Lists must be carried out in the order in which they were prepared, as the
 * preparation counts on those before it. */
struct flow_change;
struct flow_change *flow_change_create(struct flow_tables *, struct flow_op *,
                                       size_t n); /* borrows the ops */
/* Once it was carried out: frees what the tables no longer need, and the list
 * itself (not what the ops hand back). */
void flow_change_destroy(struct flow_change *);

/* How many operations it has. */
size_t flow_change_size(const struct flow_change *);

/* Datapath, before it is begun: though it is carried out piece by piece, no
 * frame sees a part of it. */
void flow_change_hide(struct flow_change *);
/* Datapath: carries out at most `max` operations more; true when all are
 * done.  With max 0: all of them. */
bool flow_change_run(struct flow_tables *, struct flow_change *, size_t max);

#endif
