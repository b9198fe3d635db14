/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages of controllers at OpenFlow 1.3 (7.3), multipart requests aside.
 * See decode.h.
 */
#include "ofp/decode.h"

#define ONF_ID 0x4f4e4600u

enum {
    ONF_BUNDLE_CONTROL = 2300,
    ONF_BUNDLE_ADD_MESSAGE = 2301,
};

#define OFPFF_ALL 0x1fu /* flags of a flow-mod that there are */

static bool
decode_packet_out(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    struct ofp_packet_out *po = &m->packet_out;
    uint16_t actions_len;
    const uint8_t *actions;

    po->buffer_id = cursor_be32(c);
    po->in_port = cursor_be32(c);
    actions_len = cursor_be16(c);
    cursor_take(c, 6);
    actions = cursor_take(c, actions_len);
    if (c->bad)
        return ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_LEN,
                        "packet-out: %u octets of actions end beyond it",
                        actions_len);
    po->data = c->p;
    po->n = c->left;
    return ofp_actions_decode(actions, actions_len, OFP_V13, &m->arena,
                              &po->actions, e);
}

static bool
check_flow_mod(const struct ofp_flow_mod *f, struct ofp_error *e)
{
    if (f->flags & ~OFPFF_ALL)
        return ofp_fail(e, OFPET_FLOW_MOD_FAILED, OFPFMFC_BAD_FLAGS,
                        "flags 0x%x, 0x%x are allowed", f->flags, OFPFF_ALL);
    if (f->command == OFPFC_DELETE || f->command == OFPFC_DELETE_STRICT)
        return true; /* what it would do is not looked at */
    if (f->inst.has_goto && f->table != OFPTT_ALL && f->inst.table <= f->table)
        return ofp_fail(e, OFPET_BAD_INSTRUCTION, OFPBIC_BAD_TABLE_ID,
                        "goto-table %u from table %u, it must be higher",
                        f->inst.table, f->table);
    return decode_no_table_port(&f->inst.apply, e) &&
           decode_no_table_port(&f->inst.write, e) &&
           ofp_instructions_fit(&f->inst, &f->match, e);
}

static bool
decode_flow_mod(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    struct ofp_flow_mod *f = &m->flow;
    uint8_t command;

    f->version = OFP_V13;
    f->cookie = cursor_be64(c);
    f->cookie_mask = cursor_be64(c);
    f->table = cursor_u8(c);
    command = cursor_u8(c);
    f->idle_s = cursor_be16(c);
    f->hard_s = cursor_be16(c);
    f->priority = cursor_be16(c);
    f->buffer_id = cursor_be32(c);
    f->out_port = cursor_be32(c);
    f->out_group = cursor_be32(c);
    f->flags = cursor_be16(c);
    cursor_be16(c);
    if (command > OFPFC_DELETE_STRICT)
        return ofp_fail(e, OFPET_FLOW_MOD_FAILED, OFPFMFC_BAD_COMMAND,
                        "flow-mod command %u, 0 to 4 are allowed", command);
    f->command = (enum ofp_flow_command) command;
    return ofp_match_decode(c, &f->match, e) &&
           ofp_instructions_decode(c->p, c->left, OFP_V13, &m->arena, &f->inst,
                                   e) &&
           check_flow_mod(f, e);
}

static bool
decode_group_mod(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    struct ofp_group_mod *g = &m->group;
    uint16_t command = cursor_be16(c);
    uint8_t type = cursor_u8(c);

    cursor_u8(c);
    g->group.id = cursor_be32(c);
    if (command > OFPGC_DELETE && command != OFPGC_ADD_OR_MODIFY)
        return ofp_fail(e, OFPET_GROUP_MOD_FAILED, OFPGMFC_BAD_COMMAND,
                        "group-mod command %u, 0 to 2 are allowed", command);
    if (type > OFPGT_FF)
        return ofp_fail(e, OFPET_GROUP_MOD_FAILED, OFPGMFC_BAD_TYPE,
                        "group type %u, 0 to 3 are allowed", type);
    if (g->group.id > OFPG_MAX &&
        (command != OFPGC_DELETE || g->group.id != OFPG_ALL))
        return ofp_fail(e, OFPET_GROUP_MOD_FAILED, OFPGMFC_INVALID_GROUP,
                        "group 0x%x, 0x%x at most is allowed", g->group.id,
                        OFPG_MAX);
    g->command = (enum ofp_group_command) command;
    g->group.type = (enum ofp_group_type) type;
    if (!ofp_buckets_decode(c->p, c->left, &m->arena, &g->group, e))
        return false;
    for (uint32_t i = 0; i < g->group.n_buckets; i++)
        if (!decode_no_table_port(&g->group.bucket[i].actions, e))
            return false;
    return true;
}

static bool
decode_meter_mod(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    struct ofp_meter_mod *mm = &m->meter;
    uint16_t command = cursor_be16(c);

    mm->meter.flags = cursor_be16(c);
    mm->meter.id = cursor_be32(c);
    if (command > OFPMC_DELETE)
        return ofp_fail(e, OFPET_METER_MOD_FAILED, OFPMMFC_BAD_COMMAND,
                        "meter-mod command %u, 0 to 2 are allowed", command);
    mm->command = (enum ofp_meter_command) command;
    if (mm->command == OFPMC_DELETE)
        return true;
    if (mm->meter.flags &
            ~(OFPMF_KBPS | OFPMF_PKTPS | OFPMF_BURST | OFPMF_STATS) ||
        (mm->meter.flags & OFPMF_KBPS && mm->meter.flags & OFPMF_PKTPS))
        return ofp_fail(e, OFPET_METER_MOD_FAILED, OFPMMFC_BAD_FLAGS,
                        "meter flags 0x%x: 0xf are allowed, kbps (1) and "
                        "pktps (2) not both",
                        mm->meter.flags);
    return ofp_bands_decode(c->p, c->left, &mm->meter, e);
}

static bool
decode_port_mod(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    struct ofp_port_mod *p = &m->port;

    (void) e;
    p->port = cursor_be32(c);
    cursor_be32(c);
    memcpy(p->hw_addr, cursor_take(c, 6), 6);
    cursor_be16(c);
    p->config = cursor_be32(c);
    p->mask = cursor_be32(c);
    p->advertise = cursor_be32(c);
    return true;
}

static bool
decode_table_mod(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    (void) e;
    m->table.table = cursor_u8(c);
    cursor_take(c, 3);
    m->table.config = cursor_be32(c);
    return true;
}

static bool
decode_queue_get_config(struct cursor *c, struct ofp_msg *m,
                        struct ofp_error *e)
{
    (void) e;
    m->which.port = cursor_be32(c);
    m->which.queue = OFPQ_ALL;
    return true;
}

static bool
decode_role(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    (void) e;
    m->role.role = cursor_be32(c);
    cursor_be32(c);
    m->role.generation_id = cursor_be64(c);
    return true;
}

static bool
decode_async(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    (void) e;
    for (int i = 0; i < 2; i++)
        m->async.packet_in[i] = cursor_be32(c);
    for (int i = 0; i < 2; i++)
        m->async.port_status[i] = cursor_be32(c);
    for (int i = 0; i < 2; i++)
        m->async.flow_removed[i] = cursor_be32(c);
    return true;
}

static bool
decode_bundle_ctrl(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    (void) e;
    m->bundle.id = cursor_be32(c);
    m->bundle.type = cursor_be16(c);
    m->bundle.flags = cursor_be16(c);
    return true;
}

static bool
decode_bundle_add(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    struct ofp_bundle_add *b = &m->bundle_add;
    struct ofp_header h;

    b->id = cursor_be32(c);
    cursor_be16(c);
    b->flags = cursor_be16(c);
    h = ofp_header_get(c->p);
    if (h.len < OFP_HEADER_LEN || h.len > c->left)
        return ofp_fail(e, OFPET_BUNDLE_FAILED, OFPBFC_MSG_BAD_LEN,
                        "a bundled message of %u octets in %zu", h.len,
                        c->left);
    if (h.xid != m->xid || h.version != m->version)
        return ofp_fail(e, OFPET_BUNDLE_FAILED, OFPBFC_MSG_BAD_XID,
                        "a bundled message of version %u, xid 0x%x in one of "
                        "version %u, xid 0x%x",
                        h.version, h.xid, m->version, m->xid);
    b->msg = c->p;
    b->n = h.len;
    return true;
}

static const struct decode_form onf_forms[] = {
    {ONF_BUNDLE_CONTROL, OFPK_BUNDLE_CTRL, 8, false, decode_bundle_ctrl},
    {ONF_BUNDLE_ADD_MESSAGE, OFPK_BUNDLE_ADD, 16, false, decode_bundle_add},
};

static bool
decode_experimenter(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    uint32_t id = cursor_be32(c), type = cursor_be32(c);
    const struct decode_form *f;

    if (id != ONF_ID)
        return ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_EXPERIMENTER,
                        "messages of experimenter 0x%08x are not supported",
                        id);
    f = decode_find(onf_forms, sizeof(onf_forms) / sizeof(onf_forms[0]),
                    type > 0xffff ? 0 : (uint16_t) type);
    if (!f)
        return ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_EXP_TYPE,
                        "message %u of the ONF is not supported", type);
    return decode_run(f, c, m, e);
}

static const struct decode_form forms[] = {
    {5, OFPK_FEATURES_REQUEST, 0, true, NULL},
    {7, OFPK_GET_CONFIG_REQUEST, 0, true, NULL},
    {9, OFPK_SET_CONFIG, 4, true, decode_config},
    {13, OFPK_PACKET_OUT, 16, false, decode_packet_out},
    {14, OFPK_FLOW_MOD, 48, false, decode_flow_mod},
    {15, OFPK_GROUP_MOD, 8, false, decode_group_mod},
    {16, OFPK_PORT_MOD, 32, true, decode_port_mod},
    {17, OFPK_TABLE_MOD, 8, true, decode_table_mod},
    {20, OFPK_BARRIER_REQUEST, 0, true, NULL},
    {22, OFPK_QUEUE_GET_CONFIG, 8, true, decode_queue_get_config},
    {24, OFPK_ROLE_REQUEST, 16, true, decode_role},
    {26, OFPK_GET_ASYNC, 0, true, NULL},
    {28, OFPK_SET_ASYNC, 24, true, decode_async},
    {29, OFPK_METER_MOD, 8, false, decode_meter_mod},
    /* Two that say in their bodies what they are. */
    {4, OFPK_BUNDLE_CTRL, 8, false, decode_experimenter},
    {18, OFPK_MP_DESC, 8, false, decode_multipart},
};

bool
decode13(uint8_t type, struct cursor *c, struct ofp_msg *m,
         struct ofp_error *e)
{
    const struct decode_form *f =
        decode_find(forms, sizeof(forms) / sizeof(forms[0]), type);

    if (!f)
        return ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_TYPE,
                        "no controller sends messages of type %u", type);
    return decode_run(f, c, m, e);
}
