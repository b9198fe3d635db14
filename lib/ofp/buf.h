/* SPDX-License-Identifier: Apache-2.0
 *
 * A buffer that grows, for messages on their way out.  A write for which
 * there is no memory is left out and sets `bad`; who sends looks once.
 * Network byte order.  One thread.
 */
#ifndef OFP_BUF_H
#define OFP_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ofp_buf {
    uint8_t *data; /* them */
    size_t n;      /* octets written */
    size_t room;   /* octets of data */
    bool bad;      /* memory ran out: what is there is not whole */
};

void ofp_buf_free(struct ofp_buf *);

/* Room for n octets at the end, zeroed, counted as written; null (and bad)
 * when there is no memory. */
uint8_t *ofp_buf_add(struct ofp_buf *, size_t n);
void ofp_buf_bytes(struct ofp_buf *, const void *from, size_t n);
void ofp_buf_u8(struct ofp_buf *, uint8_t);
void ofp_buf_be16(struct ofp_buf *, uint16_t);
void ofp_buf_be32(struct ofp_buf *, uint32_t);
void ofp_buf_be64(struct ofp_buf *, uint64_t);
void ofp_buf_zero(struct ofp_buf *, size_t n);
/* Text in a field of n octets, NUL at its end in any case. */
void ofp_buf_text(struct ofp_buf *, const char *, size_t n);
/* Zeroes until the length since `from` is a multiple of 8. */
void ofp_buf_pad8(struct ofp_buf *, size_t from);
/* Writes over what was written at `at`. */
void ofp_buf_set16(struct ofp_buf *, size_t at, uint16_t);

#endif
