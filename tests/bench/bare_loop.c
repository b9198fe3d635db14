/* SPDX-License-Identifier: Apache-2.0
 *
 * bare_loop: what the kernel interface allows, to measure the switch against.
 * Frames from the TPACKET_V2 ring of each of two interfaces go out of the
 * other, from slot to slot of its transmit ring; nothing is looked at,
 * restored, counted or queued.
 *
 *   bare_loop [-b] [-m [-s] [-v]] IFACE IFACE
 *
 * -b: sends bypass the interface's queue.  -m: straight from their slots with
 * sendmmsg() instead.  With it, -s: one socket per interface for both ways;
 * -v: with offload headers (PACKET_VNET_HDR) on the receive ring's socket.
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
#define N_TX_SLOTS 256
/* Where the kernel expects the offload header in a slot, then the frame. */
#define TX_OFS (TPACKET2_HDRLEN - sizeof(struct sockaddr_ll))

static struct {
    bool bypass, mmsg, single, vnet; /* -b, -m, -s, -v */
} opt;

struct end {
    int rx_fd;        /* has the receive ring */
    int tx_fd;        /* sends */
    uint8_t *ring;    /* slots */
    uint32_t next;    /* next slot to look at */
    uint8_t *tx_ring; /* slots to send from; null: there are none */
    uint32_t tx_next; /* next slot to fill */
    bool vnet;        /* messages begin with an offload header */
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

static void
set(int fd, int name, int value)
{
    if (setsockopt(fd, SOL_PACKET, name, &value, sizeof(value)))
        fail("socket option");
}

static uint8_t *
make_ring(int fd, int name, uint32_t n_slots)
{
    struct tpacket_req req = {.tp_block_size = n_slots * SLOT_BYTES,
                              .tp_block_nr = 1,
                              .tp_frame_size = SLOT_BYTES,
                              .tp_frame_nr = n_slots};
    void *ring;

    if (setsockopt(fd, SOL_PACKET, name, &req, sizeof(req)))
        fail("ring");
    ring = mmap(NULL, n_slots * SLOT_BYTES, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_POPULATE, fd, 0);
    if (ring == MAP_FAILED)
        fail("mmap");
    return ring;
}

static struct end
open_end(const char *iface)
{
    struct end e = {.vnet = opt.single && opt.vnet};
    struct packet_mreq promisc = {.mr_ifindex = (int) if_nametoindex(iface),
                                  .mr_type = PACKET_MR_PROMISC};

    e.rx_fd = socket(AF_PACKET, SOCK_RAW, 0);
    e.tx_fd = opt.single ? e.rx_fd : socket(AF_PACKET, SOCK_RAW, 0);
    if (e.rx_fd < 0 || e.tx_fd < 0 ||
        setsockopt(e.rx_fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promisc,
                   sizeof(promisc)))
        fail(iface);
    set(e.rx_fd, PACKET_VERSION, TPACKET_V2);
    set(e.rx_fd, PACKET_IGNORE_OUTGOING, 1);
    set(e.rx_fd, PACKET_VNET_HDR, opt.vnet);
    set(e.tx_fd, PACKET_QDISC_BYPASS, opt.bypass);
    e.ring = make_ring(e.rx_fd, PACKET_RX_RING, N_SLOTS);
    if (!opt.mmsg) {
        set(e.tx_fd, PACKET_VERSION, TPACKET_V2);
        set(e.tx_fd, PACKET_VNET_HDR, 1);
        e.tx_ring = make_ring(e.tx_fd, PACKET_TX_RING, N_TX_SLOTS);
    }
    if (!opt.single)
        bind_to(e.tx_fd, iface, 0);
    bind_to(e.rx_fd, iface, ETH_P_ALL);
    return e;
}

static struct tpacket2_hdr *
slot(uint8_t *ring, uint32_t i)
{
    return (void *) (ring + (size_t) i * SLOT_BYTES);
}

/* Sends n frames with a system call, or with more when one is refused. */
static void
send_messages(const struct end *to, struct iovec *frames, uint32_t n)
{
    static struct virtio_net_hdr zeros;
    struct mmsghdr msgs[BATCH];
    struct iovec iov[BATCH][2];
    uint32_t sent = 0;

    for (uint32_t i = 0; i < n; i++) {
        int k = 0;

        if (to->vnet)
            iov[i][k++] = (struct iovec){&zeros, sizeof(zeros)};
        iov[i][k++] = frames[i];
        msgs[i] = (struct mmsghdr){
            .msg_hdr = {.msg_iov = iov[i], .msg_iovlen = (size_t) k}};
    }
    while (sent < n) {
        int k = sendmmsg(to->tx_fd, msgs + sent, n - sent, MSG_DONTWAIT);

        if (k > 0)
            sent += (uint32_t) k;
        else if (errno != EAGAIN && errno != ENOBUFS)
            fail("sendmmsg");
    }
}

static void
flush(const struct end *to)
{
    if (sendto(to->tx_fd, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 &&
        errno != EAGAIN && errno != ENOBUFS)
        fail("transmit ring");
}

/* The same by the ring.  All of a frame is called header, so that the kernel
 * copies it, and does not refer to the slot. */
static void
send_slots(struct end *to, struct iovec *frames, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct tpacket2_hdr *h = slot(to->tx_ring, to->tx_next);
        struct virtio_net_hdr *vnet = (void *) ((uint8_t *) h + TX_OFS);

        while (__atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE) !=
               TP_STATUS_AVAILABLE)
            flush(to);
        memcpy(vnet + 1, frames[i].iov_base, frames[i].iov_len);
        vnet->hdr_len = (uint16_t) frames[i].iov_len;
        h->tp_len = (uint32_t) (sizeof(*vnet) + frames[i].iov_len);
        __atomic_store_n(&h->tp_status, TP_STATUS_SEND_REQUEST,
                         __ATOMIC_RELEASE);
        to->tx_next = (to->tx_next + 1) % N_TX_SLOTS;
    }
    flush(to);
}

/* Forwards one batch; returns how many frames. */
static uint32_t
forward(struct end *from, struct end *to)
{
    struct iovec frames[BATCH];
    uint32_t n = 0;

    for (; n < BATCH; n++) {
        struct tpacket2_hdr *h = slot(from->ring, (from->next + n) % N_SLOTS);

        if (!(__atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE) &
              TP_STATUS_USER))
            break;
        frames[n] = (struct iovec){(uint8_t *) h + h->tp_mac, h->tp_snaplen};
    }
    if (n > 0 && to->tx_ring)
        send_slots(to, frames, n);
    else if (n > 0)
        send_messages(to, frames, n);
    for (uint32_t i = 0; i < n; i++)
        __atomic_store_n(
            &slot(from->ring, (from->next + i) % N_SLOTS)->tp_status,
            TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    from->next += n;
    return n;
}

int
main(int argc, char **argv)
{
    struct end a, b;
    int c;

    while ((c = getopt(argc, argv, "bmsv")) >= 0) {
        opt.bypass |= c == 'b';
        opt.mmsg |= c == 'm';
        opt.single |= c == 's';
        opt.vnet |= c == 'v';
        if (c == '?')
            exit(2);
    }
    if (argc - optind != 2 || ((opt.single || opt.vnet) && !opt.mmsg)) {
        fprintf(stderr, "usage: bare_loop [-b] [-m [-s] [-v]] IFACE IFACE\n");
        exit(2);
    }
    a = open_end(argv[optind]);
    b = open_end(argv[optind + 1]);
    for (;;) {
        struct pollfd pfd[2] = {{.fd = a.rx_fd, .events = POLLIN},
                                {.fd = b.rx_fd, .events = POLLIN}};

        if (forward(&a, &b) + forward(&b, &a) == 0)
            poll(pfd, 2, -1);
    }
}
