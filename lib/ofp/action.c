/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies and comparisons of actions, instructions and groups: see action.h.
 */
#include "ofp/action.h"

#include <stdlib.h>
#include <string.h>

bool
ofp_actions_copy(const struct ofp_actions *from, struct ofp_actions *to)
{
    *to = (struct ofp_actions){0};
    if (from->n == 0)
        return true;
    to->a = malloc(from->n * sizeof(*to->a));
    if (!to->a)
        return false;
    memcpy(to->a, from->a, from->n * sizeof(*to->a));
    to->n = from->n;
    return true;
}

void
ofp_actions_free(struct ofp_actions *l)
{
    free(l->a);
    *l = (struct ofp_actions){0};
}

bool
ofp_instructions_copy(const struct ofp_instructions *from,
                      struct ofp_instructions *to)
{
    struct ofp_instructions in = *from;

    *to = (struct ofp_instructions){0};
    if (!ofp_actions_copy(&from->write, &in.write))
        return false;
    if (!ofp_actions_copy(&from->apply, &in.apply)) {
        ofp_actions_free(&in.write);
        return false;
    }
    *to = in;
    return true;
}

void
ofp_instructions_free(struct ofp_instructions *in)
{
    ofp_actions_free(&in->write);
    ofp_actions_free(&in->apply);
    *in = (struct ofp_instructions){0};
}

bool
ofp_group_copy(const struct ofp_group *from, struct ofp_group *to)
{
    struct ofp_group g = *from;

    *to = (struct ofp_group){0};
    g.n_buckets = 0;
    g.bucket = NULL;
    if (from->n_buckets) {
        g.bucket = calloc(from->n_buckets, sizeof(*g.bucket));
        if (!g.bucket)
            return false;
    }
    for (; g.n_buckets < from->n_buckets; g.n_buckets++) {
        struct ofp_bucket *b = &g.bucket[g.n_buckets];

        *b = from->bucket[g.n_buckets];
        if (!ofp_actions_copy(&from->bucket[g.n_buckets].actions,
                              &b->actions)) {
            ofp_group_free(&g);
            return false;
        }
    }
    *to = g;
    return true;
}

void
ofp_group_free(struct ofp_group *g)
{
    for (uint32_t i = 0; i < g->n_buckets; i++)
        ofp_actions_free(&g->bucket[i].actions);
    free(g->bucket);
    g->bucket = NULL;
    g->n_buckets = 0;
}

bool
ofp_actions_pop_queue(struct ofp_actions *l)
{
    uint32_t i = l->n;

    while (i > 0 && l->a[i - 1].type != OFP_ACT_SET_QUEUE)
        i--;
    if (i == 0)
        return true; /* the queue is the frame's own already */
    for (uint32_t k = i; k < l->n; k++) {
        struct ofp_action *a = &l->a[k];

        if (a->type != OFP_ACT_OUTPUT)
            continue;
        if (a->output.port >= OFPP_MAX)
            return false;
        a->type = OFP_ACT_ENQUEUE;
        a->output.queue = l->a[i - 1].queue;
    }
    memmove(&l->a[i - 1], &l->a[i], (l->n - i) * sizeof(*l->a));
    l->n--;
    return true;
}

static bool
set_equal(const struct ofp_action *a, const struct ofp_action *b)
{
    size_t n = ofp_fields[a->set.field].n_bytes;

    return a->set.field == b->set.field &&
           a->set.has_mask == b->set.has_mask &&
           memcmp(a->set.value, b->set.value, n) == 0 &&
           (!a->set.has_mask || memcmp(a->set.mask, b->set.mask, n) == 0);
}

static bool
action_equal(const struct ofp_action *a, const struct ofp_action *b)
{
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case OFP_ACT_OUTPUT:
        return a->output.port == b->output.port &&
               a->output.max_len == b->output.max_len;
    case OFP_ACT_ENQUEUE:
        return a->output.port == b->output.port &&
               a->output.queue == b->output.queue;
    case OFP_ACT_SET_FIELD:
        return set_equal(a, b);
    case OFP_ACT_PUSH_VLAN:
    case OFP_ACT_PUSH_MPLS:
    case OFP_ACT_PUSH_PBB:
    case OFP_ACT_POP_MPLS:
        return a->ethertype == b->ethertype;
    case OFP_ACT_GROUP:
        return a->group == b->group;
    case OFP_ACT_SET_QUEUE:
        return a->queue == b->queue;
    case OFP_ACT_SET_NW_TTL:
    case OFP_ACT_SET_MPLS_TTL:
        return a->ttl == b->ttl;
    case OFP_ACT_SET_VLAN_VID:
        return a->vid == b->vid;
    case OFP_ACT_SET_VLAN_PCP:
        return a->pcp == b->pcp;
    default:
        return true;
    }
}

bool
ofp_actions_equal(const struct ofp_actions *a, const struct ofp_actions *b)
{
    if (a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (!action_equal(&a->a[i], &b->a[i]))
            return false;
    return true;
}

bool
ofp_instructions_equal(const struct ofp_instructions *a,
                       const struct ofp_instructions *b)
{
    return a->has_goto == b->has_goto && a->has_metadata == b->has_metadata &&
           a->has_write == b->has_write && a->has_apply == b->has_apply &&
           a->clear == b->clear && a->has_meter == b->has_meter &&
           (!a->has_goto || a->table == b->table) &&
           (!a->has_meter || a->meter == b->meter) &&
           (!a->has_metadata || (a->metadata == b->metadata &&
                                 a->metadata_mask == b->metadata_mask)) &&
           ofp_actions_equal(&a->write, &b->write) &&
           ofp_actions_equal(&a->apply, &b->apply);
}
