/* SPDX-License-Identifier: Apache-2.0
 *
 * What the switch says to a controller.  Functions named ofp_send_* append a
 * whole message; those named ofp_put_* append one entry of a multipart reply,
 * which the caller frames and splits (ofp_multipart_begin, _end).  `version`
 * is OFP_V10 or OFP_V13; what 1.0 has no words for is left out.  Numbers the
 * switch does not count are UINT64_MAX.  Any thread.
 */
#ifndef OFP_REPLY_H
#define OFP_REPLY_H

#include "ofp/buf.h"
#include "ofp/msg.h"

/* --- messages ------------------------------------------------------------ */

/* An empty message of this type number; hello without elements. */
size_t ofp_begin(struct ofp_buf *, uint8_t version, uint8_t type,
                 uint32_t xid);               /* returns where it starts */
void ofp_end(struct ofp_buf *, size_t start); /* writes its length */

/* versions: bit v.  In the header: the highest. */
void ofp_send_hello(struct ofp_buf *, uint32_t xid, uint32_t versions);
/* About a message of n octets, of which 128 at most are repeated.  Version
 * and xid are that message's (a version that there is not becomes 1.3); a
 * hello failure carries the sentence instead. */
void ofp_send_error(struct ofp_buf *, uint8_t version, const uint8_t *msg,
                    size_t n, const struct ofp_error *);
void ofp_send_echo_request(struct ofp_buf *, uint8_t version, uint32_t xid);
void ofp_send_echo_reply(struct ofp_buf *, uint8_t version, uint32_t xid,
                         const uint8_t *data, size_t n);
void ofp_send_barrier_reply(struct ofp_buf *, uint8_t version, uint32_t xid);

struct ofp_features {
    uint64_t datapath_id;         /* of the switch */
    uint32_t n_buffers;           /* frames that can wait for a packet-out */
    uint8_t n_tables;             /* tables */
    uint8_t auxiliary_id;         /* of the connection; 0 */
    uint32_t n_ports;             /* 1.0 only: ... */
    const struct ofp_port *ports; /* ... the ports */
};
/* Capabilities are flow, table, port, group and queue statistics. */
void ofp_send_features(struct ofp_buf *, uint8_t version, uint32_t xid,
                       const struct ofp_features *);
void ofp_send_config(struct ofp_buf *, uint8_t version, uint32_t xid,
                     const struct ofp_switch_config *);

struct ofp_packet_in {
    uint32_t buffer_id;  /* OFP_NO_BUFFER: all of it is in data */
    uint32_t total_len;  /* of the frame */
    uint8_t reason;      /* OFPR_*: 0 no match, 1 action, 2 invalid TTL */
    uint8_t table;       /* where */
    uint32_t in_port;    /* ingress; 0: there is none (packet-out) */
    uint64_t cookie;     /* of the entry; all ones: none */
    uint64_t metadata;   /* left out when 0 */
    uint64_t tunnel_id;  /* left out when 0 */
    const uint8_t *data; /* of the frame */
    size_t n;            /* octets of it that are sent */
};
void ofp_send_packet_in(struct ofp_buf *, uint8_t version,
                        const struct ofp_packet_in *);

enum ofp_removed_reason {
    OFPRR_IDLE_TIMEOUT = 0,
    OFPRR_HARD_TIMEOUT = 1,
    OFPRR_DELETE = 2,
    OFPRR_GROUP_DELETE = 3,
    OFPRR_METER_DELETE = 4,
};
/* What the version calls it: 1.3 has no meters that go, 1.0 no groups. */
enum ofp_removed_reason ofp_removed_reason(uint8_t version,
                                           enum ofp_removed_reason);

struct ofp_flow_removed {
    uint64_t cookie;        /* of the entry */
    uint16_t priority;      /* of the entry */
    uint8_t reason;         /* enum ofp_removed_reason */
    uint8_t table;          /* where it was */
    uint64_t duration_ns;   /* how long */
    uint16_t idle_s;        /* its timeouts */
    uint16_t hard_s;        /* its timeouts */
    uint64_t n_packets;     /* frames */
    uint64_t n_bytes;       /* octets */
    struct ofp_match match; /* of the entry */
};
void ofp_send_flow_removed(struct ofp_buf *, uint8_t version,
                           const struct ofp_flow_removed *);

enum ofp_port_reason {
    OFPPR_ADD = 0,
    OFPPR_DELETE = 1,
    OFPPR_MODIFY = 2,
};
void ofp_send_port_status(struct ofp_buf *, uint8_t version, unsigned reason,
                          const struct ofp_port *);

/* 1.3 only, these three. */
void ofp_send_role(struct ofp_buf *, uint32_t xid,
                   const struct ofp_role_msg *);
void ofp_send_async(struct ofp_buf *, uint32_t xid,
                    const struct ofp_async_config *);
void ofp_send_bundle_ctrl(struct ofp_buf *, uint32_t xid,
                          const struct ofp_bundle_ctrl *);

struct ofp_queue {
    uint32_t port;     /* whose */
    uint32_t id;       /* 0 to 7 */
    uint16_t min_rate; /* guaranteed, in 1/1000 of the port's; 0xffff: none */
    uint16_t max_rate; /* at most, in 1/1000; 0xffff: none */
};
/* port: as in the request. */
void ofp_send_queue_config(struct ofp_buf *, uint8_t version, uint32_t xid,
                           uint32_t port, const struct ofp_queue *, size_t n);

/* --- multipart replies --------------------------------------------------- */

/* The head of a reply of a kind (OFPK_MP_*); returns where it starts.  Entries
 * follow, then ofp_multipart_end(): `more` when another message follows.  A
 * message may not be longer than OFP_MAX_LEN. */
size_t ofp_multipart_begin(struct ofp_buf *, uint8_t version, uint32_t xid,
                           enum ofp_kind);
void ofp_multipart_end(struct ofp_buf *, size_t start, bool more);

struct ofp_desc {
    const char *mfr;    /* manufacturer */
    const char *hw;     /* hardware */
    const char *sw;     /* software */
    const char *serial; /* number */
    const char *dp;     /* of the datapath, for people */
};
void ofp_put_desc(struct ofp_buf *, const struct ofp_desc *);

struct ofp_flow_stats {
    uint8_t table;                       /* where */
    uint16_t priority;                   /* of the entry */
    uint16_t flags;                      /* OFPFF_* as sent */
    uint16_t idle_s, hard_s;             /* timeouts; 0: none */
    uint64_t cookie;                     /* as sent */
    uint64_t duration_ns;                /* since it was added */
    uint64_t n_packets, n_bytes;         /* frames and octets */
    const struct ofp_match *match;       /* of the entry */
    const struct ofp_instructions *inst; /* of the entry */
};
void ofp_put_flow(struct ofp_buf *, uint8_t version,
                  const struct ofp_flow_stats *);

struct ofp_aggregate {
    uint64_t n_packets, n_bytes; /* frames and octets */
    uint32_t n_flows;            /* entries */
};
void ofp_put_aggregate(struct ofp_buf *, const struct ofp_aggregate *);

struct ofp_table_stats {
    uint8_t table;                 /* number */
    const char *name;              /* 1.0 only; null: "tableN" */
    uint32_t max_entries;          /* 1.0 only */
    uint32_t n_active;             /* entries */
    uint64_t n_lookups, n_matched; /* frames looked up, and those that hit */
};
void ofp_put_table(struct ofp_buf *, uint8_t version,
                   const struct ofp_table_stats *);

struct ofp_port_stats {
    uint32_t port;                   /* number */
    uint64_t rx_packets, tx_packets; /* frames */
    uint64_t rx_bytes, tx_bytes;     /* octets */
    uint64_t rx_dropped, tx_dropped; /* frames */
    uint64_t rx_errors, tx_errors;   /* frames */
    uint64_t rx_frame_err;           /* alignment errors */
    uint64_t rx_over_err;            /* overruns */
    uint64_t rx_crc_err;             /* CRC errors */
    uint64_t collisions;             /* collisions */
    uint64_t duration_ns;            /* since the port was added */
};
void ofp_put_port_stats(struct ofp_buf *, uint8_t version,
                        const struct ofp_port_stats *);

struct ofp_queue_stats {
    uint32_t port;                 /* number */
    uint32_t queue;                /* 0 to 7 */
    uint64_t tx_bytes, tx_packets; /* octets and frames sent */
    uint64_t tx_errors;            /* frames dropped */
    uint64_t duration_ns;          /* since the port was added */
};
void ofp_put_queue_stats(struct ofp_buf *, uint8_t version,
                         const struct ofp_queue_stats *);

struct ofp_pair {
    uint64_t n_packets, n_bytes; /* frames and octets */
};

struct ofp_group_stats {
    uint32_t id;                   /* number */
    uint32_t ref_count;            /* flows and groups that name it */
    uint64_t duration_ns;          /* since it was added */
    struct ofp_pair total;         /* what came in */
    uint32_t n_buckets;            /* how many */
    const struct ofp_pair *bucket; /* of each */
};
void ofp_put_group_stats(struct ofp_buf *, const struct ofp_group_stats *);
void ofp_put_group_desc(struct ofp_buf *, const struct ofp_group *);

struct ofp_group_features {
    uint32_t types;        /* bit: enum ofp_group_type */
    uint32_t capabilities; /* OFPGFC_*: 1 weights, 2 liveness, 4 chaining, 8
                              loops are looked for */
    uint32_t max_groups;   /* of each type */
    uint32_t actions;      /* bit: enum ofp_action_type; of each type */
};
void ofp_put_group_features(struct ofp_buf *,
                            const struct ofp_group_features *);

struct ofp_meter_stats {
    uint32_t id;                 /* number */
    uint32_t flow_count;         /* flows that name it */
    uint64_t duration_ns;        /* since it was added */
    struct ofp_pair total;       /* what came in */
    uint32_t n_bands;            /* how many */
    const struct ofp_pair *band; /* what was above the rate of each */
};
void ofp_put_meter_stats(struct ofp_buf *, const struct ofp_meter_stats *);
void ofp_put_meter_config(struct ofp_buf *, const struct ofp_meter *);

struct ofp_meter_features {
    uint32_t max_meter;    /* how many there may be */
    uint32_t band_types;   /* bit: enum ofp_band_type */
    uint32_t capabilities; /* bits as OFPMF_* */
    uint8_t max_bands;     /* of a meter */
    uint8_t max_color;     /* 0 */
};
void ofp_put_meter_features(struct ofp_buf *,
                            const struct ofp_meter_features *);

void ofp_put_table_features(struct ofp_buf *,
                            const struct ofp_table_features *);
void ofp_put_port_desc(struct ofp_buf *, uint8_t version,
                       const struct ofp_port *);

#endif
