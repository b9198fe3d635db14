/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl bridge: bridges, their memory and what they learn.
 */
#include "ctl.h"

#include "conf/conf.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const fail_modes[] = {"standalone", "secure", NULL};

static const struct ctl_key keys[] = {
    {.name = "memory",
     .kind = CTL_QTY,
     .path = "memory_bytes",
     .unit = RPC_U_BYTES,
     .min = CONF_MIN_MEMORY,
     .max = CONF_MAX_MEMORY,
     .doc = "frame memory, 1M to 4G [64M]"},
    {.name = "max-frame",
     .kind = CTL_QTY,
     .path = "max_frame_bytes",
     .unit = RPC_U_BYTES,
     .min = CONF_MIN_FRAME,
     .max = CONF_MAX_FRAME,
     .doc = "largest frame without FCS, tags included [1522]"},
    {.name = "ageing",
     .kind = CTL_QTY,
     .path = "mac_ageing_s",
     .unit = RPC_U_S,
     .max = 1000000,
     .doc = "how long a learned address is kept; 0: for ever [300]"},
    {.name = "forward-reserved",
     .kind = CTL_SWITCH,
     .path = "forward_reserved",
     .doc = "forward 01-80-C2-00-00-0x too (never -01), for labs [off]"},
    {.name = "local",
     .kind = CTL_SWITCH,
     .path = "local",
     .doc = "a port of its own, a TAP interface of the bridge's name [on]"},
    {.name = "cell",
     .kind = CTL_QTY,
     .path = "cell_bytes",
     .unit = RPC_U_BYTES,
     .min = 1,
     .max = CONF_MAX_CELL,
     .doc = "computed headrooms are whole cells; 1: no cells [1]"},
    {.name = "headroom-pool",
     .kind = CTL_QTY,
     .path = "headroom_pool_bytes",
     .unit = RPC_U_BYTES,
     .max = (int64_t) CONF_MAX_MEMORY,
     .word = "none=0",
     .doc = "one pool that all groups take their headroom from [none]"},
    {.name = "headroom-ratio",
     .kind = CTL_QTY,
     .path = "headroom_ratio",
     .max = CONF_MAX_RATIO,
     .word = "none=0",
     .doc = "its size as the sum of the headrooms over this [none]"},
    {.name = "drop-lossless-unknown",
     .kind = CTL_SWITCH,
     .path = "drop_lossless_unknown",
     .doc = "drop lossless unknown unicast instead of flooding it [off]"},
    {.name = "fail-mode",
     .kind = CTL_WORD,
     .path = "fail_mode",
     .choices = fail_modes,
     .doc = "without its controllers: an ordinary bridge, or what the flow "
            "tables say [standalone]"},
    {.name = "datapath-id",
     .kind = CTL_TEXT,
     .path = "datapath_id",
     .doc = "of OpenFlow, 1 to 16 hexadecimal digits [auto]"},
    {.name = "max-flows",
     .kind = CTL_QTY,
     .path = "max_flows",
     .min = 1,
     .max = CONF_MAX_FLOWS,
     .doc = "entries that all flow tables have together [1000000]"},
    {.name = "management",
     .kind = CTL_SWITCH,
     .path = "management",
     .doc = "listen for OpenFlow on BRIDGE.mgmt, beside the control socket "
            "[on]"},
    {.name = "private-key",
     .kind = CTL_TEXT,
     .path = "ssl/private_key",
     .doc = "for ssl: and pssl:, an absolute path; none [none]"},
    {.name = "certificate",
     .kind = CTL_TEXT,
     .path = "ssl/certificate",
     .doc = "of that key [none]"},
    {.name = "ca-certificate",
     .kind = CTL_TEXT,
     .path = "ssl/ca_certificate",
     .doc = "that the peers' must be signed by [none]"},
    {.name = NULL}};

static void
add_row(struct ctl_table *t, struct json_object *b)
{
    struct json_object *buffer = ctl_get(b, "buffer");
    char ports[1024];

    ctl_table_text(t, ctl_text(b, "name"));
    ctl_table_qty(t, ctl_int(b, "memory_bytes"), RPC_U_BYTES);
    ctl_table_qty(t, ctl_int(buffer, "shared_bytes"), RPC_U_BYTES);
    ctl_table_qty(t, ctl_int(buffer, "shared_used"), RPC_U_BYTES);
    ctl_table_printf(t, "%" PRId64, ctl_int(b, "max_frame_bytes"));
    ctl_table_qty(t, ctl_int(b, "mac_ageing_s"), RPC_U_S);
    ctl_table_printf(t, "%" PRId64, ctl_int(b, "mac_entries"));
    ctl_table_qty(t, ctl_int(b, "stall_ns"), RPC_U_NS);
    ctl_table_text(t, ctl_get(b, "local")
                          ? ctl_text(ctl_get(b, "local"), "state")
                          : "none");
    ctl_table_text(t, ctl_join(ctl_get(b, "ports"), ports, sizeof(ports)));
}

static struct ctl_table *
new_table(struct ctl *ctl)
{
    return ctl_table_create(ctl, "Bridge|>Memory|>Shared|>Used|>Max frame|"
                                 ">Ageing|>MACs|>Stall|Local|Ports");
}

static void
show_list(struct ctl *ctl, struct json_object *result)
{
    struct ctl_table *t = new_table(ctl);

    for (size_t i = 0; i < ctl_len(result); i++)
        add_row(t, ctl_at(result, i));
    ctl_table_print(t, "no bridges (make one: sluicectl bridge add br0)");
}

static void
show_one(struct ctl *ctl, struct json_object *result)
{
    struct ctl_table *t = new_table(ctl);

    add_row(t, result);
    ctl_table_print(t, NULL);
}

static const struct ctl_verb verbs[] = {{.name = "list",
                                         .doc = "All bridges.",
                                         .method = "bridge.list",
                                         .show = show_list},
                                        {.name = "show",
                                         .args = {{"BRIDGE", "name", false}},
                                         .doc = "One bridge.",
                                         .method = "bridge.show",
                                         .show = show_one},
                                        {.name = "add",
                                         .args = {{"BRIDGE", "name", false}},
                                         .keys = keys,
                                         .doc = "Makes a bridge.",
                                         .method = "bridge.add"},
                                        {.name = "set",
                                         .args = {{"BRIDGE", "name", false}},
                                         .keys = keys,
                                         .doc = "Changes a bridge.",
                                         .method = "bridge.set"},
                                        {.name = "del",
                                         .args = {{"BRIDGE", "name", false}},
                                         .doc =
                                             "Removes a bridge and its ports.",
                                         .method = "bridge.del"},
                                        {.name = NULL}};

const struct ctl_noun ctl_bridge = {
    .name = "bridge",
    .doc = "Bridges: separate switches in one daemon.",
    .verbs = verbs};
