/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/ofproto and lib/dp together, in one process and on a virtual clock: a
 * frame that comes after a change was carried out meets it, counts come back,
 * bundles are seen whole.
 */
#include "ofp/msg.h"
#include "ofp/reply.h"
#include "ofproto/ofproto.h"
#include "tests/unit/flow_rig.h"

#include <stdlib.h>
#include <string.h>

#define MAX_POSTED 64

static struct rig rig;
static struct ofproto *o;
static struct ofproto_batch *posted[MAX_POSTED];
static unsigned n_posted, n_done;
static struct ofp_flow_removed removed;
static unsigned n_removed;

static void
on_removed(void *arg, const struct ofp_flow_removed *f)
{
    (void) arg;
    removed = *f;
    n_removed++;
}

static void
init(void)
{
    struct ofproto_conf conf = {.seed = 7,
                                .notices = {.flow_removed = on_removed}};

    rig_init(&rig, 4);
    fr_number(&rig);
    conf.tables = dp_flow_tables(rig.dp);
    o = ofproto_create(&conf);
    for (uint32_t i = 0; i < 4; i++)
        ofproto_set_port(o, &(struct ofp_port){.number = OF_PORT(i)});
}

/* What the daemon does: posts what is new, and clears away what is done. */
static void
post(void)
{
    struct ofproto_batch *b;

    while ((b = ofproto_take(o))) {
        cr_assert_lt(n_posted, MAX_POSTED);
        posted[n_posted++] = b;
        cr_assert_eq(dp_change_post(rig.dp, ofproto_batch_change(b),
                                    ofproto_batch_atomic(b)),
                     n_posted);
    }
}

static void
progress(void)
{
    while (n_done < dp_changes_done(rig.dp))
        ofproto_done(o, posted[n_done++]);
}

static void
carry_out(void)
{
    post();
    for (int i = 0; i < 100 && n_done < n_posted; i++) {
        rig_turn(&rig);
        progress();
    }
    cr_assert_eq(n_done, n_posted);
}

static void
uninit(void)
{
    carry_out();
    ofproto_destroy(o);
    rig_uninit(&rig);
}

TestSuite(ofproto_dp, .init = init, .fini = uninit);

static struct ofp_flow_mod
flow(enum ofp_flow_command command, uint32_t in_port,
     const struct ofp_actions *apply)
{
    struct ofp_flow_mod f = {
        .command = command,
        .version = OFP_V13,
        .priority = 10,
        .out_port = OFPP_ANY,
        .out_group = OFPG_ANY,
    };

    if (in_port)
        m_set(&f.match, OFP_IN_PORT, in_port);
    if (apply) {
        f.inst.has_apply = true;
        f.inst.apply = *apply;
    }
    return f;
}

static bool
apply(const struct ofp_flow_mod *f, size_t n, bool atomic)
{
    struct ofproto_mod mods[1000];
    struct ofp_error e;

    for (size_t i = 0; i < n; i++)
        mods[i] =
            (struct ofproto_mod){.type = OFPROTO_FLOW_MOD, .flow = f + i};
    return ofproto_apply(o, mods, n, atomic, rig.now_ns, NULL, &e);
}

static void
frame(uint32_t port, uint32_t seq)
{
    rig_send(&rig, port, HOST(1), HOST(0), NO_TAG, 100, seq);
}

Test(ofproto_dp, the_next_frame_sees_a_change)
{
    struct ofp_flow_mod f =
        flow(OFPFC_ADD, OF_PORT(0), &ACTIONS(a_output(OF_PORT(1))));
    struct ofproto_flow_info info;
    struct ofproto_walk w;

    for (uint32_t i = 0; i < 50; i++) {
        /* It arrived before the change was posted, and is read after. */
        f.inst.apply = ACTIONS(a_output(OF_PORT(1 + i % 3)));
        cr_assert(apply(&f, 1, false));
        frame(0, i);
        post();
        rig_settle(&rig);
        progress();
        cr_assert_eq(n_done, n_posted);
        for (uint32_t k = 1; k < 4; k++)
            cr_assert_eq(rig_drain(&rig, k), k == 1 + i % 3, "change %u", i);
    }
    cr_assert(ofproto_walk_flows(o, &w, 0, NULL));
    cr_assert_eq(ofproto_next_flow(o, &w, NULL, rig.now_ns, &info),
                 OFPROTO_ITEM);
    ofproto_walk_end(o, &w);
    cr_assert_eq(info.n_packets, 50);
    cr_assert_eq(info.n_bytes, 5000);
}

Test(ofproto_dp, a_bundle_is_seen_whole)
{
    struct ofp_flow_mod f[1000];
    uint32_t n, n_old, n_new;
    uint8_t mac[6] = {2};

    /* More than is carried out in a turn: entries that all say the same, and
     * then all the other. */
    for (uint32_t round = 0; round < 4; round++) {
        struct ofp_actions to = ACTIONS(a_output(OF_PORT(1 + round % 2)));

        for (uint32_t i = 0; i < 1000; i++) {
            f[i] = flow(OFPFC_ADD, i == 999 ? OF_PORT(0) : 0, &to);
            mac[4] = (uint8_t) (i >> 8);
            mac[5] = (uint8_t) i;
            if (i < 999)
                ofp_match_set(&f[i].match, OFP_ETH_SRC, mac, NULL);
        }
        cr_assert(apply(f, 1000, true));
        post();
        /* However many turns it takes, the entry of port 0, which comes last,
         * and that of HOST(0) in the midst change together. */
        for (n = 0; n_done < n_posted && n < 1000; n++) {
            frame(0, n);
            rig_turn(&rig);
            progress();
        }
        cr_assert_eq(n_done, n_posted);
        rig_settle(&rig);
        n_new = rig_drain(&rig, 1 + round % 2);
        n_old = rig_drain(&rig, 2 - round % 2);
        if (round > 0)
            cr_assert_eq(n_new + n_old, n, "%u and %u of %u", n_new, n_old, n);
        rig_drain(&rig, 3);
        frame(0, n);
        rig_settle(&rig);
        cr_assert_eq(rig_drain(&rig, 1 + round % 2), 1);
        cr_assert_eq(rig_drain(&rig, 2 - round % 2), 0);
    }
}

Test(ofproto_dp, idle_timeouts_follow_the_traffic)
{
    struct ofp_flow_mod f =
        flow(OFPFC_ADD, OF_PORT(0), &ACTIONS(a_output(OF_PORT(1))));
    uint64_t begin = rig.now_ns;

    ofproto_set_default(o, FLOW_DEFAULT_NONE);
    f.idle_s = 2;
    f.flags = OFPFF_SEND_FLOW_REM;
    cr_assert(apply(&f, 1, false));
    carry_out();
    for (int i = 0; i < 5; i++) {
        rig_run(&rig, NS_PER_S);
        frame(0, 1);
        rig_settle(&rig);
        ofproto_expire(o, rig.now_ns);
        cr_assert_eq(ofproto_n_flows(o), 1);
    }
    rig_run(&rig, 2 * NS_PER_S);
    ofproto_expire(o, rig.now_ns);
    cr_assert_eq(ofproto_n_flows(o), 0);
    /* Until the datapath is told, it forwards, and that is counted. */
    frame(0, 2);
    rig_settle(&rig);
    carry_out();
    cr_assert_eq(n_removed, 1);
    cr_assert_eq(removed.reason, OFPRR_IDLE_TIMEOUT);
    cr_assert_eq(removed.n_packets, 6);
    cr_assert_eq(removed.duration_ns, rig.now_ns - begin);
    frame(0, 3);
    rig_settle(&rig);
    cr_assert_eq(rig_drain(&rig, 1), 6);
}

Test(ofproto_dp, a_group_goes_with_its_flows)
{
    struct ofp_action out = a_output(OF_PORT(2));
    struct ofp_bucket b = {.watch_port = OFPP_ANY,
                           .watch_group = OFPG_ANY,
                           .actions = {1, &out}};
    struct ofp_group_mod add = {OFPGC_ADD, {5, OFPGT_ALL, 1, &b}};
    struct ofp_group_mod del = {OFPGC_DELETE, {.id = 5}};
    struct ofp_flow_mod f = flow(OFPFC_ADD, 0, &ACTIONS(a_group(5)));
    struct ofproto_mod mods[] = {
        {.type = OFPROTO_GROUP_MOD, .group = &add},
        {.type = OFPROTO_FLOW_MOD, .flow = &f},
        {.type = OFPROTO_GROUP_MOD, .group = &del},
    };
    struct ofproto_group_info info;
    struct ofp_error e;

    cr_assert(ofproto_apply(o, mods, 2, true, rig.now_ns, NULL, &e));
    carry_out();
    frame(0, 1);
    rig_settle(&rig);
    cr_assert_eq(rig_drain(&rig, 2), 1);
    cr_assert(ofproto_group(o, 5, rig.now_ns, &info));
    cr_assert_eq(info.n_packets, 1);
    cr_assert_eq(info.ref_count, 1);
    cr_assert(ofproto_apply(o, mods + 2, 1, true, rig.now_ns, NULL, &e));
    carry_out();
    cr_assert_eq(ofproto_n_flows(o), 0);
    cr_assert_not(ofproto_group(o, 5, rig.now_ns, &info));
}
