/* SPDX-License-Identifier: Apache-2.0
 *
 * The books as a whole: made, applied to, flushed, moved to another datapath.
 * See ofproto.h and books.h.
 */
#include "ofproto/books.h"
#include "ofproto/judge.h"

#include <stdlib.h>
#include <string.h>

struct ofproto *
ofproto_create(const struct ofproto_conf *conf)
{
    struct ofproto *o = books_alloc(1, sizeof(*o));

    o->conf = *conf;
    if (!o->conf.max_flows)
        o->conf.max_flows = OFPROTO_MAX_FLOWS;
    for (int t = 0; t < OFP_N_TABLES; t++) {
        link_init(&o->table[t].entries);
        link_init(&o->table[t].shapes);
        o->table[t].max_entries = o->conf.max_flows;
    }
    link_init(&o->users);
    for (unsigned i = 0; i < WHEEL_SLOTS; i++)
        link_init(&o->wheel[i]);
    o->normal = FLOW_DEFAULT_EMPTY; /* as a datapath begins */
    return o;
}

static void
free_entries(struct ofproto *o, struct table *t)
{
    while (!link_is_empty(&t->entries)) {
        struct entry *e = LINK_OF(t->entries.next, entry, node.link);

        entry_unlink(o, e);
        link_init(&e->node.link);
        entry_destroy(o, e);
    }
    free(t->bucket);
}

static void
free_set(struct set *s)
{
    free(s->item);
    free(s->id);
}

void
ofproto_destroy(struct ofproto *o)
{
    if (!o)
        return;
    o->conf.notices = (struct ofproto_notices){.flow_removed = NULL};
    ofproto_unbind(o);
    for (int t = 0; t < OFP_N_TABLES; t++)
        free_entries(o, &o->table[t]);
    for (uint32_t i = 0; i < o->groups.n; i++)
        group_destroy(o->groups.item[i]);
    for (uint32_t i = 0; i < o->meters.n; i++)
        meter_destroy(o->meters.item[i]);
    free_set(&o->groups);
    free_set(&o->meters);
    free(o->inst);
    free(o->port);
    free(o->journal);
    free(o);
}

static bool
apply_one(struct ofproto *o, const struct ofproto_mod *m, uint64_t now_ns,
          struct ofp_error *e)
{
    switch (m->type) {
    case OFPROTO_FLOW_MOD:
        return flow_mod(o, m->flow, m->persist, now_ns, e);
    case OFPROTO_GROUP_MOD:
        return group_mod(o, m->group, m->persist, now_ns, e);
    case OFPROTO_METER_MOD:
        return meter_mod(o, m->meter, m->persist, now_ns, e);
    case OFPROTO_PORT_MOD:
        return port_mod(o, m->port, e);
    case OFPROTO_TABLE_MOD:
        return table_mod(o, m->table, e);
    }
    return false;
}

bool
ofproto_apply(struct ofproto *o, const struct ofproto_mod mods[], size_t n,
              bool atomic, uint64_t now_ns, size_t *failed,
              struct ofp_error *e)
{
    for (size_t i = 0; i < n; i++) {
        if (apply_one(o, &mods[i], now_ns, e))
            continue;
        journal_rollback(o);
        if (failed)
            *failed = i;
        return false;
    }
    journal_commit(o, atomic && n > 1);
    return true;
}

static void
flush_table(struct ofproto *o, struct table *t, uint64_t now_ns)
{
    while (!link_is_empty(&t->entries))
        flow_delete(o, LINK_OF(t->entries.next, entry, node.link),
                    OFPRR_DELETE, false, now_ns);
}

void
ofproto_flush(struct ofproto *o, bool normal, uint64_t now_ns)
{
    struct ofp_action out = {
        .type = OFP_ACT_OUTPUT,
        .output = {.port = OFPP_NORMAL},
    };
    struct ofp_flow_mod add = {
        .command = OFPFC_ADD,
        .version = OFP_V13,
        .out_port = OFPP_ANY,
        .out_group = OFPG_ANY,
        .inst = {.has_apply = true, .apply = {.n = 1, .a = &out}},
    };
    struct ofp_group_mod groups = {
        .command = OFPGC_DELETE,
        .group = {.id = OFPG_ALL},
    };
    struct ofp_meter_mod meters = {
        .command = OFPMC_DELETE,
        .meter = {.id = OFPM_ALL},
    };

    for (int t = 0; t < OFP_N_TABLES; t++)
        flush_table(o, &o->table[t], now_ns);
    group_mod(o, &groups, false, now_ns, NULL);
    meter_mod(o, &meters, false, now_ns, NULL);
    if (normal)
        flow_mod(o, &add, false, now_ns, NULL);
    journal_commit(o, false);
}

void
ofproto_set_default(struct ofproto *o, unsigned what)
{
    struct rec *r;

    if (what == o->normal)
        return;
    r = rec_add(o, REC_DEFAULT);
    r->id = what;
    r->config = o->normal;
    o->normal = what;
    journal_commit(o, false);
}

/* Of a table that was told to take less, the lesser holds. */
void
ofproto_set_max_flows(struct ofproto *o, uint32_t n)
{
    for (int t = 0; t < OFP_N_TABLES; t++)
        if (o->table[t].max_entries == o->conf.max_flows ||
            o->table[t].max_entries > n)
            o->table[t].max_entries = n;
    o->conf.max_flows = n;
}

uint64_t
ofproto_persist_generation(const struct ofproto *o)
{
    return o->persist_generation;
}

uint32_t
ofproto_n_flows(const struct ofproto *o)
{
    return o->n_flows;
}
