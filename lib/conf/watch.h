/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of the model that says what is watched: storms of a port's peer
 * (PFC watchdog) and our own endless pausing (guard).  Included by conf.h;
 * control thread.
 *
 *   port:   "watchdog": {"enabled": false, "action": "drop",
 *                        "detection_ms": 200, "restoration_ms": 200,
 *                        "poll_ms": 200},
 *           "guard": {"time_ms": 0, "action": "alert"}
 *   bridge: "watchdog_override": "off", "drop_lossless_unknown": false
 */
#ifndef CONF_WATCH_H
#define CONF_WATCH_H

#include "qos/watchdog.h"

#include <stdbool.h>
#include <stdint.h>

#define CONF_WATCHDOG_MS 200u /* default of its three times */

struct conf_watchdog {
    bool enabled;                /* it looks */
    enum watchdog_action action; /* what is done in a storm */
    uint32_t detection_ms;       /* paused for so long: a storm; 100..5000 */
    uint32_t restoration_ms;     /* no XOFF for so long: over; 100..60000 */
    uint32_t poll_ms;            /* 100..1000, not above either */
};

struct conf_guard {
    uint32_t time_ms; /* XOFF for longer: stuck; 0: off, or 100..60000 */
    bool release;     /* "release": let the peer go; else "alert" */
};

/* What is done in every storm, whatever ports say. */
enum conf_override {
    CONF_OVERRIDE_OFF, /* what they say */
    CONF_OVERRIDE_DROP,
    CONF_OVERRIDE_FORWARD,
};

/* The words of the JSON form; find returns false for another word. */
const char *conf_watchdog_action_name(enum watchdog_action);
bool conf_watchdog_action_find(const char *word, enum watchdog_action *);
const char *conf_override_name(enum conf_override);
bool conf_override_find(const char *word, enum conf_override *);

#endif
