/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames that are not finished: see offload.h.
 */
#include "pkt/offload.h"

#include "base/csum.h"

struct pkt_offload *
pkt_leave_open(struct pkt *p, uint16_t l4_ofs, uint16_t csum_ofs)
{
    struct pkt_offload *o = pkt_offload(p);

    assert((uint32_t) l4_ofs + csum_ofs + 2 <= p->len);
    *o = (struct pkt_offload){
        .is_open = true,
        .l4_ofs = l4_ofs,
        .csum_ofs = csum_ofs,
    };
    p->has_offload = true;
    return o;
}

void
pkt_close_offload(const struct pkt *p)
{
    struct pkt_offload *o = pkt_offload(p);
    uint8_t *l4 = p->data + o->l4_ofs;
    uint16_t sum;

    if (!o->is_open)
        return;
    sum = csum_fold(csum_add(0, l4, p->len - o->l4_ofs));
    /* To UDP zero means that there is none, and its twin is as good. */
    if (sum == 0)
        sum = 0xffff;
    l4[o->csum_ofs] = (uint8_t) (sum >> 8);
    l4[o->csum_ofs + 1] = (uint8_t) sum;
    o->is_open = false;
}

bool
pkt_continues(const struct pkt *p, const struct pkt *next)
{
    const struct pkt_offload *a = pkt_offload(p), *b;

    if (!pkt_is_open(next) || !a->super || a->is_last)
        return false;
    b = pkt_offload(next);
    return b->super == a->super && b->whose == a->whose &&
           b->number == a->number + 1 && next->tx_skip == p->tx_skip &&
           next->tx_tag == p->tx_tag && next->tx_l3 == p->tx_l3 &&
           (!p->tx_tag ||
            (next->tx_tpid == p->tx_tpid && next->tx_tci == p->tx_tci)) &&
           (!p->tx_l3 || next->tx_ds == p->tx_ds);
}
