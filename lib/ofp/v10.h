/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of OpenFlow 1.0 in terms of 1.3 and back.  Private to lib/ofp.
 */
#ifndef OFP_V10_H
#define OFP_V10_H

#include "ofp/action.h"

#define OFPP10_MAX  0xff00u
#define OFPP10_NONE 0xffffu

/* A port of 16 bits as one of 32; OFPP10_NONE is OFPP_ANY. */
static inline uint32_t
v10_port_in(uint16_t p)
{
    return p >= OFPP10_MAX ? 0xffff0000u | p : p;
}

/* And back.  Ports beyond 16 bits have no name there: OFPP10_NONE. */
static inline uint16_t
v10_port_out(uint32_t p)
{
    return p < OFPP10_MAX || p >= OFPP_MAX ? (uint16_t) p : OFPP10_NONE;
}

#endif
