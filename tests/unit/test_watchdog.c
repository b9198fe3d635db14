/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/qos/watchdog: storms and the mirror guard, pfc-semantics section 9.
 */
#include "qos/watchdog.h"

#include "base/clock.h"

#include <criterion/criterion.h>

#define P(n)   (1u << (n))
#define MS     NS_PER_MS
#define T0     (1000 * MS)
#define NOBODY 0

static struct watchdog w;
static uint64_t since[WATCHDOG_N];
static uint8_t paused;

static struct watchdog_conf conf = {
    .detection_ns = 400 * MS,
    .restoration_ns = 300 * MS,
    .poll_ns = 100 * MS,
    .prios = P(3) | P(4),
};

static void
init(void)
{
    watchdog_init(&w);
    watchdog_set(&w, &conf, T0);
    paused = 0;
}

TestSuite(watchdog, .init = init);

/* An XOFF for these comes at t; they stay paused from their first one on. */
static void
xoff(uint8_t prios, uint64_t t)
{
    for (int p = 0; p < WATCHDOG_N; p++)
        if (prios & ~paused & P(p))
            since[p] = t;
    paused |= prios;
    watchdog_xoff(&w, prios, t);
}

static struct watchdog_news
look(uint64_t t)
{
    const struct watchdog_view v = {paused, since};

    return watchdog_poll(&w, &v, t);
}

Test(watchdog, section_9_a_pause_for_the_detection_time_is_a_storm)
{
    struct watchdog_news n;

    xoff(P(3), T0 + 50 * MS);
    cr_assert_eq(look(T0 + 100 * MS).began, NOBODY);
    cr_assert_eq(look(T0 + 449 * MS).began, NOBODY);
    n = look(T0 + 450 * MS);
    cr_assert_eq(n.began, P(3));
    cr_assert_eq(n.ended, NOBODY);
    cr_assert_eq(w.stormed, P(3));
    cr_assert_eq(w.n_detected[3], 1);
    cr_assert_eq(w.n_detected[4], 0);
}

Test(watchdog, section_9_one_resume_begins_anew)
{
    xoff(P(3), T0);
    look(T0 + 300 * MS);
    paused = 0; /* and at once paused again */
    xoff(P(3), T0 + 301 * MS);
    cr_assert_eq(look(T0 + 500 * MS).began, NOBODY);
    cr_assert_eq(look(T0 + 700 * MS).began, NOBODY);
    cr_assert_eq(look(T0 + 701 * MS).began, P(3));
}

Test(watchdog, section_9_restored_when_no_xoff_came_for_the_time)
{
    xoff(P(3), T0);
    cr_assert_eq(look(T0 + 400 * MS).began, P(3));
    xoff(P(3), T0 + 450 * MS);
    cr_assert_eq(look(T0 + 700 * MS).ended, NOBODY);
    cr_assert_eq(look(T0 + 749 * MS).ended, NOBODY);
    cr_assert_eq(look(T0 + 750 * MS).ended, P(3));
    cr_assert_eq(w.n_restored[3], 1);
    cr_assert_eq(w.stormed, 0);
}

Test(watchdog, section_9_a_storm_that_never_ends_is_one_detection)
{
    for (uint64_t t = T0; t < T0 + 30 * NS_PER_S; t += 50 * MS) {
        xoff(P(3) | P(4), t);
        look(t);
    }
    cr_assert_eq(w.n_detected[3], 1);
    cr_assert_eq(w.n_detected[4], 1);
    cr_assert_eq(w.n_restored[3], 0);
}

Test(watchdog, section_9_what_is_not_watched_is_no_storm)
{
    xoff(P(0), T0);
    cr_assert_eq(look(T0 + 10 * NS_PER_S).began, NOBODY);
    cr_assert_eq(watchdog_deadline(&w, P(0), T0), CLOCK_NEVER);
}

Test(watchdog, section_9_stop_in_mid_storm_then_start_carries_nothing_over)
{
    struct watchdog_conf off = conf;

    off.prios = 0;
    xoff(P(3), T0);
    look(T0 + 400 * MS);
    cr_assert_eq(watchdog_set(&w, &off, T0 + 420 * MS), P(3));
    cr_assert_eq(w.stormed, 0);
    cr_assert_eq(w.n_restored[3], 1);
    cr_assert_eq(watchdog_set(&w, &conf, T0 + 500 * MS), NOBODY);
    /* Paused all the time, but nothing of before counts. */
    xoff(P(3), T0 + 550 * MS);
    cr_assert_eq(look(T0 + 600 * MS).began, NOBODY);
    cr_assert_eq(look(T0 + 899 * MS).began, NOBODY);
    cr_assert_eq(look(T0 + 900 * MS).began, P(3));
}

Test(watchdog, section_9_what_is_left_of_a_pause_is_not_another_storm)
{
    struct watchdog_conf quick = conf;

    /* An alert leaves the queue paused; its pause outlives the storm. */
    quick.restoration_ns = 100 * MS;
    quick.detection_ns = 100 * MS;
    watchdog_set(&w, &quick, T0);
    xoff(P(3), T0);
    cr_assert_eq(look(T0 + 100 * MS).began, P(3));
    cr_assert_eq(look(T0 + 200 * MS).ended, P(3));
    cr_assert_eq(look(T0 + 300 * MS).began, NOBODY);
    cr_assert_eq(look(T0 + 400 * MS).began, NOBODY);
}

Test(watchdog, a_change_of_times_keeps_the_storm_and_the_clock)
{
    struct watchdog_conf slow = conf;

    xoff(P(3), T0);
    look(T0 + 400 * MS);
    slow.restoration_ns = 2000 * MS;
    slow.prios = P(3);
    cr_assert_eq(watchdog_set(&w, &slow, T0 + 500 * MS), NOBODY);
    cr_assert_eq(w.stormed, P(3));
    cr_assert_eq(look(T0 + 1999 * MS).ended, NOBODY);
    cr_assert_eq(look(T0 + 2000 * MS).ended, P(3));
}

Test(watchdog, section_9_looks_on_a_grid_and_only_when_there_is_something)
{
    cr_assert_eq(watchdog_deadline(&w, 0, T0 + 5), CLOCK_NEVER);
    cr_assert_eq(watchdog_deadline(&w, P(3), T0), T0 + 100 * MS);
    cr_assert_eq(watchdog_deadline(&w, P(3), T0 + 99 * MS), T0 + 100 * MS);
    cr_assert_eq(watchdog_deadline(&w, P(3), T0 + 100 * MS), T0 + 200 * MS);
    xoff(P(3), T0);
    look(T0 + 400 * MS);
    cr_assert_eq(watchdog_deadline(&w, 0, T0 + 401 * MS), T0 + 500 * MS,
                 "a storm is looked at while nothing is paused");
}

/* --- the guard --------------------------------------------------------- */

static struct guard g;

static void
init_guard(void)
{
    const struct guard_conf gc = {.time_ns = 500 * MS};

    g = (struct guard){.stuck = 0};
    guard_set(&g, &gc);
    since[3] = T0;
    since[4] = T0 + 200 * MS;
}

TestSuite(guard, .init = init_guard);

Test(guard, section_9_finds_a_group_that_is_in_xoff_for_longer)
{
    uint8_t both = P(3) | P(4);

    cr_assert_eq(guard_deadline(&g, both, since), T0 + 500 * MS + 1);
    cr_assert_eq(guard_poll(&g, both, since, T0 + 500 * MS), NOBODY);
    cr_assert_eq(guard_poll(&g, both, since, T0 + 500 * MS + 1), P(3));
    cr_assert_eq(guard_deadline(&g, both, since), T0 + 700 * MS + 1);
    cr_assert_eq(guard_poll(&g, both, since, T0 + 600 * MS), NOBODY,
                 "is told once");
    cr_assert_eq(guard_poll(&g, both, since, T0 + 701 * MS), P(4));
    cr_assert_eq(guard_deadline(&g, both, since), CLOCK_NEVER);
    cr_assert_eq(g.n_detected[3], 1);
}

Test(guard, section_9_one_xon_begins_anew)
{
    guard_poll(&g, P(3), since, T0 + 600 * MS);
    guard_xon(&g, 3);
    cr_assert_eq(g.stuck, 0);
    since[3] = T0 + 601 * MS;
    cr_assert_eq(guard_poll(&g, P(3), since, T0 + 1000 * MS), NOBODY);
    cr_assert_eq(guard_poll(&g, P(3), since, T0 + 1102 * MS), P(3));
    cr_assert_eq(g.n_detected[3], 2);
}

Test(guard, off_finds_nothing_and_forgets)
{
    const struct guard_conf off = {.time_ns = 0};

    guard_poll(&g, P(3), since, T0 + 600 * MS);
    guard_set(&g, &off);
    cr_assert_eq(g.stuck, 0);
    cr_assert_eq(guard_poll(&g, P(4), since, T0 + 60000 * MS), NOBODY);
    cr_assert_eq(guard_deadline(&g, P(4), since), CLOCK_NEVER);
}
