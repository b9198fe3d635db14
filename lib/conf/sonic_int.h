/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the SONiC translation share: see sonic.h.  Private to
 * lib/conf; control thread.
 */
#ifndef CONF_SONIC_INT_H
#define CONF_SONIC_INT_H

#include "conf/field.h"
#include "conf/sonic.h"

#define SONIC_NAME_SIZE 64 /* of a port, map or profile, with its end */

/* A port of the bridge, as far as it was come across. */
struct sonic_port {
    const struct conf_port *cp; /* ours */
    struct json_object *edit;   /* of it; null: nothing yet */
    uint32_t weight[N_QUEUE];   /* as SONiC has them */
    uint8_t ets, strict;        /* bit q: which kind the queue is said to be */
    uint8_t pfc, wd;            /* bit p: pfc_enable and pfcwd_sw_enable */
    bool has_wd;                /* the latter was given */
    bool has_watchdog;          /* it is in PFC_WD */
};

struct sonic {
    struct json_object *db;      /* what is translated */
    struct json_object *names;   /* of ports, may be null */
    const struct conf_bridge *b; /* whom it is for */
    struct json_object *bridge;  /* edit of the bridge */
    struct json_object *notes;   /* what was not mapped */
    struct json_object *noted;   /* texts of them, so that each is there once
                                  */
    struct json_object *used;    /* "TABLE|name" of rows referred to */
    struct sonic_port *port;     /* as many as the bridge has */
    bool links;                  /* rates and cables are wanted too */
    struct err *err;             /* may be null */
};

/* A row of a table that is about (a queue or group of) a port.  index: -1 in
 * tables without one.  0, or an errno with err filled in. */
typedef int sonic_row_fn(struct sonic *, struct sonic_port *, int index,
                         const char *path, struct json_object *row);

/* --- sonic.c: reading -------------------------------------------------- */

/* The table; null: it is not there (or empty). */
struct json_object *sonic_table(const struct sonic *, const char *table);
/* Every table is an object of objects: EINVAL with the path if not. */
int sonic_check_tables(struct sonic *);
/* fn for each port (and index) that the keys of the table name. */
int sonic_each(struct sonic *, const char *table, bool indexed,
               sonic_row_fn *);
/* The port that a name of SONiC means; null: the bridge has none. */
struct sonic_port *sonic_find_port(struct sonic *, const char *name);
/* {"path", "why"}, once; the path is base, or base/member. */
void sonic_note(struct sonic *, const char *base, const char *member,
                const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* EINVAL: "config_db: PATH: VALUE COMPLAINT: allowed ALLOWED". */
int sonic_refuse(struct sonic *, const char *path, struct json_object *value,
                 const char *complaint, const char *allowed);
/* A number, as itself or as text. */
int sonic_number(struct sonic *, const char *base, const char *member,
                 struct json_object *v, int64_t min, int64_t max,
                 int64_t *out);
/* "3,4": a set of priorities. */
int sonic_prios(struct sonic *, const char *base, const char *member,
                struct json_object *v, uint8_t *mask);
/* A reference to a row of a table: "[TABLE|name]" or "name".  *row is the row;
 * ENOENT when there is none. */
int sonic_ref(struct sonic *, const char *base, const char *member,
              struct json_object *v, const char *table,
              char name[SONIC_NAME_SIZE], struct json_object **row);
/* The object `member` below o, made when it is not there. */
struct json_object *sonic_sub(struct json_object *o, const char *member);
/* "queues" or "groups", i, of a port's edit. */
struct json_object *sonic_elem(struct sonic_port *, const char *section,
                               int i);
struct json_object *sonic_port_edit(struct sonic_port *);
/* The text of a value; "" when it is none. */
const char *sonic_text(struct json_object *);

/* --- the tables -------------------------------------------------------- */

int sonic_maps(struct sonic *);     /* sonic_map.c */
int sonic_watchdog(struct sonic *); /* sonic_map.c */
int sonic_buffers(struct sonic *);  /* sonic_buffer.c */
int sonic_queues(struct sonic *);   /* sonic_queue.c */
int sonic_links(struct sonic *);    /* sonic_link.c */
bool sonic_is_link(const char *table);

#endif
