/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz target: any JSON text as a configuration.  What is refused says where
 * and why; what is accepted is valid, comes back from its own export as it
 * was, and can be built.
 */
#include "conf/conf.h"
#include "dp/cable.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void
require(bool holds)
{
    if (!holds)
        abort();
}

static struct json_object *
parse(const char *text, size_t n)
{
    struct json_tokener *tok = json_tokener_new();
    struct json_object *v = json_tokener_parse_ex(tok, text, (int) n);

    if (json_tokener_get_error(tok) != json_tokener_success) {
        json_object_put(v);
        v = NULL;
    }
    json_tokener_free(tok);
    return v;
}

static void
check_plain(const char *text)
{
    for (; *text; text++)
        require(*text >= ' ' && *text <= '~');
}

static void
check_refusal(const struct err *err)
{
    require(err->code > 0);
    require(err->msg[0]);
    require(!err->path[0] || err->path[0] == '/');
    check_plain(err->path);
    check_plain(err->value);
    check_plain(err->msg);
}

/* An export, as text, is read back as the configuration that it came from. */
static void
check_round_trip(const struct conf *c)
{
    struct json_object *v = conf_to_json(c), *again, *diff;
    const char *text = json_object_to_json_string(v);
    struct conf *copy;
    struct err err;

    again = parse(text, strlen(text));
    require(again);
    require(conf_from_json(again, c, &copy, &err) == 0);
    require(conf_equal(c, copy));
    diff = conf_diff(c, copy);
    require(json_object_array_length(diff) == 0);
    json_object_put(diff);
    json_object_put(again);
    json_object_put(v);
    conf_destroy(copy);
}

static void
check_build(const struct conf_bridge *b)
{
    struct dp_plan_port ports[8];
    struct dp_plan plan;
    struct dp_conf dp;
    struct err err;
    uint32_t i;

    memset(&plan, 0, sizeof(plan));
    memset(ports, 0, sizeof(ports));
    conf_build_dp(b, &dp);
    for (i = 0; i < b->n_ports && i < 8; i++) {
        conf_build_port(b, b->ports[i], NULL, 0, &ports[i]);
        plan.ports[i] = &ports[i];
    }
    plan.n_slots = (uint16_t) i;
    if (conf_build_bridge(b, &plan, &err)) {
        check_refusal(&err);
    } else {
        require(plan.shared_bytes <= b->memory_bytes);
        require(plan.low_buffers < dp.n_buffers);
    }
    while (i-- > 0)
        dp_cable_destroy(ports[i].cable);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct json_object *v = parse((const char *) data, n);
    struct conf *c = NULL;
    struct err err;
    uint32_t i;

    err_clear(&err);
    if (v && conf_from_json(v, NULL, &c, &err)) {
        check_refusal(&err);
        require(!c);
    } else if (v) {
        require(conf_validate(c, &err) == 0);
        check_round_trip(c);
        for (i = 0; i < c->n_bridges; i++)
            check_build(c->bridges[i]);
    }
    conf_destroy(c);
    json_object_put(v);
    return 0;
}
