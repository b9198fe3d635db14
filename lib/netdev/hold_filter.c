/* SPDX-License-Identifier: Apache-2.0
 *
 * The classifier of a TAP whose senders can be held: see hold.h.  It decides
 * as stage parse of the datapath does: the PCP of the outer tag, or else the
 * port's default; and, where DSCP is trusted, the DSCP of an IP packet before
 * either.  Classic BPF, which a daemon with CAP_NET_ADMIN alone may load.
 *
 * The kernel keeps a tag in the frame's metadata, unless the sender wrote it
 * into the frame: both are looked at.  Deeper tags are not, as the datapath
 * does not: what is behind them is no IP.  Control thread.
 */
#include "netdev/hold.h"

#include "wire/eth.h"

#include <assert.h>
#include <linux/if_ether.h>
#include <stddef.h>

#define CLASS_OF(prio) (0x10010u + (prio))
/* Of the scratch memory: the verdict so far. */
#define M_CLASS 0

/* A program that is being written. */
struct prog {
    struct sock_filter *insns; /* as many as fit */
    uint16_t n;                /* written */
};

static void
put(struct prog *p, uint16_t code, uint8_t jt, uint8_t jf, uint32_t k)
{
    assert(p->n < HOLD_MAX_INSNS);
    p->insns[p->n++] = (struct sock_filter){code, jt, jf, k};
}

/* A: a code of n bits.  Class by a map, into the scratch memory: the program
 * is a row of comparisons, since classic BPF has no tables. */
static void
put_pcp_map(struct prog *p, const uint8_t map[8])
{
    for (uint8_t pcp = 0; pcp < 8; pcp++) {
        put(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 3, pcp);
        put(p, BPF_LD | BPF_IMM, 0, 0, CLASS_OF(map[pcp]));
        put(p, BPF_ST, 0, 0, M_CLASS);
        /* Past those that are left, three and a jump each. */
        put(p, BPF_JMP | BPF_JA, 0, 0, 4u * (7u - pcp));
    }
}

/* X: where the EtherType is.  Ends the program for an IP packet. */
static void
put_dscp_map(struct prog *p, const uint8_t map[64])
{
    put(p, BPF_LD | BPF_H | BPF_IND, 0, 0, 12);
    put(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 2, ETH_P_IP);
    put(p, BPF_LD | BPF_B | BPF_IND, 0, 0, 15);
    put(p, BPF_JMP | BPF_JA, 0, 0, 5);
    put(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ETH_P_IPV6);
    put(p, BPF_JMP | BPF_JA, 0, 0, 2u * 64 + 4);
    put(p, BPF_LD | BPF_H | BPF_IND, 0, 0, 14);
    put(p, BPF_ALU | BPF_RSH | BPF_K, 0, 0, 4);
    put(p, BPF_ALU | BPF_AND | BPF_K, 0, 0, 0xff);
    put(p, BPF_ALU | BPF_RSH | BPF_K, 0, 0, 2);
    for (uint32_t dscp = 0; dscp < 64; dscp++) {
        put(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, dscp);
        put(p, BPF_RET | BPF_K, 0, 0, CLASS_OF(map[dscp]));
    }
}

uint16_t
hold_filter(const struct netdev_hold *h, struct sock_filter out[])
{
    struct prog p = {.insns = out};

    put(&p, BPF_LD | BPF_IMM, 0, 0, CLASS_OF(h->default_prio));
    put(&p, BPF_ST, 0, 0, M_CLASS);
    put(&p, BPF_LDX | BPF_IMM, 0, 0, 0);
    /* A := the tag's TCI, whichever way it travels. */
    put(&p, BPF_LD | BPF_B | BPF_ABS, 0, 0,
        (uint32_t) (SKF_AD_OFF + SKF_AD_VLAN_TAG_PRESENT));
    put(&p, BPF_JMP | BPF_JEQ | BPF_K, 2, 0, 0);
    put(&p, BPF_LD | BPF_W | BPF_ABS, 0, 0,
        (uint32_t) (SKF_AD_OFF + SKF_AD_VLAN_TAG));
    put(&p, BPF_JMP | BPF_JA, 0, 0, 6);
    put(&p, BPF_LD | BPF_H | BPF_ABS, 0, 0, 12);
    put(&p, BPF_JMP | BPF_JEQ | BPF_K, 2, 0, ETH_P_8021Q);
    put(&p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ETH_P_8021AD);
    put(&p, BPF_JMP | BPF_JA, 0, 0, 3 + 4 * 8); /* no tag */
    put(&p, BPF_LDX | BPF_IMM, 0, 0, ETH_VLAN_LEN);
    put(&p, BPF_LD | BPF_H | BPF_ABS, 0, 0, 14);
    put(&p, BPF_ALU | BPF_RSH | BPF_K, 0, 0, 13);
    put_pcp_map(&p, h->pcp_to_prio);
    if (h->trust_dscp)
        put_dscp_map(&p, h->dscp_to_prio);
    put(&p, BPF_LD | BPF_MEM, 0, 0, M_CLASS);
    put(&p, BPF_RET | BPF_A, 0, 0, 0);
    return p.n;
}
