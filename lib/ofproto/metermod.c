/* SPDX-License-Identifier: Apache-2.0
 *
 * Modifications of the meter table (1.3, 6.6): see books.h.
 */
#include "ofproto/books.h"
#include "ofproto/judge.h"

#include <stdlib.h>

#define FAIL(e, code, ...) \
    ofp_fail(e, OFPET_METER_MOD_FAILED, code, __VA_ARGS__)

#define ALL_FLAGS (OFPMF_KBPS | OFPMF_PKTPS | OFPMF_BURST | OFPMF_STATS)

void
meter_destroy(struct meter *m)
{
    if (!m)
        return;
    flow_meter_destroy(m->dp);
    free(m);
}

void
meter_finish(struct meter *m, struct meter *old)
{
    if (m && old) {
        const struct flow_group_counters *c = flow_meter_counters(old->dp);

        m->base[0] += old->base[0] + counter_get(&c->n_packets);
        m->base[1] += old->base[1] + counter_get(&c->n_bytes);
    }
    meter_destroy(old);
}

void
meter_count(struct ofproto *o, uint32_t id, int by)
{
    struct meter *m = set_get(&o->meters, id);

    if (m)
        m->flow_count += (uint32_t) by;
}

/* Of flows, or that of all packet-ins. */
static bool
id_is_valid(uint32_t id)
{
    return (id && id <= OFPM_MAX) || id == OFPM_CONTROLLER;
}

static bool
check_meter(const struct ofp_meter *m, struct ofp_error *e)
{
    if (!id_is_valid(m->id))
        return FAIL(e, OFPMMFC_INVALID_METER,
                    "meter %u: allowed are 1 to 0xffff0000, and that of "
                    "controllers",
                    m->id);
    if (m->flags & ~ALL_FLAGS)
        return FAIL(e, OFPMMFC_BAD_FLAGS, "flags 0x%x: allowed are 0xf",
                    m->flags);
    if ((m->flags & OFPMF_KBPS) && (m->flags & OFPMF_PKTPS))
        return FAIL(e, OFPMMFC_BAD_FLAGS,
                    "flags 0x%x: kb/s and packets a second at once", m->flags);
    if (m->n_bands > OFP_MAX_BANDS)
        return FAIL(e, OFPMMFC_OUT_OF_BANDS, "%u bands: allowed are 16",
                    m->n_bands);
    for (uint32_t i = 0; i < m->n_bands; i++) {
        const struct ofp_band *b = &m->band[i];

        if (b->type != OFPMBT_DROP && b->type != OFPMBT_DSCP_REMARK)
            return FAIL(e, OFPMMFC_BAD_BAND,
                        "type %u of bands: allowed are 1 (drop) and 2 "
                        "(dscp_remark)",
                        b->type);
        if (!b->rate)
            return FAIL(e, OFPMMFC_BAD_RATE, "rate %u: allowed are 1 and up",
                        b->rate);
        if ((m->flags & OFPMF_BURST) && !b->burst)
            return FAIL(e, OFPMMFC_BAD_BURST, "burst %u: allowed are 1 and up",
                        b->burst);
    }
    return true;
}

static bool
put(struct ofproto *o, const struct ofp_meter *from, bool persist,
    uint64_t now_ns)
{
    struct meter *old = set_get(&o->meters, from->id);
    struct meter *m = books_alloc(1, sizeof(*m));
    struct rec *r;

    m->m = *from;
    m->dp = flow_meter_create(from);
    if (!m->dp)
        abort();
    m->created_ns = old ? old->created_ns : now_ns;
    m->flow_count = old ? old->flow_count : 0;
    m->persist = persist || (old && old->persist); /* as flows that stay */
    r = rec_add(o, REC_METER);
    r->id = from->id;
    r->meter = m;
    r->old_meter = old;
    set_put(&o->meters, from->id, m);
    if (m->persist)
        o->persist_generation++;
    return true;
}

static void
take(struct ofproto *o, struct meter *m, uint64_t now_ns)
{
    struct rec *r;

    flow_delete_users(o, NULL, m, now_ns);
    set_put(&o->meters, m->m.id, NULL);
    r = rec_add(o, REC_METER);
    r->id = m->m.id;
    r->old_meter = m;
    if (m->persist)
        o->persist_generation++;
}

static bool
delete_meters(struct ofproto *o, uint32_t id, uint64_t now_ns,
              struct ofp_error *e)
{
    struct meter *m;

    if (id == OFPM_ALL) {
        while (o->meters.n)
            take(o, o->meters.item[o->meters.n - 1], now_ns);
        return true;
    }
    if (!id_is_valid(id))
        return FAIL(e, OFPMMFC_INVALID_METER,
                    "meter 0x%x is a reserved number", id);
    m = set_get(&o->meters, id);
    if (m)
        take(o, m, now_ns);
    return true;
}

bool
meter_mod(struct ofproto *o, const struct ofp_meter_mod *m, bool persist,
          uint64_t now_ns, struct ofp_error *e)
{
    bool exists = set_get(&o->meters, m->meter.id) != NULL;

    switch (m->command) {
    case OFPMC_ADD:
        if (exists)
            return FAIL(e, OFPMMFC_METER_EXISTS, "meter %u exists already",
                        m->meter.id);
        break;
    case OFPMC_MODIFY:
        if (!exists && id_is_valid(m->meter.id))
            return FAIL(e, OFPMMFC_UNKNOWN_METER, "there is no meter %u",
                        m->meter.id);
        break;
    case OFPMC_DELETE:
        return delete_meters(o, m->meter.id, now_ns, e);
    default:
        return FAIL(e, OFPMMFC_BAD_COMMAND, "there is no command %u",
                    m->command);
    }
    if (!exists && o->meters.n >= OFPROTO_MAX_METERS)
        return FAIL(e, OFPMMFC_OUT_OF_METERS,
                    "there are %u meters, as many as there may be",
                    o->meters.n);
    return check_meter(&m->meter, e) && put(o, &m->meter, persist, now_ns);
}

/* --- reading ------------------------------------------------------------- */

static void
describe(const struct meter *m, uint64_t now_ns,
         struct ofproto_meter_info *out)
{
    const struct flow_group_counters *c = flow_meter_counters(m->dp);

    out->meter = &m->m;
    out->counters = m->dp;
    out->persist = m->persist;
    out->flow_count = m->flow_count;
    out->duration_ns = now_ns - m->created_ns;
    out->n_packets = m->base[0] + counter_get(&c->n_packets);
    out->n_bytes = m->base[1] + counter_get(&c->n_bytes);
}

bool
ofproto_meter(struct ofproto *o, uint32_t id, uint64_t now_ns,
              struct ofproto_meter_info *out)
{
    const struct meter *m = set_get(&o->meters, id);

    if (m)
        describe(m, now_ns, out);
    return m != NULL;
}

bool
ofproto_meter_after(struct ofproto *o, int64_t id, uint64_t now_ns,
                    struct ofproto_meter_info *out)
{
    uint32_t at = 0;

    if (id >= 0 && set_find(&o->meters, (uint32_t) id, &at))
        at++;
    if (at >= o->meters.n)
        return false;
    describe(o->meters.item[at], now_ns, out);
    return true;
}
