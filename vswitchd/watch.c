/* SPDX-License-Identifier: Apache-2.0
 *
 * What the daemon looks at once a second: see watch.h.
 */
#include "watch.h"

#include "base/clock.h"
#include "base/log.h"
#include "build.h"
#include "daemon.h"
#include "events.h"
#include "links.h"
#include "netdev/hold.h"
#include "qos/headroom.h"

/* The stall is measured anew after that time; only then can it be found to be
 * less than the headrooms allow for. */
#define WINDOW_NS (600 * NS_PER_S)
#define STEP_NS   (500 * NS_PER_US)

/* --- drops below us ----------------------------------------------------- */

/* What the kernel has lost since we last looked. */
static void
watch_drops(struct bridge *b, struct port *p)
{
    static const char *const reasons[PORT_N_KERNEL] = {
        [PORT_KERNEL_RING] = "kernel-ring",
        [PORT_KERNEL_BACKLOG] = "kernel-backlog",
        [PORT_KERNEL_TX] = "kernel-tx",
    };
    struct netdev *nd = p->netdev;
    uint64_t now[PORT_N_KERNEL], n;

    if (!nd->cls->poll_kernel)
        return;
    nd->cls->poll_kernel(nd);
    port_kernel_drops(nd, now);
    for (int i = 0; i < PORT_N_KERNEL; i++) {
        n = now[i] - p->kernel_seen[i];
        p->kernel_seen[i] = now[i];
        if (!n || !port_is_lossless(b, p, i == PORT_KERNEL_TX))
            continue;
        p->kernel_violations += n;
        events_kernel_drops(b, p, reasons[i], n);
    }
}

/* --- arrivals ----------------------------------------------------------- */

/* Does a port receive faster than its line can carry?  A leaky bucket: what
 * has arrived, less what the line carries meanwhile.  When that is more than
 * could lie waiting anywhere before us, it is proven. */
static void
watch_arrivals(struct bridge *b, struct port *p, uint64_t now_ns)
{
    const struct dp_plan_port *pp = b->plan->ports[p->slot];
    uint64_t bytes = counter_get(&dp_port_counters(p->state)->rx_bytes);
    uint64_t n = bytes - p->arrival_bytes, ns = now_ns - p->arrival_ns;
    uint64_t carried, waiting;
    bool is_first = !p->arrival_ns;

    p->arrival_bytes = bytes;
    p->arrival_ns = now_ns;
    if (is_first || !pp)
        return;
    carried = (uint64_t) ((unsigned __int128) pp->pfc.rate_bps * ns /
                          (8 * NS_PER_S));
    waiting =
        counter_get(&p->netdev->stats.n_ring_slots) * b->sizes.frame_bytes;
    p->arrival_excess += n;
    p->arrival_excess -=
        p->arrival_excess < carried ? p->arrival_excess : carried;
    if (p->arrival_excess > waiting && n > carried) {
        uint64_t bps = (uint64_t) ((unsigned __int128) n * 8 * NS_PER_S / ns);

        if (bps > p->arrival_bps)
            p->arrival_bps = bps;
    }
}

/* --- the stall ---------------------------------------------------------- */

static bool
has_lossless(const struct bridge *b)
{
    for (int i = 0; i < DP_MAX_PORTS; i++)
        if (b->ports[i] && port_is_lossless(b, b->ports[i], false))
            return true;
    return false;
}

/* Automatic headrooms allow for another stall from now on. */
static void
allow_for(struct bridge *b, uint64_t stall_ns)
{
    struct build *x;
    struct err err;

    if (stall_ns < HEADROOM_MIN_STALL_NS)
        stall_ns = HEADROOM_MIN_STALL_NS;
    if (stall_ns == b->stall_ns)
        return;
    if (!has_lossless(b)) {
        b->stall_ns = stall_ns;
        return;
    }
    err_clear(&err);
    if (build_attach(b, NULL, false, stall_ns, &x, &err)) {
        log_warn("bridge %s: headroom: %s", b->name, err.msg);
        return;
    }
    log_info("bridge %s: headrooms allow for a stall of %llu us now, %llu us "
             "are wanted",
             b->name, (unsigned long long) (x->allowed_ns / NS_PER_US),
             (unsigned long long) (stall_ns / NS_PER_US));
    build_commit(b->daemon, &x, 1, NULL, 0);
}

static uint64_t
with_margin(uint64_t measured_ns)
{
    return (measured_ns * 5 / 4 + STEP_NS - 1) / STEP_NS * STEP_NS;
}

static void
reset_stall(struct dp *dp, void *arg)
{
    (void) arg;
    dp_stall_reset(dp);
}

/* The longest that it took a tap to hold back who sends: until then frames
 * arrive as they do while the thread does not run.  After a while none is read
 * any more. */
static uint64_t
slowest_hold_ns(const struct bridge *b)
{
    uint64_t worst_ns = 0;

    for (int i = 0; i < DP_MAX_PORTS; i++) {
        const struct port *p = b->ports[i];
        uint64_t ns =
            p && p->netdev ? counter_get(&p->netdev->stats.hold_worst_ns) : 0;

        if (ns > worst_ns)
            worst_ns = ns;
    }
    return worst_ns < HOLD_LATE_NS ? worst_ns : HOLD_LATE_NS;
}

void
watch_stall(struct bridge *b)
{
    uint64_t now_ns = clock_ns();
    const struct dp_stall *s = dp_stall(b->dp);
    uint64_t measured_ns = bridge_stall_ns(b) + slowest_hold_ns(b);

    if (counter_get(&s->max_ns) > b->stall_longest_ns)
        b->stall_longest_ns = counter_get(&s->max_ns);
    if (!b->window_ns)
        b->window_ns = now_ns;
    if (measured_ns > b->stall_ns && measured_ns > b->stall_wanted_ns) {
        allow_for(b, with_margin(measured_ns));
        b->stall_wanted_ns = with_margin(measured_ns);
    }
    if (now_ns - b->window_ns < WINDOW_NS)
        return;
    if (measured_ns * 2 < b->stall_ns) {
        allow_for(b, with_margin(measured_ns));
        b->stall_wanted_ns = 0;
    }
    bridge_call(b, reset_stall, NULL);
    b->window_ns = now_ns;
}

/* --- all of it ---------------------------------------------------------- */

void
watch_tick(struct daemon *d)
{
    uint64_t now_ns = clock_ns();

    for (uint32_t i = 0; i < d->n_bridges; i++) {
        struct bridge *b = d->bridges[i];
        bool is_muted = dp_thread_n_muted(b->thread) > 0;

        bridge_reap(b);
        for (int s = 0; s < DP_MAX_PORTS; s++) {
            struct port *p = b->ports[s];

            if (!p)
                continue;
            if (p->netdev) {
                watch_drops(b, p);
                watch_arrivals(b, p, now_ns);
            }
            events_violations(b, p);
            /* What keeps a bridge from having its own port is not likely to
             * pass, but for a name that is taken: then the kernel tells. */
            if ((p->netdev ? p->netdev->outgrown : !p->is_local) || is_muted)
                links_check_port(b, p);
        }
        if (is_muted)
            bridge_poll_again(b);
        watch_stall(b);
    }
}
