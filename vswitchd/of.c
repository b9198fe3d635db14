/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenFlow of the daemon's bridges: making, following the configuration, and
 * ending.  See of.h and of_int.h.  Control thread.
 */
#include "of_int.h"

#include "base/clock.h"
#include "files.h"
#include "json.h"
#include "ofbridge.h"
#include "reactor.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOON_NS (50 * NS_PER_MS)

struct ofd_control *
ofd_find(const struct daemon *d, const char *bridge)
{
    struct ofd_control *of = d->of;

    while (of && strcmp(of->name, bridge))
        of = of->next;
    return of;
}

struct bridge *
ofd_bridge(const struct ofd_control *of)
{
    return ofbridge_bridge(ofd_ofbridge(of));
}

struct ofbridge *
ofd_ofbridge(const struct ofd_control *of)
{
    return ofbridge_find(of->daemon, of->name);
}

struct ofproto *
ofd_books(const struct ofd_control *of)
{
    return ofbridge_books(ofd_ofbridge(of));
}

bool
ofd_has_controllers(const struct conf_openflow *c)
{
    struct conf_target t;
    const char *why;

    for (uint32_t i = 0; i < c->n_controllers; i++)
        if (conf_target_parse(c->controller[i].target, &t, &why) && !t.passive)
            return true;
    return false;
}

static uint64_t
number_of(const uint8_t mac[6])
{
    uint64_t n = 0;

    for (int i = 0; i < 6; i++)
        n = n << 8 | mac[i];
    return n;
}

/* The lowest address of its ports, as in Open vSwitch; without any, something
 * that is made of its name. */
uint64_t
ofd_datapath_id(const struct daemon *d, const struct conf_bridge *cb)
{
    struct bridge *b = daemon_find_bridge(d, cb->name);
    uint64_t id = UINT64_C(0x020000000000), lowest = UINT64_MAX;

    if (cb->of.datapath_id)
        return cb->of.datapath_id;
    for (int i = 0; b && i < DP_MAX_PORTS; i++) {
        const struct port *p = b->ports[i];
        uint64_t n = p && p->netdev && !p->is_local
                         ? number_of(p->live.mac)
                         : 0; /* the local one has another every time */

        if (n && n < lowest)
            lowest = n;
    }
    if (lowest != UINT64_MAX)
        return lowest;
    for (const char *p = cb->name; *p; p++)
        id = (id & UINT64_C(0x020000000000)) |
             ((id * 31 + (unsigned char) *p) & UINT64_C(0x00ffffffff));
    return id;
}

/* --- what is due ----------------------------------------------------------
 */

static void
arm(struct ofd_control *of, uint64_t in_ns)
{
    struct timeval tv = {(time_t) (in_ns / NS_PER_S),
                         (suseconds_t) (in_ns % NS_PER_S / NS_PER_US)};

    event_add(of->timer, &tv);
}

void
ofd_schedule(struct ofd_control *of)
{
    struct timeval at, now;
    int64_t left_us;

    if (event_pending(of->timer, EV_TIMEOUT, &at)) {
        event_base_gettimeofday_cached(reactor_base(of->daemon->reactor),
                                       &now);
        left_us = ((int64_t) at.tv_sec - now.tv_sec) * 1000000 +
                  (at.tv_usec - now.tv_usec);
        if (left_us <= (int64_t) (SOON_NS / NS_PER_US))
            return;
    }
    arm(of, SOON_NS);
}

static uint64_t
sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct ofd_control *of = arg;
    uint64_t now_ns = clock_ns(), next = CLOCK_NEVER;

    (void) fd;
    (void) what;
    for (uint32_t i = 0; i < of->n_targets; i++)
        next = sooner(next, ofd_target_tick(of->target[i], now_ns));
    for (struct ofd_peer *p = of->peers, *after; p; p = after) {
        after = p->next;
        next = sooner(next, ofd_peer_tick(p, now_ns));
    }
    next = sooner(next, ofd_fail_tick(of, now_ns));
    if (next != CLOCK_NEVER)
        arm(of, next > now_ns + NS_PER_MS ? next - now_ns : NS_PER_MS);
}

/* The datapath got on, or has frames for controllers. */
static void
on_progress(void *arg)
{
    struct ofd_control *of = arg;
    uint64_t now_ns = clock_ns();

    ofd_async_take(of);
    for (struct ofd_peer *p = of->peers, *after; p; p = after) {
        after = p->next;
        if (p->conn && ofconn_waits_for_switch(p->conn))
            ofd_peer_go_on(p, now_ns);
    }
}

/* --- life -----------------------------------------------------------------
 */

static struct ofd_control *
create(struct daemon *d, const char *name)
{
    struct ofd_control *of = calloc(1, sizeof(*of));
    const struct ofbridge_hooks hooks = {
        .flow_removed = ofd_async_flow_removed,
        .port_status = ofd_async_port_status,
        .progress = on_progress,
        .datapath = ofd_async_datapath,
        .arg = of,
    };

    if (!of)
        abort();
    of->daemon = d;
    snprintf(of->name, sizeof(of->name), "%s", name);
    of->sw = ofconn_switch_create(&ofd_ops, of);
    of->timer = event_new(reactor_base(d->reactor), -1, 0, on_timer, of);
    if (!of->sw || !of->timer)
        abort();
    of->next = d->of;
    d->of = of;
    ofbridge_set_hooks(ofd_ofbridge(of), &hooks);
    return of;
}

static void
destroy(struct ofd_control *of)
{
    struct ofd_control **at = &of->daemon->of;
    const struct ofbridge_hooks none = {.arg = NULL};

    while (*at != of)
        at = &(*at)->next;
    *at = of->next;
    ofbridge_set_hooks(ofd_ofbridge(of), &none);
    while (of->n_targets)
        ofd_target_destroy(of->target[--of->n_targets]);
    while (of->peers)
        ofd_peer_destroy(of->peers);
    event_free(of->timer);
    ofconn_switch_destroy(of->sw);
    SSL_CTX_free(of->tls);
    free(of);
}

void
ofd_end(struct daemon *d)
{
    while (d->of)
        destroy(d->of);
}

void
ofd_end_gone(struct daemon *d, const struct conf *to)
{
    struct ofd_control *next;

    for (struct ofd_control *of = d->of; of; of = next) {
        next = of->next;
        if (!conf_find_bridge(to, of->name))
            destroy(of);
    }
}

/* --- changes --------------------------------------------------------------
 */

/* What was opened for one bridge. */
struct prepared {
    struct prepared *next;        /* of the same change */
    char name[CONF_NAME_MAX + 1]; /* of the bridge */
    SSL_CTX *tls;                 /* of its files */
    uint32_t n;                   /* sockets that listen */
    struct {
        char target[CONF_TARGET_MAX + 1]; /* whose */
        struct conf_target t;             /* taken apart */
        int fd, lock_fd;                  /* them */
    } socket[CONF_MAX_CONTROLLERS];
};

struct ofd_change {
    struct prepared *first; /* bridges that need something */
};

static const struct conf_controller *
find_conf(const struct conf_openflow *c, const char *target)
{
    for (uint32_t i = 0; c && i < c->n_controllers; i++)
        if (!strcmp(c->controller[i].target, target))
            return &c->controller[i];
    return NULL;
}

static int
prepare_sockets(struct prepared *x, const struct conf_openflow *was,
                const struct conf_bridge *b, struct err *err)
{
    char path[sizeof(err->path)];

    for (uint32_t i = 0; i < b->of.n_controllers; i++) {
        const char *target = b->of.controller[i].target;
        struct conf_target t;
        const char *why;
        int error;

        if (!conf_target_parse(target, &t, &why) || !t.passive ||
            find_conf(was, target))
            continue;
        snprintf(path, sizeof(path), "/bridges/%s/controllers", b->name);
        error = ofd_target_listen(&t, path, &x->socket[x->n].fd,
                                  &x->socket[x->n].lock_fd, err);
        if (error)
            return error;
        x->socket[x->n].t = t;
        snprintf(x->socket[x->n++].target, sizeof(x->socket[0].target), "%s",
                 target);
    }
    return 0;
}

static int
prepare_bridge(struct daemon *d, const struct conf_bridge *b, bool lenient,
               struct ofd_change *c, struct err *err)
{
    struct ofd_control *of = ofd_find(d, b->name);
    const struct conf_openflow *was = of ? &of->conf : NULL;
    struct prepared *x = calloc(1, sizeof(*x));
    char path[64];
    int error = 0;

    if (!x)
        abort();
    x->next = c->first;
    c->first = x;
    snprintf(x->name, sizeof(x->name), "%s", b->name);
    snprintf(path, sizeof(path), "/bridges/%s", b->name);
    if (b->of.ssl.private_key[0] &&
        (!was || !of->tls || memcmp(&was->ssl, &b->of.ssl, sizeof(was->ssl))))
        error = ofd_tls_create(&b->of.ssl, path, &x->tls, err);
    if (error && lenient)
        log_err("bridge %s: no TLS to controllers: %s", b->name, err->msg);
    if (error && !lenient)
        return error;
    /* At start, targets open their own, and try again. */
    return lenient ? 0 : prepare_sockets(x, was, b, err);
}

int
ofd_prepare(struct daemon *d, const struct conf *to, bool lenient,
            struct ofd_change **out, struct err *err)
{
    struct ofd_change *c = calloc(1, sizeof(*c));
    int error = 0;

    if (!c)
        abort();
    for (uint32_t i = 0; i < to->n_bridges && !error; i++)
        error = prepare_bridge(d, to->bridges[i], lenient, c, err);
    if (error) {
        ofd_abort(c);
        return error;
    }
    *out = c;
    return 0;
}

void
ofd_abort(struct ofd_change *c)
{
    struct prepared *next;

    if (!c)
        return;
    for (struct prepared *x = c->first; x; x = next) {
        next = x->next;
        SSL_CTX_free(x->tls);
        for (uint32_t i = 0; i < x->n; i++) {
            if (x->socket[i].fd < 0)
                continue;
            close(x->socket[i].fd);
            if (x->socket[i].t.type == CONF_TARGET_UNIX)
                unlink(x->socket[i].t.path);
            files_unlock(x->socket[i].t.path, x->socket[i].lock_fd);
        }
        free(x);
    }
    free(c);
}

static void
add_target(struct ofd_control *of, struct prepared *x,
           const struct conf_controller *c, bool is_management)
{
    struct ofd_target *t = ofd_target_create(of, c, is_management);

    of->target[of->n_targets++] = t;
    for (uint32_t i = 0; x && i < x->n; i++)
        if (!strcmp(x->socket[i].target, c->target)) {
            ofd_target_start(t, x->socket[i].fd, x->socket[i].lock_fd);
            x->socket[i].fd = -1;
            return;
        }
    ofd_target_start(t, -1, -1);
}

/* The bridge's own socket, beside the control socket. */
static bool
management(const struct ofd_control *of, struct conf_controller *c)
{
    const char *socket = of->daemon->socket, *slash = strrchr(socket, '/');
    int n, dir = slash ? (int) (slash - socket) : 0;

    *c = (struct conf_controller){.max_backoff_ms = 60000};
    n = snprintf(c->target, sizeof(c->target), "punix:%.*s/%s.mgmt", dir,
                 socket, of->name);
    if (slash && n < (int) sizeof(c->target) && n - 6 < 108)
        return true;
    log_warn("bridge %s: no management socket: its path beside %s would be "
             "too long",
             of->name, socket);
    return false;
}

static bool
stays(const struct ofd_target *t, const struct conf_openflow *to,
      bool same_tls)
{
    const struct conf_controller *c;

    if (t->is_management)
        return to->management;
    c = find_conf(to, t->conf.target);
    return c && c->probe_ms == t->conf.probe_ms &&
           c->max_backoff_ms == t->conf.max_backoff_ms &&
           (same_tls || t->t.type != CONF_TARGET_SSL);
}

static bool
has_target(const struct ofd_control *of, const char *target)
{
    for (uint32_t i = 0; i < of->n_targets; i++)
        if (target ? !of->target[i]->is_management &&
                         !strcmp(of->target[i]->conf.target, target)
                   : of->target[i]->is_management)
            return true;
    return false;
}

static void
follow(struct ofd_control *of, struct prepared *x,
       const struct conf_bridge *cb)
{
    const struct conf_openflow was = of->conf, *to = &cb->of;
    bool same_tls = !x || !x->tls;
    struct conf_controller own;

    of->conf = *to;
    for (uint32_t i = 0; i < of->n_targets;) {
        if (stays(of->target[i], to, same_tls)) {
            i++;
            continue;
        }
        ofd_target_destroy(of->target[i]);
        of->target[i] = of->target[--of->n_targets];
    }
    if (!to->ssl.private_key[0] || !same_tls) {
        SSL_CTX_free(of->tls);
        of->tls = x ? x->tls : NULL;
        if (x)
            x->tls = NULL;
    }
    ofd_fail_conf(of, &was);
    if (to->management && !has_target(of, NULL) && management(of, &own))
        add_target(of, NULL, &own, true);
    for (uint32_t i = 0; i < to->n_controllers; i++)
        if (!has_target(of, to->controller[i].target))
            add_target(of, x, &to->controller[i], false);
    ofd_schedule(of);
}

void
ofd_commit(struct daemon *d, struct ofd_change *c)
{
    for (uint32_t i = 0; i < d->conf->n_bridges; i++) {
        const struct conf_bridge *cb = d->conf->bridges[i];
        struct ofd_control *of = ofd_find(d, cb->name);
        struct prepared *x = c->first;

        while (x && strcmp(x->name, cb->name))
            x = x->next;
        if (!of)
            of = create(d, cb->name);
        follow(of, x, cb);
    }
    ofd_abort(c);
}

/* --- showing --------------------------------------------------------------
 */

const char *
ofd_management_path(const struct daemon *d, const char *bridge)
{
    struct ofd_control *of = ofd_find(d, bridge);

    for (uint32_t i = 0; of && i < of->n_targets; i++)
        if (of->target[i]->is_management && of->target[i]->listen)
            return of->target[i]->t.path;
    return NULL;
}

static const char *const state_names[] = {"backoff", "connecting", "connected",
                                          "listening"};
static const char *const role_names[] = {"none", "equal", "master", "slave"};

static struct json_object *
connection_object(const struct ofd_peer *p, uint64_t now_ns)
{
    static const char *const async[] = {"packet_ins", "port_status",
                                        "flow_removed"};
    const struct ofconn_counters *n = ofconn_counters(p->conn);
    struct json_object *o = json_object_new_object();
    char key[40], version[8] = "none";

    if (ofconn_version(p->conn))
        snprintf(version, sizeof(version), "1.%u",
                 ofconn_version(p->conn) - 1u);
    json_add_text(o, "peer", p->name);
    json_add_text(o, "version", version);
    json_add_text(o, "role", role_names[ofconn_role(p->conn)]);
    json_add_uint(o, "seconds", (now_ns - p->since_ns) / NS_PER_S);
    json_add_uint(o, "messages_in", n->n_in);
    json_add_uint(o, "messages_out", n->n_out);
    json_add_uint(o, "errors_sent", n->n_errors);
    json_add_uint(o, "errors_received", n->n_peer_errors);
    json_add_uint(o, "bundles", n->n_bundles);
    for (int i = 0; i < OFCONN_N_ASYNC; i++) {
        json_add_uint(o, async[i], n->n_async[i]);
        snprintf(key, sizeof(key), "%s_dropped", async[i]);
        json_add_uint(o, key, n->n_dropped[i]);
    }
    return o;
}

static struct json_object *
target_object(const struct ofd_control *of, const struct ofd_target *t)
{
    struct json_object *o = json_object_new_object();
    struct json_object *peers = json_object_new_array();
    uint64_t now_ns = clock_ns();

    for (const struct ofd_peer *p = of->peers; p; p = p->next)
        if (p->target == t && p->conn)
            json_object_array_add(peers, connection_object(p, now_ns));
    json_add_text(o, "bridge", of->name);
    json_add_text(o, "target", t->conf.target);
    json_add_bool(o, "is_management", t->is_management);
    json_add_text(o, "state", state_names[t->state]);
    json_add_bool(o, "is_connected", t->state == OF_CONNECTED);
    json_add_uint(o, "seconds", (now_ns - t->since_ns) / NS_PER_S);
    json_add_text(o, "last_error", t->error);
    json_add_uint(o, "attempts", t->n_attempts);
    json_add_uint(o, "probe_ms", t->conf.probe_ms);
    json_add_uint(o, "max_backoff_ms", t->conf.max_backoff_ms);
    json_object_object_add(o, "connections", peers);
    return o;
}

struct json_object *
ofd_status(struct daemon *d, const struct conf_bridge *cb)
{
    struct json_object *a = json_object_new_array();
    struct ofd_control *of = ofd_find(d, cb->name);

    for (uint32_t i = 0; of && i < of->n_targets; i++)
        json_object_array_add(a, target_object(of, of->target[i]));
    return a;
}
