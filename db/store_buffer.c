/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of buffers: pools, profiles, groups and queues, both ways.  See
 * store_int.h.  Control thread.
 */
#include "db/store.h"
#include "db/store_int.h"

#include <stdio.h>
#include <string.h>

/* --- rows to the model --------------------------------------------------- */

static int
load_name(const struct store *s, sqlite3_stmt *stmt, int column,
          char name[CONF_LABEL_MAX + 1], const char *table, const char *key,
          struct err *err)
{
    const char *text = store_text_at(stmt, column);

    if (strlen(text) > CONF_LABEL_MAX)
        return store_refuse_row(s, table, key, "has too long a name", err);
    memset(name, 0, CONF_LABEL_MAX + 1);
    strcpy(name, text);
    return 0;
}

static int
load_alpha(const struct store *s, sqlite3_stmt *stmt, int column,
           int8_t *alpha, const char *table, const char *key, struct err *err)
{
    int64_t v = sqlite3_column_int64(stmt, column);

    *alpha = BUF_ALPHA_NONE;
    if (sqlite3_column_type(stmt, column) == SQLITE_NULL)
        return 0;
    if (sqlite3_column_type(stmt, column) != SQLITE_INTEGER ||
        v < BUF_ALPHA_MIN || v > BUF_ALPHA_MAX)
        return store_refuse_row(s, table, key, "alpha is not one", err);
    *alpha = (int8_t) v;
    return 0;
}

/* From column 3 on. */
static int
load_thresholds(const struct store *s, sqlite3_stmt *stmt,
                struct conf_group *g, const char *table, const char *key,
                struct err *err)
{
    bool automatic = sqlite3_column_type(stmt, 7) == SQLITE_NULL;

    if (!store_all_integers(stmt, 3, automatic ? 4 : 5))
        return store_refuse_row(s, table, key, "has no integer", err);
    g->reserved_bytes = store_u64_at(stmt, 3);
    g->xoff_bytes = store_u64_at(stmt, 4);
    g->xon_bytes = store_u64_at(stmt, 5);
    g->xon_offset_bytes = store_u64_at(stmt, 6);
    g->headroom_bytes = automatic ? CONF_HEADROOM_AUTO : store_u64_at(stmt, 7);
    return load_alpha(s, stmt, 8, &g->alpha, table, key, err);
}

int
store_load_pool(const struct store *s, struct conf *c, sqlite3_stmt *stmt,
                struct err *err)
{
    struct conf_bridge *b;
    struct conf_pool *pool;
    int rc = conf_need_bridge(c, store_text_at(stmt, 0), &b, err);

    if (!rc)
        rc = conf_add_pool(b, store_text_at(stmt, 1), &pool, err);
    if (rc)
        return rc;
    if (!store_all_integers(stmt, 2, 2))
        return store_refuse_row(s, "buffer_pool", pool->name, "has no integer",
                                err);
    pool->size_bytes = store_u64_at(stmt, 2);
    pool->dynamic = store_u64_at(stmt, 3) != 0;
    return 0;
}

int
store_load_profile(const struct store *s, struct conf *c, sqlite3_stmt *stmt,
                   struct err *err)
{
    struct conf_bridge *b;
    struct conf_profile *prof;
    int rc = conf_need_bridge(c, store_text_at(stmt, 0), &b, err);

    if (!rc)
        rc = conf_add_profile(b, store_text_at(stmt, 1), &prof, err);
    if (!rc)
        rc = load_name(s, stmt, 2, prof->pool, "buffer_profile", prof->name,
                       err);
    return rc ? rc
              : load_thresholds(s, stmt, &prof->t, "buffer_profile",
                                prof->name, err);
}

int
store_load_group(const struct store *s, struct conf *c, sqlite3_stmt *stmt,
                 struct err *err)
{
    struct conf_group *g;
    struct conf_port *p;
    int rc = conf_need_port(c, store_text_at(stmt, 0), NULL, &p, err);

    if (rc)
        return rc;
    if (!store_all_integers(stmt, 1, 1) || store_u64_at(stmt, 1) >= N_PG)
        return store_refuse_row(s, "port_group", p->name, "has no integer",
                                err);
    g = &p->group[store_u64_at(stmt, 1)];
    rc = load_name(s, stmt, 2, g->profile, "port_group", p->name, err);
    return rc ? rc : load_thresholds(s, stmt, g, "port_group", p->name, err);
}

static uint8_t
small_at(sqlite3_stmt *stmt, int column)
{
    uint64_t v = store_u64_at(stmt, column);

    return v > UINT8_MAX ? UINT8_MAX : (uint8_t) v;
}

int
store_load_queue(const struct store *s, struct conf *c, sqlite3_stmt *stmt,
                 struct err *err)
{
    struct conf_queue *q;
    struct conf_port *p;
    int rc = conf_need_port(c, store_text_at(stmt, 0), NULL, &p, err);

    if (rc)
        return rc;
    if (!store_all_integers(stmt, 1, 5) || !store_all_integers(stmt, 8, 4) ||
        store_u64_at(stmt, 1) >= N_QUEUE)
        return store_refuse_row(s, "port_queue", p->name, "has no integer",
                                err);
    q = &p->queue[store_u64_at(stmt, 1)];
    q->ets = store_u64_at(stmt, 2) != 0;
    q->weight = small_at(stmt, 3);
    q->max_rate_bps = store_u64_at(stmt, 4);
    q->limit_bytes = store_u64_at(stmt, 5);
    q->wred_min_bytes = store_u64_at(stmt, 8);
    q->wred_max_bytes = store_u64_at(stmt, 9);
    q->wred_percent = small_at(stmt, 10);
    q->ecn = store_u64_at(stmt, 11) != 0;
    rc = load_name(s, stmt, 6, q->profile, "port_queue", p->name, err);
    return rc ? rc
              : load_alpha(s, stmt, 7, &q->alpha, "port_queue", p->name, err);
}

/* --- the model to rows --------------------------------------------------- */

static int64_t
alpha_of(int8_t alpha)
{
    return alpha == BUF_ALPHA_NONE ? STORE_NULL : alpha;
}

static const char *
name_of(const char *name)
{
    return name[0] ? name : NULL;
}

static int64_t
headroom_of(const struct conf_group *g)
{
    return g->headroom_bytes == CONF_HEADROOM_AUTO
               ? INT64_C(-1)
               : (int64_t) g->headroom_bytes;
}

/* They are few, and change together. */
int
store_put_pools(const struct store *s, const struct conf_bridge *b,
                struct err *err)
{
    uint32_t i;
    int rc = store_run(s, err, "DELETE FROM buffer_pool WHERE bridge = ?", "s",
                       b->name);

    if (!rc)
        rc = store_run(s, err, "DELETE FROM buffer_profile WHERE bridge = ?",
                       "s", b->name);
    for (i = 0; i < b->n_pools && !rc; i++)
        rc = store_run(s, err,
                       "INSERT INTO buffer_pool (bridge, name, size_bytes,"
                       " dynamic) VALUES (?, ?, ?, ?)",
                       "ssii", b->name, b->pool[i].name,
                       (int64_t) b->pool[i].size_bytes,
                       (int64_t) b->pool[i].dynamic);
    for (i = 0; i < b->n_profiles && !rc; i++) {
        const struct conf_profile *prof = &b->profile[i];
        const struct conf_group *g = &prof->t;

        rc = store_run(s, err,
                       "INSERT INTO buffer_profile (bridge, name, pool,"
                       " reserved_bytes, xoff_bytes, alpha, xon_bytes,"
                       " xon_offset_bytes, headroom_bytes)"
                       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                       "sssiiaiin", b->name, prof->name, name_of(prof->pool),
                       (int64_t) g->reserved_bytes, (int64_t) g->xoff_bytes,
                       alpha_of(g->alpha), (int64_t) g->xon_bytes,
                       (int64_t) g->xon_offset_bytes, headroom_of(g));
    }
    return rc;
}

int
store_put_groups(const struct store *s, const struct conf_port *p,
                 struct err *err)
{
    int rc = 0, i;

    for (i = 0; i < N_PG && !rc; i++) {
        const struct conf_group *g = &p->group[i];

        rc = store_run(s, err,
                       "INSERT INTO port_group (port, pg, profile,"
                       " reserved_bytes, xoff_bytes, alpha, xon_bytes,"
                       " xon_offset_bytes, headroom_bytes)"
                       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                       "sisiiaiin", p->name, (int64_t) i, name_of(g->profile),
                       (int64_t) g->reserved_bytes, (int64_t) g->xoff_bytes,
                       alpha_of(g->alpha), (int64_t) g->xon_bytes,
                       (int64_t) g->xon_offset_bytes, headroom_of(g));
    }
    return rc;
}

int
store_put_queues(const struct store *s, const struct conf_port *p,
                 struct err *err)
{
    int rc = 0, i;

    for (i = 0; i < N_QUEUE && !rc; i++) {
        const struct conf_queue *q = &p->queue[i];

        rc = store_run(s, err,
                       "INSERT INTO port_queue (port, queue, ets, weight,"
                       " max_rate_bps, limit_bytes, profile, alpha,"
                       " wred_min_bytes, wred_max_bytes, wred_percent, ecn)"
                       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                       "siiiiisaiiii", p->name, (int64_t) i, (int64_t) q->ets,
                       (int64_t) q->weight, (int64_t) q->max_rate_bps,
                       (int64_t) q->limit_bytes, name_of(q->profile),
                       alpha_of(q->alpha), (int64_t) q->wred_min_bytes,
                       (int64_t) q->wred_max_bytes, (int64_t) q->wred_percent,
                       (int64_t) q->ecn);
    }
    return rc;
}
