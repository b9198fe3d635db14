/* SPDX-License-Identifier: Apache-2.0
 *
 * Interfaces over netlink: see link.h.  Each query opens a socket of its own:
 * it happens seldom, and so there is no state to keep and no lock to take.
 * Control thread.
 */
#include "netdev/link.h"
#include "netdev/nl.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netlink/netlink.h>
#include <netlink/route/link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Changes that the kernel keeps for us while we are busy, bytes; beyond that
 * it says that it lost some. */
#define MONITOR_RCVBUF (1 << 20)

int
nl_errno(int nlerr)
{
    switch (nlerr < 0 ? -nlerr : nlerr) {
    case NLE_SUCCESS:
        return 0;
    case NLE_OBJ_NOTFOUND:
    case NLE_NODEV:
        return ENODEV;
    case NLE_PERM:
    case NLE_NOACCESS:
        return EPERM;
    case NLE_NOMEM:
        return ENOMEM;
    case NLE_AGAIN:
        return EAGAIN;
    case NLE_INTR:
        return EINTR;
    case NLE_BUSY:
        return EBUSY;
    case NLE_EXIST:
        return EEXIST;
    case NLE_INVAL:
    case NLE_RANGE:
        return EINVAL;
    case NLE_OPNOTSUPP:
        return EOPNOTSUPP;
    case NLE_NOADDR:
        return EADDRNOTAVAIL;
    default:
        return EIO;
    }
}

static int
route_open(struct nl_sock **out, struct err *err)
{
    struct nl_sock *sk = nl_socket_alloc();
    int rc;

    if (!sk)
        return err_sys(err, ENOMEM, "cannot open a netlink socket");
    rc = nl_connect(sk, NETLINK_ROUTE);
    if (rc < 0) {
        nl_socket_free(sk);
        return err_sys(err, nl_errno(rc), "cannot open a netlink socket");
    }
    *out = sk;
    return 0;
}

/* The interface's own idea of its rate; 0 when it has none. */
static uint64_t
speed_of(const char *name)
{
    struct ethtool_cmd cmd = {.cmd = ETHTOOL_GSET};
    struct ifreq ifr = {0};
    uint32_t mbps = 0;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return 0;
    snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
    ifr.ifr_data = (void *) &cmd;
    if (ioctl(fd, SIOCETHTOOL, &ifr) == 0)
        mbps = ethtool_cmd_speed(&cmd);
    close(fd);
    /* -1, also as 16 bits from old drivers, means that it does not know. */
    if (mbps == UINT32_MAX || mbps == UINT16_MAX)
        return 0;
    return mbps * UINT64_C(1000000);
}

static void
copy_mac(uint8_t mac[6], struct rtnl_link *link)
{
    struct nl_addr *addr = rtnl_link_get_addr(link);

    if (addr && nl_addr_get_len(addr) == 6)
        memcpy(mac, nl_addr_get_binary_addr(addr), 6);
}

static void
fill_info(struct link_info *info, struct rtnl_link *link)
{
    int nsid;
    const char *kind = rtnl_link_get_type(link);
    unsigned flags = rtnl_link_get_flags(link);

    *info = (struct link_info){
        .ifindex = (uint32_t) rtnl_link_get_ifindex(link),
        .mtu = rtnl_link_get_mtu(link),
        .txqlen = rtnl_link_get_txqlen(link),
        .master = (uint32_t) rtnl_link_get_master(link),
        .is_ether = rtnl_link_get_arptype(link) == ARPHRD_ETHER,
        .up = flags & IFF_UP,
        .running = flags & IFF_RUNNING,
        .rx_dropped = rtnl_link_get_stat(link, RTNL_LINK_RX_DROPPED),
        .tx_dropped = rtnl_link_get_stat(link, RTNL_LINK_TX_DROPPED),
    };
    snprintf(info->name, sizeof(info->name), "%s", rtnl_link_get_name(link));
    snprintf(info->kind, sizeof(info->kind), "%s", kind ? kind : "");
    info->is_tap = strcmp(info->kind, "tun") == 0;
    /* An end elsewhere has a number of elsewhere. */
    if (strcmp(info->kind, "veth") == 0 &&
        rtnl_link_get_link_netnsid(link, &nsid) < 0)
        info->peer = (uint32_t) rtnl_link_get_link(link);
    copy_mac(info->mac, link);
    info->speed_bps = speed_of(info->name);
}

/* By number if ifindex > 0, else by name. */
static int
query(int ifindex, const char *name, struct link_info *info, struct err *err)
{
    struct rtnl_link *link;
    struct nl_sock *sk;
    int rc = route_open(&sk, err);

    if (rc)
        return rc;
    rc = rtnl_link_get_kernel(sk, ifindex, name, &link);
    nl_socket_free(sk);
    if (rc < 0) {
        if (ifindex > 0)
            return err_sys(err, nl_errno(rc), "interface number %d", ifindex);
        return err_sys(err, nl_errno(rc), "interface \"%s\"", name);
    }
    fill_info(info, link);
    rtnl_link_put(link);
    return 0;
}

int
link_get(const char *name, struct link_info *info, struct err *err)
{
    /* An empty or overlong name makes libnl send a request for no one. */
    if (!name[0] || strlen(name) > NETDEV_NAME_MAX)
        return err_sys(err, ENODEV, "interface \"%s\"", name);
    return query(0, name, info, err);
}

int
link_get_index(uint32_t ifindex, struct link_info *info, struct err *err)
{
    if (ifindex == 0 || ifindex > INT32_MAX)
        return err_sys(err, ENODEV, "interface number %u", ifindex);
    return query((int) ifindex, NULL, info, err);
}

/* Sends the difference of `change` to the kernel.  Takes `change`. */
static int
apply(const char *name, struct rtnl_link *change, const char *what,
      struct err *err)
{
    struct rtnl_link *link = NULL;
    struct nl_sock *sk = NULL;
    int rc;

    if (!change)
        return err_sys(err, ENOMEM, "cannot set %s of \"%s\"", what, name);
    rc = route_open(&sk, err);
    if (rc) {
        rtnl_link_put(change);
        return rc;
    }
    rc = rtnl_link_get_kernel(sk, 0, name, &link);
    if (rc == 0)
        rc = rtnl_link_change(sk, link, change, 0);
    rtnl_link_put(change);
    if (link)
        rtnl_link_put(link);
    nl_socket_free(sk);
    if (rc < 0)
        return err_sys(err, nl_errno(rc), "cannot set %s of \"%s\"", what,
                       name);
    return 0;
}

int
link_set_up(const char *name, bool up, struct err *err)
{
    struct rtnl_link *change = rtnl_link_alloc();

    if (change && up)
        rtnl_link_set_flags(change, IFF_UP);
    else if (change)
        rtnl_link_unset_flags(change, IFF_UP);
    return apply(name, change, "the state", err);
}

int
link_set_mtu(const char *name, uint32_t mtu, struct err *err)
{
    struct rtnl_link *change = rtnl_link_alloc();

    if (change)
        rtnl_link_set_mtu(change, mtu);
    return apply(name, change, "the MTU", err);
}

int
link_set_mac(const char *name, const uint8_t mac[6], struct err *err)
{
    struct rtnl_link *change = rtnl_link_alloc();
    struct nl_addr *addr = nl_addr_build(AF_LLC, mac, 6);

    if (!addr) {
        rtnl_link_put(change);
        change = NULL;
    } else if (change) {
        rtnl_link_set_addr(change, addr); /* takes a reference */
    }
    nl_addr_put(addr);
    return apply(name, change, "the MAC address", err);
}

int
link_set_txqlen(const char *name, uint32_t frames, struct err *err)
{
    struct rtnl_link *change = rtnl_link_alloc();

    if (change)
        rtnl_link_set_txqlen(change, frames);
    return apply(name, change, "the queue length", err);
}

/* --- changes ----------------------------------------------------------- */

struct link_monitor {
    struct nl_sock *sk; /* subscribed to link changes */
    unsigned n_left;    /* messages that this dispatch may still take */
    void (*cb)(const struct link_event *, void *); /* of this dispatch */
    void *arg;                                     /* of this dispatch */
};

static void
on_object(struct nl_object *obj, void *arg)
{
    struct link_monitor *m = arg;
    struct rtnl_link *link = (struct rtnl_link *) obj;
    struct link_event ev = {0};
    unsigned flags;
    int type = nl_object_get_msgtype(obj);

    if (type != RTM_NEWLINK && type != RTM_DELLINK)
        return;
    flags = rtnl_link_get_flags(link);
    ev.ifindex = (uint32_t) rtnl_link_get_ifindex(link);
    if (rtnl_link_get_name(link))
        snprintf(ev.name, sizeof(ev.name), "%s", rtnl_link_get_name(link));
    if (type == RTM_DELLINK) {
        ev.type = LINK_EV_DELETE;
    } else {
        ev.type = LINK_EV_CHANGE;
        ev.mtu = rtnl_link_get_mtu(link);
        ev.up = flags & IFF_UP;
        ev.running = flags & IFF_RUNNING;
        copy_mac(ev.mac, link);
    }
    m->cb(&ev, m->arg);
}

static int
on_message(struct nl_msg *msg, void *arg)
{
    struct link_monitor *m = arg;
    /* A bridge says of a port that leaves it that "the link is gone", in a
     * message of its own family; the interface stays. */
    struct nlmsghdr *hdr = nlmsg_hdr(msg);
    struct ifinfomsg *ifi = nlmsg_data(hdr);

    if (nlmsg_datalen(hdr) >= (int) sizeof(*ifi) &&
        ifi->ifi_family == AF_UNSPEC)
        nl_msg_parse(msg, on_object, m); /* what is not a link is skipped */
    if (m->n_left > 0)
        m->n_left--;
    return NL_OK;
}

int
link_monitor_create(struct link_monitor **out, struct err *err)
{
    struct link_monitor *m = calloc(1, sizeof(*m));
    int rc;

    if (!m)
        return err_sys(err, ENOMEM, "cannot watch interfaces");
    rc = route_open(&m->sk, err);
    if (rc) {
        free(m);
        return rc;
    }
    nl_socket_disable_seq_check(m->sk);
    nl_socket_modify_cb(m->sk, NL_CB_VALID, NL_CB_CUSTOM, on_message, m);
    nl_socket_set_buffer_size(m->sk, MONITOR_RCVBUF, 0);
    rc = nl_socket_set_nonblocking(m->sk);
    if (rc == 0)
        rc = nl_socket_add_membership(m->sk, RTNLGRP_LINK);
    if (rc < 0) {
        link_monitor_destroy(m);
        return err_sys(err, nl_errno(rc), "cannot watch interfaces");
    }
    *out = m;
    return 0;
}

void
link_monitor_destroy(struct link_monitor *m)
{
    if (!m)
        return;
    nl_socket_free(m->sk);
    free(m);
}

int
link_monitor_fd(const struct link_monitor *m)
{
    return nl_socket_get_fd(m->sk);
}

int
link_monitor_dispatch(struct link_monitor *m,
                      void (*cb)(const struct link_event *, void *arg),
                      void *arg)
{
    m->cb = cb;
    m->arg = arg;
    m->n_left = LINK_MONITOR_BURST;
    while (m->n_left > 0) {
        int rc = nl_recvmsgs_default(m->sk);

        if (rc == -NLE_AGAIN)
            return 0;
        if (rc == -NLE_NOMEM) { /* ENOBUFS: the kernel lost some */
            cb(&(struct link_event){.type = LINK_EV_RESYNC}, arg);
            m->n_left--;
            continue;
        }
        if (rc < 0 && rc != -NLE_INTR && rc != -NLE_DUMP_INTR)
            return nl_errno(rc);
    }
    return 0;
}
