/* SPDX-License-Identifier: Apache-2.0
 *
 * From "the memory does not suffice" to the member that was changed: see
 * blame.h.  Control thread.
 */
#include "conf/blame.h"
#include "conf/field.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* The member that grew most. */
struct culprit {
    struct place at;    /* the object that it is in */
    const char *member; /* its name; null: none grew */
    uint64_t value;     /* what it is to be */
    uint64_t more;      /* by how much it grew */
};

static void
suspect(struct culprit *c, const struct place *at, const char *member,
        uint64_t was, uint64_t is)
{
    if (is <= was || is - was <= c->more)
        return;
    c->at = place_spell(at);
    c->member = member;
    c->value = is;
    c->more = is - was;
}

static uint64_t
fixed(uint64_t headroom_bytes)
{
    return headroom_bytes == CONF_HEADROOM_AUTO ? 0 : headroom_bytes;
}

static void
suspect_groups(struct culprit *c, const struct conf_port *was,
               const struct conf_port *is, const struct place *in)
{
    const struct section *s = object_section(&conf_port_object, "groups");

    for (int g = 0; g < N_PG; g++) {
        const struct conf_group *new = &is->group[g];
        const struct conf_group *old = was ? &was->group[g] : NULL;
        struct place at;

        place_section(&at, in, s, g);
        suspect(c, &at, "reserved_bytes", old ? old->reserved_bytes : 0,
                new->reserved_bytes);
        suspect(c, &at, "headroom_bytes", old ? fixed(old->headroom_bytes) : 0,
                fixed(new->headroom_bytes));
    }
}

static void
suspect_pools(struct culprit *c, const struct conf_bridge *was,
              const struct conf_bridge *is, const struct place *in)
{
    const struct section *s = object_section(&conf_bridge_object, "pools");

    for (uint32_t i = 0; i < is->n_pools; i++) {
        const struct conf_pool *new = &is->pool[i];
        const struct conf_pool *old = conf_find_pool(was, new->name);
        struct place at;

        place_named(&at, in, s, new->name);
        suspect(c, &at, "size_bytes", old ? old->size_bytes : 0,
                new->size_bytes);
    }
}

static void
blame_bridge(const struct conf_bridge *was, const struct conf_bridge *is,
             struct err *err)
{
    uint64_t needed = conf_needed_bytes(is), most;
    struct culprit c = {.member = NULL};
    char value[24], allowed[64], complaint[160];
    struct place at;

    if (needed <= is->memory_bytes)
        return;
    place_bridge(&at, is, err);
    suspect_pools(&c, was, is, &at);
    for (uint32_t i = 0; i < is->n_ports; i++) {
        const struct conf_port *p = is->ports[i];

        place_port(&at, is, p, err);
        suspect_groups(&c, conf_bridge_find_port(was, p->name), p, &at);
    }
    if (!c.member)
        return;
    most = needed - is->memory_bytes;
    most = c.value > most ? c.value - most : 0;
    snprintf(value, sizeof(value), "%" PRIu64, c.value);
    snprintf(allowed, sizeof(allowed), "0 to %" PRIu64, most);
    snprintf(complaint, sizeof(complaint),
             "makes it %" PRIu64
             " bytes in all, more than memory_bytes %" PRIu64 " of bridge %s",
             needed, is->memory_bytes, is->name);
    place_refuse(&c.at, c.member, value, allowed, complaint);
    err->code = ENOSPC;
}

void
conf_blame_memory(const struct conf *from, const struct conf *to,
                  struct err *err)
{
    if (err->code != ENOSPC)
        return;
    for (uint32_t i = 0; i < to->n_bridges; i++) {
        const struct conf_bridge *is = to->bridges[i];
        const struct conf_bridge *was = conf_find_bridge(from, is->name);

        if (was && was->memory_bytes == is->memory_bytes)
            blame_bridge(was, is, err);
    }
}
