/* SPDX-License-Identifier: Apache-2.0
 *
 * Directories, pid file and listening sockets: see files.h.
 */
#include "files.h"

#include "base/log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 128

static int
make_dir(const char *path, const struct privs_user *user, struct err *err)
{
    if (mkdir(path, 0755)) {
        if (errno == EEXIST)
            return 0;
        return err_sys(err, errno, "cannot make the directory %s", path);
    }
    if (user->given && chown(path, user->uid, user->gid))
        return err_sys(err, errno, "cannot give the directory %s away", path);
    return 0;
}

int
files_make_dir_of(const char *path, const struct privs_user *user,
                  struct err *err)
{
    char dir[4096];
    int error;

    if ((size_t) snprintf(dir, sizeof(dir), "%s", path) >= sizeof(dir))
        return err_set(err, ENAMETOOLONG, NULL, NULL, NULL,
                       "%.64s...: the path is too long", path);
    for (char *p = dir + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        error = make_dir(dir, user, err);
        if (error)
            return error;
        *p = '/';
    }
    return 0;
}

/* Whether path is still what fd has open. */
static bool
is_same_file(const char *path, int fd)
{
    struct stat a, b;

    return !lstat(path, &a) && !fstat(fd, &b) && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* Reads what the file says; false: that is neither a pid nor nothing. */
static bool
read_pid(int fd, char *text, size_t size)
{
    ssize_t n = pread(fd, text, size - 1, 0);
    size_t digits;

    text[n > 0 ? n : 0] = '\0';
    digits = strspn(text, "0123456789");
    if (n < 0 || digits > 10 || strcmp(text + digits, digits ? "\n" : ""))
        return false;
    text[digits] = '\0';
    return true;
}

/* Locks the pid file and sees whether it may be written. */
static int
claim_pid(const char *path, int fd, struct err *err)
{
    char text[16];
    struct stat st;
    bool is_pid;

    if (fstat(fd, &st))
        return err_sys(err, errno, "cannot look at the pid file %s", path);
    is_pid = S_ISREG(st.st_mode) && read_pid(fd, text, sizeof(text));
    if (is_pid && flock(fd, LOCK_EX | LOCK_NB))
        return errno == EWOULDBLOCK
                   ? err_set(err, EADDRINUSE, "--pid-file", path,
                             "a path that is free",
                             "the pid file %s is in use: another daemon has "
                             "it (pid %s)",
                             path, *text ? text : "unknown")
                   : err_sys(err, errno, "cannot lock the pid file %s", path);
    if (!is_pid)
        return err_set(err, EEXIST, "--pid-file", path, "a path that is free",
                       "%s exists and is no pid file; it is left as it is",
                       path);
    return 0;
}

/* Opens and locks it: again, when the one that had it took it away just
 * then. */
static int
open_pid(const char *path, int *fd, struct err *err)
{
    int error;

    for (;;) {
        *fd =
            open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                 0644);
        if (*fd < 0)
            return err_sys(err, errno, "cannot write the pid file %s", path);
        error = claim_pid(path, *fd, err);
        if (!error && is_same_file(path, *fd))
            return 0;
        close(*fd);
        if (error)
            return error;
    }
}

int
files_write_pid(const char *path, int *out, struct err *err)
{
    char text[32];
    int n = snprintf(text, sizeof(text), "%ld\n", (long) getpid());
    int fd, error = open_pid(path, &fd, err);

    if (error)
        return error;
    errno = 0;
    if (ftruncate(fd, 0) || pwrite(fd, text, (size_t) n, 0) != n) {
        error = err_sys(err, errno ? errno : EIO,
                        "cannot write the pid file %s", path);
        files_remove_pid(path, fd);
        return error;
    }
    *out = fd;
    return 0;
}

void
files_remove_pid(const char *path, int fd)
{
    if (is_same_file(path, fd) && unlink(path))
        log_warn("cannot remove the pid file %s: %s", path, strerror(errno));
    close(fd);
}

/* 0 when nothing is in the way at `path` (any more). */
static int
make_room(const char *path, const struct sockaddr_un *sun, struct err *err)
{
    struct stat st;
    int fd, error;

    if (lstat(path, &st))
        return errno == ENOENT
                   ? 0
                   : err_sys(err, errno, "cannot look at %s", path);
    if (!S_ISSOCK(st.st_mode))
        return err_set(err, EEXIST, "--socket", path, "a path that is free",
                       "%s exists and is no socket; it is left as it is",
                       path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_sys(err, errno, "cannot make a socket");
    error =
        connect(fd, (const struct sockaddr *) sun, sizeof(*sun)) ? errno : 0;
    close(fd);
    if (error == ECONNREFUSED) {
        log_info("%s: replacing a socket that a former daemon left", path);
        if (!unlink(path) || errno == ENOENT)
            return 0;
        return err_sys(err, errno, "cannot remove the stale socket %s", path);
    }
    return err_set(err, EADDRINUSE, "--socket", path, "a path that is free",
                   "%s is in use: another daemon listens on it", path);
}

#define LOCK_SUFFIX ".lock"

static void
lock_name(const char *path, char name[128])
{
    snprintf(name, 128, "%.107s" LOCK_SUFFIX, path);
}

/* Whether fd is what lies at `name` still: its last owner may have removed it
 * between our open and our lock. */
static bool
is_at(int fd, const char *name)
{
    struct stat a, b;

    return !fstat(fd, &a) && !lstat(name, &b) && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* Takes the lock beside the socket, held as long as we live: of several
 * daemons that find the same stale socket only one replaces it. */
static int
lock_socket(const char *path, int *out, struct err *err)
{
    char name[128];
    int fd, error = 0;

    lock_name(path, name);
    for (;;) {
        fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
            return err_sys(err, errno, "cannot open the lock file %s", name);
        if (flock(fd, LOCK_EX | LOCK_NB))
            error = errno;
        if (!error && is_at(fd, name)) {
            *out = fd;
            return 0;
        }
        close(fd);
        if (error && error != EWOULDBLOCK)
            return err_sys(err, error, "cannot lock %s", name);
        if (error)
            return err_set(err, EADDRINUSE, "--socket", path,
                           "a path that is free",
                           "%s is in use: another daemon holds %s", path,
                           name);
    }
}

void
files_unlock(const char *path, int lock)
{
    char name[128];

    if (lock < 0)
        return;
    lock_name(path, name);
    if (unlink(name))
        log_debug("cannot remove %s: %s", name, strerror(errno));
    close(lock);
}

/* The path is ours: what is left there is replaced. */
static int
listen_at(const char *path, const struct sockaddr_un *sun, int *out,
          struct err *err)
{
    int fd, error = make_room(path, sun, err);
    mode_t old;

    if (error)
        return error;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_sys(err, errno, "cannot make a socket");
    old = umask(0117); /* 0660: root, or the user, and its group */
    error = bind(fd, (const struct sockaddr *) sun, sizeof(*sun)) ? errno : 0;
    umask(old);
    if (!error && listen(fd, BACKLOG))
        error = errno;
    if (error) {
        close(fd);
        return err_sys(err, error, "cannot listen on %s", path);
    }
    *out = fd;
    return 0;
}

int
files_listen_unix(const char *path, int *out, int *lock, struct err *err)
{
    struct sockaddr_un sun = {.sun_family = AF_UNIX};
    int error;

    if (strlen(path) >= sizeof(sun.sun_path))
        return err_set(err, ENAMETOOLONG, "--socket", path,
                       "a path of at most 107 octets",
                       "%.64s...: too long for a socket (at most %zu octets)",
                       path, sizeof(sun.sun_path) - 1);
    strcpy(sun.sun_path, path);
    error = lock_socket(path, lock, err);
    return error ? error : listen_at(path, &sun, out, err);
}

/* Takes "127.0.0.1:6640" or "[::1]:6640" apart. */
static bool
parse_loopback(const char *where, struct sockaddr_storage *ss, socklen_t *len)
{
    struct sockaddr_in *in = (struct sockaddr_in *) ss;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *) ss;
    const char *colon = strrchr(where, ':');
    char host[64], *end;
    unsigned long port;

    if (!colon || (size_t) (colon - where) >= sizeof(host))
        return false;
    snprintf(host, sizeof(host), "%.*s", (int) (colon - where), where);
    port = strtoul(colon + 1, &end, 10);
    if (end == colon + 1 || *end || port < 1 || port > 65535)
        return false;
    memset(ss, 0, sizeof(*ss));
    if (!strcmp(host, "[::1]")) {
        in6->sin6_family = AF_INET6;
        in6->sin6_addr = in6addr_loopback;
        in6->sin6_port = htons((uint16_t) port);
        *len = sizeof(*in6);
        return true;
    }
    in->sin_family = AF_INET;
    in->sin_port = htons((uint16_t) port);
    *len = sizeof(*in);
    return inet_pton(AF_INET, host, &in->sin_addr) == 1 &&
           ntohl(in->sin_addr.s_addr) >> 24 == 127;
}

int
files_listen_loopback(const char *where, int *out, struct err *err)
{
    struct sockaddr_storage ss;
    socklen_t len;
    int fd, error, one = 1;

    if (!parse_loopback(where, &ss, &len))
        return err_set(err, EINVAL, "--rpc-tcp", where,
                       "127.0.0.1:PORT or [::1]:PORT",
                       "--rpc-tcp %s: only a loopback address and a port from "
                       "1 to 65535 are allowed (127.0.0.1:PORT): whoever "
                       "connects may change everything",
                       where);
    fd = socket(ss.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_sys(err, errno, "cannot make a socket");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(fd, (struct sockaddr *) &ss, len) || listen(fd, BACKLOG)) {
        error = errno;
        close(fd);
        return err_sys(err, error, "cannot listen on %s", where);
    }
    *out = fd;
    return 0;
}
