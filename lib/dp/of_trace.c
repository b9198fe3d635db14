/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace: a frame goes through the very code that frames go through, and
 * each step is written down in place of being carried out.  dp thread.
 */
#include "dp/of_priv.h"

#include <string.h>

struct dp_step *
of_step(struct of_run *run, enum dp_step_type type)
{
    struct dp_trace *t = run->trace;
    struct dp_step *step;

    /* What does not fit takes the last one's place. */
    t->more = t->n == DP_TRACE_STEPS;
    step = &t->step[t->more ? t->n - 1 : t->n++];
    memset(step, 0, sizeof(*step));
    step->type = type;
    step->depth = run->r.depth;
    step->drop = DP_N_DROPS;
    return step;
}

/* The headers as they are, with what goes beside the frame. */
static void
put_key(struct of_run *run, struct dp_step *step)
{
    flow_frame_read(&run->r.s.frame);
    step->key = run->r.s.frame.key;
    step->key.in_port = run->r.in_port;
    step->key.in_phy_port = run->r.in_port;
    step->key.metadata = run->r.s.metadata;
    step->key.tunnel_id = run->r.s.tunnel_id;
}

static void
note_match(struct of_run *run, const struct flow *f)
{
    struct dp_step *step = of_step(run, DP_STEP_MATCH);
    struct flow_info info;

    flow_info(f, &info);
    step->table = info.table;
    step->priority = info.priority;
    step->cookie = info.cookie;
    step->owner = info.owner;
    put_key(run, step);
}

static void
note_instr(struct of_run *run, enum flow_note note, uint32_t n)
{
    static const enum dp_step_instr instr[] = {
        [FLOW_NOTE_APPLY] = DP_INSTR_APPLY,
        [FLOW_NOTE_CLEAR] = DP_INSTR_CLEAR,
        [FLOW_NOTE_WRITE] = DP_INSTR_WRITE,
        [FLOW_NOTE_METADATA] = DP_INSTR_METADATA,
        [FLOW_NOTE_GOTO] = DP_INSTR_GOTO,
    };
    struct dp_step *step = of_step(run, DP_STEP_INSTR);

    step->instr = instr[note];
    step->table = (uint8_t) n;
    step->metadata = run->r.s.metadata;
}

void
of_trace_note(struct flow_run *r, enum flow_note note, const void *what,
              uint32_t n, uint32_t m)
{
    struct of_run *run = (struct of_run *) (void *) r;
    struct dp_step *step;

    switch (note) {
    case FLOW_NOTE_MATCH:
        note_match(run, what);
        break;
    case FLOW_NOTE_MISS:
        step = of_step(run, DP_STEP_MISS);
        step->table = (uint8_t) n;
        put_key(run, step);
        break;
    case FLOW_NOTE_APPLY:
    case FLOW_NOTE_CLEAR:
    case FLOW_NOTE_WRITE:
    case FLOW_NOTE_METADATA:
    case FLOW_NOTE_GOTO:
        note_instr(run, note, n);
        break;
    case FLOW_NOTE_METER:
        step = of_step(run, DP_STEP_METER);
        step->id = n;
        step->meter = (enum dp_step_meter) m;
        break;
    case FLOW_NOTE_SET:
        of_step(run, DP_STEP_SET);
        break;
    case FLOW_NOTE_ACTION:
        of_step(run, DP_STEP_ACTION)->act = *(const struct ofp_action *) what;
        break;
    case FLOW_NOTE_GROUP:
        step = of_step(run, DP_STEP_GROUP);
        step->id = n;
        step->bucket = m;
        break;
    }
}

/* --- outputs
 * ------------------------------------------------------------------ */

/* Why the queue would not take a frame of so many octets now. */
static enum dp_drop
refusal(const struct dp_port *out, uint8_t q, uint8_t prio, uint32_t len)
{
    const struct dp_plan_queue *conf = &out->conf->queue[q];

    if (out->wd_tx >> prio & 1)
        return DP_DROP_WATCHDOG_TX;
    if (out->no_send)
        return DP_DROP_PORT_CONFIG;
    if (len > out->conf->max_frame_bytes)
        return DP_DROP_OVERSIZE;
    if (!out->netdev)
        return DP_DROP_PORT_DOWN;
    if (!conf->lossless && conf->alpha == BUF_ALPHA_NONE &&
        out->queue[q].bytes + len > conf->limit_bytes)
        return DP_DROP_QUEUE_LIMIT;
    return DP_N_DROPS;
}

void
of_trace_out(struct of_run *run, struct dp_port *out, uint8_t q, uint8_t prio)
{
    struct dp_step *step = of_step(run, DP_STEP_OUT);

    step->port = out->slot;
    step->of_port = out->conf->of_port;
    step->queue = q;
    step->prio = prio;
    step->lossless = out->conf->queue[q].lossless;
    step->drop = refusal(out, q, prio, run->r.s.frame.len);
    put_key(run, step);
    run->n_ends++;
}

static void
trace_drop(struct of_run *run, enum dp_drop reason)
{
    of_step(run, DP_STEP_DROP)->drop = reason;
    run->n_ends++;
}

/* What NORMAL does, without learning: see lookup.c and enqueue.c. */
void
of_trace_normal(struct of_run *run)
{
    const struct flow_frame *f = &run->r.s.frame;
    struct dp *dp = run->dp;
    int vid, slot = MACTAB_NO_PORT;
    uint16_t tci;
    bool none = true;

    of_step(run, DP_STEP_NORMAL);
    eth_outer_tag(f->data, f->len, &tci);
    vid = dp_ingress_vlan(run->from->conf, tci & VLAN_VID_MASK);
    if (eth_is_reserved(f->data) &&
        (!dp->plan->forward_reserved || f->data[5] == 1)) {
        trace_drop(run, DP_DROP_RESERVED);
        return;
    }
    if (vid < 0 || (tci & VLAN_VID_MASK) == VLAN_VID_MASK) {
        trace_drop(run, DP_DROP_VLAN);
        return;
    }
    if (!eth_is_group(f->data))
        slot = mactab_lookup(dp->mactab, (uint16_t) vid, f->data, dp->now_ns);
    for (int i = dp_set_next(&dp->up, 0); i >= 0;
         i = dp_set_next(&dp->up, i + 1)) {
        struct dp_port *out = dp->port[i];
        uint8_t q, prio;

        if (out == run->from || (slot != MACTAB_NO_PORT && slot != i) ||
            !dp_carries(out->conf, (uint16_t) vid) ||
            (slot == MACTAB_NO_PORT &&
             (out->no_send || out->of_config & OFPPC_NO_FLOOD)))
            continue;
        of_choose(run, out, &q, &prio);
        of_trace_out(run, out, q, prio);
        none = false;
    }
    if (none)
        trace_drop(run, DP_DROP_NO_PORT);
}

/* --- the whole
 * ---------------------------------------------------------------- */

/* Priority and group by the maps of the port, as parse.c finds them. */
static void
ingress(struct of_run *run, struct pkt *p)
{
    const struct dp_port *in = run->from;
    struct dp_step *step = of_step(run, DP_STEP_INGRESS);
    struct dp_class class = in->untagged;
    uint16_t tci;
    uint8_t ds;

    if (eth_outer_tag(p->data, p->len, &tci))
        class = in->pcp_to_class[tci >> VLAN_PCP_SHIFT];
    p->prio = class.prio;
    if (in->trust_dscp && eth_find_ds(p->data, p->len, &ds))
        p->prio = in->conf->dscp_to_prio[ds >> 2];
    p->pg = in->prio_to_pg[p->prio];
    step->prio = p->prio;
    step->pg = p->pg;
    step->port = in->slot;
    step->of_port = run->r.in_port;
    step->lossless = in->group[p->pg].conf.lossless;
    put_key(run, step);
}

static void
run_trace(struct of_run *run, struct pkt *p)
{
    struct flow_hooks hooks = of_hooks;
    struct dp *dp = run->dp;

    hooks.note = of_trace_note;
    run->r.hooks = &hooks;
    ingress(run, p);
    if (run->from->no_recv)
        run->why = DP_DROP_PORT_CONFIG;
    else if (p->data[0] & 0x01 && eth_is_reserved(p->data) && p->data[5] == 1)
        run->why = DP_DROP_RESERVED;
    else if (p->data[6] & 1)
        run->why = DP_DROP_SOURCE;
    else if (dp->is_normal && !dp->counts_normal)
        of_trace_normal(run);
    else
        flow_run(&run->r, NULL);
    if (!run->n_ends && !run->r.s.dead)
        of_step(run, DP_STEP_DROP)->drop = run->why;
    pkt_free(run->r.s.pkt);
}

bool
dp_trace(struct dp *dp, uint32_t in_port, const uint8_t *frame, uint32_t len,
         struct dp_trace *t)
{
    struct of_run run = {.from = of_port(dp, in_port), .trace = t};
    struct flow_frame *f = &run.r.s.frame;
    struct pkt *p;

    t->n = 0;
    t->more = false;
    if (!run.from || len < ETH_HDR_LEN || len > pkt_pool_frame_bytes(dp->pool))
        return false;
    p = pkt_alloc(dp->pool);
    if (!p)
        return false;
    memcpy(p->data, frame, len);
    p->len = len;
    run.in = run.from; /* nothing is charged: see of_run.trace */
    of_begin(&run, dp, p);
    run.r.is_dry = true;
    run.r.in_port = in_port;
    f->data = p->data;
    f->len = len;
    of_frame_room(f, p);
    f->key_stale = true;
    f->view_stale = true;
    run_trace(&run, p);
    return true;
}
