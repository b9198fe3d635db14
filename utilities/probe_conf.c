/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of sluice-probe: see probe_conf.h.  Arguments of the form
 * "key=value,key=value" are decoded by tables, one row a key, so that an
 * error always names the option, the key, the value and what is allowed.
 */
#include "probe_conf.h"

#include "base/clock.h"
#include "probe_frame.h"
#include "rpc/rpc.h"
#include "wire/eth.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RATE_BPS INT64_C(1000000000000)
#define MAX_TIME_NS  INT64_C(86400000000000) /* a day */
#define MAX_LIST     512 /* octets of a key=value list, with its NUL */
#define MAX_BUFFER   INT64_C(1073741824)

enum kv_type { KV_NUM, KV_MAC, KV_VLAN, KV_SIZES, KV_KIND };

/* One key of an option's argument. */
struct kv_key {
    const char *name;   /* as written */
    enum kv_type type;  /* how its value is read */
    enum rpc_unit unit; /* KV_NUM: what it counts */
    int64_t min, max;   /* KV_NUM: range, both included */
    size_t width;       /* KV_NUM: octets of the member, 1, 4 or 8 */
    size_t offset;      /* of the member in its struct */
    bool required;      /* may not be absent */
};

#define NUM(s, key, member, unit, min, max, req)                       \
    {                                                                  \
        key, KV_NUM, unit, min, max, sizeof(((struct s *) 0)->member), \
            offsetof(struct s, member), req                            \
    }
#define OTHER(s, key, type, member, req)                                \
    {                                                                   \
        key, type, RPC_U_NONE, 0, 0, 0, offsetof(struct s, member), req \
    }
#define F probe_flow_conf
#define P probe_pause
#define S probe_storm
#define W probe_slow

static const struct kv_key flow_keys[] = {
    NUM(F, "prio", prio, RPC_U_NONE, 0, 7, true),
    OTHER(F, "dst", KV_MAC, dst, true),
    OTHER(F, "src", KV_MAC, src, false),
    OTHER(F, "vlan", KV_VLAN, vid, false),
    OTHER(F, "size", KV_SIZES, sizes, false),
    OTHER(F, "type", KV_KIND, udp, false),
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

static const struct kv_key pause_keys[] = {
    NUM(P, "prio", prio, RPC_U_NONE, 0, 7, true),
    NUM(P, "at", at_ns, RPC_U_NS, 0, MAX_TIME_NS, false),
    NUM(P, "for", for_ns, RPC_U_NS, 1, MAX_TIME_NS, true),
    {0},
};

static const struct kv_key storm_keys[] = {
    NUM(S, "prio", prio, RPC_U_NONE, 0, 7, true),
    NUM(S, "at", at_ns, RPC_U_NS, 0, MAX_TIME_NS, false),
    NUM(S, "for", for_ns, RPC_U_NS, 1, MAX_TIME_NS, true),
    NUM(S, "every", every_ns, RPC_U_NS, 50000, MAX_TIME_NS, false),
    {0},
};

static const struct kv_key slow_keys[] = {
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
refuse(struct err *err, const char *option, const char *key, const char *value,
       const char *allowed)
{
    char path[96];

    snprintf(path, sizeof(path), "--%s%s%s", option, key ? " " : "",
             key ? key : "");
    return err_set(err, EINVAL, path, value, allowed, "%s: \"%s\" is not %s",
                   path, value, allowed);
}

static int
set_num(void *member, const struct kv_key *k, const char *option,
        const char *value, struct err *err)
{
    char allowed[96], lo[32], hi[32];
    int64_t v;

    if (rpc_parse_quantity(value, k->unit, &v, NULL) == 0 && v >= k->min &&
        v <= k->max) {
        if (k->width == 1)
            *(uint8_t *) member = (uint8_t) v;
        else if (k->width == 4)
            *(uint32_t *) member = (uint32_t) v;
        else
            *(uint64_t *) member = (uint64_t) v;
        return 0;
    }
    rpc_format_quantity(k->min, k->unit, lo, sizeof(lo));
    rpc_format_quantity(k->max, k->unit, hi, sizeof(hi));
    snprintf(allowed, sizeof(allowed), "a quantity from %s to %s", lo, hi);
    return refuse(err, option, k->name, value, allowed);
}

static int
set_vlan(uint16_t *vid, const char *option, const char *value, struct err *err)
{
    int64_t v;

    if (strcmp(value, "none") == 0) {
        *vid = PROBE_VLAN_NONE;
        return 0;
    }
    if (rpc_parse_quantity(value, RPC_U_NONE, &v, NULL) != 0 || v < 0 ||
        v > 4094)
        return refuse(err, option, "vlan", value,
                      "a VLAN id from 0 to 4094, or \"none\"");
    *vid = (uint16_t) v;
    return 0;
}

static int
set_mac(uint8_t mac[6], const char *option, const char *key, const char *value,
        struct err *err)
{
    if (strcmp(value, "broadcast") == 0) {
        memset(mac, 0xff, 6);
        return 0;
    }
    if (!eth_mac_parse(value, mac))
        return refuse(err, option, key, value,
                      "a MAC address like 02:00:00:00:00:01, or "
                      "\"broadcast\"");
    return 0;
}

static int
set_kind(bool *udp, const char *option, const char *value, struct err *err)
{
    if (strcmp(value, "raw") != 0 && strcmp(value, "udp") != 0)
        return refuse(err, option, "type", value, "\"raw\" or \"udp\"");
    *udp = value[0] == 'u';
    return 0;
}

static int
set_one(void *base, const struct kv_key *k, const char *option,
        const char *value, struct err *err)
{
    void *member = (char *) base + k->offset;

    switch (k->type) {
    case KV_NUM:
        return set_num(member, k, option, value, err);
    case KV_MAC:
        return set_mac(member, option, k->name, value, err);
    case KV_VLAN:
        return set_vlan(member, option, value, err);
    case KV_SIZES:
        return probe_conf_parse_sizes(value, base, err);
    case KV_KIND:
    default:
        return set_kind(member, option, value, err);
    }
}

static int
unknown_key(const struct kv_key *keys, const char *option, const char *key,
            struct err *err)
{
    char allowed[160] = "one of";
    size_t at = strlen(allowed);

    for (const struct kv_key *k = keys; k->name; k++)
        at += (size_t) snprintf(allowed + at, sizeof(allowed) - at, " %s",
                                k->name);
    return refuse(err, option, NULL, key, allowed);
}

/* Decodes "key=value,..." by `keys` into *base.  *given gets a bit for each
 * row that was there. */
static int
parse_kv(void *base, const struct kv_key *keys, const char *option,
         const char *text, uint32_t *given, struct err *err)
{
    char copy[MAX_LIST];

    *given = 0;
    if (snprintf(copy, sizeof(copy), "%s", text) >= (int) sizeof(copy))
        return refuse(err, option, NULL, text, "at most 511 octets long");
    for (char *save, *item = strtok_r(copy, ",", &save); item;
         item = strtok_r(NULL, ",", &save)) {
        char *value = strchr(item, '=');
        const struct kv_key *k = keys;
        int e;

        if (!value)
            return refuse(err, option, NULL, item, "of the form key=value");
        *value++ = '\0';
        while (k->name && strcmp(k->name, item) != 0)
            k++;
        if (!k->name)
            return unknown_key(keys, option, item, err);
        e = set_one(base, k, option, value, err);
        if (e)
            return e;
        *given |= 1u << (k - keys);
    }
    for (const struct kv_key *k = keys; k->name; k++) {
        if (k->required && !(*given & 1u << (k - keys)))
            return err_set(err, EINVAL, option, "", k->name,
                           "--%s needs %s=", option, k->name);
    }
    return 0;
}

static int
full(struct err *err, const char *option, uint32_t max)
{
    return err_set(err, ENOSPC, option, NULL, NULL,
                   "--%s: at most %u of them are allowed", option, max);
}

static bool
was_given(const struct kv_key *keys, uint32_t given, const char *name)
{
    for (const struct kv_key *k = keys; k->name; k++) {
        if (strcmp(k->name, name) == 0)
            return (given & 1u << (k - keys)) != 0;
    }
    return false;
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
    e = parse_kv(&f, flow_keys, "flow", text, &given, err);
    if (e)
        return e;
    f.have_dst = true;
    f.have_src = was_given(flow_keys, given, "src");
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
    e = parse_kv(&p, pause_keys, "pause-once", text, &given, err);
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
    e = parse_kv(&s, storm_keys, "storm", text, &given, err);
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
    int e = parse_kv(&s, slow_keys, "slow", text, &given, err);

    if (e)
        return e;
    if (s.xoff_bytes == 0)
        s.xoff_bytes = s.buffer_bytes / 2;
    if (s.xon_bytes == 0)
        s.xon_bytes = s.xoff_bytes / 2;
    if (s.xoff_bytes > s.buffer_bytes) {
        rpc_format_quantity((int64_t) s.xoff_bytes, RPC_U_BYTES, value,
                            sizeof(value));
        return refuse(err, "slow", "xoff", value, "at most the buffer");
    }
    if (s.xon_bytes > s.xoff_bytes) {
        rpc_format_quantity((int64_t) s.xon_bytes, RPC_U_BYTES, value,
                            sizeof(value));
        return refuse(err, "slow", "xon", value, "at most xoff");
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
            return refuse(err, "pfc", NULL, text,
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
    return refuse(err, "flow", "size", text, allowed);
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
        return refuse(err, "flow", "size", value, allowed);
    }
    for (uint32_t j = 0; j < i; j++) {
        const struct probe_flow_conf *o = &c->flows[j];

        if (o->id == f->id && o->have_src == f->have_src &&
            memcmp(o->src, f->src, 6) == 0) {
            snprintf(value, sizeof(value), "%u", f->id);
            return refuse(err, "flow", "id", value,
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
