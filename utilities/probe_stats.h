/* SPDX-License-Identifier: Apache-2.0
 *
 * What a receiver knows of what came in, per (source MAC, flow id): loss,
 * duplicates, order, damage and latency, all by the sequence numbers of the
 * sender.  Pure but for the room of the flows, which is allocated when a flow
 * is first seen, and bounded.  One thread.
 */
#ifndef UTILITIES_PROBE_STATS_H
#define UTILITIES_PROBE_STATS_H

#include "probe_frame.h"
#include "probe_hist.h"

#include <stdbool.h>
#include <stdint.h>

#define PROBE_MAX_RX_FLOWS 256
/* Sequence numbers, back from the newest, that are told apart one by one. */
#define PROBE_WINDOW 65536u

struct probe_rx_flow {
    uint8_t src[6];          /* with id: which flow */
    uint32_t id;             /* as the sender says */
    uint8_t prio;            /* as the sender says */
    uint16_t vid;            /* of the newest frame's tag; 0: none */
    bool tagged;             /* whether the newest frame had one */
    bool complete;           /* the last frame of the flow was seen */
    uint64_t next;           /* one past the highest number seen */
    uint64_t received;       /* different frames that came in well */
    uint64_t bytes;          /* of all frames, repeated ones too */
    uint64_t duplicated;     /* frames seen before */
    uint64_t reordered;      /* frames that came after a later one */
    uint64_t damaged;        /* different frames with changed octets */
    uint64_t too_old;        /* behind the window: late, or a duplicate */
    uint64_t pcp_changed;    /* tagged, but with another PCP than prio */
    uint64_t first_ns;       /* when the first frame came */
    uint64_t last_ns;        /* when the newest one came */
    uint64_t longest_gap_ns; /* longest silence between two frames */
    uint64_t seen[PROBE_WINDOW / 64]; /* bit per number of the window */
    struct probe_hist latency;        /* ns */
};

struct probe_stats {
    struct probe_rx_flow *flows[PROBE_MAX_RX_FLOWS]; /* in order of arrival */
    uint32_t n_flows;                                /* that are in use */
    uint64_t n_complete;     /* flows whose last frame was seen */
    uint64_t garbled;        /* probe frames whose header was changed */
    uint64_t other;          /* frames of someone else */
    uint64_t other_bytes;    /* and their octets */
    uint64_t refused;        /* frames of flows beyond PROBE_MAX_RX_FLOWS */
    uint64_t by_pcp[N_PRIO]; /* probe frames by the priority they had on
                                the wire (PCP, or the sender's word) */
    uint64_t by_pcp_bytes[N_PRIO]; /* and their octets */
};

/* A class: all flows of a priority. */
struct probe_class {
    uint32_t n_flows;          /* how many flows */
    bool complete;             /* all of them are */
    uint64_t received;         /* sums of what each flow has */
    uint64_t bytes;            /* likewise */
    uint64_t lost;             /* likewise */
    uint64_t duplicated;       /* likewise */
    uint64_t reordered;        /* likewise */
    uint64_t damaged;          /* likewise */
    struct probe_hist latency; /* of all, ns */
};

void probe_stats_init(struct probe_stats *);
void probe_stats_uninit(struct probe_stats *);

/* A frame came in.  Says what it was, and for a probe's frame *prio, the
 * priority that it had on the wire. */
enum probe_kind probe_stats_add(struct probe_stats *, const uint8_t *frame,
                                uint32_t n, uint64_t now_ns, uint8_t *prio);

/* Numbers below the highest seen that never came. */
uint64_t probe_rx_flow_lost(const struct probe_rx_flow *);

/* Adds all flows of a priority up; *out is about 9 KiB. */
void probe_stats_class(const struct probe_stats *, uint8_t prio,
                       struct probe_class *out);

/* Whether nothing that came in was lost, repeated, late or changed. */
bool probe_stats_clean(const struct probe_stats *);

#endif
