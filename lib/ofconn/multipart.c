/* SPDX-License-Identifier: Apache-2.0
 *
 * Multipart requests (1.0: statistics): segments of one are put together, on
 * the budget of the switch, and the reply is made segment by segment as the
 * peer reads.  See ofconn.h.
 */
#include "ofconn/int.h"

#include "base/clock.h"
#include "base/cursor.h"

#include <stdlib.h>
#include <string.h>

#define HEAD_10 12 /* octets of a header with type and flags */
#define HEAD_13 16 /* and padding */

static void
drop_parts(struct ofconn *c, struct parts *p)
{
    ofconn_refund(c, p->n);
    free(p->body);
    memset(p, 0, sizeof(*p));
}

void
ofconn_multipart_end(struct ofconn *c)
{
    for (int i = 0; i < OFCONN_MAX_PARTS; i++)
        if (c->parts[i].used)
            drop_parts(c, &c->parts[i]);
}

uint64_t
ofconn_multipart_tick(struct ofconn *c, uint64_t now_ns)
{
    uint64_t next = CLOCK_NEVER;

    for (int i = 0; i < OFCONN_MAX_PARTS; i++) {
        struct parts *p = &c->parts[i];
        uint64_t end = p->used_ns + OFCONN_PARTS_NS;

        if (p->used && now_ns >= end)
            drop_parts(c, p);
        else if (p->used && end < next)
            next = end;
    }
    return next;
}

/* The request that a segment belongs to; or a free place; or null. */
static struct parts *
find_parts(struct ofconn *c, uint32_t xid, uint16_t type)
{
    struct parts *free_one = NULL;

    for (int i = 0; i < OFCONN_MAX_PARTS; i++) {
        struct parts *p = &c->parts[i];

        if (p->used && p->xid == xid && p->type == type)
            return p;
        if (!p->used)
            free_one = p;
    }
    return free_one;
}

static bool
add_part(struct ofconn *c, struct parts *p, const uint8_t *body, size_t n)
{
    uint8_t *more;

    if (p->n + n > OFCONN_PART_BYTES || !ofconn_budget(c, n))
        return false;
    more = realloc(p->body, p->n + n + 1);
    if (!more) {
        ofconn_refund(c, n);
        return false;
    }
    if (n)
        memcpy(more + p->n, body, n);
    p->body = more;
    p->n += n;
    return true;
}

enum progress { LAST, MORE, LATER };

/* Sends one segment.  The switch may want others to have their turn before it
 * has found anything: there is no segment then. */
static enum progress
dump_segment(struct ofconn *c)
{
    struct ofconn_switch *s = c->s;
    size_t head = c->version == OFP10 ? HEAD_10 : HEAD_13, n = 0;
    struct wcursor w;
    bool more = s->ops->dump_next(s->sw, c->dump, s->scratch + head,
                                  OFP_MAX_MSG_BYTES - head, &n);

    if (more && !n)
        return LATER;
    ofconn_header(s->scratch, c->version,
                  c->version == OFP10 ? T10_STATS_REPLY : T13_MULTIPART_REPLY,
                  head + n, c->dump_xid);
    w = wcursor_init(s->scratch + OFP_HEADER_BYTES, head - OFP_HEADER_BYTES);
    wcursor_be16(&w, c->dump_type);
    wcursor_be16(&w, more ? MP_MORE : 0);
    wcursor_zero(&w, w.left);
    ofconn_send(c, s->scratch, head + n);
    return more ? MORE : LAST;
}

void
ofconn_dump_on(struct ofconn *c)
{
    while (c->io->waiting(c->io_arg) < OFCONN_OUT_HIGH)
        switch (dump_segment(c)) {
        case LATER:
            return;
        case MORE:
            break;
        case LAST:
            c->s->ops->dump_end(c->s->sw, c->dump);
            c->dump = NULL;
            return;
        }
}

static enum ofconn_verdict
begin(struct ofconn *c, const struct ofconn_multipart *mp, struct ofp_error *e)
{
    enum ofconn_verdict v;

    if (mp->version == OFP13 && mp->type == MP_TABLE_FEATURES && mp->n &&
        c->role == OFCONN_SLAVE) {
        ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_IS_SLAVE,
                 "a slave cannot change the tables' features");
        return OFCONN_ERROR;
    }
    v = c->s->ops->multipart(c->s->sw, c, mp, &c->dump, e);
    if (v != OFCONN_OK) {
        c->dump = NULL;
        return v;
    }
    c->dump_type = mp->type;
    c->dump_xid = mp->xid;
    ofconn_dump_on(c);
    return OFCONN_OK;
}

/* A segment that is not alone.  A message that has to wait comes again, and
 * is not to be added twice: the last one is taken off again. */
static enum ofconn_verdict
take_segment(struct ofconn *c, struct ofconn_multipart *mp, bool more,
             uint64_t now_ns, struct ofp_error *e)
{
    struct parts *p = find_parts(c, mp->xid, mp->type);
    size_t n = mp->n;
    enum ofconn_verdict v;

    if (!p || !add_part(c, p, mp->body, n)) {
        if (p && p->used)
            drop_parts(c, p);
        ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_MULTIPART_BUFFER_OVERFLOW,
                 "no room for a request in segments: %d at most, of %u octets",
                 OFCONN_MAX_PARTS, OFCONN_PART_BYTES);
        return OFCONN_ERROR;
    }
    p->used = true;
    p->xid = mp->xid;
    p->type = mp->type;
    p->used_ns = now_ns;
    if (more)
        return OFCONN_OK;
    mp->body = p->body;
    mp->n = p->n;
    mp->whole = NULL;
    v = begin(c, mp, e);
    if (v == OFCONN_WAIT) {
        p->n -= n;
        ofconn_refund(c, n);
    } else {
        drop_parts(c, p);
    }
    return v;
}

enum ofconn_verdict
ofconn_take_multipart(struct ofconn *c, const struct ofconn_msg *m,
                      uint64_t now_ns, struct ofp_error *e)
{
    size_t head = m->version == OFP10 ? HEAD_10 : HEAD_13;
    struct cursor cur =
        cursor_init(m->bytes + OFP_HEADER_BYTES, m->n - OFP_HEADER_BYTES);
    struct ofconn_multipart mp = {.version = m->version,
                                  .xid = m->xid,
                                  .whole = m};
    struct parts *p;
    bool more;

    if (m->n < head) {
        ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_LEN,
                 "a multipart request has %zu octets at least, not %zu", head,
                 m->n);
        return OFCONN_ERROR;
    }
    mp.type = cursor_be16(&cur);
    more = cursor_be16(&cur) & MP_MORE && m->version == OFP13;
    mp.body = m->bytes + head;
    mp.n = m->n - head;
    p = find_parts(c, mp.xid, mp.type);
    if (more || (p && p->used))
        return take_segment(c, &mp, more, now_ns, e);
    return begin(c, &mp, e);
}
