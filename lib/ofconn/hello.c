/* SPDX-License-Identifier: Apache-2.0
 *
 * Which version both ends speak (1.3, 6.3.1).  See ofconn.h.
 */
#include "ofconn/int.h"

#include "base/cursor.h"

#include <string.h>

#define HELLO_BITMAP 1 /* the only element there is */
#define OUR_VERSIONS (1u << OFP10 | 1u << OFP13)

void
ofconn_say_hello(struct ofconn *c)
{
    uint8_t m[OFP_HEADER_BYTES + 8];
    struct wcursor w = wcursor_init(m + OFP_HEADER_BYTES, 8);

    ofconn_header(m, OFP13, T_HELLO, sizeof(m), ++c->xid);
    wcursor_be16(&w, HELLO_BITMAP);
    wcursor_be16(&w, 8);
    wcursor_be32(&w, OUR_VERSIONS);
    ofconn_send(c, m, sizeof(m));
}

/* The versions that a hello lists, or 0.  False: it is no hello. */
static bool
read_bitmap(const struct ofconn_msg *m, uint32_t *versions)
{
    struct cursor cur =
        cursor_init(m->bytes + OFP_HEADER_BYTES, m->n - OFP_HEADER_BYTES);

    *versions = 0;
    while (cur.left) {
        uint16_t type = cursor_be16(&cur), n = cursor_be16(&cur);
        size_t padded = ((size_t) n + 7) / 8 * 8;
        struct cursor elem;

        if (cur.bad || n < 4)
            return false;
        if (padded - 4 > cur.left)
            padded = cur.left + 4; /* the last one need not be padded */
        if (n > padded)
            return false;
        elem = cursor_init(cursor_take(&cur, padded - 4), n - 4u);
        if (type != HELLO_BITMAP || *versions)
            continue;
        if (elem.left < 4)
            return false;
        *versions = cursor_be32(&elem);
    }
    return true;
}

static uint8_t
highest(uint32_t versions)
{
    uint8_t v = 0;

    while (versions >>= 1)
        v++;
    return v;
}

/* Without a list in both hellos it is the lower of the two versions. */
static uint8_t
agree(const struct ofconn_msg *m, uint32_t theirs)
{
    uint8_t lower = m->version < OFP13 ? m->version : OFP13;

    if (theirs)
        return highest(theirs & OUR_VERSIONS);
    return OUR_VERSIONS >> lower & 1 ? lower : 0;
}

void
ofconn_take_hello(struct ofconn *c, const struct ofconn_msg *m)
{
    struct ofp_error e;
    uint32_t theirs;

    if (!read_bitmap(m, &theirs)) {
        ofp_fail(&e, OFPET_HELLO_FAILED, OFPHFC_INCOMPATIBLE,
                 "the elements of the hello have wrong lengths");
        ofconn_send_error(c, &e, m);
        ofconn_end(c, "%s", e.msg);
        return;
    }
    c->version = agree(m, theirs);
    if (!c->version) {
        if (theirs)
            ofp_fail(&e, OFPET_HELLO_FAILED, OFPHFC_INCOMPATIBLE,
                     "we speak versions 0x01 and 0x04, you the bits of 0x%x",
                     theirs);
        else
            ofp_fail(&e, OFPET_HELLO_FAILED, OFPHFC_INCOMPATIBLE,
                     "we speak versions 0x01 and 0x04, you 0x%02x",
                     m->version);
        ofconn_send_error(c, &e, m);
        ofconn_end(c, "%s", e.msg);
        return;
    }
    c->state = ST_OPEN;
    if (c->s->ops->up)
        c->s->ops->up(c->s->sw, c);
}
