/* SPDX-License-Identifier: Apache-2.0
 *
 * SONiC's buffers (BUFFER_POOL, BUFFER_PROFILE, BUFFER_PG, BUFFER_QUEUE): see
 * sonic.h.  Control thread.
 *
 * Ingress pools become pools.  Egress ones do not: a frame is charged once
 * here, at ingress; the limits of egress profiles hold all the same, as shares
 * of what the default pool has free.  Of a lossless profile, `xoff` is the
 * headroom, and what `size` is more than that is reserved.
 */
#include "conf/sonic_int.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_BYTES ((int64_t) CONF_MAX_MEMORY)

static void
put_number(struct json_object *o, const char *member, int64_t v)
{
    json_object_object_add(o, member, json_object_new_int64(v));
}

static bool
is_text(struct json_object *row, const char *member, const char *text)
{
    struct json_object *v = NULL;

    json_object_object_get_ex(row, member, &v);
    return !strcmp(sonic_text(v), text);
}

/* A number that a row may have; absent: as it was. */
static int
get_number(struct sonic *s, const char *path, struct json_object *row,
           const char *member, int64_t min, int64_t max, int64_t *out)
{
    struct json_object *v;

    if (!json_object_object_get_ex(row, member, &v))
        return 0;
    return sonic_number(s, path, member, v, min, max, out);
}

/* Notes the members of a row that are not in the list. */
static void
note_others(struct sonic *s, const char *path, struct json_object *row,
            const char *const *known)
{
    json_object_object_foreach (row, key, v) {
        int i = 0;

        (void) v;
        while (known[i] && strcmp(key, known[i]))
            i++;
        if (!known[i])
            sonic_note(s, path, key, "has no counterpart");
    }
}

/* --- pools -----------------------------------------------------------------
 */

/* Whether a pool exists here too. */
static bool
is_ours(struct json_object *pool)
{
    return is_text(pool, "type", "ingress") &&
           json_object_object_get_ex(pool, "size", NULL);
}

/* A word that a row may have is one of three. */
static int
check_word(struct sonic *s, const char *path, struct json_object *row,
           const char *member, const char *const words[3], const char *allowed)
{
    struct json_object *v;
    char at[CONF_PATH_SIZE];

    if (!json_object_object_get_ex(row, member, &v))
        return 0;
    for (int i = 0; i < 3; i++)
        if (!strcmp(sonic_text(v), words[i]))
            return 0;
    conf_path_join(at, path, member);
    return sonic_refuse(s, at, v, "is none", allowed);
}

static int
take_pool(struct sonic *s, const char *name, const char *path,
          struct json_object *row)
{
    static const char *const known[] = {"size", "type", "mode", "xoff", NULL};
    static const char *const types[] = {"ingress", "egress", "both"};
    static const char *const modes[] = {"static", "dynamic", "dynamic"};
    int64_t size = 0, xoff = 0;
    struct json_object *o;
    int rc = get_number(s, path, row, "size", 0, MAX_BYTES, &size);

    if (!rc)
        rc = check_word(s, path, row, "type", types, "ingress, egress, both");
    if (!rc)
        rc = check_word(s, path, row, "mode", modes, "static, dynamic");
    if (!rc)
        rc = get_number(s, path, row, "xoff", 0, MAX_BYTES, &xoff);
    if (rc)
        return rc;
    note_others(s, path, row, known);
    if (xoff > 0)
        put_number(s->bridge, "headroom_pool_bytes", xoff);
    if (!is_ours(row)) {
        sonic_note(s, path, NULL,
                   is_text(row, "type", "ingress")
                       ? "has no size: its profiles share the default pool"
                       : "frames are charged at ingress only: its profiles "
                         "measure against the default pool");
        return 0;
    }
    o = sonic_sub(sonic_sub(s->bridge, "pools"), name);
    put_number(o, "size_bytes", size);
    json_object_object_add(o, "mode",
                           json_object_new_string(
                               is_text(row, "mode", "static") ? "static"
                                                              : "dynamic"));
    return 0;
}

static int
take_pools(struct sonic *s)
{
    struct json_object *t = sonic_table(s, "BUFFER_POOL");
    char path[CONF_PATH_SIZE];
    int rc = 0;

    if (!t)
        return 0;
    json_object_object_foreach (t, name, row) {
        conf_path_join(path, "/BUFFER_POOL", name);
        if (!rc)
            rc = take_pool(s, name, path, row);
    }
    return rc;
}

/* --- profiles --------------------------------------------------------------
 */

/* The name of a profile here: names of 31 octets are allowed. */
static int
our_name(struct sonic *s, const char *path, const char *name,
         char out[SONIC_NAME_SIZE])
{
    static const char tail[] = "_profile";
    size_t n = strlen(name);
    const char *why;

    if (n > CONF_LABEL_MAX && n < SONIC_NAME_SIZE && n > sizeof(tail) &&
        !strcmp(name + n - (sizeof(tail) - 1), tail))
        n -= sizeof(tail) - 1;
    if (n < SONIC_NAME_SIZE) {
        memcpy(out, name, n);
        out[n] = '\0';
    }
    if (n < SONIC_NAME_SIZE && conf_label_ok(out, &why)) {
        if (name[n])
            sonic_note(s, path, NULL, "is called %s", out);
        return 0;
    }
    return err_set(s->err, EINVAL, path, NULL, CONF_LABEL_ALLOWED,
                   "config_db: %s: no name for a profile: allowed are %s",
                   path, CONF_LABEL_ALLOWED);
}

/* The limit: static, or a power of two of what is free. */
static int
take_limit(struct sonic *s, const char *path, struct json_object *row,
           struct json_object *o)
{
    int64_t alpha = BUF_ALPHA_NONE, bytes = -1, ours;
    int rc = get_number(s, path, row, "dynamic_th", -128, 127, &alpha);

    if (!rc)
        rc = get_number(s, path, row, "static_th", 0, MAX_BYTES, &bytes);
    if (rc)
        return rc;
    if (alpha != BUF_ALPHA_NONE) {
        ours = alpha < BUF_ALPHA_MIN   ? BUF_ALPHA_MIN
               : alpha > BUF_ALPHA_MAX ? BUF_ALPHA_MAX
                                       : alpha;
        if (ours != alpha)
            sonic_note(s, path, "dynamic_th",
                       "%d to %d exist here: %" PRId64 " is taken",
                       BUF_ALPHA_MIN, BUF_ALPHA_MAX, ours);
        put_number(o, "alpha", ours);
    } else if (bytes >= 0) {
        put_number(o, "xoff_bytes", bytes);
    } else {
        sonic_note(s, path, NULL, "has no threshold: the default is taken");
    }
    return 0;
}

/* Where the limit is measured, and what is kept for the group. */
static int
take_ingress(struct sonic *s, const char *path, struct json_object *row,
             struct json_object *o)
{
    int64_t size = 0, xoff = -1, xon = 0, offset = 0;
    int rc = get_number(s, path, row, "size", 0, MAX_BYTES, &size);

    if (!rc)
        rc = get_number(s, path, row, "xoff", 0, MAX_BYTES, &xoff);
    if (!rc)
        rc = get_number(s, path, row, "xon", 0, MAX_BYTES, &xon);
    if (!rc)
        rc = get_number(s, path, row, "xon_offset", 0, MAX_BYTES, &offset);
    if (rc)
        return rc;
    put_number(o, "reserved_bytes",
               size > xoff && xoff > 0 ? size - xoff : size);
    put_number(o, "xon_bytes", xon);
    put_number(o, "xon_offset_bytes", offset);
    if (xoff >= 0)
        put_number(o, "headroom", xoff);
    return 0;
}

static int
take_profile(struct sonic *s, const char *key, const char *path,
             struct json_object *row)
{
    static const char *const known[] = {"pool",       "size",
                                        "xon",        "xoff",
                                        "xon_offset", "dynamic_th",
                                        "static_th",  NULL};
    char name[SONIC_NAME_SIZE], pool[SONIC_NAME_SIZE];
    struct json_object *o, *v = NULL, *pool_row;
    int64_t size = 0;
    int rc = our_name(s, path, key, name);

    json_object_object_get_ex(row, "pool", &v);
    if (!rc)
        rc = sonic_ref(s, path, "pool", v, "BUFFER_POOL", pool, &pool_row);
    if (rc)
        return rc;
    note_others(s, path, row, known);
    o = sonic_sub(sonic_sub(s->bridge, "profiles"), name);
    if (is_ours(pool_row))
        json_object_object_add(o, "pool", json_object_new_string(pool));
    rc = take_limit(s, path, row, o);
    if (!rc && !is_text(pool_row, "type", "egress"))
        return take_ingress(s, path, row, o);
    put_number(o, "xon_bytes", 0);
    if (!rc)
        rc = get_number(s, path, row, "size", 0, MAX_BYTES, &size);
    if (!rc && size > 0)
        sonic_note(s, path, "size", "nothing is reserved for a queue");
    return rc;
}

static int
take_profiles(struct sonic *s)
{
    struct json_object *t = sonic_table(s, "BUFFER_PROFILE");
    char path[CONF_PATH_SIZE];
    int rc = 0;

    if (!t)
        return 0;
    json_object_object_foreach (t, key, row) {
        conf_path_join(path, "/BUFFER_PROFILE", key);
        if (!rc)
            rc = take_profile(s, key, path, row);
    }
    return rc;
}

/* --- who has them ----------------------------------------------------------
 */

static int
take_use(struct sonic *s, struct sonic_port *p, const char *section, int i,
         const char *path, struct json_object *row)
{
    char name[SONIC_NAME_SIZE], ours[SONIC_NAME_SIZE];
    struct json_object *v = NULL, *profile;
    int rc;

    json_object_object_get_ex(row, "profile", &v);
    if (!strcmp(sonic_text(v), "NULL")) {
        /* SONiC's way to have it computed. */
        sonic_note(s, path, "profile",
                   "is computed: %s %d of port %s keeps what it has", section,
                   i, p->cp->name);
        return 0;
    }
    rc = sonic_ref(s, path, "profile", v, "BUFFER_PROFILE", name, &profile);
    if (rc)
        return rc;
    if (strlen(name) > CONF_LABEL_MAX)
        snprintf(ours, sizeof(ours), "%.*s", (int) strlen(name) - 8, name);
    else
        strcpy(ours, name);
    json_object_object_add(sonic_elem(p, section, i), "profile",
                           json_object_new_string(ours));
    return 0;
}

static int
take_pg(struct sonic *s, struct sonic_port *p, int i, const char *path,
        struct json_object *row)
{
    static const char *const known[] = {"profile", NULL};

    note_others(s, path, row, known);
    return take_use(s, p, "groups", i, path, row);
}

static int
take_queue(struct sonic *s, struct sonic_port *p, int i, const char *path,
           struct json_object *row)
{
    static const char *const known[] = {"profile", NULL};

    note_others(s, path, row, known);
    return take_use(s, p, "queues", i, path, row);
}

int
sonic_buffers(struct sonic *s)
{
    int rc = take_pools(s);

    if (!rc)
        rc = take_profiles(s);
    if (!rc)
        rc = sonic_each(s, "BUFFER_PG", true, take_pg);
    return rc ? rc : sonic_each(s, "BUFFER_QUEUE", true, take_queue);
}
