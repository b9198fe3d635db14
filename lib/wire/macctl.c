/* SPDX-License-Identifier: Apache-2.0
 *
 * MAC control codec: see macctl.h.  What the standards leave open is settled
 * in favour of the sender: an all-zero source, a set high octet in the enable
 * vector and any padding are accepted.
 */
#include "wire/macctl.h"

#include "base/cursor.h"
#include "wire/eth.h"

#include <assert.h>

#define PFC_MIN_LEN   34 /* addresses, type, opcode, vector, eight times */
#define PAUSE_MIN_LEN 18 /* addresses, type, opcode, time */

const uint8_t macctl_dst[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};

static enum macctl_kind
decode_pfc(struct cursor *c, struct macctl *m)
{
    uint8_t enable = (uint8_t) cursor_be16(c);
    uint16_t time[N_PRIO];

    for (int p = 0; p < N_PRIO; p++) {
        uint16_t t = cursor_be16(c);

        time[p] = enable & (1u << p) ? t : 0;
    }
    if (c->bad)
        return MACCTL_MALFORMED;
    m->enable = enable;
    memcpy(m->time, time, sizeof(time));
    return MACCTL_PFC;
}

static enum macctl_kind
decode_pause(struct cursor *c, struct macctl *m)
{
    uint16_t time = cursor_be16(c);

    if (c->bad)
        return MACCTL_MALFORMED;
    m->time[0] = time;
    return MACCTL_PAUSE;
}

/* The frame is known to carry 0x8808 behind n_tags tags. */
static enum macctl_kind
decode_control(struct cursor *c, int n_tags, const uint8_t *dst,
               struct macctl *m)
{
    uint16_t opcode = cursor_be16(c);

    if (n_tags > 0 || c->bad || memcmp(dst, macctl_dst, 6) != 0)
        return MACCTL_MALFORMED;
    switch (opcode) {
    case MACCTL_OP_PFC:
        return decode_pfc(c, m);
    case MACCTL_OP_PAUSE:
        return decode_pause(c, m);
    default:
        return MACCTL_UNSUPPORTED;
    }
}

enum macctl_kind
macctl_decode(const uint8_t *frame, size_t n, struct macctl *m)
{
    struct cursor c = cursor_init(frame, n);
    const uint8_t *dst = cursor_take(&c, 6);
    const uint8_t *src = cursor_take(&c, 6);
    uint16_t type = cursor_be16(&c);
    int n_tags = 0;

    memset(m, 0, sizeof(*m));
    m->kind = MACCTL_NONE;
    while (n_tags < 2 && (type == ETH_T_VLAN || type == ETH_T_SVLAN)) {
        cursor_take(&c, 2);
        type = cursor_be16(&c);
        n_tags++;
    }
    if (c.bad || type != MACCTL_ETHERTYPE)
        return m->kind;
    memcpy(m->src, src, 6);
    m->kind = decode_control(&c, n_tags, dst, m);
    return m->kind;
}

/* Destination to opcode; what follows is the caller's. */
static struct wcursor
encode_head(uint8_t out[MACCTL_LEN], const uint8_t src[6], uint16_t opcode)
{
    struct wcursor c = wcursor_init(out, MACCTL_LEN);

    wcursor_bytes(&c, macctl_dst, 6);
    wcursor_bytes(&c, src, 6);
    wcursor_be16(&c, MACCTL_ETHERTYPE);
    wcursor_be16(&c, opcode);
    return c;
}

void
macctl_encode_pfc(uint8_t out[MACCTL_LEN], const uint8_t src[6],
                  uint8_t enable, const uint16_t time[N_PRIO])
{
    struct wcursor c = encode_head(out, src, MACCTL_OP_PFC);

    wcursor_be16(&c, enable);
    for (int p = 0; p < N_PRIO; p++)
        wcursor_be16(&c, enable & (1u << p) ? time[p] : 0);
    wcursor_zero(&c, c.left);
    assert(!c.bad && c.p == out + MACCTL_LEN);
}

void
macctl_encode_pause(uint8_t out[MACCTL_LEN], const uint8_t src[6],
                    uint16_t time)
{
    struct wcursor c = encode_head(out, src, MACCTL_OP_PAUSE);

    wcursor_be16(&c, time);
    wcursor_zero(&c, c.left);
    assert(!c.bad && c.p == out + MACCTL_LEN);
}

uint64_t
macctl_quanta_ns(uint16_t quanta, uint64_t rate_bps)
{
    /* 65535 x 512 x 10^9 is below 2^55. */
    uint64_t bit_ns =
        (uint64_t) quanta * MACCTL_QUANTUM_BITS * UINT64_C(1000000000);

    assert(rate_bps > 0);
    return bit_ns / rate_bps + (bit_ns % rate_bps != 0);
}
