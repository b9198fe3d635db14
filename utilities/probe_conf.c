/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of sluice-probe: see probe_conf.h.
 */
#include "probe_conf.h"

#include "base/clock.h"
#include "probe_frame.h"
#include "probe_kv.h"
#include "rpc/rpc.h"
#include "wire/eth.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RATE_BPS INT64_C(1000000000000)
#define MAX_TIME_NS  INT64_C(86400000000000) /* a day */
#define MAX_BUFFER   INT64_C(1073741824)

static int
parse_mac(uint8_t mac[6], const char *key, const char *value, struct err *err)
{
    if (strcmp(value, "broadcast") == 0) {
        memset(mac, 0xff, 6);
        return 0;
    }
    if (!eth_mac_parse(value, mac))
        return probe_kv_refuse(err, "flow", key, value,
                               "a MAC address like 02:00:00:00:00:01, or "
                               "\"broadcast\"");
    return 0;
}

static int
flow_dst(void *flow, const char *value, struct err *err)
{
    return parse_mac(((struct probe_flow_conf *) flow)->dst, "dst", value,
                     err);
}

static int
flow_src(void *flow, const char *value, struct err *err)
{
    struct probe_flow_conf *f = flow;

    f->have_src = true;
    return parse_mac(f->src, "src", value, err);
}

static int
flow_vlan(void *flow, const char *value, struct err *err)
{
    struct probe_flow_conf *f = flow;
    int64_t v;

    if (strcmp(value, "none") == 0) {
        f->vid = PROBE_VLAN_NONE;
        return 0;
    }
    if (rpc_parse_quantity(value, RPC_U_NONE, &v, NULL) != 0 || v < 0 ||
        v > 4094)
        return probe_kv_refuse(err, "flow", "vlan", value,
                               "a VLAN id from 0 to 4094, or \"none\"");
    f->vid = (uint16_t) v;
    return 0;
}

static int
flow_type(void *flow, const char *value, struct err *err)
{
    if (strcmp(value, "raw") != 0 && strcmp(value, "udp") != 0)
        return probe_kv_refuse(err, "flow", "type", value,
                               "\"raw\" or \"udp\"");
    ((struct probe_flow_conf *) flow)->udp = value[0] == 'u';
    return 0;
}

static int
flow_sizes(void *flow, const char *value, struct err *err)
{
    return probe_conf_parse_sizes(value, flow, err);
}

#define NUM(s, key, member, unit, min, max, req)                     \
    {                                                                \
        key, NULL, unit, min, max, sizeof(((struct s *) 0)->member), \
            offsetof(struct s, member), req                          \
    }
#define OTHER(key, parse, req)                  \
    {                                           \
        key, parse, RPC_U_NONE, 0, 0, 0, 0, req \
    }
#define F probe_flow_conf
#define P probe_pause
#define S probe_storm
#define W probe_slow

static const struct probe_key flow_keys[] = {
    NUM(F, "prio", prio, RPC_U_NONE, 0, 7, true),
    OTHER("dst", flow_dst, true),
    OTHER("src", flow_src, false),
    OTHER("vlan", flow_vlan, false),
    OTHER("size", flow_sizes, false),
    OTHER("type", flow_type, false),
    NUM(F, "id", id, RPC_U_NONE, 1, UINT32_MAX, false),
    NUM(F, "rate", rate_bps, RPC_U_BPS, 0, MAX_RATE_BPS, false),
    NUM(F, "count", count, RPC_U_NONE, 1, INT64_MAX, false),
    NUM(F, "at", start_ns, RPC_U_NS, 0, MAX_TIME_NS, false),
    NUM(F, "for", duration_ns, RPC_U_NS, 1, MAX_TIME_NS, false),
    NUM(F, "skip", skip_every, RPC_U_NONE, 2, UINT32_MAX, false),
    NUM(F, "dup", dup_every, RPC_U_NONE, 1, UINT32_MAX, false),
    NUM(F, "swap", swap_every, RPC_U_NONE, 2, UINT32_MAX, false),
    NUM(F, "corrupt", corrupt_every, RPC_U_NONE, 1, UINT32_MAX, false),
    {0},
};

static const struct probe_key pause_keys[] = {
    NUM(P, "prio", prio, RPC_U_NONE, 0, 7, true),
    NUM(P, "at", at_ns, RPC_U_NS, 0, MAX_TIME_NS, false),
    NUM(P, "for", for_ns, RPC_U_NS, 1, MAX_TIME_NS, true),
    {0},
};

static const struct probe_key storm_keys[] = {
    NUM(S, "prio", prio, RPC_U_NONE, 0, 7, true),
    NUM(S, "at", at_ns, RPC_U_NS, 0, MAX_TIME_NS, false),
    NUM(S, "for", for_ns, RPC_U_NS, 1, MAX_TIME_NS, true),
    NUM(S, "every", every_ns, RPC_U_NS, 50000, MAX_TIME_NS, false),
    {0},
};

static const struct probe_key slow_keys[] = {
    NUM(W, "prio", prio, RPC_U_NONE, 0, 7, true),
    NUM(W, "rate", rate_bps, RPC_U_BPS, 1000, MAX_RATE_BPS, true),
    NUM(W, "buffer", buffer_bytes, RPC_U_BYTES, 4096, MAX_BUFFER, false),
    NUM(W, "xoff", xoff_bytes, RPC_U_BYTES, 1, MAX_BUFFER, false),
    NUM(W, "xon", xon_bytes, RPC_U_BYTES, 1, MAX_BUFFER, false),
    {0},
};

#undef F
#undef P
#undef S
#undef W

static int
full(struct err *err, const char *option, uint32_t max)
{
    return err_set(err, ENOSPC, option, NULL, NULL,
                   "--%s: at most %u of them are allowed", option, max);
}

void
probe_conf_init(struct probe_conf *c)
{
    memset(c, 0, sizeof(*c));
    c->duration_ns = PROBE_DEFAULT_DURATION;
    c->drain_ns = PROBE_DEFAULT_DRAIN;
    c->quanta = 65535;
}

int
probe_conf_add_flow(struct probe_conf *c, const char *text, struct err *err)
{
    struct probe_flow_conf f = {
        .n_sizes = 1,
        .sizes = {{1514, 1}},
        .id = c->n_flows + 1,
    };
    uint32_t given;
    int e;

    if (c->n_flows == PROBE_MAX_FLOWS)
        return full(err, "flow", PROBE_MAX_FLOWS);
    e = probe_kv_parse(&f, flow_keys, "flow", text, &given, err);
    if (e)
        return e;
    c->flows[c->n_flows++] = f;
    return 0;
}

int
probe_conf_add_pause(struct probe_conf *c, const char *text, struct err *err)
{
    struct probe_pause p = {0};
    uint32_t given;
    int e;

    if (c->n_pauses == PROBE_MAX_PAUSES)
        return full(err, "pause-once", PROBE_MAX_PAUSES);
    e = probe_kv_parse(&p, pause_keys, "pause-once", text, &given, err);
    if (!e)
        c->pauses[c->n_pauses++] = p;
    return e;
}

int
probe_conf_add_storm(struct probe_conf *c, const char *text, struct err *err)
{
    struct probe_storm s = {.every_ns = NS_PER_MS};
    uint32_t given;
    int e;

    if (c->n_storms == PROBE_MAX_STORMS)
        return full(err, "storm", PROBE_MAX_STORMS);
    e = probe_kv_parse(&s, storm_keys, "storm", text, &given, err);
    if (!e)
        c->storms[c->n_storms++] = s;
    return e;
}

int
probe_conf_add_slow(struct probe_conf *c, const char *text, struct err *err)
{
    struct probe_slow s = {.used = true, .buffer_bytes = PROBE_DEFAULT_BUFFER};
    char value[32];
    uint32_t given;
    int e = probe_kv_parse(&s, slow_keys, "slow", text, &given, err);

    if (e)
        return e;
    if (s.xoff_bytes == 0)
        s.xoff_bytes = s.buffer_bytes / 2;
    if (s.xon_bytes == 0)
        s.xon_bytes = s.xoff_bytes / 2;
    if (s.xoff_bytes > s.buffer_bytes) {
        rpc_format_quantity((int64_t) s.xoff_bytes, RPC_U_BYTES, value,
                            sizeof(value));
        return probe_kv_refuse(err, "slow", "xoff", value,
                               "at most the buffer");
    }
    if (s.xon_bytes > s.xoff_bytes) {
        rpc_format_quantity((int64_t) s.xon_bytes, RPC_U_BYTES, value,
                            sizeof(value));
        return probe_kv_refuse(err, "slow", "xon", value, "at most xoff");
    }
    c->slow[s.prio] = s;
    return 0;
}

int
probe_conf_parse_prios(const char *text, uint8_t *mask, struct err *err)
{
    const char *p = text;
    uint8_t m = 0;

    if (strcmp(text, "all") == 0 || strcmp(text, "none") == 0) {
        *mask = text[0] == 'a' ? 0xff : 0;
        return 0;
    }
    for (;; p += 2) {
        if (p[0] < '0' || p[0] > '7' || (p[1] != ',' && p[1] != '\0'))
            return probe_kv_refuse(
                err, "pfc", NULL, text,
                "priorities 0 to 7 with commas between, \"all\" or "
                "\"none\"");
        m |= (uint8_t) (1u << (p[0] - '0'));
        if (p[1] == '\0')
            break;
    }
    *mask = m;
    return 0;
}

int
probe_conf_parse_sizes(const char *text, struct probe_flow_conf *f,
                       struct err *err)
{
    static const char allowed[] =
        "SIZE, SIZE:WEIGHT/SIZE:WEIGHT... (at most 8, sizes 60 to 9216, "
        "weights 1 to 1000), or \"imix\"";
    const char *p = strcmp(text, "imix") == 0 ? "64:7/576:4/1514:1" : text;
    struct probe_size sizes[PROBE_MAX_SIZES];
    uint32_t n = 0;

    while (n < PROBE_MAX_SIZES) {
        char *end;
        unsigned long bytes, weight = 1;

        if (*p < '0' || *p > '9')
            break;
        bytes = strtoul(p, &end, 10);
        if (*end == ':' && end[1] >= '0' && end[1] <= '9')
            weight = strtoul(end + 1, &end, 10);
        if (bytes < 60 || bytes > PROBE_MAX_FRAME || weight < 1 ||
            weight > 1000)
            break;
        sizes[n++] = (struct probe_size){(uint32_t) bytes, (uint32_t) weight};
        if (*end == '\0') {
            memcpy(f->sizes, sizes, sizeof(sizes));
            f->n_sizes = n;
            return 0;
        }
        if (*end != '/')
            break;
        p = end + 1;
    }
    return probe_kv_refuse(err, "flow", "size", text, allowed);
}

static int
check_flow(const struct probe_conf *c, uint32_t i, struct err *err)
{
    const struct probe_flow_conf *f = &c->flows[i];
    char value[32], allowed[80];

    for (uint32_t s = 0; s < f->n_sizes; s++) {
        if (f->sizes[s].bytes >= probe_frame_min(f))
            continue;
        snprintf(value, sizeof(value), "%u", f->sizes[s].bytes);
        snprintf(allowed, sizeof(allowed), "%u or more for this kind of flow",
                 probe_frame_min(f));
        return probe_kv_refuse(err, "flow", "size", value, allowed);
    }
    for (uint32_t j = 0; j < i; j++) {
        const struct probe_flow_conf *o = &c->flows[j];

        if (o->id == f->id && o->have_src == f->have_src &&
            memcmp(o->src, f->src, 6) == 0) {
            snprintf(value, sizeof(value), "%u", f->id);
            return probe_kv_refuse(err, "flow", "id", value,
                                   "different from the other flows'");
        }
    }
    return 0;
}

int
probe_conf_check(struct probe_conf *c, struct err *err)
{
    if (!c->iface || !c->iface[0])
        return err_set(err, EINVAL, "--iface", "", "an interface",
                       "--iface names the interface and must be given");
    if (c->n_flows && !c->send)
        return err_set(err, EINVAL, "--flow", "", "send",
                       "--flow belongs to the role \"send\"");
    if (c->send && !c->n_flows)
        return err_set(err, EINVAL, "send", "", "--flow",
                       "the role \"send\" needs a --flow at least");
    if (!c->send && !c->receive && !c->n_pauses && !c->n_storms &&
        !c->malformed)
        return err_set(err, EINVAL, "role", "", "send, receive",
                       "nothing to do: say send, receive or both");
    for (int p = 0; p < N_PRIO; p++) {
        if (c->slow[p].used && !c->receive)
            return err_set(err, EINVAL, "--slow", "", "receive",
                           "--slow belongs to the role \"receive\"");
    }
    for (uint32_t i = 0; i < c->n_pauses; i++) {
        if (!(c->pfc_prios & 1u << c->pauses[i].prio))
            return err_set(err, EINVAL, "--pause-once prio", "", "--pfc",
                           "--pause-once: priority %u is not among --pfc",
                           c->pauses[i].prio);
    }
    for (uint32_t i = 0; i < c->n_flows; i++) {
        int e = check_flow(c, i, err);

        if (e)
            return e;
    }
    return 0;
}
