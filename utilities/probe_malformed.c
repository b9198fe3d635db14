/* SPDX-License-Identifier: Apache-2.0
 *
 * Malformed MAC control: see probe_malformed.h.
 */
#include "probe_malformed.h"

#include "base/cursor.h"
#include "wire/eth.h"
#include "wire/macctl.h"

#include <assert.h>
#include <string.h>

const char *const probe_malformed_names[PROBE_N_MALFORMED] = {
    "short-pfc", "short-pause", "tagged", "wrong-address", "unknown-opcode",
};

uint32_t
probe_malformed_build(uint8_t out[PROBE_MALFORMED_MAX], uint32_t kind,
                      const uint8_t src[6])
{
    static const uint8_t unicast[6] = {0x02, 0, 0, 0, 0, 0xfe};
    uint16_t time[N_PRIO];
    uint8_t frame[MACCTL_LEN];
    struct wcursor c = wcursor_init(out, PROBE_MALFORMED_MAX);

    assert(kind < PROBE_N_MALFORMED);
    /* Were one obeyed, every priority would stand still. */
    memset(time, 0xff, sizeof(time));
    macctl_encode_pfc(frame, src, 0xff, time);
    switch (kind) {
    case 0: /* the last times are missing */
        wcursor_bytes(&c, frame, 30);
        break;
    case 1: /* the time is missing */
        macctl_encode_pause(frame, src, 0xffff);
        wcursor_bytes(&c, frame, 16);
        break;
    case 2:
        wcursor_bytes(&c, frame, 12);
        wcursor_be16(&c, ETH_T_VLAN);
        wcursor_be16(&c, 7u << VLAN_PCP_SHIFT);
        wcursor_bytes(&c, frame + 12, MACCTL_LEN - 12);
        break;
    case 3:
        wcursor_bytes(&c, unicast, 6);
        wcursor_bytes(&c, frame + 6, MACCTL_LEN - 6);
        break;
    default:
        wcursor_bytes(&c, frame, 14);
        wcursor_be16(&c, 0x0102);
        wcursor_bytes(&c, frame + 16, MACCTL_LEN - 16);
        break;
    }
    assert(!c.bad);
    return (uint32_t) (c.p - out);
}
