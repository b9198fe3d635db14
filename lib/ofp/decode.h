/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files that decode messages share.  Private to lib/ofp.
 */
#ifndef OFP_DECODE_H
#define OFP_DECODE_H

#include "base/cursor.h"
#include "ofp/msg.h"

/* The body of a message, behind its header, into m, whose kind, version and
 * xid are there. */
typedef bool decode_fn(struct cursor *, struct ofp_msg *, struct ofp_error *);

/* A kind of message in a version. */
struct decode_form {
    uint16_t wire;      /* number of the type on the wire */
    enum ofp_kind kind; /* what it is */
    uint16_t len;       /* octets of the body, at least ... */
    bool exact;         /* ... or exactly */
    decode_fn *decode;  /* null: the body says nothing */
};

/* The form with that number; null: none. */
const struct decode_form *decode_find(const struct decode_form *, size_t n,
                                      uint16_t wire);
/* Checks the length of the body and decodes it. */
bool decode_run(const struct decode_form *, struct cursor *, struct ofp_msg *,
                struct ofp_error *);
bool decode_bad_len(struct ofp_error *, const char *what, size_t n);

/* Bodies whose layout is the same in both versions. */
decode_fn decode_hello, decode_error, decode_echo, decode_config;

/* Of a version each (msg13.c, multipart.c, msg10.c). */
bool decode13(uint8_t type, struct cursor *, struct ofp_msg *,
              struct ofp_error *);
bool decode10(uint8_t type, struct cursor *, struct ofp_msg *,
              struct ofp_error *);
decode_fn decode_multipart;

/* Body of a table-features request (tablefeat.c). */
decode_fn decode_table_features;

/* Refuses OFPP_TABLE, which only a packet-out may name. */
bool decode_no_table_port(const struct ofp_actions *, struct ofp_error *);

#endif
