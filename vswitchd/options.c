/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of sluiced: see options.h.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "options.h"

#include "daemon.h"
#include "rpc/rpc.h"
#include "sched.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_DATABASE SLUICE_LOCALSTATEDIR "/lib/sluice/sluice.db"

const char *const daemon_features[] = {
    "afpacket",   "tap", "mem", "pfc",
#ifdef HAVE_AFXDP
    "afxdp",
#endif
#ifdef HAVE_SYSTEMD
    "systemd",
#endif
#ifdef SLUICE_SANITIZERS
    "sanitizers",
#endif
    NULL,
};

enum {
    OPT_DATABASE = 256,
    OPT_SOCKET,
    OPT_RPC_TCP,
    OPT_PID_FILE,
    OPT_USER,
    OPT_HOST,
    OPT_CPU,
    OPT_FIFO,
    OPT_DETACH,
    OPT_FOREGROUND,
    OPT_LOG_TO,
    OPT_LOG_LEVEL,
    OPT_DUMP_OPENRPC,
    OPT_VERSION,
    OPT_HELP,
};

static const struct option long_options[] = {
    {"database", required_argument, NULL, OPT_DATABASE},
    {"socket", required_argument, NULL, OPT_SOCKET},
    {"rpc-tcp", required_argument, NULL, OPT_RPC_TCP},
    {"pid-file", required_argument, NULL, OPT_PID_FILE},
    {"user", required_argument, NULL, OPT_USER},
    {"host", required_argument, NULL, OPT_HOST},
    {"cpu", required_argument, NULL, OPT_CPU},
    {"fifo", required_argument, NULL, OPT_FIFO},
    {"detach", no_argument, NULL, OPT_DETACH},
    {"foreground", no_argument, NULL, OPT_FOREGROUND},
    {"log-to", required_argument, NULL, OPT_LOG_TO},
    {"log-level", required_argument, NULL, OPT_LOG_LEVEL},
    {"dump-openrpc", no_argument, NULL, OPT_DUMP_OPENRPC},
    {"version", no_argument, NULL, OPT_VERSION},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static void
print_help(void)
{
    printf(
        "Usage: sluiced [OPTION]...\n"
        "The daemon of Sluice, a software switch with lossless Ethernet.\n"
        "\n"
        "  --database PATH     where the configuration is kept\n"
        "                      [%s]\n"
        "  --socket PATH       where clients connect\n"
        "                      [%s]\n"
        "  --rpc-tcp ADDR:PORT also listen there; loopback only\n"
        "  --pid-file PATH     write the process id there\n"
        "  --user NAME         become that user; capabilities for ports are "
        "kept\n"
        "  --host UPLINK[,tap=NAME][,rate=RATE][,pfc=3+4][,trust=dscp|pcp]\n"
        "         [,type=afpacket|afxdp|auto][,memory=SIZE][,mac=ADDRESS]\n"
        "                      be a lossless host: applications use a tap\n"
        "                      [host0], and wait while their class is paused\n"
        "  --cpu BRIDGE=CPUS   its thread runs there only, like br0=1 or "
        "br0=2,4-5\n"
        "  --fifo BRIDGE=PRIO  its thread is a real-time one (SCHED_FIFO), "
        "1 to 99\n"
        "  --detach            go to the background once ready\n"
        "  --foreground        stay in the foreground (default)\n"
        "  --log-to WHERE      stderr or syslog [stderr; syslog with "
        "--detach]\n"
        "  --log-level LEVEL   error, warning, info or debug [info]\n"
        "  --dump-openrpc      print the RPC interface as OpenRPC and end\n"
        "  --version           print version and features and end\n"
        "  --help              print this and end\n",
        DEFAULT_DATABASE, RPC_DEFAULT_SOCKET);
}

static void
print_version(void)
{
    printf("sluiced (Sluice) %s\nfeatures:", PACKAGE_VERSION);
    for (int i = 0; daemon_features[i]; i++)
        printf(" %s", daemon_features[i]);
    printf("\ndatabase schema: %d\n", store_schema_version());
}

static void __attribute__((noreturn))
usage_error(const char *option, const char *value, const char *allowed)
{
    fprintf(stderr, "sluiced: --%s %s: allowed: %s\n", option, value, allowed);
    exit(2);
}

/* No option means anything with an empty value; a script whose variable is
 * not set is told so. */
static void
check_not_empty(int opt)
{
    for (const struct option *o = long_options; o->name; o++)
        if (o->val == opt && o->has_arg == required_argument && !*optarg)
            usage_error(o->name, "\"\"", "a value that is not empty");
}

static void
must(int error, const struct err *err)
{
    if (!error)
        return;
    fprintf(stderr, "sluiced: %s\n", err->msg);
    exit(2);
}

/* An option that has a value, or sets a switch. */
static void
take(struct options *o, int opt, bool *log_given)
{
    struct err err;

    switch (opt) {
    case OPT_DATABASE:
        o->database = optarg;
        break;
    case OPT_SOCKET:
        o->socket = optarg;
        break;
    case OPT_RPC_TCP:
        o->rpc_tcp = optarg;
        break;
    case OPT_PID_FILE:
        o->pid_file = optarg;
        break;
    case OPT_USER:
        o->user = optarg;
        break;
    case OPT_HOST:
        o->host = optarg;
        break;
    case OPT_CPU:
        must(sched_take_cpu(&o->sched, optarg, &err), &err);
        break;
    case OPT_FIFO:
        must(sched_take_fifo(&o->sched, optarg, &err), &err);
        break;
    case OPT_DETACH:
        o->detach = true;
        break;
    case OPT_FOREGROUND:
        o->detach = false;
        break;
    case OPT_LOG_TO:
        *log_given = true;
        if (!strcmp(optarg, "stderr"))
            o->log_to = LOG_DEST_STDERR;
        else if (!strcmp(optarg, "syslog"))
            o->log_to = LOG_DEST_SYSLOG;
        else
            usage_error("log-to", optarg, "stderr, syslog");
        break;
    case OPT_LOG_LEVEL:
        if (!log_level_parse(optarg, &o->log_level))
            usage_error("log-level", optarg, "error, warning, info, debug");
        break;
    case OPT_DUMP_OPENRPC:
        o->dump_openrpc = true;
        break;
    default:
        break;
    }
}

/* The daemon leaves the directory that it was started in. */
static void
make_absolute(const char **path)
{
    char *cwd, *whole;

    if (!*path || **path == '/')
        return;
    cwd = getcwd(NULL, 0);
    if (!cwd || asprintf(&whole, "%s/%s", cwd, *path) < 0) {
        perror("sluiced: current directory");
        exit(1);
    }
    free(cwd);
    *path = whole; /* lives as long as the process */
}

void
options_parse(int argc, char *argv[], struct options *o)
{
    bool log_given = false;
    int opt;

    *o = (struct options){
        .database = DEFAULT_DATABASE,
        .socket = RPC_DEFAULT_SOCKET,
        .log_to = LOG_DEST_STDERR,
        .log_level = LOG_LVL_INFO,
    };
    while ((opt = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        if (opt == OPT_HELP) {
            print_help();
            exit(0);
        }
        if (opt == OPT_VERSION) {
            print_version();
            exit(0);
        }
        if (opt == '?') {
            fprintf(stderr, "Try 'sluiced --help'.\n");
            exit(2);
        }
        check_not_empty(opt);
        take(o, opt, &log_given);
    }
    if (optind < argc) {
        fprintf(stderr,
                "sluiced: %s: only options are allowed\n"
                "Try 'sluiced --help'.\n",
                argv[optind]);
        exit(2);
    }
    if (o->detach && !log_given)
        o->log_to = LOG_DEST_SYSLOG;
    make_absolute(&o->database);
    make_absolute(&o->socket);
    make_absolute(&o->pid_file);
}
