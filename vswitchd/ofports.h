/* SPDX-License-Identifier: Apache-2.0
 *
 * Ports as OpenFlow sees them: what they are like, how controllers configure
 * them, what they and their queues counted.  For ofbridge.c; control thread.
 */
#ifndef VSWITCHD_OFPORTS_H
#define VSWITCHD_OFPORTS_H

#include "ofp/reply.h"
#include "ofproto/ofproto.h"

struct bridge;
struct port;

/* By number; null: there is none. */
struct port *ofports_find(const struct bridge *, uint32_t number);
/* Tells the books of the ports that there are now. */
void ofports_tell(struct bridge *, struct ofproto *);
/* Tells the datapath how controllers want the ports, and which links are up.
 * Returns when it does so. */
void ofports_configure(struct bridge *, const struct ofproto *);

/* Since the port was added, whatever was cleared. */
void ofports_stats(struct port *, struct ofp_port_stats *);
void ofports_queue_stats(struct port *, uint32_t queue,
                         struct ofp_queue_stats *);
/* What is configured of a queue. */
void ofports_queue(const struct bridge *, const struct port *, uint32_t queue,
                   struct ofp_queue *);

#endif
