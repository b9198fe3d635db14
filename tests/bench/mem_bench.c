/* SPDX-License-Identifier: Apache-2.0
 *
 * How fast is the datapath itself?  One bridge, ports in memory that make
 * frames from templates and throw away what is sent (mem_rig.h), the real
 * clock, one core; PFC on two priorities, all eight in use, every address
 * learned.  What is measured is a frame's whole way: a copy into a buffer,
 * parse, admission, lookup, learning, queue, scheduler, release.
 *
 *     mem_bench [--seconds S] [--runs N] [--size OCTETS] [--prios N] [--json]
 *     mem_bench --full          more numbers of ports and addresses
 *     mem_bench --threads N     1 to N bridges, a thread and a core for each
 *     mem_bench --frames N --ports P --addresses A     exactly N, for
 * callgrind
 */
#include "base/clock.h"
#include "tests/bench/mem_rig.h"

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_THREADS 64

/* What was asked for. */
struct options {
    double seconds;       /* of a measurement */
    uint32_t runs;        /* of each */
    uint32_t n_threads;   /* 0: one, and the matrix */
    uint64_t n_frames;    /* 0: by time */
    struct rig_conf conf; /* ports and addresses: with n_frames */
    bool full;            /* the matrix with what is between its corners */
    bool json;            /* as JSON, not as a table */
};

/* --- measuring -------------------------------------------------------------
 */

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
run_for(struct rig *b, uint64_t span_ns)
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
measure(struct rig *b, double seconds)
{
    uint64_t n0, ns;

    run_for(b, (uint64_t) (seconds * 1e8));
    n0 = rig_n_sent(b);
    ns = run_for(b, (uint64_t) (seconds * 1e9));
    return (double) (rig_n_sent(b) - n0) * 1e9 / (double) ns;
}

/* --- ports and addresses ---------------------------------------------------
 */

struct result {
    uint32_t n_ports, n_addresses; /* what was measured */
    double pps;                    /* the best run */
};

static void
measure_one(const struct options *o, struct result *r)
{
    struct rig_conf conf = o->conf;
    struct rig b;
    double pps;

    conf.n_ports = r->n_ports;
    conf.n_addresses = r->n_addresses;
    rig_init(&b, &conf);
    pps = measure(&b, o->seconds);
    rig_check(&b);
    rig_uninit(&b);
    if (pps > r->pps)
        r->pps = pps;
}

static void
print_result(const struct options *o, const struct result *r, bool first)
{
    if (o->json)
        printf("%s{\"size\": %u, \"ports\": %u, \"addresses\": %u, "
               "\"mpps\": %.3f}",
               first ? "[" : ",\n ", o->conf.size, r->n_ports, r->n_addresses,
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
    static const uint32_t ports[2][6] = {{2, 64}, {2, 4, 8, 16, 32, 64}},
                          addresses[2][4] = {{1024, 65536},
                                             {1024, 4096, 16384, 65536}};
    uint32_t n_ports = o->full ? 6 : 2, n_addresses = o->full ? 4 : 2;
    uint32_t n = n_ports * n_addresses;
    struct result r[24] = {{0}};

    for (uint32_t k = 0; k < n; k++)
        r[k] = (struct result){
            .n_ports = ports[o->full][k / n_addresses],
            .n_addresses = addresses[o->full][k % n_addresses],
        };
    for (uint32_t i = 0; i < o->runs; i++) {
        for (uint32_t k = 0; k < n; k++)
            measure_one(o, &r[k]);
    }
    if (!o->json)
        printf("%u octets, PFC %s, %u priorities in turn, one core\n"
               "ports  addresses    Mpps  ns/frame\n",
               o->conf.size, o->conf.no_pfc ? "off" : "on", o->conf.n_prios);
    for (uint32_t k = 0; k < n; k++)
        print_result(o, &r[k], k == 0);
    if (o->json)
        printf("]\n");
    else
        printf("64k addresses against 1k: %.2f with 2 ports, %.2f with 64\n",
               r[n_addresses - 1].pps / r[0].pps,
               r[n - 1].pps / r[n - n_addresses].pps);
}

/* --- threads ---------------------------------------------------------------
 */

/* A bridge with a thread of its own on a core of its own. */
struct worker {
    const struct options *options; /* what was asked for */
    pthread_barrier_t *begin;      /* all of them are ready */
    int cpu;                       /* its core */
    pthread_t thread;              /* itself */
    double pps;                    /* frames a second of the core */
};

static void *
work(void *arg)
{
    struct worker *w = arg;
    struct rig *b = malloc(sizeof(*b));
    struct rig_conf conf = w->options->conf;
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    CPU_SET((size_t) w->cpu, &cpus);
    if (!b || pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus))
        rig_die("no memory, or not the core");
    conf.n_ports = 2;
    conf.n_addresses = 1024;
    rig_init(b, &conf);
    pthread_barrier_wait(w->begin);
    w->pps = measure(b, w->options->seconds);
    rig_check(b);
    rig_uninit(b);
    free(b);
    return NULL;
}

/* The sum of what n of them move at the same time. */
static double
run_workers(const struct options *o, const int cpus[], uint32_t n)
{
    struct worker w[MAX_THREADS];
    pthread_barrier_t begin;
    double sum = 0;

    pthread_barrier_init(&begin, NULL, n);
    for (uint32_t i = 0; i < n; i++) {
        w[i] = (struct worker){.options = o, .begin = &begin, .cpu = cpus[i]};
        if (pthread_create(&w[i].thread, NULL, work, &w[i]))
            rig_die("no thread");
    }
    for (uint32_t i = 0; i < n; i++) {
        pthread_join(w[i].thread, NULL);
        sum += w[i].pps;
    }
    pthread_barrier_destroy(&begin);
    return sum;
}

/* The cores that this process may use. */
static uint32_t
find_cpus(int cpus[MAX_THREADS])
{
    cpu_set_t ours;
    uint32_t n = 0;

    if (sched_getaffinity(0, sizeof(ours), &ours))
        rig_die(strerror(errno));
    for (int i = 0; i < CPU_SETSIZE && n < MAX_THREADS; i++)
        if (CPU_ISSET((size_t) i, &ours))
            cpus[n++] = i;
    return n;
}

static void
run_threads(const struct options *o)
{
    double pps[MAX_THREADS] = {0}, got;
    int cpus[MAX_THREADS];

    if (find_cpus(cpus) < o->n_threads)
        rig_die("more threads than cores that this process may use");
    for (uint32_t i = 0; i < o->runs; i++) {
        for (uint32_t n = 1; n <= o->n_threads; n++) {
            got = run_workers(o, cpus, n);
            pps[n - 1] = got > pps[n - 1] ? got : pps[n - 1];
        }
    }
    if (!o->json)
        printf("%u octets, PFC %s, 2 ports and 1024 addresses a bridge, a "
               "core a bridge\nbridges    Mpps  x one\n",
               o->conf.size, o->conf.no_pfc ? "off" : "on");
    for (uint32_t n = 1; n <= o->n_threads; n++) {
        if (o->json)
            printf("%s{\"bridges\": %u, \"mpps\": %.3f, \"speedup\": %.3f}",
                   n == 1 ? "[" : ",\n ", n, pps[n - 1] / 1e6,
                   pps[n - 1] / pps[0]);
        else
            printf("%7u  %6.2f  %5.2f\n", n, pps[n - 1] / 1e6,
                   pps[n - 1] / pps[0]);
    }
    if (o->json)
        printf("]\n");
}

/* --- the program -----------------------------------------------------------
 */

static int
usage(void)
{
    fprintf(stderr,
            "usage: mem_bench [--seconds S] [--runs N] [--size OCTETS] "
            "[--prios N] [--no-pfc] [--json]\n"
            "                 [--full | --threads N]\n"
            "       mem_bench --frames N [--ports P] [--addresses A] "
            "[--size OCTETS]\n"
            "                 [--prios N] [--no-pfc] [--with FEATURE,...]\n"
            "  features: alpha, ets, watch, wred, mark, dscp, rewrite, cable\n"
            "  ports 2 to %d, addresses ports x 2^n up to 65536, octets 60 to "
            "%d,\n  priorities 1, 2, 4 or 8, threads up to %d\n",
            RIG_MAX_PORTS, RIG_MAX_SIZE, MAX_THREADS);
    return 2;
}

static bool
is_in_range(const struct options *o)
{
    const struct rig_conf *c = &o->conf;

    return o->seconds > 0 && o->runs && o->n_threads <= MAX_THREADS &&
           c->size >= 60 && c->size <= RIG_MAX_SIZE && c->n_ports >= 2 &&
           c->n_ports <= RIG_MAX_PORTS && c->n_addresses >= c->n_ports &&
           c->n_addresses <= 65536 && c->n_addresses % c->n_ports == 0 &&
           c->n_prios <= 8 && __builtin_popcount(c->n_prios) == 1 &&
           __builtin_popcount(c->n_addresses / c->n_ports) == 1;
}

static bool
take_option(struct options *o, int c)
{
    uint32_t n = optarg ? (uint32_t) strtoul(optarg, NULL, 10) : 0;

    switch (c) {
    case 's':
        o->seconds = atof(optarg);
        return true;
    case 'r':
        o->runs = n;
        return true;
    case 't':
        o->n_threads = n;
        return n > 0;
    case 'l':
        o->conf.size = n;
        return true;
    case 'n':
        o->n_frames = strtoull(optarg, NULL, 10);
        return true;
    case 'p':
        o->conf.n_ports = n;
        return true;
    case 'a':
        o->conf.n_addresses = n;
        return true;
    case 'q':
        o->conf.n_prios = n;
        return true;
    case 'f':
        return o->conf.no_pfc = true;
    case 'F':
        return o->full = true;
    case 'w':
        return rig_parse_features(optarg, &o->conf.with);
    case 'j':
        return o->json = true;
    default:
        return false;
    }
}

static void
run_exactly(struct options *o)
{
    struct rig b;

    o->conf.is_exact = true;
    rig_init(&b, &o->conf);
    rig_run_frames(&b, o->n_frames);
    rig_check(&b);
    rig_uninit(&b);
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
        {"full", no_argument, NULL, 'F'},
        {"threads", required_argument, NULL, 't'},
        {"with", required_argument, NULL, 'w'},
        {"json", no_argument, NULL, 'j'},
        {NULL, 0, NULL, 0},
    };
    struct options o = {
        .seconds = 1,
        .runs = 3,
        .conf = {.size = 64, .n_prios = 8, .n_ports = 64, .n_addresses = 1024},
    };
    int c;

    while ((c = getopt_long(argc, argv, "", longs, NULL)) >= 0)
        if (!take_option(&o, c))
            return usage();
    if (optind < argc || !is_in_range(&o))
        return usage();
    if (o.n_frames)
        run_exactly(&o);
    else if (o.n_threads)
        run_threads(&o);
    else
        run_matrix(&o);
    return 0;
}
