/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/netdev/mem and netdev: the registry, delay and order between two
 * ports, MAC control ahead of data, capacity, tag notes, padding, load.
 */
#include "netdev/netdev.h"

#include <criterion/criterion.h>
#include <errno.h>

static struct pkt_pool *pool;
static struct netdev *a, *b;

static struct netdev *
open_mem(const char *name, struct pkt_pool *from, uint32_t ring_bytes)
{
    struct netdev_args args = {.name = name,
                               .pool = from,
                               .ring_bytes = ring_bytes};
    struct netdev *dev = NULL;

    cr_assert_eq(netdev_open(&netdev_mem, &args, &dev, NULL), 0);
    return dev;
}

static void
set_up(void)
{
    pool = pkt_pool_create(256, 8, 1522);
    a = open_mem("slc-a", pool, 0);
    b = open_mem("slc-b", pool, 0);
}

static void
tear_down(void)
{
    netdev_close(a);
    netdev_close(b);
    cr_assert_eq(pkt_pool_n_free(pool), 256);
    pkt_pool_destroy(pool);
}

TestSuite(netdev_mem, .init = set_up, .fini = tear_down);

/* A frame whose octet 20 says which it is. */
static struct pkt *
make_pkt(uint8_t number, uint32_t len, uint16_t ethertype)
{
    struct pkt *p = pkt_alloc(pool);

    memset(p->data, 0xee, len);
    p->data[12] = (uint8_t) (ethertype >> 8);
    p->data[13] = (uint8_t) ethertype;
    p->data[20] = number;
    p->len = len;
    return p;
}

static void
send_one(struct netdev *dev, uint8_t number, uint32_t len, uint16_t ethertype)
{
    struct pkt *p = make_pkt(number, len, ethertype);
    uint32_t n_sent = 0;

    cr_assert_eq(dev->cls->tx(dev, &p, 1, &n_sent), NETDEV_TX_OK);
    cr_assert_eq(n_sent, 1);
    pkt_free(p);
}

static void
set_now(uint64_t now_ns)
{
    netdev_mem_set_now(a, now_ns);
    netdev_mem_set_now(b, now_ns);
}

/* Receives up to max frames; their numbers, in order. */
static uint32_t
recv_numbers(struct netdev *dev, uint8_t numbers[], uint32_t max)
{
    struct pkt *pkts[PKT_BATCH];
    uint32_t n = dev->cls->rx(dev, pkts, max);

    for (uint32_t i = 0; i < n; i++) {
        numbers[i] = pkts[i]->data[20];
        pkt_free(pkts[i]);
    }
    return n;
}

Test(netdev_mem, class_is_found_by_its_name)
{
    cr_assert_eq(netdev_class_find("mem"), &netdev_mem);
    cr_assert_null(netdev_class_find("mem2"));
    cr_assert_null(netdev_class_find(""));
}

Test(netdev_mem, names_that_no_interface_has_are_refused)
{
    static const char *const bad[] = {"",    "0123456789abcdef",
                                      ".",   "..",
                                      "a/b", "a b",
                                      "a:1"};
    struct netdev_args args = {.pool = pool};
    struct netdev *dev = (struct netdev *) &args;
    struct err err;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        args.name = bad[i];
        err_clear(&err);
        cr_assert_eq(netdev_open(&netdev_mem, &args, &dev, &err), EINVAL);
        cr_assert_eq(err.code, EINVAL);
        cr_assert_str_eq(err.value, bad[i]);
        cr_assert_eq(dev, (struct netdev *) &args);
    }
    args.name = NULL;
    cr_assert_eq(netdev_open(&netdev_mem, &args, &dev, &err), EINVAL);
    args.name = "0123456789abcde"; /* the longest */
    cr_assert_eq(netdev_open(&netdev_mem, &args, &dev, NULL), 0);
    cr_assert_str_eq(dev->name, "0123456789abcde");
    netdev_close(dev);
    netdev_close(NULL);
}

Test(netdev_mem, mac_is_given_or_follows_from_the_name)
{
    struct netdev_args args = {.name = "slc-c",
                               .pool = pool,
                               .have_mac = true,
                               .mac = {2, 1}};
    struct netdev *c = NULL;

    cr_assert_eq(netdev_open(&netdev_mem, &args, &c, NULL), 0);
    cr_assert_arr_eq(c->mac, args.mac, 6);
    netdev_close(c);
    cr_assert_eq(a->mac[0], 2);
    cr_assert_neq(memcmp(a->mac, b->mac, 6), 0);
    cr_assert_eq(a->mtu, 1500);
}

Test(netdev_mem, frame_arrives_after_the_delay_and_not_before)
{
    uint8_t numbers[PKT_BATCH];

    netdev_mem_connect(a, b, 1000, 0);
    cr_assert_eq(b->cls->rx_deadline(b), UINT64_MAX);
    set_now(50);
    send_one(a, 1, 100, 0x0800);
    set_now(60);
    send_one(a, 2, 100, 0x0800);
    cr_assert_eq(b->cls->rx_deadline(b), 1050);
    set_now(1049);
    cr_assert_eq(recv_numbers(b, numbers, PKT_BATCH), 0);
    set_now(1050);
    cr_assert_eq(recv_numbers(b, numbers, PKT_BATCH), 1);
    cr_assert_eq(numbers[0], 1);
    cr_assert_eq(b->cls->rx_deadline(b), 1060);
    set_now(2000);
    cr_assert_eq(recv_numbers(b, numbers, PKT_BATCH), 1);
    cr_assert_eq(numbers[0], 2);
    cr_assert_eq(a->cls->rx_deadline(a), UINT64_MAX);
}

Test(netdev_mem, line_rate_adds_the_time_of_the_octets_and_keeps_order)
{
    uint8_t numbers[PKT_BATCH];

    netdev_mem_connect(a, b, 1000, 0);
    netdev_mem_set_line_rate(a, UINT64_C(1000000000));
    send_one(a, 1, 1500, 0x0800); /* 12 us */
    send_one(a, 2, 60, 0x8808);   /* half a us, but not ahead of it */
    cr_assert_eq(b->cls->rx_deadline(b), 13000);
    set_now(12999);
    cr_assert_eq(recv_numbers(b, numbers, PKT_BATCH), 0);
    set_now(13000);
    cr_assert_eq(recv_numbers(b, numbers, PKT_BATCH), 2);
}

Test(netdev_mem, mac_control_comes_first_but_not_before_it_is_due)
{
    uint8_t numbers[PKT_BATCH];

    netdev_mem_connect(a, b, 10, 0);
    for (uint8_t i = 0; i < 40; i++)
        send_one(a, i, 64, 0x0800);
    send_one(a, 100, 60, 0x8808);
    send_one(a, 40, 64, 0x0800);
    set_now(5);
    send_one(a, 101, 60, 0x8808);
    cr_assert_eq(b->cls->rx(b, NULL, 0), 0);
    set_now(10);
    cr_assert_eq(b->cls->rx(b, NULL, 0), 1, "one is due, and stays");
    cr_assert_eq(recv_numbers(b, numbers, PKT_BATCH), PKT_BATCH);
    cr_assert_eq(numbers[0], 100);
    for (uint8_t i = 1; i < PKT_BATCH; i++)
        cr_assert_eq(numbers[i], i - 1);
    set_now(15);
    cr_assert_eq(recv_numbers(b, numbers, 4), 4);
    cr_assert_eq(numbers[0], 101);
    cr_assert_eq(numbers[1], 31);
    cr_assert_eq(numbers[3], 33);
    cr_assert_eq(recv_numbers(b, numbers, PKT_BATCH), 7);
    cr_assert_eq(numbers[6], 40);
    cr_assert_eq(netdev_mem_n_queued(b), 0);
}

Test(netdev_mem, what_exceeds_the_capacity_is_counted)
{
    uint8_t numbers[PKT_BATCH];

    netdev_mem_connect(a, b, 0, 5);
    for (uint8_t i = 0; i < 7; i++)
        send_one(a, i, 64, 0x0800);
    cr_assert_eq(b->stats.rx_ring_drops, 2);
    cr_assert_eq(b->stats.ring_peak, 5);
    cr_assert_eq(b->stats.n_ring_slots, 5);
    cr_assert_not(netdev_mem_inject(b, "x", 1));
    cr_assert_eq(b->stats.rx_ring_drops, 3);
    cr_assert_eq(recv_numbers(b, numbers, PKT_BATCH), 5);
    cr_assert_eq(numbers[4], 4);
    send_one(a, 9, 64, 0x0800);
    cr_assert_eq(recv_numbers(b, numbers, PKT_BATCH), 1);
}

Test(netdev_mem, queue_without_a_capacity_grows_and_keeps_what_it_has)
{
    uint8_t frame[64] = {0}, numbers[PKT_BATCH];
    uint32_t n, got = 0;

    for (int i = 0; i < 20; i++) /* so that the ring has wrapped */
        netdev_mem_inject(a, frame, sizeof(frame));
    recv_numbers(a, numbers, 20);
    for (int i = 0; i < 200; i++) {
        frame[20] = (uint8_t) i;
        cr_assert(netdev_mem_inject(a, frame, sizeof(frame)));
    }
    while ((n = recv_numbers(a, numbers, 7)) > 0) {
        for (uint32_t i = 0; i < n; i++)
            cr_assert_eq(numbers[i], got++);
    }
    cr_assert_eq(got, 200);
    cr_assert_eq(a->stats.ring_peak, 200);
}

Test(netdev_mem, ring_bytes_is_a_capacity)
{
    struct netdev *c = open_mem("slc-c", pool, 3 * 1536);
    uint8_t frame[64] = {0};
    uint8_t numbers[PKT_BATCH];

    for (int i = 0; i < 3; i++)
        cr_assert(netdev_mem_inject(c, frame, sizeof(frame)));
    cr_assert_not(netdev_mem_inject(c, frame, sizeof(frame)));
    cr_assert_eq(recv_numbers(c, numbers, PKT_BATCH), 3);
    netdev_close(c);
}

Test(netdev_mem, a_ring_says_how_full_it_is)
{
    uint8_t numbers[PKT_BATCH];

    cr_assert_eq(a->rx_high, UINT32_MAX, "it has no bound");
    netdev_mem_connect(a, b, 10, 40);
    cr_assert_eq(b->rx_high, 10);
    for (uint8_t i = 0; i < 20; i++)
        send_one(a, i, 64, 0x0800);
    set_now(5);
    for (uint8_t i = 20; i < 25; i++)
        send_one(a, i, 64, 0x0800);
    recv_numbers(b, numbers, 1);
    cr_assert_eq(b->rx_level, 0, "nothing has arrived");
    set_now(10);
    recv_numbers(b, numbers, 3);
    cr_assert_eq(b->rx_level, 17);
    set_now(15);
    recv_numbers(b, numbers, 1);
    cr_assert_eq(b->rx_level, 21);
    netdev_mem_set_down(b, true);
    recv_numbers(b, numbers, 1);
    cr_assert_eq(b->rx_level, 0);
    netdev_mem_set_down(b, false);
    cr_assert_eq(recv_numbers(b, numbers, PKT_BATCH), 21);
    cr_assert_eq(b->rx_level, 0);
}

Test(netdev_mem, sent_frames_are_padded_and_carry_their_tag)
{
    uint8_t out[2048];
    struct pkt *p = make_pkt(7, 40, 0x0800);
    uint32_t n_sent;

    p->tx_tag = true;
    p->tx_tpid = 0x8100;
    p->tx_tci = 0x6005;
    cr_assert_eq(a->cls->tx(a, &p, 1, &n_sent), NETDEV_TX_OK);
    pkt_free(p);
    memset(out, 0xff, sizeof(out));
    cr_assert_eq(netdev_mem_take(a, out, sizeof(out)), PKT_MIN_LEN);
    cr_assert_arr_eq(out + 12, "\x81\x00\x60\x05\x08\x00", 6);
    cr_assert_eq(out[24], 7);
    for (int i = 44; i < PKT_MIN_LEN; i++)
        cr_assert_eq(out[i], 0);
    cr_assert_eq(netdev_mem_take(a, out, sizeof(out)), 0);
}

Test(netdev_mem, sent_frames_that_nobody_takes_are_bounded)
{
    uint8_t out[2048];
    int n = 0;

    for (int i = 0; i < 4100; i++)
        send_one(a, (uint8_t) i, 64, 0x0800);
    cr_assert_eq(a->stats.tx_queue_drops, 4);
    while (netdev_mem_take(a, out, sizeof(out)))
        cr_assert_eq(out[20], (uint8_t) n++);
    cr_assert_eq(n, 4096);
}

Test(netdev_mem, tx_limit_leaves_the_rest_to_the_caller)
{
    struct pkt *p[3] = {make_pkt(0, 64, 0x0800), make_pkt(1, 64, 0x0800),
                        make_pkt(2, 64, 0x0800)};
    uint32_t n_sent;

    netdev_mem_set_tx_limit(a, 2);
    cr_assert_eq(a->cls->tx(a, p, 3, &n_sent), NETDEV_TX_AGAIN);
    cr_assert_eq(n_sent, 2);
    cr_assert_eq(a->cls->tx(a, p + 2, 1, &n_sent), NETDEV_TX_OK);
    netdev_mem_set_tx_limit(a, 0);
    cr_assert_eq(a->cls->tx(a, p, 3, &n_sent), NETDEV_TX_AGAIN);
    cr_assert_eq(n_sent, 0);
    cr_assert_eq(a->stats.tx_again, 2);
    for (int i = 0; i < 3; i++)
        pkt_free(p[i]);
}

Test(netdev_mem, port_that_is_down_neither_sends_nor_receives)
{
    struct pkt *p = make_pkt(0, 64, 0x0800);
    uint8_t numbers[PKT_BATCH];
    uint32_t n_sent;

    netdev_mem_connect(a, b, 0, 0);
    send_one(a, 1, 64, 0x0800);
    netdev_mem_set_down(b, true);
    cr_assert_eq(b->cls->tx(b, &p, 1, &n_sent), NETDEV_TX_DOWN);
    cr_assert_eq(n_sent, 0);
    cr_assert_eq(recv_numbers(b, numbers, PKT_BATCH), 0);
    send_one(a, 2, 64, 0x0800);
    cr_assert_eq(b->stats.rx_ring_drops, 1);
    netdev_mem_set_down(b, false);
    cr_assert_eq(recv_numbers(b, numbers, PKT_BATCH), 1);
    cr_assert_eq(numbers[0], 1);
    pkt_free(p);
}

struct seen {
    uint64_t due_ns; /* of the last frame */
    uint32_t n;      /* frames shown */
};

static bool
lose_odd_frames(void *arg, const uint8_t *frame, uint32_t len, uint64_t due_ns)
{
    struct seen *seen = arg;

    cr_assert_eq(len, 64);
    seen->n++;
    seen->due_ns = due_ns;
    return frame[20] % 2 == 0;
}

Test(netdev_mem, watch_sees_what_is_sent_and_may_lose_it)
{
    struct seen seen = {0};
    struct netdev_mem_watch watch = {lose_odd_frames, &seen};
    uint8_t numbers[PKT_BATCH];

    netdev_mem_connect(a, b, 100, 0);
    netdev_mem_set_watch(a, &watch);
    set_now(11);
    for (uint8_t i = 0; i < 4; i++)
        send_one(a, i, 64, 0x0800);
    cr_assert_eq(seen.n, 4);
    cr_assert_eq(seen.due_ns, 111);
    set_now(111);
    cr_assert_eq(recv_numbers(b, numbers, PKT_BATCH), 2);
    cr_assert_eq(numbers[1], 2);
    netdev_mem_set_watch(a, NULL);
    send_one(a, 5, 64, 0x0800);
    cr_assert_eq(seen.n, 4);
}

Test(netdev_mem, empty_pool_stops_receiving_and_loses_nothing)
{
    struct pkt_pool *small = pkt_pool_create(3, 0, 1522);
    struct netdev *c = open_mem("slc-c", small, 0);
    struct pkt *p[PKT_BATCH];
    uint8_t frame[64] = {0};

    for (int i = 0; i < 5; i++)
        netdev_mem_inject(c, frame, sizeof(frame));
    cr_assert_eq(c->cls->rx(c, p, PKT_BATCH), 3);
    cr_assert_eq(c->stats.rx_no_buffer, 1);
    for (int i = 0; i < 3; i++)
        pkt_free(p[i]);
    cr_assert_eq(c->cls->rx(c, p, PKT_BATCH), 2);
    pkt_free(p[0]);
    pkt_free(p[1]);
    netdev_close(c);
    pkt_pool_destroy(small);
}

Test(netdev_mem, mac_control_is_received_when_data_finds_no_buffer)
{
    struct pkt_pool *small = pkt_pool_create(2, 0, 1522);
    struct netdev *c = open_mem("slc-c", small, 0);
    struct pkt *p[PKT_BATCH];
    uint8_t data[64] = {[20] = 1};
    uint8_t ctl[64] = {[12] = 0x88, [13] = 0x08, [20] = 2};

    for (int i = 0; i < 3; i++)
        netdev_mem_inject(c, data, sizeof(data));
    cr_assert_eq(c->cls->rx(c, p, PKT_BATCH), 2);
    netdev_mem_inject(c, ctl, sizeof(ctl));
    cr_assert_eq(c->cls->rx(c, p + 2, PKT_BATCH - 2), 1);
    cr_assert_eq(p[2]->data[20], 2);
    cr_assert_eq(netdev_mem_n_queued(c), 1);
    for (int i = 0; i < 3; i++)
        pkt_free(p[i]);
    cr_assert_eq(c->cls->rx(c, p, PKT_BATCH), 1);
    pkt_free(p[0]);
    netdev_close(c);
    pkt_pool_destroy(small);
}

Test(netdev_mem, frames_that_no_buffer_holds_and_runts_are_counted)
{
    static uint8_t frame[4000];
    uint8_t numbers[PKT_BATCH];

    netdev_mem_inject(a, frame, 1523);
    netdev_mem_inject(a, frame, 4000);
    netdev_mem_inject(a, frame, 13);
    netdev_mem_inject(a, frame, 0);
    netdev_mem_inject(a, frame, 1522);
    netdev_mem_inject(a, frame, 14);
    cr_assert_eq(recv_numbers(a, numbers, PKT_BATCH), 2);
    cr_assert_eq(a->stats.rx_oversize, 2);
    cr_assert_eq(a->stats.rx_bad, 2);
}

Test(netdev_mem, pools_of_different_frame_sizes_meet)
{
    struct pkt_pool *jumbo = pkt_pool_create(4, 0, 9000);
    struct netdev *c = open_mem("slc-c", jumbo, 0);
    struct pkt *p = pkt_alloc(jumbo), *got[PKT_BATCH];
    uint8_t numbers[PKT_BATCH];
    uint32_t n_sent;

    memset(p->data, 1, 9000);
    p->len = 9000;
    netdev_mem_connect(a, c, 0, 0);
    cr_assert_eq(c->cls->tx(c, &p, 1, &n_sent), NETDEV_TX_OK);
    cr_assert_eq(recv_numbers(a, numbers, PKT_BATCH), 0);
    cr_assert_eq(a->stats.rx_oversize, 1);
    send_one(a, 3, 1522, 0x0800);
    cr_assert_eq(c->cls->rx(c, got, PKT_BATCH), 1);
    cr_assert_eq(got[0]->len, 1522);
    cr_assert_eq(got[0]->pool, jumbo);
    pkt_free(got[0]);
    pkt_free(p);
    netdev_close(c);
    pkt_pool_destroy(jumbo);
}

static void
add_number(void *arg, struct pkt *const pkts[], uint32_t n, uint32_t number)
{
    for (uint32_t i = 0; i < n; i++)
        pkts[i]->data[20] = (uint8_t) (*(const uint8_t *) arg + number + i);
}

Test(netdev_mem, load_numbers_its_copies)
{
    static const uint8_t f0[60];
    static const uint8_t *const frames[] = {f0};
    static const uint32_t lens[] = {60};
    uint8_t base = 100, numbers[PKT_BATCH];
    struct netdev_mem_load load = {.frames = frames,
                                   .lens = lens,
                                   .n = 1,
                                   .per_rx = 2,
                                   .stamp = add_number,
                                   .arg = &base};

    netdev_mem_set_load(a, &load);
    cr_assert_eq(recv_numbers(a, numbers, PKT_BATCH), 2);
    cr_assert_eq(recv_numbers(a, numbers + 2, PKT_BATCH), 2);
    cr_assert_arr_eq(numbers, "\x64\x65\x66\x67", 4);
    netdev_mem_set_load(a, NULL);
}

Test(netdev_mem, load_is_endless_and_what_is_sent_vanishes)
{
    static const uint8_t f0[60] = {[20] = 10};
    static const uint8_t f1[64] = {[20] = 11};
    static const uint8_t *const frames[] = {f0, f1};
    static const uint32_t lens[] = {60, 64};
    struct netdev_mem_load load = {.frames = frames,
                                   .lens = lens,
                                   .n = 2,
                                   .per_rx = 3};
    uint8_t numbers[PKT_BATCH], out[64];

    netdev_mem_set_load(a, &load);
    cr_assert_eq(a->cls->rx_deadline(a), 0);
    cr_assert_eq(recv_numbers(a, numbers, PKT_BATCH), 3);
    cr_assert_arr_eq(numbers, "\x0a\x0b\x0a", 3);
    cr_assert_eq(recv_numbers(a, numbers, 2), 2);
    cr_assert_arr_eq(numbers, "\x0b\x0a", 2);
    send_one(a, 1, 64, 0x0800);
    netdev_mem_set_load(a, NULL);
    cr_assert_eq(recv_numbers(a, numbers, PKT_BATCH), 0);
    cr_assert_eq(netdev_mem_take(a, out, sizeof(out)), 0);
}
