/* SPDX-License-Identifier: Apache-2.0
 *
 * A load of XDP frames, sent from within the kernel (BPF_PROG_TEST_RUN with
 * live frames): several times as fast as a packet socket, so that with AF_XDP
 * it is the switch that is the limit, and not what makes the frames.
 *
 * The peer of the interface that sends must be polled by NAPI, as a veth is
 * that has an XDP program.
 */
#ifndef BENCH_XDP_LOAD_H
#define BENCH_XDP_LOAD_H

#include <stdbool.h>
#include <stdint.h>

struct xdp_load {
    uint32_t ifindex;    /* sends, in the namespace of the thread */
    const uint8_t *data; /* a frame of UDP over IPv4 without options */
    uint32_t len;        /* octets, at most XDP_LOAD_MAX */
    bool is_mix;         /* cut to lengths of the internet mix; len is 1514 */
    uint64_t pps;        /* frames a second, XDP_LOAD_MIN_PPS at least */
    uint64_t duration_ns;
    uint32_t n_flows; /* UDP source ports, from 1024 on; at most 50000; and
                         destination ports */
    uint32_t n_to;   /* destination addresses: the last two octets of the first
                        grow; a power of two */
    uint32_t sample; /* one frame in so many, a power of two, ... */
    uint16_t probe_port; /* ... goes to this UDP port and carries the time */
    uint64_t n_sent;     /* result */
};

#define XDP_LOAD_MAX     3000
#define XDP_LOAD_MIN_PPS 20000
/* Frame k goes to address k times this, modulo their number. */
#define XDP_LOAD_SPREAD 40503

/* Sends, and returns when it is over; 0 or an errno. */
int xdp_load_run(struct xdp_load *);

#endif
