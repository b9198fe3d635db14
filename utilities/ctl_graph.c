/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl pfc graph: who waits for whom, as text or for Graphviz.
 */
#include "ctl_history.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct ctl_key ctl_graph_keys[] = {
    {.name = "dot",
     .kind = CTL_FLAG,
     .path = "dot",
     .doc = "for Graphviz: sluicectl pfc graph --dot | dot -Tsvg"},
    {.name = NULL}};

/* "br0 eth1 group 3". */
static void
put_group(struct json_object *g)
{
    ctl_put_clean(ctl_text(g, "bridge"), stdout);
    putchar(' ');
    ctl_put_clean(ctl_text(g, "port"), stdout);
    printf(" group %" PRId64, ctl_int(g, "group"));
}

/* The same as the name of a node. */
static void
put_node(struct json_object *g)
{
    putchar('"');
    put_group(g);
    putchar('"');
}

static void
put_wait(struct json_object *w)
{
    struct json_object *behind = ctl_get(w, "behind");
    struct json_object *by = ctl_get(w, "paused_by");
    char size[32], prios[32];

    put_group(w);
    printf("%s\n  holds %" PRId64 " frames (%s) in queue %" PRId64 " of ",
           ctl_bool(w, "xoff") ? ", which pauses its peer," : "",
           ctl_int(behind, "frames"),
           rpc_format_quantity(ctl_int(behind, "bytes"), RPC_U_BYTES, size,
                               sizeof(size)),
           ctl_int(behind, "queue"));
    ctl_put_clean(ctl_text(behind, "port"), stdout);
    if (ctl_bool(behind, "held_by_drill"))
        printf(", which a drill holds\n");
    else
        printf(", which its peer pauses (priority %s)\n",
               ctl_join(ctl_get(behind, "paused_for"), prios, sizeof(prios)));
    for (size_t i = 0; i < ctl_len(by); i++) {
        printf("  because of ");
        put_group(ctl_at(by, i));
        putchar('\n');
    }
}

static void
show_text(struct json_object *result)
{
    struct json_object *waits = ctl_get(result, "waits");
    struct json_object *cycles = ctl_get(result, "cycles");

    for (size_t i = 0; i < ctl_len(waits); i++)
        put_wait(ctl_at(waits, i));
    if (!ctl_len(waits))
        puts("nobody waits");
    for (size_t i = 0; i < ctl_len(cycles); i++) {
        struct json_object *c = ctl_at(cycles, i);

        printf("CYCLE: ");
        for (size_t k = 0; k < ctl_len(c); k++) {
            put_group(ctl_at(c, k));
            printf(" waits for ");
        }
        put_group(ctl_at(c, 0));
        puts(": nothing in it moves until something is dropped (see "
             "watchdog)");
    }
    if (ctl_int(result, "not_shown"))
        printf("%" PRId64 " more are not shown\n",
               ctl_int(result, "not_shown"));
}

static bool
is_in_cycle(struct json_object *cycles, struct json_object *g)
{
    for (size_t i = 0; i < ctl_len(cycles); i++)
        for (size_t k = 0; k < ctl_len(ctl_at(cycles, i)); k++) {
            struct json_object *m = ctl_at(ctl_at(cycles, i), k);

            if (!strcmp(ctl_text(m, "bridge"), ctl_text(g, "bridge")) &&
                !strcmp(ctl_text(m, "port"), ctl_text(g, "port")) &&
                ctl_int(m, "group") == ctl_int(g, "group"))
                return true;
        }
    return false;
}

/* Whether one of the waits before the i-th is for the same queue. */
static bool
is_known_queue(struct json_object *waits, size_t i)
{
    struct json_object *w = ctl_at(waits, i), *b = ctl_get(w, "behind");

    for (size_t k = 0; k < i; k++) {
        struct json_object *v = ctl_at(waits, k), *c = ctl_get(v, "behind");

        if (!strcmp(ctl_text(v, "bridge"), ctl_text(w, "bridge")) &&
            !strcmp(ctl_text(c, "port"), ctl_text(b, "port")) &&
            ctl_int(c, "queue") == ctl_int(b, "queue"))
            return true;
    }
    return false;
}

/* A node per group and per paused queue; an edge means "waits for". */
static void
show_dot(struct json_object *result)
{
    struct json_object *waits = ctl_get(result, "waits");
    struct json_object *cycles = ctl_get(result, "cycles");

    puts("digraph pfc {\n  rankdir=LR;\n  node [shape=box];");
    for (size_t i = 0; i < ctl_len(waits); i++) {
        struct json_object *w = ctl_at(waits, i);
        struct json_object *behind = ctl_get(w, "behind");
        struct json_object *by = ctl_get(w, "paused_by");
        char queue[64], size[32];

        snprintf(queue, sizeof(queue), "%.20s %.20s queue %" PRId64,
                 ctl_text(w, "bridge"), ctl_text(behind, "port"),
                 ctl_int(behind, "queue"));
        printf("  ");
        put_node(w);
        printf(" [style=\"%s\"%s];\n  ",
               ctl_bool(w, "xoff") ? "filled" : "solid",
               is_in_cycle(cycles, w) ? ",color=red" : "");
        put_node(w);
        printf(" -> \"%s\" [label=\"%s\"];\n", queue,
               rpc_format_quantity(ctl_int(behind, "bytes"), RPC_U_BYTES, size,
                                   sizeof(size)));
        for (size_t k = 0; k < ctl_len(by) && !is_known_queue(waits, i); k++) {
            printf("  \"%s\" -> ", queue);
            put_node(ctl_at(by, k));
            puts(is_in_cycle(cycles, ctl_at(by, k)) ? " [color=red];" : ";");
        }
    }
    puts("}");
}

enum ctl_status
ctl_run_graph(struct ctl *ctl, struct json_object *params)
{
    bool dot = ctl_bool(params, "dot");
    struct json_object *result = NULL;
    enum ctl_status status = ctl_call(ctl, "pfc.graph", NULL, &result);

    if (status)
        return status;
    if (ctl->format == CTL_JSON)
        ctl_print_json(result, false);
    else if (dot)
        show_dot(result);
    else
        show_text(result);
    json_object_put(result);
    return CTL_OK;
}
