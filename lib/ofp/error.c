/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors of OpenFlow: see error.h.
 */
#include "ofp/error.h"

#include <stdarg.h>
#include <stdio.h>

bool
ofp_fail(struct ofp_error *e, uint16_t type, uint16_t code, const char *format,
         ...)
{
    va_list ap;

    if (!e)
        return false;
    e->type = type;
    e->code = code;
    va_start(ap, format);
    vsnprintf(e->msg, sizeof(e->msg), format, ap);
    va_end(ap);
    return false;
}

/* Codes of a type, in order, separated by blanks. */
static const char *const type_names[] = {
    "HELLO_FAILED",
    "BAD_REQUEST",
    "BAD_ACTION",
    "BAD_INSTRUCTION",
    "BAD_MATCH",
    "FLOW_MOD_FAILED",
    "GROUP_MOD_FAILED",
    "PORT_MOD_FAILED",
    "TABLE_MOD_FAILED",
    "QUEUE_OP_FAILED",
    "SWITCH_CONFIG_FAILED",
    "ROLE_REQUEST_FAILED",
    "METER_MOD_FAILED",
    "TABLE_FEATURES_FAILED",
};

static const char *const code_names[][16] = {
    {"INCOMPATIBLE", "EPERM"},
    {"BAD_VERSION", "BAD_TYPE", "BAD_MULTIPART", "BAD_EXPERIMENTER",
     "BAD_EXP_TYPE", "EPERM", "BAD_LEN", "BUFFER_EMPTY", "BUFFER_UNKNOWN",
     "BAD_TABLE_ID", "IS_SLAVE", "BAD_PORT", "BAD_PACKET",
     "MULTIPART_BUFFER_OVERFLOW"},
    {"BAD_TYPE", "BAD_LEN", "BAD_EXPERIMENTER", "BAD_EXP_TYPE", "BAD_OUT_PORT",
     "BAD_ARGUMENT", "EPERM", "TOO_MANY", "BAD_QUEUE", "BAD_OUT_GROUP",
     "MATCH_INCONSISTENT", "UNSUPPORTED_ORDER", "BAD_TAG", "BAD_SET_TYPE",
     "BAD_SET_LEN", "BAD_SET_ARGUMENT"},
    {"UNKNOWN_INST", "UNSUP_INST", "BAD_TABLE_ID", "UNSUP_METADATA",
     "UNSUP_METADATA_MASK", "BAD_EXPERIMENTER", "BAD_EXP_TYPE", "BAD_LEN",
     "EPERM", "DUP_INST"},
    {"BAD_TYPE", "BAD_LEN", "BAD_TAG", "BAD_DL_ADDR_MASK", "BAD_NW_ADDR_MASK",
     "BAD_WILDCARDS", "BAD_FIELD", "BAD_VALUE", "BAD_MASK", "BAD_PREREQ",
     "DUP_FIELD", "EPERM"},
    {"UNKNOWN", "TABLE_FULL", "BAD_TABLE_ID", "OVERLAP", "EPERM",
     "BAD_TIMEOUT", "BAD_COMMAND", "BAD_FLAGS"},
    {"GROUP_EXISTS", "INVALID_GROUP", "WEIGHT_UNSUPPORTED", "OUT_OF_GROUPS",
     "OUT_OF_BUCKETS", "CHAINING_UNSUPPORTED", "WATCH_UNSUPPORTED", "LOOP",
     "UNKNOWN_GROUP", "CHAINED_GROUP", "BAD_TYPE", "BAD_COMMAND", "BAD_BUCKET",
     "BAD_WATCH", "EPERM"},
    {"BAD_PORT", "BAD_HW_ADDR", "BAD_CONFIG", "BAD_ADVERTISE", "EPERM"},
    {"BAD_TABLE", "BAD_CONFIG", "EPERM"},
    {"BAD_PORT", "BAD_QUEUE", "EPERM"},
    {"BAD_FLAGS", "BAD_LEN", "EPERM"},
    {"STALE", "UNSUP", "BAD_ROLE"},
    {"UNKNOWN", "METER_EXISTS", "INVALID_METER", "UNKNOWN_METER",
     "BAD_COMMAND", "BAD_FLAGS", "BAD_RATE", "BAD_BURST", "BAD_BAND",
     "BAD_BAND_VALUE", "OUT_OF_METERS", "OUT_OF_BANDS"},
    {"BAD_TABLE", "BAD_METADATA", "BAD_TYPE", "BAD_LEN", "BAD_ARGUMENT",
     "EPERM"},
};

static const char *const bundle_codes[16] = {
    "UNKNOWN",       "EPERM",          "BAD_ID",    "BUNDLE_EXIST",
    "BUNDLE_CLOSED", "OUT_OF_BUNDLES", "BAD_TYPE",  "BAD_FLAGS",
    "MSG_BAD_LEN",   "MSG_BAD_XID",    "MSG_UNSUP", "MSG_CONFLICT",
    "MSG_TOO_MANY",  "MSG_FAILED",     "TIMEOUT",   "BUNDLE_IN_PROGRESS",
};

char *
ofp_error_name(uint16_t type, uint16_t code, char out[64])
{
    const char *t = NULL, *c = NULL;

    if (type == OFPET_BUNDLE_FAILED) {
        t = "BUNDLE_FAILED";
        c = code < 16 ? bundle_codes[code] : NULL;
    } else if (type < sizeof(type_names) / sizeof(type_names[0])) {
        t = type_names[type];
        c = code < 16 ? code_names[type][code] : NULL;
    }
    if (t && c)
        snprintf(out, 64, "%s/%s", t, c);
    else if (t)
        snprintf(out, 64, "%s/%u", t, code);
    else
        snprintf(out, 64, "%u/%u", type, code);
    return out;
}
