/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/dp with cables that are emulated, pfc-semantics sections 2 and 6: frames
 * and PFC frames are under way for exactly the delay, and headroom that is
 * right to the frame loses nothing, while one frame less loses one.  The rig
 * audits the books after every turn.
 */
#include "tests/unit/dp_rig.h"

#define P(n)    (1u << (n))
#define DELAY   (100 * NS_PER_US)
#define ROOM    (1 << 20)
#define LEN     1000
#define FRAME_T (10 * NS_PER_US) /* 800 Mb/s */

static struct rig rig;

static void
uninit(void)
{
    rig_uninit(&rig);
}

TestSuite(dp_cable, .fini = uninit);

static void
set_cable(uint32_t port, uint64_t delay_ns, uint64_t bytes)
{
    rig.conf[port].cable_delay_ns = delay_ns;
    rig.conf[port].cable_bytes = bytes;
}

/* Frames from port 0 to port 1, which has the cable. */
static void
start(uint64_t delay_ns, uint64_t bytes)
{
    rig_init(&rig, 2);
    rig_learn(&rig, NO_TAG);
    rig.conf[1].pfc.honoured = P(3);
    set_cable(1, delay_ns, bytes);
    rig_apply(&rig);
    rig_drain(&rig, 1);
}

static void
offer(uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        rig_send(&rig, 0, HOST(1), HOST(0), 3 << 13, LEN, first + i);
    rig_settle(&rig);
}

/* The next n frames that left port 1 are first, first + 1, ... */
static void
take(uint32_t first, uint32_t n)
{
    uint8_t frame[2048];

    for (uint32_t i = 0; i < n; i++) {
        uint32_t len = rig_take(&rig, 1, frame);

        cr_assert_eq(len, LEN, "frame %u", first + i);
        cr_assert_eq(rig_seq(frame, len), first + i);
    }
    cr_assert_eq(rig_take(&rig, 1, frame), 0);
}

Test(dp_cable, s6_a_frame_is_under_way_for_exactly_the_delay)
{
    const struct dp_port_counters *n;

    start(DELAY, ROOM);
    n = rig_n(&rig, 1);
    uint64_t sent = n->tx_frames;

    offer(0, 5);
    cr_assert_eq(rig.next_ns, rig.now_ns + DELAY);
    /* It has left the buffers, and was not sent yet. */
    cr_assert_eq(dp_port_group(rig.state[0], 3)->n_held, 0);
    cr_assert_eq(n->q_frames[3], 0);
    cr_assert_eq(n->q_tx_frames[3], 5);
    cr_assert_eq(n->held, 5);
    cr_assert_eq(n->cable_frames, 5);
    cr_assert_eq(n->cable_bytes, 5 * LEN);
    cr_assert_eq(n->tx_frames, sent);
    rig_run(&rig, DELAY - 1);
    take(0, 0);
    rig_run(&rig, 1);
    rig_settle(&rig);
    take(0, 5);
    cr_assert_eq(n->tx_frames, sent + 5);
    cr_assert_eq(n->held, 0);
    cr_assert_eq(n->cable_frames, 0);
    cr_assert_eq(rig.next_ns, CLOCK_NEVER);
}

/* As on a real wire. */
Test(dp_cable, s2_a_pause_stops_the_queue_not_what_is_on_the_cable)
{
    start(DELAY, ROOM);
    offer(0, 3);
    rig_pfc(&rig, 1, P(3), 65535);
    offer(3, 4);
    cr_assert_eq(rig_n(&rig, 1)->cable_frames, 3);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[3], 4);
    rig_run(&rig, 2 * DELAY);
    take(0, 3);
    rig_pfc(&rig, 1, P(3), 0);
    rig_settle(&rig);
    rig_run(&rig, DELAY - 1);
    take(3, 0);
    rig_run(&rig, 1);
    rig_settle(&rig);
    take(3, 4);
}

/* A sender at the far end of port 0's cable, which has the same delay in the
 * other direction: a frame each FRAME_T until it sees an XOFF.  Returns how
 * many frames it sent. */
static uint32_t
send_till_xoff(uint64_t delay_ns, uint32_t limit_frames, uint64_t headroom)
{
    bool sent[1000], stopped = false;
    uint32_t away = (uint32_t) (delay_ns / FRAME_T), n = 0;
    uint8_t frame[2048];
    struct macctl m;

    rig_init(&rig, 2);
    rig_learn(&rig, NO_TAG);
    rig_lossless(&rig, 0, P(3), (uint64_t) limit_frames * LEN, headroom);
    rig.conf[1].pfc.honoured = P(3);
    set_cable(0, delay_ns, ROOM);
    rig_apply(&rig);
    rig_drain(&rig, 0);
    rig_pfc(&rig, 1, P(3), 65535);
    rig_settle(&rig);
    for (uint32_t i = 0; i < limit_frames + 3 * away + 3; i++) {
        uint32_t len;

        if (i >= away && sent[i - away])
            rig_send(&rig, 0, HOST(1), HOST(0), 3 << 13, LEN, i);
        rig_settle(&rig);
        len = rig_take(&rig, 0, frame);
        if (len && macctl_decode(frame, len, &m) == MACCTL_PFC)
            stopped = m.enable == P(3) && m.time[3] > 0;
        sent[i] = !stopped;
        n += sent[i];
        if (!away && sent[i])
            rig_send(&rig, 0, HOST(1), HOST(0), 3 << 13, LEN, i);
        rig_run(&rig, FRAME_T);
    }
    rig_settle(&rig);
    cr_assert(stopped);
    return n;
}

/* From the frame that makes XOFF, 2 x delay x rate less a frame are still to
 * come: 19 of 1000 octets at 800 Mb/s and 100 us. */
#define LATE_FRAMES (2 * DELAY / FRAME_T - 1)

Test(dp_cable, s6_headroom_that_is_right_to_the_frame_loses_nothing)
{
    uint32_t n = send_till_xoff(DELAY, 10, LATE_FRAMES * LEN);

    cr_assert_eq(n, 10 + LATE_FRAMES);
    cr_assert_eq(rig_n(&rig, 0)->drops[DP_DROP_HEADROOM_EXCEEDED], 0);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[3], n);
    cr_assert_eq(dp_port_group(rig.state[0], 3)->headroom_used,
                 LATE_FRAMES * LEN);
}

Test(dp_cable, s6_headroom_one_frame_short_loses_that_frame)
{
    uint32_t n = send_till_xoff(DELAY, 10, (LATE_FRAMES - 1) * LEN);

    cr_assert_eq(rig_n(&rig, 0)->drops[DP_DROP_HEADROOM_EXCEEDED], 1);
    cr_assert_eq(rig_n(&rig, 0)->violations[3], 1);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[3], n - 1);
}

Test(dp_cable, s6_headroom_one_octet_short_loses_that_frame)
{
    send_till_xoff(DELAY, 10, LATE_FRAMES * LEN - 1);
    cr_assert_eq(rig_n(&rig, 0)->violations[3], 1);
}

/* Each metre counts: the boundary moves with the delay. */
Test(dp_cable, s6_the_boundary_follows_the_cable)
{
    for (uint64_t away = 1; away <= 40; away += 13) {
        uint64_t late = 2 * away - 1;

        send_till_xoff(away * FRAME_T, 5, late * LEN);
        cr_assert_eq(rig_n(&rig, 0)->violations[3], 0, "%d", (int) away);
        rig_uninit(&rig);
        send_till_xoff(away * FRAME_T, 5, late * LEN - 1);
        cr_assert_eq(rig_n(&rig, 0)->violations[3], 1, "%d", (int) away);
        rig_uninit(&rig);
    }
    rig_init(&rig, 1);
}

Test(dp_cable, s6_a_cable_changes_under_traffic_in_order_without_loss)
{
    static const uint64_t delays[] = {DELAY,     3 * DELAY, DELAY / 7, 0,
                                      DELAY / 2, 0,         5 * DELAY, 1};
    uint32_t seq = 0;

    start(DELAY, ROOM);
    for (size_t i = 0; i < sizeof(delays) / sizeof(delays[0]); i++) {
        set_cable(1, delays[i], ROOM + i * 4096); /* another memory, too */
        offer(seq, 3);
        rig_apply(&rig);
        offer(seq + 3, 4);
        rig_run(&rig, DELAY / 20);
        seq += 7;
    }
    rig_run(&rig, 20 * DELAY);
    rig_settle(&rig);
    take(0, seq);
    cr_assert_eq(rig_n(&rig, 1)->cable_frames, 0);
    set_cable(1, 0, 0);
    rig_apply(&rig);
    offer(seq, 1);
    take(seq, 1); /* at once */
}

/* What a provider does not take waits on the cable, what the cable does not
 * take, in its queue. */
Test(dp_cable, a_full_cable_and_a_slow_provider_lose_nothing)
{
    start(DELAY, 8192 + 20 * (LEN + 32));
    offer(0, 50);
    cr_assert_gt(rig_n(&rig, 1)->q_frames[3], 0);
    cr_assert_gt(rig_n(&rig, 1)->cable_frames, 0);
    netdev_mem_set_tx_limit(rig.nd[1], 0);
    rig_run(&rig, 3 * DELAY);
    take(0, 0);
    netdev_mem_set_tx_limit(rig.nd[1], 3);
    rig_run(&rig, 50 * DELAY);
    rig_settle(&rig);
    take(0, 50);
    cr_assert_eq(rig_n(&rig, 1)->held, 0);
}

/* Nobody waits for a cable that is taken away: what is on it leaves at once,
 * and the XON of a pause right behind. */
Test(dp_cable, s3_a_port_that_goes_sends_what_is_on_its_cable)
{
    uint8_t frame[2048];
    struct macctl m;
    uint32_t len;

    start(DELAY, ROOM);
    rig_lossless(&rig, 1, P(3), 2000, 10000);
    rig.conf[0].pfc.honoured = P(3);
    rig_apply(&rig);
    rig_pfc(&rig, 0, P(3), 65535);
    rig_send(&rig, 1, HOST(0), HOST(1), 3 << 13, 1500, 0);
    rig_send(&rig, 1, HOST(0), HOST(1), 3 << 13, 1500, 1);
    offer(7, 2); /* and the XOFF is on the cable */
    rig.in[1] = false;
    rig_apply(&rig);
    len = rig_take(&rig, 1, frame);
    cr_assert_eq(macctl_decode(frame, len, &m), MACCTL_PFC);
    cr_assert_gt(m.time[3], 0);
    for (uint32_t i = 7; i < 9; i++)
        cr_assert_eq(rig_seq(frame, rig_take(&rig, 1, frame)), i);
    len = rig_take(&rig, 1, frame);
    cr_assert_eq(macctl_decode(frame, len, &m), MACCTL_PFC);
    cr_assert_eq(m.time[3], 0);
    cr_assert_eq(rig_take(&rig, 1, frame), 0);
}

Test(dp_cable, an_interface_that_goes_loses_what_is_on_the_cable_and_says_so)
{
    start(DELAY, ROOM);
    offer(0, 5);
    netdev_mem_set_down(rig.nd[1], true);
    rig_run(&rig, 2 * DELAY);
    cr_assert_eq(rig_n(&rig, 1)->drops[DP_DROP_PORT_DOWN], 5);
    cr_assert_eq(rig_n(&rig, 1)->queue_drops[3][DP_DROP_PORT_DOWN], 5);
    cr_assert_eq(rig_n(&rig, 1)->held, 0);
}

Test(dp_cable, s3_releasing_pauses_does_not_wait_for_the_cable)
{
    uint8_t frame[2048];
    struct macctl m;

    start(DELAY, ROOM);
    rig_lossless(&rig, 1, P(3), 2000, 10000);
    rig.conf[0].pfc.honoured = P(3);
    rig_apply(&rig);
    rig_pfc(&rig, 0, P(3), 65535);
    rig_send(&rig, 1, HOST(0), HOST(1), 3 << 13, 1500, 0);
    rig_send(&rig, 1, HOST(0), HOST(1), 3 << 13, 1500, 1);
    rig_settle(&rig);
    cr_assert(dp_release_pauses(rig.dp, rig.now_ns));
    for (int xoff = 1; xoff >= 0; xoff--) {
        uint32_t len = rig_take(&rig, 1, frame);

        cr_assert_eq(macctl_decode(frame, len, &m), MACCTL_PFC);
        cr_assert_eq(m.time[3] > 0, xoff);
    }
}
