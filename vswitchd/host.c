/* SPDX-License-Identifier: Apache-2.0
 *
 * sluiced --host: see host.h.  It is ordinary configuration: a bridge of two
 * ports, the uplink that obeys PFC and pauses its peer, and a TAP that holds
 * back who sends while a class is paused.  What it writes can be changed with
 * sluicectl like any other.
 */
#include "host.h"

#include "base/log.h"
#include "json.h"
#include "rpc/rpc.h"
#include "txn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_TAP  "host0"
#define DEFAULT_RATE INT64_C(1000000000)
#define KEYS         "tap, rate, type, memory, pfc, trust, mac"

static int
refuse(struct err *err, const char *key, const char *value,
       const char *allowed)
{
    return err_set(err, EINVAL, "--host", value, allowed,
                   "--host: %s \"%s\": allowed are %s", key, value, allowed);
}

/* "3" or "3+4": commas separate the keys. */
static bool
parse_prios(const char *s, uint8_t *out)
{
    uint8_t prios = 0;

    for (;; s += 2) {
        if (*s < '0' || *s > '7')
            return false;
        prios |= (uint8_t) (1u << (*s - '0'));
        if (!s[1])
            break;
        if (s[1] != '+')
            return false;
    }
    *out = prios;
    return true;
}

static int
take_quantity(const char *key, const char *value, enum rpc_unit unit,
              uint64_t min, uint64_t max, int64_t *out, struct err *err)
{
    char low[32], high[32], allowed[80];
    int64_t v = 0;

    if (rpc_parse_quantity(value, unit, &v, NULL) || v < (int64_t) min ||
        v > (int64_t) max) {
        rpc_format_quantity((int64_t) min, unit, low, sizeof(low));
        rpc_format_quantity((int64_t) max, unit, high, sizeof(high));
        snprintf(allowed, sizeof(allowed), "%s to %s", low, high);
        return refuse(err, key, value, allowed);
    }
    *out = v;
    return 0;
}

static int
take_name(const char *key, const char *value, char out[CONF_NAME_MAX + 1],
          struct err *err)
{
    if (!*value || strlen(value) > CONF_NAME_MAX || strpbrk(value, "/ =:"))
        return refuse(err, key, value, "names of interfaces");
    snprintf(out, CONF_NAME_MAX + 1, "%s", value);
    return 0;
}

/* The uplink is an interface that exists. */
static int
take_type(const char *key, const char *value, const char **out,
          struct err *err)
{
    static const char *const types[] = {"afpacket", "afxdp", "auto"};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (!strcmp(value, types[i])) {
            *out = types[i];
            return 0;
        }
    }
    return refuse(err, key, value, NETDEV_INTERFACE_TYPES);
}

static int
take(struct host_spec *h, const char *key, const char *value, struct err *err)
{
    if (!strcmp(key, "tap"))
        return take_name(key, value, h->tap, err);
    if (!strcmp(key, "rate"))
        return take_quantity(key, value, RPC_U_BPS, CONF_MIN_RATE,
                             CONF_MAX_RATE, &h->rate_bps, err);
    if (!strcmp(key, "type"))
        return take_type(key, value, &h->type, err);
    if (!strcmp(key, "memory"))
        return take_quantity(key, value, RPC_U_BYTES, CONF_MIN_MEMORY,
                             CONF_MAX_MEMORY, &h->memory_bytes, err);
    if (!strcmp(key, "pfc"))
        return parse_prios(value, &h->prios)
                   ? 0
                   : refuse(err, key, value, "priorities 0 to 7, as 3 or 3+4");
    if (!strcmp(key, "trust")) {
        h->trust_dscp = !strcmp(value, "dscp");
        return h->trust_dscp || !strcmp(value, "pcp")
                   ? 0
                   : refuse(err, key, value, "dscp, pcp");
    }
    if (strcmp(key, "mac"))
        return refuse(err, "key", key, KEYS);
    /* Its form is checked where ports are configured. */
    snprintf(h->mac, sizeof(h->mac), "%s", value);
    return 0;
}

int
host_parse(const char *text, struct host_spec *out, struct err *err)
{
    struct host_spec h = {.tap = DEFAULT_TAP,
                          .type = "afpacket",
                          .rate_bps = DEFAULT_RATE,
                          .memory_bytes = CONF_DEFAULT_MEMORY,
                          .prios = 1u << 3,
                          .trust_dscp = true};
    char *copy = strdup(text), *save = NULL, *word, *value;
    int rc;

    if (!copy)
        return err_sys(err, ENOMEM, "--host");
    word = strtok_r(copy, ",", &save);
    rc = take_name("interface", word ? word : "", h.uplink, err);
    while (!rc && (word = strtok_r(NULL, ",", &save))) {
        value = strchr(word, '=');
        if (value)
            *value++ = '\0';
        rc = take(&h, word, value ? value : "", err);
    }
    free(copy);
    if (!rc && !strcmp(h.tap, h.uplink))
        rc = refuse(err, "tap", h.tap, "names other than the uplink's");
    if (!rc)
        *out = h;
    return rc;
}

/* What both ports have. */
static struct json_object *
members(const struct host_spec *h, const char *tags)
{
    struct json_object *o = json_object_new_object();
    struct json_object *pfc = json_object_new_object();
    struct json_object *map = json_object_new_object();
    struct json_object *prios = json_object_new_array();

    for (int p = 0; p < N_PRIO; p++)
        if (h->prios >> p & 1)
            json_object_array_add(prios, json_object_new_int(p));
    json_object_object_add(pfc, "priorities", prios);
    json_add_text(map, "trust", h->trust_dscp ? "dscp" : "pcp");
    json_add_text(map, "priority_tags", tags);
    json_add_uint(o, "rate_bps", (uint64_t) h->rate_bps);
    json_object_object_add(o, "pfc", pfc);
    json_object_object_add(o, "map", map);
    return o;
}

/* The host shares its line among all classes: as its tap does, which knows
 * nothing of strict queues. */
static struct json_object *
equal_queues(void)
{
    struct json_object *queues = json_object_new_object();
    unsigned left = 100;

    for (int q = 0; q < N_QUEUE; q++) {
        struct json_object *o = json_object_new_object();
        unsigned weight = left / (unsigned) (N_QUEUE - q);
        char key[4];

        snprintf(key, sizeof(key), "%d", q);
        json_add_text(o, "mode", "ets");
        json_add_uint(o, "weight", weight);
        json_object_object_add(queues, key, o);
        left -= weight;
    }
    return queues;
}

static int
add_port(struct conf *to, struct conf_bridge *cb, const char *name,
         const char *type, struct json_object *with, struct err *err)
{
    struct conf_port *cp;
    int rc = conf_add_port(to, cb, name, type, &cp, err);

    if (!rc)
        rc = conf_port_edit(cp, with, "--host", err);
    json_object_put(with);
    return rc;
}

int
host_start(struct daemon *d, const struct host_spec *h, struct err *err)
{
    struct conf *to;
    struct conf_bridge *cb;
    struct json_object *uplink, *tap;
    int rc;

    if (conf_find_bridge(d->conf, HOST_BRIDGE)) {
        log_info("bridge %s is configured already, and stays as it is",
                 HOST_BRIDGE);
        return 0;
    }
    to = txn_begin(d);
    rc = conf_add_bridge(to, HOST_BRIDGE, &cb, err);
    if (!rc) {
        cb->local = false; /* its tap is another one */
        cb->memory_bytes = (uint64_t) h->memory_bytes;
        /* A switch that goes by the PCP learns the class from a tag without
         * a VLAN; the host itself needs none. */
        uplink = members(h, "if-nonzero");
        json_object_object_add(uplink, "queues", equal_queues());
        rc = add_port(to, cb, h->uplink, h->type, uplink, err);
    }
    if (!rc) {
        tap = members(h, "never");
        json_object_object_add(tap, "backpressure",
                               json_object_new_boolean(true));
        if (h->mac[0])
            json_add_text(tap, "mac", h->mac);
        rc = add_port(to, cb, h->tap, "tap", tap, err);
    }
    if (rc) {
        conf_destroy(to);
        return rc;
    }
    return txn_commit_lenient(d, to, err);
}
