/* SPDX-License-Identifier: Apache-2.0
 *
 * The provider for interfaces that exist: an AF_PACKET socket with a receive
 * ring, and three more to send on, one of them with a ring too.  Here:
 * opening, and the kernel's counters; afpacket_rx.c receives, afpacket_tx.c
 * sends.  See netdev.h for threads.
 */
#include "netdev/afpacket.h"

#include "netdev/link.h"
#include "wire/eth.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* Receive ring unless the port says otherwise, and what it may say, bytes. */
#define RING_DEFAULT (2u << 20)
#define RING_MIN     (64u << 10)
#define RING_MAX     (1u << 30)
/* The kernel's allocation unit for the ring.  It need not be contiguous, but
 * is where memory allows. */
#define BLOCK_BYTES (256u << 10)
/* Octets of a slot before the frame: two headers, the vnet header, and what
 * the kernel aligns (tpacket_rcv()), for frames with a tag in the data too. */
#define SLOT_HEAD 96
/* All of the transmit ring. */
#define TX_MAP_BYTES (AFPACKET_TX_SLOTS * AFPACKET_TX_SLOT_BYTES)
/* Super-frames queued on the socket beside the ring, bytes of memory. */
#define QUEUE_BYTES (8u << 20)
/* Memory of frames that we sent and that their receiver has not taken yet:
 * beyond it, sending is refused and the frames stay in our queues. */
#define SEND_BYTES (1u << 20)
/* The same of super-frames, each of which is up to 46 KB of frames. */
#define SEND_OPEN_BYTES (4u << 20)

static int
set_int(int fd, int level, int opt, int value)
{
    return setsockopt(fd, level, opt, &value, sizeof(value)) ? errno : 0;
}

/* The kernel doubles what it is told; privileged, it does not cap it. */
static void
set_buffer(int fd, int force, int opt, int bytes)
{
    if (set_int(fd, SOL_SOCKET, force, bytes))
        set_int(fd, SOL_SOCKET, opt, bytes);
}

/* A slot that holds the largest frame of the pool.  An odd number of cache
 * lines, so that the headers of all slots do not share a few cache sets. */
static uint32_t
slot_bytes(uint32_t frame_bytes)
{
    uint32_t lines = (SLOT_HEAD + frame_bytes + 63) / 64;

    return (lines | 1) * 64;
}

static int
make_ring(struct afpacket *a, uint32_t ring_bytes, struct err *err)
{
    uint32_t slot = slot_bytes(a->frame_bytes);
    struct tpacket_req req = {.tp_frame_size = slot};
    uint32_t block = BLOCK_BYTES;
    uint32_t per_block;

    if (ring_bytes < block) /* a small ring, for tests and tiny systems */
        block = (ring_bytes + 4095) & ~4095u;
    per_block = block / slot;
    if (per_block == 0)
        return err_set(err, EINVAL, NULL, NULL, NULL,
                       "\"%s\": a receive ring of %u bytes does not hold one "
                       "frame of %u",
                       a->up.name, ring_bytes, a->frame_bytes);
    req.tp_block_size = block;
    req.tp_block_nr = ring_bytes / block;
    req.tp_frame_nr = req.tp_block_nr * per_block;
    if (setsockopt(a->rx_fd, SOL_PACKET, PACKET_RX_RING, &req, sizeof(req)))
        return err_sys(err, errno, "\"%s\": receive ring of %u bytes",
                       a->up.name, ring_bytes);
    a->map_bytes = (size_t) req.tp_block_nr * block;
    a->map = mmap(NULL, a->map_bytes, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_POPULATE, a->rx_fd, 0);
    if (a->map == MAP_FAILED) {
        a->map = NULL;
        return err_sys(err, errno, "\"%s\": mapping the receive ring",
                       a->up.name);
    }
    a->n_slots = req.tp_frame_nr;
    a->slots = calloc(a->n_slots, sizeof(*a->slots));
    a->ctl = calloc(a->n_slots, sizeof(*a->ctl));
    if (!a->slots || !a->ctl)
        return err_sys(err, ENOMEM, "\"%s\"", a->up.name);
    for (uint32_t i = 0; i < a->n_slots; i++)
        a->slots[i] = a->map + (size_t) (i / per_block) * block +
                      (size_t) (i % per_block) * slot;
    counter_set(&a->up.stats.n_ring_slots, a->n_slots);
    a->up.rx_high = a->n_slots / NETDEV_RING_HIGH;
    return 0;
}

/* Every option that the receiving socket needs, the ring included. */
static int
set_up_rx(struct afpacket *a, uint32_t ring_bytes, struct err *err)
{
    static const struct {
        int opt;
        int value;
        const char *name;
    } opts[] = {
        {PACKET_VERSION, TPACKET_V2, "ring version 2"},
        {PACKET_VNET_HDR, 1, "offload headers"},
        {PACKET_COPY_THRESH, 1, "queueing of long frames"},
        {PACKET_IGNORE_OUTGOING, 1, "ignoring of sent frames (Linux 4.20)"},
    };
    struct packet_mreq promisc = {.mr_ifindex = (int) a->up.ifindex,
                                  .mr_type = PACKET_MR_PROMISC};

    for (size_t i = 0; i < sizeof(opts) / sizeof(opts[0]); i++) {
        int rc = set_int(a->rx_fd, SOL_PACKET, opts[i].opt, opts[i].value);

        if (rc)
            return err_sys(err, rc, "\"%s\": the kernel refuses %s",
                           a->up.name, opts[i].name);
    }
    set_buffer(a->rx_fd, SO_RCVBUFFORCE, SO_RCVBUF, QUEUE_BYTES);
    if (setsockopt(a->rx_fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promisc,
                   sizeof(promisc)))
        return err_sys(err, errno, "\"%s\": promiscuous mode", a->up.name);
    return make_ring(a, ring_bytes, err);
}

/* Binds to the interface; a socket with protocol 0 receives nothing. */
static int
bind_to(const struct afpacket *a, int fd, uint16_t protocol, struct err *err)
{
    struct sockaddr_ll sll = {.sll_family = AF_PACKET,
                              .sll_protocol = htons(protocol),
                              .sll_ifindex = (int) a->up.ifindex};

    if (bind(fd, (const void *) &sll, sizeof(sll)))
        return err_sys(err, errno, "\"%s\": bind", a->up.name);
    return 0;
}

/* With offload headers, which say how much of a frame is to be copied. */
static int
make_tx_ring(struct afpacket *a, struct err *err)
{
    struct tpacket_req req = {
        .tp_block_size = BLOCK_BYTES,
        .tp_block_nr = TX_MAP_BYTES / BLOCK_BYTES,
        .tp_frame_size = AFPACKET_TX_SLOT_BYTES,
        .tp_frame_nr = AFPACKET_TX_SLOTS,
    };

    if (set_int(a->ring_fd, SOL_PACKET, PACKET_VERSION, TPACKET_V2) ||
        set_int(a->ring_fd, SOL_PACKET, PACKET_VNET_HDR, 1) ||
        setsockopt(a->ring_fd, SOL_PACKET, PACKET_TX_RING, &req, sizeof(req)))
        return err_sys(err, errno, "\"%s\": transmit ring", a->up.name);
    a->tx_map = mmap(NULL, TX_MAP_BYTES, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_POPULATE, a->ring_fd, 0);
    if (a->tx_map == MAP_FAILED) {
        a->tx_map = NULL;
        return err_sys(err, errno, "\"%s\": mapping the transmit ring",
                       a->up.name);
    }
    return 0;
}

static int
set_up_tx(struct afpacket *a, struct err *err)
{
    const struct {
        int fd;
        int bytes;
    } fds[] = {
        {a->ring_fd, SEND_BYTES},
        {a->tx_fd, SEND_BYTES},
        {a->open_fd, SEND_OPEN_BYTES},
    };
    int rc = set_int(a->open_fd, SOL_PACKET, PACKET_VNET_HDR, 1);

    if (rc)
        return err_sys(err, rc, "\"%s\": the kernel refuses offload headers",
                       a->up.name);
    rc = make_tx_ring(a, err);
    for (size_t i = 0; rc == 0 && i < sizeof(fds) / sizeof(fds[0]); i++) {
        set_buffer(fds[i].fd, SO_SNDBUFFORCE, SO_SNDBUF, fds[i].bytes);
        if (a->is_bypass)
            set_int(fds[i].fd, SOL_PACKET, PACKET_QDISC_BYPASS, 1);
        rc = bind_to(a, fds[i].fd, 0, err);
    }
    return rc;
}

static int
open_sockets(struct afpacket *a, uint32_t ring_bytes, struct err *err)
{
    int *fds[] = {&a->rx_fd, &a->ring_fd, &a->tx_fd, &a->open_fd};
    int rc;

    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        *fds[i] =
            socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (*fds[i] < 0)
            return err_sys(err, errno, "\"%s\": packet socket", a->up.name);
    }
    rc = set_up_rx(a, ring_bytes, err);
    if (rc == 0)
        rc = set_up_tx(a, err);
    return rc ? rc : bind_to(a, a->rx_fd, ETH_P_ALL, err);
}

static void
afpacket_close(struct netdev *dev)
{
    struct afpacket *a = (struct afpacket *) dev;

    if (a->map)
        munmap(a->map, a->map_bytes);
    if (a->tx_map)
        munmap(a->tx_map, TX_MAP_BYTES);
    if (a->rx_fd >= 0)
        close(a->rx_fd);
    if (a->ring_fd >= 0)
        close(a->ring_fd);
    if (a->tx_fd >= 0)
        close(a->tx_fd);
    if (a->open_fd >= 0)
        close(a->open_fd);
    afpacket_drop_super(a);
    free(a->super);
    free(a->ctl);
    free(a->slots);
    free(a);
}

/* Looks the interface up, makes sure that we can use it, turns it up. */
static int
find_interface(struct afpacket *a, struct err *err)
{
    struct link_info info;
    int rc = iface_take(&a->up, &a->drops, &info, err);

    if (rc)
        return rc;
    a->is_bypass = info.kind[0] == '\0' || info.is_tap;
    a->mtu = info.mtu;
    return 0;
}

static int
afpacket_open(const struct netdev_args *args, struct netdev **out,
              struct err *err)
{
    uint32_t ring_bytes = args->ring_bytes ? args->ring_bytes : RING_DEFAULT;
    struct afpacket *a;
    int rc;

    if (ring_bytes < RING_MIN || ring_bytes > RING_MAX)
        return err_set(err, EINVAL, NULL, NULL, "64K to 1G",
                       "\"%s\": a receive ring of %u bytes; 64K to 1G is "
                       "allowed",
                       args->name, ring_bytes);
    a = aligned_alloc(64, (sizeof(*a) + 63) & ~(size_t) 63);
    if (!a)
        return err_sys(err, ENOMEM, "\"%s\"", args->name);
    *a = (struct afpacket){
        .up = {.cls = &netdev_afpacket,
               .has_lookahead = true,
               .tx_look = NETDEV_TX_LOOK},
        .pool = args->pool,
        .frame_bytes = pkt_pool_frame_bytes(args->pool),
        .rx_fd = -1,
        .ring_fd = -1,
        .tx_fd = -1,
        .open_fd = -1,
    };
    strcpy(a->up.name, args->name); /* netdev_open() checked its length */
    a->super = malloc(GSO_MAX_FRAME);
    if (!a->super)
        rc = err_sys(err, ENOMEM, "\"%s\"", args->name);
    else
        rc = find_interface(a, err);
    if (rc == 0)
        rc = open_sockets(a, ring_bytes, err);
    if (rc) {
        afpacket_close(&a->up);
        return rc;
    }
    iface_begin(&a->up, &a->drops);
    *out = &a->up;
    return 0;
}

static int
afpacket_fd(const struct netdev *dev)
{
    return ((const struct afpacket *) dev)->rx_fd;
}

static int
afpacket_tx_fd(const struct netdev *dev)
{
    return ((const struct afpacket *) dev)->tx_fd;
}

static void
afpacket_poll_kernel(struct netdev *dev)
{
    struct afpacket *a = (struct afpacket *) dev;
    struct netdev_stats *stats = &dev->stats;
    struct tpacket_stats st;
    socklen_t len = sizeof(st);
    struct link_info info;

    if (getsockopt(a->rx_fd, SOL_PACKET, PACKET_STATISTICS, &st, &len) == 0)
        a->ring_drops += st.tp_drops; /* reading sets it to zero */
    iface_raise(&stats->rx_ring_drops, a->ring_drops + counter_get(&a->n_lost),
                0);
    if (link_get_index(dev->ifindex, &info, NULL))
        return;
    __atomic_store_n(&a->no_carrier, !info.running, __ATOMIC_RELAXED);
    __atomic_store_n(&a->mtu, info.mtu, __ATOMIC_RELAXED);
    /* What the interface counts as rx_dropped holds, beside real losses, every
     * tagged frame that no VLAN device and no protocol of the host took after
     * we had got it, and what our ring had no room for, which is counted
     * apart.  What neither can explain is a loss: never too much, and exact
     * once traffic rests. */
    iface_count(dev, &a->drops, &info,
                counter_get(&a->n_tagged) + a->ring_drops,
                counter_get(&a->n_refused));
}

/* The slots of the ring, and segments that are being made, are as long as the
 * frames of the pool. */
static bool
afpacket_set_pool(struct netdev *dev, struct pkt_pool *pool, bool only_ask)
{
    struct afpacket *a = (struct afpacket *) dev;

    if (pkt_pool_frame_bytes(pool) != a->frame_bytes)
        return false;
    if (!only_ask) {
        afpacket_drop_super(a);
        a->pool = pool;
    }
    return true;
}

const struct netdev_class netdev_afpacket = {
    .type = "afpacket",
    .on_interface = true,
    .open = afpacket_open,
    .close = afpacket_close,
    .rx = afpacket_rx,
    .tx = afpacket_tx,
    .fd = afpacket_fd,
    .tx_fd = afpacket_tx_fd,
    .poll_kernel = afpacket_poll_kernel,
    .set_pool = afpacket_set_pool,
};
