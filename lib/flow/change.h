/* SPDX-License-Identifier: Apache-2.0
 *
 * A change of the tables, as the control thread plans it (plan.c) and the
 * datapath carries it out (change.c).
 */
#ifndef FLOW_CHANGE_H
#define FLOW_CHANGE_H

#include "flow/priv.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A change is seen as it is carried out, or at one moment although it is
 * carried out piece by piece: see flow_change_hide(). */
enum flow_stage {
    FLOW_SEEN,    /* operation by operation */
    FLOW_HIDDEN,  /* entries that are added are not seen yet */
    FLOW_CLEANUP, /* those that are deleted are not any more */
    FLOW_PLACING, /* sub-tables go where they stand in the end */
};

/* What an operation needs, and what it leaves behind. */
struct flow_plan {
    struct flow_op *op;          /* the caller's */
    struct flow_sub *add;        /* sub-table that begins with it */
    struct flow_sub *del;        /* sub-table that ends with it */
    struct flow_buckets *grow;   /* larger array for the flow's sub-table */
    struct flow_probe *probes;   /* larger array for the table; then the old */
    struct flow_mask *seen;      /* what all sub-tables look at, after it */
    uint32_t max_subs, had_subs; /* room in it, and in the old */
    uint32_t priority;           /* of the sub-table, after it */
    uint32_t last_priority;      /* the same, after the whole change */
    bool is_planned;             /* wholly */
};

struct flow_change {
    struct flow_tables *t; /* whose */
    size_t n, next;        /* operations, and the next of them */
    enum flow_stage stage; /* what is being done with them */
    int64_t n_more;        /* entries that there will be more */
    uint32_t n_dels;       /* sub-tables that end with it */
    bool has_others;       /* operations other than on entries' places */
    struct flow_buckets *garbage; /* arrays that were left */
    struct flow_plan plan[];      /* by operation */
};

#endif
