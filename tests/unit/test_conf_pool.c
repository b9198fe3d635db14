/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/conf: buffer pools and profiles, pfc-semantics section 5: which
 * thresholds hold, what is refused, what the plan has of them, and cables.
 */
#include "conf/conf.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define B "/bridges/br0"
#define P B "/ports/eth1"

static struct conf *c;
static struct conf_bridge *br;
static struct conf_port *eth1;
static struct conf_pool *roce;
static struct conf_profile *prof;
static struct err err;

static void
set_up(void)
{
    c = conf_create();
    err_clear(&err);
    cr_assert_eq(conf_add_bridge(c, "br0", &br, &err), 0);
    cr_assert_eq(conf_add_port(c, br, "eth1", "mem", &eth1, &err), 0);
    cr_assert_eq(conf_add_pool(br, "roce", &roce, &err), 0);
    cr_assert_eq(conf_add_profile(br, "lossless", &prof, &err), 0);
    strcpy(prof->pool, "roce");
    prof->t.reserved_bytes = 3000;
    strcpy(eth1->group[3].profile, "lossless");
    eth1->pfc_prios = 1u << 3;
    cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);
}

static void
tear_down(void)
{
    conf_destroy(c);
}

TestSuite(conf_pool, .init = set_up, .fini = tear_down);

static void
assert_refused(const char *path, const char *value, const char *allowed,
               const char *words)
{
    err_clear(&err);
    cr_assert_eq(conf_validate(c, &err), EINVAL, "%s", err.msg);
    cr_assert_str_eq(err.path, path);
    cr_assert_str_eq(err.value, value);
    cr_assert_str_eq(err.allowed, allowed);
    cr_assert(strstr(err.msg, words), "%s", err.msg);
}

static struct dp_plan *
plan(void)
{
    struct dp_plan *p = calloc(1, sizeof(*p));

    p->n_slots = 1;
    p->ports[0] = calloc(1, sizeof(*p->ports[0]));
    conf_build_port(br, eth1, NULL, 0, p->ports[0]);
    cr_assert_eq(conf_build_bridge(br, p, &err), 0, "%s", err.msg);
    return p;
}

Test(conf_pool, s5_a_profile_holds_for_its_users)
{
    struct dp_plan *p;
    uint8_t pool;

    prof->t.xoff_bytes = 50000;
    prof->t.xon_bytes = 40000;
    prof->t.headroom_bytes = 77777;
    strcpy(eth1->queue[1].profile, "lossless");
    cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);
    cr_assert_eq(conf_group_in_force(br, eth1, 3, &pool), &prof->t);
    cr_assert_eq(pool, roce->slot);
    cr_assert_eq(conf_group_in_force(br, eth1, 2, &pool), &eth1->group[2]);
    cr_assert_eq(pool, 0);
    p = plan();
    cr_assert_eq(p->ports[0]->pg[3].reserved_bytes, 3000);
    cr_assert_eq(p->ports[0]->pg[3].limit_bytes, 50000);
    cr_assert_eq(p->ports[0]->pg[3].headroom_bytes, 77777);
    cr_assert_eq(p->ports[0]->pg[3].pool, roce->slot);
    cr_assert_eq(p->ports[0]->queue[1].limit_bytes, 50000);
    cr_assert_eq(p->ports[0]->queue[1].pool, roce->slot);
    cr_assert_eq(p->pool_bytes[roce->slot], roce->size_bytes);
    cr_assert_eq(p->shared_bytes,
                 br->memory_bytes - 3000 - 77777 - roce->size_bytes);
    dp_plan_destroy(p);
}

Test(conf_pool, s5_alpha)
{
    struct dp_plan *p;

    roce->dynamic = true;
    assert_refused(B "/profiles/lossless/alpha", "none", "-7 to 3",
                   "alpha none does not go with pool roce, whose mode is "
                   "dynamic");
    prof->t.alpha = -3;
    prof->t.xon_bytes = 1000000; /* above xoff_bytes, which does not hold */
    eth1->group[0].alpha = 3;
    eth1->queue[0].alpha = -7;
    eth1->queue[0].limit_bytes = 1514;
    cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);
    p = plan();
    cr_assert_eq(p->ports[0]->pg[3].alpha, -3);
    cr_assert_eq(p->ports[0]->pg[3].xon_offset_bytes, 0);
    cr_assert_eq(p->ports[0]->pg[0].alpha, 3);
    cr_assert_eq(p->ports[0]->pg[1].alpha, BUF_ALPHA_NONE);
    cr_assert_eq(p->ports[0]->queue[0].alpha, -7);
    dp_plan_destroy(p);
    eth1->group[0].alpha = 4;
    assert_refused(P "/groups/0/alpha", "4", "\"none\", or -7 to 3",
                   "is out of range");
    eth1->group[0].alpha = BUF_ALPHA_NONE;
    roce->dynamic = false;
    assert_refused(B "/profiles/lossless/alpha", "-3", "none",
                   "does not go with pool roce, whose mode is static");
}

Test(conf_pool, s5_what_does_not_exist)
{
    strcpy(eth1->group[4].profile, "nix");
    assert_refused(P "/groups/4/profile", "nix", "none, lossless",
                   "port eth1: group 4: profile nix is no profile of bridge "
                   "br0");
    memset(eth1->group[4].profile, 0, sizeof(eth1->group[4].profile));
    strcpy(eth1->queue[7].profile, "nix");
    assert_refused(P "/queues/7/profile", "nix", "none, lossless",
                   "port eth1: queue 7");
    memset(eth1->queue[7].profile, 0, sizeof(eth1->queue[7].profile));
    strcpy(prof->pool, "pond");
    assert_refused(B "/profiles/lossless/pool", "pond", "none, roce",
                   "pool pond is no pool of bridge br0");
}

Test(conf_pool, s5_nothing_beside_a_profile)
{
    eth1->group[3].xoff_bytes++;
    assert_refused(P "/groups/3/xoff_bytes", "",
                   "profile none, or to change the profile",
                   "is given beside a profile");
}

Test(conf_pool, s5_in_use)
{
    cr_assert_eq(conf_del_profile(br, "lossless", &err), EBUSY);
    cr_assert_str_eq(err.path, B "/profiles/lossless");
    cr_assert(strstr(err.msg, "in use by group 3 of port eth1"));
    cr_assert_eq(conf_del_pool(br, "roce", &err), EBUSY);
    cr_assert(strstr(err.msg, "in use by profile lossless"));
    memset(eth1->group[3].profile, 0, sizeof(eth1->group[3].profile));
    strcpy(eth1->queue[5].profile, "lossless");
    cr_assert_eq(conf_del_profile(br, "lossless", &err), EBUSY);
    cr_assert(strstr(err.msg, "in use by queue 5 of port eth1"));
    memset(eth1->queue[5].profile, 0, sizeof(eth1->queue[5].profile));
    cr_assert_eq(conf_del_profile(br, "lossless", &err), 0);
    cr_assert_eq(conf_del_profile(br, "lossless", &err), ENOENT);
    cr_assert_eq(conf_del_pool(br, "roce", &err), 0);
    cr_assert_eq(conf_del_pool(br, "roce", &err), ENOENT);
    cr_assert_eq(br->n_pools + br->n_profiles, 0);
}

Test(conf_pool, s5_memory_holds_reserves_headrooms_and_pools)
{
    roce->size_bytes = br->memory_bytes;
    prof->t.headroom_bytes = 1000;
    cr_assert_eq(conf_validate(c, &err), ENOSPC);
    cr_assert_str_eq(err.path, B "/memory_bytes");
    cr_assert_str_eq(err.msg,
                     "bridge br0: memory_bytes 67108864 does not hold 3000 "
                     "reserved, 67108864 of pools, 1000 of headroom and one "
                     "frame for each of 8 groups, 67125040 bytes in all: "
                     "allowed 67125040 to 4294967296");
    roce->size_bytes = 1521;
    assert_refused(B "/pools/roce/size_bytes", "1521", "1522 to 4294967296",
                   "does not hold one frame");
}

/* Two groups of 60,000 bytes out of one pool. */
Test(conf_pool, s5_shared_headroom_by_size_and_by_ratio)
{
    struct dp_plan *p;

    eth1->pfc_prios |= 1u << 4;
    prof->t.headroom_bytes = eth1->group[4].headroom_bytes = 60000;
    p = plan();
    cr_assert_eq(p->hdrm_pool_bytes, 0);
    dp_plan_destroy(p);
    br->headroom_pool_bytes = 70000;
    p = plan();
    cr_assert_eq(p->hdrm_pool_bytes, 70000);
    cr_assert_eq(p->shared_bytes,
                 br->memory_bytes - 3000 - 70000 - roce->size_bytes);
    dp_plan_destroy(p);
    br->headroom_ratio = 2;
    assert_refused(B "/headroom_ratio", "2", "0, or headroom_pool_bytes 0",
                   "excludes headroom_pool_bytes");
    br->headroom_pool_bytes = br->memory_bytes + 1;
    br->headroom_ratio = 0;
    assert_refused(B "/headroom_pool_bytes", "67108865", "0 to 67108864",
                   "exceeds memory_bytes");
    br->headroom_ratio = 2;
    br->headroom_pool_bytes = 0;
    p = plan();
    cr_assert_eq(p->hdrm_pool_bytes, 60000);
    dp_plan_destroy(p);
    br->headroom_ratio = 50; /* the largest fits in any case */
    p = plan();
    cr_assert_eq(p->hdrm_pool_bytes, 60000);
    dp_plan_destroy(p);
}

/* Pools keep their place in the datapath whatever comes and goes. */
Test(conf_pool, s5_places_of_pools_stay)
{
    uint8_t slot = roce->slot;
    struct conf_pool *a;
    struct json_object *v;
    struct conf *d;

    cr_assert_eq(conf_add_pool(br, "a", &a, &err), 0);
    cr_assert_eq(conf_find_pool(br, "roce")->slot, slot);
    cr_assert_neq(conf_find_pool(br, "a")->slot, slot);
    cr_assert_eq(conf_add_pool(br, "a", &a, &err), EINVAL);
    slot = conf_find_pool(br, "roce")->slot;
    cr_assert_eq(conf_del_pool(br, "a", &err), 0);
    v = conf_to_json(c);
    cr_assert_eq(conf_from_json(v, c, &d, &err), 0, "%s", err.msg);
    cr_assert_eq(conf_find_pool(d->bridges[0], "roce")->slot, slot);
    cr_assert(conf_equal(c, d));
    conf_destroy(d);
    json_object_put(v);
}

Test(conf_pool, there_are_no_more_than_there_is_room_for)
{
    struct conf_profile *p;
    struct conf_pool *pool;
    char name[16];

    for (int i = 1; i < CONF_MAX_POOLS; i++) {
        snprintf(name, sizeof(name), "p%d", i);
        cr_assert_eq(conf_add_pool(br, name, &pool, &err), 0);
    }
    cr_assert_neq(conf_add_pool(br, "more", &pool, &err), 0);
    cr_assert(strstr(err.msg, "at most 7 pools"), "%s", err.msg);
    for (int i = 1; i < CONF_MAX_PROFILES; i++) {
        snprintf(name, sizeof(name), "p%d", i);
        cr_assert_eq(conf_add_profile(br, name, &p, &err), 0);
    }
    cr_assert_neq(conf_add_profile(br, "more", &p, &err), 0);
    cr_assert(strstr(err.msg, "at most 64 profiles"), "%s", err.msg);
}

/* --- cables ---------------------------------------------------------------
 */

Test(conf_pool, s6_cable_in_the_plan)
{
    struct dp_plan *p;

    eth1->rate_bps = 1000000000;
    eth1->cable_delay_ns = 1000000; /* 125,000 bytes */
    p = plan();
    cr_assert_eq(p->ports[0]->cable_delay_ns, 1000000);
    cr_assert_geq(p->ports[0]->cable_bytes, 125000 + 32 * 1522);
    cr_assert_not_null(p->ports[0]->cable);
    dp_plan_destroy(p);
    eth1->cable_emulated = false;
    p = plan();
    cr_assert_eq(p->ports[0]->cable_delay_ns, 0);
    cr_assert_null(p->ports[0]->cable);
    dp_plan_destroy(p);
}

Test(conf_pool, s6_headroom_in_cells)
{
    struct headroom_terms {
        uint64_t bridge, port, none;
    } got;

    eth1->rate_bps = 1000000;
    eth1->cable_delay_ns = 0;
    eth1->pfc_prios = 1;
    got.none = conf_port_headroom(br, eth1, 0, NULL, 0);
    br->cell_bytes = 4096;
    cr_assert_eq(conf_port_cell(br, eth1), 4096);
    got.bridge = conf_port_headroom(br, eth1, 0, NULL, 0);
    eth1->cell_bytes = 144;
    cr_assert_eq(conf_port_cell(br, eth1), 144);
    got.port = conf_port_headroom(br, eth1, 0, NULL, 0);
    /* The software's sum is larger here in any case. */
    cr_assert_geq(got.bridge, got.none);
    cr_assert_geq(got.port, got.none);
    eth1->cell_bytes = CONF_MAX_CELL + 1;
    assert_refused(P "/cell_bytes", "4097", "0, or 1 to 4096",
                   "is out of range");
}

Test(conf_pool, s6_a_cable_holds_no_more_than_its_memory)
{
    eth1->rate_bps = UINT64_C(400000000000);
    eth1->cable_delay_ns = 1342178;
    assert_refused(P "/cable_delay_ns", "1342178", "0 to 1342177",
                   "is more than the 67108864 bytes that a cable can hold");
    eth1->cable_delay_ns--;
    cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);
    eth1->cable_delay_ns = CONF_MAX_CABLE_NS;
    eth1->cable_emulated = false;
    cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);
}

Test(conf_pool, s6_a_cable_of_minus_one)
{
    struct json_object *v = json_tokener_parse("{\"cable_delay_ns\": -1}");

    cr_assert_eq(conf_port_edit(eth1, v, P, &err), EINVAL);
    cr_assert_str_eq(err.path, P "/cable_delay_ns");
    cr_assert_str_eq(err.value, "-1");
    cr_assert_str_eq(err.allowed, "0 to 1000000000");
    json_object_put(v);
}
