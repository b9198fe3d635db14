/* SPDX-License-Identifier: Apache-2.0
 *
 * bare_loop: what the kernel interface allows, to measure the switch against.
 * Frames from the TPACKET_V2 ring of each of two interfaces go out of the
 * other with sendmmsg(), straight from their slots; nothing is looked at,
 * copied, restored, counted or queued.
 *
 *   bare_loop [-b] [-s] [-v] IFACE IFACE
 *
 * -b: sends bypass the interface's queue.  -s: one socket per interface for
 * both ways.  -v: with offload headers (PACKET_VNET_HDR) on the ring's socket.
 * Runs until it is killed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define BATCH      32
#define RING_BYTES (2u << 20)
#define SLOT_BYTES 2048u
#define N_SLOTS    (RING_BYTES / SLOT_BYTES)

struct end {
    int rx_fd;     /* has the ring */
    int tx_fd;     /* sends */
    uint8_t *ring; /* slots */
    uint32_t next; /* next slot to look at */
    bool vnet;     /* frames are sent with an offload header */
};

static void
fail(const char *what)
{
    perror(what);
    exit(1);
}

static void
bind_to(int fd, const char *iface, uint16_t protocol)
{
    struct sockaddr_ll sll = {.sll_family = AF_PACKET,
                              .sll_protocol = htons(protocol),
                              .sll_ifindex = (int) if_nametoindex(iface)};

    if (!sll.sll_ifindex || bind(fd, (const void *) &sll, sizeof(sll)))
        fail(iface);
}

static struct end
open_end(const char *iface, bool bypass, bool single, bool vnet)
{
    struct tpacket_req req = {.tp_block_size = RING_BYTES,
                              .tp_block_nr = 1,
                              .tp_frame_size = SLOT_BYTES,
                              .tp_frame_nr = N_SLOTS};
    struct end e = {.vnet = single && vnet};
    int version = TPACKET_V2, one = 1;
    struct packet_mreq promisc = {.mr_ifindex = (int) if_nametoindex(iface),
                                  .mr_type = PACKET_MR_PROMISC};

    e.rx_fd = socket(AF_PACKET, SOCK_RAW, 0);
    e.tx_fd = single ? e.rx_fd : socket(AF_PACKET, SOCK_RAW, 0);
    if (e.rx_fd < 0 || e.tx_fd < 0 ||
        setsockopt(e.rx_fd, SOL_PACKET, PACKET_VERSION, &version,
                   sizeof(version)) ||
        setsockopt(e.rx_fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one,
                   sizeof(one)) ||
        setsockopt(e.rx_fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promisc,
                   sizeof(promisc)) ||
        (vnet && setsockopt(e.rx_fd, SOL_PACKET, PACKET_VNET_HDR, &one,
                            sizeof(one))) ||
        (bypass && setsockopt(e.tx_fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one,
                              sizeof(one))) ||
        setsockopt(e.rx_fd, SOL_PACKET, PACKET_RX_RING, &req, sizeof(req)))
        fail(iface);
    e.ring = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_POPULATE, e.rx_fd, 0);
    if (e.ring == MAP_FAILED)
        fail("mmap");
    if (!single)
        bind_to(e.tx_fd, iface, 0);
    bind_to(e.rx_fd, iface, ETH_P_ALL);
    return e;
}

static struct tpacket2_hdr *
slot(const struct end *e, uint32_t i)
{
    return (void *) (e->ring + (size_t) (i % N_SLOTS) * SLOT_BYTES);
}

/* Forwards one batch; returns how many frames. */
static uint32_t
forward(struct end *from, const struct end *to)
{
    static struct virtio_net_hdr zeros;
    struct mmsghdr msgs[BATCH];
    struct iovec iov[BATCH][2];
    uint32_t n = 0, sent = 0;

    for (; n < BATCH; n++) {
        struct tpacket2_hdr *h = slot(from, from->next + n);
        int k = 0;

        if (!(__atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE) &
              TP_STATUS_USER))
            break;
        if (to->vnet)
            iov[n][k++] = (struct iovec){&zeros, sizeof(zeros)};
        iov[n][k++] = (struct iovec){(uint8_t *) h + h->tp_mac, h->tp_snaplen};
        msgs[n] = (struct mmsghdr){
            .msg_hdr = {.msg_iov = iov[n], .msg_iovlen = (size_t) k}};
    }
    while (sent < n) {
        int k = sendmmsg(to->tx_fd, msgs + sent, n - sent, MSG_DONTWAIT);

        if (k > 0)
            sent += (uint32_t) k;
        else if (errno != EAGAIN && errno != ENOBUFS)
            fail("sendmmsg");
    }
    for (uint32_t i = 0; i < n; i++)
        __atomic_store_n(&slot(from, from->next + i)->tp_status,
                         TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    from->next += n;
    return n;
}

int
main(int argc, char **argv)
{
    bool bypass = false, single = false, vnet = false;
    struct end a, b;
    int opt;

    while ((opt = getopt(argc, argv, "bsv")) >= 0) {
        bypass |= opt == 'b';
        single |= opt == 's';
        vnet |= opt == 'v';
        if (opt == '?')
            exit(2);
    }
    if (argc - optind != 2) {
        fprintf(stderr, "usage: bare_loop [-b] [-s] [-v] IFACE IFACE\n");
        exit(2);
    }
    a = open_end(argv[optind], bypass, single, vnet);
    b = open_end(argv[optind + 1], bypass, single, vnet);
    for (;;) {
        struct pollfd pfd[2] = {{.fd = a.rx_fd, .events = POLLIN},
                                {.fd = b.rx_fd, .events = POLLIN}};

        if (forward(&a, &b) + forward(&b, &a) == 0)
            poll(pfd, 2, -1);
    }
}
