/* SPDX-License-Identifier: Apache-2.0
 *
 * Flows of a probe: see probe_sender.h.
 *
 * Frames leave in the order in which flows come round, one a flow, so that
 * flows without a rate share the link frame by frame.  What a flow may catch
 * up with, after the system ran the probe late or the peer paused it, is the
 * shaper's few milliseconds of credit: a pause is no flood delayed.
 */
#include "probe_sender.h"

#include "base/clock.h"
#include "probe_frame.h"

#include <assert.h>
#include <string.h>

#define CORRUPT_FROM_END 1 /* which octet is changed: the last one */

static uint32_t
largest_size(const struct probe_flow_conf *f)
{
    uint32_t max = 0;

    for (uint32_t i = 0; i < f->n_sizes; i++)
        max = f->sizes[i].bytes > max ? f->sizes[i].bytes : max;
    return max;
}

void
probe_sender_start(struct probe_sender *s, const struct probe_conf *conf,
                   const uint8_t mac[6], uint64_t now_ns)
{
    uint32_t longest = PKT_MIN_LEN;

    memset(s, 0, sizeof(*s));
    s->drain_ns = conf->drain_ns;
    for (uint32_t i = 0; i < conf->n_flows; i++) {
        const struct probe_flow_conf *fc = &conf->flows[i];
        struct probe_tx_flow *f = &s->flows[s->n_flows++];
        uint32_t frame = largest_size(fc);

        f->conf = fc;
        memcpy(f->src, fc->have_src ? fc->src : mac, 6);
        f->start_ns = now_ns + fc->start_ns;
        f->end_ns = fc->duration_ns ? f->start_ns + fc->duration_ns
                                    : now_ns + conf->duration_ns;
        f->pos.rng.state = fc->id;
        longest = frame > longest ? frame : longest;
        shaper_init(&f->shaper, fc->rate_bps, 0, frame, f->start_ns);
    }
    shaper_init(&s->link, conf->rate_bps, 0, longest, now_ns);
}

static uint32_t
draw_size(struct probe_tx_flow *f)
{
    const struct probe_flow_conf *fc = f->conf;
    uint32_t total = 0, at;

    if (fc->n_sizes == 1)
        return fc->sizes[0].bytes;
    for (uint32_t i = 0; i < fc->n_sizes; i++)
        total += fc->sizes[i].weight;
    at = (uint32_t) rng_below(&f->pos.rng, total);
    for (uint32_t i = 0;; i++) {
        if (at < fc->sizes[i].weight)
            return fc->sizes[i].bytes;
        at -= fc->sizes[i].weight;
    }
}

static bool
is_nth(uint64_t seq, uint32_t every)
{
    return every && seq % every == every - 1;
}

/* Chooses the number of the next frame and notes in *slot what it is. */
static uint64_t
next_seq(struct probe_tx_flow *f, struct probe_slot *slot, uint64_t now_ns)
{
    const struct probe_flow_conf *fc = f->conf;
    struct probe_flow_pos *pos = &f->pos;
    uint64_t left = fc->count ? fc->count - pos->seq : UINT64_MAX;
    uint64_t seq;

    if (pos->again) {
        pos->again = false;
        slot->repeated = true;
        return pos->seq - 1;
    }
    if (pos->have_held) {
        pos->have_held = false;
        return pos->held_seq;
    }
    seq = pos->seq++;
    if (left == 1 || now_ns >= f->end_ns) {
        slot->last = true;
        return seq;
    }
    if (is_nth(seq, fc->skip_every)) {
        slot->skipped = 1;
        slot->last = left == 2;
        return pos->seq++;
    }
    if (is_nth(seq, fc->swap_every) && left > 2) {
        pos->have_held = true;
        pos->held_seq = seq;
        return pos->seq++;
    }
    pos->again = is_nth(seq, fc->dup_every);
    return seq;
}

static void
make_frame(struct probe_tx_flow *f, struct pkt *p, struct probe_slot *slot,
           uint64_t now_ns)
{
    struct probe_hdr hdr = {
        .flow = f->conf->id,
        .sent_ns = now_ns,
        .prio = f->conf->prio,
    };

    *slot = (struct probe_slot){.flow = f, .before = f->pos};
    hdr.seq = next_seq(f, slot, now_ns);
    hdr.last = slot->last;
    p->len = draw_size(f);
    p->prio = f->conf->prio;
    probe_frame_build(p->data, p->len, f->src, f->conf, &hdr);
    if (is_nth(hdr.seq, f->conf->corrupt_every)) {
        p->data[p->len - CORRUPT_FROM_END] ^= 0x55;
        slot->corrupted = true;
    }
    if (slot->last)
        f->state = PROBE_FLOW_ENDED;
    shaper_charge(&f->shaper, p->len);
}

static bool
may_send(struct probe_tx_flow *f, uint8_t paused, uint64_t now_ns)
{
    return f->state == PROBE_FLOW_RUNNING && !(paused & 1u << f->conf->prio) &&
           now_ns >= f->start_ns && shaper_ready(&f->shaper, now_ns);
}

/* A flow that stays paused after its end is given up. */
static void
cut_flows(struct probe_sender *s, uint8_t paused, uint64_t now_ns)
{
    for (uint32_t i = 0; i < s->n_flows; i++) {
        struct probe_tx_flow *f = &s->flows[i];

        if (f->state == PROBE_FLOW_RUNNING && paused & 1u << f->conf->prio &&
            now_ns >= f->end_ns + s->drain_ns)
            f->state = PROBE_FLOW_CUT;
    }
}

uint32_t
probe_sender_fill(struct probe_sender *s, struct pkt_pool *pool,
                  uint8_t paused, uint64_t now_ns, struct pkt *pkts[PKT_BATCH])
{
    uint32_t n = 0, idle = 0;

    cut_flows(s, paused, now_ns);
    while (n < PKT_BATCH && idle < s->n_flows &&
           shaper_ready(&s->link, now_ns)) {
        struct probe_tx_flow *f = &s->flows[s->turn];

        s->turn = (s->turn + 1) % s->n_flows;
        if (!may_send(f, paused, now_ns)) {
            idle++;
            continue;
        }
        pkts[n] = pkt_alloc(pool);
        if (!pkts[n]) {
            s->no_buffer++;
            break;
        }
        make_frame(f, pkts[n], &s->slots[n], now_ns);
        shaper_charge(&s->link, pkts[n]->len);
        idle = 0;
        n++;
    }
    return n;
}

static void
count_sent(struct probe_sender *s, const struct probe_slot *slot,
           const struct pkt *p, uint64_t now_ns)
{
    struct probe_tx_flow *f = slot->flow;

    if (f->sent == 0)
        f->first_ns = now_ns;
    else if (now_ns - f->last_ns > f->longest_gap_ns)
        f->longest_gap_ns = now_ns - f->last_ns;
    f->last_ns = now_ns;
    f->sent++;
    f->bytes += p->len;
    f->skipped += slot->skipped;
    f->repeated += slot->repeated;
    f->corrupted += slot->corrupted;
    s->by_prio[f->conf->prio]++;
}

void
probe_sender_done(struct probe_sender *s, struct pkt *const pkts[], uint32_t n,
                  uint32_t n_sent, uint64_t now_ns)
{
    assert(n_sent <= n && n <= PKT_BATCH);
    for (uint32_t i = 0; i < n_sent; i++)
        count_sent(s, &s->slots[i], pkts[i], now_ns);
    /* Newest first: a flow ends up where its first refused frame began. */
    for (uint32_t i = n; i-- > n_sent;) {
        struct probe_tx_flow *f = s->slots[i].flow;

        f->pos = s->slots[i].before;
        f->state = PROBE_FLOW_RUNNING;
        shaper_refund(&f->shaper, pkts[i]->len);
        shaper_refund(&s->link, pkts[i]->len);
        s->refused++;
    }
}

static uint64_t
flow_deadline(const struct probe_sender *s, const struct probe_tx_flow *f,
              uint8_t paused, uint64_t now_ns)
{
    uint64_t at, link = shaper_deadline(&s->link);

    if (f->state != PROBE_FLOW_RUNNING)
        return CLOCK_NEVER;
    if (paused & 1u << f->conf->prio)
        return f->end_ns + s->drain_ns;
    at = shaper_deadline(&f->shaper);
    at = at > link ? at : link;
    at = at > f->start_ns ? at : f->start_ns;
    return at > now_ns ? at : now_ns;
}

uint64_t
probe_sender_deadline(const struct probe_sender *s, uint8_t paused,
                      uint64_t now_ns)
{
    uint64_t next = CLOCK_NEVER;

    for (uint32_t i = 0; i < s->n_flows; i++) {
        uint64_t at = flow_deadline(s, &s->flows[i], paused, now_ns);

        next = at < next ? at : next;
    }
    return next;
}

bool
probe_sender_ended(const struct probe_sender *s)
{
    for (uint32_t i = 0; i < s->n_flows; i++) {
        if (s->flows[i].state == PROBE_FLOW_RUNNING)
            return false;
    }
    return true;
}

void
probe_sender_finish(struct probe_sender *s, uint64_t now_ns)
{
    for (uint32_t i = 0; i < s->n_flows; i++) {
        struct probe_tx_flow *f = &s->flows[i];

        if (f->start_ns > now_ns)
            f->state = PROBE_FLOW_CUT;
        if (f->end_ns > now_ns)
            f->end_ns = now_ns;
    }
}

void
probe_sender_stop(struct probe_sender *s, uint64_t now_ns)
{
    probe_sender_finish(s, now_ns);
    s->drain_ns = 0;
}
