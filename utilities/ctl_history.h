/* SPDX-License-Identifier: Apache-2.0
 *
 * What `sluicectl pfc` says about the past and about who waits for whom: verbs
 * of ctl_pfc.c that have files of their own.
 */
#ifndef UTILITIES_CTL_HISTORY_H
#define UTILITIES_CTL_HISTORY_H

#include "ctl.h"

extern const struct ctl_key ctl_history_keys[];
void ctl_show_history(struct ctl *, struct json_object *result);

extern const struct ctl_key ctl_graph_keys[];
/* Text, or with --dot Graphviz. */
enum ctl_status ctl_run_graph(struct ctl *, struct json_object *params);

#endif
