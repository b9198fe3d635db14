/* SPDX-License-Identifier: Apache-2.0
 *
 * What the daemon looks at once a second: the kernel's own drop counters,
 * absent interfaces, and whether the headroom still covers the stall that the
 * datapath measures.  Control thread.
 */
#ifndef VSWITCHD_WATCH_H
#define VSWITCHD_WATCH_H

#define WATCH_INTERVAL_MS 1000

struct bridge;
struct daemon;

void watch_tick(struct daemon *);

/* Has automatic headrooms allow for the stall that is measured now. */
void watch_stall(struct bridge *);

#endif
