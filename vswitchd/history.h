/* SPDX-License-Identifier: Apache-2.0
 *
 * The history of a bridge's flow control: each XOFF and XON, pause and
 * resume, storm and endless pause, with its reason and its length.  A ring of
 * fixed size; what it has lost is counted.  Events that are streamed are made
 * from the same records.  Control thread.
 */
#ifndef VSWITCHD_HISTORY_H
#define VSWITCHD_HISTORY_H

#include "conf/conf.h"
#include "dp/dp.h"

#include <json-c/json.h>
#include <stdint.h>

/* Records of a bridge, about half a megabyte. */
#define HISTORY_SIZE 4096

struct bridge;

/* Something that happened, in names: ports may be gone when it is read. */
struct history_record {
    struct dp_event ev;                 /* as the datapath told it */
    char port[CONF_NAME_MAX + 1];       /* whose group or priority */
    char cause_port[CONF_NAME_MAX + 1]; /* of ev.cause; "": none */
    uint8_t priorities;                 /* of the group, bit p */
    uint8_t queue;                      /* of the priority */
    uint8_t action;                     /* STORM: enum watchdog_action */
    struct dp_storm_count lost;         /* RESTORED: what the storm did */
};

struct history;
struct history *history_create(void);
void history_destroy(struct history *);

/* What `from` had goes to `to`, which takes its place, with what its datapath,
 * which has ended, still had to tell. */
void history_inherit(struct bridge *to, struct bridge *from);

void history_add(struct history *, const struct history_record *);
/* Records there are, and how many were overwritten. */
uint32_t history_count(const struct history *);
uint64_t history_overwritten(const struct history *);
/* The i-th, 0 being the oldest. */
const struct history_record *history_get(const struct history *, uint32_t i);

/* Makes a record of an event of b. */
void history_record(const struct bridge *, const struct dp_event *,
                    struct history_record *);
/* As it is streamed and shown: type, time, bridge, port and what belongs to
 * its type. */
struct json_object *history_json(const struct bridge *,
                                 const struct history_record *);

#endif
