/* SPDX-License-Identifier: Apache-2.0
 *
 * Actions, instructions, group buckets and meter bands of OpenFlow as values,
 * the same for versions 1.0 and 1.3 and for the text syntax: the codecs make
 * them, the switch runs them.  Pure data, any thread.
 */
#ifndef OFP_ACTION_H
#define OFP_ACTION_H

#include "ofp/match.h"

#include <stdbool.h>
#include <stdint.h>

/* Reserved ports, as in 1.3; the 1.0 codec translates. */
#define OFPP_MAX        0xffffff00u
#define OFPP_IN_PORT    0xfffffff8u
#define OFPP_TABLE      0xfffffff9u
#define OFPP_NORMAL     0xfffffffau
#define OFPP_FLOOD      0xfffffffbu
#define OFPP_ALL        0xfffffffcu
#define OFPP_CONTROLLER 0xfffffffdu
#define OFPP_LOCAL      0xfffffffeu
#define OFPP_ANY        0xffffffffu

#define OFPCML_NO_BUFFER 0xffffu
#define OFP_NO_BUFFER    0xffffffffu

#define OFPG_MAX 0xffffff00u
#define OFPG_ALL 0xfffffffcu
#define OFPG_ANY 0xffffffffu

#define OFPM_MAX        0xffff0000u
#define OFPM_SLOWPATH   0xfffffffdu
#define OFPM_CONTROLLER 0xfffffffeu
#define OFPM_ALL        0xffffffffu

#define OFPTT_MAX    0xfeu /* highest table; there are 254, 0 to 253 */
#define OFPTT_ALL    0xffu
#define OFP_N_TABLES 254

#define OFP_MAX_ACTIONS 1024 /* of one list */
#define OFP_MAX_BUCKETS 1024 /* of one group */
#define OFP_MAX_BANDS   16   /* of one meter */

/* In the order in which an action set is carried out (5.10), with those that
 * an action set cannot hold twice being one kind each. */
enum ofp_action_type {
    OFP_ACT_COPY_TTL_IN,
    OFP_ACT_POP_VLAN,
    OFP_ACT_POP_MPLS,
    OFP_ACT_POP_PBB,
    OFP_ACT_PUSH_MPLS,
    OFP_ACT_PUSH_PBB,
    OFP_ACT_PUSH_VLAN,
    OFP_ACT_COPY_TTL_OUT,
    OFP_ACT_DEC_NW_TTL,
    OFP_ACT_DEC_MPLS_TTL,
    OFP_ACT_SET_NW_TTL,
    OFP_ACT_SET_MPLS_TTL,
    OFP_ACT_SET_FIELD,
    OFP_ACT_SET_QUEUE,
    OFP_ACT_GROUP,
    OFP_ACT_OUTPUT,
    OFP_ACT_SET_VLAN_VID, /* 1.0: sets it, pushes a tag if there is none */
    OFP_ACT_SET_VLAN_PCP, /* 1.0: the same */
    OFP_ACT_ENQUEUE,      /* 1.0: output to a queue of a port */
    OFP_N_ACTS,
};

struct ofp_action {
    enum ofp_action_type type; /* says which of these is meant: */
    union {
        struct {
            uint32_t port;    /* or a reserved one */
            uint16_t max_len; /* of a packet-in; OFPCML_NO_BUFFER: all */
            uint32_t queue;   /* of ENQUEUE only */
        } output;             /* OUTPUT, ENQUEUE */
        struct {
            enum ofp_field field; /* what */
            bool has_mask;        /* not all of it (bundles, 1.5, text) */
            uint8_t value[16];    /* n_bytes of the field, network order */
            uint8_t mask[16];     /* the same */
        } set;                    /* SET_FIELD */
        uint16_t ethertype;       /* PUSH_*, POP_MPLS */
        uint32_t group;           /* GROUP */
        uint32_t queue;           /* SET_QUEUE */
        uint8_t ttl;              /* SET_NW_TTL, SET_MPLS_TTL */
        uint16_t vid;             /* SET_VLAN_VID, 12 bits */
        uint8_t pcp;              /* SET_VLAN_PCP, 3 bits */
    };
};

/* A list, in the order given.  Whoever fills it says who frees a[]. */
struct ofp_actions {
    uint32_t n;           /* how many */
    struct ofp_action *a; /* them; null when there are none */
};

struct ofp_instructions {
    bool has_goto;            /* goto-table */
    bool has_metadata;        /* write-metadata */
    bool has_write;           /* write-actions, be they empty */
    bool has_apply;           /* apply-actions, be they empty */
    bool clear;               /* clear-actions */
    bool has_meter;           /* meter */
    uint8_t table;            /* to go to */
    uint32_t meter;           /* by number */
    uint64_t metadata;        /* value ... */
    uint64_t metadata_mask;   /* ... and which bits of it are written */
    struct ofp_actions write; /* merged into the action set */
    struct ofp_actions apply; /* carried out at once */
};

enum ofp_group_type {
    OFPGT_ALL = 0,
    OFPGT_SELECT = 1,
    OFPGT_INDIRECT = 2,
    OFPGT_FF = 3,
};

struct ofp_bucket {
    uint16_t weight;            /* SELECT */
    uint32_t watch_port;        /* FF; OFPP_ANY: none */
    uint32_t watch_group;       /* FF; OFPG_ANY: none */
    struct ofp_actions actions; /* an action set */
};

struct ofp_group {
    uint32_t id;               /* number */
    enum ofp_group_type type;  /* what the buckets are for */
    uint32_t n_buckets;        /* how many */
    struct ofp_bucket *bucket; /* them */
};

enum ofp_band_type {
    OFPMBT_DROP = 1,
    OFPMBT_DSCP_REMARK = 2,
};

struct ofp_band {
    enum ofp_band_type type; /* what happens above the rate */
    uint32_t rate;           /* kb/s (1000 bits), or packets a second */
    uint32_t burst;          /* kilobits, or packets; with OFPMF_BURST */
    uint8_t prec_level;      /* DSCP_REMARK: by how much the drop precedence
                                goes up */
};

#define OFPMF_KBPS  1u
#define OFPMF_PKTPS 2u
#define OFPMF_BURST 4u
#define OFPMF_STATS 8u

struct ofp_meter {
    uint32_t id;                         /* number */
    uint16_t flags;                      /* OFPMF_* */
    uint32_t n_bands;                    /* how many */
    struct ofp_band band[OFP_MAX_BANDS]; /* them */
};

/* Heap copies, for who keeps them: false (and empty) when memory is short. */
bool ofp_actions_copy(const struct ofp_actions *, struct ofp_actions *to);
void ofp_actions_free(struct ofp_actions *);
bool ofp_instructions_copy(const struct ofp_instructions *,
                           struct ofp_instructions *to);
void ofp_instructions_free(struct ofp_instructions *);
bool ofp_group_copy(const struct ofp_group *, struct ofp_group *to);
void ofp_group_free(struct ofp_group *);
/* Ends what set-queue began, as enqueue of Open vSwitch is on the wire: the
 * outputs behind the last set-queue become ENQUEUE, and it goes.  False: one
 * of them is to a reserved port. */
bool ofp_actions_pop_queue(struct ofp_actions *);
/* Equal in every respect, order included? */
bool ofp_actions_equal(const struct ofp_actions *, const struct ofp_actions *);
bool ofp_instructions_equal(const struct ofp_instructions *,
                            const struct ofp_instructions *);

#endif
