/* SPDX-License-Identifier: Apache-2.0
 *
 * Sending lines of flows, groups and meters: see ctl_lines.c.
 */
#ifndef UTILITIES_CTL_LINES_H
#define UTILITIES_CTL_LINES_H

#include "ctl.h"

struct ctl_lines {
    const char *method; /* "flow.add" */
    const char *member; /* of its params, that takes the lines */
    const char *line;   /* the only one; null: empty */
    const char *file;   /* or a file of them ("-": standard input) */
    bool as_one;        /* they have to be one transaction, however many */
};

/* Calls the method with params and the lines.  On failure the error was
 * shown, with the line of the file. */
enum ctl_status ctl_send_lines(struct ctl *, const struct ctl_lines *,
                               struct json_object *params,
                               struct json_object **result);

#endif
