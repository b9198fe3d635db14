/* SPDX-License-Identifier: Apache-2.0
 *
 * What the stages of the datapath share with each other and with no one else.
 * Each stage is a file of its name; a frame passes them in this order:
 *
 *   rx -> parse -> admit -> lookup -> act -> enqueue        (batch by batch)
 *   tx -> release                                           (port by port)
 *
 * Everything here runs on the dp thread unless it says otherwise.
 */
#ifndef DP_DP_PRIV_H
#define DP_DP_PRIV_H

#include "base/clock.h"
#include "base/counter.h"
#include "base/ring.h"
#include "base/rng.h"
#include "dp/dp.h"
#include "dp/plan.h"
#include "dp/port.h"
#include "dp/set.h"
#include "dp/wire.h"
#include "flow/mactab.h"
#include "netdev/netdev.h"
#include "pkt/pkt.h"
#include "wire/eth.h"
#include "wire/macctl.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#define DP_N_CALLS 64 /* room of the mailbox */
/* Full batches in a row after which a port may send although its provider,
 * which cannot see a PFC frame that lies behind data (tap), has more: the
 * queue of a TAP is not longer than so many. */
#define DP_MAX_UNREAD 32
/* Batches in a row that MAC control may cut short, before one is sent whole.
 * More than one: it may be known of (AF_XDP) before it can be read. */
#define DP_MAX_CUT 2
/* When to try again a port that refused a frame, should no POLLOUT say so
 * earlier: doubling from the first to the last. */
#define DP_RETRY_MIN_NS (UINT64_C(50) * NS_PER_US)
#define DP_RETRY_MAX_NS (UINT64_C(10) * NS_PER_MS)
/* How often, and for how long, a port that leaves tries to get its last XON
 * out. */
#define DP_LEAVE_RETRY_NS (UINT64_C(200) * NS_PER_US)
#define DP_LEAVE_MAX_NS   (UINT64_C(10) * NS_PER_MS)

#define dp_likely(x)   __builtin_expect(!!(x), 1)
#define dp_unlikely(x) __builtin_expect(!!(x), 0)

/* --- the bridge -------------------------------------------------------- */

#define DP_STALL_BUCKETS 512

struct dp_stall_hist {
    struct dp_stall out;               /* what is shown */
    uint32_t bucket[DP_STALL_BUCKETS]; /* turns by lateness, log-linear */
    uint32_t n_fresh;                  /* turns since p9999 was worked out */
};

/* Frames of ports that were taken out, so that the sums stay whole. */
struct dp_retired {
    uint64_t rx, copies, tx;    /* frames, totals; packet-outs are copies */
    uint64_t to_controller;     /* the same */
    uint64_t drops[DP_N_DROPS]; /* by reason */
};

struct dp_of;

struct dp {
    uint64_t now_ns;     /* time of this turn */
    uint64_t promise_ns; /* what the last turn returned */
    bool rx_more;        /* a ring may hold more frames */
    uint32_t n_read;     /* frames of this turn */
    bool more;           /* this turn leaves work to do */
    uint8_t stop_prios;  /* bit p: on some port a pause may stop p */
    bool is_normal;      /* no frame need be looked at by flow tables */
    bool counts_normal;  /* an entry counts them all the same */
    struct dp_of *of;    /* OpenFlow */
    uint64_t wake_ns;    /* this turn: earliest deadline */
    struct dp_port *port[DP_MAX_PORTS]; /* by slot; null: free */
    /* By slot + 1 (MACTAB_NO_PORT is -1): ports that carry every VLAN. */
    struct dp_port *carries_all[DP_MAX_PORTS + 1];
    struct dp_set up;       /* ports that have a netdev */
    struct dp_set busy;     /* ports with frames queued */
    struct dp_set paused;   /* ports paused by their peer */
    struct dp_set xoff;     /* ports with a group in XOFF */
    struct dp_set due;      /* ports whose PFC state is to be
                               looked at */
    struct dp_set forget;   /* adopting: ports whose hosts are unknown now */
    struct dp_set asserted; /* ports that pause their peer */
    struct dp_set watched;  /* ports to be looked at by watch_ns */
    struct dp_set untold;   /* ports with an XOFF that is not told yet */
    bool is_untold;         /* there are some */
    uint64_t watch_ns;      /* when dp_watch_run has something to do */
    struct dp_set wired;    /* ports with a cable to be looked at */
    struct dp_set blocked;  /* ports to be polled for POLLOUT */
    struct buf_pool buf[DP_MAX_POOLS];     /* the memory that groups share; the
                                              first is the default one */
    struct buf_hdrm hdrm;                  /* the headroom that is in use */
    uint8_t dynamic_pools;                 /* bit i: lossy queues have limits
                                              by what pool i has free ... */
    uint64_t sure_bytes[DP_MAX_POOLS];     /* ... which is so much at least */
    uint64_t turn_bytes;                   /* most that batches of a turn take
                                              of it */
    uint32_t low_clones;                   /* see dp_room() */
    struct pkt_pool *pool;                 /* the frame buffers */
    struct mactab *mactab;                 /* who lives where */
    const struct dp_plan *plan;            /* adopted; null: none yet */
    struct dp_plan *pending;               /* published; release, pairs with
                                              the acquire of dp_adopt */
    uint64_t generation;                   /* acknowledged; release, pairs with
                                              the acquire of dp_generation */
    struct dp_port *leaving[DP_MAX_PORTS]; /* taken out, XON not yet sent */
    uint32_t n_leaving;                    /* how many */
    struct dp_retired retired;             /* of ports that are gone */
    struct dp_stall_hist stall;            /* lateness of turns */
    struct rng rng;                        /* of WRED */
    struct ring *calls;                    /* mailbox: struct dp_call * */
    struct ring *events;                   /* to control: struct dp_event */
};

/* What parse found in a frame and later stages of the batch need. */
struct dp_tag {
    uint16_t tpid; /* of the outer tag as received; 0: untagged */
    uint16_t tci;  /* of that tag; 0: untagged */
};

/* Frames that came in together on one port. */
struct dp_batch {
    uint32_t n;                    /* how many are left */
    struct pkt *pkt[PKT_BATCH];    /* the frames */
    struct dp_tag tag[PKT_BATCH];  /* what parse found */
    struct dp_port *to[PKT_BATCH]; /* what lookup found; null: flood */
    uint64_t pg[N_PG];             /* frames (DP_PG_FRAME each) and octets for
                                      each ingress group, until admission */
};
#define DP_PG_FRAME (UINT64_C(1) << 32)

/* --- stages ------------------------------------------------------------ */

/* rx.c: reads every port and takes what came through to the queues. */
void dp_rx(struct dp *);
/* parse.c: takes out MAC control, drops what may not enter, finds VLAN and
 * priority of the rest. */
void dp_parse(struct dp *, struct dp_port *in, struct dp_batch *);
/* admit.c: charges the ingress groups, drops what does not fit.  What takes a
 * frame out of the batch before it must use dp_forgo(). */
void dp_admit(struct dp *, struct dp_port *in, struct dp_batch *);
/* of.c: carries out changes and packet-outs. */
struct dp_of *dp_of_create(uint64_t seed);
void dp_of_destroy(struct dp_of *);
void dp_of_turn(struct dp *);
/* of.c: ports came or went, or have other numbers. */
void dp_of_adopt(struct dp *);
/* of.c: drops what came in where a controller wants nothing to be received. */
void dp_of_refuse(struct dp *, struct dp_port *in, struct dp_batch *);
/* of_run.c: runs frames through the flow tables: dp_flow(). */
void dp_of_run(struct dp *, struct dp_port *in, struct dp_batch *);
void dp_of_count(struct dp *, const struct dp_batch *);
/* of_run.c: whether flow tables are to see p, that would be dropped. */
bool dp_of_keeps(const struct dp *, const struct dp_port *in, struct pkt *p,
                 struct dp_tag, enum dp_drop);
/* lookup.c: learns, and finds where each frame belongs. */
void dp_lookup(struct dp *, struct dp_port *in, struct dp_batch *);
/* act.c: notes in p what `out` does to its tag. */
void dp_act(const struct dp_port *out, struct pkt *p, struct dp_tag);
/* mark.c: notes in p the DSCP that it leaves with. */
void dp_rewrite_dscp(const struct dp_plan_port *, struct pkt *p);
/* mark.c: a closer look at a frame for queue q: notes a mark, or drops it and
 * returns false. */
bool dp_may_enqueue(struct dp *, struct dp_port *, int q, struct pkt *);
/* mark.c: octets in a queue above which a frame needs a closer look, while its
 * pool has `sure` octets free at least. */
uint64_t dp_queue_limit(const struct dp_plan_queue *, uint64_t sure_bytes);
/* mark.c: keeps such limits right till the end of the turn that begins. */
void dp_follow_pools(struct dp *);
/* mark.c: the same when a pool was charged with more than the batches of this
 * turn. */
void dp_charged_more(struct dp *, unsigned pool);
/* enqueue.c: appends every frame, or copies of it, to the queues where they
 * belong. */
void dp_enqueue(struct dp *, struct dp_port *in, struct dp_batch *);
/* enqueue.c: appends one to the queue of its priority, as the port sends it.
 */
void dp_enqueue_one(struct dp *, struct dp_port *out, struct pkt *,
                    struct dp_tag);
/* enqueue.c: appends one to a queue, as it is. */
void dp_enqueue_to(struct dp *, struct dp_port *out, int q, struct pkt *);
/* tx.c: sends at most a batch from every port that has frames, and the rest of
 * the super-frame that it ends in. */
void dp_tx(struct dp *);
/* release.c: gives frames, or copies, that were sent back, and with the last
 * reference to each its charge. */
void dp_release_sent(struct dp *, struct pkt *const pkts[], uint32_t n);

/* --- pause.c ----------------------------------------------------------- */

/* A MAC control frame came in on the port. */
void dp_pause_rx(struct dp *, struct dp_port *, const struct macctl *);
/* Ends the pauses that have run out. */
void dp_pause_expire(struct dp *);
/* Sends the MAC control frames that are due. */
void dp_pause_tx(struct dp *);
/* Sends what is due on the port while the priorities of `xoff` have a group in
 * XOFF.  True when nothing is due any more; else *why says what the provider
 * did.  Touches the port only. */
bool dp_pause_try(struct dp_port *, uint8_t xoff, uint64_t now_ns,
                  enum netdev_tx *why);
/* Sends XON for everything that the port paused; true when nothing is. */
bool dp_pause_release(struct dp *, struct dp_port *);
/* Looks again at groups in XOFF: the memory that they share may be free. */
void dp_pause_update(struct dp *);
/* Sets dp->more and dp->wake_ns for what is due later. */
void dp_pause_deadline(struct dp *);
/* Which priorities are paused may have changed from `was`: tells, and works
 * out anew which queues stand still. */
void dp_pause_changed(struct dp *, struct dp_port *, uint8_t was);
/* Group pg of the port changed its mind: see dp_note_group. */
void dp_group_changed(struct dp *, struct dp_port *, int pg);

/* The receive ring of the port became too full, or is not any more.  When the
 * process is what cannot keep up, a frame that must not be lost is lost in a
 * ring that is full, long before a group is charged for it: the peer pauses
 * every lossless priority until the ring is half as full. */
void dp_pause_ring(struct dp *, struct dp_port *);

/* Tells the XOFFs of this turn, now that the frames lie where they go. */
void dp_pause_tell(struct dp *);

/* --- watch.c, cause.c --------------------------------------------------- */

/* Looks after storms, the guard and drills; at dp->watch_ns. */
void dp_watch_run(struct dp *);
/* What is to be looked at, or when, may have changed. */
void dp_watch_soon(struct dp *, struct dp_port *);
/* MAC control came: the watchdog hears of XOFFs. */
void dp_watch_rx(struct dp *, struct dp_port *, const struct macctl *);
/* Discards what came in in a storm: only while wd_rx is not 0. */
void dp_watch_filter(struct dp *, struct dp_port *in, struct dp_batch *);
/* Takes over the plan of the port. */
void dp_watch_configure(struct dp *, struct dp_port *, bool is_new);
void dp_find_cause(const struct dp *, uint16_t slot, uint8_t pg,
                   struct dp_cause *);

/* --- port.c ------------------------------------------------------------ */

/* The provider took a frame: the port is neither blocked nor down. */
void dp_port_sent(struct dp *, struct dp_port *);
/* The provider took less than it was given. */
void dp_port_refused(struct dp *, struct dp_port *, enum netdev_tx);
/* Works out the longest frame that needs no closer look. */
void dp_port_set_longest(struct dp_port *);
/* Shows the numbers of the queues, which the stages keep to themselves. */
void dp_port_show(struct dp_port *);
/* Drops everything that is queued on the port. */
void dp_port_flush(struct dp *, struct dp_port *, enum dp_drop);
/* Drops the frames of some priorities that are queued on the port. */
void dp_port_flush_prios(struct dp *, struct dp_port *, uint8_t prios,
                         enum dp_drop);
/* Counts a drop on `port` and gives the frame back. */
void dp_drop(struct dp *, struct dp_port *port, enum dp_drop, struct pkt *);
/* The same for one that was for queue q of the port. */
void dp_drop_queue(struct dp *, struct dp_port *, int q, enum dp_drop,
                   struct pkt *);
/* A copy of p for the port could not be made. */
void dp_drop_copy(struct dp_port *, const struct pkt *p);
/* Counts a drop at queue q whose frame is no one's any more. */
void dp_drop_bytes(struct dp_port *, int q, enum dp_drop, uint32_t bytes);
/* A lossless frame of that priority was lost. */
void dp_violation(struct dp *, struct dp_port *, uint8_t prio, enum dp_drop);

/* --- adopt.c, audit.c, stall.c, dp.c ----------------------------------- */

/* Takes over a plan that was published, if there is one. */
void dp_adopt(struct dp *);
/* Tries to finish the ports that leave. */
void dp_leave(struct dp *);
/* Does rx + copies = tx + held + drops hold?  The cheap part of the audit. */
bool dp_conserves(const struct dp *, struct dp_audit *);
/* Notes how late this turn is. */
void dp_stall_note(struct dp *, uint64_t now_ns);
void dp_event(struct dp *, const struct dp_port *, enum dp_event_type,
              uint8_t index);

/* What every frame needs. */
#include "dp/frame.h"

#endif
