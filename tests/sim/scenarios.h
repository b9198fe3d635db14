/* SPDX-License-Identifier: Apache-2.0
 *
 * The scenarios of the simulator, one file for each or for a few.
 */
#ifndef SIM_SCENARIOS_H
#define SIM_SCENARIOS_H

struct sim;

void sim_demo(struct sim *);              /* demo.c */
void sim_demo_no_pfc(struct sim *);       /* demo.c */
void sim_deadlock(struct sim *);          /* deadlock.c */
void sim_deadlock_watchdog(struct sim *); /* deadlock.c */
void sim_demo_hour(struct sim *);         /* demo.c */
void sim_leafspine(struct sim *);         /* leafspine.c */
void sim_overload(struct sim *);          /* overload.c */
void sim_tree(struct sim *);              /* tree.c */

#endif
