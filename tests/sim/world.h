/* SPDX-License-Identifier: Apache-2.0
 *
 * What random.c makes up for a whole fabric.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "qos/pfc.h"

#include <stdbool.h>
#include <stdint.h>

/* What a random fabric has in common. */
struct sim_world {
    uint64_t rate_bps;   /* of the stations' links */
    uint64_t delay_ns;   /* of the longest cable */
    bool small_frames;   /* many small frames, or some of all sizes */
    bool scarce;         /* switches have hardly more memory than they must */
    bool dynamic;        /* limits of groups are 2^alpha of what is free */
    uint16_t vid;        /* VLAN of all flows; 0: priority tags, or none */
    bool mixed_rates;    /* links of different rates */
    bool drop_unknown;   /* switches do not flood what is lossless */
    bool ip;             /* frames are IPv4, and switches trust their DSCP */
    uint8_t pcp[N_PRIO]; /* that frames of a priority carry, without ip */
    uint8_t dscp[2][N_PRIO];  /* the same, with ip: from senders; behind the
                                 first switch */
    uint8_t dscp_to_prio[64]; /* of all switches, with ip */
    bool tables, remarks, copies; /* of flows: openflow.c */
};

#endif
