/* SPDX-License-Identifier: Apache-2.0
 *
 * What is counted of a port, as it is shown: pfc-semantics section 10.
 *
 * Raw counters only ever grow while a port lives, also when its datapath is
 * made anew: scrapers may rely on it.  `clear` notes a baseline, kept here for
 * everybody, that is subtracted from what is shown.  High-water marks come in
 * two sets; the datapath keeps one, which begins anew whenever one of ours is
 * cleared, and what it was till then is kept for the other.  Control thread;
 * the datapath's writes what belongs to it (bridge_call).
 */
#ifndef VSWITCHD_COUNTS_H
#define VSWITCHD_COUNTS_H

#include "dp/dp.h"
#include "netdev/netdev.h"
#include "qos/pfc.h"

#include <stdbool.h>
#include <stdint.h>

struct bridge;
struct port;

/* What can be cleared by itself. */
enum counts_section {
    COUNTS_PORT = 1 << 0,  /* frames, octets, drops, violations, netdev */
    COUNTS_GROUP = 1 << 1, /* ingress groups */
    COUNTS_QUEUE = 1 << 2, /* egress queues */
    COUNTS_PFC = 1 << 3,   /* PFC and PAUSE */
};

/* Everything that is counted of a port.  Levels (held, queued) are in it too:
 * they are as they are, whatever is cleared. */
struct counts {
    struct dp_port_counters n;  /* by the datapath */
    struct pfc_counters pfc;    /* rx_paused_ns and tx_paused_ns with the
                                   pauses that have not ended yet */
    struct netdev_stats nd;     /* below the datapath */
    uint64_t kernel_violations; /* lost there while a class was lossless */
};

/* The two sets of high-water marks. */
enum marks_set { MARKS_USER, MARKS_PERSISTENT, N_MARKS };

/* Of the memory of a bridge. */
struct pool_marks {
    uint64_t shared_bytes[DP_MAX_POOLS]; /* of each pool */
    uint64_t headroom_bytes;             /* of all headroom together */
};

/* What is counted; raw: since the port was added. */
void counts_get(struct port *, bool raw, struct counts *);
/* Notes the baseline of some sections (enum counts_section, or-ed). */
void counts_clear(struct bridge *, struct port *, unsigned sections);
/* The datapath of `from` is gone or has let go of it: `to`, which took its
 * place, goes on counting where it ended. */
void counts_inherit(struct port *to, struct port *from);

/* Storms of a priority, and endless pauses of ours of a group, since the port
 * was added. */
void counts_storm(const struct port *, int prio, struct dp_storm *);
uint64_t counts_stuck(const struct port *, int group);

void marks_get(const struct port *, enum marks_set, struct dp_port_peaks *);
void marks_get_pools(const struct bridge *, enum marks_set,
                     struct pool_marks *);
/* Begins a set anew, of one port, or of the memory of a bridge. */
void marks_clear(struct bridge *, struct port *, enum marks_set);
void marks_clear_pools(struct bridge *, enum marks_set);

#endif
