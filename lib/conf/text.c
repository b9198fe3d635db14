/* SPDX-License-Identifier: Apache-2.0
 *
 * What errors are made of: JSON pointers, values as text, and the nearest
 * word to one that is not known.  See field.h.  Control thread.
 */
#include "base/utf8.h"
#include "conf/field.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void
conf_path_join(char out[CONF_PATH_SIZE], const char *base, const char *step)
{
    size_t n;

    if (out != base)
        snprintf(out, CONF_PATH_SIZE, "%s", base);
    n = strlen(out);
    if (n + 1 < CONF_PATH_SIZE)
        out[n++] = '/';
    while (*step && n + 5 < CONF_PATH_SIZE) {
        size_t len = utf8_len_shown(step);

        if (*step == '~' || *step == '/') {
            out[n++] = '~';
            out[n++] = *step == '~' ? '0' : '1';
        } else if (len) {
            memcpy(out + n, step, len);
            n += len;
        } else {
            out[n++] = '?';
        }
        step += len ? len : 1;
    }
    out[n] = '\0';
}

void
place_bridge(struct place *at, const struct conf_bridge *b, struct err *err)
{
    conf_path_join(at->path, "/bridges", b->name);
    snprintf(at->subject, sizeof(at->subject), "bridge %s", b->name);
    at->in = NULL;
    at->err = err;
}

void
place_port(struct place *at, const struct conf_bridge *b,
           const struct conf_port *p, struct err *err)
{
    conf_path_join(at->path, "/bridges", b->name);
    conf_path_join(at->path, at->path, "ports");
    conf_path_join(at->path, at->path, p->name);
    snprintf(at->subject, sizeof(at->subject), "port %s", p->name);
    at->in = NULL;
    at->err = err;
}

void
place_section(struct place *at, const struct place *in,
              const struct section *s, int i)
{
    at->in = in;
    at->section = s;
    at->index = i;
    at->key = NULL;
    at->err = in->err;
}

void
place_named(struct place *at, const struct place *in, const struct section *s,
            const char *name)
{
    place_section(at, in, s, 0);
    at->key = name;
}

struct place
place_spell(const struct place *at)
{
    const struct section *s = at->section;
    struct place text = {.err = at->err};
    char key[40];

    if (!at->in)
        return *at;
    if (at->key)
        conf_plain_text(at->key, key, sizeof(key));
    else
        snprintf(key, sizeof(key), "%d", at->index);
    conf_path_join(text.path, at->in->path, s->name);
    if (s->stride)
        conf_path_join(text.path, text.path, key);
    snprintf(text.subject, sizeof(text.subject), "%.40s: %s%s%.32s",
             at->in->subject, s->stride ? s->one : s->name,
             s->stride ? " " : "", s->stride ? key : "");
    return text;
}

int
place_refuse(const struct place *at, const char *member, const char *value,
             const char *allowed, const char *complaint)
{
    struct place text = place_spell(at);

    conf_path_join(text.path, text.path, member);
    return err_set(at->err, EINVAL, text.path, value, allowed,
                   "%s: %s%s%.40s %s: allowed %s", text.subject, member,
                   value[0] ? " " : "", value, complaint, allowed);
}

bool
field_in_range(const struct field *f, uint64_t v)
{
    if (f->kind == FIELD_AUTO && v == f->def)
        return true;
    if (f->kind == FIELD_ALPHA)
        return v == f->def ||
               ((int8_t) v >= BUF_ALPHA_MIN && (int8_t) v <= BUF_ALPHA_MAX);
    return (v >= f->min && v <= f->max) || (f->zero_ok && !v);
}

int
field_refuse_range(const struct field *f, const struct place *at,
                   const char *value)
{
    char allowed[160];

    field_allowed(f, allowed, sizeof(allowed));
    return place_refuse(at, f->name, value, allowed, "is out of range");
}

const char *
conf_plain_text(const char *from, char *text, size_t size)
{
    bool cut = strlen(from) >= size;
    size_t room = cut ? size - 4 : size - 1, n = 0;

    while (*from) {
        size_t len = utf8_len_shown(from), step = len ? len : 1;

        if (n + step > room)
            break;
        if (len)
            memcpy(text + n, from, len);
        else
            text[n] = '?';
        n += step;
        from += step;
    }
    snprintf(text + n, size - n, "%s", cut ? "..." : "");
    return text;
}

const char *
conf_json_text(struct json_object *v, char *text, size_t size)
{
    const char *s = json_object_to_json_string_ext(v, JSON_C_TO_STRING_PLAIN);

    return conf_plain_text(v && s ? s : "null", text, size);
}

void
conf_set_value(struct err *err, struct json_object *v)
{
    if (err && json_object_is_type(v, json_type_string))
        conf_plain_text(json_object_get_string(v), err->value,
                        sizeof(err->value));
}

int
place_refuse_json(const struct place *at, const char *member,
                  struct json_object *v, const char *allowed,
                  const char *complaint)
{
    char value[64];
    int rc = place_refuse(at, member, conf_json_text(v, value, sizeof(value)),
                          allowed, complaint);

    conf_set_value(at->err, v);
    return rc;
}

#define WORD_MAX 32

/* Edit distance of two words of at most WORD_MAX letters. */
static size_t
distance(const char *a, const char *b)
{
    size_t row[WORD_MAX + 1], na = strlen(a), nb = strlen(b), i, j;

    for (j = 0; j <= nb; j++)
        row[j] = j;
    for (i = 1; i <= na; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (j = 1; j <= nb; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[nb];
}

const char *
conf_suggest(const char *word, const char *const *among, size_t n)
{
    const char *best = NULL;
    size_t least = strlen(word) / 3 + 1, i; /* a third may be mistyped */

    if (strlen(word) > WORD_MAX)
        return NULL;
    for (i = 0; i < n; i++) {
        size_t d;

        if (strlen(among[i]) > WORD_MAX)
            continue;
        d = distance(word, among[i]);
        if (d < least || (d == least && !best && d < strlen(word))) {
            least = d;
            best = among[i];
        }
    }
    return best;
}
