/* SPDX-License-Identifier: Apache-2.0
 *
 * Early detection: see wred.h.
 */
#include "qos/wred.h"

#include <assert.h>

/* Whether the frame is one of those that are chosen.  In whole numbers, so
 * that the probability is exact. */
static bool
chosen(const struct wred_conf *c, uint64_t queued, struct rng *rng)
{
    assert(c->min_bytes <= c->max_bytes && c->percent <= 100);
    if (queued <= c->min_bytes)
        return false;
    if (queued > c->max_bytes)
        return true;
    return rng_below(rng, 100 * (c->max_bytes - c->min_bytes)) <
           c->percent * (queued - c->min_bytes);
}

enum wred_verdict
wred_decide(const struct wred_conf *c, uint64_t queued, bool lossless,
            uint8_t ecn, struct rng *rng)
{
    bool can_mark = c->ecn && ecn != ECN_NOT_ECT;

    if (c->max_bytes == 0 || (lossless && !can_mark) ||
        (can_mark && ecn == ECN_CE))
        return WRED_PASS;
    if (!chosen(c, queued, rng))
        return WRED_PASS;
    return can_mark ? WRED_MARK : WRED_DROP;
}
