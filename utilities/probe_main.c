/* SPDX-License-Identifier: Apache-2.0
 *
 * sluice-probe, a PFC-capable end station: its main loop.  One thread, which
 * reads, then sends, then waits with a time-out of nanoseconds for its
 * interface or for the next thing that is due.
 */
#include "config.h"

#include "base/clock.h"
#include "netdev/link.h"
#include "netdev/netdev.h"
#include "pkt/pkt.h"
#include "probe_options.h"
#include "probe_report.h"
#include "probe_station.h"
#include "wire/eth.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define N_BUFFERS       256u /* two batches are in use at once at most */
#define RX_BATCHES      8    /* read before sending, at most */
#define DEFAULT_RING    (4u << 20)
#define KERNEL_EVERY_NS (250 * NS_PER_MS)
#define WAIT_START_NS   (60 * NS_PER_S) /* for a barrier or a start time */
#define HOLD_NS         (60 * NS_PER_S) /* for the end of standard input */
#define RELEASE_TRIES   50              /* of 1 ms each, for the last XON */

static volatile sig_atomic_t stop_asked;

static void
on_signal(int sig)
{
    (void) sig;
    stop_asked = 1;
}

/* What the loop needs beside the station. */
struct loop {
    struct probe_station *st;      /* the station */
    const struct probe_conf *conf; /* what is wanted */
    uint64_t open_ns;              /* when the waiting for the start began */
    uint64_t kernel_ns;            /* next look at the kernel's counters */
    bool waiting;                  /* for a line, or the end, of stdin */
    bool held;                     /* for the end of stdin */
};

/* A socket that sends frames as short as they are; -1 without. */
static int
raw_open(const struct netdev *dev)
{
    struct sockaddr_ll to = {
        .sll_family = AF_PACKET,
        .sll_ifindex = (int) dev->ifindex,
    };
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

    if (fd >= 0 && bind(fd, (struct sockaddr *) &to, sizeof(to)) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* A line on standard input, or its end, lets the run begin; the next line ends
 * the flows; its end lets a run end that was held. */
static void
read_stdin(struct loop *l, uint64_t now_ns)
{
    char text[64];
    ssize_t n = read(STDIN_FILENO, text, sizeof(text));
    bool begins = l->waiting;

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0)
        l->held = false;
    if (begins)
        probe_station_start(l->st, now_ns);
    l->waiting = false;
    for (ssize_t i = 0; i < n; i++) {
        if (text[i] != '\n')
            continue;
        if (!begins)
            probe_station_finish(l->st, now_ns);
        begins = false;
    }
}

/* Starts the run when it is time to; the next moment to look again. */
static uint64_t
maybe_start(struct loop *l, uint64_t now_ns)
{
    if (l->st->started || l->waiting)
        return CLOCK_NEVER;
    if (now_ns < l->conf->start_at_ns)
        return l->conf->start_at_ns;
    probe_station_start(l->st, now_ns);
    return now_ns;
}

static void
wait_until(struct loop *l, uint64_t next_ns)
{
    struct netdev *dev = l->st->dev;
    int rx_fd = dev->cls->fd(dev);
    int tx_fd = dev->cls->tx_fd ? dev->cls->tx_fd(dev) : rx_fd;
    struct pollfd fds[3] = {
        {.fd = rx_fd, .events = POLLIN},
        {.fd = l->waiting || l->held ? STDIN_FILENO : -1, .events = POLLIN},
        {.fd = l->st->blocked ? tx_fd : -1, .events = POLLOUT},
    };
    uint64_t now_ns = clock_ns();
    uint64_t for_ns = next_ns > now_ns ? next_ns - now_ns : 0;
    struct timespec ts;

    if (for_ns > NS_PER_S)
        for_ns = NS_PER_S;
    ts.tv_sec = (time_t) (for_ns / NS_PER_S);
    ts.tv_nsec = (long) (for_ns % NS_PER_S);
    if (ppoll(fds, 3, &ts, NULL) > 0 && fds[1].revents)
        read_stdin(l, clock_ns());
}

static uint64_t
turn(struct loop *l)
{
    struct netdev *dev = l->st->dev;
    uint64_t now_ns, next;

    for (int i = 0; i < RX_BATCHES; i++) {
        if (probe_station_rx(l->st, clock_ns()) < PKT_BATCH)
            break;
    }
    now_ns = clock_ns();
    next = maybe_start(l, now_ns);
    if (stop_asked && !l->st->stopped)
        probe_station_stop(l->st, now_ns);
    if (now_ns >= l->kernel_ns && dev->cls->poll_kernel) {
        dev->cls->poll_kernel(dev);
        l->kernel_ns = now_ns + KERNEL_EVERY_NS;
    }
    if (next == now_ns)
        next = CLOCK_NEVER;
    now_ns = probe_station_tx(l->st, now_ns);
    return now_ns < next ? now_ns : next;
}

/* Frames that had come by the end still count, however late it is that this
 * station sees it: a ring full of them at most. */
static void
read_rest(struct probe_station *st)
{
    uint64_t n_slots = counter_get(&st->dev->stats.n_ring_slots);

    for (uint64_t n = 0; n < n_slots; n += PKT_BATCH) {
        if (probe_station_rx(st, clock_ns()) < PKT_BATCH)
            break;
    }
}

/* 0, or ETIMEDOUT when the start never came. */
static int
run(struct loop *l)
{
    uint64_t end_ns = CLOCK_NEVER;

    l->open_ns = clock_ns();
    for (;;) {
        uint64_t now_ns = clock_ns();
        bool ended = probe_station_ended(l->st, now_ns);

        if (ended && end_ns == CLOCK_NEVER) {
            end_ns = now_ns;
            if (l->conf->hold)
                fprintf(stderr, "done\n");
        }
        if (ended && (!l->held || stop_asked || now_ns - end_ns > HOLD_NS))
            break;
        if (!l->st->started && now_ns - l->open_ns > WAIT_START_NS)
            return ETIMEDOUT;
        wait_until(l, turn(l));
    }
    read_rest(l->st);
    for (int i = 0; i < RELEASE_TRIES; i++) {
        if (probe_station_release(l->st, clock_ns()))
            break;
        usleep(1000);
    }
    if (l->st->dev->cls->poll_kernel)
        l->st->dev->cls->poll_kernel(l->st->dev);
    return 0;
}

static void
report(const struct probe_station *st, bool json)
{
    struct json_object *o;

    if (!json) {
        probe_report_print(st, clock_ns(), stdout);
        return;
    }
    o = probe_report_json(st, clock_ns());
    puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
    json_object_put(o);
}

static int
run_station(const struct probe_conf *conf, struct netdev *dev,
            struct pkt_pool *pool, struct err *err)
{
    struct probe_station *st = malloc(sizeof(*st));
    struct loop l = {.st = st,
                     .conf = conf,
                     .waiting = conf->barrier,
                     .held = conf->hold};
    int raw_fd = raw_open(dev);
    int e = st ? probe_station_init(st, conf, dev, pool, raw_fd, clock_ns())
               : ENOMEM;

    if (e) {
        err_sys(err, e, "cannot start");
    } else {
        if (conf->barrier)
            fprintf(stderr, "ready\n");
        e = run(&l);
        if (e)
            err_set(err, e, "--barrier", NULL, NULL,
                    "the start did not come within 60 seconds");
        else
            report(st, conf->json);
        if (!e && conf->strict && !probe_stats_clean(&st->stats))
            e = err_set(err, EIO, "--strict", NULL, NULL,
                        "frames were lost, repeated, late or changed");
        probe_station_uninit(st);
    }
    if (raw_fd >= 0)
        close(raw_fd);
    free(st);
    return e;
}

/* The longest frame that may come or go: a slot of the receive ring has room
 * for one, so it should not be longer than need be. */
static uint32_t
longest_frame(const struct probe_conf *conf, const struct link_info *link)
{
    uint32_t n = link->mtu + ETH_HDR_LEN + 2 * ETH_VLAN_LEN;

    for (uint32_t i = 0; i < conf->n_flows; i++) {
        for (uint32_t j = 0; j < conf->flows[i].n_sizes; j++) {
            if (conf->flows[i].sizes[j].bytes > n)
                n = conf->flows[i].sizes[j].bytes;
        }
    }
    return n < PROBE_MAX_FRAME ? n : PROBE_MAX_FRAME;
}

static int
open_and_run(const struct probe_conf *conf, struct err *err)
{
    struct netdev_args args = {
        .name = conf->iface,
        .ring_bytes =
            conf->ring_bytes ? (uint32_t) conf->ring_bytes : DEFAULT_RING,
    };
    struct link_info link;
    struct netdev *dev;
    int e = link_get(conf->iface, &link, err);

    if (e)
        return e;
    args.pool = pkt_pool_create(N_BUFFERS, 0, longest_frame(conf, &link));
    if (!args.pool)
        return err_sys(err, ENOMEM, "cannot start");
    e = netdev_open(&netdev_afpacket, &args, &dev, err);
    if (!e) {
        e = run_station(conf, dev, args.pool, err);
        netdev_close(dev);
    }
    pkt_pool_destroy(args.pool);
    return e;
}

int
main(int argc, char **argv)
{
    static struct probe_conf conf;
    struct sigaction sa = {.sa_handler = on_signal};
    struct err err = {0};

    switch (probe_options_parse(argc, argv, &conf, &err)) {
    case PROBE_OPTIONS_HELP:
        probe_options_help(stdout);
        return 0;
    case PROBE_OPTIONS_VERSION:
        puts("sluice-probe " PACKAGE_VERSION);
        return 0;
    case PROBE_OPTIONS_BAD:
        fprintf(stderr, "sluice-probe: %s\n", err.msg);
        return 2;
    case PROBE_OPTIONS_RUN:
        break;
    }
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    /* Time-outs are met to the nanosecond, not to 50 microseconds. */
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    if (open_and_run(&conf, &err)) {
        fflush(stdout);
        fprintf(stderr, "sluice-probe: %s\n", err.msg);
        return 1;
    }
    return 0;
}
