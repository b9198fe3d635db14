/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of the process goes back to the system when it is not needed any
 * more: after a client that asked for much, after bridges.  Control thread.
 */
#ifndef VSWITCHD_MEMORY_H
#define VSWITCHD_MEMORY_H

/* Before anything is allocated. */
void memory_init(void);
/* Much was freed: at the next tick the heap is looked at. */
void memory_freed(void);
/* Once a second. */
void memory_tick(void);

#endif
