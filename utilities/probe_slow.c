/* SPDX-License-Identifier: Apache-2.0
 *
 * A slow consumer: see probe_slow.h.
 */
#include "probe_slow.h"

#include "base/clock.h"
#include "pkt/pkt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
probe_slow_init(struct probe_slow_buf *b, const struct probe_slow *conf,
                bool lossless, uint64_t now_ns)
{
    struct buf_group_conf gc = {
        .limit_bytes = lossless ? conf->xoff_bytes : conf->buffer_bytes,
        .alpha = BUF_ALPHA_NONE,
        .xon_bytes = conf->xon_bytes,
        .headroom_bytes = lossless ? conf->buffer_bytes - conf->xoff_bytes : 0,
        .lossless = lossless,
    };

    memset(b, 0, sizeof(*b));
    b->pool.shared_bytes = conf->buffer_bytes;
    /* Every frame that is charged has PKT_MIN_LEN octets or more. */
    b->n_lens = (uint32_t) (conf->buffer_bytes / PKT_MIN_LEN) + 1;
    b->lens = calloc(b->n_lens, sizeof(*b->lens));
    if (!b->lens)
        return ENOMEM;
    buf_group_set(&b->pool, &b->group, &gc);
    shaper_init(&b->shaper, conf->rate_bps, 0, PROBE_MAX_FRAME, now_ns);
    return 0;
}

void
probe_slow_uninit(struct probe_slow_buf *b)
{
    free(b->lens);
    b->lens = NULL;
}

bool
probe_slow_put(struct probe_slow_buf *b, uint32_t bytes)
{
    uint32_t charge = bytes < PKT_MIN_LEN ? PKT_MIN_LEN : bytes;

    if (buf_admit(&b->pool, &b->group, charge, UINT32_MAX) != BUF_OK) {
        b->dropped++;
        return false;
    }
    b->lens[(b->head + b->n) % b->n_lens] = charge;
    b->n++;
    return true;
}

void
probe_slow_drain(struct probe_slow_buf *b, uint64_t now_ns)
{
    while (b->n > 0 && shaper_ready(&b->shaper, now_ns)) {
        uint32_t bytes = b->lens[b->head];

        shaper_charge(&b->shaper, bytes);
        buf_release(&b->pool, &b->group, bytes, UINT32_MAX);
        b->head = (b->head + 1) % b->n_lens;
        b->n--;
        b->consumed++;
    }
}

uint64_t
probe_slow_deadline(const struct probe_slow_buf *b)
{
    return b->n > 0 ? shaper_deadline(&b->shaper) : CLOCK_NEVER;
}
