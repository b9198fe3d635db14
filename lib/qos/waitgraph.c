/* SPDX-License-Identifier: Apache-2.0
 *
 * Cycles in a graph of waits: see waitgraph.h.  Nodes that wait for nobody are
 * in no cycle; once all edges to such nodes are gone, from every node that is
 * left a walk must come around.  Quadratic, for a few thousand edges.
 */
#include "qos/waitgraph.h"

static int64_t
edge_from(const struct waitgraph_edge e[], uint32_t n, uint64_t node)
{
    for (uint32_t i = 0; i < n; i++)
        if (!e[i].dead && e[i].from == node)
            return i;
    return -1;
}

/* Edges to nodes that wait for nobody. */
static void
trim(struct waitgraph_edge e[], uint32_t n)
{
    bool again = true;

    while (again) {
        again = false;
        for (uint32_t i = 0; i < n; i++) {
            if (e[i].dead || edge_from(e, n, e[i].to) >= 0)
                continue;
            e[i].dead = true;
            again = true;
        }
    }
}

uint32_t
waitgraph_cycle(struct waitgraph_edge e[], uint32_t n, uint64_t cycle[],
                uint32_t max)
{
    uint32_t live = 0, len = 0;
    uint64_t node, first;

    trim(e, n);
    while (live < n && e[live].dead)
        live++;
    if (live == n)
        return 0;
    node = e[live].from;
    /* After as many steps as there are edges we are in a cycle for sure. */
    for (uint32_t i = 0; i < n; i++)
        node = e[edge_from(e, n, node)].to;
    first = node;
    do {
        if (len < max)
            cycle[len] = node;
        len++;
        node = e[edge_from(e, n, node)].to;
    } while (node != first);
    for (uint32_t i = 0; i < len && i < max; i++)
        for (uint32_t k = 0; k < n; k++)
            if (e[k].from == cycle[i])
                e[k].dead = true;
    return len;
}
