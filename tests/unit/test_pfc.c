/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/qos/pfc: being paused and pausing, pfc-semantics sections 2, 3, 8, 10.
 */
#include "qos/pfc.h"

#include "base/clock.h"
#include "base/rng.h"

#include <criterion/criterion.h>
#include <string.h>

#define RATE    UINT64_C(100000000) /* 100 Mb/s: a quantum is 5120 ns */
#define QUANTUM UINT64_C(5120)
#define LONGEST (65535 * QUANTUM)

static const uint8_t mac[6] = {2, 0, 0, 0, 0, 1};

static struct pfc
make_pfc(uint8_t enabled, uint8_t honoured)
{
    const struct pfc_conf conf = {.rate_bps = RATE,
                                  .quanta = PFC_QUANTA_DEFAULT,
                                  .enabled = enabled,
                                  .honoured = honoured};
    struct pfc pfc;

    pfc_init(&pfc, &conf);
    return pfc;
}

static void
receive(struct pfc *pfc, uint8_t enable, uint16_t time, uint64_t now)
{
    struct macctl m = {.kind = MACCTL_PFC, .enable = enable};

    for (int p = 0; p < N_PRIO; p++)
        m.time[p] = enable & (1u << p) ? time : 0;
    pfc_rx(pfc, &m, now);
}

static void
receive_pause(struct pfc *pfc, uint16_t time, uint64_t now)
{
    const struct macctl m = {.kind = MACCTL_PAUSE, .time = {time}};

    pfc_rx(pfc, &m, now);
}

/* Sends what is due; MACCTL_NONE in m->kind when nothing was. */
static bool
send_due(struct pfc *pfc, uint8_t xoff, uint64_t now, struct macctl *m)
{
    uint8_t frame[MACCTL_LEN];

    memset(m, 0, sizeof(*m));
    if (!pfc_tx_poll(pfc, xoff, now, mac, frame))
        return false;
    cr_assert_neq(macctl_decode(frame, MACCTL_LEN, m), MACCTL_NONE);
    cr_assert_arr_eq(m->src, mac, 6);
    pfc_tx_done(pfc, xoff, now);
    return true;
}

static void
expect_pfc(struct pfc *pfc, uint8_t xoff, uint64_t now, uint8_t stop,
           uint8_t go)
{
    struct macctl m;

    cr_assert(send_due(pfc, xoff, now, &m));
    cr_assert_eq(m.kind, MACCTL_PFC);
    cr_assert_eq(m.enable, stop | go);
    for (int p = 0; p < N_PRIO; p++)
        cr_assert_eq(m.time[p], stop & (1u << p) ? pfc->conf.quanta : 0);
}

static void
expect_quiet(struct pfc *pfc, uint8_t xoff, uint64_t now)
{
    struct macctl m;

    cr_assert_not(send_due(pfc, xoff, now, &m));
}

Test(pfc, s2_pauses_for_quanta_and_resumes_by_itself)
{
    struct pfc pfc = make_pfc(0x08, 0x08);

    cr_assert_eq(pfc_rx_deadline(&pfc), CLOCK_NEVER);
    receive(&pfc, 0x08, 100, 1000);
    cr_assert_eq(pfc.paused, 0x08);
    cr_assert_eq(pfc_rx_deadline(&pfc), 1000 + 100 * QUANTUM);
    cr_assert_eq(pfc_rx_expire(&pfc, 1000 + 100 * QUANTUM - 1), 0x08);
    cr_assert_eq(pfc_rx_expire(&pfc, 1000 + 100 * QUANTUM), 0);
    cr_assert_eq(pfc.n.rx_paused_ns[3], 100 * QUANTUM);
    cr_assert_eq(pfc_rx_deadline(&pfc), CLOCK_NEVER);
}

Test(pfc, s2_new_time_replaces_longer_or_shorter)
{
    struct pfc pfc = make_pfc(0x08, 0x08);

    receive(&pfc, 0x08, 1000, 0);
    receive(&pfc, 0x08, 10, 100);
    cr_assert_eq(pfc_rx_deadline(&pfc), 100 + 10 * QUANTUM);
    receive(&pfc, 0x08, 65535, 200);
    cr_assert_eq(pfc_rx_deadline(&pfc), 200 + LONGEST);
    cr_assert_eq(pfc.n.rx_pauses[3], 1);
}

Test(pfc, s2_time_zero_resumes_at_once)
{
    struct pfc pfc = make_pfc(0x18, 0x18);

    receive(&pfc, 0x18, 65535, 0);
    receive(&pfc, 0x08, 0, 5000);
    cr_assert_eq(pfc.paused, 0x10);
    cr_assert_eq(pfc.n.rx_paused_ns[3], 5000);
    cr_assert_eq(pfc.n.rx_xoff[3], 1);
    cr_assert_eq(pfc.n.rx_pfc[3], 2);
}

Test(pfc, s2_without_its_bit_a_priority_is_left_alone)
{
    struct pfc pfc = make_pfc(0xff, 0xff);

    receive(&pfc, 0x0f, 1000, 0);
    receive(&pfc, 0xf0, 10, 0);
    cr_assert_eq(pfc.paused, 0xff);
    cr_assert_eq(pfc_rx_expire(&pfc, 10 * QUANTUM), 0x0f);
}

Test(pfc, s2_not_honoured_is_counted_without_effect)
{
    struct pfc pfc = make_pfc(0x08, 0x08);

    receive(&pfc, 0x18, 1000, 0);
    receive(&pfc, 0x10, 1000, 0);
    cr_assert_eq(pfc.paused, 0x08);
    cr_assert_eq(pfc.n.rx_not_enabled, 2);
    cr_assert_eq(pfc.n.rx_frames, 2);
    cr_assert_eq(pfc.n.rx_pfc[4], 2);
    cr_assert_eq(pfc.n.rx_pauses[4], 0);
}

Test(pfc, s2_asymmetric_honours_all_and_sends_for_the_enabled)
{
    struct pfc pfc = make_pfc(0x08, 0xff);

    receive(&pfc, 0xff, 1000, 0);
    cr_assert_eq(pfc.paused, 0xff);
    cr_assert_eq(pfc.n.rx_not_enabled, 0);
    expect_quiet(&pfc, 0xf7, 0);
    expect_pfc(&pfc, 0xff, 0, 0x08, 0);
}

/* A pause that ran out between two frames has ended, though no one looked. */
Test(pfc, s10_pauses_are_counted_apart_when_expiry_is_noticed_late)
{
    struct pfc pfc = make_pfc(0x08, 0x08);

    receive(&pfc, 0x08, 10, 0);
    receive(&pfc, 0x08, 30, 20 * QUANTUM);
    cr_assert_eq(pfc.n.rx_pauses[3], 2);
    cr_assert_eq(pfc_rx_expire(&pfc, 90 * QUANTUM), 0);
    cr_assert_eq(pfc.n.rx_paused_ns[3], 40 * QUANTUM);
    cr_assert_eq(pfc.n.rx_longest_ns[3], 30 * QUANTUM);
}

Test(pfc, s1_malformed_and_unsupported_are_counted)
{
    struct pfc pfc = make_pfc(0xff, 0xff);
    struct macctl m = {.kind = MACCTL_MALFORMED, .enable = 0xff};

    memset(m.time, 0xff, sizeof(m.time));
    pfc_rx(&pfc, &m, 0);
    m.kind = MACCTL_UNSUPPORTED;
    pfc_rx(&pfc, &m, 0);
    pfc_rx(&pfc, &m, 0);
    cr_assert_eq(pfc.paused, 0);
    cr_assert_eq(pfc.n.rx_malformed, 1);
    cr_assert_eq(pfc.n.rx_unsupported, 2);
    cr_assert_eq(pfc.n.rx_frames, 0);
}

Test(pfc, s3_xoff_refresh_xon)
{
    struct pfc pfc = make_pfc(0x18, 0x18);
    uint64_t half = LONGEST / 2;

    cr_assert_eq(pfc_tx_deadline(&pfc), CLOCK_NEVER);
    expect_quiet(&pfc, 0, 0);
    expect_pfc(&pfc, 0x08, 1000, 0x08, 0);
    cr_assert_eq(pfc_tx_deadline(&pfc), 1000 + half);
    expect_quiet(&pfc, 0x08, 1000 + half - 1);
    expect_pfc(&pfc, 0x08, 1000 + half, 0x08, 0);
    expect_pfc(&pfc, 0x08, 1000 + 2 * half, 0x08, 0);
    expect_pfc(&pfc, 0, 2000 + 2 * half, 0, 0x08);
    expect_quiet(&pfc, 0, 9 * half);
    cr_assert_eq(pfc_tx_deadline(&pfc), CLOCK_NEVER);
    cr_assert_eq(pfc.n.tx_pauses[3], 1);
    cr_assert_eq(pfc.n.tx_paused_ns[3], 1000 + 2 * half);
    cr_assert_eq(pfc.n.tx_xoff[3], 3);
    cr_assert_eq(pfc.n.tx_pfc[3], 4);
    cr_assert_eq(pfc.n.tx_frames, 4);
}

/* A repeat that comes when the pause has run out is counted: by the time of a
 * peer that counts quanta by a faster rate, if there may be one. */
Test(pfc, s3_pauses_that_lapse_are_counted)
{
    struct pfc pfc = make_pfc(0x18, 0x18);
    struct pfc_conf conf = pfc.conf;
    struct macctl m;

    expect_pfc(&pfc, 0x08, 0, 0x08, 0);
    expect_pfc(&pfc, 0x08, LONGEST, 0x08, 0);
    cr_assert_eq(pfc.n.tx_lapses[3], 0);
    expect_pfc(&pfc, 0x18, 2 * LONGEST + 1, 0x18, 0);
    cr_assert_eq(pfc.n.tx_lapses[3], 1);
    cr_assert_eq(pfc.n.tx_lapses[4], 0, "it has only begun");
    expect_pfc(&pfc, 0, 9 * LONGEST, 0, 0x18);
    cr_assert_eq(pfc.n.tx_lapses[3], 1, "it was let go");
    conf.peer_bps = 10 * conf.rate_bps;
    pfc_set(&pfc, &conf, 9 * LONGEST);
    expect_pfc(&pfc, 0x10, 10 * LONGEST, 0x10, 0);
    expect_pfc(&pfc, 0x10, 10 * LONGEST + LONGEST / 10 + 2, 0x10, 0);
    cr_assert_eq(pfc.n.tx_lapses[4], 1);
    /* The same for PAUSE, which is all eight. */
    conf.enabled = conf.honoured = 0;
    conf.pause_tx = true;
    pfc_init(&pfc, &conf);
    cr_assert(send_due(&pfc, 0x01, 0, &m));
    cr_assert(send_due(&pfc, 0x01, LONGEST, &m));
    cr_assert_eq(pfc.n.tx_lapses[0], 1);
    cr_assert_eq(pfc.n.tx_lapses[7], 1);
}

Test(pfc, s3_stays_due_until_the_frame_was_taken)
{
    struct pfc pfc = make_pfc(0x08, 0x08);
    uint8_t a[MACCTL_LEN], b[MACCTL_LEN];

    cr_assert(pfc_tx_poll(&pfc, 0x08, 0, mac, a));
    cr_assert(pfc_tx_poll(&pfc, 0x08, 500, mac, b));
    cr_assert_arr_eq(a, b, MACCTL_LEN);
    cr_assert_eq(pfc.n.tx_frames, 0);
    /* It let go before the frame went: no one need know. */
    cr_assert_not(pfc_tx_poll(&pfc, 0, 600, mac, b));
}

Test(pfc, s3_changes_of_one_turn_share_a_frame)
{
    struct pfc pfc = make_pfc(0xff, 0xff);

    expect_pfc(&pfc, 0x03, 0, 0x03, 0);
    expect_pfc(&pfc, 0x0d, 10, 0x0d, 0x02);
    expect_quiet(&pfc, 0x0d, 20);
    cr_assert_eq(pfc.n.tx_frames, 2);
    cr_assert_eq(pfc.n.tx_pauses[0], 1);
}

Test(pfc, s3_not_enabled_never_sends)
{
    struct pfc pfc = make_pfc(0x08, 0x08);

    expect_quiet(&pfc, 0xf7, 0);
    pfc = make_pfc(0, 0);
    expect_quiet(&pfc, 0xff, 0);
}

/* A peer whose interface says 10 Gb/s, on a link that is to be slower: its
 * pause is over in a part of the time, and must be renewed before. */
Test(pfc, s3_refresh_goes_by_the_faster_of_both_ends)
{
    struct pfc pfc = make_pfc(0x08, 0x08);
    struct pfc_conf conf = pfc.conf;
    uint64_t half;

    conf.peer_bps = 100 * conf.rate_bps;
    half = macctl_quanta_ns(conf.quanta, conf.peer_bps) / 2;
    pfc_init(&pfc, &conf);
    expect_pfc(&pfc, 0x08, 0, 0x08, 0);
    cr_assert_eq(pfc_tx_deadline(&pfc), half);
    expect_quiet(&pfc, 0x08, half - 1);
    expect_pfc(&pfc, 0x08, half, 0x08, 0);
    /* What we are told is still counted by our own rate. */
    receive(&pfc, 0x08, 1000, 0);
    cr_assert_eq(pfc.until_ns[3], macctl_quanta_ns(1000, conf.rate_bps));
    conf.peer_bps = conf.rate_bps / 10;
    pfc_init(&pfc, &conf);
    expect_pfc(&pfc, 0x08, 0, 0x08, 0);
    cr_assert_eq(pfc_tx_deadline(&pfc), LONGEST / 2);
}

Test(pfc, s3_refresh_is_never_closer_than_50_us)
{
    struct pfc pfc = make_pfc(0x08, 0x08);
    struct pfc_conf conf = pfc.conf;

    conf.rate_bps = UINT64_C(100000000000); /* a quantum is 5.12 ns */
    conf.quanta = 1;
    for (int i = 0; i < 16; i++, conf.quanta = (uint16_t) (conf.quanta * 2)) {
        uint64_t pause = macctl_quanta_ns(conf.quanta, conf.rate_bps);
        uint64_t gap;

        pfc_init(&pfc, &conf);
        expect_pfc(&pfc, 0x08, 0, 0x08, 0);
        gap = pfc_tx_deadline(&pfc);
        cr_assert_geq(gap, 50000);
        cr_assert(gap == 50000 || gap * 2 <= pause);
        expect_quiet(&pfc, 0x08, gap - 1);
        expect_pfc(&pfc, 0x08, gap, 0x08, 0);
    }
}

Test(pfc, s3_taken_off_a_priority_lets_the_peer_go)
{
    struct pfc pfc = make_pfc(0x18, 0x18);
    struct pfc_conf conf = pfc.conf;

    expect_pfc(&pfc, 0x18, 0, 0x18, 0);
    conf.enabled = conf.honoured = 0x10;
    pfc_set(&pfc, &conf, 100);
    cr_assert_leq(pfc_tx_deadline(&pfc), 100);
    expect_pfc(&pfc, 0x18, 100, 0x10, 0x08);
    conf.enabled = conf.honoured = 0;
    pfc_set(&pfc, &conf, 200);
    cr_assert_leq(pfc_tx_deadline(&pfc), 200);
    expect_pfc(&pfc, 0x18, 200, 0, 0x10);
    expect_quiet(&pfc, 0x18, 300);
    cr_assert_eq(pfc_tx_deadline(&pfc), CLOCK_NEVER);
}

Test(pfc, s2_no_longer_honoured_resumes)
{
    struct pfc pfc = make_pfc(0x18, 0x18);
    struct pfc_conf conf = pfc.conf;

    receive(&pfc, 0x18, 65535, 0);
    conf.enabled = conf.honoured = 0x10;
    pfc_set(&pfc, &conf, 100);
    cr_assert_eq(pfc.paused, 0x10);
    cr_assert_eq(pfc.n.rx_paused_ns[3], 100);
    cr_assert_eq(pfc_rx_deadline(&pfc), LONGEST);
}

/* The peer counts quanta of the new rate: what it was told may end sooner
 * than our timer thinks. */
Test(pfc, s3_another_rate_or_time_is_told_at_once)
{
    struct pfc pfc = make_pfc(0x08, 0x08);
    struct pfc_conf conf = pfc.conf;

    conf.rate_bps = RATE / 10;
    pfc_set(&pfc, &conf, 50);
    expect_quiet(&pfc, 0, 60); /* nothing to tell */
    expect_pfc(&pfc, 0x08, 100, 0x08, 0);
    conf.quanta = 1000;
    pfc_set(&pfc, &conf, 200);
    cr_assert_leq(pfc_tx_deadline(&pfc), 200);
    expect_pfc(&pfc, 0x08, 200, 0x08, 0);
    cr_assert_eq(pfc_tx_deadline(&pfc), 200 + 1000 * QUANTUM * 10 / 2);
    pfc_set(&pfc, &conf, 300); /* the same again */
    expect_quiet(&pfc, 0x08, 300);
}

Test(pfc, s8_pause_is_off_by_default)
{
    struct pfc pfc = make_pfc(0, 0);

    receive_pause(&pfc, 1000, 0);
    cr_assert_eq(pfc.paused, 0);
    cr_assert_eq(pfc.n.rx_pause, 1);
    expect_quiet(&pfc, 0xff, 0);
}

Test(pfc, s8_pause_stops_everything)
{
    struct pfc pfc = make_pfc(0, 0);

    pfc.conf.pause_rx = true;
    receive_pause(&pfc, 1000, 0);
    cr_assert_eq(pfc.paused, 0xff);
    receive_pause(&pfc, 0, 10);
    cr_assert_eq(pfc.paused, 0);
    receive_pause(&pfc, 10, 20);
    cr_assert_eq(pfc_rx_expire(&pfc, 20 + 10 * QUANTUM), 0);
}

Test(pfc, s8_pause_is_sent_when_asked_for)
{
    struct pfc pfc = make_pfc(0, 0);
    struct macctl m;

    pfc.conf.pause_tx = true;
    cr_assert(send_due(&pfc, 0x20, 0, &m));
    cr_assert(m.kind == MACCTL_PAUSE && m.time[0] == 65535);
    cr_assert_eq(pfc_tx_deadline(&pfc), LONGEST / 2);
    expect_quiet(&pfc, 0x01, 10);
    cr_assert(send_due(&pfc, 0x01, LONGEST / 2, &m));
    cr_assert(m.kind == MACCTL_PAUSE && m.time[0] == 65535);
    cr_assert(send_due(&pfc, 0, LONGEST, &m));
    cr_assert(m.kind == MACCTL_PAUSE && m.time[0] == 0);
    expect_quiet(&pfc, 0, LONGEST + 1);
    cr_assert_eq(pfc.n.tx_pause, 3);
    cr_assert_eq(pfc.n.tx_frames, 0);
}

Test(pfc, s8_pause_and_pfc_exclude_each_other)
{
    struct pfc pfc = make_pfc(0x08, 0x08);

    pfc.conf.pause_rx = pfc.conf.pause_tx = true; /* not while PFC is on */
    receive_pause(&pfc, 1000, 0);
    cr_assert_eq(pfc.paused, 0);
    expect_pfc(&pfc, 0x18, 0, 0x08, 0);
    expect_quiet(&pfc, 0x18, 1);

    pfc = make_pfc(0, 0xff);
    pfc.conf.pause_rx = true;
    receive(&pfc, 0xff, 1000, 0);
    cr_assert_eq(pfc.paused, 0);
    cr_assert_eq(pfc.n.rx_not_enabled, 1);
}

Test(pfc, s8_change_between_pfc_and_pause_leaves_nothing_behind)
{
    struct pfc pfc = make_pfc(0x08, 0x08);
    struct pfc_conf on = pfc.conf, off = pfc.conf;
    struct macctl m;

    off.enabled = off.honoured = 0;
    off.pause_rx = off.pause_tx = true;
    receive(&pfc, 0x08, 1000, 0);
    expect_pfc(&pfc, 0x08, 0, 0x08, 0);

    pfc_set(&pfc, &off, 10);
    cr_assert_eq(pfc.paused, 0);
    expect_pfc(&pfc, 0x08, 10, 0, 0x08);
    cr_assert(send_due(&pfc, 0x08, 10, &m));
    cr_assert(m.kind == MACCTL_PAUSE && m.time[0] == 65535);
    receive_pause(&pfc, 1000, 11);
    cr_assert_eq(pfc.paused, 0xff);

    pfc_set(&pfc, &on, 20);
    cr_assert_eq(pfc.paused, 0);
    cr_assert(send_due(&pfc, 0x08, 20, &m));
    cr_assert(m.kind == MACCTL_PAUSE && m.time[0] == 0);
    expect_pfc(&pfc, 0x08, 20, 0x08, 0);
    expect_quiet(&pfc, 0x08, 21);
}

/* Received pauses against a model that only keeps an end for each. */
Test(pfc, s2_agrees_with_a_naive_model)
{
    struct rng r = {.state = 5};
    struct pfc pfc = make_pfc(0xff, 0xff);
    uint64_t end[N_PRIO] = {0}, now = 0;
    uint8_t honoured = 0xff;

    for (int i = 0; i < 100000; i++) {
        uint8_t want = 0, e = (uint8_t) rng_u64(&r);
        struct macctl m = {.kind = MACCTL_PFC, .enable = e};

        now += rng_below(&r, 200 * QUANTUM);
        if (rng_below(&r, 50) == 0) {
            struct pfc_conf conf = pfc.conf;

            conf.honoured = honoured = (uint8_t) rng_u64(&r);
            conf.enabled = conf.honoured | 1;
            pfc_set(&pfc, &conf, now);
        }
        for (int p = 0; p < N_PRIO; p++) {
            if (rng_below(&r, 3))
                m.time[p] = (uint16_t) rng_below(&r, 1000);
            if (!(honoured & (1u << p)))
                end[p] = 0;
            else if (e & (1u << p))
                end[p] = now + m.time[p] * QUANTUM;
        }
        pfc_rx(&pfc, &m, now);
        now += rng_below(&r, 300 * QUANTUM);
        for (int p = 0; p < N_PRIO; p++)
            want |= end[p] > now ? (uint8_t) (1u << p) : 0;
        cr_assert_eq(pfc_rx_expire(&pfc, now), want, "step %d", i);
    }
}

/* Whatever XOFF does, a peer that only listens is paused when it should be,
 * without a gap, and is let go. */
Test(pfc, s3_a_listening_peer_never_runs_out_of_pause)
{
    struct rng r = {.state = 6};
    struct pfc us = make_pfc(0xff, 0xff), peer = make_pfc(0xff, 0xff);
    uint64_t now = 0, next_change = 0;
    uint8_t xoff = 0;

    us.conf.quanta = 2000;
    pfc_set(&us, &us.conf, 0);
    for (int i = 0; i < 100000; i++) {
        struct macctl m;

        if (now >= next_change) {
            xoff = (uint8_t) (rng_u64(&r) & rng_u64(&r));
            next_change = now + rng_below(&r, 20000 * QUANTUM);
        }
        cr_assert_eq(pfc_rx_expire(&peer, now) & us.asserted, us.asserted);
        while (send_due(&us, xoff, now, &m))
            pfc_rx(&peer, &m, now);
        cr_assert_eq(peer.paused, xoff, "step %d", i);
        now = pfc_tx_deadline(&us) < next_change ? pfc_tx_deadline(&us)
                                                 : next_change;
    }
}

/* --- watchdog, drills, durations ----------------------------------------- */

Test(pfc, section_9_what_is_ignored_is_counted_and_resumes)
{
    struct pfc pfc = make_pfc(0x18, 0x18);

    receive(&pfc, 0x18, 65535, 1000);
    cr_assert_eq(pfc.paused, 0x18);
    pfc_ignore(&pfc, 0x08, 2000);
    cr_assert_eq(pfc.paused, 0x10);
    cr_assert_eq(pfc.n.rx_paused_ns[3], 1000);
    receive(&pfc, 0x18, 65535, 3000);
    cr_assert_eq(pfc.paused, 0x10);
    cr_assert_eq(pfc.n.rx_xoff[3], 2);
    cr_assert_eq(pfc.n.rx_not_enabled, 0, "it is enabled");
    pfc_ignore(&pfc, 0, 4000);
    cr_assert_eq(pfc.paused, 0x10, "obeyed from the next frame on");
    receive(&pfc, 0x08, 65535, 5000);
    cr_assert_eq(pfc.paused, 0x18);
}

Test(pfc, section_3_a_forced_xoff_is_sent_repeated_and_let_go)
{
    struct pfc pfc = make_pfc(0, 0);
    struct macctl m;

    pfc_force(&pfc, 0x20);
    cr_assert(send_due(&pfc, 0, 1000, &m));
    cr_assert_eq(m.enable, 0x20);
    cr_assert_eq(m.time[5], 65535);
    cr_assert(!send_due(&pfc, 0, 1000 + LONGEST / 2 - 1, &m));
    cr_assert_eq(pfc_tx_deadline(&pfc), 1000 + LONGEST / 2);
    cr_assert(send_due(&pfc, 0, 1000 + LONGEST / 2, &m));
    pfc_force(&pfc, 0);
    cr_assert(send_due(&pfc, 0, 2000 + LONGEST / 2, &m));
    cr_assert_eq(m.enable, 0x20);
    cr_assert_eq(m.time[5], 0);
    cr_assert(!send_due(&pfc, 0, 3 * LONGEST, &m));
}

Test(pfc, section_10_longest_and_latest_pause_with_their_times)
{
    struct pfc pfc = make_pfc(0x08, 0x08);
    struct macctl m;

    receive(&pfc, 0x08, 65535, 1000);
    receive(&pfc, 0x08, 0, 9000);
    receive(&pfc, 0x08, 65535, 20000);
    receive(&pfc, 0x08, 0, 21000);
    cr_assert_eq(pfc.n.rx_longest_ns[3], 8000);
    cr_assert_eq(pfc.n.rx_longest_at_ns[3], 9000);
    cr_assert_eq(pfc.n.rx_last_ns[3], 1000);
    cr_assert_eq(pfc.n.rx_last_at_ns[3], 21000);
    send_due(&pfc, 0x08, 30000, &m);
    send_due(&pfc, 0, 37000, &m);
    send_due(&pfc, 0x08, 40000, &m);
    send_due(&pfc, 0, 42000, &m);
    cr_assert_eq(pfc.n.tx_longest_ns[3], 7000);
    cr_assert_eq(pfc.n.tx_longest_at_ns[3], 37000);
    cr_assert_eq(pfc.n.tx_last_ns[3], 2000);
    cr_assert_eq(pfc.n.tx_last_at_ns[3], 42000);
}
