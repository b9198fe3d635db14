/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/dp, the stall that it measures: how long a frame could lie in a ring
 * unseen (dp.h).
 */
#include "tests/unit/dp_rig.h"

static struct rig rig;

static void
init(void)
{
    rig_init(&rig, 2);
    rig_settle(&rig);
    dp_stall_reset(rig.dp);
}

static void
uninit(void)
{
    rig_uninit(&rig);
}

TestSuite(dp_stall, .init = init, .fini = uninit);

/* A turn after ns; the next one is wanted at once. */
static void
busy_turn(uint64_t ns)
{
    for (uint32_t i = 0; i < 32; i++)
        rig_send(&rig, 0, BROADCAST, HOST(0), NO_TAG, 64, i);
    rig.now_ns += ns;
    cr_assert_eq(rig_turn(&rig), rig.now_ns);
    rig_drain(&rig, 1);
}

Test(dp_stall, an_idle_switch_has_none)
{
    rig.now_ns += NS_PER_S;
    rig_turn(&rig);
    rig.now_ns += NS_PER_S;
    rig_send(&rig, 0, BROADCAST, HOST(0), NO_TAG, 64, 1);
    rig_turn(&rig);
    cr_assert_eq(dp_stall(rig.dp)->n_turns, 0);
    cr_assert_eq(dp_stall(rig.dp)->max_ns, 0);
}

Test(dp_stall, the_gap_between_busy_turns_is_one)
{
    busy_turn(NS_PER_S);
    cr_assert_eq(dp_stall(rig.dp)->n_turns, 0, "none was wanted before");
    busy_turn(5000);
    busy_turn(3000);
    cr_assert_eq(dp_stall(rig.dp)->n_turns, 2);
    cr_assert_eq(dp_stall(rig.dp)->max_ns, 5000);
    cr_assert_eq(dp_stall(rig.dp)->p9999_ns, 5000);
}

Test(dp_stall, being_late_for_a_deadline_is_one)
{
    rig.conf[1].pfc.honoured = 1;
    rig_apply(&rig);
    rig_pfc(&rig, 1, 1, 1000);
    rig_settle(&rig);
    dp_stall_reset(rig.dp);
    cr_assert_eq(rig.next_ns, rig.now_ns + 512000);
    rig.now_ns += 1000;
    rig_turn(&rig);
    cr_assert_eq(dp_stall(rig.dp)->n_turns, 0, "woken early");
    rig.now_ns = rig.next_ns + 777;
    rig_turn(&rig);
    cr_assert_eq(dp_stall(rig.dp)->n_turns, 1);
    cr_assert_eq(dp_stall(rig.dp)->max_ns, 777);
}

Test(dp_stall, the_percentile_leaves_the_rare_out)
{
    busy_turn(1);
    for (int i = 0; i < 20480; i++)
        busy_turn(i == 5000 ? 9000000 : 1000 + (uint64_t) i % 3);
    cr_assert_eq(dp_stall(rig.dp)->max_ns, 9000000);
    cr_assert_geq(dp_stall(rig.dp)->p9999_ns, 1002);
    cr_assert_leq(dp_stall(rig.dp)->p9999_ns, 1002 * 9 / 8);
    dp_stall_reset(rig.dp);
    cr_assert_eq(dp_stall(rig.dp)->max_ns, 0);
    cr_assert_eq(dp_stall(rig.dp)->p9999_ns, 0);
}

Test(dp_stall, the_longest_there_is_does_not_break_it)
{
    busy_turn(1);
    busy_turn(UINT64_C(1) << 60);
    cr_assert_eq(dp_stall(rig.dp)->max_ns, UINT64_C(1) << 60);
    cr_assert_eq(dp_stall(rig.dp)->p9999_ns, UINT64_C(1) << 60);
}
