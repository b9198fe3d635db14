/* SPDX-License-Identifier: Apache-2.0
 *
 * What the unit tests of flows share: actions and matches in few words, and
 * entries of a bridge on the bench (dp_rig.h).
 */
#ifndef TESTS_UNIT_FLOW_RIG_H
#define TESTS_UNIT_FLOW_RIG_H

#include "dp/of.h"
#include "flow/tables.h"
#include "ofp/action.h"
#include "ofp/match.h"
#include "tests/unit/dp_rig.h"

#define OF_PORT(i) ((uint32_t) (i) + 1) /* number of port i of the rig */

/* Actions. */
struct ofp_action a_output(uint32_t port);
struct ofp_action a_controller(uint16_t max_len);
struct ofp_action a_group(uint32_t id);
struct ofp_action a_queue(uint32_t queue);
struct ofp_action a_type(enum ofp_action_type);
struct ofp_action a_push(enum ofp_action_type, uint16_t ethertype);
struct ofp_action a_ttl(enum ofp_action_type, uint8_t ttl);
/* A field as a number of up to 64 bits. */
struct ofp_action a_set(enum ofp_field, uint64_t value);
struct ofp_action a_set_octets(enum ofp_field, const uint8_t *);

/* Matches: fields that are added to m, exact. */
void m_set(struct ofp_match *m, enum ofp_field, uint64_t value);
void m_set_masked(struct ofp_match *m, enum ofp_field, uint64_t value,
                  uint64_t mask);

#define ACTIONS(...)                                 \
    ((struct ofp_actions){                           \
        sizeof((struct ofp_action[]){__VA_ARGS__}) / \
            sizeof(struct ofp_action),               \
        (struct ofp_action[]){__VA_ARGS__},          \
    })

/* Entries: made, posted and carried out (a turn is made). */
struct flow *fr_add(struct rig *, uint8_t table, uint16_t priority,
                    const struct ofp_match *, const struct ofp_instructions *);
/* One that applies these, in table 0, whatever the frame is. */
struct flow *fr_apply(struct rig *, struct ofp_actions);
struct flow *fr_write(struct rig *, struct ofp_actions);
void fr_del(struct rig *, struct flow *);
void fr_group(struct rig *, const struct ofp_group *);
void fr_meter(struct rig *, const struct ofp_meter *);
/* Operations as they are, in one change; what they hand back is freed. */
void fr_ops(struct rig *, struct flow_op *, uint32_t n, bool atomic);
/* Gives the ports of the rig their OpenFlow numbers. */
void fr_number(struct rig *);

#endif
