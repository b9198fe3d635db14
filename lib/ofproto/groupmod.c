/* SPDX-License-Identifier: Apache-2.0
 *
 * Modifications of the group table (1.3, 6.5): see books.h.
 */
#include "ofproto/books.h"
#include "ofproto/judge.h"

#include <stdlib.h>

#define FAIL(e, code, ...) \
    ofp_fail(e, OFPET_GROUP_MOD_FAILED, code, __VA_ARGS__)

void
group_destroy(struct group *g)
{
    if (!g)
        return;
    flow_group_destroy(g->dp);
    ofp_group_free(&g->g);
    free(g);
}

void
group_finish(struct group *g, struct group *old)
{
    if (g && old) {
        const struct flow_group_counters *c = flow_group_counters(old->dp);

        g->base[0] += old->base[0] + counter_get(&c->n_packets);
        g->base[1] += old->base[1] + counter_get(&c->n_bytes);
    }
    group_destroy(old);
}

void
group_count(struct ofproto *o, uint32_t id, int by)
{
    struct group *g = set_get(&o->groups, id);

    if (g)
        g->ref_count += (uint32_t) by;
}

/* Of the i-th bucket, in the k-th action; false: that is not a group. */
static bool
named_by(const struct ofp_group *g, uint32_t i, uint32_t k, uint32_t *id)
{
    const struct ofp_action *a = &g->bucket[i].actions.a[k];

    *id = a->group;
    return a->type == OFP_ACT_GROUP;
}

void
group_count_chained(struct ofproto *o, const struct group *g, int by)
{
    uint32_t id;

    for (uint32_t i = 0; i < g->g.n_buckets; i++)
        for (uint32_t k = 0; k < g->g.bucket[i].actions.n; k++)
            if (named_by(&g->g, i, k, &id))
                group_count(o, id, by);
}

/* --- loops --------------------------------------------------------------- */

/* How deep groups lead to groups, once `g` is as given: by forwarding to them,
 * or by watching them, which no frame goes along with.  What is known of a
 * group is noted in it, so that each is looked at once. */
struct search {
    struct ofproto *o;         /* the books */
    const struct ofp_group *g; /* as it will be */
    bool by_watch;             /* along watch_group, else along actions */
    unsigned below_g;          /* how deep it goes itself ... */
    bool is_known;             /* ... once that is known */
    bool loops;                /* it leads back to itself */
};

static unsigned depth(struct search *, const struct ofp_group *at,
                      unsigned left);

/* Levels from a group on to another one and below. */
static unsigned
depth_to(struct search *x, uint32_t to, unsigned left)
{
    struct group *next = set_get(&x->o->groups, to);

    if (to == x->g->id) {
        x->loops |= !x->is_known;
        return 1 + (x->is_known ? x->below_g : MAX_CHAIN);
    }
    if (!next)
        return 0;
    if (next->search != x->o->search)
        next->depth = left ? depth(x, &next->g, left - 1) : MAX_CHAIN;
    next->search = x->o->search;
    return 1 + next->depth;
}

/* Levels below a group; more than MAX_CHAIN: too many, or a loop. */
static unsigned
depth(struct search *x, const struct ofp_group *at, unsigned left)
{
    unsigned deepest = 0;

    for (uint32_t i = 0; i < at->n_buckets; i++) {
        const struct ofp_bucket *b = &at->bucket[i];
        uint32_t n = x->by_watch ? 1 : b->actions.n, to = b->watch_group;

        for (uint32_t k = 0; k < n; k++) {
            unsigned d;

            if (x->by_watch ? to == OFPG_ANY : !named_by(at, i, k, &to))
                continue;
            d = depth_to(x, to, left);
            if (d > MAX_CHAIN)
                return MAX_CHAIN + 1;
            if (d > deepest)
                deepest = d;
        }
    }
    return deepest;
}

/* Of a group as it is. */
static unsigned
depth_now(struct ofproto *o, const struct group *g, bool by_watch)
{
    struct search x = {.o = o, .g = &g->g, .by_watch = by_watch};

    o->search++;
    return depth(&x, &g->g, MAX_CHAIN);
}

static bool
check_depth(unsigned deepest, struct ofp_error *e)
{
    return deepest <= MAX_CHAIN ||
           FAIL(e, OFPGMFC_CHAINING_UNSUPPORTED,
                "groups lead to groups more than %u deep", MAX_CHAIN);
}

static bool
check_chain(struct ofproto *o, const struct ofp_group *g, bool by_watch,
            struct ofp_error *e)
{
    const struct group *was = set_get(&o->groups, g->id);
    struct search x = {.o = o, .g = g, .by_watch = by_watch};
    unsigned deepest;

    o->search++;
    deepest = x.below_g = depth(&x, g, MAX_CHAIN);
    if (x.loops)
        return FAIL(e, OFPGMFC_LOOP, "group %u would %s itself", g->id,
                    by_watch ? "watch" : "lead back to");
    /* Chains that go through it were short enough, and only a group that
     * goes deeper than it did makes them longer. */
    if (!was || (!by_watch && !was->ref_count) ||
        x.below_g <= depth_now(o, was, by_watch))
        return check_depth(deepest, e);
    x.is_known = true;
    o->search++;
    for (uint32_t n = 0; n < o->groups.n; n++) {
        struct group *other = o->groups.item[n];
        unsigned d = other == was ? 0 : depth(&x, &other->g, MAX_CHAIN);

        deepest = d > deepest ? d : deepest;
    }
    return check_depth(deepest, e);
}

/* --- what a group may be ------------------------------------------------- */

static bool
check_watch(const struct ofproto *o, const struct ofp_group *g,
            const struct ofp_bucket *b, struct ofp_error *e)
{
    bool watches = b->watch_port != OFPP_ANY || b->watch_group != OFPG_ANY;

    if (g->type == OFPGT_SELECT)
        return true;
    if (g->type != OFPGT_FF)
        return !watches || FAIL(e, OFPGMFC_WATCH_UNSUPPORTED,
                                "group %u: only fast failover watches", g->id);
    if (!watches)
        return FAIL(e, OFPGMFC_INVALID_GROUP,
                    "group %u: a bucket of fast failover watches nothing",
                    g->id);
    if (b->watch_port != OFPP_ANY && !port_find(o, b->watch_port))
        return FAIL(e, OFPGMFC_BAD_WATCH, "there is no port %u to watch",
                    b->watch_port);
    if (b->watch_group != OFPG_ANY && b->watch_group != g->id &&
        !set_get(&o->groups, b->watch_group))
        return FAIL(e, OFPGMFC_BAD_WATCH, "there is no group %u to watch",
                    b->watch_group);
    return true;
}

static bool
check_group(struct ofproto *o, const struct ofp_group *g, struct ofp_error *e)
{
    if (g->id > OFPG_MAX)
        return FAIL(e, OFPGMFC_INVALID_GROUP,
                    "group 0x%x is a reserved number", g->id);
    if ((unsigned) g->type > OFPGT_FF)
        return FAIL(e, OFPGMFC_BAD_TYPE, "there is no type %u of groups",
                    g->type);
    if (g->n_buckets > OFP_MAX_BUCKETS)
        return FAIL(e, OFPGMFC_OUT_OF_BUCKETS, "%u buckets: allowed are 1024",
                    g->n_buckets);
    if (g->type == OFPGT_INDIRECT && g->n_buckets != 1)
        return FAIL(e, OFPGMFC_INVALID_GROUP,
                    "%u buckets: an indirect group has one", g->n_buckets);
    for (uint32_t i = 0; i < g->n_buckets; i++) {
        const struct ofp_bucket *b = &g->bucket[i];

        if (b->weight && g->type != OFPGT_SELECT)
            return FAIL(e, OFPGMFC_INVALID_GROUP,
                        "weight %u: only select groups have weights",
                        b->weight);
        if (!check_watch(o, g, b, e))
            return false;
    }
    if (!check_chain(o, g, false, e) || !check_chain(o, g, true, e))
        return false;
    for (uint32_t i = 0; i < g->n_buckets; i++)
        if (!check_actions(o, &g->bucket[i].actions, e))
            return false;
    return true;
}

/* --- changes ------------------------------------------------------------- */

static bool
put(struct ofproto *o, const struct ofp_group *from, bool persist,
    uint64_t now_ns)
{
    struct group *old = set_get(&o->groups, from->id);
    struct group *g = books_alloc(1, sizeof(*g));
    struct rec *r;

    if (!ofp_group_copy(from, &g->g))
        abort();
    g->dp = flow_group_create(&g->g);
    if (!g->dp)
        abort();
    g->created_ns = old ? old->created_ns : now_ns;
    g->ref_count = old ? old->ref_count : 0;
    g->persist = persist || (old && old->persist); /* as flows that stay */
    r = rec_add(o, REC_GROUP);
    r->id = from->id;
    r->group = g;
    r->old_group = old;
    if (old)
        group_count_chained(o, old, -1);
    set_put(&o->groups, from->id, g);
    group_count_chained(o, g, 1);
    if (g->persist)
        o->persist_generation++;
    return true;
}

static void
take(struct ofproto *o, struct group *g, uint64_t now_ns)
{
    struct rec *r;

    flow_delete_users(o, g, NULL, now_ns);
    group_count_chained(o, g, -1);
    set_put(&o->groups, g->g.id, NULL);
    r = rec_add(o, REC_GROUP);
    r->id = g->g.id;
    r->old_group = g;
    if (g->persist)
        o->persist_generation++;
}

/* A group that others forward to stays. */
static bool
check_not_chained(const struct ofproto *o, const struct group *g,
                  struct ofp_error *e)
{
    uint32_t to;

    for (uint32_t n = 0; n < o->groups.n; n++) {
        const struct group *other = o->groups.item[n];

        for (uint32_t i = 0; i < other->g.n_buckets; i++)
            for (uint32_t k = 0; k < other->g.bucket[i].actions.n; k++)
                if (named_by(&other->g, i, k, &to) && to == g->g.id)
                    return FAIL(e, OFPGMFC_CHAINED_GROUP,
                                "group %u forwards to it", other->g.id);
    }
    return true;
}

static bool
delete_groups(struct ofproto *o, uint32_t id, uint64_t now_ns,
              struct ofp_error *e)
{
    struct group *g;

    if (id == OFPG_ALL) {
        while (o->groups.n)
            take(o, o->groups.item[o->groups.n - 1], now_ns);
        return true;
    }
    if (id > OFPG_MAX)
        return FAIL(e, OFPGMFC_INVALID_GROUP,
                    "group 0x%x is a reserved number", id);
    g = set_get(&o->groups, id);
    if (!g)
        return true;
    if (!check_not_chained(o, g, e))
        return false;
    take(o, g, now_ns);
    return true;
}

bool
group_mod(struct ofproto *o, const struct ofp_group_mod *m, bool persist,
          uint64_t now_ns, struct ofp_error *e)
{
    bool exists = set_get(&o->groups, m->group.id) != NULL;

    switch (m->command) {
    case OFPGC_ADD:
        if (exists)
            return FAIL(e, OFPGMFC_GROUP_EXISTS, "group %u exists already",
                        m->group.id);
        break;
    case OFPGC_MODIFY:
        if (!exists && m->group.id <= OFPG_MAX)
            return FAIL(e, OFPGMFC_UNKNOWN_GROUP, "there is no group %u",
                        m->group.id);
        break;
    case OFPGC_ADD_OR_MODIFY:
        break;
    case OFPGC_DELETE:
        return delete_groups(o, m->group.id, now_ns, e);
    default:
        return FAIL(e, OFPGMFC_BAD_COMMAND, "there is no command %u",
                    m->command);
    }
    if (!exists && o->groups.n >= OFPROTO_MAX_GROUPS)
        return FAIL(e, OFPGMFC_OUT_OF_GROUPS,
                    "there are %u groups, as many as there may be",
                    o->groups.n);
    return check_group(o, &m->group, e) && put(o, &m->group, persist, now_ns);
}

/* --- reading ------------------------------------------------------------- */

static void
describe(const struct group *g, uint64_t now_ns,
         struct ofproto_group_info *out)
{
    const struct flow_group_counters *c = flow_group_counters(g->dp);

    out->group = &g->g;
    out->counters = g->dp;
    out->persist = g->persist;
    out->ref_count = g->ref_count;
    out->duration_ns = now_ns - g->created_ns;
    out->n_packets = g->base[0] + counter_get(&c->n_packets);
    out->n_bytes = g->base[1] + counter_get(&c->n_bytes);
}

bool
ofproto_group(struct ofproto *o, uint32_t id, uint64_t now_ns,
              struct ofproto_group_info *out)
{
    const struct group *g = set_get(&o->groups, id);

    if (g)
        describe(g, now_ns, out);
    return g != NULL;
}

bool
ofproto_group_after(struct ofproto *o, int64_t id, uint64_t now_ns,
                    struct ofproto_group_info *out)
{
    uint32_t at = 0;

    if (id >= 0 && set_find(&o->groups, (uint32_t) id, &at))
        at++;
    if (at >= o->groups.n)
        return false;
    describe(o->groups.item[at], now_ns, out);
    return true;
}
