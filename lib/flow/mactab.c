/* SPDX-License-Identifier: Apache-2.0
 *
 * The learning table: see mactab.h for what it guarantees.
 *
 * An address has two sets, its home and its other one, and a half of each that
 * it prefers.  It lives in its home when there was room; every half counts the
 * addresses that are at home there but live in their other set, so that a
 * search that finds nothing at home ends there nearly always.  Where both sets
 * are full, an entry of either moves to its own other set (cuckoo hashing, one
 * step).
 *
 * Which of the places of a set an address has cannot be foreseen.  A branch on
 * it goes wrong as often as not, and is found out only when the cache line has
 * come: that costs more than the line does, since lines are asked for
 * beforehand.  So between the two places of a half the search does not branch,
 * and while the table has as much room as it should, all but some three in a
 * hundred addresses live in the half that they prefer.
 */
#include "flow/mactab.h"

#include "base/opaque.h"
#include "base/rng.h"
#include "wire/eth.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define WAYS       4  /* of a set */
#define HALF       2  /* of a half of one */
#define TICK_SHIFT 26 /* a tick is 2^26 ns, 67 ms; 32 bits are 9 years */
#define SWEEP_SETS 16 /* looked at in one step */
#define SWEEP_MAX  8  /* steps in one call, when calls were rare */
#define IN_USE     UINT64_C(0x8000) /* of a key: not free */
#define KEY_MAC    16               /* where the address begins in it */
#define MAX_TICKS  (INT32_MAX / 2)  /* of ageing; two years */
#define NEVER      INT32_MAX        /* in place of a number of ticks */

struct half {
    uint64_t key[HALF];  /* VLAN and address; 0: free */
    uint32_t seen[HALF]; /* tick in which it was last seen */
    uint16_t port[HALF]; /* where */
    uint8_t fixed;       /* bit w: static */
    uint16_t n_away;     /* addresses at home here that live in their other
                            set */
} __attribute__((aligned(32)));

struct set {
    struct half half[WAYS / HALF];
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct set) == 64, "a set is one cache line");

/* A place in the table. */
struct slot {
    struct half *half; /* null: none */
    unsigned way;      /* 0..HALF - 1 */
};

struct mactab {
    struct set *sets;         /* all of them */
    uint64_t mask;            /* how many, less one */
    uint64_t mask_bytes;      /* the same for an offset to a half */
    uint64_t secret[4];       /* of the hash */
    int32_t ageing_ticks;     /* or NEVER */
    uint32_t now;             /* tick of the last sweep, about now */
    uint32_t n_ports;         /* length of n_of_port */
    uint32_t *n_of_port;      /* learned entries, by port */
    uint16_t largest;         /* port that has most of them, as a rule: it
                                 may be late to notice that it shrank */
    uint64_t n_used;          /* entries, static ones too */
    uint64_t sweep_pos;       /* next set to be swept */
    uint64_t sweep_next_ns;   /* when the next step is due */
    uint64_t sweep_every_ns;  /* from step to step */
    struct mactab_counters n; /* what happened */
};

/* The address as a number, first octet lowest, above the VLAN. */
static inline uint64_t
key_of(uint16_t vid, const uint8_t mac[6])
{
    uint32_t first;
    uint16_t last;

    memcpy(&first, mac, 4);
    memcpy(&last, mac + 4, 2);
    return IN_USE | (vid & VLAN_VID_MASK) |
           (uint64_t) le16toh(last) << (32 + KEY_MAC) |
           (uint64_t) le32toh(first) << KEY_MAC;
}

static inline void
key_mac(uint64_t key, uint8_t mac[6])
{
    uint32_t first = htole32((uint32_t) (key >> KEY_MAC));
    uint16_t last = htole16((uint16_t) (key >> (32 + KEY_MAC)));

    memcpy(mac, &first, 4);
    memcpy(mac + 4, &last, 2);
}

static inline uint16_t
key_vid(uint64_t key)
{
    return (uint16_t) key & VLAN_VID_MASK;
}

static inline uint64_t
fold(uint64_t a, uint64_t b)
{
#ifdef __x86_64__
    /* gcc 12 sends the halves of such a product through memory. */
    uint64_t high;

    __asm__("mulq %2" : "+a"(a), "=d"(high) : "rm"(b) : "cc");
    return a ^ high;
#else
    unsigned __int128 m = (unsigned __int128) a * b;

    return (uint64_t) m ^ (uint64_t) (m >> 64);
#endif
}

/* Two rounds of multiply and fold, keyed with 256 bits that never leave this
 * table: without them no one can choose addresses that meet in a set. */
static inline uint64_t
hash(const struct mactab *t, uint64_t key)
{
    uint64_t h = fold(key ^ t->secret[0], t->secret[1]);

    return fold(h ^ t->secret[2], t->secret[3]);
}

/* In its home, the half that it prefers. */
static inline struct half *
home_of(const struct mactab *t, uint64_t h)
{
    return (struct half *) ((char *) t->sets + (h & t->mask_bytes));
}

/* In its other set.  Never the home: the difference is odd. */
static inline struct half *
other_of(const struct mactab *t, uint64_t h)
{
    uint64_t i = (h / sizeof(struct set) ^ (h >> 32 | 1)) & t->mask;

    return &t->sets[i].half[h / sizeof(struct half) % 2];
}

/* The other half of a set. */
static inline struct half *
twin_of(const struct half *half)
{
    return (struct half *) ((uintptr_t) half ^ sizeof(*half));
}

static inline bool
is_same_set(const struct half *a, const struct half *b)
{
    return ((uintptr_t) a ^ (uintptr_t) b) < sizeof(struct set);
}

/* The i-th place of a set, from those of a half of it on. */
static inline struct slot
place(struct half *half, unsigned i)
{
    return (struct slot){i < HALF ? half : twin_of(half), i % HALF};
}

static inline uint32_t
tick(uint64_t now_ns)
{
    return (uint32_t) (now_ns >> TICK_SHIFT);
}

static inline bool
is_fixed(struct slot s)
{
    return s.half->fixed & (1u << s.way);
}

/* Signed, for a `now` that is a little behind. */
static inline bool
is_expired(const struct mactab *t, struct slot s, uint32_t now)
{
    return (int32_t) (now - s.half->seen[s.way]) > t->ageing_ticks &&
           !is_fixed(s);
}

/* Where in the half the key is, if it is there: no branch, see above. */
static inline uint64_t
way_in(const struct half *half, uint64_t key)
{
    uint64_t w = half->key[1] == key;

    OPAQUE(w);
    return w;
}

/* In a set, from that half on. */
static inline struct slot
find_in(struct half *half, uint64_t key)
{
    for (int i = 0; i < WAYS / HALF; i++) {
        uint64_t w = way_in(half, key);

        if (half->key[w] == key)
            return (struct slot){half, (unsigned) w};
        half = twin_of(half);
    }
    return (struct slot){NULL, 0};
}

/* Of an address that is at home there. */
static inline struct slot
find_from(const struct mactab *t, struct half *home, uint64_t key)
{
    struct slot s = find_in(home, key);

    if (__builtin_expect(!s.half && home->n_away, 0))
        return find_in(other_of(t, hash(t, key)), key);
    return s;
}

static inline struct slot
find(const struct mactab *t, uint64_t key)
{
    return find_from(t, home_of(t, hash(t, key)), key);
}

struct mactab *
mactab_create(uint32_t n_entries, uint32_t n_ports, uint64_t seed)
{
    struct mactab *t = calloc(1, sizeof(*t));
    struct rng rng = {.state = seed};
    uint64_t n_sets = SWEEP_SETS;
    void *sets;

    if (!t)
        return NULL;
    while (n_sets < n_entries)
        n_sets *= 2;
    for (int i = 0; i < 4; i++)
        t->secret[i] = rng_u64(&rng) | 1;
    t->mask = n_sets - 1;
    t->mask_bytes = t->mask * sizeof(struct set) | sizeof(struct half);
    t->ageing_ticks = NEVER;
    t->n_ports = n_ports;
    t->n_of_port = calloc(n_ports ? n_ports : 1, sizeof(*t->n_of_port));
    /* Memory that is taken from the system as it is used. */
    sets = mmap(NULL, n_sets * sizeof(struct set), PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!t->n_of_port || sets == MAP_FAILED) {
        if (sets != MAP_FAILED)
            munmap(sets, n_sets * sizeof(struct set));
        free(t->n_of_port);
        free(t);
        return NULL;
    }
    /* Addresses lie all over it: nearly every page would be used anyway. */
    (void) madvise(sets, n_sets * sizeof(struct set), MADV_HUGEPAGE);
    t->sets = sets;
    return t;
}

void
mactab_destroy(struct mactab *t)
{
    if (!t)
        return;
    munmap(t->sets, (t->mask + 1) * sizeof(struct set));
    free(t->n_of_port);
    free(t);
}

/* --- taking out, moving, putting in ------------------------------------ */

static void
count_port(struct mactab *t, uint16_t port, int by)
{
    assert(by > 0 || t->n_of_port[port] > 0);
    t->n_of_port[port] += (uint32_t) by;
    if (t->n_of_port[port] > t->n_of_port[t->largest])
        t->largest = port;
}

/* Keeps count of the addresses away from home when one comes to, or goes
 * from, s. */
static void
count_away(struct mactab *t, struct slot s, int by)
{
    struct half *home = home_of(t, hash(t, s.half->key[s.way]));

    if (!is_same_set(home, s.half)) {
        assert(by > 0 ? home->n_away < UINT16_MAX : home->n_away > 0);
        home->n_away = (uint16_t) (home->n_away + by);
    }
}

static void
erase(struct mactab *t, struct slot s)
{
    count_away(t, s, -1);
    if (!is_fixed(s))
        count_port(t, s.half->port[s.way], -1);
    s.half->key[s.way] = 0;
    s.half->fixed &= (uint8_t) ~(1u << s.way);
    t->n_used--;
    counter_set(&t->n.n_entries, t->n_used);
}

static void
put(struct mactab *t, struct slot s, uint64_t key, uint16_t port, bool fixed,
    uint32_t now)
{
    assert(s.half->key[s.way] == 0);
    s.half->key[s.way] = key;
    s.half->port[s.way] = port;
    s.half->seen[s.way] = now;
    if (fixed)
        s.half->fixed |= (uint8_t) (1u << s.way);
    else
        count_port(t, port, 1);
    count_away(t, s, 1);
    t->n_used++;
    counter_set(&t->n.n_entries, t->n_used);
}

static void
move(struct mactab *t, struct slot from, struct slot to)
{
    const struct half *half = from.half;
    uint64_t key = half->key[from.way];
    uint16_t port = half->port[from.way];
    uint32_t seen = half->seen[from.way];
    bool fixed = is_fixed(from);

    erase(t, from);
    put(t, to, key, port, fixed, seen);
}

/* --- making room ------------------------------------------------------- */

/* What may be done for one who wants room. */
struct wish {
    uint32_t now;   /* tick */
    uint32_t least; /* entries of ports that have so many may go */
    uint16_t port;  /* who wants it */
    bool own;       /* his own entries may go */
};

#define NO_ONE UINT32_MAX /* for `least` */

/* How little an entry deserves its place: 0 if it must stay. */
static uint32_t
claim(const struct mactab *t, struct slot s, const struct wish *w)
{
    uint16_t port = s.half->port[s.way];
    uint32_t n = t->n_of_port[port];

    if (is_fixed(s) || (port == w->port ? !w->own : n < w->least))
        return 0;
    return n;
}

/* A free place in the set, in that half of it if there is one; if the wish
 * says so, one that is made free. */
static struct slot
room_in(struct mactab *t, struct half *half, const struct wish *w)
{
    struct slot best = {NULL, 0};
    uint32_t most = 0, oldest = 0;

    for (unsigned i = 0; i < WAYS; i++) {
        struct slot s = place(half, i);
        uint32_t n, age = w->now - s.half->seen[s.way];

        if (s.half->key[s.way] == 0)
            return s;
        if (is_expired(t, s, w->now)) {
            erase(t, s);
            counter_add(&t->n.n_aged, 1);
            return s;
        }
        n = claim(t, s, w);
        if (n > most || (n > 0 && n == most && age > oldest)) {
            best = s;
            most = n;
            oldest = age;
        }
    }
    if (best.half) {
        erase(t, best);
        counter_add(&t->n.n_evicted, 1);
    }
    return best;
}

/* Lets an entry of the set move to its other set, where there is room. */
static struct slot
room_by_moving(struct mactab *t, struct half *half, const struct wish *w)
{
    for (unsigned i = 0; i < WAYS; i++) {
        struct slot s = place(half, i), to;
        uint64_t h = hash(t, s.half->key[s.way]);
        struct half *home = home_of(t, h);

        to = room_in(t, is_same_set(home, half) ? other_of(t, h) : home, w);
        if (to.half) {
            move(t, s, to);
            return s;
        }
    }
    return (struct slot){NULL, 0};
}

/* At home, in the other set, or where an entry of them can move away. */
static struct slot
room_near(struct mactab *t, uint64_t h, const struct wish *w, bool moving)
{
    struct half *halves[2] = {home_of(t, h), other_of(t, h)};
    struct slot s = {NULL, 0};

    for (int i = 0; i < 2 && !s.half; i++)
        s = room_in(t, halves[i], w);
    for (int i = 0; i < 2 && !s.half && moving; i++)
        s = room_by_moving(t, halves[i], w);
    return s;
}

static struct slot
room_for_free(struct mactab *t, uint64_t h, uint16_t port, uint32_t now)
{
    const struct wish w = {.now = now, .least = NO_ONE, .port = port};
    /* In a table that is nearly full a search further off is in vain. */
    bool moving = t->n_used < (t->mask + 1) * WAYS / 8 * 7;

    return room_near(t, h, &w, moving);
}

/* In this order: what is free; what belongs to one of the largest ports, or
 * else to a larger one than this; one's own. */
static struct slot
room_to_learn(struct mactab *t, uint64_t h, uint16_t port, uint32_t now)
{
    struct wish w = {.now = now, .port = port};
    uint32_t own = t->n_of_port[port], most = t->n_of_port[t->largest];
    struct slot s = room_for_free(t, h, port, now);

    if (!s.half && own < most) {
        w.least = own < most / 2 ? most / 2 : own + 1;
        s = room_near(t, h, &w, true);
    }
    if (!s.half && own < most / 2) {
        w.least = own + 1;
        s = room_near(t, h, &w, true);
    }
    if (!s.half && own > 0) {
        w.least = NO_ONE;
        w.own = true;
        s = room_near(t, h, &w, true);
    }
    return s;
}

static void
learn_new(struct mactab *t, uint64_t key, uint16_t port, uint32_t now)
{
    struct slot s = room_to_learn(t, hash(t, key), port, now);

    if (!s.half) {
        counter_add(&t->n.n_refused, 1);
        return;
    }
    put(t, s, key, port, false, now);
    counter_add(&t->n.n_learned, 1);
}

/* --- what the datapath calls ------------------------------------------- */

/* Seen on another port than last time, or first seen. */
static __attribute__((noinline)) void
learn_slow(struct mactab *t, struct slot s, uint64_t key, uint16_t port,
           uint32_t now)
{
    static const uint8_t zero[6];
    uint8_t mac[6];

    key_mac(key, mac);
    if (eth_is_group(mac) || memcmp(mac, zero, 6) == 0)
        return;
    if (!s.half) {
        learn_new(t, key, port, now);
        return;
    }
    if (is_fixed(s))
        return;
    count_port(t, s.half->port[s.way], -1);
    count_port(t, port, 1);
    s.half->port[s.way] = port;
    s.half->seen[s.way] = now;
    counter_add(&t->n.n_moved, 1);
}

static inline void
learn(struct mactab *t, struct slot s, uint64_t key, uint16_t port,
      uint32_t now)
{
    if (__builtin_expect(!s.half || s.half->port[s.way] != port, 0))
        learn_slow(t, s, key, port, now);
    else if (s.half->seen[s.way] != now)
        s.half->seen[s.way] = now;
}

static inline int
lookup(const struct mactab *t, struct slot s, uint32_t now)
{
    if (!s.half || is_expired(t, s, now))
        return MACTAB_NO_PORT;
    return s.half->port[s.way];
}

void
mactab_learn(struct mactab *t, uint16_t vid, const uint8_t mac[6],
             uint16_t port, uint64_t now_ns)
{
    uint64_t key = key_of(vid, mac);

    assert(port < t->n_ports);
    learn(t, find(t, key), key, port, tick(now_ns));
}

int
mactab_lookup(struct mactab *t, uint16_t vid, const uint8_t mac[6],
              uint64_t now_ns)
{
    return lookup(t, find(t, key_of(vid, mac)), tick(now_ns));
}

/* --- the same for a batch ---------------------------------------------- */

/* The addresses of a frame: keys, and where they are at home. */
struct pair {
    uint64_t src, dst;            /* keys */
    struct half *at_src, *at_dst; /* halves of sets */
};

/* Both keys of a frame, from two loads of eight octets that overlap. */
static inline void
read_pair(const struct mactab *t, const struct pkt *p, struct pair *pair)
{
    uint64_t vlan = IN_USE + p->vid;
    uint64_t first, last;

    memcpy(&first, p->data, 8);
    memcpy(&last, p->data + 4, 8);
    pair->dst = vlan | le64toh(first) << KEY_MAC;
    pair->src = vlan | (le64toh(last) & ~((UINT64_C(1) << KEY_MAC) - 1));
    pair->at_dst = home_of(t, hash(t, pair->dst));
    pair->at_src = home_of(t, hash(t, pair->src));
    __builtin_prefetch(pair->at_dst);
    __builtin_prefetch(pair->at_src);
}

/* What is not found as it is expected to be. */
static __attribute__((noinline)) void
learn_key(struct mactab *t, struct half *home, uint64_t key, uint16_t port,
          uint32_t now)
{
    learn(t, find_from(t, home, key), key, port, now);
}

/* The same; a static entry is looked at again when it seems to be old. */
static __attribute__((noinline)) int
lookup_key(struct mactab *t, struct half *home, uint64_t key, uint32_t now)
{
    return lookup(t, find_from(t, home, key), now);
}

void
mactab_switch(struct mactab *t, struct pkt *const pkts[], uint32_t n,
              uint16_t port, uint64_t now_ns, int to[])
{
    struct pair pair[PKT_BATCH];
    uint32_t now = tick(now_ns), oldest = now - (uint32_t) t->ageing_ticks;

    OPAQUE(oldest);
    assert(n <= PKT_BATCH && port < t->n_ports);
    for (uint32_t i = 0; i < n; i++)
        read_pair(t, pkts[i], &pair[i]);
    for (uint32_t i = 0; i < n; i++) {
        struct half *at = pair[i].at_src;
        uint64_t w = way_in(at, pair[i].src);

        /* Nearly always it was seen in this tick, and nothing is written. */
        if (__builtin_expect(at->key[w] != pair[i].src ||
                                 at->port[w] != port || at->seen[w] != now,
                             0))
            learn_key(t, at, pair[i].src, port, now);
        at = pair[i].at_dst;
        w = way_in(at, pair[i].dst);
        if (__builtin_expect(at->key[w] == pair[i].dst &&
                                 (int32_t) (at->seen[w] - oldest) >= 0,
                             1))
            to[i] = at->port[w];
        else
            to[i] = lookup_key(t, at, pair[i].dst, now);
    }
}

/* --- ageing, flushing, static entries, dump ---------------------------- */

void
mactab_set_ageing(struct mactab *t, uint64_t ageing_ns)
{
    uint64_t ticks = (ageing_ns >> TICK_SHIFT) + (ageing_ns > 0);

    t->ageing_ticks = ticks == 0          ? NEVER
                      : ticks > MAX_TICKS ? MAX_TICKS
                                          : (int32_t) ticks;
    t->sweep_every_ns = ageing_ns / 2 / ((t->mask + 1) / SWEEP_SETS);
    t->sweep_next_ns = 0;
}

static void
sweep_step(struct mactab *t, uint32_t now)
{
    for (int i = 0; i < SWEEP_SETS; i++) {
        struct set *set = &t->sets[t->sweep_pos++ & t->mask];

        for (unsigned w = 0; w < WAYS; w++) {
            struct slot s = place(set->half, w);

            if (s.half->key[s.way] && is_expired(t, s, now)) {
                erase(t, s);
                counter_add(&t->n.n_aged, 1);
            }
        }
    }
}

void
mactab_sweep(struct mactab *t, uint64_t now_ns)
{
    t->now = tick(now_ns);
    if (t->ageing_ticks == NEVER || now_ns < t->sweep_next_ns)
        return;
    for (int i = 0; i < SWEEP_MAX && now_ns >= t->sweep_next_ns; i++) {
        sweep_step(t, tick(now_ns));
        t->sweep_next_ns += t->sweep_every_ns;
    }
    /* What was missed while no one called is not made up for. */
    if (t->sweep_next_ns <= now_ns)
        t->sweep_next_ns = now_ns + t->sweep_every_ns;
}

/* Erases what is, or is not, static, by port and VLAN. */
static void
flush(struct mactab *t, bool fixed, int port, int vid)
{
    for (uint64_t i = 0; i <= t->mask; i++) {
        for (unsigned w = 0; w < WAYS; w++) {
            struct slot s = place(t->sets[i].half, w);

            if (s.half->key[s.way] && is_fixed(s) == fixed &&
                (port < 0 || s.half->port[s.way] == port) &&
                (vid < 0 || key_vid(s.half->key[s.way]) == vid))
                erase(t, s);
        }
    }
}

void
mactab_flush(struct mactab *t, int port, int vid)
{
    flush(t, false, port, vid);
}

void
mactab_flush_static(struct mactab *t, int port)
{
    flush(t, true, port, -1);
}

bool
mactab_add_static(struct mactab *t, uint16_t vid, const uint8_t mac[6],
                  uint16_t port)
{
    const struct wish w = {.now = t->now,
                           .least = 1,
                           .port = port,
                           .own = true};
    uint64_t key = key_of(vid, mac);
    struct slot s = find(t, key);

    assert(port < t->n_ports);
    if (s.half)
        erase(t, s);
    else
        s = room_for_free(t, hash(t, key), port, t->now);
    if (!s.half)
        s = room_near(t, hash(t, key), &w, true);
    if (!s.half)
        return false;
    put(t, s, key, port, true, t->now);
    return true;
}

bool
mactab_del_static(struct mactab *t, uint16_t vid, const uint8_t mac[6])
{
    struct slot s = find(t, key_of(vid, mac));

    if (!s.half || !is_fixed(s))
        return false;
    erase(t, s);
    return true;
}

static void
describe(struct slot s, uint32_t now, struct mactab_entry *e)
{
    uint64_t key = s.half->key[s.way];

    key_mac(key, e->mac);
    e->vid = key_vid(key);
    e->port = s.half->port[s.way];
    e->is_static = is_fixed(s);
    e->age_ns = e->is_static
                    ? 0
                    : (uint64_t) (now - s.half->seen[s.way]) << TICK_SHIFT;
}

uint32_t
mactab_dump(const struct mactab *t, uint32_t *cursor,
            struct mactab_entry *entries, uint32_t max, uint64_t now_ns)
{
    uint64_t end = (t->mask + 1) * WAYS;
    uint32_t n = 0;

    while (*cursor < end && n < max) {
        struct slot s = place(t->sets[*cursor / WAYS].half, *cursor % WAYS);

        if (s.half->key[s.way] && !is_expired(t, s, tick(now_ns)))
            describe(s, tick(now_ns), &entries[n++]);
        (*cursor)++;
    }
    return n;
}

const struct mactab_counters *
mactab_counters(const struct mactab *t)
{
    return &t->n;
}
