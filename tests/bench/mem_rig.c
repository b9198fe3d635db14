/* SPDX-License-Identifier: Apache-2.0
 *
 * The bridge that the benchmarks of the datapath alone run: see mem_rig.h.
 */
#include "tests/bench/mem_rig.h"

#include "base/clock.h"
#include "wire/eth.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VLAN       10
#define LOSSLESS   0x18 /* priorities 3 and 4 */
#define FIRST_PRIO 3

static const char *const features[] = {"alpha", "ets",  "watch",   "wred",
                                       "mark",  "dscp", "rewrite", "cable"};
#define N_FEATURES (sizeof(features) / sizeof(features[0]))

void
rig_die(const char *what)
{
    fprintf(stderr, "mem_bench: %s\n", what);
    exit(1);
}

/* --- the bridge ------------------------------------------------------------
 */

static void
set_queue(unsigned with, struct conf_queue *q)
{
    if (with & WITH_ALPHA)
        q->alpha = 0;
    if (with & WITH_ETS) {
        q->ets = true;
        q->weight = 12;
    }
    if (with & (WITH_WRED | WITH_MARK)) {
        q->wred_min_bytes = with & WITH_MARK ? 0 : 64 << 10;
        q->wred_max_bytes = 128 << 10;
        q->wred_percent = 5;
        q->ecn = true;
    }
}

static void
set_features(unsigned with, struct conf_port *cp)
{
    for (int i = 0; i < 8; i++) {
        set_queue(with, &cp->queue[i]);
        if (with & WITH_ALPHA)
            cp->group[i].alpha = 0;
        if (with & WITH_REWRITE)
            cp->map.prio_to_dscp[i] = (uint8_t) (8 * i + 1);
    }
    if (with & WITH_ETS)
        cp->queue[7].weight = 16;
    if (with & WITH_REWRITE)
        cp->map.given |= CONF_MAP_TO_DSCP;
    if (with & WITH_DSCP) {
        cp->map.given |= CONF_MAP_TRUST;
        cp->map.trust = DP_TRUST_DSCP;
    }
    if (with & WITH_WATCH) {
        cp->watchdog.enabled = true;
        cp->guard.time_ms = 1000;
    }
    if (with & WITH_CABLE)
        cp->cable_delay_ns = 1516;
}

static void
add_port(struct rig *b, struct conf_bridge *bridge, struct dp_plan *plan,
         uint32_t i)
{
    struct dp_plan_port *pp = calloc(1, sizeof(*pp));
    struct conf_live live = {.mtu = 1500};
    struct conf_port *cp = NULL;
    char name[NETDEV_NAME_MAX + 1];

    snprintf(name, sizeof(name), "mem%u", i);
    if (conf_add_port(b->conf, bridge, name, "mem", &cp, NULL))
        rig_die("a port was refused");
    cp->pfc_prios = b->pfc ? LOSSLESS : 0;
    set_features(b->with, cp);
    for (int g = 0; g < N_PG; g++)
        cp->group[g].headroom_bytes = 128 << 10;
    pp->netdev = b->port[i].dev;
    pp->state = b->port[i].state = dp_port_create();
    pp->is_new = true;
    memcpy(live.mac, b->port[i].dev->mac, sizeof(live.mac));
    conf_build_port(bridge, cp, &live, 0, pp);
    plan->ports[cp->slot] = pp;
}

static void
make_bridge(struct rig *b)
{
    struct dp_plan *plan = calloc(1, sizeof(*plan));
    struct conf_bridge *bridge = NULL;
    struct dp_conf dc;
    struct err err;

    b->conf = conf_create();
    if (conf_add_bridge(b->conf, "br0", &bridge, NULL))
        rig_die("the bridge was refused");
    conf_build_dp(bridge, &dc);
    b->dp = dp_create(&dc);
    if (!b->dp || !plan)
        rig_die("out of memory");
    plan->generation = 1;
    plan->n_slots = (uint16_t) b->n_ports;
    for (uint32_t i = 0; i < b->n_ports; i++) {
        char name[NETDEV_NAME_MAX + 1];
        struct netdev_args args = {.name = name, .pool = dp_pool(b->dp)};

        snprintf(name, sizeof(name), "mem%u", i);
        if (netdev_open(&netdev_mem, &args, &b->port[i].dev, NULL))
            rig_die("out of memory");
        add_port(b, bridge, plan, i);
    }
    if (conf_build_bridge(bridge, plan, &err))
        rig_die(err.msg);
    if (dp_plan_make_cables(plan))
        rig_die("out of memory");
    dp_publish(b->dp, plan);
    dp_run(b->dp, b->from_ns);
}

/* --- the load --------------------------------------------------------------
 */

static void
put_mac(uint8_t *to, uint32_t port, uint32_t number)
{
    uint8_t mac[6] = {0x02,
                      (uint8_t) port,
                      0x5a,
                      (uint8_t) (number >> 16),
                      (uint8_t) (number >> 8),
                      (uint8_t) number};

    memcpy(to, mac, sizeof(mac));
}

/* Frame k of a port: from its address k to an address of another port, not in
 * the order in which that one uses its own; of one priority after the other.
 * This is the generator, not the switch: it costs what it costs. */
static void
stamp(void *arg, struct pkt *const pkts[], uint32_t n, uint32_t k)
{
    const struct rig_port *port = arg;
    const struct rig *b = port->rig;
    uint32_t mask = b->per_port - 1, prios = b->n_prios - 1;

    for (uint32_t i = 0; i < n; i++, k++) {
        uint8_t *f = pkts[i]->data;
        uint32_t to = port->index + 1 + k % (b->n_ports - 1);

        if (to >= b->n_ports)
            to -= b->n_ports;
        put_mac(f, to, k * 2654435761u & mask);
        put_mac(f + 6, port->index, k & mask);
        f[14] = (uint8_t) ((FIRST_PRIO + (k & prios)) << 5);
    }
    if (!(b->with & WITH_DSCP))
        return;
    for (uint32_t i = 0; i < n; i++) /* the class selector of that PCP */
        pkts[i]->data[19] = (uint8_t) (pkts[i]->data[14] | b->body[19]);
}

/* Every address is known before anything is measured. */
static void
make_load(struct rig *b)
{
    uint64_t now_ns = b->from_ns;
    uint8_t mac[6];

    b->frames[0] = b->body;
    b->lens[0] = b->size;
    b->body[12] = ETH_T_VLAN >> 8;
    b->body[13] = ETH_T_VLAN & 0xff;
    b->body[15] = VLAN;
    b->body[16] = ETH_T_IP4 >> 8;
    b->body[17] = ETH_T_IP4 & 0xff;
    b->body[18] = 0x45;
    b->body[19] = b->with & WITH_MARK ? 1 : 0; /* ECT(1) */
    for (uint32_t i = 0; i < b->n_ports; i++) {
        b->port[i].rig = b;
        b->port[i].index = i;
        b->port[i].load = (struct netdev_mem_load){.frames = b->frames,
                                                   .lens = b->lens,
                                                   .n = 1,
                                                   .per_rx = PKT_BATCH,
                                                   .stamp = stamp,
                                                   .arg = &b->port[i]};
        netdev_mem_set_load(b->port[i].dev, &b->port[i].load);
        for (uint32_t k = 0; k < b->per_port; k++) {
            put_mac(mac, i, k);
            mactab_learn(dp_mactab(b->dp), VLAN, mac, (uint16_t) i, now_ns);
        }
    }
    if (mactab_counters(dp_mactab(b->dp))->n_entries !=
        b->n_ports * b->per_port)
        rig_die("the MAC table did not take all addresses");
}

void
rig_init(struct rig *b, const struct rig_conf *c)
{
    memset(b, 0, sizeof(*b));
    b->n_ports = c->n_ports;
    b->per_port = c->n_addresses / c->n_ports;
    /* Exact counts need the same time every time, within one tick of the
     * MAC table. */
    b->from_ns = c->is_exact ? NS_PER_S : clock_ns();
    b->size = c->size;
    b->n_prios = c->n_prios;
    b->pfc = !c->no_pfc;
    b->with = c->with;
    make_bridge(b);
    make_load(b);
}

void
rig_uninit(struct rig *b)
{
    dp_destroy(b->dp);
    for (uint32_t i = 0; i < b->n_ports; i++) {
        netdev_close(b->port[i].dev);
        dp_port_destroy(b->port[i].state);
    }
    conf_destroy(b->conf);
}

/* --- running
 */

uint64_t
rig_n_sent(const struct rig *b)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < b->n_ports; i++)
        n += counter_get(&dp_port_counters(b->port[i].state)->tx_frames);
    return n;
}

void
rig_check(const struct rig *b)
{
    struct dp_audit a;

    if (!dp_audit(b->dp, &a))
        rig_die("the audit does not add up");
    if (a.drops || a.copies)
        rig_die("frames were dropped or flooded");
}

void
rig_run_frames(struct rig *b, uint64_t n)
{
    uint64_t turn = (uint64_t) b->n_ports * PKT_BATCH;
    uint64_t now_ns = b->from_ns, left = n;

    for (; left >= turn; left -= turn)
        dp_run(b->dp, now_ns += NS_PER_US);
    for (uint32_t i = 0; i < b->n_ports; i++) {
        uint32_t share = left < PKT_BATCH ? (uint32_t) left : PKT_BATCH;

        b->port[i].load.per_rx = share;
        netdev_mem_set_load(b->port[i].dev, share ? &b->port[i].load : NULL);
        left -= share;
    }
    dp_run(b->dp, now_ns += NS_PER_US);
    for (uint32_t i = 0; i < b->n_ports; i++)
        netdev_mem_set_load(b->port[i].dev, NULL);
    while (rig_n_sent(b) < n)
        dp_run(b->dp, now_ns += NS_PER_US);
    if (rig_n_sent(b) != n)
        rig_die("not the number of frames that was asked for");
}

bool
rig_parse_features(char *text, unsigned *with)
{
    char *word;

    while ((word = strsep(&text, ","))) {
        size_t i = 0;

        while (i < N_FEATURES && strcmp(word, features[i]))
            i++;
        if (i == N_FEATURES)
            return false;
        *with |= 1u << i;
    }
    return true;
}
