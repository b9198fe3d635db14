/* SPDX-License-Identifier: Apache-2.0
 *
 * What is measured by mem_bench and mem_cycles: one bridge with ports in
 * memory that make frames from a template and throw away what is sent, every
 * address learned.  PFC on two priorities, frames of as many as are asked for.
 *
 * Every turn each port takes in one batch and sends one: the frames of a
 * batch go to other ports in turn, so that no queue grows.
 */
#ifndef BENCH_MEM_RIG_H
#define BENCH_MEM_RIG_H

#include "conf/conf.h"
#include "dp/dp.h"
#include "netdev/netdev.h"

#include <stdbool.h>
#include <stdint.h>

#define RIG_MAX_PORTS 64
#define RIG_MAX_SIZE  1518

/* What a bridge has beside PFC, and whether each frame has to do with it. */
enum feature {
    WITH_ALPHA = 1 << 0,   /* dynamic limits of all groups and lossy queues */
    WITH_ETS = 1 << 1,     /* weights for all queues */
    WITH_WATCH = 1 << 2,   /* watchdog and guard on every port */
    WITH_WRED = 1 << 3,    /* thresholds that no queue reaches */
    WITH_MARK = 1 << 4,    /* thresholds that every frame is above */
    WITH_DSCP = 1 << 5,    /* trusted */
    WITH_REWRITE = 1 << 6, /* a DSCP for every priority */
    WITH_CABLE = 1 << 7,   /* emulated, 300 m */
};

/* What is to be built. */
struct rig_conf {
    uint32_t n_ports;     /* of the bridge, 2 to RIG_MAX_PORTS */
    uint32_t n_addresses; /* ports x a power of two */
    uint32_t size;        /* of a frame */
    uint32_t n_prios;     /* of the eight that are in use, a power of two */
    bool no_pfc;          /* no lossless priority */
    bool is_exact;        /* time begins at the same moment always */
    unsigned with;        /* enum feature, or-ed */
};

struct rig;

/* A port and what comes in on it. */
struct rig_port {
    const struct rig *rig;       /* what it is part of */
    uint32_t index;              /* its number */
    struct netdev *dev;          /* its mem port */
    struct dp_port *state;       /* its state in the bridge */
    struct netdev_mem_load load; /* endless frames */
};

struct rig {
    uint64_t from_ns;  /* time at which it begins */
    uint32_t n_ports;  /* of the bridge */
    uint32_t per_port; /* addresses of a port, a power of two */
    uint32_t size;     /* of a frame, without FCS, with its tag */
    bool pfc;          /* on two priorities */
    unsigned with;     /* enum feature, or-ed */
    uint32_t n_prios;  /* used in turn, from the first on */
    struct conf *conf; /* has one bridge */
    struct dp *dp;     /* the bridge */
    struct rig_port port[RIG_MAX_PORTS]; /* its ports */
    uint8_t body[RIG_MAX_SIZE];          /* what all frames have in common */
    const uint8_t *frames[1];            /* that, as mem ports want it */
    uint32_t lens[1];                    /* its length */
};

/* All of these end the program when something is wrong. */
void rig_init(struct rig *, const struct rig_conf *);
void rig_uninit(struct rig *);
/* Frames that left all ports. */
uint64_t rig_n_sent(const struct rig *);
/* What was measured must be forwarding: nothing dropped, nothing flooded. */
void rig_check(const struct rig *);
/* Exactly n frames, by a clock of its own: the same every time. */
void rig_run_frames(struct rig *, uint64_t n);
/* "alpha,ets": or-s them into *with; changes the text.  False: unknown. */
bool rig_parse_features(char *text, unsigned *with);
_Noreturn void rig_die(const char *what);

#endif
