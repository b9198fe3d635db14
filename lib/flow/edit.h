/* SPDX-License-Identifier: Apache-2.0
 *
 * What actions do to a frame: set-field, TTLs, pushing and popping of tags.
 * Checksums that were right stay right, and those that were wrong stay wrong:
 * they follow what changes and are never computed anew.  Pure; the frame is
 * the caller's alone.  Datapath thread, tests.
 */
#ifndef FLOW_EDIT_H
#define FLOW_EDIT_H

#include "flow/key.h"
#include "ofp/match.h"

#include <stdbool.h>
#include <stdint.h>

/* A frame that may be changed, with what is known of it. */
struct flow_frame {
    uint8_t *data;      /* its first octet */
    uint32_t len;       /* how many */
    uint32_t head;      /* octets of room before it */
    uint32_t tail;      /* and behind it */
    bool key_stale;     /* key is to be read anew */
    bool view_stale;    /* and so is view */
    struct ofp_key key; /* but for its metadata, tunnel_id and in_port */
    struct flow_view view;
};

/* Makes key and view right: before they are looked at. */
void flow_frame_read(struct flow_frame *);

/* Sets a field to value (OXM octets, n_bytes of it); mask null: all of it.
 * What the frame does not have is left alone; so are fields that are not of a
 * frame (in_port, metadata, tunnel_id). */
void flow_edit_set(struct flow_frame *, enum ofp_field, const uint8_t *value,
                   const uint8_t *mask);

/* False: the TTL is 0 or would become so, and is left.  True without doing
 * anything when the frame has none. */
bool flow_edit_dec_nw_ttl(struct flow_frame *);
bool flow_edit_dec_mpls_ttl(struct flow_frame *);
void flow_edit_set_nw_ttl(struct flow_frame *, uint8_t ttl);
void flow_edit_set_mpls_ttl(struct flow_frame *, uint8_t ttl);
/* Between the outer MPLS entry and what is behind it, an entry or IP. */
void flow_edit_copy_ttl_in(struct flow_frame *);
void flow_edit_copy_ttl_out(struct flow_frame *);

/* False: no room. */
bool flow_edit_push_vlan(struct flow_frame *, uint16_t tpid);
bool flow_edit_push_mpls(struct flow_frame *, uint16_t ethertype);
bool flow_edit_push_pbb(struct flow_frame *, uint16_t ethertype);
void flow_edit_pop_vlan(struct flow_frame *);
void flow_edit_pop_mpls(struct flow_frame *, uint16_t ethertype);
void flow_edit_pop_pbb(struct flow_frame *);
/* 1.0: a tag is pushed when there is none.  False: no room. */
bool flow_edit_vlan_vid(struct flow_frame *, uint16_t vid);
bool flow_edit_vlan_pcp(struct flow_frame *, uint8_t pcp);

#endif
