/* SPDX-License-Identifier: Apache-2.0
 *
 * SONiC's maps (PORT_QOS_MAP and those that it refers to) and its PFC
 * watchdog: see sonic.h.  A traffic class of SONiC is a priority here.
 * Control thread.
 */
#include "conf/sonic_int.h"

#include <stdio.h>
#include <string.h>

/* A map that a port may have. */
static const struct {
    const char *member; /* of PORT_QOS_MAP */
    const char *table;  /* that it refers to */
    const char *ours;   /* member of "map" */
    int n;              /* codes that are mapped */
    int max;            /* what they may be mapped to */
    int missing;        /* what others map to; -1: themselves, -2: stay */
} kinds[] = {
    {"dscp_to_tc_map", "DSCP_TO_TC_MAP", "dscp_to_priority", 64, 7, 0},
    {"dot1p_to_tc_map", "DOT1P_TO_TC_MAP", "pcp_to_priority", 8, 7, 0},
    {"tc_to_queue_map", "TC_TO_QUEUE_MAP", "priority_to_queue", 8, 7, -1},
    {"tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", "priority_to_group", 8, 7,
     -1},
    {"tc_to_dscp_map", "TC_TO_DSCP_MAP", "priority_to_dscp", 8, 63, -2},
    {"tc_to_dot1p_map", "TC_TO_DOT1P_MAP", "priority_to_pcp", 8, 7, -2},
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* The row of a map as an array; what it does not have is noted. */
static int
read_map(struct sonic *s, size_t k, const char *name, struct json_object *row,
         struct json_object **out)
{
    char base[CONF_PATH_SIZE], path[CONF_PATH_SIZE];
    int64_t to[64], code = 0, value = 0;
    struct json_object *a;
    int i, n_given = 0;

    conf_path_join(base, "", kinds[k].table);
    conf_path_join(path, base, name);
    for (i = 0; i < kinds[k].n; i++)
        to[i] = kinds[k].missing == -1 ? i : kinds[k].missing == -2 ? -1 : 0;
    json_object_object_foreach (row, key, v) {
        struct json_object *from = json_object_new_string(key);
        int rc = sonic_number(s, path, key, from, 0, kinds[k].n - 1, &code);

        json_object_put(from);
        if (!rc)
            rc = sonic_number(s, path, key, v, 0, kinds[k].max, &value);
        if (rc)
            return rc;
        to[code] = value;
        n_given++;
    }
    if (n_given < kinds[k].n && kinds[k].missing != -2)
        sonic_note(s, path, NULL,
                   "%d of %d codes are not there: they map to "
                   "%s",
                   kinds[k].n - n_given, kinds[k].n,
                   kinds[k].missing ? "themselves" : "0");
    a = json_object_new_array();
    for (i = 0; i < kinds[k].n; i++)
        json_object_array_add(a, json_object_new_int64(to[i]));
    *out = a;
    return 0;
}

/* One of the maps, into the "map" of a port or of the bridge. */
static int
take_map(struct sonic *s, size_t k, const char *path, struct json_object *v,
         struct json_object *map)
{
    char name[SONIC_NAME_SIZE];
    struct json_object *row, *a;
    int rc =
        sonic_ref(s, path, kinds[k].member, v, kinds[k].table, name, &row);

    if (!rc)
        rc = read_map(s, k, name, row, &a);
    if (rc)
        return rc;
    json_object_object_add(map, kinds[k].ours, a);
    if (k == 0)
        json_object_object_add(map, "trust", json_object_new_string("dscp"));
    if (k == 1 && !json_object_object_get_ex(map, "trust", NULL))
        json_object_object_add(map, "trust", json_object_new_string("pcp"));
    return 0;
}

static struct json_object *
prios_array(uint8_t mask)
{
    struct json_object *a = json_object_new_array();

    for (int p = 0; p < 8; p++)
        if (mask >> p & 1)
            json_object_array_add(a, json_object_new_int(p));
    return a;
}

/* Which queue a pause stops follows from the priority here. */
static int
check_pfc_map(struct sonic *s, const char *path, struct json_object *v,
              struct sonic_port *p)
{
    char name[SONIC_NAME_SIZE], base[CONF_PATH_SIZE];
    struct json_object *row, *map, *queues = NULL;
    int64_t from = 0, to = 0;
    struct conf_map now;
    int rc = sonic_ref(s, path, "pfc_to_queue_map", v,
                       "MAP_PFC_PRIORITY_TO_QUEUE", name, &row);

    if (rc)
        return rc;
    conf_map_effective(s->b, p->cp, &now);
    map = sonic_sub(sonic_port_edit(p), "map");
    json_object_object_get_ex(map, "priority_to_queue", &queues);
    conf_path_join(base, "/MAP_PFC_PRIORITY_TO_QUEUE", name);
    json_object_object_foreach (row, key, q) {
        struct json_object *k = json_object_new_string(key);
        int ours;

        rc = sonic_number(s, base, key, k, 0, 7, &from);
        json_object_put(k);
        if (!rc)
            rc = sonic_number(s, base, key, q, 0, 7, &to);
        if (rc)
            return rc;
        ours = queues ? json_object_get_int(
                            json_object_array_get_idx(queues, (size_t) from))
                      : now.prio_to_queue[from];
        if (ours != to)
            sonic_note(s, base, key,
                       "a pause of %d stops the queue that priority %d maps "
                       "to, which is %d on port %s",
                       (int) from, (int) from, ours, p->cp->name);
    }
    return 0;
}

static int
take_member(struct sonic *s, struct sonic_port *p, const char *path,
            const char *key, struct json_object *v)
{
    struct json_object *pfc;
    int rc;

    for (size_t k = 0; k < N_KINDS; k++)
        if (!strcmp(key, kinds[k].member))
            return take_map(s, k, path, v,
                            sonic_sub(sonic_port_edit(p), "map"));
    if (!strcmp(key, "pfc_enable")) {
        rc = sonic_prios(s, path, key, v, &p->pfc);
        pfc = sonic_sub(sonic_port_edit(p), "pfc");
        if (!rc)
            json_object_object_add(pfc, "priorities", prios_array(p->pfc));
        return rc;
    }
    if (!strcmp(key, "pfcwd_sw_enable")) {
        p->has_wd = true;
        return sonic_prios(s, path, key, v, &p->wd);
    }
    if (strcmp(key, "pfc_to_queue_map"))
        sonic_note(s, path, key, "has no counterpart");
    return 0;
}

static int
take_port(struct sonic *s, struct sonic_port *p, int index, const char *path,
          struct json_object *row)
{
    struct json_object *v;
    int rc = 0;

    (void) index;
    json_object_object_foreach (row, key, val) {
        if (!rc)
            rc = take_member(s, p, path, key, val);
    }
    if (!rc && json_object_object_get_ex(row, "pfc_to_queue_map", &v))
        rc = check_pfc_map(s, path, v, p);
    if (!rc && p->has_wd && p->wd != p->pfc)
        sonic_note(s, path, "pfcwd_sw_enable",
                   "the watchdog here watches every priority of pfc_enable");
    return rc;
}

/* What holds for all ports that say nothing: the bridge's. */
static int
take_global(struct sonic *s)
{
    struct json_object *t = sonic_table(s, "PORT_QOS_MAP"), *row = NULL;
    int rc = 0;

    if (t)
        json_object_object_get_ex(t, "global", &row);
    if (!row)
        return 0;
    json_object_object_foreach (row, key, v) {
        size_t k = 0;

        while (k < N_KINDS && strcmp(key, kinds[k].member))
            k++;
        if (k == N_KINDS)
            sonic_note(s, "/PORT_QOS_MAP/global", key, "has no counterpart");
        else if (!rc)
            rc = take_map(s, k, "/PORT_QOS_MAP/global", v,
                          sonic_sub(s->bridge, "map"));
    }
    return rc;
}

int
sonic_maps(struct sonic *s)
{
    int rc = take_global(s);

    return rc ? rc : sonic_each(s, "PORT_QOS_MAP", false, take_port);
}

/* --- PFC_WD -------------------------------------------------------------- */

static int
take_watchdog(struct sonic *s, struct sonic_port *p, int index,
              const char *path, struct json_object *row)
{
    static const char actions[] = "drop, forward, alert";
    struct json_object *wd = sonic_sub(sonic_port_edit(p), "watchdog");
    char at[CONF_PATH_SIZE];
    int64_t ms = 0;
    int rc = 0;

    (void) index;
    p->has_watchdog = true;
    json_object_object_add(wd, "enabled", json_object_new_boolean(true));
    json_object_object_foreach (row, key, v) {
        const char *text = sonic_text(v);

        if (rc)
            break;
        if (!strcmp(key, "action")) {
            conf_path_join(at, path, key);
            if (strcmp(text, "drop") && strcmp(text, "forward") &&
                strcmp(text, "alert"))
                rc = sonic_refuse(s, at, v, "is no action", actions);
            json_object_object_add(wd, "action", json_object_get(v));
        } else if (!strcmp(key, "detection_time")) {
            rc = sonic_number(s, path, key, v, 100, 5000, &ms);
            json_object_object_add(wd, "detection_ms",
                                   json_object_new_int64(ms));
        } else if (!strcmp(key, "restoration_time")) {
            rc = sonic_number(s, path, key, v, 100, 60000, &ms);
            json_object_object_add(wd, "restoration_ms",
                                   json_object_new_int64(ms));
        } else {
            sonic_note(s, path, key, "has no counterpart");
        }
    }
    return rc;
}

/* There it discards what is lossless at once and everywhere. */
static int
take_red_switch(struct sonic *s, struct json_object *v)
{
    static const char path[] = "/PFC_WD/GLOBAL/BIG_RED_SWITCH";
    const char *text = sonic_text(v);
    bool on = !strcmp(text, "enable");

    if (!on && strcmp(text, "disable"))
        return sonic_refuse(s, path, v, "is no switch", "enable, disable");
    json_object_object_add(s->bridge, "watchdog_override",
                           json_object_new_string(on ? "drop" : "off"));
    if (on)
        sonic_note(s, path, NULL,
                   "the override is drop, on every port, but in storms only");
    return 0;
}

int
sonic_watchdog(struct sonic *s)
{
    struct json_object *t = sonic_table(s, "PFC_WD"), *row = NULL;
    int64_t ms = 0;
    int rc = sonic_each(s, "PFC_WD", false, take_watchdog);

    if (t)
        json_object_object_get_ex(t, "GLOBAL", &row);
    if (!row || rc)
        return rc;
    json_object_object_foreach (row, key, v) {
        if (rc)
            break;
        if (!strcmp(key, "POLL_INTERVAL"))
            rc = sonic_number(s, "/PFC_WD/GLOBAL", key, v, 100, 1000, &ms);
        else if (!strcmp(key, "BIG_RED_SWITCH"))
            rc = take_red_switch(s, v);
        else
            sonic_note(s, "/PFC_WD/GLOBAL", key, "has no counterpart");
    }
    for (uint32_t i = 0; ms && !rc && i < s->b->n_ports; i++)
        if (s->port[i].has_watchdog)
            json_object_object_add(sonic_sub(sonic_port_edit(&s->port[i]),
                                             "watchdog"),
                                   "poll_ms", json_object_new_int64(ms));
    return rc;
}
