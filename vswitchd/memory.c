/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that goes back to the system: see memory.h.
 *
 * The allocator of glibc raises the size from which on a block is mapped by
 * itself whenever such a block is freed; from then on large blocks lie on the
 * heap, among small ones that stay.  So that size is fixed, and what is free
 * on the heap is given back now and then.
 */
#include "memory.h"

#include <malloc.h>
#include <stdbool.h>

#define LARGE_BYTES 131072 /* a block of its own mapping */

static bool freed; /* since the last tick */

void
memory_init(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    mallopt(M_TRIM_THRESHOLD, LARGE_BYTES);
#endif
}

void
memory_freed(void)
{
    freed = true;
}

void
memory_tick(void)
{
#ifdef __GLIBC__
    if (freed)
        malloc_trim(0);
#endif
    freed = false;
}
