/* SPDX-License-Identifier: Apache-2.0
 *
 * A slow consumer: the receive buffer of a priority whose frames are consumed
 * at a rate, with the switch's own buffer accounting (qos/buf), so that it
 * asks for XOFF and XON as a switch does.  Only the lengths of the frames are
 * kept.  Pure; one thread.
 */
#ifndef UTILITIES_PROBE_SLOW_H
#define UTILITIES_PROBE_SLOW_H

#include "probe_conf.h"
#include "qos/buf.h"
#include "qos/shaper.h"

#include <stdbool.h>
#include <stdint.h>

struct probe_slow_buf {
    struct buf_pool pool;   /* this buffer's own */
    struct buf_group group; /* occupancy and XOFF state */
    struct shaper shaper;   /* rate of consumption */
    uint32_t *lens;         /* ring of lengths; null: not slow */
    uint32_t n_lens;        /* its size */
    uint32_t head, n;       /* oldest, and how many */
    uint64_t consumed;      /* frames that went through */
    uint64_t dropped;       /* frames that found the buffer full */
};

/* `lossless`: it may ask for XOFF.  ENOMEM. */
int probe_slow_init(struct probe_slow_buf *, const struct probe_slow *,
                    bool lossless, uint64_t now_ns);
void probe_slow_uninit(struct probe_slow_buf *);

/* A frame came in; false when it was dropped. */
bool probe_slow_put(struct probe_slow_buf *, uint32_t bytes);

/* Consumes what is due. */
void probe_slow_drain(struct probe_slow_buf *, uint64_t now_ns);

/* When the next frame is consumed; CLOCK_NEVER when there is none. */
uint64_t probe_slow_deadline(const struct probe_slow_buf *);

#endif
