/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/netdev/hold: a PFC frame to a TAP holds back who sends of that class,
 * and of no other, however the class is said; nothing is lost meanwhile.  The
 * host is the test's own network namespace.  Needs root.
 */
#include "netdev/hold.h"
#include "netdev/netdev.h"
#include "tests/unit/netns.h"
#include "wire/macctl.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LEN                                                          \
    1400 /* two of them are more than may leave a class that is held \
          */

static struct pkt_pool *pool;
static struct netdev *dev; /* slc0 */
static int host;           /* raw socket on slc0 */

static const struct netdev_hold by_dscp = {
    .rate_bps = 1000000000,
    .trust_dscp = true,
    .default_prio = 1,
    .pcp_to_prio = {0, 1, 2, 3, 4, 5, 6, 7},
    .dscp_to_prio = {[24] = 3, [26] = 4, [63] = 7},
};

static void
begin(const struct netdev_hold *h)
{
    struct netdev_args args = {.name = "slc0"};
    struct err err = {0};
    int rc;

    netns_enter();
    if (access("/dev/net/tun", R_OK | W_OK))
        cr_skip_test("needs /dev/net/tun: %s", strerror(errno));
    pool = pkt_pool_create(256, 0, 1600);
    args.pool = pool;
    cr_assert_eq(netdev_open(&netdev_tap, &args, &dev, &err), 0, "%s",
                 err.msg);
    rc = dev->cls->set_hold(dev, h, &err);
    if (rc == EOPNOTSUPP || rc == ENODEV)
        cr_skip_test("the kernel lacks HTB, TBF or the BPF classifier");
    cr_assert_eq(rc, 0, "%s", err.msg);
    host = netns_raw("slc0");
}

static void
end(void)
{
    close(host);
    netdev_close(dev);
    cr_assert_eq(pkt_pool_n_free(pool), pkt_pool_n_buffers(pool));
    pkt_pool_destroy(pool);
}

/* A frame whose classes are said by a tag (null: none), and a DSCP (-1: no
 * IP); v6: of IPv6. */
static void
say(const char *tag, int dscp, bool v6)
{
    uint8_t f[LEN] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1};
    size_t n = 12;

    if (tag) {
        memcpy(f + n, tag, 4);
        n += 4;
    }
    if (dscp < 0) {
        memcpy(f + n, "\x88\xb5", 2);
    } else if (v6) {
        memcpy(f + n, "\x86\xdd", 2);
        f[n + 2] = (uint8_t) (0x60 | dscp >> 2);
        f[n + 3] = (uint8_t) (dscp << 6);
    } else {
        memcpy(f + n, "\x08\x00\x45", 3);
        f[n + 3] = (uint8_t) (dscp << 2);
    }
    netns_send(host, f, sizeof(f));
}

/* How many frames come until nothing does for a while. */
static uint32_t
arrived(int wait_ms)
{
    struct pollfd pfd = {.fd = dev->cls->fd(dev), .events = POLLIN};
    struct pkt *pkts[PKT_BATCH];
    uint32_t n, sum = 0;

    while (poll(&pfd, 1, wait_ms) > 0) {
        n = dev->cls->rx(dev, pkts, PKT_BATCH);
        for (uint32_t i = 0; i < n; i++) {
            sum += pkts[i]->len == LEN;
            pkt_free(pkts[i]);
        }
    }
    return sum;
}

/* What the datapath sends when it pauses a peer, or lets it go on. */
static void
tell(uint8_t enable, uint16_t quanta)
{
    uint16_t time[N_PRIO];
    struct pkt *p = pkt_alloc(pool);
    uint32_t n_sent;

    for (int i = 0; i < N_PRIO; i++)
        time[i] = quanta;
    macctl_encode_pfc(p->data, dev->mac, enable, time);
    p->len = MACCTL_LEN;
    cr_assert_eq(dev->cls->tx(dev, &p, 1, &n_sent), NETDEV_TX_OK);
    cr_assert_eq(n_sent, 1);
    pkt_free(p);
}

static void
wait_for_holds(uint64_t n)
{
    for (int i = 0; i < 500; i++) {
        dev->cls->poll_kernel(dev);
        if (counter_get(&dev->stats.n_holds) >= n)
            return;
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    cr_assert(false, "%lu holds, not %lu",
              (unsigned long) counter_get(&dev->stats.n_holds),
              (unsigned long) n);
}

/* Ten frames in a class that is held: one leaves at most, the rest wait, and
 * come once it is let go. */
static void
check_held(const char *tag, int dscp, bool v6)
{
    uint32_t n;

    for (int i = 0; i < 10; i++)
        say(tag, dscp, v6);
    n = arrived(50);
    cr_assert_leq(n, 1, "%u frames of a class that is held, dscp %d", n, dscp);
    tell(1 << 3, 0);
    n += arrived(200);
    cr_assert_eq(n, 10, "%u of 10", n);
}

Test(hold, every_way_to_say_a_class)
{
    static const struct {
        const char *tag;
        int dscp;
        bool v6;
    } three[] = {{"\x81\x00\x60\x05", -1, false},
                 {"\x88\xa8\x60\x05", -1, false},
                 {NULL, 24, false},
                 {NULL, 24, true},
                 {"\x81\x00\x80\x05", 24, false}},
      others[] = {{NULL, -1, false},
                  {"\x81\x00\x80\x05", -1, false},
                  {NULL, 26, false},
                  {NULL, 25, true},
                  {"\x81\x00\x60\x05", 63, false},
                  {"\x81\x00\x60\x05", 26, true}};

    begin(&by_dscp);
    for (size_t i = 0; i < sizeof(three) / sizeof(three[0]); i++) {
        tell(1 << 3, 65535);
        wait_for_holds(i + 1);
        check_held(three[i].tag, three[i].dscp, three[i].v6);
    }
    tell(1 << 3, 65535);
    wait_for_holds(sizeof(three) / sizeof(three[0]) + 1);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        for (int k = 0; k < 5; k++)
            say(others[i].tag, others[i].dscp, others[i].v6);
        cr_assert_eq(arrived(200), 5, "case %zu", i);
    }
    dev->cls->poll_kernel(dev);
    cr_assert_eq(counter_get(&dev->stats.hold_failed), 0);
    cr_assert_eq(counter_get(&dev->stats.rx_backlog_drops), 0);
    cr_assert_eq(counter_get(&dev->stats.rx_ring_drops), 0);
    cr_assert_eq(counter_get(&dev->stats.hold_lost), 0);
    end();
}

Test(hold, a_queue_that_is_not_read_is_known_to_fill)
{
    const struct timespec while_it_fills = {0, 100000000}; /* at 1 Gb/s */
    struct pkt *pkts[1];

    begin(&by_dscp);
    cr_assert_eq(dev->rx_high,
                 counter_get(&dev->stats.n_ring_slots) / NETDEV_RING_HIGH);
    for (int round = 0; round < 3; round++) {
        bool holds = round != 1;

        dev->cls->set_hold(dev, holds ? &by_dscp : NULL, NULL);
        for (int i = 0; i < 5; i++)
            say(NULL, -1, false);
        for (int i = 0; i < 2; i++) { /* neither finds it empty */
            nanosleep(&while_it_fills, NULL);
            cr_assert_eq(dev->cls->rx(dev, pkts, 1), 1);
            pkt_free(pkts[0]);
        }
        if (holds)
            cr_assert_gt(dev->rx_level, dev->rx_high);
        else
            cr_assert_eq(dev->rx_level, 0, "they are held to no rate");
        cr_assert_eq(arrived(100), 3);
        cr_assert_eq(dev->rx_level, 0, "it was found empty");
    }
    end();
}

Test(hold, pfc_ends_here_and_other_frames_do_not)
{
    uint8_t frame[1600];
    struct pkt *p;
    uint32_t n_sent;

    begin(&by_dscp);
    tell(1 << 3, 65535);
    wait_for_holds(1);
    cr_assert_eq(netns_recv(host, frame, sizeof(frame), 50), 0);
    p = pkt_alloc(pool);
    memset(p->data, 0, 60);
    memcpy(p->data, dev->mac, 6);
    memcpy(p->data + 12, "\x88\xb5", 2);
    p->len = 60;
    cr_assert_eq(dev->cls->tx(dev, &p, 1, &n_sent), NETDEV_TX_OK);
    pkt_free(p);
    cr_assert_eq(netns_recv(host, frame, sizeof(frame), 2000), 60);
    end();
}

Test(hold, changes_while_it_is_in_use_and_ends)
{
    struct netdev_hold other = by_dscp;
    struct err err = {0};

    begin(&by_dscp);
    other.dscp_to_prio[24] = 5;
    other.dscp_to_prio[25] = 3;
    cr_assert_eq(dev->cls->set_hold(dev, &other, &err), 0, "%s", err.msg);
    tell(1 << 3, 65535);
    wait_for_holds(1);
    say(NULL, 24, false);
    cr_assert_eq(arrived(200), 1);
    check_held(NULL, 25, false);
    /* Off while held: nothing is held any more, and PFC is the host's. */
    tell(1 << 3, 65535);
    wait_for_holds(2);
    cr_assert_eq(dev->cls->set_hold(dev, NULL, &err), 0, "%s", err.msg);
    for (int i = 0; i < 5; i++)
        say(NULL, 25, false);
    cr_assert_eq(arrived(200), 5);
    /* And on again: what the datapath wants is remembered. */
    cr_assert_eq(dev->cls->set_hold(dev, &by_dscp, &err), 0, "%s", err.msg);
    wait_for_holds(3);
    check_held(NULL, 24, false);
    /* Somebody takes the tree away. */
    netns_run("tc qdisc del dev slc0 root");
    dev->cls->poll_kernel(dev);
    cr_assert_eq(counter_get(&dev->stats.hold_lost), 1);
    end();
}

Test(hold, the_longest_program_fits)
{
    struct sock_filter insns[HOLD_MAX_INSNS];

    cr_assert_leq(hold_filter(&by_dscp, insns), HOLD_MAX_INSNS);
}
