/* SPDX-License-Identifier: Apache-2.0
 *
 * Walks through the flow tables that may pause: see ofproto.h.
 */
#include "ofproto/books.h"

#include <string.h>

/* Entries that are looked at before others get their turn. */
#define MAX_LOOKS 10000

static void
enter_table(struct ofproto *o, struct ofproto_walk *w)
{
    const struct table *t = &o->table[w->table];

    w->at = link_is_empty(&t->entries)
                ? NULL
                : &LINK_OF(t->entries.next, entry, node.link)->node;
}

static struct ofproto_node *
after(struct ofproto *o, const struct ofproto_walk *w,
      const struct ofproto_node *n)
{
    struct link *l = n->link.next;

    return l == &o->table[w->table].entries
               ? NULL
               : &LINK_OF(l, entry, node.link)->node;
}

void
walks_skip(struct ofproto *o, struct ofproto_node *n)
{
    for (struct ofproto_walk *w = o->walks; w; w = w->next)
        if (w->at == n)
            w->at = after(o, w, n);
}

bool
ofproto_walk_flows(struct ofproto *o, struct ofproto_walk *w, uint8_t table,
                   struct ofp_error *e)
{
    if (table >= OFP_N_TABLES && table != OFPTT_ALL)
        return ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_TABLE_ID,
                        "table %u: there are 254, from 0", table);
    memset(w, 0, sizeof(*w));
    w->table = table == OFPTT_ALL ? 0 : table;
    w->last_table = table == OFPTT_ALL ? OFP_N_TABLES - 1 : table;
    w->until = o->seq;
    w->next = o->walks;
    if (w->next)
        w->next->prev = w;
    o->walks = w;
    enter_table(o, w);
    return true;
}

void
ofproto_walk_end(struct ofproto *o, struct ofproto_walk *w)
{
    if (w->prev)
        w->prev->next = w->next;
    else
        o->walks = w->next;
    if (w->next)
        w->next->prev = w->prev;
    memset(w, 0, sizeof(*w));
}

/* --- what is wanted ------------------------------------------------------ */

static bool
is_wanted(const struct entry *e, const struct ofproto_filter *f,
          const struct pattern *p)
{
    if (!f)
        return true;
    if ((e->cookie ^ f->cookie) & f->cookie_mask)
        return false;
    if (f->persist_only && !e->persist)
        return false;
    if (f->strict && e->priority != f->priority)
        return false;
    if (f->out_port != OFPP_ANY && !inst_outputs_to(e->inst, f->out_port))
        return false;
    if (f->out_group != OFPG_ANY && !inst_names_group(e->inst, f->out_group))
        return false;
    if (!f->match)
        return true;
    if (f->strict && memcmp(e->shape->mask, p->mask, sizeof(p->mask)) != 0)
        return false;
    return entry_is_within(e, p);
}

static void
describe(const struct entry *e, uint64_t now_ns, struct ofproto_flow_info *out)
{
    uint64_t n[2];

    entry_counts(e, n);
    out->table = e->table;
    out->priority = e->priority;
    out->flags = e->flags;
    out->idle_s = e->idle_s;
    out->hard_s = e->hard_s;
    out->persist = e->persist;
    out->seq = e->node.seq;
    out->cookie = e->cookie;
    out->created_ns = e->created_ns;
    out->duration_ns = now_ns - e->created_ns;
    out->used_ns = entry_used_ns(e);
    out->n_packets = n[0];
    out->n_bytes = n[1];
    entry_match(e, &out->match);
    out->inst = &e->inst->in;
}

void
ofproto_flow_of(const void *owner, uint64_t now_ns,
                struct ofproto_flow_info *out)
{
    describe(owner, now_ns, out);
}

void
ofproto_walk_after(struct ofproto *o, struct ofproto_walk *w, uint64_t seq)
{
    while (w->at && w->at->seq <= seq)
        w->at = after(o, w, w->at);
}

enum ofproto_step
ofproto_next_flow(struct ofproto *o, struct ofproto_walk *w,
                  const struct ofproto_filter *f, uint64_t now_ns,
                  struct ofproto_flow_info *out)
{
    struct pattern p = {.present = 0};

    if (f && f->match)
        pattern_init(&p, f->match);
    for (int looks = 0; looks < MAX_LOOKS; looks++) {
        struct entry *e;

        while (!w->at || w->at->seq > w->until) {
            if (w->table == w->last_table)
                return OFPROTO_END;
            w->table++;
            enter_table(o, w);
        }
        e = LINK_OF(&w->at->link, entry, node.link);
        w->at = after(o, w, w->at);
        if (is_wanted(e, f, &p)) {
            describe(e, now_ns, out);
            return OFPROTO_ITEM;
        }
    }
    return OFPROTO_AGAIN;
}
