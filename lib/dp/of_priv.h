/* SPDX-License-Identifier: Apache-2.0
 *
 * What the OpenFlow files of the datapath share: of.c (crossings and ports),
 * of_run.c (frames in the tables), of_out.c (what becomes of them), of_msg.c
 * (rings of frames), of_trace.c.  dp thread unless said otherwise.
 */
#ifndef DP_OF_PRIV_H
#define DP_OF_PRIV_H

#include "dp/dp_priv.h"
#include "dp/of.h"
#include "flow/run.h"

#define DP_OF_NUMBERS   1024      /* slots of the table of port numbers */
#define DP_OF_IN_BYTES  (4 << 20) /* ring of packet-ins */
#define DP_OF_OUT_BYTES (1 << 20) /* ring of packet-outs */
#define DP_OF_OUTS      256       /* packet-outs carried out in a turn */

/* --- of_ring.c ---------------------------------------------------------- */

/* A ring of records of any length, from one thread to another. */
struct of_ring;
struct of_ring *of_ring_create(uint32_t n_bytes);
void of_ring_destroy(struct of_ring *);
/* Producer: room for a record of n octets; null: full.  of_ring_put() hands it
 * over. */
uint8_t *of_ring_room(struct of_ring *, uint32_t n);
void of_ring_put(struct of_ring *);
/* Consumer: the oldest record, aligned to eight octets; null: none.  It stays
 * until of_ring_drop(). */
const uint8_t *of_ring_peek(struct of_ring *, uint32_t *n);
void of_ring_drop(struct of_ring *);

/* --- the state ---------------------------------------------------------- */

/* A change on its way. */
struct of_posted {
    struct flow_change *change; /* it */
    bool atomic;                /* all of it in one turn */
};

struct of_number {
    uint32_t number; /* of a port; 0: free */
    uint16_t slot;   /* where it is */
};

struct dp_of {
    struct flow_tables *tables;   /* they */
    struct ring *changes;         /* from control: struct of_posted */
    struct of_posted running;     /* the one that is carried out; or null */
    uint64_t n_posted;            /* control: changes that were posted */
    uint64_t n_done;              /* changes that were carried out; release,
                                     pairs with dp_changes_done */
    struct of_ring *ins;          /* to control */
    struct of_ring *outs;         /* from control */
    bool ins_peeked;              /* control: a record is being read */
    bool news;                    /* since dp_of_news() */
    counter_t n_ins, n_ins_lost;  /* packet-ins */
    struct dp_of_counters n;      /* the rest */
    struct dp_of_options options; /* set-config */
    uint32_t copies;              /* most copies that one frame was made into
                                     that need buffers */
    struct of_number number[DP_OF_NUMBERS]; /* ports; open addressing */
};

/* A frame in the tables. */
struct of_run {
    struct flow_run r;      /* first: the hooks are given this */
    struct dp *dp;          /* the bridge */
    struct dp_port *in;     /* charged; null: a packet-out */
    struct dp_port *from;   /* named by in_port; null: none */
    struct dp_trace *trace; /* where it is told; null: it is real */
    uint32_t n_ends;        /* queued, dropped or handed over so far */
    uint32_t n_copies;      /* buffers that were taken */
    enum dp_drop why;       /* if it ends nowhere */
};

/* of.c: a frame was made into so many copies that need buffers. */
void of_note_copies(struct dp *, uint32_t n);

/* --- of_out.c ----------------------------------------------------------- */

extern const struct flow_hooks of_hooks;
/* The frame p begins. */
void of_begin(struct of_run *, struct dp *, struct pkt *p);
/* It is at its end: what waits is sent, or it is dropped. */
void of_end(struct of_run *);
/* How the port's priority to queue, and the frame as it is, say that it
 * leaves. */
void of_choose(struct of_run *, const struct dp_port *out, uint8_t *q,
               uint8_t *prio);
struct dp_port *of_port(const struct dp *, uint32_t number);
/* Whether controllers let the port send. */
bool of_may_send(const struct dp_port *);
/* Ports that a flood, or ALL, reaches; fills slots, returns how many. */
uint32_t of_flood_list(const struct of_run *, bool all,
                       uint16_t slots[DP_MAX_PORTS]);

/* --- of_run.c ----------------------------------------------------------- */

/* Works out how much room there is about the frame in the buffer of p. */
void of_frame_room(struct flow_frame *, const struct pkt *p);
/* p, no one else's, goes to NORMAL. */
void of_normal(struct of_run *, struct pkt *p);

/* --- of_msg.c ----------------------------------------------------------- */

/* Puts a frame into the ring for controllers; false: it does not fit. */
bool of_packet_in(struct of_run *, uint8_t reason, uint16_t max_len);
/* Carries out packet-outs. */
void of_packet_outs(struct dp *);

/* --- of_trace.c --------------------------------------------------------- */

struct dp_step *of_step(struct of_run *, enum dp_step_type);
/* What of_out.c would do, told. */
void of_trace_out(struct of_run *, struct dp_port *out, uint8_t q,
                  uint8_t prio);
void of_trace_normal(struct of_run *);
void of_trace_note(struct flow_run *, enum flow_note, const void *what,
                   uint32_t n, uint32_t m);

#endif
