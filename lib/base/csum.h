/* SPDX-License-Identifier: Apache-2.0
 *
 * The Internet checksum (RFC 1071).  Pure, any thread.
 */
#ifndef BASE_CSUM_H
#define BASE_CSUM_H

#include <stddef.h>
#include <stdint.h>

/* The sum of n octets added to `sum` (not folded).  Any number of pieces of
 * any length, all but the last of an even one. */
uint32_t csum_add(uint32_t sum, const void *data, size_t n);
/* The checksum itself: folded and complemented, to be written highest octet
 * first; 0 for data that holds its own right checksum. */
uint16_t csum_fold(uint32_t sum);

#endif
