/* SPDX-License-Identifier: Apache-2.0
 *
 * Transmission selection: see sched.h.
 */
#include "qos/sched.h"

#include <assert.h>
#include <string.h>

/* Fine enough that rounding a price is an error of 1 in 20,000 at most. */
#define PRICE_ONE (UINT32_C(1) << 20)
/* More than any debt: 2^17 octets at the highest price, many times over. */
#define MAX_DEBT (INT64_C(1) << 50)

static void
take_conf(struct sched *s, const struct sched_conf *conf)
{
    memset(s, 0, sizeof(*s));
    s->conf = *conf;
    s->live = 0xff;
    for (int q = 0; q < N_QUEUE; q++) {
        unsigned weight = conf->weight[q];

        assert(weight <= 100);
        if (conf->strict & (1u << q))
            continue;
        if (weight > 0)
            s->weighted |= (uint8_t) (1u << q);
        else
            weight = 1; /* among its own kind */
        s->price[q] = (PRICE_ONE + weight / 2) / weight;
    }
}

void
sched_init(struct sched *s, const struct sched_conf *conf)
{
    take_conf(s, conf);
}

void
sched_set(struct sched *s, const struct sched_conf *conf)
{
    if (s->conf.strict != conf->strict ||
        memcmp(s->conf.weight, conf->weight, sizeof(conf->weight)) != 0)
        take_conf(s, conf);
}

static unsigned
class_of(const struct sched *s, int q)
{
    return s->weighted >> q & 1;
}

/* A queue that was empty comes back: the port may have passed its mark, which
 * has paid its debt, but nothing has been saved up for it. */
static void
wake(struct sched *s, int q)
{
    uint64_t place = s->place[class_of(s, q)];
    int64_t debt = (int64_t) (s->mark[q] - place);

    s->idle &= (uint8_t) ~(1u << q);
    /* After days of idleness a difference may have wrapped. */
    if (debt < 0 || debt > MAX_DEBT)
        s->mark[q] = place;
}

/* Queues that became paused, or are no longer: the marks of the first stand
 * still in relation to the port's place. */
static __attribute__((noinline)) void
follow_changes(struct sched *s, uint8_t ready)
{
    unsigned paused = s->live & ~ready & ~s->idle;
    unsigned resumed = ready & ~s->live;
    unsigned woken = ready & s->idle;

    for (; paused; paused &= paused - 1) {
        int q = __builtin_ctz(paused);

        s->mark[q] -= s->place[class_of(s, q)];
        s->live &= (uint8_t) ~(1u << q);
    }
    for (; resumed; resumed &= resumed - 1) {
        int q = __builtin_ctz(resumed);

        s->mark[q] += s->place[class_of(s, q)];
        s->live |= (uint8_t) (1u << q);
    }
    for (; woken; woken &= woken - 1)
        wake(s, __builtin_ctz(woken));
}

int
sched_pick_ets(struct sched *s, uint8_t ready)
{
    unsigned weighted = ready & s->weighted;
    unsigned among = weighted ? weighted : ready;
    uint64_t *place = &s->place[weighted != 0];
    int best = __builtin_ctz(among);
    int64_t least;

    if (__builtin_expect((s->live & ~s->idle) != ready, 0))
        follow_changes(s, ready);
    least = (int64_t) (s->mark[best] - *place);
    while (among &= among - 1) {
        int q = __builtin_ctz(among);
        int64_t d = (int64_t) (s->mark[q] - *place);

        best = d < least ? q : best;
        least = d < least ? d : least;
    }
    if (least > 0)
        *place += (uint64_t) least;
    return best;
}

void
sched_refund(struct sched *s, int queue, uint32_t len)
{
    if (s->idle & (1u << queue))
        wake(s, queue);
    s->mark[queue] -= (uint64_t) len * s->price[queue];
}

void
sched_idle(struct sched *s, int queue)
{
    uint64_t place = s->place[class_of(s, queue)];

    if (!(s->live & (1u << queue))) {
        s->mark[queue] += place;
        s->live |= (uint8_t) (1u << queue);
    }
    if ((int64_t) (s->mark[queue] - place) < 0)
        s->mark[queue] = place;
    s->idle |= (uint8_t) (1u << queue);
}
