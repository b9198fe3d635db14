/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of lib/ofconn: what is kept: multipart requests and replies, bundles,
 * frames in buffers; and its bounds.
 */
#include "ofconn_rig.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- multipart ------------------------------------------------------------
 */

Test(ofconn_multipart, replies)
{
    struct rig r;
    struct peer p;
    struct ofconn *c;

    rig_init(&r);
    c = open_conn(&r, &p, &controller);
    feed_now(c, "04120010 00000005 00010000 00000000", 8, 0);
    expect(&p, "04130010 00000005 00010000 00000000");
    feed_now(c, "0412000f 00000005 00010000 000000", 8, 0);
    expect(&p, "0401001b 00000005 00010006 0412000f 00000005 00010000 000000");
    r.n_entries = 100;
    feed_now(c, "04120014 00000006 00030000 00000000 aabbccdd", 9, 0);
    cr_assert_eq(p.n, 16 + 65000 + 16 + 35000);
    cr_assert(!memcmp(p.out, "\4\23\375\370\0\0\0\6\0\3\0\1\0\0\0\0", 16));
    cr_assert(
        !memcmp(p.out + 65016, "\4\23\210\310\0\0\0\6\0\3\0\0\0\0\0\0", 16));
    cr_assert_str_eq(r.log, "up4 mp1 of0 mp3 of4 ");
    cr_assert_eq(r.n_dumps, 0);
    ofconn_destroy(c);
    ofconn_switch_destroy(r.s);
    peer_uninit(&p);
}

Test(ofconn_multipart, statistics_of_1_0)
{
    script("01000008 00000001 0110000c 00000005 00010000",
           "0111000c 00000005 00010000", NULL);
}

Test(ofconn_multipart, long_reply_on_demand)
{
    struct rig r;
    struct peer p;
    struct ofconn *c;
    size_t total = 0;

    rig_init(&r);
    c = open_conn(&r, &p, &controller);
    r.n_entries = 10000;
    p.never_reads = true;
    feed_now(c, "04120010 00000005 00010000 00000000", 16, 0);
    for (int i = 0; i < 100 && r.n_dumps; i++) {
        cr_assert(p.unread < OFCONN_OUT_HIGH + 65536, "%zu", p.unread);
        cr_assert(!ofconn_is_ready(c) && !ofconn_wants_turn(c));
        ofconn_go_on(c, 0); /* nothing left: nothing is made */
        cr_assert_eq(p.n, p.unread);
        total += p.n;
        p.n = p.unread = 0;
        cr_assert(ofconn_wants_turn(c));
        ofconn_go_on(c, 0);
    }
    total += p.n;
    cr_assert_eq(total, 10000 * 1000 + 154 * 16);
    /* One that is not finished ends with the connection. */
    p.unread = p.n = 0;
    feed_now(c, "04120010 00000005 00010000 00000000", 16, 0);
    cr_assert_eq(r.n_dumps, 1);
    ofconn_destroy(c);
    cr_assert_eq(r.n_dumps, 0);
    ofconn_switch_destroy(r.s);
    peer_uninit(&p);
}

Test(ofconn_multipart, requests_in_segments)
{
    struct rig r;
    struct peer p;
    struct ofconn *c;

    rig_init(&r);
    c = open_conn(&r, &p, &controller);
    /* Two at a time, mixed. */
    feed_now(c,
             "04120014 00000005 000c0001 00000000 11111111"
             "04120014 00000006 000c0001 00000000 11111111"
             "04120014 00000005 000c0001 00000000 11111111"
             "04120010 00000006 000c0000 00000000",
             13, 0);
    expect(&p, "04130010 00000006 000c0000 00000000");
    feed_now(c, "04120018 00000005 000c0000 00000000 1111111111111111", 13, 0);
    expect(&p, "04130010 00000005 000c0000 00000000");
    cr_assert_str_eq(r.log, "up4 mp12 of4 mp12 of16 ");
    /* More at a time than there is room for. */
    feed_now(c,
             "04120010 00000001 000c0001 00000000"
             "04120010 00000002 000c0001 00000000"
             "04120010 00000003 000c0001 00000000"
             "04120010 00000004 000c0001 00000000",
             16, 0);
    expect(&p, "");
    feed_now(c, "04120010 00000005 000c0001 00000000", 16, 0);
    expect(&p, "0401001c 00000005 0001000d 04120010 00000005 000c0001"
               "00000000");
    /* What is never finished is forgotten. */
    ofconn_tick(c, 10 * S);
    p.n = 0;
    feed_now(c, "04120010 00000005 000c0001 00000000", 16, 10 * S);
    expect(&p, "");
    ofconn_destroy(c);
    ofconn_switch_destroy(r.s);
    peer_uninit(&p);
}

Test(ofconn_multipart, endless_request)
{
    struct rig r;
    struct peer p;
    struct ofconn *c;
    static uint8_t m[65000] = {4,           18,       65000 >> 8,
                               65000 & 255, [9] = 12, [11] = 1};

    rig_init(&r);
    c = open_conn(&r, &p, &controller);
    for (int i = 0; i < 40; i++)
        cr_assert_eq(ofconn_input(c, m, sizeof(m), 0), sizeof(m));
    cr_assert_eq(ofconn_counters(c)->n_errors, 1);
    cr_assert_geq(p.n, 12 + 64);
    ofconn_destroy(c);
    ofconn_switch_destroy(r.s); /* asserts that the budget is whole again */
    peer_uninit(&p);
}

/* --- bundles --------------------------------------------------------------
 */

#define CTRL(xid, id, type, flags) \
    "04040018 " xid " 4f4e4600 000008fc " id type flags
#define ADD(xid, id, flags, byte)                         \
    "04040024 " xid " 4f4e4600 000008fd " id "0000" flags \
    " 040e000c " xid byte "000000"
#define B_ERROR(n, xid, code) "040100" n xid "ffff" code " 4f4e4600 "

Test(ofconn_bundle, committed_in_order)
{
    struct rig r;
    struct peer p;
    struct ofconn *c;

    rig_init(&r);
    c = open_conn(&r, &p, &controller);
    feed_now(c, CTRL("00000001", "00000009", "0000", "0003"), 7, 0);
    expect(&p, CTRL("00000001", "00000009", "0001", "0003"));
    feed_now(c,
             ADD("00000002", "00000009", "0003", "11")
                 ADD("00000003", "00000009", "0003", "22"),
             7, 0);
    expect(&p, "");
    feed_now(c, CTRL("00000004", "00000009", "0002", "0003"), 7, 0);
    expect(&p, CTRL("00000004", "00000009", "0003", "0003"));
    /* The answer waits for the datapath. */
    feed_now(c, CTRL("00000005", "00000009", "0004", "0003"), 24, 0);
    expect(&p, "");
    cr_assert_str_eq(r.log, "up4 commit3 msg17 msg34 ");
    r.done = 1;
    ofconn_go_on(c, 0);
    expect(&p, CTRL("00000005", "00000009", "0005", "0003"));
    /* It is gone. */
    feed_now(c, CTRL("00000006", "00000009", "0004", "0003"), 24, 0);
    expect(&p, B_ERROR("28", "00000006", "08fe")
                   CTRL("00000006", "00000009", "0004", "0003"));
    cr_assert_eq(ofconn_counters(c)->n_bundles, 1);
    ofconn_destroy(c);
    ofconn_switch_destroy(r.s);
    peer_uninit(&p);
}

Test(ofconn_bundle, one_message_fails)
{
    struct rig r;
    struct peer p;
    struct ofconn *c;

    rig_init(&r);
    c = open_conn(&r, &p, &controller);
    r.fail_at = 1;
    /* Opened by the first that is added. */
    feed_now(c,
             ADD("00000002", "00000009", "0001", "11")
                 ADD("00000003", "00000009", "0001", "22"),
             7, 0);
    expect(&p, "");
    feed_now(c, CTRL("00000005", "00000009", "0004", "0001"), 7, 0);
    expect(&p, "04010018 00000003 00050003 040e000c 00000003 22000000" B_ERROR(
                   "28", "00000005", "0909")
                   CTRL("00000005", "00000009", "0004", "0001"));
    cr_assert_str_eq(r.log, "up4 ");
    ofconn_destroy(c);
    ofconn_switch_destroy(r.s);
    peer_uninit(&p);
}

/* What is wrong, and the code that it has; then whether the bundle, that was
 * opened before, is still there. */
static void
bundle_error(const char *in, const char *code, bool is_there)
{
    struct rig r;
    struct peer p;
    struct ofconn *c;
    uint8_t want[2], *m;

    rig_init(&r);
    c = open_conn(&r, &p, &controller);
    feed_now(c, CTRL("00000001", "00000009", "0000", "0001"), 24, 0);
    feed_now(c, in, 1, 0);
    unhex(code, want, 2);
    /* The last message is the one. */
    for (m = p.out; m + (m[2] << 8 | m[3]) < p.out + p.n;)
        m += m[2] << 8 | m[3];
    cr_assert(m[1] == 1 && !memcmp(m + 8, "\377\377", 2), "%s", in);
    cr_assert(!memcmp(m + 10, want, 2), "%02x%02x for %s", m[10], m[11], in);
    p.n = 0;
    feed_now(c, CTRL("00000001", "00000009", "0006", "0001"), 24, 0);
    cr_assert_eq(p.out[1] == 4, is_there, "%s", in);
    ofconn_destroy(c);
    ofconn_switch_destroy(r.s);
    peer_uninit(&p);
}

Test(ofconn_bundle, errors)
{
    bundle_error(CTRL("00000002", "00000009", "0000", "0001"), "08fe", false);
    bundle_error(CTRL("00000002", "0000000a", "0002", "0001"), "08fe", true);
    bundle_error(CTRL("00000002", "00000009", "0007", "0001"), "0902", true);
    bundle_error(CTRL("00000002", "00000009", "0001", "0001"), "0902", true);
    bundle_error(CTRL("00000002", "00000009", "0002", "0002"), "0903", false);
    bundle_error(CTRL("00000002", "00000009", "0004", "8001"), "0903", false);
    bundle_error(CTRL("00000002", "00000009", "0002", "0001")
                     ADD("00000003", "00000009", "0001", "11"),
                 "0900", false);
}

Test(ofconn_bundle, errors_of_messages)
{
    /* Wrong length, xid, type, flags. */
    bundle_error("04040024 00000002 4f4e4600 000008fd 00000009 00000001"
                 "040e000d 00000002 11000000",
                 "0904", true);
    bundle_error("04040024 00000002 4f4e4600 000008fd 00000009 00000001"
                 "040e0007 00000002 11000000",
                 "0904", true);
    bundle_error("0404001c 00000002 4f4e4600 000008fd 00000009 00000001"
                 "040e000d",
                 "0904", true);
    bundle_error("04040024 00000002 4f4e4600 000008fd 00000009 00000001"
                 "040e000c 00000003 11000000",
                 "0905", true);
    bundle_error("04040024 00000002 4f4e4600 000008fd 00000009 00000001"
                 "0402000c 00000002 11000000",
                 "0906", true);
    bundle_error("04040024 00000002 4f4e4600 000008fd 00000009 00000001"
                 "010e000c 00000002 11000000",
                 "0906", true);
    bundle_error(ADD("00000002", "00000009", "0003", "11"), "0903", false);
}

Test(ofconn_bundle, a_message_that_cannot_be_decoded)
{
    script(T_HELLO_13 ADD("00000002", "00000009", "0001", "bb"),
           "04010030 00000002 00040006" ADD("00000002", "00000009", "0001",
                                            "bb"),
           NULL);
}

Test(ofconn_bundle, bounds)
{
    struct rig r;
    struct peer p;
    struct ofconn *c;
    char one[128];
    static uint8_t big[65000];
    size_t n;

    rig_init(&r);
    c = open_conn(&r, &p, &controller);
    for (int i = 0; i < OFCONN_MAX_BUNDLES; i++) {
        snprintf(one, sizeof(one),
                 "04040018 00000001 4f4e4600 000008fc 000000%02x 00000001", i);
        feed_now(c, one, 24, 0);
    }
    cr_assert_eq(ofconn_counters(c)->n_errors, 0);
    p.n = 0;
    feed_now(c, CTRL("00000001", "00001111", "0000", "0001"), 24, 0);
    expect(&p, B_ERROR("28", "00000001", "0901")
                   CTRL("00000001", "00001111", "0000", "0001"));
    /* The budget ends it. */
    unhex("0404fde8 00000001 4f4e4600 000008fd 00000001 00000001"
          "040efdd0 00000001",
          big, 64);
    for (n = 0; !ofconn_counters(c)->n_errors || p.n == 0; n++) {
        cr_assert_lt(n, OFCONN_BUDGET / 64000);
        cr_assert_eq(ofconn_input(c, big, sizeof(big), 0), sizeof(big));
    }
    cr_assert(!memcmp(p.out + 8, "\377\377\11\10", 4), "too many");
    /* What lies idle goes. */
    cr_assert_eq(ofconn_tick(c, 1), 5 * S);
    ofconn_tick(c, 60 * S);
    p.n = 0;
    feed_now(c, CTRL("00000001", "00000002", "0006", "0001"), 24, 60 * S);
    cr_assert_eq(p.out[1], 1);
    ofconn_destroy(c);
    ofconn_switch_destroy(r.s);
    peer_uninit(&p);
}

/* --- buffers --------------------------------------------------------------
 */

Test(ofconn_buffers, a_ring)
{
    struct rig r;
    struct ofp_error e;
    const void *frame;
    size_t n;
    uint32_t first;

    rig_init(&r);
    cr_assert(!ofconn_buffer_get(r.s, 0, &frame, &n, &e));
    cr_assert(e.type == 1 && e.code == 8, "unknown");
    first = ofconn_buffer_put(r.s, "abc", 3);
    cr_assert(ofconn_buffer_get(r.s, first, &frame, &n, &e));
    cr_assert(n == 3 && !memcmp(frame, "abc", 3));
    ofconn_buffer_free(r.s, first);
    ofconn_buffer_free(r.s, first + 1);
    cr_assert(!ofconn_buffer_get(r.s, first, &frame, &n, &e));
    cr_assert(e.type == 1 && e.code == 7, "used");
    first = ofconn_buffer_put(r.s, "abc", 3);
    for (int i = 0; i < OFCONN_N_BUFFERS; i++)
        ofconn_buffer_put(r.s, "x", 1);
    cr_assert(!ofconn_buffer_get(r.s, first, &frame, &n, &e));
    cr_assert(e.code == 7, "gave way");
    cr_assert(!ofconn_buffer_get(r.s, UINT32_MAX, &frame, &n, &e));
    cr_assert(e.code == 8);
    ofconn_switch_destroy(r.s);
}
