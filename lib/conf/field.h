/* SPDX-License-Identifier: Apache-2.0
 *
 * What a bridge, a port and their parts consist of, as tables: the name of a
 * member in JSON, where it lies in the model, its range and its default.
 * Decoding, encoding, validation, comparison, defaults and the JSON Schema
 * all read these tables, so that they cannot disagree.  Private to lib/conf;
 * control thread.
 */
#ifndef CONF_FIELD_H
#define CONF_FIELD_H

#include "conf/conf.h"

#include <stddef.h>

#define CONF_PATH_SIZE 160 /* as err.path */

enum field_kind {
    FIELD_UINT,  /* integer */
    FIELD_BOOL,  /* true, false */
    FIELD_ENUM,  /* one word out of `names` */
    FIELD_AUTO,  /* integer, or "auto" for CONF_HEADROOM_AUTO */
    FIELD_PRIOS, /* set of priorities: bit mask here, array of numbers there */
    FIELD_MAP,   /* array of `size` numbers 0..max */
    FIELD_REWRITE, /* the same, and CONF_KEEP here is -1 there */
    FIELD_VIDS,    /* struct conf_port's trunks */
    FIELD_MAC,     /* struct conf_port's mac */
    FIELD_TYPE,    /* struct conf_port's cls */
    FIELD_ALPHA,   /* exponent in an int8_t, or "none" for BUF_ALPHA_NONE */
    FIELD_LABEL,   /* name of a pool or profile; "none" for the empty one */
    FIELD_FILE,    /* absolute path; "none" for the empty one */
    FIELD_DPID,    /* 64 bits as 16 hexadecimal digits; "auto" for 0 */
};

struct field {
    const char *name;         /* member in JSON */
    enum field_kind kind;     /* how it is stored and written */
    uint8_t size;             /* octets of an integer, bool or enum: 1..8;
                                 elements of a map */
    uint16_t given;           /* CONF_MAP_ bit in struct conf_map; 0: none */
    bool zero_ok;             /* 0 is allowed beside min..max */
    bool profiled;            /* a profile has it in place of the element */
    size_t offset;            /* from the start of the struct that has it */
    uint64_t min, max;        /* range of an integer */
    uint64_t def;             /* default of an integer, bool or enum */
    const char *const *names; /* ENUM: words by value, null at the end */
    const char *what;         /* one line for the schema and for people */
};

/* What elements of a named section are known by, if not by a label. */
struct section_key {
    bool (*ok)(const char *name, const char **why); /* whether it may be */
    const char *allowed;                            /* what may be */
    const char *what;                               /* "target" */
};
extern const struct section_key conf_target_key; /* of a controller */

/* A member that is an object of its own. */
struct section {
    const char *name;           /* member in JSON */
    const char *one;            /* name of an element, "group"; null: single */
    const struct field *fields; /* its members */
    size_t n_fields;            /* how many */
    size_t offset;              /* of its struct in the struct that has it */
    size_t stride;              /* from one element to the next of eight keyed
                                   "0" to "7"; 0: a single object */
    const char *what;           /* one line for the schema */
    uint32_t max_named;         /* > 0: at most so many elements, keyed by the
                                   name that each begins with, in order */
    size_t n_offset;            /* of their number, a uint32_t */
    const struct section_key *key; /* null: a label, as pools have */
};

struct object {
    const struct field *fields;     /* plain members */
    size_t n_fields;                /* how many */
    const struct section *sections; /* members that are objects */
    size_t n_sections;              /* how many */
};

extern const struct object conf_port_object;   /* of struct conf_port */
extern const struct object conf_bridge_object; /* of struct conf_bridge;
                                             `ports` is not in it */

uint64_t field_get(const struct field *, const void *base);
void field_set(const struct field *, void *base, uint64_t v);
/* Gives the default; a map's member is left to the bridge again. */
void field_reset(const struct field *, void *base);
bool field_is_default(const struct field *, const void *base);
bool field_equal(const struct field *, const void *a, const void *b);
/* "0, or 1000 to 400000000000"; "pcp, port"; ... */
void field_allowed(const struct field *, char *text, size_t size);

/* How many elements the section has now. */
int section_n(const struct section *, const void *base);
/* The element of a named section by its name; -1 when there is none. */
int section_find(const struct section *, const void *base, const char *name);
/* Puts one with defaults in its place; there must be room.  Its index. */
int section_add(const struct section *, void *base, const char *name);
void section_del(const struct section *, void *base, int i);
/* By the name of the member; it is there. */
const struct section *object_section(const struct object *, const char *name);
/* Whether a pool or profile may have that name; `why` says why not. */
bool conf_label_ok(const char *name, const char **why);
#define CONF_LABEL_ALLOWED                                                 \
    "1 to 31 printable ASCII characters, no space or /, not - first, not " \
    "none"

void section_reset(const struct section *, void *base);
/* All members of one element have their defaults. */
bool section_is_default(const struct section *, const void *elem);
/* The struct of the section's (i-th) element. */
void *section_elem(const struct section *, void *base, int i);
const void *section_elem_const(const struct section *, const void *base,
                               int i);
void object_reset(const struct object *, void *base);
bool object_equal(const struct object *, const void *a, const void *b);

/* Where something is, for errors: its JSON pointer, and in words.  A section
 * is known by its place in another one, and spelled only when something in it
 * is wrong: validation passes thousands. */
struct place {
    char path[CONF_PATH_SIZE];     /* "/bridges/br0/ports/eth1" */
    char subject[80];              /* "port eth1" */
    const struct place *in;        /* section: where it is; else null */
    const struct section *section; /* which one */
    int index;                     /* of its element */
    const char *key;               /* named section: the element's name */
    struct err *err;               /* filled on error; may be null */
};

void place_port(struct place *, const struct conf_bridge *,
                const struct conf_port *, struct err *);
void place_bridge(struct place *, const struct conf_bridge *, struct err *);
/* The section's (i-th) element within `in`, which must live as long. */
void place_section(struct place *, const struct place *in,
                   const struct section *, int i);
/* The element of a named section that has that name. */
void place_named(struct place *, const struct place *in,
                 const struct section *, const char *name);
/* The same place with path and subject spelled. */
struct place place_spell(const struct place *);
/* EINVAL for a member: "SUBJECT: MEMBER VALUE COMPLAINT: allowed ALLOWED". */
int place_refuse(const struct place *, const char *member, const char *value,
                 const char *allowed, const char *complaint);
/* The same of a JSON value. */
int place_refuse_json(const struct place *, const char *member,
                      struct json_object *, const char *allowed,
                      const char *complaint);

/* Whether an integer is in the range of its field. */
bool field_in_range(const struct field *, uint64_t v);
int field_refuse_range(const struct field *, const struct place *,
                       const char *value);

/* Sets a member from its JSON value; null resets it.  EINVAL for another type
 * or an integer out of range. */
int field_read(const struct field *, void *base, struct json_object *,
               const struct place *);

/* Appends one step to a JSON pointer, escaped; what does not fit is cut. */
void conf_path_join(char out[CONF_PATH_SIZE], const char *base,
                    const char *step);

/* The member or word nearest to `word` among n of them, for "did you mean";
 * null when none is near. */
const char *conf_suggest(const char *word, const char *const *among, size_t n);

/* Aborts when memory is short: see conf.h. */
void *conf_alloc(size_t n, size_t size) __attribute__((malloc));

/* Copies text from outside for an error: shortened with "..." where it does
 * not fit, and what is not printable ASCII as '?', so that a cut leaves no
 * half character. */
const char *conf_plain_text(const char *from, char *text, size_t size);
/* The same of a JSON value; null gives "null". */
const char *conf_json_text(struct json_object *, char *text, size_t size);
/* The `value` of an error: a string without the quotes that it has in the
 * message. */
void conf_set_value(struct err *, struct json_object *);

/* What the ports of a bridge ask of its memory. */
struct conf_need {
    uint64_t reserved_bytes; /* sum over all groups */
    uint64_t headroom_bytes; /* sum over lossless groups */
    uint64_t largest_bytes;  /* of the headrooms */
    uint64_t pools_bytes;    /* pools that have a size */
    uint32_t n_groups;       /* groups that some priority maps to */
};

static inline void
conf_need_headroom(struct conf_need *need, uint64_t bytes)
{
    need->headroom_bytes += bytes;
    if (bytes > need->largest_bytes)
        need->largest_bytes = bytes;
}

/* Accounts for for groups that share their headroom: makes
 * need->headroom_bytes what the memory must hold.  Returns the size of the
 * shared pool; 0: there is none. */
uint64_t conf_share_headroom(const struct conf_bridge *, struct conf_need *);

/* Whether a named section can have one of that name more. */
int conf_check_named(const struct section *, const void *base,
                     const char *name, const struct place *in);
/* Pools that are new take places that are free in the datapath; those of `old`
 * (may be null) keep theirs. */
void conf_settle_pools(struct conf_bridge *, const struct conf_bridge *old);

/* ofport.c: a slot that no port of the bridge has, or CONF_NO_SLOT; and the
 * lowest OpenFlow number that none has. */
uint16_t conf_free_slot(const struct conf_bridge *);
uint32_t conf_free_ofport(const struct conf_bridge *);
/* No two ports of the bridge have one number. */
int conf_check_ofports(const struct conf_bridge *, struct err *);

/* pool.c: what groups, queues, profiles and pools demand of each other. */
int conf_check_pools(const struct conf_bridge *, const struct place *);
int conf_check_thresholds(const struct conf_bridge *,
                          const struct conf_group *, const struct place *);
/* A profile that is named exists, and nothing else is given beside it. */
int conf_check_uses(const struct conf_bridge *, const struct conf_port *,
                    const struct place *);

/* control.c: what targets and the files of "ssl" demand of each other. */
int conf_check_control(const struct conf_bridge *, const struct place *);

/* Groups of a port that some priority maps to. */
uint32_t conf_n_groups(const struct conf_bridge *, const struct conf_port *);
/* Bytes of memory that it comes to; those of what is certain, of b. */
uint64_t conf_need_bytes(const struct conf_bridge *, const struct conf_need *);
uint64_t conf_needed_bytes(const struct conf_bridge *);
/* ENOSPC, with the numbers, when it does not fit. */
int conf_check_memory(const struct conf_bridge *, const struct conf_need *,
                      struct err *);

/* Whether a name may be an interface's; `text` says why not. */
bool conf_name_ok(const char *name, const char **why);

/* A port to JSON: all groups and queues when `full`, else those that differ
 * from their defaults. */
struct json_object *conf_port_json(const struct conf_port *, bool full);
/* A bridge without its ports. */
struct json_object *conf_bridge_json(const struct conf_bridge *);

#endif
