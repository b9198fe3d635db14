/* SPDX-License-Identifier: Apache-2.0
 *
 * veth pairs into other namespaces: see attach.h.  The kernel makes a pair
 * with both names, addresses and namespaces by one request, so there is never
 * half of one.  This end carries a mark in its alias, by which detaching knows
 * what is ours to delete.
 */
#include "netdev/attach.h"

#include "netdev/link.h"

#include <errno.h>
#include <fcntl.h>
#include <netlink/netlink.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/link/veth.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MARK      "sluice port attach"
#define NETNS_DIR "/run/netns"
#define PATH_SIZE 256

static int
nl_fail(struct err *err, int rc, const char *what, const char *name)
{
    int e = rc == -NLE_EXIST       ? EEXIST
            : rc == -NLE_PERM      ? EPERM
            : rc == -NLE_NODEV     ? ENODEV
            : rc == -NLE_NOMEM     ? ENOMEM
            : rc == -NLE_INVAL     ? EINVAL
            : rc == -NLE_OPNOTSUPP ? EOPNOTSUPP
                                   : EIO;

    return err_sys(err, e, "%s \"%s\"", what, name);
}

static int
route_open(struct nl_sock **out, struct err *err)
{
    struct nl_sock *sk = nl_socket_alloc();
    int rc = sk ? nl_connect(sk, NETLINK_ROUTE) : -NLE_NOMEM;

    if (rc < 0) {
        nl_socket_free(sk);
        return nl_fail(err, rc, "cannot open a netlink socket for", "links");
    }
    *out = sk;
    return 0;
}

int
attach_open_netns(const char *word, int *fd, struct err *err)
{
    char path[PATH_SIZE];
    int n, got;

    if (word[0] == '\0')
        return err_sys(err, ESRCH, "network namespace \"\"");
    if (strspn(word, "0123456789") == strlen(word))
        n = snprintf(path, sizeof(path), "/proc/%s/ns/net", word);
    else if (strchr(word, '/'))
        n = snprintf(path, sizeof(path), "%s", word);
    else
        n = snprintf(path, sizeof(path), NETNS_DIR "/%s", word);
    if (n < 0 || (size_t) n >= sizeof(path))
        return err_sys(err, ESRCH, "network namespace \"%s\"", word);
    got = open(path, O_RDONLY | O_CLOEXEC);
    if (got < 0)
        return err_sys(err, errno == ENOENT ? ESRCH : errno,
                       "network namespace \"%s\"", word);
    *fd = got;
    return 0;
}

/* --- in the other namespace -------------------------------------------- */

static int
add_address(const struct attach *a, struct nl_sock *sk, uint32_t ifindex,
            struct err *err)
{
    struct rtnl_addr *addr = rtnl_addr_alloc();
    struct nl_addr *local = NULL;
    int rc;

    if (!addr)
        return err_sys(err, ENOMEM, "cannot set an address");
    rc = nl_addr_parse(a->address, AF_UNSPEC, &local);
    if (rc == 0 && nl_addr_get_family(local) != AF_INET &&
        nl_addr_get_family(local) != AF_INET6)
        rc = -NLE_INVAL;
    if (rc < 0) {
        err_set(err, EINVAL, "address", a->address,
                "an IP address with a prefix, like 10.0.0.1/24",
                "\"%s\" is not an IP address", a->address);
        rc = EINVAL;
    } else {
        rtnl_addr_set_ifindex(addr, (int) ifindex);
        rtnl_addr_set_local(addr, local);
        rc = rtnl_addr_add(sk, addr, 0);
        if (rc < 0)
            rc = nl_fail(err, rc, "cannot set the address", a->address);
    }
    nl_addr_put(local);
    rtnl_addr_put(addr);
    return rc;
}

/* What is left to do there once the pair is made. */
static int
finish_inside(const struct attach *a, struct err *err)
{
    struct link_info info;
    struct nl_sock *sk = NULL;
    int rc = link_get(a->ifname, &info, err);

    if (rc)
        return rc;
    if (a->address) {
        rc = route_open(&sk, err);
        if (!rc)
            rc = add_address(a, sk, info.ifindex, err);
        nl_socket_free(sk);
    }
    return rc ? rc : link_set_up(a->ifname, true, err);
}

static int
inside(const struct attach *a, struct err *err)
{
    int here = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    int rc;

    if (here < 0)
        return err_sys(err, errno, "cannot open the own network namespace");
    if (setns(a->ns_fd, CLONE_NEWNET)) {
        rc = err_sys(err, errno, "cannot enter the network namespace");
    } else {
        rc = finish_inside(a, err);
        if (setns(here, CLONE_NEWNET) && !rc)
            rc = err_sys(err, errno,
                         "cannot return to the own network "
                         "namespace");
    }
    close(here);
    return rc;
}

/* --- the pair ---------------------------------------------------------- */

static int
make_pair(const struct attach *a, struct err *err)
{
    struct rtnl_link *link = rtnl_link_veth_alloc();
    struct rtnl_link *peer = link ? rtnl_link_veth_get_peer(link) : NULL;
    struct nl_addr *mac =
        a->have_mac ? nl_addr_build(AF_LLC, a->mac, 6) : NULL;
    struct nl_sock *sk = NULL;
    int rc = route_open(&sk, err);

    if (rc == 0 && (!peer || (a->have_mac && !mac)))
        rc = err_sys(err, ENOMEM, "cannot make a veth pair");
    if (rc == 0) {
        rtnl_link_set_name(link, a->port);
        rtnl_link_set_name(peer, a->ifname);
        rtnl_link_set_ns_fd(peer, a->ns_fd);
        if (mac)
            rtnl_link_set_addr(peer, mac);
        if (a->mtu) {
            rtnl_link_set_mtu(link, a->mtu);
            rtnl_link_set_mtu(peer, a->mtu);
        }
        rc = rtnl_link_add(sk, link, NLM_F_CREATE | NLM_F_EXCL);
        if (rc == -NLE_EXIST)
            rc = err_sys(err, EEXIST, "\"%s\" here, or \"%s\" there", a->port,
                         a->ifname);
        else if (rc < 0)
            rc = nl_fail(err, rc, "cannot make the veth pair", a->port);
    }
    nl_socket_free(sk);
    nl_addr_put(mac);
    if (peer)
        rtnl_link_put(peer);
    if (link)
        rtnl_link_veth_release(link);
    return rc;
}

/* The kernel takes no alias in the request that makes a link. */
static int
mark(const char *port, struct err *err)
{
    struct rtnl_link *link = NULL, *change = rtnl_link_alloc();
    struct nl_sock *sk = NULL;
    int rc = route_open(&sk, err);

    if (rc == 0) {
        rc = change ? rtnl_link_get_kernel(sk, 0, port, &link) : -NLE_NOMEM;
        if (rc == 0) {
            rtnl_link_set_ifalias(change, MARK);
            rc = rtnl_link_change(sk, link, change, 0);
        }
        if (rc < 0)
            rc = nl_fail(err, rc, "cannot mark", port);
    }
    if (link)
        rtnl_link_put(link);
    if (change)
        rtnl_link_put(change);
    nl_socket_free(sk);
    return rc;
}

static int
delete_pair(const char *port, struct err *err)
{
    struct rtnl_link *link = NULL;
    struct nl_sock *sk;
    int rc = route_open(&sk, err);

    if (rc)
        return rc;
    rc = rtnl_link_get_kernel(sk, 0, port, &link);
    if (rc == 0) {
        rc = rtnl_link_delete(sk, link);
        rtnl_link_put(link);
    }
    nl_socket_free(sk);
    return rc < 0 ? nl_fail(err, rc, "cannot delete", port) : 0;
}

int
attach_make(const struct attach *a, struct err *err)
{
    int rc = make_pair(a, err);

    if (rc)
        return rc;
    rc = mark(a->port, err);
    if (!rc)
        rc = inside(a, err);
    if (!rc)
        rc = link_set_up(a->port, true, err);
    if (rc)
        delete_pair(a->port, NULL);
    return rc;
}

int
attach_undo(const char *port, struct err *err)
{
    struct link_info info;
    int rc = link_get(port, &info, err);

    if (rc)
        return rc;
    if (!attach_is_ours(port))
        return err_set(err, EPERM, NULL, port, NULL,
                       "interface \"%s\" was not made by port attach", port);
    return delete_pair(port, err);
}

bool
attach_is_ours(const char *port)
{
    struct rtnl_link *link = NULL;
    struct nl_sock *sk;
    const char *alias;
    bool ours = false;

    if (!port[0] || strlen(port) > NETDEV_NAME_MAX || route_open(&sk, NULL))
        return false;
    if (rtnl_link_get_kernel(sk, 0, port, &link) == 0) {
        alias = rtnl_link_get_ifalias(link);
        ours = alias && strcmp(alias, MARK) == 0;
        rtnl_link_put(link);
    }
    nl_socket_free(sk);
    return ours;
}
