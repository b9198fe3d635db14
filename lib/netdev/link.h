/* SPDX-License-Identifier: Apache-2.0
 *
 * Network interfaces of the kernel, over netlink (libnl-3, libnl-route-3):
 * what one is and counts, bringing it up, and hearing of every change.  Works
 * in the network namespace of the calling thread.  The providers use it when
 * they open and once a second for drop counters; the daemon watches for
 * interfaces that go and come back.  Control thread: every call here makes
 * system calls and may wait for the kernel's answer.
 */
#ifndef NETDEV_LINK_H
#define NETDEV_LINK_H

#include "base/err.h"
#include "netdev/netdev.h"

#include <stdbool.h>
#include <stdint.h>

#define LINK_KIND_MAX 15

struct link_info {
    char name[NETDEV_NAME_MAX + 1]; /* interface name */
    char kind[LINK_KIND_MAX + 1];   /* "veth", "tun", ...; "": a real NIC */
    uint32_t ifindex;               /* kernel's number, never 0 */
    uint32_t mtu;                   /* L3 MTU */
    uint32_t txqlen;                /* transmit queue length, frames */
    uint32_t peer;                  /* veth: number of the other end if that is
                                       in this namespace too; else 0 */
    uint32_t master;                /* bridge or bond that it is a port of, in
                                       this namespace; else 0 */
    uint8_t mac[6];                 /* hardware address */
    bool is_ether;                  /* frames are Ethernet */
    bool is_tap;                    /* a TUN/TAP interface (kind "tun") */
    bool up;                        /* administratively up (IFF_UP) */
    bool running;                   /* has carrier (IFF_RUNNING) */
    uint64_t speed_bps;             /* its own idea of its rate; 0: unknown */
    uint64_t rx_dropped;            /* kernel: received, not handed on */
    uint64_t tx_dropped;            /* kernel: to be sent, thrown away */
};

/* Looks an interface up.  ENODEV: there is none of that name. */
int link_get(const char *name, struct link_info *, struct err *);
/* The same by number, which outlives a rename and never names a successor. */
int link_get_index(uint32_t ifindex, struct link_info *, struct err *);

int link_set_up(const char *name, bool up, struct err *);
int link_set_mtu(const char *name, uint32_t mtu, struct err *);
int link_set_mac(const char *name, const uint8_t mac[6], struct err *);
int link_set_txqlen(const char *name, uint32_t frames, struct err *);

/* --- changes ----------------------------------------------------------- */

enum link_event_type {
    LINK_EV_CHANGE, /* new, or up, running, name, MAC or MTU may have changed;
                       also sent for changes that do not matter to us */
    LINK_EV_DELETE, /* the interface is gone (or left this namespace) */
    LINK_EV_RESYNC, /* events were lost: ask link_get() for all of yours;
                       every other member is zero */
};

struct link_event {
    enum link_event_type type;      /* what */
    char name[NETDEV_NAME_MAX + 1]; /* interface */
    uint32_t ifindex;               /* its number: a namesake has another */
    uint32_t mtu;                   /* CHANGE: L3 MTU */
    uint8_t mac[6];                 /* CHANGE: hardware address */
    bool up;                        /* CHANGE: administratively up */
    bool running;                   /* CHANGE: has carrier */
};

/* Listens from the moment of creation: create first, then link_get() what is
 * there, so that no change falls between. */
struct link_monitor;
int link_monitor_create(struct link_monitor **, struct err *);
void link_monitor_destroy(struct link_monitor *);
/* Polls readable when there are events; never changes. */
int link_monitor_fd(const struct link_monitor *);
/* Reads what is there, without waiting, and calls cb for each event in order
 * (at most LINK_MONITOR_BURST kernel messages a call; the rest keep fd
 * readable).  cb must not destroy the monitor.  0, or a positive errno when
 * the socket is broken and the monitor must be made anew. */
#define LINK_MONITOR_BURST 64
int link_monitor_dispatch(struct link_monitor *,
                          void (*cb)(const struct link_event *, void *arg),
                          void *arg);

#endif
