/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of lib/ofconn: hello, errors, requests, silence, roles, what is told
 * unasked; scripts of bytes in virtual time, in pieces of several lengths.
 */
#include "ofconn_rig.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- hello ----------------------------------------------------------------
 */

Test(ofconn_hello, versions)
{
    /* Each followed by an echo, whose answer shows the version. */
    script("04000008 00000001 0402000c 00000007 61626364",
           "0403000c 00000007 61626364", NULL);
    script("01000008 00000001 01020008 00000007", "01030008 00000007", NULL);
    /* Higher ones, without and with a list; a list rules. */
    script("06000008 00000001 04020008 00000007", "04030008 00000007", NULL);
    script("06000010 00000001 00010008 00000070 04020008 00000007",
           "04030008 00000007", NULL);
    script("06000010 00000001 00010008 00000002 01020008 00000007",
           "01030008 00000007", NULL);
    /* Unknown elements before it, and one without its padding. */
    script("04000018 00000001 00070005 aa000000 00010008 00000010"
           "04020008 00000007",
           "04030008 00000007", NULL);
    script("0400000d 00000001 00070005 aa 04020008 00000007",
           "04030008 00000007", NULL);
}

Test(ofconn_hello, refused)
{
    script("03000008 00000009",
           "03010035 00000009 00000000"
           "776520737065616b2076657273696f6e73203078303120616e642030783034"
           "2c20796f752030783033",
           "you 0x03");
    script("06000010 00000001 00010008 00000060",
           "04010041 00000001 00000000"
           "776520737065616b2076657273696f6e73203078303120616e642030783034"
           "2c20796f75207468652062697473206f662030783630",
           "the bits of 0x60");
}

Test(ofconn_hello, bad)
{
    struct rig r;
    struct peer p = {.n = 0};
    static const char *const bad[] = {
        "04000008 00000001",                   /* good, so that all differ */
        "0400000a 00000001 0001",              /* an element in part */
        "04000010 00000001 00010003 00000010", /* shorter than its head */
        "04000010 00000001 00010010 00000010", /* longer than the message */
        "0400000c 00000001 00010004",          /* a list without a word */
        "04020008 00000001",                   /* no hello */
        "04000007 00000001",                   /* no room for a header */
    };

    rig_init(&r);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct ofconn *c = ofconn_create(r.s, &controller, &rig_io, &p, 0);

        p.n = 0;
        feed_now(c, bad[i], 100, 0);
        cr_assert_eq(!ofconn_over(c), i == 0, "%s", bad[i]);
        if (i)
            cr_assert(p.n > 12 && p.out[1] == 1 && p.out[9] == (i == 6), "%s",
                      bad[i]);
        ofconn_destroy(c);
    }
    ofconn_switch_destroy(r.s);
    peer_uninit(&p);
}

Test(ofconn_hello, none_in_time)
{
    struct rig r;
    struct peer p = {.n = 0};
    struct ofconn *c;

    rig_init(&r);
    c = ofconn_create(r.s, &controller, &rig_io, &p, 5 * S);
    cr_assert_eq(ofconn_tick(c, 14 * S), 15 * S);
    cr_assert_null(ofconn_over(c));
    ofconn_tick(c, 15 * S);
    cr_assert_str_eq(ofconn_over(c), "no hello within 10000 ms");
    ofconn_destroy(c);
    ofconn_switch_destroy(r.s);
    peer_uninit(&p);
    cr_assert_str_eq(r.log, "", "never up, never down");
}

/* --- errors ---------------------------------------------------------------
 */

Test(ofconn_errors, of_requests)
{
    /* Unknown type; a type that only switches send; wrong version; short
     * experimenter; unknown one; ONF's unknown type; wrong lengths. */
    script(T_HELLO_13 "04630009 0000000a 55",
           "04010015 0000000a 00010001 04630009 0000000a 55", NULL);
    script(T_HELLO_13 "04060008 0000000b",
           "04010014 0000000b 00010001 04060008 0000000b", NULL);
    script(T_HELLO_13 "01020008 0000000c",
           "04010014 0000000c 00010000 01020008 0000000c", NULL);
    script(T_HELLO_13 "0404000c 0000000d 00002320",
           "04010018 0000000d 00010006 0404000c 0000000d 00002320", NULL);
    script(T_HELLO_13 "04040010 0000000d 00002320 00000010",
           "0401001c 0000000d 00010003 04040010 0000000d 00002320 00000010",
           NULL);
    script(T_HELLO_13 "04040010 0000000d 4f4e4600 00000010",
           "0401001c 0000000d 00010004 04040010 0000000d 4f4e4600 00000010",
           NULL);
    script(T_HELLO_13 "04140009 0000000e 00",
           "04010015 0000000e 00010006 04140009 0000000e 00", NULL);
    /* What the switch says; and the connection goes on. */
    script(T_HELLO_13 "040e000c 0000000f ee000000 04020008 00000010",
           "04010018 0000000f 00050001 040e000c 0000000f ee000000"
           "04030008 00000010",
           NULL);
}

Test(ofconn_errors, in_words_of_1_0)
{
    script("01000008 00000001 010e000c 0000000f ee000000",
           "01010018 0000000f 00030000 010e000c 0000000f ee000000", NULL);
    script("01000008 00000001 01180008 0000000f",
           "01010014 0000000f 00010001 01180008 0000000f", NULL);
    script("01000008 00000001 0110000c 0000000f 00630000",
           "01010018 0000000f 00010002 0110000c 0000000f 00630000", NULL);
}

Test(ofconn_errors, have_64_octets)
{
    struct rig r;
    struct peer p;
    struct ofconn *c;
    uint8_t m[100] = {4, 99, 0, 100, 0, 0, 0, 5, [63] = 63, [64] = 64};

    rig_init(&r);
    c = open_conn(&r, &p, &controller);
    cr_assert_eq(ofconn_input(c, m, 100, 0), 100);
    cr_assert_geq(p.n, 12 + 64);
    cr_assert(!memcmp(p.out + 12, m, p.n - 12));
    cr_assert_eq(ofconn_counters(c)->n_errors, 1);
    ofconn_destroy(c);
    ofconn_switch_destroy(r.s);
    peer_uninit(&p);
}

Test(ofconn_errors, framing_is_lost)
{
    script(T_HELLO_13 "04020004 00000005 04020008 00000006",
           "04010014 00000005 00010006 04020004 00000005", "no room");
}

/* --- requests -------------------------------------------------------------
 */

Test(ofconn_requests, config)
{
    script(T_HELLO_13 "04070008 00000002", "0408000c 00000002 00000080", NULL);
    script(T_HELLO_13 "0409000c 00000002 0001ffff 04070008 00000003",
           "0408000c 00000003 0001ffff", NULL);
    script(T_HELLO_13 "0409000c 00000002 0002ffff 04070008 00000003",
           "04010018 00000002 000a0000 0409000c 00000002 0002ffff"
           "0408000c 00000003 00000080",
           NULL);
}

Test(ofconn_requests, reach_the_switch_in_order)
{
    struct rig r;
    struct peer p;
    struct ofconn *c;

    rig_init(&r);
    c = open_conn(&r, &p, &controller);
    feed_now(c,
             "04050008 00000002 040d0008 00000003 040e0008 00000004"
             "040f0008 00000005 04100008 00000006 04110008 00000007"
             "04160008 00000008 041d0008 00000009",
             11, 0);
    cr_assert_str_eq(r.log,
                     "up4 req5 req13 req14 req15 req16 req17 req22 req29 ");
    cr_assert_eq(ofconn_counters(c)->n_in, 9);
    ofconn_destroy(c);
    cr_assert_str_eq(r.log + strlen(r.log) - 6, "down4 ");
    ofconn_switch_destroy(r.s);
    peer_uninit(&p);
}

Test(ofconn_requests, barrier_waits_for_the_datapath)
{
    static const uint8_t two[] = {4, 20, 0, 8, 0, 0, 0, 2,
                                  4, 2,  0, 8, 0, 0, 0, 3};
    struct rig r;
    struct peer p;
    struct ofconn *c;

    rig_init(&r);
    c = open_conn(&r, &p, &controller);
    feed_now(c, "040e0008 00000001", 8, 0);
    cr_assert_eq(ofconn_input(c, two, 16, 0), 8, "no more before the reply");
    expect(&p, "");
    cr_assert(!ofconn_is_ready(c) && ofconn_waits_for_switch(c));
    ofconn_go_on(c, 0);
    expect(&p, "");
    r.done = 1;
    ofconn_go_on(c, 0);
    expect(&p, "04150008 00000002");
    cr_assert_eq(ofconn_input(c, two + 8, 8, 0), 8);
    expect(&p, "04030008 00000003");
    ofconn_destroy(c);
    ofconn_switch_destroy(r.s);
    peer_uninit(&p);
}

Test(ofconn_requests, wait_for_room)
{
    struct rig r;
    struct peer p;
    struct ofconn *c;

    for (size_t piece = 1; piece <= 8; piece += 7) {
        rig_init(&r);
        c = open_conn(&r, &p, &controller);
        r.is_full = true;
        feed_now(c, "040e0008 00000001", piece, 0);
        cr_assert(!ofconn_is_ready(c) && ofconn_waits_for_switch(c));
        cr_assert_eq(ofconn_input(c, (const uint8_t *) "x", 1, 0), 0);
        ofconn_go_on(c, 0);
        cr_assert(!ofconn_is_ready(c));
        r.is_full = false;
        ofconn_go_on(c, 0);
        cr_assert(ofconn_is_ready(c));
        cr_assert_str_eq(r.log, "up4 req14 ", "once, not twice");
        /* And what waits is freed with the connection. */
        r.is_full = true;
        feed_now(c, "040e0008 00000001", piece, 0);
        ofconn_destroy(c);
        ofconn_switch_destroy(r.s);
        peer_uninit(&p);
    }
}

Test(ofconn_requests, one_turn_is_bounded)
{
    struct rig r;
    struct peer p;
    struct ofconn *c;
    uint8_t many[8 * 1000];

    rig_init(&r);
    c = open_conn(&r, &p, &controller);
    for (int i = 0; i < 1000; i++)
        memcpy(many + 8 * i, "\4\2\0\10\0\0\0\1", 8);
    cr_assert_eq(ofconn_input(c, many, sizeof(many), 0), 8 * OFCONN_TURN);
    cr_assert(ofconn_is_ready(c));
    ofconn_destroy(c);
    ofconn_switch_destroy(r.s);
    peer_uninit(&p);
}

/* --- silence --------------------------------------------------------------
 */

Test(ofconn_probe, asks_and_ends)
{
    struct rig r;
    struct peer p;
    struct ofconn *c;

    rig_init(&r);
    c = open_conn(&r, &p, &controller);
    cr_assert_eq(ofconn_tick(c, 1 * S), 5 * S);
    expect(&p, "");
    cr_assert_eq(ofconn_tick(c, 5 * S), 10 * S);
    expect(&p, "04020008 00000002");
    /* Any octet is a sign of life. */
    feed_now(c, "04", 1, 9 * S);
    cr_assert_eq(ofconn_tick(c, 10 * S), 14 * S);
    cr_assert_eq(ofconn_tick(c, 14 * S), 19 * S);
    expect(&p, "04020008 00000003");
    /* So is what it takes. */
    ofconn_has_sent(c, 18 * S);
    cr_assert_eq(ofconn_tick(c, 19 * S), 23 * S);
    cr_assert_eq(ofconn_tick(c, 23 * S), 28 * S);
    cr_assert_eq(ofconn_tick(c, 28 * S), UINT64_MAX);
    cr_assert_str_eq(ofconn_over(c),
                     "no answer to an echo request for 5000 ms");
    cr_assert_str_eq(r.log, "up4 down4 ");
    ofconn_destroy(c);
    ofconn_switch_destroy(r.s);
    peer_uninit(&p);
}

/* --- roles and what is told unasked ---------------------------------------
 */

Test(ofconn_role, master_demotes_and_numbers_age)
{
    struct rig r;
    struct peer p, q;
    struct ofconn *a, *b;

    rig_init(&r);
    a = open_conn(&r, &p, &controller);
    b = open_conn(&r, &q, &controller);
    /* Nochange asks. */
    feed_now(a, "04180018 00000001 00000000 00000000 0000000000000000", 7, 0);
    expect(&p, "04190018 00000001 00000001 00000000 ffffffffffffffff");
    feed_now(a, "04180018 00000002 00000002 00000000 0000000000000005", 7, 0);
    expect(&p, "04190018 00000002 00000002 00000000 0000000000000005");
    feed_now(b, "04180018 00000003 00000002 00000000 0000000000000006", 7, 0);
    expect(&q, "04190018 00000003 00000002 00000000 0000000000000006");
    cr_assert_eq(ofconn_role(a), OFCONN_SLAVE);
    expect(&p, "");
    /* Older numbers are stale for both of the roles that have one. */
    feed_now(a, "04180018 00000004 00000003 00000000 0000000000000005", 99, 0);
    expect(&p, "04010024 00000004 000b0000"
               "04180018 00000004 00000003 00000000 0000000000000005");
    /* In a circle: half of all numbers are newer. */
    feed_now(a, "04180018 00000004 00000003 00000000 8000000000000005", 99, 0);
    expect(&p, "04190018 00000004 00000003 00000000 8000000000000005");
    feed_now(a, "04180018 00000005 00000004 00000000 0000000000000009", 99, 0);
    expect(&p, "04010024 00000005 000b0002"
               "04180018 00000005 00000004 00000000 0000000000000009");
    /* A slave changes nothing, but may ask. */
    feed_now(a, "040e0008 00000006", 8, 0);
    expect(&p, "04010014 00000006 0001000a 040e0008 00000006");
    feed_now(a, "04120018 00000007 000c0000 00000000 0000000000000000", 24, 0);
    expect(&p, "04010024 00000007 0001000a"
               "04120018 00000007 000c0000 00000000 0000000000000000");
    feed_now(a, "04050008 00000008", 8, 0);
    expect(&p, "");
    /* Equal again, without a number. */
    feed_now(a, "04180018 00000009 00000001 00000000 0000000000000000", 8, 0);
    expect(&p, "04190018 00000009 00000001 00000000 8000000000000005");
    feed_now(a, "040e0008 0000000a", 8, 0);
    expect(&p, "");
    cr_assert_str_eq(r.log, "up4 up4 req5 req14 ");
    ofconn_destroy(a);
    ofconn_destroy(b);
    ofconn_switch_destroy(r.s);
    peer_uninit(&p);
    peer_uninit(&q);
}

Test(ofconn_async, filters)
{
    struct rig r;
    struct peer p;
    struct ofconn *c;

    rig_init(&r);
    c = open_conn(&r, &p, &controller);
    cr_assert(ofconn_wants(c, OFCONN_PACKET_IN, 0));
    cr_assert(ofconn_wants(c, OFCONN_PACKET_IN, 1));
    cr_assert(!ofconn_wants(c, OFCONN_PACKET_IN, 2), "invalid ttl");
    cr_assert(!ofconn_wants(c, OFCONN_PACKET_IN, 255), "no such bit");
    cr_assert(ofconn_wants(c, OFCONN_PORT_STATUS, 2));
    cr_assert(ofconn_wants(c, OFCONN_FLOW_REMOVED, 3));
    feed_now(c, "041a0008 00000001", 8, 0);
    expect(&p, "041b0020 00000001 00000003 00000000 00000007 00000007"
               "0000000f 00000000");
    feed_now(c,
             "041c0020 00000002 00000004 00000001 00000000 00000002"
             "00000001 00000000",
             8, 0);
    cr_assert(!ofconn_wants(c, OFCONN_PACKET_IN, 0));
    cr_assert(ofconn_wants(c, OFCONN_PACKET_IN, 2));
    cr_assert(!ofconn_wants(c, OFCONN_PORT_STATUS, 1));
    feed_now(c, "04180018 00000003 00000003 00000000 0000000000000001", 8, 0);
    cr_assert(ofconn_wants(c, OFCONN_PACKET_IN, 0));
    cr_assert(ofconn_wants(c, OFCONN_PORT_STATUS, 1));
    cr_assert(!ofconn_wants(c, OFCONN_FLOW_REMOVED, 0));
    ofconn_destroy(c);
    ofconn_switch_destroy(r.s);
    peer_uninit(&p);
}

Test(ofconn_async, a_service_hears_nothing_before_it_asks)
{
    static const struct ofconn_conf service = {true, 0, 10 * S};
    struct rig r;
    struct peer p;
    struct ofconn *c;

    rig_init(&r);
    c = open_conn(&r, &p, &service);
    cr_assert(!ofconn_wants(c, OFCONN_PACKET_IN, 0));
    feed_now(c, "0409000c 00000002 00000040", 8, 0);
    cr_assert(ofconn_wants(c, OFCONN_PACKET_IN, 0));
    cr_assert_eq(ofconn_miss_send_len(c), 64);
    cr_assert_eq(ofconn_tick(c, 1000 * S), UINT64_MAX, "not probed");
    ofconn_destroy(c);
    ofconn_switch_destroy(r.s);
    peer_uninit(&p);
}

Test(ofconn_async, who_does_not_read_gets_no_more)
{
    struct rig r;
    struct peer p;
    struct ofconn *c;
    uint8_t m[1000] = {4, 10};

    rig_init(&r);
    c = open_conn(&r, &p, &controller);
    p.never_reads = true;
    for (int i = 0; i < 1000; i++)
        ofconn_send_async(c, OFCONN_PACKET_IN, m, sizeof(m));
    cr_assert(p.unread >= OFCONN_OUT_HIGH &&
              p.unread < OFCONN_OUT_HIGH + 1000);
    cr_assert_eq(ofconn_counters(c)->n_async[OFCONN_PACKET_IN], 263);
    cr_assert_eq(ofconn_counters(c)->n_dropped[OFCONN_PACKET_IN], 737);
    /* Nothing of it is executed; others may go on. */
    cr_assert_eq(ofconn_input(c, (const uint8_t *) "\4\2\0\10\0\0\0\1", 8, 0),
                 0);
    /* It is told of ports and flows yet, up to a bound; then it is over. */
    for (int i = 0; i < 1000; i++)
        ofconn_send_async(c, OFCONN_PORT_STATUS, m, sizeof(m));
    cr_assert(p.unread < OFCONN_OUT_MAX + 1000);
    cr_assert(ofconn_over(c) && strstr(ofconn_over(c), "does not read"));
    ofconn_destroy(c);
    ofconn_switch_destroy(r.s);
    peer_uninit(&p);
}
