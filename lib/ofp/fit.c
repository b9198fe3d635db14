/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether actions can apply to the frames that a match lets through: see
 * codec.h.  What is known of a frame is itself a match; pushes and pops change
 * it.  A set-field wants its prerequisites known (7.2.5); a pop is refused
 * only when it is known that there is nothing to pop.
 */
#include "ofp/codec.h"

#include <string.h>

static void
know_eth_type(struct ofp_match *m, uint16_t type)
{
    const uint8_t v[2] = {(uint8_t) (type >> 8), (uint8_t) type};

    ofp_match_set(m, OFP_ETH_TYPE, v, NULL);
}

static void
forget(struct ofp_match *m, enum ofp_field f)
{
    m->present &= ~(UINT64_C(1) << f);
}

static bool
known_eth_type(const struct ofp_match *m, uint16_t a, uint16_t b)
{
    return !ofp_match_has(m, OFP_ETH_TYPE) || m->value.eth_type == a ||
           m->value.eth_type == b;
}

static bool
inconsistent(struct ofp_error *e, const char *what, const char *why)
{
    return ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_MATCH_INCONSISTENT, "%s: %s",
                    what, why);
}

static bool
fit_set_field(const struct ofp_action *a, struct ofp_match *m,
              struct ofp_error *e)
{
    const struct ofp_field_info *i = &ofp_fields[a->set.field];

    if (!ofp_match_allows(m, a->set.field))
        return inconsistent(e, i->name,
                            "the match does not give what set-field of it "
                            "depends on");
    /* What later fields depend on. */
    if (!a->set.has_mask &&
        (a->set.field == OFP_ETH_TYPE || a->set.field == OFP_IP_PROTO ||
         a->set.field == OFP_ICMPV6_TYPE))
        ofp_match_set(m, a->set.field, a->set.value, NULL);
    return true;
}

static bool
fit_pop(const struct ofp_action *a, struct ofp_match *m, struct ofp_error *e)
{
    if (a->type == OFP_ACT_POP_VLAN) {
        if (ofp_match_has(m, OFP_VLAN_VID) && m->value.vlan_vid == 0 &&
            m->mask.vlan_vid & OFP_VID_PRESENT)
            return inconsistent(e, "pop_vlan", "the match wants no tag");
        forget(m, OFP_VLAN_VID);
    } else if (a->type == OFP_ACT_POP_MPLS) {
        if (!known_eth_type(m, 0x8847, 0x8848))
            return inconsistent(e, "pop_mpls", "the match wants no MPLS");
        know_eth_type(m, a->ethertype);
        forget(m, OFP_IP_PROTO);
    } else {
        if (!known_eth_type(m, 0x88e7, 0x88e7))
            return inconsistent(e, "pop_pbb", "the match wants no PBB");
        forget(m, OFP_ETH_TYPE);
        forget(m, OFP_IP_PROTO);
        forget(m, OFP_VLAN_VID);
    }
    return true;
}

static bool
fit_one(const struct ofp_action *a, struct ofp_match *m, struct ofp_error *e)
{
    static const uint8_t tagged[2] = {0x10, 0};

    switch (a->type) {
    case OFP_ACT_SET_FIELD:
        return fit_set_field(a, m, e);
    case OFP_ACT_POP_VLAN:
    case OFP_ACT_POP_MPLS:
    case OFP_ACT_POP_PBB:
        return fit_pop(a, m, e);
    case OFP_ACT_PUSH_VLAN:
    case OFP_ACT_SET_VLAN_VID:
    case OFP_ACT_SET_VLAN_PCP:
        ofp_match_set(m, OFP_VLAN_VID, tagged, tagged);
        return true;
    case OFP_ACT_PUSH_MPLS:
    case OFP_ACT_PUSH_PBB:
        know_eth_type(m, a->ethertype);
        forget(m, OFP_IP_PROTO);
        if (a->type == OFP_ACT_PUSH_PBB)
            forget(m, OFP_VLAN_VID);
        return true;
    case OFP_ACT_DEC_MPLS_TTL:
    case OFP_ACT_SET_MPLS_TTL:
        return known_eth_type(m, 0x8847, 0x8848) ||
               inconsistent(e, "MPLS TTL", "the match wants no MPLS");
    default:
        return true;
    }
}

bool
ofp_actions_fit(const struct ofp_actions *list, const struct ofp_match *match,
                struct ofp_error *e)
{
    struct ofp_match m = *match;

    for (uint32_t i = 0; i < list->n; i++)
        if (!fit_one(&list->a[i], &m, e))
            return false;
    return true;
}

bool
ofp_instructions_fit(const struct ofp_instructions *in,
                     const struct ofp_match *match, struct ofp_error *e)
{
    struct ofp_match m = *match;

    for (uint32_t i = 0; in->has_apply && i < in->apply.n; i++)
        if (!fit_one(&in->apply.a[i], &m, e))
            return false;
    /* An action set goes by kind, whatever the order they were given in. */
    for (int t = 0; in->has_write && t < OFP_N_ACTS; t++)
        for (uint32_t i = 0; i < in->write.n; i++)
            if (in->write.a[i].type == (enum ofp_action_type) t &&
                !fit_one(&in->write.a[i], &m, e))
                return false;
    return true;
}
