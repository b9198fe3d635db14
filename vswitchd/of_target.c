/* SPDX-License-Identifier: Apache-2.0
 *
 * Where connections come from: targets that listen, and targets that connect,
 * again and again with growing pauses.  See of_int.h.  Control thread.
 */
#include "of_int.h"

#include "base/clock.h"
#include "files.h"
#include "reactor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <event2/util.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 16

union address {
    struct sockaddr sa;      /* any */
    struct sockaddr_in in;   /* IPv4 */
    struct sockaddr_in6 in6; /* IPv6 */
    struct sockaddr_un un;   /* a path */
};

/* The address of a target; an empty IP is any of this host. */
static socklen_t
address_of(const struct conf_target *t, union address *a)
{
    memset(a, 0, sizeof(*a));
    if (t->type == CONF_TARGET_UNIX) {
        a->un.sun_family = AF_UNIX;
        strcpy(a->un.sun_path, t->path);
        return sizeof(a->un);
    }
    if (t->ip[0] && inet_pton(AF_INET, t->ip, &a->in.sin_addr) == 1) {
        a->in.sin_family = AF_INET;
        a->in.sin_port = htons(t->port);
        return sizeof(a->in);
    }
    a->in6.sin6_family = AF_INET6;
    a->in6.sin6_port = htons(t->port);
    if (t->ip[0])
        inet_pton(AF_INET6, t->ip, &a->in6.sin6_addr);
    return sizeof(a->in6);
}

static void
set_state(struct ofd_target *t, enum ofd_state state)
{
    t->state = state;
    t->since_ns = clock_ns();
}

/* --- listening ------------------------------------------------------------
 */

static int
listen_ip(const struct conf_target *t, int *out, struct err *err)
{
    union address a;
    socklen_t len = address_of(t, &a);
    int one = 1, zero = 0, fd, error;

    fd = socket(a.sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 && a.sa.sa_family == AF_INET6 && !t->ip[0]) {
        /* A host without IPv6. */
        memset(&a, 0, sizeof(a));
        a.in.sin_family = AF_INET;
        a.in.sin_port = htons(t->port);
        len = sizeof(a.in);
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    }
    if (fd < 0)
        return err_sys(err, errno, "cannot make a socket");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (a.sa.sa_family == AF_INET6) /* without an address: IPv4 too */
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, t->ip[0] ? &one : &zero,
                   sizeof(one));
    if (bind(fd, &a.sa, len) || listen(fd, BACKLOG)) {
        error = errno;
        close(fd);
        return err_sys(err, error, "cannot listen on port %u%s%s", t->port,
                       t->ip[0] ? " of " : "", t->ip);
    }
    *out = fd;
    return 0;
}

int
ofd_target_listen(const struct conf_target *t, const char *path, int *fd,
                  int *lock_fd, struct err *err)
{
    int error;

    *lock_fd = -1;
    if (t->type != CONF_TARGET_UNIX) {
        error = listen_ip(t, fd, err);
    } else {
        error = files_listen_unix(t->path, fd, lock_fd, err);
        if (error)
            files_unlock(t->path, *lock_fd);
    }
    if (!error || !err)
        return error;
    snprintf(err->path, sizeof(err->path), "%s", path);
    if (!err->allowed[0])
        snprintf(err->allowed, sizeof(err->allowed),
                 "where nobody else listens, and the daemon may");
    return error;
}

static void
on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *sa,
          int len, void *arg)
{
    struct ofd_target *t = arg;
    struct ofd_control *of = t->of;
    char ip[INET6_ADDRSTRLEN] = "", name[64];
    unsigned port = 0;

    (void) l;
    (void) len;
    if (sa->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const void *) sa;

        inet_ntop(AF_INET, &in->sin_addr, ip, sizeof(ip));
        port = ntohs(in->sin_port);
    } else if (sa->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const void *) sa;

        inet_ntop(AF_INET6, &in6->sin6_addr, ip, sizeof(ip));
        port = ntohs(in6->sin6_port);
    }
    if (ip[0])
        snprintf(name, sizeof(name),
                 sa->sa_family == AF_INET ? "%s:%u" : "[%s]:%u", ip, port);
    else
        snprintf(name, sizeof(name), "local");
    if (of->n_peers >= OF_MAX_PEERS) {
        of->n_refused++;
        if (log_limit_ok(&of->limit, 3, clock_ns()))
            log_warn("bridge %s: %s is refused: %u OpenFlow connections are "
                     "the most",
                     of->name, name, OF_MAX_PEERS);
        close(fd);
        return;
    }
    ofd_peer_create(t, fd, NULL, 0, name);
    ofd_schedule(of);
}

/* --- life -----------------------------------------------------------------
 */

struct ofd_target *
ofd_target_create(struct ofd_control *of, const struct conf_controller *c,
                  bool is_management)
{
    struct ofd_target *t = calloc(1, sizeof(*t));
    const char *why;

    if (!t || !conf_target_parse(c->target, &t->t, &why))
        abort(); /* no memory at all; it was validated */
    t->of = of;
    t->conf = *c;
    t->is_management = is_management;
    t->lock_fd = -1;
    t->backoff_ms = OF_MIN_BACKOFF_MS;
    set_state(t, OF_WAITING);
    return t;
}

static void
stop_listening(struct ofd_target *t)
{
    if (!t->listen)
        return;
    evconnlistener_free(t->listen);
    t->listen = NULL;
    if (t->t.type == CONF_TARGET_UNIX && unlink(t->t.path))
        log_warn("cannot remove %s: %s", t->t.path, strerror(errno));
    files_unlock(t->t.path, t->lock_fd);
    t->lock_fd = -1;
}

void
ofd_target_destroy(struct ofd_target *t)
{
    struct ofd_peer *next;

    stop_listening(t);
    for (struct ofd_peer *p = t->of->peers; p; p = next) {
        next = p->next;
        if (p->target == t)
            ofd_peer_destroy(p);
    }
    free(t);
}

static void
say_error(struct ofd_target *t, const char *why)
{
    bool is_new = strcmp(t->error, why) != 0;

    snprintf(t->error, sizeof(t->error), "%s", why);
    if (is_new)
        log_warn("bridge %s: %s: %s", t->of->name, t->conf.target, why);
    else
        log_debug("bridge %s: %s: %s", t->of->name, t->conf.target, why);
}

/* A pause that grows, and that not all bridges make at the same time. */
static void
back_off(struct ofd_target *t)
{
    uint32_t ms = t->backoff_ms, random;

    if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
        random = 0;
    t->backoff_ms =
        ms > t->conf.max_backoff_ms / 2 ? t->conf.max_backoff_ms : ms * 2;
    ms -= random % (ms / 4 + 1);
    t->retry_ns = clock_ns() + ms * NS_PER_MS;
    set_state(t, OF_WAITING);
    ofd_schedule(t->of);
}

static void
start_listening(struct ofd_target *t, int fd, int lock_fd)
{
    struct err err;

    err_clear(&err);
    t->n_attempts++;
    if (fd < 0 && ofd_target_listen(&t->t, "", &fd, &lock_fd, &err)) {
        say_error(t, err.msg);
        back_off(t);
        return;
    }
    t->listen = evconnlistener_new(reactor_base(t->of->daemon->reactor),
                                   on_accept, t, LEV_OPT_CLOSE_ON_FREE, 0, fd);
    if (!t->listen)
        abort();
    t->lock_fd = lock_fd;
    t->error[0] = '\0';
    set_state(t, OF_LISTENING);
    log_info("bridge %s: listening on %s", t->of->name, t->conf.target);
}

static void
start_connecting(struct ofd_target *t)
{
    union address a;
    socklen_t len = address_of(&t->t, &a);

    t->n_attempts++;
    set_state(t, OF_CONNECTING);
    ofd_peer_create(t, -1, &a.sa, (int) len, t->conf.target);
    ofd_schedule(t->of);
}

void
ofd_target_start(struct ofd_target *t, int fd, int lock_fd)
{
    if (t->t.passive)
        start_listening(t, fd, lock_fd);
    else
        start_connecting(t);
}

void
ofd_target_up(struct ofd_target *t)
{
    if (t->t.passive)
        return;
    t->backoff_ms = OF_MIN_BACKOFF_MS;
    t->error[0] = '\0';
    set_state(t, OF_CONNECTED);
    ofd_schedule(t->of); /* the fail mode may end */
}

void
ofd_target_down(struct ofd_target *t, const char *why)
{
    if (t->t.passive) /* who comes there may go */
        return;
    t->peer = NULL;
    say_error(t, why[0] ? why : "closed");
    back_off(t);
}

uint64_t
ofd_target_tick(struct ofd_target *t, uint64_t now_ns)
{
    if (t->state != OF_WAITING)
        return CLOCK_NEVER;
    if (now_ns >= t->retry_ns)
        ofd_target_start(t, -1, -1);
    return t->state == OF_WAITING ? t->retry_ns : CLOCK_NEVER;
}
