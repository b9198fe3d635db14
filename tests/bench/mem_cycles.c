/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the time of a frame goes: cycles of each stage of the datapath, as
 * mem_instructions.py counts instructions, on the bridges of mem_bench.
 *
 *     mem_cycles [--seconds S] [--json]
 *
 * The datapath is the one that everybody links, without a line for this: the
 * linker (--wrap) puts the functions below round its stages, each of which is
 * called once a batch.  They read the processor's time stamp counter, whose
 * cycles are of one length whatever the processor's clock is.  Spans of some
 * thousand frames with them take turns with spans without: what they cost
 * where they are is the difference, and is taken off.  The median of many
 * spans counts, so that it does not matter if the thread was put aside in
 * some of them.
 *
 * "generator" is what makes the frames, the benchmark and not the switch, with
 * the few instructions of stage rx that are not its buffers.
 */
#include "base/clock.h"
#include "tests/bench/mem_rig.h"
#include "dp/dp_priv.h"
#include "dp/wire.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_DEPTH   8
#define MAX_SPANS   4096
#define SPAN_FRAMES 8192 /* at least */

enum stage {
    GENERATOR,
    RX,
    PARSE,
    ADMIT,
    LOOKUP,
    ENQUEUE,
    CABLE,
    TX,
    RELEASE,
    TURN,
    N_STAGES
};

static const char *const names[N_STAGES] = {"generator", "rx",     "parse",
                                            "admit",     "lookup", "enqueue",
                                            "cable",     "tx",     "release",
                                            "turn"};

static struct {
    uint64_t cycles[N_STAGES];   /* its own, without what it calls */
    uint64_t n_calls[N_STAGES];  /* how often */
    uint64_t n_inner[N_STAGES];  /* calls of other stages by it */
    bool is_off;                 /* nothing is counted */
    uint64_t last;               /* counter when the stage last changed */
    enum stage stack[MAX_DEPTH]; /* who called whom */
    int depth;                   /* of that; 0: outside */
} m;

static inline uint64_t
counter(void)
{
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    return clock_ns();
#endif
}

#ifdef __x86_64__
#define UNIT "cycles of the time stamp counter"
#else
#define UNIT "ns"
#endif

static inline void
enter(enum stage s)
{
    uint64_t now = counter();

    if (m.depth) {
        m.cycles[m.stack[m.depth - 1]] += now - m.last;
        m.n_inner[m.stack[m.depth - 1]]++;
    }
    m.stack[m.depth++] = s;
    m.n_calls[s]++;
    m.last = now;
}

static inline void
leave(void)
{
    uint64_t now = counter();

    m.cycles[m.stack[--m.depth]] += now - m.last;
    m.last = now;
}

/* --- round the stages ------------------------------------------------------
 */

/* They are what the function is, or this does not compile. */
#define SAME(fn)                                                              \
    _Static_assert(__builtin_types_compatible_p(__typeof__(fn),               \
                                                __typeof__(__real_##fn)) &&   \
                       __builtin_types_compatible_p(__typeof__(fn),           \
                                                    __typeof__(__wrap_##fn)), \
                   #fn " has changed");
/* WRAP(stage, function, its parameters, its arguments): the linker calls it in
 * place of the function. */
#define WRAP(stage, fn, params, args) \
    void __real_##fn params;          \
    void __wrap_##fn params;          \
    SAME(fn)                          \
    void __wrap_##fn params           \
    {                                 \
        if (m.is_off) {               \
            __real_##fn args;         \
            return;                   \
        }                             \
        enter(stage);                 \
        __real_##fn args;             \
        leave();                      \
    }

#define BATCH (struct dp * dp, struct dp_port * in, struct dp_batch * b)

/* clang-format off */
WRAP(GENERATOR, dp_rx, (struct dp *dp), (dp))
WRAP(PARSE, dp_parse, BATCH, (dp, in, b))
WRAP(ADMIT, dp_admit, BATCH, (dp, in, b))
WRAP(LOOKUP, dp_lookup, BATCH, (dp, in, b))
WRAP(ENQUEUE, dp_enqueue, BATCH, (dp, in, b))
WRAP(CABLE, dp_wire_run, (struct dp *dp), (dp))
WRAP(TX, dp_tx, (struct dp *dp), (dp))
WRAP(RELEASE, dp_release_sent,
     (struct dp *dp, struct pkt *const pkts[], uint32_t n), (dp, pkts, n))
/* clang-format on */

uint32_t __real_pkt_alloc_bulk(struct pkt_pool *, struct pkt *[], uint32_t);
uint32_t __wrap_pkt_alloc_bulk(struct pkt_pool *, struct pkt *[], uint32_t);
SAME(pkt_alloc_bulk)

uint32_t
__wrap_pkt_alloc_bulk(struct pkt_pool *pool, struct pkt *pkts[], uint32_t n)
{
    uint32_t got;

    if (m.is_off)
        return __real_pkt_alloc_bulk(pool, pkts, n);
    enter(RX);
    got = __real_pkt_alloc_bulk(pool, pkts, n);
    leave();
    return got;
}

static void
turn(struct rig *b)
{
    uint64_t now_ns = clock_ns();

    if (m.is_off) {
        dp_run(b->dp, now_ns);
        return;
    }
    enter(TURN);
    dp_run(b->dp, now_ns);
    leave();
}

/* --- measuring -------------------------------------------------------------
 */

/* What a stage of nothing seems to take, and what a call of it seems to add to
 * its caller: in which proportion the cost of the measurement is taken off. */
struct cost {
    double own, inner; /* cycles */
};

/* Spans of one bridge, in cycles a frame. */
struct spans {
    double at[N_STAGES][MAX_SPANS];   /* what a stage seemed to take */
    double cost[N_STAGES][MAX_SPANS]; /* what the measurement may have of it */
    double whole[2][MAX_SPANS];       /* all of it; [1]: nothing counted */
    uint32_t n;                       /* how many */
};

static int
compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

static double
median(double *of, uint32_t n)
{
    qsort(of, n, sizeof(*of), compare);
    return n ? of[n / 2] : 0;
}

static struct cost
measure_cost(void)
{
    static double own[MAX_SPANS], inner[MAX_SPANS];
    enum { CALLS = 256 };

    for (int i = 0; i < MAX_SPANS; i++) {
        memset(&m, 0, sizeof(m));
        enter(TURN);
        for (int k = 0; k < CALLS; k++) {
            enter(RX);
            leave();
        }
        leave();
        own[i] = (double) m.cycles[RX] / CALLS;
        inner[i] = (double) m.cycles[TURN] / CALLS;
    }
    return (struct cost){median(own, MAX_SPANS), median(inner, MAX_SPANS)};
}

/* How many of them are a nanosecond. */
static double
measure_rate(void)
{
    uint64_t from_ns = clock_ns(), from = counter(), ns;

    do
        ns = clock_ns() - from_ns;
    while (ns < 20 * NS_PER_MS);
    return (double) (counter() - from) / (double) ns;
}

/* Some thousand frames; cycles a frame, of whatever was done meanwhile. */
static double
run_span(struct rig *b, bool is_off, uint64_t *n)
{
    uint64_t n0 = rig_n_sent(b), from;

    memset(&m, 0, sizeof(m));
    m.is_off = is_off;
    from = counter();
    do {
        turn(b);
        *n = rig_n_sent(b) - n0;
    } while (*n < SPAN_FRAMES);
    return (double) (counter() - from) / (double) *n;
}

static void
measure_span(struct rig *b, const struct cost *c, struct spans *out)
{
    uint32_t i = out->n++;
    uint64_t n;

    out->whole[1][i] = run_span(b, true, &n);
    out->whole[0][i] = run_span(b, false, &n);
    for (int s = 0; s < N_STAGES; s++) {
        out->at[s][i] = (double) m.cycles[s] / (double) n;
        out->cost[s][i] = ((double) m.n_calls[s] * c->own +
                           (double) m.n_inner[s] * c->inner) /
                          (double) n;
    }
}

struct result {
    const char *name;        /* of the case */
    struct rig_conf conf;    /* what is measured */
    double cycles[N_STAGES]; /* a frame, medians */
    double taken_off;        /* of all stages together, for the measurement */
};

/* What counting made all of it longer is shared out among the stages. */
static void
take_off(struct spans *x, struct result *r)
{
    double extra = median(x->whole[0], x->n) - median(x->whole[1], x->n);
    double cost[N_STAGES], all = 0;

    for (int s = 0; s < N_STAGES; s++)
        all += cost[s] = median(x->cost[s], x->n);
    for (int s = 0; s < N_STAGES; s++)
        r->cycles[s] = median(x->at[s], x->n) - extra * cost[s] / all;
    r->taken_off = extra;
}

static void
measure_case(struct result *r, const struct cost *cost, double seconds)
{
    static struct spans spans;
    struct rig *b = malloc(sizeof(*b));
    uint64_t end_ns;

    if (!b)
        rig_die("out of memory");
    rig_init(b, &r->conf);
    spans.n = 0;
    measure_span(b, cost, &spans); /* warms up */
    spans.n = 0;
    end_ns = clock_ns() + (uint64_t) (seconds * 1e9);
    while (spans.n < MAX_SPANS && (spans.n < 16 || clock_ns() < end_ns))
        measure_span(b, cost, &spans);
    rig_check(b);
    rig_uninit(b);
    free(b);
    take_off(&spans, r);
}

static double
of_switch(const struct result *r)
{
    double sum = 0;

    for (int s = RX; s < N_STAGES; s++)
        sum += r->cycles[s];
    return sum;
}

/* --- the program -----------------------------------------------------------
 */

static struct result cases[] = {
    {.name = "2 ports", .conf = {2, 1024, 64, 8, false, false, 0}},
    {.name = "one priority", .conf = {2, 1024, 64, 1, false, false, 0}},
    {.name = "PFC off", .conf = {2, 1024, 64, 8, true, false, 0}},
    {.name = "64 ports", .conf = {64, 65536, 64, 8, false, false, 0}},
    {.name = "features",
     .conf = {2, 1024, 64, 8, false, false,
              WITH_ALPHA | WITH_ETS | WITH_WATCH | WITH_WRED | WITH_DSCP |
                  WITH_REWRITE}},
};
#define N_CASES ((int) (sizeof(cases) / sizeof(cases[0])))

static void
print_table(double per_ns)
{
    printf("%s a frame; %.2f are a ns\n%-10s", UNIT, per_ns, "");
    for (int i = 0; i < N_CASES; i++)
        printf("%14s", cases[i].name);
    for (int s = 0; s < N_STAGES; s++) {
        printf("\n%-10s", names[s]);
        for (int i = 0; i < N_CASES; i++)
            printf("%14.1f", cases[i].cycles[s]);
    }
    printf("\n%-10s", "switch");
    for (int i = 0; i < N_CASES; i++)
        printf("%14.1f", of_switch(&cases[i]));
    printf("\n%-10s", "taken off");
    for (int i = 0; i < N_CASES; i++)
        printf("%14.1f", cases[i].taken_off);
    printf("\n");
}

static void
print_json(double per_ns)
{
    printf("{\"unit\": \"%s\", \"per_ns\": %.3f, \"cases\": {", UNIT, per_ns);
    for (int i = 0; i < N_CASES; i++) {
        printf("%s\n \"%s\": {", i ? "," : "", cases[i].name);
        for (int s = 0; s < N_STAGES; s++)
            printf("\"%s\": %.1f, ", names[s], cases[i].cycles[s]);
        printf("\"switch\": %.1f}", of_switch(&cases[i]));
    }
    printf("}}\n");
}

int
main(int argc, char *argv[])
{
    static const struct option longs[] = {
        {"seconds", required_argument, NULL, 's'},
        {"json", no_argument, NULL, 'j'},
        {NULL, 0, NULL, 0},
    };
    double seconds = 0.5;
    bool json = false;
    struct cost cost;
    int c;

    while ((c = getopt_long(argc, argv, "", longs, NULL)) >= 0) {
        if (c == 's')
            seconds = atof(optarg);
        else if (c == 'j')
            json = true;
        else
            seconds = 0;
    }
    if (optind < argc || seconds <= 0) {
        fprintf(stderr, "usage: mem_cycles [--seconds S] [--json]\n");
        return 2;
    }
    cost = measure_cost();
    for (int i = 0; i < N_CASES; i++)
        measure_case(&cases[i], &cost, seconds);
    if (json)
        print_json(measure_rate());
    else
        print_table(measure_rate());
    return 0;
}
