/* SPDX-License-Identifier: Apache-2.0
 *
 * db when things go wrong under it: killed in the middle of changes, a disk
 * that is full or read-only, no permission.
 */
#include "conf_random.h"
#include "store_rig.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N_CHANGES 1000
#define N_KILLS   40

static struct err err;

TestSuite(store_faults, .init = rig_up, .fini = rig_down);

/* --- killed ----------------------------------------------------------- */

/* State number n: told apart in three tables, so that half a change shows. */
static struct conf *
numbered(uint32_t n)
{
    struct conf *c = conf_create();
    struct conf_bridge *b;
    struct conf_port *p;

    cr_assert_eq(conf_add_bridge(c, "br0", &b, NULL), 0);
    b->mac_ageing_s = n;
    cr_assert_eq(conf_add_port(c, b, "eth1", "mem", &p, NULL), 0);
    p->rate_bps = 1000 + n;
    p->group[3].xoff_bytes = 200000 + n;
    if (n % 2)
        cr_assert_eq(conf_add_port(c, b, "odd", "mem", &p, NULL), 0);
    return c;
}

static uint32_t
load_number(void)
{
    struct store *s = rig_open();
    struct conf *c, *expected;
    uint32_t n = 0;

    cr_assert_eq(store_load(s, &c, &err), 0, "%s", err.msg);
    if (c->n_bridges) {
        n = c->bridges[0]->mac_ageing_s;
        expected = numbered(n);
        cr_assert(conf_equal(c, expected), "state %u is not whole", n);
        conf_destroy(expected);
    }
    conf_destroy(c);
    store_close(s);
    return n;
}

/* Child: changes from state `n` on, each acknowledged after its commit. */
static void
commit_changes(uint32_t n, int ack)
{
    struct store *s = rig_open();
    uint32_t last = n + N_CHANGES;
    struct conf *now, *next;

    if (store_load(s, &now, NULL))
        _exit(2);
    while (n < last) {
        next = numbered(++n);
        if (store_commit(s, now, next, NULL))
            _exit(3);
        if (write(ack, &n, sizeof(n)) != sizeof(n))
            _exit(4);
        conf_destroy(now);
        now = next;
    }
    _exit(0);
}

/* Lets a child make changes, kills it after some and a moment, and says what
 * the last acknowledged one was. */
static uint32_t
kill_one(uint32_t from, struct rng *r)
{
    uint64_t n_before = rng_below(r, 40);
    struct timespec moment = {0, (long) rng_below(r, 3000000)};
    uint32_t acked = from, n;
    pid_t child;
    int ack[2];

    cr_assert_eq(pipe(ack), 0);
    child = fork();
    if (!child) {
        close(ack[0]);
        commit_changes(from, ack[1]);
    }
    close(ack[1]);
    while (n_before-- > 0 && read(ack[0], &n, sizeof(n)) == sizeof(n))
        acked = n;
    nanosleep(&moment, NULL);
    cr_assert_eq(kill(child, SIGKILL), 0);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    while (read(ack[0], &n, sizeof(n)) == sizeof(n))
        acked = n;
    close(ack[0]);
    return acked;
}

/* SLUICE_SEED says where in the changes the kills fall; the machine has a
 * say too. */
Test(store_faults, killed_in_the_middle_of_changes)
{
    const char *seed = getenv("SLUICE_SEED");
    struct rng r = {seed ? strtoull(seed, NULL, 0) : 1};
    uint32_t now = 0;
    int i;

    for (i = 0; i < N_KILLS; i++) {
        uint32_t acked = kill_one(now, &r);

        now = load_number();
        cr_assert(now == acked || now == acked + 1,
                  "kill %d: acknowledged %u, found %u", i, acked, now);
    }
    cr_assert_gt(now, N_KILLS, "the changes did not get on");
}

/* Killed while the database is made: afterwards there is none, or a whole
 * one. */
Test(store_faults, killed_in_the_middle_of_creation)
{
    struct rng r = {3};
    int i;

    for (i = 0; i < 40; i++) {
        struct timespec moment = {0, (long) rng_below(&r, 6000000)};
        pid_t child = fork();

        if (!child) {
            rig_open();
            _exit(0);
        }
        nanosleep(&moment, NULL);
        kill(child, SIGKILL);
        cr_assert_eq(waitpid(child, NULL, 0), child);
        cr_assert_eq(load_number(), 0);
        rig_down();
        cr_assert_eq(mkdir(rig_dir(), 0700), 0);
    }
}

/* --- full, read-only, forbidden --------------------------------------- */

static void
fill_disk(void)
{
    static const uint8_t zeros[4096];
    int fd = open(rig_path(".filler"), O_WRONLY | O_CREAT, 0644);
    size_t n = sizeof(zeros);
    ssize_t rc;

    cr_assert_geq(fd, 0);
    while ((rc = write(fd, zeros, n)) > 0 || n > 1)
        if (rc < 0)
            n /= 2;
    close(fd);
}

static struct conf *
large(void)
{
    struct conf *c = conf_create();
    struct conf_bridge *b;
    struct conf_port *p;
    char name[24];
    int i;

    cr_assert_eq(conf_add_bridge(c, "large", &b, NULL), 0);
    for (i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "p%d", i);
        cr_assert_eq(conf_add_port(c, b, name, "mem", &p, NULL), 0);
    }
    return c;
}

Test(store_faults, a_disk_that_fills_up_while_it_runs)
{
    struct conf *a = numbered(7), *b = large(), *empty = conf_create(), *c;
    struct store *s;

    if (!rig_mount(1 << 20))
        cr_skip_test("no right to mount a file system");
    s = rig_open();
    cr_assert_eq(store_commit(s, empty, a, &err), 0, "%s", err.msg);
    fill_disk();
    cr_assert_eq(store_commit(s, a, b, &err), ENOSPC, "%s", err.msg);
    cr_assert(strstr(err.msg, "disk is full"), "%s", err.msg);
    cr_assert_eq(store_load(s, &c, &err), 0, "%s", err.msg);
    cr_assert(conf_equal(a, c));
    conf_destroy(c);
    /* After a restart on the full disk, and when there is room again. */
    store_close(s);
    s = rig_open();
    cr_assert_eq(store_load(s, &c, &err), 0, "%s", err.msg);
    cr_assert(conf_equal(a, c));
    conf_destroy(c);
    cr_assert_eq(store_commit(s, a, b, &err), ENOSPC, "%s", err.msg);
    cr_assert_eq(unlink(rig_path(".filler")), 0);
    cr_assert_eq(store_commit(s, a, b, &err), 0, "%s", err.msg);
    cr_assert_eq(store_load(s, &c, &err), 0, "%s", err.msg);
    cr_assert(conf_equal(b, c));
    conf_destroy(c);
    store_close(s);
    conf_destroy(a);
    conf_destroy(b);
    conf_destroy(empty);
}

Test(store_faults, a_disk_that_is_full_from_the_start)
{
    struct store *s = NULL;

    if (!rig_mount(1 << 20))
        cr_skip_test("no right to mount a file system");
    fill_disk();
    cr_assert_eq(store_open(rig_path(""), &s, &err), ENOSPC, "%s", err.msg);
    cr_assert_null(s);
    cr_assert(strstr(err.msg, "full") || strstr(err.msg, "No space"), "%s",
              err.msg);
    cr_assert_neq(access(rig_path(""), F_OK), 0);
    cr_assert_neq(access(rig_path(".new"), F_OK), 0);
    cr_assert_eq(unlink(rig_path(".filler")), 0);
    store_close(rig_open());
}

static void
no_leftovers(size_t size)
{
    static const char *const suffixes[] = {".new", ".new-wal", ".new-shm",
                                           ".new-journal"};

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        cr_assert_neq(access(rig_path(suffixes[i]), F_OK), 0, "%zu: %s", size,
                      suffixes[i]);
}

/* Wherever in its making the room ends: the next start makes it whole. */
Test(store_faults, a_disk_that_fills_up_while_it_is_made)
{
    unsigned n_failed = 0, n_opened = 0;
    size_t size;

    for (size = 8 << 10; size <= 320 << 10; size += 4 << 10) {
        struct store *s = NULL;

        if (!rig_mount(size))
            cr_skip_test("no right to mount a file system");
        if (store_open(rig_path(""), &s, &err)) {
            n_failed++;
            cr_assert(err.code == ENOSPC || err.code == EIO, "%zu: %s", size,
                      err.msg);
            cr_assert(strstr(err.msg, "full") || strstr(err.msg, "No space"),
                      "%zu: %s", size, err.msg);
        } else {
            n_opened++;
            store_close(s);
        }
        no_leftovers(size);
        cr_assert(rig_resize(4 << 20));
        s = NULL;
        cr_assert_eq(store_open(rig_path(""), &s, &err), 0, "%zu: %s", size,
                     err.msg);
        store_close(s);
        cr_assert_eq(load_number(), 0);
        rig_unmount();
    }
    cr_assert_gt(n_failed, 10);
    cr_assert_gt(n_opened, 10);
}

Test(store_faults, what_a_creation_left_is_removed)
{
    store_close(rig_open());
    rig_write(".new", "rest", 4);
    rig_write(".new-wal", "rest", 4);
    rig_write(".new-shm", "rest", 4);
    store_close(rig_open());
    no_leftovers(0);
}

Test(store_faults, a_read_only_file_system)
{
    struct conf *a = numbered(7), *empty = conf_create();
    struct image before, after;
    struct store *s;

    if (!rig_mount(1 << 20))
        cr_skip_test("no right to mount a file system");
    s = rig_open();
    cr_assert_eq(store_commit(s, empty, a, &err), 0, "%s", err.msg);
    store_close(s);
    image_take(&before, rig_path(""));
    cr_assert(rig_remount_readonly());
    s = NULL;
    cr_assert_eq(store_open(rig_path(""), &s, &err), EROFS, "%s", err.msg);
    cr_assert_null(s);
    cr_assert(strstr(err.msg, "Read-only file system"), "%s", err.msg);
    image_take(&after, rig_path(""));
    cr_assert(image_equal(&before, &after));
    image_drop(&before);
    image_drop(&after);
    conf_destroy(a);
    conf_destroy(empty);
}

/* Becomes someone who may do nothing here. */
static bool
become_nobody(void)
{
    return geteuid() || !seteuid(65534);
}

Test(store_faults, no_permission)
{
    struct store *s = NULL;
    uid_t me = geteuid();

    store_close(rig_open());
    cr_assert_eq(chmod(rig_path(""), 0444), 0);
    cr_assert_eq(chmod(rig_path(".lock"), 0666), 0);
    cr_assert_eq(chmod(rig_dir(), 0755), 0);
    if (!become_nobody())
        cr_skip_test("no right to become another user");
    cr_assert_eq(store_open(rig_path(""), &s, &err), EACCES, "%s", err.msg);
    cr_assert(strstr(err.msg, "cannot write to it: Permission denied"), "%s",
              err.msg);
    if (!me)
        cr_assert_eq(seteuid(0), 0);
    cr_assert_eq(unlink(rig_path(".lock")), 0);
    cr_assert_eq(chmod(rig_dir(), 0555), 0);
    if (!me)
        cr_assert_eq(seteuid(65534), 0);
    cr_assert_eq(store_open(rig_path(""), &s, &err), EACCES, "%s", err.msg);
    cr_assert(strstr(err.msg, "cannot open its lock"), "%s", err.msg);
    if (!me)
        cr_assert_eq(seteuid(0), 0);
    cr_assert_eq(chmod(rig_dir(), 0755), 0);
}
