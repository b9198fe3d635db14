/* SPDX-License-Identifier: Apache-2.0
 *
 * The plan: everything that configuration tells a datapath, built whole by
 * the control thread (lib/conf) and published with one pointer store.  The
 * datapath only reads it.  What must survive a change of plan (queues,
 * counters, pause state) lives in struct dp_port, which the control thread
 * makes for a new port and frees once the plan without it is acknowledged.
 */
#ifndef DP_PLAN_H
#define DP_PLAN_H

#include "netdev/netdev.h"
#include "qos/buf.h"
#include "qos/pfc.h"
#include "qos/sched.h"
#include "qos/watchdog.h"
#include "qos/wred.h"

#include <stdbool.h>
#include <stdint.h>

#define DP_MAX_PORTS 256 /* slots of a bridge */
#define DP_MAX_POOLS 8   /* buffer pools of a bridge, the default one too */
#define N_PG         8

struct dp_cable; /* cable.h */
struct dp_port;  /* run-time state of a port: dp.h */

/* Where a frame's priority comes from.  A frame without what is trusted falls
 * back: from DSCP to the PCP, from there to the port's default. */
enum dp_trust { DP_TRUST_PCP, DP_TRUST_PORT, DP_TRUST_DSCP };

/* Which frames that leave without a VLAN leave with a priority tag. */
enum dp_prio_tags {
    DP_PRIO_TAGS_KEEP,    /* those that came so, unless the port untags */
    DP_PRIO_TAGS_NEVER,   /* none */
    DP_PRIO_TAGS_NONZERO, /* those whose PCP is not 0 */
    DP_PRIO_TAGS_ALWAYS,  /* all */
};

enum dp_vlan_mode {
    DP_VLAN_TRUNK,           /* all VLANs, or those in `trunks` */
    DP_VLAN_ACCESS,          /* one VLAN, untagged outside */
    DP_VLAN_NATIVE_TAGGED,   /* trunk whose untagged frames are in `tag` */
    DP_VLAN_NATIVE_UNTAGGED, /* the same, and `tag` leaves untagged */
};

struct dp_plan_queue {
    uint64_t max_rate_bps; /* 0: not limited */
    uint64_t limit_bytes;  /* lossy queue: tail drop above; lossless: unused */
    int8_t alpha;          /* lossy queue: 2^alpha x what is free of the pool
                              in place of limit_bytes, or BUF_ALPHA_NONE */
    uint8_t pool;          /* of which that is */
    bool lossless;         /* no limit: the ingress side bounds it */
    struct wred_conf wred; /* early marking and dropping */
};

struct dp_plan_port {
    struct netdev *netdev;    /* null: interface is absent for now */
    struct dp_port *state;    /* run-time state; never null */
    uint32_t of_port;         /* OpenFlow number; OFPP_LOCAL for that port;
                                 0: flows cannot name it */
    bool is_new;              /* state has not been in a plan before */
    uint8_t mac[6];           /* source of the MAC control we send */
    uint64_t rate_bps;        /* egress shaping; 0: none */
    uint64_t cable_delay_ns;  /* of a cable that is emulated; 0: none */
    uint64_t cable_bytes;     /* that it must hold */
    struct dp_cable *cable;   /* new memory for that, when the state has less;
                                 once adopted: what the state had */
    uint32_t max_frame_bytes; /* longest frame to send, without FCS */
    struct pfc_conf pfc;      /* pause behaviour; rate_bps filled in */
    struct sched_conf sched;  /* transmission selection */
    struct watchdog_conf dog; /* storms of the peer; prios 0: off */
    struct guard_conf guard;  /* our own endless pausing */
    struct dp_plan_queue queue[N_QUEUE]; /* egress queues */
    struct buf_group_conf pg[N_PG];      /* ingress priority groups */
    uint8_t pg_prios[N_PG];        /* bit p: priority p maps to the group */
    enum dp_trust trust;           /* where the priority comes from */
    uint8_t default_prio;          /* for frames that carry none */
    uint8_t pcp_to_prio[8];        /* by PCP */
    uint8_t dscp_to_prio[64];      /* by DSCP, with trust in it */
    uint8_t prio_to_pg[N_PRIO];    /* by priority */
    uint8_t prio_to_queue[N_PRIO]; /* by priority */
    uint8_t rewrite_pcp;           /* bit p: priority p leaves with ... */
    uint8_t prio_to_pcp[N_PRIO];   /* ... this PCP, when it has a tag */
    uint8_t rewrite_dscp;          /* bit p: priority p leaves with ... */
    uint8_t prio_to_dscp[N_PRIO];  /* ... this DSCP, when it is IP */
    enum dp_prio_tags prio_tags;   /* tags without a VLAN */
    enum dp_vlan_mode vlan_mode;   /* as in Open vSwitch */
    uint16_t tag;                  /* access or native VLAN */
    bool all_trunks;               /* trunk carries every VLAN */
    uint64_t trunks[64];           /* bit set of 4096 VLANs otherwise */
};

struct dp_plan {
    uint64_t generation;   /* grows with every publish */
    uint64_t shared_bytes; /* default pool: left of reserves, headrooms and
                              the other pools */
    uint64_t pool_bytes[DP_MAX_POOLS]; /* the other pools; [0] is not used */
    uint64_t hdrm_pool_bytes; /* headroom that groups share; 0: each its own */
    uint32_t low_buffers;     /* see buf.h */
    uint64_t mac_ageing_ns;   /* 0: never */
    bool forward_reserved;    /* 01-80-C2-00-00-0x too, -01 never */
    bool drop_unknown;        /* lossless unknown unicast is not flooded */
    uint16_t n_slots;         /* entries of ports[] in use or not */
    struct dp_plan_port *ports[DP_MAX_PORTS]; /* by slot; null: free */
};

/* Control, before it is published: makes the cables that it asks for and that
 * the states of its ports have not got.  Null memory: ENOMEM. */
int dp_plan_make_cables(struct dp_plan *);
/* Frees the plan and its plan ports, not the netdevs and states. */
void dp_plan_destroy(struct dp_plan *);

#endif
