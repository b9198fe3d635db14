/* SPDX-License-Identifier: Apache-2.0
 *
 * What the unit tests of lib/dp share: a bridge of mem ports on a virtual
 * clock, whose configuration a test edits and applies, and whose books are
 * audited after every turn.
 */
#ifndef TESTS_UNIT_DP_RIG_H
#define TESTS_UNIT_DP_RIG_H

#include "base/clock.h"
#include "dp/dp.h"
#include "netdev/netdev.h"
#include "wire/eth.h"
#include "wire/macctl.h"

#include <criterion/criterion.h>

#define RIG_MAX    16
#define RIG_EVENTS 4096
#define NO_TAG     (-1)
#define BROADCAST  UINT64_C(0xffffffffffff)
/* The host that lives behind port i. */
#define HOST(i) (UINT64_C(0x020000000100) + (uint64_t) (i))

struct rig {
    struct dp *dp;                      /* the bridge */
    uint64_t now_ns;                    /* virtual time */
    uint64_t next_ns;                   /* what the last turn returned */
    uint32_t n_ports;                   /* ports made */
    struct netdev *nd[RIG_MAX];         /* their interfaces */
    struct dp_port *state[RIG_MAX];     /* their states */
    bool in[RIG_MAX];                   /* part of the next plan */
    bool absent[RIG_MAX];               /* without an interface in it */
    struct dp_plan_port conf[RIG_MAX];  /* to be applied */
    struct dp_plan base;                /* bridge-wide values */
    struct dp_plan *plan;               /* the last one published */
    uint64_t generation;                /* of that */
    struct dp_event events[RIG_EVENTS]; /* all that were raised */
    uint32_t n_events;                  /* how many */
    uint64_t n_turns;                   /* turns that were made */
};

/* n ports that are trunks of all VLANs, lossy, unshaped, with equal ETS
 * weights; applied. */
void rig_init(struct rig *, uint32_t n_ports);
/* The same with so many buffers and clones. */
void rig_init_pool(struct rig *, uint32_t n_ports, uint32_t n_buffers,
                   uint32_t n_clones);
void rig_uninit(struct rig *);
/* Publishes the configuration as edited; runs until it is adopted. */
void rig_apply(struct rig *);
/* Makes those priorities lossless on a port, each in its own group, with a
 * limit, XON at half of it, and headroom.  The queues are lossless on every
 * port.  Not applied. */
void rig_lossless(struct rig *, uint32_t port, uint8_t prios, uint64_t limit,
                  uint64_t headroom);
/* One turn at the present time, and an audit.  Returns what dp_run did. */
uint64_t rig_turn(struct rig *);
/* Turns without letting time pass until the bridge wants none; how many. */
uint32_t rig_settle(struct rig *);
/* Turns at every moment that the bridge asks for, until ns have passed. */
void rig_run(struct rig *, uint64_t ns);

/* Writes a frame of len octets with EtherType 0x88b5 and `seq` in its last
 * four octets; tci NO_TAG: untagged.  Returns len. */
uint32_t rig_frame(uint8_t *out, uint64_t dst, uint64_t src, int tci,
                   uint32_t len, uint32_t seq);
/* Makes such a frame arrive on the port. */
void rig_send(struct rig *, uint32_t port, uint64_t dst, uint64_t src, int tci,
              uint32_t len, uint32_t seq);
/* An IP frame of that version from HOST(from) to HOST(to), behind n_tags tags
 * (TPID << 16 | TCI), with DSCP and ECN; the checksum of version 4 is right.
 * rig_seq() finds seq.  Returns its length. */
uint32_t rig_ip_frame(uint8_t *out, uint32_t from, uint32_t to, int version,
                      const uint32_t *tags, int n_tags, uint8_t ds,
                      uint32_t payload, uint32_t seq);
/* Makes a frame arrive. */
void rig_inject(struct rig *, uint32_t port, const uint8_t *frame,
                uint32_t len);
/* As rig_take, of an IP frame, whose checksum is checked. */
uint32_t rig_take_ip(struct rig *, uint32_t port, uint8_t *out,
                     struct eth_info *, uint8_t *ds);
/* Takes the next frame that left the port; its length, 0: none. */
uint32_t rig_take(struct rig *, uint32_t port, uint8_t *out);
/* Throws away what left the port; how many frames. */
uint32_t rig_drain(struct rig *, uint32_t port);
uint32_t rig_seq(const uint8_t *frame, uint32_t len);
/* Makes every host known where it lives, in VLAN 0 or that of the tag. */
void rig_learn(struct rig *, int tci);
/* A PFC frame arrives on the port: enable vector, the same time for all. */
void rig_pfc(struct rig *, uint32_t port, uint8_t enable, uint16_t quanta);
/* The next frame that left is a PFC frame; decodes it. */
void rig_take_pfc(struct rig *, uint32_t port, struct macctl *);
uint32_t rig_n_events(const struct rig *, enum dp_event_type, uint32_t port);

const struct dp_port_counters *rig_n(const struct rig *, uint32_t port);

#endif
