/* SPDX-License-Identifier: Apache-2.0
 *
 * The end station: see probe_station.h.
 */
#include "probe_station.h"

#include "base/clock.h"

#include <string.h>
#include <sys/socket.h>

#define RETRY_DOWN_NS     (10 * NS_PER_MS)  /* the interface is down */
#define RETRY_FULL_NS     (100 * NS_PER_US) /* the kernel is full */
#define MALFORMED_EVERY   NS_PER_MS
#define DEFAULT_RATE_BPS  UINT64_C(10000000000)
#define HARD_END_GRACE_NS NS_PER_S

static uint64_t
min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t
max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t
link_rate(const struct probe_station *st)
{
    if (st->conf->rate_bps)
        return st->conf->rate_bps;
    return st->dev->speed_bps ? st->dev->speed_bps : DEFAULT_RATE_BPS;
}

static uint8_t
honoured(const struct probe_conf *c)
{
    if (c->ignore_pfc)
        return 0;
    return c->asymmetric ? 0xff : c->pfc_prios;
}

int
probe_station_init(struct probe_station *st, const struct probe_conf *conf,
                   struct netdev *dev, struct pkt_pool *pool, int raw_fd,
                   uint64_t now_ns)
{
    struct pfc_conf pc;

    memset(st, 0, sizeof(*st));
    st->conf = conf;
    st->dev = dev;
    st->pool = pool;
    st->raw_fd = raw_fd;
    pc = (struct pfc_conf){
        .rate_bps = link_rate(st),
        .peer_bps = dev->speed_bps,
        .quanta = (uint16_t) conf->quanta,
        .enabled = conf->pfc_prios,
        .honoured = honoured(conf),
    };
    pfc_init(&st->pfc, &pc);
    probe_stats_init(&st->stats);
    for (int p = 0; p < N_PRIO; p++) {
        int e;

        if (!conf->slow[p].used)
            continue;
        e = probe_slow_init(&st->slow[p], &conf->slow[p],
                            conf->pfc_prios & 1u << p, now_ns);
        if (e) {
            probe_station_uninit(st);
            return e;
        }
    }
    return 0;
}

void
probe_station_uninit(struct probe_station *st)
{
    for (int p = 0; p < N_PRIO; p++)
        probe_slow_uninit(&st->slow[p]);
    probe_stats_uninit(&st->stats);
}

void
probe_station_start(struct probe_station *st, uint64_t now_ns)
{
    const struct probe_conf *c = st->conf;

    probe_stats_uninit(&st->stats);
    probe_stats_init(&st->stats);
    st->started = true;
    st->start_ns = now_ns;
    st->end_ns = now_ns + c->duration_ns;
    st->hard_end_ns = st->end_ns;
    st->malformed_next_ns = now_ns;
    probe_sender_start(&st->sender, c, st->dev->mac, now_ns);
    for (uint32_t i = 0; i < st->sender.n_flows; i++)
        st->hard_end_ns = max_u64(st->hard_end_ns, st->sender.flows[i].end_ns);
    for (uint32_t i = 0; i < c->n_pauses; i++)
        st->hard_end_ns =
            max_u64(st->hard_end_ns,
                    now_ns + c->pauses[i].at_ns + c->pauses[i].for_ns);
    for (uint32_t i = 0; i < c->n_storms; i++) {
        st->storm_next_ns[i] = now_ns + c->storms[i].at_ns;
        st->hard_end_ns = max_u64(st->hard_end_ns,
                                  st->storm_next_ns[i] + c->storms[i].for_ns);
    }
    st->hard_end_ns =
        max_u64(st->hard_end_ns, now_ns + c->malformed * MALFORMED_EVERY);
    st->hard_end_ns += c->drain_ns + HARD_END_GRACE_NS;
}

/* --- receiving -------------------------------------------------------- */

static void
count_after_xoff(struct probe_station *st, uint8_t prio)
{
    if (!(st->pfc.asserted & 1u << prio))
        return;
    st->after_xoff[prio]++;
    if (st->after_xoff[prio] > st->after_xoff_max[prio])
        st->after_xoff_max[prio] = st->after_xoff[prio];
}

static void
rx_one(struct probe_station *st, const struct pkt *p, uint64_t now_ns)
{
    struct macctl m;
    uint8_t prio;

    if (macctl_suspect(p->data, p->len) &&
        macctl_decode(p->data, p->len, &m) != MACCTL_NONE) {
        pfc_rx(&st->pfc, &m, now_ns);
        return;
    }
    if (probe_stats_add(&st->stats, p->data, p->len, now_ns, &prio) ==
        PROBE_OTHER)
        return;
    st->rx_last_ns = now_ns;
    count_after_xoff(st, prio);
    if (st->slow[prio].lens)
        probe_slow_put(&st->slow[prio], p->len);
}

uint32_t
probe_station_rx(struct probe_station *st, uint64_t now_ns)
{
    struct pkt *pkts[PKT_BATCH];
    uint32_t n = st->dev->cls->rx(st->dev, pkts, PKT_BATCH);

    for (int p = 0; p < N_PRIO; p++) {
        if (st->slow[p].lens)
            probe_slow_drain(&st->slow[p], now_ns);
    }
    for (uint32_t i = 0; i < n; i++) {
        rx_one(st, pkts[i], now_ns);
        pkt_free(pkts[i]);
    }
    return n;
}

/* --- sending ---------------------------------------------------------- */

/* Hands n frames to the interface and frees them; how many it took. */
static uint32_t
send_pkts(struct probe_station *st, struct pkt *const pkts[], uint32_t n,
          uint64_t now_ns)
{
    uint32_t n_sent = 0;

    switch (st->dev->cls->tx(st->dev, pkts, n, &n_sent)) {
    case NETDEV_TX_AGAIN:
        st->blocked = true;
        break;
    case NETDEV_TX_DOWN:
        st->retry_ns = now_ns + RETRY_DOWN_NS;
        break;
    case NETDEV_TX_OK:
        break;
    }
    return n_sent;
}

static bool
send_bytes(struct probe_station *st, const uint8_t *frame, uint32_t len,
           uint64_t now_ns)
{
    struct pkt *p = pkt_alloc(st->pool);
    bool ok;

    if (!p)
        return false;
    memcpy(p->data, frame, len);
    p->len = len;
    ok = send_pkts(st, &p, 1, now_ns) == 1;
    pkt_free(p);
    return ok;
}

/* What the peer is to be stopped on: full buffers, and pauses as told. */
static uint8_t
wanted_xoff(const struct probe_station *st, uint64_t now_ns)
{
    uint8_t xoff = 0;

    for (int p = 0; p < N_PRIO; p++)
        xoff |= (uint8_t) (st->slow[p].group.xoff << p);
    if (!st->started || st->stopped)
        return xoff;
    for (uint32_t i = 0; i < st->conf->n_pauses; i++) {
        const struct probe_pause *a = &st->conf->pauses[i];
        uint64_t from = st->start_ns + a->at_ns;

        if (now_ns >= from && now_ns < from + a->for_ns)
            xoff |= (uint8_t) (1u << a->prio);
    }
    return xoff;
}

static void
send_pfc(struct probe_station *st, uint8_t xoff, uint64_t now_ns)
{
    uint8_t frame[MACCTL_LEN];
    uint8_t before = st->pfc.asserted;

    if (!pfc_tx_poll(&st->pfc, xoff, now_ns, st->dev->mac, frame) ||
        !send_bytes(st, frame, sizeof(frame), now_ns))
        return;
    pfc_tx_done(&st->pfc, xoff, now_ns);
    for (int p = 0; p < N_PRIO; p++) {
        if (st->pfc.asserted & ~before & 1u << p)
            st->after_xoff[p] = 0;
    }
}

static uint64_t
storm_end(const struct probe_station *st, uint32_t i)
{
    const struct probe_storm *s = &st->conf->storms[i];

    return st->start_ns + s->at_ns + s->for_ns;
}

static void
send_storms(struct probe_station *st, uint64_t now_ns)
{
    for (uint32_t i = 0; i < st->conf->n_storms; i++) {
        const struct probe_storm *s = &st->conf->storms[i];
        uint16_t time[N_PRIO] = {0};
        uint8_t frame[MACCTL_LEN];

        if (now_ns < st->storm_next_ns[i] || now_ns >= storm_end(st, i))
            continue;
        time[s->prio] = (uint16_t) st->conf->quanta;
        macctl_encode_pfc(frame, st->dev->mac, (uint8_t) (1u << s->prio),
                          time);
        if (!send_bytes(st, frame, sizeof(frame), now_ns))
            continue;
        st->storm_frames++;
        st->storm_next_ns[i] =
            max_u64(st->storm_next_ns[i] + s->every_ns, now_ns);
    }
}

static void
send_malformed(struct probe_station *st, uint64_t now_ns)
{
    uint32_t kind = (uint32_t) (st->n_malformed % PROBE_N_MALFORMED);
    uint8_t frame[PROBE_MALFORMED_MAX];
    uint32_t len;
    bool ok;

    if (st->n_malformed >= st->conf->malformed ||
        now_ns < st->malformed_next_ns)
        return;
    len = probe_malformed_build(frame, kind, st->dev->mac);
    ok = st->raw_fd >= 0
             ? send(st->raw_fd, frame, len, MSG_DONTWAIT) == (ssize_t) len
             : send_bytes(st, frame, len, now_ns);
    if (ok) {
        st->malformed[kind]++;
        st->n_malformed++;
    }
    st->malformed_next_ns = now_ns + MALFORMED_EVERY;
}

static void
send_data(struct probe_station *st, uint8_t paused, uint64_t now_ns)
{
    struct pkt *pkts[PKT_BATCH];
    uint32_t n =
        probe_sender_fill(&st->sender, st->pool, paused, now_ns, pkts);
    uint32_t n_sent;

    if (n == 0)
        return;
    n_sent = send_pkts(st, pkts, n, now_ns);
    probe_sender_done(&st->sender, pkts, n, n_sent, now_ns);
    for (uint32_t i = 0; i < n; i++)
        pkt_free(pkts[i]);
}

/* --- time ------------------------------------------------------------- */

/* When one of the things that were told for a time begins, goes on or ends. */
static uint64_t
acts_deadline(const struct probe_station *st, uint64_t now_ns)
{
    uint64_t next = CLOCK_NEVER;

    for (uint32_t i = 0; i < st->conf->n_pauses; i++) {
        uint64_t from = st->start_ns + st->conf->pauses[i].at_ns;
        uint64_t to = from + st->conf->pauses[i].for_ns;

        if (now_ns < from)
            next = min_u64(next, from);
        else if (now_ns < to)
            next = min_u64(next, to);
    }
    for (uint32_t i = 0; i < st->conf->n_storms; i++) {
        uint64_t to = storm_end(st, i);

        if (now_ns < to && st->storm_next_ns[i] < to)
            next = min_u64(next, st->storm_next_ns[i]);
    }
    if (st->n_malformed < st->conf->malformed)
        next = min_u64(next, st->malformed_next_ns);
    return next;
}

static bool
acts_over(const struct probe_station *st, uint64_t now_ns)
{
    return acts_deadline(st, now_ns) == CLOCK_NEVER;
}

static bool
slow_empty(const struct probe_station *st)
{
    for (int p = 0; p < N_PRIO; p++) {
        if (st->slow[p].n > 0)
            return false;
    }
    return true;
}

static bool
receiver_over(const struct probe_station *st, uint64_t now_ns)
{
    const struct probe_conf *c = st->conf;
    bool heard = st->rx_last_ns > st->start_ns;

    if (now_ns >= st->end_ns + c->drain_ns)
        return true;
    if (!slow_empty(st))
        return false;
    return now_ns >= st->end_ns ||
           (c->expect && st->stats.n_complete >= c->expect) ||
           (c->idle_ns && heard && now_ns - st->rx_last_ns >= c->idle_ns);
}

bool
probe_station_ended(const struct probe_station *st, uint64_t now_ns)
{
    if (!st->started)
        return st->stopped;
    if (now_ns >= st->hard_end_ns)
        return true;
    if (st->conf->send && !probe_sender_ended(&st->sender))
        return false;
    if (st->stopped)
        return true;
    return acts_over(st, now_ns) &&
           (!st->conf->receive || receiver_over(st, now_ns));
}

static uint64_t
slow_deadline(const struct probe_station *st)
{
    uint64_t next = CLOCK_NEVER;

    for (int p = 0; p < N_PRIO; p++)
        next = min_u64(next, probe_slow_deadline(&st->slow[p]));
    return next;
}

static uint64_t
receiver_deadline(const struct probe_station *st, uint64_t now_ns)
{
    uint64_t next = CLOCK_NEVER;

    if (!st->conf->receive)
        return next;
    next =
        min_u64(next, now_ns < st->end_ns ? st->end_ns
                                          : st->end_ns + st->conf->drain_ns);
    if (st->conf->idle_ns && st->rx_last_ns > st->start_ns)
        next = min_u64(next, st->rx_last_ns + st->conf->idle_ns);
    return next;
}

/* What could not be sent is due all the time: no reason to spin. */
static uint64_t
wait_for_room(const struct probe_station *st, uint64_t next, uint64_t now_ns)
{
    if (st->retry_ns > now_ns)
        return max_u64(next, st->retry_ns);
    return st->blocked ? max_u64(next, now_ns + RETRY_FULL_NS) : next;
}

uint64_t
probe_station_tx(struct probe_station *st, uint64_t now_ns)
{
    uint8_t xoff = wanted_xoff(st, now_ns);
    uint8_t paused = pfc_rx_expire(&st->pfc, now_ns);
    uint64_t next, data;

    st->blocked = false;
    send_pfc(st, xoff, now_ns);
    next = min_u64(pfc_rx_deadline(&st->pfc), pfc_tx_deadline(&st->pfc));
    next = min_u64(next, slow_deadline(st));
    if (!st->started || probe_station_ended(st, now_ns))
        return wait_for_room(st, next, now_ns);
    next = min_u64(next, receiver_deadline(st, now_ns));
    if (!st->stopped) {
        send_storms(st, now_ns);
        send_malformed(st, now_ns);
        next = min_u64(next, acts_deadline(st, now_ns));
    }
    if (!st->blocked && now_ns >= st->retry_ns)
        send_data(st, paused, now_ns);
    data = probe_sender_deadline(&st->sender, paused, now_ns);
    if (!st->blocked)
        next = min_u64(next, data);
    return wait_for_room(st, min_u64(next, st->hard_end_ns), now_ns);
}

void
probe_station_finish(struct probe_station *st, uint64_t now_ns)
{
    if (st->started)
        probe_sender_finish(&st->sender, now_ns);
}

void
probe_station_stop(struct probe_station *st, uint64_t now_ns)
{
    st->stopped = true;
    if (st->started)
        probe_sender_stop(&st->sender, now_ns);
}

bool
probe_station_release(struct probe_station *st, uint64_t now_ns)
{
    send_pfc(st, 0, now_ns);
    return st->pfc.asserted == 0;
}
