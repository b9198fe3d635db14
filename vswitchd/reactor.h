/* SPDX-License-Identifier: Apache-2.0
 *
 * The control thread's loop: descriptors, timers, signals.  A thin layer over
 * libevent, so that the rest of the daemon says what it waits for and no more;
 * only the RPC transport uses the base itself, for its buffers.
 */
#ifndef VSWITCHD_REACTOR_H
#define VSWITCHD_REACTOR_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct reactor;
struct reactor_watch;
struct event_base;

typedef void reactor_fn(void *arg);

/* SIGTERM and SIGINT end reactor_run(); SIGHUP and SIGPIPE are ignored. */
int reactor_create(struct reactor **, struct err *);
void reactor_destroy(struct reactor *);
/* Returns when a signal or reactor_stop() asked for it. */
void reactor_run(struct reactor *);
void reactor_stop(struct reactor *);
struct event_base *reactor_base(struct reactor *);

/* Calls fn whenever fd is readable.  Null when memory is short. */
struct reactor_watch *reactor_watch_fd(struct reactor *, int fd, reactor_fn *,
                                       void *arg);
/* Calls fn again and again. */
struct reactor_watch *reactor_watch_timer(struct reactor *,
                                          uint32_t interval_ms, reactor_fn *,
                                          void *arg);
/* Accepts null. */
void reactor_unwatch(struct reactor_watch *);

#endif
