/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON to the model: `apply`, and the edits of RPC methods.  Along the tables
 * of field.c; refuses members that it does not know and values of another
 * type.  A member that is null gets its default.  Control thread.
 */
#include "conf/conf.h"
#include "conf/field.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MEMBERS_MAX 24

static int
refuse_member(const struct place *at, const char *member,
              const char *const *known, size_t n)
{
    const char *near = conf_suggest(member, known, n);
    struct place text = place_spell(at);
    char list[320] = "", name[40];
    size_t used = 0, i;

    for (i = 0; i < n && used < sizeof(list); i++)
        used += (size_t) snprintf(list + used, sizeof(list) - used, "%s%s",
                                  i ? ", " : "", known[i]);
    conf_path_join(text.path, text.path, member);
    conf_plain_text(member, name, sizeof(name));
    return err_set(at->err, EINVAL, text.path, name, list,
                   "%s: unknown member \"%s\"%s%s%s: allowed are %s",
                   text.subject, name, near ? ", did you mean \"" : "",
                   near ? near : "", near ? "\"?" : "", list);
}

static int
refuse_not_object(const struct place *at, struct json_object *v)
{
    struct place text = place_spell(at);
    char value[64];

    conf_json_text(v, value, sizeof(value));
    err_set(at->err, EINVAL, text.path, value, "an object",
            "%s: %s is not an object: allowed is an object", text.subject,
            value);
    conf_set_value(at->err, v);
    return EINVAL;
}

static int
read_fields(const struct field *fields, size_t n, void *base,
            struct json_object *v, const struct place *at)
{
    const char *known[MEMBERS_MAX];
    size_t i;

    if (!json_object_is_type(v, json_type_object))
        return refuse_not_object(at, v);
    for (i = 0; i < n; i++)
        known[i] = fields[i].name;
    json_object_object_foreach (v, key, val) {
        int rc;

        for (i = 0; i < n && strcmp(key, known[i]); i++)
            continue;
        if (i == n)
            return refuse_member(at, key, known, n);
        rc = field_read(&fields[i], base, val, at);
        if (rc)
            return rc;
    }
    return 0;
}

static int
refuse_key(const struct section *s, const struct place *in, const char *whole,
           const char *key)
{
    char path[CONF_PATH_SIZE], name[40];

    conf_path_join(path, whole, key);
    conf_plain_text(key, name, sizeof(name));
    return err_set(in->err, EINVAL, path, name, "0 to 7",
                   "%s: %s \"%s\" does not exist: allowed 0 to 7", in->subject,
                   s->one, name);
}

/* "groups" and "queues": elements by number. */
static int
read_elements(const struct section *s, void *base, struct json_object *v,
              const struct place *in)
{
    static const char *const keys[] = {"0", "1", "2", "3", "4", "5", "6", "7"};
    struct place whole = *in, at;

    conf_path_join(whole.path, in->path, s->name);
    snprintf(whole.subject, sizeof(whole.subject), "%.40s: %s", in->subject,
             s->name);
    if (!json_object_is_type(v, json_type_object))
        return refuse_not_object(&whole, v);
    json_object_object_foreach (v, key, val) {
        void *elem;
        size_t f;
        int i, rc;

        for (i = 0; i < 8 && strcmp(key, keys[i]); i++)
            continue;
        if (i == 8) {
            return refuse_key(s, in, whole.path, key);
        }
        elem = section_elem(s, base, i);
        place_section(&at, in, s, i);
        for (f = 0; !val && f < s->n_fields; f++)
            field_reset(&s->fields[f], elem);
        rc = val ? read_fields(s->fields, s->n_fields, elem, val, &at) : 0;
        if (rc)
            return rc;
    }
    return 0;
}

/* An element of "pools" or "profiles": null removes it. */
static int
read_named(const struct section *s, void *base, const char *name,
           struct json_object *v, const struct place *in)
{
    int i = section_find(s, base, name);
    struct place at;

    place_named(&at, in, s, name);
    if (!v) {
        if (i >= 0)
            section_del(s, base, i);
        return 0;
    }
    if (i < 0 && conf_check_named(s, base, name, in))
        return EINVAL;
    if (i < 0)
        i = section_add(s, base, name);
    return read_fields(s->fields, s->n_fields, section_elem(s, base, i), v,
                       &at);
}

static int
read_all_named(const struct section *s, void *base, struct json_object *v,
               const struct place *in)
{
    struct place whole = *in;

    conf_path_join(whole.path, in->path, s->name);
    snprintf(whole.subject, sizeof(whole.subject), "%.40s: %s", in->subject,
             s->name);
    if (!json_object_is_type(v, json_type_object))
        return refuse_not_object(&whole, v);
    json_object_object_foreach (v, key, val) {
        int rc = read_named(s, base, key, val, in);

        if (rc)
            return rc;
    }
    return 0;
}

static int
read_section(const struct section *s, void *base, struct json_object *v,
             const struct place *in)
{
    struct place at;

    if (!v) {
        section_reset(s, base);
        return 0;
    }
    if (s->max_named)
        return read_all_named(s, base, v, in);
    if (s->stride)
        return read_elements(s, base, v, in);
    place_section(&at, in, s, 0);
    return read_fields(s->fields, s->n_fields, section_elem(s, base, 0), v,
                       &at);
}

/* One member of an object; `skip` is one that the caller reads. */
static int
read_member(const struct object *o, void *base, const char *key,
            struct json_object *v, const char *skip, const struct place *at)
{
    const char *known[MEMBERS_MAX];
    size_t i, n = 0;

    for (i = 0; i < o->n_fields; i++) {
        if (!strcmp(key, o->fields[i].name))
            return field_read(&o->fields[i], base, v, at);
        known[n++] = o->fields[i].name;
    }
    for (i = 0; i < o->n_sections; i++) {
        if (!strcmp(key, o->sections[i].name))
            return read_section(&o->sections[i], base, v, at);
        known[n++] = o->sections[i].name;
    }
    if (skip && !strcmp(key, skip))
        return 0;
    if (skip)
        known[n++] = skip;
    return refuse_member(at, key, known, n);
}

static int
read_object(const struct object *o, void *base, struct json_object *v,
            const char *skip, const struct place *at)
{
    if (!json_object_is_type(v, json_type_object))
        return refuse_not_object(at, v);
    json_object_object_foreach (v, key, val) {
        int rc = read_member(o, base, key, val, skip, at);

        if (rc)
            return rc;
    }
    return 0;
}

/* A VLAN mode that is chosen puts away what it has no use for, unless that
 * was given with it; a tag without a mode makes an access port, as in Open
 * vSwitch. */
static void
settle_vlan(struct conf_port *p, struct json_object *v)
{
    struct json_object *vlan = NULL, *mode = NULL, *tag = NULL, *tr = NULL;

    json_object_object_get_ex(v, "vlan", &vlan);
    if (!vlan)
        return;
    json_object_object_get_ex(vlan, "tag", &tag);
    json_object_object_get_ex(vlan, "trunks", &tr);
    if (!json_object_object_get_ex(vlan, "mode", &mode)) {
        if (tag && p->vlan_mode == DP_VLAN_TRUNK)
            p->vlan_mode = DP_VLAN_ACCESS;
        if (tag && !tr && p->vlan_mode == DP_VLAN_ACCESS)
            p->n_trunks = 0;
        return;
    }
    if (!tag && p->vlan_mode == DP_VLAN_TRUNK)
        p->tag = 0;
    if (!tr && p->vlan_mode == DP_VLAN_ACCESS)
        p->n_trunks = 0;
}

/* The same for queues: strict ones have no weight. */
static void
settle_queues(struct conf_port *p, struct json_object *v)
{
    struct json_object *queues = NULL;

    json_object_object_get_ex(v, "queues", &queues);
    if (!queues)
        return;
    json_object_object_foreach (queues, key, val) {
        struct conf_queue *q = &p->queue[key[0] - '0'];
        struct json_object *mode = NULL, *weight = NULL;

        if (!val)
            continue;
        json_object_object_get_ex(val, "mode", &mode);
        json_object_object_get_ex(val, "weight", &weight);
        if (mode && !weight && !q->ets)
            q->weight = 0;
    }
}

/* A profile that is named puts away what it stands for, unless that was given
 * with it (and is refused then). */
static void
settle_profiles(struct conf_port *p, struct json_object *v, const char *name)
{
    const struct section *s = object_section(&conf_port_object, name);
    struct json_object *all = NULL, *profile = NULL;
    size_t f;

    json_object_object_get_ex(v, name, &all);
    if (!all)
        return;
    json_object_object_foreach (all, key, val) {
        void *elem = section_elem(s, p, key[0] - '0');

        if (!val || !json_object_object_get_ex(val, "profile", &profile) ||
            !profile)
            continue;
        for (f = 0; f < s->n_fields; f++)
            if (s->fields[f].profiled &&
                !json_object_object_get_ex(val, s->fields[f].name, NULL))
                field_reset(&s->fields[f], elem);
    }
}

static int
edit_port(struct conf_port *p, struct json_object *v, const struct place *at)
{
    int rc = read_object(&conf_port_object, p, v, NULL, at);

    if (rc)
        return rc;
    if (json_object_object_get_ex(v, "ofport", NULL))
        p->ofport_auto = !p->ofport;
    settle_vlan(p, v);
    settle_queues(p, v);
    settle_profiles(p, v, "groups");
    settle_profiles(p, v, "queues");
    return 0;
}

int
conf_port_edit(struct conf_port *p, struct json_object *v, const char *path,
               struct err *err)
{
    struct place at = {.err = err};

    snprintf(at.path, sizeof(at.path), "%s", path ? path : "");
    snprintf(at.subject, sizeof(at.subject), "port %s", p->name);
    return edit_port(p, v, &at);
}

static int
edit_bridge(struct conf_bridge *b, struct json_object *v, const char *skip,
            const struct place *at)
{
    int rc = read_object(&conf_bridge_object, b, v, skip, at);

    b->map.given = CONF_MAP_ALL; /* a bridge has no one to leave it to */
    conf_settle_pools(b, NULL);
    return rc;
}

int
conf_bridge_edit(struct conf_bridge *b, struct json_object *v,
                 const char *path, struct err *err)
{
    struct place at = {.err = err};

    snprintf(at.path, sizeof(at.path), "%s", path ? path : "");
    snprintf(at.subject, sizeof(at.subject), "bridge %s", b->name);
    return edit_bridge(b, v, NULL, &at);
}

static int
read_port(struct conf *c, struct conf_bridge *b, const char *name,
          struct json_object *v, const struct place *ports)
{
    struct json_object *type = NULL;
    struct conf_port *p;
    struct place at = *ports;
    char value[64], text[40];
    int rc;

    conf_path_join(at.path, ports->path, name);
    conf_plain_text(name, text, sizeof(text));
    snprintf(at.subject, sizeof(at.subject), "port %s", text);
    if (!json_object_is_type(v, json_type_object))
        return refuse_not_object(&at, v);
    json_object_object_get_ex(v, "type", &type);
    if (!json_object_is_type(type, json_type_string)) {
        bool missing = !json_object_object_get_ex(v, "type", NULL);

        conf_json_text(type, value, sizeof(value));
        return place_refuse(&at, "type", missing ? "" : value, NETDEV_TYPES,
                            missing ? "is missing" : "is not a string");
    }
    rc = conf_add_port(c, b, name, json_object_get_string(type), &p, at.err);
    return rc ? rc : edit_port(p, v, &at);
}

static int
read_bridge(struct conf *c, const char *name, struct json_object *v,
            const struct place *bridges)
{
    struct json_object *ports = NULL;
    struct place at = *bridges;
    struct conf_bridge *b;
    char text[40];
    int rc;

    conf_path_join(at.path, bridges->path, name);
    conf_plain_text(name, text, sizeof(text));
    snprintf(at.subject, sizeof(at.subject), "bridge %s", text);
    if (!json_object_is_type(v, json_type_object))
        return refuse_not_object(&at, v);
    rc = conf_add_bridge(c, name, &b, at.err);
    if (!rc)
        rc = edit_bridge(b, v, "ports", &at);
    if (rc)
        return rc;
    json_object_object_get_ex(v, "ports", &ports);
    if (!ports)
        return 0;
    conf_path_join(at.path, at.path, "ports");
    snprintf(at.subject, sizeof(at.subject), "bridge %s: ports", b->name);
    if (!json_object_is_type(ports, json_type_object))
        return refuse_not_object(&at, ports);
    json_object_object_foreach (ports, key, val) {
        rc = read_port(c, b, key, val, &at);
        if (rc)
            return rc;
    }
    return 0;
}

static int
read_conf(struct conf *c, struct json_object *v, struct err *err)
{
    static const char *const known[] = {"bridges"};
    struct place at = {.path = "", .subject = "configuration", .err = err};
    struct json_object *bridges = NULL;

    if (!json_object_is_type(v, json_type_object))
        return refuse_not_object(&at, v);
    {
        json_object_object_foreach (v, key, val) {
            (void) val;
            if (strcmp(key, known[0]))
                return refuse_member(&at, key, known, 1);
        }
    }
    json_object_object_get_ex(v, "bridges", &bridges);
    if (!bridges)
        return 0;
    conf_path_join(at.path, at.path, "bridges");
    snprintf(at.subject, sizeof(at.subject), "bridges");
    if (!json_object_is_type(bridges, json_type_object))
        return refuse_not_object(&at, bridges);
    json_object_object_foreach (bridges, name, b) {
        int rc = read_bridge(c, name, b, &at);

        if (rc)
            return rc;
    }
    return 0;
}

/* The port that p continues, if there is one: of that name, in that bridge
 * and of that type.  Another type is another port. */
static const struct conf_port *
predecessor(const struct conf_bridge *old, const struct conf_port *p)
{
    const struct conf_port *was = conf_bridge_find_port(old, p->name);

    return was && was->cls == p->cls ? was : NULL;
}

/* Slots stay with the ports that stay; a new port takes one that is free and
 * was free, as long as there is one. */
static void
give_slots(struct conf_bridge *b, const struct conf_bridge *old)
{
    bool used[DP_MAX_PORTS] = {false}, was[DP_MAX_PORTS] = {false};
    uint32_t i, slot;

    for (i = 0; i < old->n_ports; i++)
        was[old->ports[i]->slot] = true;
    if (b->local && old->local && old->local_slot != CONF_NO_SLOT)
        was[old->local_slot] = used[old->local_slot] =
            b->n_ports < DP_MAX_PORTS;
    for (i = 0; i < b->n_ports; i++) {
        const struct conf_port *p = predecessor(old, b->ports[i]);

        if (p)
            used[p->slot] = true;
    }
    for (i = 0; i < b->n_ports; i++) {
        const struct conf_port *p = predecessor(old, b->ports[i]);

        for (slot = 0; !p && slot < DP_MAX_PORTS; slot++)
            if (!used[slot] && !was[slot])
                break;
        if (!p && slot == DP_MAX_PORTS)
            for (slot = 0; used[slot]; slot++)
                continue;
        b->ports[i]->slot = (uint16_t) (p ? p->slot : slot);
        used[b->ports[i]->slot] = true;
    }
}

int
conf_from_json(struct json_object *v, const struct conf *old,
               struct conf **conf, struct err *err)
{
    struct conf *c = conf_create();
    uint32_t i;
    int rc = read_conf(c, v, err);

    if (!rc) {
        conf_settle_ports(c, old);
        rc = conf_validate(c, err);
    }
    if (rc) {
        conf_destroy(c);
        return rc;
    }
    for (i = 0; old && i < c->n_bridges; i++) {
        const struct conf_bridge *was =
            conf_find_bridge(old, c->bridges[i]->name);

        if (!was)
            continue;
        give_slots(c->bridges[i], was);
        conf_settle_pools(c->bridges[i], was);
    }
    conf_settle_ports(c, old); /* the bridges' own, now that slots are given */
    *conf = c;
    return 0;
}
