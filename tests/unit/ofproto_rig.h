/* SPDX-License-Identifier: Apache-2.0
 *
 * A rig for lib/ofproto: books over a fake datapath (ofproto_fake.c, linked in
 * place of lib/flow), and short ways to say modifications.
 */
#ifndef OFPROTO_RIG_H
#define OFPROTO_RIG_H

#include "ofp/msg.h"
#include "ofp/reply.h"
#include "ofproto/ofproto.h"

#define NS UINT64_C(1000000000)

/* --- the fake datapath ----------------------------------------------------
 */

struct flow {
    struct flow *next, **at;    /* in the fake table */
    struct flow_spec spec;      /* as given; match points to: */
    struct ofp_match match;     /* a copy */
    struct flow_code *code;     /* instructions */
    struct flow_counters count; /* tests write them */
};

struct flow_code {
    struct ofp_instructions in; /* a copy */
};

/* The flow that is there; null: none. */
struct flow *fake_find(struct flow_tables *, uint8_t table, uint16_t priority,
                       const struct ofp_match *);
size_t fake_n_flows(struct flow_tables *);
size_t fake_n_groups(struct flow_tables *);
size_t fake_n_meters(struct flow_tables *);
/* FLOW_DEFAULT_*. */
unsigned fake_default(struct flow_tables *);
/* Flows, codes, groups and meters that exist at all. */
extern long fake_n_live;

/* --- books ----------------------------------------------------------------
 */

struct rig {
    struct ofproto *o;               /* the books */
    struct flow_tables *tables;      /* the fake */
    uint64_t now_ns;                 /* time */
    struct ofp_error err;            /* of the last refusal */
    size_t failed;                   /* the same */
    struct ofp_flow_removed removed; /* the last that was told */
    unsigned n_removed;              /* how many were */
    struct ofp_port port;            /* of the last port-status */
    unsigned port_reason;            /* the same */
    unsigned n_port_status;          /* how many were told */
    uint32_t config_port, config;    /* last that was to be configured */
    struct ofp_action act[4];        /* of what rig_output() gives */
};

/* Books with ports 1 to 4. */
void rig_init(struct rig *);
void rig_uninit(struct rig *);
/* Carries out all that is to be done. */
void rig_run(struct rig *);
/* The number of batches that it took. */
unsigned rig_run_batches(struct rig *, bool *atomic);

/* An ADD of priority 100 in table 0 that matches all and does nothing. */
struct ofp_flow_mod rig_flow(enum ofp_flow_command);
void rig_match_num(struct ofp_match *, enum ofp_field, uint64_t value,
                   uint64_t mask);
/* Apply-actions: output to the port. */
void rig_output(struct rig *, struct ofp_flow_mod *, uint32_t port);
void rig_group_action(struct rig *, struct ofp_flow_mod *, uint32_t group);
/* Applies one; false: see err. */
bool rig_flow_mod(struct rig *, const struct ofp_flow_mod *);
bool rig_group(struct rig *, enum ofp_group_command, uint32_t id,
               enum ofp_group_type, const uint32_t *ports, uint32_t n);
bool rig_group_mod(struct rig *, const struct ofp_group_mod *);
bool rig_meter_mod(struct rig *, const struct ofp_meter_mod *);
/* How many flows a filter (null: all) finds; the last of them in *out. */
unsigned rig_count(struct rig *, const struct ofproto_filter *,
                   struct ofproto_flow_info *out);
/* A filter that finds all. */
struct ofproto_filter rig_all(void);

#endif
