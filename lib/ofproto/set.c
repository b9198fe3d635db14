/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups or meters by number, in order: see books.h.
 */
#include "ofproto/books.h"

#include <stdlib.h>
#include <string.h>

bool
set_find(const struct set *s, uint32_t id, uint32_t *at)
{
    uint32_t lo = 0, hi = s->n;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (s->id[mid] < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    *at = lo;
    return lo < s->n && s->id[lo] == id;
}

void *
set_get(const struct set *s, uint32_t id)
{
    uint32_t at;

    return set_find(s, id, &at) ? s->item[at] : NULL;
}

static void
make_room(struct set *s)
{
    if (s->n < s->room)
        return;
    s->room = s->room ? s->room * 2 : 16;
    s->item = realloc(s->item, s->room * sizeof(s->item[0]));
    s->id = realloc(s->id, s->room * sizeof(s->id[0]));
    if (!s->item || !s->id)
        abort();
}

void *
set_put(struct set *s, uint32_t id, void *item)
{
    uint32_t at;
    bool found = set_find(s, id, &at);
    void *was = found ? s->item[at] : NULL;

    if (found && item) {
        s->item[at] = item;
    } else if (found) {
        s->n--;
        memmove(&s->item[at], &s->item[at + 1],
                (s->n - at) * sizeof(s->item[0]));
        memmove(&s->id[at], &s->id[at + 1], (s->n - at) * sizeof(s->id[0]));
    } else if (item) {
        make_room(s);
        memmove(&s->item[at + 1], &s->item[at],
                (s->n - at) * sizeof(s->item[0]));
        memmove(&s->id[at + 1], &s->id[at], (s->n - at) * sizeof(s->id[0]));
        s->item[at] = item;
        s->id[at] = id;
        s->n++;
    }
    return was;
}
