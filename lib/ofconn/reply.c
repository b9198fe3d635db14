/* SPDX-License-Identifier: Apache-2.0
 *
 * What a connection sends: messages, errors, and what controllers hear
 * unasked. See ofconn.h.
 */
#include "ofconn/int.h"

#include "base/cursor.h"
#include "ofp/reply.h"

#include <assert.h>
#include <string.h>

void
ofconn_send(struct ofconn *c, const void *bytes, size_t n)
{
    if (c->state == ST_OVER)
        return;
    c->n.n_out++;
    c->io->send(c->io_arg, bytes, n);
}

void
ofconn_header(uint8_t to[OFP_HEADER_BYTES], uint8_t version, uint8_t type,
              size_t n, uint32_t xid)
{
    struct wcursor w = wcursor_init(to, OFP_HEADER_BYTES);

    assert(n <= OFP_MAX_MSG_BYTES);
    wcursor_u8(&w, version);
    wcursor_u8(&w, type);
    wcursor_be16(&w, (uint16_t) n);
    wcursor_be32(&w, xid);
}

void
ofconn_reply(struct ofconn *c, const struct ofconn_msg *to, uint8_t type,
             const void *body, size_t n)
{
    uint8_t *m = c->s->scratch;

    ofconn_header(m, c->version, type, OFP_HEADER_BYTES + n, to->xid);
    if (n)
        memcpy(m + OFP_HEADER_BYTES, body, n);
    ofconn_send(c, m, OFP_HEADER_BYTES + n);
}

void
ofconn_send_error(struct ofconn *c, const struct ofp_error *e,
                  const struct ofconn_msg *about)
{
    uint8_t version = c->version ? c->version : OFP13;
    struct ofp_buf b = {.n = 0};

    /* Before the end of hello: what the peer can read. */
    if (!c->version && about->version < version)
        version = about->version;
    ofp_send_error(&b, version, about->bytes, about->n, e);
    if (b.bad) {
        ofconn_end(c, "no memory for an error");
    } else {
        c->n.n_errors++;
        ofconn_send(c, b.data, b.n);
    }
    ofp_buf_free(&b);
}

void
ofconn_send_async(struct ofconn *c, enum ofconn_async kind, const void *bytes,
                  size_t n)
{
    size_t waiting;

    if (c->state != ST_OPEN)
        return;
    waiting = c->io->waiting(c->io_arg);
    if (kind == OFCONN_PACKET_IN ? waiting >= OFCONN_OUT_HIGH
                                 : waiting >= OFCONN_OUT_MAX) {
        c->n.n_dropped[kind]++;
        /* Without the others it would not know what the switch is like: it is
         * to connect again, and to ask. */
        if (kind != OFCONN_PACKET_IN)
            ofconn_end(c, "it does not read: %zu octets wait", waiting);
        return;
    }
    c->n.n_async[kind]++;
    ofconn_send(c, bytes, n);
}
