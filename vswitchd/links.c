/* SPDX-License-Identifier: Apache-2.0
 *
 * The interfaces behind the ports: see links.h.
 *
 * Events only say that something happened; what is done follows from how
 * things are (links_check_port), so that a lost or late event does no harm.
 */
#include "links.h"

#include "base/clock.h"
#include "base/log.h"
#include "build.h"
#include "daemon.h"
#include "events.h"
#include "netdev/link.h"
#include "ofbridge.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* An interface that is there but cannot be opened is tried that often. */
#define RETRY_NS (5 * NS_PER_S)

struct links {
    struct daemon *daemon;        /* whose ports */
    struct link_monitor *monitor; /* of the kernel's news */
    struct reactor_watch *watch;  /* on the monitor */
};

/* A tap that was moved to another namespace is not to be seen here, but lives:
 * its descriptor says so. */
static bool
tap_is_dead(const struct netdev *nd)
{
    struct pollfd pfd = {.fd = nd->cls->fd(nd)};

    return poll(&pfd, 1, 0) == 1 && pfd.revents & (POLLERR | POLLNVAL);
}

enum port_state
links_state(const struct port *p)
{
    struct link_info info;

    if (!p->netdev)
        return PORT_ABSENT;
    if (!p->netdev->ifindex) /* in memory */
        return PORT_UP;
    if (link_get_index(p->netdev->ifindex, &info, NULL))
        return p->cls == &netdev_tap && !tap_is_dead(p->netdev) ? PORT_UP
                                                                : PORT_ABSENT;
    if (p->cls->on_interface && strcmp(info.name, p->name))
        return PORT_ABSENT; /* renamed: not what is configured any more */
    return info.up && info.running ? PORT_UP : PORT_DOWN;
}

/* The bridge takes over what has become of its interfaces. */
static bool
rebuild(struct bridge *b, struct port *p, bool came)
{
    struct build *x;
    struct err err;

    err_clear(&err);
    if (build_attach(b, p, came, b->stall_ns, &x, &err)) {
        if (came)
            port_refuse(p, b->name, err.msg);
        else
            log_warn("bridge %s: %s", b->name, err.msg);
        return false;
    }
    build_commit(b->daemon, &x, 1, NULL, 0);
    return true;
}

static void
set_state(struct bridge *b, struct port *p, enum port_state state)
{
    if (p->link == state)
        return;
    p->link = state;
    log_info("bridge %s: port %s is %s", b->name, p->name,
             port_state_name(state));
    events_link(b, p);
    ofbridge_update_ports(b);
    if (p->is_local && p->netdev) /* it is used while it is up */
        rebuild(b, NULL, false);
}

static void
detach(struct bridge *b, struct port *p)
{
    enum port_state was = p->link;

    if (!rebuild(b, p, false))
        return;
    p->link = was;
    p->last_try_ns = 0;
    set_state(b, p, PORT_ABSENT);
}

/* info: of its interface; zero where the port makes it itself. */
static void
attach(struct bridge *b, struct port *p, const struct link_info *info)
{
    enum port_state was = p->link, now;
    uint64_t now_ns = clock_ns();

    if (p->last_try_ns && now_ns - p->last_try_ns < RETRY_NS)
        return;
    p->last_try_ns = now_ns;
    p->tried_ifindex = info->ifindex;
    p->tried_mtu = info->mtu;
    if (!rebuild(b, p, true))
        return;
    p->last_try_ns = 0; /* what can be opened may be closed and opened again */
    now = p->link;
    p->link = was;
    set_state(b, p, now);
}

/* The interface that is there now has another MTU, address or speed. */
static void
take_over_live(struct bridge *b, struct port *p, const struct link_info *info)
{
    struct conf_live live = p->live;

    if (info->speed_bps)
        live.speed_bps = info->speed_bps;
    live.mtu = info->mtu;
    memcpy(live.mac, info->mac, sizeof(live.mac));
    if (live.speed_bps == p->live.speed_bps && live.mtu == p->live.mtu &&
        !memcmp(live.mac, p->live.mac, sizeof(live.mac)))
        return;
    log_info("bridge %s: port %s has MTU %u and address "
             "%02x:%02x:%02x:%02x:%02x:%02x now",
             b->name, p->name, live.mtu, live.mac[0], live.mac[1], live.mac[2],
             live.mac[3], live.mac[4], live.mac[5]);
    p->live = live;
    memcpy(p->netdev->mac, live.mac, sizeof(live.mac));
    p->netdev->mtu = live.mtu;
    rebuild(b, NULL, false);
}

static void
check_attached(struct bridge *b, struct port *p)
{
    enum port_state state = links_state(p);
    struct link_info info;

    if (state == PORT_ABSENT) {
        detach(b, p);
        return;
    }
    if (p->netdev->cls->poll_kernel) /* it looks for the carrier too */
        p->netdev->cls->poll_kernel(p->netdev);
    if (p->netdev->outgrown) {
        detach(b, p);
        return;
    }
    if (p->netdev->ifindex && !link_get_index(p->netdev->ifindex, &info, NULL))
        take_over_live(b, p, &info);
    set_state(b, p, state);
}

void
links_check_port(struct bridge *b, struct port *p)
{
    struct link_info info = {.ifindex = 0};

    if (p->netdev)
        check_attached(b, p);
    if (p->netdev)
        return;
    if (p->cls->on_interface && link_get(p->name, &info, NULL)) {
        p->tried_ifindex = 0; /* still absent */
        p->refusal[0] = '\0';
        return;
    }
    attach(b, p, &info);
}

void
links_check_all(struct daemon *d)
{
    for (uint32_t i = 0; i < d->n_bridges; i++)
        for (int s = 0; s < DP_MAX_PORTS; s++)
            if (d->bridges[i]->ports[s])
                links_check_port(d->bridges[i], d->bridges[i]->ports[s]);
}

/* To be opened at once: another interface than the one that was tried last, or
 * one that may do now.  Trying makes events itself, which must not have it
 * tried again for ever. */
static bool
is_news(const struct port *p, const struct link_event *ev)
{
    return ev->type == LINK_EV_CHANGE && !p->netdev &&
           (ev->ifindex != p->tried_ifindex || ev->mtu != p->tried_mtu);
}

static void
on_link(const struct link_event *ev, void *arg)
{
    struct links *l = arg;
    struct bridge *b;
    struct port *p;

    if (ev->type == LINK_EV_RESYNC) {
        links_check_all(l->daemon);
        return;
    }
    p = daemon_find_port(l->daemon, ev->name, &b);
    if (!p) /* renamed: then the number is known */
        for (uint32_t i = 0; i < l->daemon->n_bridges && !p; i++)
            for (int s = 0; s < DP_MAX_PORTS && !p; s++) {
                struct port *q = l->daemon->bridges[i]->ports[s];

                if (q && q->netdev && q->netdev->ifindex == ev->ifindex) {
                    b = l->daemon->bridges[i];
                    p = q;
                }
            }
    if (!p)
        return;
    if (is_news(p, ev))
        p->last_try_ns = 0;
    links_check_port(b, p);
}

static void on_readable(void *arg);

static int
listen_to_kernel(struct links *l, struct err *err)
{
    int error = link_monitor_create(&l->monitor, err);

    if (error)
        return error;
    l->watch = reactor_watch_fd(l->daemon->reactor,
                                link_monitor_fd(l->monitor), on_readable, l);
    return l->watch ? 0 : err_sys(err, ENOMEM, "link monitor");
}

static void
on_readable(void *arg)
{
    struct links *l = arg;
    struct err err;
    int error = link_monitor_dispatch(l->monitor, on_link, l);

    if (!error)
        return;
    log_warn("link monitor: %s: starting it anew", strerror(error));
    reactor_unwatch(l->watch);
    link_monitor_destroy(l->monitor);
    l->monitor = NULL;
    l->watch = NULL;
    err_clear(&err);
    if (listen_to_kernel(l, &err))
        log_err("%s: interfaces are looked at once a second now", err.msg);
    links_check_all(l->daemon);
}

int
links_create(struct daemon *d, struct links **out, struct err *err)
{
    struct links *l = calloc(1, sizeof(*l));
    int error;

    if (!l)
        return err_sys(err, ENOMEM, "link monitor");
    l->daemon = d;
    error = listen_to_kernel(l, err);
    if (error) {
        links_destroy(l);
        return error;
    }
    *out = l;
    return 0;
}

void
links_destroy(struct links *l)
{
    if (!l)
        return;
    reactor_unwatch(l->watch);
    link_monitor_destroy(l->monitor);
    free(l);
}
