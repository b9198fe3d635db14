/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenFlow errors as values: type and code of an OFPT_ERROR (1.3, 7.4.4), and
 * a sentence for logs and for people who used the text syntax.
 */
#ifndef OFP_ERROR_H
#define OFP_ERROR_H

#include <stdbool.h>
#include <stdint.h>

struct ofp_error {
    uint16_t type; /* OFPET_*, of version 1.3; the 1.0 codec translates */
    uint16_t code; /* OFPBRC_* and so on, of that type */
    char msg[160]; /* what is wrong, with the value and what is allowed */
};

/* Fills *e (null accepted) and returns false, for `return ofp_fail(...)`. */
bool ofp_fail(struct ofp_error *, uint16_t type, uint16_t code,
              const char *format, ...) __attribute__((format(printf, 4, 5)));

enum ofp_error_type {
    OFPET_HELLO_FAILED = 0,
    OFPET_BAD_REQUEST = 1,
    OFPET_BAD_ACTION = 2,
    OFPET_BAD_INSTRUCTION = 3,
    OFPET_BAD_MATCH = 4,
    OFPET_FLOW_MOD_FAILED = 5,
    OFPET_GROUP_MOD_FAILED = 6,
    OFPET_PORT_MOD_FAILED = 7,
    OFPET_TABLE_MOD_FAILED = 8,
    OFPET_QUEUE_OP_FAILED = 9,
    OFPET_SWITCH_CONFIG_FAILED = 10,
    OFPET_ROLE_REQUEST_FAILED = 11,
    OFPET_METER_MOD_FAILED = 12,
    OFPET_TABLE_FEATURES_FAILED = 13,
    OFPET_BUNDLE_FAILED = 17, /* as in 1.4; at 1.3 the codec sends the
                                 ONF's experimenter error 2300 */
    OFPET_EXPERIMENTER = 0xffff,
};

enum { /* OFPET_HELLO_FAILED */
       OFPHFC_INCOMPATIBLE = 0,
       OFPHFC_EPERM = 1,
};

enum { /* OFPET_BAD_REQUEST */
       OFPBRC_BAD_VERSION = 0,
       OFPBRC_BAD_TYPE = 1,
       OFPBRC_BAD_MULTIPART = 2,
       OFPBRC_BAD_EXPERIMENTER = 3,
       OFPBRC_BAD_EXP_TYPE = 4,
       OFPBRC_EPERM = 5,
       OFPBRC_BAD_LEN = 6,
       OFPBRC_BUFFER_EMPTY = 7,
       OFPBRC_BUFFER_UNKNOWN = 8,
       OFPBRC_BAD_TABLE_ID = 9,
       OFPBRC_IS_SLAVE = 10,
       OFPBRC_BAD_PORT = 11,
       OFPBRC_BAD_PACKET = 12,
       OFPBRC_MULTIPART_BUFFER_OVERFLOW = 13,
};

enum { /* OFPET_BAD_ACTION */
       OFPBAC_BAD_TYPE = 0,
       OFPBAC_BAD_LEN = 1,
       OFPBAC_BAD_EXPERIMENTER = 2,
       OFPBAC_BAD_EXP_TYPE = 3,
       OFPBAC_BAD_OUT_PORT = 4,
       OFPBAC_BAD_ARGUMENT = 5,
       OFPBAC_EPERM = 6,
       OFPBAC_TOO_MANY = 7,
       OFPBAC_BAD_QUEUE = 8,
       OFPBAC_BAD_OUT_GROUP = 9,
       OFPBAC_MATCH_INCONSISTENT = 10,
       OFPBAC_UNSUPPORTED_ORDER = 11,
       OFPBAC_BAD_TAG = 12,
       OFPBAC_BAD_SET_TYPE = 13,
       OFPBAC_BAD_SET_LEN = 14,
       OFPBAC_BAD_SET_ARGUMENT = 15,
};

enum { /* OFPET_BAD_INSTRUCTION */
       OFPBIC_UNKNOWN_INST = 0,
       OFPBIC_UNSUP_INST = 1,
       OFPBIC_BAD_TABLE_ID = 2,
       OFPBIC_UNSUP_METADATA = 3,
       OFPBIC_UNSUP_METADATA_MASK = 4,
       OFPBIC_BAD_EXPERIMENTER = 5,
       OFPBIC_BAD_EXP_TYPE = 6,
       OFPBIC_BAD_LEN = 7,
       OFPBIC_EPERM = 8,
       OFPBIC_DUP_INST = 9, /* 1.4; at 1.3 sent as UNKNOWN_INST, as is usual */
};

enum { /* OFPET_BAD_MATCH */
       OFPBMC_BAD_TYPE = 0,
       OFPBMC_BAD_LEN = 1,
       OFPBMC_BAD_TAG = 2,
       OFPBMC_BAD_DL_ADDR_MASK = 3,
       OFPBMC_BAD_NW_ADDR_MASK = 4,
       OFPBMC_BAD_WILDCARDS = 5,
       OFPBMC_BAD_FIELD = 6,
       OFPBMC_BAD_VALUE = 7,
       OFPBMC_BAD_MASK = 8,
       OFPBMC_BAD_PREREQ = 9,
       OFPBMC_DUP_FIELD = 10,
       OFPBMC_EPERM = 11,
};

enum { /* OFPET_FLOW_MOD_FAILED */
       OFPFMFC_UNKNOWN = 0,
       OFPFMFC_TABLE_FULL = 1,
       OFPFMFC_BAD_TABLE_ID = 2,
       OFPFMFC_OVERLAP = 3,
       OFPFMFC_EPERM = 4,
       OFPFMFC_BAD_TIMEOUT = 5,
       OFPFMFC_BAD_COMMAND = 6,
       OFPFMFC_BAD_FLAGS = 7,
};

enum { /* OFPET_GROUP_MOD_FAILED */
       OFPGMFC_GROUP_EXISTS = 0,
       OFPGMFC_INVALID_GROUP = 1,
       OFPGMFC_WEIGHT_UNSUPPORTED = 2,
       OFPGMFC_OUT_OF_GROUPS = 3,
       OFPGMFC_OUT_OF_BUCKETS = 4,
       OFPGMFC_CHAINING_UNSUPPORTED = 5,
       OFPGMFC_WATCH_UNSUPPORTED = 6,
       OFPGMFC_LOOP = 7,
       OFPGMFC_UNKNOWN_GROUP = 8,
       OFPGMFC_CHAINED_GROUP = 9,
       OFPGMFC_BAD_TYPE = 10,
       OFPGMFC_BAD_COMMAND = 11,
       OFPGMFC_BAD_BUCKET = 12,
       OFPGMFC_BAD_WATCH = 13,
       OFPGMFC_EPERM = 14,
};

enum { /* OFPET_PORT_MOD_FAILED */
       OFPPMFC_BAD_PORT = 0,
       OFPPMFC_BAD_HW_ADDR = 1,
       OFPPMFC_BAD_CONFIG = 2,
       OFPPMFC_BAD_ADVERTISE = 3,
       OFPPMFC_EPERM = 4,
};

enum { /* OFPET_TABLE_MOD_FAILED */
       OFPTMFC_BAD_TABLE = 0,
       OFPTMFC_BAD_CONFIG = 1,
       OFPTMFC_EPERM = 2,
};

enum { /* OFPET_QUEUE_OP_FAILED */
       OFPQOFC_BAD_PORT = 0,
       OFPQOFC_BAD_QUEUE = 1,
       OFPQOFC_EPERM = 2,
};

enum { /* OFPET_SWITCH_CONFIG_FAILED */
       OFPSCFC_BAD_FLAGS = 0,
       OFPSCFC_BAD_LEN = 1,
       OFPSCFC_EPERM = 2,
};

enum { /* OFPET_ROLE_REQUEST_FAILED */
       OFPRRFC_STALE = 0,
       OFPRRFC_UNSUP = 1,
       OFPRRFC_BAD_ROLE = 2,
};

enum { /* OFPET_METER_MOD_FAILED */
       OFPMMFC_UNKNOWN = 0,
       OFPMMFC_METER_EXISTS = 1,
       OFPMMFC_INVALID_METER = 2,
       OFPMMFC_UNKNOWN_METER = 3,
       OFPMMFC_BAD_COMMAND = 4,
       OFPMMFC_BAD_FLAGS = 5,
       OFPMMFC_BAD_RATE = 6,
       OFPMMFC_BAD_BURST = 7,
       OFPMMFC_BAD_BAND = 8,
       OFPMMFC_BAD_BAND_VALUE = 9,
       OFPMMFC_OUT_OF_METERS = 10,
       OFPMMFC_OUT_OF_BANDS = 11,
};

enum { /* OFPET_TABLE_FEATURES_FAILED */
       OFPTFFC_BAD_TABLE = 0,
       OFPTFFC_BAD_METADATA = 1,
       OFPTFFC_BAD_TYPE = 2,
       OFPTFFC_BAD_LEN = 3,
       OFPTFFC_BAD_ARGUMENT = 4,
       OFPTFFC_EPERM = 5,
};

enum { /* OFPET_BUNDLE_FAILED */
       OFPBFC_UNKNOWN = 0,
       OFPBFC_EPERM = 1,
       OFPBFC_BAD_ID = 2,
       OFPBFC_BUNDLE_EXIST = 3,
       OFPBFC_BUNDLE_CLOSED = 4,
       OFPBFC_OUT_OF_BUNDLES = 5,
       OFPBFC_BAD_TYPE = 6,
       OFPBFC_BAD_FLAGS = 7,
       OFPBFC_MSG_BAD_LEN = 8,
       OFPBFC_MSG_BAD_XID = 9,
       OFPBFC_MSG_UNSUP = 10,
       OFPBFC_MSG_CONFLICT = 11,
       OFPBFC_MSG_TOO_MANY = 12,
       OFPBFC_MSG_FAILED = 13,
       OFPBFC_TIMEOUT = 14,
       OFPBFC_BUNDLE_IN_PROGRESS = 15,
};

/* "BAD_MATCH/BAD_PREREQ", of any error; a static buffer is not used: `out`
 * holds 64 octets, and is returned. */
char *ofp_error_name(uint16_t type, uint16_t code, char out[64]);

#endif
