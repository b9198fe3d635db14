/* SPDX-License-Identifier: Apache-2.0
 *
 * Building a change of a bridge: see build.h.  Committing it is in commit.c.
 */
#include "build.h"

#include "base/clock.h"
#include "base/log.h"
#include "daemon.h"
#include "netdev/link.h"
#include "qos/headroom.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An Ethernet header and two tags: what a frame has beyond the MTU. */
#define FRAME_OVERHEAD 22u
/* The ring that the providers make by themselves, what a slot of it takes
 * beside the frame (of an AF_XDP port it is a buffer of the pool), and steps
 * to choose a larger one in. */
#define RING_DEFAULT         2097152u
#define RING_SLOT_OVERHEAD   224u
#define RING_BUFFER_OVERHEAD 384u
#define RING_STEP            262144u
/* A tap that holds its senders back: 16384 frames. */
#define RING_HOLD 33554432u

const struct conf_port *
build_conf_port(const struct build *x, uint32_t i)
{
    if (i < x->conf->n_ports)
        return x->conf->ports[i];
    return i == x->conf->n_ports ? x->local : NULL;
}

/* --- one port ----------------------------------------------------------- */

uint32_t
build_tap_ring(const struct conf_port *cp)
{
    return cp->ring_bytes ? cp->ring_bytes : cp->backpressure ? RING_HOLD : 0;
}

/* The receive ring of a port.  An automatic one is the provider's, unless the
 * port has a lossless class: then it holds, in frames of full size, what
 * arrives at line rate while the thread does not run, and what may lie there
 * before. */
static uint32_t
ring_bytes(const struct build *x, const struct conf_port *cp,
           uint64_t speed_bps)
{
    struct conf_live live = {.speed_bps = speed_bps};
    struct headroom h;
    uint64_t frame = x->conf->max_frame_bytes, bytes;
    uint32_t beside = cp->cls == &netdev_afpacket ? RING_SLOT_OVERHEAD
                                                  : RING_BUFFER_OVERHEAD;

    if (cp->cls == &netdev_tap)
        return build_tap_ring(cp);
    if (cp->ring_bytes || !cp->cls->on_interface ||
        !conf_lossless_groups(x->conf, cp))
        return cp->ring_bytes;
    conf_port_headroom_terms(x->conf, cp, &live, HEADROOM_MIN_STALL_NS, &h);
    bytes = netdev_ring_for(h.stall_bytes * 5 / 4 / frame + PKT_BATCH) *
            (frame + beside);
    bytes = (bytes + RING_STEP - 1) / RING_STEP * RING_STEP;
    if (bytes <= RING_DEFAULT)
        return 0;
    return bytes < CONF_MAX_RING ? (uint32_t) bytes : CONF_MAX_RING;
}

static int
open_netdev(struct build *x, const struct conf_port *cp, struct build_port *bp,
            struct err *err)
{
    struct netdev_args args = {
        .name = cp->name,
        .pool = dp_pool(x->bridge->dp),
        .have_mac = cp->have_mac,
        .mtu = x->conf->max_frame_bytes - FRAME_OVERHEAD,
        .down = cp == x->local,
    };
    struct link_info info;
    struct err why;
    int error;

    err_clear(&why);
    memcpy(args.mac, cp->mac, sizeof(args.mac));
    args.is_ring_auto = !cp->ring_bytes;
    args.ring_bytes =
        ring_bytes(x, cp,
                   link_get(cp->name, &info, NULL) ? 0 : info.speed_bps);
    error = netdev_open(cp->cls, &args, &bp->netdev, &why);
    bp->ring_bytes = args.ring_bytes;
    if (error == ENODEV || error == ENXIO)
        /* What somebody who asked for the port must hear first. */
        return err_set(err, ENOENT, NULL, cp->name,
                       "an interface that exists in the daemon's network "
                       "namespace",
                       "there is no interface %s", cp->name);
    if (error && !why.value[0])
        snprintf(why.value, sizeof(why.value), "%s", cp->name);
    if (error && err)
        *err = why;
    return error;
}

/* An interface that a configured port has not got is no reason to refuse:
 * it is waited for.  A bridge works without its own. */
static int
forgive(struct build *x, struct port *p, struct err *why)
{
    port_refuse(p, x->conf->name, why->msg);
    return 0;
}

/* A port that is not live under this bridge: is it in another one? */
static struct port *
find_source(struct build *x, const struct conf_port *cp, struct bridge **from)
{
    struct port *p = daemon_find_port(x->daemon, cp->name, from);

    if (!p || *from == x->bridge || !p->netdev || p->cls != cp->cls ||
        !p->netdev->cls->set_pool)
        return NULL;
    if (p->ring_conf != cp->ring_bytes && p->cls->on_interface)
        return NULL;
    return p->netdev->cls->set_pool(p->netdev, dp_pool(x->bridge->dp), true)
               ? p
               : NULL;
}

/* Whether another bridge has the interface and must let go of it first. */
static bool
is_in_use(const struct build *x, const struct conf_port *cp)
{
    struct bridge *from;
    struct port *p = daemon_find_port(x->daemon, cp->name, &from);

    return p && from != x->bridge && p->netdev && cp->cls->on_interface &&
           p->netdev->cls->is_exclusive;
}

/* A port that the bridge does not have yet. */
static int
build_new_port(struct build *x, const struct conf_port *cp,
               struct build_port *bp, struct err *err)
{
    struct bridge *from = NULL;
    struct port *source = find_source(x, cp, &from);
    bool was_configured = conf_find_port(x->daemon->conf, cp->name, NULL);
    struct err why;
    int error;

    bp->port = port_create(cp);
    if (!bp->port)
        return err_sys(err, ENOMEM, "port %s", cp->name);
    bp->is_new = true;
    if (source) {
        bp->how = BUILD_MOVED;
        bp->netdev = source->netdev;
        bp->from = source;
        bp->from_bridge = from;
        return 0;
    }
    if (is_in_use(x, cp)) {
        bp->how = BUILD_ABSENT;
        bp->reopen = true;
        return 0;
    }
    err_clear(&why);
    error = open_netdev(x, cp, bp, &why);
    bp->how = error ? BUILD_ABSENT : BUILD_OPENED;
    if (!error)
        return 0;
    if (x->mode == BUILD_LENIENT || cp == x->local ||
        (was_configured && error == ENOENT))
        return forgive(x, bp->port, &why);
    if (err)
        *err = why;
    return error;
}

/* A tap is to have another address. */
static int
build_mac(struct build_port *bp, const struct conf_port *cp, struct err *err)
{
    struct netdev *nd = bp->port->netdev;
    int error;

    if (cp->cls != &netdev_tap || !cp->have_mac || !nd ||
        !memcmp(cp->mac, nd->mac, sizeof(cp->mac)))
        return 0;
    error = link_set_mac(cp->name, cp->mac, err);
    if (error)
        return error;
    memcpy(bp->old_mac, nd->mac, sizeof(bp->old_mac));
    bp->mac_is_set = true;
    return 0;
}

/* Whether the ring of a port that runs is not what is wanted now.  One that is
 * automatic only grows. */
static bool
needs_ring(const struct build *x, const struct conf_port *cp,
           const struct port *p)
{
    if (!cp->cls->on_interface)
        return false;
    if (p->netdev->cls->is_exclusive) /* growing takes the port away */
        return cp->ring_bytes != p->ring_conf;
    return cp->ring_bytes != p->ring_conf ||
           ring_bytes(x, cp, p->live.speed_bps) > p->ring_bytes;
}

/* A port that the bridge has already. */
static int
build_old_port(struct build *x, const struct conf_port *cp, struct port *p,
               struct build_port *bp, struct err *err)
{
    char path[96];
    int error;

    bp->port = p;
    bp->how = p->netdev ? BUILD_KEEP : BUILD_ABSENT;
    if (cp->cls != p->cls) {
        snprintf(path, sizeof(path), "/bridges/%s/ports/%s/type",
                 x->conf->name, cp->name);
        return err_set(err, EBUSY, path, cp->cls->type, p->cls->type,
                       "port %s: its type cannot change from %s to %s: remove "
                       "the port and add it again",
                       cp->name, p->cls->type, cp->cls->type);
    }
    if (p->netdev && needs_ring(x, cp, p) && p->netdev->cls->is_exclusive) {
        bp->how = BUILD_ABSENT;
        bp->reopen = true;
    } else if (p->netdev && needs_ring(x, cp, p)) {
        error = open_netdev(x, cp, bp, err);
        if (error)
            return error;
        bp->how = BUILD_OPENED;
    }
    return build_mac(bp, cp, err);
}

static int
build_port(struct build *x, const struct conf_port *cp, struct err *err)
{
    struct build_port *bp = &x->ports[cp->slot];
    struct port *p = x->bridge->ports[cp->slot];

    if (p && !strcmp(p->name, cp->name))
        return build_old_port(x, cp, p, bp, err);
    return build_new_port(x, cp, bp, err);
}

/* --- the plan ----------------------------------------------------------- */

/* What the interface of a port is going to be like. */
static struct conf_live
live_of(const struct build_port *bp)
{
    struct conf_live live = bp->port->live;

    if (bp->how == BUILD_OPENED) {
        live.speed_bps = bp->netdev->speed_bps;
        live.mtu = bp->netdev->mtu;
        memcpy(live.mac, bp->netdev->mac, sizeof(live.mac));
    } else if (bp->how == BUILD_MOVED) {
        live = bp->from->live;
    }
    return live;
}

static int
plan_port(struct build *x, const struct conf_port *cp, uint64_t stall_ns,
          struct err *err)
{
    struct build_port *bp = &x->ports[cp->slot];
    struct conf_live live = live_of(bp);
    struct dp_plan_port *pp = x->plan->ports[cp->slot];

    if (!pp)
        pp = calloc(1, sizeof(*pp));
    if (!pp)
        return err_sys(err, ENOMEM, "port %s", cp->name);
    if (bp->mac_is_set)
        memcpy(live.mac, cp->mac, sizeof(live.mac));
    x->plan->ports[cp->slot] = pp;
    pp->netdev = bp->how == BUILD_KEEP     ? bp->port->netdev
                 : bp->how == BUILD_OPENED ? bp->netdev
                                           : NULL;
    if (bp->how != BUILD_KEEP || !port_is_used(bp->port))
        pp->netdev = cp == x->local ? NULL : pp->netdev;
    pp->state = bp->port->state;
    pp->is_new = !bp->port->in_plan;
    conf_build_port(x->conf, cp, &live, stall_ns, pp);
    return 0;
}

static int
plan_all(struct build *x, uint64_t stall_ns, struct err *err)
{
    int error;

    x->stall_ns = x->allowed_ns = stall_ns;
    for (uint32_t i = 0; build_conf_port(x, i); i++) {
        error = plan_port(x, build_conf_port(x, i), stall_ns, err);
        if (error)
            return error;
    }
    return conf_build_bridge(x->conf, x->plan, err);
}

/* Cuts automatic headrooms to n sixteenths of what they should be. */
static void
cut_headrooms(struct build *x, unsigned n)
{
    for (uint32_t i = 0; i < x->conf->n_ports; i++) {
        const struct conf_port *cp = x->conf->ports[i];
        struct dp_plan_port *pp = x->plan->ports[cp->slot];
        struct conf_live live = live_of(&x->ports[cp->slot]);

        for (int g = 0; g < N_PG; g++)
            if (pp->pg[g].lossless &&
                conf_group_in_force(x->conf, cp, g, NULL)->headroom_bytes ==
                    CONF_HEADROOM_AUTO)
                pp->pg[g].headroom_bytes =
                    conf_port_headroom(x->conf, cp, g, &live, x->stall_ns) /
                    16 * n;
    }
}

/* The memory that is left of pools with a size of their own. */
static uint64_t
memory_left(const struct build *x)
{
    uint64_t left = x->conf->memory_bytes;

    for (uint32_t i = 0; i < x->conf->n_pools; i++)
        left -= x->conf->pool[i].size_bytes;
    return left;
}

/* Memory that nobody needs is best used as headroom: a peer reacts late as
 * well, and a machine that was quick so far may not stay so.  Allows for the
 * longest of these stalls that leaves half of the memory to be shared; false
 * when none of them is more than the one that was measured. */
static bool
plan_amply(struct build *x, uint64_t stall_ns)
{
    static const unsigned ample_ms[] = {100, 50, 20, 10, 5};

    for (unsigned i = 0; i < sizeof(ample_ms) / sizeof(ample_ms[0]); i++) {
        uint64_t ample_ns = ample_ms[i] * NS_PER_MS;

        if (ample_ns <= stall_ns)
            break;
        if (!plan_all(x, ample_ns, NULL) &&
            x->plan->shared_bytes >= memory_left(x) / 2) {
            x->allowed_ns = ample_ns;
            x->stall_ns = stall_ns;
            return true;
        }
    }
    return false;
}

/* Fits automatic headrooms into the memory.  When the stall that was measured
 * asks for more than there is, or leaves less than a quarter of it to be
 * shared, allow for what can be had, down to the least that the rule asks for.
 * What is less than that is refused, unless it is so
 * already: an interface may have come with a higher rate than the
 * configuration was checked with.  doctor and the log say so. */
static int
plan_to_fit(struct build *x, uint64_t stall_ns, struct err *err)
{
    bool may_cut = x->mode == BUILD_LENIENT || x->bridge->is_short;
    int error;

    if (plan_amply(x, stall_ns))
        return 0;
    error = plan_all(x, stall_ns, err);

    while ((error == ENOSPC ||
            (!error && x->plan->shared_bytes < memory_left(x) / 4)) &&
           stall_ns > HEADROOM_MIN_STALL_NS) {
        stall_ns = stall_ns / 8 * 7;
        if (stall_ns < HEADROOM_MIN_STALL_NS)
            stall_ns = HEADROOM_MIN_STALL_NS;
        x->is_short = true;
        error = plan_all(x, stall_ns, err);
    }
    for (unsigned n = 16; error == ENOSPC && may_cut && n-- > 0;) {
        x->is_short = true;
        cut_headrooms(x, n);
        error = conf_build_bridge(x->conf, x->plan, err);
    }
    return error;
}

static int
make_plan(struct build *x, uint64_t stall_ns, struct err *err)
{
    x->plan = calloc(1, sizeof(*x->plan));
    if (!x->plan)
        return err_sys(err, ENOMEM, "bridge %s", x->conf->name);
    x->plan->generation = x->bridge->generation + 1;
    for (uint32_t i = 0; build_conf_port(x, i); i++)
        if (build_conf_port(x, i)->slot >= x->plan->n_slots)
            x->plan->n_slots = (uint16_t) (build_conf_port(x, i)->slot + 1);
    return plan_to_fit(x, stall_ns, err);
}

/* --- back-pressure -------------------------------------------------------
 */

/* Senders are sorted as the port sorts what they send. */
static void
hold_of(const struct conf_port *cp, const struct dp_plan_port *pp,
        struct netdev_hold *out)
{
    memset(out, 0, sizeof(*out)); /* compared as octets */
    if (!cp->backpressure)
        return;
    out->rate_bps = cp->rate_bps;
    out->trust_dscp = pp->trust == DP_TRUST_DSCP;
    out->default_prio = pp->default_prio;
    memset(out->pcp_to_prio, pp->default_prio, sizeof(out->pcp_to_prio));
    if (pp->trust != DP_TRUST_PORT)
        memcpy(out->pcp_to_prio, pp->pcp_to_prio, sizeof(out->pcp_to_prio));
    if (out->trust_dscp)
        memcpy(out->dscp_to_prio, pp->dscp_to_prio, sizeof(out->dscp_to_prio));
}

/* The netdev that the port is going to have. */
static struct netdev *
netdev_of(const struct build_port *bp)
{
    return bp->how == BUILD_KEEP     ? bp->port->netdev
           : bp->how == BUILD_ABSENT ? NULL
                                     : bp->netdev;
}

static int
set_hold(struct netdev *nd, const struct netdev_hold *h, struct err *err)
{
    return nd->cls->set_hold(nd, h->rate_bps ? h : NULL, err);
}

static int
build_hold(struct build *x, const struct conf_port *cp, struct err *err)
{
    struct build_port *bp = &x->ports[cp->slot];
    struct netdev *nd = netdev_of(bp);
    struct err why;
    int error;

    hold_of(cp, x->plan->ports[cp->slot], &bp->hold);
    if (bp->how == BUILD_KEEP)
        bp->old_hold = bp->port->hold;
    else if (bp->how == BUILD_MOVED)
        bp->old_hold = bp->from->hold;
    if (!nd || !nd->cls->set_hold ||
        !memcmp(&bp->hold, &bp->old_hold, sizeof(bp->hold)))
        return 0;
    err_clear(&why);
    error = set_hold(nd, &bp->hold, &why);
    bp->hold_is_set = !error;
    if (!error)
        return 0;
    if (x->mode == BUILD_STRICT) {
        snprintf(why.value, sizeof(why.value), "backpressure");
        if (err)
            *err = why;
        return error;
    }
    bp->hold = bp->old_hold;
    log_warn("bridge %s: %s", x->conf->name, why.msg);
    return 0;
}

static int
build_holds(struct build *x, struct err *err)
{
    int error = 0;

    for (uint32_t i = 0; i < x->conf->n_ports && !error; i++)
        error = build_hold(x, x->conf->ports[i], err);
    return error;
}

static void
restore_hold(const struct build_port *bp)
{
    if (bp->hold_is_set && bp->how != BUILD_OPENED &&
        set_hold(netdev_of(bp), &bp->old_hold, NULL))
        log_warn("port %s: cannot hold its senders back any more",
                 bp->port->name);
}

/* --- the whole ---------------------------------------------------------- */

static struct build *
new_build(struct daemon *d, const struct conf_bridge *conf,
          enum build_mode mode)
{
    struct build *x = calloc(1, sizeof(*x));

    if (!x)
        abort(); /* the control plane has no memory at all */
    x->daemon = d;
    x->conf = conf;
    x->mode = mode;
    x->local = malloc(sizeof(*x->local));
    if (!x->local)
        abort();
    if (!conf_local_port(conf, x->local)) {
        free(x->local);
        x->local = NULL;
    }
    return x;
}

/* The bridge that the build works on: the live one when its memory may stay as
 * it is, else one that takes its place. */
static int
choose_bridge(struct build *x, struct bridge *live, struct err *err)
{
    struct dp_conf sizes;

    conf_build_dp(x->conf, &sizes);
    if (live && live->sizes.n_buffers == sizes.n_buffers &&
        live->sizes.frame_bytes == sizes.frame_bytes) {
        x->bridge = live;
        if (bridge_is_settled(live) || bridge_settle(live))
            return 0;
        return err_set(err, EBUSY, NULL, NULL, NULL,
                       "bridge %s has not taken over the last change yet",
                       live->name);
    }
    x->is_new = true;
    x->replaces = live;
    return bridge_create(x->daemon, x->conf, &x->bridge, err);
}

int
build_create(struct daemon *d, const struct conf_bridge *conf,
             struct bridge *live, enum build_mode mode, uint64_t stall_ns,
             struct build **out, struct err *err)
{
    struct build *x = new_build(d, conf, mode);
    int error = choose_bridge(x, live, err);

    for (uint32_t i = 0; build_conf_port(x, i) && !error; i++)
        error = build_port(x, build_conf_port(x, i), err);
    if (!error)
        error = make_plan(x, stall_ns, err);
    if (!error)
        error = build_holds(x, err);
    if (error) {
        build_abort(x);
        return error;
    }
    *out = x;
    return 0;
}

int
build_attach(struct bridge *b, struct port *p, bool came, uint64_t stall_ns,
             struct build **out, struct err *err)
{
    struct conf_bridge *conf = conf_find_bridge(b->daemon->conf, b->name);
    struct build *x = new_build(b->daemon, conf, BUILD_LENIENT);
    int error = choose_bridge(x, b, err);

    for (uint32_t i = 0; build_conf_port(x, i) && !error; i++) {
        const struct conf_port *cp = build_conf_port(x, i);
        struct build_port *bp = &x->ports[cp->slot];

        bp->port = b->ports[cp->slot];
        bp->how = bp->port->netdev ? BUILD_KEEP : BUILD_ABSENT;
        if (bp->port != p)
            continue;
        bp->how = BUILD_ABSENT;
        if (came)
            error = open_netdev(x, cp, bp, err);
        if (came && !error)
            bp->how = BUILD_OPENED;
    }
    if (!error)
        error = make_plan(x, stall_ns, err);
    if (!error)
        error = build_holds(x, err);
    if (error) {
        build_abort(x);
        return error;
    }
    *out = x;
    return 0;
}

void
build_abort(struct build *x)
{
    for (int i = 0; i < DP_MAX_PORTS; i++) {
        struct build_port *bp = &x->ports[i];

        if (bp->mac_is_set && link_set_mac(bp->port->name, bp->old_mac, NULL))
            log_warn("port %s: cannot set its former address again",
                     bp->port->name);
        restore_hold(bp);
        if (bp->how == BUILD_OPENED)
            netdev_close(bp->netdev);
        if (bp->is_new)
            port_destroy(bp->port);
    }
    dp_plan_destroy(x->plan);
    if (x->is_new)
        bridge_destroy(x->bridge);
    free(x->local);
    free(x);
}
