/* SPDX-License-Identifier: Apache-2.0
 *
 * Option arguments of the form "key=value,key=value", decoded by tables with
 * one row a key, so that a refusal always names the option, the key, the value
 * and what is allowed.  Pure; called at the start of sluice-probe.
 */
#ifndef UTILITIES_PROBE_KV_H
#define UTILITIES_PROBE_KV_H

#include "base/err.h"
#include "rpc/rpc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a value that is no number into a member of *base. */
typedef int probe_kv_fn(void *base, const char *value, struct err *);

/* One key of an option's argument. */
struct probe_key {
    const char *name;   /* as written; null ends a table */
    probe_kv_fn *parse; /* null: a number, as the rest says */
    enum rpc_unit unit; /* what the number counts */
    int64_t min, max;   /* its range, both included */
    size_t width;       /* octets of the member, 1, 4 or 8 */
    size_t offset;      /* of the member in its struct */
    bool required;      /* the key may not be absent */
};

/* Decodes `text` by `keys` into *base.  *given gets a bit for each row that
 * was there. */
int probe_kv_parse(void *base, const struct probe_key *keys,
                   const char *option, const char *text, uint32_t *given,
                   struct err *);

/* One number; option and key (may be null) are for the message. */
int probe_kv_num(void *member, const struct probe_key *, const char *option,
                 const char *key, const char *value, struct err *);

/* EINVAL: --option key: "value" is not <allowed>. */
int probe_kv_refuse(struct err *, const char *option, const char *key,
                    const char *value, const char *allowed);

#endif
