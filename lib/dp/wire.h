/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage wire: the cables of a datapath's ports, see wire.c.  dp thread.
 */
#ifndef DP_WIRE_H
#define DP_WIRE_H

#include "dp/dp.h"
#include "pkt/pkt.h"

#include <stdbool.h>
#include <stdint.h>

/* Takes over what the plan says of the port's cable. */
void dp_wire_configure(struct dp *, struct dp_port *, struct dp_plan_port *);
/* Puts frames on the cable; how many, from the first on.  Touches the port
 * only. */
uint32_t dp_wire_send(struct dp_port *, struct pkt *const pkts[], uint32_t n,
                      uint64_t now_ns, bool is_ctl);
/* Takes what is due off all cables. */
void dp_wire_run(struct dp *);
/* Drops what is on the cable. */
void dp_wire_drop(struct dp *, struct dp_port *, enum dp_drop);
/* The end of a port, or of its interface: what is on the cable leaves at once,
 * and what follows, without it.  False: not all went. */
bool dp_wire_finish(struct dp *, struct dp_port *);

#endif
