/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups, meters and action sets as they are run: for lib/flow itself, beside
 * priv.h.  Threads as said there.
 */
#ifndef FLOW_ACT_H
#define FLOW_ACT_H

#include "flow/tables.h"
#include "ofp/action.h"

#include <stdbool.h>
#include <stdint.h>

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
