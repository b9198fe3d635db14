/* SPDX-License-Identifier: Apache-2.0
 *
 * A made-up switch and peers for the tests of lib/ofconn: see ofconn_rig.h.
 */
#include "ofconn_rig.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
say(struct rig *r, const char *what, unsigned n)
{
    size_t used = strlen(r->log);

    snprintf(r->log + used, sizeof(r->log) - used, "%s%u ", what, n);
}

static enum ofconn_verdict
request(void *sw, struct ofconn *c, const struct ofconn_msg *m,
        struct ofp_error *e)
{
    struct rig *r = sw;

    (void) c;
    if (r->is_full)
        return OFCONN_WAIT;
    if (m->n > 8 && m->bytes[8] == 0xee) {
        ofp_fail(e, 5, 1, "table full");
        return OFCONN_ERROR;
    }
    say(r, "req", m->type);
    r->posted++;
    return OFCONN_OK;
}

static enum ofconn_verdict
multipart(void *sw, struct ofconn *c, const struct ofconn_multipart *mp,
          void **dump, struct ofp_error *e)
{
    struct rig *r = sw;
    uint32_t *left;

    (void) c;
    if (mp->type == 99) {
        ofp_fail(e, 1, 2, "unknown");
        return OFCONN_ERROR;
    }
    say(r, "mp", mp->type);
    say(r, "of", (unsigned) mp->n);
    left = malloc(sizeof(*left));
    *left = r->n_entries;
    *dump = left;
    r->n_dumps++;
    return OFCONN_OK;
}

/* Entries of 1,000 octets. */
static bool
dump_next(void *sw, void *dump, uint8_t *to, size_t room, size_t *n)
{
    uint32_t *left = dump;

    (void) sw;
    *n = 0;
    while (*left && room - *n >= 1000) {
        memset(to + *n, (int) *left, 1000);
        *n += 1000;
        --*left;
    }
    return *left > 0;
}

static void
dump_end(void *sw, void *dump)
{
    struct rig *r = sw;

    r->n_dumps--;
    free(dump);
}

static enum ofconn_verdict
experimenter(void *sw, struct ofconn *c, const struct ofconn_msg *m,
             struct ofp_error *e)
{
    (void) sw;
    (void) c;
    (void) m;
    ofp_fail(e, 1, 3, "unknown experimenter");
    return OFCONN_ERROR;
}

static bool
check(void *sw, struct ofconn *c, const struct ofconn_msg *m,
      struct ofp_error *e)
{
    (void) sw;
    (void) c;
    return m->n <= 8 || m->bytes[8] != 0xbb || ofp_fail(e, 4, 6, "bad field");
}

static enum ofconn_verdict
commit(void *sw, struct ofconn *c, const struct ofconn_msg *m, uint32_t n,
       uint16_t flags, uint32_t *failed, struct ofp_error *e)
{
    struct rig *r = sw;

    (void) c;
    if (r->is_full)
        return OFCONN_WAIT;
    if (r->fail_at < n) {
        *failed = r->fail_at;
        ofp_fail(e, 5, 3, "overlap");
        return OFCONN_ERROR;
    }
    say(r, "commit", flags);
    for (uint32_t i = 0; i < n; i++)
        say(r, "msg", m[i].bytes[8]);
    r->posted++;
    return OFCONN_OK;
}

static uint64_t
ticket(void *sw)
{
    return ((struct rig *) sw)->posted;
}

static bool
is_done(void *sw, uint64_t t)
{
    return ((struct rig *) sw)->done >= t;
}

static uint16_t
get_frags(void *sw)
{
    return ((struct rig *) sw)->frags;
}

static bool
set_frags(void *sw, uint16_t flags)
{
    if (flags > 1)
        return false;
    ((struct rig *) sw)->frags = flags;
    return true;
}

static void
up(void *sw, struct ofconn *c)
{
    say(sw, "up", ofconn_version(c));
}

static void
down(void *sw, struct ofconn *c)
{
    say(sw, "down", ofconn_version(c));
}

static const struct ofconn_ops ops = {
    .request = request,
    .multipart = multipart,
    .dump_next = dump_next,
    .dump_end = dump_end,
    .experimenter = experimenter,
    .check = check,
    .commit = commit,
    .ticket = ticket,
    .is_done = is_done,
    .get_frags = get_frags,
    .set_frags = set_frags,
    .up = up,
    .down = down,
};

static void
io_send(void *io, const void *bytes, size_t n)
{
    struct peer *p = io;

    p->out = realloc(p->out, p->n + n);
    memcpy(p->out + p->n, bytes, n);
    p->n += n;
    if (p->never_reads)
        p->unread += n;
}

static size_t
io_waiting(void *io)
{
    return ((struct peer *) io)->unread;
}

const struct ofconn_io rig_io = {io_send, io_waiting};

const struct ofconn_conf controller = {false, 5 * S, 10 * S};

void
rig_init(struct rig *r)
{
    memset(r, 0, sizeof(*r));
    r->fail_at = UINT32_MAX;
    r->s = ofconn_switch_create(&ops, r);
}

void
peer_uninit(struct peer *p)
{
    free(p->out);
    memset(p, 0, sizeof(*p));
}

/* --- scripts --------------------------------------------------------------
 */

size_t
unhex(const char *hex, uint8_t *to, size_t size)
{
    size_t n = 0;
    unsigned byte;

    for (const char *p = hex; *p; p += 2) {
        while (*p == ' ')
            p++;
        if (!*p)
            break;
        cr_assert(n < size && sscanf(p, "%2x", &byte) == 1, "%s", p);
        to[n++] = (uint8_t) byte;
    }
    return n;
}

void
feed_now(struct ofconn *c, const char *hex, size_t piece, uint64_t now)
{
    uint8_t bytes[8192];
    size_t n = unhex(hex, bytes, sizeof(bytes));

    for (size_t at = 0; at < n;) {
        size_t m = n - at < piece ? n - at : piece;
        size_t used = ofconn_input(c, bytes + at, m, now);

        cr_assert(used == m, "%zu of %zu at %zu of %s", used, m, at, hex);
        at += used;
    }
}

void
expect(struct peer *p, const char *hex)
{
    uint8_t bytes[8192];
    size_t n = unhex(hex, bytes, sizeof(bytes));
    char got[600] = "";

    for (size_t i = 0; i < p->n && i < 290; i++)
        snprintf(got + 2 * i, 3, "%02x", p->out[i]);
    cr_assert(n == p->n && !memcmp(bytes, p->out, n), "want %s\n got %s", hex,
              got);
    p->n = 0;
}

struct ofconn *
open_conn(struct rig *r, struct peer *p, const struct ofconn_conf *conf)
{
    struct ofconn *c;

    memset(p, 0, sizeof(*p));
    c = ofconn_create(r->s, conf, &rig_io, p, 0);
    expect(p, OUR_HELLO);
    feed_now(c, T_HELLO_13, 8, 0);
    expect(p, "");
    cr_assert_null(ofconn_over(c));
    return c;
}

void
script(const char *in, const char *out, const char *why)
{
    for (size_t piece = 1; piece < 5000; piece = piece * 3 + 1) {
        struct rig r;
        struct peer p = {.n = 0};
        struct ofconn *c;

        rig_init(&r);
        c = ofconn_create(r.s, &controller, &rig_io, &p, 0);
        expect(&p, OUR_HELLO);
        feed_now(c, in, piece, 0);
        expect(&p, out);
        if (why)
            cr_assert(ofconn_over(c) && strstr(ofconn_over(c), why), "%s",
                      ofconn_over(c));
        else
            cr_assert_null(ofconn_over(c), "%s", ofconn_over(c));
        ofconn_destroy(c);
        ofconn_switch_destroy(r.s);
        peer_uninit(&p);
    }
}
