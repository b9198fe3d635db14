/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage flow: between admission and NORMAL, the flow tables.  A batch is read
 * first, so that what the tables have of its frames is on its way from memory
 * when the first of them is run.  Frames of which the tables say no more than
 * NORMAL stay in the batch.
 */
#include "dp/of_priv.h"

#include <string.h>

/* The reason for which NORMAL does not take a frame that flows may see, in
 * its VLAN. */
#define NO_NORMAL 0x8000u

void
of_frame_room(struct flow_frame *f, const struct pkt *p)
{
    const struct pkt_pool *pool = p->pool;
    const uint8_t *buffer =
        pool->arena + (size_t) (p - pool->descs) * pool->stride;

    f->head = (uint32_t) (f->data - buffer);
    assert(f->head + f->len <= pool->stride);
    f->tail = pool->stride - f->head - f->len;
}

/* Only for flows: keeps a frame that NORMAL does not take for that reason. */
bool
dp_of_keeps(const struct dp *dp, const struct dp_port *in, struct pkt *p,
            struct dp_tag tag, enum dp_drop reason)
{
    struct dp_class class = in->untagged;
    uint8_t ds;

    if (dp->is_normal ||
        (reason != DP_DROP_VLAN && reason != DP_DROP_RESERVED) ||
        (reason == DP_DROP_RESERVED && p->data[5] == 1))
        return false;
    if (tag.tpid)
        class = in->pcp_to_class[tag.tci >> VLAN_PCP_SHIFT];
    p->prio = class.prio;
    if (in->trust_dscp && eth_find_ds(p->data, p->len, &ds))
        p->prio = in->conf->dscp_to_prio[ds >> 2];
    p->pg = in->prio_to_pg[p->prio];
    p->vid = (uint16_t) (NO_NORMAL | reason);
    return true;
}

static enum dp_drop
normal_refuses(const struct pkt *p)
{
    return p->vid & NO_NORMAL ? (enum dp_drop)(p->vid & ~NO_NORMAL)
                              : DP_N_DROPS;
}

/* --- NORMAL for a frame out of the tables -----------------------------------
 */

static struct dp_tag
tag_of(const struct pkt *p)
{
    struct dp_tag tag = {0, 0};

    tag.tpid = eth_outer_tag(p->data, p->len, &tag.tci);
    return tag;
}

/* Of a packet-out: nothing is learned, and no group is charged. */
static void
normal_out(struct of_run *run, struct pkt *p, struct dp_tag tag)
{
    struct dp *dp = run->dp;
    int slot = MACTAB_NO_PORT;
    struct dp_port *last = NULL;

    if (!eth_is_group(p->data))
        slot = mactab_lookup(dp->mactab, p->vid, p->data, dp->now_ns);
    for (int i = dp_set_next(&dp->up, 0); i >= 0;
         i = dp_set_next(&dp->up, i + 1)) {
        struct dp_port *out = dp->port[i];
        struct pkt *copy;

        if (out == run->from || (slot != MACTAB_NO_PORT && slot != i) ||
            !dp_carries(out->conf, p->vid) || out->no_send ||
            (slot == MACTAB_NO_PORT && out->of_config & OFPPC_NO_FLOOD))
            continue;
        copy = last ? pkt_clone(p) : NULL;
        if (copy) {
            run->n_ends++;
            dp_enqueue_one(dp, last, copy, tag);
        }
        last = out;
    }
    if (!last) {
        dp_release(dp, p, dp_room(dp));
        return;
    }
    run->n_ends++;
    dp_enqueue_one(dp, last, p, tag);
}

/* The VLAN may be another one than at ingress. */
void
of_normal(struct of_run *run, struct pkt *p)
{
    struct dp_batch b = {.n = 1, .pkt = {p}, .tag = {tag_of(p)}};
    uint16_t vid = b.tag[0].tci & VLAN_VID_MASK;
    enum dp_drop refused = DP_N_DROPS;

    if (run->from) {
        int v = dp_ingress_vlan(run->from->conf, vid);

        refused = v < 0 || vid == VLAN_VID_MASK ? DP_DROP_VLAN : DP_N_DROPS;
        vid = (uint16_t) v;
    }
    if (eth_is_reserved(p->data) &&
        (!run->dp->plan->forward_reserved || p->data[5] == 1))
        refused = DP_DROP_RESERVED;
    if (refused != DP_N_DROPS) {
        if (run->in) {
            run->n_ends++;
            dp_drop(run->dp, run->in, refused, p);
        } else {
            dp_release(run->dp, p, dp_room(run->dp));
        }
        return;
    }
    p->vid = vid;
    if (!run->in) {
        normal_out(run, p, b.tag[0]);
        return;
    }
    run->n_ends++;
    dp_lookup(run->dp, run->in, &b);
    dp_enqueue(run->dp, run->in, &b);
}

/* --- the stage
 * --------------------------------------------------------------- */

/* What was read of a frame before it is run. */
struct of_read {
    struct flow_frame frame; /* its headers */
    struct flow_look look;   /* in the cache */
};

static void
read_frame(const struct dp *dp, const struct dp_port *in, struct pkt *p,
           struct of_read *rd)
{
    struct flow_frame *f = &rd->frame;

    f->data = p->data;
    f->len = p->len;
    of_frame_room(f, p);
    f->key_stale = false;
    f->view_stale = false;
    flow_key_extract(p->data, p->len, in->conf->of_port, &f->key, &f->view);
    flow_look(dp->of->tables, &f->key, &rd->look);
}

void
dp_of_run(struct dp *dp, struct dp_port *in, struct dp_batch *b)
{
    struct of_read rd[PKT_BATCH];
    struct of_run run = {.in = in, .from = in};
    uint32_t n = b->n, n_kept = 0;

    run.r.hooks = &of_hooks;
    run.r.in_port = in->conf->of_port;
    for (uint32_t i = 0; i < n; i++) {
        __builtin_prefetch(b->pkt[i]->data);
        if (i)
            read_frame(dp, in, b->pkt[i - 1], &rd[i - 1]);
    }
    if (n)
        read_frame(dp, in, b->pkt[n - 1], &rd[n - 1]);
    for (uint32_t i = 0; i < n; i++) {
        struct pkt *p = b->pkt[i];

        of_begin(&run, dp, p);
        run.r.s.frame = rd[i].frame;
        if (dp_unlikely(dp->of->options.drop_fragments &&
                        rd[i].frame.view.is_fragment)) {
            dp_drop(dp, in, DP_DROP_FLOW, p);
            continue;
        }
        if (!flow_run(&run.r, &rd[i].look)) {
            of_end(&run);
            continue;
        }
        if (dp_unlikely(normal_refuses(p) != DP_N_DROPS)) {
            dp_drop(dp, in, normal_refuses(p), p);
            continue;
        }
        b->pkt[n_kept] = p;
        b->tag[n_kept++] = b->tag[i];
    }
    b->n = n_kept;
}

void
dp_of_count(struct dp *dp, const struct dp_batch *b)
{
    uint64_t bytes = 0;

    for (int g = 0; g < N_PG; g++)
        bytes += (uint32_t) b->pg[g];
    flow_count_normal(dp->of->tables, b->n, bytes, dp->now_ns);
}
