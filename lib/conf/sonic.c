/* SPDX-License-Identifier: Apache-2.0
 *
 * The translation of SONiC's QoS tables as a whole, and how rows, keys and
 * references are read: see sonic.h.  Control thread.
 */
#include "conf/sonic_int.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_SIZE 4096 /* of a key with its list of ports */

/* Tables that are translated, and those that others refer to. */
static const char *const qos_tables[] = {
    "PORT_QOS_MAP",
    "DSCP_TO_TC_MAP",
    "DOT1P_TO_TC_MAP",
    "TC_TO_QUEUE_MAP",
    "TC_TO_PRIORITY_GROUP_MAP",
    "TC_TO_DSCP_MAP",
    "TC_TO_DOT1P_MAP",
    "MAP_PFC_PRIORITY_TO_QUEUE",
    "BUFFER_POOL",
    "BUFFER_PROFILE",
    "BUFFER_PG",
    "BUFFER_QUEUE",
    "SCHEDULER",
    "QUEUE",
    "WRED_PROFILE",
    "PFC_WD",
    "PORT",
    "CABLE_LENGTH",
};
#define N_TABLES (sizeof(qos_tables) / sizeof(qos_tables[0]))

static bool
is_ours(const char *table)
{
    for (size_t i = 0; i < N_TABLES; i++)
        if (!strcmp(table, qos_tables[i]))
            return true;
    return false;
}

/* --- notes and errors ---------------------------------------------------- */

void
sonic_note(struct sonic *s, const char *base, const char *member,
           const char *fmt, ...)
{
    struct json_object *o = json_object_new_object();
    char path[CONF_PATH_SIZE], why[240];
    const char *text;
    va_list ap;

    snprintf(path, sizeof(path), "%s", base);
    if (member)
        conf_path_join(path, path, member);
    va_start(ap, fmt);
    vsnprintf(why, sizeof(why), fmt, ap);
    va_end(ap);
    json_object_object_add(o, "path", json_object_new_string(path));
    json_object_object_add(o, "why", json_object_new_string(why));
    /* What many ports refer to is looked at for each of them. */
    text = json_object_to_json_string(o);
    if (json_object_object_get_ex(s->noted, text, NULL)) {
        json_object_put(o);
        return;
    }
    json_object_object_add(s->noted, text, NULL);
    json_object_array_add(s->notes, o);
}

int
sonic_refuse(struct sonic *s, const char *path, struct json_object *value,
             const char *complaint, const char *allowed)
{
    char text[48];

    conf_json_text(value, text, sizeof(text));
    return err_set(s->err, EINVAL, path, text, allowed,
                   "config_db: %s: %s %s: allowed %s", path, text, complaint,
                   allowed);
}

/* --- values -------------------------------------------------------------- */

struct json_object *
sonic_table(const struct sonic *s, const char *table)
{
    struct json_object *t = NULL;

    json_object_object_get_ex(s->db, table, &t);
    return t;
}

const char *
sonic_text(struct json_object *v)
{
    return json_object_is_type(v, json_type_string) ? json_object_get_string(v)
                                                    : "";
}

int
sonic_number(struct sonic *s, const char *base, const char *member,
             struct json_object *v, int64_t min, int64_t max, int64_t *out)
{
    char path[CONF_PATH_SIZE], allowed[64];
    int64_t n = 0;
    bool ok = json_object_is_type(v, json_type_int);

    if (ok) {
        n = json_object_get_int64(v);
    } else if (json_object_is_type(v, json_type_string)) {
        const char *text = json_object_get_string(v);
        char *end;

        errno = 0;
        n = strtoll(text, &end, 10);
        ok = !errno && *text && !*end &&
             strspn(text, "-0123456789") == strlen(text);
    }
    if (ok && n >= min && n <= max) {
        *out = n;
        return 0;
    }
    conf_path_join(path, base, member);
    snprintf(allowed, sizeof(allowed), "%" PRId64 " to %" PRId64, min, max);
    return sonic_refuse(s, path, v, ok ? "is out of range" : "is no number",
                        allowed);
}

int
sonic_prios(struct sonic *s, const char *base, const char *member,
            struct json_object *v, uint8_t *mask)
{
    const char *text = sonic_text(v);
    char path[CONF_PATH_SIZE];
    uint8_t m = 0;

    for (; *text; text += text[1] ? 2 : 1) {
        if (text[0] < '0' || text[0] > '7' || (text[1] && text[1] != ',') ||
            (text[1] && !text[2]))
            break;
        m = (uint8_t) (m | 1u << (text[0] - '0'));
    }
    if (json_object_is_type(v, json_type_string) && !*text) {
        *mask = m;
        return 0;
    }
    conf_path_join(path, base, member);
    return sonic_refuse(s, path, v, "is no list of priorities",
                        "priorities 0 to 7 with commas between");
}

/* Cuts "[TABLE|name]" down to the name; false when it is of another table, or
 * too long. */
static bool
bare_name(const char *text, const char *table, char name[SONIC_NAME_SIZE])
{
    size_t n = strlen(table), len;

    if (text[0] == '[') {
        if (strncmp(text + 1, table, n) || text[n + 1] != '|')
            return false;
        text += n + 2;
        len = strlen(text);
        if (!len || text[len - 1] != ']')
            return false;
        len--;
    } else {
        len = strlen(text);
    }
    if (!len || len >= SONIC_NAME_SIZE)
        return false;
    memcpy(name, text, len);
    name[len] = '\0';
    return true;
}

int
sonic_ref(struct sonic *s, const char *base, const char *member,
          struct json_object *v, const char *table, char name[SONIC_NAME_SIZE],
          struct json_object **row)
{
    char path[CONF_PATH_SIZE], allowed[96], key[2 * SONIC_NAME_SIZE];

    if (bare_name(sonic_text(v), table, name) &&
        json_object_object_get_ex(sonic_table(s, table), name, row)) {
        snprintf(key, sizeof(key), "%s|%s", table, name);
        json_object_object_add(s->used, key, json_object_new_boolean(true));
        return 0;
    }
    conf_path_join(path, base, member);
    snprintf(allowed, sizeof(allowed), "the name of a row of %s, or [%s|name]",
             table, table);
    sonic_refuse(s, path, v, "refers to nothing", allowed);
    return s->err ? (s->err->code = ENOENT) : ENOENT;
}

struct json_object *
sonic_sub(struct json_object *o, const char *member)
{
    struct json_object *sub;

    if (json_object_object_get_ex(o, member, &sub))
        return sub;
    sub = json_object_new_object();
    json_object_object_add(o, member, sub);
    return sub;
}

struct json_object *
sonic_port_edit(struct sonic_port *p)
{
    if (!p->edit)
        p->edit = json_object_new_object();
    return p->edit;
}

struct json_object *
sonic_elem(struct sonic_port *p, const char *section, int i)
{
    char key[2] = {(char) ('0' + i), '\0'};

    return sonic_sub(sonic_sub(sonic_port_edit(p), section), key);
}

/* --- keys ---------------------------------------------------------------- */

struct sonic_port *
sonic_find_port(struct sonic *s, const char *name)
{
    struct json_object *ours;

    if (s->names && json_object_object_get_ex(s->names, name, &ours))
        name = sonic_text(ours);
    for (uint32_t i = 0; i < s->b->n_ports; i++)
        if (!strcmp(s->b->ports[i]->name, name))
            return &s->port[i];
    return NULL;
}

/* "3" or "3-4". */
static bool
parse_range(const char *text, int *first, int *last)
{
    int n = 0, m = 0;

    if (sscanf(text, "%2d%n-%2d%n", first, &n, last, &m) == 1)
        *last = *first;
    else
        n = m;
    return n && !text[n] && text[0] != '-' &&
           strspn(text, "0123456789-") == strlen(text) && *first <= *last;
}

/* What a key's one port has to do with a row. */
static int
take_port(struct sonic *s, const char *name, const char *path, int first,
          int last, struct json_object *row, sonic_row_fn *fn)
{
    struct sonic_port *p = sonic_find_port(s, name);
    int rc = 0;

    if (!p) {
        sonic_note(s, path, NULL, "bridge %s has no port for %.32s",
                   s->b->name, name);
        return 0;
    }
    if (last > 7)
        sonic_note(s, path, NULL, "only 0 to 7 exist here: %d to %d are not",
                   first > 8 ? first : 8, last);
    for (int i = first; i <= last && i <= 7 && !rc; i++)
        rc = fn(s, p, i, path, row);
    return rc;
}

static int
take_row(struct sonic *s, const char *table, const char *key, bool indexed,
         struct json_object *row, sonic_row_fn *fn)
{
    char path[CONF_PATH_SIZE], base[CONF_PATH_SIZE], text[KEY_SIZE];
    char *rest = text, *bar, *name;
    int first = -1, last = -1, rc = 0;

    conf_path_join(base, "", table);
    conf_path_join(path, base, key);
    if (strlen(key) >= sizeof(text))
        return sonic_refuse(s, path, row, "has too long a key",
                            "keys of 4095 octets");
    strcpy(text, key);
    bar = strchr(text, '|');
    if (bar)
        *bar++ = '\0';
    if (!text[0] || indexed != (bar != NULL) ||
        (bar && !parse_range(bar, &first, &last)))
        return sonic_refuse(s, path, row, "has a wrong key",
                            indexed ? "keys like Ethernet0,Ethernet4|3-4"
                                    : "keys like Ethernet0,Ethernet4");
    while (!rc && (name = strsep(&rest, ",")))
        rc = take_port(s, name, path, first, last, row, fn);
    return rc;
}

int
sonic_each(struct sonic *s, const char *table, bool indexed, sonic_row_fn *fn)
{
    struct json_object *t = sonic_table(s, table);

    if (!t)
        return 0;
    json_object_object_foreach (t, key, row) {
        int rc;

        if (!indexed && (!strcmp(key, "global") || !strcmp(key, "GLOBAL")))
            continue; /* the table's own business */
        rc = take_row(s, table, key, indexed, row, fn);
        if (rc)
            return rc;
    }
    return 0;
}

/* --- the whole ----------------------------------------------------------- */

int
sonic_check_tables(struct sonic *s)
{
    if (!json_object_is_type(s->db, json_type_object))
        return sonic_refuse(s, "", s->db, "is no object", "an object");
    for (size_t i = 0; i < N_TABLES; i++) {
        struct json_object *t = sonic_table(s, qos_tables[i]);
        char base[CONF_PATH_SIZE], path[CONF_PATH_SIZE];

        conf_path_join(base, "", qos_tables[i]);
        if (!json_object_object_get_ex(s->db, qos_tables[i], NULL) ||
            (!s->links && sonic_is_link(qos_tables[i])))
            continue;
        if (!json_object_is_type(t, json_type_object))
            return sonic_refuse(s, base, t, "is no object", "an object");
        json_object_object_foreach (t, key, row) {
            conf_path_join(path, base, key);
            if (!json_object_is_type(row, json_type_object))
                return sonic_refuse(s, path, row, "is no object", "an object");
        }
    }
    return 0;
}

/* Rows that nothing refers to, and tables that are about other things. */
static void
note_rest(struct sonic *s)
{
    static const char *const referred[] = {
        "DSCP_TO_TC_MAP",  "DOT1P_TO_TC_MAP",
        "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP",
        "TC_TO_DSCP_MAP",  "TC_TO_DOT1P_MAP",
        "SCHEDULER",       "MAP_PFC_PRIORITY_TO_QUEUE",
        "WRED_PROFILE",
    };
    char base[CONF_PATH_SIZE], mark[CONF_PATH_SIZE];

    for (size_t i = 0; i < sizeof(referred) / sizeof(referred[0]); i++) {
        struct json_object *t = sonic_table(s, referred[i]);

        if (!t)
            continue;
        conf_path_join(base, "", referred[i]);
        json_object_object_foreach (t, key, row) {
            (void) row;
            snprintf(mark, sizeof(mark), "%s|%s", referred[i], key);
            if (!json_object_object_get_ex(s->used, mark, NULL))
                sonic_note(s, base, key, "no port of bridge %s refers to it",
                           s->b->name);
        }
    }
    json_object_object_foreach (s->db, table, t) {
        (void) t;
        if (!is_ours(table))
            sonic_note(s, "", table, "is no table that is taken over");
    }
}

static struct json_object *
take_edit(struct sonic *s)
{
    struct json_object *edit = json_object_new_object();
    struct json_object *ports = sonic_sub(edit, "ports");

    json_object_object_add(edit, "bridge", json_object_get(s->bridge));
    for (uint32_t i = 0; i < s->b->n_ports; i++)
        if (s->port[i].edit)
            json_object_object_add(ports, s->b->ports[i]->name,
                                   json_object_get(s->port[i].edit));
    return edit;
}

/* The name of SONiC that is said to be ours, before the name `till`; null:
 * none is. */
static const char *
find_twin(const struct sonic *s, const char *ours, const char *till)
{
    json_object_object_foreach (s->names, name, v) {
        if (!strcmp(name, till))
            break;
        if (!strcmp(sonic_text(v), ours))
            return name;
    }
    return NULL;
}

/* Each means a port that there is, and no two the same one: what the second
 * says would take the place of what the first did. */
static int
check_names(struct sonic *s)
{
    const char *twin;

    if (!s->names)
        return 0;
    json_object_object_foreach (s->names, name, ours) {
        const char *text = sonic_text(ours);
        uint32_t i = 0;

        while (i < s->b->n_ports && strcmp(s->b->ports[i]->name, text))
            i++;
        if (i == s->b->n_ports)
            return err_set(s->err, ENOENT, NULL, text, "a port of the bridge",
                           "%.32s is to mean port \"%.32s\", which bridge %s "
                           "does not have",
                           name, text, s->b->name);
        twin = find_twin(s, text, name);
        if (twin)
            return err_set(s->err, EINVAL, NULL, text, "one name for a port",
                           "%.32s and %.32s are both to mean port \"%.32s\": "
                           "allowed is one name for a port",
                           twin, name, text);
    }
    return 0;
}

int
conf_sonic_translate(struct json_object *db, struct json_object *names,
                     bool links, const struct conf_bridge *b,
                     struct json_object **edit, struct json_object **notes,
                     struct err *err)
{
    struct sonic s = {
        .db = db, .names = names, .links = links, .b = b, .err = err};
    int rc;

    s.bridge = json_object_new_object();
    s.notes = json_object_new_array();
    s.noted = json_object_new_object();
    s.used = json_object_new_object();
    s.port = conf_alloc(b->n_ports, sizeof(s.port[0]));
    for (uint32_t i = 0; i < b->n_ports; i++)
        s.port[i].cp = b->ports[i];
    rc = check_names(&s);
    if (!rc)
        rc = sonic_check_tables(&s);
    if (!rc)
        rc = sonic_maps(&s);
    if (!rc)
        rc = sonic_buffers(&s);
    if (!rc)
        rc = sonic_queues(&s);
    if (!rc)
        rc = sonic_watchdog(&s);
    if (!rc)
        rc = sonic_links(&s);
    if (!rc) {
        note_rest(&s);
        *edit = take_edit(&s);
        *notes = json_object_get(s.notes);
    }
    for (uint32_t i = 0; i < b->n_ports; i++)
        json_object_put(s.port[i].edit);
    free(s.port);
    json_object_put(s.bridge);
    json_object_put(s.notes);
    json_object_put(s.noted);
    json_object_put(s.used);
    return rc;
}

int
conf_sonic_import(struct json_object *db, struct json_object *names,
                  bool links, struct conf_bridge *b,
                  struct json_object **notes, struct err *err)
{
    struct json_object *edit, *ports, *made;
    char in[CONF_PATH_SIZE], path[CONF_PATH_SIZE];
    int rc = conf_sonic_translate(db, names, links, b, &edit, &made, err);

    if (rc)
        return rc;
    conf_path_join(path, "/bridges", b->name);
    conf_path_join(in, path, "ports");
    rc = conf_bridge_edit(b, sonic_sub(edit, "bridge"), path, err);
    ports = sonic_sub(edit, "ports");
    json_object_object_foreach (ports, name, e) {
        conf_path_join(path, in, name);
        if (!rc)
            rc = conf_port_edit(conf_bridge_find_port(b, name), e, path, err);
    }
    json_object_put(edit);
    if (rc)
        json_object_put(made);
    else
        *notes = made;
    return rc;
}
