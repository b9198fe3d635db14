/* SPDX-License-Identifier: Apache-2.0
 *
 * Flows, groups and meters that come back after a restart: see
 * flow_persist.h.  What is stored of a bridge is compared by the generation
 * of its books: as long as that stays, nothing is to be done.
 */
#include "flow_persist.h"

#include "base/clock.h"
#include "base/log.h"
#include "flow_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TICK_MS 1000
#define CHUNK   512 /* flows that are put back at once */

/* What the database has of a bridge. */
struct stored {
    char bridge[CONF_NAME_MAX + 1]; /* its name; "": free */
    uint64_t generation;            /* of the books, as stored */
    struct store_flow *lost;        /* stored, but not in the books, as they
                                       are refused there (for now) */
    size_t n_lost;                  /* of them */
    bool failed;                    /* the last try to store was in vain */
};

static struct stored known[CONF_MAX_BRIDGES];
static struct reactor_watch *tick; /* once a second */

static void
forget_lost(struct stored *s)
{
    for (size_t i = 0; i < s->n_lost; i++)
        free((char *) s->lost[i].text);
    free(s->lost);
    s->lost = NULL;
    s->n_lost = 0;
}

/* The place of a bridge; those of bridges that are gone become free. */
static struct stored *
find(const struct daemon *d, const char *bridge)
{
    struct stored *free_place = NULL;

    for (size_t i = 0; i < CONF_MAX_BRIDGES; i++) {
        struct stored *s = &known[i];

        if (s->bridge[0] && !daemon_find_bridge(d, s->bridge)) {
            forget_lost(s);
            memset(s, 0, sizeof(*s));
        }
        if (strcmp(s->bridge, bridge) == 0)
            return s;
        if (!s->bridge[0] && !free_place)
            free_place = s;
    }
    if (free_place)
        strncpy(free_place->bridge, bridge, CONF_NAME_MAX);
    return free_place;
}

/* --- rows -----------------------------------------------------------------
 */

struct rows {
    struct store_flow *row; /* them, texts on the heap */
    size_t n;               /* how many */
    size_t room;            /* of row */
};

static void
rows_add(struct rows *r, enum store_flow_kind kind, const char *text, size_t n)
{
    if (r->n == r->room) {
        r->room = r->room ? 2 * r->room : 64;
        r->row = realloc(r->row, r->room * sizeof(*r->row));
        if (!r->row)
            abort();
    }
    r->row[r->n].kind = kind;
    r->row[r->n].text = strndup(text, n);
    if (!r->row[r->n++].text)
        abort();
}

static void
rows_free(struct rows *r)
{
    for (size_t i = 0; i < r->n; i++)
        free((char *) r->row[i].text);
    free(r->row);
    *r = (struct rows){0};
}

static void
take_groups(const struct flow_place *at, uint64_t now_ns, struct rows *r)
{
    struct ofproto_group_info g;
    struct ofproto_meter_info m;
    struct ofp_buf b = {0};

    for (int64_t id = -1; ofproto_group_after(at->books, id, now_ns, &g);
         id = g.group->id, b.n = 0)
        if (g.persist) {
            ofp_text_put_group(&b, g.group, NULL);
            rows_add(r, STORE_GROUP, (char *) b.data, b.n);
        }
    for (int64_t id = -1; ofproto_meter_after(at->books, id, now_ns, &m);
         id = m.meter->id, b.n = 0)
        if (m.persist) {
            ofp_text_put_meter(&b, m.meter);
            rows_add(r, STORE_METER, (char *) b.data, b.n);
        }
    ofp_buf_free(&b);
}

static void
take_flows(const struct flow_place *at, uint64_t now_ns, struct rows *r)
{
    const struct ofproto_filter f = {.table = OFPTT_ALL,
                                     .out_port = OFPP_ANY,
                                     .out_group = OFPG_ANY,
                                     .persist_only = true};
    struct ofproto_flow_info info;
    struct ofproto_walk walk;
    enum ofproto_step step;
    struct ofp_buf b = {0};

    if (!ofproto_walk_flows(at->books, &walk, OFPTT_ALL, NULL))
        return;
    while ((step = ofproto_next_flow(at->books, &walk, &f, now_ns, &info)) !=
           OFPROTO_END) {
        struct ofp_flow_stats s;

        if (step == OFPROTO_AGAIN)
            continue;
        flow_stats_of(&info, &s);
        b.n = 0;
        ofp_text_put_flow_file(&b, &s, NULL);
        rows_add(r, STORE_FLOW, (char *) b.data, b.n);
    }
    ofproto_walk_end(at->books, &walk);
    ofp_buf_free(&b);
}

int
flow_persist_sync(struct daemon *d, const char *bridge, struct err *err)
{
    struct stored *s = find(d, bridge);
    struct rows r = {0};
    struct flow_place at;
    uint64_t generation;
    int error;

    if (!s || flow_place_find(d, bridge, NULL, &at, NULL))
        return 0; /* it does not run */
    generation = ofproto_persist_generation(at.books);
    if (generation == s->generation)
        return 0;
    take_groups(&at, clock_ns(), &r);
    take_flows(&at, clock_ns(), &r);
    for (size_t i = 0; i < s->n_lost; i++)
        rows_add(&r, s->lost[i].kind, s->lost[i].text,
                 strlen(s->lost[i].text));
    error = store_flows_save(d->store, bridge, r.row, r.n, err);
    if (!error)
        s->generation = generation;
    s->failed = error != 0;
    rows_free(&r);
    return error;
}

/* --- restoring ------------------------------------------------------------
 */

static void
take_row(void *arg, enum store_flow_kind kind, const char *text)
{
    rows_add(arg, kind, text, strlen(text));
}

/* One that is there already, as of an earlier restoring, is modified. */
static int
read_meter(const struct flow_place *at, const char *text,
           struct ofp_meter_mod *m, struct err *err)
{
    int error = ofp_text_meter(text, OFPMC_ADD, m, err);
    struct ofproto_meter_info there;

    if (!error && ofproto_meter(at->books, m->meter.id, clock_ns(), &there))
        m->command = OFPMC_MODIFY;
    return error;
}

static int
add_row(const struct flow_place *at, const struct store_flow *row,
        struct flow_batch *b, struct err *err)
{
    static const enum ofproto_mod_type types[] = {
        [STORE_GROUP] = OFPROTO_GROUP_MOD,
        [STORE_METER] = OFPROTO_METER_MOD,
        [STORE_FLOW] = OFPROTO_FLOW_MOD};
    struct ofproto_mod *m = flow_batch_add(b, types[row->kind], 0);
    struct ofp_arena *arena = flow_batch_arena(b);
    int error;

    m->persist = true;
    if (row->kind == STORE_GROUP)
        error = ofp_text_group(row->text, OFPGC_ADD_OR_MODIFY, &at->names,
                               arena, (struct ofp_group_mod *) m->group, err);
    else if (row->kind == STORE_METER)
        error =
            read_meter(at, row->text, (struct ofp_meter_mod *) m->meter, err);
    else
        error = ofp_text_flow(row->text, OFPFC_ADD, &at->names, arena,
                              (struct ofp_flow_mod *) m->flow, err);
    if (error)
        b->n--;
    return error;
}

/* One of them; what the books say to it. */
static int
put_one(const struct flow_place *at, const struct store_flow *row,
        struct err *err)
{
    struct flow_batch b = {0};
    int error = add_row(at, row, &b, err);

    if (!error)
        error = flow_batch_put(at, &b, false, err);
    flow_batch_free(&b);
    return error;
}

static void
lose(struct stored *s, const struct store_flow *row, const struct err *why)
{
    log_warn("bridge %s: stored flow is not taken: \"%.200s\": %s", s->bridge,
             row->text, why->msg);
    s->lost = realloc(s->lost, (s->n_lost + 1) * sizeof(*s->lost));
    if (!s->lost)
        abort();
    s->lost[s->n_lost].kind = row->kind;
    s->lost[s->n_lost].text = strdup(row->text);
    if (!s->lost[s->n_lost++].text)
        abort();
}

/* A group may name another that comes later: as often as one more is taken. */
static void
put_groups(const struct flow_place *at, struct stored *s, struct rows *r)
{
    bool *done = calloc(r->n + 1, sizeof(*done)), more = true;
    struct err err = {0};

    if (!done)
        abort();
    while (more) {
        more = false;
        for (size_t i = 0; i < r->n; i++)
            if (!done[i] && r->row[i].kind != STORE_FLOW &&
                put_one(at, &r->row[i], &err) == 0)
                done[i] = more = true;
    }
    for (size_t i = 0; i < r->n; i++)
        if (!done[i] && r->row[i].kind != STORE_FLOW) {
            put_one(at, &r->row[i], &err); /* for the reason */
            lose(s, &r->row[i], &err);
        }
    free(done);
}

static void
put_flows(const struct flow_place *at, struct stored *s, struct rows *r,
          size_t from, size_t to)
{
    struct flow_batch b = {0};
    struct err err = {0};
    bool all = true;

    for (size_t i = from; i < to; i++)
        if (r->row[i].kind == STORE_FLOW)
            all = add_row(at, &r->row[i], &b, &err) == 0 && all;
    all = all && flow_batch_put(at, &b, false, &err) == 0;
    flow_batch_free(&b);
    for (size_t i = from; i < to && !all; i++)
        if (r->row[i].kind == STORE_FLOW && put_one(at, &r->row[i], &err) != 0)
            lose(s, &r->row[i], &err);
}

void
flow_persist_restore(struct daemon *d, const char *bridge)
{
    struct stored *s = find(d, bridge);
    struct rows r = {0};
    struct flow_place at;
    struct err err = {0};

    if (!s || flow_place_find(d, bridge, NULL, &at, NULL))
        return;
    if (store_flows_load(d->store, bridge, take_row, &r, &err))
        log_err("bridge %s: %s", bridge, err.msg);
    forget_lost(s);
    put_groups(&at, s, &r);
    for (size_t i = 0; i < r.n; i += CHUNK)
        put_flows(&at, s, &r, i, i + CHUNK < r.n ? i + CHUNK : r.n);
    if (r.n)
        log_info("bridge %s: %zu of %zu stored flows, groups and meters are "
                 "in the tables",
                 bridge, r.n - s->n_lost, r.n);
    s->generation = ofproto_persist_generation(at.books);
    rows_free(&r);
}

static void
on_tick(void *arg)
{
    struct daemon *d = arg;

    for (uint32_t i = 0; i < d->n_bridges; i++) {
        const struct stored *s = find(d, d->bridges[i]->name);
        bool said = s && s->failed;
        struct err err = {0};

        if (flow_persist_sync(d, d->bridges[i]->name, &err) && !said)
            log_err("bridge %s: flows are not stored: %s", d->bridges[i]->name,
                    err.msg);
    }
}

int
flow_persist_start(struct daemon *d, struct err *err)
{
    for (uint32_t i = 0; i < d->n_bridges; i++)
        flow_persist_restore(d, d->bridges[i]->name);
    tick = reactor_watch_timer(d->reactor, TICK_MS, on_tick, d);
    return tick ? 0 : err_sys(err, ENOMEM, "timer");
}

void
flow_persist_end(struct daemon *d)
{
    if (!tick)
        return;
    on_tick(d); /* what controllers and timeouts did since */
    reactor_unwatch(tick);
    tick = NULL;
    for (size_t i = 0; i < CONF_MAX_BRIDGES; i++)
        forget_lost(&known[i]);
    memset(known, 0, sizeof(known));
}
