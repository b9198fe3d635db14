/* SPDX-License-Identifier: Apache-2.0
 *
 * sluiced --host: a machine or container whose applications send over a TAP
 * and obey PFC.  Control thread, at the start.
 */
#ifndef VSWITCHD_HOST_H
#define VSWITCHD_HOST_H

#include "daemon.h"

#include <stdbool.h>
#include <stdint.h>

#define HOST_BRIDGE "host"

struct host_spec {
    char uplink[CONF_NAME_MAX + 1]; /* interface towards the network */
    const char *type;               /* of the uplink: a static text */
    char tap[CONF_NAME_MAX + 1];    /* what applications use */
    int64_t rate_bps;               /* of both */
    int64_t memory_bytes;           /* of the bridge */
    uint8_t prios;                  /* bit p: lossless */
    bool trust_dscp;                /* DSCP decides; else the PCP alone */
    char mac[18];                   /* address of the tap; empty: any */
};

/* "UPLINK[,KEY=VALUE]...".  The error's path is "--host". */
int host_parse(const char *text, struct host_spec *, struct err *);
/* Makes the bridge "host" of uplink and tap, unless there is one: then what
 * was configured since stays.  The uplink may come later. */
int host_start(struct daemon *, const struct host_spec *, struct err *);

#endif
