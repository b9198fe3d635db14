/* SPDX-License-Identifier: Apache-2.0
 *
 * Instructions that entries share: a thousand flows to one port have one copy.
 * See books.h.
 */
#include "ofproto/books.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define MIN_BUCKETS 64u

static uint64_t
mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

/* Of what tells most lists apart; equality decides. */
static uint64_t
hash_actions(uint64_t h, const struct ofp_actions *l)
{
    h = mix(h, l->n);
    for (uint32_t i = 0; i < l->n; i++) {
        const struct ofp_action *a = &l->a[i];

        h = mix(h, a->type);
        switch (a->type) {
        case OFP_ACT_OUTPUT:
        case OFP_ACT_ENQUEUE:
            h = mix(h, a->output.port);
            break;
        case OFP_ACT_SET_FIELD:
            h = mix(h, a->set.field);
            for (int k = 0; k < 16; k += 8) {
                uint64_t v;

                memcpy(&v, &a->set.value[k], sizeof(v));
                h = mix(h, k < ofp_fields[a->set.field].n_bytes ? v : 0);
            }
            break;
        case OFP_ACT_GROUP:
            h = mix(h, a->group);
            break;
        case OFP_ACT_SET_QUEUE:
            h = mix(h, a->queue);
            break;
        default:
            break;
        }
    }
    return h;
}

static uint32_t
hash_of(const struct ofproto *o, const struct ofp_instructions *in)
{
    uint64_t h = o->conf.seed;

    h = mix(h, in->has_goto ? in->table : UINT64_C(256));
    if (in->has_metadata)
        h = mix(h, in->metadata);
    if (in->has_meter)
        h = mix(h, in->meter);
    h = hash_actions(h, &in->write);
    h = hash_actions(h, &in->apply);
    return (uint32_t) (h >> 32);
}

static void
rehash(struct ofproto *o)
{
    uint32_t n = o->n_inst_buckets ? o->n_inst_buckets * 2 : MIN_BUCKETS;
    struct inst **bucket = books_alloc(n, sizeof(struct inst *));

    for (uint32_t i = 0; i < o->n_inst_buckets; i++)
        for (struct inst *in = o->inst[i], *next; in; in = next) {
            next = in->next;
            in->next = bucket[in->hash & (n - 1)];
            bucket[in->hash & (n - 1)] = in;
        }
    free(o->inst);
    o->inst = bucket;
    o->n_inst_buckets = n;
}

static void
add_groups(struct inst *in, const struct ofp_actions *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (l->a[i].type == OFP_ACT_GROUP &&
            !inst_names_group(in, l->a[i].group))
            in->group[in->n_groups++] = l->a[i].group;
}

static uint32_t
count_groups(const struct ofp_actions *l)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < l->n; i++)
        n += l->a[i].type == OFP_ACT_GROUP;
    return n;
}

static struct inst *
create(struct ofproto *o, const struct ofp_instructions *from, uint32_t hash)
{
    struct inst *in = books_alloc(1, sizeof(*in));
    uint32_t n = count_groups(&from->write) + count_groups(&from->apply);

    if (!ofp_instructions_copy(from, &in->in))
        abort();
    in->hash = hash;
    if (n)
        in->group = books_alloc(n, sizeof(in->group[0]));
    add_groups(in, &from->write);
    add_groups(in, &from->apply);
    link_init(&in->entries);
    link_init(&in->in_users);
    if (n || from->has_meter)
        link_append(&o->users, &in->in_users);
    if (o->n_insts >= o->n_inst_buckets)
        rehash(o);
    in->next = o->inst[hash & (o->n_inst_buckets - 1)];
    o->inst[hash & (o->n_inst_buckets - 1)] = in;
    o->n_insts++;
    return in;
}

struct inst *
inst_get(struct ofproto *o, const struct ofp_instructions *from)
{
    uint32_t hash = hash_of(o, from);
    struct inst *in =
        o->n_inst_buckets ? o->inst[hash & (o->n_inst_buckets - 1)] : NULL;

    while (in && (in->hash != hash || !ofp_instructions_equal(&in->in, from)))
        in = in->next;
    if (!in)
        in = create(o, from, hash);
    in->refs++;
    return in;
}

void
inst_put(struct ofproto *o, struct inst *in)
{
    struct inst **at = &o->inst[in->hash & (o->n_inst_buckets - 1)];

    if (--in->refs)
        return;
    assert(link_is_empty(&in->entries));
    while (*at != in)
        at = &(*at)->next;
    *at = in->next;
    link_remove(&in->in_users);
    o->n_insts--;
    ofp_instructions_free(&in->in);
    free(in->group);
    free(in);
}

static bool
outputs_to(const struct ofp_actions *l, uint32_t port)
{
    for (uint32_t i = 0; i < l->n; i++)
        if ((l->a[i].type == OFP_ACT_OUTPUT ||
             l->a[i].type == OFP_ACT_ENQUEUE) &&
            l->a[i].output.port == port)
            return true;
    return false;
}

bool
inst_outputs_to(const struct inst *in, uint32_t port)
{
    return outputs_to(&in->in.write, port) || outputs_to(&in->in.apply, port);
}

bool
inst_names_group(const struct inst *in, uint32_t group)
{
    for (uint32_t i = 0; i < in->n_groups; i++)
        if (in->group[i] == group)
            return true;
    return false;
}
