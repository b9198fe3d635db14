/* SPDX-License-Identifier: Apache-2.0
 *
 * The thread of one datapath: calls dp_run() with the real clock and waits in
 * between for the ports' descriptors, for the control thread, or for the
 * deadline that the last turn named.  Everything here is called by the control
 * thread.
 */
#ifndef VSWITCHD_DP_THREAD_H
#define VSWITCHD_DP_THREAD_H

#include "base/err.h"
#include "dp/dp.h"

#include <stdbool.h>
#include <stdint.h>

struct dp_thread;

/* What the thread waits for; made with malloc() by whoever publishes. */
struct dp_poll {
    uint64_t generation; /* grows with every one that is set */
    uint32_t n;          /* entries in use */
    struct {
        int fd;           /* polls readable when the port has something */
        int tx_fd;        /* polls writable when it takes frames again */
        uint16_t slot;    /* the port */
    } port[DP_MAX_PORTS]; /* the ports that have a descriptor */
};

/* Starts it; `name` (of the bridge) shows in ps and top. */
struct sched_rules;
int dp_thread_start(struct dp *, const char *name, const struct sched_rules *,
                    struct dp_thread **, struct err *);

/* Hands over what to wait for (takes ownership) and wakes the thread, which
 * adopts it before its next wait. */
void dp_thread_set_poll(struct dp_thread *, struct dp_poll *);
/* The generation that was adopted: descriptors that only earlier ones named
 * may be closed. */
uint64_t dp_thread_poll_generation(const struct dp_thread *);

/* Ends the present wait. */
void dp_thread_kick(struct dp_thread *);

/* Polls readable when the datapath has events or a descriptor is in trouble.
 * dp_thread_clear() before the events are taken, so that none is missed. */
int dp_thread_event_fd(const struct dp_thread *);
void dp_thread_clear(struct dp_thread *);
/* Control: makes it readable, because events were left. */
void dp_thread_call_again(struct dp_thread *);

/* Descriptors that report an error without end are left out of the wait until
 * the next dp_thread_set_poll(): how many at this moment. */
uint32_t dp_thread_n_muted(const struct dp_thread *);

/* Times that the thread woke up, ever. */
uint64_t dp_thread_n_wakeups(const struct dp_thread *);

/* Asks the thread to let go of all pauses and to end; does not wait, so that
 * all threads of a daemon end at the same time.  join waits and frees. */
void dp_thread_stop(struct dp_thread *);
void dp_thread_join(struct dp_thread *);

#endif
