/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of lib/rpc/client.c against a server thread that follows a script:
 * what it answers, in which pieces, and how it misbehaves.
 */
#include "rpc/rpc.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A server of one connection: reads one request (a line), writes `answer` in
 * pieces, then closes or waits for the client to go. */
static struct {
    char where[100];    /* for rpc_connect() */
    char dir[64];       /* of the socket; empty: TCP */
    int fd;             /* that listens */
    const char *answer; /* what it says */
    size_t piece;       /* octets of one write */
    bool closes;        /* then hangs up at once */
    char request[4096]; /* what it read */
    pthread_t thread;   /* of serve() */
} server;

static void
read_line(int fd)
{
    size_t n = 0;

    while (n + 1 < sizeof(server.request) &&
           read(fd, server.request + n, 1) == 1 && server.request[n++] != '\n')
        continue;
    server.request[n] = '\0';
}

static void *
serve(void *arg)
{
    int fd = accept(server.fd, NULL, NULL);
    size_t n = server.answer ? strlen(server.answer) : 0;
    char octet;

    (void) arg;
    read_line(fd);
    for (size_t at = 0; at < n; at += server.piece) {
        size_t m = n - at < server.piece ? n - at : server.piece;

        if (send(fd, server.answer + at, m, MSG_NOSIGNAL) < 0)
            break;
    }
    while (!server.closes && read(fd, &octet, 1) == 1)
        continue;
    close(fd);
    return NULL;
}

static void
start(bool tcp, const char *answer, size_t piece, bool closes)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    struct sockaddr_in in = {.sin_family = AF_INET};
    socklen_t len = sizeof(in);

    server.answer = answer;
    server.piece = piece;
    server.closes = closes;
    server.dir[0] = '\0';
    if (tcp) {
        server.fd = socket(AF_INET, SOCK_STREAM, 0);
        in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        cr_assert_eq(bind(server.fd, (struct sockaddr *) &in, sizeof(in)), 0);
        getsockname(server.fd, (struct sockaddr *) &in, &len);
        snprintf(server.where, sizeof(server.where), "tcp:127.0.0.1:%d",
                 ntohs(in.sin_port));
    } else {
        server.fd = socket(AF_UNIX, SOCK_STREAM, 0);
        strcpy(server.dir, "/tmp/slc-test-rpc-XXXXXX");
        cr_assert(mkdtemp(server.dir));
        snprintf(server.where, sizeof(server.where), "%s/sock", server.dir);
        snprintf(un.sun_path, sizeof(un.sun_path), "%s", server.where);
        cr_assert_eq(bind(server.fd, (struct sockaddr *) &un, sizeof(un)), 0);
    }
    cr_assert_eq(listen(server.fd, 1), 0);
    cr_assert_eq(pthread_create(&server.thread, NULL, serve, NULL), 0);
}

static void
stop(struct rpc_conn *c)
{
    rpc_close(c);
    pthread_join(server.thread, NULL);
    close(server.fd);
    if (server.dir[0]) {
        unlink(server.where);
        rmdir(server.dir);
    }
}

static struct rpc_conn *
connected(int timeout_ms)
{
    struct rpc_conn *c = NULL;
    struct err err;

    err_clear(&err);
    cr_assert_eq(rpc_connect(server.where, timeout_ms, &c, &err), 0, "%s",
                 err.msg);
    cr_assert_geq(rpc_conn_fd(c), 0);
    return c;
}

static void
call_works(bool tcp, size_t piece)
{
    struct json_object *params = json_tokener_parse("{\"port\":\"eth1\"}");
    struct json_object *result = NULL, *error = NULL;
    struct rpc_conn *c;
    struct err err;

    start(tcp, "{\"jsonrpc\":\"2.0\",\"result\":[1,\"\xc3\xa9\"],\"id\":1}",
          piece, false);
    c = connected(10000);
    cr_assert_eq(rpc_call(c, "port.show", params, &result, &error, &err), 0);
    cr_assert_str_eq(json_object_to_json_string_ext(result,
                                                    JSON_C_TO_STRING_PLAIN),
                     "[1,\"\xc3\xa9\"]");
    cr_assert_null(error);
    json_object_put(result);
    stop(c);
    cr_assert_str_eq(server.request,
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"port.show\","
                     "\"params\":{\"port\":\"eth1\"}}\n");
}

Test(rpc_client, call)
{
    call_works(false, 4096);
    call_works(false, 1);
    call_works(true, 7);
}

Test(rpc_client, null_result)
{
    struct json_object *result = NULL, *error = NULL;
    struct rpc_conn *c;
    struct err err;

    start(false, "{\"jsonrpc\":\"2.0\",\"result\":null,\"id\":1}\n", 99,
          false);
    c = connected(10000);
    cr_assert_eq(rpc_call(c, "x", NULL, &result, &error, &err), 0);
    cr_assert_null(result);
    stop(c);
    cr_assert_str_eq(server.request,
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}\n");
}

Test(rpc_client, refused)
{
    struct json_object *result = NULL, *error = NULL;
    struct rpc_conn *c;
    struct err err;

    start(false,
          "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32001,"
          "\"message\":\"no port eth9\",\"data\":{\"value\":\"eth9\"}},"
          "\"id\":1}\n",
          99, false);
    c = connected(10000);
    cr_assert_eq(rpc_call(c, "x", NULL, &result, &error, &err), EREMOTEIO);
    cr_assert_str_eq(err.msg, "no port eth9");
    cr_assert_eq(json_object_get_int(json_object_object_get(error, "code")),
                 -32001);
    json_object_put(error);
    stop(c);
}

/* The daemon could not read the request: id is null, and it is ours. */
Test(rpc_client, refused_unread)
{
    struct json_object *result = NULL, *error = NULL;
    struct rpc_conn *c;
    struct err err;

    start(false,
          "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,"
          "\"message\":\"too long\"},\"id\":null}\n",
          99, false);
    c = connected(10000);
    cr_assert_eq(rpc_call(c, "x", NULL, &result, &error, &err), EREMOTEIO);
    json_object_put(error);
    stop(c);
}

/* Events that come before the answer wait; late answers are passed over. */
Test(rpc_client, notifications)
{
    struct json_object *result = NULL, *error = NULL, *o = NULL;
    struct rpc_conn *c;
    struct err err;

    start(false,
          "{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":{\"n\":1}}"
          "{\"jsonrpc\":\"2.0\",\"result\":0,\"id\":77}"
          "{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":{\"n\":2}}"
          "{\"jsonrpc\":\"2.0\",\"result\":5,\"id\":1}"
          "{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":{\"n\":3}}",
          5, false);
    c = connected(10000);
    cr_assert_eq(rpc_call(c, "x", NULL, &result, &error, &err), 0);
    cr_assert_eq(json_object_get_int(result), 5);
    json_object_put(result);
    for (int i = 1; i <= 3; i++) {
        cr_assert_eq(rpc_next_notification(c, 10000, &o, &err), 0);
        cr_assert_eq(json_object_get_int(json_object_object_get(
                         json_object_object_get(o, "params"), "n")),
                     i);
        json_object_put(o);
    }
    cr_assert_eq(rpc_next_notification(c, 0, &o, &err), ETIMEDOUT);
    cr_assert_eq(rpc_next_notification(c, 20, &o, &err), ETIMEDOUT);
    stop(c);
}

static void
call_fails(const char *answer, bool closes, int timeout_ms, int want,
           const char *says)
{
    struct json_object *result = NULL, *error = NULL;
    struct rpc_conn *c;
    struct err err;

    err_clear(&err);
    start(false, answer, 4096, closes);
    c = connected(timeout_ms);
    cr_assert_eq(rpc_call(c, "x", NULL, &result, &error, &err), want, "%s",
                 err.msg);
    cr_assert(strstr(err.msg, says), "%s", err.msg);
    cr_assert(strstr(err.msg, server.where), "%s", err.msg);
    stop(c);
}

Test(rpc_client, misbehaving_servers)
{
    call_fails(NULL, true, 10000, ECONNRESET, "closed the connection");
    call_fails("{\"jsonrpc\":\"2.0\",\"resu", true, 10000, ECONNRESET,
               "closed the connection");
    call_fails(NULL, false, 20, ETIMEDOUT, "did not answer in time");
    call_fails("HTTP/1.1 400 Bad Request\r\n", false, 10000, EBADMSG,
               "no JSON-RPC");
    call_fails("{\"id\":1}", false, 10000, EBADMSG, "no JSON-RPC");
}

/* A server that only ever sends events does not fill our memory. */
Test(rpc_client, flood_of_notifications)
{
    static const char one[] = "{\"jsonrpc\":\"2.0\",\"method\":\"e\"}";
    size_t n = 5000;
    char *text = malloc(n * sizeof(one));

    for (size_t i = 0; i < n; i++)
        memcpy(text + i * (sizeof(one) - 1), one, sizeof(one));
    call_fails(text, false, 10000, ENOBUFS, "no answer");
    free(text);
}

/* A daemon that is too busy to accept is waited for, but not for ever. */
Test(rpc_client, full_backlog)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    char dir[] = "/tmp/slc-test-rpc-XXXXXX";
    struct rpc_conn *c[8] = {NULL};
    struct err err;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0), error = 0, n = 0;

    cr_assert(mkdtemp(dir));
    snprintf(un.sun_path, sizeof(un.sun_path), "%s/sock", dir);
    cr_assert_eq(bind(fd, (struct sockaddr *) &un, sizeof(un)), 0);
    cr_assert_eq(listen(fd, 0), 0);
    while (!error && n < 8)
        error = rpc_connect(un.sun_path, 30, &c[n++], &err);
    cr_assert_eq(error, ETIMEDOUT, "%s", err.msg);
    while (n)
        rpc_close(c[--n]);
    close(fd);
    unlink(un.sun_path);
    rmdir(dir);
}

static void
connect_fails(const char *where, int want)
{
    struct rpc_conn *c = NULL;
    struct err err;

    err_clear(&err);
    cr_assert_eq(rpc_connect(where, 1000, &c, &err), want, "%s: %s", where,
                 err.msg);
    cr_assert_str_not_empty(err.msg);
    cr_assert_null(c);
}

Test(rpc_client, connect_fails)
{
    char path[200];

    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    connect_fails("", EINVAL);
    connect_fails(path, EINVAL);
    connect_fails("tcp:", EINVAL);
    connect_fails("tcp:127.0.0.1", EINVAL);
    connect_fails("tcp:localhost:1", EINVAL);
    connect_fails("tcp:127.0.0.1:0", EINVAL);
    connect_fails("tcp:127.0.0.1:65536", EINVAL);
    connect_fails("tcp:127.0.0.1:x", EINVAL);
    connect_fails("/nonexistent/slc/sock", ENOENT);
    rpc_close(NULL);
}
