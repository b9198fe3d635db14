/* SPDX-License-Identifier: Apache-2.0
 *
 * Error values: see err.h.
 */
#include "base/err.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void
copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
}

int
err_set(struct err *e, int code, const char *path, const char *value,
        const char *allowed, const char *fmt, ...)
{
    va_list ap;

    assert(code > 0);
    if (!e)
        return code;
    e->code = code;
    copy_text(e->path, sizeof(e->path), path);
    copy_text(e->value, sizeof(e->value), value);
    copy_text(e->allowed, sizeof(e->allowed), allowed);
    va_start(ap, fmt);
    vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
    va_end(ap);
    return code;
}

int
err_sys(struct err *e, int code, const char *fmt, ...)
{
    va_list ap;
    size_t n;

    assert(code > 0);
    if (!e)
        return code;
    err_clear(e);
    e->code = code;
    va_start(ap, fmt);
    vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
    va_end(ap);
    n = strlen(e->msg);
    snprintf(e->msg + n, sizeof(e->msg) - n, ": %s", strerror(code));
    return code;
}

void
err_clear(struct err *e)
{
    memset(e, 0, sizeof(*e));
}
