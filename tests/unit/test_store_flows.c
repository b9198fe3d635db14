/* SPDX-License-Identifier: Apache-2.0
 *
 * db: flows, groups and meters that come back after a restart.
 */
#include "store_rig.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(store_flows, .init = rig_up, .fini = rig_down);

/* All rows as "kind:text;", in the order in which they come. */
static void
add_row(void *arg, enum store_flow_kind kind, const char *text)
{
    char *all = arg;
    size_t n = strlen(all);

    snprintf(all + n, 4096 - n, "%d:%s;", (int) kind, text);
}

static const char *
load(struct store *s, const char *bridge)
{
    static char all[4096];
    struct err err = {0};

    all[0] = '\0';
    cr_assert_eq(store_flows_load(s, bridge, add_row, all, &err), 0, "%s",
                 err.msg);
    return all;
}

/* A database with bridges br0 and br1. */
static struct store *
two_bridges(struct conf **conf)
{
    struct store *s = rig_open();
    struct conf *none, *c;
    struct err err = {0};

    cr_assert_eq(store_load(s, &none, &err), 0);
    c = conf_copy(none);
    for (int i = 0; i < 2; i++) {
        struct conf_bridge *b;

        cr_assert_eq(conf_add_bridge(c, i ? "br1" : "br0", &b, &err), 0);
    }
    cr_assert_eq(store_commit(s, none, c, &err), 0, "%s", err.msg);
    conf_destroy(none);
    *conf = c;
    return s;
}

static void
save(struct store *s, const char *bridge, const struct store_flow *rows,
     size_t n)
{
    struct err err = {0};

    cr_assert_eq(store_flows_save(s, bridge, rows, n, &err), 0, "%s", err.msg);
}

static const struct store_flow rows[] = {{STORE_GROUP, "group_id=2"},
                                         {STORE_GROUP, "group_id=1"},
                                         {STORE_METER, "meter=1"},
                                         {STORE_FLOW, "b"},
                                         {STORE_FLOW, "a"}};

Test(store_flows, come_back_in_their_order_and_by_bridge)
{
    struct conf *c;
    struct store *s = two_bridges(&c);

    cr_assert_str_eq(load(s, "br0"), "");
    save(s, "br0", rows, 5);
    save(s, "br1", rows + 4, 1);
    store_close(s);
    s = rig_open();
    cr_assert_str_eq(load(s, "br0"),
                     "0:group_id=2;0:group_id=1;1:meter=1;2:b;2:a;");
    cr_assert_str_eq(load(s, "br1"), "2:a;");
    store_close(s);
    conf_destroy(c);
}

Test(store_flows, saving_replaces_those_of_the_bridge)
{
    static const struct store_flow now[] = {{STORE_FLOW, "a"},
                                            {STORE_FLOW, "it's"},
                                            {STORE_FLOW, "b"}};
    struct conf *c;
    struct store *s = two_bridges(&c);

    save(s, "br0", rows, 5);
    save(s, "br1", rows, 5);
    save(s, "br0", now, 3);
    cr_assert_str_eq(load(s, "br0"), "2:a;2:it's;2:b;");
    save(s, "br0", NULL, 0);
    cr_assert_str_eq(load(s, "br0"), "");
    cr_assert_neq(load(s, "br1")[0], '\0');
    store_close(s);
    conf_destroy(c);
}

Test(store_flows, go_with_their_bridge_and_stay_with_its_changes)
{
    struct conf *c, *next;
    struct store *s = two_bridges(&c);
    struct err err = {0};

    save(s, "br0", rows, 5);
    save(s, "br1", rows, 5);
    next = conf_copy(c);
    conf_find_bridge(next, "br0")->mac_ageing_s = 77;
    conf_del_bridge(next, "br1", NULL);
    cr_assert_eq(store_commit(s, c, next, &err), 0, "%s", err.msg);
    cr_assert_neq(load(s, "br0")[0], '\0');
    cr_assert_str_eq(load(s, "br1"), "");
    cr_assert_neq(store_flows_save(s, "br1", rows, 5, &err), 0);
    cr_assert_str_eq(load(s, "br1"), "");
    store_close(s);
    conf_destroy(c);
    conf_destroy(next);
}
