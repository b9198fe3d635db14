/* SPDX-License-Identifier: Apache-2.0
 *
 * The life's end of a plan: see plan.h.  Control thread.
 */
#include "dp/plan.h"

#include <stdlib.h>

void
dp_plan_destroy(struct dp_plan *plan)
{
    if (!plan)
        return;
    for (int i = 0; i < DP_MAX_PORTS; i++)
        free(plan->ports[i]);
    free(plan);
}
