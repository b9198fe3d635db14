/* SPDX-License-Identifier: Apache-2.0
 *
 * The transport of JSON-RPC: clients on a Unix socket, and on TCP when asked.
 * Everything is bounded: clients, what is read ahead of one, and what waits to
 * be written to one; a client that does not read its answers is dropped, and
 * no one else notices: requests of all clients are executed in turn.  Control
 * thread.
 */
#ifndef VSWITCHD_RPC_SERVER_H
#define VSWITCHD_RPC_SERVER_H

#include "base/err.h"
#include "events.h"
#include "rpc/rpc.h"

#include <stdbool.h>
#include <stdint.h>

#define RPC_SERVER_MAX_CLIENTS 64
#define RPC_SERVER_MAX_OUTPUT  RPC_MAX_WAITING

struct daemon;
struct rpc_server;

int rpc_server_create(struct daemon *, struct rpc_server **, struct err *);
void rpc_server_destroy(struct rpc_server *);
/* Accepts clients on a socket that listens already; takes fd. */
int rpc_server_listen(struct rpc_server *, int fd, struct err *);

/* Sends a notification to all who asked for that kind (and port). */
void rpc_server_notify(struct rpc_server *, enum event_kind, const char *port,
                       const char *text);
/* Whether anybody asked for it. */
bool rpc_server_wants(const struct rpc_server *, enum event_kind);

struct rpc_server_counters {
    uint64_t n_clients;  /* now */
    uint64_t n_accepted; /* ever */
    uint64_t n_refused;  /* beyond the most that are allowed */
    uint64_t n_dropped;  /* for not reading, or for stalling in mid-text */
    uint64_t n_garbage;  /* closed for what was no JSON */
    uint64_t n_texts;    /* requests and batches */
    uint64_t n_requests; /* those of batches too */
};
const struct rpc_server_counters *
rpc_server_counters(const struct rpc_server *);

/* What a client wants to hear of: kinds 0 ends it; port "": of all. */
void rpc_client_subscribe(struct rpc_client *, unsigned kinds,
                          const char *port);

#endif
