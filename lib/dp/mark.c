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

#include <endian.h>

/* As eth_find_ds(), which is asked where this is not IPv4 without options,
 * behind one tag or none. */
static inline uint32_t
find_ds(const struct pkt *p, uint8_t *ds)
{
    const uint8_t *type = p->data + 12;
    uint16_t be;

    if (dp_likely(p->len >= ETH_HDR_LEN + ETH_VLAN_LEN + 20)) {
        memcpy(&be, type, 2);
        if (be == htobe16(ETH_T_VLAN)) {
            type += ETH_VLAN_LEN;
            memcpy(&be, type, 2);
        }
        if (dp_likely(be == htobe16(ETH_T_IP4) && type[2] == 0x45)) {
            *ds = type[3];
            return (uint32_t) (type + 2 - p->data);
        }
    }
    return eth_find_ds(p->data, p->len, ds);
}

void
dp_rewrite_dscp(const struct dp_plan_port *pp, struct pkt *p)
{
    uint32_t l3;
    uint8_t was, ds;

    p->tx_l3 = 0;
    if (!(pp->rewrite_dscp >> p->prio & 1))
        return;
    l3 = find_ds(p, &was);
    if (!l3)
        return;
    ds = (uint8_t) (pp->prio_to_dscp[p->prio] << 2 | (was & ECN_MASK));
    if (ds == was)
        return;
    p->tx_l3 = (uint8_t) l3;
    p->tx_ds = ds;
}

uint64_t
dp_queue_limit(const struct dp_plan_queue *queue, uint64_t sure_bytes)
{
    uint64_t limit = UINT64_MAX;

    if (!queue->lossless)
        limit = queue->alpha == BUF_ALPHA_NONE
                    ? queue->limit_bytes
                    : buf_dynamic_limit(queue->alpha, sure_bytes);
    return queue->wred.max_bytes && queue->wred.min_bytes < limit
               ? queue->wred.min_bytes
               : limit;
}

static void
set_limits(struct dp *dp)
{
    for (int i = dp_set_next(&dp->up, 0); i >= 0;
         i = dp_set_next(&dp->up, i + 1)) {
        struct dp_port *port = dp->port[i];

        for (int q = 0; q < N_QUEUE; q++) {
            const struct dp_plan_queue *conf = &port->conf->queue[q];

            port->queue[q].limit =
                dp_queue_limit(conf, dp->sure_bytes[conf->pool]);
        }
    }
}

/* A turn takes in one batch of every port at most, so that a pool has so much
 * less at its end, in the worst case.  Where that is more than all queues were
 * told, or much less, they are told anew: half of it, for some turns to come.
 * What is above is looked at frame by frame, and found to be right or not. */
void
dp_follow_pools(struct dp *dp)
{
    uint64_t most = 0;
    bool changed = false;

    for (int i = 0; i < DP_MAX_PORTS / 64; i++)
        most += (uint64_t) __builtin_popcountll(dp->up.w[i]);
    most *= PKT_BATCH * pkt_pool_frame_bytes(dp->pool);
    for (unsigned m = dp->dynamic_pools; m; m &= m - 1) {
        int i = __builtin_ctz(m);
        uint64_t free = buf_pool_free(&dp->buf[i]);
        uint64_t sure = free > most ? free - most : 0;

        if (sure >= dp->sure_bytes[i] && sure / 4 <= dp->sure_bytes[i])
            continue;
        dp->sure_bytes[i] = sure / 2;
        changed = true;
    }
    dp->turn_bytes = most;
    if (changed)
        set_limits(dp);
}

void
dp_charged_more(struct dp *dp, unsigned pool)
{
    if (!(dp->dynamic_pools >> pool & 1) ||
        buf_pool_free(&dp->buf[pool]) >= dp->sure_bytes[pool] + dp->turn_bytes)
        return;
    dp->sure_bytes[pool] = 0;
    set_limits(dp);
}

/* What WRED says about p, and does if it says to mark it. */
static inline enum wred_verdict
wred(struct dp *dp, struct dp_port *out, int q, struct pkt *p)
{
    const struct dp_plan_queue *conf = &out->conf->queue[q];
    uint32_t l3 = p->tx_l3;
    uint8_t ds = p->tx_ds;
    enum wred_verdict v;

    if (!l3)
        l3 = find_ds(p, &ds);
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
static inline bool
fits(const struct dp *dp, const struct dp_plan_queue *conf, uint64_t bytes)
{
    uint64_t limit = conf->limit_bytes;

    if (conf->alpha != BUF_ALPHA_NONE)
        limit = buf_dynamic_limit(conf->alpha,
                                  buf_pool_free(&dp->buf[conf->pool]));
    return bytes <= limit;
}

/* Why p is not for queue q; DP_N_DROPS: it is, or length and thresholds have
 * to be looked at. */
static inline enum dp_drop
no_way(const struct dp_port *out, const struct pkt *p)
{
    if (dp_unlikely(out->wd_tx >> p->prio & 1))
        return DP_DROP_WATCHDOG_TX;
    if (dp_unlikely(out->no_send))
        return DP_DROP_PORT_CONFIG;
    if (dp_unlikely(pkt_tx_len(p) > out->conf->max_frame_bytes))
        return DP_DROP_OVERSIZE;
    return dp_unlikely(!out->netdev) ? DP_DROP_PORT_DOWN : DP_N_DROPS;
}

static __attribute__((noinline)) void
drop(struct dp *dp, struct dp_port *out, int q, enum dp_drop reason,
     struct pkt *p)
{
    if (reason == DP_DROP_WATCHDOG_TX)
        counter_add(&out->watch.tx_drop[p->prio], 1);
    dp_drop_queue(dp, out, q, reason, p);
}

/* Frames that find more in their queue than WRED has as its minimum come here,
 * those of a queue with a dynamic limit when its pool is nearly full, and all
 * of a port in a storm that is dropped (its max_frame_bytes is 0); others only
 * when they cannot be taken. */
bool
dp_may_enqueue(struct dp *dp, struct dp_port *out, int q, struct pkt *p)
{
    const struct dp_plan_queue *conf = &out->conf->queue[q];
    uint64_t queued = out->queue[q].bytes;
    enum dp_drop reason = no_way(out, p);

    if (dp_likely(reason == DP_N_DROPS)) {
        if (!conf->lossless && !fits(dp, conf, queued + dp_wire_len(p)))
            reason = DP_DROP_QUEUE_LIMIT;
        else if (!conf->wred.max_bytes || queued <= conf->wred.min_bytes ||
                 wred(dp, out, q, p) != WRED_DROP)
            return true;
        else
            reason = DP_DROP_WRED;
    }
    drop(dp, out, q, reason, p);
    return false;
}
