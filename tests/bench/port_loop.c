/* SPDX-License-Identifier: Apache-2.0
 *
 * port_loop: what the provider costs beside bare_loop.  Two afpacket ports
 * with a pool of buffers, and nothing of the datapath between them.
 *
 *   port_loop IFACE IFACE
 *
 * Runs until it is killed.
 */
#include "netdev/netdev.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

static struct netdev *
open_port(const char *iface, struct pkt_pool *pool)
{
    struct netdev_args args = {.name = iface, .pool = pool};
    struct netdev *dev;
    struct err err;

    if (netdev_open(&netdev_afpacket, &args, &dev, &err)) {
        fprintf(stderr, "port_loop: %s\n", err.msg);
        exit(1);
    }
    return dev;
}

static uint32_t
forward(struct netdev *from, struct netdev *to)
{
    struct pkt *pkts[PKT_BATCH];
    uint32_t n = from->cls->rx(from, pkts, PKT_BATCH);
    uint32_t done = 0;

    while (done < n) {
        uint32_t n_sent;

        if (to->cls->tx(to, pkts + done, n - done, &n_sent) ==
            NETDEV_TX_DOWN) {
            fprintf(stderr, "port_loop: %s is down\n", to->name);
            exit(1);
        }
        done += n_sent;
    }
    for (uint32_t i = 0; i < n; i++)
        pkt_free(pkts[i]);
    return n;
}

int
main(int argc, char **argv)
{
    struct pkt_pool *pool;
    struct netdev *a, *b;

    if (argc != 3) {
        fprintf(stderr, "usage: port_loop IFACE IFACE\n");
        exit(2);
    }
    pool = pkt_pool_create(4096, 0, 1600);
    if (!pool)
        exit(1);
    a = open_port(argv[1], pool);
    b = open_port(argv[2], pool);
    for (;;) {
        struct pollfd pfd[2] = {{.fd = a->cls->fd(a), .events = POLLIN},
                                {.fd = b->cls->fd(b), .events = POLLIN}};

        if (forward(a, b) + forward(b, a) == 0)
            poll(pfd, 2, -1);
    }
}
