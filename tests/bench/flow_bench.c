/* SPDX-License-Identifier: Apache-2.0
 *
 * How fast are the flow tables?  A bridge of two ports in memory, one that
 * makes IPv4 frames without end and one that throws them away, the real clock,
 * one core.
 *
 *     flow_bench [--seconds S] [--runs N] [--json]
 *     flow_bench --frames N --case NAME     exactly N frames, for callgrind
 *
 * Cases: how the tables are filled, and how many 5-tuples there are.
 *
 *     normal       no entry
 *     counted      one entry, NORMAL, as a new bridge has
 *     one          one entry, 5-tuple, to the other port; 256 tuples
 *     many         100,000 entries in 50 masks; the same 256 tuples
 *     one-random   one entry that matches all IPv4; a million tuples
 *     many-random  100,000 entries in 50 masks; a million tuples
 *     five-random  100,000 entries in 5 masks; a million tuples
 *
 * Then: 100,000 entries are added while traffic flows, and a million entries
 * are held.
 */
#include "base/clock.h"
#include "base/rng.h"
#include "dp/dp.h"
#include "dp/of.h"
#include "netdev/netdev.h"
#include "wire/eth.h"

#include <getopt.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FRAME_LEN 64
#define N_MANY    100000
#define N_CACHED  256
#define N_RANDOM  1000000
#define N_MILLION 1000000
#define POST_OPS  1000 /* entries in one change, as a controller's batch */

enum load_kind { LOAD_CACHED, LOAD_RANDOM };

struct bench_case {
    const char *name;    /* see above */
    uint32_t n_flows;    /* entries */
    uint32_t n_masks;    /* shapes of them; 0: one that matches all IPv4 */
    bool is_normal;      /* the entry says NORMAL */
    enum load_kind load; /* tuples */
};

static const struct bench_case cases[] = {
    {"normal", 0, 0, true, LOAD_CACHED},
    {"counted", 1, 0, true, LOAD_CACHED},
    {"one", 1, 1, false, LOAD_CACHED},
    {"many", N_MANY, 50, false, LOAD_CACHED},
    {"one-random", 1, 0, false, LOAD_RANDOM},
    {"many-random", N_MANY, 50, false, LOAD_RANDOM},
    {"five-random", N_MANY, 5, false, LOAD_RANDOM},
};
#define N_CASES (sizeof(cases) / sizeof(cases[0]))

struct bench {
    struct dp *dp;               /* the bridge */
    struct netdev *dev[2];       /* its ports */
    struct dp_port *state[2];    /* their states */
    struct netdev_mem_load load; /* what comes in */
    enum load_kind kind;         /* which tuples */
    uint8_t frame[FRAME_LEN];    /* what all frames have in common */
    const uint8_t *frames[1];    /* that */
    uint32_t lens[1];            /* its length */
    uint64_t now_ns;             /* of the last turn */
};

static void
die(const char *what)
{
    fprintf(stderr, "flow_bench: %s\n", what);
    exit(1);
}

/* --- the bridge
 * -------------------------------------------------------------- */

static struct dp_plan_port *
make_port(struct bench *b, uint32_t i)
{
    static const uint8_t weights[N_QUEUE] = {13, 13, 13, 13, 12, 12, 12, 12};
    struct dp_plan_port *pp = calloc(1, sizeof(*pp));
    struct netdev_args args = {.name = i ? "mem1" : "mem0",
                               .pool = dp_pool(b->dp)};

    b->state[i] = dp_port_create();
    if (!pp || !b->state[i] ||
        netdev_open(&netdev_mem, &args, &b->dev[i], NULL))
        die("out of memory");
    pp->netdev = b->dev[i];
    pp->state = b->state[i];
    pp->of_port = i + 1;
    pp->max_frame_bytes = 2048;
    pp->pfc.rate_bps = 10000000000;
    pp->pfc.quanta = 65535;
    pp->all_trunks = true;
    for (uint8_t p = 0; p < 8; p++) {
        pp->sched.weight[p] = weights[p];
        pp->queue[p].limit_bytes = UINT64_C(1) << 30;
        pp->queue[p].alpha = BUF_ALPHA_NONE;
        pp->pg[p].limit_bytes = UINT64_C(1) << 30;
        pp->pg[p].alpha = BUF_ALPHA_NONE;
        pp->pg_prios[p] = (uint8_t) (1u << p);
        pp->pcp_to_prio[p] = p;
        pp->prio_to_pg[p] = p;
        pp->prio_to_queue[p] = p;
    }
    return pp;
}

static void
put32(uint8_t *to, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t) (v >> (24 - 8 * i));
}

/* Tuple number k: its addresses and ports; the same for who makes entries. */
static void
tuple(uint32_t k, uint32_t *src, uint32_t *dst, uint32_t *ports)
{
    struct rng r = {.state = k};

    *src = (uint32_t) rng_u64(&r);
    *dst = (uint32_t) rng_u64(&r);
    *ports = (uint32_t) rng_u64(&r);
}

static void
stamp(void *arg, struct pkt *const pkts[], uint32_t n, uint32_t k)
{
    const struct bench *b = arg;

    for (uint32_t i = 0; i < n; i++, k++) {
        uint8_t *ip = pkts[i]->data + ETH_HDR_LEN;
        uint32_t src, dst, ports;

        tuple(b->kind == LOAD_CACHED ? k % N_CACHED
                                     : k * 2654435761u % N_RANDOM,
              &src, &dst, &ports);
        put32(ip + 12, src);
        put32(ip + 16, dst);
        put32(ip + 20, ports);
    }
}

static void
make_load(struct bench *b, enum load_kind kind)
{
    static const uint8_t head[] = {2, 0, 0,    0, 0, 2,  2, 0, 0, 0, 0,  1,
                                   8, 0, 0x45, 0, 0, 50, 0, 0, 0, 0, 64, 6};

    memcpy(b->frame, head, sizeof(head));
    b->kind = kind;
    b->frames[0] = b->frame;
    b->lens[0] = FRAME_LEN;
    b->load = (struct netdev_mem_load){
        .frames = b->frames,
        .lens = b->lens,
        .n = 1,
        .per_rx = PKT_BATCH,
        .stamp = stamp,
        .arg = b,
    };
    netdev_mem_set_load(b->dev[0], &b->load);
    b->load.per_rx = 0;
    netdev_mem_set_load(b->dev[1], &b->load); /* what is sent is discarded */
    b->load.per_rx = PKT_BATCH;
    mactab_learn(dp_mactab(b->dp), 0, head, 1, b->now_ns);
}

static void
bench_init(struct bench *b, enum load_kind kind)
{
    struct dp_conf dc = {
        .n_buffers = 8192,
        .n_clones = 1024,
        .frame_bytes = 2048,
        .mac_entries = MACTAB_MIN_ENTRIES,
        .seed = 1,
        .n_events = 64,
    };
    struct dp_plan *plan = calloc(1, sizeof(*plan));

    memset(b, 0, sizeof(*b));
    b->now_ns = clock_ns();
    b->dp = dp_create(&dc);
    if (!b->dp || !plan)
        die("out of memory");
    plan->generation = 1;
    plan->shared_bytes = UINT64_C(1) << 32;
    plan->n_slots = 2;
    for (uint32_t i = 0; i < 2; i++)
        plan->ports[i] = make_port(b, i);
    dp_publish(b->dp, plan);
    dp_run(b->dp, b->now_ns);
    make_load(b, kind);
}

static void
bench_uninit(struct bench *b)
{
    dp_destroy(b->dp);
    for (int i = 0; i < 2; i++) {
        netdev_close(b->dev[i]);
        dp_port_destroy(b->state[i]);
    }
}

/* --- entries
 * ------------------------------------------------------------------ */

static void
match_u32(struct ofp_match *m, enum ofp_field f, uint32_t value, unsigned bits)
{
    uint8_t v[4], mask[4];

    if (!bits)
        return;
    put32(v, value);
    put32(mask, bits == 32 ? UINT32_MAX : ~(UINT32_MAX >> bits));
    ofp_match_set(m, f, v, mask);
}

/* Entry k: of tuple k, in one of the masks; where there are several, shorter
 * and longer prefixes, with and without a port. */
static struct flow *
make_flow(uint32_t k, uint32_t n_masks, bool is_normal)
{
    struct ofp_action out = {
        .type = OFP_ACT_OUTPUT,
        .output = {.port = is_normal ? OFPP_NORMAL : 2},
    };
    struct ofp_instructions in = {.has_apply = true, .apply = {1, &out}};
    struct ofp_match m = {0};
    struct flow_spec spec = {.match = &m};
    uint8_t type[2] = {8, 0}, proto = 6, port[2];
    uint32_t src, dst, ports, shape = n_masks ? k % n_masks : 0;

    tuple(k, &src, &dst, &ports);
    if (!is_normal)
        ofp_match_set(&m, OFP_ETH_TYPE, type, NULL);
    if (n_masks) {
        spec.priority = (uint16_t) (1 + src % 1000);
        match_u32(&m, OFP_IPV4_SRC, src, 32 - shape % 13);
        match_u32(&m, OFP_IPV4_DST, dst, 32 - shape / 13 * 4);
        ofp_match_set(&m, OFP_IP_PROTO, &proto, NULL);
        port[0] = (uint8_t) (ports >> 24);
        port[1] = (uint8_t) (ports >> 16);
        if (shape % 2 == 0)
            ofp_match_set(&m, OFP_TCP_SRC, port, NULL);
    }
    return flow_create(&spec, flow_code_create(&in), NULL);
}

static uint64_t
turn(struct bench *b)
{
    uint64_t n = dp_port_counters(b->state[1])->tx_frames;

    b->now_ns = clock_ns();
    dp_run(b->dp, b->now_ns);
    return dp_port_counters(b->state[1])->tx_frames - n;
}

/* A list of changes that is under way, as the control thread keeps it. */
struct posting {
    struct flow_op *ops;         /* all of them */
    struct flow_change **change; /* lists of POST_OPS each */
    uint64_t *ticket;            /* of each */
    uint32_t n, done;            /* lists, and those that were done */
};

static void
post_flows(struct bench *b, struct posting *p, uint32_t n, uint32_t n_masks,
           bool is_normal, bool bundle)
{
    uint32_t each = bundle ? n : POST_OPS;

    p->n = (n + each - 1) / each;
    p->done = 0;
    p->ops = calloc(n, sizeof(*p->ops));
    p->change = calloc(p->n, sizeof(struct flow_change *));
    p->ticket = calloc(p->n, sizeof(*p->ticket));
    if (!p->ops || !p->change || !p->ticket)
        die("out of memory");
    for (uint32_t i = 0; i < n; i++) {
        p->ops[i].type = FLOW_OP_ADD;
        p->ops[i].flow = make_flow(i, n_masks, is_normal);
    }
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t left = n - i * each;

        p->change[i] =
            flow_change_create(dp_flow_tables(b->dp), p->ops + i * each,
                               left < each ? left : each);
        p->ticket[i] = 0;
        while (p->change[i] &&
               !(p->ticket[i] = dp_change_post(b->dp, p->change[i], bundle)))
            turn(b);
        if (!p->change[i])
            die("out of memory");
    }
}

static void
finish_flows(struct bench *b, struct posting *p)
{
    while (dp_changes_done(b->dp) < p->ticket[p->n - 1])
        turn(b);
    for (uint32_t i = 0; i < p->n; i++)
        flow_change_destroy(p->change[i]);
    free(p->ops);
    free(p->change);
    free(p->ticket);
}

static void
fill(struct bench *b, const struct bench_case *c)
{
    struct posting p;
    uint32_t n = c->n_flows;

    if (!n)
        return;
    /* One entry for a 5-tuple each would only match its own. */
    if (n == 1 && c->n_masks)
        n = N_CACHED;
    post_flows(b, &p, n, c->n_masks, c->is_normal, false);
    finish_flows(b, &p);
    if (!c->n_masks)
        return;
    post_flows(b, &p, 1, 0, false,
               false); /* the rest: all others were searched */
    finish_flows(b, &p);
}

/* --- measuring
 * ------------------------------------------------------------------ */

static void
check_audit(struct bench *b)
{
    struct dp_audit a;

    if (!dp_audit(b->dp, &a))
        die("the audit does not add up");
}

/* What this process used of a core: what others do on the machine makes less
 * of a difference than to the clock. */
static uint64_t
cpu_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (uint64_t) ts.tv_sec * NS_PER_S + (uint64_t) ts.tv_nsec;
}

/* Nanoseconds for a frame, or, with n_frames, just that many. */
static double
measure(const struct bench_case *c, double seconds, uint64_t n_frames)
{
    struct bench b;
    uint64_t n = 0, from_ns, end_ns;

    bench_init(&b, c->load);
    fill(&b, c);
    for (int i = 0; i < 2000 && !n_frames; i++)
        turn(&b);
    from_ns = cpu_ns();
    end_ns = from_ns + (uint64_t) (seconds * 1e9);
    while (n_frames ? n < n_frames : cpu_ns() < end_ns)
        for (int i = 0; i < 100 && (!n_frames || n < n_frames); i++)
            n += turn(&b);
    end_ns = cpu_ns();
    check_audit(&b);
    bench_uninit(&b);
    return (double) (end_ns - from_ns) / (double) (n ? n : 1);
}

/* Adds entries while traffic flows: seconds until the last one holds; how long
 * the longest turn was, and what was lost. */
struct adding {
    double seconds;      /* for all of it, making the entries included */
    double dp_seconds;   /* of the datapath, changes and frames */
    uint64_t n_frames;   /* that were sent meanwhile */
    uint64_t n_lost;     /* that were not */
    uint64_t longest_ns; /* of a turn */
};

static void
measure_adds(struct adding *out, uint32_t n, uint32_t n_masks, bool bundle)
{
    struct bench b;
    struct posting p;
    struct bench_case all = {"", 1, 0, false, LOAD_CACHED};
    struct dp_audit a, before;
    uint64_t from_ns, dp_ns = 0;

    memset(out, 0, sizeof(*out));
    bench_init(&b, LOAD_CACHED);
    fill(&b, &all);
    dp_audit(b.dp, &before);
    from_ns = cpu_ns();
    post_flows(&b, &p, n, n_masks, false, bundle);
    while (dp_changes_done(b.dp) < p.ticket[p.n - 1]) {
        uint64_t t = cpu_ns();

        out->n_frames += turn(&b);
        t = cpu_ns() - t;
        dp_ns += t;
        if (t > out->longest_ns)
            out->longest_ns = t;
    }
    out->seconds = (double) (cpu_ns() - from_ns) / 1e9;
    out->dp_seconds = (double) dp_ns / 1e9;
    finish_flows(&b, &p);
    dp_audit(b.dp, &a);
    out->n_lost = a.drops - before.drops;
    check_audit(&b);
    bench_uninit(&b);
}

static size_t
in_use(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

/* Octets for an entry, and seconds for all. */
static double
measure_million(double *seconds)
{
    struct bench b;
    struct posting p;
    size_t before;
    uint64_t from_ns;
    double each;

    bench_init(&b, LOAD_CACHED);
    before = in_use();
    from_ns = cpu_ns();
    post_flows(&b, &p, N_MILLION, 50, false, false);
    finish_flows(&b, &p);
    *seconds = (double) (cpu_ns() - from_ns) / 1e9;
    each = (double) (in_use() - before) / N_MILLION;
    bench_uninit(&b);
    return each;
}

static const struct bench_case *
find_case(const char *name)
{
    for (size_t i = 0; i < N_CASES; i++)
        if (strcmp(cases[i].name, name) == 0)
            return &cases[i];
    die("there is no such case");
    return NULL;
}

static void
report(double seconds, uint32_t runs, bool json)
{
    struct adding add, bundle;
    double each, took;

    if (json)
        printf("{");
    for (size_t i = 0; i < N_CASES; i++) {
        double best = measure(&cases[i], seconds, 0);

        for (uint32_t r = 1; r < runs; r++) {
            double ns = measure(&cases[i], seconds, 0);

            best = ns < best ? ns : best;
        }
        printf(json ? "\"%s\": {\"ns\": %.1f, \"mpps\": %.3f}, "
                    : "%-12s %8.1f ns/frame %8.3f Mpps\n",
               cases[i].name, best, 1e3 / best);
    }
    measure_adds(&add, N_MANY, 50, false);
    measure_adds(&bundle, N_MANY, 50, true);
    each = measure_million(&took);
    printf(json ? "\"add_seconds\": %.3f, \"add_dp_seconds\": %.3f, "
                  "\"add_frames\": %lu, \"add_lost\": %lu, "
                  "\"add_longest_turn_ns\": %lu, "
                  "\"bundle_longest_turn_ns\": %lu, \"bundle_lost\": %lu, "
                  "\"entry_bytes\": %.0f, \"million_seconds\": %.2f}\n"
                : "100,000 adds: %.3f s, %.3f s of them in the datapath with "
                  "%lu frames, %lu lost; longest turn %lu ns; as a bundle "
                  "%lu ns, %lu lost\n"
                  "a million entries: %.0f octets each, made in %.2f s\n",
           add.seconds, add.dp_seconds, add.n_frames, add.n_lost,
           add.longest_ns, bundle.longest_ns, bundle.n_lost, each, took);
}

int
main(int argc, char *argv[])
{
    static const struct option longs[] = {
        {"seconds", required_argument, NULL, 's'},
        {"runs", required_argument, NULL, 'r'},
        {"frames", required_argument, NULL, 'f'},
        {"case", required_argument, NULL, 'c'},
        {"json", no_argument, NULL, 'j'},
        {NULL, 0, NULL, 0},
    };
    const struct bench_case *only = NULL;
    uint64_t n_frames = 0;
    uint32_t runs = 3;
    double seconds = 1;
    bool json = false;
    int c;

    while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        if (c == 's')
            seconds = atof(optarg);
        else if (c == 'r')
            runs = (uint32_t) atoi(optarg);
        else if (c == 'f')
            n_frames = strtoull(optarg, NULL, 10);
        else if (c == 'c')
            only = find_case(optarg);
        else if (c == 'j')
            json = true;
        else
            return 2;
    }
    if (only)
        printf("%-12s %8.1f ns/frame\n", only->name,
               measure(only, seconds, n_frames));
    else
        report(seconds, runs, json);
    return 0;
}
