/* SPDX-License-Identifier: Apache-2.0
 *
 * What the methods share: see methods.h.
 */
#include "methods.h"

#include "json.h"
#include "txn.h"

#include <stdio.h>

const char *const methods_none[] = {"none", NULL};

const struct rpc_param param_eight = {.type = RPC_T_INT, .min = 0, .max = 7};

void
methods_add(struct rpc_registry *r, struct daemon *d)
{
    static const struct rpc_method *const tables[] = {
        methods_daemon,     methods_bridge,     methods_port,
        methods_pfc,        methods_buffer,     methods_queue,
        methods_map,        methods_mac,        methods_stats,
        methods_audit,      methods_doctor,     methods_config,
        methods_controller, methods_events,     methods_clear,
        methods_watermark,  methods_pool,       methods_headroom,
        methods_watchdog,   methods_drill,      methods_history,
        methods_graph,      methods_preset,     methods_flow,
        methods_flow_dump,  methods_flow_trace, methods_group,
    };

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        rpc_registry_add(r, tables[i], d);
}

/* What is configured runs: both sides of a port are always there. */
static void
view_of(struct daemon *d, struct conf_bridge *cb, struct conf_port *cp,
        struct port_view *v)
{
    struct bridge *b = daemon_find_bridge(d, cb->name);

    *v = (struct port_view){d,    b,  b->ports[cp->slot],
                            cb,   cp, b->plan->ports[cp->slot],
                            false};
}

int
methods_find_port(struct daemon *d, const char *name, struct port_view *v,
                  struct err *err)
{
    struct conf_bridge *cb;
    struct conf_port *cp;
    int error = conf_need_port(d->conf, name, &cb, &cp, err);

    if (!error)
        view_of(d, cb, cp, v);
    return error;
}

int
methods_each_port(struct daemon *d, struct json_object *params,
                  port_view_fn *fn, struct json_object **result,
                  struct err *err)
{
    const char *name = json_get_text(params, "port", NULL);
    bool raw = json_get_bool(params, "raw", false);
    struct json_object *a = json_object_new_array();
    struct port_view v;
    int error;

    if (name) {
        error = methods_find_port(d, name, &v, err);
        if (error) {
            json_object_put(a);
            return error;
        }
        v.raw = raw;
        fn(&v, a);
    }
    for (uint32_t i = 0; !name && i < d->conf->n_bridges; i++) {
        struct conf_bridge *cb = d->conf->bridges[i];

        for (uint32_t k = 0; k < cb->n_ports; k++) {
            view_of(d, cb, cb->ports[k], &v);
            v.raw = raw;
            fn(&v, a);
        }
    }
    *result = a;
    return 0;
}

int
methods_edit_port(struct daemon *d, const char *name, struct json_object *edit,
                  struct err *err)
{
    struct conf *to = txn_begin(d);
    struct conf_bridge *cb;
    struct conf_port *cp;
    char path[80];
    int error = conf_need_port(to, name, &cb, &cp, err);

    if (!error) {
        snprintf(path, sizeof(path), "/bridges/%s/ports/%s", cb->name,
                 cp->name);
        error = conf_port_edit(cp, edit, path, err);
    }
    return txn_end(d, to, error, err);
}

int
methods_edit_bridge(struct daemon *d, const char *name,
                    struct json_object *edit, struct err *err)
{
    struct conf *to = txn_begin(d);
    struct conf_bridge *cb;
    char path[48];
    int error = conf_need_bridge(to, name, &cb, err);

    if (!error) {
        snprintf(path, sizeof(path), "/bridges/%s", cb->name);
        error = conf_bridge_edit(cb, edit, path, err);
    }
    return txn_end(d, to, error, err);
}

int
methods_apply(struct daemon *d, struct conf *to, bool dry_run,
              struct json_object **result, struct err *err)
{
    struct json_object *changed = conf_diff(d->conf, to);
    int error = 0;

    if (dry_run)
        conf_destroy(to);
    else
        error = txn_commit(d, to, err);
    if (error) {
        json_object_put(changed);
        return error;
    }
    *result = json_object_new_object();
    json_add_changes(*result, changed);
    json_add_bool(*result, "applied", !dry_run);
    return 0;
}
