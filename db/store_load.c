/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows to the model.  What is loaded is validated as what is applied: a
 * database that was edited by hand is refused by the same words.  See store.h.
 * Control thread.
 */
#include "db/store.h"
#include "db/store_int.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The integrity check has held every row to the constraints of the schema, so
 * small numbers fit their members.  What the constraints cannot vouch for (a
 * REAL, an unknown word) is refused rather than bent. */
int
store_refuse_row(const struct store *s, const char *table, const char *key,
                 const char *what, struct err *err)
{
    char reason[160];

    snprintf(reason, sizeof(reason), "table %s, row \"%.40s\": %.60s", table,
             key, what);
    return store_refuse(s, EUCLEAN, reason, err);
}

const char *
store_text_at(sqlite3_stmt *stmt, int column)
{
    const char *text = (const char *) sqlite3_column_text(stmt, column);

    return text ? text : "";
}

/* Whether the columns from `first` on are all integers below 2^53. */
bool
store_all_integers(sqlite3_stmt *stmt, int first, int n)
{
    int i;

    for (i = first; i < first + n; i++)
        if (sqlite3_column_type(stmt, i) != SQLITE_INTEGER ||
            sqlite3_column_int64(stmt, i) < 0 ||
            sqlite3_column_int64(stmt, i) >> 53)
            return false;
    return true;
}

uint64_t
store_u64_at(sqlite3_stmt *stmt, int column)
{
    return (uint64_t) sqlite3_column_int64(stmt, column);
}

/* An integer that does not fit its member becomes the largest that does,
 * which validation refuses, or allows. */
static uint32_t
u32_at(sqlite3_stmt *stmt, int column)
{
    uint64_t v = store_u64_at(stmt, column);

    return v > UINT32_MAX ? UINT32_MAX : (uint32_t) v;
}

static int
load_bridge(const struct store *s, struct conf *c, sqlite3_stmt *stmt,
            struct err *err)
{
    struct conf_bridge *b;
    int rc = conf_add_bridge(c, store_text_at(stmt, 0), &b, err);

    if (rc)
        return rc;
    if (!store_all_integers(stmt, 1, 4) || !store_all_integers(stmt, 6, 1) ||
        !store_all_integers(stmt, 8, 4))
        return store_refuse_row(s, "bridge", b->name, "has no integer", err);
    b->memory_bytes = store_u64_at(stmt, 1);
    b->max_frame_bytes = u32_at(stmt, 2);
    b->mac_ageing_s = u32_at(stmt, 3);
    b->forward_reserved = store_u64_at(stmt, 4) != 0;
    if (!conf_trust_find(store_text_at(stmt, 5), &b->map.trust))
        return store_refuse_row(s, "bridge", b->name, "trust is unknown", err);
    b->map.default_prio = (uint8_t) u32_at(stmt, 6);
    if (!conf_prio_tags_find(store_text_at(stmt, 7), &b->map.prio_tags))
        return store_refuse_row(s, "bridge", b->name,
                                "priority_tags is unknown", err);
    b->cell_bytes = u32_at(stmt, 8);
    b->headroom_pool_bytes = store_u64_at(stmt, 9);
    b->headroom_ratio = u32_at(stmt, 10);
    b->local = store_u64_at(stmt, 11) != 0;
    return 0;
}

static int
load_map_row(const struct store *s, struct conf_map *map, const char *owner,
             sqlite3_stmt *stmt, struct err *err)
{
    const char *kind = store_text_at(stmt, 1);
    int i;

    if (!store_all_integers(stmt, 2, 2))
        return store_refuse_row(s, "map", owner, "has no code", err);
    for (i = 0; i < STORE_N_MAPS; i++) {
        const struct store_map *m = &store_maps[i];

        if (strcmp(m->kind, kind))
            continue;
        if (store_u64_at(stmt, 2) >= m->n)
            return store_refuse_row(s, "map", owner, "has no such code", err);
        ((uint8_t *) map)[m->offset + store_u64_at(stmt, 2)] =
            store_u64_at(stmt, 3) > 255 ? 255
                                        : (uint8_t) store_u64_at(stmt, 3);
        map->given |= m->given;
        return 0;
    }
    return store_refuse_row(s, "map", owner, "kind is unknown", err);
}

static int
load_bridge_map(const struct store *s, struct conf *c, sqlite3_stmt *stmt,
                struct err *err)
{
    struct conf_bridge *b;
    int rc = conf_need_bridge(c, store_text_at(stmt, 0), &b, err);

    return rc ? rc : load_map_row(s, &b->map, b->name, stmt, err);
}

static int
load_port_words(const struct store *s, struct conf_port *p, sqlite3_stmt *stmt,
                struct err *err)
{
    if (!conf_vlan_mode_find(store_text_at(stmt, 3), &p->vlan_mode))
        return store_refuse_row(s, "port", p->name, "vlan_mode is unknown",
                                err);
    if (sqlite3_column_type(stmt, 17) != SQLITE_NULL) {
        if (!conf_prio_tags_find(store_text_at(stmt, 17), &p->map.prio_tags))
            return store_refuse_row(s, "port", p->name,
                                    "priority_tags is unknown", err);
        p->map.given |= CONF_MAP_PRIO_TAGS;
    }
    if (sqlite3_column_type(stmt, 4) == SQLITE_NULL)
        return 0;
    if (!conf_trust_find(store_text_at(stmt, 4), &p->map.trust))
        return store_refuse_row(s, "port", p->name, "trust is unknown", err);
    p->map.given |= CONF_MAP_TRUST;
    return 0;
}

static int
load_port(const struct store *s, struct conf *c, sqlite3_stmt *stmt,
          struct err *err)
{
    struct conf_bridge *b;
    struct conf_port *p;
    int rc = conf_need_bridge(c, store_text_at(stmt, 1), &b, err);

    if (!rc)
        rc = conf_add_port(c, b, store_text_at(stmt, 0),
                           store_text_at(stmt, 2), &p, err);
    if (!rc)
        rc = load_port_words(s, p, stmt, err);
    if (rc)
        return rc;
    if (!store_all_integers(stmt, 7, 10) || !store_all_integers(stmt, 18, 4))
        return store_refuse_row(s, "port", p->name, "has no integer", err);
    if (sqlite3_column_type(stmt, 5) != SQLITE_NULL) {
        if (sqlite3_column_bytes(stmt, 5) != 6)
            return store_refuse_row(s, "port", p->name, "mac is not one", err);
        memcpy(p->mac, sqlite3_column_blob(stmt, 5), 6);
        p->have_mac = true;
    }
    if (sqlite3_column_type(stmt, 6) != SQLITE_NULL) {
        if (!store_all_integers(stmt, 6, 1))
            return store_refuse_row(s, "port", p->name, "has no integer", err);
        p->map.default_prio = (uint8_t) u32_at(stmt, 6);
        p->map.given |= CONF_MAP_DEFAULT;
    }
    p->slot = (uint16_t) u32_at(stmt, 7);
    p->rate_bps = store_u64_at(stmt, 8);
    p->cable_delay_ns = store_u64_at(stmt, 9);
    p->ring_bytes = u32_at(stmt, 10);
    p->tag = (uint16_t) u32_at(stmt, 11);
    p->pfc_prios = (uint8_t) u32_at(stmt, 12);
    p->pfc_asymmetric = store_u64_at(stmt, 13) != 0;
    p->pfc_quanta = (uint16_t) u32_at(stmt, 14);
    p->pause_rx = store_u64_at(stmt, 15) != 0;
    p->pause_tx = store_u64_at(stmt, 16) != 0;
    p->cable_emulated = store_u64_at(stmt, 18) != 0;
    p->cell_bytes = u32_at(stmt, 19);
    p->ofport = u32_at(stmt, 20);
    p->ofport_auto = false;
    p->backpressure = store_u64_at(stmt, 21) != 0;
    return 0;
}

static int
load_port_map(const struct store *s, struct conf *c, sqlite3_stmt *stmt,
              struct err *err)
{
    struct conf_port *p;
    int rc = conf_need_port(c, store_text_at(stmt, 0), NULL, &p, err);

    return rc ? rc : load_map_row(s, &p->map, p->name, stmt, err);
}

static int
load_trunk(const struct store *s, struct conf *c, sqlite3_stmt *stmt,
           struct err *err)
{
    struct conf_port *p;
    int rc = conf_need_port(c, store_text_at(stmt, 0), NULL, &p, err);

    if (rc)
        return rc;
    if (!store_all_integers(stmt, 1, 1) || p->n_trunks > CONF_MAX_VID)
        return store_refuse_row(s, "port_trunk", p->name, "has no VLAN id",
                                err);
    p->trunks[p->n_trunks++] = (uint16_t) u32_at(stmt, 1);
    return 0;
}

static int
load_bridge_watch(const struct store *s, struct conf *c, sqlite3_stmt *stmt,
                  struct err *err)
{
    struct conf_bridge *b;
    int rc = conf_need_bridge(c, store_text_at(stmt, 0), &b, err);

    if (rc)
        return rc;
    if (!conf_override_find(store_text_at(stmt, 1), &b->watchdog_override))
        return store_refuse_row(s, "bridge_watch", b->name,
                                "override is unknown", err);
    if (!store_all_integers(stmt, 2, 1))
        return store_refuse_row(s, "bridge_watch", b->name, "has no integer",
                                err);
    b->drop_unknown = store_u64_at(stmt, 2) != 0;
    return 0;
}

static int
load_port_watch(const struct store *s, struct conf *c, sqlite3_stmt *stmt,
                struct err *err)
{
    struct conf_port *p;
    int rc = conf_need_port(c, store_text_at(stmt, 0), NULL, &p, err);

    if (rc)
        return rc;
    if (!conf_watchdog_action_find(store_text_at(stmt, 1),
                                   &p->watchdog.action))
        return store_refuse_row(s, "port_watch", p->name, "action is unknown",
                                err);
    if (!store_all_integers(stmt, 2, 6))
        return store_refuse_row(s, "port_watch", p->name, "has no integer",
                                err);
    p->watchdog.enabled = store_u64_at(stmt, 2) != 0;
    p->watchdog.detection_ms = u32_at(stmt, 3);
    p->watchdog.restoration_ms = u32_at(stmt, 4);
    p->watchdog.poll_ms = u32_at(stmt, 5);
    p->guard.time_ms = u32_at(stmt, 6);
    p->guard.release = store_u64_at(stmt, 7) != 0;
    return 0;
}

static const struct {
    const char *sql;  /* reads one table, columns as the function wants them */
    store_row_fn *fn; /* takes a row */
} tables[] = {
    {"SELECT name, memory_bytes, max_frame_bytes, mac_ageing_s,"
     " forward_reserved, trust, default_priority, priority_tags, cell_bytes,"
     " headroom_pool_bytes, headroom_ratio, local FROM bridge",
     load_bridge},
    {"SELECT bridge, name, size_bytes, dynamic FROM buffer_pool",
     store_load_pool},
    {"SELECT bridge, name, pool, reserved_bytes, xoff_bytes, xon_bytes,"
     " xon_offset_bytes, headroom_bytes, alpha FROM buffer_profile",
     store_load_profile},
    {"SELECT bridge, kind, from_code, to_code FROM bridge_map",
     load_bridge_map},
    {"SELECT name, bridge, type, vlan_mode, trust, mac, default_priority,"
     " slot, rate_bps, cable_delay_ns, ring_bytes, tag, pfc_priorities,"
     " pfc_asymmetric, pfc_quanta, pause_rx, pause_tx, priority_tags,"
     " cable_emulated, cell_bytes, ofport, backpressure FROM port",
     load_port},
    {"SELECT port, kind, from_code, to_code FROM port_map", load_port_map},
    {"SELECT port, vid FROM port_trunk ORDER BY port, vid", load_trunk},
    {"SELECT port, pg, profile, reserved_bytes, xoff_bytes, xon_bytes,"
     " xon_offset_bytes, headroom_bytes, alpha FROM port_group",
     store_load_group},
    {"SELECT port, queue, ets, weight, max_rate_bps, limit_bytes, profile,"
     " alpha, wred_min_bytes, wred_max_bytes, wred_percent, ecn"
     " FROM port_queue",
     store_load_queue},
    {"SELECT bridge, watchdog_override, drop_unknown FROM bridge_watch",
     load_bridge_watch},
    {"SELECT bridge, fail_mode, datapath_id, management, private_key,"
     " certificate, ca_certificate, max_flows FROM bridge_openflow",
     store_load_openflow},
    {"SELECT bridge, target, probe_ms, max_backoff_ms FROM controller",
     store_load_controller},
    {"SELECT port, action, enabled, detection_ms, restoration_ms, poll_ms,"
     " guard_ms, guard_release FROM port_watch",
     load_port_watch},
};

static int
load_table(const struct store *s, struct conf *c, const char *sql,
           store_row_fn *fn, struct err *err)
{
    sqlite3_stmt *stmt;
    int rc = sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL), failed = 0;

    if (rc != SQLITE_OK)
        return store_fail(s, rc, "cannot read it", err);
    while (!failed && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
        failed = fn(s, c, stmt, err);
    if (!failed && rc != SQLITE_DONE)
        failed = store_fail(s, rc, "cannot read it", err);
    sqlite3_finalize(stmt);
    return failed;
}

int
store_load(struct store *s, struct conf **conf, struct err *err)
{
    struct conf *c = conf_create();
    size_t i;
    int rc = store_exec(s, "BEGIN", "cannot read it", err);

    for (i = 0; i < sizeof(tables) / sizeof(tables[0]) && !rc; i++)
        rc = load_table(s, c, tables[i].sql, tables[i].fn, err);
    if (!rc)
        rc = store_query_int(s, "PRAGMA data_version", &s->data_version, err);
    if (!sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    if (!rc)
        rc = conf_validate(c, err);
    if (rc) {
        conf_destroy(c);
        return rc;
    }
    *conf = c;
    return 0;
}
