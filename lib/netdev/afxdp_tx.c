/* SPDX-License-Identifier: Apache-2.0
 *
 * Sending to an AF_XDP socket.  Datapath thread.
 *
 * A frame is sent from the buffer that it lies in, whichever port it came from
 * and however long it is: the buffer is held until the kernel says that it has
 * read it (the ring of completions).  A tag or a DSCP that egress changes is
 * changed in the frame itself, when no one else refers to it.  Only what is
 * flooded and leaves otherwise than it came, and the MAC control frames that
 * the datapath makes, are copied to buffers of the port's own.
 *
 * Unless the driver reads the buffers itself (zero copy), the kernel works off
 * the ring within our call.  What it then leaves there it refused: these
 * entries are made void, so that the frames are the datapath's again, at the
 * head of their queues, where a pause still stops them.
 */
#include "netdev/afxdp.h"

#include "pkt/share.h"

#include <assert.h>
#include <errno.h>
#include <linux/if_xdp.h>
#include <string.h>
#include <sys/socket.h>

#ifndef XDP_PKT_CONTD /* headers before Linux 6.6 lack it */
#define XDP_PKT_CONTD (1 << 0)
#endif
/* An Ethernet header and a tag: what a frame may have beyond the MTU. */
#define OVERHEAD 18

/* The kernel, or this port, is done with what lies there. */
static void
let_go(struct afxdp *a, uint64_t at)
{
    uint32_t index = pkt_index_at(a->pool, at);
    struct pkt *owner = &a->pool->descs[index];

    /* Not the first part of a frame, whose parts end together. */
    if (at - (uint64_t) index * a->pool->stride >= a->chunk_bytes)
        return;
    assert(a->n_held > 0);
    a->n_held--;
    if (a->held[index / 64] >> (index & 63) & 1) {
        a->held[index / 64] &= ~(UINT64_C(1) << (index & 63));
        pkt_unhold(owner);
    } else {
        assert(a->n_copies < AFXDP_N_COPIES);
        a->copies[a->n_copies++] = owner;
    }
}

void
afxdp_reclaim(struct afxdp *a)
{
    uint32_t first = a->sent.cached_cons;
    /* Pairs with the kernel's store after it is done with the buffers. */
    uint32_t end = __atomic_load_n(a->sent.producer, __ATOMIC_ACQUIRE);

    if (end == first)
        return;
    for (uint32_t i = first; i != end; i++)
        let_go(a, *xsk_ring_cons__comp_addr(&a->sent, i));
    a->sent.cached_cons = end;
    __atomic_store_n(a->sent.consumer, end, __ATOMIC_RELEASE);
}

/* Entries that the kernel did not take yet. */
static uint32_t
n_waiting(const struct afxdp *a)
{
    return a->tx.cached_prod -
           __atomic_load_n(a->tx.consumer, __ATOMIC_ACQUIRE);
}

/* One call of the kernel; 0 or an errno. */
static int
call_kernel(struct afxdp *a)
{
    return sendto(a->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 ? errno : 0;
}

/* Has the kernel send what lies in the ring.  0, or the errno that says why
 * some of it still does.  EBUSY: the frame that it took last was lost; when
 * that was the first of a call, *unseen: the ring does not show it yet. */
static int
kick(struct afxdp *a, bool *unseen)
{
    uint32_t waiting = n_waiting(a), before;

    do {
        int error;

        before = waiting;
        if (!waiting || !xsk_ring_prod__needs_wakeup(&a->tx))
            return 0;
        /* It takes a limited number at a time, and says EAGAIN then, too. */
        error = call_kernel(a);
        waiting = n_waiting(a);
        *unseen = waiting == before;
        if (error && error != EAGAIN)
            return error;
    } while (waiting < before);
    return EAGAIN;
}

/* Has the kernel pass over void entries, of which it takes one in a call.
 * They must not stay: it would go through them later, one by one.  0, or the
 * errno of an interface that is down. */
static int
drain(struct afxdp *a)
{
    uint32_t tries = n_waiting(a);
    int error = 0;

    for (tries = tries ? tries + 2 : 0; tries > 0 && n_waiting(a); tries--)
        error = call_kernel(a);
    return n_waiting(a) ? error ? error : EAGAIN : 0;
}

void
afxdp_wake_rx(struct afxdp *a)
{
    recvfrom(a->fd, NULL, 0, MSG_DONTWAIT, NULL, NULL);
}

/* Appends the descriptors of a frame. */
static void
post(struct afxdp *a, const uint8_t *data, uint32_t len)
{
    uint64_t at = pkt_ofs(a->pool, data);

    while (len > 0) {
        struct xdp_desc *d =
            xsk_ring_prod__tx_desc(&a->tx, a->tx.cached_prod++);
        uint32_t n = len < a->chunk_bytes ? len : a->chunk_bytes;

        d->addr = at;
        d->len = n;
        len -= n;
        at += n;
        d->options = len > 0 ? XDP_PKT_CONTD : 0;
    }
    a->n_held++;
}

static uint32_t
padded(uint8_t *data, uint32_t len)
{
    if (len >= PKT_MIN_LEN)
        return len;
    memset(data + len, 0, PKT_MIN_LEN - len);
    return PKT_MIN_LEN;
}

static bool
has_notes(const struct pkt *p)
{
    return p->tx_tag || p->tx_skip || p->tx_l3;
}

/* Appends a frame; false: there is no room, or no buffer for the copy that is
 * needed. */
static bool
put(struct afxdp *a, struct pkt *p)
{
    uint32_t room = AFXDP_TX_SLOTS - n_waiting(a);
    struct pkt *copy;

    if (room < AFXDP_MAX_PARTS || a->n_held >= AFXDP_MAX_HELD)
        return false;
    if (p->pool == a->pool && (!has_notes(p) || pkt_flatten(p))) {
        uint32_t index = (uint32_t) (p->owner - a->pool->descs);

        pkt_close(p);
        a->held[index / 64] |= UINT64_C(1) << (index & 63);
        pkt_hold(p);
        post(a, p->data, padded(p->data, p->len));
        return true;
    }
    if (!a->n_copies)
        return false;
    copy = a->copies[--a->n_copies];
    post(a, copy->data, padded(copy->data, pkt_copy_out(p, copy->data)));
    return true;
}

/* Makes the entries void that the kernel left, and says which of the n frames,
 * whose entries end at ends[], was the first that it did not send. */
static uint32_t
take_back(struct afxdp *a, const uint32_t ends[], uint32_t n, int error,
          bool unseen)
{
    uint32_t at = __atomic_load_n(a->tx.consumer, __ATOMIC_ACQUIRE);
    uint32_t i = 0, left = at;

    while (i < n && (int32_t) (ends[i] - at) <= 0)
        i++;
    if (error == EBUSY && (unseen ? i < n : i > 0)) {
        /* Its buffer comes back as if it had been sent. */
        counter_add(&a->n_refused, 1);
        if (unseen)
            left = ends[i];
        else
            i--;
    }
    for (; at != a->tx.cached_prod; at++) {
        struct xdp_desc *d = xsk_ring_prod__tx_desc(&a->tx, at);

        if ((int32_t) (at - left) >= 0)
            let_go(a, d->addr);
        *d = (struct xdp_desc){.addr = UINT64_MAX};
    }
    drain(a);
    return i;
}

/* Frames that are given up here have no entries, and count as sent. */
static uint32_t
put_all(struct afxdp *a, struct pkt *const pkts[], uint32_t n, uint32_t ends[])
{
    uint32_t i = 0;

    for (; i < n; i++) {
        if (pkt_tx_len(pkts[i]) > a->up.mtu + OVERHEAD)
            counter_add(&a->up.stats.tx_errors, 1);
        else if (!put(a, pkts[i]))
            break;
        ends[i] = a->tx.cached_prod;
    }
    /* Pairs with the kernel's load before it reads the entries. */
    __atomic_store_n(a->tx.producer, a->tx.cached_prod, __ATOMIC_RELEASE);
    return i;
}

static bool
is_down(int error)
{
    return error == ENETDOWN || error == ENXIO || error == ENODEV;
}

enum netdev_tx
afxdp_tx(struct netdev *dev, struct pkt *const pkts[], uint32_t n,
         uint32_t *n_sent)
{
    struct afxdp *a = (struct afxdp *) dev;
    uint32_t ends[NETDEV_TX_MAX];
    bool unseen = false;
    int error = 0;

    assert(n <= NETDEV_TX_MAX);
    *n_sent = 0;
    if (__atomic_load_n(&a->no_carrier, __ATOMIC_RELAXED))
        return NETDEV_TX_DOWN;
    if (a->n_held)
        afxdp_reclaim(a);
    if (!a->is_zero_copy && n_waiting(a))
        error = drain(a);
    if (!error) {
        *n_sent = put_all(a, pkts, n, ends);
        error = kick(a, &unseen);
        if (!a->is_zero_copy && (error || n_waiting(a)))
            *n_sent = take_back(a, ends, *n_sent, error, unseen);
    }
    if (is_down(error))
        return NETDEV_TX_DOWN;
    if (*n_sent == n)
        return NETDEV_TX_OK;
    counter_add(&dev->stats.tx_again, 1);
    return NETDEV_TX_AGAIN;
}
