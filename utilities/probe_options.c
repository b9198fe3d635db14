/* SPDX-License-Identifier: Apache-2.0
 *
 * Options of sluice-probe: see probe_options.h.  Called once, at the start.
 */
#include "probe_options.h"

#include "probe_kv.h"
#include "rpc/rpc.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <string.h>

enum option_kind { OPT_FLAG, OPT_NUM, OPT_TEXT, OPT_LIST, OPT_PRIOS };

typedef int add_fn(struct probe_conf *, const char *text, struct err *);

/* One option; getopt's table is made from these. */
struct option_row {
    const char *name;      /* without the dashes */
    char letter;           /* short form; 0: none */
    enum option_kind kind; /* how its value is read */
    size_t offset;         /* of the member in struct probe_conf */
    enum rpc_unit unit;    /* OPT_NUM: what it counts */
    int64_t min, max;      /* OPT_NUM: its range, both included */
    add_fn *add;           /* OPT_LIST: takes one */
    const char *value;     /* as shown by --help; null: takes none */
    const char *doc;       /* one line */
};

#define AT(member) offsetof(struct probe_conf, member)
#define FLAG(name, letter, member, doc)                                       \
    {                                                                         \
        name, letter, OPT_FLAG, AT(member), RPC_U_NONE, 0, 0, NULL, NULL, doc \
    }
#define NUM(name, letter, member, unit, min, max, value, doc)               \
    {                                                                       \
        name, letter, OPT_NUM, AT(member), unit, min, max, NULL, value, doc \
    }
#define LIST(name, letter, add, value, doc)                          \
    {                                                                \
        name, letter, OPT_LIST, 0, RPC_U_NONE, 0, 0, add, value, doc \
    }
#define DAY_NS INT64_C(86400000000000)

static const struct option_row rows[] = {
    {"iface", 'i', OPT_TEXT, AT(iface), RPC_U_NONE, 0, 0, NULL, "IFACE",
     "interface to send and receive on"},
    NUM("duration", 'd', duration_ns, RPC_U_NS, 1000000, DAY_NS, "TIME",
        "of flows and of receiving (10s)"),
    NUM("drain", 0, drain_ns, RPC_U_NS, 0, DAY_NS, "TIME",
        "longest wait for paused flows afterwards (2s)"),
    NUM("start-at", 0, start_at_ns, RPC_U_NS, 1, INT64_MAX, "NS",
        "start at this CLOCK_MONOTONIC time"),
    FLAG("barrier", 0, barrier,
         "say \"ready\" on stderr, start at a line on stdin"),
    FLAG("hold", 0, hold, "stay after the run until stdin ends"),
    NUM("rate", 0, rate_bps, RPC_U_BPS, 1000, INT64_C(1000000000000), "RATE",
        "of the link: caps sending, length of a quantum"),
    NUM("ring", 0, ring_bytes, RPC_U_BYTES, 65536, INT64_C(1073741824), "SIZE",
        "receive ring"),
    FLAG("json", 'j', json, "print results as JSON"),
    FLAG("strict", 0, strict,
         "exit status 1 unless all came once, in order, intact"),
    LIST("flow", 'f', probe_conf_add_flow, "KEY=VALUE,...",
         "a flow to send; may be repeated"),
    NUM("expect", 0, expect, RPC_U_NONE, 1, 256, "N",
        "stop receiving when so many flows are complete"),
    NUM("idle", 0, idle_ns, RPC_U_NS, 1000000, DAY_NS, "TIME",
        "stop receiving after so long a silence"),
    LIST("slow", 0, probe_conf_add_slow, "KEY=VALUE,...",
         "consume a priority slowly; may be repeated"),
    {"pfc", 'p', OPT_PRIOS, AT(pfc_prios), RPC_U_NONE, 0, 0, NULL, "PRIOS",
     "priorities with PFC: 3,4, all or none (none)"},
    FLAG("asymmetric", 0, asymmetric, "honour PFC on all eight"),
    NUM("quanta", 0, quanta, RPC_U_NONE, 1, 65535, "N",
        "pause time that is sent (65535)"),
    LIST("pause-once", 0, probe_conf_add_pause, "KEY=VALUE,...",
         "pause the peer for a while; may be repeated"),
    FLAG("ignore-pfc", 0, ignore_pfc, "misbehave: honour no pause"),
    LIST("storm", 0, probe_conf_add_storm, "KEY=VALUE,...",
         "misbehave: XOFF on and on; may be repeated"),
    NUM("malformed", 0, malformed, RPC_U_NONE, 1, 1000000, "N",
        "misbehave: send N malformed MAC control frames"),
};
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

/* Values of getopt_long: rows count from here, then these two. */
#define ROW_BASE    1000
#define OPT_HELP    (ROW_BASE - 1)
#define OPT_VERSION (ROW_BASE - 2)

static int
set_num(struct probe_conf *c, const struct option_row *r, const char *text,
        struct err *err)
{
    struct probe_key key = {.unit = r->unit,
                            .min = r->min,
                            .max = r->max,
                            .width = sizeof(uint64_t)};

    return probe_kv_num((char *) c + r->offset, &key, r->name, NULL, text,
                        err);
}

static int
apply(struct probe_conf *c, const struct option_row *r, const char *text,
      struct err *err)
{
    void *member = (char *) c + r->offset;

    switch (r->kind) {
    case OPT_FLAG:
        *(bool *) member = true;
        return 0;
    case OPT_NUM:
        return set_num(c, r, text, err);
    case OPT_TEXT:
        *(const char **) member = text;
        return 0;
    case OPT_LIST:
        return r->add(c, text, err);
    case OPT_PRIOS:
    default:
        return probe_conf_parse_prios(text, member, err);
    }
}

static int
set_role(struct probe_conf *c, const char *word, struct err *err)
{
    if (strcmp(word, "send") == 0)
        c->send = true;
    else if (strcmp(word, "receive") == 0)
        c->receive = true;
    else
        return err_set(err, EINVAL, "role", word, "send, receive",
                       "\"%s\" is no role: say send, receive or both", word);
    return 0;
}

/* Fills getopt's tables from ours. */
static void
make_tables(struct option longs[N_ROWS + 3], char shorts[2 * N_ROWS + 8])
{
    size_t n = 0;

    shorts[n++] = ':'; /* a missing argument is told from a bad option */
    for (size_t i = 0; i < N_ROWS; i++) {
        longs[i] =
            (struct option){rows[i].name,
                            rows[i].value ? required_argument : no_argument,
                            NULL, ROW_BASE + (int) i};
        if (!rows[i].letter)
            continue;
        shorts[n++] = rows[i].letter;
        if (rows[i].value)
            shorts[n++] = ':';
    }
    longs[N_ROWS] = (struct option){"help", no_argument, NULL, OPT_HELP};
    longs[N_ROWS + 1] =
        (struct option){"version", no_argument, NULL, OPT_VERSION};
    longs[N_ROWS + 2] = (struct option){0};
    shorts[n++] = 'h';
    shorts[n++] = 'V';
    shorts[n] = '\0';
}

static const struct option_row *
row_of(int value)
{
    if (value >= ROW_BASE)
        return &rows[value - ROW_BASE];
    for (size_t i = 0; i < N_ROWS; i++) {
        if (rows[i].letter && rows[i].letter == value)
            return &rows[i];
    }
    return NULL;
}

enum probe_options
probe_options_parse(int argc, char **argv, struct probe_conf *c,
                    struct err *err)
{
    struct option longs[N_ROWS + 3];
    char shorts[2 * N_ROWS + 8];
    int v;

    probe_conf_init(c);
    make_tables(longs, shorts);
    opterr = 0;
    optind = 0; /* glibc: start afresh, for tests that parse twice */
    while ((v = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        const struct option_row *r = row_of(v);

        if (v == 'h' || v == OPT_HELP)
            return PROBE_OPTIONS_HELP;
        if (v == 'V' || v == OPT_VERSION)
            return PROBE_OPTIONS_VERSION;
        if (!r) {
            err_set(err, EINVAL, "option", argv[optind - 1], NULL,
                    v == ':' ? "%s needs a value"
                             : "%s is no option; see "
                               "--help",
                    argv[optind - 1]);
            return PROBE_OPTIONS_BAD;
        }
        if (apply(c, r, optarg, err))
            return PROBE_OPTIONS_BAD;
    }
    for (; optind < argc; optind++) {
        if (set_role(c, argv[optind], err))
            return PROBE_OPTIONS_BAD;
    }
    return probe_conf_check(c, err) ? PROBE_OPTIONS_BAD : PROBE_OPTIONS_RUN;
}

void
probe_options_help(FILE *out)
{
    fprintf(out,
            "Usage: sluice-probe --iface IFACE [OPTION]... [send] [receive]\n"
            "A PFC-capable end station: sends numbered flows, and checks what"
            " comes in.\n\n");
    for (size_t i = 0; i < N_ROWS; i++) {
        char left[40];

        snprintf(left, sizeof(left), "--%s%s%s", rows[i].name,
                 rows[i].value ? " " : "", rows[i].value ? rows[i].value : "");
        if (rows[i].letter)
            fprintf(out, "  -%c, %-24s %s\n", rows[i].letter, left,
                    rows[i].doc);
        else
            fprintf(out, "      %-24s %s\n", left, rows[i].doc);
    }
    fprintf(out,
            "  -h, %-24s %s\n  -V, %-24s %s\n\n"
            "flow:       prio= dst= [src= vlan= rate= size= count= for= at="
            " id= type=raw|udp\n"
            "            skip= dup= swap= corrupt=]\n"
            "slow:       prio= rate= [buffer= xoff= xon=]\n"
            "pause-once: prio= for= [at=]\n"
            "storm:      prio= for= [at= every=]\n"
            "Sizes take K, M; rates K, M, G; times us, ms, s."
            "  See sluice-probe(1).\n",
            "--help", "this text", "--version", "version");
}
