/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of what configuration consists of, and what can be done to one
 * member given its table entry.  See field.h.  Control thread.
 */
#include "conf/field.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

#define UINT(st, m, json, lo, hi, dflt, text)                               \
    .name = json, .kind = FIELD_UINT, .size = sizeof(((struct st *) 0)->m), \
    .offset = offsetof(struct st, m), .min = lo, .max = hi, .def = dflt,    \
    .what = text
#define BOOL(st, m, json, text)                             \
    .name = json, .kind = FIELD_BOOL, .size = sizeof(bool), \
    .offset = offsetof(struct st, m), .max = 1, .what = text
#define ENUM(st, m, json, words, text)                                        \
    .name = json, .kind = FIELD_ENUM, .size = sizeof(((struct st *) 0)->m),   \
    .offset = offsetof(struct st, m), .max = N_OF(words) - 2, .names = words, \
    .what = text
#define MAP(m, json, k, hi, text)                                        \
    .name = json, .kind = k, .size = sizeof(((struct conf_map *) 0)->m), \
    .offset = offsetof(struct conf_map, m), .max = hi, .what = text
#define OTHER(st, m, json, k, text) \
    .name = json, .kind = k, .offset = offsetof(struct st, m), .what = text

#define FILE_(m, json, text)                       \
    .name = json, .kind = FIELD_FILE,              \
    .size = sizeof(((struct conf_bridge *) 0)->m), \
    .offset = offsetof(struct conf_bridge, m), .what = text

static const char *const fail_modes[] = {"standalone", "secure", NULL};
static const char *const trust_names[] = {"pcp", "port", "dscp", NULL};
static const char *const prio_tag_modes[] = {"keep", "never", "if-nonzero",
                                             "always", NULL};
static const char *const queue_modes[] = {"strict", "ets", NULL};
static const char *const vlan_modes[] = {"trunk", "access", "native-tagged",
                                         "native-untagged", NULL};

static const char *const watchdog_actions[] = {"drop", "forward", "alert",
                                               NULL};
static const char *const guard_actions[] = {"alert", "release", NULL};
static const char *const overrides[] = {"off", "drop", "forward", NULL};

static const struct field map_fields[] = {
    {ENUM(conf_map, trust, "trust", trust_names,
          "where a frame's priority comes from"),
     .given = CONF_MAP_TRUST},
    {UINT(conf_map, default_prio, "default_priority", 0, 7, 0,
          "priority of frames that carry none"),
     .given = CONF_MAP_DEFAULT},
    {MAP(pcp_to_prio, "pcp_to_priority", FIELD_MAP, 7, "priority by PCP"),
     .given = CONF_MAP_PCP},
    {MAP(dscp_to_prio, "dscp_to_priority", FIELD_MAP, 7,
         "priority by DSCP, with trust dscp"),
     .given = CONF_MAP_DSCP},
    {MAP(prio_to_queue, "priority_to_queue", FIELD_MAP, 7,
         "egress queue by priority"),
     .given = CONF_MAP_QUEUE},
    {MAP(prio_to_pg, "priority_to_group", FIELD_MAP, 7,
         "ingress priority group by priority"),
     .given = CONF_MAP_GROUP},
    {MAP(prio_to_pcp, "priority_to_pcp", FIELD_REWRITE, 7,
         "PCP that a tag leaves with, by priority; -1: as it came"),
     .given = CONF_MAP_TO_PCP},
    {MAP(prio_to_dscp, "priority_to_dscp", FIELD_REWRITE, 63,
         "DSCP that an IP packet leaves with, by priority; -1: as it came"),
     .given = CONF_MAP_TO_DSCP},
    {ENUM(conf_map, prio_tags, "priority_tags", prio_tag_modes,
          "which frames without a VLAN leave with a tag, for their PCP"),
     .given = CONF_MAP_PRIO_TAGS},
};

static const struct field vlan_fields[] = {
    {ENUM(conf_port, vlan_mode, "mode", vlan_modes,
          "as vlan_mode of Open vSwitch; access when only tag is given")},
    {UINT(conf_port, tag, "tag", 0, CONF_MAX_VID, 0,
          "VLAN of untagged frames, not in trunk mode")},
    {OTHER(conf_port, trunks, "trunks", FIELD_VIDS,
           "VLANs that a trunk carries; none given: all")},
};

static const struct field pfc_fields[] = {
    {OTHER(conf_port, pfc_prios, "priorities", FIELD_PRIOS,
           "lossless priorities: PFC is sent and honoured"),
     .size = 1},
    {BOOL(conf_port, pfc_asymmetric, "asymmetric",
          "honour PFC on all eight priorities, send it for those above")},
    {UINT(conf_port, pfc_quanta, "quanta", 1, 65535, PFC_QUANTA_DEFAULT,
          "pause time that is sent, in units of 512 bit times")},
};

static const struct field pause_fields[] = {
    {BOOL(conf_port, pause_rx, "rx", "obey 802.3x PAUSE; not with PFC")},
    {BOOL(conf_port, pause_tx, "tx", "send 802.3x PAUSE; not with PFC")},
};

static const struct field watchdog_fields[] = {
    {BOOL(conf_watchdog, enabled, "enabled",
          "look for priorities that the peer pauses without end")},
    {ENUM(conf_watchdog, action, "action", watchdog_actions,
          "in a storm: discard its frames, ignore the peer's PFC, or only "
          "report")},
    {UINT(conf_watchdog, detection_ms, "detection_ms", 100, 5000,
          CONF_WATCHDOG_MS, "paused for so long without a resume: a storm")},
    {UINT(conf_watchdog, restoration_ms, "restoration_ms", 100, 60000,
          CONF_WATCHDOG_MS, "no XOFF for so long: the storm is over")},
    {UINT(conf_watchdog, poll_ms, "poll_ms", 100, 1000, CONF_WATCHDOG_MS,
          "how often is looked; not above the other times")},
};

static const struct field guard_fields[] = {
    {UINT(conf_guard, time_ms, "time_ms", 100, 60000, 0,
          "a group that pauses the peer for longer without one XON is stuck; "
          "0: off"),
     .zero_ok = true},
    {ENUM(conf_guard, release, "action", guard_actions,
          "alert: only report; release: let the peer go")},
};

/* Members of a group, and of a profile, which has one inside. */
#define THRESHOLDS(st, m)                                                     \
    {UINT(st, m reserved_bytes, "reserved_bytes", 0, CONF_MAX_MEMORY, 0,      \
          "the group's own part of the bridge's memory"),                     \
     .profiled = true},                                                       \
        {UINT(st, m xoff_bytes, "xoff_bytes", 0, CONF_MAX_MEMORY,             \
              CONF_DEFAULT_XOFF,                                              \
              "limit of its shared usage: XOFF when lossless, drop when "     \
              "not"),                                                         \
         .profiled = true},                                                   \
        {OTHER(st, m alpha, "alpha", FIELD_ALPHA,                             \
               "limit in its place: 2^alpha x what is free of the pool"),     \
         .size = 1, .def = (uint8_t) BUF_ALPHA_NONE, .profiled = true},       \
        {UINT(st, m xon_bytes, "xon_bytes", 0, CONF_MAX_MEMORY,               \
              CONF_DEFAULT_XON, "XON at or below; at most xoff_bytes"),       \
         .profiled = true},                                                   \
        {UINT(st, m xon_offset_bytes, "xon_offset_bytes", 0, CONF_MAX_MEMORY, \
              0, "XON also at or below the limit minus this; 0: not used"),   \
         .profiled = true},                                                   \
    {                                                                         \
        OTHER(st, m headroom_bytes, "headroom", FIELD_AUTO,                   \
              "bytes that may arrive after XOFF; auto: computed"),            \
            .size = 8, .max = CONF_MAX_MEMORY, .def = CONF_HEADROOM_AUTO,     \
            .profiled = true                                                  \
    }

static const char *const pool_modes[] = {"static", "dynamic", NULL};

static const struct field pool_fields[] = {
    {UINT(conf_pool, size_bytes, "size_bytes", CONF_MIN_FRAME, CONF_MAX_MEMORY,
          CONF_MIN_MEMORY, "its part of the bridge's memory")},
    {ENUM(conf_pool, dynamic, "mode", pool_modes,
          "static: its profiles have xoff_bytes; dynamic: alpha")},
};

static const struct field profile_fields[] = {
    {OTHER(conf_profile, pool, "pool", FIELD_LABEL,
           "pool that is shared; none: what the others leave")},
    THRESHOLDS(conf_profile, t.),
};

static const struct field group_fields[] = {
    {OTHER(conf_group, profile, "profile", FIELD_LABEL,
           "profile that holds in place of thresholds of its own")},
    THRESHOLDS(conf_group, ),
};

static const struct field queue_fields[] = {
    {ENUM(conf_queue, ets, "mode", queue_modes,
          "strict: before all others, higher number first; ets: by weight")},
    {UINT(
        conf_queue, weight, "weight", 0, 100, 0,
        "per cent, 1 to 100 for ets, 0 for strict; those of ets sum to 100")},
    {UINT(conf_queue, max_rate_bps, "max_rate_bps", CONF_MIN_RATE,
          CONF_MAX_RATE, 0, "upper limit in bit/s; 0: none"),
     .zero_ok = true},
    {OTHER(conf_queue, profile, "profile", FIELD_LABEL,
           "profile whose limit holds in place of one of its own")},
    {UINT(conf_queue, limit_bytes, "limit_bytes", CONF_MIN_FRAME,
          CONF_MAX_MEMORY, CONF_DEFAULT_QLIMIT,
          "lossy queue: tail drop above; at least one frame"),
     .profiled = true},
    {OTHER(conf_queue, alpha, "alpha", FIELD_ALPHA,
           "limit in its place: 2^alpha x what is free of the pool"),
     .size = 1, .def = (uint8_t) BUF_ALPHA_NONE, .profiled = true},
    {UINT(conf_queue, wred_min_bytes, "wred_min_bytes", 0, CONF_MAX_MEMORY, 0,
          "WRED: nothing happens at or below")},
    {UINT(conf_queue, wred_max_bytes, "wred_max_bytes", 0, CONF_MAX_MEMORY, 0,
          "WRED: every frame is marked or dropped above; 0: off")},
    {UINT(conf_queue, wred_percent, "wred_percent", 0, 100, 100,
          "WRED: probability at wred_max_bytes, per cent; linear from "
          "wred_min_bytes")},
    {BOOL(conf_queue, ecn, "ecn",
          "mark what is ECN-capable in place of dropping it; lossless queues "
          "drop nothing anyhow")},
};

static const struct field port_fields[] = {
    {OTHER(conf_port, cls, "type", FIELD_TYPE,
           "kind of port; fixed when the port is added")},
    {UINT(conf_port, ofport, "ofport", 1, CONF_MAX_OFPORT, 0,
          "number in OpenFlow; 0: the lowest that is free, and stays"),
     .zero_ok = true},
    {OTHER(conf_port, mac, "mac", FIELD_MAC, "address of a tap port")},
    {UINT(conf_port, rate_bps, "rate_bps", CONF_MIN_RATE, CONF_MAX_RATE, 0,
          "line rate in bit/s that is shaped to; 0: the interface's own, not "
          "shaped"),
     .zero_ok = true},
    {UINT(conf_port, cable_delay_ns, "cable_delay_ns", 0, CONF_MAX_CABLE_NS, 0,
          "one-way delay of the cable; headroom follows")},
    {BOOL(conf_port, cable_emulated, "cable_emulated",
          "frames that leave are delayed by it; false: the cable is real"),
     .def = 1},
    {UINT(conf_port, cell_bytes, "cell_bytes", 1, CONF_MAX_CELL, 0,
          "computed headrooms are whole cells; 0: as the bridge says"),
     .zero_ok = true},
    {UINT(conf_port, ring_bytes, "ring_bytes", CONF_MIN_RING, CONF_MAX_RING, 0,
          "size of the receive ring; 0: automatic"),
     .zero_ok = true},
    {BOOL(conf_port, backpressure, "backpressure",
          "of a tap: PFC holds back who sends to it, by class")},
};

static const struct section port_sections[] = {
    {"vlan", NULL, vlan_fields, N_OF(vlan_fields), 0, 0, "VLANs of the port",
     0, 0, NULL},
    {"pfc", NULL, pfc_fields, N_OF(pfc_fields), 0, 0,
     "priority-based flow control", 0, 0, NULL},
    {"pause", NULL, pause_fields, N_OF(pause_fields), 0, 0, "802.3x PAUSE", 0,
     0, NULL},
    {"watchdog", NULL, watchdog_fields, N_OF(watchdog_fields),
     offsetof(struct conf_port, watchdog), 0, "storms of PFC from the peer", 0,
     0, NULL},
    {"guard", NULL, guard_fields, N_OF(guard_fields),
     offsetof(struct conf_port, guard), 0, "endless pausing of the peer", 0, 0,
     NULL},
    {"map", NULL, map_fields, N_OF(map_fields),
     offsetof(struct conf_port, map), 0,
     "what is not given here is the bridge's", 0, 0, NULL},
    {"groups", "group", group_fields, N_OF(group_fields),
     offsetof(struct conf_port, group), sizeof(struct conf_group),
     "ingress priority groups by number", 0, 0, NULL},
    {"queues", "queue", queue_fields, N_OF(queue_fields),
     offsetof(struct conf_port, queue), sizeof(struct conf_queue),
     "egress queues by number", 0, 0, NULL},
};

static const struct field bridge_fields[] = {
    {UINT(conf_bridge, memory_bytes, "memory_bytes", CONF_MIN_MEMORY,
          CONF_MAX_MEMORY, CONF_DEFAULT_MEMORY,
          "frame memory: reserved parts, shared part and headrooms")},
    {UINT(conf_bridge, max_frame_bytes, "max_frame_bytes", CONF_MIN_FRAME,
          CONF_MAX_FRAME, CONF_DEFAULT_FRAME,
          "longest frame, tags counted, without FCS")},
    {UINT(conf_bridge, mac_ageing_s, "mac_ageing_s", 0, 1000000, 300,
          "seconds after which a silent address is forgotten; 0: never")},
    {BOOL(conf_bridge, forward_reserved, "forward_reserved",
          "forward 01-80-C2-00-00-00 to -0F, except -01: for labs")},
    {BOOL(conf_bridge, drop_unknown, "drop_lossless_unknown",
          "drop lossless frames to unknown unicast addresses instead of "
          "flooding them")},
    {BOOL(conf_bridge, local, "local",
          "has a port of its own, a TAP interface of the bridge's name"),
     .def = 1},
    {ENUM(conf_bridge, watchdog_override, "watchdog_override", overrides,
          "what is done in every storm, whatever the ports say")},
    {UINT(conf_bridge, cell_bytes, "cell_bytes", 1, CONF_MAX_CELL, 1,
          "computed headrooms are whole cells; 1: there are none")},
    {UINT(conf_bridge, headroom_pool_bytes, "headroom_pool_bytes", 0,
          CONF_MAX_MEMORY, 0,
          "headroom that all groups share; 0: each has its own")},
    {UINT(conf_bridge, headroom_ratio, "headroom_ratio", 0, CONF_MAX_RATIO, 0,
          "size of that pool as the sum of the headrooms over this; 0: not")},
    {ENUM(conf_bridge, of.fail_mode, "fail_mode", fail_modes,
          "without its controllers: an ordinary bridge (standalone), or what "
          "the flow tables say (secure)")},
    {OTHER(conf_bridge, of.datapath_id, "datapath_id", FIELD_DPID,
           "of OpenFlow; auto: made of an address"),
     .size = 8},
    {BOOL(conf_bridge, of.management, "management",
          "listen for OpenFlow on the bridge's socket, NAME.mgmt beside the "
          "control socket"),
     .def = 1},
    {UINT(conf_bridge, of.max_flows, "max_flows", 1, CONF_MAX_FLOWS,
          CONF_DEFAULT_FLOWS, "entries that all flow tables have together")},
};

static const struct field controller_fields[] = {
    {UINT(conf_controller, probe_ms, "probe_ms", 100, 3600000, 5000,
          "silence before an echo request, and again before the end; 0: "
          "never"),
     .zero_ok = true},
    {UINT(conf_controller, max_backoff_ms, "max_backoff_ms", 1000, 3600000,
          8000, "longest pause between two attempts to connect")},
};

static const struct field ssl_fields[] = {
    {FILE_(of.ssl.private_key, "private_key", "our private key, PEM")},
    {FILE_(of.ssl.certificate, "certificate", "our certificate, PEM")},
    {FILE_(of.ssl.ca_certificate, "ca_certificate",
           "certificates that peers' must be signed by, PEM")},
};

static const struct section bridge_sections[] = {
    {"map", NULL, map_fields, N_OF(map_fields),
     offsetof(struct conf_bridge, map), 0, "defaults of the ports", 0, 0,
     NULL},
    {"pools", "pool", pool_fields, N_OF(pool_fields),
     offsetof(struct conf_bridge, pool), sizeof(struct conf_pool),
     "parts of the memory that groups share, by name", CONF_MAX_POOLS,
     offsetof(struct conf_bridge, n_pools), NULL},
    {"profiles", "profile", profile_fields, N_OF(profile_fields),
     offsetof(struct conf_bridge, profile), sizeof(struct conf_profile),
     "thresholds for groups and queues, by name", CONF_MAX_PROFILES,
     offsetof(struct conf_bridge, n_profiles), NULL},
    {"controllers", "controller", controller_fields, N_OF(controller_fields),
     offsetof(struct conf_bridge, of.controller),
     sizeof(struct conf_controller), "OpenFlow controllers, by target",
     CONF_MAX_CONTROLLERS, offsetof(struct conf_bridge, of.n_controllers),
     &conf_target_key},
    {"ssl", NULL, ssl_fields, N_OF(ssl_fields), 0, 0,
     "files for targets with ssl: and pssl:", 0, 0, NULL},
};

const struct object conf_port_object = {port_fields, N_OF(port_fields),
                                        port_sections, N_OF(port_sections)};
const struct object conf_bridge_object = {bridge_fields, N_OF(bridge_fields),
                                          bridge_sections,
                                          N_OF(bridge_sections)};

/* Index of a word in a list; false: it is not there. */
static bool
find_word(const char *const *words, const char *word, int *at)
{
    int i;

    for (i = 0; words[i]; i++) {
        if (strcmp(words[i], word))
            continue;
        *at = i;
        return true;
    }
    return false;
}

const char *
conf_trust_name(enum dp_trust t)
{
    return trust_names[t];
}

const char *
conf_vlan_mode_name(enum dp_vlan_mode m)
{
    return vlan_modes[m];
}

const char *
conf_prio_tags_name(enum dp_prio_tags m)
{
    return prio_tag_modes[m];
}

bool
conf_prio_tags_find(const char *word, enum dp_prio_tags *m)
{
    int i;

    if (!find_word(prio_tag_modes, word, &i))
        return false;
    *m = (enum dp_prio_tags) i;
    return true;
}

bool
conf_trust_find(const char *word, enum dp_trust *t)
{
    int i;

    if (!find_word(trust_names, word, &i))
        return false;
    *t = (enum dp_trust) i;
    return true;
}

bool
conf_vlan_mode_find(const char *word, enum dp_vlan_mode *m)
{
    int i;

    if (!find_word(vlan_modes, word, &i))
        return false;
    *m = (enum dp_vlan_mode) i;
    return true;
}

const char *
conf_watchdog_action_name(enum watchdog_action a)
{
    return watchdog_actions[a];
}

bool
conf_watchdog_action_find(const char *word, enum watchdog_action *a)
{
    int i;

    if (!find_word(watchdog_actions, word, &i))
        return false;
    *a = (enum watchdog_action) i;
    return true;
}

const char *
conf_fail_mode_name(enum conf_fail_mode m)
{
    return fail_modes[m];
}

bool
conf_fail_mode_find(const char *word, enum conf_fail_mode *m)
{
    int i;

    if (!find_word(fail_modes, word, &i))
        return false;
    *m = (enum conf_fail_mode) i;
    return true;
}

const char *
conf_override_name(enum conf_override o)
{
    return overrides[o];
}

bool
conf_override_find(const char *word, enum conf_override *o)
{
    int i;

    if (!find_word(overrides, word, &i))
        return false;
    *o = (enum conf_override) i;
    return true;
}

uint64_t
field_get(const struct field *f, const void *base)
{
    const char *p = (const char *) base + f->offset;
    uint16_t v16;
    uint32_t v32;
    uint64_t v64;

    switch (f->size) {
    case 1:
        return *(const uint8_t *) p;
    case 2:
        memcpy(&v16, p, 2);
        return v16;
    case 4:
        memcpy(&v32, p, 4);
        return v32;
    default:
        assert(f->size == 8);
        memcpy(&v64, p, 8);
        return v64;
    }
}

/* A map remembers which of its members it was given. */
static void
mark_given(const struct field *f, void *base, bool given)
{
    struct conf_map *map = base;

    if (!f->given)
        return;
    map->given =
        (uint16_t) (given ? map->given | f->given : map->given & ~f->given);
}

void
field_set(const struct field *f, void *base, uint64_t v)
{
    char *p = (char *) base + f->offset;
    uint16_t v16 = (uint16_t) v;
    uint32_t v32 = (uint32_t) v;

    switch (f->size) {
    case 1:
        *(uint8_t *) p = (uint8_t) v;
        break;
    case 2:
        memcpy(p, &v16, 2);
        break;
    case 4:
        memcpy(p, &v32, 4);
        break;
    default:
        assert(f->size == 8);
        memcpy(p, &v, 8);
        break;
    }
    mark_given(f, base, true);
}

void
field_reset(const struct field *f, void *base)
{
    uint8_t *p = (uint8_t *) base + f->offset;
    int i;

    switch (f->kind) {
    case FIELD_MAP: /* the identity, or by the three high bits */
        for (i = 0; i < f->size; i++)
            p[i] = (uint8_t) (i / (f->size / 8));
        break;
    case FIELD_REWRITE:
        memset(p, CONF_KEEP, f->size);
        break;
    case FIELD_VIDS:
        ((struct conf_port *) base)->n_trunks = 0;
        break;
    case FIELD_MAC:
        ((struct conf_port *) base)->have_mac = false;
        memset(p, 0, 6);
        break;
    case FIELD_TYPE:
        break; /* a port has no other type to go back to */
    case FIELD_LABEL:
        memset(p, 0, CONF_LABEL_MAX + 1);
        break;
    case FIELD_FILE:
        memset(p, 0, f->size);
        break;
    default:
        field_set(f, base, f->def);
        break;
    }
    mark_given(f, base, false);
}

static bool
map_member_equal(const struct field *f, const struct conf_map *a,
                 const struct conf_map *b)
{
    const char *pa = (const char *) a + f->offset;
    const char *pb = (const char *) b + f->offset;

    if ((a->given & f->given) != (b->given & f->given))
        return false;
    if (!(a->given & f->given))
        return true;
    if (f->kind == FIELD_MAP || f->kind == FIELD_REWRITE)
        return !memcmp(pa, pb, f->size);
    return field_get(f, a) == field_get(f, b);
}

bool
field_equal(const struct field *f, const void *a, const void *b)
{
    const struct conf_port *pa = a, *pb = b;

    if (f->given)
        return map_member_equal(f, a, b);
    switch (f->kind) {
    case FIELD_VIDS:
        return pa->n_trunks == pb->n_trunks &&
               !memcmp(pa->trunks, pb->trunks,
                       pa->n_trunks * sizeof(pa->trunks[0]));
    case FIELD_MAC:
        return pa->have_mac == pb->have_mac &&
               (!pa->have_mac || !memcmp(pa->mac, pb->mac, 6));
    case FIELD_TYPE:
        return pa->cls == pb->cls;
    case FIELD_LABEL:
    case FIELD_FILE:
        return !strcmp((const char *) a + f->offset,
                       (const char *) b + f->offset);
    default:
        return field_get(f, a) == field_get(f, b);
    }
}

static void
allowed_words(const struct field *f, char *text, size_t size)
{
    size_t n = 0;
    int i;

    text[0] = '\0';
    for (i = 0; f->names[i] && n < size; i++)
        n += (size_t) snprintf(text + n, size - n, "%s%s", i ? ", " : "",
                               f->names[i]);
}

void
field_allowed(const struct field *f, char *text, size_t size)
{
    switch (f->kind) {
    case FIELD_UINT:
    case FIELD_AUTO:
        snprintf(text, size, "%s%s%llu to %llu",
                 f->kind == FIELD_AUTO ? "\"auto\", or " : "",
                 f->zero_ok ? "0, or " : "", (unsigned long long) f->min,
                 (unsigned long long) f->max);
        break;
    case FIELD_BOOL:
        snprintf(text, size, "true, false");
        break;
    case FIELD_ENUM:
        allowed_words(f, text, size);
        break;
    case FIELD_PRIOS:
        snprintf(text, size, "an array of different priorities, 0 to 7");
        break;
    case FIELD_MAP:
    case FIELD_REWRITE:
        snprintf(text, size, "an array of %s numbers, %s0 to %llu",
                 f->size == 8 ? "eight" : "64",
                 f->kind == FIELD_REWRITE ? "-1 or " : "",
                 (unsigned long long) f->max);
        break;
    case FIELD_VIDS:
        snprintf(text, size, "an array of different VLAN ids, 0 to %d",
                 CONF_MAX_VID);
        break;
    case FIELD_MAC:
        snprintf(text, size,
                 "a unicast address as six pairs of hexadecimal digits with "
                 "colons between");
        break;
    case FIELD_TYPE:
        snprintf(text, size, NETDEV_TYPES);
        break;
    case FIELD_ALPHA:
        snprintf(text, size, "\"none\", or %d to %d", BUF_ALPHA_MIN,
                 BUF_ALPHA_MAX);
        break;
    case FIELD_LABEL:
        snprintf(text, size, "\"none\", or the name of a %s of the bridge",
                 f->name);
        break;
    case FIELD_FILE:
        snprintf(text, size,
                 "\"none\", or an absolute path of at most %d octets",
                 CONF_FILE_MAX);
        break;
    case FIELD_DPID:
        snprintf(text, size,
                 "\"auto\", or 1 to 16 hexadecimal digits, not all zero");
        break;
    }
}

bool
field_is_default(const struct field *f, const void *base)
{
    if (f->kind == FIELD_LABEL || f->kind == FIELD_FILE)
        return !((const char *) base)[f->offset];
    return field_get(f, base) == f->def;
}
