/* SPDX-License-Identifier: Apache-2.0
 *
 * What one message asks for: executed here when it is a matter of the
 * connection, handed to the switch when it is not, refused with the standard's
 * error when it is neither.  See ofconn.h.
 */
#include "ofconn/int.h"

#include "base/cursor.h"

#include <string.h>

#define CONFIG_BYTES 12 /* of GET_CONFIG_REPLY and SET_CONFIG */
#define EXP_BYTES    16 /* of an experimenter's message, at least */
#define EXP10_BYTES  12 /* of a vendor's */

/* What can be asked for. */
enum act {
    A_NONE, /* unknown, or only a switch sends it */
    A_HELLO,
    A_ERROR,
    A_ECHO,
    A_IGNORE,
    A_EXPERIMENTER,
    A_GET_CONFIG,
    A_SET_CONFIG,
    A_SWITCH, /* the switch answers */
    A_MODIFY, /* the same, and slaves must not */
    A_MULTIPART,
    A_BARRIER,
    A_ROLE,
    A_GET_ASYNC,
    A_SET_ASYNC,
};

static const uint8_t acts_both[] = {
    [T_HELLO] = A_HELLO,
    [T_ERROR] = A_ERROR,
    [T_ECHO_REQUEST] = A_ECHO,
    [T_ECHO_REPLY] = A_IGNORE,
    [T_EXPERIMENTER] = A_EXPERIMENTER,
    [T_FEATURES_REQUEST] = A_SWITCH,
    [T_GET_CONFIG_REQUEST] = A_GET_CONFIG,
    [T_SET_CONFIG] = A_SET_CONFIG,
    [T_PACKET_OUT] = A_MODIFY,
    [T_FLOW_MOD] = A_MODIFY,
};

static const uint8_t acts_10[] = {
    [T10_PORT_MOD] = A_MODIFY,
    [T10_STATS_REQUEST] = A_MULTIPART,
    [T10_BARRIER_REQUEST] = A_BARRIER,
    [T10_QUEUE_GET_CONFIG_REQUEST] = A_SWITCH,
};

static const uint8_t acts_13[] = {
    [T13_GROUP_MOD] = A_MODIFY,
    [T13_PORT_MOD] = A_MODIFY,
    [T13_TABLE_MOD] = A_MODIFY,
    [T13_MULTIPART_REQUEST] = A_MULTIPART,
    [T13_BARRIER_REQUEST] = A_BARRIER,
    [T13_QUEUE_GET_CONFIG_REQUEST] = A_SWITCH,
    [T13_ROLE_REQUEST] = A_ROLE,
    [T13_GET_ASYNC_REQUEST] = A_GET_ASYNC,
    [T13_SET_ASYNC] = A_SET_ASYNC,
    [T13_METER_MOD] = A_MODIFY,
};

static enum act
act_of(const struct ofconn *c, uint8_t type)
{
    const uint8_t *own = c->version == OFP10 ? acts_10 : acts_13;
    size_t n = c->version == OFP10 ? sizeof(acts_10) : sizeof(acts_13);

    if (type < sizeof(acts_both))
        return (enum act) acts_both[type];
    return type < n ? (enum act) own[type] : A_NONE;
}

/* False, with the error: the message has another length than n. */
static bool
has_length(const struct ofconn_msg *m, size_t n, struct ofp_error *e)
{
    return m->n == n || ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_LEN,
                                 "a message of type %u has %zu octets, not "
                                 "%zu",
                                 m->type, n, m->n);
}

static void
get_config(struct ofconn *c, const struct ofconn_msg *m)
{
    uint8_t body[CONFIG_BYTES - OFP_HEADER_BYTES];
    struct wcursor w = wcursor_init(body, sizeof(body));

    wcursor_be16(&w, c->s->ops->get_frags(c->s->sw));
    wcursor_be16(&w, c->miss_send_len);
    ofconn_reply(c, m, T_GET_CONFIG_REPLY, body, sizeof(body));
}

/* Of a slave only its own part is taken, as in Open vSwitch. */
static bool
set_config(struct ofconn *c, const struct ofconn_msg *m, struct ofp_error *e)
{
    struct cursor cur = cursor_init(m->bytes, m->n);
    uint16_t flags;

    if (!has_length(m, CONFIG_BYTES, e))
        return false;
    cursor_take(&cur, OFP_HEADER_BYTES);
    flags = cursor_be16(&cur);
    if (c->role != OFCONN_SLAVE && !c->s->ops->set_frags(c->s->sw, flags))
        return ofp_fail(e, OFPET_SWITCH_CONFIG_FAILED, OFPSCFC_BAD_FLAGS,
                        "flags 0x%x are not supported", flags);
    c->miss_send_len = cursor_be16(&cur);
    return true;
}

static enum ofconn_verdict
experimenter(struct ofconn *c, const struct ofconn_msg *m, uint64_t now_ns,
             struct ofp_error *e)
{
    struct cursor cur = cursor_init(m->bytes, m->n);
    uint32_t who, type;

    cursor_take(&cur, OFP_HEADER_BYTES);
    who = cursor_be32(&cur);
    type = cursor_be32(&cur);
    if (m->n < (c->version == OFP10 ? EXP10_BYTES : EXP_BYTES)) {
        ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_LEN,
                 "an experimenter's message of %zu octets is too short", m->n);
        return OFCONN_ERROR;
    }
    if (c->version != OFP10 && who == ONF_EXPERIMENTER) {
        if (type == ONF_BUNDLE_CTRL || type == ONF_BUNDLE_ADD)
            return ofconn_take_bundle(c, m, type, now_ns, e);
        ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_EXP_TYPE,
                 "type %u of experimenter 0x%x is unknown", type, who);
        return OFCONN_ERROR;
    }
    return c->s->ops->experimenter(c->s->sw, c, m, e);
}

static void
barrier(struct ofconn *c, const struct ofconn_msg *m)
{
    uint8_t r[OFP_HEADER_BYTES];

    ofconn_header(r, c->version,
                  c->version == OFP10 ? T10_BARRIER_REPLY : T13_BARRIER_REPLY,
                  sizeof(r), m->xid);
    ofconn_send_later(c, r, sizeof(r));
}

static enum ofconn_verdict
refuse_slave(struct ofp_error *e)
{
    ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_IS_SLAVE, "a slave changes nothing");
    return OFCONN_ERROR;
}

/* Of a message that may change what it hears of. */
static enum ofconn_verdict
asked(struct ofconn *c, bool ok)
{
    if (ok && c->s->ops->asked)
        c->s->ops->asked(c->s->sw, c);
    return ok ? OFCONN_OK : OFCONN_ERROR;
}

/* A hello, or an error in place of one. */
static enum ofconn_verdict
take_first(struct ofconn *c, const struct ofconn_msg *m)
{
    if (m->type == T_HELLO) {
        ofconn_take_hello(c, m);
        return OFCONN_OK;
    }
    c->n.n_peer_errors++;
    ofconn_end(c, "the peer refused our hello");
    return OFCONN_OK;
}

static enum ofconn_verdict
carry_out(struct ofconn *c, enum act act, const struct ofconn_msg *m,
          uint64_t now_ns, struct ofp_error *e)
{
    switch (act) {
    case A_NONE:
        ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_TYPE,
                 "type %u is no request of version 0x%02x", m->type,
                 c->version);
        return OFCONN_ERROR;
    case A_ERROR:
        c->n.n_peer_errors++;
        return OFCONN_OK;
    case A_HELLO:
    case A_IGNORE:
        return OFCONN_OK;
    case A_ECHO:
        ofconn_reply(c, m, T_ECHO_REPLY, m->bytes + OFP_HEADER_BYTES,
                     m->n - OFP_HEADER_BYTES);
        return OFCONN_OK;
    case A_EXPERIMENTER:
        return experimenter(c, m, now_ns, e);
    case A_GET_CONFIG:
        if (!has_length(m, OFP_HEADER_BYTES, e))
            return OFCONN_ERROR;
        get_config(c, m);
        return OFCONN_OK;
    case A_SET_CONFIG:
        return asked(c, set_config(c, m, e));
    case A_MODIFY:
        if (c->role == OFCONN_SLAVE)
            return refuse_slave(e);
        return c->s->ops->request(c->s->sw, c, m, e);
    case A_SWITCH:
        return c->s->ops->request(c->s->sw, c, m, e);
    case A_MULTIPART:
        return ofconn_take_multipart(c, m, now_ns, e);
    case A_BARRIER:
        if (!has_length(m, OFP_HEADER_BYTES, e))
            return OFCONN_ERROR;
        barrier(c, m);
        return OFCONN_OK;
    case A_ROLE:
        return asked(c, ofconn_take_role(c, m, e));
    case A_GET_ASYNC:
        if (!has_length(m, OFP_HEADER_BYTES, e))
            return OFCONN_ERROR;
        ofconn_take_get_async(c, m);
        return OFCONN_OK;
    case A_SET_ASYNC:
        return asked(c, ofconn_take_set_async(c, m, e));
    }
    return OFCONN_OK;
}

enum ofconn_verdict
ofconn_take(struct ofconn *c, const struct ofconn_msg *m, uint64_t now_ns,
            struct ofp_error *e)
{
    if (c->state == ST_HELLO)
        return take_first(c, m);
    if (m->version != c->version) {
        ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_VERSION,
                 "version 0x%02x was negotiated, not 0x%02x", c->version,
                 m->version);
        return OFCONN_ERROR;
    }
    return carry_out(c, act_of(c, m->type), m, now_ns, e);
}
