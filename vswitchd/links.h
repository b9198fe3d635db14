/* SPDX-License-Identifier: Apache-2.0
 *
 * The interfaces behind the ports: hears from the kernel when one goes, comes
 * back under its name, loses carrier or changes its MTU or address, and has
 * the bridge take that over.  Control thread.
 */
#ifndef VSWITCHD_LINKS_H
#define VSWITCHD_LINKS_H

#include "bridge.h"

struct links;

int links_create(struct daemon *, struct links **, struct err *);
void links_destroy(struct links *);

/* What the interface of a port is now: absent without a netdev. */
enum port_state links_state(const struct port *);

/* Looks at one port, or at all: opens what came, closes what went. */
void links_check_port(struct bridge *, struct port *);
void links_check_all(struct daemon *);

#endif
