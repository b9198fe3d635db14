/* SPDX-License-Identifier: Apache-2.0
 *
 * Sending to an interface through AF_PACKET sockets.  Datapath thread.
 *
 * Frames are put into a transmit ring, and one system call sends all of them:
 * per frame it saves what sendmmsg() needs to read a message and to check it,
 * 200 of 1415 ns (docs/performance.md).  Each has an offload header, which
 * says no more than that all of the frame is header: then the kernel copies
 * it.  Otherwise it would refer to the ring's pages, and every receiver would
 * have to pull the frame out of them (1670 ns).
 *
 * What the ring does not take goes by sendmmsg(), on a socket of its own: a
 * frame that is longer than a slot, or than the MTU, about which the kernel
 * does not ask with an offload header; and whatever it is while the next slot
 * is in use, since a queue or a receiver has not let go of the frame in it.
 * That way says why the kernel refuses a frame, too, and its socket polls
 * writable when it takes more.
 *
 * Sending sockets are bound with protocol 0 and receive nothing.  On virtual
 * interfaces the queue is not bypassed: 2 % are less than to see sent frames
 * in tcpdump, and to have a `tc` emulation of a link work.  On a NIC, and on a
 * TAP, it is: their usual queue (fq_codel) drops frames that it had accepted,
 * and tells no one.  Either way an error means that the frame was not sent.
 *
 * Frames whose checksum is open go by another socket, whose messages begin
 * with a vnet header: pieces of a super-frame that leave side by side as one
 * (regroup.h), which the peer of a veth takes as it is.  All sockets hand a
 * frame to the device before they return, so that the order is kept.
 */
#include "netdev/afpacket.h"

#include "netdev/regroup.h"
#include "wire/eth.h"

#include <assert.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* Where the kernel expects, in a slot, what is sent: the offload header, then
 * the frame. */
#define SLOT_VNET  (TPACKET2_HDRLEN - sizeof(struct sockaddr_ll))
#define SLOT_FRAME (SLOT_VNET + sizeof(struct virtio_net_hdr))
#define SLOT_ROOM  (AFPACKET_TX_SLOT_BYTES - SLOT_FRAME)

/* A batch laid out for sendmmsg(). */
struct tx_batch {
    struct mmsghdr msgs[PKT_BATCH];          /* one frame each */
    struct iovec iov[PKT_BATCH][4];          /* its pieces: 3, and padding */
    uint8_t scratch[PKT_BATCH][PKT_SCRATCH]; /* headers that are changed */
};

static void
lay_out(struct tx_batch *b, struct pkt *const pkts[], uint32_t n)
{
    static const uint8_t zeros[PKT_MIN_LEN];

    for (uint32_t i = 0; i < n; i++) {
        int k = pkt_gather(pkts[i], b->iov[i], b->scratch[i]);
        uint32_t len = pkt_tx_len(pkts[i]);

        if (len < PKT_MIN_LEN)
            b->iov[i][k++] = (struct iovec){(void *) zeros, PKT_MIN_LEN - len};
        b->msgs[i] = (struct mmsghdr){
            .msg_hdr = {.msg_iov = b->iov[i], .msg_iovlen = (size_t) k}};
    }
}

static struct tpacket2_hdr *
tx_slot(const struct afpacket *a, uint32_t i)
{
    return (void *) (a->tx_map + (size_t) (i % AFPACKET_TX_SLOTS) *
                                     AFPACKET_TX_SLOT_BYTES);
}

/* A VLAN tag may come on top of the MTU, as the kernel has it. */
static bool
is_too_long(const struct afpacket *a, const uint8_t *frame, uint32_t len)
{
    uint32_t max = ETH_HDR_LEN + __atomic_load_n(&a->mtu, __ATOMIC_RELAXED);

    return len > max && (len > max + 4 || frame[12] != ETH_T_VLAN >> 8 ||
                         frame[13] != (ETH_T_VLAN & 0xff));
}

/* Puts a frame into slot i; false: it is not for the ring, or the slot is
 * still in use. */
static bool
fill_slot(const struct afpacket *a, uint32_t i, const struct pkt *p)
{
    struct tpacket2_hdr *h = tx_slot(a, i);
    struct virtio_net_hdr *vnet = (void *) ((uint8_t *) h + SLOT_VNET);
    uint8_t *frame = (uint8_t *) h + SLOT_FRAME;
    uint32_t len = pkt_tx_len(p);

    /* Pairs with the kernel's barrier before it lets go of the slot. */
    if (len > SLOT_ROOM || __atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE) !=
                               TP_STATUS_AVAILABLE)
        return false;
    pkt_copy_out(p, frame);
    if (is_too_long(a, frame, len))
        return false;
    if (len < PKT_MIN_LEN) {
        memset(frame + len, 0, PKT_MIN_LEN - len);
        len = PKT_MIN_LEN;
    }
    vnet->hdr_len = (uint16_t) len; /* all else is zero, and stays so */
    h->tp_len = (uint32_t) sizeof(*vnet) + len;
    __atomic_store_n(&h->tp_status, TP_STATUS_SEND_REQUEST, __ATOMIC_RELEASE);
    return true;
}

/* Sends by the ring as many of the frames as it takes; returns how many. */
static uint32_t
send_ring(struct afpacket *a, struct pkt *const pkts[], uint32_t n)
{
    uint32_t n_filled = 0, n_sent = 0;

    while (n_filled < n && fill_slot(a, a->tx_i + n_filled, pkts[n_filled]))
        n_filled++;
    if (!n_filled)
        return 0;
    if (sendto(a->ring_fd, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 &&
        errno == ENOBUFS)
        counter_add(&a->n_refused, 1);
    while (n_sent < n_filled &&
           !(__atomic_load_n(&tx_slot(a, a->tx_i + n_sent)->tp_status,
                             __ATOMIC_RELAXED) &
             (TP_STATUS_SEND_REQUEST | TP_STATUS_WRONG_FORMAT)))
        n_sent++;
    /* The kernel would go on with those that it left when it is called again,
     * ahead of what is sent meanwhile. */
    for (uint32_t i = n_sent; i < n_filled; i++)
        __atomic_store_n(&tx_slot(a, a->tx_i + i)->tp_status,
                         TP_STATUS_AVAILABLE, __ATOMIC_RELAXED);
    a->tx_i += n_sent;
    return n_sent;
}

/* Whether what was refused can be sent later; *why then says when. */
static bool
is_for_now(struct afpacket *a, int error, enum netdev_tx *why)
{
    switch (error) {
    case EINTR:
        *why = NETDEV_TX_OK;
        return true;
    case ENOBUFS:
    case ENOMEM:
    case EAGAIN:
        counter_add(&a->up.stats.tx_again, 1);
        *why = NETDEV_TX_AGAIN;
        return true;
    case ENETDOWN:
    case ENXIO:
    case ENODEV:
        *why = NETDEV_TX_DOWN;
        return true;
    default:
        return false;
    }
}

/* Sends frames that are finished, and adds those that were taken to *n_sent.
 */
static enum netdev_tx
send_plain(struct afpacket *a, struct pkt *const pkts[], uint32_t n,
           uint32_t *n_sent)
{
    enum netdev_tx result = NETDEV_TX_OK;
    uint32_t n_refused = 0, done = 0;
    bool partial = false;
    struct tx_batch batch;

    lay_out(&batch, pkts, n);
    while (done < n && result == NETDEV_TX_OK) {
        int k = sendmmsg(a->tx_fd, batch.msgs + done, n - done, MSG_DONTWAIT);

        if (k >= 0) {
            /* Fewer than all: one was refused, the next call says why. */
            done += (uint32_t) k;
            partial = done < n;
            n_refused += partial;
            continue;
        }
        /* Only with ENOBUFS did the device see it, and count it. */
        if (errno == ENOBUFS)
            n_refused++;
        else
            n_refused -= partial;
        partial = false;
        if (is_for_now(a, errno, &result))
            continue;
        /* This one frame cannot be sent, now or ever (EMSGSIZE: longer than
         * the interface's MTU allows): give it up, go on with the next. */
        counter_add(&a->up.stats.tx_errors, 1);
        done++;
    }
    if (n_refused)
        counter_add(&a->n_refused, n_refused);
    *n_sent += done;
    return result;
}

/* Sends the message that begins with pkts[0], whose checksum is open. */
static enum netdev_tx
send_open(struct afpacket *a, struct pkt *const pkts[], uint32_t n,
          uint32_t *n_sent)
{
    struct regroup r;
    uint32_t run =
        regroup(&r, pkts, n, __atomic_load_n(&a->mtu, __ATOMIC_RELAXED));
    const struct msghdr msg = {.msg_iov = r.iov,
                               .msg_iovlen = (size_t) r.n_iov};
    enum netdev_tx result = NETDEV_TX_OK;

    if (sendmsg(a->open_fd, &msg, MSG_DONTWAIT) >= 0) {
        *n_sent += run;
        return NETDEV_TX_OK;
    }
    if (errno == ENOBUFS)
        counter_add(&a->n_refused, 1);
    if (is_for_now(a, errno, &result))
        return result;
    /* Not like this: each by itself, and finished. */
    for (uint32_t i = 0; i < run; i++)
        pkt_close(pkts[i]);
    return NETDEV_TX_OK;
}

enum netdev_tx
afpacket_tx(struct netdev *dev, struct pkt *const pkts[], uint32_t n,
            uint32_t *n_sent)
{
    struct afpacket *a = (struct afpacket *) dev;
    enum netdev_tx result = NETDEV_TX_OK;

    assert(n <= NETDEV_TX_MAX);
    *n_sent = 0;
    if (__atomic_load_n(&a->no_carrier, __ATOMIC_RELAXED))
        return NETDEV_TX_DOWN;
    while (*n_sent < n && result == NETDEV_TX_OK) {
        uint32_t from = *n_sent, k = from;

        while (k < n && k - from < PKT_BATCH && !pkt_is_open(pkts[k]))
            k++;
        if (k > from) {
            *n_sent += send_ring(a, pkts + from, k - from);
            from = *n_sent;
            if (from < k)
                result = send_plain(a, pkts + from, k - from, n_sent);
            if (*n_sent < k)
                continue;
        }
        if (k < n && pkt_is_open(pkts[k]) && result == NETDEV_TX_OK)
            result = send_open(a, pkts + k, n - k, n_sent);
    }
    return result;
}
