/* SPDX-License-Identifier: Apache-2.0
 *
 * What the QoS tables of a SONiC config_db.json mean here: a translation from
 * one JSON to another, which edits the configuration of a bridge and its
 * ports and is then applied like any other edit.  Pure; control thread.
 *
 * What maps is mapped, what does not is noted with its path and why; nothing
 * is left out silently.  What is not even SONiC's (a DSCP of 64, a reference
 * to nothing) is an error with its path.
 */
#ifndef CONF_SONIC_H
#define CONF_SONIC_H

#include "conf/conf.h"

/* Translates `db` for the ports of the bridge.  `names` says which port is
 * meant by a name of SONiC ({"Ethernet0": "eth1"}; those that it does not have
 * mean themselves; may be null).  links: rates and lengths of cables too.
 * *edit: {"bridge": {...}, "ports": {"eth1": {...}}}, what conf_bridge_edit()
 * and conf_port_edit() take.  *notes: [{"path", "why"}].  The caller puts
 * both. */
int conf_sonic_translate(struct json_object *db, struct json_object *names,
                         bool links, const struct conf_bridge *,
                         struct json_object **edit, struct json_object **notes,
                         struct err *);

/* The same, applied to the bridge; on error it may be half edited. */
int conf_sonic_import(struct json_object *db, struct json_object *names,
                      bool links, struct conf_bridge *,
                      struct json_object **notes, struct err *);

#endif
