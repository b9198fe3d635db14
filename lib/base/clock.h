/* SPDX-License-Identifier: Apache-2.0
 *
 * The one real clock, in nanoseconds.  Only programs (vswitchd, utilities,
 * benchmarks) and providers read it; policy code is handed the time.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S  UINT64_C(1000000000)

/* A moment that never comes: "no deadline". */
#define CLOCK_NEVER UINT64_MAX

/* CLOCK_MONOTONIC in ns. */
uint64_t clock_ns(void);

/* CLOCK_REALTIME in ns since 1970, for showing to people. */
uint64_t clock_wall_ns(void);

#endif
