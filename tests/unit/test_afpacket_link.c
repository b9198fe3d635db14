/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/netdev/afpacket when the kernel refuses frames, and when interfaces go
 * down and away: nothing is lost or reordered, and nobody spins.  And
 * lib/netdev/link, which tells of it.  Needs root.
 */
#include "netdev/link.h"
#include "netdev/netdev.h"
#include "tests/unit/netns.h"
#include "tests/unit/port_type.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static struct netdev *
open_port(const char *name, struct pkt_pool *pool)
{
    struct netdev_args args = {.name = name, .pool = pool};
    struct netdev *dev = NULL;
    struct err err = {0};

    cr_assert_eq(netdev_open(&PORT_CLASS, &args, &dev, &err), 0, "%s",
                 err.msg);
    return dev;
}

static struct pkt *
numbered(struct pkt_pool *pool, uint32_t seq)
{
    struct pkt *p = pkt_alloc(pool);

    cr_assert_not_null(p);
    p->len = 100;
    memset(p->data, 0, p->len);
    memcpy(p->data, "\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x88\xb5", 14);
    memcpy(p->data + 14, &seq, 4);
    return p;
}

static uint32_t
seq_of(const uint8_t *f)
{
    uint32_t seq;

    memcpy(&seq, f + 14, 4);
    return seq;
}

static bool
polls(int fd, short events, int wait_ms)
{
    struct pollfd pfd = {.fd = fd, .events = events};

    return poll(&pfd, 1, wait_ms) > 0;
}

/* Sends frames first..last-1 until the kernel refuses one; returns the number
 * of the first that was not taken. */
static uint32_t
send_until_refused(struct netdev *dev, struct pkt_pool *pool, uint32_t first,
                   uint32_t last)
{
    while (first < last) {
        struct pkt *p[PKT_BATCH];
        uint32_t n = last - first < PKT_BATCH ? last - first : PKT_BATCH;
        uint32_t n_sent;
        enum netdev_tx tx;

        for (uint32_t i = 0; i < n; i++)
            p[i] = numbered(pool, first + i);
        tx = dev->cls->tx(dev, p, n, &n_sent);
        for (uint32_t i = 0; i < n; i++)
            pkt_free(p[i]);
        first += n_sent;
        if (tx == NETDEV_TX_AGAIN)
            break;
        cr_assert_eq(tx, NETDEV_TX_OK);
        cr_assert_eq(n_sent, n);
    }
    return first;
}

/* A TAP whose far end we hold: a device whose queue fills up. */
static int
make_tap(const char *name)
{
    struct ifreq ifr = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        cr_skip_test("needs /dev/net/tun: %s", strerror(errno));
    strcpy(ifr.ifr_name, name);
    cr_assert_eq(ioctl(fd, TUNSETIFF, &ifr), 0);
    return fd;
}

Test(port_link, frames_that_a_device_refuses_are_sent_later_in_order)
{
    struct pkt_pool *pool;
    struct netdev *dev;
    uint32_t sent = 0, received = 0;
    uint8_t got[2000];
    unsigned n_refusals = 0;
    int far;

    netns_enter();
    far = make_tap("slc0");
    netns_run("ip link set slc0 txqueuelen 50 up");
    pool = pkt_pool_create(64, 0, 1600);
    dev = open_port("slc0", pool);
    while (received < 2000) {
        uint32_t before = sent;

        sent = send_until_refused(dev, pool, sent, 2000);
        n_refusals += sent < 2000;
        cr_assert_leq(sent - before, 50);
        for (int i = 0; i < 35; i++) {
            if (read(far, got, sizeof(got)) < 0)
                break;
            cr_assert_eq(seq_of(got), received++);
        }
    }
    cr_assert_eq(sent, 2000);
    cr_assert_lt(read(far, got, sizeof(got)), 0);
    cr_assert_geq(n_refusals, 40);
    cr_assert_geq(counter_get(&dev->stats.tx_again), n_refusals);
    /* A refusal that was repeated is no loss. */
    dev->cls->poll_kernel(dev);
    cr_assert_eq(counter_get(&dev->stats.tx_queue_drops), 0);
    netdev_close(dev);
    pkt_collect(pool);
    cr_assert_eq(pkt_pool_n_free(pool), 64);
    pkt_pool_destroy(pool);
    close(far);
}

#if !PORT_IS_AFXDP /* which does not use the interface's queue */
Test(port_link, frames_beyond_the_send_buffer_are_sent_later_in_order)
{
    struct pkt_pool *pool;
    struct netdev *dev;
    uint32_t sent = 0, received = 0;
    unsigned n_refusals = 0;
    uint8_t got[2000];
    int small = 1, peer, tx_fd;

    netns_enter();
    netns_run("ip link add slc0 type veth peer name slc1");
    netns_run("ip link set slc0 up && ip link set slc1 up");
    /* A shaper that holds frames for a while: they stay on our account. */
    netns_run("tc qdisc add dev slc0 root tbf rate 8mbit burst 2000 "
              "limit 1000000");
    pool = pkt_pool_create(64, 0, 1600);
    dev = open_port("slc0", pool);
    peer = netns_raw("slc1");
    tx_fd = dev->cls->tx_fd(dev);
    cr_assert_eq(setsockopt(tx_fd, SOL_SOCKET, SO_SNDBUF, &small,
                            sizeof(small)),
                 0);
    while (received < 3000) {
        sent = send_until_refused(dev, pool, sent, 3000);
        if (sent < 3000) {
            n_refusals++;
            cr_assert(polls(tx_fd, POLLOUT, 5000));
        }
        while (netns_recv(peer, got, sizeof(got), sent == 3000 ? 5000 : 0)) {
            if (got[12] == 0x88 && got[13] == 0xb5)
                cr_assert_eq(seq_of(got), received++);
            if (received == 3000)
                break;
        }
    }
    cr_assert_geq(n_refusals, 5);
    cr_assert_eq(counter_get(&dev->stats.tx_errors), 0);
    netdev_close(dev);
    pkt_pool_destroy(pool);
    close(peer);
}

Test(port_link, a_queue_that_is_full_refuses_and_nothing_is_lost)
{
    struct pkt_pool *pool;
    struct netdev *dev;
    uint32_t sent = 0, received = 0;
    unsigned n_refusals = 0;
    uint8_t got[2000];
    int peer;

    netns_enter();
    netns_run("ip link add slc0 type veth peer name slc1");
    netns_run("ip link set slc0 up && ip link set slc1 up");
    netns_run("tc qdisc add dev slc0 root tbf rate 8mbit burst 2000 "
              "limit 3000");
    pool = pkt_pool_create(64, 0, 1600);
    dev = open_port("slc0", pool);
    peer = netns_raw("slc1");
    while (received < 500) {
        sent = send_until_refused(dev, pool, sent, 500);
        n_refusals += sent < 500;
        while (netns_recv(peer, got, sizeof(got), 1)) {
            if (got[12] == 0x88 && got[13] == 0xb5)
                cr_assert_eq(seq_of(got), received++);
        }
    }
    cr_assert_eq(received, sent);
    cr_assert_geq(n_refusals, 5);
    netdev_close(dev);
    pkt_pool_destroy(pool);
    close(peer);
}
#endif

/* Calls rx as a runner does whose poll says "readable"; returns how often. */
static unsigned
n_wakeups(struct netdev *dev)
{
    struct pkt *p[PKT_BATCH];
    unsigned n = 0;

    while (n < 1000 && polls(dev->cls->fd(dev), POLLIN, 0)) {
        uint32_t k = dev->cls->rx(dev, p, PKT_BATCH);

        while (k > 0)
            pkt_free(p[--k]);
        n++;
    }
    return n;
}

static enum netdev_tx
send_one(struct netdev *dev, struct pkt_pool *pool, uint32_t seq,
         uint32_t *n_sent)
{
    struct pkt *p = numbered(pool, seq);
    enum netdev_tx tx = dev->cls->tx(dev, &p, 1, n_sent);

    pkt_free(p);
    return tx;
}

Test(port_link, interface_that_goes_down_comes_back)
{
    struct pkt_pool *pool = pkt_pool_create(64, 0, 1600);
    struct netdev *dev;
    uint8_t got[2000];
    uint32_t n_sent;
    int peer;

    netns_enter();
    netns_run("ip link add slc0 type veth peer name slc1");
    netns_run("ip link set slc1 up");
    dev = open_port("slc0", pool); /* turns it up */
    peer = netns_raw("slc1");
    for (uint32_t round = 0; round < 3; round++) {
        struct pkt *p[PKT_BATCH];

        n_wakeups(dev);
        cr_assert_eq(send_one(dev, pool, round, &n_sent), NETDEV_TX_OK);
        cr_assert_eq(n_sent, 1);
        cr_assert_eq(netns_recv(peer, got, sizeof(got), 1000), 100);
        cr_assert_eq(seq_of(got), round);
        netns_send(peer, got, 100);
        cr_assert_eq(dev->cls->rx(dev, p, PKT_BATCH), 1);
        cr_assert_eq(seq_of(p[0]->data), round);
        pkt_free(p[0]);
        netns_run("ip link set slc0 down");
        cr_assert_eq(send_one(dev, pool, 99, &n_sent), NETDEV_TX_DOWN);
        cr_assert_eq(n_sent, 0);
        cr_assert_leq(n_wakeups(dev), 8);
        cr_assert_eq(n_wakeups(dev), 0);
        netns_run("ip link set slc0 up");
        netns_wait("slc0");
        netns_wait("slc1");
    }
    netdev_close(dev);
    pkt_pool_destroy(pool);
    close(peer);
}

Test(port_link, no_carrier_is_down)
{
    struct pkt_pool *pool = pkt_pool_create(64, 0, 1600);
    struct netdev *dev;
    uint32_t n_sent;

    netns_enter();
    netns_run("ip link add slc0 type veth peer name slc1");
    netns_run("ip link set slc1 up");
    dev = open_port("slc0", pool);
    netns_run("ip link set slc1 down");
    for (int i = 0; i < 1000; i++) { /* the kernel says so a little later */
        struct link_info info;

        cr_assert_eq(link_get("slc0", &info, NULL), 0);
        if (!info.running)
            break;
        usleep(10000);
    }
    dev->cls->poll_kernel(dev);
    cr_assert_eq(send_one(dev, pool, 1, &n_sent), NETDEV_TX_DOWN);
    cr_assert_eq(n_sent, 0);
    netns_run("ip link set slc1 up");
    netns_wait("slc0");
    dev->cls->poll_kernel(dev);
    cr_assert_eq(send_one(dev, pool, 1, &n_sent), NETDEV_TX_OK);
    cr_assert_eq(n_sent, 1);
    netdev_close(dev);
    pkt_pool_destroy(pool);
}

Test(port_link, deleted_interface_is_down_and_quiet)
{
    struct pkt_pool *pool = pkt_pool_create(64, 0, 1600);
    struct netdev *dev;
    uint32_t n_sent;

    netns_enter();
    netns_run("ip link add slc0 type veth peer name slc1");
    netns_run("ip link set slc1 up");
    dev = open_port("slc0", pool);
    netns_run("ip link del slc0");
    cr_assert_eq(send_one(dev, pool, 1, &n_sent), NETDEV_TX_DOWN);
    cr_assert_leq(n_wakeups(dev), 8);
    cr_assert_eq(n_wakeups(dev), 0);
    dev->cls->poll_kernel(dev);
    /* A namesake is another interface: the old port stays dead. */
    netns_run("ip link add slc0 type veth peer name slc1");
    netns_run("ip link set slc0 up && ip link set slc1 up");
    cr_assert_eq(send_one(dev, pool, 1, &n_sent), NETDEV_TX_DOWN);
    cr_assert_eq(n_wakeups(dev), 0);
    netdev_close(dev);
    dev = open_port("slc0", pool);
    cr_assert_eq(send_one(dev, pool, 1, &n_sent), NETDEV_TX_OK);
    netdev_close(dev);
    pkt_pool_destroy(pool);
}

Test(port_link, what_cannot_be_opened_says_why)
{
    struct pkt_pool *pool = pkt_pool_create(4, 0, 1600);
    struct netdev_args args = {.name = "slc9", .pool = pool};
    struct netdev *dev = NULL;
    struct err err = {0};

    netns_enter();
    cr_assert_eq(netdev_open(&PORT_CLASS, &args, &dev, &err), ENODEV);
    cr_assert(strstr(err.msg, "slc9"), "%s", err.msg);
    args.name = "lo";
    cr_assert_eq(netdev_open(&PORT_CLASS, &args, &dev, &err), EINVAL);
    cr_assert(strstr(err.msg, "Ethernet"), "%s", err.msg);
    netns_run("ip link add slc0 type veth peer name slc1");
    args.name = "slc0";
    args.ring_bytes = 1000;
    cr_assert_eq(netdev_open(&PORT_CLASS, &args, &dev, &err), EINVAL);
    cr_assert(strstr(err.msg, "64K"), "%s", err.msg);
    cr_assert_null(dev);
    pkt_pool_destroy(pool);
}

/* Two ports as a bridge, the smallest one there is. */
static uint32_t
forward(struct netdev *from, struct netdev *to)
{
    struct pkt *p[PKT_BATCH];
    uint32_t n = from->cls->rx(from, p, PKT_BATCH);
    uint32_t done = 0;

    while (done < n) {
        uint32_t n_sent;
        enum netdev_tx tx = to->cls->tx(to, p + done, n - done, &n_sent);

        cr_assert_neq(tx, NETDEV_TX_DOWN);
        done += n_sent;
    }
    for (uint32_t i = 0; i < n; i++)
        pkt_free(p[i]);
    return n;
}

Test(port_link, forwards_100000_frames_in_order)
{
    struct pkt_pool *pool = pkt_pool_create(256, 0, 1600);
    struct netdev *left, *right;
    uint32_t received = 0;
    uint8_t frame[64] = "\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x88\xb5";
    uint8_t got[2000];
    int a, b;

    netns_enter();
    netns_run("ip link add slc0 type veth peer name slc1");
    netns_run("ip link add slc2 type veth peer name slc3");
    netns_run("for i in 0 1 2 3; do ip link set slc$i up || exit 1; done");
    left = open_port("slc1", pool);
    right = open_port("slc2", pool);
    a = netns_raw("slc0");
    b = netns_raw("slc3");
    for (uint32_t sent = 0; received < 100000;) {
        for (int i = 0; i < 200 && sent < 100000; i++, sent++) {
            memcpy(frame + 14, &sent, 4);
            netns_send(a, frame, sizeof(frame));
        }
        while (forward(left, right) > 0)
            ;
        cr_assert_eq(forward(right, left), 0);
        while (received < sent) {
            cr_assert_eq(netns_recv(b, got, sizeof(got), 1000), 64);
            cr_assert_eq(seq_of(got), received++);
        }
    }
    left->cls->poll_kernel(left);
    cr_assert_eq(counter_get(&left->stats.rx_ring_drops), 0);
    cr_assert_eq(pkt_pool_n_free(pool), 256);
    netdev_close(left);
    netdev_close(right);
    pkt_pool_destroy(pool);
    close(a);
    close(b);
}

/* --- link --------------------------------------------------------------- */

Test(link, says_what_an_interface_is)
{
    struct link_info info;
    struct err err = {0};
    uint32_t ifindex;

    netns_enter();
    netns_run("ip link add slc0 type veth peer name slc1");
    cr_assert_eq(link_get("slc0", &info, &err), 0, "%s", err.msg);
    cr_assert_str_eq(info.name, "slc0");
    cr_assert_str_eq(info.kind, "veth");
    cr_assert(info.is_ether && !info.is_tap && !info.up && !info.running);
    cr_assert_eq(info.mtu, 1500);
    cr_assert_eq(info.speed_bps, UINT64_C(10000000000));
    ifindex = info.ifindex;
    cr_assert_eq(link_set_up("slc0", true, &err), 0, "%s", err.msg);
    cr_assert_eq(link_set_up("slc1", true, &err), 0, "%s", err.msg);
    netns_wait("slc0");
    cr_assert_eq(link_set_mtu("slc0", 4000, &err), 0, "%s", err.msg);
    cr_assert_eq(link_set_txqlen("slc0", 77, &err), 0, "%s", err.msg);
    cr_assert_eq(link_set_mac("slc0", (const uint8_t *) "\2\1\2\3\4\5", &err),
                 0, "%s", err.msg);
    cr_assert_eq(link_get_index(ifindex, &info, &err), 0, "%s", err.msg);
    cr_assert_str_eq(info.name, "slc0");
    cr_assert(info.up && info.running);
    cr_assert_eq(info.mtu, 4000);
    cr_assert_eq(info.txqlen, 77);
    cr_assert_arr_eq(info.mac, "\2\1\2\3\4\5", 6);
    cr_assert_eq(link_set_up("slc0", false, &err), 0, "%s", err.msg);
    cr_assert_eq(link_get("slc0", &info, &err), 0);
    cr_assert_not(info.up);
    cr_assert_eq(link_get("lo", &info, &err), 0);
    cr_assert_not(info.is_ether);
}

Test(link, errors_name_the_interface)
{
    struct link_info info;
    struct err err = {0};

    netns_enter();
    cr_assert_eq(link_get("slc0", &info, &err), ENODEV);
    cr_assert(strstr(err.msg, "\"slc0\""), "%s", err.msg);
    cr_assert_eq(link_get("", &info, NULL), ENODEV);
    cr_assert_eq(link_get("sixteen-letters-", &info, NULL), ENODEV);
    cr_assert_eq(link_get_index(0, &info, NULL), ENODEV);
    cr_assert_eq(link_get_index(4711, &info, NULL), ENODEV);
    cr_assert_eq(link_set_up("slc0", true, &err), ENODEV);
    netns_run("ip link add slc0 type veth peer name slc1");
    cr_assert_eq(link_set_mtu("slc0", 1, &err), EINVAL, "%s", err.msg);
    cr_assert(strstr(err.msg, "MTU of \"slc0\""), "%s", err.msg);
}

struct heard {
    unsigned n;             /* events */
    struct link_event last; /* of slc0 */
    bool deleted;           /* slc0 was */
};

static void
hear(const struct link_event *ev, void *arg)
{
    struct heard *h = arg;

    h->n++;
    if (strcmp(ev->name, "slc0") != 0)
        return;
    h->last = *ev;
    h->deleted |= ev->type == LINK_EV_DELETE;
}

/* Takes events until slc0 is said to run, or not to. */
static void
settle(struct link_monitor *m, struct heard *h, bool running)
{
    do {
        cr_assert(polls(link_monitor_fd(m), POLLIN, 5000));
        cr_assert_eq(link_monitor_dispatch(m, hear, h), 0);
    } while (h->last.running != running);
}

Test(link, monitor_hears_every_change)
{
    struct link_monitor *m = NULL;
    struct heard h = {0};
    struct err err = {0};
    uint32_t first;

    netns_enter();
    cr_assert_eq(link_monitor_create(&m, &err), 0, "%s", err.msg);
    cr_assert_eq(link_monitor_dispatch(m, hear, &h), 0);
    cr_assert_eq(h.n, 0);
    cr_assert_not(polls(link_monitor_fd(m), POLLIN, 0));
    netns_run("ip link add slc0 type veth peer name slc1");
    cr_assert(polls(link_monitor_fd(m), POLLIN, 5000));
    cr_assert_eq(link_monitor_dispatch(m, hear, &h), 0);
    cr_assert_eq(h.last.type, LINK_EV_CHANGE);
    cr_assert_eq(h.last.mtu, 1500);
    cr_assert(h.last.ifindex && !h.last.up && !h.last.running);
    first = h.last.ifindex;
    netns_run("ip link set slc0 up && ip link set slc1 up");
    settle(m, &h, true);
    cr_assert(h.last.up && h.last.running);
    netns_run("ip link set slc1 down");
    settle(m, &h, false);
    cr_assert(h.last.up && !h.last.running);
    netns_run("ip link del slc0");
    cr_assert_eq(link_monitor_dispatch(m, hear, &h), 0);
    cr_assert(h.deleted);
    cr_assert_eq(h.last.type, LINK_EV_DELETE);
    cr_assert_eq(h.last.ifindex, first);
    netns_run("ip link add slc0 type veth peer name slc1");
    cr_assert_eq(link_monitor_dispatch(m, hear, &h), 0);
    cr_assert_eq(h.last.type, LINK_EV_CHANGE);
    cr_assert_neq(h.last.ifindex, first);
    cr_assert_not(polls(link_monitor_fd(m), POLLIN, 0));
    link_monitor_destroy(m);
    link_monitor_destroy(NULL);
}

static void
hear_resync(const struct link_event *ev, void *arg)
{
    *(unsigned *) arg += ev->type == LINK_EV_RESYNC;
}

Test(link, monitor_says_when_it_missed_something)
{
    struct link_monitor *m = NULL;
    unsigned n_resync = 0;
    int small = 1;

    netns_enter();
    cr_assert_eq(link_monitor_create(&m, NULL), 0);
    setsockopt(link_monitor_fd(m), SOL_SOCKET, SO_RCVBUF, &small,
               sizeof(small));
    netns_run("ip link add slc0 type veth peer name slc1");
    netns_run("for i in 1 2 3 4 5 6 7 8 9; do ip link set slc0 up; "
              "ip link set slc0 down; done");
    for (int i = 0; i < 20; i++)
        cr_assert_eq(link_monitor_dispatch(m, hear_resync, &n_resync), 0);
    cr_assert_geq(n_resync, 1);
    cr_assert_not(polls(link_monitor_fd(m), POLLIN, 0));
    link_monitor_destroy(m);
}
