/* SPDX-License-Identifier: Apache-2.0
 *
 * What connections ask of the switch (struct ofconn_ops): requests are decoded
 * by the codec, judged by the books, and carried out by the datapath.  Control
 * thread.
 */
#include "of_int.h"

#include "dp/of.h"
#include "ofbridge.h"
#include "ofp/msg.h"
#include "ofp/reply.h"

#include <stdlib.h>
#include <string.h>

#define MAX_PORTS (DP_MAX_PORTS + 1) /* with the local one */

static void
send_buf(struct ofconn *c, struct ofp_buf *b)
{
    if (b->bad)
        abort(); /* no memory at all */
    ofconn_send(c, b->data, b->n);
    ofp_buf_free(b);
}

/* --- answers ---------------------------------------------------------------
 */

static void
features(struct ofd_control *of, struct ofconn *c, const struct ofp_msg *m)
{
    struct ofproto *books = ofd_books(of);
    struct conf_bridge *cb = conf_find_bridge(of->daemon->conf, of->name);
    struct ofp_features f = {.datapath_id = ofd_datapath_id(of->daemon, cb),
                             .n_buffers = OFCONN_N_BUFFERS,
                             .n_tables = OFP_N_TABLES};
    struct ofp_port *ports = calloc(MAX_PORTS, sizeof(*ports));
    const struct ofp_port *p = ofproto_port_after(books, 0);
    struct ofp_buf b = {.n = 0};

    if (!ports)
        abort();
    for (; p && f.n_ports < MAX_PORTS;
         p = ofproto_port_after(books, p->number))
        ports[f.n_ports++] = *p;
    f.ports = ports;
    ofp_send_features(&b, m->version, m->xid, &f);
    free(ports);
    send_buf(c, &b);
}

static enum ofconn_verdict
queue_config(struct ofd_control *of, struct ofconn *c, const struct ofp_msg *m,
             struct ofp_error *e)
{
    struct ofbridge *ob = ofd_ofbridge(of);
    uint32_t port = m->which.port, n = 0;
    bool all = port == OFPP_ANY;
    struct ofp_queue *q;
    struct ofp_buf b = {.n = 0};
    const struct ofp_port *p = all ? ofproto_port_after(ofd_books(of), 0)
                                   : ofproto_port(ofd_books(of), port);

    if (!p && !all) {
        ofp_fail(e, OFPET_QUEUE_OP_FAILED, OFPQOFC_BAD_PORT,
                 "there is no port %u", port);
        return OFCONN_ERROR;
    }
    q = calloc(MAX_PORTS * OFPROTO_N_QUEUES, sizeof(*q));
    if (!q)
        abort();
    while (p) {
        for (uint32_t i = 0; i < OFPROTO_N_QUEUES; i++)
            if (n < MAX_PORTS * OFPROTO_N_QUEUES &&
                ofbridge_queue(ob, p->number, i, &q[n]))
                n++;
        p = all ? ofproto_port_after(ofd_books(of), p->number) : NULL;
    }
    ofp_send_queue_config(&b, m->version, m->xid, port, q, n);
    free(q);
    send_buf(c, &b);
    return OFCONN_OK;
}

/* --- frames to be sent ------------------------------------------------------
 */

/* Hands a frame to the datapath.  False: there is no room now. */
static bool
post_frame(struct ofd_control *of, uint32_t in_port,
           const struct ofp_actions *actions, const void *frame, size_t n)
{
    struct bridge *b = ofd_bridge(of);

    ofbridge_ticket(ofd_ofbridge(of)); /* changes go first */
    if (!dp_packet_out_post(b->dp, in_port, actions, frame, (uint32_t) n))
        return false;
    of->n_posted++;
    dp_thread_kick(b->thread);
    return true;
}

static enum ofconn_verdict
packet_out(struct ofd_control *of, const struct ofp_packet_out *po,
           struct ofp_error *e)
{
    const void *frame = po->data;
    size_t n = po->n;

    if (!ofproto_check_packet_out(ofd_books(of), po->in_port, &po->actions, e))
        return OFCONN_ERROR;
    if (po->buffer_id != OFP_NO_BUFFER &&
        !ofconn_buffer_get(of->sw, po->buffer_id, &frame, &n, e))
        return OFCONN_ERROR;
    if (!post_frame(of, po->in_port, &po->actions, frame, n))
        return OFCONN_WAIT;
    if (po->buffer_id != OFP_NO_BUFFER)
        ofconn_buffer_free(of->sw, po->buffer_id);
    return OFCONN_OK;
}

/* --- modifications ----------------------------------------------------------
 */

/* The same as a modification of the books; false: it is none. */
static bool
as_mod(const struct ofp_msg *m, struct ofproto_mod *mod)
{
    *mod = (struct ofproto_mod){.persist = false};
    switch (m->kind) {
    case OFPK_FLOW_MOD:
        mod->type = OFPROTO_FLOW_MOD;
        mod->flow = &m->flow;
        return true;
    case OFPK_GROUP_MOD:
        mod->type = OFPROTO_GROUP_MOD;
        mod->group = &m->group;
        return true;
    case OFPK_METER_MOD:
        mod->type = OFPROTO_METER_MOD;
        mod->meter = &m->meter;
        return true;
    case OFPK_PORT_MOD:
        mod->type = OFPROTO_PORT_MOD;
        mod->port = &m->port;
        return true;
    case OFPK_TABLE_MOD:
        mod->type = OFPROTO_TABLE_MOD;
        mod->table = &m->table;
        return true;
    default:
        return false;
    }
}

/* A flow-mod may name a frame that is to go through the tables after it.  A
 * number that is none is an error before anything is changed. */
static bool
buffer_of(struct ofd_control *of, const struct ofp_msg *m, const void **frame,
          size_t *n, struct ofp_error *e)
{
    *frame = NULL;
    if (m->kind != OFPK_FLOW_MOD || m->flow.buffer_id == OFP_NO_BUFFER ||
        m->flow.command >= OFPFC_DELETE)
        return true;
    return ofconn_buffer_get(of->sw, m->flow.buffer_id, frame, n, e);
}

static void
send_buffered(struct ofd_control *of, const struct ofp_msg *m,
              const void *frame, size_t n)
{
    struct ofp_action to_table = {.type = OFP_ACT_OUTPUT};
    struct ofp_actions actions = {1, &to_table};
    uint8_t bytes[4];
    uint32_t in_port = OFPP_CONTROLLER;

    to_table.output.port = OFPP_TABLE;
    to_table.output.max_len = OFPCML_NO_BUFFER;
    if (ofp_match_has(&m->flow.match, OFP_IN_PORT)) {
        ofp_key_get(&m->flow.match.value, OFP_IN_PORT, bytes);
        in_port = (uint32_t) bytes[0] << 24 | (uint32_t) bytes[1] << 16 |
                  (uint32_t) bytes[2] << 8 | bytes[3];
    }
    post_frame(of, in_port, &actions, frame, n);
    ofconn_buffer_free(of->sw, m->flow.buffer_id);
}

static enum ofconn_verdict
modify(struct ofd_control *of, const struct ofp_msg *m, struct ofp_error *e)
{
    struct ofbridge *ob = ofd_ofbridge(of);
    struct ofproto_mod mod;
    const void *frame;
    size_t failed, n = 0;

    if (!ofbridge_has_room(ob))
        return OFCONN_WAIT;
    if (!as_mod(m, &mod)) {
        ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_TYPE, "%s is no request",
                 ofp_kind_name(m->kind));
        return OFCONN_ERROR;
    }
    if (!buffer_of(of, m, &frame, &n, e) ||
        !ofbridge_apply(ob, &mod, 1, false, &failed, e))
        return OFCONN_ERROR;
    if (frame)
        send_buffered(of, m, frame, n);
    return OFCONN_OK;
}

static enum ofconn_verdict
request(void *sw, struct ofconn *c, const struct ofconn_msg *raw,
        struct ofp_error *e)
{
    struct ofd_control *of = sw;
    enum ofconn_verdict v = OFCONN_OK;
    struct ofp_msg m;

    if (!ofp_msg_decode(raw->bytes, raw->n, &m, e))
        return OFCONN_ERROR;
    switch (m.kind) {
    case OFPK_FEATURES_REQUEST:
        features(of, c, &m);
        break;
    case OFPK_QUEUE_GET_CONFIG:
        v = queue_config(of, c, &m, e);
        break;
    case OFPK_PACKET_OUT:
        v = packet_out(of, &m.packet_out, e);
        break;
    default:
        v = modify(of, &m, e);
        break;
    }
    ofp_msg_free(&m);
    return v;
}

/* --- bundles ----------------------------------------------------------------
 */

static bool
check(void *sw, struct ofconn *c, const struct ofconn_msg *raw,
      struct ofp_error *e)
{
    struct ofp_msg m;

    (void) sw;
    (void) c;
    if (!ofp_msg_decode(raw->bytes, raw->n, &m, e))
        return false;
    ofp_msg_free(&m);
    return true;
}

/* Everything of a bundle, decoded. */
struct batch {
    struct ofp_msg *msg;     /* all */
    uint32_t n;              /* of them */
    struct ofproto_mod *mod; /* those that change the books */
    uint32_t *at;            /* which message a mod is */
    size_t n_mods;           /* of them */
};

static void
batch_free(struct batch *x)
{
    while (x->n)
        ofp_msg_free(&x->msg[--x->n]);
    free(x->msg);
    free(x->mod);
    free(x->at);
}

static bool
batch_fill(struct ofd_control *of, struct batch *x,
           const struct ofconn_msg *raw, uint32_t n, uint32_t *failed,
           struct ofp_error *e)
{
    x->msg = calloc(n ? n : 1, sizeof(*x->msg));
    x->mod = calloc(n ? n : 1, sizeof(*x->mod));
    x->at = calloc(n ? n : 1, sizeof(*x->at));
    if (!x->msg || !x->mod || !x->at)
        return ofp_fail(e, OFPET_BUNDLE_FAILED, OFPBFC_UNKNOWN,
                        "no memory for a bundle of %u messages", n);
    for (uint32_t i = 0; i < n; i++) {
        struct ofp_msg *m = &x->msg[i];

        *failed = i;
        if (!ofp_msg_decode(raw[i].bytes, raw[i].n, m, e))
            return false;
        x->n++;
        if (as_mod(m, &x->mod[x->n_mods]))
            x->at[x->n_mods++] = i;
        else if (m->kind != OFPK_PACKET_OUT ||
                 !ofproto_check_packet_out(ofd_books(of),
                                           m->packet_out.in_port,
                                           &m->packet_out.actions, e))
            return false;
    }
    return true;
}

/* Frames of packet-outs are sent once all modifications are in force; one for
 * which there is no room is lost, as any frame may be. */
static enum ofconn_verdict
commit(void *sw, struct ofconn *c, const struct ofconn_msg *raw, uint32_t n,
       uint16_t flags, uint32_t *failed, struct ofp_error *e)
{
    struct ofd_control *of = sw;
    struct ofbridge *ob = ofd_ofbridge(of);
    struct batch x = {.n = 0};
    struct ofp_error lost;
    size_t bad = 0;
    bool ok;

    (void) c;
    if (!ofbridge_has_room(ob))
        return OFCONN_WAIT;
    ok = batch_fill(of, &x, raw, n, failed, e);
    if (ok && x.n_mods) {
        ok =
            ofbridge_apply(ob, x.mod, x.n_mods, flags & OFPBF_ATOMIC, &bad, e);
        *failed = x.at[bad];
    }
    for (uint32_t i = 0; ok && i < n; i++)
        if (x.msg[i].kind == OFPK_PACKET_OUT)
            packet_out(of, &x.msg[i].packet_out, &lost);
    batch_free(&x);
    return ok ? OFCONN_OK : OFCONN_ERROR;
}

/* --- the rest ---------------------------------------------------------------
 */

static enum ofconn_verdict
experimenter(void *sw, struct ofconn *c, const struct ofconn_msg *m,
             struct ofp_error *e)
{
    (void) sw;
    (void) c;
    (void) m;
    ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_EXPERIMENTER,
             "no experimenter but the ONF is known");
    return OFCONN_ERROR;
}

/* A frame that was handed over is sent before its barrier is answered. */
static uint64_t
ticket(void *sw)
{
    struct ofd_control *of = sw;

    of->out_ticket = of->n_posted;
    return ofbridge_ticket(ofd_ofbridge(of));
}

static bool
is_done(void *sw, uint64_t t)
{
    struct ofd_control *of = sw;
    const struct dp_of_counters *n = dp_of_counters(ofd_bridge(of)->dp);

    return ofbridge_is_done(ofd_ofbridge(of), t) &&
           counter_get(&n->n_out) >= of->out_ticket;
}

static uint16_t
get_frags(void *sw)
{
    return ((struct ofd_control *) sw)->frags;
}

static bool
set_frags(void *sw, uint16_t flags)
{
    struct ofd_control *of = sw;

    if (flags > 1) /* nothing is put together */
        return false;
    of->frags = flags;
    ofd_async_follow(of);
    return true;
}

static void
follow(void *sw, struct ofconn *c)
{
    (void) c;
    ofd_async_follow(sw);
}

const struct ofconn_ops ofd_ops = {
    .request = request,
    .multipart = ofd_stats_begin,
    .dump_next = ofd_stats_next,
    .dump_end = ofd_stats_end,
    .experimenter = experimenter,
    .check = check,
    .commit = commit,
    .ticket = ticket,
    .is_done = is_done,
    .get_frags = get_frags,
    .set_frags = set_frags,
    .up = follow,
    .down = follow,
    .asked = follow,
};
