/* SPDX-License-Identifier: Apache-2.0
 *
 * Places and numbers of ports: slots of the datapath, the numbers that
 * OpenFlow knows ports by, and the port that a bridge has of its own.  See
 * conf.h.  Control thread.
 */
#include "conf/conf.h"
#include "conf/field.h"
#include "ofp/action.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Neither a port has it nor the bridge for its own. */
static bool
slot_is_free(const struct conf_bridge *b, uint16_t slot)
{
    if (b->local && b->local_slot == slot)
        return false;
    for (uint32_t i = 0; i < b->n_ports; i++)
        if (b->ports[i]->slot == slot)
            return false;
    return true;
}

uint16_t
conf_free_slot(const struct conf_bridge *b)
{
    for (uint16_t slot = 0; slot < DP_MAX_PORTS; slot++)
        if (slot_is_free(b, slot))
            return slot;
    return CONF_NO_SLOT;
}

uint32_t
conf_free_ofport(const struct conf_bridge *b)
{
    bool used[DP_MAX_PORTS + 2] = {false};
    uint32_t n = 1;

    for (uint32_t i = 0; i < b->n_ports; i++)
        if (b->ports[i]->ofport < DP_MAX_PORTS + 2)
            used[b->ports[i]->ofport] = true;
    while (used[n])
        n++;
    return n;
}

/* What the number of a port was: of that name and type. */
static uint32_t
former_number(const struct conf_bridge *old, const struct conf_port *p)
{
    const struct conf_port *was = conf_bridge_find_port(old, p->name);

    return was && was->cls == p->cls ? was->ofport : 0;
}

/* New ports that ask for none take what is left, in the order in which they
 * were added, which is that of their slots. */
static void
settle_numbers(struct conf_bridge *b, const struct conf_bridge *old)
{
    struct conf_port *next;

    for (uint32_t i = 0; i < b->n_ports; i++) {
        struct conf_port *p = b->ports[i];

        if (!p->ofport_auto)
            continue;
        p->ofport = old ? former_number(old, p) : 0;
        p->ofport_auto = !p->ofport;
    }
    do {
        next = NULL;
        for (uint32_t i = 0; i < b->n_ports; i++)
            if (b->ports[i]->ofport_auto &&
                (!next || b->ports[i]->slot < next->slot))
                next = b->ports[i];
        if (next) {
            next->ofport = conf_free_ofport(b);
            next->ofport_auto = false;
        }
    } while (next);
}

/* A port that has the bridge's name, wherever it is, has the interface. */
static void
settle_local(const struct conf *c, struct conf_bridge *b,
             const struct conf_bridge *old)
{
    b->local_slot = CONF_NO_SLOT;
    if (!b->local || conf_find_port(c, b->name, NULL))
        return;
    if (old && old->local && old->local_slot != CONF_NO_SLOT &&
        slot_is_free(b, old->local_slot))
        b->local_slot = old->local_slot;
    else
        b->local_slot = conf_free_slot(b);
}

void
conf_settle_ports(struct conf *c, const struct conf *old)
{
    for (uint32_t i = 0; i < c->n_bridges; i++) {
        struct conf_bridge *b = c->bridges[i];
        const struct conf_bridge *was =
            old ? conf_find_bridge(old, b->name) : NULL;

        settle_numbers(b, was);
        settle_local(c, b, was);
    }
}

bool
conf_local_port(const struct conf_bridge *b, struct conf_port *p)
{
    if (!b->local || b->local_slot == CONF_NO_SLOT)
        return false;
    memset(p, 0, sizeof(*p));
    strcpy(p->name, b->name);
    p->cls = &netdev_tap;
    p->slot = b->local_slot;
    object_reset(&conf_port_object, p);
    p->ofport = OFPP_LOCAL;
    return true;
}

int
conf_check_ofports(const struct conf_bridge *b, struct err *err)
{
    struct place at;

    for (uint32_t i = 0; i < b->n_ports; i++)
        for (uint32_t k = 0; k < i; k++) {
            char text[16];

            if (b->ports[i]->ofport != b->ports[k]->ofport ||
                !b->ports[i]->ofport)
                continue;
            place_port(&at, b, b->ports[i], err);
            conf_path_join(at.path, at.path, "ofport");
            snprintf(text, sizeof(text), "%u", b->ports[i]->ofport);
            return err_set(err, EEXIST, at.path, text,
                           "a number that no port of the bridge has",
                           "%s: ofport %s is that of port %s: allowed is a "
                           "number that no port of the bridge has; %u is "
                           "free",
                           at.subject, text, b->ports[k]->name,
                           conf_free_ofport(b));
        }
    return 0;
}
