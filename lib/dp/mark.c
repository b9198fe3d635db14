/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage enqueue, what is rare there: a frame that finds its queue longer than
 * a limit, and the DSCP and ECN bits that a frame leaves with.  Those are a
 * note in the descriptor, as its tag is: the buffer may be shared.
 *
 * WRED looks at the length that the frame finds, at the moment in which it is
 * queued (see qos/wred.h).
 */
#include "dp/dp_priv.h"

void
dp_rewrite_dscp(const struct dp_plan_port *pp, struct pkt *p)
{
    uint32_t l3;
    uint8_t was, ds;

    p->tx_l3 = 0;
    if (!(pp->rewrite_dscp >> p->prio & 1))
        return;
    l3 = eth_find_ds(p->data, p->len, &was);
    ds = (uint8_t) (pp->prio_to_dscp[p->prio] << 2 | (was & ECN_MASK));
    if (!l3 || ds == was)
        return;
    p->tx_l3 = (uint8_t) l3;
    p->tx_ds = ds;
}

/* What WRED says about p, and does if it says to mark it. */
static enum wred_verdict
wred(struct dp *dp, struct dp_port *out, int q, struct pkt *p)
{
    const struct dp_plan_queue *conf = &out->conf->queue[q];
    uint32_t l3 = p->tx_l3;
    uint8_t ds = p->tx_ds;
    enum wred_verdict v;

    if (!l3)
        l3 = eth_find_ds(p->data, p->len, &ds);
    v = wred_decide(&conf->wred, out->queue[q].bytes, conf->lossless,
                    l3 ? ds & ECN_MASK : ECN_NOT_ECT, &dp->rng);
    if (v == WRED_MARK) {
        p->tx_l3 = (uint8_t) l3;
        p->tx_ds = ds | ECN_CE;
        counter_add(&out->n.q_ecn_marked[q], 1);
    }
    return v;
}

/* Whether so many octets fit under the limit of a lossy queue. */
static bool
fits(const struct dp *dp, const struct dp_plan_queue *conf, uint64_t bytes)
{
    uint64_t limit = conf->limit_bytes;

    if (conf->alpha != BUF_ALPHA_NONE)
        limit = buf_dynamic_limit(conf->alpha,
                                  buf_pool_free(&dp->buf[conf->pool]));
    return bytes <= limit;
}

/* A queue with a dynamic limit or a WRED profile comes here with many frames,
 * and so do all of a port in a storm that is dropped (its max_frame_bytes is
 * 0); others only with those that cannot be taken. */
bool
dp_may_enqueue(struct dp *dp, struct dp_port *out, int q, struct pkt *p)
{
    const struct dp_plan_queue *conf = &out->conf->queue[q];
    enum dp_drop reason = DP_N_DROPS;

    if (out->wd_tx >> p->prio & 1) {
        reason = DP_DROP_WATCHDOG_TX;
        counter_add(&out->watch.tx_drop[p->prio], 1);
    } else if (out->no_send) {
        reason = DP_DROP_PORT_CONFIG;
    } else if (pkt_tx_len(p) > out->conf->max_frame_bytes) {
        reason = DP_DROP_OVERSIZE;
    } else if (!out->netdev) {
        reason = DP_DROP_PORT_DOWN;
    } else if (!conf->lossless &&
               !fits(dp, conf, out->queue[q].bytes + dp_wire_len(p))) {
        reason = DP_DROP_QUEUE_LIMIT;
    } else if (conf->wred.max_bytes &&
               out->queue[q].bytes > conf->wred.min_bytes &&
               wred(dp, out, q, p) == WRED_DROP) {
        reason = DP_DROP_WRED;
    }
    if (reason == DP_N_DROPS)
        return true;
    dp_drop_queue(dp, out, q, reason, p);
    return false;
}
