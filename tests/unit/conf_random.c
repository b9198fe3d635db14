/* SPDX-License-Identifier: Apache-2.0
 *
 * Random valid configurations: see conf_random.h.
 */
#include "conf_random.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static bool
coin(struct rng *r)
{
    return rng_below(r, 2);
}

/* One of the ends of a range as often as something between. */
static uint64_t
pick(struct rng *r, uint64_t lo, uint64_t hi)
{
    switch (rng_below(r, 4)) {
    case 0:
        return lo;
    case 1:
        return hi;
    default:
        return rng_range(r, lo, hi);
    }
}

static uint64_t
zero_or(struct rng *r, uint64_t lo, uint64_t hi)
{
    return coin(r) ? 0 : pick(r, lo, hi);
}

static void
random_codes(struct rng *r, uint8_t *map, int n, uint64_t below)
{
    int i;

    for (i = 0; i < n; i++)
        map[i] = (uint8_t) rng_below(r, below);
}

static void
random_rewrite(struct rng *r, uint8_t map[8], uint64_t below)
{
    int i;

    random_codes(r, map, 8, below);
    for (i = 0; i < 8; i++)
        if (coin(r))
            map[i] = CONF_KEEP;
}

static void
random_map(struct conf_map *m, struct rng *r)
{
    m->trust = (enum dp_trust) rng_below(r, 3);
    m->prio_tags = (enum dp_prio_tags) rng_below(r, 4);
    m->default_prio = (uint8_t) rng_below(r, 8);
    random_codes(r, m->pcp_to_prio, 8, 8);
    random_codes(r, m->dscp_to_prio, 64, 8);
    random_codes(r, m->prio_to_queue, 8, 8);
    random_codes(r, m->prio_to_pg, 8, 8);
    random_rewrite(r, m->prio_to_pcp, 8);
    random_rewrite(r, m->prio_to_dscp, 64);
}

static void
random_vlan(struct conf_port *p, struct rng *r)
{
    uint32_t odds = 1 + (uint32_t) rng_below(r, 2000);
    uint16_t vid;

    p->vlan_mode = (enum dp_vlan_mode) rng_below(r, 4);
    p->tag = 0;
    p->n_trunks = 0;
    if (p->vlan_mode != DP_VLAN_TRUNK)
        p->tag = (uint16_t) pick(r, 0, 4094);
    for (vid = 0; p->vlan_mode != DP_VLAN_ACCESS && vid <= 4094; vid++)
        if (!rng_below(r, odds))
            p->trunks[p->n_trunks++] = vid;
    if (coin(r))
        p->n_trunks = 0;
}

static int8_t
random_alpha(struct rng *r)
{
    return (int8_t) (coin(r) ? BUF_ALPHA_NONE : (int) rng_below(r, 11) - 7);
}

static void
random_thresholds(struct conf_group *g, struct rng *r)
{
    g->reserved_bytes = zero_or(r, 1, 20000);
    g->xoff_bytes = pick(r, CONF_MAX_FRAME, CONF_MAX_MEMORY);
    g->xon_bytes = pick(r, 0, g->xoff_bytes);
    g->xon_offset_bytes = zero_or(r, 1, g->xoff_bytes);
    g->headroom_bytes = coin(r) ? CONF_HEADROOM_AUTO : pick(r, 0, 100000);
    g->alpha = random_alpha(r);
}

static void
random_groups(struct conf_port *p, struct rng *r)
{
    int i;

    for (i = 0; i < N_PG; i++)
        if (!p->group[i].profile[0] && coin(r))
            random_thresholds(&p->group[i], r);
}

/* Gives a group or queue a profile, if there is one, and back. */
static void
random_use(const struct conf_bridge *b, struct conf_port *p, struct rng *r)
{
    struct conf_group *g = &p->group[rng_below(r, N_PG)];
    struct conf_queue *q = &p->queue[rng_below(r, N_QUEUE)];
    const struct conf_profile *prof;

    memset(g->profile, 0, sizeof(g->profile));
    memset(q->profile, 0, sizeof(q->profile));
    if (!b->n_profiles || coin(r))
        return;
    prof = &b->profile[rng_below(r, b->n_profiles)];
    *g = (struct conf_group){.xoff_bytes = CONF_DEFAULT_XOFF,
                             .xon_bytes = CONF_DEFAULT_XON,
                             .alpha = BUF_ALPHA_NONE,
                             .headroom_bytes = CONF_HEADROOM_AUTO};
    q->limit_bytes = CONF_DEFAULT_QLIMIT;
    q->alpha = BUF_ALPHA_NONE;
    strcpy(g->profile, prof->name);
    strcpy(q->profile, prof->name);
}

static void
random_pools(struct conf_bridge *b, struct rng *r)
{
    struct conf_pool *pool;
    struct conf_profile *prof;
    char name[CONF_LABEL_MAX + 1];

    b->cell_bytes = (uint32_t) rng_range(r, 1, CONF_MAX_CELL);
    b->headroom_pool_bytes = zero_or(r, 1, 100000);
    b->headroom_ratio = b->headroom_pool_bytes
                            ? 0
                            : (uint32_t) rng_below(r, CONF_MAX_RATIO + 1);
    snprintf(name, sizeof(name), "pool~%u", (unsigned) rng_below(r, 5));
    if (!conf_add_pool(b, name, &pool, NULL)) {
        pool->size_bytes = rng_range(r, CONF_MAX_FRAME, 100000);
        pool->dynamic = coin(r);
    }
    snprintf(name, sizeof(name), "profile\"%u", (unsigned) rng_below(r, 9));
    if (conf_add_profile(b, name, &prof, NULL))
        return;
    random_thresholds(&prof->t, r);
    if (coin(r)) {
        pool = &b->pool[rng_below(r, b->n_pools)];
        strcpy(prof->pool, pool->name);
        prof->t.alpha = pool->dynamic ? -1 : BUF_ALPHA_NONE;
    }
}

static void
random_queues(struct conf_port *p, struct rng *r)
{
    bool any_ets = coin(r);
    unsigned left = 100;
    int q;

    for (q = 0; q < N_QUEUE; q++) {
        struct conf_queue *queue = &p->queue[q];

        queue->ets = false;
        queue->weight = 0;
        if (coin(r)) {
            queue->max_rate_bps = zero_or(r, CONF_MIN_RATE, CONF_MAX_RATE);
        }
        if (!queue->profile[0] && coin(r)) {
            queue->limit_bytes = pick(r, CONF_MAX_FRAME, CONF_MAX_MEMORY);
            queue->wred_max_bytes = zero_or(r, 1, CONF_MAX_MEMORY);
            queue->wred_min_bytes = pick(r, 0, queue->wred_max_bytes);
            queue->wred_percent = (uint8_t) pick(r, 0, 100);
            queue->ecn = queue->wred_max_bytes && coin(r);
            queue->alpha = random_alpha(r);
        }
        if (!any_ets || left < 2 || (q < 7 && coin(r)))
            continue;
        queue->ets = true;
        queue->weight = (uint8_t) (q < 7 ? rng_range(r, 1, left - 1) : left);
        left -= queue->weight;
    }
    if (any_ets && left) { /* the last one takes the rest */
        p->queue[7].ets = true;
        p->queue[7].weight = (uint8_t) (p->queue[7].weight + left);
    }
}

static void
random_watch(struct conf_port *p, struct rng *r)
{
    struct conf_watchdog *w = &p->watchdog;
    uint32_t most;

    if (coin(r))
        return;
    w->enabled = coin(r);
    w->action = (enum watchdog_action) rng_below(r, 3);
    w->detection_ms = (uint32_t) pick(r, 100, 5000);
    w->restoration_ms = (uint32_t) pick(r, 100, 60000);
    most = w->detection_ms < w->restoration_ms ? w->detection_ms
                                               : w->restoration_ms;
    w->poll_ms = (uint32_t) pick(r, 100, most < 1000 ? most : 1000);
    p->guard.time_ms = (uint32_t) zero_or(r, 100, 60000);
    p->guard.release = coin(r);
}

static void
random_port(const struct conf_bridge *b, struct conf_port *p, struct rng *r)
{
    int i;

    p->have_mac = !strcmp(p->cls->type, "tap") && coin(r);
    p->mac[0] = (uint8_t) (2 + 4 * rng_below(r, 60));
    for (i = 1; i < 6; i++)
        p->mac[i] = (uint8_t) rng_below(r, 256);
    p->rate_bps = zero_or(r, CONF_MIN_RATE, CONF_MAX_RATE);
    p->backpressure = !strcmp(p->cls->type, "tap") && p->rate_bps && coin(r);
    p->cable_delay_ns = zero_or(r, 1, CONF_MAX_CABLE_NS);
    p->cable_emulated = p->cable_delay_ns < 1000000 && coin(r);
    p->cell_bytes = (uint32_t) zero_or(r, 1, CONF_MAX_CELL);
    p->ring_bytes = (uint32_t) zero_or(r, CONF_MIN_RING, CONF_MAX_RING);
    p->pfc_prios = coin(r) ? 0 : (uint8_t) rng_below(r, 256);
    p->pfc_asymmetric = coin(r);
    p->pfc_quanta = (uint16_t) pick(r, 1, 65535);
    p->pause_rx = !p->pfc_prios && !p->pfc_asymmetric && coin(r);
    p->pause_tx = !p->pfc_prios && !p->pfc_asymmetric && coin(r);
    p->map.given = (uint16_t) rng_below(r, CONF_MAP_ALL + 1);
    random_map(&p->map, r);
    random_watch(p, r);
    random_vlan(p, r);
    random_groups(p, r);
    random_queues(p, r);
    random_use(b, p, r);
}

static void
random_control(struct conf_openflow *of, struct conf_bridge *b, struct rng *r)
{
    static const char *const targets[] = {
        "tcp:192.0.2.1", "tcp:[2001:db8::1]:6633", "unix:/a/b~c\"d", "ptcp:",
        "punix:/run/x",  "ssl:192.0.2.7:6653",     "pssl::127.0.0.1"};
    size_t at = rng_below(r, sizeof(targets) / sizeof(targets[0]));
    struct conf_controller *c;

    of->fail_mode = (enum conf_fail_mode) rng_below(r, 2);
    of->max_flows = (uint32_t) pick(r, 1, CONF_MAX_FLOWS);
    of->datapath_id = zero_or(r, 1, UINT64_MAX);
    of->management = coin(r);
    if (of->n_controllers && coin(r))
        of->n_controllers--;
    for (uint32_t i = 0; i < of->n_controllers; i++)
        if (!strcmp(of->controller[i].target, targets[at]))
            return;
    if (conf_add_controller(b, targets[at], &c, NULL))
        return;
    c->probe_ms = (uint32_t) zero_or(r, 100, 3600000);
    c->max_backoff_ms = (uint32_t) pick(r, 1000, 3600000);
    memset(&of->ssl, 0, sizeof(of->ssl));
    if (conf_needs_ssl(of) || coin(r)) {
        strcpy(of->ssl.private_key, "/k");
        strcpy(of->ssl.certificate, "/a b/\"c");
        strcpy(of->ssl.ca_certificate, "/ca");
    }
}

static void
random_bridge(struct conf_bridge *b, struct rng *r)
{
    b->memory_bytes = pick(r, CONF_DEFAULT_MEMORY, CONF_MAX_MEMORY);
    b->max_frame_bytes = (uint32_t) pick(r, CONF_MIN_FRAME, CONF_MAX_FRAME);
    b->mac_ageing_s = (uint32_t) pick(r, 0, 1000000);
    b->forward_reserved = coin(r);
    b->drop_unknown = coin(r);
    b->watchdog_override = (enum conf_override) rng_below(r, 3);
    random_map(&b->map, r);
    random_pools(b, r);
    random_control(&b->of, b, r);
}

static void
add_ports(struct conf *c, struct conf_bridge *b, uint64_t n, struct rng *r)
{
    static const char *const types[] = {"afpacket", "tap", "mem"};
    struct conf_port *p;
    char name[CONF_NAME_MAX + 1];

    while (n-- > 0) {
        snprintf(name, sizeof(name), "p%u", (unsigned) rng_below(r, 1000));
        if (!conf_add_port(c, b, name, types[rng_below(r, 3)], &p, NULL))
            random_port(b, p, r);
    }
}

static void
add_bridge(struct conf *c, struct rng *r)
{
    struct conf_bridge *b;
    char name[CONF_NAME_MAX + 1];

    snprintf(name, sizeof(name), "br~%u\"", (unsigned) rng_below(r, 10));
    if (conf_add_bridge(c, name, &b, NULL))
        return;
    random_bridge(b, r);
    add_ports(c, b, rng_below(r, 8), r);
}

static void
must_be_valid(const struct conf *c)
{
    struct err err;

    cr_assert_eq(conf_validate(c, &err), 0, "%s", err.msg);
}

struct conf *
conf_random(struct rng *r)
{
    struct conf *c = conf_create();
    uint64_t n = rng_below(r, 4);

    while (n-- > 0)
        add_bridge(c, r);
    must_be_valid(c);
    return c;
}

void
conf_random_change(struct conf *c, struct rng *r)
{
    struct conf_bridge *b;

    if (!c->n_bridges || !rng_below(r, 8))
        add_bridge(c, r);
    if (!rng_below(r, 16))
        cr_assert_eq(conf_del_bridge(c, c->bridges[0]->name, NULL), 0);
    if (!c->n_bridges)
        return;
    b = c->bridges[rng_below(r, c->n_bridges)];
    if (coin(r))
        random_bridge(b, r);
    if (b->n_ports && coin(r))
        random_port(b, b->ports[rng_below(r, b->n_ports)], r);
    if (b->n_ports && !rng_below(r, 3))
        cr_assert_eq(conf_del_port(c, b->ports[0]->name, NULL), 0);
    if (!rng_below(r, 3))
        add_ports(c, b, 1, r);
    must_be_valid(c);
}
