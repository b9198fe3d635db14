/* SPDX-License-Identifier: Apache-2.0
 *
 * lib/conf, numbers of ports in OpenFlow and bridges' own ports: who gets
 * which, and that it stays.
 */
#include "conf/conf.h"
#include "ofp/action.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct err err;

static struct conf *
read_ports(const char *ports, const struct conf *old)
{
    char text[512];
    struct json_object *v;
    struct conf *c = NULL;

    snprintf(text, sizeof(text), "{\"bridges\":{\"br0\":{\"ports\":{%s}}}}",
             ports);
    v = json_tokener_parse(text);
    cr_assert(v, "%s", text);
    err_clear(&err);
    conf_from_json(v, old, &c, &err);
    json_object_put(v);
    return c;
}

static uint32_t
number_of(const struct conf *c, const char *name)
{
    return conf_find_port(c, name, NULL)->ofport;
}

Test(conf_ofport, in_the_order_of_addition)
{
    struct conf *c = read_ports("\"z\":{\"type\":\"mem\"},"
                                "\"m\":{\"type\":\"mem\"},"
                                "\"a\":{\"type\":\"mem\"}",
                                NULL);

    cr_assert(c, "%s", err.msg);
    cr_assert_eq(number_of(c, "z"), 1);
    cr_assert_eq(number_of(c, "m"), 2);
    cr_assert_eq(number_of(c, "a"), 3);
    conf_destroy(c);
}

Test(conf_ofport, who_asks_for_a_number_gets_it)
{
    /* b asks for what a would have had by itself. */
    struct conf *c = read_ports("\"a\":{\"type\":\"mem\"},"
                                "\"b\":{\"type\":\"mem\",\"ofport\":1},"
                                "\"c\":{\"type\":\"mem\",\"ofport\":0},"
                                "\"d\":{\"type\":\"mem\",\"ofport\":65279}",
                                NULL);

    cr_assert(c, "%s", err.msg);
    cr_assert_eq(number_of(c, "a"), 2);
    cr_assert_eq(number_of(c, "b"), 1);
    cr_assert_eq(number_of(c, "c"), 3);
    cr_assert_eq(number_of(c, "d"), 65279);
    conf_destroy(c);
}

Test(conf_ofport, numbers_stay)
{
    struct conf *old = read_ports("\"a\":{\"type\":\"mem\"},"
                                  "\"b\":{\"type\":\"mem\"},"
                                  "\"c\":{\"type\":\"mem\"}",
                                  NULL);
    struct conf *c = read_ports("\"new\":{\"type\":\"mem\"},"
                                "\"c\":{\"type\":\"mem\"},"
                                "\"b\":{\"type\":\"tap\"}",
                                old);

    cr_assert(c, "%s", err.msg);
    cr_assert_eq(number_of(c, "c"), 3);
    /* Another type is another port; numbers that were left are free. */
    cr_assert_eq(number_of(c, "new") + number_of(c, "b"), 3);
    conf_destroy(c);
    /* A number that a port has is not taken from it. */
    c = read_ports("\"a\":{\"type\":\"mem\"},"
                   "\"x\":{\"type\":\"mem\",\"ofport\":1}",
                   old);
    cr_assert_null(c);
    cr_assert_str_eq(err.path, "/bridges/br0/ports/x/ofport");
    cr_assert_str_eq(err.value, "1");
    cr_assert_str_eq(err.msg,
                     "port x: ofport 1 is that of port a: allowed is a number "
                     "that no port of the bridge has; 2 is free");
    conf_destroy(old);
}

Test(conf_ofport, out_of_range)
{
    cr_assert_null(
        read_ports("\"a\":{\"type\":\"mem\",\"ofport\":65280}", NULL));
    cr_assert_str_eq(err.path, "/bridges/br0/ports/a/ofport");
    cr_assert(strstr(err.msg, "0, or 1 to 65279"), "%s", err.msg);
}

Test(conf_ofport, an_export_keeps_them)
{
    struct conf *c = read_ports("\"z\":{\"type\":\"mem\"},"
                                "\"a\":{\"type\":\"mem\"}",
                                NULL);
    struct json_object *v = conf_to_json(c);
    struct conf *again;

    cr_assert_eq(conf_from_json(v, NULL, &again, &err), 0);
    cr_assert_eq(number_of(again, "z"), 1);
    cr_assert(conf_equal(c, again));
    conf_find_port(again, "z", NULL)->ofport = 7;
    cr_assert_not(conf_equal(c, again));
    json_object_put(v);
    conf_destroy(c);
    conf_destroy(again);
}

Test(conf_ofport, the_own_port)
{
    struct conf *c = read_ports("\"z\":{\"type\":\"mem\"}", NULL), *d;
    struct conf_bridge *b = c->bridges[0];
    struct dp_plan_port plan = {.of_port = 0};
    struct conf_port own;

    cr_assert(conf_local_port(b, &own));
    cr_assert_str_eq(own.name, "br0");
    cr_assert_eq(own.cls, &netdev_tap);
    cr_assert_eq(own.slot, 1);
    conf_build_port(b, &own, NULL, 0, &plan);
    cr_assert_eq(plan.of_port, OFPP_LOCAL);
    /* It keeps its slot, and others do not get it. */
    d = read_ports("\"z\":{\"type\":\"mem\"},\"y\":{\"type\":\"mem\"}", c);
    cr_assert_eq(d->bridges[0]->local_slot, 1);
    cr_assert_eq(conf_find_port(d, "y", NULL)->slot, 2);
    conf_destroy(d);
    b->local = false;
    conf_settle_ports(c, NULL);
    cr_assert_not(conf_local_port(b, &own));
    conf_destroy(c);
    /* A port of that name has the interface. */
    c = read_ports("\"br0\":{\"type\":\"tap\"}", NULL);
    cr_assert_not(conf_local_port(c->bridges[0], &own));
    conf_destroy(c);
}

Test(conf_ofport, the_own_port_gives_way_to_256_others)
{
    struct conf *c = conf_create(), *to;
    struct conf_bridge *b;
    struct conf_port *p, own;
    char name[8];

    cr_assert_eq(conf_add_bridge(c, "br0", &b, &err), 0);
    for (int i = 0; i < DP_MAX_PORTS - 1; i++) {
        snprintf(name, sizeof(name), "p%d", i);
        cr_assert_eq(conf_add_port(c, b, name, "mem", &p, &err), 0);
    }
    conf_settle_ports(c, NULL);
    cr_assert(conf_local_port(b, &own));
    cr_assert_eq(conf_add_port(c, b, "more", "mem", &p, &err), ENOSPC);
    cr_assert(strstr(err.msg, "256 ports, with its own"), "%s", err.msg);
    b->local = false;
    cr_assert_eq(conf_add_port(c, b, "more", "mem", &p, &err), 0);
    cr_assert_eq(p->ofport, 256);
    cr_assert_eq(conf_add_port(c, b, "again", "mem", &p, &err), ENOSPC);
    to = conf_copy(c);
    to->bridges[0]->local = true;
    conf_settle_ports(to, c);
    cr_assert_not(conf_local_port(to->bridges[0], &own));
    conf_destroy(to);
    conf_destroy(c);
}
