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

#endif
