/* SPDX-License-Identifier: Apache-2.0
 *
 * How long a frame could lie in a ring unseen: the stall that the headroom
 * rule asks for.  It is known in two cases.  The last turn wanted to run again
 * at once: then it is the whole gap between the turns.  The last turn named a
 * moment, and it has passed: then it is how late we are.  A turn that a frame
 * or a message woke earlier says nothing, and is not counted.
 *
 * The percentile comes from a log-linear histogram, eight steps to the octave,
 * and is rounded up to a step's end.
 */
#include "dp/dp_priv.h"

/* Turns between two looks at the whole histogram. */
#define STALL_FRESH 1024

static unsigned
bucket_of(uint64_t v)
{
    unsigned e;

    if (v < 16)
        return (unsigned) v;
    e = 63u - (unsigned) __builtin_clzll(v); /* >= 4 */
    return e * 8 - 16 + (unsigned) (v >> (e - 3) & 7);
}

/* The largest value that belongs to the bucket. */
static uint64_t
bucket_end(unsigned b)
{
    unsigned e = (b + 16) / 8;

    if (b < 16)
        return b;
    return ((UINT64_C(8) + b % 8 + 1) << (e - 3)) - 1;
}

static void
refresh(struct dp_stall_hist *h)
{
    uint64_t n = counter_get(&h->out.n_turns);
    uint64_t above = n / 10000; /* turns that may be later than p99.99 */
    uint64_t seen = 0, p9999;
    unsigned b = DP_STALL_BUCKETS - 1;

    for (; b > 0; b--) {
        seen += h->bucket[b];
        if (seen > above)
            break;
    }
    p9999 = bucket_end(b);
    if (p9999 > h->out.max_ns)
        p9999 = h->out.max_ns;
    counter_set(&h->out.p9999_ns, p9999);
    h->n_fresh = 0;
}

void
dp_stall_note(struct dp *dp, uint64_t now_ns)
{
    struct dp_stall_hist *h = &dp->stall;
    uint64_t late_ns;

    if (dp->promise_ns == CLOCK_NEVER || now_ns < dp->promise_ns)
        return;
    late_ns = now_ns - dp->promise_ns; /* busy: it promised its own time */
    h->bucket[bucket_of(late_ns)]++;
    counter_add(&h->out.n_turns, 1);
    if (late_ns > h->out.max_ns) {
        counter_set(&h->out.max_ns, late_ns);
        refresh(h);
    } else if (++h->n_fresh >= STALL_FRESH) {
        refresh(h);
    }
}

void
dp_stall_reset(struct dp *dp)
{
    struct dp_stall_hist *h = &dp->stall;

    memset(h->bucket, 0, sizeof(h->bucket));
    h->n_fresh = 0;
    counter_set(&h->out.max_ns, 0);
    counter_set(&h->out.p9999_ns, 0);
    counter_set(&h->out.n_turns, 0);
}

const struct dp_stall *
dp_stall(const struct dp *dp)
{
    return &dp->stall.out;
}
