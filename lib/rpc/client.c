/* SPDX-License-Identifier: Apache-2.0
 *
 * The blocking client of the daemon, for sluicectl and other programs.  Every
 * wait has an end: a daemon that does not answer is an error, not a hang.  One
 * connection belongs to one thread.
 */
#include "rpc/rpc.h"
#include "base/clock.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CHUNK             16384 /* octets of one read */
#define RETRY_MS          10    /* between attempts to connect */
#define MAX_NOTIFICATIONS 4096  /* that wait while a call is under way */

/* An answer may be longer than a request: the whole configuration, a full
 * MAC table. */
static const struct rpc_limits answer_limits = {.octets = 64 * 1024 * 1024,
                                                .depth = 64,
                                                .containers = 0};

struct rpc_conn {
    int fd;                    /* connected, non-blocking */
    int timeout_ms;            /* of connect and of each call; -1: none */
    int64_t last_id;           /* of the latest call */
    struct rpc_stream *stream; /* what arrives */
    struct json_object *queue; /* notifications not yet asked for */
    size_t queue_head;         /* those before were taken */
    size_t n_read, n_eaten;    /* of buf */
    char where[120];           /* for messages */
    char buf[CHUNK];           /* read, not yet parsed */
};

/* The moment at which to give up. */
static uint64_t
deadline_of(int timeout_ms)
{
    if (timeout_ms < 0)
        return CLOCK_NEVER;
    return clock_ns() + (uint64_t) timeout_ms * NS_PER_MS;
}

/* Waits for events on fd.  0, ETIMEDOUT, or what poll said. */
static int
wait_for(int fd, short events, uint64_t deadline)
{
    struct pollfd p = {.fd = fd, .events = events};

    for (;;) {
        uint64_t now = clock_ns(), left_ms;
        int timeout = -1, n;

        if (deadline != CLOCK_NEVER) {
            left_ms = now >= deadline
                          ? 0
                          : (deadline - now + NS_PER_MS - 1) / NS_PER_MS;
            timeout = left_ms > INT32_MAX ? INT32_MAX : (int) left_ms;
        }
        n = poll(&p, 1, timeout);
        if (n > 0)
            return 0;
        if (n == 0 && clock_ns() >= deadline)
            return ETIMEDOUT;
        if (n < 0 && errno != EINTR)
            return errno;
    }
}

/* --- connecting ---------------------------------------------------------- */

static int
unix_address(const char *path, struct sockaddr_storage *ss, socklen_t *len,
             struct err *err)
{
    struct sockaddr_un *un = (struct sockaddr_un *) ss;
    size_t n = strlen(path);
    char allowed[48];

    if (!n || n >= sizeof(un->sun_path)) {
        snprintf(allowed, sizeof(allowed), "a path of 1 to %zu octets",
                 sizeof(un->sun_path) - 1);
        return err_set(err, EINVAL, NULL, path, allowed,
                       "socket '%.80s' cannot be: allowed is %s", path,
                       allowed);
    }
    un->sun_family = AF_UNIX;
    memcpy(un->sun_path, path, n + 1);
    *len = sizeof(*un);
    return 0;
}

static int
tcp_address(const char *text, struct sockaddr_storage *ss, socklen_t *len,
            struct err *err)
{
    struct sockaddr_in *in = (struct sockaddr_in *) ss;
    const char *colon = strrchr(text, ':');
    char host[64];
    int64_t port;

    if (colon && (size_t) (colon - text) < sizeof(host)) {
        snprintf(host, sizeof(host), "%.*s", (int) (colon - text), text);
        in->sin_family = AF_INET;
        if (inet_pton(AF_INET, host, &in->sin_addr) == 1 &&
            !rpc_parse_quantity(colon + 1, RPC_U_NONE, &port, NULL) &&
            port > 0 && port < 65536) {
            in->sin_port = htons((uint16_t) port);
            *len = sizeof(*in);
            return 0;
        }
    }
    return err_set(err, EINVAL, NULL, text, "tcp:ADDRESS:PORT",
                   "'tcp:%.80s' is no address; allowed: tcp:ADDRESS:PORT, "
                   "like tcp:127.0.0.1:6690",
                   text);
}

/* Connects fd within the time.  0 or an errno. */
static int
connect_within(int fd, const struct sockaddr_storage *ss, socklen_t len,
               uint64_t deadline)
{
    socklen_t size = sizeof(int);
    int error = 0;

    /* A Unix socket whose backlog is full says EAGAIN, and cannot be waited
     * for: it is asked again. */
    while (connect(fd, (const struct sockaddr *) ss, len)) {
        if (errno == EAGAIN && clock_ns() >= deadline)
            return ETIMEDOUT;
        if (errno == EAGAIN)
            poll(NULL, 0, RETRY_MS);
        else if (errno == EINPROGRESS || errno == EALREADY)
            break;
        else if (errno == EISCONN)
            return 0;
        else if (errno != EINTR)
            return errno;
    }
    error = wait_for(fd, POLLOUT, deadline);
    if (!error && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size))
        error = errno;
    return error;
}

int
rpc_connect(const char *where, int timeout_ms, struct rpc_conn **out,
            struct err *err)
{
    struct sockaddr_storage ss;
    struct rpc_conn *c;
    socklen_t len = 0;
    int fd, error;

    memset(&ss, 0, sizeof(ss));
    error = strncmp(where, "tcp:", 4) ? unix_address(where, &ss, &len, err)
                                      : tcp_address(where + 4, &ss, &len, err);
    if (error)
        return error;
    fd = socket(ss.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_sys(err, errno, "cannot make a socket");
    error = connect_within(fd, &ss, len, deadline_of(timeout_ms));
    if (error) {
        close(fd);
        return err_sys(err, error, "no daemon answers at %.100s", where);
    }
    c = calloc(1, sizeof(*c));
    if (!c)
        abort();
    c->fd = fd;
    c->timeout_ms = timeout_ms;
    c->stream = rpc_stream_create_limited(&answer_limits);
    c->queue = json_object_new_array();
    snprintf(c->where, sizeof(c->where), "%s", where);
    *out = c;
    return 0;
}

void
rpc_close(struct rpc_conn *c)
{
    if (!c)
        return;
    close(c->fd);
    rpc_stream_destroy(c->stream);
    json_object_put(c->queue);
    free(c);
}

int
rpc_conn_fd(const struct rpc_conn *c)
{
    return c->fd;
}

/* --- sending and receiving ------------------------------------------------
 */

static int
send_all(struct rpc_conn *c, const char *data, size_t n, uint64_t deadline,
         struct err *err)
{
    while (n) {
        ssize_t sent = send(c->fd, data, n, MSG_NOSIGNAL);
        int error = sent < 0 ? errno : 0;

        if (error == EINTR)
            continue;
        if (error == EAGAIN || error == EWOULDBLOCK) {
            error = wait_for(c->fd, POLLOUT, deadline);
            if (!error)
                continue;
        }
        if (error)
            return err_sys(err, error, "cannot send to the daemon at %s",
                           c->where);
        data += sent;
        n -= (size_t) sent;
    }
    return 0;
}

static int
fill(struct rpc_conn *c, uint64_t deadline, struct err *err)
{
    for (;;) {
        ssize_t n = read(c->fd, c->buf, sizeof(c->buf));
        int error = n < 0 ? errno : 0;

        if (n > 0) {
            c->n_read = (size_t) n;
            c->n_eaten = 0;
            return 0;
        }
        if (n == 0)
            return err_set(err, ECONNRESET, NULL, NULL, NULL,
                           "the daemon at %s closed the connection", c->where);
        if (error == EINTR)
            continue;
        if (error == EAGAIN || error == EWOULDBLOCK) {
            error = wait_for(c->fd, POLLIN, deadline);
            if (!error)
                continue;
        }
        if (error == ETIMEDOUT)
            return err_set(err, error, NULL, NULL, NULL,
                           "the daemon at %s did not answer in time",
                           c->where);
        return err_sys(err, error, "cannot read from the daemon at %s",
                       c->where);
    }
}

/* The next JSON text that arrives. */
static int
next_text(struct rpc_conn *c, uint64_t deadline, struct json_object **out,
          struct err *err)
{
    for (;;) {
        enum rpc_code code;
        enum rpc_feed fed;
        size_t used;
        int error;

        if (c->n_eaten == c->n_read) {
            error = fill(c, deadline, err);
            if (error)
                return error;
        }
        fed = rpc_stream_feed(c->stream, c->buf + c->n_eaten,
                              c->n_read - c->n_eaten, &used, out, &code);
        c->n_eaten += used;
        if (fed == RPC_FEED_TEXT)
            return 0;
        if (fed == RPC_FEED_ERROR || fed == RPC_FEED_REFUSED)
            return err_set(err, EBADMSG, NULL, NULL, NULL,
                           "what answers at %s is no JSON-RPC (%s)", c->where,
                           rpc_stream_reason(c->stream));
    }
}

static bool
is_notification(struct json_object *o)
{
    return json_object_object_get_ex(o, "method", NULL) &&
           !json_object_object_get_ex(o, "id", NULL);
}

/* Keeps a notification for later; takes it over. */
static int
enqueue(struct rpc_conn *c, struct json_object *o, struct err *err)
{
    if (json_object_array_length(c->queue) - c->queue_head >=
        MAX_NOTIFICATIONS) {
        json_object_put(o);
        return err_set(err, ENOBUFS, NULL, NULL, NULL,
                       "the daemon at %s sends notifications, but no answer",
                       c->where);
    }
    json_object_array_add(c->queue, o);
    return 0;
}

/* --- calls ----------------------------------------------------------------
 */

static int
send_call(struct rpc_conn *c, const char *method, struct json_object *params,
          uint64_t deadline, struct err *err)
{
    struct json_object *o = json_object_new_object();
    const char *text;
    int error;

    json_object_object_add(o, "jsonrpc", json_object_new_string("2.0"));
    json_object_object_add(o, "id", json_object_new_int64(++c->last_id));
    json_object_object_add(o, "method", json_object_new_string(method));
    if (params)
        json_object_object_add(o, "params", params);
    text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
    error = send_all(c, text, strlen(text), deadline, err);
    if (!error)
        error = send_all(c, "\n", 1, deadline, err);
    json_object_put(o);
    return error;
}

/* Does the answer belong to the latest call?  An error with id null does: the
 * daemon could not read the request. */
static bool
is_ours(const struct rpc_conn *c, struct json_object *answer)
{
    struct json_object *id;

    if (!json_object_object_get_ex(answer, "id", &id))
        return false;
    if (!id)
        return json_object_object_get_ex(answer, "error", NULL);
    return json_object_is_type(id, json_type_int) &&
           json_object_get_int64(id) == c->last_id;
}

static int
take_answer(struct rpc_conn *c, struct json_object *answer,
            struct json_object **result, struct json_object **error,
            struct err *err)
{
    struct json_object *v, *message;

    if (json_object_object_get_ex(answer, "error", &v)) {
        message = json_object_object_get(v, "message");
        *error = json_object_get(v);
        return err_set(err, EREMOTEIO, NULL, NULL, NULL, "%s",
                       message ? json_object_get_string(message)
                               : "the daemon refused");
    }
    if (!json_object_object_get_ex(answer, "result", &v))
        return err_set(err, EBADMSG, NULL, NULL, NULL,
                       "what answers at %s is no JSON-RPC 2.0", c->where);
    *result = json_object_get(v);
    return 0;
}

int
rpc_call(struct rpc_conn *c, const char *method, struct json_object *params,
         struct json_object **result, struct json_object **error,
         struct err *err)
{
    uint64_t deadline = deadline_of(c->timeout_ms);
    int failed = send_call(c, method, params, deadline, err);

    while (!failed) {
        struct json_object *o = NULL;

        failed = next_text(c, deadline, &o, err);
        if (failed)
            break;
        if (is_notification(o)) {
            failed = enqueue(c, o, err);
        } else if (is_ours(c, o)) {
            failed = take_answer(c, o, result, error, err);
            json_object_put(o);
            break;
        } else {
            /* The late answer to a call that was given up. */
            json_object_put(o);
        }
    }
    return failed;
}

int
rpc_next_notification(struct rpc_conn *c, int timeout_ms,
                      struct json_object **out, struct err *err)
{
    uint64_t deadline = deadline_of(timeout_ms);
    struct json_object *o = NULL;
    int error;

    if (c->queue_head < json_object_array_length(c->queue)) {
        *out = json_object_get(
            json_object_array_get_idx(c->queue, c->queue_head++));
        if (c->queue_head == json_object_array_length(c->queue)) {
            json_object_put(c->queue);
            c->queue = json_object_new_array();
            c->queue_head = 0;
        }
        return 0;
    }
    for (;;) {
        error = next_text(c, deadline, &o, err);
        if (error)
            return error;
        if (is_notification(o)) {
            *out = o;
            return 0;
        }
        json_object_put(o);
    }
}
