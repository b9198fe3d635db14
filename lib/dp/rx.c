/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage rx: reads every port once and takes each batch to the egress queues
 * before the next is read, while its frames are in the cache.
 */
#include "dp/dp_priv.h"

static uint32_t
rx_batch(struct dp *dp, struct dp_port *port)
{
    struct dp_batch b;
    uint32_t n = port->netdev->cls->rx(port->netdev, b.pkt, PKT_BATCH);

    if (!n)
        return 0;
    b.n = n;
    dp_parse(dp, port, &b);
    if (dp_unlikely(port->wd_rx))
        dp_watch_filter(dp, port, &b);
    dp_admit(dp, port, &b);
    dp_lookup(dp, port, &b);
    dp_enqueue(dp, port, &b);
    return n;
}

void
dp_rx(struct dp *dp)
{
    for (int i = dp_set_next(&dp->up, 0); i >= 0;
         i = dp_set_next(&dp->up, i + 1)) {
        struct dp_port *port = dp->port[i];
        /* A provider that cannot look ahead hands a PFC frame over only
         * after the data before it: it is read to the end. */
        int left = port->netdev->has_lookahead ? 1 : DP_MAX_RX_BATCHES;
        uint32_t n;

        do
            n = rx_batch(dp, port);
        while (n == PKT_BATCH && --left > 0);
        if (n == PKT_BATCH)
            dp->rx_more = true;
    }
    if (dp_unlikely(dp->is_untold))
        dp_pause_tell(dp);
}
