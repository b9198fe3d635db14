/* SPDX-License-Identifier: Apache-2.0
 *
 * Partial checksums that nobody announces: see csum.h.
 */
#include "netdev/csum.h"

#include "netdev/gso.h"
#include "wire/eth.h"

#include <stdbool.h>

#define PROTO_TCP    6
#define PROTO_UDP    17
#define IP4_SRC_OFS  12
#define IP6_SRC_OFS  8
#define TCP_MIN_HDR  20
#define TCP_CSUM_OFS 16
#define UDP_HDR_LEN  8
#define UDP_CSUM_OFS 6
#define VXLAN_PORT   4789
#define VXLAN_LEN    8

/* Octets of the IP packet behind its header, as the header says; 0: it is a
 * fragment, or does not fit the frame. */
static size_t
payload_len(const uint8_t *frame, size_t n, const struct eth_info *info)
{
    const uint8_t *l3 = frame + info->l3_ofs;
    size_t end;

    if (l3[0] >> 4 == 4) {
        if (eth_be16(l3 + 6) & 0x3fff) /* more fragments, or not the first */
            return 0;
        end = info->l3_ofs + eth_be16(l3 + 2);
    } else {
        end = info->l3_ofs + ETH_IP6_HDR_LEN + eth_be16(l3 + 4);
    }
    return end <= n && end > info->l4_ofs ? end - info->l4_ofs : 0;
}

static uint32_t
pseudo_sum(const uint8_t *l3, uint8_t proto, size_t len)
{
    uint32_t sum = l3[0] >> 4 == 6 ? eth_csum_add(0, l3 + IP6_SRC_OFS, 32)
                                   : eth_csum_add(0, l3 + IP4_SRC_OFS, 8);

    return sum + proto + (uint32_t) (len & UINT16_MAX) +
           (uint32_t) (len >> 16);
}

/* The frame in a VXLAN packet whose UDP header is at l4; 0: there is none. */
static size_t
find_inner(const uint8_t *frame, size_t n, size_t l4)
{
    size_t at = l4 + UDP_HDR_LEN + VXLAN_LEN;

    return eth_be16(frame + l4 + 2) == VXLAN_PORT && at + ETH_HDR_LEN < n ? at
                                                                          : 0;
}

/* Completes that of the outermost TCP or UDP header; returns where a frame in
 * a tunnel begins, 0 when there is none. */
static size_t
complete_outer(uint8_t *frame, size_t n)
{
    struct eth_info info;
    size_t len, csum_at;
    uint32_t sum;
    uint8_t *field;
    bool is_tcp;

    if (!eth_parse(frame, n, &info) || !info.is_ip || !info.l4_ofs)
        return 0;
    is_tcp = info.ip_proto == PROTO_TCP;
    if (!is_tcp && info.ip_proto != PROTO_UDP)
        return 0;
    len = payload_len(frame, n, &info);
    if (len < (is_tcp ? (size_t) TCP_MIN_HDR : (size_t) UDP_HDR_LEN))
        return 0;
    csum_at = is_tcp ? TCP_CSUM_OFS : UDP_CSUM_OFS;
    field = frame + info.l4_ofs + csum_at;
    sum = pseudo_sum(frame + info.l3_ofs, info.ip_proto, len);
    if (eth_be16(field) == (uint16_t) ~eth_csum_fold(sum) &&
        eth_csum_fold(eth_csum_add(sum, frame + info.l4_ofs, len)) != 0)
        gso_complete(frame, info.l4_ofs + len, info.l4_ofs, csum_at);
    return is_tcp ? 0 : find_inner(frame, n, info.l4_ofs);
}

void
csum_complete(uint8_t *frame, size_t n)
{
    size_t inner = complete_outer(frame, n);

    if (inner)
        complete_outer(frame + inner, n - inner);
}
