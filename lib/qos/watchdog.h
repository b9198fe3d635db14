/* SPDX-License-Identifier: Apache-2.0
 *
 * PFC watchdog of one port: pfc-semantics section 9, after SONiC's.  Two
 * policies.  The watchdog finds priorities that a peer keeps paused without
 * end (a storm), and says when that is over.  The guard is its mirror image:
 * it finds groups of ours that keep the peer paused without end.
 *
 * Pure: is told the time and what is paused, and answers what began and what
 * ended; what is done about it is the datapath's (dp/watchdog.c).  Looks only
 * every so often, on a grid of poll times, as hardware's does.  Datapath
 * thread; counters read by any.
 */
#ifndef QOS_WATCHDOG_H
#define QOS_WATCHDOG_H

#include "base/counter.h"

#include <stdbool.h>
#include <stdint.h>

#define WATCHDOG_N 8 /* priorities, or groups */

enum watchdog_action {
    WATCHDOG_DROP,    /* discard, both ways; ignore the peer's PFC */
    WATCHDOG_FORWARD, /* ignore the peer's PFC, send everything */
    WATCHDOG_ALERT,   /* only report */
};

struct watchdog_conf {
    uint64_t detection_ns;       /* paused for so long: a storm */
    uint64_t restoration_ns;     /* no XOFF for so long: it is over */
    uint64_t poll_ns;            /* from one look to the next; > 0 */
    enum watchdog_action action; /* what is done while it lasts */
    uint8_t prios;               /* bit p: p is watched; 0: it is stopped */
};

struct watchdog {
    struct watchdog_conf conf;        /* as configured; watchdog_set */
    uint8_t stormed;                  /* bit p: a storm of p goes on */
    uint64_t started_ns[WATCHDOG_N];  /* p is watched since, or was
                                         restored */
    uint64_t xoff_ns[WATCHDOG_N];     /* last XOFF for p that came */
    uint64_t began_ns[WATCHDOG_N];    /* when the last storm was detected */
    uint64_t looked_ns;               /* grid of polls: the first one */
    counter_t n_detected[WATCHDOG_N]; /* storms that were detected, ever */
    counter_t n_restored[WATCHDOG_N]; /* of those: that ended */
};

/* What a poll found: bit p. */
struct watchdog_news {
    uint8_t began; /* storms detected */
    uint8_t ended; /* storms over */
};

/* What is paused: as lib/qos/pfc has it. */
struct watchdog_view {
    uint8_t paused;           /* bit p: p is paused by the peer */
    const uint64_t *since_ns; /* of p: since when, without one resume */
};

void watchdog_init(struct watchdog *);

/* New configuration.  Returns the storms that end by it: of priorities that
 * are watched no longer.  A priority that comes to be watched starts afresh,
 * however long it has been paused. */
uint8_t watchdog_set(struct watchdog *, const struct watchdog_conf *,
                     uint64_t now_ns);

/* XOFFs (time > 0) came for the priorities in the mask. */
void watchdog_xoff(struct watchdog *, uint8_t prios, uint64_t now_ns);

/* Looks.  Meant for times that watchdog_deadline() gave. */
struct watchdog_news watchdog_poll(struct watchdog *,
                                   const struct watchdog_view *,
                                   uint64_t now_ns);

/* When to look next: the next poll after now_ns while something is paused or
 * stormed; CLOCK_NEVER when there is nothing to see. */
uint64_t watchdog_deadline(const struct watchdog *, uint8_t paused,
                           uint64_t now_ns);

/* --- the guard --------------------------------------------------------- */

struct guard_conf {
    uint64_t time_ns; /* in XOFF for longer than this; 0: off */
    bool release;     /* let the peer go then, or only report */
};

struct guard {
    struct guard_conf conf;           /* as configured; guard_set */
    uint8_t stuck;                    /* bit g: group g is over its time */
    counter_t n_detected[WATCHDOG_N]; /* times that it was found to be */
};

/* New configuration.  Off: nothing is stuck any more. */
void guard_set(struct guard *, const struct guard_conf *);
/* The group let go, or became empty: it is not stuck any more. */
void guard_xon(struct guard *, int group);
/* Groups in `xoff` since since_ns: those that are over their time now and were
 * not yet. */
uint8_t guard_poll(struct guard *, uint8_t xoff,
                   const uint64_t since_ns[WATCHDOG_N], uint64_t now_ns);
/* When the next one is; CLOCK_NEVER: none. */
uint64_t guard_deadline(const struct guard *, uint8_t xoff,
                        const uint64_t since_ns[WATCHDOG_N]);

#endif
