/* SPDX-License-Identifier: Apache-2.0
 *
 * The ports of the switch, and how controllers configure them: see ofproto.h.
 */
#include "dp/of.h"
#include "ofproto/books.h"
#include "ofproto/judge.h"

#include <stdlib.h>
#include <string.h>

#define CONFIG_BITS                                                    \
    (OFPPC_PORT_DOWN | OFPPC_NO_RECV | OFPPC_NO_FLOOD | OFPPC_NO_FWD | \
     OFPPC_NO_PACKET_IN)

/* Where the port is, or belongs. */
static uint32_t
place(const struct ofproto *o, uint32_t number)
{
    uint32_t lo = 0, hi = o->n_ports;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (o->port[mid].number < number)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

struct ofp_port *
port_find(const struct ofproto *o, uint32_t number)
{
    uint32_t at = place(o, number);

    return at < o->n_ports && o->port[at].number == number ? &o->port[at]
                                                           : NULL;
}

const struct ofp_port *
ofproto_port(const struct ofproto *o, uint32_t number)
{
    return port_find(o, number);
}

const struct ofp_port *
ofproto_port_after(const struct ofproto *o, uint32_t number)
{
    uint32_t at = number == UINT32_MAX ? o->n_ports : place(o, number + 1);

    return at < o->n_ports ? &o->port[at] : NULL;
}

static void
tell(struct ofproto *o, unsigned reason, const struct ofp_port *p)
{
    if (o->conf.notices.port_status)
        o->conf.notices.port_status(o->conf.arg, reason, p);
}

static void
add_port(struct ofproto *o, const struct ofp_port *p)
{
    uint32_t at = place(o, p->number);

    o->port = realloc(o->port, (o->n_ports + 1) * sizeof(*o->port));
    if (!o->port)
        abort();
    memmove(&o->port[at + 1], &o->port[at],
            (o->n_ports - at) * sizeof(*o->port));
    o->port[at] = *p;
    o->port[at].config = 0;
    o->n_ports++;
    tell(o, OFPPR_ADD, &o->port[at]);
}

static bool
is_same(const struct ofp_port *a, const struct ofp_port *b)
{
    return !memcmp(a->hw_addr, b->hw_addr, sizeof(a->hw_addr)) &&
           !strcmp(a->name, b->name) && a->state == b->state &&
           a->curr == b->curr && a->advertised == b->advertised &&
           a->supported == b->supported && a->peer == b->peer &&
           a->curr_speed == b->curr_speed && a->max_speed == b->max_speed;
}

void
ofproto_set_port(struct ofproto *o, const struct ofp_port *p)
{
    struct ofp_port *was = port_find(o, p->number);
    uint32_t config;

    if (!was) {
        add_port(o, p);
        return;
    }
    if (is_same(was, p))
        return;
    if (strcmp(was->name, p->name) != 0) { /* it is another port */
        ofproto_del_port(o, p->number);
        add_port(o, p);
        return;
    }
    config = was->config;
    *was = *p;
    was->config = config;
    tell(o, OFPPR_MODIFY, was);
}

void
ofproto_del_port(struct ofproto *o, uint32_t number)
{
    struct ofp_port *was = port_find(o, number), gone;
    uint32_t at = place(o, number);

    if (!was)
        return;
    gone = *was;
    o->n_ports--;
    memmove(&o->port[at], &o->port[at + 1],
            (o->n_ports - at) * sizeof(*o->port));
    tell(o, OFPPR_DELETE, &gone);
}

bool
port_mod(struct ofproto *o, const struct ofp_port_mod *m, struct ofp_error *e)
{
    struct ofp_port *p = port_find(o, m->port);
    uint32_t config;
    struct rec *r;

    if (!p)
        return ofp_fail(e, OFPET_PORT_MOD_FAILED, OFPPMFC_BAD_PORT,
                        "there is no port %u", m->port);
    if (memcmp(m->hw_addr, p->hw_addr, sizeof(p->hw_addr)) != 0)
        return ofp_fail(e, OFPET_PORT_MOD_FAILED, OFPPMFC_BAD_HW_ADDR,
                        "the address is not that of port %u", m->port);
    if (m->mask & ~CONFIG_BITS)
        return ofp_fail(e, OFPET_PORT_MOD_FAILED, OFPPMFC_BAD_CONFIG,
                        "mask 0x%x: allowed are 0x%x", m->mask, CONFIG_BITS);
    if (m->advertise && m->advertise != p->advertised)
        return ofp_fail(e, OFPET_PORT_MOD_FAILED, OFPPMFC_BAD_ADVERTISE,
                        "advertise 0x%x: what port %u advertises cannot "
                        "change",
                        m->advertise, m->port);
    config = (p->config & ~m->mask) | (m->config & m->mask);
    if (config == p->config)
        return true;
    r = rec_add(o, REC_PORT);
    r->id = p->number;
    r->config = p->config;
    p->config = config;
    return true;
}
