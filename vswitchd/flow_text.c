/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of flows, groups and meters: see flow_text.h.
 */
#include "flow_text.h"

#include "base/clock.h"
#include "flow_persist.h"
#include "json.h"
#include "methods.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODS_PER_ARENA 256
#define MAX_WAIT_NS    (2 * NS_PER_S)

/* --- where ----------------------------------------------------------------
 */

static bool
port_number(void *arg, const char *name, uint32_t *number)
{
    const struct ofp_port *p = NULL;

    while ((p = ofproto_port_after(arg, p ? p->number : 0)))
        if (strcmp(p->name, name) == 0) {
            *number = p->number;
            return true;
        }
    return false;
}

static const char *
port_name(void *arg, uint32_t number)
{
    const struct ofp_port *p = ofproto_port(arg, number);

    return p && p->name[0] ? p->name : NULL;
}

int
flow_place_find(struct daemon *d, const char *name, const char *member,
                struct flow_place *at, struct err *err)
{
    struct conf_bridge *cb;
    int error = conf_need_bridge(d->conf, name, &cb, err);

    if (error)
        return error;
    memset(at, 0, sizeof(*at));
    at->daemon = d;
    at->bridge = daemon_find_bridge(d, name);
    at->of = ofbridge_find(d, name);
    if (!at->of || !at->bridge)
        return err_set(err, EAGAIN, "/params/bridge", name, NULL,
                       "bridge %s is not running now", name);
    at->books = ofbridge_books(at->of);
    at->names = (struct ofp_names){port_number, port_name, at->books};
    at->member = member;
    return 0;
}

/* --- batches --------------------------------------------------------------
 */

static void *
grow(void *p, size_t n, size_t size)
{
    p = realloc(p, n * size);
    if (!p)
        abort(); /* as everywhere in the control plane */
    return p;
}

void
flow_batch_free(struct flow_batch *b)
{
    for (size_t i = 0; i < b->n_arenas; i++)
        ofp_arena_free(&b->arenas[i]);
    free(b->arenas);
    free(b->mod);
    free(b->line);
    *b = (struct flow_batch){0};
}

struct ofp_arena *
flow_batch_arena(struct flow_batch *b)
{
    if (b->n / MODS_PER_ARENA >= b->n_arenas) {
        b->arenas = grow(b->arenas, b->n_arenas + 1, sizeof(*b->arenas));
        b->arenas[b->n_arenas++] = (struct ofp_arena){0};
    }
    return &b->arenas[b->n_arenas - 1];
}

struct ofproto_mod *
flow_batch_add(struct flow_batch *b, enum ofproto_mod_type type, uint32_t line)
{
    struct ofp_arena *arena = flow_batch_arena(b);
    struct ofproto_mod *m;
    void *what;
    size_t size = type == OFPROTO_FLOW_MOD    ? sizeof(*m->flow)
                  : type == OFPROTO_GROUP_MOD ? sizeof(*m->group)
                                              : sizeof(*m->meter);

    if (b->n == b->room) {
        b->room = b->room ? 2 * b->room : 16;
        b->mod = grow(b->mod, b->room, sizeof(*b->mod));
        b->line = grow(b->line, b->room, sizeof(*b->line));
    }
    what = ofp_arena_get(arena, size);
    if (!what) {
        b->arenas = grow(b->arenas, b->n_arenas + 1, sizeof(*b->arenas));
        b->arenas[b->n_arenas++] = (struct ofp_arena){0};
        what = ofp_arena_get(&b->arenas[b->n_arenas - 1], size);
        if (!what)
            abort();
    }
    m = &b->mod[b->n];
    *m = (struct ofproto_mod){.type = type};
    if (type == OFPROTO_FLOW_MOD)
        m->flow = what;
    else if (type == OFPROTO_GROUP_MOD)
        m->group = what;
    else
        m->meter = what;
    b->line[b->n++] = line;
    return m;
}

/* --- lines ----------------------------------------------------------------
 */

/* Completes an error about line i. */
static int
blame_line(const struct flow_place *at, uint32_t i, struct err *err)
{
    if (!err)
        return EINVAL;
    snprintf(err->path, sizeof(err->path), "/params/%s/%u", at->member, i);
    return err->code;
}

static int
each_of(const struct flow_place *at, struct json_object *lines,
        uint32_t *index, flow_read_fn *fn, void *arg, struct flow_batch *batch,
        struct err *err)
{
    size_t n = lines ? json_object_array_length(lines) : 0;

    for (size_t i = 0; i < n; i++, ++*index) {
        const char *s =
            json_object_get_string(json_object_array_get_idx(lines, i));
        int error;

        if (*index == FLOW_MAX_LINES)
            return err_set(err, ENOSPC, "/params", NULL, NULL,
                           "more than %d lines in one transaction",
                           FLOW_MAX_LINES);
        error = fn(at, s, *index, arg, batch, err);
        if (error)
            return blame_line(at, *index, err);
    }
    return 0;
}

int
flow_each_line(const struct flow_place *at, struct json_object *params,
               flow_read_fn *fn, void *arg, struct flow_batch *batch,
               struct err *err)
{
    const char *name = json_get_text(params, "transaction", NULL);
    struct json_object *staged = name ? flow_staged_take(name) : NULL;
    uint32_t index = 0;
    int error = 0;

    if (name && !staged)
        return err_set(err, ENOENT, "/params/transaction", name, NULL,
                       "nothing is staged under %.60s (any more)", name);
    error = each_of(at, staged, &index, fn, arg, batch, err);
    if (!error)
        error = each_of(at, json_get(params, at->member), &index, fn, arg,
                        batch, err);
    json_object_put(staged);
    return error;
}

/* --- application ----------------------------------------------------------
 */

static void
nothing(struct dp *dp, void *arg)
{
    (void) dp;
    (void) arg;
}

/* The datapath carries changes out between its turns; asking it for anything
 * lets at least one pass. */
static bool
wait_for(const struct flow_place *at,
         bool (*is)(const struct flow_place *, uint64_t), uint64_t ticket)
{
    uint64_t until = clock_ns() + MAX_WAIT_NS;

    while (!is(at, ticket)) {
        if (clock_ns() > until)
            return false;
        bridge_call(at->bridge, nothing, NULL);
        ofbridge_progress(at->bridge);
    }
    return true;
}

static bool
has_room(const struct flow_place *at, uint64_t ticket)
{
    (void) ticket;
    return ofbridge_has_room(at->of);
}

static bool
is_done(const struct flow_place *at, uint64_t ticket)
{
    return ofbridge_is_done(at->of, ticket);
}

/* An error of the standard, in the numbers of errno. */
static int
code_of(const struct ofp_error *e)
{
    if ((e->type == OFPET_FLOW_MOD_FAILED && e->code == OFPFMFC_TABLE_FULL) ||
        (e->type == OFPET_GROUP_MOD_FAILED &&
         e->code == OFPGMFC_OUT_OF_GROUPS) ||
        (e->type == OFPET_METER_MOD_FAILED &&
         e->code == OFPMMFC_OUT_OF_METERS))
        return ENOSPC;
    if ((e->type == OFPET_GROUP_MOD_FAILED &&
         e->code == OFPGMFC_GROUP_EXISTS) ||
        (e->type == OFPET_METER_MOD_FAILED &&
         e->code == OFPMMFC_METER_EXISTS) ||
        (e->type == OFPET_FLOW_MOD_FAILED && e->code == OFPFMFC_OVERLAP))
        return EEXIST;
    if ((e->type == OFPET_GROUP_MOD_FAILED &&
         e->code == OFPGMFC_UNKNOWN_GROUP) ||
        (e->type == OFPET_METER_MOD_FAILED &&
         e->code == OFPMMFC_UNKNOWN_METER))
        return ENOENT;
    return EINVAL;
}

static int
refused(const struct flow_place *at, const struct flow_batch *b, size_t failed,
        const struct ofp_error *e, struct err *err)
{
    uint32_t i = failed < b->n ? b->line[failed] : 0;
    char name[64];

    err_set(err, code_of(e), NULL, NULL, NULL, "%s (%s)", e->msg,
            ofp_error_name(e->type, e->code, name));
    blame_line(at, i, err);
    return code_of(e);
}

int
flow_batch_put(const struct flow_place *at, struct flow_batch *b, bool atomic,
               struct err *err)
{
    struct ofp_error e = {0};
    size_t failed = 0;

    if (!wait_for(at, has_room, 0))
        return err_set(err, EAGAIN, "/params", NULL, NULL,
                       "the datapath is busy with earlier changes");
    if (b->n && !ofbridge_apply(at->of, b->mod, b->n, atomic, &failed, &e))
        return refused(at, b, failed, &e, err);
    return 0;
}

int
flow_batch_apply(const struct flow_place *at, struct flow_batch *b,
                 bool atomic, struct err *err)
{
    int error = flow_batch_put(at, b, atomic, err);

    if (error)
        return error;
    error = flow_persist_sync(at->daemon, at->bridge->name, err);
    if (error)
        return error;
    if (!wait_for(at, is_done, ofbridge_ticket(at->of)))
        return err_set(err, EAGAIN, "/params", NULL, NULL,
                       "all is in the tables, but the datapath has not "
                       "followed within 2 s");
    return 0;
}

/* --- results --------------------------------------------------------------
 */

void
flow_stats_of(const struct ofproto_flow_info *i, struct ofp_flow_stats *s)
{
    *s = (struct ofp_flow_stats){.table = i->table,
                                 .priority = i->priority,
                                 .flags = i->flags,
                                 .idle_s = i->idle_s,
                                 .hard_s = i->hard_s,
                                 .cookie = i->cookie,
                                 .duration_ns = i->duration_ns,
                                 .n_packets = i->n_packets,
                                 .n_bytes = i->n_bytes,
                                 .match = &i->match,
                                 .inst = i->inst};
}

void
flow_add_text(struct json_object *o, const char *key, struct ofp_buf *b)
{
    json_object_object_add(
        o, key,
        json_object_new_string_len(b->data ? (const char *) b->data : "",
                                   (int) b->n));
    b->n = 0;
}

/* --- staging --------------------------------------------------------------
 */

#define MAX_STAGES   4
#define MAX_STAGE_NS (60 * NS_PER_S)
#define MAX_OCTETS   ((size_t) 64 << 20) /* of one */

static struct stage {
    char name[64];             /* as the client calls it; "": free */
    struct json_object *lines; /* them */
    size_t n_octets;           /* in them */
    uint64_t used_ns;          /* when something was added */
} stages[MAX_STAGES];

static void
stage_clear(struct stage *s)
{
    json_object_put(s->lines);
    *s = (struct stage){.name = ""};
}

static struct stage *
stage_find(const char *name)
{
    for (int i = 0; i < MAX_STAGES; i++)
        if (strcmp(stages[i].name, name) == 0)
            return &stages[i];
    return NULL;
}

/* What nobody has used for a while is of a client that is gone. */
static void
stage_expire(uint64_t now_ns)
{
    for (int i = 0; i < MAX_STAGES; i++)
        if (stages[i].name[0] && now_ns - stages[i].used_ns > MAX_STAGE_NS)
            stage_clear(&stages[i]);
}

int
flow_stage(struct json_object *params, uint64_t now_ns, size_t *n,
           struct err *err)
{
    const char *name = json_get_text(params, "transaction", "");
    struct json_object *given = json_get(params, "lines");
    struct stage *s;

    stage_expire(now_ns);
    s = stage_find(name);
    if (!s && (s = stage_find("")) != NULL) {
        snprintf(s->name, sizeof(s->name), "%s", name);
        s->lines = json_object_new_array();
    }
    if (!s)
        return err_set(err, EBUSY, "/params/transaction", name, NULL,
                       "%d transactions are staged already; one that is not "
                       "used is given up after 60 s",
                       MAX_STAGES);
    s->used_ns = now_ns;
    for (size_t i = 0; given && i < json_object_array_length(given); i++) {
        struct json_object *line = json_object_array_get_idx(given, i);

        s->n_octets += (size_t) json_object_get_string_len(line) + 64;
        json_object_array_add(s->lines, json_object_get(line));
    }
    *n = json_object_array_length(s->lines);
    if (s->n_octets > MAX_OCTETS || *n > FLOW_MAX_LINES) {
        stage_clear(s);
        return err_set(err, ENOSPC, "/params/transaction", name, NULL,
                       "a transaction has at most %d lines and %zu octets; "
                       "what was staged is given up",
                       FLOW_MAX_LINES, MAX_OCTETS);
    }
    return 0;
}

struct json_object *
flow_staged_take(const char *name)
{
    struct stage *s = name[0] ? stage_find(name) : NULL;
    struct json_object *lines = s ? json_object_get(s->lines) : NULL;

    if (s)
        stage_clear(s);
    return lines;
}
