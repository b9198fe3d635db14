/* SPDX-License-Identifier: Apache-2.0
 *
 * What changes: recorded, undone or committed, handed to the datapath in
 * batches, and cleared away when that has carried it out.  See books.h.
 */
#include "ofproto/books.h"
#include "ofproto/judge.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Operations of a batch that need not be one. */
#define MAX_OPS 4096u

void *
books_alloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);

    if (!p)
        abort(); /* the control plane has no memory at all */
    return p;
}

void *
books_grow(void *p, size_t *room, size_t n, size_t size)
{
    if (n <= *room)
        return p;
    *room = *room ? *room * 2 : 16;
    if (*room < n)
        *room = n;
    p = realloc(p, *room * size);
    if (!p)
        abort();
    return p;
}

struct rec *
rec_add(struct ofproto *o, enum rec_type type)
{
    struct rec *r;

    o->journal = books_grow(o->journal, &o->journal_room, o->n_journal + 1,
                            sizeof(*o->journal));
    r = &o->journal[o->n_journal++];
    memset(r, 0, sizeof(*r));
    r->type = type;
    return r;
}

/* --- undoing ------------------------------------------------------------- */

static void
undo_group(struct ofproto *o, struct rec *r)
{
    if (r->group)
        group_count_chained(o, r->group, -1);
    set_put(&o->groups, r->id, r->old_group);
    if (r->old_group && r->group)
        r->old_group->ref_count = r->group->ref_count;
    if (r->old_group)
        group_count_chained(o, r->old_group, 1);
    group_destroy(r->group);
}

static void
undo_meter(struct ofproto *o, struct rec *r)
{
    set_put(&o->meters, r->id, r->old_meter);
    if (r->old_meter && r->meter)
        r->old_meter->flow_count = r->meter->flow_count;
    meter_destroy(r->meter);
}

void
rec_undo(struct ofproto *o, struct rec *r)
{
    switch (r->type) {
    case REC_ADD:
        entry_unlink(o, r->entry);
        entry_destroy(o, r->entry);
        if (r->old)
            entry_link(o, r->old);
        break;
    case REC_DEL:
        entry_link(o, r->entry);
        break;
    case REC_CODE: {
        struct inst *in = r->entry->inst;

        entry_set_inst(o, r->entry, r->inst);
        inst_put(o, in);
        inst_put(o, r->to);
        r->entry->cookie = r->cookie;
        memcpy(r->entry->base, r->base, sizeof(r->base));
        break;
    }
    case REC_GROUP:
        undo_group(o, r);
        break;
    case REC_METER:
        undo_meter(o, r);
        break;
    case REC_DEFAULT:
        o->normal = r->config;
        break;
    case REC_PORT:
        port_find(o, r->id)->config = r->config;
        break;
    case REC_TABLE:
        o->table[r->id].config = r->config;
        break;
    }
}

void
journal_rollback(struct ofproto *o)
{
    while (o->n_journal)
        rec_undo(o, &o->journal[--o->n_journal]);
}

/* --- committing ---------------------------------------------------------- */

static struct ofproto_batch *
open_batch(struct ofproto *o, bool atomic)
{
    struct ofproto_batch *b = o->last;

    if (b && !atomic && !b->closed && b->n < MAX_OPS)
        return b;
    if (b)
        b->closed = true;
    b = books_alloc(1, sizeof(*b));
    b->atomic = atomic;
    b->closed = atomic;
    if (o->last)
        o->last->next = b;
    else
        o->first = b;
    o->last = b;
    return b;
}

/* What concerns nobody but us and those who are told. */
static bool
commit_here(struct ofproto *o, const struct rec *r)
{
    const struct ofproto_notices *to = &o->conf.notices;
    const struct ofp_port *p;

    if (r->type == REC_TABLE)
        return true;
    if (r->type != REC_PORT)
        return false;
    p = port_find(o, r->id);
    if (to->port_config)
        to->port_config(o->conf.arg, p->number, p->config);
    if (to->port_status)
        to->port_status(o->conf.arg, OFPPR_MODIFY, p);
    return true;
}

void
journal_commit(struct ofproto *o, bool atomic)
{
    struct ofproto_batch *b = NULL;

    for (size_t i = 0; i < o->n_journal; i++) {
        if (commit_here(o, &o->journal[i]))
            continue;
        if (!b || (!atomic && b->n >= MAX_OPS))
            b = open_batch(o, atomic);
        b->rec = books_grow(b->rec, &b->room, b->n + 1, sizeof(*b->rec));
        b->rec[b->n++] = o->journal[i];
    }
    o->n_journal = 0;
}

/* --- to the datapath ----------------------------------------------------- */

static struct flow_code *
code_of(const struct inst *in)
{
    struct flow_code *code = flow_code_create(&in->in);

    if (!code)
        abort();
    return code;
}

static struct flow_op
op_of(const struct rec *r)
{
    struct flow_op op = {.id = r->id};

    switch (r->type) {
    case REC_ADD:
        op.type = FLOW_OP_ADD;
        op.flow = r->entry->flow;
        op.old = r->old ? r->old->flow : NULL;
        op.keep_counts = r->old && !r->reset;
        break;
    case REC_DEL:
        op.type = FLOW_OP_DEL;
        op.flow = r->entry->flow;
        break;
    case REC_CODE:
        op.type = FLOW_OP_CODE;
        op.flow = r->entry->flow;
        op.reset_counts = r->reset;
        break;
    case REC_GROUP:
        op.type = r->group ? FLOW_OP_GROUP : FLOW_OP_GROUP_DEL;
        op.group = r->group ? r->group->dp : NULL;
        break;
    case REC_METER:
        op.type = r->meter ? FLOW_OP_METER : FLOW_OP_METER_DEL;
        op.meter = r->meter ? r->meter->dp : NULL;
        break;
    default:
        assert(r->type == REC_DEFAULT);
        op.type = FLOW_OP_DEFAULT;
        break;
    }
    return op;
}

struct ofproto_batch *
ofproto_take(struct ofproto *o)
{
    struct ofproto_batch *b = o->first;

    if (!b)
        return NULL;
    o->first = b->next;
    if (!o->first)
        o->last = NULL;
    b->next = NULL;
    b->closed = true;
    b->op = books_alloc(b->n, sizeof(*b->op));
    for (size_t i = 0; i < b->n; i++) {
        b->op[i] = op_of(&b->rec[i]);
        if (b->rec[i].type == REC_CODE)
            b->op[i].code = code_of(b->rec[i].to);
    }
    b->change = flow_change_create(o->conf.tables, b->op, b->n);
    if (!b->change)
        abort();
    return b;
}

struct flow_change *
ofproto_batch_change(struct ofproto_batch *b)
{
    return b->change;
}

bool
ofproto_batch_atomic(const struct ofproto_batch *b)
{
    return b->atomic;
}

/* --- after the datapath -------------------------------------------------- */

static void
tell_removed(struct ofproto *o, const struct rec *r)
{
    const struct entry *e = r->entry;
    struct ofp_flow_removed f = {
        .cookie = e->cookie,
        .priority = e->priority,
        .reason = r->reason,
        .table = e->table,
        .duration_ns = r->at_ns - e->created_ns,
        .idle_s = e->idle_s,
        .hard_s = e->hard_s,
    };
    uint64_t n[2];

    if (!r->tell || !o->conf.notices.flow_removed)
        return;
    entry_counts(e, n);
    f.n_packets = n[0];
    f.n_bytes = n[1];
    entry_match(e, &f.match);
    o->conf.notices.flow_removed(o->conf.arg, &f);
}

static void
finish(struct ofproto *o, struct rec *r, struct flow_op *op)
{
    switch (r->type) {
    case REC_ADD:
        if (r->old)
            entry_destroy(o, r->old);
        break;
    case REC_DEL:
        tell_removed(o, r);
        entry_destroy(o, r->entry);
        break;
    case REC_CODE:
        inst_put(o, r->inst);
        inst_put(o, r->to);
        flow_code_destroy(op->code);
        break;
    case REC_GROUP:
        group_finish(r->group, r->old_group);
        break;
    case REC_METER:
        meter_finish(r->meter, r->old_meter);
        break;
    default:
        break;
    }
}

void
ofproto_done(struct ofproto *o, struct ofproto_batch *b)
{
    flow_change_destroy(b->change);
    for (size_t i = 0; i < b->n; i++)
        finish(o, &b->rec[i], &b->op[i]);
    free(b->op);
    free(b->rec);
    free(b);
}
