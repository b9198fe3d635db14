/* SPDX-License-Identifier: Apache-2.0
 *
 * A deterministic simulator of fabrics of Sluice switches on a virtual clock.
 *
 * Every switch is a real `struct dp` with ports in memory; every end station
 * sends flows, honours PFC per priority and checks what it receives.  The
 * engine (engine.c) always runs the node whose next moment is the earliest,
 * and after every turn of a switch checks what must hold at every instant.
 * Everything follows from the seed.
 *
 * A turn takes turn_ns (of a switch, if given, sw_turn_ns): what a node sends
 * leaves at the end of its turn, and it does not look again before.  After a
 * turn a node may stall, for at most stall_ns: the scheduler of the host had
 * something else to do.  Headrooms are computed for that stall.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "base/clock.h"
#include "base/rng.h"
#include "conf/conf.h"
#include "dp/dp.h"
#include "netdev/netdev.h"
#include "qos/pfc.h"
#include "qos/shaper.h"
#include "sim/world.h"

#include <stdbool.h>
#include <stdint.h>

#define SIM_MAX_SWITCHES 16
#define SIM_MAX_STATIONS 48
#define SIM_MAX_FLOWS    64
#define SIM_MAX_PORTS    32  /* of a switch */
#define SIM_MAX_INFLIGHT 256 /* PFC frames on one cable */
#define SIM_MAX_STEPS    4000000
#define SIM_BROADCAST    UINT16_MAX /* as the destination of a flow */

/* What can be wrong with a run. */
enum sim_fault {
    SIM_AUDIT,      /* conservation, charges, counts: dp_audit() */
    SIM_VIOLATION,  /* a switch lost a lossless frame (and said so) */
    SIM_UNREPORTED, /* a lossless frame was lost and no one said so, or was
                       reported and not lost */
    SIM_REACTION,   /* too many frames left after a PFC frame had come */
    SIM_LOSS,       /* sent is not received plus dropped */
    SIM_ORDER,      /* reordered or duplicated */
    SIM_PAYLOAD,    /* not the frame that was sent */
    SIM_OVERFLOW,   /* a station's own buffer ran over */
    SIM_PAUSED,     /* at the end someone is still paused, or an XOFF had no
                       XON */
    SIM_NOT_EMPTY,  /* at the end something is still held */
    SIM_STUCK,      /* it does not end */
    SIM_EXPECT,     /* something that the scenario expects did not happen */
    SIM_N_FAULTS,
};

struct sim;
struct sim_port;

enum sim_kind { SIM_SWITCH, SIM_STATION };

struct sim_node {
    struct sim *sim;        /* the fabric */
    enum sim_kind kind;     /* what it is part of */
    uint16_t index;         /* in sim->sw or sim->st */
    uint64_t wake_ns;       /* next moment at which it runs */
    uint64_t not_before_ns; /* in a turn or stalled until then */
    uint64_t n_turns;       /* turns run */
};

/* A PFC frame on its way to a port, as the wire saw it. */
struct sim_pfc {
    uint64_t due_ns;       /* when it lies in the port's ring */
    uint8_t enable;        /* bit p: priority p */
    uint16_t time[N_PRIO]; /* quanta */
};

/* One end of a cable. */
struct sim_port {
    struct sim_node *node; /* whose port it is */
    struct netdev *dev;    /* the mem port */
    struct sim_port *peer; /* other end */
    bool connected;        /* to it */
    uint64_t rate_bps;     /* of the link */
    uint64_t delay_ns;     /* of the cable */
    bool emulated;         /* the switch makes that delay, not the wire */
    uint8_t honoured;      /* priorities that it has to obey */
    /* What the wire knows of its pauses, checked against what leaves: */
    struct sim_pfc inflight[SIM_MAX_INFLIGHT]; /* a ring */
    uint32_t in_head, in_tail;                 /* not reduced */
    uint64_t until_ns[N_PRIO];                 /* paused until */
    uint32_t n_after[N_PRIO]; /* frames that left since the pause came */
    uint64_t n_tx[N_PRIO];    /* data frames that left */
};

struct sim_switch {
    struct sim_node node;         /* first */
    char name[CONF_NAME_MAX + 1]; /* for messages */
    struct conf *conf;            /* has one bridge */
    struct conf_bridge *bridge;   /* its configuration */
    struct dp *dp;                /* the switch */
    struct dp_plan *plan;         /* published */
    struct dp_plan *old_plan;     /* until the new one is adopted; or null */
    uint32_t n_ports;             /* slots in use */
    struct sim_port port[SIM_MAX_PORTS];   /* by slot */
    struct conf_port *cp[SIM_MAX_PORTS];   /* configuration, by slot */
    struct dp_port *state[SIM_MAX_PORTS];  /* run-time state, by slot */
    uint64_t first_xoff_ns[SIM_MAX_PORTS]; /* first XOFF event, or never */
    uint64_t first_xon_ns[SIM_MAX_PORTS];  /* first XON event, or never */
    uint64_t last_xon_ns[SIM_MAX_PORTS];   /* last XON event, or 0 */
    uint64_t n_xoff[SIM_MAX_PORTS][N_PG];  /* events */
    uint64_t n_xon[SIM_MAX_PORTS][N_PG];   /* events */
    uint64_t n_rx_pause, n_rx_resume;      /* events */
    uint64_t n_violations;                 /* events */
    struct sim_tables *tables;             /* openflow.c; null: none */
};

struct sim_flow {
    uint16_t src, dst;         /* stations */
    uint8_t prio;              /* PCP */
    uint16_t vid;              /* VLAN id of its tag; 0: priority tag */
    bool lossless;             /* must arrive whole */
    uint32_t min_len, max_len; /* octets without FCS */
    uint64_t rate_bps;         /* offered */
    uint64_t start_ns;         /* of the first frame */
    uint32_t count;            /* frames */
    /* Sending: */
    uint32_t next_seq; /* of the next frame */
    uint64_t due_ns;   /* when it is offered */
    /* Receiving, by station (one, unless broadcast): */
    uint8_t ecn;       /* of its frames, if they are IPv4 */
    uint64_t n_marked; /* frames that came with CE, and left without */
    uint32_t expect[SIM_MAX_STATIONS]; /* next sequence number */
    uint64_t n_rx;                     /* frames at their destinations */
    uint64_t n_rx_bytes;               /* and their octets */
    uint64_t n_missing;                /* gaps in the sequence */
};

struct sim_station {
    struct sim_node node; /* first */
    struct sim_port port; /* its only one */
    uint8_t mac[6];       /* its address */
    struct pfc pfc;       /* both directions */
    bool untagged;        /* sends and gets untagged frames, of one priority */
    uint8_t prio;         /* which, then: that of the port above */
    struct shaper shaper; /* its own line rate */
    uint16_t flows[SIM_MAX_FLOWS]; /* flows that it sends */
    uint16_t n_flows;              /* how many */
    uint16_t next_flow;            /* round robin */
    /* A slow receiver: lossless frames fill a buffer. */
    uint64_t drain_bps;      /* 0: not slow */
    uint64_t buffer_bytes;   /* its size */
    uint64_t xoff_bytes;     /* pauses the switch above */
    uint64_t xon_bytes;      /* and lets it go at or below */
    uint64_t held_bits;      /* what lies in it */
    uint64_t drained_ns;     /* brought up to date */
    uint64_t held_peak_bits; /* most */
    bool xoff;               /* state */
    /* One pause by hand: */
    uint64_t pause_at_ns; /* CLOCK_NEVER: none */
    uint64_t pause_ns;    /* how long */
    uint8_t pause_prios;  /* which */
    /* Received: */
    uint64_t n_rx; /* data frames, flooded ones included */
    uint64_t n_tx; /* data frames */
};

struct sim {
    struct sim_world world; /* of random fabrics */
    uint64_t seed;          /* of everything */
    struct rng rng;         /* for the building and the stalls */
    uint64_t now_ns;        /* virtual time */
    uint64_t limit_ns;      /* it must have ended by then */
    uint64_t turn_ns;       /* a turn takes so long */
    uint64_t sw_turn_ns;    /* of a switch; 0: likewise */
    uint32_t ring_slots;    /* of receive rings; 0: they hold anything */
    uint64_t stall_ns;      /* longest stall */
    uint32_t stall_one_in;  /* one turn in so many stalls; 0: none */
    uint32_t tx_limit;      /* frames that a provider takes at a time */
    bool emulated;          /* switches emulate their cables */
    bool line;              /* octets take their time on cables */
    uint8_t lossless;       /* priorities with PFC */
    bool use_pause;        /* 802.3x PAUSE in place of PFC; lossless is 0xff */
    bool asymmetric;       /* switches honour all eight priorities */
    uint32_t headroom_pct; /* of what the rule asks; 100 */
    uint32_t lose_one_in;  /* sabotage: lossless frames lost on cables */
    uint32_t lose_pfc_one_in; /* trouble: PFC frames lost on cables */
    uint32_t repeat_one_in;   /* sabotage: frames that come twice */
    uint32_t lie_one_in;      /* sabotage: frames whose octets are changed */
    bool deaf;                /* sabotage: stations ignore PFC frames */
    uint64_t cook_at_step;    /* sabotage: a queue counts a frame too many */
    uint64_t cut_short_ns;    /* sabotage: the end is checked after so long */
    bool hung;                /* sabotage: stations pause for ever */
    bool blind;             /* sabotage: switches ignore how full rings are */
    bool watchdogs;         /* that act; hung stations let go in the end */
    uint32_t replan_one_in; /* a switch gets new thresholds before one turn in
                               so many; 0: never */
    uint64_t n_plans;       /* plans published under traffic */
    uint32_t n_sw, n_st, n_flows;                               /* how many */
    struct sim_switch *sw[SIM_MAX_SWITCHES];                    /* owned */
    struct sim_station *st[SIM_MAX_STATIONS];                   /* owned */
    struct sim_node *node[SIM_MAX_SWITCHES + SIM_MAX_STATIONS]; /* all */
    uint32_t n_nodes;                                           /* how many */
    struct sim_flow flow[SIM_MAX_FLOWS];                        /* all */
    struct pkt_pool *st_pool; /* frames of the stations */
    uint64_t n_steps;         /* turns run, all nodes */
    uint64_t digest;          /* of all deliveries */
    uint32_t most_after;   /* most frames that left after a PFC frame came */
    uint32_t headroom_use; /* most of a headroom ever used, per cent */
    uint64_t n_pauses;     /* XOFF events of all switches */
    uint64_t n_lost_on_cable;        /* by sabotage */
    uint32_t n_faults[SIM_N_FAULTS]; /* what went wrong */
    char first_fault[256];           /* the first, in words */
    int verbose;                     /* 1: summary, 2: events too */
};

/* --- engine.c ---------------------------------------------------------- */
struct sim *sim_create(uint64_t seed);
void sim_destroy(struct sim *);
/* Runs until nobody has anything to do, or something is badly wrong. */
void sim_run(struct sim *);
/* The same up to a moment, which is the time then. */
void sim_run_until(struct sim *, uint64_t t);
/* Lets a node run at t, or when its turn or stall has ended. */
void sim_poke(struct sim_node *, uint64_t t);
/* How long a turn of the node takes. */
uint64_t sim_turn(const struct sim_node *);
void sim_fault(struct sim *, enum sim_fault, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool sim_ok(const struct sim *);
const char *sim_fault_name(enum sim_fault);
void sim_digest(struct sim *, uint64_t v);

/* --- build.c: fabrics --------------------------------------------------- */

struct sim_switch *sim_add_switch(struct sim *, const char *name);
struct sim_station *sim_add_station(struct sim *);
/* A cable; returns the slot that each switch gave to it. */
void sim_link_switches(struct sim *, struct sim_switch *a,
                       struct sim_switch *b, uint64_t rate_bps,
                       uint64_t delay_ns, uint32_t *slot_a, uint32_t *slot_b);
uint32_t sim_link_station(struct sim *, struct sim_switch *,
                          struct sim_station *, uint64_t rate_bps,
                          uint64_t delay_ns);
/* Makes the flow known to its sender. */
struct sim_flow *sim_add_flow(struct sim *, uint16_t src, uint16_t dst);
/* The stall that headrooms are computed for. */
uint64_t sim_stall(const struct sim *);
/* All is configured: headrooms, plans, ports.  False (and a fault) when the
 * configuration is refused. */
bool sim_start(struct sim *);
/* The configuration of a running switch has changed: publishes it. */
void sim_replan(struct sim *, struct sim_switch *);

/* --- wire.c: cables ------------------------------------------------------ */
/* Wires two ports whose mem ports exist. */
void sim_connect(struct sim *, struct sim_port *a, struct sim_port *b);

/* --- station.c ----------------------------------------------------------- */

void sim_station_start(struct sim_station *);
/* One turn; when it wants the next. */
uint64_t sim_station_run(struct sim_station *, uint64_t now_ns);
uint32_t sim_frame_build(const struct sim *, const struct sim_flow *,
                         uint32_t seq, uint8_t *frame);
/* The flow and the sequence number of a data frame; null for others. */
struct sim_flow *sim_frame_flow(struct sim *, const uint8_t *frame,
                                uint32_t len, uint32_t *seq);

/* --- switch.c ------------------------------------------------------------ */

uint64_t sim_switch_run(struct sim_switch *, uint64_t now_ns);
/* Nothing may be held, paused or pausing any more. */
void sim_switch_check_end(struct sim_switch *);
uint64_t sim_switch_drops(const struct sim_switch *);
uint64_t sim_switch_drops_of(const struct sim_switch *, enum dp_drop);
uint64_t sim_switch_violations(const struct sim_switch *);
/* Adds what its receive rings lost, and how often they paused a peer. */
void sim_switch_rings(const struct sim_switch *, uint64_t *n_lost,
                      uint64_t *n_pauses);
/* Lossless: by watchdogs, and to unknown addresses. */
uint64_t sim_switch_discards(const struct sim_switch *);

/* --- check.c ------------------------------------------------------------- */

/* The end of a run: sums, sequences, pauses, emptiness. */
void sim_check_end(struct sim *);
void sim_print(const struct sim *);

#endif
