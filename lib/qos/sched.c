/* SPDX-License-Identifier: Apache-2.0
 *
 * Transmission selection: see sched.h.
 */
#include "qos/sched.h"

#include <assert.h>
#include <string.h>

/* Fine enough that rounding a price is an error of 1 in 20,000 at most, and
 * coarse enough that the debt of a frame of 4 GiB fits. */
#define PRICE_ONE (UINT32_C(1) << 20)

static void
take_conf(struct sched *s, const struct sched_conf *conf)
{
    memset(s, 0, sizeof(*s));
    s->conf = *conf;
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

static uint64_t *
given_to(struct sched *s, int q)
{
    return &s->given[!(s->weighted & (1u << q))];
}

/* A queue that was empty comes back: what others were given meanwhile has
 * paid its debt, but nothing has been saved for it. */
static void
wake(struct sched *s, int q)
{
    uint64_t paid = *given_to(s, q) - s->idle_at[q];

    s->idle &= (uint8_t) ~(1u << q);
    if (s->credit[q] >= 0 || paid >= (uint64_t) -s->credit[q])
        s->credit[q] = 0;
    else
        s->credit[q] += (int64_t) paid;
}

int
sched_pick_ets(struct sched *s, uint8_t ready)
{
    unsigned among = ready & s->weighted ? ready & s->weighted : ready;
    unsigned woken = among & s->idle;
    int best = 31 - __builtin_clz(among);
    int64_t most = INT64_MIN;

    for (; woken; woken &= woken - 1)
        wake(s, __builtin_ctz(woken));
    if (among & (among - 1)) {
        for (unsigned m = among; m; m &= m - 1) {
            int q = __builtin_ctz(m);

            if (s->credit[q] >= most) {
                most = s->credit[q];
                best = q;
            }
        }
    }
    most = s->credit[best];
    if (most < 0) {
        *given_to(s, best) += (uint64_t) -most;
        for (unsigned m = among; m; m &= m - 1)
            s->credit[__builtin_ctz(m)] -= most;
    }
    return best;
}

void
sched_refund(struct sched *s, int queue, uint32_t len)
{
    if (s->idle & (1u << queue))
        wake(s, queue);
    s->credit[queue] += (int64_t) len * s->price[queue];
}

void
sched_idle(struct sched *s, int queue)
{
    if (s->credit[queue] > 0)
        s->credit[queue] = 0;
    s->idle |= (uint8_t) (1u << queue);
    s->idle_at[queue] = *given_to(s, queue);
}
