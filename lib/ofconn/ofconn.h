/* SPDX-License-Identifier: Apache-2.0
 *
 * The switch's end of an OpenFlow connection, as a state machine over bytes:
 * framing, hello, echo, probes, roles, what a controller wants to hear of,
 * barriers, segmented requests and replies, bundles, and the errors of all
 * that.  No socket and no clock: bytes come by ofconn_input(), leave through
 * struct ofconn_io, and the time is an argument.  What messages ask of the
 * switch is its own matter: struct ofconn_ops.
 *
 * Everything is bounded.  A message is kept in part only once its length is
 * known to be allowed, and one at a time.  While a peer does not read
 * (OFCONN_OUT_HIGH octets wait), nothing of it is executed, long replies are
 * made no further, and packet-ins for it are dropped and counted.  Segmented
 * requests and bundles live on a budget that all connections of a switch
 * share.  Control thread.
 */
#ifndef OFCONN_OFCONN_H
#define OFCONN_OFCONN_H

#include "ofp/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OFCONN_OUT_HIGH    262144u  /* octets that wait: no more is executed */
#define OFCONN_OUT_MAX     1048576u /* so many: the connection is given up */
#define OFCONN_TURN        256      /* messages of one ofconn_input() */
#define OFCONN_MAX_BUNDLES 16       /* of a connection */
#define OFCONN_BUNDLE_MSGS 131072u  /* messages of a bundle */
#define OFCONN_BUDGET      ((size_t) 128 << 20) /* octets, of a switch */
#define OFCONN_MAX_PARTS   4        /* segmented requests of a connection */
#define OFCONN_PART_BYTES  2097152u /* of one of them */
#define OFCONN_BUNDLE_NS   UINT64_C(60000000000) /* idle: discarded */
#define OFCONN_PARTS_NS    UINT64_C(10000000000) /* the same, of requests */
#define OFCONN_N_BUFFERS   256

struct ofconn;
struct ofconn_switch;

/* A whole message. */
struct ofconn_msg {
    uint8_t version;      /* of the connection */
    uint8_t type;         /* OFPT_*, of that version */
    uint32_t xid;         /* to be answered with */
    const uint8_t *bytes; /* header and all; borrowed for the call */
    size_t n;             /* octets */
};

/* A multipart (1.0: statistics) request, its segments put together. */
struct ofconn_multipart {
    uint8_t version;                /* of the connection */
    uint16_t type;                  /* OFPMP_* or OFPST_* */
    uint32_t xid;                   /* to be answered with */
    const uint8_t *body;            /* behind the multipart header; borrowed */
    size_t n;                       /* octets */
    const struct ofconn_msg *whole; /* null: it came in segments */
};

enum ofconn_verdict {
    OFCONN_OK,    /* done; replies have been sent */
    OFCONN_ERROR, /* refused: the error was filled in */
    OFCONN_WAIT,  /* no room now: the same message comes again later */
};

enum ofconn_async {
    OFCONN_PACKET_IN,
    OFCONN_PORT_STATUS,
    OFCONN_FLOW_REMOVED
};
#define OFCONN_N_ASYNC 3

enum ofconn_role { OFCONN_EQUAL = 1, OFCONN_MASTER = 2, OFCONN_SLAVE = 3 };

/* What the switch does for its connections; `sw` is what was given to
 * ofconn_switch_create(). */
struct ofconn_ops {
    /* FEATURES_REQUEST, QUEUE_GET_CONFIG_REQUEST, PACKET_OUT and the MODs:
     * replies by ofconn_send(). */
    enum ofconn_verdict (*request)(void *sw, struct ofconn *,
                                   const struct ofconn_msg *,
                                   struct ofp_error *);
    /* Begins a reply, to be made piece by piece; *dump is handed to the two
     * below, and ended exactly once. */
    enum ofconn_verdict (*multipart)(void *sw, struct ofconn *,
                                     const struct ofconn_multipart *,
                                     void **dump, struct ofp_error *);
    /* Writes whole entries, as many as fit, and how many octets they are;
     * true: there are more.  None and more: not now. */
    bool (*dump_next)(void *sw, void *dump, uint8_t *to, size_t room,
                      size_t *n);
    void (*dump_end)(void *sw, void *dump);
    /* An experimenter's message that is not of bundles. */
    enum ofconn_verdict (*experimenter)(void *sw, struct ofconn *,
                                        const struct ofconn_msg *,
                                        struct ofp_error *);
    /* Whether a message can be decoded: it is put into a bundle. */
    bool (*check)(void *sw, struct ofconn *, const struct ofconn_msg *,
                  struct ofp_error *);
    /* Carries out all of them or none; *failed is the one that is wrong. */
    enum ofconn_verdict (*commit)(void *sw, struct ofconn *,
                                  const struct ofconn_msg *, uint32_t n,
                                  uint16_t flags, uint32_t *failed,
                                  struct ofp_error *);
    /* A number that stands for all that was asked of the datapath so far, and
     * whether it has carried that out. */
    uint64_t (*ticket)(void *sw);
    bool (*is_done)(void *sw, uint64_t ticket);
    /* Flags of SET_CONFIG: false, they are not supported. */
    uint16_t (*get_frags)(void *sw);
    bool (*set_frags)(void *sw, uint16_t flags);
    /* Hello is over; the connection ends; what it wants to hear of is not what
     * it was.  May be null. */
    void (*up)(void *sw, struct ofconn *);
    void (*down)(void *sw, struct ofconn *);
    void (*asked)(void *sw, struct ofconn *);
};

/* Where bytes go. */
struct ofconn_io {
    void (*send)(void *io, const void *bytes, size_t n); /* queues all */
    size_t (*waiting)(void *io); /* octets that have not left */
};

struct ofconn_conf {
    bool is_service;       /* passive: hears nothing before it asks, as in
                              Open vSwitch; and is no controller */
    uint64_t probe_ns;     /* silence before an echo request; as long again
                              before the end; 0: never */
    uint64_t handshake_ns; /* for the hello */
};

struct ofconn_counters {
    uint64_t n_in;                      /* messages that came */
    uint64_t n_out;                     /* messages that went */
    uint64_t n_errors;                  /* of them, errors */
    uint64_t n_peer_errors;             /* errors that came */
    uint64_t n_async[OFCONN_N_ASYNC];   /* went */
    uint64_t n_dropped[OFCONN_N_ASYNC]; /* it did not read */
    uint64_t n_bundles;                 /* carried out */
};

struct ofconn_switch *ofconn_switch_create(const struct ofconn_ops *,
                                           void *sw);
void ofconn_switch_destroy(struct ofconn_switch *); /* no connection left */

/* Says hello.  Null: no memory. */
struct ofconn *ofconn_create(struct ofconn_switch *,
                             const struct ofconn_conf *,
                             const struct ofconn_io *, void *io,
                             uint64_t now_ns);
void ofconn_destroy(struct ofconn *);

/* Takes of n octets what it can, and says how many; the rest is to be offered
 * again: at once when ofconn_is_ready(), else after ofconn_go_on(). */
size_t ofconn_input(struct ofconn *, const uint8_t *, size_t n,
                    uint64_t now_ns);
/* Whether it takes octets now. */
bool ofconn_is_ready(const struct ofconn *);
/* Octets have left, or the datapath has got on: goes on with what waits. */
void ofconn_go_on(struct ofconn *, uint64_t now_ns);
/* Whether ofconn_go_on() waits for the datapath. */
bool ofconn_waits_for_switch(const struct ofconn *);
/* Whether ofconn_go_on() has something to do as soon as others had a turn. */
bool ofconn_wants_turn(const struct ofconn *);
/* The peer is alive: it took what it did not take before, or sent what cannot
 * be taken yet. */
void ofconn_has_sent(struct ofconn *, uint64_t now_ns);
/* Does what is due; returns when it wants to be called next. */
uint64_t ofconn_tick(struct ofconn *, uint64_t now_ns);
/* Null while it goes on; else why it is over: close it once what waits has
 * left. */
const char *ofconn_over(const struct ofconn *);

/* Queues a message of ours, for the switch. */
void ofconn_send(struct ofconn *, const void *bytes, size_t n);
/* The same with an error about a message (at least a header). */
void ofconn_send_error(struct ofconn *, const struct ofp_error *,
                       const struct ofconn_msg *);
/* Whether it is to hear of it: `reason` is OFPR_*, OFPPR_*, OFPRR_*. */
bool ofconn_wants(const struct ofconn *, enum ofconn_async, unsigned reason);
/* Queues it, unless too much waits already. */
void ofconn_send_async(struct ofconn *, enum ofconn_async, const void *bytes,
                       size_t n);

/* 0 before the end of hello. */
uint8_t ofconn_version(const struct ofconn *);
enum ofconn_role ofconn_role(const struct ofconn *);
bool ofconn_is_service(const struct ofconn *);
/* Most octets of a frame that a table-miss sends. */
uint16_t ofconn_miss_send_len(const struct ofconn *);
const struct ofconn_counters *ofconn_counters(const struct ofconn *);
struct ofconn *ofconn_first(const struct ofconn_switch *);
struct ofconn *ofconn_next(const struct ofconn *);

/* Frames that were sent to controllers in part: 256 at most, the oldest gives
 * way.  put returns the buffer_id (all ones: no memory).  get borrows a frame
 * till the next put; false with BUFFER_EMPTY or BUFFER_UNKNOWN.  free: it was
 * used. */
uint32_t ofconn_buffer_put(struct ofconn_switch *, const void *frame,
                           size_t n);
bool ofconn_buffer_get(struct ofconn_switch *, uint32_t id, const void **frame,
                       size_t *n, struct ofp_error *);
void ofconn_buffer_free(struct ofconn_switch *, uint32_t id);

#endif
