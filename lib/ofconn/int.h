/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of lib/ofconn share.  Private; control thread.
 */
#ifndef OFCONN_INT_H
#define OFCONN_INT_H

#include "ofconn/ofconn.h"
#include "ofconn/proto.h"

struct buffer {
    uint32_t id; /* that it was sent under; meaningless without frame */
    void *frame; /* null: none, or taken already */
    size_t n;    /* its octets */
};

struct ofconn_switch {
    const struct ofconn_ops *ops;           /* what it does */
    void *sw;                               /* handed to them */
    struct ofconn *first;                   /* connections, newest first */
    size_t budget;                          /* octets that may still be kept */
    bool has_generation;                    /* a role came with a number */
    uint64_t generation;                    /* the highest */
    struct buffer buffer[OFCONN_N_BUFFERS]; /* a ring */
    uint32_t n_buffered;                    /* ever */
    uint8_t scratch[OFP_MAX_MSG_BYTES + 1]; /* a reply in the making */
};

/* A message in a bundle. */
struct bundle_msg {
    struct bundle_msg *next; /* the one after it */
    size_t n;                /* octets */
    uint8_t bytes[];         /* header and all */
};

struct bundle {
    struct bundle *next;      /* of the same connection */
    uint32_t id;              /* the controller's number */
    uint16_t flags;           /* that it was opened with */
    bool closed;              /* takes no more */
    uint64_t used_ns;         /* when it was last touched */
    struct bundle_msg *head;  /* in order */
    struct bundle_msg **tail; /* where the next one goes */
    uint32_t n;               /* messages */
};

/* A multipart request of which more is to come. */
struct parts {
    bool used;        /* there is one */
    uint16_t type;    /* OFPMP_* */
    uint32_t xid;     /* the same in all segments */
    uint64_t used_ns; /* when the last one came */
    uint8_t *body;    /* so far */
    size_t n;         /* its octets */
};

enum state { ST_HELLO, ST_OPEN, ST_OVER };

struct ofconn {
    struct ofconn_switch *s;    /* whose it is */
    struct ofconn *next, *prev; /* of the switch */
    struct ofconn_conf conf;    /* as it was made */
    const struct ofconn_io *io; /* where bytes go */
    void *io_arg;               /* handed to it */
    enum state state;           /* how far it is */
    uint8_t version;            /* negotiated, or 0 */
    char why[128];              /* it is over */
    uint64_t since_ns;          /* it was made */
    uint64_t alive_ns;          /* the peer last showed that it lives */
    bool is_probed;             /* an echo request is out since then */
    uint64_t probed_ns;         /* when it was sent */
    uint32_t xid;               /* of our next own message */

    uint8_t head[OFP_HEADER_BYTES]; /* of a message that comes in pieces */
    size_t n_head;                  /* of these */
    uint8_t *part;                  /* the whole of it; null: not begun */
    size_t part_size, n_part;       /* its length, and what is there */
    bool is_held;                   /* part is whole, and waits (WAIT) */

    bool has_ticket;    /* a barrier, or the end of a bundle, waits */
    uint64_t ticket;    /* for this */
    uint8_t later[24];  /* what is sent then */
    size_t n_later;     /* its octets */
    void *dump;         /* reply in the making, or null */
    uint16_t dump_type; /* its kind */
    uint32_t dump_xid;  /* its number */

    enum ofconn_role role;                /* what it may do */
    uint16_t miss_send_len;               /* of packet-ins */
    uint32_t async[2][OFCONN_N_ASYNC];    /* reasons by bit: [1] of a slave */
    struct parts parts[OFCONN_MAX_PARTS]; /* requests in the making */
    struct bundle *bundles;               /* newest first */
    struct ofconn_counters n;             /* what happened */
};

/* conn.c */
void ofconn_end(struct ofconn *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Takes octets off the budget; false: they are not there. */
bool ofconn_budget(struct ofconn *, size_t n);
void ofconn_refund(struct ofconn *, size_t n);
/* Sends, once all that was asked so far is carried out. */
void ofconn_send_later(struct ofconn *, const void *bytes, size_t n);

/* reply.c: a message of ours, its body following a header. */
void ofconn_header(uint8_t to[OFP_HEADER_BYTES], uint8_t version, uint8_t type,
                   size_t n, uint32_t xid);
void ofconn_reply(struct ofconn *, const struct ofconn_msg *to, uint8_t type,
                  const void *body, size_t n);

/* hello.c */
void ofconn_say_hello(struct ofconn *);
void ofconn_take_hello(struct ofconn *, const struct ofconn_msg *);

/* dispatch.c: what one message asks for. */
enum ofconn_verdict ofconn_take(struct ofconn *, const struct ofconn_msg *,
                                uint64_t now_ns, struct ofp_error *);

/* role.c */
void ofconn_async_init(struct ofconn *);
bool ofconn_take_role(struct ofconn *, const struct ofconn_msg *,
                      struct ofp_error *);
bool ofconn_take_set_async(struct ofconn *, const struct ofconn_msg *,
                           struct ofp_error *);
void ofconn_take_get_async(struct ofconn *, const struct ofconn_msg *);

/* multipart.c */
enum ofconn_verdict ofconn_take_multipart(struct ofconn *,
                                          const struct ofconn_msg *,
                                          uint64_t now_ns, struct ofp_error *);
/* Makes more of the reply that is in the making. */
void ofconn_dump_on(struct ofconn *);
void ofconn_multipart_end(struct ofconn *);
/* Forgets what was begun long ago; the next moment to look. */
uint64_t ofconn_multipart_tick(struct ofconn *, uint64_t now_ns);

/* bundle.c */
enum ofconn_verdict ofconn_take_bundle(struct ofconn *,
                                       const struct ofconn_msg *,
                                       uint32_t exp_type, uint64_t now_ns,
                                       struct ofp_error *);
void ofconn_bundles_end(struct ofconn *);
uint64_t ofconn_bundles_tick(struct ofconn *, uint64_t now_ns);

/* buffer.c */
void ofconn_buffers_end(struct ofconn_switch *);

#endif
