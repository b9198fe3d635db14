/* SPDX-License-Identifier: Apache-2.0
 *
 * Multipart (1.0: statistics) requests: what is asked for is read off the
 * books an entry at a time, as the peer reads.  Control thread.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "of_int.h"

#include "base/clock.h"
#include "ofbridge.h"
#include "ofp/msg.h"
#include "ofp/reply.h"

#include <stdlib.h>
#include <string.h>

/* A reply in the making. */
struct dump {
    struct ofd_control *of;    /* whose books */
    uint8_t version;           /* of the connection */
    struct ofp_msg req;        /* what was asked */
    struct ofp_buf entry;      /* made, but not handed out yet */
    bool at_end;               /* there are no more */
    int64_t at;                /* the last table, port, group or meter */
    uint32_t queue;            /* the next one of that port */
    struct ofproto_walk walk;  /* over flows */
    bool is_walking;           /* it was begun */
    struct ofp_aggregate sums; /* so far */
};

/* --- beginning --------------------------------------------------------------
 */

/* 1.0 has two words for all ports. */
static bool
is_all(uint32_t port)
{
    return port == OFPP_ANY || port == OFPP_ALL;
}

/* What is asked of must be there. */
static bool
begin_one(struct dump *d, struct ofp_error *e)
{
    struct ofproto *books = ofd_books(d->of);
    const struct ofp_msg *r = &d->req;
    struct ofproto_meter_info meter;

    switch (r->kind) {
    case OFPK_MP_FLOW:
    case OFPK_MP_AGGREGATE:
        d->is_walking = ofproto_walk_flows(books, &d->walk, r->flows.table, e);
        return d->is_walking;
    case OFPK_MP_PORT_STATS:
        return is_all(r->which.port) || ofproto_port(books, r->which.port) ||
               ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_PORT,
                        "there is no port %u", r->which.port);
    case OFPK_MP_QUEUE:
        if (!is_all(r->which.port) && !ofproto_port(books, r->which.port))
            return ofp_fail(e, OFPET_QUEUE_OP_FAILED, OFPQOFC_BAD_PORT,
                            "there is no port %u", r->which.port);
        return r->which.queue == OFPQ_ALL ||
               r->which.queue < OFPROTO_N_QUEUES ||
               ofp_fail(e, OFPET_QUEUE_OP_FAILED, OFPQOFC_BAD_QUEUE,
                        "there is no queue %u: 0 to 7", r->which.queue);
    case OFPK_MP_METER:
    case OFPK_MP_METER_CONFIG:
        return r->id == OFPM_ALL ||
               ofproto_meter(books, r->id, clock_ns(), &meter) ||
               ofp_fail(e, OFPET_METER_MOD_FAILED, OFPMMFC_UNKNOWN_METER,
                        "there is no meter %u", r->id);
    case OFPK_MP_TABLE_FEATURES:
        return !r->features.n ||
               ofproto_set_table_features(books, r->features.t, r->features.n,
                                          e);
    default:
        return true;
    }
}

enum ofconn_verdict
ofd_stats_begin(void *sw, struct ofconn *c, const struct ofconn_multipart *mp,
                void **out, struct ofp_error *e)
{
    struct dump *d = calloc(1, sizeof(*d));
    bool ok;

    (void) c;
    if (!d)
        abort();
    d->of = sw;
    d->version = mp->version;
    d->at = -1;
    ok = mp->whole
             ? ofp_msg_decode(mp->whole->bytes, mp->whole->n, &d->req, e)
             : ofp_multipart_decode(mp->type, mp->body, mp->n, &d->req, e);
    if (!ok) {
        free(d);
        return OFCONN_ERROR;
    }
    if (!begin_one(d, e)) {
        ofd_stats_end(sw, d);
        return OFCONN_ERROR;
    }
    *out = d;
    return OFCONN_OK;
}

void
ofd_stats_end(void *sw, void *dump)
{
    struct dump *d = dump;

    if (d->is_walking)
        ofproto_walk_end(ofd_books(sw), &d->walk);
    ofp_buf_free(&d->entry);
    ofp_msg_free(&d->req);
    free(d);
}

/* --- entries ----------------------------------------------------------------
 */

static void
put_desc(struct dump *d)
{
    const struct ofp_desc desc = {
        .mfr = "Sluice",
        .hw = "software switch with PFC",
        .sw = PACKAGE_VERSION,
        .serial = "none",
        .dp = d->of->name,
    };

    ofp_put_desc(&d->entry, &desc);
    d->at_end = true;
}

/* The next flow that is asked for.  False: not now. */
static bool
next_flow(struct dump *d, struct ofproto_flow_info *i)
{
    const struct ofp_flow_request *r = &d->req.flows;
    const struct ofproto_filter f = {
        .table = r->table,
        .out_port = r->out_port,
        .out_group = r->out_group,
        .cookie = r->cookie,
        .cookie_mask = r->cookie_mask,
        .match = &r->match,
    };

    switch (ofproto_next_flow(ofd_books(d->of), &d->walk, &f, clock_ns(), i)) {
    case OFPROTO_ITEM:
        return true;
    case OFPROTO_AGAIN:
        return false;
    case OFPROTO_END:
        break;
    }
    d->at_end = true;
    return false;
}

static bool
put_flow(struct dump *d)
{
    struct ofproto_flow_info i;
    struct ofp_flow_stats s;

    if (!next_flow(d, &i))
        return d->at_end;
    s = (struct ofp_flow_stats){
        .table = i.table,
        .priority = i.priority,
        .flags = i.flags,
        .idle_s = i.idle_s,
        .hard_s = i.hard_s,
        .cookie = i.cookie,
        .duration_ns = i.duration_ns,
        .n_packets = i.n_packets,
        .n_bytes = i.n_bytes,
        .match = &i.match,
        .inst = i.inst,
    };
    ofp_put_flow(&d->entry, d->version, &s);
    return true;
}

/* Numbers that are not counted are in no sum. */
static bool
put_aggregate(struct dump *d)
{
    struct ofproto_flow_info i;

    while (next_flow(d, &i)) {
        d->sums.n_flows++;
        if (i.n_packets != UINT64_MAX)
            d->sums.n_packets += i.n_packets;
        if (i.n_bytes != UINT64_MAX)
            d->sums.n_bytes += i.n_bytes;
    }
    if (!d->at_end)
        return false;
    ofp_put_aggregate(&d->entry, &d->sums);
    return true;
}

static void
put_table(struct dump *d)
{
    struct ofproto_table_info i;
    struct ofp_table_stats s;

    if (++d->at == OFP_N_TABLES) {
        d->at_end = true;
        return;
    }
    ofproto_table(ofd_books(d->of), (uint8_t) d->at, &i);
    s = (struct ofp_table_stats){
        .table = (uint8_t) d->at,
        .max_entries = i.max_entries,
        .n_active = i.n_active,
        .n_lookups = i.n_lookups,
        .n_matched = i.n_matched,
    };
    ofp_put_table(&d->entry, d->version, &s);
}

static void
put_table_features(struct dump *d)
{
    struct ofp_table_features f;

    if (++d->at == OFP_N_TABLES) {
        d->at_end = true;
        return;
    }
    ofproto_table_features(ofd_books(d->of), (uint8_t) d->at, &f);
    ofp_put_table_features(&d->entry, &f);
}

/* The next port that is asked for; null: that was all. */
static const struct ofp_port *
next_port(struct dump *d, bool all)
{
    struct ofproto *books = ofd_books(d->of);
    const struct ofp_port *p = NULL;

    if (all)
        p = ofproto_port_after(books, d->at < 0 ? 0 : (uint32_t) d->at);
    else if (d->at < 0)
        p = ofproto_port(books, d->req.which.port);
    if (p)
        d->at = p->number;
    else
        d->at_end = true;
    return p;
}

static void
put_port(struct dump *d)
{
    bool is_stats = d->req.kind == OFPK_MP_PORT_STATS;
    const struct ofp_port *p =
        next_port(d, !is_stats || is_all(d->req.which.port));
    struct ofp_port_stats s;

    if (p && !is_stats)
        ofp_put_port_desc(&d->entry, d->version, p);
    else if (p && ofbridge_port_stats(ofd_ofbridge(d->of), p->number, &s))
        ofp_put_port_stats(&d->entry, d->version, &s);
}

static void
put_queue(struct dump *d)
{
    uint32_t want = d->req.which.queue;
    struct ofp_queue_stats s;

    if (d->at < 0 || d->queue == OFPROTO_N_QUEUES) {
        d->queue = 0;
        if (!next_port(d, is_all(d->req.which.port)))
            return;
    }
    if ((want == OFPQ_ALL || want == d->queue) &&
        ofbridge_queue_stats(ofd_ofbridge(d->of), (uint32_t) d->at, d->queue,
                             &s))
        ofp_put_queue_stats(&d->entry, d->version, &s);
    d->queue++;
}

static void
put_group_stats(struct dump *d, const struct ofproto_group_info *i)
{
    uint32_t n = i->group->n_buckets;
    struct ofp_pair *bucket = calloc(n ? n : 1, sizeof(*bucket));
    struct ofp_group_stats s = {
        .id = i->group->id,
        .ref_count = i->ref_count,
        .duration_ns = i->duration_ns,
        .total = {i->n_packets, i->n_bytes},
        .n_buckets = n,
        .bucket = bucket,
    };

    if (!bucket)
        abort();
    for (uint32_t k = 0; k < n; k++) {
        const struct flow_group_counters *f =
            flow_bucket_counters(i->counters, k);

        bucket[k].n_packets = counter_get(&f->n_packets);
        bucket[k].n_bytes = counter_get(&f->n_bytes);
    }
    ofp_put_group_stats(&d->entry, &s);
    free(bucket);
}

/* All of them, or one; one that is not there has no entry. */
static void
put_group(struct dump *d)
{
    struct ofproto *books = ofd_books(d->of);
    bool one = d->req.kind == OFPK_MP_GROUP && d->req.id != OFPG_ALL, is;
    struct ofproto_group_info i;

    is = one ? d->at < 0 && ofproto_group(books, d->req.id, clock_ns(), &i)
             : ofproto_group_after(books, d->at, clock_ns(), &i);
    if (!is) {
        d->at_end = true;
        return;
    }
    d->at = i.group->id;
    if (d->req.kind == OFPK_MP_GROUP)
        put_group_stats(d, &i);
    else
        ofp_put_group_desc(&d->entry, i.group);
}

static void
put_meter_stats(struct dump *d, const struct ofproto_meter_info *i)
{
    struct ofp_pair band[OFP_MAX_BANDS];
    struct ofp_meter_stats s = {
        .id = i->meter->id,
        .flow_count = i->flow_count,
        .duration_ns = i->duration_ns,
        .total = {i->n_packets, i->n_bytes},
        .n_bands = i->meter->n_bands,
        .band = band,
    };

    for (uint32_t k = 0; k < s.n_bands; k++) {
        const struct flow_group_counters *f =
            flow_band_counters(i->counters, k);

        band[k].n_packets = counter_get(&f->n_packets);
        band[k].n_bytes = counter_get(&f->n_bytes);
    }
    ofp_put_meter_stats(&d->entry, &s);
}

static void
put_meter(struct dump *d)
{
    struct ofproto *books = ofd_books(d->of);
    struct ofproto_meter_info i;
    bool is =
        d->req.id != OFPM_ALL
            ? d->at < 0 && ofproto_meter(books, d->req.id, clock_ns(), &i)
            : ofproto_meter_after(books, d->at, clock_ns(), &i);

    if (!is) {
        d->at_end = true;
        return;
    }
    d->at = i.meter->id;
    if (d->req.kind == OFPK_MP_METER)
        put_meter_stats(d, &i);
    else
        ofp_put_meter_config(&d->entry, i.meter);
}

static void
put_features(struct dump *d)
{
    static const struct ofp_group_features groups = {
        .types = 1u << OFPGT_ALL | 1u << OFPGT_SELECT | 1u << OFPGT_INDIRECT |
                 1u << OFPGT_FF,
        .capabilities = 15,
        .max_groups = OFPROTO_MAX_GROUPS,
        .actions = (1u << OFP_ACT_SET_VLAN_VID) - 1,
    };
    static const struct ofp_meter_features meters = {
        .max_meter = OFPROTO_MAX_METERS,
        .band_types = 1u << OFPMBT_DROP | 1u << OFPMBT_DSCP_REMARK,
        .capabilities = OFPMF_KBPS | OFPMF_PKTPS | OFPMF_BURST | OFPMF_STATS,
        .max_bands = OFP_MAX_BANDS,
    };

    if (d->req.kind == OFPK_MP_GROUP_FEATURES)
        ofp_put_group_features(&d->entry, &groups);
    else
        ofp_put_meter_features(&d->entry, &meters);
    d->at_end = true;
}

/* Makes the next entry, if there is one.  False: not now. */
static bool
make_entry(struct dump *d)
{
    switch (d->req.kind) {
    case OFPK_MP_DESC:
        put_desc(d);
        return true;
    case OFPK_MP_FLOW:
        return put_flow(d);
    case OFPK_MP_AGGREGATE:
        return put_aggregate(d);
    case OFPK_MP_TABLE:
        put_table(d);
        return true;
    case OFPK_MP_TABLE_FEATURES:
        put_table_features(d);
        return true;
    case OFPK_MP_PORT_STATS:
    case OFPK_MP_PORT_DESC:
        put_port(d);
        return true;
    case OFPK_MP_QUEUE:
        put_queue(d);
        return true;
    case OFPK_MP_GROUP:
    case OFPK_MP_GROUP_DESC:
        put_group(d);
        return true;
    case OFPK_MP_METER:
    case OFPK_MP_METER_CONFIG:
        put_meter(d);
        return true;
    default:
        put_features(d);
        return true;
    }
}

/* An entry that does not fit is kept for the next message; one that fits into
 * none is left out. */
bool
ofd_stats_next(void *sw, void *dump, uint8_t *to, size_t room, size_t *n)
{
    struct dump *d = dump;

    (void) sw;
    *n = 0;
    for (;;) {
        if (d->entry.bad)
            abort(); /* no memory at all */
        if (d->entry.n > room - *n && *n)
            return true;
        if (d->entry.n <= room - *n && d->entry.n) {
            memcpy(to + *n, d->entry.data, d->entry.n);
            *n += d->entry.n;
        }
        d->entry.n = 0;
        if (d->at_end)
            return false;
        if (!make_entry(d))
            return true;
    }
}
