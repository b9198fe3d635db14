/* SPDX-License-Identifier: Apache-2.0
 *
 * What others need of the configuration: pools and numbers of ports; its
 * words; rates, headrooms, and the plan of a port and of a bridge.  Part of
 * conf.h, which includes it.  Control thread.
 */
#ifndef CONF_BUILD_H
#define CONF_BUILD_H

#include "conf/conf.h"

/* A pool or profile by name; null: there is none. */
struct conf_pool *conf_find_pool(const struct conf_bridge *, const char *name);
struct conf_profile *conf_find_profile(const struct conf_bridge *,
                                       const char *name);
/* Add with defaults; errors name what is allowed. */
int conf_add_pool(struct conf_bridge *, const char *name, struct conf_pool **,
                  struct err *);
int conf_add_profile(struct conf_bridge *, const char *name,
                     struct conf_profile **, struct err *);
/* Removes one.  ENOENT; EBUSY, naming a user, when it is in use. */
int conf_del_pool(struct conf_bridge *, const char *name, struct err *);
int conf_del_profile(struct conf_bridge *, const char *name, struct err *);
/* The thresholds that hold for a group: its own, or its profile's.  *pool is
 * the slot of the pool that it shares; may be null. */
const struct conf_group *conf_group_in_force(const struct conf_bridge *,
                                             const struct conf_port *, int pg,
                                             uint8_t *pool);

/* The same for the limit of a queue: limit_bytes, alpha and pool. */
void conf_queue_in_force(const struct conf_bridge *, const struct conf_port *,
                         int q, struct dp_plan_queue *);

/* After ports were added, before it is validated: the ports that stay keep
 * their OpenFlow numbers, those that ask for one get it, the others have the
 * lowest that are free, in the order of addition; the bridges' own ports have
 * a slot.  `old` may be null. */
void conf_settle_ports(struct conf *, const struct conf *old);
/* The bridge's own port as if it were configured; false: it has none.  Its
 * name is the bridge's, its number OFPP_LOCAL. */
bool conf_local_port(const struct conf_bridge *, struct conf_port *);

/* The words of the JSON form; find returns false for another word. */
const char *conf_trust_name(enum dp_trust);
const char *conf_vlan_mode_name(enum dp_vlan_mode);
const char *conf_prio_tags_name(enum dp_prio_tags);
bool conf_trust_find(const char *word, enum dp_trust *);
bool conf_prio_tags_find(const char *word, enum dp_prio_tags *);
bool conf_vlan_mode_find(const char *word, enum dp_vlan_mode *);

/* What only the running daemon knows of a port. */
struct conf_live {
    uint64_t speed_bps; /* the interface's own speed; 0: unknown */
    uint32_t mtu;       /* its MTU; 0: unknown */
    uint8_t mac[6];     /* its address */
};

/* The map that holds for a port: its own members over the bridge's. */
void conf_map_effective(const struct conf_bridge *, const struct conf_port *,
                        struct conf_map *);

/* The cell that headrooms of a port are rounded up to. */
uint32_t conf_port_cell(const struct conf_bridge *, const struct conf_port *);

/* The rate that quanta and headroom go by: configured, else the interface's
 * own, else 10 Gb/s. */
uint64_t conf_port_rate(const struct conf_port *, const struct conf_live *);

/* Headroom of a lossless group on that port: configured, or by the rule of
 * pfc-semantics section 6 with the stall measured. */
uint64_t conf_port_headroom(const struct conf_bridge *,
                            const struct conf_port *, int pg,
                            const struct conf_live *, uint64_t stall_ns);

/* Every term of that rule, for `doctor`; what is configured has no say. */
struct headroom;
void conf_port_headroom_terms(const struct conf_bridge *,
                              const struct conf_port *,
                              const struct conf_live *, uint64_t stall_ns,
                              struct headroom *);

/* Bit g: group g of the port is lossless: a PFC-enabled priority of the port
 * maps to it (lossy ones may share it), or pause_tx is on.
 * Bit q: queue q of the port is lossless: some priority that is PFC-enabled on
 * ANY port of the bridge (all of them where one has pause_tx) maps to it.  A
 * frame that came in under the promise keeps it on a port without PFC; a lossy
 * frame in such a queue is bounded by its own ingress group. */
uint8_t conf_lossless_groups(const struct conf_bridge *,
                             const struct conf_port *);
uint8_t conf_lossless_queues(const struct conf_bridge *,
                             const struct conf_port *);

/* Sizes of the datapath of a bridge.  The buffers, each counted with its
 * descriptor, fill memory_bytes; clones and tables are a few MiB beside.  The
 * caller gives the seed. */
void conf_build_dp(const struct conf_bridge *, struct dp_conf *);

/* Builds the plan of one port: everything but netdev, state and is_new, which
 * are the caller's and left as they are.  live may be null. */
void conf_build_port(const struct conf_bridge *, const struct conf_port *,
                     const struct conf_live *, uint64_t stall_ns,
                     struct dp_plan_port *);

/* Fills shared_bytes, low_buffers, ageing and the like of a plan whose ports
 * are in; generation, n_slots and ports are the caller's.  Refuses with ENOSPC
 * and the numbers when computed headrooms do not fit the memory. */
int conf_build_bridge(const struct conf_bridge *, struct dp_plan *,
                      struct err *);

#endif
