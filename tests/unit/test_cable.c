/* SPDX-License-Identifier: Apache-2.0
 *
 * The delay line of an emulated cable by itself: order, times, room, what a
 * frame looks like when it comes out, and a random walk against a list.
 */
#include "dp/cable.h"

#include "base/clock.h"
#include "base/rng.h"
#include "pkt/offload.h"

#include <criterion/criterion.h>
#include <string.h>

static uint8_t octets[2048];

static struct pkt
frame(uint32_t len, uint8_t mark)
{
    memset(octets, mark, sizeof(octets));
    return (struct pkt){.data = octets, .len = len};
}

static bool
put(struct dp_cable *c, struct pkt *p, uint64_t due_ns, uint8_t queue,
    bool is_ctl)
{
    uint8_t to[8];

    memset(to, queue, sizeof(to));
    return dp_cable_put(c, &p, 1, due_ns, to, is_ctl) == 1;
}

static uint32_t
due(struct dp_cable *c, uint64_t now_ns, struct pkt *pkts[])
{
    return dp_cable_due(c, now_ns, pkts);
}

Test(cable, frames_come_out_in_order_when_they_are_due)
{
    struct dp_cable *c = dp_cable_create(16384);
    struct pkt *out[PKT_BATCH], a = frame(100, 'a'), b;

    cr_assert(dp_cable_is_empty(c) && dp_cable_is_empty(NULL));
    cr_assert(put(c, &a, 1000, 3, false));
    b = frame(60, 'b');
    cr_assert(put(c, &b, 500, 0, true), "not out before the first");
    cr_assert_eq(due(c, 999, out), 0);
    cr_assert_eq(due(c, 1000, out), 2);
    cr_assert_eq(out[0]->len, 100);
    cr_assert_eq(out[0]->data[99], 'a');
    cr_assert_eq(out[1]->len, 60);
    cr_assert_eq(out[1]->data[0], 'b');
    cr_assert_eq(c->n_data, 1);
    cr_assert_eq(c->data_bytes, 100);
    cr_assert_eq(dp_cable_first(c)->queue, 3);
    dp_cable_pop(c);
    cr_assert_eq(c->n_data, 0);
    cr_assert(dp_cable_first(c)->is_ctl);
    dp_cable_pop(c);
    cr_assert(dp_cable_is_empty(c));
    dp_cable_destroy(c);
    dp_cable_destroy(NULL);
}

/* What the port does to the tag is done when the frame goes on. */
Test(cable, a_frame_lies_on_it_as_it_is_to_be_sent)
{
    struct dp_cable *c = dp_cable_create(16384);
    struct pkt *out[PKT_BATCH], a = frame(100, 'a');

    a.tx_tag = true;
    a.tx_tpid = 0x8100;
    a.tx_tci = 0x6005;
    cr_assert(put(c, &a, 0, 0, false));
    cr_assert_eq(due(c, 0, out), 1);
    cr_assert_eq(out[0]->len, 104);
    cr_assert_arr_eq(out[0]->data + 12, "\x81\x00\x60\x05\x61", 5);
    cr_assert(!out[0]->tx_tag && !out[0]->tx_skip);
    dp_cable_destroy(c);
}

/* A checksum that was left open is closed: behind the cable no one can. */
Test(cable, a_frame_lies_on_it_with_its_checksum)
{
    struct pkt_pool *pool = pkt_pool_create(8, 0, 1522);
    struct dp_cable *c = dp_cable_create(16384);
    struct pkt *out[PKT_BATCH], *p = pkt_alloc(pool);

    p->len = 60;
    memset(p->data, 1, 60);
    p->data[50] = p->data[51] = 0;
    pkt_leave_open(p, 34, 16);
    cr_assert(put(c, p, 0, 0, false));
    cr_assert_eq(due(c, 0, out), 1);
    /* Twelve words of 0x0101, and the complement of that. */
    cr_assert_arr_eq(out[0]->data + 50, "\xf3\xf3", 2);
    pkt_free(p);
    dp_cable_destroy(c);
    pkt_pool_destroy(pool);
}

Test(cable, data_leaves_room_for_mac_control)
{
    struct dp_cable *c = dp_cable_create(DP_CABLE_CTL_BYTES + 10000);
    struct pkt a = frame(1000, 'a'), ctl = frame(60, 'c');
    int n = 0;

    while (put(c, &a, 0, 0, false))
        n++;
    cr_assert_eq(n, 12); /* of 16384 octets */
    for (n = 0; put(c, &ctl, 0, 0, true); n++)
        continue;
    cr_assert_geq(n, 40);
    cr_assert_not(put(c, &ctl, 0, 0, true));
    dp_cable_destroy(c);
}

struct model {
    uint64_t due_ns[4096]; /* of what is on the cable */
    uint32_t len[4096];
    uint8_t mark[4096];
    uint32_t first, last;
};

static void
check_out(struct dp_cable *c, struct model *m, uint64_t now_ns, uint64_t seed)
{
    struct pkt *out[PKT_BATCH];
    uint32_t n = dp_cable_due(c, now_ns, out);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = (m->first + i) % 4096;

        cr_assert_eq(out[i]->len, m->len[k], "seed %d", (int) seed);
        cr_assert_eq(out[i]->data[0], m->mark[k]);
        cr_assert_eq(out[i]->data[m->len[k] - 1], m->mark[k]);
        cr_assert_leq(m->due_ns[k], now_ns);
    }
    if (n < PKT_BATCH && m->first + n < m->last)
        cr_assert_gt(m->due_ns[(m->first + n) % 4096], now_ns);
    for (; n > 0; n--, m->first++)
        dp_cable_pop(c);
}

static struct dp_cable *
grow(struct dp_cable *c, struct rng *r)
{
    struct dp_cable *to = dp_cable_create(c->size + rng_below(r, 2));

    dp_cable_move(c, to);
    cr_assert(dp_cable_is_empty(c));
    cr_assert_eq(c->n_data, 0);
    dp_cable_destroy(c);
    return to;
}

Test(cable, agrees_with_a_list)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct rng r = {.state = seed};
        struct dp_cable *c =
            dp_cable_create(DP_CABLE_CTL_BYTES + rng_range(&r, 3000, 20000));
        struct model m = {.first = 0};
        uint64_t now_ns = 0, last_ns = 0;

        for (int i = 0; i < 3000; i++) {
            uint8_t mark = (uint8_t) rng_below(&r, 256);
            struct pkt p = frame((uint32_t) rng_range(&r, 60, 1522), mark);
            uint64_t due_ns = now_ns + rng_below(&r, 100);

            if (m.first == m.last)
                last_ns = 0;
            if (put(c, &p, due_ns, 0, false)) {
                last_ns = due_ns > last_ns ? due_ns : last_ns;
                m.due_ns[m.last % 4096] = last_ns;
                m.len[m.last % 4096] = p.len;
                m.mark[m.last++ % 4096] = mark;
            }
            now_ns += rng_below(&r, 40);
            if (rng_below(&r, 3) == 0)
                check_out(c, &m, now_ns, seed);
            if (rng_below(&r, 500) == 0 && c->size < 40000)
                c = grow(c, &r);
            cr_assert_eq(c->n_data, m.last - m.first);
        }
        while (m.first < m.last)
            check_out(c, &m, CLOCK_NEVER, seed);
        cr_assert(dp_cable_is_empty(c));
        cr_assert_eq(c->data_bytes, 0);
        dp_cable_destroy(c);
    }
}
