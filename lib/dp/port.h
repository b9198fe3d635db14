/* SPDX-License-Identifier: Apache-2.0
 *
 * The run-time state of a port, from inside the datapath.  Written by the dp
 * thread; its counters are read by any.
 */
#ifndef DP_PORT_H
#define DP_PORT_H

#include "dp/cable.h"
#include "dp/dp.h"
#include "dp/plan.h"
#include "dp/watch.h"
#include "qos/buf.h"
#include "qos/pfc.h"
#include "qos/sched.h"
#include "qos/shaper.h"

#include <stdbool.h>
#include <stdint.h>

/* An egress queue; what appending to it needs is one cache line. */
struct dp_queue {
    struct pkt *head;  /* first to leave; null: empty */
    struct pkt *tail;  /* last; means something unless empty */
    uint64_t bytes;    /* wire octets queued */
    uint64_t limit;    /* most octets that need no closer look (see
                          dp_may_enqueue); UINT64_MAX: any number */
    uint64_t peak;     /* most octets ever queued: brought up to date before
                          a frame leaves, see dp_queue_note_peak */
    uint32_t frames;   /* queued */
    uint32_t head_len; /* wire length of the head, unless empty */
} __attribute__((aligned(64)));

/* What a frame becomes on the way in. */
struct dp_class {
    uint8_t pg;   /* its priority group */
    uint8_t prio; /* its priority */
};

/* What is appended is taken out later in the turn, or stays: in between is the
 * moment at which a queue is longest. */
static inline void
dp_queue_note_peak(struct dp_queue *queue)
{
    if (queue->bytes > queue->peak)
        queue->peak = queue->bytes;
}

/* The order of members follows who reads them together.  What comes of the
 * plan for every frame is copied here, ready for use. */
struct dp_port {
    /* As the egress port of a frame: */
    const struct dp_plan_port *conf; /* in dp->plan; null: not in a plan */
    struct netdev *netdev;           /* null: interface is absent */
    uint8_t prio_to_queue[N_PRIO];   /* of conf */
    uint32_t max_frame_bytes;        /* of conf; 0 without a netdev, and
                                        while wd_tx or no_send is not: all
                                        frames are looked at more closely
                                        then */
    uint16_t slot;                   /* index in the bridge */
    bool all_vlans;                  /* a trunk of every VLAN */
    uint8_t may_act;                 /* bit p: frames of p may leave otherwise
                                        than they came, whatever the VLAN */
    uint8_t may_tag;                 /* bit p: and with another tag */
    uint8_t ready;                   /* bit q: queue q has a frame */
    uint8_t paused_q;                /* bit q: queue q is paused by the peer */
    uint8_t shaped_q;                /* bit q: queue q has a maximum rate */
    uint8_t stop_q;                  /* bit q: a pause may stop queue q */
    uint8_t look_q;                  /* bit q: a pause that comes while q is
                                        sent on is to stop it: see tx.c */
    uint8_t xoff;                    /* bit g: group g is in XOFF, as noted */
    bool ctl_wait;    /* a MAC control frame was refused: no data before it */
    bool down;        /* said to be down, and nothing was sent since */
    bool attached;    /* is, or was, in a plan */
    bool is_behind;   /* its receive ring is too full: see dp_pause_ring() */
    bool is_wired;    /* sends on to the cable, not to its provider */
    bool no_send;     /* a controller said that nothing is to leave here */
    uint8_t n_again;  /* refusals in a row, for the time of the next try */
    uint8_t n_cut;    /* batches in a row that MAC control cut short */
    uint8_t n_unread; /* full batches in a row that came from a provider
                         which may hide a pause behind them */
    /* As its ingress port: */
    bool no_recv; /* a controller said that nothing is to be received */
    struct dp_class pcp_to_class[8]; /* by PCP; the same for all if it is not
                                        trusted */
    struct dp_class untagged;        /* of what carries none */
    uint8_t prio_to_pg[N_PRIO];      /* of conf */
    uint8_t wd_rx;                   /* bit p: a storm discards p that comes */
    uint8_t wd_tx;                   /* bit p: and p that is to leave here */
    bool trust_dscp;                 /* of conf */
    struct dp_queue queue[N_QUEUE];  /* egress queues */
    struct sched sched;              /* transmission selection */
    struct shaper shaper;            /* line rate; rate_bps 0: not shaped */
    struct shaper q_shaper[N_QUEUE]; /* maximum rates; 0: none */
    struct buf_group group[N_PG];    /* ingress priority groups */
    struct dp_port_counters n;       /* what happened */
    uint64_t late_run[N_PRIO];       /* octets received in this pause of the
                                        peer */
    counter_t late_peak[N_PRIO];     /* most of late_run */
    struct dp_cable *cable;          /* its own; null: never needed one */
    uint64_t delay_ns;               /* of the cable; 0: none is emulated */
    uint64_t retry_ns;               /* when to try again after a refusal */
    uint64_t leave_ns;               /* leaving: when to give up */
    uint8_t stops[N_PRIO]; /* bit q: queue q waits for the pause of p */
    struct pfc pfc;        /* pause state, both directions */
    struct dp_watch watch; /* storms, endless pauses, drills */
    uint8_t mac[6];        /* source of our MAC control frames */
    uint32_t of_config;    /* OFPPC_* */
    bool of_link_down;     /* as the control thread says */
    struct pkt ctl;        /* descriptor of such a frame ... */
    uint8_t ctl_frame[MACCTL_LEN]; /* ... and its octets: no pool needed */
};

#endif
