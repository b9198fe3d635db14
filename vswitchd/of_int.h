/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of OpenFlow in the daemon (of_*.c) share.  Control thread.
 *
 * A bridge that is configured has a struct ofd_control, found by name: it
 * lives on when the bridge's datapath is made anew.  It has targets (where to
 * connect to or listen on), and peers (connections).
 */
#ifndef VSWITCHD_OF_INT_H
#define VSWITCHD_OF_INT_H

#include "base/log.h"
#include "conf/conf.h"
#include "daemon.h"
#include "dp/of.h"
#include "of.h"
#include "ofconn/ofconn.h"

#include <openssl/ssl.h>
#include <stdint.h>

#define OF_MAX_PEERS      64 /* connections of a bridge */
#define OF_MAX_TARGETS    (CONF_MAX_CONTROLLERS + 1)
#define OF_READ_AHEAD     262144 /* octets that libevent reads ahead */
#define OF_WRITE_LOW      65536  /* octets that wait: there is room again */
#define OF_HANDSHAKE_MS   10000  /* for TLS and hello, each */
#define OF_LINGER_MS      1000   /* for what is said at the end */
#define OF_MIN_BACKOFF_MS 1000
#define OF_FAIL_PROBES    3 /* probe intervals without any controller */
#define OF_DEFAULT_PROBE  5000
#define OF_MAX_TEXT       160

struct bufferevent;
struct ofbridge;
struct ofproto;
struct evconnlistener;
struct event;
struct ofd_control;
struct ofd_target;

struct ofd_peer {
    struct ofd_peer *next;     /* of the same bridge */
    struct ofd_control *of;    /* whose it is */
    struct ofd_target *target; /* how it came to be */
    struct bufferevent *bev;   /* its bytes */
    struct event *again;       /* goes on in the next turn, or frees it */
    struct ofconn *conn;       /* null: it is not connected yet */
    char name[64];             /* of its other end, for people */
    bool is_tls;               /* through TLS */
    bool was_high;             /* much waited for it to read */
    bool is_stalled;           /* what came from it waits for that */
    bool closing;              /* over: what waits is still written */
    bool doomed;               /* freed by `again` */
    uint64_t end_ns;           /* closing, or connecting: not longer than */
    uint64_t since_ns;         /* connected */
    uint8_t shown_version;     /* that was told in the log */
};

enum ofd_state { OF_WAITING, OF_CONNECTING, OF_CONNECTED, OF_LISTENING };

struct ofd_target {
    struct ofd_control *of;        /* whose it is */
    struct conf_controller conf;   /* as configured */
    struct conf_target t;          /* taken apart */
    bool is_management;            /* the bridge's own socket */
    enum ofd_state state;          /* how far it is */
    uint64_t since_ns;             /* it is in that state */
    struct ofd_peer *peer;         /* active: the connection, or null */
    uint64_t retry_ns;             /* WAITING: next attempt */
    uint32_t backoff_ms;           /* till the one after it */
    uint64_t n_attempts;           /* ever */
    struct evconnlistener *listen; /* passive: null, it does not */
    int lock_fd;                   /* of the path that it listens on; or -1 */
    char error[OF_MAX_TEXT];       /* last; empty: none */
};

struct ofd_control {
    struct ofd_control *next;                  /* of the daemon */
    struct daemon *daemon;                     /* whose it is */
    char name[CONF_NAME_MAX + 1];              /* of the bridge */
    struct conf_openflow conf;                 /* as it is in force */
    struct ofconn_switch *sw;                  /* what connections share */
    SSL_CTX *tls;                              /* null: there are no files */
    struct ofd_target *target[OF_MAX_TARGETS]; /* them */
    uint32_t n_targets;                        /* how many */
    struct ofd_peer *peers;                    /* newest first */
    uint32_t n_peers;                          /* how many */
    uint64_t n_refused;           /* connections beyond the most */
    struct event *timer;          /* when something is due */
    uint64_t lost_ns;             /* no controller is connected since; 0: one
                                     is, or none is configured */
    bool is_known;                /* the bridge was told what conf says */
    bool is_open;                 /* fail mode standalone is in force */
    uint16_t frags;               /* flags of SET_CONFIG */
    struct dp_of_options options; /* that the datapath was told */
    uint64_t n_posted;            /* frames handed to the datapath */
    uint64_t out_ticket;          /* of them, before the last barrier */
    struct log_limit limit;       /* of log lines on strangers */
};

/* of.c */
struct ofd_control *ofd_find(const struct daemon *, const char *bridge);
struct bridge *ofd_bridge(const struct ofd_control *);
struct ofbridge *ofd_ofbridge(const struct ofd_control *);
struct ofproto *ofd_books(const struct ofd_control *);
bool ofd_has_controllers(const struct conf_openflow *);

/* of_peer.c */
/* A connection that is there (fd, taken), or is to be made (fd -1, to `sa`).
 * When it cannot be, the target is told. */
struct sockaddr;
void ofd_peer_create(struct ofd_target *, int fd, const struct sockaddr *,
                     int sa_len, const char *name);
void ofd_peer_destroy(struct ofd_peer *);
/* Ends it in good order. */
void ofd_peer_close(struct ofd_peer *, const char *why);
/* The datapath got on: goes on with what waits. */
void ofd_peer_go_on(struct ofd_peer *, uint64_t now_ns);
/* What is due; returns the next moment. */
uint64_t ofd_peer_tick(struct ofd_peer *, uint64_t now_ns);

/* of_target.c */
struct ofd_target *ofd_target_create(struct ofd_control *,
                                     const struct conf_controller *,
                                     bool is_management);
/* Its connections end too. */
void ofd_target_destroy(struct ofd_target *);
/* Begins to listen on fd (-1: it is opened here), or to connect. */
void ofd_target_start(struct ofd_target *, int fd, int lock_fd);
/* Where a passive target listens; the error names the member. */
int ofd_target_listen(const struct conf_target *, const char *path, int *fd,
                      int *lock_fd, struct err *);
/* Its connection came about, or ended. */
void ofd_target_up(struct ofd_target *);
void ofd_target_down(struct ofd_target *, const char *why);
uint64_t ofd_target_tick(struct ofd_target *, uint64_t now_ns);

/* of_tls.c */
int ofd_tls_create(const struct conf_ssl *, const char *path, SSL_CTX **,
                   struct err *);
/* Why a connection failed: of the peer's certificate, or of OpenSSL. */
void ofd_tls_why(struct bufferevent *, char text[OF_MAX_TEXT]);

/* of_fail.c: fail modes */
/* Puts what the configuration says into force; `was`: before. */
void ofd_fail_conf(struct ofd_control *, const struct conf_openflow *was);
uint64_t ofd_fail_tick(struct ofd_control *, uint64_t now_ns);

/* of.c: looks at what is due, soon. */
void ofd_schedule(struct ofd_control *);

/* of_async.c: takes what the datapath has for controllers. */
void ofd_async_take(struct ofd_control *);
/* What connections want to hear of has changed. */
void ofd_async_follow(struct ofd_control *);
/* struct ofbridge_hooks */
struct ofp_flow_removed;
struct ofp_port;
void ofd_async_flow_removed(void *of, const struct ofp_flow_removed *);
void ofd_async_port_status(void *of, unsigned reason, const struct ofp_port *);
void ofd_async_datapath(void *of, struct dp *);

/* of_stats.c */
enum ofconn_verdict ofd_stats_begin(void *of, struct ofconn *,
                                    const struct ofconn_multipart *,
                                    void **dump, struct ofp_error *);
bool ofd_stats_next(void *of, void *dump, uint8_t *to, size_t room, size_t *n);
void ofd_stats_end(void *of, void *dump);

/* of_ops.c */
extern const struct ofconn_ops ofd_ops;

#endif
