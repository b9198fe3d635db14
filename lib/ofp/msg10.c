/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages of controllers at OpenFlow 1.0, in terms of 1.3.  See decode.h.
 */
#include "ofp/decode.h"
#include "ofp/v10.h"

#define FLAG_EMERG 4u /* a flow for when the controller is gone */
#define FLAG_ALL   3u

static bool
decode_packet_out(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    struct ofp_packet_out *po = &m->packet_out;
    uint16_t actions_len;
    const uint8_t *actions;

    po->buffer_id = cursor_be32(c);
    po->in_port = v10_port_in(cursor_be16(c));
    actions_len = cursor_be16(c);
    actions = cursor_take(c, actions_len);
    if (c->bad)
        return ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_LEN,
                        "packet-out: %u octets of actions end beyond it",
                        actions_len);
    if (po->in_port == OFPP_ANY)
        po->in_port = OFPP_CONTROLLER; /* 1.0's word for it is NONE */
    po->data = c->p;
    po->n = c->left;
    return ofp_actions_decode(actions, actions_len, OFP_V10, &m->arena,
                              &po->actions, e);
}

/* An action that the protocol of the match makes pointless: half of a pair
 * that sets ports of TCP and UDP. */
static bool
is_pointless(const struct ofp_action *a, const struct ofp_match *match)
{
    uint8_t proto = match->value.ip_proto;

    if (a->type != OFP_ACT_SET_FIELD || !ofp_match_has(match, OFP_IP_PROTO))
        return false;
    if (a->set.field == OFP_TCP_SRC || a->set.field == OFP_TCP_DST)
        return proto == 17;
    if (a->set.field == OFP_UDP_SRC || a->set.field == OFP_UDP_DST)
        return proto == 6;
    return false;
}

static void
drop_pointless(struct ofp_actions *l, const struct ofp_match *match)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < l->n; i++)
        if (!is_pointless(&l->a[i], match))
            l->a[n++] = l->a[i];
    l->n = n;
}

static bool
decode_flow_actions(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    struct ofp_flow_mod *f = &m->flow;

    if (!ofp_actions_decode(c->p, c->left, OFP_V10, &m->arena, &f->inst.apply,
                            e))
        return false;
    drop_pointless(&f->inst.apply, &f->match);
    f->inst.has_apply = f->inst.apply.n > 0; /* no action: drop */
    return decode_no_table_port(&f->inst.apply, e);
}

static bool
decode_flow_mod(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    struct ofp_flow_mod *f = &m->flow;
    uint16_t command;

    f->version = OFP_V10;
    ofp10_match_decode(c, &f->match, e);
    f->cookie = cursor_be64(c);
    command = cursor_be16(c);
    f->idle_s = cursor_be16(c);
    f->hard_s = cursor_be16(c);
    f->priority = cursor_be16(c);
    f->buffer_id = cursor_be32(c);
    f->out_port = v10_port_in(cursor_be16(c));
    f->out_group = OFPG_ANY;
    f->flags = cursor_be16(c);
    if (command > OFPFC_DELETE_STRICT)
        return ofp_fail(e, OFPET_FLOW_MOD_FAILED, OFPFMFC_BAD_COMMAND,
                        "flow-mod command %u, 0 to 4 are allowed", command);
    f->command = (enum ofp_flow_command) command;
    if (f->command == OFPFC_DELETE || f->command == OFPFC_DELETE_STRICT)
        f->table = OFPTT_ALL;
    if (f->flags & FLAG_EMERG)
        return ofp_fail(e, OFPET_FLOW_MOD_FAILED, OFPFMFC_TABLE_FULL,
                        "there is no table for emergency flows");
    f->flags &= FLAG_ALL;
    return decode_flow_actions(c, m, e);
}

/* 1.0 has no word for 40 Gb/s and above; its last four are 1.3's 11 and up. */
static uint32_t
port_features(uint32_t v)
{
    return (v & 0x7f) | (v & 0x380) << 4;
}

static bool
decode_port_mod(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    struct ofp_port_mod *p = &m->port;

    (void) e;
    p->port = v10_port_in(cursor_be16(c));
    memcpy(p->hw_addr, cursor_take(c, 6), 6);
    p->config = cursor_be32(c);
    p->mask = cursor_be32(c);
    p->advertise = port_features(cursor_be32(c));
    return true;
}

static bool
decode_which(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    (void) e;
    m->which.port = v10_port_in(cursor_be16(c));
    m->which.queue = OFPQ_ALL;
    if (m->kind == OFPK_MP_QUEUE) {
        cursor_be16(c);
        m->which.queue = cursor_be32(c);
    }
    return true;
}

static bool
decode_flows(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    struct ofp_flow_request *r = &m->flows;

    ofp10_match_decode(c, &r->match, e);
    r->table = cursor_u8(c);
    cursor_u8(c);
    r->out_port = v10_port_in(cursor_be16(c));
    r->out_group = OFPG_ANY;
    return true;
}

static const struct decode_form stats_forms[] = {
    {0, OFPK_MP_DESC, 0, true, NULL},
    {1, OFPK_MP_FLOW, 44, true, decode_flows},
    {2, OFPK_MP_AGGREGATE, 44, true, decode_flows},
    {3, OFPK_MP_TABLE, 0, true, NULL},
    {4, OFPK_MP_PORT_STATS, 8, true, decode_which},
    {5, OFPK_MP_QUEUE, 8, true, decode_which},
    {13, OFPK_MP_PORT_DESC, 0, true, NULL}, /* of 1.3, as Open vSwitch */
};

static bool
decode_stats(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    uint16_t type = cursor_be16(c);
    const struct decode_form *f =
        decode_find(stats_forms, sizeof(stats_forms) / sizeof(stats_forms[0]),
                    type);

    cursor_be16(c);
    if (type == 0xffff)
        return ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_EXPERIMENTER,
                        "statistics of vendors are not supported");
    if (!f)
        return ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_MULTIPART,
                        "no statistics request has type %u", type);
    return decode_run(f, c, m, e);
}

static bool
decode_vendor(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    (void) m;
    return ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_EXPERIMENTER,
                    "messages of vendor 0x%08x are not supported",
                    cursor_be32(c));
}

static const struct decode_form forms[] = {
    {5, OFPK_FEATURES_REQUEST, 0, true, NULL},
    {7, OFPK_GET_CONFIG_REQUEST, 0, true, NULL},
    {9, OFPK_SET_CONFIG, 4, true, decode_config},
    {13, OFPK_PACKET_OUT, 8, false, decode_packet_out},
    {14, OFPK_FLOW_MOD, 64, false, decode_flow_mod},
    {15, OFPK_PORT_MOD, 24, true, decode_port_mod},
    {18, OFPK_BARRIER_REQUEST, 0, true, NULL},
    {20, OFPK_QUEUE_GET_CONFIG, 4, true, decode_which},
    /* Two that say in their bodies what they are. */
    {4, OFPK_BUNDLE_CTRL, 4, false, decode_vendor},
    {16, OFPK_MP_DESC, 4, false, decode_stats},
};

bool
decode10(uint8_t type, struct cursor *c, struct ofp_msg *m,
         struct ofp_error *e)
{
    const struct decode_form *f =
        decode_find(forms, sizeof(forms) / sizeof(forms[0]), type);

    if (!f)
        return ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_TYPE,
                        "no controller sends messages of type %u at 1.0",
                        type);
    return decode_run(f, c, m, e);
}
