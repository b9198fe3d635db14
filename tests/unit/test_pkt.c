/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/pkt: the pool gives every buffer once, clones share one buffer until
 * the last reference, and the tag notes are carried out on the way out.
 */
#include "pkt/pkt.h"

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
