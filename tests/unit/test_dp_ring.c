/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/dp, a receive ring that fills since the switch cannot keep up: the peer
 * is paused before the kernel drops (netdev.h, rx_high), whatever the groups
 * hold.
 */
#include "tests/unit/dp_rig.h"

#define P(n) (1u << (n))
/* Frames in the ring that are too many, and the half that is none too many. */
#define HIGH 96u
#define LOW  (HIGH / 2)

static struct rig rig;
static uint32_t next_seq;

static void
init(void)
{
    next_seq = 0;
    rig_init(&rig, 3);
    /* Limits that no group reaches here. */
    rig_lossless(&rig, 0, P(3) | P(4), 1 << 30, 100000);
    rig_apply(&rig);
    rig_learn(&rig, NO_TAG);
    rig.nd[0]->rx_high = HIGH;
}

static void
uninit(void)
{
    rig_uninit(&rig);
}

TestSuite(dp_ring, .init = init, .fini = uninit);

/* After the last of its turns, each of which reads a batch, so many frames lie
 * in the ring of port 0. */
static void
fill_to(uint32_t n)
{
    while (netdev_mem_n_queued(rig.nd[0]) > n + PKT_BATCH)
        rig_turn(&rig);
    while (netdev_mem_n_queued(rig.nd[0]) < n + PKT_BATCH)
        rig_send(&rig, 0, HOST(1), HOST(0), 3 << 13, 64, next_seq++);
    rig_turn(&rig);
    cr_assert_eq(netdev_mem_n_queued(rig.nd[0]), n);
}

static uint64_t
n_pauses(void)
{
    return counter_get(&rig.nd[0]->stats.n_ring_pauses);
}

static void
expect_pfc(uint8_t enable, uint16_t time)
{
    struct macctl m;

    rig_take_pfc(&rig, 0, &m);
    cr_assert_eq(m.enable, enable);
    for (int p = 0; p < N_PRIO; p++)
        cr_assert_eq(m.time[p], enable >> p & 1 ? time : 0);
    cr_assert_eq(rig_drain(&rig, 0), 0, "more than one frame");
}

/* What was sent has arrived, every frame of it and in order. */
static void
expect_all(void)
{
    uint8_t frame[2048];
    uint32_t len, seq = 0;

    rig_settle(&rig);
    while ((len = rig_take(&rig, 1, frame)))
        cr_assert_eq(rig_seq(frame, len), seq++);
    cr_assert_eq(seq, next_seq);
}

Test(dp_ring, a_level_above_a_quarter_pauses_in_the_same_turn)
{
    fill_to(HIGH);
    cr_assert_eq(rig_drain(&rig, 0), 0, "not too many yet");
    fill_to(HIGH + 1);
    expect_pfc(P(3) | P(4), 65535);
    cr_assert_eq(n_pauses(), 1);
    cr_assert_eq(rig_n_events(&rig, DP_EV_XOFF, 0), 0, "it is no group");
    cr_assert_eq(dp_port_pfc(rig.state[0])->n.tx_pauses[3], 1);
    expect_all();
}

Test(dp_ring, half_of_that_lets_go_and_nothing_in_between_does)
{
    fill_to(HIGH + 1);
    expect_pfc(P(3) | P(4), 65535);
    fill_to(HIGH);
    fill_to(HIGH + 7);
    fill_to(LOW + 1);
    fill_to(HIGH);
    cr_assert_eq(rig_drain(&rig, 0), 0, "it is paused all the time");
    fill_to(LOW);
    expect_pfc(P(3) | P(4), 0);
    fill_to(LOW + 1);
    fill_to(HIGH);
    cr_assert_eq(rig_drain(&rig, 0), 0, "it runs all the time");
    fill_to(HIGH + 1);
    expect_pfc(P(3) | P(4), 65535);
    cr_assert_eq(n_pauses(), 2);
    expect_all();
}

Test(dp_ring, the_pause_is_repeated_for_as_long_as_it_lasts)
{
    uint64_t pause_ns = UINT64_C(65535) * 512;

    fill_to(HIGH + 1);
    expect_pfc(P(3) | P(4), 65535);
    for (int i = 0; i < 5; i++) {
        rig.now_ns += pause_ns / 2;
        fill_to(HIGH + 1);
        expect_pfc(P(3) | P(4), 65535);
    }
    cr_assert_eq(n_pauses(), 1, "a refresh is none");
    cr_assert_eq(dp_port_pfc(rig.state[0])->n.tx_lapses[3], 0);
    expect_all();
}

Test(dp_ring, the_level_is_what_has_arrived)
{
    uint8_t frame[64];

    /* What is on its way in a cable is not in the ring. */
    for (uint32_t i = 0; i < 3 * HIGH; i++) {
        netdev_mem_set_now(rig.nd[0], rig.now_ns + (i < HIGH ? 0 : NS_PER_MS));
        rig_frame(frame, HOST(1), HOST(0), 3 << 13, 64, next_seq++);
        cr_assert(netdev_mem_inject(rig.nd[0], frame, sizeof(frame)));
    }
    netdev_mem_set_now(rig.nd[0], rig.now_ns);
    rig_turn(&rig);
    cr_assert_eq(rig.nd[0]->rx_level, HIGH - PKT_BATCH);
    cr_assert_eq(n_pauses(), 0);
    rig.now_ns += NS_PER_MS;
    rig_turn(&rig);
    cr_assert_eq(rig.nd[0]->rx_level, 3 * HIGH - 2 * PKT_BATCH);
    cr_assert_eq(n_pauses(), 1);
    expect_pfc(P(3) | P(4), 65535);
    expect_all();
}

Test(dp_ring, a_port_that_pauses_nobody_counts_none)
{
    rig.conf[0].pfc.enabled = 0;
    rig_apply(&rig);
    fill_to(HIGH + 1);
    fill_to(4 * HIGH);
    cr_assert_eq(rig_drain(&rig, 0), 0);
    cr_assert_eq(n_pauses(), 0);
    expect_all();
}

Test(dp_ring, with_pause_it_is_a_pause_frame)
{
    struct macctl m;
    uint8_t frame[2048];
    uint32_t len;

    rig.conf[0].pfc = (struct pfc_conf){.rate_bps = 1000000000,
                                        .quanta = 65535,
                                        .pause_tx = true};
    rig_apply(&rig);
    for (int i = 0; i < 2; i++) {
        fill_to(i == 0 ? HIGH + 1 : LOW);
        len = rig_take(&rig, 0, frame);
        cr_assert_eq(macctl_decode(frame, len, &m), MACCTL_PAUSE);
        cr_assert_eq(m.time[0], i == 0 ? 65535 : 0);
    }
    cr_assert_eq(n_pauses(), 1);
    expect_all();
}

Test(dp_ring, a_group_goes_on_pausing_when_the_ring_lets_go)
{
    struct macctl m;

    rig.conf[0].pg[3].limit_bytes = 5000;
    rig.conf[0].pg[3].xon_bytes = 2000;
    rig.conf[1].pfc.honoured = P(3);
    rig_apply(&rig);
    rig_pfc(&rig, 1, P(3), 65535); /* what comes in stays in its group */
    for (int i = 0; i < 3; i++)
        fill_to(LOW);
    expect_pfc(P(3), 65535);
    fill_to(HIGH + 1);
    expect_pfc(P(3) | P(4), 65535);
    fill_to(LOW);
    rig_take_pfc(&rig, 0, &m);
    cr_assert_eq(m.enable, P(3) | P(4));
    cr_assert_eq(m.time[3], 65535, "its group is full");
    cr_assert_eq(m.time[4], 0);
    rig_pfc(&rig, 1, P(3), 0);
    expect_all();
    expect_pfc(P(3), 0);
}

Test(dp_ring, taking_pfc_off_lets_go)
{
    fill_to(HIGH + 1);
    expect_pfc(P(3) | P(4), 65535);
    rig.conf[0].pfc.enabled = P(4);
    for (uint32_t i = 0; i < HIGH; i++) /* it stays full meanwhile */
        rig_send(&rig, 0, HOST(1), HOST(0), 3 << 13, 64, next_seq++);
    rig_apply(&rig);
    cr_assert_eq(dp_port_pfc(rig.state[0])->asserted, P(4));
    rig_drain(&rig, 0);
    expect_all();
    cr_assert_eq(dp_port_pfc(rig.state[0])->asserted, 0);
}

Test(dp_ring, an_interface_that_comes_back_has_a_ring_of_its_own)
{
    struct netdev_args args = {.name = "m0", .pool = dp_pool(rig.dp)};
    uint8_t frame[2048];
    struct macctl m = {.time = {[3] = 0}};
    uint32_t len;

    fill_to(HIGH + 1);
    expect_pfc(P(3) | P(4), 65535);
    rig.absent[0] = true;
    rig_apply(&rig);
    rig_run(&rig, NS_PER_S);
    netdev_close(rig.nd[0]);
    cr_assert_eq(netdev_open(&netdev_mem, &args, &rig.nd[0], NULL), 0);
    rig.absent[0] = false;
    rig_apply(&rig);
    rig_run(&rig, NS_PER_S);
    cr_assert_eq(dp_port_pfc(rig.state[0])->asserted, 0);
    while ((len = rig_take(&rig, 0, frame)))
        if (macctl_decode(frame, len, &m) == MACCTL_PFC && m.time[3])
            cr_assert_eq(m.time[3], 65535);
    cr_assert_eq(m.time[3], 0, "nobody is left paused");
}
