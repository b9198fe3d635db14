/* SPDX-License-Identifier: Apache-2.0
 *
 * Pushing and popping of VLAN tags, MPLS entries and PBB headers: see edit.h.
 * What is pushed becomes the outermost of all tags, right behind the Ethernet
 * addresses, and starts with the values of the one that was there (1.3,
 * table 8).
 */
#include "flow/edit.h"
#include "wire/eth.h"

#include <string.h>

static void
put16(uint8_t *p, unsigned v)
{
    p[0] = (uint8_t) (v >> 8);
    p[1] = (uint8_t) v;
}

/* Makes room for n octets at `at`, by moving what is before. */
static bool
grow(struct flow_frame *f, uint32_t at, uint32_t n)
{
    if (f->head < n) {
        uint32_t by = f->tail < 64 ? f->tail : 64;

        if (f->head + by < n)
            return false;
        memmove(f->data + by, f->data, f->len);
        f->data += by;
        f->head += by;
        f->tail -= by;
    }
    memmove(f->data - n, f->data, at);
    f->data -= n;
    f->head -= n;
    f->len += n;
    f->view_stale = true;
    return true;
}

/* Takes n octets at `at` out. */
static void
shrink(struct flow_frame *f, uint32_t at, uint32_t n)
{
    memmove(f->data + n, f->data, at);
    f->data += n;
    f->head += n;
    f->len -= n;
    f->view_stale = true;
}

bool
flow_edit_push_vlan(struct flow_frame *f, uint16_t tpid)
{
    uint8_t tci[2] = {0, 0};

    flow_frame_read(f);
    if (f->view.n_tags)
        memcpy(tci, f->data + 14, 2);
    if (!grow(f, 12, ETH_VLAN_LEN))
        return false;
    put16(f->data + 12, tpid);
    memcpy(f->data + 14, tci, 2);
    return true;
}

void
flow_edit_pop_vlan(struct flow_frame *f)
{
    flow_frame_read(f);
    if (f->view.n_tags)
        shrink(f, 12, ETH_VLAN_LEN);
}

bool
flow_edit_push_mpls(struct flow_frame *f, uint16_t ethertype)
{
    uint8_t entry[4] = {0, 0, 1, 0}; /* the last one */
    const uint8_t *l3;

    flow_frame_read(f);
    l3 = f->data + f->view.l3;
    switch (f->view.l3_is) {
    case FLOW_L3_MPLS:
        memcpy(entry, l3, 4);
        if (f->view.n_tags)
            entry[2] |= 1; /* a tag follows */
        else
            entry[2] &= 0xfe;
        break;
    case FLOW_L3_IP4:
        entry[3] = l3[8];
        break;
    case FLOW_L3_IP6:
        entry[3] = l3[7];
        break;
    default:
        break;
    }
    if (!grow(f, 14, sizeof(entry)))
        return false;
    put16(f->data + 12, ethertype);
    memcpy(f->data + 14, entry, sizeof(entry));
    return true;
}

void
flow_edit_pop_mpls(struct flow_frame *f, uint16_t ethertype)
{
    flow_frame_read(f);
    if (f->view.l3_is != FLOW_L3_MPLS)
        return;
    put16(f->data + f->view.type, ethertype);
    shrink(f, f->view.l3, 4);
}

/* The frame that was becomes the payload, addresses and all. */
bool
flow_edit_push_pbb(struct flow_frame *f, uint16_t ethertype)
{
    uint8_t tci[4] = {0, 0, 0, 0};

    flow_frame_read(f);
    if (f->view.n_tags)
        tci[0] = f->data[14] & 0xe0;
    if (f->view.l3_is == FLOW_L3_PBB)
        memcpy(tci + 1, f->data + f->view.l3 + 1, 3);
    if (!grow(f, 0, FLOW_PBB_LEN))
        return false;
    memcpy(f->data, f->data + FLOW_PBB_LEN, 12);
    put16(f->data + 12, ethertype);
    memcpy(f->data + 14, tci, 4);
    return true;
}

/* The customer's addresses become those of the frame; backbone tags stay
 * between them and the rest. */
void
flow_edit_pop_pbb(struct flow_frame *f)
{
    uint8_t mac[12];

    flow_frame_read(f);
    if (f->view.l3_is != FLOW_L3_PBB ||
        f->view.type + FLOW_PBB_LEN + 2u > f->len)
        return;
    memcpy(mac, f->data + f->view.l3 + 4, 12);
    shrink(f, f->view.type, FLOW_PBB_LEN);
    memcpy(f->data, mac, 12);
}

bool
flow_edit_vlan_vid(struct flow_frame *f, uint16_t vid)
{
    uint8_t value[2];

    flow_frame_read(f);
    if (!f->view.n_tags && !flow_edit_push_vlan(f, ETH_T_VLAN))
        return false;
    put16(value, vid);
    flow_edit_set(f, OFP_VLAN_VID, value, NULL);
    return true;
}

bool
flow_edit_vlan_pcp(struct flow_frame *f, uint8_t pcp)
{
    flow_frame_read(f);
    if (!f->view.n_tags && !flow_edit_push_vlan(f, ETH_T_VLAN))
        return false;
    flow_edit_set(f, OFP_VLAN_PCP, &pcp, NULL);
    return true;
}
