/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/conf/preset, pfc-semantics section 12.
 */
#include "conf/preset.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static struct conf *c;
static struct conf_bridge *br;
static struct conf_port *eth1, *eth2;
static struct err err;

static void
set_up(void)
{
    c = conf_create();
    err_clear(&err);
    cr_assert_eq(conf_add_bridge(c, "br0", &br, &err), 0);
    cr_assert_eq(conf_add_port(c, br, "eth1", "mem", &eth1, &err), 0);
    cr_assert_eq(conf_add_port(c, br, "eth2", "mem", &eth2, &err), 0);
}

static void
tear_down(void)
{
    conf_destroy(c);
}

TestSuite(conf_preset, .init = set_up, .fini = tear_down);

static void
apply(struct conf_port *p, const char *name)
{
    cr_assert_eq(conf_preset_apply(br, p, name, &err), 0, "%s", err.msg);
    cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);
}

Test(conf_preset, s12_sonic)
{
    static const uint8_t weights[N_QUEUE] = {14, 14, 14, 15, 15, 14, 14, 0};
    struct conf_map map;

    apply(eth1, "sonic");
    cr_assert_eq(eth1->pfc_prios, 0x18);
    for (int q = 0; q < N_QUEUE; q++) {
        cr_assert_eq(eth1->queue[q].ets, q != 7);
        cr_assert_eq(eth1->queue[q].weight, weights[q]);
        cr_assert_eq(eth1->group[q].alpha,
                     q == 3 || q == 4 ? 0 : BUF_ALPHA_NONE);
        cr_assert_eq(eth1->group[q].headroom_bytes, CONF_HEADROOM_AUTO);
    }
    conf_map_effective(br, eth1, &map);
    cr_assert_eq(map.trust, DP_TRUST_DSCP);
    for (int d = 0; d < 64; d++) {
        int want = d == 3    ? 3
                   : d == 4  ? 4
                   : d == 5  ? 2
                   : d == 8  ? 0
                   : d == 46 ? 5
                   : d == 48 ? 6
                             : 1;

        cr_assert_eq(map.dscp_to_prio[d], want, "DSCP %d", d);
    }
    cr_assert_eq(eth2->pfc_prios, 0, "the other port stays");
}

Test(conf_preset, s12_fcoe)
{
    apply(eth1, "sonic");
    apply(eth1, "fcoe");
    cr_assert_eq(eth1->pfc_prios, 0x08);
    cr_assert_not(eth1->queue[0].ets, "what it says nothing of is default");
    cr_assert_eq(eth1->group[3].alpha, BUF_ALPHA_NONE);
}

Test(conf_preset, s12_none_takes_everything_back_and_leaves_the_rest)
{
    struct conf *was = conf_copy(c);

    eth1->rate_bps = 1000000;
    apply(eth1, "sonic");
    eth1->queue[3].wred_max_bytes = 5000;
    apply(eth1, "none");
    cr_assert_eq(eth1->rate_bps, 1000000);
    eth1->rate_bps = 0;
    cr_assert(conf_equal(c, was));
    conf_destroy(was);
}

Test(conf_preset, s12_a_bridge_with_all_its_ports)
{
    struct conf_port *eth3;
    struct conf_map map;

    eth2->pause_rx = true; /* excludes PFC, and goes */
    apply(NULL, "sonic");
    cr_assert_eq(eth1->pfc_prios, 0x18);
    cr_assert_eq(eth2->pfc_prios, 0x18);
    cr_assert_not(eth2->pause_rx);
    cr_assert_eq(conf_add_port(c, br, "eth3", "mem", &eth3, &err), 0);
    conf_map_effective(br, eth3, &map);
    cr_assert_eq(map.trust, DP_TRUST_DSCP, "the map of ports to come");
    apply(NULL, "none");
    conf_map_effective(br, eth3, &map);
    cr_assert_eq(map.trust, DP_TRUST_PCP);
}

Test(conf_preset, s12_every_preset_is_valid)
{
    for (const struct conf_preset *p = conf_presets; p->name; p++) {
        apply(eth1, p->name);
        apply(NULL, p->name);
    }
}

Test(conf_preset, s12_an_unknown_one)
{
    cr_assert_eq(conf_preset_apply(br, eth1, "sonik", &err), ENOENT);
    cr_assert_str_eq(err.msg,
                     "there is no preset \"sonik\", did you mean \"sonic\"?: "
                     "allowed are none, sonic, fcoe");
}
