/* SPDX-License-Identifier: Apache-2.0
 *
 * How far a character of UTF-8 goes (RFC 3629: no overlong forms, no
 * surrogates, nothing above U+10FFFF).  For texts that are shown to people.
 * Any thread.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Octets of the character that s, which ends with NUL, begins with; 0: it
 * begins with none, or ends here. */
static inline size_t
utf8_len(const char *s)
{
    const unsigned char *u = (const unsigned char *) s;
    size_t n = u[0] < 0x80    ? u[0] != 0
               : u[0] < 0xc2  ? 0
               : u[0] < 0xe0  ? 2
               : u[0] < 0xf0  ? 3
               : u[0] <= 0xf4 ? 4
                              : 0;

    for (size_t i = 1; i < n; i++)
        if ((u[i] & 0xc0) != 0x80)
            return 0;
    if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f) ||
        (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f))
        return 0;
    return n;
}

/* The same for characters that a terminal does not take for a command: no
 * C0 or C1 control, no DEL. */
static inline size_t
utf8_len_shown(const char *s)
{
    const unsigned char *u = (const unsigned char *) s;

    if (u[0] < ' ' || u[0] == 0x7f || (u[0] == 0xc2 && u[1] < 0xa0))
        return 0;
    return utf8_len(s);
}

#endif
