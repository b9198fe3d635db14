/* SPDX-License-Identifier: Apache-2.0
 *
 * Sending to an interface through AF_PACKET sockets.  Datapath thread.
 *
 * Sending, CPU time per 64-byte frame over veth, the receiver's softirq
 * included (Linux 6.18, sendmmsg of 32, least of 60 interleaved runs):
 *
 *     a socket of its own                         1604 ns
 *     the same, PACKET_QDISC_BYPASS               1572 ns
 *     the same, PACKET_VNET_HDR                   1727 ns
 *     the receiving socket (ring, vnet header)    1721 ns
 *
 * So sending has its own socket, which is bound with protocol 0 and receives
 * nothing.  On virtual interfaces the queue is not bypassed: 2 % are less than
 * to see sent frames in tcpdump, and to have a `tc` emulation of a link work.
 * On a NIC, and on a TAP, it is: their usual queue (fq_codel) drops frames
 * that it had accepted, and tells no one.  Either way an error means that the
 * frame was not sent.
 *
 * Frames whose checksum is open go by a third socket, whose messages begin
 * with a vnet header: pieces of a super-frame that leave side by side as one
 * (regroup.h), which the peer of a veth takes as it is.  Both sockets hand a
 * frame to the device before they return, so that the order is kept.
 */
#include "netdev/afpacket.h"

#include "netdev/regroup.h"

#include <assert.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

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
    uint32_t run = regroup(&r, pkts, n, a->up.mtu);
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
            result = send_plain(a, pkts + from, k - from, n_sent);
            if (*n_sent < k)
                continue;
        }
        if (k < n && pkt_is_open(pkts[k]) && result == NETDEV_TX_OK)
            result = send_open(a, pkts + k, n - k, n_sent);
    }
    return result;
}
