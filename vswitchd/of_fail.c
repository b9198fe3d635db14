/* SPDX-License-Identifier: Apache-2.0
 *
 * What a bridge does while no controller is connected, as in Open vSwitch.
 * Without any configured, standalone has one entry, NORMAL; secure has none.
 * With controllers configured the tables are theirs; when all have been away
 * for three probe intervals, standalone forwards like an ordinary bridge,
 * whatever the tables hold, until one is back.  Control thread.
 */
#include "of_int.h"

#include "base/clock.h"
#include "ofbridge.h"

#include <string.h>

static void
set_open(struct ofd_control *of, bool open)
{
    if (of->is_open == open)
        return;
    of->is_open = open;
    if (open)
        log_warn("bridge %s: no controller answers: it forwards like an "
                 "ordinary bridge",
                 of->name);
    else
        log_info("bridge %s: its flow tables are in force again", of->name);
    ofbridge_set_default(ofd_ofbridge(of),
                         open ? FLOW_DEFAULT_ALWAYS : FLOW_DEFAULT_NONE);
}

void
ofd_fail_conf(struct ofd_control *of, const struct conf_openflow *was)
{
    const struct conf_openflow *to = &of->conf;
    bool had = ofd_has_controllers(was), has = ofd_has_controllers(to);
    bool normal = !has && to->fail_mode == CONF_FAIL_STANDALONE;
    bool is_new = !of->is_known; /* it has NORMAL, and had no controllers */

    of->is_known = true;
    if (!has || to->fail_mode == CONF_FAIL_SECURE) {
        of->lost_ns = 0;
        set_open(of, false);
    }
    if (has && !of->lost_ns)
        of->lost_ns = clock_ns();
    if (is_new ? !normal
               : had != has || (!has && was->fail_mode != to->fail_mode))
        ofbridge_flush(ofd_ofbridge(of), normal);
}

static bool
is_anyone_there(const struct ofd_control *of)
{
    for (uint32_t i = 0; i < of->n_targets; i++)
        if (of->target[i]->state == OF_CONNECTED)
            return true;
    return false;
}

/* Three times the longest of their probes. */
static uint64_t
patience_ns(const struct ofd_control *of)
{
    uint32_t ms = 0;

    for (uint32_t i = 0; i < of->n_targets; i++) {
        const struct ofd_target *t = of->target[i];

        if (!t->t.passive && t->conf.probe_ms > ms)
            ms = t->conf.probe_ms;
    }
    return OF_FAIL_PROBES * (ms ? ms : OF_DEFAULT_PROBE) * NS_PER_MS;
}

uint64_t
ofd_fail_tick(struct ofd_control *of, uint64_t now_ns)
{
    if (!ofd_has_controllers(&of->conf) ||
        of->conf.fail_mode == CONF_FAIL_SECURE)
        return CLOCK_NEVER;
    if (is_anyone_there(of)) {
        of->lost_ns = 0;
        set_open(of, false);
        return CLOCK_NEVER;
    }
    if (!of->lost_ns)
        of->lost_ns = now_ns;
    if (of->is_open)
        return CLOCK_NEVER;
    if (now_ns < of->lost_ns + patience_ns(of))
        return of->lost_ns + patience_ns(of);
    set_open(of, true);
    return CLOCK_NEVER;
}
