/* SPDX-License-Identifier: Apache-2.0
 *
 * What controllers hear unasked: frames that the datapath has for them, flows
 * that went, ports that changed.  A message is made once for all that get the
 * same.  Control thread.
 */
#include "of_int.h"

#include "dp/of.h"
#include "dp_thread.h"
#include "ofbridge.h"
#include "ofp/reply.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES_A_TURN 256

/* Messages in both versions, made when they are first needed. */
struct both {
    struct ofp_buf v10, v13;
};

static struct ofp_buf *
ofd_version(struct both *b, const struct ofconn *c)
{
    return ofconn_version(c) == OFP_V10 ? &b->v10 : &b->v13;
}

static void
both_free(struct both *b)
{
    ofp_buf_free(&b->v10);
    ofp_buf_free(&b->v13);
}

static void
send(struct ofconn *c, enum ofconn_async kind, const struct ofp_buf *m)
{
    if (m->bad)
        abort(); /* no memory at all */
    ofconn_send_async(c, kind, m->data, m->n);
}

/* --- frames -----------------------------------------------------------------
 */

/* A frame that no entry sent: 1.0 wants it, 1.3 does not. */
static bool
is_bare_miss(const struct dp_packet_in *in)
{
    return in->reason == OFPR_NO_MATCH && in->cookie == UINT64_MAX;
}

/* As much of the frame as the action, or else the connection, says; all of it
 * where nothing can be buffered. */
static void
send_frame(struct ofd_control *of, struct ofconn *c,
           const struct dp_packet_in *in, uint32_t *buffer_id)
{
    uint16_t max_len = in->max_len;
    struct ofp_packet_in p = {
        .buffer_id = OFP_NO_BUFFER,
        .total_len = in->len,
        .reason = in->reason,
        .table = in->table,
        .in_port = in->in_port,
        .cookie = in->cookie,
        .metadata = in->metadata,
        .tunnel_id = in->tunnel_id,
        .data = in->data,
        .n = in->len,
    };
    struct ofp_buf b = {.n = 0};

    if (is_bare_miss(in) || in->reason == OFPR_INVALID_TTL)
        max_len = ofconn_miss_send_len(c);
    if (max_len < in->len) {
        if (*buffer_id == OFP_NO_BUFFER)
            *buffer_id = ofconn_buffer_put(of->sw, in->data, in->len);
        p.buffer_id = *buffer_id;
        if (p.buffer_id != OFP_NO_BUFFER)
            p.n = max_len;
    }
    ofp_send_packet_in(&b, ofconn_version(c), &p);
    send(c, OFCONN_PACKET_IN, &b);
    ofp_buf_free(&b);
}

void
ofd_async_take(struct ofd_control *of)
{
    struct bridge *b = ofd_bridge(of);
    struct dp_packet_in in;
    int n = 0;

    while (n < FRAMES_A_TURN && dp_packet_in_get(b->dp, &in)) {
        uint32_t buffer_id = OFP_NO_BUFFER;
        bool bare = is_bare_miss(&in);

        n++;
        for (struct ofconn *c = ofconn_first(of->sw); c; c = ofconn_next(c))
            if (ofconn_wants(c, OFCONN_PACKET_IN, in.reason) &&
                (!bare || ofconn_version(c) == OFP_V10))
                send_frame(of, c, &in, &buffer_id);
    }
    if (n == FRAMES_A_TURN)
        dp_thread_call_again(b->thread);
}

/* --- flows and ports
 * ---------------------------------------------------------
 */

void
ofd_async_flow_removed(void *arg, const struct ofp_flow_removed *f)
{
    struct ofd_control *of = arg;
    struct both b = {.v10 = {.n = 0}};

    for (struct ofconn *c = ofconn_first(of->sw); c; c = ofconn_next(c)) {
        struct ofp_buf *m = ofd_version(&b, c);
        unsigned reason = ofp_removed_reason(ofconn_version(c), f->reason);

        if (!ofconn_wants(c, OFCONN_FLOW_REMOVED, reason))
            continue;
        if (!m->n)
            ofp_send_flow_removed(m, ofconn_version(c), f);
        send(c, OFCONN_FLOW_REMOVED, m);
    }
    both_free(&b);
    ofd_schedule(of);
}

void
ofd_async_port_status(void *arg, unsigned reason, const struct ofp_port *p)
{
    struct ofd_control *of = arg;
    struct both b = {.v10 = {.n = 0}};

    for (struct ofconn *c = ofconn_first(of->sw); c; c = ofconn_next(c)) {
        struct ofp_buf *m = ofd_version(&b, c);

        if (!ofconn_wants(c, OFCONN_PORT_STATUS, reason))
            continue;
        if (!m->n)
            ofp_send_port_status(m, ofconn_version(c), reason, p);
        send(c, OFCONN_PORT_STATUS, m);
    }
    both_free(&b);
    ofd_schedule(of);
}

/* --- what the datapath is to do for it
 * -----------------------------------------
 */

static void
set_options(struct dp *dp, void *arg)
{
    dp_of_set_options(dp, arg);
}

void
ofd_async_follow(struct ofd_control *of)
{
    struct bridge *b = ofd_bridge(of);
    struct dp_of_options o = {.drop_fragments = of->frags == 1};

    for (struct ofconn *c = ofconn_first(of->sw); c; c = ofconn_next(c)) {
        if (ofconn_wants(c, OFCONN_PACKET_IN, OFPR_INVALID_TTL))
            o.invalid_ttl = true;
        if (ofconn_version(c) == OFP_V10 &&
            ofconn_wants(c, OFCONN_PACKET_IN, OFPR_NO_MATCH))
            o.misses = true;
    }
    if (!b || (o.drop_fragments == of->options.drop_fragments &&
               o.invalid_ttl == of->options.invalid_ttl &&
               o.misses == of->options.misses))
        return;
    bridge_call(b, set_options, &o);
    of->options = o;
}

void
ofd_async_datapath(void *arg, struct dp *dp)
{
    struct ofd_control *of = arg;

    of->n_posted = of->out_ticket = 0;
    of->options = (struct dp_of_options){.misses = false};
    if (dp)
        ofd_async_follow(of);
}
