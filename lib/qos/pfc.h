/* SPDX-License-Identifier: Apache-2.0
 *
 * Pause state of one port, both directions: IEEE 802.1Q clause 36,
 * pfc-semantics sections 2, 3 and 8.  Pure: is told the time, makes no frames
 * itself but says which are due.  Datapath thread; counters, `paused`,
 * `asserted` and their times are read by any (base/counter.h).
 */
#ifndef QOS_PFC_H
#define QOS_PFC_H

#include "base/counter.h"
#include "wire/macctl.h"

#include <stdbool.h>
#include <stdint.h>

#define PFC_QUANTA_DEFAULT 65535
#define PFC_REFRESH_MIN_NS UINT64_C(50000)

struct pfc_conf {
    uint64_t rate_bps; /* for the length of a quantum; > 0 */
    uint64_t peer_bps; /* fastest rate that the peer may count the quanta we
                          send by, for the repeat; 0: rate_bps */
    uint16_t quanta;   /* pause time that is sent, 1..65535 */
    uint8_t enabled;   /* PFC-enabled priorities: what is sent */
    uint8_t honoured;  /* priorities obeyed: `enabled`, or all (asymmetric) */
    bool pause_rx;     /* obey 802.3x PAUSE (then no PFC is obeyed); only
                          while enabled == 0 */
    bool pause_tx;     /* send it; only while enabled == 0 */
};

struct pfc_counters {
    counter_t rx_pfc[N_PRIO];           /* PFC frames received with e[p] = 1 */
    counter_t tx_pfc[N_PRIO];           /* PFC frames sent with e[p] = 1 */
    counter_t rx_xoff[N_PRIO];          /* of rx_pfc: with time > 0 */
    counter_t tx_xoff[N_PRIO];          /* of tx_pfc: with time > 0 */
    counter_t rx_pauses[N_PRIO];        /* running -> paused transitions */
    counter_t tx_pauses[N_PRIO];        /* XON -> XOFF transitions of ours */
    counter_t tx_lapses[N_PRIO];        /* repeats of XOFF for which the pause
                                           had run out, at a peer that counts
                                           quanta by the fastest rate */
    counter_t rx_paused_ns[N_PRIO];     /* finished pauses received, total; one
                                           that ran out counts to its end, not
                                           to when that was noticed */
    counter_t tx_paused_ns[N_PRIO];     /* finished pauses sent, total */
    counter_t rx_longest_ns[N_PRIO];    /* longest finished pause received */
    counter_t rx_longest_at_ns[N_PRIO]; /* when that one ended */
    counter_t rx_last_ns[N_PRIO];       /* latest finished pause received */
    counter_t rx_last_at_ns[N_PRIO];    /* when it ended */
    counter_t tx_longest_ns[N_PRIO];    /* the same of pauses sent */
    counter_t tx_longest_at_ns[N_PRIO];
    counter_t tx_last_ns[N_PRIO];
    counter_t tx_last_at_ns[N_PRIO];
    counter_t rx_frames;      /* PFC frames received, each once */
    counter_t tx_frames;      /* PFC frames sent, each once */
    counter_t rx_pause;       /* PAUSE frames received */
    counter_t tx_pause;       /* PAUSE frames sent */
    counter_t rx_not_enabled; /* PFC frames with e[p]=1 for a p not
                                 honoured: counted, without effect */
    counter_t rx_malformed;   /* malformed MAC control */
    counter_t rx_unsupported; /* MAC control of other opcodes */
};

struct pfc {
    struct pfc_conf conf; /* as configured; changed by pfc_set */
    /* Received: */
    uint8_t paused;            /* bit p: p is paused by the peer */
    uint8_t ignored;           /* bit p: PFC for p is counted, not obeyed */
    uint64_t until_ns[N_PRIO]; /* until when, while paused */
    uint64_t since_ns[N_PRIO]; /* since when, while paused */
    /* Sent: */
    uint8_t asserted;             /* bit p: the peer was told to stop p */
    uint8_t forced;               /* bit p: it is told to, whatever for */
    bool pause_asserted;          /* the same for 802.3x PAUSE */
    bool resend;                  /* quantum changed: refresh at once */
    uint64_t refresh_ns;          /* from one frame with XOFF to the next */
    uint64_t lasts_ns;            /* how long one lasts, by the fastest rate */
    uint64_t sent_ns;             /* when the last frame with XOFF went */
    uint64_t asserted_ns[N_PRIO]; /* since when, while asserted */
    struct pfc_counters n;        /* what happened */
};

void pfc_init(struct pfc *, const struct pfc_conf *);

/* New configuration.  Priorities no longer honoured resume at once; those no
 * longer enabled get an XON at the next pfc_tx_poll, and so does a PAUSE that
 * is sent no more.  When the rate or the pause time changes, what is asserted
 * is sent again at once; pauses received keep the end that they had. */
void pfc_set(struct pfc *, const struct pfc_conf *, uint64_t now_ns);

/* From now on PFC for these priorities is ignored, beside being counted; what
 * is paused of them resumes.  Others are obeyed again from the next frame. */
void pfc_ignore(struct pfc *, uint8_t prios, uint64_t now_ns);
/* From now on the peer is told to stop these priorities, enabled or not, and
 * whatever pfc_tx_poll() is told. */
void pfc_force(struct pfc *, uint8_t prios);

/* A MAC control frame arrived.  Counts it, and changes `paused`. */
void pfc_rx(struct pfc *, const struct macctl *, uint64_t now_ns);

/* Use pfc_rx_expire(). */
uint8_t pfc_rx_expire_slow(struct pfc *, uint64_t now_ns);

/* Ends the pauses that have run out (now >= until).  Returns the mask of
 * paused priorities. */
static inline uint8_t
pfc_rx_expire(struct pfc *pfc, uint64_t now_ns)
{
    return pfc->paused ? pfc_rx_expire_slow(pfc, now_ns) : 0;
}

/* When the next pause runs out; CLOCK_NEVER if nothing is paused. */
uint64_t pfc_rx_deadline(const struct pfc *);

/* Use pfc_tx_poll(). */
bool pfc_tx_poll_slow(const struct pfc *, uint8_t xoff, uint64_t now_ns,
                      const uint8_t src[6], uint8_t frame[MACCTL_LEN]);

/* What has to be sent now, given which priorities have a group in XOFF (PFC:
 * bits outside `enabled` are ignored; PAUSE: any bit).  True when a frame is
 * due: written to `frame`, MACCTL_LEN octets, source `src`.  The state
 * changes only with pfc_tx_done(), which the caller calls once the provider
 * took the frame; till then the same frame stays due.  A PFC frame says how
 * things are with every priority that is, or till now was, in XOFF: one that
 * got lost is made good by the next.  After a change between PFC and PAUSE
 * two frames may be due, one after the other. */
static inline bool
pfc_tx_poll(const struct pfc *pfc, uint8_t xoff, uint64_t now_ns,
            const uint8_t src[6], uint8_t frame[MACCTL_LEN])
{
    if (!(xoff | pfc->asserted | pfc->pause_asserted | pfc->forced))
        return false;
    return pfc_tx_poll_slow(pfc, xoff, now_ns, src, frame);
}

void pfc_tx_done(struct pfc *, uint8_t xoff, uint64_t now_ns);

/* When the next refresh, or an XON that is overdue, is due; CLOCK_NEVER if
 * nothing is asserted. */
uint64_t pfc_tx_deadline(const struct pfc *);

#endif
