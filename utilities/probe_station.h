/* SPDX-License-Identifier: Apache-2.0
 *
 * An end station with PFC, in software: what sluice-probe is.  It ties the
 * sending half, the receiving half and the pause state to one netdev.  Like a
 * datapath it is told the time and asked for turns: read first, then send, so
 * that a pause that lies in the receive ring stops all but one batch.  No
 * clock in here; one thread.
 */
#ifndef UTILITIES_PROBE_STATION_H
#define UTILITIES_PROBE_STATION_H

#include "netdev/netdev.h"
#include "probe_conf.h"
#include "probe_malformed.h"
#include "probe_sender.h"
#include "probe_slow.h"
#include "probe_stats.h"
#include "qos/pfc.h"

#include <stdbool.h>
#include <stdint.h>

struct probe_station {
    const struct probe_conf *conf;      /* what is wanted; borrowed */
    struct netdev *dev;                 /* the interface; borrowed */
    struct pkt_pool *pool;              /* borrowed */
    int raw_fd;                         /* for frames that are too short;
                                           -1: padded ones instead */
    struct pfc pfc;                     /* pause state, both ways */
    struct probe_sender sender;         /* role "send" */
    struct probe_stats stats;           /* role "receive" */
    struct probe_slow_buf slow[N_PRIO]; /* slow consumers */
    bool started;                       /* probe_station_start was called */
    bool stopped;                       /* probe_station_stop was called */
    bool blocked;                       /* the kernel is full: POLLOUT */
    uint64_t start_ns;                  /* when the run began */
    uint64_t end_ns;                    /* when the receiver stops */
    uint64_t hard_end_ns;               /* when everything stops */
    uint64_t retry_ns;                  /* the interface is down until */
    uint64_t rx_last_ns;                /* newest probe frame */
    uint64_t storm_next_ns[PROBE_MAX_STORMS]; /* when its next frame goes */
    uint64_t storm_frames;                    /* sent */
    uint64_t malformed_next_ns;               /* when the next one goes */
    uint64_t malformed[PROBE_N_MALFORMED];    /* sent, by kind */
    uint64_t n_malformed;                     /* sent */
    uint64_t after_xoff[N_PRIO];     /* frames of p since our XOFF went */
    uint64_t after_xoff_max[N_PRIO]; /* most of them in one pause */
};

/* dev and pool live longer than the station.  ENOMEM. */
int probe_station_init(struct probe_station *, const struct probe_conf *,
                       struct netdev *, struct pkt_pool *, int raw_fd,
                       uint64_t now_ns);
void probe_station_uninit(struct probe_station *);

/* The run begins: flows send, what was received before is forgotten. */
void probe_station_start(struct probe_station *, uint64_t now_ns);

/* Takes one batch from the ring; how many frames: less than PKT_BATCH says
 * that it is empty. */
uint32_t probe_station_rx(struct probe_station *, uint64_t now_ns);

/* Sends what is due: PFC first, then misbehaviour, then one batch of data.
 * Returns when it wants to be called again. */
uint64_t probe_station_tx(struct probe_station *, uint64_t now_ns);

/* Whether the run is over. */
bool probe_station_ended(const struct probe_station *, uint64_t now_ns);

/* Ends the flows early, as their time would; the run goes on until it is. */
void probe_station_finish(struct probe_station *, uint64_t now_ns);
/* Ends the run early: flows send their last frames. */
void probe_station_stop(struct probe_station *, uint64_t now_ns);

/* Lets the peer go of every pause that is held; true when all XON went. */
bool probe_station_release(struct probe_station *, uint64_t now_ns);

#endif
