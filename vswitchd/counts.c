/* SPDX-License-Identifier: Apache-2.0
 *
 * What is counted, baselines and high-water marks: see counts.h.
 */
#include "counts.h"

#include "base/clock.h"
#include "bridge.h"

#include <stddef.h>
#include <string.h>

/* --- members ------------------------------------------------------------ */

#define LEVEL 0u /* not a sum: what holds now, or the longest of all */

/* Every member of struct counts, and what clears it. */
#define MEMBERS(X)                      \
    X(COUNTS_PORT, n.rx_frames)         \
    X(COUNTS_PORT, n.rx_bytes)          \
    X(COUNTS_PORT, n.tx_frames)         \
    X(COUNTS_PORT, n.tx_bytes)          \
    X(COUNTS_PORT, n.drops)             \
    X(COUNTS_PORT, n.drop_bytes)        \
    X(COUNTS_PORT, n.copies)            \
    X(COUNTS_PORT, n.to_controller)     \
    X(LEVEL, n.held)                    \
    X(LEVEL, n.cable_frames)            \
    X(LEVEL, n.cable_bytes)             \
    X(COUNTS_GROUP, n.pg_rx_frames)     \
    X(COUNTS_GROUP, n.pg_rx_bytes)      \
    X(COUNTS_GROUP, n.pg_drops)         \
    X(COUNTS_GROUP, n.pg_drop_bytes)    \
    X(COUNTS_GROUP, n.pg_violations)    \
    X(COUNTS_QUEUE, n.q_tx_frames)      \
    X(COUNTS_QUEUE, n.q_tx_bytes)       \
    X(COUNTS_QUEUE, n.q_drops)          \
    X(COUNTS_QUEUE, n.q_drop_bytes)     \
    X(COUNTS_QUEUE, n.queue_drops)      \
    X(COUNTS_QUEUE, n.q_ecn_marked)     \
    X(LEVEL, n.q_frames)                \
    X(LEVEL, n.q_bytes)                 \
    X(LEVEL, n.q_peak)                  \
    X(COUNTS_PORT, n.violations)        \
    X(COUNTS_PFC, n.late_frames)        \
    X(COUNTS_PFC, n.late_bytes)         \
    X(COUNTS_PFC, pfc.rx_pfc)           \
    X(COUNTS_PFC, pfc.tx_pfc)           \
    X(COUNTS_PFC, pfc.rx_xoff)          \
    X(COUNTS_PFC, pfc.tx_xoff)          \
    X(COUNTS_PFC, pfc.rx_pauses)        \
    X(COUNTS_PFC, pfc.tx_pauses)        \
    X(COUNTS_PFC, pfc.tx_lapses)        \
    X(COUNTS_PFC, pfc.rx_paused_ns)     \
    X(COUNTS_PFC, pfc.tx_paused_ns)     \
    X(LEVEL, pfc.rx_longest_ns)         \
    X(LEVEL, pfc.rx_longest_at_ns)      \
    X(LEVEL, pfc.rx_last_ns)            \
    X(LEVEL, pfc.rx_last_at_ns)         \
    X(LEVEL, pfc.tx_longest_ns)         \
    X(LEVEL, pfc.tx_longest_at_ns)      \
    X(LEVEL, pfc.tx_last_ns)            \
    X(LEVEL, pfc.tx_last_at_ns)         \
    X(COUNTS_PFC, pfc.rx_frames)        \
    X(COUNTS_PFC, pfc.tx_frames)        \
    X(COUNTS_PFC, pfc.rx_pause)         \
    X(COUNTS_PFC, pfc.tx_pause)         \
    X(COUNTS_PFC, pfc.rx_not_enabled)   \
    X(COUNTS_PFC, pfc.rx_malformed)     \
    X(COUNTS_PFC, pfc.rx_unsupported)   \
    X(COUNTS_PORT, nd.rx_ring_drops)    \
    X(COUNTS_PORT, nd.rx_backlog_drops) \
    X(COUNTS_PORT, nd.rx_oversize)      \
    X(COUNTS_PORT, nd.rx_bad)           \
    X(COUNTS_PORT, nd.rx_gso)           \
    X(COUNTS_PORT, nd.rx_no_buffer)     \
    X(COUNTS_PORT, nd.tx_again)         \
    X(COUNTS_PORT, nd.tx_errors)        \
    X(COUNTS_PORT, nd.tx_queue_drops)   \
    X(COUNTS_PORT, nd.n_ring_pauses)    \
    X(LEVEL, nd.n_ring_slots)           \
    X(LEVEL, nd.ring_peak)              \
    X(COUNTS_PORT, nd.n_holds)          \
    X(COUNTS_PORT, nd.hold_failed)      \
    X(LEVEL, nd.hold_worst_ns)          \
    X(LEVEL, nd.hold_lost)              \
    X(COUNTS_PORT, kernel_violations)

#define SIZE_OF(section, m) +sizeof(((struct counts *) NULL)->m)
_Static_assert(0 MEMBERS(SIZE_OF) == sizeof(struct counts),
               "a counter is new: say above what clears it");

#define N_WORDS (sizeof(struct counts) / 8)

/* What clears each word of struct counts. */
static const uint8_t section_of[N_WORDS] = {
#define FIRST(m) (offsetof(struct counts, m) / 8)
#define WORDS(section, m)                                                  \
    [FIRST(m)... FIRST(m) + sizeof(((struct counts *) NULL)->m) / 8 - 1] = \
        section,
    MEMBERS(WORDS)
#undef WORDS
};

static uint64_t *
words(struct counts *c)
{
    return (uint64_t *) c;
}

/* --- reading ------------------------------------------------------------ */

static void
copy_counters(uint64_t *to, const counter_t *from, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof(*to); i++)
        to[i] = counter_get(&from[i]);
}

/* Pauses that have not ended yet.  Their begin is read beside the datapath's
 * writing: what comes out of it when they end at that moment is mended by
 * never_less(). */
static void
add_running(const struct pfc *pfc, struct pfc_counters *n)
{
    unsigned paused = counter_get_bits(&pfc->paused);
    unsigned asserted = counter_get_bits(&pfc->asserted);
    uint64_t now = clock_ns();

    for (int p = 0; p < N_PRIO; p++) {
        uint64_t since = counter_get(&pfc->since_ns[p]);
        uint64_t end = counter_get(&pfc->until_ns[p]);

        if (end > now)
            end = now;
        if (paused >> p & 1 && end > since)
            n->rx_paused_ns[p] += end - since;
        since = counter_get(&pfc->asserted_ns[p]);
        if (asserted >> p & 1 && now > since)
            n->tx_paused_ns[p] += now - since;
    }
}

static void
never_less(uint64_t *seen, uint64_t *now)
{
    for (int p = 0; p < N_PRIO; p++) {
        if (now[p] < seen[p])
            now[p] = seen[p];
        seen[p] = now[p];
    }
}

static void
longer(uint64_t *ns, uint64_t *at_ns, uint64_t other_ns, uint64_t other_at_ns)
{
    if (other_ns > *ns) {
        *ns = other_ns;
        *at_ns = other_at_ns;
    }
}

/* Pauses of before: the longest of all, and the latest if there is none
 * since. */
static void
merge_pauses(struct pfc_counters *n, const struct pfc_counters *old)
{
    for (int p = 0; p < N_PRIO; p++) {
        longer(&n->rx_longest_ns[p], &n->rx_longest_at_ns[p],
               old->rx_longest_ns[p], old->rx_longest_at_ns[p]);
        longer(&n->tx_longest_ns[p], &n->tx_longest_at_ns[p],
               old->tx_longest_ns[p], old->tx_longest_at_ns[p]);
        if (!n->rx_last_at_ns[p]) {
            n->rx_last_ns[p] = old->rx_last_ns[p];
            n->rx_last_at_ns[p] = old->rx_last_at_ns[p];
        }
        if (!n->tx_last_at_ns[p]) {
            n->tx_last_ns[p] = old->tx_last_ns[p];
            n->tx_last_at_ns[p] = old->tx_last_at_ns[p];
        }
    }
}

static void
forget_pauses(struct pfc_counters *n)
{
    size_t bytes = sizeof(n->rx_longest_ns);

    memset(n->rx_longest_ns, 0, bytes);
    memset(n->rx_longest_at_ns, 0, bytes);
    memset(n->rx_last_ns, 0, bytes);
    memset(n->rx_last_at_ns, 0, bytes);
    memset(n->tx_longest_ns, 0, bytes);
    memset(n->tx_longest_at_ns, 0, bytes);
    memset(n->tx_last_ns, 0, bytes);
    memset(n->tx_last_at_ns, 0, bytes);
}

/* What the present datapath and netdev have counted. */
static void
read_present(const struct port *p, struct counts *out)
{
    const struct pfc *pfc = dp_port_pfc(p->state);

    copy_counters((uint64_t *) &out->n,
                  (const counter_t *) dp_port_counters(p->state),
                  sizeof(out->n));
    copy_counters((uint64_t *) &out->pfc, (const counter_t *) &pfc->n,
                  sizeof(out->pfc));
    add_running(pfc, &out->pfc);
    port_stats(p, &out->nd);
    out->kernel_violations = p->kernel_violations;
}

static void
add_earlier(struct port *p, struct counts *c)
{
    for (size_t i = 0; i < N_WORDS; i++)
        if (section_of[i] != LEVEL)
            words(c)[i] += words(&p->earlier)[i];
    never_less(p->paused_seen[0], c->pfc.rx_paused_ns);
    never_less(p->paused_seen[1], c->pfc.tx_paused_ns);
}

void
counts_get(struct port *p, bool raw, struct counts *out)
{
    read_present(p, out);
    add_earlier(p, out);
    merge_pauses(&out->pfc, &p->earlier.pfc);
    if (raw) {
        merge_pauses(&out->pfc, &p->cleared);
        return;
    }
    /* What was noted is never more, but for a reading in the moment in which a
     * pause ended. */
    for (size_t i = 0; i < N_WORDS; i++) {
        uint64_t base = words(&p->base)[i];

        if (section_of[i] != LEVEL)
            words(out)[i] = words(out)[i] > base ? words(out)[i] - base : 0;
    }
}

/* --- clearing ----------------------------------------------------------- */

struct clearing {
    struct port *port;     /* whose */
    struct counts *counts; /* what it had counted at that moment */
    unsigned sections;     /* that are cleared */
};

/* On the datapath's thread: between two turns everything agrees. */
static void
note(struct dp *dp, void *arg)
{
    const struct clearing *x = arg;

    (void) dp;
    read_present(x->port, x->counts);
    if (x->sections & COUNTS_PFC)
        dp_port_pauses_restart(x->port->state);
}

void
counts_clear(struct bridge *b, struct port *p, unsigned sections)
{
    struct counts now;
    struct clearing x = {p, &now, sections};

    if (p->netdev && p->netdev->cls->poll_kernel)
        p->netdev->cls->poll_kernel(p->netdev);
    bridge_call(b, note, &x);
    if (sections & COUNTS_PFC) {
        merge_pauses(&now.pfc, &p->earlier.pfc);
        merge_pauses(&now.pfc, &p->cleared);
        p->cleared = now.pfc; /* only its records of pauses are looked at */
        forget_pauses(&p->earlier.pfc);
    }
    add_earlier(p, &now);
    for (size_t i = 0; i < N_WORDS; i++)
        if (section_of[i] & sections)
            words(&p->base)[i] = words(&now)[i];
    if (sections & COUNTS_PORT)
        p->arrival_bps = 0;
}

/* --- one port after the other ------------------------------------------- */

void
counts_inherit(struct port *to, struct port *from)
{
    struct counts c;

    read_present(from, &c);
    /* Frames that it still held went with its datapath. */
    c.n.drops[DP_DROP_PORT_REMOVED] += c.n.held;
    add_earlier(from, &c);
    merge_pauses(&c.pfc, &from->earlier.pfc);
    port_add_stats(&to->past, &c.nd);
    memset(&c.nd, 0, sizeof(c.nd));
    to->kernel_violations += c.kernel_violations;
    c.kernel_violations = 0;
    to->earlier = c;
    to->cleared = from->cleared;
    to->base = from->base;
    for (int s = 0; s < N_MARKS; s++)
        marks_get(from, (enum marks_set) s, &to->marks[s]);
    for (int p = 0; p < N_PRIO; p++) {
        counts_storm(from, p, &to->storms[p]);
        /* It ended with its datapath. */
        to->storms[p].n_restored = to->storms[p].n_detected;
    }
    for (int g = 0; g < N_PG; g++)
        to->n_stuck[g] = counts_stuck(from, g);
}

/* --- storms ------------------------------------------------------------- */

void
counts_storm(const struct port *port, int p, struct dp_storm *out)
{
    const struct dp_storm *before = &port->storms[p];

    dp_storm_get(port->state, p, out);
    if (!out->n_detected) {
        out->began_ns = before->began_ns;
        out->last = before->last;
    }
    out->n_detected += before->n_detected;
    out->n_restored += before->n_restored;
    out->total.tx_ok += before->total.tx_ok;
    out->total.tx_drop += before->total.tx_drop;
    out->total.rx_ok += before->total.rx_ok;
    out->total.rx_drop += before->total.rx_drop;
}

uint64_t
counts_stuck(const struct port *port, int g)
{
    return port->n_stuck[g] +
           counter_get(&dp_port_watch(port->state)->guard.n_detected[g]);
}

/* --- high-water marks --------------------------------------------------- */

/* The marks are structs of nothing but uint64_t. */
static void
take_max(void *to, const void *from, size_t bytes)
{
    const uint64_t *b = from;
    uint64_t *a = to;

    for (size_t i = 0; i < bytes / sizeof(*a); i++)
        if (b[i] > a[i])
            a[i] = b[i];
}

void
marks_get(const struct port *p, enum marks_set set, struct dp_port_peaks *out)
{
    dp_port_peaks(p->state, out);
    take_max(out, &p->marks[set], sizeof(*out));
}

static void
read_pools(const struct dp *dp, struct pool_marks *out)
{
    for (unsigned i = 0; i < DP_MAX_POOLS; i++)
        out->shared_bytes[i] =
            counter_get(&dp_buf_pool_at(dp, i)->shared_peak);
    out->headroom_bytes = counter_get(&dp_buf_hdrm(dp)->peak);
}

void
marks_get_pools(const struct bridge *b, enum marks_set set,
                struct pool_marks *out)
{
    read_pools(b->dp, out);
    take_max(out, &b->marks[set], sizeof(*out));
}

struct taken {
    struct port *port;          /* whose; null: of the memory */
    struct dp_port_peaks peaks; /* till then */
    struct pool_marks pools;    /* till then */
};

static void
restart(struct dp *dp, void *arg)
{
    struct taken *x = arg;

    if (x->port) {
        dp_port_peaks(x->port->state, &x->peaks);
        dp_port_peaks_restart(x->port->state);
    } else {
        read_pools(dp, &x->pools);
        dp_pool_peaks_restart(dp);
    }
}

void
marks_clear(struct bridge *b, struct port *p, enum marks_set set)
{
    struct taken x = {.port = p};

    bridge_call(b, restart, &x);
    for (int s = 0; s < N_MARKS; s++)
        take_max(&p->marks[s], &x.peaks, sizeof(x.peaks));
    memset(&p->marks[set], 0, sizeof(p->marks[set]));
}

void
marks_clear_pools(struct bridge *b, enum marks_set set)
{
    struct taken x = {.port = NULL};

    bridge_call(b, restart, &x);
    for (int s = 0; s < N_MARKS; s++)
        take_max(&b->marks[s], &x.pools, sizeof(x.pools));
    memset(&b->marks[set], 0, sizeof(b->marks[set]));
}
