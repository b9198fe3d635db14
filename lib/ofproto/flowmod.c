/* SPDX-License-Identifier: Apache-2.0
 *
 * Modifications of flow tables, as the standard tells them (1.3, 6.4): see
 * books.h.
 */
#include "ofproto/books.h"
#include "ofproto/judge.h"

#include <stdlib.h>

#define FAIL(e, code, ...) \
    ofp_fail(e, OFPET_FLOW_MOD_FAILED, code, __VA_ARGS__)

#define ALL_FLAGS                                                     \
    (OFPFF_SEND_FLOW_REM | OFPFF_CHECK_OVERLAP | OFPFF_RESET_COUNTS | \
     OFPFF_NO_PKT_COUNTS | OFPFF_NO_BYT_COUNTS)

/* --- adding -------------------------------------------------------------- */

static bool
check_room(const struct ofproto *o, uint8_t t, struct ofp_error *e)
{
    if (o->n_flows >= o->conf.max_flows)
        return FAIL(e, OFPFMFC_TABLE_FULL,
                    "there are %u flows, as many as there may be", o->n_flows);
    if (o->table[t].n_entries >= o->table[t].max_entries)
        return FAIL(e, OFPFMFC_TABLE_FULL,
                    "the table has as many entries as it may: %u",
                    o->table[t].n_entries);
    return true;
}

static bool
add(struct ofproto *o, const struct ofp_flow_mod *m, const struct pattern *p,
    bool persist, uint64_t now_ns, struct ofp_error *err)
{
    struct entry *old = entry_find(o, m->table, m->priority, p), *e;
    struct rec *r;

    if (m->flags & OFPFF_CHECK_OVERLAP &&
        entry_overlap(o, m->table, m->priority, p))
        return FAIL(err, OFPFMFC_OVERLAP,
                    "another entry of priority %u overlaps", m->priority);
    if (!old && !check_room(o, m->table, err))
        return false;
    e = entry_create(o, m->table, m->priority, p);
    e->cookie = m->cookie;
    e->flags = m->flags;
    e->idle_s = m->idle_s;
    e->hard_s = m->hard_s;
    e->created_ns = now_ns;
    e->check_ns = now_ns;
    e->persist = persist;
    e->inst = inst_get(o, &m->inst);
    entry_make_flow(e, &m->match);
    r = rec_add(o, REC_ADD);
    r->reset = m->flags & OFPFF_RESET_COUNTS || m->version == OFP_V10;
    r->entry = e;
    r->old = old;
    if (old && !r->reset)
        for (int i = 0; i < 2; i++)
            e->base[i] = old->base[i];
    if (old)
        entry_unlink(o, old);
    entry_link(o, e);
    return true;
}

/* --- those that a modification is about ---------------------------------- */

struct selection {
    struct entry **e; /* them */
    size_t n, room;   /* of them */
};

static void
select_one(struct selection *s, const struct ofp_flow_mod *m, struct entry *e,
           bool deletes)
{
    if ((e->cookie ^ m->cookie) & m->cookie_mask)
        return;
    if (deletes && m->out_port != OFPP_ANY &&
        !inst_outputs_to(e->inst, m->out_port))
        return;
    if (deletes && m->out_group != OFPG_ANY &&
        !inst_names_group(e->inst, m->out_group))
        return;
    s->e = books_grow(s->e, &s->room, s->n + 1, sizeof(struct entry *));
    s->e[s->n++] = e;
}

static void
select_in(const struct ofproto *o, struct selection *s,
          const struct ofp_flow_mod *m, const struct pattern *p, uint8_t t,
          bool deletes)
{
    const struct link *shapes = &o->table[t].shapes;

    for (struct link *l = shapes->next; l != shapes; l = l->next) {
        struct shape *shape = LINK_OF(l, shape, in_table);

        if (!shape->n_entries || !shape_covers(shape, p))
            continue;
        for (struct link *k = shape->entries.next; k != &shape->entries;
             k = k->next) {
            struct entry *e = LINK_OF(k, entry, in_shape);

            if (entry_is_within(e, p))
                select_one(s, m, e, deletes);
        }
    }
}

static void
select_flows(const struct ofproto *o, struct selection *s,
             const struct ofp_flow_mod *m, const struct pattern *p)
{
    bool strict =
        m->command == OFPFC_MODIFY_STRICT || m->command == OFPFC_DELETE_STRICT;
    bool deletes =
        m->command == OFPFC_DELETE || m->command == OFPFC_DELETE_STRICT;
    unsigned first = m->table == OFPTT_ALL ? 0 : m->table;
    unsigned last = m->table == OFPTT_ALL ? OFP_N_TABLES - 1 : m->table;

    for (unsigned t = first; t <= last; t++) {
        struct entry *e;

        if (!strict) {
            select_in(o, s, m, p, (uint8_t) t, deletes);
            continue;
        }
        e = entry_find(o, (uint8_t) t, m->priority, p);
        if (e)
            select_one(s, m, e, deletes);
    }
}

/* --- modifying ----------------------------------------------------------- */

static void
modify_one(struct ofproto *o, const struct ofp_flow_mod *m, struct entry *e)
{
    struct inst *to = inst_get(o, &m->inst);
    struct rec *r;

    r = rec_add(o, REC_CODE);
    r->entry = e;
    r->inst = e->inst;
    r->to = to;
    to->refs++;
    r->cookie = e->cookie;
    for (int i = 0; i < 2; i++)
        r->base[i] = e->base[i];
    r->reset = m->flags & OFPFF_RESET_COUNTS;
    if (r->reset)
        e->base[0] = e->base[1] = 0;
    if (m->version == OFP_V10)
        e->cookie = m->cookie;
    entry_set_inst(o, e, to);
    if (e->persist)
        o->persist_generation++;
}

static bool
modify(struct ofproto *o, const struct ofp_flow_mod *m,
       const struct pattern *p, bool persist, uint64_t now_ns,
       struct ofp_error *err)
{
    struct selection s = {.n = 0};
    bool ok = true;

    select_flows(o, &s, m, p);
    /* An entry may be in a table that the new instructions go back to. */
    for (size_t i = 0; i < s.n && ok; i++)
        ok = check_instructions(o, s.e[i]->table, &m->inst, err);
    for (size_t i = 0; i < s.n && ok; i++)
        modify_one(o, m, s.e[i]);
    free(s.e);
    if (ok && !s.n && m->version == OFP_V10) {
        struct ofp_flow_mod as_add = *m;

        as_add.command = OFPFC_ADD;
        if (as_add.table == OFPTT_ALL)
            as_add.table = 0;
        return add(o, &as_add, p, persist, now_ns, err);
    }
    return ok;
}

/* --- deleting ------------------------------------------------------------ */

void
flow_delete(struct ofproto *o, struct entry *e, enum ofp_removed_reason why,
            bool tell, uint64_t now_ns)
{
    struct rec *r = rec_add(o, REC_DEL);

    r->entry = e;
    r->reason = (uint8_t) why;
    r->tell = tell && e->flags & OFPFF_SEND_FLOW_REM;
    r->at_ns = now_ns;
    entry_unlink(o, e);
}

void
flow_delete_users(struct ofproto *o, const struct group *g,
                  const struct meter *m, uint64_t now_ns)
{
    for (struct link *l = o->users.next; l != &o->users; l = l->next) {
        struct inst *in = LINK_OF(l, inst, in_users);
        bool named = g ? inst_names_group(in, g->g.id)
                       : in->in.has_meter && in->in.meter == m->m.id;

        while (named && !link_is_empty(&in->entries))
            flow_delete(o, LINK_OF(in->entries.next, entry, in_inst),
                        g ? OFPRR_GROUP_DELETE : OFPRR_METER_DELETE, true,
                        now_ns);
    }
}

static bool
delete_flows(struct ofproto *o, const struct ofp_flow_mod *m,
             const struct pattern *p, uint64_t now_ns)
{
    struct selection s = {.n = 0};

    select_flows(o, &s, m, p);
    for (size_t i = 0; i < s.n; i++)
        flow_delete(o, s.e[i], OFPRR_DELETE, true, now_ns);
    free(s.e);
    return true;
}

/* --- all of them --------------------------------------------------------- */

static bool
check_table(const struct ofp_flow_mod *m, bool all_ok, struct ofp_error *e)
{
    if (m->table < OFP_N_TABLES || (m->table == OFPTT_ALL && all_ok))
        return true;
    return FAIL(e, OFPFMFC_BAD_TABLE_ID, "table %u: allowed are 0 to %d%s",
                m->table, OFP_N_TABLES - 1, all_ok ? ", and 255 for all" : "");
}

bool
flow_mod(struct ofproto *o, const struct ofp_flow_mod *m, bool persist,
         uint64_t now_ns, struct ofp_error *e)
{
    bool is_v10 = m->version == OFP_V10;
    struct pattern p;

    pattern_init(&p, &m->match);
    switch (m->command) {
    case OFPFC_DELETE:
    case OFPFC_DELETE_STRICT:
        return check_table(m, true, e) && delete_flows(o, m, &p, now_ns);
    case OFPFC_ADD:
    case OFPFC_MODIFY:
    case OFPFC_MODIFY_STRICT:
        break;
    default:
        return FAIL(e, OFPFMFC_BAD_COMMAND, "there is no command %u",
                    m->command);
    }
    if (!check_table(m, is_v10 && m->command != OFPFC_ADD, e))
        return false;
    if (is_v10 && m->flags & OFPFF10_EMERG)
        return FAIL(e, OFPFMFC_TABLE_FULL,
                    "flags 0x%04x: there is no emergency cache", m->flags);
    if (m->flags & ~ALL_FLAGS)
        return FAIL(e, OFPFMFC_BAD_FLAGS, "flags 0x%04x: allowed are 0x001f",
                    m->flags);
    if (!check_instructions(o, m->table == OFPTT_ALL ? 0 : m->table, &m->inst,
                            e))
        return false;
    return m->command == OFPFC_ADD ? add(o, m, &p, persist, now_ns, e)
                                   : modify(o, m, &p, persist, now_ns, e);
}
