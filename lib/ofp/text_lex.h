/* SPDX-License-Identifier: Apache-2.0
 *
 * Words and values of the text syntax.  Private to lib/ofp.
 */
#ifndef OFP_TEXT_LEX_H
#define OFP_TEXT_LEX_H

#include "ofp/text.h"

/* What a reader carries along. */
struct text {
    const struct ofp_names *names; /* of ports; may be null */
    struct ofp_arena *arena;       /* for lists */
    struct err *err;               /* of the caller; may be null */
    const struct ofp_match *match; /* that the actions are for; null: any */
    bool packet_out;               /* output to TABLE is allowed */
};

struct text_pair {
    char *key;      /* "dl_src" */
    char *value;    /* what follows '=' or ':', or is in parentheses; "" */
    char delimiter; /* '=', ':', '(' or 0: there is no value */
};

/* The next key and value of *s, which is cut into pieces.  Pairs are separated
 * by commas and blanks; parentheses in a value are closed before it ends.
 * False: there is none. */
bool text_next(char **s, struct text_pair *);

/* Fills err, returns EINVAL.  word: the value found. */
int text_fail(const struct text *, const char *word, const char *allowed,
              const char *format, ...) __attribute__((format(printf, 4, 5)));

/* A copy of a text in the arena, to be cut into pieces; null: no memory. */
char *text_copy(const struct text *, const char *);

/* A whole number, decimal, hexadecimal with 0x, octal with 0. */
bool text_u64(const char *, uint64_t *);
/* The same, at most max. */
int text_number(const struct text *, const char *key, const char *value,
                uint64_t max, uint64_t *);

/* A value of a field, and its mask ("value/mask"): ones where there is none.
 * "*" and "ANY" give a mask of zeros.  has_mask null: none is allowed. */
int text_field(const struct text *, const char *key, enum ofp_field f,
               char *value, uint8_t *v, uint8_t *mask, bool *has_mask);

/* The field that a word names where the match is m; false: none.  The word
 * may be any that ovs-ofctl knows for it (nw_src, dl_dst, tp_src ...). */
bool text_field_name(const char *, const struct ofp_match *m,
                     enum ofp_field *);
/* Why a word of Open vSwitch is no field here; null: it knows none either. */
const char *text_foreign_field(const char *);

/* Reads the fields of a match out of pairs. */
struct text_match {
    struct ofp_match m;         /* so far */
    struct text_pair later[64]; /* pairs that wait for the protocol */
    unsigned n_later;           /* how many */
};
/* A pair of a match, or (*is_match false) something else. */
int text_match_pair(const struct text *, struct text_match *,
                    const struct text_pair *, bool *is_match);
/* The pairs that waited; prerequisites. */
int text_match_end(const struct text *, struct text_match *);

/* "output:1,..." into instructions.  Cuts s. */
int text_instructions(const struct text *, char *s, struct ofp_instructions *);
/* The same, where only actions are allowed (buckets, write_actions). */
int text_actions(const struct text *, char *s, struct ofp_actions *);

#endif
