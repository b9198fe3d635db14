/* SPDX-License-Identifier: Apache-2.0
 *
 * Building what a change needs of a bridge, before it is decided: everything
 * that can fail happens in build_create() and build_attach().  Then either
 * build_commit(), which cannot fail, or build_abort(), after which nothing has
 * happened.  Changes of the configuration (txn.c), of interfaces (links.c) and
 * of the measured stall (watch.c) all take this road.  Control thread.
 */
#ifndef VSWITCHD_BUILD_H
#define VSWITCHD_BUILD_H

#include "bridge.h"
#include "conf/conf.h"

#include <stdbool.h>

enum build_mode {
    BUILD_STRICT,  /* somebody asks for it: refuse what is not possible */
    BUILD_LENIENT, /* it is configured already: interfaces may be absent, and
                      automatic headrooms get what there is */
};

/* Where the netdev of a port comes from. */
enum build_how {
    BUILD_KEEP,   /* as it is */
    BUILD_OPENED, /* opened by this build */
    BUILD_MOVED,  /* taken over from a port of another bridge */
    BUILD_ABSENT, /* there is none, or none any more */
};

struct build_port {
    struct port *port;           /* after the change; null: the slot is free */
    bool is_new;                 /* made by this build */
    enum build_how how;          /* its netdev */
    bool reopen;                 /* ABSENT: to be opened right after, when what
                                    had the interface has let go of it */
    struct netdev *netdev;       /* OPENED, MOVED: this one */
    uint32_t ring_bytes;         /* OPENED: with that ring */
    struct port *from;           /* MOVED: whose it was */
    struct bridge *from_bridge;  /* MOVED: in which bridge */
    bool mac_is_set;             /* the address of a tap was changed ... */
    uint8_t old_mac[6];          /* ... from this one */
    struct netdev_hold hold;     /* back-pressure wanted; rate 0: none */
    struct netdev_hold old_hold; /* that there was */
    bool hold_is_set;            /* it was changed */
};

struct build {
    struct daemon *daemon;          /* whose bridge it is */
    const struct conf_bridge *conf; /* what it is to be like */
    struct conf_port *local;        /* its own port; null: it has none */
    enum build_mode mode;           /* see there */
    struct bridge *bridge;          /* it; made by this build when is_new */
    bool is_new;                    /* it is not running yet */
    struct bridge *replaces;        /* what ran under its name, when is_new */
    struct dp_plan *plan;           /* to be published */
    uint64_t stall_ns;              /* that the plan must allow for */
    uint64_t allowed_ns;            /* that it does, memory being there */
    bool is_short;                  /* headrooms had to be cut */
    struct build_port ports[DP_MAX_PORTS]; /* by slot */
};

/* Its ports, the own one last; null: there is none of that number. */
const struct conf_port *build_conf_port(const struct build *, uint32_t i);

/* Builds the bridge `conf`; `live` is what runs under its name, or null. */
int build_create(struct daemon *, const struct conf_bridge *conf,
                 struct bridge *live, enum build_mode, uint64_t stall_ns,
                 struct build **, struct err *);
/* Builds a running bridge as it is configured, but for one port, whose
 * interface came (it is opened) or went.  port null: nothing but what the
 * interfaces are like has changed. */
int build_attach(struct bridge *, struct port *, bool came, uint64_t stall_ns,
                 struct build **, struct err *);
void build_abort(struct build *);
/* The queue that a tap port is to have, as the ring that it stands for. */
uint32_t build_tap_ring(const struct conf_port *);

/* Publishes n builds, and removes the bridges in `gone` and those that were
 * replaced.  Frees the builds.  Ports may have moved between bridges. */
void build_commit(struct daemon *, struct build *const builds[], uint32_t n,
                  struct bridge *const gone[], uint32_t n_gone);

#endif
