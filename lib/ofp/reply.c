/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole messages of the switch, of both versions.  See reply.h; entries of
 * multipart replies are in reply_mp.c.
 */
#include "ofp/reply.h"

#include "ofp/oxm.h"
#include "ofp/port_wire.h"
#include "ofp/v10.h"

enum {
    T_HELLO = 0,
    T_ERROR = 1,
    T_ECHO_REQUEST = 2,
    T_ECHO_REPLY = 3,
    T_EXPERIMENTER = 4,
    T_FEATURES_REPLY = 6,
    T_GET_CONFIG_REPLY = 8,
    T_PACKET_IN = 10,
    T_FLOW_REMOVED = 11,
    T_PORT_STATUS = 12,
    T_BARRIER_REPLY = 21,
    T10_BARRIER_REPLY = 19,
    T_QUEUE_CONFIG_REPLY = 23,
    T10_QUEUE_CONFIG_REPLY = 21,
    T_ROLE_REPLY = 25,
    T_ASYNC_REPLY = 27,
};

#define MAX_ERROR_DATA 128
#define ONF_ID         0x4f4e4600u
#define ONF_BUNDLE     2300u /* of the message and, with the code, of errors */

/* flow, table, port, group, queue statistics */
#define CAPS_13 0x4fu
/* flow, table, port, queue statistics; addresses of ARP can be matched */
#define CAPS_10    0xc7u
#define ACTIONS_10 0xfffu /* all of them */

size_t
ofp_begin(struct ofp_buf *b, uint8_t version, uint8_t type, uint32_t xid)
{
    size_t start = b->n;

    ofp_buf_u8(b, version);
    ofp_buf_u8(b, type);
    ofp_buf_be16(b, 0);
    ofp_buf_be32(b, xid);
    return start;
}

void
ofp_end(struct ofp_buf *b, size_t start)
{
    ofp_buf_set16(b, start + 2, (uint16_t) (b->n - start));
}

void
ofp_send_hello(struct ofp_buf *b, uint32_t xid, uint32_t versions)
{
    uint8_t highest =
        versions ? (uint8_t) (31 - __builtin_clz(versions)) : OFP_V10;
    size_t start = ofp_begin(b, highest, T_HELLO, xid);

    ofp_buf_be16(b, 1); /* a bitmap of versions */
    ofp_buf_be16(b, 8);
    ofp_buf_be32(b, versions);
    ofp_end(b, start);
}

/* An error of 1.3 in 1.0's numbers.  What 1.0 does not know is "not
 * permitted". */
static void
translate_error(uint16_t *type, uint16_t *code)
{
    static const uint8_t flow_mod[] = {5, 0, 5, 1, 2, 3, 4, 5};

    switch (*type) {
    case OFPET_HELLO_FAILED:
        return;
    case OFPET_BAD_REQUEST:
        if (*code <= OFPBRC_BUFFER_UNKNOWN)
            return;
        break;
    case OFPET_BAD_ACTION:
        if (*code > OFPBAC_BAD_QUEUE)
            *code = OFPBAC_BAD_ARGUMENT;
        return;
    case OFPET_FLOW_MOD_FAILED:
        *type = 3;
        *code = *code < sizeof(flow_mod) ? flow_mod[*code] : 5;
        return;
    case OFPET_PORT_MOD_FAILED:
        if (*code > OFPPMFC_BAD_HW_ADDR)
            break;
        *type = 4;
        return;
    case OFPET_QUEUE_OP_FAILED:
        *type = 5;
        return;
    default:
        break;
    }
    *type = OFPET_BAD_REQUEST;
    *code = OFPBRC_EPERM;
}

void
ofp_send_error(struct ofp_buf *b, uint8_t version, const uint8_t *msg,
               size_t n, const struct ofp_error *e)
{
    uint32_t xid = n >= OFP_HEADER_LEN ? ofp_header_get(msg).xid : 0;
    size_t start = ofp_begin(b, version, T_ERROR, xid);
    uint16_t type = e->type, code = e->code;

    if (version == OFP_V10)
        translate_error(&type, &code);
    if (type == OFPET_BUNDLE_FAILED) {
        ofp_buf_be16(b, OFPET_EXPERIMENTER);
        ofp_buf_be16(b, (uint16_t) (ONF_BUNDLE + code));
        ofp_buf_be32(b, ONF_ID);
    } else {
        ofp_buf_be16(b, type);
        ofp_buf_be16(b, code);
    }
    if (type == OFPET_HELLO_FAILED)
        ofp_buf_bytes(b, e->msg, strlen(e->msg));
    else
        ofp_buf_bytes(b, msg, n < MAX_ERROR_DATA ? n : MAX_ERROR_DATA);
    ofp_end(b, start);
}

void
ofp_send_echo_request(struct ofp_buf *b, uint8_t version, uint32_t xid)
{
    ofp_end(b, ofp_begin(b, version, T_ECHO_REQUEST, xid));
}

void
ofp_send_echo_reply(struct ofp_buf *b, uint8_t version, uint32_t xid,
                    const uint8_t *data, size_t n)
{
    size_t start = ofp_begin(b, version, T_ECHO_REPLY, xid);

    ofp_buf_bytes(b, data, n);
    ofp_end(b, start);
}

void
ofp_send_barrier_reply(struct ofp_buf *b, uint8_t version, uint32_t xid)
{
    ofp_end(b,
            ofp_begin(b, version,
                      version == OFP_V10 ? T10_BARRIER_REPLY : T_BARRIER_REPLY,
                      xid));
}

void
ofp_send_features(struct ofp_buf *b, uint8_t version, uint32_t xid,
                  const struct ofp_features *f)
{
    size_t start = ofp_begin(b, version, T_FEATURES_REPLY, xid);

    ofp_buf_be64(b, f->datapath_id);
    ofp_buf_be32(b, f->n_buffers);
    ofp_buf_u8(b, f->n_tables);
    ofp_buf_u8(b, version == OFP_V10 ? 0 : f->auxiliary_id);
    ofp_buf_be16(b, 0);
    ofp_buf_be32(b, version == OFP_V10 ? CAPS_10 : CAPS_13);
    ofp_buf_be32(b, version == OFP_V10 ? ACTIONS_10 : 0);
    for (uint32_t i = 0; version == OFP_V10 && i < f->n_ports; i++)
        port_put(b, version, &f->ports[i]);
    ofp_end(b, start);
}

void
ofp_send_config(struct ofp_buf *b, uint8_t version, uint32_t xid,
                const struct ofp_switch_config *c)
{
    size_t start = ofp_begin(b, version, T_GET_CONFIG_REPLY, xid);

    ofp_buf_be16(b, c->flags);
    ofp_buf_be16(b, c->miss_send_len);
    ofp_end(b, start);
}

static void
packet_in_match(struct ofp_buf *b, const struct ofp_packet_in *p)
{
    struct ofp_match m = {0};

    if (p->in_port) {
        m.present |= UINT64_C(1) << OFP_IN_PORT;
        m.value.in_port = p->in_port;
        m.mask.in_port = UINT32_MAX;
    }
    if (p->metadata) {
        m.present |= UINT64_C(1) << OFP_METADATA;
        m.value.metadata = p->metadata;
        m.mask.metadata = UINT64_MAX;
    }
    if (p->tunnel_id) {
        m.present |= UINT64_C(1) << OFP_TUNNEL_ID;
        m.value.tunnel_id = p->tunnel_id;
        m.mask.tunnel_id = UINT64_MAX;
    }
    ofp_match_encode(b, &m);
}

void
ofp_send_packet_in(struct ofp_buf *b, uint8_t version,
                   const struct ofp_packet_in *p)
{
    size_t start = ofp_begin(b, version, T_PACKET_IN, 0);
    uint32_t total = p->total_len < 0xffff ? p->total_len : 0xffff;

    ofp_buf_be32(b, p->buffer_id);
    ofp_buf_be16(b, (uint16_t) total);
    if (version == OFP_V10) {
        ofp_buf_be16(b, p->in_port ? v10_port_out(p->in_port) : OFPP10_NONE);
        ofp_buf_u8(b, p->reason ? 1 : 0); /* no match or an action */
        ofp_buf_u8(b, 0);
    } else {
        ofp_buf_u8(b, p->reason);
        ofp_buf_u8(b, p->table);
        ofp_buf_be64(b, p->cookie);
        packet_in_match(b, p);
        ofp_buf_be16(b, 0);
    }
    ofp_buf_bytes(b, p->data, p->n);
    ofp_end(b, start);
}

static void
put_duration(struct ofp_buf *b, uint64_t ns)
{
    ofp_buf_be32(b, (uint32_t) (ns / 1000000000u));
    ofp_buf_be32(b, (uint32_t) (ns % 1000000000u));
}

enum ofp_removed_reason
ofp_removed_reason(uint8_t version, enum ofp_removed_reason r)
{
    if (r > (version == OFP_V10 ? OFPRR_DELETE : OFPRR_GROUP_DELETE))
        return OFPRR_DELETE;
    return r;
}

static void
flow_removed_10(struct ofp_buf *b, const struct ofp_flow_removed *r)
{
    ofp10_match_encode(b, &r->match);
    ofp_buf_be64(b, r->cookie);
    ofp_buf_be16(b, r->priority);
    ofp_buf_u8(b, (uint8_t) ofp_removed_reason(OFP_V10, r->reason));
    ofp_buf_u8(b, 0);
    put_duration(b, r->duration_ns);
    ofp_buf_be16(b, r->idle_s);
    ofp_buf_be16(b, 0);
    ofp_buf_be64(b, r->n_packets);
    ofp_buf_be64(b, r->n_bytes);
}

void
ofp_send_flow_removed(struct ofp_buf *b, uint8_t version,
                      const struct ofp_flow_removed *r)
{
    size_t start = ofp_begin(b, version, T_FLOW_REMOVED, 0);

    if (version == OFP_V10) {
        flow_removed_10(b, r);
        ofp_end(b, start);
        return;
    }
    ofp_buf_be64(b, r->cookie);
    ofp_buf_be16(b, r->priority);
    ofp_buf_u8(b, (uint8_t) ofp_removed_reason(version, r->reason));
    ofp_buf_u8(b, r->table);
    put_duration(b, r->duration_ns);
    ofp_buf_be16(b, r->idle_s);
    ofp_buf_be16(b, r->hard_s);
    ofp_buf_be64(b, r->n_packets);
    ofp_buf_be64(b, r->n_bytes);
    ofp_match_encode(b, &r->match);
    ofp_end(b, start);
}

void
ofp_send_port_status(struct ofp_buf *b, uint8_t version, unsigned reason,
                     const struct ofp_port *p)
{
    size_t start = ofp_begin(b, version, T_PORT_STATUS, 0);

    ofp_buf_u8(b, (uint8_t) reason);
    ofp_buf_zero(b, 7);
    port_put(b, version, p);
    ofp_end(b, start);
}

void
ofp_send_role(struct ofp_buf *b, uint32_t xid, const struct ofp_role_msg *r)
{
    size_t start = ofp_begin(b, OFP_V13, T_ROLE_REPLY, xid);

    ofp_buf_be32(b, r->role);
    ofp_buf_be32(b, 0);
    ofp_buf_be64(b, r->generation_id);
    ofp_end(b, start);
}

void
ofp_send_async(struct ofp_buf *b, uint32_t xid,
               const struct ofp_async_config *a)
{
    size_t start = ofp_begin(b, OFP_V13, T_ASYNC_REPLY, xid);

    for (int i = 0; i < 2; i++)
        ofp_buf_be32(b, a->packet_in[i]);
    for (int i = 0; i < 2; i++)
        ofp_buf_be32(b, a->port_status[i]);
    for (int i = 0; i < 2; i++)
        ofp_buf_be32(b, a->flow_removed[i]);
    ofp_end(b, start);
}

void
ofp_send_bundle_ctrl(struct ofp_buf *b, uint32_t xid,
                     const struct ofp_bundle_ctrl *c)
{
    size_t start = ofp_begin(b, OFP_V13, T_EXPERIMENTER, xid);

    ofp_buf_be32(b, ONF_ID);
    ofp_buf_be32(b, ONF_BUNDLE);
    ofp_buf_be32(b, c->id);
    ofp_buf_be16(b, c->type);
    ofp_buf_be16(b, c->flags);
    ofp_end(b, start);
}

/* A rate of a queue, in 1/1000. */
static void
put_rate(struct ofp_buf *b, unsigned property, uint16_t rate)
{
    ofp_buf_be16(b, (uint16_t) property);
    ofp_buf_be16(b, 16);
    ofp_buf_be32(b, 0);
    ofp_buf_be16(b, rate);
    ofp_buf_zero(b, 6);
}

static void
put_queue(struct ofp_buf *b, uint8_t version, const struct ofp_queue *q)
{
    size_t at = b->n, len_at;

    ofp_buf_be32(b, q->id);
    if (version != OFP_V10)
        ofp_buf_be32(b, q->port);
    len_at = b->n;
    ofp_buf_be16(b, 0);
    ofp_buf_zero(b, version == OFP_V10 ? 2 : 6);
    if (q->min_rate != 0xffff)
        put_rate(b, 1, q->min_rate);
    if (q->max_rate != 0xffff && version != OFP_V10)
        put_rate(b, 2, q->max_rate);
    ofp_buf_set16(b, len_at, (uint16_t) (b->n - at));
}

void
ofp_send_queue_config(struct ofp_buf *b, uint8_t version, uint32_t xid,
                      uint32_t port, const struct ofp_queue *q, size_t n)
{
    bool is_10 = version == OFP_V10;
    size_t start =
        ofp_begin(b, version,
                  is_10 ? T10_QUEUE_CONFIG_REPLY : T_QUEUE_CONFIG_REPLY, xid);

    if (is_10)
        ofp_buf_be16(b, v10_port_out(port));
    else
        ofp_buf_be32(b, port);
    ofp_buf_zero(b, is_10 ? 6 : 4);
    for (size_t i = 0; i < n; i++)
        put_queue(b, version, &q[i]);
    ofp_end(b, start);
}
