/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/dp, pfc-semantics section 10: every drop reason is counted once, in
 * frames and octets, by port, queue and in the audit, ports that were taken
 * out included; high-water marks begin anew without a loss; and what a peer
 * sends although it was told to pause is counted.
 */
#include "dp/dp_priv.h"
#include "tests/unit/flow_rig.h"

static struct rig rig;

static void
begin(uint32_t n_clones)
{
    rig_init_pool(&rig, 4, 256, n_clones);
    rig_lossless(&rig, 0, 1 << 3, 1000, 1000);
    rig_apply(&rig);
}

static void
init(void)
{
    begin(256);
}

static void
uninit(void)
{
    rig_uninit(&rig);
}

TestSuite(dp_counters, .init = init, .fini = uninit);

/* --- every reason once -------------------------------------------------- */

static void
runt(void)
{
    const uint8_t cut[14] = {2, 0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 0, 0x81, 0};

    cr_assert(netdev_mem_inject(rig.nd[0], cut, sizeof(cut)));
}

static void
reserved(void)
{
    rig_send(&rig, 0, UINT64_C(0x0180c200000e), HOST(0), NO_TAG, 100, 0);
}

static void
source(void)
{
    rig_send(&rig, 0, HOST(1), HOST(0) | UINT64_C(1) << 40, NO_TAG, 100, 0);
}

static void
vlan(void)
{
    rig.conf[2].vlan_mode = DP_VLAN_ACCESS;
    rig_apply(&rig);
    rig_send(&rig, 2, BROADCAST, HOST(2), 7, 100, 0);
}

static void
ingress_limit(void)
{
    rig.conf[0].pg[1].limit_bytes = 0;
    rig_apply(&rig);
    rig_send(&rig, 0, HOST(1), HOST(0), 1 << 13, 100, 0);
}

static void
headroom_exceeded(void)
{
    rig.conf[0].pg[3].limit_bytes = 0;
    rig.conf[0].pg[3].headroom_bytes = 99;
    rig_apply(&rig);
    rig_send(&rig, 0, HOST(1), HOST(0), 3 << 13, 100, 0);
}

static void
no_port(void)
{
    rig_learn(&rig, NO_TAG);
    rig_send(&rig, 0, HOST(0), HOST(0) + 0x1000, NO_TAG, 100, 0);
}

static void
no_clone(void)
{
    rig_send(&rig, 0, BROADCAST, HOST(0), NO_TAG, 100, 0);
}

static void
queue_limit(void)
{
    rig_learn(&rig, NO_TAG);
    rig.conf[1].queue[0].limit_bytes = 99;
    rig_apply(&rig);
    rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 100, 0);
}

static void
wred(void)
{
    rig_learn(&rig, NO_TAG);
    rig.conf[1].queue[0].wred.max_bytes = 1;
    rig.conf[1].pfc.honoured = 1;
    rig_apply(&rig);
    rig_pfc(&rig, 1, 1, 65535);
    for (uint32_t i = 0; i < 2; i++) /* the first finds an empty queue */
        rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 100, i);
}

static void
oversize(void)
{
    rig_learn(&rig, NO_TAG);
    rig.conf[1].max_frame_bytes = 99;
    rig_apply(&rig);
    rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 100, 0);
}

static void
port_down(void)
{
    rig_learn(&rig, NO_TAG);
    netdev_mem_set_down(rig.nd[1], true);
    rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 100, 0);
}

static void
port_removed(void)
{
    rig_learn(&rig, NO_TAG);
    rig.conf[1].pfc.honoured = 1;
    rig_apply(&rig);
    rig_pfc(&rig, 1, 1, 65535);
    rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 100, 0);
    rig_settle(&rig);
    rig.in[1] = false;
    rig_apply(&rig);
}

/* A storm of priority 3 on port 1, whose group 3 is lossless too. */
static void
begin_storm(void)
{
    rig_learn(&rig, NO_TAG);
    rig_lossless(&rig, 1, 1 << 3, 100000, 100000);
    rig.conf[1].dog = (struct watchdog_conf){
        .detection_ns = 100 * NS_PER_MS,
        .restoration_ns = 100 * NS_PER_MS,
        .poll_ns = 100 * NS_PER_MS,
        .action = WATCHDOG_DROP,
        .prios = 1 << 3,
    };
    rig_apply(&rig);
    for (int i = 0; i < 30; i++) {
        rig_pfc(&rig, 1, 1 << 3, 65535);
        rig_run(&rig, 10 * NS_PER_MS);
    }
}

static void
watchdog_rx(void)
{
    begin_storm();
    rig_send(&rig, 1, HOST(0), HOST(1), 3 << 13, 100, 0);
}

static void
watchdog_tx(void)
{
    begin_storm();
    rig_send(&rig, 0, HOST(1), HOST(0), 3 << 13, 100, 0);
}

static void
unknown_unicast(void)
{
    rig.base.drop_unknown = true;
    rig_lossless(&rig, 0, 1 << 3, 100000, 100000);
    rig_apply(&rig);
    rig_send(&rig, 0, HOST(1), HOST(0), 3 << 13, 100, 0);
}

static void
no_flow(void)
{
    struct ofp_instructions none = {.has_apply = true};
    struct ofp_match m = {0};

    fr_number(&rig);
    m_set(&m, OFP_IN_PORT, OF_PORT(1));
    fr_add(&rig, 0, 1, &m, &none);
    rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 100, 0);
}

static void
flow_drop(void)
{
    fr_number(&rig);
    fr_apply(&rig, (struct ofp_actions){0, NULL});
    rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 100, 0);
}

static void
make_meter(uint32_t id)
{
    struct ofp_meter m = {
        .id = id,
        .flags = OFPMF_PKTPS | OFPMF_BURST,
        .n_bands = 1,
        .band = {{OFPMBT_DROP, 1, 1, 0}},
    };

    fr_number(&rig);
    fr_meter(&rig, &m);
}

static void
meter(void)
{
    struct ofp_instructions inst = {
        .has_meter = true,
        .meter = 1,
        .has_apply = true,
        .apply = ACTIONS(a_output(OF_PORT(1))),
    };

    make_meter(1);
    fr_add(&rig, 0, 1, NULL, &inst);
    for (uint32_t i = 0; i < 2; i++)
        rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 100, 0);
}

static void
controller(void)
{
    make_meter(OFPM_CONTROLLER);
    fr_apply(&rig, ACTIONS(a_controller(OFPCML_NO_BUFFER)));
    for (uint32_t i = 0; i < 2; i++)
        rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 100, 0);
}

static void
ttl(void)
{
    uint8_t frame[128];
    uint32_t len = rig_ip_frame(frame, 0, 1, 4, NULL, 0, 0, 66, 0);

    fr_number(&rig);
    fr_apply(&rig, ACTIONS(a_ttl(OFP_ACT_SET_NW_TTL, 1),
                           a_type(OFP_ACT_DEC_NW_TTL), a_output(OF_PORT(1))));
    rig_inject(&rig, 0, frame, len);
}

/* Half of the buffers count as low. */
static void
no_buffer(void)
{
    rig.base.low_buffers = pkt_pool_n_buffers(dp_pool(rig.dp)) / 2;
    fr_number(&rig);
    fr_apply(&rig, ACTIONS(a_output(OF_PORT(1)), a_set(OFP_ETH_DST, 2),
                           a_output(OF_PORT(2))));
    rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 100, 0);
}

static void
port_config(void)
{
    rig_learn(&rig, NO_TAG);
    dp_of_set_port(rig.dp, 1, OFPPC_NO_FWD, true);
    rig_send(&rig, 0, HOST(1), HOST(0), NO_TAG, 100, 0);
}

/* What makes the datapath drop one frame of 100 octets, and where that is
 * counted. */
static const struct {
    void (*inject)(void); /* makes it */
    int port;             /* that counts it */
    uint32_t bytes;       /* of the frame */
    bool at_queue;        /* dropped at an egress queue */
} cases[DP_N_DROPS] = {
    [DP_DROP_RUNT] = {runt, 0, 14, false},
    [DP_DROP_RESERVED] = {reserved, 0, 100, false},
    [DP_DROP_SOURCE] = {source, 0, 100, false},
    [DP_DROP_VLAN] = {vlan, 2, 100, false},
    [DP_DROP_INGRESS_LIMIT] = {ingress_limit, 0, 100, false},
    [DP_DROP_HEADROOM_EXCEEDED] = {headroom_exceeded, 0, 100, false},
    [DP_DROP_NO_PORT] = {no_port, 0, 100, false},
    [DP_DROP_WATCHDOG_RX] = {watchdog_rx, 1, 100, false},
    [DP_DROP_UNKNOWN_UNICAST] = {unknown_unicast, 0, 100, false},
    [DP_DROP_NO_FLOW] = {no_flow, 0, 100, false},
    [DP_DROP_FLOW] = {flow_drop, 0, 100, false},
    [DP_DROP_METER] = {meter, 0, 100, false},
    [DP_DROP_TTL] = {ttl, 0, 100, false},
    [DP_DROP_NO_BUFFER] = {no_buffer, 0, 100, false},
    [DP_DROP_CONTROLLER] = {controller, 0, 100, false},
    [DP_DROP_PORT_CONFIG] = {port_config, 1, 100, true},
    [DP_DROP_WATCHDOG_TX] = {watchdog_tx, 1, 100, true},
    [DP_DROP_NO_CLONE] = {no_clone, -1, 100, true},
    [DP_DROP_QUEUE_LIMIT] = {queue_limit, 1, 100, true},
    [DP_DROP_WRED] = {wred, 1, 100, true},
    [DP_DROP_OVERSIZE] = {oversize, 1, 100, true},
    [DP_DROP_PORT_DOWN] = {port_down, 1, 100, true},
    [DP_DROP_PORT_REMOVED] = {port_removed, 1, 100, true},
};

/* Over all ports, those that were taken out too: reason, and all others. */
static void
sums(int reason, uint64_t *n, uint64_t *bytes, uint64_t *at_queue,
     uint64_t *others)
{
    *n = *bytes = *at_queue = *others = 0;
    for (uint32_t i = 0; i < rig.n_ports; i++) {
        const struct dp_port_counters *c = rig_n(&rig, i);

        *n += c->drops[reason];
        *bytes += c->drop_bytes[reason];
        for (int q = 0; q < N_QUEUE; q++) {
            *at_queue += c->queue_drops[q][reason];
            cr_assert_leq(c->queue_drops[q][reason], c->q_drops[q]);
        }
        for (int r = 0; r < DP_N_DROPS; r++)
            *others += r == reason ? 0 : c->drops[r];
    }
}

static void
check_case(int r)
{
    uint64_t n, bytes, at_queue, others;
    struct dp_audit audit;

    cr_assert(cases[r].inject, "%s is not tested",
              dp_drop_name((enum dp_drop) r));
    cases[r].inject();
    rig_settle(&rig);
    sums(r, &n, &bytes, &at_queue, &others);
    cr_assert_eq(n, 1, "%s: %lu", dp_drop_name((enum dp_drop) r),
                 (unsigned long) n);
    cr_assert_eq(bytes, cases[r].bytes);
    cr_assert_eq(at_queue, cases[r].at_queue);
    cr_assert_eq(others, 0, "%s", dp_drop_name((enum dp_drop) r));
    if (cases[r].port >= 0)
        cr_assert_eq(rig_n(&rig, (uint32_t) cases[r].port)->drops[r], 1);
    cr_assert(dp_audit(rig.dp, &audit));
    cr_assert_eq(audit.drops, 1);
    cr_assert_eq(audit.drops_by[r], 1);
}

Test(dp_drops, s10_every_reason_is_counted_once)
{
    for (int r = 0; r < DP_N_DROPS; r++) {
        /* A flood to three ports takes two copies. */
        begin(r == DP_DROP_NO_CLONE ? 1 : 256);
        check_case(r);
        uninit();
    }
}

Test(dp_counters, s10_group_drops_are_those_at_a_limit_and_no_others)
{
    for (int r = 0; r < DP_N_DROPS; r++) {
        uint64_t drops = 0, violations = 0, bytes = 0;

        uninit();
        init();
        cases[r].inject();
        rig_settle(&rig);
        for (int g = 0; g < N_PG; g++) {
            drops += rig_n(&rig, 0)->pg_drops[g];
            bytes += rig_n(&rig, 0)->pg_drop_bytes[g];
            violations += rig_n(&rig, 0)->pg_violations[g];
        }
        cr_assert_eq(drops, r == DP_DROP_INGRESS_LIMIT ||
                                r == DP_DROP_HEADROOM_EXCEEDED);
        cr_assert_eq(bytes, 100 * drops);
        cr_assert_eq(violations, r == DP_DROP_HEADROOM_EXCEEDED);
    }
}

/* --- marks -------------------------------------------------------------- */

static void
hold(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        rig_send(&rig, 0, HOST(1), HOST(0), 3 << 13, 100, i);
    rig_settle(&rig);
}

Test(dp_counters, s10_marks_begin_anew_from_what_is_held)
{
    struct dp_port_peaks p;

    rig.conf[1].pfc.honoured = 1 << 3;
    rig_apply(&rig);
    rig_learn(&rig, NO_TAG);
    rig_pfc(&rig, 1, 1 << 3, 65535);
    hold(12); /* 1000 of them shared, 200 in the headroom */
    dp_port_peaks(rig.state[0], &p);
    cr_assert_eq(p.pg_bytes[3], 1200);
    cr_assert_eq(p.pg_headroom[3], 200);
    dp_port_peaks(rig.state[1], &p);
    cr_assert_eq(p.q_bytes[3], 1200);
    rig_pfc(&rig, 1, 1 << 3, 0);
    rig_settle(&rig);
    for (uint32_t i = 0; i < 2; i++)
        dp_port_peaks_restart(rig.state[i]);
    dp_pool_peaks_restart(rig.dp);
    dp_port_peaks(rig.state[0], &p);
    cr_assert_eq(p.pg_bytes[3] + p.pg_headroom[3], 0);
    cr_assert_eq(dp_buf_pool(rig.dp)->shared_peak, 0);
    rig_pfc(&rig, 1, 1 << 3, 65535);
    hold(3);
    for (uint32_t i = 0; i < 2; i++)
        dp_port_peaks_restart(rig.state[i]);
    dp_pool_peaks_restart(rig.dp);
    dp_port_peaks(rig.state[0], &p);
    cr_assert_eq(p.pg_bytes[3], 300);
    dp_port_peaks(rig.state[1], &p);
    cr_assert_eq(p.q_bytes[3], 300);
    cr_assert_eq(dp_buf_pool(rig.dp)->shared_peak, 300);
}

/* --- a peer that does not obey ------------------------------------------ */

static uint64_t
late_peak(void)
{
    struct dp_port_peaks p;

    dp_port_peaks(rig.state[0], &p);
    return p.late_bytes[3];
}

Test(dp_counters, s6_counts_what_comes_after_the_peer_was_told)
{
    rig.conf[1].pfc.honoured = 1 << 3;
    rig.conf[0].pg[3].headroom_bytes = 100000;
    rig_apply(&rig);
    rig_learn(&rig, NO_TAG);
    rig_pfc(&rig, 1, 1 << 3, 65535);
    hold(9);
    cr_assert_eq(rig_n(&rig, 0)->late_frames[3], 0);
    hold(1); /* XOFF: what came with it was not late */
    cr_assert_eq(rig_n(&rig, 0)->late_frames[3], 0);
    hold(5);
    rig_send(&rig, 0, HOST(1), HOST(0), 4 << 13, 100, 0);
    rig_settle(&rig);
    cr_assert_eq(rig_n(&rig, 0)->late_frames[3], 5);
    cr_assert_eq(rig_n(&rig, 0)->late_bytes[3], 500);
    cr_assert_eq(rig_n(&rig, 0)->late_frames[4], 0);
    cr_assert_eq(late_peak(), 500);
    /* The pause of 33.6 ms ran out before it was repeated: from now on the
     * peer sends what it may. */
    rig.now_ns += 40 * NS_PER_MS;
    rig_pfc(&rig, 1, 1 << 3, 65535);
    hold(2);
    cr_assert_eq(rig_n(&rig, 0)->late_bytes[3], 700);
    cr_assert_eq(late_peak(), 500);
    /* A new pause begins from nothing. */
    rig_pfc(&rig, 1, 1 << 3, 0);
    rig_settle(&rig);
    rig_pfc(&rig, 1, 1 << 3, 65535);
    hold(10);
    hold(4);
    cr_assert_eq(rig_n(&rig, 0)->late_bytes[3], 1100);
    cr_assert_eq(late_peak(), 500);
    hold(2);
    cr_assert_eq(late_peak(), 600);
}

/* --- longest and latest pauses ------------------------------------------ */

Test(dp_counters, s10_pauses_are_recorded_both_ways)
{
    const struct pfc_counters *n = &dp_port_pfc(rig.state[0])->n;

    rig.conf[0].pfc.honoured = 1 << 3;
    rig_apply(&rig);
    rig_pfc(&rig, 0, 1 << 3, 65535);
    rig_settle(&rig);
    rig_run(&rig, 5 * NS_PER_MS);
    rig_pfc(&rig, 0, 1 << 3, 0);
    rig_settle(&rig);
    rig_pfc(&rig, 0, 1 << 3, 10);
    rig_settle(&rig);
    rig_run(&rig, NS_PER_MS);
    cr_assert_eq(n->rx_longest_ns[3], 5 * NS_PER_MS);
    cr_assert_eq(n->rx_last_ns[3], 5120);
    cr_assert_eq(n->rx_last_at_ns[3], n->rx_longest_at_ns[3] + 5120);
    dp_port_pauses_restart(rig.state[0]);
    cr_assert_eq(n->rx_longest_ns[3] + n->rx_last_ns[3] + n->rx_last_at_ns[3],
                 0);
    cr_assert_eq(n->rx_paused_ns[3], 5 * NS_PER_MS + 5120);
}
