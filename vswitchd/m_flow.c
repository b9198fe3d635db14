/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods that change flows: in the syntax of ovs-ofctl, many lines at once,
 * all of them or none.  Control thread.
 */
#include "methods.h"

#include "base/clock.h"
#include "flow_text.h"
#include "json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What a method does with its lines. */
struct how {
    enum ofp_flow_command command; /* unless the line says another */
    bool persist;                  /* what is added is stored */
};

static int
read_flow(const struct flow_place *at, const char *line, uint32_t i, void *arg,
          struct flow_batch *b, struct err *err)
{
    const struct how *how = arg;
    struct ofproto_mod *m = flow_batch_add(b, OFPROTO_FLOW_MOD, i);
    struct ofp_flow_mod *f = (struct ofp_flow_mod *) m->flow;
    enum ofp_flow_command command = how->command;

    line = ofp_text_command(line, &command);
    m->persist = how->persist && command != OFPFC_DELETE &&
                 command != OFPFC_DELETE_STRICT;
    return ofp_text_flow(line, command, &at->names, flow_batch_arena(b), f,
                         err);
}

/* "group add ...", "meter mod ...": the noun and the verb of a line of a
 * bundle; *rest: what follows.  A line without them is a flow. */
static const char *
take_word(const char *s, char *word, size_t size)
{
    size_t n = strcspn(s, " \t");

    snprintf(word, size, "%.*s", (int) (n < size ? n : size - 1), s);
    s += n;
    return s + strspn(s, " \t");
}

static int
no_verb(const char *noun, const char *verb, const char *allowed,
        struct err *err)
{
    return err_set(err, EINVAL, NULL, verb, allowed,
                   "%s: \"%s\" is none of %s", noun, verb, allowed);
}

static int
read_group(const struct flow_place *at, const char *verb, const char *rest,
           uint32_t i, bool persist, struct flow_batch *b, struct err *err)
{
    static const struct {
        const char *verb;               /* as written */
        enum ofp_group_command command; /* what it is */
    } verbs[] = {{"add", OFPGC_ADD},    {"modify", OFPGC_MODIFY},
                 {"mod", OFPGC_MODIFY}, {"delete", OFPGC_DELETE},
                 {"del", OFPGC_DELETE}, {"add_or_mod", OFPGC_ADD_OR_MODIFY}};

    for (size_t k = 0; k < sizeof(verbs) / sizeof(verbs[0]); k++)
        if (strcmp(verb, verbs[k].verb) == 0) {
            struct ofproto_mod *m = flow_batch_add(b, OFPROTO_GROUP_MOD, i);

            m->persist = persist && verbs[k].command != OFPGC_DELETE;
            return ofp_text_group(rest, verbs[k].command, &at->names,
                                  flow_batch_arena(b),
                                  (struct ofp_group_mod *) m->group, err);
        }
    return no_verb("group", verb, "add, modify, delete, add_or_mod", err);
}

static int
read_meter(const char *verb, const char *rest, uint32_t i, bool persist,
           struct flow_batch *b, struct err *err)
{
    static const struct {
        const char *verb;               /* as written */
        enum ofp_meter_command command; /* what it is */
    } verbs[] = {{"add", OFPMC_ADD},
                 {"modify", OFPMC_MODIFY},
                 {"mod", OFPMC_MODIFY},
                 {"delete", OFPMC_DELETE},
                 {"del", OFPMC_DELETE}};

    for (size_t k = 0; k < sizeof(verbs) / sizeof(verbs[0]); k++)
        if (strcmp(verb, verbs[k].verb) == 0) {
            struct ofproto_mod *m = flow_batch_add(b, OFPROTO_METER_MOD, i);

            m->persist = persist && verbs[k].command != OFPMC_DELETE;
            return ofp_text_meter(rest, verbs[k].command,
                                  (struct ofp_meter_mod *) m->meter, err);
        }
    return no_verb("meter", verb, "add, modify, delete", err);
}

static int
read_bundle(const struct flow_place *at, const char *line, uint32_t i,
            void *arg, struct flow_batch *b, struct err *err)
{
    const struct how *how = arg;
    char noun[16], verb[16];
    const char *rest = take_word(line, noun, sizeof(noun)), *behind;

    if (strcmp(noun, "flow") == 0)
        return read_flow(at, rest, i, arg, b, err);
    behind = take_word(rest, verb, sizeof(verb));
    if (strcmp(noun, "group") == 0)
        return read_group(at, verb, behind, i, how->persist, b, err);
    if (strcmp(noun, "meter") == 0)
        return read_meter(verb, behind, i, how->persist, b, err);
    return read_flow(at, line, i, arg, b, err);
}

static int
run(void *ctx, struct json_object *params, const char *member,
    flow_read_fn *read, struct how *how, struct json_object **result,
    struct err *err)
{
    struct flow_batch b = {0};
    struct flow_place at;
    int error = flow_place_find(ctx, json_get_text(params, "bridge", ""),
                                member, &at, err);

    if (error)
        return error;
    how->persist = json_get_bool(params, "persist", false);
    error = flow_each_line(&at, params, read, how, &b, err);
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
flow_add(void *ctx, struct rpc_client *client, struct json_object *params,
         struct json_object **result, struct err *err)
{
    struct how how = {.command = OFPFC_ADD};

    (void) client;
    return run(ctx, params, "flows", read_flow, &how, result, err);
}

static int
flow_mod(void *ctx, struct rpc_client *client, struct json_object *params,
         struct json_object **result, struct err *err)
{
    struct how how = {.command = json_get_bool(params, "strict", false)
                                     ? OFPFC_MODIFY_STRICT
                                     : OFPFC_MODIFY};

    (void) client;
    return run(ctx, params, "flows", read_flow, &how, result, err);
}

static int
flow_del(void *ctx, struct rpc_client *client, struct json_object *params,
         struct json_object **result, struct err *err)
{
    struct how how = {.command = json_get_bool(params, "strict", false)
                                     ? OFPFC_DELETE_STRICT
                                     : OFPFC_DELETE};

    (void) client;
    return run(ctx, params, "flows", read_flow, &how, result, err);
}

static int
flow_bundle(void *ctx, struct rpc_client *client, struct json_object *params,
            struct json_object **result, struct err *err)
{
    struct how how = {.command = OFPFC_ADD};

    (void) client;
    if (!json_get(params, "atomic"))
        json_object_object_add(params, "atomic", json_object_new_boolean(1));
    return run(ctx, params, "lines", read_bundle, &how, result, err);
}

static int
flow_stage_method(void *ctx, struct rpc_client *client,
                  struct json_object *params, struct json_object **result,
                  struct err *err)
{
    size_t n = 0;
    int error = flow_stage(params, clock_ns(), &n, err);

    (void) ctx;
    (void) client;
    if (error)
        return error;
    *result = json_object_new_object();
    json_add_uint(*result, "staged", n);
    return 0;
}

static const struct rpc_param line = {.type = RPC_T_STRING,
                                      .min = 0,
                                      .max = OFP_TEXT_MAX - 1};

#define PARAM_LINES(name_, required_, doc_)                            \
    {                                                                  \
        .name = (name_), .type = RPC_T_ARRAY, .required = (required_), \
        .max = 100000, .items = &line, .doc = doc_,                    \
    }
#define PARAM_TRANSACTION                                                    \
    {                                                                        \
        .name = "transaction", .type = RPC_T_STRING, .min = 1, .max = 63,    \
        .doc = "Name of lines staged before (flow.stage): they come first.", \
    }
#define PARAM_PERSIST                                         \
    PARAM_BOOL("persist", "Whether what is added comes back " \
                          "after a restart.")
#define PARAM_ATOMIC \
    PARAM_BOOL("atomic", "Whether no frame may see a part of the changes.")
#define PARAM_STRICT                                                        \
    PARAM_BOOL("strict", "Whether only the flow of exactly this match and " \
                         "priority is meant.")

static const struct rpc_param add_params[] = {
    PARAM_NAME("bridge", true, "The bridge."),
    PARAM_LINES("flows", false,
                "Flows in the syntax of ovs-ofctl, \"MATCH,actions=ACTIONS\"; "
                "one may begin with add, modify, modify_strict, delete or "
                "delete_strict."),
    PARAM_PERSIST,
    PARAM_ATOMIC,
    PARAM_TRANSACTION,
    PARAM_END,
};

static const struct rpc_param mod_params[] = {
    PARAM_NAME("bridge", true, "The bridge."),
    PARAM_LINES("flows", false,
                "What to modify and how, \"MATCH,actions=ACTIONS\"."),
    PARAM_STRICT,
    PARAM_ATOMIC,
    PARAM_TRANSACTION,
    PARAM_END,
};

static const struct rpc_param del_params[] = {
    PARAM_NAME("bridge", true, "The bridge."),
    PARAM_LINES("flows", true,
                "Matches; an empty one means all flows.  Also table, "
                "cookie=VALUE/MASK, out_port and out_group."),
    PARAM_STRICT,
    PARAM_ATOMIC,
    PARAM_TRANSACTION,
    PARAM_END,
};

static const struct rpc_param bundle_params[] = {
    PARAM_NAME("bridge", true, "The bridge."),
    PARAM_LINES("lines", false,
                "\"flow add ...\", \"group modify ...\", \"meter delete "
                "...\"; a line without such words is a flow to add."),
    PARAM_PERSIST,
    PARAM_BOOL("atomic", "Whether no frame may see a part of the changes; "
                         "true when not given."),
    PARAM_TRANSACTION,
    PARAM_END,
};

static const struct rpc_param stage_params[] = {
    {.name = "transaction",
     .type = RPC_T_STRING,
     .required = true,
     .min = 1,
     .max = 63,
     .doc = "A name that no other client uses."},
    PARAM_LINES("lines", true, "More lines of it."),
    PARAM_END,
};

#define DONE "An object: done (how many lines took effect)."
#define ALL_OR_NONE                                                     \
    "  All of them take effect, and the datapath follows when this is " \
    "answered, or none does."

const struct rpc_method methods_flow[] = {
    {
        .name = "flow.add",
        .doc = "Adds flows; one of the same table, priority and match is "
               "replaced." ALL_OR_NONE,
        .params = add_params,
        .result = DONE,
        .example = "{\"bridge\": \"br0\", \"flows\": "
                   "[\"priority=10,in_port=1,actions=output:2\"]}",
        .changes = true,
        .handler = flow_add,
    },
    {
        .name = "flow.mod",
        .doc = "Gives flows other actions; persistent ones stay "
               "persistent." ALL_OR_NONE,
        .params = mod_params,
        .result = DONE,
        .example = "{\"bridge\": \"br0\", \"flows\": "
                   "[\"in_port=1,actions=drop\"]}",
        .changes = true,
        .handler = flow_mod,
    },
    {
        .name = "flow.del",
        .doc = "Deletes flows." ALL_OR_NONE,
        .params = del_params,
        .result = DONE,
        .example = "{\"bridge\": \"br0\", \"flows\": [\"in_port=1\"]}",
        .changes = true,
        .handler = flow_del,
    },
    {
        .name = "flow.bundle",
        .doc = "Adds, modifies and deletes flows, groups and meters, in "
               "order." ALL_OR_NONE,
        .params = bundle_params,
        .result = DONE,
        .example = "{\"bridge\": \"br0\", \"lines\": [\"group add "
                   "group_id=1,type=all,bucket=actions=output:1\", \"flow add "
                   "actions=group:1\"]}",
        .changes = true,
        .handler = flow_bundle,
    },
    {
        .name = "flow.stage",
        .doc = "Lays lines by for a call that has more of them than a request "
               "takes.  What is not used within 60 s is given up.",
        .params = stage_params,
        .result = "An object: staged (lines so far).",
        .example = "{\"transaction\": \"my-42\", \"lines\": "
                   "[\"actions=NORMAL\"]}",
        .handler = flow_stage_method,
    },
    {.name = NULL},
};
