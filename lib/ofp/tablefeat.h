/* SPDX-License-Identifier: Apache-2.0
 *
 * What a flow table can do (1.3, 7.3.5.5), as bitmaps.  Pure data, any thread.
 */
#ifndef OFP_TABLEFEAT_H
#define OFP_TABLEFEAT_H

#include <stdint.h>

/* Bits of instructions: 1 << number on the wire (1 goto to 6 meter). */
#define OFP_INST_GOTO     (1u << 1)
#define OFP_INST_METADATA (1u << 2)
#define OFP_INST_WRITE    (1u << 3)
#define OFP_INST_APPLY    (1u << 4)
#define OFP_INST_CLEAR    (1u << 5)
#define OFP_INST_METER    (1u << 6)

/* One side of a pair: of entries, and of the table-miss entry. */
struct ofp_table_caps {
    uint32_t instructions;     /* OFP_INST_* */
    uint8_t next[32];          /* bit t: goto-table t is possible */
    uint32_t write_actions;    /* bit: enum ofp_action_type */
    uint32_t apply_actions;    /* bit: enum ofp_action_type */
    uint64_t write_set_fields; /* bit: enum ofp_field */
    uint64_t apply_set_fields; /* bit: enum ofp_field */
};

struct ofp_table_features {
    uint8_t table;               /* number */
    char name[33];               /* ends with a NUL */
    uint64_t metadata_match;     /* bits that can be matched */
    uint64_t metadata_write;     /* bits that can be written */
    uint32_t config;             /* deprecated */
    uint32_t max_entries;        /* entries that fit */
    struct ofp_table_caps entry; /* of entries */
    struct ofp_table_caps miss;  /* of the table-miss entry; a request that
                                    does not give a property has that of
                                    entry, as the standard says */
    uint64_t match;              /* bit: field can be matched */
    uint64_t mask;               /* bit: and with a mask */
    uint64_t wildcards;          /* bit: and need not be given */
};

#endif
