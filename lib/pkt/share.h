/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers of a pool that the kernel writes and reads itself (AF_XDP).  A port
 * parks buffers with the kernel, which receives into them; what is sent is
 * held until the kernel has read it.
 *
 * What is parked comes on top of n_buffers.  A port takes as many spare
 * buffers when it opens as it parks, exchanges full ones for free ones, one
 * for one, and gives as many back when it closes.  Which ones these are does
 * not matter.
 *
 * Threads as said; "dp" is the one that runs the datapath of the pool.
 */
#ifndef PKT_SHARE_H
#define PKT_SHARE_H

#include "pkt/pkt.h"

/* All buffers, to be registered with the kernel: whole pages, and each of them
 * can be taken to be 4096 octets long at least.  Any thread. */
uint8_t *pkt_pool_arena(const struct pkt_pool *, size_t *bytes);
uint32_t pkt_pool_stride(const struct pkt_pool *);

/* Control.  n spare buffers; false: there are not so many.  They look like
 * those of pkt_alloc(). */
bool pkt_spare_take(struct pkt_pool *, struct pkt *pkts[], uint32_t n);
void pkt_spare_give(struct pkt_pool *, struct pkt *const pkts[], uint32_t n);
uint32_t pkt_spare_left(const struct pkt_pool *);

/* Any thread.  Where the buffer that octet of the arena is in begins, by
 * number; and its descriptor. */
static inline uint32_t
pkt_index_at(const struct pkt_pool *pool, uint64_t ofs)
{
    return (uint32_t) (((unsigned __int128) (ofs / 64) * pool->stride_inv) >>
                       64);
}

static inline struct pkt *
pkt_at(const struct pkt_pool *pool, uint64_t ofs)
{
    return &pool->descs[pkt_index_at(pool, ofs)];
}

static inline uint64_t
pkt_ofs(const struct pkt_pool *pool, const uint8_t *data)
{
    return (uint64_t) (data - pool->arena);
}

/* dp.  A provider reads the frame after the caller freed p: its buffer stays
 * in use, though no one's in the datapath, until pkt_unhold(). */
static inline void
pkt_hold(struct pkt *p)
{
    struct pkt *owner = p->owner;

    assert(owner->n_refs < UINT16_MAX);
    owner->n_refs++;
    owner->n_held++;
}

void pkt_unhold(struct pkt *owner);

/* Control.  Holds that a port which is closed leaves behind.  They end in
 * pkt_collect(), which is called, too, when buffers are short.  False: there
 * was no memory to note them, and the buffers stay in use. */
bool pkt_leave(struct pkt_pool *, struct pkt *const owners[], uint32_t n);
void pkt_left_free(struct pkt_left *);
/* dp. */
void pkt_collect(struct pkt_pool *);

/* dp.  Carries the notes out in the frame itself: it lies at p->data as it is
 * to be sent, and has no notes any more.  False, and nothing is changed, when
 * anyone else uses the buffer. */
bool pkt_flatten(struct pkt *p);

#endif
