/* SPDX-License-Identifier: Apache-2.0
 *
 * The provider for interfaces that exist, through AF_XDP: the buffers of the
 * bridge's pool are the kernel's buffers (UMEM), so that a frame crosses the
 * switch without a copy of ours, from an XDP port to another or to a port of
 * any other type.  Here: opening, closing, and the kernel's counters.  See
 * netdev.h for threads.
 *
 * Each port registers the pool's arena as a UMEM of its own; the kernel allows
 * that, and who owns a buffer is known here (lib/pkt/share.h).  One UMEM for
 * several sockets would be the same memory and the same work.
 *
 * The chunks are "unaligned": buffers lie as the pool wants them, one after
 * the other, not at powers of two, which would waste memory and have the first
 * lines of all frames fall into a few sets of the cache.  A chunk may reach
 * into the next buffer; the program in the driver lets no frame in that would.
 *
 * Frames that are longer than a chunk (4096 octets with the room before the
 * frame) come in several, if the kernel can (6.6), and are put together: all
 * but the first part of a jumbo frame is copied.  They are sent in several
 * parts from the one buffer.
 */
#include "netdev/afxdp.h"

#include "netdev/link.h"
#include "netdev/ethtool.h"
#include "pkt/share.h"

#include <assert.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/if_xdp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Receive ring unless the port says otherwise, bytes of buffers, and what it
 * may say. */
#define RING_DEFAULT (2u << 20)
#define RING_MIN     (64u << 10)
#define RING_MAX     (1u << 30)
#define SLOTS_MIN    64u
#define SLOTS_MAX    65536u
#define SLOTS_SMALL  256u /* an automatic ring has as many at least */
#define CHUNK_MIN    2048u
#define CHUNK_MAX    4096u
/* Memory of frames that we sent and that their receiver has not taken yet. */
#define SEND_BYTES (2u << 20)
/* How often, and after what time, a queue that is in use is asked for again.
 */
#define BUSY_TRIES   50
#define BUSY_WAIT_NS 10000000

#ifndef XDP_USE_SG /* headers before Linux 6.6 lack it */
#define XDP_USE_SG (1 << 4)
#endif

static uint32_t
power_of_two(uint32_t n)
{
    uint32_t p = SLOTS_MIN;

    while (p < n && p < SLOTS_MAX)
        p *= 2;
    return p;
}

/* How many buffers to park with the kernel.  A ring of which nobody said how
 * large it must be may take half of the spare ones that are left. */
static int
choose_slots(struct afxdp *a, const struct netdev_args *args, struct err *err)
{
    uint32_t stride = pkt_pool_stride(a->pool);
    uint32_t left = pkt_spare_left(a->pool);
    uint32_t bytes = args->ring_bytes ? args->ring_bytes : RING_DEFAULT;

    if (bytes < RING_MIN || bytes > RING_MAX)
        return err_set(err, EINVAL, NULL, NULL, "64K to 1G",
                       "\"%s\": a receive ring of %u bytes; 64K to 1G is "
                       "allowed",
                       a->up.name, bytes);
    a->n_slots = bytes / stride;
    left = left > AFXDP_N_COPIES ? left - AFXDP_N_COPIES : 0;
    if (!args->ring_bytes && a->n_slots < SLOTS_SMALL)
        a->n_slots = SLOTS_SMALL;
    if ((!args->ring_bytes || args->is_ring_auto) && a->n_slots > left / 2)
        a->n_slots = left / 2;
    if (a->n_slots < SLOTS_MIN)
        a->n_slots = SLOTS_MIN;
    if (a->n_slots > SLOTS_MAX)
        a->n_slots = SLOTS_MAX;
    if (a->n_slots > left)
        return err_set(err, ENOSPC, NULL, a->up.name,
                       "rings that fit the bridge's memory_bytes once more",
                       "\"%s\": a receive ring of %u frames, and the rings "
                       "of all AF_XDP ports of a bridge may have as much as "
                       "its memory_bytes beside: there is room for %u; make "
                       "the memory larger or rings smaller",
                       a->up.name, a->n_slots, left);
    counter_set(&a->up.stats.n_ring_slots, a->n_slots);
    a->up.rx_high = a->n_slots / NETDEV_RING_HIGH;
    return 0;
}

/* Looks the interface up, makes sure that we can use it, turns it up. */
static int
find_interface(struct afxdp *a, bool *is_veth, bool *is_nic, struct err *err)
{
    struct link_info info;
    int rc = iface_take(&a->up, &a->drops, &info, err);

    if (rc)
        return rc;
    *is_nic = info.kind[0] == '\0';
    *is_veth = strcmp(info.kind, "veth") == 0;
    a->completes_csum = !*is_nic;
    a->needs_tags = *is_veth;
    return 0;
}

/* One queue is one socket, and one is what a port has. */
static int
check_queues(const struct afxdp *a, struct err *err)
{
    bool combined;
    uint32_t n = ethtool_n_rx_queues(a->up.name, &combined);

    if (n <= 1)
        return 0;
    return err_set(err, EINVAL, NULL, a->up.name,
                   "an interface with one receive queue",
                   "\"%s\" has %u receive queues, and an afxdp port reads "
                   "one: 'ethtool -L %s %s 1' leaves it one; or use "
                   "type afpacket",
                   a->up.name, n, a->up.name, combined ? "combined" : "rx");
}

static int
make_umem(struct afxdp *a, struct err *err)
{
    uint32_t stride = pkt_pool_stride(a->pool);
    struct xsk_umem_config conf = {
        .fill_size = power_of_two(a->n_slots),
        .comp_size = AFXDP_MAX_HELD,
        .flags = XDP_UMEM_UNALIGNED_CHUNK_FLAG,
    };
    size_t bytes;
    int rc;

    a->chunk_bytes = stride < CHUNK_MIN   ? CHUNK_MIN
                     : stride > CHUNK_MAX ? CHUNK_MAX
                                          : stride;
    conf.frame_size = a->chunk_bytes;
    a->is_multi = a->frame_bytes > a->chunk_bytes - PKT_HEADROOM;
    a->arena = pkt_pool_arena(a->pool, &bytes);
    rc = -xsk_umem__create(&a->umem, a->arena, bytes, &a->fill, &a->sent,
                           &conf);
    if (rc == EPERM)
        return err_set(err, EPERM, NULL, a->up.name, NULL,
                       "\"%s\": not permitted to open an AF_XDP socket: "
                       "CAP_NET_RAW is needed, and CAP_IPC_LOCK or a "
                       "sufficient RLIMIT_MEMLOCK for %zu bytes",
                       a->up.name, bytes);
    if (rc == ENOBUFS)
        return err_set(err, EPERM, NULL, a->up.name, NULL,
                       "\"%s\": not permitted to lock %zu bytes of buffers: "
                       "CAP_IPC_LOCK is needed, or a sufficient "
                       "RLIMIT_MEMLOCK",
                       a->up.name, bytes);
    if (rc)
        return err_sys(err, rc, "\"%s\": registering %zu bytes of buffers",
                       a->up.name, bytes);
    return 0;
}

static int
make_socket(struct afxdp *a, bool native, struct err *err)
{
    struct xsk_socket_config conf = {
        .rx_size = power_of_two(a->n_slots),
        .tx_size = AFXDP_TX_SLOTS,
        .libbpf_flags = XSK_LIBBPF_FLAGS__INHIBIT_PROG_LOAD,
        .bind_flags = XDP_USE_NEED_WAKEUP,
    };
    int bytes = SEND_BYTES, rc;

    if (!native)
        conf.bind_flags |= XDP_COPY;
    if (a->is_multi)
        conf.bind_flags |= XDP_USE_SG;
    rc = -xsk_socket__create(&a->sock, a->up.name, 0, a->umem, &a->rx, &a->tx,
                             &conf);
    if (rc && a->is_multi)
        return err_sys(err, rc,
                       "\"%s\": frames of %u octets need a kernel and a "
                       "driver that receive in several parts (Linux 6.6); "
                       "max_frame_bytes up to %u does not",
                       a->up.name, a->frame_bytes, CHUNK_MAX - PKT_HEADROOM);
    if (rc == EBUSY)
        return err_set(err, EBUSY, NULL, a->up.name,
                       "an interface that nothing else uses through AF_XDP",
                       "\"%s\": something else has an AF_XDP socket on it",
                       a->up.name);
    if (rc)
        return err_sys(err, rc, "\"%s\": AF_XDP socket", a->up.name);
    a->fd = xsk_socket__fd(a->sock);
    if (setsockopt(a->fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)))
        setsockopt(a->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
    return 0;
}

/* The kernel lets go of a queue some time after the socket that had it was
 * closed, or the process that had it was killed. */
static int
bind_queue(struct afxdp *a, bool native, struct err *err)
{
    int rc = EBUSY;

    for (int i = 0; i < BUSY_TRIES && rc == EBUSY; i++) {
        if (i > 0) {
            xsk_umem__delete(a->umem);
            a->umem = NULL;
            nanosleep(&(struct timespec){0, BUSY_WAIT_NS}, NULL);
        }
        rc = make_umem(a, err);
        if (rc == 0)
            rc = make_socket(a, native, err);
    }
    return rc;
}

/* A packet socket that receives nothing keeps the interface promiscuous for as
 * long as it is open. */
static int
make_promiscuous(struct afxdp *a, struct err *err)
{
    struct packet_mreq promisc = {.mr_ifindex = (int) a->up.ifindex,
                                  .mr_type = PACKET_MR_PROMISC};

    a->promisc_fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (a->promisc_fd < 0 ||
        setsockopt(a->promisc_fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promisc,
                   sizeof(promisc)))
        return err_sys(err, errno, "\"%s\": promiscuous mode", a->up.name);
    return 0;
}

/* The kernel's ring gets its buffers, and the port those for copies. */
static int
park_buffers(struct afxdp *a, struct err *err)
{
    size_t bytes, n_bits;
    uint32_t idx = 0;

    pkt_pool_arena(a->pool, &bytes);
    n_bits = bytes / pkt_pool_stride(a->pool) + 1;
    a->held = calloc((n_bits + 63) / 64, sizeof(*a->held));
    a->done = calloc(a->rx.size / 64, sizeof(*a->done));
    a->parked = calloc(a->n_slots, sizeof(struct pkt *));
    if (!a->held || !a->done || !a->parked)
        return err_sys(err, ENOMEM, "\"%s\"", a->up.name);
    if (!pkt_spare_take(a->pool, a->all_copies, AFXDP_N_COPIES))
        return err_sys(err, ENOSPC, "\"%s\": spare buffers", a->up.name);
    memcpy(a->copies, a->all_copies, sizeof(a->copies));
    a->n_copies = AFXDP_N_COPIES;
    if (!pkt_spare_take(a->pool, a->parked, a->n_slots))
        return err_sys(err, ENOSPC, "\"%s\": spare buffers", a->up.name);
    a->n_pkts_parked = a->n_slots;
    xsk_ring_prod__reserve(&a->fill, a->n_slots, &idx);
    for (uint32_t i = 0; i < a->n_slots; i++)
        *xsk_ring_prod__fill_addr(&a->fill, idx + i) =
            pkt_ofs(a->pool, a->parked[i]->data - PKT_HEADROOM);
    xsk_ring_prod__submit(&a->fill, a->n_slots);
    return 0;
}

/* --- closing ------------------------------------------------------------ */

/* What is in the two rings of receiving goes back.  The kernel is done with
 * them, but the rings are still mapped. */
static void
unpark_buffers(struct afxdp *a)
{
    uint32_t n = 0;

    if (!a->n_pkts_parked)
        return;
    for (uint32_t i = *a->rx.consumer; i != *a->rx.producer; i++) {
        const struct xdp_desc *d = xsk_ring_cons__rx_desc(&a->rx, i);
        bool is_done = a->done[(i & a->rx.mask) / 64] >> (i & 63) & 1;

        if (!is_done && n < a->n_slots)
            a->parked[n++] = pkt_at(a->pool, xsk_umem__extract_addr(d->addr));
    }
    for (uint32_t i = *a->fill.consumer; i != *a->fill.producer; i++)
        if (n < a->n_slots)
            a->parked[n++] =
                pkt_at(a->pool, *xsk_ring_prod__fill_addr(&a->fill, i));
    /* Fewer, when a driver keeps some: it is done with them, too, but nobody
     * knows which they were. */
    pkt_spare_give(a->pool, a->parked, n);
    a->n_pkts_parked = 0;
}

/* Buffers of frames that the kernel had not sent yet. */
static void
leave_held(struct afxdp *a)
{
    struct pkt *owners[AFXDP_MAX_HELD];
    uint32_t n = 0;
    size_t bytes, n_bits;

    if (!a->all_copies[0])
        return;
    pkt_pool_arena(a->pool, &bytes);
    n_bits = bytes / pkt_pool_stride(a->pool) + 1;
    for (size_t w = 0; w < (n_bits + 63) / 64; w++)
        for (uint64_t m = a->held[w]; m && n < AFXDP_MAX_HELD; m &= m - 1)
            owners[n++] =
                pkt_at(a->pool, (w * 64 + (unsigned) __builtin_ctzll(m)) *
                                    pkt_pool_stride(a->pool));
    pkt_leave(a->pool, owners, n);
    pkt_spare_give(a->pool, a->all_copies, AFXDP_N_COPIES);
}

static void
afxdp_close(struct netdev *dev)
{
    struct afxdp *a = (struct afxdp *) dev;

    afxdp_prog_detach(&a->prog);
    if (a->sock)
        unpark_buffers(a);
    if (a->sock)
        xsk_socket__delete(a->sock);
    if (a->umem)
        xsk_umem__delete(a->umem);
    if (a->pool)
        leave_held(a);
    if (a->promisc_fd >= 0)
        close(a->promisc_fd);
    ethtool_restore(a->up.name, a->offloads_off);
    free(a->parked);
    free(a->done);
    free(a->held);
    free(a);
}

/* --- opening ------------------------------------------------------------ */

/* Whether frames come as they were on the wire, in that mode.  What cannot be
 * undone must not be there: a tag that lies beside a frame and is not seen, or
 * frames that were merged to super-frames. */
static int
check_restoring(struct afxdp *a, bool native, bool is_veth, bool is_nic,
                struct err *err)
{
    if (is_nic) {
        a->offloads_off = ethtool_disable(a->up.name, !native);
        return 0;
    }
    if (native)
        return 0;
    return err_set(err, EOPNOTSUPP, NULL, a->up.name,
                   "an interface whose driver has native XDP, or a NIC",
                   "\"%s\": its driver has no native XDP, and in generic mode "
                   "%s would lose VLAN tags and super-frames: use type "
                   "afpacket",
                   a->up.name, is_veth ? "a veth" : "a virtual interface");
}

static int
open_mode(struct afxdp *a, const struct netdev_args *args, bool native,
          struct err *err)
{
    bool is_veth = false, is_nic = false;
    int rc = find_interface(a, &is_veth, &is_nic, err);

    if (rc == 0)
        rc = check_queues(a, err);
    if (rc == 0 && !args->only_generic)
        rc = check_restoring(a, native, is_veth, is_nic, err);
    if (rc == 0)
        rc = choose_slots(a, args, err);
    if (rc == 0)
        rc = bind_queue(a, native, err);
    if (rc == 0)
        rc = make_promiscuous(a, err);
    if (rc == 0)
        rc = park_buffers(a, err);
    if (rc == 0)
        rc = afxdp_prog_attach(a, native, err);
    return rc;
}

/* What `port show` says. */
static void
name_mode(struct afxdp *a, bool native)
{
    struct xdp_options opts = {0};
    socklen_t len = sizeof(opts);

    a->is_zero_copy =
        getsockopt(a->fd, SOL_XDP, XDP_OPTIONS, &opts, &len) == 0 &&
        (opts.flags & XDP_OPTIONS_ZEROCOPY);
    if (!a->is_zero_copy) /* else tx hands frames over, and waits for none */
        a->up.tx_look = NETDEV_TX_LOOK;
    a->up.mode = !native           ? "generic"
                 : a->is_zero_copy ? "native-zerocopy"
                                   : "native";
}

static int
try_mode(const struct netdev_args *args, bool native, struct netdev **out,
         struct err *err)
{
    struct afxdp *a = aligned_alloc(64, (sizeof(*a) + 63) & ~(size_t) 63);
    int rc;

    if (!a)
        return err_sys(err, ENOMEM, "\"%s\"", args->name);
    *a = (struct afxdp){
        .up = {.cls = &netdev_afxdp, .has_lookahead = true},
        .pool = args->pool,
        .frame_bytes = pkt_pool_frame_bytes(args->pool),
        .fd = -1,
        .promisc_fd = -1,
        .prog = {-1, -1, -1, -1, NULL},
    };
    strcpy(a->up.name, args->name); /* netdev_open() checked its length */
    rc = open_mode(a, args, native, err);
    if (rc) {
        afxdp_close(&a->up);
        return rc;
    }
    iface_begin(&a->up, &a->drops);
    name_mode(a, native);
    *out = &a->up;
    return 0;
}

static int
afxdp_open(const struct netdev_args *args, struct netdev **out,
           struct err *err)
{
    int rc = args->only_generic ? EOPNOTSUPP : try_mode(args, true, out, err);

    return rc == EOPNOTSUPP && !args->only_native
               ? try_mode(args, false, out, err)
               : rc;
}

static int
afxdp_fd(const struct netdev *dev)
{
    return ((const struct afxdp *) dev)->fd;
}

/* --- the kernel's counters ---------------------------------------------- */

/* What the program dropped, which no one is woken for. */
static void
count_dropped(struct afxdp *a)
{
    const struct afxdp_seen *seen = a->prog.seen;

    counter_set(&a->up.stats.rx_oversize,
                __atomic_load_n(&seen->n_oversize, __ATOMIC_RELAXED));
    counter_set(&a->up.stats.rx_bad,
                __atomic_load_n(&seen->n_bad, __ATOMIC_RELAXED) +
                    counter_get(&a->n_bad_parts));
}

static void
afxdp_poll_kernel(struct netdev *dev)
{
    struct afxdp *a = (struct afxdp *) dev;
    struct xdp_statistics st;
    socklen_t len = sizeof(st);
    struct link_info info;
    bool combined;

    if (getsockopt(a->fd, SOL_XDP, XDP_STATISTICS, &st, &len) == 0)
        iface_raise(&dev->stats.rx_ring_drops, st.rx_dropped + st.rx_ring_full,
                    0);
    count_dropped(a);
    if (link_get_index(dev->ifindex, &info, NULL))
        return;
    __atomic_store_n(&a->no_carrier, !info.running, __ATOMIC_RELAXED);
    /* What comes by further queues passes us by, uncounted. */
    dev->outgrown = ethtool_n_rx_queues(dev->name, &combined) > 1;
    /* What a driver counts as rx_dropped holds frames that our ring had no
     * room for. */
    iface_count(dev, &a->drops, &info, counter_get(&a->up.stats.rx_ring_drops),
                counter_get(&a->n_refused));
}

const struct netdev_class netdev_afxdp = {
    .type = "afxdp",
    .on_interface = true,
    .is_exclusive = true,
    .open = afxdp_open,
    .close = afxdp_close,
    .rx = afxdp_rx,
    .tx = afxdp_tx,
    .fd = afxdp_fd,
    .poll_kernel = afxdp_poll_kernel,
};
