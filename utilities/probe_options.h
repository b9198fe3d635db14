/* SPDX-License-Identifier: Apache-2.0
 *
 * argv of sluice-probe to struct probe_conf.
 */
#ifndef UTILITIES_PROBE_OPTIONS_H
#define UTILITIES_PROBE_OPTIONS_H

#include "probe_conf.h"

#include <stdio.h>

enum probe_options {
    PROBE_OPTIONS_RUN,     /* *conf is complete and checked */
    PROBE_OPTIONS_HELP,    /* --help was given */
    PROBE_OPTIONS_VERSION, /* --version was given */
    PROBE_OPTIONS_BAD,     /* *err says what is wrong */
};

/* Reads argv, and permutes it. */
enum probe_options probe_options_parse(int argc, char **argv,
                                       struct probe_conf *, struct err *);

void probe_options_help(FILE *);

#endif
