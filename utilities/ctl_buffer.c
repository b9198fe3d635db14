/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl buffer: ingress priority groups, their thresholds and what they
 * hold.
 */
#include "ctl.h"

#include "conf/conf.h"

#include <inttypes.h>
#include <stdio.h>

#define MAX_BYTES ((int64_t) CONF_MAX_MEMORY)

static const struct ctl_key keys[] = {
    {.name = "pg",
     .kind = CTL_QTY,
     .path = "group",
     .max = 7,
     .doc = "the priority group, 0 to 7"},
    {.name = "profile",
     .kind = CTL_TEXT,
     .path = "profile",
     .doc = "profile of the bridge in place of what follows, or none"},
    {.name = "reserved",
     .kind = CTL_QTY,
     .path = "reserved_bytes",
     .unit = RPC_U_BYTES,
     .max = MAX_BYTES,
     .doc = "memory of its own"},
    {.name = "xoff",
     .kind = CTL_QTY,
     .path = "xoff_bytes",
     .unit = RPC_U_BYTES,
     .max = MAX_BYTES,
     .doc = "limit of its shared usage: XOFF there, or drop when lossy"},
    {.name = "alpha",
     .kind = CTL_ALPHA,
     .path = "alpha",
     .doc = "limit of 2^alpha x what is free in its place, -7 to 3 or none"},
    {.name = "xon",
     .kind = CTL_QTY,
     .path = "xon_bytes",
     .unit = RPC_U_BYTES,
     .max = MAX_BYTES,
     .doc = "XON at or below this; at most xoff"},
    {.name = "xon-offset",
     .kind = CTL_QTY,
     .path = "xon_offset_bytes",
     .unit = RPC_U_BYTES,
     .max = MAX_BYTES,
     .doc = "or at or below the limit less this, if that is more"},
    {.name = "headroom",
     .kind = CTL_QTY,
     .path = "headroom",
     .unit = RPC_U_BYTES,
     .max = MAX_BYTES,
     .word = "auto",
     .doc = "room for what still arrives after XOFF, or auto"},
    {.name = NULL}};

static void
show_pools(struct ctl *ctl, struct json_object *result)
{
    struct json_object *all = ctl_get(result, "bridges");
    struct ctl_table *t =
        ctl_table_create(ctl,
                         "Bridge|>Memory|>Shared|>Used|>Peak|>Buffers|>Free|"
                         ">Clones free");

    for (size_t i = 0; i < ctl_len(all); i++) {
        struct json_object *b = ctl_at(all, i);

        ctl_table_text(t, ctl_text(b, "bridge"));
        ctl_table_qty(t, ctl_int(b, "memory_bytes"), RPC_U_BYTES);
        ctl_table_qty(t, ctl_int(b, "shared_bytes"), RPC_U_BYTES);
        ctl_table_qty(t, ctl_int(b, "shared_used"), RPC_U_BYTES);
        ctl_table_qty(t, ctl_int(b, "shared_peak"), RPC_U_BYTES);
        ctl_table_qty(t, ctl_int(b, "n_buffers"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(b, "n_free"), RPC_U_NONE);
        ctl_table_qty(t, ctl_int(b, "n_clones_free"), RPC_U_NONE);
    }
    ctl_table_print(t, "no bridges");
}

static void
add_group(struct ctl_table *t, struct json_object *g)
{
    struct json_object *used = ctl_get(g, "used");
    char text[32];

    ctl_table_text(t, ctl_text(g, "port"));
    ctl_table_qty(t, ctl_int(g, "group"), RPC_U_NONE);
    ctl_table_text(t, ctl_join(ctl_get(g, "priorities"), text, sizeof(text)));
    ctl_table_text(t, ctl_bool(g, "lossless") ? "yes" : "no");
    ctl_table_text(t, ctl_text(g, "profile"));
    ctl_table_text(t, ctl_text(g, "pool"));
    ctl_table_qty(t, ctl_int(g, "reserved_bytes"), RPC_U_BYTES);
    ctl_table_qty(t, ctl_int(g, "limit_bytes"), RPC_U_BYTES);
    ctl_table_text(t, ctl_alpha(g));
    ctl_table_qty(t, ctl_int(g, "xon_bytes"), RPC_U_BYTES);
    ctl_table_qty(t, ctl_int(g, "headroom_bytes"), RPC_U_BYTES);
    ctl_table_text(t, ctl_bool(g, "headroom_auto") ? "yes" : "no");
    ctl_table_qty(t, ctl_int(used, "reserved"), RPC_U_BYTES);
    ctl_table_qty(t, ctl_int(used, "shared"), RPC_U_BYTES);
    ctl_table_qty(t, ctl_int(used, "headroom"), RPC_U_BYTES);
    ctl_table_qty(t, ctl_int(g, "peak_bytes"), RPC_U_BYTES);
    ctl_table_qty(t, ctl_int(g, "headroom_peak_bytes"), RPC_U_BYTES);
    ctl_table_text(t, ctl_bool(g, "xoff") ? "yes" : "no");
    ctl_table_qty(t, ctl_int(g, "drops"), RPC_U_NONE);
}

static void
show_groups(struct ctl *ctl, struct json_object *result)
{
    struct json_object *all = ctl_get(result, "groups");
    struct ctl_table *t =
        ctl_table_create(ctl,
                         "Port|>PG|Prios|Lossless|Profile|Pool|>Reserved|"
                         ">XOFF at|>Alpha|>XON at|"
                         ">Headroom|Auto|>In res|>In shared|>In headr|>Peak|"
                         ">Headr peak|XOFF|>Drops");

    for (size_t i = 0; i < ctl_len(all); i++)
        add_group(t, ctl_at(all, i));
    ctl_table_print(t, "no ports");
}

static void
show_all(struct ctl *ctl, struct json_object *result)
{
    show_groups(ctl, result);
    if (ctl->format == CTL_TSV)
        return;
    putchar('\n');
    show_pools(ctl, result);
}

static enum ctl_status
run_set(struct ctl *ctl, struct json_object *params)
{
    if (!ctl_get(params, "group"))
        return ctl_usage_error(ctl, "buffer set: pg is missing; allowed: "
                                    "pg 0 to 7");
    if (json_object_object_length(params) < 3)
        return ctl_usage_error(ctl, "buffer set: nothing to set");
    return ctl_run_method(ctl, params);
}

static const struct ctl_key watermark_keys[] = {CTL_KEY_CLEAR, {.name = NULL}};

static const struct ctl_verb verbs[] = {
    {.name = "show",
     .args = {{"PORT", "port", true}},
     .options = CTL_O_RAW,
     .doc = "Priority groups: thresholds, what they hold, peaks, drops; and "
            "the pools.",
     .method = "buffer.show",
     .show = show_all},
    {.name = "watermark",
     .args = {{"PORT", "port", true}},
     .keys = watermark_keys,
     .options = CTL_O_PERSISTENT,
     .doc =
         "Most octets that groups, queues and pools ever held; of two sets, "
         "the user's or the persistent one.",
     .method = "buffer.watermark",
     .clear_method = "buffer.watermark_clear",
     .show = ctl_show_watermark},
    {.name = "clear",
     .args = {{"PORT", "port", true}},
     .doc = "Begins the counters of priority groups anew, for every client.",
     .method = "buffer.clear"},
    {.name = "pool",
     .doc = "The memory of each bridge.",
     .method = "buffer.show",
     .show = show_pools},
    {.name = "set",
     .args = {{"PORT", "port", false}},
     .keys = keys,
     .doc = "Thresholds of a priority group; loses nothing under traffic.",
     .method = "buffer.set",
     .run = run_set},
    {.name = NULL}};

const struct ctl_noun ctl_buffer = {
    .name = "buffer",
    .doc = "Ingress buffers: priority groups and pools.",
    .verbs = verbs};
