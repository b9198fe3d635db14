/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/netdev/tap: an interface that is there as long as its port, as it was
 * asked for, with its tags, and honest about what was lost.  The host is the
 * test's own network namespace.  Needs root.
 */
#include "netdev/link.h"
#include "netdev/netdev.h"
#include "tests/unit/netns.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

static struct pkt_pool *pool;
static struct netdev *dev; /* slc0 */
static int host;           /* raw socket on slc0 */

static int
try_open(const struct netdev_args *args, struct err *err)
{
    return netdev_open(&netdev_tap, args, &dev, err);
}

static void
open_tap(uint32_t n_buffers)
{
    struct netdev_args args = {.name = "slc0"};
    struct err err = {0};

    netns_enter();
    if (access("/dev/net/tun", R_OK | W_OK))
        cr_skip_test("needs /dev/net/tun: %s", strerror(errno));
    pool = pkt_pool_create(n_buffers, 0, 1600);
    args.pool = pool;
    cr_assert_eq(try_open(&args, &err), 0, "%s", err.msg);
    host = netns_raw("slc0");
}

static void
close_tap(void)
{
    close(host);
    netdev_close(dev);
    cr_assert_eq(pkt_pool_n_free(pool), pkt_pool_n_buffers(pool));
    pkt_pool_destroy(pool);
}

static size_t
make_frame(uint8_t *f, const char *tags, size_t tags_len, size_t n)
{
    memset(f, 0, n);
    memcpy(f, "\x02\0\0\0\0\x02\x02\0\0\0\0\x01", 12);
    memcpy(f + 12, tags, tags_len);
    f[12 + tags_len] = 0x88;
    f[13 + tags_len] = 0xb5;
    for (size_t i = 14 + tags_len; i < n; i++)
        f[i] = (uint8_t) (i * 3);
    return n;
}

static struct pkt *
make_pkt(const uint8_t *frame, size_t n)
{
    struct pkt *p = pkt_alloc(pool);

    cr_assert_not_null(p);
    memcpy(p->data, frame, n);
    p->len = (uint32_t) n;
    return p;
}

static enum netdev_tx
send_one(struct pkt *p, uint32_t *n_sent)
{
    enum netdev_tx tx = dev->cls->tx(dev, &p, 1, n_sent);

    pkt_free(p);
    return tx;
}

static bool
is_readable(int wait_ms)
{
    struct pollfd pfd = {.fd = dev->cls->fd(dev), .events = POLLIN};

    return poll(&pfd, 1, wait_ms) > 0;
}

Test(tap, is_as_asked_for_and_goes_with_its_port)
{
    const uint8_t mac[6] = {2, 0xaa, 0xbb, 0xcc, 0xdd, 0xee};
    struct netdev_args args = {.name = "slc0",
                               .have_mac = true,
                               .ring_bytes = 1 << 20,
                               .mtu = 9000};
    struct link_info info;
    struct err err = {0};

    open_tap(8);
    cr_assert_eq(link_get("slc0", &info, &err), 0, "%s", err.msg);
    cr_assert(info.is_tap && info.up && info.running);
    cr_assert_eq(info.mtu, 1500);
    cr_assert_eq(info.ifindex, dev->ifindex);
    cr_assert_arr_eq(info.mac, dev->mac, 6);
    cr_assert_eq(counter_get(&dev->stats.n_ring_slots), 1000);
    netdev_close(dev);
    cr_assert_eq(link_get("slc0", &info, NULL), ENODEV);
    memcpy(args.mac, mac, 6);
    args.pool = pool;
    cr_assert_eq(try_open(&args, &err), 0, "%s", err.msg);
    cr_assert_eq(link_get("slc0", &info, NULL), 0);
    cr_assert_arr_eq(info.mac, mac, 6);
    cr_assert_arr_eq(dev->mac, mac, 6);
    cr_assert_eq(info.mtu, 9000);
    cr_assert_eq(dev->mtu, 9000);
    cr_assert_eq(info.txqlen, 512);
    close_tap();
}

Test(tap, name_that_is_taken_is_an_error)
{
    struct netdev_args args = {.name = "slc1"};
    struct netdev *mine;
    struct err err = {0};

    open_tap(8);
    mine = dev;
    args.pool = pool;
    netns_run("ip link add slc1 type veth peer name slc2");
    cr_assert_eq(try_open(&args, &err), EEXIST);
    cr_assert(strstr(err.msg, "\"slc1\""), "%s", err.msg);
    args.name = "slc0"; /* held by the open port */
    cr_assert_eq(try_open(&args, &err), EBUSY);
    cr_assert(strstr(err.msg, "\"slc0\""), "%s", err.msg);
    cr_assert_eq(dev, mine);
    close_tap();
}

/* Puts a node that only root may open in the place of /dev/net/tun. */
static void
forbid_tun(void)
{
    char path[] = "/tmp/slc-tun-XXXXXX";
    int fd = mkstemp(path); /* 0600 */

    cr_assert_geq(fd, 0);
    close(fd);
    if (unshare(CLONE_NEWNS) ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount(path, "/dev/net/tun", NULL, MS_BIND, NULL)) {
        unlink(path);
        cr_skip_test("cannot mount: %s", strerror(errno));
    }
    cr_assert_eq(unlink(path), 0);
}

Test(tap, a_node_that_is_for_root_alone_is_named_with_who_asked)
{
    struct netdev_args args = {.name = "slc0"};
    struct err err = {0};
    int rc;

    netns_enter();
    forbid_tun();
    pool = pkt_pool_create(4, 0, 1600);
    args.pool = pool;
    cr_assert_eq(seteuid(65534), 0);
    rc = try_open(&args, &err);
    cr_assert_eq(seteuid(0), 0);
    cr_assert_eq(rc, EACCES, "%s", err.msg);
    cr_assert_str_eq(err.msg,
                     "\"slc0\": cannot open /dev/net/tun: its mode 0600 does "
                     "not let user 65534 read and write it, as the user that "
                     "the daemon runs as (--user) has to");
    pkt_pool_destroy(pool);
}

Test(tap, tags_survive_both_ways)
{
    static const struct {
        const char *bytes;
        size_t len;
    } cases[] = {{"", 0},
                 {"\x81\x00\x60\x05", 4},
                 {"\x81\x00\xa0\x00", 4},
                 {"\x81\x00\x00\x00", 4},
                 {"\x88\xa8\x60\x64\x81\x00\xa0\x0a", 8}};
    uint8_t frame[1600], got[1600];
    struct pkt *p[PKT_BATCH];
    uint32_t n_sent;

    open_tap(64);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (size_t n = 64; n <= 1514; n += 1450) {
            make_frame(frame, cases[i].bytes, cases[i].len, n);
            netns_send(host, frame, n);
            cr_assert(is_readable(1000));
            cr_assert_eq(dev->cls->rx(dev, p, PKT_BATCH), 1);
            cr_assert_eq(p[0]->len, n);
            cr_assert_arr_eq(p[0]->data, frame, n);
            cr_assert_eq(send_one(p[0], &n_sent), NETDEV_TX_OK);
            cr_assert_eq(n_sent, 1);
            cr_assert_eq(netns_recv(host, got, sizeof(got), 1000), n);
            cr_assert_arr_eq(got, frame, n);
        }
    }
    cr_assert_eq(dev->cls->rx(dev, p, PKT_BATCH), 0);
    cr_assert_eq(counter_get(&dev->stats.tx_errors), 0);
    close_tap();
}

Test(tap, short_frame_leaves_padded_and_tag_notes_are_carried_out)
{
    uint8_t frame[64], got[1600], zeros[60] = {0};
    struct pkt *p;
    uint32_t n_sent;

    open_tap(8);
    make_frame(frame, "\x81\x00\x20\x09", 4, 40);
    cr_assert_eq(send_one(make_pkt(frame, 40), &n_sent), NETDEV_TX_OK);
    cr_assert_eq(netns_recv(host, got, sizeof(got), 1000), 60);
    cr_assert_arr_eq(got, frame, 40);
    cr_assert_arr_eq(got + 40, zeros, 20);
    p = make_pkt(frame, 64);
    p->tx_skip = 4;
    p->tx_tag = true;
    p->tx_tpid = 0x88a8;
    p->tx_tci = 0xe123;
    cr_assert_eq(send_one(p, &n_sent), NETDEV_TX_OK);
    cr_assert_eq(netns_recv(host, got, sizeof(got), 1000), 64);
    cr_assert_arr_eq(got, frame, 12);
    cr_assert_arr_eq(got + 12, "\x88\xa8\xe1\x23\x88\xb5", 6);
    close_tap();
}

Test(tap, host_that_is_down_loses_frames_but_stays_a_port)
{
    uint8_t frame[64], got[1600];
    uint32_t n_sent;

    open_tap(8);
    make_frame(frame, "", 0, 64);
    for (unsigned round = 1; round <= 2; round++) {
        netns_run("ip link set slc0 down");
        cr_assert_eq(send_one(make_pkt(frame, 64), &n_sent), NETDEV_TX_OK);
        cr_assert_eq(n_sent, 1);
        cr_assert_eq(counter_get(&dev->stats.tx_errors), round);
        cr_assert_not(is_readable(0));
        netns_run("ip link set slc0 up");
        /* The host's socket has been told; that is not a frame. */
        close(host);
        host = netns_raw("slc0");
        cr_assert_eq(send_one(make_pkt(frame, 64), &n_sent), NETDEV_TX_OK);
        cr_assert_eq(netns_recv(host, got, sizeof(got), 1000), 64);
    }
    close_tap();
}

Test(tap, deleted_interface_is_down)
{
    struct pollfd pfd = {.events = POLLIN};
    uint8_t frame[64];
    struct pkt *p[PKT_BATCH];
    uint32_t n_sent;

    open_tap(8);
    make_frame(frame, "", 0, 64);
    netns_run("ip link del slc0");
    cr_assert_eq(dev->cls->rx(dev, p, PKT_BATCH), 0);
    cr_assert_eq(send_one(make_pkt(frame, 64), &n_sent), NETDEV_TX_DOWN);
    cr_assert_eq(n_sent, 0);
    /* Told apart from one that was only moved to another namespace. */
    pfd.fd = dev->cls->fd(dev);
    cr_assert_eq(poll(&pfd, 1, 0), 1);
    cr_assert(pfd.revents & POLLERR);
    dev->cls->poll_kernel(dev);
    close_tap();
}

Test(tap, frames_that_the_queue_had_no_room_for_are_counted)
{
    struct netdev_args args = {.name = "slc0", .ring_bytes = 64 << 10};
    uint8_t frame[100];
    struct pkt *p[PKT_BATCH];
    struct err err = {0};
    uint32_t n, n_received = 0;

    open_tap(64);
    close(host);
    netdev_close(dev);
    args.pool = pool;
    cr_assert_eq(try_open(&args, &err), 0, "%s", err.msg);
    cr_assert_eq(counter_get(&dev->stats.n_ring_slots), 32);
    host = netns_raw("slc0");
    /* Past the host's own queue, which would hold back what does not fit. */
    netns_run("tc qdisc add dev slc0 root noqueue 2>/dev/null || true");
    make_frame(frame, "", 0, sizeof(frame));
    for (int i = 0; i < 100; i++)
        (void) !send(host, frame, sizeof(frame), MSG_DONTWAIT);
    while ((n = dev->cls->rx(dev, p, PKT_BATCH)) > 0) {
        n_received += n;
        while (n > 0)
            pkt_free(p[--n]);
    }
    dev->cls->poll_kernel(dev);
    cr_assert_geq(n_received, 32);
    cr_assert_gt(counter_get(&dev->stats.rx_ring_drops), 0);
    cr_assert_eq(n_received + counter_get(&dev->stats.rx_ring_drops), 100);
    close_tap();
}

Test(tap, empty_pool_stops_receiving_and_loses_nothing)
{
    uint8_t frame[100];
    struct pkt *p[PKT_BATCH];

    open_tap(10);
    for (uint8_t i = 0; i < 50; i++) {
        make_frame(frame, "", 0, sizeof(frame));
        frame[20] = i;
        netns_send(host, frame, sizeof(frame));
    }
    for (uint8_t next = 0; next < 50;) {
        uint32_t n = dev->cls->rx(dev, p, PKT_BATCH);

        cr_assert_eq(n, 10);
        for (uint32_t i = 0; i < n; i++) {
            cr_assert_eq(p[i]->data[20], next++);
            pkt_free(p[i]);
        }
    }
    cr_assert_eq(dev->cls->rx(dev, p, PKT_BATCH), 0);
    cr_assert_geq(counter_get(&dev->stats.rx_no_buffer), 4);
    close_tap();
}
