/* SPDX-License-Identifier: Apache-2.0
 *
 * What can be done to a section or an object given its table entry: elements
 * found, added and removed, defaults, comparison.  See field.h.  Control
 * thread.
 */
#include "conf/field.h"

#include <assert.h>
#include <string.h>

void *
section_elem(const struct section *s, void *base, int i)
{
    return (char *) base + s->offset + s->stride * (size_t) i;
}

const void *
section_elem_const(const struct section *s, const void *base, int i)
{
    return (const char *) base + s->offset + s->stride * (size_t) i;
}

static void
section_set_n(const struct section *s, void *base, uint32_t n)
{
    memcpy((char *) base + s->n_offset, &n, sizeof(n));
}

int
section_n(const struct section *s, const void *base)
{
    uint32_t n;

    if (!s->max_named)
        return s->stride ? 8 : 1;
    memcpy(&n, (const char *) base + s->n_offset, sizeof(n));
    return (int) n;
}

int
section_find(const struct section *s, const void *base, const char *name)
{
    int i;

    for (i = 0; i < section_n(s, base); i++)
        if (!strcmp(section_elem_const(s, base, i), name))
            return i;
    return -1;
}

int
section_add(const struct section *s, void *base, const char *name)
{
    int n = section_n(s, base), i = 0;
    char *elem;
    size_t f;

    assert((uint32_t) n < s->max_named);
    assert(strlen(name) <= (s->key ? CONF_TARGET_MAX : CONF_LABEL_MAX));
    while (i < n && strcmp(section_elem(s, base, i), name) < 0)
        i++;
    elem = section_elem(s, base, i);
    memmove(elem + s->stride, elem, s->stride * (size_t) (n - i));
    memset(elem, 0, s->stride);
    strcpy(elem, name);
    section_set_n(s, base, (uint32_t) n + 1);
    for (f = 0; f < s->n_fields; f++)
        field_reset(&s->fields[f], elem);
    return i;
}

void
section_del(const struct section *s, void *base, int i)
{
    char *elem = section_elem(s, base, i);
    int n = section_n(s, base);

    memmove(elem, elem + s->stride, s->stride * (size_t) (n - i - 1));
    section_set_n(s, base, (uint32_t) n - 1);
}

const struct section *
object_section(const struct object *o, const char *name)
{
    const struct section *s = o->sections;

    while (strcmp(s->name, name))
        s++;
    return s;
}

void
section_reset(const struct section *s, void *base)
{
    size_t f;
    int i;

    if (s->max_named)
        section_set_n(s, base, 0);
    for (i = 0; i < section_n(s, base); i++)
        for (f = 0; f < s->n_fields; f++)
            field_reset(&s->fields[f], section_elem(s, base, i));
}

bool
section_is_default(const struct section *s, const void *elem)
{
    size_t f;

    for (f = 0; f < s->n_fields; f++)
        if (!field_is_default(&s->fields[f], elem))
            return false;
    return true;
}

void
object_reset(const struct object *o, void *base)
{
    size_t i;

    for (i = 0; i < o->n_fields; i++)
        field_reset(&o->fields[i], base);
    for (i = 0; i < o->n_sections; i++)
        section_reset(&o->sections[i], base);
}

static bool
section_equal(const struct section *s, const void *a, const void *b)
{
    int i, n = section_n(s, a);
    size_t f;

    if (n != section_n(s, b))
        return false;
    for (i = 0; i < n; i++) {
        const char *ea = section_elem_const(s, a, i);
        const char *eb = section_elem_const(s, b, i);

        if (s->max_named && strcmp(ea, eb))
            return false;
        for (f = 0; f < s->n_fields; f++)
            if (!field_equal(&s->fields[f], ea, eb))
                return false;
    }
    return true;
}

bool
object_equal(const struct object *o, const void *a, const void *b)
{
    size_t i;

    for (i = 0; i < o->n_fields; i++)
        if (!field_equal(&o->fields[i], a, b))
            return false;
    for (i = 0; i < o->n_sections; i++)
        if (!section_equal(&o->sections[i], a, b))
            return false;
    return true;
}
