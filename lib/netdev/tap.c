/* SPDX-License-Identifier: Apache-2.0
 *
 * The provider for TAP interfaces: one that the daemon makes, and that is
 * there while the daemon runs.  What the host sends to it arrives here.  See
 * netdev.h for threads.
 *
 * The host's stack is offered checksum and segmentation offloads, for a TCP
 * stream is several times as fast when it crosses /dev/net/tun in super-frames
 * that are cut up here.
 *
 * While the host has the interface administratively down, sending to it is
 * like sending to a host that is switched off: frames are taken and lost
 * (tx_errors), and the port stays.  It is not NETDEV_TX_DOWN, which says that
 * an interface has gone and must be attached again; a TAP cannot go while we
 * hold it, except when someone deletes it.
 *
 * The kernel does not say how full the queue towards us is.  Where senders are
 * held back they are also held to a rate, and what can have come at that rate
 * since a read first left something behind, less what was read, is what the
 * datapath is told.  What was left there first is not in it; the rest of the
 * queue, three parts in four, is for that.
 */
#include "netdev/gso.h"
#include "netdev/regroup.h"
#include "netdev/hold.h"
#include "netdev/link.h"
#include "netdev/netdev.h"

#include "base/clock.h"
#include "wire/eth.h"
#include "wire/macctl.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define TUN_PATH "/dev/net/tun"

#ifndef TUN_F_USO4 /* headers before Linux 6.2 lack them */
#define TUN_F_USO4 0x20
#define TUN_F_USO6 0x40
#endif

/* Frames that the kernel queues towards us: what a ring of ring_bytes of an
 * afpacket port would hold; the kernel's own default otherwise. */
#define QUEUE_FRAME_BYTES 2048
#define QUEUE_DEFAULT     1000
#define QUEUE_MIN         16
#define QUEUE_MAX         65536
/* An Ethernet header and two tags: what a frame has beyond the MTU. */
#define FRAME_OVERHEAD 22

struct tap {
    struct netdev up;      /* must be first */
    struct pkt_pool *pool; /* buffers to receive into */
    uint32_t frame_bytes;  /* longest frame that a buffer holds */
    uint32_t head_bytes;   /* octets of a read that go to the buffer */
    int fd;                /* /dev/net/tun, attached */
    uint64_t base_drop;    /* control: interface's tx_dropped at open */

    uint8_t *super;   /* a super-frame that is being cut up */
    struct gso gso;   /* how far that has come */
    bool has_gso;     /* there is one */
    uint64_t n_super; /* how many there were */
    bool is_gone;     /* dp: someone deleted the interface */

    struct hold *hold; /* holds senders back; null until it is first asked
                          for, then till the end: release and acquire */
    bool holds;        /* it is to; control's, relaxed, read by tx */
    uint8_t held;      /* dp: classes that are held */

    uint64_t rate_bps;   /* that senders are held to; control's, relaxed */
    uint64_t since_ns;   /* dp: no read found the queue empty since; 0: the
                            last one did */
    uint64_t n_octets;   /* dp: read since then */
    uint64_t frame_mean; /* dp: octets of what was read lately, a frame or
                            super-frame */
    uint64_t n_reads;    /* dp: of them */
};

/* Asks for the offloads, as many as the kernel knows. */
static int
offer_offloads(int fd)
{
    static const unsigned long sets[] = {
        TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN | TUN_F_USO4 |
            TUN_F_USO6,
        TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN,
        TUN_F_CSUM,
    };

    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        if (ioctl(fd, TUNSETOFFLOAD, sets[i]) == 0)
            return 0;
    }
    return errno;
}

/* The node is often for root alone, which a daemon that has become another
 * user is not, whatever its capabilities. */
static int
refuse_tun(const char *name, int error, struct err *err)
{
    struct stat st;

    if (error != EACCES || stat(TUN_PATH, &st))
        return err_sys(err, error, "\"%s\": cannot open %s", name, TUN_PATH);
    return err_set(err, error, NULL, name, NULL,
                   "\"%s\": cannot open %s: its mode %04o does not let user "
                   "%ld read and write it, as the user that the daemon runs "
                   "as (--user) has to",
                   name, TUN_PATH, (unsigned) (st.st_mode & 07777),
                   (long) geteuid());
}

/* Makes the interface and attaches to it. */
static int
attach(struct tap *t, struct err *err)
{
    struct ifreq ifr = {.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR};
    int size = sizeof(struct virtio_net_hdr);
    int rc;

    t->fd = open(TUN_PATH, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (t->fd < 0)
        return refuse_tun(t->up.name, errno, err);
    snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", t->up.name);
    if (ioctl(t->fd, TUNSETIFF, &ifr)) {
        rc = errno;
        if (rc == EINVAL || rc == EEXIST)
            return err_set(err, EEXIST, NULL, t->up.name,
                           "the name of no interface, or of a TAP one",
                           "\"%s\" exists and is not a TAP interface",
                           t->up.name);
        return err_sys(err, rc, "\"%s\": cannot make a TAP interface",
                       t->up.name);
    }
    if (ioctl(t->fd, TUNSETVNETHDRSZ, &size))
        return err_sys(err, errno, "\"%s\": offload headers", t->up.name);
    rc = offer_offloads(t->fd);
    return rc ? err_sys(err, rc, "\"%s\": offloads", t->up.name) : 0;
}

uint32_t
netdev_tap_queue(uint32_t ring_bytes)
{
    uint32_t queue = ring_bytes / QUEUE_FRAME_BYTES;

    if (!ring_bytes)
        return QUEUE_DEFAULT;
    return queue < QUEUE_MIN   ? QUEUE_MIN
           : queue > QUEUE_MAX ? QUEUE_MAX
                               : queue;
}

/* Address, MTU and queue as wanted; then up, unless it is to stay down. */
static int
configure(struct tap *t, const struct netdev_args *args, struct err *err)
{
    uint32_t queue = netdev_tap_queue(args->ring_bytes);
    struct link_info info;
    int rc = 0;

    if (args->have_mac)
        rc = link_set_mac(t->up.name, args->mac, err);
    if (rc == 0 && args->mtu)
        rc = link_set_mtu(t->up.name, args->mtu, err);
    if (rc == 0)
        rc = link_set_txqlen(t->up.name, queue, err);
    if (rc == 0 && !args->down)
        rc = link_set_up(t->up.name, true, err);
    if (rc == 0)
        rc = link_get(t->up.name, &info, err);
    if (rc)
        return rc;
    t->up.ifindex = info.ifindex;
    t->up.mtu = info.mtu;
    t->up.speed_bps = info.speed_bps;
    t->base_drop = info.tx_dropped;
    memcpy(t->up.mac, info.mac, sizeof(t->up.mac));
    counter_set(&t->up.stats.n_ring_slots, info.txqlen);
    t->up.rx_high = info.txqlen / NETDEV_RING_HIGH;
    t->frame_mean = info.mtu;
    return 0;
}

static void
tap_close(struct netdev *dev)
{
    struct tap *t = (struct tap *) dev;

    hold_close(t->hold);
    if (t->fd >= 0)
        close(t->fd);
    free(t->super);
    free(t);
}

static void
use_pool(struct tap *t, struct pkt_pool *pool)
{
    t->pool = pool;
    t->frame_bytes = pkt_pool_frame_bytes(pool);
    t->head_bytes =
        t->frame_bytes < GSO_MAX_FRAME ? t->frame_bytes : GSO_MAX_FRAME;
}

/* Any pool will do.  What is left of a super-frame was cut for the buffers of
 * the former one, and goes. */
static bool
tap_set_pool(struct netdev *dev, struct pkt_pool *pool, bool only_ask)
{
    struct tap *t = (struct tap *) dev;

    if (only_ask)
        return true;
    use_pool(t, pool);
    t->has_gso = false;
    return true;
}

static int
tap_open(const struct netdev_args *args, struct netdev **out, struct err *err)
{
    struct tap *t = calloc(1, sizeof(*t));
    int rc;

    if (!t)
        return err_sys(err, ENOMEM, "\"%s\"", args->name);
    t->up.cls = &netdev_tap;
    strcpy(t->up.name, args->name); /* netdev_open() checked its length */
    use_pool(t, args->pool);
    t->fd = -1;
    t->super = malloc(GSO_MAX_FRAME);
    if (!t->super)
        rc = err_sys(err, ENOMEM, "\"%s\"", args->name);
    else
        rc = attach(t, err);
    if (rc == 0)
        rc = configure(t, args, err);
    if (rc) {
        tap_close(&t->up);
        return rc;
    }
    *out = &t->up;
    return 0;
}

/* What was read: `n` octets, the first head_bytes of them in p, the rest in
 * t->super where it belongs.  True when p is a frame to hand over. */
static bool
finish(struct tap *t, struct pkt *p, size_t n,
       const struct virtio_net_hdr *vnet)
{
    if (n < ETH_HDR_LEN) {
        counter_add(&t->up.stats.rx_bad, 1);
        return false;
    }
    if (vnet->gso_type != VIRTIO_NET_HDR_GSO_NONE) {
        int rc;

        memcpy(t->super, p->data, n < t->head_bytes ? n : t->head_bytes);
        rc = gso_begin(&t->gso, t->super, n, vnet, NULL, t->frame_bytes);
        t->has_gso = rc == 0;
        t->n_super += rc == 0;
        counter_add(rc == 0          ? &t->up.stats.rx_gso
                    : rc == EMSGSIZE ? &t->up.stats.rx_oversize
                                     : &t->up.stats.rx_bad,
                    1);
        return false;
    }
    if (n > t->frame_bytes) {
        counter_add(&t->up.stats.rx_oversize, 1);
        return false;
    }
    p->len = (uint32_t) n;
    if ((vnet->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) &&
        !gso_leave_open(p, vnet->csum_start, vnet->csum_offset)) {
        counter_add(&t->up.stats.rx_bad, 1);
        return false;
    }
    return true;
}

/* Reads one frame into p.  False: there is none.  *take: p is a frame. */
static bool
read_frame(struct tap *t, struct pkt *p, bool *take)
{
    struct virtio_net_hdr vnet;
    struct iovec iov[3] = {
        {&vnet, sizeof(vnet)},
        {p->data, t->head_bytes},
        {t->super + t->head_bytes, GSO_MAX_FRAME - t->head_bytes},
    };
    ssize_t n;

    n = readv(t->fd, iov, 3);
    if (n < (ssize_t) sizeof(vnet)) {
        if (n < 0 && errno == EBADFD)
            t->is_gone = true; /* and will not come back here */
        t->since_ns = 0;
        return false;
    }
    t->n_octets += (uint64_t) n - sizeof(vnet);
    t->n_reads++;
    *take = finish(t, p, (size_t) n - sizeof(vnet), &vnet);
    return true;
}

/* A class should be held by now, and is not: nothing is read meanwhile. */
static bool
must_wait(const struct tap *t)
{
    const struct hold *hold = __atomic_load_n(&t->hold, __ATOMIC_ACQUIRE);

    return hold && __atomic_load_n(&t->holds, __ATOMIC_RELAXED) &&
           hold_is_late(hold);
}

/* How many frames may lie in the queue after a read.  Known is how many octets
 * they may be: in frames like those that were read. */
static void
note_level(struct tap *t)
{
    uint64_t rate_bps = __atomic_load_n(&t->rate_bps, __ATOMIC_RELAXED);
    uint64_t now_ns, came, level;

    t->up.rx_level = 0;
    if (!rate_bps || !t->since_ns)
        return;
    now_ns = clock_ns();
    came = (uint64_t) ((unsigned __int128) rate_bps * (now_ns - t->since_ns) /
                       (8 * NS_PER_S));
    if (came <= t->n_octets)
        return;
    if (t->n_reads)
        t->frame_mean = t->n_octets / t->n_reads;
    level = (came - t->n_octets) / t->frame_mean;
    t->up.rx_level = level < QUEUE_MAX ? (uint32_t) level : QUEUE_MAX;
}

/* A read begins that may leave something behind. */
static void
begin_level(struct tap *t)
{
    if (t->since_ns || !__atomic_load_n(&t->rate_bps, __ATOMIC_RELAXED))
        return;
    t->since_ns = clock_ns();
    t->n_octets = t->n_reads = 0;
}

static uint32_t
tap_rx(struct netdev *dev, struct pkt *pkts[], uint32_t max)
{
    struct tap *t = (struct tap *) dev;
    uint32_t n = 0;

    begin_level(t);
    if (must_wait(t)) {
        note_level(t);
        return 0;
    }
    while (n < max && !t->is_gone) {
        struct pkt *p = pkt_alloc(t->pool);
        bool take = true;

        if (!p) {
            counter_add(&dev->stats.rx_no_buffer, 1);
            break;
        }
        if (t->has_gso) {
            gso_next_pkt(&t->gso, p, t->n_super, t);
            t->has_gso = !gso_is_done(&t->gso);
        } else if (!read_frame(t, p, &take)) {
            pkt_free(p);
            break;
        }
        if (take)
            pkts[n++] = p;
        else
            pkt_free(p);
    }
    t->up.rx_rest = t->has_gso ? gso_n_joinable(&t->gso) : 0;
    note_level(t);
    return n;
}

/* A PFC frame for a host whose senders can be held.  False: it is something
 * else. */
static bool
obey(struct tap *t, const struct pkt *p)
{
    struct hold *hold = __atomic_load_n(&t->hold, __ATOMIC_ACQUIRE);
    struct macctl m;

    if (!hold || !__atomic_load_n(&t->holds, __ATOMIC_RELAXED) ||
        p->len < ETH_HDR_LEN || !macctl_suspect(p->data, p->len) ||
        macctl_decode(p->data, p->len, &m) != MACCTL_PFC)
        return false;
    for (int i = 0; i < N_PRIO; i++) {
        if (!(m.enable >> i & 1))
            continue;
        t->held &= (uint8_t) ~(1u << i);
        t->held |= (uint8_t) ((m.time[i] != 0) << i);
    }
    hold_want(hold, t->held);
    return true;
}

/* Writes one frame; 0 or an errno. */
static int
write_frame(struct tap *t, const struct pkt *p)
{
    static const struct virtio_net_hdr nothing_to_do;
    static const uint8_t zeros[PKT_MIN_LEN];
    struct iovec iov[5] = {{(void *) &nothing_to_do, sizeof(nothing_to_do)}};
    uint32_t len = pkt_tx_len(p);
    uint8_t scratch[PKT_SCRATCH];
    int n = 1 + pkt_gather(p, iov + 1, scratch);

    if (len < PKT_MIN_LEN)
        iov[n++] = (struct iovec){(void *) zeros, PKT_MIN_LEN - len};
    return writev(t->fd, iov, n) < 0 ? errno : 0;
}

/* Writes the message that begins with pkts[0], whose checksum is open: *run
 * frames.  One that is not taken like this is finished, to be tried again. */
static int
write_open(struct tap *t, struct pkt *const pkts[], uint32_t n, uint32_t *run)
{
    struct regroup r;
    int error = 0;

    *run = regroup(&r, pkts, n, t->up.mtu);
    if (writev(t->fd, r.iov, r.n_iov) < 0)
        error = errno;
    if (error != EINVAL && error != EMSGSIZE)
        return error;
    for (uint32_t i = 0; i < *run; i++)
        pkt_close(pkts[i]);
    return EINTR;
}

static enum netdev_tx
tap_tx(struct netdev *dev, struct pkt *const pkts[], uint32_t n,
       uint32_t *n_sent)
{
    struct tap *t = (struct tap *) dev;

    *n_sent = 0;
    if (t->is_gone)
        return NETDEV_TX_DOWN;
    while (*n_sent < n) {
        struct pkt *const *next = pkts + *n_sent;
        uint32_t run = 1;
        int error = 0;

        if (pkt_is_open(*next))
            error = write_open(t, next, n - *n_sent, &run);
        else if (!obey(t, *next))
            error = write_frame(t, *next);
        switch (error) {
        case EINTR:
            continue;
        case EAGAIN:
        case ENOBUFS:
            counter_add(&dev->stats.tx_again, 1);
            return NETDEV_TX_AGAIN;
        case EBADFD:
            t->is_gone = true;
            return NETDEV_TX_DOWN;
        case 0:
            break;
        default: /* EIO: down, see above; or a frame that it never takes */
            counter_add(&dev->stats.tx_errors, run);
            break;
        }
        *n_sent += run;
    }
    return NETDEV_TX_OK;
}

/* Of a deleted TAP it polls as an error for ever: see netdev.h. */
static int
tap_fd(const struct netdev *dev)
{
    return ((const struct tap *) dev)->fd;
}

static int
tap_set_hold(struct netdev *dev, const struct netdev_hold *conf,
             struct err *err)
{
    struct tap *t = (struct tap *) dev;
    struct hold *hold;
    int rc;

    if (!conf) {
        __atomic_store_n(&t->rate_bps, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&t->holds, false, __ATOMIC_RELAXED);
        return t->hold ? hold_set(t->hold, NULL, err) : 0;
    }
    if (t->hold) {
        rc = hold_set(t->hold, conf, err);
    } else {
        rc = hold_open(dev->name, dev->ifindex, dev->mtu + FRAME_OVERHEAD,
                       conf, &hold, err);
        if (rc == 0)
            __atomic_store_n(&t->hold, hold, __ATOMIC_RELEASE);
    }
    if (rc == 0) {
        __atomic_store_n(&t->rate_bps, conf->rate_bps, __ATOMIC_RELAXED);
        __atomic_store_n(&t->holds, true, __ATOMIC_RELAXED);
    }
    return rc;
}

static void
poll_hold(struct tap *t)
{
    struct netdev_stats *stats = &t->up.stats;
    struct hold_stats h;

    hold_read(t->hold, &h);
    counter_set(&stats->n_holds, h.n_holds);
    counter_set(&stats->hold_failed, h.n_failed);
    counter_set(&stats->hold_worst_ns, h.worst_ns);
    counter_set(&stats->hold_lost, !h.is_intact);
    if (h.n_drops > stats->rx_backlog_drops)
        counter_set(&stats->rx_backlog_drops, h.n_drops);
}

static void
tap_poll_kernel(struct netdev *dev)
{
    struct tap *t = (struct tap *) dev;
    struct link_info info;
    uint64_t drops;

    if (t->hold)
        poll_hold(t);
    if (link_get_index(dev->ifindex, &info, NULL))
        return;
    /* What the host sent and the queue towards us had no room for: a loss on
     * the way in, like that of a receive ring. */
    drops = info.tx_dropped - t->base_drop;
    if (drops > dev->stats.rx_ring_drops)
        counter_set(&dev->stats.rx_ring_drops, drops);
    counter_set(&dev->stats.n_ring_slots, info.txqlen); /* may be changed */
}

const struct netdev_class netdev_tap = {
    .type = "tap",
    .open = tap_open,
    .close = tap_close,
    .rx = tap_rx,
    .tx = tap_tx,
    .fd = tap_fd,
    .poll_kernel = tap_poll_kernel,
    .set_pool = tap_set_pool,
    .set_hold = tap_set_hold,
};
