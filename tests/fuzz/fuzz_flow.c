/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: the headers of any frame are read within its bounds, and any
 * actions leave a frame that can be read again, in its buffer.  The first
 * octet says how many octets of actions there are at the end, two each: what,
 * and with which value.
 */
#include "flow/edit.h"
#include "ofp/match.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 64 /* on either side of the frame */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void
require(int ok)
{
    if (!ok)
        abort();
}

static void
check_view(const struct flow_frame *f)
{
    const struct flow_view *v = &f->view;

    require(v->type + 2u <= f->len);
    require(v->end <= f->len && v->l4 <= f->len);
    require(v->proto < f->len && v->nd_option + 6u <= f->len + 6u);
    require(v->nd_option == 0 || v->nd_option + 6u <= f->len);
    require(v->l4 == 0 || (v->l4 > v->l3 && v->l4 < v->end));
}

static void
act(struct flow_frame *f, uint8_t what, uint8_t value)
{
    static const uint16_t types[] = {0x0800, 0x0806, 0x8100, 0x8847,
                                     0x86dd, 0x88a8, 0x88e7, 0x0040};
    uint16_t type = types[value & 7];
    uint8_t octets[16];

    memset(octets, value, sizeof(octets));
    if (what < OFP_N_FIELDS) {
        flow_edit_set(f, (enum ofp_field) what,
                      what == OFP_ETH_TYPE
                          ? (uint8_t[]){(uint8_t) (type >> 8), (uint8_t) type}
                          : octets,
                      value & 1 ? NULL : octets);
        return;
    }
    switch (what % 13) {
    case 0:
        flow_edit_dec_nw_ttl(f);
        break;
    case 1:
        flow_edit_dec_mpls_ttl(f);
        break;
    case 2:
        flow_edit_set_nw_ttl(f, value);
        break;
    case 3:
        flow_edit_set_mpls_ttl(f, value);
        break;
    case 4:
        flow_edit_copy_ttl_in(f);
        break;
    case 5:
        flow_edit_copy_ttl_out(f);
        break;
    case 6:
        flow_edit_push_vlan(f, type);
        break;
    case 7:
        flow_edit_push_mpls(f, type);
        break;
    case 8:
        flow_edit_push_pbb(f, type);
        break;
    case 9:
        flow_edit_pop_vlan(f);
        break;
    case 10:
        flow_edit_pop_mpls(f, type);
        break;
    case 11:
        flow_edit_pop_pbb(f);
        break;
    default:
        flow_edit_vlan_vid(f, value);
        break;
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct flow_frame f = {.key_stale = true, .view_stale = true};
    uint8_t *buffer;
    size_t n_acts, len;

    if (n < 15 || n > 9000)
        return 0;
    n_acts = data[0] % 64 * 2u;
    if (n - 1 < n_acts + 14)
        n_acts = 0;
    len = n - 1 - n_acts;
    buffer = malloc(len + 2 * ROOM);
    require(buffer != NULL);
    f.data = buffer + ROOM;
    f.len = (uint32_t) len;
    f.head = ROOM;
    f.tail = ROOM;
    memcpy(f.data, data + 1, len);
    for (size_t i = 0; i <= n_acts; i += 2) {
        flow_frame_read(&f);
        check_view(&f);
        if (i < n_acts)
            act(&f, data[1 + len + i], data[2 + len + i]);
        require(f.len >= 14);
        require(f.data == buffer + f.head);
        require(f.head + f.len + f.tail == len + 2 * ROOM);
        f.view_stale |= f.key_stale; /* what is not read anew must hold */
    }
    free(buffer);
    return 0;
}
