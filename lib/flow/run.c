/* SPDX-License-Identifier: Apache-2.0
 *
 * Instructions, action sets and groups: see run.h.
 */
#include "flow/run.h"

#include "flow/priv.h"

#include <assert.h>
#include <string.h>

/* A frame in the tables: the part of a run that actions do not see. */
struct walk {
    struct flow_run *r;  /* the rest */
    struct flow_set set; /* the action set */
};

static inline void
note(struct flow_run *r, enum flow_note what, const void *which, uint32_t n,
     uint32_t m)
{
    if (__builtin_expect(r->hooks->note != NULL, 0))
        r->hooks->note(r, what, which, n, m);
}

static void
stop(struct flow_run *r, enum flow_stop why)
{
    r->s.dead = true;
    r->hooks->stop(r, why);
}

static inline bool
own(struct flow_run *r)
{
    return r->s.exclusive || r->hooks->own(r);
}

static inline void
count(struct flow_run *r, struct flow_group_counters *n)
{
    if (r->is_dry)
        return;
    counter_add(&n->n_packets, 1);
    counter_add(&n->n_bytes, r->s.frame.len);
}

static void act_all(struct flow_run *, const struct ofp_action *, uint32_t n);

/* --- groups ----------------------------------------------------------------
 */

static bool group_is_live(struct flow_run *, const struct flow_group *,
                          unsigned depth);

/* One that watches nothing is.  None is, once too many were asked: who asks
 * twice may hear another answer.  Half of the looks are for the buckets of
 * the group itself, so that one which watches a port is found behind one that
 * watches too much. */
static bool
bucket_is_live(struct flow_run *r, const struct flow_bucket *b, unsigned depth)
{
    bool by_port = b->watch_port != OFPP_ANY;
    bool by_group = b->watch_group != OFPG_ANY;

    if (!by_port && !by_group)
        return true;
    if (r->looks >= (depth ? FLOW_MAX_LOOKS / 2 : FLOW_MAX_LOOKS))
        return false;
    r->looks++;
    if (by_port && r->hooks->is_live(r, b->watch_port))
        return true;
    return by_group && depth < FLOW_MAX_DEPTH &&
           group_is_live(r, *flow_group_at(r->tables, b->watch_group),
                         depth + 1);
}

static bool
group_is_live(struct flow_run *r, const struct flow_group *g, unsigned depth)
{
    for (uint32_t i = 0; g && i < g->n_buckets; i++)
        if (bucket_is_live(r, &g->bucket[i], depth))
            return true;
    return false;
}

static void
run_bucket(struct flow_run *r, struct flow_group *g, uint32_t i, bool is_last)
{
    struct flow_bucket *b = &g->bucket[i];
    struct flow_state saved;

    note(r, FLOW_NOTE_GROUP, g, g->id, i);
    count(r, &b->n);
    if (++r->work > FLOW_MAX_WORK) {
        stop(r, FLOW_STOP_LIMIT);
        return;
    }
    if (is_last) { /* what it does to the frame no one will see */
        act_all(r, g->a + b->first, b->n_actions);
        return;
    }
    saved = r->s;
    r->s.owned = false;
    r->s.exclusive = false;
    r->s.wait_port = NULL;
    act_all(r, g->a + b->first, b->n_actions);
    r->hooks->finish(r);
    r->s = saved;
    /* The octets that are borrowed may have been shared with a queue. */
    r->s.exclusive = false;
}

/* By the frame's headers, all of them, in proportion to the weights.  When
 * the bucket is not alive the flows of that bucket alone go elsewhere. */
static uint32_t
select_bucket(struct flow_run *r, const struct flow_group *g)
{
    const struct flow_tables *t = r->tables;
    uint64_t words[OFP_KEY_WORDS], h = t->secret[0], total = 0;
    uint32_t i = 0;

    if (!g->weight)
        return UINT32_MAX;
    flow_frame_read(&r->s.frame);
    memcpy(words, &r->s.frame.key, sizeof(words));
    for (int w = 0; w < (int) OFP_KEY_WORDS; w++)
        h = flow_fold(h ^ words[w], t->secret[1]);
    h = flow_fold(h ^ t->secret[2], t->secret[3]);
    total = (uint64_t) (((unsigned __int128) h * g->weight) >> 64);
    while (total >= g->bucket[i].weight)
        total -= g->bucket[i++].weight;
    if (bucket_is_live(r, &g->bucket[i], 0))
        return i;
    for (i = 0, total = 0; i < g->n_buckets; i++)
        if (bucket_is_live(r, &g->bucket[i], 0))
            total += g->bucket[i].weight;
    if (!total)
        return UINT32_MAX;
    h = flow_fold(h, t->secret[2]);
    total = (uint64_t) (((unsigned __int128) h * total) >> 64);
    for (i = 0; i < g->n_buckets; i++) {
        if (!bucket_is_live(r, &g->bucket[i], 0))
            continue;
        if (total < g->bucket[i].weight)
            return i;
        total -= g->bucket[i].weight;
    }
    return UINT32_MAX;
}

static uint32_t
first_live(struct flow_run *r, const struct flow_group *g)
{
    for (uint32_t i = 0; i < g->n_buckets; i++)
        if (bucket_is_live(r, &g->bucket[i], 0))
            return i;
    return UINT32_MAX;
}

static void
run_group(struct flow_run *r, uint32_t id)
{
    struct flow_group *g = *flow_group_at(r->tables, id);
    bool is_last = r->is_last;
    uint32_t i = UINT32_MAX;

    if (r->depth == FLOW_MAX_DEPTH) {
        stop(r, FLOW_STOP_LIMIT);
        return;
    }
    if (g)
        count(r, &g->n);
    r->depth++;
    if (g && g->type == OFPGT_ALL) {
        for (i = 0; i < g->n_buckets && !r->s.dead; i++)
            run_bucket(r, g, i, is_last && i + 1 == g->n_buckets);
        if (!g->n_buckets)
            i = UINT32_MAX;
    } else if (g) {
        if (g->type == OFPGT_SELECT)
            i = select_bucket(r, g);
        else if (g->type == OFPGT_FF)
            i = first_live(r, g);
        else if (g->n_buckets)
            i = 0;
        if (i != UINT32_MAX)
            run_bucket(r, g, i, is_last);
    }
    r->depth--;
    if (i == UINT32_MAX)
        note(r, FLOW_NOTE_GROUP, g, id, i);
}

/* --- actions ---------------------------------------------------------------
 */

static void
set_field(struct flow_run *r, const struct ofp_action *a)
{
    const uint8_t *mask = a->set.has_mask ? a->set.mask : NULL;

    if (a->set.field == OFP_TUNNEL_ID) {
        struct ofp_key k = {.tunnel_id = r->s.tunnel_id};
        uint8_t v[8];

        ofp_key_get(&k, OFP_TUNNEL_ID, v);
        for (int i = 0; i < 8; i++)
            v[i] = (uint8_t) (mask ? (v[i] & ~mask[i]) |
                                         (a->set.value[i] & mask[i])
                                   : a->set.value[i]);
        ofp_key_put(&k, OFP_TUNNEL_ID, v);
        r->s.tunnel_id = k.tunnel_id;
        return;
    }
    if (!own(r))
        return;
    flow_edit_set(&r->s.frame, a->set.field, a->set.value, mask);
    r->s.new_pcp |= a->set.field == OFP_VLAN_PCP;
    r->s.new_dscp |= a->set.field == OFP_IP_DSCP;
}

/* What changes the frame, but for set-field. */
static void
edit(struct flow_run *r, const struct ofp_action *a)
{
    struct flow_frame *f = &r->s.frame;
    bool has_room = true, has_ttl = true;

    if (!own(r))
        return;
    switch (a->type) {
    case OFP_ACT_COPY_TTL_IN:
        flow_edit_copy_ttl_in(f);
        break;
    case OFP_ACT_COPY_TTL_OUT:
        flow_edit_copy_ttl_out(f);
        break;
    case OFP_ACT_POP_VLAN:
        flow_edit_pop_vlan(f);
        break;
    case OFP_ACT_POP_MPLS:
        flow_edit_pop_mpls(f, a->ethertype);
        break;
    case OFP_ACT_POP_PBB:
        flow_edit_pop_pbb(f);
        break;
    case OFP_ACT_PUSH_VLAN:
        has_room = flow_edit_push_vlan(f, a->ethertype);
        break;
    case OFP_ACT_PUSH_MPLS:
        has_room = flow_edit_push_mpls(f, a->ethertype);
        break;
    case OFP_ACT_PUSH_PBB:
        has_room = flow_edit_push_pbb(f, a->ethertype);
        break;
    case OFP_ACT_DEC_NW_TTL:
        has_ttl = flow_edit_dec_nw_ttl(f);
        break;
    case OFP_ACT_DEC_MPLS_TTL:
        has_ttl = flow_edit_dec_mpls_ttl(f);
        break;
    case OFP_ACT_SET_NW_TTL:
        flow_edit_set_nw_ttl(f, a->ttl);
        break;
    case OFP_ACT_SET_MPLS_TTL:
        flow_edit_set_mpls_ttl(f, a->ttl);
        break;
    case OFP_ACT_SET_VLAN_VID:
        has_room = flow_edit_vlan_vid(f, a->vid);
        break;
    default: /* OFP_ACT_SET_VLAN_PCP */
        has_room = flow_edit_vlan_pcp(f, a->pcp);
        r->s.new_pcp = true;
        break;
    }
    if (!has_room)
        stop(r, FLOW_STOP_ROOM);
    if (!has_ttl)
        stop(r, FLOW_STOP_TTL);
}

static void
act(struct flow_run *r, const struct ofp_action *a)
{
    uint32_t queue = r->s.queue;

    note(r, FLOW_NOTE_ACTION, a, 0, 0);
    switch (a->type) {
    case OFP_ACT_OUTPUT:
        r->hooks->output(r, a->output.port, a->output.max_len);
        break;
    case OFP_ACT_ENQUEUE:
        r->s.queue = a->output.queue;
        r->hooks->output(r, a->output.port, a->output.max_len);
        r->s.queue = queue;
        break;
    case OFP_ACT_SET_QUEUE:
        r->s.queue = a->queue;
        break;
    case OFP_ACT_GROUP:
        run_group(r, a->group);
        break;
    case OFP_ACT_SET_FIELD:
        set_field(r, a);
        break;
    default:
        edit(r, a);
        break;
    }
}

/* is_last, when it is set, is true of the last of them. */
static void
act_all(struct flow_run *r, const struct ofp_action *a, uint32_t n)
{
    bool is_last = r->is_last;

    for (uint32_t i = 0; i < n && !r->s.dead; i++) {
        r->is_last = is_last && i + 1 == n;
        act(r, &a[i]);
    }
    r->is_last = is_last;
}

void
flow_run_actions(struct flow_run *r, const struct ofp_action *a, uint32_t n)
{
    r->is_last = true;
    act_all(r, a, n);
}

/* --- instructions ----------------------------------------------------------
 */

/* What a meter makes of a DSCP: assured forwarding gets a higher drop
 * precedence (RFC 2597), a class selector a lower class; others stay. */
static uint8_t
remarked(uint8_t dscp, uint8_t levels)
{
    unsigned class = dscp >> 3, precedence = dscp >> 1 & 3;

    if ((dscp & 7) == 0)
        return (uint8_t) ((class > levels ? class - levels : 0) << 3);
    if (dscp & 1 || class < 1 || class > 4)
        return dscp;
    precedence += levels;
    return (uint8_t) (class << 3 | (precedence > 3 ? 3 : precedence) << 1);
}

static void
remark(struct flow_run *r, uint8_t levels)
{
    const struct flow_view *v = &r->s.frame.view;
    uint8_t was, dscp;

    flow_frame_read(&r->s.frame);
    was = r->s.frame.key.ip_dscp;
    dscp = remarked(was, levels);
    if ((v->l3_is != FLOW_L3_IP4 && v->l3_is != FLOW_L3_IP6) || dscp == was ||
        !own(r))
        return;
    flow_edit_set(&r->s.frame, OFP_IP_DSCP, &dscp, NULL);
    r->s.new_dscp = true;
}

static void
run_meter(struct flow_run *r, uint32_t id)
{
    struct flow_meter *m = *flow_meter_at(r->tables, id);
    enum flow_verdict v;
    uint8_t levels = 0;

    if (!m) {
        note(r, FLOW_NOTE_METER, NULL, id, 3);
        return;
    }
    v = flow_meter_run(m, r->s.frame.len, r->now_ns, !r->is_dry, &levels);
    note(r, FLOW_NOTE_METER, m, id, v);
    if (v == FLOW_METER_DROP)
        stop(r, FLOW_STOP_METER);
    else if (v == FLOW_METER_REMARK)
        remark(r, levels);
}

static void
write_metadata(struct flow_run *r, const struct flow_code *c)
{
    r->s.metadata = (r->s.metadata & ~c->metadata_mask) | c->metadata;
    note(r, FLOW_NOTE_METADATA, NULL, 0, 0);
}

/* The instructions of an entry, in their order (1.3, 5.9). */
static void
run_code(struct walk *w, const struct flow_code *c)
{
    struct flow_run *r = w->r;

    if (c->has_meter)
        run_meter(r, c->meter);
    if (c->n_apply) {
        note(r, FLOW_NOTE_APPLY, NULL, 0, 0);
        r->is_last =
            !c->has_goto && !c->n_write && (c->clear || !w->set.types);
        act_all(r, c->a, c->n_apply);
    }
    if (r->s.dead)
        return;
    if (c->clear) {
        note(r, FLOW_NOTE_CLEAR, NULL, 0, 0);
        flow_set_clear(&w->set);
    }
    if (c->n_write) {
        note(r, FLOW_NOTE_WRITE, NULL, 0, 0);
        flow_set_write(&w->set, c->a + c->n_apply, c->n_write);
    }
    if (c->metadata_mask)
        write_metadata(r, c);
    if (c->has_goto)
        note(r, FLOW_NOTE_GOTO, NULL, c->table, 0);
}

static void
run_set(struct walk *w)
{
    const struct ofp_action *list[FLOW_SET_MAX];
    uint32_t n = flow_set_list(&w->set, list);

    if (n)
        note(w->r, FLOW_NOTE_SET, NULL, 0, 0);
    for (uint32_t i = 0; i < n && !w->r->s.dead; i++) {
        w->r->is_last = i + 1 == n;
        act(w->r, list[i]);
    }
}

/* --- tables ----------------------------------------------------------------
 */

static inline void
count_match(struct flow_run *r, struct flow *f)
{
    struct flow_table *ft = &r->tables->table[f->table];

    if (r->is_dry)
        return;
    counter_add(&ft->n.n_lookups, 1);
    counter_add(&ft->n.n_matched, 1);
    counter_set(&f->n.used_ns, r->now_ns);
    if (!(f->flags & OFPFF_NO_PKT_COUNTS))
        counter_add(&f->n.n_packets, 1);
    if (!(f->flags & OFPFF_NO_BYT_COUNTS))
        counter_add(&f->n.n_bytes, r->s.frame.len);
}

static void
begin_look(struct flow_run *r, uint8_t from, struct ofp_key *k,
           struct flow_look *look)
{
    flow_frame_read(&r->s.frame);
    *k = r->s.frame.key;
    k->in_port = r->in_port;
    k->in_phy_port = r->in_port;
    k->metadata = r->s.metadata;
    k->tunnel_id = r->s.tunnel_id;
    look->hash = flow_path_hash(r->tables, from, k, look->word);
}

void
flow_look(const struct flow_tables *t, const struct ofp_key *k,
          struct flow_look *look)
{
    look->hash = flow_path_hash(t, 0, k, look->word);
}

static void
miss(struct flow_run *r, uint8_t table)
{
    if (!r->is_dry)
        counter_add(&r->tables->table[table].n.n_lookups, 1);
    r->flow = NULL;
    note(r, FLOW_NOTE_MISS, NULL, table, 0);
    stop(r, FLOW_STOP_MISS);
}

/* Follows a path; false when the frame ended on it. */
static bool
follow(struct walk *w, const struct flow_path *p)
{
    struct flow_run *r = w->r;

    for (uint32_t i = 0; i < p->n; i++) {
        r->flow = p->flow[i];
        count_match(r, p->flow[i]);
        note(r, FLOW_NOTE_MATCH, r->flow, 0, 0);
        run_code(w, r->flow->code);
        if (r->s.dead)
            return false;
    }
    return true;
}

bool
flow_run(struct flow_run *r, const struct flow_look *look)
{
    const struct ofp_key *key = &r->s.frame.key; /* what was looked for */
    struct flow_look own_look;
    struct ofp_key own_key;
    struct walk w;
    uint8_t from = 0;

    w.r = r;
    flow_set_clear(&w.set);
    for (;;) {
        const struct flow_path *p;
        uint8_t end;

        if (!look || from) {
            begin_look(r, from, &own_key, &own_look);
            look = &own_look;
            key = &own_key;
        }
        p = flow_path_get(r->tables, from, key, look->hash, look->word);
        end = p->end;
        if (p->n == 1 && p->flow[0]->code->is_normal && !r->hooks->note &&
            !w.set.types && !from) {
            r->flow = p->flow[0];
            count_match(r, p->flow[0]);
            return true;
        }
        from = p->table;
        if (!follow(&w, p))
            return false;
        if (end == FLOW_PATH_MISS)
            miss(r, from);
        else if (end == FLOW_PATH_DONE)
            run_set(&w);
        if (end != FLOW_PATH_MORE)
            return false;
    }
}

/* --- the rest --------------------------------------------------------------
 */

void
flow_info(const struct flow *f, struct flow_info *info)
{
    *info = (struct flow_info){
        .table = f->table,
        .is_miss = f->priority == 0 && f->sub->mask.n == 0,
        .priority = f->priority,
        .cookie = f->cookie,
        .owner = f->owner,
    };
}

bool
flow_all_normal(const struct flow_tables *t)
{
    return t->is_normal;
}

bool
flow_counts_normal(const struct flow_tables *t)
{
    return t->normal != NULL;
}

void
flow_count_normal(struct flow_tables *t, uint32_t n, uint64_t bytes,
                  uint64_t now_ns)
{
    struct flow *f = t->normal;

    if (!f || !n)
        return;
    counter_add(&t->table[0].n.n_lookups, n);
    counter_add(&t->table[0].n.n_matched, n);
    counter_set(&f->n.used_ns, now_ns);
    if (!(f->flags & OFPFF_NO_PKT_COUNTS))
        counter_add(&f->n.n_packets, n);
    if (!(f->flags & OFPFF_NO_BYT_COUNTS))
        counter_add(&f->n.n_bytes, bytes);
}

bool
flow_may_packet_in(struct flow_tables *t, uint32_t bytes, uint64_t now_ns)
{
    struct flow_meter *m = *flow_meter_at(t, OFPM_CONTROLLER);
    uint8_t levels;

    return !m ||
           flow_meter_run(m, bytes, now_ns, true, &levels) != FLOW_METER_DROP;
}
