/* SPDX-License-Identifier: Apache-2.0
 *
 * "Did you mean": the nearest of a few known words to a mistyped one.  Called
 * when a request or a command line is refused; any thread.
 */
#include "rpc/rpc.h"

#include <string.h>
#include <strings.h>

#define WORD_MAX 40 /* longer words are never typing errors of ours */

static unsigned
min3(unsigned a, unsigned b, unsigned c)
{
    unsigned m = a < b ? a : b;

    return m < c ? m : c;
}

/* Edits (insert, delete, replace, swap neighbours) that turn a into b. */
static unsigned
distance(const char *a, size_t na, const char *b, size_t nb)
{
    unsigned row[3][WORD_MAX + 1];
    unsigned *before = row[0], *last = row[1], *now = row[2], *spare;

    for (size_t j = 0; j <= nb; j++)
        last[j] = (unsigned) j;
    for (size_t i = 1; i <= na; i++) {
        now[0] = (unsigned) i;
        for (size_t j = 1; j <= nb; j++) {
            bool same = a[i - 1] == b[j - 1];

            now[j] = min3(last[j] + 1, now[j - 1] + 1, last[j - 1] + !same);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
                a[i - 2] == b[j - 1] && before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }
        spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[nb];
}

const char *
rpc_suggest(const char *word, const char *const *known)
{
    const char *best = NULL;
    size_t n = strlen(word);
    unsigned best_d;

    if (!n || n > WORD_MAX)
        return NULL;
    /* A third of the word may be wrong: more is another word. */
    best_d = (unsigned) (n + 2) / 3 + 1;
    for (; *known; known++) {
        size_t m = strlen(*known);
        unsigned d;

        if (m > WORD_MAX)
            continue;
        /* A beginning of a word (buf for buffer) is as good as one slip. */
        if (n >= 2 && n < m && !strncasecmp(word, *known, n))
            d = 1;
        else
            d = distance(word, n, *known, m);
        if (d < best_d) {
            best = *known;
            best_d = d;
        }
    }
    return best;
}
