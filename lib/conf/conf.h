/* SPDX-License-Identifier: Apache-2.0
 *
 * The configuration of a daemon as a typed model: bridges, their ports, and
 * what each port's lossless classes look like.  Changes follow one road
 * (vswitchd/txn.c): copy, edit the copy, conf_validate() it whole, build what
 * can fail, commit (db/), publish.  Control thread.
 *
 * JSON form (conf_from_json, conf_to_json; `apply` and `export` use it), all
 * members optional except "type"; what is absent has its default:
 *
 * {"bridges": {"br0": {
 *    "memory_bytes": 67108864, "max_frame_bytes": 1522, "mac_ageing_s": 300,
 *    "forward_reserved": false, "local": true, "cell_bytes": 1,
 *    "headroom_pool_bytes": 0, "headroom_ratio": 0,
 *    "pools": {"roce": {"size_bytes": 4194304, "mode": "dynamic"}},
 *    "profiles": {"lossless": {"pool": "roce", "reserved_bytes": 0,
 *        "xoff_bytes": 131072, "alpha": 0, "xon_bytes": 65536,
 *        "xon_offset_bytes": 0, "headroom": "auto"}},
 *    "ports": {"eth1": {
 *       "type": "afpacket", "mac": "02:00:00:00:00:01",      (mac: tap only)
 *       "ofport": 1,                (0: the lowest that is free, and stays)
 *       "rate_bps": 200000000, "cable_delay_ns": 0,
 *       "cable_emulated": true, "cell_bytes": 0, "ring_bytes": 0,
 *       "backpressure": false,                               (tap only)
 *       "vlan": {"mode": "trunk", "tag": 0, "trunks": [10, 20]},
 *       "pfc": {"priorities": [3], "asymmetric": false, "quanta": 65535},
 *       "pause": {"rx": false, "tx": false},
 *       ("watchdog" and "guard": see watch.h)
 *       "map": {"trust": "pcp", "default_priority": 0,
 *               "pcp_to_priority": [0,1,2,3,4,5,6,7],
 *               "dscp_to_priority": [0,0,0,0,0,0,0,0,1,...,7],      (64)
 *               "priority_to_queue": [0,...,7],
 *               "priority_to_group": [0,...,7],
 *               "priority_to_pcp": [-1,...,-1],  (-1: leaves as it came)
 *               "priority_to_dscp": [-1,...,-1],
 *               "priority_tags": "keep"},
 *       "groups": {"3": {"profile": "none", "reserved_bytes": 0,
 *                        "xoff_bytes": 65536, "alpha": "none",
 *                        "xon_bytes": 32768, "xon_offset_bytes": 0,
 *                        "headroom": "auto"}},             (or a number)
 *       "queues": {"0": {"mode": "ets", "weight": 30, "max_rate_bps": 0,
 *                        "profile": "none", "limit_bytes": 131072,
 *                        "alpha": "none", "wred_min_bytes": 0,
 *                        "wred_max_bytes": 0, "wred_percent": 100,
 *                        "ecn": false}}}}}}}
 *
 * Who controls a bridge: see control.h.  A bridge has a "map" too: the
 * defaults of its ports, member by member.  A member that is null gets its
 * default (of a port's map: the bridge's again). A "tag" without a "mode"
 * makes an access port, as in Open vSwitch.  An export has all members, but of
 * groups and queues only those that differ from the default, and of a port's
 * map what it gives itself.
 *
 * A group or queue with a profile has the profile's thresholds, and none of
 * its own: naming one puts them away.  A pool or profile that is null is
 * removed.
 */
#ifndef CONF_CONF_H
#define CONF_CONF_H

#include "base/err.h"
#include "conf/control.h"
#include "conf/watch.h"
#include "dp/dp.h"
#include "dp/plan.h"

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#define CONF_NAME_MAX      15
#define CONF_MAX_BRIDGES   64
#define CONF_HEADROOM_AUTO UINT64_MAX
#define CONF_LABEL_MAX     31 /* of the name of a pool or profile */
#define CONF_MAX_POOLS     (DP_MAX_POOLS - 1)
#define CONF_MAX_PROFILES  64

/* Ranges; the others are in the tables of field.c. */
#define CONF_MIN_MEMORY   UINT64_C(1048576)
#define CONF_MAX_MEMORY   UINT64_C(4294967296)
#define CONF_MIN_FRAME    1514u /* MTU 1500 and an Ethernet header */
#define CONF_MAX_FRAME    9238u /* MTU 9216, the header and two tags */
#define CONF_MIN_RATE     UINT64_C(1000)
#define CONF_MAX_RATE     UINT64_C(400000000000)
#define CONF_MAX_CABLE_NS UINT64_C(1000000000)
#define CONF_MIN_RING     65536u
#define CONF_MAX_RING     268435456u
#define CONF_MAX_VID      4094
#define CONF_MAX_CELL     4096u
#define CONF_MAX_RATIO    100u
#define CONF_MAX_OFPORT   65279u /* below the reserved ones of OpenFlow 1.0 */
#define CONF_NO_SLOT      UINT16_MAX
/* What is under way on a cable that is emulated: rate x delay. */
#define CONF_MAX_WIRE UINT64_C(67108864)

#define CONF_DEFAULT_FRAME  1522u /* MTU 1500, the header and two tags */
#define CONF_DEFAULT_MEMORY UINT64_C(67108864)
#define CONF_DEFAULT_XOFF   UINT64_C(131072) /* shared limit of a group */
#define CONF_DEFAULT_XON    UINT64_C(65536)
#define CONF_DEFAULT_QLIMIT UINT64_C(131072) /* lossy egress queue */

/* Members of a map that a port gives itself; the others are its bridge's. */
#define CONF_MAP_TRUST     1u
#define CONF_MAP_DEFAULT   2u
#define CONF_MAP_PCP       4u
#define CONF_MAP_QUEUE     8u
#define CONF_MAP_GROUP     16u
#define CONF_MAP_DSCP      32u
#define CONF_MAP_TO_PCP    64u
#define CONF_MAP_TO_DSCP   128u
#define CONF_MAP_PRIO_TAGS 256u
#define CONF_MAP_ALL       511u
/* In a rewrite map: leaves as it came; -1 in JSON. */
#define CONF_KEEP 255

struct conf_map {
    uint16_t given;                /* CONF_MAP_ bits; a bridge's has all */
    enum dp_trust trust;           /* where the priority comes from */
    uint8_t default_prio;          /* 0..7, for frames that carry none */
    uint8_t pcp_to_prio[8];        /* 0..7 each */
    uint8_t prio_to_queue[N_PRIO]; /* 0..7 each */
    uint8_t prio_to_pg[N_PRIO];    /* 0..7 each */
    uint8_t dscp_to_prio[64];      /* 0..7 each */
    uint8_t prio_to_pcp[N_PRIO];   /* egress: 0..7 or CONF_KEEP */
    uint8_t prio_to_dscp[N_PRIO];  /* egress: 0..63 or CONF_KEEP */
    enum dp_prio_tags prio_tags;   /* egress: tags without a VLAN */
};

/* A part of the bridge's memory that groups share; what no pool takes is the
 * default one. */
struct conf_pool {
    char name[CONF_LABEL_MAX + 1]; /* first member */
    uint64_t size_bytes;           /* of the memory */
    bool dynamic;                  /* its profiles have an alpha, else none */
    uint8_t slot;                  /* in the datapath, 1 to 7; no
                                      configuration */
};

struct conf_group {
    char profile[CONF_LABEL_MAX + 1]; /* that holds in place of all below;
                                         empty: none */
    uint64_t reserved_bytes;          /* the group's own part of the memory */
    uint64_t xoff_bytes;              /* static limit of its shared usage */
    int8_t alpha;              /* dynamic one, -7 to 3; BUF_ALPHA_NONE */
    uint64_t xon_bytes;        /* <= xoff_bytes, unless alpha is given */
    uint64_t xon_offset_bytes; /* the same; 0: not used */
    uint64_t headroom_bytes;   /* CONF_HEADROOM_AUTO: computed */
};

/* Thresholds under a name, for groups and queues of the bridge's ports.  A
 * queue takes its limit of it: alpha, or else xoff_bytes. */
struct conf_profile {
    char name[CONF_LABEL_MAX + 1]; /* first member */
    char pool[CONF_LABEL_MAX + 1]; /* that is shared; empty: the default */
    struct conf_group t;           /* the thresholds; its profile is empty */
};

struct conf_queue {
    bool ets;                /* takes part in ETS; else strict */
    uint8_t weight;          /* per cent, 0..100; ETS queues sum to 100 */
    uint64_t max_rate_bps;   /* 0: not limited */
    uint64_t limit_bytes;    /* lossy: tail drop above; >= 1 frame */
    uint64_t wred_min_bytes; /* <= wred_max_bytes */
    uint64_t wred_max_bytes; /* 0: no WRED */
    uint8_t wred_percent;    /* probability at the maximum, 0..100 */
    bool ecn;                /* mark ECT; only with WRED */
    char profile[CONF_LABEL_MAX + 1]; /* has the limit; empty: none */
    int8_t alpha; /* dynamic limit in its place; BUF_ALPHA_NONE */
};

struct conf_port {
    char name[CONF_NAME_MAX + 1];   /* interface name, unique in the daemon */
    const struct netdev_class *cls; /* its type */
    uint16_t slot;                  /* index in the datapath; never reused
                                       while the port lives */
    uint32_t ofport;                /* number in OpenFlow, from 1 */
    bool ofport_auto;               /* it was not asked for: gives way until it
                                       is settled; no configuration */
    bool have_mac;                  /* mac was given (tap) */
    uint8_t mac[6];                 /* the address that a tap gets */
    uint64_t rate_bps;              /* 0: the interface's own, not shaped */
    uint64_t cable_delay_ns;        /* one way; headroom follows */
    bool cable_emulated;            /* frames that leave are delayed by it */
    uint32_t cell_bytes;            /* of the switch that is emulated; 0: as
                                       the bridge says */
    uint32_t ring_bytes;            /* 0: automatic */
    enum dp_vlan_mode vlan_mode;    /* as in Open vSwitch */
    uint16_t tag;                   /* 0..4094; access and native modes */
    uint16_t n_trunks;              /* 0: all */
    uint16_t trunks[4095];          /* ascending VIDs, 0..4094 */
    bool backpressure;              /* tap: PFC holds back who sends to it */
    uint8_t pfc_prios;              /* bit p: PFC enabled */
    bool pfc_asymmetric;            /* honour all eight, send only those */
    uint16_t pfc_quanta;            /* 1..65535 */
    bool pause_rx, pause_tx;        /* 802.3x; exclusive with pfc_prios */
    struct conf_watchdog watchdog;  /* storms of the peer */
    struct conf_guard guard;        /* our own endless pausing */
    struct conf_map map;            /* what it gives overrides the bridge's */
    struct conf_group group[N_PG];  /* ingress */
    struct conf_queue queue[N_QUEUE]; /* egress */
};

struct conf_bridge {
    char name[CONF_NAME_MAX + 1];
    uint64_t memory_bytes;    /* 1 MiB .. 4 GiB */
    uint32_t max_frame_bytes; /* without FCS, tags counted */
    uint32_t mac_ageing_s;    /* 0: never; .. 1000000 (802.1Q) */
    bool forward_reserved;    /* lab option */
    bool drop_unknown;        /* lossless unknown unicast: not flooded */
    bool local;               /* has a port of its own, a TAP of its name */
    uint16_t local_slot;      /* of that port; CONF_NO_SLOT: there is no place
                                 for it; no configuration */
    enum conf_override watchdog_override; /* of all its ports */
    uint32_t cell_bytes;          /* headrooms are whole cells; 1: no cells */
    uint64_t headroom_pool_bytes; /* headroom that all groups share; 0: not */
    uint32_t headroom_ratio;      /* the same as their sum over this; 0: not */
    struct conf_pool pool[CONF_MAX_POOLS];          /* by name, ascending */
    uint32_t n_pools;                               /* how many */
    struct conf_profile profile[CONF_MAX_PROFILES]; /* by name, ascending */
    uint32_t n_profiles;                            /* how many */
    struct conf_map map;                            /* defaults of its ports */
    struct conf_openflow of;                        /* who controls it */
    struct conf_port **ports;                       /* by name, ascending */
    uint32_t n_ports;                               /* <= DP_MAX_PORTS */
};

struct conf {
    struct conf_bridge **bridges; /* by name, ascending */
    uint32_t n_bridges;           /* <= CONF_MAX_BRIDGES */
};

/* All of these own what they return; destroy accepts null.  Memory running
 * out in the control plane aborts. */
struct conf *conf_create(void);
struct conf *conf_copy(const struct conf *);
void conf_destroy(struct conf *);
/* Slots are not compared: they are not configuration. */
bool conf_equal(const struct conf *, const struct conf *);
bool conf_port_equal(const struct conf_port *, const struct conf_port *);
/* The same for a bridge without its ports. */
bool conf_bridge_equal(const struct conf_bridge *, const struct conf_bridge *);

/* Add with defaults; errors EEXIST, EINVAL (name), ENOSPC, with what is
 * allowed.  The new element is returned for editing. */
int conf_add_bridge(struct conf *, const char *name, struct conf_bridge **,
                    struct err *);
int conf_add_port(struct conf *, struct conf_bridge *, const char *name,
                  const char *type, struct conf_port **, struct err *);
/* Errors ENOENT, naming what there is. */
int conf_del_bridge(struct conf *, const char *name, struct err *);
int conf_del_port(struct conf *, const char *name, struct err *);
struct conf_bridge *conf_find_bridge(const struct conf *, const char *name);
struct conf_port *conf_bridge_find_port(const struct conf_bridge *,
                                        const char *name);
/* Ports have daemon-wide unique names.  `bridge` may be null. */
struct conf_port *conf_find_port(const struct conf *, const char *name,
                                 struct conf_bridge **bridge);
/* The same with an ENOENT error that names the port or bridge and lists (some
 * of) those that exist. */
int conf_need_bridge(const struct conf *, const char *name,
                     struct conf_bridge **, struct err *);
int conf_need_port(const struct conf *, const char *name,
                   struct conf_bridge **, struct conf_port **, struct err *);

/* Checks the whole: ranges, xon <= xoff, ETS sums, PFC with PAUSE, memory >=
 * reserves + headrooms + a frame per lossy group, names, duplicates.  The
 * first thing wrong is named with its JSON path and numbers. */
int conf_validate(const struct conf *, struct err *);

/* JSON.  Decoding refuses unknown members and wrong types, names them, and
 * validates.  from_json gives slots to ports: those of `old` (may be null)
 * keep theirs. */
int conf_from_json(struct json_object *, const struct conf *old,
                   struct conf **, struct err *);
struct json_object *conf_to_json(const struct conf *);
struct json_object *conf_port_to_json(const struct conf_port *);
struct json_object *conf_bridge_to_json(const struct conf_bridge *);
/* Edits one port, or a bridge (without its ports), with the members present
 * in a JSON object of the form above: what `port.set` and its kin use.  On
 * error the port may be half edited: edit a copy. */
int conf_port_edit(struct conf_port *, struct json_object *, const char *path,
                   struct err *);
int conf_bridge_edit(struct conf_bridge *, struct json_object *,
                     const char *path, struct err *);

/* The difference as a JSON array of {"path", "op": "add|remove|replace",
 * "old", "new"}, leaf by leaf; empty when equal. */
struct json_object *conf_diff(const struct conf *from, const struct conf *to);

#include "conf/build.h"

#endif
