/* SPDX-License-Identifier: Apache-2.0
 *
 * The learning table of a bridge: (VLAN, MAC) -> port, IEEE 802.1Q clause 8.8.
 *
 * Two-way hashed sets of four, one cache line each, with four times the room
 * that is asked for, and a keyed hash.  An address for which there is no free
 * place, not even after another one has moved to its other set, takes the
 * place of one whose port has more entries in the table than its own port has,
 * or of one of its own port's; otherwise it is not learned.  Hence:
 *
 *  - An entry never makes room for an address of a port that has more entries
 *    than the entry's own: a port that floods random addresses takes from
 *    itself once it has become the largest.
 *  - While all other ports together have n_entries addresses or fewer, a flood
 *    by one port of any number of addresses evicts none of them, and what they
 *    learn during the flood finds room too.  (It would take eight entries in
 *    one pair of sets, none of which can move, in a table that is less than
 *    half full: one insertion in some hundred million.)
 *
 * Datapath thread.
 */
#ifndef FLOW_MACTAB_H
#define FLOW_MACTAB_H

#include "base/counter.h"
#include "pkt/pkt.h"

#include <stdbool.h>
#include <stdint.h>

struct mactab;

#define MACTAB_MIN_ENTRIES 65536
#define MACTAB_NO_PORT     (-1)

struct mactab_entry {
    uint8_t mac[6];  /* address */
    uint16_t vid;    /* VLAN; 0: none */
    uint16_t port;   /* where it was last seen */
    bool is_static;  /* configured; never aged, moved or evicted */
    uint64_t age_ns; /* since it was last seen */
};

struct mactab_counters {
    counter_t n_entries; /* now */
    counter_t n_learned; /* new entries, ever */
    counter_t n_moved;   /* entries that changed port */
    counter_t n_aged;    /* entries that timed out */
    counter_t n_evicted; /* entries that made room */
    counter_t n_refused; /* addresses that found no room */
};

/* At least n_entries of room for n_ports slots.  Null when memory is short. */
struct mactab *mactab_create(uint32_t n_entries, uint32_t n_ports,
                             uint64_t seed);
void mactab_destroy(struct mactab *);

/* Learns or refreshes: the address was seen as a source on `port`.  Group
 * addresses and all-zero are ignored. */
void mactab_learn(struct mactab *, uint16_t vid, const uint8_t mac[6],
                  uint16_t port, uint64_t now_ns);
/* Where the address lives, or MACTAB_NO_PORT. */
int mactab_lookup(struct mactab *, uint16_t vid, const uint8_t mac[6],
                  uint64_t now_ns);
/* Both for n <= PKT_BATCH frames of 14 octets or more that came in on `port`,
 * one after the other: learns the source of each, then to[i] is where its
 * destination lives, or MACTAB_NO_PORT. */
void mactab_switch(struct mactab *, struct pkt *const pkts[], uint32_t n,
                   uint16_t port, uint64_t now_ns, int to[]);

/* 0: entries never age.  Otherwise they do so no earlier than asked, and two
 * ticks of 67 ms later at most; looked up, they are gone from then on, though
 * counted until the sweep finds them. */
void mactab_set_ageing(struct mactab *, uint64_t ageing_ns);
/* Looks at a bounded number of sets for aged entries: called once a turn.
 * Cheap: sees the whole table once in half the ageing time. */
void mactab_sweep(struct mactab *, uint64_t now_ns);
/* Forgets what was learned: all of it (port < 0, vid < 0), or on a port, in a
 * VLAN, or on a port in a VLAN. */
void mactab_flush(struct mactab *, int port, int vid);

/* Static entries, of no group address; false when there is no room.  Replaces
 * what was learned, or the port of a static one.  Any learned entry makes
 * room. */
bool mactab_add_static(struct mactab *, uint16_t vid, const uint8_t mac[6],
                       uint16_t port);
/* False when there is no such static entry. */
bool mactab_del_static(struct mactab *, uint16_t vid, const uint8_t mac[6]);
/* Those of a port that goes, or all (port < 0). */
void mactab_flush_static(struct mactab *, int port);
/* Copies up to max entries from *cursor (0 to begin) on; returns how many and
 * moves *cursor; 0 at the end. */
uint32_t mactab_dump(const struct mactab *, uint32_t *cursor,
                     struct mactab_entry *, uint32_t max, uint64_t now_ns);
const struct mactab_counters *mactab_counters(const struct mactab *);

#endif
