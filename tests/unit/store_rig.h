/* SPDX-License-Identifier: Apache-2.0
 *
 * A directory of its own with a database in it, for the tests of db; and
 * pictures of files, to see whether they changed.
 */
#ifndef TESTS_UNIT_STORE_RIG_H
#define TESTS_UNIT_STORE_RIG_H

#include "db/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void rig_up(void);
void rig_down(void);
const char *rig_dir(void);
/* The database's path with something appended; valid until the 4th call. */
const char *rig_path(const char *suffix);
/* Opens it; fails the test when that fails. */
struct store *rig_open(void);
/* Writes a file beside it. */
void rig_write(const char *suffix, const void *data, size_t n);

/* In a mount namespace of the test's own, a file system of so many bytes
 * takes the place of the directory.  False: not allowed to. */
bool rig_mount(size_t bytes);
bool rig_resize(size_t bytes);
bool rig_remount_readonly(void);
void rig_unmount(void);

/* A file and its write-ahead log; absent ones are empty. */
struct image {
    uint8_t *data; /* of the file */
    size_t n;      /* its length */
    uint8_t *log;  /* of its -wal */
    size_t n_log;  /* its length */
};
void image_take(struct image *, const char *path);
bool image_equal(const struct image *, const struct image *);
void image_drop(struct image *);

#endif
