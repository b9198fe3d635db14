/* SPDX-License-Identifier: Apache-2.0
 *
 * Flow tables in random fabrics: see openflow.c.
 */
#ifndef SIM_OPENFLOW_H
#define SIM_OPENFLOW_H

#include "sim/sim.h"

/* Fills the tables of switches, if the world has any; after sim_start(). */
void sim_tables_start(struct sim *);
/* Once a turn, before it. */
void sim_tables_run(struct sim_switch *);
/* Before the switch is freed. */
void sim_tables_end(struct sim_switch *);
/* Whether the frame is a copy that flows made. */
bool sim_is_mirrored(const uint8_t *frame);
/* The priority that the frame of a flow has on the wire. */
uint8_t sim_prio_on_wire(const struct sim *, const struct sim_flow *,
                         const uint8_t *frame, uint32_t len);

#endif
