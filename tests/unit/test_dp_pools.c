/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/dp, pfc-semantics section 5: several pools in one memory, dynamic limits
 * of groups and of lossy queues, and headroom that groups share; all of it
 * changed under traffic.  The rig audits the books after every turn.
 */
#include "tests/unit/dp_rig.h"

#include "base/rng.h"

#define P(n) (1u << (n))

static struct rig rig;

static void
uninit(void)
{
    rig_uninit(&rig);
}

TestSuite(dp_pools, .fini = uninit);

static void
offer(uint32_t from, int prio, uint32_t n, uint32_t len)
{
    for (uint32_t i = 0; i < n; i++)
        rig_send(&rig, from, HOST(2), HOST(from), prio << 13, len, i);
    rig_settle(&rig);
}

/* Ports 0 and 1 send to port 2, which is paused on all priorities. */
static void
begin(void)
{
    rig_init(&rig, 3);
    rig.conf[2].pfc.honoured = 0xff;
    rig.base.shared_bytes = 100000;
    rig.base.pool_bytes[1] = 20000;
}

static void
start(void)
{
    rig_apply(&rig);
    rig_learn(&rig, NO_TAG);
    rig_pfc(&rig, 2, 0xff, 65535);
    rig_settle(&rig);
}

static uint64_t
used(unsigned pool)
{
    return counter_get(&dp_buf_pool_at(rig.dp, pool)->shared_used);
}

static uint64_t
drops(uint32_t port, enum dp_drop reason)
{
    return counter_get(&rig_n(&rig, port)->drops[reason]);
}

Test(dp_pools, s5_a_full_pool_leaves_the_others_alone)
{
    begin();
    rig.conf[0].pg[1].pool = 1;
    start();
    offer(0, 1, 30, 1000);
    cr_assert_eq(used(1), 20000);
    cr_assert_eq(drops(0, DP_DROP_INGRESS_LIMIT), 10);
    offer(0, 2, 30, 1000);
    offer(1, 1, 30, 1000);
    cr_assert_eq(used(0), 60000);
    cr_assert_eq(drops(0, DP_DROP_INGRESS_LIMIT), 10);
    cr_assert_eq(drops(1, DP_DROP_INGRESS_LIMIT), 0);
}

/* What is held goes along, and nothing is lost by it; only the next frame
 * meets the limit of the other pool. */
Test(dp_pools, s5_a_group_moves_to_another_pool_under_traffic)
{
    begin();
    start();
    offer(0, 1, 30, 1000);
    cr_assert_eq(used(0), 30000);
    rig.conf[0].pg[1].pool = 1;
    rig_apply(&rig);
    cr_assert_eq(used(0), 0);
    cr_assert_eq(used(1), 30000);
    offer(0, 1, 1, 1000);
    cr_assert_eq(drops(0, DP_DROP_INGRESS_LIMIT), 1);
    rig_pfc(&rig, 2, 0xff, 0);
    rig_settle(&rig);
    cr_assert_eq(used(1), 0);
    cr_assert_eq(rig_drain(&rig, 2), 30);
}

/* Of 20,000 bytes a group with alpha 1 gets half; two of them a third each:
 * each stops where its usage is what is left. */
Test(dp_pools, s5_dynamic_groups_divide_a_pool)
{
    begin();
    for (int i = 0; i < 2; i++) {
        rig.conf[i].pg[1].pool = 1;
        rig.conf[i].pg[1].alpha = 0;
    }
    start();
    offer(0, 1, 30, 1000);
    cr_assert_eq(used(1), 10000);
    offer(1, 1, 30, 1000);
    cr_assert_eq(used(1), 15000);
    rig_pfc(&rig, 2, P(1), 0);
    rig_settle(&rig);
    rig_pfc(&rig, 2, P(1), 65535);
    rig_settle(&rig);
    for (int i = 0; i < 30; i++) {
        offer(0, 1, 1, 500);
        offer(1, 1, 1, 500);
    }
    cr_assert_leq(used(1), 14000);
    cr_assert_geq(used(1), 13000);
}

/* A lossless one does not drop there: it pauses its peer, and goes on when the
 * pool has room again although nothing of its own left. */
Test(dp_pools, s5_dynamic_limit_makes_xoff_and_xon)
{
    begin();
    rig_lossless(&rig, 0, P(3), 1, 4000);
    rig.conf[0].pg[3].pool = 1;
    rig.conf[0].pg[3].alpha = 0;
    rig.conf[0].pg[3].xon_bytes = 0;
    rig.conf[0].pg[3].xon_offset_bytes = 2000;
    rig.conf[1].pg[1].pool = 1;
    start();
    offer(1, 1, 8, 1000);
    offer(0, 3, 5, 1000);
    cr_assert_not(dp_port_group(rig.state[0], 3)->xoff);
    offer(0, 3, 1, 1000);
    cr_assert(dp_port_group(rig.state[0], 3)->xoff);
    offer(0, 3, 4, 1000);
    cr_assert_eq(drops(0, DP_DROP_HEADROOM_EXCEEDED), 0);
    rig_pfc(&rig, 2, P(1), 0);
    rig_settle(&rig);
    cr_assert(dp_port_group(rig.state[0], 3)->xoff, "headroom is in use");
    rig_pfc(&rig, 2, P(3), 0);
    rig_settle(&rig);
    cr_assert_not(dp_port_group(rig.state[0], 3)->xoff);
    cr_assert_eq(rig_n_events(&rig, DP_EV_XOFF, 0), 1);
    cr_assert_eq(rig_n_events(&rig, DP_EV_XON, 0), 1);
}

/* Half of what is free: with n bytes queued, and 20,000 - n free, a queue
 * stops at a third. */
Test(dp_pools, s5_lossy_queue_with_dynamic_limit)
{
    begin();
    rig.conf[0].pg[1].pool = 1;
    rig.conf[2].queue[1].alpha = -1;
    rig.conf[2].queue[1].pool = 1;
    start();
    offer(0, 1, 30, 100);
    cr_assert_eq(drops(2, DP_DROP_QUEUE_LIMIT), 0);
    offer(0, 1, 60, 100);
    /* The charge of the frame itself counts too. */
    cr_assert_eq(rig_n(&rig, 2)->q_bytes[1], 6600);
    cr_assert_eq(drops(2, DP_DROP_QUEUE_LIMIT), 24);
    /* And back to a static one, under traffic: what is queued stays. */
    rig.conf[2].queue[1].alpha = BUF_ALPHA_NONE;
    rig.conf[2].queue[1].limit_bytes = 7000;
    rig_apply(&rig);
    offer(0, 1, 10, 100);
    cr_assert_eq(rig_n(&rig, 2)->q_bytes[1], 7000);
    cr_assert_eq(drops(2, DP_DROP_QUEUE_LIMIT), 30);
}

/* However the pool fills and empties, and however large it is, each frame is
 * taken or not by what is free at that moment.  Frames to queue 4 take it up
 * too, and leave at times. */
Test(dp_pools, s5_each_frame_meets_the_dynamic_limit_of_its_moment)
{
    struct rng rng = {.state = 42};
    uint64_t n_fit = 0, n_dropped = 0;

    rig_init_pool(&rig, 3, 4096, 64);
    rig.conf[2].pfc.honoured = 0xff;
    rig.base.shared_bytes = 100000;
    rig.base.pool_bytes[1] = 1500000;
    for (int i = 0; i < 2; i++)
        rig.conf[i].pg[1].pool = rig.conf[i].pg[4].pool = 1;
    rig.conf[2].queue[1].alpha = -1;
    rig.conf[2].queue[1].pool = 1;
    rig.conf[2].queue[4].limit_bytes = 900000;
    for (int i = 0; i < 2; i++)
        rig.conf[i].pg[1].limit_bytes = rig.conf[i].pg[4].limit_bytes =
            UINT64_MAX;
    start();
    for (uint32_t i = 0; i < 4000; i++) {
        uint32_t len = (uint32_t) rng_range(&rng, 60, 1500);
        int prio = rng_below(&rng, 3) ? 1 : 4;
        uint64_t was = rig_n(&rig, 2)->q_bytes[1], free;
        uint64_t dropped = drops(2, DP_DROP_QUEUE_LIMIT);

        free = 1500000 - used(1);
        offer(0, prio, 1, len);
        if (prio == 1) {
            bool fits = was + len <= (free - len) / 2;

            cr_assert_eq(rig_n(&rig, 2)->q_bytes[1], was + (fits ? len : 0));
            cr_assert_eq(drops(2, DP_DROP_QUEUE_LIMIT), dropped + !fits);
            n_fit += fits;
            n_dropped += !fits;
        }
        if (rng_below(&rng, 300) == 0) { /* some leave */
            rig_pfc(&rig, 2, P(1) | P(4), 0);
            for (uint64_t n = rng_range(&rng, 1, 12); n > 0; n--)
                rig_turn(&rig);
            rig_pfc(&rig, 2, 0xff, 65535);
            rig_settle(&rig);
            rig_drain(&rig, 2);
        }
    }
    cr_assert(n_fit > 500 && n_dropped > 500, "%d, %d", (int) n_fit,
              (int) n_dropped);
}

/* Two groups that may each use 4000 bytes draw from 6000. */
Test(dp_pools, s5_headroom_from_one_pool)
{
    begin();
    rig.base.hdrm_pool_bytes = 6000;
    for (uint32_t i = 0; i < 2; i++)
        rig_lossless(&rig, i, P(3), 2000, 4000);
    start();
    offer(0, 3, 6, 1000);
    cr_assert_eq(counter_get(&dp_buf_hdrm(rig.dp)->used), 4000);
    offer(0, 3, 1, 1000);
    cr_assert_eq(drops(0, DP_DROP_HEADROOM_EXCEEDED), 1);
    offer(1, 3, 4, 1000);
    cr_assert_eq(counter_get(&dp_buf_hdrm(rig.dp)->used), 6000);
    offer(1, 3, 1, 1000);
    cr_assert_eq(drops(1, DP_DROP_HEADROOM_EXCEEDED), 1);
    /* A larger one holds from the next frame on. */
    rig.base.hdrm_pool_bytes = 7000;
    rig_apply(&rig);
    offer(1, 3, 2, 1000);
    cr_assert_eq(drops(1, DP_DROP_HEADROOM_EXCEEDED), 2);
    rig_pfc(&rig, 2, P(3), 0);
    rig_settle(&rig);
    cr_assert_eq(counter_get(&dp_buf_hdrm(rig.dp)->used), 0);
    cr_assert_eq(counter_get(&dp_buf_hdrm(rig.dp)->peak), 7000);
}
