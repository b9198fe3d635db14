/* SPDX-License-Identifier: Apache-2.0
 *
 * What changed from one configuration to another, leaf by leaf, in the terms
 * of the JSON form: what `apply` reports.  A bridge or port that came or went
 * is one entry with all of it.  Control thread.
 */
#include "conf/conf.h"
#include "conf/field.h"

#include <string.h>

/* Takes over both values; either may be null. */
static void
add_change(struct json_object *diff, const char *path,
           struct json_object *from, struct json_object *to)
{
    struct json_object *o = json_object_new_object();
    const char *op = from && to ? "replace" : to ? "add" : "remove";

    json_object_object_add(o, "path", json_object_new_string(path));
    json_object_object_add(o, "op", json_object_new_string(op));
    if (from)
        json_object_object_add(o, "old", from);
    if (to)
        json_object_object_add(o, "new", to);
    json_object_array_add(diff, o);
}

static void diff_objects(struct json_object *diff, const char *path,
                         struct json_object *from, struct json_object *to);

static void
diff_member(struct json_object *diff, const char *in, const char *key,
            struct json_object *from, struct json_object *to)
{
    char path[CONF_PATH_SIZE];

    conf_path_join(path, in, key);
    if (json_object_is_type(from, json_type_object) ||
        json_object_is_type(to, json_type_object))
        diff_objects(diff, path, from, to);
    else if (!from || !to || !json_object_equal(from, to))
        add_change(diff, path, json_object_get(from), json_object_get(to));
}

/* Of two objects, at most five deep; a null one has no members. */
static void
diff_objects(struct json_object *diff, const char *path,
             struct json_object *from, struct json_object *to)
{
    if (from) {
        json_object_object_foreach (from, key, val) {
            struct json_object *other = NULL;

            if (to)
                json_object_object_get_ex(to, key, &other);
            diff_member(diff, path, key, val, other);
        }
    }
    if (to) {
        json_object_object_foreach (to, added, val) {
            if (!from || !json_object_object_get_ex(from, added, NULL))
                diff_member(diff, path, added, NULL, val);
        }
    }
}

/* Takes over both. */
static void
diff_trees(struct json_object *diff, const char *path,
           struct json_object *from, struct json_object *to)
{
    diff_objects(diff, path, from, to);
    json_object_put(from);
    json_object_put(to);
}

static void
diff_port(struct json_object *diff, const char *path,
          const struct conf_port *from, const struct conf_port *to)
{
    if (conf_port_equal(from, to))
        return;
    if (from->cls != to->cls) {
        /* Another type is another port under the same name. */
        add_change(diff, path, conf_port_to_json(from), conf_port_to_json(to));
        return;
    }
    diff_trees(diff, path, conf_port_json(from, true),
               conf_port_json(to, true));
}

static void
diff_bridge(struct json_object *diff, const struct conf_bridge *from,
            const struct conf_bridge *to)
{
    char path[CONF_PATH_SIZE], ports[CONF_PATH_SIZE];
    uint32_t i = 0, j = 0;

    conf_path_join(path, "/bridges", from->name);
    diff_trees(diff, path, conf_bridge_json(from), conf_bridge_json(to));
    conf_path_join(ports, path, "ports");
    while (i < from->n_ports || j < to->n_ports) {
        const struct conf_port *a = i < from->n_ports ? from->ports[i] : NULL;
        const struct conf_port *b = j < to->n_ports ? to->ports[j] : NULL;
        int order = !a ? 1 : !b ? -1 : strcmp(a->name, b->name);

        conf_path_join(path, ports, order <= 0 ? a->name : b->name);
        if (order < 0)
            add_change(diff, path, conf_port_to_json(a), NULL);
        else if (order > 0)
            add_change(diff, path, NULL, conf_port_to_json(b));
        else
            diff_port(diff, path, a, b);
        i += order <= 0;
        j += order >= 0;
    }
}

struct json_object *
conf_diff(const struct conf *from, const struct conf *to)
{
    struct json_object *diff = json_object_new_array();
    char path[CONF_PATH_SIZE];
    uint32_t i = 0, j = 0;

    while (i < from->n_bridges || j < to->n_bridges) {
        const struct conf_bridge *a =
            i < from->n_bridges ? from->bridges[i] : NULL;
        const struct conf_bridge *b =
            j < to->n_bridges ? to->bridges[j] : NULL;
        int order = !a ? 1 : !b ? -1 : strcmp(a->name, b->name);

        conf_path_join(path, "/bridges", order <= 0 ? a->name : b->name);
        if (order < 0)
            add_change(diff, path, conf_bridge_to_json(a), NULL);
        else if (order > 0)
            add_change(diff, path, NULL, conf_bridge_to_json(b));
        else
            diff_bridge(diff, a, b);
        i += order <= 0;
        j += order >= 0;
    }
    return diff;
}
