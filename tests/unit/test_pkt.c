/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/pkt: the pool gives every buffer once, clones share one buffer until
 * the last reference, and the tag notes are carried out on the way out.
 */
#include "pkt/offload.h"
#include "pkt/share.h"

#include <criterion/criterion.h>

static const uint8_t untagged[] = {1, 2,  3,  4,  5,    6,    7,    8,
                                   9, 10, 11, 12, 0x08, 0x00, 0xaa, 0xbb};
static const uint8_t tagged[] = {1,    2,    3,    4,    5,    6,    7,
                                 8,    9,    10,   11,   12,   0x81, 0x00,
                                 0x60, 0x05, 0x08, 0x00, 0xaa, 0xbb};

static struct pkt *
frame(struct pkt_pool *pool, const uint8_t *bytes, size_t n)
{
    struct pkt *p = pkt_alloc(pool);

    memcpy(p->data, bytes, n);
    p->len = (uint32_t) n;
    return p;
}

Test(pkt, every_buffer_once_and_apart)
{
    struct pkt_pool *pool = pkt_pool_create(8, 0, 1522);
    struct pkt *p[8];

    for (int i = 0; i < 8; i++) {
        p[i] = pkt_alloc(pool);
        cr_assert_not_null(p[i]);
        cr_assert_eq(p[i]->in_port, PKT_NO_PORT);
        memset(p[i]->data - PKT_HEADROOM, i, PKT_HEADROOM + 1522);
    }
    cr_assert_eq(pkt_pool_n_free(pool), 0);
    cr_assert_null(pkt_alloc(pool));
    cr_assert_eq(pkt_pool_n_empty(pool), 1);
    for (int i = 0; i < 8; i++) {
        cr_assert_eq(p[i]->data[-PKT_HEADROOM], i);
        cr_assert_eq(p[i]->data[1521], i);
        pkt_free(p[i]);
    }
    cr_assert_eq(pkt_pool_n_free(pool), 8);
    pkt_pool_destroy(pool);
}

Test(pkt, clones_hold_the_buffer_until_the_last_goes)
{
    struct pkt_pool *pool = pkt_pool_create(1, 2, 100);
    struct pkt *p = frame(pool, untagged, sizeof(untagged));
    struct pkt *a, *b;

    p->charge_bytes = 16;
    a = pkt_clone(p);
    b = pkt_clone(a);
    cr_assert_null(pkt_clone(p));
    cr_assert_eq(b->owner, p);
    cr_assert_eq(b->data, p->data);
    cr_assert_eq(b->charge_bytes, 0);
    cr_assert_eq(p->n_refs, 3);
    pkt_free(p); /* the owner's descriptor first */
    cr_assert_eq(pkt_pool_n_free(pool), 0);
    cr_assert_not(pkt_is_last(a));
    pkt_free(a);
    cr_assert_eq(pkt_pool_n_free_clones(pool), 1);
    cr_assert(pkt_is_last(b));
    cr_assert_eq(b->owner->charge_bytes, 16);
    pkt_free(b);
    cr_assert_eq(pkt_pool_n_free(pool), 1);
    cr_assert_eq(pkt_pool_n_free_clones(pool), 2);
    pkt_pool_destroy(pool);
}

Test(pkt, a_tag_is_pushed_on_the_way_out)
{
    struct pkt_pool *pool = pkt_pool_create(1, 0, 100);
    struct pkt *p = frame(pool, untagged, sizeof(untagged));
    uint8_t out[64];

    p->tx_tag = true;
    p->tx_tpid = 0x8100;
    p->tx_tci = 0x6005;
    cr_assert_eq(pkt_tx_len(p), sizeof(tagged));
    cr_assert_eq(pkt_copy_out(p, out), sizeof(tagged));
    cr_assert_arr_eq(out, tagged, sizeof(tagged));
    cr_assert_arr_eq(p->data, untagged, sizeof(untagged));
    pkt_free(p);
    pkt_pool_destroy(pool);
}

Test(pkt, a_tag_is_taken_away_on_the_way_out)
{
    struct pkt_pool *pool = pkt_pool_create(1, 0, 100);
    struct pkt *p = frame(pool, tagged, sizeof(tagged));
    uint8_t out[64];

    p->tx_skip = 4;
    cr_assert_eq(pkt_tx_len(p), sizeof(untagged));
    cr_assert_eq(pkt_copy_out(p, out), sizeof(untagged));
    cr_assert_arr_eq(out, untagged, sizeof(untagged));
    pkt_free(p);
    pkt_pool_destroy(pool);
}

Test(pkt, a_tag_is_replaced_on_the_way_out)
{
    struct pkt_pool *pool = pkt_pool_create(1, 0, 100);
    struct pkt *p = frame(pool, tagged, sizeof(tagged));
    uint8_t out[64], want[sizeof(tagged)];

    memcpy(want, tagged, sizeof(tagged));
    want[14] = 0xa0;
    want[15] = 0x09;
    p->tx_skip = 4;
    p->tx_tag = true;
    p->tx_tpid = 0x8100;
    p->tx_tci = 0xa009;
    cr_assert_eq(pkt_copy_out(p, out), sizeof(want));
    cr_assert_arr_eq(out, want, sizeof(want));
    pkt_free(p);
    pkt_pool_destroy(pool);
}

/* The checksum as RFC 1071 has it; 0xffff over a header that holds it. */
static uint16_t
ip_sum(const uint8_t *ip)
{
    uint32_t sum = 0;

    for (int i = 0; i < 20; i += 2)
        sum += (uint32_t) (ip[i] << 8 | ip[i + 1]);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t) sum;
}

/* An IPv4 frame with `tags` octets of tags, TOS and identification as given,
 * and a right checksum. */
static uint32_t
ip4_frame(uint8_t *out, uint32_t tags, uint8_t tos, uint16_t id)
{
    uint8_t *ip = out + 14 + tags;
    uint16_t sum;

    for (uint32_t i = 0; i < 14 + tags + 40; i++)
        out[i] = (uint8_t) (i * 7 + id);
    ip[0] = 0x45;
    ip[1] = tos;
    ip[4] = (uint8_t) (id >> 8);
    ip[5] = (uint8_t) id;
    ip[10] = ip[11] = 0;
    sum = (uint16_t) ~ip_sum(ip);
    ip[10] = (uint8_t) (sum >> 8);
    ip[11] = (uint8_t) sum;
    return 14 + tags + 40;
}

Test(pkt, s11_dscp_and_ecn_of_ip4_change_on_the_way_out_with_the_checksum)
{
    struct pkt_pool *pool = pkt_pool_create(1, 1, 128);
    uint8_t out[128];

    for (uint32_t tags = 0; tags <= 8; tags += 4)
        for (uint32_t i = 0; i < 65536; i++) {
            struct pkt *p = pkt_alloc(pool), *copy;
            uint32_t l3 = 14 + tags, n;

            n = p->len = ip4_frame(p->data, tags, (uint8_t) i, (uint16_t) i);
            copy = pkt_clone(p);
            copy->tx_l3 = (uint8_t) l3;
            copy->tx_ds = (uint8_t) (i >> 8);
            cr_assert_eq(pkt_copy_out(copy, out), n);
            cr_assert_eq(ip_sum(out + l3), 0xffff, "%u", i);
            cr_assert_eq(out[l3 + 1], i >> 8);
            cr_assert_arr_eq(out, p->data, l3 + 1);
            cr_assert_arr_eq(out + l3 + 2, p->data + l3 + 2, 8);
            cr_assert_arr_eq(out + l3 + 12, p->data + l3 + 12, n - l3 - 12);
            cr_assert_eq(pkt_copy_out(p, out), n);
            cr_assert_arr_eq(out, p->data, n, "the frame itself stays");
            pkt_free(copy);
            pkt_free(p);
        }
    pkt_pool_destroy(pool);
}

Test(pkt, s11_a_checksum_that_was_wrong_stays_wrong)
{
    struct pkt_pool *pool = pkt_pool_create(1, 0, 128);
    struct pkt *p = pkt_alloc(pool);
    uint8_t out[128];

    p->len = ip4_frame(p->data, 0, 2, 77);
    p->data[24] ^= 0x10;
    p->tx_l3 = 14;
    p->tx_ds = 3;
    pkt_copy_out(p, out);
    cr_assert_neq(ip_sum(out + 14), 0xffff);
    pkt_free(p);
    pkt_pool_destroy(pool);
}

Test(pkt, s11_dscp_and_ecn_of_ip6_change_and_the_flow_label_stays)
{
    struct pkt_pool *pool = pkt_pool_create(1, 0, 128);

    for (uint32_t ds = 0; ds < 256; ds++) {
        struct pkt *p = pkt_alloc(pool);
        uint8_t out[128];

        p->len = 14 + 40 + 8;
        for (uint32_t i = 0; i < p->len; i++)
            p->data[i] = (uint8_t) (i * 5 + ds);
        p->data[14] = 0x6a;
        p->data[15] = 0x5c;
        p->tx_l3 = 14;
        p->tx_ds = (uint8_t) ds;
        cr_assert_eq(pkt_copy_out(p, out), p->len);
        cr_assert_eq(out[14], 0x60 | ds >> 4);
        cr_assert_eq(out[15], (ds & 15) << 4 | 0x0c);
        cr_assert_arr_eq(out, p->data, 14);
        cr_assert_arr_eq(out + 16, p->data + 16, p->len - 16);
        pkt_free(p);
    }
    pkt_pool_destroy(pool);
}

Test(pkt, s4_a_tag_and_a_dscp_change_together)
{
    struct pkt_pool *pool = pkt_pool_create(1, 0, 128);
    struct pkt *p = pkt_alloc(pool);
    uint8_t out[128], want[128];

    /* Two tags: the outer one goes, another one comes. */
    p->len = ip4_frame(p->data, 8, 0x10, 1);
    memcpy(want, p->data, p->len);
    memcpy(want + 12, (uint8_t[]){0x88, 0xa8, 0xa0, 0x09}, 4);
    p->tx_skip = 4;
    p->tx_tag = true;
    p->tx_tpid = 0x88a8;
    p->tx_tci = 0xa009;
    p->tx_l3 = 22;
    p->tx_ds = 0x69;
    cr_assert_eq(pkt_copy_out(p, out), p->len);
    want[23] = 0x69;
    memcpy(want + 32, out + 32, 2);
    cr_assert_eq(ip_sum(out + 22), 0xffff);
    cr_assert_arr_eq(out, want, p->len);
    /* The outer one goes. */
    p->tx_tag = false;
    cr_assert_eq(pkt_copy_out(p, out), p->len - 4);
    cr_assert_arr_eq(out, want, 12);
    cr_assert_arr_eq(out + 12, want + 16, p->len - 16);
    pkt_free(p);
    pkt_pool_destroy(pool);
}

Test(pkt, mac_control_finds_a_buffer_when_data_finds_none)
{
    struct pkt_pool *pool = pkt_pool_create(2, 0, 64);
    struct pkt *data[2], *ctl[PKT_N_CTL];

    for (int i = 0; i < 2; i++)
        data[i] = pkt_alloc(pool);
    cr_assert_eq(pkt_pool_n_free(pool), 0);
    cr_assert_null(pkt_alloc(pool));
    for (uint32_t i = 0; i < PKT_N_CTL; i++) {
        ctl[i] = pkt_alloc_ctl(pool);
        cr_assert_not_null(ctl[i]);
        memset(ctl[i]->data, 0xff, 64);
    }
    cr_assert_null(pkt_alloc_ctl(pool));
    pkt_free(data[0]);
    cr_assert_null(pkt_alloc(pool)); /* it makes up for those of ctl */
    for (uint32_t i = 0; i < PKT_N_CTL; i++)
        pkt_free(ctl[i]);
    cr_assert_eq(pkt_pool_n_free(pool), 1);
    pkt_free(data[1]);
    cr_assert_eq(pkt_pool_n_free(pool), 2);
    cr_assert_eq(pkt_pool_n_buffers(pool), 2);
    pkt_pool_destroy(pool);
}

Test(pkt, a_held_buffer_stays_in_use_till_it_is_let_go)
{
    struct pkt_pool *pool = pkt_pool_create(1, 1, 1522);
    struct pkt *p = frame(pool, untagged, sizeof(untagged));
    struct pkt *c = pkt_clone(p), *owner = p;

    cr_assert_not(pkt_is_last(p));
    pkt_hold(c);
    pkt_free(c);
    cr_assert(pkt_is_last(p), "a hold is no reference of the datapath");
    pkt_free(p);
    cr_assert_eq(pkt_pool_n_free(pool), 0);
    pkt_unhold(owner);
    cr_assert_eq(pkt_pool_n_free(pool), 1);
    p = pkt_alloc(pool);
    pkt_hold(p);
    pkt_unhold(p);
    cr_assert(pkt_is_last(p));
    pkt_free(p);
    cr_assert_eq(pkt_pool_n_free(pool), 1);
    pkt_pool_destroy(pool);
}

Test(pkt, holds_left_behind_end_when_buffers_are_short)
{
    struct pkt_pool *pool = pkt_pool_create(2, 0, 1522);
    struct pkt *owners[2 + PKT_N_CTL];

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 2; i++) {
            owners[i] = pkt_alloc(pool);
            pkt_hold(owners[i]);
            pkt_free(owners[i]);
        }
        cr_assert(pkt_leave(pool, owners, 2));
        cr_assert_eq(pkt_pool_n_free(pool), 0);
        pkt_free(pkt_alloc(pool));
        cr_assert_eq(pkt_pool_n_free(pool), 2);
    }
    pkt_pool_destroy(pool);
}

Test(pkt, spare_buffers_come_on_top_and_can_be_exchanged)
{
    struct pkt_pool *pool = pkt_pool_create(4, 0, 1522);
    uint32_t n = pkt_spare_left(pool);
    struct pkt *s[1100], *mine = pkt_alloc(pool), *was;
    size_t bytes;
    uint8_t *arena = pkt_pool_arena(pool, &bytes);

    cr_assert(n >= 1024 && n <= 1100);
    cr_assert_not(pkt_spare_take(pool, s, n + 1));
    cr_assert(pkt_spare_take(pool, s, n));
    cr_assert_not(pkt_spare_take(pool, s, 1));
    cr_assert_eq(pkt_pool_n_free(pool), 3);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t ofs = pkt_ofs(pool, s[i]->data);

        cr_assert(ofs - PKT_HEADROOM + 4096 <= bytes);
        cr_assert_eq(pkt_at(pool, ofs), s[i]);
        cr_assert_eq(pkt_at(pool, ofs - PKT_HEADROOM), s[i]);
        cr_assert_eq(pkt_at(pool, ofs + 1521), s[i]);
        cr_assert_eq(arena + ofs, s[i]->data);
    }
    cr_assert_eq(bytes % 4096, 0);
    was = s[0];
    s[0] = mine;
    pkt_free(was);
    cr_assert_eq(pkt_pool_n_free(pool), 4);
    pkt_spare_give(pool, s, n);
    cr_assert_eq(pkt_spare_left(pool), n);
    cr_assert(pkt_spare_take(pool, s, n));
    cr_assert_eq(pkt_pool_n_free(pool), 4);
    pkt_pool_destroy(pool);
}

/* As pkt_copy_out() would send it. */
Test(pkt, notes_are_carried_out_in_place_when_no_one_else_looks)
{
    struct pkt_pool *pool = pkt_pool_create(2, 2, 1522);

    for (int notes = 0; notes < 4; notes++) {
        bool is_tagged = notes & 1;
        struct pkt *p = is_tagged ? frame(pool, tagged, sizeof(tagged))
                                  : frame(pool, untagged, sizeof(untagged));
        struct pkt *c = pkt_clone(p);
        uint8_t want[64];
        uint32_t n;

        p->tx_skip = is_tagged ? 4 : 0;
        p->tx_tag = notes & 2;
        p->tx_tpid = 0x88a8;
        p->tx_tci = 0x6007;
        n = pkt_copy_out(p, want);
        cr_assert_not(pkt_flatten(p), "a clone looks");
        pkt_free(c);
        cr_assert(pkt_flatten(p));
        cr_assert_eq(p->len, n);
        cr_assert_eq(pkt_tx_len(p), n);
        cr_assert_arr_eq(p->data, want, n);
        pkt_free(p);
    }
    pkt_pool_destroy(pool);
}

Test(pkt, a_batch_is_taken_at_once_and_never_what_is_for_control)
{
    struct pkt_pool *pool = pkt_pool_create(10, 0, 1522);
    struct pkt *p[16], *ctl;

    cr_assert_eq(pkt_alloc_bulk(pool, p, 4), 4);
    cr_assert_eq(pkt_pool_n_free(pool), 6);
    for (int i = 0; i < 4; i++) {
        cr_assert(pkt_is_sole(p[i]));
        cr_assert_eq(p[i]->owner, p[i]);
        cr_assert_eq(p[i]->in_port, PKT_NO_PORT);
        for (int k = 0; k < i; k++)
            cr_assert_neq(p[i], p[k]);
    }
    cr_assert_eq(pkt_alloc_bulk(pool, p + 4, 12), 6);
    cr_assert_eq(pkt_pool_n_empty(pool), 1);
    cr_assert_eq(pkt_alloc_bulk(pool, p + 10, 1), 0);
    ctl = pkt_alloc_ctl(pool);
    cr_assert_not_null(ctl);
    pkt_free(ctl);
    for (int i = 0; i < 10; i++)
        pkt_free(p[i]);
    cr_assert_eq(pkt_pool_n_free(pool), 10);
    pkt_pool_destroy(pool);
}

/* A frame whose checksum is open is closed once, for all of its copies, by
 * whoever sends the first of them. */
Test(pkt, an_open_checksum_is_closed_for_all_copies)
{
    static const uint8_t udp[46] = {[12] = 8, [14] = 0x45, [42] = 0x12,
                                    0x34,     0x56,        0x78};
    struct pkt_pool *pool = pkt_pool_create(2, 2, 1522);
    struct pkt *p = frame(pool, udp, sizeof(udp)), *c;
    uint8_t out[64];

    pkt_leave_open(p, 34, 6);
    c = pkt_clone(p);
    cr_assert(pkt_is_open(p) && pkt_is_open(c));
    pkt_copy_out(c, out);
    cr_assert_not(pkt_is_open(p) || pkt_is_open(c));
    cr_assert_arr_eq(out + 40, "\x97\x53", 2); /* ~(1234 + 5678) */
    cr_assert_arr_eq(p->data + 40, "\x97\x53", 2);
    pkt_close(p);
    cr_assert_arr_eq(p->data + 40, "\x97\x53", 2);
    pkt_free(p);
    pkt_free(c);
    p = pkt_alloc(pool);
    cr_assert_not(p->has_offload, "the next frame has no note");
    pkt_free(p);
    pkt_pool_destroy(pool);
}
