/* SPDX-License-Identifier: Apache-2.0
 *
 * Putting what was built into force: build_commit() of build.h.  Nothing here
 * can fail.  The order makes sure that an interface is never in use by two
 * datapaths, and that nothing is freed which one still reads:
 *
 *   1. running bridges take over their plans, and so let go of what left them
 *   2. bridges that are removed or replaced end
 *   3. new bridges begin; ports that moved come to where they belong
 */
#include "build.h"

#include "base/log.h"
#include "daemon.h"
#include "doctor.h"
#include "links.h"
#include "memory.h"
#include "netdev/link.h"
#include "ofbridge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Netdevs that move are nobody's meanwhile, and their counts go with them. */
static void
claim(struct build *x)
{
    for (int i = 0; i < DP_MAX_PORTS; i++) {
        struct build_port *bp = &x->ports[i];

        if (bp->how != BUILD_MOVED)
            continue;
        bp->port->past = bp->from->past;
        bp->port->live = bp->from->live;
        bp->port->link = bp->from->link;
        bp->port->ring_bytes = bp->from->ring_bytes;
        bp->port->n_attached = bp->from->n_attached;
        bp->port->kernel_violations = bp->from->kernel_violations;
        memcpy(bp->port->kernel_seen, bp->from->kernel_seen,
               sizeof(bp->port->kernel_seen));
        bp->from->netdev = NULL;
        /* These have been taken over; the rest is when `from` ends. */
        memset(&bp->from->past, 0, sizeof(bp->from->past));
        bp->from->kernel_violations = 0;
        port_set_heir(bp->from, bp->port);
    }
}

/* The ports of a bridge that is made anew go on counting. */
static void
claim_counts(struct build *x)
{
    for (int i = 0; x->replaces && i < DP_MAX_PORTS; i++) {
        struct port *p = x->ports[i].port, *old = NULL;

        for (int s = 0; p && s < DP_MAX_PORTS && !old; s++)
            if (x->replaces->ports[s] &&
                !strcmp(x->replaces->ports[s]->name, p->name))
                old = x->replaces->ports[s];
        if (old && !old->heir)
            port_set_heir(old, p);
    }
}

/* The ring that is configured.  That of a tap is a queue of the kernel, which
 * can be changed while it is in use. */
static void
take_ring(struct port *p, const struct conf_port *cp)
{
    uint32_t ring = build_tap_ring(cp);
    struct err err;

    err_clear(&err);
    if (p->cls == &netdev_tap && p->netdev && p->ring_bytes != ring) {
        if (link_set_txqlen(p->name, netdev_tap_queue(ring), &err))
            log_warn("port %s: its queue cannot be changed: %s", p->name,
                     err.msg);
        p->netdev->cls->poll_kernel(p->netdev);
        p->ring_bytes = ring;
    }
    p->ring_conf = cp->ring_bytes;
}

/* Back-pressure is in force already.  What the host's sockets dropped before
 * it is no matter of the port's. */
static void
take_hold(struct port *p, const struct build_port *bp)
{
    if (bp->hold_is_set && !p->hold.rate_bps)
        p->socket_drops = doctor_socket_drops();
    p->hold = bp->hold;
}

/* What ports have now is put away, and what they are to have is theirs. */
static void
take_ports(struct build *x)
{
    struct bridge *b = x->bridge;

    for (int i = 0; i < DP_MAX_PORTS; i++) {
        struct build_port *bp = &x->ports[i];
        struct port *old = b->ports[i];

        if (old && old != bp->port)
            bridge_retire(b, NULL, NULL, old);
        b->ports[i] = bp->port;
        if (!bp->port)
            continue;
        bp->port->in_plan = true;
        take_hold(bp->port, bp);
        if (bp->mac_is_set) {
            memcpy(bp->port->live.mac, x->plan->ports[i]->mac, 6);
            memcpy(bp->port->netdev->mac, x->plan->ports[i]->mac, 6);
        }
        if (bp->how == BUILD_KEEP || bp->how == BUILD_MOVED)
            continue;
        if (bp->port->netdev) {
            if (bp->port->netdev->cls->poll_kernel)
                bp->port->netdev->cls->poll_kernel(bp->port->netdev);
            port_add_stats(&bp->port->past, &bp->port->netdev->stats);
            bridge_retire(b, NULL, bp->port->netdev, NULL);
            bp->port->netdev = NULL;
        }
        if (bp->how == BUILD_OPENED) {
            port_take_netdev(bp->port, bp->netdev);
            bp->port->ring_bytes = bp->ring_bytes;
        }
        bp->port->link = links_state(bp->port);
    }
    for (uint32_t i = 0; build_conf_port(x, i); i++) {
        const struct conf_port *cp = build_conf_port(x, i);

        b->ports[cp->slot]->ofport = cp->ofport;
        take_ring(b->ports[cp->slot], cp);
    }
}

/* Takes over moved netdevs that their former bridge has let go of. */
static void
take_moved(struct build *x, struct dp_plan *plan)
{
    for (int i = 0; i < DP_MAX_PORTS; i++) {
        struct build_port *bp = &x->ports[i];

        if (bp->how != BUILD_MOVED)
            continue;
        if (bp->from_bridge && !bridge_is_settled(bp->from_bridge)) {
            /* It may be read there still.  It goes when that is over, and the
             * interface is opened anew by and by. */
            bridge_retire(bp->from_bridge, NULL, bp->netdev, NULL);
            bp->port->link = PORT_ABSENT;
            continue;
        }
        bp->netdev->cls->set_pool(bp->netdev, dp_pool(x->bridge->dp), false);
        bp->port->netdev = bp->netdev;
        if (port_is_used(bp->port))
            plan->ports[i]->netdev = bp->netdev;
    }
}

/* Frames that a netdev collected while its predecessor was still at work have
 * been delivered by that one. */
static void
discard_early(struct build *x)
{
    for (int i = 0; i < DP_MAX_PORTS; i++) {
        const struct build_port *bp = &x->ports[i];
        bool has_predecessor =
            bp->how == BUILD_OPENED && (x->is_new || bp->port->netdev);

        if (has_predecessor)
            bridge_discard(x->bridge, bp->port->netdev, bp->netdev);
    }
}

static struct dp_plan *
copy_plan(const struct dp_plan *plan)
{
    struct dp_plan *copy = malloc(sizeof(*copy));

    if (!copy)
        abort();
    *copy = *plan;
    copy->generation++;
    for (int i = 0; i < DP_MAX_PORTS; i++) {
        if (!plan->ports[i])
            continue;
        copy->ports[i] = malloc(sizeof(*copy->ports[i]));
        if (!copy->ports[i])
            abort();
        *copy->ports[i] = *plan->ports[i];
        copy->ports[i]->is_new = false;
    }
    return copy;
}

static void
publish_running(struct build *x)
{
    struct bridge *b = x->bridge;

    discard_early(x);
    /* Retired things wait for the generation of this plan. */
    b->generation = x->plan->generation;
    take_ports(x);
    b->stall_ns = x->stall_ns;
    b->allowed_ns = x->allowed_ns;
    b->stall_wanted_ns = 0; /* there may be more room now */
    bridge_publish(b, x->plan);
    bridge_settle(b);
}

static void
remove_bridge(struct daemon *d, struct bridge *b)
{
    for (uint32_t i = 0; i < d->n_bridges; i++)
        if (d->bridges[i] == b)
            d->bridges[i] = d->bridges[--d->n_bridges];
    bridge_destroy(b);
    memory_freed();
}

/* Nobody is to look at a bridge that is gone. */
static void
forget_source(struct build *const builds[], uint32_t n, struct bridge *gone)
{
    for (uint32_t k = 0; k < n; k++)
        for (int i = 0; i < DP_MAX_PORTS; i++)
            if (builds[k]->ports[i].from_bridge == gone)
                builds[k]->ports[i].from_bridge = NULL;
}

static void
publish_new(struct build *x)
{
    struct bridge *b = x->bridge;

    discard_early(x);
    take_ports(x);
    take_moved(x, x->plan);
    b->stall_ns = x->stall_ns;
    b->allowed_ns = x->allowed_ns;
    x->daemon->bridges[x->daemon->n_bridges++] = b;
    bridge_publish(b, x->plan);
    bridge_settle(b);
}

/* A running bridge took over its plan with the ports that move to it still
 * absent; now they come. */
static void
attach_moved(struct build *x)
{
    struct dp_plan *plan;
    bool any = false;

    for (int i = 0; i < DP_MAX_PORTS; i++)
        any |= x->ports[i].how == BUILD_MOVED;
    if (!any)
        return;
    plan = copy_plan(x->plan);
    take_moved(x, plan);
    bridge_publish(x->bridge, plan);
    bridge_settle(x->bridge);
}

/* What had these interfaces has let go of them by now. */
static void
reopen_ports(struct build *x)
{
    for (int i = 0; i < DP_MAX_PORTS; i++)
        if (x->ports[i].reopen && x->ports[i].port)
            links_check_port(x->bridge, x->ports[i].port);
}

void
build_commit(struct daemon *d, struct build *const builds[], uint32_t n,
             struct bridge *const gone[], uint32_t n_gone)
{
    char name[CONF_NAME_MAX + 1];

    for (uint32_t i = 0; i < n; i++) {
        claim(builds[i]);
        claim_counts(builds[i]);
    }
    for (uint32_t i = 0; i < n; i++)
        if (!builds[i]->is_new)
            publish_running(builds[i]);
    for (uint32_t i = 0; i < n_gone; i++) {
        snprintf(name, sizeof(name), "%s", gone[i]->name);
        remove_bridge(d, gone[i]);
        ofbridge_forget(d, name);
        forget_source(builds, n, gone[i]);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!builds[i]->replaces)
            continue;
        builds[i]->replaces->heir = builds[i]->bridge;
        remove_bridge(d, builds[i]->replaces);
        forget_source(builds, n, builds[i]->replaces);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (builds[i]->is_new)
            publish_new(builds[i]);
        else
            attach_moved(builds[i]);
        if (builds[i]->is_new)
            ofbridge_attach(builds[i]->bridge);
        else
            ofbridge_update_ports(builds[i]->bridge);
        builds[i]->bridge->is_short = builds[i]->is_short;
        if (builds[i]->is_short)
            log_warn("bridge %s: memory_bytes %llu does not hold the "
                     "headroom that the measured stall asks for; doctor says "
                     "what is missing",
                     builds[i]->conf->name,
                     (unsigned long long) builds[i]->conf->memory_bytes);
    }
    for (uint32_t i = 0; i < n; i++) {
        reopen_ports(builds[i]);
        free(builds[i]->local);
        free(builds[i]);
    }
}
