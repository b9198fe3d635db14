/* SPDX-License-Identifier: Apache-2.0
 *
 * The Internet checksum: see csum.h.
 */
#include "base/csum.h"

#include <string.h>

#define CSUM_LITTLE_END (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

/* One's complement sums do not care about byte order until the end, so the
 * loop takes the host's words of 32 bits and swaps the result once. */
uint32_t
csum_add(uint32_t sum, const void *data, size_t n)
{
    const uint8_t *p = data;
    uint64_t acc = 0;
    uint16_t folded;

    for (; n >= 8; n -= 8, p += 8) {
        uint32_t w[2];

        memcpy(w, p, 8);
        acc += (uint64_t) w[0] + w[1];
    }
    while (n > 0) {
        uint8_t pair[2] = {p[0], n > 1 ? p[1] : 0};
        uint16_t w;

        memcpy(&w, pair, 2);
        acc += w;
        p += n > 1 ? 2 : 1;
        n -= n > 1 ? 2 : 1;
    }
    acc = (acc & UINT32_MAX) + (acc >> 32);
    acc = (acc & UINT32_MAX) + (acc >> 32);
    acc = (acc & UINT16_MAX) + (acc >> 16);
    acc = (acc & UINT16_MAX) + (acc >> 16);
    folded = (uint16_t) acc;
    if (CSUM_LITTLE_END)
        folded = (uint16_t) (folded << 8 | folded >> 8);
    return (sum & UINT16_MAX) + (sum >> 16) + folded;
}

uint16_t
csum_fold(uint32_t sum)
{
    sum = (sum & UINT16_MAX) + (sum >> 16);
    sum = (sum & UINT16_MAX) + (sum >> 16);
    return (uint16_t) ~sum;
}
