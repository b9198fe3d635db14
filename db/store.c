/* SPDX-License-Identifier: Apache-2.0
 *
 * What the store does with SQLite in small: errors, statements, transactions.
 * See store.h.  Control thread.
 */
#include "db/store.h"
#include "db/store_int.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct store_map store_maps[STORE_N_MAPS] = {
    {"pcp_to_priority", offsetof(struct conf_map, pcp_to_prio), CONF_MAP_PCP,
     8},
    {"priority_to_queue", offsetof(struct conf_map, prio_to_queue),
     CONF_MAP_QUEUE, 8},
    {"priority_to_group", offsetof(struct conf_map, prio_to_pg),
     CONF_MAP_GROUP, 8},
    {"dscp_to_priority", offsetof(struct conf_map, dscp_to_prio),
     CONF_MAP_DSCP, 64},
    {"priority_to_pcp", offsetof(struct conf_map, prio_to_pcp),
     CONF_MAP_TO_PCP, 8},
    {"priority_to_dscp", offsetof(struct conf_map, prio_to_dscp),
     CONF_MAP_TO_DSCP, 8},
};

static int
errno_of(int sqlite_rc)
{
    switch (sqlite_rc & 0xff) {
    case SQLITE_FULL:
        return ENOSPC;
    case SQLITE_READONLY:
        return EROFS;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return EBUSY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:
    case SQLITE_CONSTRAINT:
        return EUCLEAN;
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
        return EACCES;
    case SQLITE_NOMEM:
        return ENOMEM;
    default:
        return EIO;
    }
}

int
store_refuse(const struct store *s, int code, const char *reason,
             struct err *err)
{
    return err_set(err, code, NULL, s->path, NULL, "database %s: %s", s->path,
                   reason);
}

/* What SQLite says in one line: of a schema that is damaged it quotes as much
 * as there is, line breaks and all. */
static void
one_line(const char *text, char *out, size_t size)
{
    snprintf(out, size, "%s", text);
    for (; *out; out++)
        if ((unsigned char) *out < ' ' || *out == 0x7f)
            *out = ' ';
}

int
store_fail(const struct store *s, int sqlite_rc, const char *what,
           struct err *err)
{
    const char *said = s->db ? sqlite3_errmsg(s->db) : NULL;
    int sys = s->db ? sqlite3_system_errno(s->db) : 0;
    char why[192];

    if (!said || !strcmp(said, "not an error"))
        said = sqlite3_errstr(sqlite_rc);
    one_line(said, why, sizeof(why));
    return err_set(err, errno_of(sqlite_rc), NULL, s->path, NULL,
                   "database %s: %s: %s%s%s", s->path, what, why,
                   sys ? ": " : "", sys ? strerror(sys) : "");
}

int
store_query_int(const struct store *s, const char *sql, int64_t *value,
                struct err *err)
{
    sqlite3_stmt *stmt;
    int rc = sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL);

    if (rc != SQLITE_OK)
        return store_fail(s, rc, "cannot read it", err);
    rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        *value = sqlite3_column_int64(stmt, 0);
    else if (rc == SQLITE_DONE)
        *value = 0;
    else
        return store_fail(s, sqlite3_finalize(stmt), "cannot read it", err);
    sqlite3_finalize(stmt);
    return 0;
}

int
store_exec(const struct store *s, const char *sql, const char *what,
           struct err *err)
{
    int rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK ? 0 : store_fail(s, rc, what, err);
}

static int
bind_all(sqlite3_stmt *stmt, const char *types, va_list ap)
{
    int rc = SQLITE_OK, i;

    for (i = 1; *types && rc == SQLITE_OK; i++, types++) {
        const void *p;
        int64_t n;

        switch (*types) {
        case 's':
            p = va_arg(ap, const char *);
            rc = sqlite3_bind_text(stmt, i, p, -1, SQLITE_TRANSIENT);
            break;
        case 'm':
            p = va_arg(ap, const uint8_t *);
            rc = p ? sqlite3_bind_blob(stmt, i, p, 6, SQLITE_TRANSIENT)
                   : sqlite3_bind_null(stmt, i);
            break;
        default:
            n = va_arg(ap, int64_t);
            rc = (*types == 'n' && n < 0) || (*types == 'a' && n == STORE_NULL)
                     ? sqlite3_bind_null(stmt, i)
                     : sqlite3_bind_int64(stmt, i, n);
            break;
        }
    }
    return rc;
}

int
store_run(const struct store *s, struct err *err, const char *sql,
          const char *types, ...)
{
    sqlite3_stmt *stmt;
    va_list ap;
    int rc = sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL);

    if (rc != SQLITE_OK)
        return store_fail(s, rc, "cannot change it", err);
    va_start(ap, types);
    rc = bind_all(stmt, types, ap);
    va_end(ap);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    if (rc != SQLITE_DONE)
        store_fail(s, rc, "cannot change it", err);
    sqlite3_finalize(stmt);
    return rc == SQLITE_DONE ? 0 : errno_of(rc);
}

int
store_begin(const struct store *s, struct err *err)
{
    return store_exec(s, "BEGIN IMMEDIATE", "cannot change it", err);
}

int
store_end(const struct store *s, int rc, struct err *err)
{
    if (!rc)
        rc = store_exec(s, "COMMIT", "cannot commit", err);
    /* Some errors have rolled back already; the others leave it to us. */
    if (rc && !sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

void
store_close(struct store *s)
{
    if (!s)
        return;
    sqlite3_close(s->db);
    if (s->lock_fd >= 0)
        close(s->lock_fd); /* the file stays: removing it would be a race */
    free(s->path);
    free(s);
}
