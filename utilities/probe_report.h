/* SPDX-License-Identifier: Apache-2.0
 *
 * The results of a run: one JSON object, and the same as tables for people.
 * After the run; one thread.
 */
#ifndef UTILITIES_PROBE_REPORT_H
#define UTILITIES_PROBE_REPORT_H

#include "probe_station.h"

#include <json-c/json.h>
#include <stdio.h>

/* A new object with everything; now_ns ends what still lasts. */
struct json_object *probe_report_json(const struct probe_station *,
                                      uint64_t now_ns);

/* The same for people. */
void probe_report_print(const struct probe_station *, uint64_t now_ns, FILE *);

#endif
