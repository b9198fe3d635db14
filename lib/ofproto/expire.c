/* SPDX-License-Identifier: Apache-2.0
 *
 * Timeouts.  Entries that have one lie on a wheel of seconds, where they are
 * looked at when they may have timed out: one that was used meanwhile is put
 * further on.  See books.h.
 */
#include "ofproto/books.h"
#include "ofproto/judge.h"

static uint64_t
earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* When it is over; *why says for what reason. */
static uint64_t
due_ns(const struct entry *e, enum ofp_removed_reason *why)
{
    uint64_t used = entry_used_ns(e), hard = CLOCK_NEVER, idle = CLOCK_NEVER;

    if (used < e->created_ns)
        used = e->created_ns;
    if (e->hard_s)
        hard = e->created_ns + e->hard_s * NS_PER_S;
    if (e->idle_s)
        idle = used + e->idle_s * NS_PER_S;
    *why = hard <= idle ? OFPRR_HARD_TIMEOUT : OFPRR_IDLE_TIMEOUT;
    return earlier(hard, idle);
}

void
wheel_add(struct ofproto *o, struct entry *e)
{
    enum ofp_removed_reason why;
    uint64_t second;

    e->check_ns = due_ns(e, &why);
    second = e->check_ns / NS_PER_S;
    if (second < o->wheel_s)
        second = o->wheel_s;
    link_append(&o->wheel[second % WHEEL_SLOTS], &e->in_wheel);
    o->n_timed++;
}

/* Looks at a slot; returns when something in it is to be looked at again in
 * the second that is now, or CLOCK_NEVER. */
static uint64_t
turn(struct ofproto *o, struct link *slot, uint64_t now_ns)
{
    uint64_t next_ns = CLOCK_NEVER;
    struct link *l = slot->next, *next;

    for (; l != slot; l = next) {
        struct entry *e = LINK_OF(l, entry, in_wheel);
        enum ofp_removed_reason why;
        uint64_t due;

        next = l->next;
        if (e->check_ns > now_ns) {
            next_ns = earlier(next_ns, e->check_ns);
            continue;
        }
        due = due_ns(e, &why);
        if (due <= now_ns) {
            flow_delete(o, e, why, true, now_ns);
            continue;
        }
        link_remove(l);
        o->n_timed--;
        wheel_add(o, e);
        next_ns = earlier(next_ns, e->check_ns);
    }
    return next_ns;
}

uint64_t
ofproto_expire(struct ofproto *o, uint64_t now_ns)
{
    uint64_t now_s = now_ns / NS_PER_S, next_ns = CLOCK_NEVER;
    uint64_t first = o->wheel_s;

    if (now_s >= first + WHEEL_SLOTS)
        first = now_s - WHEEL_SLOTS + 1;
    for (uint64_t s = first; s <= now_s; s++) {
        o->wheel_s = s;
        next_ns = turn(o, &o->wheel[s % WHEEL_SLOTS], now_ns);
    }
    journal_commit(o, false);
    if (!o->n_timed)
        return CLOCK_NEVER;
    return earlier(next_ns, (now_s + 1) * NS_PER_S);
}

bool
ofproto_has_timeouts(const struct ofproto *o)
{
    return o->n_timed > 0;
}
