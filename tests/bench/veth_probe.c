/* SPDX-License-Identifier: Apache-2.0
 *
 * veth_probe: a load at a rate from one network namespace to another, and what
 * became of it: how many frames arrived, and how long some of them took.
 *
 *   veth_probe IN-NS IN-IF OUT-NS OUT-IF DST SRC SIZE|imix SECONDS PPS
 *              FLOWS ADDRESSES skb|xdp
 *
 * Frames are UDP over IPv4, of FLOWS pairs of ports and to ADDRESSES addresses
 * from DST on, whose last two octets differ (a power of two).  OUT-IF may be
 * any.  skb: an AF_XDP socket sends them as the ordinary frames that a packet
 * socket sends (xsk_load.h), which does it itself where they are longer than
 * that socket's.  xdp: what is faster still, for interfaces whose peer has an
 * XDP program (xdp_load.h).  Whatever is on their core goes first:
 * the kernel's share of what comes in must not wait for us.  One in SAMPLE
 * carries the time at which it was sent and goes to a port of its own; a
 * filter lets those alone reach the receiving socket, where the kernel stamps
 * them, so that receiving costs next to nothing.  All others are counted by
 * the interface.  Prints a line of JSON.
 */
#include "enter.h"
#include "xdp_load.h"
#include "xsk_load.h"

#include "base/clock.h"
#include "base/csum.h"
#include "wire/eth.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BURST      XSK_LOAD_BURST /* frames of one system call, at most */
#define SAMPLE     32
#define MAX_FRAME  9216
#define MAX_STAMPS (1u << 21)
#define LOOK_US    5000
#define UDP_OFS    34
#define DATA_OFS   42
#define PROBE_PORT 7
#define SPREAD     XDP_LOAD_SPREAD

/* Lengths of an internet mix without FCS, as often as they occur in twelve. */
static const uint16_t imix[12] = {60, 590, 60, 590, 60,   60,
                                  60, 590, 60, 60,  1514, 590};

struct probe {
    int send_fd, recv_fd;   /* packet sockets in the two namespaces */
    struct xsk_load xsk;    /* sends in place of send_fd, if use_xsk */
    bool use_xsk;           /* frames are short enough for it */
    uint8_t *frame[BURST];  /* the frames of a burst */
    uint32_t size;          /* of every frame; 0: the mix */
    uint32_t n_flows;       /* pairs of ports in turn */
    uint32_t n_to;          /* destinations in turn */
    uint64_t pps;           /* frames a second */
    uint64_t sent, refused; /* frames */
    uint32_t n_stamps;      /* in latency_ns */
    uint32_t *latency_ns;   /* of the samples, as they came */
    bool done;              /* atomic: nothing comes any more */
};

static void
die(const char *what)
{
    fprintf(stderr, "veth_probe: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int
open_in(const char *ns, const char *iface, int protocol)
{
    struct sockaddr_ll to = {.sll_family = AF_PACKET,
                             .sll_protocol = htons((uint16_t) protocol)};
    int fd;

    bench_enter(ns);
    to.sll_ifindex = (int) if_nametoindex(iface);
    fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (fd < 0 || (!to.sll_ifindex && strcmp(iface, "any") != 0) ||
        bind(fd, (struct sockaddr *) &to, sizeof(to)))
        die(iface);
    return fd;
}

/* The sending side: what it sends by, and where frames are made. */
static void
open_sender(struct probe *p, const char *ns, const char *iface)
{
    static uint8_t frames[BURST][MAX_FRAME];
    int one = 1;

    p->send_fd = open_in(ns, iface, 0);
    setsockopt(p->send_fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one));
    for (uint32_t i = 0; i < BURST; i++)
        p->frame[i] = frames[i];
    if (!p->use_xsk)
        return;
    errno = xsk_load_open(&p->xsk, iface);
    if (errno)
        die("AF_XDP socket");
    for (uint32_t i = 0; i < BURST; i++)
        p->frame[i] = p->xsk.frames + (size_t) i * XSK_LOAD_MAX;
}

static void
open_sockets(struct probe *p, char **argv)
{
    /* The destination port of UDP over IPv4 without options. */
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, UDP_OFS + 2),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROBE_PORT, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 128),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    struct sock_fprog prog = {4, code};
    int one = 1, bytes = 16 << 20;

    open_sender(p, argv[1], argv[2]);
    p->recv_fd = open_in(argv[3], argv[4], ETH_P_ALL);
    if (setsockopt(p->recv_fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog,
                   sizeof(prog)) ||
        setsockopt(p->recv_fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one)))
        die("socket options");
    setsockopt(p->recv_fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
}

static void
note(struct probe *p, struct msghdr *msg, const uint8_t *frame)
{
    struct cmsghdr *c = CMSG_FIRSTHDR(msg);
    struct timespec at;
    uint64_t sent_ns, at_ns;

    if (!c || c->cmsg_type != SO_TIMESTAMPNS || p->n_stamps == MAX_STAMPS)
        return;
    memcpy(&at, CMSG_DATA(c), sizeof(at));
    memcpy(&sent_ns, frame + DATA_OFS, sizeof(sent_ns));
    at_ns = (uint64_t) at.tv_sec * NS_PER_S + (uint64_t) at.tv_nsec;
    p->latency_ns[p->n_stamps++] =
        at_ns > sent_ns ? (uint32_t) (at_ns - sent_ns) : 0;
}

/* Looks now and then, and never waits: to wake us up would cost the core of
 * the switch more than the frame does. */
static void *
receive(void *arg)
{
    struct probe *p = arg;

    while (!__atomic_load_n(&p->done, __ATOMIC_RELAXED)) {
        uint8_t frame[128], control[64];
        struct iovec iov = {frame, sizeof(frame)};
        struct msghdr msg = {.msg_iov = &iov,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
        ssize_t n = recvmsg(p->recv_fd, &msg, MSG_DONTWAIT);

        if (n >= DATA_OFS + 8)
            note(p, &msg, frame);
        else if (n < 0)
            usleep(LOOK_US);
    }
    return NULL;
}

static void
set_length(uint8_t *f, uint32_t len)
{
    uint16_t ip_len = htons((uint16_t) (len - 14));
    uint16_t udp_len = htons((uint16_t) (len - UDP_OFS));
    uint16_t sum;

    memcpy(f + 16, &ip_len, 2);
    memcpy(f + UDP_OFS + 4, &udp_len, 2);
    memset(f + 24, 0, 2);
    sum = htons(csum_fold(csum_add(0, f + 14, 20)));
    memcpy(f + 24, &sum, 2);
}

/* All that does not differ from frame to frame. */
static void
make_frames(struct probe *p, const uint8_t dst[6], const uint8_t src[6])
{
    static const uint8_t ip[20] = {0x45, 0,  0,           0, 0, 0,  0,
                                   0,    64, IPPROTO_UDP, 0, 0, 10, 0,
                                   0,    1,  10,          0, 0, 2};

    for (int i = 0; i < BURST; i++) {
        uint8_t *f = p->frame[i];

        memcpy(f, dst, 6);
        memcpy(f + 6, src, 6);
        f[12] = 8;
        memcpy(f + 14, ip, sizeof(ip));
        set_length(f, p->size ? p->size : imix[0]);
    }
}

/* What frame k of the load is, in the i-th place of a burst. */
static uint32_t
make_frame(const struct probe *p, int i, uint64_t k)
{
    uint8_t *f = p->frame[i];
    uint32_t len = p->size ? p->size : imix[k % 12];
    uint32_t flow = (uint32_t) (k % p->n_flows);
    uint16_t address = htons((uint16_t) (k * SPREAD & (p->n_to - 1)));
    uint16_t from = htons((uint16_t) (1024 + flow % 50000));
    uint16_t to = htons((uint16_t) (9 + flow / 50000));
    uint64_t now_ns;

    if (!p->size)
        set_length(f, len);
    if (k % SAMPLE == 0) {
        to = htons(PROBE_PORT);
        now_ns = clock_wall_ns();
        memcpy(f + DATA_OFS, &now_ns, sizeof(now_ns));
    }
    memcpy(f + 4, &address, 2);
    memcpy(f + UDP_OFS, &from, 2);
    memcpy(f + UDP_OFS + 2, &to, 2);
    return len;
}

/* Sends the first n frames; returns how many were taken, or -1. */
static int
send_burst(struct probe *p, const uint32_t lens[], int n)
{
    struct mmsghdr msgs[BURST];
    struct iovec iov[BURST];

    if (p->use_xsk) {
        errno = xsk_load_send(&p->xsk, lens, (uint32_t) n);
        return errno ? -1 : n;
    }
    for (int i = 0; i < n; i++) {
        iov[i] = (struct iovec){p->frame[i], lens[i]};
        msgs[i] =
            (struct mmsghdr){.msg_hdr = {.msg_iov = &iov[i], .msg_iovlen = 1}};
    }
    return sendmmsg(p->send_fd, msgs, (unsigned) n, 0);
}

/* Sends what is due, at most a burst; false when nothing is. */
static bool
send_due(struct probe *p, uint64_t start_ns)
{
    uint32_t lens[BURST];
    uint64_t due = (clock_ns() - start_ns) * p->pps / NS_PER_S;
    int n = due - p->sent < BURST ? (int) (due - p->sent) : BURST;

    if (due <= p->sent)
        return false;
    for (int i = 0; i < n; i++)
        lens[i] = make_frame(p, i, p->sent + (uint64_t) i);
    n = send_burst(p, lens, n);
    if (n < 0 && errno != ENOBUFS && errno != EAGAIN)
        die("send");
    if (n > 0)
        p->sent += (uint64_t) n;
    else
        p->refused++;
    return true;
}

static void
send_all(struct probe *p, double seconds)
{
    uint64_t start_ns = clock_ns(), end_ns;

    end_ns = start_ns + (uint64_t) (seconds * 1e9);
    while (clock_ns() < end_ns) {
        if (!send_due(p, start_ns))
            sched_yield(); /* the receiving thread may be on this core */
    }
}

/* The same from within the kernel, in the namespace of the sender. */
static void
send_xdp(struct probe *p, const char *ns, const char *iface, double seconds)
{
    struct xdp_load l = {
        .data = p->frame[0],
        .len = p->size ? p->size : imix[10],
        .is_mix = !p->size,
        .pps = p->pps,
        .duration_ns = (uint64_t) (seconds * 1e9),
        .n_flows = p->n_flows,
        .n_to = p->n_to,
        .sample = SAMPLE,
        .probe_port = PROBE_PORT,
    };

    bench_enter(ns);
    l.ifindex = if_nametoindex(iface);
    errno = xdp_load_run(&l);
    if (errno)
        die("XDP load");
    p->sent = l.n_sent;
}

static int
by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

    return x < y ? -1 : x > y;
}

static uint32_t
percentile(const struct probe *p, double share)
{
    uint32_t i = (uint32_t) (share * p->n_stamps);

    if (!p->n_stamps)
        return 0;
    return p->latency_ns[i < p->n_stamps ? i : p->n_stamps - 1];
}

static void
usage(void)
{
    fprintf(stderr, "usage: veth_probe IN-NS IN-IF OUT-NS OUT-IF DST SRC "
                    "SIZE|imix SECONDS PPS FLOWS ADDRESSES skb|xdp\n");
    exit(2);
}

static void
print(const struct probe *p)
{
    printf("{\"sent\": %llu, \"refused\": %llu, \"samples\": %u, "
           "\"p50_ns\": %u, \"p99_ns\": %u, \"p999_ns\": %u}\n",
           (unsigned long long) p->sent, (unsigned long long) p->refused,
           p->n_stamps, percentile(p, 0.5), percentile(p, 0.99),
           percentile(p, 0.999));
}

int
main(int argc, char **argv)
{
    struct sched_param idle = {.sched_priority = 0};
    static struct probe p;
    uint8_t dst[6], src[6];
    pthread_t receiver;
    double seconds;

    if (argc != 13 || !eth_mac_parse(argv[5], dst) ||
        !eth_mac_parse(argv[6], src))
        usage();
    p.size = strcmp(argv[7], "imix") ? (uint32_t) atoi(argv[7]) : 0;
    seconds = atof(argv[8]);
    p.pps = strtoull(argv[9], NULL, 10);
    p.n_flows = (uint32_t) atoi(argv[10]);
    p.n_to = (uint32_t) atoi(argv[11]);
    if ((p.size && (p.size < 60 || p.size > MAX_FRAME)) || seconds <= 0 ||
        !p.pps || !p.n_flows || p.n_flows > 1000000 || !p.n_to ||
        p.n_to > 65536 || (p.n_to & (p.n_to - 1)))
        die("out of range");
    p.use_xsk = strcmp(argv[12], "skb") == 0 && p.size <= XSK_LOAD_MAX;
    p.latency_ns = malloc(MAX_STAMPS * sizeof(uint32_t));
    open_sockets(&p, argv);
    make_frames(&p, dst, src);
    if (!p.latency_ns || pthread_create(&receiver, NULL, receive, &p))
        die("start");
    sched_setscheduler(0, SCHED_IDLE, &idle);
    if (strcmp(argv[12], "xdp") == 0)
        send_xdp(&p, argv[1], argv[2], seconds);
    else
        send_all(&p, seconds);
    usleep(150000); /* what is under way */
    __atomic_store_n(&p.done, true, __ATOMIC_RELAXED);
    pthread_join(receiver, NULL);
    qsort(p.latency_ns, p.n_stamps, sizeof(uint32_t), by_value);
    print(&p);
    free(p.latency_ns);
    return 0;
}
