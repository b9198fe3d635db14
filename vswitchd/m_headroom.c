/* SPDX-License-Identifier: Apache-2.0
 *
 * The headroom calculator: what a class needs, on a real switch and on this
 * one, for a port as it is or for values that are tried out.  Control thread.
 */
#include "methods.h"

#include "json.h"
#include "qos/headroom.h"

#include <errno.h>

#define DEFAULT_RATE  UINT64_C(10000000000)
#define DEFAULT_MTU   9100
#define DEFAULT_CELL  1
#define DEFAULT_QUOTA 100 /* per cent of small packets */
#define MAX_CABLE_MM  INT64_C(198000000000)

/* What is to be computed: of params, else of the port, else a default. */
static void
read_in(struct json_object *params, const struct port_view *v,
        struct headroom_hw_in *hw, struct headroom_in *sw)
{
    uint64_t rate = v ? conf_port_rate(v->cp, &v->port->live) : DEFAULT_RATE;
    uint32_t mtu = v ? v->cb->max_frame_bytes : DEFAULT_MTU;
    bool given =
        json_get(params, "cable_mm") || json_get(params, "cable_delay_ns");

    rate = (uint64_t) json_get_int(params, "rate_bps", (int64_t) rate);
    mtu = (uint32_t) json_get_int(params, "mtu_bytes", mtu);
    *hw = (struct headroom_hw_in){
        .rate_bps = rate,
        .cable_mm = (uint64_t) json_get_int(params, "cable_mm", 0),
        .cable_delay_ns = (uint64_t) json_get_int(params, "cable_delay_ns", 0),
        .port_mtu_bytes = mtu,
        .lossless_mtu_bytes =
            (uint32_t) json_get_int(params, "lossless_mtu_bytes", mtu),
        .cell_bytes = (uint32_t) json_get_int(params, "cell_bytes",
                                              v ? conf_port_cell(v->cb, v->cp)
                                                : DEFAULT_CELL),
        .reaction_quanta =
            (uint32_t) json_get_int(params, "reaction_quanta",
                                    headroom_reaction_quanta(rate)),
        .macphy_bytes = (uint32_t) json_get_int(params, "macphy_bytes",
                                                HEADROOM_MACPHY_BYTES),
        .pipeline_bytes = (uint32_t) json_get_int(params, "pipeline_bytes",
                                                  HEADROOM_PIPELINE_BYTES),
        .small_percent =
            (uint32_t) json_get_int(params, "small_packet_percent",
                                    DEFAULT_QUOTA),
        .whole_weight = json_get_bool(params, "whole_weight", false),
    };
    if (!given && v)
        hw->cable_delay_ns = v->cp->cable_delay_ns;
    *sw = (struct headroom_in){
        .rate_bps = rate,
        .cable_delay_ns = hw->cable_delay_ns + headroom_cable_ns(hw->cable_mm),
        .mtu_rx_bytes = hw->lossless_mtu_bytes,
        .mtu_tx_bytes = mtu,
        .cell_bytes = hw->cell_bytes,
        .emulated = v && v->cp->cable_emulated,
        .stall_ns =
            (uint64_t) json_get_int(params, "stall_ns",
                                    v ? (int64_t) v->bridge->allowed_ns
                                      : (int64_t) HEADROOM_MIN_STALL_NS),
    };
}

static struct json_object *
in_object(const struct headroom_hw_in *hw, const struct headroom_in *sw)
{
    struct json_object *o = json_object_new_object();

    json_add_uint(o, "rate_bps", hw->rate_bps);
    json_add_uint(o, "cable_mm", hw->cable_mm);
    json_add_uint(o, "cable_delay_ns", sw->cable_delay_ns);
    json_add_uint(o, "mtu_bytes", hw->port_mtu_bytes);
    json_add_uint(o, "lossless_mtu_bytes", hw->lossless_mtu_bytes);
    json_add_uint(o, "cell_bytes", hw->cell_bytes);
    json_add_uint(o, "reaction_quanta", hw->reaction_quanta);
    json_add_uint(o, "macphy_bytes", hw->macphy_bytes);
    json_add_uint(o, "pipeline_bytes", hw->pipeline_bytes);
    json_add_uint(o, "small_packet_percent", hw->small_percent);
    json_add_bool(o, "whole_weight", hw->whole_weight);
    json_add_uint(o, "stall_ns", sw->stall_ns);
    return o;
}

static struct json_object *
hw_object(const struct headroom_hw *h)
{
    struct json_object *o = json_object_new_object();

    json_add_uint(o, "cable_bytes", h->cable_bytes);
    json_add_uint(o, "reaction_bytes", h->reaction_bytes);
    json_add_uint(o, "propagation_bytes", h->propagation_bytes);
    json_add_uint(o, "weight_millionths", h->weight_millionths);
    json_add_uint(o, "weighted_bytes", h->weighted_bytes);
    json_add_uint(o, "xoff_bytes", h->xoff_bytes);
    json_add_uint(o, "size_bytes", h->size_bytes);
    return o;
}

static struct json_object *
auto_object(const struct headroom *h)
{
    struct json_object *o = json_object_new_object();

    json_add_uint(o, "cable_bytes", h->cable_bytes);
    json_add_uint(o, "reaction_bytes", h->reaction_bytes);
    json_add_uint(o, "macphy_bytes", h->macphy_bytes);
    json_add_uint(o, "rx_mtu_bytes", h->rx_mtu_bytes);
    json_add_uint(o, "tx_mtu_bytes", h->tx_mtu_bytes);
    json_add_uint(o, "hw_bytes", h->hw_bytes);
    json_add_uint(o, "stall_bytes", h->stall_bytes);
    json_add_uint(o, "late_bytes", h->late_bytes);
    json_add_uint(o, "batch_bytes", h->batch_bytes);
    json_add_uint(o, "sw_bytes", h->sw_bytes);
    json_add_uint(o, "total_bytes", h->total_bytes);
    return o;
}

static int
headroom_run(void *ctx, struct rpc_client *client, struct json_object *params,
             struct json_object **result, struct err *err)
{
    const char *name = json_get_text(params, "port", NULL);
    struct headroom_hw_in hw_in;
    struct headroom_in sw_in;
    struct headroom_hw hw;
    struct headroom sw;
    struct port_view v;
    int error = name ? methods_find_port(ctx, name, &v, err) : 0;

    (void) client;
    if (error)
        return error;
    if (json_get(params, "cable_mm") && json_get(params, "cable_delay_ns"))
        return err_set(err, EINVAL, "/params/cable_mm", NULL, "one of them",
                       "cable_mm and cable_delay_ns say the same: allowed is "
                       "one of them");
    read_in(params, name ? &v : NULL, &hw_in, &sw_in);
    headroom_hw_compute(&hw_in, &hw);
    headroom_compute(&sw_in, &sw);
    *result = json_object_new_object();
    json_object_object_add(*result, "in", in_object(&hw_in, &sw_in));
    json_object_object_add(*result, "hardware", hw_object(&hw));
    json_object_object_add(*result, "auto", auto_object(&sw));
    return 0;
}

static const struct rpc_param params[] = {
    PARAM_NAME("port", false,
               "What is not given is as for this port; without one: 10 Gb/s, "
               "no cable, MTU 9100, no cells, the least stall."),
    PARAM_INT("rate_bps", (int64_t) CONF_MIN_RATE, (int64_t) CONF_MAX_RATE,
              RPC_U_BPS, "Rate of the link."),
    PARAM_INT("cable_mm", 0, MAX_CABLE_MM, RPC_U_NONE,
              "Length of the cable in millimetres, at 1.98e8 m/s."),
    PARAM_INT("cable_delay_ns", 0, (int64_t) CONF_MAX_CABLE_NS, RPC_U_NS,
              "Its one-way delay, in place of its length."),
    PARAM_INT("mtu_bytes", 64, 65535, RPC_U_BYTES,
              "Largest frame of any class: the one being sent."),
    PARAM_INT("lossless_mtu_bytes", 64, 65535, RPC_U_BYTES,
              "Largest frame of the lossless class [mtu_bytes]."),
    PARAM_INT("cell_bytes", 1, CONF_MAX_CELL, RPC_U_BYTES,
              "Cell of the memory; 1: there are none."),
    PARAM_INT("reaction_quanta", 0, 65535, RPC_U_NONE,
              "Quanta within which the peer stops [by the rate, 802.3]."),
    PARAM_INT("macphy_bytes", 0, 1048576, RPC_U_BYTES,
              "Delay of MAC and PHY [820: 0.8 KiB]."),
    PARAM_INT("pipeline_bytes", 0, 1048576, RPC_U_BYTES,
              "Delay of the switch's pipeline [18K]."),
    PARAM_INT("small_packet_percent", 0, 100, RPC_U_NONE,
              "Share of small packets, which waste cells [100]."),
    PARAM_BOOL("whole_weight",
               "Rounds what small packets take of cells up to whole ones."),
    PARAM_INT("stall_ns", 0, 10000000000, RPC_U_NS,
              "How long the datapath's thread may not run [measured]."),
    PARAM_END,
};

const struct rpc_method methods_headroom[] = {
    {
        .name = "headroom.compute",
        .doc =
            "Computes the headroom of a lossless class, each term by itself: "
            "by the rule of hardware switches, and by the one that "
            "\"headroom auto\" goes by here.  Changes nothing.",
        .params = params,
        .result =
            "in (what was computed with).  hardware: cable_bytes (there and "
            "back), reaction_bytes, propagation_bytes (with MTU and MAC/PHY), "
            "weight_millionths (memory for each octet of them), "
            "weighted_bytes, xoff_bytes (with the lossless MTU, in whole "
            "KiB), size_bytes (with the pipeline).  auto: cable_bytes, "
            "reaction_bytes, macphy_bytes, rx_mtu_bytes, tx_mtu_bytes, "
            "hw_bytes (their sum in whole cells), stall_bytes, late_bytes "
            "(for a cable "
            "that is emulated), batch_bytes, "
            "sw_bytes (their sum with the cable), total_bytes (the larger).",
        .example = "{\"rate_bps\": \"100G\", \"cable_mm\": 300000, "
                   "\"mtu_bytes\": 9100, \"lossless_mtu_bytes\": 1500, "
                   "\"cell_bytes\": 144}",
        .handler = headroom_run,
    },
    {.name = NULL},
};
