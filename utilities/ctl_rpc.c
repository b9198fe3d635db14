/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl rpc and status: any method of the daemon, and how it is.
 */
#include "ctl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* params of the command line: one JSON object or array. */
static struct json_object *
parse(const char *text)
{
    struct rpc_stream *s = rpc_stream_create();
    struct json_object *o = NULL;
    size_t used = 0, n = strlen(text);
    enum rpc_code code;
    enum rpc_feed fed = rpc_stream_feed(s, text, n, &used, &o, &code);

    rpc_stream_destroy(s);
    if (fed == RPC_FEED_TEXT && used + strspn(text + used, " \t\r\n") == n &&
        (json_object_is_type(o, json_type_object) ||
         json_object_is_type(o, json_type_array)))
        return o;
    if (fed == RPC_FEED_TEXT)
        json_object_put(o);
    return NULL;
}

static enum ctl_status
run_rpc(struct ctl *ctl, struct json_object *params)
{
    struct json_object *args = NULL, *result = NULL;
    enum ctl_status status;

    (void) params;
    if (ctl->words[1] && !(args = parse(ctl->words[1])))
        return ctl_usage_error(ctl, "rpc: '%.80s' is no JSON object or array",
                               ctl->words[1]);
    status = ctl_call(ctl, ctl->words[0], args, &result);
    if (status)
        return status;
    ctl_print_json(result, false);
    json_object_put(result);
    return CTL_OK;
}

static void
show_status(struct ctl *ctl, struct json_object *result)
{
    static const char *const numbers[] = {"pid", "bridges", "ports",
                                          "config_generation"};
    struct ctl_table *t = ctl_table_create(ctl, "Daemon|Value");
    char text[512];

    ctl_table_text(t, "version");
    ctl_table_text(t, ctl_text(result, "version"));
    ctl_table_text(t, "features");
    ctl_table_text(t,
                   ctl_join(ctl_get(result, "features"), text, sizeof(text)));
    ctl_table_text(t, "uptime");
    ctl_table_qty(t, ctl_int(result, "uptime_s"), RPC_U_S);
    ctl_table_text(t, "database");
    ctl_table_text(t, ctl_text(result, "database"));
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        ctl_table_text(t, numbers[i]);
        ctl_table_qty(t, ctl_int(result, numbers[i]), RPC_U_NONE);
    }
    ctl_table_print(t, NULL);
}

static const struct ctl_verb rpc_verbs[] = {
    {.name = "call",
     .args = {{"METHOD", NULL, false}, {"JSON", NULL, true}},
     .doc = "Calls a method with params; prints the result as JSON.",
     .run = run_rpc},
    {.name = NULL}};

static const struct ctl_verb status_verbs[] = {
    {.name = "show",
     .doc = "The daemon: version, features, uptime.",
     .method = "daemon.status",
     .show = show_status},
    {.name = NULL}};

const struct ctl_noun ctl_rpc = {.name = "rpc",
                                 .doc = "Any method of the daemon.",
                                 .verbs = rpc_verbs,
                                 .is_command = true};
const struct ctl_noun ctl_status_noun = {.name = "status",
                                         .doc = "How the daemon is.",
                                         .verbs = status_verbs,
                                         .is_command = true};
