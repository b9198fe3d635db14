/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenFlow of the daemon, as its other parts see it: a bridge's connections
 * follow the configuration and outlive a datapath that is made anew.  Control
 * thread.
 */
#ifndef VSWITCHD_OF_H
#define VSWITCHD_OF_H

#include "conf/conf.h"

#include <json-c/json.h>
#include <stdbool.h>

struct daemon;
struct ofd_change;

/* Opens what a change needs and can fail: sockets to listen on, files for TLS.
 * lenient (at start): what fails is said, and tried again later. */
int ofd_prepare(struct daemon *, const struct conf *to, bool lenient,
                struct ofd_change **, struct err *);
void ofd_abort(struct ofd_change *); /* null accepted */
/* The change is decided: ends the connections of bridges that go, before they
 * do. */
void ofd_end_gone(struct daemon *, const struct conf *to);
/* The bridges run as d->conf says: so do their connections.  Frees it. */
void ofd_commit(struct daemon *, struct ofd_change *);
/* All of it, at the end; bridges are still there. */
void ofd_end(struct daemon *);

/* Controllers and connections of a bridge, for controller.show. */
struct json_object *ofd_status(struct daemon *, const struct conf_bridge *);
/* Of "datapath_id": what is configured, or made of an address. */
uint64_t ofd_datapath_id(const struct daemon *, const struct conf_bridge *);
/* The management socket; null: there is none. */
const char *ofd_management_path(const struct daemon *, const char *bridge);

#endif
