/* SPDX-License-Identifier: Apache-2.0
 *
 * An OpenFlow port as a value.  Pure data, any thread.
 */
#ifndef OFP_PORT_H
#define OFP_PORT_H

#include <stdint.h>

/* Bits of ofp_port.state. */
#define OFPPS_LINK_DOWN (1u << 0)
#define OFPPS_BLOCKED   (1u << 1)
#define OFPPS_LIVE      (1u << 2)

/* Bits of curr, advertised, supported and peer. */
#define OFPPF_10MB_HD  (1u << 0)
#define OFPPF_10MB_FD  (1u << 1)
#define OFPPF_100MB_HD (1u << 2)
#define OFPPF_100MB_FD (1u << 3)
#define OFPPF_1GB_HD   (1u << 4)
#define OFPPF_1GB_FD   (1u << 5)
#define OFPPF_10GB_FD  (1u << 6)
#define OFPPF_40GB_FD  (1u << 7)
#define OFPPF_100GB_FD (1u << 8)
#define OFPPF_1TB_FD   (1u << 9)
#define OFPPF_OTHER    (1u << 10)
#define OFPPF_COPPER   (1u << 11)
#define OFPPF_FIBER    (1u << 12)
#define OFPPF_AUTONEG  (1u << 13)

/* OFPPC_* of config are in dp/of.h. */
struct ofp_port {
    uint32_t number;     /* 1 and up, or OFPP_LOCAL */
    uint8_t hw_addr[6];  /* MAC address */
    char name[16];       /* ends with a NUL */
    uint32_t config;     /* OFPPC_*, as controllers set it */
    uint32_t state;      /* OFPPS_* */
    uint32_t curr;       /* OFPPF_*: as it is */
    uint32_t advertised; /* as it tells its peer */
    uint32_t supported;  /* as it could be */
    uint32_t peer;       /* as the peer tells */
    uint32_t curr_speed; /* kb/s; 0: unknown */
    uint32_t max_speed;  /* kb/s; 0: unknown */
};

#endif
