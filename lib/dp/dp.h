/* SPDX-License-Identifier: Apache-2.0
 *
 * The datapath of one bridge: a value.  No globals, threads, sockets or
 * clock.  Whoever owns it calls dp_run() with the time; the daemon from a
 * thread with the real clock, a test from a loop with a virtual one.
 *
 * Threads: "control" makes, publishes, reads counters, takes events; "dp" is
 * whoever calls dp_run().  They may be the same.
 */
#ifndef DP_DP_H
#define DP_DP_H

#include "base/counter.h"
#include "dp/plan.h"
#include "dp/watch.h"
#include "flow/mactab.h"
#include "pkt/pkt.h"

#include <stdbool.h>
#include <stdint.h>

struct dp;
struct dp_port;

/* Why a frame did not come out again.  One counter each, per port: reasons at
 * ingress count on the port it came in on, at egress on the one it was for. */
enum dp_drop {
    DP_DROP_RUNT,              /* in: shorter than an Ethernet header */
    DP_DROP_RESERVED,          /* in: reserved group address */
    DP_DROP_SOURCE,            /* in: its source is a group address */
    DP_DROP_VLAN,              /* in: VLAN not allowed on the port */
    DP_DROP_INGRESS_LIMIT,     /* in: lossy group at its limit */
    DP_DROP_HEADROOM_EXCEEDED, /* in: a violation */
    DP_DROP_NO_PORT,           /* in: nowhere to go (own port, or none) */
    DP_DROP_WATCHDOG_RX,       /* in: in a storm of that port */
    DP_DROP_UNKNOWN_UNICAST,   /* in: lossless, would be flooded */
    DP_DROP_NO_FLOW,           /* in: no entry of a flow table matched */
    DP_DROP_FLOW,              /* in: the flow tables send it nowhere */
    DP_DROP_METER,             /* in: above the rate of a meter */
    DP_DROP_TTL,               /* in: its TTL was not to be decremented */
    DP_DROP_NO_BUFFER,         /* in: no buffer for a copy */
    DP_DROP_CONTROLLER,        /* in: was for a controller, its ring is full */
    DP_DROP_PORT_CONFIG,       /* in, eg: a controller closed the port */
    DP_DROP_NO_CLONE,          /* eg: no descriptor for a copy of a flood */
    DP_DROP_QUEUE_LIMIT,       /* eg: lossy queue at its limit */
    DP_DROP_WATCHDOG_TX,       /* eg: in a storm of that port */
    DP_DROP_WRED,              /* eg: early, as the queue's profile says */
    DP_DROP_OVERSIZE,          /* eg: longer than the port may send */
    DP_DROP_PORT_DOWN,         /* eg: interface gone while it was queued */
    DP_DROP_PORT_REMOVED,      /* eg: port taken out of the bridge */
    DP_N_DROPS,
};

/* "ingress-limit" and so on, as shown to people and in JSON. */
const char *dp_drop_name(enum dp_drop);

/* Levels (held, q_frames, q_bytes) are those at the end of the last turn. */
struct dp_port_counters {
    counter_t rx_frames, rx_bytes;    /* data frames received */
    counter_t tx_frames, tx_bytes;    /* data frames sent */
    counter_t drops[DP_N_DROPS];      /* frames, by reason */
    counter_t drop_bytes[DP_N_DROPS]; /* and their octets: as received, or as
                                         they would have been sent */
    counter_t copies;        /* frames that this port's receptions were
                                multiplied by beyond one (floods):
                                rx + copies = tx + held + drops +
                                to_controller when summed over the bridge,
                                packet-outs being copies there */
    counter_t to_controller; /* frames that were handed to controllers */
    counter_t held; /* frames in this port's egress queues, and those on
                       its cable: */
    counter_t cable_frames, cable_bytes; /* data on a cable that is emulated */
    counter_t pg_rx_frames[N_PG], pg_rx_bytes[N_PG]; /* received */
    counter_t pg_drops[N_PG];      /* limit and headroom drops of the group */
    counter_t pg_drop_bytes[N_PG]; /* and their octets */
    counter_t pg_violations[N_PG]; /* of pg_drops: at full headroom */
    counter_t q_tx_frames[N_QUEUE], q_tx_bytes[N_QUEUE]; /* sent */
    counter_t q_drops[N_QUEUE];                    /* dropped at the queue */
    counter_t q_drop_bytes[N_QUEUE];               /* and their octets */
    counter_t queue_drops[N_QUEUE][DP_N_DROPS];    /* q_drops by reason */
    counter_t q_ecn_marked[N_QUEUE];               /* got CE there */
    counter_t q_frames[N_QUEUE], q_bytes[N_QUEUE]; /* queued now */
    counter_t q_peak[N_QUEUE];                     /* most bytes ever queued */
    counter_t violations[N_PRIO];  /* lossless frames lost, by priority; what a
                                      receive ring lost has none, and is in
                                      the netdev's statistics */
    counter_t late_frames[N_PRIO]; /* received while the peer was told to
                                      pause the priority: what was under way,
                                      or a peer that does not obey */
    counter_t late_bytes[N_PRIO];  /* and their octets */
};

/* High-water marks of a port since they last began anew; one set of them is
 * kept, of which whoever wants more makes more (dp_port_peaks_restart). */
struct dp_port_peaks {
    uint64_t pg_bytes[N_PG];     /* held by a group */
    uint64_t pg_headroom[N_PG];  /* of that: in its headroom */
    uint64_t q_bytes[N_QUEUE];   /* queued */
    uint64_t late_bytes[N_PRIO]; /* received in one pause of the peer that
                                    was in force without a gap */
};

enum dp_event_type {
    DP_EV_XOFF,      /* a group tripped */
    DP_EV_XON,       /* a group let go */
    DP_EV_VIOLATION, /* a lossless frame was lost */
    DP_EV_RX_PAUSE,  /* a peer paused a priority of ours */
    DP_EV_RX_RESUME, /* the pause ended */
    DP_EV_PORT_DOWN, /* sending said that the interface is gone */
    DP_EV_STORM,     /* the watchdog detected a storm of a priority */
    DP_EV_RESTORED,  /* it is over, or the watchdog was stopped */
    DP_EV_STUCK,     /* the guard: a group is in XOFF for too long */
};

struct dp_event {
    enum dp_event_type type; /* what */
    uint64_t now_ns;         /* when, by the datapath's clock */
    uint16_t port;           /* slot */
    uint8_t index;           /* group (XOFF, XON, STUCK) or priority */
    enum dp_drop reason;     /* VIOLATION */
    uint64_t held_bytes;     /* of groups: occupancy */
    uint64_t limit_bytes;    /* of groups: limit that held */
    struct dp_cause cause;   /* of groups: where most of it lies */
    uint64_t lasted_ns;      /* what ended, or goes on too long: how long it
                                took till now */
};

struct dp_conf {
    uint32_t n_buffers;   /* frame buffers */
    uint32_t n_clones;    /* descriptors for copies */
    uint32_t frame_bytes; /* largest frame */
    uint32_t mac_entries; /* room of the MAC table */
    uint64_t seed;        /* of its hash, and of WRED */
    uint32_t n_events;    /* room of the event ring */
};

/* Control.  Null when memory is short. */
struct dp *dp_create(const struct dp_conf *);
/* The dp thread has ended.  Frees held frames and the last plan that was
 * published, adopted or not; older plans, netdevs and port states stay the
 * caller's, who may have freed the states before. */
void dp_destroy(struct dp *);
struct pkt_pool *dp_pool(struct dp *);

/* Control: state for a port that is about to be in a plan; null: no memory. */
struct dp_port *dp_port_create(void);
void dp_port_destroy(struct dp_port *);

/* Control: hands a plan over.  The dp adopts it at the start of its next
 * turn: releases the pauses of ports that go, drops what they had queued,
 * takes over thresholds under traffic.  Fails never.  A plan that was
 * published before and not adopted yet is passed over.  A port keeps its slot
 * and its state as long as it lives; a state serves one life of a port. */
void dp_publish(struct dp *, struct dp_plan *);
/* Control: the generation that the dp has adopted, and whose leaving ports
 * have let their peers go (or tried for 10 ms).  Once it is >= that of a
 * publish, everything that only earlier plans named may be freed; the plans
 * themselves too (dp_plan_destroy). */
uint64_t dp_generation(const struct dp *);

/* Control: runs fn(dp, arg) on the dp thread between two turns.  `done` is
 * set (release) after it ran.  False: the mailbox is full. */
struct dp_call {
    void (*fn)(struct dp *, void *arg);
    void *arg;
    int done; /* 0 -> 1, __atomic, release; pairs with the waiter's acquire */
};
bool dp_post(struct dp *, struct dp_call *);

/* dp: one turn at now_ns (never goes back).  Returns the next moment at which
 * it wants to run: now_ns if there is more to do at once, CLOCK_NEVER if only
 * a frame or a message can give it work. */
uint64_t dp_run(struct dp *, uint64_t now_ns);
/* dp: frames that the last turn read. */
uint32_t dp_n_read(const struct dp *);
/* dp: sends XON for every pause that is held on a peer; true when all went. */
bool dp_release_pauses(struct dp *, uint64_t now_ns);
/* dp: slots whose last send found the kernel full, to be polled for POLLOUT;
 * fills up to max, returns how many. */
uint32_t dp_blocked_ports(const struct dp *, uint16_t slots[], uint32_t max);

/* Control: takes the oldest event; false when there is none. */
bool dp_event_get(struct dp *, struct dp_event *);
/* dp: whether there is an event to take: the thread wakes the taker then. */
bool dp_event_pending(const struct dp *);
/* Any: events that did not fit. */
uint64_t dp_events_lost(const struct dp *);

/* Control: how long a frame could lie in a ring unseen, since the last reset:
 * the gap between two turns when the first had more to do at once, or how late
 * a turn was for its deadline.  Turns that nothing was waiting for, as far as
 * the dp can know, are not counted. */
struct dp_stall {
    counter_t max_ns;   /* the longest */
    counter_t p9999_ns; /* 99.99 percentile, rounded up by 1/8 at most; the
                           longest while there are fewer than 10,000 turns */
    counter_t n_turns;  /* turns that were counted */
};
const struct dp_stall *dp_stall(const struct dp *);
/* dp (or through dp_post): begins anew. */
void dp_stall_reset(struct dp *);

/* Control, once the last plan was acknowledged: room of the cable that the
 * state has; 0: it has none. */
uint64_t dp_port_cable_bytes(const struct dp_port *);

/* Any thread: live numbers of a port. */
const struct dp_port_counters *dp_port_counters(const struct dp_port *);
const struct pfc *dp_port_pfc(const struct dp_port *);
const struct buf_group *dp_port_group(const struct dp_port *, int pg);
/* The default pool of the memory; one of all; and the headroom in use. */
const struct buf_pool *dp_buf_pool(const struct dp *);
const struct buf_pool *dp_buf_pool_at(const struct dp *, unsigned i);
const struct buf_hdrm *dp_buf_hdrm(const struct dp *);

/* Any thread: the marks. */
void dp_port_peaks(const struct dp_port *, struct dp_port_peaks *out);
/* dp (or through dp_post): the marks of a port begin anew, from what it holds
 * now; so do the marks of the pools; and the record of the longest and the
 * latest pauses of a port begins anew, without any. */
void dp_port_peaks_restart(struct dp_port *);
void dp_pool_peaks_restart(struct dp *);
void dp_port_pauses_restart(struct dp_port *);

/* dp (or through dp_post): the MAC table. */
struct mactab *dp_mactab(struct dp *);

/* dp (or through dp_post): does rx + copies = tx + held + drops +
 * to_controller hold for the bridge, do group charges equal the bytes held, do
 * queue counts equal their lists?  Fills *out; true when everything adds up.
 */
struct dp_audit {
    uint64_t rx, copies, tx, held, drops; /* frames, whole bridge, ports that
                                             were removed included */
    uint64_t drops_by[DP_N_DROPS];        /* drops, by reason */
    uint64_t to_controller;               /* frames handed to controllers */
    uint64_t on_cable; /* of held: on cables that are emulated */
    uint64_t charged_bytes, held_bytes; /* groups against frames held */
    bool ok;                            /* everything adds up */
};
bool dp_audit(struct dp *, struct dp_audit *out);

#endif
