/* SPDX-License-Identifier: Apache-2.0
 *
 * Receiving from an interface through a TPACKET_V2 ring.  Datapath thread.
 *
 * The kernel fills slots in order and gives each to us with a store to its
 * tp_status; we give it back with another.  Every newly filled slot is looked
 * at once (scan) for MAC control frames, which are handed over ahead of all
 * that waits.  Then slots are copied into pool buffers in order.
 *
 * A frame that is longer than a slot, which among frames that fit a pool
 * buffer only a super-frame can be, is queued on the socket as well, in the
 * order of the slots (TP_STATUS_COPY): it is read from there, cut up, and
 * handed over piece by piece, over several calls if need be.
 */
#include "netdev/afpacket.h"

#include "pkt/share.h"
#include "wire/eth.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* Calls in a row with nothing before we ask whether an error pends, which
 * would keep the descriptor readable (the interface went down or away). */
#define IDLE_CHECK 8
/* Slots ahead of the one that is copied whose data is fetched. */
#define PREFETCH_AHEAD 3

/* tp_padding[0], which the kernel zeroes when it fills a slot: handed over
 * already, ahead of its turn. */
#define SLOT_DONE 1

static struct tpacket2_hdr *
slot_hdr(const struct afpacket *a, uint32_t i)
{
    return (struct tpacket2_hdr *) (void *) a->slots[i];
}

static uint32_t
next_slot(const struct afpacket *a, uint32_t i)
{
    return i + 1 == a->n_slots ? 0 : i + 1;
}

/* An untagged MAC control frame; its slot's first line says so.  (One that is
 * longer than a slot has no claim to a place ahead of the socket's queue.) */
static bool
is_mac_control(const struct tpacket2_hdr *h, uint32_t status)
{
    const struct sockaddr_ll *sll =
        (const void *) ((const uint8_t *) h + TPACKET_ALIGN(sizeof(*h)));

    return sll->sll_protocol == htons(ETH_T_MACCTL) &&
           !(status & (TP_STATUS_VLAN_VALID | TP_STATUS_COPY));
}

/* Takes notice of what the kernel has filled since the last time. */
static void
scan(struct afpacket *a)
{
    uint32_t n_tagged = 0;

    while (a->n_ready < a->n_slots) {
        const struct tpacket2_hdr *h = slot_hdr(a, a->scan_i);
        /* Pairs with the kernel's barrier before it gives the slot to us. */
        uint32_t status = __atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE);

        if (!(status & TP_STATUS_USER))
            break;
        if (is_mac_control(h, status)) {
            uint32_t at = a->ctl_first + a->n_ctl++;

            a->ctl[at < a->n_slots ? at : at - a->n_slots] = a->scan_i;
        }
        if (status & TP_STATUS_VLAN_VALID)
            n_tagged++;
        a->scan_i = next_slot(a, a->scan_i);
        a->n_ready++;
        __builtin_prefetch(a->slots[next_slot(a, a->scan_i)]);
    }
    if (n_tagged)
        counter_add(&a->n_tagged, n_tagged);
    if (a->n_ready > a->up.stats.ring_peak)
        counter_set(&a->up.stats.ring_peak, a->n_ready);
}

/* Gives the oldest slot back to the kernel. */
static void
release(struct afpacket *a)
{
    /* Pairs with the kernel's load before it fills the slot again. */
    __atomic_store_n(&slot_hdr(a, a->read_i)->tp_status, TP_STATUS_KERNEL,
                     __ATOMIC_RELEASE);
    a->read_i = next_slot(a, a->read_i);
    a->n_ready--;
}

/* The VLAN tag that the kernel took out; false: there was none. */
static bool
slot_tag(const struct tpacket2_hdr *h, uint8_t tag[4])
{
    uint16_t tpid = h->tp_status & TP_STATUS_VLAN_TPID_VALID ? h->tp_vlan_tpid
                                                             : ETH_T_VLAN;

    if (!(h->tp_status & TP_STATUS_VLAN_VALID))
        return false;
    tag[0] = (uint8_t) (tpid >> 8);
    tag[1] = (uint8_t) tpid;
    tag[2] = (uint8_t) (h->tp_vlan_tci >> 8);
    tag[3] = (uint8_t) h->tp_vlan_tci;
    return true;
}

/* Copies an ordinary frame into p as it was on the wire; false when it was
 * not fit (counted). */
static bool
copy_frame(struct afpacket *a, const struct tpacket2_hdr *h,
           const struct virtio_net_hdr *vnet, struct pkt *p)
{
    const uint8_t *from = (const uint8_t *) h + h->tp_mac;
    uint32_t len = h->tp_len;
    uint32_t tag_len = h->tp_status & TP_STATUS_VLAN_VALID ? 4 : 0;

    if (len < ETH_HDR_LEN) {
        counter_add(&a->up.stats.rx_bad, 1);
        return false;
    }
    if (len != h->tp_snaplen || len + tag_len > a->frame_bytes) {
        counter_add(&a->up.stats.rx_oversize, 1);
        return false;
    }
    p->len = len + tag_len;
    if (tag_len) {
        memcpy(p->data, from, 12);
        slot_tag(h, p->data + 12);
        memcpy(p->data + 16, from + 12, len - 12);
    } else {
        memcpy(p->data, from, len);
    }
    if ((vnet->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) &&
        !gso_leave_open(p, vnet->csum_start + tag_len, vnet->csum_offset)) {
        counter_add(&a->up.stats.rx_bad, 1);
        return false;
    }
    return true;
}

/* Takes the oldest frame off the socket's own queue, where the slot says that
 * it is; iov[0] is for the vnet header.  Returns its length, 0 when it could
 * not be had. */
static size_t
read_queued(struct afpacket *a, struct iovec *iov, size_t n_iov)
{
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = n_iov};

    for (int tries = 0; tries < 3; tries++) {
        ssize_t n = recvmsg(a->rx_fd, &msg, MSG_DONTWAIT | MSG_TRUNC);

        if (n > (ssize_t) iov[0].iov_len)
            return (size_t) n - iov[0].iov_len;
        /* An error that pends (interface went down) is told first, and told
         * once. */
        if (n >= 0 || errno == EAGAIN)
            break;
    }
    counter_add(&a->n_lost, 1);
    return 0;
}

static void
begin_cutting(struct afpacket *a)
{
    a->has_gso = true;
    a->n_super++;
    counter_add(&a->up.stats.rx_gso, 1);
}

/* Begins on the frame in a->super. */
static void
begin_super(struct afpacket *a, size_t n, const struct virtio_net_hdr *vnet,
            const uint8_t *tag)
{
    int rc;

    if (vnet->gso_type == VIRTIO_NET_HDR_GSO_NONE) {
        counter_add(&a->up.stats.rx_oversize, 1);
        return;
    }
    rc = gso_begin(&a->gso, a->super, n, vnet, tag, a->frame_bytes);
    if (rc == 0) {
        begin_cutting(a);
    } else if (rc == EMSGSIZE) {
        counter_add(&a->up.stats.rx_oversize, 1);
    } else {
        counter_add(&a->up.stats.rx_bad, 1);
    }
}

/* Lays out buffers for the payload of g, each behind room for the headers.
 * Returns how many pieces there are; 0: too many, or too few buffers. */
static uint32_t
lay_out_pieces(struct afpacket *a, const struct gso *g, struct iovec *iov)
{
    uint32_t left = g->len - g->hdr_len, n = (left + g->size - 1) / g->size;
    uint32_t head = (uint32_t) g->hdr_len + g->tag_len;

    if (n > AFPACKET_PIECES || n > pkt_pool_n_free(a->pool))
        return 0;
    n = pkt_alloc_bulk(a->pool, a->pieces, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t len = left < g->size ? left : g->size;

        iov[i] = (struct iovec){a->pieces[i]->data + head, len};
        left -= len;
    }
    return n;
}

/* Reads a super-frame whose beginning lies in the slot from the socket's
 * queue, its payload straight to where its segments are made: a copy less.
 * False, and nothing was read, when that cannot be: read it as a whole. */
static bool
read_in_pieces(struct afpacket *a, const struct tpacket2_hdr *h,
               const struct virtio_net_hdr *vnet, const uint8_t *tag)
{
    const uint8_t *from = (const uint8_t *) h + h->tp_mac;
    struct virtio_net_hdr read_vnet;
    struct iovec iov[2 + AFPACKET_PIECES];
    struct gso g;
    uint32_t n;

    if (h->tp_snaplen >= h->tp_len || h->tp_len > GSO_MAX_FRAME ||
        gso_begin(&g, from, h->tp_snaplen, vnet, tag, a->frame_bytes) ||
        (uint32_t) g.tag_len + g.hdr_len + g.size > a->frame_bytes)
        return false;
    g.len = h->tp_len;
    n = lay_out_pieces(a, &g, iov + 2);
    if (!n)
        return false;
    iov[0] = (struct iovec){&read_vnet, sizeof(read_vnet)};
    iov[1] = (struct iovec){a->super, g.hdr_len};
    a->first_piece = 0;
    a->n_pieces = n;
    if (read_queued(a, iov, n + 2) != g.len) {
        while (a->n_pieces > 0)
            pkt_free(a->pieces[--a->n_pieces]);
        return true;
    }
    a->gso = g;
    a->gso.frame = a->super;
    a->gso.in_place = true;
    begin_cutting(a);
    return true;
}

void
afpacket_drop_super(struct afpacket *a)
{
    uint32_t n = a->n_pieces - a->first_piece;

    a->has_gso = false;
    a->n_pieces = 0;
    for (uint32_t i = 0; i < n; i++)
        a->pieces[a->first_piece + i]->n_held = 1; /* by us, and no one else */
    /* A port that moves may have outlived the pool, and then has nothing. */
    if (n > 0)
        pkt_leave(a->pool, a->pieces + a->first_piece, n);
    a->first_piece = 0;
}

/* Takes a frame that is a super-frame or longer than its slot aside. */
static void
take_aside(struct afpacket *a, const struct tpacket2_hdr *h,
           struct virtio_net_hdr vnet)
{
    uint8_t tag[4];
    bool has_tag = slot_tag(h, tag);
    size_t n;

    if (h->tp_status & TP_STATUS_COPY) {
        struct iovec iov[2] = {{&vnet, sizeof(vnet)},
                               {a->super, GSO_MAX_FRAME}};

        if (read_in_pieces(a, h, &vnet, has_tag ? tag : NULL))
            return;
        n = read_queued(a, iov, 2);
    } else if (h->tp_snaplen < h->tp_len) {
        if (h->tp_snaplen == 0 || vnet.gso_type != VIRTIO_NET_HDR_GSO_NONE)
            counter_add(&a->n_lost, 1);
        else
            counter_add(&a->up.stats.rx_oversize, 1);
        return;
    } else {
        n = h->tp_len;
        memcpy(a->super, (const uint8_t *) h + h->tp_mac, n);
    }
    if (n > 0)
        begin_super(a, n, &vnet, has_tag ? tag : NULL);
}

static const struct virtio_net_hdr *
slot_vnet(const struct tpacket2_hdr *h)
{
    return (const void *) ((const uint8_t *) h + h->tp_mac -
                           sizeof(struct virtio_net_hdr));
}

/* A buffer, or null, which is counted and ends the call. */
static struct pkt *
take_buffer(struct afpacket *a)
{
    struct pkt *p = pkt_alloc(a->pool);

    if (!p)
        counter_add(&a->up.stats.rx_no_buffer, 1);
    return p;
}

/* Hands over the MAC control frames that wait, wherever they are. */
static uint32_t
rx_control(struct afpacket *a, struct pkt *pkts[], uint32_t max)
{
    uint32_t n = 0;

    while (a->n_ctl > 0 && n < max) {
        uint32_t i = a->ctl[a->ctl_first];
        struct tpacket2_hdr *h = slot_hdr(a, i);
        struct pkt *p = pkt_alloc_ctl(a->pool);

        if (!p) {
            counter_add(&a->up.stats.rx_no_buffer, 1);
            break;
        }
        a->ctl_first = next_slot(a, a->ctl_first);
        a->n_ctl--;
        h->tp_padding[0] = SLOT_DONE;
        if (copy_frame(a, h, slot_vnet(h), p))
            pkts[n++] = p;
        else
            pkt_free(p);
    }
    return n;
}

/* The next piece of the super-frame that is being cut up. */
static struct pkt *
rx_segment(struct afpacket *a)
{
    struct pkt *p = a->first_piece < a->n_pieces ? a->pieces[a->first_piece++]
                                                 : take_buffer(a);

    if (p) {
        gso_next_pkt(&a->gso, p, a->n_super, a);
        a->has_gso = !gso_is_done(&a->gso);
    }
    return p;
}

/* Takes the oldest slot: sets *p to its frame, or to null when it yields none,
 * or none yet.  False: no buffer, and the slot stays. */
static bool
rx_slot(struct afpacket *a, struct pkt **p)
{
    struct tpacket2_hdr *h = slot_hdr(a, a->read_i);
    const struct virtio_net_hdr *vnet = slot_vnet(h);

    *p = NULL;
    if (h->tp_padding[0] == SLOT_DONE) {
        release(a);
        return true;
    }
    if (vnet->gso_type != VIRTIO_NET_HDR_GSO_NONE ||
        h->tp_snaplen < h->tp_len) {
        take_aside(a, h, *vnet);
        release(a);
        return true;
    }
    *p = take_buffer(a);
    if (!*p)
        return false;
    if (!copy_frame(a, h, vnet, *p)) {
        pkt_free(*p);
        *p = NULL;
    }
    release(a);
    return true;
}

/* An error that pends would keep the descriptor readable: the interface went
 * down, or away.  Sending says so to the datapath, and netlink to the daemon;
 * here it is only read, which clears it. */
static void
clear_error(struct afpacket *a)
{
    int error = 0;
    socklen_t len = sizeof(error);

    getsockopt(a->rx_fd, SOL_SOCKET, SO_ERROR, &error, &len);
}

uint32_t
afpacket_rx(struct netdev *dev, struct pkt *pkts[], uint32_t max)
{
    struct afpacket *a = (struct afpacket *) dev;
    uint32_t n;

    scan(a);
    if (max == 0)
        return a->n_ctl;
    n = rx_control(a, pkts, max);
    while (n < max) {
        struct pkt *p;

        if (a->has_gso) {
            p = rx_segment(a);
            if (!p)
                break;
        } else {
            uint32_t ahead = a->read_i + PREFETCH_AHEAD;

            if (a->n_ready == 0)
                break;
            __builtin_prefetch(
                a->slots[ahead < a->n_slots ? ahead : ahead - a->n_slots] +
                64);
            if (!rx_slot(a, &p))
                break;
        }
        if (p)
            pkts[n++] = p;
    }
    dev->rx_level = a->n_ready;
    dev->rx_rest = a->has_gso ? gso_n_joinable(&a->gso) : 0;
    if (n > 0)
        a->n_idle = 0;
    else if (++a->n_idle % IDLE_CHECK == 0)
        clear_error(a);
    return n;
}
