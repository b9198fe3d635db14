/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON-RPC methods of the daemon, one table per noun.  The tables are the
 * one truth of the interface; docs/rpc.md is made from them.  Control thread.
 */
#ifndef VSWITCHD_METHODS_H
#define VSWITCHD_METHODS_H

#include "daemon.h"
#include "rpc/rpc.h"

extern const struct rpc_method methods_daemon[];
extern const struct rpc_method methods_bridge[];
extern const struct rpc_method methods_port[];
extern const struct rpc_method methods_pfc[];
extern const struct rpc_method methods_pool[];
extern const struct rpc_method methods_headroom[];
extern const struct rpc_method methods_buffer[];
extern const struct rpc_method methods_queue[];
extern const struct rpc_method methods_map[];
extern const struct rpc_method methods_mac[];
extern const struct rpc_method methods_stats[];
extern const struct rpc_method methods_audit[];
extern const struct rpc_method methods_doctor[];
extern const struct rpc_method methods_config[];
extern const struct rpc_method methods_controller[];
extern const struct rpc_method methods_preset[];
extern const struct rpc_method methods_events[];
extern const struct rpc_method methods_clear[];
extern const struct rpc_method methods_watermark[];
extern const struct rpc_method methods_watchdog[];
extern const struct rpc_method methods_drill[];
extern const struct rpc_method methods_history[];
extern const struct rpc_method methods_graph[];
extern const struct rpc_method methods_flow[];
extern const struct rpc_method methods_flow_dump[];
extern const struct rpc_method methods_flow_trace[];
extern const struct rpc_method methods_group[];

/* All of them; d may be null when only the tables are wanted. */
void methods_add(struct rpc_registry *, struct daemon *d);

/* --- what they share ---------------------------------------------------- */

#define PARAM_END    \
    {                \
        .name = NULL \
    }
/* A name of a bridge or port. */
#define PARAM_NAME(name_, required_, doc_)                              \
    {                                                                   \
        .name = (name_), .type = RPC_T_STRING, .required = (required_), \
        .min = 1, .max = CONF_NAME_MAX, .doc = (doc_),                  \
    }
#define PARAM_BOOL(name_, doc_)                             \
    {                                                       \
        .name = (name_), .type = RPC_T_BOOL, .doc = (doc_), \
    }
#define PARAM_INT(name_, min_, max_, unit_, doc_)                         \
    {                                                                     \
        .name = (name_), .type = RPC_T_INT, .min = (min_), .max = (max_), \
        .unit = (unit_), .doc = (doc_),                                   \
    }
#define PARAM_OBJECT(name_, doc_)                             \
    {                                                         \
        .name = (name_), .type = RPC_T_OBJECT, .doc = (doc_), \
    }

#define PARAM_RAW                                                             \
    PARAM_BOOL("raw", "Whether counters are those since the port was added, " \
                      "whatever was cleared: they never go back.")
/* A name of a pool or profile. */
#define PARAM_LABEL(name_, required_, doc_)                             \
    {                                                                   \
        .name = (name_), .type = RPC_T_STRING, .required = (required_), \
        .min = 1, .max = CONF_LABEL_MAX, .doc = (doc_),                 \
    }
/* An exponent, or none. */
extern const char *const methods_none[];
#define PARAM_ALPHA(doc_)                                         \
    {                                                             \
        .name = "alpha", .type = RPC_T_INT, .min = BUF_ALPHA_MIN, \
        .max = BUF_ALPHA_MAX, .choices = methods_none,            \
        .doc = doc_ "  \"none\" (default): it is not dynamic.",   \
    }

/* 0 to 7: a priority, a group, a queue. */
extern const struct rpc_param param_eight;

/* A port with all that is known of it. */
struct port_view {
    struct daemon *daemon;         /* of the bridge */
    struct bridge *bridge;         /* that runs */
    struct port *port;             /* that runs */
    struct conf_bridge *cb;        /* as configured */
    struct conf_port *cp;          /* as configured */
    const struct dp_plan_port *pp; /* as the datapath was told */
    bool raw;                      /* counters are wanted without baseline */
};

/* Calls fn for params.port, or for every port by bridge and name; it adds to
 * the array that becomes *result. */
typedef void port_view_fn(const struct port_view *, struct json_object *to);
int methods_each_port(struct daemon *, struct json_object *params,
                      port_view_fn *, struct json_object **result,
                      struct err *);
/* One port, by name; ENOENT. */
int methods_find_port(struct daemon *, const char *name, struct port_view *,
                      struct err *);

/* Edits one port with the members of `edit` (in the form of lib/conf), and
 * commits.  The path of errors is that of the port. */
int methods_edit_port(struct daemon *, const char *name,
                      struct json_object *edit, struct err *);

/* Frames that were lost below the datapath, by reason. */
void methods_add_kernel_drops(const struct netdev_stats *,
                              struct json_object *to);
/* The same for a bridge without its ports. */
int methods_edit_bridge(struct daemon *, const char *name,
                        struct json_object *edit, struct err *);

/* Member "mac": "02:00:00:00:00:01". */
void methods_add_mac(struct json_object *, const uint8_t mac[6]);
/* What port.show and bridge.show answer. */
struct json_object *methods_port_object(const struct port_view *, bool full);
struct json_object *methods_bridge_object(struct daemon *,
                                          const struct conf_bridge *);

/* Commits `to`, or only says what would change; takes it.  The result is
 * {changed, applied}. */
int methods_apply(struct daemon *, struct conf *to, bool dry_run,
                  struct json_object **result, struct err *);

#endif
