/* SPDX-License-Identifier: Apache-2.0
 *
 * Ethernet, VLAN and IP headers: see eth.h.
 */
#include "wire/eth.h"

#include "base/cursor.h"

#include <stdio.h>

#define IP6_HDR_LEN    ETH_IP6_HDR_LEN
#define IP6_MAX_EXT    8 /* extension headers that are followed */
#define IP6_HOP_BY_HOP 0
#define IP6_ROUTING    43
#define IP6_FRAGMENT   44
#define IP6_AUTH       51
#define IP6_DEST_OPTS  60
#define IP4_FRAGMENTED 0x3fff /* MF, or an offset */

static void
parse_ip4(const uint8_t *l3, size_t n, struct eth_info *info)
{
    struct cursor c = cursor_init(l3, n);
    uint8_t first = cursor_u8(&c);
    uint8_t tos = cursor_u8(&c);
    uint16_t frag;
    size_t hdr_len = (size_t) (first & 15) * 4;

    cursor_take(&c, 4); /* total length, identification */
    frag = cursor_be16(&c);
    cursor_u8(&c); /* time to live */
    info->ip_proto = cursor_u8(&c);
    if (c.bad || first >> 4 != 4 || hdr_len < 20 || n < hdr_len) {
        info->ip_proto = 0;
        return;
    }
    info->is_ip = true;
    info->dscp = tos >> 2;
    if (!(frag & IP4_FRAGMENTED) && n > hdr_len)
        info->l4_ofs = (uint16_t) (info->l3_ofs + hdr_len);
}

/* Octets of the extension header `type` that begins at c, or 0 when what is
 * there is not an extension header, or one that hides what follows. */
static size_t
ip6_ext_len(uint8_t type, struct cursor c, uint8_t *next)
{
    size_t len;

    *next = cursor_u8(&c);
    len = cursor_u8(&c);
    switch (type) {
    case IP6_HOP_BY_HOP:
    case IP6_ROUTING:
    case IP6_DEST_OPTS:
        return (len + 1) * 8;
    case IP6_AUTH:
        return (len + 2) * 4;
    default:
        return 0;
    }
}

static void
parse_ip6(const uint8_t *l3, size_t n, struct eth_info *info)
{
    struct cursor c = cursor_init(l3, n);
    uint32_t first = cursor_be32(&c);

    cursor_be16(&c); /* payload length */
    info->ip_proto = cursor_u8(&c);
    cursor_take(&c, IP6_HDR_LEN - 7);
    if (c.bad || first >> 28 != 6) {
        info->ip_proto = 0;
        return;
    }
    info->is_ip = true;
    info->dscp = (first >> 22) & 63;
    for (int i = 0; i < IP6_MAX_EXT; i++) {
        uint8_t next;
        size_t len = ip6_ext_len(info->ip_proto, c, &next);

        if (len == 0)
            break;
        if (!cursor_take(&c, len))
            return;
        info->ip_proto = next;
    }
    if (info->ip_proto == IP6_FRAGMENT) {
        uint8_t upper = cursor_u8(&c);

        if (!c.bad)
            info->ip_proto = upper;
        return;
    }
    /* Still an extension header after so many: L4 was not reached. */
    if (c.left > 0 && ip6_ext_len(info->ip_proto, c, &(uint8_t){0}) == 0)
        info->l4_ofs = (uint16_t) (info->l3_ofs + (n - c.left));
}

bool
eth_parse(const uint8_t *frame, size_t n, struct eth_info *info)
{
    struct cursor c = cursor_init(frame, n);
    struct eth_info out = {0};

    cursor_take(&c, 12);
    out.ethertype = cursor_be16(&c);
    while (out.n_tags < 2 &&
           (out.ethertype == ETH_T_VLAN || out.ethertype == ETH_T_SVLAN)) {
        uint16_t tci = cursor_be16(&c);

        if (out.n_tags++ == 0) {
            out.tpid = out.ethertype;
            out.tci = tci;
        }
        out.ethertype = cursor_be16(&c);
    }
    if (c.bad)
        return false;
    out.l3_ofs = (uint16_t) (n - c.left);
    if (out.ethertype == ETH_T_IP4)
        parse_ip4(c.p, c.left, &out);
    else if (out.ethertype == ETH_T_IP6)
        parse_ip6(c.p, c.left, &out);
    *info = out;
    return true;
}

static int
hex_digit(char ch)
{
    if (ch >= '0' && ch <= '9')
        return ch - '0';
    if (ch >= 'a' && ch <= 'f')
        return ch - 'a' + 10;
    if (ch >= 'A' && ch <= 'F')
        return ch - 'A' + 10;
    return -1;
}

bool
eth_mac_parse(const char *text, uint8_t mac[6])
{
    uint8_t out[6];

    for (int i = 0; i < 6; i++) {
        int hi = hex_digit(text[0]);
        int lo = hi < 0 ? -1 : hex_digit(text[1]);

        if (lo < 0 || text[2] != (i < 5 ? ':' : '\0'))
            return false;
        out[i] = (uint8_t) (hi * 16 + lo);
        text += 3;
    }
    memcpy(mac, out, 6);
    return true;
}

char *
eth_mac_format(const uint8_t mac[6], char out[18])
{
    snprintf(out, 18, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
             mac[3], mac[4], mac[5]);
    return out;
}
