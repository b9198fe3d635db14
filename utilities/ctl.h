/* SPDX-License-Identifier: Apache-2.0
 *
 * sluicectl from the inside.  A command is a noun and a verb; the verb says in
 * data which words it takes, which method it calls and how the answer is
 * shown, and the rest (parsing, help, completion, JSON output, exit status)
 * follows from that.  One file per noun: ctl_<noun>.c.  One thread.
 */
#ifndef UTILITIES_CTL_H
#define UTILITIES_CTL_H

#include "rpc/rpc.h"

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum ctl_status {
    CTL_OK = 0,
    CTL_REFUSED = 1,   /* by the daemon, or what was asked for is not so */
    CTL_USAGE = 2,     /* the command line is wrong */
    CTL_NO_DAEMON = 3, /* none there, or it went away */
};

enum ctl_format {
    CTL_TABLE, /* for people */
    CTL_TSV,   /* a header and rows, tab-separated, plain numbers */
    CTL_JSON,  /* the result as the daemon gave it */
};

/* Options that only some verbs take. */
enum ctl_option {
    CTL_O_DRY_RUN = 1,
    CTL_O_WATCH = 2,
    CTL_O_COUNT = 4,
    CTL_O_DURATION = 8,    /* --timeout is how long to go on */
    CTL_O_RAW = 16,        /* --raw: params.raw */
    CTL_O_PERSISTENT = 32, /* --persistent: params.persistent */
    CTL_O_PERSIST = 64,    /* --persist: params.persist */
};

#define CTL_MAX_WORDS 3 /* positional words of a verb */

/* The key word that calls clear_method. */
#define CTL_KEY_CLEAR                                              \
    {                                                              \
        .name = "clear", .kind = CTL_FLAG, .path = "clear",        \
        .doc = "begin anew, for every client, instead of showing", \
    }

/* A positional word. */
struct ctl_arg {
    const char *label;  /* as in help: "PORT" */
    const char *member; /* of params that it becomes */
    bool optional;      /* may be left out */
};

/* How the value of a key is read. */
enum ctl_kind {
    CTL_QTY,          /* a number with a unit, or `word` */
    CTL_WORD,         /* one of `choices` */
    CTL_TEXT,         /* any text */
    CTL_SWITCH,       /* on or off */
    CTL_PRIOS,        /* 3,4 or none or all: an array */
    CTL_VIDS,         /* 1,2-5 or all: an array */
    CTL_LIST,         /* a,b: an array of texts out of `choices` */
    CTL_MAP,          /* 5:3 0-4:1 or all:0: an object */
    CTL_ENABLE,       /* 3:on 4:off or all:off: enable and disable */
    CTL_QUEUE_MODE,   /* 0:30% 7:strict: queues */
    CTL_QUEUE_QTY,    /* 0:10M: a number in each of queues */
    CTL_QUEUE_SWITCH, /* 3:on: a boolean in each of queues */
    CTL_QUEUE_TEXT,   /* 0:name: a text in each of queues */
    CTL_ALPHA,        /* -7 to 3, or none */
    CTL_QUEUE_ALPHA,  /* 0:-1: the same in each of queues */
    CTL_CABLE, /* 300m: its delay, or with `word` its millimetres as that
                  member; 500ns: its delay */
    CTL_NOISE, /* a word without value that may stand for clarity */
    CTL_FLAG,  /* a word without value: true */
};

/* A key word of a verb: "key value" and "key=value" mean the same. */
struct ctl_key {
    const char *name;           /* as typed */
    enum ctl_kind kind;         /* of its value */
    const char *path;           /* member of params: "vlan/tag" */
    enum rpc_unit unit;         /* QTY, QUEUE_QTY: of the number */
    int64_t min, max;           /* QTY: its range; VIDS, MAP: of values */
    const char *word;           /* QTY: this word too; sent as itself, or as 0
                                   if it ends with "=0" here; MAP: this word
                                   stands for -1 */
    int last;                   /* MAP: largest index; 0: 7 */
    const char *const *choices; /* WORD, LIST: null-terminated */
    bool bare;                  /* values may come without the key */
    bool required;              /* it has to be given */
    const char *doc;            /* what it sets, for help */
};

struct ctl;

struct ctl_verb {
    const char *name;                   /* as typed */
    struct ctl_arg args[CTL_MAX_WORDS]; /* end with label null */
    const struct ctl_key *keys;         /* end with name null; may be null */
    unsigned options;                   /* enum ctl_option, or-ed */
    const char *doc;                    /* one line */
    const char *method;                 /* what it calls, unless `run` */
    const char *clear_method;           /* ... when the key `clear` is given */
    /* Shows the result (table or TSV); null: says nothing. */
    void (*show)(struct ctl *, struct json_object *result);
    /* Does it all, instead.  params holds what was parsed; words of arguments
     * without a member are in ctl->words. */
    enum ctl_status (*run)(struct ctl *, struct json_object *params);
};

struct ctl_noun {
    const char *name;             /* as typed */
    const char *doc;              /* one line */
    const struct ctl_verb *verbs; /* end with name null; the first is what the
                                     noun alone means */
    bool is_command;              /* it has no verb word: `apply FILE` */
};

extern const struct ctl_noun ctl_apply, ctl_audit, ctl_bridge, ctl_buffer,
    ctl_controller, ctl_doctor, ctl_drill, ctl_events, ctl_export, ctl_flow,
    ctl_group, ctl_headroom, ctl_import, ctl_mac, ctl_map, ctl_meter,
    ctl_table_noun, ctl_pause, ctl_pfc, ctl_pool, ctl_port, ctl_preset,
    ctl_profile, ctl_queue, ctl_rpc, ctl_stats, ctl_status_noun, ctl_watchdog;

/* One run of the program. */
struct ctl {
    const char *socket;               /* where the daemon listens */
    enum ctl_format format;           /* of standard output */
    int timeout_ms;                   /* --timeout; -1: not given */
    bool dry_run;                     /* --dry-run */
    bool raw;                         /* --raw */
    bool persistent;                  /* --persistent */
    bool persist;                     /* --persist */
    bool watch;                       /* --watch */
    int watch_ms;                     /* its interval */
    int64_t count;                    /* --count; 0: not given */
    struct rpc_conn *conn;            /* null until a call */
    const struct ctl_noun *noun;      /* what is done */
    const struct ctl_verb *verb;      /* to it */
    const char *words[CTL_MAX_WORDS]; /* positional, as typed; null: absent */
    /* Words before the message of an error: "FILE:17: "; null: none. */
    const char *(*blame)(struct ctl *, struct json_object *error);
};

/* --- ctl.c ----------------------------------------------------------------
 */

/* Calls a method; params (may be null) is put.  On failure the error was
 * shown. */
enum ctl_status ctl_call(struct ctl *, const char *method,
                         struct json_object *params,
                         struct json_object **result);
/* The connection, made when it is not there yet. */
enum ctl_status ctl_connect(struct ctl *);
/* What a verb without `run` does: call, then show or print JSON. */
enum ctl_status ctl_run_method(struct ctl *, struct json_object *params);
/* Result as JSON, or through verb->show; puts it. */
void ctl_show(struct ctl *, struct json_object *result);
/* "sluicectl: noun verb: ..." and how it is used, to stderr. */
enum ctl_status ctl_usage_error(struct ctl *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* "sluicectl: ..." to stderr. */
void ctl_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Pushes out standard output; false: it cannot be written, which was said
 * unless its reader has gone. */
bool ctl_flush(void);

/* --- ctl_config.c, ctl_file.c -----------------------------------------------
 */

/* {changed, applied} as a table. */
void ctl_show_changes(struct ctl *, struct json_object *result);
/* One JSON object out of a file ("-": standard input); null when it was
 * complained about, with line and column. */
struct json_object *ctl_read_json(const char *command, const char *name);

/* --- ctl_help.c ------------------------------------------------------------
 */

extern const struct ctl_noun *const ctl_nouns[]; /* null-terminated */
void ctl_print_usage(FILE *, const struct ctl_noun *, const struct ctl_verb *);
void ctl_help_all(void);
void ctl_help_noun(const struct ctl_noun *);
/* noun, verb, arguments, keys and options of every command, tab-separated:
 * what the completion reads. */
void ctl_list_commands(void);

/* --- ctl_attach.c ----------------------------------------------------------
 */

extern const struct ctl_key ctl_attach_keys[]; /* null-terminated */
enum ctl_status ctl_attach(struct ctl *, struct json_object *params);
enum ctl_status ctl_detach(struct ctl *, struct json_object *params);

/* --- ctl_words.c -----------------------------------------------------------
 */

/* Takes the words behind the verb apart into params and ctl->words.  EINVAL
 * with a message that names the word and what is allowed. */
int ctl_parse_words(struct ctl *, char **words, struct json_object *params,
                    struct err *);

/* --- ctl_values.c ----------------------------------------------------------
 */

/* Puts what a value of the key means into params. */
int ctl_take_value(const struct ctl_key *, const char *value,
                   struct json_object *params, struct err *);
/* The same for a key that is a word without a value. */
void ctl_take_flag(const struct ctl_key *, struct json_object *params);
/* Whether its values are pairs, INDEX:VALUE, of which many may follow. */
bool ctl_takes_pairs(const struct ctl_key *);
/* "a, b, c" of words that end with null. */
void ctl_join_words(const char *const *words, char *out, size_t size);

/* Whether some verb has a key of that name, up to '=' if there is one. */
bool ctl_is_key(const char *word);

/* --- ctl_table.c -----------------------------------------------------------
 */

/* Rows of cells, printed when complete: aligned for people (width of the
 * terminal does not matter), or tab-separated. */
struct ctl_table;
/* Titles are separated by '|'; one that begins with '>' is a number. */
struct ctl_table *ctl_table_create(const struct ctl *, const char *titles);
void ctl_table_text(struct ctl_table *, const char *text);
void ctl_table_printf(struct ctl_table *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* A quantity: "64K" for people, 65536 in TSV. */
void ctl_table_qty(struct ctl_table *, int64_t v, enum rpc_unit);
/* A time that was measured; exact, as 15.541326ms. */
void ctl_table_span(struct ctl_table *, int64_t ns);
/* Prints what is in it and destroys it; `empty` is said when there are no
 * rows (not in TSV). */
void ctl_table_print(struct ctl_table *, const char *empty);
/* Text with what a terminal could take for a command made harmless. */
void ctl_put_clean(const char *text, FILE *);

/* --- ctl_watermark.c --------------------------------------------------------
 */

/* The answer of buffer.watermark. */
void ctl_show_watermark(struct ctl *, struct json_object *result);

/* --- ctl_json.c ------------------------------------------------------------
 */

/* Prints JSON: indented, or on one line for streams. */
void ctl_print_json(struct json_object *, bool one_line);
/* Members of results; defaults when absent: a daemon of another version must
 * not crash us. */
struct json_object *ctl_get(struct json_object *, const char *name);
int64_t ctl_int(struct json_object *, const char *name);
const char *ctl_text(struct json_object *, const char *name);
bool ctl_bool(struct json_object *, const char *name);
/* "alpha" of an object: "-1", or "none". */
const char *ctl_alpha(struct json_object *);
/* Element i of the array `name`. */
int64_t ctl_int_at(struct json_object *, const char *name, size_t i);
size_t ctl_len(struct json_object *array);
struct json_object *ctl_at(struct json_object *array, size_t i);
/* "3,4" of an array of numbers; "-" when empty. */
const char *ctl_join(struct json_object *array, char *out, size_t size);

#endif
