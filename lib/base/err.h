/* SPDX-License-Identifier: Apache-2.0
 *
 * Error values of the control plane.  A function that can refuse something
 * takes a `struct err *` (null accepted), fills it with what was wrong, where
 * (a JSON path into the configuration or the request), the value it found and
 * what is allowed, and returns the positive errno that is also in `code`.
 * The datapath does not use these.  Any thread.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

struct err {
    int code;          /* positive errno; 0 while nothing is wrong */
    char path[160];    /* JSON pointer, e.g. "/bridges/br0/ports/eth1/rate" */
    char value[96];    /* the value found, as text; may be empty */
    char allowed[320]; /* what would have been accepted; may be empty */
    char msg[512];     /* one sentence for people, complete in itself */
};

/* Fills *e and returns `code`.  path, value and allowed may be null. */
int err_set(struct err *e, int code, const char *path, const char *value,
            const char *allowed, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* Like err_set() with only a message; appends ": strerror(code)". */
int err_sys(struct err *e, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

void err_clear(struct err *e);

#endif
