/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/dp, VLANs as in Open vSwitch: who gets a broadcast, and with which tag,
 * for every mode of port and every kind of tag; and the priority that the tag
 * carries.
 */
#include "tests/unit/dp_rig.h"

enum { A10, TALL, T1020, NT10, NU10, A20, TALL2, N_PORTS };
#define GONE   (-2)   /* does not leave there */
#define UNT    NO_TAG /* leaves without a tag */
#define PCP(p) ((p) << 13)
#define DEI    0x1000

static struct rig rig;

static void
trunks(uint32_t port, enum dp_vlan_mode mode, uint16_t tag, uint16_t a,
       uint16_t b)
{
    struct dp_plan_port *pp = &rig.conf[port];

    pp->vlan_mode = mode;
    pp->tag = tag;
    pp->all_trunks = false;
    pp->trunks[a / 64] |= UINT64_C(1) << a % 64;
    pp->trunks[b / 64] |= UINT64_C(1) << b % 64;
}

static void
init(void)
{
    rig_init(&rig, N_PORTS);
    trunks(A10, DP_VLAN_ACCESS, 10, 0, 20); /* its trunks mean nothing */
    trunks(A20, DP_VLAN_ACCESS, 20, 0, 10);
    trunks(T1020, DP_VLAN_TRUNK, 0, 10, 20);
    trunks(NT10, DP_VLAN_NATIVE_TAGGED, 10, 20, 20);
    trunks(NU10, DP_VLAN_NATIVE_UNTAGGED, 10, 20, 20);
    rig_apply(&rig);
}

static void
uninit(void)
{
    rig_uninit(&rig);
}

TestSuite(dp_vlan, .init = init, .fini = uninit);

/* The tag of the only frame that left the port. */
static int
left_with(uint32_t port)
{
    uint8_t frame[2048];
    uint32_t len = rig_take(&rig, port, frame);
    uint16_t tci, tpid;

    if (!len)
        return GONE;
    tpid = eth_outer_tag(frame, len, &tci);
    cr_assert(tpid == 0 || tpid == ETH_T_VLAN);
    cr_assert_geq(len, 60);
    cr_assert_eq(rig_drain(&rig, port), 0);
    return tpid ? tci : UNT;
}

static const struct {
    uint32_t in;      /* port */
    int tci;          /* arrives with */
    int out[N_PORTS]; /* leaves with; all GONE: dropped for its VLAN, but see
                         test */
} matrix[] = {
    /* in, tag,     A10,  TALL,        T1020,       NT10,        NU10, A20,
                    TALL2 */
    {A10, UNT, {GONE, 10, 10, 10, UNT, GONE, 10}},
    {A10,
     PCP(5),
     {GONE, PCP(5) | 10, PCP(5) | 10, PCP(5) | 10, UNT, GONE, PCP(5) | 10}},
    {A10,
     PCP(5) | DEI,
     {GONE, PCP(5) | DEI | 10, PCP(5) | DEI | 10, PCP(5) | DEI | 10, UNT, GONE,
      PCP(5) | DEI | 10}},
    {A10, 10, {GONE, GONE, GONE, GONE, GONE, GONE, GONE}},
    {A10, 20, {GONE, GONE, GONE, GONE, GONE, GONE, GONE}},
    {TALL, UNT, {GONE, GONE, GONE, GONE, GONE, GONE, UNT}},
    {TALL, PCP(5), {GONE, GONE, GONE, GONE, GONE, GONE, PCP(5)}},
    {TALL,
     PCP(3) | 10,
     {UNT, GONE, PCP(3) | 10, PCP(3) | 10, UNT, GONE, PCP(3) | 10}},
    {TALL,
     PCP(3) | 20,
     {GONE, GONE, PCP(3) | 20, PCP(3) | 20, PCP(3) | 20, UNT, PCP(3) | 20}},
    {TALL, 30, {GONE, GONE, GONE, GONE, GONE, GONE, 30}},
    {T1020, UNT, {GONE, GONE, GONE, GONE, GONE, GONE, GONE}},
    {T1020, PCP(5), {GONE, GONE, GONE, GONE, GONE, GONE, GONE}},
    {T1020, 10, {UNT, 10, GONE, 10, UNT, GONE, 10}},
    {T1020, 20, {GONE, 20, GONE, 20, 20, UNT, 20}},
    {T1020, 30, {GONE, GONE, GONE, GONE, GONE, GONE, GONE}},
    {NT10, UNT, {UNT, 10, 10, GONE, UNT, GONE, 10}},
    {NT10,
     PCP(6),
     {UNT, PCP(6) | 10, PCP(6) | 10, GONE, UNT, GONE, PCP(6) | 10}},
    {NT10, 10, {UNT, 10, 10, GONE, UNT, GONE, 10}},
    {NT10, 20, {GONE, 20, 20, GONE, 20, UNT, 20}},
    {NT10, 30, {GONE, GONE, GONE, GONE, GONE, GONE, GONE}},
    {NU10, UNT, {UNT, 10, 10, 10, GONE, GONE, 10}},
    {NU10,
     PCP(6),
     {UNT, PCP(6) | 10, PCP(6) | 10, PCP(6) | 10, GONE, GONE, PCP(6) | 10}},
    {NU10, 20, {GONE, 20, 20, 20, GONE, UNT, 20}},
    {NU10, 30, {GONE, GONE, GONE, GONE, GONE, GONE, GONE}},
};

Test(dp_vlan, every_mode_with_every_tag)
{
    for (size_t i = 0; i < sizeof(matrix) / sizeof(matrix[0]); i++) {
        uint32_t in = matrix[i].in;
        uint64_t before = rig_n(&rig, in)->drops[DP_DROP_VLAN];
        bool any = false;

        rig_send(&rig, in, BROADCAST, HOST(in), matrix[i].tci, 64, 1);
        rig_settle(&rig);
        for (uint32_t k = 0; k < N_PORTS; k++) {
            int got = left_with(k);

            cr_assert_eq(got, matrix[i].out[k],
                         "row %zu, out of port %u: %#x, not %#x", i, k,
                         (unsigned) got, (unsigned) matrix[i].out[k]);
            any |= got != GONE;
        }
        cr_assert_eq(rig_n(&rig, in)->drops[DP_DROP_VLAN] - before, !any,
                     "row %zu", i);
    }
}

/* Puts an outer tag before a frame that has one already. */
static uint32_t
qinq(uint8_t *out, uint16_t tpid, uint16_t outer, uint16_t inner)
{
    uint8_t frame[64];

    rig_frame(frame, BROADCAST, HOST(TALL), inner, 64, 77);
    memcpy(out, frame, 12);
    out[12] = (uint8_t) (tpid >> 8);
    out[13] = (uint8_t) tpid;
    out[14] = (uint8_t) (outer >> 8);
    out[15] = (uint8_t) outer;
    memcpy(out + 16, frame + 12, 52);
    return 68;
}

/* 4095 is reserved in 802.1Q: no frame travels with it, whatever its TPID is
 * and what the port is. */
Test(dp_vlan, vid_4095_enters_nowhere)
{
    static const uint16_t tpids[] = {ETH_T_VLAN, ETH_T_SVLAN};
    uint8_t frame[68];

    rig.conf[NT10].all_trunks = true;
    rig.conf[NU10].all_trunks = true;
    rig_apply(&rig);
    for (uint32_t in = 0; in < N_PORTS; in++) {
        for (int i = 0; i < 2; i++) {
            uint32_t len = qinq(frame, tpids[i], PCP(3) | 4095, 10);

            cr_assert(netdev_mem_inject(rig.nd[in], frame, len));
            rig_settle(&rig);
            cr_assert_eq(rig_n(&rig, in)->drops[DP_DROP_VLAN],
                         (uint64_t) i + 1, "port %u", in);
            for (uint32_t k = 0; k < N_PORTS; k++)
                cr_assert_eq(left_with(k), GONE, "%u to %u", in, k);
        }
    }
}

Test(dp_vlan, a_pushed_tag_has_the_priority_of_the_port)
{
    rig.conf[A10].default_prio = 6;
    rig_apply(&rig);
    rig_send(&rig, A10, BROADCAST, HOST(A10), UNT, 64, 1);
    rig_settle(&rig);
    cr_assert_eq(left_with(TALL), PCP(6) | 10);
    cr_assert_eq(rig_n(&rig, TALL)->q_tx_frames[6], 1);
}

Test(dp_vlan, trust_decides_about_the_priority)
{
    rig.conf[TALL].pcp_to_prio[5] = 2;
    rig_apply(&rig);
    rig_send(&rig, TALL, BROADCAST, HOST(1), PCP(5), 64, 1);
    rig_settle(&rig);
    cr_assert_eq(rig_n(&rig, TALL)->pg_rx_frames[2], 1);
    cr_assert_eq(left_with(TALL2), PCP(5), "the PCP leaves as it came");

    rig.conf[TALL].trust = DP_TRUST_PORT;
    rig.conf[TALL].default_prio = 7;
    rig_apply(&rig);
    rig_send(&rig, TALL, BROADCAST, HOST(1), PCP(5), 64, 1);
    rig_settle(&rig);
    cr_assert_eq(rig_n(&rig, TALL)->pg_rx_frames[7], 1);
    cr_assert_eq(left_with(TALL2), PCP(5));
}

Test(dp_vlan, addresses_are_learned_by_vlan)
{
    /* The same address lives in VLAN 10 behind one trunk, in VLAN 20 behind
     * another. */
    rig_send(&rig, TALL, BROADCAST, HOST(9), 10, 64, 1);
    rig_send(&rig, TALL2, BROADCAST, HOST(9), 20, 64, 1);
    rig_settle(&rig);
    for (uint32_t k = 0; k < N_PORTS; k++)
        rig_drain(&rig, k);
    rig_send(&rig, T1020, HOST(9), HOST(T1020), 10, 64, 1);
    rig_settle(&rig);
    cr_assert_eq(left_with(TALL), 10);
    cr_assert_eq(left_with(TALL2), GONE);
    rig_send(&rig, T1020, HOST(9), HOST(T1020), 20, 64, 1);
    rig_settle(&rig);
    cr_assert_eq(left_with(TALL2), 20);
    cr_assert_eq(left_with(TALL), GONE);
}

Test(dp_vlan, the_outer_tag_decides_and_the_inner_stays)
{
    static const uint16_t tpids[] = {ETH_T_VLAN, ETH_T_SVLAN};

    for (int i = 0; i < 2; i++) {
        uint8_t frame[68], got[2048];
        uint32_t len = qinq(frame, tpids[i], PCP(4) | 10, PCP(1) | 20);
        uint16_t tci;

        cr_assert(netdev_mem_inject(rig.nd[TALL], frame, len));
        rig_settle(&rig);
        cr_assert_eq(rig_n(&rig, TALL)->pg_rx_frames[4], i + 1);
        cr_assert_eq(rig_take(&rig, TALL2, got), 68);
        cr_assert_arr_eq(got, frame, 68);
        cr_assert_eq(rig_take(&rig, A10, got), 64);
        cr_assert_eq(eth_outer_tag(got, 64, &tci), ETH_T_VLAN);
        cr_assert_eq(tci, PCP(1) | 20);
        cr_assert_eq(rig_seq(got, 64), 77);
        cr_assert_eq(rig_take(&rig, A20, got), 0);
        for (uint32_t k = 0; k < N_PORTS; k++)
            rig_drain(&rig, k);
    }
}

Test(dp_vlan, a_copy_with_a_tag_and_one_without_share_the_buffer)
{
    uint8_t with[2048], without[2048];

    rig_send(&rig, TALL, BROADCAST, HOST(TALL), PCP(3) | 10, 200, 99);
    rig_settle(&rig);
    cr_assert_eq(rig_take(&rig, T1020, with), 200);
    cr_assert_eq(rig_take(&rig, A10, without), 196);
    cr_assert_arr_eq(with, without, 12);
    cr_assert_arr_eq(with + 16, without + 12, 184);
    cr_assert_eq(rig_n(&rig, A10)->tx_bytes, 196);
}

Test(dp_vlan, a_short_frame_without_its_tag_counts_as_it_leaves)
{
    rig_send(&rig, TALL, BROADCAST, HOST(TALL), 10, 60, 0);
    rig_settle(&rig);
    cr_assert_eq(rig_n(&rig, A10)->tx_bytes, 60);
    cr_assert_eq(rig_n(&rig, A10)->q_tx_bytes[0], 60);
}
