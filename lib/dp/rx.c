/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage rx: reads a batch from every port and takes each to the egress queues
 * before the next is read, while its frames are in the cache.
 */
#include "dp/dp_priv.h"
#include "pkt/offload.h"

/* Whether what is left of the super-frame in which a batch ends is to be read
 * in the same turn, so that it can leave as a whole.  Egress sends as much
 * more (tx.c), but not from a queue that a pause may stop: nothing is read
 * that may fill one.  Nor is headroom taken for it. */
static __attribute__((noinline)) bool
reads_on(struct dp *dp, const struct dp_port *port, const struct dp_batch *b)
{
    const struct pkt *p = b->n ? b->pkt[b->n - 1] : NULL;

    if (!p || !pkt_is_unfinished(p) || (dp->stop_prios >> p->prio & 1) ||
        port->group[p->pg].conf.lossless)
        return false;
    dp_charged_more(dp, port->group[p->pg].conf.pool);
    return true;
}

/* Takes at most `max` frames in.  *rest: how many are to be read beyond what a
 * turn reads. */
static uint32_t
rx_batch(struct dp *dp, struct dp_port *port, uint32_t max, uint32_t *rest)
{
    struct dp_batch b;
    uint32_t n = port->netdev->cls->rx(port->netdev, b.pkt, max);

    if (!n)
        return 0;
    b.n = n;
    dp_parse(dp, port, &b);
    if (dp_unlikely(port->netdev->rx_rest) && reads_on(dp, port, &b))
        *rest = port->netdev->rx_rest;
    if (dp_unlikely(port->wd_rx))
        dp_watch_filter(dp, port, &b);
    if (dp_unlikely(port->no_recv))
        dp_of_refuse(dp, port, &b);
    dp_admit(dp, port, &b);
    dp_flow(dp, port, &b);
    dp_lookup(dp, port, &b);
    dp_enqueue(dp, port, &b);
    return n;
}

/* A provider that cannot look ahead hands a PFC frame over only after the data
 * before it.  While it has more, nothing is sent there (dp_tx), in case the
 * next thing is a pause; a port that obeys none need not wait. */
static void
note_unread(struct dp_port *port, bool has_more)
{
    const struct pfc_conf *pfc = &port->pfc.conf;

    if (!has_more || port->netdev->has_lookahead ||
        !(pfc->honoured || pfc->pause_rx))
        port->n_unread = 0;
    else if (port->n_unread < DP_MAX_UNREAD)
        port->n_unread++;
}

void
dp_rx(struct dp *dp)
{
    for (int i = dp_set_next(&dp->up, 0); i >= 0;
         i = dp_set_next(&dp->up, i + 1)) {
        struct dp_port *port = dp->port[i];
        uint32_t rest = 0, n = rx_batch(dp, port, PKT_BATCH, &rest);
        bool has_more = n == PKT_BATCH;

        if (dp_unlikely(rest) && has_more)
            n +=
                rx_batch(dp, port, rest < PKT_BATCH ? rest : PKT_BATCH, &rest);
        dp->n_read += n;
        if (has_more)
            dp->rx_more = true;
        if (dp_unlikely(port->netdev->rx_level > port->netdev->rx_high ||
                        port->is_behind))
            dp_pause_ring(dp, port);
        if (dp_unlikely(has_more || port->n_unread))
            note_unread(port, has_more);
    }
    if (dp_unlikely(dp->is_untold))
        dp_pause_tell(dp);
}
