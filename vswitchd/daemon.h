/* SPDX-License-Identifier: Apache-2.0
 *
 * The daemon as a whole: what its parts share.  All of it belongs to the
 * control thread.
 */
#ifndef VSWITCHD_DAEMON_H
#define VSWITCHD_DAEMON_H

#include "bridge.h"
#include "conf/conf.h"
#include "db/store.h"
#include "privs.h"
#include "reactor.h"
#include "rpc/rpc.h"

#include <stdbool.h>
#include <stdint.h>

struct links;
struct ofbridge;
struct ofd_control;
struct rpc_server;
struct sched_rules;

struct daemon {
    const char *database;                     /* path, as given */
    const struct sched_rules *sched;          /* of the threads of bridges */
    struct reactor *reactor;                  /* the loop */
    struct store *store;                      /* the database */
    struct conf *conf;                        /* what is stored and runs */
    uint64_t conf_generation;                 /* changes since the start */
    struct bridge *bridges[CONF_MAX_BRIDGES]; /* live; by conf, unordered */
    uint32_t n_bridges;                       /* of them */
    struct ofbridge *ofbridges;               /* their books, by name */
    struct rpc_registry *registry;            /* methods */
    struct rpc_server *server;                /* null until it listens */
    const char *socket;                       /* path of the control socket */
    struct ofd_control *of;                   /* OpenFlow of the bridges */
    struct links *links;                      /* interfaces of the kernel */
    uint64_t started_ns;                      /* by clock_ns() */
};

struct bridge *daemon_find_bridge(const struct daemon *, const char *name);
/* `bridge` may be null. */
struct port *daemon_find_port(const struct daemon *, const char *name,
                              struct bridge **bridge);

/* ", "-separated words: what this build can do. */
extern const char *const daemon_features[];

#endif
