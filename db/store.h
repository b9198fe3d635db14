/* SPDX-License-Identifier: Apache-2.0
 *
 * The configuration in SQLite: the only place that knows of sqlite3.h.  One
 * database per daemon, WAL, synchronous=FULL: what conf_store() answered is
 * there after a power cut.  Control thread.
 */
#ifndef DB_STORE_H
#define DB_STORE_H

#include "base/err.h"
#include "conf/conf.h"

struct store;

/* To be opened after the process has forked for the last time, as the user
 * that it is going to be: the lock and the pid in it are the opener's, and
 * SQLite makes files beside the database.
 *
 * Opens or creates (with its directories), takes an exclusive lock that ends
 * with the process (EBUSY and the holder's pid when another instance has it),
 * checks integrity, migrates older schemas in one transaction.  Refuses, and
 * leaves the file as it was: a corrupt file, another application's database, a
 * newer schema, no permission, a full disk. */
int store_open(const char *path, struct store **, struct err *);
void store_close(struct store *);

/* The stored configuration. */
int store_load(struct store *, struct conf **, struct err *);

/* Makes `to` the stored configuration, in one transaction; `from` is what is
 * stored now (rows that did not change are left alone).  On error nothing
 * changed: ENOSPC the disk is full, EROFS, EIO, EBUSY another program holds a
 * lock for longer than a second, ESTALE another program changed the database
 * since store_load(), or removed it. */
int store_commit(struct store *, const struct conf *from,
                 const struct conf *to, struct err *);

/* Flows, groups and meters of a bridge that come back after a restart, as
 * lines of text, in the order in which they have to be added.  They are no
 * part of struct conf; a bridge that goes takes them along. */
enum store_flow_kind {
    STORE_GROUP,
    STORE_METER,
    STORE_FLOW,
    STORE_N_FLOW_KINDS,
};
struct store_flow {
    enum store_flow_kind kind; /* what */
    const char *text;          /* in the syntax of ovs-ofctl */
};
typedef void store_flow_fn(void *arg, enum store_flow_kind, const char *text);
int store_flows_load(struct store *, const char *bridge, store_flow_fn *,
                     void *arg, struct err *);
/* Makes n rows those of the bridge, in one transaction. */
int store_flows_save(struct store *, const char *bridge,
                     const struct store_flow *, size_t n, struct err *);

/* Version of the schema that this program writes. */
int store_schema_version(void);

#endif
