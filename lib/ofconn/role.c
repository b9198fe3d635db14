/* SPDX-License-Identifier: Apache-2.0
 *
 * Roles of controllers, and what each wants to hear of unasked (1.3, 6.3.5,
 * 7.3.9 and 7.3.10).  See ofconn.h.
 */
#include "ofconn/int.h"

#include "base/cursor.h"

#define ROLE_NOCHANGE 0
#define ROLE_BYTES    24
#define ASYNC_BYTES   32

/* Reasons by bit.  A table-miss and an action; all of a port and a flow. */
#define PACKET_INS    3u
#define PORT_STATUSES 7u
#define FLOW_REMOVEDS 15u

void
ofconn_async_init(struct ofconn *c)
{
    c->async[0][OFCONN_PACKET_IN] = PACKET_INS;
    c->async[0][OFCONN_PORT_STATUS] = PORT_STATUSES;
    c->async[0][OFCONN_FLOW_REMOVED] = FLOW_REMOVEDS;
    c->async[1][OFCONN_PORT_STATUS] = PORT_STATUSES;
}

bool
ofconn_wants(const struct ofconn *c, enum ofconn_async kind, unsigned reason)
{
    if (c->state != ST_OPEN || reason > 31)
        return false;
    if (c->conf.is_service && !c->miss_send_len)
        return false;
    return c->async[c->role == OFCONN_SLAVE][kind] >> reason & 1;
}

/* Numbers count in a circle. */
static bool
is_stale(const struct ofconn_switch *s, uint64_t generation)
{
    return s->has_generation && (int64_t) (generation - s->generation) < 0;
}

static void
demote_master(struct ofconn_switch *s)
{
    for (struct ofconn *o = s->first; o; o = o->next)
        if (o->role == OFCONN_MASTER)
            o->role = OFCONN_SLAVE;
}

bool
ofconn_take_role(struct ofconn *c, const struct ofconn_msg *m,
                 struct ofp_error *e)
{
    struct ofconn_switch *s = c->s;
    struct cursor cur =
        cursor_init(m->bytes + OFP_HEADER_BYTES, m->n - OFP_HEADER_BYTES);
    uint32_t role = cursor_be32(&cur), pad = cursor_be32(&cur);
    uint64_t generation = cursor_be64(&cur);
    uint8_t body[ROLE_BYTES - OFP_HEADER_BYTES];
    struct wcursor w = wcursor_init(body, sizeof(body));

    (void) pad;
    if (m->n != ROLE_BYTES)
        return ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_LEN,
                        "a role request has 24 octets, not %zu", m->n);
    if (role > OFCONN_SLAVE)
        return ofp_fail(e, OFPET_ROLE_REQUEST_FAILED, OFPRRFC_BAD_ROLE,
                        "role %u does not exist", role);
    if (role == OFCONN_MASTER || role == OFCONN_SLAVE) {
        if (is_stale(s, generation))
            return ofp_fail(e, OFPET_ROLE_REQUEST_FAILED, OFPRRFC_STALE,
                            "generation %llu is older than %llu",
                            (unsigned long long) generation,
                            (unsigned long long) s->generation);
        s->has_generation = true;
        s->generation = generation;
    }
    if (role == OFCONN_MASTER)
        demote_master(s);
    if (role != ROLE_NOCHANGE)
        c->role = (enum ofconn_role) role;
    wcursor_be32(&w, c->role);
    wcursor_be32(&w, 0);
    wcursor_be64(&w, s->has_generation ? s->generation : UINT64_MAX);
    ofconn_reply(c, m, T13_ROLE_REPLY, body, sizeof(body));
    return true;
}

bool
ofconn_take_set_async(struct ofconn *c, const struct ofconn_msg *m,
                      struct ofp_error *e)
{
    struct cursor cur =
        cursor_init(m->bytes + OFP_HEADER_BYTES, m->n - OFP_HEADER_BYTES);

    if (m->n != ASYNC_BYTES)
        return ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_LEN,
                        "SET_ASYNC has 32 octets, not %zu", m->n);
    for (int kind = 0; kind < OFCONN_N_ASYNC; kind++)
        for (int slave = 0; slave < 2; slave++)
            c->async[slave][kind] = cursor_be32(&cur);
    return true;
}

void
ofconn_take_get_async(struct ofconn *c, const struct ofconn_msg *m)
{
    uint8_t body[ASYNC_BYTES - OFP_HEADER_BYTES];
    struct wcursor w = wcursor_init(body, sizeof(body));

    for (int kind = 0; kind < OFCONN_N_ASYNC; kind++)
        for (int slave = 0; slave < 2; slave++)
            wcursor_be32(&w, c->async[slave][kind]);
    ofconn_reply(c, m, T13_GET_ASYNC_REPLY, body, sizeof(body));
}
