/* SPDX-License-Identifier: Apache-2.0
 *
 * sluiced: the daemon.  From the command line to a running switch, and back.
 *
 * The order of starting: directories, sockets and the database first, with
 * whatever rights we were given; then privileges are dropped; only then are
 * interfaces opened, so that what is kept is what is needed.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "base/clock.h"
#include "base/log.h"
#include "daemon.h"
#include "files.h"
#include "flow_persist.h"
#include "host.h"
#include "links.h"
#include "memory.h"
#include "methods.h"
#include "of.h"
#include "ofbridge.h"
#include "options.h"
#include "rpc_server.h"
#include "sched.h"
#include "txn.h"
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef HAVE_SYSTEMD
#include <systemd/sd-daemon.h>
#endif

/* What main() has open beside the daemon itself. */
struct process {
    struct options o;           /* command line */
    struct privs_user user;     /* of --user */
    struct host_spec host;      /* of --host */
    struct daemon d;            /* the daemon */
    struct reactor_watch *tick; /* once a second */
    int unix_fd;                /* listens, until the server has it; or -1 */
    int tcp_fd;                 /* likewise */
    int lock_fd;                /* locks the path of the socket; or -1 */
    bool owns_socket;           /* the path of the socket is ours */
    int pid_fd;                 /* the pid file, ours while locked; or -1 */
    int ready_fd;               /* --detach: tells the parent; or -1 */
};

struct bridge *
daemon_find_bridge(const struct daemon *d, const char *name)
{
    for (uint32_t i = 0; i < d->n_bridges; i++)
        if (!strcmp(d->bridges[i]->name, name))
            return d->bridges[i];
    return NULL;
}

struct port *
daemon_find_port(const struct daemon *d, const char *name,
                 struct bridge **bridge)
{
    for (uint32_t i = 0; i < d->n_bridges; i++)
        for (int s = 0; s < DP_MAX_PORTS; s++) {
            struct port *p = d->bridges[i]->ports[s];

            if (!p || strcmp(p->name, name))
                continue;
            if (bridge)
                *bridge = d->bridges[i];
            return p;
        }
    return NULL;
}

static void
say_systemd(const char *state)
{
#ifdef HAVE_SYSTEMD
    sd_notify(0, state);
#else
    (void) state;
#endif
}

static int
dump_openrpc(void)
{
    struct rpc_registry *r = rpc_registry_create();
    struct json_object *doc;

    methods_add(r, NULL);
    doc = rpc_registry_openrpc(r, RPC_TITLE, PACKAGE_VERSION);
    puts(json_object_to_json_string_ext(doc,
                                        JSON_C_TO_STRING_PRETTY |
                                            JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(doc);
    rpc_registry_destroy(r);
    return fflush(stdout) || ferror(stdout) ? 1 : 0;
}

/* --- going to the background ----------------------------------------------
 */

/* Forks; the parent waits until the child is ready, or has failed, and ends
 * with its status.  Returns in the child alone. */
static void
detach(struct process *p)
{
    int fds[2], status;
    char byte;
    pid_t pid;

    if (pipe2(fds, O_CLOEXEC)) {
        perror("sluiced: pipe");
        exit(1);
    }
    pid = fork();
    if (pid < 0) {
        perror("sluiced: fork");
        exit(1);
    }
    if (pid > 0) {
        close(fds[1]);
        if (read(fds[0], &byte, 1) == 1)
            _exit(0);
        if (waitpid(pid, &status, 0) == pid && WIFEXITED(status))
            _exit(WEXITSTATUS(status) ? WEXITSTATUS(status) : 1);
        _exit(1);
    }
    close(fds[0]);
    p->ready_fd = fds[1];
    setsid();
}

/* The parent may go; from here on nothing is said on the terminal. */
static void
say_ready(struct process *p)
{
    int null;

    if (p->ready_fd < 0)
        return;
    null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, 0);
        dup2(null, 1);
        if (p->o.log_to == LOG_DEST_SYSLOG)
            dup2(null, 2);
        if (null > 2)
            close(null);
    }
    if (write(p->ready_fd, "", 1) != 1)
        log_warn("the process that started us is gone");
    close(p->ready_fd);
    p->ready_fd = -1;
}

/* --- starting and ending --------------------------------------------------
 */

/* A port takes three descriptors. */
static void
raise_limits(void)
{
    struct rlimit lim;

    if (getrlimit(RLIMIT_NOFILE, &lim))
        return;
    lim.rlim_cur = lim.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &lim))
        log_warn("cannot raise the number of open files: %s", strerror(errno));
}

static int
make_directories(struct process *p, struct err *err)
{
    int error = files_make_dir_of(p->o.database, &p->user, err);

    if (!error)
        error = files_make_dir_of(p->o.socket, &p->user, err);
    if (!error && p->o.pid_file)
        error = files_make_dir_of(p->o.pid_file, &p->user, err);
    return error;
}

/* The database is opened with the rights that the daemon is going to have when
 * it becomes another user, whose it has to be; otherwise before capabilities
 * are dropped, so that root can use a database wherever it lies. */
static int
open_files(struct process *p, struct err *err)
{
    int error = make_directories(p, err);

    if (!error && p->user.given)
        error = privs_drop(&p->user, err);
    if (!error)
        error = store_open(p->o.database, &p->d.store, err);
    if (!error)
        error = files_listen_unix(p->o.socket, &p->unix_fd, &p->lock_fd, err);
    if (error)
        return error;
    p->owns_socket = true;
    if (p->o.rpc_tcp)
        error = files_listen_loopback(p->o.rpc_tcp, &p->tcp_fd, err);
    if (!error && p->o.pid_file)
        error = files_write_pid(p->o.pid_file, &p->pid_fd, err);
    if (!error && !p->user.given)
        error = privs_drop(&p->user, err);
    return error;
}

static void
on_tick(void *arg)
{
    watch_tick(arg);
    memory_tick();
}

static int
start_server(struct process *p, struct err *err)
{
    struct daemon *d = &p->d;
    int error = rpc_server_create(d, &d->server, err);

    if (error)
        return error;
    error = rpc_server_listen(d->server, p->unix_fd, err);
    p->unix_fd = -1;
    if (!error && p->tcp_fd >= 0) {
        error = rpc_server_listen(d->server, p->tcp_fd, err);
        p->tcp_fd = -1;
    }
    return error;
}

static int
start(struct process *p, struct err *err)
{
    struct daemon *d = &p->d;
    int error = 0;

    d->database = p->o.database;
    d->socket = p->o.socket;
    d->sched = p->o.sched;
    d->started_ns = clock_ns();
    if (!sched_permit(p->o.sched))
        privs_keep_nice();
    if (p->o.host)
        error = host_parse(p->o.host, &p->host, err);
    if (!error && p->o.user)
        error = privs_find_user(p->o.user, &p->user, err);
    if (!error)
        error = open_files(p, err);
    if (!error)
        error = sched_check(p->o.sched, err);
    if (!error)
        error = reactor_create(&d->reactor, err);
    if (!error)
        error = links_create(d, &d->links, err);
    if (error)
        return error;
    d->registry = rpc_registry_create();
    methods_add(d->registry, d);
    error = txn_start(d, err);
    if (!error && p->o.host)
        error = host_start(d, &p->host, err);
    if (!error)
        error = flow_persist_start(d, err);
    if (!error)
        error = start_server(p, err);
    if (error)
        return error;
    links_check_all(d);
    p->tick = reactor_watch_timer(d->reactor, WATCH_INTERVAL_MS, on_tick, d);
    return p->tick ? 0 : err_sys(err, ENOMEM, "timer");
}

static void
end(struct process *p)
{
    struct daemon *d = &p->d;

    reactor_unwatch(p->tick);
    rpc_server_destroy(d->server);
    if (p->unix_fd >= 0)
        close(p->unix_fd);
    if (p->tcp_fd >= 0)
        close(p->tcp_fd);
    flow_persist_end(d);
    ofd_end(d);
    /* All at once: letting go of pauses may take a moment each. */
    for (uint32_t i = 0; i < d->n_bridges; i++)
        bridge_stop_begin(d->bridges[i]);
    for (uint32_t i = 0; i < d->n_bridges; i++)
        bridge_destroy(d->bridges[i]);
    for (uint32_t i = 0; d->conf && i < d->conf->n_bridges; i++)
        ofbridge_forget(d, d->conf->bridges[i]->name);
    links_destroy(d->links);
    rpc_registry_destroy(d->registry);
    conf_destroy(d->conf);
    reactor_destroy(d->reactor);
    if (p->owns_socket && unlink(p->o.socket))
        log_warn("cannot remove %s: %s", p->o.socket, strerror(errno));
    files_unlock(p->o.socket, p->lock_fd);
    if (p->pid_fd >= 0)
        files_remove_pid(p->o.pid_file, p->pid_fd);
    store_close(d->store);
    sched_rules_destroy(p->o.sched);
}

int
main(int argc, char *argv[])
{
    struct process p = {.unix_fd = -1,
                        .tcp_fd = -1,
                        .pid_fd = -1,
                        .lock_fd = -1,
                        .ready_fd = -1};
    struct err err;
    int error;

    memory_init();
    err_clear(&err);
    options_parse(argc, argv, &p.o);
    if (p.o.dump_openrpc)
        return dump_openrpc();
    if (p.o.detach)
        detach(&p);
    log_init("sluiced", p.o.log_to, p.o.log_level);
    raise_limits();
    error = start(&p, &err);
    if (error) {
        log_err("%s", err.msg);
        if (p.o.log_to == LOG_DEST_SYSLOG)
            fprintf(stderr, "sluiced: %s\n", err.msg);
        end(&p);
        return error == EINVAL && !strncmp(err.path, "--", 2) ? 2 : 1;
    }
    log_info("sluiced %s is ready: %u bridges, database %s, socket %s, "
             "capabilities %s",
             PACKAGE_VERSION, p.d.n_bridges, p.o.database, p.o.socket,
             privs_text());
    say_ready(&p);
    say_systemd("READY=1");
    reactor_run(p.d.reactor);
    say_systemd("STOPPING=1");
    end(&p);
    log_info("ended");
    return 0;
}
