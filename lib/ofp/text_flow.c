/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of flow files in the text syntax: see text.h.
 */
#include "ofp/text_lex.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define DEFAULT_PRIORITY 0x8000

/* Words with which dump-flows says what a flow did; nobody can set them. */
static const char *const passed_over[] = {
    "duration", "n_packets",         "n_bytes",         "idle_age",
    "hard_age", "n_offload_packets", "n_offload_bytes",
};

static const struct {
    const char *name; /* as it is written */
    uint16_t flag;    /* OFPFF_* */
} flags[] = {
    {"send_flow_rem", 1},    {"check_overlap", 2},   {"reset_counts", 4},
    {"no_packet_counts", 8}, {"no_byte_counts", 16},
};

struct flow_text {
    struct text t;          /* what all carry along */
    struct text_match tm;   /* the match */
    struct ofp_flow_mod *f; /* the flow */
    bool has_table;         /* it was named */
    char *actions;          /* what follows "actions="; null: it is not
                               there */
};

static bool
is_delete(const struct ofp_flow_mod *f)
{
    return f->command == OFPFC_DELETE || f->command == OFPFC_DELETE_STRICT;
}

static int
read_number(struct flow_text *ft, const struct text_pair *p, uint64_t max,
            uint16_t *v)
{
    uint64_t number;
    int rc = text_number(&ft->t, p->key, p->value, max, &number);

    if (!rc)
        *v = (uint16_t) number;
    return rc;
}

static int
read_table(struct flow_text *ft, const struct text_pair *p)
{
    uint16_t v;
    int rc = read_number(ft, p, OFP_N_TABLES - 1, &v);

    if (!rc) {
        ft->f->table = (uint8_t) v;
        ft->has_table = true;
    }
    return rc;
}

static int
read_priority(struct flow_text *ft, const struct text_pair *p)
{
    if (ft->f->command == OFPFC_MODIFY || ft->f->command == OFPFC_DELETE)
        return text_fail(&ft->t, p->key, "--strict",
                         "priority is heeded by strict commands only");
    return read_number(ft, p, 0xffff, &ft->f->priority);
}

/* A number to be set, or with a mask one to look for. */
static int
read_cookie(struct flow_text *ft, const struct text_pair *p)
{
    struct ofp_flow_mod *f = ft->f;
    char *slash = strchr(p->value, '/');
    bool all = slash && strcmp(slash, "/-1") == 0;
    int rc;

    if (slash)
        *slash++ = '\0';
    if (slash && f->command == OFPFC_ADD)
        return text_fail(&ft->t, slash, "a number without a mask",
                         "cookie: a new flow has no mask");
    rc = text_number(&ft->t, p->key, p->value, UINT64_MAX, &f->cookie);
    if (rc)
        return rc;
    if (all || (!slash && is_delete(f)))
        f->cookie_mask = UINT64_MAX;
    else if (slash)
        rc = text_number(&ft->t, p->key, slash, UINT64_MAX, &f->cookie_mask);
    return rc;
}

static int
read_out(struct flow_text *ft, const struct text_pair *p)
{
    uint64_t group;
    int rc;

    if (!is_delete(ft->f))
        return text_fail(&ft->t, p->key, "deletions and dumps",
                         "%s is heeded by deletions and dumps only", p->key);
    if (strcmp(p->key, "out_port") == 0)
        return ofp_text_port(p->value, ft->t.names, &ft->f->out_port)
                   ? 0
                   : text_fail(&ft->t, p->value, "a port's number or name",
                               "out_port: there is no port \"%s\"", p->value);
    rc = text_number(&ft->t, p->key, p->value, UINT32_MAX, &group);
    if (!rc)
        ft->f->out_group = (uint32_t) group;
    return rc;
}

static int
read_unknown(struct flow_text *ft, const struct text_pair *p)
{
    const char *why = text_foreign_field(p->key);

    if (strcmp(p->key, "importance") == 0)
        why = "a word of OpenFlow 1.4, Sluice speaks 1.0 and 1.3";
    if (strcmp(p->key, "allow_hidden_fields") == 0)
        return 0;
    return text_fail(&ft->t, p->key,
                     "a match field (ovs-fields(7)), table, priority, cookie, "
                     "idle_timeout, hard_timeout, send_flow_rem, "
                     "check_overlap, reset_counts, no_packet_counts, "
                     "no_byte_counts, actions",
                     "\"%s\" is %s", p->key, why ? why : "no word of a flow");
}

/* A pair that is no match field. */
static int
read_attribute(struct flow_text *ft, const struct text_pair *p)
{
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (strcmp(p->key, flags[i].name) == 0) {
            ft->f->flags |= flags[i].flag;
            return 0;
        }
    for (size_t i = 0; i < sizeof(passed_over) / sizeof(passed_over[0]); i++)
        if (strcmp(p->key, passed_over[i]) == 0)
            return 0;
    if (strcmp(p->key, "table") == 0)
        return read_table(ft, p);
    if (strcmp(p->key, "priority") == 0)
        return read_priority(ft, p);
    if (strcmp(p->key, "cookie") == 0)
        return read_cookie(ft, p);
    if (strcmp(p->key, "idle_timeout") == 0)
        return read_number(ft, p, 0xffff, &ft->f->idle_s);
    if (strcmp(p->key, "hard_timeout") == 0)
        return read_number(ft, p, 0xffff, &ft->f->hard_s);
    if (strcmp(p->key, "out_port") == 0 || strcmp(p->key, "out_group") == 0)
        return read_out(ft, p);
    return read_unknown(ft, p);
}

/* Cuts "actions=..." off a line; it goes to the end. */
static char *
cut_actions(char *s)
{
    for (char *at = s; (at = strstr(at, "action")); at += 6) {
        char *value = at + 6;

        if (at > s && !strchr(", \t", at[-1]))
            continue;
        if (*value == 's')
            value++;
        if (*value != '=' && *value != ':')
            continue;
        *at = '\0';
        return value + 1;
    }
    return NULL;
}

/* What is sent and kept must fit a message, whatever form it takes. */
static int
check_size(struct flow_text *ft)
{
    struct ofp_buf b = {0};
    size_t n;

    ofp_instructions_encode(&b, OFP_V13, &ft->f->inst);
    n = b.n;
    ofp_buf_free(&b);
    if (n > 32768)
        return text_fail(&ft->t, NULL, "32768 octets",
                         "the actions take %zu octets on the wire, 32768 are "
                         "allowed",
                         n);
    return 0;
}

static int
read_actions(struct flow_text *ft)
{
    struct ofp_flow_mod *f = ft->f;
    struct ofp_error why;
    int rc;

    if (is_delete(f))
        return ft->actions ? text_fail(&ft->t, "actions", "no actions",
                                       "deletions and dumps have no actions")
                           : 0;
    if (!ft->actions)
        return text_fail(&ft->t, NULL, "actions=...",
                         "there are no actions: say actions=drop if there "
                         "shall be none");
    ft->t.match = &f->match;
    rc = text_instructions(&ft->t, ft->actions, &f->inst);
    if (rc)
        return rc;
    if (f->inst.has_goto && f->inst.table <= f->table)
        return text_fail(&ft->t, "goto_table", "a higher table",
                         "goto_table:%u from table %u: it must be higher",
                         f->inst.table, f->table);
    if (!ofp_instructions_fit(&f->inst, &f->match, &why))
        return text_fail(&ft->t, NULL, NULL, "%s", why.msg);
    return check_size(ft);
}

int
ofp_text_flow(const char *line, enum ofp_flow_command command,
              const struct ofp_names *names, struct ofp_arena *arena,
              struct ofp_flow_mod *out, struct err *err)
{
    struct ofp_flow_mod f = {.command = command,
                             .version = OFP_V13,
                             .priority = DEFAULT_PRIORITY,
                             .buffer_id = OFP_NO_BUFFER,
                             .out_port = OFPP_ANY,
                             .out_group = OFPG_ANY};
    struct flow_text ft = {.t = {.names = names, .arena = arena, .err = err},
                           .f = &f};
    struct text_pair p;
    char *s = text_copy(&ft.t, line);
    int rc = s ? 0 : EINVAL;

    if (!rc)
        ft.actions = cut_actions(s);
    while (!rc && text_next(&s, &p)) {
        bool is_match;

        rc = text_match_pair(&ft.t, &ft.tm, &p, &is_match);
        if (!rc && !is_match)
            rc = read_attribute(&ft, &p);
    }
    if (!rc)
        rc = text_match_end(&ft.t, &ft.tm);
    if (rc)
        return rc;
    f.match = ft.tm.m;
    if (!ft.has_table)
        f.table = is_delete(&f) ? OFPTT_ALL : 0;
    rc = read_actions(&ft);
    if (!rc)
        *out = f;
    return rc;
}

const char *
ofp_text_command(const char *line, enum ofp_flow_command *command)
{
    static const struct {
        const char *word;              /* at the start of a line */
        enum ofp_flow_command command; /* what it says */
    } words[] = {
        {"add", OFPFC_ADD},
        {"modify", OFPFC_MODIFY},
        {"modify_strict", OFPFC_MODIFY_STRICT},
        {"delete", OFPFC_DELETE},
        {"delete_strict", OFPFC_DELETE_STRICT},
    };
    size_t n = strcspn(line, " \t,=");

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (n == strlen(words[i].word) &&
            memcmp(line, words[i].word, n) == 0 && line[n] != '=') {
            *command = words[i].command;
            return line + n + strspn(line + n, " \t");
        }
    return line;
}

/* "NXST_FLOW reply (xid=0x4):" and its like. */
static bool
is_header(const char *line)
{
    return (strncmp(line, "OFPST", 5) == 0 || strncmp(line, "NXST", 4) == 0) &&
           strstr(line, " reply");
}

/* Takes the comment and the blanks around it off a line of n octets. */
static void
strip(char *line, size_t n)
{
    size_t lead;
    char *hash;

    line[n] = '\0';
    hash = strchr(line, '#');
    if (hash)
        *hash = '\0';
    n = strlen(line);
    while (n > 0 && isspace((unsigned char) line[n - 1]))
        line[--n] = '\0';
    lead = strspn(line, " \t\r\f\v");
    memmove(line, line + lead, n - lead + 1);
}

bool
ofp_lines_next(struct ofp_lines *l)
{
    while (l->rest && *l->rest) {
        size_t n = strcspn(l->rest, "\n");

        l->number++;
        if (n >= sizeof(l->line)) {
            l->too_long = true;
            return false;
        }
        memcpy(l->line, l->rest, n);
        l->rest += n + (l->rest[n] == '\n');
        strip(l->line, n);
        if (l->line[0] && !is_header(l->line))
            return true;
    }
    return false;
}
