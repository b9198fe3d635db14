/* SPDX-License-Identifier: Apache-2.0
 *
 * Random fabrics of the simulator: see random.c.
 */
#ifndef SIM_RANDOM_H
#define SIM_RANDOM_H

#include "sim/sim.h"

#include <stddef.h>

uint64_t sim_pick(struct sim *, const uint64_t *of, size_t n);
bool sim_chance(struct sim *, unsigned percent);
/* Fills sim->world and the simulator's own settings. */
const struct sim_world *sim_random_world(struct sim *);
uint64_t sim_random_rate(struct sim *, const struct sim_world *);
uint64_t sim_random_delay(struct sim *, const struct sim_world *);
/* Buffers, scheduling and memory of a switch whose ports are all there. */
void sim_random_switch(struct sim *, const struct sim_world *,
                       struct sim_switch *);
void sim_random_replan(struct sim *, struct sim_switch *);
struct sim_flow *sim_random_flow(struct sim *, const struct sim_world *,
                                 uint16_t src, uint16_t dst, uint32_t count);
/* Maybe a slow receiver; after sim_random_switch(). */
void sim_random_station(struct sim *, const struct sim_world *,
                        struct sim_station *);

#endif
