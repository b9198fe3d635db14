/* SPDX-License-Identifier: Apache-2.0
 *
 * A port on the wire, of either version.  Private to lib/ofp.
 */
#ifndef OFP_PORT_WIRE_H
#define OFP_PORT_WIRE_H

#include "ofp/buf.h"
#include "ofp/port.h"

void port_put(struct ofp_buf *, uint8_t version, const struct ofp_port *);

#endif
