/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON-RPC 2.0: framing over a byte stream, dispatch through tables, and the
 * client.  No sockets and no event loop in here: bytes in, bytes out; the
 * daemon brings the transport (vswitchd/rpc_server.c), programs use the
 * blocking client.  Control thread.
 *
 * The tables (struct rpc_method) are the one truth of the interface: they
 * validate parameters, answer rpc.discover, make docs/rpc.md and drive
 * `sluicectl rpc`.
 */
#ifndef RPC_RPC_H
#define RPC_RPC_H

#include "base/err.h"

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RPC_MAX_REQUEST    1048576 /* octets of one JSON text */
#define RPC_MAX_DEPTH      32      /* nesting of one JSON text */
#define RPC_MAX_BATCH      1024    /* requests in a batch */
#define RPC_MAX_CONTAINERS 16384   /* arrays and objects in one JSON text */
#define RPC_MAX_VALUES     131072  /* values in one JSON text */
#define RPC_MAX_ANSWER     3145728 /* octets of the answer to one request */
#define RPC_MAX_WAITING    4194304 /* octets that wait until a client reads */

/* What a text may be that is let be long (rpc_stream_let_long()): a whole
 * configuration is one text. */
#define RPC_LONG_REQUEST    16777216 /* octets */
#define RPC_LONG_CONTAINERS 131072   /* arrays and objects */
#define RPC_LONG_VALUES     1048576  /* values */

#define RPC_TITLE "Sluice" /* of the OpenRPC document */

/* Where the daemon listens unless told otherwise. */
#define RPC_DEFAULT_SOCKET SLUICE_RUNDIR "/sluiced.sock"

enum rpc_code {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_METHOD_NOT_FOUND = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_INTERNAL_ERROR = -32603,
    /* Ours; `data` is {"path", "value", "allowed"}. */
    RPC_REFUSED = -32000,   /* a value that cannot be: EINVAL, ERANGE */
    RPC_NOT_FOUND = -32001, /* no such port, bridge, ...: ENOENT */
    RPC_EXISTS = -32002,    /* EEXIST */
    RPC_BUSY = -32003,      /* EBUSY, EAGAIN */
    RPC_NO_ROOM = -32004,   /* ENOSPC, ENOMEM */
    RPC_SYSTEM = -32005,    /* the system refused: EIO, EPERM, ENODEV ... */
};

/* From err.code (errno) to the code above. */
enum rpc_code rpc_code_of(const struct err *);

enum rpc_type {
    RPC_T_BOOL,
    RPC_T_INT,    /* min..max; also accepted as text with K M G us ms where
                     the unit says so (the handler always sees the number);
                     `choices` when not null: these words too ("auto") */
    RPC_T_STRING, /* min..max octets (max 0: any number), no NUL in it;
                     `choices` when not null */
    RPC_T_ARRAY,  /* min..max elements of `items`' type and range */
    RPC_T_OBJECT, /* members are the method's own business */
    RPC_T_ANY,
};

enum rpc_unit {
    RPC_U_NONE,
    RPC_U_BYTES,
    RPC_U_BPS,
    RPC_U_NS,
    RPC_U_S,
    RPC_U_MS
};

struct rpc_param {
    const char *name;              /* member of params, snake_case */
    enum rpc_type type;            /* what it is */
    bool required;                 /* may not be absent */
    int64_t min, max;              /* INT: range; STRING, ARRAY: length */
    enum rpc_unit unit;            /* INT: what it counts */
    const char *const *choices;    /* STRING, INT: null-terminated words */
    const struct rpc_param *items; /* ARRAY: of what */
    const char *doc;               /* one sentence */
};

/* Who asks: made by the transport, opaque here. */
struct rpc_client;

/* Handles one call whose params were validated against the table (an object,
 * never null; positional params were given their names).  Returns 0 and a new
 * *result, or an errno with *err filled in. */
typedef int rpc_handler(void *ctx, struct rpc_client *client,
                        struct json_object *params,
                        struct json_object **result, struct err *err);

struct rpc_method {
    const char *name;               /* "noun.verb" */
    const char *doc;                /* what it does, full sentences */
    const struct rpc_param *params; /* required ones first; ends with name
                                       null; may be null */
    const char *result;             /* what it answers, in words */
    const char *example;            /* params of an example, JSON text */
    bool changes;                   /* it edits the configuration */
    rpc_handler *handler;           /* null in programs that only know the
                                       tables */
};

/* --- server side ------------------------------------------------------ */

/* A set of tables; borrowed. */
struct rpc_registry;
/* It has rpc.discover from the start. */
struct rpc_registry *rpc_registry_create(void);
void rpc_registry_destroy(struct rpc_registry *);
/* `methods` ends with name null.  ctx goes to its handlers. */
void rpc_registry_add(struct rpc_registry *, const struct rpc_method *methods,
                      void *ctx);
const struct rpc_method *rpc_registry_find(const struct rpc_registry *,
                                           const char *name);
/* The OpenRPC 1.2.6 document (also what rpc.discover answers: that method is
 * built in). */
struct json_object *rpc_registry_openrpc(const struct rpc_registry *,
                                         const char *title,
                                         const char *version);
/* All methods, in name order; returns how many; up to max are filled in. */
size_t rpc_registry_list(const struct rpc_registry *,
                         const struct rpc_method **, size_t max);

/* Texts that these three return are newly allocated (free()) and end with a
 * newline. */

/* A JSON text (request, notification or batch) in execution, a request at a
 * time: others have their turn between two of a batch, and its answer goes out
 * in pieces, so that nobody needs room for all of it.  Takes text over. */
struct rpc_run;
struct rpc_run *rpc_run_begin(struct rpc_registry *, struct json_object *text);
/* Executes the next request.  *out is the next piece of the answer, or null.
 * False: that was the last. */
bool rpc_run_step(struct rpc_run *, struct rpc_client *, char **out);
void rpc_run_end(struct rpc_run *);
/* The same at one go, for tests: the requests of a batch are taken out of it.
 * The answer, or null when none is due. */
char *rpc_execute(struct rpc_registry *, struct rpc_client *,
                  struct json_object *request);
/* The answer to text that is no JSON / too long / too deep (message: of
 * rpc_stream_reason()). */
char *rpc_error_text(enum rpc_code, const char *message);
/* A notification, e.g. of an event; params stay the caller's. */
char *rpc_notification(const char *method, struct json_object *params);

/* --- framing: JSON texts out of a byte stream ------------------------- */

struct rpc_stream; /* incremental, bounded by RPC_MAX_REQUEST and _DEPTH */
struct rpc_stream *rpc_stream_create(void);
void rpc_stream_destroy(struct rpc_stream *);
/* With bounds of one's own, e.g. for answers. */
struct rpc_limits {
    size_t octets;       /* of one text */
    unsigned depth;      /* of nesting */
    unsigned containers; /* arrays and objects in it; 0: any number */
    unsigned values;     /* all values in it; 0: any number */
};
struct rpc_stream *rpc_stream_create_limited(const struct rpc_limits *);
/* A text that is more than the bounds of a request may be up to RPC_LONG_* if
 * may(ctx) says so.  It is asked once for each, when the text gets there. */
void rpc_stream_let_long(struct rpc_stream *, bool (*may)(void *ctx),
                         void *ctx);
/* Why rpc_stream_feed() failed: words for people. */
const char *rpc_stream_reason(const struct rpc_stream *);
/* No text has begun: the end of the stream here cuts nothing in two. */
bool rpc_stream_is_idle(const struct rpc_stream *);

enum rpc_feed {
    RPC_FEED_MORE,    /* all octets eaten, no complete text yet */
    RPC_FEED_TEXT,    /* *text is complete (the caller puts it; null when the
                         text was `null`) */
    RPC_FEED_REFUSED, /* a text is complete, and JSON, but not what we take
                         (a string with \u0000, an integer beyond 64 bits, a
                         member twice): *code and the reason say so; the
                         stream goes on */
    RPC_FEED_ERROR,   /* garbage: *code says which; the stream is unusable, the
                         connection is answered with rpc_error_text and
                         closed */
};
/* Eats up to n octets, *used of them; call again with the rest (also when
 * *used is 0: a number ends where the next text begins). */
enum rpc_feed rpc_stream_feed(struct rpc_stream *, const char *data, size_t n,
                              size_t *used, struct json_object **text,
                              enum rpc_code *code);

/* The end of the stream: a number or word that has not ended does so now
 * (TEXT or REFUSED), half a text is an ERROR; MORE: all was complete. */
enum rpc_feed rpc_stream_end(struct rpc_stream *, struct json_object **text,
                             enum rpc_code *code);

/* --- client ----------------------------------------------------------- */

struct rpc_conn; /* blocking */
/* where: a path of a Unix socket, or "tcp:127.0.0.1:PORT". */
int rpc_connect(const char *where, int timeout_ms, struct rpc_conn **,
                struct err *);
void rpc_close(struct rpc_conn *);
/* One call.  0 and *result; or EREMOTEIO and *error, the error object; or
 * another errno with *err.  params may be null; is put. */
int rpc_call(struct rpc_conn *, const char *method, struct json_object *params,
             struct json_object **result, struct json_object **error,
             struct err *);
/* Waits for the next notification; ETIMEDOUT after timeout_ms (-1: never). */
int rpc_next_notification(struct rpc_conn *, int timeout_ms,
                          struct json_object **, struct err *);
int rpc_conn_fd(const struct rpc_conn *);

/* --- values as people write them -------------------------------------- */

/* "64K" "1M" (1024-based bytes), "200M" "10G" (1000-based bit/s), "500us"
 * "10ms" "2s" (to ns; bare number: ns), seconds.  EINVAL with what is
 * allowed. */
int rpc_parse_quantity(const char *text, enum rpc_unit, int64_t *out,
                       struct err *);
/* The way back, short and exact: 65536 -> "64K", 200000000 -> "200M". */
char *rpc_format_quantity(int64_t v, enum rpc_unit, char *out, size_t size);

/* The word of a null-terminated list that somebody who wrote `word` may have
 * meant; null when none is near. */
const char *rpc_suggest(const char *word, const char *const *known);

#endif
