/* SPDX-License-Identifier: Apache-2.0
 *
 * Flows on the bench: see flow_rig.h.
 */
#include "tests/unit/flow_rig.h"

#include <stdlib.h>
#include <string.h>

/* --- actions and matches --------------------------------------------------
 */

static void
put(uint8_t *to, uint32_t n, uint64_t value)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = n - i > 8 ? 0 : (uint8_t) (value >> 8 * (n - i - 1));
}

struct ofp_action
a_output(uint32_t port)
{
    return (struct ofp_action){
        .type = OFP_ACT_OUTPUT,
        .output = {.port = port, .max_len = OFPCML_NO_BUFFER},
    };
}

struct ofp_action
a_controller(uint16_t max_len)
{
    struct ofp_action a = a_output(OFPP_CONTROLLER);

    a.output.max_len = max_len;
    return a;
}

struct ofp_action
a_group(uint32_t id)
{
    return (struct ofp_action){.type = OFP_ACT_GROUP, .group = id};
}

struct ofp_action
a_queue(uint32_t queue)
{
    return (struct ofp_action){.type = OFP_ACT_SET_QUEUE, .queue = queue};
}

struct ofp_action
a_type(enum ofp_action_type type)
{
    return (struct ofp_action){.type = type};
}

struct ofp_action
a_push(enum ofp_action_type type, uint16_t ethertype)
{
    return (struct ofp_action){.type = type, .ethertype = ethertype};
}

struct ofp_action
a_ttl(enum ofp_action_type type, uint8_t ttl)
{
    return (struct ofp_action){.type = type, .ttl = ttl};
}

struct ofp_action
a_set(enum ofp_field field, uint64_t value)
{
    struct ofp_action a = {.type = OFP_ACT_SET_FIELD, .set.field = field};

    put(a.set.value, ofp_fields[field].n_bytes, value);
    return a;
}

struct ofp_action
a_set_octets(enum ofp_field field, const uint8_t *octets)
{
    struct ofp_action a = {.type = OFP_ACT_SET_FIELD, .set.field = field};

    memcpy(a.set.value, octets, ofp_fields[field].n_bytes);
    return a;
}

void
m_set(struct ofp_match *m, enum ofp_field field, uint64_t value)
{
    uint8_t v[16];

    put(v, ofp_fields[field].n_bytes, value);
    ofp_match_set(m, field, v, NULL);
}

void
m_set_masked(struct ofp_match *m, enum ofp_field field, uint64_t value,
             uint64_t mask)
{
    uint8_t v[16], w[16];

    put(v, ofp_fields[field].n_bytes, value);
    put(w, ofp_fields[field].n_bytes, mask);
    ofp_match_set(m, field, v, w);
}

/* --- the bridge ------------------------------------------------------------
 */

void
fr_number(struct rig *r)
{
    for (uint32_t i = 0; i < r->n_ports; i++)
        r->conf[i].of_port = OF_PORT(i);
    rig_apply(r);
}

/* What an operation took out is the caller's. */
static void
free_old(struct flow_op *op)
{
    switch (op->type) {
    case FLOW_OP_ADD:
        flow_destroy(op->old);
        break;
    case FLOW_OP_DEL:
        flow_destroy(op->flow);
        break;
    case FLOW_OP_CODE:
        flow_code_destroy(op->code);
        break;
    case FLOW_OP_GROUP:
    case FLOW_OP_GROUP_DEL:
        flow_group_destroy(op->group);
        break;
    case FLOW_OP_METER:
    case FLOW_OP_METER_DEL:
        flow_meter_destroy(op->meter);
        break;
    case FLOW_OP_DEFAULT:
        break;
    }
}

void
fr_ops(struct rig *r, struct flow_op *ops, uint32_t n, bool atomic)
{
    struct flow_change *c = flow_change_create(dp_flow_tables(r->dp), ops, n);
    uint64_t ticket;

    cr_assert_not_null(c);
    ticket = dp_change_post(r->dp, c, atomic);
    cr_assert_gt(ticket, 0);
    for (int i = 0; dp_changes_done(r->dp) < ticket; i++) {
        cr_assert_lt(i, 10000);
        rig_turn(r);
    }
    for (uint32_t i = 0; i < n; i++)
        free_old(&ops[i]);
    flow_change_destroy(c);
}

struct flow *
fr_add(struct rig *r, uint8_t table, uint16_t priority,
       const struct ofp_match *match, const struct ofp_instructions *in)
{
    static const struct ofp_match all;
    struct flow_spec spec = {
        .table = table,
        .priority = priority,
        .cookie = 0xc00c1e0000 + priority,
        .match = match ? match : &all,
    };
    struct flow_code *code = flow_code_create(in);
    struct flow_op op = {.type = FLOW_OP_ADD};

    cr_assert_not_null(code);
    op.flow = flow_create(&spec, code, NULL);
    cr_assert_not_null(op.flow);
    fr_ops(r, &op, 1, false);
    return op.flow;
}

struct flow *
fr_apply(struct rig *r, struct ofp_actions list)
{
    struct ofp_instructions in = {.has_apply = true, .apply = list};

    return fr_add(r, 0, 1, NULL, &in);
}

struct flow *
fr_write(struct rig *r, struct ofp_actions list)
{
    struct ofp_instructions in = {.has_write = true, .write = list};

    return fr_add(r, 0, 1, NULL, &in);
}

void
fr_del(struct rig *r, struct flow *f)
{
    struct flow_op op = {.type = FLOW_OP_DEL, .flow = f};

    fr_ops(r, &op, 1, false);
}

void
fr_group(struct rig *r, const struct ofp_group *g)
{
    struct flow_op op = {.type = FLOW_OP_GROUP, .id = g->id};

    op.group = flow_group_create(g);
    cr_assert_not_null(op.group);
    fr_ops(r, &op, 1, false);
}

void
fr_meter(struct rig *r, const struct ofp_meter *m)
{
    struct flow_op op = {.type = FLOW_OP_METER, .id = m->id};

    op.meter = flow_meter_create(m);
    cr_assert_not_null(op.meter);
    fr_ops(r, &op, 1, false);
}
