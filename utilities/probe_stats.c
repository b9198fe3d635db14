/* SPDX-License-Identifier: Apache-2.0
 *
 * The receiver's book-keeping: see probe_stats.h.
 */
#include "probe_stats.h"

#include <stdlib.h>
#include <string.h>

void
probe_stats_init(struct probe_stats *s)
{
    memset(s, 0, sizeof(*s));
}

void
probe_stats_uninit(struct probe_stats *s)
{
    for (uint32_t i = 0; i < s->n_flows; i++)
        free(s->flows[i]);
    s->n_flows = 0;
}

/* The flow, a new one if need be; null when there is no more room. */
static struct probe_rx_flow *
find_flow(struct probe_stats *s, const struct probe_seen *seen)
{
    struct probe_rx_flow *f;

    for (uint32_t i = 0; i < s->n_flows; i++) {
        f = s->flows[i];
        if (f->id == seen->hdr.flow && memcmp(f->src, seen->src, 6) == 0)
            return f;
    }
    if (s->n_flows == PROBE_MAX_RX_FLOWS)
        return NULL;
    f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    memcpy(f->src, seen->src, 6);
    f->id = seen->hdr.flow;
    f->prio = seen->hdr.prio;
    s->flows[s->n_flows++] = f;
    return f;
}

static bool
window_test(const struct probe_rx_flow *f, uint64_t seq)
{
    return f->seen[seq % PROBE_WINDOW / 64] >> (seq % 64) & 1;
}

static void
window_put(struct probe_rx_flow *f, uint64_t seq, bool bit)
{
    uint64_t *word = &f->seen[seq % PROBE_WINDOW / 64];
    uint64_t mask = UINT64_C(1) << (seq % 64);

    *word = bit ? *word | mask : *word & ~mask;
}

/* seq is the highest so far: those between were not seen (yet). */
static void
window_advance(struct probe_rx_flow *f, uint64_t seq)
{
    if (seq - f->next >= PROBE_WINDOW)
        memset(f->seen, 0, sizeof(f->seen));
    else
        for (uint64_t i = f->next; i < seq; i++)
            window_put(f, i, false);
    window_put(f, seq, true);
    f->next = seq + 1;
}

/* Whether the number is a new one; counts it when it is not, or late. */
static bool
count_sequence(struct probe_rx_flow *f, uint64_t seq)
{
    if (seq >= f->next) {
        window_advance(f, seq);
        return true;
    }
    if (f->next - seq > PROBE_WINDOW) {
        f->too_old++;
        return false;
    }
    if (window_test(f, seq)) {
        f->duplicated++;
        return false;
    }
    window_put(f, seq, true);
    f->reordered++;
    return true;
}

static void
count_time(struct probe_rx_flow *f, uint64_t now_ns)
{
    if (f->first_ns == 0)
        f->first_ns = now_ns;
    else if (now_ns - f->last_ns > f->longest_gap_ns)
        f->longest_gap_ns = now_ns - f->last_ns;
    f->last_ns = now_ns;
}

/* The header is right, whatever the filler is like. */
static void
count_frame(struct probe_stats *s, struct probe_rx_flow *f,
            const struct probe_seen *seen, bool good, uint64_t now_ns)
{
    if (count_sequence(f, seen->hdr.seq)) {
        f->received += good;
        f->damaged += !good;
        probe_hist_add(&f->latency, now_ns > seen->hdr.sent_ns
                                        ? now_ns - seen->hdr.sent_ns
                                        : 0);
    }
    if (seen->hdr.last && !f->complete) {
        f->complete = true;
        s->n_complete++;
    }
}

enum probe_kind
probe_stats_add(struct probe_stats *s, const uint8_t *frame, uint32_t n,
                uint64_t now_ns, uint8_t *prio)
{
    struct probe_seen seen;
    enum probe_kind kind = probe_frame_parse(frame, n, &seen);
    struct probe_rx_flow *f;

    if (kind == PROBE_OTHER) {
        s->other++;
        s->other_bytes += n;
        return kind;
    }
    *prio = seen.tagged ? seen.pcp : seen.hdr.prio;
    s->by_pcp[*prio]++;
    s->by_pcp_bytes[*prio] += n;
    if (kind == PROBE_GARBLED) {
        s->garbled++;
        return kind;
    }
    f = find_flow(s, &seen);
    if (!f) {
        s->refused++;
        return kind;
    }
    f->bytes += n;
    f->tagged = seen.tagged;
    f->vid = seen.vid;
    f->pcp_changed += seen.tagged && seen.pcp != seen.hdr.prio;
    count_time(f, now_ns);
    count_frame(s, f, &seen, kind == PROBE_GOOD, now_ns);
    return kind;
}

uint64_t
probe_rx_flow_lost(const struct probe_rx_flow *f)
{
    return f->next - f->received - f->damaged;
}

void
probe_stats_class(const struct probe_stats *s, uint8_t prio,
                  struct probe_class *out)
{
    memset(out, 0, sizeof(*out));
    out->complete = true;
    for (uint32_t i = 0; i < s->n_flows; i++) {
        const struct probe_rx_flow *f = s->flows[i];

        if (f->prio != prio)
            continue;
        out->n_flows++;
        out->complete &= f->complete;
        out->received += f->received;
        out->bytes += f->bytes;
        out->lost += probe_rx_flow_lost(f);
        out->duplicated += f->duplicated;
        out->reordered += f->reordered;
        out->damaged += f->damaged;
        probe_hist_merge(&out->latency, &f->latency);
    }
}

bool
probe_stats_clean(const struct probe_stats *s)
{
    if (s->garbled || s->refused)
        return false;
    for (uint32_t i = 0; i < s->n_flows; i++) {
        const struct probe_rx_flow *f = s->flows[i];

        if (probe_rx_flow_lost(f) || f->duplicated || f->reordered ||
            f->damaged || f->too_old || f->pcp_changed)
            return false;
    }
    return true;
}
