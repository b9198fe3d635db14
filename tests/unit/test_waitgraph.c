/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/qos/waitgraph: cyclic buffer dependencies.
 */
#include "qos/waitgraph.h"

#include "base/rng.h"

#include <criterion/criterion.h>

#define MAX 64

static struct waitgraph_edge e[MAX];
static uint32_t n;
static uint64_t cycle[MAX];

static void
edge(uint64_t from, uint64_t to)
{
    e[n++] = (struct waitgraph_edge){from, to, false};
}

Test(waitgraph, a_chain_has_no_cycle)
{
    edge(1, 2);
    edge(2, 3);
    edge(7, 3);
    edge(3, 9);
    cr_assert_eq(waitgraph_cycle(e, n, cycle, MAX), 0);
    cr_assert_eq(waitgraph_cycle(e, 0, cycle, MAX), 0);
}

Test(waitgraph, the_classic_one_of_three)
{
    edge(10, 20);
    edge(20, 30);
    edge(30, 10);
    edge(5, 10); /* waits for it, and is not in it */
    edge(20, 40);
    cr_assert_eq(waitgraph_cycle(e, n, cycle, MAX), 3);
    cr_assert_eq(cycle[0] + cycle[1] + cycle[2], 60);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(cycle[(i + 1) % 3], cycle[i] == 10   ? 20
                                         : cycle[i] == 20 ? 30
                                                          : 10);
    cr_assert_eq(waitgraph_cycle(e, n, cycle, MAX), 0, "only one");
}

Test(waitgraph, two_of_them_and_a_node_that_waits_for_itself)
{
    edge(1, 2);
    edge(2, 1);
    edge(8, 8);
    cr_assert_eq(waitgraph_cycle(e, n, cycle, MAX), 2);
    cr_assert_eq(waitgraph_cycle(e, n, cycle, MAX), 1);
    cr_assert_eq(cycle[0], 8);
    cr_assert_eq(waitgraph_cycle(e, n, cycle, MAX), 0);
}

Test(waitgraph, more_than_there_is_room_for)
{
    for (uint64_t i = 0; i < 10; i++)
        edge(i, (i + 1) % 10);
    cycle[3] = 99;
    cr_assert_eq(waitgraph_cycle(e, n, cycle, 3), 10);
    cr_assert_eq(cycle[3], 99);
}

/* Is `to` reached from `from` by edges? */
static bool
reaches(uint64_t from, uint64_t to, uint64_t *seen)
{
    for (uint32_t i = 0; i < n; i++) {
        if (e[i].from != from || (*seen >> i & 1))
            continue;
        *seen |= UINT64_C(1) << i;
        if (e[i].to == to || reaches(e[i].to, to, seen))
            return true;
    }
    return false;
}

Test(waitgraph, finds_one_when_and_only_when_there_is_one)
{
    struct rng r = {.state = 7};
    uint32_t n_found = 0;

    for (int run = 0; run < 3000; run++) {
        bool any = false;
        uint32_t len;

        n = 0;
        for (uint64_t i = rng_range(&r, 1, 12); i > 0; i--)
            edge(rng_below(&r, 10), rng_below(&r, 10));
        for (uint32_t i = 0; i < n; i++) {
            uint64_t seen = 0;

            any |=
                e[i].from == e[i].to || reaches(e[i].from, e[i].from, &seen);
        }
        len = waitgraph_cycle(e, n, cycle, MAX);
        cr_assert_eq(len > 0, any, "run %d", run);
        n_found += any;
        for (uint32_t i = 0; i < len; i++) {
            bool ok = false;

            for (uint32_t k = 0; k < n; k++)
                ok |= e[k].from == cycle[i] && e[k].to == cycle[(i + 1) % len];
            cr_assert(ok, "run %d: no edge %u", run, i);
        }
    }
    cr_assert_gt(n_found, 300);
    cr_assert_lt(n_found, 2900);
}
