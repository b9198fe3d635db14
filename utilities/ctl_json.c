/* SPDX-License-Identifier: Apache-2.0
 *
 * Safe access to the members of results, and JSON as people can read it:
 * json-c's own indentation gives every number of a list a line.  sluicectl's
 * nouns call it.
 */
#include "ctl.h"

#include <stdio.h>

struct json_object *
ctl_get(struct json_object *o, const char *name)
{
    struct json_object *v;

    if (!json_object_is_type(o, json_type_object) ||
        !json_object_object_get_ex(o, name, &v))
        return NULL;
    return v;
}

int64_t
ctl_int(struct json_object *o, const char *name)
{
    return json_object_get_int64(ctl_get(o, name));
}

const char *
ctl_text(struct json_object *o, const char *name)
{
    struct json_object *v = ctl_get(o, name);

    return v ? json_object_get_string(v) : "-";
}

bool
ctl_bool(struct json_object *o, const char *name)
{
    return json_object_get_boolean(ctl_get(o, name));
}

size_t
ctl_len(struct json_object *array)
{
    return json_object_is_type(array, json_type_array)
               ? json_object_array_length(array)
               : 0;
}

struct json_object *
ctl_at(struct json_object *array, size_t i)
{
    return i < ctl_len(array) ? json_object_array_get_idx(array, i) : NULL;
}

int64_t
ctl_int_at(struct json_object *o, const char *name, size_t i)
{
    return json_object_get_int64(ctl_at(ctl_get(o, name), i));
}

const char *
ctl_join(struct json_object *array, char *out, size_t size)
{
    size_t n = 0;

    snprintf(out, size, "-");
    for (size_t i = 0; i < ctl_len(array) && n < size; i++) {
        struct json_object *v = ctl_at(array, i);

        n += (size_t) snprintf(out + n, size - n, "%s%s", i ? "," : "",
                               v ? json_object_get_string(v) : "null");
    }
    return out;
}

/* --- printing -------------------------------------------------------------
 */

#define PLAIN (JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)

static void print_value(struct json_object *, int indent);

static bool
has_only_scalars(struct json_object *array)
{
    for (size_t i = 0; i < ctl_len(array); i++)
        if (json_object_is_type(ctl_at(array, i), json_type_array) ||
            json_object_is_type(ctl_at(array, i), json_type_object))
            return false;
    return true;
}

static void
new_line(int indent)
{
    printf("\n%*s", indent, "");
}

static void
print_array(struct json_object *array, int indent)
{
    bool inline_ = has_only_scalars(array);
    size_t n = ctl_len(array);

    putchar('[');
    for (size_t i = 0; i < n; i++) {
        if (!inline_)
            new_line(indent + 2);
        else if (i)
            putchar(' ');
        print_value(ctl_at(array, i), indent + 2);
        if (i + 1 < n)
            putchar(',');
    }
    if (!inline_)
        new_line(indent);
    putchar(']');
}

static void
print_object(struct json_object *o, int indent)
{
    bool first = true;

    putchar('{');
    json_object_object_foreach (o, name, v) {
        struct json_object *text = json_object_new_string(name);

        if (!first)
            putchar(',');
        first = false;
        new_line(indent + 2);
        printf("%s: ", json_object_to_json_string_ext(text, PLAIN));
        json_object_put(text);
        print_value(v, indent + 2);
    }
    if (!first)
        new_line(indent);
    putchar('}');
}

/* The depth is that which the client's stream takes. */
static void
print_value(struct json_object *v, int indent)
{
    if (json_object_is_type(v, json_type_array))
        print_array(v, indent);
    else if (json_object_is_type(v, json_type_object))
        print_object(v, indent);
    else
        fputs(json_object_to_json_string_ext(v, PLAIN), stdout);
}

void
ctl_print_json(struct json_object *o, bool one_line)
{
    if (one_line)
        fputs(json_object_to_json_string_ext(o, PLAIN), stdout);
    else
        print_value(o, 0);
    putchar('\n');
}

const char *
ctl_alpha(struct json_object *o)
{
    struct json_object *v = ctl_get(o, "alpha");

    return v ? json_object_get_string(v) : "none";
}
