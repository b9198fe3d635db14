/* SPDX-License-Identifier: Apache-2.0
 *
 * Frame buffers.  One fixed pool per datapath: a provider takes a descriptor
 * with a buffer to receive into, the datapath queues it, a provider sends it,
 * and the last reference gives the buffer back.  A flooded frame is not
 * copied: each further egress queue gets a clone, a descriptor without a
 * buffer that refers to its owner's.  The frame stays as it came in; a
 * VLAN tag that egress adds, or takes away, and an IP header's DSCP and ECN
 * that it changes, are notes in the descriptor that the sending provider
 * carries out (pkt_gather, pkt_copy_out).
 *
 * Everything here belongs to the one thread that runs the datapath, except
 * pkt_pool_create/destroy and the counters.  Nothing allocates after create.
 */
#ifndef PKT_PKT_H
#define PKT_PKT_H

#include "base/counter.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

/* Frames handled together, and the most of a queue that leaves in a turn. */
#define PKT_BATCH 32
/* Buffers of a pool beyond n_buffers, see pkt_alloc_ctl(). */
#define PKT_N_CTL PKT_BATCH
/* Room before a received frame, octets: what the kernel keeps free there in a
 * buffer that an AF_XDP socket receives into (XDP_PACKET_HEADROOM). */
#define PKT_HEADROOM 256
/* Shortest Ethernet frame without FCS; shorter ones are padded on sending. */
#define PKT_MIN_LEN 60
/* What pkt_gather() needs beside the frame: the MACs, a tag that is put in, a
 * tag and a half that stay with the EtherType, and the start of the IP header
 * up to the end of its checksum. */
#define PKT_SCRATCH 40
/* Largest tx_l3: behind two tags. */
#define PKT_MAX_L3 22
/* No ingress port / priority group: charged to no one. */
#define PKT_NO_PORT UINT16_MAX

struct pkt_pool;

struct pkt {
    struct pkt *next;      /* link in a queue, or in a list of free ones */
    uint8_t *data;         /* first octet of the frame (destination MAC) */
    struct pkt *owner;     /* has the buffer and the charge; itself, mostly */
    struct pkt_pool *pool; /* where it goes back to */
    uint32_t charge_bytes; /* owner: what the ingress group was charged */
    uint32_t len;          /* octets of the frame as received, without FCS */
    uint32_t wire_bytes;   /* octets that it has on the wire of its egress
                              port, padding included; as it came, until act
                              notes a change */
    uint16_t n_refs;       /* owner: who uses the buffer: descriptors, and
                              providers that hold it (share.h) */
    uint16_t n_held;       /* owner: of n_refs, those of providers */
    uint16_t in_port;      /* ingress slot; PKT_NO_PORT: made by the switch */
    uint8_t pg;            /* ingress priority group 0..7 it is charged to */
    uint8_t prio;          /* priority 0..7 given at ingress */
    uint16_t vid;          /* VLAN that it travels in; 0: none */
    uint8_t tx_skip;       /* octets after the MACs left out when sent: 0, 4 */
    bool tx_tag;           /* whether a tag is put in after the MACs */
    uint8_t tx_l3;         /* where the IP header begins whose DSCP and ECN
                              octet is tx_ds when sent; 0: stays as it is */
    uint8_t tx_ds;         /* that octet (TOS, traffic class) */
    uint16_t tx_tpid;      /* TPID of the tag, e.g. 0x8100 */
    uint16_t tx_tci;       /* its TCI: PCP, DEI, VID */
    bool is_clone;         /* a descriptor without a buffer of its own */
    bool has_offload;      /* there is a note in front of it: offload.h */
} __attribute__((aligned(64)));

struct pkt_left;

/* Here for share.c, and for what is inline.  Two stacks of free descriptors,
 * so that what was used last, and is in the cache, is used next. */
struct pkt_pool {
    struct pkt **free;       /* descriptors that have a buffer: n_free */
    struct pkt *free_clones; /* descriptors that have none */
    counter_t n_free;        /* how many, PKT_N_CTL included */
    counter_t n_free_clones; /* length of `free_clones` */
    counter_t n_empty;       /* allocations that found nothing */
    uint32_t n_buffers;      /* buffers for data */
    uint32_t n_clones;       /* clones in all */
    uint32_t frame_bytes;    /* largest frame that a buffer holds */
    uint32_t stride;         /* from one buffer to the next */
    struct pkt *descs;       /* all descriptors: buffers', spare, clones */
    size_t descs_bytes;      /* their mapping */
    size_t free_bytes;       /* that of `free` */
    uint8_t *arena;          /* all buffers; touched when first used */
    size_t arena_bytes;      /* size of the mapping */
    uint64_t stride_inv;     /* see pkt_at() */
    struct pkt *spare;       /* control: spare buffers that were used */
    uint32_t n_spare;        /* control: those, and those never used */
    uint32_t next_spare;     /* control: first descriptor never used */
    struct pkt_left *left;   /* holds that were left behind: see share.c */
    struct pkt_left *ended;  /* those that ended */
};

/* From one buffer to the next.  An odd number of cache lines, so that the
 * first lines of all frames do not share a few sets of a cache. */
static inline uint32_t
pkt_stride(uint32_t frame_bytes)
{
    return ((PKT_HEADROOM + frame_bytes + 63) / 64 | 1) * 64;
}

/* n_buffers buffers of frame_bytes (largest frame; headroom is added), and
 * n_clones descriptors for the further copies of flooded frames.  Null when
 * memory is short.  Control thread. */
struct pkt_pool *pkt_pool_create(uint32_t n_buffers, uint32_t n_clones,
                                 uint32_t frame_bytes);
void pkt_pool_destroy(struct pkt_pool *);

/* A descriptor with a buffer, n_refs 1, data after the headroom, len 0,
 * in_port PKT_NO_PORT, no notes; null (and counted) when none is free. */
struct pkt *pkt_alloc(struct pkt_pool *);
/* n of them at once, or as many as there are (and counted, once, when that is
 * fewer).  Returns how many. */
uint32_t pkt_alloc_bulk(struct pkt_pool *, struct pkt *pkts[], uint32_t n);

/* The same for a MAC control frame, which is given back at once: finds one of
 * PKT_N_CTL further buffers when those for data are in use.  The frame that
 * lets the data go must never wait for a buffer. */
struct pkt *pkt_alloc_ctl(struct pkt_pool *);

/* One more reference to p's frame, for one more egress queue; null (and
 * counted) when no clone is free.  Copies len, vid, prio and the notes. */
struct pkt *pkt_clone(struct pkt *p);

/* Use pkt_free(). */
void pkt_free_shared(struct pkt *p);

/* Whether p has a buffer of its own that no one else refers to or holds. */
static inline bool
pkt_is_sole(const struct pkt *p)
{
    return p->n_refs == 1;
}

/* Gives one reference back.  The caller releases the ingress charge BEFORE
 * this call when it is the last one of the owner's buffer: pkt_is_last(). */
static inline void
pkt_free(struct pkt *p)
{
    struct pkt_pool *pool = p->pool;

    if (!pkt_is_sole(p)) {
        pkt_free_shared(p);
        return;
    }
    p->n_refs = 0;
    pool->free[pool->n_free] = p;
    counter_add(&pool->n_free, 1);
}

static inline bool
pkt_is_last(const struct pkt *p)
{
    const struct pkt *owner = p->owner;

    return owner->n_refs == 1 + owner->n_held;
}

/* Any thread. */
uint32_t pkt_pool_n_buffers(const struct pkt_pool *);
uint32_t pkt_pool_n_clones(const struct pkt_pool *);
uint32_t pkt_pool_frame_bytes(const struct pkt_pool *);
/* What pkt_alloc() finds, of n_buffers. */
static inline uint32_t
pkt_pool_n_free(const struct pkt_pool *pool)
{
    uint64_t n = counter_get(&pool->n_free);

    return n > PKT_N_CTL ? (uint32_t) (n - PKT_N_CTL) : 0;
}

static inline uint32_t
pkt_pool_n_free_clones(const struct pkt_pool *pool)
{
    return (uint32_t) counter_get(&pool->n_free_clones);
}

/* Allocations that found nothing free (buffers, clones). */
uint64_t pkt_pool_n_empty(const struct pkt_pool *);

/* Octets that p has on the wire, before padding: len - tx_skip + tag. */
static inline uint32_t
pkt_tx_len(const struct pkt *p)
{
    return p->len - p->tx_skip + (p->tx_tag ? 4u : 0u);
}

/* Use pkt_close(). */
void pkt_close_offload(const struct pkt *p);

/* To be called by whoever reads, or changes, more of a frame than its Ethernet
 * header: its checksum may be open (offload.h).  From then on the frame is as
 * it would have been on a wire. */
static inline void
pkt_close(const struct pkt *p)
{
    if (__builtin_expect(p->has_offload, 0))
        pkt_close_offload(p);
}

/* Use pkt_gather(). */
int pkt_gather_ip(const struct pkt *p, struct iovec iov[3],
                  uint8_t scratch[PKT_SCRATCH]);

static inline void
pkt_put_tag(const struct pkt *p, uint8_t tag[4])
{
    tag[0] = (uint8_t) (p->tx_tpid >> 8);
    tag[1] = (uint8_t) p->tx_tpid;
    tag[2] = (uint8_t) (p->tx_tci >> 8);
    tag[3] = (uint8_t) p->tx_tci;
}

/* The same as pkt_gather(), of a frame whose checksum may stay open. */
static inline int
pkt_gather_open(const struct pkt *p, struct iovec iov[3],
                uint8_t scratch[PKT_SCRATCH])
{
    uint32_t from = 12u + p->tx_skip;
    int n = 0;

    if (!p->tx_tag && !p->tx_skip && !p->tx_l3) {
        iov[0] = (struct iovec){p->data, p->len};
        return 1;
    }
    if (p->tx_l3)
        return pkt_gather_ip(p, iov, scratch);
    iov[n++] = (struct iovec){p->data, 12};
    if (p->tx_tag) {
        pkt_put_tag(p, scratch);
        iov[n++] = (struct iovec){scratch, 4};
    }
    iov[n++] = (struct iovec){p->data + from, p->len - from};
    return n;
}

/* Fills iov with what is to be sent, in order, copying no more than headers;
 * the scratch must live as long as iov.  Returns how many entries (1 to 3).
 * p->len >= 14. */
static inline int
pkt_gather(const struct pkt *p, struct iovec iov[3],
           uint8_t scratch[PKT_SCRATCH])
{
    pkt_close(p);
    return pkt_gather_open(p, iov, scratch);
}

/* Copies what is to be sent to `to`, which has room for pkt_tx_len(p).
 * Returns its length.  No padding. */
uint32_t pkt_copy_out(const struct pkt *p, uint8_t *to);
/* The same, of a frame whose checksum may stay open. */
uint32_t pkt_copy_out_open(const struct pkt *p, uint8_t *to);

#endif
