/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl pool and sluicectl profile: parts of a bridge's memory, and
 * thresholds that groups and queues share by name.
 */
#include "ctl.h"

#include "conf/conf.h"

#include <stdio.h>

#define MAX_BYTES ((int64_t) CONF_MAX_MEMORY)

static const char *const modes[] = {"static", "dynamic", NULL};

static const struct ctl_key pool_keys[] = {
    {.name = "size",
     .kind = CTL_QTY,
     .path = "size_bytes",
     .unit = RPC_U_BYTES,
     .max = MAX_BYTES,
     .doc = "its part of the bridge's memory [1M]"},
    {.name = "mode",
     .kind = CTL_WORD,
     .path = "mode",
     .choices = modes,
     .doc = "static: its profiles have xoff; dynamic: alpha [static]"},
    {.name = NULL}};

static const struct ctl_key profile_keys[] = {
    {.name = "pool",
     .kind = CTL_TEXT,
     .path = "pool",
     .doc = "pool that its users share; none: what the others leave [none]"},
    {.name = "reserved",
     .kind = CTL_QTY,
     .path = "reserved_bytes",
     .unit = RPC_U_BYTES,
     .max = MAX_BYTES,
     .doc = "memory of each group's own [0]"},
    {.name = "xoff",
     .kind = CTL_QTY,
     .path = "xoff_bytes",
     .unit = RPC_U_BYTES,
     .max = MAX_BYTES,
     .doc = "limit of a group or queue [128K]"},
    {.name = "alpha",
     .kind = CTL_ALPHA,
     .path = "alpha",
     .doc = "limit of 2^alpha x what is free in its place, -7 to 3 [none]"},
    {.name = "xon",
     .kind = CTL_QTY,
     .path = "xon_bytes",
     .unit = RPC_U_BYTES,
     .max = MAX_BYTES,
     .doc = "XON at or below this [64K]"},
    {.name = "xon-offset",
     .kind = CTL_QTY,
     .path = "xon_offset_bytes",
     .unit = RPC_U_BYTES,
     .max = MAX_BYTES,
     .doc = "or at or below the limit less this, if that is more [0: not]"},
    {.name = "headroom",
     .kind = CTL_QTY,
     .path = "headroom",
     .unit = RPC_U_BYTES,
     .max = MAX_BYTES,
     .word = "auto",
     .doc = "room for what still arrives after XOFF [auto]"},
    {.name = NULL}};

static void
show_pools(struct ctl *ctl, struct json_object *result)
{
    struct ctl_table *t =
        ctl_table_create(ctl, "Bridge|Pool|Mode|>Size|>Used|>Peak|Profiles");

    for (size_t i = 0; i < ctl_len(result); i++) {
        struct json_object *p = ctl_at(result, i);
        char names[1024];

        ctl_table_text(t, ctl_text(p, "bridge"));
        ctl_table_text(t, ctl_text(p, "name"));
        ctl_table_text(t, ctl_text(p, "mode"));
        ctl_table_qty(t, ctl_int(p, "size_bytes"), RPC_U_BYTES);
        ctl_table_qty(t, ctl_int(p, "used_bytes"), RPC_U_BYTES);
        ctl_table_qty(t, ctl_int(p, "peak_bytes"), RPC_U_BYTES);
        ctl_table_text(t,
                       ctl_join(ctl_get(p, "profiles"), names, sizeof(names)));
    }
    ctl_table_print(t, "no bridges");
}

/* "eth1/pg3, eth1/q3". */
static void
put_users(struct ctl_table *t, struct json_object *users)
{
    char text[1024] = "-";
    size_t len = 0;

    for (size_t i = 0; i < ctl_len(users) && len < sizeof(text); i++) {
        struct json_object *u = ctl_at(users, i);
        bool is_group = ctl_get(u, "group") != NULL;

        len +=
            (size_t) snprintf(text + len, sizeof(text) - len, "%s%s/%s%d",
                              i ? ", " : "", ctl_text(u, "port"),
                              is_group ? "pg" : "q",
                              (int) ctl_int(u, is_group ? "group" : "queue"));
    }
    ctl_table_text(t, text);
}

static void
show_profiles(struct ctl *ctl, struct json_object *result)
{
    struct ctl_table *t = ctl_table_create(
        ctl, "Bridge|Profile|Pool|>Reserved|>XOFF at|>Alpha|>XON at|"
             ">XON offset|>Headroom|Users");

    for (size_t i = 0; i < ctl_len(result); i++) {
        struct json_object *p = ctl_at(result, i);
        bool is_auto =
            json_object_is_type(ctl_get(p, "headroom"), json_type_string);

        ctl_table_text(t, ctl_text(p, "bridge"));
        ctl_table_text(t, ctl_text(p, "name"));
        ctl_table_text(t, ctl_text(p, "pool"));
        ctl_table_qty(t, ctl_int(p, "reserved_bytes"), RPC_U_BYTES);
        ctl_table_qty(t, ctl_int(p, "xoff_bytes"), RPC_U_BYTES);
        ctl_table_text(t, ctl_alpha(p));
        ctl_table_qty(t, ctl_int(p, "xon_bytes"), RPC_U_BYTES);
        ctl_table_qty(t, ctl_int(p, "xon_offset_bytes"), RPC_U_BYTES);
        if (is_auto)
            ctl_table_text(t, "auto");
        else
            ctl_table_qty(t, ctl_int(p, "headroom"), RPC_U_BYTES);
        put_users(t, ctl_get(p, "users"));
    }
    ctl_table_print(t, "no profiles (make one: sluicectl profile set BRIDGE "
                       "NAME ...)");
}

static const struct ctl_verb pool_verbs[] = {
    {.name = "show",
     .args = {{"BRIDGE", "bridge", true}},
     .doc = "Pools: size, what is used, the most that ever was.",
     .method = "pool.show",
     .show = show_pools},
    {.name = "set",
     .args = {{"BRIDGE", "bridge", false}, {"NAME", "name", false}},
     .keys = pool_keys,
     .doc = "Makes or changes a pool; loses nothing under traffic.",
     .method = "pool.set"},
    {.name = "del",
     .args = {{"BRIDGE", "bridge", false}, {"NAME", "name", false}},
     .doc = "Removes a pool that no profile names.",
     .method = "pool.del"},
    {.name = NULL}};

const struct ctl_noun ctl_pool = {
    .name = "pool",
    .doc = "Buffer pools: parts of a bridge's memory.",
    .verbs = pool_verbs};

static const struct ctl_verb profile_verbs[] = {
    {.name = "show",
     .args = {{"BRIDGE", "bridge", true}},
     .doc = "Profiles: thresholds, and who uses them.",
     .method = "profile.show",
     .show = show_profiles},
    {.name = "set",
     .args = {{"BRIDGE", "bridge", false}, {"NAME", "name", false}},
     .keys = profile_keys,
     .doc = "Makes or changes a profile, for all of its users at once.",
     .method = "profile.set"},
    {.name = "del",
     .args = {{"BRIDGE", "bridge", false}, {"NAME", "name", false}},
     .doc = "Removes a profile that nothing uses.",
     .method = "profile.del"},
    {.name = NULL}};

const struct ctl_noun ctl_profile = {
    .name = "profile",
    .doc = "Buffer profiles: thresholds by name.",
    .verbs = profile_verbs};
