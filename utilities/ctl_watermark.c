/* SPDX-License-Identifier: Apache-2.0
 *
 * How `sluicectl buffer watermark` shows the high-water marks: as SONiC's
 * `show priority-group watermark`, `show queue watermark` and `show
 * buffer_pool watermark` do.
 */
#include "ctl.h"

#include <stdio.h>
#include <string.h>

/* Eight numbers per port. */
static void
print_eight(struct ctl *ctl, struct json_object *ports, const char *says,
            const char *name, const char *column)
{
    char titles[80] = "Port";
    struct ctl_table *t;

    for (size_t n = 4, i = 0; i < 8; i++)
        n += (size_t) snprintf(titles + n, sizeof(titles) - n, "|>%s%zu",
                               column, i);
    t = ctl_table_create(ctl, titles);
    for (size_t i = 0; i < ctl_len(ports); i++) {
        struct json_object *p = ctl_at(ports, i);

        ctl_table_text(t, ctl_text(p, "port"));
        for (size_t k = 0; k < 8; k++)
            ctl_table_qty(t, ctl_int_at(p, name, k), RPC_U_NONE);
    }
    printf("%s:\n", says);
    ctl_table_print(t, "no ports");
    putchar('\n');
}

static void
print_pools(struct ctl *ctl, struct json_object *bridges)
{
    struct ctl_table *t = ctl_table_create(ctl, "Bridge|Pool|>Bytes");

    for (size_t i = 0; i < ctl_len(bridges); i++) {
        struct json_object *b = ctl_at(bridges, i);

        ctl_table_text(t, ctl_text(b, "bridge"));
        ctl_table_text(t, "shared");
        ctl_table_qty(t, ctl_int(b, "shared_bytes"), RPC_U_NONE);
        for (size_t k = 0; k < ctl_len(ctl_get(b, "pools")); k++) {
            struct json_object *p = ctl_at(ctl_get(b, "pools"), k);

            ctl_table_text(t, ctl_text(b, "bridge"));
            ctl_table_text(t, ctl_text(p, "pool"));
            ctl_table_qty(t, ctl_int(p, "bytes"), RPC_U_NONE);
        }
        ctl_table_text(t, ctl_text(b, "bridge"));
        ctl_table_text(t, "headroom");
        ctl_table_qty(t, ctl_int(b, "headroom_bytes"), RPC_U_NONE);
    }
    puts("Pool maximum occupancy:");
    ctl_table_print(t, "no bridges");
}

static void
print_tsv(struct ctl *ctl, struct json_object *ports)
{
    struct ctl_table *t =
        ctl_table_create(ctl,
                         "port|index|group_bytes|headroom_bytes|queue_bytes");

    for (size_t i = 0; i < ctl_len(ports); i++)
        for (size_t k = 0; k < 8; k++) {
            struct json_object *p = ctl_at(ports, i);

            ctl_table_text(t, ctl_text(p, "port"));
            ctl_table_printf(t, "%zu", k);
            ctl_table_qty(t, ctl_int_at(p, "groups", k), RPC_U_NONE);
            ctl_table_qty(t, ctl_int_at(p, "headroom", k), RPC_U_NONE);
            ctl_table_qty(t, ctl_int_at(p, "queues", k), RPC_U_NONE);
        }
    ctl_table_print(t, NULL);
}

void
ctl_show_watermark(struct ctl *ctl, struct json_object *result)
{
    struct json_object *ports = ctl_get(result, "ports");

    if (ctl->format == CTL_TSV) {
        print_tsv(ctl, ports);
        return;
    }
    print_eight(ctl, ports, "Ingress occupancy per PG", "groups", "PG");
    print_eight(ctl, ports, "Ingress headroom per PG", "headroom", "PG");
    print_eight(ctl, ports, "Egress occupancy per unicast queue", "queues",
                "UC");
    print_pools(ctl, ctl_get(result, "bridges"));
}
