/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers that the kernel uses: see share.h.
 */
#include "pkt/share.h"

#include <stdlib.h>

/* Holds that a closed port left behind.  Control makes it and puts it in
 * pool->left (release); the dp thread takes all of these (acquire), ends the
 * holds, and puts it in pool->ended, to be freed by control. */
struct pkt_left {
    struct pkt_left *next; /* in the list that it is in */
    uint32_t n;            /* how many */
    struct pkt *owners[];  /* whose buffers were held */
};

uint8_t *
pkt_pool_arena(const struct pkt_pool *pool, size_t *bytes)
{
    *bytes = pool->arena_bytes;
    return pool->arena;
}

uint32_t
pkt_pool_stride(const struct pkt_pool *pool)
{
    return pool->stride;
}

uint32_t
pkt_spare_left(const struct pkt_pool *pool)
{
    return pool->n_spare;
}

static struct pkt *
take_spare(struct pkt_pool *pool)
{
    struct pkt *p = pool->spare;

    if (p)
        pool->spare = p->next;
    else
        p = &pool->descs[pool->next_spare++];
    *p = (struct pkt){
        .owner = p,
        .pool = pool,
        .data = pool->arena + (size_t) (p - pool->descs) * pool->stride +
                PKT_HEADROOM,
        .n_refs = 1,
        .in_port = PKT_NO_PORT,
    };
    return p;
}

bool
pkt_spare_take(struct pkt_pool *pool, struct pkt *pkts[], uint32_t n)
{
    if (n > pool->n_spare)
        return false;
    pool->n_spare -= n;
    for (uint32_t i = 0; i < n; i++)
        pkts[i] = take_spare(pool);
    return true;
}

void
pkt_spare_give(struct pkt_pool *pool, struct pkt *const pkts[], uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        pkts[i]->n_refs = 0;
        pkts[i]->next = pool->spare;
        pool->spare = pkts[i];
    }
    pool->n_spare += n;
}

void
pkt_unhold(struct pkt *owner)
{
    assert(owner->n_held > 0 && owner->n_refs >= owner->n_held);
    owner->n_held--;
    if (owner->n_refs > 1)
        owner->n_refs--;
    else
        pkt_free(owner);
}

static void
put_left(struct pkt_left **list, struct pkt_left *l)
{
    l->next = __atomic_load_n(list, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(list, &l->next, l, true,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

bool
pkt_leave(struct pkt_pool *pool, struct pkt *const owners[], uint32_t n)
{
    struct pkt_left *l;

    pkt_left_free(__atomic_exchange_n(&pool->ended, NULL, __ATOMIC_ACQUIRE));
    if (n == 0)
        return true;
    l = malloc(sizeof(*l) + n * sizeof(l->owners[0]));
    if (!l)
        return false;
    l->n = n;
    memcpy(l->owners, owners, n * sizeof(l->owners[0]));
    put_left(&pool->left, l);
    return true;
}

void
pkt_left_free(struct pkt_left *l)
{
    while (l) {
        struct pkt_left *next = l->next;

        free(l);
        l = next;
    }
}

void
pkt_collect(struct pkt_pool *pool)
{
    struct pkt_left *l, *next;

    if (!__atomic_load_n(&pool->left, __ATOMIC_RELAXED))
        return;
    l = __atomic_exchange_n(&pool->left, NULL, __ATOMIC_ACQUIRE);
    for (; l; l = next) {
        next = l->next;
        for (uint32_t i = 0; i < l->n; i++)
            pkt_unhold(l->owners[i]);
        put_left(&pool->ended, l);
    }
}
