/* SPDX-License-Identifier: Apache-2.0
 *
 * Offloads of an interface: see ethtool.h.
 */
#include "netdev/ethtool.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* GRO has a call of its own; the bit is free in the flags. */
#define CHANGED_GRO 1u

/* One call of ethtool; what is at `arg` begins with the command. */
static bool
ask(const char *name, void *arg)
{
    struct ifreq ifr = {.ifr_data = arg};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool done;

    if (fd < 0)
        return false;
    snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
    done = ioctl(fd, SIOCETHTOOL, &ifr) == 0;
    close(fd);
    return done;
}

uint32_t
ethtool_n_rx_queues(const char *name, bool *combined)
{
    struct ethtool_channels ch = {.cmd = ETHTOOL_GCHANNELS};
    uint32_t n;

    *combined = false;
    if (!ask(name, &ch))
        return 1;
    *combined = ch.combined_count > 0;
    n = ch.rx_count + ch.combined_count;
    return n ? n : 1;
}

static bool
set_flags(const char *name, uint32_t off, uint32_t on)
{
    struct ethtool_value v = {.cmd = ETHTOOL_GFLAGS};

    if (!ask(name, &v))
        return false;
    v.cmd = ETHTOOL_SFLAGS;
    v.data = (v.data & ~off) | on;
    return ask(name, &v);
}

uint32_t
ethtool_disable(const char *name, bool merging)
{
    struct ethtool_value v = {.cmd = ETHTOOL_GFLAGS};
    uint32_t off = ETH_FLAG_RXVLAN | (merging ? ETH_FLAG_LRO : 0u);
    uint32_t changed = 0;

    if (ask(name, &v) && (v.data & off) && set_flags(name, off, 0))
        changed |= v.data & off;
    v = (struct ethtool_value){.cmd = ETHTOOL_GGRO};
    if (merging && ask(name, &v) && v.data) {
        v = (struct ethtool_value){.cmd = ETHTOOL_SGRO};
        if (ask(name, &v))
            changed |= CHANGED_GRO;
    }
    return changed;
}

void
ethtool_restore(const char *name, uint32_t changed)
{
    struct ethtool_value v = {.cmd = ETHTOOL_SGRO, .data = 1};

    if (changed & ~CHANGED_GRO)
        set_flags(name, 0, changed & ~CHANGED_GRO);
    if (changed & CHANGED_GRO)
        ask(name, &v);
}
