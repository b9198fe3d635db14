/* SPDX-License-Identifier: Apache-2.0
 *
 * Transmission selection of one port: IEEE 802.1Q clause 8.6.8 and 37 (ETS),
 * pfc-semantics section 7.  Strict queues first, higher number first; then
 * deficit round robin by weight among the rest.  A queue that is paused or
 * empty is skipped and loses no credit that is its due.  Pure.  Datapath
 * thread.
 *
 * Rounds are not walked through.  Every queue has a mark that moves on by the
 * length of what it sends over its weight; the queue whose mark is furthest
 * back is next, and where that is, the port stands.  A mark before the port's
 * place is debt, one behind it is credit, and both last while a queue is
 * paused.  So a choice costs the same for every weight and frame length,
 * shares are exact to a frame, and queues alternate as finely as frames do.
 */
#ifndef QOS_SCHED_H
#define QOS_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#define N_QUEUE 8

struct sched_conf {
    uint8_t strict;          /* bit q: strict; others take part in ETS */
    uint8_t weight[N_QUEUE]; /* per cent, 0..100; ETS queues sum to 100; one
                                of 0 gets only what all others leave */
};

struct sched {
    struct sched_conf conf;  /* as configured; changed by sched_set */
    uint8_t weighted;        /* bit q: ETS with a weight */
    uint8_t live;            /* bit q: mark[q] counts as it is; else q is
                                paused, and mark[q] is relative to place */
    uint8_t idle;            /* bit q: went empty, and was not ready since */
    uint64_t mark[N_QUEUE];  /* octets x price; all of these wrap */
    uint64_t place[2];       /* of the queues without weight, and with */
    uint32_t price[N_QUEUE]; /* per octet, 1 / weight; 0: strict */
};

void sched_init(struct sched *, const struct sched_conf *);
/* New configuration; debts are forgotten if it is another one. */
void sched_set(struct sched *, const struct sched_conf *);

/* Use sched_pick(). */
int sched_pick_ets(struct sched *, uint8_t ready);

/* Which queue sends next among those in `ready` (bit q: has a frame, not
 * paused, within its rate), head_len[q] being the length of q's first frame;
 * -1 when ready is 0.  Does not charge: asked again without a charge, the
 * answer is the same. */
static inline int
sched_pick(struct sched *s, uint8_t ready, const uint32_t head_len[N_QUEUE])
{
    unsigned strict = ready & s->conf.strict;

    (void) head_len;
    if (strict)
        return 31 - __builtin_clz(strict);
    return ready ? sched_pick_ets(s, ready) : -1;
}

/* Charges a frame that was picked, or takes such a charge back. */
static inline void
sched_charge(struct sched *s, int queue, uint32_t len)
{
    s->mark[queue] += (uint64_t) len * s->price[queue];
}

void sched_refund(struct sched *, int queue, uint32_t len);

/* The queue became empty by sending: unused credit is void (DRR), and what it
 * owes is paid while others send. */
void sched_idle(struct sched *, int queue);

#endif
