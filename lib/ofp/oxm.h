/* SPDX-License-Identifier: Apache-2.0
 *
 * One OXM field, for matches and for set-field.  Private to lib/ofp.
 */
#ifndef OFP_OXM_H
#define OFP_OXM_H

#include "base/cursor.h"
#include "ofp/buf.h"
#include "ofp/match.h"

#define OFPXMC_OPENFLOW_BASIC 0x8000u

struct oxm {
    uint32_t head;        /* as it was written */
    enum ofp_field field; /* what it is */
    bool has_mask;        /* it came with one */
    uint8_t value[16];    /* n_bytes of the field */
    uint8_t mask[16];     /* the same; all bits when it came without */
};

enum oxm_status {
    OXM_OK,
    OXM_BAD_FIELD, /* unknown class or field; nothing but head is set */
    OXM_BAD_LEN,   /* not the field's, or more than there is */
    OXM_BAD_VALUE, /* bits that the field has not */
};

/* Reads one.  The mask is not looked at. */
enum oxm_status oxm_take(struct cursor *, struct oxm *);
/* Writes one; mask null: without. */
void oxm_encode(struct ofp_buf *, enum ofp_field, const uint8_t *value,
                const uint8_t *mask);

#endif
