/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: any frame through the VLAN and IP parser.  Offsets stay inside
 * the frame, the fast path for the outer tag agrees with the full parse, and
 * a checksum does not depend on how the data is cut up.
 */
#include "wire/eth.h"

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
check_info(const uint8_t *data, size_t n, const struct eth_info *i)
{
    uint16_t tci;

    require(i->n_tags <= 2 && i->dscp < 64);
    require(i->l3_ofs == 14 + 4 * i->n_tags && i->l3_ofs <= n);
    require((i->tpid != 0) == (i->n_tags > 0));
    require(eth_outer_tag(data, n, &tci) == i->tpid && tci == i->tci);
    if (i->l4_ofs != 0)
        require(i->is_ip && i->l4_ofs >= i->l3_ofs + 20 && i->l4_ofs < n);
    if (i->is_ip)
        require(i->ethertype == ETH_T_IP4 || i->ethertype == ETH_T_IP6);
    else
        require(i->dscp == 0 && i->ip_proto == 0);
}

/* The short way to DSCP and ECN finds what the full parse finds. */
static void
check_ds(const uint8_t *data, size_t n, const struct eth_info *i)
{
    uint8_t ds = 0;
    uint32_t l3 = eth_find_ds(data, n, &ds);

    require((l3 != 0) == i->is_ip);
    if (l3)
        require(l3 == i->l3_ofs && ds >> 2 == i->dscp);
}

static void
check_csum(const uint8_t *data, size_t n)
{
    size_t cut = n / 2 & ~(size_t) 1;
    uint32_t whole = eth_csum_add(0, data, n);
    uint32_t parts =
        eth_csum_add(eth_csum_add(0, data, cut), data + cut, n - cut);

    require(eth_csum_fold(whole) == eth_csum_fold(parts));
}

/* Any text either is refused, or is what formatting gives (but for case). */
static void
check_mac_text(const uint8_t *data, size_t n)
{
    char text[32] = "", again[18];
    uint8_t mac[6], mac2[6];

    if (n >= sizeof(text))
        return;
    memcpy(text, data, n);
    if (!eth_mac_parse(text, mac))
        return;
    require(strlen(text) == 17);
    require(eth_mac_parse(eth_mac_format(mac, again), mac2));
    require(memcmp(mac, mac2, 6) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct eth_info info;
    size_t shown = n > 4096 ? 4096 : n; /* offsets are of 16 bits */

    if (eth_parse(data, shown, &info)) {
        check_info(data, shown, &info);
        check_ds(data, shown, &info);
    } else {
        require(shown < 22); /* cut in its header or its two tags */
        require(!eth_find_ds(data, shown, &(uint8_t){0}));
    }
    check_csum(data, n);
    check_mac_text(data, n);
    return 0;
}
