/* SPDX-License-Identifier: Apache-2.0
 *
 * End stations: senders that honour PFC per priority, receivers that check
 * every frame, and, when asked to, slow receivers that pause the switch above
 * them.  A station behaves as sluice-probe does: a turn reads all that came,
 * then sends one batch at most, as fast as its line takes it.
 */
#include "sim/openflow.h"
#include "sim/sim.h"

#include "wire/eth.h"
#include "wire/macctl.h"

#include <assert.h>
#include <string.h>

/* After the MACs and the tag: EtherType, flow, sequence number; at the end of
 * the frame the sum of both, so that frames that got mixed up are seen. */
#define SIM_ETHERTYPE 0x88b5
#define SIM_TRAILER   4
#define IP4_LEN       20
#define IP_PROTO      253 /* for experiments */
#define BITS          UINT64_C(8)

static void
put_be32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t) (v >> 24);
    p[1] = (uint8_t) (v >> 16);
    p[2] = (uint8_t) (v >> 8);
    p[3] = (uint8_t) v;
}

static uint32_t
get_be32(const uint8_t *p)
{
    return ((uint32_t) p[0] << 24) | ((uint32_t) p[1] << 16) |
           ((uint32_t) p[2] << 8) | p[3];
}

static uint32_t
trailer(uint32_t flow, uint32_t seq)
{
    return flow * 2654435761u + seq;
}

/* Sizes follow from the sequence number, so that the receiver knows them.
 * Without the tag. */
static uint32_t
len_of(const struct sim_flow *f, uint32_t seq)
{
    struct rng r = {.state = seq};

    return f->min_len + (uint32_t) rng_below(&r, f->max_len - f->min_len + 1);
}

/* EtherType and header of an IPv4 packet of len octets. */
static uint32_t
put_ip4(const struct sim *sim, const struct sim_flow *f, uint32_t len,
        uint8_t *to)
{
    uint8_t *ip = to + 2;
    uint16_t sum;

    to[0] = ETH_T_IP4 >> 8;
    to[1] = ETH_T_IP4 & 0xff;
    memset(ip, 0, IP4_LEN);
    ip[0] = 0x45;
    ip[1] = (uint8_t) (sim->world.dscp[0][f->prio] << 2 | f->ecn);
    ip[2] = (uint8_t) (len >> 8);
    ip[3] = (uint8_t) len;
    ip[8] = 64;
    ip[9] = IP_PROTO;
    sum = eth_csum_fold(eth_csum_add(0, ip, IP4_LEN));
    ip[10] = (uint8_t) (sum >> 8);
    ip[11] = (uint8_t) sum;
    return 2 + IP4_LEN;
}

uint32_t
sim_frame_build(const struct sim *sim, const struct sim_flow *f, uint32_t seq,
                uint8_t *frame)
{
    uint32_t id = (uint32_t) (f - sim->flow);
    uint32_t len = len_of(f, seq), n = 12;
    bool tagged = !sim->st[f->src]->untagged;

    if (f->dst == SIM_BROADCAST)
        memset(frame, 0xff, 6);
    else
        memcpy(frame, sim->st[f->dst]->mac, 6);
    memcpy(frame + 6, sim->st[f->src]->mac, 6);
    if (tagged) {
        uint16_t tci =
            (uint16_t) ((sim->world.pcp[f->prio] << VLAN_PCP_SHIFT) | f->vid);

        put_be32(frame + n, ((uint32_t) ETH_T_VLAN << 16) | tci);
        n += ETH_VLAN_LEN;
        len += ETH_VLAN_LEN;
    }
    if (sim->world.ip) {
        n += put_ip4(sim, f, len - n - 2, frame + n);
    } else {
        frame[n++] = SIM_ETHERTYPE >> 8;
        frame[n++] = SIM_ETHERTYPE & 0xff;
    }
    put_be32(frame + n, id);
    put_be32(frame + n + 4, seq);
    put_be32(frame + len - SIM_TRAILER, trailer(id, seq));
    return len;
}

struct sim_flow *
sim_frame_flow(struct sim *sim, const uint8_t *frame, uint32_t len,
               uint32_t *seq)
{
    uint16_t tci;
    uint32_t n = 12, id;

    if (len < PKT_MIN_LEN)
        return NULL;
    if (eth_outer_tag(frame, len, &tci))
        n += ETH_VLAN_LEN;
    if (frame[n] == ETH_T_IP4 >> 8 && frame[n + 1] == (ETH_T_IP4 & 0xff))
        n += IP4_LEN;
    else if (frame[n] != SIM_ETHERTYPE >> 8 ||
             frame[n + 1] != (SIM_ETHERTYPE & 0xff))
        return NULL;
    id = get_be32(frame + n + 2);
    if (id >= sim->n_flows)
        return NULL;
    *seq = get_be32(frame + n + 6);
    return &sim->flow[id];
}

/* --- receiving ------------------------------------------------------------
 */

/* What a slow receiver has worked off by now. */
static void
drain(struct sim_station *st, uint64_t now_ns)
{
    uint64_t bits;

    if (!st->drain_bps)
        return;
    bits = (uint64_t) ((unsigned __int128) (now_ns - st->drained_ns) *
                       st->drain_bps / NS_PER_S);
    if (bits >= st->held_bits) {
        st->held_bits = 0;
        st->drained_ns = now_ns;
    } else if (bits) {
        st->held_bits -= bits;
        /* The rest of a bit is worked off next time. */
        st->drained_ns += bits * NS_PER_S / st->drain_bps;
    }
    if (st->held_bits <= st->xon_bytes * BITS)
        st->xoff = false;
}

static void
fill(struct sim_station *st, uint32_t len)
{
    struct sim *sim = st->node.sim;

    st->held_bits += len * BITS;
    if (st->held_bits > st->held_peak_bits)
        st->held_peak_bits = st->held_bits;
    if (st->held_bits > st->xoff_bytes * BITS)
        st->xoff = true;
    if (st->held_bits > st->buffer_bytes * BITS)
        sim_fault(sim, SIM_OVERFLOW, "%s holds %llu of %llu bytes",
                  st->port.dev->name,
                  (unsigned long long) (st->held_bits / BITS),
                  (unsigned long long) st->buffer_bytes);
}

/* The DSCP is the priority's, if rewritten; ECT may have become CE; and the
 * checksum is right. */
static bool
ip_is_right(const struct sim *sim, const struct sim_flow *f, const uint8_t *ip)
{
    const struct sim_world *w = &sim->world;
    uint8_t dscp = ip[1] >> 2, ecn = ip[1] & 3;

    return (dscp == w->dscp[0][f->prio] || dscp == w->dscp[1][f->prio]) &&
           (ecn == f->ecn || (f->ecn && ecn == 3)) &&
           eth_csum_fold(eth_csum_add(0, ip, IP4_LEN)) == 0;
}

/* It is the one that was sent or, where flows re-mark, one of its kind. */
static bool
is_priority_right(const struct sim *sim, const struct pkt *p,
                  const struct sim_flow *f)
{
    uint8_t prio = sim_prio_on_wire(sim, f, p->data, p->len);
    uint16_t tci;

    if (sim->world.remarks)
        return (sim->lossless >> prio & 1) == (sim->lossless >> f->prio & 1);
    eth_outer_tag(p->data, p->len, &tci);
    return tci >> VLAN_PCP_SHIFT == sim->world.pcp[f->prio];
}

/* Is it, but for the tag, the frame that was sent, and is the tag right? */
static bool
is_unchanged(const struct sim_station *st, const struct pkt *p,
             const struct sim_flow *f, uint32_t seq)
{
    const struct sim *sim = st->node.sim;
    uint32_t id = (uint32_t) (f - sim->flow);
    /* Priority tags stay; the tag of a VLAN ends where its members do not
     * know it. */
    bool tagged = f->vid ? !st->untagged : !sim->st[f->src]->untagged;
    uint16_t tci;

    if ((eth_outer_tag(p->data, p->len, &tci) != 0) != tagged ||
        p->len != len_of(f, seq) + (tagged ? ETH_VLAN_LEN : 0))
        return false;
    if (tagged &&
        ((tci & VLAN_VID_MASK) != f->vid || !is_priority_right(sim, p, f)))
        return false;
    if (sim->world.ip && !ip_is_right(sim, f, p->data + (tagged ? 18 : 14)))
        return false;
    return get_be32(p->data + p->len - SIM_TRAILER) == trailer(id, seq);
}

static bool
is_marked(const struct sim_station *st, const struct pkt *p,
          const struct sim_flow *f)
{
    uint16_t tci;
    uint32_t at = eth_outer_tag(p->data, p->len, &tci) ? 18 : 14;

    return st->node.sim->world.ip && (p->data[at + 1] & 3) != f->ecn;
}

static void
check_frame(struct sim_station *st, const struct pkt *p, struct sim_flow *f,
            uint32_t seq, uint64_t now_ns)
{
    struct sim *sim = st->node.sim;
    uint32_t id = (uint32_t) (f - sim->flow);
    uint32_t *expect = &f->expect[st->node.index];

    /* A copy comes beside the frame itself, with the tag that it had where it
     * was made. */
    if (sim_is_mirrored(p->data) &&
        get_be32(p->data + p->len - SIM_TRAILER) == trailer(id, seq))
        return;
    if (!is_unchanged(st, p, f, seq))
        sim_fault(sim, SIM_PAYLOAD, "flow %u, frame %u came changed", id, seq);
    if (f->dst != st->node.index && f->dst != SIM_BROADCAST)
        return; /* flooded: another station checks it */
    f->n_rx++;
    f->n_rx_bytes += p->len;
    f->n_marked += is_marked(st, p, f);
    if (seq < *expect) {
        sim_fault(sim, SIM_ORDER, "flow %u, frame %u came after %u", id, seq,
                  *expect - 1);
        return;
    }
    f->n_missing += seq - *expect;
    *expect = seq + 1;
    sim_digest(sim, now_ns);
    sim_digest(sim, ((uint64_t) id << 32) | seq);
    if (st->drain_bps && f->lossless)
        fill(st, p->len);
}

static void
receive_one(struct sim_station *st, const struct pkt *p, uint64_t now_ns)
{
    struct sim *sim = st->node.sim;
    struct sim_flow *f;
    struct macctl m;
    uint32_t seq;

    if (macctl_decode(p->data, p->len, &m) != MACCTL_NONE) {
        if (!sim->deaf)
            pfc_rx(&st->pfc, &m, now_ns);
        return;
    }
    f = sim_frame_flow(sim, p->data, p->len, &seq);
    if (!f) {
        sim_fault(sim, SIM_PAYLOAD, "%s got a frame of no flow",
                  st->port.dev->name);
        return;
    }
    st->n_rx++;
    check_frame(st, p, f, seq, now_ns);
}

static void
receive(struct sim_station *st, uint64_t now_ns)
{
    struct netdev *dev = st->port.dev;
    struct pkt *pkts[PKT_BATCH];
    uint32_t n;

    do {
        n = dev->cls->rx(dev, pkts, PKT_BATCH);
        for (uint32_t i = 0; i < n; i++) {
            receive_one(st, pkts[i], now_ns);
            pkt_free(pkts[i]);
        }
    } while (n == PKT_BATCH);
}

/* --- sending --------------------------------------------------------------
 */

static bool
send_pkt(struct sim_station *st, struct pkt *p)
{
    struct netdev *dev = st->port.dev;
    uint32_t n_sent = 0;

    dev->cls->tx(dev, &p, 1, &n_sent);
    pkt_free(p);
    return n_sent == 1;
}

/* Bit p: p is to be paused at the switch above. */
static uint8_t
wants_paused(const struct sim_station *st, uint64_t now_ns)
{
    uint8_t prios = st->xoff ? st->node.sim->lossless : 0;

    if (now_ns >= st->pause_at_ns && now_ns - st->pause_at_ns < st->pause_ns)
        prios |= st->pause_prios;
    return prios;
}

static void
send_pfc(struct sim_station *st, uint64_t now_ns)
{
    uint8_t prios = wants_paused(st, now_ns);
    uint8_t frame[MACCTL_LEN];
    struct pkt *p;

    if (!pfc_tx_poll(&st->pfc, prios, now_ns, st->mac, frame))
        return;
    p = pkt_alloc(st->node.sim->st_pool);
    assert(p);
    memcpy(p->data, frame, sizeof(frame));
    p->len = sizeof(frame);
    if (send_pkt(st, p))
        pfc_tx_done(&st->pfc, prios, now_ns);
}

static void
send_frame(struct sim_station *st, struct sim_flow *f)
{
    struct sim *sim = st->node.sim;
    bool again = sim->repeat_one_in && f->next_seq > 0 &&
                 rng_below(&sim->rng, sim->repeat_one_in) == 0;
    uint32_t seq = again ? f->next_seq - 1 : f->next_seq;
    struct pkt *p = pkt_alloc(sim->st_pool);

    assert(p);
    p->len = sim_frame_build(sim, f, seq, p->data);
    if (sim->lie_one_in && rng_below(&sim->rng, sim->lie_one_in) == 0)
        p->data[p->len - 1] ^= 0x55;
    shaper_charge(&st->shaper, p->len);
    st->n_tx++;
    /* Offered by the clock, however long it had to wait. */
    f->due_ns += p->len * BITS * NS_PER_S / f->rate_bps;
    if (!again)
        f->next_seq++;
    send_pkt(st, p);
}

/* The next flow in turn that has a frame to send and may; null: none. */
static struct sim_flow *
pick_flow(struct sim_station *st, uint8_t paused, uint64_t now_ns)
{
    for (uint16_t i = 0; i < st->n_flows; i++) {
        uint16_t k = (uint16_t) ((st->next_flow + i) % st->n_flows);
        struct sim_flow *f = &st->node.sim->flow[st->flows[k]];

        if (f->next_seq == f->count || f->due_ns > now_ns ||
            (paused & 1u << f->prio))
            continue;
        st->next_flow = (uint16_t) ((k + 1) % st->n_flows);
        return f;
    }
    return NULL;
}

/* When there is something to send that may be sent. */
static uint64_t
send_deadline(struct sim_station *st, uint8_t paused, uint64_t now_ns)
{
    uint64_t t = CLOCK_NEVER;

    for (uint16_t i = 0; i < st->n_flows; i++) {
        const struct sim_flow *f = &st->node.sim->flow[st->flows[i]];

        if (f->next_seq < f->count && !(paused & 1u << f->prio) &&
            f->due_ns < t)
            t = f->due_ns;
    }
    if (t <= now_ns && !shaper_ready(&st->shaper, now_ns))
        t = shaper_deadline(&st->shaper);
    return t;
}

static uint64_t
earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* When the slow receiver has come down to XON, or the pause by hand changes.
 */
static uint64_t
own_deadline(const struct sim_station *st, uint64_t now_ns)
{
    uint64_t t = CLOCK_NEVER;

    if (st->xoff) {
        uint64_t bits = st->held_bits - st->xon_bytes * BITS;

        t = st->drained_ns + bits * NS_PER_S / st->drain_bps + 1;
    }
    if (st->pause_at_ns == CLOCK_NEVER)
        return t;
    if (now_ns < st->pause_at_ns)
        return earlier(t, st->pause_at_ns);
    if (now_ns - st->pause_at_ns < st->pause_ns)
        return earlier(t, st->pause_at_ns + st->pause_ns);
    return t;
}

uint64_t
sim_station_run(struct sim_station *st, uint64_t now_ns)
{
    struct netdev *dev = st->port.dev;
    struct sim_flow *f;
    uint64_t next_ns;
    uint8_t paused;

    netdev_mem_set_now(dev, now_ns);
    drain(st, now_ns);
    receive(st, now_ns);
    send_pfc(st, now_ns);
    paused = pfc_rx_expire(&st->pfc, now_ns);
    for (int i = 0; i < PKT_BATCH; i++) {
        if (!shaper_ready(&st->shaper, now_ns))
            break;
        f = pick_flow(st, paused, now_ns);
        if (!f)
            break;
        send_frame(st, f);
    }
    next_ns = send_deadline(st, paused, now_ns);
    next_ns = earlier(next_ns, own_deadline(st, now_ns));
    next_ns = earlier(next_ns, pfc_rx_deadline(&st->pfc));
    next_ns = earlier(next_ns, pfc_tx_deadline(&st->pfc));
    return earlier(next_ns, dev->cls->rx_deadline(dev));
}

void
sim_station_start(struct sim_station *st)
{
    uint64_t now_ns = st->node.sim->now_ns;

    st->drained_ns = now_ns;
    shaper_init(&st->shaper, st->port.rate_bps, 0, 1522, now_ns);
    sim_poke(&st->node, now_ns);
}
