/* SPDX-License-Identifier: Apache-2.0
 *
 * The actions of Open vSwitch (vendor 0x2320) that ovs-ofctl uses for what
 * OpenFlow has, but not in that version: dec_ttl and set_queue at 1.0, the end
 * of an enqueue at 1.3.  Private to lib/ofp.
 */
#ifndef OFP_NX_H
#define OFP_NX_H

#include "base/cursor.h"
#include "ofp/action.h"
#include "ofp/buf.h"
#include "ofp/error.h"

/* The body (behind type and length) of an action of an experimenter, to the
 * end of the list, which has room. */
bool nx_decode(struct cursor *, struct ofp_actions *, struct ofp_error *);
/* Appends the action as one of Open vSwitch; false: it is none of them. */
bool nx_encode(struct ofp_buf *, const struct ofp_action *);
/* What ends an enqueue. */
void nx_encode_pop_queue(struct ofp_buf *);

#endif
