/* SPDX-License-Identifier: Apache-2.0
 *
 * Meters: a bucket of credit per band, filled at the band's rate, drained by
 * what the band lets pass.  A frame passes while there is any credit, which
 * may fall below zero by that frame: over time the rate is exact whatever the
 * frames' lengths.  Bands are asked from the highest rate down, and the first
 * without credit decides; those of lower rates, without credit for longer,
 * are not asked.
 */
#include "flow/priv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1000000000
/* Credit is counted in billionths of a bit, or of a packet, so that what one
 * nanosecond adds is a whole number. */
#define UNIT ((int64_t) NS_PER_S)
/* Without OFPMF_BURST: so much of a second may come at once ... */
#define BURST_PART 10
/* ... but no less than a frame of this length. */
#define BURST_MIN_BITS (9216 * 8)
/* More would overflow: seconds of burst at the highest rate. */
#define BURST_MAX (INT64_MAX / 4)

static uint64_t
per_second(const struct flow_meter *m, const struct ofp_band *b)
{
    return m->flags & OFPMF_KBPS ? (uint64_t) b->rate * 1000 : b->rate;
}

static int64_t
burst_of(const struct flow_meter *m, const struct ofp_band *b)
{
    bool kbps = m->flags & OFPMF_KBPS;
    uint64_t n = per_second(m, b) / BURST_PART;
    uint64_t least = kbps ? BURST_MIN_BITS : 1;

    if (m->flags & OFPMF_BURST && b->burst)
        n = kbps ? (uint64_t) b->burst * 1000 : b->burst;
    else if (n < least)
        n = least;
    return n > (uint64_t) (BURST_MAX / UNIT) ? BURST_MAX : (int64_t) n * UNIT;
}

struct flow_meter *
flow_meter_create(const struct ofp_meter *conf)
{
    struct flow_meter *m;

    assert(conf->n_bands <= OFP_MAX_BANDS);
    m = calloc(1, sizeof(*m) + conf->n_bands * sizeof(m->band[0]));
    if (!m)
        return NULL;
    m->id = conf->id;
    m->flags = conf->flags;
    m->n_bands = conf->n_bands;
    for (uint32_t i = 0; i < m->n_bands; i++) {
        uint32_t at = i;

        m->band[i].conf = conf->band[i];
        m->band[i].burst = burst_of(m, &conf->band[i]);
        m->band[i].level = m->band[i].burst;
        for (;
             at > 0 && conf->band[m->order[at - 1]].rate < conf->band[i].rate;
             at--)
            m->order[at] = m->order[at - 1];
        m->order[at] = (uint8_t) i;
    }
    return m;
}

void
flow_meter_destroy(struct flow_meter *m)
{
    free(m);
}

/* The credit of a band at a moment. */
static int64_t
level_at(const struct flow_meter *m, const struct flow_band *b,
         uint64_t now_ns)
{
    uint64_t rate = per_second(m, &b->conf), past_ns;
    unsigned __int128 level;

    if (!m->then_ns || now_ns <= m->then_ns)
        return b->level;
    past_ns = now_ns - m->then_ns;
    level = (unsigned __int128) rate * past_ns;
    if (level >= (unsigned __int128) (b->burst - b->level))
        return b->burst;
    return b->level + (int64_t) level;
}

static void
count(struct flow_group_counters *n, uint32_t bytes)
{
    counter_add(&n->n_packets, 1);
    counter_add(&n->n_bytes, bytes);
}

enum flow_verdict
flow_meter_run(struct flow_meter *m, uint32_t bytes, uint64_t now_ns,
               bool take, uint8_t *levels)
{
    int64_t cost = UNIT;
    struct flow_band *over = NULL;

    if (m->flags & OFPMF_KBPS)
        cost = (int64_t) bytes * 8 * UNIT;
    if (take) {
        count(&m->n, bytes);
        for (uint32_t i = 0; i < m->n_bands; i++)
            m->band[i].level = level_at(m, &m->band[i], now_ns);
        m->then_ns = now_ns;
    }
    for (uint32_t i = 0; i < m->n_bands && !over; i++) {
        struct flow_band *b = &m->band[m->order[i]];

        if (level_at(m, b, now_ns) <= 0)
            over = b;
        else if (take)
            b->level -= cost;
    }
    if (!over)
        return FLOW_METER_PASS;
    if (take)
        count(&over->n, bytes);
    if (over->conf.type == OFPMBT_DROP)
        return FLOW_METER_DROP;
    *levels = over->conf.prec_level;
    return FLOW_METER_REMARK;
}

const struct flow_group_counters *
flow_meter_counters(const struct flow_meter *m)
{
    return &m->n;
}

const struct flow_group_counters *
flow_band_counters(const struct flow_meter *m, uint32_t i)
{
    assert(i < m->n_bands);
    return &m->band[i].n;
}
