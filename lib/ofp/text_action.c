/* SPDX-License-Identifier: Apache-2.0
 *
 * Actions and instructions in the text syntax: see text.h and text_lex.h.
 */
#include "ofp/text_lex.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct act_text {
    const struct text *t;        /* what all carry along */
    struct ofp_instructions *in; /* null: only actions are allowed */
    struct ofp_actions *list;    /* where actions go */
    uint32_t room;               /* of list->a */
};

/* Those of Open vSwitch that are no OpenFlow 1.3, and not here. */
static const char *const foreign[] = {
    "resubmit",
    "learn",
    "multipath",
    "bundle",
    "bundle_load",
    "load",
    "move",
    "note",
    "sample",
    "fin_timeout",
    "ct",
    "ct_clear",
    "nat",
    "conjunction",
    "exit",
    "stack",
    "push",
    "pop",
    "clone",
    "check_pkt_larger",
    "encap",
    "decap",
    "debug_recirc",
    "debug_slow",
    "unroll_xlate",
    "dec_nsh_ttl",
    "delete_learned",
    "set_tunnel6",
    "reg_load",
    "delete_field",
};

static bool
is_foreign(const char *word)
{
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
        if (strcasecmp(word, foreign[i]) == 0)
            return true;
    return false;
}

/* One more at the end, null when there are too many. */
static struct ofp_action *
add(struct act_text *x, enum ofp_action_type type)
{
    struct ofp_actions *l = x->list;

    if (l->n == OFP_MAX_ACTIONS) {
        text_fail(x->t, NULL, "1024 actions", "more than %d actions in a list",
                  OFP_MAX_ACTIONS);
        return NULL;
    }
    if (l->n == x->room) {
        uint32_t room = x->room ? 2 * x->room : 8;
        struct ofp_action *a = ofp_arena_get(x->t->arena, room * sizeof(*a));

        if (!a) {
            text_fail(x->t, NULL, NULL, "the actions need too much memory");
            return NULL;
        }
        if (l->n)
            memcpy(a, l->a, l->n * sizeof(*a));
        l->a = a;
        x->room = room;
    }
    l->a[l->n] = (struct ofp_action){.type = type};
    return &l->a[l->n++];
}

static int
output(struct act_text *x, uint32_t port, uint16_t max_len)
{
    struct ofp_action *a;

    if (port == OFPP_ANY || port == 0)
        return text_fail(x->t, NULL, "a port", "nothing is sent to port %s",
                         port ? "ANY" : "0");
    if (port == OFPP_TABLE && !x->t->packet_out)
        return text_fail(x->t, "TABLE", "a port",
                         "only a packet-out may have output to TABLE");
    a = add(x, OFP_ACT_OUTPUT);
    if (!a)
        return EINVAL;
    a->output.port = port;
    a->output.max_len = max_len;
    return 0;
}

static int
bad_port(struct act_text *x, const char *word)
{
    return text_fail(x->t, word, "a port's number or name",
                     "there is no port \"%s\"", word);
}

static int
read_output(struct act_text *x, struct text_pair *p)
{
    uint32_t port;

    if (p->delimiter == '(' && strchr(p->value, '='))
        return text_fail(x->t, p->value, "output:PORT",
                         "output(%s): cutting frames short is an extension of "
                         "Open vSwitch that Sluice does not have",
                         p->value);
    if (!ofp_text_port(p->value, x->t->names, &port))
        return bad_port(x, p->value);
    return output(x, port, port == OFPP_CONTROLLER ? OFPCML_NO_BUFFER : 0);
}

/* controller, controller:LEN, controller(max_len=LEN,reason=action,id=0) */
static int
read_controller(struct act_text *x, struct text_pair *p)
{
    uint64_t len = OFPCML_NO_BUFFER, id;
    char *s = p->value;
    struct text_pair q;
    int rc = 0;

    if (p->delimiter == ':')
        rc = text_number(x->t, p->key, p->value, 0xffff, &len);
    while (!rc && p->delimiter == '(' && text_next(&s, &q)) {
        if (strcmp(q.key, "max_len") == 0)
            rc = text_number(x->t, q.key, q.value, 0xffff, &len);
        else if (strcmp(q.key, "reason") == 0 && !strcmp(q.value, "action"))
            continue;
        else if (strcmp(q.key, "id") == 0)
            rc = text_number(x->t, q.key, q.value, 0, &id);
        else
            rc = text_fail(x->t, q.key, "max_len=N",
                           "controller: \"%s\" is an extension of Open "
                           "vSwitch that Sluice does not have",
                           q.key);
    }
    return rc ? rc : output(x, OFPP_CONTROLLER, (uint16_t) len);
}

static int
read_enqueue(struct act_text *x, struct text_pair *p)
{
    char *queue = p->value + strcspn(p->value, ":,");
    struct ofp_action *a;
    uint32_t port;
    uint64_t q;
    int rc;

    if (!*queue)
        return text_fail(x->t, p->value, "enqueue:PORT:QUEUE",
                         "enqueue needs a port and a queue");
    *queue++ = '\0';
    if (!ofp_text_port(p->value, x->t->names, &port))
        return bad_port(x, p->value);
    rc = text_number(x->t, p->key, queue, UINT32_MAX, &q);
    if (rc)
        return rc;
    a = add(x, OFP_ACT_ENQUEUE);
    if (!a)
        return EINVAL;
    a->output.port = port;
    a->output.queue = (uint32_t) q;
    return 0;
}

/* dump-flows of Open vSwitch shows enqueue as set_queue, output, pop_queue:
 * taken back to that. */
static int
read_pop_queue(struct act_text *x)
{
    if (ofp_actions_pop_queue(x->list))
        return 0;
    return text_fail(x->t, "pop_queue", "enqueue:PORT:QUEUE",
                     "pop_queue behind an output to a reserved port is an "
                     "extension of Open vSwitch that Sluice does not have");
}

/* --- set-field and its older names --------------------------------------- */

static int
add_set(struct act_text *x, const char *key, enum ofp_field f, char *value)
{
    struct ofp_action *a;
    uint8_t v[16], mask[16];
    bool has_mask;
    int rc;

    if (!ofp_fields[f].settable)
        return text_fail(x->t, key, "another field", "%s cannot be set", key);
    rc = text_field(x->t, key, f, value, v, mask, &has_mask);
    if (rc)
        return rc;
    a = add(x, OFP_ACT_SET_FIELD);
    if (!a)
        return EINVAL;
    if (f == OFP_VLAN_VID && !has_mask)
        v[0] |= 0x10; /* a tag has it */
    a->set.field = f;
    a->set.has_mask = has_mask;
    memcpy(a->set.value, v, ofp_fields[f].n_bytes);
    memcpy(a->set.mask, mask, ofp_fields[f].n_bytes);
    return 0;
}

static int
read_set_field(struct act_text *x, struct text_pair *p)
{
    static const struct ofp_match nothing;
    const struct ofp_match *m = x->t->match ? x->t->match : &nothing;
    char *arrow = strstr(p->value, "->");
    enum ofp_field f;

    if (!arrow || arrow == p->value)
        return text_fail(x->t, p->value, "set_field:VALUE->FIELD",
                         "set_field needs a value and a field");
    *arrow = '\0';
    arrow += 2;
    if (!text_field_name(arrow, m, &f))
        return text_fail(x->t, arrow, "a field, see ovs-fields(7)",
                         "set_field: \"%s\" is %s", arrow,
                         text_foreign_field(arrow) ? text_foreign_field(arrow)
                                                   : "no field");
    return add_set(x, arrow, f, p->value);
}

static const struct {
    const char *name;     /* as it is written */
    enum ofp_field field; /* what it sets */
} setters[] = {
    {"mod_dl_src", OFP_ETH_SRC},     {"mod_dl_dst", OFP_ETH_DST},
    {"set_dl_src", OFP_ETH_SRC},     {"set_dl_dst", OFP_ETH_DST},
    {"mod_nw_src", OFP_IPV4_SRC},    {"mod_nw_dst", OFP_IPV4_DST},
    {"mod_nw_ecn", OFP_IP_ECN},      {"set_mpls_label", OFP_MPLS_LABEL},
    {"set_mpls_tc", OFP_MPLS_TC},    {"set_tunnel", OFP_TUNNEL_ID},
    {"set_tunnel64", OFP_TUNNEL_ID}, {"set_vlan_vid", OFP_VLAN_VID},
    {"set_vlan_pcp", OFP_VLAN_PCP},
};

/* TOS without ECN. */
static int
read_nw_tos(struct act_text *x, struct text_pair *p)
{
    char text[16];
    uint64_t v;
    int rc = text_number(x->t, p->key, p->value, 255, &v);

    if (rc)
        return rc;
    if (v & 3)
        return text_fail(x->t, p->value, "a multiple of 4",
                         "%s: \"%s\" has bits of ECN", p->key, p->value);
    snprintf(text, sizeof(text), "%u", (unsigned) v >> 2);
    return add_set(x, p->key, OFP_IP_DSCP, text);
}

static int
read_tp(struct act_text *x, struct text_pair *p)
{
    const struct ofp_match *m = x->t->match;
    enum ofp_field f;

    if (!m || !ofp_match_has(m, OFP_IP_PROTO))
        return text_fail(x->t, p->key, "tcp, udp or sctp in the match",
                         "%s can only be used beside tcp, udp or sctp",
                         p->key);
    text_field_name(p->key + 4, m, &f); /* tp_src or tp_dst */
    return add_set(x, p->key, f, p->value);
}

static bool
find_setter(struct act_text *x, struct text_pair *p, int *rc)
{
    for (size_t i = 0; i < sizeof(setters) / sizeof(setters[0]); i++)
        if (strcmp(p->key, setters[i].name) == 0) {
            *rc = add_set(x, p->key, setters[i].field, p->value);
            return true;
        }
    if (strcmp(p->key, "mod_nw_tos") == 0)
        *rc = read_nw_tos(x, p);
    else if (!strcmp(p->key, "mod_tp_src") || !strcmp(p->key, "mod_tp_dst"))
        *rc = read_tp(x, p);
    else if (strcmp(p->key, "set_field") == 0)
        *rc = read_set_field(x, p);
    else
        return false;
    return true;
}

/* --- actions of at most one number --------------------------------------- */

static const struct {
    const char *name;          /* as it is written */
    enum ofp_action_type type; /* what it is */
    uint32_t max;              /* of its number; 0: it has none */
} plain[] = {
    {"pop_vlan", OFP_ACT_POP_VLAN, 0},
    {"strip_vlan", OFP_ACT_POP_VLAN, 0},
    {"pop_pbb", OFP_ACT_POP_PBB, 0},
    {"dec_ttl", OFP_ACT_DEC_NW_TTL, 0},
    {"dec_nw_ttl", OFP_ACT_DEC_NW_TTL, 0},
    {"dec_mpls_ttl", OFP_ACT_DEC_MPLS_TTL, 0},
    {"copy_ttl_in", OFP_ACT_COPY_TTL_IN, 0},
    {"copy_ttl_out", OFP_ACT_COPY_TTL_OUT, 0},
    {"push_vlan", OFP_ACT_PUSH_VLAN, 0xffff},
    {"push_mpls", OFP_ACT_PUSH_MPLS, 0xffff},
    {"push_pbb", OFP_ACT_PUSH_PBB, 0xffff},
    {"pop_mpls", OFP_ACT_POP_MPLS, 0xffff},
    {"mod_nw_ttl", OFP_ACT_SET_NW_TTL, 255},
    {"set_nw_ttl", OFP_ACT_SET_NW_TTL, 255},
    {"set_mpls_ttl", OFP_ACT_SET_MPLS_TTL, 255},
    {"mod_vlan_vid", OFP_ACT_SET_VLAN_VID, 0xfff},
    {"mod_vlan_pcp", OFP_ACT_SET_VLAN_PCP, 7},
    {"set_queue", OFP_ACT_SET_QUEUE, 0xffffffff},
    {"group", OFP_ACT_GROUP, OFPG_MAX},
};

static int
check_ethertype(struct act_text *x, const char *key,
                const struct ofp_action *a)
{
    uint16_t t = a->ethertype;
    const char *allowed = a->type == OFP_ACT_PUSH_VLAN   ? "0x8100 or 0x88a8"
                          : a->type == OFP_ACT_PUSH_MPLS ? "0x8847 or 0x8848"
                                                         : "0x88e7";

    if ((a->type == OFP_ACT_PUSH_VLAN && t != 0x8100 && t != 0x88a8) ||
        (a->type == OFP_ACT_PUSH_MPLS && t != 0x8847 && t != 0x8848) ||
        (a->type == OFP_ACT_PUSH_PBB && t != 0x88e7))
        return text_fail(x->t, key, allowed, "%s: 0x%04x is not %s", key, t,
                         allowed);
    return 0;
}

static int
read_plain(struct act_text *x, struct text_pair *p, size_t i)
{
    struct ofp_action *a;
    uint64_t v = 0;
    int rc = 0;

    if (plain[i].max == 0 && *p->value)
        return text_fail(x->t, p->value, "the word alone",
                         "%s has no argument", p->key);
    if (plain[i].max)
        rc = text_number(x->t, p->key, p->value, plain[i].max, &v);
    if (rc)
        return rc;
    a = add(x, plain[i].type);
    if (!a)
        return EINVAL;
    switch (a->type) {
    case OFP_ACT_PUSH_VLAN:
    case OFP_ACT_PUSH_MPLS:
    case OFP_ACT_PUSH_PBB:
    case OFP_ACT_POP_MPLS:
        a->ethertype = (uint16_t) v;
        return check_ethertype(x, p->key, a);
    case OFP_ACT_SET_NW_TTL:
    case OFP_ACT_SET_MPLS_TTL:
        a->ttl = (uint8_t) v;
        break;
    case OFP_ACT_SET_VLAN_VID:
        a->vid = (uint16_t) v;
        break;
    case OFP_ACT_SET_VLAN_PCP:
        a->pcp = (uint8_t) v;
        break;
    case OFP_ACT_SET_QUEUE:
        a->queue = (uint32_t) v;
        break;
    case OFP_ACT_GROUP:
        a->group = (uint32_t) v;
        break;
    default:
        break;
    }
    return 0;
}

/* --- instructions -------------------------------------------------------- */

static int
read_metadata(struct act_text *x, struct text_pair *p)
{
    char *slash = strchr(p->value, '/');
    struct ofp_instructions *in = x->in;
    int rc;

    if (slash)
        *slash++ = '\0';
    in->has_metadata = true;
    in->metadata_mask = UINT64_MAX;
    rc = text_number(x->t, p->key, p->value, UINT64_MAX, &in->metadata);
    if (!rc && slash)
        rc = text_number(x->t, p->key, slash, UINT64_MAX, &in->metadata_mask);
    return rc;
}

static int
read_goto_or_meter(struct act_text *x, struct text_pair *p, bool is_meter)
{
    uint64_t v;
    int rc = text_number(x->t, p->key, p->value,
                         is_meter ? UINT32_MAX : OFP_N_TABLES - 1, &v);

    if (rc)
        return rc;
    if (is_meter) {
        x->in->has_meter = true;
        x->in->meter = (uint32_t) v;
    } else {
        x->in->has_goto = true;
        x->in->table = (uint8_t) v;
    }
    return 0;
}

static int
read_write_actions(struct act_text *x, struct text_pair *p)
{
    x->in->has_write = true;
    return text_actions(x->t, p->value, &x->in->write);
}

/* True: it was one, and *rc is how it went. */
static bool
find_instruction(struct act_text *x, struct text_pair *p, int *rc)
{
    static const char *const names[] = {"goto_table", "meter",
                                        "write_metadata", "write_actions",
                                        "clear_actions"};
    size_t i = 0;

    while (i < 5 && strcmp(p->key, names[i]) != 0)
        i++;
    if (i == 5)
        return false;
    if (!x->in)
        *rc = text_fail(x->t, p->key, "an action",
                        "%s is an instruction, and only actions are allowed "
                        "here",
                        p->key);
    else if ((i == 0 && x->in->has_goto) || (i == 1 && x->in->has_meter) ||
             (i == 2 && x->in->has_metadata) || (i == 3 && x->in->has_write) ||
             (i == 4 && x->in->clear))
        *rc = text_fail(x->t, p->key, "one", "%s is given twice", p->key);
    else if (i <= 1)
        *rc = read_goto_or_meter(x, p, i == 1);
    else if (i == 2)
        *rc = read_metadata(x, p);
    else if (i == 3)
        *rc = read_write_actions(x, p);
    else
        x->in->clear = true;
    return true;
}

/* --- lists --------------------------------------------------------------- */

static int
read_unknown(struct act_text *x, struct text_pair *p)
{
    uint32_t port;

    if (!p->delimiter && ofp_text_port(p->key, x->t->names, &port))
        return output(x, port, port == OFPP_CONTROLLER ? OFPCML_NO_BUFFER : 0);
    if (is_foreign(p->key))
        return text_fail(x->t, p->key, "the actions of OpenFlow 1.3",
                         "the action \"%s\" is an extension of Open vSwitch "
                         "that Sluice does not have",
                         p->key);
    return text_fail(x->t, p->key,
                     "output:PORT, a port, drop, controller, enqueue, "
                     "set_field, mod_*, push_*, pop_*, dec_ttl, set_queue, "
                     "group, meter, goto_table, write_actions, ...",
                     "\"%s\" is neither an action nor a port", p->key);
}

static int
read_action(struct act_text *x, struct text_pair *p)
{
    int rc = 0;

    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        if (strcmp(p->key, plain[i].name) == 0)
            return read_plain(x, p, i);
    if (find_setter(x, p, &rc) || find_instruction(x, p, &rc))
        return rc;
    if (strcmp(p->key, "output") == 0)
        return read_output(x, p);
    if (strcasecmp(p->key, "controller") == 0)
        return read_controller(x, p);
    if (strcmp(p->key, "enqueue") == 0)
        return read_enqueue(x, p);
    if (strcmp(p->key, "pop_queue") == 0 && !p->delimiter)
        return read_pop_queue(x);
    return read_unknown(x, p);
}

static int
read_list(struct act_text *x, char *s)
{
    bool is_drop = false;
    unsigned n = 0;
    struct text_pair p;
    int rc = 0;

    while (!rc && text_next(&s, &p)) {
        n++;
        if (strcmp(p.key, "drop") == 0 && !p.delimiter) {
            is_drop = true;
        } else if (x->in && strcmp(p.key, "apply_actions") == 0 &&
                   p.delimiter == '(') {
            struct act_text inner = *x;

            inner.in = NULL;
            rc = read_list(&inner, p.value);
            x->room = inner.room;
        } else {
            rc = read_action(x, &p);
        }
    }
    if (!rc && is_drop && n > 1)
        rc = text_fail(x->t, "drop", "drop alone",
                       "drop must not have other actions beside it");
    return rc;
}

int
text_instructions(const struct text *t, char *s, struct ofp_instructions *out)
{
    struct ofp_instructions in = {0};
    struct act_text x = {.t = t, .in = &in, .list = &in.apply};
    int rc = read_list(&x, s);

    if (rc)
        return rc;
    in.has_apply = in.apply.n > 0;
    *out = in;
    return 0;
}

int
text_actions(const struct text *t, char *s, struct ofp_actions *out)
{
    struct ofp_actions list = {0};
    struct act_text x = {.t = t, .list = &list};
    int rc = read_list(&x, s);

    if (!rc)
        *out = list;
    return rc;
}

int
ofp_text_actions(const char *text, const struct ofp_names *names,
                 struct ofp_arena *arena, struct ofp_actions *out,
                 struct err *err)
{
    struct text t = {.names = names,
                     .arena = arena,
                     .err = err,
                     .packet_out = true};
    char *s = text_copy(&t, text);

    return s ? text_actions(&t, s, out) : EINVAL;
}
