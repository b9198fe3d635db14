/* SPDX-License-Identifier: Apache-2.0
 *
 * A ring of records of any length, between two threads without a lock: see
 * of_priv.h.  A record lies in one piece: what is left at the end of the
 * memory is skipped when it is too short for one.
 */
#include "dp/of_priv.h"

#include <stdlib.h>
#include <string.h>

#define HEAD 8          /* octets before a record: its length */
#define SKIP UINT32_MAX /* as a length: go on at the beginning */

struct of_ring {
    uint64_t n_bytes;  /* size; a power of two */
    uint64_t put;      /* octets ever put; release, pairs with peek */
    uint64_t got;      /* octets ever dropped; release, pairs with room */
    uint64_t next_put; /* producer: after the record that has room */
    uint64_t next_got; /* consumer: after the record that was peeked at */
    uint8_t *data;     /* the memory */
};

static uint64_t
whole(uint32_t n)
{
    return HEAD + (((uint64_t) n + 7) & ~UINT64_C(7));
}

struct of_ring *
of_ring_create(uint32_t n_bytes)
{
    struct of_ring *r = calloc(1, sizeof(*r));

    if (!r)
        return NULL;
    r->n_bytes = n_bytes;
    r->data = calloc(1, n_bytes);
    if (!r->data) {
        free(r);
        return NULL;
    }
    return r;
}

void
of_ring_destroy(struct of_ring *r)
{
    if (!r)
        return;
    free(r->data);
    free(r);
}

static void
write_head(struct of_ring *r, uint64_t at, uint32_t n)
{
    memcpy(r->data + (at & (r->n_bytes - 1)), &n, sizeof(n));
}

uint8_t *
of_ring_room(struct of_ring *r, uint32_t n)
{
    uint64_t got = __atomic_load_n(&r->got, __ATOMIC_ACQUIRE);
    uint64_t at = r->put, need = whole(n);
    uint64_t to_end = r->n_bytes - (at & (r->n_bytes - 1));

    if (need > to_end) {
        if (at + to_end + need - got > r->n_bytes)
            return NULL;
        write_head(r, at, SKIP);
        at += to_end;
    } else if (at + need - got > r->n_bytes) {
        return NULL;
    }
    write_head(r, at, n);
    r->next_put = at + need;
    return r->data + (at & (r->n_bytes - 1)) + HEAD;
}

void
of_ring_put(struct of_ring *r)
{
    __atomic_store_n(&r->put, r->next_put, __ATOMIC_RELEASE);
}

const uint8_t *
of_ring_peek(struct of_ring *r, uint32_t *n)
{
    uint64_t put = __atomic_load_n(&r->put, __ATOMIC_ACQUIRE);
    uint64_t at = r->got;

    if (at == put)
        return NULL;
    memcpy(n, r->data + (at & (r->n_bytes - 1)), sizeof(*n));
    if (*n == SKIP) {
        at += r->n_bytes - (at & (r->n_bytes - 1));
        memcpy(n, r->data, sizeof(*n));
    }
    r->next_got = at + whole(*n);
    return r->data + (at & (r->n_bytes - 1)) + HEAD;
}

void
of_ring_drop(struct of_ring *r)
{
    __atomic_store_n(&r->got, r->next_got, __ATOMIC_RELEASE);
}
