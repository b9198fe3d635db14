/* SPDX-License-Identifier: Apache-2.0
 *
 * veth_gen: the load of the benchmarks.  Sends copies of one frame out of one
 * interface as fast as the kernel takes them, or at a rate, for a time, and
 * says how many went.  The far end is counted by the receiving interface's own
 * statistics, so that no second program has to keep up.
 *
 *   veth_gen IFACE DST-MAC SRC-MAC SIZE SECONDS [PRIO|-] [N-SRC] [PPS]
 *
 * PRIO puts an 802.1Q priority tag in (VID 0).  N-SRC counts the source
 * address up from there, over that many values.  PPS 0 is as fast as possible.
 */
#include "base/clock.h"
#include "wire/eth.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BATCH     64
#define MAX_FRAME 9216

struct load {
    int fd;           /* packet socket bound to the interface */
    uint8_t src[6];   /* first source address */
    uint32_t n_src;   /* how many of them */
    uint32_t len;     /* octets of a frame */
    uint64_t pps;     /* frames a second; 0: no limit */
    uint64_t end_ns;  /* when to stop */
    uint64_t sent;    /* frames that the kernel took */
    uint64_t refused; /* sends that it refused for the moment */
};

static uint8_t frames[BATCH][MAX_FRAME];

static void
usage(void)
{
    fprintf(stderr, "usage: veth_gen IFACE DST-MAC SRC-MAC SIZE SECONDS "
                    "[PRIO|-] [N-SRC] [PPS]\n");
    exit(2);
}

static int
open_socket(const char *iface)
{
    struct sockaddr_ll to = {.sll_family = AF_PACKET};
    int one = 1;
    int fd = socket(AF_PACKET, SOCK_RAW, 0);

    to.sll_ifindex = (int) if_nametoindex(iface);
    if (fd < 0 || !to.sll_ifindex ||
        bind(fd, (struct sockaddr *) &to, sizeof(to)) < 0) {
        fprintf(stderr, "veth_gen: %s: %s\n", iface, strerror(errno));
        exit(1);
    }
    setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one));
    return fd;
}

static void
make_frames(const struct load *l, const uint8_t dst[6], int prio)
{
    for (int i = 0; i < BATCH; i++) {
        uint8_t *f = frames[i];

        memcpy(f, dst, 6);
        memcpy(f + 6, l->src, 6);
        if (prio >= 0) {
            uint16_t tci = htons((uint16_t) (prio << VLAN_PCP_SHIFT));
            uint16_t tpid = htons(ETH_T_VLAN);

            memcpy(f + 12, &tpid, 2);
            memcpy(f + 14, &tci, 2);
            f += 4;
        }
        f[12] = 0x88; /* local experimental EtherType 1 */
        f[13] = 0xb5;
    }
}

/* Gives each frame of the batch its own source address. */
static void
spread_sources(const struct load *l, uint64_t first)
{
    uint32_t base = (uint32_t) (l->src[3] << 16 | l->src[4] << 8 | l->src[5]);

    for (uint64_t i = 0; i < BATCH; i++) {
        uint32_t k = (uint32_t) ((first + i) % l->n_src) + base;

        frames[i][9] = (uint8_t) (k >> 16);
        frames[i][10] = (uint8_t) (k >> 8);
        frames[i][11] = (uint8_t) k;
    }
}

static void
wait_for(uint64_t when_ns)
{
    struct timespec ts = {(time_t) (when_ns / NS_PER_S),
                          (long) (when_ns % NS_PER_S)};

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static void
run(struct load *l)
{
    struct mmsghdr msgs[BATCH] = {0};
    struct iovec iov[BATCH];
    uint64_t start = clock_ns();

    for (int i = 0; i < BATCH; i++) {
        iov[i] = (struct iovec){frames[i], l->len};
        msgs[i].msg_hdr.msg_iov = &iov[i];
        msgs[i].msg_hdr.msg_iovlen = 1;
    }
    while (clock_ns() < l->end_ns) {
        unsigned want = BATCH;
        int n;

        if (l->pps) {
            uint64_t due = (clock_ns() - start) * l->pps / NS_PER_S;

            if (due <= l->sent) {
                wait_for(start + (l->sent + 8) * NS_PER_S / l->pps);
                continue;
            }
            want = due - l->sent < BATCH ? (unsigned) (due - l->sent) : BATCH;
        }
        if (l->n_src > 1)
            spread_sources(l, l->sent);
        n = sendmmsg(l->fd, msgs, want, 0);
        if (n < 0 && errno != ENOBUFS && errno != EAGAIN) {
            fprintf(stderr, "veth_gen: %s\n", strerror(errno));
            exit(1);
        }
        if (n > 0)
            l->sent += (uint64_t) n;
        else
            l->refused++;
    }
}

int
main(int argc, char **argv)
{
    struct load l = {.n_src = 1};
    uint8_t dst[6];
    int prio = -1;
    double seconds;

    if (argc < 6 || !eth_mac_parse(argv[2], dst) ||
        !eth_mac_parse(argv[3], l.src))
        usage();
    l.len = (uint32_t) atoi(argv[4]);
    seconds = atof(argv[5]);
    if (argc > 6 && strcmp(argv[6], "-"))
        prio = atoi(argv[6]);
    if (argc > 7)
        l.n_src = (uint32_t) atoi(argv[7]);
    if (argc > 8)
        l.pps = strtoull(argv[8], NULL, 10);
    if (l.len < 60 || l.len > MAX_FRAME || seconds <= 0 || seconds > 60 ||
        prio > 7 || l.n_src < 1 || l.n_src > 1000000)
        usage();
    l.fd = open_socket(argv[1]);
    make_frames(&l, dst, prio);
    l.end_ns = clock_ns() + (uint64_t) (seconds * 1e9);
    run(&l);
    printf("%llu %llu\n", (unsigned long long) l.sent,
           (unsigned long long) l.refused);
    close(l.fd);
    return 0;
}
