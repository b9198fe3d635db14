/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups and meters in the text syntax: see text.h.
 */
#include "ofp/text_lex.h"

#include <errno.h>
#include <string.h>

static const char *const type_names[] = {"all", "select", "indirect",
                                         "fast_failover"};

static int
no_extension(const struct text *t, const char *key)
{
    return text_fail(t, key, "group_id, type, bucket",
                     "\"%s\" is an extension of Open vSwitch or a word of "
                     "OpenFlow 1.5 that Sluice does not have",
                     key);
}

/* --- buckets ------------------------------------------------------------- */

static int
read_watch_port(const struct text *t, const char *value, uint32_t *port)
{
    if (ofp_text_port(value, t->names, port))
        return 0;
    return text_fail(t, value, "a port's number or name",
                     "watch_port: there is no port \"%s\"", value);
}

/* What stands before the actions of a bucket; *s is then at them. */
static int
read_bucket_head(const struct text *t, char **s, struct ofp_bucket *b)
{
    for (;;) {
        char *before = *s + strspn(*s, ", \t\r\n"), *value;
        size_t n = strcspn(before, ":=(, \t");
        uint64_t v = 0;
        int rc = 0;
        struct text_pair p;

        *s = before;
        if (strncmp(before, "action", 6) == 0 && (n == 6 || n == 7) &&
            (before[n] == '=' || before[n] == ':')) {
            *s = before + n + 1;
            return 0;
        }
        value = strndupa(before, n < 32 ? n : 32);
        if (strcmp(value, "weight") && strcmp(value, "watch_port") &&
            strcmp(value, "watch_group") && strcmp(value, "bucket_id"))
            return 0; /* actions without their word */
        text_next(s, &p);
        if (strcmp(p.key, "watch_port") == 0) {
            rc = read_watch_port(t, p.value, &b->watch_port);
        } else {
            bool is_weight = strcmp(p.key, "weight") == 0;

            rc = text_number(t, p.key, p.value,
                             is_weight ? 0xffff : UINT32_MAX, &v);
            if (!rc && is_weight)
                b->weight = (uint16_t) v;
            else if (!rc && strcmp(p.key, "watch_group") == 0)
                b->watch_group = (uint32_t) v;
        }
        if (rc)
            return rc;
    }
}

static int
read_bucket(const struct text *t, char *s, struct ofp_group *g)
{
    struct ofp_bucket *b = &g->bucket[g->n_buckets++];
    int rc;

    b->weight = g->type == OFPGT_SELECT;
    b->watch_port = OFPP_ANY;
    b->watch_group = OFPG_ANY;
    rc = read_bucket_head(t, &s, b);
    return rc ? rc : text_actions(t, s, &b->actions);
}

/* The next ",bucket=" of s, which is cut there; null: none. */
static char *
next_bucket(char *s)
{
    for (char *at = s; (at = strstr(at, "bucket")); at += 6)
        if ((at == s || strchr(", \t", at[-1])) &&
            (at[6] == '=' || at[6] == ':')) {
            *at = '\0';
            return at + 7;
        }
    return NULL;
}

static int
read_buckets(const struct text *t, char *first, struct ofp_group *g)
{
    char *next;
    size_t n = 0, room = 1;
    int rc = 0;

    for (char *c = first; (c = strstr(c, "bucket")); c++)
        room++;
    if (room > OFP_MAX_BUCKETS)
        return text_fail(t, NULL, "1024 buckets",
                         "more than %d buckets in a group", OFP_MAX_BUCKETS);
    g->bucket = ofp_arena_get(t->arena, room * sizeof(*g->bucket));
    if (!g->bucket)
        return text_fail(t, NULL, NULL, "the buckets need too much memory");
    for (char *at = first; at && !rc; at = next, n++) {
        next = next_bucket(at);
        rc = read_bucket(t, at, g);
    }
    return rc;
}

/* --- groups -------------------------------------------------------------- */

static int
read_type(const struct text *t, const char *value, struct ofp_group *g)
{
    if (strcmp(value, "ff") == 0)
        value = type_names[OFPGT_FF];
    for (int i = 0; i < 4; i++)
        if (strcmp(value, type_names[i]) == 0) {
            g->type = (enum ofp_group_type) i;
            return 0;
        }
    return text_fail(t, value, "all, select, indirect, ff",
                     "type: \"%s\" is not all, select, indirect or ff", value);
}

static int
read_group_pair(const struct text *t, const struct text_pair *p,
                bool is_delete, struct ofp_group *g, bool *has_id,
                bool *has_type)
{
    uint64_t id;
    int rc;

    if (is_delete &&
        ((strcmp(p->key, "all") == 0 && !p->delimiter) ||
         (strcmp(p->key, "group_id") == 0 && strcmp(p->value, "all") == 0))) {
        g->id = OFPG_ALL;
        *has_id = true;
        return 0;
    }
    if (strcmp(p->key, "group_id") == 0) {
        rc = text_number(t, p->key, p->value, OFPG_MAX, &id);
        g->id = (uint32_t) id;
        *has_id = true;
        return rc;
    }
    if (strcmp(p->key, "type") == 0 && !is_delete) {
        *has_type = true;
        return read_type(t, p->value, g);
    }
    if (strcmp(p->key, "selection_method") == 0 ||
        strcmp(p->key, "selection_method_param") == 0 ||
        strcmp(p->key, "fields") == 0 ||
        strcmp(p->key, "command_bucket_id") == 0)
        return no_extension(t, p->key);
    return text_fail(t, p->key,
                     is_delete ? "group_id" : "group_id, type, bucket",
                     "\"%s\" is no word of a group", p->key);
}

static int
check_group_size(const struct text *t, const struct ofp_group *g)
{
    struct ofp_buf b = {0};
    size_t n;

    ofp_put_group_desc(&b, g);
    n = b.n;
    ofp_buf_free(&b);
    if (n <= OFP_TEXT_MAX - 1024)
        return 0;
    return text_fail(t, NULL, NULL,
                     "the group takes %zu octets on the wire, %d are allowed",
                     n, OFP_TEXT_MAX - 1024);
}

int
ofp_text_group(const char *line, enum ofp_group_command command,
               const struct ofp_names *names, struct ofp_arena *arena,
               struct ofp_group_mod *out, struct err *err)
{
    struct text t = {.names = names, .arena = arena, .err = err};
    struct ofp_group_mod g = {.command = command};
    bool has_id = false, has_type = false, is_delete = command == OFPGC_DELETE;
    char *s = text_copy(&t, line), *buckets = NULL;
    struct text_pair p;
    int rc = s ? 0 : EINVAL;

    if (!rc)
        buckets = next_bucket(s);
    while (!rc && text_next(&s, &p))
        rc = read_group_pair(&t, &p, is_delete, &g.group, &has_id, &has_type);
    if (!rc && !has_id)
        rc = text_fail(&t, NULL, "group_id=N", "there is no group_id");
    if (!rc && !has_type && !is_delete)
        rc = text_fail(&t, NULL, "type=all, select, indirect or ff",
                       "there is no type");
    if (!rc && buckets && is_delete)
        rc = text_fail(&t, "bucket", "group_id", "deletions have no buckets");
    if (!rc && buckets)
        rc = read_buckets(&t, buckets, &g.group);
    if (!rc)
        rc = check_group_size(&t, &g.group);
    if (!rc)
        *out = g;
    return rc;
}

/* --- meters -------------------------------------------------------------- */

static int
read_band_pair(const struct text *t, struct ofp_meter *m,
               const struct text_pair *p)
{
    struct ofp_band *b = m->n_bands ? &m->band[m->n_bands - 1] : NULL;
    uint64_t v;
    int rc;

    if (strcmp(p->key, "type") == 0) {
        if (m->n_bands == OFP_MAX_BANDS)
            return text_fail(t, NULL, "16 bands", "more than %d bands",
                             OFP_MAX_BANDS);
        b = &m->band[m->n_bands++];
        *b = (struct ofp_band){.type = OFPMBT_DROP};
        if (strcmp(p->value, "dscp_remark") == 0)
            b->type = OFPMBT_DSCP_REMARK;
        else if (strcmp(p->value, "drop") != 0)
            return text_fail(t, p->value, "drop, dscp_remark",
                             "type: \"%s\" is not drop or dscp_remark",
                             p->value);
        return 0;
    }
    if (!b)
        return text_fail(t, p->key, "type=drop or dscp_remark",
                         "a band begins with its type, not with \"%s\"",
                         p->key);
    rc = text_number(t, p->key, p->value, UINT32_MAX, &v);
    if (rc)
        return rc;
    if (strcmp(p->key, "rate") == 0)
        b->rate = (uint32_t) v;
    else if (strcmp(p->key, "burst_size") == 0 || !strcmp(p->key, "burst"))
        b->burst = (uint32_t) v;
    else if (strcmp(p->key, "prec_level") == 0 && v <= 255)
        b->prec_level = (uint8_t) v;
    else
        return text_fail(t, p->key, "type, rate, burst_size, prec_level (255)",
                         "\"%s\" is no word of a band, or too much", p->key);
    return 0;
}

static bool
read_meter_flag(const struct text_pair *p, struct ofp_meter *m)
{
    static const char *const words[] = {"kbps", "pktps", "burst", "stats"};

    for (unsigned i = 0; i < 4; i++)
        if (strcmp(p->key, words[i]) == 0 && !p->delimiter) {
            m->flags |= (uint16_t) (1u << i);
            return true;
        }
    return false;
}

static int
read_meter_id(const struct text *t, const struct text_pair *p, bool is_delete,
              struct ofp_meter *m)
{
    uint64_t id;
    int rc;

    if (is_delete && (strcmp(p->value, "all") == 0 || !p->delimiter)) {
        m->id = OFPM_ALL;
        return 0;
    }
    if (strcmp(p->value, "controller") == 0) {
        m->id = OFPM_CONTROLLER;
        return 0;
    }
    if (strcmp(p->value, "slowpath") == 0) {
        m->id = OFPM_SLOWPATH;
        return 0;
    }
    rc = text_number(t, p->key, p->value, OFPM_MAX, &id);
    if (!rc)
        m->id = (uint32_t) id;
    if (!rc && id == 0)
        rc = text_fail(t, p->value, "1 and up", "meters count from 1");
    return rc;
}

static int
check_meter(const struct text *t, const struct ofp_meter *m)
{
    if (!(m->flags & (OFPMF_KBPS | OFPMF_PKTPS)) ||
        (m->flags & OFPMF_KBPS && m->flags & OFPMF_PKTPS))
        return text_fail(t, NULL, "kbps or pktps",
                         "a meter counts in one of kbps and pktps");
    if (m->n_bands == 0)
        return text_fail(t, NULL, "bands=type=drop,rate=N",
                         "a meter needs a band");
    return 0;
}

int
ofp_text_meter(const char *line, enum ofp_meter_command command,
               struct ofp_meter_mod *out, struct err *err)
{
    struct ofp_arena arena = {0};
    struct text t = {.arena = &arena, .err = err};
    struct ofp_meter_mod m = {.command = command};
    bool is_delete = command == OFPMC_DELETE, bands = false;
    char *s = text_copy(&t, line);
    struct text_pair p;
    int rc = s ? 0 : EINVAL;

    while (!rc && text_next(&s, &p)) {
        if (strcmp(p.key, "meter") == 0 || strcmp(p.key, "meter_id") == 0 ||
            (is_delete && strcmp(p.key, "all") == 0)) {
            rc = read_meter_id(&t, &p, is_delete, &m.meter);
        } else if (is_delete) {
            rc = text_fail(&t, p.key, "meter=N",
                           "deletions have a meter alone, not \"%s\"", p.key);
        } else if (strncmp(p.key, "band", 4) == 0 && p.delimiter) {
            /* bands=type=drop: the value is the first pair. */
            char *value = p.value;

            bands = true;
            rc = text_next(&value, &p) ? read_band_pair(&t, &m.meter, &p) : 0;
        } else if (bands) {
            rc = read_band_pair(&t, &m.meter, &p);
        } else if (!read_meter_flag(&p, &m.meter)) {
            rc =
                text_fail(&t, p.key, "meter, kbps, pktps, burst, stats, bands",
                          "\"%s\" is no word of a meter", p.key);
        }
    }
    if (!rc && m.meter.id == 0)
        rc = text_fail(&t, NULL, "meter=N", "there is no meter=N");
    if (!rc && !is_delete)
        rc = check_meter(&t, &m.meter);
    if (!rc)
        *out = m;
    ofp_arena_free(&arena);
    return rc;
}
