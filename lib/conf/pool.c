/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffer pools and profiles of a bridge: who uses them, which thresholds hold
 * for a group, and what all of these demand of each other.  Control thread.
 */
#include "conf/conf.h"
#include "conf/field.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool
conf_label_ok(const char *name, const char **why)
{
    const char *p;

    *why = NULL;
    if (!name[0])
        *why = "is empty";
    else if (strlen(name) > CONF_LABEL_MAX)
        *why = "is too long";
    else if (!strcmp(name, "none") || name[0] == '-')
        *why = "is not a name";
    for (p = name; *p && !*why; p++)
        if ((unsigned char) *p <= ' ' || (unsigned char) *p > '~' || *p == '/')
            *why = "has a character that is not allowed";
    return !*why;
}

struct conf_pool *
conf_find_pool(const struct conf_bridge *b, const char *name)
{
    uint32_t i;

    for (i = 0; i < b->n_pools; i++)
        if (!strcmp(b->pool[i].name, name))
            return (struct conf_pool *) &b->pool[i];
    return NULL;
}

struct conf_profile *
conf_find_profile(const struct conf_bridge *b, const char *name)
{
    uint32_t i;

    for (i = 0; i < b->n_profiles; i++)
        if (!strcmp(b->profile[i].name, name))
            return (struct conf_profile *) &b->profile[i];
    return NULL;
}

void
conf_settle_pools(struct conf_bridge *b, const struct conf_bridge *old)
{
    unsigned used = 1; /* the default one's */
    uint32_t i;

    for (i = 0; i < b->n_pools; i++) {
        const struct conf_pool *was =
            old ? conf_find_pool(old, b->pool[i].name) : NULL;

        if (old)
            b->pool[i].slot = was ? was->slot : 0;
        used |= 1u << b->pool[i].slot;
    }
    for (i = 0; i < b->n_pools; i++) {
        if (b->pool[i].slot)
            continue;
        b->pool[i].slot = (uint8_t) __builtin_ctz(~used);
        used |= 1u << b->pool[i].slot;
    }
}

/* The new element of a section of the bridge; null: it cannot be. */
static void *
add_named(struct conf_bridge *b, const char *section, const char *name,
          struct err *err)
{
    const struct section *s = object_section(&conf_bridge_object, section);
    struct place in;

    place_bridge(&in, b, err);
    if (section_find(s, b, name) >= 0) {
        err_set(err, EEXIST, NULL, name, "a name not in use",
                "%s: %s %.40s exists already", in.subject, s->one, name);
        return NULL;
    }
    return conf_check_named(s, b, name, &in)
               ? NULL
               : section_elem(s, b, section_add(s, b, name));
}

int
conf_add_pool(struct conf_bridge *b, const char *name, struct conf_pool **pool,
              struct err *err)
{
    *pool = add_named(b, "pools", name, err);
    conf_settle_pools(b, NULL);
    return *pool ? 0 : EINVAL;
}

int
conf_add_profile(struct conf_bridge *b, const char *name,
                 struct conf_profile **profile, struct err *err)
{
    *profile = add_named(b, "profiles", name, err);
    return *profile ? 0 : EINVAL;
}

int
conf_check_named(const struct section *s, const void *base, const char *name,
                 const struct place *in)
{
    struct place at, text;
    char value[40], max[40];
    const char *why, *allowed = s->key ? s->key->allowed : CONF_LABEL_ALLOWED;

    place_named(&at, in, s, name);
    text = place_spell(&at);
    conf_plain_text(name, value, sizeof(value));
    if (!(s->key ? s->key->ok : conf_label_ok)(name, &why))
        return err_set(in->err, EINVAL, text.path, value, allowed,
                       "%s: the %s of a %s%s%s%s %s: allowed are %s",
                       in->subject, s->key ? s->key->what : "name", s->one,
                       s->key ? " \"" : "", s->key ? value : "",
                       s->key ? "\"" : "", why, allowed);
    if ((uint32_t) section_n(s, base) < s->max_named)
        return 0;
    snprintf(max, sizeof(max), "at most %u %s", s->max_named, s->name);
    return err_set(in->err, ENOSPC, text.path, value, max,
                   "%s is one too many: allowed are %s", text.subject, max);
}

static uint8_t
pool_slot(const struct conf_bridge *b, const char *name)
{
    const struct conf_pool *pool = conf_find_pool(b, name);

    return pool ? pool->slot : 0;
}

const struct conf_group *
conf_group_in_force(const struct conf_bridge *b, const struct conf_port *p,
                    int pg, uint8_t *pool)
{
    const struct conf_group *g = &p->group[pg];
    const struct conf_profile *prof = NULL;

    if (g->profile[0])
        prof = conf_find_profile(b, g->profile);
    if (pool)
        *pool = prof ? pool_slot(b, prof->pool) : 0;
    return prof ? &prof->t : g;
}

void
conf_queue_in_force(const struct conf_bridge *b, const struct conf_port *p,
                    int q, struct dp_plan_queue *out)
{
    const struct conf_queue *queue = &p->queue[q];
    const struct conf_profile *prof = NULL;

    if (queue->profile[0])
        prof = conf_find_profile(b, queue->profile);
    out->alpha = prof ? prof->t.alpha : queue->alpha;
    out->limit_bytes = prof ? prof->t.xoff_bytes : queue->limit_bytes;
    out->pool = prof ? pool_slot(b, prof->pool) : 0;
}

/* --- removing ------------------------------------------------------------ */

/* "a, b, c" of the names in a section. */
static void
list_names(const struct section *s, const void *base, char *text, size_t size)
{
    size_t n = 0;
    int i;

    snprintf(text, size, "none");
    for (i = 0; i < section_n(s, base) && n < size; i++)
        n += (size_t) snprintf(text + n, size - n, "%s%s", i ? ", " : "",
                               (const char *) section_elem_const(s, base, i));
}

static int
refuse_missing(const struct conf_bridge *b, const char *section,
               const char *name, struct err *err)
{
    const struct section *s = object_section(&conf_bridge_object, section);
    struct place bridge, at;
    char list[128], text[40];

    place_bridge(&bridge, b, err);
    place_named(&at, &bridge, s, name);
    at = place_spell(&at);
    list_names(s, b, list, sizeof(list));
    conf_plain_text(name, text, sizeof(text));
    return err_set(err, ENOENT, at.path, text, list,
                   "%s: there is no %s \"%s\": there are %s", bridge.subject,
                   s->one, text, list);
}

static int
refuse_in_use(const struct conf_bridge *b, const char *section,
              const char *name, const char *user, struct err *err)
{
    const struct section *s = object_section(&conf_bridge_object, section);
    struct place bridge, at;
    char allowed[64];

    place_bridge(&bridge, b, err);
    place_named(&at, &bridge, s, name);
    at = place_spell(&at);
    snprintf(allowed, sizeof(allowed), "one that nothing uses");
    return err_set(err, EBUSY, at.path, name, allowed,
                   "%s: %s %s is in use by %s: allowed is to remove %s",
                   bridge.subject, s->one, name, user, allowed);
}

/* The first group or queue that has the profile. */
static bool
find_user(const struct conf_bridge *b, const char *profile, char *user,
          size_t size)
{
    uint32_t i;
    int k;

    for (i = 0; i < b->n_ports; i++) {
        const struct conf_port *p = b->ports[i];

        for (k = 0; k < N_PG; k++)
            if (!strcmp(p->group[k].profile, profile)) {
                snprintf(user, size, "group %d of port %s", k, p->name);
                return true;
            }
        for (k = 0; k < N_QUEUE; k++)
            if (!strcmp(p->queue[k].profile, profile)) {
                snprintf(user, size, "queue %d of port %s", k, p->name);
                return true;
            }
    }
    return false;
}

int
conf_del_profile(struct conf_bridge *b, const char *name, struct err *err)
{
    const struct section *s = object_section(&conf_bridge_object, "profiles");
    int i = section_find(s, b, name);
    char user[64];

    if (i < 0)
        return refuse_missing(b, "profiles", name, err);
    if (find_user(b, name, user, sizeof(user)))
        return refuse_in_use(b, "profiles", name, user, err);
    section_del(s, b, i);
    return 0;
}

int
conf_del_pool(struct conf_bridge *b, const char *name, struct err *err)
{
    const struct section *s = object_section(&conf_bridge_object, "pools");
    int i = section_find(s, b, name);
    char user[64];
    uint32_t k;

    if (i < 0)
        return refuse_missing(b, "pools", name, err);
    for (k = 0; k < b->n_profiles; k++) {
        if (strcmp(b->profile[k].pool, name))
            continue;
        snprintf(user, sizeof(user), "profile %s", b->profile[k].name);
        return refuse_in_use(b, "pools", name, user, err);
    }
    section_del(s, b, i);
    return 0;
}

/* --- checking ------------------------------------------------------------ */

static int
refuse_bytes(const struct place *at, const char *member, uint64_t value,
             const char *allowed, const char *complaint)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIu64, value);
    return place_refuse(at, member, text, allowed, complaint);
}

static int
refuse_above_xoff(const struct conf_group *g, const char *member,
                  uint64_t value, const struct place *at)
{
    char allowed[64], complaint[128];

    snprintf(allowed, sizeof(allowed), "0 to %" PRIu64, g->xoff_bytes);
    snprintf(complaint, sizeof(complaint), "exceeds xoff_bytes %" PRIu64,
             g->xoff_bytes);
    return refuse_bytes(at, member, value, allowed, complaint);
}

int
conf_check_thresholds(const struct conf_bridge *b, const struct conf_group *g,
                      const struct place *at)
{
    char allowed[64], complaint[128];

    if (g->alpha != BUF_ALPHA_NONE)
        return 0; /* what its limit is, depends on the traffic */
    if (g->xon_bytes > g->xoff_bytes)
        return refuse_above_xoff(g, "xon_bytes", g->xon_bytes, at);
    if (g->xon_offset_bytes > g->xoff_bytes)
        return refuse_above_xoff(g, "xon_offset_bytes", g->xon_offset_bytes,
                                 at);
    /* A group that cannot hold a frame would never take one. */
    if (g->reserved_bytes + g->xoff_bytes >= b->max_frame_bytes)
        return 0;
    snprintf(allowed, sizeof(allowed), "%" PRIu64 " to %" PRIu64,
             b->max_frame_bytes - g->reserved_bytes, CONF_MAX_MEMORY);
    snprintf(complaint, sizeof(complaint),
             "and reserved_bytes %" PRIu64 " together do not hold one frame "
             "of max_frame_bytes %u",
             g->reserved_bytes, b->max_frame_bytes);
    return refuse_bytes(at, "xoff_bytes", g->xoff_bytes, allowed, complaint);
}

static int
refuse_unknown(const struct conf_bridge *b, const char *section,
               const char *member, const char *name, const struct place *at)
{
    const struct section *s = object_section(&conf_bridge_object, section);
    char list[128], allowed[160], complaint[64];

    list_names(s, b, list, sizeof(list));
    snprintf(allowed, sizeof(allowed), "%s%s", section_n(s, b) ? "none, " : "",
             list);
    snprintf(complaint, sizeof(complaint), "is no %s of bridge %s", s->one,
             b->name);
    return place_refuse(at, member, name, allowed, complaint);
}

/* The pool of a profile exists, and is of the mode that the profile is. */
static int
check_profile(const struct conf_bridge *b, const struct conf_profile *prof,
              const struct place *at)
{
    const struct conf_pool *pool = conf_find_pool(b, prof->pool);
    bool dynamic = prof->t.alpha != BUF_ALPHA_NONE;
    char complaint[96], value[8];

    if (!pool && prof->pool[0])
        return refuse_unknown(b, "pools", "pool", prof->pool, at);
    if (pool && pool->dynamic != dynamic) {
        snprintf(value, sizeof(value), "%d", prof->t.alpha);
        snprintf(complaint, sizeof(complaint),
                 "does not go with pool %s, whose mode is %s", pool->name,
                 pool->dynamic ? "dynamic" : "static");
        return place_refuse(at, "alpha", dynamic ? value : "none",
                            pool->dynamic ? "-7 to 3" : "none", complaint);
    }
    return conf_check_thresholds(b, &prof->t, at);
}

int
conf_check_pools(const struct conf_bridge *b, const struct place *in)
{
    const struct section *s = object_section(&conf_bridge_object, "pools");
    char allowed[64];
    struct place at;
    uint32_t i;
    int rc = 0;

    if (b->headroom_pool_bytes && b->headroom_ratio)
        return refuse_bytes(in, "headroom_ratio", b->headroom_ratio,
                            "0, or headroom_pool_bytes 0",
                            "excludes headroom_pool_bytes");
    if (b->headroom_pool_bytes > b->memory_bytes) {
        snprintf(allowed, sizeof(allowed), "0 to %" PRIu64, b->memory_bytes);
        return refuse_bytes(in, "headroom_pool_bytes", b->headroom_pool_bytes,
                            allowed, "exceeds memory_bytes");
    }
    for (i = 0; i < b->n_pools; i++) {
        place_named(&at, in, s, b->pool[i].name);
        if (b->pool[i].size_bytes >= b->max_frame_bytes)
            continue;
        snprintf(allowed, sizeof(allowed), "%u to %" PRIu64,
                 b->max_frame_bytes, CONF_MAX_MEMORY);
        return refuse_bytes(&at, "size_bytes", b->pool[i].size_bytes, allowed,
                            "does not hold one frame of the bridge's "
                            "max_frame_bytes");
    }
    s = object_section(&conf_bridge_object, "profiles");
    for (i = 0; i < b->n_profiles && !rc; i++) {
        place_named(&at, in, s, b->profile[i].name);
        rc = check_profile(b, &b->profile[i], &at);
    }
    return rc;
}

/* Beside a profile there is nothing of the element's own. */
static int
check_nothing_own(const struct section *s, const void *elem,
                  const struct place *at)
{
    size_t f;

    for (f = 0; f < s->n_fields; f++)
        if (s->fields[f].profiled && !field_is_default(&s->fields[f], elem))
            return place_refuse(at, s->fields[f].name, "",
                                "profile none, or to change the profile",
                                "is given beside a profile, which has it");
    return 0;
}

static int
check_group_use(const struct conf_bridge *b, const struct conf_port *p, int pg,
                const struct place *in)
{
    const struct section *s = object_section(&conf_port_object, "groups");
    const struct conf_group *g = &p->group[pg];
    struct place at;

    place_section(&at, in, s, pg);
    if (!g->profile[0])
        return conf_check_thresholds(b, g, &at);
    if (!conf_find_profile(b, g->profile))
        return refuse_unknown(b, "profiles", "profile", g->profile, &at);
    return check_nothing_own(s, g, &at);
}

static int
check_queue_use(const struct conf_bridge *b, const struct conf_port *p, int q,
                const struct place *in)
{
    const struct section *s = object_section(&conf_port_object, "queues");
    const struct conf_queue *queue = &p->queue[q];
    const struct conf_profile *prof;
    char allowed[64];
    struct place at;

    place_section(&at, in, s, q);
    if (queue->profile[0]) {
        prof = conf_find_profile(b, queue->profile);
        if (!prof)
            return refuse_unknown(b, "profiles", "profile", queue->profile,
                                  &at);
        if (prof->t.alpha == BUF_ALPHA_NONE &&
            prof->t.xoff_bytes < b->max_frame_bytes)
            return place_refuse(&at, "profile", queue->profile,
                                "one with an alpha, or with xoff_bytes of a "
                                "frame at least",
                                "has a limit that does not hold one frame");
        return check_nothing_own(s, queue, &at);
    }
    if (queue->alpha != BUF_ALPHA_NONE ||
        queue->limit_bytes >= b->max_frame_bytes)
        return 0;
    snprintf(allowed, sizeof(allowed), "%u to %" PRIu64, b->max_frame_bytes,
             CONF_MAX_MEMORY);
    return refuse_bytes(&at, "limit_bytes", queue->limit_bytes, allowed,
                        "does not hold one frame of the bridge's "
                        "max_frame_bytes");
}

int
conf_check_uses(const struct conf_bridge *b, const struct conf_port *p,
                const struct place *in)
{
    int rc = 0, i;

    for (i = 0; i < N_PG && !rc; i++)
        rc = check_group_use(b, p, i, in);
    for (i = 0; i < N_QUEUE && !rc; i++)
        rc = check_queue_use(b, p, i, in);
    return rc;
}

uint64_t
conf_share_headroom(const struct conf_bridge *b, struct conf_need *need)
{
    uint64_t pool = b->headroom_pool_bytes;

    if (b->headroom_ratio) {
        pool = need->headroom_bytes / b->headroom_ratio;
        if (pool < need->largest_bytes)
            pool = need->largest_bytes;
    }
    if (!pool || !need->headroom_bytes)
        return 0;
    if (b->headroom_ratio || pool < need->headroom_bytes)
        need->headroom_bytes = pool;
    return pool;
}
