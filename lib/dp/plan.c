/* SPDX-License-Identifier: Apache-2.0
 *
 * The life's end of a plan: see plan.h.  Control thread.
 */
#include "dp/plan.h"

#include "dp/cable.h"
#include "dp/dp.h"

#include <errno.h>

#include <stdlib.h>

int
dp_plan_make_cables(struct dp_plan *plan)
{
    for (int i = 0; i < DP_MAX_PORTS; i++) {
        struct dp_plan_port *pp = plan->ports[i];
        uint64_t has;

        if (!pp || !pp->cable_delay_ns)
            continue;
        has = pp->cable   ? pp->cable->size
              : pp->state ? dp_port_cable_bytes(pp->state)
                          : 0;
        if (has >= pp->cable_bytes)
            continue;
        dp_cable_destroy(pp->cable);
        pp->cable = dp_cable_create(pp->cable_bytes);
        if (!pp->cable)
            return ENOMEM;
    }
    return 0;
}

void
dp_plan_destroy(struct dp_plan *plan)
{
    if (!plan)
        return;
    for (int i = 0; i < DP_MAX_PORTS; i++) {
        if (plan->ports[i])
            dp_cable_destroy(plan->ports[i]->cable);
        free(plan->ports[i]);
    }
    free(plan);
}
