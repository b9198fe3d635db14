/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/dp, ECN and WRED in the egress queues, pfc-semantics section 11: by the
 * length that a frame finds, with a right checksum, and without a change to a
 * buffer that copies share.
 */
#include "tests/unit/dp_rig.h"

enum { IN, OUT, OUT2, N_PORTS };
#define FRAME 1000
#define Q     3

static struct rig rig;

/* A slow port, whose queue can be filled as one likes. */
static void
init(void)
{
    rig_init(&rig, N_PORTS);
    rig.conf[OUT].rate_bps = rig.conf[OUT2].rate_bps = 1000;
    rig.conf[OUT].queue[Q].wred =
        (struct wred_conf){10 * FRAME, 20 * FRAME, 0, true};
    rig_apply(&rig);
    rig_learn(&rig, 0);
    rig_run(&rig, 10 * NS_PER_S); /* what it may send at once is spent ... */
    for (int i = 0; i < 4; i++)
        rig_send(&rig, IN, HOST(OUT), HOST(IN), 7 << 13, 2000, 0);
    rig_settle(&rig); /* ... here, and the rest lies in queue 7 */
    rig_drain(&rig, OUT);
}

static void
uninit(void)
{
    rig_uninit(&rig);
}

TestSuite(dp_wred, .init = init, .fini = uninit);

static void
send(int version, uint8_t ds, uint32_t seq)
{
    uint32_t tag = (uint32_t) ETH_T_VLAN << 16 | Q << 13;
    uint8_t frame[2048];
    uint32_t len = rig_ip_frame(frame, IN, OUT, version, &tag, 1, ds,
                                FRAME - 18 - (version == 4 ? 20 : 40), seq);

    cr_assert_eq(len, FRAME);
    rig_inject(&rig, IN, frame, len);
    rig_settle(&rig);
}

/* Lets everything go; octet DS of each frame of queue Q, by sequence number;
 * 0xfe: it did not come. */
static void
collect(uint8_t seen[64])
{
    uint8_t frame[2048];
    uint32_t len;

    memset(seen, 0xfe, 64);
    rig.conf[OUT].rate_bps = 0;
    rig_apply(&rig);
    rig_settle(&rig);
    while ((len = rig_take(&rig, OUT, frame))) {
        uint8_t ds;
        uint32_t l3 = eth_find_ds(frame, len, &ds);

        if (!l3)
            continue; /* one of queue 7 */
        if (frame[l3] >> 4 == 4)
            cr_assert_eq(eth_csum_fold(eth_csum_add(0, frame + l3, 20)), 0);
        cr_assert_lt(rig_seq(frame, len), 64);
        seen[rig_seq(frame, len)] = ds;
    }
}

Test(dp_wred, s11_ect_becomes_ce_above_max_and_nothing_below_min)
{
    uint8_t seen[64];

    for (uint32_t i = 0; i < 30; i++)
        send(i % 2 ? 4 : 6, (uint8_t) (0x68 | (i % 3 ? ECN_ECT0 : ECN_ECT1)),
             i);
    collect(seen);
    for (uint32_t i = 0; i < 30; i++) {
        uint8_t came = (uint8_t) (0x68 | (i % 3 ? ECN_ECT0 : ECN_ECT1));

        /* Frame i finds i frames; probability 0 up to and with max. */
        cr_assert_eq(seen[i], i <= 20 ? came : 0x6b, "frame %u", i);
    }
    cr_assert_eq(rig_n(&rig, OUT)->q_ecn_marked[Q], 9);
    cr_assert_eq(rig_n(&rig, OUT)->queue_drops[Q][DP_DROP_WRED], 0);
    cr_assert_eq(rig_n(&rig, OUT)->drops[DP_DROP_WRED], 0);
}

Test(dp_wred, s11_not_ect_is_dropped_on_a_lossy_queue_and_counted_apart)
{
    uint8_t seen[64];

    for (uint32_t i = 0; i < 30; i++)
        send(4, 0x68, i);
    /* What is dropped does not lengthen the queue: it stays at max. */
    cr_assert_eq(rig_n(&rig, OUT)->q_frames[Q], 21);
    cr_assert_eq(rig_n(&rig, OUT)->queue_drops[Q][DP_DROP_WRED], 9);
    cr_assert_eq(rig_n(&rig, OUT)->q_drops[Q], 9);
    cr_assert_eq(rig_n(&rig, OUT)->drops[DP_DROP_WRED], 9);
    cr_assert_eq(rig_n(&rig, OUT)->drops[DP_DROP_QUEUE_LIMIT], 0);
    cr_assert_eq(rig_n(&rig, OUT)->q_ecn_marked[Q], 0);
    collect(seen);
    for (uint32_t i = 0; i < 30; i++)
        cr_assert_eq(seen[i], i <= 20 ? 0x68 : 0xfe);
}

Test(dp_wred, s11_frames_that_are_no_ip_are_not_ect)
{
    for (uint32_t i = 0; i < 30; i++) {
        rig_send(&rig, IN, HOST(OUT), HOST(IN), Q << 13, FRAME, i);
        rig_settle(&rig);
    }
    cr_assert_eq(rig_n(&rig, OUT)->drops[DP_DROP_WRED], 9);
}

Test(dp_wred, s11_ce_stays_ce)
{
    uint8_t seen[64];

    for (uint32_t i = 0; i < 30; i++)
        send(4, 0x6b, i);
    collect(seen);
    for (uint32_t i = 0; i < 30; i++)
        cr_assert_eq(seen[i], 0x6b);
    cr_assert_eq(rig_n(&rig, OUT)->q_ecn_marked[Q], 0, "it was not marked");
    cr_assert_eq(rig_n(&rig, OUT)->q_drops[Q], 0);
}

Test(dp_wred, not_ect_on_a_lossless_queue_is_never_dropped_by_wred)
{
    uint8_t seen[64];

    rig_lossless(&rig, IN, 1u << Q, 1u << 20, 1u << 20);
    for (int ecn_on = 0; ecn_on < 2; ecn_on++) {
        rig.conf[OUT].queue[Q].wred.ecn = ecn_on;
        rig.conf[OUT].queue[Q].wred.percent = 100;
        rig.conf[OUT].rate_bps = 1000;
        rig_apply(&rig);
        for (uint32_t i = 0; i < 60; i++)
            send(4, 0x68, i);
        collect(seen);
        for (uint32_t i = 0; i < 60; i++)
            cr_assert_eq(seen[i], 0x68, "frame %u", i);
    }
    cr_assert_eq(rig_n(&rig, OUT)->q_drops[Q], 0);
    cr_assert_eq(rig_n(&rig, OUT)->violations[Q], 0);
}

Test(dp_wred, s11_a_lossless_queue_marks)
{
    uint8_t seen[64];

    rig_lossless(&rig, IN, 1u << Q, 1u << 20, 1u << 20);
    rig_apply(&rig);
    for (uint32_t i = 0; i < 40; i++)
        send(6, ECN_ECT0, i);
    collect(seen);
    for (uint32_t i = 0; i < 40; i++)
        cr_assert_eq(seen[i], i <= 20 ? ECN_ECT0 : ECN_CE);
    cr_assert_eq(rig_n(&rig, OUT)->q_ecn_marked[Q], 19);
}

Test(dp_wred, s11_the_limit_of_a_lossy_queue_holds_beside)
{
    rig.conf[OUT].queue[Q].limit_bytes = 25 * FRAME;
    rig_apply(&rig);
    for (uint32_t i = 0; i < 30; i++)
        send(4, ECN_ECT0, i);
    cr_assert_eq(rig_n(&rig, OUT)->q_ecn_marked[Q], 4);
    cr_assert_eq(rig_n(&rig, OUT)->drops[DP_DROP_QUEUE_LIMIT], 5);
    cr_assert_eq(rig_n(&rig, OUT)->drops[DP_DROP_WRED], 0);
    rig.conf[OUT].queue[Q].limit_bytes = 5 * FRAME; /* below WRED's min */
    rig_apply(&rig);
    send(4, ECN_ECT0, 30);
    cr_assert_eq(rig_n(&rig, OUT)->drops[DP_DROP_QUEUE_LIMIT], 6);
}

/* 10 per cent at max, over many frames at one length. */
Test(dp_wred, s11_probability_is_linear_between_min_and_max)
{
    const struct dp_port_counters *n = rig_n(&rig, OUT);
    unsigned found = 0;

    rig.conf[OUT].queue[Q].wred.percent = 10;
    rig_apply(&rig);
    for (uint32_t i = 0; i < 20; i++)
        send(4, ECN_CE, i); /* these pass */
    cr_assert_eq(n->q_frames[Q], 20);
    for (uint32_t i = 0; i < 5000; i++) {
        uint64_t was = n->q_frames[Q];

        if (was >= 21) { /* back to 20 frames */
            uint8_t seen[64];

            collect(seen);
            rig.conf[OUT].rate_bps = 1000;
            rig_apply(&rig);
            for (uint32_t k = 0; k < 20; k++)
                send(4, ECN_CE, k);
        }
        send(4, 0, 63);
        found++;
        if (n->queue_drops[Q][DP_DROP_WRED] >= 20)
            break;
    }
    /* 20 drops at 1 in 10: about 200 frames. */
    cr_assert(found > 80 && found < 400, "%u frames for 20 drops", found);
}

Test(dp_wred, s11_marking_one_copy_of_a_flood_spares_the_other)
{
    uint32_t tag = (uint32_t) ETH_T_VLAN << 16 | Q << 13;
    uint8_t frame[2048], got[2048], ds;
    struct eth_info info;
    uint32_t len =
        rig_ip_frame(frame, IN, 99, 4, &tag, 1, ECN_ECT0, FRAME - 38, 1);

    for (uint32_t i = 0; i < 21; i++)
        send(4, ECN_CE, i);
    for (int i = 0; i < 2; i++) {
        uint32_t marked = i ? OUT2 : OUT, other = i ? OUT : OUT2;

        rig_inject(&rig, IN, frame, len); /* flooded */
        rig_settle(&rig);
        rig.conf[OUT].rate_bps = rig.conf[OUT2].rate_bps = 0;
        rig_apply(&rig);
        rig_settle(&rig);
        while (rig_take(&rig, marked, got) && got[5] != frame[5])
            continue;
        cr_assert(eth_find_ds(got, len, &ds));
        cr_assert_eq(ds, ECN_CE, "port %u", marked);
        while (rig_take_ip(&rig, other, got, &info, &ds) && got[5] != frame[5])
            continue;
        cr_assert_arr_eq(got, frame, len, "port %u", other);
        /* And the other way round: whichever is the copy. */
        rig.conf[OUT2].queue[Q].wred = (struct wred_conf){1, 1, 0, true};
        rig.conf[OUT].queue[Q].wred = (struct wred_conf){.max_bytes = 0};
        rig.conf[OUT2].rate_bps = 1000;
        rig_apply(&rig);
        for (int k = 0; !i && k < 4; k++) {
            rig_send(&rig, IN, HOST(OUT2), HOST(IN), Q << 13, 2000, 0);
            rig_settle(&rig);
        }
        rig_drain(&rig, OUT);
        rig_drain(&rig, OUT2);
    }
}

Test(dp_wred, s4_a_rewritten_dscp_and_a_mark_go_together)
{
    uint8_t seen[64];

    rig.conf[OUT].rewrite_dscp = 1u << Q;
    rig.conf[OUT].prio_to_dscp[Q] = 26;
    rig_apply(&rig);
    for (uint32_t i = 0; i < 30; i++)
        send(4, 0xb8 | ECN_ECT0, i);
    collect(seen);
    for (uint32_t i = 0; i < 30; i++)
        cr_assert_eq(seen[i], 26 << 2 | (i <= 20 ? ECN_ECT0 : ECN_CE));
}

Test(dp_wred, priority_group_drop_counters_count_only_limit_drops)
{
    const struct dp_port_counters *in = rig_n(&rig, IN);
    uint64_t before;

    /* Egress drops of every kind, a VLAN that is not carried, a reserved
     * address: the group has taken these frames, or never saw them. */
    for (uint32_t i = 0; i < 40; i++)
        send(4, 0, i);
    cr_assert_gt(rig_n(&rig, OUT)->drops[DP_DROP_WRED], 0);
    rig.conf[OUT].queue[Q].limit_bytes = 1;
    rig.conf[IN].all_trunks = false;
    rig.conf[IN].trunks[0] = 1;
    rig_apply(&rig);
    send(4, 0, 41);
    cr_assert_gt(rig_n(&rig, OUT)->drops[DP_DROP_QUEUE_LIMIT], 0);
    rig_send(&rig, IN, HOST(OUT), HOST(IN), Q << 13 | 5, FRAME, 0);
    rig_send(&rig, IN, UINT64_C(0x0180c2000002), HOST(IN), Q << 13, 64, 0);
    rig_send(&rig, IN, HOST(IN), HOST(IN), Q << 13, 64, 0);
    rig_settle(&rig);
    cr_assert_eq(in->drops[DP_DROP_VLAN], 1);
    cr_assert_eq(in->drops[DP_DROP_RESERVED], 1);
    cr_assert_eq(in->drops[DP_DROP_NO_PORT], 1);
    for (int g = 0; g < N_PG; g++)
        cr_assert_eq(in->pg_drops[g], 0, "group %d", g);

    /* And what the limit of the group drops is counted there, and only
     * there. */
    before = rig_n(&rig, OUT)->q_drops[Q];
    rig.conf[IN].pg[Q].limit_bytes = 0;
    rig_apply(&rig);
    for (uint32_t i = 0; i < 3; i++)
        send(4, 0, i);
    cr_assert_eq(in->pg_drops[Q], 3);
    cr_assert_eq(in->drops[DP_DROP_INGRESS_LIMIT], 3);
    cr_assert_eq(rig_n(&rig, OUT)->q_drops[Q], before);
}
