/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening the database.  In this order: directories, the lock, the creation
 * of a new one under another name that is then given its own, a look at what
 * is there that changes nothing, and only then the connection that writes.
 * What is refused stays as it was.  See store.h.  Control thread.
 */
#include "db/store.h"
#include "db/store_int.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define APPLICATION_ID 1397506885 /* as in schema.sql */
#define BUSY_MS        1000       /* patience with who looks at it by hand */
#define MIN_PAGE       512        /* SQLite's smallest page */

struct sql_migration {
    int version;     /* what it makes */
    const char *sql; /* from the version before */
};

#include "db/sql.h"

#define N_MIGRATIONS (sizeof(sql_migrations) / sizeof(sql_migrations[0]))

int
store_schema_version(void)
{
    return sql_migrations[N_MIGRATIONS - 1].version;
}

/* Makes a directory and those above it. */
static int
make_dirs(const char *dir, struct err *err)
{
    char *path = strdup(dir), *p;
    int rc = 0;

    if (!path)
        abort();
    for (p = path + 1; !rc; p++) {
        char c = *p;

        if (c && c != '/')
            continue;
        *p = '\0';
        if (mkdir(path, 0755) && errno != EEXIST)
            rc = err_sys(err, errno, "cannot create directory %s", path);
        *p = c;
        if (!c)
            break;
    }
    free(path);
    return rc;
}

/* The database's one name: the lock beside it must be the same however the
 * path was written. */
static int
resolve_path(struct store *s, const char *path, struct err *err)
{
    char *copy = strdup(path), *real = realpath(path, NULL);
    const char *dir;
    int rc = 0;

    if (!copy)
        abort();
    if (real) {
        s->path = real;
        free(copy);
        return 0;
    }
    dir = dirname(copy);
    rc = make_dirs(dir, err);
    if (!rc && !(real = realpath(dir, NULL)))
        rc = err_sys(err, errno, "cannot use directory %s", dir);
    free(copy);
    if (rc)
        return rc;
    copy = strdup(path);
    if (!copy || asprintf(&s->path, "%s/%s", real, basename(copy)) < 0)
        abort();
    free(copy);
    free(real);
    return 0;
}

static char *
beside(const struct store *s, const char *suffix)
{
    char *path;

    if (asprintf(&path, "%s%s", s->path, suffix) < 0)
        abort();
    return path;
}

static int
held_by_other(const struct store *s, int fd, struct err *err)
{
    char pid[16] = "", reason[96];
    ssize_t n = pread(fd, pid, sizeof(pid) - 1, 0);

    pid[n > 0 ? n : 0] = '\0';
    pid[strspn(pid, "0123456789")] = '\0';
    snprintf(reason, sizeof(reason), "another instance has it open (pid %s)",
             pid[0] ? pid : "unknown");
    return store_refuse(s, EBUSY, reason, err);
}

/* flock: the lock ends with the process, however that ends. */
static int
take_lock(struct store *s, struct err *err)
{
    char *path = beside(s, ".lock"), pid[16];
    int rc = 0, n;

    s->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (s->lock_fd < 0)
        rc = err_sys(err, errno, "database %s: cannot open its lock %s",
                     s->path, path);
    else if (flock(s->lock_fd, LOCK_EX | LOCK_NB))
        rc = errno == EWOULDBLOCK
                 ? held_by_other(s, s->lock_fd, err)
                 : err_sys(err, errno, "database %s: cannot lock %s", s->path,
                           path);
    free(path);
    if (rc)
        return rc;
    /* For people and for the message above; the lock is what counts, so a
     * full disk is not a reason to stop here. */
    n = snprintf(pid, sizeof(pid), "%ld\n", (long) getpid());
    if (ftruncate(s->lock_fd, 0) || pwrite(s->lock_fd, pid, (size_t) n, 0) < n)
        return 0;
    return 0;
}

static int
connect_to(struct store *s, const char *path, int flags, struct err *err)
{
    int rc = sqlite3_open_v2(path, &s->db, flags, NULL);

    if (rc != SQLITE_OK)
        return store_fail(s, rc, "cannot open it", err);
    sqlite3_extended_result_codes(s->db, 1);
    sqlite3_busy_timeout(s->db, BUSY_MS);
    return store_exec(s,
                      "PRAGMA trusted_schema = OFF;"
                      "PRAGMA cell_size_check = ON;"
                      "PRAGMA temp_store = MEMORY;"
                      "PRAGMA foreign_keys = ON;"
                      "PRAGMA synchronous = FULL",
                      "cannot set it up", err);
}

static int
disconnect(struct store *s, int rc, struct err *err)
{
    int closed = sqlite3_close(s->db);

    s->db = NULL;
    if (!rc && closed != SQLITE_OK)
        rc = store_fail(s, closed, "cannot close it", err);
    return rc;
}

static int
set_wal(const struct store *s, struct err *err)
{
    sqlite3_stmt *stmt;
    int rc = sqlite3_prepare_v2(s->db, "PRAGMA journal_mode = WAL", -1, &stmt,
                                NULL);
    bool wal;

    if (rc != SQLITE_OK)
        return store_fail(s, rc, "cannot set its journal mode", err);
    wal = sqlite3_step(stmt) == SQLITE_ROW &&
          !strcmp((const char *) sqlite3_column_text(stmt, 0), "wal");
    rc = sqlite3_finalize(stmt);
    if (rc != SQLITE_OK)
        return store_fail(s, rc, "cannot set its journal mode", err);
    return wal ? 0
               : store_refuse(s, ENOTSUP,
                              "the file system does not do what SQLite's WAL "
                              "mode needs (a local one does)",
                              err);
}

/* Fills an empty database. */
static int
fill_new(const struct store *s, struct err *err)
{
    int rc = set_wal(s, err);

    if (!rc)
        rc = store_begin(s, err);
    if (rc)
        return rc;
    return store_end(
        s, store_exec(s, sql_schema, "cannot create its tables", err), err);
}

static int
sync_dir(const struct store *s, struct err *err)
{
    char *copy = strdup(s->path);
    int fd, rc = 0;

    if (!copy)
        abort();
    fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd))
        rc = err_sys(err, errno, "database %s: cannot write its directory",
                     s->path);
    if (fd >= 0)
        close(fd);
    free(copy);
    return rc;
}

/* Moves all of the log into the database.  Closing it does that too, but says
 * nothing when the disk is too full for it. */
static int
empty_log(const struct store *s, struct err *err)
{
    sqlite3_stmt *stmt;
    int rc = sqlite3_prepare_v2(s->db, "PRAGMA wal_checkpoint(TRUNCATE)", -1,
                                &stmt, NULL);
    bool busy;

    if (rc != SQLITE_OK)
        return store_fail(s, rc, "cannot write it", err);
    busy = sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_int(stmt, 0);
    rc = sqlite3_finalize(stmt);
    if (rc == SQLITE_OK && busy)
        rc = SQLITE_BUSY;
    return rc == SQLITE_OK ? 0 : store_fail(s, rc, "cannot write it", err);
}

/* Removes what a creation that failed or was killed left: we have the lock. */
static void
remove_unfinished(const struct store *s)
{
    static const char *const suffixes[] = {".new", ".new-wal", ".new-shm",
                                           ".new-journal"};

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        char *path = beside(s, suffixes[i]);

        unlink(path);
        free(path);
    }
}

/* What is about to get its name must be the whole database: a log stays behind
 * under the other name. */
static int
check_log_gone(const struct store *s, struct err *err)
{
    char *wal = beside(s, ".new-wal");
    struct stat st;
    int rc = 0;

    if (!stat(wal, &st) && st.st_size)
        rc =
            store_refuse(s, EIO, "cannot write it: its log is not empty", err);
    free(wal);
    return rc;
}

/* Made complete under another name, so that there never is half of one. */
static int
create(struct store *s, struct err *err)
{
    char *tmp = beside(s, ".new");
    int rc;

    remove_unfinished(s);
    rc = connect_to(s, tmp, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);
    if (!rc)
        rc = fill_new(s, err);
    if (!rc)
        rc = empty_log(s, err);
    rc = disconnect(s, rc, err);
    if (!rc)
        rc = check_log_gone(s, err);
    if (!rc && rename(tmp, s->path))
        rc = err_sys(err, errno, "database %s: cannot create it", s->path);
    if (!rc)
        rc = sync_dir(s, err);
    if (rc)
        remove_unfinished(s);
    free(tmp);
    return rc;
}

/* Says whether there is no database yet.  An orphaned write-ahead log is one
 * that has lost its database: nothing to be taken for a fresh start. */
static int
is_absent(const struct store *s, bool *absent, struct err *err)
{
    char *wal = beside(s, "-wal");
    struct stat st;
    int rc = 0;

    *absent = false;
    if (!stat(s->path, &st)) {
        if (!S_ISREG(st.st_mode))
            rc = store_refuse(s, EINVAL, "it is not a regular file", err);
        else if (st.st_size && st.st_size < MIN_PAGE)
            rc = store_refuse(s, EUCLEAN,
                              "it is not a database, or was cut off", err);
        *absent = !st.st_size;
    } else if (errno == ENOENT) {
        *absent = true;
    } else {
        rc = err_sys(err, errno, "database %s: cannot look at it", s->path);
    }
    if (!rc && *absent && !stat(wal, &st) && st.st_size)
        rc = store_refuse(s, EUCLEAN,
                          "it is missing or empty, but its log (-wal) is not: "
                          "restore it, or move the log away to start anew",
                          err);
    free(wal);
    return rc;
}

static int
check_writable(const struct store *s, struct err *err)
{
    int fd = open(s->path, O_RDWR | O_CLOEXEC);

    if (fd < 0)
        return err_sys(err, errno, "database %s: cannot write to it", s->path);
    close(fd);
    return 0;
}

static int
check_identity(const struct store *s, int64_t *version, struct err *err)
{
    char reason[160];
    int64_t id;
    int rc = store_query_int(s, "PRAGMA application_id", &id, err);

    if (!rc)
        rc = store_query_int(s, "PRAGMA user_version", version, err);
    if (rc)
        return rc;
    if (id != APPLICATION_ID || *version < 1)
        return store_refuse(s, EINVAL,
                            "it is a database of another application", err);
    if (*version <= store_schema_version())
        return 0;
    snprintf(reason, sizeof(reason),
             "its schema is version %lld, newer than this program knows: "
             "allowed 1 to %d",
             (long long) *version, store_schema_version());
    return store_refuse(s, ENOTSUP, reason, err);
}

/* SQLite's findings have a heading on a line of its own. */
static void
join_lines(char *text)
{
    for (; (text = strchr(text, '\n')); text++)
        *text = ' ';
}

static int
check_integrity(const struct store *s, struct err *err)
{
    sqlite3_stmt *stmt;
    char reason[256] = "";
    int rc =
        sqlite3_prepare_v2(s->db, "PRAGMA quick_check(1)", -1, &stmt, NULL);
    int64_t n_orphans;

    if (rc != SQLITE_OK)
        return store_fail(s, rc, "it is corrupt", err);
    if (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *text = (const char *) sqlite3_column_text(stmt, 0);

        if (!text || strcmp(text, "ok"))
            snprintf(reason, sizeof(reason), "it is corrupt: %.200s",
                     text ? text : "no memory to check it");
        join_lines(reason);
    }
    rc = sqlite3_finalize(stmt);
    if (rc != SQLITE_OK)
        return store_fail(s, rc, "it is corrupt", err);
    if (reason[0])
        return store_refuse(s, EUCLEAN, reason, err);
    rc = store_query_int(s, "SELECT count(*) FROM pragma_foreign_key_check",
                         &n_orphans, err);
    if (!rc && n_orphans)
        return store_refuse(s, EUCLEAN,
                            "it is corrupt: rows refer to what is not there",
                            err);
    return rc;
}

/* Looks without touching: a log that another program left is not even
 * checkpointed. */
static int
probe(struct store *s, int64_t *version, struct err *err)
{
    int rc = connect_to(s, s->path, SQLITE_OPEN_READONLY, err);

    if (!rc)
        sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (!rc)
        rc = check_identity(s, version, err);
    if (!rc)
        rc = check_integrity(s, err);
    return disconnect(s, rc, err);
}

static int
run_migrations(const struct store *s, int64_t version, struct err *err)
{
    char set[48];
    size_t i;
    int rc = 0;

    for (i = 0; i < N_MIGRATIONS && !rc; i++) {
        if (sql_migrations[i].version <= version)
            continue;
        rc = store_exec(s, sql_migrations[i].sql, "cannot migrate it", err);
        snprintf(set, sizeof(set), "PRAGMA user_version = %d",
                 sql_migrations[i].version);
        if (!rc)
            rc = store_exec(s, set, "cannot migrate it", err);
    }
    return rc;
}

static int
migrate(const struct store *s, int64_t version, struct err *err)
{
    int rc;

    if (version == store_schema_version())
        return 0;
    rc = store_begin(s, err);
    if (rc)
        return rc;
    rc = run_migrations(s, version, err);
    if (!rc)
        rc = check_integrity(s, err);
    return store_end(s, rc, err);
}

static int
open_database(struct store *s, struct err *err)
{
    int64_t version;
    bool absent;
    int rc = is_absent(s, &absent, err);

    if (!rc && absent)
        rc = create(s, err);
    if (!rc)
        rc = check_writable(s, err);
    if (!rc)
        rc = probe(s, &version, err);
    if (!rc)
        rc = connect_to(s, s->path, SQLITE_OPEN_READWRITE, err);
    if (!rc && sqlite3_db_readonly(s->db, "main") == 1)
        rc = store_refuse(s, EROFS, "it is read-only", err);
    if (!rc)
        rc = set_wal(s, err);
    if (!rc)
        rc = migrate(s, version, err);
    if (!rc)
        remove_unfinished(s); /* an older version could leave some */
    return rc ? rc
              : store_query_int(s, "PRAGMA data_version", &s->data_version,
                                err);
}

int
store_open(const char *path, struct store **store, struct err *err)
{
    struct store *s = calloc(1, sizeof(*s));
    int rc;

    if (!s)
        abort();
    s->lock_fd = -1;
    rc = resolve_path(s, path, err);
    if (!rc)
        rc = take_lock(s, err);
    if (!rc)
        rc = open_database(s, err);
    if (rc) {
        store_close(s);
        return rc;
    }
    *store = s;
    return 0;
}
