/* SPDX-License-Identifier: Apache-2.0
 *
 * The real clock: see clock.h.
 */
#include "base/clock.h"

#include <time.h>

static uint64_t
read_ns(clockid_t id)
{
    struct timespec ts;

    clock_gettime(id, &ts);
    return (uint64_t) ts.tv_sec * NS_PER_S + (uint64_t) ts.tv_nsec;
}

uint64_t
clock_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

uint64_t
clock_wall_ns(void)
{
    return read_ns(CLOCK_REALTIME);
}
