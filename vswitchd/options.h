/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of sluiced.  Called once, before anything else.
 */
#ifndef VSWITCHD_OPTIONS_H
#define VSWITCHD_OPTIONS_H

#include "base/log.h"

#include <stdbool.h>

struct sched_rules;

struct options {
    const char *database;      /* path of the configuration */
    const char *socket;        /* path of the control socket */
    const char *rpc_tcp;       /* "127.0.0.1:PORT"; null: none */
    const char *pid_file;      /* null: none */
    const char *user;          /* to become; null: stay who we are */
    const char *host;          /* what --host says; null: none */
    struct sched_rules *sched; /* of --cpu and --fifo; null: none */
    bool detach;               /* go to the background once ready */
    enum log_dest log_to;      /* stderr or syslog */
    enum log_level log_level;  /* least important that is shown */
    bool dump_openrpc;         /* print the tables of methods and end */
};

/* Ends the process on --help and --version (0) and on bad usage (2). */
void options_parse(int argc, char *argv[], struct options *);

#endif
