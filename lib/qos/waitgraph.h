/* SPDX-License-Identifier: Apache-2.0
 *
 * Who waits for whom, as a graph: nodes are ingress groups that pause their
 * peer, an edge says that what the first holds lies behind a pause that the
 * second one caused.  A cycle in it is a cyclic buffer dependency: nothing in
 * it moves until something is dropped.  Pure; any thread.
 */
#ifndef QOS_WAITGRAPH_H
#define QOS_WAITGRAPH_H

#include <stdbool.h>
#include <stdint.h>

struct waitgraph_edge {
    uint64_t from, to; /* names of nodes, any numbers */
    bool dead;         /* for waitgraph_cycle(): is in no cycle */
};

/* Finds a cycle among the n edges that are not dead.  Its nodes go to cycle[],
 * each waiting for the next and the last for the first; returns how many there
 * are (at most max are written), 0: none.  Edges that are in no cycle become
 * dead, and so do those that leave the nodes of the one that was found: the
 * next call finds another one. */
uint32_t waitgraph_cycle(struct waitgraph_edge[], uint32_t n, uint64_t cycle[],
                         uint32_t max);

#endif
