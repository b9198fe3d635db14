/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenFlow in the datapath of a bridge: how the control thread hands it
 * changes of the flow tables and frames to send, and takes the frames that
 * are for a controller.  What a table, a group and a meter are is
 * flow/tables.h; the books of which exist are the control thread's.
 *
 * "control" and "dp" are the threads of dp.h.
 */
#ifndef DP_OF_H
#define DP_OF_H

#include "base/counter.h"
#include "dp/dp.h"
#include "flow/tables.h"
#include "ofp/action.h"

#include <stdbool.h>
#include <stdint.h>

/* --- changes ------------------------------------------------------------ */

/* Any thread: the tables of the bridge, for flow_change_create() and the
 * counters of tables.  They live as long as the dp does.  A new dp has no
 * entry and sends every frame to NORMAL (see FLOW_OP_DEFAULT). */
struct flow_tables *dp_flow_tables(struct dp *);

/* Control: hands a change over; they are carried out in the order in which
 * they are posted, which must be the one in which they were created.  Returns
 * its number, 1 for the first; 0: the ring (DP_OF_CHANGES) is full, try again
 * when one is done.  DP_OF_OPS operations are carried out a turn.  `atomic`:
 * all the same no frame sees a part of it (bundles). */
uint64_t dp_change_post(struct dp *, struct flow_change *, bool atomic);
/* Control: the number of the last change that was carried out whole; that and
 * those before it may be destroyed.  Every frame that is received from then on
 * sees it: a barrier is answered when this has reached the number of the last
 * change that was posted before it. */
uint64_t dp_changes_done(const struct dp *);

#define DP_OF_CHANGES 1024 /* that may be posted and not done */
#define DP_OF_OPS     128  /* operations carried out in a turn */

/* dp: whether a change was finished, or a frame put into the ring for the
 * control thread, since this was last asked: the thread wakes it then. */
bool dp_of_news(struct dp *);

/* --- frames to controllers ---------------------------------------------- */

#define OFPR_NO_MATCH    0 /* by the entry of priority 0 that matches all */
#define OFPR_ACTION      1
#define OFPR_INVALID_TTL 2

struct dp_packet_in {
    uint8_t reason;      /* OFPR_* */
    uint8_t table;       /* where the entry is */
    uint16_t max_len;    /* of the action; INVALID_TTL: OFPCML_NO_BUFFER */
    uint16_t priority;   /* of the entry */
    uint16_t slot;       /* ingress port; PKT_NO_PORT: from a packet-out */
    uint32_t in_port;    /* its OpenFlow number */
    uint64_t cookie;     /* of the entry; all ones: none (packet-out) */
    uint64_t metadata;   /* that goes between tables */
    uint64_t tunnel_id;  /* set-field may have made it other than 0 */
    uint64_t now_ns;     /* datapath time */
    uint32_t len;        /* of the frame, padded to 60 */
    const uint8_t *data; /* all of it, tags in place: max_len is for whoever
                            tells the controller */
};

/* Control: takes the oldest; false when there is none.  data is good until
 * the next call. */
bool dp_packet_in_get(struct dp *, struct dp_packet_in *);
/* Any thread: what was put into the ring, and what did not fit. */
uint64_t dp_packet_ins(const struct dp *);
uint64_t dp_packet_ins_lost(const struct dp *);

/* Control: a frame to be handled as the actions say, without an action set
 * (output to OFPP_TABLE: as if it had come in on in_port, from table 0).  Both
 * are copied.  in_port: OpenFlow number, or OFPP_CONTROLLER, OFPP_ANY.
 * False: the ring is full (some hundred frames of full size, or thousands of
 * small ones); the dp carries out a bounded number a turn, so try again soon.
 * Frames shorter than an Ethernet header, or longer than the bridge takes, are
 * counted as drops. */
bool dp_packet_out_post(struct dp *, uint32_t in_port,
                        const struct ofp_actions *, const uint8_t *frame,
                        uint32_t len);
/* Any thread. */
struct dp_of_counters {
    counter_t n_out;         /* packet-outs carried out */
    counter_t n_out_dropped; /* of them: no buffer, or a bad length */
    counter_t n_table_miss;  /* frames that no entry matched */
};
const struct dp_of_counters *dp_of_counters(const struct dp *);

/* --- ports -------------------------------------------------------------- */

/* As in 1.3; NO_FLOOD is 1.0's. */
#define OFPPC_PORT_DOWN    (1u << 0)
#define OFPPC_NO_RECV      (1u << 2)
#define OFPPC_NO_FLOOD     (1u << 4)
#define OFPPC_NO_FWD       (1u << 5)
#define OFPPC_NO_PACKET_IN (1u << 6)

/* dp (through dp_post): how a controller configured the port of a slot, and
 * whether its link is up (for fast failover).  At first 0 and up.  A port that
 * was taken out of the bridge since is passed over.  NORMAL heeds them too. */
void dp_of_set_port(struct dp *, uint16_t slot, uint32_t config, bool link_up);

/* dp (through dp_post): what connections ask for.  At first nothing. */
struct dp_of_options {
    bool drop_fragments; /* OFPC_FRAG_DROP: IP fragments, all of them */
    bool invalid_ttl;    /* packet-in for a TTL that would fall to 0 */
    bool misses;         /* the same for a frame that no entry matches, as
                            OpenFlow 1.0 has it: NO_MATCH, no cookie */
};
void dp_of_set_options(struct dp *, const struct dp_of_options *);

/* --- trace -------------------------------------------------------------- */

enum dp_step_type {
    DP_STEP_INGRESS, /* prio, pg: what the frame is charged to, by its port */
    DP_STEP_MATCH,   /* table, entry */
    DP_STEP_MISS,    /* table */
    DP_STEP_INSTR,   /* what: clear, write, metadata, goto (table) */
    DP_STEP_ACTION,  /* act */
    DP_STEP_SET,     /* the action set begins */
    DP_STEP_GROUP,   /* id; bucket, or UINT32_MAX: none is alive or to be had
                        (there is no such group, it has no bucket) */
    DP_STEP_METER,   /* id; verdict */
    DP_STEP_OUT,     /* port (slot), queue, prio; drop: DP_N_DROPS if sent */
    DP_STEP_NORMAL,  /* the frame goes to NORMAL: its outputs follow */
    DP_STEP_CTRL,    /* to the controller: reason, max_len */
    DP_STEP_DROP,    /* drop: the frame ends here, for that reason */
};

enum dp_step_instr {
    DP_INSTR_APPLY,
    DP_INSTR_CLEAR,
    DP_INSTR_WRITE,
    DP_INSTR_METADATA,
    DP_INSTR_GOTO,
};

enum dp_step_meter {
    DP_METER_PASS,
    DP_METER_DROP,
    DP_METER_REMARK,
    DP_METER_NONE, /* there is no such meter */
};

struct dp_step {
    enum dp_step_type type;   /* what happens */
    uint8_t depth;            /* 0: of an entry; n: in a bucket, n deep */
    uint8_t table;            /* MATCH, MISS, INSTR GOTO */
    enum dp_step_instr instr; /* INSTR */
    enum dp_step_meter meter; /* METER: what it would do now */
    enum dp_drop drop;        /* OUT, DROP */
    uint8_t reason;           /* CTRL */
    uint8_t prio;             /* INGRESS, OUT */
    uint8_t pg;               /* INGRESS */
    uint8_t queue;            /* OUT */
    bool lossless;            /* INGRESS: the group; OUT: the queue */
    uint16_t port;            /* OUT: slot */
    uint32_t of_port;         /* OUT: OpenFlow number */
    uint32_t id;              /* GROUP, METER */
    uint32_t bucket;          /* GROUP */
    uint16_t max_len;         /* CTRL */
    uint16_t priority;        /* MATCH */
    uint64_t cookie;          /* MATCH */
    void *owner;              /* MATCH: of flow_create(); to be looked at
                                 only if no entry was destroyed meanwhile */
    uint64_t metadata;        /* INSTR METADATA: after it */
    struct ofp_action act;    /* ACTION */
    struct ofp_key key;       /* MATCH, MISS: the headers as looked up; OUT:
                                 those that leave (first 160 octets) */
};

#define DP_TRACE_STEPS 512

/* The caller's memory; large. */
struct dp_trace {
    uint32_t n;                          /* steps */
    bool more;                           /* there were more than fit */
    struct dp_step step[DP_TRACE_STEPS]; /* them, in order */
};

/* dp (through dp_post): what would happen to a frame that came in on the port
 * of OpenFlow number in_port now.  Nothing is sent, learned, counted or
 * consumed.  False: there is no such port, or the frame is too short. */
bool dp_trace(struct dp *, uint32_t in_port, const uint8_t *frame,
              uint32_t len, struct dp_trace *);

#endif
