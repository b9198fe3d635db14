/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a configuration, taken as a whole, can be: ranges by the tables of
 * field.c, and what members demand of each other.  The first thing wrong is
 * named.  Control thread.
 */
#include "conf/conf.h"
#include "conf/field.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Refuses a member for what another one says. */
static int
refuse_uint(const struct place *at, const char *member, uint64_t value,
            const char *allowed, const char *complaint)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIu64, value);
    return place_refuse(at, member, text, allowed, complaint);
}

static int
refuse_range(const struct field *f, uint64_t v, const struct place *at)
{
    char value[24];

    snprintf(value, sizeof(value), "%" PRIu64, v);
    return field_refuse_range(f, at, value);
}

static int
check_map(const struct field *f, const void *base, const struct place *at)
{
    const uint8_t *v = (const uint8_t *) base + f->offset;
    int i;

    for (i = 0; i < f->size; i++) {
        if (v[i] > f->max && (f->kind != FIELD_REWRITE || v[i] != CONF_KEEP))
            return refuse_range(f, v[i], at);
    }
    return 0;
}

static int
check_vids(const struct field *f, const struct conf_port *p,
           const struct place *at)
{
    uint32_t i;

    for (i = 0; i < p->n_trunks; i++) {
        if (p->trunks[i] > CONF_MAX_VID ||
            (i && p->trunks[i] <= p->trunks[i - 1]))
            return refuse_range(f, p->trunks[i], at);
    }
    return 0;
}

static int
check_mac(const struct field *f, const struct conf_port *p,
          const struct place *at)
{
    static const uint8_t zero[6];
    char value[18], allowed[160];

    if (!p->have_mac)
        return 0;
    snprintf(value, sizeof(value), "%02x:%02x:%02x:%02x:%02x:%02x", p->mac[0],
             p->mac[1], p->mac[2], p->mac[3], p->mac[4], p->mac[5]);
    field_allowed(f, allowed, sizeof(allowed));
    if (strcmp(p->cls->type, "tap"))
        return place_refuse(at, f->name, value, "for a port of type tap only",
                            "is given for a port that is not a tap");
    if (p->mac[0] & 1)
        return place_refuse(at, f->name, value, allowed, "is a group address");
    if (!memcmp(p->mac, zero, 6))
        return place_refuse(at, f->name, value, allowed, "is all zero");
    return 0;
}

static int
check_field(const struct field *f, const void *base, const struct place *at)
{
    uint64_t v;

    switch (f->kind) {
    case FIELD_MAP:
    case FIELD_REWRITE:
        return check_map(f, base, at);
    case FIELD_VIDS:
        return check_vids(f, base, at);
    case FIELD_MAC:
        return check_mac(f, base, at);
    case FIELD_PRIOS:
    case FIELD_TYPE:
    case FIELD_LABEL:
    case FIELD_FILE:
    case FIELD_DPID:
        return 0; /* every mask is a set; a class is one that exists */
    default:
        v = field_get(f, base);
        return field_in_range(f, v) ? 0 : refuse_range(f, v, at);
    }
}

static int
check_fields(const struct field *fields, size_t n, const void *base,
             const struct place *at)
{
    int rc = 0;
    size_t i;

    for (i = 0; i < n && !rc; i++)
        rc = check_field(&fields[i], base, at);
    return rc;
}

/* What every member says by itself. */
static int
check_ranges(const struct object *o, const void *base, const struct place *in)
{
    int rc = check_fields(o->fields, o->n_fields, base, in);
    struct place at;
    size_t s;
    int i;

    for (s = 0; s < o->n_sections; s++) {
        const struct section *sec = &o->sections[s];

        for (i = 0; i < section_n(sec, base) && !rc; i++) {
            if (sec->max_named)
                place_named(&at, in, sec, section_elem_const(sec, base, i));
            else
                place_section(&at, in, sec, i);
            rc = check_fields(sec->fields, sec->n_fields,
                              section_elem_const(sec, base, i), &at);
        }
    }
    return rc;
}

static int
check_vlan(const struct conf_port *p, const struct place *in)
{
    struct place at;

    place_section(&at, in, object_section(&conf_port_object, "vlan"), 0);
    if (p->vlan_mode == DP_VLAN_TRUNK && p->tag)
        return refuse_uint(&at, "tag", p->tag,
                           "0, or another mode (access, native-tagged, "
                           "native-untagged)",
                           "has no meaning in mode trunk");
    if (p->vlan_mode == DP_VLAN_ACCESS && p->n_trunks)
        return refuse_uint(&at, "trunks", p->trunks[0],
                           "no trunks, or another mode (trunk, native-tagged, "
                           "native-untagged)",
                           "has no meaning in mode access");
    return 0;
}

static int
check_pause(const struct conf_port *p, const struct place *in)
{
    const char *member = p->pause_rx ? "rx" : "tx";
    char complaint[96];
    struct place at;

    if (!p->pause_rx && !p->pause_tx)
        return 0;
    place_section(&at, in, object_section(&conf_port_object, "pause"), 0);
    if (p->pfc_prios) {
        snprintf(complaint, sizeof(complaint),
                 "excludes PFC, which is on (priority mask 0x%02x)",
                 p->pfc_prios);
        return place_refuse(&at, member, "true", "false, or no pfc priorities",
                            complaint);
    }
    if (p->pfc_asymmetric)
        return place_refuse(&at, member, "true",
                            "false, or pfc asymmetric false",
                            "excludes PFC, which pfc asymmetric honours");
    return 0;
}

/* A poll that comes more rarely than what it looks for would miss it. */
static int
check_watchdog(const struct conf_port *p, const struct place *in)
{
    const struct conf_watchdog *w = &p->watchdog;
    bool detection = w->poll_ms > w->detection_ms;
    uint32_t most = detection ? w->detection_ms : w->restoration_ms;
    char allowed[32], complaint[64];
    struct place at;

    if (w->poll_ms <= most)
        return 0;
    place_section(&at, in, object_section(&conf_port_object, "watchdog"), 0);
    snprintf(allowed, sizeof(allowed), "100 to %u", most);
    snprintf(complaint, sizeof(complaint), "exceeds %s %u",
             detection ? "detection_ms" : "restoration_ms", most);
    return refuse_uint(&at, "poll_ms", w->poll_ms, allowed, complaint);
}

/* What is under way on a cable lies in memory.  Without a rate it is bounded
 * all the same: a cable that is full takes no more. */
static int
check_cable(const struct conf_port *p, const struct place *at)
{
    char allowed[64], complaint[96];
    uint64_t most_ns;

    if (!p->rate_bps || !p->cable_emulated)
        return 0;
    most_ns = (uint64_t) ((unsigned __int128) CONF_MAX_WIRE * 8000000000u /
                          p->rate_bps);
    if (p->cable_delay_ns <= most_ns)
        return 0;
    snprintf(allowed, sizeof(allowed), "0 to %" PRIu64, most_ns);
    snprintf(complaint, sizeof(complaint),
             "at %" PRIu64 " bit/s is more than the %" PRIu64 " bytes that a "
             "cable can hold",
             p->rate_bps, CONF_MAX_WIRE);
    return refuse_uint(at, "cable_delay_ns", p->cable_delay_ns, allowed,
                       complaint);
}

/* Who is held back is shaped too, so that a bounded number of frames is behind
 * the hold. */
static int
check_backpressure(const struct conf_port *p, const struct place *at)
{
    if (!p->backpressure)
        return 0;
    if (p->cls != &netdev_tap)
        return place_refuse(at, "backpressure", "true", "false, or a tap port",
                            "holds back who sends to a tap, which this is "
                            "not");
    if (!p->rate_bps)
        return place_refuse(at, "backpressure", "true",
                            "false, or a rate_bps of the port",
                            "needs a rate");
    return 0;
}

/* Early detection: its thresholds, and what needs them. */
static int
check_wred(const struct conf_queue *queue, const struct place *at)
{
    char allowed[64], complaint[64];

    if (queue->wred_min_bytes > queue->wred_max_bytes) {
        snprintf(allowed, sizeof(allowed), "0 to %" PRIu64,
                 queue->wred_max_bytes);
        snprintf(complaint, sizeof(complaint),
                 "exceeds wred_max_bytes %" PRIu64, queue->wred_max_bytes);
        return refuse_uint(at, "wred_min_bytes", queue->wred_min_bytes,
                           allowed, complaint);
    }
    if (queue->ecn && !queue->wred_max_bytes)
        return place_refuse(at, "ecn", "true", "false, or a wred_max_bytes",
                            "has no thresholds to mark by");
    return 0;
}

static int
check_queue(const struct conf_port *p, int q, const struct place *in)
{
    const struct conf_queue *queue = &p->queue[q];
    struct place at;

    place_section(&at, in, object_section(&conf_port_object, "queues"), q);
    if (!queue->ets && queue->weight)
        return refuse_uint(&at, "weight", queue->weight, "0, or mode ets",
                           "is given for a strict queue");
    if (queue->ets && !queue->weight)
        return refuse_uint(&at, "weight", 0, "1 to 100",
                           "is no share for an ets queue");
    return check_wred(queue, &at);
}

static int
check_weights(const struct conf_port *p, const struct place *in)
{
    char path[CONF_PATH_SIZE], list[64] = "", value[16];
    unsigned sum = 0, n = 0;
    size_t used = 0;
    int q;

    for (q = 0; q < N_QUEUE; q++) {
        if (!p->queue[q].ets)
            continue;
        used += (size_t) snprintf(list + used, sizeof(list) - used, "%s%d: %u",
                                  n++ ? ", " : "", q, p->queue[q].weight);
        sum += p->queue[q].weight;
    }
    if (!n || sum == 100)
        return 0;
    conf_path_join(path, in->path, "queues");
    snprintf(value, sizeof(value), "%u", sum);
    return err_set(in->err, EINVAL, path, value, "100",
                   "%s: the weights of its ets queues (%s) sum to %u: allowed "
                   "is a sum of 100",
                   in->subject, list, sum);
}

static int
check_port(const struct conf_bridge *b, const struct conf_port *p,
           struct err *err)
{
    struct place at;
    int rc, i;

    place_port(&at, b, p, err);
    rc = check_ranges(&conf_port_object, p, &at);
    if (!rc)
        rc = check_backpressure(p, &at);
    if (!rc)
        rc = check_vlan(p, &at);
    if (!rc)
        rc = check_pause(p, &at);
    if (!rc)
        rc = check_watchdog(p, &at);
    if (!rc)
        rc = check_cable(p, &at);
    if (!rc)
        rc = conf_check_uses(b, p, &at);
    for (i = 0; i < N_QUEUE && !rc; i++)
        rc = check_queue(p, i, &at);
    return rc ? rc : check_weights(p, &at);
}

/* What is certain to be taken from the memory: headrooms that are computed
 * depend on the live interface and come in conf_build_bridge(). */
static struct conf_need
certain_need(const struct conf_bridge *b)
{
    struct conf_need need = {.n_groups = 0};
    uint32_t i;
    int pg;

    for (i = 0; i < b->n_ports; i++) {
        const struct conf_port *p = b->ports[i];
        uint8_t lossless = conf_lossless_groups(b, p);

        need.n_groups += conf_n_groups(b, p);
        for (pg = 0; pg < N_PG; pg++) {
            const struct conf_group *g = conf_group_in_force(b, p, pg, NULL);

            need.reserved_bytes += g->reserved_bytes;
            if ((lossless & (1u << pg)) &&
                g->headroom_bytes != CONF_HEADROOM_AUTO)
                conf_need_headroom(&need, g->headroom_bytes);
        }
    }
    for (i = 0; i < b->n_pools; i++)
        need.pools_bytes += b->pool[i].size_bytes;
    conf_share_headroom(b, &need);
    return need;
}

static int
check_memory(const struct conf_bridge *b, struct err *err)
{
    struct conf_need need = certain_need(b);

    return conf_check_memory(b, &need, err);
}

uint64_t
conf_needed_bytes(const struct conf_bridge *b)
{
    struct conf_need need = certain_need(b);

    return conf_need_bytes(b, &need);
}

static int
check_unique(const struct conf *c, uint32_t n_before,
             const struct conf_bridge *b, const struct conf_port *p,
             struct err *err)
{
    struct place at;
    uint32_t i;

    for (i = 0; i < n_before; i++) {
        if (!conf_bridge_find_port(c->bridges[i], p->name))
            continue;
        place_port(&at, b, p, err);
        return err_set(err, EEXIST, at.path, p->name, "a name not in use",
                       "port %s is in bridge %s and in bridge %s: allowed is "
                       "one of them",
                       p->name, c->bridges[i]->name, b->name);
    }
    return 0;
}

static int
check_slots(const struct conf_bridge *b, struct err *err)
{
    bool used[DP_MAX_PORTS] = {false};
    struct place at;
    uint32_t i;

    for (i = 0; i < b->n_ports; i++) {
        const struct conf_port *p = b->ports[i];

        place_port(&at, b, p, err);
        if (p->slot >= DP_MAX_PORTS || used[p->slot])
            return err_set(err, EINVAL, at.path, NULL, NULL,
                           "%s: slot %u is out of range or taken: allowed is "
                           "a free one from 0 to %d",
                           at.subject, p->slot, DP_MAX_PORTS - 1);
        used[p->slot] = true;
    }
    return 0;
}

static int
check_bridge(const struct conf *c, uint32_t at_index, struct err *err)
{
    const struct conf_bridge *b = c->bridges[at_index];
    struct place at;
    uint32_t i;
    int rc;

    place_bridge(&at, b, err);
    rc = check_ranges(&conf_bridge_object, b, &at);
    if (!rc)
        rc = conf_check_pools(b, &at);
    if (!rc)
        rc = conf_check_control(b, &at);
    for (i = 0; i < b->n_ports && !rc; i++) {
        rc = check_unique(c, at_index, b, b->ports[i], err);
        if (!rc)
            rc = check_port(b, b->ports[i], err);
    }
    if (!rc)
        rc = check_slots(b, err);
    if (!rc)
        rc = conf_check_ofports(b, err);
    return rc ? rc : check_memory(b, err);
}

int
conf_validate(const struct conf *c, struct err *err)
{
    uint32_t i;
    int rc = 0;

    for (i = 0; i < c->n_bridges && !rc; i++)
        rc = check_bridge(c, i, err);
    return rc;
}
