/* SPDX-License-Identifier: Apache-2.0
 *
 * What a connection sends: messages, errors, and what controllers hear
 * unasked. See ofconn.h.
 */
#include "ofconn/int.h"

#include "base/cursor.h"

#include <assert.h>
#include <string.h>

#define ERROR_DATA 64 /* octets of the message that an error is about */

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

/* Errors of 1.3 as 1.0 has them.  What it has no word for is a bad type or
 * argument of the same kind of thing. */
static void
error_to_10(uint16_t *type, uint16_t *code)
{
    /* By type of 1.3: that of 1.0, the codes that mean the same there (as
     * many, from 0), and the code for all others. */
    static const struct {
        uint16_t type, n_same, other;
    } map[] = {
        {0, 2, 0}, /* hello failed */
        {1, 9, 1}, /* bad request */
        {2, 9, 5}, /* bad action: bad argument */
        {3, 0, 5}, /* bad instruction: flow mod, unsupported */
        {3, 0, 5}, /* bad match: the same */
        {3, 0, 5}, /* flow mod failed: see below */
        {1, 0, 1}, /* group mod failed: bad request, bad type */
        {4, 2, 0}, /* port mod failed */
        {1, 0, 1}, /* table mod failed */
        {5, 3, 0}, /* queue operation failed */
        {1, 0, 6}, /* switch config failed: bad length */
        {1, 0, 5}, /* role request failed: permissions */
    };
    /* Of flow mod failed: unknown, table full, bad table, overlap,
     * permissions, bad timeout, bad command, bad flags. */
    static const uint16_t flow_mod[] = {5, 0, 5, 1, 2, 5, 4, 5};
    uint16_t t = *type, k = *code;

    if (t == OFPET_BAD_REQUEST && k == OFPBRC_IS_SLAVE) {
        *code = 5;
        return;
    }
    if (t >= sizeof(map) / sizeof(map[0])) {
        *type = OFPET_BAD_REQUEST;
        *code = OFPBRC_BAD_TYPE;
        return;
    }
    *type = map[t].type;
    *code = k < map[t].n_same ? k : map[t].other;
    if (t == 5 && k < sizeof(flow_mod) / sizeof(flow_mod[0]))
        *code = flow_mod[k];
}

void
ofconn_send_error(struct ofconn *c, const struct ofp_error *e,
                  const struct ofconn_msg *about)
{
    uint8_t version = c->version ? c->version : OFP13;
    uint16_t type = e->type, code = e->code;
    size_t n = about->n < ERROR_DATA ? about->n : ERROR_DATA;
    const void *data = about->bytes;
    uint8_t m[OFP_HEADER_BYTES + 8 + sizeof(e->msg)];
    struct wcursor w = wcursor_init(m, sizeof(m));

    if (type == OFPET_HELLO_FAILED) { /* its data is for people */
        version = about->version < version ? about->version : version;
        data = e->msg;
        n = strnlen(e->msg, sizeof(e->msg));
    }
    if (version == OFP10)
        error_to_10(&type, &code);
    wcursor_zero(&w, OFP_HEADER_BYTES);
    if (type == OFPET_BUNDLE_FAILED) {
        wcursor_be16(&w, OFPET_EXPERIMENTER);
        wcursor_be16(&w, (uint16_t) (ONF_ERROR_BASE + code));
        wcursor_be32(&w, ONF_EXPERIMENTER);
    } else {
        wcursor_be16(&w, type);
        wcursor_be16(&w, code);
    }
    wcursor_bytes(&w, data, n);
    assert(!w.bad);
    ofconn_header(m, version, T_ERROR, sizeof(m) - w.left, about->xid);
    c->n.n_errors++;
    ofconn_send(c, m, sizeof(m) - w.left);
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
