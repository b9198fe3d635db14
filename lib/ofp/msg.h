/* SPDX-License-Identifier: Apache-2.0
 *
 * What a controller says to the switch, as values: one call decodes any
 * message of OpenFlow 1.3 or 1.0 into the same struct, whatever the version.
 * What the switch says is in reply.h.  Any thread.
 */
#ifndef OFP_MSG_H
#define OFP_MSG_H

#include "ofp/action.h"
#include "ofp/arena.h"
#include "ofp/codec.h"
#include "ofp/error.h"
#include "ofp/port.h"
#include "ofp/tablefeat.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OFP_HEADER_LEN 8
#define OFP_MAX_LEN    65535 /* octets of a message */

struct ofp_header {
    uint8_t version; /* as sent */
    uint8_t type;    /* number of that version */
    uint16_t len;    /* whole message */
    uint32_t xid;    /* of the request; the same in its reply */
};
/* n >= 8 octets. */
struct ofp_header ofp_header_get(const uint8_t *msg);

/* Of every version, by what is said; a multipart request is one of its own. */
enum ofp_kind {
    OFPK_HELLO,
    OFPK_ERROR,
    OFPK_ECHO_REQUEST,
    OFPK_ECHO_REPLY,
    OFPK_FEATURES_REQUEST,
    OFPK_GET_CONFIG_REQUEST,
    OFPK_SET_CONFIG,
    OFPK_PACKET_OUT,
    OFPK_FLOW_MOD,
    OFPK_GROUP_MOD,
    OFPK_PORT_MOD,
    OFPK_TABLE_MOD,
    OFPK_METER_MOD,
    OFPK_BARRIER_REQUEST,
    OFPK_QUEUE_GET_CONFIG,
    OFPK_ROLE_REQUEST,
    OFPK_GET_ASYNC,
    OFPK_SET_ASYNC,
    OFPK_BUNDLE_CTRL,
    OFPK_BUNDLE_ADD,
    OFPK_MP_DESC,
    OFPK_MP_FLOW,
    OFPK_MP_AGGREGATE,
    OFPK_MP_TABLE,
    OFPK_MP_PORT_STATS,
    OFPK_MP_QUEUE,
    OFPK_MP_GROUP,
    OFPK_MP_GROUP_DESC,
    OFPK_MP_GROUP_FEATURES,
    OFPK_MP_METER,
    OFPK_MP_METER_CONFIG,
    OFPK_MP_METER_FEATURES,
    OFPK_MP_TABLE_FEATURES,
    OFPK_MP_PORT_DESC,
    OFP_N_KINDS,
};
static inline bool
ofp_kind_is_multipart(enum ofp_kind k)
{
    return k >= OFPK_MP_DESC;
}
/* "FLOW_MOD", "MULTIPART FLOW": for logs. */
const char *ofp_kind_name(enum ofp_kind);

struct ofp_hello {
    uint32_t versions; /* bit v: version v (of 0 to 31) is offered; by the
                          bitmap, or else all up to the header's */
};

struct ofp_error_msg {
    uint16_t type;       /* as sent */
    uint16_t code;       /* as sent */
    const uint8_t *data; /* of the message that it is about; borrowed */
    size_t n;            /* octets of it */
};

struct ofp_echo {
    const uint8_t *data; /* any; borrowed from the message */
    size_t n;            /* octets of it */
};

#define OFPC_FRAG_MASK 3u /* of flags: 0 normal, 1 drop, 2 reassemble */
struct ofp_switch_config {
    uint16_t flags;         /* OFPC_FRAG_* */
    uint16_t miss_send_len; /* octets of a packet-in, where nobody says it */
};

struct ofp_packet_out {
    uint32_t buffer_id;         /* OFP_NO_BUFFER: data follows */
    uint32_t in_port;           /* or OFPP_CONTROLLER, OFPP_ANY */
    struct ofp_actions actions; /* applied to it */
    const uint8_t *data;        /* frame; borrowed from the message */
    size_t n;                   /* octets of it */
};

enum ofp_flow_command {
    OFPFC_ADD = 0,
    OFPFC_MODIFY = 1,
    OFPFC_MODIFY_STRICT = 2,
    OFPFC_DELETE = 3,
    OFPFC_DELETE_STRICT = 4,
};

#define OFPFF10_EMERG                                      \
    0x8000u /* 1.0: kept in flags; nobody has such a cache \
             */

struct ofp_flow_mod {
    enum ofp_flow_command command; /* what to do */
    uint8_t version;               /* whose semantics: OFP_V10 (modify adds if
                                      nothing is there) or OFP_V13 */
    uint8_t table;                 /* OFPTT_ALL: delete from all; 1.0: 0, and
                                      OFPTT_ALL for deletions */
    uint16_t priority;             /* of the entry */
    uint16_t idle_s;               /* timeout; 0: none */
    uint16_t hard_s;               /* the same */
    uint16_t flags;                /* OFPFF_* (flow/tables.h) as sent */
    uint64_t cookie;               /* opaque */
    uint64_t cookie_mask;          /* bits that modify and delete compare;
                                      1.0: 0 */
    uint32_t buffer_id;            /* a frame to send through the entry */
    uint32_t out_port;             /* deletions; OFPP_ANY: any */
    uint32_t out_group;            /* deletions; OFPG_ANY: any */
    struct ofp_match match;        /* of the entry */
    struct ofp_instructions inst;  /* of the entry */
};

enum ofp_group_command {
    OFPGC_ADD = 0,
    OFPGC_MODIFY = 1,
    OFPGC_DELETE = 2,
    OFPGC_ADD_OR_MODIFY = 0x8000, /* Open vSwitch's --may-create */
};

struct ofp_group_mod {
    enum ofp_group_command command; /* what to do */
    struct ofp_group group;         /* id OFPG_ALL: deletes all */
};

enum ofp_meter_command {
    OFPMC_ADD = 0,
    OFPMC_MODIFY = 1,
    OFPMC_DELETE = 2,
};

struct ofp_meter_mod {
    enum ofp_meter_command command; /* what to do */
    struct ofp_meter meter;         /* id OFPM_ALL: deletes all */
};

struct ofp_port_mod {
    uint32_t port;      /* number */
    uint8_t hw_addr[6]; /* must be the port's */
    uint32_t config;    /* OFPPC_* */
    uint32_t mask;      /* bits of config that are to change */
    uint32_t advertise; /* OFPPF_*; 0: as it is */
};

struct ofp_table_mod {
    uint8_t table;   /* or OFPTT_ALL */
    uint32_t config; /* deprecated bits */
};

enum ofp_role {
    OFPCR_ROLE_NOCHANGE = 0,
    OFPCR_ROLE_EQUAL = 1,
    OFPCR_ROLE_MASTER = 2,
    OFPCR_ROLE_SLAVE = 3,
};

struct ofp_role_msg {
    uint32_t role;          /* enum ofp_role, as sent: may be none of them */
    uint64_t generation_id; /* of the election */
};

/* Bit r: reason r is wanted.  [0] as master or equal, [1] as slave. */
struct ofp_async_config {
    uint32_t packet_in[2];    /* OFPR_* */
    uint32_t port_status[2];  /* OFPPR_* */
    uint32_t flow_removed[2]; /* OFPRR_* */
};

enum ofp_bundle_ctrl_type {
    OFPBCT_OPEN_REQUEST = 0,
    OFPBCT_OPEN_REPLY = 1,
    OFPBCT_CLOSE_REQUEST = 2,
    OFPBCT_CLOSE_REPLY = 3,
    OFPBCT_COMMIT_REQUEST = 4,
    OFPBCT_COMMIT_REPLY = 5,
    OFPBCT_DISCARD_REQUEST = 6,
    OFPBCT_DISCARD_REPLY = 7,
};

#define OFPBF_ATOMIC  1u
#define OFPBF_ORDERED 2u

struct ofp_bundle_ctrl {
    uint32_t id;    /* of the bundle */
    uint16_t type;  /* enum ofp_bundle_ctrl_type, as sent */
    uint16_t flags; /* OFPBF_* */
};

struct ofp_bundle_add {
    uint32_t id;        /* of the bundle */
    uint16_t flags;     /* OFPBF_* */
    const uint8_t *msg; /* whole; its header's xid is the outer one */
    size_t n;           /* octets of it */
};

/* MP_FLOW and MP_AGGREGATE. */
struct ofp_flow_request {
    uint8_t table;          /* or OFPTT_ALL */
    uint32_t out_port;      /* OFPP_ANY: any */
    uint32_t out_group;     /* OFPG_ANY: any */
    uint64_t cookie;        /* of which ... */
    uint64_t cookie_mask;   /* ... these bits are compared */
    struct ofp_match match; /* what entries must say at least */
};

struct ofp_msg {
    enum ofp_kind kind; /* says which of the union is meant */
    uint8_t version;    /* OFP_V10 or OFP_V13 */
    uint32_t xid;       /* of the header */
    bool more;          /* multipart: OFPMPF_REQ_MORE, others follow */
    union {
        struct ofp_hello hello;
        struct ofp_error_msg error;
        struct ofp_echo echo; /* request, reply */
        struct ofp_switch_config config;
        struct ofp_packet_out packet_out;
        struct ofp_flow_mod flow;
        struct ofp_group_mod group;
        struct ofp_port_mod port;
        struct ofp_table_mod table;
        struct ofp_meter_mod meter;
        struct ofp_role_msg role;
        struct ofp_async_config async;
        struct ofp_bundle_ctrl bundle;
        struct ofp_bundle_add bundle_add;
        struct ofp_flow_request flows; /* MP_FLOW, MP_AGGREGATE */
        struct {
            uint32_t port;  /* or OFPP_ANY: MP_PORT_STATS, MP_QUEUE,
                               QUEUE_GET_CONFIG */
            uint32_t queue; /* or OFPQ_ALL: MP_QUEUE */
        } which;
        uint32_t id; /* MP_GROUP, MP_METER, MP_METER_CONFIG; OFPG_ALL,
                        OFPM_ALL */
        struct {
            uint32_t n;                   /* how many; 0: tell them */
            struct ofp_table_features *t; /* to be so; in the arena */
        } features;                       /* MP_TABLE_FEATURES */
    };
    struct ofp_arena arena; /* its lists */
};

#define OFPQ_ALL 0xffffffffu

/* Decodes a message of n octets (8 at least, and as many as its header says:
 * else BAD_LEN).  Borrows it: data, frames and bundled messages point into
 * it.  False: *e is what to answer, nothing is to be freed.  A version other
 * than 1.0 and 1.3 is BAD_VERSION, hello, error and echo excepted. */
bool ofp_msg_decode(const uint8_t *msg, size_t n, struct ofp_msg *,
                    struct ofp_error *e);
void ofp_msg_free(struct ofp_msg *);

/* The same of a multipart request that came in several messages: `body` is
 * that of all of them (behind their 16 octets), in order.  May be longer than
 * a message.  type: of 1.3. */
bool ofp_multipart_decode(uint16_t type, const uint8_t *body, size_t n,
                          struct ofp_msg *, struct ofp_error *e);

#endif
