/* SPDX-License-Identifier: Apache-2.0
 *
 * Judging modifications: a file for each kind, and what they need of each
 * other.  What a modification did is in the journal (books.h), also when it is
 * refused: the caller rolls back.  Private to lib/ofproto; control thread.
 */
#ifndef OFPROTO_JUDGE_H
#define OFPROTO_JUDGE_H

#include "ofproto/books.h"

/* Modifications: false with the error; what they did is in the journal. */
bool flow_mod(struct ofproto *, const struct ofp_flow_mod *, bool persist,
              uint64_t now_ns, struct ofp_error *);
bool group_mod(struct ofproto *, const struct ofp_group_mod *, bool persist,
               uint64_t now_ns, struct ofp_error *);
bool meter_mod(struct ofproto *, const struct ofp_meter_mod *, bool persist,
               uint64_t now_ns, struct ofp_error *);
bool port_mod(struct ofproto *, const struct ofp_port_mod *,
              struct ofp_error *);
bool table_mod(struct ofproto *, const struct ofp_table_mod *,
               struct ofp_error *);

/* Takes an entry out, and records it. */
void flow_delete(struct ofproto *, struct entry *, enum ofp_removed_reason,
                 bool tell, uint64_t now_ns);
/* Entries that name the group, or the meter, go. */
void flow_delete_users(struct ofproto *, const struct group *,
                       const struct meter *, uint64_t now_ns);
/* Ports, queues and groups that actions name: are they there? */
bool check_actions(const struct ofproto *, const struct ofp_actions *,
                   struct ofp_error *);
bool check_instructions(const struct ofproto *, uint8_t table,
                        const struct ofp_instructions *, struct ofp_error *);
void group_destroy(struct group *);
void meter_destroy(struct meter *);
/* The datapath has the first (may be null) in the place of the second (may be
 * null), which goes. */
void group_finish(struct group *, struct group *old);
void meter_finish(struct meter *, struct meter *old);
/* `by` more (or less) flows or groups name it. */
void group_count(struct ofproto *, uint32_t id, int by);
void meter_count(struct ofproto *, uint32_t id, int by);
/* Its buckets name groups, which are counted as above. */
void group_count_chained(struct ofproto *, const struct group *, int by);

struct ofp_port *port_find(const struct ofproto *, uint32_t number);

#endif
