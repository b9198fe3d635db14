/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of flows, groups and meters that come back after a restart.  They are
 * not in the model: there may be very many, and they change by themselves.
 * See store.h.  Control thread.
 */
#include "db/store.h"
#include "db/store_int.h"

#include <errno.h>

static const char *const kinds[] = {"group", "meter", "flow"};

int
store_flows_load(struct store *s, const char *bridge, store_flow_fn *fn,
                 void *arg, struct err *err)
{
    static const char sql[] =
        "SELECT kind, text FROM openflow_entry WHERE bridge = ? ORDER BY seq";
    sqlite3_stmt *stmt;
    int rc = sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL);

    if (rc != SQLITE_OK)
        return store_fail(s, rc, "cannot read the flows", err);
    sqlite3_bind_text(stmt, 1, bridge, -1, SQLITE_STATIC);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *kind = store_text_at(stmt, 0);

        for (int k = 0; k < STORE_N_FLOW_KINDS; k++)
            if (kind[0] == kinds[k][0])
                fn(arg, (enum store_flow_kind) k, store_text_at(stmt, 1));
    }
    sqlite3_finalize(stmt);
    return rc == SQLITE_DONE ? 0
                             : store_fail(s, rc, "cannot read the flows", err);
}

/* The new rows, beside the old ones. */
static int
put_new(struct store *s, const struct store_flow *rows, size_t n,
        struct err *err)
{
    static const char sql[] =
        "INSERT OR REPLACE INTO temp.entry_now (kind, text, seq) "
        "VALUES (?, ?, ?)";
    sqlite3_stmt *stmt;
    int rc = sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL);

    if (rc != SQLITE_OK)
        return store_fail(s, rc, "cannot store the flows", err);
    rc = SQLITE_DONE;
    for (size_t i = 0; i < n && rc == SQLITE_DONE; i++) {
        sqlite3_bind_text(stmt, 1, kinds[rows[i].kind], -1, SQLITE_STATIC);
        sqlite3_bind_text(stmt, 2, rows[i].text, -1, SQLITE_STATIC);
        sqlite3_bind_int64(stmt, 3, (sqlite3_int64) i);
        rc = sqlite3_step(stmt);
        sqlite3_reset(stmt);
    }
    sqlite3_finalize(stmt);
    return rc == SQLITE_DONE
               ? 0
               : store_fail(s, rc, "cannot store the flows", err);
}

/* Rows that stay are not touched, but for their place in the order. */
static int
merge(struct store *s, const char *bridge, struct err *err)
{
    int rc = store_run(s, err,
                       "DELETE FROM openflow_entry WHERE bridge = ? AND "
                       "NOT EXISTS (SELECT 1 FROM temp.entry_now n WHERE "
                       "n.kind = openflow_entry.kind AND "
                       "n.text = openflow_entry.text)",
                       "s", bridge);

    if (rc)
        return rc;
    return store_run(
        s, err,
        "INSERT INTO openflow_entry (bridge, kind, text, seq) "
        "SELECT ?, kind, text, seq FROM temp.entry_now WHERE true "
        "ON CONFLICT (bridge, kind, text) DO UPDATE SET seq = excluded.seq "
        "WHERE seq <> excluded.seq",
        "s", bridge);
}

int
store_flows_save(struct store *s, const char *bridge,
                 const struct store_flow *rows, size_t n, struct err *err)
{
    int rc = store_exec(s,
                        "CREATE TEMP TABLE IF NOT EXISTS entry_now ("
                        "kind TEXT NOT NULL, text TEXT NOT NULL, "
                        "seq INTEGER NOT NULL, PRIMARY KEY (kind, text)) "
                        "WITHOUT ROWID",
                        "cannot store the flows", err);

    if (rc)
        return rc;
    rc = store_begin(s, err);
    if (rc)
        return rc;
    rc = store_exec(s, "DELETE FROM temp.entry_now", "cannot store the flows",
                    err);
    if (!rc)
        rc = put_new(s, rows, n, err);
    if (!rc)
        rc = merge(s, bridge, err);
    return store_end(s, rc, err);
}
