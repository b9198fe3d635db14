/* SPDX-License-Identifier: Apache-2.0
 *
 * Methods on the daemon itself.  Control thread.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "methods.h"

#include "base/clock.h"
#include "json.h"
#include "rpc_server.h"

#include <unistd.h>

static int
status(void *ctx, struct rpc_client *client, struct json_object *params,
       struct json_object **result, struct err *err)
{
    struct daemon *d = ctx;
    const struct rpc_server_counters *n = rpc_server_counters(d->server);
    struct json_object *o = json_object_new_object();
    struct json_object *features = json_object_new_array();
    struct json_object *rpc = json_object_new_object();
    uint64_t n_ports = 0;

    (void) client;
    (void) params;
    (void) err;
    for (uint32_t i = 0; i < d->conf->n_bridges; i++)
        n_ports += d->conf->bridges[i]->n_ports;
    for (int i = 0; daemon_features[i]; i++)
        json_object_array_add(features,
                              json_object_new_string(daemon_features[i]));
    json_add_text(o, "version", PACKAGE_VERSION);
    json_object_object_add(o, "features", features);
    json_add_uint(o, "pid", (uint64_t) getpid());
    json_add_uint(o, "uptime_s", (clock_ns() - d->started_ns) / NS_PER_S);
    json_add_text(o, "database", d->database);
    json_add_uint(o, "bridges", d->conf->n_bridges);
    json_add_uint(o, "ports", n_ports);
    json_add_uint(o, "config_generation", d->conf_generation);
    json_add_uint(rpc, "clients", n->n_clients);
    json_add_uint(rpc, "accepted", n->n_accepted);
    json_add_uint(rpc, "refused", n->n_refused);
    json_add_uint(rpc, "dropped", n->n_dropped);
    json_add_uint(rpc, "garbage", n->n_garbage);
    json_add_uint(rpc, "texts", n->n_texts);
    json_add_uint(rpc, "requests", n->n_requests);
    json_object_object_add(o, "rpc", rpc);
    *result = o;
    return 0;
}

const struct rpc_method methods_daemon[] = {
    {
        .name = "daemon.status",
        .doc = "Says what the daemon is, and that it lives.",
        .result =
            "An object: version, features (array of words), pid, "
            "uptime_s, database (path), bridges and ports (how many), "
            "config_generation (changes since the start), and rpc: "
            "clients, and accepted, refused, dropped, garbage, texts and "
            "requests (each of a batch) since the start.",
        .example = "{}",
        .handler = status,
    },
    {.name = NULL},
};
