/* SPDX-License-Identifier: Apache-2.0
 *
 * Receiving from an AF_XDP socket.  Datapath thread.
 *
 * The kernel puts frames into buffers of the pool, which it takes off the fill
 * ring, and their addresses on the receive ring.  Each that is taken off here
 * is handed over as it lies, and a free buffer of the pool goes to the fill
 * ring in its place; when there is none the frame stays where it is.
 *
 * MAC control frames overtake what waits: the program in the driver counts
 * them, and only while it has counted one that did not come yet are the frames
 * in the ring looked at before their turn.
 */
#include "netdev/afxdp.h"

#include "netdev/csum.h"
#include "pkt/share.h"
#include "wire/eth.h"

#include <assert.h>
#include <linux/if_xdp.h>
#include <string.h>

#ifndef XDP_PKT_CONTD /* headers before Linux 6.6 lack it */
#define XDP_PKT_CONTD (1 << 0)
#endif
/* Calls that find the ring empty after which a MAC control frame that was
 * counted is given up: the ring was full when it came. */
#define LOST_AFTER 64

static const struct xdp_desc *
entry(const struct afxdp *a, uint32_t i)
{
    return xsk_ring_cons__rx_desc(&a->rx, i);
}

static uint8_t *
data_of(const struct afxdp *a, const struct xdp_desc *d)
{
    return a->arena + xsk_umem__add_offset_to_addr(d->addr);
}

static struct pkt *
buffer_of(const struct afxdp *a, const struct xdp_desc *d)
{
    return pkt_at(a->pool, xsk_umem__extract_addr(d->addr));
}

static bool
is_done(const struct afxdp *a, uint32_t i)
{
    uint32_t slot = i & a->rx.mask;

    return a->done[slot / 64] >> (slot & 63) & 1;
}

static void
flip_done(struct afxdp *a, uint32_t i)
{
    uint32_t slot = i & a->rx.mask;

    a->done[slot / 64] ^= UINT64_C(1) << (slot & 63);
}

/* Puts a buffer on the fill ring, which has room for all there are. */
static void
refill(struct afxdp *a, const struct pkt *p)
{
    uint32_t idx = a->fill.cached_prod++;

    *xsk_ring_prod__fill_addr(&a->fill, idx) =
        (uint64_t) (p - a->pool->descs) * a->pool->stride;
}

/* The descriptor of a buffer that was parked, as pkt_alloc() made it, gets its
 * frame. */
static void
take(struct afxdp *a, const struct xdp_desc *d, struct pkt *p)
{
    p->data = data_of(a, d);
    p->len = d->len;
    if (a->completes_csum)
        csum_complete(p->data, p->len);
}

/* --- MAC control --------------------------------------------------------- */

/* Hands over the MAC control frames in the entries up to `end`, wherever they
 * are. */
static uint32_t
rx_control(struct afxdp *a, uint32_t end, struct pkt *pkts[], uint32_t max)
{
    uint32_t n = 0;

    if ((int32_t) (a->scan_at - a->rx.cached_cons) < 0)
        a->scan_at = a->rx.cached_cons;
    for (; a->scan_at != end && n < max; a->scan_at++) {
        const struct xdp_desc *d = entry(a, a->scan_at);
        struct pkt *q;

        if (eth_be16(data_of(a, d) + 12) != ETH_T_MACCTL ||
            (d->options & XDP_PKT_CONTD))
            continue;
        q = pkt_alloc_ctl(a->pool);
        if (!q) {
            counter_add(&a->up.stats.rx_no_buffer, 1);
            break;
        }
        pkts[n] = buffer_of(a, d);
        take(a, d, pkts[n++]);
        refill(a, q);
        flip_done(a, a->scan_at);
        a->n_ctl_done++;
    }
    return n;
}

/* One was counted and never came. */
static void
forget_lost(struct afxdp *a, uint64_t n_seen, bool is_empty)
{
    if (!is_empty) {
        a->n_ctl_lost = 0;
    } else if (++a->n_ctl_lost >= LOST_AFTER) {
        a->n_ctl_done = n_seen;
        a->n_ctl_lost = 0;
    }
}

/* --- frames in their turn ------------------------------------------------ */

/* The further parts of a frame whose first is p go behind it; returns how many
 * entries they are, 0 when the frame is not to be had. */
static uint32_t
gather(struct afxdp *a, uint32_t i, uint32_t end, struct pkt *p)
{
    uint32_t n = 1;
    bool more = true;

    while (more && i + n != end) {
        const struct xdp_desc *d = entry(a, i + n);

        if (p->len + d->len > a->frame_bytes)
            return 0;
        memcpy(p->data + p->len, data_of(a, d), d->len);
        p->len += d->len;
        more = d->options & XDP_PKT_CONTD;
        n++;
    }
    return more ? 0 : n;
}

/* The parts of a frame from entry i on, whole or not. */
static uint32_t
n_parts(const struct afxdp *a, uint32_t i, uint32_t end)
{
    uint32_t n = 1;

    while (i + n != end && (entry(a, i + n - 1)->options & XDP_PKT_CONTD))
        n++;
    return n;
}

/* Takes a frame that came in several parts: *p is it, or null when it is not
 * fit (counted).  Returns how many entries. */
static uint32_t
take_parts(struct afxdp *a, uint32_t i, uint32_t end, struct pkt **p)
{
    const struct xdp_desc *d = entry(a, i);
    uint32_t n;

    (*p)->data = data_of(a, d);
    (*p)->len = d->len;
    n = gather(a, i, end, *p);
    if (n == 0) {
        counter_add(&a->n_bad_parts, 1);
        refill(a, *p);
        *p = NULL;
        n = n_parts(a, i, end);
    } else if (a->completes_csum) {
        csum_complete((*p)->data, (*p)->len);
    }
    for (uint32_t k = 1; k < n; k++)
        refill(a, buffer_of(a, entry(a, i + k)));
    return n;
}

/* Hands over frames in order; returns how many. */
static uint32_t
rx_frames(struct afxdp *a, uint32_t end, struct pkt *pkts[], uint32_t max)
{
    uint32_t i = a->rx.cached_cons, n = 0;

    while (i != end && n < max) {
        const struct xdp_desc *d = entry(a, i);
        struct pkt *p = buffer_of(a, d), *q;

        if (is_done(a, i)) {
            flip_done(a, i++);
            continue;
        }
        q = pkt_alloc(a->pool);
        if (!q) {
            counter_add(&a->up.stats.rx_no_buffer, 1);
            break;
        }
        if (d->options & XDP_PKT_CONTD) {
            i += take_parts(a, i, end, &p);
            if (!p) {
                pkt_free(q);
                continue;
            }
        } else {
            take(a, d, p);
            i++;
        }
        refill(a, q);
        pkts[n++] = p;
    }
    a->rx.cached_cons = i;
    return n;
}

/* The lines that the batch is going to need. */
static void
prefetch(const struct afxdp *a, uint32_t end)
{
    uint32_t n = end - a->rx.cached_cons;

    for (uint32_t i = 0; i < n && i < PKT_BATCH; i++) {
        const struct xdp_desc *d = entry(a, a->rx.cached_cons + i);

        __builtin_prefetch(data_of(a, d));
        __builtin_prefetch(buffer_of(a, d), 1);
    }
}

/* How many of the MAC control frames that the program counted did not come
 * yet. */
static uint32_t
n_control(const struct afxdp *a)
{
    return (
        uint32_t) (__atomic_load_n(&a->prog.seen->n_ctl, __ATOMIC_RELAXED) -
                   a->n_ctl_done);
}

uint32_t
afxdp_rx(struct netdev *dev, struct pkt *pkts[], uint32_t max)
{
    struct afxdp *a = (struct afxdp *) dev;
    uint32_t first = a->rx.cached_cons, fill_first = a->fill.cached_prod,
             n = 0;
    /* Pairs with the kernel's store after it filled the entries. */
    uint32_t end = __atomic_load_n(a->rx.producer, __ATOMIC_ACQUIRE);
    /* After that load: what lies in the ring has been counted. */
    uint64_t n_seen = __atomic_load_n(&a->prog.seen->n_ctl, __ATOMIC_RELAXED);

    if (max == 0)
        return n_control(a);
    if (a->n_held)
        afxdp_reclaim(a);
    if (end - first > a->up.stats.ring_peak)
        counter_set(&a->up.stats.ring_peak, end - first);
    if (n_seen != a->n_ctl_done) {
        n = rx_control(a, end, pkts, max);
        if (n_seen != a->n_ctl_done)
            forget_lost(a, n_seen, end == first);
    }
    if (end != first) {
        prefetch(a, end);
        n += rx_frames(a, end, pkts + n, max - n);
    }
    dev->rx_level = end - a->rx.cached_cons;
    if (a->rx.cached_cons != first)
        __atomic_store_n(a->rx.consumer, a->rx.cached_cons, __ATOMIC_RELEASE);
    if (a->fill.cached_prod != fill_first) {
        __atomic_store_n(a->fill.producer, a->fill.cached_prod,
                         __ATOMIC_RELEASE);
        if (xsk_ring_prod__needs_wakeup(&a->fill))
            afxdp_wake_rx(a);
    }
    return n;
}
