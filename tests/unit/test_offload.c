/* SPDX-License-Identifier: Apache-2.0
 *
 * Offloads on real interfaces: TCP and UDP of unmodified hosts (default
 * settings, in network namespaces of their own) crosses two ports as frames
 * that fit the MTU and whose checksums are right; super-frames that are lost
 * are counted.  Also lib/netdev/tap, whose host is the namespace itself.
 * Needs root.
 */
#include "netdev/gso.h"
#include "netdev/link.h"
#include "netdev/netdev.h"
#include "netdev/regroup.h"
#include "tests/unit/netns.h"
#include "tests/unit/port_type.h"
#include "wire/eth.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FRAME_BYTES 1600
#define TCP_BYTES   (4 << 20)
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

static struct netdev *
open_port(const struct netdev_class *cls, const char *name,
          struct pkt_pool *pool)
{
    struct netdev_args args = {.name = name, .pool = pool};
    struct netdev *dev = NULL;
    struct err err = {0};

    if (cls == &netdev_tap && access("/dev/net/tun", R_OK | W_OK))
        cr_skip_test("needs /dev/net/tun: %s", strerror(errno));
    cr_assert_eq(netdev_open(cls, &args, &dev, &err), 0, "%s", err.msg);
    return dev;
}

/* Whether checksums stay open on the way: then it is for the far end to find
 * that all is right. */
static bool stays_open;

/* Checks every frame on its way. */
static void
check_frame(const struct pkt *p, uint32_t mtu)
{
    const char *wrong;

    if (stays_open && pkt_is_open(p))
        return;
    pkt_close(p);
    wrong = netns_csum_wrong(p->data, p->len);
    cr_assert_null(wrong, "frame of %u octets: %s", p->len, wrong);
    cr_assert_leq(p->len, mtu + 14);
}

/* What is left of the super-frame that a batch ended in, p[n] being what comes
 * next; how many frames. */
static uint32_t
read_rest(struct netdev *from, struct pkt *p[], uint32_t n)
{
    uint32_t rest = from->rx_rest, got;

    if (n < PKT_BATCH || !rest)
        return 0;
    cr_assert(pkt_is_unfinished(p[n - 1]));
    got = from->cls->rx(from, p + n, rest < PKT_BATCH ? rest : PKT_BATCH);
    for (uint32_t i = 0; i < got; i++)
        cr_assert(pkt_same_super(p[n - 1], p[n + i]));
    cr_assert_eq(from->rx_rest, rest - got);
    cr_assert_eq(got > 0 && pkt_is_unfinished(p[n + got - 1]),
                 from->rx_rest > 0);
    return got;
}

/* As the datapath does. */
static uint32_t
forward(struct netdev *from, struct netdev *to)
{
    struct pkt *p[NETDEV_TX_MAX];
    uint32_t n = from->cls->rx(from, p, PKT_BATCH);
    uint32_t done = 0;

    n += read_rest(from, p, n);

    for (uint32_t i = 0; i < n; i++)
        check_frame(p[i], from->mtu);
    while (done < n) {
        uint32_t n_sent;

        cr_assert_neq(to->cls->tx(to, p + done, n - done, &n_sent),
                      NETDEV_TX_DOWN);
        done += n_sent;
    }
    for (uint32_t i = 0; i < n; i++)
        pkt_free(p[i]);
    return n;
}

/* Forwards both ways until nothing has come for `quiet_ms`. */
static void
forward_all(struct netdev *a, struct netdev *b, int quiet_ms)
{
    for (;;) {
        struct pollfd pfd[2] = {{.fd = a->cls->fd(a), .events = POLLIN},
                                {.fd = b->cls->fd(b), .events = POLLIN}};

        if (forward(a, b) + forward(b, a) == 0 && poll(pfd, 2, quiet_ms) == 0)
            return;
    }
}

union address {
    struct sockaddr sa;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};

/* Tests of tunnels: the network inside. */
static const char *net4 = "10.9.0";

static socklen_t
address_of(bool v6, int host, union address *a)
{
    char text[32];

    memset(a, 0, sizeof(*a));
    if (v6) {
        a->in6.sin6_family = AF_INET6;
        a->in6.sin6_port = htons(5000);
        inet_pton(AF_INET6, host == 1 ? "fd00::1" : "fd00::2",
                  &a->in6.sin6_addr);
        return sizeof(a->in6);
    }
    a->in.sin_family = AF_INET;
    a->in.sin_port = htons(5000);
    snprintf(text, sizeof(text), "%s.%d", net4, host);
    inet_pton(AF_INET, text, &a->in.sin_addr);
    return sizeof(a->in);
}

/* Gives an interface of the current namespace the addresses of a host. */
static void
make_host(const char *iface, int host)
{
    netns_run("echo 0 > /proc/sys/net/ipv6/conf/%s/disable_ipv6", iface);
    netns_run("ip addr add 10.9.0.%d/24 dev %s", host, iface);
    netns_run("ip addr add fd00::%d/64 dev %s nodad", host, iface);
    netns_run("ip link set %s up", iface);
}

struct world {
    struct pkt_pool *pool; /* of both ports */
    struct netdev *port1;  /* towards host 1 */
    struct netdev *port2;  /* towards host 2 */
    int host1, host2;      /* namespaces */
    int self;              /* namespace of the switch */
};

/* Two hosts on veth pairs, two ports between them. */
static struct world
make_world(const struct netdev_class *cls1)
{
    struct world w;

    netns_enter();
    w.self = netns_self();
    netns_enter();
    w.host2 = netns_self();
    netns_run("ip link add slc3 type veth peer name slc2 netns /proc/%d/fd/%d",
              getpid(), w.self);
    make_host("slc3", 2);
    w.pool = pkt_pool_create(512, 0, FRAME_BYTES);
    if (cls1 == &netdev_tap) { /* host 1 is the switch's own namespace */
        w.host1 = w.self;
        netns_switch(w.self);
        w.port1 = open_port(cls1, "slc0", w.pool);
        make_host("slc0", 1);
    } else {
        netns_enter();
        w.host1 = netns_self();
        netns_run(
            "ip link add slc0 type veth peer name slc1 netns /proc/%d/fd/%d",
            getpid(), w.self);
        make_host("slc0", 1);
        netns_switch(w.self);
        w.port1 = open_port(cls1, "slc1", w.pool);
    }
    w.port2 = open_port(&PORT_CLASS, "slc2", w.pool);
    netns_switch(w.host2);
    netns_wait("slc3");
    netns_switch(w.host1);
    netns_wait("slc0");
    netns_switch(w.self);
    return w;
}

static void
end_world(struct world *w)
{
    cr_assert_eq(counter_get(&w->port1->stats.rx_bad), 0);
    cr_assert_eq(counter_get(&w->port2->stats.rx_bad), 0);
    netdev_close(w->port1);
    netdev_close(w->port2);
    pkt_collect(w->pool);
    cr_assert_eq(pkt_pool_n_free(w->pool), 512);
    pkt_pool_destroy(w->pool);
}

static uint8_t
octet(size_t at)
{
    return (uint8_t) (at * 2654435761u >> 13);
}

/* Sends what the socket takes now. */
static size_t
pump_out(int fd, size_t at)
{
    static uint8_t chunk[1 << 16];
    size_t n = TCP_BYTES - at < sizeof(chunk) ? TCP_BYTES - at : sizeof(chunk);
    ssize_t sent;

    for (size_t i = 0; i < n; i++)
        chunk[i] = octet(at + i);
    sent = send(fd, chunk, n, MSG_DONTWAIT | MSG_NOSIGNAL);
    return at + (sent > 0 ? (size_t) sent : 0);
}

static size_t
pump_in(int fd, size_t at)
{
    static uint8_t chunk[1 << 16];
    ssize_t n = recv(fd, chunk, sizeof(chunk), MSG_DONTWAIT);

    for (ssize_t i = 0; i < n; i++)
        cr_assert_eq(chunk[i], octet(at + (size_t) i));
    return at + (n > 0 ? (size_t) n : 0);
}

/* One TCP connection from one host to the other; all arrives as sent. */
static void
transfer(struct world *w, bool v6, int from_ns, int from, int to_ns, int to)
{
    union address here, there;
    socklen_t len = address_of(v6, to, &there);
    size_t sent = 0, received = 0;
    int listener, out, in = -1, one = 1;

    address_of(v6, from, &here);
    netns_switch(to_ns);
    listener = socket(there.sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    cr_assert_eq(bind(listener, &there.sa, len), 0);
    cr_assert_eq(listen(listener, 1), 0);
    netns_switch(from_ns);
    out = socket(there.sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
    cr_assert(connect(out, &there.sa, len) == 0 || errno == EINPROGRESS);
    netns_switch(w->self);
    while (received < TCP_BYTES) {
        struct pollfd pfd[2] = {{.fd = w->port1->cls->fd(w->port1),
                                 .events = POLLIN},
                                {.fd = w->port2->cls->fd(w->port2),
                                 .events = POLLIN}};

        if (in < 0)
            in = accept(listener, NULL, NULL);
        else
            received = pump_in(in, received);
        if (sent < TCP_BYTES)
            sent = pump_out(out, sent);
        if (forward(w->port1, w->port2) + forward(w->port2, w->port1) == 0)
            cr_assert_geq(poll(pfd, 2, 10), 0);
    }
    close(out);
    close(in);
    close(listener);
    forward_all(w->port1, w->port2, 50);
}

/* Super-frames must have come since there were `before`, where they do: an XDP
 * program has the peer cut them itself. */
static void
check_gso(const struct netdev *dev, uint64_t before)
{
    if (!PORT_IS_AFXDP || dev->cls == &netdev_tap)
        cr_assert_gt(counter_get(&dev->stats.rx_gso), before,
                     "no super-frame came: nothing was tested");
    else
        cr_assert_eq(counter_get(&dev->stats.rx_gso), 0);
}

static void
transfer_all(const struct netdev_class *cls1)
{
    struct world w = make_world(cls1);

    for (int v6 = 0; v6 < 2; v6++) {
        uint64_t before = counter_get(&w.port1->stats.rx_gso);

        transfer(&w, v6, w.host1, 1, w.host2, 2);
        check_gso(w.port1, before);
        before = counter_get(&w.port2->stats.rx_gso);
        transfer(&w, v6, w.host2, 2, w.host1, 1);
        check_gso(w.port2, before);
    }
    end_world(&w);
}

Test(offload, tcp_between_hosts_through_ports, .timeout = 60)
{
    transfer_all(&PORT_CLASS);
}

Test(offload, tcp_between_the_host_and_a_tap, .timeout = 60)
{
    transfer_all(&netdev_tap);
}

Test(offload, tcp_that_is_put_together_again_through_afpacket, .timeout = 60)
{
    stays_open = true;
    transfer_all(&PORT_CLASS);
}

Test(offload, tcp_that_is_put_together_again_for_a_tap, .timeout = 60)
{
    stays_open = true;
    transfer_all(&netdev_tap);
}

/* Puts a VXLAN interface of a host on top of its veth. */
static void
make_overlay(struct world *w, int ns, const char *iface, int host)
{
    char cmd[200];

    netns_switch(ns);
    snprintf(cmd, sizeof(cmd),
             "ip link add slcv type vxlan id 7 dstport 4789 dev %s "
             "local 10.9.0.%d remote 10.9.0.%d",
             iface, host, 3 - host);
    if (system(cmd))
        cr_skip_test("needs VXLAN in the kernel");
    netns_run("ip addr add 10.8.0.%d/24 dev slcv && ip link set slcv up",
              host);
    netns_switch(w->self);
}

Test(offload, tcp_in_a_tunnel_through_ports, .timeout = 60)
{
    struct world w = make_world(&PORT_CLASS);

    make_overlay(&w, w.host1, "slc0", 1);
    make_overlay(&w, w.host2, "slc3", 2);
    net4 = "10.8.0";
    transfer(&w, false, w.host1, 1, w.host2, 2);
    check_gso(w.port1, 0);
    transfer(&w, false, w.host2, 2, w.host1, 1);
    check_gso(w.port2, 0);
    end_world(&w);
}

/* UDP of `n` octets in one call, to be cut into datagrams of `size`. */
static void
send_udp(struct world *w, bool v6, size_t n, int size)
{
    static uint8_t data[60000];
    union address there, any;
    socklen_t len = address_of(v6, 2, &there);
    uint8_t got[2000];
    size_t received = 0;
    int out, in;

    for (size_t i = 0; i < n; i++)
        data[i] = octet(i);
    any = there;
    netns_switch(w->host2);
    in = socket(there.sa.sa_family, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    cr_assert_eq(bind(in, &any.sa, len), 0);
    netns_switch(w->host1);
    out = socket(there.sa.sa_family, SOCK_DGRAM, 0);
    if (size)
        cr_assert_eq(setsockopt(out, SOL_UDP, UDP_SEGMENT, &size,
                                sizeof(size)),
                     0);
    netns_switch(w->self);
    cr_assert_eq(sendto(out, data, n, 0, &there.sa, len), (ssize_t) n);
    forward_all(w->port1, w->port2, 50);
    while (received < n) {
        ssize_t k = recv(in, got, sizeof(got), 0);

        cr_assert_gt(k, 0, "%zu of %zu", received, n);
        cr_assert(k == size || received + (size_t) k == n);
        cr_assert_arr_eq(got, data + received, (size_t) k);
        received += (size_t) k;
    }
    cr_assert_lt(recv(in, got, sizeof(got), 0), 0);
    close(in);
    close(out);
}

static void
send_udp_all(const struct netdev_class *cls1)
{
    struct world w = make_world(cls1);

    for (int v6 = 0; v6 < 2; v6++) {
        send_udp(&w, v6, 1, 0);
        send_udp(&w, v6, 1400, 0);
        send_udp(&w, v6, 50001, 1000);
    }
    end_world(&w);
}

Test(offload, udp_between_hosts_through_ports, .timeout = 60)
{
    send_udp_all(&PORT_CLASS);
}

Test(offload, udp_between_the_host_and_a_tap, .timeout = 60)
{
    send_udp_all(&netdev_tap);
}

Test(offload, udp_that_is_finished_by_the_kernel, .timeout = 60)
{
    stays_open = true;
    send_udp_all(&PORT_CLASS);
}

/* What a host leaves in the checksum of a segment: that of the pseudo header.
 */
static void
put_pseudo_sum(uint8_t *f, size_t l3, size_t tcp_len)
{
    uint16_t sum = (uint16_t) ~eth_csum_fold(
        eth_csum_add((uint32_t) tcp_len + IPPROTO_TCP, f + l3 + 12, 8));

    f[l3 + 20 + 16] = (uint8_t) (sum >> 8);
    f[l3 + 20 + 17] = (uint8_t) sum;
}

/* A TCP super-frame out of nothing, tagged or not. */
static size_t
make_super(uint8_t *f, size_t payload, bool tagged, struct virtio_net_hdr *v)
{
    size_t l3 = tagged ? 18 : 14;

    memset(f, 0, l3 + 40 + payload);
    memcpy(f, "\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x08\0", 14);
    if (tagged)
        memcpy(f + 12, "\x81\0\x60\x05\x08\0", 6);
    memcpy(f + l3,
           "\x45\0\0\0\0\x01\x40\0\x40\x06\0\0\x0a\x09\0\x01\x0a\x09"
           "\0\x02",
           20);
    f[l3 + 2] = (uint8_t) ((payload + 40) >> 8);
    f[l3 + 3] = (uint8_t) (payload + 40);
    put_pseudo_sum(f, l3, payload + 20);
    f[l3 + 20 + 12] = 5 << 4;
    f[l3 + 20 + 13] = 0x18;
    for (size_t i = 0; i < payload; i++)
        f[l3 + 40 + i] = octet(i);
    *v = (struct virtio_net_hdr){.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
                                 .gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
                                 .hdr_len = (uint16_t) (l3 + 40),
                                 .gso_size = 1400,
                                 .csum_start = (uint16_t) (l3 + 20),
                                 .csum_offset = 16};
    return l3 + 40 + payload;
}

Test(offload, tagged_super_frames_keep_their_place_and_tag)
{
    static uint8_t super[GSO_MAX_FRAME], lesser[2000];
    struct pkt_pool *pool =
        pkt_pool_create(PORT_IS_AFXDP ? 8192 : 40, 0, FRAME_BYTES);
    struct virtio_net_hdr vnet;
    uint8_t small[64] = "\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x88\xb5";
    struct netdev *dev;
    unsigned n_small = 0, n_segs = 0;
    size_t len, lesser_len;
    uint32_t n;
    int peer;

    netns_enter();
    netns_run("ip link add slc0 type veth peer name slc1");
    netns_run("ip link set slc1 up");
    dev = open_port(&PORT_CLASS, "slc0", pool);
    peer = netns_raw("slc1");
    len = make_super(super, 60000, true, &vnet);
    lesser_len = make_super(lesser, 1401, true, &vnet);
    for (unsigned i = 0; i < 20; i++) {
        memcpy(small + 14, &i, 4);
        netns_send(peer, small, sizeof(small));
        netns_send_vnet("slc1", &vnet, super, len);
        /* One that fits a slot of the ring. */
        netns_send_vnet("slc1", &vnet, lesser, lesser_len);
    }
    for (;;) {
        struct pkt *p[PKT_BATCH];

        n = dev->cls->rx(dev, p, PKT_BATCH);
        if (n == 0)
            break;
        for (uint32_t i = 0; i < n; i++) {
            if (p[i]->data[12] == 0x88) {
                unsigned seq;

                memcpy(&seq, p[i]->data + 14, 4);
                cr_assert_eq(seq, n_small++);
                cr_assert_eq(n_segs, (n_small - 1) * (43 + 2));
            } else {
                cr_assert_arr_eq(p[i]->data + 12, "\x81\0\x60\x05", 4);
                pkt_close(p[i]);
                cr_assert_null(netns_csum_wrong(p[i]->data, p[i]->len));
                n_segs++;
            }
            pkt_free(p[i]);
        }
    }
    cr_assert_eq(n_small, 20);
    cr_assert_eq(n_segs, 20 * 45);
    cr_assert_eq(counter_get(&dev->stats.rx_gso), PORT_IS_AFXDP ? 0 : 40);
    netdev_close(dev);
    pkt_pool_destroy(pool);
    close(peer);
}

/* Cuts a super-frame of 30 segments up; returns how many there are. */
static uint32_t
cut(struct pkt_pool *pool, const uint8_t *super, size_t len,
    const struct virtio_net_hdr *vnet, struct pkt *p[])
{
    struct gso g;
    uint32_t n = 0;

    cr_assert_eq(gso_begin(&g, super, len, vnet, NULL, FRAME_BYTES), 0);
    while (!gso_is_done(&g)) {
        p[n] = pkt_alloc(pool);
        gso_next_pkt(&g, p[n++], 1, pool);
    }
    return n;
}

/* The frames that a message of the switch means: what the kernel would make
 * of it must be what each piece is by itself. */
static void
check_message(const struct regroup *r, struct pkt *const p[], uint32_t n)
{
    static uint8_t whole[GSO_MAX_FRAME], frame[FRAME_BYTES];
    uint8_t want[FRAME_BYTES];
    size_t len = 0;
    struct gso g;

    for (int i = 1; i < r->n_iov; i++) {
        memcpy(whole + len, r->iov[i].iov_base, r->iov[i].iov_len);
        len += r->iov[i].iov_len;
    }
    cr_assert_eq(gso_begin(&g, whole, len, &r->vnet, NULL, FRAME_BYTES), 0);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t got = gso_next(&g, frame);

        cr_assert_eq(pkt_copy_out(p[i], want), got);
        cr_assert_arr_eq(frame, want, got);
        cr_assert_null(netns_csum_wrong(frame, got));
    }
    cr_assert(gso_is_done(&g));
}

static void
check_regroup(bool tagged, void (*change)(struct pkt *), uint32_t from,
              uint32_t n)
{
    static uint8_t super[GSO_MAX_FRAME];
    struct pkt_pool *pool = pkt_pool_create(40, 0, FRAME_BYTES);
    struct virtio_net_hdr vnet;
    struct pkt *p[PKT_BATCH];
    struct regroup r;
    size_t len = make_super(super, 30 * 1400 - 100, tagged, &vnet);
    uint32_t all = cut(pool, super, len, &vnet, p);

    cr_assert_eq(all, 30);
    for (uint32_t i = 0; i < all; i++)
        change(p[i]);
    cr_assert_eq(regroup(&r, p + from, n, 1500), n);
    check_message(&r, p + from, n);
    for (uint32_t i = 0; i < all; i++)
        pkt_free(p[i]);
    pkt_pool_destroy(pool);
}

static void
no_change(struct pkt *p)
{
    (void) p;
}

static void
put_tag(struct pkt *p)
{
    p->tx_tag = true;
    p->tx_tpid = 0x8100;
    p->tx_tci = 0x6007;
}

static void
change_tag(struct pkt *p)
{
    put_tag(p);
    p->tx_skip = 4;
}

static void
take_tag(struct pkt *p)
{
    p->tx_skip = 4;
}

static void
mark(struct pkt *p)
{
    p->tx_l3 = 14;
    p->tx_ds = 0x2b;
}

Test(offload, what_is_put_together_is_what_was_cut)
{
    check_regroup(false, no_change, 0, 30);
    check_regroup(false, no_change, 0, 12);
    check_regroup(false, no_change, 7, 20);
    check_regroup(false, no_change, 12, 18);
    check_regroup(false, put_tag, 3, 20);
    check_regroup(false, mark, 0, 30);
    check_regroup(true, no_change, 0, 30);
    check_regroup(true, change_tag, 0, 29);
    check_regroup(true, take_tag, 28, 2);
    check_regroup(true, take_tag, 5, 25);
}

Test(offload, all_pieces_of_a_super_frame_are_put_together)
{
    static uint8_t super[GSO_MAX_FRAME];
    struct pkt_pool *pool = pkt_pool_create(60, 0, FRAME_BYTES);
    struct virtio_net_hdr vnet;
    struct pkt *p[NETDEV_TX_MAX];
    struct regroup r;
    size_t len = make_super(super, 46 * 1400 - 100, true, &vnet);
    uint32_t n = cut(pool, super, len, &vnet, p);

    cr_assert_eq(n, 46);
    for (uint32_t i = 0; i < n; i++)
        change_tag(p[i]);
    cr_assert_eq(regroup(&r, p, n, 1500), n);
    check_message(&r, p, n);
    for (uint32_t i = 0; i < n; i++)
        pkt_free(p[i]);
    pkt_pool_destroy(pool);
}

/* Only pieces of one super-frame, in order, that leave alike. */
Test(offload, what_differs_is_not_put_together)
{
    static uint8_t super[GSO_MAX_FRAME];
    struct pkt_pool *pool = pkt_pool_create(80, 0, FRAME_BYTES);
    struct virtio_net_hdr vnet;
    struct pkt *p[2 * PKT_BATCH];
    struct regroup r;
    size_t len = make_super(super, 30 * 1400, false, &vnet);
    uint32_t n = cut(pool, super, len, &vnet, p);

    cr_assert_eq(cut(pool, super, len, &vnet, p + n), n);
    mark(p[4]);
    cr_assert_eq(regroup(&r, p, n, 1500), 4);
    cr_assert_eq(regroup(&r, p + 4, n - 4, 1500), 1);
    cr_assert_eq(r.vnet.gso_type, VIRTIO_NET_HDR_GSO_NONE);
    pkt_close(p[8]); /* someone looked at it, or changed it */
    cr_assert_eq(regroup(&r, p + 5, n - 5, 1500), 3);
    p[20]->tx_tag = true;
    cr_assert_eq(regroup(&r, p + 9, n - 9, 1500), 11);
    cr_assert_eq(regroup(&r, p + 21, 2 * n - 21, 1500), 9, "the last one");
    cr_assert_eq(regroup(&r, p + n, n, 1400), 1, "too long for the MTU");
    for (uint32_t i = 0; i < 2 * n; i++)
        pkt_free(p[i]);
    pkt_pool_destroy(pool);
}

#if !PORT_IS_AFXDP /* which gets none */
Test(offload, lost_super_frames_are_counted)
{
    static uint8_t super[GSO_MAX_FRAME];
    struct pkt_pool *pool = pkt_pool_create(40, 0, FRAME_BYTES);
    struct virtio_net_hdr vnet;
    struct netdev *dev;
    size_t len;
    unsigned n_segs = 0;
    uint64_t n_gso;
    uint32_t n;
    int small = 300000;

    netns_enter();
    netns_run("ip link add slc0 type veth peer name slc1");
    netns_run("ip link set slc1 up");
    dev = open_port(&PORT_CLASS, "slc0", pool);
    netns_wait("slc1");
    /* Room beside the ring for a few. */
    setsockopt(dev->cls->fd(dev), SOL_SOCKET, SO_RCVBUF, &small,
               sizeof(small));
    len = make_super(super, 60000, false, &vnet);
    for (unsigned i = 0; i < 100; i++)
        netns_send_vnet("slc1", &vnet, super, len);
    for (;;) {
        struct pkt *p[PKT_BATCH];

        n = dev->cls->rx(dev, p, PKT_BATCH);
        if (n == 0)
            break;
        n_segs += n;
        while (n > 0)
            pkt_free(p[--n]);
    }
    dev->cls->poll_kernel(dev);
    n_gso = counter_get(&dev->stats.rx_gso);
    cr_assert_gt(n_gso, 2);
    cr_assert_lt(n_gso, 100);
    cr_assert_eq(n_segs, n_gso * 43);
    cr_assert_eq(counter_get(&dev->stats.rx_ring_drops), 100 - n_gso);
    netdev_close(dev);
    pkt_pool_destroy(pool);
}
#endif
