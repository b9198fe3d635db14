/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: a whole OpenFlow connection with a stranger at its other end.
 * Where reads cut the stream, and when the datapath gets on, changes nothing
 * of what is answered; every answer is a message whose length is right;
 * nothing is kept beyond its bound; and what was begun is ended.
 */
#include "ofconn/ofconn.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define MAX_INPUT 65536

static void
require(bool holds)
{
    if (!holds)
        abort();
}

/* One run: a switch that is made up, and what it sent. */
struct run {
    uint8_t *out;     /* all of it */
    size_t n;         /* octets */
    uint64_t posted;  /* changes of the datapath */
    uint64_t done;    /* of them */
    int n_dumps;      /* begun and not ended */
    unsigned n_asked; /* requests that reached the switch */
    bool is_slow;     /* the datapath makes everything wait once */
};

static enum ofconn_verdict
ask(struct run *r, const struct ofconn_msg *m, struct ofp_error *e)
{
    uint8_t kind = m->n > 8 ? m->bytes[8] : 0;

    if (r->is_slow && ++r->n_asked % 2)
        return OFCONN_WAIT;
    r->posted++;
    if (kind < 200)
        return OFCONN_OK;
    ofp_fail(e, kind % 16, kind / 16, "kind %u", kind);
    return OFCONN_ERROR;
}

static enum ofconn_verdict
request(void *sw, struct ofconn *c, const struct ofconn_msg *m,
        struct ofp_error *e)
{
    (void) c;
    return ask(sw, m, e);
}

static enum ofconn_verdict
multipart(void *sw, struct ofconn *c, const struct ofconn_multipart *mp,
          void **dump, struct ofp_error *e)
{
    struct run *r = sw;
    size_t *left;

    (void) c;
    require(mp->n <= OFCONN_PART_BYTES);
    if (mp->type > 13 && mp->type != 0xffff)
        return ofp_fail(e, 1, 2, "type %u", mp->type), OFCONN_ERROR;
    left = malloc(sizeof(*left));
    if (!left)
        abort();
    *left = mp->n % 70000 + mp->type * 7u;
    *dump = left;
    r->n_dumps++;
    return OFCONN_OK;
}

static bool
dump_next(void *sw, void *dump, uint8_t *to, size_t room, size_t *n)
{
    size_t *left = dump;

    (void) sw;
    *n = *left < room ? *left : room;
    memset(to, 0x5a, *n);
    *left -= *n;
    return *left > 0;
}

static void
dump_end(void *sw, void *dump)
{
    ((struct run *) sw)->n_dumps--;
    free(dump);
}

static bool
check(void *sw, struct ofconn *c, const struct ofconn_msg *m,
      struct ofp_error *e)
{
    (void) sw;
    (void) c;
    require(m->n >= 8);
    return m->n % 7 || ofp_fail(e, 4, 6, "length %zu", m->n);
}

static enum ofconn_verdict
commit(void *sw, struct ofconn *c, const struct ofconn_msg *m, uint32_t n,
       uint16_t flags, uint32_t *failed, struct ofp_error *e)
{
    struct run *r = sw;

    (void) c;
    (void) flags;
    if (r->is_slow && ++r->n_asked % 2)
        return OFCONN_WAIT;
    r->posted += n;
    for (*failed = 0; *failed < n; ++*failed)
        if (m[*failed].n % 11 == 0)
            return ofp_fail(e, 5, 3, "length"), OFCONN_ERROR;
    return OFCONN_OK;
}

static uint64_t
ticket(void *sw)
{
    return ((struct run *) sw)->posted;
}

static bool
is_done(void *sw, uint64_t t)
{
    struct run *r = sw;

    return !r->is_slow || r->done >= t;
}

static uint16_t
get_frags(void *sw)
{
    (void) sw;
    return 0;
}

static bool
set_frags(void *sw, uint16_t flags)
{
    (void) sw;
    return flags < 2;
}

static const struct ofconn_ops ops = {
    .request = request,
    .multipart = multipart,
    .dump_next = dump_next,
    .dump_end = dump_end,
    .experimenter = request,
    .check = check,
    .commit = commit,
    .ticket = ticket,
    .is_done = is_done,
    .get_frags = get_frags,
    .set_frags = set_frags,
};

static void
io_send(void *io, const void *bytes, size_t n)
{
    struct run *r = io;
    const uint8_t *m = bytes;

    require(n >= 8 && n == (size_t) (m[2] << 8 | m[3]));
    require(m[0] == 4 || m[0] <= 3);
    r->out = realloc(r->out, r->n + n);
    if (!r->out)
        abort();
    memcpy(r->out + r->n, bytes, n);
    r->n += n;
}

static size_t
io_waiting(void *io)
{
    (void) io;
    return 0;
}

static const struct ofconn_io io = {io_send, io_waiting};
static const struct ofconn_conf conf = {false, UINT64_C(5000000000),
                                        UINT64_C(5000000000)};

static void
run(struct run *r, const uint8_t *data, size_t n, size_t piece)
{
    struct ofconn_switch *s = ofconn_switch_create(&ops, r);
    struct ofconn *c = s ? ofconn_create(s, &conf, &io, r, 1) : NULL;
    size_t at = 0, stuck = 0;

    if (!c)
        abort();
    while (at < n && !ofconn_over(c)) {
        size_t m = n - at < piece ? n - at : piece;
        size_t used = ofconn_input(c, data + at, m, 1);

        require(used <= m);
        at += used;
        stuck = used ? 0 : stuck + 1;
        require(stuck < 8);
        r->done = r->posted;
        ofconn_go_on(c, 1);
    }
    for (int i = 0; i < 4; i++) {
        r->done = r->posted;
        ofconn_go_on(c, 1);
    }
    ofconn_tick(c, 1);
    ofconn_destroy(c);
    require(!r->n_dumps);
    ofconn_switch_destroy(s); /* asserts that the budget is whole */
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct run whole = {.n = 0}, cut = {.is_slow = true};

    if (n < 1 || n > MAX_INPUT)
        return 0;
    run(&whole, data + 1, n - 1, n);
    run(&cut, data + 1, n - 1, data[0] % 64 + 1u);
    require(whole.n == cut.n && !memcmp(whole.out, cut.out, cut.n));
    free(whole.out);
    free(cut.out);
    return 0;
}
