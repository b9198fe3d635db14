/* SPDX-License-Identifier: Apache-2.0
 *
 * A frame that a match lets through: for tracing a flow that is only
 * described.  Pure.
 */
#ifndef VSWITCHD_FLOW_FRAME_H
#define VSWITCHD_FLOW_FRAME_H

#include "ofp/match.h"

#include <stddef.h>
#include <stdint.h>

#define FLOW_FRAME_MAX 256 /* octets of any frame that is made */

/* Returns its length, 60 at least.  What the match leaves open is zero, but
 * for TTLs (64), and protocols that the fields ask for. */
size_t flow_frame_make(const struct ofp_match *, uint8_t out[FLOW_FRAME_MAX]);

#endif
