/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods on PFC and on 802.3x PAUSE.  Control thread.
 */
#include "methods.h"

#include "json.h"

#include <errno.h>
#include <stdio.h>

static uint8_t
bits_of(struct json_object *params, const char *key)
{
    struct json_object *a = json_get(params, key);
    unsigned bits = 0;

    for (size_t i = 0; a && i < json_object_array_length(a); i++)
        bits |= 1u << json_object_get_int(json_object_array_get_idx(a, i));
    return (uint8_t) bits;
}

/* Nothing but "off" is asked for, of a port where nothing is on. */
static bool
is_off_already(const struct port_view *v, struct json_object *params)
{
    return !v->cp->pfc_prios && bits_of(params, "disable") &&
           json_object_object_length(params) == 2;
}

static int
refuse_off(const struct port_view *v, struct err *err)
{
    char path[80];

    snprintf(path, sizeof(path), "/bridges/%s/ports/%s/pfc/priorities",
             v->cb->name, v->cp->name);
    return err_set(err, EINVAL, path, "[]", "a port with PFC",
                   "port %s has no PFC: there is nothing to switch off",
                   v->cp->name);
}

/* Both cannot be meant. */
static int
refuse_both(const char *name, uint8_t both, struct err *err)
{
    int prio = __builtin_ctz(both);
    char value[8];

    snprintf(value, sizeof(value), "%d", prio);
    return err_set(err, EINVAL, "/params/disable", value,
                   "priorities that are not in enable",
                   "port %s: priority %d is in enable and in disable: allowed "
                   "in one of them",
                   name, prio);
}

static int
set_pfc(void *ctx, struct rpc_client *client, struct json_object *params,
        struct json_object **result, struct err *err)
{
    static const char *const not_members[] = {"port", "enable", "disable",
                                              "priorities", NULL};
    const char *name = json_get_text(params, "port", "");
    struct json_object *edit, *pfc;
    struct port_view v;
    uint8_t prios, on = bits_of(params, "enable");
    uint8_t off = bits_of(params, "disable");
    int error = methods_find_port(ctx, name, &v, err);

    (void) client;
    if (error)
        return error;
    if (on & off)
        return refuse_both(name, on & off, err);
    if (is_off_already(&v, params))
        return refuse_off(&v, err);
    prios = json_get(params, "priorities") ? bits_of(params, "priorities")
                                           : v.cp->pfc_prios;
    prios = (uint8_t) ((prios | on) & ~off);
    pfc = json_without(params, not_members);
    json_object_object_add(pfc, "priorities", json_bits(prios));
    edit = json_object_new_object();
    json_object_object_add(edit, "pfc", pfc);
    error = methods_edit_port(ctx, name, edit, err);
    json_object_put(edit);
    if (!error)
        *result = json_object_new_object();
    return error;
}

static int
set_pause(void *ctx, struct rpc_client *client, struct json_object *params,
          struct json_object **result, struct err *err)
{
    static const char *const not_members[] = {"port", NULL};
    struct json_object *edit = json_object_new_object();
    int error;

    (void) client;
    json_object_object_add(edit, "pause", json_without(params, not_members));
    error =
        methods_edit_port(ctx, json_get_text(params, "port", ""), edit, err);
    json_object_put(edit);
    if (!error)
        *result = json_object_new_object();
    return error;
}

static struct json_object *
groups_of(const struct port_view *v)
{
    uint8_t lossless = conf_lossless_groups(v->cb, v->cp);
    struct json_object *a = json_object_new_array();

    for (int g = 0; g < N_PG; g++) {
        struct json_object *o;

        if (!(lossless >> g & 1))
            continue;
        o = json_object_new_object();
        json_add_uint(o, "group", (uint64_t) g);
        json_add_uint(o, "headroom_bytes", v->pp->pg[g].headroom_bytes);
        json_add_bool(o, "headroom_auto",
                      conf_group_in_force(v->cb, v->cp, g, NULL)
                              ->headroom_bytes == CONF_HEADROOM_AUTO);
        json_add_bool(o, "xoff",
                      counter_get_flag(
                          &dp_port_group(v->port->state, g)->xoff));
        json_object_array_add(a, o);
    }
    return a;
}

static void
add_pfc(const struct port_view *v, struct json_object *to)
{
    const struct pfc *p = dp_port_pfc(v->port->state);
    struct json_object *o = json_object_new_object();
    struct json_object *pause = json_object_new_object();

    json_add_text(o, "port", v->port->name);
    json_add_text(o, "bridge", v->bridge->name);
    json_object_object_add(o, "priorities", json_bits(v->cp->pfc_prios));
    json_add_bool(o, "asymmetric", v->cp->pfc_asymmetric);
    json_add_uint(o, "quanta", v->cp->pfc_quanta);
    json_add_bool(pause, "rx", v->cp->pause_rx);
    json_add_bool(pause, "tx", v->cp->pause_tx);
    json_object_object_add(o, "pause", pause);
    json_object_object_add(o, "groups", groups_of(v));
    json_object_object_add(o, "paused",
                           json_bits(counter_get_bits(&p->paused)));
    json_object_object_add(o, "pausing",
                           json_bits(counter_get_bits(&p->asserted)));
    json_object_array_add(to, o);
}

static int
show_pfc(void *ctx, struct rpc_client *client, struct json_object *params,
         struct json_object **result, struct err *err)
{
    (void) client;
    return methods_each_port(ctx, params, add_pfc, result, err);
}

static struct json_object *
counters_rx(const struct counts *c)
{
    const struct pfc_counters *n = &c->pfc;
    struct json_object *o = json_object_new_object();

    json_add_uint(o, "frames", n->rx_frames);
    json_object_object_add(o, "pfc", json_counters(n->rx_pfc, 8));
    json_object_object_add(o, "xoff", json_counters(n->rx_xoff, 8));
    json_object_object_add(o, "pauses", json_counters(n->rx_pauses, 8));
    json_object_object_add(o, "paused_ns", json_counters(n->rx_paused_ns, 8));
    json_object_object_add(o, "longest_ns",
                           json_counters(n->rx_longest_ns, 8));
    json_object_object_add(o, "longest_at",
                           json_moments(n->rx_longest_at_ns, 8));
    json_object_object_add(o, "last_ns", json_counters(n->rx_last_ns, 8));
    json_object_object_add(o, "last_at", json_moments(n->rx_last_at_ns, 8));
    json_add_uint(o, "pause", n->rx_pause);
    json_add_uint(o, "not_enabled", n->rx_not_enabled);
    json_add_uint(o, "malformed", n->rx_malformed);
    json_add_uint(o, "unsupported", n->rx_unsupported);
    json_object_object_add(o, "late_frames",
                           json_counters(c->n.late_frames, 8));
    json_object_object_add(o, "late_bytes", json_counters(c->n.late_bytes, 8));
    return o;
}

static struct json_object *
counters_tx(const struct pfc_counters *n)
{
    struct json_object *o = json_object_new_object();

    json_add_uint(o, "frames", n->tx_frames);
    json_object_object_add(o, "pfc", json_counters(n->tx_pfc, 8));
    json_object_object_add(o, "xoff", json_counters(n->tx_xoff, 8));
    json_object_object_add(o, "pauses", json_counters(n->tx_pauses, 8));
    json_object_object_add(o, "lapses", json_counters(n->tx_lapses, 8));
    json_object_object_add(o, "paused_ns", json_counters(n->tx_paused_ns, 8));
    json_object_object_add(o, "longest_ns",
                           json_counters(n->tx_longest_ns, 8));
    json_object_object_add(o, "longest_at",
                           json_moments(n->tx_longest_at_ns, 8));
    json_object_object_add(o, "last_ns", json_counters(n->tx_last_ns, 8));
    json_object_object_add(o, "last_at", json_moments(n->tx_last_at_ns, 8));
    json_add_uint(o, "pause", n->tx_pause);
    return o;
}

static void
add_counters(const struct port_view *v, struct json_object *to)
{
    struct json_object *o = json_object_new_object();
    struct counts c;

    counts_get(v->port, v->raw, &c);
    json_add_text(o, "port", v->port->name);
    json_object_object_add(o, "rx", counters_rx(&c));
    json_object_object_add(o, "tx", counters_tx(&c.pfc));
    json_object_array_add(to, o);
}

static int
show_counters(void *ctx, struct rpc_client *client, struct json_object *params,
              struct json_object **result, struct err *err)
{
    (void) client;
    return methods_each_port(ctx, params, add_counters, result, err);
}

static const struct rpc_param pfc_set_params[] = {
    PARAM_NAME("port", true, "The port."),
    {.name = "enable",
     .type = RPC_T_ARRAY,
     .max = 8,
     .items = &param_eight,
     .doc = "Priorities that PFC is switched on for."},
    {.name = "disable",
     .type = RPC_T_ARRAY,
     .max = 8,
     .items = &param_eight,
     .doc = "Priorities that PFC is switched off for, none of them in enable; "
            "pauses that are held on the peer for them are released."},
    {.name = "priorities",
     .type = RPC_T_ARRAY,
     .max = 8,
     .items = &param_eight,
     .doc = "The whole set of priorities instead; enable and disable then "
            "change this set."},
    PARAM_BOOL("asymmetric",
               "Whether all eight priorities are honoured, while PFC frames "
               "are sent for the enabled ones only."),
    PARAM_INT("quanta", 1, 65535, RPC_U_NONE,
              "Pause time that is sent, in units of 512 bit times."),
    PARAM_END,
};

static const struct rpc_param pause_set_params[] = {
    PARAM_NAME("port", true, "The port."),
    PARAM_BOOL("rx", "Whether PAUSE frames are obeyed."),
    PARAM_BOOL("tx", "Whether PAUSE frames are sent: every priority is "
                     "lossless then."),
    PARAM_END,
};

static const struct rpc_param counters_params[] = {
    PARAM_NAME("port", false, "Only this port."),
    PARAM_RAW,
    PARAM_END,
};

static const struct rpc_param port_params[] = {
    PARAM_NAME("port", false, "Only this port."),
    PARAM_END,
};

const struct rpc_method methods_pfc[] = {
    {
        .name = "pfc.set",
        .doc = "Changes the lossless priorities of a port.",
        .params = pfc_set_params,
        .result = "An empty object.",
        .example = "{\"port\": \"eth1\", \"enable\": [3]}",
        .changes = true,
        .handler = set_pfc,
    },
    {
        .name = "pfc.show",
        .doc = "Shows PFC and PAUSE of the ports, and who is paused now.",
        .params = port_params,
        .result = "An array of objects: port, bridge, priorities, asymmetric, "
                  "quanta, pause (rx, tx), groups (of the lossless ones: "
                  "group, headroom_bytes, headroom_auto, xoff), paused "
                  "(priorities that the peer has paused), pausing (priorities "
                  "that we have paused the peer on).",
        .example = "{}",
        .handler = show_pfc,
    },
    {
        .name = "pfc.counters",
        .doc = "Counts PFC and PAUSE frames and pauses, per port and "
               "priority.",
        .params = counters_params,
        .result = "An array of objects: port, rx, tx.  Both have frames (PFC "
                  "frames), and by priority pfc (frames that name it), xoff "
                  "(of those: with a time above zero), pauses (times that it "
                  "began), paused_ns (till now); longest_ns and last_ns, of "
                  "pauses that have ended, and when: longest_at and last_at "
                  "(null: none since the last clear); then pause (802.3x "
                  "frames).  tx also has, by priority, lapses: times that a "
                  "pause had run out when it was repeated, at a peer that "
                  "counts its time by the interface's speed.  rx also has "
                  "not_enabled, malformed and "
                  "unsupported, and by priority late_frames and late_bytes: "
                  "received while we paused the peer.",
        .example = "{\"port\": \"eth1\"}",
        .handler = show_counters,
    },
    {
        .name = "pause.set",
        .doc = "Switches 802.3x PAUSE of a port; not together with PFC.",
        .params = pause_set_params,
        .result = "An empty object.",
        .example = "{\"port\": \"eth1\", \"rx\": true}",
        .changes = true,
        .handler = set_pause,
    },
    {.name = NULL},
};
