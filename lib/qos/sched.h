/* SPDX-License-Identifier: Apache-2.0
 *
 * Transmission selection of one port: IEEE 802.1Q clause 8.6.8 and 37 (ETS),
 * pfc-semantics section 7.  Strict queues first, higher number first; then
 * deficit round robin by weight among the rest.  A queue that is paused or
 * empty is skipped and loses no credit that is its due.  Pure.
 */
#ifndef QOS_SCHED_H
#define QOS_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#define N_QUEUE 8

struct sched_conf {
    uint8_t strict;          /* bit q: strict; others take part in ETS */
    uint8_t weight[N_QUEUE]; /* per cent, 0..100; ETS queues sum to 100 */
};

struct sched {
    struct sched_conf conf;   /* as configured; changed by sched_set */
    int64_t deficit[N_QUEUE]; /* octets of credit of an ETS queue */
    uint8_t current;          /* ETS queue whose turn it is */
    bool in_turn;             /* current has had its quantum */
};

void sched_init(struct sched *, const struct sched_conf *);
void sched_set(struct sched *, const struct sched_conf *);

/* Which queue sends next among those in `ready` (bit q: has a frame, not
 * paused, within its rate), head_len[q] being the length of q's first frame;
 * -1 when ready is 0.  Does not charge. */
int sched_pick(struct sched *, uint8_t ready,
               const uint32_t head_len[N_QUEUE]);

/* Charges a frame that was picked, or takes such a charge back. */
void sched_charge(struct sched *, int queue, uint32_t len);
void sched_refund(struct sched *, int queue, uint32_t len);

/* The queue became empty by sending: unused credit is void (DRR). */
void sched_idle(struct sched *, int queue);

#endif
