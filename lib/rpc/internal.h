/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of lib/rpc share among themselves.
 */
#ifndef RPC_INTERNAL_H
#define RPC_INTERNAL_H

#include "rpc/rpc.h"

/* How texts are written: one line, slashes as they are. */
#define RPC_TEXT_FLAGS \
    (JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)

/* Checks params (object, array or null: absent) against the method's table.
 * *out is a new object with the members under their names and every number a
 * number.  EINVAL with a path like "/params/enable/0". */
int rpc_params_check(const struct rpc_method *, struct json_object *params,
                     struct json_object **out, struct err *);

/* As json_object_new_string(), without the octets that are no UTF-8: text may
 * have been cut within a character. */
struct json_object *rpc_string(const char *text);

/* Says to people which member is twice in its object, in n octets of text
 * that are known to be JSON. */
void rpc_find_twice(const char *text, size_t n, char *out, size_t size);

/* What a code is called, and its one-line meaning. */
struct rpc_code_name {
    enum rpc_code code;
    const char *name;    /* of OpenRPC components, e.g. "NotFound" */
    const char *message; /* for people */
};
extern const struct rpc_code_name rpc_code_names[]; /* ends with code 0 */

#endif
