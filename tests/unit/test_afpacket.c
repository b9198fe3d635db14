/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/netdev/afpacket on real veth pairs, in a network namespace of each
 * test's own: what arrives and leaves is what was on the wire, in order, and
 * whatever is lost is counted.  Needs root.
 */
#include "netdev/netdev.h"

#include "netdev/link.h"
#include "tests/unit/netns.h"
#include "tests/unit/port_type.h"
#include "wire/eth.h"
#include "wire/macctl.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TEST_TYPE 0x88b5 /* EtherType for local experiments */

struct port {
    struct pkt_pool *pool; /* its buffers */
    struct netdev *dev;    /* the port under test, on slc0 */
    int peer;              /* raw socket on slc1, the other end */
};

static struct netdev *
open_port(const char *name, struct pkt_pool *pool, uint32_t ring_bytes)
{
    struct netdev_args args = {.name = name,
                               .pool = pool,
                               .ring_bytes = ring_bytes};
    struct netdev *dev = NULL;
    struct err err = {0};

    cr_assert_eq(netdev_open(&PORT_CLASS, &args, &dev, &err), 0, "%s",
                 err.msg);
    return dev;
}

static struct port
make_port(uint32_t n_buffers, uint32_t frame_bytes, uint32_t ring_bytes)
{
    struct port t;

    netns_enter();
    netns_run("ip link add slc0 type veth peer name slc1");
    netns_run("ip link set slc1 up mtu %u", frame_bytes > 9000 ? 9000 : 1500);
    netns_run("ip link set slc0 up mtu %u", frame_bytes > 9000 ? 9000 : 1500);
    t.pool = pkt_pool_create(n_buffers, 64, frame_bytes);
    t.dev = open_port("slc0", t.pool, ring_bytes);
    t.peer = netns_raw("slc1");
    return t;
}

static void
drop_port(struct port *t)
{
    netdev_close(t->dev);
    pkt_collect(t->pool);
    cr_assert_eq(pkt_pool_n_free(t->pool), pkt_pool_n_buffers(t->pool));
    pkt_pool_destroy(t->pool);
    close(t->peer);
}

/* A frame of the test's own type: header, tags as given, numbered payload. */
static size_t
make_frame(uint8_t *f, const char *tags, size_t tags_len, uint32_t seq,
           size_t n)
{
    memset(f, 0, n);
    memcpy(f, "\x02\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x01", 12);
    if (tags_len)
        memcpy(f + 12, tags, tags_len);
    f[12 + tags_len] = TEST_TYPE >> 8;
    f[13 + tags_len] = TEST_TYPE & 0xff;
    if (n >= 18 + tags_len)
        memcpy(f + 14 + tags_len, &seq, 4);
    for (size_t i = 18 + tags_len; i < n; i++)
        f[i] = (uint8_t) (seq + i);
    return n;
}

static uint32_t
seq_of(const uint8_t *f)
{
    uint32_t seq;

    memcpy(&seq, f + 14, 4);
    return seq;
}

static struct pkt *
make_pkt(struct pkt_pool *pool, const uint8_t *frame, size_t n)
{
    struct pkt *p = pkt_alloc(pool);

    cr_assert_not_null(p);
    memcpy(p->data, frame, n);
    p->len = (uint32_t) n;
    return p;
}

static enum netdev_tx
send_one(struct netdev *dev, struct pkt *p)
{
    uint32_t n_sent;
    enum netdev_tx tx = dev->cls->tx(dev, &p, 1, &n_sent);

    pkt_free(p);
    return tx;
}

/* Receives one frame; it must be there and be this one. */
static void
expect(struct netdev *dev, const uint8_t *frame, size_t n)
{
    struct pkt *p[PKT_BATCH];

    cr_assert_eq(dev->cls->rx(dev, p, PKT_BATCH), 1);
    cr_assert_eq(p[0]->len, n);
    cr_assert_arr_eq(p[0]->data, frame, n);
    pkt_free(p[0]);
}

static const struct {
    const char *bytes;
    size_t len;
} tag_cases[] = {
    {"", 0},
    {"\x81\x00\x60\x05", 4},                 /* VLAN 5, PCP 3 */
    {"\x81\x00\xb0\x00", 4},                 /* priority tag, PCP 5, DEI */
    {"\x81\x00\x00\x00", 4},                 /* all zero, still a tag */
    {"\x88\xa8\x70\x64", 4},                 /* S-tag alone */
    {"\x88\xa8\x60\x64\x81\x00\xa0\x0a", 8}, /* QinQ */
    {"\x81\x00\x60\x64\x81\x00\xa0\x0a", 8}, /* two C-tags */
    {"\x81\x00\x60\x00\x81\x00\x00\x00", 8}, /* two of VLAN 0 */
};

Test(port, tags_survive_both_ways)
{
    struct port t = make_port(64, 1600, 0);
    uint8_t frame[1600], got[1600];

    for (size_t i = 0; i < sizeof(tag_cases) / sizeof(tag_cases[0]); i++) {
        for (size_t n = 64; n <= 1514; n += 1450) {
            make_frame(frame, tag_cases[i].bytes, tag_cases[i].len, 7, n);
            netns_send(t.peer, frame, n);
            expect(t.dev, frame, n);
            cr_assert_eq(send_one(t.dev, make_pkt(t.pool, frame, n)),
                         NETDEV_TX_OK);
            cr_assert_eq(netns_recv(t.peer, got, sizeof(got), 1000), n,
                         "case %zu", i);
            cr_assert_arr_eq(got, frame, n);
        }
    }
    cr_assert_eq(counter_get(&t.dev->stats.tx_errors), 0);
    drop_port(&t);
}

Test(port, tag_comes_on_top_of_the_mtu)
{
    struct port t = make_port(64, 1600, 0);
    uint8_t frame[1600], got[1600];
    struct pkt *p;

    make_frame(frame, "\x81\x00\x60\x05", 4, 1, 1518);
    netns_send(t.peer, frame, 1518);
    expect(t.dev, frame, 1518);
    /* The same, with the tag put in on sending. */
    make_frame(frame, "", 0, 1, 1514);
    p = make_pkt(t.pool, frame, 1514);
    p->tx_tag = true;
    p->tx_tpid = ETH_T_VLAN;
    p->tx_tci = 0x6005;
    cr_assert_eq(send_one(t.dev, p), NETDEV_TX_OK);
    cr_assert_eq(netns_recv(t.peer, got, sizeof(got), 1000), 1518);
    cr_assert_arr_eq(got + 16, frame + 12, 1502);
    cr_assert_arr_eq(got + 12, "\x81\x00\x60\x05", 4);
    cr_assert_eq(counter_get(&t.dev->stats.tx_errors), 0);
    drop_port(&t);
}

Test(port, frame_longer_than_the_mtu_is_given_up_alone)
{
    struct port t = make_port(64, 1700, 0);
    uint8_t frame[1700], got[1700];
    struct pkt *p[3];
    uint32_t n_sent;

    for (uint32_t i = 0; i < 3; i++) {
        size_t n = i == 1 ? 1600 : 100;

        make_frame(frame, "", 0, i, n);
        p[i] = make_pkt(t.pool, frame, n);
    }
    cr_assert_eq(t.dev->cls->tx(t.dev, p, 3, &n_sent), NETDEV_TX_OK);
    cr_assert_eq(n_sent, 3);
    cr_assert_eq(counter_get(&t.dev->stats.tx_errors), 1);
    for (uint32_t i = 0; i < 3; i += 2) {
        cr_assert_eq(netns_recv(t.peer, got, sizeof(got), 1000), 100);
        cr_assert_eq(seq_of(got), i);
    }
    for (int i = 0; i < 3; i++)
        pkt_free(p[i]);
    drop_port(&t);
}

/* The most frames that a port is given at a time. */
Test(port, sends_the_longest_batch_in_order)
{
    struct port t = make_port(2 * NETDEV_TX_MAX, 1600, 0);
    struct pkt *p[NETDEV_TX_MAX];
    uint8_t frame[100], got[1600];
    uint32_t n_sent;

    for (uint32_t i = 0; i < NETDEV_TX_MAX; i++) {
        make_frame(frame, "", 0, i, sizeof(frame));
        p[i] = make_pkt(t.pool, frame, sizeof(frame));
    }
    cr_assert_eq(t.dev->cls->tx(t.dev, p, NETDEV_TX_MAX, &n_sent),
                 NETDEV_TX_OK);
    cr_assert_eq(n_sent, NETDEV_TX_MAX);
    for (uint32_t i = 0; i < NETDEV_TX_MAX; i++) {
        cr_assert_eq(netns_recv(t.peer, got, sizeof(got), 1000), 100);
        cr_assert_eq(seq_of(got), i);
        pkt_free(p[i]);
    }
    drop_port(&t);
}

Test(port, short_frame_leaves_padded)
{
    struct port t = make_port(8, 1600, 0);
    uint8_t frame[64], got[1600], zeros[60] = {0};

    for (size_t n = 14; n < 62; n++) {
        struct pkt *p;
        size_t expected = n < 60 ? 60 : n;

        make_frame(frame, "", 0, (uint32_t) n, n);
        cr_assert_eq(send_one(t.dev, make_pkt(t.pool, frame, n)),
                     NETDEV_TX_OK);
        cr_assert_eq(netns_recv(t.peer, got, sizeof(got), 1000), expected);
        cr_assert_arr_eq(got, frame, n);
        if (n < 60)
            cr_assert_arr_eq(got + n, zeros, 60 - n);
        /* A tag that is put in counts; one that is taken out does not. */
        p = make_pkt(t.pool, frame, n);
        p->tx_tag = true;
        p->tx_tpid = ETH_T_VLAN;
        p->tx_tci = 0xe001;
        cr_assert_eq(send_one(t.dev, p), NETDEV_TX_OK);
        expected = n + 4 < 60 ? 60 : n + 4;
        cr_assert_eq(netns_recv(t.peer, got, sizeof(got), 1000), expected);
        cr_assert_arr_eq(got + 16, frame + 12, n - 12);
    }
    drop_port(&t);
}

Test(port, own_output_is_not_received)
{
    struct port t = make_port(64, 1600, 0);
    uint8_t frame[100];
    struct pkt *p[PKT_BATCH];

    make_frame(frame, "", 0, 1, sizeof(frame));
    for (int i = 0; i < 10; i++)
        cr_assert_eq(send_one(t.dev, make_pkt(t.pool, frame, 100)),
                     NETDEV_TX_OK);
    cr_assert_eq(t.dev->cls->rx(t.dev, p, PKT_BATCH), 0);
    /* A frame from outside with our own address still is. */
    netns_send(t.peer, frame, sizeof(frame));
    expect(t.dev, frame, sizeof(frame));
    drop_port(&t);
}

Test(port, frames_for_others_are_received)
{
    struct port t = make_port(64, 1600, 0);
    uint8_t frame[100];

    make_frame(frame, "", 0, 1, sizeof(frame));
    memcpy(frame, "\x06\x11\x22\x33\x44\x55", 6);
    netns_send(t.peer, frame, sizeof(frame));
    expect(t.dev, frame, sizeof(frame));
    drop_port(&t);
}

Test(port, mac_control_overtakes_what_waits)
{
    /* The smallest ring, so that frames wrap many times. */
    struct port t = make_port(256, 1600, 256 << 10);
    uint8_t frame[100], pfc[MACCTL_LEN];
    uint16_t time[N_PRIO] = {0};
    uint32_t next = 0, seq = 0;

    for (int round = 0; round < 40; round++) {
        struct pkt *p[PKT_BATCH];
        uint32_t n, n_data = 0, n_ctl = 0;

        cr_assert_eq(t.dev->cls->rx(t.dev, NULL, 0), 0);
        for (int i = 0; i < 100; i++) {
            make_frame(frame, "", 0, seq++, sizeof(frame));
            netns_send(t.peer, frame, sizeof(frame));
            if (i == 37 || i == 99) {
                time[3] = (uint16_t) i;
                macctl_encode_pfc(pfc, frame, 8, time);
                netns_send(t.peer, pfc, sizeof(pfc));
                cr_assert_eq(t.dev->cls->rx(t.dev, NULL, 0), i == 37 ? 1 : 2,
                             "what waits is known, and still waits");
            }
        }
        while ((n = t.dev->cls->rx(t.dev, p, PKT_BATCH)) > 0) {
            for (uint32_t i = 0; i < n; i++) {
                struct macctl m;

                if (macctl_decode(p[i]->data, p[i]->len, &m) == MACCTL_PFC) {
                    cr_assert_eq(n_data, 0, "PFC waited behind data");
                    cr_assert_eq(m.time[3], n_ctl++ == 0 ? 37 : 99);
                } else {
                    cr_assert_eq(seq_of(p[i]->data), next++);
                    n_data++;
                }
                pkt_free(p[i]);
            }
        }
        cr_assert_eq(n_ctl, 2);
        cr_assert_eq(n_data, 100);
    }
    cr_assert_eq(counter_get(&t.dev->stats.ring_peak), 102);
    drop_port(&t);
}

Test(port, a_ring_full_of_mac_control_is_handed_over_in_order)
{
    struct port t = make_port(256, 1600, 256 << 10);
    uint32_t n_slots = (uint32_t) counter_get(&t.dev->stats.n_ring_slots);
    uint8_t pfc[MACCTL_LEN];
    uint16_t time[N_PRIO] = {0};

    for (int round = 0; round < 3; round++) {
        struct pkt *p[PKT_BATCH];
        uint32_t n, next = 0;

        for (uint32_t i = 0; i < n_slots; i++) {
            time[3] = (uint16_t) i;
            macctl_encode_pfc(pfc, (const uint8_t *) "\2\0\0\0\0\1", 8, time);
            netns_send(t.peer, pfc, sizeof(pfc));
        }
        while ((n = t.dev->cls->rx(t.dev, p, 7)) > 0) {
            for (uint32_t i = 0; i < n; i++) {
                struct macctl m;

                cr_assert_eq(macctl_decode(p[i]->data, p[i]->len, &m),
                             MACCTL_PFC);
                cr_assert_eq(m.time[3], next++);
                pkt_free(p[i]);
            }
        }
        cr_assert_eq(next, n_slots);
    }
    drop_port(&t);
}

Test(port, tagged_mac_control_has_no_precedence)
{
    struct port t = make_port(64, 1600, 0);
    uint8_t data[100], tagged[64] = {0};

    make_frame(data, "", 0, 1, sizeof(data));
    memcpy(tagged, "\x01\x80\xc2\0\0\1\2\0\0\0\0\1\x81\0\x60\0\x88\x08", 18);
    netns_send(t.peer, data, sizeof(data));
    netns_send(t.peer, tagged, sizeof(tagged));
    {
        struct pkt *p[PKT_BATCH];

        cr_assert_eq(t.dev->cls->rx(t.dev, p, PKT_BATCH), 2);
        cr_assert_arr_eq(p[0]->data, data, sizeof(data));
        cr_assert_arr_eq(p[1]->data, tagged, sizeof(tagged));
        pkt_free(p[0]);
        pkt_free(p[1]);
    }
    drop_port(&t);
}

Test(port, empty_pool_stops_receiving_and_loses_nothing)
{
    struct port t = make_port(10, 1600, 0);
    uint8_t frame[100];
    struct pkt *p[PKT_BATCH];

    for (uint32_t i = 0; i < 50; i++) {
        make_frame(frame, "", 0, i, sizeof(frame));
        netns_send(t.peer, frame, sizeof(frame));
    }
    for (uint32_t next = 0; next < 50;) {
        uint32_t n = t.dev->cls->rx(t.dev, p, PKT_BATCH);

        cr_assert_eq(n, 10);
        if (next < 40)
            cr_assert_eq(counter_get(&t.dev->stats.rx_no_buffer),
                         next / 10 + 1);
        for (uint32_t i = 0; i < n; i++) {
            cr_assert_eq(seq_of(p[i]->data), next++);
            pkt_free(p[i]);
        }
    }
    cr_assert_eq(t.dev->cls->rx(t.dev, p, PKT_BATCH), 0);
    drop_port(&t);
}

Test(port, ring_overflow_is_counted_exactly)
{
    struct port t = make_port(64, 1600, 256 << 10);
    uint32_t n_slots = (uint32_t) counter_get(&t.dev->stats.n_ring_slots);
    uint8_t frame[100];
    struct pkt *p[PKT_BATCH];
    uint32_t n, n_received = 0, n_sent = 0;

    for (int round = 1; round <= 3; round++) {
        for (uint32_t i = 0; i < n_slots + 500; i++) {
            make_frame(frame, "", 0, n_sent++, sizeof(frame));
            netns_send(t.peer, frame, sizeof(frame));
        }
        while ((n = t.dev->cls->rx(t.dev, p, PKT_BATCH)) > 0) {
            n_received += n;
            while (n > 0)
                pkt_free(p[--n]);
        }
        t.dev->cls->poll_kernel(t.dev);
        cr_assert_eq(n_received + counter_get(&t.dev->stats.rx_ring_drops),
                     n_sent);
        cr_assert_eq(counter_get(&t.dev->stats.rx_ring_drops),
                     500u * (unsigned) round);
    }
    cr_assert_eq(counter_get(&t.dev->stats.ring_peak), n_slots);
    drop_port(&t);
}

/* The kernel adds them to rx_dropped, for want of a protocol that took them
 * after us. */
Test(port, tagged_frames_that_arrived_are_no_kernel_loss)
{
    struct port t = make_port(128, 1600, 0);
    struct link_info before, after;
    uint8_t frame[64];

    cr_assert_eq(link_get("slc0", &before, NULL), 0);
    make_frame(frame, "\x81\x00\x60\x00", 4, 7, sizeof(frame));
    for (int i = 0; i < 100; i++) {
        netns_send(t.peer, frame, sizeof(frame));
        expect(t.dev, frame, sizeof(frame));
    }
    cr_assert_eq(link_get("slc0", &after, NULL), 0);
    for (int i = 0; i < 3; i++) {
        t.dev->cls->poll_kernel(t.dev);
        usleep(600000);
    }
    if (after.rx_dropped == before.rx_dropped)
        cr_skip("this kernel does not count them");
    cr_assert_eq(counter_get(&t.dev->stats.rx_backlog_drops), 0,
                 "%llu of %llu",
                 (unsigned long long) t.dev->stats.rx_backlog_drops,
                 (unsigned long long) (after.rx_dropped - before.rx_dropped));
    drop_port(&t);
}

Test(port, jumbo_frames_fit_and_longer_ones_are_counted)
{
    struct port t = make_port(64, 9018, 0);
    static uint8_t frame[9100], got[9100];
    struct pkt *p[PKT_BATCH];

    make_frame(frame, "", 0, 3, 9014);
    netns_send(t.peer, frame, 9014);
    expect(t.dev, frame, 9014);
    make_frame(frame, "\x81\x00\x20\x01", 4, 3, 9018);
    netns_send(t.peer, frame, 9018);
    expect(t.dev, frame, 9018);
    cr_assert_eq(send_one(t.dev, make_pkt(t.pool, frame, 9018)), NETDEV_TX_OK);
    cr_assert_eq(netns_recv(t.peer, got, sizeof(got), 1000), 9018);
    /* One octet more than a buffer holds, between two that fit. */
    netns_run("ip link set slc0 mtu 9060");
    netns_run("ip link set slc1 mtu 9060");
    for (uint32_t i = 0; i < 3; i++) {
        size_t n = i == 1 ? 9019 + 30 : 100;

        make_frame(frame, "", 0, i, n);
        netns_send(t.peer, frame, n);
    }
    cr_assert_eq(t.dev->cls->rx(t.dev, p, PKT_BATCH), 2);
    cr_assert_eq(seq_of(p[0]->data), 0);
    cr_assert_eq(seq_of(p[1]->data), 2);
    pkt_free(p[0]);
    pkt_free(p[1]);
    /* Known although nothing comes after it. */
    make_frame(frame, "", 0, 3, 9019 + 30);
    netns_send(t.peer, frame, 9019 + 30);
    if (t.dev->cls == &netdev_afpacket)
        cr_assert_eq(t.dev->cls->rx(t.dev, p, PKT_BATCH), 0);
    t.dev->cls->poll_kernel(t.dev);
    cr_assert_eq(counter_get(&t.dev->stats.rx_oversize), 2);
    drop_port(&t);
}
