/* SPDX-License-Identifier: Apache-2.0
 *
 * Making instructions, entries and groups ready to run: control thread, but
 * for the action sets, which the datapath merges too.
 */
#include "flow/priv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* --- action sets -----------------------------------------------------------
 */

void
flow_set_write(struct flow_set *s, const struct ofp_action *a, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++, a++) {
        s->types |= 1u << a->type;
        if (a->type == OFP_ACT_SET_FIELD) {
            s->fields |= UINT64_C(1) << a->set.field;
            s->of_field[a->set.field] = a;
        } else {
            s->of_type[a->type] = a;
        }
    }
}

uint32_t
flow_set_list(const struct flow_set *s,
              const struct ofp_action *list[FLOW_SET_MAX])
{
    uint32_t types = s->types, n = 0;

    if (types >> OFP_ACT_GROUP & 1) /* the group decides where it goes */
        types &= ~(1u << OFP_ACT_OUTPUT);
    for (; types; types &= types - 1) {
        int type = __builtin_ctz(types);

        if (type != OFP_ACT_SET_FIELD) {
            list[n++] = s->of_type[type];
            continue;
        }
        for (uint64_t m = s->fields; m; m &= m - 1)
            list[n++] = s->of_field[__builtin_ctzll(m)];
    }
    return n;
}

/* --- instructions ----------------------------------------------------------
 */

/* Whether what is matched, or read from behind it, may change. */
static bool
changes_frame(const struct ofp_actions *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        switch (list->a[i].type) {
        case OFP_ACT_OUTPUT:
        case OFP_ACT_ENQUEUE:
        case OFP_ACT_GROUP:
        case OFP_ACT_SET_QUEUE:
            break;
        default:
            return true;
        }
    }
    return false;
}

static bool
is_normal(const struct ofp_instructions *in)
{
    const struct ofp_actions *list = &in->apply;

    if (in->apply.n + in->write.n != 1 || in->has_goto || in->has_meter)
        return false;
    if (in->write.n)
        list = &in->write;
    return list->a[0].type == OFP_ACT_OUTPUT &&
           list->a[0].output.port == OFPP_NORMAL;
}

struct flow_code *
flow_code_create(const struct ofp_instructions *in)
{
    uint32_t n_apply = in->has_apply ? in->apply.n : 0;
    uint32_t n_write = in->has_write ? in->write.n : 0;
    struct flow_code *c;

    assert(n_apply <= OFP_MAX_ACTIONS && n_write <= OFP_MAX_ACTIONS);
    c = calloc(1, sizeof(*c) + (n_apply + n_write) * sizeof(c->a[0]));
    if (!c)
        return NULL;
    c->has_goto = in->has_goto;
    c->table = in->table;
    c->clear = in->clear;
    c->has_meter = in->has_meter;
    c->meter = in->meter;
    if (in->has_metadata) {
        c->metadata = in->metadata & in->metadata_mask;
        c->metadata_mask = in->metadata_mask;
    }
    c->n_apply = (uint16_t) n_apply;
    c->n_write = (uint16_t) n_write;
    if (n_apply)
        memcpy(c->a, in->apply.a, n_apply * sizeof(c->a[0]));
    if (n_write)
        memcpy(c->a + n_apply, in->write.a, n_write * sizeof(c->a[0]));
    /* A meter may remark. */
    c->changes = in->has_meter || (n_apply && changes_frame(&in->apply));
    c->is_normal = is_normal(in);
    return c;
}

void
flow_code_destroy(struct flow_code *c)
{
    free(c);
}

/* --- entries ---------------------------------------------------------------
 */

static void
words_of(const struct ofp_match *m, struct flow_mask *mask,
         uint64_t value[OFP_KEY_WORDS])
{
    uint64_t bits[OFP_KEY_WORDS], all[OFP_KEY_WORDS];

    memcpy(bits, &m->mask, sizeof(bits));
    memcpy(all, &m->value, sizeof(all));
    memset(mask, 0, sizeof(*mask));
    for (uint8_t i = 0; i < OFP_KEY_WORDS; i++) {
        if (!bits[i])
            continue;
        mask->at[mask->n] = i;
        mask->bits[mask->n] = bits[i];
        value[mask->n++] = all[i] & bits[i];
    }
}

struct flow *
flow_create(const struct flow_spec *spec, struct flow_code *code, void *owner)
{
    struct flow_mask *mask = malloc(sizeof(*mask));
    uint64_t value[OFP_KEY_WORDS];
    struct flow *f;

    assert(spec->table < OFP_N_TABLES);
    if (!mask)
        return NULL;
    words_of(spec->match, mask, value);
    f = calloc(1, sizeof(*f) + mask->n * sizeof(value[0]));
    if (!f) {
        free(mask);
        return NULL;
    }
    memcpy(f->value, value, mask->n * sizeof(value[0]));
    f->mask = mask;
    f->code = code;
    f->owner = owner;
    f->cookie = spec->cookie;
    f->priority = spec->priority;
    f->table = spec->table;
    f->flags = spec->flags & (OFPFF_NO_PKT_COUNTS | OFPFF_NO_BYT_COUNTS);
    return f;
}

void
flow_destroy(struct flow *f)
{
    if (!f)
        return;
    flow_code_destroy(f->code);
    free(f->mask);
    free(f);
}

const struct flow_counters *
flow_counters(const struct flow *f)
{
    return &f->n;
}

/* --- groups ----------------------------------------------------------------
 */

/* The actions of a bucket in the order of a set; returns how many. */
static uint16_t
put_bucket(struct ofp_action *to, const struct ofp_actions *from)
{
    const struct ofp_action *list[FLOW_SET_MAX];
    struct flow_set set;
    uint32_t n;

    flow_set_clear(&set);
    flow_set_write(&set, from->a, from->n);
    n = flow_set_list(&set, list);
    for (uint32_t i = 0; i < n; i++)
        to[i] = *list[i];
    return (uint16_t) n;
}

struct flow_group *
flow_group_create(const struct ofp_group *conf)
{
    struct flow_group *g = calloc(1, sizeof(*g));
    size_t n = 0;

    if (!g)
        return NULL;
    for (uint32_t i = 0; i < conf->n_buckets; i++)
        n += conf->bucket[i].actions.n;
    g->id = conf->id;
    g->type = conf->type;
    g->n_buckets = conf->n_buckets;
    g->bucket = calloc(conf->n_buckets + 1, sizeof(*g->bucket));
    g->a = calloc(n + 1, sizeof(*g->a));
    if (!g->bucket || !g->a) {
        flow_group_destroy(g);
        return NULL;
    }
    n = 0;
    for (uint32_t i = 0; i < conf->n_buckets; i++) {
        const struct ofp_bucket *from = &conf->bucket[i];
        struct flow_bucket *b = &g->bucket[i];

        b->first = (uint32_t) n;
        b->n_actions = put_bucket(g->a + n, &from->actions);
        b->weight = from->weight;
        b->watch_port = from->watch_port;
        b->watch_group = from->watch_group;
        g->weight += from->weight;
        n += b->n_actions;
    }
    return g;
}

void
flow_group_destroy(struct flow_group *g)
{
    if (!g)
        return;
    free(g->bucket);
    free(g->a);
    free(g);
}

const struct flow_group_counters *
flow_group_counters(const struct flow_group *g)
{
    return &g->n;
}

const struct flow_group_counters *
flow_bucket_counters(const struct flow_group *g, uint32_t i)
{
    assert(i < g->n_buckets);
    return &g->bucket[i].n;
}
