/* SPDX-License-Identifier: Apache-2.0
 *
 * See regroup.h.
 */
#include "netdev/regroup.h"

#include "netdev/gso.h"

#include <assert.h>

/* How many of the frames may leave as one. */
static uint32_t
run_length(struct pkt *const pkts[], uint32_t n, uint32_t mtu)
{
    uint32_t i = 1;

    /* The kernel would let a super-frame pass whose pieces are too long. */
    if (pkts[0]->len > pkt_offload(pkts[0])->l3_ofs + mtu)
        return 1;
    while (i < n && pkt_continues(pkts[i - 1], pkts[i]))
        i++;
    return i;
}

static uint32_t
lay_out_one(struct regroup *r, const struct pkt *p)
{
    static const uint8_t zeros[PKT_MIN_LEN];
    uint32_t len = pkt_tx_len(p);

    r->n_iov = 1 + pkt_gather_open(p, r->iov + 1, r->headers);
    if (len < PKT_MIN_LEN)
        r->iov[r->n_iov++] = (struct iovec){(void *) zeros, PKT_MIN_LEN - len};
    return 1;
}

uint32_t
regroup(struct regroup *r, struct pkt *const pkts[], uint32_t n, uint32_t mtu)
{
    const struct pkt_offload *o = pkt_offload(pkts[0]);
    int shift = (pkts[0]->tx_tag ? 4 : 0) - pkts[0]->tx_skip;
    uint32_t run = run_length(pkts, n, mtu), len;
    struct pkt first = *pkts[0]; /* its headers alone */

    assert(n <= NETDEV_TX_MAX);
    r->vnet = (struct virtio_net_hdr){
        .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
        .csum_start = (uint16_t) (o->l4_ofs + shift),
        .csum_offset = o->csum_ofs,
    };
    r->iov[0] = (struct iovec){&r->vnet, sizeof(r->vnet)};
    if (run == 1)
        return lay_out_one(r, pkts[0]);
    first.len = o->hdr_len;
    len = pkt_copy_out_open(&first, r->headers);
    r->iov[1] = (struct iovec){r->headers, len};
    r->n_iov = 2;
    for (uint32_t i = 0; i < run; i++) {
        const struct pkt *p = pkts[i];
        uint32_t payload = p->len - o->hdr_len;

        r->iov[r->n_iov++] = (struct iovec){p->data + o->hdr_len, payload};
        len += payload;
    }
    gso_merge_headers(r->headers, o, shift, len, gso_tcp_flags(pkts[run - 1]));
    r->vnet.gso_type = o->gso_type;
    r->vnet.gso_size = o->size;
    r->vnet.hdr_len = (uint16_t) r->iov[1].iov_len;
    return run;
}
