/* SPDX-License-Identifier: Apache-2.0
 *
 * Where, and how urgently, the threads of bridges run: --cpu and --fifo.  They
 * are options, not configuration: they are about this machine, and a database
 * may move to another.  Control thread.
 */
#ifndef VSWITCHD_SCHED_H
#define VSWITCHD_SCHED_H

#include "base/err.h"

#include <pthread.h>
#include <stdbool.h>

struct sched_rules;

/* Takes "BRIDGE=CPU[,CPU|CPU-CPU]..." of --cpu, or "BRIDGE=PRIORITY" of
 * --fifo, into *rules, which is made when it is null.  EINVAL: says what is
 * allowed. */
int sched_take_cpu(struct sched_rules **rules, const char *text, struct err *);
int sched_take_fifo(struct sched_rules **rules, const char *text,
                    struct err *);
void sched_rules_destroy(struct sched_rules *);

/* Before privileges are dropped: has the limits allow a thread to be as urgent
 * as was asked for.  False: that takes CAP_SYS_NICE then. */
bool sched_permit(const struct sched_rules *);

/* After that: may they be?  Tries it on the thread that calls. */
int sched_check(const struct sched_rules *, struct err *);

/* Is the bridge's thread to be a real-time one? */
bool sched_is_fifo(const struct sched_rules *, const char *bridge);

/* Applies what is said of the bridge, if anything, to its thread. */
int sched_apply(const struct sched_rules *, const char *bridge, pthread_t,
                struct err *);

#endif
