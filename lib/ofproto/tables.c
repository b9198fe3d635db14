/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables: what they can do, what of that controllers may change, and their
 * numbers.  See ofproto.h.
 */
#include "ofproto/books.h"
#include "ofproto/judge.h"

#include <stdio.h>
#include <string.h>

#define FAIL(e, code, ...) \
    ofp_fail(e, OFPET_TABLE_FEATURES_FAILED, code, __VA_ARGS__)

#define CONFIG_BITS 3u /* deprecated in 1.3, kept and told */
#define ALL_INSTRUCTIONS                                                    \
    (OFP_INST_METADATA | OFP_INST_WRITE | OFP_INST_APPLY | OFP_INST_CLEAR | \
     OFP_INST_METER)
/* Those of 1.3: what only 1.0 can say is said by these. */
#define ALL_ACTIONS ((1u << (OFP_ACT_OUTPUT + 1)) - 1)

void
ofproto_table(const struct ofproto *o, uint8_t table,
              struct ofproto_table_info *out)
{
    const struct table *t = &o->table[table];
    const struct flow_table_counters *c =
        o->conf.tables ? flow_table_counters(o->conf.tables, table) : NULL;

    out->n_active = t->n_entries;
    out->max_entries = t->max_entries;
    out->config = t->config;
    out->n_lookups = c ? counter_get(&c->n_lookups) : 0;
    out->n_matched = c ? counter_get(&c->n_matched) : 0;
}

bool
table_mod(struct ofproto *o, const struct ofp_table_mod *m,
          struct ofp_error *e)
{
    unsigned first = m->table == OFPTT_ALL ? 0 : m->table;
    unsigned last = m->table == OFPTT_ALL ? OFP_N_TABLES - 1 : m->table;

    if (last >= OFP_N_TABLES)
        return ofp_fail(e, OFPET_TABLE_MOD_FAILED, OFPTMFC_BAD_TABLE,
                        "table %u: there are 254, from 0", m->table);
    if (m->config & ~CONFIG_BITS)
        return ofp_fail(e, OFPET_TABLE_MOD_FAILED, OFPTMFC_BAD_CONFIG,
                        "config 0x%x: allowed are 0x%x", m->config,
                        CONFIG_BITS);
    for (unsigned t = first; t <= last; t++) {
        struct rec *r = rec_add(o, REC_TABLE);

        r->id = t;
        r->config = o->table[t].config;
        o->table[t].config = m->config;
    }
    return true;
}

/* --- features ------------------------------------------------------------ */

static void
fill_caps(uint8_t table, struct ofp_table_caps *c)
{
    c->instructions = ALL_INSTRUCTIONS;
    if (table + 1 < OFP_N_TABLES)
        c->instructions |= OFP_INST_GOTO;
    for (unsigned t = table + 1u; t < OFP_N_TABLES; t++)
        c->next[t / 8] |= (uint8_t) (1u << t % 8);
    c->write_actions = c->apply_actions = ALL_ACTIONS;
    for (unsigned f = 0; f < OFP_N_FIELDS; f++)
        if (ofp_fields[f].settable)
            c->write_set_fields |= UINT64_C(1) << f;
    c->apply_set_fields = c->write_set_fields;
}

void
ofproto_table_features(const struct ofproto *o, uint8_t table,
                       struct ofp_table_features *f)
{
    const struct table *t = &o->table[table];

    memset(f, 0, sizeof(*f));
    f->table = table;
    if (t->name[0])
        memcpy(f->name, t->name, sizeof(f->name));
    else
        snprintf(f->name, sizeof(f->name), "table%u", table);
    f->metadata_match = f->metadata_write = UINT64_MAX;
    f->config = t->config;
    f->max_entries = t->max_entries;
    fill_caps(table, &f->entry);
    f->miss = f->entry;
    for (unsigned i = 0; i < OFP_N_FIELDS; i++) {
        f->match |= UINT64_C(1) << i;
        f->wildcards |= UINT64_C(1) << i;
        if (ofp_fields[i].maskable)
            f->mask |= UINT64_C(1) << i;
    }
}

static bool
same_caps(const struct ofp_table_caps *a, const struct ofp_table_caps *b)
{
    return a->instructions == b->instructions &&
           !memcmp(a->next, b->next, sizeof(a->next)) &&
           a->write_actions == b->write_actions &&
           a->apply_actions == b->apply_actions &&
           a->write_set_fields == b->write_set_fields &&
           a->apply_set_fields == b->apply_set_fields;
}

/* Without any property. */
static bool
is_bare(const struct ofp_table_features *f)
{
    static const struct ofp_table_caps none;

    return same_caps(&f->entry, &none) && same_caps(&f->miss, &none) &&
           !f->match && !f->mask && !f->wildcards;
}

static bool
check_features(const struct ofproto *o, const struct ofp_table_features *want,
               struct ofp_error *e)
{
    struct ofp_table_features is;

    if (want->table >= OFP_N_TABLES)
        return FAIL(e, OFPTFFC_BAD_TABLE, "table %u: there are 254, from 0",
                    want->table);
    ofproto_table_features(o, want->table, &is);
    if (want->metadata_match != is.metadata_match ||
        want->metadata_write != is.metadata_write)
        return FAIL(e, OFPTFFC_BAD_METADATA,
                    "table %u: metadata is matched and written with all bits",
                    want->table);
    if (want->config & ~CONFIG_BITS)
        return FAIL(e, OFPTFFC_BAD_ARGUMENT, "table %u: config is unknown",
                    want->table);
    if (want->max_entries > o->conf.max_flows)
        return FAIL(e, OFPTFFC_BAD_ARGUMENT,
                    "table %u cannot have so many entries", want->table);
    if (is_bare(want))
        return true;
    if (!same_caps(&want->entry, &is.entry) ||
        !same_caps(&want->miss, &is.miss) || want->match != is.match ||
        want->mask != is.mask || want->wildcards != is.wildcards)
        return FAIL(e, OFPTFFC_EPERM,
                    "table %u: what it can do cannot be changed", want->table);
    return true;
}

bool
ofproto_set_table_features(struct ofproto *o,
                           const struct ofp_table_features *want, size_t n,
                           struct ofp_error *e)
{
    for (size_t i = 0; i < n; i++)
        if (!check_features(o, &want[i], e))
            return false;
    for (size_t i = 0; i < n; i++) {
        struct table *t = &o->table[want[i].table];

        memcpy(t->name, want[i].name, sizeof(t->name));
        t->name[sizeof(t->name) - 1] = '\0';
        t->config = want[i].config;
        t->max_entries = want[i].max_entries;
    }
    return true;
}
