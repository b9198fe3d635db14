/* SPDX-License-Identifier: Apache-2.0
 *
 * Which member of a JSON text comes twice in its object.  The tokener keeps
 * the last one only and the lexer of stream.c does not know names, so the text
 * is gone through once more, when it is known that there is one.  It is JSON:
 * both have taken it.
 */
#include "base/utf8.h"
#include "rpc/internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAME 80  /* octets of it that are shown */
#define MAX_PATH 120 /* the same of the path to its object */

/* A name as it is written, between the quotes. */
struct name {
    const char *at; /* its first octet */
    size_t n;       /* how many */
};

/* An open container: who is in it, and what is being read. */
struct level {
    struct json_object *names; /* of an object so far; null: an array */
    size_t index;              /* of an array: the element */
    struct name name;          /* of an object: the member's */
};

/* Where in the text, and in what. */
struct walk {
    const char *at, *end;              /* what is left of it */
    struct level level[RPC_MAX_DEPTH]; /* the open ones */
    unsigned depth;                    /* how many */
    bool found;                        /* the last name was there already */
};

/* Behind the string that begins at `at`. */
static const char *
string_end(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\')
            at++;
    return at < end ? at + 1 : end;
}

/* A string of the text as the tokener reads it. */
static struct json_object *
decode(const char *from, const char *to)
{
    struct json_tokener *tok = json_tokener_new();
    struct json_object *o =
        tok ? json_tokener_parse_ex(tok, from, (int) (to - from)) : NULL;

    json_tokener_free(tok);
    return o;
}

/* A string: the name of a member if a colon follows. */
static void
take_string(struct walk *w)
{
    struct level *l = w->depth ? &w->level[w->depth - 1] : NULL;
    const char *from = w->at, *to = string_end(from, w->end), *text;
    struct json_object *name;

    w->at = to;
    while (w->at < w->end && strchr(" \t\r\n", *w->at))
        w->at++;
    if (!l || !l->names || w->at == w->end || *w->at != ':')
        return;
    name = decode(from, to);
    if (!name)
        return;
    text = json_object_get_string(name);
    l->name = (struct name){from + 1, (size_t) (to - from) - 2};
    w->found = json_object_object_get_ex(l->names, text, NULL);
    json_object_object_add(l->names, text, NULL);
    json_object_put(name);
}

/* The next octet outside of strings. */
static void
take_octet(struct walk *w)
{
    char b = *w->at++;

    if (b == '{' || b == '[') {
        assert(w->depth < RPC_MAX_DEPTH); /* a request: it was counted */
        w->level[w->depth++] = (struct level){
            .names = b == '{' ? json_object_new_object() : NULL};
    } else if (b == '}' || b == ']') {
        assert(w->depth > 0);
        json_object_put(w->level[--w->depth].names);
    } else if (b == ',' && w->depth) {
        w->level[w->depth - 1].index++;
    }
}

/* Adds what a terminal may see of a name; a quote is behind it. */
static size_t
put_name(const struct name *name, char *out, size_t size)
{
    size_t n = 0, at = 0;

    while (at < name->n && n + 4 < size) {
        size_t m = utf8_len_shown(name->at + at);

        if (m)
            memcpy(out + n, name->at + at, m);
        else
            out[n] = '?';
        n += m ? m : 1;
        at += m ? m : 1;
    }
    out[n] = '\0';
    return n;
}

/* "/a/0/b" of the containers around. */
static void
put_path(const struct walk *w, char *out, size_t size)
{
    size_t n = 0;

    for (unsigned i = 0; i + 1 < w->depth && n + 24 < size; i++) {
        const struct level *l = &w->level[i];

        out[n++] = '/';
        n += l->names ? put_name(&l->name, out + n, size - n)
                      : (size_t) snprintf(out + n, size - n, "%zu", l->index);
    }
    out[n] = '\0';
}

void
rpc_find_twice(const char *text, size_t n, char *out, size_t size)
{
    struct walk w = {.at = text, .end = text + n};
    char name[MAX_NAME + 1], path[MAX_PATH + 1];

    while (w.at < w.end && !w.found) {
        if (*w.at == '"')
            take_string(&w);
        else
            take_octet(&w);
    }
    snprintf(out, size, "an object has two members of the same name");
    if (w.found) {
        put_name(&w.level[w.depth - 1].name, name, sizeof(name));
        put_path(&w, path, sizeof(path));
        snprintf(out, size, "the member \"%s\" is twice in %s", name,
                 *path ? path : "the outermost object");
    }
    while (w.depth)
        json_object_put(w.level[--w.depth].names);
}
