/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl: the command line of the daemon.  This file: options, finding the
 * noun and the verb, calls and their errors, the exit status.  See ctl.h.
 */
#include "config.h"
#include "ctl.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_TIMEOUT_MS 30000
#define MAX_SECONDS        1000000

/* --- saying -----------------------------------------------------------------
 */

static void __attribute__((format(printf, 1, 0)))
vcomplain(const char *fmt, va_list ap)
{
    char text[1024];

    vsnprintf(text, sizeof(text), fmt, ap);
    fputs("sluicectl: ", stderr);
    ctl_put_clean(text, stderr);
    putc('\n', stderr);
}

void
ctl_complain(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vcomplain(fmt, ap);
    va_end(ap);
}

enum ctl_status
ctl_usage_error(struct ctl *ctl, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vcomplain(fmt, ap);
    va_end(ap);
    if (ctl->noun && ctl->verb) {
        fputs("usage: ", stderr);
        ctl_print_usage(stderr, ctl->noun, ctl->verb);
    } else {
        fputs("\"sluicectl --help\" tells more\n", stderr);
    }
    return CTL_USAGE;
}

/* Whoever reads what we print has had enough, like `head`: a reason to end,
 * but not to complain. */
static bool
is_reader_gone(int error)
{
    struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};

    return error == EPIPE ||
           (!error && poll(&p, 1, 0) == 1 && p.revents & POLLERR);
}

bool
ctl_flush(void)
{
    static bool said;

    errno = 0; /* of an earlier write that failed we know no number */
    if (!fflush(stdout) && !ferror(stdout))
        return true;
    if (!said && !is_reader_gone(errno))
        ctl_complain("cannot write to standard output: %s",
                     strerror(errno ? errno : EIO));
    said = true;
    return false;
}

/* --- calling
 * ------------------------------------------------------------------ */

enum ctl_status
ctl_connect(struct ctl *ctl)
{
    bool duration = ctl->verb->options & CTL_O_DURATION;
    struct err err;
    int timeout_ms, error;

    if (ctl->conn)
        return CTL_OK;
    timeout_ms =
        ctl->timeout_ms < 0 || duration ? DEFAULT_TIMEOUT_MS : ctl->timeout_ms;
    err_clear(&err);
    error = rpc_connect(ctl->socket, timeout_ms, &ctl->conn, &err);
    if (!error)
        return CTL_OK;
    ctl_complain("%s%s", err.msg,
                 error == ENOENT || error == ECONNREFUSED
                     ? " (is sluiced running?)"
                     : "");
    return error == EINVAL ? CTL_USAGE : CTL_NO_DAEMON;
}

/* The daemon refused: says why, with what is allowed unless the message has
 * it already. */
static void
show_error(struct ctl *ctl, const char *message, struct json_object *error)
{
    struct json_object *data = ctl_get(error, "data"), *o;
    const char *allowed = ctl_text(data, "allowed");
    const char *where = ctl->blame ? ctl->blame(ctl, error) : "";

    if (strcmp(allowed, "-") && *allowed && !strstr(message, allowed))
        ctl_complain("%s%s (allowed: %s)", where, message, allowed);
    else
        ctl_complain("%s%s", where, message);
    if (ctl->format == CTL_JSON) {
        o = json_object_new_object();
        json_object_object_add(o, "error", json_object_get(error));
        ctl_print_json(o, false);
        json_object_put(o);
    }
}

enum ctl_status
ctl_call(struct ctl *ctl, const char *method, struct json_object *params,
         struct json_object **result)
{
    enum ctl_status status = ctl_connect(ctl);
    struct json_object *error = NULL;
    struct err err;
    int failed;

    if (status) {
        json_object_put(params);
        return status;
    }
    err_clear(&err);
    failed = rpc_call(ctl->conn, method, params, result, &error, &err);
    if (!failed)
        return CTL_OK;
    if (failed == EREMOTEIO) {
        show_error(ctl, err.msg, error);
        json_object_put(error);
        return CTL_REFUSED;
    }
    ctl_complain("%s", err.msg);
    return CTL_NO_DAEMON;
}

void
ctl_show(struct ctl *ctl, struct json_object *result)
{
    if (ctl->format == CTL_JSON)
        ctl_print_json(result, false);
    else if (ctl->verb->show)
        ctl->verb->show(ctl, result);
    json_object_put(result);
}

enum ctl_status
ctl_run_method(struct ctl *ctl, struct json_object *params)
{
    struct json_object *result = NULL;
    enum ctl_status status =
        ctl_call(ctl, ctl->verb->method, json_object_get(params), &result);

    if (!status)
        ctl_show(ctl, result);
    return status;
}

/* --- options
 * ------------------------------------------------------------------ */

enum argument { ARG_NONE, ARG_NEEDED, ARG_SECONDS_MAYBE };

enum opt {
    OPT_COUNT,
    OPT_DRY_RUN,
    OPT_HELP,
    OPT_JSON,
    OPT_LIST,
    OPT_PERSIST,
    OPT_PERSISTENT,
    OPT_RAW,
    OPT_SOCKET,
    OPT_TIMEOUT,
    OPT_TSV,
    OPT_VERSION,
    OPT_WATCH,
    N_OPTS,
};

static const struct {
    const char *name;       /* behind "--" */
    char letter;            /* behind "-"; 0: none */
    enum argument argument; /* does it take one? */
} opts[N_OPTS] = {
    [OPT_COUNT] = {"count", 0, ARG_NEEDED},
    [OPT_DRY_RUN] = {"dry-run", 0, ARG_NONE},
    [OPT_HELP] = {"help", 'h', ARG_NONE},
    [OPT_JSON] = {"json", 'j', ARG_NONE},
    [OPT_LIST] = {"list-commands", 0, ARG_NONE},
    [OPT_PERSIST] = {"persist", 0, ARG_NONE},
    [OPT_PERSISTENT] = {"persistent", 0, ARG_NONE},
    [OPT_RAW] = {"raw", 0, ARG_NONE},
    [OPT_SOCKET] = {"socket", 's', ARG_NEEDED},
    [OPT_TIMEOUT] = {"timeout", 0, ARG_NEEDED},
    [OPT_TSV] = {"tsv", 0, ARG_NONE},
    [OPT_VERSION] = {"version", 'V', ARG_NONE},
    [OPT_WATCH] = {"watch", 0, ARG_SECONDS_MAYBE},
};

/* What the command line asked for besides. */
struct wanted {
    bool help, version, list; /* --help and so on */
    bool count;               /* --count was given */
};

static enum opt
find_opt(const char *arg)
{
    size_t n = strcspn(arg + 2, "=");

    for (int i = 0; i < N_OPTS; i++) {
        if (arg[1] != '-' && !arg[2] && arg[1] == opts[i].letter)
            return (enum opt) i;
        if (arg[1] == '-' && strlen(opts[i].name) == n &&
            !strncmp(arg + 2, opts[i].name, n))
            return (enum opt) i;
    }
    return N_OPTS;
}

static enum ctl_status
unknown_option(struct ctl *ctl, const char *arg)
{
    const char *names[N_OPTS + 1], *guess;
    char name[64];

    for (int i = 0; i < N_OPTS; i++)
        names[i] = opts[i].name;
    names[N_OPTS] = NULL;
    snprintf(name, sizeof(name), "%.*s", (int) strcspn(arg, "="), arg);
    guess = name[1] == '-' ? rpc_suggest(name + 2, names) : NULL;
    return ctl_usage_error(ctl, "no option '%s'%s%s%s", name,
                           guess ? "; did you mean '--" : "",
                           guess ? guess : "", guess ? "'?" : "");
}

/* Seconds with a fraction or a unit ("0.5", "500ms"), as milliseconds. */
static enum ctl_status
read_seconds(struct ctl *ctl, const char *option, const char *text, int *out)
{
    char with_unit[32];
    int64_t ns;

    snprintf(with_unit, sizeof(with_unit), "%s%s", text,
             text[strspn(text, "0123456789.")] ? "" : "s");
    if (strlen(text) > 24 ||
        rpc_parse_quantity(with_unit, RPC_U_NS, &ns, NULL) || ns < 1000000 ||
        ns / 1000000000 > MAX_SECONDS)
        return ctl_usage_error(ctl,
                               "--%s: '%s' is no time; allowed: 0.001 to %d "
                               "seconds",
                               option, text, MAX_SECONDS);
    *out = (int) (ns / 1000000);
    return CTL_OK;
}

static enum ctl_status
set_option(struct ctl *ctl, struct wanted *w, enum opt opt, const char *value)
{
    switch (opt) {
    case OPT_COUNT:
        w->count = true;
        if (rpc_parse_quantity(value, RPC_U_NONE, &ctl->count, NULL) ||
            ctl->count < 1)
            return ctl_usage_error(
                ctl, "--count: '%s' is no count; allowed: 1 and more", value);
        break;
    case OPT_DRY_RUN:
        ctl->dry_run = true;
        break;
    case OPT_HELP:
        w->help = true;
        break;
    case OPT_JSON:
        ctl->format = CTL_JSON;
        break;
    case OPT_LIST:
        w->list = true;
        break;
    case OPT_PERSIST:
        ctl->persist = true;
        break;
    case OPT_PERSISTENT:
        ctl->persistent = true;
        break;
    case OPT_RAW:
        ctl->raw = true;
        break;
    case OPT_SOCKET:
        ctl->socket = value;
        break;
    case OPT_TIMEOUT:
        return read_seconds(ctl, "timeout", value, &ctl->timeout_ms);
    case OPT_TSV:
        ctl->format = CTL_TSV;
        break;
    case OPT_VERSION:
        w->version = true;
        break;
    case OPT_WATCH:
        ctl->watch = true;
        return value ? read_seconds(ctl, "watch", value, &ctl->watch_ms)
                     : CTL_OK;
    case N_OPTS:
    default:
        break;
    }
    return CTL_OK;
}

/* Takes the option at argv[*i], with its argument; moves on. */
static enum ctl_status
take_option(struct ctl *ctl, struct wanted *w, char **argv, int *i)
{
    const char *arg = argv[(*i)++], *equals = strchr(arg, '=');
    const char *next = argv[*i], *value = NULL;
    enum opt opt = find_opt(arg);

    if (opt == N_OPTS)
        return unknown_option(ctl, arg);
    if (equals && arg[1] == '-') {
        if (opts[opt].argument == ARG_NONE)
            return ctl_usage_error(ctl, "--%s takes no value", opts[opt].name);
        value = equals + 1;
    } else if (opts[opt].argument == ARG_NEEDED ||
               (opts[opt].argument == ARG_SECONDS_MAYBE && next && *next &&
                !next[strspn(next, "0123456789.")])) {
        if (!next)
            return ctl_usage_error(ctl, "--%s needs a value", opts[opt].name);
        value = next;
        ++*i;
    }
    return set_option(ctl, w, opt, value);
}

/* No option begins with a digit: "-1" is a number. */
static bool
is_option(const char *word)
{
    return word[0] == '-' && word[1] && (word[1] < '0' || word[1] > '9');
}

/* Options out of argv wherever they stand; the words that remain, ending with
 * null. */
static enum ctl_status
take_options(struct ctl *ctl, struct wanted *w, char **argv, char **words)
{
    enum ctl_status status = CTL_OK;
    bool only_words = false;
    size_t n = 0;

    for (int i = 1; !status && argv[i];) {
        if (!only_words && !strcmp(argv[i], "--")) {
            only_words = true;
            i++;
        } else if (!only_words && !strncmp(argv[i], "--", 2) &&
                   find_opt(argv[i]) == N_OPTS && ctl_is_key(argv[i] + 2)) {
            /* "--key value" is "key value": as pfcwd and others have it. */
            words[n++] = argv[i++] + 2;
        } else if (!only_words && is_option(argv[i])) {
            status = take_option(ctl, w, argv, &i);
        } else {
            words[n++] = argv[i++];
        }
    }
    words[n] = NULL;
    return status;
}

/* --- nouns and verbs
 * ------------------------------------------------------------ */

static enum ctl_status
find_noun(struct ctl *ctl, const char *word)
{
    const char *names[64], *guess;
    size_t n = 0;

    for (; ctl_nouns[n]; n++) {
        assert(n + 1 < sizeof(names) / sizeof(names[0]));
        names[n] = ctl_nouns[n]->name;
        if (!strcmp(word, names[n])) {
            ctl->noun = ctl_nouns[n];
            return CTL_OK;
        }
    }
    names[n] = NULL;
    guess = rpc_suggest(word, names);
    return ctl_usage_error(ctl, "no command '%s'%s%s%s", word,
                           guess ? "; did you mean '" : "", guess ? guess : "",
                           guess ? "'?" : "");
}

static enum ctl_status
unknown_verb(struct ctl *ctl, const char *word)
{
    const char *names[16], *guess;
    char all[160] = "";
    size_t n = 0, len = 0;

    for (; ctl->noun->verbs[n].name; n++) {
        assert(n + 1 < sizeof(names) / sizeof(names[0]));
        names[n] = ctl->noun->verbs[n].name;
        len += (size_t) snprintf(all + len, sizeof(all) - len, "%s%s",
                                 n ? ", " : "", names[n]);
    }
    names[n] = NULL;
    guess = rpc_suggest(word, names);
    return ctl_usage_error(ctl, "%s: no verb '%s'%s%s%s%s", ctl->noun->name,
                           word, guess ? "; did you mean '" : "",
                           guess ? guess : "",
                           guess ? "'? Allowed: " : "; allowed: ", all);
}

/* The verb at *words, which moves on; without one the noun's first. */
static enum ctl_status
find_verb(struct ctl *ctl, char ***words)
{
    const struct ctl_verb *v = ctl->noun->verbs;
    const char *word = **words;

    if (ctl->noun->is_command || !word) {
        /* "stats show eth1" is as good as "stats eth1". */
        if (word && !strcmp(word, v->name))
            ++*words;
        ctl->verb = v;
        return CTL_OK;
    }
    for (; v->name; v++)
        if (!strcmp(v->name, word)) {
            ctl->verb = v;
            ++*words;
            return CTL_OK;
        }
    return unknown_verb(ctl, word);
}

static enum ctl_status
check_options(struct ctl *ctl, const struct wanted *w)
{
    unsigned takes = ctl->verb->options;

    if (ctl->dry_run && !(takes & CTL_O_DRY_RUN))
        return ctl_usage_error(ctl, "--dry-run is of no use here");
    if (ctl->watch && !(takes & CTL_O_WATCH))
        return ctl_usage_error(ctl, "--watch is of no use here");
    if (ctl->raw && !(takes & CTL_O_RAW))
        return ctl_usage_error(ctl, "--raw is of no use here");
    if (ctl->persistent && !(takes & CTL_O_PERSISTENT))
        return ctl_usage_error(ctl, "--persistent is of no use here");
    if (ctl->persist && !(takes & CTL_O_PERSIST))
        return ctl_usage_error(ctl, "--persist is of no use here");
    if (w->count && !(takes & CTL_O_COUNT))
        return ctl_usage_error(ctl, "--count is of no use here");
    return CTL_OK;
}

/* Begins anew what the verb else shows. */
static enum ctl_status
run_clear(struct ctl *ctl, struct json_object *params)
{
    struct json_object *result = NULL;
    enum ctl_status status;

    if (ctl->raw)
        return ctl_usage_error(ctl, "clear: --raw is never cleared");
    if (ctl->watch)
        return ctl_usage_error(ctl, "clear: --watch is of no use here");
    json_object_object_del(params, "clear");
    status = ctl_call(ctl, ctl->verb->clear_method, json_object_get(params),
                      &result);
    if (!status && ctl->format == CTL_JSON)
        ctl_print_json(result, false);
    json_object_put(result);
    return status;
}

static enum ctl_status
run_command(struct ctl *ctl, const struct wanted *w, char **words)
{
    struct json_object *params;
    enum ctl_status status = find_verb(ctl, &words);
    struct err err;

    if (!status)
        status = check_options(ctl, w);
    if (status)
        return status;
    params = json_object_new_object();
    if (ctl->raw)
        json_object_object_add(params, "raw", json_object_new_boolean(true));
    if (ctl->persistent)
        json_object_object_add(params, "persistent",
                               json_object_new_boolean(true));
    if (ctl->persist)
        json_object_object_add(params, "persist",
                               json_object_new_boolean(true));
    err_clear(&err);
    if (ctl_parse_words(ctl, words, params, &err))
        status = ctl_usage_error(ctl, "%s%s%s: %s", ctl->noun->name,
                                 ctl->noun->is_command ? "" : " ",
                                 ctl->noun->is_command ? "" : ctl->verb->name,
                                 err.msg);
    else if (ctl->verb->clear_method && ctl_get(params, "clear"))
        status = run_clear(ctl, params);
    else if (ctl->verb->run)
        status = ctl->verb->run(ctl, params);
    else
        status = ctl_run_method(ctl, params);
    json_object_put(params);
    return status;
}

static enum ctl_status
run(struct ctl *ctl, char **argv, char **words)
{
    struct wanted w = {.help = false};
    enum ctl_status status = take_options(ctl, &w, argv, words);

    if (status)
        return status;
    if (w.version) {
        puts("sluicectl (Sluice) " PACKAGE_VERSION);
        return CTL_OK;
    }
    if (w.list) {
        ctl_list_commands();
        return CTL_OK;
    }
    if (*words && !strcmp(*words, "help")) {
        w.help = true;
        words++;
    }
    if (w.help && !*words) {
        ctl_help_all();
        return CTL_OK;
    }
    if (!*words)
        return ctl_usage_error(ctl, "a command is missing");
    status = find_noun(ctl, *words);
    if (status)
        return status;
    if (w.help) {
        ctl_help_noun(ctl->noun);
        return CTL_OK;
    }
    return run_command(ctl, &w, words + 1);
}

int
main(int argc, char **argv)
{
    struct ctl ctl = {.timeout_ms = -1, .watch_ms = 1000};
    char **words = calloc((size_t) argc + 1, sizeof(*words));
    enum ctl_status status;

    if (!words)
        abort();
    /* A reader that went away ends us with status 1, not with a signal. */
    signal(SIGPIPE, SIG_IGN);
    ctl.socket = getenv("SLUICE_SOCKET");
    if (!ctl.socket || !*ctl.socket)
        ctl.socket = RPC_DEFAULT_SOCKET;
    status = run(&ctl, argv, words);
    rpc_close(ctl.conn);
    free(words);
    if (!ctl_flush() && status == CTL_OK)
        status = CTL_REFUSED;
    return (int) status;
}
