/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods on groups, meters and tables of OpenFlow.  Control thread.
 */
#include "methods.h"

#include "base/clock.h"
#include "flow_text.h"
#include "json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAX_LISTED 5000
#define MAX_OCTETS ((size_t) 2 << 20) /* of a page, about */

/* --- changes --------------------------------------------------------------
 */

struct how {
    unsigned command; /* of groups or meters */
    bool persist;     /* what is added is stored */
};

static int
read_group(const struct flow_place *at, const char *line, uint32_t i,
           void *arg, struct flow_batch *b, struct err *err)
{
    const struct how *how = arg;
    struct ofproto_mod *m = flow_batch_add(b, OFPROTO_GROUP_MOD, i);

    m->persist = how->persist && how->command != OFPGC_DELETE;
    return ofp_text_group(line, (enum ofp_group_command) how->command,
                          &at->names, flow_batch_arena(b),
                          (struct ofp_group_mod *) m->group, err);
}

static int
read_meter(const struct flow_place *at, const char *line, uint32_t i,
           void *arg, struct flow_batch *b, struct err *err)
{
    const struct how *how = arg;
    struct ofproto_mod *m = flow_batch_add(b, OFPROTO_METER_MOD, i);

    (void) at;
    m->persist = how->persist && how->command != OFPMC_DELETE;
    return ofp_text_meter(line, (enum ofp_meter_command) how->command,
                          (struct ofp_meter_mod *) m->meter, err);
}

static int
run(void *ctx, struct json_object *params, const char *member,
    flow_read_fn *read, unsigned command, struct json_object **result,
    struct err *err)
{
    struct how how = {command, json_get_bool(params, "persist", false)};
    struct flow_batch b = {0};
    struct flow_place at;
    int error = flow_place_find(ctx, json_get_text(params, "bridge", ""),
                                member, &at, err);

    if (!error)
        error = flow_each_line(&at, params, read, &how, &b, err);
    if (!error)
        error = flow_batch_apply(&at, &b,
                                 json_get_bool(params, "atomic", false), err);
    if (!error) {
        *result = json_object_new_object();
        json_add_uint(*result, "done", b.n);
    }
    flow_batch_free(&b);
    return error;
}

static int
group_add(void *ctx, struct rpc_client *client, struct json_object *params,
          struct json_object **result, struct err *err)
{
    (void) client;
    return run(ctx, params, "groups", read_group, OFPGC_ADD, result, err);
}

static int
group_mod(void *ctx, struct rpc_client *client, struct json_object *params,
          struct json_object **result, struct err *err)
{
    (void) client;
    return run(ctx, params, "groups", read_group,
               json_get_bool(params, "may_create", false) ? OFPGC_ADD_OR_MODIFY
                                                          : OFPGC_MODIFY,
               result, err);
}

static int
group_del(void *ctx, struct rpc_client *client, struct json_object *params,
          struct json_object **result, struct err *err)
{
    (void) client;
    return run(ctx, params, "groups", read_group, OFPGC_DELETE, result, err);
}

static int
meter_add(void *ctx, struct rpc_client *client, struct json_object *params,
          struct json_object **result, struct err *err)
{
    (void) client;
    return run(ctx, params, "meters", read_meter, OFPMC_ADD, result, err);
}

static int
meter_mod(void *ctx, struct rpc_client *client, struct json_object *params,
          struct json_object **result, struct err *err)
{
    (void) client;
    return run(ctx, params, "meters", read_meter, OFPMC_MODIFY, result, err);
}

static int
meter_del(void *ctx, struct rpc_client *client, struct json_object *params,
          struct json_object **result, struct err *err)
{
    (void) client;
    return run(ctx, params, "meters", read_meter, OFPMC_DELETE, result, err);
}

/* --- dumps ----------------------------------------------------------------
 */

static struct json_object *
pair(const struct flow_group_counters *c)
{
    struct json_object *o = json_object_new_object();

    json_add_uint(o, "packets", counter_get(&c->n_packets));
    json_add_uint(o, "bytes", counter_get(&c->n_bytes));
    return o;
}

static struct json_object *
group_object(const struct ofproto_group_info *g, const struct ofp_names *names)
{
    struct json_object *o = json_object_new_object();
    struct json_object *a = json_object_new_array();
    struct ofp_buf b = {0};

    json_add_uint(o, "id", g->group->id);
    ofp_text_put_group(&b, g->group, names);
    flow_add_text(o, "group", &b);
    ofp_buf_free(&b);
    json_add_bool(o, "persist", g->persist);
    json_add_uint(o, "references", g->ref_count);
    json_add_uint(o, "duration_ms", g->duration_ns / NS_PER_MS);
    json_add_uint(o, "packets", g->n_packets);
    json_add_uint(o, "bytes", g->n_bytes);
    for (uint32_t i = 0; i < g->group->n_buckets; i++)
        json_object_array_add(a, pair(flow_bucket_counters(g->counters, i)));
    json_object_object_add(o, "buckets", a);
    return o;
}

static struct json_object *
meter_object(const struct ofproto_meter_info *m)
{
    struct json_object *o = json_object_new_object();
    struct json_object *a = json_object_new_array();
    struct ofp_buf b = {0};

    json_add_uint(o, "id", m->meter->id);
    ofp_text_put_meter(&b, m->meter);
    flow_add_text(o, "meter", &b);
    ofp_buf_free(&b);
    json_add_bool(o, "persist", m->persist);
    json_add_uint(o, "references", m->flow_count);
    json_add_uint(o, "duration_ms", m->duration_ns / NS_PER_MS);
    json_add_uint(o, "packets", m->n_packets);
    json_add_uint(o, "bytes", m->n_bytes);
    for (uint32_t i = 0; i < m->meter->n_bands; i++)
        json_object_array_add(a, pair(flow_band_counters(m->counters, i)));
    json_object_object_add(o, "bands", a);
    return o;
}

/* The next one behind `after`; null: none.  *size: about how much JSON. */
typedef struct json_object *next_fn(const struct flow_place *, int64_t *after,
                                    bool names, size_t *size);

static struct json_object *
next_group(const struct flow_place *at, int64_t *after, bool names,
           size_t *size)
{
    struct ofproto_group_info g;

    if (!ofproto_group_after(at->books, *after, clock_ns(), &g))
        return NULL;
    *after = g.group->id;
    *size = 200;
    for (uint32_t i = 0; i < g.group->n_buckets; i++)
        *size += 100 + 60 * (size_t) g.group->bucket[i].actions.n;
    return group_object(&g, names ? &at->names : NULL);
}

static struct json_object *
next_meter(const struct flow_place *at, int64_t *after, bool names,
           size_t *size)
{
    struct ofproto_meter_info m;

    (void) names;
    if (!ofproto_meter_after(at->books, *after, clock_ns(), &m))
        return NULL;
    *after = m.meter->id;
    *size = 200 + 100 * (size_t) m.meter->n_bands;
    return meter_object(&m);
}

static int
dump(void *ctx, struct json_object *params, const char *member, next_fn *next,
     struct json_object **result, struct err *err)
{
    int64_t only = json_get_int(params, "id", -1);
    int64_t after = only >= 0 ? only - 1 : json_get_int(params, "after", -1);
    int64_t limit = only >= 0 ? 1 : json_get_int(params, "limit", 1000);
    bool names = json_get_bool(params, "names", true);
    struct json_object *a, *o = NULL;
    size_t size = 0, n_octets = 0;
    struct flow_place at;
    int error = flow_place_find(ctx, json_get_text(params, "bridge", ""), NULL,
                                &at, err);

    if (error)
        return error;
    a = json_object_new_array();
    for (; limit > 0 && n_octets < MAX_OCTETS &&
           (o = next(&at, &after, names, &size));
         limit--, n_octets += size) {
        if (only >= 0 && after != only) {
            json_object_put(o);
            break;
        }
        json_object_array_add(a, o);
    }
    *result = json_object_new_object();
    json_object_object_add(*result, member, a);
    json_object_object_add(*result, "next",
                           o && only < 0 ? json_object_new_int64(after)
                                         : NULL);
    return 0;
}

static int
group_dump(void *ctx, struct rpc_client *client, struct json_object *params,
           struct json_object **result, struct err *err)
{
    (void) client;
    return dump(ctx, params, "groups", next_group, result, err);
}

static int
meter_dump(void *ctx, struct rpc_client *client, struct json_object *params,
           struct json_object **result, struct err *err)
{
    (void) client;
    return dump(ctx, params, "meters", next_meter, result, err);
}

static int
table_dump(void *ctx, struct rpc_client *client, struct json_object *params,
           struct json_object **result, struct err *err)
{
    bool all = json_get_bool(params, "all", false);
    struct flow_place at;
    int error = flow_place_find(ctx, json_get_text(params, "bridge", ""), NULL,
                                &at, err);

    (void) client;
    if (error)
        return error;
    *result = json_object_new_array();
    for (unsigned t = 0; t < OFP_N_TABLES; t++) {
        struct ofproto_table_info i;
        struct json_object *o;

        ofproto_table(at.books, (uint8_t) t, &i);
        if (!all && t > 0 && i.n_active == 0 && i.n_lookups == 0)
            continue;
        o = json_object_new_object();
        json_add_uint(o, "table", t);
        json_add_uint(o, "flows", i.n_active);
        json_add_uint(o, "max_flows", i.max_entries);
        json_add_uint(o, "lookups", i.n_lookups);
        json_add_uint(o, "matched", i.n_matched);
        json_object_array_add(*result, o);
    }
    return 0;
}

/* --- tables ---------------------------------------------------------------
 */

static const struct rpc_param line = {.type = RPC_T_STRING,
                                      .min = 0,
                                      .max = OFP_TEXT_MAX - 1};

#define PARAM_LINES(name_, doc_)                                \
    {                                                           \
        .name = (name_), .type = RPC_T_ARRAY, .required = true, \
        .max = 100000, .items = &line, .doc = doc_,             \
    }
#define COMMON_PARAMS                                                     \
    PARAM_BOOL("persist", "Whether what is added or modified comes back " \
                          "after a restart."),                            \
        PARAM_BOOL("atomic",                                              \
                   "Whether no frame may see a part of the changes."),    \
        PARAM_END

static const struct rpc_param group_params[] = {
    PARAM_NAME("bridge", true, "The bridge."),
    PARAM_LINES("groups", "Groups in the syntax of ovs-ofctl, "
                          "\"group_id=N,type=TYPE,bucket=...\"."),
    COMMON_PARAMS,
};
static const struct rpc_param group_mod_params[] = {
    PARAM_NAME("bridge", true, "The bridge."),
    PARAM_LINES("groups", "Groups in the syntax of ovs-ofctl, "
                          "\"group_id=N,type=TYPE,bucket=...\"."),
    PARAM_BOOL("may_create", "Whether groups that are not there are added."),
    COMMON_PARAMS,
};
static const struct rpc_param group_del_params[] = {
    PARAM_NAME("bridge", true, "The bridge."),
    PARAM_LINES("groups", "\"group_id=N\", or \"all\"."),
    PARAM_END,
};
static const struct rpc_param meter_params[] = {
    PARAM_NAME("bridge", true, "The bridge."),
    PARAM_LINES("meters",
                "Meters in the syntax of ovs-ofctl, "
                "\"meter=N,kbps,burst,stats,bands=type=drop,rate=N\"."),
    COMMON_PARAMS,
};
static const struct rpc_param meter_del_params[] = {
    PARAM_NAME("bridge", true, "The bridge."),
    PARAM_LINES("meters", "\"meter=N\", or \"all\"."),
    PARAM_END,
};

#define DUMP_PARAMS                                                   \
    PARAM_NAME("bridge", true, "The bridge."),                        \
        PARAM_INT("id", 0, UINT32_MAX, RPC_U_NONE, "Only this one."), \
        PARAM_BOOL("names", "Whether ports have names in the answer " \
                            "(default) or numbers."),                 \
        PARAM_INT("limit", 1, MAX_LISTED, RPC_U_NONE,                 \
                  "Most of them to answer; 1000 when not given."),    \
        PARAM_INT("after", 0, UINT32_MAX, RPC_U_NONE,                 \
                  "next of the answer before: what follows it."),     \
        PARAM_END

static const struct rpc_param dump_params[] = {DUMP_PARAMS};

static const struct rpc_param table_params[] = {
    PARAM_NAME("bridge", true, "The bridge."),
    PARAM_BOOL("all", "Whether tables without flows are listed too."),
    PARAM_END,
};

#define DONE "An object: done (how many took effect)."
#define ALL_OR_NONE                                                     \
    "  All of them take effect, and the datapath follows when this is " \
    "answered, or none does."

const struct rpc_method methods_group[] = {
    {
        .name = "group.add",
        .doc = "Adds groups." ALL_OR_NONE,
        .params = group_params,
        .result = DONE,
        .example =
            "{\"bridge\": \"br0\", \"groups\": "
            "[\"group_id=1,type=select,bucket=weight:1,actions=output:1\"]}",
        .changes = true,
        .handler = group_add,
    },
    {
        .name = "group.mod",
        .doc = "Gives groups other buckets." ALL_OR_NONE,
        .params = group_mod_params,
        .result = DONE,
        .example = "{\"bridge\": \"br0\", \"groups\": "
                   "[\"group_id=1,type=all,bucket=actions=output:2\"]}",
        .changes = true,
        .handler = group_mod,
    },
    {
        .name = "group.del",
        .doc = "Deletes groups, and the flows that name them." ALL_OR_NONE,
        .params = group_del_params,
        .result = DONE,
        .example = "{\"bridge\": \"br0\", \"groups\": [\"group_id=1\"]}",
        .changes = true,
        .handler = group_del,
    },
    {
        .name = "group.dump",
        .doc = "Shows groups and their counters, by number, a page at a time.",
        .params = dump_params,
        .result = "An object: groups (array of id, group in the syntax of "
                  "ovs-ofctl, persist, references, duration_ms, packets, "
                  "bytes, buckets: array of packets, bytes), next (for "
                  "`after`; null: this is all).",
        .example = "{\"bridge\": \"br0\"}",
        .handler = group_dump,
    },
    {
        .name = "meter.add",
        .doc = "Adds meters." ALL_OR_NONE,
        .params = meter_params,
        .result = DONE,
        .example = "{\"bridge\": \"br0\", \"meters\": "
                   "[\"meter=1,kbps,bands=type=drop,rate=1000\"]}",
        .changes = true,
        .handler = meter_add,
    },
    {
        .name = "meter.mod",
        .doc = "Gives meters other bands." ALL_OR_NONE,
        .params = meter_params,
        .result = DONE,
        .example = "{\"bridge\": \"br0\", \"meters\": "
                   "[\"meter=1,pktps,bands=type=drop,rate=10\"]}",
        .changes = true,
        .handler = meter_mod,
    },
    {
        .name = "meter.del",
        .doc = "Deletes meters, and the flows that name them." ALL_OR_NONE,
        .params = meter_del_params,
        .result = DONE,
        .example = "{\"bridge\": \"br0\", \"meters\": [\"meter=1\"]}",
        .changes = true,
        .handler = meter_del,
    },
    {
        .name = "meter.dump",
        .doc = "Shows meters and their counters, by number, a page at a time.",
        .params = dump_params,
        .result = "An object: meters (array of id, meter in the syntax of "
                  "ovs-ofctl, persist, references, duration_ms, packets, "
                  "bytes, bands: array of packets, bytes), next (for "
                  "`after`; null: this is all).",
        .example = "{\"bridge\": \"br0\"}",
        .handler = meter_dump,
    },
    {
        .name = "table.dump",
        .doc = "Shows the flow tables that have flows, or had frames, and "
               "table 0.",
        .params = table_params,
        .result = "An array of objects: table, flows, max_flows, lookups, "
                  "matched.",
        .example = "{\"bridge\": \"br0\"}",
        .handler = table_dump,
    },
    {.name = NULL},
};
