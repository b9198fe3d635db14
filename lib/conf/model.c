/* SPDX-License-Identifier: Apache-2.0
 *
 * The model itself: making, copying, comparing, and finding and changing what
 * is in it.  See conf.h.  Control thread.
 */
#include "conf/conf.h"
#include "conf/field.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *
conf_alloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);

    if (!p)
        abort();
    return p;
}

struct conf *
conf_create(void)
{
    struct conf *c = conf_alloc(1, sizeof(*c));

    c->bridges = conf_alloc(CONF_MAX_BRIDGES, sizeof(c->bridges[0]));
    return c;
}

static void
bridge_destroy(struct conf_bridge *b)
{
    uint32_t i;

    for (i = 0; i < b->n_ports; i++)
        free(b->ports[i]);
    free(b->ports);
    free(b);
}

void
conf_destroy(struct conf *c)
{
    uint32_t i;

    if (!c)
        return;
    for (i = 0; i < c->n_bridges; i++)
        bridge_destroy(c->bridges[i]);
    free(c->bridges);
    free(c);
}

static struct conf_bridge *
bridge_copy(const struct conf_bridge *from)
{
    struct conf_bridge *b = conf_alloc(1, sizeof(*b));
    uint32_t i;

    *b = *from;
    b->ports = conf_alloc(DP_MAX_PORTS, sizeof(b->ports[0]));
    for (i = 0; i < b->n_ports; i++) {
        b->ports[i] = conf_alloc(1, sizeof(*b->ports[i]));
        *b->ports[i] = *from->ports[i];
    }
    return b;
}

struct conf *
conf_copy(const struct conf *from)
{
    struct conf *c = conf_create();
    uint32_t i;

    for (i = 0; i < from->n_bridges; i++)
        c->bridges[i] = bridge_copy(from->bridges[i]);
    c->n_bridges = from->n_bridges;
    return c;
}

bool
conf_port_equal(const struct conf_port *a, const struct conf_port *b)
{
    return !strcmp(a->name, b->name) && object_equal(&conf_port_object, a, b);
}

static bool
bridge_equal(const struct conf_bridge *a, const struct conf_bridge *b)
{
    uint32_t i;

    if (!conf_bridge_equal(a, b) || a->n_ports != b->n_ports)
        return false;
    for (i = 0; i < a->n_ports; i++)
        if (!conf_port_equal(a->ports[i], b->ports[i]))
            return false;
    return true;
}

bool
conf_bridge_equal(const struct conf_bridge *a, const struct conf_bridge *b)
{
    return !strcmp(a->name, b->name) &&
           object_equal(&conf_bridge_object, a, b);
}

bool
conf_equal(const struct conf *a, const struct conf *b)
{
    uint32_t i;

    if (a->n_bridges != b->n_bridges)
        return false;
    for (i = 0; i < a->n_bridges; i++)
        if (!bridge_equal(a->bridges[i], b->bridges[i]))
            return false;
    return true;
}

bool
conf_name_ok(const char *name, const char **why)
{
    const char *p;

    *why = NULL;
    if (!name[0])
        *why = "is empty";
    else if (strlen(name) > CONF_NAME_MAX)
        *why = "is too long";
    else if (!strcmp(name, ".") || !strcmp(name, ".."))
        *why = "is not an interface name";
    else if (name[0] == '-')
        *why = "starts with '-'";
    for (p = name; *p && !*why; p++)
        if ((unsigned char) *p <= ' ' || (unsigned char) *p > '~' ||
            strchr("/:%", *p))
            *why = "has a character that an interface name cannot have";
    return !*why;
}

#define NAME_ALLOWED                                                         \
    "1 to 15 printable ASCII characters, none of space / : %, not . or .., " \
    "not - first"

/* Names are checked the same way wherever they come from. */
static int
check_name(const char *kind, const char *path, const char *name,
           struct err *err)
{
    const char *why;
    char text[40];

    if (conf_name_ok(name, &why))
        return 0;
    conf_plain_text(name, text, sizeof(text));
    return err_set(err, EINVAL, path, text, NAME_ALLOWED,
                   "%s name \"%s\" %s: allowed are %s", kind, text, why,
                   NAME_ALLOWED);
}

/* Where `name` is, or belongs, in a sorted list. */
static uint32_t
bridge_index(const struct conf *c, const char *name, bool *found)
{
    uint32_t lo = 0, hi = c->n_bridges;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (strcmp(c->bridges[mid]->name, name) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    *found = lo < c->n_bridges && !strcmp(c->bridges[lo]->name, name);
    return lo;
}

static uint32_t
port_index(const struct conf_bridge *b, const char *name, bool *found)
{
    uint32_t lo = 0, hi = b->n_ports;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (strcmp(b->ports[mid]->name, name) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    *found = lo < b->n_ports && !strcmp(b->ports[lo]->name, name);
    return lo;
}

int
conf_add_bridge(struct conf *c, const char *name, struct conf_bridge **bridge,
                struct err *err)
{
    char path[CONF_PATH_SIZE];
    struct conf_bridge *b;
    bool found;
    uint32_t at;
    int rc;

    conf_path_join(path, "/bridges", name);
    rc = check_name("bridge", path, name, err);
    if (rc)
        return rc;
    at = bridge_index(c, name, &found);
    if (found)
        return err_set(err, EEXIST, path, name, "a name not in use",
                       "bridge %s exists already", name);
    if (c->n_bridges == CONF_MAX_BRIDGES)
        return err_set(err, ENOSPC, path, name, "at most 64 bridges",
                       "bridge %s is one too many: allowed are %d bridges",
                       name, CONF_MAX_BRIDGES);
    b = conf_alloc(1, sizeof(*b));
    strcpy(b->name, name);
    b->ports = conf_alloc(DP_MAX_PORTS, sizeof(b->ports[0]));
    object_reset(&conf_bridge_object, b);
    b->map.given = CONF_MAP_ALL;
    b->local_slot = CONF_NO_SLOT;
    memmove(&c->bridges[at + 1], &c->bridges[at],
            (c->n_bridges - at) * sizeof(c->bridges[0]));
    c->bridges[at] = b;
    c->n_bridges++;
    *bridge = b;
    return 0;
}

static int
check_type(const char *port, const char *path, const char *type,
           const struct netdev_class **cls, struct err *err)
{
    static const char *const types[] = {"afpacket", "afxdp", "auto", "tap",
                                        "mem"};
    const char *near = conf_suggest(type, types, 5);
    char text[40];

    *cls = netdev_class_find(type);
    if (*cls)
        return 0;
    conf_plain_text(type, text, sizeof(text));
    if (!strcmp(type, "afxdp"))
        return err_set(err, EOPNOTSUPP, path, text, NETDEV_TYPES,
                       "port %s: type afxdp is not built in (configure "
                       "--without-afxdp)",
                       port);
    return err_set(err, EINVAL, path, text, NETDEV_TYPES,
                   "port %s: type \"%s\" is unknown%s%s%s: allowed are "
                   "afpacket, afxdp, auto, tap and mem",
                   port, text, near ? ", did you mean \"" : "",
                   near ? near : "", near ? "\"?" : "");
}

/* Whether a port of that name and type may be added to b. */
static int
check_new_port(const struct conf *c, const struct conf_bridge *b,
               const char *name, const char *path, struct err *err)
{
    struct conf_bridge *other;
    int rc = check_name("port", path, name, err);

    if (rc)
        return rc;
    if (conf_find_port(c, name, &other))
        return err_set(err, EEXIST, path, name, "a name not in use",
                       "port %s exists already, in bridge %s", name,
                       other->name);
    if (conf_free_slot(b) == CONF_NO_SLOT)
        return err_set(err, ENOSPC, path, name, "at most 256 ports a bridge",
                       "port %s is one too many for bridge %s: allowed are %d "
                       "ports%s",
                       name, b->name, DP_MAX_PORTS,
                       b->n_ports < DP_MAX_PORTS ? ", with its own" : "");
    return 0;
}

int
conf_add_port(struct conf *c, struct conf_bridge *b, const char *name,
              const char *type, struct conf_port **port, struct err *err)
{
    char ports[CONF_PATH_SIZE], path[CONF_PATH_SIZE], tpath[CONF_PATH_SIZE];
    const struct netdev_class *cls = NULL;
    struct conf_port *p;
    bool found;
    uint32_t at;
    int rc;

    conf_path_join(ports, "/bridges", b->name);
    conf_path_join(ports, ports, "ports");
    conf_path_join(path, ports, name);
    conf_path_join(tpath, path, "type");
    rc = check_new_port(c, b, name, path, err);
    if (!rc)
        rc = check_type(name, tpath, type, &cls, err);
    if (rc)
        return rc;
    p = conf_alloc(1, sizeof(*p));
    strcpy(p->name, name);
    p->cls = cls;
    p->slot = conf_free_slot(b);
    object_reset(&conf_port_object, p);
    p->ofport = conf_free_ofport(b);
    p->ofport_auto = true;
    at = port_index(b, name, &found);
    memmove(&b->ports[at + 1], &b->ports[at],
            (b->n_ports - at) * sizeof(b->ports[0]));
    b->ports[at] = p;
    b->n_ports++;
    *port = p;
    return 0;
}

int
conf_del_bridge(struct conf *c, const char *name, struct err *err)
{
    struct conf_bridge *b;
    bool found;
    uint32_t at;
    int rc = conf_need_bridge(c, name, &b, err);

    if (rc)
        return rc;
    at = bridge_index(c, name, &found);
    bridge_destroy(b);
    c->n_bridges--;
    memmove(&c->bridges[at], &c->bridges[at + 1],
            (c->n_bridges - at) * sizeof(c->bridges[0]));
    return 0;
}

int
conf_del_port(struct conf *c, const char *name, struct err *err)
{
    struct conf_bridge *b;
    struct conf_port *p;
    bool found;
    uint32_t at;
    int rc = conf_need_port(c, name, &b, &p, err);

    if (rc)
        return rc;
    at = port_index(b, name, &found);
    free(p);
    b->n_ports--;
    memmove(&b->ports[at], &b->ports[at + 1],
            (b->n_ports - at) * sizeof(b->ports[0]));
    return 0;
}

struct conf_bridge *
conf_find_bridge(const struct conf *c, const char *name)
{
    bool found;
    uint32_t at = bridge_index(c, name, &found);

    return found ? c->bridges[at] : NULL;
}

struct conf_port *
conf_bridge_find_port(const struct conf_bridge *b, const char *name)
{
    bool found;
    uint32_t at = port_index(b, name, &found);

    return found ? b->ports[at] : NULL;
}

struct conf_port *
conf_find_port(const struct conf *c, const char *name,
               struct conf_bridge **bridge)
{
    uint32_t i;

    for (i = 0; i < c->n_bridges; i++) {
        struct conf_port *p = conf_bridge_find_port(c->bridges[i], name);

        if (!p)
            continue;
        if (bridge)
            *bridge = c->bridges[i];
        return p;
    }
    return NULL;
}

/* Some names for an error: as many as fit, and how many there are beside. */
struct name_list {
    char text[160];     /* "eth0, eth1" */
    const char *near;   /* most like what was asked for, or null */
    size_t used;        /* octets of text */
    size_t left_out;    /* names that did not fit */
    const char **names; /* all of them */
    size_t n;           /* how many */
};

static void
list_add(struct name_list *l, const char *name)
{
    l->names[l->n++] = name;
    if (l->left_out || l->used + strlen(name) + 16 > sizeof(l->text)) {
        l->left_out++;
        return;
    }
    l->used += (size_t) snprintf(l->text + l->used, sizeof(l->text) - l->used,
                                 "%s%s", l->used ? ", " : "", name);
}

static int
not_found(const char *kind, const char *path, const char *name,
          struct name_list *l, struct err *err)
{
    char more[32] = "", text[40];

    conf_plain_text(name, text, sizeof(text));
    l->near = conf_suggest(name, l->names, l->n);
    if (l->left_out)
        snprintf(more, sizeof(more), " and %zu more", l->left_out);
    err_set(err, ENOENT, path, text, l->text,
            "there is no %s \"%s\"%s%s%s%s%s%s", kind, text,
            l->near ? ", did you mean \"" : "", l->near ? l->near : "",
            l->near ? "\"?" : "", l->n ? ": there are " : ": there is none",
            l->text, more);
    free(l->names);
    return ENOENT;
}

int
conf_need_bridge(const struct conf *c, const char *name,
                 struct conf_bridge **bridge, struct err *err)
{
    struct conf_bridge *b = conf_find_bridge(c, name);
    struct name_list list = {.n = 0};
    char path[CONF_PATH_SIZE];
    uint32_t i;

    if (b) {
        *bridge = b;
        return 0;
    }
    list.names = conf_alloc(CONF_MAX_BRIDGES, sizeof(list.names[0]));
    for (i = 0; i < c->n_bridges; i++)
        list_add(&list, c->bridges[i]->name);
    conf_path_join(path, "/bridges", name);
    return not_found("bridge", path, name, &list, err);
}

int
conf_need_port(const struct conf *c, const char *name,
               struct conf_bridge **bridge, struct conf_port **port,
               struct err *err)
{
    struct conf_port *p = conf_find_port(c, name, bridge);
    struct name_list list = {.n = 0};
    uint32_t i, j;

    if (p) {
        *port = p;
        return 0;
    }
    list.names = conf_alloc((size_t) CONF_MAX_BRIDGES * DP_MAX_PORTS,
                            sizeof(list.names[0]));
    for (i = 0; i < c->n_bridges; i++)
        for (j = 0; j < c->bridges[i]->n_ports; j++)
            list_add(&list, c->bridges[i]->ports[j]->name);
    return not_found("port", NULL, name, &list, err);
}
