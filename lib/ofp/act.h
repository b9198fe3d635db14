/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files about actions share.  Private to lib/ofp.
 */
#ifndef OFP_ACT_H
#define OFP_ACT_H

#include "ofp/action.h"
#include "ofp/arena.h"
#include "ofp/buf.h"
#include "ofp/error.h"

/* Counts the actions of a list of n octets; false when a length is wrong or
 * there are too many. */
bool act_count(const uint8_t *, size_t n, size_t *n_actions,
               struct ofp_error *);
/* The kind of action that 1.3 gives this number; false: none. */
bool act_type_of(uint16_t wire, enum ofp_action_type *);
/* And back. */
uint16_t act_wire_of(enum ofp_action_type);
/* A port that frames may be sent to, be it there or not? */
bool act_out_port_valid(uint32_t port);
void act_encode(struct ofp_buf *, uint8_t version, const struct ofp_action *);

/* Of 1.0 (act10.c): n_actions of them in n octets, that were counted. */
bool act10_decode(const uint8_t *, size_t n, size_t n_actions,
                  struct ofp_arena *, struct ofp_actions *,
                  struct ofp_error *);
void act10_encode(struct ofp_buf *, const struct ofp_actions *);

#endif
