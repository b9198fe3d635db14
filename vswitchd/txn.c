/* SPDX-License-Identifier: Apache-2.0
 *
 * The road of a change: see txn.h.
 */
#include "txn.h"

#include "base/log.h"
#include "build.h"
#include "conf/blame.h"
#include "events.h"
#include "of.h"
#include "qos/headroom.h"

#include <string.h>

/* All that a change does, before it is decided. */
struct change {
    struct build *builds[CONF_MAX_BRIDGES]; /* of bridges that change */
    uint32_t n;                             /* of them */
    struct bridge *gone[CONF_MAX_BRIDGES];  /* bridges that are removed */
    uint32_t n_gone;                        /* of them */
};

struct conf *
txn_begin(const struct daemon *d)
{
    return conf_copy(d->conf);
}

/* Slots count here: they are what the datapath knows ports by. */
static bool
bridge_is_same(const struct conf_bridge *a, const struct conf_bridge *b)
{
    if (!a || a->n_ports != b->n_ports || !conf_bridge_equal(a, b))
        return false;
    for (uint32_t i = 0; i < a->n_ports; i++)
        if (a->ports[i]->slot != b->ports[i]->slot ||
            !conf_port_equal(a->ports[i], b->ports[i]))
            return false;
    return true;
}

static void
abort_change(struct change *c)
{
    while (c->n)
        build_abort(c->builds[--c->n]);
}

static int
build_change(struct daemon *d, const struct conf *to, enum build_mode mode,
             struct change *c, struct err *err)
{
    for (uint32_t i = 0; i < d->n_bridges; i++)
        if (!conf_find_bridge(to, d->bridges[i]->name))
            c->gone[c->n_gone++] = d->bridges[i];
    for (uint32_t i = 0; i < to->n_bridges; i++) {
        const struct conf_bridge *cb = to->bridges[i];
        struct bridge *live = daemon_find_bridge(d, cb->name);
        int error;

        if (live && bridge_is_same(conf_find_bridge(d->conf, cb->name), cb))
            continue;
        error = build_create(d, cb, live, mode,
                             live ? live->stall_ns : HEADROOM_MIN_STALL_NS,
                             &c->builds[c->n], err);
        if (error) {
            abort_change(c);
            return error;
        }
        c->n++;
    }
    return 0;
}

static int
commit(struct daemon *d, struct conf *to, enum build_mode mode,
       struct err *err)
{
    struct change c = {.n = 0};
    struct conf *from = d->conf;
    struct ofd_change *of = NULL;
    int error;

    conf_settle_ports(to, from);
    if (conf_equal(from, to)) {
        conf_destroy(to);
        return 0;
    }
    error = conf_validate(to, err);
    if (error && err)
        conf_blame_memory(from, to, err);
    if (!error)
        error = ofd_prepare(d, to, mode == BUILD_LENIENT, &of, err);
    if (!error)
        error = build_change(d, to, mode, &c, err);
    if (!error) {
        error = store_commit(d->store, from, to, err);
        if (error)
            abort_change(&c);
    }
    if (error) {
        ofd_abort(of);
        conf_destroy(to);
        return error;
    }
    d->conf = to;
    d->conf_generation++;
    ofd_end_gone(d, to);
    build_commit(d, c.builds, c.n, c.gone, c.n_gone);
    ofd_commit(d, of);
    events_config(d, from, to);
    conf_destroy(from);
    return 0;
}

int
txn_commit(struct daemon *d, struct conf *to, struct err *err)
{
    return commit(d, to, BUILD_STRICT, err);
}

int
txn_commit_lenient(struct daemon *d, struct conf *to, struct err *err)
{
    return commit(d, to, BUILD_LENIENT, err);
}

int
txn_end(struct daemon *d, struct conf *to, int error, struct err *err)
{
    if (error) {
        conf_destroy(to);
        return error;
    }
    return txn_commit(d, to, err);
}

int
txn_start(struct daemon *d, struct err *err)
{
    struct change c = {.n = 0};
    struct ofd_change *of = NULL;
    struct conf *to;
    int error = store_load(d->store, &to, err);

    if (error)
        return error;
    d->conf = to; /* what is absent was configured before */
    conf_settle_ports(to, NULL);
    error = conf_validate(to, err);
    if (!error)
        error = build_change(d, to, BUILD_LENIENT, &c, err);
    if (error)
        return error;
    build_commit(d, c.builds, c.n, c.gone, c.n_gone);
    if (!ofd_prepare(d, to, true, &of, err))
        ofd_commit(d, of);
    return 0;
}
