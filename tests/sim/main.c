/* SPDX-License-Identifier: Apache-2.0
 *
 * The program: without arguments it runs every scenario in batches and prints
 * TAP; with --scenario and --seed it repeats one run.
 *
 * A scenario with a sabotage proves that the checks see what they are for: its
 * runs have to show certain faults, and no others.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "sim/scenarios.h"
#include "sim/sim.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SHOWN 5 /* failed runs of a case that are described */
#define BIT(f)    (1u << (f))

/* Runs of a case when no one says how many. */
#ifdef SLUICE_SANITIZERS
#define DEFAULT_RUNS 10 /* each takes several times as long */
#else
#define DEFAULT_RUNS 50
#endif

/* What seeds of different scenarios are apart. */
#define SEED_STRIDE UINT64_C(100000)

struct scenario {
    const char *name;            /* --scenario */
    const char *what;            /* the line that TAP shows */
    void (*run)(struct sim *);   /* builds, runs, checks */
    void (*spoil)(struct sim *); /* sabotage; null: none */
    uint32_t faults;             /* bit f: fault f that shows the sabotage */
    uint32_t may;                /* bit f: fault f that it may cause too */
    uint32_t least_pct;          /* runs that show all of `faults`, at least */
    uint32_t n_cases;            /* TAP cases */
    uint32_t n_runs;             /* of a case; 0: what is asked for */
};

static void
cut_headroom(struct sim *sim)
{
    sim->headroom_pct = 3;
}

static void
lose_on_cables(struct sim *sim)
{
    sim->lose_one_in = 50;
}

static void
repeat_frames(struct sim *sim)
{
    sim->repeat_one_in = 50;
}

static void
change_frames(struct sim *sim)
{
    sim->lie_one_in = 50;
}

static void
deafen(struct sim *sim)
{
    sim->deaf = true;
}

static void
lose_pfc(struct sim *sim)
{
    sim->lose_pfc_one_in = 10;
}

static void
hang(struct sim *sim)
{
    sim->hung = true;
}

static void
blind(struct sim *sim)
{
    sim->blind = true;
}

static void
hang_watched(struct sim *sim)
{
    sim->hung = true;
    sim->watchdogs = true;
}

static void
cut_short(struct sim *sim)
{
    sim->cut_short_ns = 5 * NS_PER_MS;
}

static void
cook_books(struct sim *sim)
{
    sim->cook_at_step = 500;
}

static const struct scenario scenarios[] = {
    {"demo", "the demo topology: no loss, no reordering, shares, spread",
     sim_demo, NULL, 0, 0, 0, 1, 1},
    {"demo-no-pfc", "the demo topology without PFC: the same class loses",
     sim_demo_no_pfc, NULL, 0, 0, 0, 1, 1},
    {"demo-hour", "the demo topology for more than an hour", sim_demo_hour,
     NULL, 0, 0, 0, 1, 1},
    {"demo-deaf", "the demo topology, clients ignore PFC: every loss is told",
     sim_demo, deafen,
     BIT(SIM_VIOLATION) | BIT(SIM_REACTION) | BIT(SIM_EXPECT), 0, 100, 1, 1},
    {"deadlock",
     "section 9: three switches wait for each other in a ring, for ever",
     sim_deadlock, NULL, 0, 0, 0, 1, 1},
    {"deadlock-watchdog",
     "section 9: with watchdogs the ring recovers, to the frame",
     sim_deadlock_watchdog, NULL, 0, 0, 0, 1, 1},
    {"leafspine", "random loads on random 16-switch leaf-spines",
     sim_leafspine, NULL, 0, 0, 0, 20, 0},
    {"tree", "random loads on random trees that learn and flood", sim_tree,
     NULL, 0, 0, 0, 4, 0},
    {"overload",
     "random loads on switches that cannot keep up: rings pause in time",
     sim_overload, NULL, 0, 0, 0, 2, 0},
    {"overload-blind", "without that the rings lose what is lossless",
     sim_overload, blind, BIT(SIM_UNREPORTED), BIT(SIM_EXPECT), 100, 1, 20},
    {"overload-deaf", "so do they when senders ignore PFC", sim_overload,
     deafen, BIT(SIM_UNREPORTED), BIT(SIM_EXPECT) | BIT(SIM_REACTION), 100, 1,
     20},
    {"lost-pfc",
     "PFC frames get lost: pauses end all the same, losses are told",
     sim_leafspine, lose_pfc, 0, BIT(SIM_VIOLATION) | BIT(SIM_OVERFLOW), 0, 1,
     0},
    {"cut-headroom", "too little headroom: every loss is told as it happens",
     sim_leafspine, cut_headroom, BIT(SIM_VIOLATION), 0, 25, 1, 0},
    {"deaf", "senders that ignore PFC are noticed, what they lose is told",
     sim_leafspine, deafen, BIT(SIM_REACTION),
     BIT(SIM_VIOLATION) | BIT(SIM_OVERFLOW), 25, 1, 20},
    {"cable-loss", "frames that vanish on cables are missed", sim_leafspine,
     lose_on_cables, BIT(SIM_UNREPORTED) | BIT(SIM_LOSS), 0, 60, 1, 10},
    {"repeat", "frames that come twice are noticed", sim_leafspine,
     repeat_frames, BIT(SIM_ORDER), 0, 90, 1, 10},
    {"change", "frames that come changed are noticed", sim_leafspine,
     change_frames, BIT(SIM_PAYLOAD), 0, 90, 1, 10},
    {"hung", "stations that pause for ever are noticed", sim_leafspine, hang,
     BIT(SIM_STUCK), 0, 50, 1, 10},
    {"hung-watchdog",
     "section 9: watchdogs act on peers that hang: what is lost is told",
     sim_leafspine, hang_watched, 0,
     BIT(SIM_VIOLATION) | BIT(SIM_REACTION) | BIT(SIM_OVERFLOW), 0, 1, 20},
    {"cut-short", "what is held before the end is noticed", sim_leafspine,
     cut_short, BIT(SIM_NOT_EMPTY) | BIT(SIM_LOSS) | BIT(SIM_STUCK),
     BIT(SIM_UNREPORTED) | BIT(SIM_PAUSED), 50, 1, 10},
    {"cooked-books", "a queue that counts a frame too many is noticed",
     sim_leafspine, cook_books, BIT(SIM_AUDIT), 0, 100, 1, 5},
};
#define N_SCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))

struct options {
    const char *scenario; /* null: all */
    uint64_t seed;        /* of the one run */
    bool have_seed;       /* one run only */
    uint32_t n_runs;      /* of a case */
    int verbose;          /* see sim.h */
};

/* What came out of a run, or the most of a batch. */
struct outcome {
    uint32_t faults;       /* bit f: fault f occurred */
    char first[256];       /* the first, in words */
    uint64_t digest;       /* of everything that happened */
    uint32_t most_after;   /* see struct sim */
    uint32_t headroom_use; /* see struct sim */
    uint64_t n_pauses;     /* see struct sim */
    uint64_t n_marked;     /* frames that came with CE, and left without */
    uint64_t n_unknown;    /* dropped in place of being flooded */
};

static struct outcome
run_one(const struct scenario *sc, uint64_t seed, int verbose)
{
    struct sim *sim = sim_create(seed);
    struct outcome out = {0};

    sim->verbose = verbose;
    if (sc->spoil)
        sc->spoil(sim);
    sc->run(sim);
    if (verbose && sim->n_steps)
        sim_print(sim);
    for (int f = 0; f < SIM_N_FAULTS; f++) {
        if (sim->n_faults[f])
            out.faults |= BIT(f);
    }
    snprintf(out.first, sizeof(out.first), "%s", sim->first_fault);
    out.digest = sim->digest;
    out.most_after = sim->most_after;
    out.headroom_use = sim->headroom_use;
    out.n_pauses = sim->n_pauses;
    for (uint32_t i = 0; i < sim->n_flows; i++)
        out.n_marked += sim->flow[i].n_marked;
    for (uint32_t i = 0; i < sim->n_sw; i++)
        out.n_unknown +=
            sim_switch_drops_of(sim->sw[i], DP_DROP_UNKNOWN_UNICAST);
    sim_destroy(sim);
    return out;
}

static void
print_faults(const char *what, uint32_t faults)
{
    printf("#   %s:", what);
    for (int f = 0; f < SIM_N_FAULTS; f++) {
        if (faults & BIT(f))
            printf(" %s", sim_fault_name((enum sim_fault) f));
    }
    printf("%s\n", faults ? "" : " none");
}

static void
print_failure(const struct scenario *sc, uint64_t seed,
              const struct outcome *out)
{
    printf("# seed %llu: %s\n", (unsigned long long) seed,
           out->first[0] ? out->first : "nothing is wrong");
    print_faults("faults", out->faults);
    if (sc->faults)
        print_faults("expected", sc->faults);
    printf("#   again: tests/sim/sim --scenario %s --seed %llu -v\n", sc->name,
           (unsigned long long) seed);
}

static const struct scenario *
find_scenario(const char *name)
{
    for (size_t i = 0; i < N_SCENARIOS; i++) {
        if (strcmp(name, scenarios[i].name) == 0)
            return &scenarios[i];
    }
    return NULL;
}

static uint64_t
first_seed(const struct scenario *sc)
{
    return (uint64_t) (sc - scenarios + 1) * SEED_STRIDE;
}

/* One TAP case: runs of consecutive seeds.  True when all was as it has to
 * be. */
static bool
run_case(const struct scenario *sc, uint64_t seed, uint32_t n_runs)
{
    uint32_t n_shown = 0, n_failed = 0;
    struct outcome most = {0};

    for (uint32_t i = 0; i < n_runs; i++, seed++) {
        struct outcome out = run_one(sc, seed, 0);

        n_shown += (out.faults & sc->faults) == sc->faults;
        most.n_pauses += out.n_pauses;
        most.n_marked += out.n_marked;
        most.n_unknown += out.n_unknown;
        if (out.most_after > most.most_after)
            most.most_after = out.most_after;
        if (out.headroom_use > most.headroom_use)
            most.headroom_use = out.headroom_use;
        if (!(out.faults & ~(sc->faults | sc->may)))
            continue;
        if (n_failed++ < MAX_SHOWN)
            print_failure(sc, seed, &out);
    }
    printf("# %llu XOFF, %llu marked, %llu unknown; after a PFC frame %u "
           "frames at most; headroom used to %u %%",
           (unsigned long long) most.n_pauses,
           (unsigned long long) most.n_marked,
           (unsigned long long) most.n_unknown, most.most_after,
           most.headroom_use);
    if (sc->faults)
        printf("; %u of %u runs showed the faults", n_shown, n_runs);
    printf("\n");
    return n_failed == 0 && n_shown * 100 >= sc->least_pct * n_runs;
}

/* The same seed gives the same run, to the last frame and counter; another
 * seed another one. */
static bool
check_determinism(void)
{
    static const char *const names[] = {"demo", "demo-hour", "leafspine",
                                        "tree", "overload"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct scenario *sc = find_scenario(names[i]);
        uint64_t seed = first_seed(sc);
        uint64_t a = run_one(sc, seed, 0).digest;
        uint64_t b = run_one(sc, seed, 0).digest;
        uint64_t c = run_one(sc, seed + 1, 0).digest;

        if (a == b && a != c)
            continue;
        printf("# %s: seed %llu gave %016llx and %016llx, the next one "
               "%016llx\n",
               sc->name, (unsigned long long) seed, (unsigned long long) a,
               (unsigned long long) b, (unsigned long long) c);
        return false;
    }
    return true;
}

static int
run_all(const struct options *o)
{
    uint32_t n_cases = 1, n = 0, n_runs = 0;

    for (size_t i = 0; i < N_SCENARIOS; i++)
        n_cases += scenarios[i].n_cases;
    printf("1..%u\n", n_cases);
    for (size_t i = 0; i < N_SCENARIOS; i++) {
        const struct scenario *sc = &scenarios[i];
        uint32_t runs = sc->n_runs ? sc->n_runs : o->n_runs;
        uint64_t seed = first_seed(sc);

        for (uint32_t k = 0; k < sc->n_cases; k++, seed += runs) {
            bool ok = run_case(sc, seed, runs);

            n_runs += runs;
            printf("%sok %u - %s: %s (%u runs from seed %llu)\n",
                   ok ? "" : "not ", ++n, sc->name, sc->what, runs,
                   (unsigned long long) seed);
            fflush(stdout);
        }
    }
    printf("%sok %u - the same seed gives the same run\n",
           check_determinism() ? "" : "not ", ++n);
    printf("# %u runs\n", n_runs);
    return 0;
}

/* One scenario, one seed or a batch of them, for people. */
static int
run_named(const struct options *o)
{
    const struct scenario *sc = find_scenario(o->scenario);
    struct outcome out;

    if (!sc) {
        fprintf(stderr, "sim: no scenario \"%s\"; there are:\n", o->scenario);
        for (size_t i = 0; i < N_SCENARIOS; i++)
            fprintf(stderr, "  %-14s %s\n", scenarios[i].name,
                    scenarios[i].what);
        return 2;
    }
    if (!o->have_seed)
        return run_case(sc, first_seed(sc), o->n_runs) ? 0 : 1;
    out = run_one(sc, o->seed, o->verbose);
    printf("seed %llu digest %016llx\n", (unsigned long long) o->seed,
           (unsigned long long) out.digest);
    if (out.faults != sc->faults)
        print_failure(sc, o->seed, &out);
    return out.faults & ~(sc->faults | sc->may) ? 1 : 0;
}

static int
usage(void)
{
    fprintf(stderr,
            "usage: sim [--runs N] [--scenario NAME [--seed N]] [-v[v]]\n"
            "  --runs N   runs of a case (SLUICE_SIM_RUNS; default %d)\n"
            "  --scenario repeats one, with --seed one run of it\n"
            "  -v, -vv    what happened, and every event\n",
            DEFAULT_RUNS);
    return 2;
}

int
main(int argc, char *argv[])
{
    static const struct option longs[] = {
        {"runs", required_argument, NULL, 'r'},
        {"scenario", required_argument, NULL, 's'},
        {"seed", required_argument, NULL, 'S'},
        {"verbose", no_argument, NULL, 'v'},
        {NULL, 0, NULL, 0},
    };
    const char *runs = getenv("SLUICE_SIM_RUNS");
    struct options o = {.n_runs = DEFAULT_RUNS};
    int c;

    if (runs && atoi(runs) > 0)
        o.n_runs = (uint32_t) atoi(runs);
    while ((c = getopt_long(argc, argv, "r:s:S:v", longs, NULL)) >= 0) {
        switch (c) {
        case 'r':
            o.n_runs = (uint32_t) strtoul(optarg, NULL, 10);
            break;
        case 's':
            o.scenario = optarg;
            break;
        case 'S':
            o.seed = strtoull(optarg, NULL, 10);
            o.have_seed = true;
            break;
        case 'v':
            o.verbose++;
            break;
        default:
            return usage();
        }
    }
    if (optind < argc || !o.n_runs || (o.have_seed && !o.scenario))
        return usage();
    return o.scenario ? run_named(&o) : run_all(&o);
}
