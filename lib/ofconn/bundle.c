/* SPDX-License-Identifier: Apache-2.0
 *
 * Bundles, as the ONF's extension has them at 1.3 (experimenter 0x4f4e4600,
 * types 2300 and 2301): messages that are kept, on the budget of the switch,
 * and carried out all or none.  A request that a bundle cannot take discards
 * it, as the standard says.  See ofconn.h.
 */
#include "ofconn/int.h"

#include "base/clock.h"
#include "base/cursor.h"

#include <stdlib.h>
#include <string.h>

#define CTRL_BYTES 24 /* of the control message, without properties */

/* Types of control requests; a reply has one more. */
enum { OPEN = 0, CLOSE = 2, COMMIT = 4, DISCARD = 6 };

static struct bundle *
find(struct ofconn *c, uint32_t id)
{
    struct bundle *b = c->bundles;

    while (b && b->id != id)
        b = b->next;
    return b;
}

static void
discard(struct ofconn *c, struct bundle *b)
{
    struct bundle **at = &c->bundles;

    while (*at != b)
        at = &(*at)->next;
    *at = b->next;
    for (struct bundle_msg *m = b->head, *next; m; m = next) {
        next = m->next;
        ofconn_refund(c, sizeof(*m) + m->n);
        free(m);
    }
    free(b);
}

void
ofconn_bundles_end(struct ofconn *c)
{
    while (c->bundles)
        discard(c, c->bundles);
}

uint64_t
ofconn_bundles_tick(struct ofconn *c, uint64_t now_ns)
{
    uint64_t next = CLOCK_NEVER;

    for (struct bundle *b = c->bundles, *after; b; b = after) {
        uint64_t end = b->used_ns + OFCONN_BUNDLE_NS;

        after = b->next;
        if (now_ns >= end)
            discard(c, b);
        else if (end < next)
            next = end;
    }
    return next;
}

/* An error that discards the bundle (null: there is none). */
static enum ofconn_verdict
refuse(struct ofconn *c, struct bundle *b, struct ofp_error *e, uint16_t code,
       const char *what)
{
    if (b)
        discard(c, b);
    ofp_fail(e, OFPET_BUNDLE_FAILED, code, "bundle: %s", what);
    return OFCONN_ERROR;
}

static struct bundle *
open_bundle(struct ofconn *c, uint32_t id, uint16_t flags, uint64_t now_ns,
            struct ofp_error *e)
{
    struct bundle *b;
    int n = 0;

    for (b = c->bundles; b; b = b->next)
        n++;
    b = n < OFCONN_MAX_BUNDLES ? calloc(1, sizeof(*b)) : NULL;
    if (!b) {
        refuse(c, NULL, e, OFPBFC_OUT_OF_BUNDLES, "too many are open");
        return NULL;
    }
    b->id = id;
    b->flags = flags;
    b->used_ns = now_ns;
    b->tail = &b->head;
    b->next = c->bundles;
    c->bundles = b;
    return b;
}

/* Types 0 to 7 of the reply to m. */
static void
ctrl_reply(struct ofconn *c, const struct ofconn_msg *m, uint32_t id,
           uint16_t type, uint16_t flags)
{
    uint8_t r[CTRL_BYTES];
    struct wcursor w =
        wcursor_init(r + OFP_HEADER_BYTES, sizeof(r) - OFP_HEADER_BYTES);

    ofconn_header(r, c->version, T_EXPERIMENTER, sizeof(r), m->xid);
    wcursor_be32(&w, ONF_EXPERIMENTER);
    wcursor_be32(&w, ONF_BUNDLE_CTRL);
    wcursor_be32(&w, id);
    wcursor_be16(&w, type);
    wcursor_be16(&w, flags);
    /* Who is told that it is done sees it done. */
    if (type == COMMIT + 1)
        ofconn_send_later(c, r, sizeof(r));
    else
        ofconn_send(c, r, sizeof(r));
}

static struct ofconn_msg *
list_messages(const struct ofconn *c, const struct bundle *b)
{
    struct ofconn_msg *all = malloc((b->n ? b->n : 1) * sizeof(*all));
    uint32_t i = 0;

    if (!all)
        return NULL;
    for (struct bundle_msg *m = b->head; m; m = m->next) {
        struct cursor cur = cursor_init(m->bytes + 1, OFP_HEADER_BYTES - 1);

        all[i] = (struct ofconn_msg){.version = c->version,
                                     .bytes = m->bytes,
                                     .n = m->n};
        all[i].type = cursor_u8(&cur);
        cursor_be16(&cur);
        all[i++].xid = cursor_be32(&cur);
    }
    return all;
}

static enum ofconn_verdict
commit(struct ofconn *c, struct bundle *b, const struct ofconn_msg *m,
       struct ofp_error *e)
{
    uint32_t id = b->id, n = b->n, failed = 0;
    uint16_t flags = b->flags;
    struct ofconn_msg *all;
    enum ofconn_verdict v;

    if (c->role == OFCONN_SLAVE) {
        discard(c, b);
        ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_IS_SLAVE,
                 "a slave cannot commit a bundle");
        return OFCONN_ERROR;
    }
    all = list_messages(c, b);
    if (!all)
        return refuse(c, b, e, OFPBFC_UNKNOWN, "no memory to carry it out");
    v = c->s->ops->commit(c->s->sw, c, all, n, flags, &failed, e);
    if (v == OFCONN_ERROR && failed < n)
        ofconn_send_error(c, e, &all[failed]);
    free(all);
    if (v == OFCONN_WAIT)
        return v;
    if (v == OFCONN_ERROR)
        return refuse(c, b, e, OFPBFC_MSG_FAILED, "a message of it failed");
    c->n.n_bundles++;
    discard(c, b);
    ctrl_reply(c, m, id, COMMIT + 1, flags);
    return OFCONN_OK;
}

static enum ofconn_verdict
take_ctrl(struct ofconn *c, const struct ofconn_msg *m, struct cursor cur,
          uint64_t now_ns, struct ofp_error *e)
{
    uint32_t id = cursor_be32(&cur);
    uint16_t type = cursor_be16(&cur), flags = cursor_be16(&cur);
    struct bundle *b = find(c, id);

    if (cur.bad) {
        ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_LEN,
                 "bundle control has 24 octets at least, not %zu", m->n);
        return OFCONN_ERROR;
    }
    if (type > DISCARD || type % 2)
        return refuse(c, NULL, e, OFPBFC_BAD_TYPE, "unknown type of request");
    if (flags & ~(BUNDLE_ATOMIC | BUNDLE_ORDERED))
        return refuse(c, b, e, OFPBFC_BAD_FLAGS, "unknown flags");
    if (type == OPEN) {
        if (b)
            return refuse(c, b, e, OFPBFC_BAD_ID, "it is open already");
        if (!open_bundle(c, id, flags, now_ns, e))
            return OFCONN_ERROR;
        ctrl_reply(c, m, id, OPEN + 1, flags);
        return OFCONN_OK;
    }
    if (!b)
        return refuse(c, NULL, e, OFPBFC_BAD_ID,
                      "there is none of that number");
    if (type != DISCARD && flags != b->flags)
        return refuse(c, b, e, OFPBFC_BAD_FLAGS, "it was opened with others");
    b->used_ns = now_ns;
    if (type == COMMIT)
        return commit(c, b, m, e);
    if (type == CLOSE && b->closed)
        return refuse(c, b, e, OFPBFC_BUNDLE_CLOSED, "it is closed already");
    b->closed = true;
    if (type == DISCARD)
        discard(c, b);
    ctrl_reply(c, m, id, type + 1, flags);
    return OFCONN_OK;
}

/* Keeps a message.  False: there are too many, or no memory. */
static bool
keep(struct ofconn *c, struct bundle *b, const struct ofconn_msg *in)
{
    size_t n = sizeof(struct bundle_msg) + in->n;
    struct bundle_msg *m;

    if (b->n == OFCONN_BUNDLE_MSGS || !ofconn_budget(c, n))
        return false;
    m = malloc(n);
    if (!m) {
        ofconn_refund(c, n);
        return false;
    }
    m->next = NULL;
    m->n = in->n;
    memcpy(m->bytes, in->bytes, in->n);
    *b->tail = m;
    b->tail = &m->next;
    b->n++;
    return true;
}

/* What a bundle can hold: modifications of flows, groups, meters, ports. */
static bool
is_bundled(uint8_t type)
{
    return type == T_FLOW_MOD || type == T_PACKET_OUT ||
           type == T13_GROUP_MOD || type == T13_PORT_MOD ||
           type == T13_METER_MOD;
}

static enum ofconn_verdict
take_add(struct ofconn *c, const struct ofconn_msg *m, struct cursor cur,
         uint64_t now_ns, struct ofp_error *e)
{
    uint32_t id = cursor_be32(&cur);
    uint16_t pad = cursor_be16(&cur), flags = cursor_be16(&cur);
    struct ofconn_msg in = {.bytes = cur.p};
    struct cursor head = cur;
    struct bundle *b = find(c, id);

    (void) pad;
    in.version = cursor_u8(&head);
    in.type = cursor_u8(&head);
    in.n = cursor_be16(&head);
    in.xid = cursor_be32(&head);
    if (head.bad || in.n < OFP_HEADER_BYTES || in.n > cur.left)
        return refuse(c, NULL, e, OFPBFC_MSG_BAD_LEN,
                      "the message in it has a wrong length");
    if (flags & ~(BUNDLE_ATOMIC | BUNDLE_ORDERED))
        return refuse(c, b, e, OFPBFC_BAD_FLAGS, "unknown flags");
    if (in.xid != m->xid)
        return refuse(c, NULL, e, OFPBFC_MSG_BAD_XID,
                      "the message in it has another xid");
    if (in.version != c->version || !is_bundled(in.type))
        return refuse(c, NULL, e, OFPBFC_MSG_UNSUP,
                      "a message of this type cannot be in it");
    if (b && b->closed)
        return refuse(c, b, e, OFPBFC_BUNDLE_CLOSED, "it is closed");
    if (b && b->flags != flags)
        return refuse(c, b, e, OFPBFC_BAD_FLAGS, "it was opened with others");
    if (!c->s->ops->check(c->s->sw, c, &in, e))
        return OFCONN_ERROR;
    if (!b)
        b = open_bundle(c, id, flags, now_ns, e);
    if (!b)
        return OFCONN_ERROR;
    b->used_ns = now_ns;
    if (!keep(c, b, &in))
        return refuse(c, b, e, OFPBFC_MSG_TOO_MANY,
                      "there is no room for more");
    return OFCONN_OK;
}

enum ofconn_verdict
ofconn_take_bundle(struct ofconn *c, const struct ofconn_msg *m,
                   uint32_t exp_type, uint64_t now_ns, struct ofp_error *e)
{
    struct cursor cur = cursor_init(m->bytes, m->n);

    cursor_take(&cur, 16);
    if (exp_type == ONF_BUNDLE_CTRL)
        return take_ctrl(c, m, cur, now_ns, e);
    return take_add(c, m, cur, now_ns, e);
}
