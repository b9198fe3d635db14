/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl port attach and detach: a veth pair between the daemon's network
 * namespace and that of a container, a named namespace or a process, whose
 * near end is a port.  The daemon has no privilege to enter other namespaces;
 * this program does it, and first goes where the daemon is.  One thread.
 */
#include "ctl.h"

#include "conf/conf.h"
#include "netdev/attach.h"
#include "wire/eth.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* How many octets of a name that is too long stay, before its digest. */
#define NAME_KEPT (CONF_NAME_MAX - 7)

/* Of a port on an interface: the near end of the pair. */
static const char *const types[] = {"afpacket", "afxdp", "auto", NULL};

/* What is about the pair goes to params/attach, what is about the port stays
 * as `port.add` wants it. */
const struct ctl_key ctl_attach_keys[] = {
    {.name = "port",
     .kind = CTL_TEXT,
     .path = "name",
     .doc = "name of the port here [made of the container's and IFNAME]"},
    {.name = "type",
     .kind = CTL_WORD,
     .path = "type",
     .choices = types,
     .doc = "what the port is made of [afpacket]"},
    {.name = "mac",
     .kind = CTL_TEXT,
     .path = "attach/mac",
     .doc = "address of the interface there [random]"},
    {.name = "mtu",
     .kind = CTL_QTY,
     .path = "attach/mtu",
     .min = 68,
     .max = 65535,
     .doc = "MTU of both ends [1500]"},
    {.name = "address",
     .kind = CTL_TEXT,
     .path = "attach/address",
     .doc = "IP address of the interface there, like 10.0.0.1/24"},
    {.name = "rate",
     .kind = CTL_QTY,
     .path = "rate_bps",
     .unit = RPC_U_BPS,
     .max = CONF_MAX_RATE,
     .word = "auto=0",
     .doc = "line rate, shaped to; auto: the interface's, not shaped"},
    {.name = "pfc",
     .kind = CTL_PRIOS,
     .path = "pfc/priorities",
     .doc = "lossless priorities [none]"},
    {.name = NULL}};

/* --- which namespace ------------------------------------------------------
 */

/* The pid of a running container, as the engine's own program tells; 0: there
 * is no such program or container. */
static long
ask_engine(const char *program, const char *name)
{
    char *argv[] = {(char *) program,
                    (char *) "inspect",
                    (char *) "--type=container",
                    (char *) "--format",
                    (char *) "{{.State.Pid}}",
                    (char *) "--",
                    (char *) name,
                    NULL};
    posix_spawn_file_actions_t fa;
    char text[32] = "";
    int fds[2], status = 1;
    ssize_t n = 0;
    pid_t pid;

    if (pipe(fds))
        return 0;
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, fds[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&fa, fds[0]);
    posix_spawn_file_actions_addclose(&fa, fds[1]);
    posix_spawn_file_actions_addopen(&fa, STDERR_FILENO, "/dev/null", 1, 0);
    if (posix_spawnp(&pid, program, &fa, NULL, argv, environ) == 0) {
        close(fds[1]);
        n = read(fds[0], text, sizeof(text) - 1);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    } else {
        close(fds[1]);
    }
    close(fds[0]);
    posix_spawn_file_actions_destroy(&fa);
    return n > 0 && status == 0 ? strtol(text, NULL, 10) : 0;
}

static int
open_target(const char *word, int *fd, struct err *err)
{
    static const char *const engines[] = {"docker", "podman", NULL};
    int rc = attach_open_netns(word, fd, err);

    if (rc != ESRCH || strchr(word, '/'))
        return rc;
    for (size_t i = 0; engines[i]; i++) {
        long pid = ask_engine(engines[i], word);
        char text[24];

        if (pid > 0) {
            snprintf(text, sizeof(text), "%ld", pid);
            return attach_open_netns(text, fd, err);
        }
    }
    return err_set(err, ESRCH, NULL, word,
                   "a running container, a name that `ip netns` lists, or a "
                   "process id",
                   "'%.60s' is no running container, no network namespace "
                   "and no process",
                   word);
}

/* Goes to the network namespace of whoever made the control socket, where its
 * ports are.  Where that cannot be seen (a socket of TCP, a process of another
 * container) it is taken to be our own. */
static int
enter_daemon(struct ctl *ctl, struct err *err)
{
    struct ucred peer = {.pid = 0};
    socklen_t size = sizeof(peer);
    struct stat there, here;
    char path[40];
    int fd, rc = 0;

    if (getsockopt(rpc_conn_fd(ctl->conn), SOL_SOCKET, SO_PEERCRED, &peer,
                   &size) ||
        peer.pid <= 0)
        return 0;
    snprintf(path, sizeof(path), "/proc/%ld/ns/net", (long) peer.pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    if (fstat(fd, &there) || stat("/proc/thread-self/ns/net", &here))
        rc = err_sys(err, errno, "network namespace \"%s\"", path);
    else if ((there.st_ino != here.st_ino || there.st_dev != here.st_dev) &&
             setns(fd, CLONE_NEWNET))
        rc = err_sys(err, errno,
                     "cannot enter the network namespace of the daemon, "
                     "process %ld",
                     (long) peer.pid);
    close(fd);
    return rc;
}

/* --- names ----------------------------------------------------------------
 */

/* "web-eth1"; what is too long is cut and ends in a digest of the whole, the
 * same one each time (FNV-1a). */
static void
make_name(const char *target, const char *ifname, char out[CONF_NAME_MAX + 1])
{
    const char *base = strrchr(target, '/');
    uint32_t hash = UINT32_C(2166136261);
    char whole[256];

    snprintf(whole, sizeof(whole), "%s-%s", base ? base + 1 : target, ifname);
    if (strlen(whole) <= CONF_NAME_MAX) {
        memcpy(out, whole, strlen(whole) + 1);
        return;
    }
    for (const char *c = whole; *c; c++)
        hash = (hash ^ (uint8_t) *c) * UINT32_C(16777619);
    snprintf(out, CONF_NAME_MAX + 1, "%.*s-%06" PRIx32, NAME_KEPT, whole,
             hash & 0xffffff);
}

/* --- the verbs ------------------------------------------------------------
 */

/* The kernel's rule; its own errors name another reason. */
static int
check_name(const char *what, const char *name, struct err *err)
{
    size_t n = strlen(name);

    if (n > 0 && n <= CONF_NAME_MAX && !strpbrk(name, "/: \t\n\v\f\r") &&
        strcmp(name, ".") && strcmp(name, ".."))
        return 0;
    return err_set(err, EINVAL, NULL, name, NULL,
                   "%s: '%.40s' is no name for an interface: 1 to %d octets, "
                   "no '/', ':' or spaces",
                   what, name, CONF_NAME_MAX);
}

static int
read_options(struct json_object *o, struct attach *a, struct err *err)
{
    const char *mac = ctl_text(o, "mac");

    if (check_name("IFNAME", a->ifname, err) ||
        check_name("port", a->port, err))
        return EINVAL;
    a->mtu = (uint32_t) ctl_int(o, "mtu");
    if (ctl_get(o, "address"))
        a->address = ctl_text(o, "address");
    if (!ctl_get(o, "mac"))
        return 0;
    a->have_mac = true;
    if (eth_mac_parse(mac, a->mac) && !(a->mac[0] & 1))
        return 0;
    return err_set(err, EINVAL, NULL, mac,
                   "the address of a station, like 02:00:00:00:00:01",
                   "mac: '%.40s' is not the address of a station, like "
                   "02:00:00:00:00:01",
                   mac);
}

enum ctl_status
ctl_attach(struct ctl *ctl, struct json_object *params)
{
    struct json_object *o = json_object_get(ctl_get(params, "attach"));
    struct json_object *result = NULL;
    struct attach a = {.ifname = ctl->words[2], .ns_fd = -1};
    char name[CONF_NAME_MAX + 1];
    enum ctl_status status = CTL_REFUSED;
    struct err err;

    err_clear(&err);
    json_object_object_del(params, "attach");
    if (!ctl_get(params, "name")) {
        make_name(ctl->words[1], ctl->words[2], name);
        json_object_object_add(params, "name", json_object_new_string(name));
    }
    a.port = ctl_text(params, "name");
    if (read_options(o, &a, &err)) {
        ctl_usage_error(ctl, "%s", err.msg);
        status = CTL_USAGE;
    } else if (ctl_connect(ctl) != CTL_OK) {
        status = CTL_NO_DAEMON;
    } else if (open_target(ctl->words[1], &a.ns_fd, &err) ||
               enter_daemon(ctl, &err) || attach_make(&a, &err)) {
        ctl_complain("port attach: %s", err.msg);
    } else {
        status = ctl_call(ctl, "port.add", json_object_get(params), &result);
        if (status != CTL_OK)
            attach_undo(a.port, NULL);
        else if (ctl->format == CTL_TABLE)
            printf("%s\n", a.port);
    }
    if (result)
        ctl_show(ctl, result);
    if (a.ns_fd >= 0)
        close(a.ns_fd);
    json_object_put(o);
    return status;
}

enum ctl_status
ctl_detach(struct ctl *ctl, struct json_object *params)
{
    const char *port = ctl_text(params, "name");
    struct json_object *result = NULL;
    enum ctl_status status = CTL_REFUSED;
    struct err err;

    err_clear(&err);
    if (ctl_connect(ctl) != CTL_OK) {
        status = CTL_NO_DAEMON;
    } else if (enter_daemon(ctl, &err)) {
        ctl_complain("port detach: %s", err.msg);
    } else if (!attach_is_ours(port)) {
        ctl_complain("port detach: interface '%.40s' is not here, or was not "
                     "made by port attach; port del takes a port away whose "
                     "interface has gone",
                     port);
    } else {
        status = ctl_call(ctl, "port.del", json_object_get(params), &result);
        if (status == CTL_OK && attach_undo(port, &err)) {
            ctl_complain("port detach: %s", err.msg);
            status = CTL_REFUSED;
        }
    }
    if (result)
        ctl_show(ctl, result);
    return status;
}
