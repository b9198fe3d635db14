/* SPDX-License-Identifier: Apache-2.0
 *
 * SONiC's links (PORT, CABLE_LENGTH): see sonic.h.  Control thread.
 *
 * Only on demand: a port here that is shaped to the rate of a switch in
 * hardware needs headroom for that rate, and a cable is emulated.
 */
#include "conf/sonic_int.h"

#include "qos/headroom.h"

#include <stdio.h>
#include <string.h>

#define MAX_MBPS   ((int64_t) (CONF_MAX_RATE / 1000000))
#define MAX_METRES 198000

static const char *const tables[] = {"PORT", "CABLE_LENGTH"};

bool
sonic_is_link(const char *table)
{
    return !strcmp(table, tables[0]) || !strcmp(table, tables[1]);
}

static int
take_speed(struct sonic *s, struct sonic_port *p, int index, const char *path,
           struct json_object *row)
{
    struct json_object *v;
    int64_t mbps = 0;
    int rc;

    (void) index;
    if (!json_object_object_get_ex(row, "speed", &v))
        return 0;
    rc = sonic_number(s, path, "speed", v, 1, MAX_MBPS, &mbps);
    if (!rc)
        json_object_object_add(sonic_port_edit(p), "rate_bps",
                               json_object_new_int64(mbps * 1000000));
    return rc;
}

/* "300m". */
static int
take_length(struct sonic *s, struct sonic_port *p, const char *path,
            struct json_object *v)
{
    const char *text = sonic_text(v);
    int metres = 0, n = 0;

    if (strspn(text, "0123456789") == 0 ||
        sscanf(text, "%6dm%n", &metres, &n) != 1 || !n || text[n] ||
        metres > MAX_METRES)
        return sonic_refuse(s, path, v, "is no length",
                            "0m to 198000m, like 40m");
    json_object_object_add(sonic_port_edit(p), "cable_delay_ns",
                           json_object_new_int64((int64_t) headroom_cable_ns(
                               (uint64_t) metres * 1000)));
    return 0;
}

/* Rows of CABLE_LENGTH are sets of ports, by any name. */
static int
take_cables(struct sonic *s, const char *name, struct json_object *row)
{
    char base[CONF_PATH_SIZE], path[CONF_PATH_SIZE];

    conf_path_join(base, "/CABLE_LENGTH", name);
    json_object_object_foreach (row, port, v) {
        struct sonic_port *p = sonic_find_port(s, port);
        int rc;

        conf_path_join(path, base, port);
        if (!p) {
            sonic_note(s, path, NULL, "bridge %s has no port for %.32s",
                       s->b->name, port);
            continue;
        }
        rc = take_length(s, p, path, v);
        if (rc)
            return rc;
    }
    return 0;
}

int
sonic_links(struct sonic *s)
{
    struct json_object *cables = sonic_table(s, "CABLE_LENGTH");
    int rc;

    for (size_t i = 0; i < 2 && !s->links; i++)
        if (sonic_table(s, tables[i]))
            sonic_note(s, "", tables[i],
                       "rates and cables are taken on demand only (links)");
    if (!s->links)
        return 0;
    rc = sonic_each(s, "PORT", false, take_speed);
    if (!rc && sonic_table(s, "PORT"))
        sonic_note(s, "", "PORT",
                   "speed is taken; what else there is has no counterpart, or "
                   "is the interface's own");
    if (rc || !cables)
        return rc;
    json_object_object_foreach (cables, name, row) {
        if (!rc)
            rc = take_cables(s, name, row);
    }
    return rc;
}
