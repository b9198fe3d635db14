/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether what actions name is there.  The codec has looked at all that can be
 * known without the books.  See books.h.
 */
#include "ofproto/books.h"
#include "ofproto/judge.h"

static bool
check_port(const struct ofproto *o, uint32_t port, struct ofp_error *e)
{
    switch (port) {
    case OFPP_IN_PORT:
    case OFPP_TABLE:
    case OFPP_NORMAL:
    case OFPP_FLOOD:
    case OFPP_ALL:
    case OFPP_CONTROLLER:
        return true;
    case OFPP_LOCAL:
        if (port_find(o, port))
            return true;
        return ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_OUT_PORT,
                        "output to LOCAL: the bridge has no port of its own");
    default:
        if (port_find(o, port))
            return true;
        return ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_OUT_PORT,
                        "output to port %u: there is no such port", port);
    }
}

static bool
check_queue(uint32_t queue, struct ofp_error *e)
{
    if (queue < OFPROTO_N_QUEUES)
        return true;
    return ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_QUEUE,
                    "queue %u: allowed are 0 to %u", queue,
                    OFPROTO_N_QUEUES - 1);
}

bool
check_actions(const struct ofproto *o, const struct ofp_actions *l,
              struct ofp_error *e)
{
    for (uint32_t i = 0; i < l->n; i++) {
        const struct ofp_action *a = &l->a[i];
        bool ok = true;

        switch (a->type) {
        case OFP_ACT_OUTPUT:
            ok = check_port(o, a->output.port, e);
            break;
        case OFP_ACT_ENQUEUE:
            ok = check_port(o, a->output.port, e) &&
                 check_queue(a->output.queue, e);
            break;
        case OFP_ACT_SET_QUEUE:
            ok = check_queue(a->queue, e);
            break;
        case OFP_ACT_GROUP:
            if (!set_get(&o->groups, a->group))
                ok = ofp_fail(e, OFPET_BAD_ACTION, OFPBAC_BAD_OUT_GROUP,
                              "group %u: there is no such group", a->group);
            break;
        default:
            break;
        }
        if (!ok)
            return false;
    }
    return true;
}

bool
check_instructions(const struct ofproto *o, uint8_t table,
                   const struct ofp_instructions *in, struct ofp_error *e)
{
    if (in->has_goto && in->table >= OFP_N_TABLES)
        return ofp_fail(e, OFPET_BAD_INSTRUCTION, OFPBIC_BAD_TABLE_ID,
                        "goto table %u: the last one is %d", in->table,
                        OFP_N_TABLES - 1);
    if (in->has_goto && in->table <= table)
        return ofp_fail(e, OFPET_BAD_INSTRUCTION, OFPBIC_BAD_TABLE_ID,
                        "goto table %u from table %u: allowed are higher "
                        "numbers",
                        in->table, table);
    if (in->has_meter && !set_get(&o->meters, in->meter))
        return ofp_fail(e, OFPET_METER_MOD_FAILED, OFPMMFC_UNKNOWN_METER,
                        "meter %u: there is no such meter", in->meter);
    return check_actions(o, &in->write, e) && check_actions(o, &in->apply, e);
}

bool
ofproto_check_packet_out(const struct ofproto *o, uint32_t in_port,
                         const struct ofp_actions *l, struct ofp_error *e)
{
    if (in_port != OFPP_CONTROLLER && in_port != OFPP_ANY &&
        !port_find(o, in_port))
        return ofp_fail(e, OFPET_BAD_REQUEST, OFPBRC_BAD_PORT,
                        "packet-out from port %u: there is no such port",
                        in_port);
    return check_actions(o, l, e);
}
