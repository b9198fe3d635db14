/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of OpenFlow messages: matches, actions, instructions, buckets and
 * bands, between wire and values.  What they read is checked whole, every
 * length in every nesting, before it is used; lists come from an arena.  Who
 * deals in whole messages wants msg.h; who keeps matches and instructions
 * compactly keeps what these write.  Any thread.
 */
#ifndef OFP_CODEC_H
#define OFP_CODEC_H

#include "base/cursor.h"
#include "ofp/action.h"
#include "ofp/arena.h"
#include "ofp/buf.h"
#include "ofp/error.h"
#include "ofp/match.h"

#define OFP_V10 1
#define OFP_V13 4
/* Not a version of a peer: how lists are kept at home.  As 1.3, and besides
 * what only 1.0 can say (SET_VLAN_VID, SET_VLAN_PCP, ENQUEUE). */
#define OFP_VHOME 0

/* --- matches (oxm.c) ----------------------------------------------------- */

/* OXM fields alone, n octets of them.  Masks of all ones and fields with a
 * mask of all zeros leave no trace, as the standard has it. */
bool ofp_oxm_decode(const uint8_t *oxm, size_t n, struct ofp_match *,
                    struct ofp_error *);
/* In ascending order of the fields. */
void ofp_oxm_encode(struct ofp_buf *, const struct ofp_match *);

/* struct ofp_match of 1.3 with its padding. */
bool ofp_match_decode(struct cursor *, struct ofp_match *, struct ofp_error *);
void ofp_match_encode(struct ofp_buf *, const struct ofp_match *);

/* The 40 octets of 1.0 and back; what 1.0 cannot say is left out. */
bool ofp10_match_decode(struct cursor *, struct ofp_match *,
                        struct ofp_error *);
void ofp10_match_encode(struct ofp_buf *, const struct ofp_match *);

/* A value that the field may have?  Bits, and vlan_vid without its bit. */
bool ofp_value_valid(enum ofp_field, const uint8_t *value);

/* --- actions and instructions (act_wire.c, inst_wire.c) ------------------ */

/* n octets of actions, as `version` writes them. */
bool ofp_actions_decode(const uint8_t *, size_t n, uint8_t version,
                        struct ofp_arena *, struct ofp_actions *,
                        struct ofp_error *);
/* What the version cannot say is said in its words (mod_vlan_vid at 1.3 is a
 * set-field) or left out. */
void ofp_actions_encode(struct ofp_buf *, uint8_t version,
                        const struct ofp_actions *);

/* n octets of instructions, of 1.3 or OFP_VHOME. */
bool ofp_instructions_decode(const uint8_t *, size_t n, uint8_t version,
                             struct ofp_arena *, struct ofp_instructions *,
                             struct ofp_error *);
void ofp_instructions_encode(struct ofp_buf *, uint8_t version,
                             const struct ofp_instructions *);

/* Whether the actions can apply to frames that match: prerequisites of
 * set-fields, a tag or label to pop, with what earlier actions of the list
 * pushed or popped in mind.  BAD_ACTION/MATCH_INCONSISTENT.  The codec asks
 * for each flow-mod of 1.3; the text syntax asks too. */
bool ofp_actions_fit(const struct ofp_actions *, const struct ofp_match *,
                     struct ofp_error *);
/* The same of apply-actions and write-actions, the latter as the set that
 * they make. */
bool ofp_instructions_fit(const struct ofp_instructions *,
                          const struct ofp_match *, struct ofp_error *);

/* --- buckets and bands (group_wire.c) ------------------------------------ */

/* n octets of buckets. */
bool ofp_buckets_decode(const uint8_t *, size_t n, struct ofp_arena *,
                        struct ofp_group *, struct ofp_error *);
void ofp_buckets_encode(struct ofp_buf *, const struct ofp_group *);
/* n octets of bands. */
bool ofp_bands_decode(const uint8_t *, size_t n, struct ofp_meter *,
                      struct ofp_error *);
void ofp_bands_encode(struct ofp_buf *, const struct ofp_meter *);

#endif
