/* SPDX-License-Identifier: Apache-2.0
 *
 * A port's way to the outside: the provider interface.  A provider moves
 * frames between pool buffers and something that sends and receives, and
 * undoes what the kernel did to frames (tag in metadata, partial checksum,
 * GSO), so that a frame looks as it does on the wire.
 *
 * open and close: control thread.  rx, tx: datapath thread, never block.
 * poll and stats: as said.  An instance is used by one datapath at a time.
 */
#ifndef NETDEV_NETDEV_H
#define NETDEV_NETDEV_H

#include "base/counter.h"
#include "base/err.h"
#include "pkt/pkt.h"

#include <stdbool.h>
#include <stdint.h>

/* A receive ring is too full when it is so full: one part in four.  What is
 * left of it is for what arrives until the peer has stopped, and while we do
 * not run. */
#define NETDEV_RING_HIGH 4
/* The kernel's way of a frame to a virtual interface takes 1 to 4 us: after
 * how many of them it is worth a look whether a pause has come.  A look, and
 * one more call of the kernel, cost 100 ns. */
#define NETDEV_TX_LOOK  8
#define NETDEV_NAME_MAX 15 /* IFNAMSIZ - 1 */

/* Most frames that tx is given at a time: a batch, and what is left of the
 * super-frame that its last frame is a piece of. */
#define NETDEV_TX_MAX (2 * PKT_BATCH)

/* The ring of which that rest is so much. */
static inline uint64_t
netdev_ring_for(uint64_t rest)
{
    return rest + (rest + NETDEV_RING_HIGH - 2) / (NETDEV_RING_HIGH - 1);
}

struct netdev;

struct netdev_args {
    const char *name;      /* interface; for `mem` a free name */
    struct pkt_pool *pool; /* buffers to receive into */
    uint32_t ring_bytes;   /* receive ring; 0: the provider's default */
    bool have_mac;         /* mac is to be set (tap) */
    uint8_t mac[6];        /* the wanted address */
    uint32_t mtu;          /* tap: MTU to set; 0: leave */
    bool down;             /* tap: not set up, that is for its user */
    bool is_ring_auto;     /* ring_bytes is what would be good: it may be less
                              where memory is short */
    bool only_native;      /* afxdp: not in generic mode */
    bool only_generic;     /* afxdp, for tests: as if the driver had no native
                              mode, and nothing were lost without it */
};

/* How a TAP holds its senders back: its frames are sorted as the datapath is
 * going to sort them. */
struct netdev_hold {
    uint64_t rate_bps;        /* that they are shaped to; > 0 */
    bool trust_dscp;          /* the DSCP of an IP packet decides */
    uint8_t default_prio;     /* of what carries none */
    uint8_t pcp_to_prio[8];   /* by the PCP of the outer tag */
    uint8_t dscp_to_prio[64]; /* by DSCP, with trust in it */
};

/* What happened below us.  One writer each: the datapath thread for what rx
 * and tx count, the control thread for what poll_kernel reads. */
struct netdev_stats {
    counter_t rx_ring_drops;    /* kernel: our receive ring (TAP: the queue
                                   from the host to us) was full */
    counter_t rx_backlog_drops; /* kernel: lost before our ring; at least
                                   (TAP that holds: no room to hold in) */
    counter_t rx_oversize;    /* longer than a pool buffer, not GSO: dropped */
    counter_t rx_bad;         /* could not be restored (bad vnet header) */
    counter_t rx_gso;         /* super-frames segmented on entry */
    counter_t rx_no_buffer;   /* turns in which rx stopped for want of one */
    counter_t tx_again;       /* sends that the kernel refused for now */
    counter_t tx_errors;      /* frames that tx took but gave up, since they
                                 can never be sent (longer than the MTU; TAP
                                 that the host has down) */
    counter_t tx_queue_drops; /* kernel: tx_dropped of the interface, without
                                 what it refused and we repeated: lost after
                                 tx (peer's backlog full) */
    counter_t n_ring_slots;   /* slots of the receive ring (TAP: frames of
                                 the queue from the host to us) */
    counter_t n_ring_pauses;  /* times that the datapath paused the peer since
                                 the ring was too full */
    counter_t ring_peak;      /* most slots seen occupied at once; TAP: 0 */
    counter_t n_holds;        /* TAP: times that a class was held */
    counter_t hold_failed;    /* requests to hold that the kernel refused */
    counter_t hold_worst_ns;  /* longest time from XOFF to being held */
    counter_t hold_lost;      /* 1: what holds was taken away by someone */
};

enum netdev_tx {
    NETDEV_TX_OK,    /* the first *n_sent were taken, the rest stay */
    NETDEV_TX_AGAIN, /* the same, and the kernel is full: poll for POLLOUT */
    NETDEV_TX_DOWN,  /* the interface is gone or down: nothing is sendable */
};

/* Ten operations or fewer.  Null where noted. */
struct netdev_class {
    const char *type;  /* "afpacket", "afxdp", "auto", "tap", "mem" */
    bool on_interface; /* opens an interface that exists without it, and that
                          may come and go */
    bool is_choice;    /* opens a port of another class, see fallback */
    bool is_exclusive; /* an interface must be closed before it can be opened
                          anew, and before the pool is freed */
    /* Creates; outputs on success only. */
    int (*open)(const struct netdev_args *, struct netdev **, struct err *);
    void (*close)(struct netdev *);
    /* Receives at most max (<= PKT_BATCH) frames into fresh pool buffers, in
     * order, len >= 14 each.  MAC control frames (EtherType 0x8808) that lie
     * anywhere in the ring are handed over first, ahead of the data frames
     * that came before them, when has_lookahead.  Fewer than max: the ring is
     * empty at this moment, or the pool is.  With max 0 (only if tx_look > 0)
     * it hands over nothing, and returns how many MAC control frames lie in
     * the ring, as far as is known: 0 only if there are none. */
    uint32_t (*rx)(struct netdev *, struct pkt *pkts[], uint32_t max);
    /* Sends in order n <= NETDEV_TX_MAX frames, as pkt_gather() says, padded
     * to PKT_MIN_LEN.  A provider that reads frames in any other way calls
     * pkt_close() first.  Never frees: the caller frees what was taken. */
    enum netdev_tx (*tx)(struct netdev *, struct pkt *const pkts[], uint32_t n,
                         uint32_t *n_sent);
    /* Descriptor that polls readable when rx has something; -1: none.  When
     * the interface goes down or away it reports an error.  A socket's is
     * cleared by reading SO_ERROR (rx does it too, after some calls without a
     * frame), and it receives again when the interface is up again; that of a
     * deleted TAP stays: do not poll it any more. */
    int (*fd)(const struct netdev *);
    /* Descriptor that polls writable once the kernel takes frames again after
     * NETDEV_TX_AGAIN; null: fd() is that too.  It only knows of the socket's
     * own buffer: while a device refuses, it polls writable all the same, so
     * that the caller also needs a timer. */
    int (*tx_fd)(const struct netdev *);
    /* Control thread, about once a second, and when the interface's state
     * changed: reads the kernel's own drop counters into the statistics, and
     * whether there is a carrier, without which tx says NETDEV_TX_DOWN.  Null:
     * nothing to read. */
    void (*poll_kernel)(struct netdev *);
    /* Earliest time at which rx may have something although fd does not say
     * so (mem ports with a delay); null: never. */
    uint64_t (*rx_deadline)(const struct netdev *);
    /* Control thread, while no datapath uses it: from now on frames are
     * received into another pool.  False: it cannot be, open the port anew
     * (its frames are of another size).  only_ask: says so, changes nothing.
     * Null: never. */
    bool (*set_pool)(struct netdev *, struct pkt_pool *, bool only_ask);
    /* Control thread: from now on a PFC frame that is sent to the port is not
     * handed to the host, but obeyed: its senders are held back, by class.
     * Null: no more.  On error nothing has changed.  Null: never. */
    int (*set_hold)(struct netdev *, const struct netdev_hold *, struct err *);
};

/* Head of every provider's struct. */
struct netdev {
    const struct netdev_class *cls; /* its operations */
    char name[NETDEV_NAME_MAX + 1]; /* as given */
    uint8_t mac[6];                 /* the interface's address */
    uint32_t ifindex;               /* kernel's number; 0: none */
    uint32_t mtu;                   /* L3 MTU of the interface at open */
    uint64_t speed_bps;             /* interface's own speed; 0: unknown */
    bool has_lookahead;             /* see rx */
    bool outgrown;                  /* set by poll_kernel: the interface cannot
                                       be used like this any more: open anew */
    uint8_t tx_look; /* while so many frames are sent a MAC control frame may
                        well come: then rx is asked (max 0).  0: sending takes
                        no time, or rx does not know */
    char fallback[512]; /* auto: why it is not AF_XDP; else "" */
    const char *mode;   /* afxdp: "native", "native-zerocopy",
                           "generic"; else null */
    uint32_t rx_level;  /* frames that the last rx left in the ring; TAP: that
                           it may have left, if it holds, else 0 */
    uint32_t rx_rest;   /* pieces that may leave as one with the last one that
                           rx returned, and that the next rx returns first;
                           0: none */
    uint32_t rx_high;   /* so many are too many: the peer is to pause what is
                           lossless; UINT32_MAX: never */
    struct netdev_stats stats; /* see above */
};

extern const struct netdev_class netdev_afpacket;
extern const struct netdev_class netdev_afxdp; /* if built in */
extern const struct netdev_class netdev_auto;  /* afxdp or afpacket */
extern const struct netdev_class netdev_tap;
extern const struct netdev_class netdev_mem;

/* tap: the queue from the host to us, in frames, that stands for a receive
 * ring of so many bytes (0: the default). */
uint32_t netdev_tap_queue(uint32_t ring_bytes);

/* Types, for messages; those of interfaces that exist already. */
#define NETDEV_TYPES           "afpacket, afxdp, auto, tap, mem"
#define NETDEV_INTERFACE_TYPES "afpacket, afxdp, auto"
/* By type name; null if there is none. */
const struct netdev_class *netdev_class_find(const char *type);

int netdev_open(const struct netdev_class *, const struct netdev_args *,
                struct netdev **, struct err *);
void netdev_close(struct netdev *);

/* --- mem ports: tests, simulation and benchmarks ---------------------- */

/* Wires two mem ports to each other: what one sends arrives at the other
 * delay_ns later, in order.  Unlimited queue unless capacity > 0 frames: then
 * it is a receive ring, which may be too full (rx_high), like one that
 * ring_bytes made. */
void netdev_mem_connect(struct netdev *a, struct netdev *b, uint64_t delay_ns,
                        uint32_t capacity);
/* What this port sends to its peer arrives so much later from now on. */
void netdev_mem_set_delay(struct netdev *, uint64_t delay_ns);
/* The virtual time that mem ports stamp and compare with. */
void netdev_mem_set_now(struct netdev *, uint64_t now_ns);
/* Hands a frame to the port as if it had arrived now; false: queue full. */
bool netdev_mem_inject(struct netdev *, const void *frame, uint32_t len);
/* For a port that is not connected: takes the oldest frame that it sent;
 * returns its length, 0 when there is none. */
uint32_t netdev_mem_take(struct netdev *, void *frame, uint32_t room);
/* Bench: rx makes an endless supply of copies of a template (null: off), and
 * tx discards and counts. */
struct netdev_mem_load {
    const uint8_t *const *frames; /* templates, used in turn; borrowed */
    const uint32_t *lens;         /* their lengths */
    uint32_t n;                   /* how many */
    uint32_t per_rx;              /* frames per rx call */
    /* Is given n copies, and how many there were before them, to make each one
     * of many without a template for it; null: nothing is changed. */
    void (*stamp)(void *arg, struct pkt *const pkts[], uint32_t n,
                  uint32_t number);
    void *arg; /* handed to stamp */
};
void netdev_mem_set_load(struct netdev *, const struct netdev_mem_load *);
/* Test: tx takes at most n frames a call from now on (UINT32_MAX: all). */
void netdev_mem_set_tx_limit(struct netdev *, uint32_t n);
/* A frame that this port sends also takes the time that its octets need at
 * rate_bps (0, as at first: none).  The line is not held meanwhile: egress is
 * shaped by the datapath. */
void netdev_mem_set_line_rate(struct netdev *, uint64_t rate_bps);
/* Test: as if the interface went down: tx says so, nothing is received and
 * what arrives is lost (rx_ring_drops). */
void netdev_mem_set_down(struct netdev *, bool down);
/* Test: is shown every frame that the port sends, and when it is due at its
 * peer; where it answers false the frame is lost on the wire. */
struct netdev_mem_watch {
    bool (*fn)(void *arg, const uint8_t *frame, uint32_t len, uint64_t due_ns);
    void *arg; /* handed to fn */
};
void netdev_mem_set_watch(struct netdev *, const struct netdev_mem_watch *);
/* Frames that lie in the receive queue, due or not. */
uint32_t netdev_mem_n_queued(const struct netdev *);

#endif
