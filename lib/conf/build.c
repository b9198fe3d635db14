/* SPDX-License-Identifier: Apache-2.0
 *
 * From the model to what a datapath is told: sizes, and the plan of a port and
 * of a bridge.  Called by the control thread, and by tests and simulations.
 *
 * Memory.  memory_bytes bounds what frames may be charged; and it bounds what
 * the buffers take, each counted with its descriptor, so that the resident
 * size of a bridge is its memory and a few MiB.  Buffers are of one size, so
 * small frames use them up before the bytes: see conf_low_buffers().
 */
#include "base/clock.h"
#include "conf/conf.h"
#include "conf/field.h"
#include "dp/cable.h"
#include "ofp/action.h"
#include "qos/headroom.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Buffers of the headroom are counted for frames of this mean size ... */
#define HEADROOM_FRAME_BYTES 256u
/* ... and this many more are kept, so that a port can always receive a batch
 * and find the MAC control frame that is in it. */
#define RX_BUFFERS (2u * PKT_BATCH)

#define DEFAULT_SPEED_BPS UINT64_C(10000000000)
#define MAC_ENTRIES       65536u
#define MAX_CLONES        65536u
#define N_EVENTS          4096u
/* An Ethernet header and one tag: what an interface sends beyond its MTU. */
#define FRAME_OVERHEAD 18u

void
conf_map_effective(const struct conf_bridge *b, const struct conf_port *p,
                   struct conf_map *map)
{
    const struct conf_map *own = &p->map;

    *map = b->map;
    map->given = CONF_MAP_ALL;
    if (own->given & CONF_MAP_TRUST)
        map->trust = own->trust;
    if (own->given & CONF_MAP_DEFAULT)
        map->default_prio = own->default_prio;
    if (own->given & CONF_MAP_PCP)
        memcpy(map->pcp_to_prio, own->pcp_to_prio, 8);
    if (own->given & CONF_MAP_QUEUE)
        memcpy(map->prio_to_queue, own->prio_to_queue, N_PRIO);
    if (own->given & CONF_MAP_GROUP)
        memcpy(map->prio_to_pg, own->prio_to_pg, N_PRIO);
    if (own->given & CONF_MAP_DSCP)
        memcpy(map->dscp_to_prio, own->dscp_to_prio, 64);
    if (own->given & CONF_MAP_TO_PCP)
        memcpy(map->prio_to_pcp, own->prio_to_pcp, N_PRIO);
    if (own->given & CONF_MAP_TO_DSCP)
        memcpy(map->prio_to_dscp, own->prio_to_dscp, N_PRIO);
    if (own->given & CONF_MAP_PRIO_TAGS)
        map->prio_tags = own->prio_tags;
}

uint32_t
conf_port_cell(const struct conf_bridge *b, const struct conf_port *p)
{
    return p->cell_bytes ? p->cell_bytes : b->cell_bytes;
}

uint64_t
conf_port_rate(const struct conf_port *p, const struct conf_live *live)
{
    if (p->rate_bps)
        return p->rate_bps;
    return live && live->speed_bps ? live->speed_bps : DEFAULT_SPEED_BPS;
}

/* Longest frame that the port sends. */
static uint32_t
port_max_frame(const struct conf_bridge *b, const struct conf_live *live)
{
    uint64_t max = b->max_frame_bytes;

    if (live && live->mtu && live->mtu + UINT64_C(0) + FRAME_OVERHEAD < max)
        max = live->mtu + FRAME_OVERHEAD;
    return (uint32_t) max;
}

void
conf_port_headroom_terms(const struct conf_bridge *b,
                         const struct conf_port *p,
                         const struct conf_live *live, uint64_t stall_ns,
                         struct headroom *out)
{
    struct headroom_in in = {
        .rate_bps = conf_port_rate(p, live),
        .cable_delay_ns = p->cable_delay_ns,
        .mtu_rx_bytes = b->max_frame_bytes,
        .mtu_tx_bytes = port_max_frame(b, live),
        .cell_bytes = conf_port_cell(b, p),
        .stall_ns = stall_ns,
        .emulated = p->cable_emulated,
    };

    if (in.stall_ns < HEADROOM_MIN_STALL_NS)
        in.stall_ns = HEADROOM_MIN_STALL_NS;
    headroom_compute(&in, out);
}

uint64_t
conf_port_headroom(const struct conf_bridge *b, const struct conf_port *p,
                   int pg, const struct conf_live *live, uint64_t stall_ns)
{
    struct headroom h;
    const struct conf_group *g = conf_group_in_force(b, p, pg, NULL);

    if (g->headroom_bytes != CONF_HEADROOM_AUTO)
        return g->headroom_bytes;
    conf_port_headroom_terms(b, p, live, stall_ns, &h);
    return h.total_bytes;
}

/* Priorities for whose sake the port pauses its peer. */
static uint8_t
paused_for(const struct conf_port *p)
{
    return p->pause_tx ? 0xff : p->pfc_prios;
}

uint8_t
conf_lossless_groups(const struct conf_bridge *b, const struct conf_port *p)
{
    uint8_t prios = paused_for(p), groups = 0;
    struct conf_map map;
    int i;

    conf_map_effective(b, p, &map);
    for (i = 0; i < N_PRIO; i++)
        if (prios & (1u << i))
            groups = (uint8_t) (groups | 1u << (map.prio_to_pg[i] & 7));
    return groups;
}

uint8_t
conf_lossless_queues(const struct conf_bridge *b, const struct conf_port *p)
{
    uint8_t prios = 0, queues = 0;
    struct conf_map map;
    uint32_t i;

    for (i = 0; i < b->n_ports; i++)
        prios |= paused_for(b->ports[i]);
    conf_map_effective(b, p, &map);
    for (i = 0; i < N_PRIO; i++)
        if (prios & (1u << i))
            queues = (uint8_t) (queues | 1u << (map.prio_to_queue[i] & 7));
    return queues;
}

uint32_t
conf_n_groups(const struct conf_bridge *b, const struct conf_port *p)
{
    struct conf_map map;
    unsigned groups = 0;
    int i;

    conf_map_effective(b, p, &map);
    for (i = 0; i < N_PRIO; i++)
        groups |= 1u << (map.prio_to_pg[i] & 7);
    return (uint32_t) __builtin_popcount(groups);
}

/* Frame buffers that the bridge's memory makes: each with its descriptor. */
static uint32_t
n_buffers(const struct conf_bridge *b)
{
    return (uint32_t) (b->memory_bytes /
                       (pkt_stride(b->max_frame_bytes) + sizeof(struct pkt)));
}

void
conf_build_dp(const struct conf_bridge *b, struct dp_conf *out)
{
    uint32_t n = n_buffers(b);

    *out = (struct dp_conf){
        .n_buffers = n,
        .n_clones = n < MAX_CLONES / 2 ? 2 * n : MAX_CLONES,
        .frame_bytes = b->max_frame_bytes,
        .mac_entries = MAC_ENTRIES,
        .n_events = N_EVENTS,
    };
}

/* Buffers that headrooms of so many bytes need at the very least. */
static uint64_t
buffers_of(const struct conf_bridge *b, uint64_t headroom_bytes)
{
    return headroom_bytes / b->max_frame_bytes +
           (headroom_bytes % b->max_frame_bytes != 0);
}

/*
 * At or below so many free buffers lossy frames are refused and lossless
 * groups go to XOFF.  What may still arrive then is the sum of the headrooms,
 * for which there must be buffers: counted for frames of 256 octets, but no
 * more than half of all for that, since lossless groups could hold little
 * otherwise; and never fewer than frames of full size need.
 */
static uint32_t
low_buffers(const struct conf_bridge *b, uint64_t headroom_bytes)
{
    uint64_t least = buffers_of(b, headroom_bytes);
    uint64_t wanted = headroom_bytes / HEADROOM_FRAME_BYTES;

    if (wanted > n_buffers(b) / 2)
        wanted = n_buffers(b) / 2;
    return (uint32_t) (RX_BUFFERS + (wanted > least ? wanted : least));
}

static uint64_t
needed_buffers(const struct conf_bridge *b, const struct conf_need *need)
{
    return RX_BUFFERS + need->n_groups + buffers_of(b, need->headroom_bytes);
}

uint64_t
conf_need_bytes(const struct conf_bridge *b, const struct conf_need *need)
{
    uint64_t frames = (uint64_t) need->n_groups * b->max_frame_bytes;
    uint64_t bytes = need->reserved_bytes + need->headroom_bytes +
                     need->pools_bytes + frames;
    uint64_t per_buffer = b->memory_bytes / n_buffers(b) + 1;
    uint64_t buffers = needed_buffers(b, need);

    if (bytes <= b->memory_bytes && buffers <= n_buffers(b))
        return bytes;
    return buffers * per_buffer > bytes ? buffers * per_buffer : bytes;
}

int
conf_check_memory(const struct conf_bridge *b, const struct conf_need *need,
                  struct err *err)
{
    uint64_t bytes = conf_need_bytes(b, need);
    char value[24], allowed[64], pools[48] = "";
    struct place at;

    if (bytes <= b->memory_bytes && needed_buffers(b, need) <= n_buffers(b))
        return 0;
    place_bridge(&at, b, err);
    conf_path_join(at.path, at.path, "memory_bytes");
    snprintf(value, sizeof(value), "%" PRIu64, b->memory_bytes);
    snprintf(allowed, sizeof(allowed), "%" PRIu64 " to %" PRIu64, bytes,
             CONF_MAX_MEMORY);
    if (need->pools_bytes)
        snprintf(pools, sizeof(pools), ", %" PRIu64 " of pools",
                 need->pools_bytes);
    if (bytes > CONF_MAX_MEMORY)
        snprintf(allowed, sizeof(allowed),
                 "at most %" PRIu64 ", with less reserved and headroom",
                 CONF_MAX_MEMORY);
    return err_set(err, ENOSPC, at.path, value, allowed,
                   "%s: memory_bytes %" PRIu64 " does not hold %" PRIu64
                   " reserved%s, %" PRIu64 " of headroom and one frame for "
                   "each of %u groups, %" PRIu64 " bytes in all: allowed %s",
                   at.subject, b->memory_bytes, need->reserved_bytes, pools,
                   need->headroom_bytes, need->n_groups, bytes, allowed);
}

static void
build_pfc(const struct conf_port *p, const struct conf_live *live,
          struct pfc_conf *out)
{
    *out = (struct pfc_conf){
        .rate_bps = conf_port_rate(p, live),
        /* A peer that knows nothing of an emulated rate goes by the speed of
         * its end of the link. */
        .peer_bps = live ? live->speed_bps : 0,
        .quanta = p->pfc_quanta,
        .enabled = p->pfc_prios,
        .honoured = p->pfc_asymmetric ? 0xff : p->pfc_prios,
        .pause_rx = p->pause_rx,
        .pause_tx = p->pause_tx,
    };
}

static void
build_groups(const struct conf_bridge *b, const struct conf_port *p,
             const struct conf_live *live, uint64_t stall_ns,
             struct dp_plan_port *out)
{
    uint8_t lossless = conf_lossless_groups(b, p);
    int i;

    for (i = 0; i < N_PG; i++) {
        uint8_t pool;
        const struct conf_group *g = conf_group_in_force(b, p, i, &pool);
        bool dynamic = g->alpha != BUF_ALPHA_NONE;

        out->pg[i] = (struct buf_group_conf){
            .reserved_bytes = g->reserved_bytes,
            .limit_bytes = g->xoff_bytes,
            .alpha = g->alpha,
            .xon_bytes = g->xon_bytes,
            .xon_offset_bytes = g->xon_offset_bytes || dynamic
                                    ? g->xon_offset_bytes
                                    : g->xoff_bytes,
            .pool = pool,
        };
        if (!(lossless & (1u << i)))
            continue;
        out->pg[i].lossless = true;
        out->pg[i].headroom_bytes =
            conf_port_headroom(b, p, i, live, stall_ns);
    }
}

static void
build_queues(const struct conf_bridge *b, const struct conf_port *p,
             struct dp_plan_port *out)
{
    uint8_t lossless = conf_lossless_queues(b, p);
    int q;

    for (q = 0; q < N_QUEUE; q++) {
        const struct conf_queue *queue = &p->queue[q];

        out->queue[q] = (struct dp_plan_queue){
            .max_rate_bps = queue->max_rate_bps,
            .lossless = lossless & (1u << q),
            .wred = {.min_bytes = queue->wred_min_bytes,
                     .max_bytes = queue->wred_max_bytes,
                     .percent = queue->wred_percent,
                     .ecn = queue->ecn},
        };
        conf_queue_in_force(b, p, q, &out->queue[q]);
        out->sched.weight[q] = queue->weight;
        if (!queue->ets)
            out->sched.strict = (uint8_t) (out->sched.strict | 1u << q);
    }
}

/* What leaves otherwise than it came. */
static void
build_rewrite(const struct conf_map *map, struct dp_plan_port *out)
{
    int i;

    out->prio_tags = map->prio_tags;
    memcpy(out->prio_to_pcp, map->prio_to_pcp, N_PRIO);
    memcpy(out->prio_to_dscp, map->prio_to_dscp, N_PRIO);
    for (i = 0; i < N_PRIO; i++) {
        if (map->prio_to_pcp[i] != CONF_KEEP)
            out->rewrite_pcp = (uint8_t) (out->rewrite_pcp | 1u << i);
        if (map->prio_to_dscp[i] != CONF_KEEP)
            out->rewrite_dscp = (uint8_t) (out->rewrite_dscp | 1u << i);
    }
}

/* Watched is what the peer can pause and what may not be lost: PFC-enabled
 * priorities, and of those that are only honoured the ones whose queue is
 * lossless on this port. */
static void
build_watch(const struct conf_bridge *b, const struct conf_port *p,
            struct dp_plan_port *out)
{
    static const enum watchdog_action forced[] = {
        [CONF_OVERRIDE_DROP] = WATCHDOG_DROP,
        [CONF_OVERRIDE_FORWARD] = WATCHDOG_FORWARD,
    };
    uint8_t queues = conf_lossless_queues(b, p);
    uint8_t prios = 0;

    for (int i = 0; i < N_PRIO; i++)
        if ((out->pfc.honoured >> i & 1) &&
            (queues >> out->prio_to_queue[i] & 1))
            prios |= (uint8_t) (1u << i);
    out->dog = (struct watchdog_conf){
        .detection_ns = p->watchdog.detection_ms * NS_PER_MS,
        .restoration_ns = p->watchdog.restoration_ms * NS_PER_MS,
        .poll_ns = p->watchdog.poll_ms * NS_PER_MS,
        .action = b->watchdog_override ? forced[b->watchdog_override]
                                       : p->watchdog.action,
        .prios = p->watchdog.enabled ? prios : 0,
    };
    out->guard = (struct guard_conf){
        .time_ns = p->guard.time_ms * NS_PER_MS,
        .release = p->guard.release,
    };
}

static void
build_map(const struct conf_bridge *b, const struct conf_port *p,
          struct dp_plan_port *out)
{
    struct conf_map map;
    int i;

    conf_map_effective(b, p, &map);
    out->trust = map.trust;
    out->default_prio = map.default_prio;
    memcpy(out->pcp_to_prio, map.pcp_to_prio, 8);
    memcpy(out->dscp_to_prio, map.dscp_to_prio, 64);
    memcpy(out->prio_to_queue, map.prio_to_queue, N_PRIO);
    memcpy(out->prio_to_pg, map.prio_to_pg, N_PRIO);
    build_rewrite(&map, out);
    for (i = 0; i < N_PRIO; i++) {
        uint8_t *prios = &out->pg_prios[map.prio_to_pg[i] & 7];

        *prios = (uint8_t) (*prios | 1u << i);
    }
}

static void
build_vlan(const struct conf_port *p, struct dp_plan_port *out)
{
    uint32_t i;

    out->vlan_mode = p->vlan_mode;
    out->tag = p->tag;
    out->all_trunks = !p->n_trunks;
    for (i = 0; i < p->n_trunks; i++)
        out->trunks[p->trunks[i] / 64] |= UINT64_C(1) << p->trunks[i] % 64;
}

/* Room for rate x delay of short frames, and for what the scheduler may hand
 * over at a time. */
static void
build_cable(const struct conf_port *p, const struct conf_live *live,
            struct dp_plan_port *out)
{
    unsigned __int128 wire;

    if (!p->cable_emulated || !p->cable_delay_ns)
        return;
    wire = (unsigned __int128) conf_port_rate(p, live) * p->cable_delay_ns /
           8000000000u;
    if (wire > CONF_MAX_WIRE)
        wire = CONF_MAX_WIRE;
    out->cable_delay_ns = p->cable_delay_ns;
    out->cable_bytes =
        (uint64_t) wire * (PKT_MIN_LEN + DP_CABLE_OVERHEAD) / PKT_MIN_LEN +
        2 * PKT_BATCH * (out->max_frame_bytes + DP_CABLE_OVERHEAD) +
        2 * DP_CABLE_CTL_BYTES;
}

void
conf_build_port(const struct conf_bridge *b, const struct conf_port *p,
                const struct conf_live *live, uint64_t stall_ns,
                struct dp_plan_port *out)
{
    struct netdev *netdev = out->netdev;
    struct dp_cable *cable = out->cable;
    struct dp_port *state = out->state;
    bool is_new = out->is_new;

    memset(out, 0, sizeof(*out));
    out->netdev = netdev;
    out->state = state;
    out->cable = cable;
    out->is_new = is_new;
    if (live)
        memcpy(out->mac, live->mac, 6);
    out->of_port = p->ofport;
    out->rate_bps = p->rate_bps;
    out->max_frame_bytes = port_max_frame(b, live);
    build_cable(p, live, out);
    build_pfc(p, live, &out->pfc);
    build_groups(b, p, live, stall_ns, out);
    build_queues(b, p, out);
    build_map(b, p, out);
    build_vlan(p, out);
    build_watch(b, p, out);
}

int
conf_build_bridge(const struct conf_bridge *b, struct dp_plan *plan,
                  struct err *err)
{
    struct conf_need need = {.n_groups = 0};
    uint32_t i;
    int pg, rc;

    for (i = 0; i < plan->n_slots; i++) {
        const struct dp_plan_port *p = plan->ports[i];

        for (pg = 0; p && pg < N_PG; pg++) {
            need.reserved_bytes += p->pg[pg].reserved_bytes;
            conf_need_headroom(&need, p->pg[pg].headroom_bytes);
            need.n_groups += p->pg_prios[pg] && p->of_port != OFPP_LOCAL;
        }
    }
    for (i = 0; i < b->n_pools; i++) {
        plan->pool_bytes[b->pool[i].slot] = b->pool[i].size_bytes;
        need.pools_bytes += b->pool[i].size_bytes;
    }
    plan->hdrm_pool_bytes = conf_share_headroom(b, &need);
    rc = conf_check_memory(b, &need, err);
    if (rc)
        return rc;
    plan->shared_bytes = b->memory_bytes - need.reserved_bytes -
                         need.headroom_bytes - need.pools_bytes;
    plan->low_buffers = low_buffers(b, need.headroom_bytes);
    plan->mac_ageing_ns = b->mac_ageing_s * UINT64_C(1000000000);
    plan->forward_reserved = b->forward_reserved;
    plan->drop_unknown = b->drop_unknown;
    if (dp_plan_make_cables(plan))
        return err_sys(err, ENOMEM, "bridge %s: cables", b->name);
    return 0;
}
