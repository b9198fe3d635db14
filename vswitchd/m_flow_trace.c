/* SPDX-License-Identifier: Apache-2.0
 *
 * flow.trace: what the tables would do to a frame now.  The datapath runs it
 * without sending; here its steps are told.  Control thread.
 */
#include "methods.h"

#include "base/clock.h"
#include "dp/of.h"
#include "flow_frame.h"
#include "flow_text.h"
#include "json.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FRAME 9216 /* octets of a frame that is traced */

struct trace {
    uint32_t in_port;      /* where it comes in */
    uint8_t *frame;        /* all of it */
    size_t n;              /* octets */
    bool ok;               /* it could be traced */
    struct dp_trace steps; /* what happens to it */
};

static void
run_trace(struct dp *dp, void *arg)
{
    struct trace *x = arg;

    x->ok = dp_trace(dp, x->in_port, x->frame, (uint32_t) x->n, &x->steps);
}

/* --- what is asked for ----------------------------------------------------
 */

static int
hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0'
                                : tolower((unsigned char) c) - 'a' + 10;
}

/* Octets in hexadecimal; blanks and colons between them are passed over. */
static int
read_frame(const char *hex, struct trace *x, struct err *err)
{
    size_t n = 0;

    for (; *hex; hex++) {
        if (isspace((unsigned char) *hex) || *hex == ':')
            continue;
        if (!isxdigit((unsigned char) hex[0]) ||
            !isxdigit((unsigned char) hex[1]) || n == MAX_FRAME)
            return err_set(err, EINVAL, "/params/frame", NULL,
                           "octets in hexadecimal, 14 to 9216 of them",
                           "the frame is no list of octets in hexadecimal, "
                           "or longer than %d of them",
                           MAX_FRAME);
        x->frame[n++] = (uint8_t) (hex_digit(hex[0]) << 4 | hex_digit(hex[1]));
        hex++;
    }
    if (n < 14)
        return err_set(err, EINVAL, "/params/frame", NULL, "14 to 9216 octets",
                       "a frame of %zu octets", n);
    x->n = n;
    return 0;
}

static int
read_flow(const struct flow_place *at, const char *text, struct trace *x,
          struct err *err)
{
    struct ofp_match m;
    int error = ofp_text_match(text, &at->names, &m, err);

    if (error) {
        snprintf(err->path, sizeof(err->path), "/params/flow");
        return error;
    }
    if (!x->in_port && ofp_match_has(&m, OFP_IN_PORT))
        x->in_port = m.value.in_port;
    x->n = flow_frame_make(&m, x->frame);
    return 0;
}

static int
read_params(const struct flow_place *at, struct json_object *params,
            struct trace *x, struct err *err)
{
    const char *port = json_get_text(params, "in_port", NULL);
    const char *frame = json_get_text(params, "frame", NULL);
    const char *flow = json_get_text(params, "flow", NULL);
    int error;

    if (port && !ofp_text_port(port, &at->names, &x->in_port))
        return err_set(err, ENOENT, "/params/in_port", port,
                       "a port's number or name", "there is no port %.60s",
                       port);
    if (!frame == !flow)
        return err_set(err, EINVAL, "/params", NULL, "frame or flow",
                       "either frame or flow has to be given");
    error = frame ? read_frame(frame, x, err) : read_flow(at, flow, x, err);
    if (!error && !ofproto_port(at->books, x->in_port))
        return err_set(err, ENOENT, "/params/in_port", port,
                       "a port of the bridge",
                       "the ingress port is missing, or none of the bridge");
    return error;
}

/* --- steps, told ----------------------------------------------------------
 */

/* The headers as a match that says all of them. */
static void
put_headers(struct ofp_buf *b, const struct ofp_key *k,
            const struct ofp_names *names)
{
    struct ofp_match m = {0};

    for (int f = 0; f < OFP_N_FIELDS; f++) {
        uint8_t v[16], any = 0;

        ofp_key_get(k, (enum ofp_field) f, v);
        for (int i = 0; i < ofp_fields[f].n_bytes; i++)
            any |= v[i];
        if (f != OFP_IN_PHY_PORT && ofp_match_allows(&m, (enum ofp_field) f) &&
            (any || f == OFP_VLAN_VID || f == OFP_VLAN_PCP))
            ofp_match_set(&m, (enum ofp_field) f, v, NULL);
    }
    ofp_text_put_match(b, &m, 0x8000, names);
}

static void
put_match(struct ofp_buf *b, const struct flow_place *at,
          const struct dp_step *s)
{
    struct ofproto_flow_info info;
    struct ofp_flow_stats st;

    ofproto_flow_of(s->owner, clock_ns(), &info);
    flow_stats_of(&info, &st);
    ofp_text_printf(b, "table %u: ", s->table);
    ofp_text_put_match(b, st.match, st.priority, &at->names);
    ofp_text_printf(b, "%scookie=0x%" PRIx64 ", actions=",
                    !b->bad && b->data[b->n - 1] == ' ' ? "" : ", ",
                    st.cookie);
    ofp_text_put_instructions(b, st.inst, &at->names);
}

static void
put_out(struct ofp_buf *b, const struct flow_place *at,
        const struct dp_step *s)
{
    ofp_text_printf(b, "-> port ");
    ofp_text_put_port(b, s->of_port, &at->names);
    if (s->drop != DP_N_DROPS) {
        ofp_text_printf(b, ": dropped there: %s", dp_drop_name(s->drop));
        return;
    }
    ofp_text_printf(b, ", queue %u (%s), priority %u: ", s->queue,
                    s->lossless ? "lossless" : "lossy", s->prio);
    put_headers(b, &s->key, &at->names);
}

static void
put_instr(struct ofp_buf *b, const struct dp_step *s)
{
    switch (s->instr) {
    case DP_INSTR_APPLY:
        ofp_text_printf(b, "apply actions");
        break;
    case DP_INSTR_CLEAR:
        ofp_text_printf(b, "clear the action set");
        break;
    case DP_INSTR_WRITE:
        ofp_text_printf(b, "write to the action set");
        break;
    case DP_INSTR_METADATA:
        ofp_text_printf(b, "metadata is 0x%" PRIx64, s->metadata);
        break;
    case DP_INSTR_GOTO:
        ofp_text_printf(b, "goto table %u", s->table);
        break;
    }
}

static void
put_group(struct ofp_buf *b, const struct dp_step *s)
{
    if (s->bucket == UINT32_MAX)
        ofp_text_printf(b, "group %u: no bucket to be had", s->id);
    else
        ofp_text_printf(b, "group %u: bucket %u", s->id, s->bucket);
}

static void
put_step(struct ofp_buf *b, const struct flow_place *at,
         const struct dp_step *s)
{
    static const char *const verdicts[] = {"passes", "drops", "remarks",
                                           "there is no such meter"};
    static const char *const reasons[] = {"no match", "action", "invalid TTL"};
    const struct ofp_actions one = {1, (struct ofp_action *) &s->act};

    switch (s->type) {
    case DP_STEP_INGRESS:
        ofp_text_printf(b, "ingress: priority %u, group %u (%s)", s->prio,
                        s->pg, s->lossless ? "lossless" : "lossy");
        break;
    case DP_STEP_MATCH:
        put_match(b, at, s);
        break;
    case DP_STEP_MISS:
        ofp_text_printf(b, "table %u: no flow matches", s->table);
        break;
    case DP_STEP_INSTR:
        put_instr(b, s);
        break;
    case DP_STEP_ACTION:
        ofp_text_put_actions(b, &one, &at->names);
        break;
    case DP_STEP_SET:
        ofp_text_printf(b, "action set");
        break;
    case DP_STEP_GROUP:
        put_group(b, s);
        break;
    case DP_STEP_METER:
        ofp_text_printf(b, "meter %u: %s", s->id, verdicts[s->meter & 3]);
        break;
    case DP_STEP_OUT:
        put_out(b, at, s);
        break;
    case DP_STEP_NORMAL:
        ofp_text_printf(b, "forwarded as NORMAL does");
        break;
    case DP_STEP_CTRL:
        ofp_text_printf(b, "-> controller (%s, max_len %u)",
                        reasons[s->reason < 3 ? s->reason : 1], s->max_len);
        break;
    case DP_STEP_DROP:
        ofp_text_printf(b, "dropped: %s", dp_drop_name(s->drop));
        break;
    }
}

static const char *const step_names[] = {
    [DP_STEP_INGRESS] = "ingress", [DP_STEP_MATCH] = "match",
    [DP_STEP_MISS] = "miss",       [DP_STEP_INSTR] = "instruction",
    [DP_STEP_ACTION] = "action",   [DP_STEP_SET] = "action-set",
    [DP_STEP_GROUP] = "group",     [DP_STEP_METER] = "meter",
    [DP_STEP_OUT] = "output",      [DP_STEP_NORMAL] = "normal",
    [DP_STEP_CTRL] = "controller", [DP_STEP_DROP] = "drop",
};

/* What a program wants to know of a step, beside its text. */
static void
add_numbers(struct json_object *o, const struct flow_place *at,
            const struct dp_step *s)
{
    const char *name;

    switch (s->type) {
    case DP_STEP_INGRESS:
        json_add_uint(o, "priority", s->prio);
        json_add_uint(o, "group", s->pg);
        json_add_bool(o, "lossless", s->lossless);
        break;
    case DP_STEP_MATCH:
    case DP_STEP_MISS:
        json_add_uint(o, "table", s->table);
        break;
    case DP_STEP_OUT:
        name = at->names.name(at->names.arg, s->of_port);
        json_add_uint(o, "of_port", s->of_port);
        json_add_text(o, "port", name ? name : "");
        json_add_uint(o, "queue", s->queue);
        json_add_uint(o, "priority", s->prio);
        json_add_bool(o, "lossless", s->lossless);
        json_add_bool(o, "sent", s->drop == DP_N_DROPS);
        break;
    case DP_STEP_GROUP:
    case DP_STEP_METER:
        json_add_uint(o, "id", s->id);
        break;
    case DP_STEP_DROP:
        json_add_text(o, "reason", dp_drop_name(s->drop));
        break;
    default:
        break;
    }
}

static struct json_object *
tell(const struct flow_place *at, const struct dp_trace *t)
{
    struct json_object *a = json_object_new_array();
    struct ofp_buf b = {0};

    for (uint32_t i = 0; i < t->n; i++) {
        const struct dp_step *s = &t->step[i];
        struct json_object *o = json_object_new_object();

        json_add_text(o, "step", step_names[s->type]);
        json_add_uint(o, "depth", s->depth);
        add_numbers(o, at, s);
        put_step(&b, at, s);
        flow_add_text(o, "text", &b);
        json_object_array_add(a, o);
    }
    ofp_buf_free(&b);
    return a;
}

/* How it ends, in a sentence. */
static void
add_verdict(struct json_object *result, const struct flow_place *at,
            const struct dp_trace *t)
{
    struct ofp_buf b = {0};
    unsigned n = 0;

    for (uint32_t i = 0; i < t->n; i++) {
        const struct dp_step *s = &t->step[i];
        bool sent = s->type == DP_STEP_OUT && s->drop == DP_N_DROPS;

        if (!sent && s->type != DP_STEP_CTRL)
            continue;
        ofp_text_printf(&b, n++ ? ", " : "sent to ");
        if (s->type == DP_STEP_CTRL)
            ofp_text_printf(&b, "the controller");
        else
            ofp_text_put_port(&b, s->of_port, &at->names);
    }
    if (n == 0)
        ofp_text_printf(&b, "dropped");
    flow_add_text(result, "verdict", &b);
    ofp_buf_free(&b);
}

static int
flow_trace(void *ctx, struct rpc_client *client, struct json_object *params,
           struct json_object **result, struct err *err)
{
    struct trace *x = calloc(1, sizeof(*x));
    struct flow_place at;
    int error = flow_place_find(ctx, json_get_text(params, "bridge", ""), NULL,
                                &at, err);

    (void) client;
    if (!x)
        abort();
    x->frame = calloc(1, MAX_FRAME);
    if (!x->frame)
        abort();
    if (!error)
        error = read_params(&at, params, x, err);
    if (!error) {
        bridge_call(at.bridge, run_trace, x);
        if (!x->ok)
            error = err_set(err, EINVAL, "/params/in_port", NULL, NULL,
                            "the datapath has no such port, or the frame is "
                            "too short or too long for it");
    }
    if (!error) {
        *result = json_object_new_object();
        json_object_object_add(*result, "steps", tell(&at, &x->steps));
        json_add_bool(*result, "more", x->steps.more);
        add_verdict(*result, &at, &x->steps);
    }
    free(x->frame);
    free(x);
    return error;
}

static const struct rpc_param trace_params[] = {
    PARAM_NAME("bridge", true, "The bridge."),
    {.name = "in_port",
     .type = RPC_T_STRING,
     .min = 1,
     .max = 63,
     .doc = "Where the frame comes in: number or name; without it that of "
            "the flow."},
    {.name = "frame",
     .type = RPC_T_STRING,
     .min = 1,
     .max = 3 * MAX_FRAME,
     .doc = "All of it in hexadecimal."},
    {.name = "flow",
     .type = RPC_T_STRING,
     .max = 4096,
     .doc = "Or a match that a frame is made for, like "
            "\"tcp,nw_dst=10.0.0.1,tp_dst=80\"."},
    PARAM_END,
};

const struct rpc_method methods_flow_trace[] = {
    {
        .name = "flow.trace",
        .doc = "Shows what the tables would do to a frame now.  Nothing is "
               "sent, learned or counted.",
        .params = trace_params,
        .result =
            "An object: steps (array of step, depth in buckets, text, and by "
            "step: table; priority, group, lossless; of_port, port, queue, "
            "sent; id; reason), more (whether there were more than fit), "
            "verdict (where it goes, in words).",
        .example = "{\"bridge\": \"br0\", \"in_port\": \"1\", \"flow\": "
                   "\"tcp,tp_dst=80\"}",
        .handler = flow_trace,
    },
    {.name = NULL},
};
