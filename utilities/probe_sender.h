/* SPDX-License-Identifier: Apache-2.0
 *
 * The sending half of a probe: flows, each with its own rate, that share one
 * link, and stop by priority while the peer pauses it.  It makes frames only
 * at the moment at which they can leave, so a pause leaves nothing behind to
 * be sent later.  Pure: is told the time and hands frames out.  One thread.
 */
#ifndef UTILITIES_PROBE_SENDER_H
#define UTILITIES_PROBE_SENDER_H

#include "base/rng.h"
#include "pkt/pkt.h"
#include "probe_conf.h"
#include "qos/shaper.h"

#include <stdbool.h>
#include <stdint.h>

/* Where a flow stands; put back when the kernel does not take its frame. */
struct probe_flow_pos {
    uint64_t seq;      /* next number to use */
    uint64_t held_seq; /* number that was overtaken, when have_held */
    bool have_held;    /* held_seq goes next */
    bool again;        /* the number before goes once more */
    struct rng rng;    /* draws from the size mix */
};

enum probe_flow_state {
    PROBE_FLOW_RUNNING, /* has more to send */
    PROBE_FLOW_ENDED,   /* its last frame left */
    PROBE_FLOW_CUT,     /* was still paused when the drain time was over */
};

struct probe_tx_flow {
    const struct probe_flow_conf *conf; /* what is wanted; borrowed */
    uint8_t src[6];                     /* source MAC */
    struct shaper shaper;               /* its rate */
    struct probe_flow_pos pos;          /* next frame */
    enum probe_flow_state state;        /* whether there is one */
    uint64_t start_ns;                  /* when it may begin */
    uint64_t end_ns;                    /* when it sends its last frame */
    uint64_t sent;                      /* frames that left, all of them */
    uint64_t bytes;                     /* their octets */
    uint64_t skipped;                   /* numbers left out on purpose */
    uint64_t repeated;                  /* of sent: repeated on purpose */
    uint64_t corrupted;                 /* of sent: changed on purpose */
    uint64_t first_ns, last_ns;         /* when the first, newest frame left */
    uint64_t longest_gap_ns;            /* longest time between two frames */
};

/* A frame that was handed out and may have to be taken back. */
struct probe_slot {
    struct probe_tx_flow *flow;     /* whose */
    struct probe_flow_pos before;   /* flow->pos before it */
    uint64_t skipped;               /* numbers left out before it */
    bool repeated, corrupted, last; /* what it counts as */
};

struct probe_sender {
    struct probe_tx_flow flows[PROBE_MAX_FLOWS]; /* in order of options */
    uint32_t n_flows;                            /* in use */
    uint32_t turn;            /* flow that is asked first next time */
    struct shaper link;       /* the link's rate, data frames only */
    uint64_t drain_ns;        /* see probe_conf */
    uint64_t refused;         /* frames taken back: the kernel was full */
    uint64_t no_buffer;       /* turns in which no buffer was free */
    uint64_t by_prio[N_PRIO]; /* frames that left */
    struct probe_slot slots[PKT_BATCH]; /* the batch that is out */
};

/* Flows begin at now_ns.  `conf` is borrowed. */
void probe_sender_start(struct probe_sender *, const struct probe_conf *,
                        const uint8_t mac[6], uint64_t now_ns);

/* Makes up to PKT_BATCH frames that are due, in pkts[].  `paused`: bit p, no
 * frame of priority p. */
uint32_t probe_sender_fill(struct probe_sender *, struct pkt_pool *,
                           uint8_t paused, uint64_t now_ns,
                           struct pkt *pkts[PKT_BATCH]);

/* Of the n frames of the last fill, n_sent left; the others are unmade.  The
 * caller frees all n. */
void probe_sender_done(struct probe_sender *, struct pkt *const pkts[],
                       uint32_t n, uint32_t n_sent, uint64_t now_ns);

/* When something may be due; CLOCK_NEVER when all flows have ended. */
uint64_t probe_sender_deadline(const struct probe_sender *, uint8_t paused,
                               uint64_t now_ns);

bool probe_sender_ended(const struct probe_sender *);

/* The flows' time is over: each sends its last frame, also after a pause. */
void probe_sender_finish(struct probe_sender *, uint64_t now_ns);
/* Stops: every flow sends its last frame at once, unless it is paused. */
void probe_sender_stop(struct probe_sender *, uint64_t now_ns);

#endif
