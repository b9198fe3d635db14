/* SPDX-License-Identifier: Apache-2.0
 *
 * utilities/probe_stats and probe_hist: loss, duplicates and order, counted
 * against a naive model over random streams; percentiles against sorting.
 */
#include "utilities/probe_stats.h"

#include "base/rng.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct probe_stats stats;
static const uint8_t src_a[6] = {2, 0, 0, 0, 0, 1};
static const uint8_t src_b[6] = {2, 0, 0, 0, 0, 2};

static void
setup(void)
{
    probe_stats_init(&stats);
}

static void
teardown(void)
{
    probe_stats_uninit(&stats);
}

TestSuite(probe_stats, .init = setup, .fini = teardown);

struct frame_args {
    const uint8_t *src; /* null: src_a */
    uint32_t flow;
    uint64_t seq, sent_ns, now_ns;
    uint8_t prio, pcp;
    bool last, damage;
};

static enum probe_kind
add(struct frame_args a)
{
    struct probe_flow_conf f = {.prio = a.pcp};
    struct probe_hdr hdr = {.flow = a.flow,
                            .seq = a.seq,
                            .sent_ns = a.sent_ns,
                            .prio = a.prio,
                            .last = a.last};
    uint8_t frame[80], prio = 0xff;
    enum probe_kind kind;

    probe_frame_build(frame, sizeof(frame), a.src ? a.src : src_a, &f, &hdr);
    if (a.damage)
        frame[sizeof(frame) - 1] ^= 1;
    kind = probe_stats_add(&stats, frame, sizeof(frame), a.now_ns, &prio);
    cr_assert_eq(prio, a.pcp);
    return kind;
}

Test(probe_stats, a_clean_stream_is_clean)
{
    for (uint64_t i = 0; i < 1000; i++)
        add((struct frame_args){.seq = i, .last = i == 999});
    cr_assert_eq(stats.n_flows, 1);
    cr_assert_eq(stats.flows[0]->received, 1000);
    cr_assert_eq(stats.flows[0]->bytes, 80000);
    cr_assert_eq(probe_rx_flow_lost(stats.flows[0]), 0);
    cr_assert(stats.flows[0]->complete);
    cr_assert_eq(stats.n_complete, 1);
    cr_assert(probe_stats_clean(&stats));
}

Test(probe_stats, loss_duplicate_and_order_are_told_apart)
{
    static const uint64_t seqs[] = {0, 1, 1, 3, 2, 7, 7, 5, 5, 8};
    const struct probe_rx_flow *f;

    for (size_t i = 0; i < sizeof(seqs) / sizeof(seqs[0]); i++)
        add((struct frame_args){.seq = seqs[i]});
    f = stats.flows[0];
    cr_assert_eq(f->received, 7);           /* 0 1 2 3 5 7 8 */
    cr_assert_eq(probe_rx_flow_lost(f), 2); /* 4 6 */
    cr_assert_eq(f->duplicated, 3);         /* 1 7 5 */
    cr_assert_eq(f->reordered, 2);          /* 2 5 */
    cr_assert_not(probe_stats_clean(&stats));
}

Test(probe_stats, the_first_frames_may_be_missing_too)
{
    add((struct frame_args){.seq = 10});
    cr_assert_eq(probe_rx_flow_lost(stats.flows[0]), 10);
}

Test(probe_stats, damaged_frames_are_neither_received_nor_lost)
{
    add((struct frame_args){.seq = 0});
    cr_assert_eq(add((struct frame_args){.seq = 1, .damage = true}),
                 PROBE_DAMAGED);
    add((struct frame_args){.seq = 2});
    cr_assert_eq(stats.flows[0]->received, 2);
    cr_assert_eq(stats.flows[0]->damaged, 1);
    cr_assert_eq(probe_rx_flow_lost(stats.flows[0]), 0);
    cr_assert_not(probe_stats_clean(&stats));
}

Test(probe_stats, flows_are_told_apart_by_source_and_id)
{
    add((struct frame_args){.src = src_a, .flow = 1});
    add((struct frame_args){.src = src_b, .flow = 1});
    add((struct frame_args){.src = src_a, .flow = 2});
    add((struct frame_args){.src = src_a, .flow = 1, .seq = 1});
    cr_assert_eq(stats.n_flows, 3);
    cr_assert_eq(stats.flows[0]->received, 2);
    cr_assert(probe_stats_clean(&stats));
}

Test(probe_stats, flows_are_bounded)
{
    for (uint32_t i = 0; i < PROBE_MAX_RX_FLOWS + 5; i++)
        add((struct frame_args){.flow = i});
    cr_assert_eq(stats.n_flows, PROBE_MAX_RX_FLOWS);
    cr_assert_eq(stats.refused, 5);
    cr_assert_not(probe_stats_clean(&stats));
}

Test(probe_stats, a_changed_pcp_is_seen)
{
    add((struct frame_args){.prio = 3, .pcp = 3});
    cr_assert(probe_stats_clean(&stats));
    add((struct frame_args){.prio = 3, .pcp = 4, .seq = 1});
    cr_assert_eq(stats.flows[0]->pcp_changed, 1);
    cr_assert_eq(stats.by_pcp[3], 1);
    cr_assert_eq(stats.by_pcp[4], 1);
    cr_assert_not(probe_stats_clean(&stats));
}

Test(probe_stats, frames_behind_the_window_are_counted_apart)
{
    add((struct frame_args){.seq = 0});
    add((struct frame_args){.seq = PROBE_WINDOW + 5});
    add((struct frame_args){.seq = 2});
    add((struct frame_args){.seq = 6});
    cr_assert_eq(stats.flows[0]->too_old, 1);
    cr_assert_eq(stats.flows[0]->reordered, 1);
    cr_assert_eq(stats.flows[0]->received, 3);
}

/* Random steps, leaps beyond the window included, against a plain table. */
Test(probe_stats, agrees_with_a_naive_model)
{
    enum { RANGE = 400000 };
    struct rng r = {42};
    uint8_t *have = calloc(RANGE, 1);
    uint64_t next = 0, received = 0, dup = 0, late = 0, old = 0, missing = 0;
    const struct probe_rx_flow *f;

    while (next < RANGE - PROBE_WINDOW - 200) {
        uint64_t back = rng_below(&r, 100) == 0 ? 70000 : 50;
        uint64_t seq = next + rng_below(&r, 3);

        if (rng_below(&r, 4) == 0 && next > back)
            seq = next - 1 - rng_below(&r, back);
        if (rng_below(&r, 5000) == 0)
            seq = next + PROBE_WINDOW - 2 + rng_below(&r, 5);
        add((struct frame_args){.seq = seq});
        if (seq + PROBE_WINDOW < next) {
            old++;
            continue;
        }
        if (have[seq]) {
            dup++;
            continue;
        }
        late += seq < next;
        have[seq] = 1;
        received++;
        next = seq >= next ? seq + 1 : next;
    }
    for (uint64_t i = 0; i < next; i++)
        missing += !have[i];
    f = stats.flows[0];
    cr_assert_gt(old, 0);
    cr_assert_gt(dup, 100);
    cr_assert_eq(f->next, next);
    cr_assert_eq(f->received, received);
    cr_assert_eq(f->duplicated, dup);
    cr_assert_eq(f->reordered, late);
    cr_assert_eq(f->too_old, old);
    cr_assert_eq(probe_rx_flow_lost(f), missing);
    free(have);
}

Test(probe_stats, classes_add_flows_up)
{
    static struct probe_class c;

    add((struct frame_args){
        .flow = 1, .prio = 3, .pcp = 3, .now_ns = 10, .last = true});
    add((struct frame_args){
        .flow = 2, .prio = 3, .pcp = 3, .now_ns = 30, .seq = 4});
    add((struct frame_args){.flow = 3, .prio = 0});
    probe_stats_class(&stats, 3, &c);
    cr_assert_eq(c.n_flows, 2);
    cr_assert_eq(c.received, 2);
    cr_assert_eq(c.lost, 4);
    cr_assert_not(c.complete);
    cr_assert_eq(c.latency.n, 2);
    cr_assert_eq(c.latency.min, 10);
    cr_assert_eq(c.latency.max, 30);
    probe_stats_class(&stats, 5, &c);
    cr_assert_eq(c.n_flows, 0);
}

Test(probe_stats, silence_and_latency_are_measured)
{
    add((struct frame_args){.seq = 0, .sent_ns = 100, .now_ns = 150});
    add((struct frame_args){.seq = 1, .sent_ns = 200, .now_ns = 900});
    add((struct frame_args){.seq = 2, .sent_ns = 950, .now_ns = 1000});
    cr_assert_eq(stats.flows[0]->longest_gap_ns, 750);
    cr_assert_eq(stats.flows[0]->latency.min, 50);
    cr_assert_eq(stats.flows[0]->latency.max, 700);
}

static int
by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

    return x < y ? -1 : x > y;
}

Test(probe_hist, percentiles_agree_with_sorting)
{
    enum { N = 20000 };
    static struct probe_hist h;
    static uint64_t v[N];
    struct rng r = {7};

    for (int i = 0; i < N; i++) {
        v[i] = rng_u64(&r) >> (24 + rng_below(&r, 40));
        probe_hist_add(&h, v[i]);
    }
    qsort(v, N, sizeof(v[0]), by_value);
    for (uint32_t p = 1; p <= 10000; p += 33) {
        uint64_t want = v[((uint64_t) N * p + 9999) / 10000 - 1];
        uint64_t got = probe_hist_percentile(&h, p);

        cr_assert_geq(got, want);
        cr_assert_leq(got, want + want / 64 + 1);
    }
    cr_assert_eq(h.min, v[0]);
    cr_assert_eq(h.max, v[N - 1]);
    cr_assert_eq(probe_hist_percentile(&h, 10000), v[N - 1]);
}

Test(probe_hist, edges)
{
    static struct probe_hist h, sum;

    cr_assert_eq(probe_hist_percentile(&h, 5000), 0);
    probe_hist_add(&h, 0);
    cr_assert_eq(probe_hist_percentile(&h, 10000), 0);
    probe_hist_add(&h, UINT64_MAX);
    cr_assert_eq(probe_hist_percentile(&h, 10000), UINT64_MAX);
    cr_assert_eq(probe_hist_percentile(&h, 5000), 0);
    probe_hist_add(&sum, 5);
    probe_hist_merge(&sum, &h);
    cr_assert_eq(sum.n, 3);
    cr_assert_eq(sum.min, 0);
    cr_assert_eq(sum.max, UINT64_MAX);
}
