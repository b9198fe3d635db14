/* SPDX-License-Identifier: Apache-2.0
 *
 * of_client: a controller that does nothing but keep a switch busy, for the
 * benchmarks of OpenFlow.  Talks 1.3 over a Unix socket.
 *
 *   of_client PATH reflect PORT SECONDS   every frame is a packet-in, and goes
 *                                         out of PORT by a packet-out
 *   of_client PATH flows N                N flow-mods and a barrier
 *   of_client PATH replace N              the same in place of entries that
 *                                         are there, then deletes all
 *
 * Prints "name value" lines.
 */
#include "base/clock.h"
#include "base/cursor.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define V         4
#define T_ECHO    2
#define T_PKT_IN  10
#define T_PKT_OUT 13
#define T_FLOW    14
#define T_BARRIER 20
#define T_REPLY   21
#define BUF       (1 << 20)

struct client {
    int fd;           /* the connection */
    uint8_t in[BUF];  /* read, and not looked at yet */
    size_t n_in;      /* octets */
    uint8_t out[BUF]; /* to be written */
    size_t n_out;     /* octets */
    uint64_t n_ins;   /* packet-ins */
    uint64_t n_reads; /* reads that they came in */
    uint64_t n_bad;   /* error messages */
    bool done;        /* the barrier was answered */
    uint32_t port;    /* where frames go */
};

static void
die(const char *what)
{
    fprintf(stderr, "of_client: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void
read_some(struct client *c)
{
    ssize_t n = read(c->fd, c->in + c->n_in, sizeof(c->in) - c->n_in);

    if (n <= 0)
        die("the switch closed the connection, or says too much");
    c->n_in += (size_t) n;
    c->n_reads++;
}

/* The switch executes nothing for who does not read. */
static void
flush(struct client *c)
{
    size_t at = 0;

    while (at < c->n_out) {
        ssize_t n = send(c->fd, c->out + at, c->n_out - at, MSG_DONTWAIT);
        struct pollfd p = {c->fd, POLLIN | POLLOUT, 0};

        if (n < 0 && errno != EAGAIN)
            die("write");
        at += n > 0 ? (size_t) n : 0;
        if (n < 0 && poll(&p, 1, -1) > 0 && p.revents & POLLIN)
            read_some(c);
    }
    c->n_out = 0;
}

/* Room for a message of n octets, its header written. */
static struct wcursor
begin(struct client *c, uint8_t type, size_t n, uint32_t xid)
{
    struct wcursor w;

    if (c->n_out + n > BUF)
        flush(c);
    w = wcursor_init(c->out + c->n_out, n);
    c->n_out += n;
    wcursor_u8(&w, V);
    wcursor_u8(&w, type);
    wcursor_be16(&w, (uint16_t) n);
    wcursor_be32(&w, xid);
    return w;
}

static void
put_output(struct wcursor *w, uint32_t port)
{
    wcursor_be16(w, 0);
    wcursor_be16(w, 16);
    wcursor_be32(w, port);
    wcursor_be16(w, 0xffff);
    wcursor_zero(w, 6);
}

/* Adds (command 0) or deletes (3); id < 0: matches everything. */
static void
flow_mod(struct client *c, uint8_t command, int64_t id, uint32_t port)
{
    size_t match = id < 0 ? 8 : 32;
    size_t n = 48 + match + (command ? 0 : 24);
    struct wcursor w = begin(c, T_FLOW, n, 1);

    wcursor_zero(&w, 16);
    wcursor_u8(&w, 0);
    wcursor_u8(&w, command);
    wcursor_zero(&w, 4);
    wcursor_be16(&w, id < 0 ? 0 : 5);
    wcursor_be32(&w, 0xffffffff);
    wcursor_be32(&w, 0xffffffff);
    wcursor_be32(&w, 0xffffffff);
    wcursor_zero(&w, 4);
    wcursor_be16(&w, 1);
    wcursor_be16(&w, id < 0 ? 4 : 29);
    if (id >= 0) { /* eth_type, ip_proto, ipv4_dst, tcp_dst */
        wcursor_be32(&w, 0x80000a02);
        wcursor_be16(&w, 0x800);
        wcursor_be32(&w, 0x80001401);
        wcursor_u8(&w, 6);
        wcursor_be32(&w, 0x80001804);
        wcursor_be32(&w, 0x0a000000 + (uint32_t) (id / 1000));
        wcursor_be32(&w, 0x80001c02);
        wcursor_be16(&w, (uint16_t) (id % 1000));
        wcursor_zero(&w, 3);
    } else {
        wcursor_zero(&w, 4);
    }
    if (command)
        return;
    wcursor_be16(&w, 4);
    wcursor_be16(&w, 24);
    wcursor_zero(&w, 4);
    put_output(&w, port);
}

/* A frame that came goes out again. */
static void
reflect(struct client *c, const uint8_t *m, size_t n)
{
    struct cursor cur = cursor_init(m, n);
    size_t match, len;
    struct wcursor w;
    const uint8_t *frame;

    cursor_take(&cur, 8 + 16 + 2);
    match = cursor_be16(&cur);
    cursor_take(&cur, (match + 7) / 8 * 8 - 4 + 2);
    len = cur.left;
    frame = cursor_take(&cur, len);
    if (cur.bad || !len)
        return;
    w = begin(c, T_PKT_OUT, 24 + 16 + len, 2);
    wcursor_be32(&w, 0xffffffff);
    wcursor_be32(&w, 0xfffffffd);
    wcursor_be16(&w, 16);
    wcursor_zero(&w, 6);
    put_output(&w, c->port);
    wcursor_bytes(&w, frame, len);
    c->n_ins++;
}

static void
take(struct client *c, const uint8_t *m, size_t n)
{
    struct wcursor w;

    switch (m[1]) {
    case 1:
        c->n_bad++;
        break;
    case T_ECHO:
        w = begin(c, T_ECHO + 1, n, 0);
        memcpy(w.p - 4, m + 4, n - 4);
        break;
    case T_PKT_IN:
        reflect(c, m, n);
        break;
    case T_REPLY:
        c->done = true;
        break;
    default:
        break;
    }
}

/* Reads once, for at most so long, and answers. */
static void
turn(struct client *c, int timeout_ms)
{
    struct pollfd p = {c->fd, POLLIN, 0};
    size_t at = 0;

    flush(c);
    if (poll(&p, 1, timeout_ms) < 1)
        return;
    read_some(c);
    while (c->n_in - at >= 8) {
        size_t size = (size_t) (c->in[at + 2] << 8 | c->in[at + 3]);

        if (c->n_in - at < size)
            break;
        take(c, c->in + at, size);
        at += size;
    }
    memmove(c->in, c->in + at, c->n_in - at);
    c->n_in -= at;
    flush(c);
}

static void
barrier(struct client *c)
{
    c->done = false;
    begin(c, T_BARRIER, 8, 3);
    while (!c->done)
        turn(c, 1000);
}

static void
run_reflect(struct client *c, double seconds)
{
    struct wcursor w = begin(c, 9, 12, 4); /* set-config */
    uint64_t began, end;

    wcursor_be16(&w, 0);
    wcursor_be16(&w, 0xffff);
    flow_mod(c, 3, -1, 0);
    flow_mod(c, 0, -1, 0xfffffffd);
    barrier(c);
    puts("ready");
    fflush(stdout);
    began = clock_ns();
    end = began + (uint64_t) (seconds * 1e9);
    while (clock_ns() < end)
        turn(c, 100);
    printf("packet_ins %llu\nreads %llu\n", (unsigned long long) c->n_ins,
           (unsigned long long) c->n_reads);
}

static void
run_flows(struct client *c, int64_t n, bool again)
{
    uint64_t began;

    flow_mod(c, 3, -1, 0);
    barrier(c);
    for (int64_t i = 0; again && i < n; i++)
        flow_mod(c, 0, i, 1);
    barrier(c);
    began = clock_ns();
    for (int64_t i = 0; i < n; i++)
        flow_mod(c, 0, i, 2);
    barrier(c);
    printf("seconds %.6f\n", (double) (clock_ns() - began) / 1e9);
    began = clock_ns();
    flow_mod(c, 3, -1, 0);
    barrier(c);
    printf("delete_seconds %.6f\n", (double) (clock_ns() - began) / 1e9);
}

int
main(int argc, char *argv[])
{
    struct client *c = calloc(1, sizeof(*c));
    struct sockaddr_un sun = {.sun_family = AF_UNIX};
    bool is_reflect = argc == 5 && !strcmp(argv[2], "reflect");

    if (!c || (!is_reflect && argc != 4) ||
        strlen(argv[1]) >= sizeof(sun.sun_path)) {
        fprintf(stderr, "usage: of_client PATH reflect PORT SECONDS | flows N "
                        "| replace N\n");
        return 2;
    }
    strcpy(sun.sun_path, argv[1]);
    c->fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *) &sun, sizeof(sun)))
        die(argv[1]);
    begin(c, 0, 8, 0);
    if (is_reflect) {
        c->port = (uint32_t) atoi(argv[3]);
        run_reflect(c, atof(argv[4]));
    } else {
        run_flows(c, atoll(argv[3]), !strcmp(argv[2], "replace"));
    }
    printf("errors %llu\n", (unsigned long long) c->n_bad);
    return c->n_bad ? 1 : 0;
}
