/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run of sluice-probe is to do: the typed form of its command line.
 * Pure parsing and checking; probe_main.c calls it once, on its one thread.
 */
#ifndef UTILITIES_PROBE_CONF_H
#define UTILITIES_PROBE_CONF_H

#include "base/err.h"
#include "wire/macctl.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROBE_MAX_FLOWS  64
#define PROBE_MAX_SIZES  8
#define PROBE_MAX_PAUSES 16
#define PROBE_MAX_STORMS 8
#define PROBE_MAX_FRAME  9216 /* octets without FCS, tag included */
#define PROBE_VLAN_NONE  0xffff

#define PROBE_DEFAULT_DURATION UINT64_C(10000000000)
#define PROBE_DEFAULT_DRAIN    UINT64_C(2000000000)
#define PROBE_DEFAULT_BUFFER   UINT64_C(262144)

/* A frame size and how often it occurs among the others of its mix. */
struct probe_size {
    uint32_t bytes;  /* octets of the frame without FCS */
    uint32_t weight; /* share in the mix, 1..1000 */
};

struct probe_flow_conf {
    uint32_t id;          /* told apart by this and the source MAC */
    uint8_t prio;         /* 0..7: class, and PCP of the tag */
    uint16_t vid;         /* 0..4094; PROBE_VLAN_NONE: no tag at all */
    uint8_t dst[6];       /* destination MAC */
    bool have_src;        /* src was given; else the interface's own */
    uint8_t src[6];       /* source MAC */
    uint64_t rate_bps;    /* 0: as fast as it goes */
    uint64_t count;       /* sequence numbers to use; 0: until the end */
    uint64_t start_ns;    /* begins so long after the run's start */
    uint64_t duration_ns; /* 0: the run's duration */
    bool udp;             /* UDP over IPv4 instead of EtherType 0x88b5 */
    struct probe_size sizes[PROBE_MAX_SIZES]; /* the mix */
    uint32_t n_sizes;                         /* 1 or more */
    /* To try a receiver: every n-th frame is ...; 0: none. */
    uint32_t skip_every;    /* left out: a loss */
    uint32_t dup_every;     /* sent twice */
    uint32_t swap_every;    /* sent after the one that follows it */
    uint32_t corrupt_every; /* sent with an octet changed */
};

/* XOFF held for a while, refreshed and ended with an XON. */
struct probe_pause {
    uint8_t prio;    /* 0..7 */
    uint64_t at_ns;  /* after the start */
    uint64_t for_ns; /* > 0 */
};

/* XOFF again and again, and never an XON. */
struct probe_storm {
    uint8_t prio;      /* 0..7 */
    uint64_t at_ns;    /* after the start */
    uint64_t for_ns;   /* > 0 */
    uint64_t every_ns; /* between two frames, 50 us or more */
};

/* A priority whose frames are consumed slowly. */
struct probe_slow {
    bool used;             /* the rest means something */
    uint8_t prio;          /* 0..7 */
    uint64_t rate_bps;     /* > 0: how fast frames are consumed */
    uint64_t buffer_bytes; /* room for what was not yet consumed */
    uint64_t xoff_bytes;   /* pause the peer at so much; 0: half of it */
    uint64_t xon_bytes;    /* let go at so much; 0: half of xoff */
};

struct probe_conf {
    const char *iface;    /* borrowed from argv */
    bool send;            /* role */
    bool receive;         /* role */
    uint64_t duration_ns; /* of the flows, and of the receiver */
    uint64_t drain_ns;    /* most that a paused flow waits after it */
    uint64_t idle_ns;     /* receiver: silence that ends it; 0: none */
    uint64_t expect;      /* receiver: complete flows that end it */
    uint64_t start_at_ns; /* CLOCK_MONOTONIC; 0: at once */
    bool barrier;         /* start when standard input says so */
    bool hold;            /* stay until standard input ends */
    uint8_t pfc_prios;    /* bit p: PFC enabled */
    bool asymmetric;      /* honour all eight */
    bool ignore_pfc;      /* misbehave: honour none */
    uint64_t quanta;      /* pause time that is sent, 1..65535 */
    uint64_t rate_bps;    /* of the link; 0: the interface's own */
    uint64_t ring_bytes;  /* receive ring; 0: default */
    uint64_t malformed;   /* misbehave: malformed frames to send */
    bool json;            /* print JSON instead of tables */
    bool strict;          /* exit status 1 unless all arrived well */
    struct probe_flow_conf flows[PROBE_MAX_FLOWS]; /* what to send */
    uint32_t n_flows;                              /* in use */
    struct probe_pause pauses[PROBE_MAX_PAUSES];   /* pauses as told */
    uint32_t n_pauses;                             /* in use */
    struct probe_storm storms[PROBE_MAX_STORMS];   /* misbehave: storms */
    uint32_t n_storms;                             /* in use */
    struct probe_slow slow[N_PRIO];                /* by priority */
};

/* Everything at its default. */
void probe_conf_init(struct probe_conf *);

/* One option's argument each, "key=value,key=value".  Adds to the lists of
 * *conf.  EINVAL, ERANGE, ENOSPC name key and value. */
int probe_conf_add_flow(struct probe_conf *, const char *text, struct err *);
int probe_conf_add_pause(struct probe_conf *, const char *text, struct err *);
int probe_conf_add_storm(struct probe_conf *, const char *text, struct err *);
int probe_conf_add_slow(struct probe_conf *, const char *text, struct err *);

/* "3,4", "all" or "none". */
int probe_conf_parse_prios(const char *text, uint8_t *mask, struct err *);
/* "1514", "64:7/576:4/1514:1", "imix". */
int probe_conf_parse_sizes(const char *text, struct probe_flow_conf *,
                           struct err *);

/* What only the whole can tell: roles and options that go together, sizes
 * that hold a probe header, thresholds in order, flow ids that differ. */
int probe_conf_check(struct probe_conf *, struct err *);

#endif
