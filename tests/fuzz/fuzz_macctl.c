/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: any frame through the MAC control decoder.  What it takes for
 * well-formed must say the same after an encoding and another decoding, and
 * must not be missed by the datapath's shortcut.
 */
#include "wire/macctl.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void
require(bool holds)
{
    if (!holds)
        abort();
}

static void
check_round_trip(const struct macctl *m)
{
    uint8_t frame[MACCTL_LEN];
    struct macctl again;

    if (m->kind == MACCTL_PFC)
        macctl_encode_pfc(frame, m->src, m->enable, m->time);
    else
        macctl_encode_pause(frame, m->src, m->time[0]);
    require(macctl_decode(frame, sizeof(frame), &again) == m->kind);
    require(again.enable == m->enable);
    require(memcmp(again.time, m->time, sizeof(m->time)) == 0);
    require(memcmp(again.src, m->src, 6) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct macctl m;
    enum macctl_kind kind = macctl_decode(data, n, &m);

    require(m.kind == kind && kind <= MACCTL_MALFORMED);
    if (n < 14) {
        require(kind == MACCTL_NONE);
        return 0;
    }
    if (kind != MACCTL_NONE)
        require(macctl_suspect(data, n));
    if (kind == MACCTL_PFC || kind == MACCTL_PAUSE) {
        require(memcmp(data, macctl_dst, 6) == 0);
        check_round_trip(&m);
    }
    return 0;
}
