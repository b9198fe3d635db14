/* SPDX-License-Identifier: Apache-2.0
 *
 * See store_rig.h.
 */
#include "store_rig.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[256];
static bool mounted; /* a file system lies over it */

void
rig_up(void)
{
    const char *tmp = getenv("TMPDIR");

    snprintf(dir, sizeof(dir), "%s/slc-store-XXXXXX", tmp ? tmp : "/tmp");
    cr_assert(mkdtemp(dir));
    atexit(rig_down); /* a test that fails does not come to its end */
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void) st;
    (void) type;
    (void) ftw;
    return remove(path);
}

void
rig_down(void)
{
    if (mounted)
        umount2(dir, MNT_DETACH);
    mounted = false;
    nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *
rig_dir(void)
{
    return dir;
}

const char *
rig_path(const char *suffix)
{
    static char paths[4][320];
    static unsigned n;
    char *path = paths[n++ % 4];

    snprintf(path, sizeof(paths[0]), "%s/conf.db%s", dir, suffix);
    return path;
}

struct store *
rig_open(void)
{
    struct store *s = NULL;
    struct err err;

    cr_assert_eq(store_open(rig_path(""), &s, &err), 0, "%s", err.msg);
    return s;
}

void
rig_write(const char *suffix, const void *data, size_t n)
{
    int fd = open(rig_path(suffix), O_WRONLY | O_CREAT | O_TRUNC, 0644);

    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, data, n), (ssize_t) n);
    close(fd);
}

bool
rig_mount(size_t bytes)
{
    char options[64];

    snprintf(options, sizeof(options), "size=%zu", bytes);
    mounted = !unshare(CLONE_NEWNS) &&
              !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
              !mount("slc-store", dir, "tmpfs", 0, options);
    return mounted;
}

bool
rig_resize(size_t bytes)
{
    char options[64];

    snprintf(options, sizeof(options), "size=%zu", bytes);
    return !mount("slc-store", dir, "tmpfs", MS_REMOUNT, options);
}

void
rig_unmount(void)
{
    cr_assert_eq(umount(dir), 0);
    mounted = false;
}

bool
rig_remount_readonly(void)
{
    return !mount("slc-store", dir, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL);
}

static uint8_t *
slurp(const char *path, size_t *n)
{
    struct stat st;
    uint8_t *data;
    int fd = open(path, O_RDONLY);

    *n = 0;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        close(fd);
        return NULL;
    }
    *n = (size_t) st.st_size;
    data = malloc(*n + 1);
    cr_assert_eq(read(fd, data, *n), (ssize_t) *n);
    close(fd);
    return data;
}

void
image_take(struct image *im, const char *path)
{
    char wal[512];

    snprintf(wal, sizeof(wal), "%s-wal", path);
    im->data = slurp(path, &im->n);
    im->log = slurp(wal, &im->n_log);
}

bool
image_equal(const struct image *a, const struct image *b)
{
    return a->n == b->n && a->n_log == b->n_log &&
           (!a->data || !memcmp(a->data, b->data, a->n)) &&
           (!a->log || !memcmp(a->log, b->log, a->n_log));
}

void
image_drop(struct image *im)
{
    free(im->data);
    free(im->log);
}
