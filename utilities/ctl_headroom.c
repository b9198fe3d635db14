/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl headroom: the calculator.  Shows each term of the headroom of a
 * lossless class, on a real switch and on this one.
 */
#include "ctl.h"

#include "conf/conf.h"

#include <inttypes.h>
#include <stdio.h>

static const struct ctl_key keys[] = {
    {.name = "rate",
     .kind = CTL_QTY,
     .path = "rate_bps",
     .unit = RPC_U_BPS,
     .min = CONF_MIN_RATE,
     .max = CONF_MAX_RATE,
     .doc = "of the link [the port's, or 10G]"},
    {.name = "cable",
     .kind = CTL_CABLE,
     .path = "cable_delay_ns",
     .max = CONF_MAX_CABLE_NS,
     .word = "cable_mm",
     .doc = "its length or one-way delay, like 300m or 500ns [the port's]"},
    {.name = "mtu",
     .kind = CTL_QTY,
     .path = "mtu_bytes",
     .unit = RPC_U_BYTES,
     .min = 64,
     .max = 65535,
     .doc = "largest frame of any class [the bridge's, or 9100]"},
    {.name = "lossless-mtu",
     .kind = CTL_QTY,
     .path = "lossless_mtu_bytes",
     .unit = RPC_U_BYTES,
     .min = 64,
     .max = 65535,
     .doc = "largest frame of the lossless class [mtu]"},
    {.name = "cell",
     .kind = CTL_QTY,
     .path = "cell_bytes",
     .unit = RPC_U_BYTES,
     .min = 1,
     .max = CONF_MAX_CELL,
     .doc = "of the memory; 1: no cells [the port's]"},
    {.name = "reaction",
     .kind = CTL_QTY,
     .path = "reaction_quanta",
     .max = 65535,
     .doc = "quanta within which the peer stops [802.3, by the rate]"},
    {.name = "pipeline",
     .kind = CTL_QTY,
     .path = "pipeline_bytes",
     .unit = RPC_U_BYTES,
     .max = 1048576,
     .doc = "delay of the pipeline [18K]"},
    {.name = "macphy",
     .kind = CTL_QTY,
     .path = "macphy_bytes",
     .unit = RPC_U_BYTES,
     .max = 1048576,
     .doc = "delay of MAC and PHY [820]"},
    {.name = "small",
     .kind = CTL_QTY,
     .path = "small_packet_percent",
     .max = 100,
     .doc = "per cent of packets that are small, and waste cells [100]"},
    {.name = "whole-weight",
     .kind = CTL_SWITCH,
     .path = "whole_weight",
     .doc = "round what small packets take of cells up to whole ones [off]"},
    {.name = "stall",
     .kind = CTL_QTY,
     .path = "stall_ns",
     .unit = RPC_U_NS,
     .max = 10000000000,
     .doc = "how long our thread may not run [measured, or 2ms]"},
    {.name = NULL}};

static const struct {
    const char *object; /* of the result */
    const char *member; /* of that */
    const char *says;   /* for people */
    char mark;          /* '=': a sum of those above; '#': a head line */
} lines[] = {
    {NULL, NULL, "A switch in hardware:", '#'},
    {"in", "mtu_bytes", "a frame that delays our PFC frame", ' '},
    {"hardware", "cable_bytes", "cable, there and back", ' '},
    {"in", "macphy_bytes", "MAC and PHY delay", ' '},
    {"hardware", "reaction_bytes", "the peer's reaction time", ' '},
    {"hardware", "propagation_bytes", "propagation", '='},
    {"hardware", "weight_millionths", "x memory for an octet", 'x'},
    {"hardware", "weighted_bytes", "propagation in cells", '='},
    {"in", "lossless_mtu_bytes", "a frame that the peer has begun", ' '},
    {"hardware", "xoff_bytes", "xoff, in whole KiB", '='},
    {"in", "pipeline_bytes", "pipeline delay", ' '},
    {"hardware", "size_bytes", "size", '='},
    {NULL, NULL, "Headroom auto on this switch:", '#'},
    {"auto", "cable_bytes", "cable, there and back", ' '},
    {"auto", "reaction_bytes", "the peer's reaction time", ' '},
    {"auto", "macphy_bytes", "MAC and PHY delay", ' '},
    {"auto", "rx_mtu_bytes", "a frame that the peer has begun", ' '},
    {"auto", "tx_mtu_bytes", "a frame that delays our PFC frame", ' '},
    {"auto", "hw_bytes", "hardware in all, in whole cells", '='},
    {"auto", "stall_bytes", "arrived while our thread did not run", ' '},
    {"auto", "late_bytes", "and while PFC was on the emulated cable", ' '},
    {"auto", "batch_bytes", "one batch of the peer, 32 frames", ' '},
    {"auto", "sw_bytes", "software in all, with the cable", '='},
    {"auto", "total_bytes", "needed: the larger of both", '='},
};
#define N_LINES (sizeof(lines) / sizeof(lines[0]))

static void
print_given(struct json_object *in)
{
    char rate[32], cable[32], stall[32];

    printf("%s, cable %s, cell %" PRId64 ", reaction %" PRId64 " quanta, "
           "small packets %" PRId64 " %%, stall %s\n",
           rpc_format_quantity(ctl_int(in, "rate_bps"), RPC_U_BPS, rate,
                               sizeof(rate)),
           rpc_format_quantity(ctl_int(in, "cable_delay_ns"), RPC_U_NS, cable,
                               sizeof(cable)),
           ctl_int(in, "cell_bytes"), ctl_int(in, "reaction_quanta"),
           ctl_int(in, "small_packet_percent"),
           rpc_format_quantity(ctl_int(in, "stall_ns"), RPC_U_NS, stall,
                               sizeof(stall)));
}

static void
show_tsv(struct ctl *ctl, struct json_object *result)
{
    struct ctl_table *t = ctl_table_create(ctl, "model|term|>value");

    for (size_t i = 0; i < N_LINES; i++) {
        if (!lines[i].object)
            continue;
        ctl_table_text(t, lines[i].object);
        ctl_table_text(t, lines[i].member);
        ctl_table_qty(t,
                      ctl_int(ctl_get(result, lines[i].object),
                              lines[i].member),
                      RPC_U_NONE);
    }
    ctl_table_print(t, NULL);
}

static void
show_terms(struct ctl *ctl, struct json_object *result)
{
    if (ctl->format == CTL_TSV) {
        show_tsv(ctl, result);
        return;
    }
    print_given(ctl_get(result, "in"));
    for (size_t i = 0; i < N_LINES; i++) {
        int64_t v;

        if (lines[i].mark == '#') {
            printf("\n%s\n", lines[i].says);
            continue;
        }
        v = ctl_int(ctl_get(result, lines[i].object), lines[i].member);
        if (lines[i].mark == 'x')
            printf("    %-38s %5" PRId64 ".%06" PRId64 "\n", lines[i].says,
                   v / 1000000, v % 1000000);
        else
            printf("  %c %-38s %12" PRId64 "\n", lines[i].mark, lines[i].says,
                   v);
    }
}

static const struct ctl_verb verbs[] = {
    {.name = "headroom",
     .args = {{"PORT", "port", true}},
     .keys = keys,
     .doc = "Computes what a lossless class needs, for a port as it is or for "
            "values that are tried out; changes nothing.",
     .method = "headroom.compute",
     .show = show_terms},
    {.name = NULL}};

const struct ctl_noun ctl_headroom = {.name = "headroom",
                                      .doc = "Headroom calculator: what if.",
                                      .verbs = verbs,
                                      .is_command = true};
