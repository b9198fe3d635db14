/* SPDX-License-Identifier: Apache-2.0
 *
 * The files that the daemon makes beside its database: directories, the pid
 * file, the place of the control socket.  Control thread, at start and end.
 */
#ifndef VSWITCHD_FILES_H
#define VSWITCHD_FILES_H

#include "base/err.h"
#include "privs.h"

/* Makes the directory that `path` lies in, with those above it; what it makes
 * belongs to the user. */
int files_make_dir_of(const char *path, const struct privs_user *,
                      struct err *);

/* Writes our pid to a file that we keep locked, as *fd, as long as we live.
 * One that another process has locked (EADDRINUSE), and one that holds
 * something else than a pid (EEXIST), are left alone; what a killed daemon
 * left is not locked.  The other takes the file away and closes it. */
int files_write_pid(const char *path, int *fd, struct err *);
void files_remove_pid(const char *path, int fd);

/* Binds and listens on a Unix stream socket at `path`.  A socket that nobody
 * listens on any more is replaced; one in use (EADDRINUSE) and a file that is
 * no socket (EEXIST) are left alone.  *lock holds PATH.lock meanwhile, also
 * when this fails; EADDRINUSE when another daemon does. */
int files_listen_unix(const char *path, int *fd, int *lock, struct err *);
/* Removes the lock file and lets go of it; lock -1: nothing. */
void files_unlock(const char *path, int lock);

/* Listens on "ADDRESS:PORT", on a loopback address only. */
int files_listen_loopback(const char *where, int *fd, struct err *);

#endif
