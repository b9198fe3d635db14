/* SPDX-License-Identifier: Apache-2.0
 *
 * MAC control frames that no one should send: what a switch has to consume
 * and count, and never to forward.  Pure; for tests.
 */
#ifndef UTILITIES_PROBE_MALFORMED_H
#define UTILITIES_PROBE_MALFORMED_H

#include <stdint.h>

#define PROBE_N_MALFORMED   5
#define PROBE_MALFORMED_MAX 64 /* longest of them, octets */

/* "short-pfc", "short-pause", "tagged", "wrong-address", "unknown-opcode". */
extern const char *const probe_malformed_names[PROBE_N_MALFORMED];

/* Writes kind 0..PROBE_N_MALFORMED-1; returns its length. */
uint32_t probe_malformed_build(uint8_t out[PROBE_MALFORMED_MAX], uint32_t kind,
                               const uint8_t src[6]);

#endif
