/* SPDX-License-Identifier: Apache-2.0
 *
 * The OpenFlow side of a bridge: its books (lib/ofproto), and how they and the
 * datapath are kept together: changes are posted to it and cleared away when
 * they are done, ports are told to the books, timeouts are looked after.  It
 * outlives the datapath: a bridge that is made anew (struct bridge) finds its
 * books again.  Control thread.
 */
#ifndef VSWITCHD_OFBRIDGE_H
#define VSWITCHD_OFBRIDGE_H

#include "ofp/error.h"
#include "ofp/reply.h"
#include "ofproto/ofproto.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bridge;
struct dp;
struct daemon;
struct ofbridge;
struct port;

/* What who speaks OpenFlow is told; each may be null.  May not change the
 * books. */
struct ofbridge_hooks {
    void (*flow_removed)(void *arg, const struct ofp_flow_removed *);
    void (*port_status)(void *arg, unsigned reason, const struct ofp_port *);
    /* Called from the loop: the datapath got on, so that tickets may be done,
     * there may be room, and frames for controllers may wait.  May change the
     * books. */
    void (*progress)(void *arg);
    /* The bridge has another datapath, or (null) none for a moment. */
    void (*datapath)(void *arg, struct dp *);
    void *arg; /* of these */
};

/* Of a bridge by name; null: there is none. */
struct ofbridge *ofbridge_find(const struct daemon *, const char *bridge);
void ofbridge_set_hooks(struct ofbridge *, const struct ofbridge_hooks *);
struct ofproto *ofbridge_books(struct ofbridge *);
/* The bridge that runs. */
struct bridge *ofbridge_bridge(struct ofbridge *);

/* ofproto_apply() and what follows, now. */
bool ofbridge_apply(struct ofbridge *, const struct ofproto_mod mods[],
                    size_t n, bool atomic, size_t *failed, struct ofp_error *);
/* ofproto_flush(), ofproto_set_default() and what follows; after a flush what
 * is persistent is put back. */
void ofbridge_flush(struct ofbridge *, bool normal);
void ofbridge_set_default(struct ofbridge *, unsigned what);

/* Whether changes are gathered meanwhile, to be posted together: many small
 * ones in a row.  A ticket posts what there is. */
void ofbridge_hold(struct ofbridge *, bool held);

/* False: so many changes wait for the datapath that it is better to wait for
 * hooks.progress before others are made. */
bool ofbridge_has_room(const struct ofbridge *);
/* Of all that was changed so far; and whether the datapath does so. */
uint64_t ofbridge_ticket(struct ofbridge *);
bool ofbridge_is_done(const struct ofbridge *, uint64_t ticket);

/* Numbers of a port of the books and of its queues (0 to 7); false: there is
 * no such port or queue. */
bool ofbridge_port_stats(struct ofbridge *, uint32_t port,
                         struct ofp_port_stats *);
bool ofbridge_queue_stats(struct ofbridge *, uint32_t port, uint32_t queue,
                          struct ofp_queue_stats *);
bool ofbridge_queue(struct ofbridge *, uint32_t port, uint32_t queue,
                    struct ofp_queue *);

/* --- for bridge.c, commit.c and links.c ---------------------------------- */

/* The bridge runs now: its books are made, or found again. */
void ofbridge_attach(struct bridge *);
/* Its thread has ended, its datapath is about to. */
void ofbridge_detach(struct bridge *);
/* The bridge is no longer configured. */
void ofbridge_forget(struct daemon *, const char *bridge);
/* Its configuration, its ports or their interfaces are not what they were. */
void ofbridge_update_ports(struct bridge *);
/* The datapath has events. */
void ofbridge_progress(struct bridge *);

#endif
