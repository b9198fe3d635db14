/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl port: ports, their type, rate and VLANs.
 */
#include "ctl.h"

#include "conf/conf.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const types[] = {"afpacket", "afxdp", "auto",
                                    "tap",      "mem",   NULL};
static const char *const modes[] = {"trunk", "access", "native-tagged",
                                    "native-untagged", NULL};

/* type comes first: `port set` leaves it out. */
static const struct ctl_key keys[] = {
    {.name = "type",
     .kind = CTL_WORD,
     .path = "type",
     .choices = types,
     .doc = "what it is made of [afpacket]"},
    {.name = "mac",
     .kind = CTL_TEXT,
     .path = "mac",
     .doc = "address of a tap, like 02:00:00:00:00:01"},
    {.name = "ofport",
     .kind = CTL_QTY,
     .path = "ofport",
     .max = CONF_MAX_OFPORT,
     .word = "auto=0",
     .doc = "number in OpenFlow, 1 to 65279 [the lowest that is free]"},
    {.name = "rate",
     .kind = CTL_QTY,
     .path = "rate_bps",
     .unit = RPC_U_BPS,
     .max = CONF_MAX_RATE,
     .word = "auto=0",
     .doc = "line rate, shaped to; auto: the interface's, not shaped"},
    {.name = "cable",
     .kind = CTL_CABLE,
     .path = "cable_delay_ns",
     .max = CONF_MAX_CABLE_NS,
     .doc = "length or one-way delay of the cable, like 300m or 500ns; frames "
            "that leave are delayed, headroom follows [0m]"},
    {.name = "emulate",
     .kind = CTL_SWITCH,
     .path = "cable_emulated",
     .doc = "delay frames by the cable; off: there is a real one [on]"},
    {.name = "cell",
     .kind = CTL_QTY,
     .path = "cell_bytes",
     .unit = RPC_U_BYTES,
     .max = CONF_MAX_CELL,
     .word = "bridge=0",
     .doc = "computed headrooms are whole cells [bridge]"},
    {.name = "ring",
     .kind = CTL_QTY,
     .path = "ring_bytes",
     .unit = RPC_U_BYTES,
     .max = CONF_MAX_RING,
     .word = "auto=0",
     .doc = "receive ring, or auto [auto]"},
    {.name = "backpressure",
     .kind = CTL_SWITCH,
     .path = "backpressure",
     .doc = "of a tap with a rate: a paused class holds back who sends [off]"},
    {.name = "vlan", .kind = CTL_NOISE, .doc = ""},
    {.name = "mode",
     .kind = CTL_WORD,
     .path = "vlan/mode",
     .choices = modes,
     .doc = "VLAN mode, as in Open vSwitch [trunk]"},
    {.name = "tag",
     .kind = CTL_QTY,
     .path = "vlan/tag",
     .max = CONF_MAX_VID,
     .doc = "VLAN of access and native ports; alone it means access"},
    {.name = "trunks",
     .kind = CTL_VIDS,
     .path = "vlan/trunks",
     .doc = "VLANs that a trunk carries [all]"},
    {.name = "pfc",
     .kind = CTL_PRIOS,
     .path = "pfc/priorities",
     .doc = "lossless priorities [none]"},
    {.name = "asymmetric",
     .kind = CTL_SWITCH,
     .path = "pfc/asymmetric",
     .doc = "honour PFC on all eight, send for those [off]"},
    {.name = "quanta",
     .kind = CTL_QTY,
     .path = "pfc/quanta",
     .min = 1,
     .max = 65535,
     .doc = "time in the PFC frames that are sent [65535]"},
    {.name = "pause-rx",
     .kind = CTL_SWITCH,
     .path = "pause/rx",
     .doc = "honour 802.3x PAUSE; not together with pfc [off]"},
    {.name = "pause-tx",
     .kind = CTL_SWITCH,
     .path = "pause/tx",
     .doc = "send 802.3x PAUSE; not together with pfc [off]"},
    {.name = NULL}};

/* "10", "10+1,2-5" would be cryptic: mode, tag and trunks, as they count. */
static void
put_vlan(struct ctl_table *t, struct json_object *vlan)
{
    struct json_object *trunks = ctl_get(vlan, "trunks");
    size_t n = ctl_len(trunks), len = 0;
    char text[256] = "all";

    /* Runs of numbers as first-last. */
    for (size_t i = 0, j; i < n && len < sizeof(text); i = j) {
        int64_t first = json_object_get_int64(ctl_at(trunks, i));

        for (j = i + 1; j < n; j++)
            if (json_object_get_int64(ctl_at(trunks, j)) !=
                first + (int64_t) (j - i))
                break;
        len += (size_t) snprintf(text + len, sizeof(text) - len,
                                 j - i > 1 ? "%s%" PRId64 "-%" PRId64
                                           : "%s%" PRId64,
                                 i ? "," : "", first,
                                 first + (int64_t) (j - i) - 1);
    }
    ctl_table_text(t, ctl_text(vlan, "mode"));
    ctl_table_printf(t, "%" PRId64, ctl_int(vlan, "tag"));
    ctl_table_text(t, text);
}

static void
add_row(struct ctl_table *t, struct json_object *p)
{
    char text[32];

    ctl_table_text(t, ctl_text(p, "name"));
    ctl_table_text(t, ctl_text(p, "bridge"));
    ctl_table_printf(t, "%" PRId64, ctl_int(p, "ofport"));
    ctl_table_text(t, ctl_text(p, "type"));
    ctl_table_text(t, ctl_text(p, "state"));
    ctl_table_text(t, ctl_text(p, "mac"));
    ctl_table_printf(t, "%" PRId64, ctl_int(p, "mtu"));
    ctl_table_qty(t, ctl_int(p, "rate_bps"), RPC_U_BPS);
    ctl_table_text(t, ctl_int(p, "configured_rate_bps") ? "yes" : "no");
    ctl_table_qty(t, ctl_int(p, "cable_delay_ns"), RPC_U_NS);
    put_vlan(t, ctl_get(p, "vlan"));
    ctl_table_text(t, ctl_join(ctl_get(ctl_get(p, "pfc"), "priorities"), text,
                               sizeof(text)));
}

static struct ctl_table *
new_table(struct ctl *ctl)
{
    return ctl_table_create(ctl,
                            "Port|Bridge|>OFPort|Type|State|MAC|>MTU|>Rate|"
                            "Shaped|>Cable|VLAN mode|>Tag|Trunks|"
                            "Lossless");
}

static void
show_list(struct ctl *ctl, struct json_object *result)
{
    struct ctl_table *t = new_table(ctl);

    for (size_t i = 0; i < ctl_len(result); i++)
        add_row(t, ctl_at(result, i));
    ctl_table_print(t, "no ports (add one: sluicectl port add BRIDGE PORT)");
}

/* How AF_XDP works there, or why an auto port has none, or why the interface
 * cannot be opened at all. */
static void
show_provider(struct json_object *p)
{
    const char *mode = ctl_text(p, "xdp_mode"), *why = ctl_text(p, "fallback");

    if (ctl_get(p, "xdp_mode"))
        printf("\nAF_XDP: %s\n", mode);
    if (ctl_get(p, "fallback"))
        printf("\nafpacket, since AF_XDP is not possible: %s\n", why);
    if (ctl_get(p, "refusal"))
        printf("\nabsent: %s\n", ctl_text(p, "refusal"));
}

static void
show_one(struct ctl *ctl, struct json_object *result)
{
    struct ctl_table *t = new_table(ctl);

    add_row(t, result);
    ctl_table_print(t, NULL);
    if (ctl->format == CTL_TABLE)
        show_provider(result);
    if (ctl->format == CTL_TABLE && ctl_get(result, "config")) {
        puts("\nConfiguration:");
        ctl_print_json(ctl_get(result, "config"), false);
    }
}

static const struct ctl_verb verbs[] = {
    {.name = "list",
     .args = {{"BRIDGE", "bridge", true}},
     .doc = "All ports, or those of a bridge.",
     .method = "port.list",
     .show = show_list},
    {.name = "show",
     .args = {{"PORT", "name", false}},
     .doc = "One port with its configuration.",
     .method = "port.show",
     .show = show_one},
    {.name = "add",
     .args = {{"BRIDGE", "bridge", false}, {"PORT", "name", false}},
     .keys = keys,
     .doc = "Adds a port to a bridge.",
     .method = "port.add"},
    {.name = "set",
     .args = {{"PORT", "name", false}},
     .keys = keys + 1,
     .doc = "Changes a port.",
     .method = "port.set"},
    {.name = "del",
     .args = {{"PORT", "name", false}},
     .doc = "Takes a port out of its bridge.",
     .method = "port.del"},
    {.name = "attach",
     .args = {{"BRIDGE", "bridge", false},
              {"CONTAINER|NETNS|PID", NULL, false},
              {"IFNAME", NULL, false}},
     .keys = ctl_attach_keys,
     .doc = "Wires a container or namespace to a bridge, as IFNAME there.",
     .run = ctl_attach},
    {.name = "detach",
     .args = {{"PORT", "name", false}},
     .doc = "Takes back what attach made.",
     .run = ctl_detach},
    {.name = NULL}};

const struct ctl_noun ctl_port = {
    .name = "port",
    .doc = "Ports: interfaces, taps, their rate and VLANs.",
    .verbs = verbs};
