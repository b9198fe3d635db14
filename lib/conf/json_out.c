/* SPDX-License-Identifier: Apache-2.0
 *
 * The model to JSON: `export`, and what RPC methods show.  Along the tables of
 * field.c.  All members are written, so that a reader sees what there is to
 * set; of groups and queues only those that differ from their defaults, and
 * of a port's map only what it does not leave to its bridge.  Control thread.
 */
#include "conf/conf.h"
#include "conf/field.h"

#include <stdio.h>

static struct json_object *
write_map(const struct field *f, const uint8_t *values)
{
    bool keeps = f->kind == FIELD_REWRITE;
    struct json_object *a = json_object_new_array();
    size_t i;

    for (i = 0; i < f->size; i++)
        json_object_array_add(a, json_object_new_int(keeps && values[i] ==
                                                                  CONF_KEEP
                                                         ? -1
                                                         : values[i]));
    return a;
}

static struct json_object *
write_prios(uint8_t mask)
{
    struct json_object *a = json_object_new_array();
    int p;

    for (p = 0; p < 8; p++)
        if (mask & (1u << p))
            json_object_array_add(a, json_object_new_int(p));
    return a;
}

static struct json_object *
write_vids(const struct conf_port *p)
{
    struct json_object *a = json_object_new_array();
    uint32_t i;

    for (i = 0; i < p->n_trunks; i++)
        json_object_array_add(a, json_object_new_int(p->trunks[i]));
    return a;
}

static struct json_object *
write_mac(const uint8_t mac[6])
{
    char text[18];

    snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0],
             mac[1], mac[2], mac[3], mac[4], mac[5]);
    return json_object_new_string(text);
}

static struct json_object *
write_dpid(uint64_t id)
{
    char text[17] = "auto";

    if (id)
        snprintf(text, sizeof(text), "%016llx", (unsigned long long) id);
    return json_object_new_string(text);
}

/* The value of a member; null: it is not given. */
static struct json_object *
write_field(const struct field *f, const void *base)
{
    const struct conf_port *p = base;
    const struct conf_map *map = base;
    const char *label;

    if (f->given && !(map->given & f->given))
        return NULL;
    switch (f->kind) {
    case FIELD_AUTO:
        if (field_get(f, base) == CONF_HEADROOM_AUTO)
            return json_object_new_string("auto");
        return json_object_new_uint64(field_get(f, base));
    case FIELD_UINT:
        return json_object_new_uint64(field_get(f, base));
    case FIELD_BOOL:
        return json_object_new_boolean(field_get(f, base) != 0);
    case FIELD_ENUM:
        return json_object_new_string(f->names[field_get(f, base)]);
    case FIELD_PRIOS:
        return write_prios((uint8_t) field_get(f, base));
    case FIELD_MAP:
    case FIELD_REWRITE:
        return write_map(f, (const uint8_t *) base + f->offset);
    case FIELD_VIDS:
        return write_vids(p);
    case FIELD_MAC:
        return p->have_mac ? write_mac(p->mac) : NULL;
    case FIELD_TYPE:
        return json_object_new_string(p->cls->type);
    case FIELD_ALPHA:
        if (field_is_default(f, base))
            return json_object_new_string("none");
        return json_object_new_int((int8_t) field_get(f, base));
    case FIELD_LABEL:
    case FIELD_FILE:
        label = (const char *) base + f->offset;
        return json_object_new_string(label[0] ? label : "none");
    case FIELD_DPID:
        return write_dpid(field_get(f, base));
    }
    return NULL;
}

static void
write_fields(struct json_object *o, const struct field *fields, size_t n,
             const void *base)
{
    size_t i;

    for (i = 0; i < n; i++) {
        struct json_object *v = write_field(&fields[i], base);

        if (v)
            json_object_object_add(o, fields[i].name, v);
    }
}

/* Null when there is nothing to say. */
static struct json_object *
write_section(const struct section *s, const void *base, bool full)
{
    struct json_object *o = json_object_new_object();
    int i;

    if (!s->stride)
        write_fields(o, s->fields, s->n_fields,
                     section_elem_const(s, base, 0));
    for (i = 0; s->stride && i < section_n(s, base); i++) {
        const void *elem = section_elem_const(s, base, i);
        struct json_object *e;
        char digit[2] = {(char) ('0' + i), '\0'};
        const char *key = s->max_named ? elem : digit;

        if (!full && !s->max_named && section_is_default(s, elem))
            continue;
        e = json_object_new_object();
        write_fields(e, s->fields, s->n_fields, elem);
        json_object_object_add(o, key, e);
    }
    if (json_object_object_length(o))
        return o;
    json_object_put(o);
    return NULL;
}

static struct json_object *
write_object(const struct object *obj, const void *base, bool full)
{
    struct json_object *o = json_object_new_object();
    size_t i;

    write_fields(o, obj->fields, obj->n_fields, base);
    for (i = 0; i < obj->n_sections; i++) {
        struct json_object *s = write_section(&obj->sections[i], base, full);

        if (s)
            json_object_object_add(o, obj->sections[i].name, s);
    }
    return o;
}

struct json_object *
conf_port_json(const struct conf_port *p, bool full)
{
    return write_object(&conf_port_object, p, full);
}

struct json_object *
conf_bridge_json(const struct conf_bridge *b)
{
    return write_object(&conf_bridge_object, b, true);
}

struct json_object *
conf_port_to_json(const struct conf_port *p)
{
    return conf_port_json(p, false);
}

struct json_object *
conf_bridge_to_json(const struct conf_bridge *b)
{
    struct json_object *o = conf_bridge_json(b);
    struct json_object *ports = json_object_new_object();
    uint32_t i;

    for (i = 0; i < b->n_ports; i++)
        json_object_object_add(ports, b->ports[i]->name,
                               conf_port_to_json(b->ports[i]));
    json_object_object_add(o, "ports", ports);
    return o;
}

struct json_object *
conf_to_json(const struct conf *c)
{
    struct json_object *o = json_object_new_object();
    struct json_object *bridges = json_object_new_object();
    uint32_t i;

    for (i = 0; i < c->n_bridges; i++)
        json_object_object_add(bridges, c->bridges[i]->name,
                               conf_bridge_to_json(c->bridges[i]));
    json_object_object_add(o, "bridges", bridges);
    return o;
}
