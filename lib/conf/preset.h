/* SPDX-License-Identifier: Apache-2.0
 *
 * Presets, pfc-semantics section 12: configurations of lossless classes that
 * people know by a name.  One fills in configuration, which is then ordinary
 * configuration.  Control thread.
 */
#ifndef CONF_PRESET_H
#define CONF_PRESET_H

#include "conf/conf.h"

struct conf_preset {
    const char *name; /* "sonic" */
    const char *doc;  /* one line */
    const char *port; /* what a port gets, JSON text */
};

/* All of them; ends with name null. */
extern const struct conf_preset conf_presets[];

/* Gives a preset to the port, or, if that is null, to the bridge's map and to
 * all of its ports.  PFC, PAUSE, maps, groups and queues are set anew; all
 * else stays.  ENOENT, naming what there is. */
int conf_preset_apply(struct conf_bridge *, struct conf_port *,
                      const char *name, struct err *);

#endif
