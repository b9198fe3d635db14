/* SPDX-License-Identifier: Apache-2.0
 *
 * Results of a run as JSON: see probe_report.h.
 */
#include "probe_report.h"

#include "wire/eth.h"

#include <string.h>

static void
put(struct json_object *o, const char *key, uint64_t v)
{
    json_object_object_add(o, key, json_object_new_uint64(v));
}

static void
put_bool(struct json_object *o, const char *key, bool v)
{
    json_object_object_add(o, key, json_object_new_boolean(v));
}

static void
put_text(struct json_object *o, const char *key, const char *v)
{
    json_object_object_add(o, key, json_object_new_string(v));
}

static void
put_mac(struct json_object *o, const char *key, const uint8_t mac[6])
{
    char text[18];

    put_text(o, key, eth_mac_format(mac, text));
}

/* Null for a flow without a tag. */
static void
put_vid(struct json_object *o, bool tagged, uint16_t vid)
{
    json_object_object_add(o, "vlan",
                           tagged ? json_object_new_int(vid) : NULL);
}

static void
put_mask(struct json_object *o, const char *key, uint8_t mask)
{
    struct json_object *a = json_object_new_array();

    for (int p = 0; p < N_PRIO; p++) {
        if (mask & 1u << p)
            json_object_array_add(a, json_object_new_int(p));
    }
    json_object_object_add(o, key, a);
}

static void
put_by_prio(struct json_object *o, const char *key, const uint64_t v[N_PRIO])
{
    struct json_object *a = json_object_new_array();

    for (int p = 0; p < N_PRIO; p++)
        json_object_array_add(a, json_object_new_uint64(v[p]));
    json_object_object_add(o, key, a);
}

static struct json_object *
latency_json(const struct probe_hist *h)
{
    struct json_object *o = json_object_new_object();

    put(o, "min", h->min);
    put(o, "p50", probe_hist_percentile(h, 5000));
    put(o, "p99", probe_hist_percentile(h, 9900));
    put(o, "max", h->max);
    return o;
}

/* --- what was sent ---------------------------------------------------- */

static struct json_object *
tx_flow_json(const struct probe_tx_flow *f)
{
    static const char *const states[] = {"running", "ended", "cut"};
    struct json_object *o = json_object_new_object();

    put(o, "id", f->conf->id);
    put(o, "prio", f->conf->prio);
    put_vid(o, f->conf->vid != PROBE_VLAN_NONE, f->conf->vid);
    put_mac(o, "src", f->src);
    put_mac(o, "dst", f->conf->dst);
    put(o, "rate_bps", f->conf->rate_bps);
    put(o, "sent", f->sent);
    put(o, "bytes", f->bytes);
    put(o, "sequence_numbers", f->sent - f->repeated + f->skipped);
    put(o, "skipped", f->skipped);
    put(o, "repeated", f->repeated);
    put(o, "corrupted", f->corrupted);
    put_text(o, "state", states[f->state]);
    put(o, "first_ns", f->first_ns);
    put(o, "last_ns", f->last_ns);
    put(o, "longest_gap_ns", f->longest_gap_ns);
    return o;
}

static struct json_object *
sent_json(const struct probe_station *st)
{
    const struct probe_sender *s = &st->sender;
    struct json_object *o = json_object_new_object();
    struct json_object *flows = json_object_new_array();
    uint64_t frames = 0, bytes = 0;

    for (uint32_t i = 0; i < s->n_flows; i++) {
        json_object_array_add(flows, tx_flow_json(&s->flows[i]));
        frames += s->flows[i].sent;
        bytes += s->flows[i].bytes;
    }
    put(o, "frames", frames);
    put(o, "bytes", bytes);
    put_by_prio(o, "by_prio", s->by_prio);
    put(o, "refused", s->refused);
    json_object_object_add(o, "flows", flows);
    return o;
}

/* --- what was received ------------------------------------------------ */

static struct json_object *
rx_flow_json(const struct probe_rx_flow *f)
{
    struct json_object *o = json_object_new_object();

    put_mac(o, "src", f->src);
    put(o, "id", f->id);
    put(o, "prio", f->prio);
    put_vid(o, f->tagged, f->vid);
    put(o, "received", f->received);
    put(o, "bytes", f->bytes);
    put(o, "lost", probe_rx_flow_lost(f));
    put(o, "duplicated", f->duplicated);
    put(o, "reordered", f->reordered);
    put(o, "corrupted", f->damaged);
    put(o, "too_old", f->too_old);
    put(o, "pcp_changed", f->pcp_changed);
    put_bool(o, "complete", f->complete);
    put(o, "sequence_numbers", f->next);
    put(o, "first_ns", f->first_ns);
    put(o, "last_ns", f->last_ns);
    put(o, "longest_gap_ns", f->longest_gap_ns);
    json_object_object_add(o, "latency_ns", latency_json(&f->latency));
    return o;
}

static struct json_object *
class_json(const struct probe_class *c)
{
    struct json_object *o = json_object_new_object();

    put(o, "flows", c->n_flows);
    put_bool(o, "complete", c->complete);
    put(o, "received", c->received);
    put(o, "bytes", c->bytes);
    put(o, "lost", c->lost);
    put(o, "duplicated", c->duplicated);
    put(o, "reordered", c->reordered);
    put(o, "corrupted", c->damaged);
    json_object_object_add(o, "latency_ns", latency_json(&c->latency));
    return o;
}

static struct json_object *
received_json(const struct probe_station *st)
{
    const struct probe_stats *s = &st->stats;
    struct json_object *o = json_object_new_object();
    struct json_object *flows = json_object_new_array();
    struct json_object *classes = json_object_new_object();

    for (uint32_t i = 0; i < s->n_flows; i++)
        json_object_array_add(flows, rx_flow_json(s->flows[i]));
    for (uint8_t p = 0; p < N_PRIO; p++) {
        struct probe_class c;
        char key[2] = {(char) ('0' + p), '\0'};

        probe_stats_class(s, p, &c);
        if (c.n_flows)
            json_object_object_add(classes, key, class_json(&c));
    }
    json_object_object_add(o, "classes", classes);
    json_object_object_add(o, "flows", flows);
    put_by_prio(o, "by_prio", s->by_pcp);
    put_by_prio(o, "bytes_by_prio", s->by_pcp_bytes);
    put(o, "garbled", s->garbled);
    put(o, "refused", s->refused);
    put(o, "other_frames", s->other);
    put(o, "other_bytes", s->other_bytes);
    return o;
}

/* --- pause, buffers, the kernel --------------------------------------- */

/* Finished pauses and, where one still lasts, that up to now. */
static void
put_paused(struct json_object *o, const uint64_t total[N_PRIO], uint8_t lasts,
           const uint64_t since[N_PRIO], uint64_t now_ns)
{
    uint64_t sum[N_PRIO];

    for (int p = 0; p < N_PRIO; p++)
        sum[p] =
            total[p] +
            (lasts & 1u << p && now_ns > since[p] ? now_ns - since[p] : 0);
    put_by_prio(o, "paused_ns", sum);
}

static struct json_object *
pfc_json(const struct probe_station *st, uint64_t now_ns)
{
    const struct pfc *pfc = &st->pfc;
    struct json_object *o = json_object_new_object();
    struct json_object *rx = json_object_new_object();
    struct json_object *tx = json_object_new_object();

    put_mask(o, "enabled", pfc->conf.enabled);
    put_mask(o, "honoured", pfc->conf.honoured);
    put(o, "quanta", pfc->conf.quanta);
    put(o, "rate_bps", pfc->conf.rate_bps);
    put_mask(o, "paused", pfc->paused);
    put_mask(o, "pausing", pfc->asserted);
    put(rx, "frames", pfc->n.rx_frames);
    put_by_prio(rx, "pfc", pfc->n.rx_pfc);
    put_by_prio(rx, "xoff", pfc->n.rx_xoff);
    put_by_prio(rx, "pauses", pfc->n.rx_pauses);
    put_paused(rx, pfc->n.rx_paused_ns, pfc->paused, pfc->since_ns, now_ns);
    put_by_prio(rx, "longest_ns", pfc->n.rx_longest_ns);
    put(rx, "pause", pfc->n.rx_pause);
    put(rx, "not_enabled", pfc->n.rx_not_enabled);
    put(rx, "malformed", pfc->n.rx_malformed);
    put(rx, "unsupported", pfc->n.rx_unsupported);
    put(tx, "frames", pfc->n.tx_frames);
    put_by_prio(tx, "pfc", pfc->n.tx_pfc);
    put_by_prio(tx, "xoff", pfc->n.tx_xoff);
    put_by_prio(tx, "pauses", pfc->n.tx_pauses);
    put_paused(tx, pfc->n.tx_paused_ns, pfc->asserted, pfc->asserted_ns,
               now_ns);
    put_by_prio(tx, "most_after_xoff", st->after_xoff_max);
    json_object_object_add(o, "rx", rx);
    json_object_object_add(o, "tx", tx);
    return o;
}

static struct json_object *
slow_json(const struct probe_slow_buf *b)
{
    const struct buf_group *g = &b->group;
    struct json_object *o = json_object_new_object();

    put(o, "rate_bps", b->shaper.rate_bps);
    put(o, "buffer_bytes", g->conf.limit_bytes + g->conf.headroom_bytes);
    put(o, "xoff_bytes", g->conf.limit_bytes);
    put(o, "xon_bytes", g->conf.xon_bytes);
    put(o, "peak_bytes", counter_get(&g->peak));
    put(o, "headroom_peak_bytes", counter_get(&g->headroom_peak));
    put(o, "held", b->n);
    put(o, "consumed", b->consumed);
    put(o, "dropped", b->dropped);
    return o;
}

static struct json_object *
misbehaviour_json(const struct probe_station *st)
{
    struct json_object *o = json_object_new_object();
    struct json_object *kinds = json_object_new_object();

    put_bool(o, "ignore_pfc", st->conf->ignore_pfc);
    put(o, "storm_frames", st->storm_frames);
    for (uint32_t i = 0; i < PROBE_N_MALFORMED; i++)
        put(kinds, probe_malformed_names[i], st->malformed[i]);
    json_object_object_add(o, "malformed", kinds);
    return o;
}

static struct json_object *
kernel_json(const struct netdev_stats *n)
{
    struct json_object *o = json_object_new_object();

    put(o, "ring_drops", counter_get(&n->rx_ring_drops));
    put(o, "backlog_drops", counter_get(&n->rx_backlog_drops));
    put(o, "tx_queue_drops", counter_get(&n->tx_queue_drops));
    put(o, "oversize", counter_get(&n->rx_oversize));
    put(o, "bad", counter_get(&n->rx_bad));
    put(o, "ring_slots", counter_get(&n->n_ring_slots));
    put(o, "ring_peak", counter_get(&n->ring_peak));
    return o;
}

struct json_object *
probe_report_json(const struct probe_station *st, uint64_t now_ns)
{
    struct json_object *o = json_object_new_object();
    struct json_object *slow = json_object_new_object();

    put_text(o, "iface", st->dev->name);
    put_mac(o, "mac", st->dev->mac);
    put(o, "start_ns", st->start_ns);
    put(o, "elapsed_ns", st->started ? now_ns - st->start_ns : 0);
    if (st->conf->send)
        json_object_object_add(o, "sent", sent_json(st));
    if (st->conf->receive)
        json_object_object_add(o, "received", received_json(st));
    json_object_object_add(o, "pfc", pfc_json(st, now_ns));
    for (int p = 0; p < N_PRIO; p++) {
        char key[2] = {(char) ('0' + p), '\0'};

        if (st->slow[p].lens)
            json_object_object_add(slow, key, slow_json(&st->slow[p]));
    }
    json_object_object_add(o, "slow", slow);
    json_object_object_add(o, "misbehaviour", misbehaviour_json(st));
    json_object_object_add(o, "kernel", kernel_json(&st->dev->stats));
    return o;
}
