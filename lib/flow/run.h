/* SPDX-License-Identifier: Apache-2.0
 *
 * Running frames through the flow tables.  What an entry says is decided here;
 * what sending, copying and dropping mean is the datapath's, by its hooks.
 * Datapath thread.
 */
#ifndef FLOW_RUN_H
#define FLOW_RUN_H

#include "flow/edit.h"
#include "flow/tables.h"
#include "ofp/action.h"
#include "pkt/pkt.h"

#include <stdbool.h>
#include <stdint.h>

#define FLOW_NO_QUEUE  UINT32_MAX
#define FLOW_MAX_DEPTH 16   /* groups in buckets of groups */
#define FLOW_MAX_WORK  2048 /* buckets that one frame runs through */
/* Buckets that are asked for one frame whether they are alive.  Groups that
 * watch groups would else cost what no thread has: 1024 buckets, 16 deep. */
#define FLOW_MAX_LOOKS 32768

/* A frame on its way through actions.  A bucket has its own, that begins as
 * that of the list which the group is in. */
struct flow_state {
    struct flow_frame frame; /* its octets */
    struct pkt *pkt;         /* the descriptor */
    bool owned;     /* pkt is this state's; else it is borrowed, and must
                       neither be changed nor queued itself */
    bool exclusive; /* no one else sees the octets: they may be changed */
    bool new_pcp;   /* actions set the priority of the tag */
    bool new_dscp;  /* actions set the DSCP */
    bool dead;      /* it ended: no more actions */
    uint32_t queue; /* of set-queue; or FLOW_NO_QUEUE */
    uint64_t metadata, tunnel_id; /* that go with it */
    uint32_t wait;                /* the datapath's: an output that was not
                                     made yet */
    void *wait_port;              /* the same */
};

enum flow_stop {
    FLOW_STOP_MISS,  /* no entry matched */
    FLOW_STOP_METER, /* above the rate */
    FLOW_STOP_TTL,   /* was not to be decremented */
    FLOW_STOP_ROOM,  /* too long for what was to be pushed */
    FLOW_STOP_LIMIT, /* through more groups than are allowed */
};

enum flow_note {
    FLOW_NOTE_MATCH, /* what: struct flow */
    FLOW_NOTE_MISS,  /* n: table */
    FLOW_NOTE_APPLY, /* instructions */
    FLOW_NOTE_CLEAR,
    FLOW_NOTE_WRITE,
    FLOW_NOTE_METADATA,
    FLOW_NOTE_GOTO,   /* n: table */
    FLOW_NOTE_METER,  /* n: number; m: 0 passed, 1 dropped, 2 remarked, 3
                         there is none */
    FLOW_NOTE_SET,    /* the action set begins */
    FLOW_NOTE_ACTION, /* what: struct ofp_action */
    FLOW_NOTE_GROUP,  /* n: number; m: bucket, UINT32_MAX: none */
};

struct flow_run;

struct flow_hooks {
    /* Makes the octets exclusive: what is borrowed or shared is copied.
     * False: there is no buffer; the state is dead. */
    bool (*own)(struct flow_run *);
    /* Sends the frame as it is to a port, or a reserved one. */
    void (*output)(struct flow_run *, uint32_t port, uint16_t max_len);
    /* A bucket ends: what its state owns is to be given back. */
    void (*finish)(struct flow_run *);
    /* The frame ends here (state.dead is set already). */
    void (*stop)(struct flow_run *, enum flow_stop);
    /* Whether a port can send (fast failover). */
    bool (*is_live)(const struct flow_run *, uint32_t port);
    /* Tells what happens; null: no one listens. */
    void (*note)(struct flow_run *, enum flow_note, const void *what,
                 uint32_t n, uint32_t m);
};

/* One frame's.  Whoever fills it: tables to is_dry, and all of `s` but wait.
 */
struct flow_run {
    struct flow_tables *tables;     /* of the bridge */
    const struct flow_hooks *hooks; /* see there */
    uint64_t now_ns;                /* datapath time */
    uint32_t in_port;               /* ingress, OpenFlow number */
    bool is_dry;                    /* a trace: nothing is counted */
    struct flow_state s;            /* the frame */
    const struct flow *flow;        /* entry that is carried out; null: none */
    uint8_t depth;                  /* of groups */
    bool is_last;                   /* nothing comes after this action */
    uint32_t work;                  /* buckets so far */
    uint32_t looks;                 /* buckets that were asked so far */
};

/* What is known of an entry, for packet-ins and traces. */
struct flow_info {
    uint8_t table;     /* of which it is */
    bool is_miss;      /* priority 0, matches all: a table-miss entry */
    uint16_t priority; /* its */
    uint64_t cookie;   /* its */
    void *owner;       /* the caller's */
};
void flow_info(const struct flow *, struct flow_info *);

/* Whether every frame goes to NORMAL: then none need be run. */
bool flow_all_normal(const struct flow_tables *);
/* Whether there is an entry that says so. */
bool flow_counts_normal(const struct flow_tables *);
/* Counts frames that were not run for that. */
void flow_count_normal(struct flow_tables *, uint32_t n, uint64_t bytes,
                       uint64_t now_ns);

/* A look that is begun early, so that memory is near when it is needed. */
struct flow_look {
    uint64_t hash;                /* of what follows */
    uint64_t word[OFP_KEY_WORDS]; /* what of the key is looked at */
};
/* key: with in_port. */
void flow_look(const struct flow_tables *, const struct ofp_key *,
               struct flow_look *);
/* Runs the frame through the tables, from 0 on.  look: of its key, which is
 * good and has in_port; null: not begun.  True when it meets one entry that
 * does nothing but send it to NORMAL, which is left to the caller. */
bool flow_run(struct flow_run *, const struct flow_look *);
/* Runs it through a list of actions only (packet-out). */
void flow_run_actions(struct flow_run *, const struct ofp_action *,
                      uint32_t n);
/* Whether the controller meter, if there is one, lets a packet-in pass. */
bool flow_may_packet_in(struct flow_tables *, uint32_t bytes, uint64_t now_ns);

#endif
