/* SPDX-License-Identifier: Apache-2.0
 *
 * How fast is the datapath itself?  One bridge, ports in memory that make
 * frames from templates and throw away what is sent, the real clock, one core;
 * PFC on two priorities, all eight in use, every address learned.  What is
 * measured is a frame's whole way: a copy into a buffer, parse, admission,
 * lookup, learning, queue, scheduler, release.
 *
 *     mem_bench [--seconds S] [--runs N] [--size OCTETS] [--prios N] [--json]
 *     mem_bench --frames N --ports P --addresses A     exactly N, for
 * callgrind
 *
 * Every turn each port takes in one batch and sends one: the frames of a
 * batch go to other ports in turn, so that no queue grows.
 */
#include "base/clock.h"
#include "conf/conf.h"
#include "dp/dp.h"
#include "netdev/netdev.h"
#include "wire/eth.h"

#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define VLAN       10
#define LOSSLESS   0x18 /* priorities 3 and 4 */
#define FIRST_PRIO 3
#define MAX_PORTS  64
#define MAX_SIZE   1518

/* What a bridge has beside PFC, and whether each frame has to do with it. */
enum feature {
    WITH_ALPHA = 1 << 0,   /* dynamic limits of all groups and lossy queues */
    WITH_ETS = 1 << 1,     /* weights for all queues */
    WITH_WATCH = 1 << 2,   /* watchdog and guard on every port */
    WITH_WRED = 1 << 3,    /* thresholds that no queue reaches */
    WITH_MARK = 1 << 4,    /* thresholds that every frame is above */
    WITH_DSCP = 1 << 5,    /* trusted */
    WITH_REWRITE = 1 << 6, /* a DSCP for every priority */
    WITH_CABLE = 1 << 7,   /* emulated, 300 m */
};

static const char *const features[] = {"alpha", "ets",  "watch",   "wred",
                                       "mark",  "dscp", "rewrite", "cable"};
#define N_FEATURES (sizeof(features) / sizeof(features[0]))

/* What was asked for. */
struct options {
    double seconds;                /* of a measurement */
    uint32_t runs;                 /* of each */
    uint32_t size;                 /* of a frame */
    uint64_t n_frames;             /* 0: by time */
    uint32_t n_ports, n_addresses; /* with n_frames */
    uint32_t n_prios;              /* of the eight that are in use */
    bool no_pfc;                   /* no lossless priority */
    unsigned with;                 /* enum feature, or-ed */
    bool json;                     /* as JSON, not as a table */
};

struct bench;

/* A port and what comes in on it. */
struct bench_port {
    const struct bench *bench;   /* what it is part of */
    uint32_t index;              /* its number */
    struct netdev *dev;          /* its mem port */
    struct dp_port *state;       /* its state in the bridge */
    struct netdev_mem_load load; /* endless frames */
};

struct bench {
    uint64_t from_ns;  /* time at which it begins */
    uint32_t n_ports;  /* of the bridge */
    uint32_t per_port; /* addresses of a port, a power of two */
    uint32_t size;     /* of a frame, without FCS, with its tag */
    bool pfc;          /* on two priorities */
    unsigned with;     /* enum feature, or-ed */
    uint32_t n_prios;  /* used in turn, from the first on */
    struct conf *conf; /* has one bridge */
    struct dp *dp;     /* the bridge */
    struct bench_port port[MAX_PORTS]; /* its ports */
    uint8_t body[MAX_SIZE];            /* what all frames have in common */
    const uint8_t *frames[1];          /* that, as mem ports want it */
    uint32_t lens[1];                  /* its length */
};

static void
die(const char *what)
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
add_port(struct bench *b, struct conf_bridge *bridge, struct dp_plan *plan,
         uint32_t i)
{
    struct dp_plan_port *pp = calloc(1, sizeof(*pp));
    struct conf_live live = {.mtu = 1500};
    struct conf_port *cp = NULL;
    char name[NETDEV_NAME_MAX + 1];

    snprintf(name, sizeof(name), "mem%u", i);
    if (conf_add_port(b->conf, bridge, name, "mem", &cp, NULL))
        die("a port was refused");
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
make_bridge(struct bench *b)
{
    struct dp_plan *plan = calloc(1, sizeof(*plan));
    struct conf_bridge *bridge = NULL;
    struct dp_conf dc;
    struct err err;

    b->conf = conf_create();
    if (conf_add_bridge(b->conf, "br0", &bridge, NULL))
        die("the bridge was refused");
    conf_build_dp(bridge, &dc);
    b->dp = dp_create(&dc);
    if (!b->dp || !plan)
        die("out of memory");
    plan->generation = 1;
    plan->n_slots = (uint16_t) b->n_ports;
    for (uint32_t i = 0; i < b->n_ports; i++) {
        char name[NETDEV_NAME_MAX + 1];
        struct netdev_args args = {.name = name, .pool = dp_pool(b->dp)};

        snprintf(name, sizeof(name), "mem%u", i);
        if (netdev_open(&netdev_mem, &args, &b->port[i].dev, NULL))
            die("out of memory");
        add_port(b, bridge, plan, i);
    }
    if (conf_build_bridge(bridge, plan, &err))
        die(err.msg);
    if (dp_plan_make_cables(plan))
        die("out of memory");
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
    const struct bench_port *port = arg;
    const struct bench *b = port->bench;
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
make_load(struct bench *b)
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
        b->port[i].bench = b;
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
        die("the MAC table did not take all addresses");
}

static void
bench_init(struct bench *b, const struct options *o, uint32_t n_ports,
           uint32_t n_addresses)
{
    memset(b, 0, sizeof(*b));
    b->n_ports = n_ports;
    b->per_port = n_addresses / n_ports;
    /* Exact counts need the same time every time, within one tick of the
     * MAC table. */
    b->from_ns = o->n_frames ? NS_PER_S : clock_ns();
    b->size = o->size;
    b->n_prios = o->n_prios;
    b->pfc = !o->no_pfc;
    b->with = o->with;
    make_bridge(b);
    make_load(b);
}

static void
bench_uninit(struct bench *b)
{
    dp_destroy(b->dp);
    for (uint32_t i = 0; i < b->n_ports; i++) {
        netdev_close(b->port[i].dev);
        dp_port_destroy(b->port[i].state);
    }
    conf_destroy(b->conf);
}

/* --- measuring -------------------------------------------------------------
 */

static uint64_t
n_sent(const struct bench *b)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < b->n_ports; i++)
        n += counter_get(&dp_port_counters(b->port[i].state)->tx_frames);
    return n;
}

/* What was measured must be forwarding: nothing dropped, nothing flooded. */
static void
check(const struct bench *b)
{
    struct dp_audit a;

    if (!dp_audit(b->dp, &a))
        die("the audit does not add up");
    if (a.drops || a.copies)
        die("frames were dropped or flooded");
}

/* Time that this thread ran: other programs on the machine do not count. */
static uint64_t
cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t) t.tv_sec * NS_PER_S + (uint64_t) t.tv_nsec;
}

/* Runs for so much time of the core.  Returns how much it was. */
static uint64_t
run_for(struct bench *b, uint64_t span_ns)
{
    uint64_t from_ns = cpu_ns(), ns;

    do {
        for (int i = 0; i < 64; i++)
            dp_run(b->dp, clock_ns()); /* as the daemon does */
        ns = cpu_ns() - from_ns;
    } while (ns < span_ns);
    return ns;
}

/* Frames a second of the core, after a tenth of the time to warm up. */
static double
measure(struct bench *b, double seconds)
{
    uint64_t n0, ns;

    run_for(b, (uint64_t) (seconds * 1e8));
    n0 = n_sent(b);
    ns = run_for(b, (uint64_t) (seconds * 1e9));
    return (double) (n_sent(b) - n0) * 1e9 / (double) ns;
}

/* Exactly n frames, by a clock of its own: the same every time. */
static void
run_frames(struct bench *b, uint64_t n)
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
    while (n_sent(b) < n)
        dp_run(b->dp, now_ns += NS_PER_US);
    if (n_sent(b) != n)
        die("not the number of frames that was asked for");
}

struct result {
    uint32_t n_ports, n_addresses; /* what was measured */
    double pps;                    /* the best run */
};

static void
measure_one(const struct options *o, struct result *r)
{
    struct bench b;
    double pps;

    bench_init(&b, o, r->n_ports, r->n_addresses);
    pps = measure(&b, o->seconds);
    check(&b);
    bench_uninit(&b);
    if (pps > r->pps)
        r->pps = pps;
}

static void
print_result(const struct options *o, const struct result *r, bool first)
{
    if (o->json)
        printf("%s{\"size\": %u, \"ports\": %u, \"addresses\": %u, "
               "\"mpps\": %.3f}",
               first ? "[" : ",\n ", o->size, r->n_ports, r->n_addresses,
               r->pps / 1e6);
    else
        printf("%5u  %9u  %6.2f  %8.1f\n", r->n_ports, r->n_addresses,
               r->pps / 1e6, 1e9 / r->pps);
}

/* One after the other, round after round: a moment in which the machine is
 * slow does not hit one of them alone. */
static void
run_matrix(const struct options *o)
{
    struct result r[4] = {{2, 1024, 0},
                          {2, 65536, 0},
                          {64, 1024, 0},
                          {64, 65536, 0}};

    for (uint32_t i = 0; i < o->runs; i++) {
        for (int k = 0; k < 4; k++)
            measure_one(o, &r[k]);
    }
    if (!o->json)
        printf("%u octets, PFC %s, %u priorities in turn, one core\n"
               "ports  addresses    Mpps  ns/frame\n",
               o->size, o->no_pfc ? "off" : "on", o->n_prios);
    for (int k = 0; k < 4; k++)
        print_result(o, &r[k], k == 0);
    if (o->json)
        printf("]\n");
    else
        printf("64k addresses against 1k: %.2f with 2 ports, %.2f with 64\n",
               r[1].pps / r[0].pps, r[3].pps / r[2].pps);
}

static int
usage(void)
{
    fprintf(stderr,
            "usage: mem_bench [--seconds S] [--runs N] [--size OCTETS] "
            "[--prios N] [--no-pfc] [--json]\n"
            "       mem_bench --frames N [--ports P] [--addresses A] "
            "[--size OCTETS]\n"
            "                 [--prios N] [--no-pfc] [--with FEATURE,...]\n"
            "  features: alpha, ets, watch, wred, mark, dscp, rewrite, cable\n"
            "  ports 2 to %d, addresses ports x 2^n up to 65536, octets 60 to "
            "%d,\n  priorities 1, 2, 4 or 8\n",
            MAX_PORTS, MAX_SIZE);
    return 2;
}

static bool
is_in_range(const struct options *o)
{
    return o->seconds > 0 && o->runs && o->size >= 60 && o->size <= MAX_SIZE &&
           o->n_ports >= 2 && o->n_ports <= MAX_PORTS &&
           o->n_addresses >= o->n_ports && o->n_addresses <= 65536 &&
           o->n_addresses % o->n_ports == 0 && o->n_prios <= 8 &&
           __builtin_popcount(o->n_prios) == 1 &&
           __builtin_popcount(o->n_addresses / o->n_ports) == 1;
}

static bool
parse_features(char *text, unsigned *with)
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

int
main(int argc, char *argv[])
{
    static const struct option longs[] = {
        {"seconds", required_argument, NULL, 's'},
        {"runs", required_argument, NULL, 'r'},
        {"size", required_argument, NULL, 'l'},
        {"frames", required_argument, NULL, 'n'},
        {"ports", required_argument, NULL, 'p'},
        {"addresses", required_argument, NULL, 'a'},
        {"prios", required_argument, NULL, 'q'},
        {"no-pfc", no_argument, NULL, 'f'},
        {"with", required_argument, NULL, 'w'},
        {"json", no_argument, NULL, 'j'},
        {NULL, 0, NULL, 0},
    };
    struct options o = {.seconds = 1,
                        .runs = 3,
                        .size = 64,
                        .n_prios = 8,
                        .n_ports = 64,
                        .n_addresses = 1024};
    struct bench b;
    int c;

    while ((c = getopt_long(argc, argv, "", longs, NULL)) >= 0) {
        switch (c) {
        case 's':
            o.seconds = atof(optarg);
            break;
        case 'r':
            o.runs = (uint32_t) strtoul(optarg, NULL, 10);
            break;
        case 'l':
            o.size = (uint32_t) strtoul(optarg, NULL, 10);
            break;
        case 'n':
            o.n_frames = strtoull(optarg, NULL, 10);
            break;
        case 'p':
            o.n_ports = (uint32_t) strtoul(optarg, NULL, 10);
            break;
        case 'a':
            o.n_addresses = (uint32_t) strtoul(optarg, NULL, 10);
            break;
        case 'q':
            o.n_prios = (uint32_t) strtoul(optarg, NULL, 10);
            break;
        case 'f':
            o.no_pfc = true;
            break;
        case 'w':
            if (!parse_features(optarg, &o.with))
                return usage();
            break;
        case 'j':
            o.json = true;
            break;
        default:
            return usage();
        }
    }
    if (optind < argc || !is_in_range(&o))
        return usage();
    if (!o.n_frames) {
        run_matrix(&o);
        return 0;
    }
    bench_init(&b, &o, o.n_ports, o.n_addresses);
    run_frames(&b, o.n_frames);
    check(&b);
    bench_uninit(&b);
    return 0;
}
