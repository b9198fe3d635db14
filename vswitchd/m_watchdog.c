/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods on the PFC watchdog and its mirror image, the guard.  Control
 * thread.
 */
#include "methods.h"

#include "json.h"
#include "txn.h"

#include <errno.h>
#include <stdio.h>

/* What the watchdog of a port has to look at: without PFC there is nothing,
 * and who asks for it should hear so. */
static int
need_pfc(struct daemon *d, const char *name, struct port_view *v,
         struct err *err)
{
    char path[80];
    int error = methods_find_port(d, name, v, err);

    if (error || v->cp->pfc_prios || v->cp->pfc_asymmetric)
        return error;
    snprintf(path, sizeof(path), "/bridges/%s/ports/%s/pfc/priorities",
             v->cb->name, v->cp->name);
    return err_set(err, EINVAL, path, "[]", "at least one priority",
                   "port %s has no PFC: there is nothing to watch (sluicectl "
                   "pfc set %s 3:on makes priority 3 lossless)",
                   v->cp->name, v->cp->name);
}

static int
edit_section(void *ctx, const char *section, struct json_object *params,
             struct json_object *members, struct json_object **result,
             struct err *err)
{
    struct json_object *edit = json_object_new_object();
    int error;

    json_object_object_add(edit, section, members);
    error =
        methods_edit_port(ctx, json_get_text(params, "port", ""), edit, err);
    json_object_put(edit);
    if (!error)
        *result = json_object_new_object();
    return error;
}

static int
start(void *ctx, struct rpc_client *client, struct json_object *params,
      struct json_object **result, struct err *err)
{
    static const char *const not_members[] = {"port", NULL};
    struct json_object *members;
    struct port_view v;
    int error = need_pfc(ctx, json_get_text(params, "port", ""), &v, err);

    (void) client;
    if (error)
        return error;
    members = json_without(params, not_members);
    json_add_bool(members, "enabled", true);
    return edit_section(ctx, "watchdog", params, members, result, err);
}

static int
stop(void *ctx, struct rpc_client *client, struct json_object *params,
     struct json_object **result, struct err *err)
{
    struct json_object *members;
    struct port_view v;
    int error =
        methods_find_port(ctx, json_get_text(params, "port", ""), &v, err);

    (void) client;
    /* A watchdog that is left over may be switched off in any case. */
    if (!error && !v.cp->watchdog.enabled)
        error = need_pfc(ctx, v.cp->name, &v, err);
    if (error)
        return error;
    members = json_object_new_object();
    json_add_bool(members, "enabled", false);
    return edit_section(ctx, "watchdog", params, members, result, err);
}

static int
guard(void *ctx, struct rpc_client *client, struct json_object *params,
      struct json_object **result, struct err *err)
{
    static const char *const not_members[] = {"port", NULL};

    (void) client;
    return edit_section(ctx, "guard", params,
                        json_without(params, not_members), result, err);
}

static int
override(void *ctx, struct rpc_client *client, struct json_object *params,
         struct json_object **result, struct err *err)
{
    struct conf *to = txn_begin(ctx);
    enum conf_override o = CONF_OVERRIDE_OFF;
    int error;

    (void) client;
    conf_override_find(json_get_text(params, "action", "off"), &o);
    for (uint32_t i = 0; i < to->n_bridges; i++)
        to->bridges[i]->watchdog_override = o;
    error = txn_commit(ctx, to, err);
    if (!error)
        *result = json_object_new_object();
    return error;
}

/* --- show -----------------------------------------------------------------
 */

static struct json_object *
count_object(const struct dp_storm_count *c)
{
    struct json_object *o = json_object_new_object();

    json_add_uint(o, "tx_ok", c->tx_ok);
    json_add_uint(o, "tx_drop", c->tx_drop);
    json_add_uint(o, "rx_ok", c->rx_ok);
    json_add_uint(o, "rx_drop", c->rx_drop);
    return o;
}

static struct json_object *
storm_object(int prio, const struct dp_storm *s)
{
    struct json_object *o = json_object_new_object();

    json_add_uint(o, "priority", (uint64_t) prio);
    json_add_uint(o, "queue", s->queue);
    json_add_text(o, "status",
                  s->is_stormed   ? "stormed"
                  : s->is_watched ? "operational"
                                  : "stopped");
    json_add_uint(o, "detected", s->n_detected);
    json_add_uint(o, "restored", s->n_restored);
    json_object_object_add(o, "last_detected",
                           s->n_detected ? json_moment(s->began_ns) : NULL);
    json_object_object_add(o, "total", count_object(&s->total));
    json_object_object_add(o, "last", count_object(&s->last));
    return o;
}

static struct json_object *
queues_of(const struct port_view *v)
{
    struct json_object *a = json_object_new_array();

    for (int p = 0; p < N_PRIO; p++) {
        struct dp_storm s;

        counts_storm(v->port, p, &s);
        if (s.is_watched || s.n_detected || s.total.tx_drop || s.total.rx_drop)
            json_object_array_add(a, storm_object(p, &s));
    }
    return a;
}

static struct json_object *
guard_object(const struct port_view *v)
{
    const struct dp_watch *w = dp_port_watch(v->port->state);
    struct json_object *o = json_object_new_object();
    counter_t n_stuck[N_PG];

    json_add_uint(o, "time_ms", v->cp->guard.time_ms);
    json_add_text(o, "action", v->cp->guard.release ? "release" : "alert");
    json_object_object_add(o, "stuck",
                           json_bits(__atomic_load_n(&w->guard.stuck,
                                                     __ATOMIC_RELAXED)));
    for (int g = 0; g < N_PG; g++)
        n_stuck[g] = counts_stuck(v->port, g);
    json_object_object_add(o, "detected", json_counters(n_stuck, N_PG));
    return o;
}

static void
add_watchdog(const struct port_view *v, struct json_object *to)
{
    const struct conf_watchdog *w = &v->cp->watchdog;
    struct json_object *o = json_object_new_object();

    json_add_text(o, "port", v->port->name);
    json_add_text(o, "bridge", v->bridge->name);
    json_add_bool(o, "enabled", w->enabled);
    json_add_text(o, "action", conf_watchdog_action_name(w->action));
    json_add_text(o, "override", conf_override_name(v->cb->watchdog_override));
    json_add_uint(o, "detection_ms", w->detection_ms);
    json_add_uint(o, "restoration_ms", w->restoration_ms);
    json_add_uint(o, "poll_ms", w->poll_ms);
    json_object_object_add(o, "queues", queues_of(v));
    json_object_object_add(o, "guard", guard_object(v));
    json_object_array_add(to, o);
}

static int
show(void *ctx, struct rpc_client *client, struct json_object *params,
     struct json_object **result, struct err *err)
{
    (void) client;
    return methods_each_port(ctx, params, add_watchdog, result, err);
}

/* --- tables ---------------------------------------------------------------
 */

static const char *const actions[] = {"drop", "forward", "alert", NULL};
static const char *const overrides[] = {"drop", "forward", "off", NULL};
static const char *const guard_actions[] = {"alert", "release", NULL};

static const struct rpc_param start_params[] = {
    PARAM_NAME("port", true, "The port."),
    {.name = "action",
     .type = RPC_T_STRING,
     .choices = actions,
     .doc = "In a storm: drop discards what is queued, what comes for the "
            "queue and what arrives in its group; forward ignores the peer's "
            "PFC and sends everything; alert only reports."},
    PARAM_INT("detection_ms", 100, 5000, RPC_U_MS,
              "A priority that was paused for so long without a resume is "
              "stormed."),
    PARAM_INT("restoration_ms", 100, 60000, RPC_U_MS,
              "The storm is over when no XOFF came for so long."),
    PARAM_INT("poll_ms", 100, 1000, RPC_U_MS,
              "How often is looked; not above the other two."),
    PARAM_END,
};

static const struct rpc_param stop_params[] = {
    PARAM_NAME("port", true, "The port."),
    PARAM_END,
};

static const struct rpc_param override_params[] = {
    {.name = "action",
     .type = RPC_T_STRING,
     .required = true,
     .choices = overrides,
     .doc = "drop or forward: in every storm, whatever ports say; off: what "
            "they say."},
    PARAM_END,
};

static const struct rpc_param guard_params[] = {
    PARAM_NAME("port", true, "The port."),
    PARAM_INT("time_ms", 0, 60000, RPC_U_MS,
              "A group that pauses the peer for longer without one XON is "
              "stuck; 0: off, else 100 at least."),
    {.name = "action",
     .type = RPC_T_STRING,
     .choices = guard_actions,
     .doc = "alert only reports; release lets the peer go, at the risk of "
            "frames that the headroom does not hold."},
    PARAM_END,
};

static const struct rpc_param show_params[] = {
    PARAM_NAME("port", false, "Only this port."),
    PARAM_END,
};

const struct rpc_method methods_watchdog[] = {
    {
        .name = "watchdog.start",
        .doc = "Watches the lossless priorities of a port for storms of PFC "
               "from its peer; what is not given stays as it is.  Begins "
               "afresh: a storm of before is not carried over.",
        .params = start_params,
        .result = "An empty object.",
        .example = "{\"port\": \"eth1\", \"action\": \"drop\", "
                   "\"detection_ms\": 400, \"restoration_ms\": 400}",
        .changes = true,
        .handler = start,
    },
    {
        .name = "watchdog.stop",
        .doc = "Ends the watch, and any storm: its PFC is obeyed again.",
        .params = stop_params,
        .result = "An empty object.",
        .example = "{\"port\": \"eth1\"}",
        .changes = true,
        .handler = stop,
    },
    {
        .name = "watchdog.override",
        .doc = "Sets what is done in every storm on every port of every "
               "bridge, in place of the ports' own actions.",
        .params = override_params,
        .result = "An empty object.",
        .example = "{\"action\": \"drop\"}",
        .changes = true,
        .handler = override,
    },
    {
        .name = "watchdog.guard",
        .doc = "Watches for groups of a port that pause its peer without "
               "end.",
        .params = guard_params,
        .result = "An empty object.",
        .example = "{\"port\": \"eth1\", \"time_ms\": \"2s\", \"action\": "
                   "\"release\"}",
        .changes = true,
        .handler = guard,
    },
    {
        .name = "watchdog.show",
        .doc = "Shows what is watched, and what was found.",
        .params = show_params,
        .result =
            "An array of objects: port, bridge, enabled, action, override, "
            "detection_ms, restoration_ms, poll_ms, queues (array by "
            "priority: priority, queue, status: operational, stormed or "
            "stopped, detected, restored, last_detected, total and last: "
            "frames tx_ok, tx_drop, rx_ok, rx_drop in all storms and in the "
            "last one), guard (time_ms, action, stuck: groups, detected: by "
            "group).",
        .example = "{\"port\": \"eth1\"}",
        .handler = show,
    },
    {.name = NULL},
};
