/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of the model that says who controls a bridge over OpenFlow.
 * Included by conf.h; control thread.
 *
 *   bridge: "fail_mode": "standalone", "datapath_id": "auto",
 *           "management": true,
 *           "controllers": {"tcp:192.0.2.1:6653": {"probe_ms": 5000,
 *                                                  "max_backoff_ms": 8000}},
 *           "ssl": {"private_key": "none", "certificate": "none",
 *                   "ca_certificate": "none"}
 *
 * Targets are written as in Open vSwitch: tcp:IP[:PORT], ssl:IP[:PORT] and
 * unix:PATH connect, ptcp:[PORT][:IP], pssl:[PORT][:IP] and punix:PATH listen.
 * An IPv6 address stands in brackets.  A controller that is null is removed.
 */
#ifndef CONF_CONTROL_H
#define CONF_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#define CONF_MAX_CONTROLLERS 16
#define CONF_TARGET_MAX      127
#define CONF_FILE_MAX        191  /* of the path of a file */
#define CONF_OPENFLOW_PORT   6653 /* when none is given */

struct conf_controller {
    char target[CONF_TARGET_MAX + 1]; /* first member */
    uint32_t probe_ms; /* silence before it is asked whether it lives; 0: never
                        */
    uint32_t max_backoff_ms; /* longest pause between two attempts */
};

enum conf_fail_mode {
    CONF_FAIL_STANDALONE, /* no controller is there: an ordinary bridge */
    CONF_FAIL_SECURE,     /* only what the flow tables say */
};

struct conf_ssl {
    char private_key[CONF_FILE_MAX + 1];    /* PEM; empty: none */
    char certificate[CONF_FILE_MAX + 1];    /* of that key */
    char ca_certificate[CONF_FILE_MAX + 1]; /* that peers' are signed by */
};

#define CONF_MAX_FLOWS     10000000u
#define CONF_DEFAULT_FLOWS 1000000u

struct conf_openflow {
    enum conf_fail_mode fail_mode; /* what happens without a controller */
    uint64_t datapath_id;          /* 0: made of an address */
    bool management;               /* it listens on its socket in rundir */
    uint32_t max_flows;            /* entries of all tables together */
    struct conf_ssl ssl;           /* for ssl: and pssl: */
    struct conf_controller controller[CONF_MAX_CONTROLLERS]; /* by target */
    uint32_t n_controllers;                                  /* how many */
};

enum conf_target_type { CONF_TARGET_TCP, CONF_TARGET_SSL, CONF_TARGET_UNIX };

/* A target taken apart. */
struct conf_target {
    enum conf_target_type type; /* how */
    bool passive;               /* it listens */
    char ip[46];                /* without brackets; passive: may be empty
                                 */
    uint16_t port;              /* TCP */
    char path[108];             /* UNIX; always absolute */
};

/* False: it is none, and *why says what is wrong. */
bool conf_target_parse(const char *text, struct conf_target *,
                       const char **why);
#define CONF_TARGET_ALLOWED                                       \
    "tcp:IP[:PORT], ssl:IP[:PORT], unix:PATH, ptcp:[PORT][:IP], " \
    "pssl:[PORT][:IP], punix:PATH"

struct conf_bridge;
struct err;
/* Adds one with defaults, by a target that is not there yet. */
int conf_add_controller(struct conf_bridge *, const char *target,
                        struct conf_controller **, struct err *);

const char *conf_fail_mode_name(enum conf_fail_mode);
bool conf_fail_mode_find(const char *word, enum conf_fail_mode *);
/* Whether some target needs the files of "ssl". */
bool conf_needs_ssl(const struct conf_openflow *);

#endif
