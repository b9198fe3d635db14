/* SPDX-License-Identifier: Apache-2.0
 *
 * The buffer pool: see pkt.h.
 */
#include "pkt/pkt.h"

#include "pkt/share.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Octets of the arena after the last buffer: the kernel takes every buffer to
 * be as long as its chunks are, a page at most. */
#define ARENA_TAIL 4096
/* Spare buffers, for what AF_XDP ports park with the kernel: as many as there
 * are for data.  They cost nothing until such a port opens. */
#define N_SPARE(n_buffers) ((n_buffers) + 1024)

static void
push_free(struct pkt_pool *pool, struct pkt *p)
{
    if (p->is_clone) {
        p->next = pool->free_clones;
        pool->free_clones = p;
        counter_add(&pool->n_free_clones, 1);
    } else {
        pool->free[pool->n_free] = p;
        counter_add(&pool->n_free, 1);
    }
}

static uint8_t *
buffer_of(const struct pkt_pool *pool, const struct pkt *p)
{
    return pool->arena + (size_t) (p - pool->descs) * pool->stride;
}

static void *
map_zeros(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    /* Each frame lies in a small page of its own, and more of them are under
     * way than a core has translations for. */
    (void) madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

static void
free_descs(struct pkt_pool *pool, uint32_t first, uint32_t n, bool is_clone)
{
    while (n-- > 0) {
        struct pkt *p = &pool->descs[first + n];

        p->pool = pool;
        p->owner = p;
        p->is_clone = is_clone;
        push_free(pool, p);
    }
}

struct pkt_pool *
pkt_pool_create(uint32_t n_buffers, uint32_t n_clones, uint32_t frame_bytes)
{
    struct pkt_pool *pool = calloc(1, sizeof(*pool));
    uint32_t n_spare = N_SPARE(n_buffers);
    size_t n = (size_t) n_buffers + PKT_N_CTL + n_spare;

    if (!pool)
        return NULL;
    pool->n_buffers = n_buffers;
    pool->n_clones = n_clones;
    pool->frame_bytes = frame_bytes;
    pool->stride = pkt_stride(frame_bytes);
    pool->stride_inv = UINT64_MAX / (pool->stride / 64) + 1;
    pool->n_spare = n_spare;
    pool->next_spare = n_buffers + PKT_N_CTL;
    pool->arena_bytes =
        (n * pool->stride + ARENA_TAIL + 4095) & ~(size_t) 4095;
    pool->descs_bytes = (n + n_clones) * sizeof(struct pkt);
    pool->arena = map_zeros(pool->arena_bytes);
    pool->descs = map_zeros(pool->descs_bytes);
    pool->free_bytes = n * sizeof(pool->free[0]);
    pool->free = map_zeros(pool->free_bytes);
    if (!pool->arena || !pool->descs || !pool->free) {
        pkt_pool_destroy(pool);
        return NULL;
    }
    free_descs(pool, (uint32_t) n, n_clones, true);
    free_descs(pool, 0, n_buffers + PKT_N_CTL, false);
    return pool;
}

void
pkt_pool_destroy(struct pkt_pool *pool)
{
    if (!pool)
        return;
    if (pool->arena)
        munmap(pool->arena, pool->arena_bytes);
    if (pool->descs)
        munmap(pool->descs, pool->descs_bytes);
    if (pool->free)
        munmap(pool->free, pool->free_bytes);
    pkt_left_free(pool->left);
    pkt_left_free(pool->ended);
    free(pool);
}

/* What a descriptor looks like that was just taken.  Its owner is itself, as
 * always. */
static inline void
make_ready(const struct pkt_pool *pool, struct pkt *p)
{
    p->data = buffer_of(pool, p) + PKT_HEADROOM;
    p->charge_bytes = 0;
    p->len = 0;
    p->wire_bytes = 0;
    p->n_refs = 1;
    p->n_held = 0;
    p->in_port = PKT_NO_PORT;
    p->pg = 0;
    p->prio = 0;
    p->vid = 0;
    p->tx_skip = 0;
    p->tx_tag = false;
    p->tx_l3 = 0;
    p->tx_ds = 0;
    p->has_offload = false;
}

/* A buffer, as long as more than n_left of them are free. */
static inline struct pkt *
alloc(struct pkt_pool *pool, uint32_t n_left)
{
    struct pkt *p;

    if (pool->n_free <= n_left)
        pkt_collect(pool);
    if (pool->n_free <= n_left) {
        counter_add(&pool->n_empty, 1);
        return NULL;
    }
    counter_set(&pool->n_free, pool->n_free - 1);
    p = pool->free[pool->n_free];
    make_ready(pool, p);
    return p;
}

struct pkt *
pkt_alloc(struct pkt_pool *pool)
{
    return alloc(pool, PKT_N_CTL);
}

struct pkt *
pkt_alloc_ctl(struct pkt_pool *pool)
{
    return alloc(pool, 0);
}

uint32_t
pkt_alloc_bulk(struct pkt_pool *pool, struct pkt *pkts[], uint32_t n)
{
    struct pkt **top;

    if (n > pkt_pool_n_free(pool))
        pkt_collect(pool);
    if (n > pkt_pool_n_free(pool)) {
        counter_add(&pool->n_empty, 1);
        n = pkt_pool_n_free(pool);
    }
    top = pool->free + pool->n_free;
    for (uint32_t i = 0; i < n; i++) {
        struct pkt *p = *--top;

        make_ready(pool, p);
        pkts[i] = p;
    }
    counter_set(&pool->n_free, pool->n_free - n);
    return n;
}

struct pkt *
pkt_clone(struct pkt *from)
{
    struct pkt_pool *pool = from->pool;
    struct pkt *p = pool->free_clones;

    if (!p) {
        counter_add(&pool->n_empty, 1);
        return NULL;
    }
    assert(from->owner->n_refs < UINT16_MAX);
    pool->free_clones = p->next;
    counter_set(&pool->n_free_clones, pool->n_free_clones - 1);
    *p = *from;
    p->next = NULL;
    p->is_clone = true;
    p->charge_bytes = 0;
    p->n_refs = 0;
    p->n_held = 0;
    from->owner->n_refs++;
    return p;
}

void
pkt_free_shared(struct pkt *p)
{
    struct pkt_pool *pool = p->pool;
    struct pkt *owner = p->owner;

    assert(owner->n_refs > 0);
    owner->n_refs--;
    if (p->is_clone)
        push_free(pool, p);
    if (owner->n_refs == 0)
        push_free(pool, owner);
}

uint32_t
pkt_pool_n_buffers(const struct pkt_pool *pool)
{
    return pool->n_buffers;
}

uint32_t
pkt_pool_n_clones(const struct pkt_pool *pool)
{
    return pool->n_clones;
}

uint32_t
pkt_pool_frame_bytes(const struct pkt_pool *pool)
{
    return pool->frame_bytes;
}

uint64_t
pkt_pool_n_empty(const struct pkt_pool *pool)
{
    return counter_get(&pool->n_empty);
}

/* Octets of an IP header that a change of its DSCP and ECN concerns: those of
 * version 4 up to the end of the checksum. */
#define IP_EDIT 12

/* Gives the IP header at ip the octet ds.  The checksum of version 4 follows
 * without being computed anew (RFC 1624, equation 3), so that one that was
 * wrong stays wrong. */
static void
put_ds(uint8_t *ip, uint8_t ds)
{
    uint32_t sum;

    if (ip[0] >> 4 == 6) {
        ip[0] = (uint8_t) (0x60 | ds >> 4);
        ip[1] = (uint8_t) ((ds << 4 & 0xf0) | (ip[1] & 0x0f));
        return;
    }
    sum = (uint16_t) ~(ip[10] << 8 | ip[11]);
    sum += (uint16_t) ~(ip[0] << 8 | ip[1]);
    sum += (uint32_t) (ip[0] << 8 | ds);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = ~((sum & 0xffff) + (sum >> 16));
    ip[1] = ds;
    ip[10] = (uint8_t) (sum >> 8);
    ip[11] = (uint8_t) sum;
}

/* The headers are copied and edited there: others may share the frame. */
int
pkt_gather_ip(const struct pkt *p, struct iovec iov[3],
              uint8_t scratch[PKT_SCRATCH])
{
    uint32_t from = 12u + p->tx_skip, to = p->tx_l3 + IP_EDIT, n = 12;

    assert(p->tx_l3 >= from && p->tx_l3 <= PKT_MAX_L3 && p->len >= to);
    memcpy(scratch, p->data, n);
    if (p->tx_tag) {
        pkt_put_tag(p, scratch + n);
        n += 4;
    }
    memcpy(scratch + n, p->data + from, to - from);
    n += to - from;
    put_ds(scratch + n - IP_EDIT, p->tx_ds);
    iov[0] = (struct iovec){scratch, n};
    iov[1] = (struct iovec){p->data + to, p->len - to};
    return 2;
}

uint32_t
pkt_copy_out(const struct pkt *p, uint8_t *to)
{
    pkt_close(p);
    return pkt_copy_out_open(p, to);
}

uint32_t
pkt_copy_out_open(const struct pkt *p, uint8_t *to)
{
    struct iovec iov[3];
    uint8_t scratch[PKT_SCRATCH];
    uint32_t len = 0;
    int n;

    if (!p->tx_tag && !p->tx_skip) {
        memcpy(to, p->data, p->len);
        if (p->tx_l3)
            put_ds(to + p->tx_l3, p->tx_ds);
        return p->len;
    }
    n = pkt_gather_open(p, iov, scratch);
    for (int i = 0; i < n; i++) {
        memcpy(to + len, iov[i].iov_base, iov[i].iov_len);
        len += (uint32_t) iov[i].iov_len;
    }
    return len;
}

bool
pkt_flatten(struct pkt *p)
{
    uint32_t len = pkt_tx_len(p);
    uint8_t *from = p->data + p->tx_skip, *to = from - (p->tx_tag ? 4 : 0);

    if (p->owner->n_refs != 1)
        return false;
    pkt_close(p);
    assert(p->pool && to >= p->data - PKT_HEADROOM);
    if (p->tx_l3)
        put_ds(p->data + p->tx_l3, p->tx_ds);
    if (to != p->data)
        memmove(to, p->data, 12);
    if (p->tx_tag)
        pkt_put_tag(p, to + 12);
    p->data = to;
    p->len = len;
    p->tx_skip = 0;
    p->tx_tag = false;
    p->tx_l3 = 0;
    p->has_offload = false; /* its offsets mean nothing any more */
    return true;
}
