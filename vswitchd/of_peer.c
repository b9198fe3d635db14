/* SPDX-License-Identifier: Apache-2.0
 *
 * A connection: libevent's buffers on one side, the state machine of
 * lib/ofconn on the other.  One turn of a peer takes a bounded number of
 * messages; then all others have theirs.  A peer is never freed from within
 * one of its calls: it is marked, and freed by its own event.  Control thread.
 */
#include "of_int.h"

#include "base/clock.h"
#include "memory.h"
#include "ofbridge.h"
#include "reactor.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static size_t
io_waiting(void *io)
{
    struct ofd_peer *p = io;

    return evbuffer_get_length(bufferevent_get_output(p->bev));
}

static void
io_send(void *io, const void *bytes, size_t n)
{
    struct ofd_peer *p = io;

    if (bufferevent_write(p->bev, bytes, n))
        abort(); /* no memory at all */
    if (io_waiting(p) >= OFCONN_OUT_HIGH)
        p->was_high = true;
}

static const struct ofconn_io peer_io = {io_send, io_waiting};

/* --- the end --------------------------------------------------------------
 */

void
ofd_peer_destroy(struct ofd_peer *p)
{
    struct ofd_peer **at = &p->of->peers;

    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    p->of->n_peers--;
    ofconn_destroy(p->conn);
    if (p->target->peer == p)
        p->target->peer = NULL;
    if (p->again)
        event_free(p->again);
    bufferevent_free(p->bev);
    free(p);
    memory_freed();
}

/* Strangers must not fill the log; targets say for themselves. */
static bool
may_log(struct ofd_peer *p)
{
    return p->target->t.passive && !p->target->is_management &&
           log_limit_ok(&p->of->limit, 5, clock_ns());
}

/* To be freed, but not from in here. */
static void
doom(struct ofd_peer *p)
{
    if (p->doomed)
        return;
    p->doomed = true;
    bufferevent_disable(p->bev, EV_READ | EV_WRITE);
    event_active(p->again, EV_TIMEOUT, 0);
}

/* The target is told at once: it may connect again while this one ends. */
static void
leave_target(struct ofd_peer *p, const char *why)
{
    if (p->target->peer == p || p->target->t.passive)
        ofd_target_down(p->target, why);
}

void
ofd_peer_close(struct ofd_peer *p, const char *why)
{
    if (p->doomed || p->closing)
        return;
    if (p->conn && ofconn_version(p->conn) == 0 && may_log(p))
        log_info("bridge %s: %s: %s", p->of->name, p->name, why);
    leave_target(p, why);
    /* Lets go of what it holds of the switch. */
    ofconn_destroy(p->conn);
    p->conn = NULL;
    if (!io_waiting(p)) {
        doom(p);
        return;
    }
    p->closing = true;
    p->end_ns = clock_ns() + OF_LINGER_MS * NS_PER_MS;
    bufferevent_disable(p->bev, EV_READ);
    bufferevent_setwatermark(p->bev, EV_WRITE, 0, 0);
    ofd_schedule(p->of);
}

/* The state machine has had enough.  True: it has. */
static bool
is_over(struct ofd_peer *p)
{
    char why[OF_MAX_TEXT];

    if (!p->conn || !ofconn_over(p->conn))
        return !p->conn;
    snprintf(why, sizeof(why), "%s", ofconn_over(p->conn));
    ofd_peer_close(p, why);
    return true;
}

/* --- going on -------------------------------------------------------------
 */

/* Goes on when all others have had their turn. */
static void
next_turn(struct ofd_peer *p)
{
    struct timeval now = {0, 0};

    event_add(p->again, &now);
}

static void
note_up(struct ofd_peer *p)
{
    uint8_t version = ofconn_version(p->conn);

    if (!version || p->shown_version)
        return;
    p->shown_version = version;
    if (!p->target->t.passive || may_log(p))
        log_info("bridge %s: %s is connected, OpenFlow 1.%u%s", p->of->name,
                 p->name, version - 1u, p->is_tls ? " over TLS" : "");
    ofd_target_up(p->target);
}

/* Feeds what was read, as far as it is taken. */
static void
pump(struct ofd_peer *p)
{
    struct evbuffer *in = bufferevent_get_input(p->bev);
    uint64_t end = ofconn_counters(p->conn)->n_in + OFCONN_TURN;
    uint64_t now_ns = clock_ns();
    struct evbuffer_iovec v;

    ofbridge_hold(ofd_ofbridge(p->of), true);
    while (ofconn_is_ready(p->conn) &&
           evbuffer_peek(in, -1, NULL, &v, 1) > 0 && v.iov_len) {
        if (ofconn_counters(p->conn)->n_in >= end) {
            next_turn(p);
            break;
        }
        evbuffer_drain(in,
                       ofconn_input(p->conn, v.iov_base, v.iov_len, now_ns));
    }
    ofbridge_hold(ofd_ofbridge(p->of), false);
    p->is_stalled = evbuffer_get_length(in) > 0;
    if (is_over(p))
        return;
    note_up(p);
    if (ofconn_wants_turn(p->conn))
        next_turn(p);
}

void
ofd_peer_go_on(struct ofd_peer *p, uint64_t now_ns)
{
    if (!p->conn || p->doomed || p->closing)
        return;
    ofconn_go_on(p->conn, now_ns);
    if (!is_over(p))
        pump(p);
}

static void
on_again(evutil_socket_t fd, short what, void *arg)
{
    struct ofd_peer *p = arg;

    (void) fd;
    (void) what;
    if (p->doomed)
        ofd_peer_destroy(p);
    else
        ofd_peer_go_on(p, clock_ns());
}

static void
on_read(struct bufferevent *bev, void *arg)
{
    struct ofd_peer *p = arg;

    (void) bev;
    if (!p->conn || p->doomed || p->closing)
        return;
    if (!ofconn_is_ready(p->conn)) /* it is alive, if it has to wait */
        ofconn_has_sent(p->conn, clock_ns());
    pump(p);
}

static void
on_write(struct bufferevent *bev, void *arg)
{
    struct ofd_peer *p = arg;

    (void) bev;
    if (p->closing && !io_waiting(p))
        doom(p);
    if (!p->conn || p->doomed || p->closing)
        return;
    /* What the kernel takes is a sign of life only where it took no more. */
    if (p->was_high)
        ofconn_has_sent(p->conn, clock_ns());
    p->was_high = false;
    if (p->is_stalled || ofconn_wants_turn(p->conn))
        ofd_peer_go_on(p, clock_ns());
}

uint64_t
ofd_peer_tick(struct ofd_peer *p, uint64_t now_ns)
{
    uint64_t next;

    if (p->doomed)
        return CLOCK_NEVER;
    if (p->closing || !p->conn) {
        if (now_ns < p->end_ns)
            return p->end_ns;
        if (p->closing)
            doom(p);
        else
            ofd_peer_close(p, "it did not answer in time");
        return CLOCK_NEVER;
    }
    next = ofconn_tick(p->conn, now_ns);
    return is_over(p) ? CLOCK_NEVER : next;
}

/* --- the beginning --------------------------------------------------------
 */

static void
begin(struct ofd_peer *p)
{
    const struct ofconn_conf conf = {
        .is_service = p->target->t.passive,
        .probe_ns = p->target->conf.probe_ms * NS_PER_MS,
        .handshake_ns = OF_HANDSHAKE_MS * NS_PER_MS,
    };
    int one = 1, fd = bufferevent_getfd(p->bev);

    if (p->target->t.type != CONF_TARGET_UNIX && fd >= 0)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    p->since_ns = clock_ns();
    p->conn = ofconn_create(p->of->sw, &conf, &peer_io, p, p->since_ns);
    if (!p->conn)
        abort();
    bufferevent_enable(p->bev, EV_READ | EV_WRITE);
    pump(p);
    ofd_schedule(p->of);
}

static void
on_event(struct bufferevent *bev, short what, void *arg)
{
    struct ofd_peer *p = arg;
    int error = EVUTIL_SOCKET_ERROR();
    char why[OF_MAX_TEXT] = "";

    if (p->doomed)
        return;
    if (what & BEV_EVENT_CONNECTED) {
        if (!p->conn && !p->closing)
            begin(p);
        return;
    }
    if (p->closing) {
        doom(p);
        return;
    }
    if (p->is_tls)
        ofd_tls_why(bev, why);
    if (why[0]) {
        if (!p->target->t.passive || may_log(p))
            log_warn("bridge %s: %s is refused: %s", p->of->name, p->name,
                     why);
        snprintf(p->target->error, sizeof(p->target->error), "%s", why);
    }
    if (!why[0] && what & BEV_EVENT_EOF)
        snprintf(why, sizeof(why), "closed by the peer");
    else if (!why[0] && error)
        snprintf(why, sizeof(why), "%s", evutil_socket_error_to_string(error));
    else if (!why[0])
        snprintf(why, sizeof(why), "closed in the middle of a handshake");
    evbuffer_drain(bufferevent_get_output(bev), io_waiting(p));
    ofd_peer_close(p, why);
}

static struct bufferevent *
make_bev(struct ofd_peer *p, int fd)
{
    struct event_base *base = reactor_base(p->of->daemon->reactor);
    int options = BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS;
    struct bufferevent *bev;
    SSL *ssl;

    if (!p->is_tls)
        return bufferevent_socket_new(base, fd, options);
    ssl = p->of->tls ? SSL_new(p->of->tls) : NULL;
    if (!ssl)
        return NULL;
    bev = bufferevent_openssl_socket_new(base, fd, ssl,
                                         fd < 0 ? BUFFEREVENT_SSL_CONNECTING
                                                : BUFFEREVENT_SSL_ACCEPTING,
                                         options);
    if (!bev)
        SSL_free(ssl);
    else
        bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
    return bev;
}

/* What fails at once is told by no event. */
static void
connect_to(struct ofd_peer *p, const struct sockaddr *sa, int sa_len)
{
    if (bufferevent_socket_connect(p->bev, sa, sa_len))
        ofd_peer_close(p, strerror(errno));
}

void
ofd_peer_create(struct ofd_target *t, int fd, const struct sockaddr *sa,
                int sa_len, const char *name)
{
    struct ofd_peer *p = calloc(1, sizeof(*p));

    if (!p)
        abort();
    p->of = t->of;
    p->target = t;
    p->is_tls = t->t.type == CONF_TARGET_SSL;
    snprintf(p->name, sizeof(p->name), "%s", name);
    p->end_ns =
        clock_ns() + (fd < 0 ? t->backoff_ms : OF_HANDSHAKE_MS) * NS_PER_MS;
    p->again =
        event_new(reactor_base(t->of->daemon->reactor), -1, 0, on_again, p);
    p->bev = make_bev(p, fd);
    if (!p->again || !p->bev) {
        if (p->again)
            event_free(p->again);
        if (fd >= 0)
            close(fd);
        free(p);
        ofd_target_down(t, "there are no files for TLS, or no memory");
        return;
    }
    if (!t->t.passive)
        t->peer = p;
    p->next = t->of->peers;
    t->of->peers = p;
    t->of->n_peers++;
    bufferevent_setcb(p->bev, on_read, on_write, on_event, p);
    bufferevent_setwatermark(p->bev, EV_READ, 0, OF_READ_AHEAD);
    bufferevent_setwatermark(p->bev, EV_WRITE, OF_WRITE_LOW, 0);
    bufferevent_set_max_single_read(p->bev, OF_READ_AHEAD / 4);
    if (fd >= 0 && !p->is_tls)
        begin(p);
    else if (fd < 0)
        connect_to(p, sa, sa_len);
}
