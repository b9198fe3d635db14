/* SPDX-License-Identifier: Apache-2.0
 *
 * PFC watchdog and mirror guard: see watchdog.h.
 */
#include "qos/watchdog.h"

#include "base/clock.h"

#include <assert.h>
#include <string.h>

static uint8_t
bit(int i)
{
    return (uint8_t) (1u << i);
}

void
watchdog_init(struct watchdog *w)
{
    memset(w, 0, sizeof(*w));
    w->conf.poll_ns = NS_PER_S;
}

static void
end_storm(struct watchdog *w, int p)
{
    w->stormed &= (uint8_t) ~bit(p);
    counter_add(&w->n_restored[p], 1);
}

uint8_t
watchdog_set(struct watchdog *w, const struct watchdog_conf *conf,
             uint64_t now_ns)
{
    uint8_t ended = w->stormed & (uint8_t) ~conf->prios;
    uint8_t fresh = conf->prios & (uint8_t) ~w->conf.prios;

    assert(conf->poll_ns > 0);
    if (!w->conf.prios || conf->poll_ns != w->conf.poll_ns)
        w->looked_ns = now_ns;
    w->conf = *conf;
    for (int p = 0; p < WATCHDOG_N; p++) {
        if (ended & bit(p))
            end_storm(w, p);
        if (fresh & bit(p))
            w->started_ns[p] = now_ns;
    }
    return ended;
}

void
watchdog_xoff(struct watchdog *w, uint8_t prios, uint64_t now_ns)
{
    for (int p = 0; p < WATCHDOG_N; p++)
        if (prios & bit(p))
            w->xoff_ns[p] = now_ns;
}

/* Paused for the detection time by now, as far as it was watched.  A pause
 * that is left over from before then (an alert that is over, a watchdog that
 * was started again) is none of ours until an XOFF renews it. */
static bool
is_storm(const struct watchdog *w, const struct watchdog_view *v, int p,
         uint64_t now_ns)
{
    uint64_t since_ns = v->since_ns[p];

    if (w->xoff_ns[p] < w->started_ns[p])
        return false;
    if (since_ns < w->started_ns[p])
        since_ns = w->started_ns[p];
    return now_ns - since_ns >= w->conf.detection_ns;
}

struct watchdog_news
watchdog_poll(struct watchdog *w, const struct watchdog_view *v,
              uint64_t now_ns)
{
    struct watchdog_news news = {0, 0};

    for (int p = 0; p < WATCHDOG_N; p++) {
        uint8_t b = bit(p);

        if (w->stormed & b) {
            if (now_ns - w->xoff_ns[p] >= w->conf.restoration_ns) {
                end_storm(w, p);
                w->started_ns[p] = now_ns;
                news.ended |= b;
            }
        } else if (w->conf.prios & v->paused & b &&
                   is_storm(w, v, p, now_ns)) {
            w->stormed |= b;
            w->began_ns[p] = now_ns;
            counter_add(&w->n_detected[p], 1);
            news.began |= b;
        }
    }
    return news;
}

uint64_t
watchdog_deadline(const struct watchdog *w, uint8_t paused, uint64_t now_ns)
{
    uint64_t n;

    if (!w->stormed && !(paused & w->conf.prios))
        return CLOCK_NEVER;
    n = (now_ns - w->looked_ns) / w->conf.poll_ns + 1;
    return w->looked_ns + n * w->conf.poll_ns;
}

/* --- the guard --------------------------------------------------------- */

void
guard_set(struct guard *g, const struct guard_conf *conf)
{
    g->conf = *conf;
    if (!conf->time_ns)
        g->stuck = 0;
}

void
guard_xon(struct guard *g, int group)
{
    g->stuck &= (uint8_t) ~bit(group);
}

uint8_t
guard_poll(struct guard *g, uint8_t xoff, const uint64_t since_ns[WATCHDOG_N],
           uint64_t now_ns)
{
    uint8_t began = 0;

    for (int i = 0; i < WATCHDOG_N && g->conf.time_ns; i++) {
        if (!(xoff & ~g->stuck & bit(i)) ||
            now_ns - since_ns[i] <= g->conf.time_ns)
            continue;
        g->stuck |= bit(i);
        began |= bit(i);
        counter_add(&g->n_detected[i], 1);
    }
    return began;
}

uint64_t
guard_deadline(const struct guard *g, uint8_t xoff,
               const uint64_t since_ns[WATCHDOG_N])
{
    uint64_t next = CLOCK_NEVER;

    for (int i = 0; i < WATCHDOG_N && g->conf.time_ns; i++)
        if (xoff & ~g->stuck & bit(i) &&
            since_ns[i] + g->conf.time_ns + 1 < next)
            next = since_ns[i] + g->conf.time_ns + 1;
    return next;
}
