/* SPDX-License-Identifier: Apache-2.0
 *
 * The transport of JSON-RPC: see rpc_server.h.
 *
 * A client has one request executed a turn of the loop, also of a batch; then
 * all others have theirs.  One that sends faster than it reads is not read
 * from, and nothing of it is executed, meanwhile: a batch goes on when its
 * first answers have been read.  One that does not read at all runs into the
 * write time-out; one that subscribed and does not read, into the bound of its
 * queue.  No client is freed while one of its requests is being executed: it
 * is marked, and freed by its own event.
 */
#include "rpc_server.h"

#include "base/log.h"
#include "conf/conf.h"
#include "daemon.h"
#include "memory.h"

#include <assert.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define MAX_LISTENERS   2
#define READ_AHEAD      65536 /* octets that libevent reads ahead */
#define REQUESTS_A_TURN 1     /* of one client, before others have theirs */
/* With so much waiting to be written, nothing more is executed: one more
 * answer, and the brackets and commas around it, always fit. */
#define OUTPUT_HIGH (RPC_SERVER_MAX_OUTPUT - RPC_MAX_ANSWER - 16)
#define OUTPUT_LOW  262144
#define OUTPUT_BIG  65536 /* memory is given back behind so much */
/* A client that takes nothing, or stops in the middle of a text, that long. */
#define WRITE_TIMEOUT_S 10
#define READ_TIMEOUT_S  30

struct rpc_client {
    struct rpc_server *server;    /* whose client it is */
    struct bufferevent *bev;      /* its buffers */
    struct event *again;          /* runs pump() or frees it */
    struct rpc_stream *stream;    /* finds the texts */
    struct rpc_run *run;          /* text in execution, or null */
    struct evbuffer *later;       /* events while it is: no answer is cut */
    bool is_big;                  /* much memory went into it */
    bool doomed;                  /* to be freed by `again` */
    bool closing;                 /* freed once all is written */
    bool held;                    /* not read from: output is high */
    bool ended;                   /* it sends nothing more */
    unsigned kinds;               /* events it wants, bits */
    char port[CONF_NAME_MAX + 1]; /* of that port only; "": of all */
};

struct rpc_server {
    struct daemon *daemon;                             /* what it serves */
    struct event_base *base;                           /* the loop */
    struct evconnlistener *listen[MAX_LISTENERS];      /* where clients come */
    struct rpc_client *client[RPC_SERVER_MAX_CLIENTS]; /* null: free */
    struct rpc_client *has_long;  /* whose text may be long; null: nobody's */
    struct rpc_server_counters n; /* what happened */
};

/* Whether the text of a client may be long: that of one at a time may, so that
 * all of them together do not take the memory of so many. */
static bool
may_be_long(void *ctx)
{
    struct rpc_client *c = ctx;

    if (!c->server->has_long)
        c->server->has_long = c;
    return c->server->has_long == c;
}

/* The text of the client, if it was long, is done. */
static void
end_long(struct rpc_client *c)
{
    if (c->server->has_long != c)
        return;
    c->server->has_long = NULL;
    c->is_big = true;
}

static void
free_client(struct rpc_client *c)
{
    struct rpc_server *s = c->server;

    for (int i = 0; i < RPC_SERVER_MAX_CLIENTS; i++)
        if (s->client[i] == c) {
            s->client[i] = NULL;
            s->n.n_clients--;
        }
    if (c->again)
        event_free(c->again);
    if (c->bev)
        bufferevent_free(c->bev);
    if (c->later)
        evbuffer_free(c->later);
    end_long(c);
    rpc_run_end(c->run);
    rpc_stream_destroy(c->stream);
    if (c->is_big)
        memory_freed();
    free(c);
}

/* To be freed, but not from in here. */
static void
doom(struct rpc_client *c)
{
    c->doomed = true;
    c->kinds = 0;
    bufferevent_disable(c->bev, EV_READ | EV_WRITE);
    event_active(c->again, EV_TIMEOUT, 0);
}

static void
drop(struct rpc_client *c, const char *why)
{
    if (c->doomed)
        return;
    c->server->n.n_dropped++;
    log_info("a client is dropped: %s", why);
    doom(c);
}

/* Queues text for a client; an event waits until no answer is under way. */
static void
send_text(struct rpc_client *c, const char *text, bool is_event)
{
    struct evbuffer *out = bufferevent_get_output(c->bev);
    size_t n = strlen(text);
    size_t waiting = evbuffer_get_length(out) + evbuffer_get_length(c->later);

    if (c->doomed || c->closing)
        return;
    if (waiting + n > RPC_SERVER_MAX_OUTPUT) {
        drop(c, "it does not read what it asked for");
        return;
    }
    c->is_big |= waiting + n > OUTPUT_BIG;
    if (is_event && c->run ? evbuffer_add(c->later, text, n)
                           : bufferevent_write(c->bev, text, n))
        drop(c, "no memory for its answers");
}

/* A text that is JSON, but that is not taken. */
static void
refuse(struct rpc_client *c, enum rpc_code code)
{
    char *text = rpc_error_text(code, rpc_stream_reason(c->stream));

    c->server->n.n_texts++;
    end_long(c);
    send_text(c, text, false);
    free(text);
}

/* What comes is no JSON: says so, and closes once that is written. */
static void
reject(struct rpc_client *c, enum rpc_code code)
{
    char *text = rpc_error_text(code, rpc_stream_reason(c->stream));

    c->server->n.n_garbage++;
    end_long(c);
    send_text(c, text, false);
    free(text);
    if (c->doomed)
        return;
    c->closing = true;
    c->kinds = 0;
    bufferevent_disable(c->bev, EV_READ);
    evbuffer_drain(bufferevent_get_input(c->bev),
                   evbuffer_get_length(bufferevent_get_input(c->bev)));
}

static void
begin(struct rpc_client *c, struct json_object *text)
{
    c->server->n.n_texts++;
    c->run = rpc_run_begin(c->server->daemon->registry, text);
}

/* Executes the next request of the text that is under way. */
static void
execute(struct rpc_client *c)
{
    char *answer;
    bool more = rpc_run_step(c->run, c, &answer);

    c->server->n.n_requests++;
    if (answer)
        send_text(c, answer, false);
    free(answer);
    if (more)
        return;
    rpc_run_end(c->run);
    c->run = NULL;
    end_long(c);
    if (c->is_big)
        memory_freed();
    c->is_big = false;
    if (!c->doomed && evbuffer_get_length(c->later))
        bufferevent_write_buffer(c->bev, c->later);
}

/* What a piece of the stream, or its end, has come to.  False: there is
 * nothing to go on with. */
static bool
take(struct rpc_client *c, enum rpc_feed fed, struct json_object *text,
     enum rpc_code code)
{
    switch (fed) {
    case RPC_FEED_ERROR:
        reject(c, code);
        return false;
    case RPC_FEED_REFUSED:
        refuse(c, code);
        break;
    case RPC_FEED_TEXT:
        begin(c, text);
        break;
    case RPC_FEED_MORE:
        break;
    }
    return true;
}

/* Takes one step on what was read.  False: there is nothing to go on with. */
static bool
step(struct rpc_client *c, int *n_requests)
{
    struct evbuffer *in = bufferevent_get_input(c->bev);
    struct json_object *text = NULL;
    struct evbuffer_iovec v;
    enum rpc_code code = RPC_PARSE_ERROR;
    enum rpc_feed fed;
    size_t used = 0;

    if (evbuffer_peek(in, -1, NULL, &v, 1) < 1 || !v.iov_len)
        return false;
    fed =
        rpc_stream_feed(c->stream, v.iov_base, v.iov_len, &used, &text, &code);
    evbuffer_drain(in, used);
    if (fed == RPC_FEED_REFUSED)
        ++*n_requests; /* the answer is work too */
    return take(c, fed, text, code);
}

/* Goes on when all others have had their turn.  (An event that is made active
 * would run before the loop looks at any descriptor.) */
static void
next_turn(struct rpc_client *c)
{
    struct timeval now = {0, 0};

    event_add(c->again, &now);
}

/* Everything that the client sent is done: it goes once all is written (who
 * closed only its sending half still reads). */
static void
finish(struct rpc_client *c)
{
    c->closing = true;
    c->kinds = 0;
    if (!evbuffer_get_length(bufferevent_get_output(c->bev)))
        doom(c);
}

/* The client sends nothing more, and all before that is done. */
static void
end_stream(struct rpc_client *c)
{
    struct json_object *text = NULL;
    enum rpc_code code = RPC_PARSE_ERROR;
    enum rpc_feed fed = rpc_stream_end(c->stream, &text, &code);

    take(c, fed, text, code);
    if (c->run || fed == RPC_FEED_REFUSED)
        next_turn(c);
    else if (!c->doomed && !c->closing)
        finish(c);
}

static void
pump(struct rpc_client *c)
{
    struct evbuffer *out = bufferevent_get_output(c->bev);
    int n_requests = 0;

    while (!c->doomed && !c->closing) {
        if (evbuffer_get_length(out) > OUTPUT_HIGH) {
            c->held = true;
            bufferevent_disable(c->bev, EV_READ);
            return;
        }
        if (n_requests >= REQUESTS_A_TURN) {
            next_turn(c);
            return;
        }
        if (c->run) {
            n_requests++;
            execute(c);
        } else if (!step(c, &n_requests)) {
            break;
        }
    }
    if (c->ended && !c->doomed && !c->closing)
        end_stream(c);
}

static void
on_again(evutil_socket_t fd, short what, void *arg)
{
    struct rpc_client *c = arg;

    (void) fd;
    (void) what;
    if (c->doomed)
        free_client(c);
    else
        pump(c);
}

static void
on_read(struct bufferevent *bev, void *arg)
{
    struct rpc_client *c = arg;

    (void) bev;
    if (!c->doomed && !c->held && !event_pending(c->again, EV_TIMEOUT, NULL))
        pump(c);
}

/* The output has come down to OUTPUT_LOW, or is empty. */
static void
on_written(struct bufferevent *bev, void *arg)
{
    struct rpc_client *c = arg;

    if (c->doomed)
        return;
    if (c->closing) {
        if (!evbuffer_get_length(bufferevent_get_output(bev)))
            doom(c);
        return;
    }
    if (c->held) {
        c->held = false;
        if (!c->ended)
            bufferevent_enable(bev, EV_READ);
        next_turn(c);
    }
}

/* A time-out may have run out while we did not look at the socket, or may
 * count from when a long turn of the loop began: what matters is whether the
 * client has done its part by now. */
static bool
has_moved(const struct rpc_client *c, short events)
{
    struct pollfd pfd = {bufferevent_getfd(c->bev), events, 0};

    return poll(&pfd, 1, 0) == 1 && pfd.revents & events;
}

static void
on_event(struct bufferevent *bev, short what, void *arg)
{
    struct rpc_client *c = arg;

    if (c->doomed)
        return;
    if (what & BEV_EVENT_TIMEOUT && what & BEV_EVENT_WRITING) {
        if (has_moved(c, POLLOUT))
            bufferevent_enable(bev, EV_WRITE);
        else
            drop(c, "it has not read anything for ten seconds");
    } else if (what & BEV_EVENT_TIMEOUT) {
        /* Waiting for events in silence is fine; half a text is not. */
        if (!c->held && !c->run && !rpc_stream_is_idle(c->stream) &&
            !has_moved(c, POLLIN))
            drop(c, "it stopped in the middle of a request");
        else if (!c->held && !c->closing)
            bufferevent_enable(bev, EV_READ);
    } else {
        bufferevent_disable(bev, EV_READ);
        c->ended = true;
        if (what & BEV_EVENT_ERROR)
            doom(c);
        else if (!c->held && !event_pending(c->again, EV_TIMEOUT, NULL))
            pump(c);
    }
}

static struct rpc_client *
new_client(struct rpc_server *s, int fd)
{
    struct timeval rd = {READ_TIMEOUT_S, 0}, wr = {WRITE_TIMEOUT_S, 0};
    struct rpc_client *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->server = s;
    c->stream = rpc_stream_create();
    if (c->stream)
        rpc_stream_let_long(c->stream, may_be_long, c);
    c->later = evbuffer_new();
    c->again = event_new(s->base, -1, 0, on_again, c);
    c->bev = bufferevent_socket_new(s->base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (!c->stream || !c->later || !c->again || !c->bev) {
        if (!c->bev)
            close(fd);
        free_client(c);
        return NULL;
    }
    bufferevent_setcb(c->bev, on_read, on_written, on_event, c);
    bufferevent_setwatermark(c->bev, EV_READ, 0, READ_AHEAD);
    bufferevent_setwatermark(c->bev, EV_WRITE, OUTPUT_LOW, 0);
    bufferevent_set_timeouts(c->bev, &rd, &wr);
    bufferevent_enable(c->bev, EV_READ | EV_WRITE);
    return c;
}

/* One client too many: is told, and let go. */
static void
turn_away(struct rpc_server *s, int fd)
{
    char *text;
    char message[80];

    s->n.n_refused++;
    snprintf(message, sizeof(message),
             "the daemon has %d clients, more are not allowed",
             RPC_SERVER_MAX_CLIENTS);
    text = rpc_error_text(RPC_BUSY, message);
    if (send(fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        log_debug("a client that was turned away did not hear it");
    free(text);
    shutdown(fd, SHUT_WR);
    close(fd);
}

static void
on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *sa,
          int len, void *arg)
{
    struct rpc_server *s = arg;
    struct rpc_client *c;
    int i = 0;

    (void) l;
    (void) sa;
    (void) len;
    while (i < RPC_SERVER_MAX_CLIENTS && s->client[i])
        i++;
    if (i == RPC_SERVER_MAX_CLIENTS) {
        turn_away(s, fd);
        return;
    }
    c = new_client(s, fd);
    if (!c) {
        log_warn("no memory for a client");
        return;
    }
    s->client[i] = c;
    s->n.n_clients++;
    s->n.n_accepted++;
}

static void
enable_again(evutil_socket_t fd, short what, void *arg)
{
    (void) fd;
    (void) what;
    evconnlistener_enable(arg);
}

/* Mostly for want of descriptors: waits a second rather than spin. */
static void
on_accept_error(struct evconnlistener *l, void *arg)
{
    struct rpc_server *s = arg;
    struct timeval tv = {1, 0};

    log_warn("cannot accept a client: %s", strerror(errno));
    evconnlistener_disable(l);
    event_base_once(s->base, -1, EV_TIMEOUT, enable_again, l, &tv);
}

int
rpc_server_create(struct daemon *d, struct rpc_server **out, struct err *err)
{
    struct rpc_server *s = calloc(1, sizeof(*s));

    if (!s)
        return err_sys(err, ENOMEM, "RPC server");
    s->daemon = d;
    s->base = reactor_base(d->reactor);
    *out = s;
    return 0;
}

int
rpc_server_listen(struct rpc_server *s, int fd, struct err *err)
{
    int i = s->listen[0] ? 1 : 0;

    assert(!s->listen[i]);
    /* Backlog 0: it listens already. */
    s->listen[i] =
        evconnlistener_new(s->base, on_accept, s,
                           LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0,
                           fd);
    if (!s->listen[i]) {
        close(fd);
        return err_sys(err, ENOMEM, "RPC server");
    }
    evconnlistener_set_error_cb(s->listen[i], on_accept_error);
    return 0;
}

void
rpc_server_destroy(struct rpc_server *s)
{
    if (!s)
        return;
    for (int i = 0; i < MAX_LISTENERS; i++)
        if (s->listen[i])
            evconnlistener_free(s->listen[i]);
    for (int i = 0; i < RPC_SERVER_MAX_CLIENTS; i++)
        if (s->client[i])
            free_client(s->client[i]);
    free(s);
}

void
rpc_server_notify(struct rpc_server *s, enum event_kind kind, const char *port,
                  const char *text)
{
    for (int i = 0; s && i < RPC_SERVER_MAX_CLIENTS; i++) {
        struct rpc_client *c = s->client[i];

        if (c && c->kinds & kind &&
            (!c->port[0] || !port || !strcmp(c->port, port)))
            send_text(c, text, true);
    }
}

bool
rpc_server_wants(const struct rpc_server *s, enum event_kind kind)
{
    for (int i = 0; i < RPC_SERVER_MAX_CLIENTS; i++)
        if (s->client[i] && s->client[i]->kinds & kind)
            return true;
    return false;
}

const struct rpc_server_counters *
rpc_server_counters(const struct rpc_server *s)
{
    return &s->n;
}

void
rpc_client_subscribe(struct rpc_client *c, unsigned kinds, const char *port)
{
    c->kinds = kinds;
    snprintf(c->port, sizeof(c->port), "%s", port);
}
