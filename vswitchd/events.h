/* SPDX-License-Identifier: Apache-2.0
 *
 * What happens, told to those who asked (events.subscribe) and to the log.
 * Control thread.
 */
#ifndef VSWITCHD_EVENTS_H
#define VSWITCHD_EVENTS_H

#include "bridge.h"

#include <json-c/json.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of events, as bits of a subscription. */
enum event_kind {
    EVENT_XOFF = 1 << 0,      /* a group of ours tripped */
    EVENT_XON = 1 << 1,       /* and let go */
    EVENT_PAUSE = 1 << 2,     /* a peer paused us */
    EVENT_RESUME = 1 << 3,    /* and let go, or its time ran out */
    EVENT_VIOLATION = 1 << 4, /* a lossless frame was lost */
    EVENT_LINK = 1 << 5,      /* an interface came, went, or changed */
    EVENT_CONFIG = 1 << 6,    /* the configuration changed */
    EVENT_STORM = 1 << 7,     /* the watchdog detected a storm */
    EVENT_RESTORED = 1 << 8,  /* which is over */
    EVENT_STUCK = 1 << 9,     /* a group of ours pauses without end */
    EVENT_ALL = (1 << 10) - 1,
};
/* In the order of the bits; ends with null. */
extern const char *const event_names[];

/* XOFF, XON, PAUSE and RESUME events of a port that are shown per second. */
#define EVENTS_PER_SECOND 100

/* The kind of what a datapath tells. */
enum event_kind events_kind(enum dp_event_type);
/* {type, time, bridge, port}; bridge and port may be null. */
struct json_object *events_object(enum event_kind, uint64_t when_ns,
                                  const char *bridge, const char *port);

/* Takes what the datapath has to tell. */
void events_take(struct bridge *);
/* All of it, when the datapath has ended. */
void events_take_last(struct bridge *);

/* Sends the violations that were gathered: once a second. */
void events_violations(struct bridge *, struct port *);

void events_link(struct bridge *, const struct port *);
void events_config(struct daemon *, const struct conf *from,
                   const struct conf *to);
/* The kernel lost n frames of a port with a lossless class, by `reason`: they
 * may have been lossless ones. */
void events_kernel_drops(struct bridge *, struct port *, const char *reason,
                         uint64_t n);

#endif
