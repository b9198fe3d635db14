/* SPDX-License-Identifier: Apache-2.0
 *
 * The model to rows: one transaction that takes away the ports that went or
 * changed, and puts in those that came or changed.  See store.h.  Control
 * thread.
 */
#include "db/store.h"
#include "db/store_int.h"

#include <errno.h>
#include <string.h>

/* A port is written whole or not at all: whatever differs, its rows go and
 * come again.  A changed slot is a changed port here. */
static bool
port_is_stored(const struct conf *stored, const struct conf_bridge *b,
               const struct conf_port *p)
{
    const struct conf_bridge *in = conf_find_bridge(stored, b->name);
    const struct conf_port *was =
        in ? conf_bridge_find_port(in, p->name) : NULL;

    return was && was->slot == p->slot && conf_port_equal(was, p);
}

static int
delete_old(const struct store *s, const struct conf *from,
           const struct conf *to, struct err *err)
{
    uint32_t i, j;
    int rc = 0;

    for (i = 0; i < from->n_bridges && !rc; i++) {
        const struct conf_bridge *b = from->bridges[i];

        if (!conf_find_bridge(to, b->name))
            rc = store_run(s, err, "DELETE FROM bridge WHERE name = ?", "s",
                           b->name);
        for (j = 0; j < b->n_ports && !rc; j++)
            if (!port_is_stored(to, b, b->ports[j]))
                rc = store_run(s, err, "DELETE FROM port WHERE name = ?", "s",
                               b->ports[j]->name);
    }
    return rc;
}

static int
put_map(const struct store *s, const char *sql, const char *owner,
        const struct conf_map *map, struct err *err)
{
    int rc = 0, i, j;

    for (i = 0; i < STORE_N_MAPS && !rc; i++) {
        const struct store_map *m = &store_maps[i];
        const uint8_t *codes = (const uint8_t *) map + m->offset;

        for (j = 0; (map->given & m->given) && j < m->n && !rc; j++)
            rc = store_run(s, err, sql, "ssii", owner, m->kind, (int64_t) j,
                           (int64_t) codes[j]);
    }
    return rc;
}

static int
put_bridge_watch(const struct store *s, const struct conf_bridge *b,
                 struct err *err)
{
    return store_run(s, err,
                     "INSERT OR REPLACE INTO bridge_watch (bridge,"
                     " watchdog_override, drop_unknown) VALUES (?, ?, ?)",
                     "ssi", b->name, conf_override_name(b->watchdog_override),
                     (int64_t) b->drop_unknown);
}

static int
put_bridge(const struct store *s, const struct conf_bridge *b, struct err *err)
{
    int rc = store_run(
        s, err,
        "INSERT INTO bridge (name, memory_bytes, max_frame_bytes,"
        " mac_ageing_s, forward_reserved, trust, default_priority,"
        " cell_bytes, headroom_pool_bytes, headroom_ratio, priority_tags,"
        " local) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT "
        "(name) "
        "DO UPDATE SET"
        " memory_bytes = excluded.memory_bytes,"
        " max_frame_bytes = excluded.max_frame_bytes,"
        " mac_ageing_s = excluded.mac_ageing_s,"
        " forward_reserved = excluded.forward_reserved,"
        " trust = excluded.trust,"
        " default_priority = excluded.default_priority,"
        " cell_bytes = excluded.cell_bytes,"
        " headroom_pool_bytes = excluded.headroom_pool_bytes,"
        " headroom_ratio = excluded.headroom_ratio,"
        " priority_tags = excluded.priority_tags,"
        " local = excluded.local",
        "siiiisiiiisi", b->name, (int64_t) b->memory_bytes,
        (int64_t) b->max_frame_bytes, (int64_t) b->mac_ageing_s,
        (int64_t) b->forward_reserved, conf_trust_name(b->map.trust),
        (int64_t) b->map.default_prio, (int64_t) b->cell_bytes,
        (int64_t) b->headroom_pool_bytes, (int64_t) b->headroom_ratio,
        conf_prio_tags_name(b->map.prio_tags), (int64_t) b->local);

    if (!rc)
        rc = put_bridge_watch(s, b, err);
    if (!rc)
        rc = store_put_pools(s, b, err);
    if (!rc)
        rc = store_put_control(s, b, err);
    return rc ? rc
              : put_map(s,
                        "INSERT OR REPLACE INTO bridge_map"
                        " (bridge, kind, from_code, to_code)"
                        " VALUES (?, ?, ?, ?)",
                        b->name, &b->map, err);
}

static int
put_port_watch(const struct store *s, const struct conf_port *p,
               struct err *err)
{
    const struct conf_watchdog *w = &p->watchdog;

    return store_run(s, err,
                     "INSERT INTO port_watch (port, enabled, action,"
                     " detection_ms, restoration_ms, poll_ms, guard_ms,"
                     " guard_release) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                     "sisiiiii", p->name, (int64_t) w->enabled,
                     conf_watchdog_action_name(w->action),
                     (int64_t) w->detection_ms, (int64_t) w->restoration_ms,
                     (int64_t) w->poll_ms, (int64_t) p->guard.time_ms,
                     (int64_t) p->guard.release);
}

static int
put_trunks(const struct store *s, const struct conf_port *p, struct err *err)
{
    uint32_t i;
    int rc = 0;

    for (i = 0; i < p->n_trunks && !rc; i++)
        rc = store_run(s, err,
                       "INSERT INTO port_trunk (port, vid) VALUES (?, ?)",
                       "si", p->name, (int64_t) p->trunks[i]);
    return rc;
}

static int
put_port(const struct store *s, const struct conf_bridge *b,
         const struct conf_port *p, struct err *err)
{
    const struct conf_map *m = &p->map;
    bool own_trust = m->given & CONF_MAP_TRUST;
    bool own_prio = m->given & CONF_MAP_DEFAULT;
    bool own_tags = m->given & CONF_MAP_PRIO_TAGS;
    int rc = store_run(
        s, err,
        "INSERT INTO port (name, bridge, type, slot, mac, rate_bps,"
        " cable_delay_ns, ring_bytes, vlan_mode, tag, pfc_priorities,"
        " pfc_asymmetric, pfc_quanta, pause_rx, pause_tx, trust,"
        " default_priority, priority_tags, cable_emulated, cell_bytes,"
        " ofport, backpressure)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
        " ?, ?)",
        "sssimiiisiiiiiisnsiiii", p->name, b->name, p->cls->type,
        (int64_t) p->slot, p->have_mac ? p->mac : NULL, (int64_t) p->rate_bps,
        (int64_t) p->cable_delay_ns, (int64_t) p->ring_bytes,
        conf_vlan_mode_name(p->vlan_mode), (int64_t) p->tag,
        (int64_t) p->pfc_prios, (int64_t) p->pfc_asymmetric,
        (int64_t) p->pfc_quanta, (int64_t) p->pause_rx, (int64_t) p->pause_tx,
        own_trust ? conf_trust_name(m->trust) : NULL,
        own_prio ? (int64_t) m->default_prio : INT64_C(-1),
        own_tags ? conf_prio_tags_name(m->prio_tags) : NULL,
        (int64_t) p->cable_emulated, (int64_t) p->cell_bytes,
        (int64_t) p->ofport, (int64_t) p->backpressure);

    if (!rc)
        rc = put_map(s,
                     "INSERT INTO port_map (port, kind, from_code, to_code)"
                     " VALUES (?, ?, ?, ?)",
                     p->name, m, err);
    if (!rc)
        rc = put_trunks(s, p, err);
    if (!rc)
        rc = put_port_watch(s, p, err);
    if (!rc)
        rc = store_put_groups(s, p, err);
    return rc ? rc : store_put_queues(s, p, err);
}

static int
put_new(const struct store *s, const struct conf *from, const struct conf *to,
        struct err *err)
{
    uint32_t i, j;
    int rc = 0;

    for (i = 0; i < to->n_bridges && !rc; i++) {
        const struct conf_bridge *b = to->bridges[i];
        const struct conf_bridge *was = conf_find_bridge(from, b->name);

        if (!was || !conf_bridge_equal(was, b))
            rc = put_bridge(s, b, err);
        for (j = 0; j < b->n_ports && !rc; j++)
            if (!port_is_stored(from, b, b->ports[j]))
                rc = put_port(s, b, b->ports[j], err);
    }
    return rc;
}

/* What is stored is what we stored: another program that changed it, or a
 * file that is no longer there, must not make an answer untrue. */
static int
check_ours(const struct store *s, struct err *err)
{
    int64_t version;
    int moved = 0;
    int rc = store_query_int(s, "PRAGMA data_version", &version, err);

    if (rc)
        return rc;
    if (version != s->data_version)
        return store_refuse(s, ESTALE,
                            "another program changed it: restart to take "
                            "that over",
                            err);
    if (sqlite3_file_control(s->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) ==
            SQLITE_OK &&
        moved)
        return store_refuse(s, ESTALE,
                            "the file was removed or replaced while in use: "
                            "put it back, or restart",
                            err);
    return 0;
}

int
store_commit(struct store *s, const struct conf *from, const struct conf *to,
             struct err *err)
{
    int rc = store_begin(s, err);

    if (rc)
        return rc;
    rc = check_ours(s, err);
    if (!rc)
        rc = delete_old(s, from, to, err);
    if (!rc)
        rc = put_new(s, from, to, err);
    return store_end(s, rc, err);
}
