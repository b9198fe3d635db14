/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/dp, maps: from PCP and DSCP to priority, queue and group, and what is
 * rewritten on the way out; pfc-semantics section 4.
 */
#include "tests/unit/dp_rig.h"

#define TAG(tpid, tci) ((uint32_t) (tpid) << 16 | (uint32_t) (tci))
#define PCP(p)         ((p) << 13)
#define DEI            0x1000
#define DS(dscp, ecn)  ((uint8_t) ((dscp) << 2 | (ecn)))
#define CTAG(tci)      TAG(ETH_T_VLAN, tci)
#define STAG(tci)      TAG(ETH_T_SVLAN, tci)

enum { IN, OUT, OUT2, N_PORTS };

static struct rig rig;

static void
init(void)
{
    rig_init(&rig, N_PORTS);
    for (uint32_t i = 0; i < N_PORTS; i++)
        for (int d = 0; d < 64; d++)
            rig.conf[i].dscp_to_prio[d] = (uint8_t) (d >> 3);
    rig_apply(&rig);
}

static void
uninit(void)
{
    rig_uninit(&rig);
}

TestSuite(dp_map, .init = init, .fini = uninit);

static void
send_ip(int version, const uint32_t *tags, int n_tags, uint8_t ds)
{
    uint8_t frame[256];
    uint32_t len =
        rig_ip_frame(frame, IN, OUT, version, tags, n_tags, ds, 64, 7);

    rig_inject(&rig, IN, frame, len);
    rig_settle(&rig);
}

/* The priority that a frame which was just sent got: by the group that it was
 * charged to and the queue that it left by, which both are the identity. */
static int
prio_of_sent(void)
{
    static uint64_t groups[N_PG], queues[N_QUEUE];
    int prio = -1;

    for (int i = 0; i < 8; i++) {
        uint64_t g = rig_n(&rig, IN)->pg_rx_frames[i];
        uint64_t q = rig_n(&rig, OUT)->q_tx_frames[i];

        if (g != groups[i]) {
            cr_assert_eq(prio, -1);
            cr_assert_eq(g, groups[i] + 1);
            cr_assert_eq(q, queues[i] + 1, "group %d, but not its queue", i);
            prio = i;
        }
        groups[i] = g;
        queues[i] = q;
    }
    rig_drain(&rig, OUT);
    rig_drain(&rig, OUT2);
    return prio;
}

Test(dp_map, s4_trust_dscp_all_64_values_both_versions_with_and_without_tags)
{
    static const uint32_t tags[] = {STAG(PCP(5) | 10), CTAG(PCP(6) | 20)};

    rig.conf[IN].trust = DP_TRUST_DSCP;
    for (int d = 0; d < 64; d++)
        rig.conf[IN].dscp_to_prio[d] = (uint8_t) (d * 5 % 8);
    rig_apply(&rig);
    for (int version = 4; version <= 6; version += 2)
        for (int n_tags = 0; n_tags <= 2; n_tags++)
            for (int d = 0; d < 64; d++) {
                send_ip(version, tags, n_tags, DS(d, d % 4));
                cr_assert_eq(prio_of_sent(), d * 5 % 8,
                             "IPv%d, %d tags, DSCP %d", version, n_tags, d);
            }
}

Test(dp_map, s4_trust_pcp_all_8_values_whatever_the_dscp)
{
    for (int p = 0; p < 8; p++)
        rig.conf[IN].pcp_to_prio[p] = (uint8_t) (7 - p);
    rig.conf[IN].default_prio = 2;
    rig_apply(&rig);
    for (int p = 0; p < 8; p++)
        for (int vid = 0; vid <= 9; vid += 9) {
            uint32_t tag = CTAG(PCP(p) | vid);

            send_ip(4, &tag, 1, DS(46, 0));
            cr_assert_eq(prio_of_sent(), 7 - p);
        }
    send_ip(4, NULL, 0, DS(46, 0));
    cr_assert_eq(prio_of_sent(), 2, "untagged: the port's default");
}

Test(dp_map, s4_trust_port_ignores_both)
{
    uint32_t tag = CTAG(PCP(6));

    rig.conf[IN].trust = DP_TRUST_PORT;
    rig.conf[IN].default_prio = 1;
    rig_apply(&rig);
    send_ip(4, &tag, 1, DS(46, 0));
    cr_assert_eq(prio_of_sent(), 1);
    send_ip(6, NULL, 0, DS(46, 0));
    cr_assert_eq(prio_of_sent(), 1);
}

Test(dp_map, s4_trust_dscp_falls_back_to_the_pcp_and_then_to_the_port)
{
    rig.conf[IN].trust = DP_TRUST_DSCP;
    rig.conf[IN].default_prio = 1;
    rig.conf[IN].pcp_to_prio[5] = 2;
    rig_apply(&rig);
    rig_send(&rig, IN, HOST(OUT), HOST(IN), PCP(5), 64, 1);
    rig_settle(&rig);
    cr_assert_eq(prio_of_sent(), 2, "tagged, no IP: by PCP");
    rig_send(&rig, IN, HOST(OUT), HOST(IN), NO_TAG, 64, 1);
    rig_settle(&rig);
    cr_assert_eq(prio_of_sent(), 1, "untagged, no IP: the port's default");
}

/* Headers that are cut or are not what the EtherType says are no IP. */
Test(dp_map, s4_trust_dscp_does_not_believe_half_a_header)
{
    uint8_t frame[256], bad[256];
    uint32_t len = rig_ip_frame(frame, IN, OUT, 4, NULL, 0, 0xff, 64, 1);

    rig.conf[IN].trust = DP_TRUST_DSCP;
    rig.conf[IN].default_prio = 1;
    rig_apply(&rig);
    for (uint32_t n = 14; n < 34; n++) {
        rig_inject(&rig, IN, frame, n);
        rig_settle(&rig);
        cr_assert_eq(prio_of_sent(), 1, "%u octets", n);
    }
    rig_inject(&rig, IN, frame, 34);
    rig_settle(&rig);
    cr_assert_eq(prio_of_sent(), 7);
    for (unsigned first = 0; first < 256; first++) {
        bool good = first >> 4 == 4 && (first & 15) >= 5;

        memcpy(bad, frame, len);
        bad[14] = (uint8_t) first;
        rig_inject(&rig, IN, bad, len);
        rig_settle(&rig);
        cr_assert_eq(prio_of_sent(), good ? 7 : 1, "first octet %#x", first);
    }
}

Test(dp_map, s4_priority_to_queue_and_to_group)
{
    for (int p = 0; p < 8; p++) {
        rig.conf[OUT].prio_to_queue[p] = (uint8_t) ((p + 3) % 8);
        rig.conf[IN].prio_to_pg[p] = (uint8_t) (p / 2);
        rig.conf[OUT].prio_to_pg[p] = 7; /* that is of what comes in there */
    }
    rig_apply(&rig);
    rig_learn(&rig, 0);
    for (int p = 0; p < 8; p++) {
        uint64_t g = rig_n(&rig, IN)->pg_rx_frames[p / 2];
        uint64_t q = rig_n(&rig, OUT)->q_tx_frames[(p + 3) % 8];

        rig_send(&rig, IN, HOST(OUT), HOST(IN), PCP(p), 64, 1);
        rig_settle(&rig);
        cr_assert_eq(rig_n(&rig, IN)->pg_rx_frames[p / 2], g + 1);
        cr_assert_eq(rig_n(&rig, OUT)->q_tx_frames[(p + 3) % 8], q + 1);
    }
}

/* --- rewriting ----------------------------------------------------------- */

Test(dp_map, s4_pcp_and_dscp_leave_as_they_came_without_a_rewrite_map)
{
    uint8_t frame[256], got[2048];
    uint32_t tag = CTAG(PCP(2) | DEI | 10), len;

    rig.conf[IN].trust = DP_TRUST_DSCP;
    rig_apply(&rig);
    len = rig_ip_frame(frame, IN, OUT, 4, &tag, 1, DS(46, 1), 64, 1);
    rig_inject(&rig, IN, frame, len);
    rig_settle(&rig);
    cr_assert_eq(rig_take(&rig, OUT, got), len);
    cr_assert_arr_eq(got, frame, len);
}

Test(dp_map, s4_rewrite_dscp_for_the_priorities_that_have_one_ecn_stays)
{
    static const uint32_t tags[] = {STAG(PCP(3) | 10), CTAG(PCP(1) | 20)};

    for (int p = 0; p < 8; p++)
        rig.conf[OUT].prio_to_dscp[p] = (uint8_t) (8 * p + 5);
    rig.conf[OUT].rewrite_dscp = 0xfe; /* 0 stays */
    rig_apply(&rig);
    for (int version = 4; version <= 6; version += 2)
        for (int n_tags = 0; n_tags <= 2; n_tags++)
            for (int ds = 0; ds < 256; ds += 3) {
                struct eth_info info;
                uint8_t got[2048], seen;

                send_ip(version, tags, n_tags, (uint8_t) ds);
                cr_assert(rig_take_ip(&rig, OUT, got, &info, &seen));
                /* Untagged ones have priority 0. */
                cr_assert_eq(seen, n_tags ? DS(29, ds & 3) : ds);
                cr_assert_eq(info.n_tags, n_tags);
                cr_assert_eq(rig_seq(got, 14 + 4 * (uint32_t) n_tags +
                                              (version == 4 ? 84 : 104)),
                             7);
                rig_drain(&rig, OUT2);
            }
}

Test(dp_map, s4_rewrite_is_of_the_egress_port_and_spares_the_other_copies)
{
    uint8_t frame[256], a[2048], b[2048], ds;
    uint32_t tag = CTAG(PCP(3) | 10), len;
    struct eth_info info;

    rig.conf[OUT].rewrite_dscp = rig.conf[OUT].rewrite_pcp = 1u << 3;
    rig.conf[OUT].prio_to_dscp[3] = 26;
    rig.conf[OUT].prio_to_pcp[3] = 6;
    rig_apply(&rig);
    len = rig_ip_frame(frame, IN, 99, 4, &tag, 1, DS(1, 2), 64, 1);
    for (int turn = 0; turn < 2; turn++) { /* whichever copy is the first */
        uint32_t changed = turn ? OUT2 : OUT, other = turn ? OUT : OUT2;

        rig_inject(&rig, IN, frame, len); /* flooded */
        rig_settle(&rig);
        cr_assert_eq(rig_take_ip(&rig, changed, a, &info, &ds), len);
        cr_assert_eq(ds, DS(26, 2));
        cr_assert_eq(info.tci, PCP(6) | 10);
        cr_assert_eq(rig_take(&rig, other, b), len);
        cr_assert_arr_eq(b, frame, len);
        rig.conf[OUT2].prio_to_dscp[3] = 26;
        rig.conf[OUT2].prio_to_pcp[3] = 6;
        rig.conf[OUT2].rewrite_dscp = rig.conf[OUT2].rewrite_pcp = 1u << 3;
        rig.conf[OUT].rewrite_dscp = rig.conf[OUT].rewrite_pcp = 0;
        rig_apply(&rig);
    }
}

/* The tag that a frame leaves with; NO_TAG: none. */
static int
tag_after(int tci)
{
    uint8_t got[2048];
    uint16_t seen;
    uint32_t len;
    int tag;

    rig_send(&rig, IN, HOST(OUT), HOST(IN), tci, 64, 9);
    rig_settle(&rig);
    len = rig_take(&rig, OUT, got);
    cr_assert(len);
    tag = eth_outer_tag(got, len, &seen) ? seen : NO_TAG;
    rig_drain(&rig, OUT2);
    return tag;
}

Test(dp_map, s4_rewrite_pcp_of_tags_that_stay_and_that_are_put_in)
{
    rig.conf[OUT].rewrite_pcp = 0xf0;
    for (int p = 0; p < 8; p++)
        rig.conf[OUT].prio_to_pcp[p] = (uint8_t) (7 - p);
    rig_apply(&rig);
    for (int p = 0; p < 8; p++) {
        int want = p < 4 ? p : 7 - p;

        cr_assert_eq(tag_after(PCP(p) | 10), PCP(want) | 10);
        cr_assert_eq(tag_after(PCP(p) | DEI | 10), PCP(want) | DEI | 10);
        cr_assert_eq(tag_after(PCP(p)), PCP(want), "a priority tag");
    }
    cr_assert_eq(tag_after(NO_TAG), NO_TAG, "no tag is made for it");

    rig.conf[IN].default_prio = 5;
    rig.conf[IN].vlan_mode = DP_VLAN_ACCESS;
    rig.conf[IN].tag = 10;
    rig_apply(&rig);
    cr_assert_eq(tag_after(NO_TAG), PCP(2) | 10, "a tag that is put in");
}

Test(dp_map, s4_vlan_0_leaves_as_the_port_says)
{
    static const struct {
        enum dp_prio_tags mode; /* of the egress port */
        bool access;            /* it untags */
        int in, out;            /* tags */
    } rows[] = {
        {DP_PRIO_TAGS_KEEP, false, NO_TAG, NO_TAG},
        {DP_PRIO_TAGS_KEEP, false, PCP(0), PCP(0)},
        {DP_PRIO_TAGS_KEEP, false, PCP(5), PCP(5)},
        {DP_PRIO_TAGS_KEEP, true, PCP(5), NO_TAG},
        {DP_PRIO_TAGS_NEVER, false, NO_TAG, NO_TAG},
        {DP_PRIO_TAGS_NEVER, false, PCP(5), NO_TAG},
        {DP_PRIO_TAGS_NEVER, true, PCP(5), NO_TAG},
        {DP_PRIO_TAGS_NONZERO, false, NO_TAG, PCP(3)},
        {DP_PRIO_TAGS_NONZERO, false, PCP(0), NO_TAG},
        {DP_PRIO_TAGS_NONZERO, false, PCP(5), PCP(5)},
        {DP_PRIO_TAGS_NONZERO, true, PCP(5) | DEI, PCP(5) | DEI},
        {DP_PRIO_TAGS_ALWAYS, false, NO_TAG, PCP(3)},
        {DP_PRIO_TAGS_ALWAYS, false, PCP(0), PCP(0)},
        {DP_PRIO_TAGS_ALWAYS, true, PCP(0), PCP(0)},
        {DP_PRIO_TAGS_ALWAYS, true, NO_TAG, PCP(3)},
    };

    rig.conf[IN].default_prio = 3;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        rig.conf[OUT].prio_tags = rows[i].mode;
        rig.conf[OUT].vlan_mode =
            rows[i].access ? DP_VLAN_ACCESS : DP_VLAN_TRUNK;
        rig_apply(&rig);
        cr_assert_eq(tag_after(rows[i].in), rows[i].out, "row %zu", i);
    }
}

Test(dp_map, s4_a_frame_with_a_vlan_has_its_tag_whatever_priority_tags_say)
{
    rig.conf[OUT].prio_tags = DP_PRIO_TAGS_NEVER;
    rig_apply(&rig);
    cr_assert_eq(tag_after(PCP(5) | 10), PCP(5) | 10);
}

Test(dp_map, s4_maps_change_under_traffic_and_lose_nothing)
{
    uint8_t got[2048];

    rig.conf[OUT].rate_bps = 1000000;
    rig_apply(&rig);
    rig_learn(&rig, 0);
    for (uint32_t i = 0; i < 30; i++) {
        rig_send(&rig, IN, HOST(OUT), HOST(IN), PCP(3), 1000, i);
        rig_settle(&rig);
        rig.conf[OUT].rewrite_pcp ^= 1u << 3;
        rig.conf[OUT].prio_to_pcp[3] = 1;
        rig.conf[IN].pcp_to_prio[3] = (uint8_t) (i % 2 ? 3 : 4);
        rig_apply(&rig);
    }
    rig_run(&rig, NS_PER_S);
    for (uint32_t i = 0; i < 30; i++)
        cr_assert_eq(rig_take(&rig, OUT, got), 1000);
}
