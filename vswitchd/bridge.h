/* SPDX-License-Identifier: Apache-2.0
 *
 * A bridge that runs: its datapath, the thread, and what the control thread
 * knows of its ports.  Configuration (lib/conf) says what should be, this says
 * what is.  Control thread.
 */
#ifndef VSWITCHD_BRIDGE_H
#define VSWITCHD_BRIDGE_H

#include "base/log.h"
#include "conf/conf.h"
#include "counts.h"
#include "dp/dp.h"
#include "dp_thread.h"
#include "reactor.h"

#include <stdbool.h>
#include <stdint.h>

enum port_state { PORT_ABSENT, PORT_DOWN, PORT_UP };
const char *port_state_name(enum port_state);

/* Where the kernel loses frames. */
enum port_kernel {
    PORT_KERNEL_RING,    /* our receive ring was full */
    PORT_KERNEL_BACKLOG, /* its queue before that was */
    PORT_KERNEL_TX,      /* what it took from us did not leave */
    PORT_N_KERNEL,
};

struct port {
    char name[CONF_NAME_MAX + 1];   /* of the interface */
    uint16_t slot;                  /* index in the datapath */
    uint32_t ofport;                /* number in OpenFlow */
    bool is_local;                  /* the bridge's own: OFPP_LOCAL */
    const struct netdev_class *cls; /* its type */
    uint32_t ring_conf;             /* ring that is configured; 0: automatic */
    uint32_t ring_bytes;            /* ring that was asked for; 0: default */
    struct netdev *netdev;          /* null: the interface is absent */
    struct netdev_hold hold;        /* its back-pressure; rate 0: none */
    uint64_t socket_drops;          /* of the host, when that was set */
    struct dp_port *state;          /* of the datapath */
    struct conf_live live;          /* what the interface is like */
    enum port_state link;           /* as last heard */
    uint64_t created_ns;            /* when the port was added */
    uint32_t of_config;             /* OFPPC_* that the datapath was told */
    bool of_down;                   /* the same of the link */
    bool in_plan;                   /* the datapath knows its state */
    struct netdev_stats past;       /* of netdevs that were closed */
    uint64_t n_attached;            /* times that the interface was opened */
    uint64_t kernel_seen[PORT_N_KERNEL]; /* losses of the present netdev */
    uint64_t kernel_violations;    /* of all: while a class was lossless */
    uint64_t xoff_second;          /* the second that n_xoff counts in */
    uint32_t n_xoff;               /* pause events that were told in it */
    uint64_t xoff_held;            /* held back since the last one */
    uint64_t n_violations;         /* gathered, not yet told */
    uint64_t violation_ns;         /* when the last of them were told */
    uint8_t violation_prio;        /* their priority */
    enum dp_drop violation_reason; /* and reason */
    uint64_t last_try_ns;          /* to open an absent interface */
    uint32_t tried_ifindex;        /* its number then; 0: none */
    uint32_t tried_mtu;            /* its MTU then */
    char refusal[512];             /* why that failed, as it was told; or "" */
    struct counts earlier; /* counted in datapaths that it was in before */
    struct pfc_counters cleared; /* longest and latest pauses till the last
                                    clear */
    struct counts base;          /* what clear subtracts from what is shown */
    uint64_t paused_seen[2][N_PRIO];     /* paused times that were shown */
    struct dp_port_peaks marks[N_MARKS]; /* before they last began anew */
    uint64_t arrival_ns;     /* when arrivals were last looked at */
    uint64_t arrival_bytes;  /* that had arrived till then */
    uint64_t arrival_excess; /* more than the line can have brought */
    uint64_t arrival_bps;    /* fastest that was proven to be too fast */
    struct dp_storm storms[N_PRIO]; /* in datapaths that it was in before */
    uint64_t n_stuck[N_PG];         /* endless pauses of ours, in those */
    struct port *heir;   /* takes its place, and its counts when it ends */
    struct port *origin; /* whose heir it is */
};

/* What only former plans of a bridge name, until the datapath let go. */
struct retired {
    struct retired *next;  /* older ones */
    uint64_t generation;   /* free once the datapath has this one */
    struct dp_plan *plan;  /* each may be null */
    struct netdev *netdev; /* to be closed */
    struct port *port;     /* to be freed, with its state */
};

struct bridge {
    struct daemon *daemon;            /* whose it is */
    char name[CONF_NAME_MAX + 1];     /* as configured */
    struct dp_conf sizes;             /* what dp was made with */
    struct dp *dp;                    /* the datapath */
    struct dp_thread *thread;         /* runs it */
    struct reactor_watch *watch;      /* on the thread's events */
    struct port *ports[DP_MAX_PORTS]; /* by slot */
    struct dp_plan *plan;             /* published last; the datapath reads */
    uint64_t generation;              /* of that plan */
    uint64_t poll_generation;         /* of the last set of descriptors */
    uint64_t stall_ns;        /* that automatic headrooms must allow for */
    uint64_t allowed_ns;      /* that they do, memory being there */
    bool is_short;            /* headrooms had to be cut to fit */
    struct retired *retired;  /* newest first */
    struct netdev_stats past; /* of ports that were removed */
    struct pool_marks marks[N_MARKS]; /* before they last began anew */
    uint64_t events_lost_seen;        /* of the datapath, as last logged */
    struct log_limit violation_limit; /* of log lines */
    struct log_limit storm_limit;     /* of those on storms */
    struct history *history;          /* of its pauses */
    uint64_t events_lost_before;      /* by datapaths that it had before */
    struct bridge *heir;              /* takes its place, and the history */
    uint64_t stall_wanted_ns;         /* that did not fit: not tried again */
    uint64_t stall_longest_ns;        /* longest that was ever measured */
    uint64_t window_ns;               /* when the stall was last reset */
    uint64_t told_stall_ns; /* for tests: the stall, whatever is measured */
};

/* A running bridge without ports, not in the daemon's list yet. */
int bridge_create(struct daemon *, const struct conf_bridge *,
                  struct bridge **, struct err *);
/* How late its thread was, 99.99 percentile. */
uint64_t bridge_stall_ns(const struct bridge *);
/* Stops the thread (pauses are released) and frees all.  Null accepted. */
void bridge_destroy(struct bridge *);
/* The two halves of stopping, for many at once. */
void bridge_stop_begin(struct bridge *);

/* A port, without interface; no memory: null. */
struct port *port_create(const struct conf_port *);
void port_destroy(struct port *);
/* Says why its interface could not be opened, once for each reason. */
void port_refuse(struct port *, const char *bridge, const char *why);
/* `to` takes the place of a port that ends soon. */
void port_set_heir(struct port *from, struct port *to);
/* The netdev was opened: takes over what it is like. */
void port_take_netdev(struct port *, struct netdev *);
/* Adds what a netdev counted to *sum. */
void port_add_stats(struct netdev_stats *sum, const struct netdev_stats *);
/* Past and present together. */
void port_stats(const struct port *, struct netdev_stats *);
/* What the kernel has lost of a netdev's frames so far. */
void port_kernel_drops(const struct netdev *, uint64_t out[PORT_N_KERNEL]);
/* Whether the datapath is to use its netdev: not while the host has the
 * bridge's own interface down. */
bool port_is_used(const struct port *);
/* The bridge's own port; null: it has none. */
struct port *bridge_local(const struct bridge *);
/* Whether a group of the port, or with egress a queue, is lossless, by
 * configuration. */
bool port_is_lossless(const struct bridge *, const struct port *, bool egress);

/* Publishes a plan and the descriptors of the ports in it.  Cannot fail. */
void bridge_publish(struct bridge *, struct dp_plan *);
/* Puts something away until the last published plan is in force. */
void bridge_retire(struct bridge *, struct dp_plan *, struct netdev *,
                   struct port *);
/* Waits, for a second at most, till the last plan is in force, and frees what
 * was retired.  False: not yet (the thread finds no CPU). */
bool bridge_settle(struct bridge *);
bool bridge_is_settled(const struct bridge *);
/* Frees what was retired and may be freed by now. */
void bridge_reap(struct bridge *);
/* Waits for all descriptors again, those that were muted too. */
void bridge_poll_again(struct bridge *);

/* Runs fn on the datapath's thread and waits for it. */
void bridge_call(struct bridge *, void (*fn)(struct dp *, void *), void *arg);

/* Throws away what a freshly opened netdev collected, and has its predecessor
 * (null: it is gone) deliver nothing more: so that no frame comes twice. */
void bridge_discard(struct bridge *, struct netdev *old, struct netdev *fresh);

#endif
