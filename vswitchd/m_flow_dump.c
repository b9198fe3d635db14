/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods that show flows, compare them with a list, and make them that list:
 * flow.dump, flow.diff, flow.replace.  Control thread.
 */
#include "methods.h"

#include "base/clock.h"
#include "flow_text.h"
#include "json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LISTED 5000
#define MAX_TEXT   ((size_t) 1 << 20) /* octets of matches and actions */

/* --- flow.dump ------------------------------------------------------------
 */

static void
add_flags(struct json_object *o, uint16_t flags)
{
    static const char *const words[] = {"send_flow_rem", "check_overlap",
                                        "reset_counts", "no_packet_counts",
                                        "no_byte_counts"};
    struct json_object *a = json_object_new_array();

    for (unsigned i = 0; i < 5; i++)
        if (flags >> i & 1)
            json_object_array_add(a, json_object_new_string(words[i]));
    json_object_object_add(o, "flags", a);
}

/* Counts that are not kept are absent. */
static void
add_count(struct json_object *o, const char *key, uint64_t n)
{
    if (n != UINT64_MAX)
        json_add_uint(o, key, n);
}

static struct json_object *
flow_object(const struct ofproto_flow_info *i, const struct ofp_names *names,
            size_t *n_text)
{
    struct json_object *o = json_object_new_object();
    struct ofp_buf b = {0};
    char cookie[24];

    snprintf(cookie, sizeof(cookie), "0x%" PRIx64, i->cookie);
    json_add_uint(o, "table", i->table);
    json_add_uint(o, "priority", i->priority);
    json_add_text(o, "cookie", cookie);
    json_add_uint(o, "idle_timeout_s", i->idle_s);
    json_add_uint(o, "hard_timeout_s", i->hard_s);
    add_flags(o, i->flags);
    json_add_bool(o, "persist", i->persist);
    json_add_uint(o, "duration_ms", i->duration_ns / NS_PER_MS);
    add_count(o, "packets", i->n_packets);
    add_count(o, "bytes", i->n_bytes);
    ofp_text_put_match(&b, &i->match, 0x8000, names);
    *n_text += b.n;
    flow_add_text(o, "match", &b);
    ofp_text_put_instructions(&b, i->inst, names);
    *n_text += b.n;
    flow_add_text(o, "actions", &b);
    ofp_buf_free(&b);
    return o;
}

/* Where a page begins: "TABLE.SEQ" of the last one. */
static int
read_after(struct json_object *params, unsigned *table, uint64_t *seq,
           struct err *err)
{
    const char *text = json_get_text(params, "after", NULL);

    *table = 0;
    *seq = 0;
    if (!text || (sscanf(text, "%u.%" SCNu64, table, seq) == 2 &&
                  *table < OFP_N_TABLES))
        return 0;
    return err_set(err, EINVAL, "/params/after", text, "next of an answer",
                   "after: \"%.40s\" is not what an answer had as next", text);
}

struct page {
    struct ofproto_filter f; /* what is wanted */
    struct ofp_flow_mod by;  /* the filter as it was written */
    unsigned table;          /* where to begin */
    uint64_t seq;            /* and behind what */
    int64_t limit;           /* flows at most */
    bool names;              /* of ports */
};

static int
read_page(const struct flow_place *at, struct json_object *params,
          struct ofp_arena *arena, struct page *p, struct err *err)
{
    int error = ofp_text_flow(json_get_text(params, "match", ""), OFPFC_DELETE,
                              &at->names, arena, &p->by, err);

    if (error) {
        snprintf(err->path, sizeof(err->path), "/params/match");
        return error;
    }
    p->f =
        (struct ofproto_filter){.table = p->by.table,
                                .out_port = p->by.out_port,
                                .out_group = p->by.out_group,
                                .cookie = p->by.cookie,
                                .cookie_mask = p->by.cookie_mask,
                                .match = &p->by.match,
                                .persist_only =
                                    json_get_bool(params, "persist", false)};
    p->limit = json_get_int(params, "limit", 1000);
    p->names = json_get_bool(params, "names", true);
    return read_after(params, &p->table, &p->seq, err);
}

/* Fills the array; the next page, or null. */
static struct json_object *
list_page(const struct flow_place *at, struct page *p, struct json_object *a)
{
    unsigned first = p->by.table == OFPTT_ALL ? p->table : p->by.table;
    struct ofproto_flow_info info = {0};
    struct ofproto_walk walk;
    enum ofproto_step step;
    uint64_t now_ns = clock_ns();
    char next[40] = "";
    size_t n_text = 0;

    if (!ofproto_walk_flows(at->books, &walk, (uint8_t) first, NULL))
        return NULL;
    if (p->by.table == OFPTT_ALL)
        walk.last_table = OFP_N_TABLES - 1;
    ofproto_walk_after(at->books, &walk, p->seq);
    while ((step = ofproto_next_flow(at->books, &walk, &p->f, now_ns,
                                     &info)) != OFPROTO_END) {
        if (step == OFPROTO_AGAIN)
            continue;
        if (next[0] && (p->limit == 0 || n_text > MAX_TEXT))
            break; /* there is one more than the page takes */
        json_object_array_add(a,
                              flow_object(&info, p->names ? &at->names : NULL,
                                          &n_text));
        p->limit--;
        snprintf(next, sizeof(next), "%u.%" PRIu64, info.table, info.seq);
    }
    ofproto_walk_end(at->books, &walk);
    return step == OFPROTO_END ? NULL : json_object_new_string(next);
}

static int
flow_dump(void *ctx, struct rpc_client *client, struct json_object *params,
          struct json_object **result, struct err *err)
{
    struct ofp_arena arena = {0};
    struct flow_place at;
    struct page p;
    struct json_object *a, *next;
    int error = flow_place_find(ctx, json_get_text(params, "bridge", ""), NULL,
                                &at, err);

    (void) client;
    if (!error)
        error = read_page(&at, params, &arena, &p, err);
    ofp_arena_free(&arena);
    if (error)
        return error;
    a = json_object_new_array();
    next = list_page(&at, &p, a);
    *result = json_object_new_object();
    json_object_object_add(*result, "flows", a);
    json_object_object_add(*result, "next", next);
    json_add_uint(*result, "total", ofproto_n_flows(at.books));
    return 0;
}

/* --- flow.diff, flow.replace ----------------------------------------------
 */

/* Flows that are wanted, found by table, priority and match. */
struct wanted {
    const struct flow_batch *batch; /* them */
    uint32_t *slot;                 /* hash: index + 1, or 0 */
    bool *seen;                     /* of each: it is there, and the same */
    size_t n_slots;                 /* a power of two */
};

static const struct ofp_flow_mod *
flow_at(const struct wanted *w, size_t i)
{
    return w->batch->mod[i].flow;
}

static uint64_t
hash_of(uint8_t table, uint16_t priority, const struct ofp_match *m)
{
    uint64_t h = (uint64_t) table << 16 | priority, words[OFP_KEY_WORDS];

    memcpy(words, &m->value, sizeof(words));
    for (size_t i = 0; i < OFP_KEY_WORDS; i++)
        h = (h ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15) + (h >> 29);
    memcpy(words, &m->mask, sizeof(words));
    for (size_t i = 0; i < OFP_KEY_WORDS; i++)
        h = (h ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15) + (h >> 29);
    return h ^ h >> 32;
}

/* The place of a flow: its own, or that where it would go. */
static uint32_t *
place_of(const struct wanted *w, uint8_t table, uint16_t priority,
         const struct ofp_match *m)
{
    size_t at = (size_t) hash_of(table, priority, m) & (w->n_slots - 1);

    for (; w->slot[at]; at = (at + 1) & (w->n_slots - 1)) {
        const struct ofp_flow_mod *f = flow_at(w, w->slot[at] - 1);

        if (f->table == table && f->priority == priority &&
            f->match.present == m->present &&
            memcmp(&f->match.value, &m->value, sizeof(m->value)) == 0 &&
            memcmp(&f->match.mask, &m->mask, sizeof(m->mask)) == 0)
            break;
    }
    return &w->slot[at];
}

/* The last of those that are the same wins, as if they were added in order;
 * the others are `seen`. */
static void
wanted_init(struct wanted *w, const struct flow_batch *batch)
{
    w->batch = batch;
    w->n_slots = 16;
    while (w->n_slots < 2 * batch->n + 1)
        w->n_slots *= 2;
    w->slot = calloc(w->n_slots, sizeof(*w->slot));
    w->seen = calloc(batch->n + 1, sizeof(*w->seen));
    if (!w->slot || !w->seen)
        abort();
    for (size_t i = 0; i < batch->n; i++) {
        const struct ofp_flow_mod *f = batch->mod[i].flow;
        uint32_t *slot = place_of(w, f->table, f->priority, &f->match);

        if (*slot)
            w->seen[*slot - 1] = true;
        *slot = (uint32_t) i + 1;
    }
}

static void
wanted_free(struct wanted *w)
{
    free(w->slot);
    free(w->seen);
}

static bool
is_same(const struct ofp_flow_mod *f, const struct ofproto_flow_info *i)
{
    return f->cookie == i->cookie && f->idle_s == i->idle_s &&
           f->hard_s == i->hard_s && f->flags == i->flags &&
           ofp_instructions_equal(&f->inst, i->inst);
}

/* What is done with a flow that is not wanted as it is (there), or not there
 * as it is wanted. */
typedef void diff_fn(void *arg, const struct ofproto_flow_info *there,
                     const struct ofproto_mod *wanted, uint32_t line);

static void
diff(const struct flow_place *at, struct wanted *w, bool persist, diff_fn *fn,
     void *arg)
{
    struct ofproto_flow_info info;
    struct ofproto_walk walk;
    enum ofproto_step step;

    if (!ofproto_walk_flows(at->books, &walk, OFPTT_ALL, NULL))
        return;
    while ((step = ofproto_next_flow(at->books, &walk, NULL, clock_ns(),
                                     &info)) != OFPROTO_END) {
        uint32_t *slot;

        if (step == OFPROTO_AGAIN)
            continue;
        slot = place_of(w, info.table, info.priority, &info.match);
        if (*slot && is_same(flow_at(w, *slot - 1), &info) &&
            (!persist || info.persist))
            w->seen[*slot - 1] = true;
        else
            fn(arg, &info, NULL, 0);
    }
    ofproto_walk_end(at->books, &walk);
    for (size_t i = 0; i < w->batch->n; i++)
        if (!w->seen[i])
            fn(arg, NULL, &w->batch->mod[i], w->batch->line[i]);
}

static int
read_wanted(const struct flow_place *at, const char *line, uint32_t i,
            void *arg, struct flow_batch *b, struct err *err)
{
    struct ofproto_mod *m = flow_batch_add(b, OFPROTO_FLOW_MOD, i);
    enum ofp_flow_command command = OFPFC_ADD;

    line = ofp_text_command(line, &command);
    if (command != OFPFC_ADD)
        return err_set(err, EINVAL, NULL, line, "flows to add",
                       "a list of all flows has no modify or delete");
    m->persist = *(const bool *) arg;
    return ofp_text_flow(line, OFPFC_ADD, &at->names, flow_batch_arena(b),
                         (struct ofp_flow_mod *) m->flow, err);
}

struct diff_list {
    const struct flow_place *at; /* for names */
    struct json_object *lines;   /* "-..." and "+..." */
    struct ofp_buf b;            /* for one line */
    size_t n;                    /* lines that there are */
    size_t n_text;               /* octets of those that are listed */
};

static void
list_diff(void *arg, const struct ofproto_flow_info *there,
          const struct ofproto_mod *wanted, uint32_t line)
{
    struct diff_list *l = arg;
    struct ofp_flow_stats s;

    (void) line;
    l->n++;
    if (l->n_text > MAX_TEXT)
        return;
    if (there)
        flow_stats_of(there, &s);
    else
        s = (struct ofp_flow_stats){.table = wanted->flow->table,
                                    .priority = wanted->flow->priority,
                                    .flags = wanted->flow->flags,
                                    .idle_s = wanted->flow->idle_s,
                                    .hard_s = wanted->flow->hard_s,
                                    .cookie = wanted->flow->cookie,
                                    .match = &wanted->flow->match,
                                    .inst = &wanted->flow->inst};
    ofp_text_printf(&l->b, there ? "-" : "+");
    ofp_text_put_flow_file(&l->b, &s, &l->at->names);
    l->n_text += l->b.n + 1;
    json_object_array_add(l->lines,
                          json_object_new_string_len((char *) l->b.data,
                                                     (int) l->b.n));
    l->b.n = 0;
}

/* Deletions go first, in a batch of their own: what takes the place of a flow
 * replaces it by being added. */
struct change_list {
    struct flow_batch *out; /* modifications */
    const struct wanted *w; /* what is wanted */
    size_t n_added;         /* flows */
    size_t n_deleted;       /* flows */
};

static void
add_change(void *arg, const struct ofproto_flow_info *there,
           const struct ofproto_mod *wanted, uint32_t line)
{
    struct change_list *l = arg;
    struct ofproto_mod *m;
    struct ofp_flow_mod *f;

    if (there && *place_of(l->w, there->table, there->priority, &there->match))
        return; /* it is replaced */
    m = flow_batch_add(l->out, OFPROTO_FLOW_MOD, line);
    f = (struct ofp_flow_mod *) m->flow;
    if (wanted) {
        *f = *wanted->flow;
        m->persist = wanted->persist;
        l->n_added++;
        return;
    }
    *f = (struct ofp_flow_mod){.command = OFPFC_DELETE_STRICT,
                               .version = OFP_V13,
                               .table = there->table,
                               .priority = there->priority,
                               .buffer_id = OFP_NO_BUFFER,
                               .out_port = OFPP_ANY,
                               .out_group = OFPG_ANY,
                               .match = there->match};
    l->n_deleted++;
}

static int
read_all(void *ctx, struct json_object *params, struct flow_place *at,
         struct flow_batch *b, bool *persist, struct err *err)
{
    int error = flow_place_find(ctx, json_get_text(params, "bridge", ""),
                                "flows", at, err);

    *persist = json_get_bool(params, "persist", false);
    return error ? error
                 : flow_each_line(at, params, read_wanted, persist, b, err);
}

static int
flow_diff(void *ctx, struct rpc_client *client, struct json_object *params,
          struct json_object **result, struct err *err)
{
    struct diff_list l = {0};
    struct flow_batch b = {0};
    struct flow_place at;
    struct wanted w;
    bool persist;
    int error = read_all(ctx, params, &at, &b, &persist, err);

    (void) client;
    if (!error) {
        l.at = &at;
        l.lines = json_object_new_array();
        wanted_init(&w, &b);
        diff(&at, &w, false, list_diff, &l);
        wanted_free(&w);
        *result = json_object_new_object();
        json_object_object_add(*result, "lines", l.lines);
        json_add_uint(*result, "differences", l.n);
    }
    ofp_buf_free(&l.b);
    flow_batch_free(&b);
    return error;
}

static int
flow_replace(void *ctx, struct rpc_client *client, struct json_object *params,
             struct json_object **result, struct err *err)
{
    struct flow_batch b = {0}, changes = {0};
    struct change_list l = {.out = &changes};
    struct flow_place at;
    struct wanted w;
    bool persist;
    int error = read_all(ctx, params, &at, &b, &persist, err);

    (void) client;
    if (!error) {
        wanted_init(&w, &b);
        l.w = &w;
        diff(&at, &w, persist, add_change, &l);
        wanted_free(&w);
        error = flow_batch_apply(&at, &changes, true, err);
    }
    if (!error) {
        *result = json_object_new_object();
        json_add_uint(*result, "added", l.n_added);
        json_add_uint(*result, "deleted", l.n_deleted);
        json_add_uint(*result, "same", ofproto_n_flows(at.books) - l.n_added);
    }
    flow_batch_free(&changes);
    flow_batch_free(&b);
    return error;
}

static const struct rpc_param line = {.type = RPC_T_STRING,
                                      .min = 0,
                                      .max = OFP_TEXT_MAX - 1};

static const struct rpc_param dump_params[] = {
    PARAM_NAME("bridge", true, "The bridge."),
    {.name = "match",
     .type = RPC_T_STRING,
     .max = OFP_TEXT_MAX - 1,
     .doc = "Only flows whose match says at least this; also table, "
            "cookie=VALUE/MASK, out_port, out_group."},
    PARAM_BOOL("persist", "Whether only those that come back after a restart "
                          "are meant."),
    PARAM_BOOL("names", "Whether ports have names in the answer (default) or "
                        "numbers."),
    PARAM_INT("limit", 1, MAX_LISTED, RPC_U_NONE,
              "Most flows to answer; 1000 when not given."),
    {.name = "after",
     .type = RPC_T_STRING,
     .min = 1,
     .max = 39,
     .doc = "next of the answer before: what follows it."},
    PARAM_END,
};

static const struct rpc_param replace_params[] = {
    PARAM_NAME("bridge", true, "The bridge."),
    {.name = "flows",
     .type = RPC_T_ARRAY,
     .max = 100000,
     .items = &line,
     .doc = "All flows that there shall be."},
    PARAM_BOOL("persist", "Whether they come back after a restart."),
    {.name = "transaction",
     .type = RPC_T_STRING,
     .min = 1,
     .max = 63,
     .doc = "Name of lines staged before (flow.stage): they come first."},
    PARAM_END,
};

static const struct rpc_param diff_params[] = {
    PARAM_NAME("bridge", true, "The bridge."),
    {.name = "flows",
     .type = RPC_T_ARRAY,
     .max = 100000,
     .items = &line,
     .doc = "All flows that there shall be."},
    {.name = "transaction",
     .type = RPC_T_STRING,
     .min = 1,
     .max = 63,
     .doc = "Name of lines staged before (flow.stage): they come first."},
    PARAM_END,
};

const struct rpc_method methods_flow_dump[] = {
    {
        .name = "flow.dump",
        .doc = "Shows flows and their counters, a page at a time.",
        .params = dump_params,
        .result = "An object: flows (array of table, priority, cookie, "
                  "idle_timeout_s, hard_timeout_s, flags, persist, "
                  "duration_ms, packets and bytes when they are counted, "
                  "match, actions), next (for `after`; null: this is all), "
                  "total (flows of all tables).",
        .example = "{\"bridge\": \"br0\", \"match\": \"table=0,tcp\"}",
        .handler = flow_dump,
    },
    {
        .name = "flow.diff",
        .doc = "Compares the flows with a list.",
        .params = diff_params,
        .result = "An object: lines (array; \"-\" and a flow that is not in "
                  "the list, \"+\" and one that is only there; about 1 MiB "
                  "at most), differences (how many there are).",
        .example = "{\"bridge\": \"br0\", \"flows\": [\"actions=NORMAL\"]}",
        .handler = flow_diff,
    },
    {
        .name = "flow.replace",
        .doc = "Makes the flows those of a list: no frame sees a part of the "
               "change, and flows that stay keep their counters.",
        .params = replace_params,
        .result = "An object: added (new or changed), deleted, same.",
        .example = "{\"bridge\": \"br0\", \"flows\": [\"actions=NORMAL\"]}",
        .changes = true,
        .handler = flow_replace,
    },
    {.name = NULL},
};
