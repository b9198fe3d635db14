/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the store share.  Private to db; control thread.
 */
#ifndef DB_STORE_INT_H
#define DB_STORE_INT_H

#include "db/store.h"

#include <sqlite3.h>
#include <stdint.h>

#define STORE_N_MAPS 6

struct store {
    char *path;           /* of the database, links resolved */
    int lock_fd;          /* holds the lock on PATH.lock; -1: none */
    sqlite3 *db;          /* the connection */
    int64_t data_version; /* changes when another program commits */
};

/* A map of codes: its name in the tables, where it is in the model, and its
 * bit in `given`. */
struct store_map {
    const char *kind; /* "pcp_to_priority" */
    size_t offset;    /* in struct conf_map */
    uint16_t given;   /* CONF_MAP_ bit */
    uint8_t n;        /* codes in it: 8 or 64 */
};
extern const struct store_map store_maps[STORE_N_MAPS];

/* Fills err for what SQLite answered, "database PATH: WHAT: REASON", and
 * returns an errno. */
int store_fail(const struct store *, int sqlite_rc, const char *what,
               struct err *err);
/* The same, with our own reason. */
int store_refuse(const struct store *, int code, const char *reason,
                 struct err *err);

/* One value: of a PRAGMA or of a query of one column.  No row gives 0. */
int store_query_int(const struct store *, const char *sql, int64_t *value,
                    struct err *err);
int store_exec(const struct store *, const char *sql, const char *what,
               struct err *err);

/* Runs a statement whose parameters follow, as `types` says: s text or null,
 * i int64_t, n int64_t with negative for null, a int64_t with STORE_NULL for
 * null, m a MAC address or null. */
#define STORE_NULL INT64_MIN
int store_run(const struct store *, struct err *err, const char *sql,
              const char *types, ...);

/* store_load.c: what the readers of rows share. */
typedef int store_row_fn(const struct store *, struct conf *, sqlite3_stmt *,
                         struct err *);
int store_refuse_row(const struct store *, const char *table, const char *key,
                     const char *what, struct err *);
const char *store_text_at(sqlite3_stmt *, int column);
/* Whether the columns from `first` on are all integers below 2^53. */
bool store_all_integers(sqlite3_stmt *, int first, int n);
uint64_t store_u64_at(sqlite3_stmt *, int column);

/* store_buffer.c: pools, profiles and what groups and queues have of them. */
store_row_fn store_load_pool, store_load_profile, store_load_group,
    store_load_queue;
int store_put_pools(const struct store *, const struct conf_bridge *,
                    struct err *);
int store_put_groups(const struct store *, const struct conf_port *,
                     struct err *);
int store_put_queues(const struct store *, const struct conf_port *,
                     struct err *);

/* store_control.c: who controls a bridge over OpenFlow. */
store_row_fn store_load_openflow, store_load_controller;
int store_put_control(const struct store *, const struct conf_bridge *,
                      struct err *);

/* A transaction that ends in COMMIT or leaves everything as it was. */
int store_begin(const struct store *, struct err *err);
int store_end(const struct store *, int rc, struct err *err);

#endif
