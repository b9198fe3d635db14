/* SPDX-License-Identifier: Apache-2.0
 *
 * Short words for making JSON: what the methods and events say over and over.
 * Control thread.
 */
#ifndef VSWITCHD_JSON_H
#define VSWITCHD_JSON_H

#include "base/counter.h"

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Add a member to an object. */
void json_add_text(struct json_object *, const char *key, const char *value);
void json_add_uint(struct json_object *, const char *key, uint64_t value);
void json_add_bool(struct json_object *, const char *key, bool value);
/* "alpha": a number, or "none". */
void json_add_alpha(struct json_object *, int8_t alpha);

/* "changed": what conf_diff() says, which is taken.  Of more than an answer
 * holds, the first ones, and "n_more" says how many are left out. */
void json_add_changes(struct json_object *, struct json_object *changed);

/* RFC 3339, UTC, of a moment by clock_ns(); 0: null. */
struct json_object *json_moment(uint64_t when_ns);
/* An array of n such moments. */
struct json_object *json_moments(const uint64_t *, size_t n);

/* Frames by reason (enum dp_drop), of those that there were, or of all. */
struct json_object *json_drops(const uint64_t *, bool all);

/* [3, 4] of the bits that are set. */
struct json_object *json_bits(uint8_t bits);
/* An array of what n counters hold now. */
struct json_object *json_counters(const counter_t *, size_t n);

/* Reads a member of validated params; the default when it is absent. */
const char *json_get_text(struct json_object *, const char *key,
                          const char *otherwise);
int64_t json_get_int(struct json_object *, const char *key, int64_t otherwise);
bool json_get_bool(struct json_object *, const char *key, bool otherwise);
struct json_object *json_get(struct json_object *, const char *key);

/* A copy of an object (one level) without some members; null ends them. */
struct json_object *json_without(struct json_object *,
                                 const char *const keys[]);

#endif
