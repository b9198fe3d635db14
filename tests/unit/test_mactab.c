/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/flow/mactab: learning, ageing, and what a flood cannot do.
 */
#include "flow/mactab.h"

#include "base/clock.h"
#include "base/rng.h"

#include <criterion/criterion.h>
#include <string.h>

#define N_PORTS 256
#define TICK    (UINT64_C(1) << 26) /* age is kept in these */
#define ROOM    65536u

static struct mactab *
make_table(uint32_t n_entries)
{
    struct mactab *t = mactab_create(n_entries, N_PORTS, 42);

    cr_assert_not_null(t);
    return t;
}

/* Address number i of a family, unicast. */
static const uint8_t *
addr(uint8_t family, uint32_t i)
{
    static uint8_t mac[6];

    mac[0] = 0x02;
    mac[1] = family;
    mac[2] = (uint8_t) (i >> 24);
    mac[3] = (uint8_t) (i >> 16);
    mac[4] = (uint8_t) (i >> 8);
    mac[5] = (uint8_t) i;
    return mac;
}

static const uint8_t *
random_addr(struct rng *r)
{
    static uint8_t mac[6];
    uint64_t v = rng_u64(r);

    memcpy(mac, &v, 6);
    mac[0] &= 0xfe;
    return mac;
}

static uint64_t
entries(const struct mactab *t)
{
    return mactab_counters(t)->n_entries;
}

Test(mactab, learns_moves_and_keeps_vlans_apart)
{
    struct mactab *t = make_table(1024);

    cr_assert_eq(mactab_lookup(t, 0, addr(0, 1), 0), MACTAB_NO_PORT);
    mactab_learn(t, 0, addr(0, 1), 7, 0);
    mactab_learn(t, 5, addr(0, 1), 8, 0);
    mactab_learn(t, 4095, addr(0, 1), 9, 0);
    cr_assert_eq(mactab_lookup(t, 0, addr(0, 1), 0), 7);
    cr_assert_eq(mactab_lookup(t, 5, addr(0, 1), 0), 8);
    cr_assert_eq(mactab_lookup(t, 4095, addr(0, 1), 0), 9);
    cr_assert_eq(mactab_lookup(t, 6, addr(0, 1), 0), MACTAB_NO_PORT);
    mactab_learn(t, 5, addr(0, 1), 3, 0);
    mactab_learn(t, 5, addr(0, 1), 3, 0);
    cr_assert_eq(mactab_lookup(t, 5, addr(0, 1), 0), 3);
    cr_assert_eq(mactab_counters(t)->n_moved, 1);
    cr_assert_eq(mactab_counters(t)->n_learned, 3);
    cr_assert_eq(entries(t), 3);
    mactab_destroy(t);
}

Test(mactab, ignores_group_and_all_zero)
{
    static const uint8_t zero[6], bcast[6] = {255, 255, 255, 255, 255, 255};
    static const uint8_t group[6] = {0x01, 0x80, 0xc2, 0, 0, 0x0e};
    struct mactab *t = make_table(1024);

    for (uint16_t vid = 0; vid < 4096; vid++) {
        mactab_learn(t, vid, zero, 1, 0);
        mactab_learn(t, vid, bcast, 1, 0);
        mactab_learn(t, vid, group, 1, 0);
        cr_assert_eq(mactab_lookup(t, vid, zero, 0), MACTAB_NO_PORT);
        cr_assert_eq(mactab_lookup(t, vid, bcast, 0), MACTAB_NO_PORT);
    }
    cr_assert_eq(entries(t), 0);
    mactab_destroy(t);
}

/* Runs of addresses, as virtual machines have them, are the usual case and
 * a hard one for hashes. */
Test(mactab, holds_what_it_was_made_for)
{
    static const uint32_t steps[] = {1, 2, 256, 4096, 65536};

    for (size_t k = 0; k < sizeof(steps) / sizeof(steps[0]); k++) {
        struct mactab *t = make_table(ROOM);

        for (uint32_t i = 0; i < ROOM; i++)
            mactab_learn(t, 10, addr(0, i * steps[k]), (uint16_t) (i % 200),
                         0);
        cr_assert_eq(entries(t), ROOM);
        for (uint32_t i = 0; i < ROOM; i++)
            cr_assert_eq(mactab_lookup(t, 10, addr(0, i * steps[k]), 0),
                         i % 200);
        cr_assert_eq(mactab_counters(t)->n_evicted, 0);
        cr_assert_eq(mactab_counters(t)->n_refused, 0);
        mactab_destroy(t);
    }
}

Test(mactab, one_address_in_every_vlan)
{
    struct mactab *t = make_table(4096);

    for (uint16_t vid = 0; vid < 4096; vid++)
        mactab_learn(t, vid, addr(0, 1), vid % N_PORTS, 0);
    for (uint16_t vid = 0; vid < 4096; vid++)
        cr_assert_eq(mactab_lookup(t, vid, addr(0, 1), 0), vid % N_PORTS);
    mactab_destroy(t);
}

Test(mactab, ages_not_early_and_not_much_late)
{
    struct rng r = {.state = 2};

    for (int i = 0; i < 100; i++) {
        uint64_t ageing = rng_range(&r, 1, 400) * NS_PER_MS;
        uint64_t start = rng_below(&r, 100 * NS_PER_S), gone = start;
        struct mactab *t = make_table(64);

        mactab_set_ageing(t, ageing);
        mactab_learn(t, 0, addr(0, 1), 1, start);
        while (mactab_lookup(t, 0, addr(0, 1), gone) == 1)
            gone += NS_PER_MS / 4;
        cr_assert_geq(gone, start + ageing);
        cr_assert_leq(gone, start + ageing + 2 * TICK + NS_PER_MS);
        /* Seen again, though it had aged: as new. */
        mactab_learn(t, 0, addr(0, 1), 2, gone);
        cr_assert_eq(mactab_lookup(t, 0, addr(0, 1), gone), 2);
        mactab_destroy(t);
    }
}

Test(mactab, refreshed_entries_stay)
{
    struct mactab *t = make_table(1024);
    uint64_t now = 0;

    mactab_set_ageing(t, NS_PER_S);
    for (int i = 0; i < 1000; i++, now += 100 * NS_PER_MS) {
        mactab_learn(t, 0, addr(0, 1), 1, now);
        mactab_sweep(t, now);
        cr_assert_eq(mactab_lookup(t, 0, addr(0, 1), now), 1);
    }
    cr_assert_eq(mactab_counters(t)->n_aged, 0);
    mactab_destroy(t);
}

Test(mactab, sweep_finds_what_has_aged)
{
    struct mactab *t = make_table(ROOM);
    uint64_t now = 0;

    mactab_set_ageing(t, 10 * NS_PER_S);
    for (uint32_t i = 0; i < 10000; i++)
        mactab_learn(t, 0, addr(0, i), 1, 0);
    /* Called at leisure: after ageing and half of it once more, all gone. */
    for (; now <= 15500 * NS_PER_MS; now += 5 * NS_PER_MS)
        mactab_sweep(t, now);
    cr_assert_eq(entries(t), 0);
    cr_assert_eq(mactab_counters(t)->n_aged, 10000);
    mactab_destroy(t);
}

Test(mactab, without_ageing_entries_stay_for_years)
{
    struct mactab *t = make_table(1024);
    uint64_t now = 0;

    mactab_set_ageing(t, 0);
    mactab_learn(t, 0, addr(0, 1), 1, 0);
    for (int i = 0; i < 3000; i++, now += 86400 * NS_PER_S)
        mactab_sweep(t, now);
    cr_assert_eq(mactab_lookup(t, 0, addr(0, 1), now), 1);
    mactab_destroy(t);
}

Test(mactab, flushes_by_port_and_vlan)
{
    struct mactab *t = make_table(4096);

    for (uint32_t i = 0; i < 1000; i++)
        mactab_learn(t, (uint16_t) (i % 10), addr(0, i), (uint16_t) (i % 4),
                     0);
    cr_assert(mactab_add_static(t, 3, addr(9, 9), 1));
    mactab_flush(t, 1, 3);
    for (uint32_t i = 0; i < 1000; i++) {
        bool gone = i % 10 == 3 && i % 4 == 1;

        cr_assert_eq(mactab_lookup(t, (uint16_t) (i % 10), addr(0, i), 0),
                     gone ? MACTAB_NO_PORT : (int) (i % 4));
    }
    mactab_flush(t, 2, -1);
    cr_assert_eq(entries(t), 1 + 1000 - 50 - 250);
    mactab_flush(t, -1, 5);
    cr_assert_eq(entries(t), 1 + 1000 - 50 - 250 - 100);
    mactab_flush(t, -1, -1);
    cr_assert_eq(entries(t), 1);
    cr_assert_eq(mactab_lookup(t, 3, addr(9, 9), 0), 1);
    mactab_flush_static(t, 2);
    cr_assert_eq(entries(t), 1);
    mactab_flush_static(t, 1);
    cr_assert_eq(entries(t), 0);
    mactab_destroy(t);
}

Test(mactab, static_entries_are_neither_aged_nor_moved)
{
    struct mactab *t = make_table(1024);

    mactab_set_ageing(t, NS_PER_S);
    mactab_learn(t, 0, addr(0, 1), 1, 0);
    cr_assert(mactab_add_static(t, 0, addr(0, 1), 5));
    cr_assert_eq(entries(t), 1);
    mactab_learn(t, 0, addr(0, 1), 2, 0);
    cr_assert_eq(mactab_counters(t)->n_moved, 0);
    for (uint64_t now = 0; now < 100 * NS_PER_S; now += NS_PER_MS)
        mactab_sweep(t, now);
    cr_assert_eq(mactab_lookup(t, 0, addr(0, 1), 100 * NS_PER_S), 5);
    cr_assert(mactab_add_static(t, 0, addr(0, 1), 6));
    cr_assert_eq(mactab_lookup(t, 0, addr(0, 1), 100 * NS_PER_S), 6);
    cr_assert(mactab_del_static(t, 0, addr(0, 1)));
    cr_assert_not(mactab_del_static(t, 0, addr(0, 1)));
    mactab_learn(t, 0, addr(0, 1), 2, 0);
    cr_assert_not(mactab_del_static(t, 0, addr(0, 1)));
    cr_assert_eq(entries(t), 1);
    mactab_destroy(t);
}

/* Statics take room from what was learned, and stop when all is static. */
Test(mactab, static_entries_until_the_table_is_full)
{
    struct mactab *t = make_table(16);
    struct rng r = {.state = 1};
    uint32_t n = 0, refused = 0;

    for (int i = 0; i < 10000; i++)
        mactab_learn(t, 0, random_addr(&r), 1, 0);
    for (uint32_t i = 0; i < 200; i++) {
        if (mactab_add_static(t, 0, addr(1, i), 2))
            n++;
        else
            refused++;
    }
    cr_assert_geq(n, 48); /* of 64 places */
    cr_assert_gt(refused, 0);
    for (int i = 0; i < 10000; i++)
        mactab_learn(t, 0, random_addr(&r), 1, 0);
    for (uint32_t i = 0, found = 0; i < 200; i++) {
        found += mactab_lookup(t, 0, addr(1, i), 0) == 2;
        if (i == 199)
            cr_assert_eq(found, n);
    }
    mactab_destroy(t);
}

Test(mactab, dumps_everything_once)
{
    static struct mactab_entry e[100];
    static bool seen[1000];
    struct mactab *t = make_table(4096);
    uint32_t cursor = 0, n, total = 0;

    mactab_set_ageing(t, 300 * NS_PER_S);
    mactab_learn(t, 0, addr(7, 7), 1, 0); /* will have aged */
    for (uint32_t i = 0; i < 999; i++)
        mactab_learn(t, 77, addr(0, i), (uint16_t) (i % 9), 400 * NS_PER_S);
    cr_assert(mactab_add_static(t, 77, addr(0, 999), 3));
    while ((n = mactab_dump(t, &cursor, e, 100, 410 * NS_PER_S)) > 0) {
        for (uint32_t k = 0; k < n; k++) {
            uint32_t i = (uint32_t) (e[k].mac[4] << 8 | e[k].mac[5]);

            cr_assert_arr_eq(e[k].mac, addr(0, i), 6);
            cr_assert(!seen[i] && e[k].vid == 77);
            cr_assert_eq(e[k].is_static, i == 999);
            cr_assert_eq(e[k].port, i == 999 ? 3 : i % 9);
            cr_assert_leq(e[k].age_ns, 10 * NS_PER_S + TICK);
            if (i < 999)
                cr_assert_geq(e[k].age_ns, 10 * NS_PER_S - TICK);
            seen[i] = true;
        }
        total += n;
    }
    cr_assert_eq(total, 1000);
    cr_assert_eq(mactab_dump(t, &cursor, e, 100, 410 * NS_PER_S), 0);
    mactab_destroy(t);
}

/* --- floods ------------------------------------------------------------ */

static void
flood(struct mactab *t, uint16_t port, uint32_t n, uint64_t seed)
{
    struct rng r = {.state = seed};

    for (uint32_t i = 0; i < n; i++)
        mactab_learn(t, (uint16_t) rng_below(&r, 4096), random_addr(&r), port,
                     0);
}

static uint32_t
survivors(struct mactab *t, uint32_t n, uint16_t n_ports)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < n; i++)
        found += mactab_lookup(t, 1, addr(0, i), 0) == (int) (i % n_ports);
    return found;
}

static void
learn_hosts(struct mactab *t, uint32_t from, uint32_t to, uint16_t n_ports)
{
    for (uint32_t i = from; i < to; i++)
        mactab_learn(t, 1, addr(0, i), (uint16_t) (i % n_ports), 0);
}

/* The whole nominal room on other ports, then a million random addresses on
 * one: not one host is lost, however many ports they are on. */
Test(mactab, flood_evicts_no_host_of_other_ports)
{
    static const uint16_t ports[] = {1, 2, 63, 200};

    for (size_t k = 0; k < sizeof(ports) / sizeof(ports[0]); k++) {
        struct mactab *t = make_table(ROOM);

        learn_hosts(t, 0, ROOM, ports[k]);
        flood(t, 250, 1000000, k + 1);
        cr_assert_eq(survivors(t, ROOM, ports[k]), ROOM);
        cr_assert_gt(mactab_counters(t)->n_evicted, 500000);
        mactab_destroy(t);
    }
}

/* Hosts that turn up after the flood, or in its midst, find room. */
Test(mactab, flood_keeps_no_host_out)
{
    struct mactab *t = make_table(ROOM);

    flood(t, 250, 500000, 1);
    learn_hosts(t, 0, ROOM / 2, 3);
    flood(t, 250, 500000, 2);
    for (uint32_t i = ROOM / 2; i < ROOM; i += 64) {
        learn_hosts(t, i, i + 64, 3);
        flood(t, 250, 1000, i);
    }
    cr_assert_eq(survivors(t, ROOM, 3), ROOM);
    mactab_destroy(t);
}

/* Many ports that flood share the table; a port with few hosts keeps them. */
Test(mactab, flood_from_many_ports_spares_small_ones)
{
    struct mactab *t = make_table(ROOM);

    learn_hosts(t, 0, 1000, 1);
    for (uint16_t round = 0; round < 10; round++)
        for (uint16_t port = 100; port < 150; port++)
            flood(t, port, 2000, port * 100u + round);
    cr_assert_eq(survivors(t, 1000, 1), 1000);
    mactab_destroy(t);
}

/* Nothing is lost or counted twice, whatever happens. */
Test(mactab, agrees_with_a_naive_model)
{
    enum { N_MACS = 700 };
    static int model[4][N_MACS];
    struct mactab *t = make_table(4096);
    struct rng r = {.state = 3};
    uint64_t want = 0;

    memset(model, 0xff, sizeof(model));
    for (int i = 0; i < 300000; i++) {
        uint16_t vid = (uint16_t) rng_below(&r, 4);
        uint32_t m = (uint32_t) rng_below(&r, N_MACS);
        uint16_t port = (uint16_t) rng_below(&r, 8);
        int *e = &model[vid][m];

        cr_assert_eq(mactab_lookup(t, vid, addr(0, m), 0), *e);
        if (rng_below(&r, 20000) == 0) {
            mactab_flush(t, port, vid);
            for (int k = 0; k < N_MACS; k++)
                if (model[vid][k] == port) {
                    model[vid][k] = -1;
                    want--;
                }
        } else if (rng_below(&r, 2)) {
            mactab_learn(t, vid, addr(0, m), port, 0);
            want += *e < 0;
            *e = port;
        }
        cr_assert_eq(entries(t), want);
    }
    cr_assert_eq(mactab_counters(t)->n_evicted, 0);
    mactab_destroy(t);
}

/* The same in a table so small that it is full all the time: what it says of
 * an address is true, and its books balance. */
Test(mactab, full_table_never_lies)
{
    enum { N_MACS = 500 };
    static int model[N_MACS];
    static struct mactab_entry e[64];
    struct mactab *t = make_table(16); /* 64 places */
    struct rng r = {.state = 4};
    uint64_t flushed = 0;

    memset(model, 0xff, sizeof(model));
    for (int i = 0; i < 300000; i++) {
        uint32_t m = (uint32_t) rng_below(&r, N_MACS), cursor = 0;
        uint16_t port = (uint16_t) rng_below(&r, 8);
        int got = mactab_lookup(t, 0, addr(0, m), 0);

        cr_assert(got == MACTAB_NO_PORT || got == model[m]);
        if (rng_below(&r, 1000) == 0) {
            flushed += entries(t);
            mactab_flush(t, port, -1);
            flushed -= entries(t);
        }
        mactab_learn(t, 0, addr(0, m), port, 0);
        model[m] = port;
        if (i % 100 == 0)
            cr_assert_eq(mactab_dump(t, &cursor, e, 64, 0), entries(t));
        cr_assert_leq(entries(t), 64);
    }
    cr_assert_eq(mactab_counters(t)->n_learned,
                 mactab_counters(t)->n_evicted + flushed + entries(t));
    mactab_flush(t, -1, -1);
    cr_assert_eq(entries(t), 0);
    mactab_destroy(t);
}

/* Which addresses meet depends on the secret: what collides in one table does
 * not in another. */
Test(mactab, seed_decides_what_collides)
{
    enum { N = 400 };
    struct mactab *t[2];
    int both = 0, refused[2] = {0, 0};

    for (int k = 0; k < 2; k++) {
        t[k] = mactab_create(16, N_PORTS, (uint64_t) k);
        cr_assert_not_null(t[k]);
        /* Ports in turn, so that none becomes larger than another. */
        for (uint32_t i = 0; i < N; i++)
            mactab_learn(t[k], 0, addr(0, i), (uint16_t) (i % 250), 0);
    }
    for (uint32_t i = 0; i < N; i++) {
        bool in0 = mactab_lookup(t[0], 0, addr(0, i), 0) >= 0;
        bool in1 = mactab_lookup(t[1], 0, addr(0, i), 0) >= 0;

        refused[0] += !in0;
        refused[1] += !in1;
        both += in0 != in1;
    }
    cr_assert(refused[0] > 300 && refused[1] > 300);
    cr_assert_gt(both, 0);
    mactab_destroy(t[0]);
    mactab_destroy(t[1]);
}

/* A batch is learned from and looked up as its frames would be one by one. */
Test(mactab, a_batch_is_what_its_frames_are)
{
    struct mactab *one = make_table(1024), *all = make_table(1024);
    struct pkt_pool *pool = pkt_pool_create(PKT_BATCH, 0, 128);
    struct pkt *p[PKT_BATCH];
    struct rng r = {.state = 5};
    uint64_t now_ns = TICK;

    mactab_set_ageing(one, 20 * TICK);
    mactab_set_ageing(all, 20 * TICK);
    pkt_alloc_bulk(pool, p, PKT_BATCH);
    for (int round = 0; round < 3000; round++) {
        uint32_t n = (uint32_t) (rng_u64(&r) % (PKT_BATCH + 1));
        uint16_t port = (uint16_t) (rng_u64(&r) % 4);
        int to[PKT_BATCH];

        for (uint32_t i = 0; i < n; i++) {
            memcpy(p[i]->data, addr(0, rng_u64(&r) % 3000), 6);
            memcpy(p[i]->data + 6, addr(0, rng_u64(&r) % 3000), 6);
            p[i]->data[0] |= rng_u64(&r) % 8 == 0;
            p[i]->vid = (uint16_t) (rng_u64(&r) % 2 * 4094);
        }
        mactab_switch(all, p, n, port, now_ns, to);
        for (uint32_t i = 0; i < n; i++) {
            mactab_learn(one, p[i]->vid, p[i]->data + 6, port, now_ns);
            cr_assert_eq(to[i],
                         mactab_lookup(one, p[i]->vid, p[i]->data, now_ns));
        }
        cr_assert_eq(memcmp(mactab_counters(one), mactab_counters(all),
                            sizeof(struct mactab_counters)),
                     0);
        now_ns += TICK / 8;
    }
    cr_assert_gt(mactab_counters(all)->n_moved, 1000);
    cr_assert_gt(mactab_counters(all)->n_aged, 0);
    pkt_pool_destroy(pool);
    mactab_destroy(one);
    mactab_destroy(all);
}
