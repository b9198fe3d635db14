/* SPDX-License-Identifier: Apache-2.0
 *
 * One member of the configuration from its JSON value, by its entry in the
 * tables of field.c.  See json_in.c.  Control thread.
 */
#include "conf/field.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
refuse_value(const struct field *f, const struct place *at,
             struct json_object *v, const char *complaint)
{
    char allowed[160];

    field_allowed(f, allowed, sizeof(allowed));
    return place_refuse_json(at, f->name, v, allowed, complaint);
}

static bool
is_word(struct json_object *v, const char *word)
{
    return json_object_is_type(v, json_type_string) &&
           strlen(word) == (size_t) json_object_get_string_len(v) &&
           !strcmp(json_object_get_string(v), word);
}

static int
read_uint(const struct field *f, void *base, struct json_object *v,
          const struct place *at)
{
    char value[64];

    if (!json_object_is_type(v, json_type_int))
        return refuse_value(f, at, v,
                            f->kind == FIELD_AUTO
                                ? "is neither an integer nor \"auto\""
                                : "is not an integer");
    if (json_object_get_int64(v) < 0 ||
        json_object_get_uint64(v) == CONF_HEADROOM_AUTO ||
        !field_in_range(f, json_object_get_uint64(v)))
        return field_refuse_range(f, at,
                                  conf_json_text(v, value, sizeof(value)));
    field_set(f, base, json_object_get_uint64(v));
    return 0;
}

static int
read_bool(const struct field *f, void *base, struct json_object *v,
          const struct place *at)
{
    if (!json_object_is_type(v, json_type_boolean))
        return refuse_value(f, at, v, "is not a boolean");
    field_set(f, base, json_object_get_boolean(v) ? 1 : 0);
    return 0;
}

static int
read_enum(const struct field *f, void *base, struct json_object *v,
          const struct place *at)
{
    const char *near;
    char complaint[64] = "is unknown";
    size_t i;

    if (!json_object_is_type(v, json_type_string))
        return refuse_value(f, at, v, "is not a string");
    for (i = 0; i <= f->max; i++)
        if (is_word(v, f->names[i])) {
            field_set(f, base, i);
            return 0;
        }
    near = conf_suggest(json_object_get_string(v), f->names, f->max + 1);
    if (near)
        snprintf(complaint, sizeof(complaint),
                 "is unknown, did you mean \"%s\"?", near);
    return refuse_value(f, at, v, complaint);
}

/* Element i of an array as a number from 0 to max; -1: it is none. */
static int
read_element(struct json_object *v, size_t i, int max)
{
    struct json_object *e = json_object_array_get_idx(v, i);
    int64_t n;

    if (!json_object_is_type(e, json_type_int))
        return -1;
    n = json_object_get_int64(e);
    return n >= 0 && n <= max ? (int) n : -1;
}

static int
read_prios(const struct field *f, void *base, struct json_object *v,
           const struct place *at)
{
    uint8_t mask = 0;
    size_t i;

    if (!json_object_is_type(v, json_type_array))
        return refuse_value(f, at, v, "is not an array");
    for (i = 0; i < json_object_array_length(v); i++) {
        int p = read_element(v, i, 7);

        if (p < 0)
            return refuse_value(f, at, v, "has an element out of range");
        if (mask & (1u << p))
            return refuse_value(f, at, v, "names a priority twice");
        mask = (uint8_t) (mask | 1u << p);
    }
    field_set(f, base, mask);
    return 0;
}

/* Element i of a map is the number -1. */
static bool
is_keep(struct json_object *v, size_t i)
{
    struct json_object *e = json_object_array_get_idx(v, i);

    return json_object_is_type(e, json_type_int) &&
           json_object_get_int64(e) == -1;
}

static int
refuse_element(const struct field *f, const struct place *at,
               struct json_object *v, size_t i)
{
    char allowed[160], complaint[64];
    struct json_object *e = json_object_array_get_idx(v, i);

    field_allowed(f, allowed, sizeof(allowed));
    snprintf(complaint, sizeof(complaint), "at place %zu is out of range", i);
    return place_refuse_json(at, f->name, e, allowed, complaint);
}

static int
read_map(const struct field *f, void *base, struct json_object *v,
         const struct place *at)
{
    struct conf_map *map = base;
    uint8_t values[64];
    char complaint[64];
    size_t i;

    if (!json_object_is_type(v, json_type_array))
        return refuse_value(f, at, v, "is not an array");
    if (json_object_array_length(v) != f->size) {
        snprintf(complaint, sizeof(complaint), "does not have %s elements",
                 f->size == 8 ? "eight" : "64");
        return refuse_value(f, at, v, complaint);
    }
    for (i = 0; i < f->size; i++) {
        int n = read_element(v, i, (int) f->max);

        if (f->kind == FIELD_REWRITE && is_keep(v, i))
            n = CONF_KEEP;
        if (n < 0)
            return refuse_element(f, at, v, i);
        values[i] = (uint8_t) n;
    }
    memcpy((char *) base + f->offset, values, f->size);
    map->given |= f->given;
    return 0;
}

static int
read_vids(const struct field *f, struct conf_port *p, struct json_object *v,
          const struct place *at)
{
    bool in[CONF_MAX_VID + 1] = {false};
    size_t i;
    int vid;

    if (!json_object_is_type(v, json_type_array))
        return refuse_value(f, at, v, "is not an array");
    for (i = 0; i < json_object_array_length(v); i++) {
        vid = read_element(v, i, CONF_MAX_VID);
        if (vid < 0)
            return refuse_value(f, at, v, "has an element out of range");
        if (in[vid])
            return refuse_value(f, at, v, "names a VLAN twice");
        in[vid] = true;
    }
    p->n_trunks = 0;
    for (vid = 0; vid <= CONF_MAX_VID; vid++)
        if (in[vid])
            p->trunks[p->n_trunks++] = (uint16_t) vid;
    return 0;
}

static int
read_mac(const struct field *f, struct conf_port *p, struct json_object *v,
         const struct place *at)
{
    const char *s;
    uint8_t mac[6];
    int i;

    if (!json_object_is_type(v, json_type_string))
        return refuse_value(f, at, v, "is not a string");
    s = json_object_get_string(v);
    if (strlen(s) != 17 || json_object_get_string_len(v) != 17)
        return refuse_value(f, at, v, "is not an Ethernet address");
    for (i = 0; i < 6; i++) {
        char octet[3] = {s[3 * i], s[3 * i + 1], '\0'};

        if (strspn(octet, "0123456789abcdefABCDEF") != 2 ||
            (i < 5 && s[3 * i + 2] != ':'))
            return refuse_value(f, at, v, "is not an Ethernet address");
        mac[i] = (uint8_t) strtoul(octet, NULL, 16);
    }
    memcpy(p->mac, mac, 6);
    p->have_mac = true;
    return 0;
}

/* The type was given when the port was added; naming it again is fine. */
static int
read_type(const struct field *f, const struct conf_port *p,
          struct json_object *v, const struct place *at)
{
    if (is_word(v, p->cls->type))
        return 0;
    return place_refuse_json(
        at, f->name, v, p->cls->type,
        "cannot change: delete the port and add it again");
}

static int
read_alpha(const struct field *f, void *base, struct json_object *v,
           const struct place *at)
{
    char value[64];
    int64_t n;

    if (is_word(v, "none")) {
        field_reset(f, base);
        return 0;
    }
    if (!json_object_is_type(v, json_type_int))
        return refuse_value(f, at, v, "is neither an integer nor \"none\"");
    n = json_object_get_int64(v);
    if (n < BUF_ALPHA_MIN || n > BUF_ALPHA_MAX)
        return field_refuse_range(f, at,
                                  conf_json_text(v, value, sizeof(value)));
    field_set(f, base, (uint8_t) n);
    return 0;
}

/* Whether there is something of that name is found out later. */
static int
read_label(const struct field *f, void *base, struct json_object *v,
           const struct place *at)
{
    const char *s, *why;

    if (!json_object_is_type(v, json_type_string))
        return refuse_value(f, at, v, "is not a string");
    s = json_object_get_string(v);
    if (!s[0] || !strcmp(s, "none")) {
        field_reset(f, base);
        return 0;
    }
    if (strlen(s) != (size_t) json_object_get_string_len(v))
        return refuse_value(f, at, v, "holds the character \\u0000");
    if (!conf_label_ok(s, &why))
        return refuse_value(f, at, v, why);
    field_reset(f, base);
    strcpy((char *) base + f->offset, s);
    return 0;
}

/* Whether there is such a file is found out when it is read. */
static int
read_file(const struct field *f, void *base, struct json_object *v,
          const struct place *at)
{
    const char *s, *why = NULL;

    if (!json_object_is_type(v, json_type_string))
        return refuse_value(f, at, v, "is not a string");
    s = json_object_get_string(v);
    if (!s[0] || !strcmp(s, "none")) {
        field_reset(f, base);
        return 0;
    }
    if (strlen(s) != (size_t) json_object_get_string_len(v))
        why = "holds the character \\u0000";
    else if (s[0] != '/')
        why = "is not an absolute path";
    else if (strlen(s) >= f->size)
        why = "is too long";
    if (why)
        return refuse_value(f, at, v, why);
    field_reset(f, base);
    strcpy((char *) base + f->offset, s);
    return 0;
}

static int
read_dpid(const struct field *f, void *base, struct json_object *v,
          const struct place *at)
{
    const char *s;
    size_t n;
    uint64_t id;

    if (!json_object_is_type(v, json_type_string))
        return refuse_value(f, at, v, "is not a string");
    s = json_object_get_string(v);
    if (!strcmp(s, "auto")) {
        field_reset(f, base);
        return 0;
    }
    n = strspn(s, "0123456789abcdefABCDEF");
    id = n && n <= 16 && !s[n] ? strtoull(s, NULL, 16) : 0;
    if (!id || n != (size_t) json_object_get_string_len(v))
        return refuse_value(f, at, v, "is no datapath id");
    field_set(f, base, id);
    return 0;
}

int
field_read(const struct field *f, void *base, struct json_object *v,
           const struct place *at)
{
    if (!v) {
        field_reset(f, base);
        return 0;
    }
    switch (f->kind) {
    case FIELD_AUTO:
        if (is_word(v, "auto")) {
            field_set(f, base, CONF_HEADROOM_AUTO);
            return 0;
        }
        return read_uint(f, base, v, at);
    case FIELD_UINT:
        return read_uint(f, base, v, at);
    case FIELD_BOOL:
        return read_bool(f, base, v, at);
    case FIELD_ENUM:
        return read_enum(f, base, v, at);
    case FIELD_PRIOS:
        return read_prios(f, base, v, at);
    case FIELD_MAP:
    case FIELD_REWRITE:
        return read_map(f, base, v, at);
    case FIELD_VIDS:
        return read_vids(f, base, v, at);
    case FIELD_MAC:
        return read_mac(f, base, v, at);
    case FIELD_TYPE:
        return read_type(f, base, v, at);
    case FIELD_ALPHA:
        return read_alpha(f, base, v, at);
    case FIELD_LABEL:
        return read_label(f, base, v, at);
    case FIELD_FILE:
        return read_file(f, base, v, at);
    case FIELD_DPID:
        return read_dpid(f, base, v, at);
    }
    return EINVAL;
}
