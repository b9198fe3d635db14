/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/base/ring: order, refusal when full, the counter of refusals.
 */
#include "base/ring.h"

#include <criterion/criterion.h>

Test(ring, keeps_order_across_wraps)
{
    struct ring *r = ring_create(4, sizeof(int));
    int next = 0;

    for (int i = 0; i < 100; i++) {
        int got;

        cr_assert(ring_put(r, &i));
        if (i % 3 == 2) {
            while (ring_get(r, &got))
                cr_assert_eq(got, next++);
        }
    }
    cr_assert_eq(next, 99);
    ring_destroy(r);
}

Test(ring, refuses_when_full_and_counts)
{
    struct ring *r = ring_create(3, sizeof(int)); /* rounded up to 4 */
    int v = 7;

    for (int i = 0; i < 4; i++)
        cr_assert(ring_put(r, &v));
    cr_assert_not(ring_put(r, &v));
    cr_assert_not(ring_put(r, &v));
    cr_assert_eq(ring_n_full(r), 2);
    cr_assert(ring_get(r, &v));
    cr_assert(ring_put(r, &v));
    ring_destroy(r);
}
