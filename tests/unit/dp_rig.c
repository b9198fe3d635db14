/* SPDX-License-Identifier: Apache-2.0
 *
 * The bridge on a bench: see dp_rig.h.
 */
#include "tests/unit/dp_rig.h"

#include <stdio.h>
#include <stdlib.h>

#define FRAME_BYTES 2048

static struct netdev *
open_mem(struct rig *r, uint32_t i)
{
    struct netdev_args args = {.pool = dp_pool(r->dp)};
    struct netdev *nd = NULL;
    struct err err = {0};
    char name[16];

    snprintf(name, sizeof(name), "m%u", i);
    args.name = name;
    cr_assert_eq(netdev_open(&netdev_mem, &args, &nd, &err), 0, "%s", err.msg);
    netdev_mem_set_now(nd, r->now_ns);
    return nd;
}

static void
default_port(struct dp_plan_port *pp, uint32_t i)
{
    static const uint8_t weights[N_QUEUE] = {13, 13, 13, 13, 12, 12, 12, 12};

    *pp = (struct dp_plan_port){
        .mac = {2, 0, 0, 0, 0, (uint8_t) i},
        .max_frame_bytes = FRAME_BYTES,
        .pfc = {.rate_bps = 1000000000, .quanta = 65535},
        .trust = DP_TRUST_PCP,
        .vlan_mode = DP_VLAN_TRUNK,
        .all_trunks = true,
    };
    for (uint8_t p = 0; p < 8; p++) {
        pp->sched.weight[p] = weights[p];
        pp->queue[p].limit_bytes = UINT64_C(1) << 30;
        pp->queue[p].alpha = BUF_ALPHA_NONE;
        pp->pg[p] = (struct buf_group_conf){
            .limit_bytes = UINT64_C(1) << 30,
            .alpha = BUF_ALPHA_NONE,
        };
        pp->pg_prios[p] = (uint8_t) (1u << p);
        pp->pcp_to_prio[p] = p;
        pp->prio_to_pg[p] = p;
        pp->prio_to_queue[p] = p;
    }
}

void
rig_init_pool(struct rig *r, uint32_t n_ports, uint32_t n_buffers,
              uint32_t n_clones)
{
    struct dp_conf conf = {
        .n_buffers = n_buffers,
        .n_clones = n_clones,
        .frame_bytes = FRAME_BYTES,
        .mac_entries = MACTAB_MIN_ENTRIES,
        .seed = 42,
        .n_events = 1024,
    };

    memset(r, 0, sizeof(*r));
    r->now_ns = NS_PER_S;
    r->n_ports = n_ports;
    r->dp = dp_create(&conf);
    cr_assert_not_null(r->dp);
    r->base.shared_bytes = UINT64_C(1) << 32;
    r->base.mac_ageing_ns = 300 * NS_PER_S;
    for (uint32_t i = 0; i < n_ports; i++) {
        r->nd[i] = open_mem(r, i);
        r->state[i] = dp_port_create();
        cr_assert_not_null(r->state[i]);
        default_port(&r->conf[i], i);
        r->in[i] = true;
    }
    rig_apply(r);
}

void
rig_init(struct rig *r, uint32_t n_ports)
{
    rig_init_pool(r, n_ports, 8192, 8192);
}

void
rig_uninit(struct rig *r)
{
    dp_destroy(r->dp);
    for (uint32_t i = 0; i < r->n_ports; i++) {
        netdev_close(r->nd[i]);
        dp_port_destroy(r->state[i]);
    }
}

void
rig_apply(struct rig *r)
{
    struct dp_plan *old = r->plan;
    struct dp_plan *plan = malloc(sizeof(*plan));

    cr_assert_not_null(plan);
    *plan = r->base;
    plan->generation = ++r->generation;
    plan->n_slots = (uint16_t) r->n_ports;
    for (uint32_t i = 0; i < r->n_ports; i++) {
        struct dp_plan_port *pp;

        if (!r->in[i])
            continue;
        pp = malloc(sizeof(*pp));
        cr_assert_not_null(pp);
        *pp = r->conf[i];
        pp->netdev = r->absent[i] ? NULL : r->nd[i];
        pp->state = r->state[i];
        plan->ports[i] = pp;
    }
    cr_assert_eq(dp_plan_make_cables(plan), 0);
    r->plan = plan;
    dp_publish(r->dp, plan);
    for (int i = 0; dp_generation(r->dp) < r->generation; i++) {
        cr_assert_lt(i, 1000, "plan %lu is never adopted",
                     (unsigned long) r->generation);
        if (i)
            r->now_ns += 100 * NS_PER_US;
        rig_turn(r);
    }
    dp_plan_destroy(old);
}

void
rig_lossless(struct rig *r, uint32_t port, uint8_t prios, uint64_t limit,
             uint64_t headroom)
{
    struct dp_plan_port *pp = &r->conf[port];

    pp->pfc.enabled = prios;
    pp->pfc.honoured = prios;
    for (int p = 0; p < N_PRIO; p++) {
        if (!(prios >> p & 1))
            continue;
        pp->pg[p] = (struct buf_group_conf){
            .limit_bytes = limit,
            .xon_bytes = limit / 2,
            .headroom_bytes = headroom,
            .alpha = BUF_ALPHA_NONE,
            .lossless = true,
        };
        for (uint32_t i = 0; i < r->n_ports; i++)
            r->conf[i].queue[p].lossless = true;
    }
}

uint64_t
rig_turn(struct rig *r)
{
    struct dp_audit audit;

    for (uint32_t i = 0; i < r->n_ports; i++)
        netdev_mem_set_now(r->nd[i], r->now_ns);
    r->next_ns = dp_run(r->dp, r->now_ns);
    r->n_turns++;
    cr_assert_geq(r->next_ns, r->now_ns);
    cr_assert(dp_audit(r->dp, &audit),
              "rx %lu copies %lu tx %lu held %lu drops %lu "
              "charged %lu held bytes %lu",
              audit.rx, audit.copies, audit.tx, audit.held, audit.drops,
              audit.charged_bytes, audit.held_bytes);
    while (r->n_events < RIG_EVENTS &&
           dp_event_get(r->dp, &r->events[r->n_events]))
        r->n_events++;
    return r->next_ns;
}

uint32_t
rig_settle(struct rig *r)
{
    uint32_t n = 1;

    while (rig_turn(r) == r->now_ns)
        cr_assert_lt(++n, 100000, "the bridge turns in circles");
    return n;
}

void
rig_run(struct rig *r, uint64_t ns)
{
    uint64_t end_ns = r->now_ns + ns;

    for (;;) {
        rig_settle(r);
        if (r->next_ns > end_ns)
            break;
        r->now_ns = r->next_ns;
    }
    r->now_ns = end_ns;
}

static uint8_t *
put_mac(uint8_t *to, uint64_t mac)
{
    for (int i = 0; i < 6; i++)
        *to++ = (uint8_t) (mac >> (40 - 8 * i));
    return to;
}

static uint8_t *
put_be16(uint8_t *to, unsigned v)
{
    *to++ = (uint8_t) (v >> 8);
    *to++ = (uint8_t) v;
    return to;
}

uint32_t
rig_frame(uint8_t *out, uint64_t dst, uint64_t src, int tci, uint32_t len,
          uint32_t seq)
{
    uint8_t *to = out;

    memset(out, 0, len);
    to = put_mac(to, dst);
    to = put_mac(to, src);
    if (tci != NO_TAG) {
        to = put_be16(to, ETH_T_VLAN);
        to = put_be16(to, (unsigned) tci);
    }
    put_be16(to, 0x88b5);
    put_be16(out + len - 4, seq >> 16);
    put_be16(out + len - 2, seq & 0xffff);
    return len;
}

void
rig_send(struct rig *r, uint32_t port, uint64_t dst, uint64_t src, int tci,
         uint32_t len, uint32_t seq)
{
    uint8_t frame[FRAME_BYTES];

    netdev_mem_set_now(r->nd[port], r->now_ns);
    rig_frame(frame, dst, src, tci, len, seq);
    cr_assert(netdev_mem_inject(r->nd[port], frame, len));
}

uint32_t
rig_ip_frame(uint8_t *out, uint32_t from, uint32_t to, int version,
             const uint32_t *tags, int n_tags, uint8_t ds, uint32_t payload,
             uint32_t seq)
{
    uint32_t header = version == 4 ? 20 : 40;
    uint32_t len = 14 + 4 * (uint32_t) n_tags + header + payload;
    uint8_t *p = out;

    memset(out, 0, len);
    p = put_mac(put_mac(p, HOST(to)), HOST(from));
    for (int i = 0; i < n_tags; i++)
        p = put_be16(put_be16(p, tags[i] >> 16), tags[i] & 0xffff);
    p = put_be16(p, version == 4 ? ETH_T_IP4 : ETH_T_IP6);
    if (version == 4) {
        put_be16(p, 0x4500u | ds);
        put_be16(p + 2, 20 + payload);
        put_be16(p + 4, seq & 0xffff);
        put_be16(p + 8, 0x4011); /* TTL 64, UDP */
        put_be16(p + 10, eth_csum_fold(eth_csum_add(0, p, 20)));
    } else {
        put_be16(p, 0x6000u | (unsigned) ds << 4 | 0xa);
        put_be16(p + 2, 0xbcde); /* flow label */
        put_be16(p + 4, payload);
        put_be16(p + 6, 0x1140);
    }
    put_be16(out + len - 4, seq >> 16);
    put_be16(out + len - 2, seq & 0xffff);
    return len;
}

void
rig_inject(struct rig *r, uint32_t port, const uint8_t *frame, uint32_t len)
{
    netdev_mem_set_now(r->nd[port], r->now_ns);
    cr_assert(netdev_mem_inject(r->nd[port], frame, len));
}

uint32_t
rig_take_ip(struct rig *r, uint32_t port, uint8_t *out, struct eth_info *info,
            uint8_t *ds)
{
    uint32_t len = rig_take(r, port, out);
    const uint8_t *ip;

    if (!len)
        return 0;
    cr_assert(eth_parse(out, len, info) && info->is_ip);
    ip = out + info->l3_ofs;
    if (info->ethertype == ETH_T_IP4) {
        *ds = ip[1];
        cr_assert_eq(eth_csum_fold(eth_csum_add(0, ip, 20)), 0);
    } else {
        *ds = (uint8_t) (ip[0] << 4 | ip[1] >> 4);
        cr_assert_eq((ip[1] & 15) << 16 | ip[2] << 8 | ip[3], 0xabcde);
    }
    return len;
}

uint32_t
rig_take(struct rig *r, uint32_t port, uint8_t *out)
{
    return netdev_mem_take(r->nd[port], out, FRAME_BYTES);
}

uint32_t
rig_drain(struct rig *r, uint32_t port)
{
    uint8_t frame[FRAME_BYTES];
    uint32_t n = 0;

    while (rig_take(r, port, frame))
        n++;
    return n;
}

uint32_t
rig_seq(const uint8_t *frame, uint32_t len)
{
    const uint8_t *p = frame + len - 4;

    return (uint32_t) p[0] << 24 | (uint32_t) p[1] << 16 |
           (uint32_t) p[2] << 8 | p[3];
}

void
rig_learn(struct rig *r, int tci)
{
    for (uint32_t i = 0; i < r->n_ports; i++)
        rig_send(r, i, BROADCAST, HOST(i), tci, 64, 0);
    rig_settle(r);
    for (uint32_t i = 0; i < r->n_ports; i++)
        rig_drain(r, i);
}

void
rig_pfc(struct rig *r, uint32_t port, uint8_t enable, uint16_t quanta)
{
    static const uint8_t src[6] = {2, 0, 0, 0, 9, 9};
    uint8_t frame[MACCTL_LEN];
    uint16_t time[N_PRIO];

    for (int p = 0; p < N_PRIO; p++)
        time[p] = quanta;
    macctl_encode_pfc(frame, src, enable, time);
    netdev_mem_set_now(r->nd[port], r->now_ns);
    cr_assert(netdev_mem_inject(r->nd[port], frame, sizeof(frame)));
}

void
rig_take_pfc(struct rig *r, uint32_t port, struct macctl *m)
{
    uint8_t frame[FRAME_BYTES];
    uint32_t len = rig_take(r, port, frame);

    cr_assert_eq(len, MACCTL_LEN, "no PFC frame, but %u octets", len);
    cr_assert_eq(macctl_decode(frame, len, m), MACCTL_PFC);
    cr_assert_arr_eq(m->src, r->conf[port].mac, 6);
}

uint32_t
rig_n_events(const struct rig *r, enum dp_event_type type, uint32_t port)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->n_events; i++)
        n += r->events[i].type == type && r->events[i].port == port;
    return n;
}

const struct dp_port_counters *
rig_n(const struct rig *r, uint32_t port)
{
    return dp_port_counters(r->state[port]);
}
