/* SPDX-License-Identifier: Apache-2.0
 *
 * What the datapath watches on a port besides its frames: storms of the peer
 * (watchdog), endless pausing of ours (guard), and drills that make either on
 * purpose; what it tells of them, and who waits for whom.
 */
#ifndef DP_WATCH_H
#define DP_WATCH_H

#include "base/counter.h"
#include "dp/plan.h"
#include "qos/watchdog.h"

#include <stdbool.h>
#include <stdint.h>

struct dp;
struct dp_port;

/* Longest drill. */
#define DP_DRILL_MAX_NS (UINT64_C(600) * 1000000000)

/* Frames that passed or were lost in storms of a priority. */
struct dp_storm_count {
    counter_t tx_ok, tx_drop; /* of its queue: sent; of it: discarded */
    counter_t rx_ok, rx_drop; /* of its group: came; of it: discarded */
};

/* Where most of what a group holds lies: in which egress queue. */
struct dp_cause {
    uint16_t port;  /* slot; PKT_NO_PORT: nowhere, it holds nothing queued */
    uint8_t queue;  /* of it */
    uint64_t bytes; /* of the group, in that queue; worked out from a sample
                       when the queue is long */
};

/* A group's XOFF, until it is told. */
struct dp_trip {
    uint64_t now_ns;      /* when */
    uint64_t held_bytes;  /* occupancy then */
    uint64_t limit_bytes; /* limit then */
};

/* Of a port; written by the dp thread. */
struct dp_watch {
    struct watchdog dog;             /* storms */
    struct guard guard;              /* our own pausing */
    uint64_t poll_ns;                /* when the watchdog looks next */
    uint64_t xoff_ns[N_PG];          /* group in XOFF: since when */
    struct dp_trip trip[N_PG];       /* XOFFs ... */
    uint8_t untold;                  /* bit g: ... still to be told */
    uint8_t hold_q;                  /* drill, bit q: queue q is held */
    uint64_t hold_until_ns[N_QUEUE]; /* until when */
    uint64_t storm_until_ns[N_PRIO]; /* drill: pfc.forced, until when */
    counter_t tx_drop[N_PRIO];       /* discarded in storms, by priority */
    counter_t rx_drop[N_PRIO];       /* the same of what came in */
    /* Written together: odd while they are, so that a reader who saw another
     * number before than after reads once more. */
    counter_t changes;
    struct dp_storm_count done[N_PRIO]; /* in storms up to `base`; ok only */
    struct dp_storm_count last[N_PRIO]; /* in the last one up to there */
    struct dp_storm_count base[N_PRIO]; /* counters then ... */
    uint8_t base_q[N_PRIO];             /* ... of this queue ... */
    uint8_t base_pg[N_PRIO];            /* ... and this group */
};

/* A priority as `watchdog show` has it. */
struct dp_storm {
    bool is_watched;             /* the watchdog looks at it */
    bool is_stormed;             /* a storm goes on */
    uint8_t queue;               /* that it maps to */
    uint64_t n_detected;         /* ever */
    uint64_t n_restored;         /* ever */
    uint64_t began_ns;           /* the last one; 0: never */
    struct dp_storm_count total; /* of all storms */
    struct dp_storm_count last;  /* of the last one, present or past */
};

/* Any thread, while the port is in a plan: a storm that goes on counts up to
 * now. */
void dp_storm_get(const struct dp_port *, int prio, struct dp_storm *);
/* Any thread. */
const struct dp_watch *dp_port_watch(const struct dp_port *);

/* dp (or through dp_post): drills.  Each lasts ns <= DP_DRILL_MAX_NS from now;
 * one that runs is replaced.  False: there is no such port. */
bool dp_drill_storm(struct dp *, uint16_t slot, uint8_t prios, uint64_t ns);
bool dp_drill_hold(struct dp *, uint16_t slot, uint8_t queues, uint64_t ns);
/* Ends those of a port; its peer is let go. */
bool dp_drill_stop(struct dp *, uint16_t slot);
/* What is left of them now. */
struct dp_drills {
    uint8_t storm_prios;            /* bit p */
    uint8_t hold_queues;            /* bit q */
    uint64_t storm_left_ns[N_PRIO]; /* of each */
    uint64_t hold_left_ns[N_QUEUE]; /* of each */
};
bool dp_drill_get(struct dp *, uint16_t slot, struct dp_drills *);

/* A group that waits: its frames lie in an egress queue that is paused. */
struct dp_wait {
    uint16_t in_port;   /* slot and ... */
    uint8_t pg;         /* ... number of the group */
    bool xoff;          /* it pauses its own peer */
    uint16_t out_port;  /* slot and ... */
    uint8_t queue;      /* ... number of the queue that they lie in */
    uint8_t paused_for; /* bit p: the peer there pauses p; 0: a drill does */
    uint64_t bytes;     /* charged to the group, in that queue */
    uint32_t frames;    /* of them */
};
/* dp (or through dp_post): fills at most max, returns how many there are.
 * Of a queue at most DP_WAIT_FRAMES are looked at. */
#define DP_WAIT_FRAMES 65536
uint32_t dp_waits(struct dp *, struct dp_wait out[], uint32_t max);

#endif
