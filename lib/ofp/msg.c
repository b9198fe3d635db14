/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages of controllers: what all versions have in common, and the way to
 * the rest (msg10.c, msg13.c, multipart.c).  See msg.h.
 */
#include "ofp/msg.h"

#include "ofp/decode.h"

enum {
    T_HELLO = 0,
    T_ERROR = 1,
    T_ECHO_REQUEST = 2,
    T_ECHO_REPLY = 3,
};

#define HELLO_BITMAP 1 /* type of hello's element */

static const char *const kind_names[OFP_N_KINDS] = {
    [OFPK_HELLO] = "HELLO",
    [OFPK_ERROR] = "ERROR",
    [OFPK_ECHO_REQUEST] = "ECHO_REQUEST",
    [OFPK_ECHO_REPLY] = "ECHO_REPLY",
    [OFPK_FEATURES_REQUEST] = "FEATURES_REQUEST",
    [OFPK_GET_CONFIG_REQUEST] = "GET_CONFIG_REQUEST",
    [OFPK_SET_CONFIG] = "SET_CONFIG",
    [OFPK_PACKET_OUT] = "PACKET_OUT",
    [OFPK_FLOW_MOD] = "FLOW_MOD",
    [OFPK_GROUP_MOD] = "GROUP_MOD",
    [OFPK_PORT_MOD] = "PORT_MOD",
    [OFPK_TABLE_MOD] = "TABLE_MOD",
    [OFPK_METER_MOD] = "METER_MOD",
    [OFPK_BARRIER_REQUEST] = "BARRIER_REQUEST",
    [OFPK_QUEUE_GET_CONFIG] = "QUEUE_GET_CONFIG_REQUEST",
    [OFPK_ROLE_REQUEST] = "ROLE_REQUEST",
    [OFPK_GET_ASYNC] = "GET_ASYNC_REQUEST",
    [OFPK_SET_ASYNC] = "SET_ASYNC",
    [OFPK_BUNDLE_CTRL] = "BUNDLE_CONTROL",
    [OFPK_BUNDLE_ADD] = "BUNDLE_ADD_MESSAGE",
    [OFPK_MP_DESC] = "MULTIPART DESC",
    [OFPK_MP_FLOW] = "MULTIPART FLOW",
    [OFPK_MP_AGGREGATE] = "MULTIPART AGGREGATE",
    [OFPK_MP_TABLE] = "MULTIPART TABLE",
    [OFPK_MP_PORT_STATS] = "MULTIPART PORT_STATS",
    [OFPK_MP_QUEUE] = "MULTIPART QUEUE",
    [OFPK_MP_GROUP] = "MULTIPART GROUP",
    [OFPK_MP_GROUP_DESC] = "MULTIPART GROUP_DESC",
    [OFPK_MP_GROUP_FEATURES] = "MULTIPART GROUP_FEATURES",
    [OFPK_MP_METER] = "MULTIPART METER",
    [OFPK_MP_METER_CONFIG] = "MULTIPART METER_CONFIG",
    [OFPK_MP_METER_FEATURES] = "MULTIPART METER_FEATURES",
    [OFPK_MP_TABLE_FEATURES] = "MULTIPART TABLE_FEATURES",
    [OFPK_MP_PORT_DESC] = "MULTIPART PORT_DESC",
};

const char *
ofp_kind_name(enum ofp_kind k)
{
    return kind_names[k];
}

struct ofp_header
ofp_header_get(const uint8_t *msg)
{
    struct cursor c = cursor_init(msg, OFP_HEADER_LEN);
    struct ofp_header h = {0};

    h.version = cursor_u8(&c);
    h.type = cursor_u8(&c);
    h.len = cursor_be16(&c);
    h.xid = cursor_be32(&c);
    return h;
}

const struct decode_form *
decode_find(const struct decode_form *forms, size_t n, uint16_t wire)
{
    for (size_t i = 0; i < n; i++)
        if (forms[i].wire == wire)
            return &forms[i];
    return NULL;
}

bool
decode_bad_len(struct ofp_error *e, const char *what, size_t n)
{
    return ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_LEN,
                    "%s: a body of %zu octets", what, n);
}

bool
decode_run(const struct decode_form *f, struct cursor *c, struct ofp_msg *m,
           struct ofp_error *e)
{
    m->kind = f->kind;
    if (c->left < f->len || (f->exact && c->left != f->len))
        return decode_bad_len(e, kind_names[f->kind], c->left);
    return !f->decode || f->decode(c, m, e);
}

/* Elements are for the future too: what is not understood is passed over. */
bool
decode_hello(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    (void) e;
    m->hello.versions =
        m->version >= 31 ? 0xffffffffu : (2u << m->version) - 1;
    m->hello.versions &= ~1u;
    while (c->left >= 4) {
        uint16_t type = cursor_be16(c), len = cursor_be16(c);
        struct cursor body;

        if (len < 4 || len - 4u > c->left)
            break;
        body = cursor_init(cursor_take(c, len - 4u), len - 4u);
        if (type == HELLO_BITMAP && body.left >= 4) {
            m->hello.versions = cursor_be32(&body);
            break;
        }
        cursor_take(c, (8 - len % 8u) % 8u);
    }
    return true;
}

bool
decode_error(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    (void) e;
    m->error.type = cursor_be16(c);
    m->error.code = cursor_be16(c);
    m->error.data = c->p;
    m->error.n = c->left;
    return true;
}

bool
decode_echo(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    (void) e;
    m->echo.data = c->p;
    m->echo.n = c->left;
    return true;
}

bool
decode_config(struct cursor *c, struct ofp_msg *m, struct ofp_error *e)
{
    (void) e;
    m->config.flags = cursor_be16(c);
    m->config.miss_send_len = cursor_be16(c);
    return true;
}

bool
decode_no_table_port(const struct ofp_actions *l, struct ofp_error *e)
{
    for (uint32_t i = 0; i < l->n; i++)
        if ((l->a[i].type == OFP_ACT_OUTPUT ||
             l->a[i].type == OFP_ACT_ENQUEUE) &&
            l->a[i].output.port == OFPP_TABLE)
            return ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_OUT_PORT,
                            "only a packet-out may have output to TABLE");
    return true;
}

static const struct decode_form common[] = {
    {T_HELLO, OFPK_HELLO, 0, false, decode_hello},
    {T_ERROR, OFPK_ERROR, 4, false, decode_error},
    {T_ECHO_REQUEST, OFPK_ECHO_REQUEST, 0, false, decode_echo},
    {T_ECHO_REPLY, OFPK_ECHO_REPLY, 0, false, decode_echo},
};

static bool
decode_any(const struct ofp_header *h, struct cursor *c, struct ofp_msg *m,
           struct ofp_error *e)
{
    const struct decode_form *f =
        decode_find(common, sizeof(common) / sizeof(common[0]), h->type);

    if (f)
        return decode_run(f, c, m, e);
    if (h->version == OFP_V13)
        return decode13(h->type, c, m, e);
    if (h->version == OFP_V10)
        return decode10(h->type, c, m, e);
    return ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_VERSION,
                    "version %u of the protocol: 1 (1.0) and 4 (1.3) are "
                    "allowed",
                    h->version);
}

bool
ofp_msg_decode(const uint8_t *msg, size_t n, struct ofp_msg *out,
               struct ofp_error *e)
{
    struct cursor c = cursor_init(msg, n);
    struct ofp_msg m = {0};
    struct ofp_header h;

    if (n < OFP_HEADER_LEN)
        return decode_bad_len(e, "message", n);
    cursor_take(&c, OFP_HEADER_LEN);
    h = ofp_header_get(msg);
    if (h.len != n)
        return ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_LEN,
                        "a message of %zu octets whose header says %u", n,
                        h.len);
    m.version = h.version;
    m.xid = h.xid;
    if (!decode_any(&h, &c, &m, e)) {
        ofp_arena_free(&m.arena);
        return false;
    }
    *out = m;
    return true;
}

void
ofp_msg_free(struct ofp_msg *m)
{
    ofp_arena_free(&m->arena);
}
