/* SPDX-License-Identifier: Apache-2.0
 *
 * Flow tables in random fabrics.  What a switch does with frames stays what
 * NORMAL does, so that everything that holds without flows must hold with
 * them; but on the way entries give frames another priority of the same kind,
 * lossless or not, send changed copies to a station that did not ask for them,
 * and are replaced under traffic.
 */
#include "sim/openflow.h"

#include "dp/of.h"
#include "flow/tables.h"
#include "sim/random.h"
#include "wire/eth.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define ALL    8  /* the entry for what has no tag, after one for each PCP */
#define MIRROR 77 /* number of the group that makes copies */

/* Source of the copies. */
#define MIRROR_SRC 2, 0xee, 0, 0, 0, 1

/* Flow tables of a switch. */
struct sim_tables {
    struct sim_switch *sw;      /* whose */
    struct rng rng;             /* of what is done to them */
    uint8_t to[N_PRIO];         /* priority that each priority becomes */
    uint32_t mirror;            /* port that gets copies; 0: none */
    struct flow *flow[9];       /* entries: by priority, and the rest */
    struct flow_op op[10];      /* the change under way ... */
    uint32_t n_ops;             /* ... its length ... */
    struct flow_change *change; /* ... and what it became; null: none */
    uint64_t ticket;            /* of the last change; 0: none */
};

/* The actions of an entry: a group, a priority, NORMAL. */
static uint32_t
put_actions(const struct sim_tables *t, int prio, struct ofp_action *a)
{
    const struct sim *sim = t->sw->node.sim;
    uint32_t n = 0;

    if (t->mirror)
        a[n++] = (struct ofp_action){.type = OFP_ACT_GROUP, .group = MIRROR};
    if (prio >= 0 && t->to[prio] != prio)
        a[n++] = (struct ofp_action){
            .type = OFP_ACT_SET_FIELD,
            .set = {.field = OFP_VLAN_PCP,
                    .value = {sim->world.pcp[t->to[prio]]}},
        };
    a[n++] = (struct ofp_action){
        .type = OFP_ACT_OUTPUT,
        .output = {.port = OFPP_NORMAL},
    };
    return n;
}

static struct flow *
make_flow(const struct sim_tables *t, int prio)
{
    struct ofp_action a[3];
    struct ofp_instructions in = {
        .has_apply = true,
        .apply = {put_actions(t, prio, a), a},
    };
    struct ofp_match m = {0};
    struct flow_spec spec = {.match = &m, .priority = 5};
    struct flow *f;

    if (prio >= 0) {
        uint8_t present[2] = {OFP_VID_PRESENT >> 8, 0};

        ofp_match_set(&m, OFP_VLAN_VID, present, present);
        ofp_match_set(&m, OFP_VLAN_PCP, &t->sw->node.sim->world.pcp[prio],
                      NULL);
        spec.priority = 9;
    }
    f = flow_create(&spec, flow_code_create(&in), NULL);
    assert(f);
    return f;
}

static struct flow_group *
make_mirror(uint32_t of_port)
{
    struct ofp_action a[] = {
        {.type = OFP_ACT_SET_FIELD,
         .set = {.field = OFP_ETH_SRC, .value = {MIRROR_SRC}}},
        {.type = OFP_ACT_OUTPUT, .output = {.port = of_port}},
    };
    struct ofp_bucket bucket = {
        .watch_port = OFPP_ANY,
        .watch_group = OFPG_ANY,
        .actions = {2, a},
    };
    struct ofp_group conf = {MIRROR, OFPGT_INDIRECT, 1, &bucket};
    struct flow_group *g = flow_group_create(&conf);

    assert(g);
    return g;
}

static void
post(struct sim_tables *t, uint32_t n)
{
    t->change = flow_change_create(dp_flow_tables(t->sw->dp), t->op, n);
    assert(t->change);
    t->n_ops = n;
    t->ticket = dp_change_post(t->sw->dp, t->change, false);
    assert(t->ticket);
}

/* Each kind of priority is shuffled among itself. */
static void
shuffle(struct sim_tables *t, uint8_t kind)
{
    uint8_t of[N_PRIO];
    uint32_t n = 0;

    for (uint8_t p = 0; p < N_PRIO; p++)
        if (kind >> p & 1)
            of[n++] = p;
    for (uint32_t i = n; i > 1; i--) {
        uint32_t k = (uint32_t) rng_below(&t->rng, i);
        uint8_t was = of[i - 1];

        of[i - 1] = of[k];
        of[k] = was;
    }
    for (uint8_t p = 0; p < N_PRIO; p++)
        if (kind >> p & 1)
            t->to[p] = of[--n];
}

/* A port with a station that takes frames as they are; 0: none. */
static uint32_t
mirror_port(struct sim_tables *t)
{
    const struct sim_switch *sw = t->sw;
    uint32_t from = (uint32_t) rng_below(&t->rng, sw->n_ports);

    for (uint32_t i = 0; i < sw->n_ports; i++) {
        uint32_t slot = (from + i) % sw->n_ports;
        const struct sim_node *peer = sw->port[slot].peer->node;

        if (peer->kind == SIM_STATION &&
            !sw->node.sim->st[peer->index]->untagged)
            return sw->cp[slot]->ofport;
    }
    return 0;
}

static void
begin(struct sim_tables *t)
{
    struct sim *sim = t->sw->node.sim;
    uint32_t n = 0;

    memset(t->to, 0, sizeof(t->to));
    for (uint8_t p = 0; p < N_PRIO; p++)
        t->to[p] = p;
    if (sim->world.remarks) {
        shuffle(t, sim->lossless);
        shuffle(t, (uint8_t) ~sim->lossless);
    }
    /* Copies that are lost are told, but no one misses them. */
    if (sim->world.copies && !sim->hung && rng_below(&t->rng, 2))
        t->mirror = mirror_port(t);
    if (t->mirror)
        t->op[n++] = (struct flow_op){
            .type = FLOW_OP_GROUP,
            .id = MIRROR,
            .group = make_mirror(t->mirror),
        };
    for (int p = 0; p <= ALL; p++) {
        t->flow[p] = make_flow(t, p == ALL ? -1 : p);
        t->op[n++] = (struct flow_op){.type = FLOW_OP_ADD, .flow = t->flow[p]};
    }
    post(t, n);
}

void
sim_tables_start(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->n_sw && sim->world.tables; i++) {
        struct sim_tables *t = calloc(1, sizeof(*t));

        assert(t);
        t->sw = sim->sw[i];
        t->sw->tables = t;
        t->rng.state = sim->seed * 31 + i;
        if (rng_below(&t->rng, 4)) /* others just switch */
            begin(t);
    }
}

/* The change is done: what it replaced is no one's. */
static void
finish(struct sim_tables *t)
{
    for (uint32_t i = 0; i < t->n_ops; i++)
        if (t->op[i].type == FLOW_OP_ADD)
            flow_destroy(t->op[i].old);
    flow_change_destroy(t->change);
    t->change = NULL;
}

/* An entry is replaced by one that says the same. */
void
sim_tables_run(struct sim_switch *sw)
{
    struct sim_tables *t = sw->tables;
    int p;

    if (!t || !t->ticket)
        return;
    if (t->change && dp_changes_done(sw->dp) >= t->ticket)
        finish(t);
    if (t->change || rng_below(&t->rng, 100))
        return;
    p = (int) rng_below(&t->rng, ALL + 1);
    t->op[0] = (struct flow_op){
        .type = FLOW_OP_ADD,
        .flow = make_flow(t, p == ALL ? -1 : p),
        .old = t->flow[p],
        .keep_counts = true,
    };
    t->flow[p] = t->op[0].flow;
    post(t, 1);
}

void
sim_tables_end(struct sim_switch *sw)
{
    struct sim_tables *t = sw->tables;

    /* One that was not carried out is not lost on the way. */
    if (t && t->change && dp_changes_done(sw->dp) < t->ticket)
        flow_change_run(dp_flow_tables(sw->dp), t->change, 0);
    if (t && t->change)
        finish(t);
    free(t);
    sw->tables = NULL;
}

bool
sim_is_mirrored(const uint8_t *frame)
{
    static const uint8_t src[6] = {MIRROR_SRC};

    return memcmp(frame + 6, src, 6) == 0;
}

uint8_t
sim_prio_on_wire(const struct sim *sim, const struct sim_flow *f,
                 const uint8_t *frame, uint32_t len)
{
    uint16_t tci;

    if (!sim->world.remarks || !eth_outer_tag(frame, len, &tci))
        return f->prio;
    for (uint8_t p = 0; p < N_PRIO; p++)
        if (sim->world.pcp[p] == tci >> VLAN_PCP_SHIFT)
            return p;
    return f->prio;
}
