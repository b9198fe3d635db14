/* SPDX-License-Identifier: Apache-2.0
 *
 * Back-pressure of a TAP: the kernel has no flow control towards whoever
 * reads one.  It frees a frame from its sender's account as soon as the frame
 * is in the device's queue, and drops what finds that queue full.  So senders
 * are held before it, in a queueing discipline, where their frames still
 * count against their socket buffers: a blocking sender waits, a non-blocking
 * one is told EAGAIN, TCP stops by itself.
 *
 * The tree (HTB and TBF, which every kernel has):
 *
 *     1: HTB -- 1:1, the rate of the port
 *                |-- 1:10 -- TBF  priority 0   open: faster than any rate
 *                |   ...                       held: an octet a second
 *                |-- 1:17 -- TBF  priority 7
 *                `-- 1:ff -- no room at all: see kick() in hold.c
 *
 * A classic BPF filter gives a frame the priority that the datapath is going
 * to give it, so that a class that is held is the class that was paused, and
 * the others go on.  The rate keeps the device's queue short, so that what is
 * behind the hold is bounded by it and by the time that holding takes.
 *
 * open, set, close, read: control thread.  want, is_late: any one thread,
 * never block. The changes are made by a thread of its own, because the kernel
 * may let a request wait for others that have nothing to do with it.
 */
#ifndef NETDEV_HOLD_H
#define NETDEV_HOLD_H

#include "base/err.h"
#include "netdev/netdev.h"

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

struct hold;

/* What has happened so far. */
struct hold_stats {
    uint64_t n_holds;  /* times that a class was held */
    uint64_t n_failed; /* requests that the kernel refused */
    uint64_t worst_ns; /* longest time from wish to fact, holds alone */
    uint64_t n_drops;  /* frames that the tree had no room for */
    bool is_intact;    /* the tree is there, as far as was seen */
};

/* Makes the tree for interface `ifindex`, whose frames have at most
 * frame_bytes, and starts the thread.  Everything is open. */
int hold_open(const char *name, uint32_t ifindex, uint32_t frame_bytes,
              const struct netdev_hold *, struct hold **, struct err *);
/* Another rate, or other maps; null: holds no one, and the tree goes, with
 * what is in it.  On error what was is in force. */
int hold_set(struct hold *, const struct netdev_hold *, struct err *);
/* Ends the thread and takes the tree away.  Accepts null. */
void hold_close(struct hold *);

/* From now on the priorities in `held` are held, and no others. */
void hold_want(struct hold *, uint8_t held);
/* The same thread: whether what is wanted is not in force after HOLD_LATE_NS.
 * The kernel's lock may be somebody else's for seconds; until then what
 * senders send had better stay in the device's queue, which holds more than
 * headrooms do, although other classes wait there too. */
#define HOLD_LATE_NS UINT64_C(2000000)
bool hold_is_late(const struct hold *);
/* Asks the kernel what was dropped, and whether the tree is still there. */
void hold_read(struct hold *, struct hold_stats *);

/* The classifier: at most HOLD_MAX_INSNS instructions into `out`; returns how
 * many.  The program's value is 0x10010 + the priority.  For tests. */
#define HOLD_MAX_INSNS 192
uint16_t hold_filter(const struct netdev_hold *, struct sock_filter out[]);

#endif
