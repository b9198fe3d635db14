/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/netdev/afpacket_tx.c, what no other type of port has: a transmit ring
 * and a way around it, and an interface whose taps and filters see what is
 * sent.  In a network namespace of each test's own.  Needs root.
 */
#include "netdev/afpacket.h"

#include "tests/unit/netns.h"
#include "wire/eth.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TEST_TYPE  0x88b5 /* EtherTypes for local experiments */
#define OTHER_TYPE 0x88b6
#define MAX_FRAME  9018

struct port {
    struct pkt_pool *pool; /* its buffers */
    struct netdev *dev;    /* the port under test, on slc0 */
    int peer;              /* raw socket on slc1, the other end */
};

static struct port
make_port(uint32_t mtu)
{
    struct port t = {.pool = pkt_pool_create(64, 0, MAX_FRAME)};
    struct netdev_args args = {.name = "slc0", .pool = t.pool};
    struct err err = {0};

    netns_enter();
    netns_run("ip link add slc0 mtu %u type veth peer name slc1 mtu 9000",
              mtu);
    netns_run("ip link set slc0 up && ip link set slc1 up");
    cr_assert_eq(netdev_open(&netdev_afpacket, &args, &t.dev, &err), 0, "%s",
                 err.msg);
    t.peer = netns_raw("slc1");
    return t;
}

static void
drop_port(struct port *t)
{
    netdev_close(t->dev);
    cr_assert_eq(pkt_pool_n_free(t->pool), pkt_pool_n_buffers(t->pool));
    pkt_pool_destroy(t->pool);
    close(t->peer);
}

static void
fill(uint8_t *f, uint16_t type, uint32_t seq, uint32_t len)
{
    memset(f, 0, len);
    memcpy(f, "\x02\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x01", 12);
    f[12] = (uint8_t) (type >> 8);
    f[13] = (uint8_t) type;
    memcpy(f + 14, &seq, 4);
    for (uint32_t i = 18; i < len; i++)
        f[i] = (uint8_t) (seq + i);
}

static struct pkt *
make_pkt(struct port *t, uint16_t type, uint32_t seq, uint32_t len)
{
    struct pkt *p = pkt_alloc(t->pool);

    cr_assert_not_null(p);
    fill(p->data, type, seq, len);
    p->len = len;
    return p;
}

/* Sends frames first.. of these lengths at once; all must be taken. */
static void
send_all(struct port *t, uint32_t first, const uint32_t *lens, uint32_t n)
{
    struct pkt *p[PKT_BATCH];
    uint32_t n_sent;

    for (uint32_t i = 0; i < n; i++)
        p[i] = make_pkt(t, TEST_TYPE, first + i, lens[i]);
    cr_assert_eq(t->dev->cls->tx(t->dev, p, n, &n_sent), NETDEV_TX_OK);
    cr_assert_eq(n_sent, n);
    for (uint32_t i = 0; i < n; i++)
        pkt_free(p[i]);
}

static void
send_one(struct port *t, uint16_t type, uint32_t seq, uint32_t len)
{
    struct pkt *p = make_pkt(t, type, seq, len);
    uint32_t n_sent;

    cr_assert_eq(t->dev->cls->tx(t->dev, &p, 1, &n_sent), NETDEV_TX_OK);
    cr_assert_eq(n_sent, 1);
    pkt_free(p);
}

/* The next frame that arrives must be this one. */
static void
expect(int fd, uint16_t type, uint32_t seq, uint32_t len)
{
    static uint8_t got[MAX_FRAME + 1], wanted[MAX_FRAME];

    fill(wanted, type, seq, len);
    cr_assert_eq(netns_recv(fd, got, sizeof(got), 5000), len);
    cr_assert_arr_eq(got, wanted, len);
}

/* Around the ring, several times: frames that have room in a slot, that have
 * none, and those of the lengths between. */
Test(afpacket, frames_of_all_lengths_leave_whole_and_in_order)
{
    static const uint32_t lens[] = {60,   1514, 61,   3000, 64,  2005, 1518,
                                    2006, 2007, 2008, 2048, 100, 9014, 60};
    const uint32_t n = sizeof(lens) / sizeof(lens[0]);
    struct port t = make_port(9000);
    uint32_t seq = 0;

    while (seq < 4 * AFPACKET_TX_SLOTS) {
        send_all(&t, seq, lens, n);
        for (uint32_t i = 0; i < n; i++)
            expect(t.peer, TEST_TYPE, seq++, lens[i]);
    }
    cr_assert_eq(counter_get(&t.dev->stats.tx_errors), 0);
    drop_port(&t);
}

/* A shaper holds more frames than the ring has slots: what comes after them
 * goes around the ring, and leaves after them. */
Test(afpacket, a_ring_in_use_is_gone_around)
{
    const uint32_t n = 3 * AFPACKET_TX_SLOTS;
    struct port t = make_port(1500);
    const struct afpacket *a = (const struct afpacket *) t.dev;

    netns_run("tc qdisc add dev slc0 root tbf rate 8kbit burst 2000 "
              "limit 1000000");
    for (uint32_t i = 0; i < n; i++)
        send_one(&t, TEST_TYPE, i, 100);
    cr_assert_geq(a->tx_i, AFPACKET_TX_SLOTS);
    cr_assert_lt(a->tx_i, n);
    netns_run("tc qdisc change dev slc0 root tbf rate 1gbit burst 200000 "
              "limit 1000000");
    for (uint32_t i = 0; i < n; i++)
        expect(t.peer, TEST_TYPE, i, 100);
    send_one(&t, TEST_TYPE, n, 100); /* by the ring again */
    expect(t.peer, TEST_TYPE, n, 100);
    cr_assert_eq(counter_get(&t.dev->stats.tx_again), 0);
    drop_port(&t);
}

/* What the device refused does not stay in the ring, where the kernel would
 * find it later: it is the caller's, and the slot is free. */
Test(afpacket, what_is_refused_leaves_the_ring)
{
    struct port t = make_port(1500);
    const struct afpacket *a = (const struct afpacket *) t.dev;
    struct pkt *p[6];
    uint32_t n_sent, tx_i;
    uint8_t got[100];

    netns_run("tc qdisc add dev slc0 root tbf rate 8bit burst 200 limit 200");
    for (uint32_t i = 0; i < 6; i++)
        p[i] = make_pkt(&t, TEST_TYPE, i, 100);
    /* Two are let through, two are queued. */
    cr_assert_eq(t.dev->cls->tx(t.dev, p, 6, &n_sent), NETDEV_TX_AGAIN);
    cr_assert_eq(n_sent, 4);
    tx_i = a->tx_i;
    netns_run("tc qdisc del dev slc0 root");
    while (netns_recv(t.peer, got, sizeof(got), 0))
        ;
    send_one(&t, TEST_TYPE, 7, 100);
    cr_assert_eq(a->tx_i, tx_i + 1);
    expect(t.peer, TEST_TYPE, 7, 100);
    cr_assert_eq(netns_recv(t.peer, got, sizeof(got), 50), 0);
    for (uint32_t i = 0; i < 6; i++)
        pkt_free(p[i]);
    drop_port(&t);
}

/* Its tap and its filters see each frame as what it is. */
Test(afpacket, what_is_sent_is_seen_on_the_interface)
{
    struct port t = make_port(1500);
    int tap = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), diverted;
    struct sockaddr_ll sll = {.sll_family = AF_PACKET,
                              .sll_protocol = htons(ETH_P_ALL),
                              .sll_ifindex = (int) if_nametoindex("slc0")};
    struct pollfd pfd = {.fd = tap, .events = POLLIN};
    socklen_t len = sizeof(sll);
    uint8_t got[200], wanted[200];

    cr_assert_eq(bind(tap, (const void *) &sll, len), 0);
    netns_run("ip link add slc2 type veth peer name slc3");
    netns_run("ip link set slc2 up && ip link set slc3 up");
    netns_run("tc qdisc add dev slc0 clsact");
    netns_run("tc filter add dev slc0 egress protocol 0x%x u32 "
              "match u32 0 0 action mirred egress redirect dev slc2",
              OTHER_TYPE);
    diverted = netns_raw("slc3");
    send_one(&t, TEST_TYPE, 1, 200);
    send_one(&t, OTHER_TYPE, 2, 200);
    send_one(&t, TEST_TYPE, 3, 200);
    expect(t.peer, TEST_TYPE, 1, 200);
    expect(t.peer, TEST_TYPE, 3, 200);
    expect(diverted, OTHER_TYPE, 2, 200);
    for (uint32_t seq = 1; seq <= 3; seq += 2) {
        cr_assert_eq(poll(&pfd, 1, 5000), 1);
        cr_assert_eq(recvfrom(tap, got, sizeof(got), MSG_TRUNC, (void *) &sll,
                              &len),
                     200);
        fill(wanted, TEST_TYPE, seq, 200);
        cr_assert_arr_eq(got, wanted, 200);
        cr_assert_eq(sll.sll_pkttype, PACKET_OUTGOING);
        cr_assert_eq(sll.sll_protocol, htons(TEST_TYPE));
    }
    close(tap);
    close(diverted);
    drop_port(&t);
}

/* One that was set when the port was open already, too. */
Test(afpacket, the_mtu_of_the_moment_counts)
{
    static const uint32_t lens[] = {1014, 1015, 60};
    struct port t = make_port(1500);

    netns_run("ip link set slc0 mtu 1000");
    t.dev->cls->poll_kernel(t.dev);
    send_all(&t, 0, lens, 3);
    expect(t.peer, TEST_TYPE, 0, 1014);
    expect(t.peer, TEST_TYPE, 2, 60);
    cr_assert_eq(counter_get(&t.dev->stats.tx_errors), 1);
    /* More than before is nothing that one would have to be told of. */
    netns_run("ip link set slc0 mtu 1600");
    send_one(&t, TEST_TYPE, 3, 1614);
    expect(t.peer, TEST_TYPE, 3, 1614);
    cr_assert_eq(counter_get(&t.dev->stats.tx_errors), 1);
    drop_port(&t);
}
