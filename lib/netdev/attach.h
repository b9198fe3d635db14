/* SPDX-License-Identifier: Apache-2.0
 *
 * Wires another network namespace, of a container say, to this one: a veth
 * pair, the only virtual link that carries PFC frames both ways.  sluicectl
 * port attach and detach use it, in the network namespace of the daemon.  Any
 * thread, while no other of the process counts on the current namespace.
 */
#ifndef NETDEV_ATTACH_H
#define NETDEV_ATTACH_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct attach {
    const char *port;    /* name of this end */
    const char *ifname;  /* name of the other end */
    int ns_fd;           /* namespace of the other end */
    bool have_mac;       /* mac was given */
    uint8_t mac[6];      /* address of the other end */
    uint32_t mtu;        /* of both ends; 0: the kernel's default */
    const char *address; /* IP address/prefix of the other end; may be null */
};

/* Opens the namespace that a word means: a pid, the name of one that
 * `ip netns` lists, or a path.  ESRCH: it means none of these. */
int attach_open_netns(const char *word, int *fd, struct err *);

/* Makes the pair, both ends up; on failure there is none of it. */
int attach_make(const struct attach *, struct err *);

/* Deletes a pair by the name of this end.  EPERM: attach_make() did not make
 * it. */
int attach_undo(const char *port, struct err *);
/* Whether that interface is there and attach_make() made it. */
bool attach_is_ours(const char *port);

#endif
