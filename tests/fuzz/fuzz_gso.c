/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: any offload header with any frame through checksum completion
 * and segmentation.  Nothing outside of the buffers is touched, every payload
 * octet comes out once and in order, and no more segments are made than the
 * smallest segment size allows.
 *
 * Input: virtio_net_hdr (10 octets), one octet of options (bit 0: a tag is put
 * in; bit 1: short room), the frame.
 */
#include "netdev/gso.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM  1518
#define SHORT 300

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void
require(bool holds)
{
    if (!holds)
        abort();
}

/* A copy of exactly n octets, so that a sanitizer sees what goes past. */
static uint8_t *
copy_of(const uint8_t *data, size_t n)
{
    uint8_t *p = malloc(n ? n : 1);

    require(p != NULL);
    if (n)
        memcpy(p, data, n);
    return p;
}

static void
check_complete(const uint8_t *data, size_t n, const struct virtio_net_hdr *h)
{
    uint8_t *frame = copy_of(data, n);
    size_t at = (size_t) h->csum_start + h->csum_offset;
    bool done = gso_complete(frame, n, h->csum_start, h->csum_offset);

    require(done == (h->csum_start >= 14 && at + 2 <= n));
    for (size_t i = 0; i < n; i++) {
        if (!done || i < at || i >= at + 4) /* SCTP's has four octets */
            require(frame[i] == data[i]);
    }
    free(frame);
}

static void
check_segments(struct gso *g, const uint8_t *frame, size_t n, size_t room)
{
    size_t hdr_len = g->hdr_len, tag_len = g->tag_len;
    size_t at = hdr_len, n_segs = 0;
    uint8_t *out = malloc(room);

    require(out != NULL && hdr_len < n);
    while (!gso_is_done(g)) {
        uint32_t len = gso_next(g, out);
        size_t payload = len - hdr_len - tag_len;

        require(len <= room && len > hdr_len + tag_len);
        require(payload == g->size || at + payload == n);
        require(memcmp(out, frame, 12) == 0);
        require(memcmp(out + tag_len + hdr_len, frame + at, payload) == 0);
        at += payload;
        require(++n_segs <= GSO_MAX_FRAME / GSO_MIN_SIZE);
    }
    require(at == n && gso_next(g, out) == 0);
    free(out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const uint8_t tag[4] = {0x81, 0x00, 0x60, 0x05};
    struct virtio_net_hdr h;
    struct gso g;
    uint8_t *frame;
    size_t room;
    int rc;

    if (n < sizeof(h) + 1)
        return 0;
    memcpy(&h, data, sizeof(h));
    room = data[sizeof(h)] & 2 ? SHORT : ROOM;
    frame = copy_of(data + sizeof(h) + 1, n - sizeof(h) - 1);
    n -= sizeof(h) + 1;
    check_complete(frame, n, &h);
    rc = gso_begin(&g, frame, n, &h, data[sizeof(h)] & 1 ? tag : NULL, room);
    require(rc == 0 || rc == EINVAL || rc == EMSGSIZE);
    if (rc == 0)
        check_segments(&g, frame, n, room);
    free(frame);
    return 0;
}
