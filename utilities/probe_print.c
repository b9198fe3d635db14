/* SPDX-License-Identifier: Apache-2.0
 *
 * Results of a run as tables: see probe_report.h.
 */
#include "probe_report.h"

#include "base/clock.h"
#include "wire/eth.h"

#include <inttypes.h>

static double
ms(uint64_t ns)
{
    return (double) ns / (double) NS_PER_MS;
}

/* Average over the time between the first frame and the last. */
static double
mbps(uint64_t bytes, uint64_t first_ns, uint64_t last_ns)
{
    if (last_ns <= first_ns)
        return 0;
    return (double) bytes * 8e3 / (double) (last_ns - first_ns);
}

static void
print_sent(const struct probe_sender *s, FILE *out)
{
    fprintf(out, "Sent\n  %4s %4s %6s %-17s %10s %8s %12s %s\n", "Flow",
            "Prio", "VLAN", "To", "Frames", "Mb/s", "Longest gap", "State");
    for (uint32_t i = 0; i < s->n_flows; i++) {
        static const char *const states[] = {"running", "ended",
                                             "cut: still paused"};
        const struct probe_tx_flow *f = &s->flows[i];
        char to[18], vlan[8] = "none";

        if (f->conf->vid != PROBE_VLAN_NONE)
            snprintf(vlan, sizeof(vlan), "%u", f->conf->vid);
        fprintf(out, "  %4u %4u %6s %s %10" PRIu64 " %8.1f %9.3f ms %s\n",
                f->conf->id, f->conf->prio, vlan,
                eth_mac_format(f->conf->dst, to), f->sent,
                mbps(f->bytes, f->first_ns, f->last_ns), ms(f->longest_gap_ns),
                states[f->state]);
    }
}

static void
print_counts(FILE *out, uint64_t received, uint64_t lost, uint64_t duplicated,
             uint64_t reordered, uint64_t corrupted,
             const struct probe_hist *h)
{
    fprintf(out,
            " %9" PRIu64 " %8" PRIu64 " %6" PRIu64 " %6" PRIu64 " %7" PRIu64
            " %8.3f %8.3f %8.3f\n",
            received, lost, duplicated, reordered, corrupted,
            ms(probe_hist_percentile(h, 5000)),
            ms(probe_hist_percentile(h, 9900)), ms(h->max));
}

static void
print_received(const struct probe_stats *s, FILE *out)
{
    fprintf(out, "Received\n  %4s %4s %-17s %9s %8s %6s %6s %7s %26s\n",
            "Flow", "Prio", "From", "Frames", "Lost", "Twice", "Late",
            "Changed", "Latency ms p50 / p99 / max");
    for (uint32_t i = 0; i < s->n_flows; i++) {
        const struct probe_rx_flow *f = s->flows[i];
        char from[18];

        fprintf(out, "  %4u %4u %s", f->id, f->prio,
                eth_mac_format(f->src, from));
        print_counts(out, f->received, probe_rx_flow_lost(f), f->duplicated,
                     f->reordered, f->damaged, &f->latency);
    }
    for (uint8_t p = 0; p < N_PRIO; p++) {
        struct probe_class c;

        probe_stats_class(s, p, &c);
        if (c.n_flows == 0)
            continue;
        fprintf(out, "  %4s %4u %-17s", "all", p, "");
        print_counts(out, c.received, c.lost, c.duplicated, c.reordered,
                     c.damaged, &c.latency);
    }
    if (s->garbled || s->refused)
        fprintf(out,
                "  unreadable probe frames: %" PRIu64
                ", of more than %u flows: %" PRIu64 "\n",
                s->garbled, PROBE_MAX_RX_FLOWS, s->refused);
    if (s->other)
        fprintf(out, "  frames of others: %" PRIu64 "\n", s->other);
}

static uint64_t
open_pause(uint8_t lasts, int p, const uint64_t since[N_PRIO], uint64_t now_ns)
{
    return lasts & 1u << p && now_ns > since[p] ? now_ns - since[p] : 0;
}

static void
print_pfc(const struct probe_station *st, uint64_t now_ns, FILE *out)
{
    const struct pfc *pfc = &st->pfc;
    const struct pfc_counters *n = &pfc->n;

    fprintf(out, "PFC\n  %4s %10s %10s %12s %10s %10s %12s %s\n", "Prio",
            "XOFF rx", "Paused", "for ms", "XOFF tx", "Pausing", "for ms",
            "Most frames after XOFF");
    for (int p = 0; p < N_PRIO; p++) {
        uint64_t rx_ns = n->rx_paused_ns[p];
        uint64_t tx_ns = n->tx_paused_ns[p];

        if (!n->rx_pfc[p] && !n->tx_pfc[p] &&
            !((pfc->conf.enabled | pfc->conf.honoured) & 1u << p))
            continue;
        rx_ns += open_pause(pfc->paused, p, pfc->since_ns, now_ns);
        tx_ns += open_pause(pfc->asserted, p, pfc->asserted_ns, now_ns);
        fprintf(out,
                "  %4d %10" PRIu64 " %10" PRIu64 " %12.3f %10" PRIu64
                " %10" PRIu64 " %12.3f %22" PRIu64 "\n",
                p, n->rx_xoff[p], n->rx_pauses[p], ms(rx_ns), n->tx_xoff[p],
                n->tx_pauses[p], ms(tx_ns), st->after_xoff_max[p]);
    }
    if (n->rx_not_enabled || n->rx_malformed || n->rx_unsupported ||
        n->rx_pause)
        fprintf(out,
                "  received besides: not enabled %" PRIu64
                ", malformed %" PRIu64 ", unknown %" PRIu64 ", PAUSE %" PRIu64
                "\n",
                n->rx_not_enabled, n->rx_malformed, n->rx_unsupported,
                n->rx_pause);
}

static void
print_slow(const struct probe_station *st, FILE *out)
{
    for (int p = 0; p < N_PRIO; p++) {
        const struct probe_slow_buf *b = &st->slow[p];

        if (!b->lens)
            continue;
        fprintf(out,
                "Slow consumer of priority %d: consumed %" PRIu64
                ", dropped %" PRIu64 ", still held %u, at most %" PRIu64
                " octets (%" PRIu64 " of headroom)\n",
                p, b->consumed, b->dropped, b->n, counter_get(&b->group.peak),
                counter_get(&b->group.headroom_peak));
    }
}

static void
print_misbehaviour(const struct probe_station *st, FILE *out)
{
    if (st->conf->ignore_pfc)
        fprintf(out, "Misbehaved: PFC was ignored\n");
    if (st->conf->n_storms)
        fprintf(out, "Misbehaved: storm of %" PRIu64 " XOFF frames\n",
                st->storm_frames);
    if (!st->conf->malformed)
        return;
    fprintf(out, "Misbehaved: malformed MAC control");
    for (uint32_t i = 0; i < PROBE_N_MALFORMED; i++)
        fprintf(out, " %s %" PRIu64, probe_malformed_names[i],
                st->malformed[i]);
    fprintf(out, "\n");
}

void
probe_report_print(const struct probe_station *st, uint64_t now_ns, FILE *out)
{
    const struct netdev_stats *k = &st->dev->stats;

    if (st->conf->send)
        print_sent(&st->sender, out);
    if (st->conf->receive)
        print_received(&st->stats, out);
    print_pfc(st, now_ns, out);
    print_slow(st, out);
    print_misbehaviour(st, out);
    if (counter_get(&k->rx_ring_drops))
        fprintf(out,
                "The kernel found our ring full %" PRIu64
                " times: this receiver was too slow\n",
                counter_get(&k->rx_ring_drops));
}
