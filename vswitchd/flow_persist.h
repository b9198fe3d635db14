/* SPDX-License-Identifier: Apache-2.0
 *
 * Flows, groups and meters that are to come back after a restart: the
 * database follows the books of each bridge.  What a controller or a timeout
 * takes out of the books goes from the database too.  Control thread.
 */
#ifndef VSWITCHD_FLOW_PERSIST_H
#define VSWITCHD_FLOW_PERSIST_H

#include "daemon.h"

/* Stores what changed since the last time, if anything did; before a method
 * answers. */
int flow_persist_sync(struct daemon *, const char *bridge, struct err *);

/* Puts what is stored into the books: at the start, and after they were
 * emptied by anyone but the user.  What cannot be (a port that is gone) is
 * logged. */
void flow_persist_restore(struct daemon *, const char *bridge);

/* Once: restores all bridges, then looks after changes that no method made,
 * once a second. */
int flow_persist_start(struct daemon *, struct err *);
/* The bridges still run. */
void flow_persist_end(struct daemon *);

#endif
