/* SPDX-License-Identifier: Apache-2.0
 *
 * Multipart replies and their entries, of both versions.  See reply.h.
 */
#include "ofp/reply.h"

#include "ofp/act.h"
#include "ofp/port_wire.h"
#include "ofp/v10.h"

#include <stdio.h>

#define T_MULTIPART_REPLY 19
#define T10_STATS_REPLY   17
#define MPF_MORE          1u

#define CONFIG_13 0x65u /* OFPPC_* that 1.3 knows */
#define CONFIG_10 0x7fu /* and 1.0 */

size_t
ofp_multipart_begin(struct ofp_buf *b, uint8_t version, uint32_t xid,
                    enum ofp_kind kind)
{
    size_t start =
        ofp_begin(b, version,
                  version == OFP_V10 ? T10_STATS_REPLY : T_MULTIPART_REPLY,
                  xid);

    /* Kinds are in the order of their numbers. */
    ofp_buf_be16(b, (uint16_t) (kind - OFPK_MP_DESC));
    ofp_buf_be16(b, 0);
    if (version != OFP_V10)
        ofp_buf_be32(b, 0);
    return start;
}

void
ofp_multipart_end(struct ofp_buf *b, size_t start, bool more)
{
    ofp_buf_set16(b, start + 10, more ? MPF_MORE : 0);
    ofp_end(b, start);
}

void
ofp_put_desc(struct ofp_buf *b, const struct ofp_desc *d)
{
    ofp_buf_text(b, d->mfr, 256);
    ofp_buf_text(b, d->hw, 256);
    ofp_buf_text(b, d->sw, 256);
    ofp_buf_text(b, d->serial, 32);
    ofp_buf_text(b, d->dp, 256);
}

static void
put_duration(struct ofp_buf *b, uint64_t ns)
{
    ofp_buf_be32(b, (uint32_t) (ns / 1000000000u));
    ofp_buf_be32(b, (uint32_t) (ns % 1000000000u));
}

static void
put_pair(struct ofp_buf *b, const struct ofp_pair *p)
{
    ofp_buf_be64(b, p->n_packets);
    ofp_buf_be64(b, p->n_bytes);
}

static void
put_flow_10(struct ofp_buf *b, const struct ofp_flow_stats *f)
{
    size_t at = b->n;

    ofp_buf_be16(b, 0);
    ofp_buf_u8(b, f->table);
    ofp_buf_u8(b, 0);
    ofp10_match_encode(b, f->match);
    put_duration(b, f->duration_ns);
    ofp_buf_be16(b, f->priority);
    ofp_buf_be16(b, f->idle_s);
    ofp_buf_be16(b, f->hard_s);
    ofp_buf_zero(b, 6);
    ofp_buf_be64(b, f->cookie);
    ofp_buf_be64(b, f->n_packets);
    ofp_buf_be64(b, f->n_bytes);
    ofp_actions_encode(b, OFP_V10, &f->inst->apply);
    ofp_actions_encode(b, OFP_V10, &f->inst->write);
    ofp_buf_set16(b, at, (uint16_t) (b->n - at));
}

void
ofp_put_flow(struct ofp_buf *b, uint8_t version,
             const struct ofp_flow_stats *f)
{
    size_t at = b->n;

    if (version == OFP_V10) {
        put_flow_10(b, f);
        return;
    }
    ofp_buf_be16(b, 0);
    ofp_buf_u8(b, f->table);
    ofp_buf_u8(b, 0);
    put_duration(b, f->duration_ns);
    ofp_buf_be16(b, f->priority);
    ofp_buf_be16(b, f->idle_s);
    ofp_buf_be16(b, f->hard_s);
    ofp_buf_be16(b, f->flags);
    ofp_buf_be32(b, 0);
    ofp_buf_be64(b, f->cookie);
    ofp_buf_be64(b, f->n_packets);
    ofp_buf_be64(b, f->n_bytes);
    ofp_match_encode(b, f->match);
    ofp_instructions_encode(b, OFP_V13, f->inst);
    ofp_buf_set16(b, at, (uint16_t) (b->n - at));
}

void
ofp_put_aggregate(struct ofp_buf *b, const struct ofp_aggregate *a)
{
    ofp_buf_be64(b, a->n_packets);
    ofp_buf_be64(b, a->n_bytes);
    ofp_buf_be32(b, a->n_flows);
    ofp_buf_be32(b, 0);
}

void
ofp_put_table(struct ofp_buf *b, uint8_t version,
              const struct ofp_table_stats *t)
{
    char name[16];

    ofp_buf_u8(b, t->table);
    ofp_buf_zero(b, 3);
    if (version == OFP_V10) {
        snprintf(name, sizeof(name), "table%u", t->table);
        ofp_buf_text(b, t->name ? t->name : name, 32);
        ofp_buf_be32(b, (1u << 22) - 1); /* all may be open */
        ofp_buf_be32(b, t->max_entries);
    }
    ofp_buf_be32(b, t->n_active);
    ofp_buf_be64(b, t->n_lookups);
    ofp_buf_be64(b, t->n_matched);
}

void
ofp_put_port_stats(struct ofp_buf *b, uint8_t version,
                   const struct ofp_port_stats *s)
{
    const uint64_t n[] = {s->rx_packets,  s->tx_packets, s->rx_bytes,
                          s->tx_bytes,    s->rx_dropped, s->tx_dropped,
                          s->rx_errors,   s->tx_errors,  s->rx_frame_err,
                          s->rx_over_err, s->rx_crc_err, s->collisions};

    if (version == OFP_V10) {
        ofp_buf_be16(b, v10_port_out(s->port));
        ofp_buf_zero(b, 6);
    } else {
        ofp_buf_be32(b, s->port);
        ofp_buf_be32(b, 0);
    }
    for (size_t i = 0; i < sizeof(n) / sizeof(n[0]); i++)
        ofp_buf_be64(b, n[i]);
    if (version != OFP_V10)
        put_duration(b, s->duration_ns);
}

void
ofp_put_queue_stats(struct ofp_buf *b, uint8_t version,
                    const struct ofp_queue_stats *q)
{
    if (version == OFP_V10) {
        ofp_buf_be16(b, v10_port_out(q->port));
        ofp_buf_be16(b, 0);
    } else {
        ofp_buf_be32(b, q->port);
    }
    ofp_buf_be32(b, q->queue);
    ofp_buf_be64(b, q->tx_bytes);
    ofp_buf_be64(b, q->tx_packets);
    ofp_buf_be64(b, q->tx_errors);
    if (version != OFP_V10)
        put_duration(b, q->duration_ns);
}

void
ofp_put_group_stats(struct ofp_buf *b, const struct ofp_group_stats *g)
{
    size_t at = b->n;

    ofp_buf_be16(b, 0);
    ofp_buf_be16(b, 0);
    ofp_buf_be32(b, g->id);
    ofp_buf_be32(b, g->ref_count);
    ofp_buf_be32(b, 0);
    put_pair(b, &g->total);
    put_duration(b, g->duration_ns);
    for (uint32_t i = 0; i < g->n_buckets; i++)
        put_pair(b, &g->bucket[i]);
    ofp_buf_set16(b, at, (uint16_t) (b->n - at));
}

void
ofp_put_group_desc(struct ofp_buf *b, const struct ofp_group *g)
{
    size_t at = b->n;

    ofp_buf_be16(b, 0);
    ofp_buf_u8(b, (uint8_t) g->type);
    ofp_buf_u8(b, 0);
    ofp_buf_be32(b, g->id);
    ofp_buckets_encode(b, g);
    ofp_buf_set16(b, at, (uint16_t) (b->n - at));
}

void
ofp_put_group_features(struct ofp_buf *b, const struct ofp_group_features *f)
{
    uint32_t actions = 0;

    for (int t = 0; t < OFP_ACT_SET_VLAN_VID; t++)
        if (f->actions >> t & 1)
            actions |= 1u << act_wire_of((enum ofp_action_type) t);
    ofp_buf_be32(b, f->types);
    ofp_buf_be32(b, f->capabilities);
    for (int t = 0; t < 4; t++)
        ofp_buf_be32(b, f->types >> t & 1 ? f->max_groups : 0);
    for (int t = 0; t < 4; t++)
        ofp_buf_be32(b, f->types >> t & 1 ? actions : 0);
}

void
ofp_put_meter_stats(struct ofp_buf *b, const struct ofp_meter_stats *m)
{
    size_t at = b->n;

    ofp_buf_be32(b, m->id);
    ofp_buf_be16(b, 0);
    ofp_buf_zero(b, 6);
    ofp_buf_be32(b, m->flow_count);
    put_pair(b, &m->total);
    put_duration(b, m->duration_ns);
    for (uint32_t i = 0; i < m->n_bands; i++)
        put_pair(b, &m->band[i]);
    ofp_buf_set16(b, at + 4, (uint16_t) (b->n - at));
}

void
ofp_put_meter_config(struct ofp_buf *b, const struct ofp_meter *m)
{
    size_t at = b->n;

    ofp_buf_be16(b, 0);
    ofp_buf_be16(b, m->flags);
    ofp_buf_be32(b, m->id);
    ofp_bands_encode(b, m);
    ofp_buf_set16(b, at, (uint16_t) (b->n - at));
}

void
ofp_put_meter_features(struct ofp_buf *b, const struct ofp_meter_features *f)
{
    ofp_buf_be32(b, f->max_meter);
    ofp_buf_be32(b, f->band_types);
    ofp_buf_be32(b, f->capabilities);
    ofp_buf_u8(b, f->max_bands);
    ofp_buf_u8(b, f->max_color);
    ofp_buf_be16(b, 0);
}

/* 1.0 ends at 10 Gb/s; its media are elsewhere. */
static uint32_t
features_10(uint32_t v)
{
    return (v & 0x7f) | (v >> 4 & 0x380);
}

static void
port_put_10(struct ofp_buf *b, const struct ofp_port *p)
{
    ofp_buf_be16(b, v10_port_out(p->number));
    ofp_buf_bytes(b, p->hw_addr, 6);
    ofp_buf_text(b, p->name, 16);
    ofp_buf_be32(b, p->config & CONFIG_10);
    ofp_buf_be32(b, p->state & OFPPS_LINK_DOWN);
    ofp_buf_be32(b, features_10(p->curr));
    ofp_buf_be32(b, features_10(p->advertised));
    ofp_buf_be32(b, features_10(p->supported));
    ofp_buf_be32(b, features_10(p->peer));
}

void
port_put(struct ofp_buf *b, uint8_t version, const struct ofp_port *p)
{
    if (version == OFP_V10) {
        port_put_10(b, p);
        return;
    }
    ofp_buf_be32(b, p->number);
    ofp_buf_be32(b, 0);
    ofp_buf_bytes(b, p->hw_addr, 6);
    ofp_buf_be16(b, 0);
    ofp_buf_text(b, p->name, 16);
    ofp_buf_be32(b, p->config & CONFIG_13);
    ofp_buf_be32(b, p->state);
    ofp_buf_be32(b, p->curr);
    ofp_buf_be32(b, p->advertised);
    ofp_buf_be32(b, p->supported);
    ofp_buf_be32(b, p->peer);
    ofp_buf_be32(b, p->curr_speed);
    ofp_buf_be32(b, p->max_speed);
}

void
ofp_put_port_desc(struct ofp_buf *b, uint8_t version, const struct ofp_port *p)
{
    port_put(b, version, p);
}
