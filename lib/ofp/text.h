/* SPDX-License-Identifier: Apache-2.0
 *
 * Flows, groups and meters as people write them: the syntax of ovs-ofctl(8),
 * both ways.  What Sluice does not have is refused by its name.  Errors carry
 * the word (`value`), what is allowed instead, and a sentence; who reads a
 * file adds the number of the line.  Any thread.
 */
#ifndef OFP_TEXT_H
#define OFP_TEXT_H

#include "base/err.h"
#include "ofp/arena.h"
#include "ofp/buf.h"
#include "ofp/reply.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OFP_TEXT_MAX 65536 /* octets of a line */

/* Names of ports.  Null functions: numbers only. */
struct ofp_names {
    bool (*number)(void *arg, const char *name, uint32_t *port);
    const char *(*name)(void *arg, uint32_t port); /* null: it has none */
    void *arg;                                     /* for both */
};

/* --- reading ------------------------------------------------------------- */

/* A flow for `command`: deletions have no actions, and may have out_port and
 * out_group; priority needs an addition or a strict command.  What
 * dump-flows shows besides (duration, n_packets, ...) is passed over.  Lists
 * go to the arena.  With OFPTT_ALL where no table is named in a deletion.
 * version of the result is OFP_V13. */
int ofp_text_flow(const char *line, enum ofp_flow_command,
                  const struct ofp_names *, struct ofp_arena *,
                  struct ofp_flow_mod *, struct err *);

/* Only a match, and in_port of it or what is there already. */
int ofp_text_match(const char *text, const struct ofp_names *,
                   struct ofp_match *, struct err *);

/* Only actions, for packet-outs: TABLE is a port of theirs. */
int ofp_text_actions(const char *text, const struct ofp_names *,
                     struct ofp_arena *, struct ofp_actions *, struct err *);

/* A group; deletions want group_id (or "all") alone. */
int ofp_text_group(const char *line, enum ofp_group_command,
                   const struct ofp_names *, struct ofp_arena *,
                   struct ofp_group_mod *, struct err *);

/* A meter; deletions want meter (or "all") alone. */
int ofp_text_meter(const char *line, enum ofp_meter_command,
                   struct ofp_meter_mod *, struct err *);

/* A port by number, by its reserved name in either case, or by its own. */
bool ofp_text_port(const char *word, const struct ofp_names *, uint32_t *);

/* Lines of a file, without comments (#), blank ones, and the headers that
 * dump-flows and its like print. */
struct ofp_lines {
    const char *rest;        /* of the file; set this to all of it */
    unsigned number;         /* of the line, from 1 */
    char line[OFP_TEXT_MAX]; /* it */
    bool too_long;           /* a line did not fit: the end */
};
/* False: there are no more, or one is too long. */
bool ofp_lines_next(struct ofp_lines *);

/* Takes the first word off a line of a file of add-flows when it is "add",
 * "modify", "modify_strict", "delete" or "delete_strict"; returns the rest. */
const char *ofp_text_command(const char *line, enum ofp_flow_command *);

/* --- writing ------------------------------------------------------------- */

/* Appends text, without a NUL. */
void ofp_text_printf(struct ofp_buf *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "priority=1,tcp,in_port=2" without priority when it is the default. */
void ofp_text_put_match(struct ofp_buf *, const struct ofp_match *,
                        uint16_t priority, const struct ofp_names *);
/* "output:1,dec_ttl" or "drop". */
void ofp_text_put_actions(struct ofp_buf *, const struct ofp_actions *,
                          const struct ofp_names *);
void ofp_text_put_instructions(struct ofp_buf *,
                               const struct ofp_instructions *,
                               const struct ofp_names *);
/* A line of dump-flows, without its end.  with_stats: duration and counts. */
void ofp_text_put_flow(struct ofp_buf *, const struct ofp_flow_stats *,
                       bool with_stats, const struct ofp_names *);
/* Without the leading blank, nothing that changes by itself, as a flow file
 * has it: what it says is read back as the same flow. */
void ofp_text_put_flow_file(struct ofp_buf *, const struct ofp_flow_stats *,
                            const struct ofp_names *);
void ofp_text_put_group(struct ofp_buf *, const struct ofp_group *,
                        const struct ofp_names *);
void ofp_text_put_meter(struct ofp_buf *, const struct ofp_meter *);
/* "NORMAL", a number, or a name. */
void ofp_text_put_port(struct ofp_buf *, uint32_t port,
                       const struct ofp_names *);

#endif
