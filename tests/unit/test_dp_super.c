/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/dp, super-frames: pieces that came as one leave in one turn, so that a
 * provider can send them as one, but never from a queue that a pause may stop.
 */
#include "netdev/netdev.h"
#include "pkt/offload.h"
#include "tests/unit/dp_rig.h"

#define P(i)      ((uint8_t) (1u << (i)))
#define FRAME_LEN 1000
#define SUPER     45 /* pieces: 64 KiB */

static struct rig rig;

/* Port 0 receives super-frames without end, port 2 nothing until told. */
struct source {
    struct netdev *dev; /* that receives */
    uint8_t frame[FRAME_LEN];
    const uint8_t *frames[1]; /* it */
    uint32_t lens[1];         /* its length */
    uint32_t n_pieces;        /* of a super-frame */
    uint32_t next;            /* piece that is next */
    uint64_t number;          /* of its super-frame */
    uint32_t seq;             /* of its frame */
};

static struct source src;
/* What left port 1 before: its frames and octets of queue 0. */
static uint64_t frames_before, bytes_before;

/* Makes a frame that was received a piece, as a provider that cuts does. */
static void
make_piece(struct source *s, struct pkt *p)
{
    struct pkt_offload *o = pkt_leave_open(p, 38, 16);

    for (int i = 0; i < 4; i++)
        p->data[FRAME_LEN - 4 + i] = (uint8_t) (s->seq >> (24 - 8 * i));
    s->seq++;
    o->super = s->number;
    o->whose = s;
    o->number = s->next++;
    o->is_last = s->next == s->n_pieces;
    if (o->is_last) {
        s->next = 0;
        s->number++;
    }
}

static void
stamp(void *arg, struct pkt *const pkts[], uint32_t n, uint32_t number)
{
    struct source *s = arg;

    (void) number;
    for (uint32_t i = 0; i < n; i++)
        make_piece(s, pkts[i]);
    s->dev->rx_rest = s->next ? s->n_pieces - s->next : 0;
}

static void
supply(int prio)
{
    struct netdev_mem_load load = {.frames = src.frames,
                                   .lens = src.lens,
                                   .n = 1,
                                   .per_rx = PKT_BATCH,
                                   .stamp = stamp,
                                   .arg = &src};

    src.lens[0] =
        rig_frame(src.frame, HOST(1), HOST(0), prio << 13, FRAME_LEN, 0);
    src.frames[0] = src.frame;
    netdev_mem_set_load(src.dev, &load);
}

static void
stop_supply(void)
{
    netdev_mem_set_load(src.dev, NULL);
    src.dev->rx_rest = 0;
}

static void
init(void)
{
    rig_init(&rig, 3);
    rig_learn(&rig, NO_TAG);
    frames_before = rig_n(&rig, 1)->q_tx_frames[0];
    bytes_before = rig_n(&rig, 1)->q_tx_bytes[0];
    src = (struct source){.dev = rig.nd[0], .n_pieces = SUPER, .number = 1};
}

static void
uninit(void)
{
    rig_uninit(&rig);
}

TestSuite(dp_super, .init = init, .fini = uninit);

/* Takes what left port 1, which must be what came, in order; how many. */
static uint32_t
take(uint32_t *next)
{
    uint8_t frame[2048];
    uint32_t len, n = 0;

    for (; (len = rig_take(&rig, 1, frame)); n++)
        cr_assert_eq(rig_seq(frame, len), (*next)++);
    return n;
}

Test(dp_super, leaves_in_the_turn_in_which_it_came)
{
    uint32_t next = 0;

    supply(0);
    for (int turn = 0; turn < 100; turn++) {
        rig_turn(&rig);
        cr_assert_eq(take(&next), SUPER);
        cr_assert_eq(rig_n(&rig, 0)->held, 0);
    }
    cr_assert_eq(rig_n(&rig, 1)->q_tx_frames[0] - frames_before, 100 * SUPER);
    cr_assert_eq(rig_n(&rig, 1)->q_tx_bytes[0] - bytes_before,
                 100 * SUPER * FRAME_LEN);
}

/* A batch may begin behind others. */
Test(dp_super, ends_a_batch_that_other_frames_begin)
{
    uint32_t next = 0;
    uint8_t frame[2048];

    netdev_mem_set_tx_limit(rig.nd[1], 0);
    for (uint32_t i = 0; i < 10; i++)
        rig_send(&rig, 2, HOST(1), HOST(2), NO_TAG, 64, 100 + i);
    rig_turn(&rig);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[0], 10);
    netdev_mem_set_tx_limit(rig.nd[1], UINT32_MAX);
    rig.now_ns += NS_PER_S;
    supply(0);
    rig_turn(&rig);
    for (uint32_t i = 0; i < 10; i++)
        cr_assert_eq(rig_seq(frame, rig_take(&rig, 1, frame)), 100 + i);
    cr_assert_eq(take(&next), SUPER);
}

/* The longest batch is a bound, however long the super-frame. */
Test(dp_super, of_small_pieces_takes_several_turns)
{
    uint32_t next = 0;

    src.n_pieces = 1000;
    supply(0);
    for (int turn = 0; turn < 15; turn++) {
        rig_turn(&rig);
        cr_assert_eq(take(&next), 2 * PKT_BATCH);
    }
    rig_turn(&rig);
    cr_assert_eq(take(&next), 1000 - 15 * 2 * PKT_BATCH);
}

Test(dp_super, frames_that_are_none_leave_a_batch_a_turn)
{
    uint32_t next = 0;

    src.n_pieces = 1;
    supply(0);
    for (int turn = 0; turn < 10; turn++) {
        rig_turn(&rig);
        cr_assert_eq(take(&next), PKT_BATCH);
    }
}

/* A batch a turn comes in and leaves. */
static void
check_not_extended(int prio)
{
    uint32_t next = src.seq;

    supply(prio);
    for (int turn = 0; turn < 100; turn++) {
        rig_turn(&rig);
        cr_assert_eq(take(&next), PKT_BATCH, "turn %d", turn);
        cr_assert_eq(rig_n(&rig, 0)->held, 0);
    }
    stop_supply();
}

Test(dp_super, of_a_priority_that_is_obeyed_is_divided)
{
    rig.conf[1].pfc.honoured = P(3);
    rig_apply(&rig);
    check_not_extended(3);
    /* And one that shares its queue. */
    rig.conf[1].prio_to_queue[5] = 3;
    rig_apply(&rig);
    check_not_extended(5);
    /* A plan later both may go on. */
    rig.conf[1].pfc.honoured = 0;
    rig_apply(&rig);
    supply(3);
    src.next = 0;
    src.number++;
    rig_turn(&rig);
    cr_assert_eq(rig_drain(&rig, 1), SUPER);
}

Test(dp_super, is_divided_where_pause_is_obeyed)
{
    rig.conf[1].pfc.pause_rx = true;
    rig_apply(&rig);
    for (int prio = 0; prio < 8; prio++)
        check_not_extended(prio);
}

/* What is read on takes no headroom. */
Test(dp_super, of_a_lossless_group_is_read_a_batch_a_turn)
{
    rig_lossless(&rig, 0, P(3), 1 << 20, 1 << 20);
    rig.conf[0].pfc.honoured = 0;
    rig_apply(&rig);
    check_not_extended(3);
}

/* Nothing that a pause stops ever leaves in more than a batch, though whole
 * super-frames lie in the queue. */
Test(dp_super, no_more_than_a_batch_leaves_after_a_pause)
{
    uint32_t next = 0;

    supply(3); /* arrives before a pause may stop it */
    netdev_mem_set_tx_limit(rig.nd[1], 0);
    for (int turn = 0; turn < 20; turn++)
        rig_turn(&rig);
    stop_supply();
    rig.conf[1].pfc.honoured = P(3);
    rig_pfc(&rig, 1, P(3), 65535);
    rig_apply(&rig);
    rig_pfc(&rig, 1, P(3), 65535);
    rig_turn(&rig);
    netdev_mem_set_tx_limit(rig.nd[1], UINT32_MAX);
    cr_assert_eq(rig_n(&rig, 1)->q_frames[3], 20 * SUPER);
    for (int i = 0; i < 10; i++) {
        rig_pfc(&rig, 1, P(3), 0);
        rig_turn(&rig);
        cr_assert_eq(take(&next), PKT_BATCH);
        rig_turn(&rig);
        cr_assert_eq(take(&next), PKT_BATCH);
        rig_pfc(&rig, 1, P(3), 65535);
        rig_settle(&rig);
        cr_assert_eq(take(&next), 0);
    }
}

/* Two queues of one port: that a pause may stop one does not divide what
 * leaves the other. */
Test(dp_super, leaves_whole_beside_a_queue_that_is_obeyed)
{
    uint32_t next = 0;

    rig.conf[1].pfc.honoured = P(3);
    rig_apply(&rig);
    rig_pfc(&rig, 1, P(3), 65535);
    rig_settle(&rig);
    supply(0);
    rig_send(&rig, 2, HOST(1), HOST(2), 3 << 13, 64, 0);
    for (int turn = 0; turn < 100; turn++) {
        rig_turn(&rig);
        cr_assert_eq(take(&next), SUPER);
    }
    cr_assert_eq(rig_n(&rig, 1)->q_frames[3], 1);
}

Test(dp_super, what_is_not_taken_keeps_its_place)
{
    uint32_t next = 0;

    supply(0);
    for (uint32_t limit = 0; limit < 50; limit += 7) {
        netdev_mem_set_tx_limit(rig.nd[1], limit);
        rig_turn(&rig);
        cr_assert_leq(take(&next), limit);
        rig.now_ns += NS_PER_S; /* to try again what was refused */
    }
    stop_supply();
    netdev_mem_set_tx_limit(rig.nd[1], UINT32_MAX);
    rig_settle(&rig);
    take(&next);
    cr_assert_eq(next, src.seq);
    cr_assert_eq(rig_n(&rig, 1)->held, 0);
    cr_assert_eq(rig_n(&rig, 1)->q_tx_frames[0] - frames_before, next);
    cr_assert_eq(rig_n(&rig, 1)->q_tx_bytes[0] - bytes_before,
                 next * FRAME_LEN);
}

Test(dp_super, holds_the_rate_of_the_port)
{
    uint64_t before = 0, got, want;

    /* Between a batch and a super-frame a turn. */
    rig.conf[1].rate_bps = UINT64_C(10000000000);
    rig.conf[1].queue[0].limit_bytes = 200000;
    rig_apply(&rig);
    supply(0);
    for (int turn = 0; turn < 4000; turn++) {
        if (turn == 1000) /* the first burst is spent */
            before = rig_n(&rig, 1)->tx_bytes;
        rig_turn(&rig);
        rig_drain(&rig, 1);
        rig.now_ns += 30 * NS_PER_US;
    }
    got = rig_n(&rig, 1)->tx_bytes - before;
    want = 3000 * 30 * (UINT64_C(10000) / 8);
    cr_assert_gt(got, want * 99 / 100);
    cr_assert_lt(got, want * 101 / 100);
}

/* Frames that leave at one moment, until the credit is used up. */
static uint32_t
burst(uint32_t n_pieces)
{
    uint32_t n, all = 0;

    rig.now_ns += NS_PER_S;
    src.n_pieces = n_pieces;
    src.next = 0;
    src.number++;
    supply(0);
    do {
        rig_turn(&rig);
        n = rig_drain(&rig, 1);
        all += n;
    } while (n);
    stop_supply();
    return all;
}

Test(dp_super, ends_where_the_credit_does)
{
    rig.conf[1].queue[0].limit_bytes = 200000;
    for (uint64_t mbps = 1000; mbps < 20000; mbps += 500) {
        rig.conf[1].rate_bps = mbps * 1000000;
        rig_apply(&rig);
        burst(1);
        cr_assert_eq(burst(1000), burst(1), "at %lu Mb/s",
                     (unsigned long) mbps);
    }
    rig.conf[1].rate_bps = 0;
    for (uint64_t mbps = 1000; mbps < 20000; mbps += 500) {
        rig.conf[1].queue[0].max_rate_bps = mbps * 1000000;
        rig_apply(&rig);
        burst(1);
        cr_assert_eq(burst(1000), burst(1), "at %lu Mb/s for the queue",
                     (unsigned long) mbps);
    }
}

/* A queue whose turn it is not any more does not go on. */
Test(dp_super, takes_no_share_of_others)
{
    uint64_t q0, q1;

    memcpy(rig.conf[1].sched.weight, (uint8_t[8]){50, 50}, 8);
    for (int q = 0; q < 2; q++)
        rig.conf[1].queue[q].limit_bytes = 100000;
    rig_apply(&rig);
    supply(0);
    for (int turn = 0; turn < 1000; turn++) {
        for (uint32_t i = 0; i < 30; i++)
            rig_send(&rig, 2, HOST(1), HOST(2), 1 << 13, 700, i);
        rig_turn(&rig);
        cr_assert_leq(rig_drain(&rig, 1), PKT_BATCH + 2);
    }
    q0 = rig_n(&rig, 1)->q_tx_bytes[0];
    q1 = rig_n(&rig, 1)->q_tx_bytes[1];
    cr_assert_gt(q0, q1 * 99 / 100);
    cr_assert_lt(q0, q1 * 101 / 100);
}
