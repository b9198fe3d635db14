/* SPDX-License-Identifier: Apache-2.0
 *
 * db: what is stored comes back; what cannot be opened is refused and left as
 * it was; older schemas are brought up; another instance is kept out.  Death
 * and full disks have test_store_faults.c.
 */
#include "conf_random.h"
#include "store_rig.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct err err;

TestSuite(store, .init = rig_up, .fini = rig_down);

static void
raw_sql(const char *path, const char *sql)
{
    sqlite3 *db;

    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, "%s: %s",
                 sql, sqlite3_errmsg(db));
    cr_assert_eq(sqlite3_close(db), SQLITE_OK);
}

/* A text that says what a query yields, row by row. */
static char *
raw_query(const char *path, const char *sql)
{
    char *text = calloc(1, 65536);
    sqlite3_stmt *stmt;
    size_t n = 0;
    sqlite3 *db;
    int i;

    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK, "%s",
                 sqlite3_errmsg(db));
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        for (i = 0; i < sqlite3_column_count(stmt); i++) {
            const void *v = sqlite3_column_text(stmt, i);

            n += (size_t) snprintf(text + n, 65536 - n, "%s|",
                                   v ? (const char *) v : "null");
            cr_assert_lt(n, 65536);
        }
        n += (size_t) snprintf(text + n, 65536 - n, "\n");
    }
    cr_assert_eq(sqlite3_finalize(stmt), SQLITE_OK);
    cr_assert_eq(sqlite3_close(db), SQLITE_OK);
    return text;
}

/* A database with a configuration in it, closed. */
static void
make_database(uint64_t seed)
{
    struct rng r = {seed};
    struct conf *empty = conf_create(), *c = conf_random(&r);
    struct store *s = rig_open();

    while (c->n_bridges < 2)
        conf_random_change(c, &r);
    cr_assert_eq(store_commit(s, empty, c, &err), 0, "%s", err.msg);
    store_close(s);
    conf_destroy(empty);
    conf_destroy(c);
}

/* Opening fails, with that code and with words, and changes nothing. */
static void
assert_refused(int code, const char *words)
{
    struct image before, after;
    struct store *s = NULL;

    image_take(&before, rig_path(""));
    err_clear(&err);
    cr_assert_eq(store_open(rig_path(""), &s, &err), code, "%d %s", err.code,
                 err.msg);
    cr_assert_null(s);
    cr_assert(strstr(err.msg, words), "%s", err.msg);
    cr_assert(strstr(err.msg, rig_path("")), "%s", err.msg);
    image_take(&after, rig_path(""));
    cr_assert(image_equal(&before, &after));
    image_drop(&before);
    image_drop(&after);
}

/* --- what is stored comes back ---------------------------------------- */

Test(store, a_new_one_is_empty)
{
    struct store *s = rig_open();
    struct conf *c;

    cr_assert_eq(store_load(s, &c, &err), 0, "%s", err.msg);
    cr_assert_eq(c->n_bridges, 0);
    conf_destroy(c);
    store_close(s);
    cr_assert_neq(access(rig_path(".new"), F_OK), 0);
}

Test(store, it_is_what_the_schema_says)
{
    char *text, want[40];

    store_close(rig_open());
    text = raw_query(rig_path(""), "SELECT * FROM pragma_application_id, "
                                   "pragma_user_version, "
                                   "pragma_journal_mode");
    snprintf(want, sizeof(want), "1397506885|%d|wal|\n",
             store_schema_version());
    cr_assert_str_eq(text, want);
    free(text);
}

Test(store, directories_are_made)
{
    struct store *s;
    char path[512];

    snprintf(path, sizeof(path), "%s/a/b//c/conf.db", rig_dir());
    cr_assert_eq(store_open(path, &s, &err), 0, "%s", err.msg);
    store_close(s);
    cr_assert_eq(access(path, R_OK | W_OK), 0);
}

Test(store, a_relative_path_is_taken)
{
    struct store *s;

    cr_assert_eq(chdir(rig_dir()), 0);
    cr_assert_eq(store_open("here.db", &s, &err), 0, "%s", err.msg);
    store_close(s);
    cr_assert_eq(access(rig_path(""), F_OK) == 0 ? 1 : 0, 0);
    cr_assert_eq(access("here.db", F_OK), 0);
}

static bool
same_slots(const struct conf *a, const struct conf *b)
{
    uint32_t i, j;

    for (i = 0; i < a->n_bridges; i++)
        for (j = 0; j < a->bridges[i]->n_ports; j++)
            if (a->bridges[i]->ports[j]->slot != b->bridges[i]->ports[j]->slot)
                return false;
    return true;
}

/* Random changes, one after the other; SLUICE_SEED runs one seed. */
Test(store, changes_come_back)
{
    const char *only = getenv("SLUICE_SEED");
    uint64_t first = only ? strtoull(only, NULL, 0) : 1;
    uint64_t last = only ? first : 8, seed;

    for (seed = first; seed <= last; seed++) {
        struct rng r = {seed};
        struct store *s = rig_open();
        struct conf *now, *next, *loaded;
        int i;

        cr_assert_eq(store_load(s, &now, &err), 0, "%s", err.msg);
        for (i = 0; i < 25; i++) {
            next = i ? conf_copy(now) : conf_random(&r);
            conf_random_change(next, &r);
            cr_assert_eq(store_commit(s, now, next, &err), 0,
                         "SLUICE_SEED=%lu: %s", seed, err.msg);
            conf_destroy(now);
            now = next;
            if (i % 5 == 4) {
                store_close(s);
                s = rig_open();
            }
            cr_assert_eq(store_load(s, &loaded, &err), 0,
                         "SLUICE_SEED=%lu: %s", seed, err.msg);
            cr_assert(conf_equal(now, loaded), "SLUICE_SEED=%lu", seed);
            cr_assert(same_slots(now, loaded), "SLUICE_SEED=%lu", seed);
            conf_destroy(loaded);
        }
        conf_destroy(now);
        store_close(s);
    }
}

Test(store, ports_may_swap_slots_and_bridges)
{
    struct conf *a = conf_create(), *b, *loaded, *empty = conf_create();
    struct conf_bridge *b0, *b1;
    struct conf_port *p;
    struct store *s = rig_open();

    cr_assert_eq(conf_add_bridge(a, "br0", &b0, NULL), 0);
    cr_assert_eq(conf_add_bridge(a, "br1", &b1, NULL), 0);
    cr_assert_eq(conf_add_port(a, b0, "x", "mem", &p, NULL), 0);
    cr_assert_eq(conf_add_port(a, b0, "y", "mem", &p, NULL), 0);
    cr_assert_eq(store_commit(s, empty, a, &err), 0, "%s", err.msg);
    b = conf_copy(a);
    conf_find_port(b, "x", NULL)->slot = 1;
    conf_find_port(b, "y", NULL)->slot = 0;
    cr_assert_eq(store_commit(s, a, b, &err), 0, "%s", err.msg);
    cr_assert_eq(store_load(s, &loaded, &err), 0, "%s", err.msg);
    cr_assert(same_slots(b, loaded));
    conf_destroy(loaded);
    conf_destroy(a);
    a = conf_copy(b);
    cr_assert_eq(conf_del_port(a, "x", NULL), 0);
    cr_assert_eq(conf_add_port(a, conf_find_bridge(a, "br1"), "x", "tap", &p,
                               NULL),
                 0);
    cr_assert_eq(store_commit(s, b, a, &err), 0, "%s", err.msg);
    cr_assert_eq(store_load(s, &loaded, &err), 0, "%s", err.msg);
    cr_assert(conf_equal(a, loaded));
    conf_destroy(loaded);
    conf_destroy(a);
    conf_destroy(b);
    conf_destroy(empty);
    store_close(s);
}

Test(store, rows_that_did_not_change_are_left_alone)
{
    struct conf *a = conf_create(), *b, *empty = conf_create();
    struct conf_bridge *br;
    struct conf_port *p;
    struct store *s = rig_open();
    char *before, *after;

    cr_assert_eq(conf_add_bridge(a, "br0", &br, NULL), 0);
    cr_assert_eq(conf_add_port(a, br, "x", "mem", &p, NULL), 0);
    cr_assert_eq(conf_add_port(a, br, "y", "mem", &p, NULL), 0);
    cr_assert_eq(store_commit(s, empty, a, &err), 0, "%s", err.msg);
    before = raw_query(rig_path(""), "SELECT rowid, name FROM port "
                                     "WHERE name = 'x'");
    b = conf_copy(a);
    conf_find_port(b, "y", NULL)->rate_bps = 5000;
    b->bridges[0]->mac_ageing_s = 7;
    cr_assert_eq(store_commit(s, a, b, &err), 0, "%s", err.msg);
    after = raw_query(rig_path(""), "SELECT rowid, name FROM port "
                                    "WHERE name = 'x'");
    cr_assert_str_eq(before, after);
    free(before);
    free(after);
    conf_destroy(a);
    conf_destroy(b);
    conf_destroy(empty);
    store_close(s);
}

/* --- what is refused -------------------------------------------------- */

Test(store, random_bytes)
{
    struct rng r = {1};
    uint8_t bytes[20000];
    size_t i;

    for (i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t) rng_u64(&r);
    rig_write("", bytes, sizeof(bytes));
    assert_refused(EUCLEAN, "is not a database");
}

Test(store, a_text_file)
{
    rig_write("", "{\"bridges\": {}}\n", 16);
    assert_refused(EUCLEAN, "is not a database");
}

Test(store, a_directory)
{
    struct store *s;

    cr_assert_eq(mkdir(rig_path(""), 0755), 0);
    cr_assert_eq(store_open(rig_path(""), &s, &err), EINVAL);
    cr_assert(strstr(err.msg, "it is not a regular file"), "%s", err.msg);
}

Test(store, a_path_through_a_file)
{
    struct store *s;
    char path[512];

    rig_write("", "x", 1);
    snprintf(path, sizeof(path), "%s/conf.db", rig_path(""));
    cr_assert_eq(store_open(path, &s, &err), ENOTDIR, "%s", err.msg);
}

Test(store, truncated)
{
    struct image full;
    size_t n;

    make_database(3);
    image_take(&full, rig_path(""));
    for (n = 1; n < full.n; n += 1 + full.n / 40) {
        rig_write("", full.data, n);
        assert_refused(EUCLEAN, "database");
    }
    image_drop(&full);
}

/* Whatever is damaged: opened and read to a valid configuration, or refused
 * and left alone.  Some of it must be noticed. */
Test(store, damaged)
{
    struct rng r = {7};
    struct image full;
    int i, n_refused = 0;

    make_database(5);
    image_take(&full, rig_path(""));
    for (i = 0; i < 120; i++) {
        struct image before, after;
        struct store *s;
        struct conf *c;
        uint8_t *bytes = malloc(full.n);
        size_t at = rng_below(&r, full.n - 64), len = 1 + rng_below(&r, 64);

        memcpy(bytes, full.data, full.n);
        while (len-- > 0)
            bytes[at + len] = (uint8_t) rng_u64(&r);
        rig_write("", bytes, full.n);
        free(bytes);
        image_take(&before, rig_path(""));
        if (store_open(rig_path(""), &s, &err)) {
            image_take(&after, rig_path(""));
            cr_assert(image_equal(&before, &after), "%s", err.msg);
            cr_assert_null(strchr(err.msg, '\n'), "%s", err.msg);
            image_drop(&after);
            n_refused++;
        } else {
            if (store_load(s, &c, &err) == 0)
                conf_destroy(c);
            else
                n_refused++;
            store_close(s);
        }
        image_drop(&before);
    }
    image_drop(&full);
    cr_assert_gt(n_refused, 8, "%d", n_refused);
}

Test(store, another_applications_database)
{
    raw_sql(rig_path(""), "CREATE TABLE songs (title); "
                          "INSERT INTO songs VALUES ('x')");
    assert_refused(EINVAL, "it is a database of another application");
    raw_sql(rig_path(""), "PRAGMA journal_mode = WAL; "
                          "PRAGMA user_version = 1; "
                          "PRAGMA application_id = 77");
    assert_refused(EINVAL, "it is a database of another application");
}

Test(store, a_newer_schema)
{
    int newest = store_schema_version();
    char sql[48], words[96];

    make_database(3);
    snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", newest + 1);
    raw_sql(rig_path(""), sql);
    snprintf(words, sizeof(words),
             "its schema is version %d, newer than this program knows: "
             "allowed 1 to %d",
             newest + 1, newest);
    assert_refused(ENOTSUP, words);
}

Test(store, a_newer_schema_with_a_log_that_was_not_merged)
{
    pid_t child;

    make_database(3);
    child = fork();
    if (!child) { /* dies with the change in the log only */
        sqlite3 *db;

        sqlite3_open(rig_path(""), &db);
        sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, NULL, 0), child);
    cr_assert_eq(access(rig_path("-wal"), F_OK), 0);
    assert_refused(ENOTSUP, "its schema is version 99");
}

Test(store, a_log_without_its_database)
{
    rig_write("-wal", "log", 3);
    assert_refused(EUCLEAN, "it is missing or empty, but its log");
    rig_write("", "", 0);
    assert_refused(EUCLEAN, "it is missing or empty, but its log");
}

Test(store, an_empty_file_is_a_new_database)
{
    struct store *s;

    rig_write("", "", 0);
    cr_assert_eq(store_open(rig_path(""), &s, &err), 0, "%s", err.msg);
    store_close(s);
}

Test(store, what_a_killed_creation_left)
{
    rig_write(".new", "half", 4);
    store_close(rig_open());
    cr_assert_neq(access(rig_path(".new"), F_OK), 0);
}

static void
assert_load_refused(const char *sql, int code, const char *words)
{
    struct store *s;
    struct conf *c = NULL;

    raw_sql(rig_path(""), sql);
    s = rig_open();
    cr_assert_eq(store_load(s, &c, &err), code, "%s: %s", sql, err.msg);
    cr_assert_null(c);
    cr_assert(strstr(err.msg, words), "%s", err.msg);
    store_close(s);
}

static void
make_small_database(void)
{
    struct conf *c = conf_create(), *empty = conf_create();
    struct store *s = rig_open();
    struct conf_bridge *b;
    struct conf_port *p;

    cr_assert_eq(conf_add_bridge(c, "br0", &b, NULL), 0);
    cr_assert_eq(conf_add_port(c, b, "eth1", "mem", &p, NULL), 0);
    cr_assert_eq(store_commit(s, empty, c, &err), 0, "%s", err.msg);
    store_close(s);
    conf_destroy(c);
    conf_destroy(empty);
}

/* By hand, within the constraints of the schema, beyond those of the model. */
Test(store, what_was_edited_by_hand)
{
    make_small_database();
    assert_load_refused("UPDATE port SET rate_bps = 5", EINVAL,
                        "port eth1: rate_bps 5 is out of range");
    assert_load_refused("UPDATE port SET rate_bps = 5000.5", EUCLEAN,
                        "table port, row \"eth1\": has no integer");
    assert_load_refused("UPDATE port SET rate_bps = 0, vlan_mode = 'hub'",
                        EUCLEAN, "vlan_mode is unknown");
    assert_load_refused("UPDATE port SET vlan_mode = 'trunk', type = 'wifi'",
                        EINVAL, "type \"wifi\" is unknown");
    assert_load_refused("UPDATE port SET type = 'mem', "
                        "mac = x'030000000001'",
                        EINVAL, "mac 03:00:00:00:00:01 is given for a port");
    assert_load_refused("UPDATE port SET mac = NULL; "
                        "UPDATE port SET name = 'a b'; "
                        "UPDATE port_group SET port = 'a b'; "
                        "UPDATE port_watch SET port = 'a b'; "
                        "UPDATE port_queue SET port = 'a b'",
                        EINVAL, "port name \"a b\" has a character");
    raw_sql(rig_path(""), "UPDATE port SET name = 'eth1'; "
                          "UPDATE port_group SET port = 'eth1'; "
                          "UPDATE port_watch SET port = 'eth1'; "
                          "UPDATE port_queue SET port = 'eth1'");
    assert_load_refused("UPDATE port SET mac = NULL; "
                        "UPDATE bridge SET max_frame_bytes = 99999999999",
                        EINVAL, "max_frame_bytes 4294967295 is out of range");
    assert_load_refused("UPDATE bridge SET max_frame_bytes = 1522; "
                        "UPDATE port_queue SET limit_bytes = 1 "
                        "WHERE queue = 2",
                        EINVAL, "port eth1: queue 2: limit_bytes 1 ");
    assert_load_refused("UPDATE port_queue SET limit_bytes = 131072; "
                        "UPDATE port_watch SET poll_ms = 300",
                        EINVAL, "poll_ms 300 exceeds detection_ms 200");
    assert_load_refused("UPDATE port_watch SET poll_ms = 200, action = 'sing'",
                        EUCLEAN, "row \"eth1\": action is unknown");
}

Test(store, rows_that_refer_to_what_is_not_there)
{
    make_small_database();
    raw_sql(rig_path(""), "DELETE FROM bridge"); /* foreign keys are off */
    assert_refused(EUCLEAN, "rows refer to what is not there");
}

/* --- older schemas ---------------------------------------------------- */

static char *
read_source(const char *name)
{
    const char *top = getenv("top_srcdir");
    char path[512];
    struct image text;

    snprintf(path, sizeof(path), "%s/%s", top ? top : ".", name);
    image_take(&text, path);
    cr_assert(text.n, "%s is not there; top_srcdir must be set", path);
    text.data = realloc(text.data, text.n + 1);
    text.data[text.n] = '\0';
    return (char *) text.data;
}

static void
make_version_1(void)
{
    char *sql = read_source("db/migrations/001-initial.sql");

    raw_sql(rig_path(""), "PRAGMA journal_mode = WAL");
    raw_sql(rig_path(""), sql);
    raw_sql(rig_path(""),
            "PRAGMA user_version = 1;"
            "INSERT INTO bridge VALUES ('br0', 33554432, 1522, 300, 1, 'pcp',"
            " 2);"
            "INSERT INTO port VALUES ('eth1', 'br0', 'tap', 7,"
            " x'020000000001', 200000000, 500, 'access', 10, 8, 0, 65535, 0,"
            " 0, 'port', NULL);"
            "INSERT INTO port_group VALUES ('eth1', 3, 1, 65536, 2, 3, NULL);"
            "INSERT INTO port_queue VALUES ('eth1', 0, 1, 100, 0, 5000);"
            "INSERT INTO port_map VALUES ('eth1', 'priority_to_queue', 3, 0)");
    free(sql);
}

Test(store, version_1_is_brought_up)
{
    struct store *s;
    struct conf *c;
    struct conf_port *p;
    char *text, want[16];

    make_version_1();
    s = rig_open();
    cr_assert_eq(store_load(s, &c, &err), 0, "%s", err.msg);
    cr_assert_eq(c->bridges[0]->memory_bytes, 33554432);
    cr_assert(c->bridges[0]->forward_reserved);
    cr_assert_eq(c->bridges[0]->map.default_prio, 2);
    p = conf_find_port(c, "eth1", NULL);
    cr_assert_eq(p->slot, 7);
    cr_assert_eq(p->ofport, 8);
    cr_assert(c->bridges[0]->local);
    cr_assert_eq(p->tag, 10);
    cr_assert_eq(p->rate_bps, 200000000);
    cr_assert_eq(p->ring_bytes, 0);
    cr_assert_eq(p->group[3].xoff_bytes, 65536);
    cr_assert_eq(p->group[3].headroom_bytes, CONF_HEADROOM_AUTO);
    cr_assert_eq(p->queue[0].weight, 100);
    cr_assert_eq(p->map.given, CONF_MAP_TRUST | CONF_MAP_QUEUE);
    cr_assert_eq(p->map.prio_to_queue[3], 0);
    cr_assert_eq(p->queue[0].wred_max_bytes, 0);
    cr_assert_eq(c->bridges[0]->map.prio_tags, DP_PRIO_TAGS_KEEP);
    cr_assert_eq(c->bridges[0]->map.dscp_to_prio[46], 5);
    cr_assert_eq(c->bridges[0]->map.prio_to_dscp[3], CONF_KEEP);
    conf_destroy(c);
    store_close(s);
    text = raw_query(rig_path(""), "PRAGMA user_version");
    snprintf(want, sizeof(want), "%d|\n", store_schema_version());
    cr_assert_str_eq(text, want);
    free(text);
}

Test(store, both_ways_make_the_same_schema)
{
    static const char sql[] =
        "SELECT m.name, p.cid, p.name, p.type, p.\"notnull\", p.dflt_value,"
        " p.pk FROM sqlite_master m, pragma_table_info(m.name) p"
        " WHERE m.type = 'table' ORDER BY 1, 2";
    char *fresh, *migrated;

    store_close(rig_open());
    fresh = raw_query(rig_path(""), sql);
    cr_assert(strstr(fresh, "ring_bytes"));
    rig_down();
    rig_up();
    make_version_1();
    store_close(rig_open());
    migrated = raw_query(rig_path(""), sql);
    cr_assert_str_eq(fresh, migrated);
    free(fresh);
    free(migrated);
}

Test(store, a_migration_that_fails_changes_nothing)
{
    char *text;

    make_version_1();
    raw_sql(rig_path(""), "ALTER TABLE port ADD COLUMN ring_bytes");
    assert_refused(EUCLEAN, "cannot migrate it: duplicate column name");
    text = raw_query(rig_path(""), "PRAGMA user_version");
    cr_assert_str_eq(text, "1|\n");
    free(text);
}

/* --- others ----------------------------------------------------------- */

Test(store, a_second_instance_is_refused)
{
    struct store *second = NULL;
    char words[64];
    int ready[2];
    pid_t child;
    char c;

    cr_assert_eq(pipe(ready), 0);
    child = fork();
    if (!child) {
        rig_open();
        if (write(ready[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    cr_assert_eq(read(ready[0], &c, 1), 1);
    cr_assert_eq(store_open(rig_path(""), &second, &err), EBUSY);
    snprintf(words, sizeof(words), "another instance has it open (pid %ld)",
             (long) child);
    cr_assert(strstr(err.msg, words), "%s", err.msg);
    cr_assert_eq(kill(child, SIGKILL), 0);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    cr_assert_eq(store_open(rig_path(""), &second, &err), 0, "%s", err.msg);
    store_close(second);
}

Test(store, a_second_instance_by_another_name_is_refused)
{
    struct store *s = rig_open(), *second = NULL;
    char link[512];

    snprintf(link, sizeof(link), "%s/other.db", rig_dir());
    cr_assert_eq(symlink(rig_path(""), link), 0);
    cr_assert_eq(store_open(link, &second, &err), EBUSY);
    cr_assert(strstr(err.msg, "another instance"), "%s", err.msg);
    store_close(s);
    cr_assert_eq(store_open(link, &second, &err), 0, "%s", err.msg);
    store_close(second);
}

Test(store, a_change_by_another_program_is_noticed)
{
    struct conf *empty = conf_create(), *c = conf_create(), *loaded;
    struct store *s = rig_open();
    struct conf_bridge *b;
    char *text;

    cr_assert_eq(conf_add_bridge(c, "br0", &b, NULL), 0);
    cr_assert_eq(store_commit(s, empty, c, &err), 0, "%s", err.msg);
    text = raw_query(rig_path(""), "SELECT * FROM bridge"); /* may look */
    free(text);
    cr_assert_eq(store_commit(s, c, c, &err), 0, "%s", err.msg);
    raw_sql(rig_path(""), "UPDATE bridge SET mac_ageing_s = 5");
    cr_assert_eq(store_commit(s, c, empty, &err), ESTALE);
    cr_assert(strstr(err.msg, "another program changed it"), "%s", err.msg);
    cr_assert_eq(store_load(s, &loaded, &err), 0, "%s", err.msg);
    cr_assert_eq(loaded->bridges[0]->mac_ageing_s, 5);
    cr_assert_eq(store_commit(s, loaded, empty, &err), 0, "%s", err.msg);
    conf_destroy(loaded);
    conf_destroy(c);
    conf_destroy(empty);
    store_close(s);
}

Test(store, a_file_that_went_away_is_noticed)
{
    struct conf *empty = conf_create(), *c = conf_create();
    struct store *s = rig_open();
    struct conf_bridge *b;

    cr_assert_eq(conf_add_bridge(c, "br0", &b, NULL), 0);
    cr_assert_eq(unlink(rig_path("")), 0);
    cr_assert_eq(store_commit(s, empty, c, &err), ESTALE);
    cr_assert(strstr(err.msg, "removed or replaced"), "%s", err.msg);
    conf_destroy(c);
    conf_destroy(empty);
    store_close(s);
}

Test(store, a_lock_of_another_program_is_waited_for_and_named)
{
    struct conf *empty = conf_create(), *c = conf_create(), *loaded;
    struct store *s = rig_open();
    struct conf_bridge *b;
    sqlite3 *other;

    cr_assert_eq(conf_add_bridge(c, "br0", &b, NULL), 0);
    cr_assert_eq(sqlite3_open(rig_path(""), &other), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL),
                 SQLITE_OK);
    cr_assert_eq(store_commit(s, empty, c, &err), EBUSY);
    cr_assert(strstr(err.msg, "database is locked"), "%s", err.msg);
    cr_assert_eq(sqlite3_close(other), SQLITE_OK);
    cr_assert_eq(store_load(s, &loaded, &err), 0);
    cr_assert_eq(loaded->n_bridges, 0);
    conf_destroy(loaded);
    cr_assert_eq(store_commit(s, empty, c, &err), 0, "%s", err.msg);
    conf_destroy(c);
    conf_destroy(empty);
    store_close(s);
}
