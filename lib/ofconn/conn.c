/* SPDX-License-Identifier: Apache-2.0
 *
 * Connections from beginning to end, and messages out of a stream of bytes:
 * see ofconn.h.
 *
 * A message that lies whole in what was handed over is executed where it lies;
 * another is gathered in memory of its own, which is asked for once its
 * header has been judged.  What cannot be executed yet (the datapath has no
 * room) is gathered too, and comes again.
 */
#include "ofconn/int.h"

#include "base/clock.h"
#include "base/cursor.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ofconn_switch *
ofconn_switch_create(const struct ofconn_ops *ops, void *sw)
{
    struct ofconn_switch *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->ops = ops;
    s->sw = sw;
    s->budget = OFCONN_BUDGET;
    return s;
}

void
ofconn_switch_destroy(struct ofconn_switch *s)
{
    if (!s)
        return;
    assert(!s->first && s->budget == OFCONN_BUDGET);
    ofconn_buffers_end(s);
    free(s);
}

struct ofconn *
ofconn_create(struct ofconn_switch *s, const struct ofconn_conf *conf,
              const struct ofconn_io *io, void *io_arg, uint64_t now_ns)
{
    struct ofconn *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->s = s;
    c->conf = *conf;
    c->io = io;
    c->io_arg = io_arg;
    c->since_ns = c->alive_ns = now_ns;
    c->role = OFCONN_EQUAL;
    c->miss_send_len = conf->is_service ? 0 : 128;
    ofconn_async_init(c);
    c->next = s->first;
    if (s->first)
        s->first->prev = c;
    s->first = c;
    ofconn_say_hello(c);
    return c;
}

static void
drop_part(struct ofconn *c)
{
    free(c->part);
    c->part = NULL;
    c->part_size = c->n_part = c->n_head = 0;
    c->is_held = false;
}

/* Lets go of all that the connection began. */
static void
drop_all(struct ofconn *c)
{
    if (c->dump)
        c->s->ops->dump_end(c->s->sw, c->dump);
    c->dump = NULL;
    c->has_ticket = false;
    drop_part(c);
    ofconn_multipart_end(c);
    ofconn_bundles_end(c);
}

void
ofconn_destroy(struct ofconn *c)
{
    if (!c)
        return;
    if (c->state == ST_OPEN)
        ofconn_end(c, "closed");
    drop_all(c);
    if (c->next)
        c->next->prev = c->prev;
    if (c->prev)
        c->prev->next = c->next;
    else
        c->s->first = c->next;
    free(c);
}

void
ofconn_end(struct ofconn *c, const char *format, ...)
{
    bool was_open = c->state == ST_OPEN;
    va_list args;

    if (c->state == ST_OVER)
        return;
    c->state = ST_OVER;
    va_start(args, format);
    vsnprintf(c->why, sizeof(c->why), format, args);
    va_end(args);
    if (was_open && c->s->ops->down)
        c->s->ops->down(c->s->sw, c);
}

bool
ofconn_budget(struct ofconn *c, size_t n)
{
    if (n > c->s->budget)
        return false;
    c->s->budget -= n;
    return true;
}

void
ofconn_refund(struct ofconn *c, size_t n)
{
    c->s->budget += n;
}

const char *
ofconn_over(const struct ofconn *c)
{
    return c->state == ST_OVER ? c->why : NULL;
}

/* --- going on ------------------------------------------------------------ */

bool
ofconn_is_ready(const struct ofconn *c)
{
    return c->state != ST_OVER && !c->has_ticket && !c->dump && !c->is_held &&
           c->io->waiting(c->io_arg) < OFCONN_OUT_HIGH;
}

bool
ofconn_waits_for_switch(const struct ofconn *c)
{
    return c->state != ST_OVER && (c->has_ticket || c->is_held);
}

bool
ofconn_wants_turn(const struct ofconn *c)
{
    return c->state != ST_OVER && c->dump &&
           c->io->waiting(c->io_arg) < OFCONN_OUT_HIGH;
}

void
ofconn_send_later(struct ofconn *c, const void *bytes, size_t n)
{
    uint64_t ticket = c->s->ops->ticket(c->s->sw);

    assert(n <= sizeof(c->later) && !c->has_ticket);
    if (c->s->ops->is_done(c->s->sw, ticket)) {
        ofconn_send(c, bytes, n);
        return;
    }
    c->has_ticket = true;
    c->ticket = ticket;
    c->n_later = n;
    memcpy(c->later, bytes, n);
}

/* Executes a message; false: it has to wait. */
static bool
execute(struct ofconn *c, const uint8_t *bytes, size_t n, uint64_t now_ns)
{
    struct cursor cur = cursor_init(bytes, n);
    struct ofconn_msg m = {.bytes = bytes, .n = n};
    struct ofp_error e;
    enum ofconn_verdict v;

    m.version = cursor_u8(&cur);
    m.type = cursor_u8(&cur);
    cursor_be16(&cur);
    m.xid = cursor_be32(&cur);
    memset(&e, 0, sizeof(e));
    v = ofconn_take(c, &m, now_ns, &e);
    if (v == OFCONN_WAIT)
        return false;
    c->n.n_in++;
    if (v == OFCONN_ERROR)
        ofconn_send_error(c, &e, &m);
    return true;
}

void
ofconn_go_on(struct ofconn *c, uint64_t now_ns)
{
    uint8_t *part = c->part;
    size_t n = c->part_size;

    if (c->state == ST_OVER)
        return;
    if (c->has_ticket && c->s->ops->is_done(c->s->sw, c->ticket)) {
        c->has_ticket = false;
        ofconn_send(c, c->later, c->n_later);
    }
    if (c->dump)
        ofconn_dump_on(c);
    if (!c->is_held || c->has_ticket || c->dump)
        return;
    c->is_held = false;
    c->part = NULL;
    drop_part(c);
    if (!execute(c, part, n, now_ns) && c->state != ST_OVER) {
        c->part = part;
        c->part_size = c->n_part = n;
        c->is_held = true;
        return;
    }
    free(part);
}

void
ofconn_has_sent(struct ofconn *c, uint64_t now_ns)
{
    c->alive_ns = now_ns;
}

/* The earlier of two moments. */
static uint64_t
sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Asks a silent peer whether it lives.  Returns the next moment to look. */
static uint64_t
probe(struct ofconn *c, uint64_t now_ns)
{
    uint64_t ns = c->conf.probe_ns;
    uint8_t echo[OFP_HEADER_BYTES];

    if (!ns)
        return CLOCK_NEVER;
    if (c->is_probed && c->alive_ns >= c->probed_ns)
        c->is_probed = false;
    if (c->is_probed && now_ns >= c->probed_ns + ns) {
        ofconn_end(c, "no answer to an echo request for %llu ms",
                   (unsigned long long) (ns / NS_PER_MS));
        return CLOCK_NEVER;
    }
    if (!c->is_probed && now_ns >= c->alive_ns + ns) {
        /* A nanosecond later: what comes in this one is an answer. */
        c->is_probed = true;
        c->probed_ns = now_ns;
        c->alive_ns = now_ns - 1;
        ofconn_header(echo, c->version, T_ECHO_REQUEST, sizeof(echo),
                      ++c->xid);
        ofconn_send(c, echo, sizeof(echo));
    }
    return (c->is_probed ? c->probed_ns : c->alive_ns) + ns;
}

uint64_t
ofconn_tick(struct ofconn *c, uint64_t now_ns)
{
    uint64_t next;

    if (c->state == ST_OVER)
        return CLOCK_NEVER;
    if (c->state == ST_HELLO) {
        next = c->since_ns + c->conf.handshake_ns;
        if (now_ns < next)
            return next;
        ofconn_end(c, "no hello within %llu ms",
                   (unsigned long long) (c->conf.handshake_ns / NS_PER_MS));
        return CLOCK_NEVER;
    }
    next = sooner(ofconn_multipart_tick(c, now_ns),
                  ofconn_bundles_tick(c, now_ns));
    return sooner(next, probe(c, now_ns));
}

/* --- messages out of bytes ------------------------------------------------
 */

/* Judges a header before anything is kept; false: the stream is lost. */
static bool
header_ok(struct ofconn *c, const uint8_t head[OFP_HEADER_BYTES])
{
    struct cursor cur = cursor_init(head, OFP_HEADER_BYTES);
    struct ofconn_msg m = {.bytes = head, .n = OFP_HEADER_BYTES};
    struct ofp_error e;
    size_t n;

    m.version = cursor_u8(&cur);
    m.type = cursor_u8(&cur);
    n = cursor_be16(&cur);
    m.xid = cursor_be32(&cur);
    if (c->state == ST_HELLO && m.type != T_HELLO && m.type != T_ERROR) {
        ofp_fail(&e, OFPET_HELLO_FAILED, OFPHFC_INCOMPATIBLE,
                 "the first message must be a hello, not type %u", m.type);
        ofconn_send_error(c, &e, &m);
        ofconn_end(c, "%s", e.msg);
        return false;
    }
    if (n >= OFP_HEADER_BYTES)
        return true;
    ofp_fail(&e, OFPET_BAD_REQUEST, OFPBRC_BAD_LEN,
             "a message of %zu octets has no room for its header", n);
    ofconn_send_error(c, &e, &m);
    ofconn_end(c, "%s", e.msg);
    return false;
}

static size_t
length_of(const uint8_t *head)
{
    return (size_t) (head[2] << 8 | head[3]);
}

/* Keeps a message that is not whole, or has to wait. */
static bool
begin_part(struct ofconn *c, const uint8_t *p, size_t have, size_t n)
{
    c->part = malloc(n);
    if (!c->part) {
        ofconn_end(c, "no memory for a message of %zu octets", n);
        return false;
    }
    memcpy(c->part, p, have);
    c->part_size = n;
    c->n_part = have;
    return true;
}

/* Octets for a header that came in pieces; how many it took. */
static size_t
feed_head(struct ofconn *c, const uint8_t *p, size_t n)
{
    size_t take = OFP_HEADER_BYTES - c->n_head;

    take = take < n ? take : n;
    memcpy(c->head + c->n_head, p, take);
    c->n_head += take;
    if (c->n_head == OFP_HEADER_BYTES && header_ok(c, c->head) &&
        begin_part(c, c->head, OFP_HEADER_BYTES, length_of(c->head)))
        c->n_head = 0;
    return take;
}

/* Octets for the message in part; executes it when it is whole. */
static size_t
feed_part(struct ofconn *c, const uint8_t *p, size_t n, uint64_t now_ns)
{
    size_t take = c->part_size - c->n_part;

    take = take < n ? take : n;
    if (take)
        memcpy(c->part + c->n_part, p, take);
    c->n_part += take;
    if (c->n_part < c->part_size)
        return take;
    c->is_held = true;
    ofconn_go_on(c, now_ns);
    return take;
}

/* The next message, whole or in part. */
static size_t
feed(struct ofconn *c, const uint8_t *p, size_t n, uint64_t now_ns)
{
    size_t size;

    if (c->part)
        return feed_part(c, p, n, now_ns);
    if (c->n_head || n < OFP_HEADER_BYTES)
        return feed_head(c, p, n);
    if (!header_ok(c, p))
        return n;
    size = length_of(p);
    if (n < size)
        return begin_part(c, p, n, size) ? n : 0;
    if (!execute(c, p, size, now_ns) && c->state != ST_OVER &&
        begin_part(c, p, size, size))
        c->is_held = true;
    return size;
}

size_t
ofconn_input(struct ofconn *c, const uint8_t *p, size_t n, uint64_t now_ns)
{
    size_t used = 0;
    uint64_t end = c->n.n_in + OFCONN_TURN;

    if (n)
        c->alive_ns = now_ns;
    while (used < n && c->n.n_in < end && ofconn_is_ready(c)) {
        used += feed(c, p + used, n - used, now_ns);
        /* A message that ended with what was there. */
        if (c->part && c->n_part == c->part_size && ofconn_is_ready(c))
            feed_part(c, NULL, 0, now_ns);
    }
    if (c->state == ST_OVER)
        return n;
    return used;
}

/* --- what others ask ------------------------------------------------------
 */

uint8_t
ofconn_version(const struct ofconn *c)
{
    return c->version;
}

enum ofconn_role
ofconn_role(const struct ofconn *c)
{
    return c->role;
}

bool
ofconn_is_service(const struct ofconn *c)
{
    return c->conf.is_service;
}

uint16_t
ofconn_miss_send_len(const struct ofconn *c)
{
    return c->miss_send_len;
}

const struct ofconn_counters *
ofconn_counters(const struct ofconn *c)
{
    return &c->n;
}

struct ofconn *
ofconn_first(const struct ofconn_switch *s)
{
    return s->first;
}

struct ofconn *
ofconn_next(const struct ofconn *c)
{
    return c->next;
}
