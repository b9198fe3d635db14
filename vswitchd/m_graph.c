/* SPDX-License-Identifier: Apache-2.0
 *
 * Who pauses whom: chains of waiting groups within a bridge and, where two
 * ports of this daemon are the two ends of a veth pair, from bridge to bridge;
 * and whether a chain comes back to where it began.  Control thread.
 */
#include "methods.h"

#include "json.h"
#include "netdev/link.h"
#include "qos/waitgraph.h"

#include <stdlib.h>

#define MAX_WAITS  4096 /* of a bridge */
#define MAX_EDGES  8192 /* of the daemon */
#define MAX_CYCLES 16   /* that are shown */
#define MAX_NODES  64   /* of one that is shown */

/* A group, as a node of the graph: bridge, port, number. */
static uint64_t
node_of(uint32_t bridge, uint32_t slot, uint32_t pg)
{
    return (uint64_t) bridge << 16 | slot << 3 | pg;
}

struct graph {
    struct daemon *daemon;                 /* whose */
    struct json_object *waits;             /* what is shown */
    struct waitgraph_edge edge[MAX_EDGES]; /* between bridges */
    uint32_t n_edges;                      /* of them */
    uint64_t cut;                          /* what did not fit */
};

/* What the datapath's thread is asked. */
struct waits_call {
    struct dp_wait wait[MAX_WAITS]; /* its answer */
    uint32_t n;                     /* how many there are */
};

static void
call(struct dp *dp, void *arg)
{
    struct waits_call *c = arg;

    c->n = dp_waits(dp, c->wait, MAX_WAITS);
}

/* The port at the other end of p's cable, if it is ours. */
static struct port *
other_end(const struct graph *g, const struct port *p, uint32_t *bridge)
{
    struct link_info info;

    if (!p->netdev || !p->netdev->ifindex ||
        link_get_index(p->netdev->ifindex, &info, NULL) || !info.peer)
        return NULL;
    for (uint32_t i = 0; i < g->daemon->n_bridges; i++)
        for (int s = 0; s < DP_MAX_PORTS; s++) {
            struct port *q = g->daemon->bridges[i]->ports[s];

            if (!q || !q->netdev || q->netdev->ifindex != info.peer)
                continue;
            *bridge = i;
            return q;
        }
    return NULL;
}

static struct json_object *
group_object(const struct bridge *b, uint32_t slot, uint32_t pg)
{
    struct json_object *o = json_object_new_object();

    json_add_text(o, "bridge", b->name);
    json_add_text(o, "port", b->ports[slot] ? b->ports[slot]->name : "");
    json_add_uint(o, "group", pg);
    return o;
}

/* The groups at the other end that made the pause. */
static struct json_object *
next_of(struct graph *g, uint32_t bridge, const struct dp_wait *w)
{
    const struct bridge *b = g->daemon->bridges[bridge], *to;
    struct json_object *a = json_object_new_array();
    const struct dp_plan_port *pp;
    uint8_t groups = 0;
    struct port *peer;
    uint32_t at = 0;

    peer = w->paused_for ? other_end(g, b->ports[w->out_port], &at) : NULL;
    if (!peer)
        return a;
    to = g->daemon->bridges[at];
    pp = to->plan->ports[peer->slot];
    for (int p = 0; pp && p < N_PRIO; p++)
        if (w->paused_for >> p & 1)
            groups |= (uint8_t) (1u << pp->prio_to_pg[p]);
    for (uint32_t pg = 0; pg < N_PG; pg++) {
        if (!(groups >> pg & 1))
            continue;
        json_object_array_add(a, group_object(to, peer->slot, pg));
        if (g->n_edges == MAX_EDGES)
            g->cut++;
        else
            g->edge[g->n_edges++] =
                (struct waitgraph_edge){node_of(bridge, w->in_port, w->pg),
                                        node_of(at, peer->slot, pg), false};
    }
    return a;
}

static void
add_wait(struct graph *g, uint32_t bridge, const struct dp_wait *w)
{
    const struct bridge *b = g->daemon->bridges[bridge];
    struct json_object *o, *queue;

    if (!b->ports[w->in_port] || !b->ports[w->out_port])
        return;
    o = group_object(b, w->in_port, w->pg);
    queue = json_object_new_object();
    json_add_bool(o, "xoff", w->xoff);
    json_add_text(queue, "port", b->ports[w->out_port]->name);
    json_add_uint(queue, "queue", w->queue);
    json_object_object_add(queue, "paused_for", json_bits(w->paused_for));
    json_add_bool(queue, "held_by_drill", !w->paused_for);
    json_add_uint(queue, "frames", w->frames);
    json_add_uint(queue, "bytes", w->bytes);
    json_object_object_add(o, "behind", queue);
    json_object_object_add(o, "paused_by", next_of(g, bridge, w));
    json_object_array_add(g->waits, o);
}

static void
add_bridge(struct graph *g, uint32_t bridge, struct waits_call *c)
{
    bridge_call(g->daemon->bridges[bridge], call, c);
    if (c->n > MAX_WAITS) {
        g->cut += c->n - MAX_WAITS;
        c->n = MAX_WAITS;
    }
    for (uint32_t i = 0; i < c->n; i++)
        add_wait(g, bridge, &c->wait[i]);
}

static struct json_object *
cycles_of(struct graph *g)
{
    struct json_object *cycles = json_object_new_array();
    uint64_t node[MAX_NODES];
    uint32_t n;

    for (int i = 0; i < MAX_CYCLES; i++) {
        struct json_object *a;

        n = waitgraph_cycle(g->edge, g->n_edges, node, MAX_NODES);
        if (!n)
            break;
        a = json_object_new_array();
        for (uint32_t k = 0; k < n && k < MAX_NODES; k++)
            json_object_array_add(
                a, group_object(g->daemon->bridges[node[k] >> 16],
                                (uint32_t) (node[k] >> 3 & 0x1fff),
                                (uint32_t) (node[k] & 7)));
        json_object_array_add(cycles, a);
    }
    return cycles;
}

static int
show(void *ctx, struct rpc_client *client, struct json_object *params,
     struct json_object **result, struct err *err)
{
    struct graph *g = calloc(1, sizeof(*g));
    struct waits_call *c = malloc(sizeof(*c));

    (void) client;
    (void) params;
    (void) err;
    if (!g || !c)
        abort(); /* the control plane has no memory at all */
    g->daemon = ctx;
    g->waits = json_object_new_array();
    for (uint32_t i = 0; i < g->daemon->n_bridges; i++)
        add_bridge(g, i, c);
    *result = json_object_new_object();
    json_object_object_add(*result, "waits", g->waits);
    json_object_object_add(*result, "cycles", cycles_of(g));
    json_add_uint(*result, "not_shown", g->cut);
    free(c);
    free(g);
    return 0;
}

const struct rpc_method methods_graph[] = {
    {
        .name = "pfc.graph",
        .doc = "Shows who waits for whom at this moment: groups whose frames "
               "lie in an egress queue that is paused, and, where the other "
               "end of that cable is a port of this daemon too (a veth pair), "
               "the groups there that made the pause.  A cycle is a cyclic "
               "buffer dependency: as long as it lasts, nothing in it moves.",
        .result =
            "An object: waits (array: bridge, port, group, xoff: it pauses "
            "its own peer, behind: port, queue, paused_for (priorities), "
            "held_by_drill, frames, bytes; paused_by: groups at the other "
            "end), cycles (arrays of groups, each of which waits for the "
            "next and the last for the first), not_shown.",
        .example = "{}",
        .handler = show,
    },
    {.name = NULL},
};
