/* SPDX-License-Identifier: Apache-2.0
 *
 * Books for tests: see ofproto_rig.h.
 */
#include "ofproto_rig.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static void
on_removed(void *arg, const struct ofp_flow_removed *f)
{
    struct rig *r = arg;

    r->removed = *f;
    r->n_removed++;
}

static void
on_port(void *arg, unsigned reason, const struct ofp_port *p)
{
    struct rig *r = arg;

    r->port = *p;
    r->port_reason = reason;
    r->n_port_status++;
}

static void
on_config(void *arg, uint32_t port, uint32_t config)
{
    struct rig *r = arg;

    r->config_port = port;
    r->config = config;
}

void
rig_init(struct rig *r)
{
    struct ofproto_conf conf = {
        .seed = 42,
        .notices = {on_removed, on_port, on_config},
        .arg = r,
    };

    memset(r, 0, sizeof(*r));
    r->now_ns = 1000 * NS;
    r->tables = conf.tables = flow_tables_create(1);
    r->o = ofproto_create(&conf);
    for (uint32_t n = 1; n <= 4; n++) {
        struct ofp_port p = {.number = n, .hw_addr = {2, 0, 0, 0, 0, 0}};

        p.hw_addr[5] = (uint8_t) n;
        snprintf(p.name, sizeof(p.name), "p%u", n);
        ofproto_set_port(r->o, &p);
    }
}

void
rig_uninit(struct rig *r)
{
    ofproto_destroy(r->o);
    cr_assert_eq(fake_n_flows(r->tables), 0);
    flow_tables_destroy(r->tables);
    cr_assert_eq(fake_n_live, 0, "%ld are left", fake_n_live);
}

unsigned
rig_run_batches(struct rig *r, bool *atomic)
{
    struct ofproto_batch *b;
    unsigned n = 0;

    while ((b = ofproto_take(r->o))) {
        if (atomic)
            *atomic = ofproto_batch_atomic(b);
        cr_assert(flow_change_run(r->tables, ofproto_batch_change(b), 0));
        ofproto_done(r->o, b);
        n++;
    }
    return n;
}

void
rig_run(struct rig *r)
{
    rig_run_batches(r, NULL);
}

struct ofp_flow_mod
rig_flow(enum ofp_flow_command command)
{
    return (struct ofp_flow_mod){
        .command = command,
        .version = OFP_V13,
        .priority = 100,
        .buffer_id = OFP_NO_BUFFER,
        .out_port = OFPP_ANY,
        .out_group = OFPG_ANY,
    };
}

void
rig_match_num(struct ofp_match *m, enum ofp_field f, uint64_t value,
              uint64_t mask)
{
    uint8_t v[16] = {0}, k[16] = {0};
    int n = ofp_fields[f].n_bytes;

    for (int i = 0; i < n && i < 8; i++) {
        v[n - 1 - i] = (uint8_t) ((value & mask) >> 8 * i);
        k[n - 1 - i] = (uint8_t) (mask >> 8 * i);
    }
    ofp_match_set(m, f, v, mask == UINT64_MAX ? NULL : k);
}

void
rig_output(struct rig *r, struct ofp_flow_mod *m, uint32_t port)
{
    r->act[0] = (struct ofp_action){.type = OFP_ACT_OUTPUT,
                                    .output = {.port = port, .max_len = 128}};
    m->inst.has_apply = true;
    m->inst.apply = (struct ofp_actions){1, r->act};
}

void
rig_group_action(struct rig *r, struct ofp_flow_mod *m, uint32_t group)
{
    r->act[1] = (struct ofp_action){.type = OFP_ACT_GROUP, .group = group};
    m->inst.has_write = true;
    m->inst.write = (struct ofp_actions){1, r->act + 1};
}

static bool
apply(struct rig *r, const struct ofproto_mod *m)
{
    memset(&r->err, 0, sizeof(r->err));
    return ofproto_apply(r->o, m, 1, false, r->now_ns, &r->failed, &r->err);
}

bool
rig_flow_mod(struct rig *r, const struct ofp_flow_mod *m)
{
    return apply(r,
                 &(struct ofproto_mod){.type = OFPROTO_FLOW_MOD, .flow = m});
}

bool
rig_group_mod(struct rig *r, const struct ofp_group_mod *m)
{
    return apply(r,
                 &(struct ofproto_mod){.type = OFPROTO_GROUP_MOD, .group = m});
}

bool
rig_meter_mod(struct rig *r, const struct ofp_meter_mod *m)
{
    return apply(r,
                 &(struct ofproto_mod){.type = OFPROTO_METER_MOD, .meter = m});
}

bool
rig_group(struct rig *r, enum ofp_group_command command, uint32_t id,
          enum ofp_group_type type, const uint32_t *ports, uint32_t n)
{
    struct ofp_bucket bucket[8];
    struct ofp_action act[8];
    struct ofp_group_mod m = {command, {id, type, n, bucket}};

    for (uint32_t i = 0; i < n; i++) {
        act[i] = (struct ofp_action){.type = OFP_ACT_OUTPUT,
                                     .output = {.port = ports[i]}};
        bucket[i] = (struct ofp_bucket){
            .weight = type == OFPGT_SELECT,
            .watch_port = type == OFPGT_FF ? ports[i] : OFPP_ANY,
            .watch_group = OFPG_ANY,
            .actions = {1, &act[i]},
        };
    }
    return rig_group_mod(r, &m);
}

struct ofproto_filter
rig_all(void)
{
    return (struct ofproto_filter){
        .table = OFPTT_ALL,
        .out_port = OFPP_ANY,
        .out_group = OFPG_ANY,
    };
}

unsigned
rig_count(struct rig *r, const struct ofproto_filter *f,
          struct ofproto_flow_info *out)
{
    struct ofproto_flow_info info;
    struct ofproto_walk w;
    enum ofproto_step step;
    unsigned n = 0;

    cr_assert(ofproto_walk_flows(r->o, &w, f ? f->table : OFPTT_ALL, &r->err));
    while ((step = ofproto_next_flow(r->o, &w, f, r->now_ns, &info)) !=
           OFPROTO_END) {
        if (step == OFPROTO_AGAIN)
            continue;
        n++;
        if (out)
            *out = info;
    }
    ofproto_walk_end(r->o, &w);
    return n;
}
