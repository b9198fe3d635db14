/* SPDX-License-Identifier: Apache-2.0
 *
 * Interfaces that ports are put on: see iface.h.
 */
#include "netdev/iface.h"

#include "base/clock.h"

#include <errno.h>
#include <string.h>

/* How long a frame that is in the ring may go unseen. */
#define SETTLE_NS (NS_PER_S / 2)

int
iface_take(struct netdev *dev, struct iface_drops *drops,
           struct link_info *info, struct err *err)
{
    int rc = link_get(dev->name, info, err);

    if (rc)
        return rc;
    if (!info->is_ether)
        return err_set(err, EINVAL, NULL, dev->name, "an Ethernet interface",
                       "\"%s\" is not an Ethernet interface", dev->name);
    if (!info->up) {
        rc = link_set_up(dev->name, true, err);
        if (rc)
            return rc;
    }
    dev->ifindex = info->ifindex;
    dev->mtu = info->mtu;
    dev->speed_bps = info->speed_bps;
    memcpy(dev->mac, info->mac, sizeof(dev->mac));
    drops->base_rx = info->rx_dropped;
    drops->base_tx = info->tx_dropped;
    return 0;
}

void
iface_begin(const struct netdev *dev, struct iface_drops *drops)
{
    struct link_info info;

    if (link_get_index(dev->ifindex, &info, NULL) == 0)
        drops->base_rx = info.rx_dropped;
}

void
iface_raise(counter_t *c, uint64_t now, uint64_t base)
{
    if (now > base && now - base > *c)
        counter_set(c, now - base);
}

void
iface_count(struct netdev *dev, struct iface_drops *drops,
            const struct link_info *info, uint64_t rx_known,
            uint64_t n_refused)
{
    uint64_t now_ns = clock_ns();

    /* A refusal that we were told of, and repeated, also counts there. */
    iface_raise(&dev->stats.tx_queue_drops, info->tx_dropped,
                drops->base_tx + n_refused);
    /* A reading is used a while after it was taken, when all that was in the
     * ring then has been looked at. */
    if (now_ns - drops->seen_ns < SETTLE_NS)
        return;
    iface_raise(&dev->stats.rx_backlog_drops, drops->seen_rx,
                drops->base_rx + rx_known);
    drops->seen_rx = info->rx_dropped;
    drops->seen_ns = now_ns;
}
