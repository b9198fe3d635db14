/* SPDX-License-Identifier: Apache-2.0
 *
 * What the methods on flows, groups and meters share: lines in the syntax of
 * ovs-ofctl become modifications of the books, all of a request at once.
 * Control thread.
 */
#ifndef VSWITCHD_FLOW_TEXT_H
#define VSWITCHD_FLOW_TEXT_H

#include "daemon.h"
#include "ofbridge.h"
#include "ofp/text.h"

#include <json-c/json.h>

#define FLOW_MAX_LINES 250000 /* of one transaction */

/* A bridge and the names of its ports. */
struct flow_place {
    struct daemon *daemon;  /* all of it */
    struct bridge *bridge;  /* that runs */
    struct ofbridge *of;    /* its OpenFlow side */
    struct ofproto *books;  /* of that */
    struct ofp_names names; /* of ports, in its books */
    const char *member;     /* of params, that has the lines */
};
/* By params.bridge; ENOENT. */
int flow_place_find(struct daemon *, const char *bridge, const char *member,
                    struct flow_place *, struct err *);

/* Modifications to be made, with the memory that they point to. */
struct flow_batch {
    struct ofproto_mod *mod;  /* in order */
    uint32_t *line;           /* of each: index into the request's lines */
    size_t n;                 /* how many */
    size_t room;              /* of both arrays */
    struct ofp_arena *arenas; /* memory of the modifications */
    size_t n_arenas;          /* how many */
};
void flow_batch_free(struct flow_batch *);
/* The next modification: of a type, zeroed, with memory for what it says. */
struct ofproto_mod *flow_batch_add(struct flow_batch *, enum ofproto_mod_type,
                                   uint32_t line);
/* Memory for lists of what is added now. */
struct ofp_arena *flow_batch_arena(struct flow_batch *);

/* What a line of text adds to a batch. */
typedef int flow_read_fn(const struct flow_place *, const char *line,
                         uint32_t index, void *arg, struct flow_batch *,
                         struct err *);
/* Calls fn for the lines of params (those staged under params.transaction
 * first, then the array at->member).  Errors have the path of the line. */
int flow_each_line(const struct flow_place *at, struct json_object *params,
                   flow_read_fn *, void *arg, struct flow_batch *,
                   struct err *);

/* Applies a batch as one (atomic: no frame sees a part of it).  Errors have
 * the path of the line. */
int flow_batch_put(const struct flow_place *, struct flow_batch *, bool atomic,
                   struct err *);
/* The same, then stores what is to be stored, and waits (a bounded time) until
 * the datapath follows. */
int flow_batch_apply(const struct flow_place *, struct flow_batch *,
                     bool atomic, struct err *);

/* One of the books, as ovs-ofctl shows it, without counts. */
void flow_stats_of(const struct ofproto_flow_info *, struct ofp_flow_stats *);
/* Text of a buffer as a member. */
void flow_add_text(struct json_object *, const char *key, struct ofp_buf *);

/* Lines of a transaction that come in several requests. */
int flow_stage(struct json_object *params, uint64_t now_ns, size_t *n,
               struct err *);
/* Those staged under a name, taken out; null: none. */
struct json_object *flow_staged_take(const char *name);

#endif
